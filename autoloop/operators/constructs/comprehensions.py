"""Comprehensions, and the builtins that use up what a generator expression gives.

A comprehension is written out: it runs over the rows of a tensor whose number is known as Python runs over a list. What
its elements are, and which of them there are, may be for the graph to say.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.ir.array_storage import Storage, taken_from
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.number_operators import number_type
from autoloop_runtime.ir.op import call
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import (
    ArrayTracer,
    DecidedNumber,
    Kind,
    NumberTracer,
    TextTracer,
    marked,
    number_of,
)

from ...errors import mark_programs_own, programs_own
from ...left_to_python import KEY, leave_unknown, refuse_unknown
from ..staging.clauses import Clauses, clauses_of
from ..staging.growing_list import GrowingList
from ..staging.mixed_numbers import MixedNumber, chosen
from ..staging.moved_lists import refuse_moved
from ..staging.raising import Raising
from ..staging.staged_values import asked, is_staged, kind_of_all, truth
from ..staging.standins import Maybe, StandIn
from ..staging.users_methods import method_of
from .boolean_operators import and_, or_
from .for_statement import for_stmt
from .if_statement import if_exp, if_stmt
from .iterables import StagedIterable, as_staged, run_over
from .long_comprehensions import places_of, written_or_grown
from .math_functions import tried
from .sorted_lists import first_of
from .stateful_calls import iterated
from .unwanted_elements import perhaps_wanted

_MOST = 1_000
_NO_DEFAULT = object()


class _End(Exception):
    """An iterator has no more elements."""


def elements(iterable: Any, most: int = _MOST) -> Any:
    """Return what a comprehension runs over, as something that Python can run over: so many elements at *most*.

    Raises
    ------
    TypeError
        If only the run knows how many elements there are, or if there are too many to write out.
    """
    if current_graph() is None:
        return iterable
    refuse_moved(iterated(iterable))
    if (method := method_of(iterable, "__iter__")) is not None:
        iterable = method()
    if isinstance(iterable, GrowingList | TextTracer):
        return iter(iterable)  # says what to do
    if isinstance(iterable, Tensor) and is_staged(iterable):
        return _rows(iterable, most)
    staged = run_over(iterable)
    if staged is None:
        return iterable
    count = _count(staged.length if staged.keep is None else None, staged.describe, most)
    return _drawn(staged.get, count, current_graph())


def has_known_length(iterable: Any) -> bool:
    """Return whether a comprehension could run over something that is for the graph: its length is known."""
    staged = as_staged(iterable)
    return staged is not None and staged.keep is None and isinstance(staged.length, int)


def _count(length: Any, what: str, most: int) -> int:
    if not isinstance(length, int):
        refuse_unknown(
            f"a comprehension cannot run over {what} whose length only the run knows",
            "append to a list in a `for` loop",
        )
    if length > most:
        raise TypeError(
            f"a comprehension over {what} of {length} elements would be written out {length} times: append to a list "
            f"in a `for` loop, or use autoloop.map_fn or array functions [AL018]"
        )
    return length


def _drawn(get: Callable[[Any], Any], count: int, graph: Any, storage: Storage | None = None) -> Iterator[Any]:
    """Yield the elements of something for the graph, each read when its turn comes: what was written before is seen.

    They are made in ``graph``, as one that is drawn in a branch may be used after it, unless the array was written to.
    """
    version = None if storage is None else storage.version
    for index in range(count):
        if current_graph() is graph or (storage is not None and storage.version != version):
            yield get(index)
            continue
        with graph.as_default():
            element = get(index)
        yield element


def _rows(tensor: Tensor, most: int) -> Iterable[Any]:
    """Return the rows of a tensor, made where the tensor itself was: an iterator may outlive the present branch."""
    if tensor.shape.rank == 0:
        tried(iter, tensor)  # which says what it is not
        raise programs_own(TypeError("iteration over a 0-d array"))
    count = _count(None if tensor.shape.rank is None else tensor.shape.as_list()[0], "a tensor", most)
    if tensor.node is None:
        return [Tensor(tensor.value[index]) for index in range(count)]
    if isinstance(tensor, ArrayTracer):  # which may be written to before the turn of an element comes
        return _drawn(tensor.__getitem__, count, tensor.node.graph, tensor.storage)
    with tensor.node.graph.as_default():
        return [marked(type(tensor), ops.getitem(tensor, index)) for index in range(count)]


def listed(iterable: Any, made: Callable[[Any], list[Any]], is_whole: bool = False) -> Any:
    """Return the list of a comprehension over ``iterable``; ``made`` gives that of what Python can run over.

    Where only the run knows how many elements there are, it grows in a loop of the graph; where there are many, too,
    unless what it holds may see a variable of the comprehension later: then ``made`` has to make it as a whole.
    """
    if current_graph() is None:
        return made(iterable)
    if (clauses := clauses_of(iterable)) is not None and not clauses.is_whole:
        return _grown(clauses, made)
    if isinstance(iterable, StandIn | Tensor) and not (isinstance(iterable, Maybe) or _is_scalar(iterable)):
        refuse_moved(iterable)
        staged = as_staged(iterable)
        if staged is not None and (staged.keep is not None or not isinstance(staged.length, int)):
            return _grown(staged, made)
    if (places := places_of(iterable)) is None:
        return made(iterable)
    return written_or_grown(iter(elements(iterable, most=places[0])), places, made, not is_whole)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, Tensor) and value.shape.rank == 0


def _grown(items: StagedIterable | Clauses, made: Callable[[Any], list[Any]]) -> Any:
    def extended(item: Any, comprehension: Any) -> tuple[Any]:
        more = made([item])
        if isinstance(more, GrowingList) and isinstance(comprehension, list):
            return (more,)  # in the first trace, which finds out what the elements are
        if isinstance(comprehension, GrowingList):
            comprehension.extend(more, is_shared=False)
        else:
            comprehension.extend(more)
        return (comprehension,)

    return for_stmt(items, extended, ([],), ("comprehension",))[0]


def kept(pairs: Iterable[tuple[Any, Callable[[], Any]]]) -> Any:
    """Return the list of a comprehension with an ``if``: its answers, each with what gives the element."""
    made: Any = []
    for answer, value in pairs:
        answer = asked(answer)
        if is_staged(answer):
            (made,) = if_stmt(answer, _appending(value), None, ("comprehension",))(made)
        elif answer:
            made.append(value())
    return made


def _appending(value: Callable[[], Any]) -> Callable[..., tuple[Any]]:
    def append(comprehension: Any) -> tuple[Any]:
        comprehension.append(value())
        return (comprehension,)

    return append


def hashed(value: Any) -> Any:
    """Return a key of a dict or an element of a set, which Python compares while the graph is built.

    If only the run knows it, plain Python runs the function.

    Raises
    ------
    TypeError
        If it cannot.
    """
    if is_staged(value):
        leave_unknown(KEY)
        raise TypeError(
            "an element of a set, or a key of a dict, is a tensor here: which of them are equal only the run can tell; "
            "use a list, or autoloop.unique [AL017]"
        )
    return value


def hashed_all(kind: Callable[..., Any], values: Iterable[Any]) -> Any:
    """Return ``set`` or ``frozenset``."""
    return kind(map(hashed, elements(values)))


# -- builtins -------------------------------------------------------------------------------------------------


def any_of(values: Iterable[Any]) -> Any:
    """Return ``any``: as in Python, an element is asked for only if none before it was true."""
    return _decided(values, or_, True)


def all_of(values: Iterable[Any]) -> Any:
    """Return ``all``: as in Python, an element is asked for only if all before it were true."""
    return _decided(values, and_, False)


def _decided(values: Iterable[Any], joined: Callable[..., Any], decisive: bool) -> Any:
    iterator = iter(values)
    for one in iterator:
        answer = asked(one)
        if is_staged(answer):
            return _decided_by_the_run(truth(answer), iterator, joined)
        if bool(answer) is decisive:
            return decisive
    return not decisive


def _decided_by_the_run(answer: Any, iterator: Iterator[Any], joined: Callable[..., Any]) -> Any:
    elements_left = perhaps_wanted(iterator)

    def following() -> Any:
        for one in elements_left:
            after = asked(one)
            return truth(after) if is_staged(after) else bool(after)
        raise _End

    while True:
        try:
            answer = joined(answer, following)
        except _End:
            return answer


def _extreme_of_nothing(plain: Callable[..., Any]) -> Any:
    """Return what ``max`` or ``min`` says to no values."""
    try:
        return plain(())
    except ValueError as error:
        mark_programs_own(error)
        raise


def extreme_of(plain: Callable[..., Any], given: Iterable[Any], key: Any, default: Any = _NO_DEFAULT) -> Any:
    """Return ``max`` or ``min`` of some values: as in Python the first of equal ones, and of what cannot be ordered."""
    values, keys = list[Any](), list[Any]()
    for one in given:
        values.append(one)
        keys.append(one if key is None else key(one))  # before the next value is made
    if not values:
        return _extreme_of_nothing(plain) if default is _NO_DEFAULT else default
    if not builtins.any(is_staged(one) or isinstance(one, MixedNumber) for one in nest.flatten(keys)):
        return values[plain(range(len(values)), key=keys.__getitem__)]
    if builtins.any(type(one) is tuple for one in (*values, *keys)):
        return first_of(values, keys, plain is builtins.max)
    is_better = operator.gt if plain is builtins.max else operator.lt
    best, best_key = values[0], keys[0]
    for one, its_key in zip(values[1:], keys[1:], strict=True):
        better = truth(is_better(its_key, best_key))
        best, best_key = _either(better, one, best), _either(better, its_key, best_key)
    return best


def _either(test: Any, one: Any, other: Any) -> Any:
    either = chosen(test, one, other) if number_of((test,)) is NumberTracer else None
    if either is not None:
        return either
    kind = kind_of_all((one, other))
    if kind is not Tensor:
        first, last = (v.dtype if isinstance(v, ArrayTracer | np.ndarray | np.generic) else None for v in (one, other))
        ranks = {len(v.shape) if isinstance(v, ArrayTracer | np.ndarray) else 0 for v in (one, other)}
        if len(ranks) > 1 or (first is not None and last is not None and first != last):
            raise TypeError(
                f"which of {_told(other)} and {_told(one)} is taken only the run tells; cast or reshape one of them"
                " [AL020]"
            )
    return taken_from(marked(kind, ops.where(test, one, other)), (one, other))


def _told(value: Any) -> str:
    if not isinstance(value, ArrayTracer | np.ndarray | np.generic):
        return f"a Python {(number_type(value) or type(value)).__name__}"
    return f"an array of shape {value.shape} and dtype {value.dtype}" if len(value.shape) else f"a {value.dtype}"


def extreme_element(plain: Callable[..., Any], values: Tensor, kind: Kind, default: Any = _NO_DEFAULT) -> Any:
    """Return ``max`` or ``min`` of a tensor's elements, which Python would compare one after the other, as a ``kind``.

    What is no number is never larger: it stays only where it is the first.
    """
    known = values.shape.known if values.shape.rank is not None else (None,)
    if not known:
        raise programs_own(TypeError("iteration over a 0-d array"))
    if known[0] == 0:
        return extreme_of(plain, [], None, default)
    if known[0] != 1 and builtins.any(extent != 1 for extent in known[1:]):
        if known[0] is None:  # of one array nothing is compared
            leave_unknown(f"{plain.__name__}() of arrays, of which only the run knows how many there are")
        truth(values)  # says that it is ambiguous
    if values.dtype.kind == "c":
        leave_unknown(f"{plain.__name__}() of complex numbers, which NumPy orders by their parts")
    if known[0] is None:
        there = marked(DecidedNumber if kind is Tensor else NumberTracer, ops.greater(ops.size(values), 0))
        otherwise = (
            functools.partial(_of_nothing, plain, values.dtype, kind) if default is _NO_DEFAULT else lambda: default
        )
        return if_exp(there, lambda: marked(kind, _extreme_of_some(plain, values)), otherwise)
    return marked(kind, ops.getitem(values, 0) if known[0] == 1 else _extreme_of_some(plain, values))


def _of_nothing(plain: Callable[..., Any], dtype: Any, kind: Kind) -> Any:
    """Let the graph raise the error of ``max`` or ``min`` of nothing, where it would give a number."""

    def error() -> BaseException:
        try:
            plain([])
        except ValueError as found:
            return found.with_traceback(None)
        raise AssertionError("unreachable")

    ops.raise_error(Raising(ValueError, error))
    return marked(kind, ops.zeros((), dtype))


def _extreme_of_some(plain: Callable[..., Any], values: Tensor) -> Any:
    numbers = values
    if values.shape.rank == 1 and values.dtype.kind != "f":
        return call(plain.__name__, values)
    if values.dtype.kind == "f":
        numbers = ops.where(ops.isnan(values), ops.getitem(values, 0), values)
    return ops.getitem(values, call(f"arg{plain.__name__}", numbers))
