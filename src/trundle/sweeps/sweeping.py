"""`trundle.sweep`: what becomes of many robots that differ, and of what they differ in."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from trundle.choices import Mode, Precision
from trundle.errors import InputError
from trundle.expected import check_bool, check_int
from trundle.files import path_of
from trundle.gpu.devices import device_of
from trundle.model.arguments import Given, named
from trundle.model.lanes import NumbersLike
from trundle.model.opening import source_of
from trundle.model.placed import warn_of_references
from trundle.model.plant import Plant
from trundle.operating_system import available_cores
from trundle.progress import Progress
from trundle.robot.terrain import Terrain
from trundle.simulation.options import positive, whole
from trundle.sweeps.cluster import client_kind, reached, roll_there
from trundle.sweeps.definition import text_of
from trundle.sweeps.design import Draws
from trundle.sweeps.local import roll_here
from trundle.sweeps.outcome import Sweep
from trundle.sweeps.request import SweepRequest, work_of_request
from trundle.sweeps.store import Store, alone, create, open_store, resumed
from trundle.sweeps.work import BLOCK, Work

# Robots a chunk: a megabyte a name. Fewer where a thread would else have less than four chunks.
_CHUNK = 131_072
_CHUNKS_A_THREAD = 4
# On a GPU, which has room for some 70,000 threads: enough that the last ones don't count.
_CHUNK_OF_GPU = 262_144
# Chunks of a GPU that are under way: one rolls, the cores make the starts of others ready and write their rows.
_AHEAD = 4


def sweep(
    model: Given | Plant,
    *,
    over: Mapping[str, object],
    measures: Sequence[str],
    samples: int = 1,
    draws: Draws = "random",
    seed: int = 0,
    initial: Mapping[str, NumbersLike] | None = None,
    inputs: Mapping[str, NumbersLike] | None = None,
    parameters: Mapping[str, NumbersLike] | None = None,
    steps: int = 1000,
    dt: float | str | None = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
    chunk: int | None = None,
    threads: int | None = None,
    client: object = None,
    other_cpu: bool = False,
    base: str | None = None,
    device: str = "cpu",
    precision: Precision = "double",
    terrain: Terrain | Mapping[str, object] | None = None,
    mode: Mode = "dynamic",
    progress: bool | Callable[[float], None] = True,
) -> Sweep:
    """Roll many robots that differ, and keep a few numbers of every one.

    Robots move as `rollout` moves them, by the classical Runge-Kutta method of fixed step. Measures are formed in
    native code while they roll, so no motion is stored. The same sweep gives the same bits, whatever the number of
    threads and the size of chunks, on one kind of CPU.

    Parameters
    ----------
    model : Model, Robot, Document, path or mapping
        What moves; what is no model is derived first.
    over : mapping of str to text, array_like or distribution
        What varies by name: a parameter ("r"), a start ("initial.theta"), an input ("inputs.left_motor.voltage").
        Values ("0.14:0.16:101", "0.1, 0.2", a list) make a grid; "uniform(low, high)", "normal(mean, sd)" and
        continuous distributions of `scipy.stats` with their arguments are drawn from. All grid points go with all
        samples. Lists of motions are plans of a tracker ("inputs.track") or inputs over time; "noise.seed" says what
        sensors draw.
    measures : sequence of str
        What is kept: "final.x", "min(y)", "max(energy.kinetic)", "mean(v_x)", "integral(power.in)", "rms(omega)",
        "first(x > 2 m)", of any state or output.
    samples : int
        Draws at a grid point.
    draws : {"random", "sobol", "latin", "indices"}
        How: independently, as a scrambled Sobol sequence, as a Latin hypercube, or for `sobol_indices`, which takes
        `samples` × (names + 2) robots.
    seed : int
        Of the draws. A name's draws don't hang on what else varies, where they are "random".
    initial, inputs, parameters : mapping of str to number, str or array_like
        What all robots have. Inputs may be (steps, 1), or a motion that a tracker follows.
    steps : int
        How many steps.
    dt : float or str, s
        The length of a step, by default 1 ms; of what goes by steps of its own theirs, over a terrain 10 ms.
    store : path, optional
        The folder of a Zarr store for the rows; without it they stay in memory.
    resume : bool
        Whether to go on with a store that is there. It must hold the same sweep.
    chunk : int, optional
        Robots that are rolled and written at a time, a multiple of 4096.
    threads : int, optional
        How many threads; by default one a core.
    client : distributed.Client or str, optional
        A Dask client, or its scheduler's address ("tcp://HOST:PORT"), to roll on its workers; they must see `store`.
    other_cpu : bool
        Whether to go on although the store was begun with another instruction set, where last bits may differ.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.
    device : {"cpu", "cuda"}
        What rolls the robots, as for `rollout`; on a cluster the GPU of every worker.
    precision : {"double", "single"}
        Of numbers on a GPU.
    terrain : Terrain or mapping, optional
        The ground that wheels roll over, by default the file's; as in `rollout`. Its numbers vary, too
        ("terrain.surfaces.hill.height"), and seeds of random ground by their values ("terrain.seed": "0:99:100").
        Robots then settle onto the ground.
    mode : {"dynamic", "kinematic"}
        Over terrain, as in `simulate`.
    progress : bool or callable
        As for `rollout`.

    Returns
    -------
    Sweep
        Its rows, statistics, figures, and any robot's whole run.

    Raises
    ------
    InputError
        For names that aren't there, distributions that are none, a store of another sweep or in use.
    NumericsError
        Where the store has no room left; what is whole is kept.

    Examples
    --------
    >>> import trundle
    >>> robot = trundle.catalog.differential_drive()
    >>> volts = {"left_motor.voltage": 20.0, "right_motor.voltage": 24.0}
    >>> over = {"r": "14 cm:16 cm:3", "body.mass": "uniform(40, 60)"}
    >>> found = trundle.sweep(robot, over=over, samples=100, inputs=volts, measures=["final.x", "max(omega)"])
    >>> found.count, found["final.x"].shape
    (300, (300,))

    References
    ----------
    W. Kutta, "Beitrag zur näherungsweisen Integration totaler Differentialgleichungen", 1901.
    """
    check_bool(resume, "resume")
    whole(steps, "steps", 1)
    count = available_cores() if threads is None else check_int(threads, "threads", 1)
    source = source_of(model, "sweep", base)
    request = SweepRequest(
        over, measures, (samples, draws, seed), named(initial, "initial"), named(inputs, "inputs"),
        named(parameters, "parameters"), steps, None if dt is None else positive(dt, "dt", "s"),
        device_of(device, precision),
    )  # fmt: skip
    work = work_of_request(source, terrain, mode, request)
    given = {*work.common_inputs, *(label for case in work.cases.values() for label in case.inputs)}
    warn_of_references(work.plant.control_description, work.plant.inputs, given)
    place = None if store is None else path_of(store, "sweep")
    if client is not None and place is None:
        client_kind()
        hint = "name a folder that all of them see: store=…"
        raise InputError("a cluster's workers write to a store", key="store", hint=hint)
    with (
        reached(client) as cluster,
        _opened(work, place, check_bool(resume, "resume"), _chunk(chunk, work, count)) as kept,
    ):
        kept.admit(check_bool(other_cpu, "other_cpu"))
        left = [int(index) for index in np.flatnonzero(~kept.whole())]
        robots = sum(kept.rows_of(index)[1] for index in left)
        with Progress(progress, robots * steps, f"sweeping {work.name}", "robot steps") as bar:
            told = _RolloutProgress(bar, robots)
            if cluster is None:
                roll_here(work, kept, left, count if work.device.is_cpu else min(count, _AHEAD), told)
            else:
                roll_there(cluster, kept, left, other_cpu, told)
    return Sweep(kept, work, work.design.count - robots)


class _RolloutProgress:
    """Tells progress how many robots have rolled."""

    def __init__(self, bar: Progress, robots: int) -> None:
        self._bar, self._robots, self._rolled = bar, robots, 0

    def __call__(self, robots: int) -> None:
        self._rolled += robots
        self._bar.fraction(self._rolled / self._robots)


@contextmanager
def _opened(work: Work, place: Path | None, resume: bool, chunk: int) -> Iterator[Store]:
    """The store, new or gone on with, which nobody else writes to as long as this lasts."""
    text = text_of(work)
    if resume and place is None:
        raise InputError("what is in memory can't be gone on with", key="resume", hint="name the store")
    if resume and place is not None and place.exists():
        store = open_store(place)
        resumed(store, text)
    else:
        work.check()
        store = create(work, text, place, chunk)
    with alone(place):
        try:
            yield store
        except InputError:
            if place is not None and not resume and not store.whole().any():
                shutil.rmtree(place)  # what was asked for can't be: nothing is left of it
            raise


def _chunk(given: int | None, work: Work, threads: int) -> int:
    """Robots a chunk: what was asked for, or what keeps all threads busy."""
    robots = work.design.count
    if given is None and not work.device.is_cpu:
        return min(_CHUNK_OF_GPU, -(-robots // BLOCK) * BLOCK)
    if given is None:
        fair = -(-robots // (_CHUNKS_A_THREAD * threads))
        return min(_CHUNK, -(-fair // BLOCK) * BLOCK)
    if check_int(given, "chunk", BLOCK) % BLOCK:
        near = -(-given // BLOCK) * BLOCK
        raise InputError(f"expected a multiple of {BLOCK}, got {given}", key="chunk", hint=f"such as {near}")
    return given
