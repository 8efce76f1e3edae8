"""Where only the run knows how many axes a value has, what has none is an array or a scalar as in plain Python."""

from __future__ import annotations

import linecache
import warnings

import autoloop as al
import numpy as np
from each_case import each
from executors import INTERPRETED
from left_to_python import refused_or_plain

#: ways to a value ``b`` of which the trace does not know the axes, or whether it is an array
WAYS = {
    "branch": "b = a\nif n > 1:\n    b = a.max()",
    "array in a branch": "b = np.asarray(a.max())\nif n > 1:\n    b = a",
    "view in a branch": "b = a[0, ...]\nif n > 1:\n    b = a[0]",
    "sums": "b = a\nfor _ in range(n):\n    b = b.max(axis=0)",
    "elements": "b = a\nfor _ in range(n):\n    b = b[0]",
    "squeezed": "b = a\nfor _ in range(n):\n    b = np.squeeze(b)",
    "longer": "b = np.asarray(a.max())\nfor _ in range(n):\n    b = b[None]",
    "raveled": "b = a\nfor _ in range(n):\n    b = np.ravel(b)",
}
ASKED = """
b; np.asarray(b); b[...]; b.T; np.squeeze(b); b.copy(); -b; b + 1; np.sqrt(b); b.reshape(np.shape(b)); b.astype("f4")
b.real; b.view(); b.sum(); np.where(b > 1, b, 0); np.zeros_like(b); isinstance(b, np.ndarray); type(b).__name__; [b]
np.roll(b, 1); np.ascontiguousarray(b); b[()]; np.clip(b, 0, 1); b.squeeze(); np.transpose(b); np.full_like(b, 2)
"""
GIVEN = (np.array([1.0, 2.0]), np.array([4.0]), np.arange(4.0).reshape(2, 2), np.array(2.0), np.float64(2.5))


def _program(way, expression):
    lines = "".join(f"    {line}\n" for line in WAYS[way].splitlines())
    source = f"def program(a, n):\n{lines}    return {expression}\n"
    return _compiled(source, f"<unknown rank {way} {expression}>")


def _compiled(source, name, **names):
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"np": np, **names}
    exec(compile(source, name, "exec"), space)
    return space["program"]


def _outcome(f, a, n):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some run as plain Python
        try:
            made = f(a.copy(), np.int64(n))
        except Exception as error:
            return error
    return type(made), np.shape(made), repr(made)


CASES = [(way, one.strip()) for one in ASKED.replace("\n", ";").split(";") if one.strip() for way in WAYS]


@each([(*case, place) for place, case in enumerate(CASES[::3])], one_in=2)
def test_what_has_no_axes_is_what_it_is_to_numpy(way, expression, place):
    plain, given, n = _program(way, expression), GIVEN[place % 5], place % 3
    wanted, ours = _outcome(plain, given, n), _outcome(al.function(plain, executor=INTERPRETED[n]), given, n)
    if isinstance(ours, Exception):
        assert isinstance(ours, TypeError | ValueError | IndexError | AttributeError), ours
    else:
        assert ours == wanted, (given, n)


def test_most_are_no_refusals():
    refused = []
    for way in WAYS:
        for expression in ("b", "b + 1", "np.asarray(b)", "b[...]"):
            f = _program(way, expression)
            wanted, ours = _outcome(f, GIVEN[0], 1), _outcome(al.function(f), GIVEN[0], 1)
            if isinstance(ours, Exception) and not isinstance(wanted, Exception):
                refused.append((way, expression, ours))
    assert not refused


def test_what_needs_the_number_of_axes_is_plain_pythons():
    expressions = (
        "b.ndim; np.median(b); np.diff(b); np.pad(b, 1); np.linalg.norm(b); np.atleast_1d(b); np.dot(b, b)"
        "; np.interp(b, x, x); np.einsum('...->...', b); np.moveaxis(b, 0, -1); np.nonzero(b); np.split(b, 2)"
        "; np.kron(b, b); np.cov(b)"
    )
    a, x = np.array([1.0, 2.0, 3.0, 4.0]), np.arange(3.0)
    for expression in expressions.split("; "):
        source = f"def program(a):\n    b = a if a[0] > 0 else a.reshape(2, 2)\n    return {expression}\n"
        program = _compiled(source, f"<needs the number of axes {expression}>", x=x)
        refused_or_plain(program, "known|needs|unknown", a)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_equal(al.function(program)(-a), program(-a))
