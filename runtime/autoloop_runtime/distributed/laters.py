"""A value that a run has made of Dask's collections: one that Dask computes, or only what it is to be computed from.

A kernel over arrays of Dask builds a part of a task graph, which takes a millisecond; and in each iteration of a loop
it builds the same, but for the names of what it is given. So where the form of what it gives is known it is not called:
what it is to be called with is noted as a ``Call``. Who needs the collection after all, calls what is noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..base.dataclass import dataclass
from ..dataflow.execution_plan import Step
from ..dataflow.frames import Iteration


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """What the task graph of a kernel depends on, of an array of Dask: there is one such object of each within a plan.

    Attributes
    ----------
    dtype : dtype
    chunks : tuple of tuple of int
    meta : Any
        An array of no elements, of the kind that the chunks have.
    """

    dtype: Any
    chunks: tuple[tuple[int, ...], ...]
    meta: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the whole."""
        return tuple([sum(sizes) for sizes in self.chunks])


class Call:
    """A kernel that is noted in place of being called.

    Attributes
    ----------
    kernel : callable
    args : tuple
        Values as tokens carry them.
    known : Any
        What the kernel is known to give, see ``known_calls``.
    it, step : Iteration, Step
        Whose kernel it is.
    serial : int
        The calls of a run are numbered as they are noted: what a call needs has a lower number.
    made : tuple or None
        The collections, once it has been called.
    """

    __slots__ = ("args", "it", "kernel", "known", "made", "serial", "step")

    def __init__(
        self, kernel: Callable[..., Any], args: tuple[Any, ...], known: Any, it: Iteration, step: Step, serial: int
    ) -> None:  # fmt: skip
        self.kernel, self.args, self.known, self.it, self.step = kernel, args, known, it, step
        self.serial = serial
        self.made: tuple[Any, ...] | None = None


class Later:
    """One value of a run; tokens carry it in place of the collection, which changes when it is sent to be computed.

    Attributes
    ----------
    call : Call or None
        What it is to be made by; None once it is sent, or was given.
    number : int
        Which output of that.
    form : Form or None
        None where templates cannot tell of it.
    is_due : bool
        It is handed to the next iteration of a loop, and is to be sent with the next submission.
    is_sent : bool
        It is being computed, or is computed.
    value : Any
        What a condition is, where that is known here; else None.
    source : (Later, bool) or None
        Of a condition the one that it is the same as, or the opposite if that is true.
    """

    __slots__ = (
        "_build", "_collection", "call", "form", "is_due", "is_sent", "keys", "number", "parts", "source", "value",
    )  # fmt: skip

    def __init__(
        self, collection: Any = None, form: Form | None = None, call: Call | None = None, number: int = 0
    ) -> None:  # fmt: skip
        self._collection, self.form, self.call, self.number = collection, form, call, number
        self.is_due = self.is_sent = False
        self.value: Any = None
        self.source: tuple[Later, bool] | None = None
        #: keys of its chunks, and what holds each: a future, or the chunk; once it is sent by a template
        self.keys: list[Any] = []
        self.parts: list[Any] = []
        self._build: Callable[[Later], Any] | None = None

    @property
    def dtype(self) -> Any:
        """Return the dtype of its elements."""
        return self.collection.dtype if self.form is None else self.form.dtype

    @property
    def shape(self) -> Any:
        """Return its shape, as far as Dask knows it."""
        return self.collection.shape if self.form is None else self.form.shape

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return how many chunks there are along each axis."""
        blocks: tuple[int, ...] = (
            self.collection.numblocks if self.form is None else tuple([len(sizes) for sizes in self.form.chunks])
        )
        return blocks

    @property
    def collection(self) -> Any:
        """Return what Dask has of it: lazy until it is sent, then one whose parts are futures, or there."""
        if self._collection is None:
            if self._build is not None:
                self._collection = self._build(self)
            else:
                for call in calls_of([self]):
                    if call.made is None:
                        made = call.kernel(*[unwrapped(value) for value in call.args])
                        call.made = (made,) if call.step.outs is None else tuple(made)
                assert self.call is not None and self.call.made is not None
                self._collection = self.call.made[self.number]
        return self._collection

    def become(self, collection: Any) -> None:
        """Put another collection of the same value in the place of what it was; it is sent, or there."""
        self._collection, self._build, self.call = collection, None, None
        self.keys, self.parts = [], []
        self.is_sent, self.is_due = True, False

    def become_parts(self, keys: list[Any], parts: list[Any], build: Callable[[Later], Any]) -> None:
        """Put what holds its chunks in the place of what it was; ``build`` makes a collection of it if need be."""
        self._collection, self._build, self.call = None, build, None
        self.keys, self.parts = keys, parts
        self.is_sent, self.is_due = True, False


def calls_of(laters: Iterable[Later]) -> list[Call]:
    """Return the calls that are noted for values, in an order in which they can be made."""
    found: dict[int, Call] = {}
    todo = [later.call for later in laters if later.call is not None]
    while todo:
        call = todo.pop()
        if call.serial not in found:
            found[call.serial] = call
            todo += [v.call for v in call.args if type(v) is Later and v.call is not None]
    return [found[serial] for serial in sorted(found)]


def is_collection(value: Any) -> bool:
    """Return whether a value is one of Dask's collections; what has no graph yet is none."""
    return hasattr(type(value), "__dask_graph__")


def unwrapped(value: Any) -> Any:
    """Return the value that a token carries."""
    return value.collection if type(value) is Later else value
