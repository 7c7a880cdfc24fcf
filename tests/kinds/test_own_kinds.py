"""Kinds from outside the package: used by name, told apart by what they say they can do, refused with their class."""

import importlib.util
import json
import pickle
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
import scipy.integrate
import yaml

import trundle
from trundle.errors import InputError
from trundle.robot import (
    ContactLaw,
    Drive,
    Effort,
    Motor,
    PidController,
    Push,
    Read,
    State,
    TorqueMotor,
    Touch,
    default,
    parse_robot,
    register,
    units,
)
from trundle.robot.bodies import JOINTS, DirectedJoint
from trundle.robot.component import plain
from trundle.robot.contact import LAWS, Ideal, Slip
from trundle.robot.motors import MOTORS
from trundle.robot.values import Ratio, Stiffness
from trundle.scalars import smooth_sign

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"


def example(name: str) -> Any:
    """The example as a module, loaded once: registering its classes anew would find their names taken."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture
def guests():
    """Takes away what a test registers."""
    before = [dict(family._members) for family in (LAWS, MOTORS, JOINTS)]
    yield
    for family, members in zip((LAWS, MOTORS, JOINTS), before, strict=True):
        family._members = members


def cart(**contact: Any) -> dict[str, Any]:
    """Two driven wheels side by side under a load: it runs straight."""
    wheel = {"radius": 0.1, "mass": 2.0, **contact}
    return {
        "name": "cart",
        "body": {"mass": 20.0, "inertia": {"zz": 1.0}},
        "wheels": {"l": {"at": [0, 0.2, 0], **wheel}, "r": {"at": [0, -0.2, 0], **wheel}},
        "motors": {name: {"type": "torque", "drives": name[0]} for name in ("lm", "rm")},
    }


def test_brush_tyre_is_balanced_and_agrees_with_a_second_formulation():
    """m v̇ = 2 F, J ω̇ = T − R F, with Pacejka's own form of the brush's force, integrated by SciPy."""
    example("own_contact_law")
    model = trundle.derive(parse_robot(cart(contact="brush", friction=0.7, tread=900.0, slip_speed=0.02)))
    run = trundle.simulate(model, 2.0, {"lm.torque": 6.0, "rm.torque": 6.0}, rtol=1e-9, atol=1e-10)
    assert run.summary["energy_imbalance"] <= 1e-6 * run.summary["energy_turned_over"]
    load, tread, friction = 24.0 * 9.81 / 2, 900.0, 0.7

    def push(v: float, rim: float) -> float:
        sigma = (rim - v) / np.hypot(rim, 0.02)
        theta = tread / (3 * friction * load)
        if abs(theta * sigma) >= 1:
            return friction * load * np.sign(sigma)
        return tread * sigma * (1 - abs(theta * sigma) + (theta * sigma) ** 2 / 3)

    def rates(_t: float, state: np.ndarray) -> list[float]:
        v, omega = state
        force = push(v, 0.1 * omega)
        return [2 * force / 24.0, (6.0 - 0.1 * force) / (2.0 * 0.1**2 / 2)]

    found = scipy.integrate.solve_ivp(rates, (0, 2.0), [0, 0], method="LSODA", rtol=1e-10, atol=1e-11)
    assert run.final["v_x"] == pytest.approx(found.y[0, -1], rel=1e-6)
    assert run.final["l.rate"] == pytest.approx(found.y[1, -1], rel=1e-6)


def test_series_motor_is_balanced_and_agrees_with_a_second_formulation():
    """Its three states by SciPy; and the heat that it lost is what warmed the winding and the air."""
    own = example("own_motor")
    model = trundle.derive(own.trolley())
    assert model.states == ("axle.angle", "axle.rate", "pull.current", "pull.temperature")
    assert [model.units[name] for name in model.states[2:]] == ["A", "K"]
    run = trundle.simulate(model, 30.0, {"pull.voltage": 24.0}, rtol=1e-9, atol=1e-10)
    assert run.summary["energy_imbalance"] <= 1e-6 * run.summary["energy_turned_over"]
    assert run["pull.temperature"][0] == 293.15

    def rates(_t: float, state: np.ndarray) -> list[float]:
        omega, i, warmth = state
        resistance = 0.4 * (1 + 0.0039 * warmth)
        return [
            (0.01 * i * i - 0.05 * omega) / 0.8,
            (24.0 - resistance * i - 0.01 * i * omega) / 0.02,
            (resistance * i * i - warmth / 2.0) / 200.0,
        ]

    found = scipy.integrate.solve_ivp(rates, (0, 30.0), [0, 0, 0], method="LSODA", rtol=1e-10, atol=1e-11)
    assert run.final["axle.rate"] == pytest.approx(found.y[0, -1], rel=1e-6)
    assert run.final["pull.current"] == pytest.approx(found.y[1, -1], rel=1e-6)
    assert run.final["pull.temperature"] - 293.15 == pytest.approx(found.y[2, -1], rel=1e-6)


def test_own_kinds_are_written_and_read_by_name(tmp_path):
    example("own_contact_law")
    example("own_motor")
    written = cart(contact="brush", tread=500.0)
    written["motors"]["lm"] = {
        "type": "series",
        "drives": "l",
        "field": 0.1,
        "resistance": 1.0,
        "inductance": 0.1,
    }
    from trundle.documents import dump, parse

    robot = parse_robot(written)
    again = parse(dump(robot)).robot
    assert again == robot
    assert robot.parameter_values()["wheels.l.tread"] == 500.0
    assert robot.with_parameters({"wheels.l.tread": 700.0}).parameter_values()["wheels.l.tread"] == 700.0
    model = trundle.derive(robot)
    kept = pickle.loads(pickle.dumps(model))
    assert (kept.states, kept.units) == (model.states, model.units)


def test_own_kinds_in_equations_rollouts_linearisations_and_figures():
    """Everything that works on a robot works on one with kinds of its own."""
    own = example("own_motor")
    model = trundle.derive(own.trolley())
    text = str(trundle.equations(model))
    assert "temperature" in text
    batch = trundle.rollout(model, steps=50, inputs={"pull.voltage": np.array([10.0, 20.0])})
    assert batch.final("pull.temperature").shape == (2,)
    assert model.linearize({"pull.current": 10.0}, inputs={"pull.voltage": 4.0}).A.shape == (4, 4)
    run = trundle.simulate(model, 0.5, {"pull.voltage": 24.0})
    assert run.plot.states() is not None
    example("own_contact_law")
    written = trundle.equations(parse_robot(cart(contact="brush")))
    assert {"l.traction", "l.side_force", "l.rolling_slip"} <= {
        e.name for s in written.sections for e in s.equations
    }


def test_a_name_that_is_taken(guests):
    class Other(TorqueMotor):
        type: Literal["dc"] = "dc"  # pyright: ignore[reportIncompatibleVariableOverride]  # another name

    with pytest.raises(InputError, match="Other: the motor 'dc' is taken by DCMotor"):
        register(Other)

    class Where(PidController):
        type: Literal["estimator"] = "estimator"  # pyright: ignore[reportIncompatibleVariableOverride]  # another name

    with pytest.raises(InputError, match="Where: the controller 'estimator' is taken by PoseEstimator"):
        register(Where)


def test_a_class_without_a_name(guests):
    class Nameless(ContactLaw):
        def push(self, touch: Touch, read: Read) -> Push:
            return Push([0 for _ in touch.slip])

    with pytest.raises(InputError, match="Nameless has no name"):
        register(Nameless)


def test_a_class_of_no_family():
    with pytest.raises(InputError, match="not dict"):
        register(dict)  # type: ignore[arg-type]


def test_a_law_without_forces(guests):
    class Idle(ContactLaw):
        type: Literal["idle"] = "idle"

    with pytest.raises(InputError, match="Idle says nothing about its push"):
        register(Idle)


def test_a_law_with_a_key_of_the_wheel(guests):
    class Greedy(ContactLaw):
        type: Literal["greedy"] = "greedy"
        damping: Ratio = default(1.0, "Of the tread.")

        def push(self, touch: Touch, read: Read) -> Push:
            return Push([0 for _ in touch.slip])

    with pytest.raises(InputError, match="Greedy has keys that its holder has, too: damping"):
        register(Greedy)


def test_a_law_that_is_not_registered(guests):
    class Shy(ContactLaw):
        type: Literal["shy"] = "shy"

        def push(self, touch: Touch, read: Read) -> Push:
            return Push([0 for _ in touch.slip])

    with pytest.raises(InputError, match="unknown contact 'shy'"):
        parse_robot(cart(contact="shy"))
    with pytest.raises(InputError, match="Shy is not registered"):
        parse_robot(cart(contact=Shy()))


def test_a_law_with_the_wrong_number_of_forces(guests):
    @register
    class Short(ContactLaw):
        type: Literal["short"] = "short"

        def push(self, touch: Touch, read: Read) -> Push:
            return Push([0])

    with pytest.raises(InputError, match="Short gives 1 forces") as caught:
        trundle.derive(parse_robot(cart(contact="short")))
    assert "expected 2 forces" in str(caught.value)


def test_a_law_that_divides_by_zero_at_rest(guests):
    @register
    class Naive(ContactLaw):
        type: Literal["naive"] = "naive"

        def push(self, touch: Touch, read: Read) -> Push:
            return Push([-touch.load * v / touch.rim for v in touch.slip])

    with pytest.raises(InputError, match="Naive .* at rest"):
        trundle.derive(parse_robot(cart(contact="naive")))


def test_a_joint_without_formulas(guests):
    @register
    class Rubber(DirectedJoint):
        type: Literal["rubber"] = "rubber"

    with pytest.raises(InputError, match="no formulas for joints of type 'rubber'"):
        trundle.derive(parse_robot({"joints": {"j": {"type": "rubber", "body": {"mass": 1}}}}))


def test_a_motor_that_forgets_a_rate(guests):
    @register
    class Forgetful(Motor):
        type: Literal["forgetful"] = "forgetful"

        def states(self, read: Read) -> Mapping[str, State]:
            return {"charge": State(units.CURRENT)}

        def effort(self, drive: Drive, read: Read) -> Effort:
            return Effort(drive.command)

    robot = cart()
    robot["motors"]["lm"]["type"] = "forgetful"
    with pytest.raises(InputError, match="Forgetful gives rates of none") as caught:
        trundle.derive(parse_robot(robot))
    assert "rates of charge" in str(caught.value)


def test_kind_is_no_key_of_a_motor():
    robot = cart()
    robot["motors"]["lm"] = {"kind": "torque", "drives": "l"}
    with pytest.raises(InputError, match="unknown key 'kind'") as caught:
        parse_robot(robot)
    assert caught.value.key == "motors.lm.kind"
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("type:")


def test_an_installed_package_brings_kinds_along(guests, monkeypatch):
    """Loaded when a description first names them, by the entry point of that name."""

    class Hoist(TorqueMotor):
        type: Literal["hoist"] = "hoist"  # pyright: ignore[reportIncompatibleVariableOverride]  # another name

    class Entry:
        name, value = "hoist", "hoists:Hoist"

        @staticmethod
        def load():
            return Hoist

    asked = []

    def entry_points(group: str, name: str) -> list[type[Entry]]:
        asked.append((group, name))
        return [Entry] if name == "hoist" else []

    monkeypatch.setattr("trundle.robot.kinds.entry_points", entry_points)
    robot = cart()
    robot["motors"]["lm"]["type"] = "hoist"
    assert type(parse_robot(robot).motors["lm"]) is Hoist
    assert asked == [("trundle.kinds", "hoist")]


def test_a_bristle_of_ones_own_is_a_state_and_keeps_energy(guests):
    """Dahl's friction (1968): a force that is a spring's until it slides; stored and lost energies add up."""

    @register
    class Dahl(ContactLaw):
        type: Literal["dahl"] = "dahl"

        def states(self, read: Read, directions: Any) -> Mapping[str, State]:
            return {f"{each}_deflection": State(units.LENGTH) for each in directions}

        def push(self, touch: Touch, read: Read) -> Push:
            from trundle.scalars import sqrt

            stiffness, most = 2e4, read(self.friction) * touch.load
            bent = list(touch.states.values())
            speed = sqrt(sum(v * v for v in touch.slip) + 1e-12)
            rates = [v - stiffness * speed * z / most for v, z in zip(touch.slip, bent, strict=True)]
            forces = [-stiffness * z for z in bent]
            stored = sum(stiffness * z * z / 2 for z in bent)
            loss = sum(stiffness * z * (v - r) for z, v, r in zip(bent, touch.slip, rates, strict=True))
            return Push(forces, rates=dict(zip(touch.states, rates, strict=True)), loss=loss, stored=stored)

    model = trundle.derive(parse_robot(cart(contact="dahl")))
    assert model.units["l.rolling_deflection"] == "m"
    run = trundle.simulate(model, 0.5, {"lm.torque": 4.0, "rm.torque": 5.0})
    assert run.summary["energy_imbalance"] <= 1e-6 * run.summary["energy_turned_over"]
    assert json.dumps(sorted(run.final)) == json.dumps(sorted(model.states))


@pytest.mark.parametrize("slips", [False, True])
def test_a_moment_about_the_axle_slows_the_wheel(guests, slips):
    """Rolling resistance c N R against the spin, on a wheel that rolls and on one that slips: v̇ = −c g, balanced."""
    base = Slip if slips else Ideal

    @register
    class Resisted(base):
        type: Literal["resisted"] = "resisted"  # pyright: ignore[reportIncompatibleVariableOverride]
        resists: ClassVar[bool] = True
        resistance: Ratio = default(0.02, "Rolling resistance.")

        def push(self, touch: Touch, read: Read) -> Push:
            forces = super().push(touch, read).forces if slips else ()
            against = smooth_sign(touch.rim, 1e-4)
            return Push(forces, moment=-read(self.resistance) * touch.load * touch.radius * against)

    robot = parse_robot({**cart(contact="resisted", mass=0.0, inertia={"axle": 1e-6, "diameter": 1e-6})})
    start = {"v_x": 1.0} if not slips else {"v_x": 1.0, "l.rate": 10.0, "r.rate": 10.0}
    run = trundle.simulate(trundle.derive(robot), 1.0, initial=start)
    assert run.final["v_x"] == pytest.approx(1.0 - 0.02 * 9.81, rel=1e-3)
    assert run.summary["energy_imbalance"] <= 1e-6 * run.summary["energy_turned_over"]
    names = {e.name for s in trundle.equations(robot).sections for e in s.equations}
    assert "l.moment" in names
    winding = {"torque_constant": 0.5, "resistance": 1.0, "voltage_limit": 12}
    driven = parse_robot(plain(robot) | {"motors": {f"{k}m": {"drives": k, **winding} for k in "lr"}})
    found = trundle.analyze(driven).top_speed
    assert found is not None
    given = dict.fromkeys(("lm.voltage", "rm.voltage"), 12.0)
    fast = trundle.simulate(driven, 60.0, given, initial={"v_x": found.speed})
    resisted = 0.02 * 20 * 9.81 / 2 * 0.1  # of each wheel (N m)
    assert found.speed == pytest.approx(0.1 * (12 - resisted / 0.5) / 0.5)
    assert fast["v_x"][-1] == pytest.approx(found.speed, rel=1e-3)


def test_the_schema_describes_own_kinds_by_their_first_line():
    from trundle.documents import json_schema

    example("own_motor")
    said = json_schema()["$defs"]["SeriesMotor"]["properties"]["type"]["description"]  # pyright: ignore
    assert said.startswith("series: A series-wound motor")


CELL = """
from typing import Literal
import trundle
from trundle.robot import ContactLaw, Push, register

