"""Couplings by gears: closed forms, SymPy's Lagrange equations with constraints, energy, and what is refused."""

import numpy as np
import pytest
import sympy
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

from trundle import derive, roll, rollout, simulate
from trundle.documents import dump, parse
from trundle.errors import InputError
from trundle.robot import parse_robot

from .test_against_multipliers import named_motion


def shaft(zz, at=(0, 0, 0), **keys):
    """A revolute joint about z with an inertia."""
    return {"type": "revolute", "at": list(at), "body": {"inertia": {"zz": zz}}, **keys}


def train(**more):
    """Two gears on parallel shafts; the second follows the first."""
    data = {
        "gravity": 0,
        "joints": {"a": shaft("i1"), "b": shaft("i2", (1, 0, 0))},
        "couplings": {"mesh": {"type": "gear", "joint": "b", "follows": {"a": "r"}, "offset": 0.3}},
        "motors": {"m": {"type": "torque", "drives": "a"}},
        "parameters": {"i1": 2.0, "i2": 0.5, "r": -3.0},
    }
    return data | more


def at_start(robot, inputs=None, initial=None):
    """States, outputs and rates of a model at t = 0."""
    model = derive(parse_robot(robot))
    x = np.array(model.state_vector(initial))
    return named_motion(model, x, np.array([(inputs or {}).get(name, 0.0) for name in model.inputs]))


def test_a_gear_train_feels_the_second_inertia_by_the_square_of_the_ratio():
    """(I₁ + r² I₂) q̈ = τ, and the mesh turns the second gear: I₂ r q̈."""
    values, rates = at_start(train(), {"m.torque": 1.3}, {"a.angle": 0.7, "a.rate": 2.0})
    expected = 1.3 / (2.0 + 9 * 0.5)
    assert rates["a.rate"] == pytest.approx(expected, rel=1e-14)
    assert values["mesh.torque"] == pytest.approx(0.5 * -3 * expected, rel=1e-14)
    assert values["b.angle"] == pytest.approx(0.3 - 3 * 0.7, rel=1e-15)
    assert values["b.rate"] == pytest.approx(-6.0, rel=1e-15)


def test_a_motor_on_the_follower_drives_the_leader():
    """The same train driven from its other end: (I₁ + r² I₂) q̈ = r τ."""
    motors = {"m": {"type": "torque", "drives": "b"}}
    values, rates = at_start(train(motors=motors), {"m.torque": 1.3})
    expected = -3 * 1.3 / (2.0 + 9 * 0.5)
    assert rates["a.rate"] == pytest.approx(expected, rel=1e-14)
    assert values["mesh.torque"] == pytest.approx(0.5 * -3 * expected - 1.3, rel=1e-14)
    assert values["mesh.torque"] * 3 == pytest.approx(2.0 * expected, rel=1e-13)  # what a feels: −r λ


def test_opposite_angles(rng):
    """q₁ + q₂ = 0 between the halves of a scissors under gravity: one pendulum of twice the mass."""
    arm = {"mass": 1.5, "center_of_mass": [0, 0, -0.4], "inertia": {"yy": 0.02}}
    hinge = {"type": "revolute", "axis": [0, 1, 0], "body": arm}
    both = {"joints": {"left": hinge, "right": dict(hinge)}}
    both["couplings"] = {"scissors": {"type": "gear", "joint": "right", "follows": {"left": -1}}}
    angle, rate = rng.uniform(-2, 2, 2)
    start = {"left.angle": angle, "left.rate": rate}
    values, rates = at_start(both, initial=start)
    _, alone = at_start({"joints": {"left": hinge}}, initial=start)
    assert values["right.angle"] == -angle
    assert rates["left.rate"] == pytest.approx(alone["left.rate"], rel=1e-12)
    assert values["scissors.torque"] == pytest.approx(0.0, abs=1e-13)


