"""Many robots at once: fixed-step Runge-Kutta inside native code, every lane and every core."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.choices import Mode, Precision
from trundle.errors import InputError, warn
from trundle.frozen import frozen
from trundle.gpu.devices import device_of
from trundle.model import Model
from trundle.model.arguments import Given, named
from trundle.model.lanes import NumbersLike, lane_numbers
from trundle.model.opening import plant_of
from trundle.model.outcomes import late
from trundle.model.placed import warn_of_references
from trundle.model.plant import STEP, Plant, Rates, Steps
from trundle.model.symbols import INPUT, PARAMETER
from trundle.program import Program
from trundle.progress import Progress
from trundle.results import Batch
from trundle.simulation.gradients import Tangents, directions_of
from trundle.simulation.observing import Stored, slope_of, worst_residual
from trundle.simulation.options import positive
from trundle.simulation.rollout_checks import check_whole_numbers, diverged, require_memory
from trundle.simulation.rollout_inputs import RolloutInputs, inputs_told, rollout_inputs
from trundle.simulation.sampling import stepped_groups, stepped_program, steps_of, warn_of_period
from trundle.simulation.stability import advised_step, stable_step

if TYPE_CHECKING:
    from trundle.program.rollout import GroupInput
    from trundle.robot.terrain import Terrain

MANY = 15_000_000
"""Steps of robots from which fast code pays: for Zoe it takes some 3 s more to compile, and 0.2 µs less a step."""


def rollout(
    model: Given | Plant,
    *,
    initial: Mapping[str, NumbersLike] | None = None,
    inputs: Mapping[str, NumbersLike] | None = None,
    parameters: Mapping[str, NumbersLike] | None = None,
    steps: int = 1000,
    dt: float | str | None = None,
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
        The length of a step, by default 1 ms; of what goes by steps of its own theirs, over a terrain 10 ms.
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
        The ground that wheels roll over, by default the file's. Steps are those of `simulate` then, robots settle onto
        the ground, and the terrain's numbers are parameters, too: "terrain.surfaces.hill.height", and of random ground
        "terrain.surfaces.ground.seed".
    mode : {"dynamic", "kinematic"}
        Over terrain, as in `simulate`.

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
    from trundle.program.rollout import rollout as program_rollout  # late: single runs import this room, too

    where = device_of(device, precision)
    check_whole_numbers(steps, every, count, threads)
    dt = None if dt is None else positive(dt, "dt", "s")
    plant, given = plant_of(
        model, "rollout", named(parameters, "parameters"), base=base, terrain=terrain, mode=mode,
        inputs=named(inputs, "inputs"), varied=True,
    )  # fmt: skip
    h = plant.motion.length if dt is None else dt
    told = inputs_told(plant, inputs, steps, h)
    warn_of_references(plant.control_description, plant.inputs, told)
    robots = rollout_inputs(plant, initial, told, given, count)
    require_memory(steps // every + 1, len(plant.states) * (1 + len(gradients)), robots.count)
    warn_of_period(plant, steps * h, "a rollout")
    prepare = _rate_rollout if isinstance(plant.motion, Rates) else _step_rollout
    ready = prepare(robots, h, steps, gradients, initial or {})
    with Progress(progress, steps * robots.count, f"{ready.doing} {plant.name}", "robot steps") as bar:
        result = program_rollout(
            ready.rate, ready.start, {INPUT: robots.inputs or np.zeros(0), **ready.groups}, dt=ready.dt, steps=steps,
            every=every, count=robots.count, threads=threads, progress=bar.fraction, projection=ready.ending,
            quick=ready.quick, run=where.run,
        )  # fmt: skip
    states = result.states if result.states.ndim == 3 else result.states[:, :, None]
    stored = Stored(plant, frozen(states), np.asarray(result.steps), h, robots.inputs, robots.parameters)
    summary = {
        **ready.summary,
        "steps": steps,
        "dt": h,
        "every": every,
        "count": robots.count,
        **where.record,
    }
    return _batch(ready.tangents, stored, summary)


class _NativeRollout(NamedTuple):
    """What native code rolls: x' by Runge-Kutta's method with `dt`, then what ends a step; x(0) (n, count), groups
    beside the inputs, whether to compile it quickly.
    """

    doing: str
    rate: Program
    ending: Program | None
    start: FloatArray
    groups: Mapping[str, GroupInput]
    dt: float
    summary: Mapping[str, object]
    tangents: Tangents | None = None
    quick: bool = False


def _rate_rollout(
    robots: RolloutInputs, h: float, steps: int, gradients: Sequence[str], initial: Mapping[str, object]
) -> _NativeRollout:
    """Rates integrated with a fixed step, derivatives along with them."""
    model = robots.plant
    assert isinstance(model, Model)
    u, p = robots.inputs, robots.parameters
    tangents, settled = Tangents(model, directions_of(model, gradients)), robots.starts()
    x = dict(zip(model.states, settled, strict=True))
    slopes = tangents.start(x, initial, u, p, robots.count)
    start = robots.sampled(settled)
    further = stepped_groups(model, u, h, steps)
    _warn_of_step(model, start, u, p, h)
    whole = np.vstack([start, slopes.reshape(-1, robots.count)])
    groups = {PARAMETER: p, **further}
    return _NativeRollout(
        "rolling out", tangents.dynamics, tangents.stepped, whole, groups, h, {"method": "rk4"}, tangents
    )


def _step_rollout(
    robots: RolloutInputs, h: float, steps: int, gradients: Sequence[str], initial: Mapping[str, object]
) -> _NativeRollout:
    """Steps of the plant's own."""
    if gradients:
        message = "a rollout by steps of its own has no derivatives"
        raise InputError(message, key="gradients", hint="take differences")
    plant = robots.plant
    motion = plant.motion
    assert isinstance(motion, Steps)
    steps_of(plant.clocks, h, "dt", "step")
    groups = {PARAMETER: robots.parameters or np.zeros(0), STEP: [h]}
    groups |= stepped_groups(plant, robots.inputs, h, steps)
    start = robots.sampled(robots.starts())
    return _NativeRollout(
        "driving", motion.still, stepped_program(plant), start, groups, 1.0, motion.about,
        quick=steps * robots.count < MANY,
    )  # fmt: skip


