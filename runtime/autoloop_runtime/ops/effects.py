"""Operations that do something besides computing: printing, assertions, errors.

Their kernels get the values without the effect token and give their results without it; whoever runs a node
with an effect strips the token from its inputs and appends a new one (``np.True_``) to its outputs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, nest
from ..base.forks import Kind
from ..base.locations import Location
from ..base.shapes import SCALAR
from ..ir.apply import apply, apply_several
from ..ir.argument_types import ArrayLike
from ..ir.convert import convert_to_tensor
from ..ir.node import Node
from ..ir.op import numpys_alone, ruled_in
from ..ir.tensor import Tensor
from ..ir.tracers import ArrayTracer, NumberTracer, ZeroDimArray
from ..ir.traits import NO_GRADIENT, OPAQUE
from .define import primitive, public
from .operands import as_dtype, is_tensor

__all__ = ["Assert", "Print", "assert_true", "format_string", "print", "raise_error"]

# -- text with holes --------------------------------------------------------------------------------------


class Hole:
    """The place of a tensor in something to be shown; at run time, its value as what the user takes it for."""

    def __init__(self, position: int, kind: type[Tensor]) -> None:
        self.position, self.kind = position, kind

    def filled(self, values: Sequence[Any]) -> Any:
        value = values[self.position]
        if issubclass(self.kind, NumberTracer):
            return value.item() if hasattr(value, "item") else value
        if self.kind is ZeroDimArray:
            return np.asarray(value)
        return value if self.kind is ArrayTracer and not isinstance(value, np.str_) else _Shown(value)


class _Shown:
    """A value to be shown: ``3.0`` and ``[3.0, 4.0]``, not ``np.float32(3.0)``; arrays as they show themselves."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        if isinstance(self.value, np.ndarray):
            return repr(self.value)
        return repr(str(self.value)) if isinstance(self.value, np.str_) else str(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)


class Text:
    """Values to be shown as ``print`` shows them, with holes for the tensors.

    Parameters
    ----------
    values : sequence
        Anything; tensors may be inside structures.
    """

    def __init__(self, values: Sequence[Any], sep: str = " ", end: str = "") -> None:
        self.sep, self.end = sep, end
        self._tensors: list[Tensor] = []
        self.parts: list[tuple[Any, list[Any]]] = []
        for value in values:
            leaves, structure = nest.flatten_with_structure(value)
            self.parts.append((structure, [self._leaf(leaf) for leaf in leaves]))

    @classmethod
    def of_parts(cls, values: Sequence[Any], sep: str = " ", end: str = "") -> Text:
        """Return a text of values that have holes already."""
        made = cls((), sep, end)
        for value in values:
            leaves, structure = nest.flatten_with_structure(value)
            made.parts.append((structure, leaves))
        return made

    def _leaf(self, leaf: Any) -> Any:
        if is_tensor(leaf):
            self._tensors.append(convert_to_tensor(leaf))
            return Hole(len(self._tensors) - 1, type(leaf))
        return leaf.copy() if isinstance(leaf, np.ndarray) else leaf  # its contents now

    def take_tensors(self) -> list[Tensor]:
        """Return the tensors of the holes; the text, which becomes part of a node, does not keep them."""
        tensors, self._tensors = self._tensors, []
        return tensors

    def filled(self, values: Sequence[Any]) -> list[Any]:
        """Return the values that were given, with ``values`` for the tensors in them."""
        found = []
        for structure, leaves in self.parts:
            filled = [v.filled(values) if isinstance(v, Hole) else v for v in leaves]
            found.append(nest.unflatten(structure, filled))
        return found

    def render(self, values: Sequence[Any]) -> str:
        """Return the text, with ``values`` for the tensors."""
        shown = []
        for structure, leaves in self.parts:
            if structure.is_leaf():
                leaf = leaves[0]
                shown.append(str(leaf.filled(values) if isinstance(leaf, Hole) else leaf))
            else:
                filled = [v.filled(values) if isinstance(v, Hole) else v for v in leaves]
                shown.append(str(nest.unflatten(structure, filled)))
        return self.sep.join(shown) + self.end


def handed(leaf: Any) -> Any:
    """Return a part of what ``Text.filled`` gives as the user's own functions take it."""
    if isinstance(leaf, _Shown):
        return str(leaf.value) if isinstance(leaf.value, np.str_) else Tensor(leaf.value)
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf


