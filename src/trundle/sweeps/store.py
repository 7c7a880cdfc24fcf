"""Where a sweep's rows lie: a Zarr store, whose own manifest says which chunks are whole."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from warnings import catch_warnings

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, NumericsError
from trundle.extras import load
from trundle.files import is_taken, locked, replacing_in, signature
from trundle.gpu.devices import Device
from trundle.program.llvm.jit import host
from trundle.sweeps.definition import count_of, device_in, difference, digest, work_of
from trundle.sweeps.work import Work

# Rows that are read and written together within a chunk's shard: half a megabyte at most.
_INNER = 65_536
_ROBOT = "robot"
# The group of what is Trundle's own; a reader of the rows needn't see it.
_OWN = "trundle"


@dataclass(frozen=True)
class Store:
    """The rows of `count` robots in chunks of `chunk`, by name; `place` is its folder, or None in memory."""

    group: Any
    place: Path | None
    definition: str
    count: int
    chunk: int

    @property
    def names(self) -> list[str]:
        """What there is of every robot: what varies, the measures, `diverged`."""
        return list(self.group.attrs["names"])

    def rows_of(self, index: int) -> tuple[int, int]:
        """The first robot of a chunk, and how many it has."""
        first = index * self.chunk
        return first, min(self.chunk, self.count - first)

    def work(self) -> Work:
        """What is done to the robots, by the definition."""
        return work_of(self.definition, self._arrays("maps"), self._arrays("motions"))

    def _arrays(self, what: str) -> dict[str, FloatArray]:
        """Numbers of the definition, by name."""
        own = self.group[f"{_OWN}/{what}"] if what in self.group[_OWN] else {}
        return {name: np.asarray(own[name][...], dtype=float) for name in own}

    def whole(self) -> np.ndarray:
        """Which chunks are whole, (chunks,)."""
        return np.asarray(self.group[f"{_OWN}/whole"][:]) == 1

    def write(self, index: int, rows: Mapping[str, FloatArray]) -> None:
        """Write a chunk's rows; only then the manifest says that it is whole.

        Raises NumericsError where there is no room, with what to do.
        """
        first, count = self.rows_of(index)
        try:
            for name, values in rows.items():
                self.group[name][first : first + count] = values
            self.group[f"{_OWN}/whole"][index] = 1
        except OSError as error:
            reason = (
                "no space is left" if error.errno in (errno.ENOSPC, errno.EDQUOT) else error.strerror or error
            )
            kept = "what is whole is kept; make room, and go on with resume=True"
            raise NumericsError(f"cannot write to '{self.place}': {reason}; {kept}") from error

    def read(self, name: str, first: int = 0, count: int | None = None) -> FloatArray:
        """The values of a name; NaN where a chunk isn't whole."""
        last = self.count if count is None else min(first + count, self.count)
        return np.asarray(self.group[name][first:last], dtype=float)

    def blocks(self, name: str) -> Iterator[FloatArray]:
        """The values of a name, whole chunks only, in the robots' order."""
        for index in np.flatnonzero(self.whole()):
            yield self.read(name, *self.rows_of(int(index)))

    def admit(self, other: bool) -> None:
        """Refuse a machine whose instructions make other bits, unless `other` admits it."""
        kept, here = self.group.attrs["instructions"], instructions(device_in(self.definition))
        if kept != here and not other:
            hint = (
                "run it on such a machine, or admit this one with other_cpu=True: bits are not promised then"
            )
            raise InputError(
                f"the sweep was begun with instructions of {kept}; this machine has {here}", hint=hint
            )


def instructions(device: Device) -> str:
    """The instruction set that kernels are compiled for, on which the last bits hang.

    A GPU rounds as every other one, so that its kind says nothing; starts and ends are the CPU's also there.
    """
    machine, further = host(), "" if device.is_cpu else f" {device.kind}"
    on = "+".join(sorted(each[1:] for each in machine.features.split(",") if each.startswith("+")))
    return f"{machine.cpu} {digest(on)[:12]}{further}"


def create(work: Work, text: str, place: Path | None, chunk: int) -> Store:
    """A new, empty store; it is there whole or not at all. InputError where something is already."""
    zarr = _zarr()
    if place is None:
        group = zarr.create_group(zarr.storage.MemoryStore())
        _fill(group, work, text, chunk)
        return Store(group, None, text, work.design.count, chunk)
    if is_taken(place):
        hint = "go on with it (resume=True, --resume), or give another store"
        raise InputError(f"'{place}' is there already", key="store", hint=hint)
    with replacing_in(place.parent, [place.name]) as drafts:
        _fill(zarr.create_group(str(drafts / place.name)), work, text, chunk)
    return open_store(place)