def _batch(tangents: Tangents | None, whole: Stored, summary: Mapping[str, object]) -> Batch:
    """What was stored, with what can be computed from it; of the `whole` the columns of derivatives stand last."""
    plant, n = whole.plant, len(whole.plant.states)
    shown, time = plant.shown_states, whole.steps * whole.length
    stored, directions = replace(whole, values=whole.values[:, :n]), tangents.directions if tangents else ()
    columns = {each.name: whole.values[:, n * j : n * (j + 1)] for j, each in enumerate(directions, 1)}
    numbers = {name: float(value) for name, value in stored.parameters.items() if np.ndim(value) == 0}
    units = {name: plant.units[name] for name in shown}
    return Batch(
        name=plant.name,
        time=time,
        states=shown,
        values=stored.values[:, : len(shown)],
        units=units if tangents is None else units | tangents.units(plant.states),
        parameters=stored.parameters,
        description={**plant.made_from, "parameters": numbers},
        summary={
            **summary,
            "diverged": diverged(stored.values, time, plant.name),
            **({"constraint_residual": worst_residual(stored)} if isinstance(plant, Model) else {}),
            **_outcomes(plant, time, stored.values),
        },
        outputs=plant.outputs,
        observer=stored.output,
        gradients=columns,
        slope=slope_of(tangents, whole) if tangents and columns else None,
    )


def _outcomes(plant: Plant, time: FloatArray, values: FloatArray) -> dict[str, int]:
    """How many robots came to what, of those that didn't diverge, by stored states (times, states, robots)."""
    rows = dict(zip(plant.states, np.moveaxis(values, 1, 0), strict=True))
    marks = {name: rows[name][late(time)] for name in plant.marked_states}
    ends, there = {name: row[-1] for name, row in rows.items()}, np.isfinite(values[-1]).all(axis=0)
    minima = {
        name: np.min(np.broadcast_to(of(rows), values.shape[::2]), axis=0)
        for name, of in plant.minima.items()
    }
    return {
        name: int((truths & there).sum()) for name, truths in plant.outcomes_of(marks, ends, minima).items()
    }


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
