"""equations_of(robot): derive, write, check, and hand out a robot's equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from trundle.choices import WHAT
from trundle.errors import InputError, suggest
from trundle.formulas.algebra import WRITING, TooLong
from trundle.formulas.chains import end_sections
from trundle.formulas.comparison import POINTS, Checker, Scene, product
from trundle.formulas.constraints_section import constraint_section, loop_rows, loop_section, speed_section
from trundle.formulas.dynamics_section import WHOLE, Dynamics, derive
from trundle.formulas.equations import Definition, Equation, Equations, Section, SymbolInfo
from trundle.formulas.kinematics_section import (
    Forward,
    Sheet,
    forward,
    forward_section,
    inverse_section,
    pose_section,
    rolling_wheels,
)
from trundle.formulas.mechanism import build
from trundle.formulas.motion import (
    acceleration_section,
    contact_section,
    motion_section,
    motor_section,
    passive_section,
)
from trundle.formulas.scenes import Rows, drawn_letters, dynamic_scene, forward_scene, speed_scene
from trundle.formulas.spots import Spots
from trundle.formulas.writing import Writer
from trundle.mechanics.rolling import Basis, Problem
from trundle.model import Model
from trundle.model.arguments import robot_of
from trundle.robot import Robot
from trundle.robot.checks import dynamic_problems
from trundle.robot.problems import report

_LONG_LOOPS = "Not written out: they would fill pages. The program model.manifold has their residuals."
_ACCELERATION = "acceleration."
_TOO_LONG = (
    "it takes more intermediate quantities than a person would read. The programs model.mass_matrix, "
    "model.inverse_dynamics() and model.forward_dynamics() have them."
)


def equations_of(given: Robot | Model, what: str = "all", points: int = POINTS) -> Equations:
    """The equations of a described robot, of the kind `what`: kinematics, constraints, dynamics or all.

    given: the robot, or its model where it is derived already; forces are only looked at for dynamics. Each equation
    has met the compiled programs at `points` random points. Raises InputError for an unknown kind, and for robots that
    can't be derived; NumericsError for an equation that isn't what the program computes, which no robot should cause.
    """
    if what not in WHAT:
        raise InputError(f"there are no equations '{what}'", key="what", hint=suggest(what, WHAT))
    robot = robot_of(given, "equations", "its equations are those it was made from")
    return _Report(robot, what, given if isinstance(given, Model) else None, points).equations()


@dataclass
class _Report:
    robot: Any
    what: str
    given_model: Any
    points: int
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        mechanism = build(self.robot)
        self.sheet = Sheet(mechanism, Writer(mechanism.book))
        self.checker = Checker(self.sheet.writer, self.robot.name, self.points)
        self.lock = ""

    @cached_property
    def model(self) -> Any:
        """The model, derived where it isn't given."""
        from trundle.model import derive as derive_model

        return derive_model(self.robot) if self.given_model is None else self.given_model

    @cached_property
    def solved(self) -> tuple[Problem, Basis] | None:
        """Constraints and ν = S u; None, with the reason in `lock`, where ideal wheels lock the robot."""
        try:
            return self.sheet.mechanism.solve()
        except InputError as error:
            if self.what in ("dynamics", "all"):
                raise
            self.lock = error.message
            return None

    @cached_property
    def ideal(self) -> Basis | None:
        """S of a robot whose wheels all roll ideally: then wheels' rates set its motion."""
        wheels = rolling_wheels(self.sheet.mechanism)
        if self.solved is None or not all(wheel.contact == "ideal" for wheel in wheels):
            return None
        return self.solved[1]

    @cached_property
    def forward(self) -> Forward | None:
        """The base's motion from the wheels' rates."""
        return forward(self.sheet.mechanism, self.ideal)

    def equations(self) -> Equations:
        """Everything that was asked for, in sections."""
        sections: list[Section] = []
        if self.what in ("constraints", "all"):
            sections += self.constraints()
        if self.what in ("kinematics", "all"):
            sections += self.kinematics()
        if self.what in ("dynamics", "all"):
            sections += self.dynamics()
        return Equations(
            self.robot.name,
            self.what,
            tuple(sections),
            self.definitions(sections),
            self.symbols(sections),
            self.points,
            self.checker.error,
        )

    def constraints(self) -> list[Section]:
        """Rolling, couplings, loops."""
        solved = self.solved
        problem, basis = solved if solved is not None else (None, None)
        first = constraint_section(self.sheet, problem, basis, self.lock)
        sections = [] if first is None else [first]
        if first is not None and basis is not None:
            later = speed_section(self.sheet, basis)
            sections += [] if later is None else [later]
        self._check_rows(first)
        for section in sections[1:]:
            self.checker.equations(section.equations, speed_scene(self.sheet, self.checker), floor=1e-3)
        if self.sheet.mechanism.assembly.loops and basis is not None:
            try:
                sections.append(self.loops(basis))
            except TooLong:
                sections.append(Section("constraints", "Constraints of loops", (), (_LONG_LOOPS,)))
        if not sections:
            note = "Nothing binds its speeds: every one is independent."
            sections.append(Section("constraints", "Constraints", (), (note,)))
        return sections

    @cached_property
    def rows(self) -> Rows:
        """The rows of rolling as a program."""
        return Rows(self.sheet, self.checker)

    def _check_rows(self, section: Section | None) -> None:
        """The left side of each constraint, for any speeds, against the program's velocity."""
        if section is None:
            return
        scene, velocities = self.rows.scene(drawn_letters(self.sheet, self.checker), self.rows.drawn())
        for equation in section.equations:
            velocity = velocities[equation.name.removeprefix("constraint.")]
            self.checker.compare(
                equation.name, scene.point(equation.left), velocity, scene.point.size(equation.left)
            )
        self.checker.definitions(scene)

    def loops(self, basis: Basis) -> Section:
        """Loops, against the model's manifold: each residual is one of the program's."""
        self.sheet.mechanism.book.allow(*WHOLE)
        rows, gaps = loop_rows(self.sheet, basis)
        section = loop_section(self.sheet, basis, rows, gaps)
        scene, known = dynamic_scene(self.sheet, self.checker, self.model)
        residuals = [value for name, value in known.items() if name.startswith(("configuration", "velocity"))]
        for equation in section.equations:
            found = scene.point(equation.left)
            nearest = min(residuals, key=lambda value: float(np.max(np.abs(value - found))))
            self.checker.compare(equation.name, found, nearest, scene.point.size(equation.left))
        return section

    def kinematics(self) -> list[Section]:
        """Rates of the coordinates, wheels and base, bodies on joints."""
        sheet = self.sheet
        sheet.mechanism.book.allow(*WHOLE)
        sections: list[Section] = []
        pose, back = pose_section(sheet), inverse_section(sheet)
        if pose is not None:
            scene, _ = self.rows.scene(drawn_letters(sheet, self.checker), self.rows.drawn())
            self.checker.equations(pose.equations, scene)
            sections.append(pose)
        if back is not None:
            self._check_inverse(back)
            sections.append(back)
        if self.forward is not None:
            section = forward_section(sheet, self.forward)
            any_rates = self.forward.any_rates
            maker = forward_scene if any_rates else _agreeing
            self.checker.equations(section.equations, maker(sheet, self.checker, self.forward), floor=1e-3)
            sections.append(section)
        sections += end_sections(sheet, Spots(sheet, self.checker, self.forward, self.ideal))
        if not sections:
            sections.append(
                Section("kinematics", "Kinematics", (), ("The speeds are the rates of the coordinates.",))
            )
        return sections

    def _check_inverse(self, section: Section) -> None:
        """With wheels that point and turn as the equations say, the program's rows have no velocity."""
        mechanism, letters, nu = (
            self.sheet.mechanism,
            drawn_letters(self.sheet, self.checker),
            self.rows.drawn(),
        )
        by_name = {equation.name: equation for equation in section.equations}
        scene, _ = self.rows.scene(letters, nu)
        turned = {name: k for name, k in mechanism.coordinates.items() if f"inverse.{name}" in by_name}
        letters |= {k: scene.point(by_name[f"inverse.{name}"].right) for name, k in turned.items()}
        scene, _ = self.rows.scene(letters, nu)
        sizes = {}
        names = {mechanism.book.letters[k].name: name for name, k in mechanism.speeds.items()}
        for left, right in by_name["inverse"].lines():
            nu[names[left.name]] = scene.point(right)
            sizes[names[left.name]] = scene.point.size(right)
        _, velocities = self.rows.scene(letters, nu)
        for wheel in rolling_wheels(mechanism):
            solved = ["rolling"] + ["lateral"] * (
                wheel.kind == "caster" or f"{wheel.name}.steering" in turned
            )
            size = sum(value for name, value in sizes.items() if name.rpartition(".")[0] == wheel.name)
            for what in solved:
                self.checker.compare(
                    f"inverse, {wheel.name} {what}", velocities[f"{wheel.name}.{what}"], 0.0, 1.0 + size
                )

    def dynamics(self) -> list[Section]:
        """Motors, springs, contacts, M, h, B, accelerations."""
        problems = dynamic_problems(self.robot)
        if problems:
            if self.what == "dynamics":
                raise report(problems)
            return [self._left_out(f"{problems[0].message}.")]
        try:
            return self._written(derive(self.sheet.mechanism))
        except TooLong:
            return [self._left_out(_TOO_LONG)]

    def _written(self, found: Dynamics) -> list[Section]:
        """The sections of what was derived, checked."""
        sheet = self.sheet
        sheet.mechanism.book.allow(*WRITING)
        rows, _ = loop_rows(sheet, found.basis)
        makers: list[Callable[[], Section | None]] = [
            lambda: speed_section(sheet, found.basis) if self.what == "dynamics" else None,
            lambda: motor_section(sheet, found),
            lambda: passive_section(sheet, found),
            lambda: contact_section(sheet, found),
            lambda: motion_section(sheet, found, rows),
            lambda: acceleration_section(sheet, found) if not rows else None,
        ]
        sections = [section for make in makers if (section := make()) is not None]
        self._check_dynamics(sections, found, bool(rows))
        return sections

    @staticmethod
    def _left_out(why: str) -> Section:
        return Section("dynamics", "Equations of motion", (), (f"Not written out: {why}",))

    def _check_dynamics(self, sections: list[Section], found: Dynamics, loops: bool) -> None:
        scene, known = dynamic_scene(self.sheet, self.checker, self.model)
        letters = dict(scene.letters)
        for section in sections:
            for equation in section.equations:
                if equation.name.startswith("passive."):
                    scene.symbols[equation.left.name] = scene.point(equation.right)
        for push in found.others:
            name = self.sheet.mechanism.book.letters[push.letter].name
            if name in scene.symbols:
                letters[push.letter] = scene.symbols[name]
        symbols = scene.symbols
        scene = Scene(scene.book, letters, symbols)
        named = {e.name: e for s in sections for e in s.equations}
        self.checker.equations([e for e in named.values() if not e.name.startswith(_ACCELERATION)], scene)
        self.checker.definitions(scene)
        self._check_motion(named, found, scene, known, loops)

    def _check_motion(
        self, named: dict[str, Equation], found: Dynamics, scene: Scene, known: dict[str, Any], loops: bool
    ) -> None:
        """M u̇ + h = B τ + G f (+ Aᵀλ), and ½ uᵀM u against the kinetic energy."""
        point, book = scene.point, self.sheet.mechanism.book
        u = [point(self.sheet.symbol(label)) for label in found.labels]
        rate = [scene.symbols[f"{_rate(self.sheet, label)}"] for label in found.labels]
        momentum, size = product(named["mass_matrix"].right, u, point)
        energy = sum(a * b for a, b in zip(momentum, u, strict=True)) / 2
        scale = sum(np.abs(a * b) for a, b in zip(size, u, strict=True))
        self.checker.compare("mass_matrix", energy, known["energy.kinetic"], scale)
        total, size = product(named["mass_matrix"].right, rate, point)
        bias, bias_size = product(named["bias"].right, [1.0], point)
        total, size = total + bias, size + bias_size
        for name, pushes in (("input_matrix", found.motors), ("force_matrix", found.others)):
            if name in named:
                forces = [point(sympy.Symbol(book.letters[push.letter].name)) for push in pushes]
                part, own = product(named[name].right, forces, point)
                total, size = total - part, size + own
        if loops:
            total = _without_multipliers(total, point.matrix(named["loop_rows"].right))
            size = np.broadcast_to(size.max(axis=0), size.shape)
        for label, left, own in zip(found.labels, total, size, strict=True):
            self.checker.compare(f"motion of {label}", left, 0.0, own)
        self._check_accelerations(named, found, scene, size)

    def _check_accelerations(
        self, named: dict[str, Equation], found: Dynamics, scene: Scene, size: np.ndarray
    ) -> None:
        """Explicit accelerations, to what rounding in terms of these sizes makes of M⁻¹ times them."""
        if not any(name.startswith(_ACCELERATION) for name in named):
            return
        mass = np.moveaxis(scene.point.matrix(named["mass_matrix"].right), 2, 0)
        bound = (np.abs(np.linalg.inv(mass)) @ size.T[..., None])[..., 0].T
        for label, own in zip(found.labels, bound, strict=True):
            equation = named.get(f"{_ACCELERATION}{label}")
            if equation is not None:
                left, right = scene.point(equation.left), scene.point(equation.right)
                self.checker.compare(equation.name, left, right, own)

    def definitions(self, sections: list[Section]) -> tuple[Definition, ...]:
        """The intermediate quantities that were shown; one without a meaning of its own is a part of what uses it."""
        writer = self.sheet.writer
        uses: dict[str, str] = {}
        for equation in (e for section in sections for e in section.equations):
            for symbol in equation.right.free_symbols:
                uses.setdefault(str(symbol), equation.name)
        for letter, value in writer.shown.items():
            for symbol in value.free_symbols:
                uses.setdefault(str(symbol), writer.entry(letter).name)
        return tuple(
            Definition(
                sympy.Symbol(writer.entry(letter).name),
                value,
                writer.entry(letter).meaning
                or f"a part of {uses.get(writer.entry(letter).name, 'the equations')}",
                writer.entry(letter).unit,
            )
            for letter, value in writer.shown.items()
        )

    def symbols(self, sections: list[Section]) -> tuple[SymbolInfo, ...]:
        """What the symbols that are shown stand for."""
        shown: set[Any] = set()
        for section in sections:
            for equation in section.equations:
                for side in (equation.left, equation.right, equation.vector):
                    shown |= set() if side is None else side.free_symbols
        for value in self.sheet.writer.shown.values():
            shown |= value.free_symbols
        keys = self.sheet.mechanism.parameters.keys
        found = []
        for letter, entry in enumerate(self.sheet.mechanism.book.letters):
            symbol = sympy.Symbol(entry.name)
            if symbol in shown and entry.definition is None and not entry.square:
                own = tuple(f"{'-' if sign < 0 else ''}{key}" for key, sign in keys.get(letter, ()))
                found.append(
                    SymbolInfo(
                        symbol,
                        entry.kind,
                        entry.meaning,
                        entry.unit,
                        entry.number,
                        own or tuple(filter(None, [entry.source])),
                    )
                )
        return tuple(found)


def _agreeing(sheet: Sheet, checker: Checker, _forward: Forward) -> Scene:
    """Rates that agree with each other."""
    return speed_scene(sheet, checker)


def _rate(sheet: Sheet, label: str) -> str:
    from trundle.formulas.names import rate_of

    return rate_of(str(sheet.symbol(label)))


def _without_multipliers(left_over: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """What is left of forces when the best multipliers of the loops' rows have taken theirs, point by point."""
    result = np.empty_like(left_over)
    for k in range(left_over.shape[1]):
        turned = rows[:, :, k if rows.shape[2] > 1 else 0].T
        found = np.linalg.lstsq(turned, left_over[:, k], rcond=None)[0]
        result[:, k] = left_over[:, k] - turned @ found
    return result
