"""Bad input, as a user meets it: status 1, a message with file, line, key and fix, and nothing left behind."""

import pytest

BAD = {
    # what is replaced in circle.yaml, by what, the line, and what the message must say
    "unknown key": ("mass: 50.0", "mas: 50.0", 5, ["robot.body.mas", "did you mean 'mass'?"]),
    "wrong type": ("duration: 2.0", "duration: [2]", 14, ["run.duration", "list"]),
    "text for a number": ("mass: 50.0", "mass: heavy", 5, ["robot.body.mass", "heavy"]),
    "negative mass": ("mass: 50.0", "mass: -50.0", 5, ["robot.body.mass", "-50"]),
    "wrong unit": ("mass: 50.0", "mass: 50 m", 5, ["robot.body.mass", "kg"]),
    "triangle inequality": ("{zz: 5.0}", "{xx: 1.0, yy: 1.0, zz: 5.0}", 5, ["robot.body.inertia"]),
    "off the ground": ("at: [0, 0.6, 0]", "at: [0, 0.6, 0.3]", 8, ["robot.wheels.left", "ground"]),
    "unknown parameter": ("radius: r,", "radius: q,", 7, ["robot.wheels.right.radius", "q"]),
    "not a number": ("mass: 50.0", "mass: .nan", 5, ["robot.body.mass", "finite"]),
    "infinite input": ("right_motor.voltage: 24.0", "right_motor.voltage: .inf", 16, ["right_motor.voltage"]),
    "unknown input": ("right_motor.voltage", "right.voltage", 16, ["run.inputs.right.voltage", "right_motor.voltage"]),
    "unknown state": ("samples: 21", "initial: {psi: 1}", 15, ["run.initial.psi", "theta"]),
    "unknown motor target": ("drives: right", "drives: rigth", 10, ["robot.motors.right_motor.drives", "'right'"]),
    "anchor": ("body: {", "body: &a {", 5, ["anchor"]),
    "alias": ("mass: 50.0", "mass: *m", 5, ["alias"]),
    "tag": ("mass: 50.0", "mass: !!python/object/apply:os.system [touch pwned]", 5, ["tag"]),
    "tab": ("  body:", "\tbody:", 5, ["spaces"]),
    "open bracket": ("{d: 0.0, r: 0.15}", "{d: 0.0, r: 0.15", 12, ["YAML"]),
    "repeated key": ("duration: 2.0", "duration: 2.0\n  duration: 3.0", 15, ["duration"]),
    "future format": ("trundle: 1", "trundle: 9", 1, ["version", "upgrade"]),
}  # fmt: skip


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize("case", BAD)
def test_a_wrong_description(trundle, folder, case, command):
    old, new, line, words = BAD[case]
    text = (folder / "circle.yaml").read_text()
    assert text.count(old) >= 1
    (folder / "bad.yaml").write_text(text.replace(old, new, 1))
    before = sorted(path.name for path in folder.iterdir())
    answer = trundle(command, "bad.yaml")
    assert answer.status == 1
    assert f"bad.yaml:{line}" in answer.err
    assert all(word in answer.err for word in words), answer.err
    assert "Traceback" not in answer.err
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["empty"]),
        (b"\xff\xfe\x00", ["UTF-8"]),
        (b"just text", ["trundle: 1"]),
        (b"- 1\n- 2\n", ["trundle: 1"]),
        (b"robot: {}\n", ["trundle"]),
        (b"trundle: 1\n", ["robot"]),
        (b"#" * 2_000_000, ["bytes"]),
        (b"a: " + b"[" * 5000, ["nest", "deep", "YAML"]),
    ],
    ids=["empty", "bytes", "text", "list", "no version", "no robot", "enormous", "deep"],
)
@pytest.mark.parametrize("source", ["file", "stdin"])
def test_files_that_are_no_description(trundle, folder, content, words, source):
    (folder / "bad.yaml").write_bytes(content)
    answer = trundle("run", "bad.yaml") if source == "file" else trundle("run", "-", stdin=content)
    assert answer.status == 1
    assert ("bad.yaml" if source == "file" else "<stdin>") in answer.err
    assert any(word in answer.err for word in words), answer.err
    assert not (folder / "runs").exists()


def test_joints_in_a_circle(trundle, folder):
    joints = (
        "{a: {type: revolute, parent: b, body: {mass: 1}}, b: {type: revolute, parent: a, body: {mass: 1}}}"
    )
    (folder / "bad.yaml").write_text(f"trundle: 1\nrobot:\n  name: ring\n  joints: {joints}\n")
    answer = trundle("check", "bad.yaml")
    assert answer.status == 1
    assert "circle" in answer.err
    assert "bad.yaml:4" in answer.err


