"""People's segments from their mass and height: published tables, number by number.

Masses are parts of the whole body's, lengths of the height, everything else of the segment's own length.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

from trundle.errors import InputError, choose, require_known
from trundle.frozen import Frozen
from trundle.wrenches import Inertia, Point

SegmentRow = tuple[float, float, float, float, float, float]

# de Leva P. (1996). Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters. J. Biomechanics 29(9):1223-1230,
# table 4: mass (%), length (mm), centre of mass from the proximal or upper end (%), radii of gyration about the
# sagittal, the transverse and the longitudinal axis (%). The shank is knee to ankle joint centre, the foot heel to toe
# tip, the hand wrist to third metacarpal, the head vertex to mid-gonion, the trunk suprasternale to mid-hip.
_DE_LEVA: Mapping[str, Mapping[str, SegmentRow]] = {
    "female": {
        "head": (6.68, 200.2, 58.94, 33.0, 35.9, 31.8),
        "trunk": (42.57, 529.3, 41.51, 35.7, 33.9, 17.1),
        "upper_arm": (2.55, 275.1, 57.54, 27.8, 26.0, 14.8),
        "forearm": (1.38, 264.3, 45.59, 26.1, 25.7, 9.4),
        "hand": (0.56, 78.0, 74.74, 53.1, 45.4, 33.5),
        "thigh": (14.78, 368.5, 36.12, 36.9, 36.4, 16.2),
        "shank": (4.81, 438.6, 43.52, 26.7, 26.3, 9.2),
        "foot": (1.29, 228.3, 40.14, 29.9, 27.9, 13.9),
    },
    "male": {
        "head": (6.94, 203.3, 59.76, 36.2, 37.6, 31.2),
        "trunk": (43.46, 531.9, 44.86, 37.2, 34.7, 19.1),
        "upper_arm": (2.71, 281.7, 57.72, 28.5, 26.9, 15.8),
        "forearm": (1.62, 268.9, 45.74, 27.6, 26.5, 12.1),
        "hand": (0.61, 86.2, 79.00, 62.8, 51.3, 40.1),
        "thigh": (14.16, 422.2, 40.95, 32.9, 32.9, 14.9),
        "shank": (4.33, 440.3, 43.95, 25.1, 24.6, 10.2),
        "foot": (1.37, 258.1, 44.15, 25.7, 24.5, 12.4),
    },
}
# The same table's parts of the trunk, which together are the trunk: suprasternale to xiphion, xiphion to omphalion,
# omphalion to mid-hip.
_DE_LEVA_TRUNK: Mapping[str, Mapping[str, SegmentRow]] = {
    "female": {
        "upper_trunk": (15.45, 142.5, 20.77, 74.6, 50.2, 71.8),
        "middle_trunk": (14.65, 205.3, 45.12, 43.3, 35.4, 41.5),
        "lower_trunk": (12.47, 181.5, 49.20, 43.3, 40.2, 44.4),
    },
    "male": {
        "upper_trunk": (15.96, 170.7, 29.99, 71.6, 45.4, 65.9),
        "middle_trunk": (16.33, 215.5, 45.02, 48.2, 38.3, 46.8),
        "lower_trunk": (11.17, 145.7, 61.15, 61.5, 55.1, 58.7),
    },
}
# And how high (mm) its other landmarks are: the seventh neck vertebra (cervicale) above the xiphion, the vertex above
# that, and the middle between the shoulders above the middle between the hips.
_DE_LEVA_LANDMARKS = {"female": (228.0, 243.7, 497.9), "male": (242.1, 242.9, 515.5)}
# How far to the side the shoulders are, as a part of the height (Winter 2009, figure 4.1).
_SHOULDER = 0.129
# The mean heights (mm) of those who were measured: lengths go with the height.
_DE_LEVA_HEIGHTS = {"female": 1735.0, "male": 1741.0}

# Winter D. A. (2009). Biomechanics and Motor Control of Human Movement, 4th ed., table 4.1 (after Dempster): mass,
# centre of mass from the proximal end, radius of gyration about it, as fractions. Lengths: figure 4.1 (after Drillis
# and Contini 1966). The foot's fractions are of malleolus to second metatarsal, whose length no figure has: the
# foot's own, 0.152 of the height, stands for it. Head, arms and trunk are one, from the hip up; its mass has the arms'.
_WINTER: Mapping[str, tuple[float, float, float, float]] = {
    "head_arms_trunk": (0.678, 0.288, 0.626, 0.496),
    "upper_arm": (0.028, 0.186, 0.436, 0.322),
    "forearm": (0.016, 0.146, 0.430, 0.303),
    "hand": (0.006, 0.108, 0.506, 0.297),
    "thigh": (0.100, 0.245, 0.433, 0.323),
    "shank": (0.0465, 0.246, 0.433, 0.302),
    "foot": (0.0145, 0.152, 0.500, 0.475),
}
# How high the ankle is, as a part of the height (Winter 2009, figure 4.1).
ANKLE_HEIGHT = 0.039
# How far ahead of the heel the ankle is, as a part of the foot from heel to toe tip: neither table has it.
HEEL = 0.25

# Zatsiorsky V. M., Seluyanov V. N. (1983). The mass and inertia characteristics of the main segments of the human body.
# Biomechanics VIII-B:1152-1159; also in Zatsiorsky V. M. (2002), Kinetics of Human Motion. Standard errors of their
# regressions on mass and height: of the mass, part of the mean one; of the centre along the segment, part of its length
# (women's as published, men's mm by de Leva's lengths); of the moment of inertia about the transverse axis, part of the
# mean one. De Leva's means are these people's; neither his table nor Winter's has deviations.
_DEVIATIONS: Mapping[str, Mapping[str, tuple[float, float, float]]] = {
    "female": {
        "head": (0.49 / 4.20, 0.032, 49.1 / 216.5),
        "upper_trunk": (1.47 / 9.58, 0.027, 147.2 / 490.3),
        "middle_trunk": (1.09 / 9.08, 0.020, 125.0 / 480.2),
        "lower_trunk": (0.90 / 7.73, 0.017, 78.8 / 411.0),
        "upper_arm": (0.21 / 1.58, 0.012, 25.6 / 80.7),
        "forearm": (0.11 / 0.86, 0.014, 7.9 / 39.7),
        "hand": (0.03 / 0.35, 0.019, 1.1 / 4.4),
        "thigh": (0.81 / 9.16, 0.012, 252.0 / 1647.3),
        "shank": (0.36 / 3.00, 0.010, 62.2 / 399.7),
        "foot": (0.11 / 0.88, 0.039, 4.0 / 35.6),
    },
    "male": {
        "head": (0.322 / 5.018, 6.9 / 203.3, 40.0 / 293.9),
        "upper_trunk": (1.142 / 11.654, 11.9 / 170.7, 171.0 / 705.2),
        "middle_trunk": (1.238 / 11.953, 11.8 / 215.5, 175.0 / 819.1),
        "lower_trunk": (1.020 / 8.164, 10.0 / 145.7, 117.0 / 525.0),
        "upper_arm": (0.178 / 1.980, 14.0 / 281.7, 26.6 / 114.4),
        "forearm": (0.101 / 1.177, 11.4 / 268.9, 9.6 / 60.2),
        "hand": (0.063 / 0.447, 11.2 / 86.2, 2.7 / 8.76),
        "thigh": (0.721 / 10.36, 13.1 / 422.2, 244.0 / 1999.4),
        "shank": (0.219 / 3.16, 12.5 / 440.3, 49.0 / 371.0),
        "foot": (0.101 / 0.997, 11.0 / 258.1, 5.77 / 40.0),
    },
}

_ONE = ("head", "trunk", "head_arms_trunk")
TABLES = ("winter", "de_leva")
SEXES = ("female", "male")


@dataclass(frozen=True)
class BodySegment:
    """A segment of a person, as fractions and in SI.

    Attributes
    ----------
    name : str
        Such as "shank"; one side's, where there are two.
    mass : float, kg
        Its mass.
    length : float, m
        From its proximal or upper end to the other.
    center : float, m
        From that end to its centre of mass.
    radii : tuple of 3 floats, m
        Radii of gyration about the centre: about the sagittal axis (forward), the transverse (to the side) and the
        longitudinal one. Winter's table has one for the first two and none for the third, which is 0 here.
    sides : int
        2 where a person has a left and a right one.
    """

    name: str
    mass: float
    length: float
    center: float
    radii: tuple[float, float, float]
    sides: int

    def inertia(self, center: Point) -> Inertia:
        """The segment's inertia, its axes x forward, y to the left and z along the segment: m k² each.

        A foot lies along its frame's x: turn the point's frame for it, or take `radii`.

        Parameters
        ----------
        center : Point
            Its centre of mass, in the segment's own frame.

        Returns
        -------
        Inertia

        Raises
        ------
        InputError
            The centre moves in its frame.

        Examples
        --------
        >>> import trundle
        >>> shank = trundle.body_segments(70, 1.75)["shank"]
        >>> shank.inertia(trundle.Frame("shank").point("G", (0, 0, -shank.center))).matrix[1, 1].round(4)
        np.float64(0.055)
        """
        moments = [self.mass * radius**2 for radius in self.radii]
        rows = [[moments[i] if i == j else 0.0 for j in range(3)] for i in range(3)]
        return Inertia(self.mass, rows, center=center)


def body_segments(
    mass: float, height: float, *, table: str = "winter", sex: str | None = None
) -> Mapping[str, BodySegment]:
    """Segments of a person of a mass and a height, from a published table.

    Parameters
    ----------
    mass : float, kg
        The whole body's.
    height : float, m
        The whole body's; segments' lengths go with it.
    table : {"winter", "de_leva"}, optional
        Winter (2009), table 4.1 with the lengths of figure 4.1, or de Leva (1996), table 4, which has the moments about
        the longitudinal axis, too.
    sex : {"female", "male"}, optional
        Which of de Leva's columns; Winter's table has one for both.

    Returns
    -------
    mapping of str to BodySegment
        By name: "head", "trunk", "upper_arm", "forearm", "hand", "thigh", "shank", "foot"; Winter's head, arms and
        trunk are one, "head_arms_trunk", with the masses of both arms.

    Raises
    ------
    InputError
        Mass or height isn't a person's, or there is no such table or column.

    Examples
    --------
    >>> import trundle
    >>> round(trundle.body_segments(73, 1.741, table="de_leva", sex="male")["thigh"].mass, 3)
    10.337
    """
    for name, number, most in (("mass", mass, 1000.0), ("height", height, 3.0)):
        if isinstance(number, bool) or not isinstance(number, Real) or not 0 < number <= most:
            message = f"expected a person's {name}, at most {most:g}, got {number!r}"
            raise InputError(message, key=name, hint="mass in kg, height in m")
    segments: dict[str, BodySegment] = {}
    for name, (part, length, center, *radii) in fractions(table, sex).items():
        size = height * length
        k = (size * radii[0], size * radii[1], size * radii[2])
        segments[name] = BodySegment(name, mass * part, size, size * center, k, 1 if name in _ONE else 2)
    return Frozen(segments)


def fractions(table: str, sex: str | None) -> dict[str, SegmentRow]:
    """A table's rows: mass, length, centre and three radii, each as a fraction."""
    require_known(table, TABLES, f"unknown table {table!r}", key="table", hint=choose)
    if table == "winter":
        if sex is not None:
            hint = "leave sex away, or take table='de_leva'"
            raise InputError("Winter's table is one for both sexes", key="sex", hint=hint)
        return {name: (m, length, center, k, k, 0.0) for name, (m, length, center, k) in _WINTER.items()}
    if sex not in SEXES:
        hint = f"{choose(sex, SEXES)}; Winter's table is one for both: table='winter'"
        raise InputError(f"de Leva's table has columns by sex, got {sex!r}", key="sex", hint=hint)
    height = _DE_LEVA_HEIGHTS[sex]
    return {
        name: (row[0] / 100, row[1] / height, row[2] / 100, row[3] / 100, row[4] / 100, row[5] / 100)
        for name, row in _DE_LEVA[sex].items()
    }


