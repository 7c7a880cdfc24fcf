"""Surfaces of a terrain, by type: the keys of each, and in any scalar how far a point is from it."""

from __future__ import annotations

import math
from typing import ClassVar, Literal, NamedTuple

from pydantic import Field

from trundle.robot.component import default
from trundle.robot.kinds import Kind, Read, Registry, must_define
from trundle.robot.values import Angle, Direction, Length, Position, Positive
from trundle.scalars import Scalar, cos, exp, less, maximum, minimum, sin, sqrt, where
from trundle.spatial.vectors import Vector


class Spot(NamedTuple):
    """What a surface is near a point p (world frame).

    distance : signed distance of the point, negative inside the ground (m)
    normal : the surface's unit normal there, out of the ground
    gradient : ∂distance/∂p
    curvature : ∂²distance/∂p² as (xx, xy, yy, xz, yz) in 1/m; what is left out changes how fast a search gets
        there, and not where it ends
    """

    distance: Scalar
    normal: Vector
    gradient: Vector
    curvature: tuple[Scalar, Scalar, Scalar, Scalar, Scalar] = (0, 0, 0, 0, 0)


class Relief(NamedTuple):
    """A height h(x, y) in m with its first and second derivatives."""

    height: Scalar
    x: Scalar = 0
    y: Scalar = 0
    xx: Scalar = 0
    xy: Scalar = 0
    yy: Scalar = 0


def _check_surface(kind: type[Kind]) -> None:
    assert issubclass(kind, Surface)
    if issubclass(kind, HeightSurface):
        must_define(kind, HeightSurface, "relief")
    else:
        must_define(kind, Surface, "spot")


SURFACES = Registry("surface", "plane", check=_check_surface)


class Surface(Kind):
    """A surface that wheels can touch; the ground lies behind it.

    What a kind can do. `joins`: it makes one ground with others that do, of which the nearest counts; else a wheel
    touches it apart from others, as a riser beside the tread. `exact`: outside, its distance is that of the nearest
    point of the ground, and its normal points from there; a wheel's contact then follows from its centre alone.
    """

    family: ClassVar[Registry] = SURFACES
    joins: ClassVar[bool] = False
    exact: ClassVar[bool] = False
    # Terrain is no part of a robot: its numbers are no parameters of the robot's equations.
    in_equations: ClassVar[bool] = False

    def spot(self, point: Vector, read: Read) -> Spot:
        """How far a point is from it, and how it lies there; `read` turns a field into a scalar."""
        raise NotImplementedError

    def covers(self, x: Scalar, y: Scalar) -> Scalar:
        """1 where it says how high the ground is, else 0: maps end, and have holes."""
        return 1

    def is_rough(self, read: Read) -> bool:
        """Whether it may be more curved than a wheel, so that the distance has several minima along the wheel's
        circle.
        """
        return False

    def words(self, read: Read) -> str:
        """The surface in a few words, with its numbers."""
        return self.called


class HeightSurface(Surface):
    """A surface over the plane, z = h(x, y)."""

    joins: ClassVar[bool] = True

    def relief(self, x: Scalar, y: Scalar, read: Read) -> Relief:
        """The height and its derivatives at a place."""
        raise NotImplementedError

    def spot(self, point: Vector, read: Read) -> Spot:
        """Distance (z − h) N_z, the distance from the plane that touches the surface below the point.

        N = (−h_x, −h_y, 1)/√(1 + h_x² + h_y²).
        """
        x, y, z = point
        h, hx, hy, hxx, hxy, hyy = self.relief(x, y, read)
        nz = 1 / sqrt(1 + hx * hx + hy * hy)
        over, cube = z - h, nz * nz * nz
        nz_x, nz_y = -cube * (hx * hxx + hy * hxy), -cube * (hx * hxy + hy * hyy)
        gradient = (over * nz_x - hx * nz, over * nz_y - hy * nz, nz)
        curvature = (
            -hxx * nz - 2 * hx * nz_x,
            -hxy * nz - hx * nz_y - hy * nz_x,
            -hyy * nz - 2 * hy * nz_y,
            nz_x,
            nz_y,
        )
        return Spot(over * nz, (-hx * nz, -hy * nz, nz), gradient, curvature)


