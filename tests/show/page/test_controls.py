"""Controls of a live page: what is typed and linked to is read, the newest setting wins, the run is drawn anew."""

import json
import shutil
import subprocess
from html import escape
from importlib.resources import files

import pytest

import trundle
from trundle.robot.units import UNITS
from trundle.show.page import page_of

ASSETS = files("trundle.show.page").joinpath("assets")
KNOBS = [
    {
        "key": "parameters.d",
        "group": "parameters",
        "label": "d",
        "unit": "m",
        "value": 0.1,
        "low": -0.5,
        "high": 0.5,
    },
    {
        "key": "parameters.inductance",
        "group": "parameters",
        "label": "inductance",
        "unit": "H",
        "value": 1e-4,
        "low": 1e-6,
        "high": 1e-2,
        "least": 0,
    },
    {
        "key": "inputs.a b&c",
        "group": "inputs",
        "label": "rate",
        "unit": "rad/s",
        "value": 0,
        "low": -3,
        "high": 3,
    },
]


def node(script):
    """What a module script prints as JSON, with `knobs` and `units` at hand."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("no node")
    known = f"const knobs = {json.dumps(KNOBS)}; const units = {json.dumps(UNITS)};"
    imports = "".join(
        f'const {name} = await import("{ASSETS.joinpath(f"{name}.js")}");' for name in ("amounts", "runner")
    )
    text = f"{known}{imports}\nconst show = (value) => console.log(JSON.stringify(value));\n{script}"
    command = [program, "--experimental-default-type=module", "--input-type=module", "-e", text]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("place", "text", "value"),
    [
        (0, "0.25", 0.25),
        (0, "  25 cm ", 0.25),
        (0, "−1 in", -0.0254),
        (0, "17", 17),
        (1, "2 mH", 2e-3),
        (1, "3µH", 3e-6),
        (1, "1 V s/A", 1.0),
        (2, "60 rpm", 60 * 0.10471975511965977),
        (2, "180°/s", 3.141592653589793),
        (2, "2 1/s", 2),
    ],
)
def test_amounts_are_read_with_units(place, text, value):
    read = node(f"show(amounts.readAmount({json.dumps(text)}, knobs[{place}], units))")
    assert read == {"value": pytest.approx(value, rel=1e-15)}


@pytest.mark.parametrize(
    ("place", "text", "words"),
    [
        (0, "", "doesn't start with a number"),
        (0, "wide", "doesn't start with a number"),
        (0, "2 kg", "d is in m"),
        (0, "2 constructor", "no unit"),
        (0, "0x10", "no unit"),
        (0, "1e999", "a finite number"),
        (1, "-1e-6", "at least 0 H"),
    ],
)
def test_amounts_that_make_no_sense_are_told(place, text, words):
    assert words in node(f"show(amounts.readAmount({json.dumps(text)}, knobs[{place}], units))")["problem"]


def test_all_units_of_descriptions_are_read():
    """Each unit's factor is the description's own."""
    read = node("show(Object.keys(units).map((each) => amounts.readUnit(each, units)))")
    assert [(each["factor"], tuple(each["dimension"])) for each in read] == list(UNITS.values())


def test_sliders_go_from_end_to_end_and_back():
    """The place of a slider's value is the place again; ranges over several decades go by ratios."""
    script = """show(knobs.map((knob) => Array.from({ length: amounts.sliderSteps(knob) + 1 }, (_, place) => {
        const value = amounts.turnedTo(place, knob);
        return [value, amounts.placeOf(value, knob) - place];
    })))"""
    for knob, found in zip(KNOBS, node(script), strict=True):
        values = [value for value, _ in found]
        assert (values[0], values[-1]) == (knob["low"], knob["high"])
        assert values == sorted(set(values))
        assert max(abs(off) for _, off in found) < 0.2
    assert node("show(amounts.turnedTo(120, knobs[1]))") == 1e-4


