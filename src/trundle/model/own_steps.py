"""Plants that users write as steps, in scalars: traced once, so that runs, rollouts and sweeps take them as any other.

The path of the data: a function of named scalars is traced; of a balance e(x⁺) = 0 the rounds of Newton's method
z ← z − (∂e/∂z)⁻¹ e are what native code repeats, of a map the step is one program. A controller's law is put into the
balance, e(x⁺, x, k(x⁺, x_c⁺)) = 0, x_c⁺ = x_c + h g(x⁺, x_c⁺), or into the map, F(x, k(x, x_c)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.errors import InputError, TrundleError, require_known
from trundle.expected import check_float, check_type
from trundle.mechanics.linear import solve_general
from trundle.mechanics.quantities import TIME, Quantities, Quantity, QuantityKind
from trundle.model.arguments import named, number
from trundle.model.closed_loop import ClosedLoop, ScalarGroups, controllers_alone
from trundle.model.manifold import changed_numbers
from trundle.model.placed import Placed
from trundle.model.plant import STEP, Plant, Steps
from trundle.model.symbols import INPUT, PARAMETER, STATE
from trundle.program import Program, Tracer, compile_program
from trundle.program.llvm.llvm_rollout import ITERATE
from trundle.program.simplify import only_output
from trundle.program.tangents import jacobian, replaced
from trundle.program.tracer import scalars_by_name, traced
from trundle.robot.controllers import Controller
from trundle.scalars import Scalar, absolute, less, times, where

ScalarMap = Mapping[str, Scalar]
# What may be left of a row of a balance beside its terms and what it is where the step begins: rounding, some 500 ulp.
_LEFT = 1e-13
# So much is left of a row without any (SI): rounding of what is 0.
_TINY = 1e-24
# An error that is at most this was at most 1 but for the rounding of another code.
_SOLVED = 10.0
# The least share of a change that is taken, and the error before there is one.
_LEAST, _UNKNOWN = 0.01, 1e300
# Symbols that are replaced before the program is done stand behind all that a search has.
_SYMBOLS = 10_000


@dataclass(frozen=True, kw_only=True, repr=False)
class StepPlant(Plant):
    """A plant by steps of its own; all of its states are `coordinates`, those of controllers `currents`.

    law: (state, input, parameter, step[, iterate]) -> what must be zero where a step ends if it is `implicit`, else the
    state there.
    """

    law: Program
    length: float
    implicit: bool
    open_plant: StepPlant | None = None

    @cached_property
    def motion(self) -> Steps:
        """x⁺ = F(x, u, p, h)."""
        kind = "implicit steps" if self.implicit else "steps"
        step = newton_program(self.law) if self.implicit else self.law
        about = {}
        if (
            self.loop is not None
            and not self.implicit
            and any(not each.period for each in self.loop.controllers.values())
        ):
            about = {"controllers": "act where a step begins, as the plant gives a map and no balance"}
        return Steps(step, self.length, f"{kind} of {{:g}} s", about, "what its function says", self.implicit)

    def explain(self, states: FloatArray, outputs: FloatArray) -> str:
        """What a balance may lack."""
        return ": the balance may have no root there, or slopes of 0" if self.implicit else ""

    def unsolved_steps(self, passed: FloatArray, inputs: FloatArray, numbers: FloatArray, step: float) -> int:
        """At how many steps the balance isn't zero, which Newton's method didn't solve then."""
        if not self.implicit:
            return 0
        before, after = np.ascontiguousarray(passed[:, :-1]), passed[:, 1:].copy()
        sampled = {name.partition(".")[0] for name in self.clocks}  # these moved after the step
        rows = [row for row, name in enumerate(self.states) if name.partition(".")[0] in sampled]
        after[rows] = before[rows]
        program = self._left_over
        sought = np.zeros((program.inputs[-1].size, after.shape[1]))
        sought[: len(after)] = after
        given = (before, np.ascontiguousarray(inputs), numbers, np.array([step]), sought)
        (error,) = compile_program(program)(*given, often=False)
        return int((~(error <= _SOLVED)).sum())

    @cached_property
    def _left_over(self) -> Program:
        """The error of the balance by what is tried."""
        return only_output(self.motion.step, "error")

    def closed(self, controllers: Mapping[str, Controller | Mapping[str, object]]) -> StepPlant:
        """The law is put into the balance, where a step ends, or into the map, where it begins."""
        description = controllers_alone(self, controllers)
        return _ClosedSteps(self.open_plant or self, description).plant_closed()

    @property
    def start_is_searched(self) -> bool:
        """Starts are as they are given."""
        return False

    def parameter_values(self, changes: Mapping[str, float | str] | None = None) -> dict[str, float]:
        """The parameters in order, some of them changed."""
        return changed_numbers(self, named(changes, "parameters"), 0, 0)

    def start(
        self, given: Mapping[str, Floats], parameters: Mapping[str, Floats], count: int = 1, *,
        lost: np.ndarray | None = None, often: bool | None = None,
    ) -> FloatArray:  # fmt: skip
        """As given, and 0."""
        x = {name: given.get(name, value) for name, value in self.initial.items()}
        return np.array([np.broadcast_to(value, (count,)) for value in x.values()], dtype=np.float64)


