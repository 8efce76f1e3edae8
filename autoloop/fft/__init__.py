"""The array API standard's extension for Fourier transforms.

``n`` or ``s`` is how many elements along each axis are transformed (cut off, or filled up with zeros), ``norm`` is
"backward", "ortho" or "forward": which direction is divided by their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.base.doors import listing
from autoloop_runtime.ir.argument_types import ArrayLike, Axes, DTypeLike
from autoloop_runtime.ir.array_kinds import computing
from autoloop_runtime.ir.convert import constant
from autoloop_runtime.ir.standard_protocols import check_device
from autoloop_runtime.ir.tensor import Tensor

from ..array_api import computed

_Norm: TypeAlias = Literal["backward", "ortho", "forward"]


@computing
def fft(x: ArrayLike, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward") -> Tensor:
    """Return the discrete Fourier transform along an axis.

    Parameters
    ----------
    x : tensor-like
    n : int, optional
        How many elements are transformed: cut off, or filled up with zeros.
    axis : int
        The axis along which it is done.
    norm : "backward", "ortho" or "forward"
        Which direction is divided by the number of elements.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.fft.fft(al.constant([1.0, 0.0, 0.0])))
    Tensor([1.+0.j 1.+0.j 1.+0.j], shape=(3,), dtype=complex64)
    """
    return computed(np.fft.fft, x, n=n, axis=axis, norm=norm)


@computing
def ifft(x: ArrayLike, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward") -> Tensor:
    """Return the inverse of ``fft``.

    Parameters
    ----------
    x : tensor-like
    n : int, optional
        How many elements are transformed: cut off, or filled up with zeros.
    axis : int
        The axis along which it is done.
    norm : "backward", "ortho" or "forward"
        Which direction is divided by the number of elements.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.fft.ifft(al.constant([3.0, 0.0, 0.0])))
    Tensor([1.+0.j 1.+0.j 1.+0.j], shape=(3,), dtype=complex64)
    """
    return computed(np.fft.ifft, x, n=n, axis=axis, norm=norm)


@computing
def rfft(x: ArrayLike, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward") -> Tensor:
    """Return the first half of ``fft`` of real numbers; the rest is its mirror image.

    Parameters
    ----------
    x : tensor-like
    n : int, optional
        How many elements are transformed: cut off, or filled up with zeros.
    axis : int
        The axis along which it is done.
    norm : "backward", "ortho" or "forward"
        Which direction is divided by the number of elements.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.fft.rfft(al.constant([1.0, 0.0, 0.0])))
    Tensor([1.+0.j 1.+0.j], shape=(2,), dtype=complex64)
    """
    return computed(np.fft.rfft, x, n=n, axis=axis, norm=norm)


@computing
def irfft(x: ArrayLike, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward") -> Tensor:
    """Return the inverse of ``rfft``, real numbers.

    Parameters
    ----------
    x : tensor-like
    n : int, optional
        How many elements are transformed: cut off, or filled up with zeros.
    axis : int
        The axis along which it is done.
    norm : "backward", "ortho" or "forward"
        Which direction is divided by the number of elements.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.fft.irfft(al.constant([4.0, 0.0, 0.0])))
    Tensor([1. 1. 1. 1.], shape=(4,), dtype=float32)
    """
    return computed(np.fft.irfft, x, n=n, axis=axis, norm=norm)


@computing
def hfft(x: ArrayLike, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward") -> Tensor:
    """Return ``fft`` of what is its own mirror image, conjugated: real numbers.

    Parameters
    ----------
    x : tensor-like
    n : int, optional
        How many elements are transformed: cut off, or filled up with zeros.
    axis : int
        The axis along which it is done.
    norm : "backward", "ortho" or "forward"
        Which direction is divided by the number of elements.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.fft.hfft(al.constant([1.0, 0.0, 0.0])))
    Tensor([1. 1. 1. 1.], shape=(4,), dtype=float32)
    """
    return computed(np.fft.hfft, x, n=n, axis=axis, norm=norm)


@computing
def ihfft(x: ArrayLike, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward") -> Tensor:
    """Return the inverse of ``hfft``.

    Parameters
    ----------
    x : tensor-like
    n : int, optional
        How many elements are transformed: cut off, or filled up with zeros.
    axis : int
        The axis along which it is done.
    norm : "backward", "ortho" or "forward"
        Which direction is divided by the number of elements.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.fft.ihfft(al.constant([4.0, 0.0, 0.0, 0.0])))
    Tensor([1.-0.j 1.-0.j 1.-0.j], shape=(3,), dtype=complex64)
    """
    return computed(np.fft.ihfft, x, n=n, axis=axis, norm=norm)


@computing
def fftn(
    x: ArrayLike, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: _Norm = "backward"
) -> Tensor:
    """Return the discrete Fourier transform along several axes.

    Parameters
    ----------
    x : tensor-like
    s : sequence of int, optional
        How many elements along each axis are transformed.
    axes : int or tuple of int, optional
        All by default.
    norm : "backward", "ortho" or "forward"
        Which direction is divided by the number of elements.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.fft.fftn(al.constant([[1.0, 0.0], [0.0, 0.0]])))
    Tensor([[1.+0.j 1.+0.j]
     [1.+0.j 1.+0.j]], shape=(2, 2), dtype=complex64)
    """
    return _along(np.fft.fftn, x, s, axes, norm)


@computing
def ifftn(
    x: ArrayLike, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: _Norm = "backward"
) -> Tensor:
    """Return the inverse of ``fftn``.

    Parameters
    ----------
    x : tensor-like
    s : sequence of int, optional
        How many elements along each axis are transformed.
    axes : int or tuple of int, optional
        All by default.
    norm : "backward", "ortho" or "forward"
        Which direction is divided by the number of elements.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.fft.ifftn(al.constant([[4.0, 0.0], [0.0, 0.0]])))
    Tensor([[1.+0.j 1.+0.j]
     [1.+0.j 1.+0.j]], shape=(2, 2), dtype=complex64)
    """
    return _along(np.fft.ifftn, x, s, axes, norm)


@computing
def rfftn(
    x: ArrayLike, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: _Norm = "backward"
) -> Tensor:
    """Return half of ``fftn`` of real numbers; the rest is its mirror image.

    Parameters
    ----------
    x : tensor-like
    s : sequence of int, optional
        How many elements along each axis are transformed.
    axes : int or tuple of int, optional
        All by default.
    norm : "backward", "ortho" or "forward"
        Which direction is divided by the number of elements.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.fft.rfftn(al.constant([[1.0, 0.0], [0.0, 0.0]])))
    Tensor([[1.+0.j 1.+0.j]
     [1.+0.j 1.+0.j]], shape=(2, 2), dtype=complex64)
    """
    return _along(np.fft.rfftn, x, s, axes, norm)


@computing
def irfftn(
    x: ArrayLike, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: _Norm = "backward"
) -> Tensor:
    """Return the inverse of ``rfftn``, real numbers.

    Parameters
    ----------
    x : tensor-like
    s : sequence of int, optional
        How many elements along each axis are transformed.
    axes : int or tuple of int, optional
        All by default.
    norm : "backward", "ortho" or "forward"
        Which direction is divided by the number of elements.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.fft.irfftn(al.constant([[4.0, 0.0], [0.0, 0.0]])))
    Tensor([[1. 1.]
     [1. 1.]], shape=(2, 2), dtype=float32)
    """
    return _along(np.fft.irfftn, x, s, axes, norm)


def _along(theirs: Any, x: ArrayLike, s: Sequence[int] | None, axes: Sequence[int] | None, norm: _Norm) -> Tensor:
    if s is not None and axes is None:
        axes = tuple(range(-len(s), 0))  # which NumPy wants to be said
    return computed(theirs, x, s=s, axes=axes, norm=norm)


@computing
def fftfreq(n: int, *, d: float = 1.0, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Return the frequencies of what ``fft`` of ``n`` samples gives, ``d`` apart; float32 by default.

    Parameters
    ----------
    n : int
        How many samples.
    d : float
        The distance of samples.
    dtype : dtype-like, optional
    device : "cpu", optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.fft.fftfreq(4))
    Tensor([ 0.    0.25 -0.5  -0.25], shape=(4,), dtype=float32)
    """
    return _frequencies(np.fft.fftfreq(n, d), dtype, device)


