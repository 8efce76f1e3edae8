"""Builtins and functions of ``math`` called with wrong arguments: Python's type of error, in Python's words."""

from __future__ import annotations

import builtins
import inspect
import math
import re
import warnings
from collections.abc import Iterator

import autoloop as al
import numpy as np
import pytest
from autoloop.operators.constructs import pythons_words
from each_case import each
from random_expressions import compiled

#: what only the run knows, of an array ``v``, a float ``s`` and an int ``n``
VALUES = ("int(n)", "v", "float(s)", "s", "v[:, None]", "complex(s)", "str(int(n))", "[s, n]", "np.asarray(s)", "s > 1")
#: calls of a function ``{f}`` with ``{x}``; few of them are right
FORMS = (
    "{f}({x}, foo=1)", "{f}({x})", "{f}({x}, {x})", "{f}({x}, 2)", "{f}(2, {x})", "{f}({x}, 'a')", "{f}('a', {x})",
    "{f}({x}, None)", "{f}(None, {x})", "{f}({x}, 1, 2)", "{f}(*[{x}] * 7)", "{f}(x={x})", "{f}(key={x})", "{f}()",
)  # fmt: skip
FUNCTIONS = (
    *"abs all any ascii bin bool callable chr complex dict dir divmod enumerate filter float format frozenset getattr "
    "hasattr hash hex int isinstance iter len list map max min next oct ord pow range repr reversed round set sorted "
    "str sum tuple type vars zip".split(),
    *(f"math.{name}" for name in vars(math) if callable(getattr(math, name)) and not name.startswith("_")),
)
#: so many of all the calls are tried, in turn
STEP = 23
CAUGHT = (
    "    try:\n        return {}\n    except Exception as error:\n        return type(error).__name__, str(error)\n"
)


def _calls() -> Iterator[str]:
    for k, f in enumerate(FUNCTIONS):
        calls = [form.format(f=f, x=x) for form in FORMS for x in VALUES]
        yield from calls[k * 7 % STEP :: STEP]


def _outcome(f):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of what plain Python runs
        try:
            made = f(np.array([2.0, 0.5, 3.0]), np.float64(2.5), np.int64(3))
        except Exception as error:
            return type(error), str(error)
    return re.sub("0x[0-9a-f]+", "", repr(made)), type(made)


def _wrong(lines):
    wrong = []
    for k, line in enumerate(lines):
        body = CAUGHT.format(line) if k % 2 else f"    return {line}\n"
        f = compiled(f"import math\n\ndef program(v, s, n):\n{body}")
        found = _outcome(f), _outcome(al.function(f))
        if found[0] != found[1]:
            wrong.append((line, *found))
    return wrong


@each([list(_calls())[k::4] for k in range(4)], lambda lines: lines[0], one_in=2)
def test_wrong_arguments_are_told_in_pythons_words(lines):
    assert not _wrong(lines)


def test_the_functions_are_there():
    assert all(hasattr(builtins, name) for name in FUNCTIONS if "." not in name)


#: those of an earlier release
ONCE = (
    "next(v, 1, 2)", "min(v, foo=1)", "max(int(n), foo=1)", "sum(v, foo=1)", "sorted(v, foo=1)", "round(n, foo=1)",
    "math.hypot(v, foo=1)", "math.log(v, 1, 2)", "math.atan2(s, None)", "math.ceil(x=n)", "getattr(v, 1, 2)",
    "hasattr(v, 2)", "all(x=v)", "type(v, foo=1)", "dir(v, 2)", "max(int(n), None)", "enumerate(v, 'a')", "zip(2, n)",
    "oct(str(int(n)))", "math.erfc(str(int(n)))", "range(None, n)",
)  # fmt: skip


def test_of_odd_calls():
    assert not _wrong([line for line in ONCE for _ in range(2)])


def test_of_tensors_python_says_what_parameters_it_has():
    for line in (
        "len(v, 1)",
        "math.ceil(v, foo=1)",
        "sum(v, 1, 2)",
        "list(s, foo=1)",
        "math.frexp(s, 1)",
        "divmod(x=s)",
    ):
        f = compiled(f"import math\n\ndef program(v, s, n):\n    return {line}\n")
        _, said = _outcome(f)
        with pytest.raises(TypeError, match=f"^{re.escape(said)}"):
            al.function(f)(al.constant([2.0, 0.5]), al.constant(2.5), 3)


def test_parameters_are_those_that_inspect_reads(monkeypatch):
    """Of nearly all of Python's functions, without what that takes."""
    asked = []
    monkeypatch.setattr(pythons_words, "signature_of", lambda f: asked.append(f) or inspect.signature(f))
    methods = [
        getattr(of, name) for of in ([], {}) for name in ("append", "get", "clear", "index", "pop") if hasattr(of, name)
    ]
    functions = [eval(name) for name in FUNCTIONS if "." not in name] + methods
    for f in functions:
        if f in pythons_words._PARAMETERS or (said := _signature(f)) is None:
            continue
        taken = pythons_words._parameters_of(f)
        for count in range(5):
            for names in ({}, {"foo": 1}, *({one: 1} for one in said.parameters)):
                assert _fits(taken, count, names) == _fits(said.bind, count, names), (f, count, names)
    assert {f.__name__ for f in asked} <= {"index", "pop"}  # with defaults that only C has


def _signature(f):
    try:
        return inspect.signature(f)
    except ValueError:
        return None


def _fits(f, count, names):
    try:
        f(*[None] * count, **names)
    except TypeError:
        return False
    return True