def test_planetary_gear():
    """The carrier of a planetary set turns by (s q_s + r q_r)/(s + r) (Willis), s and r the numbers of teeth.

    (I_s + w_s² I_c) q̈_s + w_s w_r I_c q̈_r = τ_s, and likewise for the ring.
    """
    teeth = {"sun": 24, "ring": 72}
    share = np.array([24, 72]) / 96
    inertia = np.array([0.2, 0.7])
    robot = {
        "gravity": 0,
        "joints": {"sun": shaft(0.2), "ring": shaft(0.7), "carrier": shaft(1.1)},
        "couplings": {
            "set": {"type": "gear", "joint": "carrier", "follows": {k: f"{n}/96" for k, n in teeth.items()}}
        },
        "motors": {name: {"type": "torque", "drives": name[2:]} for name in ("m_sun", "m_ring", "m_carrier")},
    }
    torques = {"m_sun.torque": 0.4, "m_ring.torque": -1.0, "m_carrier.torque": 2.0}
    values, rates = at_start(robot, torques)
    mass = np.diag(inertia) + 1.1 * np.outer(share, share)
    expected = np.linalg.solve(mass, np.array([0.4, -1.0]) + 2.0 * share)
    np.testing.assert_allclose([rates["sun.rate"], rates["ring.rate"]], expected, rtol=1e-13)
    # each part's own balance with the forces of the set: λ on the carrier, −share λ on sun and ring
    force = values["set.torque"]
    assert 1.1 * (share @ expected) == pytest.approx(2.0 + force, rel=1e-13)
    np.testing.assert_allclose(inertia * expected, np.array([0.4, -1.0]) - share * force, rtol=1e-12)


def test_rack_and_pinion_lifts_a_weight():
    """s = r q: (I + m r²) q̈ = τ − m g r; the teeth push the rack with m (g + r q̈), in N."""
    robot = {
        "joints": {
            "pinion": shaft(0.03),
            "rack": {"type": "prismatic", "body": {"mass": 4.0}, "damping": 2.0},
        },
        "couplings": {"teeth": {"type": "gear", "joint": "rack", "follows": {"pinion": "50 mm/rad"}}},
        "motors": {"m": {"type": "torque", "drives": "pinion"}},
    }
    values, rates = at_start(robot, {"m.torque": 3.0}, {"pinion.rate": 2.0, "pinion.angle": 1.0})
    drag = 2.0 * 0.05 * 2.0
    expected = (3.0 - 0.05 * (4 * 9.81 + drag)) / (0.03 + 4 * 0.05**2)
    assert rates["pinion.rate"] == pytest.approx(expected, rel=1e-13)
    assert values["rack.position"] == pytest.approx(0.05, rel=1e-15)
    assert values["teeth.torque"] == pytest.approx(4 * (9.81 + 0.05 * expected) + drag, rel=1e-13)
    made = parse_robot(robot)
    units = derive(made).units
    assert (units["teeth.torque"], units["rack.rate"], units["m.delivered"]) == ("N", "m/s", "N m")
    assert made.parameter_units()["couplings.teeth.follows.pinion"] == "m/rad"


def lagrange(masses, lengths, inertias, ratios, offset):
    """A cart along x that carries three rods about y in a chain, by SymPy with two holonomic constraints.

    The last rod's joint follows the other two, the cart's place the second joint: mass matrix (with the multipliers'
    columns) and forcing as a function of (q, q̇, forces).
    """
    q = dynamicsymbols("s a b c")
    rates = [each.diff() for each in q]
    kinetic, potential = masses[0] * rates[0] ** 2 / 2, 0
    hinge, angle = sympy.Matrix([q[0], 0]), 0
    for mass, length, inertia, each in zip(masses[1:], lengths, inertias, q[1:], strict=True):
        angle = angle + each
        down = sympy.Matrix([-sympy.sin(angle), -sympy.cos(angle)])  # −z turned about y by the angle
        velocity = (hinge + down * length / 2).diff(dynamicsymbols._t)
        kinetic += mass * velocity.dot(velocity) / 2 + inertia * angle.diff(dynamicsymbols._t) ** 2 / 2
        potential += mass * 9.81 * (hinge + down * length / 2)[1]
        hinge = hinge + down * length
    constraints = [q[3] - ratios[0] * q[1] - ratios[1] * q[2] - offset, q[0] - ratios[2] * q[2]]
    method = LagrangesMethod(kinetic - potential, q, hol_coneqs=constraints)
    method.form_lagranges_equations()
    plain = sympy.symbols("q:4"), sympy.symbols("v:4")
    replace = [dict(zip(rates, plain[1], strict=True)), dict(zip(q, plain[0], strict=True))]
    matrices = [m.xreplace(replace[0]).xreplace(replace[1]) for m in (method.mass_matrix, method.forcing)]
    return sympy.lambdify(plain, [*matrices, method.lam_coeffs], "numpy", cse=True)


