"""What the equations say: the reference drive, the offset drive with its joint, textbook forms, notes, formats."""

import json
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
import sympy

import trundle
from derived import derived
from parameters import SHORT, mostly_slow
from trundle import catalog
from trundle.errors import InputError
from trundle.formulas import equations
from trundle.formulas.algebra.polynomials import SymbolTable
from trundle.formulas.checks.evaluation import SymbolValues
from trundle.formulas.typeset.mathml import symbol_mathml
from trundle.formulas.typeset.printers import symbol_latex
from trundle.robot import parse_robot

EXAMPLES = Path(__file__).parents[2] / "examples"
r, s, track, q = sympy.symbols("r s track q")


def matrix(rows):
    return sympy.Matrix(rows)


def same(found, expected):
    return sympy.simplify(sympy.Matrix(found) - sympy.Matrix(expected)) == sympy.zeros(
        *sympy.Matrix(expected).shape
    )


@pytest.fixture(scope="module")
def drive():
    return equations(catalog.differential_drive(offset=0.2))


@pytest.fixture(scope="module")
def offset_drive():
    return equations(catalog.offset_drive(), "kinematics")


def test_the_accelerations_are_the_reference(drive):
    v_x, omega, d, m_b, m_w, i_zz = sympy.symbols("v_x omega d m_b m_w I_zz")
    i_a, i_t, right, left = sympy.symbols("I_a I_t tau_right tau_left")
    w = track / 2
    v_dot = r * (right + left + r * d * m_b * omega**2) / (2 * i_a + m_b * r**2 + 2 * m_w * r**2)
    below = 2 * i_a * w**2 + 2 * i_t * r**2 + i_zz * r**2 + d**2 * m_b * r**2 + 2 * m_w * r**2 * w**2
    omega_dot = r * ((right - left) * w - r * d * m_b * omega * v_x) / below
    assert sympy.simplify(drive.accelerations["v_x"] - v_dot) == 0
    assert sympy.simplify(drive.accelerations["omega"] - omega_dot) == 0
    definitions = {str(each.symbol): each.expression for each in drive.definitions}
    m_w, b = sympy.symbols("m_w b")
    assert sympy.simplify(definitions["I_a"] - m_w * r**2 / 2) == 0
    assert sympy.simplify(definitions["I_t"] - m_w * (3 * r**2 + b**2) / 12) == 0


def test_the_accelerations_are_short(drive):
    assert drive.operations_of("acceleration.v_x", "acceleration.omega") <= 60


def test_what_the_definitions_mean(drive):
    notes = " ".join(next(s for s in drive.sections if s.title == "Equations of motion").notes)
    assert "effective mass" in notes
    assert "moment of inertia of the robot about the base's origin" in notes
    assert {each.meaning for each in drive.definitions} == {
        "moment of inertia of a wheel about its axle",
        "moment of inertia of a wheel about a diameter",
    }


def test_moments_of_the_base_and_of_a_trailer_are_told_apart():
    trailer = {"name": "cart", "mass": 5, "center_of_mass": ["e", 0, 0], "inertia": {"zz": 0.3}}
    described = {
        "name": "tractor",
        "base": "planar",
        "body": {"mass": 8.0, "center_of_mass": ["a", "c", 0], "inertia": {"zz": 0.2}},
        "wheels": {
            "left": {"at": [0, 0.2, 0], "radius": 0.1, "mass": 0.5},
            "right": {"at": [0, -0.3, 0], "radius": 0.1, "mass": 0.6},
            "behind": {"parent": "cart", "at": [-0.4, 0, 0], "radius": 0.1, "mass": 0.3},
        },
        "joints": {"hitch": {"type": "revolute", "at": ["-d", 0, 0], "body": trailer}},
        "parameters": {"a": 0.05, "c": 0.02, "d": 0.15, "e": -0.3},
    }
    told = equations(trundle.load({"trundle": 1, "robot": described}), "dynamics")
    known = {str(each.symbol): each for each in told.definitions}
    numbers = {each.symbol: each.number for each in told.symbols if each.number is not None}

    def value(name):
        return float(told.expanded(known[name].expression).subs(numbers))

    assert value("m") == pytest.approx(8 + 0.5 + 0.6)
    assert value("S_y") == pytest.approx(8 * 0.02 + 0.5 * 0.2 - 0.6 * 0.3)
    assert value("S_x_hitch") == pytest.approx(-5 * 0.3 - 0.3 * 0.4)
    assert (
        known["S_x_hitch"].meaning == "first moment of hitch with its wheels: its mass times x of its centre"
    )
    assert all("of the base with its wheels" in known[name].meaning for name in ("m", "S_y", "I_O"))


