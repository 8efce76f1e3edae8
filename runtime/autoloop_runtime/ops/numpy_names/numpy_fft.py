"""The namespace ``np.fft``: four transforms along one axis that are NumPy's own, all others made of them.

Transforms are linear, and the transpose of each is another one: of ``fft`` that is ``ifft`` with the factor of the
other direction, of ``irfft`` it is ``rfft`` with the inner frequencies counted twice.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.numpy_results import GIVE_ARRAYS
from ...ir.prices import elements
from ...ir.tensor import Tensor
from ...ir.traits import OPAQUE
from ..complex_numbers import real
from ..direct_calls import calls
from ..elementwise import conjugated
from ..extents import axis_of
from ..filled import zeros_like
from ..joining import concat
from ..operands import as_dtype, is_tensor
from ..shape_queries import dim
from .counterparts import as_operand, counterpart, known, unsupported
from .library_rows import Library, library
from .numpys_warnings import warn_as_numpy

#: the factor of a transform -> that of its transpose
_OTHER = {"backward": "forward", None: "forward", "ortho": "ortho", "forward": "backward"}
_TRANSFORMED = OPAQUE.but(price=lambda a, *_, **attrs: 5_000 + 15 * elements(a.shape))


def _along(x: Tensor, axis: int, extent: Any) -> list[Any]:
    dims = list(x.shape.known)
    dims[axis] = extent
    return dims


def _same_count(x: Tensor, n: Any, axis: int, norm: Any) -> Any:
    return _along(x, axis, x.shape.known[axis] if n is None else n)


def _half_count(x: Tensor, n: Any, axis: int, norm: Any) -> Any:
    count = x.shape.known[axis] if n is None else n
    return _along(x, axis, None if count is None else count // 2 + 1)


def _whole_count(x: Tensor, n: Any, axis: int, norm: Any) -> Any:
    have = x.shape.known[axis]
    return _along(x, axis, n if n is not None else None if have is None else 2 * (have - 1))


def _resized(g: Any, x: Tensor, n: Any, axis: int) -> Any:
    """Return a gradient of as many elements along the axis as ``x`` has: what was cut off or filled up has none."""
    have, want = g.shape.known[axis], x.shape.known[axis]
    if n is None or (have is not None and have == want):
        return g
    place = axis_of(axis, len(x.shape), "fft")
    index = (*[slice(None)] * place, slice(None, dim(x, axis)))
    if None in (have, want) or have < want:
        g = concat([g, as_dtype(zeros_like(x), g.dtype)], axis)
    return g[index]


def _as_input(g: Any, x: Tensor) -> Any:
    if g.dtype.kind == "c" and x.dtype.kind != "c":
        g = real(g)
    return as_dtype(g, x.dtype)


def _of_complex(transpose: Any) -> Any:
    def vjp(g: Any, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
        x, n, axis = inputs[0], attrs["n"], attrs["axis"]
        found = transpose()(g, n=None, axis=axis, norm=_OTHER[attrs["norm"]])
        return [_as_input(_resized(found, x, n, axis), x)]

    return vjp


def _rfft_vjp(g: Any, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    x, n, axis = inputs[0], attrs["n"], attrs["axis"]
    count = n if n is not None else x.shape.known[axis]
    if count is None:
        raise ValueError("numpy.fft.rfft: a gradient needs the extent of the axis; give n [AL411]")
    found = real(_ifft(g, n=count, axis=axis, norm=_OTHER[attrs["norm"]]))
    return [_as_input(_resized(found, x, n, axis), x)]


def _irfft_vjp(g: Any, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    x, axis = inputs[0], attrs["axis"]
    count = g.shape.known[axis]
    if count is None:
        raise ValueError("numpy.fft.irfft: a gradient needs the extent of the axis; give n [AL411]")
    found = _rfft(g, n=None, axis=axis, norm=_OTHER[attrs["norm"]])
    twice = np.full(count // 2 + 1, 2, g.dtype)
    twice[0] = 1
    if count % 2 == 0:
        twice[-1] = 1
    place = axis_of(axis, len(x.shape), "irfft")
    found = found * twice.reshape([-1] + [1] * (len(x.shape) - place - 1))
    return [_as_input(_resized(found, x, count, axis), x)]


_ARGUMENTS = ("n", "axis", "norm")
_fft = library("fft", np.fft.fft, _same_count, _of_complex(lambda: _ifft), traits=_TRANSFORMED,
               code_of=calls("np.fft.fft", *_ARGUMENTS))  # fmt: skip
_ifft: Library = library("ifft", np.fft.ifft, _same_count, _of_complex(lambda: _fft), traits=_TRANSFORMED,
                         code_of=calls("np.fft.ifft", *_ARGUMENTS))  # fmt: skip
_rfft = library("rfft", np.fft.rfft, _half_count, _rfft_vjp, traits=_TRANSFORMED,
                code_of=calls("np.fft.rfft", *_ARGUMENTS))  # fmt: skip
_irfft = library("irfft", np.fft.irfft, _whole_count, _irfft_vjp, traits=_TRANSFORMED,
                 code_of=calls("np.fft.irfft", *_ARGUMENTS))  # fmt: skip


def _applied(theirs: Any, row: Library, a: Any, n: Any, axis: Any, norm: Any, out: Any) -> Any:
    unsupported(theirs, out=out)
    n, axis, norm = known(theirs, n=n, axis=axis, norm=norm)
    x = as_operand(a)
    if norm not in _OTHER:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return row(x, n=None if n is None else operator.index(n), axis=operator.index(axis), norm=norm)


@counterpart(np.fft.fft)
def fft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Tensor:
    """Return ``np.fft.fft``."""
    made: Tensor = _applied(np.fft.fft, _fft, a, n, axis, norm, out)
    return made


@counterpart(np.fft.ifft)
def ifft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Tensor:
    """Return ``np.fft.ifft``."""
    made: Tensor = _applied(np.fft.ifft, _ifft, a, n, axis, norm, out)
    return made


@counterpart(np.fft.rfft)
def rfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Tensor:
    """Return ``np.fft.rfft``."""
    made: Tensor = _applied(np.fft.rfft, _rfft, a, n, axis, norm, out)
    return made


@counterpart(np.fft.irfft)
def irfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Tensor:
    """Return ``np.fft.irfft``."""
    made: Tensor = _applied(np.fft.irfft, _irfft, a, n, axis, norm, out)
    return made


@counterpart(np.fft.hfft)
def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Tensor:
    """Return ``np.fft.hfft``."""
    return irfft(conjugated(as_operand(a)), n, axis, _turned(norm), out)


@counterpart(np.fft.ihfft)
def ihfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Tensor:
    """Return ``np.fft.ihfft``."""
    return conjugated(rfft(a, n, axis, _turned(norm), out))


def _turned(norm: Any) -> Any:
    return _OTHER.get(norm, norm)


# -- along several axes -----------------------------------------------------------------------------------


def _axes_and_counts(theirs: Any, x: Tensor, s: Any, axes: Any) -> tuple[list[Any], list[Any]]:
    """Return how many elements to transform along which axes; None for all there are."""
    s, axes = known(theirs, s=s, axes=axes)
    if isinstance(s, (list, tuple)) and (axes is None or None in s):  # which NumPy advises against
        warn_as_numpy(theirs, np.ones([2] * len(x.shape)), s=s, axes=axes)
    if axes is None:
        axes = range(len(x.shape)) if s is None else range(-len(s), 0)
    elif not isinstance(axes, (list, tuple, range)):
        axes = np.asarray(axes).tolist()
    counts = [None] * len(axes) if s is None else [_all_of(x, n, axis) for n, axis in zip(s, axes)]
    if len(axes) != (len(counts) if s is None else len(s)):
        raise ValueError("Shape and axes have different lengths.")
    return counts, list(axes)


def _all_of(x: Tensor, n: Any, axis: Any) -> Any:
    return x.shape.known[axis] if n in (None, -1) else operator.index(n)


def _several(theirs: Any, along: Any, a: Any, s: Any, axes: Any, norm: Any, out: Any) -> Tensor:
    """Transform along the axes, the last first, as NumPy does."""
    unsupported(theirs, out=out)
    x = as_operand(a)
    for n, axis in reversed(list(zip(*_axes_and_counts(theirs, x, s, axes)))):
        x = along(x, n, axis, norm)
    return x


@counterpart(np.fft.fftn)
def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Tensor:
    """Return ``np.fft.fftn``."""
    return _several(np.fft.fftn, fft, a, s, axes, norm, out)


@counterpart(np.fft.ifftn)
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Tensor:
    """Return ``np.fft.ifftn``."""
    return _several(np.fft.ifftn, ifft, a, s, axes, norm, out)


GIVE_ARRAYS.update((np.fft.fftn, np.fft.ifftn))


@counterpart(np.fft.rfftn)
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Tensor:
    """Return ``np.fft.rfftn``: the last axis first, which halves it."""
    unsupported(np.fft.rfftn, out=out)
    x = as_operand(a)
    counts, places = _axes_and_counts(np.fft.rfftn, x, s, axes)
    made = rfft(x, counts[-1], places[-1], norm)
    for n, axis in reversed(list(zip(counts[:-1], places[:-1]))):
        made = fft(made, n, axis, norm)
    return made


@counterpart(np.fft.irfftn)
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Tensor:
    """Return ``np.fft.irfftn``: the last axis last, which doubles it."""
    unsupported(np.fft.irfftn, out=out)
    x = as_operand(a)
    counts, places = _axes_and_counts(np.fft.irfftn, x, s, axes)
    for n, axis in zip(counts[:-1], places[:-1]):
        x = ifft(x, n, axis, norm)
    return irfft(x, counts[-1], places[-1], norm)


@counterpart(np.fft.fft2)
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Tensor:
    """Return ``np.fft.fft2``."""
    return fftn(a, s, axes, norm, out)


@counterpart(np.fft.ifft2)
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Tensor:
    """Return ``np.fft.ifft2``."""
    return ifftn(a, s, axes, norm, out)


@counterpart(np.fft.rfft2)
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Tensor:
    """Return ``np.fft.rfft2``."""
    return rfftn(a, s, axes, norm, out)


@counterpart(np.fft.irfft2)
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Tensor:
    """Return ``np.fft.irfft2``."""
    return irfftn(a, s, axes, norm, out)


# -- frequencies ------------------------------------------------------------------------------------------


@counterpart(np.fft.fftfreq)
def fftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Tensor:
    """Return ``np.fft.fftfreq``; the count must be known while the graph is built."""
    return _frequencies(np.fft.fftfreq, n, d, device)


@counterpart(np.fft.rfftfreq)
def rfftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Tensor:
    """Return ``np.fft.rfftfreq``; the count must be known while the graph is built."""
    return _frequencies(np.fft.rfftfreq, n, d, device)


def _frequencies(theirs: Any, n: Any, d: Any, device: Any) -> Tensor:
    unsupported(theirs, device=device)
    n = known(theirs, n=n)
    if not isinstance(n, (int, np.integer)):
        raise ValueError("n should be an integer")
    if not is_tensor(d):
        return as_operand(theirs(n, d))
    whole = theirs(n, 1.0 / n)
    return as_operand(whole) * (1.0 / (n * as_operand(d)))


def _shift(name: str, kernel: Any, undone: Any) -> Library:
    return library(
        name, kernel, lambda x, axes: x.shape, lambda g, outputs, inputs, attrs: [undone()(g, **attrs)],
        traits=_TRANSFORMED,
    )  # fmt: skip


_fftshift = _shift("fftshift", np.fft.fftshift, lambda: _ifftshift)
_ifftshift: Library = _shift("ifftshift", np.fft.ifftshift, lambda: _fftshift)


def _shifted(theirs: Any, row: Library, x: Any, axes: Any) -> Any:
    axes = known(theirs, axes=axes)
    return row(x, axes=tuple(axes) if isinstance(axes, list) else axes)


@counterpart(np.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Tensor:
    """Return ``np.fft.fftshift``."""
    made: Tensor = _shifted(np.fft.fftshift, _fftshift, x, axes)
    return made


@counterpart(np.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Tensor:
    """Return ``np.fft.ifftshift``."""
    made: Tensor = _shifted(np.fft.ifftshift, _ifftshift, x, axes)
    return made
