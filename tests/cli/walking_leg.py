"""A leg that steps on two force plates, as a C3D file, and its joint moments written out by hand.

A pelvis that slides along x and z carries thigh, shank and foot, which turn about y. Nothing here uses Trundle: angles
from markers by Gauss and Newton's least squares, the plates' wrenches by their formulas, and Newton's and Euler's
equations of each segment in the plane, from the foot up.
"""

import numpy as np
from scipy.interpolate import make_interp_spline

RATE, RATIO, DURATION = 100.0, 10, 2.4
GRAVITY = 9.81
LENGTHS = {"thigh": 0.42, "shank": 0.43, "foot": 0.0}
MASSES = {"thigh": 7.1, "shank": 3.2, "foot": 1.1}
INERTIAS = {"thigh": 0.13, "shank": 0.05, "foot": 0.005}
CENTRES = {"thigh": (0.0, -0.18), "shank": (0.0, -0.19), "foot": (0.06, -0.05)}
# On which segment each marker is, and where in its frame (x forward, y to the left, z along it).
MARKERS = {
    "hip_front": ("pelvis", (0.10, 0.0, 0.05)),
    "hip_back": ("pelvis", (-0.12, 0.0, 0.06)),
    "thigh_front": ("thigh", (0.07, 0.03, -0.20)),
    "knee": ("thigh", (0.0, 0.06, -0.42)),
    "shank_front": ("shank", (0.05, 0.02, -0.18)),
    "ankle": ("shank", (0.0, 0.05, -0.43)),
    "heel": ("foot", (-0.06, 0.0, -0.06)),
    "toe": ("foot", (0.17, 0.02, -0.06)),
}
SEGMENTS = ("thigh", "shank", "foot")
PLATES = ((0.25, 0.0, 0.0), (1.65, 0.0, 0.0))
_CONTACTS = ((0.2, 0.9), (1.4, 2.1))

LEG = {
    "name": "leg",
    "base": "fixed",
    "joints": {
        "forward": {"type": "prismatic", "axis": [1, 0, 0]},
        "up": {"type": "prismatic", "axis": [0, 0, 1], "parent": "forward", "body": {"name": "pelvis"}},
        "hip": {"axis": [0, 1, 0], "parent": "pelvis", "movement": "right hip extension"},
        "knee": {"axis": [0, 1, 0], "parent": "thigh", "at": [0, 0, -LENGTHS["thigh"]]},
        "ankle": {"axis": [0, 1, 0], "parent": "shank", "at": [0, 0, -LENGTHS["shank"]]},
    },
}
LEG["joints"]["knee"]["movement"] = "right knee flexion"
LEG["joints"]["ankle"]["movement"] = "right ankle plantarflexion"
for _joint, _segment in zip(("hip", "knee", "ankle"), SEGMENTS, strict=True):
    _x, _z = CENTRES[_segment]
    LEG["joints"][_joint]["body"] = {
        "name": _segment,
        "mass": MASSES[_segment],
        "center_of_mass": [_x, 0, _z],
        "inertia": {"yy": INERTIAS[_segment]},
    }


def motion(t):
    """Forward, up, hip, knee and ankle (n, 5), m and rad: as in walking, 1.2 s a stride."""
    w = 2 * np.pi / 1.2
    return np.stack(
        [
            1.0 * t - 0.2 + 0.01 * np.sin(2 * w * t),
            0.88 + 0.02 * np.cos(2 * w * t),
            -0.1 - 0.4 * np.cos(w * t) + 0.04 * np.sin(2 * w * t),
            0.5 - 0.3 * np.cos(w * t - 1.8) + 0.1 * np.cos(2 * w * t),
            -0.1 - 0.15 * np.cos(w * t - 1.0) + 0.05 * np.sin(2 * w * t),
        ],
        axis=1,
    )


def pushes(t):
    """What each plate does to the foot: force (n, 3), centre of pressure (n, 3) and free moment (n,) about z."""
    found = []
    foot = markers(motion(t))
    under = (foot["heel"] + foot["toe"]) / 2
    for start, end in _CONTACTS:
        s = np.clip((t - start) / (end - start), 0.0, 1.0)
        up = 760 * np.sin(np.pi * s) ** 2 * (1 - 0.35 * np.sin(np.pi * s) ** 4)
        force = np.stack([-110 * np.sin(2 * np.pi * s) * np.sin(np.pi * s) ** 2, 0.05 * up, up], axis=1)
        place = np.stack([under[:, 0] + 0.1 * (s - 0.5), 0.02 + 0 * s, 0 * s], axis=1)
        found.append((force, place, 4 * np.sin(np.pi * s) ** 2))
    return found


