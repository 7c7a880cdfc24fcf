"""The C++ classes below a controller of ros2_control, compiled and run without ROS."""

import subprocess

import numpy as np
import pytest

import trundle
from exports.class_laws import as_recalibrated, as_the_library, as_wpimath, encoders_may_wrap_and_fail
from exports.running import hostile_model
from exports.wheeled_cases import WHEELED, fields
from languages.c_code import compiler
from parameters import mostly_slow
from trundle.errors import InputError
from trundle.languages import C

_FLAGS = [
    "-Iinclude",
    "-std=c++17",
    "-O1",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wdouble-promotion",
    "-pedantic",
    "-Werror",
]
_MAIN = """
#include <algorithm>
#include <cstdio>
#include <vector>
#include "robot/robot.hpp"

using robot::Kinematics;
using robot::Odometry;

template <std::size_t N> static std::array<double, N> taken(const double *&from) {
    std::array<double, N> group{};
    std::copy_n(from, N, group.begin());
    from += N;
    return group;
}

template <typename Group> static void give(const Group &group) {
    std::fwrite(group.data(), sizeof(double), group.size(), stdout);
}

static void give(const Kinematics::Wheels &wheels) {
    give(wheels.rate);
    give(wheels.steering);
    give(wheels.steering_rate);
}

int main() {
    @MADE@
    constexpr std::size_t m = Kinematics::wheel_count, r = Odometry::reading_count;
    constexpr std::size_t n = Odometry::increment_count, a = Odometry::angle_count;
    std::vector<double> numbers;
    double chunk[1024];
    for (std::size_t got; (got = std::fread(chunk, sizeof(double), 1024, stdin)) > 0;)
        numbers.insert(numbers.end(), chunk, chunk + got);
    const double *at = numbers.data(), *const end = at + numbers.size();
    const auto covariance = taken<9>(at);
    const auto increments = taken<n * n>(at);
    const auto angles = taken<a * a>(at);
    while (at < end) {
        const auto twist = taken<3>(at);
        Kinematics::Wheels now;
        now.rate = taken<m>(at);
        now.steering = taken<m>(at);
        now.steering_rate = taken<m>(at);
        const auto pose = taken<3>(at);
        Odometry odometry(taken<r>(at), {pose[0], pose[1], pose[2]}, covariance@GIVEN@);
        odometry.update(taken<r>(at), increments, angles);
        give(kinematics.wheels({twist[0], twist[1], twist[2]}));
        give(kinematics.wheels({twist[0], twist[1], twist[2]}, now));
        std::array<double, m> slips{};
        const auto back = kinematics.twist(now, slips);
        give(std::array<double, 3>{back.v_x, back.v_y, back.omega});
        give(slips);
        give(std::array<double, 3>{odometry.pose().x, odometry.pose().y, odometry.pose().theta});
        give(odometry.covariance());
    }
    return 0;
}
"""


@pytest.fixture
def answer(tmp_path):
    """Rows of answers by exported code, by both compilers; of another robot's, with the parameters of theirs, where one
    is given.
    """

    def ask(given, exported=None):
        trundle.export(exported or given.kinematics.robot, "ros2", name="robot", output=tmp_path / "robot")
        lines = ["const Kinematics kinematics;"]
        if exported is not None:
            text = (tmp_path / "robot" / "include" / "robot" / "robot.hpp").read_text(encoding="utf-8")
            changes = (  # parameters that neither kinematics nor odometry use are none of its fields
                f"p.{name} = {value!r};"
                for name, value in fields(given, exported, C).items()
                if f"  double {name} = " in text
            )
            lines = ["robot::Parameters p;", *changes, "const Kinematics kinematics(p);"]
        main = _MAIN.replace("@MADE@", "\n    ".join(lines)).replace("@GIVEN@", ", p" if exported else "")
        (tmp_path / "robot" / "main.cpp").write_text(main, encoding="utf-8")
        for name in ("clang++", "g++"):
            command = [compiler(name), *_FLAGS, "main.cpp", "-o", "main"]
            done = subprocess.run(
                command, cwd=tmp_path / "robot", capture_output=True, text=True, timeout=300
            )
            assert (done.returncode, done.stderr) == (0, ""), done.stderr[:3000]
        table = given.header.tobytes() + np.ascontiguousarray(given.table).tobytes()
        found = subprocess.run([tmp_path / "robot" / "main"], input=table, capture_output=True, timeout=300)
        assert found.returncode == 0, found.stderr.decode()
        return np.frombuffer(found.stdout).reshape(len(given.table), given.answer_width)

    return ask


@pytest.mark.parametrize("name", mostly_slow(WHEELED, ["tricycle"]))
def test_classes_give_what_the_library_gives(name, answer, rng):
    as_the_library(name, answer, rng)


@pytest.mark.parametrize("name", mostly_slow(WHEELED, ["tricycle"]))
@pytest.mark.slow
def test_classes_take_other_parameters(name, answer, rng):
    as_recalibrated(name, answer, rng)


@pytest.mark.slow
def test_encoders_may_wrap_and_fail(answer, rng):
    encoders_may_wrap_and_fail("tricycle", answer, rng)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["swerve2", "swerve3", "swerve4", "swerve6", "mecanum", "differential"])
def test_ten_thousand_cases_as_in_wpimath(kind, answer, rng):
    as_wpimath(kind, 2000, answer, rng)


def test_dynamics_alone_are_no_controller():
    with pytest.raises(InputError, match="kinematics, commands and odometry") as raised:
        hostile_model().export("ros2", "dynamics", name="robot")
    assert raised.value.key == "what"
    assert "--to cpp" in str(raised.value)
