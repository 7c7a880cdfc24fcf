"""Zoe over the same ground, ours and MuJoCo's: a plane and a height map, with one friction and one stiffness.

MuJoCo's contact is made viscoelastic, as ours is: an impedance of next to nothing leaves the force (k r + b v)/R, and
its regularisation R, which MuJoCo finds from masses, is divided out. Wheels are thin ellipsoids, as a circle has no
shape there. Both sides hear the same commands every `HEARD` seconds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

import trundle
from benchmarks.measure import MISSING, Row, installed
from trundle.mechanics.assembly import Assembly, assemble
from trundle.model.ground_model import derive_on
from trundle.results import Run
from trundle.robot import PidController, Robot, parse_robot
from trundle.robot.component import plain
from trundle.robot.ground_laws import Linear
from trundle.robot.terrain import parse_terrain
from trundle.robot.wheels import GrippingWheel
from trundle.simulation.stepping import stepped_problem

# Contacts sink in by 2 mm, of a wheel of 325: softer ground and MuJoCo's point of contact, midway in the overlap,
# differ more, harder ground and MuJoCo's steps get shorter still. Both dampers (N s/m) leave it steps of 0.5 ms.
SINKAGE, DAMPING = 0.002, 5000.0
# How often both hear commands (s), and MuJoCo's step: at 2 ms this ground throws it off.
HEARD, DT = 0.01, 5e-4
# Ours for the speed (s): the step of the figures, 5 mm off after 10 s.
STEP = 0.04
SECONDS = 10.0
# Points of the height map, and how far they are apart (m): waves of 10 cm, 4 m long, of slope 0.16.
COUNT, SPACING = 301, 0.1
# Half an ellipsoid wheel's width (m), the gain of MuJoCo's motors (N m s/rad), and what massless links have there.
_THIN, _GAIN, _NEXT_TO_NOTHING = 0.002, 1e4, 1e-5


def heights() -> np.ndarray:
    """The map's heights (y, x)."""
    along = 2 * np.pi / 4.0 * (np.arange(COUNT) - COUNT // 2) * SPACING
    return 0.1 * np.cos(along)[:, None] * np.sin(along)[None, :]


def zoe(damping: float = DAMPING) -> Robot:
    """Zoe of the catalogue, with the limit of friction in all directions alike."""
    data = plain(trundle.catalog.zoe(contact="linear"))
    for wheel in data["wheels"].values():
        wheel["slip_damping"] = damping
    return parse_robot(data)


def ground(sinkage: float = SINKAGE, rough: bool = False) -> dict[str, object]:
    """The terrain, as a file has it."""
    stiffness = 198 * 9.81 / 4 / sinkage
    surface: dict[str, object] = {"type": "grid", "heights": heights().tolist(), "spacing": SPACING}
    surfaces = {"surfaces": {"map": surface}} if rough else {}
    return {"stiffness": stiffness, "damping": DAMPING, **surfaces}


def ours(robot: Robot, terrain: dict[str, object], seconds: float = SECONDS, step: float = HEARD) -> Run:
    """A run of ours."""
    return trundle.simulate(robot, seconds, terrain=terrain, step=step, progress=False, samples=2)


@dataclass(frozen=True)
class Peer:
    """MuJoCo's model and data of a robot on a ground."""

    robot: Robot
    mujoco: Any
    model: Any
    data: Any

    def tell(self) -> None:
        """What the robot's controllers say at the state that stands in the data."""
        read = self.robot.resolver()
        commands = dict.fromkeys((f"{name}_motor.rate" for name in self.robot.wheels), 0.0)
        for each in self.robot.controllers.values():
            assert isinstance(each, PidController)
            assert each.target is not None
            target = read(each.target)
            angle = 0.0 if each.reads is None else self.data.joint(each.reads.removesuffix(".angle")).qpos[0]
            said = read(each.proportional) * (target - angle) + read(each.feedforward) * target
            low, high = (way if end is None else read(end) for way, end in
                         ((-math.inf, each.lowest), (math.inf, each.highest)))  # fmt: skip
            for name, share in each.drives.items():
                commands[name] += read(share) * min(max(said, low), high)
        for name in self.robot.wheels:
            self.data.actuator(name).ctrl = commands[f"{name}_motor.rate"]

    def drive(self, seconds: float = SECONDS) -> float:
        """On for so long; what MuJoCo's steps cost of it (CPU seconds), without telling commands."""
        cost = 0.0
        for _ in range(round(seconds / HEARD)):
            self.tell()
            began = time.process_time()
            self.mujoco.mj_step(self.model, self.data, round(HEARD / DT))
            cost += time.process_time() - began
        return cost

    @property
    def pose(self) -> np.ndarray:
        """x, y, z (m) and yaw (rad)."""
        w, x, y, z = self.data.qpos[3:7]
        return np.array([*self.data.qpos[:3], math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))])


