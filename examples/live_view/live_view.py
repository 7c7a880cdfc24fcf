"""Two wheels turn at given rates, and a window shows the robot drive in a circle.

    python examples/live_view/live_view.py

On a machine without a screen: SDL_VIDEODRIVER=dummy. With a picture of the robot of your own, its front to the right:
`trundle.window.play(run, image="robot.png", image_size=("60 m", "70 m"))`.
"""

import os

import numpy as np

import trundle

described = {
    "robot": {
        "name": "two_wheels",
        "base": "planar",
        "wheels": {
            "left": {"at": [0, "s/2", 0], "radius": "r"},
            "right": {"at": [0, "-s/2", 0], "radius": "r"},
        },
        "parameters": {"r": 15.0, "s": 60.0},
    },
    "run": {
        "mode": "kinematic",  # the wheels' rates are given: no forces, so no masses either
        "duration": 100.0,
        "inputs": {"left.rate": 2.0, "right.rate": 1.4},
        "initial": {"x": 500.0, "y": 500.0},
    },
}
run = trundle.run(described, samples=10_000)

# The same by hand: v = r (2 + 1.4)/2, ω = r (1.4 − 2)/s, on a circle of radius v/|ω|.
v, omega = 15.0 * (2.0 + 1.4) / 2, 15.0 * (1.4 - 2.0) / 60.0
x = 500.0 + v / omega * np.sin(omega * run.time)
y = 500.0 + v / omega * (1 - np.cos(omega * run.time))
off = np.hypot(run["x"] - x, run["y"] - y).max()
print(f"a circle of radius {abs(v / omega):g} m; the run is off it by {off:.1e} m")

headless = os.environ.get("SDL_VIDEODRIVER") == "dummy"
trundle.window.play(run, speed=100 if headless else 5, close=headless)
