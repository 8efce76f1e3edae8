"""The value type: a concrete array, or the promise of one.

A ``Tensor`` is immutable. It is *concrete* when it holds a NumPy array, and *symbolic* when it is an output of
a node of a graph. Operators, slicing and NumPy's protocols lead to the op table through ``registry.call``;
this file knows no op.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..base import dtypes, nest
from ..base.dtypes import DType
from ..base.shapes import ShapeLike, TensorShape
from .numpy_arguments import Counterpart, full_name, is_augmented, is_neutral, only_neutral, refuse
from .op import CONST, call
from .recorders import refuse_leaving

if TYPE_CHECKING:
    from .argument_types import ArrayLike, Axes, DimsLike, DTypeLike, IndexLike
    from .graph import Graph
    from .node import Node

#: ufunc of NumPy's -> our public function; filled by the ops floor, as is the next
NUMPY_UFUNCS: dict[Any, Callable[..., Any]] = {}
#: function of NumPy's -> ours, under its arguments
NUMPY_FUNCTIONS: dict[Any, Counterpart] = {}

#: ``call`` of what gives a tensor
_made: Callable[..., Tensor] = call

#: what to write where a derivative would get lost
_OURS = "Use autoloop's functions and operators on the tensor itself (autoloop.exp(x), x < 1, w[i])"


def _has_floats(value: Any) -> bool:
    """Return true for floats and complex numbers, and for sequences and arrays that hold some."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":  # what np.frompyfunc gives
        value = value.ravel().tolist()
    if isinstance(value, (list, tuple)):
        return any(map(_has_floats, value))
    return isinstance(value, (float, complex)) or (
        isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc"
    )


