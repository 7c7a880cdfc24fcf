"""The command line as a whole: help, versions, usage, exit statuses, errors as JSON, closed pipes."""

import io
import subprocess
import sys

import pytest

from parameters import ANY_NAMES
from trundle.cli import app
from trundle.errors import NumericsError
from trundle.results import Run
from trundle.version import __version__

COMMANDS = ("new", "check", "equations", "run", "schema")


def process(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "trundle", *words], capture_output=True, text=True, timeout=120, **options
    )


def test_help_names_every_command_and_status(trundle):
    answer = trundle("--help")
    assert answer.status == 0
    assert answer.err == ""
    assert all(f"    {name} " in answer.out or f"    {name}\n" in answer.out for name in COMMANDS)
    assert "exit status" in answer.out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_an_example(trundle, command):
    answer = trundle(command, "--help")
    assert answer.status == 0
    assert "example" in answer.out
    assert f"trundle {command}" in answer.out
    assert "--json" in answer.out
    assert "--quiet" in answer.out


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["run", "--help"], ["new", "--help"]])
def test_help_imports_nothing_heavy(words):
    done = process(*words, env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert done.returncode == 0
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    heavy = {
        "numpy",
        "casadi",
        "pydantic",
        "scipy",
        "sympy",
        "llvmlite",
        "yaml",
        "rich",
        "matplotlib",
        "xarray",
    }
    assert not loaded & heavy
    assert "argparse" in loaded  # the listing was read rightly


def test_a_run_without_figures_imports_only_what_it_needs(folder):
    done = process("run", "circle.yaml", "--no-figures", "--quiet", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert done.returncode == 0
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert not loaded & {"sympy", "xarray", "pandas", "matplotlib", "mujoco", "rich"}
    assert {"scipy", "casadi"} <= loaded


def test_version(trundle):
    assert trundle("--version").out == f"trundle {__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "usage: trundle"),
        (["rnu"], "did you mean 'run'?"),
        (["--quiet"], "no command"),
        (["circle.yaml"], "it is a file: trundle run circle.yaml"),
        (["simulate"], "it is called `trundle run FILE`"),
        (["linearize"], "in Python there is trundle.linearize"),
        (
            ["fly"],
            "known: check, drive, equations, estimate, export, inverse, lqr, new, profiles, run, scale, "
            "schema and 3 more.",
        ),
        (["run"], "FILE"),
        (["run", "circle.yaml", "--foo"], "--foo"),
        (["run", "circle.yaml", "--set", "d"], "expected NAME=VALUE, got 'd'"),
        (["run", "circle.yaml", "--method", "euler"], "euler"),
        (["run", "circle.yaml", "--samples", "many"], "many"),
        (["new"], "which robot?"),
        (["new", "swerve", "--modules", "two"], "two"),
        (["new", "swerve", "--wheels", "2"], "--wheels"),
    ],
)
def test_a_wrong_command_line_ends_with_2(trundle, words, said):
    answer = trundle(*words)
    assert answer.status == 2
    assert answer.out == ""
    assert said in answer.err
    assert "Traceback" not in answer.err


def test_a_wrong_command_line_is_an_object_with_json(trundle):
    answer = trundle("run", "circle.yaml", "--foo", "--json")
    assert answer.status == 2
    assert answer.data["error"]["exit_status"] == 2
    assert "--foo" in answer.data["error"]["message"]


def test_an_error_is_an_object_with_json(trundle, folder):
    (folder / "wrong.yaml").write_text(
        (folder / "circle.yaml").read_text().replace("radius: r,", "radios: r,", 1)
    )
    answer = trundle("run", "wrong.yaml", "--json")
    assert answer.status == 1
    error = answer.data["error"]
    assert error["file"] == "wrong.yaml"
    assert error["line"] == 7
    assert error["key"] == "robot.wheels.right.radios"
    assert "did you mean 'radius'?" in error["hint"]
    assert error["exit_status"] == 1
    assert "wrong.yaml:7" in answer.err


def raising(error):
    def execute(args, out):
        raise error

    return execute


def test_failed_numbers_end_with_3(trundle, monkeypatch):
    monkeypatch.setattr(app.schema, "execute", raising(NumericsError("singular at t = 1 s")))
    answer = trundle("schema", "--json")
    assert answer.status == 3
    assert answer.data["error"]["message"] == "singular at t = 1 s"
    assert "Traceback" not in answer.err


