"""Forces and moments drawn into axes: arrows, and arcs for moments that are looked at along their axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path

from trundle.arrays import FloatArray
from trundle.results import Run
from trundle.show.drawing.ground import terrain_of
from trundle.show.drawing.scene import Anchor, Arrow, Scene, depth, project
from trundle.show.figures.style import COLOURS
from trundle.spatial.motions import Pose
from trundle.spatial.vectors import Vector
from trundle.terrain.contact import touched

# Of forces and of moments.
FORCE, MOMENT = COLOURS[1], COLOURS[2]
# The longest arrow, as a share of the robot's size.
_LONGEST = 0.4
# What is shorter than this share of the picture has a head, and a line, that are as much smaller.
_SHORT = 0.03
# What is shorter than this share of the picture is a dot at best, and left out.
_SHORTEST = 0.002
# An arc goes three quarters round (rad), its radius half as long as an arrow would be.
_ARC = np.linspace(-0.25 * np.pi, 1.25 * np.pi, 40)


def with_wrenches(scene: Scene, run: Run) -> Scene:
    """The scene with the joints' forces and moments, of a run that has them in their bodies' frames or the world's, and
    with what the ground does to wheels and plates to feet; wheels' loads, which point at whoever looks from above, are
    left out there.
    """
    arrows, frame = [], run.summary.get("frame", "child")
    for kind, turns, unit in (("force", False, "N"), ("moment", True, "N m")):
        given = {}
        for joint in scene.joints:
            part = run.parts.get(joint.name, {})
            names = [part.get(f"{kind}_{axis}") for axis in "xyz"]
            if all(names) and frame in ("child", "world"):
                local = np.stack([run[name] for name in names if name], axis=1)
                at, turned = _in_world(scene, Anchor(joint.frame), local)
                given[joint.name] = at, turned if frame == "child" else local[: len(at)]
                unit = run.units.get(str(names[0]), unit)  # N/kg, N m/kg where the run is by mass
        if not turns:
            given |= _contacts(scene, run) | _grounds(scene, run)
        largest = max(
            (float(np.linalg.norm(vectors, axis=1).max()) for _, vectors in given.values()), default=0.0
        )
        scale = _LONGEST * scene.size / largest if largest else 1.0
        arrows += [
            Arrow(name, turns, at, scale * vector, scale, unit) for name, (at, vector) in given.items()
        ]
    return replace(scene, arrows=tuple(arrows))


def _contacts(scene: Scene, run: Run) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Where the ground pushes the wheels (m) and with what forces (N), as far as the run holds the forces."""
    pushes = _on_terrain(scene, run)
    if pushes:
        return pushes
    for wheel in scene.wheels:
        across, part = wheel.roller_angle or 0.0, run.parts.get(wheel.name, {})
        force = np.zeros((len(run), 3))
        for name, way in (
            ("traction", (1.0, 0.0, 0.0)),
            ("side_force", (0.0, 1.0, 0.0)),
            ("roller_force", (np.sin(across), np.cos(across), 0.0)),
            ("load", (0.0, 0.0, 0.0 if scene.projection == "z" else 1.0)),
        ):
            if name in part:
                force += np.outer(run[part[name]], way)
        if force.any():
            pushes[wheel.name] = _in_world(scene, Anchor(wheel.frame, (0.0, 0.0, -wheel.radius)), force)
    return pushes


# The columns of a contact's forces along its own axes: of wheels, and of feet.
_PUSHES = (("traction", "side_force", "load"), ("friction_x", "friction_y", "load"))


