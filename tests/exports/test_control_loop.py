"""The microcontroller's control loop on a Cortex-M4F under QEMU: its timer, its watchdog, its poses and commands."""

import json

import numpy as np
import pytest

import trundle
from derived import derived
from exports.boards import made, require_board
from exports.wheeled_cases import WHEELED
from languages.rounding import SINGLE, rounding
from trundle.exports.entries import entries

RATE, PATIENCE, TURN = 100, 50, np.float32(6.2831853)
PER_COUNT = TURN / np.float32(4096)
ROWS = 600

# Reads rows of a flag, a twist and counts; after every loop it writes whether the twist was taken, pose and commands.
_MAIN = """
#include "control.h"
#include "semihosting.h"

static struct {{ int32_t comes; float twist[3]; int32_t counts[CONTROL_ENCODERS]; }} row;
static struct {{ int32_t taken; Pose pose; float commands[CONTROL_VELOCITIES + CONTROL_POSITIONS]; }} found;

const float rad_per_count[CONTROL_ENCODERS] = {{{per_count}}};

void read_encoders(int32_t *counts) {{
    for (int k = 0; k < CONTROL_ENCODERS; k++) counts[k] = row.counts[k];
}}

void command_joints(const float *velocity, const float *position) {{
    for (int k = 0; k < CONTROL_VELOCITIES; k++) found.commands[k] = velocity[k];
    for (int k = 0; k < CONTROL_POSITIONS; k++) found.commands[CONTROL_VELOCITIES + k] = position[k];
}}

int main(void) {{
    const int32_t from = host_open("in.bin", 6, 1), to = host_open("out.bin", 7, 5);
    control_start(&robot_parameter_defaults);
    for (int k = 0; k < {rows}; k++) {{
        host_read(from, &row, sizeof row);
        if (row.comes) found.taken = control_drive(row.twist[0], row.twist[1], row.twist[2]);
        on_timer();
        found.pose = control_pose();
        host_write(to, &found, sizeof found);
    }}
    host_exit();
    return 0;
}}
"""


@pytest.fixture
def folder(tmp_path):
    require_board()
    return tmp_path / "robot"


def _exported(name, folder):
    model = derived(name)
    trundle.export(model, "microcontroller", name="robot", output=folder)
    return model, {entry.name: entry for entry in entries(model, ["kinematics", "commands", "odometry"], ())}


def _looped(folder, comes, twists, counts, commands):
    """What the loop gives for rows: whether a twist was taken, poses and commands."""
    per_count = ", ".join(["6.2831853f / 4096"] * counts.shape[1])
    (folder / "main.c").write_text(_MAIN.format(per_count=per_count, rows=len(twists)), encoding="utf-8")
    columns = [comes[:, None].astype(np.int32), twists.astype(np.float32).view(np.int32), counts]
    np.hstack(columns).astype(np.int32).tofile(folder / "in.bin")
    made(folder, "-s", "main.elf")
    made(folder, "-s", "run", "ICOUNT=shift=6,sleep=off")
    found = np.fromfile(folder / "out.bin", dtype=np.int32).reshape(len(twists), 4 + commands)
    return found[:, 0], found[:, 1:4].copy().view(np.float32), found[:, 4:].copy().view(np.float32)


def _swinging(rng, steered):
    """Twists as floats hold them, and counts of wheels that turn and steer, from far along their way on."""
    t = np.arange(ROWS)[:, None] / RATE
    phases = rng.uniform(0, 6, (2, 3))
    twists = ([0.6, 0.3, 0.8] * np.sin([1.1, 0.7, 0.5] * t + phases[0]) + [0.2, 0, 0.3]).astype(np.float32)
    phase, size = rng.uniform(0, 6, len(steered)), np.where(steered, 500, 20_000)
    middle = np.where(steered, 0, 2**31 - 1)  # the counters overflow on the way
    # Equal speeds, or opposite ones, would only turn some bases on the spot, or never turn them.
    rate = 0.9 * (1 + 0.25 * np.arange(len(steered)))
    turned = (size * np.sin(rate * t + phase)).astype(np.int64) + middle
    return twists, turned.astype(np.uint32).view(np.int32).reshape(turned.shape), turned


@pytest.mark.slow
@pytest.mark.parametrize("name", WHEELED)
def test_poses_and_commands_are_the_kernels_to_single_precision(name, folder, rng):
    model, found = _exported(name, folder)
    parameters = np.array([*model.parameter_values().values()], dtype=np.float32).astype(float)
    _, increments, angles, _ = found["odometry_step"].program.inputs
    steered = np.array([label in angles.labels for label in increments.labels])
    assert set(angles.labels) <= set(increments.labels)
    twists, counts, turned = _swinging(rng, steered)
    size = sum(group.size for group in found["joint_commands"].program.outputs)
    taken, poses, commands = _looped(folder, np.ones(ROWS), twists, counts, size)
    assert taken.all()
    places = [increments.labels.index(label) for label in angles.labels]
    _require_poses(found["odometry_step"].program, poses, turned, places, parameters)
    _require_commands(found, commands, twists.astype(float), counts, parameters)


