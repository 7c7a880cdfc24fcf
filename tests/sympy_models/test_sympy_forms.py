"""What SymPy's methods hold beside the motion: mass matrix, bias, frames of named points, and pictures of them."""

import pickle

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import (
    KanesMethod,
    LagrangesMethod,
    Lagrangian,
    Particle,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
)

import trundle
from trundle.errors import InputError
from trundle.show.drawing.scenes import named_points
from trundle.show.figures.path import scene_of

M, L, G = sp.symbols("m l g")
NUMBERS = {M: 2.0, L: 0.7, G: 9.81}
GROUND, ORIGIN = ReferenceFrame("N"), Point("O")


def double_pendulum():
    """Two particles on rods, a torque on the first: the method, its points, and what turns the first rod."""
    angles, torque = dynamicsymbols("q1 q2"), dynamicsymbols("tau")
    rods = [GROUND.orientnew(f"R{k}", "Axis", [angle, GROUND.z]) for k, angle in enumerate(angles)]
    elbow = ORIGIN.locatenew("P", L * rods[0].x)
    tip = elbow.locatenew("Q", L * rods[1].x)
    ORIGIN.set_vel(GROUND, 0)
    bodies = [Particle(point.name, point, M) for point in (elbow, tip)]
    for body in bodies:
        body.point.set_vel(GROUND, body.point.pos_from(ORIGIN).dt(GROUND))
        body.potential_energy = M * G * body.point.pos_from(ORIGIN).dot(GROUND.y)
    forces = [(rods[0], torque * GROUND.z)]
    method = LagrangesMethod(Lagrangian(GROUND, *bodies), angles, forcelist=forces, frame=GROUND)
    method.form_lagranges_equations()
    return method, {"elbow": (elbow, rods[0]), "tip": tip}, torque


@pytest.fixture(scope="module")
def pendulum():
    method, points, torque = double_pendulum()
    model = trundle.from_sympy(method, inputs=[torque], parameters=NUMBERS, points=points, origin=ORIGIN)
    return method, model


def test_mass_matrix_and_bias_are_sympys(pendulum, rng):
    method, model = pendulum
    symbols = [*method.q, *method.u, *NUMBERS]
    evaluate = sp.lambdify(symbols, [method.mass_matrix, method.forcing.subs(dynamicsymbols("tau"), 0)])
    for q, v in rng.normal(size=(5, 2, 2)):
        mass, force = evaluate(*q, *v, *NUMBERS.values())
        np.testing.assert_allclose(model.mass_matrix(q), mass, rtol=1e-13)
        np.testing.assert_allclose(model.bias(q, v), -force.ravel(), rtol=1e-12, atol=1e-13)
        rates = model.rhs(np.concatenate([q, v]), [0.3])
        np.testing.assert_allclose(
            model.mass_matrix(q) @ rates[2:] + model.bias(q, v), [0.3, 0.0], atol=1e-12
        )
    assert model.mass_matrix(rng.normal(size=(2, 9))).shape == (2, 2, 9)


def test_frames_move_as_their_positions(pendulum, rng):
    """Velocities by differences, J u, and the acceleration J u̇ + J̇ u; a body turns by its ω."""
    _, model = pendulum
    h = 1e-5
    for name in ("elbow", "tip"):
        frame = model.frame(name)
        q, v, a = rng.normal(size=(3, 2))
        here, after, before = (
            frame(q + s * h * v + s * s * h * h / 2 * a, v + s * h * a) for s in (0, 1, -1)
        )
        np.testing.assert_allclose(here.velocity[:3], (after.position - before.position) / (2 * h), atol=1e-8)
        np.testing.assert_allclose(here.jacobian @ v, here.velocity, atol=1e-13)
        acceleration = here.jacobian @ a + here.bias
        np.testing.assert_allclose(acceleration, (after.velocity - before.velocity) / (2 * h), atol=1e-7)
        turned = (after.rotation - before.rotation) / (2 * h) @ here.rotation.T
        np.testing.assert_allclose(here.velocity[3:], [turned[2, 1], turned[0, 2], turned[1, 0]], atol=1e-8)
    np.testing.assert_allclose(model.frame("elbow")(q, v).velocity[5], v[0], rtol=1e-13)
    with pytest.raises(InputError, match="is named 'hand'"):
        model.frame("hand")
    with pytest.raises(InputError, match="are those that were named"):
        model.frame("tip", (0.1, 0, 0))
    with pytest.raises(InputError, match="not derived from a description"):
        model.gravity(q)


