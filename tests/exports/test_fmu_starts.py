"""Where FMUs of closed loops start: starts that are set stay, others are solved for, as `simulate` does it."""

import re

import numpy as np
import pytest

import trundle
from exports.fmus import VERSIONS, exported, fmpy, instance, needs_compiler, places, read, write
from exports.loops import LOOPS
from parameters import mostly_slow
from trundle.errors import InputError

pytestmark = needs_compiler
validation = pytest.importorskip("fmpy.validation")
NAMES = pytest.mark.parametrize("name", mostly_slow(LOOPS, ["four_bar"]))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """By name the model and the FMUs of a robot, each exported once."""
    kept = {}

    def of(name):
        if name not in kept:
            model = LOOPS[name][0]()
            kept[name] = model, exported(model, tmp_path_factory.mktemp("loops") / name)[0]
        return kept[name]

    return of


def started(model, path, values):
    """The states at the end of initialization, where some starts and parameters were set."""
    description = fmpy.read_model_description(path)
    given = places(description, values), list(values.values())
    with instance(path, "cs", begin=lambda each: write(each, *given)) as (each,):
        return read(each, places(description, model.states))


@NAMES
@VERSIONS
def test_starts_are_those_of_trundle(made, name, version):
    model, paths = made(name)
    _, starts, changed = LOOPS[name]
    assert validation.validate_fmu(paths[version]) == []
    for some, others in (({}, {}), (starts, {}), ({}, changed), (starts, changed)):
        wanted = model.state_vector(some, {**model.parameters, **others})
        found = started(model, paths[version], {**some, **others})
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
        for state, value in some.items():
            assert found[model.state_index[state]] == value or state in model.dependent


@pytest.mark.slow
@NAMES
@VERSIONS
def test_five_seconds_on_they_are_where_simulate_is(made, name, version):
    model, paths = made(name)
    _, starts, changed = LOOPS[name]
    for some, others in ((starts, {}), (starts, changed)):
        run = trundle.simulate(model, 5.0, initial=some, parameters=others, rtol=1e-12, atol=1e-13, samples=2)
        found = fmpy.simulate_fmu(
            paths[version], stop_time=5.0, fmi_type="CoSimulation", output_interval=0.05, timeout=60,
            relative_tolerance=1e-12, start_values={**some, **others}, output=list(model.states),
        )  # fmt: skip
        assert len(found) > 100
        for state in model.states:
            assert abs(found[state][-1] - run[state][-1]) <= 1e-7, state


@pytest.mark.slow
@NAMES
def test_any_starts_are_those_of_trundle_or_refused_as_there(made, name, rng):
    """Some states at random, dependent ones among them, and measures near their values: from afar, too."""
    model, paths = made(name)
    changeable = {key: model.parameters[key] for key in LOOPS[name][2]}
    outcomes = []
    for _ in range(30):
        chosen = rng.choice(model.states, rng.integers(0, 4), replace=False)
        starts = {state: rng.uniform(-1, 1) for state in chosen if not state.startswith("q_")}
        changed = {key: value * rng.uniform(0.95, 1.05) for key, value in changeable.items()}
        try:
            wanted = model.state_vector(starts, {**model.parameters, **changed})
        except InputError:
            with pytest.raises(Exception, match="ExitInitializationMode"):
                started(model, paths["2"], {**starts, **changed})
            continue
        found = started(model, paths["2"], {**starts, **changed})
        outcomes.append(np.abs(found - wanted).max() / (1 + np.abs(wanted).max()))
    assert len(outcomes) >= 10
    assert max(outcomes) <= 1e-12, outcomes


@VERSIONS
def test_a_tool_may_set_all_states_and_read_them_before_the_start(made, version):
    model, paths = made("four_bar")
    declared = dict(zip(model.states, model.state_vector(), strict=True))
    wanted = model.state_vector({"crank.angle": 1.0472})
    np.testing.assert_allclose(
        started(model, paths[version], {**declared, "crank.angle": 1.0472}), wanted, atol=1e-12
    )
    np.testing.assert_array_equal(started(model, paths[version], declared), model.state_vector())
    closed = dict(zip(model.states, wanted, strict=True))
    np.testing.assert_array_equal(started(model, paths[version], closed), wanted)
    description = fmpy.read_model_description(paths[version])
    every, (crank,) = places(description, model.states), places(description, ["crank.angle"])
    seen = []

    def begin(each):
        for angle in (2.0, 1.0472):
            write(each, [crank], [angle])
            seen.append(read(each, every))

    with instance(paths[version], "me", begin=begin) as (each,):
        np.testing.assert_allclose(read(each, every), wanted, rtol=0, atol=1e-12)
    np.testing.assert_allclose(seen, [model.state_vector({"crank.angle": 2.0}), wanted], rtol=0, atol=1e-12)


@VERSIONS
def test_states_of_loops_are_approximate_and_others_exact(made, version):
    model, paths = made("four_bar")
    found = {each.name: each.initial for each in fmpy.read_model_description(paths[version]).modelVariables}
    initial = {name: found[name] for name in model.states}
    assert initial == {**dict.fromkeys(model.states, "approx"), "motor.current": "exact"}


@VERSIONS
@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"b": 5.0}, r"the loops stay open by 3\.\d* at these parameters$"),
        (
            {"crank.rate": 1.0, "rocker.rate": 9.0},
            r"open by .*; set fewer starts, or others, than those of crank.rate rocker.rate$",
        ),
    ],
)
def test_what_can_not_be_closed_ends_the_initialization_with_the_reason(made, version, values, reason):
    _, paths = made("four_bar")
    said = []
    with pytest.raises(Exception, match="ExitInitializationMode"):
        fmpy.simulate_fmu(
            paths[version], stop_time=0.1, start_values=values, logger=lambda *words: said.append(words[-1])
        )
    assert len(said) == 1
    assert re.search(reason, said[0].decode())
