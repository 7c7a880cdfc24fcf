"""Couplings by curves: splines against SciPy, closed forms of a cam, energy, inverse after forward, what is refused."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from trundle import derive, equations, joint_loads, simulate
from trundle.documents import dump, parse
from trundle.errors import InputError
from trundle.limbs.capture.joint_motion import JointMotion
from trundle.program import Tracer, compile_program
from trundle.robot import LinearCurve, NaturalCurve, PolynomialCurve, SimmCurve, parse_robot

from .splined_leg import HEIGHTS, KNOTS, knee, leg
from .test_against_multipliers import named_motion


def third(x, y):
    """The third derivative of the cubic through four points."""
    return 6 * np.polyfit(x, y, 3)[0]


@pytest.mark.parametrize("count", [2, 3, 4, 5, 9])
def test_splines_are_scipys(rng, count):
    x = np.sort(rng.uniform(-2, 2, count)) + 0.2 * np.arange(count)
    y = rng.normal(size=count)
    inside = rng.uniform(x[0], x[-1], 30)
    ours = {kind: kind(x=x.tolist(), y=y.tolist()) for kind in (NaturalCurve, SimmCurve, LinearCurve)}
    theirs = {NaturalCurve: CubicSpline(x, y, bc_type="natural")}
    theirs[LinearCurve] = lambda at, order=0: np.interp(at, x, y) if order == 0 else None
    if count > 3:
        ends = (3, third(x[:4], y[:4])), (3, third(x[-4:], y[-4:]))
        simm = ours[SimmCurve]
        for k, (_, value) in enumerate(ends):
            assert simm.at(x[-k] + (1 - 2 * k) * 1e-3, 3) == pytest.approx(value, rel=1e-8)
        ends_slopes = [
            (1, simm.at(at, 1)) for at in (x[0], x[-1])
        ]  # the slopes that this makes say all of a spline
        theirs[SimmCurve] = CubicSpline(x, y, bc_type=tuple(ends_slopes))
    elif count == 3:
        theirs[SimmCurve] = np.polynomial.Polynomial.fit(x, y, 2).convert()
    for kind, curve in ours.items():
        if kind in theirs:
            np.testing.assert_allclose(curve.at(inside), theirs[kind](inside), atol=1e-13)
    spline = theirs[NaturalCurve]
    for order in (1, 2):
        np.testing.assert_allclose(ours[NaturalCurve].at(inside, order), spline(inside, order), atol=1e-11)


@pytest.mark.parametrize("kind", [NaturalCurve, SimmCurve, LinearCurve])
def test_beyond_its_ends_a_curve_goes_on_straight(kind):
    curve = kind(x=KNOTS, y=HEIGHTS)
    for end, way in ((0, -1), (-1, 1)):
        x, slope = KNOTS[end], curve.at(KNOTS[end], 1)
        assert curve.at(x + way * 2.0) == pytest.approx(HEIGHTS[end] + way * 2.0 * slope, rel=1e-13)
        assert curve.at(x + way * 2.0, 1) == pytest.approx(slope, rel=1e-13)
        assert curve.at(x + way * 2.0, 2) == 0.0


def test_programs_have_the_same_numbers(rng):
    """Traced, and as an array: choosing coefficients costs no digits."""
    curves = [SimmCurve(x=KNOTS, y=HEIGHTS), PolynomialCurve(coefficients=[0.1, -0.2, 0, 0.4])]
    x = np.concatenate([rng.uniform(-3, 3, 200), KNOTS])
    for curve in curves:
        tracer = Tracer("x")
        (node,) = tracer.inputs("x", 1)
        names = ("f", "f'", "f''")
        program = tracer.program(
            "curve", {"x": ("x",)}, {"y": (names, [curve.at(node, k) for k in range(3)])}
        )
        (traced,) = compile_program(program)(x[None])
        expected = np.array([[curve.at(float(at), k) for at in x] for k in range(3)])
        np.testing.assert_allclose(traced, expected, rtol=0, atol=1e-14 * np.abs(expected).max())
        np.testing.assert_allclose([curve.at(x, k) * np.ones(len(x)) for k in range(3)], traced, atol=1e-14)


def test_a_cam_lifts_its_follower():
    """s = f(q): (I + m f'²) q̈ + m f' f'' q̇² = τ − m g f'; the cam pushes with m (g + s̈)."""
    c = [0.3, 0.1, -0.2, 0.05]
    robot = {
        "joints": {
            "shaft": {"type": "revolute", "body": {"inertia": {"zz": 0.2}}},
            "rod": {"type": "prismatic", "body": {"mass": 4.0}},
        },
        "couplings": {
            "lobe": {
                "type": "cam",
                "joint": "rod",
                "follows": "shaft",
                "curve": {"type": "polynomial", "coefficients": c},
            }
        },
        "motors": {"m": {"type": "torque", "drives": "shaft"}},
    }
    model = derive(parse_robot(robot))
    q, rate, torque = 0.7, 2.0, 1.3
    x = np.array(model.state_vector({"shaft.angle": q, "shaft.rate": rate}))
    values, rates = named_motion(model, x, np.array([torque]))
    f = np.polynomial.Polynomial(c)
    slope, bend = f.deriv()(q), f.deriv(2)(q)
    expected = (torque - 4 * 9.81 * slope - 4 * slope * bend * rate**2) / (0.2 + 4 * slope**2)
    assert rates["shaft.rate"] == pytest.approx(expected, rel=1e-13)
    assert values["rod.position"] == pytest.approx(f(q), rel=1e-14)
    assert values["lobe.torque"] == pytest.approx(4 * (9.81 + slope * expected + bend * rate**2), rel=1e-12)
    assert model.units["lobe.torque"] == "N"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["simm", "natural"])
