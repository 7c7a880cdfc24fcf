"""What the robots of the catalogue share: their measures, how they are put together, their motors.

Every measure takes a number in SI or text with a unit ("6 in"). What several parts share becomes a named parameter
(r, track, wheelbase), so that `--set track=0.8` moves all of them. Motors are sized so that 24 V reaches a few metres
a second; the numbers are of no particular product.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import wraps
from inspect import Parameter
from typing import NamedTuple, ParamSpec, get_args, get_type_hints

from trundle.errors import InputError
from trundle.robot import units
from trundle.robot.description import Robot, parse_robot
from trundle.robot.expressions import ExpressionError
from trundle.robot.values import Value, describe, read_value

P = ParamSpec("P")
MeasureLike = float | str
Data = dict[str, object]

# What a measure is, by its name: for docstrings and `trundle new KIND --help`.
MEASURES = {
    "base": "How the base moves: fixed, or floating.",
    "battery": "A battery that feeds all motors, its voltage without load (V), such as 12; by default none.",
    "battery_capacity": "Charge of the full battery; by default 18 Ah.",
    "battery_resistance": "Resistance of the battery and its cables (ohm); by default 0.02.",
    "body_inertia": "The body's inertia about the vertical (kg m^2); by default it goes with mass and track.",
    "body_mass": "Mass of the body (kg).",
    "center_height": "Height of the body's centre of mass above the ground (m).",
    "caster": "Whether there is a caster behind.",
    "casters": "Whether it stands on a ball ahead and one behind, too, as over terrain.",
    "contact": "Contact law of the wheels: ideal, slip, free, bristle, linear, pacejka, soil, or one of your own.",
    "coupler": "Length of the coupler (m).",
    "curvature": "Curvature of the arc that it drives (1/m), positive to the left.",
    "current_limit": "Greatest current in the winding of a motor that drives (A).",
    "crank": "Length of the crank (m).",
    "damping": "Viscous damping of each hinge (N m s/rad).",
    "density": "Mass of the rods per length (kg/m).",
    "differential_stiffness": "Stiffness between the rockers (N m/rad); by default rigid gears join them.",
    "drive_acceleration": "Limit of each module's rolling acceleration (m/s^2).",
    "drive_jerk": "Limit of each module's rolling jerk (m/s^3).",
    "drive_mass": "Mass of the drive without its wheels (kg).",
    "drive_speed": "Limit of each module's rolling speed (m/s).",
    "flywheel": "Moment of inertia of the flywheel (kg m^2).",
    "foot_length": "Length of the foot, from heel to toe tip (m); by default it goes with the height.",
    "friction": "Friction coefficient of wheels that slip; a piston's viscous friction (N s/m).",
    "gear_ratio": "Turns of each driving motor per turn of what it drives.",
    "ground": "Distance between the fixed pivots (m).",
    "height": "Height of the person (m).",
    "hip": "How the hip turns: revolute (in the sagittal plane) or spherical.",
    "hip_centre": "Where a hip's centre is in the pelvis: harrington (2007) or bell (1990).",
    "inductance": "Inductance of the motors' windings (H).",
    "leg_length": "Length of each leg (m): at rest, or stretched.",
    "leg_stiffness": "Stiffness of the leg's spring (N/m).",
    "length": "Length of each rod, or from a trailer's hitch to its axle (m).",
    "links": "How many rods, 1 to 1000.",
    "lumbar": "How the trunk is on the pelvis: free (three hinges) or fixed.",
    "mass": "Mass of each rod, or trailer (kg).",
    "modules": "How many, 2 to 32.",
    "motor": "A real motor that drives (`trundle.catalog.motors()`); by default one of no particular product.",
    "offset": "How far ahead of the axle the centre of mass, or the platform's joint, lies; of hitches behind (m).",
    "pelvis_depth": "Between the middles of its front and back spines (m); by default it goes with the height.",
    "pelvis_width": "Between the front spines of the pelvis (m); by default it goes with the height.",
    "piston_mass": "Mass of the piston (kg).",
    "platform_mass": "Mass of the platform on the joint (kg).",
    "radius": "Radius of the wheels (m).",
    "resistance": "Resistance of the motors' windings (ohm).",
    "robot_inertia": "Inertia of the whole robot about the vertical through its centre of mass (kg m^2).",
    "robot_mass": "Mass of the whole robot (kg), in place of its body's.",
    "rocker": "Length of the rocker (m).",
    "rod": "Length of the connecting rod (m).",
    "roller_angle": "Angle of the rollers' axes from the axle (rad).",
    "servo_stiffness": "Stiffness of each servo (N m/rad); its damping is 0.02 s times that.",
    "sex": "Which columns of de Leva's table: female or male.",
    "shank_length": "From knee to ankle (m); by default it goes with the height.",
    "speed": "How fast it drives (m/s).",
    "spread": "Distance of the wheels from the centre (m).",
    "steering_acceleration": "Limit of each module's steering acceleration (rad/s^2).",
    "steering_current_limit": "Greatest current in the winding of a motor that steers (A).",
    "steering_jerk": "Limit of each module's steering jerk (rad/s^3).",
    "steering_motor": "A real motor that steers; by default a servo does.",
    "steering_rate": "Limit of each module's steering rate (rad/s).",
    "steering_ratio": "Turns of a steering motor per turn of what it steers; by default 150/7.",
    "steering_supply_current_limit": "Greatest current that a motor that steers takes from its supply (A).",
    "supply_current_limit": "Greatest current that a motor that drives takes from its supply (A).",
    "table": "Where the segments are from: winter (2009) or de_leva (1996).",
    "thigh_length": "From hip to knee (m); by default it goes with the height.",
    "tilt": "Angle of the steering axis from the vertical (rad), positive where it leans back.",
    "torque_constant": "Torque of the motors per current (N m/A).",
    "track": "Distance between the centres of left and right wheels (m).",
    "trail": "How far behind the steering axis's point on the ground the front wheel touches it (m).",
    "trailers": "How many, 1 to 20.",
    "wheel_mass": "Mass of each wheel (kg).",
    "wheelbase": "Distance between front and rear wheels, or the diameter of their circle (m).",
    "width": "Width of the wheels (m).",
}
# Parameters that are sizes, and the measures that give them.
_SIZES = {name: name for name in (
    "body_mass", "center_height", "density", "foot_length", "ground", "height", "length", "pelvis_depth",
    "pelvis_width", "shank_length", "spread", "thigh_length", "track", "wheelbase",
)} | {
    "a": "crank", "b": "coupler", "c": "rocker", "l": "rod"
}  # fmt: skip
_TYPES = {"MeasureLike": "float or str"}
_OUTCOME = """
Returns
-------
Robot

