"""Motors, by kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from trundle.robot.noun import Noun, default, family
from trundle.robot.values import (
    AngularDamping,
    AngularStiffness,
    Inductance,
    Moment,
    Rate,
    Ratio,
    Resistance,
    Torque,
    TorqueConstant,
    Voltage,
)


class _Motor(Noun):
    drives: str = Field(
        description="What it drives: a wheel's spin (`right`), its steering (`front.steering`), a joint or a coupling."
    )


class DCMotor(_Motor):
    """A motor with a winding: L di/dt = V - R i - K_e ω, torque K i on its shaft.

    State NAME.current, input NAME.voltage. Without an inductance the current follows at once: i = (V - K_e ω)/R.
    """

    called: ClassVar[str] = "dc motor"
    bounds: ClassVar[dict[str, str]] = {
        "torque_constant": "> 0",
        "back_emf_constant": ">= 0",
        "resistance": "> 0",
        "inductance": ">= 0",
        "gear_ratio": "!= 0",
        "rotor_inertia": ">= 0",
        "friction": ">= 0",
        "coulomb": ">= 0",
        "coulomb_speed": "> 0",
        "voltage_limit": "> 0",
    }

    kind: Literal["dc"] = default("dc", "dc: a winding fed with a voltage (the default).")
    torque_constant: TorqueConstant = Field(description="Torque per current K (N m/A).")
    back_emf_constant: TorqueConstant | None = default(None, "Voltage per rate (V s/rad). Default: K.")
    resistance: Resistance = Field(description="Resistance of the winding (ohm).")
    inductance: Inductance = default(0.0, "Inductance (H), default 0: the current follows at once.")
    gear_ratio: Ratio = default(1.0, "Turns of the motor per turn of what it drives, default 1.")
    rotor_inertia: Moment = default(0.0, "Inertia of the rotor on its own shaft (kg m^2), default 0.")
    friction: AngularDamping = default(0.0, "Viscous friction on the motor's shaft (N m s/rad), default 0.")
    coulomb: Torque = default(0.0, "Dry friction on the motor's shaft (N m), default 0.")
    coulomb_speed: Rate = default(0.1, "Rate below which dry friction is smoothed (rad/s), default 0.1.")
    voltage_limit: Voltage | None = default(None, "Greatest voltage the supply gives (V). Default: none.")

    def default_counts(self, field: str) -> bool:
        """The smoothing rate matters where there is dry friction."""
        return field == "coulomb_speed" and "coulomb" in self.model_fields_set


class TorqueMotor(_Motor):
    """An ideal source of torque: input NAME.torque on its shaft."""

    called: ClassVar[str] = "torque motor"
    bounds: ClassVar[dict[str, str]] = {"gear_ratio": "!= 0", "torque_limit": "> 0"}

    kind: Literal["torque"] = Field(description="torque: an ideal source of torque.")
    gear_ratio: Ratio = default(1.0, "Turns of the motor per turn of what it drives, default 1.")
    torque_limit: Torque | None = default(None, "Greatest torque on its shaft (N m). Default: none.")


class ServoMotor(_Motor):
    """Holds what it drives at the angle NAME.angle: torque = stiffness (target - angle) - damping rate."""

    called: ClassVar[str] = "servo motor"
    bounds: ClassVar[dict[str, str]] = {"stiffness": ">= 0", "damping": ">= 0", "torque_limit": "> 0"}

    kind: Literal["servo"] = Field(description="servo: holds an angle.")
    stiffness: AngularStiffness = Field(description="Torque per error (N m/rad).")
    damping: AngularDamping = default(0.0, "Torque per rate (N m s/rad), default 0.")
    torque_limit: Torque | None = default(None, "Greatest torque (N m). Default: none.")


family(DCMotor, TorqueMotor, ServoMotor)


def _kind(data: Any) -> str:
    kind = data.get("kind", "dc") if isinstance(data, Mapping) else getattr(data, "kind", "dc")
    return f"<{kind}>"


Motor = Annotated[
    Annotated[DCMotor, Tag("<dc>")]
    | Annotated[TorqueMotor, Tag("<torque>")]
    | Annotated[ServoMotor, Tag("<servo>")],
    Discriminator(_kind),
]