class Deviation(NamedTuple):
    """Standard deviations of a person's segment from what mass and height say: of the mass and of the moments of
    inertia as parts of these, of the centre as a part of the segment's length; and that length by its transverse radius
    of gyration.
    """

    mass: float
    center: float
    inertia: float
    length: float


def deviations(sex: str | None = None) -> Mapping[str, Deviation]:
    """Published deviations by segment (Zatsiorsky & Seluyanov 1983); without a sex the larger of both."""
    if sex is None:
        tables = [deviations(each) for each in SEXES]
        return {name: Deviation(*map(max, *(table[name] for table in tables))) for name in tables[0]}
    require_known(sex, SEXES, f"there are no deviations of {sex!r}", key="sex", hint=choose)
    rows = {**_DE_LEVA[sex], **_DE_LEVA_TRUNK[sex]}
    return {name: Deviation(*row, 100 / rows[name][4]) for name, row in _DEVIATIONS[sex].items()}


class SegmentGroup(NamedTuple):
    """Several segments as one: mass as a part of the body's; its centre above where it begins, its length and its radii
    of gyration about x (forward), y and z (up), as parts of the height.
    """

    mass: float
    center: float
    length: float
    radii: tuple[float, float, float]


def lower_trunk(sex: str) -> SegmentGroup:
    """De Leva's lower trunk, from the middle between the hips to the omphalion."""
    fractions("de_leva", sex)  # which sexes there are
    mass, length, center, *radii = _DE_LEVA_TRUNK[sex]["lower_trunk"]
    size = length / _DE_LEVA_HEIGHTS[sex]
    x, y, z = (size * radius / 100 for radius in radii)
    return SegmentGroup(mass / 100, size * (1 - center / 100), size, (x, y, z))


