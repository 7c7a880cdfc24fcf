"""A person scaled from a static trial: lengths between joint centres, masses by a table, markers where they stand.

Every segment's frame follows from the markers' mean places; the places of all markers are those in these frames. What
the joints can't turn about (a knee's varus, a foot's turning out) becomes a parameter of the person, so that the
person stands in the trial without any error but the markers' noise.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from trundle.arrays import FloatArray
from trundle.catalog.anthropometry import fractions, lower_trunk
from trundle.catalog.person import MARKERS, SIDES, hip_centre_at, person_of, require_table
from trundle.documents.writer import dump
from trundle.errors import InputError, require_known, warn
from trundle.expected import by_name, check_type
from trundle.files import path_of, replacing_in
from trundle.frozen import Brief, Frozen, Rebuilt, settle
from trundle.limbs.capture.marker_model import Markers
from trundle.limbs.capture.recording import Recording
from trundle.limbs.capture.recording_files import read_recording
from trundle.model.arguments import number
from trundle.robot import Robot

# How far (m) a marker may be from its mean place: who stands still sways by a centimetre (Winter 1995: root of the mean
# square 3 to 8 mm at the centre of mass), and who takes a step goes much further.
STILL = 0.02
# Markers that are nearer than that (m) are one; legs that are shorter or longer are of other units.
_APART, _LEGS, _TALLEST = 0.01, (0.1, 1.6), 3.0
# Of a segment's length. Legs differ by 5 mm on the average, and rarely by 20 mm (Knutson 2005).
_UNEVEN = 0.1
# Mass by height squared (kg/m²): all people that were ever weighed lie between. Grams and pounds don't, or seldom.
_BODY_MASS_INDEX = 7.0, 120.0
_SEGMENTS = ("pelvis", "trunk", *(f"{name}_{side}" for side in SIDES for name in ("thigh", "shank", "foot")))
_FILES = ("person.yaml", "markers.yaml")
# The sacrum's marker stands for both back spines.
_SACRUM = "SACR"
# Of a leg's length: whose feet are less than that below the pelvis stands along another axis.
_UPRIGHT = 0.5
# The sine of 30°: nobody's pelvis hangs further to a side, standing.
_LEVEL = 0.5
# A trunk moves on the pelvis where that many markers are on it.
_LEAST = 3
_NEEDED = tuple(
    f"{side}{name}" for side in "RL" for name in ("ASI", "KNE", "KNM", "ANK", "ANM", "HEE", "TOE")
)
# What the person's description works out by itself.
_OF_HIPS = ("hip_behind", "hip_below")
Frames = dict[str, tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False, repr=False)
class ScaledPerson(Brief, Rebuilt):
    """A person with the lengths of a static trial, and where the trial's markers are on it.

    `trundle.scale_person` makes it.

    Parameters
    ----------
    robot : Robot
        The person, as `trundle.catalog.person` describes one; z is up.
    markers : mapping of str to (str, (x, y, z))
        By a marker's name in the trial the segment that carries it, and where (m).
    lengths : mapping of str to float, m or rad
        What the trial told, by the person's parameters: `thigh_length_r`, `pelvis_width`, `knee_varus_l` and so on.
    left_out : tuple of str
        The trial's markers that are on no segment.
    """

    robot: Robot
    markers: Markers
    lengths: Mapping[str, float]
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        settle(self, markers=Frozen(self.markers), lengths=Frozen(self.lengths))

    def save(self, folder: str | os.PathLike[str]) -> tuple[Path, Path]:
        """Write person.yaml and markers.yaml, which `trundle.inverse` takes: both or neither.

        Parameters
        ----------
        folder : str or path
            Where to; it is made where it isn't there.

        Returns
        -------
        tuple of Path
            The description's, and the markers'.

        Raises
        ------
        InputError
            The files can't be written.

        Examples
        --------
        >>> import trundle
        >>> trundle.ScaledPerson(trundle.catalog.person(), {"C7": ("trunk", (0, 0, 0.4))}, {}).save("scaled")[1].name
        'markers.yaml'
        """
        folder = path_of(folder, "ScaledPerson.save")
        with replacing_in(folder, _FILES) as drafts:
            for name, text in zip(_FILES, (dump(self.robot), self._listed()), strict=True):
                (drafts / name).write_text(text, encoding="utf-8", newline="\n")
        return folder / _FILES[0], folder / _FILES[1]

    def _listed(self) -> str:
        """The markers as `trundle.read_markers` reads them, to a hundredth of a millimetre."""
        places = {
            name: {"body": body, "at": [round(float(x), 5) + 0.0 for x in place]}
            for name, (body, place) in self.markers.items()
        }
        return yaml.safe_dump({"markers": places}, sort_keys=False, default_flow_style=None)


def scale_person(
    static: Recording | str | os.PathLike[str],
    *,
    body_mass: float | str,
    sex: str,
    height: float | str | None = None,
    hip_centre: str = "harrington",
    markers: Mapping[str, str] | None = None,
    up: str = "z",
    still_within: float | str = STILL,
) -> ScaledPerson:
    """A person of the catalogue with the lengths of somebody who stood still, and the markers where they were seen.

    Knees and ankles are midway between their two markers, hips where a regression puts them from the pelvis's; lengths
    are the distances between these centres. Masses are de Leva's parts of the body's.

    Parameters
    ----------
    static : Recording or path
        Markers while the person stands upright, on both feet.
    body_mass : float or str, kg
        The whole body's.
    sex : {"female", "male"}
        Which of de Leva's columns.
    height : float or str, m, optional
        For what no marker tells: the feet's length, the trunk's where there is no C7. By default it goes with the legs.
    hip_centre : {"harrington", "bell"}, optional
        The regression: Harrington et al. (2007) or Bell et al. (1990).
    markers : mapping of str to str, optional
        By a marker's name in the trial what it is: a standard marker (`{"R.Knee.Lat": "RKNE"}`), or the segment that
        carries another one (`{"RTH2": "thigh_r"}`). Markers with standard names needn't be listed.
    up : "y" or "z", optional
        Which axis is up in the trial.
    still_within : float or str, m, optional
        How far a marker may be from its mean place; by default 20 mm.

    Returns
    -------
    ScaledPerson
        The person and the markers, as `trundle.inverse(person.robot, …, markers=person.markers)` takes them.

    Raises
    ------
    InputError
        A marker is missing, moves, or is on another side than its name says; the person doesn't stand along `up`; a
        name is unknown.

    Warns
    -----
    UserWarning
        The sides differ by more than a tenth; nobody of that height has that mass.

    References
    ----------
    Harrington et al. 2007; Bell, Pedersen & Brand 1990; de Leva 1996.

    Examples
    --------
    >>> import trundle
    >>> seen = {"RASI": [(0, -0.12, 1)]}
    >>> trundle.scale_person(trundle.Recording([0.0], seen), body_mass=70, sex="male")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    trundle.errors.InputError: markers: the static trial has no RKNE, RKNM, RANK, RANM, ...
    """
    require_table(sex, hip_centre)
    recording = read_recording(static) if isinstance(static, (str, os.PathLike)) else static
    check_type(recording, Recording, "static")
    mass, still = number(body_mass, "body_mass", "kg"), number(still_within, "still_within", "m")
    try:
        roles = _roles(recording, by_name({} if markers is None else markers, "markers"))
        seen = _still(recording.turned(up, "z"), roles, still)
        at = {roles[name]: place for name, place in seen.items()}
        _require_upright(at, up)
        own, frames = _measured(at, hip_centre)
    except InputError as error:
        raise error.at(file=recording.source or None) from None
    _tell_sides(own)
    own["height"] = _height(own, sex) if height is None else number(height, "height", "m")
    if not 0 < own["height"] <= _TALLEST:
        message = f"expected a person's height, at most {_TALLEST:g} m, got {own['height']:g} m"
        raise InputError(message, key="height", hint="such as 1.75, or '175 cm'")
    frames["trunk"] = _trunk(frames["pelvis"], own, sex)
    free = sum(_carrier(role) == "trunk" for role in roles.values()) >= _LEAST
    if free and "C7" in at:
        own["trunk_length"] = float(_inside(frames["trunk"], at["C7"])[2])
    lengths = {name: length for name, length in own.items() if name not in _OF_HIPS}
    robot = person_of({"body_mass": mass, **lengths}, sex, hip_centre, "free" if free else "fixed")
    placed = {
        name: (body := _carrier(roles[name]), _inside(frames[body], place)) for name, place in seen.items()
    }
    left = tuple(name for name in recording.markers if name not in seen)
    _tell_weight(mass, lengths["height"])
    return ScaledPerson(robot, placed, lengths, left)


def _tell_weight(mass: float, height: float) -> None:
    """Warn of a mass that nobody of that height has."""
    least, most = (index * height**2 for index in _BODY_MASS_INDEX)
    if not least <= mass <= most:
        warn(
            f"nobody who is {height:.3g} m tall has a mass of {mass:g} kg ({least:.2g} to {most:.3g} kg): is the mass "
            "in kg?"
        )


def _carrier(role: str) -> str:
    """The segment that carries a marker: one that has a name, or another one that is on it."""
    return "pelvis" if role == _SACRUM else MARKERS.get(role, role)


def _roles(recording: Recording, given: Mapping[str, str]) -> dict[str, str]:
    """What markers of a trial are, by their names in it; InputError for what is unknown or missing."""
    standard = (*MARKERS, _SACRUM)
    for name, role in given.items():
        require_known(name, recording.markers, f"the static trial has no marker {name!r}", key="markers")
        message = f"marker {name!r} can't be {role!r}: say a standard marker, or the segment that it is on"
        require_known(role, (*standard, *_SEGMENTS), message, key="markers")
        twin = next((other for other in given if other != name and given[other] == role in standard), None)
        if twin is not None:
            raise InputError(f"{name!r} and {twin!r} can't both be {role}", key="markers")
    own = {name: name for name in recording.markers if name in standard and name not in given.values()}
    seen = {name for name, places in recording.markers.items() if not np.isnan(places).all()}
    roles = {name: role for name, role in (own | dict(given)).items() if name in seen}
    has = set(roles.values())
    back = () if _SACRUM in has else ("RPSI", "LPSI")
    missing = [name for name in (*_NEEDED, *back) if name not in has]
    if missing:
        unseen = [name for name in own | dict(given) if name not in seen]
        others = [name for name in recording.markers if name not in roles and name not in unseen]
        hint = f"markers={{'NAME': '{missing[0]}'}} (--marker NAME={missing[0]}) says which one it is"
        hint += f"; others there: {', '.join(others)}" if others else ""
        there = f"; it names {', '.join(unseen)}, never seen in it" if unseen else ""
        raise InputError(f"the static trial has no {', '.join(missing)}{there}", key="markers", hint=hint)
    return roles


def _still(recording: Recording, roles: Mapping[str, str], within: float) -> dict[str, FloatArray]:
    """The markers' mean places (3,), m; InputError where one is farther from it than that."""
    seen = {name: np.nanmean(recording.markers[name], axis=0) for name in roles}
    off = {name: np.linalg.norm(recording.markers[name] - place, axis=1) for name, place in seen.items()}
    worst = max(off, key=lambda name: float(np.nanmax(off[name])))
    sample = int(np.nanargmax(off[worst]))
    if off[worst][sample] > within:
        message = (
            f"the static trial moves: marker {worst!r} is {1e3 * off[worst][sample]:.3g} mm from its mean place at "
            f"{recording.time[sample]:.4g} s, more than {1e3 * within:.3g} mm"
        )
        hint = "cut the trial to where the person stands still, or allow more: still_within (--still-within)"
        raise InputError(message, key="static", hint=hint)
    return seen


