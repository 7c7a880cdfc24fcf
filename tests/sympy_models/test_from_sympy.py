"""Models from SymPy: the rates of SymPy's own numbers, and errors that name the culprit."""

from typing import Any, cast

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import (
    KanesMethod,
    LagrangesMethod,
    Particle,
    PinJoint,
    Point,
    PrismaticJoint,
    ReferenceFrame,
    RigidBody,
    System,
)
from sympy.physics.mechanics import dynamicsymbols as typed_dynamicsymbols

import trundle
from benchmarks.sympy_models import pendulum_on_cart
from trundle.errors import InputError, NumericsError

dynamicsymbols: Any = typed_dynamicsymbols
T = dynamicsymbols._t
N = ReferenceFrame("N")


def sympy_system(method, symbols):
    """SymPy's full linear system, matrix and right side, as a function of numbers for the symbols."""
    dummies: Any = sp.symbols(f"z:{len(symbols)}")
    pairs = list(zip(symbols, dummies, strict=True))
    first = {s: z for s, z in pairs if isinstance(s, sp.Derivative)}
    then = {s: z for s, z in pairs if s not in first}
    parts = (method.mass_matrix_full, method.forcing_full)
    system: Any = [m.xreplace(first).xreplace(then) for m in parts]
    numbers: Any = sp.lambdify(dummies, system)
    return lambda *values: [np.array(part, dtype=float) for part in numbers(*values)]


def sympy_numbers(method, symbols):
    """Rates and multipliers as a function of numbers for the symbols, by NumPy."""
    system = sympy_system(method, symbols)
    return lambda *values: np.linalg.solve(*system(*values)).ravel()


def assert_same_rates(model, method, inputs, parameters, states):
    """Rates and multipliers of the model against SymPy's mass_matrix_full and forcing_full at the given states."""
    solve = sympy_numbers(method, [*method.q, *method.u, *inputs, *parameters])
    p = np.array(list(parameters.values()))
    for x in states:
        u = np.linspace(0.3, 0.9, len(inputs))
        expected = solve(*x, *u, *p)
        (rate,) = model.dynamics.evaluate(x, u, p)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(rate, expected[: len(x)], rtol=1e-9, atol=1e-9 * scale)
        (shown,) = model.observe.evaluate(x, u, p)
        multipliers = [shown[model.outputs.index(n)] for n in model.outputs if n.startswith("lam")]
        np.testing.assert_allclose(multipliers, expected[len(x) :], rtol=1e-8, atol=1e-8 * scale)


def cart_pole():
    """Kane's equations of a cart with a pendulum: (method, force, parameters)."""
    q, s = dynamicsymbols("q theta")
    u, w, force = dynamicsymbols("u omega F")
    m, cart, length, g = sp.symbols("m M l g", positive=True)
    pivot, bob, frame = Point("P"), Point("B"), N.orientnew("A", "Axis", [s, N.z])
    frame.set_ang_vel(N, w * N.z)
    pivot.set_vel(N, u * N.x)
    bob.set_pos(pivot, -length * frame.y)
    bob.v2pt_theory(pivot, N, frame)
    method: Any = KanesMethod(N, [q, s], [u, w], kd_eqs=[q.diff() - u, s.diff() - w])
    loads = [(pivot, force * N.x), (bob, -m * g * N.y)]
    method.kanes_equations([Particle("cart", pivot, cart), Particle("bob", bob, m)], loads)
    return method, force, {m: 0.7, cart: 2.0, length: 0.5, g: 9.81}


def pendulum_in_the_plane(extra_rows=()):
    """A particle at (x, y) on a rod: a holonomic constraint with a multiplier."""
    x, y = dynamicsymbols("x y")
    m, length, g = sp.symbols("m l g")
    lagrangian = m * (x.diff() ** 2 + y.diff() ** 2) / 2 - m * g * y
    rows = [x**2 + y**2 - length**2, *(row(x, y, length) for row in extra_rows)]
    method = LagrangesMethod(lagrangian, [x, y], hol_coneqs=rows)
    method.form_lagranges_equations()
    return method, {m: 1.3, length: 2.0, g: 9.81}


