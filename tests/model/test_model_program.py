"""What people evaluate on a model: rhs, mass matrix, bias, gravity, frames, by name or in order, one state or many."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import cumulative_simpson, solve_ivp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import trundle
from derived import derived
from parameters import mostly_slow
from trundle.documents import parse_urdf, urdf_extras
from trundle.errors import InputError

KINDS = ["differential_drive", "swerve", "ackermann", "pendulum", "four_bar", "tricycle"]


@pytest.fixture(scope="module")
def models():
    return {name: derived(name) for name in KINDS}


def states(model, rng, count=7):
    """Configurations and speeds of no particular kind, quaternions of length 1, loops closed; (n, count) each."""
    start = np.array([model.initial[name] for name in model.coordinates])[:, None]
    q = model.quantities.normalised(model.coordinates, start + 0.3 * rng.normal(size=(len(start), count)))
    v = rng.normal(size=(len(model.speeds), count))
    if not model.dependent:
        return q, v
    # Off the closed configurations a loop's equations may have no solution near by, and any number of lost digits.
    free = [name not in model.dependent for name in (*model.coordinates, *model.speeds)]
    names = [name for name, is_free in zip((*model.coordinates, *model.speeds), free, strict=True) if is_free]
    closed = [model.state_vector(dict(zip(names, x, strict=True))) for x in np.vstack([q, v])[free].T]
    return np.split(np.array(closed).T[: len(free)], [len(q)])


@pytest.mark.parametrize("name", mostly_slow(KINDS, ["ackermann", "pendulum", "four_bar"]))
def test_mass_bias_and_gravity_make_the_motion(models, rng, name):
    """M u̇ + h = force; M symmetric and positive; the bias at rest is gravity, and inverse dynamics says all of it."""
    model = models[name]
    q, v = states(model, rng)
    a = rng.normal(size=v.shape)
    mass, bias = model.mass_matrix(q), model.bias(q, v)
    assert mass.shape == (len(v), len(v), 7)
    force = np.einsum("ijs,js->is", mass, a) + bias
    np.testing.assert_allclose(model.inverse_dynamics()(q, v, a), force, rtol=1e-9, atol=1e-9)
    if model.robot is not None and not model.robot.loops:
        np.testing.assert_allclose(model.forward_dynamics()(q, v, force), a, rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(model.bias(q), model.bias(q, 0 * v))
    np.testing.assert_allclose(model.gravity(q), model.bias(q, 0 * v), rtol=1e-12, atol=1e-12)
    for each in np.moveaxis(mass, 2, 0):
        np.testing.assert_allclose(each, each.T, rtol=1e-12, atol=1e-12)
        assert np.linalg.eigvalsh(each).min() > 0


@pytest.mark.parametrize("name", KINDS)
def test_names_order_batches_and_single_states_agree(models, rng, name):
    model = models[name]
    q, v = states(model, rng)
    x = np.vstack([q, v, np.zeros((len(model.currents), 7))])
    u = rng.normal(size=(len(model.inputs), 7))
    many = model.rhs(x, u)
    by_name = model.rhs(dict(zip(model.states, x, strict=True)), dict(zip(model.inputs, u, strict=True)))
    np.testing.assert_array_equal(by_name, many)
    p = list(model.parameters.values())
    np.testing.assert_array_equal(model.dynamics(x, u, parameter=p), many)
    for k in range(7):
        np.testing.assert_allclose(model.rhs(x[:, k], u[:, k]), many[:, k], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(
            model.mass_matrix(q[:, k]), model.mass_matrix(q)[..., k], rtol=1e-12, atol=1e-12
        )


def test_parameters_by_name_with_units_and_as_a_batch(models):
    model = models["differential_drive"]
    radii = np.array([0.1, 0.1524, 0.2])
    many = model.rhs({"v_x": 1.0}, {"left_motor.voltage": "6 V"}, parameters={"r": radii})
    one = model.rhs({"v_x": "1 m/s"}, {"left_motor.voltage": 6.0}, parameters={"r": "6 in"})
    np.testing.assert_allclose(many[:, 1], one, rtol=1e-13)
    assert abs(many[:, 0] - one).max() > 0.1


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (
            {"r": np.array([0.1, 0.0, 0.2])},
            "r: state 1: wheels.right.radius: radius must be greater than zero",
        ),
        ({"r": [0.1, np.nan]}, "r: state 1: expected a finite quantity, got nan"),
        ({"body.mass": np.array([1.0, 2.0, -5.0])}, "state 2: body.mass: mass must not be negative, got -5"),
        ({"wheels.left.mass": -1.0}, "mass must not be negative"),
        ({"track": np.append(np.linspace(0.5, 1.0, 500), np.inf)}, "state 500"),
    ],
)
def test_parameters_of_a_batch_are_checked_state_by_state(models, parameters, said):
    model = models["differential_drive"]
    nominal = {name: value for name, value in model.parameters.items() if name not in parameters}
    for call in (model.rhs, model.mass_matrix, model.bias):
        with pytest.raises(InputError, match=said):
            call({"v_x": 1.0} if call is model.rhs else None, parameters={**nominal, **parameters})
    with pytest.raises(InputError, match=said):
        model.mass_matrix.bind(np.zeros(len(model.coordinates)), parameters=parameters)
    with pytest.raises(InputError, match=said.partition("state")[2].partition(":")[0] or said):
        trundle.rollout(model, parameters=parameters, steps=1)


def test_inertias_of_a_batch_are_those_of_bodies():
    inertia = {"xx": 1.0, "yy": 1.0, "zz": 1.0}
    joints = {"a": {"axis": [1, 0, 0], "body": {"mass": 1.0, "inertia": inertia}}}
    model = trundle.derive(trundle.robot.parse_robot({"base": "fixed", "joints": joints}))
    with pytest.raises(InputError, match="state 1: .*triangle inequality"):
        model.rhs(parameters={"joints.a.body.inertia.xx": np.array([0.5, 5.0, 0.4])})


def test_parameters_in_order_are_checked(models):
    model = models["differential_drive"]
    p = np.array(list(model.parameters.values()))
    p[list(model.parameters).index("r")] = -0.1
    with pytest.raises(InputError, match="radius must be greater than zero"):
        model.rhs(parameters=p)
    many = np.tile(np.array(list(model.parameters.values()))[:, None], 40)
    many[list(model.parameters).index("body.mass"), 17] = -1.0
    with pytest.raises(InputError, match="state 17: .*mass must not be negative"):
        model.rhs(parameters=many)


def test_single_numbers_by_keyword(models):
    model = models["differential_drive"]
    np.testing.assert_array_equal(
        model.rhs(v_x=1.0, r="6 in"), model.rhs({"v_x": 1.0}, parameters={"r": "6 in"})
    )
    np.testing.assert_array_equal(
        model.bias({"theta": 0.2}, x=1.0, omega=2.0), model.bias({"theta": 0.2, "x": 1.0}, {"omega": 2.0})
    )
    with pytest.raises(InputError, match=r"'v_z' is no group(.|\n)*v_x"):
        model.rhs(v_z=1.0)
    with pytest.raises(InputError, match="'v_x' is given twice"):
        model.rhs(np.array(model.state_vector()), v_x=1.0)


@pytest.mark.parametrize("name", ["differential_drive", "four_bar"])
def test_rhs_is_what_a_run_moves_by(models, name):
    model = models[name]
    inputs = dict.fromkeys(model.inputs, 3.0)
    run = trundle.simulate(model, 0.2, inputs, samples=2001)
    x = np.array([run[each] for each in model.states])
    found = model.rhs(x, [[value] * 2001 for value in inputs.values()])
    moved = cumulative_simpson(found, x=run.time, axis=1)
    np.testing.assert_allclose(moved[:, 1::2], x[:, 2::2] - x[:, :1], rtol=1e-6, atol=1e-6 * np.abs(x).max())


@pytest.mark.parametrize("name", ["differential_drive", "four_bar", "pendulum"])
def test_scipy_integrates_what_runs_integrate(models, name):
    model = models[name]
    inputs = {each: (lambda t, k=k: 4 * np.sin(3 * t + k)) for k, each in enumerate(model.inputs)}
    initial = {"link_1.angle": 0.4} if name == "pendulum" else {}
    ode = model.ode(inputs, initial=initial, parameters={next(iter(model.parameters)): 0.2})
    solution = solve_ivp(ode, (0, 0.5), ode.x0, jac=ode.jacobian, method="Radau", rtol=1e-9, atol=1e-11)
    run = trundle.simulate(
        model, 0.5, inputs, initial=initial, parameters={next(iter(model.parameters)): 0.2}, samples=2
    )
    expected = [run[each][-1] for each in ode.states]
    np.testing.assert_allclose(solution.y[:, -1], expected, rtol=1e-6, atol=1e-6)
    assert solution.njev < 60, "a wrong Jacobian makes Newton's method fail"
    step = 1e-6 * np.eye(len(ode.x0))
    x = solution.y[:, -1]
    slopes = np.array([(ode(0.5, x + d) - ode(0.5, x - d)) / 2e-6 for d in step]).T
    np.testing.assert_allclose(ode.jacobian(0.5, x), slopes, rtol=1e-5, atol=1e-5 * np.abs(slopes).max())
    assert ode(0.0, np.repeat(x[:, None], 3, 1)).shape == (len(x), 3)


def test_frames_by_their_name(models, rng):
    model = models["pendulum"]
    q, v = states(model, rng, 1)
    q, v = q[:, 0], v[:, 0]
    pose = model.frame("link_2", (0, 0, -0.5))(q, v)
    step = 1e-6
    ahead, behind = (model.frame("link_2", (0, 0, -0.5))(q + s * step * v) for s in (1, -1))
    np.testing.assert_allclose(pose.velocity[:3], (ahead.position - behind.position) / (2 * step), atol=1e-8)
    np.testing.assert_allclose(pose.jacobian @ v, pose.velocity, atol=1e-12)
    assert pose.rotation.shape == (3, 3)
    assert model.frame("link_2", (0, 0, -0.5)) is model.frame("link_2", [0, 0, -0.5])
    center = model.momentum(q, v)
    assert center.center.shape == (3,)
    assert model.frame("link_2")(np.repeat(q[:, None], 4, 1)).jacobian.shape == (6, 2, 4)


def test_what_is_not_given_closes_loops(models):
    model = models["four_bar"]
    crank = {"crank.angle": 0.4}
    x = model.state_vector(crank)
    np.testing.assert_array_equal(model.rhs(crank), model.rhs(x))
    np.testing.assert_allclose(model.mass_matrix(crank), model.mass_matrix(x[:3]), rtol=1e-13)
    closed = model.mass_matrix(model.state_vector()[:3])
    np.testing.assert_array_equal(model.mass_matrix(), closed)
    np.testing.assert_array_equal(model.mass_matrix(None), closed)
    many = model.gravity({"crank.angle": [0.3, 0.4]})
    np.testing.assert_allclose(many[:, 1], model.gravity(x[:3]), rtol=1e-9, atol=1e-9)


def test_mistakes_are_named(models):
    model = models["differential_drive"]
    with pytest.raises(InputError, match=r"'v_z' is not in the group 'state'(.|\n)*v_x"):
        model.rhs({"v_z": 1.0})
    with pytest.raises(InputError, match="'speeds' is no group"):
        model.mass_matrix(speeds=[0, 0])
    with pytest.raises(InputError, match="takes 3 groups"):
        model.mass_matrix([0] * 5, [0, 0], None, None)
    with pytest.raises(InputError, match=r"shape \(5,\)"):
        model.mass_matrix([0] * 4)
    with pytest.raises(InputError, match="different shapes"):
        model.rhs({"v_x": [1, 2], "omega": [1, 2, 3]})
    with pytest.raises(InputError, match="no parameter 'rr'"):
        model.rhs(parameters={"rr": [0.1, 0.2]})
    with pytest.raises(InputError, match="unit"):
        model.rhs({"v_x": "1 kg"})
    with pytest.raises(InputError, match="needs input, parameter, too"):
        model.dynamics([0] * len(model.states))
    q = sp.Function("q")(dynamicsymbols._t)
    method = LagrangesMethod(sp.diff(q, dynamicsymbols._t) ** 2 / 2, [q])
    method.form_lagranges_equations()
    stranger = trundle.from_sympy(method)
    assert stranger.rhs({"q_dot": 2.0})[0] == 2.0
    with pytest.raises(InputError, match="not derived from a description"):
        _ = stranger.gravity


def test_against_sympy_s_lagrange(rng):
    """A double pendulum by hand."""
    model = trundle.derive(trundle.catalog.pendulum(links=2))
    p, t = model.parameters, dynamicsymbols._t
    a, b = dynamicsymbols("a b")
    robot = model.robot
    assert robot is not None
    links = list(robot.joints.values())
    read = robot.resolver()
    place, angle, energy = sp.Matrix([0, 0]), 0, 0
    for joint, q in zip(links, (a, b), strict=True):
        x, _, z = (read(value) for value in joint.at)
        place = place + _turned(angle, (x, z))
        angle = angle + q
        x, _, z = (read(value) for value in joint.body.center_of_mass)
        center = place + _turned(angle, (x, z))
        velocity, mass = center.diff(t), read(joint.body.mass)
        energy += mass * velocity.dot(velocity) / 2 + read(joint.body.inertia.yy) * angle.diff(t) ** 2 / 2
        energy -= mass * p["gravity"] * center[1]
    method = LagrangesMethod(energy, [a, b])
    method.form_lagranges_equations()
    q, v = rng.normal(size=(2, 2))
    numbers = {a.diff(t): v[0], b.diff(t): v[1], a: q[0], b: q[1]}
    mass = np.array(method.mass_matrix.subs(numbers), float)
    forcing = np.array(method.forcing.subs(numbers), float).ravel()
    np.testing.assert_allclose(model.mass_matrix(q), mass, rtol=1e-10)
    damping = np.array([float(read(joint.damping)) for joint in links])
    assert not damping.any()
    np.testing.assert_allclose(model.bias(q, v), -forcing, rtol=1e-9, atol=1e-10)


def _turned(angle, arm):
    """An arm (x, z) turned about y."""
    c, s = sp.cos(angle), sp.sin(angle)
    return sp.Matrix([c * arm[0] + s * arm[1], c * arm[1] - s * arm[0]])


ARM = (Path(__file__).parents[2] / "examples" / "urdf" / "arm.urdf").read_text()
# An arm of six joints with about the lengths and masses of a UR5: mass, centre of mass, ixx iyy izz,
# and where the next joint stands (xyz, rpy) with its axis.
SIX_JOINTS = [
    (3.7, "0 0 0", "0.0102675 0.0102675 0.00666", "0 0 0.089159", "0 0 0", "0 0 1"),
    (8.393, "0 0 0.28", "0.2268891 0.2268891 0.0151074", "0 0.13585 0", "0 1.570796326 0", "0 1 0"),
    (2.275, "0 0 0.25", "0.0494433 0.0494433 0.004095", "0 -0.1197 0.425", "0 0 0", "0 1 0"),
    (1.219, "0 0 0", "0.1111727 0.1111727 0.21942", "0 0 0.39225", "0 1.570796326 0", "0 1 0"),
    (1.219, "0 0 0", "0.1111727 0.1111727 0.21942", "0 0.093 0", "0 0 0", "0 0 1"),
    (0.1879, "0 0 0", "0.0171364 0.0171364 0.033822", "0 0 0.09465", "0 0 0", "0 1 0"),
]


def six_joints():
    text = '<link name="link_0"/>'
    for k, (mass, center, moments, at, rpy, axis) in enumerate(SIX_JOINTS, 1):
        xx, yy, zz = moments.split()
        text += (
            f'<joint name="joint_{k}" type="revolute"><parent link="link_{k - 1}"/><child link="link_{k}"/>'
            f'<origin xyz="{at}" rpy="{rpy}"/><axis xyz="{axis}"/>'
            '<limit lower="-6" upper="6" effort="100" velocity="3"/></joint>'
            f'<link name="link_{k}"><inertial><origin xyz="{center}"/><mass value="{mass}"/>'
            f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
    return f'<robot name="six">{text}</robot>'


@pytest.mark.parametrize("text", [ARM, six_joints()], ids=["arm", "six joints"])
def test_against_pinocchio_and_mujoco_on_arms_in_urdf(rng, text):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (the extra 'peers') is not installed")
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo (the extra 'peers') is not installed")
    robot = parse_urdf(text, strict=False)
    model, theirs = trundle.derive(robot), urdf_extras(robot).joints
    joints = [theirs[name.rpartition(".")[0]] for name in model.speeds]
    q, v = rng.normal(size=(2, len(joints)))
    twin = pin.buildModelFromXML(text)
    twin.gravity.linear = np.array([0.0, 0.0, -9.81])
    data = twin.createData()
    places = [twin.joints[twin.getJointId(name)].idx_v for name in joints]
    assert twin.nq == twin.nv == len(places)
    pin_q, pin_v = np.zeros(twin.nq), np.zeros(twin.nv)
    pin_q[places], pin_v[places] = q, v
    mass = pin.crba(twin, data, pin_q)
    mass = (np.triu(mass) + np.triu(mass, 1).T)[np.ix_(places, places)]
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(model.mass_matrix(q), mass, **close)
    np.testing.assert_allclose(
        model.bias(q, v), pin.nonLinearEffects(twin, data, pin_q, pin_v)[places], **close
    )
    np.testing.assert_allclose(
        model.gravity(q), pin.computeGeneralizedGravity(twin, data, pin_q)[places], **close
    )
    other = mujoco.MjModel.from_xml_string(text)
    state = mujoco.MjData(other)
    at = [other.joint(name).dofadr[0] for name in joints]
    state.qpos[at], state.qvel[at] = q, v
    mujoco.mj_forward(other, state)
    np.testing.assert_allclose(model.bias(q, v), state.qfrc_bias[at], rtol=1e-6, atol=1e-6)


def test_points_of_frames_are_three_numbers():
    model = trundle.derive(trundle.catalog.pendulum(links=1))
    place = model.frame("link_1", (0, 0, "10 cm"))({"link_1.angle": 0.3}).position
    assert np.array_equal(place, model.frame("link_1", (0, 0, 0.1))({"link_1.angle": 0.3}).position)
    for wrong in ([0, 0], "x", 3, ["a", 0, 0], [np.nan, 0, 0]):
        with pytest.raises(InputError, match="point"):
            model.frame("link_1", wrong)


def test_states_of_odes_have_their_shape():
    ode = trundle.ode(trundle.catalog.pendulum(links=1))
    for wrong in ([0.1], [[0.1, 0.2, 0.3]], "x", 0.1):
        with pytest.raises(InputError, match="x must (have shape|hold 2 numbers)"):
            ode(0.0, wrong)


@pytest.mark.parametrize("name", ["differential_drive", "swerve", "four_bar"])
def test_plain_arrays_take_the_short_way_to_equal_numbers(models, rng, name):
    """What a loop calls with NumPy's arrays is what names and lists give, bit for bit."""
    model = models[name]
    q, v = (part[:, 0].copy() for part in states(model, rng))
    for program, groups in ((model.mass_matrix, (q,)), (model.bias, (q, v)), (model.bias, (q,))):
        named = zip(program.inputs, groups, strict=False)
        slow = program(*(dict(zip(group.labels, x, strict=True)) for group, x in named))
        np.testing.assert_array_equal(program(*groups), slow)
        np.testing.assert_array_equal(program(*(list(x) for x in groups)), slow)
    first, kept = model.bias(q, v), model.bias(q, v).copy()
    model.bias(q, 2 * v)
    np.testing.assert_array_equal(first, kept)  # results are the caller's own


