"""What stands for the user's own NumPy arrays and Python numbers while a function is traced.

A graph holds tensors and nothing else. A *tracer* is a handle on one of them that remembers what kind of value it is
to the user: an ``ArrayTracer`` is a NumPy array or scalar, a ``NumberTracer`` a Python number; a ``Tensor`` is itself.
Kinds join: what a tensor takes part in is a tensor, what an array and a number make is an array. Tracers are made where
plain Python would have used an operator, a method or a NumPy function; our own functions see ``plain`` tensors and give
such.

One file: kinds make one another, so that none of them can be said without the others.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..base import nest
from ..base.dataclass import replace
from ..base.forks import undivided
from ..base.shapes import SCALAR, UNKNOWN, ShapeLike
from ..base.stand_ins import UnknownWhileTracing, called
from .array_attributes import Attributes, part_setter
from .array_layouts import is_writeable
from .array_memory import Memory
from .array_methods import Methods
from .array_references import References
from .array_storage import Storage
from .array_views import OF_SEVERAL, name_of_view, new_layout, part_of_several
from .asked_for_text import array_is_asked, hash_is_asked, text_is_asked
from .composite import composite_of
from .followers import is_followed
from .graph import theirs_here
from .numpy_protocols import counterpart_of
from .numpy_results import (
    METHODS_OF_ARRAYS,
    OWN_KINDS,
    WHOLE,
    gives_array,
    gives_number,
    gives_text,
    is_array,
    lacking,
    own,
    taken,
)
from .op import call
from .plain_values import check_casts, plain_array, plain_number, plain_zero_dim
from .python_protocols import refuse_symbolic
from .tensor import Tensor
from .tensor_operators import BINARY, COMPARISONS, GOES_FIRST, Operators, asked_first
from .written_results import (
    Changing,
    computed_only,
    is_reference,
    place_of_out,
    refuse_array,
    refuse_first_of_two,
    without_out,
    written,
)

Kind: TypeAlias = type[Tensor]

_hold_dtype = vars(Tensor)["dtype"].__set__  # which nobody sets of an array, see ``traced_attributes``


class Tracer(Tensor):
    """A handle on a symbolic tensor that knows what the user takes it for."""

    __slots__ = ()

    def __init__(self, tensor: Tensor) -> None:
        self._value = tensor = tensor.plain
        self.dtype = tensor.dtype
        self.index = tensor.index

    if not TYPE_CHECKING:
        node = property(lambda self: self._value.node)
        _shape = property(lambda self: self._value._shape)
        declared = property(lambda self: self._value.declared)

    @property
    def plain(self) -> Tensor:
        """The tensor."""
        tensor: Tensor = self._value
        return tensor

    def set_shape(self, shape: ShapeLike) -> None:
        """Declare more about the static shape, see ``Tensor.set_shape``."""
        self.plain.set_shape(shape)

    def item(self, /, *args: Any) -> Any:
        """Return one element as a Python number."""
        return marked(number_of((self,)), self.plain.item(*args))

    def tolist(self) -> Any:
        """Return the value as nested lists of Python numbers."""
        return marked(number_of((self,)), self.plain.tolist())

    def __repr__(self) -> str:
        text_is_asked(self)
        return super().__repr__()

    def __str__(self) -> str:
        text_is_asked(self)
        return super().__str__()

    def __format__(self, spec: str) -> str:
        text_is_asked(self)
        return super().__format__(spec)

    def __hash__(self) -> int:
        hash_is_asked(self)
        raise UnknownWhileTracing(
            "which key, element of a set or name of an attribute this is, only the run knows: use arrays, or an `if`"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if _goes_after(self, map(type, inputs)):
            return NotImplemented
        if (first := asked_first((*inputs, *kwargs.values()))) is not None:
            return first.given_to(ufunc if method == "__call__" else getattr(ufunc, method), inputs, kwargs)
        if (library := theirs_here()) is not None:
            library.check_ufunc(ufunc, method, inputs, kwargs)
        theirs = ufunc if method == "__call__" else getattr(ufunc, method)
        out, named = kwargs.get("out"), dict(kwargs)
        if out is not None and is_reference(out):
            del kwargs["out"]
            where = kwargs.pop("where", True) if method == "__call__" else True
            try:
                made = super().__array_ufunc__(ufunc, method, *computed_only(where, inputs), **kwargs)
            except Exception as error:
                if method == "__call__" and isinstance(error, ValueError):
                    check_casts(ufunc, inputs, out, **kwargs)
                ask_numpy(theirs, inputs, named, error)
                raise
            try:
                given = written(ufunc, out, made, kwargs.get("casting", "same_kind"), where, method != "__call__")
            except Exception as error:
                ask_numpy(theirs, inputs, named, error)
                raise
            if not isinstance(given, tuple):
                return given
            kind = kind_of((*inputs, *out), ArrayTracer)  # of those results that no ``out`` is named for
            return tuple([marked(kind, one) if to is None else one for one, to in zip(given, out)])
        if out is not None and any(one is not None for one in out):
            refuse_array(ufunc, *out)
        try:
            made = super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        except Exception as error:
            ask_numpy(theirs, inputs, named, error)
            raise
        return marked(kind_of(inputs, ArrayTracer), made)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if _goes_after(self, types):
            return NotImplemented
        if (first := asked_first((*args, *kwargs.values()))) is not None:
            return first.given_to(func, args, kwargs)
        if (library := theirs_here()) is not None:
            args, kwargs = library.fetched(func, args, kwargs)
            library.check_function(func, args, kwargs)
        out, others, named = without_out(place_of_out(func), args, kwargs)
        if out is not None and is_reference(out, func):
            with undivided():
                from .overlapping_copies import check_pieces

            check_pieces(func, out, others)
            try:
                made = super().__array_function__(func, types, others, named)
            except Exception as error:
                if isinstance(error, ValueError):
                    refuse_first_of_two(func, (*others, *named.values()), out, error)
                ask_numpy(func, args, kwargs, error)
                raise
            return written_or_asked(func, out, made, args, kwargs)
        if out is not None:
            refuse_array(func, out)
        try:
            return as_numpy_gives(func, args, kwargs, super().__array_function__(func, types, args, kwargs))
        except Exception as error:
            ask_numpy(func, args, kwargs, error)
            raise


#: gives what any array gives, whatever it holds
_ANY_ARRAY: Any = np.empty(0)


@called("array (of which only the run knows the values)")
class ArrayTracer(Attributes, Changing, Tracer):  # type: ignore[misc]  # what tensors refuse, arrays do
    """A NumPy array or scalar of the user's: a reference to memory, see ``array_storage``."""

    __slots__ = ("_is_frozen", "_layout", "_seen", "storage", "view_of")

    def __init__(self, tensor: Tensor) -> None:
        tensor = tensor.plain
        _hold_dtype(self, tensor.dtype)
        self.storage = Storage(tensor)
        self.view_of = self._layout = self._seen = None
        self._is_frozen = False

    if not TYPE_CHECKING:
        _value = property(References.current)
        _shape = property(lambda self: self.known().shape)  # which no write changes
        node = property(lambda self: self.known().node)
        index = property(lambda self: self._value.index)

    @property
    def plain(self) -> Tensor:
        """What the array holds now."""
        return self.current()

    def freeze(self, is_frozen: bool) -> None:
        """Let nobody write to the array under this name, or to views that are made of it from now on."""
        if self.view_of is not None:
            view = self.view_of
            self.view_of = replace(view, writeable=not is_frozen)
        self._is_frozen = is_frozen
        self.storage.is_frozen |= is_frozen
        if self.layout is not None:
            self._layout = self.layout.view()
            self._layout.flags.writeable = not is_frozen

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        theirs = theirs_here()
        names = None if theirs is None else theirs.names(self)
        return _ANY_ARRAY.__array_namespace__(api_version=api_version) if names is None else names

    def meets_arrays(self, other: Any) -> bool:
        """Return whether what this array and ``other`` make is an array."""
        return kind_of((other,)) is not Tensor

    @property
    def is_scalar(self) -> bool:
        """Whether this is a scalar of NumPy's, which nobody can write to."""
        return self.shape.rank == 0

    @property
    def may_be_scalar(self) -> bool:
        """Whether only the run knows if this is a scalar or an array: it is a scalar if it has no axes."""
        return self.shape.rank is None

    def __getattr__(self, name: str) -> Any:
        if name in ("dtype", "storage"):  # which are looked for in what is made below
            raise AttributeError(name)
        if (theirs := theirs_here()) is not None:
            theirs.check_meaning(self, name)
        if name in ("__array_interface__", "__array_struct__") and self.node is not None:
            array_is_asked()  # of an object of the user's that hands them on: NumPy takes what lacks them for no array
            refuse_symbolic(self, "an array (numpy.asarray)")
        if name in WHOLE and self.is_scalar and hasattr(self.dtype.type, name):
            return lambda: NumberTracer(call("python_int", call(WHOLE[name], self.plain)))
        raise lacking(self.dtype.type if self.is_scalar else np.ndarray, name)

    def __round__(self, ndigits: int | None = None) -> Any:
        if not self.is_scalar:
            raise lacking(np.ndarray, "__round__")
        made = super().__round__(ndigits).plain
        return marked(ArrayTracer, made) if ndigits is not None else NumberTracer(call("python_int", made))

    @staticmethod
    def kind_of_part(made: Tensor, is_array: bool = True) -> type[ArrayTracer]:
        """Return the kind of a value of this array's: without axes it is a scalar, if it is not an array to NumPy."""
        return ZeroDimArray if is_array and made.shape.rank in (0, None) else ArrayTracer