def rolling_disc():
    """Kane's rolling disc with its contact's velocities as dependent speeds."""
    q = dynamicsymbols("q1:6")
    u = dynamicsymbols("u1:6")
    r, m, g = sp.symbols("r m g")
    yaw = N.orientnew("Y", "Axis", [q[0], N.z])
    lean = yaw.orientnew("L", "Axis", [q[1], yaw.x])
    wheel = lean.orientnew("R", "Axis", [q[2], lean.y])
    rates = {each.diff(): speed for each, speed in zip(q, u, strict=True)}
    contact, center = Point("C"), Point("D")
    contact.set_vel(N, 0)
    center.set_vel(N, u[3] * N.x + u[4] * N.y + (r * sp.cos(q[1])).diff(T).subs(rates) * N.z)
    spin = wheel.ang_vel_in(N)
    slip = center.vel(N) + spin.cross(-r * lean.z)
    rows = [slip.dot(N.x).subs(rates), slip.dot(N.y).subs(rates)]
    wheel.set_ang_vel(N, sum((spin.dot(axis).subs(rates) * axis for axis in lean), 0 * N.x))
    tensor = m * r**2 / 4 * (lean.x.outer(lean.x) + 2 * lean.y.outer(lean.y) + lean.z.outer(lean.z))
    body = RigidBody("disc", center, wheel, m, (tensor, center))
    method = KanesMethod(
        N,
        list(q),
        list(u[:3]),
        kd_eqs=[each.diff() - speed for each, speed in zip(q, u, strict=True)],
        u_dependent=list(u[3:]),
        velocity_constraints=rows,
    )
    method.kanes_equations([body], [(center, -m * g * N.z)])
    return method, {r: 0.4, m: 1.5, g: 9.81}


def test_kanes_method(rng):
    method, force, parameters = cart_pole()
    model = trundle.from_sympy(method, inputs=[force], parameters=parameters)
    assert model.states == ("q", "theta", "u", "omega")
    assert model.inputs == ("F",)
    assert_same_rates(model, method, [force], parameters, rng.uniform(-2, 2, (5, 4)))


def test_lagranges_method_and_its_names(rng):
    a, b = dynamicsymbols("a b")
    m, k = sp.symbols("m k")
    method = LagrangesMethod(
        m * (a.diff() ** 2 + 2 * b.diff() ** 2 * sp.sin(a) ** 2 + b.diff() ** 2) / 2 - k * a**2 * b**2, [a, b]
    )
    method.form_lagranges_equations()
    model = trundle.from_sympy(method, parameters={m: 2.0, k: 3.0})
    assert model.states == ("a", "b", "a_dot", "b_dot")
    assert_same_rates(model, method, [], {m: 2.0, k: 3.0}, rng.uniform(-2, 2, (5, 4)))


def test_lagranges_method_with_constraints(rng):
    method, parameters = pendulum_in_the_plane()
    model = trundle.from_sympy(method, parameters=parameters)
    angles, rates = rng.uniform(-3, 3, 5), rng.uniform(-3, 3, 5)
    states = [
        [2 * np.cos(a), 2 * np.sin(a), -2 * w * np.sin(a), 2 * w * np.cos(a)]
        for a, w in zip(angles, rates, strict=True)
    ]
    assert_same_rates(model, method, [], parameters, states)
    assert model.constraints.rows == model.constraints.rank == 1


def test_coordinates_without_mass_are_carried_by_constraints():
    x, y = dynamicsymbols("x y")
    method = LagrangesMethod(x.diff() ** 2 / 2 - x * y, [x, y], nonhol_coneqs=[x.diff() - y.diff()])
    method.form_lagranges_equations()
    model = trundle.from_sympy(method)
    assert_same_rates(model, method, [], {}, [[0.3, 0.4, 0.5, 0.5]])


