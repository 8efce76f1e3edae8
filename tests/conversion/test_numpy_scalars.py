"""NumPy scalars that a graph computes: every attribute that NumPy's have, and what Python makes of them."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS, INTERPRETED
from written_out import alike, differences, failures, outcome, program

#: what methods are called with
CALLED = {
    "astype": "(np.float32)", "take": "(0)", "reshape": "(1, 1)", "repeat": "(2)", "view": "(np.uint8)", "dot": "(2)",
    "getfield": "(np.uint8)", "searchsorted": "(2)", "choose": "([1, 2, 5])", "compress": "([True])", "clip": "(0, 1)",
    "swapaxes": "(0, 0)", "diagonal": "()", "partition": "(0)", "to_device": "('cpu')", "fill": "(0)", "put": "(0, 1)",
    "setfield": "(1, np.int8)", "tofile": "('/dev/null')", "dump": "('/dev/null')", "resize": "(1)",
    "fromhex": "('0x1p3')",
}  # fmt: skip
#: what asks where a scalar lies in memory, for its bytes, or would write: refused, by name
REFUSED = {"base", "data", "flags", "tobytes", "tofile", "dump", "dumps", "fill", "put", "resize", "setflags", "sort"}
#: a vector of it
ITERATOR = "flat"


@each([np.float64, np.float32, np.int64, np.uint8, np.bool_, np.complex128], one_in=3)
def test_every_attribute(kind):
    x = np.array([2, 3, 1]).astype(kind)
    wrong = []
    for name in dir(kind):
        if name[0] == "_" or name in (ITERATOR, "device", "to_device"):
            continue
        is_method = callable(getattr(x[0], name)) and name not in ("T", "data")
        f = program(f"x[0].{name}{CALLED.get(name, '()') if is_method else ''}", ["x"])
        plain, ours = outcome(f, x), outcome(al.function(f, executor="sequential"), x)
        if name in REFUSED and isinstance(ours, TypeError) and f"x.{name}" in str(ours):
            continue
        if not alike(plain, ours):
            wrong.append((name, plain, ours))
    assert not wrong


def test_attributes_that_arrays_have_not():
    x = np.array([2.0, 3.0])
    texts = ["x.is_integer()", "x.hex()", "x.astype(int).bit_count()", "x[0].bit_count()", "x[0].numerator"]
    texts += ["(x[0] > 1).is_integer()", "x[0].foo", "getattr(x, 'node')", "getattr(x[0], 'bit_count')"]
    assert not failures(texts, "sequential", {"x": x})
    asked = ["getattr(x, 'node', 3)", "hasattr(x[0], 'hex')", "hasattr(x, 'hex')", "hasattr(x, 'numpy')"]
    asked += ["x.__class__", "x[0].__class__ is np.float64", "x.__class__.__name__", "float(x[0]).__class__"]
    assert not differences([*asked, "getattr(x, 'name', None)"], "sequential", {"x": x})


#: what is computed in all executors
NUMBERS = [
    "float(x[0])", "int(x[1])", "bool(x[0])", "complex(x[0])", "complex(x[0], x[1])", "np.float32(x[0])",
    "np.int8(x[1])", "np.int64(x[0])", "np.bool_(x[0])", "np.uint8(x[0])", "np.int8(int(x[0]))",
    "round(x[0])", "round(x[1])", "x[0].is_integer()", "float(x[0]).is_integer()", "x[0].item()", "x.tolist()",
    "int(x[0]) >> 1", "int(x[1]) >> int(x[0])", "math.floor(x[1])", "x.dtype.type(x[1])", "type(x[0])(x[1])",
]  # fmt: skip
#: what Python's own functions compute
ASKED = [
    "hash(x[0])", "hash(float(x[0]))", "hash(int(x[1]))", "bin(int(x[0]))",
    "hex(int(x[0]))", "oct(int(x[0]))", "chr(int(x[0]) + 65)", "str(x[1])", "repr(x[0])", "format(x[0], '.3f')",
    "format(float(x[1]), '>9.2e')", "f'{x[0]:.2f} {x!r}'",
]  # fmt: skip
#: what is known while the function is traced
STATIC = [
    "isinstance(x, (int, float, np.ndarray, np.floating, numbers.Number, np.generic))", "isinstance(x[0], float)",
    "isinstance(x[0], int)", "isinstance(x[0], complex)", "isinstance(x[0], np.generic)", "isinstance(x, np.generic)",
    "isinstance(x[0], numbers.Number)", "isinstance(x[0], numbers.Integral)", "isinstance(x[0], numbers.Real)",
    "isinstance(float(x[0]), float)", "isinstance(int(x[0]), np.integer)", "type(x[0]) is np.float64",
    "type(x) is np.ndarray", "type(x[0]).__name__", "type(float(x[0])) is float", "type(x[0]) is type(x[1])",
    "x.dtype == np.float64", "x.dtype == 'float64'", "x.dtype is np.dtype(float)", "np.issubdtype(x.dtype, np.integer)",
    "np.issubdtype(type(x[0]), np.floating)", "np.iinfo(np.int16).max", "x.dtype.kind", "x.dtype.name",
    "x.dtype.itemsize", "x.dtype.type(3)", "x.dtype.str", "np.can_cast(x.dtype, np.float32)", "np.isscalar(x[0])",
    "np.isscalar(x)", "np.iscomplexobj(x)", "np.result_type(x, np.float32(1))", "x[0].dtype.type(2)", "x[0].strides",
]  # fmt: skip


@each(product(["float64", "int32"], EXECUTORS))
def test_numbers_of_scalars(dtype, executor):
    x = np.array([2, -3, 5]).astype(dtype)
    texts = [*NUMBERS, *([] if executor == "native" else ASKED), *(STATIC if executor == "sequential" else [])]
    if executor == "native":
        texts = [text for text in texts if "complex" not in text]
    assert not differences(texts, executor, {"x": x})
    alone = ["x[0].bit_count()", "np.iinfo(x.dtype).min", "bin(x[0])", "chr(x[2])"]
    if dtype == "float64":
        alone = ["np.finfo(x.dtype).eps", "np.finfo(x[0]).eps", "x[0].hex()", "x[0].as_integer_ratio()"]
        alone += ["float(x[0]).hex()"]
    assert not differences(alone, INTERPRETED[0], {"x": x})


@each(EXECUTORS)
def test_what_has_no_value_raises_as_in_python(executor):
    texts = ["np.int8(int(x[2]))", "np.uint8(int(x[1]))", "int(x[0]) >> int(x[1])", "round(x[0] / 0)"]
    texts += ["round(x[0] * np.nan)", "float(x[:1])", "int(x[:1])", "hash(x)", "round(x)", "bin(x[0] * 0.5)", "bin(x)"]
    assert not failures(texts, executor, {"x": np.array([2, -3, 300])})
    assert not failures(["round(x[0])", "x[0].bit_length()"], "sequential", {"x": np.array([True])})
    assert not failures(["math.trunc(x[0])", "chr(int(x[1]))"], INTERPRETED[0], {"x": np.array([2, -3])})


@each(EXECUTORS)
def test_an_unsigned_int_of_64_bits_may_not_fit(executor):
    texts = ["int(x[0])", "x[0].item()", "x.tolist()", "round(x[0])", "x[0].__index__()", "int(x[0]) + 1"]
    if executor != "native":
        texts += ["range(x[0])[0]", "math.floor(x[0])", "math.ceil(x[0])", "math.comb(x[0], 2)", "math.lcm(x[0], 3)"]
    f = {text: program(text, ["x"]) for text in texts}
    for text, plain in f.items():
        g = al.function(plain, executor=executor)
        assert alike(plain(np.array([7], "u8")), g(np.array([7], "u8"))), text
        large = np.array([2**63 + 5], "u8")
        if executor == "native":
            with pytest.raises(OverflowError, match="more than the 64 bits"):
                g(large)
        else:
            assert alike(plain(large), g(large)), text
