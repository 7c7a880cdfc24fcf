"""Files of paths by their suffix: PathPlanner's `.path`, Choreo's `.traj`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from trundle.documents.json_files import read_json, refuse_no_motion
from trundle.errors import InputError, choose
from trundle.expected import check_float
from trundle.files import path_of
from trundle.motion.paths.choreo import from_traj_file
from trundle.motion.paths.pathplanner import from_path_file
from trundle.motion.paths.pose_paths import PosePath

SUFFIXES = (".path", ".traj")
MOST_NAMED = 8  # as many paths as a message's line holds


def read_path(file: str | os.PathLike[str], tolerance: float = 0.01) -> PosePath:
    """The path of poses in a file of PathPlanner (`.path`) or Choreo (`.traj`).

    Their curves' curvature jumps, at anchors and where headings begin to turn; wheels can't follow that at speed. What
    is read is the spline with the fewest nodes that stays within a tolerance of theirs; how far it leaves them is its
    `deviation`.

    Parameters
    ----------
    file : str or path
        A `.path` in PathPlanner's format 2025, or a `.traj` in Choreo's format up to 3. Nothing in it is executed.
    tolerance : float, m, optional
        How far the path may leave the file's, half a metre of it a radian of the heading. Default: 1 cm.

    Returns
    -------
    PosePath
        With the file's limits along it, its events, and its speeds at the ends. Of a `.path`, `way()` is the path of
        bases that can't move sideways: they head along it, against it where it is reversed. `follow` takes it for them.

    Raises
    ------
    InputError
        With file, line and key of what is wrong; or the tolerance isn't positive.

    Examples
    --------
    >>> import trundle
    >>> try:
    ...     trundle.read_path("way.csv")
    ... except trundle.InputError as error:
    ...     print(error.hint)
    choose one of .path, .traj
    """
    path = path_of(file, "read_path")
    tolerance = check_float(tolerance, "tolerance", above=0, unit="m")
    if path.suffix not in (*SUFFIXES, ".auto"):
        raise _no_path(path)
    source = read_json(path)
    if path.suffix == ".auto" or (
        path.suffix == ".path" and "waypoints" not in source.data and "command" in source.data
    ):
        raise _a_routine(str(file), source.data)
    try:
        if path.suffix == ".path":
            return from_path_file(source, path.stem, tolerance)
        return from_traj_file(source, tolerance)
    except InputError as error:
        raise error.at(file=str(file)) from None


def _no_path(path: Path) -> InputError:
    """The error on a file's name that ends as no path's does."""
    refuse_no_motion(path)
    there = [f"{path}{suffix}" for suffix in SUFFIXES if Path(f"{path}{suffix}").is_file()]
    hint = f"did you mean '{there[0]}'?" if there else choose(path.suffix, SUFFIXES)
    if path.suffix in (".yaml", ".yml", ".json"):
        hint = f"trundle.drive({str(path)!r}) takes commands"
    return InputError(
        "is no file of a path" if path.exists() else "there is no such path", file=str(path), hint=hint
    )


def _a_routine(file: str, data: object) -> InputError:
    """The error on a file that holds no path, but names some."""
    message = "is an autonomous routine of PathPlanner's (.auto): it has no waypoints, and names the paths that have"
    names = list(dict.fromkeys(_named_paths(data)))
    files = ", ".join(f"{name}.path" for name in names[:MOST_NAMED])
    if len(names) > MOST_NAMED:
        files = f"{files} and {len(names) - MOST_NAMED} more"
    hint = f"give the paths that it names, of pathplanner/paths: {files}" if names else "it names no path"
    return InputError(message, file=file, hint=hint)


def _named_paths(data: object) -> Iterator[str]:
    """The paths that a routine's commands name, in their order."""
    todo = [data]
    while todo:
        here = todo.pop()
        if isinstance(here, list):
            todo.extend(reversed(here))
        elif isinstance(here, dict):
            if isinstance(name := here.get("pathName"), str):
                yield name
            todo.extend(reversed(list(here.values())))
