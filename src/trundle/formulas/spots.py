"""Points on bodies as the compiled programs see them: what sections on bodies on joints are checked with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from trundle.formulas.comparison import Checker, Scene, columns
from trundle.formulas.equations import Equation, Section
from trundle.formulas.kinematics_section import Forward, Sheet
from trundle.formulas.scenes import coordinate_numbers, drawn_letters, parameter_columns, scene_of
from trundle.mechanics.rolling import Basis
from trundle.model.moving import MovingMechanism
from trundle.model.programs import frame_program, program_of, symbolic_mechanism
from trundle.spatial.vectors import ZERO, Vector, scale

PARTS = ("v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z")


@dataclass(frozen=True)
class Spot:
    """A point on a link, told in world axes or in the link's own: the frame's origin, the centre of mass, or the place
    of the joint of the link `holds`. `symbols` names the symbols of its place and velocity (p_x, v_x, omega_z …; omega
    for omega_z), `chain` the equations whose product is its pose.
    """

    link: int
    symbols: Mapping[str, str]
    world: bool
    center: bool = False
    holds: int | None = None
    chain: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spotted:
    """A section, and the point that it is about."""

    section: Section
    spot: Spot


class Spots:
    """Checks such sections: all at one drawn motion, which the wheels allow."""

    def __init__(self, sheet: Sheet, checker: Checker, forward: Forward | None, ideal: Basis | None) -> None:
        self.sheet, self.checker, self.forward, self.ideal = sheet, checker, forward, ideal

    @cached_property
    def programs(self) -> MovingMechanism:
        """The robot's mechanics as programs are traced from."""
        return symbolic_mechanism(self.sheet.mechanism.robot)

    @cached_property
    def letters(self) -> dict[int, Any]:
        """Drawn parameters and coordinates."""
        return drawn_letters(self.sheet, self.checker)

    @cached_property
    def motion(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The independent speeds, drawn, and all speeds by name."""
        names, points = self.programs.labels, self.checker.points
        u = {name: self.checker.rng.uniform(-2, 2, points) for name in names}
        if self.ideal is None and self.forward is not None:
            u |= self._base(u)
        speeds = self.programs.mechanism.assembly.speeds
        program = program_of(self.programs, "speeds", {"speed": (speeds, self.programs.nu)})
        (nu,) = program.evaluate(*self._groups(u))
        return u, dict(zip(speeds, nu, strict=True))

    def _base(self, u: Mapping[str, Any]) -> dict[str, Any]:
        """The base's motion as the wheels' drawn rates have it, by the checked forward kinematics."""
        assert self.forward is not None
        speeds = self.sheet.mechanism.assembly.speeds
        scene = Scene(self.sheet.mechanism.book, self.sheet.mechanism.letter_values(self.letters))
        matrix = scene.point.matrix(self.sheet.matrix(self.forward.matrix))
        rates = np.array([u[speeds[j]] for j in self.forward.columns])
        found = (matrix * rates).sum(axis=1)
        return {
            speeds[j]: row for j, row in zip(self.sheet.mechanism.assembly.base_columns, found, strict=True)
        }

    def _groups(self, u: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        points = self.checker.points
        q = coordinate_numbers(self.sheet, self.letters)
        parameters = parameter_columns(self.sheet, self.letters, points)
        return (
            columns(self.programs.mechanism.names, q, points),
            columns(self.programs.labels, u, points),
            parameters,
        )

    def check(self, spotted: Spotted) -> None:
        """Every equation of a section, with the point's place and velocity from its program."""
        u, nu = self.motion
        scene = scene_of(self.sheet, self.checker, self.letters, nu, {})
        seen, rotation = self._seen(spotted.spot, u)
        scene.symbols |= {name: seen[part] for part, name in spotted.spot.symbols.items()}
        if spotted.spot.chain:
            self._check_chain(spotted, scene, np.array([seen[f"p_{axis}"] for axis in "xyz"]), rotation)
        for equation in spotted.section.equations:
            if equation.name.startswith("determinant."):
                scene.symbols[equation.left.name] = _determinant(spotted.section, equation, scene)
        self.checker.equations(spotted.section.equations, scene)
        self.checker.definitions(scene)

    def _check_chain(
        self, spotted: Spotted, scene: Scene, position: np.ndarray, rotation: np.ndarray
    ) -> None:
        """The product of poses, against the program's: of the link as seen from the base, wherever that is."""
        by_name = {equation.name: equation for equation in spotted.section.equations}
        pose = np.broadcast_to(np.eye(4), (self.checker.points, 4, 4))
        for name in spotted.spot.chain:
            step = np.moveaxis(scene.point.matrix(by_name[name].right), 2, 0)
            pose = pose @ step
        program = frame_program(self.programs, self.programs.mechanism.assembly.tree.links[0].name, ZERO)
        origin, flat, *_ = program.evaluate(*self._groups(self.motion[0]))
        base = flat.reshape(3, 3, -1)
        rotation = np.einsum("jik,jlk->ilk", base, rotation)
        position = np.einsum("jik,jk->ik", base, position - origin)
        expected = np.concatenate([rotation, position[:, None]], axis=1)
        size = 1.0 + np.abs(position).max()
        self.checker.compare(
            f"pose of {spotted.section.title}", np.moveaxis(pose[:, :3], 0, 2), expected, size
        )

    def _seen(self, spot: Spot, u: Mapping[str, Any]) -> tuple[dict[str, Any], np.ndarray]:
        """Numbers of the parts of the point's place and velocity, and its rotation (3, 3, points)."""
        tree = self.programs.mechanism.assembly.tree
        inertia = tree.links[spot.link].inertia
        point: Vector = ZERO
        if spot.center:
            point = scale(1 / inertia.mass, inertia.first_moment)
        elif spot.holds is not None:
            point = tree.links[spot.holds].placement.position
        program = frame_program(self.programs, tree.links[spot.link].name, point)
        position, flat, velocity, *_ = program.evaluate(*self._groups(u))
        rotation = flat.reshape(3, 3, -1)
        if not spot.world:
            parts = (velocity[:3], velocity[3:])
            velocity = np.concatenate([np.einsum("jik,jk->ik", rotation, part) for part in parts])
        seen = dict(zip(PARTS, velocity, strict=True)) | {"omega": velocity[5]}
        return seen | {f"p_{axis}": value for axis, value in zip("xyz", position, strict=True)}, rotation


def _determinant(section: Section, equation: Equation, scene: Scene) -> Any:
    """The determinant of the Jacobian that the section prints, by numbers."""
    name = equation.name.removeprefix("determinant.")
    jacobian = next(e for e in section.equations if e.name in (f"forward.{name}", f"jacobian.{name}"))
    values = np.moveaxis(scene.point.matrix(jacobian.right), 2, 0)
    size = values.shape[2]
    return np.linalg.det(values[:, :size, :])
