"""xarray: ``apply_ufunc`` and its like are given decorated functions, and DataArrays are arguments."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest

xr = pytest.importorskip("xarray")
pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore:.* runs as plain Python:UserWarning")]


def made():
    return xr.DataArray(np.arange(12.0).reshape(3, 4), dims=("t", "x"), coords={"t": [1, 2, 3]}, name="q")


def chunked():
    pytest.importorskip("dask")
    return made().chunk({"t": 1})


def looped(x):
    i = 0
    while i < 3:
        x = x + 1
        i += 1
    return x


CORE = {"input_core_dims": [["x"]], "vectorize": True}
USES = [
    (np.sqrt, lambda f: f(made().values)), (lambda x: np.sqrt(x) + 1, lambda f: [f(made()), f(made().to_dataset())]),
    (looped, lambda f: f(made())), (lambda x: x.sel(t=1), lambda f: f(made())),
    (lambda x: np.sqrt(x), lambda f: xr.apply_ufunc(f, made())),
    (lambda a: a**2 + 1 if a > 3 else a, lambda f: xr.apply_ufunc(f, made(), vectorize=True)),
    (lambda v: v.sum(), lambda f: xr.apply_ufunc(f, made(), **CORE)),
    (lambda v: np.cumsum(v), lambda f: xr.apply_ufunc(f, made(), output_core_dims=[["x"]], **CORE)),
    (looped, lambda f: xr.apply_ufunc(f, chunked(), dask="parallelized", output_dtypes=[float]).compute()),
    (lambda v: v.sum(), lambda f: xr.apply_ufunc(f, chunked(), dask="parallelized", output_dtypes=[float], **CORE)
     .compute()),
    (looped, lambda f: xr.map_blocks(f, chunked()).compute()), (looped, lambda f: made().to_dataset().map(f)),
    (lambda x: x - x.mean(), lambda f: made().groupby("t").map(f)), (looped, lambda f: made().pipe(f)),
    (lambda a, axis=None: np.sum(a, axis=axis), lambda f: made().reduce(f, "t")),
]  # fmt: skip


@pytest.mark.parametrize(("f", "use"), USES)
def test_xarray_with_decorated_functions(f, use):
    wanted, ours = repr(use(f)), al.function(f)
    for _ in range(2):
        assert repr(use(ours)) == wanted
