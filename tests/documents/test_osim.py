"""OpenSim's models: the same motions and inertias as the file says, in both layouts; what isn't read is named."""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import trundle
from documents.gait_models import rolling_leg
from documents.osim_models import MOMENTS, J, axis, constant, spatial, spline, version_3, version_4
from trundle import InputError
from trundle.documents import load_osim, osim_markers

LAYOUTS = pytest.mark.parametrize("layout", [version_3, version_4])


def load(tmp_path, text, name="leg.osim"):
    (tmp_path / name).write_text(text)
    return trundle.load(tmp_path / name)


def pose(at, turned):
    found = np.eye(4)
    found[:3, :3] = Rotation.from_euler("XYZ", [float(x) for x in turned.split()]).as_matrix()
    found[:3, 3] = [float(x) for x in at.split()]
    return found


HIP = spatial(
    axis("rotation1", "0 0 1", "flexion"),
    axis("rotation2", "1 0 0", "adduction"),
    axis(
        "rotation3",
        "0.6 0.8 0",
        "rotation",
        "<LinearFunction><coefficients>-1 0.2</coefficients></LinearFunction>",
    ),
    axis("translation1", "1 0 0", "tx"),
    axis("translation2", "0 1 0", "", constant(0.1)),
    axis(
        "translation3",
        "0 0 1",
        "",
        "<MultiplierFunction><function>"
        + constant(0.3)
        + "</function><scale>0.5</scale></MultiplierFunction>",
    ),
)
JOINTS = (
    J(
        "CustomJoint",
        "ground",
        "thigh",
        ("flexion", "adduction", "rotation", "tx"),
        "0 0.9 0.1",
        "0.1 0.2 -0.3",
        inside=HIP,
    ),
    J("PinJoint", "thigh", "shank", ("knee",), "0.01 -0.4 0", "0 0.1 0", "0 0.02 0.01", "0.3 -0.1 0.2"),
    J(
        "UniversalJoint",
        "shank",
        "foot",
        ("dorsiflexion", "inversion"),
        "0 -0.4 0",
        "0 0 0.4",
        "0.02 0 0",
        "0 0.5 0",
    ),
)


def placed(values):
    """Poses of the bodies' own frames of JOINTS, straight from OpenSim's definitions."""
    q = dict(values)
    about = lambda direction, angle: Rotation.from_rotvec(np.array(direction) * angle).as_matrix()  # noqa: E731
    moved = np.eye(4)
    moved[:3, :3] = (
        about([0, 0, 1], q["flexion"])
        @ about([1, 0, 0], q["adduction"])
        @ about([0.6, 0.8, 0], 0.2 - q["rotation"])
    )
    moved[:3, 3] = [q["tx"], 0.1, 0.15]
    thigh = pose("0 0.9 0.1", "0.1 0.2 -0.3") @ moved
    knee = np.eye(4)
    knee[:3, :3] = about([0, 0, 1], q["knee"])
    child = pose("0 0.02 0.01", "0.3 -0.1 0.2")
    shank = thigh @ pose("0.01 -0.4 0", "0 0.1 0") @ knee @ np.linalg.inv(child)
    ankle = np.eye(4)
    ankle[:3, :3] = about([1, 0, 0], q["dorsiflexion"]) @ about([0, 1, 0], q["inversion"])
    foot = shank @ pose("0 -0.4 0", "0 0 0.4") @ ankle @ np.linalg.inv(pose("0.02 0 0", "0 0.5 0"))
    return {"thigh": thigh, "shank": shank, "foot": foot}


@LAYOUTS
@pytest.mark.slow
def test_bodies_move_and_weigh_as_opensim_has_it(tmp_path, rng, layout):
    robot = load(tmp_path, layout(JOINTS))
    names = {
        "flexion": "flexion.angle",
        "adduction": "adduction.angle",
        "rotation": "rotation.angle",
        "tx": "tx.position",
    }
    names |= {name: f"{name}.angle" for name in ("knee", "dorsiflexion", "inversion")}
    values = {name: rng.uniform(-1, 1) for name in names}
    t = np.linspace(0, 0.1, 8)
    motion = {"time": t, **{names[name]: np.full(8, value) for name, value in values.items()}}
    frames = trundle.joint_loads(robot, motion).frames
    world = frames["thigh"].root
    for k, (body, expected) in enumerate(placed(values).items()):
        joint = next(joint for joint in robot.joints.values() if joint.body.name == body)
        center = [robot.number(x) for x in joint.body.center_of_mass]
        point = frames[body].point("G", center).position(frame=world)[0]
        np.testing.assert_allclose(point, (expected @ [0, -0.2, 0.05, 1])[:3], atol=1e-12)
        xx, yy, zz, xy, xz, yz = (MOMENTS[name] for name in ("xx", "yy", "zz", "xy", "xz", "yz"))
        theirs = expected[:3, :3] @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ expected[:3, :3].T
        own = {name: robot.number(getattr(joint.body.inertia, name)) for name in MOMENTS}
        ours = np.array(
            [
                [own["xx"], own["xy"], own["xz"]],
                [own["xy"], own["yy"], own["yz"]],
                [own["xz"], own["yz"], own["zz"]],
            ]
        )
        turned = frames[body].rotation(frame=world)[0]
        np.testing.assert_allclose(turned @ ours @ turned.T, theirs, atol=1e-12)
        assert robot.number(joint.body.mass) == 2.0 + k
    assert robot.gravity is not None