def test_redundant_constraints_are_found_and_share_the_force():
    double = lambda x, y, length: 3 * (x**2 + y**2 - length**2)  # noqa: E731
    single, parameters = pendulum_in_the_plane()
    method, _ = pendulum_in_the_plane([double])
    alone = trundle.from_sympy(single, parameters=parameters)
    model = trundle.from_sympy(method, parameters=parameters)
    assert (model.constraints.rows, model.constraints.rank) == (2, 1)
    assert model.constraints.undetermined == ("lam1", "lam2")
    x, p = [1.2, 1.6, -0.8, 0.6], list(parameters.values())
    np.testing.assert_allclose(
        model.dynamics.evaluate(x, [], p)[0], alone.dynamics.evaluate(x, [], p)[0], rtol=1e-12
    )
    shown = dict(zip(model.outputs, model.observe.evaluate(x, [], p)[0], strict=True))
    lonely = dict(zip(alone.outputs, alone.observe.evaluate(x, [], p)[0], strict=True))
    assert shown["lam1"] + 3 * shown["lam2"] == pytest.approx(lonely["lam1"], rel=1e-12)
    assert shown["lam2"] == pytest.approx(3 * shown["lam1"], rel=1e-12)  # least norm


def test_parameters_that_change_the_rank_are_refused():
    x, y = dynamicsymbols("x y")
    a = sp.Symbol("a")
    rows = [x.diff() + y.diff(), x.diff() + a * y.diff()]
    method = LagrangesMethod(x.diff() ** 2 + y.diff() ** 2, [x, y], nonhol_coneqs=rows)
    method.form_lagranges_equations()
    model = trundle.from_sympy(method, parameters={a: 1.0})
    assert model.constraints.rank == 1
    with pytest.raises(InputError, match="rank 2, not the 1"):
        model.parameter_values({"a": 2.0})


def test_singular_states_do_not_decide_how_equations_are_solved():
    """A spherical pendulum's mass matrix is singular where it hangs, which is the state of zeros."""
    a, b = dynamicsymbols("a b")
    lagrangian = (a.diff() ** 2 + b.diff() ** 2 * sp.sin(a) ** 2) / 2 + sp.cos(a)
    method = LagrangesMethod(lagrangian, [a, b])
    method.form_lagranges_equations()
    model = trundle.from_sympy(method)
    assert_same_rates(model, method, [], {}, [[0.3, 0.1, 0.4, 0.5], [2.0, 0.1, -0.4, 1.5]])
    assert model.operations < 20


def test_kanes_method_with_dependent_speeds(rng):
    method, parameters = rolling_disc()
    model = trundle.from_sympy(method, parameters=parameters)
    assert model.dependent == ("u4", "u5")
    states = []
    for _ in range(4):
        given = dict(zip(model.states[:8], rng.uniform(-0.8, 0.8, 8), strict=True))
        states.append(model.state_vector(given))
    assert_same_rates(model, method, [], parameters, states)
    run = trundle.simulate(model, 2.0, initial={"q2": 0.3, "u1": 1.0, "u3": 6.0})
    assert run.summary["constraint_residual"] < 1e-7


def test_links_on_a_cart(rng):
    """The benchmark's model, with fewer links."""
    method = pendulum_on_cart(3)
    masses: Any = sp.symbols("m:4 l:3 g")
    parameters = dict(zip(masses, [1.0, 0.5, 0.6, 0.7, 0.3, 0.4, 0.5, 9.81], strict=True))
    force = dynamicsymbols("F")
    model = trundle.from_sympy(method, inputs=[force], parameters=parameters)
    assert_same_rates(model, method, [force], parameters, rng.uniform(-2, 2, (3, 8)))


def test_auxiliary_speeds_are_zero(rng):
    """A pendulum with an auxiliary speed along its rod, by which SymPy brings the rod's force into evidence."""
    q, u, stretch, tension = dynamicsymbols("q u u_a N_r")
    m, length, g, drag = sp.symbols("m l g c")
    rod, fixed, bob = N.orientnew("S", "Axis", [q, N.z]), Point("O"), Point("B")
    rod.set_ang_vel(N, u * N.z)
    fixed.set_vel(N, 0)
    bob.set_pos(fixed, length * rod.x)
    bob.set_vel(N, length * u * rod.y + stretch * rod.x)
    method: Any = KanesMethod(N, [q], [u], kd_eqs=[q.diff() - u], u_auxiliary=[stretch])
    loads = [(bob, m * g * N.x + tension * rod.x - drag * bob.vel(N))]
    method.kanes_equations([Particle("bob", bob, m)], loads)
    parameters = {m: 0.5, length: 1.5, g: 9.81, drag: 0.1}
    model = trundle.from_sympy(method, parameters=parameters)
    x, v = rng.uniform(-1, 1, 2)
    (rate,) = model.dynamics.evaluate([x, v], [], list(parameters.values()))
    assert rate[1] == pytest.approx(-9.81 / 1.5 * np.sin(x) - 0.1 / 0.5 * v, rel=1e-12)


