"""Controls of a live page: what is typed and linked to is read, the newest setting wins, the run is drawn anew."""

import json
import shutil
import subprocess
from importlib.resources import files

import pytest

from trundle.robot.units import UNITS

ASSETS = files("trundle.page").joinpath("assets")
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
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
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
    script = """show(knobs.map((knob) => Array.from({ length: amounts.stepsOf(knob) + 1 }, (_, place) => {
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
