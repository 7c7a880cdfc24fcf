"""Pages of runs, as a browser shows them."""

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import trundle
from derived import derived
from languages.node import node
from parameters import mostly_slow
from trundle.show.drawing.scene import Scene
from trundle.show.figures.path import unseen
from trundle.show.page import page_of
from trundle.show.page.inert_json import to_json
from trundle.show.page.joining import joined
from trundle.show.page.payload import kept_samples

_SWERVE = Path(__file__).parents[3] / "examples" / "swerve" / "four_modules.yaml"
_CIRCLE = Path(__file__).parents[3] / "examples" / "diff_drive" / "circle.yaml"


@pytest.fixture(scope="module")
def circle():
    return trundle.run(_CIRCLE, progress=False)


@pytest.fixture(scope="module")
def swerve():
    return page_of(trundle.run(_SWERVE, progress=False))


def picture(page) -> str:
    return page.evaluate("document.querySelector('#canvas').toDataURL()")


def test_a_page_looks_around_all_moments_of_a_run_once(monkeypatch):
    lengths, extent = [], Scene.extent.func

    def counted(scene):
        lengths.append(len(scene.poses))
        return extent(scene)

    monkeypatch.setattr(Scene, "extent", property(counted))
    run = trundle.simulate(derived("pendulum"), 1.0, samples=501)
    page_of(run)
    assert lengths.count(501) == 1


def test_a_page_is_small_whole_and_quiet(circle, opened):
    """No console error and no request: `opened` holds that."""
    html = page_of(circle)
    assert len(html.encode()) < 1.5e6
    page = opened(html)
    assert page.inner_text("h1") == "diff_drive"
    assert "seen from above" in page.inner_text("#facts")
    assert page.locator(".panel").count() >= 8


