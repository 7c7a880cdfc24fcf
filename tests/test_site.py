"""The site's parts: every public name, command and key has its place; pages share their scripts; links are followed."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest

import trundle
from benchmarks.__main__ import write_table
from benchmarks.measure import Row
from tools.site import commands, compared, reference, schema_pages
from tools.site.docstrings import restructured
from tools.site.links import follow, leave_broken_returns
from tools.site.notebooks import put_into_words
from tools.site.reachable import make_reachable
from trundle.cli.app import COMMANDS
from trundle.documents import json_schema

ROOT = Path(__file__).parents[1]


def test_every_public_name_stands_under_one_topic():
    names = [name for topic in reference.TOPICS.values() for name in topic]
    assert sorted(names) == sorted(set(trundle.__all__) - {"__version__"})


def test_every_public_name_has_a_page_that_the_index_leads_to():
    pages = dict(reference.pages())
    for name in set(trundle.__all__) - {"__version__"}:
        assert f"trundle.{name}" in pages[f"{name}.rst"]
        assert f":doc:`trundle.{name} <{name}>`" in pages["index.rst"]


def test_what_several_rooms_give_away_is_documented_once():
    pages = dict(reference.pages())
    for room, other in (("controllers", "robot"), ("sensors", "robot")):
        told = re.findall(rf"autoclass:: trundle\.{room}\.(\w+)", pages[f"{room}.rst"])
        assert told
        assert not set(told) & set(re.findall(r"autoclass:: trundle\.robot\.(\w+)", pages[f"{other}.rst"]))


def test_every_command_has_a_page_of_its_help():
    pages = dict(commands.pages())
    assert {f"{name}.md" for name in COMMANDS} | {"index.md"} == set(pages)
    for name in COMMANDS:
        assert f"usage: trundle {name}" in pages[f"{name}.md"]


def test_every_key_of_a_description_stands_on_its_page():
    page = dict(schema_pages.pages())["description.md"]
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^\(description-|\Z)", page, re.DOTALL | re.MULTILINE))
    parts = json_schema()["$defs"]
    assert set(sections) == set(parts)
    for name, part in parts.items():
        for key in part.get("properties", {}):
            assert f"| `{key}` |" in sections[name], (name, key)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("|v| is a speed", r"\|v\| is a speed"),
        ("`trundle.roll` by `frame`", ":py:obj:`trundle.roll` by ``frame``"),
        ("``a|b`` and `a|b`", "``a|b`` and ``a|b``"),
        ("docs/feedback.md has it", ":doc:`/docs/feedback` has it"),
        ("docs/export/functions.md has it", ":doc:`/docs/export/functions` has it"),
        ("a file *.nc, + / **, or *this*", r"a file \*.nc, + / \**, or *this*"),
    ],
)
def test_docstrings_become_restructured_text(written, meant):
    assert restructured(written) == meant


def test_links_that_lead_nowhere_are_told(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.html").write_text(
        '<a href="deep/b.html#here">1</a><a href="deep/b.html#there">2</a><a href="https://example.org/x">3</a>'
        '<img src="none.png"><a href="#own">4</a><p id="own">5</p><a href="#other">6</a>'
    )
    (tmp_path / "deep" / "b.html").write_text('<p id="here"><a href="../a.html#own">back</a></p>')
    assert follow(tmp_path) == (
        [
            "a.html: #other: the page has no such place",
            "a.html: deep/b.html#there: the page has no such place",
            "a.html: none.png: there is no such file",
        ],
        1,
    )


def test_pictures_of_pages_stay_pictures(tmp_path):
    from tools.site import repository

    root, source = tmp_path / "root", tmp_path / "source"
    (root / "docs" / "pictures").mkdir(parents=True)
    (root / "docs" / "pictures" / "robots.png").write_bytes(b"picture")
    (root / "plan.yaml").write_text("trundle: 1\n", encoding="utf-8")
    text = "![Robots](pictures/robots.png) and [a `plan`](../plan.yaml), [changes](../CHANGELOG.md)\n"
    (root / "docs" / "catalogue.md").write_text(text, encoding="utf-8")
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        (root / name).write_text("# Page\n", encoding="utf-8")
    repository.copy_pages(source, root)
    assert (source / "docs" / "catalogue.md").read_text(encoding="utf-8") == (
        "![Robots](pictures/robots.png) and "
        '<a href="../repository/plan.yaml">a <code>plan</code></a>, [changes](../CHANGELOG.md)\n'
    )
    assert (source / "docs" / "pictures" / "robots.png").read_bytes() == b"picture"
    assert (source / "_extra" / "repository" / "plan.yaml").is_file()


def test_pages_of_questions_stand_below_their_topic():
    from tools.site.repository import questions

    assert questions(ROOT / "docs" / "limits.md")[:2] == ["limits/commands", "limits/skid"]
    below = {name for page in (ROOT / "docs").glob("*.md") for name in questions(page)}
    pages = {f"{page.parent.name}/{page.stem}" for page in (ROOT / "docs").glob("*/*.md")}
    assert below == {name for name in pages if not name.startswith("wings/")}


def test_live_pages_share_one_script(tmp_path):
    pytest.importorskip("sphinx_gallery")
    from tools.site.live import share

    page = (
        '<meta http-equiv="Content-Security-Policy" content="default-src &#x27;none&#x27;; '
        'script-src &#x27;sha256-abc=&#x27;; style-src &#x27;sha256-d=&#x27;; img-src data:"><style>p { }</style>'
        '<img alt="its path" src="data:image/png;base64,aa"><script type="application/json">{}</script>'
        '<script type="module">const a = "<b>";</script>'
    )
    first, second = (share(page, tmp_path / "scripts", "scripts/") for _ in range(2))
    assert first == second
    script, style = sorted((tmp_path / "scripts").iterdir(), key=lambda path: path.suffix, reverse=True)
    assert style.read_text() == "p { }"
    assert "<style>" not in first
    assert "base64" not in first
    assert 'const a = "<b>";' in script.read_text()
    assert f'<script defer src="scripts/{script.name}">' in first
    assert "script-src &#x27;self&#x27; file:; style-src &#x27;self&#x27; file:; img-src data:" in first
    with pytest.raises(ValueError, match="no script"):
        share("<p>nothing</p>", tmp_path, "")


def test_ways_back_that_lead_nowhere_are_left_out(tmp_path):
    (tmp_path / "_modules").mkdir()
    (tmp_path / "api.html").write_text('<p id="trundle.run"></p>')
    back = '<a class="viewcode-back" href="../api.html#{}">[docs]</a>'
    (tmp_path / "_modules" / "a.html").write_text(back.format("trundle.run") + back.format("trundle.rnu"))
    leave_broken_returns(tmp_path)
    assert (tmp_path / "_modules" / "a.html").read_text() == back.format("trundle.run")


def test_the_benchmarks_table_is_the_file_that_was_measured(tmp_path):
    (tmp_path / "compared.md").write_text("before\n<!-- the benchmark's table -->\nafter")
    rows = [Row("deriving", "1 ms", "9 ms", 9.0, note="a|b"), Row("alone", "2 ms")]
    write_table(tmp_path / "benchmarks.json", rows)
    compared.fill(tmp_path)
    text = (tmp_path / "compared.md").read_text()
    assert "| deriving | 1 ms | 9 ms | 9 | a\\|b |" in text
    assert "alone" not in text
    assert "Measured on " in text


def test_notebooks_name_pages_by_their_titles(tmp_path):
    """In the archive beside them, too; code stays as it is."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/export.md").write_text("# Exports: all\n\nWords.\n", encoding="utf-8")
    (tmp_path / "first.py").write_text('"""\nA title\n=======\n"""\n', encoding="utf-8")
    said = "See :doc:`/docs/export`, :doc:`this </first>` and :doc:`/first`. Save :download:`walk.py </walk.py>`."
    cells = [{"cell_type": kind, "source": [said]} for kind in ("markdown", "code")]
    notebook = tmp_path / "first.ipynb"
    notebook.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "first.zip", "w") as archive:
        archive.write(notebook, "made/first.ipynb")
        archive.write(tmp_path / "first.py", "made/first.py")
    put_into_words(tmp_path, tmp_path)
    text, code = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert text["source"] == ["See “Exports: all”, this and “A title”. Save walk.py."]
    assert code["source"] == [said]
    with zipfile.ZipFile(tmp_path / "first.zip") as archive:
        assert archive.read("made/first.ipynb") == notebook.read_bytes()
        assert archive.read("made/first.py").startswith(b'"""')


