"""Figures of a walk at their size in print: sides, bands, ticks, words that don't overprint; breakdowns' colours."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection

import trundle
from limbs import walker
from trundle.errors import InputError
from trundle.show.figures.breakdown_figure import breakdown_figure

T = np.linspace(0.0, 3.0, 301)


@pytest.fixture(scope="module")
def gait():
    recording = walker.recording(plates=tuple(walker.plates()))
    found = trundle.inverse(walker.robot(), recording, external={"foot_r": "right", "foot_l": "left"})
    return found.gait(mass=walker.MASS)


@pytest.fixture(scope="module")
def banded():
    """The same walk, its moments with bands."""
    recording = walker.recording(plates=tuple(walker.plates()))
    found = trundle.inverse(walker.robot(), recording, external={"foot_r": "right", "foot_l": "left"})
    return found.gait(mass=walker.MASS, bands=found.uncertainty(None, {"foot_r": {"mass": 0.2}}))


@pytest.fixture(scope="module")
def split():
    swing = {"time": T, "link_1.angle": np.sin(2 * np.pi * T), "link_2.angle": np.cos(2 * np.pi * T)}
    loads = trundle.joint_loads(trundle.catalog.pendulum(links=2), swing)
    upper = loads.frames["link_1"]
    return loads.breakdown("link_2", observer=upper, origin=upper.origin)


def test_figures_are_as_wide_as_columns_of_a_page(gait):
    figures = trundle.gait_figures(gait)
    wide = {name: figure.get_size_inches()[0] * 25.4 for name, figure in figures.items()}
    assert wide == pytest.approx(
        {"gait_sagittal": 170, "gait_angles": 85, "gait_moments": 85, "gait_powers": 85}
    )
    assert trundle.gait_figures(gait, 120)["gait_angles"].get_size_inches()[0] * 25.4 == pytest.approx(120)
    with pytest.raises(InputError, match="width: a figure is 50 to 1200 mm wide, not 0 mm"):
        trundle.gait_figures(gait, 0)


def test_a_panel_shows_both_sides_with_their_bands_and_when_toes_leave(gait):
    axes = trundle.gait_figures(gait)["gait_moments"].axes[1]
    assert axes.get_title("left") == "ankle: dorsiflexion +, plantarflexion \u2212"
    assert axes.get_ylabel() == "moment (N m/kg)"
    lines = {len(line.get_xdata()): line for line in axes.get_lines()}
    assert np.array_equal(lines[101].get_xdata(), gait.percent)
    curves = [np.asarray(line.get_ydata()) for line in axes.get_lines() if len(line.get_xdata()) == 101]
    for side, curve in zip(("right", "left"), curves, strict=True):
        assert curve == pytest.approx(gait.mean(f"{side}_ankle_dorsiflexion.moment"))
    lines = [drawn for drawn in axes.collections if isinstance(drawn, LineCollection)]
    ticks = {float(segment[0, 0]) for drawn in lines for segment in drawn.get_segments()}
    assert {gait.off(side) for side in gait.spans} <= ticks
    bands = [path for drawn in axes.collections if drawn not in lines for path in drawn.get_paths()]
    half = gait.deviation("right_ankle_dorsiflexion.moment")
    assert len(bands) == 2
    assert np.ptp(np.asarray(bands[0].vertices)[[0, 201], 1]) == pytest.approx(2 * half[0])


def test_bands_of_means_are_dotted_and_told(gait, banded):
    figure = trundle.gait_figures(banded)["gait_moments"]
    assert "95 % band of the mean" in [text.get_text() for text in figure.texts]
    drawn = [np.asarray(line.get_ydata()) for line in figure.axes[1].get_lines()]
    low, high = banded.band("right_ankle_dorsiflexion.moment")
    for edge in (low, high):
        assert any(np.array_equal(edge, each) for each in drawn)
    plain = trundle.gait_figures(gait)["gait_moments"]
    assert "95 % band of the mean" not in [text.get_text() for text in plain.texts]


@pytest.mark.parametrize("width", [85, pytest.param(170, marks=pytest.mark.slow)])
def test_no_words_overprint_or_leave_the_page(banded, width):
    for figure in trundle.gait_figures(banded, width).values():
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        drawn, page = canvas.get_renderer(), figure.bbox
        words = [*figure.texts, *(axes._left_title for axes in figure.axes)]
        words += [text for axes in figure.axes for text in axes.texts]
        seen = [word for word in words if word.get_text() and word.get_visible()]
        boxes = [word.get_window_extent(drawn) for word in seen]
        for k, (word, box) in enumerate(zip(seen, boxes, strict=True)):
            assert min(box.x0 - page.x0, page.x1 - box.x1, box.y0 - page.y0, page.y1 - box.y1) >= 0, word
            assert not [each for each, other in zip(seen[:k], boxes, strict=False) if box.overlaps(other)], (
                word
            )


def test_pdfs_hold_letters_as_letters(gait, tmp_path):
    from trundle.show.figures.style import save_figure

    path = save_figure(trundle.gait_figures(gait)["gait_moments"], tmp_path / "moments.pdf")
    assert b"/TrueType" in path.read_bytes() or b"/CIDFontType2" in path.read_bytes()
    assert b"/Type3" not in path.read_bytes()


def colours(figure):
    (legend,) = figure.legends
    named = zip(legend.get_texts(), legend.get_patches(), strict=False)
    return {text.get_text(): patch.get_facecolor()[:3] for text, patch in named}


def test_a_term_has_its_colour_in_every_figure(split):
    whole, some = (breakdown_figure(split, T, terms=terms) for terms in (None, ["coriolis", "gravity"]))
    assert colours(some).items() <= colours(whole).items()
    assert set(colours(some)) == {"Coriolis", "gravity"}
    assert len(set(colours(whole).values())) == len(colours(whole))


def test_chosen_terms_have_axes_of_their_own_and_their_sum(split):
    axes = breakdown_figure(split, T, terms=["euler", "centrifugal"]).axes[0]
    expected = split.terms["euler"].force[:, 0] + split.terms["centrifugal"].force[:, 0]
    (line,) = [line for line in axes.get_lines() if len(line.get_xdata()) == T.size]
    assert np.asarray(line.get_ydata()) == pytest.approx(expected)
    with pytest.raises(InputError, match="terms: the breakdown has no term 'coriol'"):
        breakdown_figure(split, T, terms=["coriol"])


def test_a_breakdown_over_cycles_is_their_mean(split):
    figure = breakdown_figure(split, T, cycles=[(0.5, 1.5), (1.5, 2.5)])
    axes = figure.axes[0]
    (line,) = [line for line in axes.get_lines() if len(line.get_xdata()) == 101]
    force = split.seen.force[:, 0]
    expected = (np.interp(1.0, T, force) + np.interp(2.0, T, force)) / 2
    assert np.asarray(line.get_ydata())[50] == pytest.approx(expected, rel=1e-3)
    assert figure.axes[-1].get_xlabel() == "cycle (%)"
    assert "mean of 2 cycles" in figure.get_suptitle()
