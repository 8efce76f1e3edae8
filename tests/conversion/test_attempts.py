"""``try``, ``finally`` and ``with`` around what only the run raises: no handler is silently passed by."""

from __future__ import annotations

import contextlib
from itertools import product

import autoloop as al
import numpy as np
import pytest
from autoloop.errors import ConversionError
from each_case import each
from executors import INTERPRETED

V = np.array([1.0, 3.0, 0.5, 2.0])


def fails(v):
    if v[0] > 0.5:
        raise KeyError("k")
    return 1.0


def count(v):
    k = 0
    for x in v:
        k = k + 1 if x > 1 else k
    return k


def helper_raises(v):
    try:
        return fails(v)
    except KeyError:
        return 2.0


def helper_raises_in_a_loop(v):
    try:
        for _ in v:
            fails(v)
    except LookupError:
        return 2.0
    return 3.0


def suppressed(v):
    with contextlib.suppress(KeyError):
        fails(v)
    return 5.0


def outside(v):
    k = count(v)
    try:
        return v[k + 3]
    except IndexError:
        return -1.0


def picks_outside(v):
    k = count(v)
    try:
        return al.gather_nd(v, al.stack([al.stack([k + 3])]))
    except IndexError:
        return -1.0


def takes_outside(v):
    k = count(v)
    try:
        return al.take_along_axis(v, al.stack([k + 3]), 0)
    except IndexError:
        return -1.0


def scatters_outside(v):
    k = count(v)
    try:
        return al.scatter(al.stack([al.stack([k + 3])]), [1.0], [3])
    except IndexError:
        return -1.0


def outside_in_a_test(v):
    k = 0
    try:
        while v[k] < 100:
            k += 1
    except Exception:
        return -1
    return k


def nothing_to_pop(v):
    out = []
    for x in v:
        if x > 9:
            out.append(x)
    try:
        return out.pop()
    except IndexError:
        return -1.0


def does_not_fit(v):
    k = count(v)
    try:
        return v[:k] + v[:3]
    except ValueError:
        return -1.0


def attribute_not_there(v):
    class Box:
        pass

    box = Box()
    try:
        if v[0] > 9:
            box.a = v[0]
        y = box.a
    except AttributeError:
        y = -1.0
    return y


def own_function(v):
    try:
        return al.py_function(lambda x: x / 2, [v], al.float64)
    except ValueError:
        return v


CAUGHT = [
    helper_raises,
    helper_raises_in_a_loop,
    suppressed,
    attribute_not_there,
    outside,
    picks_outside,
    takes_outside,
    scatters_outside,
    outside_in_a_test,
    nothing_to_pop,
    does_not_fit,
    own_function,
]


@each(product(CAUGHT, INTERPRETED))
def test_what_an_except_clause_would_catch_is_refused(f, executor):
    words = (
        r"may be raised \(line \d+\) at run time, when the graph decides, and cannot be caught by an `except` in "
        r"the converted function"
    )
    advice = ": catch it around the call, or ask before by `if`"
    with pytest.raises(ConversionError, match=words + advice) as raised:
        al.function(f, executor=executor)(al.constant(V))
    assert raised.traceback[-1].path.name == "test_attempts.py"
    # plain Python hears what is raised
    with pytest.warns(UserWarning, match=f"runs as plain Python, at each call: .*{words}"):
        np.testing.assert_array_equal(al.function(f, executor=executor)(V), f(V))
    al.convert(f)(V)  # plain Python stays what it is


def prints_last(v):
    try:
        fails(v)
    finally:
        print("last")


def prints_last_in_a_loop(v):
    for x in v:
        try:
            assert x < 2
        finally:
            print("last", x)


def test_what_finally_prints_is_printed_after_an_exception(capsys):
    with pytest.warns(UserWarning, match="does what others see"), pytest.raises(KeyError):
        al.function(prints_last)(V)
    assert capsys.readouterr().out == "last\n"


def test_what_finally_prints_in_a_loop_is_printed_after_an_exception(capsys):
    with pytest.warns(UserWarning, match="does what others see"), pytest.raises(AssertionError):
        al.function(prints_last_in_a_loop)(V)
    printed = capsys.readouterr().out
    with contextlib.suppress(AssertionError):
        prints_last_in_a_loop(V)
    assert printed == capsys.readouterr().out
    with pytest.raises(TypeError, match="it would not be done then; catch it around the call, and do that there"):
        al.function(prints_last_in_a_loop)(al.constant(V))


class Manager:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


