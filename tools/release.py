"""What is released: wheel and source archive, built twice, compared, checked and tried (`make release`).

    python -m tools.release FOLDER        # writes them into FOLDER, by default dist/

Both are built from the last commit, in two folders, with the commit's time as theirs: their bytes must be equal. Then
`twine check` looks at what a package index would show. Then the wheel goes into a new environment of every supported
Python on this machine, with what it needs to run and nothing else, and `tools.plain` tries it there.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tools import plain

ROOT = Path(__file__).parents[1]
_PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")


def build(folder: Path, epoch: int) -> list[Path]:
    """Wheel and source archive of the last commit, in `folder`; all that they hold is as old as the commit."""
    with TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        tree.mkdir()
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(tree, filter="data")
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
        _told(command, cwd=tree, env=_as_old(epoch))
    for path in folder.glob("*.tar.gz"):
        _repack(path, epoch)
    return sorted(folder.iterdir())


def _told(command: list[str], **more: Any) -> None:
    """Run a command in silence; SystemExit with all that it said where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def _as_old(epoch: int) -> dict[str, str]:
    return {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "PYTHONHASHSEED": "0"}


def _repack(path: Path, epoch: int) -> None:
    """A source archive with the members in order, all of one age and of nobody: setuptools writes the time of day."""
    whole = io.BytesIO()
    with (
        tarfile.open(path) as given,
        tarfile.open(fileobj=whole, mode="w", format=tarfile.PAX_FORMAT) as made,
    ):
        for member in sorted(given.getmembers(), key=lambda each: each.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            made.addfile(member, given.extractfile(member) if member.isreg() else None)
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=epoch) as packed:
        packed.write(whole.getvalue())


def check(found: list[Path], again: list[Path]) -> None:
    """Both builds have the same bytes, and twine has no complaint; SystemExit where not."""
    if [path.name for path in found] != [path.name for path in again]:
        raise SystemExit(f"two builds have different files: {found}, {again}")
    for first, second in zip(found, again, strict=True):
        if first.read_bytes() != second.read_bytes():
            raise SystemExit(f"{first.name} has other bytes in a second build")
    _told([sys.executable, "-m", "twine", "check", "--strict", *map(str, found)])


def _runs(python: str) -> bool:
    """Whether such a Python is there and starts: a name may lead to one that was switched off."""
    return bool(shutil.which(python)) and not subprocess.run([python, "-V"], capture_output=True).returncode


def main() -> int:
    """Build, check, try; the files lie in the folder only where all went well."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "dist", help="where the files go")
    parser.add_argument("--extras", action="store_true", help="try helps, exports and every extra, too")
    args = parser.parse_args()
    told = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True)
    epoch = int(told.stdout)
    with TemporaryDirectory() as scratch:
        places = [Path(scratch) / name for name in ("first", "second")]
        for place in places:
            place.mkdir()
        found, again = (build(place, epoch) for place in places)
        check(found, again)
        print("built twice with equal bytes:", *(path.name for path in found), flush=True)
        wheel = next(path for path in found if path.suffix == ".whl")
        for python in filter(_runs, _PYTHONS):
            plain.attempt(python, str(wheel), () if args.extras else ("modules", "commands"))
        args.folder.mkdir(parents=True, exist_ok=True)
        for path in found:
            shutil.copy2(path, args.folder / path.name)
    print(f"wrote {args.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
