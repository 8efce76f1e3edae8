"""Programs of a few lines: decorated they give what plain Python gives, in value and kind, or raise what it raises."""

from __future__ import annotations

import copy
import linecache
import math

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS

X = np.arange(1.0, 7.0)
ODD = np.array([3.0, np.nan, 1.0, -np.inf, -0.0, 0.0])


class Record:
    """What has attributes."""


# Bodies of functions of ``x`` and ``n``, and the arguments that they are called with.
WITHOUT_ATTRIBUTES = [
    "return x.name", "return x.op", "return x.node", "return x[0].name", "return x.graph", "return x.numpy()",
    "return x.get_shape()", "return x.set_shape", "return x.foo", "return x[0].foo", "return x.__round__()",
    "i = 0\nwhile x[i] < n:\n    i += 1\nreturn i.name",
]  # fmt: skip
OTHERS = [
    "r = Record()\nr.name = x\nr.op = n\nreturn r.name, r.op",
    "return x[0].__round__(), x[1].__round__(1), x.astype(np.float32)[0].__round__(), x.astype(int)[2].__round__(-1)",
    "return np.roll(x, (1, 1), axis=(0, 0)), np.roll(x.reshape(2, 3), (1, 2, 1), axis=(0, 0, 1))",
]
PRODUCTS = [
    "return np.dot(x, n), np.dot(n, x.reshape(2, 3)), np.dot(x.reshape(6, 1, 1), n)",
    "return np.inner(n, x.astype(np.float32)), x.reshape(1, 6).dot(n), np.dot(x.astype(np.complex64), n)",
]
TABLE = [
    *((one, X, 3) for one in (*WITHOUT_ATTRIBUTES, *OTHERS)),
    *((one, ODD, n) for one in PRODUCTS for n in (0, -0.0, -1, np.float64(-2))),
]


def made(body):
    text = "def f(x, n):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    name = f"<short program {text!r}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"np": np, "math": math, "Record": Record}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


def outcome(f, *args):
    args = copy.deepcopy(args)
    try:
        with np.errstate(all="ignore"):
            made = f(*args)
    except Exception as error:
        return type(error), str(error).splitlines()[:1]
    # the bytes tell zeros apart, and nothing else that is equal
    return [(type(one), np.asarray(one).dtype.str, np.shape(one), np.asarray(one).tobytes())
            for one in al.nest.flatten((made, args))], al.nest.structure_of(made)  # fmt: skip


def is_same(found, wanted):
    if isinstance(wanted[0], type):
        return isinstance(found[0], type) and issubclass(found[0], wanted[0]) and (wanted[1] or [""])[0] in str(found)
    return found == wanted


@pytest.mark.parametrize("executor", EXECUTORS)
def test_they_do_what_plain_python_does(executor):
    different = []
    for body, *args in TABLE:
        f = made(body)
        wanted, decorated = outcome(f, *args), al.function(f, executor=executor)
        for _ in range(2):
            found = outcome(decorated, *args)
            if not is_same(found, wanted) and getattr(found[0], "__name__", "") != "NativeRefusal":
                different.append((body, args[1:], found, wanted))
    assert not different
