"""Batched rollouts of the differential drive, per core, beside MuJoCo's `rollout` of the same robot."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.drive import VOLTAGES, diff_drive
from benchmarks.measure import MISSING, Row, best_seconds, installed, rate_text

RATE, RATIO = 50e6, 1000.0
DT = 1e-3

# The same masses, wheels and commands. MuJoCo has no current as a state: its motor is the winding without
# inductance, K (V − K ω)/R. The robot stands on its wheels and a frictionless ball, which the planar model has no
# need of.
MJCF = """
<mujoco>
  <option timestep="0.001" integrator="RK4" gravity="0 0 -9.81"/>
  <worldbody>
    <geom type="plane" size="100 100 1" friction="1 0.005 0.0001"/>
    <body pos="0 0 0.15">
      <freejoint/>
      <inertial pos="0 0 0" mass="50" diaginertia="3 3 5"/>
      <geom type="sphere" size="0.05" pos="0.4 0 -0.1" mass="0" friction="0 0 0"/>
      <geom type="sphere" size="0.05" pos="-0.4 0 -0.1" mass="0" friction="0 0 0"/>
      <body pos="0 -0.6 0">
        <joint name="right" type="hinge" axis="0 1 0"/>
        <geom type="cylinder" size="0.15 0.075" zaxis="0 1 0" mass="2" priority="1"/>
      </body>
      <body pos="0 0.6 0">
        <joint name="left" type="hinge" axis="0 1 0"/>
        <geom type="cylinder" size="0.15 0.075" zaxis="0 1 0" mass="2" priority="1"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <general joint="right" gainprm="20" biastype="affine" biasprm="0 0 -20"/>
    <general joint="left" gainprm="20" biastype="affine" biasprm="0 0 -20"/>
  </actuator>
</mujoco>
"""


def rollout_rate(quick: bool) -> list[Row]:
    """Runge-Kutta steps per second on one core, ours and MuJoCo's, and MuJoCo's as the peer of a ratio."""
    from trundle.simulation import rollout

    model = diff_drive()
    count, steps = 2048, 200 if quick else 1000

    def ours() -> None:
        rollout(model, inputs=VOLTAGES, steps=steps, dt=DT, every=steps, count=count, threads=1)

    rate = count * steps / best_seconds(ours, tries=3 if quick else 7)
    name = "batched rollouts, RK4 steps per second and core"
    row = Row(name, rate_text(rate, "steps"), target="≥ 50 M", met=rate >= RATE)
    if not installed("mujoco"):
        return [
            row,
            Row("  against MuJoCo's rollout, RK4", rate_text(rate, "steps"), MISSING, target="≥ 1000 ×"),
        ]
    peer = _mujoco_rate(quick)
    ratio = rate / peer
    against = Row(
        "  against MuJoCo's rollout, RK4, one thread",
        rate_text(rate, "steps"),
        rate_text(peer, "steps"),
        ratio,
        "≥ 1000 ×",
        ratio >= RATIO,
        "the same robot as rigid bodies with wheel contacts",
    )
    return [row, against]


def _mujoco_rate(quick: bool) -> float:
    import mujoco
    from mujoco import rollout as peer

    model = mujoco.MjModel.from_xml_string(MJCF)  # type: ignore[attr-defined]
    data = mujoco.MjData(model)  # type: ignore[attr-defined]
    for _ in range(100):  # let it come to rest on its wheels
        mujoco.mj_step(model, data)  # type: ignore[attr-defined]
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)  # type: ignore[attr-defined]
    start = np.zeros(size)
    mujoco.mj_getState(model, data, start, mujoco.mjtState.mjSTATE_FULLPHYSICS)  # type: ignore[attr-defined]
    batch, steps = 4, 100 if quick else 500
    control = np.tile(np.array(list(VOLTAGES.values())), (batch, steps, 1))
    initial = np.tile(start, (batch, 1))

    def work() -> Any:
        return peer.rollout(model, [data], initial, control)

    return batch * steps / best_seconds(work, tries=3)
