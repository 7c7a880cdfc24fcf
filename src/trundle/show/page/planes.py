"""What a page shows in planes: speed along the way by what binds, friction circles, motors' torques by speed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from trundle.errors import TrundleError
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.results import Run
from trundle.show.figures.force_figures import BEYOND, Motors
from trundle.show.figures.panels import robot_of
from trundle.show.page.inert_json import PageData

# Points of a way at least, beside those at which what binds changes.
_WAY = 601
# Points of an edge, and angles (rad) of those of a circle.
_POINTS = 61
_TURN = np.linspace(0.0, 2 * np.pi, 73)


def planes(run: Run) -> list[dict[str, PageData]]:
    """Panels of a plane: what stands across and up in shares or units, what bounds it, and curves by value's names.

    A curve has its label, the names of what goes across and up, and by what both are divided: a name and a factor. A
    track has its own times and places, and the colours of its spans of time.
    """
    return [*_binding(run), *_forces(run)]


def _binding(run: Run) -> Iterator[dict[str, PageData]]:
    """Speed along the way that the base's origin goes, in the colour of what binds there, as plans tell it."""
    binds = run.summary.get("binds")
    if not binds or not {"v_x", "v_y"} <= set(run.values):
        return
    speed = np.hypot(run["v_x"], run["v_y"])
    way = np.concatenate([[0.0], np.cumsum((speed[1:] + speed[:-1]) / 2 * np.diff(run.time))])
    lasting: dict[str, float] = {}
    for bind in binds:
        kind = _kind(bind)
        lasting[kind] = lasting.get(kind, 0.0) + bind["to"] - bind["from"]
    kinds = sorted(lasting, key=lambda kind: -lasting[kind])
    changes = [bind[end] for bind in binds for end in ("from", "to")]
    times = np.unique(np.concatenate([np.linspace(run.time[0], run.time[-1], _WAY), changes]))
    yield {
        "section": "binding",
        "title": "what binds",
        "across": "way of the base's origin (m)",
        "up": "speed (m/s)",
        "equal": False,
        "edges": [],
        "curves": [],
        "track": [times, np.interp(times, run.time, way), np.interp(times, run.time, speed)],
        "spans": [[kinds.index(_kind(bind)), bind["from"], bind["to"]] for bind in binds],
        "names": [f"{kind}, {lasting[kind]:.2f} s" for kind in kinds],
    }


def _kind(bind: Mapping[str, object]) -> str:
    """What binds, whatever part it is of."""
    return str(bind["what"]).partition(" of ")[0].replace("_", " ")


def _forces(run: Run) -> list[dict[str, PageData]]:
    """Circles and motors, where the run holds forces."""
    robot = robot_of(run)
    wheels = [name for name, part in run.parts.items() if {"traction", "side_force", "load"} <= set(part)]
    if robot is None or not (wheels or any("torque" in part for part in run.parts.values())):
        return []
    try:
        driven = DrivenRobot(
            robot.with_parameters(dict(run.description.get("parameters", {}))), tuple(wheels)
        )
        return [*_circles(run, driven), *_motors(run, driven)]
    except TrundleError:  # a run of a description that nobody drives along a motion, by arms say
        return []


def _circles(run: Run, driven: DrivenRobot) -> Iterator[dict[str, PageData]]:
    """Every wheel's force in shares of friction times load, the view from above: forward is up."""
    for name, friction in zip(driven.names, driven.friction.tolist(), strict=True):
        part = run.parts[name]
        if np.isfinite(friction) and friction > 0:
            yield {
                "section": "friction",
                "title": name,
                "across": "to the right (share)",
                "up": "forward (share)",
                "equal": True,
                "edges": [[np.cos(_TURN), np.sin(_TURN)]],
                "curves": [[name, part["side_force"], part["traction"], [part["load"], -friction, friction]]],
            }


def _motors(run: Run, driven: DrivenRobot) -> Iterator[dict[str, PageData]]:
    """Torque by speed of the motors that are alike, and what full batteries let them give."""
    named = {name: part["torque"] for name, part in run.parts.items() if "torque" in part}
    who = Motors(driven, named)
    for title, motors in who.groups.items():
        curves = []
        for motor in motors:
            wheel, _, what = driven.robot.motors[motor.name].drives.partition(".")
            rate = f"{wheel}.{what}_rate" if what else f"{wheel}.rate"
            if rate in run.values:
                curves.append([motor.name, rate, named[motor.name], None])
        if curves:
            most = BEYOND * max(1e-3, *(float(np.abs(run[rate]).max()) for _, rate, *_ in curves))
            rates = np.linspace(-most, most, _POINTS)
            edges = [[rates, edge] for edge in who.edges(motors[0], rates)]
            words = {"across": "speed (rad/s)", "up": "torque (N m)", "equal": False}
            yield {"section": "motors", "title": title, "edges": edges, "curves": curves, **words}