def test_potentials_with_absolute_values():
    x = dynamicsymbols("x")
    method = LagrangesMethod(x.diff() ** 2 / 2 - abs(x) ** 3 / 3, [x])
    method.form_lagranges_equations()
    (rate,) = trundle.from_sympy(method).dynamics.evaluate([-1.5, 0.2], [], [])
    np.testing.assert_allclose(rate, [0.2, 2.25], rtol=1e-14)


def test_system(rng):
    wall = RigidBody("wall")
    link = RigidBody("link", mass=sp.Symbol("m"))
    q, u = dynamicsymbols("q u")
    length, g = sp.symbols("l g")
    system = System.from_newtonian(wall)
    joint = PinJoint("pin", wall, link, q, u, child_point=length * link.frame.y, joint_axis=wall.frame.z)
    system.add_joints(joint)
    system.apply_uniform_gravity(-g * wall.frame.y)
    inertias = [s for s in link.central_inertia.to_matrix(link.frame) if s.is_Symbol]
    parameters = {sp.Symbol("m"): 1.0, length: 0.4, g: 9.81} | dict.fromkeys(inertias, 0.05)
    with pytest.raises(InputError, match="form_eoms"):
        trundle.from_sympy(system, parameters=parameters)
    system.form_eoms()
    model = trundle.from_sympy(system, parameters=parameters)
    assert_same_rates(model, system.eom_method, [], parameters, rng.uniform(-2, 2, (3, 2)))


def test_system_by_lagrange_with_rates_as_speeds(rng):
    wall, cart = RigidBody("wall"), Particle("cart", mass=sp.Symbol("m"))
    q, k = dynamicsymbols("q"), sp.Symbol("k")
    cart.potential_energy = k * q**2 / 2
    system = System.from_newtonian(wall)
    system.add_joints(PrismaticJoint("slide", wall, cart, q, q.diff(), joint_axis=wall.frame.x))
    system.add_loads((cart.masscenter, -3 * q.diff() * wall.frame.x))
    parameters = {sp.Symbol("m"): 2.0, k: 5.0}
    system.form_eoms(cast(Any, LagrangesMethod))
    model = trundle.from_sympy(system, parameters=parameters)
    assert model.states == ("q", "q_dot")
    assert_same_rates(model, system.eom_method, [], parameters, rng.uniform(-2, 2, (2, 2)))


def test_extra_states_outputs_and_rates():
    method, force, parameters = cart_pole()
    i, volt = dynamicsymbols("i V")
    model = trundle.from_sympy(
        method,
        inputs={"the force": force, "voltage": volt},
        extra_states={i: (volt - 2 * i - method.u[0]) / sp.Rational(1, 10)},
        outputs={
            "a": method.u[0].diff(),
            "again": method.q[0].diff(T, 2),
            "change": i.diff(),
            "power": volt * i,
        },
        parameters=parameters,
    )
    assert model.states == ("q", "theta", "u", "omega", "i")
    assert model.inputs == ("the force", "voltage")
    x, u, p = [0.1, 0.2, 0.3, 0.4, 0.5], [1.0, 2.0], list(parameters.values())
    (rate,), (shown,) = model.dynamics.evaluate(x, u, p), model.observe.evaluate(x, u, p)
    assert rate[4] == pytest.approx((2 - 1 - 0.3) * 10)
    np.testing.assert_allclose(shown, [rate[2], rate[2], rate[4], 1.0, 0.0], rtol=1e-14)


