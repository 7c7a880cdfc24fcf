"""FMUs run by FMPy: its validation, and what a step takes."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import MISSING, Row, installed, seconds_text
from trundle import catalog
from trundle.exports.export import export
from trundle.model import Model, derive

_STEP, _VOLTAGES = 1e-3, (24.0, 20.0)
# A tolerance that every step meets, so that each call is one step of the classical method.
_LOOSE = 1e6


def fmus(quick: bool) -> list[Row]:
    """Problems that FMPy finds, and seconds a call of doStep."""
    if not installed("fmpy") or shutil.which("cc") is None:
        return [Row("FMUs run by FMPy", MISSING)]
    rows = [_problems(quick)]
    model = derive(catalog.differential_drive())
    steps = 1000 if quick else 30_000
    with tempfile.TemporaryDirectory() as folder:
        export(model, "fmu", output=folder, name="drive")
        for version in "23":
            spent = co_simulated(model, str(Path(folder, f"drive_fmi{version}.fmu")), steps).spent / steps
            what = f"diff drive, FMI {version}.0, Co-Simulation at 1 ms: a call of doStep"
            rows.append(Row(what, seconds_text(spent), note="most of it FMPy's call through ctypes"))
    return rows


def _problems(quick: bool) -> Row:
    validate = import_module("fmpy.validation").validate_fmu
    names = catalog.names()[:3] if quick else catalog.names()
    found: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            export(derive(catalog.robot(name)), "fmu", output=Path(folder, name), name="robot")
            found += [
                problem for v in "23" for problem in validate(str(Path(folder, name, f"robot_fmi{v}.fmu")))
            ]
    what = f"FMPy's validation of {2 * len(names)} FMUs: problems"
    return Row(what, str(len(found)), target="none", met=not found, note="; ".join(found[:3]))


@dataclass(frozen=True)
class Run:
    """Steps of Co-Simulation: the state after each that was asked for, and the seconds spent in doStep."""

    states: Mapping[int, np.ndarray]
    spent: float


def co_simulated(model: Model, path: str, steps: int) -> Run:
    """The differential drive's FMU under FMPy for some steps of 1 ms, its states after the first and the last."""
    fmpy = import_module("fmpy")
    description = fmpy.read_model_description(path)
    places = {each.name: each.valueReference for each in description.modelVariables}
    folder = fmpy.extract(path)
    states: dict[int, np.ndarray] = {}
    spent = 0.0
    try:
        each, get = _started(description, folder, [places[name] for name in model.inputs])
        for k in range(steps):
            before = time.perf_counter()
            each.doStep(currentCommunicationPoint=k * _STEP, communicationStepSize=_STEP)
            spent += time.perf_counter() - before
            if k in (0, steps - 1):
                states[k + 1] = np.array(get([places[name] for name in model.states]))
        each.terminate()
        each.freeInstance()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Run(states, spent)


def _started(description: Any, folder: str, inputs: list[int]) -> tuple[Any, Any]:
    """An instance whose inputs are set, and what reads its variables."""
    two = description.fmiVersion == "2.0"
    kind = import_module("fmpy.fmi2").FMU2Slave if two else import_module("fmpy.fmi3").FMU3Slave
    each = kind(guid=description.guid, unzipDirectory=folder, modelIdentifier="drive", instanceName="drive")
    each.instantiate()
    if two:
        each.setupExperiment(tolerance=_LOOSE)
        each.enterInitializationMode()
    else:
        each.enterInitializationMode(tolerance=_LOOSE)
    each.exitInitializationMode()
    (each.setReal if two else each.setFloat64)(inputs, list(_VOLTAGES))
    return each, each.getReal if two else each.getFloat64