def test_the_short_way_has_buffers_of_every_thread(models):
    model = models["swerve"]
    start = np.array([model.initial[name] for name in model.coordinates])
    speeds = [np.full(len(model.speeds), 0.1 * k) for k in range(1, 9)]
    alone = [model.bias(start, v) for v in speeds]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(50):
            together = list(pool.map(lambda v: model.bias(start, v), speeds))
            np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("name", ["differential_drive", "swerve"])
def test_bound_calls_follow_their_arrays(models, rng, name):
    model = models[name]
    q, v = states(model, rng)
    at, speed = q[:, 0].copy(), v[:, 0].copy()
    mass, motion = model.mass_matrix.bind(at), model.frame("base").bind(at, speed)
    many = model.bias.bind(q.copy(), v.copy(), parameters={"r": 0.2})
    stands = mass()
    for k in range(7):
        at[:], speed[:] = q[:, k], v[:, k]
        assert mass() is stands
        np.testing.assert_array_equal(stands, model.mass_matrix(at))
        for ours, asked in zip(motion(), model.frame("base")(at, speed), strict=True):
            np.testing.assert_array_equal(ours, asked)
    np.testing.assert_array_equal(many(), model.bias(q, v, r=0.2))
    with pytest.raises(InputError, match="takes 1 to 2 groups in order"):
        model.mass_matrix.bind()
    with pytest.raises(InputError, match="C-contiguous float64 array"):
        model.mass_matrix.bind(list(at))
    with pytest.raises(InputError, match=r"a state a column \(n, count\); got 'first'"):
        model.mass_matrix.bind(q.T.copy(), batch="first")


