"""The kinds of input that reach Trundle: good ones to begin with, how they are mutated, and what is done with them.

Most of what is taken is only read, as reading costs least; a part is derived, run, analysed and printed.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import numpy as np
import yaml

import trundle
from tools.fuzz import c3d_faults, files, foreign, recordings
from tools.fuzz.calls import CALLS, call, mutate_call
from tools.fuzz.command_lines import COMMANDS, command, mutate_command
from tools.fuzz.expect import require_numbers, require_said
from tools.fuzz.mutations import PIECES, mutate_bytes, mutate_text, mutate_tree
from trundle import catalog
from trundle.documents import Document, dump, dump_urdf, parse, parse_urdf
from trundle.documents.osim.osim_reader import parse_document as parse_osim
from trundle.robot.expressions import ExpressionError
from trundle.robot.values import read_value
from trundle.show.summaries.analysis_summary import sections
from trundle.show.summaries.lines import Page
from trundle.simulation.signals import as_signal

EXAMPLES = Path(__file__).parents[2] / "examples"


# What the example has not: a base that moves, joints of other types, a mimic, dynamics, limits, others' elements.
_TROLLEY = """<robot name="trolley" xmlns:x="http://x.org/x"><material name="m"><color rgba="1 0 0 1"/></material>
<link name="base_link"><inertial><origin xyz="0.1 0 0" rpy="0 0 0.2"/><mass value="4"/>
<inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
<visual><geometry><box size="1 1 1"/></geometry></visual></link>
<link name="lift"><inertial><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="left-wheel"><inertial><mass value="1e0"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="cap"/>
<joint name="lift" type="prismatic"><parent link="base_link"/><child link="lift"/>
<origin xyz="0 0 1" rpy="0 1.5708 0"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="10" velocity="2"/><dynamics damping="0.1" friction="0.2"/></joint>
<joint name="left-wheel" type="continuous"><parent link="base_link"/><child link="left-wheel"/>
<axis xyz="0 0.6 0.8"/><mimic joint="lift" multiplier="2" offset="0.1"/></joint>
<joint name="cap" type="fixed"><parent link="lift"/><child link="cap"/><origin xyz="0 0 0.5"/></joint></robot>"""


_OSIM = """<OpenSimDocument Version="40500"><Model name="leg"><gravity>0 -9.81 0</gravity><Ground name="ground"/>
<BodySet><objects><Body name="thigh"><mass>7</mass><mass_center>0 -0.2 0</mass_center>
<inertia>0.1 0.02 0.1 0 0 0.001</inertia></Body><Body name="shank"><mass>3</mass><mass_center>0 -0.2 0</mass_center>
<inertia>0.05 0.01 0.05 0 0 0</inertia></Body></objects></BodySet><JointSet><objects><CustomJoint name="hip">
<socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/thigh</socket_child_frame><coordinates>
<Coordinate name="flexion"><range>-1 2</range><clamped>true</clamped></Coordinate><Coordinate name="tx"/></coordinates>
<SpatialTransform><TransformAxis name="rotation1"><coordinates>flexion</coordinates><axis>0 0 1</axis><function>
<LinearFunction><coefficients>-1 0.1</coefficients></LinearFunction></function></TransformAxis>
<TransformAxis name="translation1"><coordinates>tx</coordinates><axis>1 0 0</axis></TransformAxis>
<TransformAxis name="translation2"><coordinates>flexion</coordinates><axis>0 1 0</axis><function><MultiplierFunction>
<function><SimmSpline><x>-1 0 0.5 2</x><y>0.1 0 0.02 0.03</y></SimmSpline></function><scale>1.1</scale>
</MultiplierFunction></function></TransformAxis></SpatialTransform>
</CustomJoint><PinJoint name="knee"><socket_parent_frame>thigh_offset</socket_parent_frame>
<socket_child_frame>/bodyset/shank</socket_child_frame><coordinates><Coordinate name="knee"/></coordinates><frames>
<PhysicalOffsetFrame name="thigh_offset"><socket_parent>/bodyset/thigh</socket_parent>
<translation>0 -0.4 0</translation>
<orientation>0.1 0 0.2</orientation></PhysicalOffsetFrame></frames></PinJoint></objects></JointSet>
<ConstraintSet><objects>
<CoordinateCouplerConstraint name="c"><isEnforced>true</isEnforced>
<coupled_coordinates_function><PolynomialFunction><coefficients>0.2 1 0</coefficients></PolynomialFunction>
</coupled_coordinates_function><independent_coordinate_names>flexion</independent_coordinate_names>
<dependent_coordinate_name>knee</dependent_coordinate_name></CoordinateCouplerConstraint></objects></ConstraintSet></Model>
</OpenSimDocument>"""


@dataclass(frozen=True)
class Kind:
    """One kind of input: `attempt` raises what Trundle raises, the random numbers decide how deep it goes."""

    name: str
    share: int
    bases: tuple[object, ...]
    mutate: Callable[[object, Random], object]
    attempt: Callable[[object, Random], None]


def descriptions() -> Kind:
    """Plain data of descriptions, mutated by key and written as YAML."""
    bases = tuple(yaml.safe_load(text) for text in _texts())
    return Kind("description", 30, bases, lambda tree, rng: mutate_tree(tree, rng, bases), _description)


def yaml_texts() -> Kind:
    """The text of descriptions."""
    return Kind(
        "yaml", 8, tuple(_texts()), _by_text, lambda text, rng: _deeper(parse(str(text), "fuzz.yaml"), rng)
    )


def _texts() -> list[str]:
    """Every example and every robot of the catalogue, their runs cut short."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*/*.yaml"))]
    texts += [catalog.document(name).source for name in catalog.names()]
    return [
        re.sub(
            r"^(  duration:).*",
            r"\1 0.2\n  samples: 11",
            re.sub(r"^  samples:.*\n", "", text, flags=re.M),
            flags=re.M,
        )
        for text in texts
    ]