@called("array (of which only the run knows the value)")
class ZeroDimArray(ArrayTracer):
    """An array of the user's that has no axes, and is no scalar: ``np.asarray(1.5)``, ``x[0, ...]``.

    Where only the run knows whether it has axes it is surely an array; any other array is a scalar if it has none.
    """

    __slots__ = ()

    may_be_scalar = False

    @property
    def is_scalar(self) -> bool:
        """Whether this is a scalar of NumPy's, which nobody can write to."""
        return False


@called("str (which only the run knows)")
class TextTracer(ArrayTracer):
    """A text of the user's that a run makes: a ``str``. What it can do is in ``text_operators``."""

    __slots__ = ()


@called("number (which only the run knows)")
class NumberTracer(Tracer):
    """A Python number of the user's: a bool, int, float or complex, carried in 64 bits (of each part).

    Its operators are in ``number_operators``.
    """

    __slots__ = ()
    is_pythons = True

    def __init__(self, tensor: Tensor) -> None:
        super().__init__(tensor if (theirs := theirs_here()) is None else theirs.number(tensor.plain))


@called("number (which only the run knows)")
class DecidedNumber(NumberTracer):
    """A Python number of a loop or branch that a tensor has decided: the caller gets a tensor of it."""

    __slots__ = ()


class _Documentation:
    """What ``x.__doc__`` gives: that of what a tracer stands for, and of the class of tracers its own."""

    __slots__ = ("_own",)

    def __init__(self, own: str | None) -> None:
        self._own = own

    def __get__(self, tracer: Any, owner: Any = None) -> str | None:
        return self._own if tracer is None else vars(_stands_for(tracer))["__doc__"]


