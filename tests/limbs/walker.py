"""A walker on rails: a pelvis that goes on, and two feet that stand, swing and turn; events and forces are known.

Each foot slides along x and turns about its ankle. Every number that is read off it has its closed form here.
"""

import numpy as np

import trundle

STRIDE, STANCE, SPEED = 1.1, 0.62, 1.25  # s, share, m/s
LENGTH = STRIDE * SPEED
PHASES = {"right": 0.2, "left": 0.2 + STRIDE / 2}  # s: the first strike that a foot makes after 0
RATE, DURATION = 100.0, 6.0
MASS = 70.0
MARKERS = {
    f"{part}_{side[0]}": (f"foot_{side[0]}", place)
    for side in PHASES
    for part, place in (("heel", (-0.06, 0, -0.05)), ("toe", (0.17, 0, -0.05)))
}


def times():
    return np.arange(round(DURATION * RATE) + 1) / RATE


def robot():
    joints = {"forward": {"type": "prismatic", "axis": [1, 0, 0], "body": {"name": "pelvis", "mass": 50}}}
    for side in PHASES:
        own = side[0]
        joints[f"rail_{own}"] = {"type": "prismatic", "axis": [1, 0, 0], "parent": "base"}
        joints[f"rail_{own}"]["body"] = {"name": f"shank_{own}", "mass": 4}
        joints[f"hip_flexion_{own}"] = {"axis": [0, -1, 0], "parent": "pelvis", "body": {"mass": 0.1}}
        joints[f"ankle_angle_{own}"] = {
            "axis": [0, -1, 0],
            "parent": f"shank_{own}",
            "body": {"name": f"foot_{own}", "mass": 1, "center_of_mass": [0.05, 0, 0]},
        }
    return trundle.load({"robot": {"name": "walker", "joints": joints}})


def strikes(side):
    """All within the recording."""
    found = PHASES[side] + STRIDE * np.arange(-2, 10)
    return found[(found >= 0) & (found <= DURATION)]


def offs(side):
    found = PHASES[side] + STRIDE * (np.arange(-2, 10) + STANCE)
    return found[(found >= 0) & (found <= DURATION)]


def place(side, t):
    """Where a foot is along x: it stands where it struck, and swings on with no speed or acceleration at both ends."""
    cycle = (t - PHASES[side]) / STRIDE
    whole = np.floor(cycle)
    s = np.clip((cycle - whole - STANCE) / (1 - STANCE), 0, 1)
    # at a strike the foot is ahead of the pelvis by half of its stance's way
    first = SPEED * PHASES[side] + 0.5 * STANCE * LENGTH
    return first + LENGTH * (whole + s**3 * (10 - 15 * s + 6 * s**2))


def push(side, t):
    """The force upward: a bow over the stance."""
    s = ((t - PHASES[side]) / STRIDE) % 1.0 / STANCE
    return np.where(s < 1, 900 * np.sin(np.pi * np.clip(s, 0, 1)) ** 0.5, 0.0)


def ankle(side, t):
    """Flat from 10 to 30 % of the cycle."""
    late = ((t - PHASES[side]) / STRIDE - 0.3) % 1.0
    return np.where(late < 0.8, 0.15 * (1 - np.cos(2 * np.pi * late / 0.8)), 0.0)


def recording(belt=0.0, **given):
    """The coordinates, and what else is given; on a treadmill everything goes back with the belt (m/s)."""
    t = times()
    channels = {"forward.position": (SPEED - belt) * t}
    for side in PHASES:
        own = side[0]
        channels[f"rail_{own}.position"] = place(side, t) - belt * t
        channels[f"hip_flexion_{own}.angle"] = 0.4 * np.cos(2 * np.pi * (t - PHASES[side]) / STRIDE)
        channels[f"ankle_angle_{own}.angle"] = ankle(side, t)
    return trundle.Recording(t, channels=channels, **given)


def plates():
    """A plate under each side, as long as the walk."""
    t = np.arange(round(DURATION * 1000) + 1) / 1000
    for side, y in (("right", -0.4), ("left", 0.4)):
        around = np.array([(9, 0.3, 0), (-1, 0.3, 0), (-1, -0.3, 0), (9, -0.3, 0)]) + (0, y, 0)
        centre = around.mean(axis=0)
        force = push(side, t)[:, None] * (0.0, 0.0, 1.0)
        at = np.stack([place(side, t) + 0.05, 0 * t, 0 * t], axis=1)
        yield trundle.ForcePlate(side, around, t, force, np.cross(at - centre, force))
