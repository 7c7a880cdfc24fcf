"""Programs and CasADi's expressions: read off them, written as them, differentiated and evaluated by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise, repeat
from typing import TYPE_CHECKING

from trundle.errors import InputError, TrundleError
from trundle.program.ir import ARITY, Group, Program
from trundle.program.simplify import Builder, simplify
from trundle.scalars import SX

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

_RENAMED = {"abs": "FABS", "min": "FMIN", "max": "FMAX"}
"""Operations that CasADi has under a name that isn't ours; its others are OP_ and ours in capital letters."""

Vectors = Mapping[str, tuple[Sequence[str], SX]]


def trace(name: str, inputs: Vectors, outputs: Vectors) -> Program:
    """Read a program off CasADi expressions.

    Parameters
    ----------
    name : str
        What it is called in listings and messages.
    inputs : mapping of str to (labels, SX)
        By group a column of symbols, one a label.
    outputs : mapping of str to (labels, SX)
        By group a column of expressions of those symbols.

    Returns
    -------
    Program

    Raises
    ------
    InputError
        Labels and column differ in length, an input is no symbol, a symbol is not declared.
    TrundleError
        The expressions hold an operation that no kernel has.

    Examples
    --------
    >>> import casadi
    >>> from trundle.program import trace
    >>> x = casadi.SX.sym("x")
    >>> trace("square", {"state": (("x",), x)}, {"square": (("x^2",), x**2)})([3.0]).tolist()
    [9.0]
    """
    import casadi as ca

    groups_in = tuple(_group(k, labels, column) for k, (labels, column) in inputs.items())
    groups_out = tuple(_group(k, labels, column) for k, (labels, column) in outputs.items())
    symbols = [ca.SX(column) for _, column in inputs.values()]
    if not all(column.is_valid_input() for column in symbols):
        raise InputError(
            f"program '{name}': every input must be a column of plain symbols, not of expressions"
        )
    columns = [ca.densify(ca.SX(column)) for _, column in outputs.values()]
    # elimination over all outputs at once, so that groups share what they have in common
    joined = ca.cse(ca.vertcat(*columns)) if columns else ca.SX(0, 1)
    free = ca.symvar(ca.veccat(joined))
    declared = {s.name() for s in ca.symvar(ca.veccat(*symbols))}
    missing = sorted({s.name() for s in free} - declared)
    if missing:
        raise InputError(
            f"program '{name}' uses the symbols {', '.join(missing)}, which are in none of its inputs"
        )
    parts = [joined[a:b] for a, b in pairwise(_ends(column.numel() for column in columns))]
    function = ca.Function("program", symbols, parts)
    return simplify(_read(name, groups_in, groups_out, function))


def _group(name: str, labels: Sequence[str], column: SX) -> Group:
    """A group of a column of symbols or expressions; InputError where labels and column don't fit."""
    if isinstance(labels, str):
        raise InputError(f"group '{name}': labels must be a sequence of names, got the text {labels!r}")
    group = Group(name, tuple(labels))
    if column.numel() != group.size or (group.size and column.shape[1] != 1):
        raise InputError(
            f"group '{name}' has {group.size} labels but a matrix of shape {column.shape}; expected a column"
        )
    if len(set(group.labels)) != group.size:
        twice = sorted({label for label in group.labels if group.labels.count(label) > 1})
        raise InputError(f"group '{name}' uses the labels {', '.join(twice)} more than once")
    return group


def _read(name: str, inputs: tuple[Group, ...], outputs: tuple[Group, ...], function: SX) -> Program:
    """Walk CasADi's instruction list, which reuses work slots, and give every result its own number."""
    import casadi as ca

    known = {getattr(ca, f"OP_{_RENAMED.get(op, op.upper())}", None): op for op in ARITY}
    known[ca.OP_CONSTPOW] = "pow"
    builder = Builder()
    slots: dict[int, int] = {}
    results: list[list[int]] = [[-1] * g.size for g in outputs]
    for k in range(function.n_instructions()):
        op = function.instruction_id(k)
        if op == ca.OP_CONST:
            slots[function.instruction_output(k)[0]] = builder.const(function.instruction_constant(k))
        elif op == ca.OP_INPUT:
            group, element = function.instruction_input(k)
            slots[function.instruction_output(k)[0]] = builder.load(group, element)
        elif op == ca.OP_OUTPUT:
            group, element = function.instruction_output(k)
            results[group][element] = slots[function.instruction_input(k)[0]]
        elif op in (ca.OP_ASSIGN, ca.OP_LIFT):
            slots[function.instruction_output(k)[0]] = slots[function.instruction_input(k)[0]]
        elif op in known:
            args = [slots[s] for s in function.instruction_input(k)]
            args = args[: ARITY[known[op]]]  # CasADi lists two for those of one, too
            slots[function.instruction_output(k)[0]] = builder.emit(known[op], *args)
        else:
            raise TrundleError(
                f"program '{name}' uses CasADi's {_casadi_name(op)}, which kernels do not have"
            )
    values = tuple(tuple(group) for group in results)
    return Program(name, inputs, outputs, tuple(builder.instructions), values, function)


