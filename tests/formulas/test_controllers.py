"""Laws of controllers as equations: they are the closed loop's programs, and read as a textbook has them."""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import sympy

import trundle
from parameters import mostly_slow
from trundle.robot import Action, Controller, State, units
from trundle.scalars import less, where

CIRCLE = Path(__file__).parents[2] / "examples" / "feedback" / "circle.yaml"


@trundle.register
class Relay(Controller):
    """As much as it may one way or the other, and a sum that forgets."""

    type: Literal["test_relay"] = "test_relay"
    most: trundle.robot.values.Plain

    def reads_from(self):
        return ("v_x", "right.rate")

    def acts_on(self):
        return ("right_motor.voltage",)

    def references(self):
        return ("wanted",)

    def states(self, read):
        return {"sum": State(units.ANY)}

    def law(self, sight, read):
        error = sight.references["wanted"] - sight.read["v_x"]
        most = read(self.most)
        command = where(less(error, 0), -most, most) + sight.states["sum"]
        return Action({"right_motor.voltage": command}, {"sum": error - sight.read["right.rate"]})


KINDS = {
    "state_feedback": {
        "drives": {"left_motor.voltage": {"gains": {"v_x": 3.5, "left.rate": 0.25}, "offset": 2, "highest": 20}},
        "around": {"v_x": "1 m/s"},
    },
    "state_space": {
        "reads": ["v_x", "omega"],
        "drives": ["left_motor.voltage", "right_motor.voltage"],
        "A": [[-1.5, 0.5], [0, -2.5]],
        "B": [[1.25, 0], [0, 0.75]],
        "C": [[3.5, 4.5], [3.5, -4.5]],
        "around": {"v_x": "1 m/s"},
    },
    "feedback_along": {"reads": ["x", "y", "theta", "v_x"], "drives": ["left_motor.voltage"]},
    "unicycle": {"speed_to": "left_motor.voltage", "turn_to": "right_motor.voltage"},
    "samson": {"speed_to": "left_motor.voltage", "turn_to": "right_motor.voltage"},
    "stanley": {"speed_to": "left_motor.voltage", "steer_to": "right_motor.voltage", "wheelbase": "1.5 m"},
    "pure_pursuit": {"speed_to": "left_motor.voltage", "steer_to": "right_motor.voltage", "wheelbase": 1.5},
    "test_relay": {"most": 7},
    "pid": {
        "reads": "theta", "angle": True, "drives": "left_motor.voltage", "proportional": 3, "derivative": 0.5,
        "filter": "20 ms", "integral": 2, "anti_windup": "0.1 s", "lowest": -4, "target": "30 deg",
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", mostly_slow(KINDS, ["state_space", "samson", "test_relay", "pid"]))
def test_laws_of_every_kind_are_the_programs(kind):
    """The report compares them with the compiled programs; here the section is there, and every state has its rate."""
    robot = trundle.catalog.differential_drive()
    if "wheelbase" in KINDS[kind]:  # of a car
        robot = trundle.catalog.ackermann()
    model = trundle.derive(robot, controllers={"hold": {"type": kind, **KINDS[kind]}})
    found = trundle.equations(model, "dynamics", points=100)
    (section,) = (each for each in found.sections if each.title == "Controllers")
    assert section.equations, section.notes
    assert found.error < 1e-10
    written = {each.name for each in section.equations}
    own = [name for name in model.states if name.startswith("hold.")]
    assert {f"{name}_rate" for name in own} <= written
    assert set(model.robot.controllers["hold"].acts_on()) <= written
    state = trundle.equations(model, "state")
    assert not any(note.startswith("Not written") for each in state.sections for note in each.notes)


def test_a_loop_in_a_loop_reads_as_a_textbook_has_it():
    found = trundle.equations(trundle.derive(CIRCLE), "dynamics")
    command = found["law.speed.u"]
    assert str(command.right) == "Min(u_max_speed, Max(u_free_speed, u_min_speed))"
    assert str(found["law.speed.reference"].right) == "v"
    assert str(found["left_motor.voltage"].right) == "u_speed - u_turn"
    for form in ("text", "latex", "markdown", "html"):
        assert "Controllers" in trundle.format_equations(found, form)
    known = {each.symbol.name for each in found.symbols}
    known |= {str(each.left) for each in found.by_name.values() if each.left.is_Symbol}
    for each in found.by_name.values():
        if each.left.is_Symbol:
            assert each.right.free_symbols <= {sympy.Symbol(name) for name in known} | {
                definition.symbol for definition in found.definitions
            }


def test_a_law_that_is_no_equation_is_left_out_and_said(monkeypatch):
    """One that gives SymPy something else than programs: the rest of the report stands."""
    law = Relay.law

    def other(self, sight, read):
        action = law(self, sight, read)
        if isinstance(action.rates["sum"], sympy.Expr):
            return action._replace(rates={"sum": 2 * action.rates["sum"]})
        return action

    monkeypatch.setattr(Relay, "law", other)
    robot = trundle.catalog.differential_drive()
    model = trundle.derive(robot, controllers={"hold": {"type": "test_relay", "most": 7}})
    found = trundle.equations(model, "dynamics")
    (section,) = (each for each in found.sections if each.title == "Controllers")
    assert "differs from its compiled program" in section.notes[0]
    assert np.isfinite(found.error)
    assert "mass_matrix" in found.by_name


SPEED = {"type": "pid", "reads": "v_x", "proportional": 2, "integral": 3, "lowest": -9, "highest": 9}
DRIVES = {"left_motor.voltage": 1, "right_motor.voltage": 0.5}


@pytest.mark.parametrize("late", [{}, {"delay": "3 ms"}, {"delay": "10 ms"}, {"delay": "23 ms"}])
def test_laws_that_sample_are_the_programs_jumps(late):
    """Every held number has the line of what it is after a sample; the commands are what is held."""
    hold = SPEED | {"drives": DRIVES, "period": "10 ms", **late}
    model = trundle.derive(trundle.catalog.differential_drive(), controllers={"speed": hold})
    found = trundle.equations(model, "dynamics", points=100)
    (section,) = (each for each in found.sections if each.title == "Controllers")
    assert section.equations, section.notes
    assert found.error < 1e-10
    written = {each.name for each in section.equations}
    held = [name for name in model.states if name.startswith("speed.")]
    assert {f"{name}_next" for name in held} <= written
    assert {"left_motor.voltage", "speed.error"} <= written
    assert "10 ms" in section.notes[0]
    assert ("later" in section.notes[0]) == bool(late)
    state = trundle.equations(model, "state")
    rates = {str(each.left): each.right for part in state.sections for each in part.equations}
    assert sum(right == 0 for right in rates.values()) >= len(held)
    for form in ("text", "latex", "markdown", "html"):
        assert "next" in trundle.format_equations(found, form)


@pytest.mark.parametrize("inner", [None, "5 ms"])
def test_a_sampled_loop_in_a_loop_and_one_that_flows(inner):
    """What gives the reference samples; who takes it does too, or acts at every instant."""
    robot = trundle.catalog.differential_drive()
    outer = {"type": "pid", "reads": "x", "drives": "speed.reference", "proportional": 1, "period": "20 ms"}
    own = SPEED | {"drives": DRIVES} | ({"period": inner} if inner else {})
    model = trundle.derive(robot, controllers={"place": outer, "speed": own})
    found = trundle.equations(model, "dynamics", points=100)
    (section,) = (each for each in found.sections if each.title == "Controllers")
    assert section.equations, section.notes
    assert found.error < 1e-10
    right = str(found["law.speed.reference"].right)
    assert right.endswith("_next") == bool(inner)
