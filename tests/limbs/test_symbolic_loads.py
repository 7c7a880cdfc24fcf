"""Joint loads in symbols: limb.md's closed forms exactly, of frames and of robots, and in numbers when compiled."""

import numpy as np
import pytest
import sympy
from sympy import Rational as R
from sympy import cos, sin
from sympy.physics.mechanics import dynamicsymbols

import trundle
from limbs.limb import closed_forms, limb_robot
from limbs.random_limbs import random_limb, random_samples
from trundle import Frame, InputError, Wrench

t = dynamicsymbols._t
MASSES, LENGTHS, ANGLES = (R(7, 10), R(1, 2), R(3, 10)), (R(4, 5), R(3, 5), R(2, 5)), (t, 2 * t, 4 * t)
PLANAR = ("force_x", "force_y", "moment_z")


def limb(angles=ANGLES, masses=MASSES, lengths=LENGTHS):
    """limb.md's segments on frames, point masses in the middle."""
    parent, bodies = Frame("W"), {}
    for k, (angle, mass, length) in enumerate(zip(angles, masses, lengths, strict=True)):
        origin = (0, lengths[k - 1] if k else 0, 0)
        parent = parent.child(f"P_{k}", rotation=((0, 0, 1), angle), origin=origin)
        center = parent.point(f"C_{k}", (0, length / 2, 0))
        bodies[parent] = trundle.Inertia(mass, sympy.zeros(3, 3), center=center)
    return bodies


def exact_forms():
    """limb.md's table of closed forms, its decimals as they stand."""

    def s(k):
        return sin(k * t)

    def c(k):
        return cos(k * t)

    r = sympy.Rational
    return {
        "P_2": (
            -r("1.62") * s(4) - r("0.24") * s(6),
            -r("1.62") * c(4) - r("0.24") * c(6) - r("2.94"),
            r("0.324") * s(4) + r("0.048") * s(6),
        ),
        "P_1": (
            -r("0.64") * s(2) + r("2.94") * s(4),
            -r("0.64") * c(2) - r("2.94") * c(4) - r("2.97"),
            r("0.264") * s(2) - r("1.44") * s(4) + r("0.048") * s(6),
        ),
        "P_0": (
            r("2.97") * s(2) + r("2.94") * s(6),
            -r("2.97") * c(2) - r("2.94") * c(6) - r("0.92"),
            -r("2.112") * s(2) - r("1.44") * s(4) - r("2.304") * s(6),
        ),
    }


def test_the_closed_forms_of_the_limb_come_out_exactly():
    of_frames = trundle.symbolic_loads(limb(), gravity=(0, 0, 0))
    motion = {f"P_{k}.angle": angle for k, angle in enumerate(ANGLES)}
    of_robot = trundle.symbolic_loads(limb_robot(), motion=motion)
    for joint, forms in exact_forms().items():
        for part, form in zip(PLANAR, forms, strict=True):
            assert of_frames.expanded(f"{joint}.{part}") == form
            assert of_robot.expanded(f"{joint}.{part}") == form
        assert not any(of_frames.expanded(f"{joint}.{part}") for part in ("force_z", "moment_x", "moment_y"))


def test_all_joints_of_the_limb_in_letters_are_fewer_steps_than_a_page():
    angles, masses, lengths = dynamicsymbols("theta_:3"), sympy.symbols("m_:3"), sympy.symbols("l_:3")
    loads = trundle.symbolic_loads(limb(angles, masses, lengths), gravity=(0, 0, 0))
    assert loads.program.operations <= 96  # limb.md's straight recursion
    names = [name for name, _ in loads.steps]
    for place, (_, step) in enumerate(loads.steps):
        assert not step.free_symbols & set(names[place:])  # each in those before it
    put = dict(zip([*angles, *masses, *lengths], [*ANGLES, *MASSES, *LENGTHS], strict=True))
    for joint, forms in exact_forms().items():
        for part, form in zip(PLANAR, forms, strict=True):
            at = loads.expanded(f"{joint}.{part}").subs(put).doit()
            assert sympy.expand(at - form, trig=False).subs(t, R(3, 10)).evalf(30) == pytest.approx(
                0, abs=1e-25
            )
    nested = loads["P_0.moment_z"]
    for name, step in reversed(loads.steps):
        nested = nested.xreplace({name: step})
    difference = nested.subs(put).doit() - exact_forms()["P_0"][2]
    assert abs(difference.subs(t, R(7, 5)).evalf(30)) < 1e-25


def test_powers_in_descriptions_are_whole():
    moment = trundle.symbolic_loads(trundle.catalog.pendulum(links=1)).expanded("link_1.moment_y")
    assert not moment.atoms(sympy.Float)  # length**2.0 and length**2 are not the same to SymPy
    assert len(moment.args) == 2