def _require_upright(at: Mapping[str, FloatArray], up: str) -> None:
    """InputError where the pelvis isn't above the heels along what is said to be up, or hangs; `at` has z there."""
    leg = (at["RASI"] + at["LASI"] - at["RHEE"] - at["LHEE"]) / 2
    if leg[2] < _UPRIGHT * np.linalg.norm(leg):
        other = "y" if up == "z" else "z"
        message = f"the pelvis isn't above the heels along {up}"
        raise InputError(message, key="up", hint=f"is {other} up in the trial? up={other!r} (--up {other})")
    across = at["LASI"] - at["RASI"]
    if abs(across[2]) > _LEVEL * np.linalg.norm(across):
        lower, upper = ("RASI", "LASI") if across[2] > 0 else ("LASI", "RASI")
        message = (
            f"{lower} is {1e3 * abs(across[2]):.3g} mm lower than {upper}, more than a person's pelvis hangs"
        )
        raise InputError(message, key="markers", hint="have two markers each other's names?")


def _unit(vector: FloatArray) -> FloatArray:
    return vector / np.linalg.norm(vector)


def _axes(across: FloatArray, along: FloatArray) -> FloatArray:
    """A frame whose z is `along` and whose y is nearest to `across`, as columns."""
    z = _unit(along)
    x = _unit(np.cross(across, z))
    return np.column_stack([x, np.cross(z, x), z])


