"""`python -m benchmarks` prints what is measured; the measurements have tests of their own."""

import json
from importlib import import_module

import numpy as np
import pytest

import benchmarks
from benchmarks import Row, by_turns
from benchmarks.__main__ import main

ROWS = [
    Row("a cold process", "0.98 s", target="≤ 1.2 s", met=True),
    Row("rollouts", "70 M steps/s", "45 k steps/s", 1555.5, "≥ 1000 ×", True),
    Row("against another", "1 s", "not installed"),
]


@pytest.fixture
def measured(monkeypatch):
    asked = []

    def run_benchmarks(names, quick):
        asked.append((list(names), quick))
        yield from ROWS

    monkeypatch.setattr(benchmarks, "run_benchmarks", run_benchmarks)
    return asked


def test_table(measured, capsys):
    assert main(["cold", "--quick"]) == 0
    assert measured == [(["cold"], True)]
    printed = capsys.readouterr()
    for word in ("a cold process", "≤ 1.2 s met", "1,556 ×", "not installed"):
        assert word in printed.out
    assert "measuring" in printed.err


def test_json(measured, capsys):
    assert main(["--json"]) == 0
    assert measured == [([], False)]
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["what"] for row in rows] == [row.what for row in ROWS]
    assert rows[1]["ratio"] == 1555.5


def test_a_table_is_kept_row_by_row(monkeypatch, tmp_path):
    """With NumPy's numbers in them, and when a later measurement fails."""

    def fails(names, quick):
        yield Row("rollouts", "2 s", "3 s", np.float32(1.5), "≥ 1 ×", np.float64(1.5) > 1)
        raise RuntimeError

    monkeypatch.setattr(benchmarks, "run_benchmarks", fails)
    table = tmp_path / "table.json"
    with pytest.raises(RuntimeError):
        main(["--table", str(table)])
    (row,) = json.loads(table.read_text(encoding="utf-8"))["rows"]
    assert (row["ratio"], row["met"]) == (1.5, True)


def test_an_unknown_name(capsys):
    assert main(["cool"]) == 1
    assert "cold" in capsys.readouterr().err


def test_every_benchmark_is_there():
    for each in (each for functions in benchmarks.BENCHMARKS.values() for each in functions):
        module, _, function = each.partition(".")
        assert callable(getattr(import_module(f"benchmarks.{module}"), function))


def test_comparing_asks_for_a_checkout(capsys, tmp_path):
    assert main(["compare", str(tmp_path)]) == 1
    assert "no checkout of trundle" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("4.5 ms", 0.0045),
        ("80 M steps/s", 1.25e-8),
        ("47 operations", 47.0),
        ("91", 91.0),
        ("1,024 MB", 1024.0),
    ],
)
def test_a_figure_is_read_as_its_cost(text, cost):
    assert by_turns.cost(text) == pytest.approx(cost)
