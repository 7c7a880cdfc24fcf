"""List the sentences that are too long to be read aloud once: `python -m tools.words PAGES…`.

It reads the prose of Markdown pages, and of tutorials (`.py`: the docstring and the comments under `# %%`). Blocks of
code, comments and links' targets are left out; a code span or a formula counts as one word. A paragraph, a heading, an
item of a list or a cell of a table ends the sentence that stands in it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LIMIT = 25  # words: what a reader in a second language keeps in mind (CONTRIBUTING.md)
# What begins a block of its own: a heading, an item of a list, a definition, a footnote, an option of a directive.
BEGINS = re.compile(r"^\s*(#{1,6} |[-*+] |\d+[.)] |: |\[\^\w+\]: |\.\. |:[\w-]+: )")
FENCE = re.compile(r"\s*(?:> ?)?(`{3,}|~{3,}|:{3,})")
INDENTED = re.compile(r" {4}(?!\s*([-*+]|\d+\.) )")  # a block of code without a fence
CODE = re.compile(r"(`+)(?:(?!\1).)+?\1", re.DOTALL)
# What is read as one word, or as nothing, in the order in which it is taken out.
SPANS = (
    (re.compile(r"<!--.*?-->", re.DOTALL), ""),
    (re.compile(r"\[([^\]]*)\]\(\s*<[^>]*>\s*\)"), r"\1"),
    (CODE, "Code"),
    (re.compile(r"\$\$.*?\$\$|\$[^$\s][^$]*\$", re.DOTALL), "Formula"),
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"</?[a-zA-Z][^>]*>|<https?:[^>]*>|https?://\S+"), ""),
)
# Points that end no sentence: of short words, and of people's initials.
SHORT = re.compile(
    r"(?:\b(?:e\.g|i\.e|et al|vs|cf|Eqs?|Fig|Sec|p|pp|vol|Dr|St)|(?:^|[A-Z][a-z]+,? |& )[A-Z])\.$"
)
END = re.compile(r"(?<=[.!?…])[\"'”’)\]*_]*\s+(?=[\"'“‘(\[*_]*[^a-z\s])|(?<=[.!?])[\"'”’)\]*_]+\s+")


class Sentence(NamedTuple):
    """A sentence, the line on which its paragraph begins plus the lines before it, and its number of words."""

    line: int
    words: int
    text: str


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, headings, items and cells of a page, with the number of the line on which they begin."""
    start, lines, fence = 1, list[str](), ""
    for number, line in enumerate([*without_comments(text).splitlines(), ""], 1):
        mark = FENCE.match(line)
        table = line.lstrip().startswith("|") and line.rstrip().endswith("|")
        if fence or mark or table or not line.strip() or BEGINS.match(line):
            yield from [(start, "\n".join(lines))] if lines else []
            lines = []
        if mark and not mark[1].startswith(":"):  # ::: holds prose, in MyST
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        elif table and not fence:
            yield from ((number, cell) for cell in line.replace(r"\|", "/").split("|"))
        elif not fence and not mark and line.strip() and (lines or not INDENTED.match(line)):
            start = start if lines else number
            lines.append(BEGINS.sub("", line, count=1).strip().removeprefix("> "))


def without_comments(text: str) -> str:
    """The page without HTML comments and front matter, line for line."""
    blank = r"^---\n.*?^---\n|<!--.*?-->"
    pattern = re.compile(blank.replace("^---", r"\A---", 1), re.DOTALL | re.MULTILINE)
    return pattern.sub(lambda match: "\n" * match[0].count("\n"), text)


def prose(path: Path) -> str:
    """The prose of a page; of a tutorial, its docstring and comments, each on its own line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text
    kept, inside = list[str](), ""
    for number, line in enumerate(text.splitlines()):
        quotes = line.count('"""')
        if number == 0 or inside == "docstring":
            inside = "" if quotes == (2 if number == 0 else 1) else "docstring"
            kept.append(line.replace('"""', ""))
        elif line.startswith("# %%"):
            inside = "comment"
            kept.append("")
        else:
            inside = inside if line.startswith("#") else ""
            kept.append(line[2:] if inside else "")
    return re.sub(r"`([^`<]+) <[^>]+>`__?", r"\1", "\n".join(kept))


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a page, in order."""
    for start, block in blocks(text):
        line = start
        for sentence in split(block):
            plain = spoken(sentence)
            yield Sentence(line, sum(any(map(str.isalnum, word)) for word in plain.split()), plain)
            line += sentence.count("\n")


def split(block: str) -> list[str]:
    """A block's sentences; line ends stay, so that they can be counted."""
    held = CODE.sub(lambda match: re.sub(r"[.!?…](?=\s)", ",", match[0]), block)
    parts, begin = list[str](), 0
    for match in END.finditer(held):
        if not SHORT.search(held[begin : match.start()]):
            parts.append(held[begin : match.end()])
            begin = match.end()
    return [*parts, held[begin:]]


def spoken(sentence: str) -> str:
    """A sentence as it is read aloud: on one line, code and formulas as one word, links as their words."""
    for pattern, words in SPANS:
        sentence = pattern.sub(words, sentence)
    return " ".join(sentence.split())


def too_long(path: Path) -> list[Sentence]:
    """The sentences of a page with more than LIMIT words."""
    return [sentence for sentence in sentences(prose(path)) if sentence.words > LIMIT]


def main(pages: list[str]) -> int:
    """Print what is too long as file:line: count: text; 1 where there is any."""
    found = [(page, sentence) for page in pages for sentence in too_long(Path(page))]
    for page, (line, count, text) in found:
        print(f"{page}:{line}: {count} words: {text}")
    print(f"{len(found)} sentences of more than {LIMIT} words in {len(pages)} pages")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
