"""Measurements of speed and memory beside their peers, in the same run: `python -m benchmarks NAME` from a checkout."""

from benchmarks.measure import Row
from benchmarks.suite import BENCHMARKS, run_benchmarks

__all__ = ["BENCHMARKS", "Row", "run_benchmarks"]