def peer(robot: Robot, terrain: dict[str, Any], start: Run) -> Peer:
    """The same robot on the same ground, where a run of ours starts."""
    mujoco: Any = import_module("mujoco")
    assembly, field = assemble(robot, robot.resolver()), heights() if "surfaces" in terrain else None
    model = mujoco.MjModel.from_xml_string(_document(robot, assembly, field))
    data = mujoco.MjData(model)
    if field is not None:
        model.hfield_data[:] = ((field - field.min()) / np.ptp(field)).ravel()
    both = Peer(robot, mujoco, model, data)
    _put(both, start)
    data.qpos[2] -= 0.03  # all wheels touch, so that MuJoCo says what its contacts weigh
    mujoco.mj_forward(model, data)
    _match(both, terrain["stiffness"], terrain["damping"])
    mujoco.mj_resetData(model, data)
    _put(both, start)
    return both


def _put(both: Peer, run: Run) -> None:
    names = ("x", "y", "z", "q_w", "q_x", "q_y", "q_z")
    both.data.qpos[:7] = [run[name][0] for name in names]
    for name in both.robot.joints:
        both.data.joint(name).qpos = run[f"{name}.angle"][0]


def _match(both: Peer, stiffness: float, damping: float) -> None:
    """Give MuJoCo's contacts our stiffness and dampers: k and b in proportion to what they came to at 1."""
    model, data = both.model, both.data
    for contact in data.contact:
        first = contact.efc_address
        gains, resists = data.efc_KBIP[first : first + 2], data.efc_R[first : first + 2]
        pressed = gains[0, 0] * gains[0, 2] / resists[0], gains[0, 1] / resists[0]
        (pair,) = set(contact.geom) - {model.geom("ground").id}
        place = list(model.pair_geom2).index(pair)
        if model.pair_solref[place, 0] != -1:
            continue
        law = both.robot.wheels[model.geom(pair).name].law
        assert isinstance(law, Linear)
        assert law.slip_damping is not None
        slip = both.robot.number(law.slip_damping)
        model.pair_solref[place] = [-stiffness / pressed[0], -damping / pressed[1]]
        model.pair_solreffriction[place] = [-1e-9, -slip * resists[1] / gains[1, 1]]
    assert (model.pair_solref[:, 0] != -1).all(), "a wheel didn't touch"


