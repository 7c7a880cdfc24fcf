"""One self-contained page of runs: data, scripts, styles and equations in one text."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import cast

from trundle.documents import Document
from trundle.errors import InputError, counted
from trundle.files import signature
from trundle.formulas.typeset.hypertext import STYLE
from trundle.model import Model
from trundle.model.arguments import Given, opened
from trundle.progress import Doing
from trundle.results import Run
from trundle.robot import Robot
from trundle.show.figures.field import FieldLike, FieldPicture
from trundle.show.figures.panels import described
from trundle.show.page.cloud import cloud_of, drives_live, problem_of
from trundle.show.page.inert_json import to_json
from trundle.show.page.inline import InlinePage
from trundle.show.page.joining import asset, filled, joined, policy
from trundle.show.page.knobs import Knob
from trundle.show.page.live import live_of
from trundle.show.page.page_equations import page_equations
from trundle.show.page.payload import chosen_data, run_data
from trundle.show.page.sweep_runs import runs_of_some
from trundle.show.summaries.run_summary import notes_of
from trundle.simulation.problem import Problem, solve
from trundle.simulation.runfile import task_of
from trundle.sweeps.outcome import Sweep


def page_of(
    given: Run | Sequence[Run] | Sweep | Given,
    *,
    base: str | None = None,
    field: FieldLike | None = None,
    progress: bool = True,
) -> str:
    """A page that shows runs: the robot as it moved, its values over time, and what several runs differ in.

    Of a model, or of what leads to one, the page is alive: what can be changed are sliders, and it simulates anew.

    Parameters
    ----------
    given : Run or sequence of Run, Sweep, or path, mapping, Document, Robot or Model
        The run, or those that are compared, the one that matters first; a sweep, whose robots are dots to click on; or
        what `trundle.run` takes.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.
    field : tuple (file, width, height), optional
        A picture under what is seen from above, and its size (m, or text with a unit), as in `run.plot.path`.
    progress : bool
        Whether to say what it is at after a second's work where a person watches.

    Returns
    -------
    str
        HTML that needs no network and no other file.

    Raises
    ------
    InputError
        For what is no run and leads to none, and for models that no page can hold.

    Examples
    --------
    >>> import trundle
    >>> from trundle.show.page import page_of
    >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 1.0, samples=11)
    >>> page_of(run)[:15]
    '<!doctype html>'
    """
    return shown_page(given if base is None else opened(given, "a page", base), progress, field).text


def shown_page(
    given: Run | Sequence[Run] | Sweep | Given,
    progress: bool | Callable[[float], None],
    field: FieldLike | None = None,
) -> InlinePage:
    """The page of runs or of a model, with its still picture, over a field if it has one."""
    under = None if field is None else FieldPicture.read(field)
    if isinstance(given, (Robot, Model, Document, Mapping, str, os.PathLike)):
        return _live_page(given, progress, under)
    if isinstance(given, Sweep):
        return _sweep_page(given, progress)
    runs = list(given) if isinstance(given, Sequence) else [given]
    for run in runs:
        if not isinstance(run, Run):
            hint = "run = trundle.run(path); of a drive: .run(), of loads: .to_run()"
            raise InputError(f"a page shows runs, not {type(run).__name__}", hint=hint)
    if not runs:
        raise InputError("a page needs a run at least, none was given")
    return _runs_page(runs, progress, under)


def _runs_page(
    runs: Sequence[Run], progress: bool | Callable[[float], None], under: FieldPicture | None
) -> InlinePage:
    """The page of runs as they are."""
    title = " · ".join(dict.fromkeys(run.name for run in runs))
    with Doing(progress, f"making the page of {title}") as doing:
        count = sum(map(len, runs))
        doing.at(counted(count, "sample"))
        data = {**run_data(runs), "live": None}
        doing.at("equations")
        return _assembled(title, data, runs[0], under)


def _live_page(
    given: Given, progress: bool | Callable[[float], None], under: FieldPicture | None
) -> InlinePage:
    """The page of a model: its run as Python has it until something is changed.

    Over terrain it is the run alone: its steps search for the wheels' contacts, which no browser does.
    """
    with Doing(progress, "making the page") as doing:
        doing.at("its model")
        task = task_of(given)
        if not isinstance(task.problem, Problem):
            doing.at("its run")
            return _runs_page([task.run()], progress, under)
        doing.at("its programs for the browser")
        live = live_of(task.problem)
        doing.at("its run")
        run = task.run()
        system = task.problem.system
        data = run_data([run], {*system.states, *task.problem.signals, *system.outputs})
        doing.at("its equations")
        return _assembled(run.name, {**data, "live": live}, run, under)


def _sweep_page(found: Sweep, progress: bool | Callable[[float], None]) -> InlinePage:
    """The page of a sweep, with its robots as dots: the one that is chosen drives.

    It simulates that robot; where no browser can, over terrain say, it has the whole runs of some.
    """
    with Doing(progress, "making the page") as doing:
        if not drives_live(found):
            return _kept_sweep_page(found, doing)
        problem = problem_of(found)
        doing.at("its programs for the browser")
        live = live_of(problem, found.varied)
        doing.at("its run")
        run = solve(problem, False)
        system = problem.system
        data = run_data([run], {*system.states, *problem.signals, *system.outputs})
        cloud = cloud_of(found, [knob["key"] for knob in cast("list[Knob]", live["knobs"])])
        doing.at("its equations")
        return _assembled(f"sweep of {run.name}", {**data, "live": live, "cloud": cloud}, run, None)


def _kept_sweep_page(found: Sweep, doing: Doing) -> InlinePage:
    """The page of a sweep that has the runs of some of its robots."""
    cloud = cloud_of(found)
    runs = runs_of_some(found, cast("list[int]", cloud["robots"]), doing)
    doing.at("its numbers")
    choices = {"runs": list(runs), "notes": [notes_of(run) for run in runs.values()]}
    first = next(iter(runs.values()))
    data = {**chosen_data(list(runs.values())), "live": None, "cloud": {**cloud, **choices}}
    doing.at("its equations")
    return _assembled(f"sweep of {first.name}", data, first, None)


def _equations(run: Run) -> str:
    if "yaml" not in run.description:
        return ""
    return page_equations(described(run.description["yaml"]), run.description.get("parameters", {}))


def _still(run: Run) -> bytes | None:
    """A picture for where no script may run; None where nothing of it moves or its robot is unknown."""
    try:
        return run.plot.path_png()
    except InputError:
        return None


def _image(still: bytes) -> str:
    """Without an attribute `style`, which the page's policy forbids."""
    return f'<img alt="its path" loading="lazy" src="data:image/png;base64,{b64encode(still).decode()}">'


