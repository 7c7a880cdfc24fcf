"""What the wheels of a drive do, and how that changes: arrays in the order of their names."""

from __future__ import annotations

from dataclasses import dataclass

from trundle.results.arrays import FloatArray


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
        """The angle and the speed of a module."""
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
