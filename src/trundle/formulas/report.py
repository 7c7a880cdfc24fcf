"""equations(robot): derive, write, check, and hand out a robot's equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import sympy

from trundle.choices import WHAT
from trundle.errors import InputError, require_known
from trundle.formulas.algebra.sums import WRITING, TooLong
from trundle.formulas.algebra.writing import Writer
from trundle.formulas.chapters.bodies_section import body_sections
from trundle.formulas.chapters.constraints_section import (
    constraint_section,
    loop_rows,
    loop_section,
    speed_section,
)
from trundle.formulas.chapters.forces_section import (
    battery_section,
    contact_section,
    motor_section,
    passive_section,
)
from trundle.formulas.chapters.kinematics_section import (
    FORWARD,
    Forward,
    forward,
    forward_section,
    inverse_section,
    pose_section,
    rolling_wheels,
)
from trundle.formulas.chapters.motion_section import acceleration_section, motion_section
from trundle.formulas.checks.evidence import POINTS, Checker, Evidence
from trundle.formulas.checks.section_checks import (
    check_dynamics,
    check_inverse,
    check_loops,
    check_point,
    check_rows,
    moving,
)
from trundle.formulas.derivation.dynamics import WHOLE, Dynamics, derive_dynamics
from trundle.formulas.letters.lettered_mechanism import build
from trundle.formulas.letters.sheet import Sheet
from trundle.formulas.sections import Definition, Equations, Expression, Section, SymbolInfo
from trundle.mechanics.rolling import Basis
from trundle.model import Model, derive
from trundle.model.arguments import robot_of
from trundle.robot import Robot
from trundle.robot.checks import dynamic_problems
from trundle.robot.problems import report

_LONG_LOOPS = "Not written out: they would fill pages. The program model.manifold has their residuals."
_LONG_FORWARD = "Not written out: it would fill pages. `trundle.roll` computes it."
_TOO_LONG = (
    "it takes more intermediate quantities than a person would read. The programs model.mass_matrix, "
    "model.inverse_dynamics() and model.forward_dynamics() have them."
)
# Speeds of constraints and of bases are numbers about 1; smaller terms count as that large.
_SMALL = 1e-3


def equations(
    given: Robot | Model,
    what: str = "all",
    points: int = POINTS,
    progress: Callable[[str], None] = lambda words: None,
    *,
    base: str | None = None,
) -> Equations:
    """A robot's equations for reading, each compared with the compiled programs: M(q) u̇ + h(q, u) = B(q) τ + G(q) f.

    Parameters
    ----------
    given : Robot or Model
        The described robot; a model that was derived from one saves deriving it again.
    what : str
        `kinematics`, `constraints`, `dynamics` or `all`. Forces and masses are only looked at for dynamics.
    points : int
        At how many random points each equation is compared.
    progress : callable
        Called again and again with what it is at ("equations of motion", say): long ones take seconds.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    Equations
        SymPy expressions in sections, what each symbol means, and writers: `text()`, `latex()`, `markdown()`.

    Raises
    ------
    InputError
        For an unknown `what`, for what is no described robot, and for robots that can't be derived.
    NumericsError
        For an equation that isn't what the program computes, which no robot should cause.

    Examples
    --------
    >>> import trundle
    >>> found = trundle.equations(trundle.catalog.differential_drive(), "kinematics")
    >>> found["forward"].right[0, 0]
    r/2
    """
    require_known(what, WHAT, f"there are no equations '{what}'", key="what")
    robot = robot_of(given, "equations", "its equations are those it was made from", base)
    return _Report(robot, what, given if isinstance(given, Model) else None, points, progress).equations()


class _Report:
    """One robot's report: what several sections need is derived once, when it is first asked for."""

    def __init__(
        self, robot: Robot, what: str, model: Model | None, points: int, progress: Callable[[str], None]
    ) -> None:
        self.robot, self.what, self._model = robot, what, model
        self._progress, self._step = progress, ""
        self.sheet = replace(build(robot), heard=lambda: progress(self._step))
        self.checker = Checker(self.sheet.writer, robot.name, points)

    def _at(self, step: str) -> None:
        """The work is at this step."""
        self._step = step
        self._progress(step)

    @cached_property
    def model(self) -> Model:
        """The model, derived where it isn't given."""
        return derive(self.robot) if self._model is None else self._model

    @cached_property
    def evidence(self) -> Evidence:
        """What the programs say."""
        return Evidence(self.sheet, self.checker)

    @cached_property
    def lock(self) -> str:
        """Why ideal wheels lock the robot, if they do; raises that where its dynamics are asked for."""
        try:
            _ = self.sheet.here.basis
        except InputError as error:
            if self.what in ("dynamics", "all"):
                raise
            return error.message
        return ""

    @property
    def basis(self) -> Basis | None:
        """ν = S u, where wheels leave any motion."""
        return None if self.lock else self.sheet.here.basis

    @cached_property
    def ideal(self) -> Basis | None:
        """S of a robot whose wheels all roll ideally: then wheels' rates set its motion."""
        rolling = all(wheel.law.rolls for wheel in rolling_wheels(self.sheet.assembly))
        return self.basis if rolling else None

    @cached_property
    def _found(self) -> Forward | TooLong | None:
        self.sheet.book.allow(*WHOLE)
        try:
            return forward(self.sheet, self.ideal)
        except TooLong as error:
            return error

    @property
    def forward(self) -> Forward | None:
        """The base's motion from the wheels' rates; None where that isn't told, or would fill pages."""
        return None if isinstance(self._found, TooLong) else self._found

    @property
    def _given_freely(self) -> bool:
        """Whether the rates that `forward` takes are all independent: not where some wheels slip and others roll."""
        speeds, basis = self.sheet.assembly.speeds, self.basis
        given = () if self.forward is None else self.forward.columns
        return basis is not None and {speeds[j] for j in given} <= {*basis.labels}

    def equations(self) -> Equations:
        """Everything that was asked for, in sections."""
        makers = {"constraints": self.constraints, "kinematics": self.kinematics, "dynamics": self.dynamics}
        sections: list[Section] = []
        for what, make in makers.items():
            if self.what in (what, "all"):
                self._at(what)
                sections += make()
        definitions, symbols = _definitions(self.sheet.writer, sections), _symbols(self.sheet, sections)
        checked = self.checker.points, self.checker.error
        return Equations(self.robot.name, self.what, tuple(sections), definitions, symbols, *checked)

    def constraints(self) -> list[Section]:
        """Rolling, couplings, loops."""
        sheet, checker = self.sheet, self.checker
        sections = []
        first = constraint_section(sheet, self.lock)
        if first is not None:
            check_rows(self.evidence, first)
            sections.append(first)
        later = None if self.basis is None or first is None else speed_section(sheet, self.basis)
        if later is not None:
            nu = self.evidence.all_speeds(self.evidence.independent)
            checker.equations(later.equations, self.evidence.values(nu), floor=_SMALL)
            sections.append(later)
        if sheet.assembly.loops and self.basis is not None:
            try:
                sections.append(self.loops(self.basis))
            except TooLong:
                sections.append(Section("constraints", "Constraints of loops", (), (_LONG_LOOPS,)))
        note = "Nothing binds its speeds: every one is independent."
        return sections or [Section("constraints", "Constraints", (), (note,))]

    def loops(self, basis: Basis) -> Section:
        """What closed loops demand."""
        self.sheet.book.allow(*WHOLE)
        section = loop_section(self.sheet, basis, *loop_rows(self.sheet, basis))
        check_loops(self.evidence, section, self.model)
        return section

    def kinematics(self) -> list[Section]:
        """Rates of the coordinates, wheels and base, bodies on joints."""
        sheet, checker, evidence = self.sheet, self.checker, self.evidence
        sheet.book.allow(*WRITING)
        pose, back = pose_section(sheet), inverse_section(sheet)
        if pose is not None:
            nu = evidence.any_speeds()
            checker.equations(pose.equations, evidence.values(nu, evidence.rows(nu)["rate"]))
        if back is not None:
            check_inverse(evidence, back)
        sections = [section for section in (pose, back) if section is not None]
        if isinstance(self._found, TooLong):
            sections.append(Section("kinematics", FORWARD, (), (_LONG_FORWARD,)))
        elif self._found is not None:
            sections.append(self._from_rates(self._found))
        told = self.forward if self.ideal is not None or self._given_freely else None
        bodies = [] if self.basis is None else body_sections(sheet, told)
        if bodies:
            speeds = moving(evidence, told if self.ideal is None else None)
            for body in bodies:
                check_point(evidence, body, *speeds)
                sections.append(body.section)
        note = "The speeds are the rates of the coordinates."
        return sections or [Section("kinematics", "Kinematics", (), (note,))]

    def _from_rates(self, solution: Forward) -> Section:
        """The base's motion from the wheels' rates."""
        evidence = self.evidence
        self.sheet.book.allow(*WRITING)
        try:
            section = forward_section(self.sheet, solution)
        except TooLong:
            return Section("kinematics", FORWARD, (), (_LONG_FORWARD,))
        # Rates that can't be given one by one are compared where they agree with one another.
        nu = evidence.rolled(solution) if solution.any_rates else evidence.all_speeds(evidence.independent)
        self.checker.equations(section.equations, evidence.values(nu), floor=_SMALL)
        return section

    def dynamics(self) -> list[Section]:
        """Motors, springs, contacts, M, h, B, accelerations."""
        problems = dynamic_problems(self.robot)
        if problems and self.what == "dynamics":
            raise report(problems)
        if problems:
            return [_left_out(f"{problems[0].message}.")]
        try:
            return self._written(derive_dynamics(self.sheet))
        except TooLong:
            return [_left_out(_TOO_LONG)]

    def _written(self, dynamics: Dynamics) -> list[Section]:
        """The sections of what was derived, checked."""
        sheet = self.sheet
        sheet.book.allow(*WRITING)
        rows, _ = loop_rows(sheet, dynamics.basis)
        # First: letters that they need for entries of M stand in M, too.
        self._at("accelerations")
        explicit = None if rows else acceleration_section(sheet, dynamics)
        makers: dict[str, Callable[[], Section | None]] = {
            "speeds": lambda: speed_section(sheet, dynamics.basis) if self.what == "dynamics" else None,
            "motors": lambda: motor_section(sheet, dynamics),
            "batteries": lambda: battery_section(sheet),
            "springs and friction": lambda: passive_section(sheet, dynamics),
            "contacts": lambda: contact_section(sheet, dynamics),
            "equations of motion": lambda: motion_section(sheet, dynamics, rows),
            "accelerations": lambda: explicit,
        }
        sections: list[Section] = []
        for step, make in makers.items():
            self._at(step)
            if (section := make()) is not None:
                sections.append(section)
        self._at("comparing with the program")
        check_dynamics(self.evidence, sections, dynamics, self.model, bool(rows))
        return sections


