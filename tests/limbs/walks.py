"""Walks of models in OpenSim's forms, whose files have ranges as such files do: markers, motions, and the fit."""

import re
from functools import partial

import numpy as np

import trundle
from documents import gait_models as forms
from documents.osim_models import version_4
from trundle.documents import osim_markers
from trundle.limbs.capture.joint_motion import moving_of
from trundle.limbs.capture.marker_model import marker_model

TIME = 0.02 * np.arange(21)
# Usual angles (degrees) and walks, (middle, amplitude, phase), by how a coordinate's name begins.
RANGES = {"hip": (-120, 120), "knee": (-120, 10), "": (-90, 90)}
WAVES = {
    "tilt": (6, 3, 0),
    "hip_flexion": (5, 25, 0),
    "hip_adduction": (-6, 3, 0.5),
    "knee": (-32, 28, 1),
    "ankle": (0, 12, 2),
    "lumbar_extension": (-8, 5, 1),
    "": (2, 4, 0.5),
}
CLUSTER = ((0.05, 0.02, 0.03), (-0.04, -0.1, 0.05), (0.03, -0.15, -0.06), (-0.05, 0.04, -0.04))


def hinged_walker():
    """The standard walker with knees that are hinges."""
    joints = [forms.pelvis()]
    for side, sign in forms.SIDES:
        knee = f"knee_angle_{side}"
        turning = {"rotation1": (knee, forms.LINE)}
        hinge = forms.custom(f"femur_{side}", f"tibia_{side}", knee, turning, at="0 -0.4 0")
        joints += [forms.hip(side, sign), hinge, *forms.foot(side, sign, locked=())]
    return forms.GaitModel(version_4([*joints, forms.torso()]), forms.names_of(joints))


WALKERS = {
    "gait10dof18musc": forms.simple_walker,
    "gait2392": forms.standard_walker,
    "gait2392, version 4": partial(forms.standard_walker, version_4),
    "hinges": hinged_walker,
}


def by_beginning(table, name):
    return next(value for begin, value in table.items() if name.startswith(begin))


def ranged(text, clamped=(), ranges=()):
    """A file's text with default values and ranges, of which those are clamped whose names begin so."""
    ranges = {**dict(ranges), **RANGES}

    def data(found):
        name = found[1]
        low, high = (-5, 5) if "_t" in name else np.radians(by_beginning(ranges, name))
        flag = str(bool(clamped) and name.startswith(clamped)).lower()
        start = 0.95 if name == "pelvis_ty" else 0
        return f"{found[0]}<default_value>{start}</default_value><range>{low} {high}</range><clamped>{flag}</clamped>"

    return re.sub(r'<Coordinate name="(\w+)">(?!<default)', data, text)


def marked(text):
    """A file's text with four markers on every body but the small talus."""
    markers = ""
    for name in dict.fromkeys(re.findall(r'<Body name="(\w+)"', text)):
        where = f"<socket_parent_frame>/bodyset/{name}</socket_parent_frame><body>{name}</body>"
        for k, place in enumerate(CLUSTER if name[:5] not in ("groun", "talus") else ()):
            at = " ".join(map(str, place))
            markers += f'<Marker name="{name}_{k}">{where}<location>{at}</location></Marker>'
    return text.replace("</Model>", f"<MarkerSet><objects>{markers}</objects></MarkerSet></Model>")


class Walk:
    """A walk: its model's file, robot and markers, its true coordinates (n,) (rad, m), and where its markers are.

    `more` are degrees that coordinates have throughout.
    """

    def __init__(self, folder, form, heading=0.0, clamped=(), ranges=(), more=()):
        self.file = folder / "walker.osim"
        self.file.write_text(ranged(marked(WALKERS[form]().text), clamped, ranges))
        self.robot, self.markers = trundle.load(self.file), osim_markers(self.file)
        self.model = marker_model(moving_of(self.robot), self.markers)
        self.true = {name: self._wave(name) for name in self.model.names}
        if "turn.angle" in self.true:
            self.true["turn.angle"] += np.radians(heading)
        self.true |= {name: np.radians(degrees) + 0 * TIME for name, degrees in dict(more).items()}

    def _wave(self, name):
        phase = 2 * np.pi * TIME / 0.9
        if name.endswith("position"):
            return {"x": 1.2 * TIME, "y": 0.95 + 0.02 * np.sin(2 * phase), "z": 0 * TIME}[name[8]]
        middle, size, ahead = by_beginning(WAVES, name)
        return np.radians(middle + size * np.sin(phase + ahead + np.pi * ("_l." in name)))

    def recording(self, rng=None):
        """Where the markers are, with 5 mm of noise where random numbers are given."""
        places, _ = self.model.evaluate(np.array(list(self.true.values())).T)
        seen = places.reshape(TIME.size, -1, 3)
        seen = seen if rng is None else seen + rng.normal(0, 0.005, seen.shape)
        return trundle.Recording(TIME, markers=dict(zip(self.markers, np.moveaxis(seen, 1, 0), strict=True)))

    def fitted(self, recording=None, **more):
        """The motion of markers, by default the walk's own, as `joint_motion` has it."""
        recording = recording or self.recording()
        return trundle.joint_motion(recording, self.robot, markers=self.markers, progress=False, **more)

    def off(self, motion):
        """How far (degrees) a motion's angles are from the true ones at most, and which."""
        angles = [name for name in motion.names if name.endswith("angle")]
        return max((np.abs(np.degrees(motion[name] - self.true[name])).max(), name) for name in angles)