def _inside(frame: tuple[FloatArray, FloatArray], place: FloatArray) -> tuple[float, float, float]:
    """A place in a frame: its axes as columns, and its origin."""
    axes, origin = frame
    x, y, z = (float(part) for part in axes.T @ (place - origin))
    return x, y, z


def _measured(at: Mapping[str, FloatArray], hip_centre: str) -> tuple[dict[str, float], Frames]:
    """A person's own parameters, and the frames of pelvis and legs, of markers at these places."""
    front = (at["RASI"] + at["LASI"]) / 2
    back = at[_SACRUM] if _SACRUM in at else (at["RPSI"] + at["LPSI"]) / 2
    _require_person(at, front - back)
    y = _unit(at["LASI"] - at["RASI"])
    axes = _axes(y, np.cross(front - back, y))
    tilted = axes[2]  # what is up, in the pelvis's axes
    own = {
        "pelvis_width": float(np.linalg.norm(at["LASI"] - at["RASI"])),
        "pelvis_depth": float(np.linalg.norm(front - back)),
        "pelvic_tilt": float(np.arctan2(-tilted[0], tilted[2])),
    }
    leg = float(np.mean([np.linalg.norm(at[f"{side}ASI"] - at[f"{side}ANM"]) for side in "RL"]))
    own |= {"leg_length": leg} if hip_centre == "harrington" else {}
    behind, below, outward = hip_centre_at(hip_centre, own["pelvis_width"], own["pelvis_depth"], leg)
    frames = {"pelvis": (axes, front)}
    _require_sides(at, axes)
    for side, out in SIDES.items():
        hip = front + axes @ (-behind, out * outward, -below)
        own |= _leg(at, side, hip, frames)
    return own | {"hip_behind": behind, "hip_below": below}, frames


