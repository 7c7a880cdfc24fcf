"""Slow tests by the clock: which come first, and that what is left is counted (`budget.py`)."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import budget

CONFTEST = """
from budget import Budget

def pytest_addoption(parser):
    parser.addoption("--minutes", type=float)

def pytest_configure(config):
    config.pluginmanager.register(Budget(config, config.getoption("--minutes")))
    config.addinivalue_line("markers", "campaign: always runs")
"""
TESTS = """
import pytest

@pytest.mark.parametrize("case", range(8))
def test_law(case):
    pass

@pytest.mark.campaign
def test_campaign():
    pass
"""


def items(*names):
    return [
        SimpleNamespace(nodeid=name, path=Path(name.partition("::")[0]), keywords={"campaign"} & {name[-8:]})
        for name in names
    ]


def test_campaigns_changed_files_and_first_cases_come_first():
    names = [f"{file}.py::test_{law}[{case}]" for file in "ab" for law in (1, 2) for case in range(5)]
    for salt in ("one", "other"):
        order = [
            each.nodeid for each in budget.ordered(items(*names, "c.py::campaign"), salt, {Path("b.py")})
        ]
        assert order[0] == "c.py::campaign"
        assert {name[0] for name in order[1:11]} == {"b"}
        assert {name.partition("[")[0] for name in order[1:3]} == {"b.py::test_1", "b.py::test_2"}
        assert {name.partition("[")[0] for name in order[11:13]} == {"a.py::test_1", "a.py::test_2"}


def test_the_tree_decides_which_cases_are_drawn():
    names = [f"a.py::test_{law}[{case}]" for law in range(20) for case in range(5)]
    one, same, other = (
        [each.nodeid for each in budget.ordered(items(*listed), salt, ())]
        for listed, salt in ((names, "1"), (names[::-1], "1"), (names, "2"))
    )
    assert one == same
    assert set(one[:20]) != set(other[:20])


@pytest.mark.parametrize("processes", [pytest.param("0", marks=pytest.mark.slow), "2"])
def test_what_is_left_is_counted_and_campaigns_run(tmp_path, processes):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_laws.py").write_text(TESTS)

    def end(minutes):
        command = [sys.executable, "-m", "pytest", "-p", "xdist", "-n", processes, "--minutes", minutes]
        where = {"PYTHONPATH": str(Path(budget.__file__).parent), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        done = subprocess.run(command, cwd=tmp_path, env=where, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        return done.stdout

    assert "9 of 9 items started within 5 minutes (100%); 0 left" in end("5")
    over = end("0")
    assert "1 of 9 items started within 0 minutes (11%); 8 left" in over
    assert "1 passed" in over
