"""What is wrong with a robot, in the words of the URDF file that it was read from, with what its author would do."""

from __future__ import annotations

from trundle.documents.urdf.additions import AS_GIVEN, EXTENSION
from trundle.documents.urdf.elements import Urdf
from trundle.documents.urdf.to_robot import UrdfNames
from trundle.documents.urdf.wheel_joints import kind_of, wheel_like
from trundle.errors import did_you_mean, suggest
from trundle.robot.problems import Mistake

# What people call the joint of a wheel, too.
_JOINT = ("joints", "joint_name", "link", "name", "on")


def with_way_out(problem: Mistake, urdf: Urdf, names: UrdfNames) -> Mistake:
    """A problem with the key that was meant: of moments, of wheels without a joint, of motors that the file names."""
    family, *rest = problem.path or ("",)
    if problem.path[-1:] == ("inertia",):
        return _with_moments(problem)
    if family == "wheels" and rest:
        return _with_joint(problem, urdf, names)
    if family == "motors" and rest and "'drives' is missing" in problem.message and names.motors:
        hint = f"the file's own motors know what they drive; {suggest(rest[0], names.motors)}"
        return Mistake(problem.path, problem.message, hint)
    return problem


def _with_moments(problem: Mistake) -> Mistake:
    if problem.path[0] == "wheels":
        hint = "mend its link's <inertia>, or write the wheel's own: inertia: {axle: ..., diameter: ...}"
        return Mistake(problem.path, problem.message, hint)
    hint = (
        "no rigid body has such moments; to take them all the same: leave strict away, or write "
        f'<{EXTENSION} inertia="{AS_GIVEN}"/> inside <robot>'
    )
    return Mistake(problem.path, problem.message, hint)


def _with_joint(problem: Mistake, urdf: Urdf, names: UrdfNames) -> Mistake:
    """A problem of a wheel that takes no joint and says no place of its own."""
    own = [each for each in urdf.extension.additions if (each.family, each.name) == problem.path[:2]]
    wheel = next(iter(own), None)
    if wheel is None or wheel.joint is not None or "at" in wheel.data:
        return problem
    spinning = wheel_like(urdf, names.root) or urdf.joints
    hint = f"name the joint that it spins on, joint: NAME; {suggest(wheel.name, spinning)}"
    unknown = next((key for key in wheel.data if f"unknown key {key!r}" in problem.message), None)
    if "stands off the ground" in problem.message:
        return Mistake(problem.path, problem.message, hint)
    if unknown is None:
        return problem
    known = [*kind_of(wheel).model_fields, "joint"]
    meant = unknown in _JOINT or "'joint'" in did_you_mean(unknown, known)
    return Mistake(problem.path, problem.message, "did you mean 'joint'?") if meant else problem


def in_urdf_words(problem: Mistake, urdf: Urdf, names: UrdfNames, base: str) -> Mistake:
    """A motion without mass in the words of the file: which link, on which joint."""
    if problem.path[:1] == ("joints",) and len(problem.path) == 2:
        joint = next(urdf.joints[name] for name, ours in names.joints.items() if ours == problem.path[1])
        message = (
            f"the {joint.type} joint {joint.name!r} moves the link {joint.child!r}, and neither it nor anything "
            "behind it has a mass: forces would accelerate it without bound"
        )
        hint = f"give {joint.child!r} an <inertial>, or make the joint fixed"
        return Mistake((*problem.path, "body"), message, hint)
    if problem.path[:1] in ((), ("body",)):
        root = repr(names.root)
        message = (
            f"the base moves ({base}), but neither the root link {root} nor anything fixed to it has a "
            "mass or inertia to resist"
        )
        return Mistake(("body",), message, f"give {root} an <inertial>, or load it with base='fixed'")
    return problem
