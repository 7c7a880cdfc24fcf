"""A share of the slow tests, by the clock: `make test-slow MINUTES=8` starts no item later than that.

First go the campaigns, which a share is asked of already and of which none is left. Then come items of test files that
the last day of history changed, then all others as a hash of their name and HEAD's tree orders them. So each state of
the tree draws others, and the same one the same. A law's first case goes before any law's second.
"""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def history(*command: str) -> str:
    """What git says of the checkout; nothing where there is none, as in a source archive."""
    try:
        told = subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return told.stdout.strip() if told.returncode == 0 else ""


@cache
def tree() -> str:
    """The name of HEAD's tree, which changes with every file that is committed."""
    return history("rev-parse", "HEAD^{tree}")


def changed_in_a_day() -> set[Path]:
    """The files that the day before HEAD changed, as far as the clone has its history."""
    head = history("log", "-1", "--format=%cI")
    if not head:
        return set()
    since = (datetime.fromisoformat(head) - timedelta(days=1)).isoformat()
    return {
        ROOT / name for name in history("log", f"--since={since}", "--format=", "--name-only").split("\n")
    }


def ordered(items: Iterable[pytest.Item], salt: str, first: Collection[Path]) -> list[pytest.Item]:
    """The items as they are to be started."""
    cases: Counter[str] = Counter()

    def drawn(item: pytest.Item) -> str:
        return sha256(f"{salt} {item.nodeid}".encode()).hexdigest()

    def place(item: pytest.Item) -> tuple[bool, bool, bool]:
        law = item.nodeid.partition("[")[0]
        cases[law] += 1
        return "campaign" not in item.keywords, item.path not in first, cases[law] > 1

    return sorted(
        sorted(items, key=drawn), key=place
    )  # the second sort keeps the first one's order among equals


class Budget:
    """Starts items until the time is over, and says how many ran and how many were left."""

    def __init__(self, config: pytest.Config, minutes: float) -> None:
        self.config, self.minutes = config, minutes
        given = getattr(config, "workerinput", {})
        self.end: float = given.get("budget_end") or time.time() + 60 * minutes
        self.ran = self.left = 0

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: object) -> None:
        """A process of pytest-xdist is to end when this one does."""
        node.workerinput["budget_end"] = self.end

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """The order, the same in every process."""
        items[:] = ordered(items, tree(), changed_in_a_day())

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Leave the item, without a report, where the time is over."""
        if any(mark.name == "skip" for mark in item.iter_markers()):  # of another kind: it takes no time
            return None
        over = time.time() > self.end and "campaign" not in item.keywords
        self.left, self.ran = self.left + over, self.ran + (not over)
        return True if over else None

    def pytest_sessionfinish(self) -> None:
        """Tell the process that gathers."""
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["budget"] = self.ran, self.left

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Gather what a process of pytest-xdist counted."""
        ran, left = getattr(node, "workeroutput", {}).get("budget", (0, 0))
        self.ran, self.left = self.ran + ran, self.left + left

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The share that ran."""
        share = self.ran / max(1, self.ran + self.left)
        said = f"{self.ran:,} of {self.ran + self.left:,} items started within {self.minutes:g} minutes ({share:.0%})"
        terminalreporter.section("budget")
        terminalreporter.write_line(
            f"{said}; {self.left:,} left, drawn by HEAD's tree {tree()[:12] or '(none)'}"
        )
