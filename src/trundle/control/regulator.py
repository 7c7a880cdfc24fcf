"""Linear-quadratic regulators by tolerances, continuous and sampled, on what inputs can move.

The path of the data: a steady motion is linearised; of its states those stay that matter to what has a tolerance and
that inputs move (`parts`); tolerances become weights (Bryson's rule), and the Riccati equation gives the gain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.control.linear_control import DIES, state_measure, uncontrollable, without_rounding
from trundle.control.linearization import Linearization, linearize
from trundle.control.trim import Trim, trim
from trundle.errors import InputError, NumericsError, require_known
from trundle.expected import by_name
from trundle.frozen import frozen
from trundle.model import Model
from trundle.model.arguments import Given, model_of, number
from trundle.robot.controllers import StateFeedback
from trundle.shown import Shown

Complexes = npt.NDArray[np.complex128]
# The frequencies (relative to the loop's poles) between which a loop's peak is looked for, and how finely at first.
_SPREAD, _PER_DECADE = 1e3, 60


@dataclass(frozen=True)
class Margin:
    """How much one input's loop bears, the others closed: a disk of gains and phases at once.

    disk: α of the balanced disk margin; the gain may be multiplied by anything from `lowest` to `highest`, or the phase
    turned by `phase` (rad) either way (Seiler, Packard & Gahinet 2020, IEEE Control Systems Magazine 40(5), eq. 12).
    frequency: where it is least (rad/s).
    """

    disk: float
    frequency: float

    @property
    def highest(self) -> float:
        """What the gain may grow by: (1 + α/2)/(1 − α/2)."""
        return (1 + self.disk / 2) / (1 - self.disk / 2) if self.disk < 2 else np.inf

    @property
    def lowest(self) -> float:
        """What the gain may shrink to: (1 − α/2)/(1 + α/2)."""
        return max((1 - self.disk / 2) / (1 + self.disk / 2), 0.0)

    @property
    def phase(self) -> float:
        """What the phase may turn by: 2 atan(α/2) (rad)."""
        return float(2 * np.arctan(self.disk / 2))


@dataclass(frozen=True, repr=False, eq=False)
class Regulator(Shown):
    """δu = −K z, which makes Σ (z_i/tolerance_i)² + Σ (δu_k/tolerance_k)², integrated from now on, least.

    K (m, n) by the inputs and states of `about`, the part of the linearisation that it was designed on. riccati (n, n):
    zᵀ S z is what a deviation z costs. period: the seconds between samples, None where it acts at every instant.
    tolerances: by state and input, in SI.
    """

    about: Linearization
    K: FloatArray
    riccati: FloatArray
    tolerances: Mapping[str, float]
    period: float | None = None

    @property
    def name(self) -> str:
        """The model's."""
        return self.about.name

    @cached_property
    def _system(self) -> tuple[FloatArray, FloatArray]:
        """A and B, or those from sample to sample."""
        about = self.about
        return (about.A, about.B) if self.period is None else _held(about, self.period)

    @cached_property
    def poles(self) -> Complexes:
        """Eigenvalues of the closed loop, the slowest first, (n,): 1/s, or those of one sample to the next."""
        a, b = self._system
        found: Complexes = np.linalg.eigvals(a - b @ self.K).astype(complex)
        slowness = -found.real if self.period is None else -np.abs(found)
        return found[np.lexsort((-found.imag, slowness))]

    def cost(self, deviation: Mapping[str, float | str]) -> float:
        """What it costs to bring a small deviation back.

        Parameters
        ----------
        deviation : mapping of str to number or str
            z by state of `about` (SI, or text with units); those not given are 0.

        Returns
        -------
        float
            zᵀ S z (s): the integral of what is made least.

        Raises
        ------
        InputError
            A name is no state of `about`, or a value no finite number in its unit.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> hold = model.lqr({"v_x": 1.0}, {"v_x": "5 cm/s", "left_motor.voltage": 6, "right_motor.voltage": 6})
        >>> hold.cost({"v_x": 0.01}) < hold.cost({"v_x": 0.02})
        True
        """
        sizes = _in_si(by_name(deviation, "deviation"), self.about.states, self.about, "deviation")
        z = np.array([sizes.get(name, 0.0) for name in self.about.states])
        return float(z @ self.riccati @ z)

    @cached_property
    def margins(self) -> Mapping[str, Margin]:
        """What each input's loop bears, the other loops closed."""
        a, b = self._system
        return {
            name: _margin(a, b, self.K, place, self.poles, self.period)
            for place, name in enumerate(self.about.inputs)
        }

    def controller(self) -> StateFeedback:
        """The same as a part of the robot: `trundle.derive(robot, controllers={"hold": regulator.controller()})`.

        Returns
        -------
        StateFeedback
            It reads the states that z is made of, and adds −K z to the inputs of the steady motion.

        Raises
        ------
        InputError
            Where z holds the pose of a motion that goes on, or a rotation in space, which no constant row gives, and
            for regulators that sample.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> hold = model.lqr({"v_x": 1.0}, {"v_x": "5 cm/s", "left_motor.voltage": 6, "right_motor.voltage": 6})
        >>> closed = trundle.derive(model.robot, controllers={"hold": hold.controller()})
        >>> closed.inputs
        ()
        """
        if self.period is not None:
            raise InputError(
                "controllers in a model act at every instant so far", key="period", hint="leave it away"
            )
        about = self.about
        moving = [name for name in about.states if name in about.drifting]
        if moving:
            message = f"{', '.join(moving)} of the motion that it holds go on, and a constant row of gains can't follow"
            raise InputError(
                message, key="weights", hint=f"give no tolerance for {moving[0]} and what leads to it"
            )
        rows = self._rows()
        drives = {
            name: {"gains": dict(zip(self._read, row.tolist(), strict=True)), "offset": about.input[name]}
            for name, row in zip(about.inputs, rows, strict=True)
        }
        around = {name: about.state[name] for name in self._read}
        return StateFeedback.model_validate({"drives": drives, "around": around})

    @cached_property
    def _read(self) -> tuple[str, ...]:
        """The model's states on which z depends."""
        used = np.abs(self.about.dual).max(axis=0) > 0
        read = tuple(name for name, reads in zip(self.about.model.states, used, strict=True) if reads)
        units = self.about.model.quantities
        if turned := [name for name in read if units[name].kind == "quaternion"]:
            raise InputError(
                f"{turned[0]} is of a rotation in space, which no constant row of gains compares",
                key="weights",
                hint="use .K on .about.deviation(state)",
            )
        return read

    def _rows(self) -> FloatArray:
        """K over the model's states that it reads: z = L δx."""
        places = [self.about.model.states.index(name) for name in self._read]
        return self.K @ self.about.dual[:, places]