def _require_poses(program, poses, turned, places, parameters):
    """Poses are sums of the kernel's steps; each step may be off by its rounding, and turned by the heading's."""
    moved = (np.diff(turned, axis=0).astype(np.float32) * PER_COUNT).astype(float).T
    held = (turned[:-1, places].astype(np.float32) * PER_COUNT).astype(float).T
    given = np.repeat(parameters[:, None], ROWS - 1, axis=1)
    groups = [np.zeros((3, ROWS - 1)), moved, held, given]
    steps, *_ = program(*groups)
    bounds = 8 * rounding(program, groups, SINGLE)[0]
    pose, heading_off, off = np.zeros(3), 0.0, 0.0
    for k in range(ROWS - 1):
        pose = program(pose, moved[:, k], held[:, k], parameters)[0]
        off += np.hypot(*bounds[:2, k]) + np.hypot(*steps[:2, k]) * (heading_off + 4 * SINGLE)
        heading_off += bounds[2, k]
        gone = np.hypot(*(poses[k + 1, :2] - pose[:2]))
        assert gone <= off + 2 * SINGLE * np.hypot(*pose[:2]), k
        turn = np.remainder(poses[k + 1, 2] - pose[2] + np.pi, 2 * np.pi) - np.pi
        assert abs(turn) <= heading_off + 2 * SINGLE * np.pi, k
    assert np.hypot(*poses[:, :2].T).max() > 0.1
    assert abs(poses[:, 2]).max() <= np.float32(np.pi) * (1 + SINGLE)


def _require_commands(found, commands, twists, counts, parameters):
    """Commands are the kernels' one after the other, each of which may add its rounding."""
    allowed, following, commanding = (
        found[name].program for name in ("allowed_twist", "next_wheel_states", "joint_commands")
    )
    measures = found["wheel_measures"].program(parameters)
    names = following.outputs[0].labels
    angle, speed = measures[1].copy(), np.zeros(len(names))
    read = found["odometry_step"].program.inputs[1].labels
    stood = [4 * SINGLE * np.pi * np.ones(len(names)), np.zeros(len(names))]  # of headings and encoders
    for place, wheel in enumerate(names):
        if f"{wheel}.steering" in read:
            angle[place] += float(np.float32(counts[0, read.index(f"{wheel}.steering")]) * PER_COUNT)
    for k in range(ROWS):
        first, following_too = [twists[k], parameters], [angle, speed, parameters]
        twist = _all(allowed, first)[0]
        states = _all(following, [twist, *following_too])
        angle, speed = states[0], states[1]
        turning = np.zeros(len(names))
        trailing = [names.index(wheel) for group in following.outputs[2:] for wheel in group.labels]
        turning[trailing] = states[2] if trailing else ()
        last = [angle, speed, turning, parameters]
        if k % 12 == 11 or k % 12 == 0:
            off = _off(following, [twist, *following_too], [*_off(allowed, first, []), *stood])
            stood = off[:2]
        if k % 12 == 0:
            off = np.concatenate(_off(commanding, last, off[:2]))
            assert (np.abs(commands[k] - np.concatenate(_all(commanding, last))) <= off).all(), k


def _off(program, groups, before):
    """How far a program's results may be off: by 8 times its own rounding, and by that of its first groups."""
    results = _all(program, groups)
    bounds = [8 * each[:, 0] for each in rounding(program, [group[:, None] for group in groups], SINGLE)]
    for place, sizes in enumerate(before):
        for k, size in enumerate(sizes):
            moved = list(groups)
            moved[place] = groups[place] + size * (np.arange(len(sizes)) == k)
            changed = _all(program, moved)
            bounds = [b + np.abs(c - r) for b, c, r in zip(bounds, changed, results, strict=True)]
    return bounds


def _all(program, groups):
    found = program(*groups)
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["differential_drive", "swerve"])
def test_a_twist_that_nobody_renews_counts_no_more(name, folder):
    _, found = _exported(name, folder)
    size = sum(group.size for group in found["joint_commands"].program.outputs)
    wheels = found["joint_commands"].program.outputs[0].size
    comes, twists = np.zeros(300, dtype=int), np.tile([0.5, 0, 0.1], (300, 1))
    comes[[20, 40, 200, 210]] = 1
    twists[210] = [0.5, np.nan, 0]
    counts = np.zeros((300, found["odometry_step"].program.inputs[1].size), dtype=np.int32)
    taken, _, commands = _looped(folder, comes, twists, counts, size)
    turns = np.any(commands[:, :wheels] != 0, axis=1)
    expected = np.zeros(300, dtype=bool)
    expected[20 : 40 + PATIENCE] = expected[200 : 200 + PATIENCE] = True
    np.testing.assert_array_equal(turns, expected)
    assert taken[209] == 1
    assert taken[210] == 0  # no number: the last one counts on, as long as it would
    still = commands[40 + PATIENCE : 200, wheels:]
    assert np.all(still == commands[40, wheels:])  # steering keeps its angles


