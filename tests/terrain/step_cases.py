"""Random robots in random motions over ground: what the time step must follow without making energy."""

import math
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

import trundle
from tests.terrain.test_motors_and_batteries import BATTERY, DC
from trundle.model import ground_motion
from trundle.model.ground_model import derive_on
from trundle.model.velocity_step import VelocityStep
from trundle.robot.terrain import parse_terrain
from trundle.simulation.stepping import stepped_problem

PLACES = {"fl": (0.5, 0.4), "fr": (0.5, -0.4), "rl": (-0.5, 0.4), "rr": (-0.5, -0.4)}
RADIUS = 0.2
LAWS = {
    "ellipse": {"contact": "linear"},
    "box": {"contact": "linear", "limit": "box"},
    "slip": {"contact": "slip", "slip_speed": 0.1},
    "pacejka": {"contact": "pacejka"},
    "bristle": {"contact": "bristle"},
    "soil": {"contact": "soil", "contact_width": 0.1, "cohesion": 800.0},
}
MOTORS = {
    "none": None,
    "dc": {**DC, "rotor_inertia": 1e-5},
    "battery": DC,
    "velocity": {"type": "velocity", "gain": 5.0, "lag": 0.1, "integral": 8.0},
    "ideal": {"type": "ideal"},
}
COMMANDS = {"dc": "voltage", "battery": "voltage", "velocity": "rate", "ideal": "rate"}
FRAMES = ("rigid", "struts", "elastic rockers", "geared rockers", "feet")
MOTIONS = ("rolls", "skids", "throw", "landing", "waves")


@contextmanager
def of_before():
    """The step in speeds along the base's turning axes, in the place of the one that carries momenta."""
    kind = ground_motion.KINDS["exponential"]
    ground_motion.KINDS["exponential"] = VelocityStep
    try:
        yield
    finally:
        ground_motion.KINDS["exponential"] = kind


def body(rng, mass, off=0.1):
    """A box turned anyhow, its centre of mass beside the base's origin."""
    turned, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    sides = rng.uniform(0.3, 1.0, 3) ** 2
    moments = turned @ np.diag(mass / 12 * (sides.sum() - sides)) @ turned.T
    entries = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    return {
        "mass": mass,
        "center_of_mass": rng.uniform(-off, off, 3).tolist(),
        "inertia": {name: float(moments[at]) for name, at in entries.items()},
    }


def framed(frame, wheel, rng):
    """Joints, wheels and couplings of a frame on four wheels, or on feet."""
    small = {"mass": 3.0, "inertia": {"xx": 0.05, "yy": 0.05, "zz": 0.05}}
    if frame == "rigid":
        return {"wheels": {name: {"at": [*at, 0], **wheel} for name, at in PLACES.items()}}
    if frame in ("struts", "feet"):
        slide = {"type": "prismatic", "axis": [0, 0, -1], "stiffness": 8e3, "damping": 300, "body": small}
        joints = {f"{name}_leg": {**slide, "at": [*at, 0]} for name, at in PLACES.items()}
        wheels = {name: {"parent": f"{name}_leg", "at": [0, 0, -0.1], **wheel} for name in PLACES}
        return {"joints": joints, "wheels": wheels}
    rocker = {"type": "revolute", "axis": [0, 1, 0], "body": small}
    joints = {"left": {**rocker, "at": [0.0, 0.4, 0.1]}, "right": {**rocker, "at": [0.0, -0.4, 0.1]}}
    wheels = {
        name: {"parent": "left" if y > 0 else "right", "at": [x, 0, -0.1], **wheel}
        for name, (x, y) in PLACES.items()
    }
    tie = {"joint": "right", "follows": {"left": -1.0}}
    own = {"type": "elastic", "stiffness": rng.uniform(1e3, 1e4), "damping": 50.0}
    coupling = tie | (own if frame == "elastic rockers" else {"type": "gear"})
    return {"joints": joints, "wheels": wheels, "couplings": {"differential": coupling}}


def drawn(rng):
    """A robot, its ground, inputs and start: names of what was drawn, and the arguments of `simulate`."""
    frame, motion = rng.choice(FRAMES), rng.choice(MOTIONS)
    laws = ["ellipse", "box", "slip", "bristle"]
    if frame != "feet":
        laws = [*laws, "pacejka"] * 4 + ["soil"]  # whose programs take long to compile
    law = rng.choice(laws)
    motor = "none" if frame == "feet" else rng.choice([*MOTORS])
    icy = motion == "skids" and law != "soil"
    friction = {} if law == "soil" else {"friction": rng.uniform(0.02, 0.3) if icy else rng.uniform(0.3, 1.0)}
    wheel = {"radius": RADIUS, "mass": 2.0, "width": 0.1, **LAWS[law], **friction}
    if frame == "feet":
        wheel = {"type": "foot", "radius": 0.05, "mass": 0.5, **LAWS[law], **friction}
    elif law in ("ellipse", "slip", "bristle") and motor == "none" and rng.random() < 0.2:
        wheel, frame = {"type": "ball", "radius": RADIUS, "mass": 2.0}, f"{frame} on balls"
    parts = framed(frame.removesuffix(" on balls"), wheel, rng)
    driven = (
        {} if motor == "none" else {f"{n}_motor": {"drives": n, **MOTORS[motor]} for n in parts["wheels"]}
    )
    cells = {"batteries": {"b": BATTERY}} if motor == "battery" else {}
    robot = trundle.Robot(
        name="drawn", base="floating", body=body(rng, rng.uniform(40, 150)), motors=driven, **cells, **parts
    )
    speed, heading = rng.uniform(1, 8), rng.uniform(-np.pi, np.pi) if motion == "skids" else 0.0
    initial = {
        "v_x": speed * math.cos(heading), "v_y": speed * math.sin(heading), "omega_z": rng.uniform(-3, 3),
        "yaw": rng.uniform(-np.pi, np.pi),
    }  # fmt: skip
    if motion in ("throw", "landing"):
        height = 30.0 if motion == "throw" else rng.uniform(0.5, 1.0)
        initial |= {"z": height, **dict(zip(("omega_x", "omega_y"), rng.uniform(-3, 3, 2) / 2, strict=True))}
    if frame != "feet" and motor != "ideal":
        rolling = speed / RADIUS * (motion in ("rolls", "waves"))
        initial |= {} if "balls" in frame else {f"{name}.rate": rolling for name in parts["wheels"]}
    inputs = {}
    if motor != "none":
        most = 12.0 if COMMANDS[motor] == "voltage" else speed / RADIUS
        inputs = {f"{name}_motor.{COMMANDS[motor]}": rng.uniform(0.3, 1) * most for name in parts["wheels"]}
    waves = {
        "type": "waves",
        "amplitude": rng.uniform(0.02, 0.06),
        "length": rng.uniform(3, 5),
        "across": 4.0,
    }
    ground = {"surfaces": {"ground": waves if motion == "waves" else {"type": "plane"}}}
    return (frame, motion, law, motor), robot, ground, inputs, initial


def run_of(problem, step, seconds, samples=2):
    """The run of a problem, with steps of another length (s)."""
    steps = round(seconds / step)
    every = -(-steps // (samples - 1))
    return replace(problem, step=step, steps=steps, every=every).solve(False)


def problem_of(robot, ground, inputs, initial):
    """A problem whose runs may take steps of any length."""
    model = derive_on(robot, parse_terrain(ground))
    return stepped_problem(model, inputs, initial, {}, duration=1.0, step=0.5, samples=2, seed=0)
