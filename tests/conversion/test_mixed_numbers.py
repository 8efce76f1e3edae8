"""Numbers whose type only the run tells come back as what plain Python would have."""

from __future__ import annotations

import itertools
import linecache
import math
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import INTERPRETED, spread
from left_to_python import refused_or_plain

X = np.array([1.5, 0.5, 3.0, 2.5])
SINGLE = X.astype(np.float32)
TRUE, FALSE, NONE, SOME = np.bool_(True), np.bool_(False), np.int64(0), np.int64(3)


def alternatives(x):
    return x.max() > 2 or 5, x.max() > 2 and 5, (x.max() > 2) + 1 or 0.5


def chosen(c):
    return 2 if c else 0.5, True if c else 3, (1, 0.5) if c else (0.5, 1)


def complexes(c):
    v = 1j if c else False
    return v, v + 1, v == 1j, complex(v), abs(v), v.real, v * v, v * 0.5


def complex_before_scalars(x, c):
    """Return what Python makes of complex numbers and float64 scalars, which are floats to it."""
    k = 2j if c else 1.5j
    known = 1j * x[0], x[0] * 1j, 2j + x[1], 2j - x[1], 1j / x[1], (1j * x[1]).imag, 1j * x, 1j + x.mean(), 1j * x.T[1]
    return known, k * x[1], x[1] * k, k + x[0], k / x[1], k == x[0], k != x[1], k * np.float64(0.5), np.float64(2) * k


def chosen_or_carried(n, c):
    value = int(n)
    if c:
        value = value + 0.5
    return value, [value, {"value": value}]


def halves(n):
    s = i = 0
    while i < n:
        s += 0.5
        i += 1
    return s


def weighted(x, n):
    s = 0
    for i in range(n):
        s += x[i] * 0.5
    return s


def conditional(x, n):
    s, k = 0.0, 0
    for i in range(n):
        if x[i] > 1:
            s += x[i]
            k = np.argmax(x)
    return s, k, x[k], [1.5, 2.5, 3.5][k]


def largest(x, n):
    best = most = -1
    for i in range(n):
        if x[i] > best:
            best = x[i]
        most = max(most, x[i], 2)
    return best, most, min(best, 1)


def of_several(n):
    t = u = 0
    for i in range(n):
        t += 1 if i % 2 else 0.5
        u = u + (1 if i % 3 == 1 else True)
    return t, u


def over_all(x):
    s = 0
    for v in x:
        s += v
    return s, s + 1


def returned(x):
    if x[0] > 1:
        return 1
    return x[1]


def operated(c):
    v = 2 if c else 0.5
    sums = v + 1, v * 0.5, v / 2, v // 2, v**2, -v, abs(v), v % 2, v - v, v * v, 1 / v, 2 - v, +v, v * np.float64(2)
    tests = v > 1, v == 2, v and 3, v or 4, not v, v in (0.5, 1), bool(v), v != v
    numbers = math.floor(v), int(v), float(v), round(v), divmod(v, 2), max(v, 1), min(v, 1.5), np.sqrt(v)
    return sums, tests, numbers, v.real, v.conjugate(), math.sqrt(v), pow(v, 2), sum([v, 1]), v * np.ones(2)


def summed(x, n):
    s = 0.0
    for i in range(n):
        s = s + (x[i] if x[i] > 1 else 0)
    sums = s * 2, s + 1, s / 2, -s, abs(s), s * x[0], s // 1, s**2, s + s, x / (s + 1), x[:2] * np.float32(1) + s
    sums = *sums, x.clip(0, s), x.sum(initial=s), np.clip(x, 0, s)
    return s, sums, s > 1, s == 0, math.sqrt(s + 1), np.sqrt(s), float(s), int(s), round(s), s if s else 7, not s


def doubled(c, n):
    v = 1 if c else 0.5
    for _ in range(n):
        v = v * 2
    return v


def picked(k):
    table = [1, 0.5, True]
    return table[k], (table[k], table[k - 1] + 1), {0: 2, 1: 0.5, 2: 1}[k]


