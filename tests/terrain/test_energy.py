"""Energy over hills: what motors give less what friction and damping take is the change of energy."""

import pytest

import trundle
from tests.terrain.test_motors_and_batteries import BATTERY, DC, box, told
from trundle import catalog

HILLS = {"type": "waves", "amplitude": 0.1, "length": 4.0, "across": 4.0}
# Motors that hold a rate turn their wheels at once from rest: a blow, of whose energy half is lost whatever the step.
SETTLED, END = 0.5, 1.5


def account(robot, step, inputs=None):
    """Work, losses and the change of energy between two times (J), by sums over all steps."""
    count = round(END / step)
    run = trundle.simulate(
        robot, END, inputs, terrain={"surfaces": {"hills": HILLS}}, step=step, samples=count + 1
    )
    first = round(SETTLED / step)
    energy = run["energy.kinetic"] + run["energy.potential"] + run["energy.internal"]
    work, lost = (run[name][first:-1].sum() * step for name in ("power.in", "power.lost"))
    return work, lost, energy[-1] - energy[first]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "measures"),
    [
        ("zoe", {}),
        ("rocker_bogie", {"differential_stiffness": 1e4}),
        ("rocker_bogie", {"contact": "pacejka"}),
        ("rocker_bogie", {"contact": "soil"}),
    ],
)
def test_work_less_losses_is_the_change_of_energy(name, measures):
    """Sums are of the first order in the step, so two steps give their limit."""
    robot = catalog.robot(name, **measures)
    (coarse, _), (fine, work) = (
        (work - lost - change, work) for work, lost, change in (account(robot, step) for step in (2e-4, 1e-4))
    )
    assert abs(2 * fine - coarse) < 1e-6 * abs(work)
    assert 1.9 < coarse / fine < 2.1
    assert abs(fine) < 5e-3 * abs(work)


VOLTS, RATES = told("voltage", 8, 10), told("rate", 3, 5)
PI = {"type": "velocity", "gain": 2.0, "lag": 0.1, "integral": 8.0}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wheel", "motor", "parts", "inputs"),
    [
        ({"friction": 1.0}, DC, {"batteries": {"b": BATTERY}}, VOLTS),
        ({"friction": 1.0}, PI, {}, RATES),
        ({"contact": "bristle", "friction": 0.8}, DC, {}, VOLTS),
    ],
)
def test_coils_cells_and_bristles_keep_the_account_too(wheel, motor, parts, inputs):
    robot = box(wheel, motor, **parts)
    accounts = [account(robot, step, inputs) for step in (2e-4, 1e-4)]
    (coarse, fine), work = (work - lost - change for work, lost, change in accounts), accounts[1][0]
    assert abs(2 * fine - coarse) < 1e-6 * abs(work)
    assert 1.9 < coarse / fine < 2.1


@pytest.mark.slow
def test_friction_and_damping_take_and_never_give():
    run = trundle.simulate(catalog.robot("talon"), 2.0, terrain={"sinkage": 0.01}, step=0.01)
    assert run["power.ground"].min() > -1e-9
    assert run["power.lost"][-1] == pytest.approx(run["power.ground"][-1])
    assert run["power.in"][-1] == pytest.approx(run["power.lost"][-1], rel=1e-3)