def lqr(
    model: Given,
    at: Mapping[str, float | str] | Trim | Linearization | None = None,
    weights: Mapping[str, float | str] | None = None,
    *,
    period: float | str | None = None,
    parameters: Mapping[str, float | str] | None = None,
    base: str | None = None,
) -> Regulator:
    """The linear-quadratic regulator about a steady motion, from what may be off by how much.

    δu = −K z makes ∫ Σ (z_i/Δz_i)² + Σ (δu_k/Δu_k)² dt least: weights by Bryson's rule. 0 = AᵀS + SA − SB R⁻¹BᵀS + Q
    and K = R⁻¹BᵀS; with a period the integral between samples is taken exactly (Van Loan), and the gain is that of the
    discrete equation.

    Parameters
    ----------
    model : Model, Robot, path or mapping
        A model, or what one is derived from here.
    at : mapping, Trim or Linearization, optional
        What is asked of the steady motion, as of `model.trim`, or that motion; by default standing still.
    weights : mapping of str to number or str
        By state or input how far it may be off (SI, or text with units): {"y": "5 cm", "left_motor.voltage": "12 V"}.
        Every input needs one. States that lead to none with a tolerance, such as wheels' angles, are left out.
    period : number or str, s, optional
        The time between samples, between which inputs are held. By default it acts at every instant.
    parameters : mapping of str to number or str, optional
        Changed values by name.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    Regulator
        The gain with its names, poles, margins and cost; `.controller()` is a part of the robot.

    Raises
    ------
    InputError
        For names and values that don't fit, for a motion that isn't steady, and for states that no input moves: named,
        with the reason.
    NumericsError
        Where no steady motion is found, or the Riccati equation has no stabilising solution.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.differential_drive())
    >>> weights = {"v_x": "5 cm/s", "omega": "5 deg/s", "left_motor.voltage": "6 V", "right_motor.voltage": "6 V"}
    >>> model.lqr({"v_x": 1.0}, weights).K.shape
    (2, 4)

    References
    ----------
    Bryson & Ho 1975, sec. 5.2; Van Loan 1978, IEEE Transactions on Automatic Control 23(3).
    """
    about = _about(model, at, parameters, base)
    if not about.is_steady:
        raise InputError(
            f"a regulator holds a steady motion, and at this state {', '.join(about.drifting)} change",
            key="at",
            hint="model.trim finds a steady motion: give lqr what it gives",
        )
    sample = None if period is None else number(period, "period", "s")
    if sample is not None and not sample > 0:
        raise InputError(f"expected a time between samples greater than 0, got {sample:g} s", key="period")
    tolerances = _tolerances(about, {} if weights is None else by_name(weights, "weights"))
    part = _part(about, tolerances)
    q = np.diag([tolerances[name] ** -2 if name in tolerances else 0.0 for name in part.states])
    r = np.diag([tolerances[name] ** -2 for name in part.inputs])
    _require_seen(part, q)
    gain, riccati = _solved(part, q, r, sample)
    return Regulator(part, frozen(gain), frozen(riccati), tolerances, sample)