def from_steps(
    *,
    states: Mapping[str, str],
    step: Callable[[ScalarMap, ScalarMap, ScalarMap, Scalar], ScalarMap] | None = None,
    balance: Callable[[ScalarMap, ScalarMap, ScalarMap, ScalarMap, Scalar], ScalarMap] | None = None,
    inputs: Mapping[str, str] | None = None,
    parameters: Mapping[str, float] | None = None,
    outputs: Callable[[ScalarMap, ScalarMap, ScalarMap], ScalarMap] | None = None,
    units: Mapping[str, str] | None = None,
    name: str = "plant",
    length: float | str = 0.01,
) -> Plant:
    """A plant of your own that goes by steps: x⁺ = F(x, u, p, h), or e(x⁺, x, u, p, h) = 0.

    `simulate`, `rollout` and `sweep` take it. The functions are traced once, in scalars: they take arithmetic and the
    functions of `trundle.scalars`, and no `if` on a value (`where(less(a, b), …, …)` does that). A balance is solved by
    Newton's method z ← z − s (∂e/∂z)⁻¹ e from z = x until each row is at most 1e-13 of its terms; s is halved where
    the error grows. A run counts the steps that it didn't solve.

    Parameters
    ----------
    states : mapping of str to str
        Names and units of x, in order.
    step : function, optional
        F(x, u, p, h) gives every state where the step ends; x, u, p are mappings of scalars, h is its length (s).
    balance : function, optional
        e(after, x, u, p, h) gives for every state what must be 0 where the step ends, as a mapping by the states.
        The row of a state should hang on that state most: rows aren't interchanged.
    inputs : mapping of str to str, optional
        Names and units of u, which are held over a step.
    parameters : mapping of str to float, optional
        Names and numbers of p (SI).
    outputs : function, optional
        y(x, u, p), a mapping of scalars where a step begins.
    units : mapping of str to str, optional
        Of outputs.
    name : str
        What messages and figures call it.
    length : float or str, s
        Of a step, where nobody says another.

    Returns
    -------
    Plant

    Raises
    ------
    InputError
        Neither or both of step and balance are given; a function can't be traced, or lacks a state.

    Examples
    --------
    >>> import trundle
    >>> def balance(after, x, u, p, h):
    ...     return {"v": p["m"] * (after["v"] - x["v"]) / h - u["force"] + p["drag"] * after["v"]}
    >>> cart = trundle.from_steps(
    ...     balance=balance, states={"v": "m/s"}, inputs={"force": "N"}, parameters={"m": 2.0, "drag": 4.0}
    ... )
    >>> run = trundle.simulate(cart, 5.0, {"force": 8.0}, step=0.1)
    >>> round(float(run["v"][-1]), 4)
    1.9998

    References
    ----------
    E. Hairer and G. Wanner, "Solving Ordinary Differential Equations II", IV.8: simplified Newton iterations.
    """
    if (step is None) == (balance is None):
        raise InputError(
            "give either step or balance", key="step", hint="balance is solved at the step's end"
        )
    own, given = dict(named(states, "states")), dict(named(inputs, "inputs"))
    if not own:
        raise InputError("a plant has one state at least", key="states", hint='{"v": "m/s"}, say')
    numbers = {key: number(value, key) for key, value in named(parameters, "parameters").items()}
    labels = {STATE: tuple(own), INPUT: tuple(given), PARAMETER: tuple(numbers), STEP: ("dt",)}
    observe = _observe(labels, outputs, name)
    shown = dict(named(units, "units"))
    made = {each: shown.get(each, "") for each in observe.outputs[0].labels}
    law = _map_program(labels, step, name) if step is not None else _balance_program(labels, balance, name)
    _require_apart({"state": own, "input": given, "parameter": numbers, "output": made})
    kinds: Mapping[QuantityKind, Mapping[str, str]] = {"coordinate": own, "command": given, "other": made}
    known = (Quantity(each, u, kind) for kind, group in kinds.items() for each, u in group.items())
    plant = StepPlant(
        name=check_type(name, str, "name"), coordinates=tuple(own), inputs=tuple(given), outputs=tuple(made),
        parameters=numbers, robot=None, quantities=Quantities.gather((TIME,), known), observe=observe, law=law,
        length=check_float(number(length, "length", "s"), "length", above=0.0), implicit=step is None,
    )  # fmt: skip
    _ = plant.motion  # what can't be solved is refused here
    return plant


