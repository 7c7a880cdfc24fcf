"""Programs as text in other languages: what all emitters share. A language is a `Language`: its syntax, as data.

A program becomes one function that takes its groups as arrays, inputs first, and writes its output groups, which must
be other arrays than the inputs. Long programs are cut into functions that pass values on in an array, as compilers
take more than linear time for a function. The order of operations is the program's own, so a language that rounds as
IEEE 754 says gives the same bits wherever its elementary functions do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from trundle.errors import InputError
from trundle.expected import check_str
from trundle.languages.names import value_names
from trundle.languages.piece import PASSED, PieceLines
from trundle.languages.templates import check_language
from trundle.program.ir import LOADS, Group, Program
from trundle.program.pieces import make_plan

# Characters by which a name may grow to be another than those before.
_ROOM = 6


@dataclass(frozen=True)
class Argument:
    """What a function takes: the array of a group, by its name in the language; one number where there is no group."""

    name: str
    group: Group | None = None


@dataclass(frozen=True)
class Function:
    """What a language needs to frame a function: its name, what it reads and writes, and the lines between.

    passed: how many numbers the program's pieces pass on in the array `PASSED`; 0 where it is one piece. own: arrays
    that its lines need beside its arguments, with their sizes. whole: its lines take whole arrays and write none before
    all is read, so those that are written may be those that are read. told: what it does, then a line an argument.
    """

    name: str
    read: Sequence[Argument]
    written: Sequence[Argument]
    body: Sequence[str]
    passed: int = 0
    public: bool = True
    own: Mapping[str, int] = field(default_factory=dict[str, int])
    whole: bool = False
    told: Sequence[str] = ()

    @property
    def arguments(self) -> list[Argument]:
        """What it reads, then what it writes."""
        return [*self.read, *self.written]

    @property
    def names(self) -> list[str]:
        """The arguments' names."""
        return [argument.name for argument in self.arguments]


@dataclass(frozen=True)
class Language:
    """The syntax of a language.

    operations: for operations of `ir.ARITY` what is written for it, operands as {0}, {1}, {2}; comparisons and logic
    are the numbers 1 and 0, as in programs. number: a literal with the same bits. framed: a whole function, which also
    makes its own arrays and the `workspace` in which the pieces of {name} pass values on. reserved: words that names
    can't be. foreign: a regular expression, the form of others' words that nobody can list, such as macros. define: a
    new value, of {name} and {value}; store: into {target}; call: a function with {name} and {arguments}. helpers: what
    must be defined for the operations, by the name that they call. evaluate: call a public function that reads {read}
    and gives {written}. each: set {target} to {value} in all places of arrays of {size} numbers, where an array is
    written as `in_each`. own: what an array that the function {name} needs is called. element: an array's element, of
    {array} and {place}, from `first` on. ignores_case: whether A and a are one name; longest: characters of a name.
    header: what stands first in every text.
    piece: operations of a function at most, or so: V8 leaves functions beyond 60 kB of byte code to its interpreter,
    and C compilers' registers are assigned in more than linear time.
    """

    name: str
    suffix: str
    operations: Mapping[str, str]
    number: Callable[[float], str]
    framed: Callable[[Function], str]
    reserved: frozenset[str]
    define: str
    helpers: Mapping[str, str]
    store: str = "{target} = {value};"
    call: str = "{name}({arguments});"
    evaluate: str = "{name}({read}, {written});"
    each: str = "for (int k = 0; k < {size}; k++) {target} = {value};"
    in_each: str = "{array}[k]"
    own: str = "{array}"
    workspace: str = PASSED
    element: str = "{array}[{place}]"
    first: int = 0
    ignores_case: bool = False
    longest: int = 200
    piece: float = 1500
    header: str = ""
    foreign: str = ""

    def __post_init__(self) -> None:
        """Refuse operations that programs don't have, and templates that can't be filled in."""
        check_language(self)

    def place(self, array: str, place: int) -> str:
        """An element of an array, counted from 0."""
        return self.element.format(array=array, place=place + self.first)


