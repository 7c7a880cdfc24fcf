"""The benchmark of live pages takes what pages hold: it runs, and its ends are those of `trundle.run`."""

import shutil

import pytest

from benchmarks.page import page


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_live_pages_are_measured_and_end_where_runs_end():
    rows = page(quick=True)
    assert len(rows) == 3
    for row in rows:
        assert float(row.note.partition("; ends ")[2].removesuffix(" off")) < 1e-6
