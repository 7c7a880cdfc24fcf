"""What differs between operating systems, in one place: nothing else asks which one it runs on, or what it lacks.

Windows has no locks on folders, no SIGHUP, and no way to replace a file that another program has open. What stands here
for it was tried with its lacks imitated, not on a machine that runs it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import ModuleType
from typing import NamedTuple, TextIO

SYSTEM = sys.platform
"""linux, darwin, win32, or another one's name."""

# How often and after how long (s) a file is tried again that Windows keeps: scanners open new files for an instant.
_TRIES, _PAUSE = 10, 0.1
# Variables that Windows' terminals set which obey the signs for colours.
_COLOURED = ("WT_SESSION", "ANSICON", "ConEmuANSI", "TERM", "TERM_PROGRAM")


def is_windows() -> bool:
    """Whether it is Windows."""
    return SYSTEM == "win32"


def processor() -> str:
    """What the system calls the processor's kind: x86_64, AMD64, arm64, aarch64."""
    import platform  # late, as all that the start of a command does without

    return platform.machine()


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where programs of this user keep what can be made again. RuntimeError: a user without a home."""
    if SYSTEM == "darwin":
        return Path.home() / "Library" / "Caches"
    if is_windows():
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def takes_colours(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a stream is a terminal that obeys the signs for colours."""
    known = not is_windows() or any(environment.get(name) for name in _COLOURED)
    return known and environment.get("TERM") != "dumb" and stream.isatty()


def c_function(name: str) -> int:
    """The address of a function of the C library; OSError where it has none of this name."""
    import ctypes
    import ctypes.util

    for library in (None, ctypes.util.find_library("m"), "ucrtbase"):
        try:
            function = getattr(ctypes.CDLL(library), name)
        except (OSError, AttributeError, TypeError):  # TypeError: Windows knows no library None
            continue
        return ctypes.cast(function, ctypes.c_void_p).value or 0
    raise OSError(f"the C library has no function '{name}'")


# --- files


def can_lock() -> bool:
    """Whether folders can be locked."""
    return _fcntl() is not None


def lock(folder: Path, *, wait: bool) -> int | None:
    """The handle of an open folder that nobody else has locked; None where somebody has, or nothing can be locked."""
    fcntl = _fcntl()
    if fcntl is None:
        return None
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def unlock(handle: int | None) -> None:
    """Give back what `lock` returned."""
    if handle is not None:
        os.close(handle)


def _fcntl() -> ModuleType | None:
    """The module of locks, which Windows lacks."""
    with suppress(ImportError):
        import fcntl

        return fcntl
    return None


def replace(draft: Path, place: Path) -> None:
    """Put a file in another one's place. On Windows, where an open file stays, it is tried for a second."""
    for _ in range(_TRIES if is_windows() else 0):
        with suppress(PermissionError):
            draft.replace(place)
            return
        time.sleep(_PAUSE)
    draft.replace(place)


def kept_open(error: OSError) -> bool:
    """Whether a file was refused that another program may have open."""
    return is_windows() and isinstance(error, PermissionError)


def with_slashes(name: str) -> str:
    r"""A name from a file with slashes between its folders, where somebody on Windows wrote backslashes, and without
    the one that an address has before a drive.

    >>> from trundle.operating_system import with_slashes
    >>> [with_slashes(name) for name in (r"meshes\arm.stl", "/C:/robots/arm.stl", "/robots/arm.stl")]
    ['meshes/arm.stl', 'C:/robots/arm.stl', '/robots/arm.stl']
    """
    name = name.replace("\\", "/")
    before_drive = name.startswith("/") and PureWindowsPath(name[1:]).drive.endswith(":")
    return name[1:] if before_drive else name


def leads_out(name: str) -> bool:
    """Whether a file's name, joined to a folder, may lead out of it on any system: by a drive, a root or "..".

    >>> from trundle.operating_system import leads_out
    >>> [leads_out(name) for name in ("a/b.c", "../b.c", "..\\\\b.c", "C:b.c", "/b.c")]
    [False, True, True, True, True]
    """
    kinds = PurePosixPath(name), PureWindowsPath(name)
    return any(path.drive or path.root or ".." in path.parts for path in kinds)


# --- signals


class Bell(NamedTuple):
    """What signals write to as they come, a file's or a socket's number, and a call that waits for that."""

    number: int
    wait: Callable[[], object]


def ending_signals() -> list[int]:
    """What ends a command: Ctrl-C, what `kill` and schedulers send, a terminal that is closed, Ctrl-Break."""
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


def bell() -> Bell:
    """A new one, for `signal.set_wakeup_fd`. Windows takes sockets; elsewhere a pipe needs no module to be loaded."""
    if is_windows():
        import socket

        near, far = socket.socketpair()
        far.setblocking(False)
        return Bell(far.fileno(), lambda: (near.recv(1), far))  # as long as somebody may wait, both stay open
    ear, mouth = os.pipe()
    os.set_blocking(mouth, False)
    return Bell(mouth, lambda: os.read(ear, 1))
