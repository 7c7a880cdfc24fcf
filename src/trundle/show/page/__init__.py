"""Pages: a run, or a model that runs in the browser, as one HTML file that needs nothing else (docs/page.md)."""

from trundle.show.page.animate import animate
from trundle.show.page.page import page_of

__all__ = ["animate", "page_of"]
