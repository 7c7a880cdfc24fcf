"""Trundle on a plain machine: what `pip install .` brings and nothing else (`make plain`).

    python -m tools.plain [--python PYTHON] [--only NAME] [WHAT]

WHAT is what pip installs, by default this checkout. In a new environment every module is imported, and commands, helps
and exports run. Then comes what needs an extra: it must say which, and with that it must work. Each extra is taken away
before the next. Ends with 1 where something doesn't hold.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from trundle.operating_system import is_windows

ROOT = Path(__file__).parents[1]
CIRCLE = "examples/diff_drive/circle.yaml"
# Files that import a library which a plain install lacks, and that library.
BEHIND = {
    "show/window/": "pygame",
    "exports/jax/": "jax",
}
ROBOTS = {
    "differential drive": CIRCLE,
    "swerve": "examples/swerve/four_modules.yaml",
    "arm": "examples/urdf/arm.urdf",
    "tricycle": "examples/tricycle/turn.yaml",
}
# Targets for bases on wheels alone.
REFUSED = {("arm", "java"), ("arm", "ros2")}
COMMANDS = [
    "drive --file examples/swerve/motions/forward_to_left.yaml --output drive",
    "inverse examples/limb/limb.yaml --motion examples/limb/motion.csv --output inverse",
    "estimate sensed.yaml log.csv --output estimate.nc --figure estimate.png",
    f"lqr {CIRCLE} --at v_x=1 omega=0 --tolerances v_x='5 cm/s' omega='5 deg/s' left_motor.voltage='6 V'"
    " right_motor.voltage='6 V' --figure poles.png",
    f"show {CIRCLE} --page --output circle.html",
    f"show {CIRCLE} --film --output circle.gif",
]
# A sensed robot and its log, for `trundle estimate`; a rover on a map.
INPUTS = """
import trundle
robot = trundle.catalog.differential_drive().with_sensors({"encoders": {"noise": 0.02}})
open("sensed.yaml", "w").write(trundle.documents.dump(robot))
run = trundle.roll(robot, 1.0, {"v_x": 0.5, "omega": 0.2}, samples=101)
trundle.measure(robot, run, seed=1).save("log.csv")
ground = "terrain: {surfaces: {map: {type: grid, file: map.tif, spacing: 10 m, edge: clamp}}}\\nrun: {duration: 0.1}"
rover = trundle.documents.dump(trundle.catalog.rocker_bogie())
open("mapped.yaml", "w").write(rover + ground)
"""
# What of every file can't be imported: the libraries that it names anywhere but for type checkers, and itself.
MODULES = """
import ast, importlib, importlib.util, json, pathlib, sys, trundle

def named(node):
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return set()
    inner = set().union(*map(named, ast.iter_child_nodes(node)))
    if isinstance(node, ast.Import):
        return inner | {alias.name.partition(".")[0] for alias in node.names}
    return inner | ({node.module.partition(".")[0]} if isinstance(node, ast.ImportFrom) else set())

root = pathlib.Path(trundle.__file__).parent
for path in sorted(root.rglob("*.py")):
    names = named(ast.parse(path.read_text(encoding="utf-8"))) - sys.stdlib_module_names
    lacking = [name for name in sorted(names) if importlib.util.find_spec(name) is None]
    try:
        if path.stem != "__main__":
            importlib.import_module(".".join(["trundle", *path.relative_to(root).with_suffix("").parts]))
        why = ""
    except BaseException as error:
        why = f"{type(error).__name__}: {error}"
    print(json.dumps([path.relative_to(root).as_posix(), lacking, why]))
"""
# In one process, as many commands follow each other: [status, what went to standard error] of each.
ANSWERS = """
import contextlib, io, json, sys
from trundle.cli import main
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(words)
    print(json.dumps([status, err.getvalue()]))
"""
SWEEP = f"sweep {CIRCLE} --vary 'r=14 cm:16 cm:3' --measure final.x --duration 0.1"
CLUSTER = f"""
import trundle
try:
    from distributed import Client
    client = Client(processes=False, dashboard_address=None)
except ImportError:
    client = "tcp://127.0.0.1:8786"
robots = dict(over={{"r": [0.14, 0.16]}}, measures=["final.x"], steps=10)
trundle.sweep({CIRCLE!r}, **robots, store="cluster.zarr", client=client)
"""
# What needs an extra, by its name: scripts, and command lines that begin with trundle.
EXTRAS: Mapping[str, Sequence[str]] = {
    "window": (
        f"import trundle; trundle.window.drive({CIRCLE!r}, duration=0.1)",
        f"import trundle; trundle.window.play(trundle.run({CIRCLE!r}, duration=0.1), close=True)",
    ),
    "geotiff": ("trundle run mapped.yaml --no-figures",),
    "logs": (
        "trundle estimate sensed.yaml log.mcap --columns left.angle=/wheels[0] 'right.angle=/wheels[1] [deg]'",
    ),
    "sweep": (f"trundle {SWEEP} --store sweep.zarr",),
    "cluster": (CLUSTER,),
    "cuda": (f"trundle {SWEEP} --device cuda",),
}
# Where no such device is, an extra can do no more than say so.
WITHOUT_DEVICE = "no GPU answers"


class Fault(Exception):
    """Something doesn't hold on a plain machine."""


