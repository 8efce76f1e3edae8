"""``autoloop`` has every name of the array API standard 2024.12, with the parameters that the standard gives it."""

from __future__ import annotations

import inspect
import math
import re
import runpy
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from each_case import each
from standard_signatures import CONSTANTS, DTYPES, SIGNATURES

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def function(name):
    *space, last = name.split(".")
    return getattr(getattr(al, space[0]) if space else al, last)


@each(SIGNATURES)
def test_parameters_are_those_of_the_standard(name):
    ours = list(inspect.signature(function(name)).parameters.values())
    wanted = SIGNATURES[name].parameters.values()
    for place, theirs in enumerate(wanted):
        if theirs.kind is inspect.Parameter.VAR_POSITIONAL:
            assert ours[place].kind is theirs.kind
        elif theirs.kind is inspect.Parameter.KEYWORD_ONLY:
            found = next(p for p in ours if p.name == theirs.name)
            assert found.kind is not inspect.Parameter.POSITIONAL_ONLY
            assert found.default == theirs.default or theirs.name in ("dtype",)
        else:
            assert ours[place].kind in POSITIONAL
            assert ours[place].name == theirs.name or theirs.kind is inspect.Parameter.POSITIONAL_ONLY
    may_be_left_out = [p for p in ours if p.default is not p.empty or p.kind is inspect.Parameter.VAR_POSITIONAL]
    asked = [p for p in wanted if p.default is p.empty and p.kind is not inspect.Parameter.VAR_POSITIONAL]
    assert len(ours) - len(may_be_left_out) <= len(asked)


def test_the_standard_s_own_package_has_the_same_parameters():
    strict = pytest.importorskip("array_api_strict")
    for name, wanted in SIGNATURES.items():
        *space, last = name.split(".")
        if name == "expand_dims":
            continue  # there its axis has no default, which the standard gives it
        theirs = inspect.signature(getattr(getattr(strict, space[0]) if space else strict, last)).parameters
        if "args" not in theirs:
            assert [(p.name, p.kind) for p in theirs.values()] == [
                (p.name, p.kind) for p in wanted.parameters.values()
            ], name


def test_dtypes_and_constants_are_there():
    assert [str(getattr(al, name)) for name in DTYPES] == list(DTYPES)
    assert (al.e, al.inf, al.newaxis, al.pi) == (math.e, math.inf, None, math.pi) and math.isnan(al.nan)
    assert {*CONSTANTS, "linalg", "fft", *[n for n in SIGNATURES if "." not in n]} <= {*dir(al)}
    assert al.__array_api_version__ == "2024.12"


def test_a_tensor_says_which_namespace_it_is_of():
    x = al.ones((2, 3))
    assert x.__array_namespace__() is x.__array_namespace__(api_version="2024.12") is al
    with pytest.raises(ValueError, match="the array API '2055.12' is not offered; 2024.12 is"):
        x.__array_namespace__(api_version="2055.12")
    assert x.device == "cpu" and x.to_device("cpu") is x
    with pytest.raises(ValueError, match="there is no device 'gpu'; the only one is 'cpu'"):
        x.to_device("gpu")
    with pytest.raises(ValueError, match="there are no streams"):
        x.to_device("cpu", stream=1)
    for attribute in (
        "T", "mT", "ndim", "size", "shape", "dtype", "__dlpack__", "__dlpack_device__", "__complex__", "__float__",
        "__int__", "__index__", "__bool__", "__matmul__", "__rmatmul__", "__rlshift__", "__pos__", "__invert__",
    ):  # fmt: skip
        if not attribute.startswith("__dlpack"):
            assert hasattr(x, attribute), attribute
    assert (x.mT.shape, x.T.shape, x.ndim, x.size) == ((3, 2), (3, 2), 2, 6)


def test_operators_in_place_bind_the_name_anew():
    x = y = al.asarray([1, 2, 3])
    x += 1
    x <<= 2
    assert x.numpy().tolist() == [8, 12, 16] and y.numpy().tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="a tensor cannot be changed in place"):
        x[0] = 1


def test_complex_numbers_are_no_real_ones():
    x = al.asarray(1 + 2j)
    assert complex(x) == 1 + 2j
    for kind in (int, float):
        with pytest.raises(TypeError, match=f"complex64 is no Python {kind.__name__}; use"):
            kind(x)


# -- what may be asked about it ---------------------------------------------------------------------------


def test_what_the_namespace_says_of_itself():
    info = al.__array_namespace_info__()
    assert info.default_dtypes() == {
        "real floating": al.float32, "complex floating": al.complex64, "integral": al.int32, "indexing": al.int64,
    }  # fmt: skip
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert np.zeros((1,) * 64).ndim == 64
    assert info.devices() == [info.default_device()] == ["cpu"]
    assert list(info.dtypes()) == list(DTYPES) and all(getattr(al, n) == d for n, d in info.dtypes().items())
    assert list(info.dtypes(kind="real floating")) == ["float32", "float64"]
    assert list(info.dtypes(kind=("bool", "signed integer"))) == ["bool", "int8", "int16", "int32", "int64"]
    assert len(info.dtypes(kind="numeric")) == 12 and len(info.dtypes(kind="integral")) == 8
    with pytest.raises(ValueError, match="dtypes: there is no device 'gpu'"):
        info.dtypes(device="gpu")


