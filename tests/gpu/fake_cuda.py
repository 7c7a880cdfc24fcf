"""What Trundle asks of cuda-core and of the driver, without a GPU: kernels are interpreted on this machine.

The names, arguments and results are those of cuda-core 1.2 and cuda-bindings 13.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tools.ptx import Machine
from tools.ptx.memory import Memory

_CUBIN = b"\x7fELF of a GPU that is none\0"


class CUresult(IntEnum):
    """Results of the driver's calls."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2


@dataclass
class FakeGpu:
    """A GPU of so many bytes; `calls` counts what it was asked for, `launches` lists threads and steps."""

    total: int = 1 << 30
    devices: int = 1
    memory: Memory = field(default_factory=Memory)
    calls: Counter[str] = field(default_factory=Counter)
    launches: list[tuple[int, ...]] = field(default_factory=list)
    buffers: dict[int, int] = field(default_factory=dict)
    refuses_cubins: bool = False

    def installed(self, patch: pytest.MonkeyPatch) -> FakeGpu:
        """Let it be what `import cuda.core` leads to."""
        modules = {
            name: ModuleType(name) for name in ("cuda", "cuda.core", "cuda.bindings", "cuda.bindings.driver")
        }
        core, driver = modules["cuda.core"], modules["cuda.bindings.driver"]
        vars(core).update(
            Device=self.device, ObjectCode=self._codes(), Linker=self.linker, LinkerOptions=SimpleNamespace,
            LaunchConfig=SimpleNamespace, launch=self.launch,
        )  # fmt: skip
        calls = ("cuMemGetInfo", "cuMemAlloc", "cuMemFree", "cuMemcpyHtoD", "cuMemcpyDtoH")
        vars(driver).update({name: getattr(self, name) for name in calls}, CUresult=CUresult)
        vars(modules["cuda.bindings"])["driver"] = driver
        vars(modules["cuda"]).update(core=core, bindings=modules["cuda.bindings"])
        for name, module in modules.items():
            patch.setitem(__import__("sys").modules, name, module)
        return self

    def device(self, number: int) -> Any:
        """`Device(number)`."""
        if number >= self.devices:
            raise ValueError(f"device_id must be within [0, {self.devices}), got {number}")
        stream = SimpleNamespace(sync=lambda: None)
        return SimpleNamespace(
            name="Interpreter 100", compute_capability=SimpleNamespace(major=9, minor=0), default_stream=stream,
            set_current=lambda: None,
        )  # fmt: skip

    def linker(self, *codes: Any, options: Any) -> Any:
        """`Linker(…).link("cubin")`: the driver compiles."""
        assert options.arch == "sm_90"
        self.calls["compiled"] += 1

        def link(kind: str) -> Any:
            assert kind == "cubin"
            return _Code(self, _CUBIN + codes[0].code)

        return SimpleNamespace(link=link)

    def _codes(self) -> Any:
        def from_cubin(code: bytes) -> Any:
            if self.refuses_cubins or not code.startswith(_CUBIN):
                raise RuntimeError("CUDA_ERROR_INVALID_IMAGE")
            self.calls["from_cubin"] += 1
            return _Code(self, code)

        return SimpleNamespace(from_ptx=lambda code: _Code(self, code), from_cubin=from_cubin)

    def launch(self, stream: Any, config: Any, kernel: Any, *arguments: Any) -> None:
        """`launch(…)`; every argument must have the size that the kernel's parameter has."""
        machine, entry = kernel
        parameters = machine.module.functions[entry].parameters
        for given, parameter in zip(arguments, parameters, strict=True):
            assert isinstance(given, np.generic)
            assert given.nbytes == parameter.bytes
        self.calls["launched"] += 1
        self.launches.append((config.grid * config.block, *(int(a) for a in arguments[3:])))
        machine.launch(entry, config.grid, config.block, arguments)

    def cuMemGetInfo(self) -> tuple[CUresult, int, int]:
        """Free and total bytes."""
        return CUresult.CUDA_SUCCESS, self.total - sum(self.buffers.values()), self.total

    def cuMemAlloc(self, size: int) -> tuple[CUresult, int]:
        """The address of a buffer."""
        if size > self.cuMemGetInfo()[1]:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, 0
        address = self.memory.allocate(size)
        self.buffers[address] = size
        return CUresult.CUDA_SUCCESS, address

    def cuMemFree(self, address: int) -> tuple[CUresult]:
        """Give a buffer back."""
        del self.buffers[address]
        self.memory.free(address)
        return (CUresult.CUDA_SUCCESS,)

    def cuMemcpyHtoD(self, to: int, at: int, size: int) -> tuple[CUresult]:
        """Onto the device."""
        self.memory.bytes(to, size)[:] = np.frombuffer((ctypes.c_char * size).from_address(at), np.uint8)
        return (CUresult.CUDA_SUCCESS,)

    def cuMemcpyDtoH(self, to: int, at: int, size: int) -> tuple[CUresult]:
        """From the device."""
        ctypes.memmove(to, self.memory.bytes(at, size).ctypes.data, size)
        return (CUresult.CUDA_SUCCESS,)


class _Code:
    """`ObjectCode`."""

    def __init__(self, gpu: FakeGpu, code: bytes) -> None:
        self.gpu, self.code = gpu, code

    def get_kernel(self, name: str) -> tuple[Machine, str]:
        """What `launch` takes: an interpreter on the device's memory, and the kernel's name."""
        return Machine(self.code.removeprefix(_CUBIN).decode(), self.gpu.memory), name
