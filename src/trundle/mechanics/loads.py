"""How a standing robot's weight is shared by its wheels."""

from __future__ import annotations

from collections.abc import Sequence

from trundle.mechanics.linear import dot, solve_positive
from trundle.scalars import Scalar


def load_shares(
    positions: Sequence[tuple[Scalar, Scalar]], resultant: tuple[Scalar, Scalar, Scalar], span: Sequence[int]
) -> list[Scalar]:
    """Normal forces (N) on contacts at `positions` (m) that carry a resultant (W, W x_c, W y_c) in N and N m: equal
    springs under a rigid body.

    N_i = a + b x_i + c y_i with Σ N = W, Σ N x = W x_c, Σ N y = W y_c. `span` says which of x (0) and y (1) the
    contacts spread over: wheels on one line can't balance a moment about it, which something else (a caster that
    wasn't described) then carries.
    """
    shapes = [[1, *(p[k] for k in span)] for p in positions]
    target = [resultant[0], *(resultant[1 + k] for k in span)]
    size = len(target)
    gram = [[sum(s[i] * s[j] for s in shapes) for j in range(size)] for i in range(size)]
    solution = [row[0] for row in solve_positive(gram, [[t] for t in target])]
    return [dot(shape, solution) for shape in shapes]