@pytest.mark.parametrize(
    "value, dtype", [(True, "bool"), (1, "int32"), (1.5, "float32"), (1j, "complex64"), ([1, 2.0], "float32")]
)
def test_python_numbers_have_the_dtypes_that_the_namespace_states(value, dtype):
    assert al.asarray(value).dtype == al.asarray([value, value]).dtype == dtype
    if not isinstance(value, list):
        assert al.full((2,), value).dtype == al.full((), value).dtype == dtype


def test_functions_without_values_take_the_default_dtypes():
    assert {f(2).dtype for f in (al.zeros, al.ones, al.empty, al.eye, al.fft.fftfreq, al.fft.rfftfreq)} == {al.float32}
    assert al.arange(3).dtype == al.int32 and al.arange(0, 1, 0.5).dtype == al.linspace(0, 1, 3).dtype == al.float32
    assert al.linspace(0, 1j, 3).dtype == al.complex64
    for found in (al.argmax, al.argmin, al.argsort, al.count_nonzero, lambda x: al.nonzero(x)[0]):
        assert found(al.ones(3)).dtype == al.int64


@each([al.sum, al.prod, al.cumulative_sum, al.cumulative_prod, "trace"])
def test_sums_are_at_least_as_wide_as_the_default(f):
    def dtype_of(given, **more):
        if f == "trace":
            return al.linalg.trace(al.ones((2, 2), given), **more).dtype
        return f(al.ones(2, given), **more).dtype

    for dtype in ("bool", "int8", "int16", "int32"):
        assert dtype_of(dtype) == al.int32
    for dtype in ("uint8", "uint16", "uint32"):
        assert dtype_of(dtype) == al.uint32
    for dtype in ("int64", "uint64", "float32", "float64", "complex64"):
        assert dtype_of(dtype) == dtype
    assert dtype_of("int8", dtype=al.int8) == al.int8 and dtype_of("int8", dtype=al.float64) == al.float64


def test_a_sum_in_a_narrow_dtype_wraps():
    assert int(al.sum(al.asarray([100, 100]), dtype=al.int8)) == -56
    assert al.cumulative_sum(al.asarray([100, 100]), dtype=al.int8).numpy().tolist() == [100, -56]


def test_limits_are_python_numbers():
    single, double = al.finfo(al.float32), al.finfo(al.ones(1, al.complex128))
    assert (single.bits, single.dtype, double.bits, double.dtype) == (32, al.float32, 64, al.float64)
    for info, theirs in ((single, np.finfo(np.float32)), (double, np.finfo(np.float64))):
        for name in ("eps", "max", "min", "smallest_normal"):
            assert type(getattr(info, name)) is float and getattr(info, name) == float(getattr(theirs, name))
    wide = al.iinfo(al.ones(1, al.uint64))
    assert (wide.bits, wide.max, wide.min, wide.dtype) == (64, 2**64 - 1, 0, al.uint64)
    assert type(al.iinfo("int8").min) is int and al.iinfo(al.int8).min == -128
    with pytest.raises(TypeError, match="finfo: dtype int32 is not one of floats"):
        al.finfo(al.int32)
    with pytest.raises(TypeError, match="iinfo: dtype float32 is not one of integers"):
        al.iinfo(al.float32)


def test_kinds_of_dtypes():
    for dtype in DTYPES:
        for kind in (
            "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric",
            ("bool", "integral"), "float32", (np.dtype("int8"), "complex floating"),
        ):  # fmt: skip
            theirs = np.dtype(kind) if kind == "float32" else kind
            assert al.isdtype(getattr(al, dtype), theirs) is np.isdtype(np.dtype(dtype), theirs)
    with pytest.raises(ValueError):
        al.isdtype(al.int8, "whole")


def test_what_dtypes_promote_to():
    small, double = al.ones(2, al.int8), al.ones(2, al.float64)
    assert al.result_type(small, 1) == al.int8 and al.result_type(al.float32, 1.5) == al.float32
    assert al.result_type(al.float32, 1j) == al.complex64 and al.result_type(al.int8, al.uint8) == al.int16
    assert al.result_type(small, double, al.complex64) == al.complex128 == np.result_type("f8", "c8")
    with pytest.raises(ValueError, match="result_type: at least one tensor or dtype is needed"):
        al.result_type(1, 2.0)
    assert al.can_cast(al.int8, al.int16) and al.can_cast(small, "float32") and not al.can_cast(double, al.float32)


@each(["2021.12", "2022.12", "2023.12"])
def test_earlier_versions_are_part_of_it(version):
    assert al.ones(1).__array_namespace__(api_version=version) is al


def test_the_page_runs(capsys, tmp_path):
    page = Path(__file__).parent.parent.parent / "docs" / "array-api.md"
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    script = tmp_path / "page.py"
    script.write_text(code)
    runpy.run_path(str(script))
    assert capsys.readouterr().out == "(2, 2)\n"
