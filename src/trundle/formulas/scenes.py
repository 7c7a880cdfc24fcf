"""Where the numbers of a check come from: the compiled programs, at drawn states and parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from trundle.formulas.comparison import Checker, Scene, columns
from trundle.formulas.kinematics_section import Forward, Sheet
from trundle.formulas.names import rate_of
from trundle.mechanics.linear import apply
from trundle.model.constraints import constraint_rows
from trundle.model.kinematics import derive_kinematics
from trundle.model.mechanism import mechanism
from trundle.model.programs import program_of, symbolic_mechanism
from trundle.model.symbols import Symbols

Numbers = dict[str, Any]


def drawn_letters(sheet: Sheet, checker: Checker) -> dict[int, Any]:
    """Random parameters and coordinates; quaternions have length 1."""
    mechanism = sheet.mechanism
    names = list(mechanism.coordinates)
    drawn = checker.rng.uniform(-1.2, 1.2, (len(names), checker.points))
    for place, name in enumerate(names):
        if name.rpartition(".")[2] == "q_w":
            drawn[place : place + 4] /= np.linalg.norm(drawn[place : place + 4], axis=0)
    letters = checker.parameters(mechanism)
    return {**letters, **dict(zip(mechanism.coordinates.values(), drawn, strict=True))}


def parameter_columns(sheet: Sheet, letters: Mapping[int, Any], points: int) -> np.ndarray:
    """The programs' parameters for numbers of the letters."""
    values = sheet.mechanism.parameters.numbers(letters)
    return columns(list(values), values, points)


def coordinate_numbers(sheet: Sheet, letters: Mapping[int, Any]) -> Numbers:
    """The coordinates by name."""
    return {name: letters[letter] for name, letter in sheet.mechanism.coordinates.items()}


def scene_of(
    sheet: Sheet,
    checker: Checker,
    letters: Mapping[int, Any],
    known: Mapping[str, Any],
    rates: Mapping[str, Any],
) -> Scene:
    """A scene in which every quantity that a program knows has the program's number; what the derivation defines is
    compared with it instead.
    """
    mechanism, book = sheet.mechanism, sheet.mechanism.book
    for name in mechanism.assembly.speeds:
        mechanism.speed(name)
    numbers = dict(letters)
    defined = {}
    for k, entry in enumerate(book.letters):
        if entry.source in known and k not in numbers:
            (numbers if entry.definition is None else defined)[k] = known[entry.source]
    scene = Scene(book, mechanism.letter_values(numbers))
    for entry in book.letters:
        if entry.source in rates and entry.kind in ("coordinate", "speed", "input"):
            scene.symbols[rate_of(entry.name)] = rates[entry.source]
    checker.letters(scene, defined)
    return scene


def forward_scene(sheet: Sheet, checker: Checker, forward: Forward) -> Scene:
    """Drawn rates of the wheels, and the base's motion that the kinematic program finds for them."""
    letters = drawn_letters(sheet, checker)
    given = {
        sheet.mechanism.assembly.speeds[j]: checker.rng.uniform(-3, 3, checker.points)
        for j in forward.columns
    }
    kinematics = derive_kinematics(sheet.mechanism.robot, tuple(given))
    _, outputs = kinematics.program.evaluate(
        columns(kinematics.coordinates, coordinate_numbers(sheet, letters), checker.points),
        columns(kinematics.given, given, checker.points),
        parameter_columns(sheet, letters, checker.points),
    )
    held = dict.fromkeys(sheet.mechanism.assembly.speeds, np.zeros(checker.points))
    return scene_of(
        sheet, checker, letters, {**held, **given, **dict(zip(kinematics.outputs, outputs, strict=True))}, {}
    )


