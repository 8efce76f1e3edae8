"""``np.errstate`` and ``np.seterr`` around a call are obeyed by every executor; without them nothing is said."""

from __future__ import annotations

import contextlib
import threading
import warnings
from itertools import product

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS


def in_a_loop(x):
    i, total = 0, x * 0
    while i < 3:
        total = total + 1.0 / (x - i)
        i = i + 1
    return total


def two_kinds(x):
    return np.log(x - 2.0)


def overflow(x):
    return np.exp(x * 1000)


def cast(x):
    return (x * 1e300).astype(np.float32)


def integers(x):
    return x.astype(np.int64) // (x.astype(np.int64) - 2)


def scalars(x):
    total = x[0]
    while total > 0 and total < np.inf:
        total = total * 1e200
    return total


def underflow(x):
    return (x * 1e-300) * 1e-300


def nothing(x):
    return x + 1


X = np.array([5.0, 2.0])
PROGRAMS = [in_a_loop, two_kinds, overflow, cast, integers, scalars, underflow, nothing]


def _raised(f):
    with np.errstate(all="raise"):
        try:
            return f(X)
        except FloatingPointError as error:
            return str(error)


def _warned(f, **settings):
    with warnings.catch_warnings(record=True) as said, np.errstate(**settings):
        warnings.simplefilter("always")
        f(X)
    return [(one.category, str(one.message)) for one in said]


@each(product(PROGRAMS, EXECUTORS))
def test_raises_and_warns_as_numpy_does(f, executor):
    decorated = al.function(f, executor=executor)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = decorated(X)
    found, expected = _raised(decorated), _raised(f)
    assert np.array_equal(found, expected) if isinstance(expected, np.ndarray) else expected in found
    for settings in ({"all": "warn"}, {"under": "warn", "over": "ignore"}, {"all": "ignore"}):
        assert _warned(decorated, **settings) == _warned(f, **settings)
    assert np.array_equal(decorated(X), before)


def test_the_error_stands_at_the_users_line_with_its_iteration():
    @al.function
    def decorated(x, n):
        i, total = 0, x * 0
        while i < n:
            total = total + 1.0 / (x - i)
            i = i + 1
        return total

    with np.errstate(divide="raise"), pytest.raises(FloatingPointError) as caught:
        decorated(X, np.int64(3))
    assert any("1.0 / (x - i)" in str(entry.statement) for entry in caught.traceback)
    assert "iteration 2" in "".join([str(caught.value), *getattr(caught.value, "__notes__", ())])


def test_effects_happen_once(capsys):
    @al.function
    def f(x):
        al.print("once")
        return 1.0 / (x - 2.0)

    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        f(X)
    assert capsys.readouterr().out == "once\n"


def test_gradients_are_checked_too():
    slope = al.grad(al.function(lambda x: np.sum(np.sqrt(x - 2.0))))
    slope(X)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        slope(X)


def test_operations_on_tensors_and_loops_outside_of_functions():
    t = al.constant(X)
    assert np.isinf((t / 0.0).numpy()).all()
    with np.errstate(all="raise"):
        with pytest.raises(FloatingPointError, match="divide by zero"):
            t / 0.0
        with pytest.raises(FloatingPointError, match="divide by zero"):
            al.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, x / 0.0), (0, t))


QUIET = [{kind: "ignore"} for kind in ("divide", "over", "under", "invalid", "all")]


@pytest.mark.parametrize("executor", ["auto", "sequential", "dataflow", "native"])
@pytest.mark.parametrize("setting", [*QUIET, {"divide": "ignore", "invalid": "ignore"}, {"divide": "warn"}])
def test_who_asks_for_silence_has_what_runs_without_it(executor, setting):
    if executor == "native":
        pytest.importorskip("llvmlite")
    decorated = al.function(two_kinds, executor=executor)
    found = decorated(X)
    concrete = decorated.get_concrete_function(X)
    with np.errstate(**setting):
        for _ in range(20):
            np.testing.assert_array_equal(decorated(X), found)
    assert concrete._checked is None  # what computes one operation at a time
    with np.errstate(**setting | {"divide": "raise"}), pytest.raises(FloatingPointError):
        decorated(X)


def test_seterr_holds_until_it_is_set_again():
    decorated = al.function(two_kinds)
    decorated(X)
    old = np.seterr(all="raise")
    try:
        with pytest.raises(FloatingPointError):
            decorated(X)
    finally:
        np.seterr(**old)


