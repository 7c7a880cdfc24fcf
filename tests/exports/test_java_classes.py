"""The Java classes for WPILib's users, compiled and run."""

import re
import subprocess

import numpy as np
import pytest
import yaml

import trundle
from exports.class_laws import as_recalibrated, as_the_library, as_wpimath, encoders_may_wrap_and_fail
from exports.wheeled_cases import WHEELED
from languages.java_code import tool
from parameters import mostly_slow
from trundle.errors import InputError

_MAIN = """
import java.io.*;
import java.nio.*;
import robot.Kinematics;
import robot.Odometry;
import robot.Parameters;

public class Main {
    private static final int M = Kinematics.WHEELS;
    private static DoubleBuffer numbers;
    private static DoubleBuffer out;

    private static double[] taken(int size) {
        double[] group = new double[size];
        numbers.get(group);
        return group;
    }

    private static void give(Kinematics.Wheels wheels) {
        out.put(wheels.rate).put(wheels.steering).put(wheels.steeringRate);
    }

    public static void main(String[] arguments) throws IOException {
        numbers = ByteBuffer.wrap(System.in.readAllBytes()).order(ByteOrder.nativeOrder()).asDoubleBuffer();
        double[] covariance = taken(9);
        double[] increments = taken(Odometry.INCREMENTS * Odometry.INCREMENTS);
        double[] angles = taken(Odometry.ANGLES * Odometry.ANGLES);
        int count = numbers.remaining() / (6 + 3 * M + 2 * Odometry.READINGS);
        ByteBuffer bytes = ByteBuffer.allocate(8 * count * (7 * M + 15)).order(ByteOrder.nativeOrder());
        out = bytes.asDoubleBuffer();
        @MADE@
        Kinematics.Wheels wheels = new Kinematics.Wheels();
        double[] back = new double[3];
        for (int k = 0; k < count; k++) {
            double[] twist = taken(3);
            kinematics.toWheelsForward(twist[0], twist[1], twist[2], wheels);
            give(wheels);
            numbers.get(wheels.rate);
            numbers.get(wheels.steering);
            numbers.get(wheels.steeringRate);
            kinematics.toTwist(wheels, back);
            kinematics.toWheels(twist[0], twist[1], twist[2], wheels);
            give(wheels);
            out.put(back);
            for (int wheel = 0; wheel < M; wheel++) out.put(kinematics.slip(wheel));
            double[] pose = taken(3);
            odometry.reset(pose[0], pose[1], pose[2], covariance, taken(Odometry.READINGS));
            odometry.update(taken(Odometry.READINGS), increments, angles);
            out.put(odometry.x()).put(odometry.y()).put(odometry.theta());
            for (int place = 0; place < 9; place++) out.put(odometry.covariance(place / 3, place % 3));
        }
        System.out.write(bytes.array());
        System.out.flush();
    }
}
"""


@pytest.fixture
def answer(tmp_path):
    """Rows of answers by exported code; of another robot's, with the parameters of theirs, where one is given."""

    def ask(given, exported=None):
        package = trundle.export(exported or given.kinematics.robot, "java", name="robot", output=tmp_path)
        made = "" if exported is None else "p"
        lines = [
            "Parameters p = new Parameters();",
            *(f"p.{name} = {value!r};" for name, value in _changed(package, given, exported)),
            f"Kinematics kinematics = new Kinematics({made});",
            f"Odometry odometry = new Odometry({made});",
        ]
        main = _MAIN.replace("@MADE@", "\n        ".join(lines))
        (tmp_path / "Main.java").write_text(main, encoding="utf-8")
        files = ["Main.java", *(f"robot/{path.name}" for path in (tmp_path / "robot").glob("*.java"))]
        done = run([tool("javac"), "-Xlint:all", "-Werror", *files], tmp_path)
        assert done.stderr == b""
        table = given.header.tobytes() + np.ascontiguousarray(given.table).tobytes()
        found = run([tool("java"), "-XX:TieredStopAtLevel=1", "Main"], tmp_path, table)
        return np.frombuffer(found.stdout).reshape(len(given.table), given.answer_width)

    return ask


def _changed(package, given, exported):
    """The fields of parameters in which the robot of some cases differs from an exported one, with its numbers."""
    measures = {} if exported is None else given.kinematics.robot.parameter_values()
    before = {} if exported is None else exported.parameter_values()
    for label, name in _reached(package).items():
        if measures.get(label) != before.get(label):
            yield name, measures[label]


