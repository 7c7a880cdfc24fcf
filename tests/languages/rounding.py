"""What rounding may do to a program's outputs, to first order: the bound that other languages are held to where terms
cancel, and single precision everywhere (Higham 2002, ch. 3; the running error analysis of Wilkinson 1963).
"""

from dataclasses import replace

import numpy as np

from trundle.program import Group
from trundle.program.ir import LOADS

DOUBLE, SINGLE = 2.0**-53, 2.0**-24  # half a unit in the last place of a number near one

_SLOPES = {
    **dict.fromkeys(("add", "sub"), lambda a, b, y: (1, 1)),
    "mul": lambda a, b, y: (b, a),
    "div": lambda a, b, y: (1 / b, y / b),
    **dict.fromkeys(("neg", "abs", "copysign"), lambda a, *_: (1, 0)),
    "sq": lambda a, y: (2 * a,),
    "twice": lambda a, y: (2,),
    "inv": lambda a, y: (y * y,),
    "sqrt": lambda a, y: (0.5 / np.where(y > 0, y, np.inf),),
    "hypot": lambda a, b, y: (a / y, b / y),
    "exp": lambda a, y: (y,),
    "expm1": lambda a, y: (y + 1,),
    "log": lambda a, y: (1 / a,),
    "log1p": lambda a, y: (1 / (1 + a),),
    "pow": lambda a, b, y: (b * a ** (b - 1), y * np.log(a)),
    "sin": lambda a, y: (np.cos(a),),
    "cos": lambda a, y: (np.sin(a),),
    "tan": lambda a, y: (1 + y * y,),
    "asin": lambda a, y: (1 / np.cos(y),),
    "acos": lambda a, y: (1 / np.sin(y),),
    "atan": lambda a, y: (1 / (1 + a * a),),
    "atan2": lambda a, b, y: (b / (a * a + b * b), a / (a * a + b * b)),
    "sinh": lambda a, y: (np.cosh(a),),
    "cosh": lambda a, y: (np.sinh(a),),
    "tanh": lambda a, y: (1 - y * y,),
    "min": lambda a, b, y: (a <= b, b <= a),
    "max": lambda a, b, y: (a >= b, b >= a),
    "select": lambda c, a, b, y: (0, c != 0, c == 0),
    "if_else_zero": lambda c, a, y: (0, c != 0),
    **dict.fromkeys(("lt", "le", "eq", "ne", "and", "or", "not", "sign", "floor", "ceil"), lambda *_: (0, 0)),
}


def rounding(program, given, unit=DOUBLE):
    """First-order bounds of what rounding each operation by one `unit` does to the outputs, an array a group:
    e(y) = Σ |∂y/∂a| e(a) + |y| of each operation a → y, times the unit.

    Inputs are exact, so give a program in single precision what floats can hold; so are constants in double precision,
    in single they are rounded like everything else.
    """
    every = replace(
        program,
        outputs=(Group("all", tuple(map(str, range(len(program.instructions))))),),
        results=(tuple(range(len(program.instructions))),),
        function=None,
    )
    values = every.evaluate(*given)[0]
    bounds = []
    for op, out, args, number, *_ in program.instructions:
        if op in LOADS:
            exact = op == "input" or unit == DOUBLE or float(np.float32(number)) == number
            bounds.append(np.full(values.shape[1], 0.0 if exact else abs(number)))
            continue
        slopes = _SLOPES[op](*(values[a] for a in args), values[out])
        felt = sum(np.abs(slope) * bounds[a] for slope, a in zip(slopes, args, strict=False))
        if op == "sq":  # its curvature, too: the root of a sum of squares that are zero feels nothing else
            felt = felt + unit * bounds[args[0]] ** 2
        if op == "sqrt":  # no more than the root of an error, whatever the slope
            rest = np.sqrt(bounds[args[0]] / unit)
            felt = np.where(values[out] > 0, np.minimum(felt, rest), rest)
        if op in (
            "min",
            "max",
        ):  # where rounding may turn the choice, either operand's error may come through
            (a, b), (x, y) = (values[a] for a in args), (bounds[a] for a in args)
            felt = np.where(np.abs(a - b) <= 8 * unit * (x + y), np.maximum(x, y), felt)
        bounds.append(felt + np.abs(values[out]))
    return [
        unit * np.array([bounds[v] for v in group]).reshape(len(group), values.shape[1])
        for group in program.results
    ]


def off(program, given, got, expected, unit=DOUBLE):
    """The largest difference of an output group, in parts of what may be: 1e-12 of the group's largest number (in
    double precision), or eight times what rounding may make where terms cancel, if that is more.
    """
    share = 1e-12 if unit == DOUBLE else 0.0
    allowed = np.maximum(share * np.abs(expected).max(axis=0), 8 * rounding(program, given, unit)[0])
    return float(np.max(np.abs(got - expected) / np.where(allowed > 0, allowed, 1e-300)))