@pytest.mark.slow
def test_the_slider_moves_robot_and_numbers(circle, opened):
    page = opened(page_of(circle))
    before = picture(page)
    page.locator(".time").fill("12")
    assert picture(page) != before
    assert page.inner_text(".clock") == "12.00"
    shown = float(page.locator(".legend output").first.inner_text().replace("−", "-"))
    assert shown == pytest.approx(np.interp(12, circle.time, circle["x"]), rel=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("paused", [False, True], ids=["to the end", "paused"])
def test_numbers_are_of_the_moment_at_which_a_motion_stops(circle, opened, paused):
    """While it plays they are renewed ten times a second only."""
    page = opened(page_of(circle))
    page.evaluate("trundlePage.player.seek(trundlePage.player.state.start, true)")
    page.evaluate("(trundlePage.player.setSpeed(16), trundlePage.player.play())")
    while page.evaluate("trundlePage.player.state.playing"):
        page.wait_for_timeout(20)
        if paused and page.evaluate("trundlePage.player.state.time") > 5:
            page.evaluate("trundlePage.player.pause()")
    time = page.evaluate("trundlePage.player.state.time")
    assert 5 < time < 30 if paused else time == circle.time[-1]
    shown = float(page.locator(".legend output").first.inner_text().replace("−", "-"))
    x = np.interp(time, circle.time, circle["x"])
    # three digits are shown, of a curve that is drawn within a thousandth of its panel
    last_digit = 10 ** (np.floor(np.log10(abs(x))) - 2)
    assert shown == pytest.approx(x, abs=0.5 * last_digit + 1e-3 * np.ptp(circle["x"]))


@pytest.mark.slow
def test_a_click_in_a_plot_moves_the_time(circle, opened):
    page = opened(page_of(circle))
    box = page.locator(".plot").first.bounding_box()
    page.mouse.click(box["x"] + 62 + (box["width"] - 72) / 2, box["y"] + 40)
    assert page.evaluate("trundlePage.player.state.time") == pytest.approx(15, abs=0.1)


@pytest.mark.slow
def test_keys_play_step_follow_and_help(circle, opened):
    from playwright.sync_api import expect

    page = opened(page_of(circle))
    page.keyboard.press("End")
    assert page.inner_text(".clock") == "30.00"
    page.keyboard.press("j")
    assert page.inner_text(".clock") == "29.00"
    page.keyboard.press("Home")
    page.keyboard.press("]")
    assert page.evaluate("trundlePage.player.state.speed") == 2
    speeds = page.locator("select.speed option").evaluate_all("all => all.map((each) => Number(each.value))")
    assert (min(speeds), max(speeds)) == (1e-4, 1e4)  # a run of 1 ms takes 10 s, one of a day 9 s
    page.keyboard.press("Space")
    expect(page.locator(".clock")).not_to_have_text("0.00")
    page.keyboard.press("Space")
    assert not page.evaluate("trundlePage.player.state.playing")
    page.keyboard.press("f")
    assert page.get_attribute("#follow", "aria-pressed") == "true"
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    assert "play or pause" in page.inner_text("#help")


@pytest.mark.slow
def test_set_motion_swaps_run_path_and_curves(circle, opened):
    page = opened(page_of(circle))
    before = picture(page)
    page.evaluate(
        """() => {
            const { motion } = trundlePage;
            const poses = Float64Array.from(motion.poses, (each) => 0.5 * each);
            trundlePage.setGhost(motion);
            trundlePage.setMotion({ ...motion, poses });
        }"""
    )
    assert picture(page) != before
    assert page.evaluate("trundlePage.ghost !== null")


@pytest.mark.parametrize(
    "file",
    mostly_slow(
        ["skid_steer/turn.yaml", "mecanum/drive.yaml", "gears/rear_axle.yaml"], ["skid_steer/turn.yaml"]
    ),
)
@pytest.mark.slow
def test_arrows_of_a_motion_from_the_browser_are_those_of_the_run(file, opened):
    """What the ground does to wheels, from the values alone: as `show.arrows` has it."""
    page = opened(page_of(trundle.run(_CIRCLE.parents[1] / file, progress=False)))
    off = page.evaluate(
        """() => {
            const { arrows, ...motion } = trundlePage.motion;
            trundlePage.setMotion(motion);
            const found = trundlePage.motion.arrows;
            if (found.length !== arrows.length || found.length === 0) return Infinity;
            const largest = (numbers) => numbers.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
            return Math.max(...["at", "vector"].flatMap((part) => found.map((arrow, k) =>
                largest(arrow[part].map((each, i) => each - arrows[k][part][i])))));
        }"""
    )
    assert off < 1e-5  # metres; poses are in single precision
    assert "force, at most" in page.inner_text("#wrenches")


@pytest.mark.slow
def test_without_a_description_an_arrow_moves_and_without_that_curves_are_shown(opened):
    time = np.linspace(0, 1, 11)
    page = opened(
        page_of(trundle.Run("cart", time, {"x": time, "y": time**2}, groups={"coordinates": ["x", "y"]}))
    )
    assert page.locator("#note").inner_text() == ""
    assert page.locator(".panel").count() == 1
    page = opened(page_of(trundle.Run("log", time, {"p": time}, groups={"coordinates": ["p"]})))
    assert (
        page.inner_text("#note") == "no description says what 'log' looks like, so only its values are shown"
    )


def test_a_run_without_a_finite_pose_is_told_from_one_without_a_description():
    gone = trundle.Run("points", [0.0, 1.0], {"x": [np.nan, 1.0], "y": [0.0, 1.0]})
    assert unseen(gone) == "no pose of this run is finite"
    assert "no description" in unseen(trundle.Run("log", [0.0], {"x": [0.0]}))


def test_names_run_nothing(opened):
    """What a run's names hold is text, whatever it looks like."""
    time = np.linspace(0, 1, 5)
    names = [
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(2)>",
        "\"'><svg onload=alert(3)>",
        "a\u2028b\u2029c",
        "\u202eevil\u202c",
        "__proto__",
        "constructor",
        "{{script}}",
        "<!--<script>",
        "]]>&lt;",
    ]
    run = trundle.Run(
        names[0] + names[7],
        time,
        {name: k * time for k, name in enumerate(names)},
        units=dict.fromkeys(names, "<b>m</b>"),
        groups={"coordinates": names},
    )
    page = opened(page_of([run, run]))
    assert page.inner_text("h1") == names[0] + names[7]
    shown = [re.sub(r"\s", "", text) for text in page.locator(".legend bdi").all_text_contents()]
    assert sorted(shown) == sorted(re.sub(r"\s", "", name) for name in names)
    assert page.locator("img, b:has(script)").count() == 0


@pytest.mark.slow
def test_the_policy_stops_what_would_get_in_anyway(circle, opened):
    """Markup that got in unescaped would still run nothing; the browser says so, and nothing else happens."""
    page = opened(page_of(circle), refused="violates the following Content Security Policy")
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=\"data:,\" onerror=\"window.ran = 1\">')"
    )
    page.wait_for_timeout(50)
    assert page.evaluate("window.ran === undefined")


