"""A compiled rate and its Jacobian as `integrate` wants them: functions of (t, x) on one smooth piece of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from trundle.arrays import FloatArray
from trundle.program import Program, compile_program
from trundle.progress import Progress
from trundle.simulation.feedback import Fill
from trundle.simulation.integrate import RateFunction
from trundle.simulation.signals import Signal


def make_pieces(
    program: Program,
    jacobian: Program | None,
    signals: Sequence[Signal],
    fill: Fill | None,
    parameters: FloatArray,
    bar: Progress,
) -> Callable[[float, float], tuple[RateFunction, RateFunction | None]]:
    """`make(a, b)` -> (f, ∂f/∂x) on the piece [a, b] s, all on the same buffers.

    program: groups (state, input, parameter) to the rate first; jacobian: its ∂rate/∂state, or None where no method
    asks for it: then there is no ∂f/∂x. An input that is held keeps the value it has in the middle of the piece,
    `fill` gives the others, if any. What a jump at b changes belongs to the next piece, so t stays below b.
    """
    x, u = np.zeros(program.inputs[0].size), np.zeros(len(signals))
    outputs = [np.zeros(group.size) for group in program.outputs]
    evaluations: list[tuple[Callable[[], None], np.ndarray]] = [
        (compile_program(program).bind(x, u, parameters, *outputs), outputs[0])
    ]
    if jacobian is not None:
        square = np.zeros((x.size, outputs[0].size))
        evaluations.append((compile_program(jacobian).bind(x, u, parameters, square.reshape(-1)), square))

    def make(a: float, b: float) -> tuple[RateFunction, RateFunction | None]:
        """Rates and their Jacobian over the piece [a, b].

        Held inputs take their value at the middle, where no rounding of the piece's ends matters.
        """
        u[:] = [signal.value((a + b) / 2) if signal.held else 0.0 for signal in signals]
        last = float(np.nextafter(b, a))

        def function(evaluate: Callable[[], None], output: np.ndarray) -> RateFunction:
            def at(t: float, y: np.ndarray) -> np.ndarray:
                x[:] = y
                if fill is not None:
                    fill(t if t < b else last, x, u)
                evaluate()
                bar.at(t)
                return output.copy()

            return at

        rate, *slope = (function(*evaluation) for evaluation in evaluations)
        return rate, slope[0] if slope else None

    return make
