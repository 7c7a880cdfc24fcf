"""What Windows lacks or refuses, imitated in this process; as a program it runs lines of `trundle` commands so.

    python tests/imitated_windows.py <commands

There are no locks, no forks, no SIGTERM, and a file that this process has open or mapped stays where it is.
"""

import errno
import os
import shlex
import signal
import stat
import sys
import warnings
from collections.abc import Callable
from typing import Any

_MODULES = ("fcntl", "resource", "termios", "pwd", "grp")
_SIGNALS = ("SIGTERM", "SIGHUP", "SIGKILL", "SIGQUIT")
_CALLS = ("fork", "sched_getaffinity", "geteuid", "getuid", "set_blocking", "O_DIRECTORY", "O_NOFOLLOW")
_TAKEN = "The process cannot access the file because it is being used by another process"


def is_held(path: Any) -> bool:
    """Whether this process has an ordinary file open or mapped (where there is a /proc)."""
    try:
        state = os.lstat(path)
    except (OSError, TypeError):
        return False
    if not stat.S_ISREG(state.st_mode):
        return False
    for number in os.listdir("/proc/self/fd"):
        try:
            opened = os.stat(f"/proc/self/fd/{number}")
        except OSError:  # the listing's own
            continue
        if (opened.st_dev, opened.st_ino) == (state.st_dev, state.st_ino):
            return True
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return any(line.split()[4:6] == [str(state.st_ino), os.path.realpath(path)] for line in maps)


def guarded(call: Callable[..., Any]) -> Callable[..., Any]:
    """A call of `os` on one or two paths that refuses files which are held."""

    def refusing(*paths: Any, dir_fd: int | None = None, **how: Any) -> Any:
        base = "" if dir_fd is None else os.readlink(f"/proc/self/fd/{dir_fd}")
        for path in paths:
            if is_held(os.path.join(base, os.fspath(path))):
                raise PermissionError(errno.EACCES, _TAKEN, path)
        return call(*paths, **how) if dir_fd is None else call(*paths, dir_fd=dir_fd, **how)

    return refusing


def imitate() -> None:
    """From now on, for good."""
    for module in _MODULES:
        sys.modules[module] = None  # type: ignore[assignment]
    for name in _SIGNALS:
        delattr(signal, name)
    for name in _CALLS:
        delattr(os, name)
    if os.path.isdir("/proc/self/fd"):
        for name in ("replace", "rename", "unlink", "remove"):
            setattr(os, name, guarded(getattr(os, name)))
    from trundle import operating_system

    operating_system.SYSTEM = "win32"


def main() -> int:
    """Run the commands; the status of the first that fails."""
    imitate()
    # Text that a file's reader leaves to the system's encoding would differ there.
    warnings.filterwarnings("error", category=EncodingWarning, module="trundle")
    from trundle.cli import main as trundle

    for line in sys.stdin:
        if status := trundle(shlex.split(line)):
            print(f"{status}: {line}", file=sys.stderr)
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