def _assembled(title: str, data: dict[str, object], run: Run, under: FieldPicture | None) -> InlinePage:
    """The page of these data: its scripts are those that the data need, and its policy allows no others."""
    data = data if under is None else {**data, "field": under.plain()}
    still = _still(run)
    caveats = (
        [] if "choices" in data else notes_of(run)
    )  # of choices only the one that is shown has its notes said
    parts = {"createControls": "controls"} if data["live"] else {}
    parts |= {"createView3d": "view3d"} if data["spatial"] else {}
    parts |= {"createPlanes": "planes"} if data["planes"] else {}
    parts |= {"createCloud": "cloud"} if "cloud" in data else {}
    script = f"{joined('page', *parts.values())}\nstartPage(document, {{ {', '.join(parts)} }});\n"
    style = "\n".join([*(asset(name) for name in ("page.css", "controls.css")), STYLE])
    text = filled(
        asset("page.html"),
        {
            "signature": escape(signature()),
            "policy": escape(policy([script], [style])),
            "title": escape(title),
            "style": style,
            "caveats": "".join(f'<p class="caveat">{escape(note)}</p>' for note in caveats),
            "equations": _equations(run),
            "still": "" if still is None else _image(still),
            "data": to_json(data),
            "script": script,
        },
    )
    return InlinePage(title, text, still)
