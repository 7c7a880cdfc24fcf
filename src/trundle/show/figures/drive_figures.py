"""Figures of a drive's motion: the modules against their limits, the centre of rotation, slip; and of profiles."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Patch, Polygon

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.expected import came
from trundle.motion.commands.drive import Driven
from trundle.motion.drive.drive import QUANTITIES
from trundle.results import Run
from trundle.show.drawing.scene import Anchor
from trundle.show.drawing.scenes import scene
from trundle.show.figures.field import FieldLike
from trundle.show.figures.force_figures import force_figures
from trundle.show.figures.panels import Panel
from trundle.show.figures.robot import draw_scene
from trundle.show.figures.series import series
from trundle.show.figures.style import (
    COLOURS,
    INK,
    MUTED,
    draw_coloured,
    house_style,
    new_figure,
    unit_text,
)

# How far around the robot centres of rotation are shown, in its own sizes.
_AROUND = 2.5
# ... and what is shown around it where there is none.
_ALONE = 0.75
# How dark it is where a motion was told not to go.
_KEPT_OUT = 0.45
# A base that turns more slowly than this share of its fastest goes straight (its centre is out of sight anyway).
_STRAIGHT = 1e-9


def drive_figures(driven: Driven, field: FieldLike | None = None) -> dict[str, Figure]:
    """Figures of what was driven: where it went, its modules against their limits, what binds it, forces and motors.

    Parameters
    ----------
    driven : Driven
        What `drive`, `follow` or `fastest` gave.
    field : tuple (file, width, height), optional
        A picture under the path, and its size (m, or text with a unit), as in `run.plot.path`.

    Returns
    -------
    dict of str to Figure
        "path", "modules", "rotation_center" and "slip"; "binding", speed along the way in the colour of what binds,
        where anything can; "friction", every wheel's force in shares of friction times load, and "motors", torques by
        speed within what full batteries let them give, where the robot tells its masses and motors; "battery".

    Raises
    ------
    InputError
        What came was not driven, or there is no such picture.

    Examples
    --------
    >>> import trundle
    >>> turn = {"name": "turn", "commands": [{"duration": 1, "twist": {"omega": 1}}]}
    >>> list(trundle.drive_figures(trundle.drive({"motion": turn})))[:4]
    ['path', 'modules', 'rotation_center', 'slip']
    """
    if not isinstance(driven, Driven):
        message = f"drive_figures takes what was driven, not {came(driven)}"
        raise InputError(
            message, key="driven", hint="trundle.drive(…), trundle.follow(…) or trundle.fastest(…)"
        )
    return figures_of(driven, driven.run(), field)


def figures_of(driven: Driven, run: Run, field: FieldLike | None = None) -> dict[str, Figure]:
    """The figures of what was driven, and its run, by name; the path over a field."""
    path = run.plot.path(field=field)
    _draw_kept_out(path.axes[0], driven)
    return {
        "path": path,
        "modules": modules(driven, run),
        "rotation_center": rotation_center(driven, run),
        "slip": slip(driven, run),
        **force_figures(driven),
    }


def _draw_kept_out(axes: Axes, driven: Driven) -> None:
    """Where it was told not to go: discs, and polygons."""
    for corners, radius in driven.kept_out:
        if len(corners) == 1:
            x, y = corners[0].tolist()
            patch: Patch = Circle((x, y), radius)
        else:
            patch = Polygon(corners)
        patch.set(facecolor=INK, alpha=_KEPT_OUT, linewidth=0, zorder=1.5)
        axes.add_patch(patch)


def modules(driven: Driven, run: Run) -> Figure:
    """Angles, rates, accelerations and jerks of all modules, with their limits where these are near."""
    panels = []
    angles = {name: np.degrees(angle) for name, angle in _of_modules(driven, run, "steering").items()}
    if angles:
        panels.append(Panel("steering", "angle (°)", angles, 0.1))
    for quantity, (unit, _) in QUANTITIES.items():
        curves = _of_modules(driven, run, quantity)
        if curves:
            held = {limit.of(quantity) for limit in driven.limits}
            title = quantity.replace("_", " ") + told_limits(held, unit)
            panels.append(Panel(title, unit_text(unit), curves, 1e-3, limits=both_ways(held)))
    fixed = {name: place for place, name in enumerate(driven.names)}
    panels = [replace(panel, fixed=fixed) for panel in panels]
    return series(f"{run.name}: modules and their limits", run.time, panels, "no wheels")


def told_limits(held: Collection[float], unit: str) -> str:
    """Limits as a title ends with them: those of modules may differ."""
    finite = sorted(limit for limit in held if math.isfinite(limit))
    told = " to ".join(f"\u00b1{limit:g}" for limit in dict.fromkeys((*finite[:1], *finite[-1:])))
    return f": limit {told} {unit_text(unit)}" if finite else ""


def both_ways(held: Collection[float]) -> tuple[float, ...]:
    """Limits of magnitudes as those of values that go either way."""
    return tuple(sign * limit for limit in held if math.isfinite(limit) for sign in (-1, 1))


def _of_modules(driven: Driven, run: Run, what: str) -> dict[str, FloatArray]:
    """One of the modules' numbers, of those that have it."""
    return {name: run[run.parts[name][what]] for name in driven.names if what in run.parts[name]}


