"""Models as a package folder of functions for Octave and MATLAB, and an example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trundle.exports.entries import Entry
from trundle.exports.package import Options, Package
from trundle.exports.words import Word, words
from trundle.files import signature
from trundle.languages import arguments, identifiers, require_identifier, source
from trundle.languages.octave import OCTAVE
from trundle.model import Model

# What Octave finds before a package: variables of the functions below, the example, and functions of its own.
_HIDDEN = frozenset((
    "a", "b", "bar", "box", "c", "d", "demo", "example", "groups", "h", "input", "k", "link", "main", "names", "next",
    "parameter", "path", "run", "sample", "seconds", "state", "step", "steps", "system", "test",
))  # fmt: skip
_STEP = """\
% STEP  The state after a time h, inputs held, by the classical Runge-Kutta method.
function next = step(state, input, parameter, h)
  a = {name}.dynamics(state, input, parameter);
  b = {name}.dynamics(state + h / 2 * a, input, parameter);
  c = {name}.dynamics(state + h / 2 * b, input, parameter);
  d = {name}.dynamics(state + h * c, input, parameter);
  next = state + h / 6 * (a + 2 * b + 2 * c + d);{last}
end
"""
_GROUPS = """\
% GROUPS  Names, units and defaults of all numbers, in the functions' order: all.state.names{{1}}
% {name}, {signature}. README.md tells what every function takes and gives.
function all = groups()
{lines}
end
"""
_EXAMPLE = """\
% Runs {name} from its start and prints time and states as CSV, about a hundred rows.
function main(seconds, h, input)
  groups = {name}.groups();
  if nargin < 1, seconds = 10; end
  if nargin < 2, h = 1e-3; end
  if nargin < 3, input = zeros(numel(groups.input.names), 1); end
  state = groups.state.defaults;
  parameter = groups.parameter.defaults;
  names = groups.input.names';
  if ~(seconds >= 0 && h > 0 && seconds / h < 1e12) || numel(input) ~= numel(names)
    error('main(SECONDS, STEP, INPUT), with %d inputs: %s', numel(names), strjoin(names, ', '));
  end
  input = input(:);
  steps = round(seconds / h);
  for k = 0:steps
    if mod(k, max(1, floor(steps / 100))) == 0 || k == steps
      fprintf('%s\\n', strjoin(arrayfun(@(x) sprintf('%.17g', x), [k * h; state]', 'UniformOutput', false), ','));
    end
    if k < steps
      state = {name}.step(state, input, parameter, h);
    end
  end
end
"""
_USAGE = """\
## How to use it

With this folder on the path the functions are `{name}.{first}` and so on, in Octave and MATLAB (R2016b or later).
Each takes a column a group, in the order below, and returns its output groups; or n × count matrices, a column a state,
all at once, which is how interpreted languages are fast: a group that is the same for all may stay one column.

    groups = {name}.groups();
{call}

`groups.{group}.names`, `.units` and `.defaults` (of those that have any) tell of every number.{example}
"""


def package(model: Model, entries: Sequence[Entry], options: Options) -> Package:
    """+NAME/ with a function an entry, a Runge-Kutta step and what their numbers are; main.m that runs it."""
    name = options.name
    require_identifier(name, OCTAVE, _HIDDEN)
    functions = {
        entry.name: f"% {entry.name.upper()}  {entry.meaning[0].upper()}{entry.meaning[1:]}.\n"
        + source({entry.name: entry.program}, OCTAVE)
        for entry in entries
    }
    functions["groups"] = _groups(name, words(entries))
    files: dict[str, str] = {}
    example = ""
    if "dynamics" in functions:
        again = f"\n  next = {name}.projection(next, input, parameter);"
        functions["step"] = _STEP.format(name=name, last="" if model.projection is None else again)
        files["main.m"] = _EXAMPLE.format(name=name)
        example = " `main(30, 1e-3)` runs the robot from its start,\n`ode45` takes"
        example += f" `@(t, x) {name}.dynamics(x, input, parameter)`."
    files.update({f"+{name}/{each}.m": text for each, text in functions.items()})
    return Package(files, _usage(name, entries[0], example), {}, first=OCTAVE.first)


def _usage(name: str, first: Entry, example: str) -> str:
    names, count = arguments(first.program, OCTAVE), len(first.program.inputs)
    lines = [
        f"{word} = groups.{word}.defaults;"
        if first.defaults.get(group.name)
        else f"{word} = zeros({group.size}, 1);"
        for word, group in zip(names, first.program.inputs, strict=False)
    ]
    lines.append(f"[{', '.join(names[count:])}] = {name}.{first.name}({', '.join(names[:count])});")
    call = "\n".join(f"    {line}" for line in lines)
    return _USAGE.format(name=name, first=first.name, call=call, group=names[0], example=example)


def _groups(name: str, named: Sequence[Word]) -> str:
    fields = identifiers([each.word for each in named], OCTAVE)
    lines: list[str] = []
    for each in named:
        field = f"all.{fields[each.word]}"
        lines.append(f"  {field}.names = {{{_listed(map(_quoted, each.group.labels))}}};")
        lines.append(f"  {field}.units = {{{_listed(map(_quoted, each.units))}}};")
        if each.defaults or not each.group.size:
            values = f"[{_listed(map(OCTAVE.number, each.defaults))}]" if each.defaults else "zeros(0, 1)"
            lines.append(f"  {field}.defaults = {values};")
    return _GROUPS.format(name=name, signature=signature(), lines="\n".join(lines))


def _listed(items: Iterable[str]) -> str:
    """Elements of a column, a line each where they are many."""
    return "; ...\n    ".join(items)


def _quoted(text: str) -> str:
    """A literal, whatever the text says; control characters, which none can hold, are question marks."""
    return "'" + "".join(each if each.isprintable() else "?" for each in text).replace("'", "''") + "'"
