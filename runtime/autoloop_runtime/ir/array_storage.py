"""The memory of the user's arrays while a function is traced, as values that follow one another.

NumPy's arrays are references: what is written through one name is seen through every other and through every view. A
graph knows values only. So each array has a ``Storage`` that holds its present value, and a write puts another value
there. A block of a staged loop or branch is traced once for all its runs: what it writes to arrays from outside is
noted in a ``Block``, put back when the trace of the block ends, and carried by whoever builds the loop or branch.

One file: a storage, the block that it is written in and what it refuses are asked of one another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextvars import ContextVar
from itertools import count
from typing import Any, NoReturn

import numpy as np

from ..base.stand_ins import UnknownWhileTracing
from .array_layouts import Lying, lie_in_order, lying
from .graph import Graph, current_graph
from .tensor import Tensor

#: the numbers of versions; taking one is atomic
_VERSIONS = count(1)


class _Links:
    """When an array became another handle of others while it was one of those that others are handles of."""

    __slots__ = ("stamp",)

    def __init__(self) -> None:
        self.stamp = object()


#: what is known of ``Storage.origins`` holds until this changes: what one thread asks again in vain does no harm
_LINKS = _Links()


class Choice:
    """What memory stands for of which a loop or branch decides which array it is.

    Parameters
    ----------
    decided : hashable
        The same for all names of which one decision chooses.
    arrays : callable
        Gives the arrays, in the order in which all names of the decision have theirs.
    begun : Graph, optional
        The body of a loop that begins with it, with what was there before or what the body left.
    is_left : bool, optional
        Whether it is what is there after a loop, of the same two.
    """

    __slots__ = ("arrays", "begun", "decided", "is_left", "number")

    def __init__(
        self, decided: Hashable, arrays: Callable[[], Sequence[Any]], begun: Graph | None = None, is_left: bool = False
    ) -> None:
        self.decided, self.arrays, self.begun, self.is_left = decided, arrays, begun, is_left
        #: greater than that of one made before
        self.number = next(_VERSIONS)


class Storage:
    """The memory of one array.

    Attributes
    ----------
    tensor : Tensor
        What it holds now.
    graph : Graph or None
        Where the array was made.
    version : int
        Another after each write; 0 before the first.
    argument : int or None
        Which leaf of the call the array is.
    touched : bool
        Whether it was read or written at all.
    is_order_asked : bool
        Whether it mattered that its elements lie in C order.
    is_copied_by_order : bool
        Whether something is a copy of it, or the array itself, because they do.
    is_without_axes : bool
        Whether it is, or may be, an array without axes of the caller's, which the trace takes for a scalar.
    lying : Lying or None
        How it lies in memory, where that is known.
    is_lying_asked : bool
        Whether the trace relies on that.
    before : Storage or None
        What an array variable of a loop held before it, where this is what the body begins with.
    handles : tuple of (Tensor, bool)
        The arrays that a block may leave in its place, and whether it is told where these stay what they were.
    choice : Choice or None
        What it stands for, if a loop or branch decides which array it is.
    lost : str
        Why nobody can tell what it holds, if that is so.
    shared : str
        What else it is that the function finds, if it is an argument, too.
    part_of : Storage or None
        The array of another library that this is an element of.
    in_place_of : Tensor or None
        The array that plain Python would have here, where a function that is differentiated is given a tensor of its
        own for it.
    """

    __slots__ = (
        "_in_order", "_is_closed", "_is_linked", "_origins", "_perhaps", "_sources", "argument", "before", "by_order",
        "choice", "copied", "elsewhere", "graph", "handles", "in_place_of", "is_copied_by_order", "is_frozen",
        "is_lying_asked", "is_order_asked", "is_without_axes", "lost", "lying", "part_of", "shared", "tensor",
        "touched", "version",
    )  # fmt: skip

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.graph: Graph | None = current_graph()
        self.version = 0
        self.argument: int | None = None
        self.before: Storage | None = None
        self.in_place_of: Tensor | None = None
        self.touched = False
        self.lost = self.shared = ""
        #: gives another thread, which finds what stands for a real array, that array; None to the thread that traces
        self.elsewhere: Callable[[], Any] | None = None
        #: what holds a copy of it where Python would hold the array itself
        self.copied = ""
        self._in_order = self._is_closed = self.is_order_asked = self.is_without_axes = False
        self.is_copied_by_order = False
        #: whether it is another array, or a copy of that, as that lies in memory
        #: the function that gives this, if that hangs on the order of the elements whether it is a view
        self.by_order = ""
        self.is_lying_asked = False
        self.lying: Lying | None = None
        #: whether a name of it, or of a view of it, was made read-only
        self.is_frozen = False
        #: arrays of which this may be another handle, and the versions up to which it is known to be right
        self._perhaps: tuple[tuple[Storage, int], ...] = ()
        #: whether another one may be another handle of this
        self._is_linked = False
        #: what ``origins`` found, and when
        self._origins: tuple[object, dict[Storage, None]] | None = None
        #: real arrays of which this may be another handle, and what they held
        self._sources: tuple[tuple[Any, Any], ...] = ()
        self.handles: tuple[tuple[Any, bool], ...] = ()
        self.choice: Choice | None = None
        self.part_of: Storage | None = None

    @property
    def is_of_the_caller(self) -> bool:
        """Whether it is an array of the call, as far as that is known, or what stands for one in a loop."""
        return self.argument is not None or (self.before is not None and self.before.is_of_the_caller)

    @property
    def contiguous(self) -> bool:
        """Whether its elements are known to lie in C order; who asks relies on it."""
        is_line = self.tensor.shape.rank in (0, 1)
        if self.choice is not None:
            self.is_order_asked |= (known := is_line and lie_in_order(self.choice))
            return known
        self.is_order_asked = True
        return self._in_order or (is_line and self.argument is None and not self._perhaps and not self._sources)

    def lies_as(self, array: np.ndarray[Any, Any]) -> None:
        """Note that it lies in memory as a real array does."""
        self._in_order = array.flags.c_contiguous
        self.lying = lying(array)

    def lies_in(self, order: Any, array: np.ndarray[Any, Any] | None) -> None:
        """Note that it is like an array, but in an order, if both are known."""
        if order and array is not None:
            self.lies_as(np.empty_like(array, order=order, subok=False))

    def get(self) -> Tensor:
        """Return what the array holds now."""
        if self.elsewhere is not None and (array := self.elsewhere()) is not None:
            return Tensor(array)
        self.touched = True
        if self.lost or self._perhaps or self._sources:
            self._check()
        block = BLOCK.get()
        if block is not None and self.graph is not block.graph:
            block.read.add(self)
        return self.tensor

    def put(self, tensor: Tensor) -> None:
        """Let the array hold another value from now on.

        Raises
        ------
        TypeError
            If the value would be one of a block that nobody carries it out of.
        """
        if tensor is self.tensor:
            return
        if self.elsewhere is not None and (array := self.elsewhere()) is not None:
            np.copyto(array, tensor.value)
            return
        if self.lost or self._perhaps or self._sources:
            self._check()
        if self.copied:
            refuse_copied(self.copied)
        if any(one.is_without_axes for one in (self.origins() if self._perhaps else (self,))):
            refuse_without_axes()
        for array, _ in self._sources:
            array_written(array)
            raise TypeError(
                "an array that is made of another one, which is neither an argument nor made in the function, is "
                "written to in place: write to a copy, x.copy() [AL016]"
            )
        for one in self.origins()[1:] if self._perhaps else ():
            if one.is_frozen:
                raise UnknownWhileTracing(
                    "whether this is an array that setflags has made read-only, only the run knows"
                )
            one.lose(_BY_ORDER if self.by_order else f"{_BY_PATH}, and that is written to")
        before, self.touched = self.tensor, True
        self.carry(tensor)
        if self.argument is not None and self.graph is not None:
            _note_put(self.graph, self.argument, before, tensor)

    def carry(self, tensor: Tensor) -> None:
        """Let the array hold what a loop or branch has made of it, or gives to its block."""
        if tensor is self.tensor:
            return
        graph, block = current_graph(), BLOCK.get()
        if graph is not self.graph or (block is not None and block.every and block.graph is graph):
            if block is None or block.graph is not graph:
                raise TypeError(
                    "an array from outside is written to in place in a function that a graph calls (of cond, "
                    "while_loop, map_fn or the like): let the function return the new values [AL016]"
                )
            block.written.setdefault(self, self.tensor)
        self.tensor, self.version = tensor, next(_VERSIONS)

    def put_back(self, tensor: Tensor) -> None:
        """Let the array hold what it held before a block."""
        self.tensor, self.version = tensor, next(_VERSIONS)

    def lose(self, why: str) -> None:
        """Note that nobody can tell any more what the array holds."""
        if not self.lost:
            self.lost = why
            block = BLOCK.get()
            if block is not None and self.graph is not block.graph:
                block.lost[self] = why

    def perhaps(self, *others: Storage) -> None:
        """Note that this may be the memory of other arrays, or a part of it: only the run knows."""
        known = dict(self._perhaps)
        known.update((one, one.version) for one in others if one is not self)
        self._perhaps = tuple(known.items())
        self._origins = None
        if self._is_linked:
            _LINKS.stamp = object()
        for one in others:
            one._is_linked = True

    def stands_for(self, *arrays: np.ndarray[Any, Any]) -> None:
        """Note that this may be the memory of real arrays, or a part of it."""
        known = {id(array) for array, _ in self._sources}
        new = {id(array): array for array in arrays if id(array) not in known}  # of branch after branch the same again
        self._sources += tuple((array, array.copy()) for array in new.values())

    def renew(self) -> None:
        """Take what the others hold now as what this one was made of."""
        self._perhaps = tuple((one, one.version) for one, _ in self._perhaps)

    def close(self) -> None:
        """Note that nobody writes to anything any more before this is read: the block that it is of ends."""
        if self._perhaps or self.lost:
            self._check()
        self._is_closed = True

    def origins(self) -> list[Storage]:
        """Return this and all that it may be another handle of."""
        found: dict[Storage, None] = {}
        todo = [self]
        while todo:
            one = todo.pop()
            if one not in found:
                if one._origins is not None and one._origins[0] is _LINKS.stamp:
                    found.update(one._origins[1])
                    continue
                found[one] = None
                # what was made last is all that those before it are: first
                todo += [other for other, _ in reversed(one._perhaps) if other not in found]
        self._origins = (_LINKS.stamp, found)
        return list(found)

    @property
    def sources(self) -> list[Any]:
        """The real arrays of which this may be another handle."""
        return [array for one in self.origins() for array in one.own_sources]

    @property
    def own_sources(self) -> list[Any]:
        """Those that were told of this one itself."""
        return [array for array, _ in self._sources]

    def _check(self) -> None:
        if self.lost:
            refuse_lost(self.lost)
        if not self._is_closed and any(one.version != version for one, version in self._perhaps):
            refuse_lost(
                _BY_ORDER
                if self.by_order
                else "whether it is another array, which was written to since, depends on a loop or branch"
            )
        for array, held in self._sources:
            if not np.array_equal(array, held, equal_nan=array.dtype.kind in "fc"):
                array_written(array)
                refuse_lost("it is, or is a part of, an array that was written to since")


def _note_put(graph: Graph, position: int, before: Tensor, tensor: Tensor) -> None:
    """Note what the program puts into an array of the caller's, an input, in place of what was there *before*: it is
    there whatever fails later, if it was made last. What is made of what was there needs no note."""
    made = tensor.node
    if made is not None and graph.nodes and graph.nodes[-1] is made and not any(t is before for t in made.inputs):
        graph.put_at_once = graph.put_at_once or {}
        graph.put_at_once[tensor] = position


_BY_PATH = "whether an array is this one or another depends on a loop or branch"
_BY_ORDER = (
    "whether ravel(), reshape() and the like give a view or a copy depends on the order in memory of what an operation "
    "has made, and one of both is written to"
)


def array_written(array: np.ndarray[Any, Any]) -> None:
    """Tell whoever traces that a real array is given what only the run knows; they may raise."""
    for told in WHEN_WRITTEN:
        told(array)


#: told of real arrays that are written to in a trace; filled while modules are imported
WHEN_WRITTEN: list[Callable[[Any], None]] = []


#: tell of a real array whether it was made in the block that is traced; filled while modules are imported
WHERE_MADE: list[Callable[[Any], bool]] = []


def refuse_lost(why: str) -> NoReturn:
    """Raise the error that tells why an array's contents are not known."""
    raise UnknownWhileTracing(
        f"what this array holds is not known while the graph is built: {why}; make a copy, x = x.copy(), before "
        f"that, or write the result into a new array"
    )