def markers(q):
    """Where each marker is (n, 3), m."""
    places = segment_places(q)
    found = {}
    for name, (segment, (x, y, z)) in MARKERS.items():
        at, angle = places[segment]
        c, s = np.cos(angle), np.sin(angle)
        found[name] = np.stack([at[:, 0] + c * x + s * z, y + 0 * c, at[:, 1] - s * x + c * z], axis=1)
    return found


def segment_places(q):
    """Of each segment where its joint is (n, 2), x and z, and its angle (n,)."""
    at, angle = q[:, :2], np.zeros(len(q))
    found = {"pelvis": (at, angle)}
    for k, segment in enumerate(SEGMENTS):
        angle = angle + q[:, 2 + k]
        found[segment] = at, angle
        at = at + LENGTHS[segment] * np.stack([-np.sin(angle), -np.cos(angle)], axis=1)
    return found


def fitted(seen, weights=1.0):
    """Coordinates (n, 5) at which all markers (n, m, 3) are nearest, by Gauss and Newton, to the last digit."""
    q = np.tile(motion(np.zeros(1)), (len(seen), 1))

    def stacked(q):
        return np.stack(list(markers(q).values()), axis=1).reshape(len(q), -1)

    for _ in range(60):
        slopes = np.stack(
            [np.imag(stacked(q + 1e-30j * np.eye(5)[k])) / 1e-30 for k in range(5)], axis=2
        )  # complex steps: exact
        left = seen.reshape(len(seen), -1) - stacked(q)
        turned = np.swapaxes(slopes, 1, 2)
        q = q + np.linalg.solve(turned @ slopes, turned @ left[:, :, None])[:, :, 0]
    return q


def moments(t, q, rates, accelerations, wrenches):
    """Moments about y at hip, knee and ankle (n, 3), N m, on the lower segment; `wrenches` on the foot: force and
    moment about the world's origin, each (n, 3).
    """
    places = segment_places(q)
    # second derivatives of the joints' places and of the segments' angles
    angle, omega, alpha = np.zeros(len(t)), np.zeros(len(t)), np.zeros(len(t))
    at_rate = accelerations[:, :2]
    motions = {}
    for k, segment in enumerate(SEGMENTS):
        angle, omega, alpha = angle + q[:, 2 + k], omega + rates[:, 2 + k], alpha + accelerations[:, 2 + k]

        def carried(point, angle=angle, omega=omega, alpha=alpha):
            c, s = np.cos(angle), np.sin(angle)
            x, z = c * point[0] + s * point[1], -s * point[0] + c * point[1]
            return np.stack([x, z], axis=1), np.stack(
                [alpha * z - omega**2 * x, -alpha * x - omega**2 * z], axis=1
            )

        arm, turning = carried(CENTRES[segment])
        motions[segment] = places[segment][0] + arm, at_rate + turning, alpha
        at_rate = at_rate + carried((0.0, -LENGTHS[segment]))[1]
    force, about = (
        np.zeros((len(t), 2)),
        np.zeros(len(t)),
    )  # what the segment gets from above, about the origin
    for push, moment in wrenches:
        force -= push[:, [0, 2]]
        about -= moment[:, 1]
    found = []
    for segment in reversed(SEGMENTS):
        centre, acceleration, alpha = motions[segment]
        needed = MASSES[segment] * (acceleration + np.array([0.0, GRAVITY]))
        force = force + needed
        about = about + INERTIAS[segment] * alpha + _cross(centre, needed)
        found.append(about - _cross(places[segment][0], force))
    return np.stack(found[::-1], axis=1)


def _cross(r, f):
    """The moment about y of a force in the plane of x and z."""
    return r[:, 1] * f[:, 0] - r[:, 0] * f[:, 1]


def differentiated(t, q):
    """Rates and accelerations by the quintic spline through all samples."""
    spline = make_interp_spline(t, q, k=5)
    return spline(t, 1), spline(t, 2)
