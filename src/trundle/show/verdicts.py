"""Verdicts: whether a run's numbers can be trusted, decided here alone, for terminal, JSON, figures and pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from trundle.errors import counted
from trundle.results import Run

# What the checks promise (m/s or m, and of the energy turned over): beyond, they are marked.
RESIDUAL, IMBALANCE = 1e-9, 1e-6
# A step counts as unbalanced that leaves more than this share of the largest load: others leave a millionth at most.
_UNBALANCED = 1e-3
# Shares of the energy turned over that steps of a run over terrain may make or lose, and that ground may make.
_MADE, _LOST, _MADE_BY_GROUND = 0.01, 0.05, 0.05
_RESIDUALS = {"constraint_residual": "m/s", "loop_residual": "m"}
_TOLERANCES = "try smaller tolerances (rtol, atol)"


@dataclass(frozen=True)
class Verdict:
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

    def plain(self) -> dict[str, str]:
        """As plain data."""
        return {name: getattr(self, name) for name in ("name", "value", "verdict", "remark")}


def verdicts(run: Run) -> list[Verdict]:
    """What a run's checks come to, as far as it has any."""
    if _number(run.summary, "balance_residual") is not None:
        return [*_balance(run), *_ground_energy(run), *_unstable(run), *_ends(run.summary)]
    if run.summary.get("mode") == "kinematic":
        return [*_slip(run), *_ends(run.summary)]
    return [*_slip(run), *_residuals(run), *_imbalance(run), *_unstable(run)]


def doubts(run: Run) -> list[str]:
    """Sentences on what makes a run doubtful."""
    return [each.text for each in verdicts(run) if each.verdict == "doubtful"]


def _judged(good: bool, doubt: str, remark: str = "") -> dict[str, Any]:
    """A verdict's own part."""
    return {"verdict": "ok", "remark": remark} if good else {"verdict": "doubtful", "remark": doubt}


def _number(found: Mapping[str, Any], name: str) -> float | None:
    """A finite number that is there; files may hold anything."""
    number = found.get(name)
    return float(number) if isinstance(number, int | float) and math.isfinite(number) else None


def _largest(run: Run, name: str, of: str) -> float | None:
    """The largest magnitude of a value as the summary has it, or among samples; None where there is neither."""
    known = _number(run.summary, name)
    if known is not None or of not in run:
        return known
    return float(np.abs(run[of][np.isfinite(run[of])]).max(initial=0.0))


def _slip(run: Run) -> Iterator[Verdict]:
    if (slip := _largest(run, "slip_residual", "slip_residual")) is not None:
        what = "the largest contact velocity that no motion of the base removes"
        yield Verdict("slip residual", f"{slip:.3g} m/s", what, of="slip_residual")


def _residuals(run: Run) -> Iterator[Verdict]:
    for name, unit in _RESIDUALS.items():
        if (left := _largest(run, name, name)) is not None:
            judged = _judged(left <= RESIDUAL, _TOLERANCES)
            yield Verdict(name.replace("_", " "), f"{left:.2g} {unit}", of=name, bounds=(RESIDUAL,), **judged)


def _imbalance(run: Run) -> Iterator[Verdict]:
    off = _largest(run, "energy_imbalance", "energy.imbalance")
    turned = _number(run.summary, "energy_turned_over")
    if off is None:
        return
    value, bounds, judged = f"{off:.2g} J", (), {}
    if turned is not None:
        share = off / turned if turned > 0 else 0.0
        value += f", {share:.2g} of the {turned:.4g} J turned over"
        bounds = (IMBALANCE * turned,) if turned > 0 else ()
        judged = _judged(share <= IMBALANCE, _TOLERANCES)
    yield Verdict("energy imbalance", value, of="energy.imbalance", bounds=bounds, **judged)


