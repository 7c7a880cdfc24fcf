"""FMUs for tests: exported, and run by FMPy as instances whose variables are read and written by reference."""

import shutil
from contextlib import contextmanager

import numpy as np
import pytest

import trundle
from trundle.exports import fmu

fmpy = pytest.importorskip("fmpy")
fmi2 = pytest.importorskip("fmpy.fmi2")
fmi3 = pytest.importorskip("fmpy.fmi3")

needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
VERSIONS = pytest.mark.parametrize("version", ["2", "3"])


def exported(model, folder, name="robot"):
    """The FMUs of a model by version, as paths."""
    made = trundle.export(model, "fmu", output=folder, name=name)
    return {version: str(folder / f"{name}_fmi{version}.fmu") for version in "23"}, made


@contextmanager
def instance(path, kind, names=("first",), begin=lambda each: None, **experiment):
    """Instances of one FMU, initialized: all from one library. `begin` is called with each in initialization mode."""
    description = fmpy.read_model_description(path)
    unzipped = fmpy.extract(path)
    two = description.fmiVersion == "2.0"
    makers = {
        ("2.0", "me"): fmi2.FMU2Model, ("2.0", "cs"): fmi2.FMU2Slave,
        ("3.0", "me"): fmi3.FMU3Model, ("3.0", "cs"): fmi3.FMU3Slave,
    }  # fmt: skip
    made = [
        makers[description.fmiVersion, kind](
            guid=description.guid, unzipDirectory=unzipped, modelIdentifier="robot", instanceName=name
        )
        for name in names
    ]
    for each in made:
        each.instantiate()
        if two:
            each.setupExperiment(**experiment)
            each.enterInitializationMode()
        else:
            each.enterInitializationMode(**experiment)
        begin(each)
        each.exitInitializationMode()
    yield made
    for each in made:
        each.terminate()
        each.freeInstance()
    shutil.rmtree(unzipped, ignore_errors=True)


def places(description, names):
    found = {each.name: each.valueReference for each in description.modelVariables}
    return [found[name] for name in names]


def read(each, references):
    return np.array(each.getReal(references) if hasattr(each, "getReal") else each.getFloat64(references))


def write(each, references, values):
    (each.setReal if hasattr(each, "setReal") else each.setFloat64)(references, [float(v) for v in values])


def without_compiler(monkeypatch):
    monkeypatch.setattr(fmu.shutil, "which", lambda name: None)
