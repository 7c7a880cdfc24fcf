"""Motors that can be bought, by what their makers publish; `model: NAME` of a dc motor stands for these numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

_RPM = 2 * math.pi / 60


@dataclass(frozen=True)
class PublishedMotor:
    """What is published of a motor, and where.

    voltage : at which the others hold (V)
    stall_torque, stall_current : with the shaft held (N m, A)
    free_speed, free_current : without load (rpm, A)
    peak_power : greatest mechanical power (W), where it was found
    source : title and address
    """

    voltage: float
    stall_torque: float
    stall_current: float
    free_speed: float
    free_current: float
    peak_power: float | None
    source: str

    @property
    def keys(self) -> dict[str, float]:
        """The dc motor that stalls and runs free as published, and is linear between.

        R = V/I_s, K = τ_s/I_s, K_e = (V − R I_0)/ω_0, and a viscous friction that takes the free current, K I_0/ω_0.
        """
        free, constant = self.free_speed * _RPM, self.stall_torque / self.stall_current
        resistance = self.voltage / self.stall_current
        return {
            "torque_constant": constant,
            "back_emf_constant": (self.voltage - resistance * self.free_current) / free,
            "resistance": resistance,
            "friction": constant * self.free_current / free,
        }


# Read on 2026-11-22 in WPILib's DCMotor and in teams' copies of these pages of the makers.
_KRAKEN = "CTR Electronics, Announcing Kraken X60, https://store.ctr-electronics.com/announcing-kraken-x60/"
_FALCON = "CTR Electronics, Falcon 500, https://store.ctr-electronics.com/falcon-500-powered-by-talon-fx/"
_REV = "REV Robotics, NEO {} motor specifications, https://docs.revrobotics.com/brushless/neo/{}"
_VEX = "VEX Robotics, motor curves, https://motors.vex.com"
# Item 4750, without its gearbox, whose losses come on top; the power is that of the 6.3:1 gearmotor.
_POLOLU = "Pololu, 37D Metal Gearmotors, rev 1.2, https://www.pololu.com/category/116"

REAL_MOTORS = {
    "kraken_x60": PublishedMotor(12, 7.09, 366, 6000, 2.0, None, _KRAKEN),
    "kraken_x60_foc": PublishedMotor(12, 9.37, 483, 5800, 2.0, None, _KRAKEN),
    "falcon_500": PublishedMotor(12, 4.69, 257, 6380, 1.5, 783, _FALCON),
    "falcon_500_foc": PublishedMotor(12, 5.84, 304, 6080, 1.5, None, _FALCON),
    "neo": PublishedMotor(12, 2.6, 105, 5676, 1.8, 406, _REV.format("V1.1", "v1.1")),
    "neo_vortex": PublishedMotor(12, 3.6, 211, 6784, 3.6, 640, _REV.format("Vortex", "vortex")),
    "neo_550": PublishedMotor(12, 0.97, 100, 11000, 1.4, 279, _REV.format("550", "550")),
    "cim": PublishedMotor(12, 2.41, 131, 5330, 2.7, 337, _VEX),
    "mini_cim": PublishedMotor(12, 1.41, 89, 5840, 3.0, 215, _VEX),
    "bag": PublishedMotor(12, 0.43, 53, 13180, 1.8, 149, _VEX),
    "775pro": PublishedMotor(12, 0.71, 134, 18730, 0.7, 347, _VEX),
    "pololu_37d": PublishedMotor(12, 0.049, 5.5, 10000, 0.2, 12, _POLOLU),
}