def test_shared_numbers_share_a_symbol_and_say_so(drive):
    symbols = {str(info.symbol): info for info in drive.symbols}
    assert symbols["m_w"].keys == ("wheels.right.mass", "wheels.left.mass")
    assert symbols["m_w"].number == 2.0
    assert symbols["track"].keys == ("track",)
    assert symbols["phidot_right"].keys == ("right.rate",)


def test_mirrored_places_share_a_symbol():
    wheel = {"radius": 0.1, "mass": 1.0}
    robot = parse_robot(
        {"body": {"mass": 5.0, "inertia": {"zz": 1.0}},
         "wheels": {"right": {"at": [0, -0.3, 0], **wheel}, "left": {"at": [0, 0.3, 0], **wheel}}}
    )  # fmt: skip
    found = equations(robot, "kinematics")
    assert {i.keys for i in found.symbols} >= {("-wheels.right.at.y", "wheels.left.at.y")}
    y_w = sympy.Symbol("y_w")
    assert same(found["forward"].right, [[r / 2, r / 2], [0, 0], [r / (2 * y_w), -r / (2 * y_w)]])


def test_the_plain_drive_inside_the_offset_one(offset_drive):
    assert offset_drive["forward"].right == matrix([[r / 2, r / 2], [0, 0], [r / track, -r / track]])
    assert [str(v) for v in offset_drive["forward"].vector] == ["phidot_right", "phidot_left"]


def test_the_offset_jacobian_and_its_inverse(offset_drive):
    jacobian = matrix([[r / 2, r / 2], [r * s / track, -r * s / track], [r / track, -r / track]])
    assert offset_drive["forward.steering"].right == jacobian
    inverse = matrix([[1 / r, track / (2 * r * s)], [1 / r, -track / (2 * r * s)]])
    assert offset_drive["inverse.steering"].right == inverse


def test_the_jacobian_with_the_joint_and_its_inverse(offset_drive):
    c, sn = sympy.cos(q), sympy.sin(q)
    jacobian = matrix(
        [
            [r * c / 2 - r * s * sn / track, r * c / 2 + r * s * sn / track, 0],
            [r * sn / 2 + r * s * c / track, r * sn / 2 - r * s * c / track, 0],
            [r / track, -r / track, -1],
        ]
    )
    assert offset_drive["forward.platform"].right == jacobian
    assert [str(v) for v in offset_drive["forward.platform"].vector] == [
        "phidot_right",
        "phidot_left",
        "qdot",
    ]
    inverse = matrix(
        [
            [(s * c - track * sn / 2) / (r * s), (s * sn + track * c / 2) / (r * s), 0],
            [(s * c + track * sn / 2) / (r * s), (s * sn - track * c / 2) / (r * s), 0],
            [-sn / s, c / s, -1],
        ]
    )
    assert (offset_drive["inverse.platform"].right - inverse).expand() == sympy.zeros(3, 3)
    assert sympy.simplify(offset_drive["inverse.platform"].right * jacobian) == sympy.eye(3)


def test_its_singularity_is_found_and_explained(offset_drive):
    assert offset_drive["determinant.platform"].right == r**2 * s / track
    notes = " ".join(next(x for x in offset_drive.sections if "platform" in x.title).notes)
    assert "same in every configuration" in notes
    assert "s = 0" in notes
    assert "v_x_platform⋅sin(q) - v_y_platform⋅cos(q)" in notes


