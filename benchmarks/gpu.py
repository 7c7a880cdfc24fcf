"""Rollouts of the differential drive on a GPU: steps per second, and what share of the device's peak they are."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import numpy as np

from benchmarks.drive import VOLTAGES, diff_drive
from benchmarks.measure import Row, rate_text
from trundle.choices import PRECISIONS, Precision

DT, CORES = 1e-3, 16
TARGETS = {"double": 1e10, "single": 3e10}
# Operations (fused ones count once) that a multiprocessor begins in a cycle, by compute capability: NVIDIA's
# programming guide, "Arithmetic Instructions".
_UNITS = {
    "double": {70: 32, 75: 2, 80: 32, 86: 2, 89: 2, 90: 64, 100: 64, 120: 2},
    "single": {70: 64, 75: 64, 80: 64, 86: 128, 89: 128, 90: 128, 100: 128, 120: 128},
}
_H100 = 132 * 1.98e9  # multiprocessors times cycles a second
_COUNTED = ("add", "sub", "mul", "fma", "div", "rcp", "sqrt", "min", "max", "setp")


def steps_on_a_gpu(quick: bool) -> list[Row]:
    """Steps per second in double and in single precision, beside 16 of this machine's cores."""
    model = diff_drive()
    return [_row(model, precision, quick) for precision in PRECISIONS]


def _row(model: Any, precision: Precision, quick: bool) -> Row:
    name, target = f"RK4 steps per second on a GPU, {precision}", TARGETS[precision]
    a_step = operations_a_step(model, precision)
    bound = _H100 * _UNITS[precision][90] / a_step
    note = f"{a_step} operations a step; an H100 has units for {rate_text(bound, 'steps')}"
    device = _device()
    if device is None:
        return Row(name, "no GPU here", target=f"≥ {target:.0e} on an H100", note=note)
    rate = _rate(model, quick, name="cuda", precision=precision)
    cpu = _rate(model, True) * CORES / _cores()
    note += f"; {rate * a_step / _peak(device, precision):.0%} of the peak of {device.name}"
    met = rate >= target if "H100" in device.name else None
    here, there = rate_text(rate, "steps"), f"{rate_text(cpu, 'steps')}, {CORES} cores"
    return Row(name, here, there, rate / cpu, f"≥ {target:.0e} on an H100", met, note)


def operations_a_step(model: Any, precision: Precision) -> int:
    """Arithmetic of that precision which a thread executes in a step; a quotient or root counts as one."""
    one, two = (_executed(model, precision, steps) for steps in (1, 2))
    kind = "f64" if precision == "double" else "f32"
    return sum((two - one)[f"{op}.{kind}"] for op in _COUNTED)


def _executed(model: Any, precision: Precision, steps: int) -> Counter[str]:
    """What a thread executes in so many steps, by the interpreter of PTX."""
    from tools.ptx import Machine
    from trundle.gpu.ptx import TARGET
    from trundle.gpu.rolling import kernel_of
    from trundle.program.rollout import NEVER, RolloutRequest, bits_of

    start, groups = _given(model)
    request = RolloutRequest.of(
        model.dynamics, start, groups, dt=DT, steps=steps, every=None, count=None, state="state", rate="rate",
        projection=None,
    )  # fmt: skip
    ptx = kernel_of(request, precision, TARGET)
    machine = Machine(ptx.text)

    def put(values: Any, dtype: Any) -> int:
        array = np.array(values, dtype=dtype).reshape(-1)
        address = machine.memory.allocate(array.nbytes)
        machine.memory.bytes(address, array.nbytes)[:] = array.view(np.uint8)
        return address

    words = [put(start, ptx.dtype), 0, 1, 1, NEVER, bits_of(DT)]
    for channel in request.channels.values():
        words += [put(channel.data, ptx.dtype), 0]
    machine.launch(ptx.entry, 1, 1, [put(words, np.int64), 0, 1, 0, steps])
    return machine.executed


def _rate(model: Any, quick: bool, **where: Any) -> float:
    """Steps per second, the time of a rollout half as long taken off: copies and compilation are no steps."""
    from trundle.gpu.devices import Device
    from trundle.program.rollout import rollout

    device = Device(**where)
    count, steps = (1 << 14, 1000) if device.is_cpu else (1 << 20, 1000 if quick else 10_000)
    start, groups = _given(model)

    def seconds(steps: int) -> float:
        began = time.perf_counter()
        how = {"dt": DT, "steps": steps, "every": None, "count": count}
        rollout(model.dynamics, start, groups, **how, run=device.run)
        return time.perf_counter() - began

    seconds(steps)
    both = [(seconds(steps), seconds(2 * steps)) for _ in range(3 if quick else 5)]
    half, whole = (min(times) for times in zip(*both, strict=True))
    return count * steps / (whole - half)


def _given(model: Any) -> tuple[np.ndarray, dict[str, dict[str, float]]]:
    """Where all robots start, and their inputs and parameters."""
    start = np.array([model.initial[name] for name in model.states])
    inputs = {name: VOLTAGES.get(name, 0.0) for name in model.inputs}
    return start, {"input": inputs, "parameter": dict(model.parameters)}


def _device() -> Any:
    from trundle.errors import InputError
    from trundle.gpu.cuda import opened

    try:
        return opened("cuda")
    except InputError:
        return None


def _peak(device: Any, precision: Precision) -> float:
    """Operations a second that the device's units do; a capability that is newer counts as the last one known."""
    own = int(device.target.removeprefix("sm_"))
    units = _UNITS[precision]
    known = max((each for each in units if each <= own), default=min(units))
    properties = device.device.properties
    return properties.multiprocessor_count * properties.clock_rate * 1e3 * units[known]


def _cores() -> int:
    from trundle.program.rows import available_cores

    return available_cores()
