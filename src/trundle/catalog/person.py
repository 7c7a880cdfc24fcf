"""A person free in space, from published tables: pelvis, head with arms and trunk, both legs; and markers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trundle.catalog.anthropometry import (
    ANKLE_HEIGHT,
    HEEL,
    SEXES,
    SegmentGroup,
    ankle_in_foot,
    fractions,
    lower_trunk,
    upper_body,
)
from trundle.catalog.entry import Data, MeasureLike, described, entry
from trundle.catalog.leg import moments, segment
from trundle.errors import choose, require_known
from trundle.robot.description import Robot
from trundle.robot.units import LENGTH
from trundle.robot.values import read_value

# Where a hip's centre is behind the middle of the front spines of the pelvis, below it and to the side, in the pelvis's
# axes. Harrington et al. (2007), J. Biomechanics 40:595-602, the equations with all predictors: pelvis width
# (between the front spines) and depth (to the middle of the back ones), leg length (front spine to medial malleolus).
# Bell, Pedersen & Brand (1990), J. Biomechanics 23:617-621: 14 % of the width medial, 19 % behind, 30 % below a spine.
HIP_CENTRES: Mapping[str, tuple[str, str, str]] = {
    "harrington": (
        "0.24*pelvis_depth + 9.9 mm",
        "0.16*pelvis_width + 0.04*leg_length + 7.1 mm",
        "0.28*pelvis_depth + 0.16*pelvis_width + 7.9 mm",
    ),
    "bell": ("0.19*pelvis_width", "0.30*pelvis_width", "0.36*pelvis_width"),
}
LUMBAR = ("free", "fixed")
SIDES = {"r": -1, "l": 1}
# The pelvis of an adult (about 240 and 155 mm of 1.75 m): where neither is measured. Of no table.
_PELVIS_WIDTH, _PELVIS_DEPTH = 0.137, 0.0885
# How a chest is drawn.
_DEEP, _WIDE = "0.11*height", "0.19*height"

# Markers by name, without the side's letter: the segment that carries one and where, in the segment's axes (x forward,
# y outward, z up). Names as laboratories use them (Kadaba et al. 1990; Davis et al. 1991), with medial ones at knees
# and ankles and both sides of the forefoot.
_ON_SIDES: Mapping[str, tuple[str, tuple[str, str, str]]] = {
    "ASI": ("pelvis", ("0 m", "pelvis_width/2", "0 m")),
    "PSI": ("pelvis", ("-pelvis_depth", "45 mm", "0 m")),
    "THI": ("thigh", ("20 mm", "80 mm", "-0.5*thigh_length_{side}")),
    "KNE": ("thigh", ("0 m", "50 mm", "-thigh_length_{side}")),
    "KNM": ("thigh", ("0 m", "-50 mm", "-thigh_length_{side}")),
    "TIB": ("shank", ("20 mm", "60 mm", "-0.5*shank_length_{side}")),
    "ANK": ("shank", ("0 m", "38 mm", "-shank_length_{side}")),
    "ANM": ("shank", ("0 m", "-38 mm", "-shank_length_{side}")),
    "HEE": ("foot", (f"-{HEEL}*foot_length", "0 mm", "-0.5*ankle_height")),
    "TOE": ("foot", ("0.45*foot_length", "0 mm", "-0.5*ankle_height")),
    "MT1": ("foot", ("0.42*foot_length", "-45 mm", "-0.7*ankle_height")),
    "MT5": ("foot", ("0.35*foot_length", "45 mm", "-0.8*ankle_height")),
    "SHO": ("trunk", ("0 m", "170 mm", "0.9*trunk_length")),
}
_IN_THE_MIDDLE: Mapping[str, tuple[str, tuple[str, str, str]]] = {
    "C7": ("trunk", ("-70 mm", "0 mm", "trunk_length")),
    "T10": ("trunk", ("-100 mm", "0 mm", "0.4*trunk_length")),
    "CLAV": ("trunk", ("70 mm", "0 mm", "0.85*trunk_length")),
    "STRN": ("trunk", ("100 mm", "0 mm", "0.5*trunk_length")),
}
# By name the segment that carries a marker.
MARKERS: Mapping[str, str] = {
    **{
        f"{side.upper()}{name}": body if body in ("pelvis", "trunk") else f"{body}_{side}"
        for side in SIDES
        for name, (body, _) in _ON_SIDES.items()
    },
    **{name: body for name, (body, _) in _IN_THE_MIDDLE.items()},
}


def _leap(robot: Robot) -> Data:
    """A short leap with the legs swinging: a person alone in space falls."""
    swing = {"hip_flexion_r.rate": 4.0, "hip_flexion_l.rate": -4.0, "knee_flexion_r.rate": 3.0}
    return {
        "duration": 0.5,
        "initial": {"z": 1.0, "v_x": 2.0, "v_z": 2.0, "knee_flexion_l.angle": "30 deg", **swing},
    }


@entry(_leap)
def person(
    *,
    body_mass: MeasureLike = 70.0,
    height: MeasureLike = 1.75,
    sex: str = "male",
    pelvis_width: MeasureLike | None = None,
    pelvis_depth: MeasureLike | None = None,
    thigh_length: MeasureLike | None = None,
    shank_length: MeasureLike | None = None,
    foot_length: MeasureLike | None = None,
    hip_centre: str = "harrington",
    lumbar: str = "free",
) -> Robot:
    """A person free in space: pelvis, head with arms and trunk, both legs; angles as clinics name them, by ISB's signs.

    Hips turn by three hinges (flexion, adduction, internal rotation), knees by one (flexion), ankles by two
    (dorsiflexion, inversion), the trunk on the pelvis by three. Segments are de Leva's (1996).

    Examples
    --------
    >>> import trundle
    >>> list(trundle.catalog.person().joints)[3:9]  # doctest: +NORMALIZE_WHITESPACE
    ['hip_flexion_r', 'hip_adduction_r', 'hip_rotation_r', 'knee_flexion_r', 'ankle_dorsiflexion_r',
     'ankle_inversion_r']
    """
    measured = {
        "pelvis_width": pelvis_width,
        "pelvis_depth": pelvis_depth,
        "thigh_length": thigh_length,
        "shank_length": shank_length,
        "foot_length": foot_length,
    }
    own: dict[str, MeasureLike] = {name: size for name, size in measured.items() if size is not None}
    return person_of({"body_mass": body_mass, "height": height, **own}, sex, hip_centre, lumbar)


def person_of(own: Mapping[str, MeasureLike], sex: str, hip_centre: str, lumbar: str) -> Robot:
    """A person whose parameters are its own where it has some, and the tables' elsewhere."""
    require_table(sex, hip_centre)
    require_known(lumbar, LUMBAR, f"the trunk can't be {lumbar!r} on the pelvis", key="lumbar", hint=choose)
    rows = fractions("de_leva", sex)
    below, above = lower_trunk(sex), upper_body(sex)
    usual: dict[str, MeasureLike] = {"body_mass": 70.0, "height": 1.75}
    usual |= {f"{name}_mass": _times(rows[name][0], "body_mass") for name in ("thigh", "shank", "foot")}
    usual |= {"pelvis_mass": _times(below.mass, "body_mass"), "trunk_mass": _times(above.mass, "body_mass")}
    usual |= {f"{name}_length": _times(rows[name][1], "height") for name in ("thigh", "shank", "foot")}
    usual |= {
        "lower_trunk_length": _times(below.length, "height"),
        "trunk_length": _times(above.length, "height"),
    }
    usual |= {"ankle_height": _times(ANKLE_HEIGHT, "height")}
    usual |= {
        "pelvis_width": _times(_PELVIS_WIDTH, "height"),
        "pelvis_depth": _times(_PELVIS_DEPTH, "height"),
    }
    usual |= {"pelvic_tilt": 0.0}
    if hip_centre == "harrington":
        # front spine to medial malleolus, where Harrington's hip is above a leg that stands straight
        usual |= {"leg_length": "(0.16*pelvis_width + 7.1 mm + thigh_length + shank_length)/0.96"}
    names = ("hip_behind", "hip_below", "hip_outward")
    usual |= dict(zip(names, HIP_CENTRES[hip_centre], strict=True))
    for side in SIDES:
        usual |= {f"{name}_length_{side}": f"{name}_length" for name in ("thigh", "shank")}
        usual |= {f"knee_varus_{side}": 0.0, f"toe_out_{side}": 0.0}
    if hip_centre == "bell" or "leg_length" in own:  # then nothing uses them where both sides have their own
        for name in ("thigh_length", "shank_length"):
            if all(f"{name}_{side}" in own for side in SIDES):
                usual.pop(name)
    joints = _trunk(above, lumbar)
    for side in SIDES:
        joints |= _leg(rows, side)
    return described("person", usual | dict(own), joints=joints, base="floating", body=_pelvis(below))