@register
class Sticky(ContactLaw):
    \"\"\"A damper of so many N s/m.\"\"\"

    type: Literal["sticky_cell"] = "sticky_cell"

    def push(self, touch, read):
        return Push([-GAIN * slip for slip in touch.slip])
"""


def test_a_cell_that_runs_again_defines_its_kind_anew(guests):
    """The second definition counts; a class from elsewhere can't take the name."""
    names = {"__name__": "__main__"}
    text = """
robot:
  name: cart
  body: {mass: 1, inertia: {zz: 1}}
  wheels: {one: {at: [0, 0, 0], radius: 0.1, mass: 1, width: 0.1, contact: sticky_cell}}
"""
    forces = []
    for gain in ("1", "1", "3"):
        exec(CELL.replace("GAIN", gain), names)
        model = trundle.derive(trundle.load(yaml.safe_load(text)))
        run = trundle.simulate(model, 0.01, initial={"v_y": 1.0}, samples=2)
        forces.append(float(run["one.side_force"][0]))
    assert forces == pytest.approx([-1, -1, -3])
    with pytest.raises(InputError, match="is taken by Sticky"):
        exec(CELL.replace("GAIN", "1"), {"__name__": "elsewhere"})


def test_defaults_of_ones_own_kind_are_parameters():
    """They can be set like numbers that stand in the file; a class that says which count is believed."""

    class Soft(ContactLaw):
        type: Literal["soft"] = "soft"
        give: Stiffness = default(2000.0, "Stiffness (N/m).")

        def push(self, touch, read):
            return Push([-read(self.give) * v for v in touch.slip])

    class Silent(Soft):
        type: Literal["silent"] = "silent"  # pyright: ignore[reportIncompatibleVariableOverride]

        def default_counts(self, field):
            return field == "friction"

    for law in (Soft, Silent):
        register(law)
    wheel = {"type": "fixed", "at": [0, 0, 0], "radius": 0.1, "mass": 1}
    body = {"mass": 5, "inertia": {"zz": 1}}
    wheels = {law: {**wheel, "contact": law} for law in ("soft", "silent")}
    robot = trundle.load({"robot": {"name": "sledge", "body": body, "wheels": wheels}})
    own = [name.removeprefix("wheels.") for name in robot.parameter_values() if name.startswith("wheels.")]
    assert [name for name in own if name.endswith(("give", "friction", "slip_speed"))] == [
        "soft.friction", "soft.slip_speed", "soft.give", "silent.friction"
    ]  # fmt: skip
    assert trundle.derive(robot).parameter_values({"wheels.soft.give": "3 kN/m"})["wheels.soft.give"] == 3000
