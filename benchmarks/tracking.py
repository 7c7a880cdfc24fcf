"""A competition swerve on a battery along a path, its motors' dynamics in the loop: `trundle.track`."""

from __future__ import annotations

import time

from benchmarks.measure import Row

# 115 lb on a floor with friction 1.1: Krakens drive and steer, within limits on currents, from one battery.
COMPETITION: dict[str, float | str] = {
    "robot_mass": "115 lb", "center_height": "6 in", "wheelbase": "22.5 in", "track": "22.5 in", "radius": "2 in",
    "friction": 1.1, "motor": "kraken_x60", "gear_ratio": 6.75, "current_limit": 120, "supply_current_limit": 60,
    "steering_motor": "kraken_x60", "steering_ratio": 12.8, "steering_current_limit": 60,
    "battery": 12, "battery_resistance": "15 mohm",
}  # fmt: skip
_POSES = [(0, 0, 0), (1, 1, 0.5), (2, 0, 1.57), (1, -1, 0), (0, 0, 0)]
_MOST_SECONDS = 3.0


def tracking(quick: bool) -> list[Row]:
    """A plan of 6 s, from the description to the run; with stiff steering and contacts, and commands that jump."""
    import trundle

    robot = trundle.catalog.robot("swerve", **COMPETITION)
    limits = trundle.Limits(
        steering_rate=12, steering_acceleration=200, drive_speed=1.4, drive_acceleration=3.0
    )
    driven = trundle.follow(trundle.pose_path(_POSES), robot, limits=limits, progress=False)
    seconds, off = [], 0.0
    for _ in range(1 if quick else 3):
        began = time.perf_counter()
        off = trundle.track(robot, driven, progress=False).largest["position"]
        seconds.append(time.perf_counter() - began)
    return [
        Row(
            f"swerve steered by DC motors, on a battery: track a plan of {driven.motion.duration:.1f} s",
            f"{min(seconds):.2f} s",
            target=f"≤ {_MOST_SECONDS:g} s",
            met=min(seconds) <= _MOST_SECONDS,
            note=f"derived and compiled anew; it goes {off * 1000:.1f} mm off at most",
        )
    ]