@computing
def rfftfreq(n: int, *, d: float = 1.0, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Return the frequencies of what ``rfft`` of ``n`` samples gives, ``d`` apart; float32 by default.

    Parameters
    ----------
    n : int
        How many samples.
    d : float
        The distance of samples.
    dtype : dtype-like, optional
    device : "cpu", optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.fft.rfftfreq(4))
    Tensor([0.   0.25 0.5 ], shape=(3,), dtype=float32)
    """
    return _frequencies(np.fft.rfftfreq(n, d), dtype, device)


def _frequencies(values: Any, dtype: DTypeLike | None, device: str | None) -> Tensor:
    check_device(device, "fftfreq")
    return ops.cast(constant(values), dtypes.DEFAULTS[float] if dtype is None else dtype)


@computing
def fftshift(x: ArrayLike, *, axes: Axes | None = None) -> Tensor:
    """Return transforms with the frequency 0 in the middle of the axes, of all by default.

    Parameters
    ----------
    x : tensor-like
    axes : int or tuple of int, optional
        All by default.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.fft.fftshift(al.constant([0, 1, 2, 3])))
    Tensor([2 3 0 1], shape=(4,), dtype=int32)
    """
    return computed(np.fft.fftshift, x, axes=axes)


@computing
def ifftshift(x: ArrayLike, *, axes: Axes | None = None) -> Tensor:
    """Return the inverse of ``fftshift``.

    Parameters
    ----------
    x : tensor-like
    axes : int or tuple of int, optional
        All by default.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.fft.ifftshift(al.constant([2, 3, 0, 1])))
    Tensor([0 1 2 3], shape=(4,), dtype=int32)
    """
    return computed(np.fft.ifftshift, x, axes=axes)


__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn",
    "rfft", "rfftfreq", "rfftn",
]  # fmt: skip
__dir__ = listing(globals())
