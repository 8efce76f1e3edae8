"""Random numbers are drawn from the generator's own stream, as plain Python would: at each call, in every round."""

from __future__ import annotations

import copy
import pickle
import random

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS, needs_native
from left_to_python import refused_or_plain

RNG = np.random.default_rng()
LEGACY = np.random.RandomState()
OWN = random.Random()


def _seed():
    RNG.bit_generator.state = np.random.default_rng(3).bit_generator.state
    LEGACY.seed(4)
    np.random.seed(1)
    random.seed(2)
    OWN.seed(5)


def _states():
    return [repr(one) for one in (RNG.bit_generator.state, LEGACY.get_state(), np.random.get_state(), random.getstate(),
                                  OWN.getstate())]  # fmt: skip


def arrays_beside_staged_values(x):
    return x + RNG.normal(size=3), x * LEGACY.rand(3), np.random.rand(), np.random.normal(0.0, 1.0, (2, 2))


def integers(x):
    return x, np.random.randint(5), RNG.integers(0, 10, size=4), random.randint(0, 5), random.getrandbits(8)


def in_a_staged_loop(n):
    total, i = 0.0, 0
    while i < n:
        total += RNG.normal() * 2 + random.random() + LEGACY.uniform() - OWN.gauss(0, 1)
        i += 1
    return total


def in_a_staged_branch(x):
    if x[0] > 1:
        y = RNG.normal()
    else:
        y = RNG.uniform() + RNG.uniform()
    return y, RNG.random()


def one_stream_in_order(x):
    first = RNG.random(2)
    total = 0.0
    for _ in range(3):
        total += RNG.random() * x[0]
    return first, total, RNG.random()


def staged_arguments(x):
    return RNG.normal(x, 2.0), RNG.uniform(x, x + 1), RNG.poisson(abs(x)), RNG.permutation(x), RNG.choice(x)


def staged_numbers(n):
    total = 0
    for i in range(n):
        total += random.randint(i, i + 3) + RNG.binomial(i + 1, 0.5)
    return total, random.uniform(n, n + 1), RNG.integers(n, n + 5)


def lists(x):
    return x, random.sample(range(10), 3), random.choice([1, 2, 3]), random.choices([1.5, 2.5], k=2), RNG.permutation(5)


def of_lists_that_change(x):
    rows, weights = [1.5, 2.5], np.array([0.5, 0.5])
    picked = random.choice(rows), RNG.choice(2, p=weights)
    rows.append(9.5)
    weights[:] = 1.0
    return x, picked, random.choice(rows), weights


def collected(n):
    rows = []
    for _ in range(n):
        rows.append(RNG.integers(0, 9, size=2))
    return np.stack(rows)


def seeded_each_time(x):
    np.random.seed(7)
    random.seed(8)
    return x * np.random.rand(3), random.random(), np.random.sample(2), np.random.ranf()


def made_inside(x):
    rng, legacy, own = np.random.default_rng(0), np.random.RandomState(1), random.Random(2)
    return x * rng.normal(size=3), legacy.rand(), own.random(), rng.normal()


def copied_inside(x):
    rng = np.random.default_rng(0)
    twin, other = copy.deepcopy(rng), copy.copy(random.Random(2))
    return x * rng.normal(), twin.normal(), other.random(), copy.deepcopy({"rng": twin})["rng"].random()


def spawned_inside(x):
    total, first = 0.0, np.random.default_rng(0).spawn(2)
    for rng in [*first, *first[0].spawn(1)]:
        total += rng.normal()
    return x * total


def made_by_a_library(x):
    rng = pickle.loads(pickle.dumps(np.random.default_rng(0)))
    return x * rng.normal()


X, N = np.array([0.5, 1.5, 2.0]), np.int64(4)
PROGRAMS = [
    (arrays_beside_staged_values, X), (integers, X), (in_a_staged_loop, N), (in_a_staged_branch, X),
    (in_a_staged_branch, X + 1), (one_stream_in_order, X), (staged_arguments, X), (staged_numbers, N), (lists, X),
    (of_lists_that_change, X), (collected, 3), (collected, N), (seeded_each_time, X), (made_inside, X),
    (copied_inside, X), (spawned_inside, X),
]  # fmt: skip


