"""What is known of a graph before machine code is made for it: shapes, constants, and what collections hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...base.dataclass import dataclass, field
from ...base.dtypes import DType
from ...ir.graph import Graph, Node
from ...ir.tensor import Tensor

if TYPE_CHECKING:
    from ...collections.array_buffer import ArraySpec

_Record = TypeVar("_Record", bound="_MayBeMerged")
Shape = tuple[int, ...]
#: how many elements a growing TensorArray has: so many more than another version of it, or than none
Count = tuple[Tensor | None, int]


class _MayBeMerged:
    """What is known of a collection, which may turn out to be the same as another one."""

    merged: Any

    def root(self: _Record) -> _Record:
        """Return the one that speaks for this and all that were found to be the same."""
        found = self
        while found.merged is not None:
            found = found.merged
        return found


@dataclass(eq=False)
class Rows(_MayBeMerged):
    """What is known of a TensorArray, or of a table of gradients; all versions of it share one of these.

    Attributes
    ----------
    dtype, element
        Of the elements; a table may hold tables.
    size : int or None
        How many there are.
    inside : bool
        It is an element of another collection.
    moves : bool
        What is in it changes places, so that it has another size then.
    spec : ArraySpec or None
        What was declared of a TensorArray; ``None`` for a table of gradients, whose elements may be added to.
    """

    dtype: DType | None = None
    size: int | None = None
    element: Shape | Rows | None = None
    spec: ArraySpec | None = None
    inside: bool = False
    moves: bool = False
    merged: Rows | None = None

    @property
    def clear(self) -> bool:
        """True if an element may be read once only."""
        return self.spec is not None and self.spec.clear_after_read

    @property
    def declared(self) -> bool:
        """True if elements that were not written are zeros, whatever else was."""
        return self.spec is None or self.spec.element_shape.is_fully_defined()

    def shape(self) -> Shape | None:
        """Return that of the elements, if it is known."""
        element = self.root().element
        return None if isinstance(element, Rows) else element


@dataclass(eq=False)
class StackType(_MayBeMerged):
    """What is known of a stack of saved values or a growing TensorArray; all versions of it share one of these.

    Attributes
    ----------
    element
        The dtype and shape of its elements, or the ``StackType`` or ``Rows`` they are, once something was pushed.
    spec : ArraySpec or None
        What was declared of a TensorArray.
    kind : str
        "stack", or, of those whose values are ``Owned``, "checkpoints", of a limited number, "table", of gradients,
        whose size is not known, or "list", of which elements are taken off or replaced.
    most : int
        How many checkpoints.
    swaps : bool
        It may leave memory.
    counted : bool
        Its elements are TensorArrays that grow, each with its number of elements.
    pushed : list
        The values that were put in, as far as they are known.
    is_known : bool
        Somebody relies on all of them being the same.
    """

    element: tuple[DType, Shape] | StackType | Rows | None = None
    spec: ArraySpec | None = None
    kind: str = "stack"
    most: int = 0
    swaps: bool = False
    counted: bool = False
    pushed: list[Any] = field(default_factory=list)
    is_known: bool = False
    merged: StackType | None = None

    def constant(self) -> Any:
        """Return the value of all elements, if it is known."""
        known, *others = self.root().pushed or [None]
        same = known is not None and all(v is not None and np.array_equal(v, known) for v in others)
        return known if same else None

    @property
    def is_owned(self) -> bool:
        """True if its values are ``Owned``."""
        return self.root().kind != "stack"


@dataclass
class Types:
    """The result.

    Attributes
    ----------
    shapes : dict
        The exact shape of each tensor that is no TensorArray.
    rows : dict
        Of each TensorArray.
    constants : dict
        The values that are known.
    stacks : dict
        What is known of each stack and of each growing TensorArray.
    pushed : list
        The graphs in which something is pushed on each stack.
    counts : dict
        Of the growing TensorArrays: how many elements they have, ``None`` if that depends on values.
    rooms : dict
        Of the growing TensorArrays: how many elements they have at most, ``None`` if nothing says that.
    returned : set of Tensor
        Stacks of TensorArrays, as many rows as it turns out, that are results of the function and nothing else.
    loops : list of Node
        Around what is being typed.
    outside : dict
        What a captured tensor is called in the graph around.
    cuts : bool
        The extents of slices that begin where the run says are the run's: nothing fails where the array ends.
    heeds : bool
        Whoever runs the code looks whether there were floating-point errors: what may have one is computed.
    """

    shapes: dict[Tensor, Shape] = field(default_factory=dict)
    rows: dict[Tensor, Rows] = field(default_factory=dict)
    constants: dict[Tensor, Any] = field(default_factory=dict)
    stacks: dict[Tensor, StackType] = field(default_factory=dict)
    pushed: list[tuple[Graph, StackType]] = field(default_factory=list)
    counts: dict[Tensor, Count | None] = field(default_factory=dict)
    rooms: dict[Tensor, Count | None] = field(default_factory=dict)
    returned: set[Tensor] = field(default_factory=set)
    loops: list[Node] = field(default_factory=list)
    outside: dict[Tensor, Tensor] = field(default_factory=dict)
    cuts: bool = False
    heeds: bool = False

    def know(self, tensor: Tensor, value: Any) -> None:
        """Take ``value`` down as the value of ``tensor``."""
        self.shapes[tensor] = np.shape(value)
        self.constants[tensor] = value

    def value_of(self, tensor: Tensor) -> Any | None:
        """Return the value of ``tensor`` if it is known."""
        return self.constants.get(tensor)

    def is_scalar(self, tensor: Tensor) -> bool:
        """Return whether the value of ``tensor`` has no dimensions."""
        return self.shapes.get(tensor) == ()

    def hand_on(self, outer: Tensor, inner: Tensor, constant: bool = True) -> None:
        """Let ``inner`` be what ``outer`` is; ``constant``: of the same value."""
        if constant:
            self.outside[inner] = outer
        if outer in self.rows:
            self.rows[inner] = self.rows[outer]
            return
        self.shapes[inner] = self.shapes[outer]
        if outer in self.stacks:
            self.stacks[inner] = self.stacks[outer]
        if outer in self.counts:
            self.counts[inner] = self.counts[outer]
            self.rooms[inner] = self.rooms.get(outer)
        if constant and outer in self.constants:
            self.constants[inner] = self.constants[outer]

    def pushed_inside(self, graph: Graph) -> Iterator[StackType]:
        """Yield the stacks that something is pushed on in ``graph``, or inside it."""
        for pushing, stack_type in self.pushed:
            inner: Graph | None = pushing
            while inner is not None and inner is not graph:
                inner = inner.parent
            if inner is graph:
                yield stack_type

    def swaps(self) -> bool:
        """Return whether there is a stack that may leave memory."""
        return any(stack_type.root().swaps for stack_type in self.stacks.values())

    def is_owned(self, tensor: Tensor) -> bool:
        """Return whether the value of ``tensor`` is a collection that is changed in place by whoever holds it alone."""
        return tensor in self.stacks and self.stacks[tensor].is_owned

    def array(self, tensor: Tensor) -> Rows:
        """Return what is known of a TensorArray."""
        return self.rows[tensor].root()


def grown(
    counts: dict[Tensor, Count | None], init: Tensor, inside: Tensor, result: Tensor, trips: int | None
) -> Count | None:  # fmt: skip
    """Return how many elements a TensorArray has after a loop of so many iterations that begins with ``init`` and ends
    an iteration, for which it is ``inside``, with ``result``."""
    before, after = counts[init], counts[result]
    if after is None or before is None or after[0] is not inside:
        return None
    if after[1] == 0:
        return before
    return None if trips is None else (before[0], before[1] + trips * after[1])


def either(a: Count | None, b: Count | None) -> Count | None:
    """Return how many elements a TensorArray has at most that has one or the other number of them."""
    return None if a is None or b is None or a[0] is not b[0] else max(a, b, key=lambda count: count[1])


#: the shapes of the elements of TensorArrays, by the tensor that made them, as far as they are known
Elements = dict[Tensor, "Shape | None"]


class Unresolved(Exception):
    """The shape of a TensorArray's elements is asked for before anything was found to be written to it."""
