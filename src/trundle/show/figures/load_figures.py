"""Figures of the loads in a robot's joints: angles, moments, forces and powers, and where its bodies' masses went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.expected import check_type
from trundle.limbs.capture.cycles import Cycles
from trundle.limbs.loads.as_run import generalized_forces
from trundle.results import Run
from trundle.robot.structure import body_names
from trundle.show.drawing.scene import Scene, project
from trundle.show.figures.legends import width_of
from trundle.show.figures.panels import Panel, described, robot_of, split
from trundle.show.figures.path import track_of
from trundle.show.figures.plane import draw_plane, limits_around, plane_axes
from trundle.show.figures.series import series
from trundle.show.figures.style import INK, MUTED, draw_coloured, house_style, unit_label

# What is less than this share of the largest of its kind is rounding; components without anything else are left out.
_ROUNDING = 1e-9
# A quaternion that changes by less turns by less than a hundredth of a degree.
_TURNED = 1e-4
_KINDS = {"moment": "moments", "force": "forces"}
_AXES = {"child": "in each child's axes", "parent": "in each parent's axes"}
# More events than this have lines without names.
_MOST_NAMED = 12
# Their names: letters (points), how many rows, how high a row is and how far they may stand past the panel (inches).
_EVENT_LETTERS, _EVENT_ROWS, _EVENT_ROW, _BEYOND = 7.5, 3, 0.13, 0.15


def load_figures(run: Run, cycles: Cycles | None = None) -> dict[str, Figure]:
    """The figures of loads: `angles`, `moments`, `forces`, `powers`, `paths`, as far as the run has what they show.

    Parameters
    ----------
    run : Run
        What `loads.to_run()` or `trundle inverse` gave.
    cycles : Cycles, optional
        What `trundle.time_normalize` cut that run into: their means over a cycle are drawn instead, with bands of one
        standard deviation; no paths.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        By name. Angles are in degrees there. Moments are those along joints' freedoms, by OpenSim's names; in a run
        whose frame isn't "child" the whole moments in its axes. Wrenches are on the child, by the parent.

    Raises
    ------
    InputError
        The run has no loads.

    Examples
    --------
    >>> import trundle
    >>> run = trundle.Run("arm", [0.0, 1.0], {"elbow.power": [0.0, 2.0]}, units={"elbow.power": "W"})
    >>> list(trundle.load_figures(run))
    ['powers']
    """
    check_type(run, Run, "run", "loads.to_run() gives one")
    if cycles is not None:
        return _over_cycles(run, check_type(cycles, Cycles, "cycles"))
    figures = {
        name: _titled(run, name, panels, "time (s)") for name, panels in _panels(run).items() if panels
    }
    for figure in figures.values():
        for axes in figure.axes:
            _draw_events(axes, run.summary.get("events", {}), named=axes is figure.axes[0])
    if not figures or list(figures) == ["angles"]:
        raise InputError(
            "this run has no loads", hint="trundle.joint_loads(robot, motion).to_run() gives one"
        )
    paths = segment_paths(run)
    return figures | ({"paths": paths} if paths else {})


def _panels(run: Run) -> dict[str, list[Panel]]:
    components = {plural: list(_components(run, kind)) for kind, plural in _KINDS.items()}
    if _by_freedom(run):
        components["moments"] = _forces_by_freedom(run)
    return {"angles": _angles(run), **components, "powers": _powers(run)}


def _by_freedom(run: Run) -> bool:
    """Whether moments are told along joints' freedoms: where no other axes were asked for, and joints have any."""
    return run.summary.get("frame", "child") == "child" and bool(generalized_forces(run))


def _forces_by_freedom(run: Run) -> list[Panel]:
    """What acts along joints' freedoms, moments before forces, at most eight lines a panel."""
    kinds: dict[str, dict[str, FloatArray]] = {"moment": {}, "force": {}}
    units = dict[str, str]()
    for name, column in generalized_forces(run).items():
        kind = name.rpartition("_")[2]
        units[kind], kinds[kind][name] = run.units[column], run[column]
    return [
        Panel("", unit_label(kind, units[kind]), part)
        for kind, curves in kinds.items()
        for part in split(curves)
    ]