@LAYOUTS
def test_kinds_of_joints(tmp_path, layout):
    joints = (
        J("PlanarJoint", "ground", "pelvis", ("tilt", "px", "py")),
        J("BallJoint", "pelvis", "thigh", ("a", "b", "c")),
        J("WeldJoint", "thigh", "shank", at="0 -0.4 0"),
        J(
            "SliderJoint",
            "shank",
            "foot",
            ("slide",),
            coordinate_data={"slide": "<range>-0.1 0.2</range><clamped>true</clamped>"},
        ),
        J("GimbalJoint", "pelvis", "torso", ("g1", "g2", "g3")),
        J("FreeJoint", "ground", "ball", tuple("uvwxyz")),
    )
    robot = load(tmp_path, layout(joints))
    assert {name: joint.type for name, joint in robot.joints.items()} == {
        "px": "prismatic", "py": "prismatic", "tilt": "revolute", "thigh_joint": "spherical", "shank_joint": "fixed",
        "slide": "prismatic", "g1": "revolute", "g2": "revolute", "g3": "revolute", "ball_joint": "floating",
    }  # fmt: skip
    slide = robot.joints["slide"]
    assert (robot.number(slide.lower), robot.number(slide.upper)) == (-0.1, 0.2)


@LAYOUTS
def test_ranges_that_do_not_clamp_are_what_is_usual(tmp_path, layout):
    """And default values; a range of no width, clamped or not, and none at all, say nothing."""
    data = {
        "tilt": "<default_value>0.1</default_value><range>-1.5 1.5</range><clamped>false</clamped>",
        "px": "<default_value>0.95</default_value><range>-5 5</range>",
        "py": "<range>0 0</range><clamped>true</clamped>",
        "knee": "<default_value>-0.2</default_value><range>-2 0.1</range><clamped>true</clamped>",
    }
    half = "<LinearFunction><coefficients>0.5 0</coefficients></LinearFunction>"
    bent = [axis("rotation1", "0 0 1", "lead", half)]  # a coordinate that no axis is by itself
    joints = (
        J("PlanarJoint", "ground", "pelvis", ("tilt", "px", "py"), coordinate_data=data),
        J("PinJoint", "pelvis", "shank", ("knee",), coordinate_data=data),
        J(
            "CustomJoint",
            "shank",
            "foot",
            ("lead",),
            inside=spatial(*bent),
            coordinate_data={"lead": data["tilt"]},
        ),
    )
    robot = load(tmp_path, layout(joints))

    def told(noun):
        return [None if value is None else robot.number(value) for value in (noun.lower, noun.upper)]

    usual = {
        name: (*told(robot.joints[name].usual), robot.joints[name].usual.value.number)
        for name in (*data, "lead")
    }
    assert usual == {
        "tilt": (-1.5, 1.5, 0.1), "px": (-5, 5, 0.95), "py": (None, None, 0), "knee": (None, None, -0.2),
        "lead": (-1.5, 1.5, 0.1),
    }  # fmt: skip
    assert {name: told(robot.joints[name]) for name in usual} == {name: [None, None] for name in usual} | {
        "knee": [-2, 0.1]
    }
    assert not [name for name in robot.parameter_values() if "usual" in name]  # no parameter of its equations


def test_a_locked_coordinate_holds_still_where_it_is(tmp_path):
    locked = {"knee": "<default_value>0.5</default_value><locked>true</locked>"}
    robot = load(tmp_path, version_4([J("PinJoint", "ground", "shank", ("knee",), coordinate_data=locked)]))
    joint = robot.joints["shank_joint"]
    assert joint.type == "fixed"
    np.testing.assert_allclose([robot.number(x) for x in joint.rpy], [0, 0, 0.5])