def _about(
    model: Given,
    at: Mapping[str, float | str] | Trim | Linearization | None,
    parameters: Mapping[str, float | str] | None,
    base: str | None,
) -> Linearization:
    """The linearisation about the steady motion that was asked for."""
    if isinstance(at, Linearization):
        return at
    if isinstance(at, Trim):
        return at.linearize()
    model = model if isinstance(model, Model) and base is None else model_of(model, "lqr", base)
    if at is None:
        return linearize(model, parameters=parameters)
    return trim(model, at, parameters=parameters).linearize()


def _in_si(
    given: Mapping[str, float | str], known: Sequence[str], about: Linearization, key: str
) -> dict[str, float]:
    """Numbers by name in SI; InputError for names that aren't known and for what is no number in their units."""
    for name in given:
        require_known(name, known, f"there is no state or input {name!r}", key=f"{key}.{name}")
    return {name: number(size, f"{key}.{name}", about.units.get(name, "")) for name, size in given.items()}


def _tolerances(about: Linearization, weights: Mapping[str, float | str]) -> dict[str, float]:
    """Tolerances in SI, all there; raises InputError."""
    found = _in_si(weights, (*about.states, *about.inputs), about, "weights")
    if few := [name for name, size in found.items() if not size > 0]:
        raise InputError(f"a tolerance is greater than 0, got {found[few[0]]:g}", key=f"weights.{few[0]}")
    missing = [name for name in about.inputs if name not in found]
    if not about.inputs or missing:
        message = f"no tolerance for {', '.join(missing)}" if missing else f"{about.name} has no inputs"
        hint = f'weights={{"{missing[0]}": …}}: how much of it may be spent' if missing else None
        raise InputError(message, key="weights", hint=hint)
    if not any(name in found for name in about.states):
        raise InputError(
            "no state has a tolerance", key="weights", hint=f"states are {', '.join(about.states)}"
        )
    return found


def _part(about: Linearization, tolerances: Mapping[str, float]) -> Linearization:
    """What inputs move of the states that lead to those with a tolerance; InputError for those that no input moves."""
    slopes, _ = without_rounding(about)
    wanted = np.array([name in tolerances for name in about.states])
    for _ in about.states:
        wanted |= (slopes[wanted] != 0).any(axis=0)
    idle = [
        name
        for name, leads in zip(about.states, wanted, strict=True)
        if not leads and name in about.free_moving
    ]
    part = about.reduced(without=idle)
    lost = [name for name in tolerances if name in about.states and name not in part.states]
    if lost:
        why = about.controllability.explain()
        raise InputError(
            f"no tolerance of {', '.join(lost)} can be kept at this motion\n  {why}",
            key="weights",
            hint="give a tolerance to one state of such a combination alone, or hold another motion",
        )
    return part


def _require_seen(part: Linearization, q: FloatArray) -> None:
    """Raise InputError where something that doesn't die out by itself has no part in what is made least."""
    unseen = uncontrollable(part.A.T, np.sqrt(q))
    lasting = [k for k, pole in enumerate(unseen.poles) if pole.real >= -DIES * (1 + abs(pole))]
    if lasting:
        weight = np.abs(unseen.rows * unseen.scale).max(axis=0)
        names = [name for name, size in zip(part.states, weight, strict=True) if size > 0.5 * weight.max()]
        raise InputError(
            f"nothing that is made least sees {', '.join(names)}, which doesn't die out by itself",
            key="weights",
            hint=f"give {names[0]} a tolerance",
        )


