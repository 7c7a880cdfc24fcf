"""equations(robot): derive, write, check, and hand out a robot's equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial

from trundle.choices import WHAT
from trundle.errors import InputError, NumericsError, require_known
from trundle.expected import check_int
from trundle.formulas.algebra.polynomials import WRITING, TooLong
from trundle.formulas.checks.section_checks import (
    DynamicCheck,
    check_controllers,
    check_inverse,
    check_loops,
    check_point,
    check_rows,
    dynamic_check,
    moving,
)
from trundle.formulas.checks.verification import POINTS, Checker, Verification
from trundle.formulas.contents import definitions_in, left_out, symbols_in
from trundle.formulas.derivation.dynamics import WHOLE, Dynamics, derive_dynamics
from trundle.formulas.derivation.following import Following, following
from trundle.formulas.equation import Section
from trundle.formulas.robot_equations import Equations
from trundle.formulas.sections.bodies_section import PointSection, body_sections
from trundle.formulas.sections.constraints_section import (
    FOLLOWING,
    LOOPS,
    ROLLING,
    constraint_section,
    loop_rows,
    loop_section,
    speed_section,
)
from trundle.formulas.sections.controllers_section import CONTROLLERS, controller_section, standing
from trundle.formulas.sections.forces_section import (
    battery_section,
    contact_section,
    motor_section,
    passive_section,
)
from trundle.formulas.sections.kinematics_section import (
    FORWARD,
    INVERSE,
    RATES,
    Forward,
    forward,
    forward_section,
    inverse_section,
    pose_section,
    rolling_wheels,
)
from trundle.formulas.sections.motion_section import (
    ACCELERATIONS,
    MOTION,
    acceleration_section,
    motion_section,
)
from trundle.formulas.sections.state_section import STATE, solved, state_section
from trundle.formulas.symbols.mechanism_in_symbols import build
from trundle.mechanics.rolling import SpeedBasis
from trundle.model import Model, derive
from trundle.model.arguments import robot_of
from trundle.model.moving import holding_motors
from trundle.robot import Robot
from trundle.robot.checks import dynamic_problems
from trundle.robot.problems import report

_LONG = "it would fill pages."
_LONG_LOOPS = "they would fill pages. The program model.manifold has their residuals."
_LONG_FORWARD = "it would fill pages. `trundle.roll` computes it."
_TOO_LONG = (
    "it takes more intermediate quantities than a person would read. The programs model.mass_matrix, "
    "model.inverse_dynamics() and model.forward_dynamics() have them."
)
_LOOPED = (
    "closed loops bind the accelerations. M u̇ + h = B τ + G f + Aᵀ λ holds together with d(A u)/dt = 0; "
    "the program model.dynamics solves both."
)
_HELD = (
    "motors that hold rates take whatever torque that needs. M u̇ + h = B τ + G f holds together with the rates; "
    "the program model.dynamics solves both."
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
        `kinematics`, `constraints`, `dynamics` or `all`, which are these three. `state` is ẋ = f(x, u): the rate of
        every state, after all that it takes. Forces and masses are only looked at for dynamics and states.
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
        A section that would fill pages, or isn't what the program computes, has a note that says so instead.

    Raises
    ------
    InputError
        For an unknown `what`, for what is no described robot, and for robots that can't be derived.

    Examples
    --------
    >>> import trundle
    >>> found = trundle.equations(trundle.catalog.differential_drive(), "kinematics")
    >>> found["forward"].right[0, 0]
    r/2
    """
    require_known(what, WHAT, f"there are no equations '{what}'", key="what")
    robot = robot_of(given, "equations", "its equations are those it was made from", base)
    points = check_int(points, "points", 1)
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
    def verification(self) -> Verification:
        """What the programs say."""
        return Verification(self.sheet, self.checker)

    @cached_property
    def lock(self) -> str:
        """Why ideal wheels lock the robot, if they do; raises that where its dynamics are asked for."""
        try:
            _ = self.sheet.here.basis
        except InputError as error:
            if self.what in ("dynamics", "state", "all"):
                raise
            return error.message
        return ""

    @property
    def basis(self) -> SpeedBasis | None:
        """ν = S u, where wheels leave any motion."""
        return None if self.lock else self.sheet.here.basis

    @cached_property
    def ideal(self) -> SpeedBasis | None:
        """S of a robot whose wheels all roll ideally: then wheels' rates set its motion."""
        rolling = all(wheel.law.rolls for wheel in rolling_wheels(self.sheet.assembly))
        return self.basis if rolling else None

    @cached_property
    def _forward_solution(self) -> Forward | TooLong | None:
        self.sheet.table.allow(*WHOLE)
        try:
            return forward(self.sheet, self.ideal)
        except TooLong as error:
            return error

    @property
    def forward(self) -> Forward | None:
        """The base's motion from the wheels' rates; None where that isn't told, or would fill pages."""
        return None if isinstance(self._forward_solution, TooLong) else self._forward_solution

    @property
    def _given_freely(self) -> bool:
        """Whether the rates that `forward` takes are all independent: not where some wheels slip and others roll."""
        speeds, basis = self.sheet.assembly.speeds, self.basis
        given = () if self.forward is None else self.forward.columns
        return basis is not None and {speeds[j] for j in given} <= {*basis.labels}

    def equations(self) -> Equations:
        """Everything that was asked for, in sections."""
        makers = {
            "constraints": self.constraints,
            "kinematics": self.kinematics,
            "dynamics": self.dynamics,
            "state": self.state,
        }
        sections: list[Section] = []
        for what, make in makers.items():
            if self.what == what or (self.what == "all" and what != "state"):
                self._at(what)
                sections += make()
        definitions, symbols = definitions_in(self.sheet.writer, sections), symbols_in(self.sheet, sections)
        checked = self.checker.points, self.checker.error
        return Equations(self.robot.name, self.what, tuple(sections), definitions, symbols, *checked)

    def _stands(
        self, key: str, title: str, make: Callable[[], Section | None], too_long: str = _LONG
    ) -> list[Section]:
        """The section that `make` writes and checks, if there is one. Where it would fill pages, or isn't what its
        program computes, a sentence says so in its place, and no other section is the worse for it.
        """
        self.sheet.table.allow(*WRITING)
        try:
            section = make()
        except TooLong:
            return [left_out(key, title, too_long)]
        except NumericsError as error:
            return [left_out(key, title, f"{error}.")]
        return [] if section is None else [section]

    def constraints(self) -> list[Section]:
        """Rolling, couplings, loops."""
        basis, key = self.basis, "constraints"
        sections = self._stands(key, ROLLING, self._rolling)
        if sections and basis is not None:
            sections += self._stands(key, FOLLOWING, self._following)
        if self.sheet.assembly.loops and basis is not None:
            sections += self._stands(key, LOOPS, lambda: self.loops(basis), _LONG_LOOPS)
        note = "There are no constraints on the speeds: all are independent."
        return sections or [Section(key, "Constraints", (), (note,))]

    def _rolling(self) -> Section | None:
        """What wheels and couplings demand."""
        section = constraint_section(self.sheet, self.lock)
        if section is not None:
            check_rows(self.verification, section)
        return section

    @cached_property
    def _steps(self) -> Following:
        """All speeds, each from those before it; for robots that wheels don't lock."""
        return following(self.sheet, self.sheet.here.basis)

    def _following(self) -> Section | None:
        """What follows from the independent speeds."""
        section = speed_section(self.sheet, self._steps)
        if section is not None:
            nu = self.verification.all_speeds(self.verification.independent)
            self.checker.equations(section.equations, self.verification.values(nu), floor=_SMALL)
        return section

    def loops(self, basis: SpeedBasis) -> Section:
        """What closed loops demand."""
        self.sheet.table.allow(*WHOLE)
        section = loop_section(self.sheet, basis, *loop_rows(self.sheet, basis))
        check_loops(self.verification, section, self.model)
        return section

    def kinematics(self) -> list[Section]:
        """Rates of the coordinates, wheels and base, bodies on joints."""
        key = "kinematics"
        sections = self._stands(key, RATES, self._pose) + self._stands(key, INVERSE, self._inverse)
        found = self._forward_solution
        if isinstance(found, TooLong):
            sections.append(left_out(key, FORWARD, _LONG_FORWARD))
        elif found is not None:
            sections += self._stands(key, FORWARD, lambda: self._from_rates(found), _LONG_FORWARD)
        if self.basis is not None:
            sections += self._bodies()
        note = "The speeds are the rates of the coordinates."
        return sections or [Section(key, "Kinematics", (), (note,))]

    def _pose(self) -> Section | None:
        """The rates of the coordinates."""
        section, nu = pose_section(self.sheet), self.verification.any_speeds()
        if section is not None:
            rates = self.verification.rows(nu)["rate"]
            self.checker.equations(section.equations, self.verification.values(nu, rates))
        return section

    def _inverse(self) -> Section | None:
        """The wheels' rates from the base's motion."""
        section = inverse_section(self.sheet)
        if section is not None:
            check_inverse(self.verification, section)
        return section

    def _from_rates(self, solution: Forward) -> Section:
        """The base's motion from the wheels' rates."""
        verification, section = self.verification, forward_section(self.sheet, solution)
        if not solution.by_rows:
            nu = verification.all_speeds(verification.independent)
            self.checker.equations(section.equations, verification.values(nu), floor=_SMALL)
        # Rates that can't be given one by one are compared where they agree with one another. So are all where rows
        # say again what others say, which they do with the description's numbers, not with any.
        if solution.any_rates:
            numbers = verification.numbers if solution.by_rows else verification.described
            values = verification.values(verification.rolled(solution, numbers), drawn=numbers)
            self.checker.equations(section.equations, values, floor=_SMALL)
        return section

    def _bodies(self) -> list[Section]:
        """The ends of chains of joints."""
        verification = self.verification
        told = self.forward if self.ideal is not None or self._given_freely else None
        self.sheet.table.allow(*WRITING)
        bodies = body_sections(self.sheet, told)
        if not bodies:
            return []
        speeds = moving(verification, told if self.ideal is None else None)

        def checked(body: PointSection) -> Section:
            check_point(verification, body, *speeds)
            return body.section

        made = (self._stands("kinematics", body.section.title, partial(checked, body)) for body in bodies)
        return [section for each in made for section in each]

    def dynamics(self) -> list[Section]:
        """Motors, springs, contacts, M, h, B, accelerations."""
        problems = dynamic_problems(self.robot)
        if problems and self.what != "all":
            raise report(problems)
        if problems:
            return [left_out("dynamics", MOTION, f"{problems[0].message}.")]
        try:
            return self._written(derive_dynamics(self.sheet, self._steps))
        except TooLong:
            return [left_out("dynamics", MOTION, _TOO_LONG), *self._controllers()]

    def _controllers(self) -> list[Section]:
        """The laws of what drives the motors."""
        self._at("controllers")
        unwritten = [name for name, each in self.robot.controllers.items() if not each.written]
        if unwritten:
            why = f"the law of {', '.join(unwritten)} is too long for a page. The program model.sampling has it."
            return [left_out("dynamics", CONTROLLERS, why)]
        try:
            return self._stands("dynamics", CONTROLLERS, self._laws)
        except InputError as error:  # a law from outside may take numbers alone
            return [left_out("dynamics", CONTROLLERS, f"{error.message}.")]

    def _laws(self) -> Section | None:
        section = controller_section(self.sheet, self.model) if self.robot.controllers else None
        if section is not None:
            check_controllers(self.verification, section, self.model)
        return section

    def _written(self, dynamics: Dynamics) -> list[Section]:
        """The sections of what was derived, checked."""
        sheet, key = self.sheet, "dynamics"
        rows, _ = loop_rows(sheet, dynamics.basis)
        makers: dict[str, Callable[[], Section | None]] = {
            FOLLOWING: lambda: None if self.what == "all" else speed_section(sheet, self._steps),
            "Motors": lambda: motor_section(sheet, dynamics),
            "Batteries": lambda: battery_section(sheet),
            "Springs and friction": lambda: passive_section(sheet, dynamics),
            "Slipping contacts": lambda: contact_section(sheet, dynamics),
            MOTION: lambda: motion_section(sheet, dynamics, rows),
            ACCELERATIONS: lambda: None if rows else acceleration_section(sheet, dynamics),
        }
        made: dict[str, list[Section]] = {}
        # The accelerations first: symbols that they need for entries of M stand in M, too.
        for title in [ACCELERATIONS, *makers]:
            if title not in made:
                self._at(title.lower())
                made[title] = self._stands(key, title, makers[title])
        self._at("comparing with the program")
        sections = [section for title in makers for section in made[title]]
        check = dynamic_check(self.verification, sections, dynamics, self.model, bool(rows))

        def checked(section: Section) -> Section:
            check(section)
            return section

        stand = (self._stands(key, section.title, partial(checked, section)) for section in sections)
        held = [section for each in stand for section in each] + self._controllers()
        return self._state(dynamics, held, check) if self.what == "state" else held

    def state(self) -> list[Section]:
        """ẋ = f(x, u), line by line."""
        return self.dynamics()

    def _state(self, dynamics: Dynamics, held: list[Section], check: DynamicCheck) -> list[Section]:
        """The lines of f(x, u), of the sections that hold; those that solve for accelerations are checked here."""
        lost = [section for section in held if not section.equations]
        if self.sheet.assembly.loops:
            return [left_out("state", STATE, _LOOPED)]
        if holding_motors(self.sheet.assembly):
            return [left_out("state", STATE, _HELD)]
        if lost:
            return lost
        more = solved(self.sheet, dynamics, held)
        check.solution(more)
        rates = self._stands("kinematics", RATES, self._pose)
        every = [equation for section in (*held, *rates) for equation in section.equations]
        return [state_section(self.sheet, self.model, [*every, *more, *standing(self.sheet, self.model)])]