def listed(x):
    lists = [v if v > 1 else 0 for v in x], sum(v if v > 1 else 0 for v in x), max(v if v > 1 else 0 for v in x)
    arrays = np.array([v if v > 1 else 0.0 for v in x]), np.array([v if v > 1 else 0 for v in x] + [0.5])
    return lists, arrays, np.mean([[v if v > 1 else 0.0, 1.0] for v in x]), dict(a=x[0] if x[1] > 1 else 0)


@al.function
def inner(c):
    return 2 if c else 0.5


def outer(c):
    return inner(c) * 2, inner(c)


CALLS = [
    (alternatives, (X,)), (alternatives, (X * 0,)), (chosen, (TRUE,)), (chosen, (FALSE,)),
    (complexes, (TRUE,)), (complexes, (FALSE,)), (complex_before_scalars, (X, TRUE)),
    (complex_before_scalars, (SINGLE, FALSE)),
    (chosen_or_carried, (SOME, TRUE)), (chosen_or_carried, (SOME, FALSE)), (halves, (NONE,)), (halves, (SOME,)),
    (weighted, (X, NONE)), (weighted, (X, SOME)), (weighted, (SINGLE, SOME)), (weighted, (X.astype("i4"), NONE)),
    (conditional, (X, NONE)), (conditional, (X, SOME)), (conditional, (SINGLE, SOME)), (conditional, (X * 0, SOME)),
    (largest, (X, NONE)), (largest, (X, SOME)), (largest, (-X - 2, SOME)), (largest, (SINGLE, SOME)),
    (of_several, (NONE,)), (of_several, (np.int64(1),)), (of_several, (np.int64(5),)), (over_all, (SINGLE,)),
    (over_all, (X[:0],)), (over_all, (X.astype("u1"),)), (returned, (X,)), (returned, (-X,)), (operated, (TRUE,)),
    (operated, (FALSE,)), (summed, (X, NONE)), (summed, (X, SOME)), (summed, (X * 0, SOME)),
    (summed, (SINGLE, NONE)), (doubled, (TRUE, SOME)),
    (doubled, (FALSE, SOME)), (doubled, (TRUE, np.int64(40))), (outer, (TRUE,)), (outer, (FALSE,)),
    (listed, (X,)), (listed, (np.arange(16.0) / 8,)),
    (picked, (np.int64(0),)), (picked, (np.int64(1),)), (picked, (np.int64(2),)),
]  # fmt: skip


def described(value):
    if isinstance(value, (list, tuple)):
        return [type(value), *map(described, value)]
    if isinstance(value, dict):
        return {key: described(one) for key, one in value.items()}
    return type(value), getattr(value, "dtype", None), repr(value)


PROGRAMS = list(dict.fromkeys(program for program, _ in CALLS))


@spread("program", [(program,) for program in PROGRAMS], [program.__name__ for program in PROGRAMS])
def test_types_are_those_of_plain_python(program, executor):
    f, wrong = al.function(program, executor=executor), []
    for args in [args for called, args in CALLS if called is program]:
        wanted, got = described(program(*args)), described(f(*args))
        if wanted != got:
            wrong.append((args, wanted, got))
    assert not wrong


@pytest.mark.parametrize("executor", INTERPRETED)
def test_text_tells_the_type_of_each_iteration(executor, capsys):
    def program(n):
        s = 0
        for _ in range(n):
            print(s, [s])
            s += 0.5
        return f"{s}", str(s), repr(s)

    plain = program(2), program(0)
    shown = capsys.readouterr().out
    f = al.function(program, executor=executor)
    assert (f(np.int64(2)), f(NONE)) == plain
    assert capsys.readouterr().out == shown == "0 [0]\n0.5 [0.5]\n"


def test_they_are_the_bounds_of_slices():
    def program(x, n):
        k = 0
        for i in range(n):
            k = np.argmin(x) if i else k
        y = x * 2
        y[k:] = 0
        return x[k:], x[:k], y

    for n in (NONE, SOME):
        assert described(al.function(program)(X, n)) == described(program(X, n))