def test_without_a_table_the_page_says_so(tmp_path, capsys):
    (tmp_path / "compared.md").write_text("<!-- the benchmark's table -->")
    compared.fill(tmp_path)
    assert "make bench" in (tmp_path / "compared.md").read_text()
    assert "left out" in capsys.readouterr().out


def test_what_scrolls_has_the_keyboards_focus(tmp_path):
    (tmp_path / "a.html").write_text(
        '<pre>code</pre><div class="table-wrapper docutils"><table></table></div>'
    )
    make_reachable(tmp_path)
    text = (tmp_path / "a.html").read_text()
    assert '<pre tabindex="0">' in text
    assert '<div class="table-wrapper docutils" tabindex="0">' in text


PLANTED = '''"""
A tutorial
==========
"""

import trundle

# %%
# A pendulum.

pendulum = trundle.catalog.pendulum()
{line}
'''


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "trundle.derive(pendulum, speed=3)",
            "12: TypeError: derive() got an unexpected keyword argument 'speed'",
        ),
        ("trundle.derive(pendulum).trim(v_x=1)", "12: InputError: "),
        ("trundle.derive(pendulum))", "12: SyntaxError: unmatched ')'"),
        ("trundle.derive(pendulum)", ""),
    ],
)
def test_a_tutorial_that_fails_is_named_with_its_line(line, said, tmp_path, capfd):
    pytest.importorskip("sphinx_gallery")
    from tools.site import sphinx_run

    source = tmp_path / "source"
    for folder in ("tutorials", "docs/pictures", "_static", "_extra"):
        (source / folder).mkdir(parents=True)
    for name in ("conf.py", "tutorials/GALLERY_HEADER.rst", "_static/site.css"):
        shutil.copy(ROOT / "site" / name, source / name)
    shutil.copy(ROOT / "docs/pictures/page.png", source / "docs/pictures")
    (source / "index.md").write_text("# Site\n\n```{toctree}\ntutorials_made/index\n```\n", encoding="utf-8")
    (source / "tutorials/plot_1_planted.py").write_text(PLANTED.format(line=line), encoding="utf-8")
    status = sphinx_run.run(source, tmp_path / "site")
    told = capfd.readouterr().err
    if said:
        assert status == 1
        assert f"\nsite/tutorials/plot_1_planted.py:{said}" in told
    else:
        assert (status, told) == (0, "")
        assert "pendulum" in (tmp_path / "site/tutorials_made/plot_1_planted.html").read_text(
            encoding="utf-8"
        )


