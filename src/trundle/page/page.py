"""One self-contained page of runs: data, scripts, styles and equations in one text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from trundle.errors import InputError
from trundle.files import signature
from trundle.page.joining import asset, filled, joined, policy
from trundle.page.page_equations import page_equations
from trundle.page.payload import run_data
from trundle.page.plain import to_json
from trundle.results import Run
from trundle.show.panels import described
from trundle.typeset.hypertext import STYLE

_STYLES = ("page.css",)


def page_of(given: Run | Sequence[Run]) -> str:
    """A page that shows runs: the robot as it moved, its values over time, and what several runs differ in.

    Parameters
    ----------
    given : Run or sequence of Run
        The run, or those that are compared, the one that matters first.

    Returns
    -------
    str
        HTML that needs no network and no other file.

    Raises
    ------
    InputError
        For what is no run.

    Examples
    --------
    >>> import trundle
    >>> from trundle.page import page_of
    >>> run = trundle.simulate(trundle.derive(trundle.catalog.pendulum()), 1.0, samples=11)
    >>> page_of(run)[:15]
    '<!doctype html>'
    """
    runs = [given] if isinstance(given, Run) else list(given)
    for run in runs:
        if not isinstance(run, Run):
            raise InputError(f"a page shows runs, not {type(run).__name__}", hint="run = trundle.run(path)")
    if not runs:
        raise InputError("a page needs a run at least, none was given")
    title = " · ".join(dict.fromkeys(run.name for run in runs))
    return _assembled(title, {**run_data(runs), "live": None}, _equations(runs[0]))


def _equations(run: Run) -> str:
    if "yaml" not in run.description:
        return ""
    return page_equations(described(run.description["yaml"]), run.description.get("parameters", {}))


def _assembled(title: str, data: dict[str, object], equations: str) -> str:
    parts = {"createControls": "controls"} if data["live"] else {}
    parts |= {"createView3d": "view3d"} if data["spatial"] else {}
    script = f"{joined('page', *parts.values())}\nstartPage(document, {{ {', '.join(parts)} }});\n"
    style = "\n".join([*(asset(name) for name in ("page.css", "controls.css")), STYLE])
    return filled(
        asset("page.html"),
        {
            "signature": escape(signature()),
            "policy": escape(policy([script], [style])),
            "title": escape(title),
            "style": style,
            "equations": equations,
            "data": to_json(data),
            "script": script,
        },
    )