def upper_body(sex: str) -> SegmentGroup:
    """De Leva's head, arms that hang, and trunk above the omphalion, from there up to the cervicale."""
    rows, height, trunk = fractions("de_leva", sex), _DE_LEVA_HEIGHTS[sex], _DE_LEVA_TRUNK[sex]
    middle = trunk["middle_trunk"][1]
    neck, vertex, shoulders = _DE_LEVA_LANDMARKS[sex]
    tops = {"middle_trunk": middle, "upper_trunk": middle + trunk["upper_trunk"][1]}
    parts = [
        _part(tuple(x / 100 for x in (mass, length * 100 / height, *rest)), tops[name] / height)
        for name, (mass, length, *rest) in trunk.items()
        if name in tops
    ]
    parts.append(_part(rows["head"], (middle + neck + vertex) / height))
    top = (shoulders - trunk["lower_trunk"][1]) / height
    for name in ("upper_arm", "forearm", "hand"):
        parts += [_part(rows[name], top, side * _SHOULDER) for side in (-1, 1)]
        top -= rows[name][1]
    mass = sum(part[0] for part in parts)
    center = sum(part[0] * part[2] for part in parts) / mass
    squares = [0.0, 0.0, 0.0]
    for share, y, z, (k_x, k_y, k_z) in parts:
        up = (z - center) ** 2
        for axis, square in enumerate((k_x**2 + y**2 + up, k_y**2 + up, k_z**2 + y**2)):
            squares[axis] += share * square / mass
    k = (math.sqrt(squares[0]), math.sqrt(squares[1]), math.sqrt(squares[2]))
    return SegmentGroup(mass, center, (middle + neck) / height, k)