def test_compiled_components_are_the_closed_forms():
    angles, masses, lengths = dynamicsymbols("theta_:3"), sympy.symbols("m_:3"), sympy.symbols("l_:3")
    loads = trundle.symbolic_loads(limb(angles, masses, lengths), gravity=(0, 0, 0))
    rates = [angle.diff(t) for angle in angles]
    function = loads.compile(*angles, *rates, *(rate.diff(t) for rate in rates), *masses, *lengths)
    time = np.linspace(0, 2, 50)
    found = function(*(k * time for k in (1, 2, 4)), 1, 2, 4, 0, 0, 0, 0.7, 0.5, 0.3, 0.8, 0.6, 0.4)
    for joint, forms in closed_forms(time).items():
        for part, form in zip(PLANAR, forms, strict=True):
            assert np.abs(found[f"{joint}.{part}"] - form).max() < 1e-12
    with pytest.raises(InputError, match="not among the arguments"):
        loads.compile(*angles)


@pytest.mark.slow
def test_robots_in_space_in_symbols_have_the_numbers_that_kernels_have(rng):
    robot = random_limb(rng, 4, ("revolute", "prismatic", "universal", "screw", "spherical"), base="floating")
    motion = random_samples(rng, robot, 3)
    numbers = trundle.joint_loads(robot, motion)
    loads = trundle.symbolic_loads(robot)
    q, nu = (
        [sympy.Function(name.replace(".", "_"))(t) for name in names]
        for names in (motion.names, motion.speeds)
    )
    quantities = trundle.derive(robot).quantities
    letters = {}
    for name, letter, values in zip(motion.names, q, motion.positions.T, strict=True):
        letters[letter] = values
        rate = quantities.rate_of(name)
        if rate:
            column = motion.speeds.index(rate)
            letters[letter.diff(t)] = motion.velocities[:, column]
            letters[letter.diff(t, 2)] = motion.accelerations[:, column]
    for name, letter, values, rates in zip(
        motion.speeds, nu, motion.velocities.T, motion.accelerations.T, strict=True
    ):
        if not quantities.coordinate_of(name):
            letters[letter], letters[letter.diff(t)] = values, rates
    found = loads.compile(*letters)(*letters.values())
    run = numbers.to_run()
    size = np.abs(numbers.wrenches).max()
    for component, values in found.items():
        assert np.abs(values - run[component]).max() <= 1e-12 * size, component


def test_a_tip_load_in_letters():
    f = sympy.Symbol("f")
    bodies = limb()
    tip = list(bodies)[-1]
    world = tip.root
    pull = Wrench(
        (f, 0, 0), (0, 0, 0), on="P_2", by="rope", point=tip.point("tip", (0, R(2, 5), 0)), frame=world
    )
    free, held = (
        trundle.symbolic_loads(bodies, gravity=(0, 0, 0), external=external) for external in ((), (pull,))
    )
    change = held.expanded("P_2.force_x") - free.expanded("P_2.force_x")
    assert sympy.expand(change) == -f * cos(7 * t)
    assert sympy.expand(held.expanded("P_2.moment_z") - free.expanded("P_2.moment_z")) == R(2, 5) * f * cos(
        7 * t
    )
    own = Wrench((0, f, 0), (0, 0, 0), on="P_2", by="rope", point=tip.origin, frame=tip)
    pulled = trundle.symbolic_loads(bodies, gravity=(0, 0, 0), external=[own])
    assert sympy.expand(pulled.expanded("P_2.force_y") - free.expanded("P_2.force_y")) == -f


def test_joints_wrenches_are_wrenches():
    loads = trundle.symbolic_loads(limb(), gravity=(0, 0, 0))
    wrench = loads.wrench("P_1", expanded=True)
    assert (wrench.on, wrench.by, wrench.frame.name) == ("P_1", "P_0", "P_1")
    assert wrench.moment[2] == exact_forms()["P_1"][2]
    assert loads.wrench("P_0").by == "W"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: trundle.symbolic_loads(limb()), "frames don't know gravity"),
        (
            lambda: trundle.symbolic_loads(limb(), gravity=(0, 0, 0))["P_3.force_x"],
            "no component 'P_3.force_x'",
        ),
        (lambda: trundle.symbolic_loads(limb_robot(), motion={"P_9.angle": t}), "no 'P_9.angle'"),
        (lambda: trundle.symbolic_loads(trundle.catalog.swerve()), "has wheels"),
        (lambda: trundle.symbolic_loads({**limb(), **limb()}, gravity=(0, 0, 0)), "doesn't move in 'W'"),
    ],
)
def test_what_has_no_answer_says_so(call, said):
    with pytest.raises(InputError, match=said):
        call()
