"""Whatever a public function is handed, it takes it or says what it expected: no exception of Python's own."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest

import trundle
from trundle import catalog, documents

SHANK = {"name": "shank", "mass": 2, "center_of_mass": [0, 0, -0.2], "inertia": {"yy": 0.1}}
LIMB = {
    "robot": {
        "name": "limb",
        "base": "fixed",
        "joints": {"knee": {"type": "revolute", "axis": [0, 1, 0], "body": SHANK}},
    }
}

URDF = documents.dump_urdf(catalog.pendulum())


class Stranger:
    """Something of nobody's kind, of whatever it is made."""

    def __init__(self, *_given: object) -> None:
        pass


# What comes in place of an argument; several kinds of wrong at once, as a fault in any of them is one.
WRONG = {
    "none": None,
    "number": 3,
    "negative": -1.5,
    "true": True,
    "text": "nobody",
    "bytes": b"nobody",
    "empty": [],
    "empty text": "",
    "numbers": [1, 2],
    "texts": ["nobody", "no"],
    "mixed": [1.0, "a"],
    "nested": [[1.0, 2.0], [3.0]],
    "nan": np.full(3, np.nan),
    "not a number": float("nan"),
    "infinite": float("inf"),
    "complex": 1 + 2j,
    "flat": np.ones(4),
    "square": np.ones((3, 3)),
    "objects": np.array([None, {}], dtype=object),
    "mapping": {"nobody": 1.0},
    "mapping of nothing": {"nobody": None},
    "mapping by number": {3: Stranger},
    "set": {1, 2},
    "a path": "nobody/none.yaml",
    "kind": Stranger,
    "object": Stranger(),
    "function": lambda *given: "nothing",
    "noun": trundle.Limits(steering_rate=1.0),
}


@dataclass(frozen=True)
class Door:
    """A public function and arguments that it takes."""

    call: Callable[..., object]
    given: Mapping[str, object] = field(default_factory=dict)


@cache
def nouns() -> dict[str, object]:
    """The nouns that functions take, made once."""
    robot = catalog.differential_drive()
    model = trundle.derive(robot)
    run = trundle.simulate(model, 0.1, samples=5)
    swerve = catalog.limited_swerve()
    time = np.linspace(0, 1, 11)
    angles = {"time": time, "knee.angle": np.sin(time)}
    limb = trundle.load(LIMB)
    frame = trundle.Frame("world")
    tip = frame.point("tip", (1.0, 0.0, 0.0))
    wrench = trundle.Wrench((1.0, 0, 0), (0, 0, 0), on="hand", by="wall", point=tip, frame=frame)
    plan = trundle.plan(swerve, (0.3, 0, 0))
    loads = trundle.joint_loads(limb, angles)
    sensed = robot.with_sensors({"encoders": {"noise": 0.02}})
    log = trundle.measure(sensed, run)
    return {
        "sensed": sensed,
        "log": log,
        "estimate": trundle.estimate(sensed, log),
        "robot": robot,
        "model": model,
        "run": run,
        "swerve": swerve,
        "rover": catalog.talon(),
        "plan": plan,
        "limb": limb,
        "angles": angles,
        "frame": frame,
        "tip": tip,
        "wrench": wrench,
        "estimator": trundle.Estimator(trundle.catalog.differential_drive(), SENSED),
        "recording": trundle.Recording(
            time, channels={"knee.angle": np.sin(time)}, units={"knee.angle": "rad"}
        ),
        "loads": loads,
        "base": loads.frames["base"],
        "inverse": trundle.inverse(limb, angles),
        "batch": trundle.rollout(model, steps=4, dt=0.001, count=2),
        "sweep": trundle.sweep(model, over={"body.mass": [40.0, 50.0]}, measures=["final.x"], steps=2),
        "cycles": trundle.time_normalize(run, [0.0, 0.05, 0.1]),
        "gait": walk(limb, angles),
        "equations": trundle.equations(catalog.pendulum(links=1)),
        "inertia": trundle.Inertia(2.0, np.eye(3), center=tip, frame=frame),
        "bands": trundle.inverse(limb, angles).uncertainty(None),
        "breakdown": trundle.inverse(limb, angles).breakdown("shank", "base", "knee"),
        "twist": trundle.Twist.of(frame, seen_from=frame),
        "kinematics": trundle.kinematics(swerve),
    }


