"""What moves: a `Plant` says how it goes on; engines above lead it there.

    Rates   x' = f(x, u, p)         integrated by whoever asks, with an error bound or by Runge-Kutta's steps
    Steps   x⁺ = F(x, u, p, h)      one step of its own, of a length h that whoever asks chooses

A plant doesn't advance itself: so one `simulate`, one `rollout` and one `sweep` lead all of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.errors import InputError
from trundle.frozen import Frozen
from trundle.mechanics.quantities import Quantities
from trundle.model.symbols import STATE
from trundle.program import Program, Tracer
from trundle.robot import Controller, Robot
from trundle.scalars import Scalar

# What to do for other parameters than a plant's own.
_CHANGING = 'other values are given where they are used: trundle.simulate(model, parameters={"NAME": 0.3})'

STEP = "step"
"""The group of a step's length (s)."""

REMEMBERED = "step:"
"""What a step remembers for the next one, and what runs count by, has names that no part of a robot can have."""

DIVERGED = "diverged"
"""The outcome of whose numbers ceased to be finite."""


@dataclass(frozen=True)
class Rates:
    """x' = f(x, u, p).

    rate: (state, input, parameter) -> rate. account: the same with the states of an energy account behind. projection:
    (state, input, parameter) -> state, a Newton step back onto constraints. stiff: whether stiff formulas are needed;
    None where only a look at the eigenvalues tells.
    """

    rate: Program
    account: Program
    projection: Program | None = None
    stiff: bool | None = None
    length: ClassVar[float] = 1e-3
    """Of Runge-Kutta's steps where nobody says another (s): motors with windings need about so short ones."""

    @property
    def operations(self) -> int:
        """Of one rate."""
        return self.rate.operations


@dataclass(frozen=True)
class Steps:
    """x⁺ = F(x, u, p, h), inputs held over the step.

    step: (state, input, parameter, step (s)[, iterate]) -> state[, start, error, following]. length: of a step where
    nobody says another (s). method: what it is, in words. about: what summaries say of it beside that. law:
    what its equations are, in words. implicit: whether it solves for where it ends, which damps what would grow.
    """

    step: Program
    length: float
    method: str
    about: Mapping[str, object] = field(default_factory=dict)
    law: str = "a map of its own"
    implicit: bool = False

    @property
    def operations(self) -> int:
        """Of one step."""
        return self.step.operations

    @cached_property
    def still(self) -> Program:
        """Rates of zero for every state: what native rollouts integrate before they take the step."""
        return still(self.step.name, self.step.outputs[0].labels)


def still(name: str, states: tuple[str, ...]) -> Program:
    """Rates of zero for these states."""
    return Tracer(STATE).program(name, {STATE: states}, {"rate": (states, [0.0] * len(states))})


class ParameterReader(Protocol):
    """What makes a parameter of what a user gives for it."""

    def read(self, key: str, given: Any) -> Floats:
        """One number, or one a robot; raises InputError with the key."""
        ...

    @property
    def unit(self) -> str: ...