def test_a_model_is_simulated_rolled_out_and_saved(tmp_path):
    method, force, parameters = cart_pole()
    model = trundle.from_sympy(method, inputs=[force], parameters=parameters, name="cart")
    start = {"theta": 0.5}
    run = trundle.simulate(model, 1.0, {"F": 2.0}, initial=start)
    batch = trundle.rollout(model, inputs={"F": 2.0}, initial={"theta": np.full(3, 0.5)}, steps=1000, dt=1e-3)
    np.testing.assert_allclose(batch.values[-1, :, 1], list(run.final.values()), rtol=1e-8)
    assert "energy.imbalance" not in run
    assert run.description["sympy"] == "KanesMethod"
    run.save(tmp_path / "run.nc")
    assert trundle.Run.load(tmp_path / "run.nc").final == run.final
    heavier = trundle.simulate(model, 1.0, {"F": 2.0}, initial=start, parameters={"m": 1.4})
    assert heavier.final["q"] != run.final["q"]
    with pytest.raises(InputError, match="not a parameter of 'cart'"):
        model.parameter_values({"mass": 1.0})
    with pytest.raises(InputError, match="number"):
        model.parameter_values({"m": "1 kg"})
    with pytest.raises(InputError, match="no wheels"):
        model.kinematics()
    with pytest.raises(InputError, match="no point of 'cart' is named 'wheel'"):
        model.frame("wheel")


@pytest.mark.slow
def test_initial_states_are_moved_onto_the_constraints():
    method, parameters = pendulum_in_the_plane()
    model = trundle.from_sympy(method, parameters=parameters)
    x, y, x_dot, y_dot = model.state_vector({"x": 1.2, "y": 1.6, "x_dot": -0.8})
    assert (x, y, x_dot) == (1.2, 1.6, -0.8)
    assert y_dot == pytest.approx(0.6, abs=1e-10)
    assert model.state_vector({"x": 1.5}, {**model.parameters, "l": 2.5})[1] == pytest.approx(2.0)
    assert model.state_vector({"x": 1.2}) == pytest.approx([1.2, 1.6, 0, 0])  # nothing moves that needn't
    with pytest.raises(InputError, match="breaks the constraints"):
        model.state_vector({"x": 3.0})
    with pytest.raises(InputError, match="robot 1: .* breaks the constraints"):
        trundle.rollout(model, initial={"x": np.array([1.0, 3.0])}, steps=2)


def test_speeds_are_settled_at_once_however_fast():
    """A wheel of 4 cm at 500 rad/s: its rows are short, and the speeds that follow are far from 0."""
    method, parameters = rolling_disc()
    model = trundle.from_sympy(method, parameters={**parameters, next(iter(parameters)): 0.04})
    at = dict(zip(model.states, model.state_vector({"q1": 0.7, "u3": 500.0}), strict=True))
    np.testing.assert_allclose([at["u4"], at["u5"]], 20 * np.array([np.cos(0.7), np.sin(0.7)]), rtol=1e-12)


def test_undeclared_symbols_are_named():
    method, force, parameters = cart_pole()
    with pytest.raises(InputError, match=r"uses F\(t\), which is neither a state"):
        trundle.from_sympy(method, parameters=parameters)
    with pytest.raises(InputError, match="uses M, l, without a value"):
        less = {symbol: value for symbol, value in parameters.items() if symbol.name not in ("M", "l")}
        trundle.from_sympy(method, inputs=[force], parameters=less)
    with pytest.raises(InputError, match="did you mean 'gg'"):
        renamed = {("gg" if symbol.name == "g" else symbol): value for symbol, value in parameters.items()}
        trundle.from_sympy(method, inputs=[force], parameters=renamed)
    with pytest.raises(InputError, match="uses drag"):
        trundle.from_sympy(
            method, inputs=[force], parameters=parameters, outputs={"d": sp.Symbol("drag") * method.u[0]}
        )


def shaken_pendulum():
    """A pendulum on a pivot that is shaken up and down, a sin(w t) (Kapitza's), and its constants."""
    theta = dynamicsymbols("theta")
    a, w, length = sp.symbols("a w l")
    x, y = length * sp.sin(theta), a * sp.sin(w * T) - length * sp.cos(theta)
    energy = (x.diff(T) ** 2 + y.diff(T) ** 2) / 2 - 9.81 * y
    method = LagrangesMethod(energy, [theta])
    method.form_lagranges_equations()
    return method, {a: 0.1, w: 60.0, length: 0.8}


