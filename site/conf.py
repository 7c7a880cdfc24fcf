"""How Sphinx builds the site, from sources that `python -m tools.site` puts together."""

from pathlib import Path
from typing import Any

from furo.navigation import get_navigation_tree

from tools.site.docstrings import linked
from tools.site.notebooks import put_into_words
from trundle.version import __version__

project = "Trundle"
author = "The Trundle developers"
copyright = "The Trundle developers"
release = version = __version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
# sphinx-gallery makes pages of these elsewhere.
exclude_patterns = ["tutorials"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}

myst_enable_extensions = ["colon_fence", "attrs_inline"]
# The deepest heading of docs/ that another page links to.
myst_heading_anchors = 4

add_module_names = False
autodoc_typehints = "none"
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
viewcode_follow_imported_members = True

html_theme = "furo"
html_title = f"Trundle {release}"
html_static_path = ["_static"]
html_extra_path = ["_extra"]
html_css_files = ["site.css"]
# Pages of sources would otherwise hold the list of all pages again and again.
html_sidebars = {"_modules/**": []}
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

sphinx_gallery_conf = {
    "examples_dirs": ["tutorials"],
    "gallery_dirs": ["tutorials_made"],
    "filename_pattern": r"plot_\w+\.py",
    "ignore_pattern": r"walk\.py",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "default_thumb_file": str(Path(__file__).parent / "docs/pictures/page.png"),
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 3600,
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib", "tools.site.live.shown"),
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"matplotlib|Figure|Picture|Axes|Path|NoneType",
    "reset_modules": ("matplotlib", "tools.site.live.tidied"),
    "reset_modules_order": "both",
    "remove_config_comments": True,
    "write_computation_times": False,
}


def setup(app: Any) -> None:
    """Names in docstrings become links where the site has the page; notebooks have words in place of roles; the side of
    a page lists its own branch.
    """
    app.connect("builder-inited", _notebooks_in_words, priority=900)  # behind sphinx-gallery's
    app.connect("autodoc-process-docstring", linked)
    app.connect("html-page-context", own_branch, priority=900)  # behind Furo's


def _notebooks_in_words(app: Any) -> None:
    put_into_words(Path(app.srcdir) / "tutorials_made", Path(app.srcdir))


def own_branch(app: object, name: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """List at a page's side what stands beside it; all 300 pages there would be a third of the site."""
    del app, name, template, doctree
    if "toctree" in context:
        listed = context["toctree"](collapse=True, titles_only=True, maxdepth=-1, includehidden=True)
        context["furo_navigation_tree"] = get_navigation_tree(listed)
