"""A kingpin wheel is a wheel on a hinge: the same motion as one put together from a joint and a fixed wheel."""

import numpy as np
import pytest

import trundle
from trundle.robot import parse_robot
from trundle.show.drawing.scene import Anchor
from trundle.show.drawing.scenes import scene

SCRUB = 0.06
FORK = {"mass": 0.5, "inertia": {"zz": 0.02}}


def tricycle(wheel, motor, joints=None):
    rear = {"radius": 0.1, "mass": 1.0}
    return parse_robot(
        {
            "body": {"mass": 12, "center_of_mass": [0.15, 0, 0], "inertia": {"zz": 0.5}},
            "joints": joints or {},
            "wheels": {
                "l": {"at": [0, 0.2, 0], **rear},
                "r": {"at": [0, -0.2, 0], **rear},
                "f": {"radius": 0.1, "mass": 1.5, "width": 0.04, **wheel},
            },
            "motors": {"m": {"type": "torque", "drives": "f"}, "s": {"type": "torque", "drives": motor}},
        }
    )


def kingpin(**more):
    wheel = {"type": "kingpin", "at": [0.5, 0, 0], "scrub": SCRUB, "fork": FORK, **more}
    return tricycle(wheel, "f.steering")


@pytest.mark.parametrize("contact", ["ideal", "slip"])
def test_it_moves_as_a_wheel_on_a_hinge(contact):
    """Torques on wheel and pivot that come and go; the pivot's reaction to a driving force included."""
    hinge = {"fork": {"type": "revolute", "at": [0.5, 0, 0], "body": FORK}}
    built = tricycle({"parent": "fork", "at": [0, SCRUB, 0], "contact": contact}, "fork", hinge)
    torques = {"m.torque": lambda t: 1.5 * np.sin(2 * t), "s.torque": lambda t: 0.2 * np.cos(3 * t)}
    runs = [
        trundle.simulate(trundle.derive(robot), 2.0, torques, rtol=1e-9, atol=1e-11)
        for robot in (kingpin(contact=contact), built)
    ]
    for name in ("x", "y", "theta", "f.angle"):
        assert runs[0].final[name] == pytest.approx(runs[1].final[name], abs=1e-6), name
    assert runs[0].final["f.steering"] == pytest.approx(runs[1].final["fork.angle"], abs=1e-6)
    assert runs[0].summary["energy_imbalance"] <= 1e-6 * runs[0].summary["energy_turned_over"]


def test_turning_it_on_the_spot_rolls_it():
    """R φ̇ = −s δ̇ while the base stands."""
    run = trundle.roll(kingpin(), 1.0, {"f.steering_rate": 0.8, "l.rate": 0.0, "r.rate": 0.0})
    assert run.final["f.angle"] == pytest.approx(-SCRUB * 0.8 / 0.1, rel=1e-6)
    assert abs(run.final["x"]) < 1e-9


@pytest.mark.parametrize(("at", "heading"), [(0.5, 0.0), (0.3, 0.7), (0.06, 0.5 * np.pi)])
def test_its_speed_is_that_of_its_pivot_along_its_heading(at, heading):
    """Wherever it is turned to, and where its contact starts on the fixed wheels' axle, too (the last)."""
    start = {"f.speed": 1.0, "f.steering_rate": 0.8}
    run = trundle.simulate(trundle.derive(kingpin(at=[at, 0, 0], heading=heading)), 0.5, initial=start)
    turned = heading + run["f.steering"]
    along = np.cos(turned) * run["v_x"] + np.sin(turned) * run["omega"] * at
    np.testing.assert_allclose(along, run["f.speed"], atol=1e-12)


def test_it_is_classified_coupled_and_drawn_as_a_steered_wheel():
    assert trundle.derive(kingpin()).mobility.steerability == 1
    front = {"type": "kingpin", "radius": 0.1, "scrub": 0.05, "mass": 1.0}
    car = parse_robot(
        {
            "body": {"mass": 12, "inertia": {"zz": 0.5}},
            "wheels": {
                "l": {"at": [0, 0.2, 0], "radius": 0.1},
                "r": {"at": [0, -0.2, 0], "radius": 0.1},
                "fl": {"at": [0.5, 0.2, 0], **front},
                "fr": {"at": [0.5, -0.2, 0], **front, "scrub": -0.05},
            },
            "couplings": {"steering": {"wheels": ["fl", "fr"]}},
        }
    )
    model = trundle.derive(car)
    assert model.speeds[1:] == ("steering.rate",)
    text = str(trundle.equations(car, "kinematics"))
    assert "agrees with the compiled program" in text
    drawn = scene(car)
    (shape,) = [each for each in drawn.wheels if each.name == "fr"]
    assert shape.pivot.at[1] == -0.2
    assert drawn.place(Anchor(shape.frame))[0, 1] == pytest.approx(-0.25)