def test_other_threads_have_their_own_setting():
    decorated, found = al.function(two_kinds), []
    with np.errstate(all="raise"):
        thread = threading.Thread(target=lambda: found.append(decorated(X)))
        thread.start()
        thread.join(60)
    assert np.isneginf(found[0][1])


def silenced(x):
    with np.errstate(all="ignore"):
        return 1.0 / (x - 2.0)


def silenced_for_one(x):
    with np.errstate(divide="ignore"):
        y = 1.0 / (x - 2.0)
    return y + np.log(x - 6.0)


@np.errstate(all="ignore")
def silenced_as_a_whole(x):
    return 1.0 / (x - 2.0)


def calls_a_silenced(x):
    return silenced_as_a_whole(x) + 1


def silenced_writes(x):
    with np.errstate(all="ignore"):
        x /= 0
    return x[0]


SILENT = [silenced, silenced_for_one, silenced_as_a_whole, calls_a_silenced, silenced_writes]


@each(SILENT)
def test_silence_inside_of_a_function_is_what_there_is_anyway_and_holds_under_any_setting_around_the_call(f):
    decorated = al.function(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = decorated(X.copy())  # as a graph: no word that plain Python runs it
    with np.errstate(all="ignore"):
        assert np.array_equal(found, f(X.copy()), equal_nan=True)
    for how in ("raise", "warn", "ignore"):
        results = []
        for one in (f, decorated, al.function(f)):
            with warnings.catch_warnings(record=True) as said, np.errstate(all=how):
                warnings.simplefilter("always")
                try:
                    result = one(X.copy()).tolist()
                except FloatingPointError as error:
                    result = str(error)
            results.append(repr((result, [str(w.message) for w in said])))
        assert results[0] == results[1] == results[2]


def test_a_function_that_asks_for_errors_as_a_whole_is_left_to_python():
    f = np.errstate(divide="raise")(lambda x: 1.0 / (x - 2.0))
    with pytest.warns(UserWarning, match="is called under np.errstate"), pytest.raises(FloatingPointError):
        al.function(f)(X)


def test_gradients_obey_silence():
    slope = al.grad(al.function(lambda x: np.sum(silenced(x))))
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        slope(X)  # the way back is not silenced, neither is that of the undecorated function
    assert np.isneginf(slope(X)[1])


NOTHING = np.array([[np.nan, 1.0], [np.nan, np.inf], [np.nan, -np.inf]])
SAID_NOTHING_OF = {
    "nanmean": (lambda x: np.nanmean(x, axis=0), NOTHING[:1]),
    "nanmean of all": (np.nanmean, NOTHING[:, 0]),
    "nanvar": (lambda x: np.nanvar(x, axis=0), NOTHING[:1]),
    "nanstd of too few": (lambda x: np.nanstd(x, ddof=5), NOTHING[:, 0]),
    "isclose": (lambda x: np.isclose(x, x, equal_nan=True), NOTHING),
    "allclose": (lambda x: np.allclose(x, x), NOTHING),
    "cond": (np.linalg.cond, np.diag([1.0, 0.0])),
    "cond of nothing": (lambda x: np.linalg.cond(x, -2), np.zeros((2, 2))),
}


@each([(case, executor) for case in SAID_NOTHING_OF for executor in EXECUTORS])
def test_what_numpy_is_silent_of_whatever_is_set(case, executor):
    f, x = SAID_NOTHING_OF[case]
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "Mean of empty slice"
        np.testing.assert_array_equal(al.function(f, executor=executor)(x), f(x))


@each(EXECUTORS)
def test_numbers_of_a_staged_loop_do_not_ask_as_pythons(executor):
    def times(x, by, n):
        for _ in range(n):
            x = x * by
        return x

    def powers(x, by, n):
        for _ in range(n):
            x = x**by
        return x

    for f, x, by in (times, 1e200, 1e200), (times, 1e-200, 1e-200), (powers, 1e9, 40.0):
        decorated = al.function(f, executor=executor)
        try:
            expected = f(x, by, 4)
        except OverflowError:
            expected = None
        for setting in ({}, {"all": "raise"}):
            with (
                np.errstate(**setting),
                contextlib.nullcontext() if expected is not None else pytest.raises(OverflowError),
            ):
                assert decorated(x, by, np.int64(4)) == expected


def test_numbers_of_a_loop_obey_as_numpys_scalars_do_where_a_tensor_takes_part():
    """An exception of ours, in docs/what-the-decorator-keeps.md."""

    @al.function
    def times(x, by, n):
        while n > 0:
            x, n = x * by, n - 1
        return x

    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="overflow"):
        times(1e200, 1e200, al.constant(4))


