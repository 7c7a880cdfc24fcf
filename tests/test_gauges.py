"""What the gauges of the package find in a small one: `tools/gauges.py`, and the walks of `tools/walks.py`."""

import pytest

from tools import gauges, walks

KINDS = 'class Motor:\n    type: str\n\n\nclass Servo(Motor):\n    type: Literal["servo"] = "servo"\n'
CLEAN = '"""Words\n\nand more."""\n\n# why\ndef add(a, b):\n    return a + b\n'
TEN_LINES = "".join(f"    x = {k}\n" for k in range(10))
PLANTED = {
    "any_lines": ["def add(a: Any) -> Any:\n    return a\n\n\nb: typing.Any = 1\n"],
    "by_name": ["a = isinstance(b, (int, Servo))\n", 'a = b.type in ("servo", "other")\n'],
    "positional": ["def add(a, b, c, d, e, f, g):\n    return a\n"],
    "silent": [f"def f():\n{TEN_LINES}"],
    "twice": ["class Servo:\n    pass\n", "Motor = float | None\n"],
}


@pytest.fixture
def package(tmp_path):
    """package(texts) is a small package of them, beside one that is clean and one that defines kinds."""

    def written(*texts):
        (tmp_path / "robot").mkdir()
        (tmp_path / "robot/motors.py").write_text(KINDS)
        for k, text in enumerate((CLEAN, *texts)):
            (tmp_path / f"file_{k}.py").write_text(text)
        return gauges.read(tmp_path)

    return written


@pytest.mark.parametrize("name", PLANTED)
def test_a_gauge_finds_what_is_planted(name, package):
    assert sum(getattr(gauges, name)(package(*PLANTED[name])).values()) == 2 - (
        name in ("positional", "silent")
    )


@pytest.mark.parametrize("name", PLANTED)
def test_nothing_is_found_in_what_is_clean(name, package):
    short = 'class Other:\n    def f(self, a, b, c, d, e, *, f):\n        """Words."""\n'
    texts = [
        short + TEN_LINES.replace("    x", "        x"),
        "a = isinstance(b, Motor)\nc = event.type == QUIT\n",
    ]
    assert getattr(gauges, name)(package(*texts)) == {}


def test_rooms_that_own_kinds_may_ask(package, tmp_path):
    package()
    (tmp_path / "robot/asking.py").write_text(PLANTED["by_name"][0])
    assert gauges.by_name(gauges.read(tmp_path)) == {}


def test_lines_of_code_are_neither_words_nor_empty(package):
    assert gauges.code_lines(package()) == {"file_0.py": 2, "robot/motors.py": 4}


@pytest.mark.parametrize(
    ("most", "play", "status", "said"),
    [
        (6, 0, 0, ""),
        (5, 0, 1, "TOO MANY: why"),
        (7, 0, 1, "lower that to 6"),
        (7, 1, 0, ""),
        (99, None, 0, ""),
    ],
)
def test_a_bound_holds_and_is_lowered(most, play, status, said, package, capsys):
    held = {"lines": gauges.Gauge(gauges.code_lines, most, "why", play)}
    assert gauges.report(package(), held, places=True) == status
    printed = capsys.readouterr().out
    assert said in printed
    assert "    robot/motors.py (4)\n" in printed


def test_only_files_whose_functions_run_are_counted():
    from trundle.spatial.vectors import add

    assert walks.files(lambda: add((1, 2, 3), (4, 5, 6))) == ["scalars.py", "spatial/vectors.py"]
    assert walks.files(lambda: None) == []


def test_both_walks_arrive(tmp_path):
    for start in (walks.plan, walks.markers):
        assert walks.files(start(tmp_path))
    assert (tmp_path / "plan.csv").read_text().startswith("Time (s),")