class PlaneSurface(Surface):
    """A plane: flat ground, a slope, or with 90 deg a wall."""

    exact: ClassVar[bool] = True

    type: Literal["plane"] = "plane"
    slope: Angle = default(
        0.0, "How steep it rises (rad), default 0; 90 deg is a wall that is met from below."
    )
    uphill: Direction = default(0.0, "Angle from x to the direction in which it rises (rad), default 0.")
    through: Position = default((0.0, 0.0, 0.0), "A point on it (m), default the origin.")

    def spot(self, point: Vector, read: Read) -> Spot:
        """N · (p − p₀), N = (−sin s cos u, −sin s sin u, cos s)."""
        steep, uphill = read(self.slope), read(self.uphill)
        sine = sin(steep)
        normal = (-sine * cos(uphill), -sine * sin(uphill), cos(steep))
        away = [p - read(value) for p, value in zip(point, self.through, strict=True)]
        distance = normal[0] * away[0] + normal[1] * away[1] + normal[2] * away[2]
        return Spot(distance, normal, normal)

    def words(self, read: Read) -> str:
        """How steep it is."""
        steep = math.degrees(self.slope.number)
        return f"plane of {steep:.3g} deg" if steep else "flat"


class WaveSurface(HeightSurface):
    """Sinusoids, h = A sin(2π x/l) cos(2π y/l′); without a length across, ridges along y."""

    type: Literal["waves"] = "waves"
    amplitude: Length = Field(description="Amplitude A (m).")
    length: Positive[Length] = Field(description="Wavelength l along x (m).")
    across: Positive[Length] | None = default(None, "Wavelength l' along y (m). Default: ridges along y.")

    def relief(self, x: Scalar, y: Scalar, read: Read) -> Relief:
        """The products of sines and cosines."""
        a, k = read(self.amplitude), 2 * math.pi / read(self.length)
        s, c = sin(k * x), cos(k * x)
        if self.across is None:
            return Relief(a * s, a * k * c, 0, -a * k * k * s)
        m = 2 * math.pi / read(self.across)
        t, d = sin(m * y), cos(m * y)
        return Relief(
            a * s * d,
            a * k * c * d,
            -a * m * s * t,
            -a * k * k * s * d,
            -a * k * m * c * t,
            -a * m * m * s * d,
        )

    def words(self, read: Read) -> str:
        """Amplitude and length."""
        return f"waves of {self.amplitude.number:g} m every {self.length.number:g} m"


class HillSurface(HeightSurface):
    """A Gaussian hill, h = H exp(−(ξ² + η²)/(2 w²)); a negative height digs a hollow."""

    type: Literal["hill"] = "hill"
    height: Length = Field(description="Height H of its top (m); negative for a hollow.")
    width: Positive[Length] = Field(description="Its standard deviation w (m).")
    at: tuple[Length, Length] = default((0.0, 0.0), "Where its top is, [x, y] (m). Default the origin.")

    def relief(self, x: Scalar, y: Scalar, read: Read) -> Relief:
        """The bell and its derivatives."""
        inverse = 1 / (read(self.width) * read(self.width))
        dx, dy = x - read(self.at[0]), y - read(self.at[1])
        h = read(self.height) * exp(-(dx * dx + dy * dy) * inverse / 2)
        px, py = -dx * inverse, -dy * inverse
        return Relief(h, h * px, h * py, h * (px * px - inverse), h * px * py, h * (py * py - inverse))

    def words(self, read: Read) -> str:
        """Its height and width."""
        return f"hill of {self.height.number:g} m, {self.width.number:g} m wide"