def _require_person(at: Mapping[str, FloatArray], depth: FloatArray) -> None:
    """InputError where the pelvis's markers coincide, or legs are no person's."""
    for name, between in (("RASI and LASI", at["RASI"] - at["LASI"]), ("front and back spines", depth)):
        if np.linalg.norm(between) < _APART:
            raise InputError(f"{name} are at the same place", key="markers", hint="which markers are they?")
    leg = float(np.linalg.norm(at["RASI"] - at["RANM"]))
    if not _LEGS[0] < leg < _LEGS[1]:
        message = (
            f"the right leg is {leg:.3g} m long, from the front spine to the ankle, which is no person's"
        )
        raise InputError(message, key="static", hint="is the trial in the unit that its file says (mm, m)?")


def _require_sides(at: Mapping[str, FloatArray], pelvis: FloatArray) -> None:
    """InputError where a lateral marker is medial or a toe behind its heel, as the pelvis's axes see it."""
    for side, out in SIDES.items():
        letter = side.upper()
        for first, second, direction, word in (
            ("KNE", "KNM", out * pelvis[:, 1], "outward of"),
            ("ANK", "ANM", out * pelvis[:, 1], "outward of"),
            ("TOE", "HEE", pelvis[:, 0], "ahead of"),
        ):
            if (at[letter + first] - at[letter + second]) @ direction <= 0:
                message = f"{letter}{first} isn't {word} {letter}{second}, as the pelvis's markers have it"
                raise InputError(message, key="markers", hint="have two markers each other's names?")


