"""Robots whose joints and parameters are called like macros of C's headers, words of languages and the exported text's
own arguments: every language compiles them without a warning, and computes what the kernels do.
"""

import ctypes
import re
import shutil
import subprocess
from functools import cache

import numpy as np
import pytest

import trundle
from exports.fmus import VERSIONS, exported, fmpy, instance, needs_compiler, places, read, write
from exports.running import output_of
from languages import fortran, java_code
from languages.c_code import WARNINGS, compiler
from languages.rounding import off
from trundle.languages import C, identifiers
from trundle.robot.component import RESERVED

# Those whose macros a program meets that takes an exported header: C's own, all of them.
HEADERS = (
    "assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "limits", "locale", "math", "setjmp", "signal",
    "stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string", "time", "wchar", "wctype",
)  # fmt: skip
# What the texts themselves say: arguments, arrays, macros, types and functions.
OWN = (
    "rate", "input", "state", "parameter", "output", "prepared", "next", "h", "a", "b", "c", "d", "at", "k", "passed",
    "work", "found", "closed", "due", "v1", "start", "step", "dynamics", "wp", "unused", "Real", "Functions", "size",
    "TOKEN", "STATES", "LOOPS", "APART", "MODEL_H", "NULL", "clocks", "NAMES_H", "NAMES_STATE_COUNT", "first_state",
    "model_rate", "residual", "slope", "change", "R", "I", "int", "double", "class", "thread_local", "end", "lambda",
    "static_cast", "typeof", "this", "near", "record", "merge", "main", "Math", "public", "bool", "restrict", "linux",
)  # fmt: skip
COUNT = 200


def headers(name):
    """HEADERS; C++ has none of complex numbers."""
    return [each for each in HEADERS if "++" not in name or each != "complex"]


@cache
def macros(*command):
    """The macros without arguments that a compiler knows after all of C's headers."""
    text = "".join(f"#include <{name}.h>\n" for name in headers(command[0]))
    command = [
        compiler(command[0]),
        *command[1:],
        "-dM",
        "-E",
        "-x",
        "c++" if "++" in command[0] else "c",
        "-",
    ]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=60)
    return dict(re.findall(r"^#define ([A-Za-z]\w*)(?!\w|\() ?(.*)$", done.stdout, re.M))


