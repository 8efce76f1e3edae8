"""Calls that name arguments, of which there were many, do what the first one did."""

from __future__ import annotations

import functools
import inspect

import autoloop as al
import numpy as np
import pytest
from autoloop.function import Function
from autoloop.parameters import Parameters
from each_case import each
from test_fast_path import A, F, I, add, is_on_it, keyed, often, read, told


class Scaled:
    factor = 3.0

    @al.function
    def times(self, x, by=2.0):
        return x * by * self.factor


@functools.wraps(add)
def telling(*args, **kwargs):
    return sum(args) + len(args) + sum(kwargs.values()) * len(kwargs)


def later(x, y, z=1, *, w=0):
    return x + y * z + w


def two_kept(x, *, y, z=2):
    return x * y - z


@al.function
def undecided(x, *, y):  # plain Python runs it
    with open(__file__) as file:
        return x + y + len(file.readline())


class Kept:
    @al.function
    def times(self, x, *, by=2.0):
        return x * by


def placed(x, /, y=1, z=2):
    return x * y - z


CASES = {
    "one name": (add, (F(1),), {"y": F(2)}),
    "names only": (add, (), {"y": A(3.0), "x": F(2)}),
    "a default between": (placed, (F(1),), {"z": F(2)}),
    "a number": (placed, (A(3.0),), {"y": 2}),
    "names only they may have": (keyed, (F(1),), {"y": F(2)}),
    "two of them": (two_kept, (A(3.0),), {"z": F(2), "y": A(3.0)}),
    "one of them": (two_kept, (), {"x": A(3.0), "y": F(2)}),
    "some of these": (later, (F(1),), {"y": F(2), "w": F(3)}),
    "another function's names": (telling, (), {"x": F(1), "y": F(2)}),
    "plain Python": (read, (), {"x": 3}),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.* runs as plain Python", "ignore:.* was traced")
@each(CASES)
def test_named_arguments_are_the_ones_they_name(case):
    kind, args, named = CASES[case]
    f, usual = al.function(kind), al.function(kind)
    usual._paths._main._left, usual._paths._fronts = 1 << 30, [None] * 4
    often(f, args, named)
    full = [*args, *named.values()]
    others = [
        (args, named), (full, {}), ((), {}), (args, {}), ((), named), (full, named), ((*args, F(1)), named),
        (args, {**named, "q": 1}), (args, {**named, "w": F(2)}), (args, {**named, "x": F(3)}), (full[:1], {"z": F(4)}),
        (args, {name: F(7) for name in named}), (args, {name: A(4.0) for name in named}), (args, dict.fromkeys(named)),
        (args, {name: -1 for name in named}), (full[:1], {"y": I(4)}), (full[:1], {"y": I(4), "z": 3.0}),
    ]  # fmt: skip
    for other, given in [*others, *others]:
        assert told(f, other, given) == told(usual, other, given), (other, given)
        assert told(f, args, named) == told(usual, args, named)


def test_named_arguments_go_straight(monkeypatch):
    f, made = al.function(add), Scaled()
    often(f, (F(1),), {"y": F(2)})
    often(made.times, (F(1),), {"by": F(4)})
    monkeypatch.setattr(Parameters, "bind", None)  # what the usual way asks
    assert f(F(3), y=F(5)) == 8
    assert made.times(F(2), by=F(5)) == 30
    with pytest.raises(TypeError):
        f(y=F(5), x=F(3))


@pytest.mark.filterwarnings("ignore:.* runs as plain Python", "ignore:.* was traced")
def test_what_may_be_named_only_goes_straight(monkeypatch):
    f, made = al.function(two_kept), Kept()
    often(f, (F(1),), {"y": F(2)})
    often(f, (), {"z": F(3), "y": F(2), "x": F(1)})
    often(made.times, (F(1),), {"by": F(4)})
    often(undecided, (F(1),), {"y": F(4)})
    assert all(map(is_on_it, (f, made.times.function, undecided)))
    with pytest.raises(TypeError):
        f(F(1), F(2))
    with pytest.raises(TypeError):
        f(F(1), F(2), F(3))
    assert undecided(F(1), y=F(6)) == undecided.python_function(F(1), y=F(6))
    monkeypatch.setattr(Parameters, "bind", None)  # what the usual way asks
    assert f(F(3), y=F(5)) == 13
    assert f(y=F(5), z=F(1), x=F(3)) == 14
    assert made.times(F(2), by=F(5)) == 10


def any_of(x, **given):
    return [x * value for value in given.values()], list(given)


@functools.wraps(any_of)
def renamed(*args, **given):
    mode = given.pop("mode", None)
    return any_of(*args, **given), mode


class Called:
    @functools.wraps(any_of)
    def __call__(self, *args, **given):
        return renamed(*args, **given)


def signed(x, *rest, **given):
    return x + len(rest), list(given)


signed.__signature__ = inspect.signature(lambda x, seed=3: x)


@pytest.mark.parametrize(
    ("f", "args", "given"),
    [
        (any_of, 1, "zab"),
        (any_of, 1, "bza"),
        (renamed, 1, ["mode", "z", "a"]),
        (functools.partial(renamed, mode=3), 1, "z"),
        (Called(), 1, ["z", "mode"]),
        (Called().__call__, 1, ["z", "mode"]),
        (signed, 1, []),
        (signed, 3, ["rng"]),
    ],
)
def test_a_call_is_bound_by_what_is_called_not_by_what_it_says_of_itself(f, args, given):
    decorated = al.function(f)
    for k in range(3):
        x = np.arange(3.0) + k
        named = {name: j + k for j, name in enumerate(given)}
        assert repr(decorated(*[x] * args, **named)) == repr(f(*[x] * args, **named))


def test_functions_of_any_arguments_have_a_fast_path(monkeypatch):
    f = al.function(lambda *args, **named: args[0] + len(args) + len(named))
    often(f, (np.float64(1), np.float64(2)), {})
    monkeypatch.setattr(Function, "_lookup", None)  # what the usual way asks
    monkeypatch.setattr(Parameters, "bind", None)
    assert f(np.float64(3), np.float64(5)) == 5


class Wide(Scaled):
    @al.function
    def plus(self, x, /, y, *, z=1):
        return x + y + z


def starred(x, *rest, w, **others):
    return x + len(rest) + w + len(others)


@each([
    (add, (1,), {}), (add, (1, 2, 3), {}), (add, (1, 2), {"x": 1}), (add, (1, 2), {"v": 1}), (add, (), {}),
    (keyed, (1, 2, 3, 4, 5), {}), (placed, (), {"x": 1}), (starred, (1,), {}), (lambda x: x, (), {}),
])  # fmt: skip
def test_a_call_that_does_not_fit_is_refused_in_pythons_words(f, args, kwargs):
    with pytest.raises(TypeError) as plain:
        f(*args, **kwargs)
    for _ in range(2):
        with pytest.raises(TypeError) as ours:
            al.function(f)(*args, **kwargs)
        assert str(ours.value) == str(plain.value)


def test_a_call_of_a_method_that_does_not_fit_is_refused_in_pythons_words():
    for args, kwargs in (((), {}), ((1,), {"x": 1}), ((1, 2, 3), {}), ((1, 2), {"other": 1})):
        with pytest.raises(TypeError) as plain:
            Wide.plus.python_function(Wide(), *args, **kwargs)
        with pytest.raises(TypeError) as ours:
            Wide().plus(*args, **kwargs)
        assert str(ours.value) == str(plain.value)


class Gathering:
    factor = 3.0

    @al.function
    def format(*args, **named):
        return args[0].factor * len(args), args[1:], named

    @al.function
    def scaled(*args, by=1.0):
        return args[0].factor * args[1] * by


def test_the_instance_may_be_the_first_of_any_arguments():
    one = Gathering()
    for _ in range(2):
        assert one.format() == Gathering.format(one) == (3.0, (), {})
        assert one.format("e", wide=True) == (6.0, ("e",), {"wide": True})
        assert one.scaled(np.ones(2), by=2.0).tolist() == [6.0, 6.0]
        assert one.scaled(2.0) == 6.0