class Tensor:
    """An immutable n-dimensional array, computed now or later.

    Made by ``constant``, ``convert_to_tensor`` and every op; not by calling this class.

    Attributes
    ----------
    dtype : numpy.dtype
        The element type.
    shape : TensorShape
        What is known of the shape.
    name : str
        ``"node:output"`` for a symbolic tensor.
    op : Node
        The node that computes it (symbolic tensors only).
    """

    __slots__ = ("__weakref__", "_shape", "_value", "declared", "dtype", "index", "node")
    __array_priority__ = 1000

    dtype: DType
    node: Node | None
    index: int

    def __init__(
        self,
        value: Any = None,
        dtype: DType | None = None,
        shape: TensorShape | None = None,
        node: Node | None = None,
        index: int = 0,
    ) -> None:
        self._value = value
        self.node = node
        self.index = index
        #: what ``set_shape`` promised, to be checked when the value exists
        self.declared: TensorShape | None = None
        if node is None:
            self.dtype = value.dtype
            self._shape = None
        else:
            assert dtype is not None and shape is not None
            self.dtype = dtype
            self._shape = shape

    # -- what is known ------------------------------------------------------------------------------------

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape; fully defined for a concrete tensor."""
        shape = self._shape
        if shape is None:
            shape = self._shape = TensorShape(self._value.shape)
        return shape

    def get_shape(self) -> TensorShape:
        """Return the same as ``shape``."""
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Declare more about the static shape than could be inferred.

        Raises
        ------
        ValueError
            Now if ``shape`` contradicts what is known; at run time if the value does not have it.
        """
        merged = _merge(self, shape)
        if self.node is not None and merged != self.shape:
            self.declared = self._shape = merged
            self.node.graph.root.declarations += 1

    @property
    def ndim(self) -> int:
        """The rank (``ValueError`` if unknown)."""
        return len(self.shape.known)

    @property
    def size(self) -> int:
        """The number of elements (``ValueError`` unless the shape is fully defined)."""
        return int(np.prod(self.shape.as_tuple(), dtype=np.int64))

    @property
    def is_symbolic(self) -> bool:
        """True if the value is computed by a graph."""
        return self.node is not None

    @property
    def graph(self) -> Graph | None:
        """The graph this tensor belongs to, ``None`` for a concrete one."""
        return None if self.node is None else self.node.graph

    @property
    def op(self) -> Node:
        """The node that computes this tensor."""
        if self.node is None:
            raise AttributeError("a concrete tensor has no op: it is a value, not part of a graph")
        return self.node

    @property
    def name(self) -> str:
        """``"node:output"``; ``"constant"`` for a concrete tensor."""
        return "constant" if self.node is None else f"{self.node.name}:{self.index}"

    def constant_value(self) -> np.ndarray[Any, Any] | None:
        """Return the value if it is known while the graph is built, else ``None``.

        A session may feed another, see ``fixed_value``: shapes may be inferred of this one, nothing else.
        """
        source = self.source
        if source.node is None:
            return np.asarray(source._value)
        return np.asarray(source.node.attrs["value"]) if source.node.op is CONST else None

    def fixed_value(self) -> np.ndarray[Any, Any] | None:
        """Return the value if it is known and no session can feed another, else ``None``."""
        return None if self.is_feedable else self.constant_value()

    def settled_value(self, what: str) -> np.ndarray[Any, Any] | None:
        """Return the value if it is known, which then goes into the graph as ``what``:
        no other may be fed from now on."""
        value = self.constant_value()
        if value is not None and self.is_feedable:
            source = self.source
            source.op.graph.settled[source] = what
        return value

    @property
    def awaited(self) -> frozenset[Tensor]:
        """What its operation waits for without using it (control dependencies), where that was made."""
        source = self.source
        return frozenset([t.source for t in source.node.control_inputs] if source.node is not None else ())

    @property
    def is_feedable(self) -> bool:
        """Whether a session may be given another value for this tensor, or for one that it is computed from."""
        if self.node is None or self.node.graph.ordered:
            return False
        return self.node.graph.parent is None or self.node.op is not CONST

    @property
    def source(self) -> Tensor:
        """What this tensor was captured from, or itself."""
        source: Tensor | None = self
        while source is not None:
            found = source
            source = None if found.node is None else found.node.graph.outside(found)
        return found

    # -- the value ----------------------------------------------------------------------------------------

    @property
    def value(self) -> Any:
        """The array or NumPy scalar (not to be written to); concrete tensors only."""
        if self.node is not None:
            self._refuse("a value")
        return self._value

    def numpy(self) -> Any:
        """Return the value as a read-only ndarray, or as a NumPy scalar when it has no dimensions."""
        if self.node is not None:
            self._refuse("a value (.numpy())")
        value = self._value
        if isinstance(value, np.ndarray):
            if value.ndim == 0:
                return value[()]
            view = value.view()
            view.flags.writeable = False
            return view
        return value

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Run the graph for this tensor in ``session`` or the default session (1.x)."""
        return call("eval", self, feed_dict, session)

    def item(self) -> Any:
        """Return the one element as a Python number."""
        return self.numpy().item()

    def tolist(self) -> Any:
        """Return the value as nested lists of Python numbers."""
        return self.numpy().tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if self.node is not None:
            self._refuse("an array (numpy.asarray)")
        refuse_leaving(self, "an array (numpy.asarray)", _OURS)
        out = np.asarray(self._value, dtype=dtype)
        return out.copy() if copy or copy is None else out

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        out = kwargs.pop("out", None)
        if out is not None and not (out[0] is inputs[0] and is_augmented(sys._getframe(1))):
            refuse(f"numpy.{name}", "out")
        ours = NUMPY_UFUNCS.get(ufunc)
        if method != "__call__" or ours is None:
            return self._without_counterpart(name, getattr(ufunc, method), inputs, kwargs)
        only_neutral(f"numpy.{name}", kwargs)
        return ours(*inputs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        ours = NUMPY_FUNCTIONS.get(func)
        if ours is None:
            if not is_neutral("out", kwargs.get("out")):
                refuse(full_name(func), "out")
            return self._without_counterpart(func.__name__, func, args, kwargs)
        return ours(*args, **kwargs)

    def _without_counterpart(self, name: str, func: Any, args: Any, kwargs: Any) -> Any:
        """Answer for a NumPy function we have no op for: computed now if every argument is a value."""

        ours: list[Tensor] = []

        def concrete(arg: Any) -> Any:
            if isinstance(arg, Tensor):
                if arg.node is not None:
                    raise TypeError(
                        f"numpy.{name} has no counterpart for a symbolic tensor; use autoloop's functions "
                        f"or py_function (tensor {arg.name})"
                    )
                ours.append(arg)
                return arg._value
            return type(arg)(map(concrete, arg)) if isinstance(arg, (list, tuple)) else arg

        made = func(*map(concrete, args), **{k: concrete(v) for k, v in kwargs.items()})
        if (made is None and any(isinstance(arg, np.ndarray) for arg in args)) or _has_floats(made):
            for tensor in ours:
                refuse_leaving(tensor, f"numpy.{name} (which has no counterpart here)", _OURS)
        return made

    # -- Python's protocols -------------------------------------------------------------------------------

    def _refuse(self, wanted: str) -> NoReturn:
        node = self.node
        assert node is not None
        line = f" (made at {node.location[-1]})" if node.location else ""
        raise TypeError(
            f"tensor {self.name!r} of shape {self.shape} and dtype {self.dtype} is symbolic: it has no value "
            f"while the graph is built{line}, so it cannot be used as {wanted}. Decorate the code with "
            f"@autoloop.function so that if/while/for on tensors are converted, or use autoloop.cond, "
            f"autoloop.while_loop or autoloop.where; to get its value return it from the function or run a Session"
        )

    def __bool__(self) -> bool:
        if self.node is not None:
            self._refuse("a Python bool")
        if self._value.size != 1:
            raise ValueError(
                f"the truth value of a tensor of shape {self.shape} is ambiguous; use autoloop.any or autoloop.all"
            )
        return bool(self._value)

    def __int__(self) -> int:
        if self.node is not None:
            self._refuse("a Python int")
        return int(self._value)

    def __float__(self) -> float:
        if self.node is not None:
            self._refuse("a Python float")
        refuse_leaving(self, "a Python float", _OURS)
        return float(self._value)

    def __complex__(self) -> complex:
        if self.node is not None:
            self._refuse("a Python complex")
        refuse_leaving(self, "a Python complex", _OURS)
        return complex(self._value)

    def __index__(self) -> int:
        if self.node is not None:
            self._refuse("a Python int (an index)")
        if self.dtype.kind not in "iu" or self._value.size != 1:
            raise TypeError(f"a tensor of dtype {self.dtype} and shape {self.shape} is no index")
        return int(self._value)

    def __len__(self) -> int:
        if self.node is not None:
            self._refuse("something with a len()")
        if self._value.ndim == 0:
            raise TypeError("a tensor without dimensions has no len()")
        return int(self._value.shape[0])

    def __iter__(self) -> Iterator[Any]:
        if self.node is not None:
            self._refuse("an iterable (autoloop.unstack gives the rows where their number is known)")
        if self._value.ndim == 0:
            raise TypeError("a tensor without dimensions is not iterable")
        return iter(call("unstack", self))

    def __contains__(self, item: Any) -> bool:
        return bool(call("any", call("equal", self, item)))

    __hash__ = object.__hash__  # by identity, and without a call

    def __repr__(self) -> str:
        if self.node is not None:
            return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self.dtype}>"
        text = np.array2string(np.asarray(self._value), separator=", ")
        array = text if np.ndim(self._value) == 0 else repr(np.asarray(self._value))
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype}, numpy={array}>"

    def __str__(self) -> str:
        if self.node is not None:
            return f"Tensor({self.name!r}, shape={self.shape}, dtype={self.dtype})"
        return f"tf.Tensor({np.asarray(self._value)!s}, shape={self.shape}, dtype={self.dtype})"

    def __format__(self, spec: str) -> str:
        if self.node is None and np.ndim(self._value) == 0:
            return format(self.numpy(), spec)
        if self.node is not None and spec:
            self._refuse(f"text in the format {spec!r} (autoloop.print shows values when they are there)")
        return format(str(self), spec)

    def __getstate__(self) -> Any:
        refuse_leaving(self, "a pickle", _OURS)
        return object.__getstate__(self)

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    @property
    def T(self) -> Tensor:
        """The transpose."""
        return _made("transpose", self)

    def astype(
        self, dtype: DTypeLike, order: Any = "K", casting: Any = "unsafe", subok: Any = True, copy: Any = True
    ) -> Tensor:
        """Return ``cast(self, dtype)``."""
        if casting != "unsafe":
            refuse("astype", "casting")
        only_neutral("astype", {"order": order, "subok": subok})
        return _made("cast", self, dtype)

    def reshape(self, *shape: DimsLike, order: Any = "C", copy: Any = None) -> Tensor:
        """Return ``reshape(self, shape)``."""
        if order != "C":
            refuse("reshape", "order")
        return _made("reshape", self, shape[0] if len(shape) == 1 else shape)

    def sum(
        self, axis: Axes | None = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **more: Any
    ) -> Tensor:
        """Return ``sum(self, axis)``; the arguments are those of NumPy's method."""
        return _reduced("sum", self, axis, keepdims, dtype=dtype, out=out, **more)

    def mean(
        self, axis: Axes | None = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **more: Any
    ) -> Tensor:
        """Return ``mean(self, axis)``; the arguments are those of NumPy's method."""
        return _reduced("mean", self, axis, keepdims, dtype=dtype, out=out, **more)

    def max(self, axis: Axes | None = None, out: Any = None, keepdims: Any = False, **more: Any) -> Tensor:
        """Return ``max(self, axis)``; the arguments are those of NumPy's method."""
        return _reduced("max", self, axis, keepdims, out=out, **more)

    def min(self, axis: Axes | None = None, out: Any = None, keepdims: Any = False, **more: Any) -> Tensor:
        """Return ``min(self, axis)``; the arguments are those of NumPy's method."""
        return _reduced("min", self, axis, keepdims, out=out, **more)

    def __getitem__(self, index: IndexLike) -> Tensor:
        return _made("getitem", self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "a tensor cannot be changed in place; inside a converted function v[i] = x rebinds v, elsewhere "
            "use v = autoloop.set_item(v, i, x)"
        )

    def __neg__(self) -> Tensor:
        return _made("negative", self)

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return _made("abs", self)

    def __invert__(self) -> Tensor:
        return _made("invert", self)

    def __round__(self, ndigits: int | None = None) -> Tensor:
        return _made("round", self, *(() if ndigits is None else (ndigits,)))

    def __divmod__(self, other: ArrayLike) -> tuple[Tensor, Tensor]:
        return _made("floor_divide", self, other), _made("mod", self, other)

    def __rdivmod__(self, other: ArrayLike) -> tuple[Tensor, Tensor]:
        return _made("floor_divide", other, self), _made("mod", other, self)

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]
        return NotImplemented if _foreign(other) else _made("equal", self, other)

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]
        return NotImplemented if _foreign(other) else _made("not_equal", self, other)

    if TYPE_CHECKING:  # the binary operators are made in a loop below

        def __add__(self, other: ArrayLike) -> Tensor: ...
        def __radd__(self, other: ArrayLike) -> Tensor: ...
        def __sub__(self, other: ArrayLike) -> Tensor: ...
        def __rsub__(self, other: ArrayLike) -> Tensor: ...
        def __mul__(self, other: ArrayLike) -> Tensor: ...
        def __rmul__(self, other: ArrayLike) -> Tensor: ...
        def __truediv__(self, other: ArrayLike) -> Tensor: ...
        def __rtruediv__(self, other: ArrayLike) -> Tensor: ...
        def __floordiv__(self, other: ArrayLike) -> Tensor: ...
        def __rfloordiv__(self, other: ArrayLike) -> Tensor: ...
        def __mod__(self, other: ArrayLike) -> Tensor: ...
        def __rmod__(self, other: ArrayLike) -> Tensor: ...
        def __pow__(self, other: ArrayLike) -> Tensor: ...
        def __rpow__(self, other: ArrayLike) -> Tensor: ...
        def __matmul__(self, other: ArrayLike) -> Tensor: ...
        def __rmatmul__(self, other: ArrayLike) -> Tensor: ...
        def __and__(self, other: ArrayLike) -> Tensor: ...
        def __rand__(self, other: ArrayLike) -> Tensor: ...
        def __or__(self, other: ArrayLike) -> Tensor: ...
        def __ror__(self, other: ArrayLike) -> Tensor: ...
        def __xor__(self, other: ArrayLike) -> Tensor: ...
        def __rxor__(self, other: ArrayLike) -> Tensor: ...
        def __lshift__(self, other: ArrayLike) -> Tensor: ...
        def __rlshift__(self, other: ArrayLike) -> Tensor: ...
        def __rshift__(self, other: ArrayLike) -> Tensor: ...
        def __rrshift__(self, other: ArrayLike) -> Tensor: ...
        def __lt__(self, other: ArrayLike) -> Tensor: ...
        def __le__(self, other: ArrayLike) -> Tensor: ...
        def __gt__(self, other: ArrayLike) -> Tensor: ...
        def __ge__(self, other: ArrayLike) -> Tensor: ...


