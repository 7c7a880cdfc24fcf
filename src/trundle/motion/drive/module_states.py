"""What the wheels of a drive do, and how that changes: arrays in the order of their names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers, refuse_masked
from trundle.errors import InputError, suggest


@dataclass(frozen=True, eq=False)
class ModuleStates:
    """What wheels do at one moment, or at many: arrays (m,) or (n, m) in the order of `names`.

    angles: along which they roll, in the base's frame (rad); speeds: R φ̇ (m/s), negative backward; steering_rates:
    of wheels whose contact is ahead of or behind its pivot, which a twist of the base turns (rad/s), else 0.
    """

    names: tuple[str, ...]
    angles: FloatArray
    speeds: FloatArray
    steering_rates: FloatArray

    def __getitem__(self, name: str) -> tuple[FloatArray, FloatArray]:
        """The angle and the speed of a module; raises InputError for a name that none has."""
        if name not in self.names:
            raise InputError(f"there is no module '{name}'", key=name, hint=suggest(name, self.names))
        place = self.names.index(name)
        return self.angles[..., place], self.speeds[..., place]


@dataclass(frozen=True, eq=False)
class ModuleRates:
    """How what wheels do changes: arrays (m,) or (n, m) in the order of `names`.

    steering_rates: of the angles (rad/s); drive_accelerations: of the speeds (m/s²); steering_accelerations: of wheels
    whose contact is beside its pivot (rad/s²), else 0.
    """

    names: tuple[str, ...]
    steering_rates: FloatArray
    drive_accelerations: FloatArray
    steering_accelerations: FloatArray


def twist_lanes(*parts: npt.ArrayLike) -> FloatArray:
    """v_x, v_y, ω as programs take them: (3,), or (3, n) of batches; InputError for what is neither."""
    try:
        twist = np.array(parts, dtype=float)
    except (TypeError, ValueError):  # numbers beside arrays, or something else
        try:
            twist = np.array(np.broadcast_arrays(*parts), dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"expected numbers or arrays (n,) for v_x, v_y, omega, got {parts!r}") from None
    if twist.ndim > 1:
        refuse_masked(parts, "v_x, v_y, omega")
    if twist.ndim > 2 or not np.isfinite(twist).all():
        raise InputError(f"expected finite numbers or arrays (n,) for v_x, v_y, omega, got {parts!r}")
    return twist


def lanes(values: npt.ArrayLike) -> FloatArray:
    """What is by modules, (m,) or (n, m), as programs take it: modules first."""
    return np.ascontiguousarray(as_numbers(values, "what is by modules").T)
