"""References: what a motion gives a tracker in the robot, as inputs of a run.

places over time ─┐
run, plan, drive ─┼──► times, pose, twist, the twist's rate (`_Reference`) ──► the inputs that the tracker has
.traj, .path, … ──┘
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.documents.json_files import read_json, refuse_no_motion
from trundle.documents.runspec import FileTable
from trundle.errors import InputError, choose, require_known
from trundle.expected import check_str
from trundle.model.arguments import Given, number, robot_of
from trundle.model.placed import placed
from trundle.motion.commands.drive import drive
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import motion_forces
from trundle.motion.paths.choreo import timed_poses
from trundle.motion.paths.following import follow
from trundle.motion.paths.pose_paths import PosePath
from trundle.motion.pieces.motion import Motion, motion_of
from trundle.results import Run
from trundle.results.table import read_sheet
from trundle.robot import Robot
from trundle.robot.base_tracker import FORCE
from trundle.simulation.columns import read_column

if TYPE_CHECKING:
    from trundle.motion.commands.drive import Driven

_POSE, _TWIST = ("x", "y", "theta"), ("v_x", "v_y", "omega")
NAMES = (*_POSE, *_TWIST)
RATES = tuple(f"{name}_rate" for name in _TWIST)
_COLUMNS = ("time", "x", "y", "theta")
# How soon (s) after its end a motion's accelerations and forces are over.
_OVER = 1e-6
# A base that stands has no direction of travel: below this share of the fastest speed its tangent is rounding.
_STANDS = 1e-6
_GIVERS = "trundle.plan(…), trundle.drive(file), a run, or {'time': …, 'x': …, 'y': …}"


class _Reference(NamedTuple):
    """Times (n,), and columns of pose and twist (n, 3), and of the twist's rate, all in SI; the motion if it is one."""

    times: FloatArray
    pose: FloatArray
    twist: FloatArray
    rate: FloatArray
    motion: Motion | None = None


def reference(
    motion: Motion | Driven | Run | PosePath | Mapping[str, npt.ArrayLike] | str | os.PathLike[str],
    name: str = "track",
    *,
    rate: float = 100.0,
    robot: Given | None = None,
) -> dict[str, tuple[list[float], list[float], str]]:
    """What a run gives a tracker of this name so that it follows a motion: pose and twist over time.

    Values between the times are those of cubic splines. Of places alone the heading is the direction of travel:
    θ = atan2(ẏ, ẋ), v_x = |ṗ|, v_y = 0, ω = (ẋ ÿ − ẏ ẍ)/|ṗ|². Runs of a robot with the tracker take the motion
    itself, as `inputs={"track": motion}`, in a file `inputs: {track: {file: plan.traj}}`.

    Parameters
    ----------
    motion : Motion, Driven, Run, PosePath, path or mapping of str to array_like (n,)
        What `plan`, `drive` and `follow` give; a run of a robot on a plane; or columns `time` (s), `x`, `y` (m) and, of
        a base whose heading is its own, `theta` (rad). Or a file: Choreo's `.traj`, commands for `drive` (.yaml), a run
        (.nc), columns (.csv), also as {"file": name}. Of a path (PathPlanner's `.path`) the quickest motion along it.
    name : str, optional
        That of the tracker in the robot.
    rate : float, 1/s, optional
        Of a motion: how many times a second it is told.
    robot : Robot, Model, path or mapping, optional
        The robot with the tracker. It says what the tracker takes, of the type `tracker` the twist's rate, too; and
        within whose limits a path is driven.

    Returns
    -------
    dict of str to (list, list, str)
        Times (s), values (SI) and what joins them, by input: `track.x`, `track.y`, `track.theta`, `track.v_x`,
        `track.v_y` and `track.omega`, the twist in the base's axes. Of the type `tracker` also its rate,
        `track.v_x_rate`, …, and the ground's forces on wheels that slip, `track.WHEEL.traction` and `.side_force` (N):
        a plan's, else 0, which lets wheels share by their loads.

    Raises
    ------
    InputError
        What came is no motion, a column is missing or of another length, times don't rise, or the base stands where its
        heading is to be told by its way. A path's robot isn't told, or has no limits.

    Examples
    --------
    >>> import numpy as np
    >>> import trundle
    >>> t = np.linspace(0, 2, 21)
    >>> told = trundle.reference({"time": t, "x": np.sin(t), "y": 1 - np.cos(t)})
    >>> times, values, joined = told["track.omega"]
    >>> abs(values[10] - 1) < 1e-3
    True
    """
    check_str(name, "name")
    if not number(rate, "rate", "1/s") > 0:
        raise InputError(f"expected a rate > 0 1/s, got {rate!r}", key="rate")
    described = None if robot is None else robot_of(robot, "reference", "it has no tracker")
    told = _reference(motion, rate, described)
    # headings of runs are whole already; a column's own may be within half a turn
    pose = np.column_stack([told.pose[:, :2], np.unwrap(told.pose[:, 2])])
    columns = np.concatenate([pose, told.twist, told.rate], axis=1).T.tolist()
    values = dict(zip((*NAMES, *RATES), columns, strict=True))
    times, taken = told.times.tolist(), _names_of(described, name)
    if described is not None and told.motion is not None and not {*taken} <= {*values}:
        values |= _forces(described, told.motion, told.times)
    # behind the end nothing changes any more: poses and twists stay, and what quickens the base is over
    ended, none = [*times, times[-1] + _OVER], [0.0] * len(times)
    return {
        f"{name}.{of}": (times, values[of], "cubic")
        if of in NAMES
        else (ended, [*values.get(of, none), 0.0], "linear")
        for of in taken
    }


