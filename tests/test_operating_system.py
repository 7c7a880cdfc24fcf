"""What differs between operating systems stands in one module, and its other branches work here, too."""

import io
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path, PurePosixPath

import numpy as np
import pytest

import trundle
from imitated_windows import guarded, is_held
from trundle import operating_system
from trundle.cli.run import _robot_of_a_store
from trundle.documents.height_files import read_heights
from trundle.documents.meshes import find_mesh
from trundle.errors import InputError
from trundle.exports.fmu import _place
from trundle.exports.package import MANIFEST, Package, write
from trundle.files import locked, replacing
from trundle.results import Batch, Run, netcdf

ROOT = Path(__file__).parents[1]
OWN = ROOT / "src" / "trundle" / "operating_system.py"
# What asks which system this is, or what it lacks.
ASKS = re.compile(
    r"\bsys\.platform\b|\bos\.name\b|\bplatform\.(system|machine)\(|\bos\.sep\b"
    r"|\b(fcntl|msvcrt|winreg|termios|pwd)\b|\bhasattr\((os|signal|sys|time), |\bset_start_method\b|\bos\.fork\b"
    r"|\bSIG(TERM|HUP|KILL|BREAK)\b.*getattr|\bwindll\b"
)


@pytest.fixture
def windows(monkeypatch):
    monkeypatch.setattr(operating_system, "SYSTEM", "win32")


@pytest.fixture
def without_locks(monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)


def test_one_module_asks():
    found = {
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for folder in ("src/trundle", "tools")
        for path in (ROOT / folder).rglob("*.py")
        if path != OWN
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if ASKS.search(line) and not line.lstrip().startswith("#")
    }
    # A path's name is split into parts by whatever divides them; nothing branches.
    assert {line.partition(":")[0] for line in found} <= {"src/trundle/files.py"}
    assert len(found) <= 1
    assert ASKS.search('if sys.platform == "win32":')
    assert ASKS.search("import fcntl")


# --- commands where much is missing

COMMANDS = """
new differential_drive circle.yaml
check circle.yaml --figure robot.png
run circle.yaml --duration 0.2 --out runs --quiet
run circle.yaml --duration 0.2 --out runs --quiet
run circle.yaml --duration 0.2 --output run.nc --quiet
run circle.yaml --duration 0.2 --output run.nc --quiet
equations circle.yaml --output circle.tex
equations circle.yaml --output circle.tex
export circle.yaml --to c --output package --quiet
export circle.yaml --to c --output package --quiet
show circle.yaml --output page.html
"""


@pytest.mark.slow
def test_commands_work_where_windows_lacks_what_they_use(tmp_path):
    """Twice where files are replaced. Nothing reads or writes text in the system's own encoding."""
    command = [sys.executable, "-X", "warn_default_encoding", str(ROOT / "tests" / "imitated_windows.py")]
    environment = os.environ | {"PYTHONIOENCODING": "cp1252", "MPLBACKEND": "Agg"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, input=COMMANDS.strip(), capture_output=True, encoding="cp1252"
    )
    assert done.returncode == 0, done.stderr
    assert {"robot.png", "runs", "run.nc", "circle.tex", "package", "page.html"} <= {
        path.name for path in tmp_path.iterdir()
    }
    assert not list(tmp_path.rglob(".trundle-*"))


# --- files


def test_without_locks_files_are_written_and_nobody_is_refused(without_locks, tmp_path):
    assert not operating_system.can_lock()
    left = (
        tmp_path / ".trundle-x.part"
    )  # by a process that was killed, or one that still writes: nobody knows
    left.mkdir()
    with replacing(tmp_path / "a.txt") as draft:
        draft.write_text("new", encoding="utf-8")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "new"
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", left.name}
    with locked(tmp_path) as first, locked(tmp_path) as second:
        assert (first, second) == (True, True)


