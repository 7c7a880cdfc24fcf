"""What a page holds of runs: their numbers, what is drawn where, and which curves share a panel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.results import Run
from trundle.results.between import further_points
from trundle.show.drawing.ground import GroundSurface, grounds_under
from trundle.show.drawing.scene import PLANES, SEEN, Scene, Solid, depth, project
from trundle.show.figures.arrows import with_wrenches
from trundle.show.figures.panels import OVER_TIME, Panel
from trundle.show.figures.path import track_of, unseen
from trundle.show.figures.several_runs import difference_labels
from trundle.show.page.planes import planes

# What the numbers of one run may take (bytes); base64 adds a third.
_ROOM = 400_000
# The same of runs that a person chooses among, all together: they are looked at one by one.
_ROOM_OF_CHOICES = 4_000_000
_FEWEST, _MOST = 600, 4000
# Of what a panel or the picture spans: less than a pixel of 600.
_CLOSE = 1e-3
# Of the same: what rounding may take, so that nobody sees it even where a panel is looked at closely.
_UNSEEN = 1e-4


def run_data(runs: Sequence[Run], known: Set[str] | None = None) -> dict[str, object]:
    """Page data of runs: the first in full, the `others` that it is compared with. `known`: which values have curves,
    where the page can't make all of them anew.
    """
    labels = difference_labels(runs) if len(runs) > 1 else ("",)
    (first, *others), shared = _runs_and_shared(runs, known, _ROOM)
    others = [{**each, "label": label} for each, label in zip(others, labels[1:], strict=True)]
    shown = {"others": others, "planes": [] if known else planes(runs[0])}
    return {**first, "label": labels[0], **shared, **shown}


def chosen_data(runs: Sequence[Run]) -> dict[str, object]:
    """Page data of runs of which one is shown at a time: the first in full, and all of them as the `choices`."""
    choices, shared = _runs_and_shared(runs, None, _ROOM_OF_CHOICES // len(runs))
    return {**choices[0], "label": "", **shared, "others": [], "planes": [], "choices": choices}


def _runs_and_shared(
    runs: Sequence[Run], known: Set[str] | None, room: int
) -> tuple[list[dict[str, object]], dict[str, object]]:
    """What a page holds of runs, and what they share: grounds, and the panels of the first."""
    panels = [{section: show(run) for section, show in OVER_TIME.items()} for run in runs]
    every = [_one_run(run, panel, room) for run, panel in zip(runs, panels, strict=True)]
    grounds, own = _grounds(runs, every[0]["scene"])
    every = [{**each, "ground": place} for each, place in zip(every, own, strict=True)]
    return every, {"grounds": grounds, "plots": list(_plots(runs[0], panels[0], known))}


def _grounds(runs: Sequence[Run], scene: object) -> tuple[list[dict[str, object]], list[int | None]]:
    """Grounds under the runs, and which a run has, if any; flat ground of planar robots is the page's own."""
    if not isinstance(scene, dict):
        return [], [None] * len(runs)
    grounds, own = grounds_under(runs, float(scene["size"]))
    return [_surface(ground) for ground in grounds], own


def _surface(ground: GroundSurface) -> dict[str, object]:
    """A ground's heights in single precision, and where its friction is another."""
    heights = ground.heights.astype(np.float32)
    return {
        "corner": ground.corner,
        "spacing": ground.spacing,
        "heights": heights,
        "columns": heights.shape[1],
        "regions": [
            {
                "name": name,
                "factor": region.friction.number,
                "sides": [[end.number for end in side] for side in sides],
            }
            for name, region in ground.regions.items()
            for sides in [(region.x, region.y)]
        ],
    }


