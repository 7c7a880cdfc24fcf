"""Beside Choreo on the same robot, path, mass, inertia, motors and friction: times, and what theirs takes of the robot.

Choreo's times are those in the trajectories that FRC team 8033 (Highlander Robotics) made with it for its robot of 2025
(github.com/HighlanderRobotics/Reefscape, src/main/deploy/choreo, commit 02b3a5136453, format 1). Stops at both ends are
all that binds these. Of each its time and some poses of its samples stand here, between which a spline leads.

To Choreo a module gives one force in any direction, at every speed up to a greatest one, and loads are even. What such
a motion takes is told by inverse dynamics of a robot that has back-EMF, rotors, a battery, steering and a height.
"""

from __future__ import annotations

from typing import Any

from benchmarks.measure import Row

# What the document says of the robot (m, kg, kg m², N m and rad/s at the motor).
_FORE, _ASIDE, _RADIUS = 0.301625, 0.295275, 0.0508
_MASS, _INERTIA, _FRICTION = 38.92, 5.4887, 1.5
_TORQUE, _RATE, _RATIO = 0.5, 607.3746, 50 / 16 * 17 / 27 * 45 / 15
# Ours along their path, within their limits, may not be slower by more, as beside PathPlanner.
_SLOWER = 1.005
_MODULES = {"front_left": (1, 1), "rear_left": (-1, 1), "rear_right": (-1, -1), "front_right": (1, -1)}
# What the document can't say: Krakens of so much torque at rest, a battery, steering by motors, a height.
_CURRENT = _TORQUE / 0.0194
_TRUE: dict[str, float | str] = {
    "radius": _RADIUS, "wheelbase": 2 * _FORE, "track": 2 * _ASIDE, "robot_mass": _MASS, "center_height": "6 in",
    "friction": _FRICTION, "motor": "kraken_x60", "gear_ratio": _RATIO, "current_limit": _CURRENT,
    "steering_motor": "kraken_x60", "steering_ratio": 12.8, "steering_current_limit": 60,
    "battery": 12, "battery_resistance": "15 mohm",
}  # fmt: skip

# Name: Choreo's time (s), and x, y (m), heading (rad) of samples.
_PATHS: dict[str, tuple[float, list[tuple[float, float, float]]]] = {
    "ROtoE": (1.40092, [(7.1, 0.75231, 2.09289), (5.00956, 2.7982, 2.09289)]),
    "PLOtoL": (1.44224, [(1.66614, 7.43114, -0.93501), (3.69166, 5.08934, -1.04555)]),
    "PLItoL": (1.52392, [(0.61534, 6.67318, -0.93501), (3.69166, 5.08934, -1.04555)]),
    "KtoPLI": (1.56388, [(3.96816, 5.25305, -1.04555), (0.61534, 6.67318, -0.93501)]),
    "EtoPRO": (1.65, [
        (5.00956, 2.7982, 2.09289), (4.88944, 2.7209, 2.05659), (4.52902, 2.48899, 1.93486),
        (3.92822, 2.10247, 1.73318), (3.2476, 1.6648, 1.52227), (2.59713, 1.24591, 1.30928),
        (2.03679, 0.88478, 1.10384), (1.71669, 0.67842, 0.97925), (1.63334, 0.62468, 0.942),
    ]),
    "FtoPRO": (1.71643, [
        (5.29566, 2.96554, 2.09289), (5.17101, 2.88586, 2.0553), (4.79692, 2.64675, 1.93076),
        (4.17308, 2.24806, 1.72941), (3.46386, 1.79552, 1.5347), (2.75501, 1.34276, 1.35586),
        (2.1316, 0.94376, 1.13874), (1.75786, 0.70443, 0.99626), (1.63334, 0.62468, 0.942),
    ]),
    "PLOtoA": (1.55574, [
        (1.66614, 7.43114, -0.93501), (1.72739, 7.29843, -0.90248), (1.91109, 6.90036, -0.7921),
        (2.21712, 6.23723, -0.60487), (2.55152, 5.51254, -0.39722), (2.83191, 4.90465, -0.21955),
        (3.02742, 4.4807, -0.09415), (3.13794, 4.24101, -0.02093), (3.16515, 4.182, 0.0),
    ]),
    "RHStoD": (1.52804, [
        (7.29193, 2.54145, 3.14159), (7.24184, 2.54519, 3.11532), (7.09155, 2.55647, 3.01937),
        (6.84095, 2.57555, 2.85476), (6.48977, 2.60276, 2.6246), (6.03731, 2.63817, 2.33647),
        (5.63197, 2.66943, 2.09398), (5.2265, 2.70098, 1.85993), (4.77332, 2.73722, 1.57069),
        (4.42099, 2.76599, 1.34114), (4.16924, 2.78683, 1.17568), (4.01813, 2.79941, 1.07398),
        (3.96775, 2.8036, 1.03499),
    ]),
    "RStoC": (1.63651, [
        (7.26521, 2.4477, 1.67753), (7.21833, 2.44166, 1.6684), (7.0776, 2.42422, 1.63506),
        (6.84288, 2.39679, 1.57791), (6.51398, 2.36175, 1.49758), (6.09072, 2.32411, 1.3954),
        (5.84394, 2.30825, 1.33711), (5.71223, 2.30302, 1.30665), (5.5763, 2.30156, 1.27584),
        (5.43934, 2.30532, 1.24574), (5.30486, 2.31407, 1.2177), (5.04932, 2.34246, 1.16807),
        (4.70513, 2.40464, 1.10814), (4.41049, 2.48517, 1.06443), (4.16643, 2.5814, 1.03633),
        (4.02839, 2.65566, 1.02585), (3.91215, 2.73533, 1.02151), (3.8222, 2.81137, 1.02198),
        (3.75686, 2.87724, 1.02526), (3.71349, 2.92792, 1.02948), (3.68926, 2.95992, 1.03311),
        (3.68165, 2.97094, 1.03499),
    ]),
    "Triangle Test": (2.81467, [
        (3.07983, 2.2566, 0.0), (3.07894, 2.28625, 0.01081), (3.076, 2.3752, 0.054), (3.07046, 2.52343, 0.12949),
        (3.06149, 2.73088, 0.23708), (3.0478, 2.99748, 0.37631), (3.02697, 3.32301, 0.54625),
        (2.99276, 3.7062, 0.74501), (2.97481, 3.84498, 0.81678), (2.95109, 3.98471, 0.88966),
        (2.92237, 4.12078, 0.96045), (2.82064, 4.49356, 1.15025), (2.70598, 4.80903, 1.30555),
        (2.58323, 5.06607, 1.42614), (2.45451, 5.26437, 1.51188), (2.32101, 5.40376, 1.56283),
        (2.18351, 5.48415, 1.57912), (2.04443, 5.50558, 1.56128), (1.90625, 5.4711, 1.51265),
        (1.76569, 5.38201, 1.434), (1.62347, 5.23825, 1.32561), (1.48077, 5.03977, 1.18824),
        (1.33987, 4.78651, 1.02352), (1.20684, 4.47907, 0.83431), (1.1675, 4.36572, 0.76675),
        (1.13333, 4.25032, 0.69831), (1.10437, 4.13705, 0.63173), (1.0367, 3.82705, 0.4535),
        (0.98716, 3.56816, 0.3048), (0.95059, 3.36225, 0.18484), (0.92483, 3.20982, 0.09427),
        (0.90874, 3.11108, 0.03368), (0.90115, 3.06316, 0.0),
    ]),
}  # fmt: skip


