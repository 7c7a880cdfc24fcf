"""Files that are no descriptions: what they are is said, and what reads them, or that nothing does yet."""

from pathlib import Path

import pytest

import trundle
from trundle import InputError

FILES = {
    "arm.xml": (
        b'<?xml version="1.0"?>\n<!-- an arm -->\n<mujoco model="arm"/>',
        "MJCF.*\n.*nothing in Trundle",
    ),
    "arm.urdf": (b"<mujoco/>", "MJCF"),
    "arm.sdf": (b'<sdf version="1.9"/>', "SDF.*\n.*nothing in Trundle"),
    "gait.xml": (b"<OpenSimDocument/>", "OpenSim model.*\n.*call it model.osim"),
    "arm.xacro": (
        b'<robot xmlns:xacro="http://ros.org/wiki/xacro"/>',
        "xacro file.*\n.*expand it with xacro first",
    ),
    "arm.urdf.xacro": (b"<robot/>", "expand it with xacro first"),
    "robot.txt": (b"\xef\xbb\xbf<robot name='a'/>", "is URDF.*\n.*call it robot.urdf"),
    "walk.c3d": (b"\x02\x50\x00", "C3D.*\n.*read_recording"),
    "walk.bvh": (b"HIERARCHY\nROOT Hips", "BVH"),
    "walk.trc": (b"PathFileType 4", "OpenSim's"),
    "drive.bag": (b"#ROSBAG V2.0\n", "recording of ROS.*\n.*CSV"),
    "data.mat": (b"MATLAB 5.0 MAT-file", "MATLAB"),
    "wheel.stl": (b"solid wheel\n" + b"facet " * 1_000_000, "is a shape.*\n.*no masses"),
    "wheel.dae": (b"<COLLADA/>", "is a shape"),
    "wheel.step": (b"ISO-10303-21;", "is a shape"),
    "run.csv": (b"time,x\n0,0\n", "is a table.*\n.*Run.load"),
    "any.nc": (b"CDF\x01", "holds a run or a batch.*\n.*Run.load"),
    "robot.py": (b"import trundle\n", "Python script"),
    "robots.zip": (b"PK\x03\x04", "archive.*\n.*unpack"),
    "robot.slx": (b"PK\x03\x04", "archive|Simulink"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("call", [trundle.load, trundle.run], ids=lambda call: call.__name__)
def test_what_a_foreign_file_is(name, call, tmp_path):
    content, said = FILES[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as error:
        call(path)
    assert error.value.file == str(path)


def test_descriptions_are_none_of_them():
    for path in [*Path("examples").glob("*/*.yaml"), *Path("examples").rglob("*.urdf")]:
        assert trundle.load(path).name