def _write(text: str, stream: Any) -> None:
    """Write in one piece, so that lines of several threads do not mix."""
    if isinstance(stream, str) and stream.startswith("file://"):
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            file.write(text)
        return
    # standard streams are looked up when the text is written: they may have been redirected
    target = {"stdout": sys.stdout, "stderr": sys.stderr}[stream] if isinstance(stream, str) else stream
    if target is not None:
        target.write(text)


def _stream(stream: Any) -> Any:
    if stream is None or stream is sys.stdout:
        return "stdout"
    if stream is sys.stderr:
        return "stderr"
    if isinstance(stream, str) and not (stream in ("stdout", "stderr") or stream.startswith("file://")):
        raise ValueError(
            f"print: unknown output_stream {stream!r}; 'stdout', 'stderr' and 'file://...' are known [AL210]"
        )
    return stream


def _print_kernel(*values: Any, text: Text, stream: Any) -> Any:
    _write(text.render(values), stream)
    return ()


PRINT = primitive(
    "print", lambda *values, text, stream: [], _print_kernel, NO_GRADIENT, effect=True, several=True, traits=OPAQUE
)


@public(fetches=True)
def print(
    *values: object, sep: str = " ", end: str = "\n", output_stream: object = None, name: str | None = None
) -> Node | None:
    """Print values when they are there: in a function once per execution, in program order.

    Parameters
    ----------
    *values
        Anything; tensors may be inside structures.
    sep, end : str
        As for Python's ``print``.
    output_stream : "stdout", "stderr", "file://path", or an object with ``write``
    name : str, optional

    Returns
    -------
    Operation or None
        The operation, in a graph that a session runs: fetch it or depend on it.

    Examples
    --------
    >>> al.print("x is", al.constant(3))
    x is 3
    """
    text = Text(values, sep, end)
    made: Node | None = apply_several(
        PRINT, text.take_tensors(), {"text": text, "stream": _stream(output_stream)}, name
    )
    return made


def _format_kernel(*values: Any, template: str, text: Text) -> Any:
    return np.str_(template.format(*text.filled(values)))


FORMAT = primitive(
    "format", lambda *values, template, text: (dtypes.string, SCALAR), _format_kernel, NO_GRADIENT, traits=OPAQUE
)


@public(fetches=True)
def format_string(template: str, *values: object, name: str | None = None) -> Tensor:
    """Return ``template.format(*values)`` as a string tensor: an f-string whose values come later.

    Parameters
    ----------
    template : str
        With ``{}`` fields, which may have conversions and formats.
    *values
        Anything; tensors may be inside structures.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.format_string("{} of {}", 1, 2))
    Tensor(1 of 2, shape=(), dtype=<U6)
    """
    text = Text(values)
    return apply(FORMAT, text.take_tensors(), {"template": template, "text": text}, name)


# -- the 1.x Print ----------------------------------------------------------------------------------------


_KIND = Kind("_Countdown.lock", "one number; whether another thread has taken its turn is as good either way")


class _Countdown:
    """How often a ``Print`` may still print; ``lock`` guards ``left``."""

    def __init__(self, left: int | None) -> None:
        self.lock = _KIND.lock()
        self.left = left

    def __call__(self) -> bool:
        if self.left is None:
            return True
        with self.lock:
            left = self.left = self.left - 1
            return left >= 0


def _summary(value: Any, summarize: int) -> str:
    flat = np.ravel(value)
    shown = " ".join(str(v) for v in (flat if summarize < 0 else flat[:summarize]))
    return f"[{shown}{'...' if 0 <= summarize < flat.size else ''}]"


def _print_through_kernel(x: Any, *data: Any, message: str, summarize: int, countdown: _Countdown) -> Any:
    if countdown():
        _write(message + "".join(_summary(d, summarize) for d in data) + "\n", "stderr")
    return x


PRINT_THROUGH = primitive(
    "print_through", lambda x, *data, **_: (x.dtype, x.shape), _print_through_kernel,
    lambda g, outputs, inputs, attrs: [g, *[None] * (len(inputs) - 1)], effect=True, traits=OPAQUE,
)  # fmt: skip