def against_choreo(quick: bool) -> list[Row]:
    """Ten paths from rest to rest: straight ones, some with the heading turning, two through a waypoint."""
    import trundle

    true = trundle.catalog.robot("swerve", **_TRUE)
    rows = []
    for name in list(_PATHS)[:: 3 if quick else 1]:
        theirs, poses = _PATHS[name]
        path = trundle.pose_path(poses)
        limits = trundle.Limits(drive_speed=_RATE / _RATIO * _RADIUS)
        ours = trundle.follow(path, modelled(), limits=limits, grip=1.0, progress=False)
        held = trundle.follow(path, true, progress=False).motion.duration
        bound, (what, share), friction = ours.motion.duration, *taken(ours, true)
        rows.append(
            Row(
                f"{name}, {path.length:.1f} m, a competition swerve: Choreo's {theirs:.2f} s",
                f"{bound:.3f} s",
                target=f"≤ {_SLOWER * theirs:.3f} s",
                met=bound <= _SLOWER * theirs,
                note=f"ours within their limits, which takes {friction:.2f} of the friction and {share:.2f} of the "
                f"{what} of a robot with Krakens, a battery and a height; ours within all that it has: {held:.2f} s",
            )
        )
    return rows


def modelled() -> dict[str, Any]:
    """Choreo's robot: a mass with even loads, wheels without any, and one greatest force of every module."""
    force = _TORQUE * _RATIO / _RADIUS
    places = {name: (fore * _FORE, aside * _ASIDE, 0) for name, (fore, aside) in _MODULES.items()}
    wheels = {
        name: {
            "type": "steered", "at": list(at), "radius": _RADIUS, "mass": 1e-6, "contact": "slip",
            "friction": min(_FRICTION, force / (_MASS * 9.80665 / 4)),
        }
        for name, at in places.items()
    }  # fmt: skip
    motors: dict[str, Any] = {}
    for name in places:
        # friction stands for the motor's torque, which bounds pulls and side forces alike
        motors[f"{name}_drive"] = {"type": "torque", "drives": name, "torque_limit": 1e4}
        steering = {"drives": f"{name}.steering", "stiffness": 40, "damping": 4}
        motors[f"{name}_steer"] = {"type": "servo", **steering}
    body = {"mass": _MASS, "center_of_mass": [0, 0, -_RADIUS], "inertia": {"zz": _INERTIA}}
    return {
        "trundle": 1,
        "robot": {"name": "choreo", "base": "planar", "body": body, "wheels": wheels, "motors": motors},
    }


def taken(ours: Any, robot: Any) -> tuple[tuple[str, float], float]:
    """What a motion takes most of a robot, by name and share, friction aside; and the largest share of friction."""
    import numpy as np

    from trundle.motion.constraints.constraint import Moving, shares
    from trundle.motion.constraints.real_limits import actuation
    from trundle.motion.forces.driven_robot import DrivenRobot
    from trundle.motion.forces.forces import motion_forces

    times = np.linspace(0.0, ours.motion.duration, 4001)
    driven = DrivenRobot(robot, ours.motion.kinematics.names)
    forces = motion_forces(driven, ours.motion.samples(times), ours.motion.pushes(times))
    taken = shares(actuation(1.0)[1:], Moving(forces=forces))
    most = max(taken, key=lambda name: taken[name].max())
    return (most, float(taken[most].max())), float(forces.friction_use.max())