def test_swerve_forward_kinematics_in_closed_form():
    found = equations(catalog.swerve(), "kinematics")
    delta, wheelbase = sympy.Symbol("delta_fl"), sympy.Symbol("wheelbase")
    first = found["forward"].right[:, 0]
    arm = (wheelbase * sympy.sin(delta) - track * sympy.cos(delta)) / (2 * (wheelbase**2 + track**2))
    assert same(first, [r * sympy.cos(delta) / 4, r * sympy.sin(delta) / 4, r * arm])
    v_x, v_y, omega = sympy.symbols("v_x v_y omega")
    expected = sympy.atan2(v_y + wheelbase * omega / 2, v_x - track * omega / 2)
    assert found["inverse.front_left.steering"].right == expected


def test_mecanum_at_any_roller_angle():
    found = equations(catalog.mecanum(), "kinematics")
    roller, wheelbase = sympy.symbols("roller wheelbase")
    assert same(found["forward"].right[0, :], [[r / 4] * 4])
    t = r * sympy.tan(roller) / 4
    assert same(found["forward"].right[1, :], [[-t, t, t, -t]])
    turn = r / (2 * (track + wheelbase / sympy.tan(roller)))
    assert same(found["forward"].right[2, :], [[-turn, turn, -turn, turn]])


def test_a_car_turns_by_its_steering():
    found = equations(catalog.ackermann(), "kinematics")
    assert found["forward"].right[0, :] == matrix([[r / 2, r / 2]])
    assert "rates that satisfy the constraints" in " ".join(n for x in found.sections for n in x.notes)


def test_the_double_pendulum_is_the_textbooks():
    found = equations(catalog.pendulum())
    m, length, g, q1, q2, u1, u2 = sympy.symbols("m length g q_1 q_2 qdot_1 qdot_2")
    c2 = sympy.cos(q2)
    definitions = {each.symbol: each.expression for each in found.definitions}
    mass = (
        m
        * length**2
        * matrix(
            [
                [sympy.Rational(5, 3) + c2, c2 / 2 + sympy.Rational(1, 3)],
                [c2 / 2 + sympy.Rational(1, 3), sympy.Rational(1, 3)],
            ]
        )
    )
    assert same(found.mass_matrix.subs(definitions), mass)
    gravity = m * g * length / 2 * matrix([3 * sympy.sin(q1) + sympy.sin(q1 + q2), sympy.sin(q1 + q2)])
    turning = m * length**2 / 2 * sympy.sin(q2) * matrix([-u2 * (2 * u1 + u2), u1**2])
    assert same(found.bias, gravity + turning)
    assert "sin(q_1 + q_2)" in str(found.bias)
    assert any("q₂ = 0 or 180" in note for section in found.sections for note in section.notes)


def test_angles_of_an_arm_are_folded():
    found = equations(trundle.load("examples/urdf/arm.urdf"), "kinematics")
    determinant = found["determinant.tool"].right
    assert sympy.sin(sympy.Symbol("q_elbow")) in determinant.args
    assert any("sin(q_elbow + q_shoulder)" in str(factor) for factor in determinant.args)


@pytest.mark.slow
def test_long_arms_are_bounded():
    axes = [[0, 0, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0]]
    body = {"mass": 1.5, "center_of_mass": [0.1, 0, 0.1], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.05}}
    joints = {
        f"j{k}": {
            "type": "revolute",
            "axis": axis,
            "at": [0.1, 0, 0.3],
            "body": body,
            **({"parent": f"j{k - 1}"} if k else {}),
        }
        for k, axis in enumerate(axes)
    }
    found = equations(parse_robot({"joints": joints}))
    assert "pose.j5" in found
    assert len(found.definitions) > 50
    assert any("angular velocity of j4" in each.meaning for each in found.definitions)
    chain = equations(catalog.pendulum(links=30), "dynamics")
    assert "model.inverse_dynamics()" in chain.sections[-1].notes[0]


BLOCK = {"mass": 1.0, "inertia": {"xx": 0.4, "yy": 0.3, "zz": 0.5}}


