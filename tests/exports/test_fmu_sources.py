"""The C sources of FMUs: nothing allocated after instantiation, nothing warned of, and FMPy builds them."""

import io
import shutil
import subprocess
import zipfile

import pytest

import trundle
from derived import derived
from exports.fmus import VERSIONS, exported, fmpy, needs_compiler, without_compiler
from languages.c_code import WARNINGS
from trundle.exports import fmu

build = pytest.importorskip("fmpy.build")
_COUNTED = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fmi{v}.c"

static int allocations = 0;
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__wrap_malloc(size_t n) {{ allocations++; return __real_malloc(n); }}
void *__wrap_calloc(size_t n, size_t m) {{ allocations++; return __real_calloc(n, m); }}

int main(void)
{{
    {make}
    const int before = allocations;
    {initialize}
    for (int k = 0; k < 1000; k++) {{
        {step}
    }}
    printf("%d %d\\n", before, allocations - before);
    return 0;
}}
"""
_CALLS = {
    "2": {
        "make": """\
fmi2CallbackFunctions none = {0};
    fmi2Component c = fmi2Instantiate("a", fmi2CoSimulation, TOKEN, 0, &none, 0, 0);""",
        "initialize": """\
fmi2SetupExperiment(c, 0, 0, 0, 0, 0);
    fmi2EnterInitializationMode(c);
    fmi2ExitInitializationMode(c);""",
        "step": """\
double y[2];
        unsigned r[] = {0, VARIABLES - 1};
        fmi2DoStep(c, 0.01 * k, 0.01, 1);
        fmi2GetReal(c, r, 2, y);""",
    },
    "3": {
        "make": 'fmi3Instance c = fmi3InstantiateCoSimulation("a", TOKEN, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);',
        "initialize": """\
fmi3EnterInitializationMode(c, 0, 0, 0, 0, 0);
    fmi3ExitInitializationMode(c);""",
        "step": """\
double y[2], t;
        unsigned r[] = {0, VARIABLES - 1};
        fmi3Boolean a, b, d;
        fmi3DoStep(c, 0.01 * k, 0.01, 1, &a, &b, &d, &t);
        fmi3GetFloat64(c, r, 2, y, 2);""",
    },
}


@needs_compiler
@pytest.mark.slow
@VERSIONS
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", ["differential_drive", "four_bar"])
def test_nothing_is_allocated_after_instantiation_and_nothing_warned_of(
    version, compiler, name, tmp_path, monkeypatch
):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    without_compiler(monkeypatch)
    made = trundle.export(trundle.catalog.robot(name), "fmu", name="robot")
    archive = zipfile.ZipFile(io.BytesIO(made.files[f"robot_fmi{version}.fmu"]))
    archive.extractall(tmp_path)
    monkeypatch.undo()
    work, headers = tmp_path / "sources", fmu.files("trundle.exports") / "fmi"
    (work / "main.c").write_text(_COUNTED.format(v=version, **_CALLS[version]))
    compiled = [compiler, "-std=c99", *WARNINGS, "-isystem", str(headers)]
    for each in (f"fmi{version}.c", "model.c"):
        done = subprocess.run([*compiled, "-O1", "-c", each], cwd=work, capture_output=True, text=True)
        assert (done.returncode, done.stderr[:3000]) == (0, "")
    linked = [compiler, "-std=gnu99", "-isystem", str(headers), "-Wl,--wrap=malloc,--wrap=calloc"]
    subprocess.run(
        [*linked, "main.c", "model.o", "-lm", "-o", "main"], cwd=work, check=True, capture_output=True
    )
    counted = subprocess.run(["./main"], cwd=work, check=True, capture_output=True, text=True).stdout
    assert counted.split() == ["1", "0"]


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_fmpy_compiles_a_source_fmu(version, tmp_path, monkeypatch):
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    without_compiler(monkeypatch)
    paths, _ = exported(derived("pendulum"), tmp_path / "out")
    monkeypatch.undo()
    unzipped = fmpy.extract(paths[version])
    build.build_platform_binary(unzipped)
    found = fmpy.simulate_fmu(unzipped, stop_time=0.1)
    shutil.rmtree(unzipped)
    assert found["time"][-1] == 0.1
