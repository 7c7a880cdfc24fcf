"""Model: a robot's equations of motion as programs, with the names and units of everything in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from trundle.documents import dump
from trundle.errors import InputError, suggest
from trundle.expected import by_name
from trundle.mechanics.mobility import Mobility
from trundle.model.manifold import Constrained, changed_numbers, settle
from trundle.model.mechanism import mechanism
from trundle.model.plant import Plant, Rates
from trundle.model.portable import Portable
from trundle.model.programmed import Programmed
from trundle.model.studied import Studied
from trundle.program import Program
from trundle.robot import Controller, Robot
from trundle.shown import Displayable, Explained

# Largest contact velocity (m/s) at speeds of about 1 that counts as rounding: constraints that are solved leave 1e-16.
_RESIDUAL = 1e-7


SYMPYS_PIVOTS = (
    "SymPy divides by pivots that are zero upright or straight; "
    'form its equations with KanesMethod(…, constraint_solver="CRAMER", kd_eqs_solver="CRAMER")'
)
"""Why a model of SymPy's equations may have no numbers, and what helps."""


@dataclass(frozen=True)
class ConstraintSummary(Explained):
    """The velocity constraints: how many rows, their rank, and the forces that redundancy leaves undetermined."""

    rows: int
    rank: int
    undetermined: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False, kw_only=True)
class Model(Constrained, Programmed, Studied, Portable, Displayable):
    """ẋ = f(x, u, p) and y = g(x, u, p) of one robot.

    States x are coordinates, then independent speeds, then the motors' currents (those with an inductance) or other
    extra states; SI units, angles in radians, speeds of a moving base in the base's own frame. `dynamics` maps groups
    (state, input, parameter) to `rate`; `observe` maps the same to `output`: dependent speeds, motor and contact
    forces, energies, the constraint residual. `audited` is `dynamics` with two more states, the work put in and the
    energy lost (J), so a run can balance its energy.

    A model that isn't made from a description has no `robot`, its `audited` may be `dynamics` itself, and `origin` says
    what it was made from. `formed` holds what it brings along in place of a mechanism: "mass_matrix", "bias" and the
    frames of named points, as programs.

    """

    mobility: Mobility | None
    constraints: ConstraintSummary
    dynamics: Program
    audited: Program
    stiff: bool
    notes: tuple[str, ...] = ()
    origin: Mapping[str, str] = field(default_factory=dict)
    formed: Mapping[str, Program] = field(default_factory=dict)
    open_plant: Model | None = None

    @cached_property
    def made_from(self) -> Mapping[str, object]:
        """What a run keeps of where the model came from: its description as text, or what a SymPy model was."""
        return {**self.origin, **({} if self.robot is None else {"yaml": dump(self.robot)})}

    @cached_property
    def motion(self) -> Rates:
        """ẋ = f(x, u, p)."""
        return Rates(self.dynamics, self.audited, self.projection, True if self.stiff else None)

    def closed(self, controllers: Mapping[str, Controller | Mapping[str, object]]) -> Model:
        """ẋ = f(x, k(x, x_c, r), p)."""
        from trundle import derive  # late: it makes models

        return derive(self, controllers=controllers)

    @property
    def audit(self) -> tuple[str, ...]:
        """Names of the states that `audited` has beside x: the energy account, or nothing."""
        return self.audited.outputs[0].labels[len(self.states) :]

    @cached_property
    def held(self) -> tuple[str, ...]:
        """The states that stand still between samples, those of controllers that sample."""
        names = {name.partition(".")[0] for name in self.clocks}
        return tuple(name for name in self.currents if name.partition(".")[0] in names)

    @property
    def operations(self) -> int:
        """Arithmetic instructions of one evaluation of `dynamics`."""
        return self.dynamics.operations

    @property
    def freedoms(self) -> int:
        """Degrees of freedom: how many speeds can be chosen at once."""
        if self.robot is None:
            return len(self.speeds) - self.constraints.rank
        return sum(name not in self.dependent for name in self.speeds)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the description (or of what else the model was made from) and of Trundle's version."""
        from trundle.model.archive import digest_of

        return digest_of(self)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: object) -> Model:
        return self  # nothing in it changes

    def __reduce__(self) -> tuple[Callable[[str], Plant], tuple[str]]:
        from trundle.model.archive import reduced

        return reduced(self)

    def parameter_values(self, changes: Mapping[str, float | str] | None = None) -> dict[str, float]:
        """All parameters in order, some of them changed.

        Parameters
        ----------
        changes : mapping of str to float or str, optional
            New values by name: numbers in SI, or text with units ("6 in").

        Returns
        -------
        dict of str to float
            Every parameter and its number in SI.

        Raises
        ------
        InputError
            A name or a value doesn't fit; the changed numbers make constraints independent that were derived as
            redundant, or make a state vanish.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.robot("differential_drive"))
        >>> model.parameter_values({"r": "6 in"})["r"]
        0.1524
        """
        changes = {} if changes is None else by_name(changes, "parameters")
        if self.robot is None:
            return changed_numbers(self, changes, self.constraints.rows, self.constraints.rank)
        if not changes:
            return dict(self._own_values)
        return self._checked_values(self.robot, changes)

    @cached_property
    def _own_values(self) -> Mapping[str, float]:
        """The parameters as they are without changes, checked once and not in every run."""
        assert self.robot is not None
        return self._checked_values(self.robot, {})

    def _checked_values(self, robot: Robot, changes: Mapping[str, float | str]) -> dict[str, float]:
        values = robot.parameter_values(changes)
        _check_states(self, robot, values)
        if self.constraints.rows and values != self.parameters:
            _check_rank(self, values)
        return values

    def state_vector(
        self, values: Mapping[str, float] | None = None, parameters: Mapping[str, float] | None = None
    ) -> list[float]:
        """A state x from some of its values; the others start where `initial` says, or where constraints need it.

        Parameters
        ----------
        values : mapping of str to float, optional
            States by name (SI). Of a robot with loops they stay as given where the loops can be closed at them.
        parameters : mapping of str to float, optional
            All parameters, at which the loops are closed; by default the model's own.

        Returns
        -------
        list of float
            x in the order of `states`.

        Raises
        ------
        InputError
            A name is no state, a value no number, a quaternion not of length 1; or the constraints can't be met.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.robot("pendulum", links=1))
        >>> model.state_vector({"link_1.angle": 0.5})
        [0.5, 0.0]
        """
        start = dict(self.initial)
        values = {} if values is None else by_name(values, "values")
        parameters = self.parameters if parameters is None else by_name(parameters, "parameters")
        for name, value in values.items():
            if name not in start:
                hint = suggest(name, start)
                raise InputError(f"'{name}' is not a state of '{self.name}'", key=name, hint=hint)
            try:
                start[name] = float(value)
            except (TypeError, ValueError):
                raise InputError(f"expected a number, got {value!r}", key=name) from None
        self.quantities.check_start(start)
        return settle(self, start, tuple(values), parameters or self.parameters)


