"""Feet on terrain: what slides, hops and stands, by closed forms; collision spheres of URDF files; what is refused."""

import sys
from pathlib import Path

import numpy as np
import pytest

import trundle
from trundle.cli.app import main
from trundle.documents import dump, parse, parse_urdf
from trundle.documents.urdf.feet import with_feet
from trundle.robot import parse_robot
from trundle.robot.component import plain
from trundle.show.figures.arrows import with_wrenches
from trundle.show.figures.path import track_of

GRAVITY = 9.81
ROBOTS = Path(sys.prefix) / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "cmeel.prefix"
A1 = ROBOTS / "share" / "example-robot-data" / "robots" / "a1_description" / "urdf" / "a1.urdf"
BODY = {"mass": 8.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
LEG = {"type": "prismatic", "axis": [0, 0, -1], "stiffness": 4000.0, "rest": 0.5, "body": {"mass": 0.5}}
TOE = {"type": "foot", "parent": "leg", "radius": 0.02}


def hopper(**changes):
    return trundle.Robot(
        name="hopper", **{"body": BODY, "joints": {"leg": LEG}, "wheels": {"toe": TOE}, **changes}
    )


def block(damping, friction=0.5, mass=10.0, **keys):
    """On four points in the plane of its centre of mass, so that friction doesn't pitch it."""
    corners = ((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1))
    feet = {
        f"f{place}": {"type": "foot", "at": [x, y, 0], "friction": friction, "slip_damping": damping, **keys}
        for place, (x, y) in enumerate(corners)
    }
    return trundle.Robot(name="block", body={**BODY, "mass": mass}, wheels=feet)


def slid(damping, way):
    """How far the block slides from 2 m/s along a way (rad), extrapolated in the step to the second order."""
    found = []
    for step in (1e-3, 5e-4):
        start = {"v_x": 2 * np.cos(way), "v_y": 2 * np.sin(way)}
        run = trundle.simulate(
            block(damping), 1.0, terrain={}, step=step, initial=start, samples=2, progress=False
        )
        found.append(run["x"][-1] * np.cos(way) + run["y"][-1] * np.sin(way))
    return 2 * found[1] - found[0]


@pytest.mark.slow
@pytest.mark.parametrize("way", [0.0, 2.2])
def test_a_block_slides_by_its_law_and_by_coulombs_in_the_limit(way):
    """At μ g down to the speed s = μ N/C, from there v̇ = −μ g v/s: (v₀² + s²)/(2 μ g) in all; Coulomb's has s = 0."""
    slows = 0.5 * GRAVITY
    ends = {damping: slid(damping, way) for damping in (500.0, 1000.0)}
    for damping, end in ends.items():
        turning = slows * 10 / 4 / damping
        assert end == pytest.approx((4 + turning**2) / (2 * slows), abs=1e-6)
    assert (4 * ends[1000.0] - ends[500.0]) / 3 == pytest.approx(4 / (2 * slows), abs=1e-6)


@pytest.mark.slow
def test_a_block_on_bristles_stays_where_the_linear_law_creeps():
    slope = {"surfaces": {"slope": {"type": "plane", "slope": "20 deg"}}, "sinkage": 0.005}
    feet = block(50.0).wheels
    bristles = {
        name: {"type": "foot", "at": plain(foot)["at"], "contact": "bristle"} for name, foot in feet.items()
    }
    robot = trundle.Robot(name="block", body={**BODY, "mass": 10.0}, wheels=bristles)
    run = trundle.simulate(robot, 3.0, terrain=slope, step=0.01, progress=False)
    assert abs(run["v_x"][-1]) < 1e-9
    pulls = sum(run[f"{name}.friction_x"][-1] for name in bristles)
    assert pulls == pytest.approx(10 * GRAVITY * np.sin(np.radians(20)), rel=1e-6)


def test_a_block_creeps_down_a_slope_by_its_law():
    """v̇ = g sin θ − v n C/m, by implicit Euler: exact at every step, below the limit of friction."""
    slope = {"surfaces": {"slope": {"type": "plane", "slope": "20 deg"}}, "sinkage": 0.01}
    run = trundle.simulate(block(50.0, 1.0), 0.4, terrain=slope, step=0.01, progress=False)
    speed, down, rate = 0.0, -GRAVITY * np.sin(np.radians(20)), 4 * 50.0 / 10
    for found in np.hypot(run["f0.x_slip"], run["f0.y_slip"])[:-1]:
        speed = (speed + 0.01 * down) / (1 + 0.01 * rate)
        assert found == pytest.approx(-speed, abs=1e-9)


def jump_by_hand(squeezed):
    """The height (m) of the centre of mass over the jump of a light foot on hard ground: ½ k x² lifts and throws the
    body; the foot follows when the spring pulls its weight, and takes its share of the momentum.
    """
    body, foot, stiffness, rest = 8.0, 0.5, 4000.0, 0.5
    pulled = foot * GRAVITY / stiffness
    square = stiffness / body * (squeezed**2 - pulled**2) - 2 * GRAVITY * (squeezed + pulled)
    share = body / (body + foot)
    return 0.02 + share * (rest + pulled) + share**2 * square / (2 * GRAVITY)


def jumped(stiffness):
    """The same of runs, extrapolated in the step."""
    found = []
    for step in (2e-4, 1e-4):
        start = {"leg.position": 0.4}
        run = trundle.simulate(
            hopper(),
            0.4,
            terrain={"stiffness": stiffness},
            step=step,
            initial=start,
            samples=4001,
            progress=False,
        )
        found.append(float((run["z"] - 0.5 / 8.5 * run["leg.position"]).max()))
    return 2 * found[1] - found[0]


@pytest.mark.slow
def test_a_spring_leg_jumps_as_high_as_its_energy_lifts_it():
    """What soft ground takes is in proportion to its softness: ten times as hard leaves a tenth."""
    soft, hard = jumped(1e6), jumped(1e7)
    height = jump_by_hand(0.1)
    assert 8 < (height - soft) / (height - hard) < 12
    assert (10 * hard - soft) / 9 == pytest.approx(height, abs=2e-5)


def bounced(step):
    """How much deeper, longer on the ground and higher after it than by hand a ball bounces on ground that is a spring
    without losses: m ẍ = m g − K x from v = √(2 g H), for (2 π − 2 atan2(v ω, g))/ω.
    """
    mass, stiffness, height = 2.0, 2e4, 0.2
    ball = trundle.Robot(
        name="ball",
        base="floating",
        body={**BODY, "mass": mass},
        wheels={"ball": {"type": "foot", "radius": 0.05}},
    )
    ground = {"stiffness": stiffness, "damping": 0}
    run = trundle.simulate(
        ball, 0.6, terrain=ground, step=step, initial={"z": 0.05 + height}, samples=100_001, progress=False
    )
    omega, speed = np.sqrt(stiffness / mass), np.sqrt(2 * GRAVITY * height)
    deepest = GRAVITY / omega**2 + np.hypot(GRAVITY / omega**2, speed / omega)
    lasted = (2 * np.pi - 2 * np.arctan2(speed * omega, GRAVITY)) / omega
    risen = np.where(run.time > 0.25, run["z"], 0).max() - 0.05 - height
    return run["ball.sinkage"].max() - deepest, (run["ball.load"] > 0).sum() * step - lasted, risen


@pytest.mark.slow
def test_a_ball_bounces_by_its_closed_form():
    """A step's error is of the first order: half the step leaves half of it, and both together next to nothing."""
    coarse, fine = bounced(1e-4), bounced(5e-5)
    assert abs(coarse[1]) < 1e-4
    assert abs(fine[1]) < 5e-5
    for more, less in zip(coarse[::2], fine[::2], strict=True):
        assert 1.95 < more / less < 2.05
        assert abs(2 * less - more) < 0.02 * abs(more)


def test_a_foot_without_friction_carries_and_slides_on():
    start = {"v_x": 0.5, "leg.position": 0.49}
    run = trundle.simulate(
        hopper(wheels={"toe": {**TOE, "contact": "free"}}),
        0.05,
        terrain={},
        step=0.01,
        initial=start,
        progress=False,
    )
    assert run["v_x"][-1] == pytest.approx(0.5, abs=1e-12)
    assert run["toe.load"][0] > 0


def test_a_spring_stays_where_it_is_when_a_robot_settles():
    run = trundle.simulate(
        hopper(), 0.01, terrain={}, step=0.01, initial={"leg.position": 0.45}, progress=False
    )
    assert run["leg.position"][0] == 0.45
    assert run["z"][0] == pytest.approx(0.45 + 0.02 - 0.02)  # a leg, a radius, less the sinkage


@pytest.mark.slow
def test_a_foot_turned_any_way_is_the_same():
    """Its axes are the world's: how its parent's axes lie plays no part."""
    ends = []
    for turn in ([0, 0, 0], [1.5707963267948966, 0, 0], [0.3, -0.7, 2.0]):
        joint = {"type": "fixed", "rpy": turn, "body": {"mass": 0.0}}
        feet = {f"f{place}": {"type": "foot", "parent": f"j{place}", "radius": 0.03} for place in range(4)}
        corners = ((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1))
        joints = {f"j{place}": {**joint, "at": [x, y, -0.1]} for place, (x, y) in enumerate(corners)}
        robot = trundle.Robot(name="table", base="floating", body=BODY, joints=joints, wheels=feet)
        hills = {"surfaces": {"waves": {"type": "waves", "amplitude": 0.05, "length": 1.0, "across": 0.8}}}
        run = trundle.simulate(
            robot, 0.3, terrain=hills, step=0.01, initial={"v_x": 0.5, "x": 0.1}, progress=False
        )
        ends.append([run[name][-1] for name in ("x", "y", "z", "roll", "pitch", "f2.load", "f1.friction_y")])
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, rtol=1e-9, atol=1e-12)