@pytest.mark.slow
def test_curves_run_through_their_true_peaks(circle, opened):
    highest = circle.peaks["right_motor.current"].highest
    assert highest > 1.5 * circle["right_motor.current"].max()
    page = opened(page_of(circle))
    labels = page.locator("canvas[aria-label]").evaluate_all("all => all.map(each => each.ariaLabel)")
    (said,) = [label for label in labels if "right_motor.current" in label]
    assert f" to {highest:.3g} A; left_motor.current" in said


@pytest.mark.slow
def test_several_runs_are_compared_in_one_page(circle, opened):
    other = trundle.run(_CIRCLE, inputs={"left_motor.voltage": 22.0}, progress=False)
    page = opened(page_of([circle, other]))
    assert page.locator("#runs li").all_inner_texts() == [
        "left_motor.voltage = 20 V",
        "left_motor.voltage = 22 V",
    ]


@pytest.mark.slow
def test_a_page_begins_to_play_but_for_who_wants_little_motion(circle, opened):
    html = page_of(circle)
    assert not opened(html).evaluate("trundlePage.player.state.playing")
    assert opened(html, reduced_motion="no-preference").evaluate("trundlePage.player.state.playing")


@pytest.mark.parametrize(("width", "windows"), [(1400, 2.75), (390, 4)])
@pytest.mark.slow
def test_what_is_folded_says_what_it_holds_and_opens(swerve, opened, width, windows):
    """It was 9,200 px high for a swerve, 14,800 on a phone."""
    page = opened(swerve, width=width, height=900)
    page.locator("#equations").scroll_into_view_if_needed()
    assert page.evaluate("document.documentElement.scrollHeight") < windows * 900
    titles = page.locator("details[open].plots details.panel[open] > summary b").all_inner_texts()
    assert titles == ["coordinates", "speeds", "currents", "drives", "steering"]
    rates = page.locator("details.panel", has=page.locator("bdi", has_text="front_left.rate"))
    assert "front_left.rate, rear_left.rate" in rates.locator("summary").inner_text()
    rates.locator("summary").click()
    until = "panel => panel.querySelector('.plot canvas').getAttribute('aria-label')?.includes('front_left.rate from')"
    page.wait_for_function(until, arg=rates.element_handle())
    assert "front_left" in page.locator("#plots-contacts > summary").inner_text()
    motion = page.locator("#equations details", has_text="Equations of motion").first
    assert "equations" in motion.locator(".holds").inner_text()
    assert not motion.locator("math").first.is_visible()
    motion.locator("summary").click()
    assert motion.locator("math").first.is_visible()


@pytest.mark.slow
def test_a_field_lies_under_the_way_where_its_size_says(circle, opened, tmp_path):
    file = tmp_path / "field.png"
    Image.new("RGB", (40, 20), (255, 0, 0)).save(file)
    page = opened(page_of(circle, field=(file, "20 ft", 3.0)))
    page.wait_for_function("trundlePage.scene.field.image.complete")
    page.evaluate("trundlePage.redraw()")
    shares = """() => {
      const canvas = document.querySelector('#canvas');
      const { data, width } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const red = [];
      for (let k = 0; k < data.length; k += 4) {
        const isRed = data[k] > 150 && data[k + 1] < 20 && data[k + 2] < 20;
        if (isRed) red.push([(k / 4) % width, Math.floor(k / 4 / width)]);
      }
      const span = (axis) => red.reduce(([a, b], each) => [Math.min(a, each[axis]), Math.max(b, each[axis])], [1e9, 0]);
      return [span(0), span(1)];
    }"""
    (left, right), (top, bottom) = page.evaluate(shares)
    assert (right - left) / (bottom - top) == pytest.approx(20 * 0.3048 / 3, rel=0.02)