@pytest.mark.parametrize("base", ["fixed", "planar", "floating"])
def test_poses_joint_by_joint_are_seen_from_the_base(base):
    """Too long a Jacobian is left out; the product of poses beside it is checked wherever the base stands."""
    joints = {
        "slide": {"type": "prismatic", "rpy": [-1.4, -1.9, 1.7], "body": BLOCK},
        "arm": {
            "type": "revolute",
            "parent": "slide",
            "at": [0.3, 0, 0.1],
            "rpy": [0.4, 1, 2],
            "body": BLOCK,
        },
        "tool": {
            "type": "fixed",
            "parent": "arm",
            "at": [0.3, -0.2, 0.1],
            "rpy": [-1.2, 1.2, 0.7],
            "body": BLOCK,
        },
    }
    equations = trundle.derive(parse_robot({"base": base, "body": BLOCK, "joints": joints})).equations(
        "kinematics"
    )
    assert {"pose.slide", "pose.arm", "pose.tool"} <= set(equations.by_name)


def test_equations_are_written_where_the_derivation_before_them_came_to_its_bounds():
    joints = {
        "turn": {"type": "revolute", "axis": [2, -1, 0], "body": BLOCK},
        "slide": {"type": "prismatic", "parent": "turn", "rpy": [0.2, 0.8, -1.8], "body": BLOCK},
        "tip": {
            "type": "revolute",
            "parent": "slide",
            "at": [1.1, -1.3, -1.0],
            "axis": [0.85, 0.01, 0.33],
            "body": BLOCK,
        },
    }
    equations = trundle.derive(parse_robot({"joints": joints})).equations("kinematics")
    assert equations["pose.tip"].right.shape == (4, 4)


def test_constraints_of_a_locked_robot_are_shown_with_the_reason():
    found = equations(catalog.swerve(contact="ideal"), "constraints")
    assert "lock it" in found.sections[0].notes[0]
    assert len(found.sections[0].equations) == 8
    with pytest.raises(InputError, match="lock it"):
        equations(catalog.swerve(contact="ideal"), "dynamics")


def test_loops_keep_their_multipliers():
    found = equations(catalog.robot("four_bar"))
    assert "loop_rows" in found
    assert not found.accelerations
    assert any(name.startswith("loop.1") for name in found.by_name)
    assert str(found["motion"].right) == "B*tau + A.T*lamda"
    assert r"M \dot{u} + h &= B \tau + A^{T} \lambda" in found.latex()


def test_the_central_equation_is_an_equation(drive):
    """M u̇ + h = B τ is set, and u and τ say what they are of; what means nothing here isn't spoken of."""
    assert str(drive["motion"]) == "M⋅u̇ + h = B⋅τ"
    assert [*drive["speeds"].right] == [*sympy.symbols("v_x omega")]
    assert [*drive["torques"].right] == [*sympy.symbols("tau_right tau_left")]
    for form in (drive.latex(), drive.markdown()):
        assert r"M \dot{u} + h &= B \tau" in form
        assert "M[1" not in form
        assert "u̇" not in form
    assert "gravity" not in drive["bias"].meaning
    assert "gear" not in drive.text()
    assert "rotor" not in drive.text()
    falling = equations(catalog.pendulum(), "dynamics")["bias"].meaning
    assert falling.endswith("gravity")
    assert equations(catalog.swerve(), "dynamics").text().count("behind its gear") == 4


def test_every_coordinate_that_is_no_speeds_own_has_its_rate(drive):
    assert drive["rate.theta"].right == sympy.Symbol("omega")
    assert "rate.right.angle" not in drive


def test_labels_and_numbers(drive):
    """One number and one label an equation, over however many rows it goes."""
    latex = drive.latex()
    labels = re.findall(r"\\label\{(.*?)\}", latex)
    assert len(labels) == len(set(labels))
    assert "eq:differential_drive:forward" in labels
    assert drive.tex().startswith("\\documentclass[a4paper]{article}")
    assert latex in drive.tex()