def _casadi_name(op: int) -> str:
    import casadi as ca

    return next((n for n in dir(ca) if n.startswith("OP_") and getattr(ca, n) == op), f"operation {op}")


def differentiated(program: Program, of: str, wrt: Sequence[str], *, shown: bool) -> Program:
    """The dense Jacobians of output group ``of`` by the input groups ``wrt``, by CasADi's automatic differentiation.

    The inputs stay. An output "d of/d wrt" has n_of * n_wrt values in row-major order: element i * n_wrt + j is the
    derivative of ``of[i]`` by ``wrt[j]`` and has the label "d of_i/d wrt_j". With `shown` ``of`` itself comes first.
    """
    import casadi as ca

    place = program.output_index(of)
    symbols = [ca.SX.sym(g.name, g.size) for g in program.inputs]
    value, rows = program.casadi_function.call(symbols)[place], program.outputs[place].labels
    outputs: dict[str, tuple[Sequence[str], SX]] = {of: (rows, value)} if shown else {}
    for group in wrt:
        at = program.input_index(group)
        labels = [f"d {a}/d {b}" for a in rows for b in program.inputs[at].labels]
        matrix = ca.densify(ca.jacobian(value, symbols[at]))
        outputs[f"d {of}/d {group}"] = (labels, ca.vec(matrix.T))
    name = f"{program.name}_{'slopes' if shown else 'jacobian'}"
    return trace(name, {g.name: (g.labels, s) for g, s in zip(program.inputs, symbols, strict=True)}, outputs)


def along(program: Program, places: Sequence[int]) -> Program:
    """How the outputs change along changes of input groups: Σ ∂output/∂group · change, at three times the cost.

    Parameters
    ----------
    program : Program
        What is differentiated.
    places : sequence of int
        Input groups; behind the program's own the result has their changes as inputs.

    Returns
    -------
    Program
        The outputs' changes, linear in the groups that were added.

    Examples
    --------
    >>> from trundle.program import Tracer
    >>> from trundle.program.trace import along
    >>> tracer = Tracer("state")
    >>> (x,) = tracer.inputs("state", 1)
    >>> square = tracer.program("square", {"state": ("x",)}, {"out": (("y",), [x * x])})
    >>> slope = along(square, [0])
    >>> [float(y) for y in slope([3.0], [0.5])]  # 2 x of the change
    [3.0]

    References
    ----------
    Griewank & Walther 2008, ch. 3.2, forward mode.
    """
    return _swept(program, places, program.inputs, adjoint=False)


def against(program: Program, places: Sequence[int]) -> Program:
    """The transposed of a program in input groups in which it is linear: (∂output/∂group)ᵀ weight of the output.

    Parameters
    ----------
    program : Program
        What `along` made, say.
    places : sequence of int
        The groups.

    Returns
    -------
    Program
        Inputs: the program's other groups, then a weight of every output; outputs: one a group of `places`.

    Examples
    --------
    >>> from trundle.program import Tracer
    >>> from trundle.program.trace import against, along
    >>> tracer = Tracer("state")
    >>> x, y = tracer.inputs("state", 2)
    >>> product = tracer.program("product", {"state": ("x", "y")}, {"out": (("z",), [x * y])})
    >>> gradient = against(along(product, [0]), [1])  # in the change, which comes behind the state
    >>> [float(each) for each in gradient([2.0, 5.0], [1.0])]
    [5.0, 2.0]

    References
    ----------
    Griewank & Walther 2008, ch. 3.3, reverse mode.
    """
    others = [group for k, group in enumerate(program.inputs) if k not in places]
    return _swept(program, places, others, adjoint=True)


