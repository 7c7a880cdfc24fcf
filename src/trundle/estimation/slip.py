"""What a base moves by increments of its wheels, and how sure that is, where some of them may slip.

residuals of weighed least squares ──► rows that slip weigh less ──► displacement, its covariance, who slipped
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from trundle.model.rolling_motion import contact_velocities
from trundle.model.symbols import column, entries
from trundle.motion.odometry.counts import Counts
from trundle.motion.odometry.displacement import Contacts, at_origin, weighed
from trundle.scalars import Scalar, absolute, less, maximum, sqrt, where

# A contact slips from so many standard deviations on: of normal ones 0.3 % lie beyond.
SLIPPING = 3.0
# Slip lasts (s): the errors of steps add up meanwhile, as noise with that time constant does.
LASTING = 0.25
# Rounds of reweighing. One wheel of four that slips is told in two; more rounds than these tell no more.
ROUNDS = 4
# Variance of a contact that doesn't move (m²): a nanometre, far below what encoders resolve.
_NOTHING = 1e-18
# Less of a residual is rounding: its row alone says what it says.
_DETERMINED = 1e-12


@dataclass(frozen=True)
class ContactFit:
    """Weighed least squares over the contacts in symbols: of their roots of weights, slips and a turn (`Contacts`).

    moved (3, 1); residuals (rows, 1), in m; leads, arms: what is counted, and the base's turn, add to them; owners: the
    wheels, row by row.
    """

    contacts: Contacts
    moved: ca.SX
    residuals: ca.SX
    leads: ca.SX
    arms: ca.SX
    owners: tuple[str, ...]

    def at(self, made: ca.SX, variances: Sequence[Scalar], turn: Scalar, unsure: Scalar) -> ca.SX:
        """An expression for variances of the contacts, and a turn with its own; nothing slips."""
        roots = [1 / sqrt(variance) for variance in (*variances, unsure)]
        symbols = [*self.contacts.roots, *self.contacts.slips, self.contacts.turn]
        return ca.substitute(made, column(symbols), column([*roots, *[0] * len(variances), turn]))


def rolling(counts: Counts) -> ContactFit:
    """The contacts of a robot's wheels."""
    plan, size = counts.plan, len(counts.plan.kept)
    roots, slips = (entries(ca.SX.sym(name, size)) for name in ("root", "slip"))
    contacts = Contacts([*roots, ca.SX.sym("root")], slips, ca.SX.sym("turn"))
    moved, residuals, leads = weighed(plan, at_origin(counts.here), counts.delta, contacts)
    told = (counts.told(column(values)) for values in (moved, residuals, [x for row in leads for x in row]))
    moved, residuals, leads = told
    leads = ca.reshape(leads, -1, size).T
    return ContactFit(contacts, moved, residuals, leads[:, :-1], leads[:, -1], owners_of(counts))


def owners_of(counts: Counts) -> tuple[str, ...]:
    """The wheels that the rows of contacts are of, row by row."""
    names = [about.owner for about in contact_velocities(counts.here)[1]]
    return tuple(names[row] for row in counts.plan.kept)


def moved_with_slip(
    counts: Counts,
    contacts: ContactFit,
    turn: Scalar,
    unsure: Scalar,
    dt: Scalar,
    noise: tuple[Scalar, Scalar],
) -> tuple[ca.SX, ca.SX, list[Scalar]]:
    """d by reweighed least squares over the contacts, its covariance, and by wheel how far off its contact was.

    A contact's variance is V = slip² way + (A_k Q A_kᵀ)_ii: it creeps by `slip` over 1 m, way being the contacts' mean
    one, and its encoder counts with Q = encoders² mean|Δ|. Where a residual r is beyond three of its standard
    deviations, r² comes to V, and to the covariance as often as steps are in `LASTING`; at first it is how far a row is
    off from all others. A gyro's turn with its variance `unsure` helps to say who slips; it enters d later. Where it is
    still beyond what all wheels say together, they all slip by as much as it would move them.
    """
    encoders, slip = noise
    delta = column(list(counts.increments.values()))
    walked = counts.walked(encoders)
    counted = entries(contacts.leads @ counts.told(column(counts.delta)))
    ways = [absolute(way) for way in counted if not ca.SX(way).is_zero()]
    crept = slip * sum(ways, 0) / len(ways) + _NOTHING
    known = [crept + walked * lead for lead in entries(ca.sum2(contacts.leads**2))]
    found, off = _reweighed(contacts, known, turn, unsure)
    by_count, by_slip, d = (
        contacts.at(made, found, 0, ca.inf)
        for made in (
            ca.jacobian(contacts.moved, delta),
            ca.jacobian(contacts.moved, column(contacts.contacts.slips)),
            contacts.moved,
        )
    )
    slipped, missed = ca.diag(column(found) - column(known)), turn - d[2]
    normal = walked * by_count @ by_count.T + crept * by_slip @ by_slip.T
    beyond = missed**2 / ((normal + by_slip @ slipped @ by_slip.T)[2, 2] + unsure)
    beyond = where(less(SLIPPING**2, beyond), beyond, 0)
    slipped += ca.diag(where(beyond, missed**2, 0) * contacts.arms**2)
    spread = normal + maximum(1, 2 * LASTING / dt) * by_slip @ slipped @ by_slip.T
    return d, spread, _by_wheel([maximum(each, sqrt(beyond)) for each in off], contacts.owners)


def _reweighed(
    contacts: ContactFit, known: Sequence[Scalar], turn: Scalar, unsure: Scalar
) -> tuple[list[Scalar], list[Scalar]]:
    """The rows' variances with r² of those that slip, and how far all are off, in standard deviations."""
    spare = _spare(contacts, known, turn, unsure)
    normal = [variance * share for variance, share in zip(known, spare, strict=True)]
    found, left, said = list(known), list(known), spare
    for _ in range(ROUNDS):
        left = entries(contacts.at(contacts.residuals, found, turn, unsure))
        found = [
            variance + where(less(SLIPPING**2 * usual, miss**2), (miss / share) ** 2, 0)
            for variance, usual, miss, share in zip(known, normal, left, said, strict=True)
        ]
        said = [1] * len(spare)
    return found, [absolute(miss) / sqrt(usual) for miss, usual in zip(left, normal, strict=True)]


def _spare(contacts: ContactFit, variances: Sequence[Scalar], turn: Scalar, unsure: Scalar) -> list[Scalar]:
    """What is left of the rows' own errors in their residuals, 1 − h: the share h goes into the displacement.

    Where nothing slips a residual's variance is V (1 − h), and a row is r/(1 − h) off from what all others say.
    """
    shares = ca.diag(ca.jacobian(contacts.residuals, column(contacts.contacts.slips)))
    known = entries(contacts.at(shares, variances, turn, unsure))
    return [maximum(1 - share, _DETERMINED) for share in known]


def _by_wheel(values: Sequence[Scalar], owners: Sequence[str]) -> list[Scalar]:
    """The largest of every wheel's rows."""
    largest: dict[str, Scalar] = {}
    for value, owner in zip(values, owners, strict=True):
        largest[owner] = maximum(largest[owner], value) if owner in largest else value
    return list(largest.values())
