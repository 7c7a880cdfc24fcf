"""Which wheel's contact law gave no number, where a run over terrain has failed: laws are asked near the last slips."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.wheels import WheelModel
from trundle.model.ground_model import GroundModel
from trundle.model.mechanism import mechanism
from trundle.robot.contact import Bearing

# A step's search goes through slips and loads that no step ends with. They are sought so far from the last known slip
# (m/s), and at these shares of the last known load.
_FAR = (0.0, *np.geomspace(1e-4, 10.0, 26).tolist())
_SHARES = (1.0, 0.0, 0.5, 2.0, 10.0)


class _Question(NamedTuple):
    """A slip (m/s) in every direction and a load (N), and how far they are from the last known ones."""

    slip: tuple[float, ...]
    load: float
    away: float


def without_number(model: GroundModel, parameters: Mapping[str, float], seen: Mapping[str, float]) -> str:
    """In words which wheel's law gives no finite number nearest to the last known slips; "" where all do.

    seen : states and outputs by name at the last time that has all of them.
    """
    wheels = mechanism(model.robot, parameters, terrain=True).assembly.wheels
    found: list[tuple[float, WheelModel, _Question]] = []
    for wheel in wheels:
        if not wheel.acts:
            continue
        for contact in _contacts(model, wheel):
            first = next(
                (each for each in _questions(wheel, contact, seen) if not _answers(wheel, each, seen)), None
            )
            if first is not None:
                found.append((first.away, wheel, first))
    if not found:
        return ""
    _, wheel, question = min(found, key=lambda each: each[0])
    slip = ", ".join(f"{v:.3g}" for v in question.slip)
    return (
        f"the law of the wheel '{wheel.name}', {type(wheel.law).__name__}, gives no finite number at a slip of "
        f"{slip} m/s under {question.load:.3g} N"
    )


def contact_of(model: GroundModel, name: str) -> str:
    """The wheel whose contact a value belongs to ("front_left.step.load"); "" where it belongs to none."""
    return next((each for each in model.gaps.outputs[0].labels if name.startswith(f"{each}.")), "")


def _contacts(model: GroundModel, wheel: WheelModel) -> list[str]:
    """A wheel's contacts, as outputs name them."""
    ending = f".{wheel.directions[0].what}_slip"
    names = [name.removesuffix(ending) for name in model.outputs if name.endswith(ending)]
    return [name for name in names if name == wheel.name or name.startswith(f"{wheel.name}.")]


def _questions(wheel: WheelModel, contact: str, seen: Mapping[str, float]) -> Iterator[_Question]:
    """What is asked, nearest first: slips off the last one along every direction, and other loads."""
    last = tuple(_known(seen, f"{contact}.{direction.what}_slip") for direction in wheel.pushed)
    load = max(_known(seen, f"{contact}.load"), 1.0)
    for away in _FAR:
        for direction in range(len(last)):
            for sign in (1, -1):
                slip = tuple(v + sign * away * (k == direction) for k, v in enumerate(last))
                for share in _SHARES:
                    yield _Question(slip, share * load, away)


def _answers(wheel: WheelModel, question: _Question, seen: Mapping[str, float]) -> bool:
    """Whether the law gives finite numbers there."""
    states = {
        quantity.name: _known(seen, quantity.name, quantity.start) for quantity in wheel.states.values()
    }
    depth = max(_known(seen, f"{wheel.name}.sinkage"), 1e-3)
    bearing = Bearing(depth, 0.0, question.load / depth, 0.0)
    try:
        push = wheel.push(
            list(question.slip), question.load, _known(seen, f"{wheel.name}.rate"), states, bearing
        )
        numbers = (*push.forces, push.moment, *push.rates.values(), 0.0 if push.load is None else push.load)
        return all(math.isfinite(float(number)) for number in numbers)  # pyright: ignore[reportArgumentType]
    except (InputError, ArithmeticError, ValueError, TypeError):
        return False


def _known(seen: Mapping[str, float], name: str, otherwise: float = 0.0) -> float:
    """A value that is there and finite, or another."""
    value = seen.get(name, otherwise)
    return float(value) if math.isfinite(value) else otherwise
