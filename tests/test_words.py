"""Pages are read aloud once: no sentence of theirs has more than 25 words (tools/words.py)."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.words import LIMIT, prose, sentences, too_long
from trundle.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / page for page in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
PAGES += sorted(ROOT.glob("docs/**/*.md"))
PAGES += sorted(
    [*ROOT.glob("site/*.md"), *ROOT.glob("site/explanations/*.md"), *ROOT.glob("site/tutorials/*.py")]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_sentences_are_short(page):
    assert not [f"{page.name}:{line}: {count} words: {text}" for line, count, text in too_long(page)]


def counts(text: str) -> list[tuple[int, int]]:
    return [(sentence.line, sentence.words) for sentence in sentences(text) if sentence.words]


def test_a_sentence_goes_over_lines_and_a_paragraph_ends_it():
    assert counts("One two\nthree. Four\nfive: six\n\nseven eight") == [(1, 3), (2, 3), (5, 2)]


def test_code_formulas_and_targets_are_one_word_or_none():
    assert counts("Say `trundle run x.yaml. No` to [a page](docs/a b.md) with $a + b$.") == [(1, 7)]
    assert counts("```sh\nmany words. Of code\n```\n<!-- none\nhere -->\nTwo words") == [(6, 2)]
    assert counts("Two words\n\n    code is = here") == [(1, 2)]


def test_cells_items_and_headings_stand_alone():
    assert counts("# A heading\n- one item\n- two\n  more items\n\n| a | b c |\n| --- | --- |") == [
        (1, 2),
        (2, 2),
        (3, 3),
        (6, 1),
        (6, 2),
    ]


def test_short_words_with_a_point_end_no_sentence():
    assert counts("By Featherstone et al. Chapter 2, e.g. Table 3. The end.") == [(1, 9), (1, 2)]


def test_a_long_sentence_is_told(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Short.\n\n" + "word " * 26 + "\n\n" + "word " * 25)
    assert [(line, count) for line, count, _ in too_long(page)] == [(3, 26)]


def test_a_tutorials_prose_is_its_docstring_and_comments(tmp_path):
    page = tmp_path / "plot_1.py"
    page.write_text(
        '"""Title\n=====\n\nFirst words.\n"""\n\n# %%\n# Two `links <a b c>`__ here.\nx = 1  # code\n'
    )
    assert counts(prose(page)) == [(1, 1), (4, 2), (8, 3)]


def helps() -> Iterator[tuple[str, str]]:
    """Every text of `--help`, without its indented lines: they are examples and lists."""
    whole = app.build_parser()
    for action in whole._actions:
        for name, parser in (action.choices or {}).items() if action.dest == "command" else ():
            last = parser._last if isinstance(parser._last, str) else parser._last()
            texts = [parser.description or "", last, *(each.help for each in parser._actions)]
            texts += [group.description or "" for group in parser._action_groups]
            yield from ((name, re.sub(r"^  .*$", "", text, flags=re.MULTILINE)) for text in texts if text)
    yield "trundle", str(whole._last)


def test_helps_sentences_are_short():
    told = [(name, sentence) for name, text in helps() for sentence in sentences(text)]
    assert len({name for name, _ in told}) == len(app.COMMANDS) + 1
    assert not [(name, sentence.text) for name, sentence in told if sentence.words > LIMIT]
