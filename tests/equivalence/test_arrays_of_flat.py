"""What NumPy makes an array of from ``a.flat`` is the array's own memory where that lies in order, ``np.array`` too."""

import autoloop as al
import numpy as np
import pytest
from each_case import each
from harness import compiled

pytestmark = pytest.mark.filterwarnings("ignore:.*runs as plain Python:UserWarning")

#: names an array ``b``, of ``a`` and an array ``m`` with two axes; how a copy may not be written to is said, too
MADE = (
    "np.array(m.flat)", "np.asarray(m.flat)", "np.array(m.flat, copy=True)", "np.copy(m.flat)", "np.ravel(m.flat)",
    "np.reshape(m.flat, (4, 3))[1]", "np.atleast_2d(m.flat)[0, 2:]", "np.array(m.flat, ndmin=2)[0]",
    "np.array(m.flat, dtype=np.int32)", "np.asarray(a.flat)", "np.asarray(m.T.flat)", "np.asarray(a[::2].flat)",
    "np.asarray(m[1].flat)", "np.asarray(m[:, 1].flat)", "m.flat.copy()", "m.flat[:]", "np.flip(m.flat)",
    "np.asarray((m + 1).flat)",
)  # fmt: skip


BODY = """
b = {}
try: b[0] = -9
except ValueError as e: print(str(e))
m[0, 1] = a[2] = 77
return b + 0, m * 1, a * 1, np.asarray(m.flat)
"""


def outcome(function):
    a, m = np.arange(5.0), np.arange(12.0).reshape(3, 4)
    b, *others, flat = function(a, m, *[None] * 6)
    return b.tolist(), [one.tolist() for one in others], a.tolist(), m.tolist(), np.shares_memory(flat, m)


@each(["auto", "dataflow"])
def test_an_array_of_flat_is_the_array(executor):
    for made in MADE:
        f = compiled(BODY.format(made), f"flat {made}")
        wanted = outcome(f)
        decorated = al.function(f, executor=executor)
        assert [outcome(decorated), outcome(decorated)] == [wanted, wanted], made
