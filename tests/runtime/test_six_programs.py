"""The six loops over large arrays, plain functions of NumPy's: any library's arrays give what NumPy's give."""

from __future__ import annotations

import importlib
import warnings

import autoloop as al
import numpy as np
import pytest
from distributed_programs import PROGRAMS


def _dask(array):
    return pytest.importorskip("dask.array").from_array(array, chunks=(max(1, len(array) // 3), *array.shape[1:]))


def _torch(array):
    pytest.importorskip("array_api_compat")
    return pytest.importorskip("torch").from_numpy(array)


def _strict(array):
    return pytest.importorskip("array_api_strict").asarray(array)


LIBRARIES = {"numpy": np.asarray, "array_api_strict": _strict, "torch": _torch, "dask": _dask}


def leaves(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_numpy_gives(library, name):
    program = PROGRAMS[name]
    given = program.arguments(60)
    expected = leaves(program.function(*program.arguments(60)))
    for place in program.chunked if library == "dask" else range(len(given)):
        if isinstance(given[place], np.ndarray):
            given[place] = LIBRARIES[library](given[place])
    # of Dask's arrays NumPy's functions make Dask's; of others they do where that is asked for
    f = al.function(program.function, executor="auto" if library in ("numpy", "dask") else "dataflow")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*runs as plain Python")
        found = leaves(f(*given))
    assert f.tracing_count == 1 and len(found) == len(expected)
    kinds = {type(one).__module__.partition(".")[0] for one in found if np.ndim(one)}
    assert kinds == {importlib.import_module(library).__name__}
    for one, other in zip(found, expected):
        assert np.allclose(np.asarray(one), other, rtol=1e-12, atol=1e-14)