def c_operators(one: str = "1", none: str = "0", *, same: str = "==", other: str = "!=") -> dict[str, str]:
    """Arithmetic, comparisons and logic of languages that have C's operators, truths as the numbers `one` and `none`.

    same, other: what says that two numbers are equal, and that they are not.
    """
    compared = {"lt": "<", "le": "<=", "eq": same, "ne": other}
    true, also = f"{{0}} {other} 0", f"{{1}} {other} 0"
    return {
        **{
            op: f"{{0}} {sign} {{1}}" for op, sign in {"add": "+", "sub": "-", "mul": "*", "div": "/"}.items()
        },
        **{op: f"{{0}} {sign} {{1}} ? {one} : {none}" for op, sign in compared.items()},
        "neg": "-{0}",
        "sq": "{0} * {0}",
        "twice": "2 * {0}",
        "inv": "1 / {0}",
        "not": f"{{0}} {same} 0 ? {one} : {none}",
        "and": f"{true} && {also} ? {one} : {none}",
        "or": f"{true} || {also} ? {one} : {none}",
        "if_else_zero": f"{true} ? {{1}} : {none}",
        "select": f"{true} ? {{1}} : {{2}}",
    }


def identifiers(names: Iterable[str], language: Language, hidden: Collection[str] = ()) -> dict[str, str]:
    """Names that the language takes, none twice: "d rate/d state" as `d_rate_d_state`.

    Parameters
    ----------
    names : iterable of str
        Of groups, labels or programs: any text.
    language : Language
        Whose reserved words are given an underscore, and what has the form of foreign ones.
    hidden : collection of str
        Words that are something else where the names stand.

    Returns
    -------
    dict of str to str
        Identifiers of ASCII letters, digits and underscores, by name.

    Raises
    ------
    TypeError
        A name is no text.

    Examples
    --------
    >>> from trundle.languages import JAVASCRIPT, identifiers
    >>> identifiers(["left.rate", "class", "left rate"], JAVASCRIPT)
    {'left.rate': 'left_rate', 'class': 'class_', 'left rate': 'left_rate_2'}
    """
    words: dict[str, str] = {}
    same = str.lower if language.ignores_case else str
    reserved = {same(word) for word in language.reserved}
    taken = {PASSED, *map(same, hidden)} | reserved
    for name in names:
        plain = identifier(name)[: language.longest - _ROOM]
        candidates = (plain, f"{plain}_") if same(plain) in reserved else (plain,)
        if re.fullmatch(language.foreign, plain):
            plain, candidates = (
                f"{plain}_",
                (f"{plain}_",),
            )  # so that no number makes another one of it: M_PI_2
        chosen = next((candidate for candidate in candidates if same(candidate) not in taken), "")
        count = 2
        while not chosen:
            chosen = "" if same(f"{plain}_{count}") in taken else f"{plain}_{count}"
            count += 1
        taken.add(same(chosen))
        words[name] = chosen
    return words


def identifier(name: str) -> str:
    """A word of ASCII letters, digits and underscores made of any text, which may still be a keyword: "my robot" is
    `my_robot`, "Über" `Uber`.
    """
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", name) if not unicodedata.combining(sign))
    plain = re.sub(r"[^0-9A-Za-z]+", "_", bare).strip("_") or "value"
    return f"n{plain}" if plain[0].isdigit() else plain


def printable(text: str) -> str:
    """Text as comments and literals may hold it: control characters are question marks."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def is_name(name: str, language: Language) -> bool:
    """Whether functions and modules may be called so: also in the form of foreign words, as they go on (AGV_step)."""
    foreign = re.fullmatch(language.foreign, name) and name not in language.reserved
    return bool(foreign) or identifiers([name], language)[name] == name


def require_identifier(name: str, language: Language, hidden: Collection[str] = ()) -> None:
    """Raise InputError where a name can't be a function's or a module's in a language, or would hide something."""
    if name in hidden:
        message = (
            f"'{name}' can't be a name in {language.name}: it would hide something else that is called so"
        )
        raise InputError(message, key="name", hint=f"name it {name}_robot, say (--name on the command line)")
    if is_name(name, language):
        return
    plain = identifiers([name], language)[name]
    problem = "it is no word of ASCII letters, digits and underscores"
    if plain.startswith(name):
        problem, plain = "it is a word of the language", f"{name}_robot"
    elif name.startswith(plain):
        problem = f"it is longer than {language.longest - _ROOM} characters"
    hint = f"name it {plain}, say (--name on the command line)"
    raise InputError(f"'{name}' can't be a name in {language.name}: {problem}", key="name", hint=hint)