def speed_scene(sheet: Sheet, checker: Checker) -> Scene:
    """Drawn independent speeds, and all speeds as the programs' S(q) has them."""
    letters = drawn_letters(sheet, checker)
    programs = symbolic_mechanism(sheet.mechanism.robot)
    speeds = programs.mechanism.assembly.speeds
    u = {name: checker.rng.uniform(-2, 2, checker.points) for name in programs.labels}
    known = coordinate_numbers(sheet, letters)
    program = program_of(programs, "speeds", {"speed": (speeds, programs.nu)})
    (nu,) = program.evaluate(
        columns(programs.mechanism.names, known, checker.points),
        columns(programs.labels, u, checker.points),
        parameter_columns(sheet, letters, checker.points),
    )
    return scene_of(sheet, checker, letters, {**u, **dict(zip(speeds, nu, strict=True))}, {})


class Rows:
    """The rows of wheels and couplings as a program: their velocities, and the coordinates' rates, for any speeds."""

    def __init__(self, sheet: Sheet, checker: Checker) -> None:
        self.sheet, self.checker = sheet, checker
        symbols, numbers = Symbols(), mechanism(sheet.mechanism.robot)
        p = symbols.make("parameter", len(numbers.parameters))
        q = symbols.make("coordinate", len(numbers.names))
        here = numbers.in_scalars(dict(zip(numbers.parameters, p, strict=True)), q)
        self.names, self.speeds = here.names, here.assembly.speeds
        nu = symbols.make("speed", len(self.speeds))
        wheels = [wheel for wheel in here.assembly.wheels if wheel.contact != "free"]
        rows, about = constraint_rows(here.assembly, here.at, wheels)
        self.labels = numbered(f"{each.owner}.{each.what}" for each in about)
        inputs = {
            "coordinate": (self.names, q),
            "speed": (self.speeds, nu),
            "parameter": (tuple(numbers.parameters), p),
        }
        outputs = {
            "velocity": (self.labels, apply(rows, nu)),
            "rate": (self.names, here.coordinate_rates(nu)),
        }
        self.program = symbols.program("rolling", inputs, outputs)

    def scene(self, letters: Mapping[int, Any], nu: Mapping[str, Any]) -> tuple[Scene, Numbers]:
        """The scene of these speeds, and the velocity of each row."""
        points = self.checker.points
        velocities, rates = self.program.evaluate(
            columns(self.names, coordinate_numbers(self.sheet, letters), points),
            columns(self.speeds, nu, points),
            parameter_columns(self.sheet, letters, points),
        )
        scene = scene_of(self.sheet, self.checker, letters, nu, dict(zip(self.names, rates, strict=True)))
        return scene, dict(zip(self.labels, velocities, strict=True))

    def drawn(self) -> Numbers:
        """Any speeds."""
        return {name: self.checker.rng.uniform(-2, 2, self.checker.points) for name in self.speeds}


def numbered(names: Iterable[str]) -> tuple[str, ...]:
    """Names with a number behind those that come again."""
    count: dict[str, int] = {}
    found = []
    for name in names:
        count[name] = count.get(name, 0) + 1
        found.append(name if count[name] == 1 else f"{name}_{count[name]}")
    return tuple(found)


def dynamic_scene(sheet: Sheet, checker: Checker, model: Any) -> tuple[Scene, Numbers]:
    """Drawn states, inputs and parameters; everything that the model's programs know, and that by name."""
    letters = drawn_letters(sheet, checker)
    points = checker.points
    known: Numbers = coordinate_numbers(sheet, letters)
    known |= {name: checker.rng.uniform(-2, 2, points) for name in model.speeds}
    known |= {name: checker.rng.uniform(-5, 5, points) for name in model.currents}
    known |= {name: checker.rng.uniform(-30, 30, points) for name in model.inputs}
    groups = (
        columns(model.states, known, points),
        columns(model.inputs, known, points),
        parameter_columns(sheet, letters, points),
    )
    (rates,) = model.dynamics.evaluate(*groups)
    (outputs,) = model.observe.evaluate(*groups)
    known |= dict(zip(model.outputs, outputs, strict=True))
    if model.manifold is not None:
        (residual,) = model.manifold.evaluate(*groups)
        known |= dict(zip(model.manifold.outputs[0].labels, residual, strict=True))
    for name in model.speeds:
        sheet.mechanism.speed(name)
    return scene_of(sheet, checker, letters, known, dict(zip(model.states, rates, strict=True))), known