def _document(robot: Robot, assembly: Assembly, field: np.ndarray | None) -> str:
    """The robot and the ground in MuJoCo's words."""
    half, geom = (COUNT // 2) * SPACING, 'contype="0" conaffinity="0"'
    asset, surface = "", f'<geom name="ground" type="plane" size="50 50 1" {geom}/>'
    if field is not None:
        size = f"{half} {half} {np.ptp(field)} 1"
        asset = f'<asset><hfield name="map" nrow="{COUNT}" ncol="{COUNT}" size="{size}"/></asset>'
        surface = f'<geom name="ground" type="hfield" hfield="map" pos="0 0 {field.min()}" {geom}/>'
    pairs, motors = "", ""
    for name, wheel in robot.wheels.items():
        assert isinstance(wheel, GrippingWheel)
        grip = robot.number(wheel.contact.friction)
        pairs += (
            f'<pair geom1="ground" geom2="{name}" condim="3" friction="{grip} {grip} 0 0 0" solref="-1 -1" '
            'solreffriction="-1 -1" solimp="0.0001 0.0001 0.001"/>'
        )
        motors += f'<velocity name="{name}" joint="{name}" kv="{_GAIN}"/>'
    return (
        '<mujoco><compiler angle="radian" inertiafromgeom="false"/>'
        f'<option timestep="{DT}" integrator="implicitfast" cone="elliptic" gravity="0 0 -9.81"/>{asset}'
        f"<worldbody>{surface}{_body(robot, assembly, 0)}</worldbody>"
        f"<contact>{pairs}</contact><actuator>{motors}</actuator></mujoco>"
    )


def _body(robot: Robot, assembly: Assembly, index: int) -> str:
    """A link with all that hangs on it."""
    tree, link = assembly.tree, assembly.tree.links[index]
    rotation, position = link.placement
    mass = max(float(link.inertia.mass), _NEXT_TO_NOTHING)
    center = np.array(link.inertia.first_moment, float) / mass
    about = np.array(link.inertia.rotational, float)
    about -= mass * (center @ center * np.eye(3) - np.outer(center, center))
    about += _NEXT_TO_NOTHING * np.eye(3) * (not np.any(about))
    six = [about[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    joint = f'<joint name="{link.name}" axis="{_text(link.axis)}"/>' if link.moves else ""
    shape = ""
    if link.name in robot.wheels:
        radius = robot.number(robot.wheels[link.name].radius)
        size = f'size="{radius} {_THIN} {radius}"'
        shape = f'<geom name="{link.name}" type="ellipsoid" {size} contype="0" conaffinity="0"/>'
    inner = "".join(
        _body(robot, assembly, k) for k, each in enumerate(tree.links) if k and each.parent == index
    )
    x, y = np.array(rotation, float).T[:2]
    return (
        f'<body name="{link.name}" pos="{_text(position)}" xyaxes="{_text([*x, *y])}">'
        f"{joint if index else '<freejoint/>'}"
        f'<inertial pos="{_text(center)}" mass="{mass}" fullinertia="{_text(six)}"/>{shape}{inner}</body>'
    )


def _text(numbers: Sequence[Any] | np.ndarray) -> str:
    return " ".join(repr(float(number)) for number in numbers)


def _cpu(work: Any) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _own_cost(robot: Robot, terrain: dict[str, object], seconds: float) -> float:
    """CPU seconds a second of motion, in one thread: what a long run takes more than a short one."""
    costs: list[float] = []
    for duration in (seconds, 5 * seconds):
        model = derive_on(robot, parse_terrain(terrain))
        problem = stepped_problem(model, {}, None, {}, duration=duration, step=STEP, samples=2, seed=0)
        problem.solve(False)
        costs.append(min(_cpu(lambda problem=problem: problem.solve(False)) for _ in range(3)))
    return (costs[1] - costs[0]) / (4 * seconds)


def against_mujoco(quick: bool) -> list[Row]:
    """Zoe's pose after 10 s on both grounds, ours and MuJoCo's, and how many times as fast as real time each is."""
    rows: list[Row] = []
    for what, rough in (("a plane", False), ("waves of a height map", True)):
        robot, terrain = zoe(), ground(rough=rough)
        run = ours(robot, terrain)
        here = [float(run[name][-1]) for name in ("x", "y", "z", "yaw")]
        name = f"Zoe's place after 10 s on {what}, x and y"
        if not installed("mujoco"):
            rows.append(Row(name, f"{here[0]:.3f}, {here[1]:.3f} m", MISSING))
            continue
        other = peer(robot, terrain, run)
        theirs = other.drive() / SECONDS
        x, y, _, yaw = other.pose
        apart = math.hypot(here[0] - x, here[1] - y)
        note = f"{apart * 1e3:.0f} mm and {abs(here[3] - yaw) * 1e3:.1f} mrad apart"
        rows.append(Row(name, f"{here[0]:.3f}, {here[1]:.3f} m", f"{x:.3f}, {y:.3f} m", note=note))
        own = _own_cost(robot, terrain, 4000.0 if quick else 16000.0)
        rows.append(
            Row(
                f"  times real time, one robot, steps of {STEP:g} s",
                f"{1 / own:,.0f} ×",
                f"{1 / theirs:,.0f} ×",
                ratio=theirs / own,
                note=f"MuJoCo's steps {DT * 1e3:g} ms, the longest that hold",
            )
        )
    return rows
