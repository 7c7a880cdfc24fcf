"""What can be taken elsewhere of a model: programs with the names, units and defaults of their groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from trundle.choices import EXPORTED
from trundle.errors import InputError, require_known, suggest
from trundle.languages.package import Entry, Loops, Texts
from trundle.model import Model
from trundle.model.manifold import residual_rows
from trundle.motion.drive.commanded import allowing, commanding
from trundle.motion.drive.kinematics import Kinematics
from trundle.motion.drive.programs import agreeing, following, in_parameters, measures, pointing
from trundle.motion.odometry.odometry import Odometry
from trundle.program import Program
from trundle.robot import require_base_mass


def entries(
    model: Model,
    what: Sequence[str] | None = None,
    optional: Sequence[str] = (),
    *,
    samples: bool = False,
) -> tuple[Entry, ...]:
    """The entries of some parts of a model.

    Parameters
    ----------
    model : Model
        Whose equations.
    what : sequence of str, optional
        Among "dynamics", "jacobian", "kinematics", "commands", "odometry" and "outputs"; by default all that the model
        has.
    optional : sequence of str, optional
        More of them, where the model has them.
    samples : bool
        Whether somebody calls `sampling`, which the dynamics have where controllers sample; else these are refused.

    Returns
    -------
    tuple of Entry
        In the order of the parts.

    Raises
    ------
    InputError
        There is no such part, or the model hasn't it: only bases on wheels have kinematics and odometry. Controllers
        sample, and nobody would call them.

    Examples
    --------
    >>> import trundle
    >>> from trundle.exports.entries import entries
    >>> model = trundle.derive(trundle.catalog.differential_drive())
    >>> [entry.name for entry in entries(model, ["dynamics", "kinematics"])]
    ['dynamics', 'wheel_states', 'next_wheel_states', 'base_twist', 'wheel_measures']
    """
    for part in what or ():
        require_known(part, EXPORTED, f"'{part}' can't be exported", key="what")
    required, optional = ((), EXPORTED) if what is None else (what, optional)
    if not samples and {"dynamics", "jacobian", "outputs"} & {*required, *optional}:
        model.require_continuous("exported motion")
    chosen: list[Entry] = []
    for part in EXPORTED:
        if part in required or part in optional:
            try:
                chosen += _PARTS[part][0](model)
            except InputError:
                if part in required:
                    raise
    return tuple(chosen)


def loops_of(model: Model) -> Loops | None:
    """What closes a model's loops at the start."""
    if model.manifold is None or model.manifold_jacobian is None:
        return None
    return Loops(
        model.manifold,
        model.manifold_jacobian,
        len(residual_rows(model.manifold, "configuration")),
        len(model.coordinates),
        len(model.speeds),
        tuple(model.initial.values()),
        tuple(name in model.dependent for name in model.states),
    )


def entry_named(model: Model, name: str) -> Entry:
    """One entry by its name; InputError where there is none, or the model hasn't it."""
    require_known(name, _PART_OF, f"a model has no function '{name}'", key="entry")
    there = {entry.name: entry for entry in entries(model, [_PART_OF[name]])}
    if name not in there:
        raise InputError(f"'{model.name}' has no function '{name}'", key="entry", hint=suggest(name, there))
    return there[name]


def unit_per(unit: str, other: str) -> str:
    """The unit of a derivative: "rad/s" by "s" is "rad/s^2", by "m" "(rad/s)/m"."""
    if unit == other or not other:
        return "" if unit == other else unit
    if other == "s":
        over = re.search(r"/s(?:\^(\d+))?$", unit)
        return f"{unit[: over.start()]}/s^{int(over[1] or 1) + 1}" if over else f"{unit or '1'}/s"
    return f"{_bracketed(unit or '1')}/{_bracketed(other)}"


def _bracketed(unit: str) -> str:
    return f"({unit})" if {" ", "/"} & set(unit) else unit


def _dynamics(model: Model) -> Iterator[Entry]:
    """The rates, and where there are constraints or sampling controllers what keeps the one and calls the other."""
    yield _of_model(
        model, "dynamics", "dynamics", model.dynamics, "the state's rate of change, x' = f(x, u, p)"
    )
    if model.projection is not None:
        meaning = "the state one Newton step closer to its constraints: to be taken after every step of an integration"
        yield _of_model(model, "projection", "dynamics", model.projection, meaning)
    if model.sampling is not None:
        meaning = "the state after an instant at which controllers sample, by which of their clocks are due (1, else 0)"
        groups = (replace(model.sampling.outputs[0], name="sampled"),)
        program = replace(model.sampling, outputs=groups, function=None)
        yield _of_model(model, "sampling", "dynamics", program, meaning)


def _jacobian(model: Model) -> Iterator[Entry]:
    meaning = "the rate, and its derivatives by the state, df/dx, and by the inputs, df/du"
    yield _of_model(model, "jacobian", "jacobian", model.rate_slopes, meaning)


def _outputs(model: Model) -> Iterator[Entry]:
    meaning = "what a run shows beside the state: dependent speeds, forces, powers, energies, y = g(x, u, p)"
    yield _of_model(model, "outputs", "outputs", model.observe, meaning)


def _of_model(model: Model, name: str, part: str, program: Program, meaning: str) -> Entry:
    """The entry of a program of the whole model, with the units and starts of its robot's numbers."""
    if model.robot is not None:
        require_base_mass(model.robot)
    own = model.units if model.robot is None else model.robot.parameter_units()
    units = _units(program, model.units, own)
    if "rate" in units:  # its labels are the states' own
        units["rate"] = tuple(unit_per(unit, "s") for unit in units["state"])
    defaults = {
        "state": tuple(model.state_vector()),
        "parameter": tuple(model.parameters.values()),
    }
    all_units, unnamed = _with_slopes(program, units)
    return Entry(name, part, program, meaning, all_units, defaults, unnamed)


