"""Values of a run that code asks for while a function is traced: plain Python runs it, and no handler gets an error."""

from __future__ import annotations

import contextlib
import fractions
import hashlib
import io
import json
import math
import statistics
import struct
import types

import autoloop as al
import numpy as np
import pytest
from each_case import each

X = np.array([1, 5, 3])


def a_fraction(x):
    try:
        return fractions.Fraction(float(x[0]))
    except TypeError:
        return 0


def packed(x):
    try:
        return struct.pack("d", x[0])
    except struct.error:
        return 0


def a_median(x):
    with contextlib.suppress(Exception):
        return statistics.median(x)
    return 0


def hashed(x):
    try:
        return hashlib.md5(x, usedforsecurity=False).hexdigest()
    except Exception:
        return 0


def a_product(x):
    try:
        return math.prod(x)
    except TypeError:
        return 0


def saved(x):
    try:
        return np.save(io.BytesIO(), x)
    except TypeError:
        return 0


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, *told):
        return True


def elements_of_some(x):
    y = 0
    with contextlib.suppress(TypeError):
        y = np.roots(x)
    return y


def swallowed(x):
    with Swallowing():
        return np.roots(x)
    return 0


def texts(x):
    try:
        return x.astype(str)
    except TypeError:
        return 0


def nearly(x):
    return "near" if x[1] == pytest.approx(5) else "far"


#: what a library, or we, say of what only the run knows
OF_VALUES = [a_fraction, packed, a_median, hashed, nearly]
OF_OURS = [a_product, saved, elements_of_some, swallowed, texts]


@pytest.mark.parametrize("f", [*OF_VALUES, *OF_OURS], ids=lambda f: f.__name__)
def test_no_handler_gets_what_plain_python_would_not_raise(f):
    with pytest.warns(UserWarning, match="runs as plain Python"):
        np.testing.assert_equal(al.function(f)(X), f(X))
    if f in OF_OURS:
        with pytest.raises(TypeError):
            al.function(f, executor="native")(X)
    if f in (a_fraction, packed):
        with pytest.raises((TypeError, struct.error)):
            al.function(f)(al.constant(X))


#: with the line of ours that leads there
OURS = r"(a library's own|which is not converted, asks for a value).* \(test_values_asked_for.py:"
LIBRARY = """
def number(v):
    try: return float(v) + 1
    except TypeError: return -1.0
def truth(v):
    try: return 1 if v else 0
    except Exception: return 7
def count(v):
    try: return len(v)
    except TypeError: return 1
def chosen(v):
    try: return "abcdefg"[v]
    except Exception: return None
def total(v):
    import numpy as np
    try: return np.asarray(v, dtype=float).sum()
    except TypeError: return 0
"""


@al.do_not_convert
def helper(v):
    try:
        return float(v)
    except TypeError:
        return -1.0


def test_a_library_that_swallows_errors_gets_the_values():
    library = types.SimpleNamespace()
    exec(compile(LIBRARY, "/site-packages/library.py", "exec"), vars(library))
    library.helper = helper
    for name, value in {
        "number": 1,
        "truth": 1,
        "count": np.s_[:],
        "chosen": 1,
        "total": np.s_[:],
        "helper": 1,
    }.items():

        def asked(x, f=getattr(library, name), value=value):
            y = x[x > 1] if name == "count" else x
            return f(y[value])

        def made(x, asked=asked):
            return asked(al.add(x, 1))

        def caught(x):
            try:
                return float(x[1])
            except TypeError:
                return -1.0

        ways = [(asked, True), (asked, False), (made, True), (made, False), (caught, False)]
        for f, is_converted in ways[: 2 if name == "count" else None]:
            with pytest.warns(UserWarning, match=OURS):
                assert al.function(f, autograph=is_converted)(X) == f(X), (name, is_converted)


@each([lambda x: [0] * int(x[0]), lambda x: {float(v): 1 for v in x}, lambda x: x.astype(object)])
def test_what_was_written_to_an_array_of_the_world_before_is_no_obstacle(ask):
    held = np.zeros(2)

    def f(x):
        held[0] += x[0]
        return ask(x)

    with pytest.warns(UserWarning, match="runs as plain Python"):
        np.testing.assert_equal(al.function(f)(X), ask(X))
    assert held.tolist() == [X[0], 0.0]


def test_handlers_get_what_plain_python_raises_of_values_that_are_known():
    def parsed(x, text):
        try:
            return json.loads(text), fractions.Fraction(text) * 2 + len(x)
        except ValueError as error:
            return type(error).__name__

    for text in ("3", "[", "1/2"):
        assert al.function(parsed)(X, text) == parsed(X, text)
