"""What Python says of places that its sequences have not, where the run knows the place."""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS
from random_expressions import compiled

GROWN = "out = []\n    for i in range(k): out.append(i * x[0])\n    "
PROGRAMS = [
    *[f"return {of}[k]" for of in ("[1, 2]", "(1.5, 2.5)", "b'ab'", "'ab'", "range(2)", "[[1, 2], [3, 4]]", "[]")],
    *[f"return {of}[-k]" for of in ("[1, 2]", "(1, 2.5)", "bytearray(b'ab')", "[x, x + 1]", "[x, x[1:]]", "x")],
    "return [1, 2, 3, 4][k], [1, 2, 3][-k]", "return [1, 2].index(k)", "return [1, 2][n], 7", "return [4, 5, 6][n > 2]",
    "s = 0\n    for i in range(k):\n        s = s + [1.0, 2.0][i]\n    return s",
    "s, i = 0, 0\n    while i < k:\n        s, i = s + [1.0, 2.0, 3.0][i], i + 1\n    return s",
    *[GROWN + of for of in ("return out[k]", "return out[-k - 1]", "out[k] = 1.5\n    return out", "out.pop(k)")],
    GROWN + "out[k - 1] = 1.5\n    return out, out.pop(0), out.pop()", GROWN.replace("k", "k - 3") + "return out.pop()",
    GROWN.replace("k", "k - 3") + "return out[-1]", "v = [1, 2, 3, 4]\n    del v[k]\n    return v",
    "x.flat[9] = 1", "x.flat[n] = 1", "x.flat[-4] = 'a'",
    "v = [1, 2]\n    del v[k]\n    return v", "v = [1, 2]\n    v[k] = 3\n    return v",
]  # fmt: skip


def _outcome(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # plain Python runs some
        try:
            made = f(np.arange(3.0) + 1, np.int64(3))
        except Exception as error:
            return type(error), str(error)
    return repr(made), type(made)


@each(PROGRAMS)
def test_the_words_are_pythons(body):
    f = compiled(f"def program(x, n):\n    k = int(n)\n    {body}\n")
    for executor in EXECUTORS:
        ours = _outcome(al.function(f, executor=executor))
        if executor == "native" and getattr(ours[0], "__name__", "") in ("NativeRefusal", "TypeError"):
            continue  # texts, and what plain Python runs
        assert ours == _outcome(f), executor


OTHER_ARGUMENTS = (
    "round(x, foo=1)", "round(x, 1, 2)", "len(x, 1)", "bool(x, 1)", "int(x=x)", "pow(x)", "sum(x, 1, 2)",
    "isinstance(x)", "str(x, 1, 2, 3)", "getattr(x)", "print(x, foo=1)", "range(x, 1, 2, 3)", "map(x)",
    "reversed(x, 1)", "format(x, 1, 2)",
)  # fmt: skip


def test_arguments_that_builtins_do_not_have():
    for line in OTHER_ARGUMENTS:
        f = compiled(f"def program(x, n):\n    return {line}\n")
        assert _outcome(al.function(f)) == _outcome(f), line


#: what NumPy says, and what is known besides
NOTED = (
    ("x[0, 0, 0]", "its shape is"), ("x[1.5]", "the index is 1.5"), ("x['a']", "the index is 'a'"),
    ("np.ones(3)[x]", "of dtype float64"), ("x.__setitem__((0, 0, 0), 1)", "its shape is"),
)  # fmt: skip


def test_what_numpy_does_not_say_is_a_note():
    for line, note in NOTED:
        f = compiled(f"def program(x):\n    return {line}\n")
        with pytest.raises(IndexError) as plain:  # noqa: PT011
            f(np.arange(3.0))
        with pytest.raises(IndexError) as ours:  # noqa: PT011
            al.function(f)(np.arange(3.0))
        assert str(ours.value) == str(plain.value)
        assert any(note in one for one in ours.value.__notes__), ours.value.__notes__
