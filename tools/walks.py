"""Two walks through the package, and the files that each passes (`python -m tools.gauges` holds how many).

One walk leads from the file of a motion plan to its CSV, the other from a file of markers to joint moments. A file is
passed through where one of its functions runs, by `sys.setprofile`. All of the package is imported before, so that
what runs once at import (registering kinds, making data classes) is not counted.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np

import trundle

PACKAGE = Path(trundle.__file__).parent
EXAMPLES = Path(__file__).parents[1] / "examples"
# On which body of the limb a marker is, and how far along it (m): two a body, off its axis, so that each one is posed.
_PLACES = {
    f"{body}_{side}": (body, (0.05 * sign, 0.2, 0.0))
    for body in ("thigh", "shank", "foot")
    for side, sign in (("left", -1), ("right", 1))
}


def files(walk: Callable[[], object]) -> list[str]:
    """The files of the package, relative to it, of which a function runs while `walk` does."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            seen.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(before)
    inside = (Path(name) for name in seen if Path(name).is_relative_to(PACKAGE))
    return sorted(path.relative_to(PACKAGE).as_posix() for path in inside)


def plan(folder: Path) -> Callable[[], object]:
    """The walk from a plan to its CSV in `folder`."""
    from trundle.motion.commands.record import simulator_table

    def walk() -> None:
        driven = trundle.drive(EXAMPLES / "swerve/motions/forward_to_left.yaml", level="coordinated")
        (folder / "plan.csv").write_text(simulator_table(driven), encoding="utf-8")

    return walk


def markers(folder: Path) -> Callable[[], object]:
    """The walk from a recording of markers, written to `folder`, to the wrench in a knee."""
    _write_markers(folder)

    def walk() -> None:
        placed, smoothing = folder / "markers.yaml", trundle.smoothing("butterworth", cutoff=6.0)
        found = trundle.inverse(
            EXAMPLES / "limb/limb.yaml", folder / "walk.csv", markers=placed, smoothing=smoothing
        )
        found.loads.wrench("knee")

    return walk


def _write_markers(folder: Path) -> None:
    """The limb's markers over a second at 100 Hz; its segments hang on each other, each along its own y."""
    t = np.linspace(0.0, 1.0, 101)
    angle, joint, places = np.zeros_like(t), np.zeros((t.size, 2)), {}
    for k, (body, length) in enumerate({"thigh": 0.8, "shank": 0.6, "foot": 0.4}.items()):
        angle = angle + 0.3 * np.sin(2 * np.pi * t + k)
        x, y = np.stack([np.cos(angle), np.sin(angle)], 1), np.stack([-np.sin(angle), np.cos(angle)], 1)
        for name, (owner, (across, along, _)) in _PLACES.items():
            if owner == body:
                places[name] = np.column_stack([joint + across * x + along * y, np.zeros_like(t)])
        joint = joint + length * y
    trundle.write_recording(trundle.Recording(t, markers=places), folder / "walk.csv")
    listed = "".join(f"  {name}: {{body: {body}, at: {list(at)}}}\n" for name, (body, at) in _PLACES.items())
    (folder / "markers.yaml").write_text(f"markers:\n{listed}", encoding="utf-8")


def import_all() -> None:
    """Every module of the package that what is installed lets import."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # it greets on standard output
    for module in pkgutil.walk_packages([str(PACKAGE)], "trundle."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ImportError:  # an optional library is not installed
                continue