def _stands_for(tracer: Any) -> type:
    if isinstance(tracer, TextTracer):
        return str
    if isinstance(tracer, NumberTracer):
        return {"b": bool, "i": int, "u": int, "f": float, "c": complex}[tracer.dtype.kind]
    if tracer.may_be_scalar:
        raise UnknownWhileTracing("whether this is an array or a scalar only the run knows")
    kind: type = tracer.dtype.type if tracer.is_scalar else np.ndarray
    return kind


for _kind in (ArrayTracer, ZeroDimArray, TextTracer, NumberTracer, DecidedNumber):
    nest.opaque(_kind)
    _kind.__doc__ = _Documentation(_kind.__doc__)  # type: ignore[assignment]

#: how kinds join: the greatest wins
_KINDS: tuple[Kind, ...] = (NumberTracer, DecidedNumber, ArrayTracer, Tensor)
_ORDER: dict[type, int] = {kind: place for place, kind in enumerate(_KINDS)} | {TextTracer: _KINDS.index(ArrayTracer)}
_ORDER[ZeroDimArray] = _ORDER[ArrayTracer]  # what it takes part in is an array or a scalar, as that says
#: the kinds of what the user has at hand
_KNOWN: dict[type, int] = {
    **_ORDER, np.ndarray: _ORDER[ArrayTracer],
    **dict.fromkeys((bool, int, float, complex, str, bytes, type(None), slice, type, type(SCALAR), type(UNKNOWN)), 0),
}  # fmt: skip