@pytest.mark.slow
def test_lagranges_equations_with_constraints(rng):
    """Accelerations and the gears' forces on a cart with three rods, ratios at random."""
    masses, lengths = rng.uniform(0.5, 3, 4).tolist(), rng.uniform(0.3, 1, 3).tolist()
    inertias, offset = rng.uniform(0.01, 0.2, 3).tolist(), float(rng.uniform(-1, 1))
    ratios = (rng.uniform(0.3, 2, 3) * rng.choice([-1, 1], 3)).tolist()
    joints = {"cart": {"type": "prismatic", "axis": [1, 0, 0], "body": {"mass": masses[0]}}}
    parent, at = "cart", [0.0, 0.0, 0.0]
    for name, mass, length, inertia in zip("abc", masses[1:], lengths, inertias, strict=True):
        rod = {"mass": mass, "center_of_mass": [0, 0, -length / 2], "inertia": {"yy": inertia}}
        joints[name] = {"type": "revolute", "parent": parent, "at": at, "axis": [0, 1, 0], "body": rod}
        parent, at = name, [0.0, 0.0, -length]
    robot = {
        "joints": joints,
        "couplings": {
            "rack": {"type": "gear", "joint": "cart", "follows": {"b": ratios[2]}},
            "set": {
                "type": "gear",
                "joint": "c",
                "follows": {"a": ratios[0], "b": ratios[1]},
                "offset": offset,
            },
        },
        "motors": {f"m_{name}": {"type": "torque", "drives": name} for name in joints},
    }
    model = derive(parse_robot(robot))
    assert model.coordinates == ("a.angle", "b.angle")
    evaluate = lagrange(masses, lengths, inertias, ratios, offset)
    names = ["cart.position", "a.angle", "b.angle", "c.angle"]
    for _ in range(5):
        x, u = rng.uniform(-2, 2, 4), rng.uniform(-5, 5, 4)
        values, rates = named_motion(model, x, u)
        q = [values[name] for name in names]
        v = [values[f"{name.partition('.')[0]}.rate"] for name in names]
        matrix, forcing, coefficients = (np.array(m, float) for m in evaluate(q, v))
        full = np.block([[matrix], [coefficients, np.zeros((2, 2))]])
        solution = np.linalg.solve(full, [*(forcing.ravel() + u), 0, 0])
        got = [rates[f"{name.partition('.')[0]}.rate"] for name in names]
        np.testing.assert_allclose(got, solution[:4], rtol=0, atol=1e-10 * max(1, np.abs(solution).max()))
        left = matrix[:, :4] @ solution[:4] - forcing.ravel() - u  # what the constraints push with
        np.testing.assert_allclose(
            [values["rack.torque"], values["set.torque"]],
            [left[0], left[3]],
            rtol=0,
            atol=1e-10 * max(1, np.abs(left).max()),
        )


