"""A robot driven: keys or a gamepad set its inputs, and its motion is simulated as fast as the clock goes."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial

import numpy as np
import pygame
from pygame._sdl2 import controller

from trundle.arrays import FloatArray
from trundle.errors import InputError, NumericsError
from trundle.model.arguments import Given
from trundle.model.mechanism import mechanism
from trundle.model.rolling_motion import rate_names
from trundle.results import Run
from trundle.show.drawing.scene import Scene, project
from trundle.show.drawing.scenes import mover
from trundle.show.window.bases import Wish
from trundle.show.window.camera import Camera, fitted
from trundle.show.window.display import Pen, keep_open, opened, unit_of_screen
from trundle.show.window.ground import TrailGround
from trundle.show.window.hand import hand_of
from trundle.show.window.overlay import (
    amount,
    battery_words,
    draw_help,
    draw_inputs,
    draw_message,
    draw_scale,
    draw_status,
    draw_title,
)
from trundle.show.window.painting import paint, paint_ring
from trundle.show.window.pilot import Pilot
from trundle.show.window.sight import WindowView
from trundle.simulation.kinematic import kinematic_problem
from trundle.simulation.problem import Problem
from trundle.simulation.runfile import Changes, task_of
from trundle.simulation.stepper import Stepper

# A step (s), as long as a usual screen's frame: inputs hold over it, as a controller of 60 Hz has them.
STEP = 1 / 60
# Of the time between two frames so much goes into steps, the rest into drawing; and what can't be made up for is let
# go (s), as the robot would race behind a stutter.
_WORK, _LATE = 0.8, 0.1
# A wish changes by so much a second: full speed in 0.2 s, and no jump that spins the wheels.
_EAGER = 5.0
# By how much a key makes it faster or slower. A stick nearer to its middle counts as let go: few come back wholly.
_FASTER, _LOOSE = 1.25, 0.15
# The robot fills so much of the window at first, with room to drive around it.
_SHOWN = 0.16
# Slower than real time by more than this is said; less nobody sees, and the clock of frames varies as much.
_SLOW = 0.95

HELP = (
    ("↑ ↓, W S", "forward, back"),
    ("← →", "turn; a car: steer"),
    ("A D", "sideways, if the robot can; else turn"),
    ("C", "if it can: ↑ is up in the picture, or the robot's front"),
    ("gamepad", "left stick: drive, right stick: turn"),
    ("[ ]", "slower, faster"),
    ("Tab", "keys for the next inputs"),
    ("Space", "stop the clock, go on"),
    ("R", "from the start"),
    ("wheel, + −", "closer, further"),
    ("drag, F", "move the picture, follow the robot"),
    ("0", "see everything"),
    ("H", "this help, or not"),
    ("Esc, Q", "close"),
)
_STEERED = {pygame.K_UP, pygame.K_DOWN, pygame.K_LEFT, pygame.K_RIGHT}
_STEERED |= {pygame.K_w, pygame.K_a, pygame.K_s, pygame.K_d}


class Driver:
    """A problem in a window, simulated while the clock runs."""

    def __init__(
        self, problem: Problem, size: tuple[int, int], unit: float, voltage: float | None = None
    ) -> None:
        """Set up a robot to be driven from the start of a problem, in a window of `size` pixels, `unit` for a point.

        voltage: as for `top_speed` (V).
        """
        robot = problem.system.robot
        assert robot is not None
        self.stepper, self.pen, self.name = Stepper(problem), Pen(unit), robot.name
        self.moved = mover(robot, problem.parameters)
        self.scene = self._scene()
        self.view = self.scene.projection
        self.pilot = Pilot(problem, self.scene.size, voltage)
        self.hand = hand_of(problem, self.pilot)
        self.ground, self.trail = TrailGround(grid=bool(self.view), width=unit), [self._place()]
        self.everything = self._everything(size)
        self.sight = WindowView(
            self.everything, self.everything, self.scene.size, follows=self.scene.base != "fixed"
        )
        self.held, self.wish, self.speed, self.share = set[int](), Wish(), self.pilot.usual, 1.0
        self.runs, self.helps, self.failed, self.until = True, False, "", np.inf
        self.field = False
        self.due, self.pace = 0.0, 1.0
        self.gamepad = gamepad()

    @property
    def over(self) -> bool:
        """Whether it has been driven for as long as it should."""
        return self.stepper.time >= self.until - STEP / 2

    def _scene(self) -> Scene:
        """The robot as it stands now."""
        return self.moved({name: np.array([value]) for name, value in self.stepper.values.items()})

    def _place(self) -> FloatArray:
        """Where the trail goes on, (2,), in the picture's plane."""
        return project(self.scene.place(self.scene.traced), self.view)[0]

    def _everything(self, size: tuple[int, int]) -> Camera:
        """All that was, with room around the robot."""
        around = project(self.scene.extent[0], self.view)
        middle = np.zeros(2) if self.scene.base == "fixed" else self.trail[-1]
        reach = float(np.hypot(*(around - middle).T).max()) or self.scene.size
        room = 1.0 if self.scene.base == "fixed" else 0.5 / _SHOWN
        return fitted(
            np.concatenate(
                [self.trail, middle - room * reach, middle + room * reach, around], axis=None
            ).reshape(-1, 2),
            size,
        )

    def handle(self, event: pygame.event.Event) -> None:
        """A key, the mouse, a gamepad that comes or goes, or another size of the window."""
        if event.type == pygame.VIDEORESIZE:
            self.sight.resized(self._everything((max(event.w, 1), max(event.h, 1))))
        elif event.type == pygame.KEYUP:
            self.held.discard(event.key)
        elif event.type == pygame.WINDOWFOCUSLOST:  # keys are let go elsewhere
            self.held.clear()
        elif event.type in (pygame.JOYDEVICEADDED, pygame.JOYDEVICEREMOVED):
            self.gamepad = gamepad()
        elif event.type == pygame.KEYDOWN and event.key in self._keys:
            self._keys[event.key]()
        elif event.type == pygame.KEYDOWN and event.key in self._drives:
            self.held.add(event.key)
        else:
            if event.type == pygame.KEYDOWN and event.key in (pygame.K_0, pygame.K_KP0, pygame.K_HOME):
                self.sight.everything = self._everything(self.sight.camera.size)
            self.sight.handle(event)

    @property
    def _keys(self) -> dict[int, partial[None]]:
        """What keys do at once, when they go down."""
        return {
            pygame.K_SPACE: partial(setattr, self, "runs", not self.runs),
            **dict.fromkeys((pygame.K_h, pygame.K_F1), partial(setattr, self, "helps", not self.helps)),
            pygame.K_r: partial(self.restart),
            pygame.K_c: partial(self.turn_field),
            pygame.K_TAB: partial(self.hand.turn_over),
            pygame.K_LEFTBRACKET: partial(self.faster, 1 / _FASTER),
            pygame.K_RIGHTBRACKET: partial(self.faster, _FASTER),
        }

    @property
    def _drives(self) -> set[int]:
        """Keys that act for as long as they are held."""
        keys = {key for more, less, _ in self.hand.pairs for key in (more, less)}
        return keys | _STEERED if self.pilot.laws else keys

    def faster(self, factor: float) -> None:
        """More or less of what keys give."""
        self.speed, self.share = self.speed * factor, self.share * factor

    @property
    def strafes(self) -> bool:
        """Whether it moves sideways, so that it may be driven as the field lies."""
        return self.pilot.base is not None and self.pilot.base.strafes

    def turn_field(self) -> None:
        """Let forward be up in the picture, or the robot's own again; what it does now goes on."""
        if self.strafes:
            self.wish = self.wish.turned(-self._field_angle if not self.field else self._field_angle)
            self.field = not self.field

    @property
    def _field_angle(self) -> float:
        """From the robot's axes to those of the picture, whose forward is up: the world's y."""
        return math.pi / 2 - self.stepper.values["theta"]

    def restart(self) -> None:
        """Begin again at the start of the problem, and forget what was driven."""
        self.stepper.restart()
        self.hand = hand_of(self.stepper.problem, self.pilot)
        self.scene = self._scene()
        self.trail, self.failed, self.due, self.wish = [self._place()], "", 0.0, Wish()

    def wish_of_keys(self) -> Wish:
        """What keys and sticks say together."""
        up, left, sideways = (
            sum(key in self.held for key in more) - sum(key in self.held for key in less)
            for more, less in (
                ((pygame.K_UP, pygame.K_w), (pygame.K_DOWN, pygame.K_s)),
                ((pygame.K_LEFT,), (pygame.K_RIGHT,)),
                ((pygame.K_a,), (pygame.K_d,)),
            )
        )
        stick = sticks(self.gamepad)
        forward, aside, turn = up - stick[1], -stick[0], left - stick[2]
        if self.strafes:
            parts = forward, sideways + aside, turn
        else:
            parts = forward, 0.0, turn + sideways + aside
        return Wish(*(min(max(float(part), -1.0), 1.0) for part in parts))

    def advance(self, seconds: float) -> None:
        """Simulate the seconds that have passed, in steps, as far as there is time for them.

        What is left over is due the next time, but never more than `_LATE`: a slow model falls behind the clock.
        """
        if not self.runs or self.failed:
            return
        began, before = time.perf_counter(), self.stepper.time
        self.due += seconds
        while self.due >= STEP and not self.over:
            self.due -= STEP
            if not self._step() or time.perf_counter() - began > _WORK * max(seconds, STEP):
                break
        self.due = min(self.due, _LATE)
        self.pace += 0.05 * ((self.stepper.time - before) / max(seconds, 1e-9) - self.pace)
        self.scene = self._scene()

    def _step(self) -> bool:
        """One step with what is wanted now; False where the numbers fail."""
        self.wish = self.wish.toward(self.wish_of_keys(), _EAGER * STEP)
        state = self.stepper.values
        wish = self.wish.turned(self._field_angle) if self.field else self.wish
        given = self.pilot.commands(wish, self.speed, state) | self.hand.set(self.held, self.share, STEP)
        try:
            self.stepper.step(np.array([given[name] for name in self.stepper.problem.signals]), STEP)
        except NumericsError as error:
            self.failed = f"{str(error).splitlines()[0]}; R starts anew"
            return False
        self.scene = self._scene()
        self.trail.append(self._place())
        return True

    def draw(self, screen: pygame.Surface) -> None:
        """Draw the robot as it is now: ground and trail first, words on top."""
        unit = self.pen.unit
        camera = self.sight.at(self.trail[-1])
        self.ground.draw(screen, camera, self.trail)
        paint(screen, self.scene, self.view, camera, unit)
        if self.sight.loses(unit):
            paint_ring(screen, camera.on_screen(self.trail[-1]), unit)
        front = "field-relative: ↑ is up" if self.field else "robot-relative: ↑ is its front"
        notes = ["following"] * self.sight.follows + [front] * self.strafes
        draw_title(screen, self.pen, self.name, self.view, notes)
        draw_inputs(screen, self.pen, self._inputs())
        draw_scale(screen, self.pen, camera)
        clock = f"{self.stepper.time:.2f} s" + ("" if self.runs else "  stopped")
        draw_status(screen, self.pen, clock, "   ".join(self._readings()))
        if self.failed:
            draw_message(screen, self.pen, self.failed)
        elif self.runs and self.pace < _SLOW:
            draw_message(screen, self.pen, f"slower than real time: × {self.pace:.2f}")
        if self.helps:
            draw_help(screen, self.pen, HELP)

    def _readings(self) -> list[str]:
        """How fast it goes, what its batteries have, and what keys give."""
        values, supplies = self.stepper.values, self.pilot.assembly.supplies
        batteries = [
            battery_words(supply.name, values[supply.voltage.name], values[supply.charge.name])
            for supply in supplies
            if {supply.voltage.name, supply.charge.name} <= values.keys()
        ]
        if not self.pilot.laws:
            return [*batteries, f"keys give × {self.share:.2g}"]
        way = np.diff(self.trail[-2:], axis=0)
        top = [] if self.pilot.top is None else [f"top speed {self.pilot.top:.2f} m/s"]
        return [
            f"{np.linalg.norm(way) / STEP:.2f} m/s", *batteries, f"keys give {self.speed:.2f} m/s", *top
        ]  # fmt: skip

    def _inputs(self) -> list[tuple[str, str, str]]:
        """Each input's keys, name and value with its unit."""
        values, keys, units = self.stepper.values, self.hand.keys, self.stepper.problem.system.units
        return [
            (
                keys[name][2] if name in keys else "",
                name,
                amount(values[name], units.get(name, "")),
            )
            for name in self.stepper.problem.signals
        ]