@pytest.mark.parametrize("name", ["differential_drive", "four_bar"])
def test_states_come_as_rows_by_a_keyword(models, rng, name):
    model = models[name]
    q, v = states(model, rng)
    rows, columns = model.mass_matrix(q.T, batch="first"), model.mass_matrix(q)
    np.testing.assert_array_equal(rows, np.moveaxis(columns, -1, 0))
    np.testing.assert_array_equal(model.bias(q.T, v.T, batch="first"), model.bias(q, v).T)
    np.testing.assert_array_equal(model.bias(q.T, speed=v.T, batch="first"), model.bias(q, v).T)
    np.testing.assert_array_equal(model.mass_matrix(list(q[:, 0]), batch="first"), model.mass_matrix(q[:, 0]))
    center = model.momentum(q.T, v.T, batch="first").center
    np.testing.assert_array_equal(center, model.momentum(q, v).center.T)
    rhs = model.numpy()
    x = rng.normal(size=(5, len(model.states)))
    np.testing.assert_array_equal(rhs(x, batch="first"), rhs(x.T).T)
    np.testing.assert_array_equal(rhs(x.tolist(), batch="first"), rhs(x.T).T)
    for call in (model.mass_matrix, rhs):
        with pytest.raises(InputError, match="expected 'last' or 'first', got 'frist'") as failed:
            call(x.T if call is rhs else q, batch="frist")
        with pytest.raises(InputError, match="expected 'last' or 'first'"):
            call(x[0] if call is rhs else q[:, 0].copy(), batch="frist")
        assert "first" in failed.value.hint


def test_one_number_is_a_group_of_one(models):
    swing = trundle.derive(trundle.catalog.pendulum(links=1))
    np.testing.assert_array_equal(swing.mass_matrix(0.3), swing.mass_matrix([0.3]))
    np.testing.assert_array_equal(swing.bias([0.3], 0.5), swing.bias(0.3, [0.5]))
    with pytest.raises(
        InputError, match="group 'coordinate' of 'mass_matrix' has 5 numbers, got one: 0.3"
    ) as failed:
        models["differential_drive"].mass_matrix(0.3)
    assert "x, y, theta" in failed.value.hint
    with pytest.raises(InputError, match="group 'state' of 'dynamics' has .* numbers, got one"):
        models["differential_drive"].rhs(0.3, {"left_motor.voltage": 1.0})
