"""Kernels against CasADi's evaluation; accuracy of sin and cos; honesty about NaN; messages on bad input."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from parameters import mostly_slow
from program.programs import DEFAULTS, differential_drive, random_program
from trundle.errors import InputError
from trundle.program import compile_program, trace
from trundle.program.kernel import Kernel


def assert_close(got, expected, tolerance=1e-12):
    for g, e in zip(got, expected, strict=True):
        np.testing.assert_allclose(g, e, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("seed", mostly_slow(range(4), [0]))
def test_single_batch_threads_and_casadi_agree(seed):
    print("seed", seed)
    program = random_program(seed)
    kernel = compile_program(program)
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(4, 37)), rng.normal(size=(3, 37))
    expected = program.evaluate(a, b)
    assert_close(kernel(a, b), expected)
    assert_close(kernel(a, b, threads=3), expected)
    assert_close(kernel(a[:, 5], b[:, 5]), [e[:, 5] for e in expected])
    assert_close(kernel(a, b[:, 0]), program.evaluate(a, b[:, 0]))
    assert_close(kernel(a[:, 0], b), program.evaluate(a[:, 0], b))


@pytest.mark.parametrize("count", range(1, 18))
def test_every_tail_of_a_batch(count):
    program = differential_drive()
    rng = np.random.default_rng(count)
    x, u = rng.normal(size=(9, count)), rng.normal(size=(2, count))
    assert_close(compile_program(program)(x, u, DEFAULTS), program.evaluate(x, u, DEFAULTS))
    assert_close(
        compile_program(program)(x, u[:, 0], DEFAULTS, threads=2), program.evaluate(x, u[:, 0], DEFAULTS)
    )


def test_empty_batch_gives_empty_results():
    assert compile_program(differential_drive())(np.zeros((9, 0)), np.zeros(2), DEFAULTS)[0].shape == (9, 0)


def _sincos():
    x = ca.SX.sym("x")
    return compile_program(
        trace("sincos", {"x": (["x"], x)}, {"y": (["sin", "cos"], ca.vertcat(ca.sin(x), ca.cos(x)))})
    )


def _ulps(got, x, exact):
    import mpmath

    with mpmath.workdps(50):
        worst = 0.0
        for value, angle in zip(got, x, strict=True):
            true = exact(mpmath.mpf(float(angle)))
            worst = max(
                worst,
                abs(
                    float((mpmath.mpf(float(value)) - true) / mpmath.mpf(float(np.spacing(abs(float(true))))))
                ),
            )
    return worst


@pytest.mark.slow
def test_sin_and_cos_are_within_two_ulp_up_to_1e5():
    import mpmath

    seed = 7
    print("seed", seed)
    rng = np.random.default_rng(seed)
    near = np.arange(1, 63_000, 97) * (np.pi / 2)  # where one of the two all but vanishes
    x = np.concatenate(
        [
            rng.uniform(-1e5, 1e5, 3000),
            rng.uniform(-4, 4, 3000),
            10 ** rng.uniform(-300, 5, 1000),
            near,
            -near,
        ]
    )
    y = _sincos()(x[None])[0]
    assert _ulps(y[0], x, mpmath.sin) < 2.0
    assert _ulps(y[1], x, mpmath.cos) < 2.0
    scalar = np.array([_sincos()(np.array([v]))[0] for v in x[::50]]).T
    np.testing.assert_array_max_ulp(scalar, y[:, ::50], maxulp=1)


@pytest.mark.parametrize(
    ("name", "ulps", "ranges"),
    [
        ("exp", 1.5, [(-1, 1), (-700, 709), (-745, -708)]),
        ("expm1", 2.5, [(-1e-3, 1e-3), (-1, 1), (-30, 709)]),
        ("tanh", 3.0, [(-1e-3, 1e-3), (-1, 1), (-25, 25)]),
        ("tan", 4.0, [(-1.5, 1.5), (-1e5, 1e5)]),
        ("atan", 2.0, [(-1e-3, 1e-3), (-1, 1), (-25, 25)]),
    ],
)
def test_inlined_functions_are_accurate_and_keep_their_limits(name, ulps, ranges):
    import mpmath

    seed = 11
    print("seed", seed)
    symbol = ca.SX.sym("x")
    kernel = compile_program(trace(name, {"x": (["x"], symbol)}, {"y": (["y"], getattr(ca, name)(symbol))}))
    x = np.concatenate([np.random.default_rng(seed).uniform(low, high, 1000) for low, high in ranges])
    assert _ulps(kernel(x[None])[0][0], x, getattr(mpmath, name)) < ulps
    special = np.array([0.0, np.nan, np.inf, -np.inf, 1e-300, -1e-300, 1000, -1000, 709.9, 37, -37, 5e-324])
    with np.errstate(all="ignore"):
        expected = getattr(np, {"atan": "arctan"}.get(name, name))(special)
    np.testing.assert_allclose(kernel(special[None])[0][0], expected, rtol=1e-15, atol=1e-323)
    single = [kernel(special[k : k + 1])[0][0] for k in range(special.size)]
    np.testing.assert_allclose(single, expected, rtol=1e-15, atol=1e-323)


def test_the_angle_of_a_sine_and_cosine_is_their_own_without_whole_turns():
    """Both in lanes and one at a time; at half a turn the sign is either."""
    import mpmath

    x = ca.SX.sym("x")
    wrapped = compile_program(
        trace("wrapped", {"x": (["x"], x)}, {"a": (["a"], ca.atan2(ca.sin(x), ca.cos(x)))})
    )
    rng = np.random.default_rng(3)
    angles = np.concatenate([rng.uniform(-10, 10, 1999), rng.uniform(-1e5, 1e5, 2000), [0.0, np.nan]])
    came, alone = wrapped(angles[None])[0][0], [wrapped(np.array([v]))[0][0] for v in angles[::50]]
    exact = [float(mpmath.atan2(mpmath.sin(v), mpmath.cos(v))) for v in map(mpmath.mpf, angles[:-1])]
    np.testing.assert_allclose(came[:-1], exact, rtol=0, atol=5e-16)
    np.testing.assert_allclose(alone, came[::50], rtol=0, atol=5e-16)
    assert np.isnan(came[-1])
    halves = np.pi * np.arange(-7, 8, 2)
    np.testing.assert_allclose(np.abs(wrapped(halves[None])[0][0]), np.pi, rtol=1e-15)


def test_atan2_in_lanes_is_within_two_ulp_all_around():
    import mpmath

    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    kernel = compile_program(
        trace("atan2", {"p": (["y", "x"], ca.vertcat(y, x))}, {"a": (["a"], ca.atan2(y, x))})
    )
    rng = np.random.default_rng(13)
    points = rng.uniform(-1, 1, (2, 4000)) * 10.0 ** rng.uniform(-12, 12, (2, 4000))
    points = np.hstack([points, rng.uniform(-1, 1, (2, 4000))])
    got = kernel(points)[0][0]
    with mpmath.workdps(50):
        for angle, (b, a) in zip(got.tolist(), points.T.tolist(), strict=True):
            error = mpmath.mpf(angle) - mpmath.atan2(mpmath.mpf(b), mpmath.mpf(a))
            assert abs(float(error)) < 2.0 * np.spacing(abs(angle))
    numbers = (0.0, -0.0, 1.0, -1.0, 1e-300, -1e-300, 5e-324, np.inf, -np.inf)
    edges = [(a, b) for a in numbers for b in numbers if not (np.isinf(a) and np.isinf(b))]
    edges = np.array(edges).T
    expected = np.arctan2(*edges)
    for found in (kernel(edges)[0][0], np.array([kernel(edge)[0][0] for edge in edges.T])):
        np.testing.assert_allclose(found, expected, rtol=1e-15)
        assert (np.signbit(found) == np.signbit(expected)).all()


def test_nan_and_infinity_come_through():
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    names = ["add", "product", "zero", "low", "high", "clamp", "root", "sine", "ratio", "untaken"]
    values = [
        a + b,
        a * b,
        (a - a) * b,
        ca.fmin(a, b),
        ca.fmax(a, b),
        ca.fmin(ca.fmax(a, -1), 1),
        ca.sqrt(a),
        ca.sin(a),
        b / a,
    ]
    untaken = ca.if_else(a > 0, ca.log(a), b)
    program = trace(
        "nan", {"x": (["a", "b"], ca.vertcat(a, b))}, {"y": (names, ca.vertcat(*values, untaken))}
    )
    columns = np.array([[np.nan, 1], [1, np.nan], [np.inf, 1], [0.0, 1], [-1.0, 2.0]]).T
    for y in (
        compile_program(program)(columns)[0],
        np.stack([compile_program(program)(c)[0] for c in columns.T], axis=1),
    ):
        got = {name: y[k] for k, name in enumerate(names)}
        assert np.isnan(y[[0, 1, 3, 4, 5, 6, 7, 8], 0]).all()
        assert np.isnan(y[[0, 1, 3, 4, 8], 1]).all()
        assert got["add"][2] == np.inf
        assert got["clamp"][2] == 1
        assert np.isnan(got["sine"][2])
        assert got["ratio"][2] == 0
        assert got["ratio"][3] == np.inf
        assert np.isnan(got["root"][4])
        assert got["clamp"][4] == -1
        assert got["untaken"][4] == 2.0  # log(-1) was not chosen


def test_bind_reads_and_writes_the_buffers():
    program = differential_drive()
    kernel = compile_program(program)
    x, u, rate = np.arange(9.0), np.array([24.0, 20.0]), np.zeros(9)
    call = kernel.bind(x, u, DEFAULTS, rate)
    call()
    np.testing.assert_array_equal(rate, kernel(x, u, DEFAULTS)[0])
    x[2] = 1.0
    call()
    np.testing.assert_array_equal(rate, kernel(x, u, DEFAULTS)[0])


def test_single_takes_and_returns_vectors():
    kernel = compile_program(differential_drive())
    x, u = np.arange(9.0), np.array([24.0, 20.0])
    call = kernel.single()
    (rate,) = call(x, u, DEFAULTS)
    np.testing.assert_array_equal(rate, kernel(x, u, DEFAULTS)[0])
    again = call(list(x + 1), [24, 20], DEFAULTS[::1])[0]  # lists and integers, too
    np.testing.assert_array_equal(again, kernel(x + 1, u, DEFAULTS)[0])
    np.testing.assert_array_equal(rate, kernel(x, u, DEFAULTS)[0])  # results are the caller's own
    with pytest.raises(InputError, match="expects 3 groups"):
        call(x, u)
    with pytest.raises(InputError, match="state"):
        call(x[:1], u, DEFAULTS)
    with pytest.raises(InputError, match="one state at a time"):
        call(np.zeros((9, 2)), u, DEFAULTS)
    with pytest.raises(InputError, match="real numbers"):
        call(x + 0j, u, DEFAULTS)


def test_kernels_are_cached_by_content():
    assert compile_program(differential_drive())._variants is compile_program(differential_drive())._variants


def test_arrays_that_are_not_contiguous_or_not_double():
    kernel = compile_program(differential_drive())
    x = np.random.default_rng(0).normal(size=(50, 9))
    expected = kernel(np.ascontiguousarray(x.T), [24, 20], DEFAULTS)[0]
    np.testing.assert_array_equal(kernel(x.T, np.array([24, 20]), DEFAULTS)[0], expected)
    np.testing.assert_array_equal(kernel(x.T[:, ::2], [24.0, 20.0], DEFAULTS)[0], expected[:, ::2])


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ((np.zeros(8), np.zeros(2), DEFAULTS), ["state", "(9,)", "(8,)"]),
        ((np.zeros((9, 2, 2)), np.zeros(2), DEFAULTS), ["state", "(9, 2, 2)"]),
        ((np.zeros(9), np.zeros(2)), ["expects 3 groups", "state, input, parameter", "got 2"]),
        ((np.zeros((9, 3)), np.zeros((2, 4)), DEFAULTS), ["state: 3", "input: 4"]),
        ((np.zeros(9), ["a", "b"], DEFAULTS), ["input", "real numbers"]),
        ((np.zeros(9, dtype=complex), np.zeros(2), DEFAULTS), ["state", "complex128"]),
    ],
)
def test_bad_arguments_say_what_was_expected(groups, words):
    with pytest.raises(InputError) as error:
        compile_program(differential_drive())(*groups)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_bad_buffers_say_what_was_expected():
    kernel: Kernel = compile_program(differential_drive())
    x, u, p, rate = np.zeros(9), np.zeros(2), DEFAULTS, np.zeros(9)
    frozen = np.zeros(9)
    frozen.flags.writeable = False
    cases = {
        "expects 4 buffers": (x, u, p),
        "float32": (x.astype(np.float32), u, p, rate),
        "not contiguous": (np.zeros(18)[::2], u, p, rate),
        "writable": (x, u, p, frozen),
        "got list": ([0.0] * 9, u, p, rate),
    }
    for words, buffers in cases.items():
        with pytest.raises(InputError, match=words):
            kernel.bind(*buffers)


def test_arrays_of_any_making_give_the_same(rng):
    """Arrays that are ready take a shorter way in: read-only, strided, empty, single-precision ones and lists must not
    differ.
    """
    kernel = compile_program(random_program(3))
    a, b = rng.normal(size=(4, 30)).astype(np.float32).astype(float), np.ones((3, 30))
    expected = kernel(a, b)
    sealed = a.copy()
    sealed.flags.writeable = False
    for given in (
        sealed,
        np.asfortranarray(a),
        np.repeat(a, 2, axis=1)[:, ::2],
        a.astype(np.float32),
        a.tolist(),
    ):
        for got, right in zip(kernel(given, b), expected, strict=True):
            np.testing.assert_array_equal(got, right)
    assert all(result.shape[1] == 0 for result in kernel(a[:, :0], b[:, :0]))


@pytest.mark.parametrize("first", range(9))
@pytest.mark.parametrize("count", [5, 511, 512, 1024])
def test_rows_are_read_where_they_are(count, first, rng):
    """Slices of columns and of rows, wherever they begin in a cache line, give the bits that copies of a few give."""
    kernel = compile_program(random_program(3))
    table, other = rng.normal(size=(9, count + 16)), rng.normal(size=(3, count))
    window = slice(first, first + count)
    sealed = table.view()
    sealed.flags.writeable = False
    for a in (table[:4, window], table[1::2, window], table[8:4:-1, window], sealed[:4, window]):
        few = [kernel(a[:, k : k + 100].copy(), other[:, k : k + 100].copy()) for k in range(0, count, 100)]
        expected = [np.hstack(parts) for parts in zip(*few, strict=True)]
        for threads in (1, 2):
            for got, right in zip(kernel(a, other, threads=threads), expected, strict=True):
                np.testing.assert_array_equal(got, right)


def test_results_of_large_batches_go_in_again(rng):
    """Their rows lie further apart than they are long."""
    kernel = compile_program(differential_drive())
    x, u = rng.normal(size=(9, 1024)), rng.normal(size=(2, 1024))
    once = kernel(x, u, DEFAULTS)[0]
    assert not once.flags.c_contiguous
    twice = kernel(once, u, DEFAULTS)[0]
    np.testing.assert_array_equal(twice, kernel(np.ascontiguousarray(once), u, DEFAULTS)[0])


@pytest.mark.parametrize("count", [1, 5, 8, 61, 1024])
def test_bound_batches_write_what_calls_return(count, rng):
    """Buffers with rows further apart than they are long, too, and inputs that all lanes share."""
    kernel = compile_program(differential_drive())
    x, rates = rng.normal(size=(9, count + 3))[:, 3:], np.full((9, count + 8), np.nan)
    u = np.array([24.0, 20.0])
    run = kernel.bind(x, u, DEFAULTS, rates[:, :count])
    for _ in range(2):
        x += 0.1
        run()
        np.testing.assert_array_equal(rates[:, :count], kernel(x, u, DEFAULTS)[0])
    assert np.isnan(rates[:, count:]).all()


def test_bad_buffers_of_batches_say_what_was_expected():
    kernel = compile_program(differential_drive())
    x, u, rate = np.zeros((9, 20)), np.zeros((2, 20)), np.zeros((9, 20))
    cases = {
        r"'rate'.*\(9, 20\).*got float64 \(9,\)": (x, u, DEFAULTS, rate[:, 0].copy()),
        r"'rate'.*got float64 \(9, 19\)": (x, u, DEFAULTS, rate[:, 1:]),
        r"'input'.*\(2, 20\) or \(2,\).*got float64 \(2, 7\)": (x, u[:, :7], DEFAULTS, rate),
        r"'state'.*contiguous rows.*not contiguous": (np.zeros((20, 9)).T, u, DEFAULTS, rate),
    }
    for words, buffers in cases.items():
        with pytest.raises(InputError, match=words):
            kernel.bind(*buffers)