@dataclass(frozen=True)
class Environment:
    """A new environment of a Python, and a folder with the examples that commands run in."""

    folder: Path
    place: Path

    @property
    def _programs(self) -> Path:
        return self.folder / ("Scripts" if is_windows() else "bin")

    def run(self, *command: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
        """A program of the environment, with its output; nothing of this process's Python is passed on."""
        own = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
        }
        own |= {
            "PATH": f"{self._programs}{os.pathsep}{own['PATH']}",
            "MPLBACKEND": "Agg",
            "SDL_VIDEODRIVER": "dummy",
        }
        program = shutil.which(command[0], path=str(self._programs)) or command[0]
        return subprocess.run(
            [program, *command[1:]],
            cwd=self.place,
            env=own,
            input=given or "",
            capture_output=True,
            text=True,
            check=False,
        )

    def needs(self, *command: str, given: str | None = None) -> str:
        """Standard output of what must go well; a Fault with all that was said where it doesn't."""
        done = self.run(*command, given=given)
        if done.returncode:
            raise Fault(f"{shlex.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def pip(self, *words: str) -> str:
        """What pip says."""
        return self.needs("python", "-m", "pip", "--disable-pip-version-check", *words)

    def packages(self) -> set[str]:
        """What is installed."""
        return {each["name"] for each in json.loads(self.pip("list", "--format", "json"))}


def made(python: str, folder: Path, what: str) -> Environment:
    """A new environment with `what` in it, and a folder with the examples and what commands read."""
    place = folder / "place"
    place.mkdir()
    shutil.copytree(ROOT / "examples", place / "examples")
    subprocess.run([python, "-m", "venv", str(folder / "env")], check=True)
    environment = Environment(folder / "env", place)
    environment.pip("install", "--quiet", what)
    environment.needs("python", "-c", INPUTS)
    (place / "map.tif").write_bytes(_tiff())
    (place / "log.mcap").write_bytes(_mcap())
    return environment


def _tiff() -> bytes:
    """A TIFF of 8 x 8 heights of 0."""
    # ImageWidth, ImageLength, BitsPerSample, Compression, Photometric, StripOffsets, RowsPerStrip, StripByteCounts
    tags = {256: 8, 257: 8, 258: 8, 259: 1, 262: 1, 273: 8, 278: 8, 279: 64}
    entries = b"".join(struct.pack("<HHII", tag, 3, 1, value) for tag, value in tags.items())
    return struct.pack("<2sHI64xH", b"II", 42, 72, len(tags)) + entries + bytes(4)


def _mcap() -> bytes:
    """A log of two messages in JSON."""

    def record(opcode: int, content: bytes) -> bytes:
        return struct.pack("<BQ", opcode, len(content)) + content

    channel = struct.pack("<HHI7sI4sI", 1, 0, 7, b"/wheels", 4, b"json", 0)
    records = [record(1, bytes(8)), record(4, channel)]
    for place in range(2):
        message = (
            struct.pack("<HIQQ", 1, place, place * 10**9, place * 10**9) + f"[{place}, {place}]".encode()
        )
        records.append(record(5, message))
    magic = b"\x89MCAP0\r\n"
    return magic + b"".join([*records, record(15, bytes(4)), record(2, bytes(20))]) + magic


def modules(environment: Environment) -> str:
    """Every module is imported and names no library that isn't there; those behind an extra wait for its alone."""
    found = [json.loads(line) for line in environment.needs("python", "-c", MODULES).splitlines()]
    wrong = []
    for file, lacking, why in found:
        behind = {library for place, library in BEHIND.items() if file.startswith(place)}
        if not {*lacking} <= behind or (why and not any(f"'{library}" in why for library in behind)):
            wrong.append(
                f"{file}: names {', '.join(lacking) or 'nothing that is missing'}; {why or 'it is imported'}"
            )
    if wrong:
        raise Fault("what a plain install lacks:\n" + "\n".join(wrong))
    return (
        f"{len(found)}, of which {sum(bool(why) for *_, why in found)} wait for {', '.join(BEHIND.values())}"
    )


def documented(page: str) -> Iterator[str]:
    """The lines of a page's ```sh blocks that call trundle, with those that a backslash continues."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        yield from (line for line in block.replace("\\\n", "").splitlines() if line.startswith("trundle "))


def commands(environment: Environment) -> str:
    """The documented lines run, two at a time where they don't follow from each other, and some that pages lack."""
    lines = list(documented("docs/commands.md"))
    for line in lines:
        environment.needs("bash", "-euo", "pipefail", "-c", line)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda line: environment.needs("trundle", *shlex.split(line)), COMMANDS))
    return f"{len(lines) + len(COMMANDS)} lines run"


