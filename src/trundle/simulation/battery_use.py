"""What batteries gave and got back on a trip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.documents.reader import parse
from trundle.expected import check_type
from trundle.results import Run
from trundle.results.between import further_points
from trundle.robot import Robot


@dataclass(frozen=True)
class BatteryUse:
    """Charges (A s) and energies between a battery's terminals (J): what it gave, and what braking gave back."""

    drawn: float
    returned: float
    energy_drawn: float
    energy_returned: float

    @property
    def words(self) -> str:
        """In A h and W h, for a person."""
        back = f"; {self.returned / 3600:.3g} Ah, {self.energy_returned / 3600:.3g} Wh came back"
        given = f"{self.drawn / 3600:.3g} Ah, {self.energy_drawn / 3600:.3g} Wh"
        return f"gave {given}{back if self.returned > 0 else ''}"


def battery_use(run: Run) -> dict[str, BatteryUse]:
    """What every battery of a run or plan gave and got back: ∫ max(±i, 0) dt, and of V i dt where i is so.

    V = E − R i. The current is taken as straight between samples and what the run knows between these, the voltage E
    without load between samples.

    Parameters
    ----------
    run : Run
        Of a simulation, or `trundle.to_run` of what was driven.

    Returns
    -------
    dict of str to BatteryUse
        By the names of the batteries whose currents the run has.

    Raises
    ------
    InputError
        It is no run; or its description can't be read.

    Examples
    --------
    >>> import trundle
    >>> robot = trundle.catalog.swerve(motor="kraken_x60", friction=1.1, battery=12.6)
    >>> driven = trundle.follow(trundle.pose_path([(0, 0, 0), (2, 0, 0)]), robot)
    >>> use = trundle.battery_use(driven.run())["battery"]
    >>> use.drawn > use.returned > 0
    True
    """
    text = check_type(run, Run, "run", "trundle.simulate gives one").description["yaml"]
    return use_by_battery(parse(text).robot, run)


def use_by_battery(robot: Robot, run: Run) -> dict[str, BatteryUse]:
    """The same of a run of this robot."""
    read = robot.resolver(run.description["parameters"])
    return {
        name: _use(run, name, float(read(battery.internal_resistance)))
        for name, battery in robot.batteries.items()
        if f"{name}.current" in run
    }


def _use(run: Run, name: str, resistance: float) -> BatteryUse:
    """At the samples and what is known between them."""
    current = run[f"{name}.current"]
    moments, known = further_points(run, f"{name}.current")
    times = np.concatenate([run.time, moments])
    order = np.argsort(times, kind="stable")
    source = np.interp(times, run.time, run[f"{name}.voltage"] + resistance * current)
    return use_of(times[order], np.concatenate([current, known])[order], source[order], resistance)


def use_of(t: FloatArray, i: FloatArray, source: FloatArray, resistance: float) -> BatteryUse:
    """The integrals of currents (A) and voltages without load (V) that are straight between times (s), all (n,)."""
    turns = np.flatnonzero(i[:-1] * i[1:] < 0)
    shares = i[turns] / (i[turns] - i[turns + 1])
    zeros, unloaded = (row[turns] + shares * np.diff(row)[turns] for row in (t, source))
    t, i, source = (np.insert(row, turns + 1, new) for row, new in ((t, zeros), (i, 0.0), (source, unloaded)))
    mean, unloaded = (i[:-1] + i[1:]) / 2, (source[:-1] + source[1:]) / 2
    power = (source - resistance * i) * i
    charges = np.diff(t) * mean
    # Simpson's rule is exact for what is linear times linear
    energies = np.diff(t) * (power[:-1] + 4 * (unloaded - resistance * mean) * mean + power[1:]) / 6
    return BatteryUse(
        *(float(np.maximum(sign * each, 0).sum()) for each in (charges, energies) for sign in (1, -1))
    )