SERVOS = {"hip": 0.0, "thigh": 0.8, "calf": -1.6}
LEGS = ("FL", "FR", "RL", "RR")


def quadruped():
    """a1 with a servo at every joint."""
    with pytest.warns(UserWarning, match="the robot floats"):
        robot = trundle.load(A1)
    motors = {
        f"{leg}_{joint}_servo": {
            "type": "servo",
            "drives": f"{leg}_{joint}_joint",
            "stiffness": 100,
            "damping": 2,
        }
        for leg in LEGS
        for joint in SERVOS
    }
    return parse_robot({**plain(robot), "motors": motors})


@pytest.mark.slow
@pytest.mark.skipif(not A1.exists(), reason="the package example-robot-data is not installed")
def test_a_quadruped_dropped_5_cm_stands_and_its_feet_carry_its_weight():
    robot = quadruped()
    told = {f"{leg}_{joint}_servo.angle": angle for leg in LEGS for joint, angle in SERVOS.items()}
    start = {f"{leg}_{joint}_joint.angle": angle for leg in LEGS for joint, angle in SERVOS.items()}
    ground = {"sinkage": "2 mm"}
    stands = trundle.simulate(robot, 0.01, told, terrain=ground, step=0.01, initial=start, progress=False)
    lifted = {**start, "z": stands["z"][0] + 0.052}
    run = trundle.simulate(robot, 20.0, told, terrain=ground, step=0.01, initial=lifted, progress=False)
    feet = [name for name in run.values if name.endswith("_sphere.load")]
    assert feet == [f"{leg}_foot_sphere.load" for leg in ("FR", "FL", "RR", "RL")]
    assert sum(run[name][0] for name in feet) == 0.0
    weight = GRAVITY * sum(robot.number(joint.body.mass) for joint in robot.joints.values())
    assert sum(run[name][-1] for name in feet) == pytest.approx(weight, rel=1e-6)
    for axis in "xy":
        pulls = sum(run[name.replace("load", f"friction_{axis}")][-1] for name in feet)
        assert pulls == pytest.approx(0.0, abs=1e-6 * weight)
    assert 0.25 < run["z"][-1] < 0.3
    assert abs(run["pitch"][-1]) < 0.02
    assert np.abs([run[name][-1] for name in ("v_x", "v_y", "v_z", "omega_y")]).max() < 1e-5