def refuse_copied(holder: str) -> NoReturn:
    """Raise the error for an array that is written to and held by what has a copy of it."""
    raise UnknownWhileTracing(
        f"{holder} holds this array, of which a loop keeps a copy, and it is written to in place: append a copy, "
        f"x.copy()"
    )


def refuse_without_axes() -> NoReturn:
    """Raise the error for an argument that Python would write to, and the trace would not."""
    raise UnknownWhileTracing(
        "an argument that is an array without axes is changed in place: the run gets its value only, and the "
        "caller's array would stay as it is; give a scalar, x[()], or an array of one element, x.reshape(1)"
    )


class Block:
    """What is written and read of the arrays from outside while a part of a graph is traced; a context manager.

    Parameters
    ----------
    graph : Graph
        The graph that grows inside.
    every : bool
        Note what is written to arrays of this very graph, too: the part may be given up.

    Attributes
    ----------
    written : dict
        The arrays written to, and what they held before.
    read : set
        The arrays read.
    lost : dict
        The arrays of which it is not known any more what they hold, and why.
    """

    def __init__(self, graph: Graph, every: bool = False) -> None:
        self.graph = graph
        self.every = every
        self.written: dict[Storage, Tensor] = {}
        self.read: set[Storage] = set()
        self.lost: dict[Storage, str] = {}

    def __enter__(self) -> Block:
        self._outer = BLOCK.get()
        BLOCK.set(self)
        return self

    def __exit__(self, *exc: object) -> None:
        BLOCK.set(self._outer)
        for storage in self.lost:
            storage.lost = ""
        if not self.every:
            self.undo()
        elif self._outer is not None and self._outer.graph is self.graph:
            for storage, old in self.written.items():
                if storage.graph is not self.graph or self._outer.every:
                    self._outer.written.setdefault(storage, old)
        if self._outer is not None:
            self._outer.read |= {one for one in self.read if one.graph is not self._outer.graph}

    def lose(self) -> None:
        """Lose, around the block, what was lost in it."""
        for storage, why in self.lost.items():
            storage.lose(why)

    def undo(self) -> None:
        """Put back what the arrays held."""
        for storage, old in self.written.items():
            storage.put_back(old)
        self.written = {}


