"""What an OpenSim model holds: coordinates that are locked or follow others, bodies that are welded to each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trundle.documents.osim.osim_axes import coordinates_of
from trundle.documents.osim.osim_elements import OsimFrame, OsimModel, OsimNode
from trundle.documents.osim.osim_functions import OsimFunction, read_function
from trundle.errors import suggest
from trundle.spatial.motions import compose

_READ = ("CoordinateCouplerConstraint", "WeldConstraint")


@dataclass(frozen=True)
class OsimCoupler:
    """A coordinate that follows others by a function."""

    node: OsimNode
    dependent: str
    function: OsimFunction


@dataclass(frozen=True)
class OsimWeld:
    """Two frames that are held to each other."""

    node: OsimNode
    first: OsimFrame
    second: OsimFrame


@dataclass(frozen=True)
class OsimConstraints:
    """`held` are the values (rad, m) of coordinates that stand still; `left` those that aren't read."""

    held: Mapping[str, float]
    couplers: tuple[OsimCoupler, ...]
    welds: tuple[OsimWeld, ...]
    left: tuple[OsimNode, ...]

    @property
    def single(self) -> set[str]:
        """The coordinates that something is said of."""
        named = {name for each in self.couplers for name in (each.dependent, *each.function.coordinates)}
        return named | set(self.held)


def constraints_of(model: OsimModel) -> OsimConstraints:
    """What holds a model's coordinates and bodies; raises InputError for couplings of what isn't there."""
    known = {node.name: node for joint in model.joints for node in coordinates_of(joint)}
    held = {
        name: node.numbers("default_value", 1, (0.0,))[0]
        for name, node in known.items()
        if node.flag("locked")
    }
    active = [node for node in _objects(model) if _enforced(node)]
    couplers = [_coupler(node, known) for node in active if node.element.tag == _READ[0]]
    while True:  # what follows nothing but what is held is held, too
        couplers = [
            OsimCoupler(each.node, each.dependent, each.function.substitute(held))
            for each in couplers
            if each.dependent not in held
        ]
        still = {each.dependent: each.function.offset for each in couplers if each.function.still}
        if not still:
            break
        held |= still
    welds = [_weld(model, node) for node in active if node.element.tag == _READ[1]]
    left = [node for node in active if node.element.tag not in _READ]
    return OsimConstraints(held, tuple(couplers), tuple(welds), tuple(left))


def _objects(model: OsimModel) -> Iterator[OsimNode]:
    holder = model.node.child("ConstraintSet", "objects")
    for node in [] if holder is None else holder.children():
        yield OsimNode(node.element, node.file, f"constraint {node.name!r}")


def _enforced(node: OsimNode) -> bool:
    """Version 4 says isEnforced, version 3 isDisabled."""
    return node.text("isEnforced", "true").lower() != "false" and not node.flag("isDisabled")


def _coupler(node: OsimNode, known: Mapping[str, OsimNode]) -> OsimCoupler:
    """A <CoordinateCouplerConstraint> whose coordinates are `known`; InputError with the line for what isn't there."""
    dependent = node.text("dependent_coordinate_name")
    leaders = node.text("independent_coordinate_names").split()
    for name in (dependent, *leaders):
        if name not in known:
            raise node.fail(f"there is no coordinate {name!r}", suggest(name, known))
    holder = node.child("coupled_coordinates_function")
    functions = [] if holder is None else holder.children()
    if not functions:
        raise node.fail("<coupled_coordinates_function> is missing")
    (factor,) = node.numbers("scale_factor", 1, (1.0,))
    function = read_function(functions[0], leaders, f"the coordinate {dependent!r}", factor)
    return OsimCoupler(node, dependent, function)


def _weld(model: OsimModel, node: OsimNode) -> OsimWeld:
    """Version 4 names two frames, version 3 two bodies with places on them."""
    frames = []
    for k in ("1", "2"):
        path = node.text(f"socket_frame{k}") or node.text(f"socket_body_{k}") or node.text(f"body_{k}")
        frame = model.frame_of(path, node, node)
        own = node.pose(f"location_body_{k}", f"orientation_body_{k}")
        frames.append(OsimFrame(frame.body, compose(frame.pose, own)))
    return OsimWeld(node, *frames)