def require_table(sex: str, hip_centre: str) -> None:
    """InputError where de Leva has no such column, or nobody such a regression."""
    require_known(sex, SEXES, f"de Leva's table has columns by sex, got {sex!r}", key="sex", hint=choose)
    message = f"there is no hip centre {hip_centre!r}"
    require_known(hip_centre, HIP_CENTRES, message, key="hip_centre", hint=choose)


def hip_centre_at(name: str, width: float, depth: float, leg: float) -> tuple[float, float, float]:
    """How far behind, below and outward of the front spines' middle a hip's centre is (m), by a regression's name."""
    sizes = {"pelvis_width": width, "pelvis_depth": depth, "leg_length": leg}
    behind, below, outward = (read_value(text, LENGTH).number_in(sizes) for text in HIP_CENTRES[name])
    return behind, below, outward


def _times(part: float, whole: str) -> str:
    return f"{part:.12g}*{whole}"


def _up(distance: str) -> list[MeasureLike]:
    """A place above the middle between the hips, along what is upright while the person stands."""
    return [f"-hip_behind - sin(pelvic_tilt)*{distance}", 0, f"cos(pelvic_tilt)*{distance} - hip_below"]


def _pelvis(lump: SegmentGroup) -> Data:
    """Its frame: from the middle of the front spines forward from the middle of the back ones, to the left, and up."""
    spines: Data = {"type": "box", "at": ["-pelvis_depth/2", 0, "-hip_below/2"]}
    return {
        "name": "pelvis",
        "mass": "pelvis_mass",
        "center_of_mass": _up(_times(lump.center / lump.length, "lower_trunk_length")),
        "inertia": moments("pelvis_mass", "lower_trunk_length", [k / lump.length for k in lump.radii]),
        "shapes": {"spines": {**spines, "size": ["pelvis_depth", "pelvis_width", "hip_below"]}},
    }


