"""Hostile input of every kind, and that the search for it finds what is planted: `tools/fuzz`, `make fuzz`."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("resource", reason="cases run in forked processes with limits, which Windows lacks")

from tools.fuzz import cases
from tools.fuzz.kinds import Kind
from tools.fuzz.pool import Death, answers

ROOT = Path(__file__).parents[1]


@pytest.mark.campaign
def test_hostile_cases(campaign):
    """No exception but TrundleError, nothing over 10 s or 2 GB, no NaN unsaid: 200,000 cases, some 80 minutes.

    The same cases each time, so that what fails was broken by a change; `make fuzz` looks where nobody has looked.
    """
    count = sum(1 for _ in campaign(200_000))
    command = [
        sys.executable,
        "-m",
        "tools.fuzz",
        "--cases",
        str(count),
        "--seed",
        "11",
        "--workers",
        "2",
    ]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    print(told.stdout[-20_000:], told.stderr[-5_000:])
    assert told.returncode == 0


def test_cases_are_the_same_again():
    one, two = (cases.draw(7, 3, "formula") for _ in range(2))
    assert one == two == cases.read_case(str(one))
    assert one.content() == two.content()
    assert one != cases.draw(8, 3, "formula")


def test_what_faults_of_c3d_do_not_reach_is_read_or_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawn = [cases.draw(9, number, "c3d") for number in range(200)]
    outcomes = [cases.attempt(case) for case in drawn]
    assert not [
        f"{case}: {each.told}"
        for case, each in zip(drawn, outcomes, strict=True)
        if isinstance(each, cases.Finding)
    ]
    assert outcomes.count("taken") > 100


def test_limits_of_time_and_memory_and_deaths_are_answers():
    def work(job: str) -> str:
        if job == "time":
            while True:
                pass
        if job == "memory":
            return str(len(bytearray(3 * 2**30)))
        if job == "death":
            os._exit(3)
        return job

    def guarded(job: str) -> str:
        try:
            return work(job)
        except MemoryError:
            return "no memory"

    jobs = ["good", "time", "memory", "death", "good"]
    found = list(answers(iter(jobs), guarded, 2, seconds=0.3))
    assert sorted(job for job, _ in found) == sorted(jobs)
    told = {job: each.reason if isinstance(each, Death) else each for job, each in found}
    assert told == {
        "good": "good",
        "time": "over 0.3 s",
        "memory": "no memory",
        "death": "dies with status 3",
    }


def test_a_planted_bug_is_found_with_the_mutation_that_it_needs(monkeypatch):
    def mutate(content: object, rng: Random) -> object:
        return f"{content}{rng.choice('abcdefgh')}"

    def attempt(content: object, rng: Random) -> None:
        if "c" in str(content):
            raise KeyError(content)

    monkeypatch.setattr(cases, "kinds", lambda: {"planted": Kind("planted", 1, ("",), mutate, attempt)})
    drawn = [cases.draw(1, number) for number in range(60)]
    found = [(case, each) for case, each in cases.tried(iter(drawn), 2) if isinstance(each, cases.Finding)]
    assert len(found) == sum("c" in str(case.content()) for case in drawn) > 0
    case, finding = max(found, key=lambda each: len(each[0].mutations))
    assert finding.signature == "KeyError"
    assert cases.shrunk(case, finding.signature).content() == "c"


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(cases.kinds()))
def test_the_good_inputs_are_taken(kind, tmp_path, monkeypatch):
    """A search that begins with what is refused would never come far; calls ask for more than there is on purpose."""
    monkeypatch.chdir(tmp_path)
    bases = range(len(cases.kinds()[kind].bases))
    outcomes = [cases.attempt(cases.Case(kind, "good", base, ())) for base in bases]
    assert not [each for each in outcomes if isinstance(each, cases.Finding)]
    assert outcomes.count("taken") >= len(outcomes) / 3


# What reads a kind of file, and what a command does: an error planted there is met by most cases of that kind.
READERS = (
    ("description", "trundle.documents.reader.problems_of"),
    ("urdf", "trundle.documents.urdf.urdf_reader.read_elements"),
    ("osim", "tools.fuzz.kinds.parse_osim"),
    ("csv", "trundle.results.csv_file.read"),
    ("recording", "trundle.limbs.capture.recording_files.read_lines"),
    ("recording", "trundle.limbs.capture.recording_files._marker_names"),
    ("recording", "trundle.limbs.capture.c3d_file._plate"),
    ("foreign", "tools.fuzz.foreign.read_setup"),
    ("netcdf", "trundle.results.netcdf.read"),
    ("result", "trundle.results.netcdf.restored"),
    ("motion", "trundle.motion.commands.commands.read_yaml"),
    ("path", "trundle.motion.paths.path_files.from_path_file"),
    ("path", "trundle.motion.paths.path_files.from_traj_file"),
    ("mesh", "trundle.documents.meshes.TriangleMesh"),
)
COMMANDS = {
    name: f"trundle.cli.{module}.execute"
    for name, module in {
        "new": "new",
        "check": "check",
        "equations": "equations",
        "run": "run",
        "drive": "drive_command",
        "inverse": "inverse_command",
        "show": "show_command",
        "export": "export_command",
        "verify": "verify_command",
        "profiles": "profiles_command",
        "schema": "schema",
    }.items()
}


class PlantedError(Exception):
    """None of Trundle's."""


def planted(*_: object, **__: object) -> None:
    raise PlantedError


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "place"), READERS)
def test_an_error_planted_in_a_reader_is_found(kind, place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cases.kinds()  # the good inputs are made before
    monkeypatch.setattr(place, planted)
    outcomes = [cases.attempt(cases.draw(5, number, kind)) for number in range(60)]
    assert any(isinstance(each, cases.Finding) and "PlantedError" in each.signature for each in outcomes)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "place"), COMMANDS.items())
def test_an_error_planted_in_a_command_is_found(command, place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(place, planted)
    drawn = (cases.draw(5, number, "command") for number in range(5000))
    mine = (case for case in drawn if command in case.content())  # pyright: ignore[reportOperatorIssue]
    outcomes = (
        cases.attempt(case) for case in mine
    )  # most mutated lines are refused before the command begins
    assert any(isinstance(each, cases.Finding) and "PlantedError" in each.signature for each in outcomes)