def _on_terrain(scene: Scene, run: Run) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Where a terrain pushes wheels and feet (m) and with what forces (N), by contact.

    Where a contact lies, and along which axes it pushes, no column says; so the terrain is asked.
    """
    terrain = terrain_of(run)
    pushes: dict[str, tuple[FloatArray, FloatArray]] = {}
    if terrain is None or scene.projection == "z":
        return pushes
    for wheel in scene.wheels:
        frame, middle = scene.poses[:, wheel.frame, :, :3], scene.place(Anchor(wheel.frame))
        first, second, third = ((row[:, 0], row[:, 1], row[:, 2]) for row in np.moveaxis(frame, 1, 0))
        pose = Pose((first, second, third), (middle[:, 0], middle[:, 1], middle[:, 2]))
        contacts = touched(terrain, pose, wheel.radius, wheel.round)
        for contact in contacts:
            name = wheel.name if len(contacts) == 1 else f"{wheel.name}.{contact.ground}"
            part = run.parts.get(name, {})
            names = next((each for each in _PUSHES if set(each) <= set(part)), None)
            if names is None:
                continue
            values = [run[part[each]][: len(middle)] for each in names]
            local = sum(
                np.outer(value, 1) * _rows(axis) for value, axis in zip(values, contact.axes, strict=True)
            )
            at, force = _rows(contact.place), (frame @ np.asarray(local)[:, :, None])[..., 0]
            if force.any():
                pushes[name] = at, force
    return pushes


def _rows(vector: Vector) -> FloatArray:
    """A vector over time, (T, 3)."""
    return np.stack(np.broadcast_arrays(*vector), axis=-1).astype(np.float64)


def _grounds(scene: Scene, run: Run) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Where plates push bodies (m, the centre of pressure) and with what forces, in the world, of a run with both."""
    pushes = {}
    for owner, part in run.parts.items():
        names = [part.get(f"ground_{what}_{axis}") for what in ("point", "force") for axis in "xyz"]
        if all(names):
            table = np.stack([run[name] for name in names if name], axis=1)[: len(scene.poses)]
            pushes[f"{owner}.ground"] = table[:, :3], table[:, 3:]
    return pushes


def _in_world(scene: Scene, spot: Anchor, local: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A spot over time, and a vector of its frame turned into the world."""
    rotation = scene.poses[:, spot.frame, :, :3]
    return scene.place(spot), (rotation @ local[: len(rotation), :, None])[..., 0]


def name_arrows(axes: Axes, scene: Scene) -> None:
    """A legend above the axes that says what is what, and what the longest of all moments stands for."""
    lines = []
    for turns, what, colour in ((False, "force", FORCE), (True, "moment", MOMENT)):
        own = [arrow for arrow in scene.arrows if arrow.turns == turns]
        sizes = [np.linalg.norm(arrow.vector, axis=1).max() / arrow.scale for arrow in own]
        if sizes:
            unit = own[0].unit
            lines.append(Line2D([], [], color=colour, label=f"{what} (at most {max(sizes):.3g} {unit})"))
    if lines:
        axes.legend(handles=lines, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0.2)


def draw_arrows(axes: Axes, scene: Scene, view: str) -> None:
    """What acts on the robot at the scene's first moment."""
    width = float(np.ptp(axes.get_xlim()))
    for arrow in scene.arrows:
        colour = MOMENT if arrow.turns else FORCE
        for line in arrow_lines(arrow, view):
            share = np.ptp(line, axis=0).max() / width
            if share > _SHORTEST:
                patch = FancyArrowPatch(
                    path=Path(line),
                    arrowstyle="-|>,head_length=5,head_width=2.5",
                    mutation_scale=min(1.0, share / _SHORT),
                    color=colour,
                    linewidth=1.8 * max(0.4, min(1.0, share / _SHORT)),
                    joinstyle="miter",
                    zorder=6,
                )
                axes.add_patch(patch)


def arrow_lines(arrow: Arrow, view: str) -> Iterator[FloatArray]:
    """The lines (n, 2) to draw, with a head at the end of a line: an arc for the part of a moment along the view."""
    at, tip = (project(end, view) for end in (arrow.at[0], arrow.at[0] + arrow.vector[0]))
    if not arrow.turns:
        yield np.stack([at, tip])
        return
    toward = float(depth(arrow.vector[:1], view)[0]) if view else 0.0
    if toward:
        around = np.stack([np.cos(_ARC), np.sin(_ARC)], axis=1)
        yield at + abs(toward) / 2 * (around if toward > 0 else around[::-1])
    # A moment's vector has two heads, so that it is no force.
    yield np.stack([at, at + 0.85 * (tip - at)])
    yield np.stack([at, tip])
