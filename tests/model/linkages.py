"""Linkages for tests, as plain descriptions."""

from trundle.robot import parse_robot


def bar(length, mass, **more):
    """A slender rod along x, turning about z."""
    return {
        "mass": mass,
        "center_of_mass": [length / 2, 0, 0],
        "inertia": {"zz": mass * length**2 / 12},
        **more,
    }


def four_bar(lengths=(0.3, 0.9, 0.7), base=1.0, **more):
    """Crank, coupler and rocker between two pivots on the x axis."""
    crank, coupler, rocker = lengths
    return parse_robot(
        {
            "name": "four_bar",
            "gravity": [0, -9.81, 0],
            "joints": {
                "crank": {"type": "revolute", "body": bar(crank, 0.5)},
                "coupler": {
                    "type": "revolute",
                    "parent": "crank",
                    "at": [crank, 0, 0],
                    "body": bar(coupler, 1.0),
                },
                "rocker": {"type": "revolute", "at": [base, 0, 0], "body": bar(rocker, 0.8)},
            },
            "loops": {
                "pin": {
                    "type": "revolute",
                    "first": {"body": "coupler", "at": [coupler, 0, 0]},
                    "second": {"body": "rocker", "at": [rocker, 0, 0]},
                }
            },
            "motors": {"drive": {"type": "torque", "drives": "crank"}},
            **more,
        }
    )


def slider_crank(crank=0.1, rod=0.3, rod_mass=0.0, **more):
    """A crank about y, a connecting rod, a piston along x; the rod is massless unless it has a mass."""
    loop = {"type": "revolute", "axis": [0, 1, 0], "first": {"body": "rod", "at": [rod, 0, 0]}}
    return parse_robot(
        {
            "name": "slider_crank",
            "gravity": 0,
            "joints": {
                "crank": {"type": "revolute", "axis": [0, 1, 0], "body": {"inertia": {"yy": 0.02}}},
                "rod": {
                    "type": "revolute",
                    "axis": [0, 1, 0],
                    "parent": "crank",
                    "at": [crank, 0, 0],
                    "body": {
                        "mass": rod_mass,
                        "center_of_mass": [rod / 2, 0, 0],
                        "inertia": {"yy": rod_mass * rod**2 / 12},
                    },
                },
                "piston": {"type": "prismatic", "axis": [1, 0, 0], "body": {"mass": 0.5}},
            },
            "loops": {"wrist": {**loop, "second": {"body": "piston"}}},
            "motors": {"drive": {"type": "torque", "drives": "crank"}},
            **more,
        }
    )


def parallelogram(legs=3, extra=None, **more):
    """A beam on equal parallel cranks: from the third on they hold what the others hold already; and `extra` joints."""
    places = [k / (legs - 1) for k in range(legs)]
    joints = {"crank": {"type": "revolute", "body": bar(0.3, 0.5)}}
    joints["beam"] = {"type": "revolute", "parent": "crank", "at": [0.3, 0, 0], "body": bar(1.0, 1.0)}
    loops = {}
    for k, x in enumerate(places[1:], start=1):
        joints[f"leg{k}"] = {"type": "revolute", "at": [x, 0, 0], "body": bar(0.3, 0.5)}
        loops[f"pin{k}"] = {
            "type": "revolute",
            "first": {"body": "beam", "at": [x, 0, 0]},
            "second": {"body": f"leg{k}", "at": [0.3, 0, 0]},
        }
    joints |= extra or {}
    return parse_robot(
        {"name": "parallelogram", "gravity": [0, -9.81, 0], "joints": joints, "loops": loops, **more}
    )
