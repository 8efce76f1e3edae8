"""Under ``np.errstate`` that asks for errors machine code runs first, and tells whether there were any: what is raised,
said or called then is plain Python's, and arrays are as they were when that begins."""

from __future__ import annotations

import copy
import warnings

import autoloop as al
import numpy as np
import pytest
from autoloop import asked_errors
from each_case import each
from executors import needs_native

pytestmark = needs_native

MODES = [
    {"all": "raise"}, {"all": "warn"}, {"all": "call"}, {"all": "log"}, {"over": "raise", "under": "raise"},
    {"divide": "raise", "invalid": "warn"}, {"under": "warn", "over": "ignore", "invalid": "call"},
]  # fmt: skip
X = np.array([5.0, 2.0, 1.5, 4.0])


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Let machine code come with the first call also where that is chosen."""
    monkeypatch.setattr(asked_errors, "price_of", lambda graph: 0.0)
    monkeypatch.setattr(asked_errors, "TRIALS", -1)


class _Log:
    def __init__(self):
        self.lines = []

    def write(self, line):
        self.lines.append(line)


def seen(f, args, **settings):
    """What a call gives, raises, says and changes."""
    args, log, calls = copy.deepcopy(args), _Log(), []
    call = log if "log" in settings.values() else (lambda *told: calls.append(told))
    with warnings.catch_warnings(record=True) as said, np.errstate(**settings, call=call):
        warnings.simplefilter("always")
        try:
            result = repr(f(*args))
        except (ArithmeticError, LookupError, ValueError) as error:
            result = f"{type(error).__name__}: {error}"
    return result, [str(one.message) for one in said], calls, log.lines, repr(args)


def runs(decorated, *args):
    """How many calls machine code has run to their end, and in how many there were errors."""
    heeded = decorated.trace_for(*args).heeded
    return (0, 0) if heeded is None else (heeded.ran, heeded.errors)


def in_a_loop(x, n):
    total = x[0] * 0
    for i in range(n):
        total = total + 1.0 / (x[i] - 2.0) * 1e300
        x[i] = total * total
    return total


def in_arrays(x, n):
    while n > 0:
        x, n = x * x / (x - 0.5), n - 1
    return x


def in_a_branch(x, n):
    y = 1.0 / (x[n] - 2.0)  # is needed on one side only
    if x[0] > 100:
        x[0] = y
    return x[0] + 1


def of_one_element(x, n):
    return (1.0 / (x - 2.0))[0]


def of_some(x, n):
    total = 0.0
    for i in range(n):
        total = total + (x[i] if x[i] <= 2 else np.where(x[i] > 3, 1.0, 1.0 / (x[i] - 5)))
    return total


def only_at_the_end(x, n):
    y = x[0]
    for i in range(n):
        y = np.sqrt(x[i] - 1.75)
    return y


def what_is_overwritten(x, n):
    y = 1.0 / (x - 2.0)
    y[:] = x
    return y


def of_constants(x, n):
    y = np.float64(1e200)
    for _ in range(n):
        y = y * y
    return y > x[0]


def with_functions(x, n):
    total = 0.0
    for i in range(n):
        total = total + np.log(x[i] - 2.0) + np.exp(x[i] * 200.0)
    return total


def of_one_size(x, n):
    y = x.astype(np.float32)
    for i in range(n):
        y[i] = x[i] * 1e300
    return y


def of_ints(x, n):
    k = n
    for _ in range(n):
        k = k * np.int64(3037000500) + k
    return k + x[0]


def of_sums(x, n):
    total = np.cumsum(x * 1e300)[-1]
    for i in range(n):
        total = total + np.sum(x * i * 1.5e307) + np.mean(x[i:])
    return total


def too_small(x, n):
    y = x.astype(np.float32) + np.float32(n)
    return np.where(y > 0, y, 1e-60)  # which NumPy casts


def both_faults(x, n):
    for i in range(n + 2):
        x[i] = 1.0 / (x[i] - 2.0)
    return x


def the_other_first(x, n):
    for i in range(n + 2):
        x[i + 2] = 1.0 / (x[i] - 2.0)
    return x


PROGRAMS = [
    in_a_loop, in_arrays, in_a_branch, of_one_element, of_some, only_at_the_end, what_is_overwritten, of_constants,
    with_functions, of_one_size, of_ints, of_sums, too_small, both_faults,
    the_other_first,
]  # fmt: skip


@each([(f, executor) for f in PROGRAMS for executor in ("auto", "native")])
def test_what_is_told_is_plain_pythons(f, executor):
    decorated = al.function(f, executor=executor)
    for n in (1, 3):
        for settings in MODES:
            args = X, np.int64(n)
            assert seen(decorated, args, **settings) == seen(f, args, **settings), (n, settings)


def smooth(x, n):
    least = np.inf
    for _ in range(n):
        x[0] = np.sum(x) / len(x)
        least = min(least, x[0])
        for i in range(1, len(x) - 1):
            x[i] = (x[i - 1] + x[i + 1]) * 0.5 + np.exp(-x[i])
    return x[1] - least


@each(["auto", "native"])
def test_machine_code_runs_calls_without_errors(executor):
    decorated = al.function(smooth, executor=executor)
    for _ in range(4):
        assert seen(decorated, (X, np.int64(3)), all="raise")[1:4] == ([], [], [])
    ran, errors = runs(decorated, X, np.int64(3))
    assert ran >= 3 and not errors
    x, y = X.copy(), X.copy()
    with np.errstate(all="raise"):
        np.testing.assert_allclose(decorated(x, np.int64(3)), smooth(y, np.int64(3)), rtol=1e-13)
    np.testing.assert_allclose(x, y, rtol=1e-13)


def test_arrays_are_as_before_when_plain_python_begins():
    def f(x, n):
        for i in range(n):
            x[i] += 1.0 / x[n - i]
        return x

    decorated, x = al.function(f, executor="native"), np.array([1.0, 0.0, 4.0, 8.0])
    for _ in range(2):  # x[1] is met after x[0] is written
        given = x.copy()
        with np.errstate(all="warn"), pytest.warns(RuntimeWarning, match="divide by zero"):
            decorated(given, np.int64(2))
        with np.errstate(all="ignore"):
            assert given.tolist() == f(x.copy(), np.int64(2)).tolist()
    assert runs(decorated, x, np.int64(2))[1]


def test_calls_that_have_errors_again_and_again_are_left_to_plain_python():
    decorated = al.function(in_a_loop, executor="native")
    for _ in range(9):
        assert seen(decorated, (X, np.int64(2)), divide="raise")[0].startswith("FloatingPointError")
    assert runs(decorated, X, np.int64(2)) == (0, asked_errors.MOST_ERRORS + 1)


def test_kinds_that_nobody_asks_for_are_no_errors():
    decorated = al.function(in_a_loop, executor="native")
    for _ in range(3):
        with np.errstate(all="ignore", under="raise"):
            decorated(X.copy(), np.int64(2))
    assert runs(decorated, X, np.int64(2)) == (3, 0)


def _printing(x, n):
    for i in range(n):
        print("once", i)
        x[i] = 1.0 / (x[i] - 2.0)
    return x


def _unneeded(x, n):
    y = x[0]
    for i in range(n):
        y = y + x[i]
        1.0 / (x[i] - 2.0)
    return y


def _summed(x, n):
    return np.vdot(x, x) + np.std(x * n)


def _known(x, n):
    return x * n + np.log(0.0)


def _told_by_numpy(x, n):
    return np.isclose(x, x + n, rtol=x / 0.5)


def _warned_by_numpy(x, n):
    return np.nanmean(np.where(x > 5.0 * n, x, np.nan))


@each([_printing, _unneeded, _summed, _known, _told_by_numpy, _warned_by_numpy])
def test_what_flags_do_not_tell_of_is_plain_pythons_at_once(f):
    decorated = al.function(f)
    for settings in MODES:
        args = X, np.int64(2)
        assert seen(decorated, args, **settings) == seen(f, args, **settings)
    assert runs(decorated, X, np.int64(2)) == (0, 0)


def test_prints_happen_once(capsys):
    decorated = al.function(_printing)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        decorated(X.copy(), np.int64(2))
    assert capsys.readouterr().out == "once 0\nonce 1\n"


def test_large_arrays_are_not_copied_for_little():
    @al.function(executor="native")
    def f(x, i):
        x[i] = x[i] * 2.0
        return x[i]

    x = np.ones(asked_errors.FEW_BYTES)
    with np.errstate(all="raise"):
        for _ in range(3):
            f(x, np.int64(1))
    assert runs(f, x, np.int64(1)) == (0, 0) and x[1] == 8


def test_an_errstate_inside_is_obeyed_within_one_around():
    def f(x, n):
        total = 0.0
        for i in range(n):
            with np.errstate(divide="ignore"):
                total = total + 1.0 / (x[i] - 2.0)
        return total - np.log(x[0] - 5.0)

    decorated = al.function(f)
    for settings in MODES:
        args = X, np.int64(2)
        assert seen(decorated, args, **settings) == seen(f, args, **settings)


class _Counter:
    def __init__(self):
        self.count = 0.0

    def step(self, x):
        for i in range(len(x)):
            self.count = self.count + 1.0 / (x[i] - 2.0)
        return self.count


def test_state_is_written_once():
    ours, plain = _Counter(), _Counter()
    step = al.function(ours.step)
    for x in (X + 0.25, X, X + 0.5):
        for how in ("raise", "warn"):
            assert seen(step, (x,), all=how) == seen(plain.step, (x,), all=how)
            assert ours.count == plain.count
