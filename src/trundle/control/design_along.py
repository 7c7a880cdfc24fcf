"""The design of a regulator along a run: what leads to what has a tolerance, and what no input moves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from trundle.control.linear_control import Indices, state_measure, uncontrollable, without_rounding
from trundle.control.linear_trajectory import LinearTrajectory
from trundle.control.linearization import Linearization
from trundle.control.regulator_along import RegulatorAlong
from trundle.control.riccati import Varying, along
from trundle.control.tolerances import in_si, tolerances_of
from trundle.errors import InputError
from trundle.frozen import frozen
from trundle.mechanics.combinations import null_rows

# Times of a run that are asked what leads to what, and what no input moves.
_LOOKS = 20
# Directions that no input moves at any of these times: rows that are the same to this share.
_SAME = 1e-6


def design_along(
    trajectory: LinearTrajectory,
    tolerances: Mapping[str, float | str],
    final: Mapping[str, float | str],
    period: float | None,
) -> RegulatorAlong:
    """The regulator beside a linearised run; see `lqr`."""
    if len(np.unique(trajectory.time)) < 2:
        raise InputError(
            "a run of one instant has no time to act in", key="along", hint="give a run that lasts"
        )
    length = float(trajectory.time[-1] - trajectory.time[0])
    if period is not None and not period <= length:
        raise InputError(f"the period ({period:g} s) is longer than the run ({length:g} s)", key="period")
    tolerances = tolerances_of(trajectory, tolerances)
    last = in_si(final, trajectory.states, trajectory, "final")
    if few := [name for name, size in last.items() if not size > 0]:
        raise InputError(f"a tolerance is greater than 0, got {last[few[0]]:g}", key=f"final.{few[0]}")
    looks = [trajectory[k] for k in np.unique(np.linspace(0, len(trajectory) - 1, _LOOKS).astype(int))]
    kept = _leading(looks, {*tolerances, *last})
    names = tuple(trajectory.states[k] for k in kept)
    _require_moved(looks, kept, {*tolerances, *last})
    system = Varying(trajectory.time, trajectory.A[:, kept][:, :, kept], trajectory.B[:, kept])
    q, end = (np.diag([sizes.get(name, np.inf) ** -2 for name in names]) for sizes in (tolerances, last))
    r = np.diag([tolerances[name] ** -2 for name in trajectory.inputs])
    times, gains, riccati = along(system, q, r, end, period)
    return RegulatorAlong(
        trajectory, names, frozen(times), frozen(gains), frozen(riccati), tolerances, last, period
    )


def _rank(about: Linearization) -> int:
    """How many directions inputs move at a time."""
    return about.controllability.rank


def _leading(looks: Sequence[Linearization], wanted: Collection[str]) -> Indices:
    """Places of the states that are wanted, or lead to those."""
    slopes = np.any([without_rounding(about)[0] != 0 for about in looks], axis=0)
    leads = np.array([name in wanted for name in looks[0].states])
    for _ in leads:
        leads |= slopes[leads].any(axis=0)
    return np.flatnonzero(leads)


def _require_moved(looks: Sequence[Linearization], kept: Indices, wanted: Collection[str]) -> None:
    """Raise InputError where a combination of states that have tolerances alone is one that no input moves, ever."""
    names = [looks[0].states[k] for k in kept]
    cleaned = [(a[np.ix_(kept, kept)], b[kept]) for a, b in map(without_rounding, looks)]
    size = state_measure(*(np.max([np.abs(pair[k]) for pair in cleaned], axis=0) for k in (0, 1)))
    share = np.zeros((len(kept), len(kept)))
    for a, b in cleaned:
        spanned = np.linalg.qr((uncontrollable(a, b).rows * size).T)[0]
        share += spanned @ spanned.T / len(cleaned)
    values, vectors = np.linalg.eigh(share)
    rows = vectors[:, values > 1 - _SAME].T
    if not len(rows):
        return
    others = [k for k, name in enumerate(names) if name not in wanted]
    left = null_rows(rows[:, others]) @ rows
    if not len(left):
        return
    lost = [name for name, weight in zip(names, np.abs(left).max(axis=0), strict=True) if weight > _SAME]
    raise InputError(
        f"no tolerance of {', '.join(lost)} can be kept along this run\n"
        f"  {max(looks, key=_rank).controllability.explain()}",
        key="tolerances",
        hint="give a tolerance to fewer of them, or hold another motion",
    )