def _swept(program: Program, places: Sequence[int], read: Sequence[Group], *, adjoint: bool) -> Program:
    """∂output/∂(groups at `places`) times seeds, or transposed; inputs: the groups `read`, then the seeds."""
    import casadi as ca

    symbols = {group.name: ca.SX.sym(group.name, group.size) for group in program.inputs}
    values = to_casadi(program, at_rest=True).call([*symbols.values()])
    at = [program.inputs[k] for k in places]
    given, swept = (program.outputs, at) if adjoint else (at, program.outputs)
    names: list[str] = []
    for group in given:
        fresh = (f"{mark}{group.name}" for mark in accumulate(repeat("d ")))
        names.append(next(name for name in fresh if name not in (*symbols, *names)))
    seeds = [ca.SX.sym(name, group.size) for name, group in zip(names, given, strict=True)]
    base = ca.vertcat(*(symbols[group.name] for group in at))
    column = ca.jtimes(ca.vertcat(*values), base, ca.vertcat(*seeds), adjoint)
    parts = ca.vertsplit(column, _ends(group.size for group in swept))
    inputs = {group.name: (group.labels, symbols[group.name]) for group in read}
    inputs |= {name: (g.labels, s) for name, g, s in zip(names, given, seeds, strict=True)}
    results = {group.name: (group.labels, part) for group, part in zip(swept, parts, strict=True)}
    return trace(f"{program.name}_{'against' if adjoint else 'along'}", inputs, results)


def _ends(sizes: Iterable[int]) -> list[int]:
    """Where parts of a column begin and end."""
    return list(accumulate(sizes, initial=0))


def to_casadi(program: Program, *, at_rest: bool = False) -> SX:
    """A CasADi function of the program's instructions, an SX operation for an instruction.

    With `at_rest` roots of 0, and angles of (0, 0), have the slope 0, where by the rules it is 0/0: one of the slopes
    that a length has where it vanishes, and the one of wheels that are held as they stand.
    """
    import casadi as ca

    symbols = [ca.SX.sym(g.name, g.size) for g in program.inputs]
    values: list[SX] = []
    for op, _, args, value, (group, element), table in program.instructions:
        if op == "const":
            values.append(ca.SX(value))
        elif op == "input":
            values.append(symbols[group][element])
        elif table is not None:
            raise TrundleError(
                f"'{program.name}' looks up {table}, which CasADi's expressions can't hold: "
                "its derivatives are those of trundle.program.tangents"
            )
        else:
            given = [values[a] for a in args]
            values.append(
                _with_slope_at_rest(op, given) if at_rest and op in _KINKS else _expression(op, given)
            )
    outputs = [ca.vertcat(*(values[v] for v in group)) for group in program.results]
    return ca.Function("program", symbols, outputs)


def _expression(op: str, args: list[SX]) -> SX:
    import casadi as ca

    if op == "if_else_zero":
        return ca.if_else(args[0], args[1], 0)
    return _FORMULAS[op](*args) if op in _FORMULAS else getattr(ca, _NAMES.get(op, op))(*args)


_KINKS = frozenset({"sqrt", "hypot", "atan2"})


def _with_slope_at_rest(op: str, args: list[SX]) -> SX:
    """The operation, of ones in place of zeros where all operands are 0: there it is a constant 0."""
    import casadi as ca

    moves = (
        ca.logic_not(args[0] == 0)
        if len(args) == 1
        else ca.logic_not(ca.logic_and(args[0] == 0, args[1] == 0))
    )
    return ca.if_else(moves, _expression(op, [ca.if_else(moves, value, 1) for value in args]), 0)


_NAMES = {
    "abs": "fabs", "min": "fmin", "max": "fmax", "not": "logic_not", "and": "logic_and", "or": "logic_or",
    "add": "plus", "sub": "minus", "mul": "times", "div": "rdivide", "pow": "power", "select": "if_else",
}  # fmt: skip
_FORMULAS: dict[str, Callable[..., SX]] = {
    "neg": lambda x: -x,
    "sq": lambda x: x * x,
    "twice": lambda x: 2 * x,
    "inv": lambda x: 1 / x,
}


def evaluate(program: Program, groups: Sequence[ArrayLike]) -> tuple[np.ndarray, ...]:
    """Evaluate with CasADi; groups are (n,) or (n, count), the results alike."""
    import casadi as ca
    import numpy as np

    arrays = [np.asarray(g, dtype=float) for g in groups]
    # a column a lane, single ones for all
    columns = program.casadi_function.call([ca.DM(a) for a in arrays])
    batch = any(a.ndim == 2 for a in arrays)
    outputs = (np.array(column, dtype=float) for column in columns)
    return tuple(output if batch else output.reshape(-1) for output in outputs)
