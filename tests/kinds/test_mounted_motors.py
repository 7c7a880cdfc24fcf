"""Motors held by other links than carry what they drive: SymPy's Lagrange equations, gears, flight, what is refused."""

import copy

import numpy as np
import pytest
import sympy
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import trundle
from trundle import InputError, derive

TORQUES = ("left_motor.torque", "right_motor.torque")


def segway(mounted_on="lean", base="planar", motor=None, **wheel):
    """Two wheels of 0.1 m on a base of 2 kg, a body of 10 kg half a metre above the axle."""
    round_ = {"radius": 0.1, "inertia": {"axle": 0.005, "diameter": 0.0025}, **wheel}
    held = {} if mounted_on is None else {"mounted_on": mounted_on}
    moments = {"xx": 1.0, "yy": 1.0, "zz": 0.1}
    pole = {"name": "pole", "mass": 10.0, "center_of_mass": [0, 0, 0.5], "inertia": moments}
    return {
        "name": "segway",
        "base": base,
        "body": {"mass": 2.0, "inertia": {"xx": 0.01, "yy": 0.01, "zz": 0.02}},
        "joints": {"lean": {"type": "revolute", "axis": [0, 1, 0], "body": pole}},
        "wheels": {name: {"at": [0, y, 0], **round_} for name, y in (("left", 0.3), ("right", -0.3))},
        "motors": {
            f"{name}_motor": {"type": "torque", "drives": name, **(motor or {}), **held}
            for name in ("left", "right")
        },
    }


def derived(robot):
    return derive({"robot": robot})


def rows(about, *names):
    """A and B of the rows with these names."""
    places = [about.model.states.index(name) for name in names]
    return np.asarray(about.A)[np.ix_(places, places)], np.asarray(about.B)[places]


def lagrange(base, pole, height, moment, axle, radius, rotor=0.0):
    """M, and per torque of both motors the force on (x, lean): T = ½ Σ m v² + ½ I λ̇² + ½ 2 I_w φ̇² + ½ 2 J (φ̇ − λ̇)²,
    by SymPy; the motors turn at φ̇ − λ̇ with φ = x/r.
    """
    x, lean = dynamicsymbols("x lean")
    t = dynamicsymbols._t
    place = sympy.Matrix([x + height * sympy.sin(lean), height * sympy.cos(lean)])
    spin = x.diff(t) / radius
    turned = spin - lean.diff(t)
    energy = base * x.diff(t) ** 2 + pole * place.diff(t).dot(place.diff(t)) + moment * lean.diff(t) ** 2
    energy = energy / 2 + axle * spin**2 + rotor * turned**2
    method = LagrangesMethod(energy - pole * 9.81 * place[1], [x, lean])
    method.form_lagranges_equations()
    force = [sympy.diff(turned, speed) for speed in (x.diff(t), lean.diff(t))]
    upright = {lean.diff(t): 0, x.diff(t): 0, lean: 0}
    mass = np.array(method.mass_matrix.subs(upright), float)
    stiffness = np.array(method.forcing.jacobian([x, lean]).subs(upright), float)
    return mass, np.array(force, float), stiffness


def test_a_segways_motors_push_off_from_its_body():
    """As a user counted by hand: B is M⁻¹ (1/r, −1). On the axle it is M⁻¹ (1/r, 0), 12.5 and 20.6 % less."""
    about = derived(segway()).linearize()
    _, pushed = rows(about, "v_x", "lean.rate")
    np.testing.assert_allclose(pushed, np.array([[40.0] * 2, [-63.0] * 2]) / 20.5, rtol=1e-12)
    poles = sorted(np.linalg.eigvals(about.A).real)
    assert (poles[0], poles[-1]) == pytest.approx((-5.57717, 5.57717), abs=5e-6)
    _, on_axle = rows(derived(segway(mounted_on=None)).linearize(), "v_x", "lean.rate")
    np.testing.assert_allclose(on_axle[:, 0] / pushed[:, 0], [0.875, 1 - 13 / 63], rtol=1e-12)