def _one_run(run: Run, panels: Mapping[str, Sequence[Panel]], room: int) -> dict[str, object]:
    """Numbers and scene of a run, at as many of its samples as a page has room for (bytes).

    A sample takes 8 bytes for its time, 4 for a value, 48 for a frame's 12 numbers and 24 for an arrow's 6: mostly they
    are in single precision.
    """
    track = track_of(run)
    scene = None if track is None else with_wrenches(track.scene, run)
    end = len(run) if scene is None else len(scene.poses)
    shapes = 0 if scene is None else 48 * scene.poses.shape[1] + 24 * len(scene.arrows)
    sample = 8 + 4 * len(run.values) + shapes
    most = int(np.clip(room // sample, _FEWEST if room >= _ROOM else _FEWEST // 3, _MOST))
    curves = [np.zeros(end), *(curve[:end] for curve in _seen(scene, chain(*panels.values())))]
    kept, off = kept_samples(np.array(curves), most)
    return {
        "title": run.name,
        "units": {"time": "s", **run.units},
        "run": {
            "time": run.time[kept],
            "values": {name: _rounded(run[name][kept]) for name in run.values},
            "between": dict(_between(run)),
            "groups": run.groups,
            "samples": len(run),
            "off": off,
        },
        "scene": None if scene is None else scene_data(scene.at(kept.tolist())),
        # Whether it is shown in space, too: where a plane doesn't show all, and what drives on wheels.
        "spatial": scene is not None and bool(scene.wheels or scene.solids or not scene.is_flat),
        "unseen": unseen(run) if scene is None else "",
    }


def _between(run: Run) -> Iterator[tuple[str, list[FloatArray]]]:
    """Times and values that curves run through between the samples, of the values that have some."""
    for name in run.values:
        points = further_points(run, name)
        if points.size:
            yield name, [*points]


def _seen(scene: Scene | None, panels: Iterable[Panel]) -> Iterator[FloatArray]:
    """What is drawn over time, as shares of what its panel or the picture spans; of residuals magnitudes are enough."""
    for panel in panels:
        curves = list(panel.curves.values())
        span = max(float(np.ptp(np.nan_to_num(curves))), panel.least)
        yield from () if panel.log or not span else (curve / span for curve in curves)
    if scene is not None:
        drawn = project(scene.extent, scene.projection).reshape(len(scene.poses), -1)
        yield from (drawn / np.ptp(drawn)).T


def scene_data(scene: Scene) -> dict[str, object]:
    """A scene's shapes by their names, its poses as they change, and from where it is looked at."""
    view = scene.projection
    directions = np.column_stack([project(np.eye(3), view), depth(np.eye(3), view)])
    right, up, toward = directions.T.tolist()
    seen = {"from": SEEN[view], "axes": PLANES.get(view, ()), "right": right, "up": up, "toward": toward}
    bare = replace(scene, solids=()).plain()  # their triangles are no lists of numbers
    solids = [_solid(solid) for solid in scene.solids]
    arrows = [
        {**vars(arrow), "at": _rounded(arrow.at, scene.size), "vector": _rounded(arrow.vector, scene.size)}
        for arrow in scene.arrows
    ]
    shapes = {**bare, "size": scene.size, "solids": solids, "clothed": sorted(scene.clothed)}
    return {**shapes, "poses": _rounded(scene.poses, scene.size), "arrows": arrows, "seen": seen}


def _solid(solid: Solid) -> dict[str, object]:
    kind = np.uint16 if len(solid.corners) <= np.iinfo(np.uint16).max else np.int32
    corners, triangles = solid.corners.astype(np.float32), solid.triangles.astype(kind)
    return {"frame": solid.frame, "corners": corners, "triangles": triangles, "colour": solid.colour}


def _rounded(
    numbers: FloatArray, span: float | None = None
) -> np.ndarray[tuple[int, ...], np.dtype[np.floating]]:
    """Numbers in single precision; in double precision where that rounding would show in what is seen of them, as it
    does far from the origin. `span`: how much is seen; of values their own, of those that stay the same their size.
    """
    real = numbers[np.isfinite(numbers)]
    with np.errstate(over="ignore", under="ignore"):
        single = numbers.astype(np.float32)
        rounding = float(np.abs(single[np.isfinite(numbers)] - real).max(initial=0.0))
    seen = (float(np.ptp(real)) or float(np.abs(real[0])) if real.size else 0.0) if span is None else span
    return single if rounding <= _UNSEEN * seen else numbers


def _plots(
    run: Run, panels: Mapping[str, Sequence[Panel]], known: Set[str] | None
) -> Iterator[dict[str, object]]:
    """The panels of the run's figures. A curve has its label and its name among the values."""
    names = {id(run[name]): name for name in run.values if known is None or name in known}
    own = {name: name for name in names.values()}
    for section, shown in panels.items():
        for panel in shown:
            drawn = ((label, names.get(id(each)) or own.get(label)) for label, each in panel.curves.items())
            curves = {label: name for label, name in drawn if name}
            look = {"title": panel.title, "label": panel.label, "least": panel.least, "log": panel.log}
            if curves:
                yield {"section": section, "curves": curves, **look}


def kept_samples(curves: FloatArray, most: int) -> tuple[npt.NDArray[np.intp], float]:
    """Indices of at most `most` samples of curves (n, T), and how far straight lines between them leave any of the
    curves. Each round adds the worst sample of every stretch (as Douglas & Peucker 1973 do, for all curves at once).

    The curves are in units of what is seen of them; where one has no number it counts as zero.
    """
    count = curves.shape[1]
    curves = np.nan_to_num(curves, nan=0.0, posinf=0.0, neginf=0.0)
    kept = np.unique(np.linspace(0, count - 1, min(count, max(2, most // 4))).astype(np.intp))
    everywhere = np.arange(count)
    while True:
        off = np.zeros(count)
        for curve in curves:
            np.maximum(off, np.abs(curve - np.interp(everywhere, kept, curve[kept])), out=off)
        room, worst = most - kept.size, float(off.max())
        if worst <= _CLOSE or room <= 0:
            return kept, worst
        stretch = np.searchsorted(kept, everywhere, side="right")
        order = np.lexsort((-off, stretch))  # the worst of a stretch first
        firsts = order[np.unique(stretch[order], return_index=True)[1]]
        wanted = firsts[off[firsts] > _CLOSE]
        kept = np.union1d(kept, wanted[np.argsort(-off[wanted])][:room])