def _reduced(name: str, x: Tensor, axis: Axes | None, keepdims: Any, **more: Any) -> Tensor:
    only_neutral(name, more)
    return _made(name, x, axis=axis, keepdims=keepdims)


nest.opaque(Tensor)

#: Python's binary operators and the public functions behind them
_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "mod", "pow": "pow", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
_COMPARISONS = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}


def _foreign(other: Any) -> bool:
    """Return true for operands that are not ours to combine with: None, a string, what opts out as NumPy lets it."""
    return (
        other is None
        or isinstance(other, (str, bytes, type, dict))
        or getattr(type(other), "__array_ufunc__", _foreign) is None
    )


#: types of operands that need no closer look
_FAMILIAR = frozenset({Tensor, np.ndarray, bool, int, float})


def _operator(name: str, reflected: bool) -> Callable[[Tensor, Any], Any]:
    def forward(self: Tensor, other: Any) -> Any:
        return NotImplemented if type(other) not in _FAMILIAR and _foreign(other) else call(name, self, other)

    def backward(self: Tensor, other: Any) -> Any:
        return NotImplemented if type(other) not in _FAMILIAR and _foreign(other) else call(name, other, self)

    return backward if reflected else forward


def _joins_text(tensor: Tensor, other: Any) -> bool:
    return tensor.dtype.kind == "U" and (
        isinstance(other, str) or (isinstance(other, Tensor) and other.dtype.kind == "U")
    )