def test_what_is_left_out_is_said(monkeypatch):
    pytest.importorskip("sphinx_gallery")
    from tools.site.__main__ import left_out

    monkeypatch.setattr("shutil.which", lambda _name: None)
    *first, last = left_out((), 7)
    assert first == ["a look at 7 addresses of other sites, as nothing is fetched"]
    assert last.endswith("needs Chromium, which is not installed")
    monkeypatch.setattr("shutil.which", lambda name: name)
    parts = [*left_out(("gallery", "tutorials"), 0)]
    assert [part.split()[0] for part in parts[:2]] == ["live", "the"]
    assert parts[-1].endswith("does that")


@pytest.mark.slow
def test_live_pages_are_made_in_processes(tmp_path):
    pytest.importorskip("sphinx_gallery")
    from tools.gallery import EXAMPLES, Entry
    from tools.site import gallery_pages

    given = trundle.catalog.document("pendulum")
    found = [
        Entry("pendulum", "", given),
        Entry("again", "", given),
        Entry("arm", "", EXAMPLES / "urdf/arm.urdf"),
    ]
    names = gallery_pages.write_live(found, tmp_path / "extra", tmp_path / "static", workers=2)
    assert names == {"pendulum": "pendulum", "again": "pendulum", "arm": "arm"}
    assert {path.name for path in (tmp_path / "static").iterdir()} == {f"{each.name}.png" for each in found}
    assert {path.name for path in (tmp_path / "extra/live").glob("*.html")} == {"pendulum.html", "arm.html"}
    # One script for what moves in a plane, one for what moves in space.
    assert len([*(tmp_path / "extra/live/scripts").glob("*.js")]) == 2
