"""A first look at a joint's formulas in plain numbers: do they say what its noun says, and do they fit each other?

A subspace that is not the derivative of the pose gives motions that look well and are wrong, with energy kept.
"""

from __future__ import annotations

from functools import cache

from trundle.errors import InputError
from trundle.mechanics.joints import JointKind, JointShape
from trundle.robot.bodies import Joint
from trundle.spatial.motions import Pose, compose, inverse
from trundle.spatial.vectors import subtract

# Half the width of a central difference: its error is about 1e-12 from the cut and 1e-11 from rounding, where numbers
# are about 1; what is wrong differs by far more than the tolerance.
_STEP = 1e-5
_TOLERANCE = 1e-6


def check_joint(noun: type[Joint], kind: object) -> JointKind:
    """The formulas of a joint; raises InputError where they can't be those of its noun."""
    if not isinstance(kind, JointKind):
        what = f"the formulas of {noun.__name__} are {kind!r}"
        if kind is None:
            what = f"there are no formulas for joints of type {noun.model_fields['type'].default!r}"
        raise InputError(
            what,
            hint="expected a trundle.mechanics.joints.JointKind: give the class `formulas = JointKind(...)`",
        )
    for what in ("coordinates", "speeds"):
        came, wanted = tuple(quantity.name for quantity in getattr(kind, what)), getattr(noun, what)
        if came != wanted:
            raise InputError(
                f"the formulas of {noun.__name__} have the {what} {came}, but it says {wanted} itself",
                hint="let its noun and its JointKind name the same ones in the same order",
            )
    _check_formulas(noun.__name__, kind)
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