def _tell_sides(own: Mapping[str, float]) -> None:
    """Warn of legs whose sides differ by more than people's do."""
    for name in ("thigh_length", "shank_length"):
        right, left = own[f"{name}_r"], own[f"{name}_l"]
        if abs(right - left) > _UNEVEN * (right + left) / 2:
            text = f"{name} is {1e3 * right:.4g} mm on the right and {1e3 * left:.4g} mm on the left: "
            warn(f"{text}are the markers of knees and ankles what they are called?")


def _leg(at: Mapping[str, FloatArray], side: str, hip: FloatArray, frames: Frames) -> dict[str, float]:
    """A leg's own parameters; its segments' frames go to the others."""
    out = SIDES[side]
    there = {name[1:]: place for name, place in at.items() if name[:1] == side.upper()}
    knee, ankle = (there["KNE"] + there["KNM"]) / 2, (there["ANK"] + there["ANM"]) / 2
    shank = _axes(out * (there["KNE"] - there["KNM"]), knee - ankle)
    hinge = shank[:, 1]
    thigh = _axes(hinge, hip - knee)
    foot = _axes(np.cross([0.0, 0.0, 1.0], there["TOE"] - there["HEE"]), np.array([0.0, 0.0, 1.0]))
    turned = shank.T @ foot
    frames |= {f"thigh_{side}": (thigh, hip), f"shank_{side}": (shank, knee), f"foot_{side}": (foot, ankle)}
    return {
        f"thigh_length_{side}": float(np.linalg.norm(hip - knee)),
        f"shank_length_{side}": float(np.linalg.norm(knee - ankle)),
        # the hinge, across the shank, in the thigh's axes; and the foot's direction about the shank
        f"knee_varus_{side}": -out * float(np.arcsin(np.clip(hinge @ thigh[:, 2], -1, 1))),
        f"toe_out_{side}": out * float(np.arctan2(turned[1, 0], turned[0, 0])),
    }


def _height(own: Mapping[str, float], sex: str) -> float:
    """The height that has such thighs and shanks in de Leva's table."""
    rows = fractions("de_leva", sex)
    legs = sum(own[f"{name}_length_{side}"] for name in ("thigh", "shank") for side in SIDES) / 2
    return legs / (rows["thigh"][1] + rows["shank"][1])


def _trunk(
    pelvis: tuple[FloatArray, FloatArray], own: Mapping[str, float], sex: str
) -> tuple[FloatArray, FloatArray]:
    """The trunk's frame: upright on the pelvis as it stands."""
    axes, front = pelvis
    sin, cos = np.sin(own["pelvic_tilt"]), np.cos(own["pelvic_tilt"])
    upright = axes @ np.array([[cos, 0, -sin], [0, 1, 0], [sin, 0, cos]])
    hips = front - axes @ (own["hip_behind"], 0, own["hip_below"])
    return upright, hips + lower_trunk(sex).length * own["height"] * upright[:, 2]