def _description(tree: object, rng: Random) -> None:
    _deeper(parse(yaml.dump(tree, Dumper=yaml.CSafeDumper), "fuzz.yaml"), rng)


def _names(document: Document) -> list[str]:
    """How somebody called a robot and its parts."""
    robot = document.robot
    return [robot.name, *robot.joints, *robot.wheels, *robot.motors, *robot.parameters]


def _deeper(document: Document, rng: Random) -> None:
    """What users do with a description, the dear things more rarely."""
    depth = rng.random()
    if depth < 0.1:
        require_numbers(trundle.run(document, duration=0.2, samples=11, progress=False))
    elif depth < 0.13:
        require_said("\n".join(sections(trundle.analyze(document.robot), Page())), _names(document))
    elif depth < 0.135:
        require_said(trundle.equations(document.robot, "kinematics").text(), _names(document))
    elif depth < 0.16:
        trundle.to_svg(document.robot)
    elif depth < 0.2:
        batch = trundle.rollout(document.robot, steps=5, count=2, threads=1, progress=False)
        assert np.isfinite(batch.values[-1]).all() or batch.summary["diverged"], "a batch's NaN unsaid"
    elif depth < 0.3:
        again = parse(dump(document.robot, document.run, terrain=document.terrain))
        assert again.robot == document.robot, "what is written reads otherwise"


def urdf_files() -> Kind:
    """URDF, half of the time by its elements and half by its text."""
    sources = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("urdf/*.urdf"))]
    sources += [dump_urdf(catalog.robot("pendulum")), _TROLLEY]
    trees = tuple(_plain(ElementTree.fromstring(text)) for text in sources)

    def mutate(content: object, rng: Random) -> object:
        if isinstance(content, str) or rng.random() < 0.3:
            return mutate_text(content if isinstance(content, str) else _xml(content), rng)
        return mutate_tree(content, rng, trees)

    return Kind("urdf", 14, trees, mutate, _urdf)


