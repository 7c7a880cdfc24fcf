"""The figure of an estimate: where it went with ellipses of its covariance, what fixes told, and how far off it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.expected import check_type
from trundle.results import Run
from trundle.robot import Encoders
from trundle.show.figures.panels import described
from trundle.show.figures.style import COLOURS, INK, MUTED, house_style, new_figure

# Half axes of an ellipse in which a place is by 95 %, and of a band in which one number is, in standard deviations.
_ELLIPSE, _BAND = 2.4477, 1.96
# So many ellipses stand along a path; a usual one is drawn as long as this share of the picture, none beyond the other.
_ELLIPSES, _SMALLEST, _LARGEST = 24, 0.05, 0.3
# So much of the time bands and errors stay within their panels: a start, of which little is known, may go beyond.
_MOST = 0.97
_TRUE, _FIX, _GATED = INK, COLOURS[1], COLOURS[3]


@dataclass(frozen=True)
class _EstimateData:
    """Poses (3, T) with their covariances in the world (T, 3, 3), the truth (3, T) where it is known, and fixes."""

    time: FloatArray
    poses: FloatArray
    covariances: FloatArray
    truth: FloatArray | None
    fixes: Mapping[str, tuple[FloatArray, FloatArray]]
    gated: Mapping[str, tuple[FloatArray, FloatArray]]


def estimate_figure(found: Run, truth: Run | None = None) -> Figure:
    """Measured against estimated against true: the path with 95 % ellipses and fixes, and the estimate's error.

    Parameters
    ----------
    found : Run
        What `estimate` gave, or a run of a robot with an estimator in its loop.
    truth : Run, optional
        Where the robot was: the run that was measured. A run with an estimator in the loop has it.

    Returns
    -------
    matplotlib.figure.Figure
        The path (m); below how far the estimate was off ahead and to the left (cm) and in heading (deg), over time,
        with the bands in which it says that it is by 95 %. Without a truth the bands alone.

    Raises
    ------
    InputError
        For a run that holds no estimate, or a truth without a pose.

    Examples
    --------
    >>> import trundle
    >>> robot = trundle.catalog.differential_drive().with_sensors({"encoders": {"noise": 0.02}})
    >>> run = trundle.roll(robot, 2.0, {"v_x": 0.5, "omega": 0.2})
    >>> found = trundle.estimate(robot, trundle.measure(robot, run))
    >>> len(trundle.estimate_figure(found, run).axes)
    4
    """
    shown = _estimate_data(check_type(found, Run, "found", "trundle.estimate(…) gives one"), truth)
    with house_style():
        figure = new_figure(8.2)
        grid = figure.add_gridspec(4, 1, height_ratios=(5, 1.3, 1.3, 1.3))
        path, *errors = (figure.add_subplot(grid[row]) for row in range(4))
        path.set_title(f"{found.name}: estimate", loc="left")
        _draw_path(path, shown)
        _draw_errors(errors, shown)
        return figure


def holds_estimate(run: Run) -> bool:
    """Whether a run is an estimate of one, or of a robot with an estimator in its loop."""
    return "covariance.x.x" in run or bool(_inside(run))


def _inside(run: Run) -> list[str]:
    """The estimators in the loop of a run."""
    return [name.removesuffix(".P11") for name in run.values if name.endswith(".P11")]


def _estimate_data(found: Run, truth: Run | None) -> _EstimateData:
    """What is drawn of an estimate or of a run with an estimator in its loop."""
    if "covariance.x.x" in found:
        poses = np.array([found[name] for name in ("x", "y", "theta")])
        covariances = _symmetric(found, "covariance.", ("x", "y", "theta"), ".")
        true = None
        if truth is not None:
            true = _truth(check_type(truth, Run, "truth", "the run that was measured"), found.time)
        return _EstimateData(found.time, poses, covariances, true, _fixes(found, 1.0), _fixes(found, 0.0))
    inside = _inside(found)
    if not inside:
        hint = "trundle.estimate(…), or a robot with a controller of type estimator"
        raise InputError(f"the run '{found.name}' holds no estimate", key="found", hint=hint)
    name = inside[0]
    poses = np.array([found[f"{name}.{each}"] for each in ("x", "y", "theta")])
    local = _symmetric(found, f"{name}.P", ("1", "2", "3"), "")
    turns = _turns(poses[2])
    covariances = turns @ local @ turns.transpose(0, 2, 1)
    true = _truth(found if truth is None else truth, _sampled(found, name))
    return _EstimateData(found.time, poses, covariances, true, {}, {})


def _turns(headings: FloatArray) -> FloatArray:
    """From the base's own axes to the world's at headings (T,), rad: (T, 3, 3)."""
    c, s, none = np.cos(headings), np.sin(headings), np.zeros(headings.size)
    return np.array([[c, -s, none], [s, c, none], [none, none, none + 1]]).transpose(2, 0, 1)


def _symmetric(run: Run, stem: str, names: tuple[str, str, str], between: str) -> FloatArray:
    """Covariances (T, 3, 3) of a run that has those on and above the diagonal."""
    matrices = np.zeros((len(run), 3, 3))
    for row in range(3):
        for column in range(row, 3):
            values = run[f"{stem}{names[row]}{between}{names[column]}"]
            matrices[:, row, column] = matrices[:, column, row] = values
    return matrices


def _sampled(found: Run, name: str) -> FloatArray:
    """When the samples were (s) that an estimator in a loop holds at the run's times."""
    if "yaml" not in found.description:
        return found.time
    sensors = described(found.description["yaml"]).sensors.values()
    period = next(each.period.number for each in sensors if isinstance(each, Encoders))
    return period * np.maximum(found[f"{name}.count"] - 1, 0.0)