@contextlib.contextmanager
def manager():
    yield


class Watching:
    def __init__(self):
        self.seen = []

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.seen.append(kind)
        return kind is IndexError


class Timing(Watching):
    def __exit__(self, *_):
        self.seen.append("over")
        return False


@contextlib.contextmanager
def letting_go():
    try:
        yield
    except IndexError:
        pass


def under_a_manager(held, v, n):
    with held:
        v[n] = 3.0
    return v


def under_managers(held, v, n):
    for k in range(n):
        with held:
            v[k] += 1.0
    return v


ASKING = [(Watching, under_a_manager), (Watching, under_managers), (letting_go, under_a_manager)]


@each([(*case, n) for case in ASKING for n in (0, 9)])
def test_a_manager_that_asks_what_was_raised_is_told_by_plain_python(make, function, n):
    (plain, array), (held, given) = ((make(), V.copy()) for _ in range(2))
    expected = function(plain, array, np.int64(n))
    with pytest.warns(UserWarning, match="looks when the `with` statement is left|is entered"):
        assert np.array_equal(al.function(function)(held, given, np.int64(n)), expected)
    assert np.array_equal(given, array) and getattr(held, "seen", 0) == getattr(plain, "seen", 0)


@each([Timing, manager])
def test_a_manager_that_does_not_ask_is_in_the_graph(make):
    def f(v, n):
        held = make()
        with held:
            v[n] = 3.0
        return v

    assert np.array_equal(al.function(f)(V.copy(), np.int64(1)), f(V.copy(), np.int64(1)))


@each([Manager, manager])
def test_a_manager_would_not_be_told(make):
    def f(v):
        with make():
            fails(v)
        return v

    with pytest.raises(
        ConversionError,
        match="would not be told when the `with` statement is left: catch it around the call, or raise it behind the "
        "statement",
    ):
        al.function(f)(al.constant(V))
    with pytest.warns(UserWarning, match="would not be told when the `with` statement is left"):
        decorated = given_or_raised(al.function(f))
    assert repr(decorated) == repr(given_or_raised(f))


def given_or_raised(f):
    try:
        return f(V)
    except KeyError as error:
        return error


def surely_inside(v):
    try:
        a, *_ = v
        return v[0] + v[-1] + v[1:].sum() + a
    except IndexError:
        return -1.0


def of_another_kind(v):
    k = count(v)
    try:
        return v[k]
    except (KeyError, TypeError):
        return -1.0


def nothing_fails(v):
    try:
        return v * 2
    except Exception:
        return v
    finally:
        print("last")


def raises_nothing_in_the_run(v):
    try:
        v.nothing  # noqa: B018
    except AttributeError:
        v = v + 1
    with contextlib.suppress(KeyError), np.errstate(all="ignore"), Manager() as box:
        v = v + isinstance(box, Manager)
    return v


def finally_without_effects(v):
    held = []
    try:
        fails(v - 3)
    finally:
        held.append(1)
    return len(held)


@pytest.mark.parametrize("executor", INTERPRETED)
@pytest.mark.parametrize(
    "f", [surely_inside, of_another_kind, nothing_fails, raises_nothing_in_the_run, finally_without_effects]
)
def test_what_no_handler_would_see_works(f, executor, capsys):
    expected = f(V)
    said = capsys.readouterr().out
    np.testing.assert_array_equal(np.asarray(al.function(f, executor=executor)(V)), expected)
    assert capsys.readouterr().out == said


def test_a_class_in_a_function_gets_no_attribute_more():
    def f(v):
        class Box:
            try:
                a = 1
            finally:
                b = 2

        return v, [name for name in vars(Box) if not name.startswith("__")]

    assert al.function(f)(V)[1] == ["a", "b"]


def test_what_is_no_manager_is_told_as_python_tells_it():
    def f(v):
        with v:
            return 1

    with pytest.raises(TypeError, match="context manager"), pytest.warns(UserWarning, match="runs as plain Python"):
        al.function(f)(V)


def raises_in_the_end(v):
    while True:
        v = v * 2
        if v[0] > 100:
            raise RuntimeError("stop")


def raises_before_it_is_outside(v):
    i = 0
    while True:
        if v[i] > 2:
            raise RuntimeError("stop")
        i += 1


@each(product([raises_in_the_end, raises_before_it_is_outside], INTERPRETED))
def test_an_endless_loop_that_only_a_raise_ends(f, executor):
    with pytest.raises(RuntimeError, match="stop"):
        al.function(f, executor=executor)(V)
