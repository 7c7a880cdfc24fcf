"""Odometry: a robot's pose from the increments of its wheels' encoders, exact on the arc, with its Jacobians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trundle.arrays import as_numbers
from trundle.errors import InputError, require_known
from trundle.mechanics.quantities import Quantities
from trundle.model import Model
from trundle.model.arguments import robot_of
from trundle.model.symbols import Groups, entries
from trundle.motion.odometry.counts import derive_counts
from trundle.motion.odometry.displacement import POSE, advance, chained
from trundle.motion.odometry.unwrapping import Wraps, reduced, unwrap
from trundle.program import Kernel, Program, compile_program
from trundle.results import Run
from trundle.robot import Robot

if TYPE_CHECKING:
    from trundle.motion.odometry.formulas import OdometryFormulas

# Numbers or arrays of some names, in their order or by name; and parameters that are changed.
Numbers = npt.ArrayLike | Mapping[str, npt.ArrayLike]
Parameters = Mapping[str, float | str]


@dataclass(frozen=True, repr=False)
class Odometry:
    """pose' = pose · exp(J(α) Δ): the base's pose (x, y, θ) after the increments Δ of its wheels' angles.

    The twist that the increments stand for is held constant in the base's own axes, so the base moves on an arc,
    exactly (`trundle.motion.odometry.displacement`). J is the least-squares solution over all wheels
    (`trundle.model.rolling_motion`).
    `angles` are the steering and joint angles α that J depends on, as they are before the increment; those that are
    among the increments are taken in the middle of it, α + Δα/2, the others are held.

    Increments that are `steered` too, among `angles` and in rad, count within half a turn either way.

    `program` maps the groups pose, increment, angle, parameter to `pose` and its Jacobians "d pose/d pose" (F),
    "d pose/d increment" (G) and "d pose/d angle" (H), row-major, by automatic differentiation.
    """

    name: str
    increments: tuple[str, ...]
    angles: tuple[str, ...]
    parameters: Mapping[str, float]
    quantities: Quantities
    program: Program
    robot: Robot
    given: tuple[str, ...]
    steered: tuple[str, ...] = ()

    @property
    def units(self) -> Mapping[str, str]:
        """The SI units by name."""
        return self.quantities.units

    @cached_property
    def _kernel(self) -> Kernel:
        return compile_program(self.program)

    def update(
        self,
        pose: Numbers,
        increments: Numbers,
        angles: Numbers = (),
        *,
        parameters: Parameters | None = None,
        wraps: float | str | None = None,
    ) -> np.ndarray:
        """The pose after increments.

        Parameters
        ----------
        pose : array (3,) or (3, count), or mapping
            x, y (m), θ (rad), of one robot or of many.
        increments : array (n,) or (n, count), or mapping
            In the order of `increments`, or by name (rad, or m of sliding joints).
        angles : array or mapping, optional
            In the order of `angles`, or by name; as they are before the increments.
        parameters : mapping, optional
            Parameters that differ from the description's, as numbers in SI or text with units.
        wraps : float or str, optional
            After how much the encoders' readings begin anew (rad), such as "360 deg": increments are then differences
            of such readings, and count as the nearest to 0. Steering always counts within half a turn.

        Returns
        -------
        array (3,) or (3, count)
            The new x, y (m), θ (rad).

        Raises
        ------
        InputError
            Names or shapes don't fit; with `wraps` an increment is larger than that, or about half of it.

        Examples
        --------
        >>> import trundle
        >>> odometry = trundle.odometry(trundle.catalog.differential_drive(radius=0.1, track=0.5))
        >>> odometry.update([0, 0, 0], [-6.0, -6.0], wraps="360 deg").round(4).tolist()  # from 3 to -3 rad
        [0.0283, 0.0, 0.0]
        """
        return self._evaluate(pose, increments, angles, parameters, Wraps.of(wraps))[0]

    def propagate(
        self,
        pose: Numbers,
        covariance: npt.ArrayLike,
        increments: Numbers,
        increment_covariance: npt.ArrayLike,
        angles: Numbers = (),
        angle_covariance: npt.ArrayLike | None = None,
        *,
        parameters: Parameters | None = None,
        wraps: float | str | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The pose after increments and its covariance F Σ Fᵀ + G Q Gᵀ (+ H R Hᵀ), to first order in the noise.

        Parameters
        ----------
        pose, increments, angles, parameters, wraps
            As in `update`.
        covariance : array (3, 3) or (3, 3, count)
            Σ of the pose before.
        increment_covariance : array (n, n) or (n, n, count)
            Q of the increments.
        angle_covariance : array (m, m) or (m, m, count), optional
            R of the angles; without it they count as exact.

        Returns
        -------
        tuple of arrays
            The pose as `update` gives it, and its covariance, (3, 3) or (3, 3, count).

        Raises
        ------
        InputError
            Names or shapes don't fit, or a covariance is none: not symmetric, or with a variance below 0.

        References
        ----------
        Thrun, Burgard & Fox 2005, sec. 7.3.
        """
        after, *slopes = self._evaluate(pose, increments, angles, parameters, Wraps.of(wraps))
        noises = {
            "covariance": covariance,
            "increment_covariance": increment_covariance,
            "angle_covariance": angle_covariance,
        }
        return after, _propagated(slopes, noises)

    def along(
        self,
        measured: Mapping[str, npt.ArrayLike] | Run,
        pose: Numbers = (0.0, 0.0, 0.0),
        covariance: npt.ArrayLike | None = None,
        *,
        increment_covariance: npt.ArrayLike | None = None,
        angle_covariance: npt.ArrayLike | None = None,
        parameters: Parameters | None = None,
        wraps: float | str | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Poses and their covariances along what was measured of wheels and steering over time.

        Parameters
        ----------
        measured : mapping of str to array (n,), or Run
            At n times the coordinates whose `increments` are counted, and the `angles`, by name (rad; m of sliding
            joints): of a run, of encoders, or of a motion (`Motion.measurements`). With `time` (s), and rates such as
            "left.rate" (rad/s), where there are some.
        pose : array (3,) or mapping, optional
            x, y (m), θ (rad) at the first time.
        covariance : array (3, 3), optional
            Of that pose; by default 0.
        increment_covariance, angle_covariance : array, optional
            Q and R as in `propagate`, of single steps, independent of one another; by default 0.
        parameters : mapping, optional
            As in `update`.
        wraps : float or str, optional
            After how much the encoders' readings begin anew (rad), or "no". By default that shows: where they stay
            within a turn and step by more than half of one, all other steps are to be below a quarter.

        Returns
        -------
        tuple of arrays
            Poses (n, 3), and covariances (n, 3, 3).

        Raises
        ------
        InputError
            A coordinate is missing, or shapes don't fit; or it is doubtful whether, or by how much, readings have begun
            anew.

        Examples
        --------
        >>> import trundle
        >>> robot = trundle.catalog.differential_drive(radius=0.1)
        >>> run = trundle.roll(robot, 2.0, {"v_x": 0.5, "omega": 0.2})
        >>> poses, _ = trundle.odometry(robot).along(run)
        >>> bool(abs(poses[-1] - [run["x"][-1], run["y"][-1], run["theta"][-1]]).max() < 1e-9)
        True
        """
        rates = dict(zip(self.increments, self.given, strict=True))
        more = [name for name in ("time", *self.given) if name in measured]
        names = tuple(dict.fromkeys((*self.increments, *self.angles, *more)))
        rows = group_of("measurements", names, {name: measured[name] for name in names if name in measured})
        told = dict(zip(names, rows.reshape(len(names), -1), strict=True))
        turning = {name: told[name] for name in self.increments if self.units[name] == "rad"}
        known = {name: told[rate] for name, rate in rates.items() if rate in more}
        times = told.get("time", np.arange(float(rows[0].size)))
        whole = unwrap(turning, times, Wraps.of(wraps), self.steered, known)
        # Steps from the origin all at once, as one batch; `chained` turns them into the world.
        steps = np.diff(np.array([whole.get(name, told[name]) for name in self.increments]))
        before = np.array([told[name][:-1] for name in self.angles]).reshape(len(self.angles), steps.shape[1])
        local, forward, *slopes = self._evaluate(np.zeros((3, steps.shape[1])), steps, before, parameters)
        start = (
            np.zeros((3, 3)) if covariance is None else square_covariance(covariance, "covariance", len(POSE))
        )
        noises = {"increment_covariance": increment_covariance, "angle_covariance": angle_covariance}
        added = np.zeros((3, 3, steps.shape[1])) + _propagated(slopes, noises)
        return chained(local, forward.reshape(3, 3, -1), added, group_of("pose", POSE, pose), start)

    def formulas(self) -> OdometryFormulas:
        """The same in SymPy, with the description's own parameters as symbols, checked against the program."""
        from trundle.motion.odometry.formulas import derive_formulas

        return derive_formulas(self)

    def __repr__(self) -> str:
        angles = f" at {', '.join(self.angles)}" if self.angles else ""
        return (
            f"<Odometry of {self.name}: x, y, theta from {', '.join(self.increments)}{angles}; "
            f"{self.program.operations} operations with Jacobians>"
        )

    def _repr_markdown_(self) -> str:
        return self.formulas().equations.markdown()

    def _repr_html_(self) -> str:
        return self.formulas().equations.html()

    def _evaluate(
        self,
        pose: Numbers,
        increments: Numbers,
        angles: Numbers,
        parameters: Parameters | None,
        wraps: Wraps | None = None,
    ) -> tuple[np.ndarray, ...]:
        values = self.robot.parameter_values(parameters)
        steps = group_of("increments", self.increments, increments)
        groups = [
            group_of("pose", POSE, pose),
            steps if wraps is None else reduced(steps, self.increments, wraps, self.steered),
            group_of("angles", self.angles, angles),
        ]
        return self._kernel(*_alike(groups), np.array(list(values.values())))


def derive_odometry(robot: Robot | Model, given: Sequence[str] | None = None) -> Odometry:
    """The odometry of a robot on a planar base, from increments of the angles of its wheels and joints.

    pose' = pose · exp(J(α) Δ), with J Δ the least-squares solution of all wheels' rolling constraints.

    Parameters
    ----------
    robot : Robot or Model
        The robot, or a model derived from it.
    given : sequence of str, optional
        The rates of the angles that are counted, such as "left.rate": of wheels, steering, couplings, joints. By
        default those of all that motors drive and that move the base; without motors of all wheels but casters.

    Returns
    -------
    Odometry
        The update of a pose, with its Jacobians, as a program.

    Raises
    ------
    InputError
        The base isn't planar; wheels hang on closed loops; a name is no rate; the rates don't determine the base's
        motion.

    References
    ----------
    Muir & Neuman 1987, eq. 4.21, for least squares over all wheels; the exponential of a constant twist is exact on
    the arc (Lynch & Park 2017, sec. 13.4).

    Examples
    --------
    >>> import trundle
    >>> odometry = trundle.odometry(trundle.catalog.robot("differential_drive", radius=0.1, track=0.5))
    >>> odometry.increments
    ('right.angle', 'left.angle')
    >>> odometry.update([0, 0, 0], [1.0, 1.0]).round(6).tolist()  # x, y (m), theta (rad)
    [0.1, 0.0, 0.0]
    """
    robot = robot_of(robot, "odometry", "it has no wheels to count the turns of")
    counts = derive_counts(robot, given)
    symbols = counts.symbols
    pose = symbols.make("pose", len(POSE))
    inputs: Groups = {"pose": (POSE, pose), **counts.groups()}
    outputs: Groups = {"pose": (POSE, advance(pose, entries(counts.moved)))}
    quantities = counts.here.assembly.quantities
    return Odometry(
        name=robot.name,
        increments=tuple(counts.increments),
        angles=tuple(counts.angles),
        parameters=counts.here.numbers.parameters,
        quantities=quantities.only((*POSE, *counts.increments, *counts.angles)),
        program=symbols.program("odometry", inputs, outputs).with_jacobians(
            "pose", "pose", "increment", "angle"
        ),
        robot=robot,
        given=counts.plan.given,
        steered=counts.steered,
    )


def group_of(what: str, names: Sequence[str], given: Numbers) -> np.ndarray:
    """An array (n,) or (n, count) of numbers by name or in order; raises InputError."""
    if isinstance(given, Mapping):
        for name in given:
            require_known(name, names, f"'{name}' is not one of the {what}", key=str(name))
        missing = [name for name in names if name not in given]
        if missing:
            raise InputError(
                f"{what} lack '{missing[0]}'", key=missing[0], hint=f"give all of: {', '.join(names)}"
            )
        given = np.broadcast_arrays(*(given[name] for name in names), subok=True) if names else ()
    values = as_numbers(given, f"the {what}")
    if values.ndim not in (1, 2) or len(values) != len(names):
        needed = f"{len(names)} numbers ({', '.join(names)})" if names else "no numbers"
        raise InputError(f"expected {needed} along the first axis, got the shape {values.shape}", key=what)
    for name, row in zip(names, values, strict=True):
        if not np.isfinite(row).all():
            raise InputError(f"'{name}' holds something that is not a finite number", key=what)
    return values


def _alike(groups: list[np.ndarray]) -> list[np.ndarray]:
    """The same, where those that are batches are of one count; else InputError."""
    counts = {group.shape[1] for group in groups if group.ndim == 2}
    if len(counts) > 1:
        raise InputError(
            f"pose, increments and angles are of {' and '.join(map(str, sorted(counts)))} robots"
        )
    return groups


def _propagated(slopes: Sequence[np.ndarray], noises: Mapping[str, npt.ArrayLike | None]) -> np.ndarray:
    """Σ S N Sᵀ of a pose: slopes S row-major (3 k, …), covariances N (k, k), of which None counts as exact."""
    total = np.zeros(())
    for flat, (name, noise) in zip(slopes, noises.items(), strict=True):
        if noise is not None:
            slope = flat.reshape(len(POSE), len(flat) // len(POSE), *flat.shape[1:])
            spread = square_covariance(noise, name, slope.shape[1])
            total = total + np.einsum("ij...,jk...,lk...->il...", slope, spread, slope)
    return total


def square_covariance(given: npt.ArrayLike, name: str, size: int) -> np.ndarray:
    """A covariance (size, size), or a batch of them with the count last; else InputError."""
    matrix = as_numbers(given, name)
    if matrix.shape[:2] != (size, size) or matrix.ndim not in (2, 3):
        hint = f"np.diag({name}) where it holds variances" if matrix.shape == (size,) else None
        message = f"expected a matrix ({size}, {size}), or one a lane, got the shape {matrix.shape}"
        raise InputError(message, key=name, hint=hint)
    if not np.isfinite(matrix).all():
        raise InputError(f"{name} holds something that is not a finite number", key=name)
    if size:
        _require_covariance(matrix, name)
    return matrix


# What rounding may leave of symmetry and of zero in a sum over many steps, in parts of the largest entry.
_ROUNDED = 1e-9


def _require_covariance(matrix: np.ndarray, name: str) -> None:
    """Raise InputError where a matrix, or one of a batch, isn't symmetric or has a variance below 0."""
    least = _ROUNDED * np.abs(matrix).max(axis=(0, 1))
    if (np.abs(matrix - matrix.swapaxes(0, 1)) > least).any():
        raise InputError("a covariance is symmetric, and this matrix is not", key=name)
    lowest = np.linalg.eigvalsh(np.moveaxis(matrix, (0, 1), (-2, -1))).min(axis=-1)
    if (lowest < -least).any():
        message = (
            f"a variance can't be below 0, and this covariance has {np.min(lowest):.3g} in some direction"
        )
        raise InputError(message, key=name)
