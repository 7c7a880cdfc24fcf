"""The comparisons that sections of equations need beyond left = right: each section against its own program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy

from trundle.arrays import Floats
from trundle.formulas.checks.evaluation import SymbolValues
from trundle.formulas.checks.verification import FigureValues, Verification, dynamic_verification, product
from trundle.formulas.derivation.dynamics import Dynamics
from trundle.formulas.equation import ACCELERATION, Equation, Section
from trundle.formulas.sections.bodies_section import PARTS, PointSection
from trundle.formulas.sections.controllers_section import INNER, NEXT
from trundle.formulas.sections.kinematics_section import Forward, rolling_wheels
from trundle.formulas.symbols.names import rate_of
from trundle.model import Model
from trundle.model.programs import frame_program
from trundle.spatial.vectors import ZERO, Vector


def check_rows(verification: Verification, section: Section) -> None:
    """The left side of each constraint, for any speeds, against the program's velocity."""
    speeds = verification.any_speeds()
    values, velocities = verification.values(speeds), verification.rows(speeds)["velocity"]
    for equation in section.equations:
        velocity = velocities[equation.name.removeprefix("constraint.")]
        left = equation.left
        verification.checker.compare(equation.name, values(left), velocity, values.size(left))
    verification.checker.definitions(section.equations, values)


def check_inverse(verification: Verification, section: Section) -> None:
    """With wheels that point and turn as the equations say, the program's rows have no velocity."""
    sheet, nu = verification.sheet, verification.any_speeds()
    by_name = {equation.name: equation for equation in section.equations}
    turned = {name: k for name, k in sheet.coordinates.items() if f"inverse.{name}" in by_name}
    values = verification.values(nu)
    pointed = {k: values(by_name[f"inverse.{name}"].right) for name, k in turned.items()}
    numbers = verification.numbers | pointed
    values = verification.values(nu, drawn=numbers)
    names = {sheet.table.symbols[k].name: name for name, k in sheet.speeds.items()}
    solved = {names[str(left)]: right for left, right in by_name["inverse"].lines}
    nu |= {name: values(right) for name, right in solved.items()}
    velocities = verification.rows(nu, numbers)["velocity"]
    for wheel in rolling_wheels(sheet.assembly):
        if f"{wheel.name}.rate" not in solved:
            continue  # rollers along its heading: the ground never turns it
        lateral = wheel.component.is_caster or f"{wheel.name}.steering" in turned
        sizes = (values.size(right) for name, right in solved.items() if name.startswith(f"{wheel.name}."))
        size = sum(sizes, 1.0)
        for what in ["rolling", *(["lateral"] if lateral else [])]:
            velocity = velocities[f"{wheel.name}.{what}"]
            verification.checker.compare(f"inverse, {wheel.name} {what}", velocity, 0.0, size)


def check_loops(verification: Verification, section: Section, model: Model) -> None:
    """Each residual of the loops is one of those that the model's manifold has."""
    known, rates = dynamic_verification(verification, model)
    held = () if model.manifold is None else model.manifold.outputs[0].labels
    residuals = [known[label] for label in held]
    values = verification.values(known, rates)
    for equation in section.equations:
        # The program's residuals stand in another order, and without those that vanish: the nearest one is meant.
        numbers = np.asarray(values(equation.left))
        nearest = min(residuals, key=lambda value: float(np.max(np.abs(value - numbers))))
        verification.checker.compare(equation.name, numbers, nearest, values.size(equation.left))


def check_controllers(verification: Verification, section: Section, model: Model) -> None:
    """Laws at drawn states and references, against the model's commands, outputs and rates, and against what is after a
    sample at which all are due; parts in their order.
    """
    known, rates = dynamic_verification(verification, model)
    if model.sampling is not None:
        due = dict.fromkeys(model.clocks, 1.0)
        (after,) = verification.run(model.sampling, known | due).values()
        known |= {f"{name}{NEXT}": value for name, value in after.items()}
    values = verification.values(known, rates)
    for equation in section.equations:
        if equation.name.startswith(INNER):
            values.symbols[equation.left.name] = values(equation.right)
    verification.checker.equations(section.equations, values)