@LAYOUTS
def test_markers_are_where_they_are_on_the_bodies(tmp_path, layout, rng):
    where = (
        "<socket_parent_frame>/bodyset/shank</socket_parent_frame>"
        if layout is version_4
        else "<body>shank</body>"
    )
    marker = f'<Marker name="ankle">{where}<location>0.1 -0.4 0.2</location></Marker>'
    more = f"<MarkerSet><objects>{marker}</objects></MarkerSet>"
    robot = load(tmp_path, layout(JOINTS, more))
    ((name, (body, place)),) = osim_markers(tmp_path / "leg.osim").items()
    assert (name, body) == ("ankle", "shank")
    back = pose("0 0.02 0.01", "0.3 -0.1 0.2") @ [*place, 1]
    np.testing.assert_allclose(back[:3], [0.1, -0.4, 0.2], atol=1e-12)
    assert robot.name == "leg"


def test_a_motion_file_of_opensims_fits_its_model(tmp_path):
    robot = load(tmp_path, version_4([J("PinJoint", "ground", "shank", ("knee",))]))
    header = "walk\nversion=1\nnRows=8\nnColumns=2\ninDegrees=yes\nendheader\ntime\tknee\n"
    (tmp_path / "walk.mot").write_text(header + "".join(f"{k / 10}\t{10 * k}\n" for k in range(8)))
    motion = trundle.joint_motion(trundle.read_recording(tmp_path / "walk.mot"), robot)
    np.testing.assert_allclose(motion["knee.angle"], np.radians(10 * np.arange(8)))


def test_what_is_left_out_is_said(tmp_path):
    forces = "<objects><Thelen2003Muscle/><Millard2012EquilibriumMuscle/><PointActuator/></objects>"
    constraints = '<objects><PointConstraint name="p"/></objects>'
    more = f"<ForceSet>{forces}</ForceSet><ConstraintSet>{constraints}</ConstraintSet>"
    (tmp_path / "leg.osim").write_text(version_4([J("PinJoint", "ground", "shank", ("knee",))], more))
    with pytest.warns(UserWarning, match="2 muscles, 1 force and 1 constraint are left out"):
        load_osim(tmp_path / "leg.osim")


def custom(*axes, coordinates=("knee",)):
    return J("CustomJoint", "ground", "shank", coordinates, inside=spatial(*axes))


PIN = J("PinJoint", "ground", "shank", ("knee",))
BAD = {
    "function": (
        [custom(axis("rotation1", "0 0 1", "knee", "<GCVSpline/>"))],
        r"leg.osim:\d+: joint 'shank_joint': rotation1 follows a GCVSpline, which isn't read\n.*LinearFunction",
    ),
    "points": (
        [custom(axis("rotation1", "0 0 1", "knee", "<SimmSpline/>"))],
        r"expected 2 to 200 numbers in <x>, got 0",
    ),
    "falling": (
        [custom(axis("rotation1", "0 0 1", "knee", "<SimmSpline><x>0 2 1</x><y>1 2 3</y></SimmSpline>"))],
        "rotation1: the numbers in <x> must increase",
    ),
    "of two": (
        [
            custom(
                axis("rotation1", "0 0 1", "knee hip", spline("0 1 2", "1 2 3")), coordinates=("knee", "hip")
            )
        ],
        "rotation1: a SimmSpline is of one coordinate, got knee hip",
    ),
    "unknown": (
        [custom(axis("rotation1", "0 0 1", "knie"))],
        "rotation1: expected the joint's coordinates, got 'knie'\n.*'knee'",
    ),
    "other": (
        [J("EllipsoidJoint", "ground", "shank", ("knee",))],
        "joint 'shank_joint': a EllipsoidJoint isn't read",
    ),
    "misspelt": ([J("PinJiont", "ground", "shank", ("knee",))], "did you mean 'PinJoint'"),
    "reversed": (
        [J("PinJoint", "ground", "shank", ("knee",), inside="<reverse>true</reverse>")],
        "a reversed joint",
    ),
    "coordinates": ([J("PinJoint", "ground", "shank")], "a PinJoint has 1 coordinates, this one 0"),
    "numbers": ([J("PinJoint", "ground", "shank", ("knee",), at="0 1")], "expected 3 numbers in <"),
    "words": ([J("PinJoint", "ground", "shank", ("knee",), at="0 1 nan")], "expected 3 numbers in <"),
    "no parent": ([J("PinJoint", "thihg", "shank", ("knee",))], r"there is no (body|frame) '.*thihg"),
    "circle": (
        [J("PinJoint", "foot", "shank", ("knee",)), J("PinJoint", "shank", "foot", ("ankle",))],
        "in a circle",
    ),
    **{
        f"{name}, {'clamped' if clamped == 'true' else 'usual'}": (
            [
                J(
                    "PinJoint",
                    "ground",
                    "shank",
                    ("knee",),
                    coordinate_data={"knee": f"{data}<clamped>{clamped}</clamped>"},
                )
            ],
            rf"leg.osim:\d+: {message}",
        )
        for clamped in ("true", "false")
        for name, data, message in (
            (
                "crossed",
                "<range>1 -2</range>",
                "joint 'shank_joint': the range of 'knee' ends before it begins: 1 to -2",
            ),
            (
                "endless",
                "<range>-inf inf</range>",
                "joint 'shank_joint': expected 2 numbers in <range>, got '-inf inf'",
            ),
            (
                "none",
                "<range>nan 1</range>",
                "joint 'shank_joint': expected 2 numbers in <range>, got 'nan 1'",
            ),
            (
                "default",
                "<range>0 1</range><default_value>nan</default_value>",
                ".*expected 1 numbers in <default_value>",
            ),
        )
    },
    "same name": ([PIN, J("PinJoint", "shank", "foot", ("knee",))], "the name 'knee' is taken"),
}


