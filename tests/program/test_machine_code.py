"""Machine code goes when nobody needs it: held by programs, or among the contents last asked for."""

import gc
import pickle
import weakref

import numpy as np
import pytest

import trundle
from program.programs import random_program
from trundle.program import compile_program
from trundle.program.llvm.jit import KEPT, machine_code


def others():
    """Contents that push all before them out of those last asked for."""
    for k in range(KEPT):
        machine_code(f"other {k}")


@pytest.mark.slow
def test_code_goes_with_its_program():
    program = random_program(7)
    program(*(np.ones(group.size) for group in program.inputs))
    code = weakref.ref(machine_code(program.key))
    others()
    gc.collect()
    assert code() is machine_code(program.key)  # the program's own, and asked for again
    del program
    gc.collect()
    assert code() is not None
    others()
    gc.collect()
    assert code() is None


def test_one_that_is_asked_for_again_and_again_stays():
    often = weakref.ref(machine_code("often"))
    for k in range(3 * KEPT):
        machine_code(f"other {k}")
        machine_code("often")
    assert often() is not None


def test_a_program_is_sent_without_its_code():
    program = random_program(8)
    kernel = compile_program(program)
    groups = [np.ones(group.size) for group in program.inputs]
    expected = kernel(*groups)
    again = pickle.loads(pickle.dumps(program))
    assert again == program
    for came, sent in zip(compile_program(again)(*groups), expected, strict=True):
        np.testing.assert_array_equal(came, sent)


def simulated():
    robot = trundle.catalog.pendulum(links=2)
    model = trundle.derive(robot)
    trundle.simulate(model, 0.1, {}, samples=5)
    return robot, model, compile_program(model.dynamics)


def on_wheels():
    robot = trundle.catalog.swerve()
    kinematics = trundle.kinematics(robot)
    kinematics.inverse(np.ones(3))
    return robot, kinematics, compile_program(kinematics.inverse)


def loaded():
    robot = trundle.catalog.pendulum(links=1)
    still = {"time": np.arange(6.0), "link_1.angle": np.full(6, 0.5)}
    return robot, trundle.joint_loads(robot, still)


@pytest.mark.parametrize("make", [simulated, on_wheels, loaded])
@pytest.mark.slow
def test_robots_go_with_the_last_who_has_them(make):
    held = [weakref.ref(each) for each in make()]
    gc.collect()
    assert [each() for each in held] == [None] * len(held)
