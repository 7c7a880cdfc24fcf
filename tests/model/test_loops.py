"""Robots with closed loops: closed forms, trees that move alike, Pinocchio's matrices with multipliers, and laws."""

import sys

import numpy as np
import pytest

import trundle
from mechanics.pinocchio_trees import Twin
from mechanics.trees import random_motion
from parameters import mostly_slow
from trundle.errors import InputError, NumericsError
from trundle.mechanics.assembly import assemble
from trundle.mechanics.frames import world_poses
from trundle.model.manifold import on_manifold
from trundle.model.symbols import Symbols
from trundle.robot import parse_robot
from trundle.spatial.motions import compose, inverse

from .linkages import bar, four_bar, parallelogram, slider_crank

G = 9.81


def value(model, outputs, name):
    return outputs[list(model.outputs).index(name)]


def looked_at(model, x, inputs=()):
    """Rates and outputs at one state."""
    p = np.array(list(model.parameters.values()))
    u = np.array(inputs, dtype=float)
    return model.dynamics.evaluate(x, u, p)[0], model.observe.evaluate(x, u, p)[0]


def test_a_four_bar_follows_freudenstein():
    """K1 cos ψ − K2 cos φ + K3 = cos(φ − ψ) between crank angle φ and rocker angle ψ (Freudenstein 1955)."""
    a, b, c, d = 0.3, 0.9, 0.7, 1.0
    model = trundle.derive(four_bar((a, b, c), d))
    run = trundle.simulate(model, 3.0, {"drive.torque": 2.0}, initial={"crank.angle": 1.0})
    phi, psi = run["crank.angle"], run["rocker.angle"]
    k1, k2, k3 = d / a, d / c, (a * a - b * b + c * c + d * d) / (2 * a * c)
    np.testing.assert_allclose(k1 * np.cos(psi) - k2 * np.cos(phi) + k3, np.cos(phi - psi), atol=1e-12)
    assert np.ptp(phi) > 2 * np.pi
    assert (model.constraints.rows, model.constraints.rank) == (5, 2)
    assert model.dependent == ("rocker.angle", "coupler.angle", "rocker.rate", "coupler.rate")


