"""The arrays that a function is called with, as arrays that a trace can be made for.

Those of another byte order are copied, and those that are more than numbers in a grid are refused by the name of the
argument. Of those of other libraries a trace knows whose they are, see ``foreign_calls``; where somebody records, or an
``input_signature`` asks for tensors, they are taken over through DLPack and share their memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime.base import dtypes, nest
from autoloop_runtime.base.callbacks import module_of, origin_of
from autoloop_runtime.base.contexts import Setting
from autoloop_runtime.base.dtypes import DType, is_own
from autoloop_runtime.ir.array_kinds import is_plain, strangeness
from autoloop_runtime.ir.array_layouts import is_writeable
from autoloop_runtime.ir.tensor import Tensor

if TYPE_CHECKING:
    from autoloop_runtime.namespaces import Namespace

#: values that are no arrays, or such that need no look
_FAMILIAR = frozenset({bool, int, float, complex, str, bytes, type(None), Tensor, np.float64, np.int64, np.float32})
#: DLPack's number of the memory that the processor reads
_CPU = 1
#: libraries whose arrays do not say themselves that they have a namespace
_SILENT = frozenset(("torch", "dask"))


class ForeignArray:
    """An array of another library that is an input of a trace.

    Attributes
    ----------
    value : object
        The array.
    namespace : Namespace
        Whose it is.
    dtype : numpy.dtype
    shape : tuple of int
    again : int or None
        The leaf of the call that is this very array, if one before it is.
    key : tuple
        What of it a trace depends on.
    """

    __slots__ = ("again", "dtype", "key", "namespace", "shape", "value")

    def __init__(
        self, value: Any, namespace: Namespace, dtype: DType, shape: tuple[int, ...], again: int | None = None
    ) -> None:  # fmt: skip
        self.value, self.namespace, self.dtype, self.shape, self.again = value, namespace, dtype, shape, again
        self.key = dtype, shape, namespace.name, str(namespace.device), again

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)


nest.opaque(ForeignArray)


def may_be_foreign(kind: type) -> bool:
    """Return whether values of a class may be arrays of another library: those who know are asked then."""
    if issubclass(kind, (np.ndarray, np.generic, Tensor)) or hasattr(kind, "__autoloop_tensor__"):
        return False
    return hasattr(kind, "__array_namespace__") or origin_of(kind) in _SILENT


def namespace_among(leaves: Sequence[Any]) -> Namespace | None:
    """Return whose arrays are among the leaves of a call, as a trace takes them; None if they are all NumPy's."""
    return next((one.namespace for one in leaves if type(one) is ForeignArray), None)


def taken(name: str, leaves: list[Any], names: Callable[[], Sequence[str]]) -> list[Any]:
    """Return the leaves of a call as a trace takes them: the very list if there is nothing to change.

    Parameters
    ----------
    name : str
        The function.
    leaves : list
    names : callable
        Gives a name for each of them.

    Raises
    ------
    TypeError
        If one is an array that tensors cannot stand for.
    """
    changed: list[Any] | None = None
    for place, leaf in enumerate(leaves):
        kind = type(leaf)
        if kind in _FAMILIAR or kind is ForeignArray or (kind is np.ndarray and is_plain(leaf) and is_own(leaf.dtype)):
            continue
        before = enumerate(leaves[:place] if changed is not None and kind is np.ndarray else ())
        same = next((k for k, one in before if type(one) is np.ndarray and is_same(one, leaf)), None)
        if changed is not None and same is not None:
            made = changed[same]  # one array given as several arguments is one array
        else:
            made = _taken(f"{name}: argument", leaf, place, names)
        if made is not leaf:
            changed = list(leaves) if changed is None else changed
            changed[place] = made
    return leaves if changed is None else changed


#: whether the call under way was made with other arrays than the user's
COPIED: ContextVar[bool] = ContextVar("autoloop_copied", default=False)


def with_copies(
    function: Callable[[Any], Any], call: Any, leaves: Sequence[Any], used: Sequence[Any]
) -> Any:  # fmt: skip
    """Return what a call gives that is made with what ``taken`` has made, *used* in place of the *leaves*."""
    if all(one is leaf or type(one) is ForeignArray for one, leaf in zip(used, leaves)):
        return function(call)
    with Setting(None, (COPIED, True)):
        return function(call)


