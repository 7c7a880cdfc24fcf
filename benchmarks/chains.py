"""Forward dynamics of chains and trees beside Pinocchio's `aba`, and what a mechanism costs to get running."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.limit import issue_loop, machine_operations
from benchmarks.measure import (
    MISSING,
    Row,
    best_seconds,
    best_together,
    installed,
    rate_text,
    seconds_text,
)
from benchmarks.mechanisms import (
    Body,
    floating_tree,
    forward_program,
    general_arm,
    pinocchio_model,
    pinocchio_q,
    planar_chain,
    states,
    tree_of,
)
from trundle.program import Program, compile_program
from trundle.program.kernel import Kernel

# Numbers in all rows of a batch: few enough for the second-level cache, many enough for a call from Python not to show.
NUMBERS = 200_000
MECHANISMS: dict[str, tuple[Callable[[], list[Body]], float]] = {
    "planar chain of 7 joints": (lambda: planar_chain(7), 100.0),
    "planar chain of 25 joints": (lambda: planar_chain(25), 70.0),
    "general arm of 7 joints": (lambda: general_arm(7), 25.0),
    "floating base with 30 joints": (lambda: floating_tree(30), 20.0),
}
RATE = 0.75
BUILD = {10: 0.1, 25: 0.4, 100: 2.0, 1000: 30.0}


def forward_rates(quick: bool) -> list[Row]:
    """Each mechanism batched on one core: against Pinocchio called from Python, and against the core's issue limit."""
    loop, products = issue_loop()
    rows: list[Row] = []
    for name, (make, target) in MECHANISMS.items():
        bodies = make()
        program = forward_program(tree_of(bodies))
        rows_in_all = sum(group.size for group in (*program.inputs, *program.outputs))
        count = (
            NUMBERS // rows_in_all // 32 * 32 + 16
        )  # an odd number of blocks: rows share fewer of the cache's sets
        kernel, groups = compile_program(program), states(bodies, count)
        works: list[Callable[[], object]] = [partial(kernel, *groups, threads=1), loop]
        apart = None
        if installed("pinocchio"):
            call, apart = _pinocchio(bodies, kernel, groups)
            works.append(call)
        seconds = best_together(*works, tries=10 if quick else 60)
        ours = seconds[0] / count
        rows.append(_against(name, ours, target, seconds[2] if apart is not None else None, apart))
        rows.append(_against_limit(program, ours, products / seconds[1]))
    return rows


def _against(name: str, ours: float, target: float, peer: float | None, apart: float | None) -> Row:
    what, aim = f"forward dynamics, {name}, batched, one core", f"≥ {target:g} ×"
    if peer is None:
        return Row(what, seconds_text(ours), MISSING, target=aim)
    ratio = peer / ours
    note = f"against Pinocchio's aba called from Python; apart by {apart:.1e} relative"
    return Row(what, seconds_text(ours), seconds_text(peer), ratio, aim, ratio >= target, note)


def _against_limit(program: Program, ours: float, limit: float) -> Row:
    """Operations of the program and lanes a second; in the note what the machine's own instructions come to."""
    rate = program.operations / ours
    machine = machine_operations(program)
    note = f"{program.operations} operations"
    if machine:
        note += (
            f"; fused and with sines as polynomials {machine:.0f}, {machine / ours / limit:.2f} of the limit"
        )
    return Row(
        "  operations × lanes, against the core's issue limit",
        rate_text(rate, "operations"),
        rate_text(limit, "products"),
        rate / limit,
        f"≥ {RATE}",
        rate / limit >= RATE,
        note,
    )


def _pinocchio(
    bodies: list[Body], kernel: Kernel, groups: tuple[np.ndarray, ...]
) -> tuple[Callable[[], Any], float]:
    """The peer's call on one state, and how far its result is from ours."""
    pin: Any = import_module("pinocchio")  # has no types

    model, data = pinocchio_model(bodies)
    q, nu, tau = (np.ascontiguousarray(group[:, 0]) for group in groups)
    theirs = pinocchio_q(bodies, q)

    def call() -> Any:
        return pin.aba(model, data, theirs, nu, tau)

    expected = call()
    apart = float(np.abs(kernel(q, nu, tau)[0] - expected).max() / np.abs(expected).max())
    return call, apart


def single_call(quick: bool) -> list[Row]:
    """One call from Python on one state of 7 joints, arrays in and arrays out."""
    bodies = planar_chain(7)
    kernel, groups = compile_program(forward_program(tree_of(bodies))), states(bodies, 1)
    q, nu, tau = (np.ascontiguousarray(group[:, 0]) for group in groups)
    call = kernel.single()
    what = "one call from Python, one state, planar chain of 7 joints"
    if not installed("pinocchio"):
        return [Row(what, seconds_text(best_seconds(lambda: call(q, nu, tau))), MISSING, target="≥ 1 ×")]
    ours, peer = best_together(lambda: call(q, nu, tau), _pinocchio(bodies, kernel, groups)[0])
    note = "kernel.single() against Pinocchio's aba"
    return [Row(what, seconds_text(ours), seconds_text(peer), peer / ours, "≥ 1 ×", ours <= peer, note)]


def build_times(quick: bool) -> list[Row]:
    """From the links of an n-pendulum to a callable forward dynamics, and how its evaluation grows with n."""
    rows: list[Row] = []
    _build(2)  # LLVM's own start is not the mechanism's
    for links, target in BUILD.items():
        if quick and links > 100:
            continue
        taken, each = min((_build(links) for _ in range(1 if links > 100 else 5)), key=lambda pair: pair[0])
        note = f"one evaluation {seconds_text(each)}, {seconds_text(each / links)} a link"
        if links <= 100:
            note += f"; with all that `derive` gives {seconds_text(min(_derive(links) for _ in range(3)))}"
        what = f"derive + compile, pendulum of {links} links"
        rows.append(Row(what, seconds_text(taken), target=f"≤ {target:g} s", met=taken <= target, note=note))
    return rows


def _build(links: int) -> tuple[float, float]:
    """Seconds to a callable, and seconds of a call."""
    started = time.perf_counter()
    program = forward_program(tree_of(planar_chain(links)))
    kernel = Kernel(program)  # not through the cache
    buffers = [np.full(group.size, 0.1) for group in (*program.inputs, *program.outputs)]
    call = kernel.bind(*buffers)
    call()
    return time.perf_counter() - started, best_seconds(call, least=0.01)


def _derive(links: int) -> float:
    """Seconds of `derive` (energies, outputs and checks included) and of compiling its dynamics."""
    from trundle import catalog
    from trundle.model import derive

    robot = catalog.pendulum(links=links)
    started = time.perf_counter()
    Kernel(derive(robot).dynamics).prepare()
    return time.perf_counter() - started