for _dunder, _name in {**_BINARY, **_COMPARISONS}.items():
    setattr(Tensor, f"__{_dunder}__", _operator(_name, False))
for _dunder, _name in _BINARY.items():
    setattr(Tensor, f"__r{_dunder}__", _operator(_name, True))


def _add(self: Tensor, other: Any) -> Any:
    return call("format", "{}{}", self, other) if _joins_text(self, other) else _add_numbers(self, other)


def _radd(self: Tensor, other: Any) -> Any:
    return call("format", "{}{}", other, self) if _joins_text(self, other) else _radd_numbers(self, other)


_add_numbers, _radd_numbers = _operator("add", False), _operator("add", True)
Tensor.__add__, Tensor.__radd__ = _add, _radd  # type: ignore[method-assign]


def _merge(tensor: Tensor, shape: ShapeLike) -> TensorShape:
    try:
        return tensor.shape.merge_with(shape)
    except ValueError:
        raise ValueError(
            f"set_shape({TensorShape(shape)}) contradicts the shape {tensor.shape} of tensor {tensor.name!r}"
        ) from None


class TensorSpec:
    """Shape and dtype of a tensor yet to come: an entry of ``input_signature``.

    Parameters
    ----------
    shape : shape-like
        May have ``None`` dimensions, or be ``None`` for unknown rank.
    dtype : dtype-like
    name : str, optional
    """

    __slots__ = ("dtype", "name", "shape")

    def __init__(self, shape: ShapeLike = None, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        self.shape = TensorShape(shape)
        self.dtype = dtypes.as_dtype(dtype)
        self.name = name

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """Return the spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, value: Any) -> bool:
        """Return whether a tensor (or spec) of that dtype and shape fits."""
        return bool(self.dtype == value.dtype and self.shape.is_compatible_with(value.shape))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype}, name={self.name!r})"
