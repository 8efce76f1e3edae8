"""The leaves of the variables of a staged loop: what kind of value each is, and the tensors that are carried for it."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from contextlib import AbstractContextManager
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from autoloop_runtime.base.dataclass import dataclass, replace
from autoloop_runtime.base.dtypes import int64
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.control.loop_leaf import LoopLeaf
from autoloop_runtime.ir.array_storage import Storage, kept
from autoloop_runtime.ir.composite import composite_of
from autoloop_runtime.ir.convert import to_array
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.ir.number_operators import CARRIERS, beside, number_type, type_of_carrier
from autoloop_runtime.ir.structured import LoopVar
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import (
    ArrayTracer,
    DecidedNumber,
    Kind,
    NumberTracer,
    ZeroDimArray,
    join,
    kind_of,
    marked,
    own_kind,
)
from autoloop_runtime.ops.int_bounds import COUNTED, bits, counts
from autoloop_runtime.ops.operands import is_tensor

from ...left_to_python import leave_unknown
from .mixed_numbers import MixedNumber
from .staged_values import cast_where_made, note_variable
from .undefined import spoken

#: what the numbers and texts of a run are
_PYTHONS = (bool, int, float, complex, str, bytes)

#: what messages and leaves call the kinds
NAMES: dict[Kind, str] = {
    NumberTracer: "number", DecidedNumber: "decided number", ArrayTracer: "array", ZeroDimArray: "array without axes",
    Tensor: "tensor",
}  # fmt: skip
#: gives the array that a leaf is, for one with its value
Arrays: TypeAlias = "Callable[[Leaf, ArrayTracer], Any]"
KINDS: dict[str, Kind] = {name: kind for kind, name in NAMES.items()}


@dataclass(frozen=True, eq=False)  # tensors compare element by element
class Leaf:
    """One leaf of a variable.

    Attributes
    ----------
    entry : LoopLeaf
        Its name, its value on entry, and the tensors that the loop carries for it: none for "outside".
    kind : str
        "tensor", "array", "array without axes", "number", "decided number", "composite" or "outside".
    shape : TensorShape or None
        The invariant, if the user gave one, or the body showed that the shape on entry is none.
    changes : bool
        Whether a number is known to change, so that it has to be carried.
    relaxed : bool
        Whether it was the body that showed what the invariant is.
    counts : bool
        Whether, if it is an int, it is small on entry and the body may only add small numbers to it.
    may_stay_number : bool
        Whether it is an array that the body may leave a Python number.
    variable : Variable, optional
        What the body may leave, where that is one.
    """

    entry: LoopLeaf
    kind: str
    shape: Any = None
    changes: bool = False
    relaxed: bool = False
    counts: bool = True
    may_stay_number: bool = False
    variable: Any = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.entry.name

    @property
    def is_number(self) -> bool:
        """Whether it is a Python number."""
        return issubclass(KINDS.get(self.kind, Tensor), NumberTracer)

    @property
    def is_counter(self) -> bool:
        """Whether it is an int of which only counters are known to come."""
        return self.is_number and self.counts and self.tensors[0].dtype == int64 and bits(self.tensors[0]) <= COUNTED

    @property
    def init(self) -> Any:
        """The value on entry."""
        return self.entry.value

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The value on entry as tensors."""
        return self.entry.tensors

    def loop_vars(self) -> list[LoopVar]:
        """Return the declarations of its tensors."""
        return [] if self.kind == "outside" else self.entry.declared(self.shape)

    def value(self, tensors: Sequence[Tensor], number: Kind = NumberTracer, array: Arrays | None = None) -> Any:
        """Return the leaf made of the tensors that now stand for it; a number is a ``number``, and an array what
        ``array`` gives for the leaf and that."""
        if self.kind == "outside":
            return self.init
        if self.is_counter:
            counts(tensors[0])
        if isinstance(self.init, MixedNumber):
            return self._mixed(self.init, tensors, number)
        kind = KINDS.get(self.kind, Tensor)
        made = marked(join(kind, number) if self.is_number else kind, self.entry.packed(tensors))
        note_variable(made, self.init, self.variable)
        return array(self, made) if array is not None and isinstance(made, ArrayTracer) else made

    def _mixed(self, init: MixedNumber, tensors: Sequence[Tensor], number: Kind) -> Any:
        made = self.entry.packed(tensors)
        made.given = init.given
        return made if number is NumberTracer else marked(join(made.__autoloop_kind__, number), made.leaving())

    def starting_with(self, *tensors: Tensor) -> Leaf:
        """Return the leaf with other tensors on entry."""
        return replace(self, entry=replace(self.entry, tensors=tensors))