PUBLISHED = {
    "anymal_b_simple_description/robots/anymal-kinova.urdf": 4,
    "b1_description/urdf/b1-z1.urdf": 4,
    "g1_description/urdf/g1_29dof_rev_1_0.urdf": 8,
    "hyq_description/robots/hyq_no_sensors.urdf": 4,
}


@pytest.mark.skipif(not A1.exists(), reason="the package example-robot-data is not installed")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("file", PUBLISHED)
def test_published_robots_have_the_feet_that_they_stand_on(file):
    """Arms have spheres, too: two at the hand of the first."""
    robot = trundle.load(A1.parents[2] / file)
    assert len(with_feet(robot).wheels) == PUBLISHED[file]


SPHERES = """<robot name="stool">
  <link name="seat">
    <inertial><mass value="5"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
{}  </link>
</robot>
"""


def stool(*spheres):
    line = '    <collision><origin xyz="{}"/><geometry><sphere radius="{}"/></geometry></collision>\n'
    return SPHERES.format("".join(line.format(*sphere) for sphere in spheres))


def test_collision_spheres_are_feet_by_themselves():
    robot = parse_urdf(stool(("0.2 0 -0.4", 0.03), ("-0.1 0.2 -0.4", 0.03), ("-0.1 -0.2 -0.4", 0.03)))
    assert not robot.wheels
    run = trundle.simulate(robot, 0.5, terrain={}, step=0.01, progress=False)
    loads = [run[f"seat_sphere{ending}.load"][-1] for ending in ("", "_1", "_2")]
    assert sum(loads) == pytest.approx(5 * GRAVITY, rel=1e-6)
    assert run["z"][-1] == pytest.approx(0.43 - 0.02, rel=1e-6)


