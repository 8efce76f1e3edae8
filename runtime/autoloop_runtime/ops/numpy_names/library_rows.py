"""Rows whose kernels are NumPy's or SciPy's own functions: dtypes by a trial, shapes by a rule, no machine code."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ...base.dtypes import DType
from ...base.shapes import TensorShape
from ...base.stand_ins import UnknownExtent
from ...ir.apply import apply, apply_several
from ...ir.op import Op, numpys_alone
from ...ir.prices import Price
from ...ir.tensor import Tensor
from ...ir.traits import OPAQUE, NoRule, Traits
from ..broadcasting import broadcast_static
from ..define import Function, primitive
from ..reducing import reduced
from .counterparts import as_operand

#: what a row states of which nothing more is said
LIBRARY = OPAQUE.but(price=Price.FUNCTION)
#: ``"same"``, ``"broadcast"``, ``"reduced"``, ``"unknown"``, or ``rule(*tensors, **attrs)``
Shape: TypeAlias = str | Callable[..., Any]
#: extents of what a kernel is tried on: some take no single element, matrices of ones have no inverse
_TRIED = (1, 2, 3, 8)


#: ops of which the kernel is tried on small arrays to find dtypes; added to while modules are imported
TRIED: set[Op] = set()


class Library:
    """A function of tensors that NumPy or SciPy computes."""

    def __init__(self, op: Op) -> None:
        self.op = op

    def __call__(self, *inputs: Any, **attrs: Any) -> Any:
        tensors = [as_operand(x) for x in inputs]
        return apply_several(self.op, tensors, attrs) if self.op.several else apply(self.op, tensors, attrs)


def library(
    name: str, kernel: Function, shape: Shape | Sequence[Shape], vjp: Function | NoRule, *,
    dtype: Function | None = None, traits: Traits = LIBRARY, **options: Any,
) -> Library:  # fmt: skip
    """Declare a row.

    Parameters
    ----------
    name : str
        Unique; nodes are named after it.
    kernel : callable
        ``kernel(*arrays, **attrs)``, usually NumPy's function; it must not change its inputs.
    shape : str, callable, or list of them
        The shape of the result; a list of them is of several outputs, as a tuple or list that the kernel gives.
    vjp : callable or NoRule
        ``vjp(g, outputs, inputs, attrs)``, see ``Op``.
    dtype : callable, optional
        ``dtype(*tensors, **attrs)`` gives the dtype (or list of dtypes) where no trial can tell.
    traits : Traits
        Where more is known than that it costs a function of each element.
    options
        Of the ``Op``, such as ``code_of=calls("np.fft.fft", "n", "axis", "norm")``, which has generated code call
        NumPy's function by itself.

    Returns
    -------
    Library
        What applies it: inputs by place, attributes by name.
    """
    several = isinstance(shape, (list, tuple))
    rules: list[Shape] = [shape] if isinstance(shape, str) or callable(shape) else list(shape)
    tried = _Trials(name, kernel, len(rules) if several else None)

    def infer(*tensors: Tensor, **attrs: Any) -> Any:
        if dtype is None:
            found = tried.of(tensors, attrs)
        else:
            stated = dtype(*tensors, **attrs)
            found = [(one, None) for one in (stated if several else [stated])]
        specs = [(one, _shape(name, rule, rank, tensors, attrs)) for (one, rank), rule in zip(found, rules)]
        return specs if several else specs[0]

    def run(*arrays: Any, **attrs: Any) -> Any:
        made = kernel(*arrays, **attrs)
        return tuple([_value(one) for one in made]) if several else _value(made)

    computed = kernel if isinstance(kernel, np.ufunc) and not several else run  # a ufunc gives what a kernel must
    made = primitive(name, infer, computed, vjp, traits=traits, several=several, **options)
    if not (traits.elementwise and isinstance(kernel, np.ufunc)):  # others may have that, too
        numpys_alone("it is a function of NumPy's or SciPy's alone", made)
    if dtype is None:
        TRIED.add(made)
    return Library(made)


def _value(made: Any) -> Any:
    return made[()] if isinstance(made, np.ndarray) and made.ndim == 0 else made if hasattr(made, "dtype") else \
        np.asarray(made)[()]  # fmt: skip


class _Trials:
    """What a kernel gives for dtypes and ranks: the dtype and the rank of each output."""

    def __init__(self, name: str, kernel: Function, count: int | None) -> None:
        self.name = name
        self.kernel = kernel
        self.count = count
        #: races fill it twice with the same
        self.known: dict[Any, list[tuple[DType, int]]] = {}

    def of(self, tensors: Sequence[Tensor], attrs: dict[str, Any]) -> list[Any]:
        for tensor in tensors:
            if tensor.shape.rank is None:
                raise UnknownExtent(f"{self.name}: the rank of the operand must be known; declare it with set_shape")
        key = (tuple([(t.dtype, t.shape.rank) for t in tensors]), tuple(attrs.items()))
        try:
            found = self.known.get(key)
        except TypeError:  # an attribute that is not hashable
            return self._try(tensors, attrs)
        if found is None:
            found = self.known[key] = self._try(tensors, attrs)
        return found

    def _try(self, tensors: Sequence[Tensor], attrs: dict[str, Any]) -> list[tuple[DType, int]]:
        first: Exception | None = None
        for extent in _TRIED:
            given = [np.ones((extent,) * len(t.shape), t.dtype)[()] for t in tensors]
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    made = self.kernel(*given, **attrs)
            except Exception as error:
                first = first or error
                continue
            parts = [made] if self.count is None else list(made)
            assert len(parts) == (self.count or 1), f"the kernel of {self.name!r} gave {len(parts)} values"
            return [(np.asarray(part).dtype, np.ndim(part)) for part in parts]
        assert first is not None
        raise first


def _shape(name: str, rule: Shape, rank: int | None, tensors: Sequence[Tensor], attrs: dict[str, Any]) -> TensorShape:
    made: Any
    if callable(rule):
        made = rule(*tensors, **attrs)
    elif rule == "same":
        made = tensors[0].shape
    elif rule == "broadcast":
        made = broadcast_static(name, *tensors)
    elif rule == "reduced":
        made = reduced(tensors[0].shape, attrs["axis"], attrs.get("keepdims", False))
    else:
        assert rule == "unknown", rule
        made = None if rank is None else [None] * rank
    shape = TensorShape(made)
    assert rank is None or shape.rank in (rank, None), f"{name}: the kernel gives rank {rank}, not shape {shape}"
    return shape
