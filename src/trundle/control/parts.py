"""Parts of a linear system: what inputs move, or chosen states; and what a regulator misses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.control.linear_control import DIES, uncontrollable, without_rounding
from trundle.control.linearization import Linearization
from trundle.errors import InputError, require_known
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
        require_known(name, about.states, f"'{name}' is not a state of this linearisation", key=key)


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