def test_constraints_are_told_as_a_thesis_does():
    found = equations(catalog.differential_drive(), "constraints")
    (note,) = found.sections[0].notes
    assert note.startswith("The 4 constraints have rank 3: 1 is redundant. The independent speeds are ")
    assert r"The independent speeds are $v_{x}$ and $\omega$." in found.markdown()


def test_a_model_knows_its_equations():
    model = derived("differential_drive")
    assert model.equations("constraints").what == "constraints"
    with pytest.raises(InputError, match="no equations 'dynamic'"):
        model.equations("dynamic")


def test_a_wrong_equation_is_never_shown(monkeypatch):
    from trundle.formulas.sections import motion_section

    monkeypatch.setattr(motion_section, "_force", lambda sheet, dynamics, k, force: 2 * force)
    found = equations(catalog.pendulum(), "dynamics")
    (note,) = notes_of(found, "Accelerations")
    assert "differs from its compiled program" in note
    assert not found.accelerations
    assert "mass_matrix" in found
    assert not {str(each.symbol) for each in found.definitions} & {"Q_1"}


def notes_of(found, title):
    """What is said in a section without equations."""
    (section,) = (each for each in found.sections if each.title == title)
    assert not section.equations
    return section.notes


@pytest.mark.parametrize(
    ("maker", "title"),
    [
        ("constraint_section", "Constraints of rolling"),
        ("speed_section", "Speeds that follow from the independent ones"),
        ("inverse_section", "Inverse kinematics: rates from the motion of the base"),
        ("forward_section", "Forward kinematics: motion of the base from rates"),
        ("motor_section", "Motors"),
        ("motion_section", "Equations of motion"),
        ("acceleration_section", "Accelerations"),
    ],
)
def test_a_section_that_would_fill_pages_is_said_and_no_other_is_lost(monkeypatch, maker, title):
    from trundle.formulas import report
    from trundle.formulas.algebra.polynomials import TooLong

    def fails(*_):
        raise TooLong

    whole = equations(catalog.differential_drive())
    monkeypatch.setattr(report, maker, fails)
    found = equations(catalog.differential_drive())
    (note,) = notes_of(found, title)
    assert "would fill pages" in note
    assert note in found.text(1000)
    others = [section.title for section in whole.sections if section.title != title]
    assert [section.title for section in found.sections if section.equations] == others


def test_a_wrong_mass_matrix_is_found_by_the_energy(monkeypatch):
    from trundle.formulas.sections import motion_section

    entry = motion_section._entry
    monkeypatch.setattr(
        motion_section, "_entry", lambda sheet, d, i, j: entry(sheet, d, i, j) * (2 if i == j == 0 else 1)
    )
    found = equations(catalog.differential_drive(), "dynamics")
    (note,) = notes_of(found, "Equations of motion")
    assert "the equation 'mass_matrix'" in note
    assert "left_motor.torque" in found


def texts(data):
    """Every expression's text in the JSON object; the central equation's symbols are matrices, which no number is."""

    def flat(side):
        return [each for part in side for each in flat(part)] if isinstance(side, list) else [side]

    for section in data["sections"]:
        for equation in (each for each in section["equations"] if each["name"] != "motion"):
            yield from flat([equation["left"], equation["right"], equation.get("vector", [])])
    yield from (each["expression"] for each in data["definitions"])


def expressions(found):
    """The same as SymPy objects."""
    for equation in (each for each in found.by_name.values() if each.name != "motion"):
        for side in (equation.left, equation.right, equation.vector):
            yield from [] if side is None else list(side) if hasattr(side, "shape") else [side]


@pytest.mark.parametrize("name", mostly_slow(SHORT, ["differential_drive", "mecanum", "leg"]))
def test_every_text_reads_back(name, rng):
    found = equations(catalog.robot(name))
    data = json.loads(json.dumps(found.data(), allow_nan=False))
    names = {str(x) for e in found.by_name.values() for side in (e.left, e.right) for x in side.free_symbols}
    names |= {str(info.symbol) for info in found.symbols} | {each["symbol"] for each in data["definitions"]}
    assert data["operations"] == found.operations > 0
    numbers = {name: rng.uniform(0.5, 1.5) for name in sorted(names)}
    point = SymbolValues(SymbolTable(), {}, numbers)
    written = [*expressions(found), *(each.expression for each in found.definitions)]
    for text, expression in zip(texts(data), written, strict=True):
        again = sympy.sympify(text, {name: sympy.Symbol(name) for name in names})
        assert again.free_symbols == expression.free_symbols
        assert point(again) == pytest.approx(point(expression), rel=1e-12)


