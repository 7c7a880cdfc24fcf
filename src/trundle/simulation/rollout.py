"""Many robots at once: fixed-step Runge-Kutta inside native code, every lane and every core."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.choices import Mode, Precision
from trundle.documents import Document
from trundle.errors import warn
from trundle.frozen import frozen
from trundle.gpu.devices import device_of
from trundle.model import Model
from trundle.model.arguments import Given, model_of, opened, robot_of
from trundle.model.placed import warn_of_references
from trundle.progress import Progress
from trundle.results import Batch
from trundle.simulation.gradients import Tangents, directions_of
from trundle.simulation.lanes import NumbersLike, given_lanes, inputs_told
from trundle.simulation.observing import Stored, lane_numbers, observer_of, slope_of, worst_residual
from trundle.simulation.options import positive
from trundle.simulation.outcome import describe
from trundle.simulation.rollout_checks import check_whole_numbers, diverged, require_memory
from trundle.simulation.sampling import stepped_groups, warn_of_period
from trundle.simulation.stability import advised_step, stable_step

if TYPE_CHECKING:
    from trundle.robot.terrain import Terrain


def rollout(
    model: Given,
    *,
    initial: Mapping[str, NumbersLike] | None = None,
    inputs: Mapping[str, NumbersLike] | None = None,
    parameters: Mapping[str, NumbersLike] | None = None,
    steps: int = 1000,
    dt: float | str = 1e-3,
    every: int = 1,
    count: int | None = None,
    threads: int | None = None,
    base: str | None = None,
    terrain: Terrain | Mapping[str, object] | None = None,
    mode: Mode = "dynamic",
    gradients: Sequence[str] = (),
    device: str = "cpu",
    precision: Precision = "double",
    progress: bool | Callable[[float], None] = True,
) -> Batch:
    """Integrate many robots with the classical Runge-Kutta method of fixed step, on all cores.

    x_{k+1} = x_k + dt/6 (k₁ + 2k₂ + 2k₃ + k₄), inputs held over a step; local error O(dt⁵). There is no error
    control: compare two dt. Where the eigenvalues of ∂f/∂x at the start say that decaying motions grow with this dt, a
    UserWarning says so, and which dt would do. On one machine a robot's numbers are the same, bit by bit, in all
    batches whose robots differ in the same initial values and inputs, whatever these are. Last digits may differ in
    others, as in a batch of one, and where parameters differ or constraints complete starts.

    Parameters
    ----------
    model : Model, Robot, Document, path or mapping
        What moves; what is no model is derived first.
    initial : mapping of str to number, str or array_like, shape (count,)
        States by name, one for all robots or one per robot; those not given are 0, or what constraints make them.
    inputs : mapping of str to number, str or array_like
        Inputs by name: a number, (count,), (steps, 1) or (steps, count); those not given are 0. By the name of a
        tracker the motion that it follows, as `reference` takes it.
    parameters : mapping of str to number, str or array_like, shape (count,)
        Changed values by name; arrays are checked robot by robot at their extremes and at a few robots between.
    steps : int
        How many steps.
    dt : float or str, s
        The length of a step.
    every : int
        Store every so many steps; must divide `steps`.
    count : int
        How many robots; may be left out where an array tells it.
    threads : int
        How many threads; by default one a core.
    gradients : sequence of str
        What derivatives are taken by, for `batch.gradient(OF, BY)`: parameters ("r"), where states start
        ("initial.theta"), constants added to inputs ("inputs.left_motor.voltage"). They are those of the steps
        themselves, to rounding. Where a law has a kink they are those of the side on which it stands.
    device : {"cpu", "cuda"}
        What rolls the robots: this machine's cores, or NVIDIA's GPU ("cuda:1": the second one), by `trundle[cuda]`.
    precision : {"double", "single"}
        Of numbers on a GPU; the CPU's are double.
    progress : bool or callable
        Whether to show progress after a second's work where a person watches (a terminal or a notebook), or what to
        call with the share done (0 to 1).
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.
    terrain : Terrain or mapping, optional
        The ground that wheels roll over, by default the file's. Then steps are those of `traverse`, robots settle onto
        the ground, and the terrain's numbers are parameters, too: "terrain.surfaces.hill.height", and of random ground
        "terrain.surfaces.ground.seed".
    mode : {"dynamic", "kinematic"}
        Over terrain, as in `traverse`.

    Returns
    -------
    Batch
        `values` of shape (saved, n_state, count), the first at t = 0, the last after all steps; `batch.output(NAME)`
        computes outputs from them. Its summary counts the robots that `diverged`, and has the largest
        `constraint_residual` of the others. Over terrain it counts who ended `overturned`, `stuck` or `beyond_map`.

    Raises
    ------
    InputError
        For names or shapes that don't fit.
    NumericsError
        Where all robots diverge.

    Examples
    --------
    >>> import numpy as np, trundle
    >>> model = trundle.derive(trundle.catalog.differential_drive())
    >>> volts = {"left_motor.voltage": np.linspace(0, 24, 100), "right_motor.voltage": 24.0}
    >>> batch = trundle.rollout(model, inputs=volts, steps=1000, dt="1 ms", every=100)
    >>> batch.values.shape
    (11, 9, 100)

    References
    ----------
    W. Kutta, "Beitrag zur näherungsweisen Integration totaler Differentialgleichungen", 1901.
    """
    from trundle.simulation.ground_rollout import (
        Asked,
        rolled_over,
    )  # late: without terrain nothing of it is needed

    where = device_of(device, precision)
    source = opened(model, "rollout", base)
    ground = source.terrain if terrain is None and isinstance(source, Document) else terrain
    if ground is not None:
        return rolled_over(
            robot_of(source, "rollout", "it has no description"), ground, mode, Asked(initial, inputs, parameters),
            steps=steps, dt=dt, every=every, count=count, threads=threads, gradients=gradients, device=where,
            progress=progress,
        )  # fmt: skip
    model = model_of(source, "rollout")
    check_whole_numbers(steps, every, count, threads)
    h = positive(dt, "dt", "s")
    tangents = Tangents(model, directions_of(model, gradients))
    told = inputs_told(model, inputs, steps, h)
    warn_of_references(model.robot, model.inputs, told)
    given = given_lanes(model, initial, told, parameters, count)
    u, p, size = given.inputs, given.parameters, given.count
    require_memory(steps // every + 1, len(model.states) * (1 + len(tangents.directions)), size)
    given = given.settled()
    slopes = tangents.start(given.states, initial or {}, u, p, size)
    if model.sampling is not None:
        warn_of_period(model, steps * h, "a rollout")
    start = given.start()
    further = stepped_groups(model, u, h, steps)
    _warn_of_step(model, start, u, p, h)
    with Progress(progress, steps * size, f"rolling out {model.name}", "robot steps") as bar:
        result = where.rollout(
            tangents.dynamics,
            np.vstack([start, slopes.reshape(-1, size)]),
            {"input": u if u else np.zeros(0), "parameter": p, **further},
            dt=h, steps=steps, every=every, count=size, threads=threads,
            progress=bar.fraction, projection=tangents.stepped,
        )  # fmt: skip
    states = result.states if result.states.ndim == 3 else result.states[:, :, None]
    time = np.asarray(result.steps) * h
    summary = {"steps": steps, "dt": h, "every": every, "count": size, "method": "rk4", **where.record}
    return _batch(tangents, Stored(frozen(states), np.asarray(result.steps), u, p), time, summary)


def _batch(tangents: Tangents, whole: Stored, time: FloatArray, summary: Mapping[str, object]) -> Batch:
    """What was stored, with what can be computed from it; of the `whole` the columns of derivatives stand last."""
    model, n = tangents.model, len(tangents.model.states)
    stored = replace(whole, values=whole.values[:, :n])
    columns = {
        each.name: whole.values[:, n * j : n * (j + 1)] for j, each in enumerate(tangents.directions, 1)
    }
    numbers = {name: float(value) for name, value in stored.parameters.items() if np.ndim(value) == 0}
    return Batch(
        name=model.name,
        time=time,
        states=model.states,
        values=stored.values,
        units={name: model.units[name] for name in model.states} | tangents.units(model.states),
        parameters=stored.parameters,
        description=describe(model, numbers),
        summary={
            **summary,
            "diverged": diverged(stored.values, time, model.name),
            "constraint_residual": worst_residual(model, stored),
        },
        outputs=model.outputs,
        observer=observer_of(model, stored),
        gradients=columns,
        slope=slope_of(tangents, whole) if columns else None,
    )


def _warn_of_step(
    model: Model, start: FloatArray, u: Mapping[str, Floats], p: Mapping[str, Floats], h: float
) -> None:
    """A warning where a step h is too long for some of the robots that are looked at."""
    count = start.shape[1]
    bounds: list[tuple[float, float, int]] = []
    alike = (
        not any(np.size(rows) > 1 for rows in (*u.values(), *p.values())) and not np.ptp(start, axis=1).any()
    )
    for lane in [0] if alike else sorted({0, count // 2, count - 1}):
        given, numbers = (lane_numbers(values, 0, slice(lane, lane + 1)).reshape(-1) for values in (u, p))
        bounds.append((*stable_step(model.dynamics, start[:, lane], given, numbers), lane))
    longest, rate, lane = min(bounds)
    if h > longest:
        who = f"robot {lane} of '{model.name}'" if count > 1 else f"'{model.name}'"
        warn(
            f"dt = {h:g} s is too long for {who}: at the start it has motions that decay at {rate:.3g}/s, which grow "
            f"with steps above {longest:.3g} s; take dt = {advised_step(longest):g} s, or trundle.simulate, "
            "which controls its error"
        )