def test_a_swinging_leg_keeps_its_energy(kind):
    """Over some swings through all knots and beyond; the greatest kinetic energy is what one compares with."""
    run = simulate(
        derive(leg(kind)),
        2.0,
        initial={"hip.angle": 1.2, "knee.angle": -0.5},
        rtol=1e-12,
        atol=1e-13,
        method="DOP853",
    )
    energy = run["energy.kinetic"] + run["energy.potential"]
    assert np.ptp(energy) <= 1e-9 * run["energy.kinetic"].max()
    assert run["knee.angle"].min() < KNOTS[0] or run["knee.angle"].max() > KNOTS[-1]


def test_inverse_after_forward(rng):
    """Without motors the motion needs no effort; and the cams push as the simulation says."""
    model = derive(leg())
    names = model.coordinates, model.speeds
    x = np.array([0.3, -0.6, 1.1, -1.7])
    values, rates = named_motion(model, x, np.empty(0))
    u_dot = [rates[name] for name in model.speeds]
    motion = JointMotion([0.0, 1.0], *names, *([row, row] for row in (x[:2], x[2:], u_dot)))
    loads = joint_loads(model.robot, motion)
    for speed in model.speeds:
        assert loads.actuator_torque[speed][0] == pytest.approx(0.0, abs=1e-12)
    assert sum(power[0] for power in loads.power.values()) == pytest.approx(0.0, abs=1e-12)
    for name, torque in loads.ties.items():
        assert torque[0] == pytest.approx(values[f"{name}.torque"], rel=1e-10)
    run = loads.to_run()
    assert run["down_by_knee.torque"][0] == loads.ties["down_by_knee"][0]
    assert not {"down.effort", "down.net", "down.force_x", "down.power"} & set(run.units)
    assert "knee.effort" in run


@pytest.mark.slow
def test_inverse_after_forward_around_a_loop():
    """A rod holds the shank to the ground: the loop's wrench reaches the hip's motor and the cams, too."""
    ends = {"body": "base", "at": [0.3, 0.02, -0.9]}, {"body": "twist", "at": [0.02, 0.01, -0.3]}
    rod = {"type": "rod", "first": ends[0], "second": ends[1], "length": 0.4}
    motors = {"m": {"type": "torque", "drives": "hip"}}
    model = derive(parse_robot({**knee(), "loops": {"tie": rod}, "motors": motors}))
    run = simulate(model, 0.3, initial={"hip.angle": 0.2}, inputs={"m.torque": 3.0}, rtol=1e-10, atol=1e-11)
    x = np.array([run[name][-1] for name in model.states])
    values, rates = named_motion(model, x, np.array([3.0]))
    rows = x[:2], x[2:], [rates[name] for name in model.speeds]
    motion = JointMotion([0.0, 1.0], model.coordinates, model.speeds, *([row, row] for row in rows))
    loads = joint_loads(model.robot, motion)
    assert loads.actuator_torque["hip.rate"][0] == pytest.approx(3.0, rel=1e-9)
    assert loads.actuator_torque["knee.rate"][0] == 0.0
    for name, torque in loads.ties.items():
        assert torque[0] == pytest.approx(values[f"{name}.torque"], rel=1e-8)


