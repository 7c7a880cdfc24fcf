"""Packages in C and C++: what they compute is the kernels', they compile without a warning and leave nothing behind."""

import ctypes
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import yaml
from sympy.physics.mechanics import KanesMethod, Particle, Point, ReferenceFrame, dynamicsymbols

import trundle
from exports.running import VOLTAGES, kernels_end, require_refusals
from languages.c_code import WARNINGS, compiler
from parameters import SHORT
from trundle.errors import InputError
from trundle.exports.entries import entries
from trundle.exports.preparing import with_prepared
from trundle.languages.c import comment

ROBOT = trundle.catalog.differential_drive()
COMPILERS = [("gcc", "g++"), pytest.param(("clang", "clang++"), marks=pytest.mark.slow)]


def built(folder, pair=("gcc", "g++")):
    """The example of a package, compiled by its own makefile with every warning an error."""
    c, cpp = (compiler(name) for name in pair)
    command = [compiler("make"), "-B", "-C", str(folder), f"CC={c} -Werror", f"CXX={cpp} -Werror"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[:3000]
    assert not done.stderr, done.stderr[:3000]
    return folder / "main"


def ran(program, *words):
    """The rows that an example prints, time first."""
    done = subprocess.run([str(program), *words], capture_output=True, text=True, check=True, timeout=60)
    head, *lines = done.stdout.splitlines()
    assert head.startswith("time,")
    return np.array([[float(each) for each in line.split(",")] for line in lines])


def library(folder, name):
    path = folder / "code.so"
    command = [compiler("gcc"), "-std=c99", "-O1", *WARNINGS, "-shared", "-fPIC", str(folder / f"{name}.c")]
    subprocess.run([*command, "-o", str(path), "-lm"], check=True, timeout=300)
    return ctypes.CDLL(str(path))


@pytest.mark.parametrize("to", ["c", "cpp"])
@pytest.mark.parametrize("pair", COMPILERS)
@pytest.mark.slow
def test_the_example_runs_as_the_kernels_do(tmp_path, to, pair):
    trundle.export(ROBOT, to, output=tmp_path / "robot")
    program = built(tmp_path / "robot", pair)
    for seconds, steps, allowed in (("0.001", 1, 1e-12), ("30", 30_000, 1e-9)):
        expected = kernels_end("differential_drive", VOLTAGES, steps)
        found = ran(program, seconds, "0.001", *map(str, VOLTAGES))[-1, 1:]
        np.testing.assert_allclose(found, expected, rtol=0, atol=allowed * np.abs(expected).max())


@pytest.mark.parametrize("to", ["c", "cpp"])
@pytest.mark.slow
def test_the_example_moves_by_the_run_sections_inputs(tmp_path, to):
    document = trundle.catalog.document("differential_drive")
    trundle.export(document, to, "dynamics", output=tmp_path / "robot")
    program = built(tmp_path / "robot")
    np.testing.assert_array_equal(ran(program, "1", "0.001"), ran(program, "1", "0.001", *map(str, VOLTAGES)))
    assert abs(ran(program, "1")[-1, 6]) > 1


@pytest.mark.parametrize("to", ["c", "cpp"])
@pytest.mark.slow
def test_the_example_refuses_what_is_no_time_and_no_number(tmp_path, to):
    trundle.export(ROBOT, to, "dynamics", output=tmp_path / "robot")
    require_refusals(built(tmp_path / "robot"), folder=tmp_path)


def test_examples_without_a_run_section_have_inputs_of_one_and_tables_their_middle():
    given = {"right_motor.voltage": {"times": [0, "2 s"], "values": [0, "10 V"]}}
    document = trundle.catalog.document("differential_drive")
    whole = {**yaml.safe_load(document.source), "run": {"inputs": given}}
    main = trundle.export(whole, "c", "dynamics").files["main.c"]
    assert "input[DIFFERENTIAL_DRIVE_INPUT_COUNT] = {5.0, 1.0};" in main


@pytest.mark.parametrize("robot", SHORT)
@pytest.mark.slow
def test_every_robot_compiles_without_a_warning(tmp_path, robot):
    trundle.export(trundle.catalog.robot(robot), "c", output=tmp_path)
    built(tmp_path)


@pytest.mark.parametrize("robot", ["swerve", "four_bar", "differential_drive"])
@pytest.mark.parametrize("to", ["c", "cpp"])
@pytest.mark.slow
def test_single_precision_and_kinematics_alone_compile(tmp_path, robot, to):
    made = getattr(trundle.catalog, robot)()
    trundle.export(made, to, precision="single", output=tmp_path / "single")
    assert len(ran(built(tmp_path / "single"), "0.1")) == 101
    built(tmp_path / "single", ("clang", "clang++"))
    if robot != "four_bar":
        trundle.export(made, to, "kinematics,odometry", output=tmp_path / "kinematics")
        for pair in (("gcc", "g++"), ("clang", "clang++")):
            subprocess.run([str(built(tmp_path / "kinematics", pair))], check=True, timeout=60)


@pytest.mark.parametrize("robot", ["differential_drive", pytest.param("swerve", marks=pytest.mark.slow)])
def test_every_function_is_its_program(tmp_path, robot, rng):
    model = trundle.derive(getattr(trundle.catalog, robot)())
    package = model.export("c", output=tmp_path / "robot")
    loaded = library(tmp_path / "robot", robot)
    p = np.array([*model.parameters.values()]) * rng.uniform(0.9, 1.1, len(model.parameters))
    known = {"parameter": p}
    for entry in with_prepared(entries(model)):
        if entry.name == "prepare":
            known["prepared"] = entry.program(p)
        given = [known.get(group.name, rng.uniform(-1.0, 1.0, group.size)) for group in entry.program.inputs]
        found = [np.full(group.size, np.nan) for group in entry.program.outputs]
        getattr(loaded, f"{robot}_{entry.name}")(*(ctypes.c_void_p(a.ctypes.data) for a in (*given, *found)))
        expected = entry.program(*given)
        for got, wanted in zip(found, expected if isinstance(expected, tuple) else (expected,), strict=True):
            scale = max(np.abs(wanted).max(initial=0.0), 1.0)  # what goes in is up to one
            np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12 * scale, err_msg=entry.name)
    assert set(package.files) > {f"{robot}.h", f"{robot}.c", "main.c", "Makefile", "README.md"}


