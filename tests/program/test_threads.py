"""Machine code that several threads ask for at once."""

import threading

import numpy as np

from trundle.program import Tracer, compile_program
from trundle.program.llvm import jit


def test_code_made_twice_at_once_stays(monkeypatch):
    """Two threads that miss make it both; the first one's address may be in use when the second is done."""
    tracer = Tracer("state")
    (x,) = tracer.inputs("state", 1)
    program = tracer.program("square", {"state": ("x",)}, {"square": (("x²",), [x * x + 0.625])})
    both, assemble, made = threading.Barrier(2), jit.assemble, []

    def at_once(*given, **how):
        both.wait(30)  # nobody is done before both have begun
        made.append(assemble(*given, **how))
        return made[-1]

    monkeypatch.setattr("trundle.program.kernel.assemble", at_once)
    numbers = np.linspace(-1, 1, 64)[None]
    found: list[np.ndarray] = []
    threads = [
        threading.Thread(target=lambda: found.append(compile_program(program)(numbers)[0])) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 2
    assert (
        len(
            {compiled.address for compiled in jit.machine_code(program.key).values()}
            & {m.address for m in made}
        )
        == 1
    )
    assert all(np.allclose(values, numbers**2 + 0.625, rtol=1e-15) for values in found)