def test_links_hold_settings_exactly_and_hostile_ones_are_ignored():
    script = """
    const values = new Map(knobs.map((knob) => [knob.key, knob.value]));
    values.set("parameters.d", 0.1 + 0.2);
    values.set("inputs.a b&c", -1e-17);
    const hash = amounts.hashOf(knobs, values);
    show([hash, [...amounts.valuesOf("#" + hash, knobs)]])
    """
    hash_, read = node(script)
    assert hash_ == "parameters.d=0.30000000000000004&inputs.a%20b%26c=-1e-17"
    assert dict(read) == {"parameters.d": 0.1 + 0.2, "inputs.a b&c": -1e-17}
    hostile = [
        "parameters.d=NaN",
        "parameters.d=Infinity",
        "parameters.d=",
        "parameters.d",
        "parameters.d=1;alert(1)",
        "parameters.d=<script>",
        "__proto__=1",
        "constructor=1",
        "%=%",
        "parameters.inductance=-1",
        "parameters.d=1&" * 3000,
    ]
    assert node(f"show({json.dumps(hostile)}.map((each) => [...amounts.valuesOf(each, knobs)]))") == [
        []
    ] * len(hostile)


def test_tables_are_those_that_python_writes():
    text = node('show(amounts.csvOf({ time: [0, 0.1], values: { x: [1 / 3, -0], "a,b": [1e-9, 1e22] } }))')
    assert text == 'time,x,"a,b"\n0,0.3333333333333333,1e-9\n0.1,0,1e+22\n'


WORKERS = """
const made = [];
const start = () => {
  const worker = { sent: [], ended: false, postMessage: (each) => worker.sent.push(each) };
  worker.terminate = () => (worker.ended = true);
  made.push(worker);
  return worker;
};
const seen = [];
const running = runner.createRunner(start, {
  onResult: (data, about) => seen.push([about, data.answer]),
  onBusy: () => {},
  onFailure: (message, about) => seen.push([about, message]),
});
const answer = (worker, answer) => worker.onmessage({ data: { id: worker.sent.at(-1).id, answer } });
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
"""


def test_the_newest_setting_wins():
    """One runs, the newest waits, those between are never run; a late answer of an older one is dropped."""
    script = f"""{WORKERS}
    for (const each of [1, 2, 3, 4]) running.ask(each, each);
    answer(made[0], "one");
    answer(made[0], "four");
    made[0].onmessage({{ data: {{ id: 1, answer: "late" }} }});
    show([made.length, made[0].sent.map((each) => each.request), seen])"""
    assert node(script) == [1, [1, 4], [[1, "one"], [4, "four"]]]


def test_a_long_run_is_given_up_for_a_newer_setting():
    script = f"""{WORKERS}
    running.ask("long", "long");
    await wait(700);
    const patient = made.length;
    running.ask("short", "short");
    await wait(50);
    answer(made[1], "done");
    show([patient, made.map((each) => each.ended), seen])"""
    assert node(script) == [1, [True, False], [["short", "done"]]]


def test_a_worker_that_fails_is_told_and_replaced():
    script = f"""{WORKERS}
    running.ask("bad", "bad");
    made[0].onerror({{ message: "out of memory" }});
    running.ask("good", "good");
    answer(made[1], "done");
    show(seen)"""
    assert node(script) == [["bad", "out of memory"], ["good", "done"]]


CIRCLE = "examples/diff_drive/circle.yaml"
STATUS = "document.querySelector('.status').dataset.level"


@pytest.fixture(scope="module")
def circle():
    """The page of the differential drive, 30 s of driving in a circle."""
    return page_of(CIRCLE)


def until(page, expression, arg=None):
    """Waits for a page; its own way to wait is forbidden by the page's policy."""
    for _ in range(500):
        if page.evaluate(expression, arg):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"never: {expression}; the status is {page.inner_text('.status-words')!r}")


def lively(page):
    """An opened page once its first run is there."""
    until(page, f"{STATUS} !== undefined")
    return page


