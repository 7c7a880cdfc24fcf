"""The process around a command: full and closed streams, and signals at any time, without a traceback."""

import os
import signal
import subprocess
import sys
import time

import pytest

from parameters import mostly_slow

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell's streams and signals")
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")


def shell(command: str) -> subprocess.CompletedProcess[str]:
    command = command.replace("trundle", f"{sys.executable} -m trundle", 1)
    how = {"capture_output": True, "text": True, "errors": "replace", "timeout": 120}
    return subprocess.run(command, shell=True, **how)


@pytest.mark.parametrize("words", ["--help", "--version", "check circle.yaml", "check circle.yaml --json"])
@pytest.mark.parametrize(
    ("stream", "reason"),
    [pytest.param(">/dev/full", "No space left", marks=FULL), (">&-", "Bad file descriptor")],
)
@pytest.mark.slow
def test_standard_output_that_is_full_or_closed_is_told_in_a_line(folder, words, stream, reason):
    done = shell(f"trundle {words} {stream}")
    assert done.returncode == 1
    assert done.stderr.startswith(f"trundle: error: cannot write to standard output: {reason}")
    assert done.stderr.count("\n") == 1


@FULL
@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("trundle run circle.yaml --quiet --no-figures >&- 2>&- <&-", 0),
        ("trundle run circle.yaml --no-figures >/dev/null 2>/dev/full", 0),
        ("trundle run nothing.yaml --json >/dev/full", 1),
        ("trundle run nothing.yaml 2>/dev/full", 1),
        ("trundle run nothing.yaml 2>&-", 1),
        ("trundle nonsense 2>&- >&-", 2),
        ("trundle check - <&-", 1),
    ],
)
@pytest.mark.slow
def test_streams_that_are_not_needed_are_not_missed(folder, command, status):
    done = shell(command)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr
    if status == 0:
        assert (folder / "runs" / "circle" / "circle.csv").read_text().startswith("time,")


PICTURES = {"path.png", "states.png", "inputs.png", "contacts.png", "checks.png"}
# A command that stands in for `schema`, and says when it has begun.
STAND_IN = """
import hashlib, signal, sys, time
from trundle.cli import app, main
def execute(args, out):
    print("begun", flush=True)
    {body}
    return 0
app.schema.execute = execute
sys.argv = ["trundle", "schema"]
sys.exit(main())
"""
IN_C = "hashlib.pbkdf2_hmac('sha256', b'', b'', 2_000_000_000)  # many minutes, as a compiler's"
AS_ANOTHER = """
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        raise ValueError("SchemaError")"""
SWALLOWED = """
    class Callback:
        def __del__(self):
            time.sleep(600)
    Callback()
    time.sleep(600)"""


def heard() -> None:
    """Signals do to a new process what they do from a shell, also where the tests' own process ignores them."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


TOLD = {"stderr": subprocess.PIPE, "text": True, "preexec_fn": heard}


BODIES = {"asleep": "time.sleep(600)", "in C": IN_C, "as another": AS_ANOTHER, "swallowed": SWALLOWED}
_SIGNALS = [(number, body) for number in ("SIGINT", "SIGTERM", "SIGHUP") for body in BODIES]


@pytest.mark.parametrize(
    ("number", "body"),
    mostly_slow(_SIGNALS, [each for each in _SIGNALS if each[0] == "SIGINT" or each[1] == "asleep"]),
)
def test_signals_end_a_command_in_a_word(number, body):
    command = [sys.executable, "-c", STAND_IN.format(body=BODIES[body])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, **TOLD) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(getattr(signal, number))
        assert process.communicate(timeout=60)[1] == "interrupted\n"  # every body lasts ten minutes
    assert process.returncode == 130


def test_ctrl_c_ends_compiled_code_where_windows_listens():
    """By sockets instead of a pipe, and with no signal but Ctrl-C."""
    lacks = "import signal\ndel signal.SIGTERM, signal.SIGHUP\n"
    lacks += "from trundle import operating_system\noperating_system.SYSTEM = 'win32'\n"
    command = [sys.executable, "-c", lacks + STAND_IN.format(body=IN_C)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, **TOLD) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1] == "interrupted\n"
    assert process.returncode == 130


def test_signals_that_are_ignored_stay_so():
    body = "signal.raise_signal(signal.SIGINT)"
    program = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN){STAND_IN.format(body=body)}"
    assert subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE).returncode == 0


def test_ctrl_c_while_the_command_is_imported_ends_it_without_a_word():
    program = "import builtins, signal\nfrom trundle.cli import main\nplain = builtins.__import__\n"
    program += "def slow(*words):\n    signal.raise_signal(signal.SIGINT)\n    return plain(*words)\n"
    program += "builtins.__import__ = slow\nmain()"
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, **TOLD)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_an_interrupted_save_leaves_no_draft(number, tmp_path):
    body = f"from trundle.files import replacing\n    with replacing({str(tmp_path / 'a')!r}):\n        time.sleep(600)"
    command = [sys.executable, "-c", STAND_IN.format(body=body).replace('print("begun", flush=True)', "")]
    with subprocess.Popen(command, **TOLD) as process:
        while not list(tmp_path.glob(".trundle-*.part/a")):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(getattr(signal, number))
        assert process.communicate(timeout=60)[1] == "interrupted\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        "run ü.yaml",
        "check --full ü.yaml --figure ü.png",
        "new swerve ü2.yaml",
        "equations ü.yaml --output ü.txt",
    ],
)
@pytest.mark.parametrize("encoding", mostly_slow(["", "PYTHONIOENCODING=latin-1"], [""]))
@pytest.mark.slow
def test_names_and_signs_that_the_locale_lacks(folder, words, encoding):
    (folder / "circle.yaml").rename(folder / "ü.yaml")
    done = shell(f"LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 {encoding} trundle {words}")
    assert done.returncode == 0, done.stderr
    made = {path.name for path in folder.rglob("*") if path.is_file()} - {"ü.yaml", "kinematic.yaml"}
    assert made
    assert all(name.startswith("ü") or name in PICTURES for name in made)