def _urdf(content: object, rng: Random) -> None:
    base, strict = rng.choice((None, None, "fixed", "floating")), rng.random() < 0.5
    robot = parse_urdf(content if isinstance(content, str) else _xml(content), base=base, strict=strict)
    if rng.random() < 0.3:
        parse_urdf(dump_urdf(robot), strict=False)
    _deeper(Document(robot), rng)


def osim_models() -> Kind:
    """OpenSim's models, by their text."""
    return Kind("osim", 6, (_OSIM,), _by_text, _osim)


def _osim(content: object, rng: Random) -> None:
    robot = parse_osim(str(content), "fuzz.osim").robot
    if rng.random() < 0.3:
        assert parse(dump(robot)).robot == robot, "what is written reads otherwise"


def _plain(element: ElementTree.Element) -> list[object]:
    """An element as plain data: [tag, attributes, children]."""
    return [element.tag, dict(element.attrib), [_plain(child) for child in element]]


def _xml(tree: object) -> str:
    """Plain data as XML, whatever it has become."""
    if not isinstance(tree, list) or not tree:
        return "" if tree is None or tree == [] else str(tree)
    tag, *rest = tree
    attributes = next((each for each in rest if isinstance(each, dict)), {})
    inside = "".join(_xml(child) for each in rest if isinstance(each, list) for child in each)
    written = "".join(f' {name}="{str(value)!s}"' for name, value in attributes.items())
    return f"<{tag}{written}>{inside}</{tag}>"


def csv_tables() -> Kind:
    """CSV files, of runs and of inputs."""
    bases = (
        "time,x,left.rate\n0.0,0.0,1\n0.1,0.25,2\n0.2,1e-05,3.5\n",
        "time (ms),left_motor.voltage [V],angle (deg)\n0,12,0\n10,13,30\n20.5,-1.0,45\n30,0,90\n",
        '"time",x\r\n0,1\r\n\r\n1,2\r\n2,"3"\r\n',
    )
    return Kind("csv", 6, bases, _by_text, _csv)


def _csv(content: object, rng: Random) -> None:
    path = Path("table.csv")
    path.write_text(str(content), encoding="utf-8", newline="")
    if rng.random() < 0.5:
        trundle.Run.load(path)
        return
    header = str(content).splitlines()[0].split(",") if content else []
    how = rng.choice(("linear", "previous", "cubic"))
    signal = as_signal(
        {"file": "table.csv", "column": (header or ["x"])[-1].strip('" ') or "x", "interpolation": how},
        "left.rate",
        "",
    )
    values = [signal.value(t) for t in (0.0, 0.05, 0.1, 15.0, 1e9)]
    assert np.isfinite(values).all(), f"a table's NaN unsaid: {values}"


def recorded_motions() -> Kind:
    """Recordings: CSV, TRC, MOT and STO by their text, C3D by its bytes."""
    return Kind("recording", 8, recordings.bases(), recordings.mutate, recordings.attempt)


def c3d_files() -> Kind:
    """C3D with faults whose reach is known."""
    return Kind("c3d", 3, c3d_faults.bases(), c3d_faults.mutate, c3d_faults.attempt)


def foreign_files() -> Kind:
    """Settings of competition teams, OpenSim's set-ups, logs of messages."""
    return Kind("foreign", 6, foreign.bases(), foreign.mutate, foreign.attempt)


def netcdf_files() -> Kind:
    """Results as NetCDF, by their bytes."""
    return Kind("netcdf", 4, _saved(), _by_bytes, _results)


def netcdf_data() -> Kind:
    """The same by their data, written anew with a checksum that fits."""
    bases = files.results()
    return Kind("result", 5, bases, lambda tree, rng: mutate_tree(tree, rng, bases), files.read_written_anew)


def motion_files() -> Kind:
    """Commands of a drive, by key and by text."""
    bases = files.commands()

    def mutate(content: object, rng: Random) -> object:
        if isinstance(content, str) or rng.random() < 0.2:
            return mutate_text(content if isinstance(content, str) else yaml.dump(content), rng)
        return mutate_tree(content, rng, bases)

    return Kind("motion", 8, bases, mutate, files.read_and_drive)