def test_ints_stay_exact():
    f = al.function(lambda n, c: int(n) if c else 0.5)
    assert f(np.int64(2**53), TRUE) == 2**53
    assert type(f(np.int64(2**60), TRUE)) is int
    with pytest.raises(OverflowError, match="may be a float in other runs, and no float of 64 bits is equal to it"):
        f.get_concrete_function(np.int64(1), TRUE)(np.int64(2**60 + 1), TRUE)
    assert f(np.int64(2**60 + 1), TRUE) == 2**60 + 1
    assert f(np.int64(2**60 + 1), FALSE) == 0.5


def test_what_has_no_one_dtype_is_refused():
    def of(program):
        return lambda c, x: program(2 if c else 0.5, x)

    integers = np.ones(3, np.int32)
    words = "only the run tells its type, int or numpy.float64, have no one dtype"
    refused_or_plain(lambda x: np.array([v if v > 1 else 0 for v in x]), words, np.arange(9.0))
    for program, words in (
        (lambda v, x: x * v, r"float or int, as only the run tells: write float\(...\) or int\(...\)"),
        (lambda v, x: np.full(3, v), "return the same dtypes, they return float64 and int64|int64 and float64"),
    ):
        refused_or_plain(of(program), words, TRUE, integers)
    for program, words in (
        (
            lambda v, x: range(v),
            r"an int is needed, not a number of which only the run tells whether it is float or int",
        ),
        (lambda v, x: type(v), r"ask isinstance\(...\)"),
        (lambda v, x: isinstance(v, int), r"make it one of them before, float\(...\) or int\(...\)"),
        (lambda v, x: v.shape, "has no attribute 'shape'"),
    ):
        with pytest.raises((TypeError, AttributeError), match=words):
            al.function(of(program), executor="native")(TRUE, integers)
    assert al.function(of(lambda v, x: x * float(v)))(TRUE, integers).tolist() == [2.0, 2.0, 2.0]
    assert isinstance(al.function(of(lambda v, x: isinstance(v, (int, float))))(TRUE, integers), bool)


@each(INTERPRETED)
def test_a_method_that_one_type_lacks_raises_where_it_is_asked_for(executor):
    def fetched(c, x):
        method = (2 if c else 0.5).hex
        return x, len([method])

    def compared(c, x):
        return (2 if c else 0.5).bit_length == 3

    def held(c, x):
        methods = [(2 if c else x[0]).tobytes]
        return len(methods)

    for program in (fetched, compared, held):
        decorated = al.function(program, executor=executor)
        for c in (TRUE, FALSE):
            answers = []
            for f in (program, decorated):
                try:
                    answers.append(repr(f(c, X)))
                except AttributeError as error:
                    answers.append(str(error))
            assert answers[0] == answers[1]


def test_where_a_tensor_decides_it_is_a_tensor_of_one_dtype():
    made = al.function(lambda c: 2 if c else 0.5)(al.constant(True))
    assert isinstance(made, al.Tensor) and made.dtype == np.float64
    made = al.function(halves)(al.constant(0))
    assert isinstance(made, al.Tensor) and made.dtype == np.float64


def test_gradients_pass_through():
    def loss(x, n):
        s = 0
        for i in range(n):
            s += x[i] ** 2 if x[i] > 1 else 0
        return s

    wanted = np.where(X > 1, 2 * X, 0)
    n = np.int64(4)
    for f in (loss, al.function(loss)):
        np.testing.assert_allclose(al.grad(f)(X, n), wanted)
        value, found = al.value_and_grad(f)(X, n)
        np.testing.assert_allclose(found, wanted)
        assert value == loss(X, n)
    with al.GradientTape() as tape:
        x = al.constant(X)
        tape.watch(x)
        y = al.function(loss)(x, n)
    np.testing.assert_allclose(tape.gradient(y, x), wanted)


def test_functions_of_tensors_are_given_tensors():
    f = al.function(lambda x: al.map_fn(lambda v: v if v > 1 else 0, x))
    assert f(X).tolist() == [1.5, 0.0, 3.0, 2.5]
    f = al.function(lambda x: al.cond(x[0] > 1, lambda: x[0] if x[1] > 1 else 0.0, lambda: 1.0))
    assert f(X) == 0.0


