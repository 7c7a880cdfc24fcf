"""People of random size in a static trial: where their segments and markers are, written out joint by joint."""

import numpy as np

import trundle
from trundle.catalog import person_markers
from trundle.catalog.person import SIDES, person_of
from trundle.robot.values import read_value

NOISE = 5e-4
# On the knees' axes, at an angle to the thigh.
KNEES = ("RKNE", "RKNM", "LKNE", "LKNM")


def somebody(rng, hip_centre="harrington", sex="male"):
    """A person of random size, whose sides differ, whose knees and feet stand as people's do."""
    own = {"height": rng.uniform(1.5, 1.95), "body_mass": rng.uniform(45, 110)}
    own |= {"pelvis_width": rng.uniform(0.2, 0.28), "pelvis_depth": rng.uniform(0.13, 0.18)}
    own |= {
        "pelvic_tilt": np.radians(rng.uniform(0, 15)),
        "trunk_length": own["height"] * rng.uniform(0.24, 0.28),
    }
    thigh, shank = own["height"] * rng.uniform(0.22, 0.26), own["height"] * rng.uniform(0.23, 0.27)
    for side in SIDES:
        own[f"thigh_length_{side}"] = thigh * rng.uniform(0.98, 1.02)
        own[f"shank_length_{side}"] = shank * rng.uniform(0.98, 1.02)
        own[f"knee_varus_{side}"] = np.radians(rng.uniform(-6, 6))
        own[f"toe_out_{side}"] = np.radians(rng.uniform(-5, 25))
    if hip_centre == "harrington":
        legs = sum(own[f"{name}_length_{side}"] for name in ("thigh", "shank") for side in SIDES) / 2
        own["leg_length"] = (0.16 * own["pelvis_width"] + 0.0071 + legs) / 0.96
    return person_of(own, sex, hip_centre, "free")


def turn(axis, angle):
    """A rotation about x, y or z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array({"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]]}.get(
        axis, [[c, -s, 0], [s, c, 0], [0, 0, 1]]
    ))  # fmt: skip


def stood(robot, rng):
    """Where a person's segments are in a static trial, (axes, origin) by name: written out joint by joint.

    Facing anywhere, the pelvis at its tilt, hips and knees a little bent, both soles level.
    """

    def read(text):
        return float(robot.resolver(robot.parameter_values())(read_value(text)))

    facing = turn("z", rng.uniform(-np.pi, np.pi))
    pelvis, front = facing @ turn("y", read("pelvic_tilt")), np.array([0.3, -0.2, 1.0])
    frames = {"pelvis": (pelvis, front)}
    upright = pelvis @ turn("y", -read("pelvic_tilt"))
    middle = front + pelvis @ [-read("hip_behind"), 0, -read("hip_below")]
    frames["trunk"] = upright, middle + read("lower_trunk_length") * upright[:, 2]
    for side, out in SIDES.items():
        s = -out
        flexion, adduction, rotation, knee = np.radians(rng.uniform([0, -5, -10, 0], [15, 5, 5, 12]))
        hip = middle + out * read("hip_outward") * pelvis[:, 1]
        thigh = pelvis @ turn("y", -flexion) @ turn("x", s * adduction) @ turn("z", s * rotation)
        below = hip - read(f"thigh_length_{side}") * thigh[:, 2]
        shank = thigh @ turn("x", s * read(f"knee_varus_{side}")) @ turn("y", knee)
        ankle = below - read(f"shank_length_{side}") * shank[:, 2]
        held = shank @ turn("z", -s * read(f"toe_out_{side}"))
        up = held.T @ [0, 0, 1]  # the ankle turns until the sole is level
        foot = held @ turn("y", np.arctan2(up[0], up[2])) @ turn("x", -np.arcsin(up[1]))
        frames |= {
            f"thigh_{side}": (thigh, hip),
            f"shank_{side}": (shank, below),
            f"foot_{side}": (foot, ankle),
        }
    return frames


def trial(robot, rng, noise=NOISE, count=100):
    """A static trial of a person's markers at 100 Hz, those of the knees on the knees' axes."""
    frames = stood(robot, rng)
    markers = {}
    for name, (body, place) in person_markers(robot).items():
        axes, origin = frames[body]
        if name in KNEES:
            axes, origin = frames[f"shank_{name[0].lower()}"]
            place = (0, place[1], 0)
        markers[name] = origin + axes @ place + rng.normal(scale=noise, size=(count, 3))
    return trundle.Recording(np.arange(count) / 100, markers)
