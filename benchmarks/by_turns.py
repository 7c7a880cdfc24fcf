"""The benchmarks themselves in two checkouts by turns: the median of the ratios of what both measure."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.compare import HERE, SLOWER, environment
from benchmarks.measure import Row
from trundle.errors import InputError

UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}  # counts and megabytes are what they are
PREFIXES = {"G": 1e9, "M": 1e6, "k": 1e3}


def by_turns(there: Path, names: Sequence[str], rounds: int, quick: bool) -> Iterator[Row]:
    """Rows of what both checkouts measure under `names`; a ratio above 1 is worse here, whatever the unit."""
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    texts: dict[str, tuple[str, str]] = {}
    for _ in range(rounds):
        ours, theirs = (_measured(checkout, names, quick) for checkout in (HERE, there))
        for what in ours.keys() & theirs.keys():
            texts[what] = ours[what], theirs[what]
            pairs[what].append((cost(ours[what]), cost(theirs[what])))
    for what, costs in sorted(pairs.items()):
        # what neither has costs alike
        ratio = statistics.median(mine / other if other else 1.0 + mine for mine, other in costs)
        yield Row(what.strip(), *texts[what], ratio, met=ratio <= SLOWER)


def cost(text: str) -> float:
    """The figure of a row as what it costs: "4.5 ms" is 0.0045, "80 M steps/s" 1.25e-8, 2 × real time 0.5; more is
    worse.
    """
    number, *words = text.replace(",", "").split()
    prefix = PREFIXES[words.pop(0)] if words[:1] and words[0] in PREFIXES else 1.0
    if words and (words[-1].endswith("/s") or words[-1] == "×"):
        return 1 / (float(number) * prefix)
    return float(number) * prefix * UNITS.get(" ".join(words), 1.0)


def _measured(checkout: Path, names: Sequence[str], quick: bool) -> dict[str, str]:
    """What each row of a checkout's own benchmarks says, those that have a figure."""
    # Before they had a folder of their own, the benchmarks were a command of the package.
    program = "benchmarks" if (checkout / "benchmarks").is_dir() else "trundle bench"
    done = subprocess.run(
        [sys.executable, "-m", *program.split(), *names, "--json", *(["--quick"] if quick else [])],
        cwd=checkout,
        env=environment(checkout),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise InputError(
            f"{checkout} can't measure {' '.join(names)}: {done.stderr.strip().splitlines()[-1]}"
        )
    rows = json.loads(done.stdout)["rows"]
    return {row["what"]: row["ours"] for row in rows if row["ours"][:1].isdigit()}