def _place(value: Any) -> int:
    if (known := _KNOWN.get(type(value))) is not None:
        return known
    if isinstance(value, (list, tuple)):
        return max(map(_place, value), default=0)
    if isinstance(value, (np.ndarray, np.generic)):
        return _ORDER[ArrayTracer]
    if isinstance(value, dict):
        return max(map(_place, value.values()), default=0)
    if hasattr(type(value), "__autoloop_kind__"):  # an object of the user's may have whatever attribute it is asked for
        return _ORDER[value.__autoloop_kind__]
    if hasattr(type(value), "__autoloop_tensor__") or composite_of(value) is not None:
        return _ORDER[Tensor]
    return 0


def kind_of(values: Iterable[Any], least: Kind = NumberTracer) -> Kind:
    """Return the kind of what ``values`` make together: at least ``least``."""
    return _KINDS[max((_ORDER[least], *map(_place, values)))]


def number_of(values: Iterable[Any]) -> Kind:
    """Return the kind of the Python numbers that are asked of ``values``, or that these decide."""
    return NumberTracer if kind_of(values) in (NumberTracer, ArrayTracer) else DecidedNumber


def own_kind(value: Any) -> Kind:
    """Return the kind of one value, which tells an array without axes from a scalar."""
    is_zero_dim = type(value) is ZeroDimArray or (isinstance(value, np.ndarray) and not value.ndim)
    return ZeroDimArray if is_zero_dim else kind_of((value,))


def is_read_only(value: Any) -> bool:
    """Return whether a value is an array that nobody may write to, as ``np.diagonal`` gives them."""
    if isinstance(value, ArrayTracer):
        return not value.is_writeable and not value.is_scalar
    return isinstance(value, np.ndarray) and not is_writeable(value)


def as_numpy_gives(theirs: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], made: Any) -> Any:
    """Return what a function of NumPy's made of arguments as values of the kind that it gives."""
    if theirs in OWN_KINDS:
        return made
    if theirs is np.broadcast_to:  # which is read-only, whether it is a view or, of a scalar or list, a copy here
        given = _array_numpy_gives(theirs, args, kwargs, made)
        others = theirs_here()
        if isinstance(given, ArrayTracer) and (
            others is None or others.holds(given) is False or others.are_views(given)
        ):
            given.freeze(True)
        return given
    given = _array_numpy_gives(theirs, args, kwargs, made)
    if (others := theirs_here()) is None:
        return given
    if gives_number(theirs, args):
        return others.answered(theirs, args, given)
    return others.handed_on(theirs, args, kwargs, others.given(args, given))


def _array_numpy_gives(theirs: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], made: Any) -> Any:
    values = (*args, *kwargs.values())
    if gives_number(theirs, args):
        return marked(number_of(values), made)
    kind = kind_of(values, ArrayTracer)
    is_array = kind is ArrayTracer and gives_array(theirs, args, kwargs, ZeroDimArray)
    if kind is ArrayTracer and theirs in OF_SEVERAL and isinstance(made, (list, tuple)):
        if theirs is np.meshgrid and kwargs.get("copy", True):
            return marked(kind, made)
        return type(made)([
            part_of_several(theirs, one, part) if isinstance(one, ArrayTracer) else marked(ZeroDimArray, part)
            for one, part in zip(args, made)
        ])  # fmt: skip
    place = _place_of_viewed(theirs, args)
    if kind is ArrayTracer and len(values) > place and isinstance(values[place], ArrayTracer):
        views = values[place].given_views(theirs, made, _again(theirs, args, kwargs, place), is_array)
        if views is not None:
            if type(views) is ArrayTracer and views.dtype != values[place].dtype:
                _lay_as_said(theirs, args, kwargs, views)
            return views
    if isinstance(made, NumberTracer) and not any(made is one for one in values):
        return made  # a number of Python's, as the counterpart says
    made = own(theirs, args, kwargs, made)
    array = taken(values, marked(ZeroDimArray if is_array else kind, made), TextTracer, not gives_text(theirs))
    if type(array) is ArrayTracer:
        _lay_as_said(theirs, args, kwargs, array)
    return array


