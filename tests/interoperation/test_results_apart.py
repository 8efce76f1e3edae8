"""Results of arrays of other libraries are arrays of their own, or the caller's, or parts of these, as undecorated."""

from __future__ import annotations

import copy
import importlib
import warnings

import autoloop as al
import numpy as np
import pytest


def dask_array(values):
    pytest.importorskip("array_api_compat")
    pytest.importorskip("dask.array")
    return importlib.import_module("dask.array").from_array(np.array(values), chunks=2)


def torch_tensor(values):
    pytest.importorskip("array_api_compat")
    return pytest.importorskip("torch").tensor(values, dtype=importlib.import_module("torch").float64)


def strict_array(values):
    pytest.importorskip("array_api_compat")
    return pytest.importorskip("array_api_strict").asarray(np.array(values))


every_library = pytest.mark.parametrize("theirs", [dask_array, torch_tensor, strict_array])


def names(x):
    return importlib.import_module("array_api_compat").array_namespace(x)


def grown(x):
    out = []
    i = 0
    while i < x[2]:
        out.append(x * 1)
        i += 1
    return out


def multiplied(x):
    y = x
    i = 0
    while i < x[2]:
        y = y * 1
        i += 1
    return y


def both(x):
    a = b = x * 2
    i = 0
    while i < x[2]:
        a = x * 2
        b = x * 2
        i += 1
    return a, b


def branches(x):
    if x[0] > 0:
        return x * 1, x * 1
    return x, x


def chosen(x):
    y = x * 2
    if x[0] > 0:
        y = x
    return y


def written(x):
    y = x * 1
    part, same = y[1:], y
    y[1] = 9.0
    return y, part, same


def of_a_whole(x):
    y = x * 1
    z = y[:]
    z[0] = 5.0
    return y, z


def of_a_part(x):
    y = x * 1
    z = y[1:]
    z[0] = 5.0
    return y, z


def in_place(x):
    y = x * 1.0
    y -= x
    y *= 3
    return y, x


PROGRAMS = [
    lambda x: names(x).zeros(3, dtype=x.dtype),
    lambda x: [names(x).zeros_like(x), names(x).zeros_like(x), names(x).asarray([1.0, 2.0, 3.0], dtype=x.dtype)],
    lambda x: (x * 2, x * 2),
    lambda x: [x * 1 for _ in range(3)],
    lambda x: (x * 2, x),
    lambda x: (x[1:], x),
    lambda x: [x[...], x[:], x[0:3]],
    lambda x: (x[0], x[0]),
    lambda x: [+x, -(-x), abs(x), x**1, x * 1, x / 1, x - 0, x + 0],
    lambda x: [names(x).where(x == x, x, x), names(x).clip(x, -9.0, 9.0), names(x).flip(names(x).flip(x))],
    lambda x: [names(x).expand_dims(x, axis=0), names(x).permute_dims(names(x).reshape(x, (1, 3)), (1, 0))],
    lambda x: [names(x).astype(x, x.dtype), names(x).asarray(x), names(x).reshape(x, (3,))],
    lambda x: [names(x).asarray(x, copy=True), names(x).asarray(x, copy=False)],
    lambda x: [copy.copy(x), copy.deepcopy(x)],
    lambda x: [x.copy(), np.copy(x)],
    lambda x: {"a": x, "b": [x, x * 1]},
    grown, multiplied, both, branches, chosen, written, of_a_whole, of_a_part, in_place,
]  # fmt: skip


def arrays(value):
    if isinstance(value, dict):
        return arrays(list(value.values()))
    return [one for part in value for one in arrays(part)] if isinstance(value, (list, tuple)) else [value]


def story(f, theirs):
    """Tell which results are which, and what each holds after each of the others was written to; twice."""
    told = []
    for _ in range(2):
        x = theirs([1.0, 2.0, 3.0])
        try:
            made = arrays(f(x))
        except AttributeError:
            return told
        every = [*made, x]
        told.append([[one is other for other in every] for one in every])
        for k, one in enumerate(every):
            one[...] = 10.0 + k
            told.append([np.asarray(other).tolist() for other in every])
    return told


@every_library
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_what_is_written_to_a_result_is_seen_where_it_is_undecorated(theirs, number):
    f = PROGRAMS[number]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert story(al.function(f), theirs) == story(f, theirs)
