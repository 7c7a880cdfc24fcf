"""Verdicts: whether a run's numbers can be trusted, decided here alone, for terminal, JSON, figures and pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from trundle.errors import counted
from trundle.results import Run

# What the checks promise (m/s or m, and of the energy turned over): beyond, they are marked.
RESIDUAL, IMBALANCE = 1e-9, 1e-6
# A step counts as unbalanced that leaves more than this share of the largest load: others leave a millionth at most.
_UNBALANCED = 1e-3
_RESIDUALS = {"constraint_residual": "m/s", "loop_residual": "m"}
_ENERGY = ("turned_over", "made_by_step", "lost_by_step", "made_by_ground")
_TOLERANCES = "try smaller tolerances (rtol, atol)"


@dataclass(frozen=True)
class RunVerdict:
    """What was checked, by how much it is off, whether that is good, and what a person should know of it.

    `of` is the value of the run that shows it over time, "" for none; `bounds` are what that is held against.
    """

    name: str
    value: str
    remark: str = ""
    verdict: Literal["ok", "doubtful", ""] = ""
    of: str = ""
    bounds: tuple[float, ...] = ()

    @property
    def text(self) -> str:
        """The verdict with its remark."""
        return ": ".join(filter(None, (self.verdict, self.remark)))


def verdicts(run: Run) -> list[RunVerdict]:
    """What a run's checks come to, as far as it has any."""
    if _number(run.summary, "balance_residual") is None:
        return [*_residuals(run), *_imbalance(run), *_unstable(run)]
    return [*_balance(run), *_ground_energy(run), *_unstable(run), *_ends(run)]


def doubts(run: Run) -> list[str]:
    """Sentences on what makes a run doubtful."""
    return [each.text for each in verdicts(run) if each.verdict == "doubtful"]


def _check(name: str, value: str, of: str, doubt: str, *bounds: float, remark: str = "") -> RunVerdict:
    """A check that is ok unless something is to be said against it."""
    real = tuple(bound for bound in bounds if 0 < abs(bound) < math.inf)
    return RunVerdict(name, value, doubt or remark, "doubtful" if doubt else "ok", of, real)


def _number(found: Mapping[str, object], name: str) -> float | None:
    """A finite number that is there; files may hold anything."""
    number = found.get(name)
    return float(number) if isinstance(number, int | float) and math.isfinite(number) else None


def _largest(run: Run, name: str, of: str = "") -> float | None:
    """The largest magnitude of a value as the summary has it, or among samples; None where there is neither."""
    known, of = _number(run.summary, name), of or name
    if known is not None or of not in run:
        return known
    return float(np.abs(run[of][np.isfinite(run[of])]).max(initial=0.0))


def _residuals(run: Run) -> Iterator[RunVerdict]:
    """A kinematic run holds all other constraints by construction: only what its wheels can't do is left."""
    if (slip := _largest(run, "slip_residual")) is not None:
        what = "the largest contact velocity that no motion of the base removes"
        yield RunVerdict("slip residual", f"{slip:.3g} m/s", what, of="slip_residual")
    for name, unit in _RESIDUALS.items() if run.summary.get("mode") != "kinematic" else ():
        if (left := _largest(run, name)) is not None:
            doubt = "" if left <= RESIDUAL else _TOLERANCES
            yield _check(name.replace("_", " "), f"{left:.2g} {unit}", name, doubt, RESIDUAL)


def _imbalance(run: Run) -> Iterator[RunVerdict]:
    """Work in, less energy gained and lost, of a run without steps over terrain."""
    off = _largest(run, "energy_imbalance", "energy.imbalance")
    turned = _number(run.summary, "energy_turned_over")
    if off is not None and turned is None:
        yield RunVerdict("energy imbalance", f"{off:.2g} J", of="energy.imbalance")
    elif off is not None and turned is not None:
        share = off / turned if turned > 0 else 0.0
        value = f"{off:.2g} J, {share:.2g} of the {turned:.4g} J turned over"
        doubt = "" if share <= IMBALANCE else _TOLERANCES
        yield _check("energy imbalance", value, "energy.imbalance", doubt, IMBALANCE * turned)