def test_a_bug_keeps_its_traceback_and_says_so(trundle, monkeypatch):
    monkeypatch.setattr(app.schema, "execute", raising(ZeroDivisionError("division by zero")))
    answer = trundle("schema", "--json")
    assert answer.status == 70
    assert "Traceback" in answer.err
    assert "bug in trundle" in answer.err
    assert answer.data["error"]["kind"] == "ZeroDivisionError"


def test_an_interrupt_ends_with_130_and_no_traceback(trundle, monkeypatch):
    monkeypatch.setattr(app.schema, "execute", raising(KeyboardInterrupt()))
    answer = trundle("schema")
    assert answer.status == 130
    assert answer.err == "interrupted\n"


@pytest.mark.slow
def test_a_closed_pipe_is_quiet():
    # the reader has ended when the schema comes
    code = "import sys, time; time.sleep(0.5); from trundle.cli import main; sys.exit(main())"
    command = f"{sys.executable} -c '{code}' schema"
    done = subprocess.run(
        ["bash", "-c", f"{command} | true; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    assert done.returncode == 141


def test_colours_only_on_a_terminal_and_never_with_no_color(monkeypatch):
    from trundle.cli.output import colours_on
    from trundle.show.summaries.lines import paint

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert colours_on(Terminal())
    assert paint("a", "bold", True) == "\033[1ma\033[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colours_on(Terminal())


@pytest.mark.slow
def test_every_command_is_reached_by_the_entry_point():
    done = process("schema", "--quiet")
    assert done.returncode == 0
    assert done.stdout.startswith("{")


@pytest.mark.slow
def test_every_command_that_writes_takes_output(trundle, folder):
    for words in (
        ["new", "pendulum", "--output", "pendulum.yaml"],
        ["schema", "--output", "schema.json"],
        ["equations", "circle.yaml", "--what", "kinematics", "--output", "equations.txt"],
        ["check", "circle.yaml", "--output", "robot.svg"],
    ):
        assert trundle(*words).status == 0, words
        assert (folder / words[-1]).stat().st_size > 500
        assert trundle(*words[:-2], "--out", f"other-{words[-1]}", "--quiet").out == "", words
        assert (folder / f"other-{words[-1]}").exists()
    assert trundle("run", "circle.yaml", "--no-figures", "--output", "here").status == 0
    assert (folder / "here" / "circle.nc").exists()


def test_names_of_files_command_no_terminal(trundle, folder):
    """What a terminal would obey, in a file's name and in a table's header, is shown as signs."""
    name = "\x1b]0;title\x07\x1b[2J\x9b2J.yaml"
    answer = trundle("check", name)
    assert answer.status == 1
    assert r"\x1b]0;title\x07\x1b[2J\x9b2J.yaml" in answer.err
    assert not set("\x1b\x07\x9b") & set(answer.err)
    text = repr(Run("a", [0.0, 1.0], {"b\x1b[2J": [0.0, 1.0]}))
    assert "\x1b" not in text


@ANY_NAMES
def test_json_has_no_control_characters(trundle, folder):
    (folder / "a\x85b\x7f.yaml").write_text("trundle: 1\nrobot: {}\n")
    answer = trundle("run", "a\x85b\x7f.yaml", "--json")
    assert answer.status == 1
    assert answer.data["error"]["file"] == "a\x85b\x7f.yaml"
    assert not any(0x7F <= ord(sign) <= 0x9F for sign in answer.out)


def test_a_backslash_in_a_files_name(trundle, folder):
    """The NetCDF library takes it for a step into a folder."""
    (folder / "a\\b").mkdir()
    file = folder / "a\\b" / "c\\d.yaml"
    file.write_text((folder / "circle.yaml").read_text())
    for _ in range(2):  # the second replaces what the first wrote: it knows it again
        answer = trundle("run", file, "--no-figures", "--output", folder / "a\\b" / "runs")
        assert answer.status == 0, answer.err
    run = Run.load(folder / "a\\b" / "runs" / "c\\d.nc")
    assert run.duration == 2.0
    assert sorted(path.name for path in (folder / "a\\b" / "runs").iterdir()) == [
        "c\\d.csv",
        "c\\d.nc",
        "c\\d.peaks.csv",
    ]


def test_what_several_figures_warn_of_is_said_once(capsys):
    notes = app.Notes()
    for message in ("the trunk isn't drawn", "the ground isn't drawn", "the trunk isn't drawn"):
        notes(UserWarning(message), UserWarning, "figure.py", 1)
    said = capsys.readouterr().err.splitlines()
    assert said == ["trundle: note: the trunk isn't drawn", "trundle: note: the ground isn't drawn"]
