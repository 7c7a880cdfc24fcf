"""Cases: made from a seed and a number, tried, and shrunk to the mutations that a finding needs."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from tools.fuzz.kinds import KINDS, Kind
from tools.fuzz.pool import Death, answers
from trundle.errors import TrundleError


@dataclass(frozen=True)
class Case:
    """One hostile input: which kind, from which good one, by which mutations (each a seed of its own)."""

    kind: str
    name: str
    base: int
    mutations: tuple[int, ...]

    def content(self) -> object:
        """The input."""
        kind = kinds()[self.kind]
        content = kind.bases[self.base]
        for mutation in self.mutations:
            content = kind.mutate(content, Random(mutation))
        return content

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}/{self.base}/{','.join(map(str, self.mutations))}"


def read_case(text: str) -> Case:
    """The case that `str` wrote."""
    kind, name, base, mutations = text.split("/")
    return Case(kind, name, int(base), tuple(map(int, filter(None, mutations.split(",")))))


@dataclass(frozen=True)
class Finding:
    """What should not be: a signature by which findings are told apart, and what went wrong."""

    signature: str
    told: str


@cache
def kinds() -> dict[str, Kind]:
    """The kinds of input, with their good inputs made once."""
    return {kind.name: kind for kind in (make() for make in KINDS)}


def draw(seed: int, number: int, only: str | None = None) -> Case:
    """Case `number` of a seed; always the same."""
    rng = Random(f"{seed} {number}")
    known = list(kinds().values())
    kind = kinds()[only] if only else rng.choices(known, [each.share for each in known])[0]
    mutations = [rng.getrandbits(32) for _ in range(rng.choice((1, 1, 2, 2, 3, 5)))]
    return Case(kind.name, f"{seed}.{number}", rng.randrange(len(kind.bases)), tuple(mutations))


def attempt(case: Case) -> str | Finding:
    """Try one: "taken", "refused", or what should not be."""
    try:
        kinds()[case.kind].attempt(case.content(), Random(case.name))
    except TrundleError as error:
        return "refused" if str(error).strip() else Finding("refused without a word", type(error).__name__)
    except BaseException as error:  # SystemExit and KeyboardInterrupt are as wrong as any other
        return Finding(_signature(error), "".join(traceback.format_exception(error)[-12:]))
    return "taken"


def _signature(error: BaseException) -> str:
    """The exception's type and the innermost function of the package that it passed."""
    if isinstance(error, MemoryError):
        return "over 2 GB"
    frames = [each for each in traceback.extract_tb(error.__traceback__) if "/src/trundle/" in each.filename]
    place = f" in {frames[-1].filename.partition('/src/trundle/')[2]}:{frames[-1].name}" if frames else ""
    return f"{type(error).__name__}{place}"


def tried(cases: Iterator[Case], workers: int) -> Iterator[tuple[Case, str | Finding]]:
    """Each case's outcome, in any order."""
    for case, answer in answers(cases, attempt, workers):
        if isinstance(answer, Death):
            answer = Finding(f"{answer.reason} in {answer.place}", "the worker's process ended")
        yield case, answer


def shrunk(case: Case, signature: str) -> Case:
    """The case without the mutations that the finding doesn't need."""
    for mutation in reversed(case.mutations):
        fewer = replace(case, mutations=tuple(each for each in case.mutations if each != mutation))
        if any(isinstance(f, Finding) and f.signature == signature for _, f in tried(iter([fewer]), 1)):
            return shrunk(fewer, signature)
    return case