def _titled(run: Run, name: str, panels: list[Panel], across: str) -> Figure:
    where = run.summary.get("frame", "")
    told = _AXES.get(where, f"in {where}'s axes") if where and name in _KINDS.values() else ""
    if name == "moments" and _by_freedom(run):
        told = "about joints' own axes"
    count = run.summary.get("cycles")
    told += f", mean of {count} cycles ± 1 SD" if count else ""
    title = f"{run.name}: {name} {told}".rstrip().replace(" ,", ",")
    return series(title, run.time, panels, "nothing moves", across=across)


def _over_cycles(run: Run, cut: Cycles) -> dict[str, Figure]:
    """The same of the cycles' means, with bands."""
    bands = {name: cut.band(name) for name in cut.curves}
    mean = replace(
        run,
        time=cut.percent,
        values={name: cut.mean(name) for name in cut.curves},
        units=cut.units,
        summary={**run.summary, "cycles": len(cut)},
        groups={group: [name for name in names if name in bands] for group, names in run.groups.items()},
        columns={name: column for name, column in run.columns.items() if name in bands},
    )
    low, high = (replace(mean, values={name: band[k] for name, band in bands.items()}) for k in (0, 1))
    figures = {}
    for name, panels in _panels(mean).items():
        edges = zip(panels, _panels(low)[name], _panels(high)[name], strict=True)
        banded = [replace(panel, bands=_between(panel, *both)) for panel, *both in edges]
        if banded:
            figures[name] = _titled(mean, name, banded, "cycle (%)")
    return figures


def _between(panel: Panel, low: Panel, high: Panel) -> dict[str, tuple[FloatArray, FloatArray]]:
    return {
        name: (low.curves[name], high.curves[name])
        for name in panel.curves
        if name in low.curves and name in high.curves
    }


def _draw_events(axes: Axes, events: Mapping[str, Sequence[float]], named: bool) -> None:
    """Lines at the events, with their names above them in the first panel: in rows, where there is room."""
    left, right = axes.get_xlim()
    places = sorted((time, name) for name, times in events.items() for time in times if left <= time <= right)
    wide, tall = (side / axes.figure.dpi for side in axes.bbox.size)
    ends = [-np.inf] * _EVENT_ROWS
    for time, name in places:
        axes.axvline(time, color=MUTED, linestyle=":", linewidth=1.0, zorder=1)
        start = (time - left) / (right - left) * wide
        row = next((row for row, end in enumerate(ends) if start > end), None)
        long = width_of(f" {name} ", _EVENT_LETTERS)
        if named and len(places) <= _MOST_NAMED and row is not None and start + long < wide + _BEYOND:
            ends[row] = start + long
            style = {"transform": axes.get_xaxis_transform(), "fontsize": _EVENT_LETTERS, "color": MUTED}
            axes.text(time, 0.98 - row * _EVENT_ROW / tall, f" {name}", va="top", **style)


def _angles(run: Run) -> list[Panel]:
    """Coordinates: angles in degrees, what slides in m, quaternions as they are."""
    kinds: dict[str, dict[str, FloatArray]] = {}
    for name in run.groups["coordinates"]:
        unit = run.units.get(name, "")
        turns = unit == "rad"
        if not turns and run.column(name).what.startswith("q_") and _still(run, name):
            continue
        kinds.setdefault("°" if turns else unit, {})[name] = np.degrees(run[name]) if turns else run[name]
    words = {"°": "angle", "m": "position"}
    panels = ((unit, part) for unit, curves in kinds.items() for part in split(curves))
    return [Panel("", unit_label(words.get(unit, "quaternion"), unit), part) for unit, part in panels]


def _still(run: Run, name: str) -> bool:
    """Whether the quaternion that a part belongs to stays as it is: nothing is to be seen of it."""
    owner = run.column(name).owner
    four = [run[f"{owner}.{part}".lstrip(".")] for part in ("q_w", "q_x", "q_y", "q_z")]
    return max(float(np.ptp(part)) for part in four) < _TURNED