@LAYOUTS
@pytest.mark.parametrize("case", BAD)
def test_what_is_not_read_is_named(tmp_path, case, layout):
    joints, message = BAD[case]
    with pytest.raises(InputError, match=message):
        load(tmp_path, layout(joints))


HOSTILE = {
    "entity": (
        '<!DOCTYPE a [<!ENTITY b "c">]><OpenSimDocument Version="40000"/>',
        "document types and entities",
    ),
    "muscles only": (
        '<OpenSimDocument Version="40000"><ForceSet><objects/></ForceSet></OpenSimDocument>',
        r"with a <Model>, got <OpenSimDocument> with <ForceSet>\n.*belong to a model",
    ),
    "no bodies": (
        '<OpenSimDocument Version="40000"><Model name="m"><ForceSet/></Model></OpenSimDocument>',
        "the model has no bodies",
    ),
    "a model of muscles": (
        '<OpenSimDocument Version="40000"><Model name="m"><ForceSet><objects><Thelen2003Muscle name="a"/></objects>'
        "</ForceSet></Model></OpenSimDocument>",
        "the model has no bodies, only muscles and other forces",
    ),
    "no model": ('<OpenSimDocument Version="40000"/>', "with a <Model>"),
    "version": (version_4([PIN]).replace("40500", "30505"), "of a development version"),
    "no version": (version_4([PIN]).replace("40500", "latest"), "expected a version"),
    "no mass": (version_4([PIN]).replace("<mass>2.0</mass>", ""), "body 'shank': <mass> is missing"),
    "negative": (version_4([PIN]).replace("<mass>2.0</mass>", "<mass>-2</mass>"), "must not be negative"),
    "loose": (
        version_4([PIN])
        .replace("PinJoint", "Thing")
        .replace("<JointSet>", "<Set>")
        .replace("</JointSet>", "</Set>"),
        "no joint carries it",
    ),
    "truncated": (version_4([PIN])[:-200], "not valid XML"),
}


def test_bodies_without_mass_are_read_and_forces_are_what_needs_masses(tmp_path):
    robot = load(tmp_path, version_4([PIN]).replace("<mass>2.0</mass>", "<mass>0</mass>"))
    with pytest.raises(InputError, match="no inertia to resist"):
        trundle.simulate(robot, 1.0)


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files(tmp_path, case):
    text, message = HOSTILE[case]
    with pytest.raises(InputError, match=message):
        load(tmp_path, text)


@pytest.mark.parametrize("form", ["plain", pytest.param("splined", marks=pytest.mark.slow)])
def test_damaged_files_are_input_errors(tmp_path, rng, form):
    whole = (version_4(JOINTS) if form == "plain" else rolling_leg(patella=True).text).encode()
    for _ in range(200):
        content = bytearray(whole)
        for place in rng.integers(0, len(content), rng.choice([1, 3, 20])):
            content[place] = rng.integers(32, 127)
        (tmp_path / "a.osim").write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                trundle.load(tmp_path / "a.osim")
            except InputError as error:
                assert error.file  # noqa: PT017


def test_moments_that_no_body_has_are_refused_where_that_is_asked_for(tmp_path):
    text = version_4([J("PinJoint", "ground", "shank", ("knee",))])
    six = " ".join(map(str, MOMENTS.values()))
    assert six in text
    (tmp_path / "leg.osim").write_text(text.replace(six, "0.01 0.01 9 0 0 0"))
    with pytest.warns(UserWarning, match="moments of inertia of shank; they are taken as they stand"):
        trundle.load(tmp_path / "leg.osim")
    with pytest.raises(InputError, match="leg.osim: no rigid body has the moments of inertia of shank"):
        trundle.load(tmp_path / "leg.osim", strict=True)