def slip(driven: Driven, run: Run) -> Figure:
    """How fast the wheels slide over the ground."""
    curves = _of_modules(driven, run, "slip")
    largest = max(float(slips.max()) for slips in curves.values())
    fixed = {name: place for place, name in enumerate(driven.names)}
    panel = Panel(f"at most {largest:.2g} m/s", "slip (m/s)", curves, 1e-6, fixed=fixed)
    return series(f"{run.name}: slip of the wheels", run.time, [panel], "no wheels")


def rotation_center(driven: Driven, run: Run) -> Figure:
    """Where the instantaneous centre of rotation went, seen from the robot: at (−v_y, v_x)/ω."""
    with house_style():
        figure = new_figure(4.6, 6.4, f"{run.name}: centre of rotation")
        axes = figure.subplots()
        shape = scene(driven.robot)
        draw_scene(axes, shape, "z")
        around = shape.places(Anchor(wheel.frame) for wheel in shape.wheels)[0, :, :2]
        middle, reach = around.mean(axis=0), _AROUND * shape.size
        axes.set(xlim=(middle[0] - reach, middle[0] + reach), ylim=(middle[1] - reach, middle[1] + reach))
        axes.set(xlabel="x (m), forward", ylabel="y (m), to the left", aspect="equal")
        _draw_track(axes, run, middle, reach)
        return figure


def _draw_track(axes: Axes, run: Run, middle: FloatArray, reach: float) -> None:
    """The centres within sight, coloured by time; breaks where the base goes straight."""
    omega = run["omega"]
    turning = np.abs(omega) > _STRAIGHT * max(float(np.abs(omega).max()), 1e-9)
    safe = np.where(turning, omega, 1.0)
    track = np.stack([-run["v_y"] / safe, run["v_x"] / safe], axis=1)
    near = turning & (np.abs(track - middle).max(axis=1) < 20 * reach)
    kept = near[1:] & near[:-1] & (omega[1:] * omega[:-1] > 0)
    seen = near & (np.abs(track - middle).max(axis=1) < reach)
    if not seen.any():
        note = "it never turns" if not turning.any() else "the centre is out of sight throughout"
        close = _ALONE * reach / _AROUND
        axes.set(xlim=(middle[0] - close, middle[0] + close), ylim=(middle[1] - close, middle[1] + close))
        axes.text(0.5, 0.97, note, transform=axes.transAxes, ha="center", va="top", color=MUTED)
        return
    segments = np.stack([track[:-1], track[1:]], axis=1)[kept]
    middles, span = (run.time[:-1] + run.time[1:]) / 2, (run.time[0], run.time[-1])
    draw_coloured(axes, segments, middles[kept], span, "time (s)", zorder=8)
    first, last = np.flatnonzero(seen)[[0, -1]]
    for place, marker, colour in ((first, "o", "white"), (last, "s", COLOURS[1])):
        axes.plot(*track[place], marker=marker, color=colour, markeredgecolor=INK, markersize=7, zorder=9)


def profile_figure(run: Run) -> Figure:
    """Position, velocity, acceleration and jerk of the profiles side by side; impulses are gaps, and told."""
    told: Mapping[str, Mapping[str, object]] = run.summary["profiles"]
    panels = []
    for what in ("position", "velocity", "acceleration", "jerk"):
        curves = {name: run[run.parts[name][what]] for name in told}
        impulsive = [name for name, values in curves.items() if np.isnan(values).any()]
        curves = {name: values for name, values in curves.items() if name not in impulsive}
        unit, limit = run.units[f"linear.{what}"], run.summary["time_optimal_limits"].get(what)
        held = () if limit is None else (limit,)
        title = what + told_limits(held, unit)
        title += f"; impulses, not drawn: {', '.join(impulsive)}" if impulsive else ""
        fixed = {name: place for place, name in enumerate(told)}
        panels.append(Panel(title, unit_text(unit), curves, limits=both_ways(held), fixed=fixed))
    return series("profiles of one change", run.time, panels, "no profiles")
