"""What can go wrong, in the user's terms: wrong input, or numbers that failed."""

from __future__ import annotations

import difflib
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable
from types import FrameType

# Names that begin alike are listed up to so many: a person's joint has six.
_MOST_BEGUN = 8


class TrundleError(Exception):
    """Root of every error that Trundle raises on purpose.

    Attributes
    ----------
    exit_status : int
        What the command line ends with: 1 for wrong input, 3 for numbers that failed.
    """

    exit_status = 1


class InputError(TrundleError):
    """The description, a file or an argument is wrong.

    Attributes
    ----------
    message : str
        What came and what was expected.
    file : str or None
        The file where it stands.
    line : int or None
        The line there, from 1.
    key : str or None
        The key path or the argument: "robot.wheels.left.radius", "inputs.left_motor.voltage".
    hint : str or None
        The likely fix, or which names exist.

    Examples
    --------
    >>> import trundle
    >>> try:
    ...     trundle.catalog.robot("pendulm")
    ... except trundle.InputError as error:
    ...     print(error.hint)
    did you mean 'pendulum'?
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.key = key
        self.hint = hint

    def __str__(self) -> str:
        where = self.file or ""
        if self.line is not None:
            where += f":{self.line}" if where else f"line {self.line}"
        parts = [str(part) for part in (where, self.key) if part]
        text = ": ".join([*parts, self.message])
        return f"{text}\n  {self.hint}" if self.hint else text

    def at(self, *, file: str | None = None, line: int | None = None, key: str | None = None) -> InputError:
        """The same error with the place filled in where it was still unknown.

        Parameters
        ----------
        file : str
            The file.
        line : int
            The line in it, from 1.
        key : str
            The key path, or the argument's name.

        Returns
        -------
        InputError
            Another error; this one stays as it is.
        """
        return InputError(
            self.message, file=self.file or file, line=self.line or line, key=self.key or key, hint=self.hint
        )


class NumericsError(TrundleError):
    """The numbers failed: something is singular or diverged. The message says where and when.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.differential_drive())
    >>> try:
    ...     trundle.simulate(model, 1.0, {"left_motor.voltage": 1e300})
    ... except trundle.NumericsError as error:
    ...     print(error.exit_status)
    3
    """

    exit_status = 3


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside the package that led here, however deep inside something is noticed."""
    frame: FrameType | None = sys._getframe()
    outside = frame
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]:
            outside = frame.f_back or frame
        frame = frame.f_back
    assert outside is not None
    registry = outside.f_globals.setdefault("__warningregistry__", {})
    place = outside.f_code.co_filename, outside.f_lineno, outside.f_globals.get("__name__")
    warnings.warn_explicit(message, category, *place, registry)


def counted(count: int, noun: str) -> str:
    """1 sample, 2 samples."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def suggest(name: object, known: Iterable[str], *, most: int = 12) -> str:
    """A sentence to put behind an error on an unknown name: the nearest known name, or what there is."""
    names = sorted({each for each in known if isinstance(each, str)})
    if meant := did_you_mean(name, names):
        return meant
    if not names:
        return "there are none here."
    listed = ", ".join(names[:most])
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"known: {listed}{more}."


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The nearest known name as a question; "" where none is near."""
    lowered = {each.lower(): each for each in sorted(set(known))}
    text = str(name).lower()
    if ends := [lowered[each] for each in lowered if each.endswith(f".{text}")]:  # the owners are missing
        return f"did you mean {'one of ' if len(ends) > 1 else ''}{', '.join(repr(end) for end in ends)}?"
    near = _near_path(text, lowered) if "." in text else ""
    near = near or next((each for each in lowered if _abbreviates(text, each)), "")
    matches = difflib.get_close_matches(text, lowered, n=3, cutoff=0.6)
    near = near or next((each for each in matches if _same_grammar(text, each)), "")
    if near:
        return f"did you mean '{lowered[near]}'?"
    begun = [lowered[each] for each in lowered if "." in text.strip(".") and _first(each) == _first(text)]
    return f"did you mean one of {', '.join(map(repr, begun))}?" if 0 < len(begun) <= _MOST_BEGUN else ""


def _abbreviates(short: str, name: str) -> bool:
    """Whether every word of a name is begun: "diff_drive" for "differential_drive"."""
    begun, words = short.split("_"), name.split("_")
    return len(begun) == len(words) > 1 and all(map(str.startswith, words, begun)) and all(begun)


def _same_grammar(path: str, other: str) -> bool:
    """Whether a name in words, "hip_flexion_r", may stand for a path, "hip.angle": both begin nearly alike."""
    if "." not in path or "." in other:
        return True
    return difflib.SequenceMatcher(None, _first(path), _first(other)).ratio() >= 0.6


def _first(name: str) -> str:
    """What a name begins with: "hip" of "hip.angle" and of "hip_flexion_r"."""
    return re.split(r"[._]", name, maxsplit=1)[0]


def no_attribute(owner: str, name: str, known: Iterable[str], instead: str = "") -> AttributeError:
    """The error on a `name` that an `owner` doesn't have, with what is there `instead`, or the nearest of those
    `known`.

    Its `obj` keeps Python from guessing once more behind it.
    """
    meant = instead or did_you_mean(name, [each for each in known if not each.startswith("_")])
    return AttributeError(f"{owner} has no attribute {name!r}{meant and f'; {meant}'}", name=name, obj=None)


def _near_path(path: str, known: Iterable[str]) -> str:
    """The known key path whose every part is near; what most have in common, "wheels.left", tells nothing apart."""
    parts = path.split(".")

    def nearness(other: str) -> tuple[float, float]:
        """That of the part that is farthest; of names that share it, the others tell."""
        pairs = zip(parts, other.split("."), strict=True)
        shares = [difflib.SequenceMatcher(None, one, two).ratio() for one, two in pairs]
        return min(shares), sum(shares)

    same = [other for other in known if other.count(".") == len(parts) - 1]
    best = max(same, key=nearness, default="")
    return best if best and nearness(best)[0] >= 0.6 else ""


def choose(name: object, known: Iterable[str]) -> str:
    """The nearest of a few choices, and all of them."""
    listed = f"choose one of {', '.join(known)}"
    meant = did_you_mean(name, known) if isinstance(name, str) else ""
    return f"{meant} ({listed})" if meant else listed


def require_known(
    name: object,
    known: Collection[str],
    message: str,
    *,
    key: str | None = None,
    file: str | None = None,
    hint: Callable[[object, Collection[str]], str] = suggest,
) -> None:
    """InputError with the message and the nearest name that exists, where a name is none of those that are known."""
    if not isinstance(name, str) or name not in known:
        raise InputError(message, file=file, key=key, hint=hint(name, known))