#: the innermost block that is traced
BLOCK: ContextVar[Block | None] = ContextVar("autoloop_block", default=None)


def kept(value: Any) -> Storage | None:
    """Return the memory of an array that stands for one of the user's; None of anything else."""
    storage: Storage | None = getattr(value, "storage", None) if isinstance(value, Tensor) else None
    return storage


def may_be_lazy(array: Any) -> bool:
    """Return whether an array of a trace may be one of a library whose arrays are computed later: without axes it is an
    array there as all others are, and no scalar."""
    graph = array.storage.tensor.graph
    theirs = None if graph is None else graph.root.theirs
    return theirs is not None and theirs.namespace.is_lazy and theirs.holds(array) is not False


def give_in_place_of(arrays: Iterable[Any], made: Iterable[Any]) -> None:
    """Note the tensors of its own that a function which is differentiated is given in place of arrays."""
    for array, tensor in zip(arrays, made):
        if (storage := kept(tensor)) is not None and kept(array) is not None:
            storage.in_place_of = array


def as_given(value: Any) -> Any:
    """Return the array that plain Python would have for one, or a part of one, of a function that is differentiated;
    else the value."""
    storage = kept(value)
    if storage is not None and value.view_of is not None:
        parent = value.view_of.parent
        return value if (given := as_given(parent)) is parent else value.seen_in(given)
    while storage is not None and storage.in_place_of is not None and not storage.version and value.view_of is None:
        value = storage.in_place_of
        storage = kept(value)
    return value


def one_of_several(made: Storage, others: list[Storage]) -> None:
    """Note that an array may be one with others, which a block leaves under several names; it becomes one of these."""
    made.perhaps(*others)
    for one in others:
        one.perhaps(made)
    others.append(made)


def taken_from(made: Any, every: Iterable[Any]) -> Any:
    """Return ``made``, of which it is noted that it may be another handle of one of several arrays."""
    if (storage := kept(made)) is not None and not made.is_scalar:
        every = list(every)
        storage.perhaps(*[one for one in map(kept, every) if one is not None])
        storage.stands_for(*[one for one in every if isinstance(one, np.ndarray)])
    return made