def _forces(robot: Robot, motion: Motion, times: FloatArray) -> dict[str, list[float]]:
    """The ground's forces on the wheels along a motion, as the plan chose them (N)."""
    forces = motion_forces(
        DrivenRobot(robot, motion.kinematics.names), motion.samples(times), motion.pushes(times)
    )
    return {
        f"{name}.{of}": column.tolist()
        for of, part in zip(FORCE, (forces.traction, forces.side_force), strict=True)
        for name, column in zip(forces.names, part.T, strict=True)
    }


def _names_of(robot: Robot | None, name: str) -> tuple[str, ...]:
    """The references that a robot's tracker has, by its own names for them."""
    if robot is None:
        return NAMES
    require_known(name, robot.controllers, f"{robot.name!r} has no controller {name!r}", key="name")
    own = next(each.references for each in placed(robot) if each.name == name)
    if not {*NAMES} <= {*own}:
        message = f"the controller {name!r} of {robot.name!r} is no tracker: it has no {NAMES[0]} to follow"
        raise InputError(message, key="name", hint="give a motion to one of the type tracker")
    return (*NAMES, *(of for of in own if of not in NAMES))


def _reference(motion: object, rate: float, robot: Robot | None) -> _Reference:
    """Pose and twist over time of whatever tells them."""
    if isinstance(motion, Mapping) and {*motion} == {"file"}:  # as a run file has it
        motion = check_str(motion["file"], "file")
    if isinstance(motion, (str, os.PathLike)):
        return _from_file(Path(motion), rate, robot)
    if isinstance(motion, Run):
        return _from_run(motion)
    if isinstance(motion, Mapping):
        return _from_places(motion)
    if isinstance(motion, PosePath):
        if robot is None:
            hint = "give the robot, robot=…, or trundle.follow(path, robot), which finds them"
            raise InputError("a path has no times", key="motion", hint=hint)
        motion = follow(motion, robot)
    moved = motion_of(motion, "reference", _GIVERS)
    times = np.linspace(0.0, moved.duration, max(int(np.ceil(moved.duration * rate)), 3) + 1)
    samples = moved.samples(times)
    return _Reference(times, moved.poses(times), samples.twist, samples.twist_rate, moved)