def gamepad() -> controller.Controller | None:
    """The first gamepad that there is."""
    if not controller.get_init():
        controller.init()
    places = (k for k in range(controller.get_count()) if controller.is_controller(k))
    return next((controller.Controller(k) for k in places), None)


def sticks(pad: controller.Controller | None) -> tuple[float, float, float]:
    """The left stick's way right and down, and the right stick's way right, from -1 to 1; 0 near the middle."""
    if pad is None or not pad.attached():
        return 0.0, 0.0, 0.0
    axes = pygame.CONTROLLER_AXIS_LEFTX, pygame.CONTROLLER_AXIS_LEFTY, pygame.CONTROLLER_AXIS_RIGHTX
    ways = [pad.get_axis(axis) / 32767 for axis in axes]  # of 16 bits
    x, y, turn = (0.0 if abs(way) < _LOOSE else way for way in ways)
    return x, y, turn


def problem_of(
    given: Given, initial: Mapping[str, float | str] | None, parameters: Mapping[str, float | str] | None
) -> Problem:
    """What is driven: what a description's run section says, without its inputs.

    Of a kinematic one every rate is an input, but those of wheels that just roll along: casters, and trailers' wheels.
    """
    task = task_of(given, Changes(parameters=parameters, initial=initial))
    problem = task.integrated
    robot = problem.system.robot
    if robot is None:
        raise InputError(
            f"'{problem.system.name}' was not made from a description: nothing of it can be drawn"
        )
    if task.model is not None:
        return problem
    assembly = mechanism(robot).assembly
    driven = {actuator.column for actuator in assembly.actuators}
    passive = {
        wheel.name
        for wheel in assembly.wheels
        if not (wheel.on_base and wheel.grips)
        or (wheel.component.is_caster and driven.isdisjoint(wheel.columns))
    }
    rates = [name for name in rate_names(assembly) if assembly.quantities[name].owner not in passive]
    start = {**task.spec.initial, **(initial or {})}
    changed = {name: problem.parameters[name] for name in task.changed}
    return kinematic_problem(robot, dict.fromkeys(rates, 0.0), start, changed, problem.options)


def steer(
    problem: Problem,
    speed: float | None,
    duration: float | None,
    size: tuple[int, int],
    voltage: float | None,
) -> Run:
    """Drive a problem in a window; the arguments are those of `trundle.window.drive`, and the run's largest voltage."""
    with opened(f"{problem.system.name} — Trundle", size) as screen:
        driver = Driver(problem, screen.get_size(), unit_of_screen(), voltage)
        driver.speed = driver.speed if speed is None else speed
        driver.until = driver.until if duration is None else duration
        with suppress(KeyboardInterrupt):  # closes it, as its button does: what was driven isn't lost
            keep_open(driver)
    return driver.stepper.run()