@pytest.mark.slow
def test_links_open_what_is_folded(swerve, opened):
    page = opened(swerve, url_hash="#equations-accelerations")
    shown = page.locator("#equations-accelerations math").first
    shown.wait_for(state="visible")
    page.wait_for_function(
        "document.getElementById('equations-accelerations').getBoundingClientRect().top < innerHeight"
    )
    assert not page.locator("#equations-motors math").first.is_visible()
    page.evaluate("location.hash = 'plots-contacts'")
    page.locator("#plots-contacts .plot").first.wait_for(state="visible")


@pytest.mark.slow
def test_paper_has_everything_and_the_screen_is_folded_again(swerve, opened):
    page = opened(swerve)
    closed = "document.querySelectorAll('#plots details:not([open]), #equations details:not([open])').length"
    before = page.evaluate(closed)
    sizes = page.evaluate(
        """before => {
            dispatchEvent(new Event("beforeprint"));
            const drawn = [...document.querySelectorAll(".plot")].map((each) => each.offsetHeight);
            dispatchEvent(new Event("afterprint"));
            return drawn;
        }""",
        before,
    )
    assert min(sizes) > 50
    assert page.evaluate(closed) == before > 10
    assert (
        page.pdf().count(b"/Type /Page\n") >= 6
    )  # of what is 9,700 px high unfolded; two as it is on the screen


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_window(circle, opened, width):
    page = opened(page_of(circle), width=width, height=740)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_thinned_samples_keep_the_ends_and_stay_close(rng):
    time = np.linspace(0, 10, 20_001)
    curves = np.array([np.sin(time), np.where(time > 5, 1.0, 0.0), np.exp(-50 * time)])
    kept, off = kept_samples(curves, 2000)
    lines = np.array([np.interp(time, time[kept], each[kept]) for each in curves])
    assert kept[0] == 0
    assert kept[-1] == time.size - 1
    assert kept.size < 2000
    assert np.abs(curves - lines).max() == pytest.approx(off)
    assert off <= 1e-3
    noise = rng.normal(size=(1, 5000))
    kept, off = kept_samples(noise, 400)
    assert kept.size == 400
    assert off > 0.1


def test_json_in_a_page_cannot_leave_its_element():
    text = to_json({"</script>": "<!--&\u2028\u2029"})
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == {"</script>": "<!--&\u2028\u2029"}


@pytest.mark.parametrize(
    "modules", [("page", "controls", "robot3d", "view3d", "planes", "cloud"), ("worker",)]
)
def test_top_level_names_are_unique_over_a_script(modules):
    """They share one scope: a page's, and its worker's."""
    text = joined(*modules)
    names = re.findall(r"^(?:async )?(?:function\*?|const|let|class) (\w+)", text, re.MULTILINE)
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_joined_modules_are_a_script(tmp_path):
    script = tmp_path / "page.mjs"
    script.write_text(joined("page"), encoding="utf-8")
    subprocess.run([node(), "--check", script], check=True)


def test_errors():
    with pytest.raises(trundle.InputError, match="a page shows runs, not int"):
        page_of([3])
    batch = trundle.rollout(derived("pendulum"), steps=2, dt=1e-3)
    for given, what in ((3, "int"), (None, "NoneType"), (batch, "Batch")):
        with pytest.raises(trundle.InputError, match=f"a page shows runs, not {what}"):
            trundle.animate(given, "never.html")
    with pytest.raises(trundle.InputError, match="needs a run"):
        page_of([])
