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


def coupled_columns(assembly: Assembly) -> dict[int, tuple[int, int]]:
    """Speed column of each coupled steering → (index of its coupling, place within it)."""
    return {
        column: (k, place)
        for k, coupling in enumerate(assembly.couplings)
        for place, column in enumerate(coupling.steering)
    }


def coupled_coordinates(assembly: Assembly) -> dict[str, tuple[int, int]]:
    """The same by the coordinate's name."""
    names = {axis.column: axis.coordinate for axis in assembly.axes.values()}
    return {names[column]: where for column, where in coupled_columns(assembly).items()}


def independent_coordinates(assembly: Assembly) -> tuple[str, ...]:
    """The coordinates that are states: all of the tree's and the couplings', less the coupled ones."""
    coupled = coupled_coordinates(assembly)
    return tuple(name for name in assembly.coordinates if name not in coupled)


def configure(assembly: Assembly, names: Sequence[str], q: Sequence[Scalar]) -> Configuration:
    """Joint poses at independent coordinates `q` named `names`; coupled joints follow their couplings."""
    values = dict(zip(names, q, strict=True))
    coupled = coupled_coordinates(assembly)
    turns = [coupling.turns(values[f"{coupling.name}.angle"]) for coupling in assembly.couplings]
    angles = [coupling.angles(values[f"{coupling.name}.angle"]) for coupling in assembly.couplings]
    tree_q: list[Scalar | Turn] = []
    for name in assembly.coordinates[: sum(len(link.joint.coordinates) for link in assembly.tree.links)]:
        if name in coupled:
            k, place = coupled[name]
            tree_q.append(turns[k][place])
            values[name] = angles[k][place]
        else:
            tree_q.append(values[name])
    return Configuration(tuple(tree_q), assembly.tree.joint_poses(tree_q), values)


def coordinate_rates(
    assembly: Assembly, names: Sequence[str], configuration: Configuration, nu: Sequence[Scalar]
) -> list[Scalar]:
    """q̇ = N(q) ν of the independent coordinates."""
    count = assembly.tree.speed_count
    rates = assembly.tree.coordinate_rates(configuration.q, nu[:count])
    by_name = dict(zip(assembly.coordinates, [*rates, *nu[count:]], strict=True))
    return [by_name[name] for name in names]
