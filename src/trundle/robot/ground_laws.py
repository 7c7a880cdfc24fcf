"""Contact laws of vehicles on terrain: linear up to a limit, Pacejka's curves, and wheels in loose soil.

They are contact laws like any other. The first two need a load alone, and so serve planar bases, too.

Signs are those of `Touch`: slip is the velocity of the wheel's material, so forces point against it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple

from pydantic import Field

from trundle.errors import InputError
from trundle.robot.component import default
from trundle.robot.contact import LAWS, Bearing, ContactLaw, Push, Touch
from trundle.robot.kinds import Read
from trundle.robot.values import (
    Angle,
    Damping,
    Length,
    NotNegative,
    Plain,
    Positive,
    Ratio,
)
from trundle.scalars import (
    Scalar,
    absolute,
    asin,
    atan,
    clamp,
    cos,
    exp,
    is_zero,
    less,
    maximum,
    minimum,
    sin,
    sqrt,
    tan,
    where,
)

# Slower than this over the ground (m/s) a wheel has no slip ratio: the quotient is taken at this speed.
_SLOWEST = 1e-3


class Linear(ContactLaw):
    """Viscous up to the limit of friction: f = −C v, its length at most μ N.

    C is `slip_damping`, on terrain by default 0.1 s times the ground's stiffness: at a load of K h a wheel slips at
    μ h/(0.1 s) before friction limits it. With `box` each direction has its own limit, |f_x| ≤ μ N
    and |f_y| ≤ μ N, as in Seegmiller's library; the friction then depends on where the wheel heads.
    """

    tunable: ClassVar[tuple[str, ...]] = ("friction",)
    sources: ClassVar[tuple[str, ...]] = ("seegmiller2016",)

    type: Literal["linear"] = "linear"
    slip_damping: Damping | None = default(
        None, "Force against slip C (N s/m). Default on terrain: 0.1 s times the ground's stiffness."
    )
    limit: Literal["ellipse", "box"] = Field(
        default="ellipse",
        description="Whether friction limits the force's length (ellipse) or each direction alone (box).",
    )

    def push(self, touch: Touch, read: Read) -> Push:
        """The damper's force within the limit."""
        grip, damping = read(self.friction) * touch.load, self._damping(touch.bearing, read)
        free = [-damping * v for v in touch.slip]
        if self.limit == "box" or len(free) == 1:
            return Push([clamp(force, grip) for force in free])
        square = sum(force * force for force in free)
        within = less(square, grip * grip)
        # A wheel that touches nothing has neither force nor grip.
        share = where(within, 1, grip / sqrt(maximum(square, _NO_FORCE)))
        return Push([share * force for force in free])

    def _damping(self, bearing: Bearing | None, read: Read) -> Scalar:
        if self.slip_damping is not None:
            return read(self.slip_damping)
        if bearing is None:
            # A planar base rests on rigid ground, which says no damping: the law's own slip speed does.
            raise InputError(
                "the linear contact law has no slip_damping, and without terrain nothing else says it",
                hint="write slip_damping: 1000 N s/m, say, among the wheel's keys",
            )
        return _SECONDS * bearing.stiffness

    def words(self, read: Read) -> str:
        """Friction, and the damper where it is written."""
        damper = "" if self.slip_damping is None else f", {read(self.slip_damping):.3g} N s/m below it"
        return f"friction {read(self.friction):.3g}{damper}"


# C over K of the linear law (s), as in Seegmiller & Kelly (2016), and a force that is none, squared (N²).
_SECONDS, _NO_FORCE = 0.1, 1e-24