@pytest.mark.skipif(not operating_system.can_lock(), reason="folders can't be locked here")
def test_with_locks_a_second_one_waits_or_is_refused(tmp_path):
    with locked(tmp_path) as first, locked(tmp_path) as second:
        assert (first, second) == (True, False)


@pytest.fixture
def a_file_that_is_open(monkeypatch, tmp_path):
    """A file that another program keeps for so many tries; how often it was tried."""
    tries, plain = [], Path.replace

    def kept(for_tries):
        def replace(draft, place):
            tries.append(place)
            if len(tries) <= for_tries:
                raise PermissionError(13, "Permission denied")
            return plain(draft, place)

        monkeypatch.setattr(Path, "replace", replace)
        monkeypatch.setattr(operating_system, "_PAUSE", 0.0)
        (tmp_path / "run.csv").write_text("old", encoding="utf-8")
        return tmp_path / "run.csv", tries

    return kept


def test_a_file_that_a_scanner_opens_for_an_instant_is_tried_again(windows, a_file_that_is_open):
    path, tries = a_file_that_is_open(3)
    with replacing(path) as draft:
        draft.write_text("new", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == "new"
    assert len(tries) == 4


def test_a_file_that_stays_open_is_told_and_stays(windows, a_file_that_is_open):
    path, tries = a_file_that_is_open(1000)
    with pytest.raises(InputError, match="Permission denied") as told, replacing(path) as draft:
        draft.write_text("new", encoding="utf-8")
    assert "close it where it is open" in told.value.hint
    assert path.read_text(encoding="utf-8") == "old"
    assert [each.name for each in path.parent.iterdir()] == ["run.csv"]
    assert len(tries) == 11


def test_elsewhere_it_is_tried_once(monkeypatch, a_file_that_is_open):
    monkeypatch.setattr(operating_system, "SYSTEM", "linux")
    path, tries = a_file_that_is_open(1000)
    with pytest.raises(InputError) as told, replacing(path) as draft:
        draft.write_text("new", encoding="utf-8")
    assert "may you write" in told.value.hint
    assert len(tries) == 1


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="nobody says what is open here")
@pytest.mark.parametrize("name", ["run.nc", "run.csv", "batch.nc"])
def test_what_was_loaded_can_be_saved_in_its_place(name, tmp_path, monkeypatch):
    """No file that was read is still open or mapped: Windows would not let it be replaced."""
    time = np.linspace(0, 1, 5)
    batch = Batch("a", time, ["x"], np.ones((5, 1, 3)))
    thing = Run("a", time, {"x": np.arange(5.0)}) if name.startswith("run") else batch
    path = tmp_path / name
    thing.save(path)
    with path.open("rb"):
        assert is_held(path)
    for call in ("replace", "rename", "unlink", "remove"):
        monkeypatch.setattr(os, call, guarded(getattr(os, call)))
    back = type(thing).load(path)
    assert not is_held(path)
    back.save(path)
    np.testing.assert_array_equal(type(thing).load(path)["x"], thing["x"])


# --- names of files


def test_a_drive_s_colon_is_none_of_a_sweep_s_robot():
    assert _robot_of_a_store(r"C:\sweeps\out.zarr:1234") == (r"C:\sweeps\out.zarr", 1234)
    assert _robot_of_a_store("out.zarr:7") == ("out.zarr", 7)
    for text in (r"C:\sweeps\out.zarr", "out.zarr", ":3", "out.zarr:", "out.zarr:²", "out.zarr:-1"):
        with pytest.raises(InputError, match="expected STORE:ROBOT"):
            _robot_of_a_store(text)


def test_messages_name_a_drive_and_a_line():
    error = InputError("is wrong", file=r"C:\robots\a.yaml", line=12, key="robot.base")
    assert str(error) == r"C:\robots\a.yaml:12: robot.base: is wrong"


