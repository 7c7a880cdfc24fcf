"""How the links and joints of a URDF file hang together: one tree, and names that Trundle can take."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from trundle.documents.urdf.elements import ONE_AXIS, UrdfFile, UrdfJoint
from trundle.errors import suggest
from trundle.robot.noun import RESERVED

_LONGEST = 60
# As many as a Robot may have.
MOST_JOINTS = 1000


@dataclass(frozen=True)
class Names:
    """URDF's names and Trundle's: `joints` and `links` map the former to the latter, `mimics` the joints that follow
    others to the names of the couplings that make them.

    The root link is "base" where its own name means something else in Trundle.
    """

    root: str
    links: dict[str, str]
    joints: dict[str, str]
    mimics: dict[str, str]


def check_tree(urdf: UrdfFile) -> str:
    """The root link's name; raises InputError where links are missing, have two parents, or form no single tree."""
    if not urdf.links:
        raise urdf.part.fail("has no links", hint='write <link name="base_link"/>')
    if len(urdf.joints) > MOST_JOINTS:
        raise urdf.part.fail(f"{len(urdf.joints)} joints; a description may have {MOST_JOINTS}")
    carried: dict[str, str] = {}
    for name, joint in urdf.joints.items():
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in urdf.links:
                part = joint.part.child(role) or joint.part
                raise part.fail(f"there is no link {link!r}", "link", suggest(link, urdf.links))
        if joint.parent == joint.child:
            raise joint.part.fail(f"its parent and its child are the same link, {joint.child!r}")
        if joint.child in carried:
            message = f"the link {joint.child!r} hangs on the joint {carried[joint.child]!r} already"
            hint = "a link has one parent; URDF describes trees, no loops"
            raise (joint.part.child("child") or joint.part).fail(message, "link", hint)
        carried[joint.child] = name
    for joint in urdf.joints.values():
        _check_mimic(urdf, joint)
    return _root(urdf, carried)


def _check_mimic(urdf: UrdfFile, joint: UrdfJoint) -> None:
    """Raise where a joint follows what isn't there, what has no single axis, or in the end itself."""
    if joint.mimic is None:
        return
    leader, part = joint.mimic.joint, joint.part.child("mimic") or joint.part
    if leader not in urdf.joints:
        others = set(urdf.joints) - {joint.name}
        raise part.fail(f"there is no joint {leader!r}", "joint", suggest(leader, others))
    if leader == joint.name:
        raise part.fail("a joint can't mimic itself", "joint")
    kind = urdf.joints[leader].type
    if kind not in ONE_AXIS:
        nothing = "holds still" if kind == "fixed" else "has no single axis"
        hint = f"name a joint of type {', '.join(ONE_AXIS)}, or take the mimic away"
        raise part.fail(f"the joint {leader!r} is {kind}: it {nothing}", "joint", hint)
    chain = [joint.name, leader]
    while (mimic := urdf.joints[chain[-1]].mimic) is not None and mimic.joint in urdf.joints:
        chain.append(mimic.joint)
        if mimic.joint == joint.name:
            message = f"the joints mimic each other in a circle: {' -> '.join(chain)}"
            raise part.fail(message, "joint", "one of them must be free")
        if mimic.joint in chain[:-1]:
            return  # a circle that it only leads into, told where it is


def _root(urdf: UrdfFile, carried: dict[str, str]) -> str:
    roots = [name for name in urdf.links if name not in carried]
    if len(roots) > 1:
        listed = ", ".join(repr(name) for name in roots[:8]) + (", ..." if len(roots) > 8 else "")
        second = urdf.links[roots[1]].part
        message = f"there are {len(roots)} roots: no joint carries {listed}"
        raise second.fail(message, hint="all links but one must be the child of a joint")
    below: dict[str, list[str]] = {}
    for joint in urdf.joints.values():
        below.setdefault(joint.parent, []).append(joint.child)
    reached = set(roots)
    waiting = list(roots)
    while waiting:
        children = below.get(waiting.pop(), [])
        reached.update(children)
        waiting.extend(children)
    lost = next((name for name in urdf.links if name not in reached), None)
    if lost is None:
        return roots[0]
    circle = [lost]
    while (above := urdf.joints[carried[circle[-1]]].parent) not in circle:
        circle.append(above)
    circle = [*circle[circle.index(above) :], above]
    message = f"the links hang on each other in a circle: {' -> '.join(circle)}"
    raise urdf.joints[carried[above]].part.fail(
        message, hint="one link must be the root, the child of no joint"
    )


def identifiers(urdf: UrdfFile, root: str) -> Names:
    """Names that Trundle takes (letters, digits and _; all different), the same for the same file.

    URDF's links and joints may share a name, and names may hold anything ("left/wheel-1"); Trundle's are parts of
    the names of coordinates and parameters. A link that is called as its own joint stays so.
    """
    taken: set[str] = set(RESERVED)
    joints: dict[str, str] = {}
    for name in urdf.joints:
        joints[name] = _free(clean(name), taken)
        taken.add(joints[name])
    on = {joint.child: joints[name] for name, joint in urdf.joints.items()}
    links: dict[str, str] = {}
    for name in urdf.links:
        wished = clean(name)
        if name == root and wished in RESERVED:
            links[name] = "base"
        elif on.get(name) == wished:
            links[name] = wished
        else:
            links[name] = _free(wished, taken, ("_link",))
            taken.add(links[name])
    mimics: dict[str, str] = {}
    for name, joint in urdf.joints.items():
        if joint.mimic is not None:
            mimics[name] = _free(f"{joints[name]}_mimic", taken)
            taken.add(mimics[name])
    return Names(root, links, joints, mimics)


def clean(name: str) -> str:
    """The nearest name of letters, digits and _."""
    better = re.sub(r"\W", "_", name.strip(), flags=re.ASCII)[: _LONGEST - 8] or "_"
    return f"_{better}" if better[0].isdigit() else better


def _free(wished: str, taken: set[str], endings: Iterable[str] = ()) -> str:
    for ending in ("", *endings):
        if wished + ending not in taken:
            return wished + ending
    number = 1
    while f"{wished}_{number}" in taken:
        number += 1
    return f"{wished}_{number}"
