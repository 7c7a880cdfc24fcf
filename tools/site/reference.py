"""Pages of the API: a page for every public name of the package, a page for every public room."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from types import ModuleType

import trundle
from tools.docstrings import methods
from tools.site.docstrings import restructured

# What a reader wants to do, and the names that do it. A test holds that every public name stands in one of these.
TOPICS: Mapping[str, tuple[str, ...]] = {
    "Describe a robot": ("load", "Robot", "register", "catalog", "robot", "documents"),
    "Derive and read its equations": (
        *("derive", "Model", "equations", "format_equations", "explain", "analyze", "Analysis"),
        *("from_sympy", "from_steps", "formulas"),
    ),
    "Simulate": (
        "run",
        "simulate",
        "roll",
        "rollout",
        "ode",
        "table",
        "Run",
        "Batch",
        "to_run",
        "battery_use",
    ),
    "Compare many robots": ("sweep", "Sweep"),
    "Control": (
        *("trim", "linearize", "linearize_along", "lqr", "kalman", "controllers", "track"),
        *("reference", "holonomic_twist"),
    ),
    "Estimate where it is": ("sensors", "measure", "estimate", "Estimator", "Fix", "odometry"),
    "Plan and drive a base on wheels": (
        *("kinematics", "Limits", "motor_limits", "plan", "plan_to_pose", "follow", "fastest", "drive"),
        *("pose_path", "read_path", "write_trajectory"),
    ),
    "Loads in joints": (
        *("read_recording", "write_recording", "Recording", "smooth", "smoothing", "read_markers"),
        *("scale_person", "ScaledPerson", "body_segments", "BodySegment", "segment_poses", "SegmentPoses"),
        *("joint_motion", "JointMotion", "ground_reactions", "GroundReaction", "ForcePlate", "contacts"),
        *(
            "time_normalize",
            "Cycles",
            "joint_loads",
            "Loads",
            "inverse",
            "InverseDynamicsResult",
            "clinical",
            "Gait",
            "Bands",
        ),
        *("symbolic_loads", "SymbolicLoads"),
    ),
    "Wrenches by hand": ("Frame", "Point", "Wrench", "Twist", "Inertia", "Breakdown"),
    "Pictures and pages": (
        *("plot", "compare", "Comparison", "animate", "page", "window", "drive_figures", "load_figures"),
        *("gait_figures", "band_figure", "breakdown_figure", "estimate_figure", "pole_figure"),
        *("sweep_figure", "to_text", "to_html", "to_svg"),
    ),
    "Take it elsewhere": ("export", "to_numpy", "to_jax", "to_casadi", "program"),
    "Cite": ("citation",),
    "Errors": ("TrundleError", "InputError", "NumericsError"),
}


# Rooms that give away what others do are asked after these.
_LAST = ("robot",)
# Of these rooms' classes the methods are what kinds of one's own say; docs/extending.md has them.
_SHALLOW = ("controllers", "robot", "sensors")


def pages() -> Iterator[tuple[str, str]]:
    """Paths below the reference's folder and what they hold: an index by topics, a page for every public name."""
    lines = [
        "Python",
        "======",
        "",
        "Every public name of ``import trundle``, by what a reader wants to do.",
        "",
    ]
    homes = _homes()
    for topic, names in TOPICS.items():
        lines += [topic, "-" * len(topic), "", ".. list-table::", "   :widths: 30 70", ""]
        for name in names:
            thing = getattr(trundle, name)
            lines += [f"   * - :doc:`trundle.{name} <{name}>`", f"     - {_summary(thing)}"]
            yield f"{name}.rst", _page(f"trundle.{name}", thing, homes)
        lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {name}" for name in names), ""]
    yield "index.rst", "\n".join(lines)


def _homes() -> dict[int, str]:
    """Where things are documented that have several public names: the first of these, by the identity of the thing."""
    homes: dict[int, str] = {}
    names = [name for topic in TOPICS.values() for name in topic]
    things = {name: getattr(trundle, name) for name in names}
    for name, thing in things.items():
        if not inspect.ismodule(thing):
            homes[id(thing)] = f"trundle.{name}"
    rooms = [name for name in names if inspect.ismodule(things[name])]
    for room in sorted(rooms, key=_LAST.__contains__):
        for member, thing in _given(things[room]):
            homes.setdefault(id(thing), f"trundle.{room}.{member}")
    return homes


def _given(room: ModuleType) -> Iterator[tuple[str, object]]:
    """Functions and classes that a room gives away."""
    for member in getattr(room, "__all__", None) or sorted(vars(room)):
        thing = getattr(room, member)
        if not member.startswith("_") and (inspect.isclass(thing) or inspect.isfunction(thing)):
            yield member, thing


def _page(path: str, thing: object, homes: Mapping[int, str]) -> str:
    """The page of a function, a class or a room."""
    lines = [path, "=" * len(path), ""]
    if inspect.ismodule(thing):
        lines += [*_room(path, thing, homes)]
    else:
        lines += [*_directives(path, thing, True)]
    return "\n".join(lines) + "\n"


def _room(path: str, room: ModuleType, homes: Mapping[int, str]) -> Iterator[str]:
    """A room: its purpose, then its functions and classes; those that stand elsewhere lead there."""
    yield from [_summary(room), ""]
    for member, thing in _given(room):
        home = homes[id(thing)]
        yield from [member, "-" * len(member), ""]
        if home == f"{path}.{member}":
            yield from _directives(home, thing, path.rpartition(".")[2] not in _SHALLOW)
        else:
            yield from [f"The same as :py:obj:`{home}`.", ""]


def _directives(path: str, thing: object, deep: bool) -> Iterator[str]:
    """What documents a function, or a class with its methods."""
    if not inspect.isclass(thing):
        yield from [f".. autofunction:: {path}", ""]
        return
    yield from [f".. autoclass:: {path}", ""]
    if deep:
        for name in dict.fromkeys(name for name, _ in methods(thing)):
            yield from [f"   .. automethod:: {path}.{name}", ""]


def _summary(thing: object) -> str:
    """The first paragraph of a docstring, on one line."""
    return restructured(" ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split()))
