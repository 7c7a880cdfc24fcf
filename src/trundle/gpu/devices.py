"""Where robots roll: on this machine's cores, or on a GPU, in double or in single precision."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from trundle.choices import PRECISIONS, Precision
from trundle.errors import InputError, require_known

if TYPE_CHECKING:
    from trundle.program.rollout import RolloutRunner


@dataclass(frozen=True)
class Device:
    """What rolls robots: "cpu", "cuda" or "cuda:1", and the precision of its numbers."""

    name: str = "cpu"
    precision: Precision = "double"

    @property
    def kind(self) -> str:
        """The device without its number."""
        return self.name.partition(":")[0]

    @property
    def is_cpu(self) -> bool:
        """Whether it is this machine's cores."""
        return self.name == "cpu"

    @property
    def record(self) -> dict[str, str]:
        """What a result says of it; nothing of the CPU."""
        return {} if self.is_cpu else {"device": self.name, "precision": self.precision}

    @property
    def run(self) -> RolloutRunner | None:
        """What rolls robots there, for `trundle.program.rollout.rollout`; None of this machine's cores."""
        if self.is_cpu:
            return None
        from trundle.gpu.rolling import run

        return partial(run, device=self.name, precision=self.precision)


CPU = Device()


def device_of(name: str, precision: str) -> Device:
    """The device of this name, which is there.

    Raises InputError where it isn't, or doesn't compute in that precision.
    """
    require_known(precision, PRECISIONS, f"unknown precision {precision!r}", key="precision")
    device = Device(name, precision)  # type: ignore[arg-type]
    if device.is_cpu and precision == "single":
        hint = 'precision="double", or device="cuda"'
        raise InputError("the CPU computes in double precision", key="precision", hint=hint)
    if not device.is_cpu:
        from trundle.gpu.cuda import opened

        opened(name)
    return device
