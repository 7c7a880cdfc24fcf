"""Modules that have moved: their old names lead to the new ones for a version, with a DeprecationWarning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

# The import system asks for methods, not for these classes, and importing them takes a third of `import trundle`.
if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:
    Loader = MetaPathFinder = object

# From which room to which modules went that kept their own names; all without "trundle.".
_ROOMS = (
    ("driving", "motion.commands", "commands drive record verification profile_comparison"),
    ("motion.paths", "motion.commands", "commands drive record verification profile_comparison"),
    ("motion", "motion.drive", "kinematics"),
    ("motion", "mechanics", "modules"),
    ("motion.drive", "mechanics", "modules"),
    ("motion", "motion.pieces", "motion profiles extremes"),
    ("motion", "motion.forces", "motor_limits"),
    ("motion", "motion.trackers", "tracking"),
    ("show", "show.words", "lines"),
    ("show", "show.figures", "films load_figures plots several_runs style"),
    ("formulas", "formulas.letters", "names parameter_letters lettered_mechanism sheet"),
    ("formulas", "formulas.derivation", "dynamics named_constants"),
    (
        "formulas",
        "formulas.chapters",
        "bodies_section constraints_section forces_section kinematics_section motion_section",
    ),
    ("formulas", "formulas.checks", "section_checks evidence evaluation"),
    ("formulas", "formulas.algebra", "cofactors"),
)
# Old name → new name; what stands below a room moves with it.
MOVED = {
    "algebra": "formulas.algebra",
    "typeset": "formulas.typeset",
    "capture": "limbs.capture",
    "loads": "limbs.loads",
    "drawing": "show.drawing",
    "scene": "show.drawing.scene",
    "page": "show.page",
    "window": "show.window",
    "planning": "motion.planning",
    "driving": "motion.paths",
    "driving.levels": "motion.commands.control_levels",
    # `from trundle.driving import levels` asks the room that driving is now.
    "motion.paths.levels": "motion.commands.control_levels",
    "simulation.progress": "progress",
    "motion.trackers.references": "motion.paths.references",
    "motion.halves": "mechanics.modules",
    "motion.limits": "motion.drive.drive",
    "motion.module_states": "motion.drive.programs",
    "motion.poses": "motion.pieces.motion",
    "motion.least_times": "motion.pieces.profiles",
    "formulas.notes": "formulas.letters.names",
    "formulas.named_steps": "formulas.derivation.dynamics",
    "formulas.wheel_loads": "formulas.chapters.forces_section",
    "formulas.singular_section": "formulas.chapters.bodies_section",
    "formulas.comparison": "formulas.checks.evidence",
    "analysis.brackets": "analysis.lie_brackets_casadi",
    "analysis.filtration": "analysis.lie_filtration",
    **{f"{old}.{name}": f"{new}.{name}" for old, new, names in _ROOMS for name in names.split()},
}


class Moved(MetaPathFinder):
    """Finds modules by their old names. It comes first: the file finders would load a moved room's files again."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module that has moved; None for all others."""
        start, _, old = fullname.partition(".")
        new = new_name(old) if start == "trundle" else None
        if new is None:
            return None
        warnings.warn(
            f"trundle.{old} is now trundle.{new}; the old name goes in the next version",
            DeprecationWarning,
            stacklevel=2,
        )
        return ModuleSpec(fullname, _Elsewhere(f"trundle.{new}"))


class _Elsewhere(Loader):
    """Loads a module by its new name, and leaves that one as it is."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self.name)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # the import system has just written the old name's spec into it
        module.__spec__ = self.spec


def new_name(old: str) -> str | None:
    """Where a module is now; None where it has not moved."""
    parts = old.split(".")
    for count in range(len(parts), 0, -1):
        new = MOVED.get(".".join(parts[:count]))
        if new is not None:
            return ".".join([new, *parts[count:]])
    return None


def install() -> None:
    """Let imports look here first, once a process."""
    if not any(isinstance(finder, Moved) for finder in sys.meta_path):
        sys.meta_path.insert(0, Moved())
