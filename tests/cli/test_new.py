"""`trundle new` and `trundle schema`."""

import json

import pytest

from parameters import mostly_slow
from trundle import catalog
from trundle.documents import parse
from trundle.errors import InputError


@pytest.mark.parametrize("kind", mostly_slow(catalog.names(), ["differential_drive", "mecanum", "four_bar"]))
@pytest.mark.slow
def test_every_robot_reads_back_and_runs(trundle, folder, kind):
    assert trundle("new", kind, "robot.yaml").status == 0
    text = (folder / "robot.yaml").read_text()
    assert text.startswith(f"# From `trundle new {kind}`")
    written, expected = parse(text), catalog.document(kind)
    assert written.robot == expected.robot
    assert written.run == expected.run
    answer = trundle("run", "robot.yaml", "--duration", "0.2", "--samples", "5", "--no-figures", "--json")
    assert answer.status == 0, answer.err
    assert answer.data["name"] == kind


def test_without_a_file_it_is_printed(trundle):
    plain, dash = trundle("new", "pendulum"), trundle("new", "pendulum", "-", "--quiet")
    assert plain.out == dash.out
    assert parse(plain.out).robot.name == "pendulum"
    assert plain.err == ""


def test_measures(trundle):
    text = trundle("new", "swerve", "--modules", "6", "--radius", "2 in", "--body-mass", "30").out
    robot = parse(text).robot
    assert len(robot.wheels) == 6
    assert robot.parameter_values()["r"] == pytest.approx(0.0508)
    assert robot.parameter_values()["body.mass"] == 30.0
    assert "rear" not in parse(trundle("new", "tricycle", "--no-caster").out).robot.wheels


@pytest.mark.parametrize(
    ("kind", "measures", "inertia"),
    [  # that of a plate goes with its mass and the squares of its sides
        ("swerve", {"wheelbase": "50 cm", "track": 0.5, "body_mass": 80.0}, 5.0 * 2 / 4),
        ("swerve", {"modules": 3, "wheelbase": 2.0}, 5.0 * 4),
        ("differential_drive", {"track": 0.6}, 5.0 / 4),
        ("skid_steer", {"wheelbase": 0.6, "track": 0.5}, 2.5),
    ],
)
def test_inertia_goes_with_mass_and_size(kind, measures, inertia):
    assert catalog.robot(kind, **measures).parameter_values()["body.inertia.zz"] == pytest.approx(inertia)


@pytest.mark.parametrize("kind", [name for name in catalog.names() if "motor" in catalog.options(name)])
def test_a_real_motor_is_run_at_no_more_than_its_voltage(kind):
    document = catalog.document(kind, motor="neo", gear_ratio=9)
    usual = catalog.document(kind).run.inputs
    volts = {name: each for name, each in document.run.inputs.items() if name.endswith(".voltage")}
    assert volts
    for name, each in volts.items():
        assert (
            abs(each.constant)
            <= 12
            == document.robot.motors[name.removesuffix(".voltage")].voltage_limit.constant
        )
        assert each.constant * usual[name].constant > 0


def test_a_real_motor_takes_no_winding_beside_it():
    with pytest.raises(InputError, match="'neo' has a torque constant"):
        catalog.differential_drive(motor="neo", resistance=0.1)


def test_an_option_that_is_not_there_is_told_from_those_that_are(trundle):
    answer = trundle("new", "swerve", "--wheel-base", "1")
    assert answer.status == 2
    assert "there is no option '--wheel-base'; did you mean '--wheelbase'?" in answer.err
    assert "`trundle new pendulum --help` shows" in trundle("new", "pendulum", "--motor", "neo").err
    assert "did you mean '--duration'?" in trundle("run", "robot.yaml", "--duratoin=3").err
    assert "'b.yaml' is one too many" in trundle("check", "a.yaml", "b.yaml").err


def test_measures_that_make_no_sense(trundle):
    answer = trundle("new", "pendulum", "--length", "3 kg")
    assert answer.status == 1
    assert "kg" in answer.err
    assert trundle("new", "swerve", "--modules", "1").status == 1


def test_a_kind_shows_its_measures(trundle):
    answer = trundle("new", "swerve", "--help")
    assert answer.status == 0
    assert "--modules" in answer.out
    assert "default: 4" in answer.out


def test_the_catalogue(trundle):
    answer = trundle("new", "--list")
    assert all(name in answer.out for name in catalog.names())
    assert set(trundle("new", "--list", "--json").data["catalogue"]) == {
        *catalog.names(),
        *catalog.names(terrain=True),
    }


def test_an_unknown_kind(trundle):
    answer = trundle("new", "swerv")
    assert answer.status == 1
    assert "did you mean 'swerve'?" in answer.err


def test_a_file_that_is_there_stays_without_force(trundle, folder):
    (folder / "robot.yaml").write_text("mine")
    answer = trundle("new", "pendulum", "robot.yaml")
    assert answer.status == 1
    assert "--force" in answer.err
    assert (folder / "robot.yaml").read_text() == "mine"
    assert trundle("new", "pendulum", "robot.yaml", "--force", "--json").data["file"] == "robot.yaml"
    assert parse((folder / "robot.yaml").read_text()).robot.name == "pendulum"


def test_no_folder_is_made_unasked(trundle, folder):
    (folder / "file").write_text("")
    for file in ("file/robot.yaml", "missing/robot.yaml"):
        answer = trundle("new", "pendulum", file)
        assert answer.status == 1
        assert "there is no folder" in answer.err
        assert "make it first: mkdir" in answer.err
    assert not (folder / "missing").exists()


@pytest.mark.parametrize("words", [[], ["--json"], ["--quiet"]])
def test_schema(trundle, words):
    schema = json.loads(trundle("schema", *words).out)
    assert schema["title"] == "Trundle description"
    assert {"trundle", "robot", "run"} <= set(schema["properties"])


def test_schema_of_motions(trundle):
    schema = json.loads(trundle("schema", "motion").out)
    assert schema["title"] == "Trundle motion"
    assert set(schema["properties"]) == {"trundle", "motion"}
    assert schema["$defs"]["Command"]["properties"]["duration"]["x-unit"] == "s"