def give_back(name: str, leaves: list[Any], used: list[Any], result: Any) -> Any:
    """Give arrays that were copied for a call what the copies hold now; return its result, with themselves in it.

    Raises
    ------
    TypeError
        If the call wrote to the copy of one that is a part of another.
    """
    arrays = [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
    others = {id(copy): leaf for leaf, copy in zip(leaves, used) if copy is not leaf and isinstance(leaf, np.ndarray)}
    written = []
    if not others:
        return result
    for copy in used:
        leaf = others.get(id(copy))
        if leaf is None or not is_writeable(leaf) or np.may_share_memory(leaf, copy):
            continue
        if any(overlap(leaf, one) and not is_same(leaf, one) for one in arrays if one is not leaf):
            if np.array_equal(leaf, copy, equal_nan=leaf.dtype.kind in "fc"):
                continue
            raise TypeError(
                f"{name}: an argument of another byte order or type overlaps in memory with another argument, and it "
                f"is written to; give a copy of one [AL015]"
            )
        written.append((leaf, copy))
    for leaf, copy in written:
        np.copyto(leaf, copy)
    return nest.map_structure(lambda one: others.get(id(one), one), result)


def is_same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Return whether two arrays are the same elements of the same memory."""
    return one is other or (
        one.__array_interface__["data"][0] == other.__array_interface__["data"][0]
        and (one.shape, one.strides, one.dtype) == (other.shape, other.strides, other.dtype)
    )


def handle_of(tracer: Any, one: Any, other: Any) -> Any:
    """Return what stands for an array that is the same as ``one``, which has a tracer: another object has its own."""
    return tracer if one is other or not other.ndim else tracer[...]


def whole_of(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the array of which another is a view; itself if it is none."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def distance(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> int:
    """Return how many bytes after the first element of one array that of another lies."""
    found: int = other.__array_interface__["data"][0] - one.__array_interface__["data"][0]
    return found


def overlap(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Return whether two arrays have elements in common; it may be that they have none where that is hard to tell."""
    try:
        return np.shares_memory(one, other, max_work=1000)  # type: ignore[arg-type]  # any number is taken
    except np.exceptions.TooHardError:
        return True


def is_folded(array: np.ndarray[Any, Any]) -> bool:
    """Return whether elements of an array may lie in the same memory as others, as in ``sliding_window_view``."""
    if array.flags.forc:
        return False
    reach = array.itemsize
    for stride, count in sorted((abs(s), n) for s, n in zip(array.strides, array.shape) if n > 1):
        if stride < reach:
            return True
        reach += stride * (count - 1)
    return False


def _taken(who: str, leaf: Any, place: int, names: Callable[[], Sequence[str]]) -> Any:
    words = strangeness(leaf)
    if words is not None:
        raise TypeError(f"{who} {names()[place]!r} is {words}")
    if issubclass(type(leaf), np.ndarray):
        plain = leaf.view(np.ndarray) if type(leaf) is not np.ndarray else leaf
        return plain if is_own(plain.dtype) else _of_our_dtype(plain)
    if issubclass(type(leaf), np.generic):
        return leaf if is_own(leaf.dtype) else leaf.astype(dtypes.as_dtype(leaf.dtype))
    if issubclass(type(leaf), Tensor) or not hasattr(type(leaf), "__dlpack_device__"):
        return leaf
    if hasattr(type(leaf), "__autoloop_tensor__"):
        return leaf
    return _imported(f"{who} {names()[place]!r}", leaf)


def _of_our_dtype(leaf: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a copy of the dtype that graphs have, which may be written to where the array may."""
    copy = leaf.astype(dtypes.as_dtype(leaf.dtype))
    copy.flags.writeable = is_writeable(leaf)
    return copy


def _imported(argument: str, leaf: Any) -> Any:
    """Return an array of another library as NumPy's, in the same memory."""
    kind = f"{module_of(type(leaf))}.{type(leaf).__qualname__}"
    try:
        if int(leaf.__dlpack_device__()[0]) == _CPU:
            return np.from_dlpack(leaf)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(
            f"{argument} is a {kind} that NumPy cannot take over ({error}); give it as an array of NumPy's [AL014]"
        ) from error
    raise TypeError(f"{argument} is a {kind} on another device; move it to the CPU [AL014]")


class TakenForTwo:
    """Which arrays a trace has compared by ``is`` and taken for two; a record of a root graph."""

    def __init__(self, pairs: Sequence[tuple[Any, Any]] = ()) -> None:
        self.pairs = [*pairs]

    def copy(self) -> TakenForTwo:
        """Return the same, which later changes of this one do not reach."""
        return TakenForTwo(self.pairs)