def test_a_slider_crank_with_a_massless_rod_has_the_textbook_acceleration(rng):
    """(I + m x'²) φ̈ + m x' x'' φ̇² = τ with x = r cos φ + √(l² − r² sin² φ); the rod carries only what the piston
    needs.
    """
    model = trundle.derive(slider_crank())
    r, length, inertia, mass = 0.1, 0.3, 0.02, 0.5
    for phi in rng.uniform(-3, 3, 5):
        rate, torque = rng.normal(size=2)
        x = np.array(model.state_vector({"crank.angle": phi, "crank.rate": rate, "piston.position": 0.3}))
        got, outputs = looked_at(model, x, [torque])
        s, c = np.sin(phi), np.cos(phi)
        root = np.sqrt(length**2 - (r * s) ** 2)
        first = -r * s - r * r * s * c / root
        second = -r * c - r * r * (c * c - s * s) / root - r**4 * s * s * c * c / root**3
        expected = (torque - mass * first * second * rate**2) / (inertia + mass * first**2)
        names = list(model.states)
        assert got[names.index("crank.rate")] == pytest.approx(expected, rel=1e-9, abs=1e-10)
        piston = got[names.index("piston.rate")]
        assert piston == pytest.approx(first * expected + second * rate**2, rel=1e-9, abs=1e-10)
        # a massless rod has no moments: its force lies along it, and its part along the slide moves the piston
        force = np.array([value(model, outputs, f"wrist.force_{axis}") for axis in "xz"])
        angle = phi + x[names.index("rod.angle")]
        assert force[1] == pytest.approx(0, abs=1e-9 * max(1, abs(force[0])))
        assert force[0] * np.cos(angle) == pytest.approx(mass * piston, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize(
    "kind",
    mostly_slow(
        ["revolute", "prismatic", "cylindrical", "spherical", "planar", "fixed"], ["spherical", "planar"]
    ),
)
@pytest.mark.slow
def test_a_floating_body_held_by_a_loop_moves_as_on_that_joint(kind, rng):
    """The same body on a joint of the tree, and floating with that joint as a loop: same motion, same energy."""
    body = {
        "mass": 1.3,
        "center_of_mass": [0.2, -0.1, 0.3],
        "inertia": {"xx": 0.05, "yy": 0.06, "zz": 0.04, "xy": 0.004, "xz": -0.003, "yz": 0.005},
    }
    arm = {
        "type": "revolute",
        "axis": [1, 0, 0],
        "at": [0, 0, 1],
        "body": {"mass": 0.7, "inertia": {"xx": 0.2}},
    }
    at, rpy = [0.1, 0.2, -0.3], [0.2, -0.4, 0.3]
    axis = {"axis": [0.6, 0, 0.8]} if kind in ("revolute", "prismatic", "cylindrical", "planar") else {}
    tree = parse_robot(
        {
            "joints": {
                "arm": arm,
                "held": {"type": kind, "parent": "arm", "at": at, "rpy": rpy, "body": body, **axis},
            }
        }
    )
    joints = {"arm": arm, "held": {"type": "floating", "body": body}}
    loop = {"type": kind, "first": {"body": "arm", "at": at, "rpy": rpy}, "second": {"body": "held"}, **axis}
    closed = parse_robot({"joints": joints, "loops": {"loop": loop}})
    one, two = trundle.derive(tree), trundle.derive(closed)
    speeds = [name for name in one.speeds if name != "arm.rate"]
    start = {
        "arm.angle": 0.4,
        "arm.rate": 0.7,
        **dict(zip(speeds, rng.uniform(-1, 1, len(speeds)), strict=True)),
    }
    reference = trundle.simulate(one, 1.0, initial=start, samples=11)
    frame = one.frame("held")
    x0 = one.state_vector(start)
    q, u = x0[: len(one.coordinates)], x0[len(one.coordinates) :]
    position, rotation, velocity, *_ = frame.evaluate(q, u, list(one.parameters.values()))
    turned = rotation.reshape(3, 3)
    own = np.concatenate([turned.T @ velocity[:3], turned.T @ velocity[3:]])
    w = np.sqrt(1 + np.trace(turned)) / 2
    quaternion = [w, *((turned[i, j] - turned[j, i]) / (4 * w) for i, j in ((2, 1), (0, 2), (1, 0)))]
    initial = {"arm.angle": 0.4, "arm.rate": 0.7}
    initial |= dict(zip(two.coordinates[-7:], [*position, *quaternion], strict=True))
    initial |= dict(zip(two.speeds[-6:], own, strict=True))
    run = trundle.simulate(two, 1.0, initial=initial, samples=11)
    for name in ("arm.angle", "arm.rate"):
        np.testing.assert_allclose(run[name], reference[name], atol=1e-9)
    for axis_name in "xyz":
        np.testing.assert_allclose(
            run[f"held.center_{axis_name}"], reference[f"held.center_{axis_name}"], atol=1e-9
        )
    np.testing.assert_allclose(run["energy.kinetic"], reference["energy.kinetic"], atol=1e-8)
    assert run["loop_residual"].max() < 1e-12


def test_a_rod_pulls_as_a_pendulum_does(rng):
    """A point on a rod: m g cos θ + m L θ̇² of tension, so the rod's push is its opposite."""
    length = 0.8
    point = {"type": "planar", "axis": [0, 1, 0], "body": {"mass": 1.5, "inertia": {"yy": 0.1}}}
    loop = {"type": "rod", "length": length, "first": {"at": [0, 0, 2]}, "second": {"body": "point"}}
    model = trundle.derive(parse_robot({"joints": {"point": point}, "loops": {"rod": loop}}))
    theta, rate = rng.uniform(-1, 1, 2)
    names = list(model.states)
    # the planar joint's axes for the normal y are z and x
    across = {"point.x": 2 - length * np.cos(theta), "point.y": length * np.sin(theta)}
    speeds = {"point.v_x": length * rate * np.sin(theta), "point.v_y": length * rate * np.cos(theta)}
    x = np.array(model.state_vector({**across, **speeds}))
    np.testing.assert_allclose([x[names.index(n)] for n in across], list(across.values()), atol=1e-9)
    _, outputs = looked_at(model, x)
    push = [value(model, outputs, f"rod.force_{axis}") for axis in "xz"]
    tension = 1.5 * (G * np.cos(theta) + length * rate**2)
    np.testing.assert_allclose(
        push, [-tension * np.sin(theta), tension * np.cos(theta)], rtol=1e-9, atol=1e-9
    )


def random_chain(rng, count, loop):
    """A chain from the base and back to it, through joints about random axes."""
    joints, parent = {}, "base"
    for k in range(count):
        turns = rng.normal(size=3)
        points = rng.normal(size=(6, 3)) * 0.3
        moments = np.sum([p @ p * np.eye(3) - np.outer(p, p) for p in points], axis=0)
        joints[f"j{k}"] = {
            "type": "revolute" if k % 3 else "spherical",
            "parent": parent,
            "at": rng.normal(size=3).tolist(),
            **({"axis": turns.tolist()} if k % 3 else {}),
            "body": {
                "mass": float(rng.uniform(0.5, 2)),
                "center_of_mass": (rng.normal(size=3) * 0.2).tolist(),
                "inertia": {
                    key: float(moments["xyz".index(key[0]), "xyz".index(key[1])])
                    for key in ("xx", "yy", "zz", "xy", "xz", "yz")
                },
            },
        }
        parent = f"j{k}"
    # where the chain's end is at a random configuration, seen from the second body: so it can be closed
    free = parse_robot({"joints": joints})
    assembly = assemble(free, free.resolver())
    q, _ = random_motion(rng, assembly.tree)
    world = world_poses(assembly.tree, assembly.tree.joint_poses(q))
    end = compose(inverse(world[assembly.links["j1"]]), world[assembly.links[parent]])
    r = np.array(end.rotation, float)
    angles = [np.arctan2(r[2, 1], r[2, 2]), np.arcsin(-r[2, 0]), np.arctan2(r[1, 0], r[0, 0])]
    first = {"body": "j1", "at": [float(c) for c in end.position], "rpy": [float(a) for a in angles]}
    return parse_robot(
        {"joints": joints, "loops": {"loop": {"type": loop, "first": first, "second": {"body": parent}}}}
    )


@pytest.mark.slow
@pytest.mark.parametrize("loop", ["spherical", "revolute", "fixed"])
def test_accelerations_and_reactions_agree_with_pinocchios_matrices(rng, loop):
    """M ν̇ + h = Jᵀf, J ν̇ + γ = 0 in NumPy, with M, h, J and γ of Pinocchio, all in world axes at the closing point."""
    pin = pytest.importorskip("pinocchio")
    robot = random_chain(rng, 8, loop)
    model = trundle.derive(robot)
    assembly = assemble(robot, robot.resolver())
    x = np.array(model.state_vector(dict.fromkeys(model.speeds, 0.0)))
    x = settled_motion(model, x, rng)
    q, nu = x[: len(model.coordinates)], x[len(model.coordinates) :]
    twin = Twin(pin, assembly.tree)
    q_pin, v_pin = twin.q(q), twin.v(nu)
    mass = pin.crba(twin.model, twin.data, q_pin)
    mass = np.triu(mass) + np.triu(mass, 1).T
    bias = pin.nle(twin.model, twin.data, q_pin, v_pin)
    first, second = (assembly.loops[0].first, assembly.loops[0].second)
    frames = [
        twin.model.addFrame(
            pin.Frame(
                name,
                twin.ids[end.link],
                0,
                twin.places[end.link] * se3(pin, end.placement),
                pin.FrameType.OP_FRAME,
            )
        )
        for name, end in (("a", first), ("b", second))
    ]
    data = twin.model.createData()
    pin.forwardKinematics(twin.model, data, q_pin, v_pin, np.zeros(twin.model.nv))
    pin.computeJointJacobians(twin.model, data, q_pin)
    pin.updateFramePlacements(twin.model, data)
    aligned = pin.LOCAL_WORLD_ALIGNED
    j_a, j_b = (pin.getFrameJacobian(twin.model, data, f, aligned) for f in frames)
    g_a, g_b = (pin.getFrameClassicalAcceleration(twin.model, data, f, aligned).vector for f in frames)
    turned, spin = data.oMf[frames[0]].rotation, (j_a @ v_pin)[3:]
    relative = (j_b - j_a) @ v_pin
    rows, gamma = (j_b - j_a)[:3], (g_b - g_a)[:3]
    held = {"spherical": 0, "revolute": 2, "fixed": 3}[loop]
    across = turned[:, :held].T
    rows = np.vstack([rows, across @ (j_b - j_a)[3:]])
    turning = np.array([np.cross(spin, axis) @ relative[3:] for axis in across]).reshape(held)
    gamma = np.concatenate([gamma, across @ (g_b - g_a)[3:] + turning])
    size = len(gamma)
    system = np.block([[mass, -rows.T], [rows, np.zeros((size, size))]])
    solved = np.linalg.solve(system, np.concatenate([-bias, -gamma]))
    rate, outputs = looked_at(model, x)
    got = rate[len(model.coordinates) :]
    expected = solved[: twin.model.nv][twin.v_at]
    np.testing.assert_allclose(got, expected, atol=1e-8 * max(1, np.abs(expected).max()))
    force = turned @ [value(model, outputs, f"loop.force_{axis}") for axis in "xyz"]
    forces = solved[twin.model.nv :][:3]
    np.testing.assert_allclose(force, forces, atol=1e-8 * max(1, np.abs(forces).max()))


def se3(pin, pose):
    return pin.SE3(np.array(pose.rotation, float), np.array(pose.position, float))


def settled_motion(model, x, rng):
    """Random speeds that keep the loops closed: those of the projection."""
    x = x.copy()
    x[len(model.coordinates) :] = rng.normal(size=len(model.speeds))
    for _ in range(3):
        (x,) = model.projection.evaluate(x, [], list(model.parameters.values()))
    return x


@pytest.mark.parametrize(
    ("robot", "start"),
    [
        (four_bar(), {"crank.angle": 1.0}),
        (slider_crank(rod_mass=0.3), {"crank.angle": 0.3, "crank.rate": 20.0, "piston.position": 0.4}),
    ],
    ids=["four_bar", "slider_crank"],
)
def test_loops_stay_closed_over_a_hundred_thousand_steps(robot, start):
    model = trundle.derive(robot)
    batch = trundle.rollout(model, initial=start, steps=100_000, dt=1e-3, every=500)
    assert batch.output("loop_residual").max() <= 1e-12
    assert batch.summary["constraint_residual"] <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dop853", "lsoda", "radau"])
def test_a_conservative_linkage_keeps_its_energy_and_its_loop(method):
    model = trundle.derive(four_bar())
    run = trundle.simulate(model, 10.0, initial={"crank.angle": 1.0}, method=method)
    tight = 1e-8 if method == "dop853" else 1e-4
    assert np.ptp(run["energy.stored"]) <= tight * run.summary["energy_turned_over"]
    assert np.abs(run["energy.imbalance"]).max() <= tight * run.summary["energy_turned_over"]
    assert run.summary["loop_residual"] <= 1e-12
    assert run.summary["constraint_residual"] <= 1e-10


def test_motions_that_loops_hold_twice_are_found_and_move_as_without_the_repetition():
    """A beam on three equal cranks moves as on two, and what each pin carries can't be told."""
    three, two = trundle.derive(parallelogram(3)), trundle.derive(parallelogram(2))
    assert (three.constraints.rows, three.constraints.rank) == (10, 3)
    assert "pin1.force_x" in three.constraints.undetermined
    assert (two.constraints.rows, two.constraints.rank) == (5, 2)
    assert "pin1.force_x" not in two.constraints.undetermined
    run = trundle.simulate(three, 0.5, initial={"crank.angle": 1.0})
    assert run.summary["loop_residual"] < 1e-12
    # the third crank's inertia about its pivot, and its weight, put on another crank
    extra = parallelogram(2).with_parameters({})
    heavier = parse_robot(
        {
            "name": "parallelogram",
            "gravity": [0, -G, 0],
            "joints": {
                name: {
                    "type": "revolute",
                    **({"parent": "crank"} if name == "beam" else {}),
                    "at": [0.3, 0, 0] if name == "beam" else [float(name == "leg1"), 0, 0],
                    "body": bar(0.3, 1.0)
                    if name == "leg1"
                    else bar(1.0, 1.0)
                    if name == "beam"
                    else bar(0.3, 0.5),
                }
                for name in extra.joints
            },
            "loops": {
                "pin1": {
                    "type": "revolute",
                    "first": {"body": "beam", "at": [1, 0, 0]},
                    "second": {"body": "leg1", "at": [0.3, 0, 0]},
                }
            },
        }
    )
    same = trundle.simulate(trundle.derive(heavier), 0.5, initial={"crank.angle": 1.0})
    np.testing.assert_allclose(run["crank.angle"], same["crank.angle"], atol=1e-9)


def stewart_platform():
    """A platform on six legs that slide along universal joints' second bodies."""
    body = {"mass": 0.3, "center_of_mass": [0, 0, 0.1], "inertia": {"xx": 0.01, "yy": 0.01, "zz": 0.001}}
    plate = {"mass": 3.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.2}}
    joints, loops = {"platform": {"type": "floating", "body": plate}}, {}
    for k in range(6):
        a, b = (
            np.radians(60 * k + (10 if k % 2 else -10)),
            np.radians(60 * (k // 2 * 2) + (45 if k % 2 else 15)),
        )
        foot, head = ([*(size * np.array([np.cos(x), np.sin(x)])), 0] for size, x in ((0.5, a), (0.3, b)))
        hinge = {"type": "universal", "at": foot, "axis": [1, 0, 0], "axis2": [0, 1, 0]}
        slide = {"type": "prismatic", "parent": f"foot_{k}", "axis": [0, 0, 1], "at": [0, 0, 0.5]}
        joints |= {
            f"foot_{k}": {**hinge, "body": body},
            f"leg_{k}": {**slide, "body": body, "stiffness": 2000.0},
        }
        ends = {"first": {"body": f"leg_{k}"}, "second": {"body": "platform", "at": head}}
        loops[f"head_{k}"] = {"type": "spherical", **ends}
    return {"name": "stewart", "base": "fixed", "joints": joints, "loops": loops}


@pytest.mark.parametrize(
    "description",
    [pytest.param(stewart_platform(), marks=pytest.mark.slow), four_bar()],
    ids=["stewart", "four_bar"],
)
def test_tracers_and_casadis_symbols_give_the_same_programs(description, monkeypatch, rng):
    robot = parse_robot(description) if isinstance(description, dict) else description
    traced = trundle.derive(robot)
    monkeypatch.setattr(sys.modules["trundle.model.derive"], "symbols_for", lambda mechanism: Symbols())
    by_casadi = trundle.derive(robot)
    assert traced.dependent == by_casadi.dependent
    assert traced.operations < 1.1 * by_casadi.operations
    p, u = np.array(list(traced.parameters.values())), np.zeros(len(traced.inputs))
    x = on_manifold(traced, rng.uniform(0.1, 0.5, (len(traced.states), 3)), u, p)
    for name in ("manifold", "projection", "audited", "observe"):
        one, other = (getattr(model, name) for model in (traced, by_casadi))
        state = np.pad(x, ((0, one.inputs[0].size - len(x)), (0, 0)))
        found, expected = one(state, u, p), other(state, u, p)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())


@pytest.mark.slow
def test_a_long_run_takes_its_outputs_from_the_rates_own_program(monkeypatch):
    """The same motion and outputs as from three programs, whatever the inputs are."""
    model, inputs = trundle.derive(four_bar()), {"drive.torque": lambda t, state: 9 - state["crank.rate"]}
    apart = trundle.simulate(model, 0.5, inputs, initial={"crank.angle": 1.0})
    monkeypatch.setattr("trundle.simulation.problem.QUICK", 0)
    whole = trundle.simulate(model, 0.5, inputs, initial={"crank.angle": 1.0})
    assert whole.values.keys() == apart.values.keys()
    assert whole.summary["constraint_residual"] < 1e-12
    for name, series in apart.values.items():
        np.testing.assert_allclose(whole[name], series, atol=1e-8, err_msg=name)


def test_a_hitch_as_a_loop_leaves_the_wheels_forces_as_they_were():
    """A trailer on a revolute joint, and one on a planar joint that a loop pins: the same contact forces."""
    robot = {
        "base": "planar",
        "body": {"mass": 20.0, "center_of_mass": [0.1, 0, 0], "inertia": {"zz": 1.0}},
        "wheels": {
            "right": {"at": [0, -0.4, 0], "radius": 0.1, "mass": 1.0},
            "left": {"at": [0, 0.4, 0], "radius": 0.1, "mass": 1.0},
            "tail": {"at": [-1.0, 0, 0], "radius": 0.1, "mass": 1.0, "parent": "trailer"},
        },
        "motors": {"m": {"type": "torque", "drives": "right"}},
    }
    body = {"mass": 8.0, "center_of_mass": [-0.8, 0, 0], "inertia": {"zz": 0.7}}
    hitch = {"type": "revolute", "at": [-0.5, 0, 0], "body": body}
    one = trundle.derive(parse_robot({**robot, "joints": {"trailer": hitch}}))
    pinned = {
        "joints": {"trailer": {"type": "planar", "body": body}},
        "loops": {
            "pin": {
                "type": "revolute",
                "first": {"body": "base", "at": [-0.5, 0, 0]},
                "second": {"body": "trailer"},
            }
        },
    }
    with pytest.raises(InputError, match="would leave the ground"):
        parse_robot({**robot, **pinned})
    # a wheel can't stand on it; without the tail wheel it may hang there
    light = {**robot, "wheels": {k: v for k, v in robot["wheels"].items() if k != "tail"}}
    one = trundle.derive(parse_robot({**light, "joints": {"trailer": hitch}}))
    two = trundle.derive(parse_robot({**light, **pinned}))
    start = {"trailer.x": -0.5}
    a = trundle.simulate(one, 2.0, {"m.torque": 1.5})
    b = trundle.simulate(two, 2.0, {"m.torque": 1.5}, initial=start)
    for name in ("x", "y", "theta", "right.traction", "left.traction"):
        np.testing.assert_allclose(b[name], a[name], atol=1e-8)
    for name in ("right.side_force", "left.side_force"):
        np.testing.assert_allclose(b[name], a[name], atol=1e-7)
    assert {"pin.force_x", "pin.force_y"} <= set(two.outputs)


def test_forward_dynamics_holds_loops_and_undoes_inverse_dynamics(rng):
    model = trundle.derive(four_bar())
    x = settled_motion_with_inputs(model, rng)
    q, u = x[:3], x[3:]
    p = list(model.parameters.values())
    (rate,) = model.dynamics.evaluate(x, [1.3], p)
    force = np.zeros(3)
    force[list(model.speeds).index("crank.rate")] = 1.3
    (got,) = model.forward_dynamics().evaluate(q, u, force, p)
    np.testing.assert_allclose(got, rate[3:], atol=1e-9 * np.abs(rate).max())
    # what the tree needs for this motion, without the loop's forces, moves it the same way with them
    (needed,) = model.inverse_dynamics().evaluate(q, u, rate[3:], p)
    (again,) = model.forward_dynamics().evaluate(q, u, needed, p)
    np.testing.assert_allclose(again, rate[3:], atol=1e-9 * np.abs(rate).max())


def settled_motion_with_inputs(model, rng):
    return np.array(model.state_vector({"crank.angle": float(rng.uniform(-3, 3)), "crank.rate": 1.0}))


@pytest.mark.slow
def test_initial_states_close_the_loop_near_what_is_given():
    model = trundle.derive(four_bar())
    names = list(model.states)

    def start(**given):
        state = model.state_vector({k.replace("_", ".", 1): v for k, v in given.items()})
        return dict(zip(names, state, strict=True))

    high = start(crank_angle=1.0, rocker_angle=1.7)
    low = start(crank_angle=1.0, rocker_angle=-1.7)
    assert high["crank.angle"] == low["crank.angle"] == 1.0
    assert high["rocker.angle"] == pytest.approx(1.6506, abs=1e-3)
    assert -np.pi < low["rocker.angle"] < 0
    moving = start(crank_angle=1.0, rocker_angle=1.7, crank_rate=2.0)
    assert moving["crank.rate"] == 2.0
    assert moving["rocker.rate"] == pytest.approx(0.439, abs=1e-3)
    cranks = np.linspace(-3, 3, 50)
    batch = trundle.rollout(model, initial={"crank.angle": cranks, "rocker.angle": 1.7}, steps=10, dt=1e-3)
    assert batch.output("loop_residual").max() < 1e-12
    np.testing.assert_array_equal(batch.values[0, names.index("crank.angle")], cranks)
    longer = {"loops.pin.first.at.x": np.linspace(0.85, 0.95, 4)}
    varied = trundle.rollout(model, initial={"crank.angle": 1.0}, parameters=longer, steps=100, dt=1e-3)
    assert varied.output("loop_residual").max() < 1e-12
    assert np.ptp(varied.values[0, names.index("rocker.angle")]) > 0.01


@pytest.mark.parametrize("angle", [0.1, 1.0, 2.0, 3.0, -1.0])
def test_a_given_angle_stays_where_other_bodies_can_close_the_loop(angle):
    """In a parallelogram any crank may be called dependent: the one that is given still stays as given."""
    model = trundle.derive(parallelogram(2))
    for crank, other in (("crank", "leg1"), ("leg1", "crank")):
        start = dict(zip(model.states, model.state_vector({f"{crank}.angle": angle}), strict=True))
        assert start[f"{crank}.angle"] == angle
        both = {f"{crank}.angle": angle, f"{other}.angle": angle + 0.05}
        start = dict(zip(model.states, model.state_vector(both), strict=True))
        assert start[f"{other}.angle"] == pytest.approx(angle, abs=0.06)
        assert start[f"{crank}.angle"] == pytest.approx(angle, abs=0.06)


@pytest.mark.parametrize("geared", ["cranks", "cranks and beam"])
def test_a_parallelogram_with_geared_cranks_moves_as_without_the_gears(geared):
    """Its loop repeats what the gears say: its gap is quadratic in the angle, or nothing is left of it."""
    gears = {"belt": {"type": "gear", "joint": "leg1", "follows": {"crank": 1}}}
    if geared == "cranks and beam":
        gears["chain"] = {"type": "gear", "joint": "beam", "follows": {"crank": -1}}
    plain, belted = trundle.derive(parallelogram(2)), trundle.derive(parallelogram(2, couplings=gears))
    assert belted.constraints.rank == 2
    start = {"crank.angle": 1.0, "crank.rate": 0.7}
    # before the bodies fall into line, where the loop without gears would be singular
    one, two = (trundle.simulate(model, 0.25, initial=start) for model in (plain, belted))
    for name in ("crank.angle", "crank.rate", "energy.kinetic"):
        np.testing.assert_allclose(two[name], one[name], rtol=1e-7, atol=1e-9)
    assert two.summary["loop_residual"] < 1e-12
    assert two.summary["energy_imbalance"] < 1e-8 * two.summary["energy_turned_over"]


@pytest.mark.parametrize("body", [{"mass": 1.0}, {"mass": 0, "inertia": {"xx": 1.0, "yy": 1.0}}])
def test_what_has_no_inertia_beside_a_loop_is_named(body):
    flag = {"type": "revolute", "parent": "beam", "at": [0.2, 0.1, 0], "body": body}
    with pytest.raises(InputError, match=r"accelerations can't be found for flag.rate") as caught:
        trundle.derive(parallelogram(2, {"flag": flag}))
    assert "resist" in (caught.value.hint or "")


def closed_chain(count, spatial):
    """Bars on hinges from the ground to the ground, sagging; across each other's axes where it is spatial."""
    joints, parent = {}, "base"
    for k in range(count):
        joints[f"j{k}"] = {
            "type": "revolute",
            "parent": parent,
            "axis": [[0, 1, 0], [0, 0.6, 0.8], [1, 0, 0]][k % 3] if spatial else [0, 1, 0],
            "at": [0.1 if k else 0, 0, 0],
            "armature": 0.001 * (k % 2),
            "damping": 0.01,
            "body": {
                "mass": 0.1,
                "center_of_mass": [0.05, 0.01, 0],
                "inertia": {"xx": 2e-5, "yy": 8e-5, "zz": 9e-5, "xy": 1e-6},
            },
        }
        parent = f"j{k}"
    ends = {"first": {"at": [0.05 * count, 0, 0]}, "second": {"body": parent, "at": [0.1, 0, 0]}}
    kind = {"type": "spherical"} if spatial else {"type": "revolute", "axis": [0, 1, 0]}
    return parse_robot({"joints": joints, "loops": {"end": {**kind, **ends}}})


@pytest.mark.slow
@pytest.mark.parametrize("spatial", [False, True], ids=["planar", "spatial"])
def test_long_closed_chains_are_solved_by_recursion_and_agree_with_the_matrix(spatial, monkeypatch, rng):
    """Accelerations, forces and the program of forward dynamics, both ways."""
    robot = closed_chain(13, spatial)
    by_recursion = trundle.derive(robot)
    monkeypatch.setattr("trundle.model.moving.RECURSIVE", 1000)
    by_matrix = trundle.derive(robot)
    assert by_recursion.operations != by_matrix.operations
    x = np.array(by_matrix.state_vector({"j0.angle": 0.4}))
    x = settled_motion(by_matrix, x, rng)
    (rate, seen), (same, shown) = (looked_at(model, x) for model in (by_recursion, by_matrix))
    np.testing.assert_allclose(rate, same, rtol=1e-8, atol=1e-9 * np.abs(same).max())
    np.testing.assert_allclose(seen, shown, rtol=1e-8, atol=1e-9 * np.abs(shown).max())
    q, u = np.split(x, [len(by_matrix.coordinates)])
    force, p = rng.normal(size=len(u)), list(by_matrix.parameters.values())
    dense = by_matrix.forward_dynamics().evaluate(q, u, force, p)[0]
    monkeypatch.undo()
    np.testing.assert_allclose(
        by_recursion.forward_dynamics().evaluate(q, u, force, p)[0], dense, rtol=1e-8, atol=1e-8
    )


@pytest.mark.slow
def test_operations_of_closed_chains_grow_with_the_links():
    """Each link more costs as much as the one before it."""
    short, middle, long = (trundle.derive(closed_chain(n, False)).operations for n in (13, 23, 33))
    assert long - middle < 1.1 * (middle - short)


def test_what_cannot_be_closed_or_moved_is_explained():
    with pytest.raises(InputError, match=r"can't be closed: .* none that closes 'pin'"):
        trundle.derive(four_bar((0.3, 0.2, 0.1)))
    with pytest.raises(InputError, match="open by -?0.1, and no joint can close it"):
        tilted = {
            "pin": {
                "first": {"body": "coupler", "at": [0.9, 0, 0.1]},
                "second": {"body": "rocker", "at": [0.7, 0, 0]},
            }
        }
        trundle.derive(four_bar(loops={"pin": {"type": "spherical", **tilted["pin"]}}))
    with pytest.raises(InputError, match="lock it: the constraints of pin have rank 3"):
        welded = {
            "first": {"body": "coupler", "at": [0.9, 0, 0]},
            "second": {"body": "rocker", "at": [0.1, 0, 0]},
        }
        trundle.derive(four_bar((0.3, 0.9, 0.1), loops={"pin": {"type": "fixed", **welded}}))
    with pytest.raises(NumericsError, match="loops pin1, pin2 may stand at a dead point"):
        trundle.simulate(trundle.derive(parallelogram(3)), 1.0)
    with pytest.raises(InputError, match=r"breaks the constraints of 'four_bar'"):
        trundle.derive(four_bar((0.8, 0.4, 0.4))).state_vector({"crank.angle": 3.0})


@pytest.mark.parametrize(
    ("loop", "message"),
    [
        (
            {"type": "revolute", "first": {"body": "couple"}, "second": {"body": "rocker"}},
            "no body or joint 'couple'.*\n.*'coupler'",
        ),
        (
            {"type": "revolute", "first": {"body": "rocker"}, "second": {"body": "rocker"}},
            "holds 'rocker' to 'rocker', and no joint",
        ),
        ({"type": "revolute", "first": {"body": "coupler"}}, "'second' is missing"),
        ({"type": "weld", "first": {}, "second": {}}, "unknown type 'weld'"),
        (
            {"type": "rod", "first": {}, "second": {"body": "rocker"}, "length": 0},
            "must be greater than zero",
        ),
        (
            {"type": "revolute", "axis": [0, 0, 0], "first": {}, "second": {"body": "rocker"}},
            "axis is a zero vector",
        ),
        ({"type": "fixed", "axis": [0, 0, 1], "first": {}, "second": {"body": "rocker"}}, "has no 'axis'"),
    ],
)
def test_bad_loops_are_refused(loop, message):
    with pytest.raises(InputError, match=message):
        four_bar(loops={"pin": loop})
