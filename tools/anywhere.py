"""Run some tests as they would run elsewhere: `python -m tools.anywhere` (`make anywhere`).

Settings that hurt are put together into two places, and every Python from 3.11 that is on this machine runs in one of
them at least. Another Python than this one gets an environment in out/anywhere, which stays there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
OLDEST, NEWEST = 11, 19  # minor versions that are looked for
# What reads and writes files, names and words, and what draws; numbers hang on none of this.
TESTS = [
    "cli", "documents", "results", "show/test_figures.py", "show/test_estimate_figure.py", "show/test_notebook.py",
    "test_docs.py", "test_gauges.py", "test_names.py", "test_operating_system.py", "test_progress.py", "test_words.py",
]  # fmt: skip


def places(folder: Path) -> dict[str, dict[str, str]]:
    """What is set in each place; `folder` has a name that files seldom have."""
    installed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    german = next((name for name in installed if name.startswith("de_DE.utf")), "C.UTF-8")
    return {
        "one thread, ASCII alone, far in the east, a narrow terminal, no home": {
            **threads(1),
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "TZ": "Pacific/Kiritimati",
            "COLUMNS": "40",
            "HOME": os.devnull,
        },
        f"eight threads, {german}, half an hour off in the west, a wide terminal, an odd folder": {
            **threads(8),
            "LC_ALL": german,
            "TZ": "America/St_Johns",
            "COLUMNS": "300",
            "TMPDIR": str(folder),
        },
    }


def threads(count: int) -> dict[str, str]:
    """What tells libraries of linear algebra how many threads they have."""
    return dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(count))


def pythons() -> Iterator[tuple[str, str]]:
    """Every version of Python that can be tested, this one first, and its program."""
    own = f"3.{sys.version_info.minor}"
    yield own, sys.executable
    shelf = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in (f"3.{minor}" for minor in range(OLDEST, NEWEST + 1)):
        kept = [str(path) for path in sorted(shelf.glob(f"{version}.*/bin/python3"))]
        found = shutil.which(f"python{version}")
        programs = [*kept[-1:], *([found] if found else [])]
        # what a version manager puts on the path may lead nowhere
        works = (
            each for each in programs if not subprocess.run([each, "-c", ""], capture_output=True).returncode
        )
        if version != own and (program := next(works, None)):
            folder = f"out/anywhere/{version}"
            made = subprocess.run(
                ["make", f"VENV={folder}", f"PYTHON={program}", "setup-dev"], cwd=ROOT, check=False
            )
            if made.returncode:
                print(f"Python {version} is left out: what tests need can't be installed for it")
            else:
                yield version, f"{folder}/bin/python"


def tested(python: str, settings: Mapping[str, str], workers: str) -> bool:
    """Whether the tests pass with a Python in a place."""
    command = [python, "-m", "pytest", "-q", "-n", workers, "-p", "no:cacheprovider"]
    command += [f"tests/{each}" for each in TESTS]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **settings}, check=False).returncode == 0


def main(workers: str = "2") -> int:
    """Say of every run where it was and whether all passed; 1 where one did not."""
    with tempfile.TemporaryDirectory(prefix="trundle täglich ") as folder:
        versions, there = list(pythons()), places(Path(folder)).items()
        if len(versions) == 1:
            print("there is no other Python from 3.11 on this machine")
        said = list[str]()
        for k in range(max(len(versions), len(there))):
            (version, python), (name, settings) = versions[k % len(versions)], list(there)[k % len(there)]
            print(f"=== Python {version}: {name}", flush=True)
            said.append(
                f"{'passed' if tested(python, settings, workers) else 'FAILED'}  Python {version}: {name}"
            )
    print("\n".join(said))
    return int(any(line.startswith("FAILED") for line in said))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
