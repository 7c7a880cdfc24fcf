"""A robot's mechanics as programs, each derived when it is first asked for: mass matrix, dynamics, frames, momentum.

All work on the model's own coordinates q and independent speeds u: with rolling constraints ν = S(q) u the mass matrix
is SᵀMS and a force on u is what the robot feels along the motions it has; without constraints u is ν.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Concatenate, NamedTuple, ParamSpec, cast

from trundle.arrays import FloatArray
from trundle.errors import InputError, suggest
from trundle.mechanics.frames import (
    frame_acceleration,
    frame_pose,
    frame_velocity,
    velocities,
    world_jacobian,
    world_poses,
)
from trundle.mechanics.inverse_dynamics import ExternalWrench, link_wrenches
from trundle.mechanics.linear import product, transpose
from trundle.mechanics.momentum import center_of_mass, total_momentum
from trundle.model.arguments import robot_of, three
from trundle.model.mechanism import mechanism
from trundle.model.model import Model
from trundle.model.model_program import ModelProgram, R, model_program
from trundle.model.moving import (
    MovingMechanism,
    bound_accelerations,
    free_accelerations,
    moving_mechanism,
    needed_force,
    reduced_mass,
)
from trundle.model.symbols import Groups, Symbols, parameter_group
from trundle.program import Program
from trundle.robot import Robot
from trundle.scalars import Scalar, is_zero
from trundle.spatial.motions import Force, flat, wrench_of
from trundle.spatial.vectors import Vector

P = ParamSpec("P")
TWIST = ("v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z")
WRENCH = ("force_x", "force_y", "force_z", "moment_x", "moment_y", "moment_z")


def symbolic_mechanism(robot: Robot | Model) -> MovingMechanism:
    """What every program of a robot starts from, in CasADi's symbols: programs come with inputs of their own, for which
    a tracer, whose groups are fixed, has no room.
    """
    lacking = (
        "it has no links to take this program from; rhs, mass_matrix, bias, named frames and linearize work"
    )
    robot = robot_of(robot, "a mechanism's program", lacking)
    return moving_mechanism(mechanism(robot), Symbols())


class FrameMotion(NamedTuple):
    """Where a point of a link is and how it moves, in world axes; behind each shape (count,) where many were asked for.

    position (3,) m; rotation (3, 3); velocity (6,) linear and angular, m/s and rad/s; jacobian (6, n) with
    velocity = jacobian · speed; bias (6,): acceleration = jacobian · (speed's rate) + bias.
    """

    position: FloatArray
    rotation: FloatArray
    velocity: FloatArray
    jacobian: FloatArray
    bias: FloatArray


class WholeMomentum(NamedTuple):
    """The centre of mass (3,) m, its velocity m/s, momentum kg m/s and angular momentum about it kg m²/s."""

    center: FloatArray
    velocity: FloatArray
    linear: FloatArray
    angular: FloatArray


def program_of(moving: MovingMechanism, name: str, outputs: Groups, more: Groups | None = None) -> Program:
    """A program of (coordinate, speed, more …, parameter)."""
    inputs: Groups = {
        "coordinate": (moving.mechanism.names, moving.q),
        "speed": (moving.labels, moving.u),
        **(more or {}),
        "parameter": parameter_group(moving.mechanism),
    }
    return moving.symbols.program(name, inputs, outputs)


def _memoize(
    make: Callable[Concatenate[Model, P], ModelProgram[R]],
) -> Callable[Concatenate[Model, P], ModelProgram[R]]:
    """A maker whose programs a model keeps: whoever asks again, in a loop say, has them at once."""

    @wraps(make)
    def recall(model: Model, *args: P.args, **kwargs: P.kwargs) -> ModelProgram[R]:
        key = (make.__name__, *args, *kwargs.items())
        if key not in model.kept_programs:
            model.kept_programs[key] = make(model, *args, **kwargs)
        return cast("ModelProgram[R]", model.kept_programs[key])

    return recall


def _called(
    model: Model, name: str, outputs: Groups, form: Callable[..., R], more: Groups | None = None
) -> ModelProgram[R]:
    return model_program(model, program_of(model.moving, name, outputs, more), form)


def _formed(model: Model, name: str) -> Program | None:
    """What a model without a description brings along; None of those that have a mechanism."""
    if model.robot is None and name not in model.formed:
        raise InputError(
            f"'{model.name}' has no {name} without the time", key=name, hint="rhs takes the time as a state"
        )
    return model.formed.get(name)


def rhs(model: Model) -> ModelProgram[FloatArray]:
    """ẋ of (state, input, parameter)."""
    return model_program(model, model.dynamics, _first)


def mass_matrix(model: Model) -> ModelProgram[FloatArray]:
    """SᵀMS, (n, n): `mass_matrix` of (coordinate, speed, parameter), row-major; the speeds have no effect.

    Of a mechanism with loops it is the mass matrix of the tree, whose speeds the loops bind.
    """
    if (known := _formed(model, "mass_matrix")) is not None:
        return model_program(model, known, _square)
    m = model.moving
    labels = [f"{a}, {b}" for a in m.labels for b in m.labels]
    entries = [value for row in reduced_mass(m.mechanism) for value in row]
    return _called(model, "mass_matrix", {"mass_matrix": (labels, entries)}, _square)


def bias(model: Model) -> ModelProgram[FloatArray]:
    """`bias` h of (coordinate, speed, parameter) with M u̇ + h = force: gravity, Coriolis and centrifugal forces.

    Motors, springs, friction and slipping wheels are no part of it; with loops it is the tree's. Of SymPy's equations
    it is all that acts where inputs and further states are 0.
    """
    if (known := _formed(model, "bias")) is not None:
        return model_program(model, known, _first)
    m = model.moving
    return _called(model, "bias", {"bias": (m.labels, needed_force(m, [0] * len(m.labels)))}, _first)


def gravity(model: Model) -> ModelProgram[FloatArray]:
    """`gravity` of (coordinate, speed, parameter): the bias at rest, what must be applied to hold the weight."""
    m = model.moving
    still = replace(m, nu=[0] * len(m.nu), drift=[0] * len(m.drift))
    return _called(
        model, "gravity", {"gravity": (m.labels, needed_force(still, [0] * len(m.labels)))}, _first
    )


@_memoize
def inverse_dynamics(model: Model, pushed: tuple[str, ...]) -> ModelProgram[FloatArray]:
    """`force` on the speeds (N, N m) for an `acceleration` u̇: Sᵀ(M (S u̇ + Ṡ u) + c − Σ Jᵀ w).

    `pushed` names links on which wrenches act: group `wrench`, forces and moments about each link's origin, world axes.
    Motors, springs, friction and slipping wheels are not in it: it is what they together must give. With loops it is
    what the tree needs without forces at the loops; any Aᵀλ of theirs may be added.
    """
    m = model.moving
    u_dot = m.symbols.make("acceleration", len(m.labels))
    wrenches, group = _wrenches(m, pushed)
    more = {"acceleration": (m.labels, u_dot), **group}
    force = needed_force(m, u_dot, wrenches)
    return _called(model, "inverse_dynamics", {"force": (m.labels, force)}, _first, more)


@_memoize
def forward_dynamics(model: Model, pushed: tuple[str, ...]) -> ModelProgram[FloatArray]:
    """`acceleration` u̇ for a `force` on the speeds (N, N m), gravity included; `pushed` as in inverse dynamics.

    A tree without constraints takes the articulated-body algorithm, others the reduced mass matrix; loops are held by
    multipliers.
    """
    m = model.moving
    force = m.symbols.make("force", len(m.labels))
    wrenches, group = _wrenches(m, pushed)
    if m.mechanism.constrained:
        rest = needed_force(m, [0] * len(m.labels), wrenches)
        rates = bound_accelerations(m, [f - r for f, r in zip(force, rest, strict=True)]).rates
    else:
        rates = free_accelerations(m, force, wrenches)
    more = {"force": (m.labels, force), **group}
    return _called(model, "forward_dynamics", {"acceleration": (m.labels, rates)}, _first, more)


def momentum(model: Model) -> ModelProgram[WholeMomentum]:
    """`center` of mass (m), its `velocity` (m/s), momentum about it: `linear` (kg m/s), `angular` (kg m²/s).

    All in world axes.
    """
    m = model.moving
    tree, poses = m.mechanism.assembly.tree, m.mechanism.at.poses
    world = world_poses(tree, poses)
    mass, center = center_of_mass(tree, world)
    total = total_momentum(tree, world, velocities(tree, poses, m.nu[: tree.speed_count]))
    outputs: Groups = {
        "center": (("x", "y", "z"), center),
        "velocity": (("v_x", "v_y", "v_z"), [p / mass for p in total.linear]),
        "linear": (("p_x", "p_y", "p_z"), total.linear),
        "angular": (("L_x", "L_y", "L_z"), total.angular),
    }
    return _called(model, "momentum", outputs, WholeMomentum)


def frame(model: Model, link: str, point: Sequence[float | str]) -> ModelProgram[FrameMotion]:
    """`frame_program`, callable; the point in m or as text with units."""
    if model.robot is None:
        place = three(point, "point", "x, y and z", ("m", "m", "m"))
        if any(place):
            raise InputError(
                f"points of '{model.name}' are those that were named", key="point", hint="name it, too"
            )
        points = [name.removeprefix("frame_") for name in model.formed if name.startswith("frame_")]
        hint = "trundle.from_sympy(…, points={…}) names them" if not points else suggest(link, points)
        if link not in points:
            raise InputError(f"no point of '{model.name}' is named '{link}'", key=link, hint=hint)
        return model_program(model, model.formed[f"frame_{link}"], _frame_motion)
    return _frame_at(model, link, three(point, "point", "x, y and z", ("m", "m", "m")))


@_memoize
def _frame_at(model: Model, link: str, point: tuple[float, ...]) -> ModelProgram[FrameMotion]:
    return model_program(model, frame_program(model.moving, link, point), _frame_motion)


def frame_program(m: MovingMechanism, link: str, point: Sequence[Scalar] = (0, 0, 0)) -> Program:
    """Everything about a point fixed in a link and the link's frame, in world axes.

    Outputs: `position` (3, m), `rotation` (3×3 row-major), `velocity` (linear, angular: m/s, rad/s), `jacobian` (6×n
    row-major, velocity = J u) and `bias` = J̇ u, so that the acceleration is J u̇ + bias.
    """
    tree, poses, index = m.mechanism.assembly.tree, m.mechanism.at.poses, m.mechanism.link(link)
    count = tree.speed_count
    # An exact zero is the integer: it folds what it multiplies.
    x, y, z = (0 if is_zero(value) else value for value in point)
    place: Vector = (x, y, z)
    pose = frame_pose(tree, poses, index, place)
    nu, drift = m.nu[:count], m.drift[:count]
    columns = [flat(column) for column in world_jacobian(tree, poses, index, place)]
    basis = m.mechanism.basis.matrix[:count]
    jacobian = product(transpose(columns), basis) if columns else [[] for _ in TWIST]
    outputs: Groups = {
        "position": (("x", "y", "z"), pose.position),
        "rotation": ([f"R_{a}{b}" for a in "xyz" for b in "xyz"], [v for row in pose.rotation for v in row]),
        "velocity": (TWIST, flat(frame_velocity(tree, poses, nu, index, place))),
        "jacobian": ([f"{a}, {b}" for a in TWIST for b in m.labels], [v for row in jacobian for v in row]),
        "bias": (TWIST, flat(frame_acceleration(tree, poses, nu, drift, index, place))),
    }
    return program_of(m, f"frame_{link}", outputs)


def _first(array: FloatArray) -> FloatArray:
    return array


def _square(array: FloatArray) -> FloatArray:
    size = math.isqrt(len(array))
    return array.reshape(size, size, *array.shape[1:])


def _frame_motion(
    position: FloatArray, rotation: FloatArray, velocity: FloatArray, jacobian: FloatArray, bias: FloatArray
) -> FrameMotion:
    many = position.shape[1:]
    return FrameMotion(
        position,
        rotation.reshape(3, 3, *many),
        velocity,
        jacobian.reshape(6, len(jacobian) // 6, *many),
        bias,
    )


def _wrenches(m: MovingMechanism, pushed: Sequence[str]) -> tuple[list[Force] | None, Groups]:
    """What pushes on each link, in its own axes, and the group of inputs that says so; None without any."""
    if not pushed:
        return None, {}
    w = m.symbols.make("wrench", 6 * len(pushed))
    pushes = [
        ExternalWrench(m.mechanism.link(name), wrench_of(w[6 * k : 6 * k + 6]), axes="world")
        for k, name in enumerate(pushed)
    ]
    labels = [f"{name}.{part}" for name in pushed for part in WRENCH]
    tree = m.mechanism.assembly.tree
    return link_wrenches(tree, world_poses(tree, m.mechanism.at.poses), pushes), {"wrench": (labels, w)}