def _fill(group: Any, work: Work, text: str, chunk: int) -> None:
    """The empty arrays of a sweep, and what says what it is."""
    zarr, units = _zarr(), _units(work)
    inner = _inner(chunk)
    quick = zarr.codecs.BloscCodec(cname="lz4", clevel=1, shuffle=zarr.codecs.BloscShuffle.shuffle)
    for name, (kind, unit) in units.items():
        group.create_array(
            name, shape=(work.design.count,), dtype=kind, chunks=(inner,), shards=(chunk,),
            fill_value=np.nan if kind == "float64" else False, dimension_names=(_ROBOT,), compressors=quick,
            attributes={"units": unit} if unit else {},
        )  # fmt: skip
    own = group.create_group(_OWN)
    own.create_array("definition", data=np.frombuffer(text.encode(), dtype=np.uint8))
    if work.plant.tables:
        maps = own.create_group("maps")
        for name, values in work.plant.tables.items():
            maps.create_array(name, data=values, compressors=quick)
    if work.cases:
        motions = own.create_group("motions")
        for name, case in work.cases.items():
            motions.create_array(name, data=case.values, compressors=quick)
    own.create_array(
        "whole", shape=(-(-work.design.count // chunk),), dtype="uint8", chunks=(1,), fill_value=0
    )
    group.attrs.update({
        "title": f"sweep of {work.name}", "written_by": signature(), "names": list(units), "chunk": chunk,
        "instructions": instructions(work.device), "definition": digest(text),
    })  # fmt: skip
    with catch_warnings(action="ignore"):  # that Zarr's specification doesn't have it yet; xarray asks for it
        zarr.consolidate_metadata(group.store, path=group.path)


def _inner(chunk: int) -> int:
    """Rows of a part of a chunk, which consists of whole parts.

    So a shard is a chunk: were it more, two threads that write neighbours would each keep its own reading of the rest.
    """
    parts = next(n for n in range(-(-chunk // _INNER), chunk + 1) if chunk % n == 0)
    return chunk // parts


def open_store(place: Path) -> Store:
    """The store of a folder; InputError where there is none, or one of another format."""
    zarr = _zarr()
    try:
        group = zarr.open_group(str(place), mode="r+")
        text = bytes(np.asarray(group[f"{_OWN}/definition"][:])).decode()
        chunk, kept = int(group.attrs["chunk"]), group.attrs["definition"]
    except (KeyError, ValueError, TypeError, OSError, zarr.errors.BaseZarrError) as error:
        hint = "trundle.sweep(…, store=…) writes one" if not place.exists() else "is it another program's?"
        raise InputError(f"'{place}' holds no sweep", key="store", hint=hint) from error
    if digest(text) != kept:
        raise InputError(f"the definition in '{place}' is damaged: its checksum differs", key="store")
    try:
        return Store(group, place, text, count_of(text), chunk)
    except InputError as error:
        raise InputError(f"'{place}': {error.message}", key="store", hint=error.hint) from None


def resumed(store: Store, text: str) -> None:
    """Refuse a store of another sweep, saying in what it differs, and one whose chunks share files."""
    if digest(text) == digest(store.definition):
        if store.group[store.names[0]].shards != (store.chunk,):
            hint = "begin it anew in another store"
            message = (
                f"'{store.place}' is of an earlier version, which could lose rows where chunks share files"
            )
            raise InputError(message, key="store", hint=hint)
        return
    differs = difference(store.definition, text) or "the model's text"
    hint = "give another store, or the sweep as it was begun"
    raise InputError(f"'{store.place}' holds another sweep: it differs in {differs}", key="store", hint=hint)


@contextmanager
def alone(place: Path | None) -> Iterator[None]:
    """Keep the store for this process as long as it writes."""
    if place is None:
        yield
        return
    with locked(place) as free:
        if not free:
            hint = "wait for it, or give another store"
            raise InputError(f"another sweep writes to '{place}'", key="store", hint=hint)
        yield


def _units(work: Work) -> dict[str, tuple[str, str]]:
    """Type and unit of everything that is kept of a robot."""
    kept = {name: ("float64", unit) for name, unit in work.units.items()}
    kept |= {measure.text: ("float64", measure.unit) for measure in work.measures}
    return kept | dict.fromkeys(work.outcomes, ("bool", ""))


_zarr = partial(load, "zarr", "sweeps keep their rows with zarr", extra="sweep", key="store")