class Pacejka(ContactLaw):
    """Pacejka's curves for slip along and across, joined by Nicolas & Comstock.

    s = −v_x/V and tan α = v_y/|V| with V the wheel's own speed along its heading (at least 1 mm/s), F(x) = D sin(C
    atan(B (1 − E) K x + E atan(B K x))). Together they give the share of μ N that is g = |F_s F_α|/√(s² F_α² + F_s²
    tan² α), F_α at 2α/π: f_x = sgn(V) μ N g s, f_y = −sgn(V) μ N g tan α (Brach & Brach 2011). It is neither the magic
    formula 5.2 nor 6.
    """

    tunable: ClassVar[tuple[str, ...]] = ("friction", "along", "across")
    spins: ClassVar[bool] = True
    sources: ClassVar[tuple[str, ...]] = ("brach2011",)

    type: Literal["pacejka"] = "pacejka"
    along: tuple[Plain, Plain, Plain, Plain, Plain] = default(
        (1 / 15, 1.5, 1.0, 0.3, 100.0), "B, C, D, E and K of the slip along the heading."
    )
    across: tuple[Plain, Plain, Plain, Plain, Plain] = default(
        (8 / 75, 1.5, 1.0, 0.6, 100.0), "B, C, D, E and K of the slip angle."
    )

    def push(self, touch: Touch, read: Read) -> Push:
        """Both curves joined, by F_s/s and F_α/tan α: g = |σ_s σ_α|/√(σ_s² + σ_α²), which is smooth at rest."""
        grip, slip = read(self.friction) * touch.load, touch.slip
        own = slip[0] + touch.rim
        speed = maximum(absolute(own), _SLOWEST)
        ahead, aside = slip[0] / speed, (slip[1] if len(slip) > 1 else 0) / speed
        along, across = ([read(number) for number in curve] for curve in (self.along, self.across))
        stiff = _stiffness(ahead, along)
        turned = atan(aside)
        side = _stiffness(turned * _TO_QUARTERS, across) * _TO_QUARTERS * _share(turned, aside, 1.0)
        share = grip * absolute(stiff * side) / sqrt(stiff * stiff + side * side)
        return Push([-share * ahead, -share * aside][: len(slip)])

    def words(self, read: Read) -> str:
        """Its friction."""
        return f"Pacejka's curves, friction {read(self.friction):.3g}"


# A slip angle of α counts as 2α/π.
_TO_QUARTERS = 2 / math.pi
# Below it a quotient of small numbers is its limit; the next term is a millionth of a millionth of it.
_SMALL = 1e-6


def _share(value: Scalar, slip: Scalar, limit: Scalar) -> Scalar:
    """value/slip, and its limit where the slip vanishes."""
    rests = less(absolute(slip), _SMALL)
    return where(rests, limit, value / where(rests, 1, slip))


def _stiffness(slip: Scalar, curve: Sequence[Scalar]) -> Scalar:
    """F(x)/x of a curve F(x) = D sin(C atan(B (1 − E) K x + E atan(B K x)))."""
    b, c, d, e, k = curve
    steep = b * k * slip
    return _share(d * sin(c * atan((1 - e) * steep + e * atan(steep))), slip, d * c * b * k)


class _Arc(NamedTuple):
    """Where a wheel meets the soil, where the pressure is greatest, where it leaves the soil (rad from its lowest
    point, forward).
    """

    front: Scalar
    peak: Scalar
    back: Scalar


