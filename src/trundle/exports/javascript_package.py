"""Models as ES modules, for browsers and Node: the functions that the live page runs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from trundle.exports.entries import Entry
from trundle.exports.package import Options, Package
from trundle.exports.words import commented, words
from trundle.files import signature
from trundle.languages import JAVASCRIPT, arguments, require_identifier, source
from trundle.model import Model

_MODULE = """\
// {name}, {signature}. README.md tells what every function takes and gives.
// Functions read their first arrays and write the last ones, which must be others.

{functions}

/** Names, units and, where there are any, defaults of all numbers, in the functions' order, by group. */
export const groups = {groups};
"""
_STEP = """
const [k1, k2, k3, k4, at] = [0, 0, 0, 0, 0].map(() => new Float64Array({n}));

/** The state after a time h, inputs held, by the classical Runge-Kutta method; next may be state. */
export function step(state, input, parameter, h, next) {{
  dynamics(state, input, parameter, k1);
  for (let k = 0; k < {n}; k++) at[k] = state[k] + (h / 2) * k1[k];
  dynamics(at, input, parameter, k2);
  for (let k = 0; k < {n}; k++) at[k] = state[k] + (h / 2) * k2[k];
  dynamics(at, input, parameter, k3);
  for (let k = 0; k < {n}; k++) at[k] = state[k] + h * k3[k];
  dynamics(at, input, parameter, k4);
  for (let k = 0; k < {n}; k++) at[k] = state[k] + (h / 6) * (k1[k] + 2 * k2[k] + 2 * k3[k] + k4[k]);
  {last}
}}
"""
_EXAMPLE = """\
// Runs {name} from its start and prints time and states as CSV, about a hundred rows:
// node example.js [SECONDS [STEP [INPUT...]]]
import {{ groups, step }} from "./{name}.js";

const [seconds = 10, h = 1e-3, ...given] = process.argv.slice(2).map(Number);
const state = Float64Array.from(groups.state.defaults);
const parameter = Float64Array.from(groups.parameter.defaults);
const input = Float64Array.from(groups.input.names, (_, k) => given[k] ?? 0);
if (!(seconds >= 0 && h > 0 && seconds / h < 1e12) || given.length > input.length || input.some(Number.isNaN)) {{
  console.error("usage: node example.js [SECONDS [STEP [INPUT...]]], with numbers for", ...groups.input.names);
  process.exit(2);
}}
const steps = Math.round(seconds / h);
const stride = Math.max(1, Math.floor(steps / 100));
for (let k = 0; k < steps; k++) {{
  if (k % stride === 0) console.log([k * h, ...state].join());
  step(state, input, parameter, h, state);
}}
console.log([steps * h, ...state].join());
"""
_USAGE = """\
## How to use it

`{name}.js` is an ES module without imports: `import * as robot from "./{name}.js"`, in Node or in a
`<script type="module">` of a page that a server sends (browsers load no modules from disk). Functions take arrays,
`Float64Array` at best, one a group in the order below, and write into the last ones, which must be others than those
read:

{call}

`groups.{group}.names` are the names of its numbers in their order, `.units` their units, `.defaults` what a robot has
where there are any; so for every group but matrices. Arrays that functions keep are made once, so calls allocate
nothing.{example}
"""


def package(model: Model, entries: Sequence[Entry], options: Options) -> Package:
    """NAME.js with a function an entry, names, units, defaults and a Runge-Kutta step; an example for Node."""
    require_identifier(options.name, JAVASCRIPT, {"example"})
    programs = {entry.name: entry.program for entry in entries}
    told = {
        each.word: {
            "names": each.group.labels,
            "units": each.units,
            **({"defaults": each.defaults} if each.defaults or not each.group.size else {}),
        }
        for each in words(entries)
    }
    text = _MODULE.format(
        name=options.name,
        signature=signature(),
        functions=commented(
            source(programs, JAVASCRIPT), entries, "export function {name}(", "/** {meaning} */"
        ),
        groups=json.dumps(told, indent=2),
    )
    files = {"package.json": json.dumps(_npm(options.name)) + "\n"}
    example = ""
    if "dynamics" in programs:
        last = f"for (let k = 0; k < {len(model.states)}; k++) next[k] = at[k];"
        last = last if model.projection is None else "projection(at, input, parameter, next);"
        text += _STEP.format(n=len(model.states), last=last)
        files["example.js"] = _EXAMPLE.format(name=options.name)
        example = " `node example.js 30 0.001` runs\nthe robot from its start."
    return Package({f"{options.name}.js": text, **files}, _usage(options.name, entries[0], example), {})


def _npm(name: str) -> dict[str, str]:
    """What npm and bundlers read; their names have small letters alone."""
    return {"name": name.lower(), "version": "1.0.0", "type": "module", "main": f"{name}.js"}


def _usage(name: str, first: Entry, example: str) -> str:
    names = arguments(first.program, JAVASCRIPT)
    lines = [
        f"const {word} = Float64Array.from(robot.groups.{word}.defaults);"
        if first.defaults.get(group.name) and group in first.program.inputs
        else f"const {word} = new Float64Array({group.size});"
        for word, group in zip(names, first.groups, strict=True)
    ]
    lines.append(f"robot.{first.name}({', '.join(names)});")
    call = "\n".join(f"    {line}" for line in lines)
    return _USAGE.format(name=name, call=call, group=names[0], example=example)
