"""A last look at a derived model: does every independent speed have inertia?"""

from __future__ import annotations

from typing import Any

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.mass_matrix import mass_matrix
from trundle.model.layout import configure, independent_coordinates


def check_mass(robot: Any, model: Any, numeric: Assembly) -> None:
    """Raise InputError naming the speeds without inertia, for which no acceleration can be found.

    Looks at the rates at one generic state; only when they aren't finite does it form the mass matrix to find the
    culprit.
    """
    rng = np.random.default_rng(0)
    state = rng.uniform(0.1, 0.5, len(model.states))
    for place, name in enumerate(model.states):
        if name == "q_w":
            state[place : place + 4] /= np.linalg.norm(state[place : place + 4])
    (rate,) = model.dynamics.evaluate(
        state, np.zeros(len(model.inputs)), np.array(list(model.parameters.values()))
    )
    if np.isfinite(rate).all() and np.abs(rate).max(initial=0.0) < 1e15:
        return
    names = independent_coordinates(numeric)
    at = configure(numeric, names, list(state[: len(names)]))
    mass = np.array(mass_matrix(numeric.tree, at.poses), dtype=float)
    values, vectors = np.linalg.eigh(mass)
    empty = vectors[:, np.abs(values) <= 1e-12 * max(np.abs(values).max(), 1e-300)]
    culprits = [
        name for name, row in zip(numeric.speeds, empty, strict=False) if np.abs(row).max(initial=0.0) > 1e-6
    ]
    what = ", ".join(culprits) or "some of its speeds"
    raise InputError(
        f"'{robot.name}' has no inertia to resist {what}: its accelerations can't be found",
        key="robot",
        hint="give the bodies and wheels that move so a mass or an inertia, "
        "or a rotor_inertia to the motor that drives them",
    )