@public(fetches=True)
def Print(
    input_: ArrayLike, data: Sequence[ArrayLike], message: str | None = None, first_n: int | None = None,
    summarize: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return ``input_``; prints ``data`` to the standard error stream whenever it is computed (1.x).

    Parameters
    ----------
    input_ : tensor-like
        Passed through.
    data : sequence of tensor-like
        Shown in brackets, one after another.
    message : str, optional
        Comes first.
    first_n : int, optional
        Print only so many times.
    summarize : int, optional
        How many elements of each tensor to show: 3 by default, all if negative.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> x = al.Print(al.constant(3), [al.constant(3)], "x is ")  # says "x is [3]" on standard error
    >>> print(x)
    Tensor(3, shape=(), dtype=int32)
    """
    attrs = {
        "message": message or "",
        "summarize": 3 if summarize is None else int(summarize),
        "countdown": _Countdown(first_n),
    }
    return apply(PRINT_THROUGH, [convert_to_tensor(v) for v in (input_, *data)], attrs, name or "Print")


# -- failing ----------------------------------------------------------------------------------------------


def _assert_infer(condition: Tensor, *values: Tensor, text: Any) -> Any:
    return []


def _assert_kernel(condition: Any, *values: Any, text: Text | None) -> Any:
    if not np.all(condition):
        raise AssertionError(*([] if text is None else [text.render(values)]))
    return ()


ASSERT = primitive(
    "assert", _assert_infer, _assert_kernel, NO_GRADIENT, effect=True, ends_run=True, several=True,
    traits=OPAQUE.but(raises=AssertionError),
)  # fmt: skip


@public(fetches=True)
def assert_true(condition: ArrayLike, *message: object, name: str | None = None) -> Node | None:
    """Raise ``AssertionError`` unless all of ``condition`` is true, when it is there; gives what ``print`` gives.

    Parameters
    ----------
    condition : tensor-like
        Numbers count as true where they are not zero.
    *message
        What the error says, shown as ``print`` would; may hold tensors.
    name : str, optional

    Returns
    -------
    operation or None

    Examples
    --------
    >>> al.assert_true(al.constant(2) > 1, "too small")
    >>> al.assert_true(al.constant(2) > 3, "too small")
    Traceback (most recent call last):
        ...
    AssertionError: too small
    """
    condition = as_dtype(convert_to_tensor(condition), dtypes.bool_)
    text = Text(message) if message else None
    made: Node | None = apply_several(ASSERT, [condition, *(text.take_tensors() if text else ())], {"text": text}, name)
    return made


@public(fetches=True)
def Assert(condition: ArrayLike, data: object, summarize: int | None = None, name: str | None = None) -> Node | None:
    """Raise ``AssertionError`` with ``data`` unless all of ``condition`` is true; gives what ``print`` gives.

    Parameters
    ----------
    condition : tensor-like
    data : sequence
        Tensors and other values for the message.
    summarize : int, optional
        Accepted for compatibility.
    name : str, optional

    Returns
    -------
    operation or None

    Examples
    --------
    >>> al.Assert(True, ["never shown"])
    >>> al.Assert(al.constant(2) > 3, ["too small"])
    Traceback (most recent call last):
        ...
    AssertionError: assertion failed: too small
    """
    values = data if isinstance(data, (list, tuple)) else [data]
    return assert_true(condition, "assertion failed:", *values, name=name or "Assert")


def _raise_kernel(*values: Any, factory: Callable[..., BaseException]) -> Any:
    raise factory(*values)


RAISE = primitive(
    "raise", lambda *values, factory: [], _raise_kernel, NO_GRADIENT, effect=True, ends_run=True, several=True,
    traits=OPAQUE.but(raises=Exception),
)  # fmt: skip


@public(fetches=True)
def raise_error(
    factory: Callable[..., BaseException], *values: ArrayLike, name: str | None = None, location: Location | None = None
) -> Node | None:
    """Raise what ``factory`` makes of the values of tensors, when they are there; gives what ``print`` gives.

    Parameters
    ----------
    factory : callable
        Takes NumPy values, gives an exception.
    *values : tensor-like
    name : str, optional
    location : tuple of Line, optional
        The user's lines that lead to the ``raise``, if it is not what is being run.

    Returns
    -------
    operation or None

    Examples
    --------
    >>> al.raise_error(ValueError, "no root")
    Traceback (most recent call last):
        ...
    ValueError: no root
    """
    made: Node | None = apply_several(
        RAISE, [convert_to_tensor(v) for v in values], {"factory": factory}, name, location
    )
    return made


numpys_alone("it shows arrays of NumPy's", PRINT_THROUGH)

ruled_in("effect_rules", ASSERT, RAISE)