def test_time_itself_is_a_state():
    """l θ̈ = −(g − a w² sin w t) sin θ, in rates, in a run, in a rollout and in the linearisation."""
    method, parameters = shaken_pendulum()
    model = trundle.from_sympy(method, parameters=parameters, outputs={"phase": 60 * T})
    assert model.states == ("theta", "theta_dot", "t")
    assert model.units["t"] == "s"
    p = np.array(list(model.parameters.values()))
    for x in ([0.3, 1.0, 0.01], [2.0, -1.0, 0.4]):
        (rate,) = model.dynamics.evaluate(x, [], p)
        expected = -(9.81 - 0.1 * 3600 * np.sin(60 * x[2])) * np.sin(x[0]) / 0.8
        np.testing.assert_allclose(rate, [x[1], expected, 1.0], rtol=1e-13)
        (slope,) = model.dynamics.jacobian("rate", "state").evaluate(x, [], p)
        by_time = 0.1 * 60**3 * np.cos(60 * x[2]) * np.sin(x[0]) / 0.8
        np.testing.assert_allclose(np.reshape(slope, (3, 3))[:, 2], [0, by_time, 0], rtol=1e-12)
    run = trundle.simulate(model, 2.0, initial={"theta": 3.0}, rtol=1e-10, atol=1e-10)
    assert abs(run["theta"] - np.pi).max() < 0.5  # the shaking holds it upside down
    still = trundle.simulate(model, 2.0, initial={"theta": 3.0}, parameters={"a": 0.0})
    assert abs(still["theta"] - np.pi).max() > 2  # else it falls
    np.testing.assert_allclose(run["t"], run.time, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run["phase"], 60 * run.time, rtol=1e-12, atol=1e-9)
    batch = trundle.rollout(model, initial={"theta": 3.0, "t": np.array([0.0, 0.2])}, steps=20_000, dt=1e-4)
    assert batch.final("theta")[0] == pytest.approx(run.final["theta"], abs=1e-7)
    assert batch.final("t") == pytest.approx([2.0, 2.2])


