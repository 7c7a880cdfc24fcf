"""Tools that build what was exported, such as compilers, and what they say."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from trundle.errors import TrundleError

_PATIENCE = 300  # s: whole programs of a large robot take a minute
# What a make that calls Trundle hands on, by which another make would print more.
_OF_MAKE = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")


def printed(command: Sequence[str], folder: str) -> str:
    """What a command prints; TrundleError with its first line of complaint where it fails or takes too long."""
    environment = {name: value for name, value in os.environ.items() if name not in _OF_MAKE}
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace", timeout=_PATIENCE,
            check=False, env=environment,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise TrundleError(f"{' '.join(command)} was not done after {_PATIENCE} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        said = next((line for line in lines if "error" in line), lines[0])
        raise TrundleError(f"{command[0]} failed: {said}")
    return done.stdout
