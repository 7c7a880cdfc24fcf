"""Measurements of speed and memory beside their peers, in the same run: what `trundle bench` prints."""

from trundle.bench.measure import Row
from trundle.bench.suite import BENCHMARKS, run_bench

__all__ = ["BENCHMARKS", "Row", "run_bench"]