def ends(page):
    """The last place of the base that is drawn."""
    return page.evaluate(
        "(() => { const { poses, frames } = trundlePage.motion; const at = poses.length - 12 * frames;"
        " return [poses[at + 3], poses[at + 7], trundlePage.motion.time.at(-1)]; })()"
    )


def turn(page, key, place):
    """A slider moved to a place, as by a hand."""
    slider = page.locator(f"[id='knob-{key}']").locator("xpath=..").locator("input[type=range]")
    slider.evaluate(
        "(slider, place) => { slider.value = place; slider.dispatchEvent(new Event('input')); }", place
    )


def typed(page, key, text):
    page.fill(f"[id='knob-{key}']", text)
    page.press(f"[id='knob-{key}']", "Enter")


def changed(page, before):
    """Waits for another end of the path than before."""
    until(
        page,
        "(before) => { const { poses, frames } = trundlePage.motion;"
        " return Math.abs(poses[poses.length - 12 * frames + 3] - before) > 1e-6; }",
        before[0],
    )
    return ends(page)


@pytest.mark.slow
def test_a_moved_slider_changes_the_drawn_path(opened, circle):
    page = lively(opened(circle))
    page.evaluate("trundlePage.player.seek(7, true)")
    picture = "document.getElementById('canvas').toDataURL()"
    before, drawn = ends(page), page.evaluate(picture)
    turn(page, "parameters.d", 150)
    after = changed(page, before)
    assert after[2] == before[2]
    assert page.evaluate(picture) != drawn
    assert page.evaluate("trundlePage.player.state.time") == 7
    assert page.evaluate("trundlePage.ghost.values.x.at(-1)") == pytest.approx(before[0], abs=1e-3)
    page.click("text=Reset all")
    assert changed(page, after) == pytest.approx(before, abs=1e-3)


@pytest.mark.slow
def test_what_is_typed_is_simulated_exactly(opened, circle):
    """The page's run ends where Python's does at the page's own step, and where `simulate` does."""
    page = lively(opened(circle))
    before = ends(page)
    typed(page, "parameters.d", "12.34 cm")
    typed(page, "inputs.left_motor.voltage", "18.5 V")
    changed(page, before)
    page.wait_for_timeout(500)
    found = page.evaluate("({ steps: trundlePage.motion.steps, step: trundlePage.motion.step })")
    model, names = trundle.derive(trundle.load(CIRCLE)), ("x", "y", "theta")
    pose = [page.evaluate(f"trundlePage.motion.values.{name}.at(-1)") for name in names]
    given = {"inputs": {"right_motor.voltage": 24.0, "left_motor.voltage": 18.5}, "parameters": {"d": 0.1234}}
    same = trundle.rollout(model, steps=found["steps"], dt=found["step"], every=found["steps"], **given)
    assert [same[name][-1, 0] for name in names] == pytest.approx(pose, abs=1e-9)
    exact = trundle.simulate(model, 30.0, rtol=1e-12, atol=1e-13, **given)
    assert [exact[name][-1] for name in names] == pytest.approx(pose, abs=1e-6)


@pytest.mark.slow
def test_a_link_holds_the_state(opened, circle):
    page = lively(opened(circle))
    typed(page, "start.theta", "30 deg")
    typed(page, "run.duration", "200 s")
    until(page, "trundlePage.motion.time.at(-1) === 200")
    after = ends(page)
    until(page, "location.hash.includes('duration')")
    link = page.evaluate("location.hash")
    again = lively(opened(circle, url_hash=link))
    until(again, "trundlePage.motion.time.at(-1) === 200")
    assert ends(again) == pytest.approx(after, abs=1e-12)
    assert again.input_value("[id='knob-start.theta']") == "0.5235987755982988"


@pytest.mark.slow
def test_the_link_is_copied_and_a_notebook_has_none(opened, circle):
    page = lively(opened(circle))
    page.click("text=Copy link")
    until(page, "document.querySelector('.controls-foot').textContent.includes('Link copied')")
    framed = opened(f'<!doctype html><iframe sandbox="allow-scripts" srcdoc="{escape(circle)}"></iframe>')
    inside = framed.frames[1]
    until(inside, f"{STATUS} === 'good'")
    assert inside.is_hidden("text=Copy link")


