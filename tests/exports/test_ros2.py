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


@pytest.mark.parametrize("name", mostly_slow(WHEELED, []))
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


_CORRECTED = """
#include <cstdio>
#include <limits>
#include "robot/robot.hpp"

int main() {
    const double none = std::numeric_limits<double>::quiet_NaN(), turn = 6.283185307179586;
    const double given[][2] = {{0.7, 0.01}, {0.7 + turn, 0.01}, {none, 0.01}, {0.7, 0}, {0.7, -1}, {0.7, none}};
    for (const auto &each : given) {
        robot::Odometry odometry({}, {1, 2, 0.5}, {0.04, 0.01, 0.006, 0.01, 0.09, -0.01, 0.006, -0.01, 0.02});
        std::printf("%d", odometry.correct_heading(each[0], each[1]) ? 1 : 0);
        std::printf(" %.17g %.17g %.17g", odometry.pose().x, odometry.pose().y, odometry.pose().theta);
        for (const double entry : odometry.covariance()) std::printf(" %.17g", entry);
        std::printf("\\n");
    }
    return 0;
}
"""


@pytest.mark.slow
def test_a_gyroscope_is_taken_in_by_its_variance(tmp_path):
    folder = tmp_path / "robot"
    trundle.export(trundle.catalog.differential_drive(), "ros2", name="robot", output=folder)
    (folder / "main.cpp").write_text(_CORRECTED, encoding="utf-8")
    for command in ([compiler("g++"), *_FLAGS, "main.cpp", "-o", "main"], ["./main"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr[:3000]
    rows = np.array([[float(each) for each in line.split()] for line in done.stdout.splitlines()])
    before = np.array([[0.04, 0.01, 0.006], [0.01, 0.09, -0.01], [0.006, -0.01, 0.02]])
    # the second formulation: information adds up, and the pose minimises the squares of both
    after = np.linalg.inv(np.linalg.inv(before) + np.diag([0, 0, 1 / 0.01]))
    pose = np.array([1, 2, 0.5]) + after[:, 2] / 0.01 * (0.7 - 0.5)
    for row in rows[:2]:
        np.testing.assert_allclose(row, [1, *pose, *after.ravel()], rtol=1e-12)
    for row in rows[2:]:
        np.testing.assert_array_equal(row, [0, 1, 2, 0.5, *before.ravel()])
