"""Names for what the recursions from link to link pass on, where M and h are too long to be multiplied out.

With short factors only, every sum that enters a product gets a letter. The same steps run here once for their results:
twists, accelerations, momenta, wrenches and composite inertias. A letter that one of them has got is what it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from trundle.formulas.algebra.sums import Sum
from trundle.formulas.letters.sheet import Sheet
from trundle.mechanics.inverse_dynamics import joint_wrenches, link_accelerations, link_forces
from trundle.mechanics.tree import WORLD
from trundle.scalars import Scalar
from trundle.spatial.motions import add_inertias, inertia_to_parent, momentum

_XYZ = "xyz"
# What passes from link to link, linear and angular in turns: symbol, words, unit.
_PASSED = (
    ("v", "velocity {}", "m/s"),
    ("omega", "angular velocity {}", "rad/s"),
    ("a", "acceleration {} at constant speeds, less gravity", "m/s^2"),
    ("alpha", "angular acceleration {} at constant speeds", "rad/s^2"),
    ("p", "momentum {}", "kg m/s"),
    ("L", "angular momentum {} about its origin", "kg m^2/s"),
    ("f", "force {} that it needs itself", "N"),
    ("n", "moment {} that it needs itself", "N m"),
    ("F", "force {} through its joint", "N"),
    ("T", "moment {} through its joint", "N m"),
)


def name_steps(sheet: Sheet, nu: Sequence[Scalar]) -> None:
    """Run the recursions and name what they pass on."""
    tree, poses = sheet.assembly.tree, sheet.at.poses
    count = tree.speed_count
    twists, accelerations = link_accelerations(tree, poses, nu[:count], [0] * count)
    needed = link_forces(tree, twists, accelerations)
    wrenches = joint_wrenches(tree, poses, needed)
    for k, link in enumerate(tree.links):
        carried = momentum(link.inertia, twists[k])
        for (stem, words, unit), values in zip(
            _PASSED,
            (*twists[k], *accelerations[k], *carried, *needed[k], *wrenches[k]),
            strict=True,
        ):
            _name(sheet, link.name, values, stem, words, unit)
    _name_composites(sheet)


def _name_composites(sheet: Sheet) -> None:
    """Mass, first moment and inertia of each link with everything that it carries."""
    tree, poses = sheet.assembly.tree, sheet.at.poses
    composite = [link.inertia for link in tree.links]
    for k in range(len(tree.links) - 1, -1, -1):
        link, own = tree.links[k], composite[k]
        _name(sheet, link.name, [own.mass], "M", "mass of {} and all that it carries", "kg")
        _name(sheet, link.name, own.first_moment, "S", "first moment {} and all that it carries", "kg m")
        for i in range(3):
            words = f"moment of inertia ({_XYZ[i]}) {{}} and all that it carries"
            _name(sheet, link.name, own.rotational[i], f"J_{_XYZ[i]}", words, "kg m^2")
        if link.parent != WORLD:
            lifted = inertia_to_parent(poses[k], own)
            composite[link.parent] = add_inertias(composite[link.parent], lifted)


def _name(sheet: Sheet, link: str, values: Sequence[Scalar], stem: str, words: str, unit: str) -> None:
    """Name the letters that components have got, in the link's own axes."""
    for axis, value in zip(_XYZ, values, strict=False):
        entry = sheet.book.known(value) if isinstance(value, Sum) and not value.is_plain else None
        if entry is None or entry.name:
            continue
        part = f"_{axis}" if len(values) > 1 else ""
        entry.name = sheet.names.unique(f"{stem}{part}_{sheet.names.label(link)}")
        of = f"of {link} along its {axis}" if part else f"of {link}"
        entry.meaning, entry.unit = words.format(of), unit
