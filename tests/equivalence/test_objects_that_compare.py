"""Objects of classes that say which are equal, or are compiled: nobody asks behind the user's back, or looks inside."""

import sys
import types
from importlib.machinery import EXTENSION_SUFFIXES

import autoloop as al
import numpy as np
from autoloop.conversion.callables import is_users_class
from autoloop.state.unchanging import is_shown_by_library


class Loud:
    asked = 0

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        type(self).asked += 1
        return self.value == other.value

    def __hash__(self):
        type(self).asked += 1
        return 1

    @al.function
    def plus(self, other):
        return self.value + other.value


class Decorated:
    def __init__(self, value):
        self.value = value

    @al.function
    def __eq__(self, other):
        return bool(np.all(self.value == other.value))

    @al.function
    def __hash__(self):
        return hash(self.value[0])

    @al.function
    def plus(self, other):
        return self.value + other.value


def added(one, other, x):
    return one.value + other.value * x


def test_equality_is_not_asked():
    Loud.asked, decorated = 0, al.function(added)
    for k in range(3):
        one, other = Loud(np.full(2, float(k))), Loud(np.full(2, k + 1.0))
        assert one.plus(other).tolist() == [2.0 * k + 1] * 2
        assert decorated(one, other, 2.0).tolist() == [3.0 * k + 2] * 2
    assert Loud.asked == 0


def test_a_decorated_equality_is_called_as_any_method():
    decorated = al.function(added)
    for k in range(3):
        one, other, same = (Decorated(np.full(2, k + d)) for d in (0.0, 1.0, 0.0))
        assert one.plus(other).tolist() == [2.0 * k + 1] * 2
        assert decorated(one, other, 2.0).tolist() == [3.0 * k + 2] * 2
        assert one == same and one != other and len({one, same, other}) == 2


def test_a_compiled_class_is_not_the_users(monkeypatch):
    module = types.ModuleType("own_extension")
    module.__file__ = f"/home/me/project/own_extension{EXTENSION_SUFFIXES[0]}"
    monkeypatch.setitem(sys.modules, "own_extension", module)
    assert not is_users_class(type("Compiled", (), {"__module__": "own_extension"}))
    assert is_users_class(Loud)


def test_what_compiled_methods_change_is_seen_by_nobody():
    class Seeds(np.random.SeedSequence):
        pass

    assert is_shown_by_library(Seeds(1), {"spawn"}) and is_shown_by_library(Seeds(1), {"n_children_spawned"})
    assert not is_shown_by_library(Seeds(1), {"own"})
