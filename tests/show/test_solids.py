"""Bodies' own shapes: volumes and areas of what is drawn, where it stands, and what hostile files may not do."""

from __future__ import annotations

import gzip
import math
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trundle
from trundle.documents import dump, load_urdf, meshes, parse, parse_urdf
from trundle.documents.meshes import TriangleMesh, find_mesh, read_mesh, simplified
from trundle.errors import InputError
from trundle.show.drawing.scenes import motion
from trundle.show.drawing.solids import solids
from trundle.show.figures.outlines import outlines

TETRAHEDRON = np.array([[[0, 0, 0], [0, 1, 0], [1, 0, 0]], [[0, 0, 0], [1, 0, 0], [0, 0, 1]]]).tolist() + [
    [[0, 0, 0], [0, 0, 1], [0, 1, 0]],
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
]


def stl(triangles, count=None):
    body = b"".join(struct.pack("<12fH", 0, 0, 0, *np.ravel(each), 0) for each in triangles)
    return bytes(80) + struct.pack("<I", len(triangles) if count is None else count) + body


def volume(corners, triangles):
    """∫ dV = ∮ r·n dA / 3 over triangles that are seen against the clock from outside."""
    a, b, c = corners[triangles].swapaxes(0, 1)
    return float((a * np.cross(b, c)).sum()) / 6


def urdf(visual, extra=""):
    return (
        f'<robot name="r">{extra}<link name="world"/><link name="arm"><inertial><mass value="1"/>'
        f'<inertia ixx="1" iyy="1" izz="1"/></inertial>{visual}</link><joint name="hinge" type="continuous">'
        '<parent link="world"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>'
    )


def shown(robot):
    """A robot's solids and the warnings about them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frames = {"base": 0, "world": 0, "hinge": 1, "arm": 1}
        found = solids(robot, robot.resolver(), frames)
    return found, " ".join(str(each.message) for each in caught)


def test_shapes_have_their_volume_where_they_stand():
    shapes = {
        "hull": {"type": "box", "size": ["L", 0.2, 0.1], "at": ["L/2", 0, 0]},
        "pin": {"type": "cylinder", "radius": 0.1, "length": 0.3, "rpy": [0, "90 deg", 0]},
        "ball": {"type": "sphere", "radius": 0.2, "colour": "#ff8800"},
    }
    arm = {"type": "revolute", "body": {"mass": 1, "center_of_mass": ["L", 0, 0], "shapes": shapes}}
    robot = trundle.Robot(name="arm", parameters={"L": 0.5}, joints={"arm": arm})
    hull, pin, ball = solids(robot, robot.resolver(), {"base": 0, "arm": 1})
    assert volume(hull.corners, hull.triangles) == pytest.approx(0.5 * 0.2 * 0.1)
    np.testing.assert_allclose(hull.corners.mean(axis=0), [0.25, 0, 0], atol=1e-15)
    slices = math.sin(2 * math.pi / 32) / (2 * math.pi / 32)  # a polygon's share of its circle
    assert volume(pin.corners, pin.triangles) == pytest.approx(math.pi * 0.01 * 0.3 * slices)
    np.testing.assert_allclose(np.ptp(pin.corners, axis=0), [0.3, 0.2, 0.2])
    assert volume(ball.corners, ball.triangles) == pytest.approx(4 / 3 * math.pi * 0.008, rel=0.04)
    assert (ball.colour, ball.frame) == ("#ff8800", 1)
    longer = solids(robot, robot.resolver({**robot.parameter_values(), "L": 1.0}), {"base": 0, "arm": 1})
    assert np.ptp(longer[0].corners[:, 0]) == pytest.approx(1.0)


def test_shapes_are_no_part_of_the_equations_and_survive_a_file():
    shape = {"type": "box", "size": [0.5, 0.1, 0.1]}
    arm = {"type": "revolute", "body": {"mass": 1, "center_of_mass": [0.3, 0, 0], "shapes": {"hull": shape}}}
    robot = trundle.Robot(name="arm", joints={"arm": arm})
    bare = trundle.Robot(name="arm", joints={"arm": {**arm, "body": {**arm["body"], "shapes": {}}}})
    assert robot.parameter_values() == bare.parameter_values()
    assert trundle.derive(robot).parameters == trundle.derive(bare).parameters
    assert parse(dump(robot)).robot == robot


def test_no_outline_is_made_up_where_a_file_shows_its_base():
    """The TurtleBot's base_link is welded to the base that its wheels are on; without visuals the outline is drawn."""
    example = Path(__file__).parents[2] / "examples" / "urdf" / "turtlebot.yaml"
    robot = trundle.load(example)
    still = {name: np.zeros(1) for name in trundle.derive(robot).coordinates}
    shown = motion(robot, still, {})
    assert shown.solids
    assert {0} < {plate.frame for plate in shown.plates} <= shown.clothed
    wheels = len(shown.wheels)
    assert len(outlines(shown, "z").faces) == wheels
    bare = motion(robot.model_copy(update={"urdf": None}), still, {})
    assert not bare.clothed
    assert len(outlines(bare, "z").faces) > wheels


