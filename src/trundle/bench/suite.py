"""The benchmarks by name, and how they are run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from trundle.bench.measure import Row
from trundle.errors import InputError, suggest


def _cold(quick: bool) -> list[Row]:
    from trundle.bench.cold import cold_run

    return cold_run(tries=3 if quick else 7)


def _program(quick: bool) -> list[Row]:
    from trundle.bench.drive import program_size

    return program_size()


def _rollout(quick: bool) -> list[Row]:
    from trundle.bench.rollouts import rollout_rate

    return rollout_rate(quick)


def _single(quick: bool) -> list[Row]:
    from trundle.bench.single import single_run

    return single_run()


def _memory(quick: bool) -> list[Row]:
    from trundle.bench.memory import rollout_memory

    return rollout_memory()


def _forward(quick: bool) -> list[Row]:
    from trundle.bench.chains import forward_rates, single_call

    return [*forward_rates(quick), *single_call()]


def _build(quick: bool) -> list[Row]:
    from trundle.bench.chains import build_times

    return build_times(quick)


def _sympy(quick: bool) -> list[Row]:
    from trundle.bench.sympy_door import sympy_door

    return sympy_door(quick)


def _equations(quick: bool) -> list[Row]:
    from trundle.bench.equations import equations

    return equations(quick)


BENCHMARKS: dict[str, Callable[[bool], list[Row]]] = {
    "cold": _cold,
    "program": _program,
    "rollout": _rollout,
    "single": _single,
    "memory": _memory,
    "forward": _forward,
    "build": _build,
    "sympy": _sympy,
    "equations": _equations,
}


def run_bench(names: Iterable[str] | None = None, quick: bool = False) -> Iterator[Row]:
    """Rows of the named benchmarks (all by default), each as soon as it is measured; `quick` takes fewer tries."""
    chosen = list(names or BENCHMARKS)
    for name in chosen:
        if name not in BENCHMARKS:
            raise InputError(f"there is no benchmark '{name}'", hint=suggest(name, BENCHMARKS))
    for name in chosen:
        yield from BENCHMARKS[name](quick)