def _truth(run: Run, times: FloatArray) -> FloatArray:
    """A run's pose at other times (3, T); InputError where it has none."""
    for name in ("x", "y", "theta"):
        if name not in run:
            raise InputError(f"the truth has no '{name}': it is the run of a base on a plane", key="truth")
    return np.array([np.interp(times, run.time, run[name]) for name in ("x", "y", "theta")])


def _fixes(found: Run, used: float) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Where fixes told that the base is, by sensor: those that were used, or those that the gate left out."""
    names = [name.removesuffix(".used") for name in found.values if name.endswith(".used")]
    told = {}
    for name in names:
        rows = found[f"{name}.used"] == used
        if rows.any() and f"{name}.x" in found:
            told[name] = found[f"{name}.x"][rows], found[f"{name}.y"][rows]
    return told


def _draw_path(axes: Axes, shown: _EstimateData) -> None:
    """Measured, true and estimated places, and ellipses."""
    for place, (name, (x, y)) in enumerate(shown.fixes.items()):
        axes.plot(x, y, "o+^"[place % 3], color=_FIX, markersize=3, alpha=0.6, label=name, zorder=2)
    for name, (x, y) in shown.gated.items():
        axes.plot(x, y, "x", color=_GATED, markersize=7, label=f"{name}, left out by the gate", zorder=4)
    if shown.truth is not None:
        axes.plot(*shown.truth[:2], color=_TRUE, linewidth=1, linestyle="--", label="true", zorder=5)
    axes.plot(*shown.poses[:2], color=COLOURS[0], linewidth=1.4, label="estimated", zorder=4)
    axes.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
    axes.margins(0.1)
    axes.set_adjustable("datalim")
    scale = _draw_ellipses(axes, shown)
    times = "" if scale == 1 else f", {scale:g} times as large"
    axes.text(
        1, 1.01, f"ellipses of 95 %{times}", transform=axes.transAxes, ha="right", va="bottom", color=MUTED
    )
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _draw_ellipses(axes: Axes, shown: _EstimateData) -> float:
    """Ellipses at equal times, enlarged by a round number where none would be seen."""
    rows = np.unique(np.linspace(0, shown.time.size - 1, _ELLIPSES).astype(int))
    spreads, turns = np.linalg.eigh(shown.covariances[rows][:, :2, :2])
    sizes = 2 * _ELLIPSE * np.sqrt(np.maximum(spreads, 0.0))
    wide = max(float(np.ptp(shown.poses[:2], axis=1).max()), 1e-9)
    usual, scale = float(np.median(sizes.max(axis=1))), 1.0
    if 0 < usual < _SMALLEST * wide:
        free = _SMALLEST * wide / usual
        decade = 10.0 ** np.floor(np.log10(free))
        scale = float(next(step * decade for step in (1, 2, 5, 10) if step * decade >= free * 0.999))
    fits = scale * sizes.max(axis=1) < _LARGEST * wide
    rows, sizes, turns = rows[fits], sizes[fits], turns[fits]
    angles = np.degrees(np.arctan2(turns[:, 1, 1], turns[:, 0, 1]))
    axes.add_collection(
        EllipseCollection(
            scale * sizes[:, 1],
            scale * sizes[:, 0],
            angles,
            units="xy",
            offsets=shown.poses[:2, rows].T,
            offset_transform=axes.transData,
            facecolors=COLOURS[4],
            edgecolors=COLOURS[0],
            alpha=0.35,
            zorder=3,
        )
    )
    return scale


def _draw_errors(axes: list[Axes], shown: _EstimateData) -> None:
    """How far the estimate was off in its own axes, in bands of 95 %."""
    turns = _turns(shown.poses[2])
    local = turns.transpose(0, 2, 1) @ shown.covariances @ turns
    spreads = np.sqrt(np.maximum(np.array([local[:, k, k] for k in range(3)]), 0.0))
    off = None
    if shown.truth is not None:
        world = shown.poses - shown.truth
        world[2] = np.angle(np.exp(1j * world[2]))
        off = np.einsum("tji,jt->it", turns, world)
    words, factors = ("ahead (cm)", "left (cm)", "heading (deg)"), (100.0, 100.0, np.degrees(1.0))
    for place, (each, word, factor) in enumerate(zip(axes, words, factors, strict=True)):
        band = _BAND * factor * spreads[place]
        each.fill_between(shown.time, -band, band, color=COLOURS[4], alpha=0.35, linewidth=0, label="95 %")
        each.axhline(0, color=MUTED, linewidth=0.6)
        sizes = [band]
        if off is not None:
            error = factor * off[place]
            each.plot(shown.time, error, color=COLOURS[0], linewidth=1, label="error")
            sizes.append(np.abs(error))
        high = 1.3 * max(float(np.quantile(size, _MOST)) for size in sizes) + 1e-9
        each.set(ylabel=word, xlim=(shown.time[0], shown.time[-1]), ylim=(-high, high))
        if place < 2:
            each.tick_params(labelbottom=False)
    axes[0].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes[-1].set_xlabel("time (s)")
