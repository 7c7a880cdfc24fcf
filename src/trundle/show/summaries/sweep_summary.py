"""What a sweep brought: how many robots, and how its measures are distributed."""

from __future__ import annotations

import math

from trundle.show.summaries.lines import quantity, table
from trundle.sweeps.outcome import Sweep
from trundle.sweeps.variation import Grid

# The quantiles that tell a distribution: nine in ten robots lie between the outer ones.
_SHARES = (0.05, 0.5, 0.95)
# Digits of numbers in tables: as many as a column of a terminal holds beside eight others.
_DIGITS = 4
_OUTCOMES = {
    "diverged": "diverged, and have no numbers", "overturned": "overturned", "stuck": "got stuck",
    "beyond_map": "left the map, and have no numbers",
    "unsettled": "found no place to stand on, and have no numbers",
}  # fmt: skip


def sweep_record(found: Sweep) -> dict[str, object]:
    """A sweep as plain data."""
    measures: dict[str, object] = {}
    for name in found.measures:
        whole = found.moments(name)
        low, middle, high = found.quantiles(name, _SHARES)
        numbers = {
            "mean": whole.mean, "standard_deviation": whole.deviation, "least": whole.least,
            "quantile_0.05": low, "median": middle, "quantile_0.95": high, "greatest": whole.greatest,
        }  # fmt: skip
        plain = {key: None if math.isnan(value) else float(value) for key, value in numbers.items()}
        ends = dict(zip(("robot_of_least", "robot_of_greatest"), _extremes(found, name), strict=False))
        measures[name] = {"unit": _unit(found, name), "robots": whole.count, **plain, **ends}
    return {
        "robot": found.work.name,
        "robots": found.count,
        "skipped": found.skipped,
        **found.outcomes,
        "steps": found.work.steps,
        "dt": found.work.dt,
        "over": {name: each.plain for name, each in found.work.design.over.items()},
        "measures": measures,
        **({"sobol_indices": _indices(found)} if found.work.design.draws == "indices" else {}),
    }


def sweep_text(found: Sweep) -> str:
    """The same for people."""
    duration = quantity(found.work.steps * found.work.dt, "s")
    lines = [f"{found.work.name}: {found.count:,} robots over {duration}, {found.work.steps:,} steps each"]
    design = found.work.design
    if design.drawn and design.samples == 1:
        lines.append("distributions were drawn from once: --samples N, or samples=N, draws more robots")
    if found.skipped:
        lines.append(f"{found.skipped:,} of them were in the store already")
    for outcome, count in found.outcomes.items():
        if count:
            lines.append(f"{count:,} robots {_OUTCOMES[outcome]} ({count / found.count:.2%})")
    lines += ["", *_varied(found), "", *_measured(found), "", *_ends(found)]
    if found.work.design.draws == "indices":
        lines += ["", *_shares(found)]
    return "\n".join(lines)


def _varied(found: Sweep) -> list[str]:
    """A table of what varies, and how."""
    rows = [("varied", "how")]
    for name, each in found.work.design.over.items():
        kind, *numbers = each.plain
        if isinstance(each, Grid):
            ends = f"{min(each.values):g} to {max(each.values):g}"
            rows.append((name, f"{len(each.values):,} values, {ends}" if len(each.values) > 1 else ends))
        else:
            inside = ", ".join(f"{number:g}" for number in numbers if isinstance(number, float))
            rows.append((name, f"{kind}({inside})" if inside else f"{kind} {numbers[0]}"))
    return table(rows)


def _measured(found: Sweep) -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("measure", "unit", "mean", "± sd", "least", "5 %", "median", "95 %", "greatest")
    ]
    for name in found.measures:
        whole, quantiles = found.moments(name), found.quantiles(name, _SHARES)
        numbers = (whole.mean, whole.deviation, whole.least, *quantiles, whole.greatest)
        rows.append((name, _unit(found, name), *(_short(number) for number in numbers)))
    return table(rows, right=range(2, 9))


def _ends(found: Sweep) -> list[str]:
    """The robots with the least and the greatest of every measure, and what they have."""
    rows: list[tuple[str, ...]] = [("least and greatest", "robot", "value", *found.varied)]
    for name in found.measures:
        for robot in _extremes(found, name):
            own = (found.store.read(each, robot, 1)[0] for each in (name, *found.varied))
            rows.append((name, f"{robot:,}", *(_short(float(number)) for number in own)))
    return table(rows, right=range(1, 3 + len(found.varied)))


def _extremes(found: Sweep, name: str) -> list[int]:
    """The robot with the least, and the one with the greatest; none where no robot has the measure."""
    return [robot for largest in (False, True) for robot in found.extremes(name, 1, largest)]


def _shares(found: Sweep) -> list[str]:
    """A table of Sobol' indices with their 95 % intervals, a row a measure and what varies."""
    rows = [("Sobol' index of", "for", "alone", "95 %", "with all others", "95 %")]
    for name in found.measures:
        own = found.sobol_indices(name)
        for k, varied in enumerate(own.names):
            ends = [
                " to ".join(f"{end:.3f}" for end in each[k])
                for each in (own.first_interval, own.total_interval)
            ]
            rows.append((varied, name, f"{own.first[k]:.3f}", ends[0], f"{own.total[k]:.3f}", ends[1]))
    return table(rows, right=(2, 4))


def _indices(found: Sweep) -> dict[str, object]:
    parts: dict[str, object] = {}
    for name in found.measures:
        own = found.sobol_indices(name)
        parts[name] = {
            varied: {"first": float(own.first[k]), "total": float(own.total[k])}
            for k, varied in enumerate(own.names)
        }
    return parts


def _unit(found: Sweep, name: str) -> str:
    return next(each.unit for each in found.work.measures if each.text == name)


def _short(number: float) -> str:
    return "—" if math.isnan(number) else f"{number:.{_DIGITS}g}"
