"""A sweep in text: all that its chunks need, and how it differs from another. No code runs from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from trundle.arrays import FloatArray
from trundle.choices import Precision
from trundle.errors import InputError
from trundle.gpu.devices import CPU, Device
from trundle.model.lanes import NumbersLike
from trundle.model.plant import Steps
from trundle.model.plant_text import plain_plant, read_plant
from trundle.sweeps.cases import Cases
from trundle.sweeps.design import Design
from trundle.sweeps.measures import measures_of
from trundle.sweeps.work import Work

FORMAT = 2
"""The version of a sweep's definition, and the only one that this program reads."""

# What users call the parts of a definition.
_PARTS = {
    "model": "the model", "design": "what varies", "measures": "the measures", "steps": "the steps", "dt": "dt",
    "device": "the device or its precision",
    "initial": "the initial states", "inputs": "the inputs", "parameters": "the parameters",
    "cases": "the motions of inputs", "ground": "the robot or its ground", "equations": "the equations of its Trundle",
}  # fmt: skip


def text_of(work: Work) -> str:
    """The work as text: the model, or a robot and its ground, and what happens to it."""
    content: dict[str, object] = {
        "trundle_sweep": FORMAT,
        "design": work.design.plain,
        "measures": [measure.text for measure in work.measures],
        "steps": work.steps,
        "dt": work.dt,
        "initial": _plain(work.initial),
        "inputs": _plain(work.common_inputs),
        "parameters": _plain(work.parameters),
    }
    if work.cases:
        content["cases"] = {name: case.plain for name, case in work.cases.items()}
    if not work.device.is_cpu:  # which one of several GPUs it is changes nothing
        content["device"] = {"kind": work.device.kind, "precision": work.device.precision}
    content |= plain_plant(work.plant)
    if isinstance(work.plant.motion, Steps):  # what it is derived from is kept, and not its programs
        content["equations"] = work.digest
    return json.dumps(content, separators=(",", ":"))


def work_of(
    text: str,
    maps: Mapping[str, FloatArray] = MappingProxyType({}),
    motions: Mapping[str, FloatArray] = MappingProxyType({}),
) -> Work:
    """The work that a text says, with the numbers of its maps and of inputs that robots choose among.

    Raises InputError where it is of another version, or damaged.
    """
    content = read(text)
    try:
        design = Design.from_plain(content["design"])
        initial, inputs, parameters = (
            _numbers(content[part]) for part in ("initial", "inputs", "parameters")
        )
        steps, dt = int(content["steps"]), float(content["dt"])
        told_cases = content.get("cases", {})
        cases = {name: Cases.from_plain(each, motions[name]) for name, each in told_cases.items()}
        plant = read_plant(content, maps)
        measures = measures_of(plant, content["measures"])
        return Work(
            plant, design, measures, initial, inputs, parameters, steps, dt, device_in(text), cases,
            str(content.get("equations", "")),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"the sweep's definition is damaged: {error!r}") from None


def count_of(text: str) -> int:
    """How many robots a definition has."""
    return Design.from_plain(read(text)["design"]).count


def read(text: str) -> dict[str, Any]:
    """The definition's parts."""
    try:
        content = json.loads(text)
        version = content["trundle_sweep"]
    except (ValueError, KeyError, TypeError):
        raise InputError("this is no definition of a sweep") from None
    if version != FORMAT:
        newer = isinstance(version, int) and version > FORMAT
        hint = "install a newer Trundle" if newer else "sweep again"
        raise InputError(f"the sweep has format {version}, this Trundle reads format {FORMAT}", hint=hint)
    return content


def device_in(text: str) -> Device:
    """What rolls the robots; a definition says nothing of the CPU."""
    told = read(text).get("device")
    return CPU if told is None else Device(told["kind"], cast(Precision, told["precision"]))


def digest(text: str) -> str:
    """What tells sweeps apart."""
    return hashlib.sha256(text.encode()).hexdigest()


def difference(text: str, other: str) -> str:
    """In what two definitions differ, in words; empty where they don't."""
    one, two = read(text), read(other)
    return ", ".join(words for part, words in _PARTS.items() if one.get(part) != two.get(part))


def _plain(given: Mapping[str, NumbersLike]) -> dict[str, NumbersLike]:
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in given.items()}


def _numbers(given: Mapping[str, float | list[float]]) -> dict[str, NumbersLike]:
    return {
        name: cast(FloatArray, np.asarray(value, dtype=float)) if isinstance(value, list) else value
        for name, value in given.items()
    }
