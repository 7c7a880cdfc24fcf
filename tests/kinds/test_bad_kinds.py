"""Kinds from outside the package that go wrong: an InputError with the class, the line and what was expected."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import pytest

import trundle
from trundle.errors import InputError
from trundle.robot import (
    ContactLaw,
    Drive,
    Effort,
    Motor,
    Push,
    Read,
    RollingWheel,
    State,
    Touch,
    WheelAppearance,
    WoundMotor,
    parse_robot,
    register,
    units,
)
from trundle.robot.contact import LAWS
from trundle.robot.motors import MOTORS
from trundle.robot.wheels import TRACTION, WHEELS, ContactDirection, PivotedWheel


@pytest.fixture(autouse=True)
def _guests() -> Iterator[None]:
    """Takes away what a test registers."""
    before = [dict(family._members) for family in (LAWS, MOTORS, WHEELS)]
    yield
    for family, members in zip((LAWS, MOTORS, WHEELS), before, strict=True):
        family._members = members


def cart(contact: str = "slip", motor: str = "torque") -> trundle.Robot:
    wheel = {"radius": 0.1, "mass": 2.0, "contact": contact}
    return parse_robot(
        {
            "body": {"mass": 20.0, "inertia": {"zz": 1.0}},
            "wheels": {"l": {"at": [0, 0.2, 0], **wheel}, "r": {"at": [0, -0.2, 0], **wheel}},
            "motors": {"lm": {"type": motor, "drives": "l"}, "rm": {"type": "torque", "drives": "r"}},
        }
    )


def law(answer: Callable[[Touch], Any], **own: Any) -> None:
    """Registers the law "guest" with this push."""

    class Guest(ContactLaw):
        type: Literal["guest"] = "guest"
        outputs = own.get("outputs", {})

        def states(self, read: Read, directions: Any) -> Mapping[str, State]:
            return own.get("states", {})

        def push(self, touch: Touch, read: Read) -> Push:
            return answer(touch)

    register(Guest)


def motor(answer: Callable[[Drive], Any], **own: Any) -> None:
    """Registers the motor "guest" with this effort."""

    class Guest(Motor):
        type: Literal["guest"] = "guest"
        command = own.get("command", "torque")
        commands = own.get("commands", units.TORQUE)

        def states(self, read: Read) -> Mapping[str, State]:
            return own.get("states", {})

        def effort(self, drive: Drive, read: Read) -> Effort:
            return answer(drive)

        def armature(self, read: Read) -> float:
            return own.get("armature", lambda: 0.0)()

        def greatest_torque(self, drive: Drive, read: Read) -> float | None:
            return own.get("greatest_torque", lambda: None)()

    register(Guest)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda touch: None, r"Guest gives None .*\n.*expected trundle\.robot\.Push"),
        (lambda touch: [0, 0], r"Guest gives \[0, 0\]"),
        (lambda touch: Push(0.0), r"Guest gives Push\(forces=0.0"),  # type: ignore[arg-type]
        (
            lambda touch: Push([touch.states["z"], 0]),
            r"Guest\.push failed \(test_bad_kinds.py:\d+\): KeyError: 'z'",
        ),
        (lambda touch: Push([touch.spin, 0]), r"Guest\.push failed .*AttributeError"),
        (
            lambda touch: Push([math.tanh(v) for v in touch.slip]),
            r"Guest\.push failed .*TypeError(.|\n)*read\(self",
        ),
        (lambda touch: Push([v if v > 0 else 0 for v in touch.slip]), r"Guest\.push failed .*TypeError"),
        (lambda touch: Push([0, 0], outputs={"heat": 1}), r"Guest gives 2 forces .* and outputs heat"),
    ],
)
def test_a_law_whose_push_goes_wrong(answer, message):
    law(answer)
    with pytest.raises(InputError, match=message) as caught:
        trundle.derive(cart("guest"))
    assert caught.value.key == "robot.wheels.l.contact"


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ({"angle": State(units.LENGTH)}, r"'angle', but there is a l\.angle already\n.*taken are l\.angle, "),
        ({"z": State(units.LENGTH, math.nan)}, "starts its state 'z' at nan"),
        ({"z": State("m")}, "state 'z' that it measures 'm'"),  # type: ignore[arg-type]
        ({"a b": State(units.LENGTH)}, "has a state 'a b'"),
        ({"z": 0.0}, r"says of its states: \{'z': 0.0\}"),
        (["z"], r"says of its states: \['z'\]"),
    ],
)
def test_a_law_with_states_that_cannot_be(states, message):
    law(lambda touch: Push([0, 0], rates=dict.fromkeys(states, 0)), states=states)
    with pytest.raises(InputError, match=message):
        trundle.derive(cart("guest"))


def test_an_output_with_a_name_that_is_taken():
    law(lambda touch: Push([0, 0], outputs={"traction": 0}), outputs={"traction": units.FORCE})
    with pytest.raises(InputError, match=r"there is a l\.traction already"):
        trundle.derive(cart("guest"))


@pytest.mark.parametrize(
    ("answer", "own", "message"),
    [
        (lambda drive: None, {}, r"Guest gives None for the motor 'lm'\n.*expected trundle\.robot\.Effort"),
        (lambda drive: drive.command, {}, "Guest gives 0.0"),
        (lambda drive: {}["k"], {}, r"Guest\.effort failed \(test_bad_kinds.py:\d+\): KeyError"),
        (lambda drive: Effort(0), {"armature": lambda: 1 / 0}, r"Guest\.armature failed .*ZeroDivisionError"),
        (lambda drive: Effort(0), {"armature": lambda: math.nan}, "Guest gives .*nan"),
        (
            lambda drive: Effort(0, rates={"torque": 0}),
            {"states": {"torque": State(units.TORQUE)}},
            "lm.torque already",
        ),
    ],
)
def test_a_motor_that_goes_wrong(answer, own, message):
    motor(answer, **own)
    with pytest.raises(InputError, match=message) as caught:
        trundle.derive(cart(motor="guest"))
    assert caught.value.key == "robot.motors.lm"


def test_a_motor_whose_armature_is_no_number():
    motor(lambda drive: Effort(drive.command), armature=lambda: "heavy")
    with pytest.raises(InputError, match="Guest gives 'heavy' for its armature") as caught:
        trundle.derive(cart(motor="guest"))
    assert caught.value.key == "robot.motors.lm"


def test_a_motor_whose_greatest_torque_fails():
    motor(lambda drive: Effort(drive.command), greatest_torque=lambda: 1 / 0)
    with pytest.raises(InputError, match=r"Guest\.greatest_torque failed"):
        assert trundle.analyze(trundle.derive(cart(motor="guest"))).manipulability.fastest


@pytest.mark.parametrize("own", [{"command": "a b"}, {"commands": "V"}])
def test_a_command_that_cannot_be_named_or_measured(own):
    with pytest.raises(InputError, match="Guest (has a|says of its) command"):
        motor(lambda drive: Effort(0), **own)


@pytest.mark.parametrize("name", ["", "my law", "2nd"])
def test_a_name_that_descriptions_cannot_use(name):
    class Guest(ContactLaw):
        type: Literal[name] = name  # type: ignore[valid-type]

        def push(self, touch: Touch, read: Read) -> Push:
            return Push([0 for _ in touch.slip])

    with pytest.raises(InputError, match="Guest has a name that descriptions can't use"):
        register(Guest)


def test_a_name_that_nobody_knows_says_how_kinds_become_known():
    with pytest.raises(InputError, match="unknown contact 'dugoff'") as caught:
        cart("dugoff")
    assert "trundle.register" in str(caught.value)


@pytest.mark.parametrize(
    ("loads", "message"),
    [
        (
            lambda: __import__("no_such_module"),
            "can't be loaded: ModuleNotFoundError: No module named 'no_such",
        ),
        (lambda: trundle.robot.TorqueMotor, "brings a kind of the name 'torque'"),
        (lambda: 42, "brings no kind: register takes a class of one of .* not 42"),
    ],
)
def test_an_installed_package_whose_kind_cannot_be_had(loads, message, monkeypatch):
    class Entry:
        name, value = "hoist", "hoists:Winch"

        def load(self) -> Any:
            return loads()

    def entry_points(group: str, name: str) -> list[Entry]:
        return [Entry()] if name == "hoist" else []

    monkeypatch.setattr("trundle.robot.kinds.entry_points", entry_points)
    with pytest.raises(InputError, match=f"entry point hoist = hoists:Winch .*{message}"):
        cart(motor="hoist")


def test_states_that_are_no_currents_are_not_called_so():
    law(lambda touch: Push([-v for v in touch.slip], rates={"z": 0}), states={"z": State(units.LENGTH)})
    assert "2 further states" in str(trundle.derive(cart("guest")))
    assert "2 currents" in str(trundle.derive(trundle.catalog.differential_drive(inductance=1e-3)))


def test_a_state_that_explodes_says_when_and_what_that_means():
    """ż = z² + 1 from 1: tan(t + π/4), a pole at π/4."""

    def explodes(touch: Touch) -> Push:
        z = touch.states["z"]
        return Push([-v - z for v in touch.slip], rates={"z": z * z + 1}, loss=0)

    law(explodes, states={"z": State(units.LENGTH, 1.0)})
    model = trundle.derive(cart("guest"))
    with pytest.raises(
        trundle.NumericsError, match=r"t = 0\.785\d* s: the robot is singular there or the motion"
    ):
        trundle.simulate(model, 5.0)
    with pytest.raises(trundle.NumericsError, match=r"diverged by t = 0\.78"):
        trundle.rollout(model, steps=5000, dt=1e-3)


@pytest.mark.parametrize(
    ("directions", "centre", "message"),
    [
        (None, (0, 0), "gives the directions None"),
        ((TRACTION, TRACTION), (0, 0), "gives the directions "),
        ((ContactDirection("push", "rolling", math.nan, 0),), (0, 0), "gives the directions .*nan"),
        ((TRACTION,), None, "gives the centre None"),
        ((TRACTION,), (math.nan, 0), r"gives the centre \(nan, 0\)"),
    ],
)
def test_a_wheel_whose_directions_or_centre_cannot_be(directions, centre, message, monkeypatch):
    monkeypatch.setattr(WHEELS, "_members", dict(WHEELS._members))

    class Guest(PivotedWheel):
        type: Literal["guest"] = "guest"
        is_steered = True

        def directions(self, read: Read) -> Any:
            return directions

        def centre(self, read: Read) -> Any:
            return centre

    register(Guest)
    wheels = {"l": {"type": "guest", "radius": 0.1, "mass": 1}}
    with pytest.raises(InputError, match=f"Guest {message}") as caught:
        trundle.derive(parse_robot({"body": {"mass": 20, "inertia": {"zz": 1}}, "wheels": wheels}))
    assert caught.value.key == "robot.wheels.l"


def test_a_motor_for_batteries_says_what_its_winding_is():
    class Guest(WoundMotor):
        type: Literal["guest"] = "guest"

        def effort(self, drive: Drive, read: Read) -> Effort:
            return Effort(0)

    with pytest.raises(InputError, match="Guest says nothing about its winding"):
        register(Guest)


def test_a_motor_that_holds_says_its_acceleration():
    class Guest(Motor):
        type: Literal["guest"] = "guest"
        holds = True

        def effort(self, drive: Drive, read: Read) -> Effort:
            return Effort(0)

    with pytest.raises(InputError, match="Guest says nothing about its acceleration"):
        register(Guest)


@pytest.mark.parametrize("answer", ["ab", ("a", "b"), None, (1.0,), (object(), 0), (math.nan, 0.0)])
def test_a_wheel_whose_centre_goes_wrong(answer):
    class Beside(PivotedWheel):
        type: Literal["beside"] = "beside"

        def centre(self, read):
            return answer

    register(Beside)
    wheels = {
        "one": {"type": "beside", "at": [0.2, 0, 0], "radius": 0.1},
        "two": {"type": "fixed", "radius": 0.1},
    }
    with pytest.raises(
        InputError, match=r"robot\.wheels\.one: Beside gives the centre .*\n.*two finite numbers"
    ):
        trundle.derive(
            {"robot": {"name": "cart", "body": {"mass": 5, "inertia": {"zz": 1}}, "wheels": wheels}}
        )


@pytest.mark.parametrize(
    "answer", ["round", None, (0.1,), WheelAppearance("wide"), WheelAppearance(roller_angle=math.inf)]
)
def test_a_wheel_whose_look_goes_wrong(answer):
    class Odd(RollingWheel):
        type: Literal["odd"] = "odd"

        def look(self, read):
            return answer

    register(Odd)
    wheels = {"one": {"type": "odd", "radius": 0.1}}
    robot = {"robot": {"name": "cart", "body": {"mass": 5, "inertia": {"zz": 1}}, "wheels": wheels}}
    with pytest.raises(
        InputError, match=r"robot\.wheels\.one: Odd gives the look .*\n.*trundle\.robot\.Look"
    ):
        trundle.to_svg(trundle.load(robot))