def source(
    programs: Mapping[str, Program],
    language: Language,
    named: Mapping[str, Mapping[int, str]] | None = None,
) -> str:
    """The functions of programs, with what they need beside the language.

    Parameters
    ----------
    programs : mapping of str to Program
        By the names of the functions.
    language : Language
        What they are written in.
    named : mapping of str to mapping of int to str, optional
        By the functions' names, what values are besides, by their numbers.

    Returns
    -------
    str
        Text of a module. Values are called by what they are, as far as their names are words of the language.

    Raises
    ------
    InputError
        A function's name is none in that language, or the language lacks an operation.

    Examples
    --------
    >>> import trundle
    >>> from trundle.languages import JAVASCRIPT, source
    >>> program = trundle.derive(trundle.catalog.pendulum(links=1)).dynamics
    >>> print(source({"dynamics": program}, JAVASCRIPT).splitlines()[0])
    export function dynamics(state, input, parameter, rate) {
    """
    told = named or {}
    written = [functions(name, program, language, named=told.get(name)) for name, program in programs.items()]
    return text_of([*chain.from_iterable(written)], language)


def text_of(functions: Sequence[Function], language: Language) -> str:
    """Functions as text, after the language's header and the helpers that they call."""
    lines = "\n".join(line for function in functions for line in function.body)
    parts = [language.header] if language.header else []
    parts += [text for name, text in language.helpers.items() if f"{name}(" in lines]
    parts += [check_str(language.framed(each), "framed", "the whole function's text") for each in functions]
    return "\n".join(parts)


def _require_written(name: str, program: Program, language: Language) -> None:
    """Raise InputError where a language lacks what a program computes."""
    missing = sorted({i.op for i in program.instructions} - LOADS - language.operations.keys())
    if missing:
        raise InputError(
            f"'{name}' computes {', '.join(missing)}, and {language.name} has no function for it",
            key=name,
            hint="export to another language, or write the model without it",
        )


def functions(
    name: str,
    program: Program,
    language: Language,
    told: Sequence[str] = (),
    named: Mapping[int, str] | None = None,
) -> Iterator[Function]:
    """The functions of a program: its pieces, and then the one that calls them in order.

    `named` says what values are that neither inputs nor results tell, by their numbers.
    Raises InputError where the name is none in the language, or the language lacks an operation.
    """
    require_identifier(name, language)
    _require_written(name, program, language)
    plan = make_plan(program, {i.out for i in program.instructions if i.op not in LOADS}, language.piece)
    names = arguments(program, language)
    taken = [Argument(*pair) for pair in zip(names, (*program.inputs, *program.outputs), strict=True)]
    read, written = taken[: len(program.inputs)], taken[len(program.inputs) :]
    words = _words(program, named or {}, language, (*names, name))
    bodies = [list(PieceLines(plan, k, names, words, language).lines()) for k in range(len(plan.inside))]
    if len(bodies) == 1:
        yield Function(name, read, written, bodies[0], told=told)
        return
    passed = plan.wide_slots
    handed = Argument(PASSED, Group(PASSED, tuple(map(str, range(passed)))))
    for k, body in enumerate(bodies):
        yield Function(f"{name}_{k + 1}", read, [*written, handed], body, passed, public=False)
    given = ", ".join([*names, language.workspace.format(name=name)])
    calls = [language.call.format(name=f"{name}_{k + 1}", arguments=given) for k in range(len(bodies))]
    yield Function(name, read, written, calls, passed, told=told)


def arguments(program: Program, language: Language) -> list[str]:
    """Names of a function's arrays, inputs first: an output group that is called like an input is "new" of it."""
    read = [group.name for group in program.inputs]
    written = [f"new {group.name}" if group.name in read else group.name for group in program.outputs]
    return list(identifiers([*read, *written], language).values())


def _words(
    program: Program, named: Mapping[int, str], language: Language, taken: Sequence[str]
) -> dict[int, str]:
    """What a program's values are called in the language, as far as they are something; none of the words `taken`, nor
    of those that the language's own templates and helpers use.
    """
    texts = value_names(program, named)
    syntax = (
        *language.operations.values(),
        *language.helpers,
        language.workspace,
        language.define,
        language.call,
    )
    hidden = {*taken, *re.findall(r"[A-Za-z_]\w*", " ".join(syntax))}
    words = identifiers(texts.values(), language, hidden)
    return {value: words[text] for value, text in texts.items()}