@pytest.mark.parametrize("file", ["nope.yaml", ".", "circle.yml", "nul\0name", "/dev/null/x"])
def test_files_that_cannot_be_read(trundle, file):
    answer = trundle("run", file)
    assert answer.status == 1
    assert "Traceback" not in answer.err
    if file == "circle.yml":
        assert "did you mean 'circle.yaml'?" in answer.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "dd=1"], ["--set dd", "did you mean 'd'?"]),
        (["--set", "d=a"], ["--set d", "'a'"]),
        (["--set", "d=nan"], ["--set d"]),
        (["--set", "d=1e999"], ["--set d", "finite"]),
        (["--set", "body.mass=3 m"], ["--set body.mass", "kg"]),
        (["--set", "body.mass=0"], ["--set body.mass", "mass"]),
        (["--set", "body.mass=-1"], ["body.mass"]),
        (
            ["--input", "right_motor.volt=1"],
            ["--input right_motor.volt", "did you mean 'right_motor.voltage'?"],
        ),
        (["--input", "right_motor.voltage=3 A"], ["--input right_motor.voltage", "voltage"]),
        (["--input", "right_motor.voltage=2 +"], ["--input right_motor.voltage", "number with a unit"]),
        (["--initial", "right.rate=1"], ["--initial right.rate", "dependent speed", "v_x, omega"]),
        (["--initial", "thta=1"], ["--initial thta", "did you mean 'theta'?"]),
        (["--duration", "-1"], ["--duration", "above zero"]),
        (["--duration", "3 kg"], ["--duration", "kg"]),
        (["--samples", "1"], ["--samples", "2"]),
    ],
)
def test_wrong_options(trundle, folder, words, said):
    answer = trundle("run", "circle.yaml", *words)
    assert answer.status == 1
    assert all(word in answer.err for word in said), answer.err
    assert "circle.yaml" not in answer.err.replace("did you mean", "")
    assert not (folder / "runs").exists()


def test_options_that_do_not_go_with_the_file(trundle, folder):
    (folder / "rate.yaml").write_text(
        (folder / "circle.yaml").read_text().replace("samples: 21", "rate: 1 kHz")
    )
    answer = trundle("run", "rate.yaml", "--duration", "1e6")
    assert answer.status == 1
    assert "rate.yaml:15: run.rate" in answer.err


CSV = {
    "missing": (None, "no such file", "table.yaml:16"),
    "empty": ("", "is empty", "t.csv:1"),
    "header only": ("time,v\n", "no rows", "t.csv:1"),
    "no column": ("time,w\n0,1\n", "no column 'v'", "t.csv:1"),
    "semicolons": ("time;v\n0;1,5\n", "parted by ';'", "t.csv:1"),
    "times alone": ("v\n0\n1\n", "column 'v' is its times", "t.csv:1"),
    "times in volts": ("time (V),v\n0,1\n", "no unit of time", "t.csv:1"),
    "no table": ("root:x:0:0\n", "doesn't hold names of columns", "t.csv:1"),
    "not a number": ("time,v\n0,1\n1,nan\n", "not a finite number", "t.csv:3"),
    "text": ("time,v\n0,1\n\n1,two\n", "'two'", "t.csv:4"),
    "short row": ("time,v\n0,1\n1\n", "1 cells", "t.csv:3"),
    "times fall": ("time,v\n0,1\n2,1\n1,1\n", "times must increase", "t.csv:4"),
    "times repeat": ("time,v\n0,1\n0,1\n", "times must increase", "t.csv:3"),
    "bytes": ("time,v\n0,\udcff\n", "is not UTF-8 text", "t.csv:2"),
}


@pytest.mark.parametrize("case", CSV)
@pytest.mark.parametrize("command", ["check", "run"])
def test_wrong_tables(trundle, folder, case, command):
    content, said, place = CSV[case]
    if content is not None:
        (folder / "t.csv").write_bytes(content.encode(errors="surrogateescape"))
    text = (folder / "circle.yaml").read_text()
    (folder / "table.yaml").write_text(text.replace("voltage: 24.0", "voltage: {file: t.csv, column: v}"))
    answer = trundle(command, "table.yaml")
    assert answer.status == 1
    assert said in answer.err
    assert place in answer.err
    assert "run.inputs.right_motor.voltage" in answer.err
    assert not (folder / "runs").exists()


def test_a_name_without_its_owner_is_told_of_all_that_have_it(trundle, folder):
    answer = trundle("run", "circle.yaml", "--set", "mass=3", "--no-figures")
    assert answer.status == 1
    assert "did you mean one of 'body.mass', " in answer.err
    assert "'wheels.left.mass'" in answer.err