@cache
def names():
    """OWN and an even choice of the macros."""
    known = sorted({*macros("gcc"), *macros("g++")} - {*OWN, *RESERVED})
    wanted = [
        "M_PI",
        "EOF",
        "RAND_MAX",
        "FP_NAN",
        "BUFSIZ",
        "MAXFLOAT",
        "stdin",
        "errno",
        "L_tmpnam",
        "M_PIl",
    ]
    chosen = [*OWN, *wanted, *(name for name in known[:: len(known) // COUNT] if name not in wanted)][:COUNT]
    assert len(set(chosen)) == COUNT
    return chosen


@cache
def model():
    """Pendulums on one base: as many joints as fit a kernel well, every name a parameter, four of them in each mass."""
    chosen = names()
    each = COUNT // 4
    joints = {
        name: {
            "type": "revolute",
            "parent": "base",
            "at": [0, 0, 0],
            "axis": [0, 1, 0],
            "body": {
                "mass": " + ".join(chosen[k::each]),
                "center_of_mass": [chosen[k], 0, 0],
                "inertia": {"xx": 9, "yy": chosen[-1 - k], "zz": 9},
            },
        }
        for k, name in enumerate(chosen[3:COUNT:4])
    }
    robot = {"name": "names", "base": "fixed", "gravity": 9.81, "joints": joints}
    robot["parameters"] = {name: 1 + 0.01 * k for k, name in enumerate(chosen)}
    return trundle.derive({"trundle": 1, "robot": robot})


def given(rng, count=20):
    own = model()
    p = np.array([*own.parameters.values()])[:, None] * rng.uniform(0.9, 1.1, (len(own.parameters), count))
    return rng.uniform(-1, 1, (len(own.states), count)), np.zeros((0, count)), p


@pytest.mark.parametrize(
    "command", [("gcc", "-std=c99"), ("gcc",), ("gcc", "-D_GNU_SOURCE"), ("clang",), ("g++",)]
)
def test_no_name_is_a_macros(command):
    """Macros that name themselves and those of POSIX's signals apart, which no exported file includes."""
    fatal = [
        name for name, value in macros(*command).items() if name != value and not re.match("s[ai]", name)
    ]
    assert len(fatal) > 300
    words = identifiers(fatal, C).values()
    assert not {*words} & {*fatal}


def test_other_names_stay():
    plain = ("mass", "r", "R", "M_1_2", "L_3_2", "front_left_K", "wheelBase", "Track", "IA_link_2_frame_M_xy")
    assert [*identifiers(plain, C)] == [*identifiers(plain, C).values()]


@cache
def wheeled():
    """A base on wheels that are called so, with radii of all the parameters."""
    chosen = names()
    radii = [" + ".join(chosen[k::20]) for k in range(20)]
    wheels = {
        name: {"at": [0, 0.1 * k - 1, radii[k]], "radius": radii[k]}
        for k, name in enumerate(chosen[1:COUNT:10])
    }
    robot = {"name": "names", "base": "planar", "wheels": wheels}
    robot["parameters"] = {name: 0.01 + 0.001 * k for k, name in enumerate(chosen)}
    return trundle.derive({"trundle": 1, "robot": robot})


ROBOTS = pytest.mark.parametrize(("robot", "what"), [(model, "dynamics"), (wheeled, "kinematics")])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "standard"), [("gcc", "c99"), ("gcc", "gnu17"), ("clang", "c99"), ("g++", "c++11")]
)
def test_c_compiles_behind_all_headers_and_gives_the_kernels_numbers(name, standard, tmp_path, rng):
    model().export("c", "dynamics", output=tmp_path / "names")
    kind = ["-x", "c++", "-Drestrict=__restrict"] if "++" in name else []
    command = [compiler(name), f"-std={standard}", *WARNINGS, "-shared", "-fPIC", "-O1", *kind, "names.c"]
    before = [word for header in headers(name) for word in ("-include", f"{header}.h")]
    for extra in (before, []):
        output_of([*command, *extra, "-o", "names.so", "-lm"], tmp_path / "names")
    function = ctypes.CDLL(str(tmp_path / "names" / "names.so")).names_dynamics
    groups = given(rng)
    found = np.empty((groups[0].shape[1], len(groups[0])))
    for row, *numbers in zip(found, *(np.ascontiguousarray(group.T) for group in groups), strict=True):
        function(*(ctypes.c_void_p(each.ctypes.data) for each in (*numbers, row)))
    require_the_kernels(groups, found.T)


def require_the_kernels(groups, found):
    program = model().dynamics
    assert off(program, groups, found, program(*groups)) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("called", [fortran.called, java_code.called])
def test_other_languages_give_the_kernels_numbers(called, rng):
    groups = given(rng)
    require_the_kernels(groups, called(model().dynamics, *groups)[0])


@pytest.mark.slow
@ROBOTS
@pytest.mark.parametrize(
    ("to", "flags"),
    [("c", "CC=gcc -Werror"), ("cpp", "CXX=g++ -Werror"), ("fortran", f"FFLAGS={' '.join(fortran.STRICT)}")],
)
def test_packages_build_without_a_warning(robot, what, to, flags, tmp_path):
    if to == "fortran" and shutil.which("gfortran") is None:
        pytest.skip("no gfortran")
    robot().export(to, what, output=tmp_path / "names")
    output_of([compiler("make"), flags], tmp_path / "names")


@pytest.mark.slow
@ROBOTS
def test_java_compiles_without_a_warning(robot, what, tmp_path):
    robot().export("java", what, output=tmp_path / "out")
    files = sorted(map(str, (tmp_path / "out" / "names").glob("*.java")))
    output_of([compiler("javac"), "-Xlint:all", "-Werror", "-d", str(tmp_path / "made"), *files], tmp_path)


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_fmus_give_the_kernels_numbers(version, tmp_path, rng):
    own = model()
    paths, made = exported(own, tmp_path / "out")
    assert not [said for said in made.facts["binaries"].values() if said.startswith("none")]
    groups = given(rng, 3)
    description = fmpy.read_model_description(paths[version])
    rates = places(description, [f"der({name})" for name in own.states])
    parameters = [k for k, each in enumerate(description.modelVariables) if each.causality == "parameter"]
    found = np.empty_like(groups[0])
    with instance(paths[version], "me") as (each,):
        for k in range(3):
            x = np.ascontiguousarray(groups[0][:, k])
            write(each, parameters, groups[2][:, k])
            each.setContinuousStates((ctypes.c_double * len(x))(*x), len(x))
            found[:, k] = read(each, rates)
    require_the_kernels(groups, found)
