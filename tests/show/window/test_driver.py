"""Driving: what keys and sticks make of a robot's inputs, how the motion keeps up with the clock, what comes back."""

import time
from pathlib import Path

import numpy as np
import pygame
import pytest

import trundle
from parameters import mostly_slow
from trundle.errors import NumericsError
from trundle.show.window import display, driver
from trundle.show.window.bases import Wish
from trundle.show.window.driver import STEP, Driver, problem_of, sticks
from trundle.show.window.overlay import amount

_COMPETITION = Path(__file__).parents[3] / "examples" / "battery" / "competition_swerve.yaml"
SIZE = (900, 600)
UP, DOWN, LEFT, RIGHT = pygame.K_UP, pygame.K_DOWN, pygame.K_LEFT, pygame.K_RIGHT
STILL = {name: trundle.catalog.document(name) for name in ("offset_drive", "four_bar")}


@pytest.fixture
def screen():
    with display.opened("test", SIZE) as found:
        yield found


def key(code, down=True):
    return pygame.event.Event(pygame.KEYDOWN if down else pygame.KEYUP, key=code)


def hold(found, codes, seconds):
    """Hold keys for so long, as fast as the machine can."""
    for code in codes:
        found.handle(key(code))
    for _ in range(round(seconds / STEP)):
        found.due = STEP
        assert found._step(), found.failed
    for code in codes:
        found.handle(key(code, down=False))
    return found.stepper.values


def along(found, values):
    """The base's velocity in its own frame and its turning rate, by the poses of the last two steps."""
    (a, b), theta = found.trail[-2:], values["theta"]
    x, y = (b - a) / STEP
    return np.cos(theta) * x + np.sin(theta) * y, np.cos(theta) * y - np.sin(theta) * x


SIDEWAYS = {
    "differential_drive": False,
    "swerve": True,
    "mecanum": True,
    "three_omni": True,
    "skid_steer": False,
    "ackermann": False,
    "tricycle": False,
    "offset_drive": False,
}


@pytest.mark.parametrize("name", mostly_slow(SIDEWAYS, ["differential_drive", "swerve"]))
def test_every_base_on_wheels_goes_where_the_keys_say(name, screen):
    sideways = SIDEWAYS[name]
    found = Driver(problem_of(trundle.catalog.document(name), None, None), SIZE, 1.0)
    before = hold(found, (UP,), 2.0)
    assert along(found, before) == pytest.approx((found.speed, 0), abs=0.02 * found.speed)
    after = hold(found, (UP, LEFT), 1.0)
    assert after["theta"] - before["theta"] > 0.1  # skidding wheels turn a base slowly
    stopped = hold(found, (), 2.0)
    assert np.hypot(*along(found, stopped)) < 0.02 * found.speed
    back = hold(found, (DOWN,), 1.5)
    assert along(found, back)[0] == pytest.approx(-found.speed, rel=0.05)
    hold(found, (), 1.5)
    aside = hold(found, (pygame.K_a,), 1.0)
    forward, left = along(found, aside)
    if sideways:
        assert left == pytest.approx(found.speed, rel=0.15)
        assert abs(forward) < 0.15 * found.speed
    elif found.pilot.base.axle is None:
        assert aside["theta"] > back["theta"] + 0.1


def test_a_robot_whose_wheels_rates_are_given_is_driven_without_masses(screen):
    found = Driver(problem_of("examples/kinematic/two_wheels.yaml", None, None), SIZE, 1.0)
    assert tuple(found.pilot.laws) == ("left.rate", "right.rate")
    values = hold(found, (UP,), 1.0)
    assert values["left.rate"] == values["right.rate"] == pytest.approx(found.speed / 15.0)
    assert along(found, values) == pytest.approx((found.speed, 0.0))


def test_changed_places_and_radii_of_wheels_count(screen):
    """A base turned by one wish turns as fast with its wheels farther apart: they turn faster, ω s/(2 r)."""
    rates = []
    for changed in ({}, {"s": 120.0, "r": 10.0}):
        driven = Driver(problem_of("examples/kinematic/two_wheels.yaml", None, changed), SIZE, 1.0)
        commands = driven.pilot.commands(Wish(turn=1.0), driven.pilot.size, driven.stepper.values)
        rates.append(commands["right.rate"])
    assert rates[1] == pytest.approx(rates[0] * (120 / 60) / (10 / 15))


@pytest.mark.parametrize("name", ["differential_drive", "swerve", "four_bar", "ackermann"])
@pytest.mark.slow
def test_what_was_driven_is_what_simulating_the_same_inputs_gives(name, screen):
    document = trundle.catalog.document(name)
    found = Driver(problem_of(document, None, None), SIZE, 1.0)
    for codes, seconds in (((UP,), 0.7), ((UP, LEFT), 0.5), ((RIGHT,), 0.3)):
        hold(found, codes, seconds)
    run = found.stepper.run()
    assert run.duration == pytest.approx(1.5)
    given = {each: (run.time, run[each], "previous") for each in run.groups["inputs"]}
    start = {each: run[each][0] for each in run.states}
    again = trundle.simulate(document, inputs=given, initial=start, times=run.time, progress=False)
    for each in run.states:
        np.testing.assert_allclose(run[each], again[each], atol=1e-4 * max(1.0, np.abs(again[each]).max()))
    assert run.summary["energy_imbalance"] < 1e-4 * run.summary["energy_turned_over"]