def _require_apart(groups: Mapping[str, Iterable[str]]) -> None:
    """Raise InputError where one name stands for two things."""
    seen = dict[str, str]()
    for group, names in groups.items():
        for name in names:
            if name in seen:
                message = f"{name!r} stands for two things, the {seen[name]} and the {group}"
                raise InputError(message, key=f"{group}s", hint="give one of them another name")
            seen[name] = group


def _trace_call(what: str, function: Callable[..., ScalarMap], *given: object) -> ScalarMap:
    """What a user's function gives; InputError where it can't be traced."""
    try:
        return named(function(*given), what)
    except (TypeError, ValueError, KeyError, TrundleError) as error:
        if isinstance(error, InputError):
            raise
        why = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        hint = "write where(less(a, b), x, y) for an if, and sin, sqrt and the like of trundle.scalars"
        if isinstance(error, KeyError):
            hint = f"known: {', '.join(name for each in given if isinstance(each, Mapping) for name in each)}"
        raise InputError(f"{what} can't be traced: {why}", key=what, hint=hint) from error


def _by_state(what: str, states: Sequence[str], found: ScalarMap) -> list[Scalar]:
    """What a function gives for every state, in their order; InputError where it lacks one or has others."""
    for name in states:
        require_known(name, found, f"{what} gives nothing for the state {name!r}", key=what)
    for name in found:
        require_known(name, states, f"{what} gives {name!r}, which is no state", key=what)
    return [found[name] for name in states]


def _observe(
    labels: Mapping[str, Sequence[str]], outputs: Callable[..., ScalarMap] | None, name: str
) -> Program:
    tracer, given = scalars_by_name(labels)
    values = dict[str, Scalar]()
    if outputs is not None:
        values |= _trace_call("outputs", outputs, *(given[group] for group in (STATE, INPUT, PARAMETER)))
    return tracer.program(name, labels, {"output": (tuple(values), list(values.values()))})


def _map_program(labels: Mapping[str, Sequence[str]], step: Callable[..., ScalarMap], name: str) -> Program:
    """The program of a map."""
    tracer, given = scalars_by_name(labels)
    x, u, p, h = given[STATE], given[INPUT], given[PARAMETER], given[STEP]["dt"]
    after = _by_state("step", labels[STATE], _trace_call("step", step, x, u, p, h))
    return tracer.program(name, labels, {STATE: (labels[STATE], after)})


def _balance_program(
    labels: Mapping[str, Sequence[str]], balance: Callable[..., ScalarMap] | None, name: str
) -> Program:
    """The program of what must be zero where a step ends."""
    assert balance is not None
    states = labels[STATE]
    whole = {**labels, ITERATE: states}
    tracer, given = scalars_by_name(whole)
    x, u, p, h = given[STATE], given[INPUT], given[PARAMETER], given[STEP]["dt"]
    left = _by_state("balance", states, _trace_call("balance", balance, given[ITERATE], x, u, p, h))
    return tracer.program(name, whole, {"left": (states, left)})


