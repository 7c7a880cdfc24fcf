"""The same tree in Pinocchio: its joints, and where their coordinates and speeds stand."""

import numpy as np

from trundle.mechanics.joints import plane_axes
from trundle.mechanics.tree import NO_INERTIA, WORLD


class Twin:
    """A tree in Pinocchio: `model`, `data`, `v_at` (its place of each of our speeds), a frame for each link."""

    def __init__(self, pin, tree):
        self.pin, self.tree = pin, tree
        self.model = model = pin.Model()
        model.gravity = pin.Motion(np.array(tree.gravity, float), np.zeros(3))
        self.ids, self.places = {WORLD: 0}, {WORLD: pin.SE3.Identity()}
        for place in _depth_first(tree, WORLD):
            self._add(place, tree.links[place])
        armature = np.zeros(model.nv)
        v_at = []
        for place, link in enumerate(tree.links):
            if link.kind != "fixed":
                at = model.joints[self.ids[place]]
                armature[at.idx_v : at.idx_v + at.nv] = link.armatures
                v_at += range(at.idx_v, at.idx_v + at.nv)
        model.armature = armature
        self.frames = [
            model.addFrame(pin.Frame(f"frame_{k}", self.ids[k], 0, self.places[k], pin.FrameType.OP_FRAME))
            for k in range(len(tree.links))
        ]
        self.v_at = np.array(v_at, dtype=int)
        self.data = model.createData()

    def _add(self, place, link):
        pin = self.pin
        joint_in_parent = pin.SE3(
            np.array(link.placement.rotation, float), np.array(link.placement.position, float)
        )
        placement = self.places[link.parent] * joint_in_parent
        if link.kind == "fixed":
            self.ids[place], self.places[place] = self.ids[link.parent], placement
        else:
            turned = _turned(pin, link)
            joint = _joint(pin, link)
            self.ids[place] = self.model.addJoint(self.ids[link.parent], joint, placement * turned, link.name)
            self.places[place] = turned.inverse()
        if link.inertia != NO_INERTIA:
            self.model.appendBodyToJoint(self.ids[place], _inertia(pin, link.inertia), self.places[place])

    def q(self, q):
        """Our q in Pinocchio's order: quaternions end with w, a plane's angle is a cosine and a sine."""
        result = np.zeros(self.model.nq)
        for place, (link, at) in enumerate(zip(self.tree.links, self.tree.coordinate_slices(), strict=True)):
            own = list(q[at])
            if link.kind == "planar":
                own = [own[0], own[1], np.cos(own[2]), np.sin(own[2])]
            if link.kind in ("floating", "spherical"):
                own = [*own[:-4], *own[-3:], own[-4]]
            if own:
                first = self.model.joints[self.ids[place]].idx_q
                result[first : first + len(own)] = own
        return result

    def v(self, nu):
        """Our speeds, or their rates, or forces on them, in Pinocchio's order."""
        result = np.zeros(self.model.nv)
        result[self.v_at] = nu
        return result


def _joint(pin, link):
    axis, second = np.array(link.axis, float), np.array(link.second_axis, float)
    if link.kind == "cylindrical":
        return _composite(pin, pin.JointModelRevoluteUnaligned(axis), pin.JointModelPrismaticUnaligned(axis))
    if link.kind == "universal":
        if abs(axis @ second) < 1e-12:
            return pin.JointModelUniversal(axis, second)
        return _composite(pin, pin.JointModelRevoluteUnaligned(axis), pin.JointModelRevoluteUnaligned(second))
    return {
        "revolute": lambda: pin.JointModelRevoluteUnaligned(axis),
        "prismatic": lambda: pin.JointModelPrismaticUnaligned(axis),
        "screw": lambda: pin.JointModelHelicalUnaligned(axis, link.pitch),
        "spherical": pin.JointModelSpherical,
        "planar": pin.JointModelPlanar,
        "floating": pin.JointModelFreeFlyer,
    }[link.kind]()


def _composite(pin, first, second):
    joint = pin.JointModelComposite(2)
    joint.addJoint(first)
    joint.addJoint(second)
    return joint


def _turned(pin, link):
    """Pinocchio's planar joint has its normal along z: a frame turned so that it is our axis."""
    if link.kind != "planar":
        return pin.SE3.Identity()
    first, second = plane_axes(link.axis)
    return pin.SE3(np.array([first, second, link.axis], float).T, np.zeros(3))


def _depth_first(tree, parent):
    """Links so that each is followed by all that hangs on it, which Pinocchio's algorithms need."""
    for place, link in enumerate(tree.links):
        if link.parent == parent:
            yield place
            yield from _depth_first(tree, place)


def _inertia(pin, inertia):
    mass, h, about_origin = inertia
    center = np.array(h, float) / mass
    about_center = np.array(about_origin, float) - mass * (
        center @ center * np.eye(3) - np.outer(center, center)
    )
    return pin.Inertia(mass, center, about_center)