class Soil(ContactLaw):
    """A rigid wheel in loose soil: Bekker's pressure and Janosi's shear, over the arc of the contact.

    h the sinkage: θ_f = acos(1 − h/r) ahead, θ_r = −acos(1 − λ h/r) behind, the greatest pressure at θ_m = (a₀ + a₁ s)
    θ_f. σ = rⁿ (k_c/b + k_φ)(cos θ − cos θ_f)ⁿ ahead of θ_m, mirrored behind it; τ = (c + σ tan φ)(1 − e^(−|j|/K))
    against the shear j (Ishigami, Miwa, Nagatani & Yoshida 2007, eq. 3 to 11; Jia, Smith & Peng 2012). The load is
    its own, less the ground's damping. The wheel's width b is the wheel's own.

    Forces act at the wheel's lowest point, r below its axle. The shear along the rim turns it back by T = r² b ∫ τ_x
    dθ, so the moment is r F_x − T, and the soil takes T ω − F_x v_x − F_y v_y.
    """

    carries: ClassVar[bool] = True
    firmness: ClassVar[str] = "cohesion_modulus"
    resists: ClassVar[bool] = True
    spins: ClassVar[bool] = True
    sources: ClassVar[tuple[str, ...]] = ("ishigami2007", "jia2012")

    type: Literal["soil"] = "soil"
    contact_width: Positive[Length] | None = default(
        None, "Width b of the rim in the soil (m). Default: the wheel's width."
    )
    cohesion: NotNegative[Plain] = default(0.8, "Cohesion c (Pa), default 0.8.")
    internal_friction: NotNegative[Angle] = default(
        "37.2 deg", "Angle of internal friction φ (rad), default 37.2 deg."
    )
    cohesion_modulus: NotNegative[Plain] = default(1370.0, "Bekker's k_c (N/m^(n+1)), default 1370.")
    friction_modulus: NotNegative[Plain] = default(8.14e5, "Bekker's k_φ (N/m^(n+2)), default 8.14e5.")
    exponent: Positive[Ratio] = default(1.0, "Exponent n of the sinkage, default 1.")
    pressure_shape: tuple[Plain, Plain] = default(
        (0.4, 0.15), "a₀ and a₁ of where the pressure is greatest, default 0.4 and 0.15."
    )
    rear: NotNegative[Plain] = default(1.0, "λ: the soil behind the wheel by the sinkage ahead, default 1.")
    shear_length: Positive[Length] = default(0.025, "Janosi's K (m), default 0.025.")
    quadrature: Literal["gauss", "trapezoid"] = Field(
        default="gauss",
        description="How it sums over the arc: gauss, or trapezoid over 61 points as Seegmiller's library, which has "
        "no moment about the axle: wheels then turn at no cost but that of their forces.",
    )

    def default_counts(self, field: str) -> bool:
        """All of its own numbers, and no friction coefficient."""
        return field not in ("friction", "slip_speed")

    def push(self, touch: Touch, read: Read) -> Push:
        """Pressure and shear, summed over the arc; a wheel that runs backward is one that runs forward, mirrored.

        Its way is that of the mean of its own speed and its rim's. Below 1 mm/s front and rear become alike, and only
        what slips is sheared, so that a wheel at rest is neither pushed nor turned.
        """
        bearing, radius = touch.bearing, touch.radius
        if bearing is None:
            raise InputError("soil carries a wheel by how deep it is in: it needs a terrain")
        own = touch.slip[0] + touch.rim
        mean = (own + touch.rim) / 2
        way, going = where(less(mean, 0), -1.0, 1.0), minimum(absolute(mean) / _SLOWEST, 1)
        ratio = clamp(-way * touch.slip[0] / maximum(absolute(touch.rim), _SLOWEST), 1.0)
        aside = (touch.slip[1] if len(touch.slip) > 1 else 0) / maximum(absolute(own), _SLOWEST)
        depth = minimum(maximum(bearing.depth, _TOUCHED * radius), radius)
        arc = self._arc(depth / radius, ratio, going, read)
        sums: list[Scalar] = [0, 0, 0, 0]
        width = self._width(touch, read)
        for theta, weight in self._nodes(arc):
            pressure = self._pressure(theta, arc, radius, width, read)
            turned = sin(arc.front) - sin(theta)
            ahead = radius * (going * (arc.front - theta) - (going - ratio) * turned)
            across = -radius * (1 - absolute(ratio)) * (arc.front - theta) * aside
            size = sqrt(ahead * ahead + across * across + _NO_SHEAR)
            shear = read(self.cohesion) + pressure * tan(read(self.internal_friction))
            shear = shear * (1 - exp(-size / read(self.shear_length))) / size
            c, s = cos(theta), sin(theta)
            along = shear * ahead
            parts = (along * c - pressure * s, shear * across, along * s + pressure * c, along)
            sums = [total + weight * part for total, part in zip(sums, parts, strict=True)]
        area = radius * width
        load = maximum(area * sums[2] + bearing.damping * bearing.sinking, 0)
        forces = [way * area * sums[0], area * sums[1]]
        # The reference's library leaves the rim's shear out.
        moment = 0 if self.quadrature == "trapezoid" else way * area * radius * (sums[0] - sums[3])
        return Push(forces[: len(touch.slip)], moment, load=load)

    def _width(self, touch: Touch, read: Read) -> Scalar:
        """How broad the rim is in the soil (m)."""
        if self.contact_width is not None:
            return read(self.contact_width)
        if is_zero(touch.width):
            raise InputError(
                "the soil law doesn't know how broad the wheel is",
                hint="write width: 10 cm among the wheel's keys, or contact_width where the rim in the soil is another",
            )
        return touch.width

    def _arc(self, share: Scalar, ratio: Scalar, going: Scalar, read: Read) -> _Arc:
        """θ_f, θ_m and θ_r at a sinkage in radii, a slip ratio, and how much front and rear differ (0 to 1)."""
        rear = read(self.rear)
        alike = (1 - going) * (1 - rear) / 2
        front, back = (_opening(part * share) for part in (1 - alike, rear + alike))
        first, second = (read(number) for number in self.pressure_shape)
        return _Arc(front, (first * going + second * ratio) * front, -back)

    def _nodes(self, arc: _Arc) -> list[tuple[Scalar, Scalar]]:
        """Angles and weights: evenly over the arc, or Gauss' in √|θ − end| on both sides of the greatest pressure.

        At the arc's ends the pressure goes as |θ − end|ⁿ, which the root makes smooth.
        """
        front, peak, back = arc
        if self.quadrature == "trapezoid":
            count = 60
            step = (front - back) / count
            return [(back + k * step, step * (0.5 if k in (0, count) else 1.0)) for k in range(count + 1)]
        pieces = ((back, peak - back, 1), (front, peak - front, -1))
        return [
            (end + length * share, sign * length * weight)
            for end, length, sign in pieces
            for share, weight in _GRADED
        ]

    def _pressure(self, theta: Scalar, arc: _Arc, radius: Scalar, width: Scalar, read: Read) -> Scalar:
        """σ(θ) in Pa."""
        front, peak, back = arc
        mirrored = front - (theta - back) * (front - peak) / (peak - back)
        at = where(less(peak, theta), theta, mirrored)
        modulus = read(self.cohesion_modulus) / width + read(self.friction_modulus)
        deep = radius * maximum(cos(at) - cos(front), 0)
        return modulus * deep ** read(self.exponent)

    def words(self, read: Read) -> str:
        """Its friction and stiffness."""
        return f"loose soil, internal friction {math.degrees(read(self.internal_friction)):.3g} deg"


# A wheel that just touches has no arc to divide by (in radii), a point that just enters no shear (m²), and soil that
# doesn't rise behind a wheel no arc there (in radii).
_TOUCHED, _NO_SHEAR, _NO_ARC = 1e-9, 1e-24, 1e-18
# Nodes u² and weights 2 u w of Gauss and Legendre's rule of eight points u in [0, 1]. Of 150 wheels (n from 0.3 to 1.5,
# K from 5 to 40 mm, sinkages up to half the radius) forces and moments are at most 1e-4 of the force off; in θ itself,
# at the same cost, 5e-4.
_GRADED = tuple(
    ((0.5 + sign * node / 2) ** 2, (0.5 + sign * node / 2) * weight)
    for node, weight in (
        (0.1834346424956498, 0.3626837833783620),
        (0.5255324099163290, 0.3137066458778873),
        (0.7966664774136267, 0.2223810344533745),
        (0.9602898564975363, 0.1012285362903763),
    )
    for sign in (-1, 1)
)


def _opening(share: Scalar) -> Scalar:
    """acos(1 − share), with a derivative at 0."""
    return 2 * asin(sqrt(maximum(share, _NO_ARC) / 2))


LAWS.add(Linear, Pacejka, Soil)
