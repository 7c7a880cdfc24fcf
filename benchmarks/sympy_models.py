"""SymPy models: a pendulum of ten links on a cart, ours beside PyDy's Cython generator on the same KanesMethod."""

from __future__ import annotations

import os
import shutil
import sysconfig
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measure import MISSING, Row, best_seconds, installed, seconds_text

LINKS = 10
FIRST, EACH = 5.0, 20.0
LANES = 8192
_STATE = np.linspace(0.1, 0.9, 2 * LINKS + 2)
_FORCE = np.ones(1)


@dataclass(frozen=True)
class Problem:
    """Formed equations, their input and the constants' numbers by symbol."""

    method: Any
    force: Any
    numbers: dict[Any, float]

    @property
    def values(self) -> np.ndarray:
        """The constants' numbers."""
        return np.array(list(self.numbers.values()))


def sympy_models(quick: bool) -> list[Row]:
    """Seconds from formed equations to the first rates, and of one evaluation in a batch on one core."""
    lacking = _lacking()
    problem = _problem(not lacking)
    first, kernel = _ours(problem, tries=1 if quick else 3)
    batch, p = np.repeat(_STATE[:, None], LANES, axis=1), problem.values
    each = best_seconds(lambda: kernel(batch, _FORCE, p, threads=1)) / LANES
    names = (
        f"SymPy's {LINKS}-link pendulum on a cart: code and first evaluation, against PyDy's Cython",
        "  one evaluation, batched, one core, against PyDy's call",
    )
    targets = (f"≥ {FIRST:g} ×", f"≥ {EACH:g} ×")
    if lacking:
        return [
            Row(name, seconds_text(mine), lacking, target=target)
            for name, mine, target in zip(names, (first, each), targets, strict=True)
        ]
    peer_first, call = _pydy(problem)
    peer_each = best_seconds(call, tries=3)
    apart = float(np.abs(kernel(_STATE, _FORCE, p)[0] - call()).max())
    notes = (f"rates apart by {apart:.1e}", "PyDy has no batches: its figure is one call from Python")
    mine, others = (first, each), (peer_first, peer_each)
    return [
        Row(
            names[k], seconds_text(mine[k]), seconds_text(others[k]), others[k] / mine[k], targets[k],
            others[k] / mine[k] >= least, notes[k],
        )
        for k, least in enumerate((FIRST, EACH))
    ]  # fmt: skip


def _lacking() -> str:
    """What keeps the peer from being measured, if anything: the packages, or the compiler that its generator calls."""
    if not (installed("pydy") and installed("Cython")):
        return MISSING
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return "" if shutil.which(compiler.split()[0]) else "no C compiler"


def _problem(peer: bool) -> Problem:
    """The peer's own model where it is installed, else the same one made here."""
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    if peer:
        from pydy.models import n_link_pendulum_on_cart  # pyright: ignore[reportMissingImports]

        method = n_link_pendulum_on_cart(LINKS).eom_method
    else:
        method = pendulum_on_cart(LINKS)
    masses: Any = sp.symbols(f"m:{LINKS + 1}")
    lengths: Any = sp.symbols(f"l:{LINKS}")
    numbers = {each: 0.5 + 0.1 * k for k, each in enumerate(masses)}
    numbers |= {each: 0.3 + 0.02 * k for k, each in enumerate(lengths)}
    return Problem(method, dynamicsymbols("F"), {**numbers, sp.Symbol("g"): 9.81})


def pendulum_on_cart(links: int) -> Any:
    """Kane's equations of point masses m1 ... on massless rods l0 ... on a cart m0, angles from the ground line, by
    SymPy.
    """
    import sympy as sp
    from sympy.physics import mechanics

    moving: Any = mechanics.dynamicsymbols
    q, u = moving(f"q:{links + 1}"), moving(f"u:{links + 1}")
    masses: Any = sp.symbols(f"m:{links + 1}")
    lengths: Any = sp.symbols(f"l:{links}")
    gravity = sp.Symbol("g")
    ground = mechanics.ReferenceFrame("G")
    joint = mechanics.Point("cart")
    joint.set_vel(ground, u[0] * ground.x)
    particles = [mechanics.Particle("cart", joint, masses[0])]
    loads = [(joint, moving("F") * ground.x - masses[0] * gravity * ground.y)]
    for k in range(links):
        rod = ground.orientnew(f"R{k}", "Axis", [q[k + 1], ground.z])
        rod.set_ang_vel(ground, u[k + 1] * ground.z)
        end = joint.locatenew(f"E{k}", lengths[k] * rod.x)
        end.v2pt_theory(joint, ground, rod)
        particles.append(mechanics.Particle(f"mass {k}", end, masses[k + 1]))
        loads.append((end, -masses[k + 1] * gravity * ground.y))
        joint = end
    rates = [a.diff() - b for a, b in zip(q, u, strict=True)]
    method = mechanics.KanesMethod(ground, q, u, kd_eqs=rates)
    method.kanes_equations(particles, loads)
    return method


def _ours(problem: Problem, tries: int) -> tuple[float, Any]:
    """The least seconds over `tries` from the equations to the first rates, and the kernel."""
    from trundle.program.kernel import Kernel
    from trundle.sympy_models.from_sympy import from_sympy

    best, kernel = np.inf, None
    for _ in range(tries):
        started = time.perf_counter()
        model = from_sympy(problem.method, inputs=[problem.force], parameters=problem.numbers)
        kernel = Kernel(model.dynamics)  # not the shared one, which may be compiled already
        kernel(_STATE, _FORCE, problem.values)
        best = min(best, time.perf_counter() - started)
    return best, kernel


def _pydy(problem: Problem) -> tuple[float, Callable[[], Any]]:
    """Seconds of PyDy's generator and its first rates, and a call of its right-hand side at the same state."""
    from pydy.codegen import ode_function_generators as peer  # pyright: ignore[reportMissingImports]

    started = time.perf_counter()
    method, p = problem.method, problem.values
    rates = peer.generate_ode_function(
        method.forcing_full,
        method.q[:],
        method.u[:],
        list(problem.numbers),
        mass_matrix=method.mass_matrix_full,
        specifieds=[problem.force],
        generator="cython",
    )

    def call() -> Any:
        return rates(_STATE, 0.0, _FORCE, p)

    call()
    return time.perf_counter() - started, call