def _lay_as_said(theirs: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], array: ArrayTracer) -> None:
    """Note that an array that a function has made lies in memory by columns, or by rows, if the program says so."""
    said = _order_said(theirs, args, kwargs)
    layout = new_layout(array) if said and array.shape.rank != 1 and array.view_of is None else None
    if layout is not None:
        array.storage.lies_as(layout.copy(said))


def _order_said(theirs: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
    """Return in which order, C or F, the program says that an array lies; None if it does not."""
    if theirs is np.asfortranarray:
        return "F"
    if theirs is not np.require:
        place = _MAKING.get(theirs)
        order = kwargs.get("order", args[place] if place is not None and len(args) > place else None)
        return "F" if order == "F" and theirs in _MAKING else None
    given = args[2] if len(args) > 2 else kwargs.get("requirements")
    asked = {one.upper() for one in given or () if isinstance(one, str)}
    return next((order for order, words in _REQUIRED.items() if asked & words), None)


#: what ``np.require`` is told -> how the array lies
_REQUIRED = {"C": {"C", "CONTIGUOUS", "C_CONTIGUOUS"}, "F": {"F", "FORTRAN", "F_CONTIGUOUS"}}


#: functions that make an array in the order that they are told, and the place of that among their arguments
_MAKING: dict[Any, int | None] = {
    np.array: None, np.full: 3, np.full_like: 3,
    **dict.fromkeys(
        (np.asanyarray, np.asarray, np.asarray_chkfinite, np.empty_like, np.ones_like, np.zeros_like), 2
    ),
}  # fmt: skip


def _place_of_viewed(theirs: Any, args: tuple[Any, ...]) -> int:
    """Return at which place a function of NumPy's takes the array of which it may give a view."""
    if theirs is not np.einsum or not args:
        return 0
    is_of_one = len(args) == 2 if isinstance(args[0], str) else len(args) <= 3
    return int(isinstance(args[0], str)) if is_of_one else len(args)


def _again(theirs: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], place: int) -> Callable[[Any], Any]:
    """Return what calls a function of NumPy's as it was called, with another array at a place."""

    def again(array: Any) -> Any:
        function = counterpart_of(theirs) if isinstance(array, Tensor) else theirs
        assert function is not None
        if args:
            return function(*args[:place], array, *args[place + 1 :], **kwargs)
        return function(**{**kwargs, next(iter(kwargs)): array})

    return again


def join(*kinds: Kind) -> Kind:
    """Return the kind of what values of these kinds make together."""
    return max(kinds, key=_ORDER.__getitem__)


def marked(kind: Kind, value: Any) -> Any:
    """Return ``value``, or the tensors in a structure of them, as values of ``kind``."""
    if isinstance(value, Tensor):
        if kind in (ZeroDimArray, NumberTracer) and value.shape.rank not in (0, None):
            kind = ArrayTracer  # also what has axes and is made of a number: its derivatives
        if value.dtype.kind == "U" and kind is not Tensor and value.shape.rank == 0:
            kind = Tensor if kind is DecidedNumber else TextTracer
        if type(value) is kind:
            return value
        if value.node is None:
            return handed_out(kind, value)
        return value.plain if kind is Tensor else kind(value)
    if kind is not Tensor and isinstance(value, (list, tuple)):
        parts = [marked(kind, one) for one in value]
        return nest.like(value, parts)
    return value


def handed_out(kind: Kind, tensor: Tensor) -> Any:
    """Return what the caller gets of a concrete tensor: of an array of the user's the array, of a number the number.

    What somebody follows, to differentiate it, stays a tensor: an array would end the derivative without a word.
    """
    if is_followed(tensor):
        return tensor
    if kind in (ArrayTracer, ZeroDimArray, TextTracer):
        return (plain_zero_dim if kind is ZeroDimArray else plain_array)(tensor.value)
    return plain_number(tensor.value) if kind is NumberTracer else tensor


def ask_numpy(theirs: Callable[..., Any], args: Any, kwargs: Any, error: Exception) -> None:
    """Raise what NumPy says of a call of the user's that ours refuses, if that is another error."""
    if kind_of((*args, *kwargs.values())) is Tensor:  # which is said in our words
        return
    with undivided():  # which programs without faults do without
        from .numpys_faults import numpys_word
    said = numpys_word(theirs, args, kwargs, error, _as_user_has_it)
    if said is not error:
        raise said from None