def test_spheres_of_hands_and_heads_are_no_feet():
    robot = parse_urdf(
        stool(("0.2 0 -0.4", 0.03), ("0 0 0.3", 0.05), ("0.1 0 -0.2", 0.03), ("-0.1 0 -0.38", 0.02))
    )
    assert [float(foot.at[2].number) for foot in with_feet(robot).wheels.values()] == [-0.4, -0.38]


def test_feet_of_ones_own_leave_spheres_alone():
    robot = parse_urdf(stool(("0 0 -0.4", 0.03)))
    own = parse_robot({**plain(robot), "wheels": {"toe": {"type": "foot", "parent": "seat"}}})
    assert list(with_feet(own).wheels) == ["toe"]


def test_feet_stand_beside_a_urdf_file_and_come_back_from_yaml(tmp_path):
    (tmp_path / "stool.urdf").write_text(stool())
    toes = {name: f"{{type: foot, parent: seat, at: [{x}, {y}, -0.4], radius: 2 cm, contact: slip, friction: 0.9}}"
            for name, x, y in (("a", 0.2, 0), ("b", -0.1, 0.2), ("c", -0.1, -0.2))}  # fmt: skip
    feet = "\n".join(f"    {name}: {keys}" for name, keys in toes.items())
    text = f"trundle: 1\nrobot:\n  urdf: stool.urdf\n  wheels:\n{feet}\nterrain: {{sinkage: 1 cm}}\n"
    text += "run: {mode: dynamic, duration: 1, step: 0.01}\n"
    (tmp_path / "stool.yaml").write_text(text)
    document = trundle.documents.load(tmp_path / "stool.yaml")
    assert document.robot.base == "floating"
    run = trundle.run(tmp_path / "stool.yaml", progress=False)
    assert run["a.load"][-1] == pytest.approx(5 * GRAVITY / 3, rel=1e-3)
    again = parse(run.description["yaml"])
    assert list(again.robot.wheels) == ["a", "b", "c"]
    assert parse(dump(again.robot, terrain=again.terrain)).robot == again.robot


