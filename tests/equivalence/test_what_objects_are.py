"""What says what an object is, its class, or the defaults of a function, is set at each call, by plain Python."""

from __future__ import annotations

import collections
import enum
import functools
import linecache
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each

TOP = """
class Open:
    def act(self, x): self.turn(Shut); return x * 2
    def turn(self, kind): self.__class__ = kind
class Shut(Open):
    def act(self, x): self.turn(Open); return x - 1
class Base: pass
class Kid(Base): k = 2.0
def shifted(x, k=1): return x + k
def doubled(x, k=1): return x * 2
class Kind(enum.Enum): ONE = 1
o, error, counts = Open(), ValueError("a"), collections.defaultdict(int)
"""
BODIES = [
    "return o.act(x)",
    "if x[0] > 0: o.__class__ = Shut\nreturn o.act(x)",
    "made = Open()\nif x[0] > 0: made.__class__ = Shut\nreturn made.act(x)",
    "object.__setattr__(o, '__class__', Shut)\nreturn x",
    "shifted.__defaults__ = (shifted.__defaults__[0] + 1,)\nreturn shifted(x)",
    "y = doubled(x)\nshifted.__code__, doubled.__code__ = doubled.__code__, shifted.__code__\nreturn y",
    "setattr(Kid, '__name__', Kid.__name__ + 'x')\nreturn x",
    "error.args += (x[0],)\nreturn x",
    "if x[0] > 0: error.__cause__ = KeyError(1)\nreturn x",
    "counts.default_factory = list if counts.default_factory is int else int\nreturn x",
    "Kind.ONE.hits = getattr(Kind.ONE, 'hits', 0) + 1\nreturn x * Kind.ONE.hits",
    "for _ in range(n): o.__class__ = Shut\nreturn o.act(x)",
]


def _played(body, executor=None):
    names = {"np": np, "enum": enum, "collections": collections}
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    source = f"{TOP}\ndef f(x, n):\n{lines}"
    file = f"<what objects are {BODIES.index(body)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), names)
    function = names["f"] if executor is None else al.function(names["f"], executor=executor)
    told = []
    for sign in (-1.0, 1.0, 1.0):
        y = function(np.full(2, sign), np.int64(2))
        told.append((y.tolist(), type(names["o"]).__name__, names["shifted"].__defaults__, names["Kid"].__name__))
        told[-1] += repr(names["error"]), repr(names["error"].__cause__), names["counts"].default_factory
    return told


@each(BODIES)
def test_is_set_at_each_call(body):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert _played(body, "sequential") == _played(body)


def test_a_function_made_in_the_function_is_given_a_name():
    @al.function(executor="sequential")
    def named(x):
        def inner(v):
            return v + 1

        inner.__name__, inner.__doc__ = "other", "says"
        return inner(x), inner.__name__, inner.__doc__

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repr(named(np.ones(1))) == "(array([2.]), 'other', 'says')"


REFUSAL = ValueError("a")
NOTED = ValueError("a")


def told(x):
    return REFUSAL.args, str(REFUSAL), x * 2


def noted(x):
    NOTED.add_note("n")
    return x


inner = functools.wraps(lambda x: x + 1)(lambda x: x * 2)


def unwrapped(x):
    return inner.__wrapped__(x)


def test_arguments_and_notes_of_exceptions_from_outside_and_what_a_function_wraps():
    f, g, h = al.function(told), al.function(noted), al.function(unwrapped)
    for text in "aabb":
        REFUSAL.args = (text,)
        assert f(np.ones(1))[:2] == ((text,), text)
    with pytest.warns(UserWarning, match="runs as plain Python"):
        for _ in range(3):
            g(np.ones(1))
    assert NOTED.__notes__ == ["n"] * 3
    for step in (1, 1, 5, 7):
        inner.__wrapped__ = lambda x, step=step: x + step
        assert h(np.ones(1)) == [1 + step]