def _trunk(lump: SegmentGroup, lumbar: str) -> Data:
    """Head, arms and trunk on the pelvis: extended, bent to the right and turned to the left by ISB's axes z, x, y."""
    length = "trunk_length"
    body = {
        "name": "trunk",
        "mass": "trunk_mass",
        "center_of_mass": [0, 0, _times(lump.center / lump.length, length)],
        "inertia": moments("trunk_mass", length, [k / lump.length for k in lump.radii]),
        "shapes": {
            "chest": {"type": "box", "at": [0, 0, _times(0.5, length)], "size": [_DEEP, _WIDE, length]},
            "head": {"type": "sphere", "at": [0, 0, f"{length} + 0.08*height"], "radius": "0.06*height"},
        },
    }
    there: Data = {"parent": "base", "at": _up("lower_trunk_length"), "rpy": [0, "-pelvic_tilt", 0]}
    if lumbar == "fixed":
        return {"lumbar": {"type": "fixed", **there, "body": body}}
    return {
        "lumbar_extension": {"axis": [0, -1, 0], **there},
        "lumbar_bending": {"axis": [1, 0, 0], "parent": "lumbar_extension"},
        "lumbar_rotation": {"axis": [0, 0, 1], "parent": "lumbar_bending", "body": body},
    }