def _reached(package):
    """How the fields of the parameters are reached in Java, by their labels."""
    (names,) = re.findall(r"return new double\[\] {(.*)};", package.files["robot/Parameters.java"])
    (labels,) = {
        tuple(group["labels"])
        for entry in package.facts["entries"]
        for group in entry["inputs"]
        if group["name"] == "parameter" and group["labels"]
    }
    return dict(zip(labels, names.split(", "), strict=True))


def run(command, folder, given=b""):
    done = subprocess.run(command, cwd=folder, input=given, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()[:3000]
    return done


@pytest.mark.parametrize("name", mostly_slow(WHEELED, ["tricycle"]))
@pytest.mark.slow
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


@pytest.mark.slow
def test_parameters_are_grouped_by_part_and_none_is_left_out(tmp_path):
    robot = trundle.catalog.robot("tricycle")
    package = trundle.export(robot, "java", "dynamics,kinematics,odometry", name="robot", output=tmp_path)
    names, values = _reached(package), robot.parameter_values()
    assert names["r"] == "r"
    assert names["wheels.rear.offset"] == "wheels.rear.offset"
    assert names["wheels.rear.fork.inertia.zz"] == "wheels.rear.fork_inertia_zz"
    assert names["body.inertia.zz"] == "body.inertia.zz"
    text = package.files["robot/Parameters.java"]
    assert "/** wheels.rear.offset, m. */" in text
    longest = max(part.count("public double ") for part in text.split("static final class"))
    assert longest <= 8  # of the rear wheel, in place of 31 in a row
    changes = "\n".join(f"p.{name} *= 2;" for name in names.values())
    main = f"""
    import robot.*;
    public class Grouped {{
        public static void main(String[] arguments) {{
            Parameters p = new Parameters();
            for (double each : p.toArray()) System.out.print(each + " ");
            System.out.println();
            {changes}
            for (double each : p.toArray()) System.out.print(each + " ");
            for (double each : Functions.parameters()) System.out.print(each + " ");
        }}
    }}
    """
    first, both = _printed(tmp_path, "Grouped", main)
    assert first == [values[label] for label in names]
    assert both == [*(2 * value for value in first), *first]


@pytest.mark.slow
def test_parts_that_are_called_alike_or_like_the_class_stay_apart(tmp_path):
    text = trundle.documents.dump(trundle.catalog.robot("tricycle"))
    document = yaml.safe_load(text.replace("rear", "parameters").replace("wheelbase", "wheels"))
    package = trundle.export(
        trundle.load(document), "java", "dynamics,kinematics,odometry", name="robot", output=tmp_path
    )
    assert _reached(package)["wheels"] == "wheels"
    assert _reached(package)["wheels.parameters.offset"] == "wheels_2.parameters.offset"
    files = [f"robot/{path.name}" for path in (tmp_path / "robot").glob("*.java")]
    run([tool("javac"), "-Xlint:all", "-Werror", *files], tmp_path)


def test_a_robot_without_wheels_has_functions_alone():
    package = trundle.export(trundle.catalog.pendulum(links=1), "java", "dynamics")
    assert {name for name in package.files if name.endswith(".java")} == {"pendulum/Functions.java"}


def test_names_that_java_has_words_for_are_refused(tmp_path):
    with pytest.raises(InputError, match="'record' can't be a name in Java: it is a word of the language"):
        trundle.export(trundle.catalog.mecanum(), "java", name="record", output=tmp_path / "robot")
    assert not (tmp_path / "robot").exists()


def test_a_robot_without_wheels_has_no_classes(tmp_path):
    with pytest.raises(InputError, match="kinematics need a planar base"):
        trundle.export(trundle.catalog.pendulum(), "java", output=tmp_path / "robot")
    assert not (tmp_path / "robot").exists()


_ALLOCATED = """
import robot.*;

public class Allocated {
    public static void main(String[] arguments) {
        var bean = (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
        Kinematics kinematics = new Kinematics();
        Kinematics.Wheels wheels = new Kinematics.Wheels();
        Odometry odometry = new Odometry();
        double[] readings = new double[Odometry.READINGS], twist = new double[3];
        double[] increments = new double[Odometry.INCREMENTS * Odometry.INCREMENTS];
        double[] angles = new double[Odometry.ANGLES * Odometry.ANGLES];
        for (int turn = 0; turn < 2; turn++) { // the first loads classes
            long before = bean.getCurrentThreadAllocatedBytes();
            for (int k = 0; k < 100; k++) {
                kinematics.toWheelsForward(1, 0.3, 0.2, wheels);
                kinematics.toWheels(1, -0.3, 0.2, wheels);
                kinematics.toTwist(wheels, twist);
                odometry.update(readings, increments, angles);
                kinematics.desaturate(wheels, 0.5);
                odometry.correctHeading(0.1, 1e-4);
            }
            long taken = bean.getCurrentThreadAllocatedBytes() - before;
            if (turn == 1) System.out.print(taken / 100);
        }
    }
}
"""


@pytest.mark.slow
def test_calls_allocate_nothing(tmp_path):
    trundle.export(trundle.catalog.swerve(), "java", name="robot", output=tmp_path)
    (tmp_path / "Allocated.java").write_text(_ALLOCATED, encoding="utf-8")
    run([tool("javac"), "-Xlint:all", "-Werror", "Allocated.java"], tmp_path)
    assert run([tool("java"), "Allocated"], tmp_path).stdout == b"0"


_SATURATED = """
import robot.*;

public class Saturated {
    public static void main(String[] arguments) {
        Kinematics kinematics = new Kinematics();
        Kinematics.Wheels wheels = new Kinematics.Wheels();
        double[] twist = new double[3];
        for (double fastest : new double[] {100, 0.5}) {
            kinematics.toWheelsForward(1, 0.3, 0.2, wheels);
            kinematics.desaturate(wheels, fastest);
            kinematics.toTwist(wheels, twist);
            double most = 0;
            for (int k = 0; k < Kinematics.WHEELS; k++) most = Math.max(most, Math.abs(kinematics.speed(wheels, k)));
            System.out.println(twist[0] + " " + twist[1] + " " + twist[2] + " " + most);
        }
    }
}
"""


@pytest.mark.parametrize("name", ["mecanum", pytest.param("swerve", marks=pytest.mark.slow)])
def test_wheels_that_are_slowed_drive_the_same_way(tmp_path, name):
    trundle.export(trundle.catalog.robot(name), "java", name="robot", output=tmp_path)
    whole, slowed = np.array(_printed(tmp_path, "Saturated", _SATURATED))
    np.testing.assert_allclose(whole[:3], [1, 0.3, 0.2], rtol=1e-12)
    assert slowed[3] == pytest.approx(0.5, rel=1e-14)
    np.testing.assert_allclose(slowed[:3], whole[:3] * 0.5 / whole[3], rtol=1e-12)


_CORRECTED = """
import robot.*;

public class Corrected {
    public static void main(String[] arguments) {
        Odometry odometry = new Odometry();
        double[] covariance = {0.04, 0.01, 0.006, 0.01, 0.09, -0.01, 0.006, -0.01, 0.02};
        double[][] given = {{0.7, 0.01}, {0.7 + 2 * Math.PI, 0.01}, {Double.NaN, 0.01}, {0.7, 0}, {0.7, Double.NaN}};
        for (double[] each : given) {
            odometry.reset(1, 2, 0.5, covariance, new double[Odometry.READINGS]);
            StringBuilder row = new StringBuilder(odometry.correctHeading(each[0], each[1]) ? "1" : "0");
            row.append(" " + odometry.x() + " " + odometry.y() + " " + odometry.theta());
            for (int k = 0; k < 9; k++) row.append(" " + odometry.covariance(k / 3, k % 3));
            System.out.println(row);
        }
    }
}
"""


@pytest.mark.slow
def test_a_gyroscope_is_taken_in_by_its_variance(tmp_path):
    trundle.export(trundle.catalog.differential_drive(), "java", name="robot", output=tmp_path)
    rows = np.array(_printed(tmp_path, "Corrected", _CORRECTED))
    before = np.array([[0.04, 0.01, 0.006], [0.01, 0.09, -0.01], [0.006, -0.01, 0.02]])
    # the second formulation: information adds up, and the pose minimises the squares of both
    after = np.linalg.inv(np.linalg.inv(before) + np.diag([0, 0, 1 / 0.01]))
    pose = np.array([1, 2, 0.5]) + after[:, 2] / 0.01 * (0.7 - 0.5)
    for row in rows[:2]:
        np.testing.assert_allclose(row, [1, *pose, *after.ravel()], rtol=1e-12)
    for row in rows[2:]:
        np.testing.assert_array_equal(row, [0, 1, 2, 0.5, *before.ravel()])


def _printed(folder, name, text):
    """The numbers that a class's main method prints, a list a line."""
    (folder / f"{name}.java").write_text(text, encoding="utf-8")
    run([tool("javac"), "-Xlint:all", "-Werror", f"{name}.java"], folder)
    lines = run([tool("java"), name], folder).stdout.decode().splitlines()
    return [[float(each) for each in line.split()] for line in lines]