@pytest.mark.parametrize("rotor", [0.0, 3e-5])
def test_lagranges_equations(rotor):
    """M with the rotors behind gears of 20, B, and the poles."""
    motor = {
        "type": "dc",
        "torque_constant": 0.05,
        "resistance": 0.5,
        "gear_ratio": 20,
        "rotor_inertia": rotor,
    }
    model = derived(segway(motor=motor))
    mass, force, stiffness = lagrange(2.0, 10.0, 0.5, 1.0, 0.005, 0.1, 400 * rotor)
    got = model.mass_matrix({}, {})
    places = [model.speeds.index(name) for name in ("v_x", "lean.rate")]
    np.testing.assert_allclose(got[np.ix_(places, places)], mass, rtol=1e-12)
    expected = np.linalg.solve(mass, force)
    about = model.linearize()
    states, pushed = rows(about, "v_x", "lean.rate")
    volts = 20 * 0.05 / 0.5  # N m per volt of one motor; its back-EMF turns with wheel less body
    np.testing.assert_allclose(pushed, volts * np.stack([expected] * 2, axis=1), rtol=1e-12)
    np.testing.assert_allclose(states, -2 * volts * 20 * 0.05 * np.outer(expected, force), rtol=1e-12)
    torque = derived(segway(motor={"type": "torque"})).linearize() if not rotor else None
    if torque is not None:
        grown = max(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real) ** 0.5
        assert max(np.linalg.eigvals(torque.A).real) == pytest.approx(grown, rel=1e-12)


def test_the_catalogues_segway(rng):
    """M, B and the poles of the body that falls, of any measures."""
    measures = {
        "radius": rng.uniform(0.05, 0.2), "body_mass": rng.uniform(5, 80), "center_height": rng.uniform(0.4, 1.2),
        "wheel_mass": rng.uniform(0.2, 2), "drive_mass": rng.uniform(0.5, 10),
    }  # fmt: skip
    robot = trundle.catalog.segway(**measures)
    r, wheel, pole = measures["radius"], measures["wheel_mass"], measures["body_mass"]
    height, axle = measures["center_height"] - r, wheel * r**2 / 2
    base = measures["drive_mass"] + 2 * wheel
    moment = float(robot.number(robot.joints["lean"].body.inertia.yy))
    mass, force, stiffness = lagrange(base, pole, height, moment, axle, r)
    plant = derive(robot)
    places = [plant.speeds.index(name) for name in ("v_x", "lean.rate")]
    np.testing.assert_allclose(plant.mass_matrix({}, {})[np.ix_(places, places)], mass, rtol=1e-12)
    about = plant.linearize()
    _, pushed = rows(about, "v_x", "lean.rate")
    expected = np.linalg.solve(mass, force)
    np.testing.assert_allclose(pushed, np.stack([expected] * 2, axis=1), rtol=1e-12)
    falling = max(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real) ** 0.5
    assert max(np.linalg.eigvals(about.A).real) == pytest.approx(falling, rel=1e-12)


def coupled(robot, drives, follows):
    """The same with a shaft of its own on `lean`, which a gear of the description couples."""
    robot = copy.deepcopy(robot)
    for name, motor in robot["motors"].items():
        del motor["mounted_on"]
        motor["drives"], target = drives.format(motor["drives"]), motor["drives"]
        robot["joints"][motor["drives"]] = {"type": "revolute", "axis": [0, 1, 0], "parent": "lean"}
        robot.setdefault("couplings", {})[f"{name}_belt"] = {
            "type": "gear", "joint": motor["drives"], "follows": {target: 1, **follows},
        }  # fmt: skip
    return robot