@pytest.mark.parametrize("name", mostly_slow(SHORT, ["differential_drive", "mecanum", "four_bar"]))
def test_formats(name):
    found = equations(catalog.robot(name))
    text = found.text(90)
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "agrees with the compiled program" in " ".join(text.split())
    for form in (found.latex(), found.markdown(), found._repr_latex_()):
        assert form.count("{") == form.count("}")
        assert form.count(r"\begin{") == form.count(r"\end{")
    assert found._repr_markdown_() == found.markdown()
    assert "Equations of" in repr(found)


def test_symbols_in_latex(drive):
    latex = drive.latex()
    for expected in (
        r"\dot{\phi}_{\mathrm{right}}",
        r"\mathrm{track}",
        r"\dot{v}_{x}",
        r"\tau_{\mathrm{left}}",
    ):
        assert expected in latex


def test_one_equation(drive):
    assert "⎡v_x⎤" in str(drive["forward"])
    assert drive["forward"]._repr_latex_().startswith(r"$\displaystyle \left[\begin{matrix}v_{x}")


def test_names_of_parameters_win():
    data = {"parameters": {"v_x": 0.15, "lambda": 1.2}}
    wheel = {"radius": "v_x", "mass": 1.0}
    robot = parse_robot(
        {"body": {"mass": 5.0, "inertia": {"zz": 1.0}}, **data,
         "wheels": {"a": {"at": [0, "lambda/2", 0], **wheel}, "b": {"at": [0, "-lambda/2", 0], **wheel}}}
    )  # fmt: skip
    symbols = {str(info.symbol): info.keys for info in equations(robot, "kinematics").symbols}
    assert symbols["v_x"] == ("v_x",)
    assert symbols["v_x_base"] == ("v_x",)
    assert symbols["lamda"] == ("lambda",)


def test_kinematics_do_not_need_masses():
    robot = parse_robot(
        {"wheels": {"a": {"at": [0, 0.3, 0], "radius": 0.1}, "b": {"at": [0, -0.3, 0], "radius": 0.1}}}
    )
    assert "forward" in equations(robot, "kinematics")


def test_a_run_does_not_load_sympy():
    code = "import sys, trundle; trundle.derive(trundle.catalog.differential_drive()); sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def columns(line):
    return sum(not unicodedata.combining(sign) for sign in line)


LAID_OUT = {name: lambda name=name: catalog.robot(name) for name in SHORT} | {
    "long chain": lambda: catalog.pendulum(links=6),
    "rear axle": lambda: trundle.load(EXAMPLES / "gears" / "rear_axle.yaml"),
    "arm": lambda: trundle.load(EXAMPLES / "urdf" / "arm.urdf"),
}


@pytest.mark.parametrize("name", mostly_slow(LAID_OUT, ["differential_drive", "swerve", "four_bar", "arm"]))
def test_every_robot_is_laid_out(name):
    """Lines fit; nothing is said to be itself; LaTeX is closed, and in symbols that every font has."""
    found = equations(LAID_OUT[name]())
    for width in (80, 100):
        lines = found.text(width).splitlines()
        assert all(columns(line) <= width for line in lines), max(lines, key=columns)
        for line in lines:
            left, equal, right = line.partition(" = ")
            assert not equal or left.strip() != right.strip()
        assert not [line for line in lines if "**" in line], "formulas are drawn, not typed"
    for text in (found.latex(), found._repr_latex_()):
        assert text.isascii(), [sign for sign in text if not sign.isascii()]
        assert text.count("{") == text.count("}")
        assert text.count(r"\left") == text.count(r"\right")
        assert text.count(r"\bigl") == text.count(r"\bigr")