def make_leaf(name: str, value: Any, shape: Any = None, carried: Container[Storage] = ()) -> Leaf:
    """Classify one leaf of a variable; arrays whose memory is ``carried`` stay what they are."""
    name = spoken(name)
    if (storage := kept(value)) is not None and storage in carried:
        return outside(name, value)
    if is_no_other(value):
        return outside(name, value)
    if composite_of(value) is not None:
        return Leaf(LoopLeaf.of(name, value), "composite", shape)
    if number_type(value) is not None:
        return Leaf(LoopLeaf(name, value, (entering(name, value),)), NAMES[kind_of((value,))], shape)
    if isinstance(value, (np.ndarray, np.generic)) or is_tensor(value):
        return Leaf(LoopLeaf.of(name, value), NAMES[own_kind(value)], shape)
    return outside(name, value)


def is_no_other(value: Any) -> bool:
    """Return whether a run would make another thing of a number or text: it is of a class of its own, as members of
    enumerations are, or a text of NumPy's without axes."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "SU"
    if isinstance(value, np.generic):
        return value.dtype.kind in "SU"
    return isinstance(value, Enum) or (isinstance(value, _PYTHONS) and type(value) not in _PYTHONS)


def before_the_loop() -> AbstractContextManager[Graph]:
    """Make what is made inside part of the graph around the loop whose body is being traced: values on entry."""
    graph = current_graph()
    assert graph is not None and graph.parent is not None
    return graph.parent.as_default()


def mixed_leaf(name: str, variable: MixedNumber) -> Leaf:
    """Return the leaf of a number of several types in the loop whose body is being traced."""
    with before_the_loop():
        return Leaf(LoopLeaf.of(name, variable), "composite", changes=True)


def changing_leaf(name: str, init: Any) -> Leaf:
    """Return the leaf of a value on entry that changes after all."""
    with before_the_loop():
        return replace(make_leaf(name, init), changes=True)


def outside(name: str, value: Any) -> Leaf:
    """Return the leaf of a value that is carried around outside."""
    return Leaf(LoopLeaf(name, value, ()), "outside")


def entering(name: str, value: Any, dtype: Any = None) -> Tensor:
    """Return what carries a Python number into a loop, or what it is as an array of some dtype.

    Raises
    ------
    LeftToPython
    TypeError, OverflowError
        If that does not hold it: plain Python, which carries the number as it is, goes on.
    """
    if isinstance(value, Tensor):
        return value.plain if dtype is None or value.dtype == dtype else cast_where_made(value, dtype)
    try:
        return Tensor(to_array(value, CARRIERS[number_type(value) or complex] if dtype is None else dtype))
    except OverflowError as error:
        what = f"{name!r} is a number before or after an iteration that what carries it does not hold: {error}"
        leave_unknown(what)
        if dtype is None:
            raise
        raise TypeError(what) from None


def settled_number(leaf: Leaf, number: Leaf, result: Tensor) -> tuple[Leaf, list[Tensor]]:
    """Give a Python number the dtype, and if need be the shape, of the array that the body makes of it.

    Where that holds no such number both leaves it what it is: the loop is refused with both dtypes when it is closed.
    """
    init = number.tensors[0]
    if beside(result.dtype, type_of_carrier(init.dtype)(1)) != result.dtype:
        return number, [result]
    start = init if isinstance(number.init, Tensor) else number.init
    if number.shape is None and not result.shape.is_fully_defined():
        # It meets what may have any shape, and then has that shape.
        return replace(leaf.starting_with(entering(leaf.name, start, result.dtype)), shape=TensorShape(None)), [result]
    if number.shape is not None or result.shape.rank == 0 or isinstance(number.init, Tensor):
        return leaf.starting_with(entering(leaf.name, start, result.dtype)), [result]
    value = np.broadcast_to(entering(leaf.name, start, result.dtype).value, result.shape.as_tuple())
    return leaf.starting_with(Tensor(value.copy())), [result]
