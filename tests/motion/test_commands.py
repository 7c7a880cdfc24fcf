"""Commands in files: both formats, written back, and every error with its place."""

import pytest
import yaml

from motion.simulator_motions import MOTIONS
from trundle.errors import InputError
from trundle.motion.commands.commands import Commands, read_commands

_OWN = """\
trundle: 1
motion:
  name: dance
  start:
    pose: {theta: 90 deg}
    modules: {one: {angle: 45 deg}}
  commands:
    - {duration: 500 ms, modules: {one: {angle: 90 deg, speed: 1 ft/s}}}
    - duration: 2
      twist: {v_x: 1}
"""


def read(text, folder):
    file = folder / "motion.yaml"
    file.write_text(text, encoding="utf-8")
    return read_commands(file)


@pytest.mark.parametrize("name", MOTIONS)
def test_the_simulators_files_are_read_and_written_back_unchanged(name, tmp_path):
    there = read(yaml.safe_dump(MOTIONS[name], sort_keys=False), tmp_path)
    assert list(there.motion.start.modules) == ["left_front", "left_rear", "right_rear", "right_front"]
    again = read(there.text(), tmp_path)
    assert yaml.safe_load(again.text()) == MOTIONS[name]
    assert again.motion == there.motion


def test_own_files_have_units_and_are_written_back(tmp_path):
    there = read(_OWN, tmp_path)
    first, second = there.motion.commands
    assert first.duration.number == 0.5
    assert first.modules is not None
    assert first.modules["one"].speed.number == pytest.approx(0.3048)
    assert second.twist.numbers == (1.0, 0.0, 0.0)
    assert there.motion.start.pose.numbers == pytest.approx((0, 0, 1.5707963267948966))
    assert yaml.safe_load(there.text()) == yaml.safe_load(_OWN)


def test_commands_from_python_are_the_same():
    motion = Commands(name="go", commands=[{"duration": 1, "twist": {"v_x": 1}}])
    assert read_commands(motion).motion is motion
    assert read_commands(read_commands(motion)).motion is motion


@pytest.mark.parametrize(
    ("change", "line", "key", "message"),
    [
        (("500 ms", "-1"), 8, "motion.commands.0.duration", "a time above zero"),
        (("500 ms", "1 m"), 8, "motion.commands.0.duration", "expected a time"),
        (
            ("      twist: {v_x: 1}", "      twits: {v_x: 1}"),
            10,
            "motion.commands.1.twits",
            "unknown key 'twits'",
        ),
        (("      twist: {v_x: 1}\n", ""), 9, "motion.commands.1", "this one has neither"),
        (("angle: 90 deg, ", ""), 8, "motion.commands.0.modules.one.angle", "'angle' is missing"),
        (("90 deg}\n", ".nan}\n"), 5, "motion.start.pose.theta", "finite"),
        (("trundle: 1\n", "trundle: 2\n"), 1, "trundle", "unknown choice"),
        (("motion:", "notion:"), 1, None, "expected a motion, got the keys trundle, notion"),
        (("dance", "!!python/name:os.system dance"), 3, "motion.name", "tag"),
    ],
)
def test_errors_say_where(change, line, key, message, tmp_path):
    with pytest.raises(InputError, match=message) as caught:
        read(_OWN.replace(*change), tmp_path)
    assert caught.value.line == line
    assert caught.value.key == key
    assert str(tmp_path) in str(caught.value)


def test_the_simulators_errors_have_its_keys(tmp_path):
    text = yaml.safe_dump(MOTIONS["inplace_rotation"], sort_keys=False)
    with pytest.raises(InputError, match="stands twice") as caught:
        read(text.replace("left_rear", "left-front"), tmp_path)
    assert caught.value.key == "plan.start_state.modules.1"
    with pytest.raises(InputError, match="unknown key 'time_spam'"):
        read(text.replace("time_span", "time_spam"), tmp_path)


def test_wrong_entries_of_a_list_are_no_missing_ones(tmp_path):
    text = yaml.safe_dump(MOTIONS["inplace_rotation"], sort_keys=False).replace("time_span: ", "time_span: -")
    with pytest.raises(InputError, match="expected a time above zero") as caught:
        read(text, tmp_path)
    assert "at least" not in str(caught.value)
    with pytest.raises(InputError, match=r"expected at least 1, got"):
        Commands(name="none", commands=[])
