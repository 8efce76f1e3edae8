"""``--args "10, x=zeros(3, 3)"``: the arguments of a call, read without running any code.

Python literals, arithmetic on them, and a few constructors of arrays are understood; everything else is an
error that points at its place.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime.base import dtypes
from autoloop_runtime.base.parsing import parse
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.ir.convert import to_array
from autoloop_runtime.ir.tensor_spec import TensorSpec

from .problems import UsageError, did_you_mean

Array = np.ndarray[Any, Any]
#: results of ``**`` and repeated sequences are kept below this many bits or elements
_LIMIT = 10**6

_DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(name)
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
                 "float64", "complex64", "complex128", "bool")
}  # fmt: skip
#: ``float32[]``, which is no Python, means ``float32[()]``
_SCALAR_SPEC = re.compile(rf"\b({'|'.join(_DTYPES)})\[\s*\]")
_VALUES = {"pi": math.pi, "inf": math.inf, "nan": math.nan}
_NUMPY = ("np", "numpy")
_MODULES = (*_NUMPY, "al", "autoloop", "tf")
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: operator.invert, ast.Not: operator.not_,
}  # fmt: skip


class ArgumentError(UsageError):
    """Something in ``--args`` that is not understood; its text shows where."""

    def __init__(self, message: str, text: str, start: int, end: int) -> None:
        marks = " " * start + "^" * max(1, end - start)
        super().__init__(f"--args: {message}\n  {text}\n  {marks}")


def parse_arguments(text: str) -> tuple[list[Any], dict[str, Any]]:
    """Return positional and keyword arguments from the text between the parentheses of a call.

    Raises
    ------
    ArgumentError
        If it cannot be read.
    """
    text = _SCALAR_SPEC.sub(r"\1[()]", " ".join(text.split("\n")))
    try:
        call = parse(f"f({text})", "eval").body
    except SyntaxError as error:
        start = min(max((error.offset or 3) - 3, 0), len(text))
        raise ArgumentError(f"not Python: {error.msg}", text, start, start + 1) from None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        raise ArgumentError("the parentheses do not match [AL802]", text, 0, len(text))
    reader = _Reader(text)
    args: list[Any] = []
    for node in call.args:
        if isinstance(node, ast.Starred):
            args.extend(reader.value(node.value))
        else:
            args.append(reader.value(node))
    kwargs: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise reader.error("'**' is not understood", keyword.value)
        kwargs[keyword.arg] = reader.value(keyword.value)
    return args, kwargs


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def error(self, message: str, node: ast.AST) -> ArgumentError:
        """Return an error that points at ``node``; the parsed text has ``f(`` in front."""
        encoded = self.text.encode()
        start = len(encoded[: getattr(node, "col_offset", 2) - 2].decode(errors="replace"))
        end = len(encoded[: (getattr(node, "end_col_offset", None) or 3) - 2].decode(errors="replace"))
        return ArgumentError(message, self.text, start, end)

    def value(self, node: ast.AST) -> Any:
        """Return the value of an expression."""
        try:
            return self._value(node)
        except UsageError:
            raise
        except RecursionError:
            raise self.error("too deeply nested", node) from None
        except Exception as error:
            raise self.error(f"{error} ({type(error).__name__})", node) from None

    def _value(self, node: ast.AST) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Tuple(elts=parts):
                return tuple([self.value(p) for p in parts])
            case ast.List(elts=parts):
                return [self.value(p) for p in parts]
            case ast.Set(elts=parts):
                return {self.value(p) for p in parts}
            case ast.Dict(keys=keys, values=values):
                return {self.value(k): self.value(v) for k, v in zip(keys, values) if k is not None}
            case ast.UnaryOp(op=op, operand=operand):
                return _UNARY[type(op)](self.value(operand))
            case ast.BinOp(op=op, left=left, right=right) if type(op) in _BINARY:
                return self._arithmetic(op, self.value(left), self.value(right), node)
            case ast.Name() | ast.Attribute():
                return self._name(node)
            case ast.Call(func=function, args=args, keywords=keywords):
                kwargs = {k.arg: self.value(k.value) for k in keywords if k.arg is not None}
                return self._call(function, [self.value(a) for a in args], kwargs)
            case ast.Subscript(value=dtype, slice=dims):
                return self._spec(dtype, self.value(dims), node)
        raise self.error("only literals and constructors of arrays are understood", node)

    def _arithmetic(self, op: ast.operator, left: Any, right: Any, node: ast.AST) -> Any:
        if not all(isinstance(v, (int, float, complex, np.ndarray, np.generic)) for v in (left, right)):
            raise self.error("arithmetic is for numbers and arrays", node)
        big = isinstance(op, ast.Pow) and isinstance(left, int) and isinstance(right, int)
        if big and right * left.bit_length() > _LIMIT:
            raise self.error("too large a number", node)
        return _BINARY[type(op)](left, right)

    def _plain_name(self, node: ast.AST) -> str:
        """Return ``zeros`` of ``zeros`` or ``np.zeros``."""
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in _MODULES:
            return node.attr
        raise self.error("only literals and constructors of arrays are understood", node)

    def _name(self, node: ast.AST) -> Any:
        name = self._plain_name(node)
        if name in _DTYPES:
            return _DTYPES[name]
        if name in _VALUES:
            return _VALUES[name]
        if name in _CONSTRUCTORS:
            raise self.error(f"{name} needs its arguments: {name}(...)", node)
        known = [*_DTYPES, *_VALUES, *_CONSTRUCTORS]
        raise self.error(f"the name {name!r} is not known here{did_you_mean(name, known)}", node)

    def _call(self, function: ast.AST, args: list[Any], kwargs: dict[str, Any]) -> Any:
        name = self._plain_name(function)
        if name in _DTYPES:
            if len(args) != 1 or kwargs:
                raise self.error(f"{name}(...) takes one value", function)
            return _tensor(args[0], _DTYPES[name])
        if name not in _CONSTRUCTORS:
            hint = did_you_mean(name, [*_CONSTRUCTORS, *_DTYPES])
            raise self.error(f"{name!r} is no constructor known here{hint}", function)
        if isinstance(function, ast.Attribute) and ast.unparse(function.value) in _NUMPY and name in _OF_NUMPY:
            given = "dtype" in kwargs or any(isinstance(one, np.dtype) for one in args)
            kwargs = kwargs if given else {**kwargs, "dtype": _OF_NUMPY[name](*args)}
        return _CONSTRUCTORS[name](*args, **kwargs)

    def _spec(self, dtype: ast.AST, dims: Any, node: ast.AST) -> TensorSpec:
        """Return ``float32[None, 3]``: any tensor of that dtype and shape."""
        found = self._name(dtype)
        if not isinstance(found, np.dtype):
            raise self.error("only a dtype can be followed by a shape, as in float32[None, 3]", node)
        return TensorSpec(TensorShape(dims if isinstance(dims, (tuple, list)) else [dims]), found)


# -- constructors -------------------------------------------------------------------------------------------


def _cast(array: Array, dtype: Any) -> Any:
    made = array.astype(dtypes.as_dtype(dtype))
    return made[()] if made.ndim == 0 else made


def _dims_and_dtype(args: tuple[Any, ...], dtype: Any) -> tuple[tuple[int, ...], Any]:
    """Return dimensions and a dtype of ``(3, 3)``, ``((3, 3),)`` or ``(3, 3, float32)``."""
    if args and isinstance(args[-1], np.dtype):
        args, dtype = args[:-1], args[-1]
    dims = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
    return tuple([operator.index(d) for d in dims]), dtype or np.dtype("float32")


def _filled(value: float) -> Callable[..., Any]:
    def make(*args: Any, dtype: Any = None) -> Any:
        dims, dtype = _dims_and_dtype(args, dtype)
        return _cast(np.full(dims, value), dtype)

    return make


def _full(shape: Any, value: Any, dtype: Any = None) -> Any:
    filling = to_array(value)
    return _cast(np.full(shape, filling), dtype or filling.dtype)


def _eye(n: int, m: Any = None, dtype: Any = None) -> Any:
    if isinstance(m, np.dtype):
        m, dtype = None, m
    return _cast(np.eye(n, m), dtype or "float32")


def _arange(*args: Any, dtype: Any = None) -> Any:
    if args and isinstance(args[-1], np.dtype):
        args, dtype = args[:-1], args[-1]
    made = np.arange(*args)
    return _cast(made, dtype or ("int32" if made.dtype.kind == "i" else "float32"))


def _linspace(start: float, stop: float, num: int = 50, dtype: Any = None) -> Any:
    return _cast(np.linspace(start, stop, num), dtype or "float32")


def _random(*args: Any, dtype: Any = None, seed: int = 0) -> Any:
    """Return uniform numbers in [0, 1); the same numbers every time."""
    dims, dtype = _dims_and_dtype(args, dtype)
    return _cast(np.asarray(np.random.default_rng(seed).random(dims)), dtype)


def _normal(*args: Any, dtype: Any = None, seed: int = 0) -> Any:
    dims, dtype = _dims_and_dtype(args, dtype)
    return _cast(np.asarray(np.random.default_rng(seed).standard_normal(dims)), dtype)


def _tensor(value: Any, dtype: Any = None) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value if dtype is None else _cast(np.asarray(value), dtype)
    made = to_array(value, None if dtype is None else dtypes.as_dtype(dtype))
    return made.copy()  # which the function may write to


_CONSTRUCTORS: dict[str, Callable[..., Any]] = {
    "zeros": _filled(0), "ones": _filled(1), "full": _full, "eye": _eye, "arange": _arange, "linspace": _linspace,
    "random": _random, "normal": _normal, "tensor": _tensor, "constant": _tensor, "array": _tensor, "range": range,
}  # fmt: skip
#: the dtype that NumPy gives what it has a constructor for, where none is named
_OF_NUMPY: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("zeros", "ones", "eye", "linspace"), lambda *_: np.dtype(float)),
    "array": lambda value: np.asarray(value).dtype,
    "full": lambda _, value: np.asarray(value).dtype,
    "arange": lambda *ends: np.arange(*ends).dtype,
}