def test_constraints_may_move_with_time():
    """A bead on a rod that turns at w: r̈ = w² r, the rod's side force 2 w ṙ, in Cartesian coordinates."""
    x, y = dynamicsymbols("x y")
    w = sp.Symbol("w")
    rod = -x * sp.sin(w * T) + y * sp.cos(w * T)
    method = LagrangesMethod((x.diff() ** 2 + y.diff() ** 2) / 2, [x, y], hol_coneqs=[rod])
    method.form_lagranges_equations()
    side = -x.diff() * sp.sin(w * T) + y.diff() * sp.cos(w * T)
    model = trundle.from_sympy(
        method, parameters={w: 1.5}, outputs={"x_acceleration": x.diff().diff(), "side": side}
    )
    run = trundle.simulate(model, 2.0, initial={"x": 1.0, "x_dot": 0.3}, rtol=1e-10, atol=1e-12)
    t = run.time
    r = np.cosh(1.5 * t) + 0.3 / 1.5 * np.sinh(1.5 * t)
    r_dot = 1.5 * np.sinh(1.5 * t) + 0.3 * np.cosh(1.5 * t)
    np.testing.assert_allclose(run["x"], r * np.cos(1.5 * t), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(run["side"], 1.5 * r, rtol=1e-7)  # across the rod the bead moves with it
    np.testing.assert_allclose(abs(run["lam1"]), 2 * 1.5 * r_dot, rtol=1e-6)
    np.testing.assert_allclose(
        run["x_acceleration"],
        (1.5**2 * r - 1.5**2 * r) * np.cos(1.5 * t) - 2 * 1.5 * r_dot * np.sin(1.5 * t),
        atol=1e-6,
    )
    assert run.summary["constraint_residual"] < 1e-9


def test_rates_that_depend_on_time():
    """q̇ = u + w cos w t by Kane: q̈ = u̇ − w² sin w t, in outputs too."""
    q, u = dynamicsymbols("q u")
    w, m = sp.symbols("w m")
    point = Point("P")
    point.set_vel(N, (u + w * sp.cos(w * T)) * N.x)
    method = KanesMethod(N, [q], [u], kd_eqs=[q.diff() - u - w * sp.cos(w * T)])
    method.kanes_equations([Particle("p", point, m)], [(point, -m * q * N.x)])
    model = trundle.from_sympy(method, parameters={w: 2.0, m: 3.0}, outputs={"a": q.diff().diff()})
    x = [0.4, -0.2, 0.7]
    p = list(model.parameters.values())
    (rate,), (shown,) = model.dynamics.evaluate(x, [], p), model.observe.evaluate(x, [], p)
    # the particle's own acceleration is −q whatever describes it
    assert rate[0] == pytest.approx(-0.2 + 2 * np.cos(1.4))
    assert shown[0] == pytest.approx(-0.4)
    assert rate[1] == pytest.approx(-0.4 + 4 * np.sin(1.4))


def test_models_without_time_have_no_clock_and_its_name_is_theirs():
    method, force, parameters = cart_pole()
    assert "t" not in trundle.from_sympy(method, inputs=[force], parameters=parameters).states
    driven, constants = shaken_pendulum()
    model = trundle.from_sympy(driven, inputs=[T], parameters=constants)  # as an input, if one likes
    assert (model.states, model.inputs) == (("theta", "theta_dot"), ("t",))
    with pytest.raises(InputError, match="'t' names more than one thing"):
        trundle.from_sympy(driven, parameters=constants, outputs={"t": driven.q[0]})


def test_units_are_carried_and_checked(tmp_path):
    method, force, parameters = cart_pole()
    given = {"inputs": [force], "parameters": parameters, "outputs": {"work": method.u[0] * force}}
    units = {method.q[0]: "m", "theta": "rad", force: "N", "work": "N m/s"}
    model = trundle.from_sympy(method, **given, units=units)
    run = trundle.simulate(model, 0.5, {"F": "0.002 kN"}, initial={"theta": "30 deg"})
    assert run["theta"][0] == np.deg2rad(30)
    assert run["F"][0] == 2.0
    run.save(tmp_path / "run.nc")
    saved = trundle.Run.load(tmp_path / "run.nc")
    assert {name: saved.units[name] for name in ("theta", "F", "work")} == {
        "theta": "rad",
        "F": "N",
        "work": "N m/s",
    }
    with pytest.raises(InputError, match="expected a force"):
        trundle.simulate(model, 0.5, {"F": "2 kg"})
    with pytest.raises(InputError, match="no state, input or output 'thteta'") as caught:
        trundle.from_sympy(method, **given, units={"thteta": "rad"})
    assert "did you mean 'theta'" in (caught.value.hint or "")
    with pytest.raises(InputError, match=r"the unit of 'theta' is not SI: 1 deg = 0.0174533 1"):
        trundle.from_sympy(method, **given, units={"theta": "deg"})
    for text in ("furlong", "m + 1 m", "", "2", 3.0):
        with pytest.raises(InputError, match="unit of 'theta'|unknown unit"):
            trundle.from_sympy(method, **given, units=cast(Any, {"theta": text}))


def test_parameters_by_name_fit_symbols_with_assumptions():
    method, force, parameters = cart_pole()
    named = {symbol.name: value for symbol, value in parameters.items()}
    model = trundle.from_sympy(method, inputs=[force], parameters=named)
    assert dict(model.parameters) == named


def test_unknown_functions_and_other_bad_input():
    method, force, parameters = cart_pole()
    good = {"inputs": [force], "parameters": parameters}
    u, unfit = method.u[0], cast(Any, "heavy")
    with pytest.raises(InputError, match="'besselj'"):
        trundle.from_sympy(method, **good, outputs={"b": sp.besselj(0, u)})
    with pytest.raises(InputError, match="names more than one thing"):
        trundle.from_sympy(method, **good, outputs={"theta": u})
    with pytest.raises(InputError, match="names more than one thing"):
        trundle.from_sympy(method, inputs=[force, u], parameters=parameters)
    with pytest.raises(InputError, match="must be a SymPy symbol"):
        trundle.from_sympy(method, inputs=[force * 2], parameters=parameters)
    with pytest.raises(InputError, match="expected a number for the parameter 'm'"):
        trundle.from_sympy(method, inputs=[force], parameters={"m": unfit})
    with pytest.raises(InputError, match="finite"):
        trundle.from_sympy(method, inputs=[force], parameters={"m": float("nan")})
    with pytest.raises(InputError, match="expected SymPy's KanesMethod"):
        trundle.from_sympy(sp.Matrix([1]))
    with pytest.raises(InputError, match="real number"):
        trundle.from_sympy(method, **good, outputs={"c": sp.I * u})


def test_what_is_no_expression_is_refused_and_text_is_never_run(tmp_path):
    method, values = pendulum_in_the_plane()
    q = method.q[0]
    mark = tmp_path / "ran"
    vector = q * N.x
    for arguments, message in (
        ({"outputs": [q]}, "outputs must be a mapping name -> expression, got list"),
        ({"outputs": {"a": f"open({str(mark)!r}, 'w')"}}, "the output 'a' must be a SymPy expression, got"),
        ({"outputs": {"a": vector}}, "got Vector"),
        ({"outputs": {"a": sp.Matrix([q, q])}}, "got MutableDenseMatrix"),
        ({"extra_states": [q]}, "extra_states must be a mapping"),
        ({"extra_states": {dynamicsymbols("e"): "q"}}, "the rate of the extra state 'e' must be"),
        ({"units": ["rad"]}, "units must be a mapping"),
        ({"parameters": list(values)}, "parameters must be a mapping"),
    ):
        with pytest.raises(InputError, match=message):
            trundle.from_sympy(method, **cast(Any, {"parameters": values, **arguments}))
    assert not mark.exists()


def test_a_constraint_that_says_nothing_is_redundant():
    """0 = 0 holds nothing: the motion is that without it, and its multiplier is nobody's."""
    x = dynamicsymbols("x")
    m, k = sp.symbols("m k")
    models = []
    for more in ({}, {"hol_coneqs": [sp.Integer(0)]}):
        method = LagrangesMethod(m * x.diff() ** 2 / 2 - k * x**2 / 2, [x], **cast(Any, more))
        method.form_lagranges_equations()
        models.append(trundle.from_sympy(method, parameters={m: 1.0, k: 4.0}))
    free, held = models
    assert (held.constraints.rows, held.constraints.rank) == (1, 0)
    one, two = (trundle.simulate(model, 1.0, initial={"x": 1.0}) for model in (free, held))
    np.testing.assert_allclose(two["x"], one["x"], atol=1e-12)


def test_methods_must_be_formed():
    x = dynamicsymbols("x")
    with pytest.raises(InputError, match="form_lagranges_equations"):
        trundle.from_sympy(LagrangesMethod(x.diff() ** 2, [x]))
    u = dynamicsymbols("u")
    with pytest.raises(InputError, match="kanes_equations"):
        trundle.from_sympy(KanesMethod(N, [x], [u], kd_eqs=[x.diff() - u]))


def test_speeds_without_inertia_are_named():
    x, y = dynamicsymbols("x y")
    method = LagrangesMethod(x.diff() ** 2 - x * y**2, [x, y])
    method.form_lagranges_equations()
    with pytest.raises(InputError, match="can't be found for y_dot"):
        trundle.from_sympy(method)


def test_what_sympy_divides_by_is_told_where_it_is_zero():
    """In polar coordinates a particle has no angle at the centre."""
    r, angle, mass = *dynamicsymbols("r angle"), sp.symbols("m")
    method = LagrangesMethod(mass * (r.diff() ** 2 + r**2 * angle.diff() ** 2) / 2, [r, angle])
    method.form_lagranges_equations()
    polar = trundle.from_sympy(method, parameters={mass: 1.0})
    with pytest.raises(NumericsError, match="CRAMER"):
        trundle.simulate(polar, 1.0)
    with pytest.raises(NumericsError, match="CRAMER"):
        polar.linearize()