@pytest.mark.slow
def test_hostile_links_are_ignored(opened, circle):
    hash_ = "#parameters.d=alert(1)&parameters.r=-1e999&__proto__=1&run.duration=1e300&%%%&<img src=x onerror=alert(1)>"
    page = lively(opened(circle, url_hash=hash_))
    page.wait_for_timeout(600)
    assert page.evaluate(STATUS) == "good"
    assert page.input_value("[id='knob-run.duration']") == "30"


@pytest.mark.slow
def test_what_can_not_be_simulated_says_what_to_change_back(opened, circle):
    page = lively(opened(circle))
    before = ends(page)
    typed(page, "parameters.r", "0")
    until(page, f"{STATUS} !== 'good'")
    said = page.inner_text(".status-words")
    assert "Change back" in said
    assert "r to 0.15 m" in said
    page.click("text=Undo")
    until(page, f"{STATUS} === 'good'")
    assert ends(page) == pytest.approx(before, abs=1e-3)
    assert page.input_value("[id='knob-parameters.r']") == "0.15"


@pytest.mark.slow
def test_wrong_amounts_are_told_beside_them(opened, circle):
    page = lively(opened(circle))
    typed(page, "parameters.d", "3 kg")
    assert page.inner_text("[id='knob-parameters.d-problem']") == "“kg” doesn't fit: d is in m"
    assert page.get_attribute("[id='knob-parameters.d']", "aria-invalid") == "true"
    typed(page, "parameters.d", "0.1")
    assert page.is_hidden("[id='knob-parameters.d-problem']")


@pytest.mark.slow
def test_the_newest_of_many_settings_is_shown(opened, circle):
    page = lively(opened(circle))
    before = ends(page)
    for place in range(60, 160, 4):
        turn(page, "parameters.r", place)
        page.wait_for_timeout(15)
    typed(page, "parameters.r", "0.2")
    alone = lively(opened(circle, url_hash="#parameters.r=0.2"))
    expected = changed(alone, before)
    until(
        page,
        "(x) => { const { poses, frames } = trundlePage.motion;"
        " return Math.abs(poses[poses.length - 12 * frames + 3] - x) < 1e-9; }",
        expected[0],
    )


@pytest.mark.slow
def test_the_shown_run_is_downloaded(opened, circle, tmp_path):
    page = lively(opened(circle))
    with page.expect_download() as waiting:
        page.click("text=Download CSV")
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    run = trundle.Run.load(path)
    assert path.name == "diff_drive.csv"
    assert run["x"][-1] == page.evaluate("trundlePage.motion.values.x.at(-1)")


@pytest.mark.slow
def test_a_phone_has_the_controls_in_a_drawer(opened, circle):
    page = lively(opened(circle, width=360, height=740, has_touch=True, is_mobile=True))
    assert page.is_hidden("[id='knob-parameters.d']")
    page.tap(".drawer-handle")
    assert page.is_visible("[id='knob-parameters.d']")
    assert page.get_attribute(".drawer-handle", "aria-expanded") == "true"
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    before = ends(page)
    turn(page, "parameters.d", 150)
    changed(page, before)


@pytest.mark.slow
def test_all_controls_have_names_and_keys_reach_them(opened, circle):
    page = lively(opened(circle))
    nameless = """[...document.querySelectorAll("#controls input, #controls button")].filter((each) =>
        !each.getAttribute("aria-label") && !each.labels?.length && !each.textContent.trim()).length"""
    assert page.evaluate(nameless) == 0
    before = ends(page)
    slider = page.get_by_role("slider", name="d", exact=True)
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    changed(page, before)
    assert slider.get_attribute("aria-valuetext").endswith(" m")
    until(page, "document.querySelector('[role=status].sr-only').textContent.includes('steps')")