def test_a_scene_moves_them_with_their_bodies():
    shape = {"type": "box", "size": [0.5, 0.1, 0.1], "at": [0.25, 0, 0]}
    arm = {"type": "revolute", "body": {"mass": 1, "center_of_mass": [0.3, 0, 0], "shapes": {"hull": shape}}}
    robot = trundle.Robot(name="arm", joints={"arm": arm})
    scene = motion(robot, {"arm.angle": np.array([0.0, math.pi / 2])}, {})
    (solid,) = scene.solids
    assert scene.clothed == {solid.frame}
    pose = scene.poses[1, solid.frame]
    np.testing.assert_allclose(
        pose[:, :3] @ solid.corners.mean(axis=0) + pose[:, 3], [0, 0.25, 0], atol=1e-12
    )
    assert scene.extent[1].max() == pytest.approx(0.5)


def test_urdf_visuals_by_kind_colour_and_place(tmp_path):
    (tmp_path / "robot" / "urdf").mkdir(parents=True)
    (tmp_path / "robot" / "meshes").mkdir()
    (tmp_path / "robot" / "meshes" / "part.stl").write_bytes(stl(TETRAHEDRON))
    visuals = (
        '<visual><origin xyz="1 0 0" rpy="0 0 7"/><geometry><box size="1 2 3"/></geometry>'
        '<material name="red"/></visual>'
        '<visual><geometry><sphere radius="0.5"/></geometry>'
        '<material name="own"><color rgba="0 0.5 1 0.5"/></material></visual>'
        '<visual><geometry><mesh filename="package://robot/meshes/part.stl" scale="2 2 -2"/></geometry></visual>'
        '<visual><geometry><mesh filename="../meshes/part.stl"/></geometry></visual>'
    )
    path = tmp_path / "robot" / "urdf" / "arm.urdf"
    path.write_text(urdf(visuals, '<material name="red"><color rgba="1 0 0 1"/></material>'))
    found, told = shown(load_urdf(path))
    assert not told
    assert [each.colour for each in found] == ["#ff0000ff", "#0080ff80", None, None]
    assert [volume(each.corners, each.triangles) for each in found[::2]] == pytest.approx([6, 8 / 6])
    assert volume(found[3].corners, found[3].triangles) == pytest.approx(1 / 6)
    again, told = shown(parse(dump(load_urdf(path))).robot)  # as a run's file holds it
    assert len(again) == 4
    assert not told


def test_a_description_finds_its_meshes_from_anywhere(tmp_path, monkeypatch):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "part.stl").write_bytes(stl(TETRAHEDRON))
    shape = {"type": "mesh", "file": "meshes/part.stl", "scale": [0.1, 0.1, 0.1]}
    arm = {"type": "revolute", "body": {"mass": 1, "center_of_mass": [1, 0, 0], "shapes": {"part": shape}}}
    robot = trundle.Robot(name="arm", joints={"hinge": arm})
    assert "where it is isn't known" in shown(robot)[1]
    (tmp_path / "arm.yaml").write_text(dump(robot))
    monkeypatch.chdir(tmp_path.parent)
    found, told = shown(trundle.load(tmp_path.name + "/arm.yaml"))
    assert not told
    assert volume(found[0].corners, found[0].triangles) == pytest.approx(1e-3 / 6)
    (tmp_path / "arm.yaml").write_text(
        dump(robot).replace("meshes/part.stl", "part.stl").replace("robot:", "robot:\n  folder: meshes")
    )
    assert len(shown(trundle.load(tmp_path / "arm.yaml"))[0]) == 1


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("/etc/passwd", "ends in .stl"),
        ("/etc/shadow.stl", "outside"),
        ("../../../../../etc/x.stl", "outside"),
        ("package://robot/../../x.stl", "outside"),
        ("package://../x.stl", "outside"),
        ("package:///x.stl", "outside"),
        ("http://example.com/a.stl", "nothing else"),
        ("file:///etc/a.obj", "outside"),
        ("missing.stl", "there is no"),
        ("a\0.stl", "nothing else"),
        ("part.dae", "ends in .stl"),
        ("folder.stl", "there is no"),
    ],
)
def test_files_that_are_elsewhere_are_not_opened(tmp_path, name, says):
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot" / "folder.stl").mkdir()
    with pytest.raises(InputError, match=says):
        find_mesh(name, str(tmp_path / "robot"))


SPOILT = {
    "empty.stl": b"",
    "many.stl": stl(TETRAHEDRON, 2**32 - 1),
    "short.stl": stl(TETRAHEDRON)[:-10],
    "nan.stl": stl([[[math.nan, 0, 0], [0, 1, 0], [1, 0, 0]]]),
    "far.stl": stl([[[1e30, 0, 0], [0, 1, 0], [1, 0, 0]]]),
    "bomb.stl": gzip.compress(bytes(10_000_000)),
    "bomb.obj": gzip.compress(b"v 0 0 0\n" * 1_000_000),
    "words.obj": b"v a b c\nf 1 2 3\n",
    "beyond.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 999999999\n",
    "points.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\n",
    "passwd.obj": b"root:x:0:0:root:/root:/bin/bash\n",
}