def _left_out(why: str) -> Section:
    return Section("dynamics", "Equations of motion", (), (f"Not written out: {why}",))


def _definitions(writer: Writer, sections: list[Section]) -> tuple[Definition, ...]:
    """The intermediate quantities that were shown; one without a meaning of its own is a part of what uses it."""
    shown = [(writer.book.letters[letter], value) for letter, value in writer.shown.items()]
    uses: dict[Expression, Expression] = {}
    for name, value in [
        *((equation.name, equation.right) for section in sections for equation in section.equations),
        *((entry.name, value) for entry, value in shown),
    ]:
        uses = dict.fromkeys(value.free_symbols, name) | uses
    definitions = []
    for entry, value in shown:
        symbol = sympy.Symbol(entry.name)
        meaning = entry.meaning or f"a part of {uses.get(symbol, 'the equations')}"
        definitions.append(Definition(symbol, value, meaning, entry.unit))
    return tuple(definitions)


def _symbols(sheet: Sheet, sections: list[Section]) -> tuple[SymbolInfo, ...]:
    """What the symbols that are shown stand for."""
    written = [*(e for section in sections for e in section.equations), *sheet.writer.shown.values()]
    shown = set().union(*(each.free_symbols for each in written))
    symbols = []
    for letter, entry in enumerate(sheet.book.letters):
        symbol = sympy.Symbol(entry.name)
        if symbol in shown and entry.definition is None and not entry.square:
            signed = sheet.parameters.keys.get(letter, ())
            own = tuple(f"{'-' if sign < 0 else ''}{key}" for key, sign in signed)
            source = own or tuple(filter(None, [entry.source]))
            symbols.append(SymbolInfo(symbol, entry.kind, entry.meaning, entry.unit, entry.number, source))
    return tuple(symbols)
