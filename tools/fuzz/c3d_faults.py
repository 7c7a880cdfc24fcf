"""C3D files with single faults whose reach is known: what they don't touch comes bit for bit, or is named."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

import trundle
from tools.fuzz.c3d_writer import BLOCK, LABELS, PROCESSORS, Place, Scene

_PLATES = ("force plate 1", "force plate 2")
_MARKERS = tuple(f"marker '{label}'" for label in LABELS)
_ALL = frozenset({*_MARKERS, *_PLATES, "events", "time"})
# What a parameter means something to; those of other names to nothing that is compared.
_REACH = {
    "POINT:USED": (), "POINT:FRAMES": (), "POINT:SCALE": (), "POINT:DATA_START": (), "ANALOG:USED": (),
    "ANALOG:RATE": (), "ANALOG:LABELS": (), "POINT:LABELS": _MARKERS, "POINT:RATE": ("time",),
    "POINT:UNITS": (*_MARKERS, *_PLATES), "ANALOG:SCALE": _PLATES, "ANALOG:GEN_SCALE": _PLATES,
    "ANALOG:OFFSET": _PLATES, "ANALOG:FORMAT": _PLATES, "ANALOG:UNITS": _PLATES,
}  # fmt: skip
# What header and parameters both say, by places of the header: with both of them wrong nobody knows.
_TWICE = {
    "POINT:USED": {2}, "ANALOG:USED": {4, 18}, "ANALOG:RATE": {4, 18}, "POINT:FRAMES": {6, 8}, "POINT:SCALE": {12},
    "POINT:DATA_START": {16}, "POINT:RATE": {4, 18, 20},
}  # fmt: skip
# Parts by how errors name them all at once.
_TOGETHER = {"markers": _MARKERS, "force plates": _PLATES}
_UNITS = (b"nt  ", b"N-mm", b"mN\xc2 ", b"V   ", b"uV  ", b"MM  ", b"mete", b"\xff\xfe\0\1")


@dataclass(frozen=True)
class Damaged:
    """A file's bytes, where its parameters stand, which parts faults may have reached, and which file it was."""

    content: bytes
    places: Mapping[str, Place]
    base: int
    reached: frozenset[str] = frozenset()

    def with_bytes(self, at: int, raw: bytes, *reached: str) -> Damaged:
        """Other bytes at a place, which reach these parts."""
        content = self.content[:at] + raw + self.content[at + len(raw) :]
        return replace(self, content=content[: len(self.content)], reached=self.reached | {*reached})


@cache
def bases() -> tuple[Damaged, ...]:
    """A file of each processor, of floats and of integers."""
    found = []
    for processor in PROCESSORS:
        for integers in (False, True):
            file = Scene.random(np.random.default_rng(len(found))).file(processor, integers=integers)
            content = file.content()
            found.append(Damaged(content, file.parts()[1], len(found)))
    return tuple(found)


def mutate(content: object, rng: Random) -> object:
    """One fault more: in a parameter, in the header, or an early end."""
    assert isinstance(content, Damaged)
    how = rng.random()
    if how < 0.1:
        return replace(content, content=content.content[: rng.randrange(len(content.content) + 1)])
    if how < 0.25:
        return _in_header(content, rng)
    return _in_parameter(content, rng)


def _in_header(content: Damaged, rng: Random) -> Damaged:
    """A word of the header, a float, or where the parameters begin."""
    place = rng.choice((0, 1, 2, 4, 6, 8, 12, 16, 18, 20, BLOCK + 2, BLOCK + 3))
    if place in (0, 1, BLOCK + 2):
        return content.with_bytes(place, rng.randbytes(1))
    if place == BLOCK + 3:
        return content.with_bytes(place, rng.choice((rng.randbytes(1), b"T", b"U", b"V")), *_ALL)
    raw = rng.choice(
        (b"\0\0", b"\xff\xff", rng.randbytes(2), rng.randbytes(1) + b"\0", b"\0" + rng.randbytes(1))
    )
    return content.with_bytes(place, raw, f"header {place}", *(("time",) if place == 6 else ()))