def test_the_subspace_is_the_poses_derivative(rng):
    """The shank's velocity for one rad/s of the knee, and central differences of its pose (fourth order)."""
    robot, width = leg("natural"), 1e-3
    q = np.array([[0.2, -0.55 + k * width] for k in (0, -2, -1, 1, 2)])
    motion = JointMotion(np.arange(5.0), *_names(robot), q, np.tile([0.0, 1.0], (5, 1)), np.zeros((5, 2)))
    frame = joint_loads(robot, motion).frames["twist"]
    world = joint_loads(robot, motion).world
    weights = np.array([1, -8, 8, -1]) / (12 * width)
    place, turned = frame.origin.position(frame=world), frame.rotation(frame=world)
    moved = np.einsum("k,ki->i", weights, place[1:])
    np.testing.assert_allclose(frame.origin.velocity(seen_from=world, frame=world)[0], moved, atol=1e-10)
    spin = np.einsum("k,kij->ij", weights, turned[1:]) @ turned[0].T
    omega = frame.angular_velocity(seen_from=world, frame=world)[0]
    np.testing.assert_allclose([spin[2, 1], spin[0, 2], spin[1, 0]], omega, atol=1e-10)


def _names(robot):
    model = derive(robot)
    return model.coordinates, model.speeds


def test_equations_call_curves_by_name():
    """Checked against the program as all are; f, f' and f'' of a cam, in text, LaTeX and MathML, and read back."""
    shown = equations(leg())
    definitions = {str(each.symbol): str(each.expression) for each in shown.definitions}
    assert definitions["q_along"] == "f_along(q_knee)"
    assert definitions["k_along"] == "df_along(q_knee)"
    assert definitions["c_along"] == "ddf_along(q_knee)"
    assert not [note for section in shown.sections for note in section.notes if "Not written" in note]
    assert "k_down = f_down′(q_knee)" in str(shown)
    assert r"f_{\mathrm{down}}^{\prime \prime }\left(q_{\mathrm{knee}}\right)" in shown.latex()
    assert "<msup><msub><mi>f</mi><mi>down</mi></msub><mo>′′</mo></msup>" in shown.mathml()
    units = {str(info.symbol): info.unit for info in shown.symbols if info.kind == "function"}
    assert (units["f_down"], units["ddf_down"], units["df_twist"], units["ddf_twist"]) == (
        "m",
        "m/rad^2",
        "1",
        "1/rad",
    )


def test_it_reads_back():
    robot = leg()
    again = parse(dump(robot)).robot
    assert again == robot
    assert not [name for name in robot.parameter_values() if "curve" in name]


CAM = "type: cam, joint: b, follows: a, curve: "
WRONG = {
    "points": ("{x: [0, 1], y: [1]}", "x has 2 numbers and y 1"),
    "one": ("{x: [0], y: [1]}", "it has 1 points"),
    "falling": ("{x: [0, 2, 1], y: [1, 2, 3]}", "x must increase, and 1 comes after 2"),
    "near": ("{x: [0, 1e-300, 1], y: [0, 1, 0]}", "too near to one another"),
    "units": ("{x: [0, 1 m], y: [1, 2]}", r"expected an angle \(rad\), got one in m"),
    "parameter": ("{x: [0, r], y: [1, 2]}", "a curve can't use parameters, and 'r' uses r"),
    "nothing": ("{type: polynomial, coefficients: []}", "a polynomial has a coefficient at least"),
    "kind": ("{type: natrual, x: [0, 1], y: [0, 1]}", "unknown type 'natrual'"),
    "number": ("{x: 3, y: [0, 1]}", "expected a list of numbers, got 3"),
    "many": (f"{{x: {list(range(300))}, y: [0]}}", "a list of 300 is too long"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_curve_is_named(case):
    curve, message = WRONG[case]
    hinge = "{type: revolute, body: {inertia: {zz: 1}}}"
    text = (
        f"trundle: 1\nrobot:\n  joints: {{a: {hinge}, b: {hinge}}}\n  couplings:\n    c: {{{CAM}{curve}}}\n"
    )
    with pytest.raises(InputError, match=message):
        parse(text)


def test_what_a_cam_ties_is_tied_once():
    robot = knee()
    robot["couplings"] = {
        "one": {"type": "cam", "joint": "down", "follows": "knee", "curve": {"x": [0, 1], "y": [0, 1]}},
        "two": {"type": "cam", "joint": "down", "follows": "hip", "curve": {"x": [0, 1], "y": [0, 1]}},
    }
    with pytest.raises(InputError, match="'down' is held by the coupling 'one' already"):
        parse_robot(robot)
    robot["couplings"] = {
        "one": {"type": "cam", "joint": "knee", "follows": "knee", "curve": {"x": [0, 1], "y": [0, 1]}}
    }
    with pytest.raises(InputError, match="'knee' follows itself"):
        parse_robot(robot)