def _balance(run: Run) -> Iterator[Verdict]:
    """What steps over terrain leave of their balance of forces."""
    left, unsolved = run.summary["balance_residual"], run.summary.get("unsolved_steps", 0)
    loads = [np.abs(run[name]).max() for name in run.values if run.column(name).kind == "load"]
    bound = _UNBALANCED * max(loads, default=math.inf)
    if unsolved:
        doubt = f"{unsolved} of {counted(run.summary['steps'], 'step')} are unsolved: forces don't balance there"
    elif left > bound and "balance_residual" in run:
        at = run.time[int(np.nanargmax(run["balance_residual"]))]
        doubt = f"the step at {at:.4g} s isn't balanced; take a shorter step"
    else:
        doubt = ""
    judged = _judged(not doubt, doubt, "what Newton's method leaves of the forces")
    bounds = (bound,) if 0 < bound < math.inf else ()
    yield Verdict("balance residual", f"{left:.2g} N", of="balance_residual", bounds=bounds, **judged)


def _ground_energy(run: Run) -> Iterator[Verdict]:
    """What the steps and the ground add to the energy that a run over terrain turns over, which nature doesn't."""
    energy = run.summary.get("energy")
    known = ("turned_over", "made_by_step", "lost_by_step", "made_by_ground")
    found = [_number(energy, name) for name in known] if isinstance(energy, Mapping) else [None]
    if None in found:
        return
    turned, made, lost, ground = found
    verb, share = ("lost", lost) if made <= min(_MADE, lost) else ("made", made)
    doubt = f"the step makes energy{_since(energy, 'made_by_step')}; take a shorter step"
    judged = _judged(made <= _MADE, doubt)
    if verb == "lost" and lost > _LOST:
        judged = {"remark": f"the step dissipates {100 * lost:.2g} %: take a shorter step"}
    bounds = (_MADE * turned, -_LOST * turned)
    value = _of_turned(share, turned)
    yield Verdict(f"energy {verb} by the step", value, of="energy.made_by_step", bounds=bounds, **judged)
    holds = f"; a step of {energy['ground_step']:.2g} s holds" if "ground_step" in energy else ""
    doubt = f"the ground bends within a step{_since(energy, 'made_by_ground')}{holds}"
    judged = _judged(ground <= _MADE_BY_GROUND, doubt)
    value, bounds = _of_turned(ground, turned), (_MADE_BY_GROUND * turned,)
    yield Verdict("energy made by the ground", value, of="energy.made_by_ground", bounds=bounds, **judged)


def _since(energy: Mapping[str, float], what: str) -> str:
    """From when on, where that is known."""
    return f" from {energy[f'{what}_from']:.4g} s on" if f"{what}_from" in energy else ""


def _of_turned(share: float, turned: float) -> str:
    """A share of the energy (J) turned over."""
    total = f"{turned / 1e3:.3g} kJ" if turned >= 1e3 else f"{turned:.3g} J"
    return f"{100 * share:.2g} % of the {total} turned over"


def _unstable(run: Run) -> Iterator[Verdict]:
    for name, steps in (run.summary.get("unstable_loops") or {}).items():
        doubt = f"the loop '{name}' is unstable; an implicit step hides it: look at the sign of its gains"
        yield Verdict("controller", f"in {counted(steps, 'step')}", doubt, "doubtful")


def _ends(summary: Mapping[str, Any]) -> Iterator[Verdict]:
    """Whether a robot on terrain turned over, was stuck, or left the ground."""
    if (fallen := summary.get("overturned_at")) is not None:
        yield Verdict("overturned", f"at {fallen:.4g} s", "its base points sideways or down")
    if summary.get("stuck"):
        yield Verdict("stuck", "at the end", "its wheels turn, and it gets on by less than a tenth of that")
    if lifted := summary.get("lifted"):
        times = ", ".join(f"{name} {seconds:.3g} s" for name, seconds in lifted.items())
        yield Verdict("off the ground", counted(len(lifted), "contact"), f"{times}: nothing rests on them then")