def elaborate():
    """A chain of followers with everything that can act on a joint on each of them."""
    rod = {"mass": 1.0, "center_of_mass": [0.3, 0, 0], "inertia": {"xx": 0.05, "yy": 0.05, "zz": 0.05}}
    hinge = {"type": "revolute", "axis": [0, 1, 0], "body": rod}
    resisted = {"stiffness": 3.0, "rest": 0.2, "damping": 0.1, "coulomb": 0.05, "coulomb_speed": 0.1}
    stops = {"lower": -0.5, "upper": 0.5, "limit_stiffness": 400.0, "limit_damping": 2.0, "limit_width": 0.05}
    return {
        "joints": {
            "a": hinge,
            "b": {**hinge, "parent": "a", "at": [0.6, 0, 0], **resisted},
            "rod": {
                "type": "cylindrical",
                "axis": [0, 0.6, 0.8],
                "body": rod,
                "slide": {"stiffness": 50.0, "damping": 1.0, "armature": 0.4},
                "turn": {**stops, "armature": 0.1},
            },
            "screw": {"type": "screw", "pitch": "10 mm/rev", "axis": [1, 0, 0], "body": rod},
        },
        "couplings": {
            "last": {"type": "gear", "joint": "screw", "follows": {"rod.slide": "20 rad/m", "b": 0.7}},
            "first": {"type": "gear", "joint": "b", "follows": {"a": -1.7}, "offset": "5 deg"},
            "lift": {"type": "gear", "joint": "rod.slide", "follows": {"b": "30 mm/rad"}},
            "twist": {"type": "gear", "joint": "rod.turn", "follows": {"b": 0.9}},
        },
        "motors": {
            "dc": {"drives": "rod.slide", "torque_constant": 0.3, "resistance": 2.0, "inductance": 0.01},
            "servo": {"type": "servo", "drives": "b", "stiffness": 2.0, "damping": 0.1},
        },
    }


def test_energy_and_constraints_in_a_run():
    """Springs, stops, friction and motors on followers; everything that they take and give adds up."""
    model = derive(parse_robot(elaborate()))
    assert model.coordinates == ("a.angle",)
    assert model.speeds == ("a.rate",)
    run = simulate(
        model, 5.0, {"dc.voltage": 3.0, "servo.angle": lambda t: np.sin(3 * t)}, initial={"a.rate": 3.0}
    )
    assert run.summary["energy_imbalance"] < 1e-7 * run.summary["energy_turned_over"]
    assert run.summary["constraint_residual"] < 1e-13
    b = -1.7 * run["a.angle"] + np.deg2rad(5)
    assert np.abs(0.9 * b).max() > 0.5  # beyond the stops
    followers = {
        "b.angle": b,
        "rod.angle": 0.9 * b,
        "rod.position": 0.03 * b,
        "screw.angle": (0.6 + 0.7) * b,
    }
    for name, expected in followers.items():
        np.testing.assert_allclose(run[name], expected, rtol=0, atol=1e-14, err_msg=name)


def test_a_gear_beside_a_closed_loop():
    """A flywheel geared to a four-bar's crank is r² times its inertia on the crank, and moves by the crank's angle."""

    def bar(length, **keys):
        body = {"mass": 1.0, "center_of_mass": [length / 2, 0, 0], "inertia": {"zz": length**2 / 12}}
        return {"type": "revolute", "body": body, **keys}

    four_bar = {
        "gravity": [0, -9.81, 0],
        "joints": {
            "crank": bar(0.4),
            "coupler": bar(1.0, parent="crank", at=[0.4, 0, 0]),
            "rocker": bar(0.8, at=[0.9, 0, 0]),
        },
        "loops": {
            "pin": {
                "type": "revolute",
                "first": {"body": "coupler", "at": [1.0, 0, 0]},
                "second": {"body": "rocker", "at": [0.8, 0, 0]},
            }
        },
    }
    joints = {**four_bar["joints"], "wheel": shaft(0.05, (0, 2, 0))}
    gears = {"belt": {"type": "gear", "joint": "wheel", "follows": {"crank": -2.5}}}
    geared = derive(parse_robot({**four_bar, "joints": joints, "couplings": gears}))
    joints = {**four_bar["joints"], "crank": bar(0.4, armature=2.5**2 * 0.05)}
    plain = derive(parse_robot({**four_bar, "joints": joints}))
    initial = {"crank.angle": 1.0, "coupler.angle": -0.5, "rocker.angle": 1.5, "crank.rate": 4.0}
    run, same = (simulate(model, 2.0, initial=initial, samples=101) for model in (geared, plain))
    for name in ("crank.angle", "rocker.angle", "coupler.rate", "pin.force_x"):
        np.testing.assert_allclose(run[name], same[name], rtol=0, atol=1e-6, err_msg=name)
    np.testing.assert_allclose(run["wheel.angle"], -2.5 * run["crank.angle"], rtol=1e-14)
    assert run.summary["constraint_residual"] < 1e-9


