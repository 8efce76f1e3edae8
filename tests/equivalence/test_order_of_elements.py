"""Whether NumPy gives an array itself, a view of it or a copy hangs on how its elements lie: asked at each call."""

import linecache
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each

#: what is an array itself, a view of it or a copy as its elements lie
BY_ORDER = """
np.ascontiguousarray(x)
np.asfortranarray(x)
np.asarray(x, order="C")
np.asanyarray(x, order="F")
np.array(x, copy=None, order="C")
x.astype(x.dtype, order="C", copy=False)
np.require(x, requirements="C")
np.real_if_close(x)
x.ravel()
x[::-1].ravel()
x.T.reshape(-1)
"""
IN_BLOCKS = """
for _ in range(n): x[1] += 1; x.ravel()[0] += 1
---
z = np.zeros(6)[::2]
for _ in range(n): z[1] += 1; z.ravel()[0] += 1
return z
---
y, z = np.zeros(3), np.zeros(6)[::2]
for _ in range(n): y[1] += 1; y.ravel()[0] += 1; y, z = z, y
return y
---
y = x if n > 2 else x[::-1]
w = y.ravel()
w[0] = 9
return w * 1
"""


def called_with_each_order(function):
    """Return what a function gives and leaves of arrays that lie in several orders, in turns."""
    found = []
    for make in (lambda x: x, lambda x: x[:, ::2], lambda x: x.T, lambda x: x[::-1]):
        for rows in (slice(None), 1):
            for given in (make(np.arange(16.0).reshape(4, 4)), np.arange(16.0).reshape(4, 4)):
                result = function(given[rows], np.int64(2))
                shared = result is not None and np.shares_memory(result, given)
                found.append((np.array(result).tolist(), shared, result is given, given.tolist()))
    return found


@each(
    [f"return {one}" for one in BY_ORDER.strip().splitlines()]
    + [f"y = {one}; y[0] = 9" for one in BY_ORDER.strip().splitlines()]
    + IN_BLOCKS.strip().split("\n---\n")
)
def test_what_hangs_on_the_order_of_elements_is_asked_of_each_array(body):
    lines = "\n    ".join(body.splitlines())
    own: dict = {"np": np}
    exec(compile(f"def f(x, n):\n    {lines}\n", text_of(lines), "exec"), own)
    with warnings.catch_warnings(action="ignore"):
        assert called_with_each_order(al.function(own["f"])) == called_with_each_order(own["f"])


def text_of(lines):
    """Return the name of a file in which Python finds the text of a function ``f(x, n)``."""
    name = f"<by order {lines}>"
    text = f"def f(x, n):\n    {lines}\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    return name


def test_the_imaginary_part_of_reals_is_read_only():
    def imaginary(x):
        return x.imag

    def written(x):
        x.imag[0] = 1

    assert not al.function(imaginary)(np.ones(2)).flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        al.function(written)(np.ones(2))
