"""A leg whose shank slides and turns as its knee's angle says, by splines."""

from trundle.robot import parse_robot

KNOTS, HEIGHTS = [-1.5, -0.9, -0.2, 0.4, 1.3], [0.04, 0.01, -0.02, 0.03, 0.05]
BODY = {"mass": 3.0, "center_of_mass": [0.05, 0, -0.2], "inertia": {"xx": 0.03, "yy": 0.04, "zz": 0.01}}


def knee(kind="simm"):
    """A thigh, and a shank whose two slides and one turn follow the knee's angle."""
    hinge = {"type": "revolute", "axis": [0, 1, 0]}
    curve = {"type": kind, "x": KNOTS, "y": HEIGHTS}
    return {
        "joints": {
            "hip": {**hinge, "body": BODY},
            "along": {"type": "prismatic", "parent": "hip", "at": [0, 0, -0.4], "axis": [1, 0, 0]},
            "down": {"type": "prismatic", "parent": "along", "axis": [0, 0, -1]},
            "knee": {**hinge, "parent": "down"},
            "twist": {"type": "revolute", "parent": "knee", "axis": [0, 0, 1], "body": BODY},
        },
        "couplings": {
            f"{name}_by_knee": {"type": "cam", "joint": name, "follows": "knee", "curve": curve}
            for name in ("along", "down", "twist")
        },
    }


def leg(kind="simm"):
    return parse_robot(knee(kind))