def _in_parameter(content: Damaged, rng: Random) -> Damaged:
    """A parameter's or a group's length of its name, its letters, number, pointer, type, dimensions or data."""
    name = rng.choice(list(content.places))
    at, pointer, kind, data, end = content.places[name]
    inside = [each for each in content.places if each.startswith(f"{name}:")] or [name]
    reached = {part for each in inside for part in (each, *_reach(each))}
    where = rng.choice(("length", "letters", "number", "pointer", "type", "dimensions", "data", "units"))
    if where == "number":
        return content.with_bytes(at + 1, rng.randbytes(1), *_ALL)  # it may take another's place
    if where == "length":
        return content.with_bytes(
            at, bytes([rng.choice((0, rng.randrange(256), 256 - pointer + at + 2))]), *reached
        )
    if where == "letters":
        return content.with_bytes(rng.randrange(at + 2, pointer), rng.randbytes(1), *reached)
    if where == "pointer" or kind >= end:
        return content.with_bytes(
            pointer, rng.choice((b"\0\0", rng.randbytes(2), rng.randbytes(1))), *reached
        )
    if where == "units" and name.endswith("UNITS"):
        return content.with_bytes(data, rng.choice(_UNITS)[: end - data], *reached)
    start, stop = {"type": (kind, kind + 1), "dimensions": (kind + 1, data)}.get(where, (data, end))
    raw = rng.choice((b"\0", b"\1", b"\xff", rng.randbytes(1), rng.randbytes(2)))
    place = rng.randrange(start, max(stop, start + 1))
    return content.with_bytes(place, raw[: max(stop, start + 1) - place], *reached)


def _reach(name: str) -> tuple[str, ...]:
    """The parts that a parameter means something to."""
    group = name.partition(":")[0]
    return _REACH.get(name, {"FORCE_PLATFORM": _PLATES, "EVENT": ("events",)}.get(group, ()))


def attempt(content: object, rng: Random) -> None:
    """Read it, and hold what no fault reached against what the whole file gives."""
    assert isinstance(content, Damaged)
    expected = _whole(content.base)
    path = Path("walk.c3d")
    path.write_bytes(content.content)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        recording = trundle.read_recording(path)
    told = [str(each.message) for each in caught]
    assert all(message.replace("\n", "").isprintable() for message in told), f"raw bytes in a message: {told}"
    for name, header in _TWICE.items():
        if name in content.reached and {f"header {place}" for place in header} & content.reached:
            return
    cut = len(content.content) < len(bases()[content.base].content)
    if any("contradict" in message and (cut or "one reading fits" not in message) for message in told):
        return  # nobody can tell which reading is right, and that is said
    named = set(recording.unread) | {part for name in recording.unread for part in _TOGETHER.get(name, ())}
    found = _parts(recording)
    for part in sorted(_ALL - content.reached - named):
        assert part in found, f"{part} is lost without a word, beside {told}"
        for here, there in zip(found[part], expected[part], strict=True):
            count = min(len(here), len(there))  # without a count, padding makes some frames more
            assert count, f"{part} is empty without a word: {told}"
            assert np.array_equal(here[:count], there[:count]), f"{part} is wrong without a word: {told}"


@cache
def _whole(base: int) -> dict[str, tuple[np.ndarray, ...]]:
    """What the file without faults gives."""
    Path("whole.c3d").write_bytes(bases()[base].content)
    return _parts(trundle.read_recording("whole.c3d"))


def _parts(recording: trundle.Recording) -> dict[str, tuple[np.ndarray, ...]]:
    """All that is compared, by the names that errors use."""
    parts = {f"marker '{name}'": (places,) for name, places in recording.markers.items()}
    parts |= {f"force plate {plate.number}": (plate.force, plate.moment) for plate in recording.plates}
    events = [*recording.events, *map(str, recording.events.values())]
    return parts | {"time": (recording.time,), "events": (np.array(events),)}