def _held(part: Linearization, period: float) -> tuple[FloatArray, FloatArray]:
    """A and B from sample to sample, inputs held: exp([[A, B], [0, 0]] h)."""
    from scipy.linalg import expm

    n, m = part.B.shape
    whole = np.zeros((n + m, n + m))
    whole[:n] = np.hstack([part.A, part.B])
    moved = np.asarray(expm(whole * period), float)
    return moved[:n, :n], moved[:n, n:]


def _solved(
    part: Linearization, q: FloatArray, r: FloatArray, period: float | None
) -> tuple[FloatArray, FloatArray]:
    """K and S; raises NumericsError where there is no stabilising solution."""
    from scipy.linalg import LinAlgError, solve_discrete_are

    try:
        if period is None:
            return _continuous(part, q, r)
        a, b = _held(part, period)
        state, cross, spent = _sampled_weights(part, q, r, period)
        riccati = solve_discrete_are(a, b, state, spent, s=cross)
        gain = np.linalg.solve(spent + b.T @ riccati @ b, b.T @ riccati @ a + cross.T)
    except (LinAlgError, ValueError) as error:
        raise NumericsError(f"the Riccati equation of {part.name} can't be solved: {error}") from None
    return gain, riccati


def _continuous(part: Linearization, q: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """K and S, solved with states in multiples of what unit inputs bring them to, and inputs of their tolerances.

    Two of Newton's steps on the Riccati equation (Kleinman 1968) take what the eigenvectors' rounding left.
    """
    from scipy.linalg import solve_continuous_are, solve_continuous_lyapunov

    size, spent = state_measure(part.A, part.B), 1 / np.sqrt(np.diag(r))
    a, b = part.A * size / size[:, None], part.B * spent / size[:, None]
    weight = q * size * size[:, None]
    riccati: FloatArray = solve_continuous_are(a, b, weight, np.eye(b.shape[1]))
    for _ in range(2):
        gain = b.T @ riccati
        better = solve_continuous_lyapunov((a - b @ gain).T, -(weight + gain.T @ gain))
        riccati = (better + better.T) / 2
    return (b.T @ riccati) * spent[:, None] / size, riccati / size / size[:, None]


def _sampled_weights(
    part: Linearization, q: FloatArray, r: FloatArray, period: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights of x, x·u and u at a sample that integrate to the same between samples (Van Loan 1978, sec. II)."""
    from scipy.linalg import block_diag, expm

    n, m = part.B.shape
    moving = np.zeros((n + m, n + m))
    moving[:n] = np.hstack([part.A, part.B])
    weight = block_diag(q, r)
    whole = expm(np.block([[-moving.T, weight], [np.zeros_like(moving), moving]]) * period)
    integral = whole[n + m :, n + m :].T @ whole[: n + m, n + m :]
    integral = (integral + integral.T) / 2
    return integral[:n, :n], integral[:n, n:], integral[n:, n:]


def _margin(
    a: FloatArray, b: FloatArray, gain: FloatArray, place: int, poles: Complexes, period: float | None
) -> Margin:
    """1/max |S − 1/2| over all frequencies, S = 1/(1 + L) of one input's loop."""
    from scipy.optimize import minimize_scalar

    eye = np.eye(len(a))

    def off(log_frequency: float) -> float:
        omega = np.exp(log_frequency)
        point = 1j * omega if period is None else np.exp(1j * omega * period)
        # S = 1 − K (s − A + B K)⁻¹ B, of which one entry
        inner = np.linalg.solve(point * eye - a + b @ gain, b[:, place])
        return -abs(0.5 - gain[place] @ inner)

    rates = np.abs(poles if period is None else np.log(poles.astype(complex) + 1e-300) / period)
    low, high = np.log(max(rates.min(), 1e-6) / _SPREAD), np.log(rates.max() * _SPREAD)
    high = high if period is None else min(high, np.log(np.pi / period))
    grid = np.linspace(low, high, int((high - low) / np.log(10) * _PER_DECADE) + 2)
    values = [off(x) for x in grid]
    best = int(np.argmin(values))
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    found = minimize_scalar(off, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    at, least = (found.x, found.fun) if found.fun < values[best] else (grid[best], values[best])
    return Margin(float(-1 / least), float(np.exp(at)))
