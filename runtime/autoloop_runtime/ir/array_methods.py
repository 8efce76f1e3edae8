"""ndarray's methods and attributes on tensors, each with the parameters that ndarray's own has.

They lead to what NumPy's functions mean where tensors take part (``numpy_protocols``); no rule is known here. A method
that has no function of its name (``x.view``) is entered there under ndarray's method itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.dtypes import of_numbers, warn_of_discarded
from ..base.stand_ins import cast_refused
from .numpy_arguments import ask_of_odd, refuse, refuse_none
from .numpy_protocols import counterpart_of
from .op import call

if TYPE_CHECKING:
    from ..base.dtypes import DType
    from .argument_types import ArrayLike, Axes, DimsLike, DTypeLike
    from .tensor import Tensor

#: the default of arguments that NumPy tells apart from None
_ABSENT: Any = getattr(np, "_NoValue", None)


def _numpy(theirs: Any) -> Callable[..., Tensor]:
    """Return what a function, or a method of ndarray's, means where tensors take part."""
    found = counterpart_of(theirs)
    if found is None:
        raise TypeError(f"{theirs.__name__} is not available on tensors; use autoloop's functions or py_function")
    return found


class Methods:
    """What gives a new value."""

    __slots__ = ()

    if TYPE_CHECKING:
        dtype: DType

        @property
        def ndim(self) -> int: ...

    @property
    def T(self) -> Tensor:
        """The transpose."""
        made: Tensor = call("transpose", self)
        return made

    @property
    def mT(self) -> Tensor:
        """The transposes of the matrices in the last two axes."""
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        made: Tensor = call("swapaxes", self, -1, -2)
        return made

    @property
    def real(self) -> Tensor:
        """The real part."""
        return _numpy(np.real)(self)

    @property
    def imag(self) -> Tensor:
        """The imaginary part; zeros of a real array."""
        return _numpy(np.imag)(self)

    @property
    def flat(self) -> Tensor:
        """The elements as a vector, to run over or to take some of."""
        return _numpy(np.ravel)(self)

    def all(self, axis: Axes | None = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Tensor:
        """Return ``np.all(self, ...)``."""
        return _numpy(np.all)(self, axis, out, keepdims, **_given(where=where))

    def any(self, axis: Axes | None = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Tensor:
        """Return ``np.any(self, ...)``."""
        return _numpy(np.any)(self, axis, out, keepdims, **_given(where=where))

    def argmax(self, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Tensor:
        """Return ``np.argmax(self, ...)``."""
        return _numpy(np.argmax)(self, axis, out, keepdims=keepdims)

    def argmin(self, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Tensor:
        """Return ``np.argmin(self, ...)``."""
        return _numpy(np.argmin)(self, axis, out, keepdims=keepdims)

    def argpartition(self, kth: Any, /, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Tensor:
        """Return ``np.argpartition(self, ...)``."""
        return _numpy(np.argpartition)(self, kth, axis, kind, order)

    def argsort(self, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Tensor:
        """Return ``np.argsort(self, ...)``."""
        return _numpy(np.argsort)(self, axis, kind, order, **_given(stable=stable))

    def astype(
        self, dtype: DTypeLike, order: Any = "K", casting: Any = "unsafe", subok: Any = True, copy: Any = True
    ) -> Tensor:
        """Return ``self`` with its elements converted to ``dtype``; what its order in memory is cannot be seen."""
        if subok is None:
            refuse_none("astype", "subok")
        if order != "K" or subok is not True:
            ask_of_odd(np.ndarray.astype, {"order": order, "subok": subok}, self, dtype)
        wanted = of_numbers(dtype)
        if casting != "unsafe" and not np.can_cast(self.dtype, wanted, casting):
            raise cast_refused(self.dtype, wanted, casting)
        warn_of_discarded(self.dtype, wanted)
        made: Tensor = call("cast", self, wanted)
        return made

    def byteswap(self, inplace: Any = False) -> Tensor:
        """Return ``self`` with the bytes of each element in reverse."""
        return _numpy(np.ndarray.byteswap)(self, inplace)

    def choose(self, *choices: Any, out: Any = None, mode: Any = "raise") -> Tensor:
        """Return ``np.choose(self, ...)``: of one sequence, or of several arguments."""
        return _numpy(np.choose)(self, choices[0] if len(choices) == 1 else choices, out, mode)

    def clip(self, /, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Tensor:
        """Return ``np.clip(self, ...)``."""
        return _numpy(np.clip)(self, min, max, out, **kwargs)

    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Tensor:
        """Return ``np.compress(condition, self, ...)``."""
        return _numpy(np.compress)(condition, self, axis, out)

    def conj(self, out: Any = None, /) -> Tensor:
        """Return the complex conjugate; what is not complex has itself."""
        if out is not None:
            return np.conjugate(self, out=out)  # type: ignore[call-overload, no-any-return]
        made: Tensor = call("conj" if self.dtype.kind == "c" else "identity", self)
        return made

    def conjugate(self, out: Any = None, /) -> Tensor:
        """Return the same as ``conj``."""
        return self.conj(out)

    def copy(self, order: Any = "C") -> Tensor:
        """Return a tensor of its own; what its order in memory is cannot be seen."""
        if order != "C":
            ask_of_odd(np.ndarray.copy, {"order": order}, self)
        made: Tensor = call("identity", self)
        return made

    def cumprod(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Tensor:
        """Return ``np.cumprod(self, ...)``."""
        return _numpy(np.cumprod)(self, axis, dtype, out)

    def cumsum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Tensor:
        """Return ``np.cumsum(self, ...)``."""
        return _numpy(np.cumsum)(self, axis, dtype, out)

    def diagonal(self, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tensor:
        """Return ``np.diagonal(self, ...)``."""
        return _numpy(np.diagonal)(self, offset, axis1, axis2)

    def dot(self, b: ArrayLike, out: Any = None) -> Tensor:
        """Return ``np.dot(self, b)``."""
        return _numpy(np.dot)(self, b, out)

    def flatten(self, order: Any = "C") -> Tensor:
        """Return the elements as a vector."""
        return _numpy(np.ravel)(self, order)

    def getfield(self, dtype: DTypeLike, offset: Any = 0) -> Tensor:
        """Return a part of the bytes of each element as of another dtype."""
        return _numpy(np.ndarray.getfield)(self, dtype, offset)

    def max(
        self,
        axis: Axes | None = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = _ABSENT,
        where: Any = True,
    ) -> Tensor:
        """Return ``np.max(self, ...)``."""
        return _numpy(np.max)(self, axis, out, keepdims, initial, **_given(where=where))

    def mean(
        self, axis: Axes | None = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
    ) -> Tensor:
        """Return ``np.mean(self, ...)``."""
        return _numpy(np.mean)(self, axis, dtype, out, keepdims, **_given(where=where))

    def min(
        self,
        axis: Axes | None = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = _ABSENT,
        where: Any = True,
    ) -> Tensor:
        """Return ``np.min(self, ...)``."""
        return _numpy(np.min)(self, axis, out, keepdims, initial, **_given(where=where))

    def nonzero(self) -> tuple[Tensor, ...]:
        """Return ``np.nonzero(self)``."""
        found: Any = _numpy(np.nonzero)(self)
        return tuple(found)

    def prod(
        self, axis: Axes | None = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
        initial: Any = _ABSENT, where: Any = True,
    ) -> Tensor:  # fmt: skip
        """Return ``np.prod(self, ...)``."""
        return _numpy(np.prod)(self, axis, dtype, out, keepdims, initial, **_given(where=where))

    def ravel(self, order: Any = "C") -> Tensor:
        """Return ``np.ravel(self)``."""
        return _numpy(np.ravel)(self, order)

    def repeat(self, repeats: Any, /, axis: Any = None) -> Tensor:
        """Return ``np.repeat(self, ...)``."""
        return _numpy(np.repeat)(self, repeats, axis)

    def reshape(self, /, *shape: DimsLike, order: Any = "C", copy: Any = None) -> Tensor:
        """Return ``np.reshape(self, shape)``; without ``copy`` NumPy could give a view, which nobody sees."""
        if copy is False:
            refuse("reshape", "copy")
        return _numpy(np.reshape)(self, shape[0] if len(shape) == 1 else shape, order)

    def round(self, decimals: Any = 0, out: Any = None) -> Tensor:
        """Return ``np.round(self, ...)``."""
        return _numpy(np.round)(self, decimals, out)

    def searchsorted(self, v: ArrayLike, side: Any = "left", sorter: Any = None) -> Tensor:
        """Return ``np.searchsorted(self, v, ...)``."""
        return _numpy(np.searchsorted)(self, v, side, sorter)

    def squeeze(self, axis: Axes | None = None) -> Tensor:
        """Return ``np.squeeze(self, axis)``."""
        return _numpy(np.squeeze)(self, axis)

    def std(
        self, axis: Axes | None = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
        where: Any = True, mean: Any = _ABSENT,
    ) -> Tensor:  # fmt: skip
        """Return ``np.std(self, ...)``."""
        return _numpy(np.std)(self, axis, dtype, out, ddof, keepdims, **_given(where=where, mean=mean))

    def sum(
        self, axis: Axes | None = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
        initial: Any = _ABSENT, where: Any = True,
    ) -> Tensor:  # fmt: skip
        """Return ``np.sum(self, ...)``."""
        return _numpy(np.sum)(self, axis, dtype, out, keepdims, initial, **_given(where=where))

    def swapaxes(self, axis1: Any, axis2: Any, /) -> Tensor:
        """Return ``np.swapaxes(self, axis1, axis2)``."""
        return _numpy(np.swapaxes)(self, axis1, axis2)

    def take(self, indices: ArrayLike, /, axis: Any = None, out: Any = None, mode: Any = "raise") -> Tensor:
        """Return ``np.take(self, indices, ...)``."""
        return _numpy(np.take)(self, indices, axis, out, mode)

    def trace(self, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None) -> Tensor:
        """Return ``np.trace(self, ...)``."""
        return _numpy(np.trace)(self, offset, axis1, axis2, dtype, out)

    def transpose(self, /, *axes: Any) -> Tensor:
        """Return ``np.transpose(self, axes)``."""
        return _numpy(np.transpose)(self, axes[0] if len(axes) == 1 and not _is_axis(axes[0]) else axes or None)

    def var(
        self, axis: Axes | None = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
        where: Any = True, mean: Any = _ABSENT,
    ) -> Tensor:  # fmt: skip
        """Return ``np.var(self, ...)``."""
        return _numpy(np.var)(self, axis, dtype, out, ddof, keepdims, **_given(where=where, mean=mean))

    def view(self, /, *args: Any, **kwargs: Any) -> Tensor:
        """Return the bytes of ``self`` as elements of another dtype."""
        return _numpy(np.ndarray.view)(self, *args, **kwargs)


for _name, _method in vars(Methods).items():
    if callable(_method) and not _name.startswith("__"):
        _method.__qualname__ = f"ndarray.{_name}"  # what Python says of arguments that do not fit


def _given(**arguments: Any) -> dict[str, Any]:
    """Return the arguments that ask for anything: a function's default of ``where`` is not always a method's."""
    return {name: value for name, value in arguments.items() if value is not True and value is not _ABSENT
            and (value is not None or name == "where")}  # fmt: skip


def _is_axis(value: Any) -> bool:
    return hasattr(value, "__index__") and not (isinstance(value, np.ndarray) and value.ndim)