def helps(environment: Environment) -> str:
    """`--help` of every command, and of every robot of the catalogue."""
    names = "from trundle import catalog; from trundle.cli import app; print(*app.COMMANDS); print(*catalog.names())"
    told, robots = environment.needs("python", "-c", names).splitlines()
    lines = [["--help"], *([name, "--help"] for name in told.split())]
    lines += [["new", robot, "--help"] for robot in robots.split()]
    for words, (status, said) in zip(lines, answers(environment, lines), strict=True):
        if status:
            raise Fault(f"trundle {shlex.join(words)} ended with {status}:\n{said}")
    return f"{len(lines)} told"


def answers(environment: Environment, lines: Sequence[Sequence[str]]) -> list[tuple[int, str]]:
    """Status and standard error of command lines, one after the other in one process."""
    told = environment.needs("python", "-c", ANSWERS, given=json.dumps(lines)).splitlines()
    return [(status, said) for status, said in map(json.loads, told)]


def exports(environment: Environment) -> str:
    """Every target of every robot is written, or refused in words; one that isn't there is answered with another."""
    names = environment.needs(
        "python", "-c", "from trundle.exports.targets import TARGETS; print(*TARGETS)"
    ).split()
    cases = [(robot, target) for robot in ROBOTS for target in names]
    lines = [
        ["export", ROBOTS[robot], "--to", to, "--output", f"exports/{robot}-{to}"] for robot, to in cases
    ]
    wrong = [
        f"{robot} to {target}: {said}"
        for (robot, target), (status, said) in zip(cases, answers(environment, lines), strict=True)
        if status != ((robot, target) in REFUSED) or "Traceback" in said
    ]
    misspelt = environment.run("trundle", "export", CIRCLE, "--to", "fortan", "--output", "x")
    if misspelt.returncode != 1 or "did you mean 'fortran'" not in misspelt.stderr:
        wrong.append(f"a misspelt target: {misspelt.stderr}")
    if wrong:
        raise Fault("exports:\n" + "\n".join(wrong))
    return f"{len(ROBOTS)} robots to {len(names)} targets, {len(REFUSED)} refused"


def extra(environment: Environment, name: str) -> str:
    """What needs an extra says so; what it says to install makes it work; then that is taken away again."""
    cases = [_command(text) for text in EXTRAS[name]]
    hint = f"pip install 'trundle[{name}]'"
    for case in cases:
        done = environment.run(*case)
        told = done.stderr if case[0] == "trundle" else done.stderr.partition("InputError")[2]
        if done.returncode != 1 or hint not in told or (case[0] == "trundle" and "Traceback" in told):
            raise Fault(f"{shlex.join(case)} without [{name}] ended with {done.returncode}:\n{done.stderr}")
    before = environment.packages()
    environment.pip("install", "--quiet", f"trundle[{name}]")
    for case in cases:
        done = environment.run(*case)
        if done.returncode and not (name == "cuda" and WITHOUT_DEVICE in done.stderr):
            raise Fault(
                f"{shlex.join(case)} with [{name}] ended with {done.returncode}:\n{done.stdout}{done.stderr}"
            )
    added = sorted(environment.packages() - before)
    environment.pip("uninstall", "--quiet", "--yes", *added)
    return f"works alone ({', '.join(added)})"


def _command(text: str) -> list[str]:
    return shlex.split(text) if text.startswith("trundle ") else ["python", "-c", text]


CHECKS = {"modules": modules, "helps": helps, "commands": commands, "exports": exports}


def attempt(python: str, what: str, only: Sequence[str] = ()) -> None:
    """Install and check, a line a check; SystemExit with what was said where one doesn't hold."""
    with TemporaryDirectory() as scratch:
        environment = made(python, Path(scratch), what)
        size = sum(each.stat().st_size for each in environment.folder.rglob("*") if each.is_file())
        print(f"{python}: {len(environment.packages())} packages, {size / 1e6:.0f} MB", flush=True)
        for name in only or (*CHECKS, *EXTRAS):
            try:
                said = CHECKS[name](environment) if name in CHECKS else extra(environment, name)
            except Fault as fault:
                raise SystemExit(f"{name}: {fault}") from None
            print(f"{name}: {said}", flush=True)


def main() -> int:
    """Parse and check."""
    parser = argparse.ArgumentParser(prog="python -m tools.plain", description=__doc__)
    parser.add_argument(
        "what", nargs="?", default=str(ROOT), help="what pip installs (default: this checkout)"
    )
    parser.add_argument("--python", default=sys.executable, help="of which the environment is made")
    parser.add_argument(
        "--only", action="append", choices=[*CHECKS, *EXTRAS], help="one check (as often as needed)"
    )
    args = parser.parse_args()
    attempt(args.python, args.what, args.only or ())
    return 0


if __name__ == "__main__":
    sys.exit(main())
