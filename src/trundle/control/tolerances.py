"""How far states and inputs may be off, by name: what weights of regulators are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trundle.control.linear_trajectory import LinearTrajectory
from trundle.control.linearization import Linearization
from trundle.errors import InputError, require_known
from trundle.model import Model
from trundle.model.arguments import number

LinearizedMotion = Linearization | LinearTrajectory


def in_si(
    given: Mapping[str, float | str], known: Sequence[str], about: LinearizedMotion, key: str
) -> dict[str, float]:
    """Numbers by name in SI; InputError for names that aren't known and for what is no number in their units."""
    for name in given:
        require_known(name, known, f"there is no state or input {name!r}", key=f"{key}.{name}")
    return {name: number(size, f"{key}.{name}", about.units.get(name, "")) for name, size in given.items()}


def tolerances_of(about: LinearizedMotion, tolerances: Mapping[str, float | str]) -> dict[str, float]:
    """Tolerances in SI, all there; raises InputError."""
    found = in_si(tolerances, (*about.states, *about.inputs), about, "tolerances")
    if few := [name for name, size in found.items() if not size > 0]:
        raise InputError(f"a tolerance is greater than 0, got {found[few[0]]:g}", key=f"tolerances.{few[0]}")
    missing = [name for name in about.inputs if name not in found]
    if missing:
        hint = f'tolerances={{"{missing[0]}": …}}: how much of it may be spent'
        raise InputError(f"no tolerance for {', '.join(missing)}", key="tolerances", hint=hint)
    if not any(name in found for name in about.states):
        raise InputError(
            "no state has a tolerance", key="tolerances", hint=f"states are {', '.join(about.states)}"
        )
    return found


def require_inputs(model: Model) -> None:
    """Raise InputError for a model that nothing can hold: no motor moves it, or its controllers do."""
    if model.inputs:
        return
    driving = () if model.robot is None else tuple(model.robot.controllers)
    if driving:
        message = f"the inputs of '{model.name}' are driven by its controllers: {', '.join(driving)}"
        raise InputError(
            message, hint="design on the robot without them: trundle.derive(robot.without_controllers)"
        )
    raise InputError(
        f"'{model.name}' has no inputs: no motor moves it, so nothing can hold it",
        hint="motors: {NAME: {type: torque, drives: JOINT}}",
    )