def test_alike_wheels_are_written_once():
    found = equations(catalog.swerve(), "dynamics")
    text = found.text()
    assert "τ_k" not in text, "k_p has that index"
    assert "τ_j = K⋅n⋅i_j" in text
    assert "j = fl, rl, rr, fr" in text
    assert "front_left_drive.torque" in found.by_name
    assert "rear_right_drive.torque" in found.by_name, "there is still one for each"


def test_a_synchro_drive_is_the_textbooks():
    """Belts 1:1 shape the equations: everything points one way, and the base never turns."""
    found = equations(trundle.load(EXAMPLES / "gears" / "synchro.yaml"))
    v, delta, r = sympy.symbols("v delta_front r")
    assert found["speed.v_x"].right == v * sympy.cos(delta)
    assert found["speed.v_y"].right == v * sympy.sin(delta)
    assert found["speed.omega"].right == 0
    assert found["speed.left.rate"].right == v / r
    assert found.bias == sympy.zeros(2, 1)
    assert found.mass_matrix.is_diagonal()
    # The belts tie the wheels' rates, and the one that is driven says how the base moves.
    assert list(found["forward"].vector) == [sympy.Symbol("phidot_front")]
    assert list(found["forward"].right) == [r * sympy.cos(delta), r * sympy.sin(delta), 0]


def test_long_chains_are_told_in_the_links_own_directions():
    found = equations(catalog.pendulum(links=5))
    q = sympy.symbols("q_1:6")
    theta = sympy.symbols("theta_2:6")
    named = {each.symbol: each.expression for each in found.definitions}
    assert [named[each] for each in theta] == [
        q[0] + q[1],
        *(before + own for before, own in zip(theta, q[2:], strict=False)),
    ]
    last = found["link_5.center_x"].right
    assert last.atoms(sympy.sin) == {sympy.sin(each) for each in (q[0], *theta)}
    assert found.mass_matrix[3, 4].atoms(sympy.cos) == {sympy.cos(theta[2] - theta[3])}


def test_a_robot_without_masses():
    robot = trundle.load(EXAMPLES / "kinematic" / "two_wheels.yaml")
    found = equations(robot)
    assert "forward" in found
    assert any("needs a body with a mass" in note for note in found.sections[-1].notes)
    with pytest.raises(InputError, match="needs a body with a mass"):
        equations(robot, "dynamics")


def test_two_wheels_in_one_place_have_equations():
    """Their rates don't tell how the base turns, so there is no forward kinematics to write."""
    wheel = {"radius": 0.1, "mass": 1}
    robot = {
        "name": "unicycle",
        "body": {"mass": 9, "inertia": {"zz": 1}},
        "wheels": {"a": wheel, "b": wheel},
    }
    assert "Forward kinematics" not in str(trundle.equations(trundle.load({"robot": robot})))


def test_long_work_says_what_it_is_at():
    said = []
    equations(catalog.differential_drive(), progress=said.append)
    assert list(dict.fromkeys(said))[:3] == ["constraints", "kinematics", "dynamics"]
    assert said.count("equations of motion") > 4  # M's entries one by one


def test_state_equations_of_closed_loops_are_left_out_with_the_reason():
    (section,) = equations(catalog.four_bar(), "state").sections
    assert not section.equations
    assert "closed loops bind the accelerations" in section.notes[0]


def test_names_are_words_in_sentences_and_in_indices():
    """left_motor is "left motor"; names with dots are a program's or a run's, and stay."""
    found = equations(catalog.ackermann())
    text, tex = found.text(), found.latex()
    assert "front left rolls without slipping" in text
    assert "The independent speeds are v_fl and δ̇." in text
    assert "front_left rolls" not in tex
    assert "left_motor.voltage" in text
    for each in (symbol_latex, symbol_mathml):
        assert each("r_trailer_0_left").count(",") == 0
        assert each("v_x_hitch_0").count(",") == 1
        assert each("M_1_2").count(",") == 1
        assert each("I_phi_left").count(",") == 1
