"""The eight motions of basic-swerve-sim that come with the issue (van der Velde, Apache-2.0), in its format."""

import math

NAMES = ("left-front", "left_rear", "right-rear", "right-front")
_REST = ((0.0, 0.0),) * 4
_DIAGONAL = 0.70710678118


def body(v_x, v_y, omega):
    return {
        "linear_velocity_in_meters_per_second": {"x": v_x, "y": v_y},
        "angular_velocity_in_radians_per_second": {"z": omega},
    }


def modules(states):
    return [
        {"name": n, "orientation_in_radians_relative_to_body": angle, "velocity_in_meters_per_second": speed}
        for n, (angle, speed) in zip(NAMES, states, strict=True)
    ]


def plan(name, commands, states=_REST, twist=(0.0, 0.0, 0.0), pose=(0.0, 0.0, 0.0)):
    """A plan as the simulator has it; commands are (time, v_x, v_y, omega) or (time, states)."""
    x, y, heading = pose
    start = {
        "position_in_meters_relative_to_world": {"x": x, "y": y},
        "orientation_in_radians_relative_to_world": {"z": heading},
        **body(*twist),
    }
    asked = [
        {"time_span": time, "body": body(*rest)}
        if len(rest) == 3
        else {"time_span": time, "modules": modules(*rest)}
        for time, *rest in commands
    ]
    start_state = {"body": start, "modules": modules(states)}
    return {"plan": {"name": name, "description": "", "start_state": start_state, "commands": asked}}


def still(*angles):
    return tuple((angle, 0.0) for angle in (angles if len(angles) == 4 else angles * 4))


MOTIONS = {
    each["plan"]["name"]: each
    for each in (
        plan("0_deg_fwd_to_90_deg", [(1.0, 1.0, 0.0, 0.0), (1.0, 0.0, 1.0, 0.0)]),
        plan("45_deg_fwd_from_stop", [(1.0, 0.7071, 0.7071, 0.0)], still(0.785398)),
        plan(
            "90_deg_fwd_from_stop",
            [
                (1.0, still(2.35619, 3.92699, 5.49779, 0.785398)),
                (1.0, 0.0, 0.0, 1.57079632679),
                (1.0, 0.0, 0.0, 0.0),
                (1.0, still(0.0)),
                (1.0, 1.0, 0.0, 0.0),
            ],
        ),
        plan(
            "circle_no_orientation_change",
            [(1.0, 0.0, 1.0, 0.0), (1.0, -1.0, 0.0, 0.0), (1.0, 0.0, -1.0, 0.0), (1.0, 1.0, 0.0, 0.0)],
            ((0.0, 1.0),) * 4,
            (1.0, 0.0, 0.0),
        ),
        plan("inplace_rotation", [(2.0, 0.0, 0.0, 1.0)]),
        plan(
            "inplace_rotation_and_translation_from_45_fwd",
            [
                (0.5, still(1.4008778720722006, 0.785398, 0.16991845472269596, 0.785398)),
                (2.0, _DIAGONAL, _DIAGONAL, 1.0),
            ],
        ),
        plan(
            "inplace_rotation_from_0_fwd", [(1.0, 1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 1.0)]
        ),
        plan(
            "inplace_rotation_from_45_fwd",
            [
                (0.5, still(math.radians(45.0))),
                (2.0, _DIAGONAL, _DIAGONAL, 0.0),
                (2.0, 0.0, 0.0, 1.0),
                (2.0, 0.0, 0.0, 1.0),
            ],
        ),
    )
}
