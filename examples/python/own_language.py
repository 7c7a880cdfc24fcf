"""A language of your own: AWK, which every Unix has. A four-bar linkage runs in it and ends where it does in Python.

python examples/python/own_language.py && awk -f four_bar/four_bar.awk -f four_bar/main.awk
"""

import trundle
from trundle.languages import Language, require_identifier
from trundle.languages.language import Function, text_of
from trundle.languages.package import Content, Package, Target

EXAMPLE = """\
# Runs {name} for a second from its start, without inputs, and prints time and state.
BEGIN {{
    start(state, parameter)
    for (i = 0; i < {inputs}; i++) input[i] = 0
    for (count = 0; count < 1000; count++) step(state, input, parameter, 1e-3, state)
    printf "1"
    for (i = 0; i < {states}; i++) printf ",%.17g", state[i]
    print ""
}}
"""
USAGE = """\
## How to use it

`awk -f {name}.awk -f main.awk` runs the example. Functions take arrays counted from 0 and write the last ones.
"""


def framed(function: Function) -> str:
    """A function under its comment; all values of AWK but arguments are global."""
    lines = [f"# {line}" for line in function.told[:1]]
    lines += [f"function {function.name}({', '.join(function.names)}) {{", *function.body, "}\n"]
    return "\n".join(lines)


WORDS = frozenset((
    "BEGIN", "END", "atan2", "cos", "exp", "function", "getline", "in", "index", "int", "k", "length", "log", "next",
    "rand", "sin", "sqrt",
))  # fmt: skip
AWK = Language(
    name="AWK",
    suffix=".awk",
    operations={
        **{
            op: f"{{0}} {sign} {{1}}" for op, sign in {"add": "+", "sub": "-", "mul": "*", "div": "/"}.items()
        },
        **{op: f"{op}({{0}})" for op in ("sqrt", "sin", "cos", "exp", "log")},
        **{
            op: f"({{0}} {sign} {{1}})"
            for op, sign in {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}.items()
        },
        "atan2": "atan2({0}, {1})",
        "min": "({0} < {1} ? {0} : {1})",
        "max": "({0} > {1} ? {0} : {1})",
        "neg": "-{0}",
        "sq": "{0} * {0}",
        "twice": "2 * {0}",
        "inv": "1 / {0}",
        "abs": "sqrt({0} * {0})",
        "if_else_zero": "({0} ? {1} : 0)",
        "select": "({0} ? {1} : {2})",
    },
    number=repr,
    framed=framed,
    reserved=WORDS,
    define="{name} = {value}",
    store="{target} = {value}",
    call="{name}({arguments})",
    helpers={},
    evaluate="{name}({read}, {written})",
    each="for (k = 0; k < {size}; k++) {target} = {value}",
    own="{name}_{array}",
)


def package(content: Content) -> Package:
    """NAME.awk: the functions, and one that sets what a robot starts with; main.awk that runs it."""
    name = content.name
    require_identifier(name, AWK)
    known = [word for word in content.words if word.word in ("state", "parameter")]
    starts = [f"{word.word}[{k}] = {value!r}" for word in known for k, value in enumerate(word.defaults)]
    text = "\n".join(
        [text_of(content.functions(AWK), AWK), "function start(state, parameter) {", *starts, "}\n"]
    )
    files = {f"{name}.awk": text}
    if content.dynamics is not None:
        state, given, _ = content.dynamics.program.inputs
        files["main.awk"] = EXAMPLE.format(name=name, states=state.size, inputs=given.size)
    return Package(files, USAGE.format(name=name), {})


TARGET = Target("awk", "functions in AWK, with an example", package)

if __name__ == "__main__":
    trundle.export(trundle.catalog.four_bar(), TARGET, "dynamics", output="four_bar")