def walk(limb, angles):
    """A limb's steps, at times of its motion that are told."""
    time = angles["time"]
    events = {"Left Foot Strike": (time[0], time[len(time) // 2], time[-1])}
    channels = {name: column for name, column in angles.items() if name != "time"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # there is no plate
        found = trundle.inverse(limb, trundle.Recording(time, channels=channels, events=events))
        return found.gait(movements={"knee": "left knee flexion"})


@cache
def doors() -> dict[str, Door]:
    """Every public function that takes arguments, and methods of the nouns."""
    have = nouns()
    model, run, robot = have["model"], have["run"], have["robot"]
    face = {
        "analyze": {"robot": robot, "at": {}, "point": None, "frame": None, "length": 1.0, "voltage": 12.0},
        "animate": {"given": run, "path": "a.gif", "fps": 30.0, "speed": 1.0, "width": 600},
        "body_segments": {"mass": 70.0, "height": 1.8, "table": "winter", "sex": None},
        "clinical": {
            "run": have["loads"].to_run(),
            "movements": {"knee": "left knee flexion"},
            "external": False,
            "height": 1.8,
        },
        "compare": {"labels": ["a", "b"]},
        "contacts": {
            "time": np.linspace(0, 1, 11),
            "force": np.ones(11),
            "threshold": 20.0,
            "shortest": 0.05,
            "release": 10.0,
        },
        "time_normalize": {"run": run, "events": [0.0, 0.05, 0.1], "points": 11},
        "derive": {"robot": robot},
        "drive": {
            "commands": {"motion": {"name": "a", "commands": [{"duration": 0.1, "twist": {}}]}},
            "robot": have["swerve"],
            "level": "body",
            "profile": "linear",
            "limits": None,
        },
        "drive_figures": {
            "driven": trundle.drive(
                {"motion": {"name": "a", "commands": [{"duration": 0.1, "twist": {"v_x": 0.1}}]}},
                have["swerve"],
                level="body",
            )
        },
        "equations": {"given": catalog.pendulum(links=1), "what": "kinematics", "points": 5},
        "explain": {"found": model.mobility},
        "export": {
            "model": catalog.pendulum(links=1),
            "to": "numpy",
            "what": None,
            "output": "out",
            "name": "arm",
            "precision": None,
            "force": False,
        },
        "fastest": {"robot": "nobody.yaml", "start": (0, 0, 0), "goal": (1, 0, 0), "via": (), "limits": None},
        "follow": {"path": "nobody.path", "robot": have["swerve"], "angles": None, "limits": None},
        "format_equations": {"equations": have["equations"], "form": "text", "width": 100},
        "from_steps": {
            "states": {"v": "m/s"},
            "step": lambda x, u, p, h: {"v": x["v"] + h * u["force"]},
            "inputs": {"force": "N"},
            "parameters": {},
            "outputs": None,
            "units": {},
            "name": "a",
            "length": 0.01,
        },
        "from_sympy": {
            "method": None,
            "inputs": (),
            "outputs": None,
            "parameters": None,
            "units": None,
            "name": "a",
        },
        "ground_reactions": {"recording": have["recording"]},
        "holonomic_twist": {
            "wanted": (0, 0, 0),
            "velocity": (0, 0, 0),
            "pose": (0, 0, 0),
            "gains": (2.0, 2.0),
        },
        "inverse": {
            "robot": have["limb"],
            "motion": have["angles"],
            "markers": None,
            "smoothing": "none",
            "marker_smoothing": None,
            "plate_smoothing": "none",
            "gaps": None,
            "external": (),
            "plates": None,
            "up": None,
        },
        "joint_loads": {
            "robot": have["limb"],
            "motion": have["angles"],
            "external": (),
            "gravity": None,
            "driven": None,
        },
        "joint_motion": {
            "recording": have["angles"],
            "robot": have["limb"],
            "markers": None,
            "weights": None,
            "limits": True,
            "gaps": None,
            "smoothing": "none",
            "marker_smoothing": None,
        },
        "citation": {"given": have["swerve"], "base": None},
        "kinematics": {"robot": have["swerve"]},
        "linearize": {"model": model, "state": {}, "inputs": {}, "parameters": {}, "outputs": None},
        "linearize_along": {"model": model, "run": run, "outputs": None},
        "kalman": {
            "model": model,
            "at": None,
            "noise": HOLD,
            "measured": {"v_x": 0.1},
            "period": None,
            "parameters": {},
        },
        "lqr": {"model": model, "at": None, "tolerances": HOLD, "period": None, "parameters": {}},
        "load": {"source": LIMB, "base": None, "strict": False},
        "pole_figure": {"design": model.lqr(None, HOLD)},
        "gait_figures": {"gait": have["gait"], "width": 85.0},
        "load_figures": {"run": run, "cycles": None},
        "motor_limits": {"robot": catalog.swerve(), "speed": "1 m/s"},
        "ode": {"model": model, "inputs": {}, "initial": {}, "parameters": {}},
        "odometry": {"robot": robot, "given": None},
        "estimate": {
            "model": have["sensed"],
            "log": have["log"],
            "sensors": None,
            "noise": None,
            "pose": (0, 0, 0),
            "covariance": None,
            "gate": 3,
            "smooth": False,
        },
        "estimate_figure": {"found": have["estimate"], "truth": run},
        "measure": {
            "model": robot,
            "run": run,
            "sensors": {"gyro": {"type": "gyro"}},
            "seed": 1,
        },
        "Estimator": {
            "robot": robot,
            "noise": SENSED,
            "pose": (0, 0, 0),
            "covariance": None,
            "time": 0.0,
            "bias": 0.0,
            "keep": 1.5,
        },
        "plan": {
            "robot": have["kinematics"],
            "targets": (0.3, 0, 0),
            "start": (0, 0, 0),
            "angles": None,
            "limits": None,
            "pose": (0, 0, 0),
            "infeasible": "nearest",
        },
        "plan_to_pose": {
            "robot": have["kinematics"],
            "target": (0, 0, 0),
            "start": (0, 0, 0),
            "angles": None,
            "limits": None,
            "pose": (0, 0, 0),
        },
        "plot": {"run": run},
        "pose_path": {"poses": [(0, 0, 0), (1, 0, 0)], "name": "a", "velocity": 1.0, "acceleration": 1.0},
        "read_markers": {"path": "nobody"},
        "read_path": {"file": "nobody.path", "tolerance": 0.01},
        "read_recording": {"path": "nobody.csv"},
        "register": {"kind": Stranger},
        "roll": {
            "robot": have["swerve"],
            "duration": 0.1,
            "inputs": None,
            "initial": {},
            "parameters": {},
            "samples": 3,
            "times": None,
            "method": "auto",
            "rtol": None,
            "atol": None,
            "max_step": None,
        },
        "rollout": {
            "model": model,
            "initial": {},
            "inputs": {},
            "parameters": {},
            "steps": 3,
            "dt": 0.01,
            "every": 1,
            "count": 2,
            "threads": 1,
        },
        "sweep": {
            "model": model,
            "over": {"body.mass": [40.0, 50.0]},
            "measures": ["final.x"],
            "samples": 1,
            "draws": "random",
            "seed": 0,
            "initial": {},
            "inputs": {},
            "parameters": {},
            "steps": 3,
            "dt": 0.01,
            "store": None,
            "resume": False,
            "chunk": None,
            "threads": 1,
            "client": None,
            "other_cpu": False,
        },
        "sweep_figure": {"found": have["sweep"]},
        "run": {
            "given": model,
            "parameters": {},
            "inputs": {},
            "initial": {},
            "duration": 0.1,
            "method": "auto",
            "samples": 3,
            "rtol": None,
            "atol": None,
            "max_step": None,
        },
        "scale_person": {
            "static": have["angles"],
            "body_mass": 70.0,
            "sex": "female",
            "height": None,
            "hip_centre": "harrington",
            "markers": None,
            "up": "z",
            "still_within": 0.02,
        },
        "segment_poses": {"recording": have["recording"], "markers": {}, "weights": None},
        "battery_use": {"run": run},
        "simulate": {
            "model": model,
            "duration": 0.1,
            "inputs": {},
            "initial": {},
            "parameters": {},
            "samples": 3,
            "times": None,
            "method": "auto",
            "rtol": None,
            "atol": None,
            "max_step": None,
            "progress": True,
        },
        "smooth": {"time": np.linspace(0, 1, 30), "values": np.ones(30), "method": "none"},
        "smoothing": {"method": "none"},
        "symbolic_loads": {"bodies": have["limb"], "motion": None, "external": (), "gravity": None},
        "table": {"times": [0, 1], "values": [0, 1], "interpolation": "linear"},
        "to_casadi": {"model": model, "function": "dynamics"},
        "to_html": {"noun": robot},
        "to_jax": {"model": model, "function": "dynamics"},
        "reference": {"motion": have["plan"], "name": "track", "rate": 100.0},
        "to_numpy": {"model": model, "function": "dynamics"},
        "to_run": {"motion": have["plan"], "rate": 10.0},
        "to_svg": {"robot": robot},
        "to_text": {"noun": robot},
        "track": {
            "robot": catalog.swerve(),
            "motion": None,
            "parameters": None,
            "bandwidth": 60.0,
            "samples": 3,
        },
        "trim": {"model": model, "targets": {}, "start": {}, "fixed": (), "parameters": {}},
        "write_recording": {"recording": have["recording"], "path": "a.csv"},
        "write_trajectory": {"motion": have["plan"], "file": "a.traj", "rate": 50.0, "name": None},
        "band_figure": {"bands": have["bands"], "mass": None},
        "breakdown_figure": {"split": have["breakdown"], "time": np.linspace(0, 1, 11)},
        "Limits": dict.fromkeys(
            (
                "steering_rate",
                "steering_acceleration",
                "steering_jerk",
                "drive_speed",
                "drive_acceleration",
                "drive_jerk",
            ),
            1.0,
        )
        | {"steering_range": None},
        "Frame": {"name": "a", "parent": None, "time": None},
        "Inertia": {
            "mass": 1.0,
            "matrix": np.eye(3),
            "center": have["tip"],
            "point": None,
            "frame": have["frame"],
        },
        "Wrench": {
            "force": (0, 0, 0),
            "moment": (0, 0, 0),
            "on": "a",
            "by": "b",
            "point": have["tip"],
            "frame": have["frame"],
        },
        "Twist": {
            "linear": (0, 0, 0),
            "angular": (0, 0, 0),
            "body": "a",
            "seen_from": have["frame"],
            "point": have["tip"],
            "frame": have["frame"],
        },
        "Recording": {
            "time": [0.0, 1.0],
            "markers": {},
            "channels": {},
            "plates": (),
            "events": {},
            "source": "",
            "units": {},
        },
        "Run": {
            "name": "a",
            "time": np.zeros(2),
            "values": {},
            "units": {},
            "description": {},
            "summary": {},
            "groups": {},
        },
    }
    found = {name: Door(getattr(trundle, name), given) for name, given in face.items()}
    files = {
        "dump": {"robot": robot, "run": None, "comment": ""},
        "dump_urdf": {"robot": have["limb"]},
        "json_schema": {"file": type(robot)},
        "load": {"source": LIMB, "base": None, "strict": False},
        "load_osim": {"path": "nobody.osim"},
        "load_urdf": {"path": "nobody.urdf", "base": None, "strict": False},
        "osim_markers": {"path": "nobody.osim"},
        "osim_weights": {"path": "nobody.xml"},
        "parse": {"text": documents.dump(robot), "base": None, "strict": False},
        "parse_urdf": {"text": URDF, "base": None, "strict": False},
        "urdf_extras": {"robot": documents.parse_urdf(URDF)},
    }
    found |= {f"documents.{name}": Door(getattr(documents, name), given) for name, given in files.items()}
    methods = {
        "model": {
            "analyze": {"at": {}, "frame": None, "point": None, "length": 1.0, "voltage": 12.0},
            "casadi": {"function": "dynamics"},
            "equations": {"what": "kinematics"},
            "export": {
                "to": "numpy",
                "what": None,
                "output": None,
                "name": "a",
                "precision": None,
                "force": False,
            },
            "forward_dynamics": {"pushed": ()},
            "inverse_dynamics": {"pushed": ()},
            "frame": {"link": "base", "point": (0, 0, 0)},
            "linearize": {"state": {}, "inputs": {}, "parameters": {}, "outputs": None},
            "linearize_along": {"run": run, "outputs": None},
            "kalman": {"at": None, "noise": HOLD, "measured": {"v_x": 0.1}, "period": None, "parameters": {}},
            "lqr": {"at": None, "tolerances": HOLD, "period": None, "parameters": {}},
            "numpy": {"function": "dynamics"},
            "ode": {"inputs": {}, "initial": {}, "parameters": {}},
            "odometry": {"given": None},
            "parameter_values": {"changes": None},
            "state_vector": {"values": {}, "parameters": {}},
            "trim": {"targets": {}, "start": {}, "fixed": (), "parameters": {}},
        },
        "run": {
            "animate": {"path": "a.gif", "fps": 30.0, "speed": 1.0, "width": 600},
            "column": {"name": "x"},
            "save": {"path": "a.csv"},
            "__getitem__": {0: "x"},
            "peaks.__getitem__": {0: "x"},
            "plot.path": {"field": None},
            "plot.save": {"folder": "figures"},
            "plot.states": {},
        },
        "robot": {"parameter_values": {"changes": None}, "with_parameters": {"changes": {}}},
        "batch": {"final": {"name": "x"}, "output": {"name": "x"}, "save": {"path": "a.nc"}},
        "plan": {"samples": {0: [0.0]}, "poses": {0: [0.0]}, "run": {"rate": 10.0}},
        "loads": {
            "actuator": {"joint": "knee", "at": None, "frame": None},
            "constraint": {"joint": "knee", "at": None, "frame": None},
            "wrench": {"joint": "knee", "at": None, "frame": None},
            "to_run": {"frame": "child", "mass": None},
            "breakdown": {"body": "shank", "observer": have["base"], "origin": have["base"].origin},
        },
        "inverse": {
            "breakdown": {"body": "shank", "observer": "base", "joint": "knee"},
            "time_normalize": {"at": [0.0, 0.5, 1.0], "run": None, "threshold": 20.0},
            "gait": {"by": "auto", "mass": 70.0, "height": 1.8, "movements": None, "threshold": 20.0},
            "to_run": {"frame": "child", "mass": None},
            "uncertainty": {"marker_noise": None, "segments": None, "sex": None},
        },
        "bands": {
            "deviation": {"name": "knee.net", "source": None},
            "band": {"name": "knee.net", "source": None},
            "table": {"mass": None},
        },
        "estimator": {
            "predict": {"increments": (0.1, 0.1), "dt": 0.1, "gyro": 0.0, "angles": ()},
            "fix": {"measured": (0, 0), "noise": (1, 1), "time": None, "gate": None},
            "reset": {"pose": (0, 0, 0), "covariance": None},
        },
        "cycles": {"band": {"name": "x", "band": "deviation", "width": None}, "mean": {"name": "x"}},
        "gait": {
            "mean": {"name": "left_knee_flexion.angle"},
            "deviation": {"name": "left_knee_flexion.angle"},
            "off": {"side": "left"},
            "spans_of": {"body": "shank"},
        },
        "recording": {"channel": {"name": "knee.angle", "unit": "rad"}, "turned": {"up": "z", "to": "y"}},
        "frame": {
            "child": {
                "name": "a",
                "rotation": None,
                "origin": (0, 0, 0),
                "velocity": None,
                "acceleration": None,
            },
            "point": {"name": "a", "position": (0, 0, 0), "velocity": None, "acceleration": None},
            "rotation": {"frame": have["frame"]},
            "angular_velocity": {"seen_from": have["frame"], "frame": None},
            "angular_acceleration": {"seen_from": have["frame"], "frame": None},
        },
        "tip": {
            "position": {"frame": have["frame"], "relative_to": None},
            "velocity": {"seen_from": have["frame"], "relative_to": None, "frame": None},
            "acceleration": {"seen_from": have["frame"], "relative_to": None, "frame": None},
        },
        "wrench": {
            "at": {"point": have["tip"]},
            "in_frame": {"frame": have["frame"]},
            "map": {"function": abs},
            "power": {"twist": have["twist"]},
        },
        "inertia": {
            "at": {"point": have["tip"]},
            "in_frame": {"frame": have["frame"]},
            "momentum_rate": {"seen_from": have["frame"]},
            "weight": {"gravity": (0, 0, -9.81), "frame": have["frame"]},
        },
        "breakdown": {
            "at": {"point": have["base"].origin},
            "in_frame": {"frame": have["base"]},
            "sum": {0: "gravity"},
        },
        "twist": {"at": {"point": have["tip"]}, "in_frame": {"frame": have["frame"]}},
    }
    for noun, calls in methods.items():
        for path, given in calls.items():
            call = have[noun]
            for part in path.split("."):
                call = getattr(call, part)
            found[f"{noun}.{path}"] = Door(call, given)
    return found


SENSED = {"encoders": 0.02, "gyro": 0.002}
HOLD = {"v_x": 0.1, "left_motor.voltage": 1.0, "right_motor.voltage": 1.0}
# Names that a type checker reads and that make nothing, and functions that open a window or take nothing.
APART = {
    "InputError",
    "NumericsError",
    "TrundleError",
    "__version__",
    "Analysis",
    "Batch",
    "BodySegment",
    "Bands",
    "Breakdown",
}
APART |= {
    "Bands",
    "Comparison",
    "Cycles",
    "Fix",
    "ForcePlate",
    "Gait",
    "GroundReaction",
    "InverseDynamicsResult",
    "JointMotion",
    "Loads",
    "Model",
    "Point",
}
APART |= {
    "Robot",
    "ScaledPerson",
    "SegmentPoses",
    "Sweep",
    "SymbolicLoads",
    "catalog",
    "controllers",
    "documents",
    "formulas",
    "page",
    "program",
    "robot",
    "sensors",
    "window",
}


def asked(door: Door, given: Mapping[object, object]) -> None:
    """Call a function with arguments by name, or by place where they have none."""
    placed = [given[key] for key in given if isinstance(key, int)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        door.call(*placed, **{key: value for key, value in given.items() if isinstance(key, str)})


def test_every_function_is_here():
    assert {name for name in doors() if "." not in name} | APART == set(trundle.__all__)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.slow
def test_wrong_kinds_are_told(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    raw = []
    for name, door in doors().items():
        for argument in door.given:
            try:
                asked(door, {**door.given, argument: WRONG[kind]})
            except trundle.TrundleError:
                pass
            except Exception as error:
                raw.append(f"{name}({argument}=…): {type(error).__name__}: {error}")
    assert not raw, "\n".join(raw)


@pytest.mark.slow
def test_the_arguments_are_taken_otherwise(tmp_path, monkeypatch):
    """What is wrong in the cases above is the one argument: most doors take the others."""
    monkeypatch.chdir(tmp_path)
    closed = []
    for name, door in doors().items():
        try:
            asked(door, door.given)
        except trundle.TrundleError:
            closed.append(name)
    assert set(closed) == CLOSED


# Doors that take files or nouns that would take seconds to make: their other arguments are wrong as they come.
CLOSED = {
    "compare",
    "fastest",
    "follow",
    "from_sympy",
    "read_markers",
    "read_path",
    "read_recording",
}
CLOSED |= {
    "inverse.gait",
    "register",
    "scale_person",
    "segment_poses",
    "track",
    "wrench.power",
}
CLOSED |= {"documents.load_osim", "documents.load_urdf", "documents.osim_markers", "documents.osim_weights"}


LIMB_2 = catalog.pendulum(links=2)
TIMES = np.linspace(0.0, 1.0, 11)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: trundle.inverse(LIMB_2, [1, 2]),
            "expected a mapping of names, got list\n.* a recording, its file",
        ),
        (
            lambda: trundle.inverse(LIMB_2, {"time": TIMES, "link_1.angle": TIMES}),
            r"no column 'link_2\.angle'\n  there are only link_1\.angle",
        ),
        (
            lambda: trundle.inverse(LIMB_2, {"time": TIMES, "link_1.angle": TIMES, "link_2.angel": TIMES}),
            r"did you mean 'link_2\.angel'",
        ),
        (lambda: trundle.drive("x.path"), r"trundle\.follow\('x\.path'\)"),
        (
            lambda: trundle.drive(trundle.pose_path([(0, 0, 0), (1, 0, 0)])),
            r"takes commands, not PosePath\n.*follow",
        ),
        (lambda: trundle.follow("x.yaml"), r"trundle\.drive\('x\.yaml'\) takes commands"),
        (lambda: trundle.follow("nofile"), r"nofile: there is no such path\n  choose one of \.path, \.traj"),
        (
            lambda: trundle.follow([(0, 0, 0), (1, 0, 0)]),
            r"takes a path, not list\n.*trundle\.pose_path\(poses\)",
        ),
        (
            lambda: trundle.pose_path([(0, 0, 0), (np.nan, 1, 0)]),
            r"pose 1 has a number that isn't finite: \[nan",
        ),
        (
            lambda: trundle.pose_path([(0, 0, 0), (1, 0, 0)], velocity=-1),
            "velocity: expected a number above 0",
        ),
        (
            lambda: trundle.linearize(
                catalog.differential_drive(), trundle.trim(catalog.differential_drive())
            ),
            r"expected a mapping of names, got Trim\n.*\.linearize\(\)",
        ),
    ],
)
def test_what_is_said(call, said):
    with pytest.raises(trundle.InputError, match=said):
        call()


def test_a_path_without_its_ending(tmp_path):
    (tmp_path / "score.traj").write_text("{}")
    with pytest.raises(trundle.InputError, match=r"did you mean '.*score\.traj'"):
        trundle.follow(tmp_path / "score")