def test_rollout_and_ratios_as_parameters():
    """Every robot of a batch has its own ratio."""
    ratios = np.array([-3.0, 0.5, 2.0])
    model = derive(parse_robot(train()))
    batch = rollout(model, inputs={"m.torque": 1.0}, parameters={"r": ratios}, steps=100, dt=1e-2, every=100)
    np.testing.assert_allclose(batch.final("a.rate"), 1 / (2 + ratios**2 * 0.5), rtol=1e-12)
    with pytest.raises(InputError, match="ratio must not be zero"):
        simulate(model, 1.0, parameters={"r": 0.0})


def test_mechanics_programs_obey_gears():
    """Mass matrix, inverse and forward dynamics of what is left: SᵀMS, here one number."""
    model = derive(parse_robot(train()))
    p = np.array(list(model.parameters.values()))
    (mass,) = model.mass_matrix.evaluate([0.4], [1.0], p)
    assert mass == pytest.approx([2 + 9 * 0.5], rel=1e-14)
    (force,) = model.inverse_dynamics().evaluate([0.4], [1.0], [2.0], p)
    assert force == pytest.approx([2 * 6.5], rel=1e-14)
    (rate,) = model.forward_dynamics().evaluate([0.4], [1.0], [13.0], p)
    assert rate == pytest.approx([2.0], rel=1e-14)


def test_followers_can_be_the_chosen_speeds():
    model = derive(parse_robot(train(speeds=["b.rate"])))
    assert model.speeds == ("b.rate",)
    values, rates = at_start(train(speeds=["b.rate"]), {"m.torque": 1.3}, {"b.rate": -6.0})
    assert values["a.rate"] == pytest.approx(2.0, rel=1e-15)
    assert rates["b.rate"] == pytest.approx(-3 * 1.3 / 6.5, rel=1e-14)


def test_a_massless_gear_between_masses_moves():
    """What has no mass of its own is carried along; what nothing opposes is named."""
    data = train()
    data["joints"]["a"] = {"type": "revolute"}
    data["parameters"] = {"i2": 0.5, "r": -3.0}
    _, rates = at_start(data, {"m.torque": 1.3})
    assert rates["a.rate"] == pytest.approx(1.3 / (9 * 0.5), rel=1e-14)
    planetary = {
        "gravity": 0,
        "joints": {"sun": {"type": "revolute"}, "ring": {"type": "revolute"}, "carrier": shaft(1.0)},
        "couplings": {"set": {"type": "gear", "joint": "carrier", "follows": {"sun": 0.25, "ring": 0.75}}},
    }
    with pytest.raises(InputError, match=r"no inertia to resist sun.rate, ring.rate"):
        derive(parse_robot(planetary))


def skid(contact="slip", radius=0.1, heading=0.0):
    """Four wheels that don't steer, those of each side on one belt."""
    wheel = {"mass": 1.0, "contact": contact}
    places = {"fl": (0.3, 0.25), "fr": (0.3, -0.25), "rl": (-0.3, 0.25), "rr": (-0.3, -0.25)}
    radii = {name: radius if name[0] == "f" else 0.1 for name in places}
    wheels = {n: {**wheel, "at": [x, y, radii[n]], "radius": radii[n]} for n, (x, y) in places.items()}
    wheels["fl"]["heading"] = heading
    belts = {f"{s}_belt": {"type": "gear", "joint": f"r{s}", "follows": {f"f{s}": 1}} for s in "lr"}
    return {
        "body": {"mass": 20, "inertia": {"zz": 1.5}},
        "wheels": wheels,
        "couplings": belts,
        "motors": {"left": {"type": "torque", "drives": "fl"}, "right": {"type": "torque", "drives": "rr"}},
    }


