"""`trundle docs`: the documentation, in a browser."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib.util import find_spec
from pathlib import Path

from trundle.cli.output import Output, claim, write_file
from trundle.cli.parsing import add_force, add_output

SUMMARY = "open the documentation in a browser"
EPILOG = """\
examples:
  trundle docs
  trundle docs --no-browser --output reference.html

Opens the site that `make docs` has built in a checkout. An installed package has no site. Then one page is written and
opened: every command's help, and every public name of `import trundle` with its docstring, of the installed version."""

# Where `make docs` writes, from the checkout's root.
_SITE = Path("out/site/index.html")
_PAGE = "runs/docs.html"


def configure(parser: ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--no-browser", action="store_true", help="say where it is, and open nothing")
    add_output(parser, "FILE", f"write the one page there, also beside a site (default: {_PAGE})")
    add_force(parser)


def execute(args: Namespace, out: Output) -> int:
    """Find or write it, open it, tell where it is."""
    page = None if args.output else _site()
    written = page is None
    if page is None:
        page = Path(args.output or _PAGE)
        claim(str(page), args.force)
        from trundle.cli.docs_page import reference

        with out.doing("writing the page"):
            write_file(str(page), reference({name: own.format_help() for name, own in args.parsers.items()}))
    opened = not args.no_browser and _open(page)
    out.answer({"page": str(page), "written": written, "opened": opened})
    out.say(f"{'opened' if opened else 'wrote' if written else 'the page is'} {page}")
    return 0


def _site() -> Path | None:
    """The first page of the site in the checkout that the package was installed from, where it was built."""
    spec = find_spec("trundle")
    if spec is None or spec.origin is None:
        return None
    page = Path(spec.origin).resolve().parents[2] / _SITE
    return page if page.is_file() else None


def _open(page: Path) -> bool:
    """Whether a browser took it."""
    import webbrowser

    try:
        return webbrowser.open(page.resolve().as_uri())
    except (webbrowser.Error, OSError):
        return False
