"""ndarray's attributes and methods that speak of memory, of arrays of the user's in a trace.

Bytes and files are made when the graph runs. How an array lies is answered while the graph is built: of an argument the
array that the function is called with says it, and the trace is for calls with arrays that lie so; of arrays that the
function makes it is known of copies and of what was real before. Views lie as NumPy says of a view of such an array. Of
everything else, results of operations above all, nobody knows: that is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..base.forks import undivided
from ..base.stand_ins import UnknownWhileTracing
from .array_layouts import is_writeable
from .array_storage import BLOCK
from .array_views import lies_as_known, new_layout, root_of
from .graph import theirs_here
from .numpy_arguments import ask_of_odd
from .numpy_protocols import counterpart_of
from .numpy_results import lacking
from .op import call
from .tensor import Tensor

if TYPE_CHECKING:
    from .array_layouts import Lying
    from .array_references import References
    from .array_references import References as Base
else:
    Base = object


class Attributes(Base):
    """Where an array lies, and what is in it as bytes."""

    __slots__ = ()

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes from one element to the next along each axis."""
        return known_layout(self, "strides").strides if len(self.shape) else ()

    @property
    def flags(self) -> Any:
        """How the elements lie in memory."""
        return call("array_flags", self, known_layout(self, "flags").flags)

    @property
    def base(self) -> Any:
        """The array that this one is a view of."""
        return None if self.is_scalar and not self.storage.is_without_axes else base_of(self)

    def __sizeof__(self) -> int:
        return self.dtype.type().__sizeof__() if self.is_scalar else known_layout(self, "__sizeof__()").__sizeof__()

    def setflags(self, /, *, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Let the array be read-only from now on, or no more, under this name."""
        layout = known_layout(self, "setflags()").view()
        layout.setflags(write=None, align=align, uic=uic)
        if write is None:
            return
        if self.storage.argument is not None and self.view_of is None:
            raise UnknownWhileTracing(
                "x.setflags(write=...) of an argument would change the caller's array: call it outside of the "
                "decorated function, or give a view, x[...]"
            )
        if BLOCK.get() is not None:
            raise UnknownWhileTracing("x.setflags(write=...) in a loop or branch of the graph: call it before")
        if write and not self.is_writeable and self.view_of is not None:
            raise UnknownWhileTracing("x.setflags(write=True) of a read-only view: make another one, y[...]")
        self.freeze(not write)

    def copy(self, order: Any = "C") -> Any:
        """Return an array of its own."""
        order = order.upper() if isinstance(order, str) else order
        if order not in ("C", "F", "A", "K"):
            ask_of_odd(np.ndarray.copy, {"order": order}, self)
        if (theirs := theirs_here()) is not None and theirs.may_hold(self):
            return theirs.copied(self)
        made = type(self)(call("identity", self.current()))
        if order in ("C", "F"):
            layout = new_layout(made.current())
        else:  # as this one lies, where that is known
            layout = self.layout if lies_as_known(self) else None
        if layout is not None:
            made.storage.lies_as(layout.copy(order))
        return made

    def tobytes(self, order: Any = "C") -> Any:
        """Return the bytes of all elements."""
        np.empty(0).tobytes(order)  # which says what is wrong
        if order in ("A", "a"):
            order = _order(self, "tobytes('A')")
        if order in ("K", "k"):  # which here means C to NumPy, however the array lies
            order = "C"
        return call("bytes_of", self.current(), "tobytes", order=(order or "C").upper())

    def dumps(self) -> Any:
        """Return a pickle of the array."""
        return call("bytes_of", self.current(), "dumps", order=_order(self, "dumps()"))

    def dump(self, file: Any) -> None:
        """Write a pickle of the array into a file when the graph runs."""
        call("array_to_file", self.current(), "dump", (file,), order=_order(self, "dump()"))

    def tofile(self, fid: Any, /, sep: Any = "", format: Any = "%s") -> None:
        """Write the elements into a file when the graph runs."""
        call("array_to_file", self.current(), "tofile", (fid, sep, format), order="C")


def _order(array: Any, what: str) -> str:
    """Return in which order NumPy writes the elements of an array."""
    flags = known_layout(array, what).flags
    return "F" if flags.f_contiguous and not flags.c_contiguous else "C"


def known_layout(array: References, what: str) -> np.ndarray[Any, Any]:
    """Return an array that lies in memory as one of the user's does; who asks relies on it.

    Parameters
    ----------
    array : ArrayTracer
    what : str
        What is asked for, for messages.

    Raises
    ------
    TypeError
        If it is not known.
    """
    storage, view = array.storage, array.view_of
    known = storage.lying
    if known is None or not array.shape.is_fully_defined():
        _refuse(what)
    storage.is_lying_asked = True
    whole = root_of(array).layout
    if view is None or (whole is not None and array.layout is whole):
        return _lying_so(array, known, what)
    if array.layout is None or whole is None or whole.strides != known.strides or not known.aligned:
        _refuse(what)
    made: np.ndarray[Any, Any] = array.layout
    if is_writeable(made) and not (view.writeable and known.writeable):
        made = made.view()
        made.flags.writeable = False
    return made


def base_of(array: References) -> Any:
    """Return ``x.base``: the array that an array is a view of, None if it is none."""
    known_layout(array, "base")
    root = root_of(array)
    if root.storage.lying is None or not root.storage.lying.is_alone:
        _refuse("base")
    if array is root or array.layout is root.layout:
        return None
    if array.layout.base is not root.layout:
        _refuse("base")
    return root


def _lying_so(array: References, known: Lying, what: str) -> np.ndarray[Any, Any]:
    dims = array.shape.as_tuple()
    unit = np.lib.stride_tricks.as_strided(np.empty(1, array.dtype), dims, known.strides)
    made = np.empty_like(unit) if known.owndata else unit
    if not (known.writeable and array.is_writeable):
        made.flags.writeable = False
    if made.strides != known.strides or not known.aligned:
        _refuse(what)
    return made


def _refuse(what: str) -> NoReturn:
    raise UnknownWhileTracing(
        f"x.{what} asks how an array lies in memory, which is known while the graph is built of arguments, of copies, "
        f"x.copy(), and of views of these: ask it of such an array, or outside of the decorated function"
    )


def _parts_wrap() -> bool:
    """Return whether ``x.real = n`` makes an int an array first, so that what does not fit wraps: before NumPy 2.5."""
    try:
        np.zeros(1, np.uint8).real = 256
    except OverflowError:
        return False
    return True


_PARTS_WRAP = _parts_wrap()


def part_setter(name: str) -> Callable[[Any, Any], None]:
    """Return what sets ``x.real`` and its like: the elements of the part, if NumPy sets it, and the array is none of
    its scalars."""
    of_numpys = np.zeros((1, 1), complex)
    try:
        setattr(of_numpys, name, getattr(of_numpys, name))
        is_set = True
    except AttributeError:
        is_set = False

    def put(self: Any, value: Any) -> None:
        is_scalar = self.is_scalar and not self.storage.is_without_axes
        if is_scalar and not hasattr(self.dtype.type, name):
            raise lacking(self.dtype.type, name)
        if is_scalar or not is_set:
            kind = np.generic if is_scalar else np.ndarray
            said = f"attribute {name!r} of 'numpy.{kind.__name__}' objects is not writable"
            raise AttributeError(said, name=name, obj=kind)
        if name == "imag" and self.dtype.kind != "c":
            np.zeros(1).imag = 0  # raises, in the words of NumPy's version
        part = getattr(self, name)
        if value is part or is_there(value, part):  # which ``x.real += y`` has written to
            return
        is_flat = part.view_of is not None and part.view_of.is_flat
        if is_flat:  # which takes as many as it needs, and begins anew
            with undivided():
                from .overlapping_copies import check_apart

            check_apart(self, value)
            value = _numpys(np.resize, _numpys(np.asarray, value, part.dtype), part.shape.as_tuple())
        elif _PARTS_WRAP and (type(value) is int or (isinstance(value, Tensor) and not hasattr(value, "is_scalar"))):
            value = _numpys(np.asarray, value)  # an int that does not fit wraps
        part[slice(None) if is_flat else ...] = value

    return put


def is_there(value: Any, part: References) -> bool:
    """Return whether a value is the very elements that it is to be written to."""
    if type(value) is not type(part) or value.dtype != part.dtype or root_of(value) is not root_of(part):
        return False
    one, other = value.layout, part.layout
    if one is None or other is None or not one.size:
        return False
    return bool(one.__array_interface__ == other.__array_interface__)


def _numpys(theirs: Any, *args: Any) -> Any:
    ours = counterpart_of(theirs)
    assert ours is not None
    return ours(*args)
