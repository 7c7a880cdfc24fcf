"""Joints: how a child frame moves in its parent's, and the motion subspace it moves in.

Each kind gives its pose T_joint_child(q), its motion subspace S in the child's frame, S's rate where that isn't zero,
and the rates q̇ = N(q) ν of its coordinates (Featherstone 2008, table 4.1). Formulas from outside are looked at first in
plain numbers: a subspace that is not the derivative of the pose gives motions that look well and are wrong, with energy
kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from trundle.errors import InputError
from trundle.mechanics.quantities import QUATERNION, Quantity, angle, length, sliding, turning
from trundle.robot.bodies import Joint
from trundle.scalars import Scalar, cos, sin, sqrt
from trundle.spatial.motions import IDENTITY_POSE, ZERO_MOTION, Motion, Pose, compose, inverse
from trundle.spatial.vectors import (
    IDENTITY,
    ZERO,
    Matrix,
    Vector,
    add,
    apply,
    apply_transposed,
    axis_rotation,
    cross,
    multiply,
    principal_rotation,
    scale,
    subtract,
)

# How fast a quaternion's length returns to 1 (1/s). It only has to outrun the integrators' rounding, so it may be slow
# enough never to make a model stiff; it acts along the quaternion, which turns nothing.
QUATERNION_PULL = 1.0


class Turn(NamedTuple):
    """An angle known by its cosine and sine, where those are cheaper than the angle itself."""

    cos: Scalar
    sin: Scalar


class JointShape(NamedTuple):
    """What a joint's formulas depend on beside q: constant unit axes in the joint's frame, a screw's advance (m/rad),
    and where the joint's frame stands in the parent link's.
    """

    axis: Vector = (0, 0, 1)
    second_axis: Vector = (0, 1, 0)
    pitch: Scalar = 0
    placement: Pose = IDENTITY_POSE


Columns = tuple[Motion, ...]


def _constant(columns: Columns, _nu: Sequence[Scalar]) -> Columns:
    return tuple(ZERO_MOTION for _ in columns)


class JointKind(NamedTuple):
    """What one kind of joint is: its coordinates and speeds, and its functions.

    `pose(shape, q)` is T_joint_child; `subspace(shape, pose)` gives the columns of S in the child's frame, where
    `pose` is T_parent_child (placement included); `rates(shape, q, ν)` is q̇; `subspace_rate(S, ν)` is Ṡ there.
    `hinge`: it turns about its axis and nothing else; `frame_stays`: its child's frame does not move with it.
    """

    coordinates: tuple[Quantity, ...]
    speeds: tuple[Quantity, ...]
    pose: Callable[[JointShape, Sequence[Scalar]], Pose]
    subspace: Callable[[JointShape, Pose], Columns]
    rates: Callable[[JointShape, Sequence[Scalar], Sequence[Scalar]], tuple[Scalar, ...]]
    subspace_rate: Callable[[Columns, Sequence[Scalar]], Columns] = _constant
    hinge: bool = False
    frame_stays: bool = False

    @property
    def slides(self) -> bool:
        """Whether all of its motion is along an axis."""
        return bool(self.speeds) and all(speed.slides for speed in self.speeds)

    @property
    def turns(self) -> bool:
        """Whether some of its motion is about an axis."""
        return any(not speed.slides for speed in self.speeds)


def _turn(angle: Scalar | Turn) -> Turn:
    return angle if isinstance(angle, Turn) else Turn(cos(angle), sin(angle))


def rotation_about(axis: Vector, angle: Scalar | Turn) -> tuple[Vector, Vector, Vector]:
    """The rotation by an angle about a constant unit axis; structural zeros are kept along coordinate axes."""
    c, s = _turn(angle)
    for index in range(3):
        others = [axis[k] for k in range(3) if k != index]
        if all(isinstance(k, (int, float)) and k == 0 for k in others):
            return principal_rotation(index, c, s if axis[index] > 0 else -s)
    return axis_rotation(axis, c, s)


def quaternion_rotation(w: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Matrix:
    """R = 1 + (2/|q|²)(w [r]× + [r]×²), r = (x, y, z): a rotation for a quaternion of any length but 0."""
    k = 2 / (w * w + x * x + y * y + z * z)
    return (
        (1 - k * (y * y + z * z), k * (x * y - w * z), k * (x * z + w * y)),
        (k * (x * y + w * z), 1 - k * (x * x + z * z), k * (y * z - w * x)),
        (k * (x * z - w * y), k * (y * z + w * x), 1 - k * (x * x + y * y)),
    )


def _quaternion_rates(q: Sequence[Scalar], omega: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """q̇ = ½ q ⊗ (0, ω) + k (1 − |q|²) q, ω in the child's frame (Featherstone 2008, eq. 4.13).

    The second term, after Baumgarte (1972), is zero on unit quaternions and always along q, so it changes no rotation.
    """
    w, x, y, z = q
    a, b, c = omega
    pull = QUATERNION_PULL * (1 - (w * w + x * x + y * y + z * z))
    return (
        (-x * a - y * b - z * c) / 2 + pull * w,
        (w * a + y * c - z * b) / 2 + pull * x,
        (w * b - x * c + z * a) / 2 + pull * y,
        (w * c + x * b - y * a) / 2 + pull * z,
    )


def plane_axes(normal: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors across a constant unit normal, right-handed with it (x, y for z; y, z for x; z, x for y)."""
    sizes = [abs(component) for component in normal]
    largest = sizes.index(max(sizes))
    start = IDENTITY[(largest + 1) % 3] if normal[largest] > 0 else IDENTITY[(largest + 2) % 3]
    along = sum(a * b for a, b in zip(start, normal, strict=True))
    if along == 0:
        return start, cross(normal, start)
    first = add(start, scale(-along, normal))
    first = scale(1 / sqrt(1 - along * along), first)
    return first, cross(normal, first)


