"""Units as C3D files write them: in any case, cut after a few letters, with any sign between newtons and metres."""

from __future__ import annotations

import re

from trundle.errors import InputError
from trundle.limbs.capture.faults import Faults, printable
from trundle.robot.units import Dimension
from trundle.robot.values import unit_in_si

# Exponents of (m, kg, s, A).
LENGTH: Dimension = (1, 0, 0, 0)
FORCE: Dimension = (1, 1, -2, 0)
TORQUE: Dimension = (2, 1, -2, 0)  # a force times a length
# A unit, and how else it is written: small letters, nothing between them.
_SPELLINGS = {
    LENGTH: {
        "m": "m meter meters metre metres", "cm": "cm centimeter centimeters centimetre centimetres",
        "mm": "mm millimeter millimeters millimetre millimetres",
    },
    FORCE: {"N": "n nt newton newtons", "kN": "kn kilonewton kilonewtons"},
    TORQUE: {
        "N m": "nm ntm newtonmeter newtonmeters newtonmetre newtonmetres", "N cm": "ncm", "mN m": "mnm", "kN m": "knm",
        "N mm": "nmm ntmm newtonmillimeter newtonmillimeters newtonmillimetre newtonmillimetres",
    },
}  # fmt: skip
_BETWEEN = re.compile(r"[\s.*·⋅∙•_-]+")
# Of a unit that was cut so many letters are left at least; fewer are another unit.
_LEAST_LEFT = 3


def known_unit(said: str, dimension: Dimension, faults: Faults, key: str) -> str | None:
    """A unit of that dimension as Trundle writes it, with a note where it had to be guessed; None where it is none.

    A broken byte at the end was the sign between newtons and metres: then the unit is a product that begins so.
    """
    cut = said.endswith("\ufffd")
    if _measures(said, dimension):
        return said
    if cut and dimension != TORQUE:
        return None
    letters = _BETWEEN.sub("", said.rstrip("\ufffd").casefold())
    spellings = {word: unit for unit, words in _SPELLINGS[dimension].items() for word in words.split()}
    words = [word for word in spellings if word == letters and not cut]
    if not words and letters and (cut or len(letters) >= _LEAST_LEFT):
        words = [word for word in spellings if word.startswith(letters) and word != letters]
    meanings = {spellings[word] for word in words}
    if len(meanings) != 1:
        return None
    (unit,) = meanings
    faults.note(f"the unit '{printable(said)}' is read as {unit}", key)
    return unit


def _measures(said: str, dimension: Dimension) -> bool:
    """Whether a text is a unit of that dimension."""
    try:
        return unit_in_si(said)[1] == dimension
    except InputError:
        return False
