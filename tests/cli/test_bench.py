"""`trundle bench` prints what is measured; the measurements have tests of their own."""

import pytest

import trundle.bench
from trundle.bench import Row

ROWS = [
    Row("a cold process", "0.98 s", target="≤ 1.2 s", met=True),
    Row("rollouts", "70 M steps/s", "45 k steps/s", 1555.5, "≥ 1000 ×", True),
    Row("against another", "1 s", "not installed"),
]


@pytest.fixture
def measured(monkeypatch):
    asked = []

    def run_bench(names, quick):
        asked.append((list(names), quick))
        yield from ROWS

    monkeypatch.setattr(trundle.bench, "run_bench", run_bench)
    return asked


def test_table(trundle, measured):
    answer = trundle("bench", "cold", "--quick")
    assert answer.status == 0
    assert measured == [(["cold"], True)]
    for word in ("a cold process", "≤ 1.2 s met", "1,556 ×", "not installed"):
        assert word in answer.out
    assert "measuring" in answer.err


def test_json(trundle, measured):
    answer = trundle("bench", "--json", "--quiet")
    assert measured == [([], False)]
    assert [row["what"] for row in answer.data["rows"]] == [row.what for row in ROWS]
    assert answer.data["rows"][1]["ratio"] == 1555.5
    assert answer.err == ""


def test_an_unknown_name(trundle):
    answer = trundle("bench", "cool", "--quiet")
    assert answer.status == 1
    assert "cold" in answer.err