@pytest.mark.parametrize("executor", ["sequential", "dataflow", "auto"])
@pytest.mark.parametrize(("f", "argument"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_draws_what_plain_python_draws(f, argument, executor):
    _seed()
    expected, after = [f(argument) for _ in range(3)], _states()
    decorated = al.function(f, executor=executor)
    _seed()
    assert repr([decorated(argument) for _ in range(3)]) == repr(expected)
    assert _states() == after


def test_a_generator_as_an_argument():
    f = al.function(lambda rng, x: x + rng.normal(size=2))
    ours, plain = np.random.default_rng(9), np.random.default_rng(9)
    for _ in range(3):
        assert np.array_equal(f(ours, np.ones(2)), 1 + plain.normal(size=2))
    assert f.tracing_count == 1


def test_tracing_draws_nothing():
    _seed()
    before = _states()
    for f, argument in PROGRAMS:
        al.function(f).get_concrete_function(argument)
    assert _states() == before


def _fresh(x):
    return x + np.random.default_rng().random()


def _shuffled(x):
    numbers = [1.0, 2.0]
    RNG.shuffle(numbers)
    return x + numbers[0]


def _bytes(x):
    return x, RNG.bytes(3)


def _into(x):
    return x + RNG.random(out=np.zeros(3))


def _of_what_is_made_inside(x):
    return np.random.default_rng(0).normal(x)


def _wrong_arguments(x):
    return x + RNG.normal(0.0, -1.0)


def _no_arguments_do(x):
    return RNG.multivariate_normal(x, x)


@pytest.mark.parametrize(
    ("f", "error", "words"),
    [
        (_fresh, TypeError, "default_rng() takes a fresh seed at each call"),
        (_shuffled, TypeError, "shuffle changes its argument in place, which a graph cannot follow; assign a permut"),
        (_bytes, TypeError, "bytes gives 'bytes', which a run cannot hand to the rest of a traced function"),
        (_into, TypeError, "random does not take the argument 'out' in a traced function"),
        (_of_what_is_made_inside, TypeError, "wants to know a value of the run"),
        pytest.param(_wrong_arguments, ValueError, "scale < 0", marks=needs_native),
        (_no_arguments_do, TypeError, "multivariate_normal: it could not be found out what it gives for staged arg"),
    ],
)
def test_refusals_leave_the_generators_as_they_were(f, error, words):
    def in_a_branch(x):
        return f(x) if x.sum() > -1e9 else x

    _seed()
    before = _states()
    with pytest.raises(error) as caught:
        al.function(in_a_branch, executor="native")(X)
    assert words in str(caught.value)
    assert _states() == before


def test_the_rank_of_staged_arguments_must_be_known():
    signature = [al.TensorSpec(None, al.float64)]
    f = al.function(lambda x: RNG.normal(x), input_signature=signature, executor="native")
    with pytest.raises(TypeError, match="the rank of .* must be known where random numbers are drawn"):
        f(X)


def test_what_is_drawn_keeps_its_kind():
    values = [1, 1, 2.5]
    f = al.function(lambda x: x + OWN.choice(values))
    OWN.seed(0)
    with pytest.raises(TypeError, match="choice gave .*, but .* when traced: let it always give the same kind"):
        for _ in range(20):
            f(1.0)


@each(EXECUTORS)
def test_what_is_drawn_without_axes_is_an_array_where_a_size_is_given(executor):
    def drawn(x, n):
        generator, number, element = np.random.default_rng(1), RNG.integers(3, size=()), RNG.choice(np.arange(5))
        while n > 0:
            number, n = RNG.integers(9, size=()), n - 1
        return (
            number,
            RNG.normal(x, size=()),
            RNG.standard_normal(size=()),
            RNG.normal(x),
            element,
            generator.random(()),
        )

    f = al.function(drawn, executor=executor)
    for turns in (0, 2):
        _seed()
        wants = drawn(np.float64(2), np.int64(turns))
        _seed()
        found = f(np.float64(2), np.int64(turns))
        assert [(type(one), one) for one in found] == [(type(one), one) for one in wants]


def test_what_is_drawn_has_the_shape_that_was_traced():
    values = [np.zeros(2), np.zeros(3)]
    f = al.function(lambda x: x + np.sum(OWN.choice(values)))
    OWN.seed(0)
    with pytest.raises(
        TypeError, match=r"choice gave ndarray of shape \(\d,\), but ndarray of shape \(\d,\) when traced"
    ):
        for _ in range(20):
            f(1.0)


@each(["sequential", "dataflow"])
def test_what_is_drawn_may_be_changed(executor):
    rows = np.arange(6.0).reshape(3, 2)

    def changed(n):
        total = np.zeros(2)
        for _ in range(n):
            row, same = RNG.choice(rows), OWN.choice([rows[0].copy()])
            row[0] = 50.0
            same += 1.0
            total = total + row + same
        return total

    _seed()
    expected = changed(np.int64(5))
    _seed()
    np.testing.assert_array_equal(al.function(changed, executor=executor)(np.int64(5)), expected)
    np.testing.assert_array_equal(rows, np.arange(6.0).reshape(3, 2))


def test_errors_of_a_run_stand_at_the_line():
    f = al.function(lambda x: RNG.normal(0.0, x))
    f(np.ones(2))
    with pytest.raises(ValueError, match="scale < 0") as caught:
        f(-np.ones(2))
    assert any("RNG.normal(0.0, x)" in str(entry.statement) for entry in caught.traceback)


def test_a_seed_is_known_while_tracing():
    def seeded(n):
        total = 0.0
        for i in range(n):
            total += np.random.default_rng(i).random()
        return total

    def seeded_in_a_branch(n):
        rng = np.random.default_rng(n) if n > 2 else np.random.RandomState(n + 1)
        return rng.normal()

    refused_or_plain(seeded, "takes no seed that only the run knows", np.int64(3))
    refused_or_plain(seeded_in_a_branch, "takes no seed that only the run knows", np.int64(3))
    refused_or_plain(made_by_a_library, "a library's own code gives a generator of random numbers", X)


def test_a_global_name_is_looked_up_by_each_run():
    global RNG
    kept = RNG

    def drawn(x, n):
        total = RNG.normal(size=2) + RNG.normal(x)
        for _ in range(n):
            total = total + RNG.random()
        return total

    def of_a_local(x, rng):
        return x + rng.random() if isinstance(RNG, np.random.Generator) else x

    f, g = al.function(drawn), al.function(of_a_local)
    given = np.float64(2.0), np.int64(3)
    try:
        for seed in (1, 2, 1):
            RNG = np.random.default_rng(seed)
            expected = drawn(*given)
            RNG = np.random.default_rng(seed)
            np.testing.assert_array_equal(f(*given), expected)
        assert f.tracing_count == 1
        local = RNG = np.random.default_rng(5)
        g(0.5, local)
        RNG = np.random.default_rng(6)
        assert g(0.5, local) == 0.5 + np.random.default_rng(5).random(2)[1]
    finally:
        RNG = kept


def _from_the_process(n):
    total = al.zeros([3])
    for _ in al.range(n):
        total = total + al.random.normal([3]) * al.random.uniform([3], 1.0, 2.0)
    return total, al.random.randint([2], 0, 100), al.random.permutation(4)


@each(EXECUTORS)
def test_functions_draw_from_the_process_generator(executor):
    decorated = al.function(_from_the_process, executor=executor)
    al.random.set_seed(3)
    expected = [_from_the_process(4), _from_the_process(0), _from_the_process(4)]
    al.random.set_seed(3)
    for n, wanted in zip((4, 0, 4), expected, strict=True):
        for one, given in zip(wanted, decorated(al.constant(n)), strict=True):
            np.testing.assert_allclose(given, one, rtol=1e-6)


def test_what_a_method_of_scipys_draws_is_drawn_by_each_call():
    stats = pytest.importorskip("scipy.stats")

    def drawn(x):
        return stats.norm.rvs(size=2) + x

    decorated, found = al.function(drawn), []
    with pytest.warns(UserWarning, match="a library's own code draws random numbers"):
        for function in (decorated, drawn):
            np.random.seed(5)  # noqa: NPY002
            found.append([function(np.ones(2)).tolist() for _ in range(3)])
    assert found[0] == found[1]