def path_files() -> Kind:
    """Paths of PathPlanner and trajectories of Choreo, by key and by text."""
    bases = files.paths()
    return Kind(
        "path", 8, bases, lambda content, rng: files.mutate_path(content, rng, bases), files.read_and_follow
    )


def mesh_files() -> Kind:
    """Shapes: STL by text and by bytes, OBJ."""
    return Kind("mesh", 5, files.meshes(), files.mutate_mesh, files.read_shape)


def _saved() -> tuple[bytes, ...]:
    """A run and a batch in files."""
    run = trundle.run(EXAMPLES / "diff_drive/circle.yaml", duration=0.2, samples=5, progress=False)
    batch = trundle.rollout(catalog.robot("pendulum"), steps=4, count=3, threads=1, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        return tuple(each.save(Path(folder, "saved.nc")).read_bytes() for each in (run, batch))


def _results(content: object, rng: Random) -> None:
    assert isinstance(content, bytes)
    path = Path("results.nc")
    path.write_bytes(content)
    found = (trundle.Run if rng.random() < 0.6 else trundle.Batch).load(path)
    if rng.random() < 0.5:
        trundle.to_text(found)


def formulas() -> Kind:
    """Values of descriptions, each where a length is."""
    bases = (
        "6 in",
        "2*pi*r/3",
        "sqrt(a**2 + b^2)",
        "1.5e3 kg*m^2",
        "-(a - 0.5)*r",
        "sin(a)*cos(b)/tan(0.3)",
        "atan2(a, b)",
        "9.81 m/s^2",
        "90 deg",
    )

    def mutate(content: object, rng: Random) -> object:
        text = str(content)
        if rng.random() < 0.5:
            place = rng.randint(0, len(text))
            piece = rng.choice(
                (*PIECES[14:], "**", "(", ")", "a", "sqrt(", "*1e308", "**64", "/0", "-", " kg", "^9")
            )
            return text[:place] + piece * rng.choice((1, 1, 1, 5, 300)) + text[place:]
        if rng.random() < 0.3:
            return rng.choice(
                ("({0})**({0})", "sqrt({0})", "-{0}", "{0}+{0}", "{0}*{0}", "{0}/({0}-{0})", "({0})^2")
            ).format(text[:10_000])
        return mutate_text(text, rng)

    return Kind("formula", 10, bases, mutate, _formula)


def _formula(content: object, rng: Random) -> None:
    text = str(content)
    try:
        value = read_value(text)
    except ExpressionError:
        return  # what places it in the file makes an InputError of it
    known = {name: rng.choice((0.0, 1.5, 1e300)) for name in value.names}
    if not value.names:
        assert np.isfinite(value.number), "a value's NaN unsaid"
    body = {"mass": 1, "inertia": {"zz": 1}, "center_of_mass": [text, 0, 0]}
    robot = {"base": "planar", "body": body, "parameters": known}
    parse(f"trundle: 1\nrobot: {json.dumps(robot)}")


def command_lines() -> Kind:
    """What stands behind `trundle`, in a folder with examples."""
    return Kind("command", 6, COMMANDS, mutate_command, command)


def python_calls() -> Kind:
    """Calls from Python, with arguments that people pass by mistake."""
    return Kind("call", 7, CALLS, mutate_call, call)


def _by_text(content: object, rng: Random) -> str:
    return mutate_text(str(content), rng)


def _by_bytes(content: object, rng: Random) -> bytes:
    assert isinstance(content, bytes)
    return mutate_bytes(content, rng)


KINDS = (
    descriptions, yaml_texts, urdf_files, osim_models, csv_tables, recorded_motions, c3d_files, foreign_files,
    netcdf_files, netcdf_data, motion_files, path_files, mesh_files, formulas, command_lines, python_calls,
)  # fmt: skip