def test_a_description_may_name_its_files_with_backslashes(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "volts.csv").write_bytes(b"time,left_motor.voltage\r\n0,1\r\n1,2\r\n")
    (tmp_path / "tables" / "arm.stl").touch()
    for name in ("tables/arm.stl", r"tables\arm.stl", r".\tables\arm.stl", r"package://tables\arm.stl"):
        folder = tmp_path / "tables" if name.startswith("package") else tmp_path
        assert find_mesh(name, str(folder)) == tmp_path / "tables" / "arm.stl"
    for name in (
        r"..\..\arm.stl",
        r"package://..\arm.stl",
        r"C:\robots\arm.stl",
        "file:///C:/robots/arm.stl",
    ):
        with pytest.raises(InputError):
            find_mesh(name, str(tmp_path / "tables" / "deep"))
    text = trundle.documents.dump(trundle.catalog.differential_drive())
    run = "run:\n  duration: 1 s\n  inputs:\n    left_motor.voltage: {file: 'tables\\volts.csv'}\n"
    (tmp_path / "a.yaml").write_bytes(f"{text}{run}".replace("\n", "\r\n").encode())
    assert trundle.run(tmp_path / "a.yaml")["left_motor.voltage"][-1] == 2.0


def test_a_package_s_list_of_files_leads_nowhere_else(tmp_path):
    folder = write(Package({"a.c": "int a;"}, "", {}), tmp_path / "out")
    manifest = folder / MANIFEST
    text = manifest.read_text(encoding="utf-8")
    for name in (r"..\mine.txt", r"C:mine.txt", r"C:\mine.txt", r"\mine.txt"):
        (folder / name).write_text("mine", encoding="utf-8")  # elsewhere on Windows
        manifest.write_text(text.replace('"a.c"', f'"{name}"'.replace("\\", "\\\\")), encoding="utf-8")
        write(Package({"a.c": "int a;"}, "", {}), folder, force=True)
        assert (folder / name).exists()


def test_a_backslash_divides_folders_on_windows_only(windows, tmp_path):
    path = tmp_path / "a\\b.nc"
    with netcdf._nameable(path) as found:
        assert found == path


# --- what differs beside files


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("linux", {}, "home/.cache"),
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x"),
        ("darwin", {"XDG_CACHE_HOME": "/x"}, "home/Library/Caches"),
        ("win32", {}, "home/AppData/Local"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local"),
    ],
)
def test_each_system_has_its_place_for_caches(monkeypatch, system, variables, expected):
    monkeypatch.setattr(operating_system, "SYSTEM", system)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    assert PurePosixPath(operating_system.cache_folder(variables)) == PurePosixPath(expected)


@pytest.mark.parametrize(
    ("system", "processor", "two", "three"),
    [
        ("linux", "x86_64", ("linux64", ".so"), ("x86_64-linux", ".so")),
        ("darwin", "arm64", None, ("aarch64-darwin", ".dylib")),
        ("win32", "AMD64", ("win64", ".dll"), ("x86_64-windows", ".dll")),
        ("freebsd14", "amd64", None, None),
    ],
)
def test_fmus_call_every_system_by_its_name(monkeypatch, system, processor, two, three):
    monkeypatch.setattr(operating_system, "SYSTEM", system)
    monkeypatch.setattr(operating_system, "processor", lambda: processor)
    assert (_place("2.0"), _place("3.0")) == (two, three)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_windows_terminals_that_know_colours_get_some(monkeypatch):
    for system, variables, expected in (
        ("linux", {}, True),
        ("linux", {"TERM": "dumb"}, False),
        ("win32", {}, False),
        ("win32", {"WT_SESSION": "1"}, True),
        ("win32", {"TERM": "dumb"}, False),
    ):
        monkeypatch.setattr(operating_system, "SYSTEM", system)
        assert operating_system.takes_colours(Terminal(), variables) is expected
        assert not operating_system.takes_colours(io.StringIO(), variables)


