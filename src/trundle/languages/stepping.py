"""The classical Runge-Kutta step of a package, written once over the syntax of all languages."""

from __future__ import annotations

from collections.abc import Iterator

from trundle.languages.language import Argument, Function, Language, arguments, identifiers
from trundle.program.ir import Program

MEANING = "the state after a time h, inputs held, by the classical Runge-Kutta method"
# Where the rates b, c, d are taken after a at the state, and the state afterwards (Hairer et al. 1993, table II.1.2).
_STAGES = {"b": "{state} + {h} / 2 * {a}", "c": "{state} + {h} / 2 * {b}", "d": "{state} + {h} * {c}"}
_AFTER = "{state} + {h} / 6 * ({a} + 2 * {b} + 2 * {c} + {d})"


def step(name: str, program: Program, dynamics: str, projection: str | None, language: Language) -> Function:
    """x(t + h) of x' = f(x, u, p) by four calls of the function `dynamics`, whose program is f.

    `projection` is called with the result, where the model's constraints need it.
    """
    state, given, parameter, _ = arguments(program, language)
    read = [Argument(*pair) for pair in zip((state, given, parameter), program.inputs, strict=True)]
    time, after = identifiers(["h", "next"], language).values()
    size = program.inputs[0].size
    own = {key: language.own.format(name=name, array=key) for key in ("a", "b", "c", "d", "at")}
    place = {
        key: language.in_each.format(array=array)
        for key, array in {**own, "state": state, "next": after}.items()
    } | {"h": time}

    def call(function: str, at: str, to: str) -> str:
        return language.evaluate.format(name=function, read=f"{at}, {given}, {parameter}", written=to)

    def put(target: str, value: str) -> str:
        return language.each.format(size=size, target=place[target], value=value.format(**place))

    def lines() -> Iterator[str]:
        yield call(dynamics, state, own["a"])
        for stage, at in _STAGES.items():
            yield put("at", at)
            yield call(dynamics, own["at"], own[stage])
        yield put("next" if projection is None else "at", _AFTER)
        if projection is not None:
            yield call(projection, own["at"], after)

    arrays = dict.fromkeys(own.values(), size)
    told = (f"{MEANING[0].upper()}{MEANING[1:]}.",)
    written = [Argument(after, program.inputs[0])]
    return Function(name, [*read, Argument(time)], written, [*lines()], own=arrays, whole=True, told=told)
