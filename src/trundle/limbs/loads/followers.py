"""What follows other coordinates by gears and cams, over a motion: how it moves, and what its leaders give for it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from trundle.arrays import FloatArray
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.coupling import Tie
from trundle.model.constraints import (
    Configuration,
    coupling_rows,
    independent_coordinates,
    without_followers,
)
from trundle.scalars import Rows


def followed(
    assembly: Assembly, q: FloatArray, u: FloatArray, u_dot: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """q (n, c), ν and ν̇ (n, s) of all from what is independent: ν_f = f' ν_l and ν̇_f = f' ν̇_l + ḟ' ν_l."""
    values = dict(zip(independent_coordinates(assembly), q.T, strict=True))
    columns = {axis.column for tie in assembly.couplings for axis in tie.followers}
    free = [k for k in range(len(assembly.speeds)) if k not in columns]
    nu, nu_dot = (np.zeros((len(assembly.speeds), len(q))) for _ in range(2))
    nu[free], nu_dot[free] = u.T, u_dot.T
    for tie in assembly.couplings:
        if not isinstance(tie, Tie):
            continue  # linkages need wheels, and robots on wheels have no joint loads
        at = [values[axis.coordinate] for axis in tie.leaders]
        places = [axis.column for axis in tie.leaders]
        rates = [nu[place] for place in places]
        ((value, _),), (slopes,), (bends,) = tie.follow(at), tie.slopes(at), tie.slope_rates(at, rates)
        values[tie.follower.coordinate] = np.broadcast_to(value, len(q))
        nu[tie.follower.column] = sum(s * v for s, v in zip(slopes, rates, strict=True))
        nu_dot[tie.follower.column] = sum(
            s * nu_dot[place] + b * v for s, place, b, v in zip(slopes, places, bends, rates, strict=True)
        )
    return np.array([values[name] for name in assembly.coordinates]).T, nu.T, nu_dot.T


def led(assembly: Assembly, q: FloatArray, needed: FloatArray) -> tuple[FloatArray, Mapping[str, FloatArray]]:
    """The efforts (s, n) of what moves freely, τ_l + Σ (∂q_f/∂q_l) τ_f, and what ties put on their followers (n,)."""
    values = dict(zip(assembly.coordinates, q.T, strict=True))
    efforts, ties = needed.copy(), dict[str, FloatArray]()
    for tie in reversed(assembly.couplings):  # the last of a chain before those that it follows
        if not isinstance(tie, Tie):
            continue
        (slopes,) = tie.slopes([values[axis.coordinate] for axis in tie.leaders])
        ties[tie.name] = efforts[tie.follower.column].copy()
        for axis, slope in zip(tie.leaders, slopes, strict=True):
            efforts[axis.column] += slope * ties[tie.name]
        efforts[tie.follower.column] = 0.0
    return efforts, ties


def led_rows(assembly: Assembly, q: FloatArray, rows: Rows) -> Rows:
    """Rows over all speeds, written in what is independent."""
    if not assembly.couplings:
        return rows
    at = Configuration((), [], dict(zip(assembly.coordinates, q.T, strict=True)))
    return without_followers(assembly, rows, coupling_rows(assembly, at)[0])