def ask_python(theirs: Callable[..., Any], args: Any, kwargs: Any, error: Exception) -> None:
    """Raise what a function of Python's says of a call of the user's that ours refuses, whatever the values are."""
    if kind_of((*args, *kwargs.values())) is Tensor:
        return
    with undivided():
        from .numpys_faults import pythons_word
    said = pythons_word(theirs, args, kwargs, error, _as_user_has_it)
    if said is not error:
        raise said from None


def _as_user_has_it(tracer: Any, array: Any) -> Any:
    return _PLAIN.get(own_kind(tracer), plain_array)(array)


def written_or_asked(theirs: Callable[..., Any], out: Any, made: Any, args: Any, kwargs: Any) -> Any:
    """Return ``out`` after what a function of NumPy's gave was written there; NumPy is asked why it does not fit."""
    try:
        return written(theirs, out, made)
    except Exception as error:
        ask_numpy(theirs, args, kwargs, error)
        raise


def _ask_of_method(name: str, array: Any, args: Any, kwargs: Any, error: Exception) -> None:
    if callable(getattr(np.ndarray, name, None)):
        ask_numpy(as_python_calls(name), (array, *args), kwargs, error)


def as_python_calls(name: str) -> Callable[..., Any]:
    """Return what calls a method of an array; an operator's as Python does, which asks the other operand, too."""
    operators: dict[str, Callable[..., Any]] = {**vars(operator), "__divmod__": divmod}
    if (forward := operators.get(name)) is not None:
        return forward
    if (mirrored := operators.get(f"__{name[3:]}")) is not None:
        return lambda x, other: mirrored(other, x)
    return lambda x, *given, **named: getattr(x, name)(*given, **named)


_PLAIN: dict[type, Callable[[Any], Any]] = {
    ArrayTracer: plain_array, ZeroDimArray: plain_zero_dim, NumberTracer: plain_number, DecidedNumber: plain_number,
}  # fmt: skip


def _goes_after(array: Any, kinds: Iterable[type]) -> bool:
    """Return whether a number, or an array without axes, lets another be asked first that Python would ask later."""
    return type(array) not in GOES_FIRST and not GOES_FIRST.isdisjoint(kinds)


def _instead(f: Callable[..., Any], made: Any) -> Callable[..., Any]:
    """Return ``made``, under the name of ``f``: ``functools.wraps`` takes four times as long, for each of a hundred."""
    made.__name__, made.__qualname__, made.__doc__, made.__wrapped__ = f.__name__, f.__qualname__, f.__doc__, f
    named: Callable[..., Any] = made
    return named


