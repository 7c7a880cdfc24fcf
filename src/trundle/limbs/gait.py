"""`Gait`: a walk in cycles from strike to strike, a side by itself: its curves, measures of its steps, its work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, choose, require_known
from trundle.frozen import Brief, Frozen, Rebuilt, settle
from trundle.limbs.capture.cycles import column_of, named
from trundle.limbs.gait_events import FootEvents
from trundle.limbs.gait_measures import GaitMeasure
from trundle.results import Run


@dataclass(frozen=True, eq=False, repr=False)
class Gait(Brief, Rebuilt):
    """A walk cut into cycles, from a strike of a foot to its next one.

    `InverseDynamicsResult.gait` makes it.

    Parameters
    ----------
    run : Run
        Angles, moments and powers by their anatomical names, as `trundle.clinical` gives them.
    steps : mapping of str to Steps
        When feet meet the ground and leave it, by side.
    source : "recording", "plates" or "markers"
        What told it.
    spans : mapping of str to array, shape (k, 2), s
        Whole cycles by side.
    loaded : mapping of str to array of bool, shape (k,)
        In which of them the foot's force is known over the whole stance: moments and powers are of these.
    curves : mapping of str to array, shape (k, 101)
        By the run's names, from 0 to 100 % of the cycle.
    measures : tuple of Measure
        Times and lengths of steps, and the work of joints by phase.
    sides : mapping of str to str
        Which side bodies and joints are on; "" for the middle.
    bands : mapping of str to array, shape (101,)
        By names of moments how far their means may be off by noise and segments' parameters, with 95 % probability.
    """

    run: Run
    steps: Mapping[str, FootEvents]
    source: str
    spans: Mapping[str, FloatArray]
    loaded: Mapping[str, np.ndarray[tuple[int], np.dtype[np.bool_]]]
    curves: Mapping[str, FloatArray]
    measures: tuple[GaitMeasure, ...]
    sides: Mapping[str, str] = field(default_factory=dict)
    bands: Mapping[str, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = ("steps", "spans", "loaded", "curves", "sides", "bands")
        settle(self, **{name: Frozen(getattr(self, name)) for name in names})

    @cached_property
    def percent(self) -> FloatArray:
        """0 to 100, shape (101,)."""
        return np.linspace(0.0, 100.0, next(iter(self.curves.values())).shape[1])

    def mean(self, name: str) -> FloatArray:
        """The mean of a curve over its cycles.

        Parameters
        ----------
        name : str
            Such as "right_hip_flexion.moment".

        Returns
        -------
        array, shape (101,)

        Raises
        ------
        InputError
            There is no such curve.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> events = {"Left Foot Strike": (0.5, 1.5, 2.5), "Left Foot Off": (1.1, 2.1)}
        >>> swing = {"link_1.angle": np.sin(2 * np.pi * t)}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), trundle.Recording(t, {}, swing, events=events))
        >>> gait = arm.gait(movements={"link_1": "left hip flexion"})
        >>> gait.mean("left_hip_flexion.angle")[25].round(6)
        np.float64(-1.0)
        """
        return self._curve(name).mean(axis=0)

    def deviation(self, name: str) -> FloatArray:
        """The standard deviation (n − 1) of a curve over its cycles; zero of one cycle alone.

        Parameters
        ----------
        name : str
            Such as "right_hip_flexion.moment".

        Returns
        -------
        array, shape (101,)

        Raises
        ------
        InputError
            There is no such curve.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> events = {"Left Foot Strike": (0.5, 1.5, 2.5), "Left Foot Off": (1.1, 2.1)}
        >>> swing = {"link_1.angle": np.sin(2 * np.pi * t)}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), trundle.Recording(t, {}, swing, events=events))
        >>> gait = arm.gait(movements={"link_1": "left hip flexion"})
        >>> bool(gait.deviation("left_hip_flexion.angle").max() < 1e-12)
        True
        """
        curve = self._curve(name)
        return curve.std(axis=0, ddof=1) if len(curve) > 1 else np.zeros(curve.shape[1])

    def band(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Between what the mean of a moment is with 95 % probability, as far as noise and segments' parameters go.

        Of K cycles alike the noise of markers is smaller by √K; segments' parameters, and what smoothing takes away,
        are off in all cycles alike.

        Parameters
        ----------
        name : str
            Such as "right_hip_flexion.moment".

        Returns
        -------
        tuple of two arrays, shape (101,)
            Low and high.

        Raises
        ------
        InputError
            The gait was made without `bands`, or they know no such moment.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> swing = {"link_1.angle": np.sin(2 * np.pi * t)}
        >>> events = {"Left Foot Strike": (0.5, 1.5, 2.5), "Left Foot Off": (1.1, 2.1)}
        >>> heavy = {"link_1": {"mass": 0.1}}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), trundle.Recording(t, {}, swing, events=events))
        >>> gait = arm.gait(movements={"link_1": "left hip flexion"}, bands=arm.uncertainty(None, heavy))
        >>> gait.bands  # nobody knows the foot's force
        {}
        """
        if not self.bands:
            hint = "gait(bands=found.uncertainty(…)) makes it with bands (--gait --bands)"
            raise InputError("the gait was made without bands", key=name, hint=hint)
        require_known(name, self.bands, f"the gait has no band of '{name}'", key=name, hint=choose)
        mean, half = self.mean(name), self.bands[name]
        return mean - half, mean + half

    def off(self, side: str) -> float:
        """When in a cycle the foot of a side leaves the ground, on average (%); NaN where nobody saw it.

        Parameters
        ----------
        side : str
            "right", "left", or "" of a leg alone.

        Returns
        -------
        float

        Raises
        ------
        InputError
            There is no such side.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> events = {"Left Foot Strike": (0.5, 1.5, 2.5), "Left Foot Off": (1.1, 2.1)}
        >>> swing = {"link_1.angle": np.sin(2 * np.pi * t)}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), trundle.Recording(t, {}, swing, events=events))
        >>> gait = arm.gait(movements={"link_1": "left hip flexion"})
        >>> round(gait.off("left"), 6)
        60.0
        """
        require_known(side, self.spans, f"the gait has no side {side!r}", key="side")
        found = [each.mean for each in self.measures if each.side == side and each.name == "stance"]
        return found[0] if found else float("nan")

    def table(self) -> dict[str, FloatArray]:
        """Means and standard deviations (n − 1) over the cycles as columns, with their units; angles in degrees.

        Returns
        -------
        dict of str to array, shape (101,)
            "percent [%]", then for each curve NAME [UNIT] and NAME.sd [UNIT]; of moments with bands also NAME.low and
            NAME.high.

        Raises
        ------
        InputError
            Never for a gait that was made.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> events = {"Left Foot Strike": (0.5, 1.5, 2.5), "Left Foot Off": (1.1, 2.1)}
        >>> swing = {"link_1.angle": np.sin(2 * np.pi * t)}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), trundle.Recording(t, {}, swing, events=events))
        >>> gait = arm.gait(movements={"link_1": "left hip flexion"})
        >>> list(gait.table())[:2]
        ['percent [%]', 'left_hip_flexion.angle [deg]']
        """
        columns = {"percent [%]": self.percent}
        for name in self.curves:
            unit = self.run.units.get(name, "")
            factor, unit = (np.degrees(1.0), "deg") if unit == "rad" else (1.0, unit)
            columns |= column_of(name, unit, factor * self.mean(name), factor * self.deviation(name))
            if name in self.bands:
                ends = zip(("low", "high"), self.band(name), strict=True)
                columns |= {named(f"{name}.{end}", unit): values for end, values in ends}
        return columns

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The measures as rows of text: measure, unit, side, mean, deviation, number of cycles; their names first.

        Returns
        -------
        iterator of tuple of str

        Raises
        ------
        InputError
            Never for a gait that was made.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> events = {"Left Foot Strike": (0.5, 1.5, 2.5), "Left Foot Off": (1.1, 2.1)}
        >>> swing = {"link_1.angle": np.sin(2 * np.pi * t)}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), trundle.Recording(t, {}, swing, events=events))
        >>> gait = arm.gait(movements={"link_1": "left hip flexion"})
        >>> next(gait.rows())
        ('measure', 'unit', 'side', 'mean', 'sd', 'cycles')
        """
        yield "measure", "unit", "side", "mean", "sd", "cycles"
        for each in self.measures:
            numbers = (f"{each.mean:.9g}", f"{each.deviation:.9g}" if each.values.size > 1 else "")
            yield each.name, each.unit, each.side, *numbers, str(each.values.size)

    @property
    def summary(self) -> dict[str, object]:
        """What told the events, when they were, and all measures, as plain data."""
        events = {
            side: {"strikes": each.strikes.tolist(), "offs": each.offs.tolist()}
            for side, each in self.steps.items()
        }
        cycles = {side: {"whole": len(each), "loaded": int(each.sum())} for side, each in self.loaded.items()}
        head, *rows = self.rows()
        measures = [dict(zip(head, row, strict=True)) for row in rows]
        about = {name: self.run.summary[name] for name in ("convention", "moments", "mass", "height")}
        return {"events_by": self.source, "events": events, "cycles": cycles, **about, "measures": measures}

    def spans_of(self, body: str) -> FloatArray:
        """The cycles of a body's side, (k, 2), s; of the trunk the first side's.

        Parameters
        ----------
        body : str
            A body, or a joint for the body that it carries.

        Returns
        -------
        array, shape (k, 2), s

        Raises
        ------
        InputError
            There is no such body.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> events = {"Left Foot Strike": (0.5, 1.5, 2.5), "Left Foot Off": (1.1, 2.1)}
        >>> swing = {"link_1.angle": np.sin(2 * np.pi * t)}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), trundle.Recording(t, {}, swing, events=events))
        >>> gait = arm.gait(movements={"link_1": "left hip flexion"})
        >>> gait.spans_of("link_1").shape
        (2, 2)
        """
        require_known(body, self.sides, f"there is no body '{body}'", key="body")
        side = self.sides[body]
        return self.spans[side] if side in self.spans else next(iter(self.spans.values()))

    def _curve(self, name: str) -> FloatArray:
        require_known(name, self.curves, f"the gait has no curve '{name}'", key=name)
        return self.curves[name]
