"""A page within a notebook: an iframe that holds all of it, and a still picture where none may stand."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from trundle.html import picture
from trundle.shown import Displayable

# The page's height in a notebook (pixels), which no script may change from inside its frame.
_HEIGHT = 680
# Scripts of the page run by themselves, apart from the notebook's own page: they see nothing of it.
_SANDBOX = "allow-scripts allow-downloads"


@dataclass(frozen=True, repr=False)
class InlinePage(Displayable):
    """A page that a notebook shows in its place.

    text: the page. still: a picture of it, PNG, if there is one. JupyterLab takes iframes out of notebooks that aren't
    trusted, and GitHub out of all; the picture, which the iframe lies upon, is then what is seen.
    """

    name: str
    text: str
    still: bytes | None

    def __repr__(self) -> str:
        return f"<page of {self.name!r}: a notebook shows it; animate('page.html') writes it>"

    def _repr_png_(self) -> bytes | None:
        return self.still

    def _repr_html_(self) -> str:
        quoted = self.text.replace("&", "&amp;").replace('"', "&quot;")
        place = f"grid-area:1/1;max-height:{_HEIGHT}px;overflow:hidden"
        below = "" if self.still is None else picture(self.still, f"{self.name}: a still picture")
        style = f"grid-area:1/1;width:100%;height:{_HEIGHT}px;border:0;background:Canvas"
        given = f'title="{escape(self.name)}" sandbox="{_SANDBOX}" allow="clipboard-write; fullscreen"'
        frame = f'<iframe {given} style="{style}" srcdoc="{quoted}"></iframe>'
        return f'<div style="display:grid"><div style="{place}">{below}</div>{frame}</div>'