UNLIKE = {
    "what nobody needs": lambda x: (x, np.log(x - 2.0))[0],
    "no flags are looked at": lambda x: np.vdot(x * 1e308, x * 0.1),
    "dot": lambda x: np.dot(x * 1e307, x * 1e2),
    "tensordot": lambda x: np.tensordot(x * 1e307, x * 1e2, 1),
    "norm": lambda x: np.linalg.norm(x * 1e307),
    "std": lambda x: np.std(x * 1e307),
    "cast within": lambda x: np.sign(x * 1e300, dtype=np.float32),
    "before another error": lambda x: (1.0 / (x - 2.0), [*x][2]),
}


@each([(case, executor) for case in UNLIKE for executor in EXECUTORS])
def test_which_errors_there_are_and_in_what_words_is_plain_pythons(case, executor):
    f = UNLIKE[case]
    decorated, found = al.function(f, executor=executor), []
    for one in (f, decorated, decorated):
        with np.errstate(all="raise"):
            try:
                found.append(repr(one(X)))
            except (FloatingPointError, IndexError) as error:
                found.append(repr(error))
    assert found[0] == found[1] == found[2]


K = np.array([1.0, 0.0])


def _helper():
    return np.exp(1000)


def known_beforehand(x):
    return x + np.log(0.0)


def known_arrays(x):
    return x + np.zeros(2) / K


def known_to_a_helper(x):
    return x + _helper()


def known_scalars(x):
    return x + np.float64(1) / 0 + np.float32(1e30) * np.float32(1e30)


def known_in_a_loop(x):
    i = 0
    while i < x[1]:
        x = x + np.sqrt(-1.0)
        i += 1
    return x


def known_in_a_branch_that_is_not_taken(x):
    if x[0] > 100:
        return x + np.log(0.0)
    return x


def known_after_what_is_not(x):
    y = 1.0 / (x - 2.0)
    return y + np.sqrt(-1.0)


def known_and_tiny(x):
    return x + np.exp(-1000.0)


KNOWN = [
    known_beforehand, known_arrays, known_to_a_helper, known_scalars, known_in_a_loop,
    known_in_a_branch_that_is_not_taken, known_after_what_is_not, known_and_tiny,
]  # fmt: skip


@each(product(KNOWN, EXECUTORS))
def test_what_is_computed_while_tracing_obeys_the_setting_of_each_call(f, executor):
    def seen(one, **settings):
        with warnings.catch_warnings(record=True) as said, np.errstate(**settings):
            warnings.simplefilter("always")
            try:
                result = one(X).tolist()
            except FloatingPointError as error:
                result = str(error)
        return repr((result, [str(w.message) for w in said] if settings else []))

    asked = [{}, {"all": "raise"}, {"all": "warn"}, {"under": "raise"}, {"all": "ignore"}]
    for settings in (asked, asked[::-1]):
        decorated = al.function(f, executor=executor)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            decorated(X)  # it says nothing, and is a graph
        other = al.function(f, executor=executor)
        for one in settings:
            assert seen(decorated, **one) == seen(other, **one) == seen(f, **one), one


def test_what_is_computed_while_a_gradient_is_traced_obeys_too():
    slope = al.grad(lambda x: np.sum(x * x) + np.log(0.0))
    for _ in range(2):
        assert slope(X).tolist() == [10.0, 4.0]
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero encountered in log"):
            slope(X)


def test_a_trace_that_is_called_itself_is_run_or_tells_what_to_call():
    def summed(x, n):
        i = 0
        while i < n:
            x, i = x + K, i + 1
        return x

    decorated = al.function(summed)
    trace = decorated.get_concrete_function(X, np.int64(1))
    for _ in range(5):  # plain Python has its turn, in calls of the function
        assert trace(X, np.int64(1)).tolist() == decorated(X, np.int64(1)).tolist() == [6.0, 2.0]
    for f in (known_beforehand, silenced):
        trace = al.function(f).get_concrete_function(X)
        trace(X)
        with np.errstate(all="raise"), pytest.raises(TypeError, match="errors that np.errstate or np.seterr ask for"):
            trace(X)


def test_the_way_back_of_a_tape_obeys_the_setting_it_is_asked_under():
    decorated, x = al.function(np.sqrt), al.constant([0.0, 1.0])
    with al.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = decorated(x)
    for _ in range(2):
        assert np.isinf(tape.gradient(y, x).numpy()[0])
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
            tape.gradient(y, x)
