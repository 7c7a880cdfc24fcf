"""Which force plate pushes which body: wrenches of those that are assigned, a word on the others."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, choose
from trundle.limbs.capture.force_plates import ForcePlate
from trundle.limbs.capture.ground_reactions import GroundReaction
from trundle.wrenches import Frame, Wrench

PlateForces = ForcePlate | GroundReaction

# Bodies that a warning names.
_MOST_NAMED = 12


def by_name(plates: Sequence[PlateForces]) -> dict[str, PlateForces]:
    """Plates by their names, and as plate1, plate2, … in the file's order."""
    numbered = {f"plate{k + 1}": plate for k, plate in enumerate(plates)}
    return {plate.name: plate for plate in plates} | numbered


def pushes_of(
    pairs: Iterable[tuple[str, str]],
    plates: Sequence[PlateForces],
    times: FloatArray,
    threshold: float,
    robots: str | None,
) -> Iterator[Wrench]:
    """The plates' wrenches on bodies at these times; `robots`: the axis that they have to push along, if any."""
    laboratory, known = Frame("laboratory"), by_name(plates)
    for body, name in pairs:
        if name not in known:
            hint = choose(name, known) if known else "`plates` (--plates) names a recording that has some"
            message = f"there is no force plate or ground reaction {name!r}"
            raise InputError(message, key="external", hint=hint)
        _require_upright(known[name], robots)
        yield known[name].wrench(body, times=times, threshold=threshold, frame=laboratory)


def _require_upright(plate: PlateForces, robots: str | None) -> None:
    """InputError where a plate faces along y and the robot's gravity is along z, or the other way round."""
    faces = "xyz"[int(np.abs(plate.normal).argmax())]
    if plate.normal.any() and {faces, robots} == {"y", "z"}:
        message = f"'{plate.name}' pushes along {faces}, and the robot's gravity is along {robots}"
        hint = f"--up {faces} turns the recordings so that their {faces} is up; --up {robots} leaves them as they are"
        raise InputError(message, key="external", hint=hint)


def tell_unassigned(
    pairs: Sequence[tuple[str, str]],
    plates: Sequence[PlateForces],
    times: FloatArray,
    threshold: float,
    bodies: Iterable[str],
) -> None:
    """Warn of plates that are pushed on during the motion, of which nobody said by which body."""
    known = by_name(plates)
    assigned = [known[name] for _, name in pairs]
    for place, plate in enumerate(plates):
        during = (plate.time >= times[0]) & (plate.time <= times[-1])
        most = float(plate.pressing[during].max(initial=0.0))
        if most < threshold or any(plate is other for other in assigned):
            continue
        names = [name for name in bodies if name != "world"]
        listed = ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
        warnings.warn(
            f"{plate.name!r} is pushed on with up to {most:.4g} N, and by no body: the loads leave it out. "
            f"external={{BODY: 'plate{place + 1}'}} (--external BODY=plate{place + 1}) says by which: {listed}",
            stacklevel=3,
        )