def test_cores_are_counted_where_nobody_says_which(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert operating_system.available_cores() == (os.cpu_count() or 1)


def test_the_c_library_is_looked_for_under_its_names(monkeypatch):
    import ctypes

    plain, asked = ctypes.CDLL, []

    def as_on_windows(name, *more):
        asked.append(name)
        if name is None:
            raise TypeError("LoadLibrary() argument 1 must be str, not None")
        return plain(None if name == "ucrtbase" else name, *more)

    expected = operating_system.c_function("cos")
    monkeypatch.setattr(ctypes, "CDLL", as_on_windows)
    monkeypatch.setattr("ctypes.util.find_library", lambda _name: "libnone.so")
    assert operating_system.c_function("cos") == expected
    assert asked == [None, "libnone.so", "ucrtbase"]
    with pytest.raises(OSError, match="no function 'nonsense_'"):
        operating_system.c_function("nonsense_")


# --- signals


def test_signals_that_a_system_lacks_are_left_out(monkeypatch):
    for name in ("SIGTERM", "SIGHUP"):
        monkeypatch.delattr(signal, name, raising=False)
    monkeypatch.setattr(signal, "SIGBREAK", 21, raising=False)
    assert operating_system.ending_signals() == [signal.SIGINT, 21]


@pytest.mark.parametrize("system", ["win32", "linux"])
def test_signals_ring(monkeypatch, system):
    monkeypatch.setattr(operating_system, "SYSTEM", system)
    heard = threading.Event()
    bell = operating_system.bell()
    threading.Thread(target=lambda: (bell.wait(), heard.set()), daemon=True).start()
    before, plain = signal.set_wakeup_fd(bell.number), signal.signal(signal.SIGINT, lambda *_: None)
    try:
        assert not heard.wait(0.05)
        signal.raise_signal(signal.SIGINT)
        assert heard.wait(5)
    finally:
        signal.signal(signal.SIGINT, plain)
        signal.set_wakeup_fd(before)


# --- text

WRITTEN = {
    "robot.yaml": ("# Räuber\n" + trundle.documents.dump(trundle.catalog.pendulum()), trundle.load),
    "robot.urdf": (
        '<?xml version="1.0"?>\n<robot name="r"><!-- Räuber --><link name="a"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>\n',
        trundle.load,
    ),
    "walk.csv": ("# Räuber\ntime [ms],knee [deg]\n0,0\n10,3\n", trundle.read_recording),
    "walk.sto": (
        "Räuber\nversion=1\nnRows=2\nnColumns=2\ninDegrees=yes\nendheader\ntime\tknee\n0\t0\n1\t10\n",
        trundle.read_recording,
    ),
    "way.path": (
        (ROOT / "examples/swerve/paths/score.path").read_text(encoding="utf-8").replace("{", '{"ä": "ä",', 1),
        trundle.read_path,
    ),
    "map.asc": ("ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n0 1\n2 3\n", read_heights),
}


def shown(thing):
    """Its repr but for places in memory."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(thing))


@pytest.mark.parametrize("name", WRITTEN)
def test_texts_from_windows_are_read_or_refused_in_a_word(name, tmp_path):
    text, read = WRITTEN[name]
    path, lines = tmp_path / name, text.replace("\n", "\r\n")
    path.write_bytes(text.encode())
    expected = shown(read(path))
    for content in (lines.encode(), lines.encode("utf-8-sig"), text.replace("\n", "\r").encode()):
        path.write_bytes(content)
        assert shown(read(path)) == expected
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        path.write_bytes(lines.encode(encoding))
        with pytest.raises(InputError, match="is UTF-16 text, and UTF-8 was expected"):
            read(path)
    path.write_bytes(lines.encode("cp1252"))
    if not text.isascii():
        with pytest.raises(InputError, match="is not UTF-8 text: a byte E4 stands in this line") as told:
            read(path)
        assert told.value.line == text[: text.index("ä")].count("\n") + 1