MOTORS = {
    "velocity": {"type": "velocity", "gain": 3.0, "integral": 2.0, "lag": 0.1},
    "servo": {"type": "servo", "stiffness": 3.0, "damping": 0.1},
    "ideal": {"type": "ideal"},
    "dc": {
        "type": "dc", "torque_constant": 0.05, "resistance": 0.5, "inductance": 5e-4, "gear_ratio": 20,
        "rotor_inertia": 2e-5,
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", MOTORS)
def test_every_motor_turns_with_its_shaft(kind, rng):
    """Angle, rate, states, power and rotor are those of a shaft that the description couples by a gear itself."""
    ours = segway(motor=MOTORS[kind])
    ours["motors"]["left_motor"]["mounted_on"] = ours["motors"]["right_motor"]["mounted_on"] = "pole"
    ours, theirs = derived(ours), derived(coupled(segway(motor=MOTORS[kind]), "{}_shaft", {"lean": -1}))
    assert (ours.states, ours.inputs) == (theirs.states, theirs.inputs)
    state, inputs = rng.uniform(-1, 1, len(ours.states)), rng.uniform(-1, 1, len(ours.inputs))
    rates, expected = (each.rhs(state, inputs) for each in (ours, theirs))
    np.testing.assert_allclose(rates, expected, rtol=1e-9, atol=1e-9)
    named = dict(zip(ours.states, state, strict=True)), dict(zip(ours.inputs, inputs, strict=True))
    ours, theirs = (
        trundle.simulate(each, 0.2, named[1], initial=named[0], samples=3) for each in (ours, theirs)
    )
    for name in ("v_x", "lean.rate", "left_motor.power", "left.rate"):  # integrators take other steps
        np.testing.assert_allclose(ours[name][0], theirs[name][0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(
        ours["left_on_lean.rate"], ours["left.rate"] - ours["lean.rate"], rtol=1e-12, atol=1e-12
    )


def test_equations_have_the_reaction():
    """They compare themselves with the compiled programs."""
    text = derived(segway(motor=MOTORS["servo"], damping=0.1)).equations().text()
    assert "agrees with the compiled program" in text
    assert "φ̇_left = 0" in text


def test_a_wheel_hangs_on_a_body_that_turns_about_its_axle():
    """It stays on the ground; its motor and its bearing's friction act on that body."""
    hung = segway(mounted_on=None, damping=0.02)
    for wheel in hung["wheels"].values():
        wheel["parent"] = "lean"
    ours, free = (derived(each).linearize() for each in (hung, segway(damping=0.0)))
    states, pushed = rows(ours, "v_x", "lean.rate")
    _, expected = rows(free, "v_x", "lean.rate")
    np.testing.assert_allclose(pushed, expected, rtol=1e-12)
    np.testing.assert_allclose(states, -0.02 * 2 * np.outer(expected[:, 0], [10.0, -1.0]), rtol=1e-12)
    hung["wheels"]["left"]["at"] = [0.01, 0.3, 0]
    with pytest.raises(InputError, match="leave the ground"):
        derived(hung)


def arm(mounted_on, base="fixed"):
    """Two links that swing about y, the second's motor at its elbow or, by a belt, elsewhere."""
    link = {"mass": 2.0, "center_of_mass": [0.2, 0, 0], "inertia": {"xx": 0.01, "yy": 0.05, "zz": 0.06}}
    hinge = {"type": "revolute", "axis": [0, 1, 0], "body": link}
    return {
        "name": "arm",
        "base": base,
        "gravity": 0,
        "body": {"mass": 5.0, "inertia": {"xx": 0.2, "yy": 0.3, "zz": 0.4}},
        "joints": {
            "shoulder": {**hinge, "rpy": [0, 0.3, 0]},
            # its frame stands on its head: so its axis points the other way
            "elbow": {**hinge, "parent": "shoulder", "at": [0.4, 0, 0], "rpy": [np.pi, 0, 0]},
        },
        "motors": {"belt": {"type": "torque", "drives": "elbow", "mounted_on": mounted_on}},
    }


def test_a_belt_reacts_on_its_mount_on_a_floating_base(rng):
    """M is that of no motor at all. The torques a on the lower link and −a on the base are no force on the whole, a on
    what moves by the elbow, and a on what moves by the shoulder, whose axis points the other way.
    """
    plain, ours = arm("shoulder", "floating"), derived(arm("base", "floating"))
    bare = derived(plain)
    q, v = (
        dict(zip(names, rng.uniform(-1, 1, len(names)), strict=True))
        for names in (ours.coordinates, ours.speeds)
    )
    norm = sum(value**2 for name, value in q.items() if name.startswith("q_")) ** 0.5
    q = {name: value / norm if name.startswith("q_") else value for name, value in q.items()}
    mass = ours.mass_matrix(q, v)
    np.testing.assert_allclose(mass, bare.mass_matrix(q, v), rtol=1e-12, atol=1e-12)
    force = np.zeros(len(ours.speeds))
    force[ours.speeds.index("elbow.rate")] = 1.0
    force[ours.speeds.index("shoulder.rate")] = -1.0
    state, numbers = np.array(ours.state_vector({**q, **v})), np.array(list(ours.parameters.values()))
    pushed, still = (
        ours.dynamics.evaluate(state, np.array([torque]), numbers)[0][-len(force) :] for torque in (1.0, 0.0)
    )
    np.testing.assert_allclose(mass @ (pushed - still), force, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("high", [5.0, None])
def test_over_terrain_bodies_react_and_the_base_does_not_pitch(high):
    """In flight and on the ground: hinge and wheels push the base at its centre on the axle, without a moment."""
    runs = []
    for mounted_on, parent in (("lean", "base"), (None, "lean"), (None, "base")):
        robot = segway(mounted_on, "floating", contact="linear", friction=2.0, mass=0.1)
        for wheel in robot["wheels"].values():
            wheel["parent"] = parent
        start = {"lean.angle": 0.1} | ({} if high is None else {"z": high})
        runs.append(
            trundle.simulate(
                {"robot": robot}, 0.05, dict.fromkeys(TORQUES, 1.0), terrain={}, step=1e-3, initial=start
            )
        )
    mounted, hung, on_axle = runs
    assert abs(mounted["pitch"][-1]) < 1e-12 < 0.2 < abs(on_axle["pitch"][-1])
    for name in ("x", "z", "lean.rate"):
        assert hung[name][-1] == pytest.approx(mounted[name][-1], rel=1e-9)
    assert hung["left.rate"][-1] == pytest.approx(mounted["left_on_lean.rate"][-1], rel=1e-9)
    if high:  # the wheels' share: τ t/I
        assert mounted["left.rate"][-1] == pytest.approx(0.05 / 0.005, rel=1e-9)


@pytest.mark.parametrize(
    ("mounted_on", "drives", "message", "hint"),
    [
        ("left", "left", "there is no body or joint 'left'", "known: base, lean, pole"),
        ("leen", "left", "there is no body or joint 'leen'", "did you mean 'lean'"),
        ("pole", "lean", "'lean', which it drives, moves 'pole'", "known: base"),
        ("tail", "left", "the joint 'tail' between it and 'left' turns about another axis", "type gear"),
        ("base", "slide", "only revolute joints and wheels that nothing steers", "type gear"),
    ],
)  # fmt: skip
def test_mounts_that_make_no_sense_are_refused(mounted_on, drives, message, hint):
    robot = segway(None)
    robot["joints"] |= {"tail": {"type": "revolute"}, "slide": {"type": "prismatic", "body": {"mass": 1}}}
    robot["joints"]["tail"]["body"] = {"mass": 1.0, "inertia": {"zz": 1.0}}
    robot["motors"]["left_motor"] |= {"drives": drives, "mounted_on": mounted_on}
    with pytest.raises(InputError, match=message) as caught:
        derived(robot)
    assert caught.value.key == "robot.motors.left_motor.mounted_on"
    assert hint in (caught.value.hint or "")


def test_a_shafts_name_is_its_own():
    robot = segway()
    robot["joints"]["left_on_lean"] = {"type": "revolute", "body": {"mass": 1.0, "inertia": {"zz": 1.0}}}
    with pytest.raises(InputError, match="'left_on_lean' is that of what turns between 'left' and 'lean'"):
        derived(robot)


def test_a_base_without_mass_asks_for_the_mount():
    robot = segway(None)
    del robot["body"]["mass"]
    assert "write mounted_on: lean" in derived(robot).notes[0]
    robot = segway()
    del robot["body"]["mass"]
    assert not derived(robot).notes


def test_rates_that_terrain_cannot_hold_are_refused():
    robot = segway("lean", "floating", MOTORS["ideal"], contact="linear", friction=2.0, mass=0.1)
    with pytest.raises(InputError, match="against another link") as caught:
        trundle.simulate({"robot": robot}, 0.05, {}, terrain={})
    assert caught.value.key == "robot.motors.left_motor.mounted_on"
