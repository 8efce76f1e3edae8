"""TensorArrays: arrays that a loop fills, or reads, element by element.

A ``TensorArray`` is a thin, immutable description around one tensor, its *flow*, of dtype ``variant``; the value of
the flow is a ``versioned_array.ArrayValue``. To loops and branches it is a structure with the flow as its one leaf.
Gradients of flows are adjoint tables, see ``adjoint_table``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from .. import ops
from ..base import dtypes
from ..base.dataclass import replace
from ..base.dtypes import DType
from ..base.shapes import SCALAR, UNKNOWN, ShapeLike, TensorShape
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, DTypeLike
from ..ir.composite import Composite, register
from ..ir.convert import convert_to_tensor
from ..ir.graph import current_graph
from ..ir.tensor import Tensor
from ..ops.extents import known_entries, known_int
from .array_buffer import ArraySpec
from .described_flow import index_of, indices_of, named
from .list_flow import ListFlow
from .tensor_array_ops import CONCAT, GATHER, NEW, READ, READ_ONCE, SCATTER, SIZE, SPLIT, STACK, UNSTACK, WRITE


class TensorArray(ListFlow):
    """An array of tensors, written once per element.

    Parameters
    ----------
    dtype : dtype-like
        Of the elements.
    size : int or scalar tensor, optional
        The number of elements; without it the array starts empty and grows.
    dynamic_size : bool, optional
        Writing behind the end makes the array longer. By default only if no size is given.
    clear_after_read : bool, optional
        An element may be read once; reading it again is an error. By default it may be read any number of
        times.
    tensor_array_name : str, optional
        Accepted for compatibility.
    handle : None
        Accepted for compatibility.
    flow : Tensor, optional
        The value of another TensorArray, which this one continues.
    infer_shape : bool
        All elements have one shape, which is then known once one is.
    element_shape : shape-like, optional
        Of every element; may be partial. Elements that were not written are zeros where it is known.
    colocate_with_first_write_call : bool
        Accepted for compatibility.
    name : str, optional

    Notes
    -----
    Immutable: ``write``, ``unstack``, ``scatter`` and ``split`` return the array after the change, and the old one
    does not see it. An index can be written once (``ValueError`` otherwise); one that is negative or behind the
    end is an ``IndexError``.

    Examples
    --------
    >>> array = al.TensorArray(al.int32, size=2)
    >>> array = array.write(0, 10).write(1, 20)
    >>> print(array.stack())
    Tensor([10 20], shape=(2,), dtype=int32)
    """

    __slots__ = ()

    def __init__(
        self,
        dtype: DTypeLike,
        size: ArrayLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: ShapeLike = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if handle is not None:
            raise ValueError("TensorArray: there are no handles here; give flow= [AL306]")
        self._spec = ArraySpec(
            dtypes.as_dtype(dtype), TensorShape(element_shape),
            (size is None and flow is None) if dynamic_size is None else bool(dynamic_size),
            bool(clear_after_read), bool(infer_shape),
        )  # fmt: skip
        self.name = name or tensor_array_name or "TensorArray"
        self._count = None
        if flow is not None:
            self.flow = flow
            return
        extent = convert_to_tensor(0 if size is None else size)
        if extent.dtype.kind not in "iu" or extent.shape.rank not in (0, None):
            raise TypeError(
                f"TensorArray: size must be an integer scalar, got dtype {extent.dtype}, shape {extent.shape} [AL303]"
            )
        if not self._spec.dynamic_size:
            self._count = known_int(extent)
        self.flow = apply(NEW, [extent], {"spec": self._spec}, self.name)

    @classmethod
    def collecting(
        cls, dtype: DType, size: ArrayLike, dynamic_size: bool, element_shape: ShapeLike, alike: bool = True
    ) -> TensorArray:
        """Return an array for what a function gives again and again; see ``ArraySpec.collects``."""
        made = object.__new__(cls)
        made._spec = ArraySpec(dtype, TensorShape(element_shape), dynamic_size, False, alike, True)
        made.name = "TensorArray"
        extent = convert_to_tensor(size)
        made._count = None if dynamic_size else known_int(extent)
        made.flow = apply(NEW, [extent], {"spec": made._spec}, made.name)
        return made

    def unread(self) -> TensorArray:
        """Return an array like this one, for a place that nobody reads."""
        return self._after(TensorArray(self.dtype, self._count or 0, True, element_shape=self.element_shape).flow)

    # -- one element --------------------------------------------------------------------------------------

    def write(self, index: ArrayLike, value: ArrayLike, name: str | None = None) -> TensorArray:
        """Return the array with ``value`` written at ``index``.

        Parameters
        ----------
        index : integer scalar
        value : tensor-like
        name : str, optional

        Raises
        ------
        TypeError, ValueError, IndexError
            For a wrong dtype; a wrong shape or an index that was written before; an index out of range.
        """
        position = index_of(index, "write")
        what = f"the value for index {named(position)}"
        tensor = self._tensor(value, what)
        self._check_shape(tensor.shape, what)
        return self._after(apply(WRITE, [self.flow, position, tensor], None, name), tensor.shape)

    def read(self, index: ArrayLike, name: str | None = None) -> Tensor:
        """Return the element at ``index``.

        Parameters
        ----------
        index : integer scalar
        name : str, optional
        """
        attrs = {"dtype": self.dtype, "shape": self.element_shape}
        op = READ_ONCE if self._spec.clear_after_read else READ
        return apply(op, [self.flow, index_of(index, "read")], attrs, name)

    # -- many elements ------------------------------------------------------------------------------------

    def stack(self, name: str | None = None) -> Tensor:
        """Return all elements as the rows of one tensor.

        Parameters
        ----------
        name : str, optional
        """
        attrs = {"dtype": self.dtype, "shape": self.element_shape, "count": self._count}
        return apply(STACK, [self.flow], attrs, name)

    def gather(self, indices: ArrayLike, name: str | None = None) -> Tensor:
        """Return the elements at ``indices`` as the rows of one tensor.

        Parameters
        ----------
        indices : vector of integers
        name : str, optional
        """
        vector = indices_of(indices, "gather")
        count = vector.shape.known[0] if vector.shape.rank is not None else None
        attrs = {"dtype": self.dtype, "shape": self.element_shape, "count": count}
        return apply(GATHER, [self.flow, vector], attrs, name)

    def concat(self, name: str | None = None) -> Tensor:
        """Return the elements joined along their first axis, in which they may differ.

        Parameters
        ----------
        name : str, optional
        """
        attrs = {"dtype": self.dtype, "shape": self.element_shape}
        return apply(CONCAT, [self.flow], attrs, name)

    def unstack(self, value: ArrayLike, name: str | None = None) -> TensorArray:
        """Return the array with the rows of ``value`` written to it.

        Parameters
        ----------
        value : tensor-like
        name : str, optional
        """
        rows, element = self._check_rows(value, "unstack")
        return self._after(apply(UNSTACK, [self.flow, rows], None, name), element)

    def scatter(self, indices: ArrayLike, value: ArrayLike, name: str | None = None) -> TensorArray:
        """Return the array with the rows of ``value`` written at ``indices``.

        Parameters
        ----------
        indices : vector of integers
        value : tensor-like
        name : str, optional
        """
        rows, element = self._check_rows(value, "scatter")
        return self._after(apply(SCATTER, [self.flow, indices_of(indices, "scatter"), rows], None, name), element)

    def split(self, value: ArrayLike, lengths: ArrayLike, name: str | None = None) -> TensorArray:
        """Return the array with consecutive pieces of ``value`` written to it.

        Parameters
        ----------
        value : tensor-like
        lengths : vector of integers
            How many rows each element has.
        name : str, optional
        """
        rows, row = self._check_rows(value, "split", check=False)
        vector = indices_of(lengths, "split")
        known = set(known_entries(vector) or (None,))
        element = UNKNOWN if row.rank is None else TensorShape([known.pop() if len(known) == 1 else None]) + row
        self._check_shape(element, "a piece of the value for split")
        return self._after(apply(SPLIT, [self.flow, rows, vector], None, name), element)

    # -- the whole ----------------------------------------------------------------------------------------

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of elements, as an int32 scalar.

        Parameters
        ----------
        name : str, optional
        """
        if self._count is not None and not self.flow.is_feedable:
            return ops.identity(np.int32(self._count), name=name)
        return apply(SIZE, [self.flow], None, name)

    def identity(self) -> TensorArray:
        """Return the array itself; in a graph that a session runs, after what control dependencies ask for."""
        graph = current_graph()
        waits = graph is not None and not graph.ordered
        return self._after(ops.identity(self.flow) if waits else self.flow)

    def close(self, name: str | None = None) -> None:
        """Do nothing: memory is given back when nobody holds the array (1.x)."""

    def mark_used(self) -> None:
        """Do nothing (1.x)."""