def _from_file(path: Path, rate: float, robot: Robot | None) -> _Reference:
    """The motion in a file, by how its name ends."""

    def trajectory() -> _Reference:
        times, poses = timed_poses(read_json(path))
        return _from_places({"time": times, **dict(zip(_POSE, poses.T, strict=True))})

    def quickest() -> _Reference:
        from trundle.motion.paths.path_files import read_path

        return _reference(read_path(path), rate, robot)

    def run() -> _Reference:
        return _from_run(Run.load(path))

    def columns() -> _Reference:
        there = read_sheet(path).with_units().names
        named = {"x": "x", "y": "y"}
        for of in ("heading", "theta"):
            named |= {"theta": of} if of in there else {}
        source = FileTable.model_validate({"file": path.name})
        table = {own: read_column(source, of, path.parent, "motion") for own, of in named.items()}
        return _from_places({"time": table["x"][0], **{own: values for own, (_, values, _) in table.items()}})

    def commands() -> _Reference:
        return _reference(drive(path) if robot is None else drive(path, robot), rate, robot)

    readers: dict[str, Callable[[], _Reference]] = {
        ".traj": trajectory,
        ".path": quickest,
        ".csv": columns,
        **dict.fromkeys((".yaml", ".yml"), commands),
        ".nc": run,
    }
    if not path.is_file():
        hint = "a name is relative to the description's folder, in Python to the current one"
        raise InputError("there is no such file", file=str(path), key="motion", hint=hint)
    if path.suffix not in readers:
        refuse_no_motion(path)
        hint = choose(path.suffix, readers)
        raise InputError("is no file of a motion", file=str(path), key="motion", hint=hint)
    try:
        return readers[path.suffix]()
    except InputError as error:
        raise error.at(file=str(path)) from None


def _from_run(run: Run) -> _Reference:
    """What a base did."""
    for of in NAMES:
        if of not in run:
            raise InputError(
                f"the run has no {of!r}: a reference is the pose and twist of a base on a plane",
                key="motion",
                hint=f"expected {', '.join(NAMES)}",
            )
    pose, twist = (np.stack([run[of] for of in names], axis=1) for names in (_POSE, _TWIST))
    return _rated(np.asarray(run.time, dtype=float), pose, twist)


def _rated(times: FloatArray, pose: FloatArray, twist: FloatArray) -> _Reference:
    """The same with the twist's rate, by splines."""
    from scipy.interpolate import CubicSpline

    return _Reference(times, pose, twist, CubicSpline(times, twist)(times, 1))


def _from_places(given: Mapping[str, npt.ArrayLike]) -> _Reference:
    """Pose and twist along splines through places."""
    from scipy.interpolate import CubicSpline

    for key in given:
        require_known(key, _COLUMNS, f"a reference has no column {key!r}", key="motion")
    columns = {str(key): as_numbers(values, key) for key, values in given.items()}
    for of in _COLUMNS[:3]:
        if of not in columns:
            raise InputError(f"a reference needs the column {of!r}", key="motion", hint="time, x and y")
    sizes = {of: values.shape for of, values in columns.items()}
    if len(set(sizes.values())) > 1 or any(len(size) != 1 or size[0] < 4 for size in sizes.values()):
        told = ", ".join(f"{of} {size}" for of, size in sizes.items())
        raise InputError(
            f"columns of a reference are as long as its times, 4 at least; got {told}", key="motion"
        )
    if not (np.diff(columns["time"]) > 0).all():
        raise InputError("a reference's times must rise", key="motion")
    times = columns["time"]
    x, y = (CubicSpline(times, columns[of]) for of in ("x", "y"))
    (v_x, v_y), (a_x, a_y) = (x(times, 1), y(times, 1)), (x(times, 2), y(times, 2))
    speed = np.hypot(v_x, v_y)
    if "theta" in columns:
        theta = np.unwrap(columns["theta"])
        omega, c, s = CubicSpline(times, theta)(times, 1), np.cos(theta), np.sin(theta)
        twist = c * v_x + s * v_y, c * v_y - s * v_x, omega
    else:
        _check_moves(times, speed)
        theta = np.arctan2(v_y, v_x)
        twist = speed, 0 * speed, (v_x * a_y - v_y * a_x) / speed**2
    pose = np.column_stack([columns["x"], columns["y"], theta])
    return _rated(times, pose, np.column_stack(twist))


def _check_moves(times: FloatArray, speed: FloatArray) -> None:
    """Raise InputError where the base stands."""
    still = speed <= _STANDS * speed.max(initial=0.0)
    if still.any():
        when = times[int(np.argmax(still))]
        message = f"the base stands at {when:g} s, where its way doesn't tell its heading"
        raise InputError(message, key="motion", hint="give the column theta")
