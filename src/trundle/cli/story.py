"""What a run came to, in words and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trundle.cli.output import Output, quantity, seconds, table, terminal_width
from trundle.cli.portrait import (
    bodies_of,
    listed,
    mobility_class,
    mobility_facts,
    model_data,
    model_facts,
    names_with_units,
    robot_data,
)
from trundle.cli.request import Request

if TYPE_CHECKING:
    from trundle.results import Run
    from trundle.simulation import Task

# States beyond this many are counted, not listed; the files have them all.
_MOST_STATES = 30
# What the checks promise (m/s, and of the energy turned over): beyond, they are marked.
RESIDUAL, IMBALANCE = 1e-9, 1e-6


def run_data(
    request: Request, task: Task, run: Run, files: Sequence[Path], notes: Sequence[str]
) -> dict[str, Any]:
    """Everything about a run as plain data, for --json."""
    robot, model = request.document.robot, task.model
    if model is not None:
        about = model_data(model)
    else:
        about = robot_data(robot, mobility_class(robot)) | {
            "coordinates": run.groups["coordinates"],
            "speeds": run.groups["speeds"],
        }
    summary = {name: value for name, value in run.summary.items() if name != "mobility"}
    return {
        **about,
        **summary,
        "mode": request.run.mode,
        "inputs": run.groups["inputs"],
        "duration": run.duration,
        "samples": len(run),
        "parameters": run.description["parameters"],
        "changed": {name: new for name, (_, new) in changed(request, task, run).items()},
        "final": run.final,
        "outputs": {name: float(run[name][-1]) for name in run.groups["outputs"]},
        "units": dict(run.units),
        "notes": [*about.get("notes", ()), *notes],
        "files": [str(path) for path in files],
    }


def changed(request: Request, task: Task, run: Run) -> dict[str, tuple[float, float]]:
    """The parameters that the run changed: the description's value, and the run's."""
    described = request.document.robot.parameter_values()
    used = run.description["parameters"]
    return {name: (described[name], used[name]) for name in task.changed}


def run_lines(
    request: Request, task: Task, run: Run, files: Sequence[Path], notes: Sequence[str], out: Output
) -> list[str]:
    """The summary for a person."""
    from trundle.robot.present import kind_of

    robot, model = request.document.robot, task.model
    facts = model_facts(model) if model is not None else _kinematic_facts(request, run)
    lines = [f"{out.heading(robot.name)}  {out.styled(kind_of(robot), 'dim')}", *out.facts(facts)]
    changes = changed(request, task, run)
    if changes:
        units = robot.parameter_units()
        text = ", ".join(
            f"{n} = {quantity(new, units.get(n, ''))} (was {old:g})" for n, (old, new) in changes.items()
        )
        lines += out.facts([("parameters", text)])
    lines += ["", out.heading("time"), *table(_times(request, run), right=(1,))]
    lines += ["", out.heading(f"at t = {run.time[-1]:g} s"), *_final(run, files)]
    lines += ["", out.heading("checks"), *table(_checks(run, out))]
    lines += [
        "",
        f"{out.heading('files')}  in {files[0].parent}",
        *out.facts([("", "  ".join(p.name for p in files))], 0),
    ]
    for note in notes:
        lines += ["", out.styled(f"note: {note}", "yellow")]
    return lines


def _kinematic_facts(request: Request, run: Run) -> list[tuple[str, str]]:
    robot, units = request.document.robot, run.units
    facts = [
        ("bodies", listed(bodies_of(robot))),
        ("coordinates", names_with_units(run.groups["coordinates"], units)),
        ("given", names_with_units(run.groups["inputs"], units)),
        *mobility_facts(mobility_class(robot)),
    ]
    return [
        *facts,
        (
            "equations",
            f"{run.summary['operations']} operations: the base's motion from the wheels', without forces",
        ),
    ]


def _times(request: Request, run: Run) -> list[tuple[str, str, str]]:
    told = {
        "derive": "before the model was kept; not now" if request.kept else "",
        "compile": "",
        "simulate": f"{run.duration:g} s, by {run.summary['method']}, {len(run)} samples",
    }
    return [(step, seconds(run.summary[f"{step}_seconds"]), text) for step, text in told.items()]


def _final(run: Run, files: Sequence[Path]) -> list[str]:
    """The final states in as many columns as fit."""
    final = list(run.final.items())
    shown = final[:_MOST_STATES]
    cells = [(name, f"{_rounded(value):.7g}", run.units.get(name, "")) for name, value in shown]
    width = sum(max(len(cell[k]) for cell in cells) for k in range(3)) + 8 if cells else 1
    across = max(1, min(3, terminal_width() // width))
    down = -(-len(cells) // across)
    blank = ("", "", "")
    rows = [
        [
            part
            for k in range(across)
            for part in (cells[k * down + row] if k * down + row < len(cells) else blank)
        ]
        for row in range(down)
    ]
    lines = table(rows, right=range(1, 3 * across, 3))
    if len(final) > len(shown):
        lines.append(f"  and {len(final) - len(shown)} more states in {files[0].name}")
    return lines


def _rounded(value: float) -> float:
    """Zero for what is nothing but rounding, so that a person isn't shown 1.2e-17 rad; files and --json keep it."""
    return 0.0 if abs(value) < 1e-12 else value


def _checks(run: Run, out: Output) -> list[tuple[str, str, str]]:
    summary = run.summary
    if summary.get("mode") == "kinematic":
        return [
            (
                "slip residual",
                quantity(summary["slip_residual"], "m/s", 3),
                "the largest contact velocity that no motion of the base removes",
            )
        ]
    good, doubtful = (
        out.styled("ok", "green"),
        out.styled("doubtful: try smaller tolerances (rtol, atol)", "yellow"),
    )
    residual, off, turned = (
        summary[name] for name in ("constraint_residual", "energy_imbalance", "energy_turned_over")
    )
    share = off / turned if turned > 0 else 0.0
    energy = f"{off:.2g} J, {share:.2g} of the {turned:.4g} J turned over"
    loops = summary.get("loop_residual")
    gap = (
        []
        if loops is None
        else [("loop residual", quantity(loops, "m", 2), good if loops <= RESIDUAL else doubtful)]
    )
    return [
        ("constraint residual", quantity(residual, "m/s", 2), good if residual <= RESIDUAL else doubtful),
        *gap,
        ("energy imbalance", energy, good if share <= IMBALANCE else doubtful),
    ]
