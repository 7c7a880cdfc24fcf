"""A device's memory: buffers of bytes at addresses, and every thread's local bytes."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from tools.ptx.text import PTXError

Bytes = NDArray[np.uint8]
Addresses = NDArray[np.uint64]

FIRST = 0x7F00_0000_0000
"""Where the first buffer begins; those that follow begin at multiples of `GAP`, so that none borders on another."""
GAP = 1 << 20
LOCAL = 0x10_0000_0000
"""Where the window of local bytes lies among generic addresses, and how long it is."""
LOCAL_SIZE = 1 << 32


class Memory:
    """Buffers by their addresses; loads and stores of many threads at once, all bounds and alignments checked."""

    def __init__(self) -> None:
        self._bases: list[int] = []
        self._bytes: list[Bytes] = []
        self._next = FIRST

    def allocate(self, size: int) -> int:
        """The address of a new buffer of so many bytes, which hold noise."""
        words = np.full(-(-size // 8) + 1, 0x7FF4_DEAD_BEEF_DEAD, np.uint64)
        self._bases.append(self._next)
        self._bytes.append(words.view(np.uint8)[:size])
        self._next += (size // GAP + 2) * GAP
        return self._bases[-1]

    def free(self, address: int) -> None:
        """Give a buffer back; to use it afterwards is an error."""
        place = self._bases.index(address)
        del self._bases[place], self._bytes[place]

    def bytes(self, address: int, size: int) -> Bytes:
        """The bytes at an address, which may be written to."""
        base, content = self._buffer(address)
        if address + size > base + len(content):
            raise PTXError(f"{size} bytes at {address:#x}: the buffer has {base + len(content) - address}")
        return content[address - base : address - base + size]

    def load(self, at: Addresses, dtype: np.dtype) -> NDArray:
        """A number a thread."""
        if not at.size or at.min() == at.max():
            view, index = self._view(int(at[0]), at[:1], dtype)
            return np.broadcast_to(view[index], at.shape)
        found = np.empty(at.shape, dtype)
        for chosen, view, index in self._spread(at, dtype):
            found[chosen] = view[index]
        return found

    def store(self, at: Addresses, values: NDArray) -> None:
        """A number a thread; two to one place are an error, as nobody knows which would come last."""
        if np.unique(at).size < at.size:
            raise PTXError("two threads write to one place")
        for chosen, view, index in self._spread(at, values.dtype):
            view[index] = values[chosen]

    def _spread(self, at: Addresses, dtype: np.dtype) -> list[tuple[slice | NDArray, NDArray, NDArray]]:
        """For every buffer that is met: which threads, its numbers, and where in them."""
        low = int(at.min())
        base, content = self._buffer(low)
        if int(at.max()) < base + len(content):
            return [(slice(None), *self._view(low, at, dtype))]
        places = np.searchsorted(np.array(self._bases, np.uint64), at, "right")
        met: list[tuple[slice | NDArray, NDArray, NDArray]] = []
        for place in np.unique(places):
            chosen = np.flatnonzero(places == place)
            met.append((chosen, *self._view(int(at[chosen[0]]), at[chosen], dtype)))
        return met

    def _view(self, low: int, at: Addresses, dtype: np.dtype) -> tuple[NDArray, NDArray]:
        base, content = self._buffer(low)
        offset = at.astype(np.int64) - base
        return typed(content, offset, dtype, f"the buffer at {base:#x}")

    def _buffer(self, address: int) -> tuple[int, Bytes]:
        place = bisect_right(self._bases, address) - 1
        if place < 0 or address >= self._bases[place] + len(self._bytes[place]):
            raise PTXError(f"no buffer at {address:#x}")
        return self._bases[place], self._bytes[place]


def typed(content: Bytes, offset: NDArray, dtype: np.dtype, name: str) -> tuple[NDArray, NDArray]:
    """Bytes as numbers, along their last axis, and where in them the offsets point."""
    size = dtype.itemsize
    if (offset % size).any():
        raise PTXError(f"{name}: an address that is no multiple of {size}")
    if offset.min() < 0 or offset.max() + size > content.shape[-1]:
        raise PTXError(
            f"{name}: bytes {offset.min()} to {offset.max() + size} of {content.shape[-1]} are asked for"
        )
    whole = content.shape[-1] // size * size
    return content[..., :whole].view(dtype), offset // size