def _check_states(model: Model, robot: Robot, values: Mapping[str, float]) -> None:
    """Raise InputError where parameters that became 0 make a state vanish: its rate would be divided by 0.

    So does a motor's current without inductance, which then follows at once.
    """
    zeros = [name for name, value in values.items() if value == 0.0 != model.parameters[name]]
    if not (zeros and model.currents):
        return
    left = {state.name for state in mechanism(robot, values).assembly.own_states}
    gone = [name for name in model.currents if name not in left]
    if gone:
        message = f"{' and '.join(zeros)} can't become 0: it is a divisor of the rate of '{gone[0]}'"
        hint = "derive robot.with_parameters(...) anew: what was a state then follows at once"
        raise InputError(message, key=zeros[0], hint=hint)


def _check_rank(model: Model, values: Mapping[str, float]) -> None:
    """Raise InputError where changed parameters make constraints independent that were derived as redundant, or
    singular.

    The derivation left out the rows that repeated others at the described numbers; at other numbers they may not.
    """
    state = np.random.default_rng(0).uniform(0.1, 0.5, len(model.states))
    start = dict(zip(model.states, state, strict=True))
    state = np.array(settle(model, start, (), values))
    (outputs,) = model.observe.evaluate(state, np.zeros(len(model.inputs)), np.array(list(values.values())))
    residual = outputs[list(model.outputs).index("constraint_residual")]
    if residual <= _RESIDUAL:
        return
    changed = ", ".join(name for name, value in values.items() if value != model.parameters[name])
    raise InputError(
        f"with {changed} changed, the rolling constraints of '{model.name}' are no longer those it was derived with "
        f"(rank {model.constraints.rank}): they would be broken by {residual:.2g} m/s",
        key=next((name for name, value in values.items() if value != model.parameters[name]), None),
        hint="wheels that shared an axle must go on sharing it; else derive robot.with_parameters(...) anew",
    )
