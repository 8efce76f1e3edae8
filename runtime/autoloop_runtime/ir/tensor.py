"""The value type: a concrete array, or the promise of one.

A ``Tensor`` is immutable. It is *concrete* when it holds a NumPy array, and *symbolic* when it is an output of
a node of a graph. Here is what is known of it, and its value; what can be done with it is inherited: operators and
methods, Python's protocols, NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import nest
from ..base.dtypes import DType
from ..base.shapes import ShapeLike, TensorShape
from .array_memory import Memory
from .array_methods import Methods
from .followers import refuse_leaving
from .numpy_protocols import NumpyProtocols
from .op import CONST, call
from .python_protocols import INSTEAD, PythonProtocols, refuse_symbolic
from .standard_protocols import StandardProtocols
from .tensor_operators import Operators

if TYPE_CHECKING:
    from .graph import Graph
    from .node import Node


class Tensor(Operators, Methods, Memory, PythonProtocols, NumpyProtocols, StandardProtocols):
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

    Examples
    --------
    >>> t = al.constant([1.0, 2.0])
    >>> t.shape, t.dtype, t.numpy()
    (TensorShape([2]), dtype('float32'), array([1., 2.], dtype=float32))
    """

    __slots__ = ("__weakref__", "_shape", "_value", "declared", "dtype", "index", "node")

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
            raise AttributeError("a concrete tensor has no op: it is a value, not part of a graph [AL503]")
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
    def plain(self) -> Tensor:
        """The tensor itself: what graphs hold, without the kind that a tracer adds."""
        return self

    @property
    def source(self) -> Tensor:
        """What this tensor was captured from, or itself."""
        source: Tensor | None = self.plain
        while source is not None:
            found = source
            source = None if found.node is None else found.node.graph.outside(found)
        return found

    # -- the value ----------------------------------------------------------------------------------------

    @property
    def value(self) -> Any:
        """The array or NumPy scalar (not to be written to); concrete tensors only."""
        if self.node is not None:
            refuse_symbolic(self, "a value")
        return self._value

    def numpy(self) -> Any:
        """Return the value as a read-only ndarray, or as a NumPy scalar when it has no dimensions."""
        if self.node is not None:
            refuse_symbolic(self, "a value (.numpy())")
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

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __reduce__(self) -> tuple[type[Tensor], tuple[Any, ...]]:
        if self.node is not None:
            refuse_symbolic(self, "a pickle")
        refuse_leaving(self, "a pickle", INSTEAD)
        return Tensor, (self._value,)


nest.opaque(Tensor)
#: ``value_of(tensor)``: the value of a tensor that is known to be concrete
value_of: Callable[[Tensor], Any] = attrgetter("_value")


def _merge(tensor: Tensor, shape: ShapeLike) -> TensorShape:
    try:
        return tensor.shape.merge_with(shape)
    except ValueError:
        raise ValueError(
            f"set_shape({TensorShape(shape)}) contradicts the shape {tensor.shape} of tensor {tensor.name!r} [AL116]"
        ) from None
