"""A body's balance over a motion, split as an observer sees it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trundle.errors import InputError, require_known
from trundle.limbs.loads.loads import Loads
from trundle.limbs.loads.recursion import along_freedoms, doing
from trundle.mechanics.tree import WORLD
from trundle.scalars import is_zero
from trundle.wrenches import Breakdown, Frame, Inertia, Point, Wrench


def breakdown(loads: Loads, body: str, *, observer: Frame, origin: Point) -> Breakdown:
    """What `Loads.breakdown` says."""
    links = loads.recursion.mechanism.assembly.links
    require_known(body, links, f"there is no body '{body}'", key="body")
    index = links[body]
    link, frame = loads.recursion.tree.links[index], loads.frames[body]
    if is_zero(link.inertia.mass):
        raise InputError(f"'{body}' has no mass, so nothing of its balance can be split", key="body")
    x, y, z = (moment / link.inertia.mass for moment in link.inertia.first_moment)
    center = frame.point(f"centre of mass of {body}", (x, y, z))
    inertia = Inertia(
        link.inertia.mass, link.inertia.rotational, center=center, point=frame.origin, as_given=True
    )
    wrenches: dict[str, Wrench] = {}
    for name, wrench in _wrenches(loads, index, inertia):
        wrenches[name] = wrenches[name] + wrench if name in wrenches else wrench
    return Breakdown.of(inertia, wrenches, observer=observer, origin=origin)


def _wrenches(loads: Loads, index: int, inertia: Inertia) -> Iterator[tuple[str, Wrench]]:
    """All true wrenches on a body, about its origin in its axes: gravity, its joint, what hangs on it, from outside."""
    tree, frame = loads.recursion.tree, inertia.center.frame
    link = tree.links[index]
    pull = inertia.weight(tree.gravity, frame=loads.world)
    if np.any(pull.force):
        yield "gravity", pull.at(frame.origin).in_frame(frame)
    if link.parent != WORLD or link.moves:
        joint = loads.wrench(link.name)
        passive = _passive(loads, index, joint)
        if passive is not None:
            yield "passive", passive
        yield "joint", joint if passive is None else joint - passive
    for child in tree.links:
        if child.parent == index:
            yield child.name, loads.wrench(child.name).reaction().at(frame.origin).in_frame(frame)
    outside = loads.outside
    for k, (link_at, axes) in enumerate(outside.pushed):
        if link_at == index:
            root = loads.world if axes == "world" else frame
            force, moment = outside.table[:, 6 * k : 6 * k + 3], outside.table[:, 6 * k + 3 : 6 * k + 6]
            by = "external" if k < len(outside.given) else "loops"
            wrench = Wrench(force, moment, on=frame.name, by=by, point=root.origin, frame=root)
            yield by, wrench.at(frame.origin).in_frame(frame)


def _passive(loads: Loads, index: int, joint: Wrench) -> Wrench | None:
    """What springs, dampers, friction and stops give along a joint's freedoms; None for a joint without any."""
    tree, assembly = loads.recursion.tree, loads.recursion.mechanism.assembly
    at = tree.speed_slices()[index]
    if not any(at.start <= element.column < at.stop for element in assembly.elements):
        return None
    armatures = np.array([float(armature) for armature in tree.links[index].armatures])[:, None]
    columns = loads.recursion.freedoms(index, loads.samples.q)
    needed, _ = along_freedoms(columns, np.vstack([joint.force.T, joint.moment.T]))
    rows = doing(columns, needed + armatures * loads.samples.nu_dot[:, at].T - loads.drives[at])
    frame = joint.frame
    return Wrench(rows[:3].T, rows[3:].T, on=joint.on, by=joint.by, point=frame.origin, frame=frame)