def test_belted_skid_steer_turns_on_the_spot():
    """Motors on one wheel of each side drive both; the belts carry half of it, and the wheels turn alike."""
    model = derive(parse_robot(skid()))
    assert "rl.angle" not in model.coordinates
    run = simulate(model, 3.0, {"left.torque": -15.0, "right.torque": 15.0}, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(run["fl.rate"], run["rl.rate"])
    assert run["omega"][-1] > 0.5
    assert abs(run["x"][-1]) < 1e-9
    traction = run["rl.traction"][-1]
    inertia = 1.0 * 0.1**2 / 2
    spin = np.gradient(run["rl.rate"], run.time)[-1]
    assert run["l_belt.torque"][-1] == pytest.approx(0.1 * traction + inertia * spin, rel=1e-4)
    assert run.summary["energy_imbalance"] < 1e-6 * run.summary["energy_turned_over"]


def ideal_six(radius=0.1):
    """An ideal axle and omni wheels before and behind it, all belted by side: every belt is redundant."""
    data = skid("ideal", radius)
    for wheel in data["wheels"].values():
        wheel["type"] = "omni"
    for side, y in (("l", 0.25), ("r", -0.25)):
        data["wheels"][f"m{side}"] = {"at": [0, y, 0.1], "radius": 0.1, "mass": 1.0}
        data["couplings"][f"middle_{side}"] = {
            "type": "gear",
            "joint": f"m{side}",
            "follows": {f"r{side}": 1},
        }
    return data


def test_redundant_belts_on_ideal_wheels():
    """All belts repeat what rolling says: the motion is that of the robot without them, the forces are split."""
    model = derive(parse_robot(ideal_six()))
    plain = ideal_six()
    del plain["couplings"]
    free = derive(parse_robot(plain))
    assert model.constraints.rank == free.constraints.rank
    assert model.constraints.rows == free.constraints.rows + 4
    assert {"l_belt.torque", "middle_r.torque"} <= set(model.constraints.undetermined)
    inputs = {"left.torque": 1.0, "right.torque": 0.6}
    run, same = simulate(model, 2.0, inputs), simulate(free, 2.0, inputs)
    for name in ("x", "y", "theta", "v_x", "omega", "fr.rate"):
        np.testing.assert_allclose(run[name], same[name], rtol=1e-9, atol=1e-12, err_msg=name)
    assert run.summary["constraint_residual"] < 1e-12


def test_belts_that_lock_are_explained():
    """Wheels of different radii on a belt of ratio 1 can't roll together."""
    with pytest.raises(InputError, match="the gears of 'robot' .*l_belt.* lock it") as caught:
        derive(parse_robot(ideal_six(radius=0.08)))
    assert "inverse ratio of their radii" in (caught.value.hint or "")
    with pytest.raises(InputError, match="the ideal wheels of 'robot' lock it"):
        derive(parse_robot(skid("ideal", heading=0.5)))
    model = derive(parse_robot(ideal_six()))
    with pytest.raises(InputError, match="no longer those it was derived with"):
        simulate(model, 1.0, parameters={"couplings.l_belt.follows.fl": 1.1})


def synchro(places=((0.3, 0.0), (-0.2, 0.3), (-0.2, -0.3))):
    """Wheels steered together by one chain and driven together by another one."""
    names = "abcdef"[: len(places)]
    wheel = {"type": "steered", "radius": 0.1, "mass": 1.0}
    gears = {
        f"{what}_{name}": {"type": "gear", "joint": f"{name}{part}", "follows": {f"a{part}": 1}}
        for what, part in (("steer", ".steering"), ("drive", ""))
        for name in names[1:]
    }
    return {
        "body": {"mass": 12, "inertia": {"zz": 1}},
        "wheels": {n: {**wheel, "at": [x, y, 0.1]} for n, (x, y) in zip(names, places, strict=True)},
        "couplings": gears,
        "motors": {
            "drive": {"type": "torque", "drives": "a"},
            "turn": {"type": "torque", "drives": "a.steering"},
        },
    }


@pytest.mark.parametrize("places", [((0.3, 0.0), (-0.2, 0.3), (-0.2, -0.3)), ((0.3, 0.1), (-0.3, -0.1))])
def test_a_synchro_drive_never_turns_its_body(places):
    """Through every steering angle, those too where two wheels stand on one line: M v̇ = τ/r with the body's heading
    constant, M the mass and the spins' inertias.
    """
    model = derive(parse_robot(synchro(places)))
    assert model.speeds == ("speed", "a.steering_rate")
    count = len(places)
    run = simulate(model, 8.0, {"drive.torque": 0.5}, initial={"a.steering_rate": 2.0})
    mass = 12 + count * 1.0 + count * 0.5 * 1.0
    acceleration = 0.5 / 0.1 / mass
    t = run.time
    assert run["a.steering"][-1] == pytest.approx(16.0, rel=1e-9)
    np.testing.assert_allclose(run["speed"], acceleration * t, atol=1e-9)
    np.testing.assert_allclose(run["omega"], 0, atol=1e-12)
    x = acceleration * (np.cos(2 * t) + 2 * t * np.sin(2 * t) - 1) / 4
    np.testing.assert_allclose(run["x"], x, atol=1e-8)
    lateral = sum(run[f"{name}.side_force"] for name in "abc"[:count])
    # the sum of the side forces turns the momentum: (m v) × steering rate
    np.testing.assert_allclose(lateral, (12 + count) * run["speed"] * 2.0, rtol=1e-8, atol=1e-9)


def test_kinematic_runs_obey_gears():
    """Rates of the leaders are given; followers follow exactly, however the wheels disagree."""
    robot = parse_robot(skid())
    run = roll(robot, 2.0, {"fl.rate": 3.0, "fr.rate": 5.0})
    np.testing.assert_array_equal(run["rl.rate"], run["fl.rate"])
    assert run["v_x"][-1] == pytest.approx(0.4, rel=1e-12)
    # least squares of the four contacts: (v_x ∓ y ω − r s) and (±x ω) are as small as they can be
    assert run["omega"][-1] == pytest.approx(0.1 * 2 * 0.25 / (0.25**2 + 0.3**2) / 2, rel=1e-12)
    with pytest.raises(InputError, match="rl.rate"):
        roll(robot, 2.0, {"fl.rate": 3.0, "fr.rate": 5.0, "rl.rate": 3.0})
    turned = roll(parse_robot(synchro()), 3.0, {"a.rate": 2.0, "a.steering": lambda t: 0.5 * t})
    assert turned.summary["slip_residual"] < 1e-12
    np.testing.assert_allclose(turned["x"], 0.2 * np.sin(0.5 * turned.time) / 0.5, atol=1e-8)


def test_a_free_wheel_carries_its_followers_along():
    """A wheel whose rate isn't given rolls freely, and what is geared to it turns with it."""
    data = skid("ideal")
    del data["wheels"]["fl"], data["wheels"]["fr"], data["motors"], data["couplings"]
    data["wheels"]["rear"] = {"type": "caster", "at": [0.4, 0, 0.1], "radius": 0.1, "offset": 0.05}
    data["joints"] = {"dial": shaft(0.1)}
    data["couplings"] = {"cable": {"type": "gear", "joint": "dial", "follows": {"rear": 0.5}}}
    run = roll(parse_robot(data), 1.0, {"rl.rate": 3.0, "rr.rate": 3.0})
    np.testing.assert_allclose(run["dial.rate"], 0.5 * run["rear.rate"], rtol=1e-15)
    assert run["rear.rate"][-1] == pytest.approx(3.0, rel=1e-12)
    assert run.summary["slip_residual"] < 1e-12


TEXT = """\
trundle: 1
robot:
  name: geared
  joints:
    a: {type: revolute, body: {inertia: {zz: 1.0}}}
    b: {type: revolute, body: {inertia: {zz: 1.0}}}
    c: {type: cylindrical, body: {mass: 1.0, inertia: {zz: 1.0}}}
    d: {type: spherical, body: {mass: 1.0, inertia: {xx: 1.0, yy: 1.0, zz: 1.0}}}
  couplings:
    mesh: {type: gear, joint: b, follows: {a: -2}}
    other: COUPLING
"""


@pytest.mark.parametrize(
    ("coupling", "message", "hint"),
    [
        ("{type: gear, joint: b, follows: {c.turn: 1}}", "held by the coupling 'mesh'", "mesh alone"),
        ("{type: gear, joint: a, follows: {b: 1}}", "in a circle: b -> a -> b", "must be free"),
        ("{type: gear, joint: a, follows: {a: 1}}", "'a' follows itself", "must be free"),
        ("{type: gear, joint: aa, follows: {c.turn: 1}}", "nothing called 'aa' to couple", "did you mean"),
        ("{type: gear, joint: c, follows: {a: 1}}", "is cylindrical: couple c.turn and c.slide", "c.turn"),
        ("{type: gear, joint: d, follows: {a: 1}}", "is spherical: it can't be coupled", None),
        ("{type: gear, joint: c.turn, follows: {mesh: 1}}", "'mesh' has no coordinate", None),
        ("{type: gear, joint: c.turn, follows: {a: 0}}", "must not be zero", "take it out"),
        ("{type: gear, joint: c.slide, follows: {a: 2 kg}}", r"expected a length per angle \(m/rad\)", None),
        ("{type: gear, joint: c.turn, follows: {a: 5 mm/rev}}", "expected a pure number", None),
        ("{type: gear, joint: c.turn, follows: {a: 1}, offset: 5 mm}", "expected an angle", None),
        ("{type: gear, joint: c.turn, follows: {}}", "expected the ratio to each thing", "follows: {NAME"),
        ("{type: gear, joint: c.turn, follows: a}", "expected the ratio to each thing", "follows: {NAME"),
        ("{type: gear, joint: c.turn}", "'follows' is missing", None),
        ("{type: gear, joint: c.turn, follows: {a: fast}}", "'fast' is used and never given", None),
        ("{type: gaer, joint: c.turn, follows: {a: 1}}", "unknown type 'gaer'", "did you mean 'gear'"),
        (
            "{joint: c.turn, follows: {a: 1}}",
            "a linkage has no 'joint'; gears, cams and elastic couplings have",
            None,
        ),
    ],
)
def test_what_is_wrong_with_a_gear_is_named(coupling, message, hint):
    with pytest.raises(InputError, match=message) as caught:
        parse(TEXT.replace("COUPLING", coupling), "geared.yaml")
    assert (caught.value.key or "").startswith("robot.couplings.")
    assert caught.value.line in (10, 11)
    assert hint is None or hint in (caught.value.hint or "")


def test_longer_circles_through_a_linkage_are_found():
    wheel = {"type": "steered", "radius": 0.1, "mass": 1.0}
    data = {
        "body": {"mass": 1, "inertia": {"zz": 1}},
        "wheels": {"l": {**wheel, "at": [1, 0.5, 0]}, "r": {**wheel, "at": [1, -0.5, 0]}},
        "joints": {"column": shaft(1.0)},
        "couplings": {
            "steering": {"wheels": ["l", "r"]},
            "box": {"type": "gear", "joint": "steering", "follows": {"column": 0.1}},
            "back": {"type": "gear", "joint": "column", "follows": {"r.steering": 10}},
        },
    }
    with pytest.raises(InputError, match="in a circle: .*r.steering"):
        parse_robot(data)
    data["couplings"]["back"] = {"type": "gear", "joint": "l.steering", "follows": {"column": 1}}
    with pytest.raises(InputError, match="'l.steering' is held by the coupling 'steering'"):
        parse_robot(data)


def test_a_motor_on_a_gear_is_refused():
    with pytest.raises(InputError, match="gear 'mesh' has no coordinate of its own: drive one of b, a"):
        parse_robot(train(motors={"m": {"type": "torque", "drives": "mesh"}}))


def test_gears_are_written_as_they_were_read():
    robot = parse_robot(elaborate())
    assert parse(dump(robot)).robot == robot
    assert "offset" not in dump(parse_robot(skid()))
