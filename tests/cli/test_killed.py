"""Commands killed at any instant, and onto outputs that are full, closed or read-only: what is there stays whole."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from trundle.results import Run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="commands are forked from one that is warm")

# Runs commands in children of a process that has imported everything; says each one's number, and its exit status.
SERVER = """
import json, os, resource, sys
from trundle.cli import main
for words in (["run", "circle.yaml", "--out", "warm"], ["equations", "circle.yaml", "--output", "warm/a"]):
    main([*words, "--quiet"])
print("warm", flush=True)
for line in sys.stdin:
    case = json.loads(line)
    if (pid := os.fork()) == 0:
        status = 99
        try:
            for number in (1, 2):
                os.dup2(os.open(case["stream"], os.O_WRONLY), number)
            if case["limit"] is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (case["limit"], case["limit"]))
            if case["stranger"] and os.geteuid() == 0:
                os.setuid(65534)
            sys.argv = ["trundle", *case["words"]]
            status = main()
        finally:
            os._exit(status)
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""
COMMANDS = {
    "run": ["run", "circle.yaml", "--out", "out"],
    "numbers": ["run", "circle.yaml", "--out", "out", "--no-figures"],
    "equations": ["equations", "circle.yaml", "--what", "kinematics", "--output", "out/equations.tex"],
    "check": ["check", "circle.yaml", "--figure", "out/robot.png"],
    "new": ["new", "pendulum", "out/pendulum.yaml", "--force"],
    "schema": ["schema", "--output", "out/schema.json"],
}
FOREIGN = {
    "notes.txt": b"precious",
    ".mine.part": b"precious",
    "circle.csv.bak": b"time,x\n",
    "contacts.pdf": b"%PDF precious",
}


@pytest.fixture
def start(folder):
    """start(name, ...) starts a command and returns its process's number; its status is the next line."""
    (folder / "out").mkdir()
    for name, content in FOREIGN.items():
        (folder / "out" / name).write_bytes(content)
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout.readline() == "warm\n"

        def started(name, *more, limit=None, stranger=False, stream=os.devnull):
            case = {"words": [*COMMANDS[name], *more], "limit": limit, "stranger": stranger, "stream": stream}
            print(case)
            server.stdin.write(f"{json.dumps(case)}\n")
            server.stdin.flush()
            return int(server.stdout.readline())

        def status():
            return int(server.stdout.readline())

        started.status = status
        yield started
        server.stdin.close()


def look(out: Path) -> None:
    """Fail where a file is half a one, or where one of somebody else was touched."""
    for path in out.iterdir():
        if path.is_dir():
            assert path.name.startswith(".trundle-")
            continue
        content = path.read_bytes()
        if path.name in FOREIGN:
            assert content == FOREIGN[path.name]
        elif path.name.endswith(".peaks.csv"):
            assert {line.count(b",") for line in content.splitlines()} == {6}
        elif path.suffix in (".nc", ".csv"):
            assert len(Run.load(path)) == 21
        elif path.suffix == ".png":
            assert content.endswith(b"IEND\xaeB`\x82")
        elif path.suffix == ".json":
            json.loads(content)
        else:
            assert content.endswith((b"written by trundle 0.1.0\n", b"}\n", b"\n"))
    assert set(FOREIGN) <= {path.name for path in out.iterdir()}


@pytest.mark.campaign
def test_kills_at_random_instants(start, folder, campaign):
    out, lasting, names = folder / "out", {}, list(COMMANDS)
    for name in names:
        began = time.perf_counter()
        start(name)
        assert start.status() == 0
        lasting[name] = time.perf_counter() - began
    ended = []
    for rng in campaign(1000):
        name = rng.choice(names, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1])
        pid = start(name, *(["--duration", f"{rng.integers(1, 9)}"] if name in ("run", "numbers") else []))
        time.sleep(lasting[name] * rng.uniform(0, 1.1))
        with suppress(ProcessLookupError):
            os.kill(pid, rng.choice([9, 9, 9, 15, 2, 1]))
        ended.append(start.status())
        assert ended[-1] in (0, 130, -9, -15, -2, -1)
        look(out)
        start("numbers")
        assert start.status() == 0
        assert not list(out.glob(".trundle-*"))
        assert Run.load(out / "circle.nc").duration == Run.load(out / "circle.csv").duration == 2.0
    print({status: ended.count(status) for status in set(ended)})


def snapshot(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir()}


@pytest.mark.campaign
def test_outputs_that_are_full_and_closed_or_read_only(start, folder, campaign):
    out = folder / "out"
    for name in COMMANDS:
        start(name)
        assert start.status() == 0
    whole = sum(path.stat().st_size for path in out.iterdir())
    before = snapshot(out)
    for rng in campaign(200):
        name = rng.choice(list(COMMANDS))
        way = rng.choice(["full", "read-only", "no output"])
        if way == "full":  # a limit to a file's size is told as a full disk is
            largest = {"run": "circle.nc", "numbers": "circle.nc", "equations": "equations.tex"} | {
                "check": "robot.png",
                "new": "pendulum.yaml",
                "schema": "schema.json",
            }
            start(name, limit=int(rng.integers(0, len(before[largest[name]]))))
            assert start.status() == 1
            assert snapshot(out) == before
        elif way == "read-only":
            out.chmod(0o555)
            start(name, stranger=True)
            assert start.status() == 1
            out.chmod(0o755)
            assert snapshot(out) == before
        elif os.path.exists("/dev/full"):
            start(name, stream="/dev/full")
            assert start.status() == 1
            look(out)
            before = snapshot(out)
        assert not list(out.glob(".trundle-*"))
    assert abs(sum(path.stat().st_size for path in out.iterdir()) - whole) < 1000
