"""The catalogue by name: what there is, what it takes, and a robot or a whole description of it."""

from __future__ import annotations

import inspect

from trundle.catalog.entry import ROBOTS, CatalogEntry, MeasureLike, within_limits
from trundle.documents.document import Document
from trundle.documents.reader import parse
from trundle.documents.runspec import RunSpec
from trundle.documents.writer import dump
from trundle.errors import InputError, choose, suggest
from trundle.robot.description import Robot
from trundle.robot.real_motors import REAL_MOTORS, PublishedMotor


def names(*, terrain: bool = False) -> tuple[str, ...]:
    """Names of the catalogue's robots.

    Parameters
    ----------
    terrain : bool
        Those that drive over terrain alone, in place of all others.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.names()[:2]
    ('differential_drive', 'offset_drive')
    >>> trundle.catalog.names(terrain=True)
    ('zoe', 'rocky7', 'talon', 'landtamer', 'recbot', 'rocker_bogie', 'hopper', 'quadruped', 'bicycle')
    """
    chosen = [name for name, each in ROBOTS.items() if (each.terrain is not None) == terrain]
    return tuple(sorted(chosen, key=lambda name: ROBOTS[name].make.__module__, reverse=True))  # wheels first


def summary(name: str) -> str:
    """What a robot of the catalogue is, in one sentence.

    Parameters
    ----------
    name : str
        Its name.

    Returns
    -------
    str

    Raises
    ------
    InputError
        Where there is no such robot.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.summary("skid_steer")
    "Four driven wheels that can't be steered: it turns by letting them slip."
    """
    return (inspect.getdoc(_entry(name).make) or "").partition("\n")[0]


def options(name: str) -> dict[str, MeasureLike | int | bool | None]:
    """The measures that a robot of the catalogue takes, and their defaults.

    Parameters
    ----------
    name : str
        Its name.

    Returns
    -------
    dict
        Numbers in SI, or text with a unit.

    Raises
    ------
    InputError
        Where there is no such robot.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.options("pendulum")
    {'links': 2, 'length': 0.5, 'mass': 1.0, 'damping': 0.0}
    """
    parameters = inspect.signature(_entry(name).make).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


def _entry(name: str) -> CatalogEntry:
    if name not in ROBOTS:
        raise InputError(f"there is no {name!r} in the catalogue", hint=suggest(name, ROBOTS))
    return ROBOTS[name]


def robot(name: str, **measures: MeasureLike | int | bool) -> Robot:
    """A robot of the catalogue by name.

    Parameters
    ----------
    name : str
        Its name.
    **measures : float, str, int or bool
        Its measures (see `options`): numbers in SI, or text with a unit.

    Returns
    -------
    Robot

    Raises
    ------
    InputError
        Where there is no such robot or measure, or a measure makes no sense.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.robot("swerve", modules=3).name
    'swerve'
    """
    known = options(name)
    for measure in measures:
        if measure not in known:
            raise InputError(f"{name} has no measure {measure!r}", hint=suggest(measure, known))
    return _entry(name).make(**measures)


def document(name: str, **measures: MeasureLike | int | bool) -> Document:
    """A robot of the catalogue with a run that shows it moving, as text and as components.

    Parameters
    ----------
    name : str
        Its name.
    **measures : float, str, int or bool
        Its measures (see `options`): numbers in SI, or text with a unit.

    Returns
    -------
    Document
        With `source`, the YAML text that `trundle new` writes.

    Raises
    ------
    InputError
        Where there is no such robot or measure, or a measure makes no sense.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.document("pendulum").run.duration
    10.0
    """
    made = robot(name, **measures)
    run = RunSpec.model_validate(within_limits(made, _entry(name).run(made)))
    ground = _entry(name).terrain
    if ground is None:
        return parse(dump(made, run, comment=summary(name)))
    from trundle.robot.terrain import parse_terrain  # late: most robots have none

    return parse(dump(made, run, terrain=parse_terrain(ground), comment=summary(name)))


def motors() -> tuple[str, ...]:
    """Names of the real motors that a dc motor's `model` can be.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.motors()[:2]
    ('kraken_x60', 'kraken_x60_foc')
    """
    return tuple(REAL_MOTORS)


def motor(name: str) -> PublishedMotor:
    """What is published of a real motor, and where.

    Parameters
    ----------
    name : str
        Its name.

    Returns
    -------
    PublishedMotor
        Stall torque and current, free speed and current, peak power, source; `keys` of a dc motor that has them.

    Raises
    ------
    InputError
        Where there is no such motor.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.motor("neo").stall_torque
    2.6
    """
    if name not in REAL_MOTORS:
        raise InputError(f"there is no motor {name!r} in the catalogue", hint=choose(name, REAL_MOTORS))
    return REAL_MOTORS[name]