def _part(row: Sequence[float], top: float, y: float = 0.0) -> tuple[float, float, float, Sequence[float]]:
    """Mass, y and z of the centre, and radii of a segment whose upper end is at `top`; parts of the height."""
    mass, length, center, *radii = row
    return mass, y, top - center * length, [length * radius for radius in radii]


def head_arms_trunk(table: str, sex: str | None) -> SegmentGroup:
    """Head, arms and trunk from the middle between the hips up, in either table."""
    rows = fractions(table, sex)
    if sex is None:
        mass, length, center, k, _, _ = rows["head_arms_trunk"]
        return SegmentGroup(mass, center * length, length, (k * length, k * length, 0.0))
    below, above = lower_trunk(sex), upper_body(sex)
    mass, up = below.mass + above.mass, below.length + above.center
    center = (below.mass * below.center + above.mass * up) / mass
    squares = [
        (
            below.mass * (k**2 + far * (below.center - center) ** 2)
            + above.mass * (n**2 + far * (up - center) ** 2)
        )
        for k, n, far in zip(below.radii, above.radii, (1, 1, 0), strict=True)
    ]
    x, y, z = (math.sqrt(square / mass) for square in squares)
    return SegmentGroup(mass, center, below.length + above.length, (x, y, z))


def ankle_in_foot(table: str, row: SegmentRow) -> tuple[float, float]:
    """How far the foot's centre of mass is ahead of the ankle and below it, as parts of the foot's length and of the
    height. Winter's row begins at the ankle; de Leva's at the heel, on the ground.
    """
    if table == "winter":
        # from the malleolus down to the metatarsal, half way
        return math.sqrt(max(row[2] ** 2 - (ANKLE_HEIGHT / 2 / row[1]) ** 2, 0.0)), ANKLE_HEIGHT / 2
    return row[2] - HEEL, ANKLE_HEIGHT