def test_the_command_says_and_draws_feet(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    document = {"name": "hopper", "body": BODY, "joints": {"leg": LEG}, "wheels": {"toe": TOE}}
    robot = trundle.Robot(**document)
    text = dump(robot, terrain=trundle.robot.terrain.parse_terrain({}))
    (tmp_path / "hopper.yaml").write_text(text + "run: {mode: dynamic, step: 0.01, duration: 0.1}\n")
    assert main(["run", "hopper.yaml", "--no-figures"]) == 0
    assert "1 wheel (foot)" in capsys.readouterr().out
    run = trundle.Run.load(tmp_path / "runs" / "hopper" / "hopper.nc")
    assert {"toe.load", "toe.sinkage", "toe.x_slip", "toe.y_slip", "toe.friction_x"} <= set(run.values)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"parent": "leq"}, "no body or joint 'leq'\n.*leg"),
        ({"radius": -0.02}, "radius must not be negative, got -0.02\n.*0.02"),
        ({"radius": "nan"}, "radius"),
        ({"heading": 0.1}, "a foot has no 'heading'"),
        ({"contact": "pacejka"}, "a foot doesn't spin.*\n.*linear"),
        ({"contact": "soil", "contact_width": 0.1}, "a foot doesn't spin.*\n.*linear"),
        ({"contact": "glue"}, "unknown contact 'glue'"),
        ({"friction": -1}, "friction must not be negative"),
    ],
)
def test_feet_that_can_t_be_are_told(keys, words):
    with pytest.raises(trundle.InputError, match=words):
        hopper(wheels={"toe": {**TOE, **keys}})


@pytest.mark.parametrize(
    ("robot", "words"),
    [
        (lambda: hopper(base="planar"), "'toe' is a foot, which carries no planar base.*\n.*base: floating"),
        (lambda: hopper(base="fixed"), "wheels on a fixed base.*\n.*floating"),
        (lambda: trundle.derive(hopper()), "roll over terrain"),
        (lambda: hopper(motors={"m": {"type": "torque", "drives": "toe"}}), "'toe'"),
        (
            lambda: trundle.simulate(hopper(wheels={"toe": {**TOE, "contact": "ideal"}}), 0.1, terrain={}),
            "rolls ideally, and forces on terrain come from slip",
        ),
        (lambda: trundle.simulate(hopper(), 0.1, terrain={}, mode="kinematic", step=0.1), "at 1 points"),
        (
            lambda: trundle.simulate(parse_urdf(stool()), 0.1, terrain={}),
            r"nothing of it touches the terrain\n.*type: foot.*collision spheres",
        ),
        (
            lambda: trundle.simulate(parse_urdf(stool(("0 0 0", -1))), 0.1, terrain={}),
            "seat_sphere.radius: radius must not be negative",
        ),
        (
            lambda: trundle.simulate(parse_urdf(stool(("0 0 0", "r"))), 0.1, terrain={}),
            "collision sphere of the link 'seat'",
        ),
    ],
)
def test_what_has_feet_and_can_t_run_is_told(robot, words):
    with pytest.raises(trundle.InputError, match=words):
        robot()


@pytest.mark.slow
def test_arrows_at_feet_point_as_the_ground_pushes():
    """A foot's own axes lie any way: at rest on a slope all arrows together are the weight, straight up."""
    slope = {"surfaces": {"slope": {"type": "plane", "slope": "12 deg", "uphill": "40 deg"}}, "sinkage": 0.01}
    joint = {"type": "fixed", "rpy": [0.4, 1.0, -2.0], "body": {"mass": 0.0}}
    corners = ((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1))
    joints = {f"j{place}": {**joint, "at": [x, y, -0.1]} for place, (x, y) in enumerate(corners)}
    feet = {f"f{place}": {"type": "foot", "parent": f"j{place}", "radius": 0.03} for place in range(4)}
    robot = trundle.Robot(name="table", base="floating", body=BODY, joints=joints, wheels=feet)
    run = trundle.simulate(robot, 2.0, terrain=slope, step=0.01, samples=21, progress=False)
    track = track_of(run)
    assert track is not None
    arrows = with_wrenches(track.scene, run).arrows
    assert sorted(arrow.name for arrow in arrows) == ["f0", "f1", "f2", "f3"]
    pushed = sum(arrow.vector[-1] / arrow.scale for arrow in arrows)
    np.testing.assert_allclose(pushed, [0, 0, 8 * GRAVITY], atol=1e-3)
