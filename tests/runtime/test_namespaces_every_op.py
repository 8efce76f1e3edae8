"""Every op over arrays of other libraries: its examples, by their kernels and by NumPy's; or why it has none."""

from __future__ import annotations

import re
from contextlib import contextmanager, nullcontext, suppress
from functools import cache

import autoloop as al
import examples
import guarded_arrays
import numpy as np
import pytest
from api import ELEMENTS, FUNCTIONS, NO_GRADIENT, OPS, Graph, Op, TensorShape, foreign_rows, later_rows, namespace_of
from node_walks import NO_KERNEL, Walk
from test_gradients_every_op import PROGRAMS


def of_strict(array):
    return pytest.importorskip("array_api_strict").asarray(array)


def of_torch(array):
    pytest.importorskip("array_api_compat")
    return pytest.importorskip("torch").asarray(np.array(array))


def of_dask(array):
    pytest.importorskip("array_api_compat")
    da = pytest.importorskip("dask.array")
    return da.from_array(np.asarray(array), chunks=tuple([max(1, (n + 1) // 2) for n in array.shape]))


#: library -> what makes an array of it, and one of NumPy's of that
LIBRARIES = {
    "strict": (of_strict, np.asarray),
    "guarded": (guarded_arrays.Array, guarded_arrays.Array.get),
    "torch": (of_torch, np.asarray),
    "dask": (of_dask, lambda x: np.asarray(x.compute(scheduler="sync"))[()]),
}
#: ops that have an entry, and are refused of what the examples are: of numbers that only the run knows
REFUSED = {
    "strict": set(),
    "guarded": set(),
    "torch": {"special_erf", "special_xlogy"},  # of complex numbers
    "dask": {"solve", "index_add", "getitem"},
}
#: the fewest ops that are computed
FEWEST = {"strict": 140, "guarded": 140, "torch": 170, "dask": 200}


@cache
def graphs():
    """Graphs of programs, with values for their inputs."""
    later_rows.load_all()
    made = []
    for name, (f, arrays) in PROGRAMS.items():
        graph = Graph(ordered=True)
        with graph.as_default():
            given = [graph.parameter(x.dtype, TensorShape(x.shape)) for x in arrays]
            f(*given)
        made.append((name, graph, arrays))
    for name, f in FUNCTIONS.items():
        for call in re.findall(r">>> print\((al\..*)\)$", f.__doc__ or "", re.MULTILINE):
            if "lambda" in call:
                continue
            graph = Graph(ordered=True)
            with suppress(NameError), graph.as_default():  # of a name that a line before makes
                eval(call, {"al": al, "np": np})
                made.append((f"example of {name}", graph, []))
    return made


@contextmanager
def nothing_is_computed():
    """Let whoever asks ``dask`` for elements fail."""
    import dask

    def refuse(*args, **kwargs):
        raise AssertionError("a kernel has computed")

    with dask.config.set(scheduler=refuse):
        yield


@pytest.mark.parametrize("library", LIBRARIES)
def test_examples_give_what_they_give_over_numpys_arrays(library):
    of, back = LIBRARIES[library]
    namespace = namespace_of(of(np.ones(2)))
    walk = Walk(of, back, namespace, nothing_is_computed if namespace.is_lazy else nullcontext)
    for _, graph, arrays in graphs()[:: 1 if examples.of_long_runs else 6]:
        walk.over(graph, arrays)
    assert not walk.wrong, [(node.op.name, shapes, error) for node, shapes, error in walk.wrong]
    has_entry = {op for op in walk.refused if foreign_rows.entry_of(OPS[op], namespace) is not None}
    assert has_entry <= REFUSED[library], {op: walk.refused[op] for op in has_entry - REFUSED[library]}
    assert len(walk.computed) >= (FEWEST[library] if examples.of_long_runs else 60)


def test_every_op_has_a_kernel_or_says_why_not():
    later_rows.load_all()
    silent = {op.name for op in OPS.values() if not foreign_rows.states_itself(op)}
    assert silent == NO_KERNEL, "register it in namespaces, or say beside its row that it is numpys_alone"


def test_an_op_that_says_nothing_is_found():
    silent = Op("silent", lambda x: (x.dtype, x.shape), lambda x: x + 1, NO_GRADIENT, traits=ELEMENTS)
    assert not foreign_rows.states_itself(silent)
    ufunc = Op("of_ufunc", lambda x: (x.dtype, x.shape), np.tan, NO_GRADIENT, traits=ELEMENTS)
    assert foreign_rows.states_itself(ufunc)
