"""The microcontroller's functions on a Cortex-M4F under QEMU, against the kernels; what the program takes and lacks."""

import json
import subprocess

import numpy as np
import pytest

import trundle
from derived import derived
from exports.boards import made, require_board
from languages.cases import MODELS, states
from languages.rounding import SINGLE, rounding
from parameters import mostly_slow
from trundle.exports.entries import entries
from trundle.exports.preparing import with_prepared

# Reads states from a file, calls one function for each, writes what it gives to another.
_MAIN = """
#include "robot.h"
#include "semihosting.h"

#define NONE ((void *)0)
static float given[{inputs}], found[{outputs}];

int main(void) {{
    const int32_t from = host_open("in.bin", 6, 1), to = host_open("out.bin", 7, 5);
    for (int k = 0; k < {count}; k++) {{
        host_read(from, given, 4 * {width});
        robot_{name}({arguments});
        host_write(to, found, 4 * {outputs});
    }}
    host_exit();
    return 0;
}}
"""


@pytest.fixture
def folder(tmp_path):
    """Where a package is written; the test skips without the tools that build and run it."""
    require_board()
    return tmp_path / "robot"


def exported(model, folder):
    package = trundle.export(model, "microcontroller", name="robot", output=folder)
    return package, with_prepared(entries(model, ["dynamics"], ["kinematics", "commands", "odometry"]))


def called(entry, groups, folder):
    """The outputs of an entry's function at many states; parameters are the defaults in flash."""
    arguments, at = [], 0
    table = []
    for group, values in zip(entry.program.inputs, groups, strict=True):
        if group.name == "parameter" and group.size:
            own = (
                f"robot_{entry.name}_parameter_defaults"  # where its parameters are others than the dynamics'
            )
            arguments.append(f"&{own if own in header(folder) else 'robot_parameter_defaults'}")
            continue
        arguments.append(f"given + {at}" if group.size else "NONE")
        at += group.size
        table.append(values)
    out = 0
    for group in entry.program.outputs:
        arguments.append(f"found + {out}" if group.size else "NONE")
        out += group.size
    count = groups[0].shape[1]
    main = _MAIN.format(
        inputs=max(at, 1), outputs=out, width=at, count=count, name=entry.name, arguments=", ".join(arguments)
    )
    (folder / "benchmark.c").write_text(main, encoding="utf-8")
    np.ascontiguousarray(np.vstack([np.zeros((0, count)), *table]).T, dtype=np.float32).tofile(
        folder / "in.bin"
    )
    made(folder, "-s", "benchmark.elf")
    made(folder, "-s", "benchmark")
    found = np.fromfile(folder / "out.bin", dtype=np.float32).reshape(count, out).T.astype(float)
    return np.split(found, np.cumsum([group.size for group in entry.program.outputs])[:-1])


def header(folder):
    return (folder / "robot.h").read_text(encoding="utf-8")


def given_to(entry, prepare, model, count, rng):
    """Random numbers for an entry's groups, as floats hold them: angles within ±π, parameters the defaults."""
    groups = []
    for group in entry.program.inputs:
        values = rng.uniform(-np.pi, np.pi, (group.size, count))
        if group.name == "prepared":
            p = np.array([*model.parameters.values()], dtype=np.float32).astype(float)
            values = np.repeat(prepare.program(p)[:, None], count, axis=1)
        elif group.name == "state":
            values = states(model, count, int(rng.integers(1 << 31)))[0]
        elif group.name == "parameter":
            values = np.repeat(np.array(entry.defaults["parameter"])[:, None], count, axis=1)
        groups.append(values.astype(np.float32).astype(float))
    return groups


def results(program, groups):
    found = program(*groups)
    return found if isinstance(found, tuple) else (found,)


def aligned(entry, got, expected, allowed):
    """What an entry gives of wheels, by as many half turns more as the kernel has, and how much rounding these allow.

    A wheel that makes half a turn and rolls backward moves the base the same way, and of choices that are as good to
    the last digits of floats (`motion.halves` tells them apart by 1e-6 rad) floats may take another than doubles.
    """
    places = {group.name: k for k, group in enumerate(entry.program.outputs)}
    if "angle" not in places or "speed" not in places:
        return got, allowed
    angle, speed = places["angle"], places["speed"]
    halves = np.round((got[angle] - expected[angle]) / np.pi)
    assert (halves == 0).mean() > 0.98
    made, bounds = list(got), list(allowed)
    made[angle] = got[angle] - np.pi * halves
    made[speed] = got[speed] * np.where(halves % 2, -1, 1)
    bounds[angle] = allowed[angle] + SINGLE * np.pi * np.abs(halves)
    return made, bounds


