"""One run of a model: states, outputs, and the two checks that every run carries, constraint residual and energy
balance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from trundle.choices import Attitude, Mode
from trundle.errors import InputError
from trundle.model import Model
from trundle.model.arguments import Given, named
from trundle.model.opening import plant_of
from trundle.model.placed import require_undriven, warn_of_references
from trundle.model.plant import Plant
from trundle.results import Run
from trundle.simulation.carried import carried_of
from trundle.simulation.draws import noise_of
from trundle.simulation.gradients import Tangents, directions_of
from trundle.simulation.options import RunOptions, Times, initial_numbers, options_of
from trundle.simulation.problem import Problem, named_signals, solve
from trundle.simulation.references import with_references
from trundle.simulation.sampling import warn_of_period
from trundle.simulation.signals import Inputs, constant
from trundle.simulation.start_pose import warn_of_start

if TYPE_CHECKING:
    from trundle.robot.terrain import Terrain


def simulate(
    model: Given | Plant,
    duration: float | str | None = None,
    inputs: Inputs | None = None,
    *,
    initial: Mapping[str, float | str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
    samples: int = 1001,
    times: Times | None = None,
    method: str = "auto",
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float | str | None = None,
    seed: int = 0,
    base: str | None = None,
    gradients: Sequence[str] = (),
    terrain: Terrain | Mapping[str, object] | None = None,
    mode: Mode = "dynamic",
    step: float | str | None = None,
    attitude: Attitude = "exponential",
    progress: bool | Callable[[float], None] = True,
) -> Run:
    """Integrate the equations of motion ẋ = f(x, u(t), p) over time; over a terrain take steps x⁺ = F(x, u, p, h).

    Steps end where inputs jump. Work and losses are integrated beside the states. The run's `energy.imbalance` is the
    work put in − losses − change of the stored energy, in J; a model that comes from a description has it. The run's
    `constraint_residual` is max |A ν| in m/s.

    Over a terrain, by default the file's, steps have one length. Kinematic: A ν = v says that every contact neither
    slips nor leaves its depth; ν by least squares, what motors drive given. Dynamic: carried momenta change by the
    forces at the step's end, (p⁺ − p)/h = τ(ν⁺), by Newton's method, and with them the laws of controllers without a
    period. Loops that are unstable are warned of: a step may hide them. Inertia makes no energy; in flight momenta are
    kept to rounding. Runs are of the first order in the step's length where contacts act, of the second in flight;
    `summary["energy"]` says whether a step is short enough.

    Parameters
    ----------
    model : Model, Robot, Document, path or mapping
        What moves; what is no model is derived first. The run section of a file doesn't count: `trundle.run` reads it.
    duration : float or str, s
        How long, from t = 0; without it 10, or as long as `times` are.
    inputs : mapping of str to number, str, function, Signal, tuple or motion; or function
        By name: a number, text with a unit, a table (times, values[, interpolation]), {"file": CSV}, a pandas
        Series or an xarray DataArray over time, a function f(t) of time (s), or f(t, state) of time and of the states
        and outputs by name. Those not given are 0. Jumps of f(t, state) are not looked for. Or one function f(t) or
        f(t, state) of all inputs, which gives a mapping of numbers by name, or an array in the order of `model.inputs`.
    initial : mapping of str to number or str
        States by name, in SI or as text with units; those not given are 0, or what constraints make them.
    parameters : mapping of str to number or str
        Changed values by name; nothing is derived or compiled again for them.
    samples : int
        How many equal times to store, from 0 to `duration`.
    times : array_like, shape (n,), s
        The times to store, in place of `duration` and `samples`.
    method : {"auto", "lsoda", "radau", "bdf", "dop853", "rk45", "rk23"}
        The integrator, also by SciPy's spelling ("RK45"); the run's summary says which. auto takes LSODA for models
        with electrical states, slipping wheels, joints with dry friction or stops, and where the fastest decay at the
        start times the duration is above 1000, and Dormand-Prince 8(5,3) (dop853) for the others. Robots with
        controllers go by dop853 in native code, unless they are stiff or an input that the motion reads is a function;
        the summary then counts the `steps`.
    rtol, atol : float
        Bounds on a step's error; by default 1e-11 and a tenth of it with dop853, 1e-9 and a tenth with the others.
    max_step : float or str, s
        The longest step; by default a thousandth of the run where inputs are functions, none otherwise. A pulse of a
        function that is shorter may be missed.
    seed : int
        Of the noise of sensors that an estimator in the robot reads: the same seed gives the same run.
    terrain : Terrain or mapping, optional
        The ground that wheels and feet stand on, as under `terrain:` in a file; by default the file's. Then the base
        floats. Parameters may be numbers of the ground, too: "terrain.surfaces.hill.height", "terrain.seed". Initial
        values may have `yaw` (rad): the robot settles onto the ground, unless z or its quaternion is given; beside z
        also `roll` and `pitch`. There are no `times`, no `method` and its bounds, and no `gradients`.
    mode : {"dynamic", "kinematic"}
        Over terrain: whether forces move it, or the motors' rates are given and wheels don't slip. Kinematic runs also
        take rates by the speed's name. On a plane `roll` does that.
    step : float or str, s
        Length of a step over terrain, by default 0.01 s; inputs are held over it. A run is a whole number of steps.
    attitude : {"exponential", "euler_angles"}
        The kind of step: by momenta, or (euler_angles) that of Seegmiller's library, whose published rows it repeats:
        speeds in the base's axes, roll, pitch and yaw by their rates. It makes energy where a base turns fast.
    progress : bool or callable
        Whether to show progress after a second's work where a person watches (a terminal or a notebook), or what to
        call with the share done (0 to 1).
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.
    gradients : sequence of str
        What derivatives are taken by, for `run.gradient(OF, BY)`, as in `rollout`: parameters ("r"), where states start
        ("initial.theta"), constants added to inputs ("inputs.left_motor.voltage"). They go along in the same steps,
        whose errors count theirs, too.

    Returns
    -------
    Run
        Coordinates, speeds, currents, inputs and outputs over time. Over terrain also sinkage, slip, load and forces by
        wheel; forces are those of the step that begins at a time.

    Raises
    ------
    InputError
        For names and values that don't fit, robots that can't be derived, ground on which they can't stand.
    NumericsError
        Where the numbers fail, saying when, and over terrain where and at which wheel.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.differential_drive())
    >>> run = trundle.simulate(model, 2.0, {"left_motor.voltage": 24.0, "right_motor.voltage": "24 V"})
    >>> bool(run["x"][-1] > 1.0 and run.summary["constraint_residual"] < 1e-9)
    True
    >>> slope = {"surfaces": {"slope": {"type": "plane", "slope": "5 deg"}}, "sinkage": "1 cm"}
    >>> talon = trundle.catalog.talon(curvature=0)
    >>> run = trundle.simulate(talon, 1.0, terrain=slope, mode="kinematic", step=0.02)
    >>> round(float(run["z"][-1] - run["z"][0]), 4)
    0.0436

    References
    ----------
    N. Seegmiller and A. Kelly, "High-Fidelity Yet Fast Dynamic Models of Wheeled Mobile Robots", IEEE T-RO 32(3), 2016.
    """
    plant, own = plant_of(
        model, "simulate", named(parameters, "parameters"), base=base, terrain=terrain, mode=mode,
        attitude=attitude, inputs=() if callable(inputs) else named(inputs, "inputs"),
    )  # fmt: skip
    if isinstance(plant, Model):
        require_no_step(plant, step)
        options = options_of(
            duration, samples, times=times, method=method, rtol=rtol, atol=atol, max_step=max_step, seed=seed
        )
        return solve(dynamic_problem(plant, inputs, initial, own, options, gradients), progress)
    require_no_integrator(
        plant, times=times, method=None if method == "auto" else method, rtol=rtol, atol=atol,
        max_step=max_step, gradients=tuple(gradients) or None,
    )  # fmt: skip
    from trundle.simulation.stepping import stepped_problem  # late: most robots stand on a plane

    how = {"duration": 10.0 if duration is None else duration, "step": step, "samples": samples, "seed": seed}
    return stepped_problem(plant, inputs, initial, own, **how).solve(progress)  # type: ignore[arg-type]


def require_no_integrator(plant: Plant, **options: object) -> None:
    """Raise InputError for options of integrators that a plant by steps is given."""
    for name, given in options.items():
        if given is not None:
            message = f"{name} is for integrators, and '{plant.name}' goes by steps of one length"
            raise InputError(message, key=f"run.{name}", hint="step: 0.01 s, say, sets that length")


def require_no_step(plant: Plant, step: object) -> None:
    """Raise InputError for the length of steps where there are none."""
    if step is not None:
        message = f"'{plant.name}' is integrated: its steps are as short as rtol and atol need"
        raise InputError(message, key="step", hint="leave step away; over a terrain steps have one length")


def dynamic_problem(
    model: Model,
    inputs: Inputs | None,
    initial: Mapping[str, float | str] | None,
    parameters: Mapping[str, float | str] | None,
    options: RunOptions,
    gradients: Sequence[str] = (),
) -> Problem:
    """The motion of a model under forces as an initial-value problem; the arguments are those of `simulate`."""
    warn_of_period(model, options.end, "a run")
    values = model.parameter_values(named(parameters, "parameters"))
    if not callable(inputs):
        inputs = with_references(model.control_description, named(inputs, "inputs"))
        require_undriven(model.control_description, inputs, "run.inputs.")
        warn_of_references(model.control_description, model.inputs, inputs)
    units = {name: model.units.get(name, "") for name in model.inputs}
    signals = named_signals(inputs, units, model.name, options)
    noise = noise_of(model.control_description, options.seed, options.end)
    drawn = {name: signal for name, signal in noise.items() if name not in signals}
    signals |= drawn
    given = initial_numbers(initial, model)
    mobility = model.mobility
    every = {name: signals.get(name, constant(0.0)) for name in model.inputs}
    start = [*model.state_vector(given, values), *(0.0 for _ in model.audit)]
    warn_of_start(model.control_description, signals, dict(zip(model.states, start, strict=False)))
    tangents, own = Tangents(model, directions_of(model, gradients)), np.array(start[: len(model.states)])
    return Problem(
        model,
        model.audited,
        model.observe,
        every,
        values,
        given,
        start,
        stiff=True if model.stiff else None,
        options=options,
        summary={
            "mobility": None if mobility is None else [mobility.mobility, mobility.steerability],
            "operations": model.operations,
            "derive_seconds": model.derive_seconds,
            **({"notes": list(model.notes)} if model.notes else {}),
            **({"seed": options.seed} if drawn else {}),
        },
        carried=carried_of(tangents, own, given, every, values, len(start)),
    )
