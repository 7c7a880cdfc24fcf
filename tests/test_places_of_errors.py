"""What is wrong in a file is told with the file and the line, whatever the kind of file."""

import re
from pathlib import Path

import pytest

import trundle
from tools.fuzz.kinds import _OSIM
from trundle.documents.meshes import read_mesh
from trundle.errors import InputError
from trundle.limbs.capture.recording_files import read_recording
from trundle.simulation.signals import as_signal

EXAMPLES = Path(__file__).parents[1] / "examples"
CIRCLE = (EXAMPLES / "diff_drive/circle.yaml").read_text()
ARM = (EXAMPLES / "urdf/arm.urdf").read_text()
TURN = (EXAMPLES / "swerve/motions/drive_and_turn.yaml").read_text()
SCORE = (EXAMPLES / "swerve/paths/score.path").read_text()
LEG = _OSIM.replace("><", ">\n<")
MOTION = "x\nversion=1\nnRows=3\nnColumns=2\ninDegrees=no\nendheader\ntime\tq\n0\t1\n1\t2\n2\t3\n"
TRC = (
    "PathFileType\t4\t(X/Y/Z)\ta.trc\n"
    "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
    "1\t1\t3\t1\tm\t1\t1\t3\nFrame#\tTime\tknee\t\t\n\t\tX1\tY1\tZ1\n\n"
    "1\t0\t0\t0\t0\n2\t1\t0.25\t0\t0\n3\t2\t0\t0\t0\n"
)
OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
STL = "solid x\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n"
TABLE = "time,knee.angle\n0,1\n1,2\n2,3\n3,4\n"


def read_input(path):
    return as_signal({"file": str(path), "column": "knee.angle"}, "knee.rate", "")


# A file's name, its text, what is put in place of what, which begins the line that must be told, and the reader.
PLANTED = (
    ("number.yaml", CIRCLE, "mass: 50.0", "mass: oops", trundle.load),
    ("syntax.yaml", CIRCLE, "mass: 50.0", "mass: 50.0 oops: [", trundle.load),
    ("number.urdf", ARM, '<mass value="2.0"', '<mass value="oops"', trundle.load),
    ("vector.urdf", ARM, 'xyz="0 0 1"', 'xyz="0 oops 1"', trundle.load),
    ("number.osim", LEG, "<mass>3", "<mass>oops", trundle.load),
    ("list.osim", LEG, "<coefficients>-1", "<coefficients>oops", trundle.load),
    ("number.motion.yaml", TURN, r"v_x: [-\d.]+", "v_x: oops", trundle.drive),
    ("time.motion.yaml", TURN, r"duration: [\d.]+", "duration: -1.25", trundle.drive),
    ("number.path", SCORE, r'"maxVelocity": [\d.]+', '"maxVelocity": "oops"', trundle.read_path),
    ("sign.path", SCORE, r'"maxVelocity": [\d.]+', '"maxVelocity": -7.5', trundle.read_path),
    ("nan.path", SCORE, r'"maxVelocity": [\d.]+', '"maxVelocity": NaN', trundle.read_path),
    ("syntax.path", SCORE, r'"maxVelocity": [\d.]+', '"maxVelocity": oops', trundle.read_path),
    ("number.csv", TABLE, "1,2", "1,oops", trundle.Run.load),
    ("cells.csv", TABLE, "1,2", "1,2,oops", trundle.Run.load),
    ("time.csv", TABLE, "2,3", "0.5,3", trundle.Run.load),
    ("nan.csv", TABLE, "1,2", "nan,2", trundle.Run.load),
    ("number.input.csv", TABLE, "1,2", "1,oops", read_input),
    ("nan.input.csv", TABLE, "1,2", "1,nan", read_input),
    ("time.input.csv", TABLE, "2,3", "0.5,3", read_input),
    ("number.recording.csv", TABLE, "1,2", "1,oops", read_recording),
    ("time.recording.csv", TABLE, "2,3", "0.5,3", read_recording),
    ("number.sto", MOTION, "1\t2", "1\toops", read_recording),
    ("time.sto", MOTION, "2\t3", "0.5\t3", read_recording),
    ("key.mot", MOTION, "inDegrees=no", "inDegrees=oops", read_recording),
    ("number.trc", TRC, "2\t1\t0.25", "2\t1\toops", read_recording),
    ("time.trc", TRC, "3\t2\t0", "3\t0.5\t0", read_recording),
    ("corner.obj", OBJ, "v 0 1 0", "v 0 oops 0", read_mesh),
    ("face.obj", OBJ, "f 1 2 3", "f 1 2 7", read_mesh),
    ("corner.stl", STL, "vertex 1 0 0", "vertex oops 0 0", read_mesh),
)  # fmt: skip


@pytest.mark.parametrize(("name", "text", "was", "planted", "read"), PLANTED, ids=[row[0] for row in PLANTED])
def test_an_error_is_told_with_its_file_and_line(tmp_path, name, text, was, planted, read):
    pattern = was if "[" in was else re.escape(was)
    spoilt, count = re.subn(pattern, lambda _: planted, text, count=1)
    assert count == 1
    path = tmp_path / name
    path.write_text(spoilt)
    line = next(k for k, each in enumerate(spoilt.splitlines(), 1) if planted in each)
    with pytest.raises(InputError) as told:
        read(path)
    assert (told.value.file, told.value.line) == (str(path), line), str(told.value)