def _planar_pose(shape: JointShape, q: Sequence[Scalar]) -> Pose:
    first, second = plane_axes(shape.axis)
    return Pose(rotation_about(shape.axis, q[2]), add(scale(q[0], first), scale(q[1], second)))


def _planar_subspace(shape: JointShape, _pose: Pose) -> Columns:
    first, second = plane_axes(shape.axis)
    return (Motion(first, ZERO), Motion(second, ZERO), Motion(ZERO, shape.axis))


def _planar_rates(_shape: JointShape, q: Sequence[Scalar], nu: Sequence[Scalar]) -> tuple[Scalar, ...]:
    c, s = _turn(q[2])
    return (c * nu[0] - s * nu[1], s * nu[0] + c * nu[1], nu[2])


def _floating_pose(_shape: JointShape, q: Sequence[Scalar]) -> Pose:
    return Pose(quaternion_rotation(*q[3:7]), (q[0], q[1], q[2]))


def _floating_rates(_shape: JointShape, q: Sequence[Scalar], nu: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """ṗ = R v, v and ω in the child's frame."""
    velocity = apply(quaternion_rotation(*q[3:7]), (nu[0], nu[1], nu[2]))
    return (*velocity, *_quaternion_rates(q[3:7], nu[3:6]))


def _universal_pose(shape: JointShape, q: Sequence[Scalar]) -> Pose:
    return Pose(multiply(rotation_about(shape.axis, q[0]), rotation_about(shape.second_axis, q[1])), ZERO)


def _universal_subspace(shape: JointShape, pose: Pose) -> Columns:
    """The first axis as the child sees it, and the second, which the child carries.

    R₂ᵀ a₁ = (R₁ R₂)ᵀ a₁, so the joint's pose is all that is needed.
    """
    carried = apply_transposed(pose.rotation, apply(shape.placement.rotation, shape.axis))
    return (Motion(ZERO, carried), Motion(ZERO, shape.second_axis))


def _universal_subspace_rate(columns: Columns, nu: Sequence[Scalar]) -> Columns:
    """ṡ₁ = −ν₂ a₂ × s₁: the first axis as seen from a child that turns about the second."""
    first, second = columns
    return (Motion(ZERO, scale(nu[1], cross(first.angular, second.angular))), ZERO_MOTION)


def _pin_slot_subspace(shape: JointShape, pose: Pose) -> Columns:
    """The pin's axis, and the slot as the child sees it, which turns with the pin."""
    slot = apply_transposed(pose.rotation, apply(shape.placement.rotation, shape.second_axis))
    return (Motion(ZERO, shape.axis), Motion(slot, ZERO))


def _pin_slot_subspace_rate(columns: Columns, nu: Sequence[Scalar]) -> Columns:
    """ṡ₂ = −ν₁ a₁ × s₂: the slot as seen from a child that turns about the pin."""
    pin, slot = columns
    return (ZERO_MOTION, Motion(scale(nu[0], cross(slot.linear, pin.angular)), ZERO))


def _same(_shape: JointShape, _q: Sequence[Scalar], nu: Sequence[Scalar]) -> tuple[Scalar, ...]:
    return tuple(nu)


def _turns_about(shape: JointShape, _pose: Pose) -> Columns:
    return (Motion(ZERO, shape.axis),)


_TRANSLATIONS = tuple(Motion(e, ZERO) for e in IDENTITY)
_ROTATIONS = tuple(Motion(ZERO, e) for e in IDENTITY)
_PLACE = tuple(length(axis) for axis in "xyz")
_VELOCITY = tuple(sliding(f"v_{axis}") for axis in "xyz")
_ANGLE = (angle("angle"),), (turning("rate", "angle"),)
_ANGLE_AND_POSITION = (
    (angle("angle"), length("position")),
    (turning("rate", "angle"), sliding("speed", "position")),
)
_ANGULAR_VELOCITY = tuple(turning(f"omega_{axis}") for axis in "xyz")

KINDS: dict[str, JointKind] = {
    "fixed": JointKind((), (), lambda shape, q: IDENTITY_POSE, lambda shape, pose: (), _same),
    "revolute": JointKind(
        *_ANGLE,
        lambda shape, q: Pose(rotation_about(shape.axis, q[0]), ZERO),
        _turns_about,
        _same,
        hinge=True,
    ),
    # The spin of a body that is symmetric about its axle: its frame stays with the carrier, which leaves every
    # formula true (the inertia looks the same from both frames) and keeps the sine and cosine of the spin angle out
    # of the equations.
    "spin": JointKind(*_ANGLE, lambda shape, q: IDENTITY_POSE, _turns_about, _same, frame_stays=True),
    "prismatic": JointKind(
        (length("position"),),
        (sliding("rate", "position"),),
        lambda shape, q: Pose(IDENTITY, scale(q[0], shape.axis)),
        lambda shape, pose: (Motion(shape.axis, ZERO),),
        _same,
    ),
    "screw": JointKind(
        *_ANGLE,
        lambda shape, q: Pose(rotation_about(shape.axis, q[0]), scale(shape.pitch * q[0], shape.axis)),
        lambda shape, pose: (Motion(scale(shape.pitch, shape.axis), shape.axis),),
        _same,
    ),
    "cylindrical": JointKind(
        *_ANGLE_AND_POSITION,
        lambda shape, q: Pose(rotation_about(shape.axis, q[0]), scale(q[1], shape.axis)),
        lambda shape, pose: (Motion(ZERO, shape.axis), Motion(shape.axis, ZERO)),
        _same,
    ),
    "universal": JointKind(
        (angle("angle_1"), angle("angle_2")),
        (turning("rate_1", "angle_1"), turning("rate_2", "angle_2")),
        _universal_pose,
        _universal_subspace,
        _same,
        _universal_subspace_rate,
    ),
    "pin_slot": JointKind(
        *_ANGLE_AND_POSITION,
        lambda shape, q: Pose(rotation_about(shape.axis, q[0]), scale(q[1], shape.second_axis)),
        _pin_slot_subspace,
        _same,
        _pin_slot_subspace_rate,
    ),
    "spherical": JointKind(
        QUATERNION,
        _ANGULAR_VELOCITY,
        lambda shape, q: Pose(quaternion_rotation(*q), ZERO),
        lambda shape, pose: _ROTATIONS,
        lambda shape, q, nu: _quaternion_rates(q, nu),
    ),
    "planar": JointKind(
        (*_PLACE[:2], angle("theta")),
        (*_VELOCITY[:2], turning("omega", "theta")),
        _planar_pose,
        _planar_subspace,
        _planar_rates,
    ),
    "floating": JointKind(
        (*_PLACE, *QUATERNION),
        (*_VELOCITY, *_ANGULAR_VELOCITY),
        _floating_pose,
        lambda shape, pose: (*_TRANSLATIONS, *_ROTATIONS),
        _floating_rates,
    ),
}


# Half the width of a central difference: its error is about 1e-12 from the cut and 1e-11 from rounding, where numbers
# are about 1; what is wrong differs by far more than the tolerance.
_STEP = 1e-5
_TOLERANCE = 1e-6


def check_joint(component: type[Joint], kind: object) -> JointKind:
    """The formulas of a joint; raises InputError where they can't be those of its component."""
    if not isinstance(kind, JointKind):
        what = f"the formulas of {component.__name__} are {kind!r}"
        if kind is None:
            what = f"there are no formulas for joints of type {component.model_fields['type'].default!r}"
        raise InputError(
            what,
            hint="expected a trundle.mechanics.joints.JointKind: give the class `formulas = JointKind(...)`",
        )
    for what in ("coordinates", "speeds"):
        came, wanted = tuple(quantity.name for quantity in getattr(kind, what)), getattr(component, what)
        if came != wanted:
            raise InputError(
                f"the formulas of {component.__name__} have the {what} {came}, but it says {wanted} itself",
                hint="let its component and its JointKind name the same ones in the same order",
            )
    _check_formulas(component.__name__, kind)
    return kind


@cache
def _check_formulas(name: str, kind: JointKind) -> None:
    """Raise InputError where a joint's formulas fail on numbers, or don't fit each other."""
    try:
        wrong = _wrong(kind)
    except Exception as error:  # formulas from outside may do anything
        raise InputError(
            f"the formulas of {name} failed: {type(error).__name__}: {error}",
            hint="pose(shape, q), subspace(shape, pose) and rates(shape, q, nu) work on numbers and on expressions",
        ) from error
    if wrong:
        raise InputError(
            f"the formulas of {name} don't fit each other: {wrong}",
            hint="column k of the subspace is the child's velocity in its own axes, (Rᵀ ṗ, Rᵀ ω), for speed k = 1",
        )


def _wrong(kind: JointKind) -> str:
    """What is wrong with a joint's formulas, at one configuration by finite differences; "" for nothing."""
    shape = JointShape()
    q = [coordinate.start + 0.3 + 0.1 * place for place, coordinate in enumerate(kind.coordinates)]
    pose = kind.pose(shape, q)
    columns = kind.subspace(shape, pose)
    if len(columns) != len(kind.speeds):
        return f"its subspace has {len(columns)} columns for {len(kind.speeds)} speeds"
    for place, (column, speed) in enumerate(zip(columns, kind.speeds, strict=True)):
        rates = kind.rates(shape, q, [float(place == other) for other in range(len(kind.speeds))])
        if len(rates) != len(q):
            return f"it gives {len(rates)} rates for {len(q)} coordinates"
        behind, ahead = (
            kind.pose(shape, [a + way * _STEP * b for a, b in zip(q, rates, strict=True)]) for way in (-1, 1)
        )
        moved = _velocity(behind, pose, ahead)
        said = (*column.linear, *column.angular)
        if any(abs(a - b) > _TOLERANCE * (1 + abs(b)) for a, b in zip(said, moved, strict=True)):
            return f"for {speed.name} = 1 its subspace has {_row(said)}, its pose moves by {_row(moved)}"
    return ""


def _velocity(behind: Pose, pose: Pose, ahead: Pose) -> tuple[float, ...]:
    """The child's velocity in its own axes, linear and angular, by central differences."""
    back, on = (compose(inverse(pose), beside) for beside in (behind, ahead))
    moved = subtract(on.position, back.position)
    turned = [on.rotation[i][j] - back.rotation[i][j] for i, j in ((2, 1), (0, 2), (1, 0))]
    return tuple(change * 0.5 / _STEP for change in (*moved, *turned))


def _row(numbers: tuple[float, ...]) -> str:
    return f"({', '.join(f'{number:.3g}' for number in numbers)})"