def _units(program: Program, units: Mapping[str, str], own: Mapping[str, str]) -> dict[str, Texts]:
    """By group, as a parameter, whose unit is in `own`, may have the name of a state."""
    known = {"parameter": own}
    groups = (*program.inputs, *program.outputs)
    return {g.name: tuple(known.get(g.name, units).get(label, "") for label in g.labels) for g in groups}


def _with_slopes(program: Program, units: Mapping[str, Texts]) -> tuple[dict[str, Texts], dict[str, str]]:
    """The units with those of matrices "d a/d b", row-major, from those of a and of b; and matrices in words."""
    sizes = {group.name: group.size for group in (*program.inputs, *program.outputs)}
    all_units, unnamed = dict(units), dict[str, str]()
    for group in program.outputs:
        of, mark, by = group.name.removeprefix("d ").partition("/d ")
        if mark:
            all_units[group.name] = tuple(unit_per(a, b) for a in units[of] for b in units[by])
            unnamed[group.name] = f"{sizes[of]} rows ({of}) of {sizes[by]} columns ({by}), row by row"
    return all_units, unnamed


def _kinematics(model: Model) -> Iterator[Entry]:
    """Wheels from a twist, at rest and on the way, the twist of wheels where they determine it, and their measures."""
    kinematics = model.kinematics()
    drive = in_parameters(kinematics.robot)
    yield _of_wheels(
        kinematics,
        "wheel_states",
        pointing(drive),
        "where each wheel points on the base (angle) and how fast it rolls (speed) at a twist, all forward",
    )
    meaning = (
        "the same on from the angles and speeds that wheels have: no jumps, backward where that is shorter"
    )
    yield _of_wheels(kinematics, "next_wheel_states", following(drive), meaning)
    if kinematics.determined:
        meaning = "the twist that agrees best with the wheels' angles and speeds, and how fast each wheel slips at it"
        yield _of_wheels(kinematics, "base_twist", agreeing(drive), meaning)
    meaning = "each wheel's radius and heading, its angle on the base where its steering is 0"
    yield _of_wheels(kinematics, "wheel_measures", measures(drive), meaning)


def _commands(model: Model) -> Iterator[Entry]:
    """The twist that wheels allow, and what it asks of the joints that motors drive."""
    kinematics = model.kinematics()
    robot = kinematics.robot
    meaning = "the twist without the velocity that fixed wheels don't allow: what a base can follow"
    yield _of_wheels(kinematics, "allowed_twist", allowing(in_parameters(robot)), meaning)
    program = commanding(robot)
    told = {label for group in program.outputs for label in group.labels}
    wheels = {f"{name}.angle" for name in kinematics.names}
    if lost := [label for label in _counting_odometry(model).increments if label not in told | wheels]:
        raise InputError(
            f"no twist tells what '{lost[0]}' of '{robot.name}' does",
            key="robot.motors",
            hint="drive wheels and their steering, or what gears and linkages join to them",
        )
    meaning = "velocities and positions of the joints that motors drive, at angles and speeds of all wheels"
    yield _of_wheels(kinematics, "joint_commands", program, meaning)


_WHEEL_UNITS = {
    "angle": "rad",
    "speed": "m/s",
    "steering_rate": "rad/s",
    "slip": "m/s",
    "radius": "m",
    "heading": "rad",
    "velocity": "rad/s",
    "position": "rad",
}


def _of_wheels(kinematics: Kinematics, name: str, program: Program, meaning: str) -> Entry:
    """The entry of a program of the wheels alone, whose groups hold one quantity a wheel."""
    robot = kinematics.robot
    known = {"twist": ("m/s", "m/s", "rad/s"), "parameter": tuple(robot.parameter_units().values())}
    groups = (*program.inputs, *program.outputs)
    units = {g.name: known.get(g.name) or (_WHEEL_UNITS[g.name],) * g.size for g in groups}
    defaults = {"parameter": tuple(robot.parameter_values().values())}
    return Entry(name, "kinematics", program, meaning, units, defaults, {})


def _odometry(model: Model) -> Iterator[Entry]:
    odometry = _counting_odometry(model)
    units = _units(odometry.program, odometry.units, odometry.robot.parameter_units())
    meaning = "the base's pose after increments of wheels and joints, on one arc, and its derivatives"
    defaults = {"parameter": tuple(odometry.parameters.values())}
    all_units, unnamed = _with_slopes(odometry.program, units)
    yield Entry("odometry_step", "odometry", odometry.program, meaning, all_units, defaults, unnamed)


def _counting_odometry(model: Model) -> Odometry:
    """By what motors drive, or by all wheels where that doesn't tell the motion: a shaft before a differential."""
    if model.robot is None or model.robot.motors:
        try:
            return model.odometry()
        except InputError:
            pass
    return model.odometry([f"{name}.rate" for name in model.kinematics().names])


# By part what makes its entries, and what these are called where a model has them.
_PARTS: Mapping[str, tuple[Callable[[Model], Iterator[Entry]], tuple[str, ...]]] = {
    "dynamics": (_dynamics, ("dynamics", "projection")),
    "jacobian": (_jacobian, ("jacobian",)),
    "kinematics": (_kinematics, ("wheel_states", "next_wheel_states", "base_twist", "wheel_measures")),
    "commands": (_commands, ("allowed_twist", "joint_commands")),
    "odometry": (_odometry, ("odometry_step",)),
    "outputs": (_outputs, ("outputs",)),
}
_PART_OF = {name: part for part, (_, names) in _PARTS.items() for name in names}