def _passing(run: Run) -> set[str]:
    """Joints whose bodies weigh nothing and carry one other joint: the next one has the same wrench."""
    robot = robot_of(run)
    if robot is None:
        return set()
    bodies, carried = body_names(robot), Counter[str]()
    for joint in robot.joints.values():
        carried[bodies[joint.parent]] += 1
    inertias = {name: (joint.body.mass, joint.body.inertia) for name, joint in robot.joints.items()}
    return {
        name
        for name, (mass, inertia) in inertias.items()
        if carried[name] == 1 and robot.number(mass) == 0 and not inertia.model_fields_set
    }


def _components(run: Run, kind: str) -> Iterator[Panel]:
    """A panel a joint with the components that are there at all; a joint without any stays, flat."""
    passing = _passing(run)
    joints = {
        joint: {axis: run[part[f"{kind}_{axis}"]] for axis in "xyz"}
        for joint, part in run.parts.items()
        if f"{kind}_x" in part and joint not in passing
    }
    sizes = {
        axis: max((float(np.abs(values[axis]).max()) for values in joints.values()), default=0.0)
        for axis in "xyz"
    }
    least = _ROUNDING * max(sizes.values())
    shown = [axis for axis in "xyz" if sizes[axis] > least] or ["z"]
    for joint, components in joints.items():
        unit = run.units.get(run.parts[joint][f"{kind}_x"], "")
        yield Panel(
            _on(run, joint), unit_label(kind, unit), {axis: components[axis] for axis in shown}, least
        )


def _on(run: Run, joint: str) -> str:
    """A joint with the body that it carries, where that has a name of its own."""
    robot = robot_of(run)
    body = robot.joints[joint].body.name if robot is not None and joint in robot.joints else None
    return joint if body in (None, joint) else f"{joint}, on {body}"


def _powers(run: Run) -> list[Panel]:
    """The power that the joints put into the robot, at most eight lines a panel."""
    names = {joint: part["power"] for joint, part in run.parts.items() if "power" in part}
    unit = run.units.get(next(iter(names.values()), ""), "")
    curves = {joint: run[name] for joint, name in names.items()}
    return [Panel("", unit_label("power", unit), part) for part in split(curves)]


def segment_paths(run: Run) -> Figure | None:
    """Where the centres of mass went, coloured by their mean speeds between samples; None where nothing moves."""
    track = track_of(run)
    if track is None or track.time.size < 2:
        return None
    scene, view = track.scene, track.view
    places = scene.places(spot for spot in scene.centers)
    lasting = np.diff(track.time)[:, None]
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=2) / np.where(lasting > 0, lasting, np.inf)
    points = project(places, view)
    low, high = limits_around(np.concatenate([[project(scene.place(scene.traced), view)[0]], *points]))
    with house_style():
        figure, axes, bar = plane_axes(f"{run.name}: paths of the centres of mass", low, high)
        draw_plane(axes, view, low, high)
        pieces = np.stack([points[:-1], points[1:]], axis=2).transpose(1, 0, 2, 3).reshape(-1, 2, 2)
        label = "speed between samples (m/s); circles: where they start"
        span = 0.0, float(speeds.max()) or 1.0
        draw_coloured(axes, pieces, speeds.T.ravel(), span, label, bar=bar, width=2.2)
        axes.plot(*points[0].T, "o", color="white", markeredgecolor=INK, markersize=7, zorder=6)
        for name, start in zip(_bodies(run, scene), points[0], strict=True):
            axes.annotate(name, start, (7, 4), textcoords="offset points", fontsize=8.5, color=INK, zorder=7)
        return figure


def _bodies(run: Run, scene: Scene) -> list[str]:
    """The names of the bodies with these centres of mass."""
    robot = described(run.description["yaml"])
    named = {joint.frame: robot.joints[joint.name].body.name or joint.name for joint in scene.joints}
    return [named.get(spot.frame, "base") for spot in scene.centers]
