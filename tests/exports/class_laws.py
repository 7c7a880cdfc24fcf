"""What exported classes of kinematics and odometry are held to, in whatever language: the library, and wpimath.

`answer` is what a language's test brings: a function from `Cases` to rows of answers, by code that was exported,
compiled with every warning an error, and run; of the robot of the cases, or of another with their parameters.
"""

from dataclasses import replace

import numpy as np

import trundle
from exports import wpimath_twins
from exports.wheeled_cases import cases, measured, off


def as_the_library(name, answer, rng):
    """1,000 random cases of a robot of the catalogue against the compiled kernels."""
    given = cases(trundle.catalog.robot(name), 1000, rng)
    assert off(answer(given), given.expected()) <= 1e-12


def as_recalibrated(name, answer, rng):
    """1,000 random cases of a robot with other measures, by code of the robot as it was described that is told them."""
    robot = trundle.catalog.robot(name)
    given = cases(measured(robot, rng), 1000, rng)
    assert off(answer(given, robot), given.expected()) <= 1e-12


def encoders_may_wrap_and_fail(name, answer, rng):
    """Encoders of steering that begin anew after a whole turn change nothing; where a reading is none nothing moves."""
    given = cases(trundle.catalog.robot(name), 40, rng)
    table = given.table.copy()
    now = table[:, -len(given.readings) :]
    steered = [each.endswith(".steering") for each in given.readings]
    assert any(steered)
    now[:20, steered] += 2 * np.pi * rng.choice([-1, 1], (20, sum(steered)))
    now[np.arange(20, 40), np.arange(20) % now.shape[1]] = [np.nan, np.inf] * 10
    found = answer(replace(given, table=table))
    assert off(found[:20], given.expected()[:20]) <= 1e-12
    *_, pose, covariance = given.answers(found[20:])
    np.testing.assert_array_equal(pose, given.parts()[4][20:])
    np.testing.assert_array_equal(covariance, np.tile(given.noise[0].ravel(), (20, 1)))


def as_wpimath(kind, count, answer, rng):
    """Random cases of a drive against WPILib: wheels at twists, twists of wheels, poses on arcs, to 1e-12."""
    given = turning(cases(_drive(kind, rng), count, rng))
    twin = wpimath_twins.swerve if kind.startswith("swerve") else getattr(wpimath_twins, kind)
    wheels, twists, poses = twin(given)
    forward, _, twist, _, pose, _ = given.answers(answer(given))
    m = len(given.kinematics.modules)
    assert off(forward[:, :m], wheels[:, :m]) <= 1e-12
    if wheels.shape[1] > m:
        assert _apart(forward[:, m : 2 * m], wheels[:, m:]) <= 1e-12
    assert off(twist, twists) <= 1e-12
    assert off(pose[:, :2], poses[:, :2]) <= 1e-12
    assert _apart(pose[:, 2], poses[:, 2]) <= 1e-12


def turning(given):
    """Cases in which the base turns by 1e-3 rad or more: below, (1 − cos φ)/φ, by which wpimath moves, loses digits."""
    pose, after = given.parts()[4], given.answers(given.expected())[4]
    kept = np.abs(after[:, 2] - pose[:, 2]) > 1e-3
    assert kept.mean() > 0.85
    return replace(given, table=given.table[kept])


def _drive(kind, rng):
    if not kind.startswith("swerve"):
        measures = {"differential": {"offset": 0.0}, "mecanum": {}}[kind]
        return trundle.catalog.robot({"differential": "differential_drive"}.get(kind, kind), **measures)
    places = rng.uniform(-1, 1, (int(kind[-1]), 2))
    while min(np.linalg.norm(a - b) for k, a in enumerate(places) for b in places[:k]) < 0.2:
        places = rng.uniform(-1, 1, places.shape)
    wheel = {
        "type": "steered",
        "contact": "slip",
        "friction": 0.9,
        "radius": 0.05,
        "mass": 1,
        "fork": {"mass": 1, "inertia": {"zz": 0.01}},
    }
    wheels = {f"m{k}": {**wheel, "at": [*at, 0.05]} for k, at in enumerate(places.tolist())}
    motors: dict[str, object] = {}
    for name in wheels:
        motors[f"{name}_drive"] = {"type": "velocity", "drives": name, "gain": 50.0}
        motors[f"{name}_steer"] = {
            "type": "servo",
            "drives": f"{name}.steering",
            "stiffness": 40.0,
            "damping": 4.0,
        }
    center = [*places.mean(axis=0).tolist(), 0.1]  # between the wheels, or it would tip
    body = {"mass": 10, "inertia": {"zz": 1}, "center_of_mass": center}
    robot = {"name": "drive", "base": "planar", "body": body, "wheels": wheels, "motors": motors}
    return trundle.load({"robot": robot})


def _apart(got, expected):
    """The largest difference of angles, whole turns aside."""
    return float(np.max(np.abs(np.remainder(got - expected + np.pi, 2 * np.pi) - np.pi)))