def moving(
    verification: Verification, forward: Forward | None
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Drawn independent speeds, the base's as `forward` has it from the wheels' rates, and all speeds from these."""
    u: dict[str, Floats] = dict(verification.independent)
    if forward is not None:
        sheet = verification.sheet
        speeds = sheet.assembly.speeds
        values = verification.values({})
        base, _ = product(sheet.matrix(forward.matrix), [u[speeds[j]] for j in forward.columns], values)
        u |= {speeds[j]: row for j, row in zip(sheet.assembly.base_columns, base, strict=True)}
    return u, verification.all_speeds(u)


def check_point(
    verification: Verification, point: PointSection, u: Mapping[str, Floats], nu: Mapping[str, Floats]
) -> None:
    """Every equation about a point, with the point's place and velocity from its program."""
    seen, pose = _seen(verification, point, u)
    values = verification.values(nu, symbols={own.name: seen[part] for part, own in point.symbols.items()})
    by_name = {equation.name: equation for equation in point.section.equations}
    if point.chain:
        matrices = [values.matrix(by_name[name].right) for name in point.chain]
        _check_chain(verification, point.section.title, matrices, pose, u)
    for name, equation in by_name.items():
        what = name.removeprefix("determinant.")
        if what != name:
            jacobian = by_name.get(f"forward.{what}") or by_name[f"jacobian.{what}"]
            entries = np.moveaxis(values.matrix(jacobian.right), 2, 0)
            values.symbols[equation.left.name] = np.linalg.det(entries[:, : entries.shape[2]])
    verification.checker.equations(point.section.equations, values)


def _seen(
    verification: Verification, point: PointSection, u: Mapping[str, Floats]
) -> tuple[FigureValues, np.ndarray]:
    """Numbers of the parts of a point's place and velocity, and the pose there (3, 4, points)."""
    tree = verification.programs.mechanism.assembly.tree
    position, rotation, velocity = _frame(verification, tree.links[point.link].name, point.place(tree), u)
    if not point.world:
        parts = (velocity[:3], velocity[3:])
        velocity = np.concatenate([np.einsum("jik,jk->ik", rotation, part) for part in parts])
    seen = dict(zip(PARTS, velocity, strict=True)) | {"omega": velocity[5]}
    seen |= {f"p_{axis}": value for axis, value in zip("xyz", position, strict=True)}
    return seen, np.concatenate([rotation, position[:, None]], axis=1)


def _frame(
    verification: Verification, link: str, place: Vector, u: Mapping[str, Floats]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position (3, points), rotation (3, 3, points) and velocity (6, points) of a point on a link, in world axes."""
    motion = verification.run(frame_program(verification.programs, link, place), u)
    position, flat, velocity = (np.array([*motion[k].values()]) for k in ("position", "rotation", "velocity"))
    return position, flat.reshape(3, 3, -1), velocity


def _check_chain(
    verification: Verification,
    title: str,
    matrices: Sequence[np.ndarray],
    pose: np.ndarray,
    u: Mapping[str, Floats],
) -> None:
    """The product of poses from joint to joint, against the program's pose as seen from the base."""
    chain = np.broadcast_to(np.eye(4), (verification.checker.points, 4, 4))
    for matrix in matrices:
        chain = chain @ np.moveaxis(matrix, 2, 0)
    base = verification.programs.mechanism.assembly.tree.links[0].name
    origin, rotation, _ = _frame(verification, base, ZERO, u)
    seen = np.concatenate([pose[:, :3], pose[:, 3:] - origin[:, None]], axis=1)
    expected = np.einsum("jik,jlk->ilk", rotation, seen)
    size = 1.0 + np.abs(expected[:, 3]).max()
    verification.checker.compare(f"pose of {title}", np.moveaxis(chain[:, :3], 0, 2), expected, size)


@dataclass(frozen=True)
class DynamicCheck:
    """What the dynamic sections are compared by: numbers of all symbols at drawn states."""

    verification: Verification
    dynamics: Dynamics
    values: SymbolValues
    kinetic: Floats
    loops: bool

    def __call__(self, section: Section) -> None:
        """Motors, springs and contacts one by one; what moves by `_motion`."""
        checker, values = self.verification.checker, self.values
        named = {equation.name: equation for equation in section.equations}
        plain = [equation for name, equation in named.items() if not name.startswith(ACCELERATION)]
        checker.equations(plain, values)
        if "mass_matrix" in named:
            checker.definitions(section.equations, values)
            self._energy(named)
            self._motion(named)
        elif len(plain) < len(named):
            checker.definitions(section.equations, values)
            self._accelerations(named)

    def solution(self, lines: Sequence[Equation]) -> None:
        """Lines that solve for accelerations, each line's number known to those after it."""
        for line in lines:
            if not line.name.startswith(ACCELERATION):
                self.values.symbols[line.left.name] = self.values(line.right)
        self._accelerations({line.name: line for line in lines})

    @property
    def _speeds(self) -> list[sympy.Expr]:
        """The symbols of the independent speeds."""
        return [self.verification.sheet.symbol(label) for label in self.dynamics.labels]

    def _energy(self, named: Mapping[str, Equation]) -> None:
        """½ uᵀM u against the kinetic energy."""
        u = np.array([self.values(each) for each in self._speeds])
        momentum, size = product(named["mass_matrix"].right, u, self.values)
        energy, scale = (momentum * u).sum(axis=0) / 2, np.abs(size * u).sum(axis=0)
        self.verification.checker.compare("mass_matrix", energy, self.kinetic, scale)

    def _motion(self, named: Mapping[str, Equation]) -> None:
        """M u̇ + h = B τ + G f (+ Aᵀλ)."""
        values, mass = self.values, named["mass_matrix"].right
        rate = [values.symbols[rate_of(str(each))] for each in self._speeds]
        total, size = product(mass, rate, values)
        # Centrifugal terms that cancel in the equations leave their rounding in the program: m ω v, with ω about 1/s.
        size = size + product(mass, [values(each) for each in self._speeds], values)[1]
        torques, forces = (
            [values.symbol(push.symbol) for push in pushes]
            for pushes in (self.dynamics.motors, self.dynamics.others)
        )
        parts = ("bias", [1], 1), ("input_matrix", torques, -1), ("force_matrix", forces, -1)
        for name, vector, sign in parts:
            if name in named:
                part, own = product(named[name].right, vector, values)
                total, size = total + sign * part, size + own
        if self.loops:
            total = _without_multipliers(total, values.matrix(named["loop_rows"].right))
            size = np.broadcast_to(size.max(axis=0), size.shape)
        for label, left, own in zip(self.dynamics.labels, total, size, strict=True):
            self.verification.checker.compare(f"motion of {label}", left, 0.0, own)

    def _accelerations(self, named: Mapping[str, Equation]) -> None:
        """Explicit accelerations, to what rounding in the terms of M u̇ + h = B τ + G f makes of M⁻¹ times them."""
        values, dynamics, checker = self.values, self.dynamics, self.verification.checker
        every, points = range(len(dynamics.labels)), np.zeros(checker.points)
        mass = np.array([[values.polynomial(entry) + points for entry in row] for row in dynamics.mass])
        moving = [np.abs(values.symbols[rate_of(str(u))]) + np.abs(values(u)) for u in self._speeds]
        parts = [
            [points + values.polynomial_size(dynamics.mass[i][j]) * moving[j] for j in every] for i in every
        ]
        drive = dynamics.drive(self.verification.sheet.table)
        size = np.sum(parts, axis=1) + [points + values.polynomial_size(each) for each in drive]
        bound = (np.abs(np.linalg.inv(np.moveaxis(mass, 2, 0))) @ size.T[..., None])[..., 0].T
        for label, own in zip(dynamics.labels, bound, strict=True):
            equation = named.get(f"{ACCELERATION}{label}")
            if equation is not None:
                checker.compare(equation.name, values(equation.left), values(equation.right), own)


def dynamic_check(
    verification: Verification, sections: Sequence[Section], dynamics: Dynamics, model: Model, loops: bool
) -> DynamicCheck:
    """The check of these sections, at states that are drawn once."""
    known, rates = dynamic_verification(verification, model)
    named = {equation.name: equation for section in sections for equation in section.equations}
    values = verification.values(known, rates)
    # What springs and friction do, and how far voltages are held back, is no output of the program, but enters what is
    # compared.
    inner = ("passive.", "winding.")
    passive = {e.left.name: values(e.right) for name, e in named.items() if name.startswith(inner)}
    table = verification.sheet.table
    pushes = {push.symbol: table.symbols[push.symbol].name for push in dynamics.others}
    forces = {symbol: passive[name] for symbol, name in pushes.items() if name in passive}
    values = verification.values(known, rates, passive, verification.numbers | forces)
    return DynamicCheck(verification, dynamics, values, known["energy.kinetic"], loops)


def _without_multipliers(left_over: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """What is left of forces when the best multipliers of the loops' rows have taken theirs, point by point."""
    result = np.empty_like(left_over)
    for k in range(left_over.shape[1]):
        turned = rows[:, :, k if rows.shape[2] > 1 else 0].T
        multipliers = np.linalg.lstsq(turned, left_over[:, k], rcond=None)[0]
        result[:, k] = left_over[:, k] - turned @ multipliers
    return result
