"""Where sorting puts equal elements: where NumPy does, for each kind of sort, though nobody states that order."""

from __future__ import annotations

import autoloop as al
import numpy as np
from each_case import each
from executors import needs_native

TIES = np.random.default_rng(0).integers(0, 3, 60)
KINDS = (None, "quicksort", "heapsort", "mergesort", "stable", "q", "m", "h", "s")


@each(["sequential", "dataflow", "auto"])
def test_argsort_gives_numpys_order_for_each_kind(executor):
    for dtype in (np.int64, np.int16, np.float64, np.float32, np.complex128):
        x = TIES.astype(dtype)
        for kind in KINDS:
            plain = lambda x, kind=kind: (np.argsort(x, kind=kind), x.argsort(kind=kind), np.sort(x, kind=kind))
            for found, wanted in zip(al.function(plain, executor=executor)(x), plain(x), strict=True):
                np.testing.assert_array_equal(found, wanted)
        assert al.function(lambda x: np.argsort(x, stable=True))(x).tolist() == np.argsort(x, stable=True).tolist()


def test_ours_is_stable():
    assert al.argsort(TIES).numpy().tolist() == np.argsort(TIES, kind="stable").tolist()


@needs_native
def test_machine_code_puts_equal_elements_where_numpy_does():
    for kind in (None, "stable"):
        order = al.function(lambda x, kind=kind: np.argsort(x, kind=kind), executor="native")
        np.testing.assert_array_equal(order(TIES), np.argsort(TIES, kind=kind))
