"""An object of a library that is called, and keeps what it was given or counts how often, does so at every call."""

import sys
import types

import autoloop as al
import numpy as np
import pytest
from each_case import each

pytestmark = pytest.mark.filterwarnings("ignore:.*runs as plain Python:UserWarning")

LIBRARY = """
class Memo:
    def __init__(self, fun):
        self.fun, self.x, self.value, self.calls = fun, None, None, 0
    def __call__(self, x):
        if self.x is None or x != self.x:
            self.x, self.value, self.calls = x, self.fun(x), self.calls + 1
        return self.value
    def slope(self, x):
        return 2 * self(x)

class Log:
    def __init__(self, fun):
        self.fun, self.seen = fun, []
    def __call__(self, x):
        self._keep(x)
        return self.fun(x)
    def _keep(self, x):
        self.seen.append(x)

class Total:
    fun, total = None, 0.0
    def __init__(self, fun): pass
    def __call__(self, x):
        self.total += x
        return self.total
    slope = __call__

class Wrapper:
    def __init__(self, fun): self.fun = fun
    def __call__(self, x): return self.fun(x)
"""
library = sys.modules["remembering"] = types.ModuleType("remembering")
library.__file__ = "/site-packages/remembering.py"
exec(compile(LIBRARY, library.__file__, "exec"), vars(library))


def square(x):
    return x * x


def called(x, g):
    return g(x[0]) + g(x[1])


def asked(x, g):
    return g(x[0]) + getattr(g, "calls", 0)


def left_later(x, g):
    y = g(x[0])
    return y + np.median(x, overwrite_input=True)


def by_method(x, g):
    return g.slope(x[0]) if hasattr(g, "slope") else g(x[1])


def in_a_loop(x, g):
    k = 0
    while k < x.size and g(x[k]) > 0:
        k += 1
    return k


def outcome(function, kind):
    g = vars(library)[kind](square)
    found = [function(np.array([0.5, 1.5]) + k, g) for k in range(3)]
    return repr((found, [(name, one) for name, one in vars(g).items() if one is not square]))


@each(["Memo", "Log", "Total", "Wrapper"])
def test_what_a_called_object_keeps_it_keeps_at_each_call(kind):
    for f in (called, asked, left_later, by_method, in_a_loop):
        assert outcome(al.function(f), kind) == outcome(f, kind), f.__name__


def test_a_called_object_that_keeps_nothing_is_followed():
    wrapped, decorated = library.Wrapper(square), al.function(called, executor="sequential")
    assert decorated(np.array([1.0, 2.0]), wrapped) == 5 and decorated.tracing_count == 1