def _balance(run: Run) -> Iterator[RunVerdict]:
    """What steps over terrain leave of their balance of forces."""
    left, unsolved = run.summary["balance_residual"], run.summary.get("unsolved_steps", 0)
    loads = [np.abs(run[name]).max() for name in run.values if run.column(name).kind == "load"]
    # In flight nothing carries: what is left is rounding, and the model says whether forces balance.
    bound, doubt = _UNBALANCED * (max(loads, default=0.0) or math.inf), ""
    if unsolved:
        steps = counted(run.summary["steps"], "step")
        doubt = f"{unsolved} of {steps} are unsolved: forces don't balance there"
    elif left > bound and "balance_residual" in run:
        at = run.time[int(np.nanargmax(run["balance_residual"]))]
        doubt = f"the step at {at:.4g} s isn't balanced; take a shorter step"
    remark = "what Newton's method leaves of the forces"
    yield _check("balance residual", f"{left:.2g} N", "balance_residual", doubt, bound, remark=remark)


def _ground_energy(run: Run) -> Iterator[RunVerdict]:
    """What the steps and the ground add to the energy that a run over terrain turns over, which nature doesn't."""
    from trundle.simulation.ground_energy import (
        BY_GROUND,
        BY_STEP,
        LOST,
    )  # late: other runs don't wait for models

    energy = run.summary.get("energy")
    numbers = {name: _number(energy, name) for name in energy} if isinstance(energy, Mapping) else {}
    turned, made, lost, ground = (numbers.get(name) for name in _ENERGY)
    if turned is None or made is None or lost is None or ground is None:
        return
    total = next(
        f"{turned / k:.3g} {unit}"
        for k, unit in ((1e6, "MJ"), (1e3, "kJ"), (1, "J"))
        if turned >= k or k == 1
    )

    def percent(part: float) -> str:
        return f"{100 * part:.0f} %" if part >= 0.1 else f"{100 * part:.2g} %" if part > 1e-6 else "0 %"

    def share(part: float) -> str:
        return f"{percent(part)} of the {total} turned over"

    def since(what: str) -> str:
        at = numbers.get(f"{what}_from")
        return "" if at is None else f" from {at:.4g} s on"

    own, long = numbers.get("step"), run.summary.get("too_long_steps", 0)
    shorter = "take a shorter step" if own is None else f"take a step of {own:.2g} s"
    of, bounds = "energy.made_by_step", (BY_STEP * turned, -LOST * turned)
    if lost > max(made, LOST) and made <= BY_STEP:
        remark = f"the step dissipates {percent(lost)}: {shorter}"
        yield RunVerdict("energy lost by the step", share(lost), remark, "", of, bounds)
    else:
        doubt = f"the step makes energy{since('made_by_step')}; {shorter}" if made > BY_STEP else ""
        verb, part = ("made", made) if doubt or made >= lost else ("lost", lost)
        yield _check(f"energy {verb} by the step", share(part), of, doubt, *bounds)
    if long:
        remark = f"joints turn too far in a step of flight: {shorter}"
        yield RunVerdict("too long", counted(long, "step"), remark, "doubtful")
    step = numbers.get("ground_step")
    holds = "" if step is None else f"; a step of {step:.2g} s holds"
    bends = f"the ground bends within a step{since('made_by_ground')}{holds}"
    doubt, bound = bends if ground > BY_GROUND else "", BY_GROUND * turned
    yield _check("energy made by the ground", share(ground), "energy.made_by_ground", doubt, bound)


def _unstable(run: Run) -> Iterator[RunVerdict]:
    """Loops that were unstable at some of the times that were looked at."""
    periods = run.summary.get("longest_periods") or {}
    for name, looks in (run.summary.get("unstable_loops") or {}).items():
        why = "; an implicit step hides it: look at the sign of its gains"
        if name in periods:
            why = f" with its period: it holds up to {1e3 * periods[name]:.2g} ms"
        yield RunVerdict(
            "controller", f"at {counted(looks, 'look')}", f"the loop '{name}' is unstable{why}", "doubtful"
        )


def _ends(run: Run) -> Iterator[RunVerdict]:
    """Whether a robot on terrain turned over, was stuck, or left the ground."""
    if (fallen := run.summary.get("overturned_at")) is not None:
        yield RunVerdict("overturned", f"at {fallen:.4g} s", "its base points sideways or down")
    if run.summary.get("stuck"):
        yield RunVerdict(
            "stuck", "at the end", "its wheels turn, and it gets on by less than a tenth of that"
        )
    if lifted := run.summary.get("lifted"):
        who = ", ".join(f"{name} {seconds:.3g} s" for name, seconds in lifted.items())
        yield RunVerdict(
            "off the ground", counted(len(lifted), "contact"), f"{who}: nothing rests on them then"
        )