@pytest.mark.slow
def test_other_inputs_are_on_keys_targets_stay_and_forces_end(screen):
    found = Driver(problem_of(STILL["offset_drive"], None, None), SIZE, 1.0)
    assert found.hand.names == ("steering_servo.angle",)
    hold(found, (pygame.K_u,), 0.5)
    assert found.stepper.values["steering_servo.angle"] == pytest.approx(0.5)
    hold(found, (), 0.5)
    assert found.stepper.values["steering_servo.angle"] == pytest.approx(0.5)
    bar = Driver(problem_of(STILL["four_bar"], None, None), SIZE, 1.0)
    assert hold(bar, (RIGHT,), 0.5)["motor.voltage"] > 0
    assert hold(bar, (LEFT,), 0.1)["motor.voltage"] < 0
    assert hold(bar, (), 0.1)["motor.voltage"] == 0


@pytest.mark.slow
def test_tab_gives_keys_to_the_next_inputs(screen):
    joints, parent = {}, "base"
    for k in range(10):
        body = {"name": f"b{k}", "mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
        joints[f"j{k}"] = {
            "type": "revolute",
            "axis": [0, 1, 0],
            "at": [0.1, 0, 0],
            "parent": parent,
            "body": body,
        }
        parent = f"b{k}"
    motors = {f"m{k}": {"type": "torque", "drives": f"j{k}"} for k in range(10)}
    found = Driver(
        problem_of({"robot": {"name": "arm", "joints": joints, "motors": motors}}, None, None), SIZE, 1.0
    )
    assert list(found.hand.keys) == [f"m{k}.torque" for k in range(8)]
    found.handle(key(pygame.K_TAB))
    assert list(found.hand.keys) == ["m8.torque", "m9.torque"]
    found.handle(key(pygame.K_TAB))
    assert len(found.hand.keys) == 8
    found.draw(screen)


def test_keys_let_go_elsewhere_are_let_go_and_the_clock_stops(screen):
    found = Driver(problem_of(trundle.catalog.differential_drive(), None, None), SIZE, 1.0)
    found.handle(key(UP))
    assert found.wish_of_keys() == Wish(forward=1.0)
    found.handle(pygame.event.Event(pygame.WINDOWFOCUSLOST))
    assert found.wish_of_keys() == Wish()
    found.handle(key(pygame.K_SPACE))
    found.advance(0.1)
    assert found.stepper.time == 0
    found.handle(key(pygame.K_SPACE))
    found.advance(STEP)
    assert found.stepper.time == pytest.approx(STEP)
    found.handle(key(pygame.K_r))
    assert found.stepper.time == 0
    assert len(found.trail) == 1


class Pad:
    def __init__(self, **axes):
        self.axes = {getattr(pygame, f"CONTROLLER_AXIS_{name}"): value for name, value in axes.items()}

    def attached(self):
        return True

    def get_axis(self, axis):
        return self.axes.get(axis, 0)


@pytest.mark.slow
def test_sticks_drive_and_turn_and_are_still_near_the_middle(screen):
    assert sticks(None) == (0, 0, 0)
    assert sticks(Pad(LEFTX=3000, LEFTY=-3000, RIGHTX=2000)) == (0, 0, 0)
    found = Driver(problem_of(trundle.catalog.swerve(), None, None), SIZE, 1.0)
    found.gamepad = Pad(LEFTY=-32767, LEFTX=16384, RIGHTX=-32767)
    assert found.wish_of_keys() == Wish(1.0, pytest.approx(-0.5, abs=1e-3), 1.0)


@pytest.mark.slow
def test_being_slower_than_real_time_is_said(screen, monkeypatch):
    found = Driver(problem_of(trundle.catalog.differential_drive(), None, None), SIZE, 1.0)
    said = []
    monkeypatch.setattr(driver, "draw_message", lambda screen, pen, words: said.append(words))
    step = found.stepper.step

    def slowly(*given):
        time.sleep(2 * STEP)
        step(*given)

    for _ in range(5):
        found.advance(STEP)
        found.draw(screen)
    assert not said
    monkeypatch.setattr(found.stepper, "step", slowly)
    for _ in range(60):
        found.advance(2 * STEP)
        found.draw(screen)
    assert said[-1].startswith("slower than real time: × 0.5")
    assert found.due <= 0.1  # what can't be made up for is let go


def test_numbers_that_fail_are_said_and_r_starts_anew(screen, monkeypatch):
    found = Driver(problem_of(trundle.catalog.differential_drive(), None, None), SIZE, 1.0)
    found.advance(0.1)

    def fails(*given):
        raise NumericsError("the robot is singular there")

    monkeypatch.setattr(found.stepper, "step", fails)
    found.advance(0.1)
    assert found.failed == "the robot is singular there; R starts anew"
    found.draw(screen)
    found.handle(key(pygame.K_r))
    assert not found.failed


def test_drive_gives_back_a_run_that_can_be_kept(tmp_path, monkeypatch):
    events = iter([[key(UP)], [], [key(pygame.K_RIGHTBRACKET)]])
    monkeypatch.setattr(pygame.event, "get", lambda: next(events, []))
    run = trundle.window.drive(trundle.catalog.differential_drive(), duration=0.3, speed=1.0)
    assert run.duration == pytest.approx(0.3)
    assert run["right_motor.voltage"].max() > 0
    assert not pygame.display.get_init()
    kept = trundle.Run.load(run.save(tmp_path / "driven.nc"))
    trundle.window.play(kept, speed=10, close=True)


def test_an_interrupt_closes_the_window_and_keeps_what_was_driven(monkeypatch):
    frames = iter(range(30))

    def interrupted():
        if next(frames, None) is None:
            raise KeyboardInterrupt
        return []

    monkeypatch.setattr(pygame.event, "get", interrupted)
    run = trundle.window.drive(trundle.catalog.differential_drive())
    assert run.duration > 0
    assert not pygame.display.get_init()


def test_what_cant_be_driven_is_said(tmp_path):
    with pytest.raises(trundle.InputError, match="positive number"):
        trundle.window.drive(trundle.catalog.swerve(), speed=-1)
    with pytest.raises(trundle.InputError, match="drive takes|run takes"):
        trundle.window.drive(3)


@pytest.mark.slow
def test_forward_is_up_in_the_picture_where_it_is_driven_by_the_field(screen):
    """↑ goes along the world's y and A against its x, of a swerve that stands turned; else along its own front."""
    found = Driver(problem_of(trundle.catalog.document("swerve"), {"theta": 1.0}, None), SIZE, 1.0)
    assert not found.field
    values = hold(found, (UP,), 1.0)
    assert along(found, values) == pytest.approx((found.speed, 0), abs=0.05 * found.speed)
    hold(found, (), 1.0)
    found.handle(key(pygame.K_c))
    assert found.field
    for code, way in ((UP, (0, 1)), (pygame.K_a, (-1, 0))):
        hold(found, (code,), 1.5)
        step = (found.trail[-1] - found.trail[-2]) / STEP
        assert step == pytest.approx(np.multiply(way, found.speed), abs=0.05 * found.speed)
        hold(found, (), 1.0)


@pytest.mark.slow
def test_changing_the_frame_changes_nothing_by_itself(screen):
    found = Driver(problem_of(trundle.catalog.document("swerve"), {"theta": 0.7}, None), SIZE, 1.0)
    found.wish = Wish(0.8, -0.3, 0.2)
    angle = found._field_angle
    found.handle(key(pygame.K_c))
    in_picture = found.wish.turned(angle)
    assert (in_picture.forward, in_picture.left, in_picture.turn) == pytest.approx((0.8, -0.3, 0.2))
    found.handle(key(pygame.K_c))
    assert (found.wish.forward, found.wish.left) == pytest.approx((0.8, -0.3))
    car = Driver(problem_of(trundle.catalog.document("ackermann"), None, None), SIZE, 1.0)
    car.handle(key(pygame.K_c))
    assert not car.field


@pytest.mark.slow
def test_a_battery_is_shown_and_no_motor_is_asked_for_more_than_it_has(screen):
    """Keys give 60 % of the top speed at first; twice that saturates."""
    found = Driver(problem_of(_COMPETITION, None, None), SIZE, 1.0)
    top = trundle.analyze(_COMPETITION).top_speed
    assert top is not None
    assert found.speed == pytest.approx(0.6 * top.speed)
    found.speed *= 2
    asked = []
    found.handle(key(UP))
    for _ in range(40):
        found.due = STEP
        assert found._step(), found.failed
        asked.append(
            max(abs(found.stepper.values[f"{side}_drive.voltage"]) for side in ("front_left", "rear_right"))
        )
    assert 12.5 < max(asked) <= 12.9
    speed, battery, keys, most = found._readings()
    values = found.stepper.values
    assert float(speed.removesuffix(" m/s")) == pytest.approx(
        np.hypot(values["v_x"], values["v_y"]), rel=0.05
    )
    assert battery.startswith(f"battery {values['battery.voltage']:.1f}".rstrip("0").rstrip("."))
    assert battery.endswith(" V, 100 %")
    assert (keys, most) == (f"keys give {found.speed:.2f} m/s", f"top speed {top.speed:.2f} m/s")
    found.draw(screen)


@pytest.mark.parametrize(
    ("value", "words"),
    [(12.0, "12 V"), (-0.001, "0 V"), (7.456, "7.46 V"), (-3.5, "-3.5 V"), (100.0, "100 V")],
)
def test_amounts_are_written_without_idle_zeros(value, words):
    assert amount(value, "V") == words