class _AsComposite(Composite[TensorArray]):
    """The flow; what is known of the elements is no tensor."""

    def components(self, value: TensorArray) -> Sequence[Tensor]:
        return (value.flow,)

    def spec(self, value: TensorArray) -> Hashable:
        return value._spec, value._count

    def unread(self, value: TensorArray) -> TensorArray:
        return value.unread()

    def from_components(self, spec: Any, components: Sequence[Any]) -> TensorArray:
        made = object.__new__(TensorArray)
        made._spec, made._count = spec
        made.name = "TensorArray"
        (made.flow,) = components
        return made

    def invariants(self, value: TensorArray, given: TensorShape | None) -> list[TensorShape]:
        """Return the invariant of the flow; element shapes are checked by every write."""
        if given is not None and given.rank:
            raise ValueError(
                f"the shape invariant {given!r} was given for a TensorArray, which is a scalar to the loop; the "
                f"shape of its elements is element_shape={given!r} [AL305]"
            )
        return [SCALAR]

    def either(self, value: TensorArray, other: TensorArray, free: bool = True, other_free: bool = True) -> TensorArray:
        """Return ``value`` as far as what is known of its elements holds for those of ``other`` as well.

        A branch that leaves an array alone has none that the other branch, which writes to it, would not have found
        to differ.
        """
        a, b = value.element_shape, other.element_shape
        if a.rank is not None and b.rank is not None:
            shape = a.most_general(b)
        else:
            known, may_be_any = (a, other_free) if b.rank is None else (b, free)
            shape = UNKNOWN if may_be_any else known
        count = value.count if value.count == other.count else None
        spec = replace(value._spec, element_shape=shape, dynamic_size=value.dynamic_size or other.dynamic_size)
        return self.from_components((spec, count), (value.flow,))

    def carried(self, value: TensorArray, entry: TensorArray, name: str) -> TensorArray:
        """Return the array after the loop: the number and the shape of its elements stay what they were on entry."""
        either = self.either(value, entry, True, False)
        if entry.count not in (None, either.count):
            now = "an unknown number" if value.count is None else value.count
            raise ValueError(
                f"loop variable {name!r} is a TensorArray of {entry.count} elements on entry and of {now} after one "
                f"iteration; make the one on entry with dynamic_size=True [AL305]"
            )
        if not either.element_shape.is_subsumed_by(entry.element_shape):
            raise ValueError(
                f"the elements of loop variable {name!r}, a TensorArray, have shape {entry.element_shape} on entry and "
                f"{value.element_shape} after one iteration; give the one on entry no element_shape [AL305]"
            )
        return either


register(TensorArray, _AsComposite())
