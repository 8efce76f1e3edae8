"""Values of the run that Python's own code wants at once: plain Python runs the function."""

import itertools

import autoloop as al
import numpy as np
import pytest

EXECUTORS = itertools.cycle(["auto", "sequential", "dataflow"])
KEPT, LOG = {1, 2}, []


def filtered(n):
    q, w = [1, 2.5, 0], 0
    while w < n:
        w += 1
        q = [*filter(None, [w - 1, w, *q[:2]])]
    return q


def filtered_by_a_builtin(n):
    w, q = 0, []
    while w < n:
        w += 1
        q = list(filter(bool, [w - 1, w]))
    return q


def a_set_in_nested_loops(n):
    global KEPT
    for _ in range(n):
        for _ in range(n):
            KEPT = KEPT & {1, 2, 4}
        LOG.extend([n, 2.0])
    return sorted(KEPT)


@pytest.mark.parametrize("f", [filtered, filtered_by_a_builtin, a_set_in_nested_loops], ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore:.* runs as plain Python")
def test_what_is_asked_at_once_is_told_by_plain_python(f):
    g = al.function(f, executor=next(EXECUTORS))
    for n in map(np.int64, (3, 0, 1, 4)):
        LOG.clear()
        expected = f(n), LOG[:]
        LOG.clear()
        assert repr((g(n), LOG)) == repr(expected)


def test_of_tensors_it_is_refused_at_the_line():
    with pytest.raises(TypeError, match="has no value while the graph is built"):
        al.function(filtered)(al.constant(3))