def _foot(rows: Mapping[str, tuple[float, ...]], side: str) -> Data:
    """A foot from its ankle on."""
    ahead, _ = ankle_in_foot("de_leva", rows["foot"])  # type: ignore[arg-type]
    sole: list[MeasureLike] = [f"{0.5 - HEEL}*foot_length", 0, "-0.75*ankle_height"]
    return {
        "name": f"foot_{side}",
        "mass": "foot_mass",
        "center_of_mass": [_times(ahead, "foot_length"), 0, "-ankle_height/2"],
        "inertia": moments("foot_mass", "foot_length", rows["foot"][:2:-1]),
        "shapes": {
            "foot": {"type": "box", "at": sole, "size": ["foot_length", "0.055*height", "ankle_height/2"]}
        },
    }


def _leg(rows: Mapping[str, tuple[float, ...]], side: str) -> Data:
    """A side's joints, whose angles mean the same on both: y and z turn round from right to left, x doesn't."""
    out = SIDES[side]
    mirrored = "" if out < 0 else "-"
    opposite = "-" if out < 0 else ""
    thigh, shank = (
        segment(
            f"{name}_{side}",
            rows[name][2],
            *rows[name][3:],
            length=f"{name}_length_{side}",
            mass=f"{name}_mass",
        )
        for name in ("thigh", "shank")
    )
    varus, toe_out = f"knee_varus_{side}", f"toe_out_{side}"
    hip = {"axis": [0, -1, 0], "at": ["-hip_behind", f"{opposite}hip_outward", "-hip_below"]}
    knee = {
        # across the shank, which stands at an angle to the thigh
        "axis": [0, 1, 0],
        "at": [0, 0, f"-thigh_length_{side}"],
        "rpy": [f"{mirrored}{varus}", 0, 0],
    }
    ankle = {"axis": [0, -1, 0], "at": [0, 0, f"-shank_length_{side}"], "rpy": [0, 0, f"{opposite}{toe_out}"]}
    inward, internal = [-out, 0, 0], [0, 0, -out]
    return {
        f"hip_flexion_{side}": {**hip, "parent": "base"},
        f"hip_adduction_{side}": {"axis": inward, "parent": f"hip_flexion_{side}"},
        f"hip_rotation_{side}": {"axis": internal, "parent": f"hip_adduction_{side}", "body": thigh},
        f"knee_flexion_{side}": {**knee, "parent": f"thigh_{side}", "body": shank},
        f"ankle_dorsiflexion_{side}": {**ankle, "parent": f"shank_{side}"},
        f"ankle_inversion_{side}": {
            "axis": inward,
            "parent": f"ankle_dorsiflexion_{side}",
            "body": _foot(rows, side),
        },
    }


def person_markers(robot: Robot) -> dict[str, tuple[str, tuple[float, float, float]]]:
    """Markers on a person of the catalogue, as `trundle.joint_motion` takes them.

    Parameters
    ----------
    robot : Robot
        As `trundle.catalog.person` makes it.

    Returns
    -------
    dict
        The segment that carries one, and where (m), by names such as RASI, LKNE (lateral), RKNM (medial), LHEE, C7.

    Raises
    ------
    InputError
        It is no such person.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.person_markers(trundle.catalog.person(pelvis_width="24 cm"))["LASI"]
    ('pelvis', (0.0, 0.12, 0.0))
    """
    read = robot.resolver(robot.parameter_values())

    def placed(place: Sequence[str], side: str = "") -> tuple[float, float, float]:
        x, y, z = (float(read(read_value(written.format(side=side), LENGTH))) for written in place)
        return x, SIDES.get(side, 1) * y + 0.0, z

    places: dict[str, tuple[str, tuple[float, float, float]]] = {}
    for name, body in MARKERS.items():
        side = name[0].lower() if name[1:] in _ON_SIDES else ""
        places[name] = body, placed(_ON_SIDES[name[1:]][1] if side else _IN_THE_MIDDLE[name][1], side)
    return places