def _ran(folder, shift=6):
    """Rows that the package's own program prints, and what it says at the end, an instruction taking 2^shift ns.

    The clock doesn't sleep while nothing is executed: it would go on by this machine's time, which is late under load.
    """
    made(folder, "-s", "main.elf")
    head, *lines, last = made(folder, "-s", "run", f"ICOUNT=shift={shift},sleep=off").splitlines()
    assert head == "time,x,y,theta"
    return np.array([[float(each) for each in line.split(",")] for line in lines]), last


@pytest.mark.slow
def test_the_package_s_program_drives_on_a_timer_and_stops(folder):
    _exported("mecanum", folder)
    rows, last = _ran(folder)
    np.testing.assert_allclose(rows[:, 0], np.arange(1, 101) / 10, rtol=0, atol=1e-9)
    assert last == "0 loops were late"
    # a twist from loop 11 on, renewed until loop 690, and 50 loops more
    time = (690 + PATIENCE - 10) / RATE
    end = [0.5 / 0.2 * np.sin(0.2 * time), 0.5 / 0.2 * (1 - np.cos(0.2 * time)), 0.2 * time]
    radius, arm = 0.1, 0.5  # of the wheels, and half their base and track together
    count = radius * PER_COUNT
    assert np.hypot(*(rows[-1, 1:3] - end[:2])) < (count + 0.5 * 0.01) + count / arm * np.hypot(*end[:2])
    assert abs(rows[-1, 3] - end[2]) < count / arm + 0.2 * 0.01
    assert np.all(rows[rows[:, 0] > 7.45, 1:] == rows[-1, 1:])


_CLOCK = "static volatile uint32_t *const clock = (volatile uint32_t *)0x40000000u; /* 25 MHz, down */\n"
_TIMED = {
    "static void print(": f"{_CLOCK}static void print(",
    "int main(void) {\n": "int main(void) {\n    clock[2] = clock[1] = ~0u;\n    clock[0] = 1;\n",
    '    print(pose.theta);\n': '    print(pose.theta);\n    host_print(",");\n    host_print_number(~clock[1]);\n',
    '__asm volatile("wfi");': "",  # QEMU's clock goes on by what it executes alone
}  # fmt: skip
# every other loop takes one and a half of its time; if all did nothing else would ever run
_LONG = "    on_timer();\n    for (volatile int k = 0; k < 3000 && control_loops() % 2; k++) {\n    }\n"


@pytest.mark.slow
def test_the_timer_keeps_its_rate_and_says_where_a_loop_is_late(folder):
    _exported("mecanum", folder)
    text = timed = (folder / "main.c").read_text(encoding="utf-8")
    for old, new in _TIMED.items():
        assert timed.count(old) == 1
        timed = timed.replace(old, new)
    (folder / "main.c").write_text(timed, encoding="utf-8")
    rows, last = _ran(folder, 10)
    assert last == "0 loops were late"
    ticks = np.diff(rows[:, 4])
    np.testing.assert_allclose(
        ticks, 2_500_000, rtol=0, atol=0.1 * 250_000
    )  # a row is late by a part of a loop
    assert abs(ticks.mean() - 2_500_000) < 1e-3 * 2_500_000
    (folder / "main.c").write_text(text.replace("    on_timer();\n", _LONG), encoding="utf-8")
    assert int(_ran(folder, 10)[1].split()[0]) in range(450, 551)


@pytest.mark.slow
def test_the_loop_stands_beside_its_benchmark(folder):
    package = trundle.export(trundle.catalog.mecanum(), "microcontroller", name="robot", output=folder)
    facts = json.loads(json.dumps(package.facts["measured"]))
    taken = facts["functions"]["on_timer"]
    assert 500 < taken["instructions"] < 5000
    assert taken["stack_own"] <= taken["stack"] <= 1024
    assert f"| `on_timer` | {taken['instructions']:,} |" in package.content("README.md").decode()
    made(folder, "-s", "benchmark.elf")
    assert f"on_timer {taken['instructions']} {taken['stack']}\n" in made(folder, "-s", "benchmark")


def test_a_robot_without_wheels_has_no_loop(folder):
    package = trundle.export(trundle.catalog.pendulum(links=1), "microcontroller", output=folder)
    assert not {"control.h", "control.c", "main.c"} & set(package.files)
    assert "### The control loop" not in package.files["README.md"]
    assert "benchmark.elf" in made(folder)