def newton_program(law: Program) -> Program:
    """The step of a balance: the state that is sought, where the search starts, its error, and its next round.

    A round goes on from z + s d, d = −(∂e/∂z)⁻¹ e, where the error has fallen or the share s is least. Else it halves
    s.
    """
    labels = {group.name: group.labels for group in law.inputs}
    states = labels[STATE]
    n, searched = len(states), (*states, *(f"{name} change" for name in states), "share", "error before")
    labels[ITERATE] = searched
    tracer = Tracer(*labels)
    nodes = {group: tracer.inputs(group, len(names)) for group, names in labels.items()}
    symbols = tracer.inputs(ITERATE, n, _SYMBOLS)
    (rest,) = traced(law, {**nodes, ITERATE: symbols}).values()
    tried, change, (share, before) = nodes[ITERATE][:n], nodes[ITERATE][n : 2 * n], nodes[ITERATE][2 * n :]
    begun = nodes[STATE]
    here, slopes = (
        [replaced(row, symbols, tried) for row in rows] for rows in ([rest], jacobian(rest, symbols))
    )
    error = _error(here[0], slopes, tried, replaced(rest, symbols, begun))
    good = less(error, before) + less(share, _LEAST) - less(error, before) * less(share, _LEAST)
    try:
        newton = [-1 * each for each in solve_general(slopes, here[0])]
    except ZeroDivisionError:
        message = f"the balance of '{law.name}' doesn't hang on the state where the step ends"
        raise InputError(
            message, key="balance", hint="its rows are of `after`, each most of its own state"
        ) from None
    half = share / 2
    following = [
        *(where(good, z + d, z - half * old) for z, d, old in zip(tried, newton, change, strict=True)),
        *(where(good, d, old) for d, old in zip(newton, change, strict=True)),
        where(good, 1.0, half),
        where(good, error, before),
    ]
    groups = {
        STATE: (states, tried),
        "start": (searched, [*begun, *[0.0] * n, 1.0, _UNKNOWN]),
        "error": (("error",), [error]),
        "following": (searched, following),
    }
    return tracer.program(law.name, labels, groups)


def _error(
    left: Sequence[Scalar], slopes: Sequence[Sequence[Scalar]], after: Sequence[Scalar], first: Sequence[Scalar]
) -> Scalar:  # fmt: skip
    """At most 1 where every row of a balance is right to rounding of its terms."""
    error: Scalar = 0.0
    for row, value, begun in zip(slopes, left, first, strict=True):
        terms = sum((absolute(slope * z) for slope, z in zip(row, after, strict=True)), absolute(begun))
        share = value / (_LEFT * terms + _TINY)
        error = error + share * share
    return error


class _ClosedSteps(ClosedLoop[StepPlant]):
    """Of steps: laws see the step's end where a balance is solved, else its beginning."""

    def plant_closed(self) -> StepPlant:
        """The plant with another law and other names."""
        observe = self._observe()
        return replace(
            self.plant,
            loop=self.description,
            open_plant=self.plant,
            currents=(*self.plant.currents, *self.loop.states),
            inputs=self.loop.inputs,
            outputs=observe.outputs[0].labels,
            parameters=self.parameters,
            quantities=self.quantities,
            law=self._law(),
            observe=observe,
            sampling=self.sampling(),
            clocks=self.loop.clocks,
        )

    def _law(self) -> Program:
        """What must be zero where a step ends, or the map."""
        plant = self.plant
        ended = {ITERATE: self.states} if plant.implicit else {}
        labels = self.labels(**{STEP: plant.law.inputs[3].labels}, **ended)
        tracer, sees = scalars_by_name(labels)
        (h,) = sees[STEP].values()
        action = self.loop.act(self.view(tracer, self._where_it_acts(sees)))
        values = self.copied(tracer, plant.law, sees, action.commands)
        for name in self.loop.states:
            after = sees[STATE][name] + times(h, action.rates[name])
            values.append(sees[ITERATE][name] - after if plant.implicit else after)
        return tracer.program(plant.law.name, labels, {plant.law.outputs[0].name: (self.states, values)})

    def _where_it_acts(self, sees: ScalarGroups) -> ScalarGroups:
        """The scalars at which laws act: what samples stands still until the step has ended."""
        if ITERATE not in sees:
            return sees
        still = {name for each in self.loop.controllers if each.hold for name in self._own(each)}
        ended = {name: value for name, value in sees[ITERATE].items() if name not in still}
        return {**sees, STATE: {**sees[STATE], **ended}}

    @staticmethod
    def _own(each: Placed) -> list[str]:
        return [*each.held, *(f"{each.name}.{own}" for own in each.states)]

    def _observe(self) -> Program:
        """The outputs where a step begins, under the commands that act during it."""
        ended = {ITERATE: self.states} if self.plant.implicit and self.loop.continuous else {}
        labels = self.labels(**{STEP: self.plant.law.inputs[3].labels}, **ended)
        tracer, sees = scalars_by_name(labels)
        acts = self.acted(self.view(tracer, self._where_it_acts(sees)))
        pool = {**acts.commands, **acts.outputs}
        known = zip(
            self.plant.outputs, self.copied(tracer, self.plant.observe, sees, acts.commands), strict=True
        )
        pool |= dict(known)
        return tracer.program(
            self.plant.observe.name, labels, {"output": (self.outputs, [pool[name] for name in self.outputs])}
        )