@pytest.mark.parametrize("name", SPOILT)
def test_spoilt_meshes_are_told_and_left_out(tmp_path, name):
    (tmp_path / name).write_bytes(SPOILT[name])
    with pytest.raises(InputError):
        read_mesh(tmp_path / name)
    (tmp_path / "arm.urdf").write_text(
        urdf(f'<visual><geometry><mesh filename="{name}"/></geometry></visual>')
    )
    found, told = shown(load_urdf(tmp_path / "arm.urdf"))
    assert not found
    assert "not everything of its shapes is drawn" in told


def test_an_obj_file_opens_no_other(tmp_path):
    text = "mtllib /etc/passwd\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    (tmp_path / "a.obj").write_text(text)
    assert len(read_mesh(tmp_path / "a.obj").triangles) == 1


def test_large_files_are_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("trundle.documents.meshes._MOST_BYTES", 1000)
    (tmp_path / "a.stl").write_bytes(stl(TETRAHEDRON * 10))
    with pytest.raises(InputError, match="2,084 bytes; a mesh may have 1,000"):
        read_mesh(tmp_path / "a.stl")


def test_what_visuals_spoil_is_a_robot_all_the_same():
    for visual in (
        '<visual><geometry><box size="1 2"/></geometry></visual>',
        '<visual><geometry><box size="1 2 -3"/></geometry></visual>',
        '<visual><geometry><cylinder radius="nan" length="1"/></geometry></visual>',
        '<visual><geometry><cone radius="1"/></geometry></visual>',
        '<visual><origin xyz="a b c"/><geometry><sphere radius="1"/></geometry></visual>',
        '<visual><geometry><mesh filename="part.stl"/></geometry></visual>',
    ):
        found, told = shown(parse_urdf(urdf(visual)))
        assert not found, visual
        assert "shapes" in told, visual


def test_collisions_stand_in_for_meshes_of_other_kinds():
    mesh = '<visual><geometry><mesh filename="arm.dae"/></geometry></visual>'
    found, told = shown(
        parse_urdf(urdf(mesh + '<collision><geometry><sphere radius="1"/></geometry></collision>'))
    )
    assert len(found) == 1
    assert "'arm.dae' is neither STL nor OBJ" in told


def test_shapes_beyond_number_are_told():
    box = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    found, told = shown(parse_urdf(urdf(box * 2500)))
    assert len(found) == 2000
    assert "2500 shapes are too many" in told


@settings(max_examples=10, deadline=None)
@given(st.integers(20, 4000), st.integers(0, 2**32 - 1))
@pytest.mark.slow
def test_simplified_surfaces_keep_their_bound_and_their_volume(most, seed):
    rng = np.random.default_rng(seed)
    angles = np.linspace(0, 2 * math.pi, 60, endpoint=False)
    heights = np.cumsum(rng.uniform(0.01, 0.1, 40))
    grid = [[math.cos(a), math.sin(a), z] for z in heights for a in angles]
    k = np.arange(39 * 60)
    right = (k // 60) * 60 + (k + 1) % 60
    triangles = np.concatenate([np.stack([k, right, right + 60], 1), np.stack([k, right + 60, k + 60], 1)])
    full = TriangleMesh(np.array(grid), triangles)
    (found,) = simplified([full], most)
    assert len(found.triangles) <= most
    if len(found.triangles) == len(triangles):
        assert found.moved == 0.0
    # each corner is within `moved` of the surface's own
    gaps = np.linalg.norm(found.corners[:, None] - full.corners[None], axis=2).min(axis=1)
    assert gaps.max() <= found.moved + 1e-12


@pytest.mark.parametrize("name", ["corner.obj", "corner.stl"])
def test_meshes_with_names_in_latin_1(tmp_path, name):
    texts = {
        "corner.obj": "# Würfel\no Fuß\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        "corner.stl": "solid Fuß\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
        "endloop\nendfacet\nendsolid Fuß\n",
    }
    for encoding in ("latin-1", "utf-8"):
        path = tmp_path / f"{encoding}_{name}"
        path.write_bytes(texts[name].encode(encoding))
        surface = read_mesh(path)
        assert surface.triangles.shape == (1, 3)
        assert sorted(map(tuple, surface.corners.tolist())) == [(0, 0, 0), (0, 1, 0), (1, 0, 0)]


def test_rows_are_grouped_as_numpy_does_it(rng):
    for _ in range(50):
        keys = rng.integers(-2, 3, (int(rng.integers(1, 200)), 3)) * rng.choice([1.0, 0.1, -1e-3])
        for each in (keys, np.round(keys * 1000).astype(np.int64)):
            places = np.unique(each[:, ::-1], axis=0, return_inverse=True)[1].reshape(-1)
            np.testing.assert_array_equal(meshes._groups(each), places)
