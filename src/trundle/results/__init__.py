"""Labelled results: one run over time (`Run`), many robots side by side (`Batch`); to and from files."""

from trundle.results.batch import Batch
from trundle.results.run import Run
from trundle.results.sketch import LinkSketch, Sketch, WheelSketch, body_outline

__all__ = ["Batch", "LinkSketch", "Run", "Sketch", "WheelSketch", "body_outline"]
