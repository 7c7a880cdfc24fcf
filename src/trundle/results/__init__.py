"""Labelled results: one run over time (`Run`), many robots side by side (`Batch`); to and from files."""

from trundle.results.batch import Batch
from trundle.results.run import Run

__all__ = ["Batch", "Run"]