Raises
------
InputError
    Where a measure is no number, has a unit that doesn't fit, or makes no sense.

"""


class CatalogEntry(NamedTuple):
    """A robot of the catalogue, what it does when it is run as it comes: something to see, and the ground under it."""

    make: Callable[..., Robot]
    run: Callable[[Robot], Data]
    terrain: Data | None = None


ROBOTS: dict[str, CatalogEntry] = {}


def entry(
    run: Callable[[Robot], Data], *, terrain: Data | None = None
) -> Callable[[Callable[P, Robot]], Callable[P, Robot]]:
    """Put a robot into the catalogue with its run, and the terrain of one that drives over it; its docstring gets what
    each measure is.
    """

    def added(made: Callable[P, Robot]) -> Callable[P, Robot]:
        """Add the robot to the catalogue, and to its docstring what its arguments measure and what comes back."""
        signature = inspect.Signature(list(_measures(made)), return_annotation="Robot")

        @wraps(made)
        def make(*args: P.args, **kwargs: P.kwargs) -> Robot:
            # of keys that several robots share, none but those that there are
            measures = signature.bind(*args, **kwargs).arguments
            try:
                return made(*args, **kwargs)
            except InputError as error:
                raise _blaming(error, made, measures) from error.__cause__

        vars(make)["__signature__"] = signature
        ROBOTS[make.__name__] = CatalogEntry(make, run, terrain)
        words, mark, example = (inspect.getdoc(make) or "").partition("Examples\n")
        lines = [f"{words}Parameters", "----------"]
        for name, parameter in signature.parameters.items():
            kind, _, optional = str(parameter.annotation).partition(" | ")
            said = _TYPES.get(kind, kind) + (", optional" if optional else "")
            lines += [f"{name} : {said}", f"    {MEASURES[name]}"]
        make.__doc__ = "\n".join(lines) + "\n" + _OUTCOME + mark + example
        return make

    return added


def _blaming(
    error: InputError, made: Callable[..., Robot], measures: Mapping[str, MeasureLike]
) -> InputError:
    """An error about a part of a robot as one about the measure without which there is none, if only one is so."""
    blamed = list[str]()
    for measure in () if error.key is None or error.key in measures else measures:
        with suppress(InputError):
            made(**{name: value for name, value in measures.items() if name != measure})
            blamed.append(measure)
    if len(blamed) != 1:
        return error
    message = f"{describe(measures[blamed[0]])} for {error.key}: {error.message}"
    return InputError(message, key=blamed[0], hint=error.hint)


def _measures(make: Callable[..., Robot]) -> Iterator[Parameter]:
    """The arguments of a robot, those that it shares with others one by one: `None` where they aren't said."""
    for parameter in inspect.signature(make).parameters.values():
        if parameter.kind is not Parameter.VAR_KEYWORD:
            yield parameter
            continue
        (shared,) = get_args(get_type_hints(make)[parameter.name])
        for name, kind in shared.__annotations__.items():
            yield Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind.__forward_arg__)


