"""FMUs run by FMPy: its validation, 30 s of the diff drive beside the kernel, and what a step takes."""

from __future__ import annotations

import shutil
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import MISSING, Row, installed, seconds_text
from trundle import catalog
from trundle.exports.export import export
from trundle.model import Model, derive
from trundle.program.rollout import rollout

_STEP, _VOLTAGES = 1e-3, (24.0, 20.0)
# A tolerance that every step meets, so that each call is one step of the classical method.
_LOOSE = 1e6


def fmus(quick: bool) -> list[Row]:
    """Problems that FMPy finds, deviations from the kernel's steps, and seconds a call of doStep."""
    if not installed("fmpy") or shutil.which("cc") is None:
        return [Row("FMUs run by FMPy", MISSING)]
    rows = [_problems(quick)]
    model = derive(catalog.differential_drive())
    with tempfile.TemporaryDirectory() as folder:
        export(model, "fmu", output=folder, name="drive")
        for version in "23":
            rows += _run(model, str(Path(folder, f"drive_fmi{version}.fmu")), 1000 if quick else 30_000)
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


def _run(model: Model, path: str, steps: int) -> list[Row]:
    fmpy = import_module("fmpy")
    description = fmpy.read_model_description(path)
    places = {each.name: each.valueReference for each in description.modelVariables}
    state = [places[name] for name in model.states]
    parameters = np.array(list(model.parameters.values()))
    groups = {"input": np.array(_VOLTAGES), "parameter": parameters}
    kernel = rollout(model.dynamics, model.state_vector(), groups, dt=_STEP, steps=steps)
    folder = fmpy.extract(path)
    try:
        each, get = _started(description, folder, [places[name] for name in model.inputs])
        off, spent = [], 0.0
        for k in range(steps):
            before = time.perf_counter()
            each.doStep(currentCommunicationPoint=k * _STEP, communicationStepSize=_STEP)
            spent += time.perf_counter() - before
            if k in (0, steps - 1):
                off.append(_off(np.array(get(state)), kernel.states[k + 1]))
        each.terminate()
        each.freeInstance()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    name = f"diff drive, FMI {description.fmiVersion}, Co-Simulation at 1 ms"
    return [
        Row(f"{name}: off the kernel after a step", f"{off[0]:.1e}", target="≤ 1e-12", met=off[0] <= 1e-12),
        Row(f"{name}: after {steps * _STEP:g} s", f"{off[1]:.1e}", target="≤ 1e-9", met=off[1] <= 1e-9),
        Row(
            f"{name}: a call of doStep",
            seconds_text(spent / steps),
            note="most of it FMPy's call through ctypes",
        ),
    ]


def _off(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, relative to the largest number."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


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