TYPES_OF_NUMBERS = {
    "bool": "True", "int": "2", "float": "0.5", "complex": "(1 + 2j)",
    **{f"np.{name}": f"np.{name}(3)" for name in (
        "bool_", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
        "float64", "complex64", "complex128",
    )},
    "array": "np.array(2.5)",
}  # fmt: skip
#: what is asked of a number ``a`` of one type or another, beside an array ``x`` and a number ``n``
ASKED_OF_NUMBERS = (
    "np.hypot(n, a)", "np.hypot(a, n)", "np.add(n, a)", "np.maximum(x, a)", "np.minimum(n, a)", "np.power(n, a)",
    "np.divmod(n, a)", "np.copysign(n, a)", "np.arctan2(n, a)", "np.where(x > 1, x, a)", "np.where(n > 1, n, a)",
    "np.ptp(np.hypot(n, a))", "np.mean([a, n])", "np.stack([n, a])", "np.array([n, a])", "np.add(n, [a, 1])",
    "np.concatenate([x, [a]])", "np.float32(a)", "np.int64(a)", "x + a", "n < a", "n ** a", "np.full_like(x, a)",
    "np.clip(a, 0, n)", "np.clip(n, 0, a)", "x.clip(0, a)", "np.dot(x, a)", "np.outer(x, a)", "np.sqrt(a)",
    "np.round(a)", "np.insert(x, 0, a)", "np.linspace(0, a, 3)", "x[a]", "x[:a]", "list(range(a))", "np.take(x, a)",
    "x.searchsorted(a)", "np.interp(n, [0, 5], [a, n])", "np.logical_and(n, a)", "x.fill(a)", "x.__setitem__(0, a)",
    "x.put(0, a)", "np.putmask(x, x > 1, a)", "np.copyto(x, a)", "np.add(x, a, out=x)", "np.sum(x, initial=a)",
    "np.result_type(a, n)", "np.einsum('i,->i', x, a)",
)  # fmt: skip


def asked_of_numbers():
    pairs, dtypes = list(itertools.permutations(TYPES_OF_NUMBERS, 2)), itertools.cycle("BfdlB")
    number = itertools.count(3, 41)
    for asked in ASKED_OF_NUMBERS:
        yield asked, *pairs[next(number) % len(pairs)], next(dtypes)


@each(asked_of_numbers())
def test_functions_ask_the_type_of_a_number_as_operators_do(asked, one, other, dtype):
    body = f"    a = {TYPES_OF_NUMBERS[one]}\n    if n < 2:\n        a = {TYPES_OF_NUMBERS[other]}\n"
    text = f"def program(n, x):\n{body}    return {asked}, x\n"
    linecache.cache[text] = (len(text), None, text.splitlines(True), text)
    names = {"np": np}
    exec(compile(text, text, "exec"), names)
    decorated = al.function(names["program"])
    for n in (np.uint8(1), np.float32(2)):
        assert asked_now(decorated, n, dtype) == asked_now(names["program"], n, dtype), n


def asked_now(program, n, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return repr(program(n, np.arange(4).astype(dtype)))
        except (ArithmeticError, IndexError, TypeError, ValueError) as error:
            return isinstance(error, TypeError) or type(error)


def test_long_doubles_beside_pythons_numbers():
    def extremes(s, n):
        return max(s, int(n)), min(int(n), s)

    def summed(s, n):
        total, i = 0, 0
        while i < n:
            total, i = total + s, i + 1
        return total

    for f in (extremes, summed):
        decorated = al.function(f)
        for n in (0, 2, 5):
            given = np.longdouble("3.1"), np.int64(n)
            assert repr(decorated(*given)) == repr(f(*given))


def test_one_of_several_types_is_compared_with_an_int_of_the_run():
    @al.function(executor="sequential")
    def largest(x):
        return max(int(x[0]), float(x[1]), int(x[2]))

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # plain Python does not run it
        found = [largest(np.array(values)) for values in ([1.0, 2.5, 3.0], [3.0, 2.5, 1.0], [1.0, 2.5, 0.0])]
    assert repr(found) == "[3, 3, 2.5]"