def _kept(name: str, f: Callable[..., Any], of_arrays: bool = False, is_binary: bool = False) -> Callable[..., Any]:
    """Return an operator or method that gives the kind that its operands make together; some give arrays of arrays."""

    def operated(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_binary and _goes_after(self, (type(args[0]),)):
            return NotImplemented
        out, others, named = without_out(place, args, kwargs)
        try:
            made = f(self, *others, **named)
            if out is not None:
                return written(getattr(np, name, f), out, made)
            if made is NotImplemented:
                return made
            kind = kind_of((*others, *named.values()), ArrayTracer)
            gives = of_arrays and kind is ArrayTracer and is_array(self, ZeroDimArray)
            if gives_views and kind is ArrayTracer:
                return self.given_views(name, made, lambda x: getattr(x, name)(*others, **named), gives)
            return taken(self, marked(ZeroDimArray if gives else kind, made), TextTracer)
        except Exception as error:
            if isinstance(error, ValueError):
                refuse_first_of_two(getattr(np, name, f), (self, *others, *named.values()), out, error)
            _ask_of_method(name, self, args, kwargs, error)
            raise

    place = None if (found := place_of_out(f)) is None else found - 1
    gives_views = name_of_view(name) is not None
    return _instead(f, operated)


def _asking(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that lets an argument say what is made of it, if it knows that itself."""

    def asking(self: ArrayTracer, *args: Any, **kwargs: Any) -> Any:
        if (first := asked_first((*args, *kwargs.values()))) is not None:
            return first.given_to(functools.partial(method, self), args, kwargs)
        if (theirs := theirs_here()) is not None:
            theirs.check_method(self, method.__name__, args, kwargs)
            made = method(self, *args, **kwargs)
            theirs.check_answer(self, method.__name__, args, kwargs, made)
            return theirs.note_said(method.__name__, kwargs, made)
        return method(self, *args, **kwargs)

    return _instead(method, asking)


def meant(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a method that arrays of other libraries may lack."""

    def asked(self: ArrayTracer, *args: Any, **kwargs: Any) -> Any:
        if (theirs := theirs_here()) is not None:
            theirs.check_meaning(self, name, bool(args or kwargs))
        return method(self, *args, **kwargs)

    return _instead(method, asked)


def _answered(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that changes an array, and raises what NumPy's does."""

    def answered(self: ArrayTracer, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except Exception as error:
            _ask_of_method(method.__name__, self, args, kwargs, error)
            raise

    return _instead(method, answered)


def _read(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``__getitem__``, which has words of its own for scalars."""

    def read(self: ArrayTracer, index: Any) -> Any:
        if (theirs := theirs_here()) is not None:
            theirs.check_part(self, index)
        try:
            return method(self, index)
        except IndexError as error:
            if self.is_scalar:
                _ask_of_method(method.__name__, self, (index,), {}, error)
            raise

    return _instead(method, read)


def _written_to(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``__setitem__``, of brackets that arrays of other libraries may not take."""

    def write(self: ArrayTracer, index: Any, value: Any) -> None:
        if (theirs := theirs_here()) is not None:
            theirs.check_part(self, index)
        method(self, index, value)

    return _instead(method, write)


def _of_arrays_only(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method, or the getter of an attribute, that NumPy's scalars have not."""

    def asked(self: ArrayTracer, *args: Any, **kwargs: Any) -> Any:
        if self.is_scalar and not self.storage.is_without_axes:
            raise lacking(self.dtype.type, name)
        return method(self, *args, **kwargs)

    return _instead(method, asked)


def _kept_attribute(f: Callable[..., Any], of_arrays: bool) -> Callable[[Any], Any]:
    """Return the getter of an attribute that gives the kind of its owner."""
    name = f.__name__
    if name_of_view(name) is None:
        return _kept(name, f, of_arrays)

    def viewed(self: ArrayTracer) -> Any:
        gives = of_arrays and is_array(self, ZeroDimArray)
        made = self.given_views(name, f(self), operator.attrgetter(name), gives)
        others = theirs_here()  # of reals the imaginary part is made of the shape alone
        return made if others is None else others.given((self,), made)

    return viewed


_LACKED_BY_SCALARS = ("argpartition", "dot", "mT")


def _keep_kinds(base: type) -> None:
    for name, f in vars(base).items():
        theirs = any(name in vars(kind) for kind in (Attributes, Changing, References))
        if theirs or name in ("__hash__", "__init_subclass__", "__round__"):
            continue
        if isinstance(f, property) and f.fget is not None:
            setter = part_setter(name) if hasattr(getattr(np.ndarray, name, None), "__set__") else None
            getter = _kept_attribute(f.fget, name in METHODS_OF_ARRAYS)
            getter = _of_arrays_only(name, getter) if name in _LACKED_BY_SCALARS else getter
            setattr(ArrayTracer, name, property(getter, setter, doc=f.__doc__))
        elif callable(f):
            kept = _kept(name, f, name in METHODS_OF_ARRAYS, name[2:-2] in (*BINARY, *COMPARISONS, "eq", "ne"))
            kept = _of_arrays_only(name, kept) if name in _LACKED_BY_SCALARS else kept
            setattr(ArrayTracer, name, _asking(kept) if base is Methods else kept)


for _base in (Operators, Methods):
    _keep_kinds(_base)
for _name, _method in vars(Changing).items():
    if callable(_method) and _name[:2] != "__":
        setattr(ArrayTracer, _name, _asking(_answered(_method)))
for _room in (Attributes, Memory):
    for _name, _method in vars(_room).items():
        if callable(_method) and _name[:1] != "_" and _name not in vars(ArrayTracer):
            setattr(ArrayTracer, _name, meant(_method, _name))
setattr(ArrayTracer, "__getitem__", _read(ArrayTracer.__getitem__))  # noqa: B010
setattr(ArrayTracer, "__setitem__", _written_to(ArrayTracer.__setitem__))  # noqa: B010