def test_a_rolling_disc_has_the_mass_of_its_independent_speeds(rng):
    """Kane's method with a dependent speed: x' = r φ' leaves I + m r² on the wheel's angle."""
    x, phi, v, w = dynamicsymbols("x phi v w")
    r, about = sp.symbols("r I")
    frame, hub = (
        GROUND.orientnew("W", "Axis", [phi, GROUND.y]),
        ORIGIN.locatenew("H", x * GROUND.x + r * GROUND.z),
    )
    frame.set_ang_vel(GROUND, w * GROUND.y)
    hub.set_vel(GROUND, v * GROUND.x)
    body = RigidBody("disc", hub, frame, M, (inertia(frame, 0, about, 0), hub))
    method = KanesMethod(
        GROUND,
        [x, phi],
        [w],
        kd_eqs=[x.diff() - v, phi.diff() - w],
        u_dependent=[v],
        velocity_constraints=[v - r * w],
    )
    method.kanes_equations([body], [(frame, 3 * GROUND.y)])
    model = trundle.from_sympy(
        method, parameters={M: 2.0, r: 0.5, about: 0.25}, points={"disc": body}, origin=ORIGIN
    )
    np.testing.assert_allclose(model.mass_matrix([0.0, 0.0]), [[0.25 + 2.0 * 0.25]], rtol=1e-14)
    np.testing.assert_allclose(model.bias([0.0, 0.0], [1.0, 0.5]), [-3.0], rtol=1e-14)
    np.testing.assert_allclose(
        model.frame("disc")([0.2, 0.1], [1.0, 0.5]).velocity, [0.5, 0, 0, 0, 1, 0], atol=1e-14
    )


def test_runs_draw_points_and_bars(pendulum, tmp_path):
    _, model = pendulum
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    run = trundle.simulate(again, 1.0, initial={"q1": -0.8, "q2": 0.4}, samples=21)
    np.testing.assert_allclose(run["tip.x"], 0.7 * (np.cos(run["q1"]) + np.cos(run["q2"])), atol=1e-12)
    assert run.units["tip.x"] == "m"
    run.save(tmp_path / "run.nc")
    scene = scene_of(trundle.Run.load(tmp_path / "run.nc"))
    assert scene.view == "z"
    assert [(bar.start.frame, bar.end.frame) for bar in scene.bars] == [(0, 1), (2, 1)]
    np.testing.assert_allclose(scene.place(scene.traced)[:, 0], run["tip.x"])
    drawn = run.plot.save(tmp_path)
    assert "path.png" in [path.name for path in drawn]
    assert run.animate(tmp_path / "page.html").stat().st_size > 10_000


@pytest.mark.parametrize(
    "told",
    ["", "[]", '{"names": ["tip"]}', '{"names": 3, "bars": []}', '{"names": ["a"], "bars": [["", "b"]]}'],
)
def test_what_a_damaged_file_says_of_points_draws_nothing(told):
    assert named_points({f"tip.{axis}": np.zeros(3) for axis in "xyz"}, told) is None


def test_points_that_slide_apart_have_no_bar():
    x = dynamicsymbols("x")
    cart = ORIGIN.locatenew("C", x * GROUND.x)
    cart.set_vel(GROUND, x.diff() * GROUND.x)
    method = LagrangesMethod(Lagrangian(GROUND, Particle("c", cart, M)), [x], frame=GROUND)
    method.form_lagranges_equations()
    model = trundle.from_sympy(method, parameters={M: 1.0}, points={"cart": cart}, origin=ORIGIN)
    run = trundle.simulate(model, 1.0, initial={"x_dot": 1.0}, samples=3)
    assert scene_of(run).bars == ()
    np.testing.assert_allclose(scene_of(run).place(scene_of(run).traced)[-1], [1.0, 0.0, 0.0], atol=1e-12)


def test_points_that_cannot_be_placed_are_named():
    method, points, torque = double_pendulum()
    given = {"inputs": [torque], "parameters": NUMBERS}
    with pytest.raises(InputError, match="origin: points are measured from a point at rest"):
        trundle.from_sympy(method, **given, points=points)
    with pytest.raises(InputError, match="place of 'far' from the origin isn't known"):
        trundle.from_sympy(method, **given, points={"far": Point("F")}, origin=ORIGIN)
    for wrong in ("P", GROUND, (points["tip"],), (points["tip"], "frame"), None, ()):
        with pytest.raises(InputError, match=r"points: expected a SymPy Point.* as 'text'"):
            trundle.from_sympy(method, **given, points={"text": wrong}, origin=ORIGIN)
    with pytest.raises(InputError, match="points: expected points by name, got list"):
        trundle.from_sympy(method, **given, points=[points["tip"]], origin=ORIGIN)
    with pytest.raises(InputError, match="origin: expected a SymPy Point, got 'O'"):
        trundle.from_sympy(method, **given, points=points, origin="O")
    x = dynamicsymbols("x")
    without = LagrangesMethod(M * x.diff() ** 2 / 2, [x])
    without.form_lagranges_equations()
    with pytest.raises(InputError, match="doesn't say which frame is at rest"):
        trundle.from_sympy(without, parameters={M: 1.0}, points={"far": Point("F")}, origin=ORIGIN)
