"""`trundle docs`: the site of a checkout, or one page of the installed version."""

import webbrowser

import pytest

import trundle as package
from trundle.cli import docs_command
from trundle.cli.app import COMMANDS


@pytest.fixture
def opened(monkeypatch):
    """What a browser was asked for; none is started."""
    pages: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: not pages.append(url))
    return pages


@pytest.fixture
def without_site(monkeypatch):
    monkeypatch.setattr(docs_command, "_site", lambda: None)


def test_the_site_is_opened_where_it_was_built(trundle, folder, opened, monkeypatch):
    page = folder / "index.html"
    page.write_text("<p>")
    monkeypatch.setattr(docs_command, "_site", lambda: page)
    answer = trundle("docs", "--json")
    assert answer.data == {"page": str(page), "written": False, "opened": True}
    assert opened == [page.as_uri()]


def test_without_a_site_one_page_has_every_command_and_name(trundle, folder, opened, without_site):
    answer = trundle("docs", "--no-browser", "--output", "reference.html")
    assert (answer.status, answer.out, opened) == (0, "wrote reference.html\n", [])
    text = (folder / "reference.html").read_text()
    for name in COMMANDS:
        assert f"usage: trundle {name}" in text
    for name in package.__all__:
        assert name == "__version__" or f'id="trundle.{name}"' in text
    assert 'id="trundle.Run.save"' in text
    assert "http" not in text.partition("<body>")[0]


def test_a_file_of_somebody_else_stays(trundle, folder, opened, without_site):
    (folder / "mine.html").write_text("mine")
    answer = trundle("docs", "--output", "mine.html")
    assert answer.status == 1
    assert (folder / "mine.html").read_text() == "mine"
    assert opened == []


def test_no_browser_is_told(trundle, folder, monkeypatch, without_site):
    def none(_url):
        raise webbrowser.Error("there is none")

    monkeypatch.setattr(webbrowser, "open", none)
    assert trundle("docs").out == "wrote runs/docs.html\n"
    assert (folder / "runs" / "docs.html").is_file()
