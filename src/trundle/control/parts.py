"""Parts of a linear system: what inputs move, or chosen states; and what a regulator misses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.control.linear_control import DIES, without_rounding
from trundle.control.linearization import Linearization
from trundle.control.staircase import uncontrollable
from trundle.control.tangent import moving_axes
from trundle.errors import InputError, suggest
from trundle.mechanics.combinations import echelon


def reachable_part(about: Linearization, without: Sequence[str] = ()) -> Linearization:
    """The system on what inputs reach, z = E ζ with some of the states as ζ: ζ' = P A E ζ + P B u.

    Rows w with w z out of reach stay w z = 0 for motions that begin at x₀; each is solved for one state, the last
    coordinate in it, as wheels' angles stand behind the pose.
    """
    if not about.inputs:
        raise InputError(f"'{about.name}' has no inputs, so nothing of it can be moved")
    if without:
        _check_names(about, without, "without")
        about = chosen_part(about, [name for name in about.states if name not in without])
    part = uncontrollable(*without_rounding(about))
    own = {*about.model.speeds, *about.model.currents}
    order = sorted(range(len(about.states)), key=lambda k: about.states[k] not in own)
    rows = echelon(part.rows[:, order], part.scale[order])
    solved = [order[int(np.flatnonzero(row)[-1])] for row in rows]
    kept = [k for k in range(len(about.states)) if k not in solved]
    embedding = np.eye(len(about.states))[:, kept]
    back = np.argsort(order)
    embedding[solved] = -rows[:, back][:, kept]
    return _part(about, kept, embedding)


def chosen_part(about: Linearization, states: Sequence[str]) -> Linearization:
    """The system of some states that depend on no others; raises InputError."""
    _check_names(about, states, "states")
    kept = [about.states.index(name) for name in states]
    others = [k for k in range(len(about.states)) if k not in kept]
    a, _ = without_rounding(about)
    for k in kept:
        needed = [about.states[other] for other in others if a[k, other]]
        if needed:
            raise InputError(
                f"the rate of '{about.states[k]}' depends on {', '.join(needed)}, which would be left out",
                key="states",
                hint="keep what it depends on, too; .reduced() leaves out what no input moves",
            )
    return _part(about, kept, np.eye(len(about.states))[:, kept], others)


def _check_names(about: Linearization, names: Sequence[str], key: str) -> None:
    if isinstance(names, str):
        raise InputError(f"expected a list of names, not the text {names!r}", key=key)
    for name in names:
        if name not in about.states:
            known = suggest(str(name), about.states)
            raise InputError(f"'{name}' is not a state of this linearisation", key=key, hint=known)


def _part(
    about: Linearization, kept: Sequence[int], embedding: FloatArray, hidden: Sequence[int] = ()
) -> Linearization:
    """z = E ζ, ζ the kept of z; without the outputs that show what is `hidden`."""
    shown = [k for k in range(len(about.outputs)) if not about.C[k, list(hidden)].any()]
    states = tuple(about.states[k] for k in kept)
    outputs = tuple(about.outputs[k] for k in shown)
    matrices = {
        "A": about.A[kept] @ embedding,
        "B": about.B[kept],
        "C": about.C[shown] @ embedding,
        "D": about.D[shown],
        "basis": about.basis @ embedding,
        "dual": about.dual[kept],
    }
    for matrix in matrices.values():
        matrix.setflags(write=False)
    whole, before = (
        about.whole or about,
        np.eye(len(about.states)) if about.embedding is None else about.embedding,
    )
    return replace(
        about,
        states=states,
        outputs=outputs,
        units={name: about.units[name] for name in (*states, *about.inputs, *outputs)},
        output={name: about.output[name] for name in outputs},
        rate={name: about.rate[name] for name in states},
        **matrices,
        whole=whole,
        embedding=before @ embedding,
    )


def deviation(about: Linearization, state: Mapping[str, float], time: float) -> FloatArray:
    """z of a state beside x₀ moved on by `time`: L (x − x₀(t)), with the axes of the pose at that time."""
    model = about.model
    missing = [name for name in model.states if name not in state]
    if missing:
        raise InputError(
            f"the state has no '{missing[0]}'", key=missing[0], hint="give all states of the model"
        )
    x0 = np.array(list(about.state.values()))
    reference = x0 if not time else moved_on(about, x0, time)
    x = model.quantities.normalised(model.states, np.array([float(state[name]) for name in model.states]))
    off = x - reference
    if model.robot is not None and model.robot.base == "planar":
        off[2] = np.remainder(off[2] + np.pi, 2 * np.pi) - np.pi
    for k in model.quantities.quaternions(model.states):
        if x[k : k + 4] @ reference[k : k + 4] < 0:  # q and -q are one rotation
            off[k : k + 4] = -x[k : k + 4] - reference[k : k + 4]
    names, _, _, dual, _ = moving_axes(model, reference, np.zeros(x.size))
    return dual[[names.index(name) for name in about.states]] @ off


def moved_on(about: Linearization, x0: FloatArray, time: float) -> FloatArray:
    """Where a steady motion through x₀ (n,) is after a time: speeds stay, coordinates drift. Raises InputError."""
    model = about.model
    if not about.is_steady:
        raise InputError(
            f"'{model.name}' does not go on as it is at this state: {', '.join(about.drifting)} change",
            key="time",
            hint="model.trim finds steady motions; beside a run, compare with the run",
        )
    u, p = np.array(list(about.input.values())), np.array(list(about.parameters.values()))
    n = len(model.coordinates)

    def rates(x: FloatArray) -> FloatArray:
        return np.concatenate([model.dynamics.evaluate(x, u, p)[0][:n], np.zeros(x.size - n)])

    rate = rates(x0)
    moved = x0 + rate * time
    if model.robot is None:
        # SymPy's coordinates may be anything, such as places in the world of what drives on a circle.
        from scipy.integrate import solve_ivp

        solution = solve_ivp(lambda _, x: rates(x), (0, time), x0, method="DOP853", rtol=1e-12, atol=1e-12)
        return solution.y[:, -1]
    if model.robot.base == "planar":  # an arc: half its turn on, the chord is sin(a)/a of its length
        half = rate[2] * time / 2
        cos, sin = np.cos(half), np.sin(half)
        chord = np.array([[cos, -sin], [sin, cos]]) @ rate[:2] * time * np.sinc(half / np.pi)
        moved[:2] = x0[:2] + chord
    return moved


def caveats(about: Linearization) -> tuple[str, ...]:
    """What a regulator designed on A and B would miss, each with what to do about it."""
    sentences: list[str] = []
    if not about.is_steady:
        moving = ", ".join(name for name in about.drifting if name not in about.free_moving)
        sentences.append(
            f"A and B hold at this moment only, as {moving} change: no steady motion; "
            "model.trim finds one, model.linearize_along(run) has A(t), B(t)"
        )
    part = about.controllability
    if part.has_inputs and not part.is_stabilizable:
        names = {
            name
            for combination in (*part.nonholonomic, *part.integrals, *part.unreached)
            for name in combination
        }
        listed = ", ".join(name for name in about.states if name in names)
        sentences.append(
            f"inputs move {part.rank} of {part.size} directions, and what they don't move among {listed} doesn't "
            "die out: linear-quadratic regulators don't exist; .reduced() leaves that out"
        )
    growing = (
        max((pole.real for pole in about.whole.controllability.poles), default=0) if about.whole else 0.0
    )
    if growing > DIES * (1 + abs(growing)):
        sentences.append(f"what was left out grows on its own, at up to {growing:.3g} 1/s: no input moves it")
    return tuple(sentences)