@dataclass(frozen=True, kw_only=True, repr=False)
class Plant:
    """What moves, by the names of its states x, inputs u, parameters p and outputs y.

    `quantities` says what each name stands for: its unit, its owner, where it starts. `observe` maps (state, input,
    parameter[, step, iterate]) to the `output`. Where controllers sample, `clocks` are their periods and first instants
    (s) by name, and `sampling` maps (state, input, parameter, due) to the `state` after an instant, by which of them
    are due (1, else 0). `robot` is the description that it was made from, if any; without one, `loop` describes the
    controllers that drive it, and `open_plant` is the plant without them.
    """

    name: str
    coordinates: tuple[str, ...]
    speeds: tuple[str, ...] = ()
    currents: tuple[str, ...] = ()
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, float]
    quantities: Quantities
    observe: Program
    robot: Robot | None
    clocks: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    sampling: Program | None = None
    loop: Robot | None = None
    open_plant: Plant | None = None
    derive_seconds: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", Frozen(self.parameters, _CHANGING))

    @cached_property
    @abstractmethod
    def motion(self) -> Rates | Steps:
        """How it goes on."""

    @property
    def states(self) -> tuple[str, ...]:
        """Names of x: coordinates, independent speeds, then states that motors and contacts have of their own."""
        return (*self.coordinates, *self.speeds, *self.currents)

    @property
    def units(self) -> Mapping[str, str]:
        """The SI unit of each name; "" for pure numbers and where nobody knows."""
        return self.quantities.units

    @cached_property
    def state_index(self) -> Mapping[str, int]:
        """Place of each state in x."""
        return {name: place for place, name in enumerate(self.states)}

    @cached_property
    def initial(self) -> Mapping[str, float]:
        """Where each state starts when nothing else is said: 0, and quaternions upright."""
        return dict(zip(self.states, self.quantities.starts(self.states), strict=True))

    @property
    def shown_states(self) -> tuple[str, ...]:
        """The states that runs show: without what steps remember."""
        return tuple(name for name in self.states if not name.startswith(REMEMBERED))

    @property
    def control_description(self) -> Robot | None:
        """The description of the controllers that drive it."""
        return self.robot if self.robot is not None and self.robot.controllers else self.loop

    def closed(self, controllers: Mapping[str, Controller | Mapping[str, object]]) -> Plant:
        """The plant driven by controllers: their laws are put into its equations.

        x' = f(x, u, p) becomes x' = f(x, k(x, x_c, r), p), x_c' = g(x, x_c, r); what must be zero at a step's end takes
        the law there. States are the plant's, then the controllers' x_c; inputs those that nobody drives, then the
        controllers' references r.

        Parameters
        ----------
        controllers : mapping of str to Controller or mapping
            By name: components, or what a file would hold. They read states and outputs, and drive inputs. Those that
            it has already stay, but for those of the same names.

        Returns
        -------
        Plant

        Raises
        ------
        InputError
            A controller reads or drives what isn't there, controllers form an algebraic loop, or the plant can't be
            driven.

        Examples
        --------
        >>> import trundle
        >>> hold = {"reads": "v_x", "drives": "left_motor.voltage", "proportional": 10, "target": "1 m/s"}
        >>> trundle.derive(trundle.catalog.differential_drive()).closed({"speed": hold}).inputs
        ('right_motor.voltage',)
        """
        raise InputError(
            f"the rates of '{self.name}' are given: no controller can drive it",
            key="controllers",
            hint="trundle.derive takes its robot and its forces",
        )

    def check_start(
        self, start: Mapping[str, float], given: Collection[str], parameters: Mapping[str, float]
    ) -> None:
        """Raise InputError for a start (states by name) that no run should have; warn of others."""

    def check_motion(self, time: FloatArray, states: FloatArray, outputs: FloatArray) -> None:
        """Raise InputError where a motion by steps, rows at these times (s), leads out of what is known."""

    def unsolved_steps(self, passed: FloatArray, inputs: FloatArray, numbers: FloatArray, step: float) -> int:
        """How many steps (s) between states `passed` found no end, where that isn't among the outputs."""
        return 0

    def explain(self, states: FloatArray, outputs: FloatArray) -> str:
        """Where and why numbers may have failed, by rows at the times before; to end a message with."""
        return ""

    def fastest_rate(self, values: Mapping[str, FloatArray]) -> float:
        """The largest rate of what turns (rad/s), of which the length of steps hangs."""
        return 0.0

    def run_findings(
        self, time: FloatArray, values: Mapping[str, FloatArray], apart: float
    ) -> dict[str, object]:
        """What a run's summary says of how it went, by columns at stored times that lie so far `apart` (s)."""
        return {}

    @property
    def about(self) -> Mapping[str, str]:
        """What else can be said of it, by what it is called."""
        return {}

    @cached_property
    def made_from(self) -> Mapping[str, object]:
        """What a run keeps of where it came from."""
        return {}

    @property
    def start_names(self) -> tuple[str, ...]:
        """What a start may be given by: the states, and what else says how it stands."""
        return self.states

    @property
    def parameter_readers(self) -> Mapping[str, ParameterReader]:
        """Parameters that aren't the description's own, by what reads them."""
        return {}

    @property
    def start_is_searched(self) -> bool:
        """Whether starts are found by a search, so that a robot's last digits hang on who else is there."""
        return True

    @property
    def start_programs(self) -> Mapping[str, Program]:
        """The programs by which starts are found, by name."""
        return {}

    @property
    def tables(self) -> Mapping[str, FloatArray]:
        """The arrays that it was made from beside its description, by name."""
        return {}

    @property
    def marked_states(self) -> tuple[str, ...]:
        """States of which `outcomes_of` asks where the last part of a motion begins."""
        return ()

    @cached_property
    def minima(self) -> Mapping[str, Callable[[Mapping[str, Scalar]], Scalar]]:
        """Numbers up to 1 of the states by name, of which `outcomes_of` asks how low they came."""
        return {}

    def outcomes_of(
        self, marks: Mapping[str, FloatArray], ends: Mapping[str, FloatArray], least: Mapping[str, FloatArray]
    ) -> Mapping[str, np.ndarray]:
        """Truths (robots,) of what became of those that didn't diverge, by the states where the last part of the motion
        began and ended, and what was least.
        """
        return {}

    def simulate_arguments(self, step: float) -> dict[str, object]:
        """What `simulate` takes for the same plant: `model`, and where steps lead it their length (s)."""
        return {"model": self, **({"step": step} if isinstance(self.motion, Steps) else {})}

    @property
    def outcomes(self) -> tuple[str, ...]:
        """What may become of one among many, beside its measures."""
        return (DIVERGED,)

    @abstractmethod
    def parameter_values(self, changes: Mapping[str, float | str] | None = None) -> dict[str, float]:
        """All parameters in order, some of them changed, checked; raises InputError."""

    @abstractmethod
    def start(
        self, given: Mapping[str, Floats], parameters: Mapping[str, Floats], count: int = 1, *,
        lost: np.ndarray | None = None, often: bool | None = None,
    ) -> FloatArray:  # fmt: skip
        """x(0) before the first sample, (states, count), of what is `given` by its `start_names`; the rest is found:
        loops close, wheels settle.

        With truths `lost` (count,) nothing is raised for whom nothing is found: it becomes true there, and x NaN.
        `often` is as for a `Kernel`.
        """

    def require_continuous(self, needed_by: str) -> None:
        """Raise InputError where controllers sample, for what needs a motion without jumps.

        Parameters
        ----------
        needed_by : str
            What does, to begin the message with.

        Raises
        ------
        InputError
            Some controller has a period.

        Examples
        --------
        >>> import trundle
        >>> trundle.derive(trundle.catalog.differential_drive()).require_continuous("linearize")
        """
        if not self.clocks:
            return
        names = ", ".join(dict.fromkeys(name.partition(".")[0] for name in self.clocks))
        raise InputError(
            f"{needed_by} needs a model that moves on at every instant; controllers of '{self.name}' sample: {names}",
            key="model",
            hint="derive robot.without_controllers, or leave their periods away",
        )