def described(name: str, parameters: Mapping[str, MeasureLike], **parts: Mapping[str, object] | str) -> Robot:
    """A robot of these parts."""
    for parameter, measure in _SIZES.items():
        size = number_of(parameters.get(parameter, 1.0), units.ANY)
        if size is not None and size <= 0:
            raise InputError(f"must be greater than zero, got {parameters[parameter]}", key=measure)
    return parse_robot({"name": name, **parts, "parameters": parameters})


def number_of(written: MeasureLike, quantity: units.PhysicalQuantity) -> float | None:
    """A measure in SI; None for a formula, and for what is no number: that is said where it is used."""
    try:
        return read_value(written, quantity).constant
    except ExpressionError:
        return None


def run(duration: float, inputs: Data, **more: Data) -> Data:
    """A run's section."""
    return {"duration": duration, "inputs": inputs, **more}


def volts(**names: float) -> Data:
    """Voltages of motors."""
    return {f"{name}.voltage": number for name, number in names.items()}


def within_limits(robot: Robot, shown: Data) -> Data:
    """A run with its voltages in the same proportion, none above what the robot's motors can be given."""
    inputs = shown.get("inputs")
    limits = (getattr(motor, "voltage_limit", None) for motor in robot.motors.values())
    sources = [battery.open_circuit_voltage for battery in robot.batteries.values()]
    every = [limit.constant for limit in [*limits, *sources] if isinstance(limit, Value)]
    most = min((limit for limit in every if limit), default=math.inf)
    given = inputs.items() if isinstance(inputs, dict) else ()
    volts = {name: amount for name, amount in given if isinstance(amount, float | int)}
    share = most / max((abs(amount) for amount in volts.values()), default=most)
    if share >= 1:
        return shown
    return shown | {"inputs": dict(given) | {name: float(f"{v * share:.3g}") for name, v in volts.items()}}


def sweep(angle: str) -> Data:
    """A steering angle that goes from 0 to `angle` and stays."""
    return {"times": [0, 1, 4], "values": [0, 0, angle], "interpolation": "linear"}


def keys_given(**keys: object) -> Data:
    """The keys that somebody gave."""
    return {name: key for name, key in keys.items() if key is not None}


def check_count(what: str, count: object, least: int, most: int) -> None:
    """Raise InputError where a measure that counts parts is no whole number between two others."""
    if isinstance(count, bool) or not isinstance(count, int) or not least <= count <= most:
        raise InputError(f"expected {least} to {most} {what}, got {count!r}", key=what)


def wheel_of(
    width: MeasureLike, mass: MeasureLike, contact: str | None, friction: MeasureLike | None
) -> Data:
    """A wheel of the radius r."""
    return {"radius": "r", "width": width, "mass": mass, **keys_given(contact=contact, friction=friction)}


Size = tuple[MeasureLike, float]


def scaled(inertia: float, usual: float, mass: MeasureLike, *sizes: Size) -> MeasureLike:
    """The inertia (kg m^2) that a body has at its usual mass (kg) and sizes (m), at others: a plate's, m Σ l²/12."""
    lengths = [(number_of(size, units.LENGTH), normal) for size, normal in sizes]
    # a size that is none is said where it is used
    if sizes and all(length is not None for length, _ in lengths):
        usual_size = sum(normal**2 for _, normal in lengths)
        inertia *= sum((length or 0.0) ** 2 for length, _ in lengths) / usual_size
    number = number_of(mass, units.MASS)
    if number is not None:
        return float(f"{inertia * number / usual:.12g}")
    return f"({mass})*{inertia / usual} m^2" if isinstance(mass, str) else inertia


def drive(target: str, gear_ratio: MeasureLike, motor: str | None = None) -> Data:
    """A geared DC motor: a real one at 12 V, or one with 24 rad/s at 20:1 and 24 V without load, 48 N m at rest."""
    winding: Data = {"torque_constant": 0.05, "resistance": 0.5, "inductance": 5e-4, "voltage_limit": 24.0}
    rotor: Data = {"rotor_inertia": 2e-5}
    if motor is not None:
        winding, rotor = {"model": motor, "voltage_limit": 12.0}, {}
    return {"drives": target, **winding, "gear_ratio": gear_ratio, **rotor}


def servo(target: str, stiffness: float = 40.0, damping: float = 4.0) -> Data:
    """A servo on a steering (N m/rad, N m s/rad)."""
    return {"type": "servo", "drives": target, "stiffness": stiffness, "damping": damping}