@pytest.mark.parametrize("name", mostly_slow(MODELS, ["differential_drive"]))
@pytest.mark.slow
def test_every_function_stays_within_its_rounding(name, folder, rng):
    model = MODELS[name]()
    _, found = exported(model, folder)
    prepare = next(entry for entry in found if entry.name == "prepare")
    for entry in found:
        groups = given_to(entry, prepare, model, 1000, rng)
        expected = results(entry.program, groups)
        got = called(entry, groups, folder)
        got, allowed = aligned(entry, got, expected, rounding(entry.program, groups, SINGLE))
        for mine, kernel, bound in zip(got, expected, allowed, strict=True):
            assert (np.abs(mine - kernel) <= 8 * bound).all(), entry.name


def test_what_a_call_takes_is_reported(folder, monkeypatch):
    with monkeypatch.context() as called_by_make:
        called_by_make.setenv("MAKEFLAGS", "w")
        called_by_make.setenv("MAKELEVEL", "1")
        package, found = exported(derived("differential_drive"), folder)
    measured = json.loads(json.dumps(package.facts["measured"]))
    names = {"step", "step_prepared", "on_timer", *(entry.name for entry in found)}
    assert set(measured["functions"]) == names
    for name, taken in measured["functions"].items():
        assert taken["stack_own"] <= taken["stack"] <= 2048, name
        assert 5 < taken["instructions"] < 5000, name
    assert 500 < measured["flash"] < measured["flash_in_all"] < 32_000
    dynamics = measured["functions"]["dynamics"]
    assert (
        f"| `dynamics` | {dynamics['instructions']:,} | {dynamics['stack']:,} |"
        in package.content("README.md").decode()
    )
    assert any(
        note.startswith(f"dynamics: {dynamics['instructions']:,} instructions a call")
        for note in package.notes
    )
    # the program prints the same again: instructions are counted, not timed
    made(folder, "-s", "benchmark.elf")
    assert f"dynamics {dynamics['instructions']} {dynamics['stack']}\n" in made(folder, "-s", "benchmark")


@pytest.mark.slow
def test_no_heap_and_nothing_in_double_precision(folder):
    exported(derived("swerve"), folder)
    made(folder)
    for program, own in (("main.elf", "on_timer"), ("benchmark.elf", "robot_dynamics")):
        symbols = subprocess.run(
            ["arm-none-eabi-nm", program], cwd=folder, capture_output=True, text=True, check=True
        )
        names = {line.split()[-1] for line in symbols.stdout.splitlines()}
        assert not {
            name
            for name in names
            if name.startswith(("__aeabi_d", "__aeabi_f2d", "malloc", "_malloc", "_sbrk"))
        }
        assert {"main", "reset", own} <= names


def test_a_robot_without_wheels_has_dynamics_alone_and_without_a_compiler_nothing_is_measured(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("PATH", str(tmp_path))
    package = trundle.export(trundle.catalog.pendulum(links=1), "microcontroller")
    names = [entry["name"] for entry in package.facts["entries"]]
    assert names == ["dynamics", "prepare", "dynamics_prepared"]
    assert package.notes == ("not measured: there is no arm-none-eabi-gcc here",)
    assert package.notes[0] in package.content("README.md").decode()
    assert "measured" not in package.facts


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (None, "there is no make here"),
        (
            "echo math.h: fatal error: No such file >&2; exit 2",
            "make failed: math.h: fatal error: No such file",
        ),
    ],
)
def test_tools_that_are_missing_or_fail_are_named_and_the_folder_is_whole(monkeypatch, tmp_path, make, said):
    for name, line in {"arm-none-eabi-gcc": "exit 0", "make": make}.items():
        if line is not None:
            (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
            (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    package = trundle.export(trundle.catalog.pendulum(links=1), "microcontroller")
    assert package.notes == (f"not measured: {said}",)
    assert {"pendulum.c", "benchmark.c", "Makefile", "startup.c"} <= set(package.files)
