"""Which numbers describe the robot's state, and how an assembly is configured from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trundle.mechanics.assembly import Assembly
from trundle.mechanics.joints import Turn
from trundle.scalars import Scalar
from trundle.spatial.motions import Pose


@dataclass(frozen=True)
class Configuration:
    """An assembly at a configuration: joint poses, and the value of every coordinate that an element or motor may
    ask for.
    """

    q: tuple[Scalar | Turn, ...]
    poses: list[Pose]
    values: Mapping[str, Scalar]


def coupled_coordinates(assembly: Assembly) -> list[str]:
    """The coordinates that follow others by a coupling, each after what it follows."""
    return [axis.coordinate for coupling in assembly.couplings for axis in coupling.followers]


def independent_coordinates(assembly: Assembly) -> tuple[str, ...]:
    """The coordinates that are states: all of the tree's and the linkages', less the coupled ones."""
    coupled = set(coupled_coordinates(assembly))
    return tuple(name for name in assembly.coordinates if name not in coupled)


def configure(assembly: Assembly, names: Sequence[str], q: Sequence[Scalar]) -> Configuration:
    """Joint poses at independent coordinates `q` named `names`; coupled coordinates follow by their couplings."""
    values = dict(zip(names, q, strict=True))
    posed: dict[str, Scalar | Turn] = dict(values)
    for coupling in assembly.couplings:
        followed = coupling.follow([values[axis.coordinate] for axis in coupling.leaders])
        for axis, (value, posed_by) in zip(coupling.followers, followed, strict=True):
            values[axis.coordinate], posed[axis.coordinate] = value, posed_by
    count = sum(len(link.joint.coordinates) for link in assembly.tree.links)
    tree_q = [posed[name] for name in assembly.coordinates[:count]]
    return Configuration(tuple(tree_q), assembly.tree.joint_poses(tree_q), values)


def coordinate_rates(
    assembly: Assembly, names: Sequence[str], configuration: Configuration, nu: Sequence[Scalar]
) -> list[Scalar]:
    """q̇ = N(q) ν of the independent coordinates."""
    count = assembly.tree.speed_count
    rates = assembly.tree.coordinate_rates(configuration.q, nu[:count])
    by_name = dict(zip(assembly.coordinates, [*rates, *nu[count:]], strict=True))
    return [by_name[name] for name in names]