@pytest.mark.slow
def test_nothing_is_allocated_or_kept_and_the_stack_stays_small(tmp_path):
    trundle.export(ROBOT, "c", output=tmp_path)
    command = [compiler("gcc"), "-std=c99", "-O2", "-fstack-usage", "-c", "differential_drive.c"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    symbols = subprocess.run(
        [compiler("nm"), "differential_drive.o"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    kinds = {line.split()[-1]: line.split()[-2] for line in symbols}
    assert not {name for name, kind in kinds.items() if kind in "bBdDC"}  # data that could be written
    needed = {name for name, kind in kinds.items() if kind == "U"}
    assert needed <= {
        "sin",
        "cos",
        "sincos",
        "sqrt",
        "atan2",
        "hypot",
        "remainder",
        "fmod",
        "_GLOBAL_OFFSET_TABLE_",
    }
    rows = [line.split("\t") for line in (tmp_path / "differential_drive.su").read_text().splitlines()]
    stack = {row[0].rpartition(":")[2].removeprefix("differential_drive_"): int(row[1]) for row in rows}
    assert {"dynamics", "step", "jacobian", "odometry_step", "outputs"} <= stack.keys()
    assert stack["step"] + stack["dynamics"] <= 2048
    assert max(stack.values()) <= 2048


@pytest.mark.slow
def test_long_chains_grow_linearly_and_compile(tmp_path):
    sizes = {}
    for links in (25, 50, 100):
        folder = tmp_path / str(links)
        trundle.export(trundle.catalog.pendulum(links=links), "c", "dynamics", output=folder)
        sizes[links] = len((folder / "pendulum.c").read_bytes())
    # twice as many links more; the names of values grow by a digit now and then
    assert (sizes[100] - sizes[50]) / (sizes[50] - sizes[25]) < 2.3
    built(tmp_path / "100")


def test_places_are_told_apart():
    source = {"trundle": 1, "robot": dump_of(["a", "A", "count", "int"])}
    header = trundle.export(source, "c", "dynamics", name="odd").files["odd.h"]
    places = re.findall(r"ODD_STATE_\w+", header)
    assert len(set(places)) == 9
    assert {"ODD_STATE_A_ANGLE", "ODD_STATE_A_ANGLE_2", "ODD_STATE_COUNT_ANGLE", "ODD_STATE_COUNT"} <= set(
        places
    )


def dump_of(names):
    """A chain of hinges with these names."""
    body = {"mass": 1.0, "center_of_mass": [0, 0, -0.5], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    joints = {
        name: {"type": "revolute", "parent": names[k - 1] if k else "base", "axis": [0, 1, 0], "body": body}
        for k, name in enumerate(names)
    }
    return {"name": "odd", "base": "fixed", "gravity": 9.81, "joints": joints}


def test_comments_end_where_they_should():
    text = comment("a */ b /* c ??/\n\u202e d **//")
    assert not any(bad in text for bad in ("*/", "/*", "??", "\n", "\u202e"))
    assert comment("rad/s, N m/A") == "rad/s, N m/A"


@pytest.mark.parametrize("name", ["while", "namespace", "sin", "my robot", "1st", "link", "time"])
@pytest.mark.parametrize("to", ["c", "cpp", "ros2", "microcontroller"])
def test_names_that_c_can_not_have_are_refused(tmp_path, name, to):
    with pytest.raises(InputError, match=f"'{name}' can't be a (name in C|package's name)"):
        trundle.export(ROBOT, to, name=name, output=tmp_path / "robot")
    assert not (tmp_path / "robot").exists()


@pytest.mark.parametrize("to", ["c", "cpp"])
def test_models_without_parameters_and_inputs_compile_too(tmp_path, to):
    q, rate = dynamicsymbols("q v")
    frame, point = ReferenceFrame("N"), Point("O")
    point.set_vel(frame, rate * frame.x)
    loads = [(point, -9 * q * frame.x)]
    method = KanesMethod(frame, [q], [rate], [q.diff() - rate])
    method.kanes_equations([Particle("P", point, 1)], loads)
    trundle.from_sympy(method).export(to, "dynamics", name="spring", output=tmp_path)
    assert ran(built(tmp_path), "0.5", "0.001")[-1].tolist() == [0.5, 0.0, 0.0]


@pytest.mark.parametrize("mass", [1e-40, 1e39])
def test_a_parameter_that_a_float_can_not_hold_is_named(tmp_path, mass):
    robot = trundle.catalog.differential_drive(body_mass=mass, body_inertia=1)
    with pytest.raises(InputError, match="is beyond single precision") as caught:
        trundle.export(robot, "microcontroller", output=tmp_path / "robot")
    assert caught.value.key == "body.mass"
    assert not (tmp_path / "robot").exists()


@pytest.mark.parametrize("to", ["c", "cpp"])
def test_the_readme_tells_what_the_example_does(to):
    robot = trundle.catalog.mecanum()
    whole = trundle.export(robot, to, "dynamics").content("README.md").decode()
    assert "`./main 30 0.001` runs the robot from its start. " in whole
    assert "`MECANUM_STATE_...`" in whole
    part = trundle.export(robot, to, "kinematics").content("README.md").decode()
    assert "`./main` calls every function once" in part
    assert "`MECANUM_TWIST_...`" in part
    assert "step" not in part.split("## `wheel_states`")[0]


# By target what its example's file says of the step that it takes of itself.
STEPS = {
    "c": ("main.c", ": {};"),
    "cpp": ("main.cpp", ": {};"),
    "fortran": ("main.f90", "argument(2, {}_wp)"),
    "javascript": ("example.js", "h = {}, "),
    "octave": ("main.m", "h = {}; end"),
    "numpy": ("README.md", "robot.step(x, u, p, {})"),
}
SLIPPING = Path(__file__).parents[2] / "examples" / "skid_steer" / "turn.yaml"


@pytest.mark.parametrize("to", STEPS)
def test_examples_take_the_step_that_a_rollout_advises_and_say_so(to):
    document = trundle.documents.load(SLIPPING)
    inputs = {name: value.number for name, value in document.run.inputs.items()}
    with pytest.warns(UserWarning, match="is too long") as warned:
        trundle.rollout(document, inputs=inputs, steps=1, dt=1e-3)
    (advised,) = map(float, re.findall(r"take dt = (\S+) s", str(warned[0].message)))
    assert advised < 1e-3
    package = trundle.export(document, to, "dynamics")
    name, text = STEPS[to]
    assert text.format(advised) in package.files[name]
    if to != "numpy":
        assert re.search(
            rf"30,? {advised}\)?` runs the robot from its start \(longer steps may grow there\)",
            package.files["README.md"],
        )
        assert [note.split(" unless")[0] for note in package.notes] == [f"steps of {advised} s"]
    usual = trundle.export(ROBOT, to, "dynamics")
    assert text.format(0.001) in usual.files[name]
    assert usual.notes == ()


@pytest.mark.slow
def test_the_example_of_slipping_wheels_runs_as_simulate_does(tmp_path):
    document = trundle.documents.load(SLIPPING)
    inputs = {name: value.number for name, value in document.run.inputs.items()}
    run = trundle.simulate(document, 5.0, inputs, samples=2)
    trundle.export(document, "c", "dynamics", output=tmp_path)
    end = ran(built(tmp_path), "5")[-1, 1:]
    wanted = np.array([run[name][-1] for name in trundle.derive(document).states])
    assert np.abs(end - wanted).max() <= 1e-6 * np.abs(wanted).max()


@pytest.mark.parametrize("on_above", [None, 11.0])
def test_a_batterys_relay_switches_as_in_the_kernels(tmp_path, on_above):
    """For good, or off and on again."""
    robot = yaml.safe_load("""
        name: bench
        joints: {wheel: {type: revolute, body: {inertia: {zz: 2e-3}}}}
        motors: {motor: {drives: wheel, torque_constant: 0.02, resistance: 0.05}}
        batteries: {cells: {open_circuit_voltage: 12.9, internal_resistance: 0.03, capacity: 20 Ah, off_below: 10.5}}
    """)
    robot["batteries"]["cells"] |= {} if on_above is None else {"on_above": on_above}
    document = trundle.load({"robot": robot})
    trundle.export(document, "c", "dynamics", output=tmp_path / "robot")
    found = ran(built(tmp_path / "robot"), "0.21", "0.0007", "12")[-1, 1:]
    batch = trundle.rollout(document, inputs={"motor.voltage": 12.0}, steps=300, dt=7e-4, every=300, count=1)
    expected = np.array([batch.final(name)[0] for name in trundle.derive(document).states])
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert (expected[1] < 10) == (on_above is None)