def _rounded(x: Scalar, width: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """(x + √(x² + w²))/2, which is x where x is large and 0 where it is negative, with two derivatives."""
    root = sqrt(x * x + width * width)
    share = x / root
    return (x + root) / 2, (1 + share) / 2, (1 - share * share) / (2 * root)


class RampSurface(HeightSurface):
    """A ramp from one level to another, its edges rounded: a step where it is short.

    h = H/l (g(ξ) − g(ξ − l)), g(ξ) = (ξ + √(ξ² + w²))/2, ξ along the direction in which it rises.
    """

    type: Literal["ramp"] = "ramp"
    rise: Length = Field(description="Height H of the upper level over the lower one (m).")
    run: Positive[Length] = Field(description="Length l over which it rises (m).")
    rounding: Positive[Length] = default(0.05, "Length w over which its edges are rounded (m), default 0.05.")
    at: tuple[Length, Length] = default(
        (0.0, 0.0), "Where it begins to rise, [x, y] (m). Default the origin."
    )
    uphill: Direction = default(0.0, "Angle from x to the direction in which it rises (rad), default 0.")

    def relief(self, x: Scalar, y: Scalar, read: Read) -> Relief:
        """Two rounded edges, one behind the other."""
        angle, length, width = read(self.uphill), read(self.run), read(self.rounding)
        c, s = cos(angle), sin(angle)
        along = c * (x - read(self.at[0])) + s * (y - read(self.at[1]))
        steep = read(self.rise) / length
        low, high = _rounded(along, width), _rounded(along - length, width)
        h, first, second = (steep * (a - b) for a, b in zip(low, high, strict=True))
        return Relief(h, first * c, first * s, second * c * c, second * c * s, second * s * s)

    def words(self, read: Read) -> str:
        """What it rises over what length."""
        return f"ramp of {self.rise.number:g} m over {self.run.number:g} m"


class StepSurface(Surface):
    """A step: a vertical riser with a level tread above, the edge between them sharp.

    ξ along the direction in which it rises: ground where ξ > 0 and z < H. Outside, the distance is that of the nearest
    point: max(−ξ, z − H), or √(ξ² + (z − H)²) ahead of the edge and above it.
    """

    exact: ClassVar[bool] = True

    type: Literal["step"] = "step"
    height: Length = Field(description="Height of its tread (m).")
    at: tuple[Length, Length] = default(
        (0.0, 0.0), "A point of its riser from above, [x, y] (m). Default the origin."
    )
    uphill: Direction = default(0.0, "Angle from x to the direction in which it rises (rad), default 0.")

    def spot(self, point: Vector, read: Read) -> Spot:
        """The distance from the riser, the tread or the edge."""
        c, s = cos(read(self.uphill)), sin(read(self.uphill))
        before = c * (read(self.at[0]) - point[0]) + s * (read(self.at[1]) - point[1])
        above = point[2] - read(self.height)
        ahead, over = maximum(before, 0), maximum(above, 0)
        outside = sqrt(ahead * ahead + over * over)
        inside = minimum(maximum(before, above), 0)
        # Within the ground the nearer of riser and tread is what a point comes from.
        beside = less(above, before)
        out = less(_NOWHERE, outside)
        size = 1 / maximum(outside, _NOWHERE)
        along, up = where(out, ahead * size, beside), where(out, over * size, 1 - beside)
        normal = (-c * along, -s * along, up)
        return Spot(outside + inside, normal, normal)

    def words(self, read: Read) -> str:
        """Its height."""
        return f"step of {self.height.number:g} m"


# Nearer to the ground than this (m) a point has no direction from it.
_NOWHERE = 1e-12


SURFACES.add(PlaneSurface, WaveSurface, HillSurface, RampSurface, StepSurface)
SURFACES.later("trundle.robot.gridded", "grid", "fractal")
