"""Wheels on a URDF file's joints over terrain: a TurtleBot, and a rover whose axle rolls."""

from pathlib import Path

import pytest

import trundle
from trundle.errors import InputError

EXAMPLE = Path(__file__).parents[2] / "examples" / "urdf" / "turtlebot.yaml"
RIPPLES = {"surfaces": {"r": {"type": "waves", "amplitude": 0.005, "length": 0.5, "across": 0.6}}}
WAVES = {
    "surfaces": {"w": {"type": "waves", "amplitude": 0.03, "length": 1, "across": 0.8}},
    "sinkage": 0.005,
}
PLACES = {"fl": (0.3, 0.25), "fr": (0.3, -0.25), "rl": (-0.3, 0.25), "rr": (-0.3, -0.25)}
RATES = {"fl_motor.rate": 4.0, "fr_motor.rate": 5.0, "rl_motor.rate": 4.0, "rr_motor.rate": 5.0}


@pytest.mark.slow
def test_a_turtlebot_s_urdf_rolls_over_ripples(tmp_path):
    """Its caster as a ball; loads carry the weight where the ground is flat."""
    text = EXAMPLE.read_text().replace("contact: ideal", "contact: linear")
    text = text.replace("urdf: turtlebot.urdf", f"urdf: {EXAMPLE.with_suffix('.urdf')}")
    (tmp_path / "turtle.yaml").write_text(text)
    robot = trundle.load(tmp_path / "turtle.yaml")
    rates = {"wheel_left_motor.rate": 5.0, "wheel_right_motor.rate": 6.0}
    run = trundle.simulate(robot, 5.0, rates, terrain={**RIPPLES, "sinkage": 0.001}, step=0.01)
    assert run["z"].max() - run["z"].min() > 0.005
    assert "overturned_at" not in run.summary
    flat = trundle.simulate(robot, 5.0, rates, terrain={"sinkage": 0.001}, step=0.01)
    masses = (value for name, value in robot.parameter_values().items() if name.endswith(".mass"))
    loads = sum(flat[f"{name}.load"][-1] for name in ("left", "right", "caster"))
    assert loads == pytest.approx(9.81 * sum(masses), rel=1e-4)
    assert flat["v_x"][-1] == pytest.approx(5.5 * 0.033, rel=0.02)


def urdf_of_a_rover():
    """A body, and a rear axle that rolls about x; wheels' joints with frames turned this way and that."""
    moments = '<inertia ixx="{}" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0"/>'
    links = [
        '<link name="body"><inertial><origin xyz="0 0 0.1"/><mass value="10"/>'
        f"{moments.format(0.3, 0.4, 0.5)}</inertial></link>",
        f'<link name="axle"><inertial><mass value="1"/>{moments.format(0.01, 0.02, 0.02)}</inertial></link>',
        '<joint name="roll" type="continuous"><parent link="body"/><child link="axle"/>'
        '<origin xyz="-0.3 0 0"/><axis xyz="1 0 0"/></joint>',
    ]
    turns = {"fl": ("0 0 0", "0 1 0"), "fr": ("-1.5707963267948966 0 0", "0 0 1")}
    turns |= {"rl": turns["fr"], "rr": turns["fl"]}
    for name, (x, y) in PLACES.items():
        rpy, axis = turns[name]
        spin, across = (0.002, 0.0025) if axis == "0 0 1" else (0.0025, 0.002)
        inertia = moments.format(0.002, spin, across)
        parent, at = ("body", x) if name[0] == "f" else ("axle", 0)
        links.append(f'<link name="{name}_wheel"><inertial><mass value="0.5"/>{inertia}</inertial></link>')
        links.append(
            f'<joint name="{name}_joint" type="continuous"><parent link="{parent}"/>'
            f'<child link="{name}_wheel"/><origin xyz="{at} {y} 0" rpy="{rpy}"/><axis xyz="{axis}"/></joint>'
        )
    return f'<robot name="rover">{"".join(links)}</robot>'


def beside(tmp_path, base="  base: floating\n"):
    (tmp_path / "rover.urdf").write_text(urdf_of_a_rover())
    law = "radius: 0.1, width: 0.05, contact: linear"
    wheels = "".join(f"    {name}: {{joint: {name}_joint, {law}}}\n" for name in PLACES)
    motors = "".join(f"    {name}_motor: {{type: ideal, drives: {name}}}\n" for name in PLACES)
    text = (
        f"trundle: 1\nrobot:\n  urdf: rover.urdf\n{base}  wheels:\n{wheels}  motors:\n{motors}terrain: {{}}\n"
    )
    (tmp_path / "rover.yaml").write_text(text)
    return tmp_path / "rover.yaml"


@pytest.mark.slow
def test_a_rover_s_urdf_moves_as_the_same_rover_in_yaml(tmp_path):
    rover = trundle.load(beside(tmp_path))
    wheel = {"radius": 0.1, "width": 0.05, "mass": 0.5, "contact": "linear"}
    wheel["inertia"] = {"axle": 0.0025, "diameter": 0.002}
    same = trundle.Robot(
        name="rover",
        base="floating",
        body={"mass": 10, "center_of_mass": [0, 0, 0.1], "inertia": {"xx": 0.3, "yy": 0.4, "zz": 0.5}},
        joints={
            "roll": {
                "type": "revolute",
                "axis": [1, 0, 0],
                "at": [-0.3, 0, 0],
                "body": {"mass": 1, "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.02}},
            }
        },
        wheels={
            name: {**wheel, "parent": "roll", "at": [0, y, 0]}
            if name[0] == "r"
            else {**wheel, "at": [x, y, 0]}
            for name, (x, y) in PLACES.items()
        },
        motors={f"{name}_motor": {"type": "ideal", "drives": name} for name in PLACES},
    )
    runs = [trundle.simulate(robot, 4.0, RATES, terrain=WAVES, step=0.02) for robot in (rover, same)]
    assert abs(runs[0]["roll.angle"]).max() > 0.01
    for name in ("x", "y", "z", "roll.angle", "yaw", "rl.load"):
        assert runs[0][name] == pytest.approx(runs[1][name], rel=1e-9, abs=1e-9)


def test_on_a_plane_an_axle_that_rolls_is_refused_and_the_way_out_is_named(tmp_path):
    with pytest.raises(InputError, match=r"(?s)tilts the wheel.*base: floating beside urdf"):
        trundle.load(beside(tmp_path, base=""))
