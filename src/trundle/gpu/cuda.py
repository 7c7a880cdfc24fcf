"""NVIDIA's devices by cuda-core: memory, kernels, launches. All that knows the driver is here.

Memory is copied and allocated by the driver's own calls: what cuda-core pools would not count as free.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, SupportsInt

import numpy as np
from numpy.typing import NDArray

from trundle.errors import InputError, NumericsError
from trundle.extras import load
from trundle.gpu import cubins
from trundle.progress import Doing

if TYPE_CHECKING:
    from trundle.gpu.ptx import Ptx

# cuda-core is there only beside a GPU: its devices, kernels and code have no types elsewhere.
CudaObject = Any
BLOCK = 128
"""Threads of a block: whole warps, and few enough that registers of long programs let several blocks run at once."""
_KEPT = 64  # kernels, as programs for this machine are kept
_NAME = re.compile(r"cuda(?::(\d+))?$")
_LOADED: OrderedDict[tuple[str, str], CudaObject] = OrderedDict()
_LOCK = threading.Lock()


@dataclass(frozen=True)
class Cuda:
    """A device that is open in this thread.

    number: its place among the driver's devices; name: what the driver calls it; target: the kind of processor, such
    as "sm_90".
    """

    number: int
    name: str
    target: str
    core: ModuleType
    driver: ModuleType
    device: CudaObject

    def free_memory(self) -> int:
        """Bytes that are free."""
        return int(self._called("cuMemGetInfo")[0])

    def allocate(self, size: int) -> int:
        """The address of so many bytes; NumericsError where they aren't there."""
        return int(self._called("cuMemAlloc", size)[0])

    def free(self, address: int) -> None:
        """Give memory back."""
        self._called("cuMemFree", address)

    def write(self, address: int, values: NDArray[np.generic]) -> None:
        """Copy an array of this machine, without gaps, to an address of the device."""
        if values.nbytes:
            self._called("cuMemcpyHtoD", address, values.ctypes.data, values.nbytes)

    def read(self, values: NDArray[np.generic], address: int) -> None:
        """Fill an array of this machine, without gaps, from an address of the device."""
        if values.nbytes:
            self._called("cuMemcpyDtoH", values.ctypes.data, address, values.nbytes)

    def kernel(self, ptx: Ptx) -> CudaObject:
        """A kernel of this text, ready for launches; the driver's code of it is kept on disk, too."""
        key = (cubins.key(ptx.text, self.target), self.name)
        with _LOCK:
            if key not in _LOADED:
                _LOADED[key] = self._loaded(ptx, key[0])
                if len(_LOADED) > _KEPT:
                    _LOADED.popitem(last=False)
            _LOADED.move_to_end(key)
            code = _LOADED[key]
        with _as_numerics_error("the driver does not take the code that it compiled"):
            return code.get_kernel(ptx.entry)

    def launch(self, kernel: CudaObject, threads: int, table: int, *numbers: int) -> None:
        """Run a kernel by at least so many threads, and wait until it has ended."""
        shape = self.core.LaunchConfig(grid=-(-threads // BLOCK), block=BLOCK)
        stream = self.device.default_stream  # the one that copies are in order with
        with _as_numerics_error("the device failed"):
            self.core.launch(stream, shape, kernel, np.uint64(table), *(np.int64(n) for n in numbers))
            stream.sync()

    def _loaded(self, ptx: Ptx, key: str) -> CudaObject:
        """The driver's code of a text: as it is kept on disk, or compiled now and kept."""
        code = self.core.ObjectCode
        kept = cubins.read(key)
        if kept is not None:
            try:
                found = code.from_cubin(kept)
                found.get_kernel(ptx.entry)
                return found
            except Exception:  # of another driver, or damaged: it is compiled anew
                cubins.forget(key)
        with (
            Doing(True, "compiling for the GPU"),
            _as_numerics_error("the driver does not compile the code"),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # that the driver compiles, as the toolkit's linker isn't there
            given, how = code.from_ptx(ptx.text.encode()), self.core.LinkerOptions(arch=self.target)
            found = self.core.Linker(given, options=how).link("cubin")
        cubins.write(key, bytes(found.code))
        return found

    def _called(self, name: str, *arguments: int) -> tuple[SupportsInt, ...]:
        """A call of the driver's; NumericsError where it fails."""
        error, *results = getattr(self.driver, name)(*arguments)
        if int(error):
            raise NumericsError(f"the device failed: {name} says {getattr(error, 'name', error)}")
        return tuple(results)


def opened(name: str) -> Cuda:
    """The device that "cuda" (the first one) or "cuda:1" means, made current in this thread.

    Raises InputError where there is none: the extra, the driver or the device is missing.
    """
    matched = _NAME.match(name) if isinstance(name, str) else None
    if matched is None:
        hint = '"cpu", "cuda", or "cuda:1" for the second GPU'
        raise InputError(f"there is no device {name!r}", key="device", hint=hint)
    core, driver = _libraries()
    number = int(matched[1] or 0)
    try:
        device = core.Device(number)
        device.set_current()
        ability = device.compute_capability
        return Cuda(number, str(device.name), f"sm_{ability.major}{ability.minor}", core, driver, device)
    except (
        Exception
    ) as error:  # of many kinds: no library of the driver, no device, no such number, a newer driver
        hint = "is NVIDIA's driver installed, and does nvidia-smi show a GPU? device='cpu' needs neither"
        raise InputError(f"no GPU answers as '{name}': {error}", key="device", hint=hint) from error


def _libraries() -> tuple[ModuleType, ModuleType]:
    def part(module: str, distribution: str) -> ModuleType:
        needed = f"GPUs need {distribution}"
        return load(module, needed, extra="cuda", distribution=distribution, key="device")

    return part("cuda.core", "cuda-core"), part("cuda.bindings.driver", "cuda-bindings")


@contextmanager
def _as_numerics_error(what: str) -> Iterator[None]:
    """Errors of cuda-core in our words; it has no root for them."""
    try:
        yield
    except (KeyboardInterrupt, MemoryError, NumericsError):
        raise
    except Exception as error:
        raise NumericsError(f"{what}: {error}") from error
