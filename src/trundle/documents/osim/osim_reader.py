"""Reading OpenSim's models: text to a checked Robot, every error with the file's own line and names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path as FilePath

from pydantic import ValidationError

from trundle.documents.document import Document, read_text
from trundle.documents.osim.osim_constraints import constraints_of
from trundle.documents.osim.osim_elements import GROUND, OsimJoint, OsimModel, OsimNode, read_model
from trundle.documents.osim.osim_robot import body_names, child_poses, robot_data
from trundle.documents.urdf.xml_tree import read_xml
from trundle.errors import InputError, warn
from trundle.files import path_of
from trundle.robot.description import Robot, check_base
from trundle.robot.problems import CircleError, Path, in_order, problems_of, report
from trundle.spatial.motions import IDENTITY_POSE, compose, inverse, transform_point

# Models of a whole body with their muscles have 3 MB.
MOST_BYTES = 20_000_000


def load_osim(path: str | FilePath) -> Robot:
    """The robot of an OpenSim model's bodies and joints; see `trundle.load`.

    Read are PinJoint, SliderJoint, WeldJoint, UniversalJoint, GimbalJoint, PlanarJoint, BallJoint, FreeJoint, and
    CustomJoint, whose axes may follow lines, polynomials and splines of coordinates; locked coordinates,
    CoordinateCouplerConstraint and WeldConstraint. Clamped ranges become limits; others, and default values, are
    what is `usual` of a joint. What else a model has (muscles, other constraints) is left out, and a warning names it.

    Parameters
    ----------
    path : str or pathlib.Path
        The file, of OpenSim 3 or 4.

    Returns
    -------
    Robot

    Raises
    ------
    InputError
        Where the file can't be read or holds a joint that isn't: with file, line and joint.
    """
    return load_document(path).robot


def load_document(path: str | FilePath, *, base: str | None = None, strict: bool = False) -> Document:
    """The same as a Document, whose lines are the file's."""
    text = read_text(path_of(path, "load_osim"), MOST_BYTES)
    return parse_document(text, path, base=base, strict=strict)


def osim_markers(path: str | FilePath) -> dict[str, tuple[str, tuple[float, float, float]]]:
    """The markers of an OpenSim model: by name the body, and the place in the frame that it has in the Robot (m).

    Parameters
    ----------
    path : str or pathlib.Path
        The file.

    Returns
    -------
    dict of str to (str, tuple of 3 floats)

    Raises
    ------
    InputError
        Where the file can't be read, or a marker is on no body.
    """
    file = path_of(path, "osim_markers")
    model = read_model(read_xml(read_text(file, MOST_BYTES), str(file))[0], str(file))
    child_frames, names = child_poses(model), body_names(model)
    markers: dict[str, tuple[str, tuple[float, float, float]]] = {}
    holder = model.node.child("MarkerSet", "objects")
    for node in [] if holder is None else holder.children():
        node = OsimNode(node.element, node.file, f"marker {node.name!r}")
        frame = model.frame_of(node.text("socket_parent_frame") or node.text("body"), node, node)
        in_joint = compose(inverse(child_frames.get(frame.body, IDENTITY_POSE)), frame.pose)
        x, y, z = transform_point(in_joint, node.vector("location"))
        markers[node.name] = (names[frame.body], (float(x), float(y), float(z)))
    return markers


def parse_document(
    text: str, path: str | FilePath | None = None, *, base: str | None = None, strict: bool = False
) -> Document:
    """The robot of an OpenSim text; `path` is for messages only. `strict` refuses moments that no rigid body has."""
    file = None if path is None else str(path)
    model = read_model(read_xml(text, file)[0], file)
    _check_tree(model)
    lines: dict[Path, int] = {("robot",): model.node.element.line}
    data = robot_data(model, lines)
    if base is not None:
        check_base(base, wheeled=False)
        data["base"] = base
    inner = {key[1:]: line for key, line in lines.items()}
    try:
        robot = Robot.model_validate(data)
    except ValidationError as error:
        raise report(problems_of(error), file=file, lines=inner) from None
    if strict and (trusted := _on_trust(robot)):
        raise InputError(trusted, file=file, hint="strict=False takes them as they stand, with a warning")
    for note in _notes(model, robot):
        warn(f"{file}: {note}" if file else note)
    return Document(robot, None, None if path is None else FilePath(path), text, lines)


def _check_tree(model: OsimModel) -> None:
    """Raise where a body has no joint or two, or bodies carry each other in a circle."""
    carried: dict[str, OsimJoint] = {}
    for joint in model.joints:
        if joint.child.body in carried or joint.child.body == GROUND:
            on = (
                "the ground"
                if joint.child.body == GROUND
                else f"{joint.child.body!r}, which has a joint already"
            )
            raise joint.node.fail(f"its child is {on}", "a body has one joint; loops aren't read")
        carried[joint.child.body] = joint
    for name, body in model.bodies.items():
        if name not in carried:
            raise body.fail("no joint carries it", f"write a FreeJoint between {GROUND} and it if it is free")
    try:
        in_order(
            {name: [joint.parent.body] for name, joint in carried.items() if joint.parent.body != GROUND}
        )
    except CircleError as error:
        raise carried[error.circle[0]].node.fail(f"bodies carry each other in a circle: {error}") from None


def _notes(model: OsimModel, robot: Robot) -> Iterator[str]:
    """What a model has and a Robot hasn't."""
    if left := _left_out(model):
        yield f"the model's {left} are left out: what they pulled or held moves freely"
    if trusted := _on_trust(robot):
        yield f"{trusted}; they are taken as they stand (trundle.load(path, strict=True) refuses them)"


def _on_trust(robot: Robot) -> str:
    """Which bodies have moments that no rigid body has, in words; "" without any."""
    bodies = [joint.body for joint in robot.joints.values()]
    trusted = [str(body.name) for body in bodies if body.inertia.as_given]
    return f"no rigid body has the moments of inertia of {', '.join(trusted[:4])}" if trusted else ""


def _left_out(model: OsimModel) -> str:
    """The muscles, other forces and constraints that have no place in a Robot, counted."""
    holder = model.node.child("ForceSet", "objects")
    forces = [] if holder is None else holder.children()
    counts = Counter("muscle" if "Muscle" in node.element.tag else "force" for node in forces)
    counts["constraint"] = len(constraints_of(model).left)
    parts = [f"{count} {what}{'s' * (count > 1)}" for what, count in counts.items() if count]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)
