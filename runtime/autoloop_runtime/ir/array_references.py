"""Reading and writing the user's arrays while a function is traced: directly, and through views of them.

A view reads its elements from the array that it is a view of, and what is written to it goes there. ``a[i][j] = v`` is
one assignment to ``a`` at ``[i, j]`` where the two indices can be made one.

One file: of two faults NumPy tells one, so what is written and where are looked at together.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..base.dataclass import replace
from ..base.forks import undivided
from ..base.stand_ins import UnknownWhileTracing, in_numpys_words
from .array_memory import place_in_all
from .array_storage import Storage, kept, may_be_lazy, refuse_without_axes
from .array_views import View, layout_of_part, linked, name_of_view, new_layout, part_of_scalar
from .asked_for_text import value_is_asked
from .basic_indices import (
    composed,
    depends_on_tensors,
    gives_view,
    has_ellipsis,
    in_whole,
    is_basic,
    is_element,
    names_element,
    place_of_number,
    rearranged,
    settled,
)
from .graph import current_graph, is_at_hand, theirs_here
from .op import call
from .plain_values import as_element, check_casts, of_no_numbers
from .tensor import Tensor
from .tensor_operators import BINARY, asked_first

if TYPE_CHECKING:
    from ..base.dtypes import DType
    from ..base.shapes import TensorShape


class Rows:
    """The rows of an array as a sequence: Python makes of it the iterator that it makes of an array."""

    __slots__ = ("_array", "_count")

    def __init__(self, array: Any, count: int) -> None:
        self._array, self._count = array, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Any:
        if index >= self._count:
            raise IndexError(index)
        return self._array[index]


class References:
    """What a reference to an array can do.

    Attributes
    ----------
    storage : Storage
        The memory.
    view_of : View or None
        How it is a part of that, if it is one.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        storage: Storage
        view_of: View | None
        dtype: DType
        _seen: Any
        _layout: Any
        _is_frozen: bool

        def __init__(self, tensor: Tensor) -> None: ...
        def freeze(self, is_frozen: bool) -> None: ...
        @property
        def shape(self) -> TensorShape: ...
        @property
        def is_scalar(self) -> bool: ...
        @staticmethod
        def kind_of_part(made: Tensor, is_array: bool = True) -> Any: ...

    def current(self) -> Tensor:
        """Return what the array holds now."""
        storage, view = self.storage, self.view_of
        held = storage.get()
        if view is None:
            return held
        seen, graph = self._seen, current_graph()
        if seen is not None and seen[0] == storage.version and _is_seen_here(view, seen, graph):
            known: Tensor = seen[2]
            return known
        made = view.forward(view.parent.current())
        self._seen = (storage.version, graph, made)
        return made

    def known(self) -> Tensor:
        """Return what the array held when it was looked at last: asking for its shape is not reading it."""
        held: Tensor = self.storage.tensor if self.view_of is None else self._seen[2]
        return held

    # -- views --------------------------------------------------------------------------------------------

    @property
    def layout(self) -> Any:
        """An array that lies in memory as this one does, without its contents; None if that is not known."""
        if self._layout is None and self.view_of is None:
            known = self.storage.lying
            self._layout = new_layout(self.current(), None if known is None else known.strides)
        return self._layout

    def viewed(self, view: View, made: Tensor, layout: Any, is_array: bool = True) -> Any:
        """Return a view of this array."""
        kind = self.kind_of_part(made, is_array or made.shape.rank is not None)
        return _viewed(self, kind, view, made, layout)

    def seen_in(self, parent: Any) -> Any:
        """Return the view of another array that this is of its own; this one if only the run knows which part it is."""
        view = self.view_of
        if view is None:
            return self
        if isinstance(parent, np.ndarray):
            return self if view.real is None else view.real(parent)
        made = view.forward(parent.current())
        return parent.viewed(replace(view, parent=parent), made, self.layout, not self.is_scalar)

    def __getitem__(self, index: Any) -> Any:
        if self.view_of is not None and self.view_of.is_flat:
            index = _read_of_flat(self, index)
            if (place := _place_in_parent(self.view_of, index)) is not None:
                return self.view_of.parent[place]
        held = self.current()
        made = _part(self, held, index)
        if made.node is None:  # to another thread it is the real array
            return made.value if made.shape.rank else made.value[()]
        if type(index) is tuple and not index and self.shape.rank == 0 and may_be_lazy(self):
            return _given(self, "[()]", self.kind_of_part(made)(made), lambda array: array[()], False)
        if not is_basic(index) or is_element(index, held.shape) or not gives_view(index):
            return _element(self, index, self.kind_of_part(made, has_ellipsis(index))(made))
        if self.is_scalar:
            return part_of_scalar(self, made, True)
        if self.view_of is not None and self.view_of.is_flat:
            return self.kind_of_part(made)(made)
        parent, layout = self, layout_of_part(self.layout, index)
        if (around := in_whole(self.view_of, index)) is not None:  # so a part of a part is one of the whole
            parent, index = around
            made = call("getitem", parent.current(), index)
        index = settled(index)
        view = View(
            parent,
            lambda array: call("getitem", array, index),
            lambda array, new: call("set_item", array, index, new),
            index,
            writeable=self.is_writeable,
            real=None if depends_on_tensors(index) else lambda array: array[index],
        )
        return self.viewed(view, made, layout, not names_element(index))

    def __iter__(self) -> Iterator[Any]:
        if self.shape.rank == 0:
            what = f"'numpy.{self.dtype.type.__name__}' object is not iterable"
            raise in_numpys_words(TypeError(what if self.is_scalar else "iteration over a 0-d array"))
        if not self.shape.rank or (count := self.shape.as_list()[0]) is None:
            value_is_asked(self, 1)
            return super().__iter__()  # type: ignore[misc, no-any-return]  # which says what is wrong
        return iter(Rows(self, count))  # each as it is when its turn comes

    def given_views(self, theirs: Any, made: Any, again: Callable[[Any], Any], is_array: bool) -> Any:
        """Return what a function of NumPy's gave of this array as what NumPy gives; None if that is no view of it."""
        name = name_of_view(theirs)
        return None if name is None else _given(self, name, made, again, is_array)

    @property
    def is_writeable(self) -> bool:
        """Whether the array may be written to, as far as the trace has said."""
        return self.view_of.writeable if self.view_of is not None else not self._is_frozen

    # -- writing ------------------------------------------------------------------------------------------

    def __setitem__(self, index: Any, value: Any) -> None:
        if (first := asked_first((index, value))) is not None:
            first.given_to(self.__setitem__, (index, value), {})
            return
        self.check_writeable()
        _write(self, index, value)

    def check_writeable(self) -> None:
        """Raise what NumPy raises if the array is read-only, or none at all."""
        if self.is_scalar:
            _refuse_scalar(self)
        if not self.is_writeable:
            raise ValueError("assignment destination is read-only")

    def assign(self, index: Any, value: Any) -> None:
        """Write ``value`` to the elements at an index."""
        value = _as_written(self, index, value)
        if isinstance(value, (list, tuple)) and is_basic(index) and self._holds_part_of(value):
            part = self[index]
            rank = _rank_of(value)
            if part.shape.rank is None or rank is None or rank >= part.shape.rank:
                part.assign_each(value)
                return
        view = self.view_of
        if view is None:
            self.storage.put(call("set_item", self.current(), index, value))
            return
        both, value = _in_parent(self, view, index, value)
        if both is None:
            self.overwrite(call("set_item", self.current(), index, value))
        else:
            view.parent.assign(both, value)

    def assign_each(self, values: Any) -> None:
        """Write the elements of a list that holds parts of this array, as NumPy does: one after the other, so that a
        later one may be changed when its turn comes.

        Raises
        ------
        UnknownWhileTracing
            If only the run knows which goes where.
        """
        if (
            self.shape.rank in (0, None)
            or self.shape.as_list()[0] != len(values)
            or _rank_of(values) != self.shape.rank
        ):
            raise UnknownWhileTracing(
                "a list or tuple is assigned that holds parts of the very array that is written to, which NumPy writes "
                "one after the other: assign np.array([...]) of them, or a copy of each, x[0].copy()"
            )
        for place, value in enumerate(values):
            self[place] = value

    def _holds_part_of(self, values: Any) -> bool:
        """Return whether a list holds an array that is, or may be, a part of this one."""
        mine = set(self.storage.origins())
        for value in values:
            storage = kept(value)
            if isinstance(value, (list, tuple)):
                if self._holds_part_of(value):
                    return True
            elif storage is not None and value.shape.rank != 0 and not mine.isdisjoint(storage.origins()):
                return True
        return False

    def overwrite(self, new: Tensor) -> None:
        """Let the array hold ``new``, which has its dtype and shape."""
        view = self.view_of
        if view is None:
            self.storage.put(new.plain)
        elif view.index is not None:
            view.parent.assign(view.index, new)
        else:
            assert view.backward is not None
            view.parent.overwrite(view.backward(view.parent.current(), new))

    def absorb(self, made: Any, casting: Any = "same_kind", what: Any = np.add) -> None:
        """Write what a function gave for ``out`` to this array.

        Raises
        ------
        TypeError
            If it has a dtype that NumPy would not cast to this one's.
        ValueError
            If it has another shape.
        """
        self.check_writeable()
        _check_into(self, made)
        dtype, shape = self.dtype, self.shape
        if not np.can_cast(made.dtype, dtype, casting):
            refuse_cast(what, made.dtype, dtype, casting)
        made = made if made.dtype == dtype else call("cast", made, dtype)
        mine, its = shape.is_fully_defined(), made.shape.is_fully_defined()
        is_deeper = None not in (made.shape.rank, shape.rank) and len(made.shape) > len(shape)  # assignments take it
        if is_deeper or (mine and its and made.shape.as_tuple() != shape.as_tuple()):
            given, wanted = (str(tuple(one.known)).replace(" ", "") for one in (made.shape, shape))
            raise ValueError(
                f"non-broadcastable output operand with shape {wanted} doesn't match the broadcast shape {given}"
            )
        if mine and its:
            self.overwrite(made)
        else:
            self.assign(Ellipsis, made)

    def __delitem__(self, index: Any) -> None:
        if self.is_scalar:
            operator.delitem(self.dtype.type(1), 0)  # which says what it cannot
        raise ValueError("cannot delete array elements")

    def __copy__(self) -> Any:
        _refuse_copy(self)
        return type(self)(call("identity", self.current()))

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __pos__(self) -> Any:
        # NumPy has no such operator for booleans, and says so; of an array without axes it makes a scalar
        if (theirs := theirs_here()) is not None and theirs.may_hold(self):
            return theirs.positive(self)
        is_copy = self.dtype.kind != "b" and self.shape.rank
        return self.__copy__() if is_copy else np.positive(self)  # type: ignore[call-overload]


def _refuse_copy(array: References) -> None:
    if (theirs := theirs_here()) is not None and theirs.may_hold(array):
        theirs.refuse("copy.copy")


def _given(array: References, name: str, made: Any, again: Callable[[Any], Any], is_array: bool) -> Any:
    others = theirs_here() if isinstance(made, Tensor) and (array.shape.rank or may_be_lazy(array)) else None
    if others is not None and (is_itself := others.is_itself(array, again)) is not None:
        return array if is_itself else array.kind_of_part(made, is_array)(made)
    return linked(array, name, made, again, is_array)


def _viewed(array: References, kind: Any, view: View, made: Tensor, layout: Any) -> Any:
    if (theirs := theirs_here()) is not None and theirs.are_apart(array):
        if theirs.is_another(array, made, view.index):
            return kind(made)
        if view.real is not None and (is_itself := theirs.is_itself(array, view.real)) is not None:
            return array if is_itself else kind(made)
        return _apart(array, kind(made))
    new = kind.__new__(kind)
    new.dtype, new.storage, new.view_of = made.dtype, array.storage, view
    new._layout, new._seen = layout, (array.storage.version, current_graph(), made.plain)
    return new


def _apart(array: References, part: Any) -> Any:
    """Return a part of an array, of which it is noted that it may be a view of that."""
    part.storage.perhaps(array.storage)
    return part


def _element(array: References, index: Any, part: Any) -> Any:
    """Return what an array has at an index that makes no view; an element of another library's array is one."""
    if (theirs := theirs_here()) is not None and is_basic(index) and theirs.are_views(array):
        part.storage.part_of = array.storage
        return _apart(array, part)
    return part


def _is_seen_here(view: View, seen: Any, graph: Any) -> bool:
    """Return whether a view that was looked at before need not be looked at again in ``graph``.

    A block looks for itself: a part that is given to it from outside is one that others hold, so a copy if the block
    writes to the array.
    """
    return (view.index is None or seen[1] is graph) and is_at_hand(seen[2], seen[1])


def _write(array: References, index: Any, value: Any) -> None:
    """Write to a part of an array; of two faults tell the one that NumPy comes to first."""
    is_flat, held = array.view_of is not None and array.view_of.is_flat, array.current()
    is_element_of_flat, given = is_flat and _is_place(index), index
    if is_flat:
        _check_flat(index, True)
        index = place_in_all(array, index) if is_element_of_flat else index
    is_one = is_element_of_flat or (is_basic(index) and is_element(index, array.shape))
    value = of_no_numbers(array.dtype, value, is_one, is_flat)
    if is_flat and not is_one:
        _check_repeated(array, index, value)
    try:
        new = value
        if is_element_of_flat:
            _check_element(array.dtype, value)
            new = as_element(array.dtype, value, True)
        _check_sequence(array, index, new)
        with undivided():
            from .overlapping_copies import check_assigned

        check_assigned(array, index, new)
        array.assign(index, new)
    except (TypeError, ValueError, OverflowError):
        gathers = _gathers(index)
        if is_element_of_flat or not (is_flat or gathers) or (is_flat and gathers and _converts(array.dtype, value)):
            call("getitem", held, given)  # NumPy looks for the place first, and says what is wrong with that
        raise


def _in_parent(array: References, view: View, index: Any, value: Any) -> tuple[Any, Any]:
    """Return the index that the array of a view has for a part of that, and what is assigned there; None if it has no
    such index."""
    if view.axes is not None:
        return rearranged(view.axes, index, value), value
    if view.is_flat:
        return _place_in_parent(view, index), value
    if view.is_of_each and is_element(index, array.shape) and _is_number_of(array.dtype, value):
        return index, _element_with(view, index, call("cast", value, array.dtype))
    return (None if view.index is None else composed(view.parent.shape, view.index, index)), value


def _part(array: References, held: Tensor, index: Any) -> Tensor:
    """Return what an array, which holds ``held``, has at an index: one real part is that of one element."""
    view = array.view_of
    if view is not None and view.is_of_each and is_element(index, array.shape):
        return view.forward(call("getitem", view.parent.current(), index))
    made: Tensor = call("getitem", held, index)
    return made


def _element_with(view: View, index: Any, part: Tensor) -> Tensor:
    """Return the element of an array of which ``view`` gives a part, with another part."""
    assert view.backward is not None
    return view.backward(call("getitem", view.parent.current(), index), part)


def _is_number_of(dtype: Any, value: Any) -> bool:
    """Return whether a value is a number of a dtype, or an integer or float that is one without a doubt."""
    if isinstance(value, Tensor | np.generic):
        return value.dtype == dtype and _is_without_axes(value)
    return type(value) in (int, float) and dtype == np.float64 and abs(value) < 1 << 53


def _place_in_parent(view: View, index: Any) -> Any:
    """Return the index that an array has for one element of its ``flat``; None if that needs no other, or is not known.

    Of an array whose elements lie in another order than C's, or apart, all elements would be copied otherwise.
    """
    shape = view.parent.shape
    if not _is_place(index) or shape.rank in (None, 0, 1) or not shape.is_fully_defined():
        return None
    with undivided():
        from .overlapping_copies import lies_in_order

    return None if lies_in_order(view.parent) else place_of_number(shape.as_tuple(), index)


def _converts(dtype: Any, value: Any) -> bool:
    """Return whether NumPy makes elements of a value, however many."""
    if isinstance(value, Tensor):
        return True
    try:
        np.empty(np.shape(value), dtype)[...] = value
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _refuse_scalar(array: Any) -> NoReturn:
    """Raise what NumPy raises if one of its scalars is written to; to what is none we do not write."""
    if array.storage.is_without_axes:
        refuse_without_axes()
    if (theirs := theirs_here()) is not None:
        theirs.check_scalar_written(array)
    raise TypeError(f"'numpy.{array.dtype.name}' object does not support item assignment")


def _read_of_flat(array: References, index: Any) -> Any:
    """Return the index that is read of ``a.flat``."""
    _check_flat(index, False)
    return place_in_all(array, index) if _is_place(index) else index


def _check_flat(index: Any, is_written: bool) -> None:
    """Leave to NumPy what ``a.flat`` makes of an index in a way of its own, which depends on the version."""
    if isinstance(index, tuple) and len(index) == 1:
        index = (index[0],) if isinstance(index[0], bool | np.bool_) else index[0]
    if isinstance(index, Tensor | np.ndarray):
        is_usual = index.dtype.kind in "iu" or (index.dtype.kind == "b" and len(index.shape) == 1)
    elif isinstance(index, list):
        is_usual = all(isinstance(one, int | np.integer | Tensor) and not isinstance(one, bool) for one in index)
    elif index is Ellipsis or isinstance(index, tuple):
        is_usual = not is_written and index in (Ellipsis, ())
    else:
        is_usual = isinstance(index, int | np.integer | slice) and not isinstance(index, bool)
    if not is_usual:
        raise UnknownWhileTracing(
            "which elements x.flat[...] has at such an index is for the installed NumPy to say; write an integer, a "
            "slice or an array of integers"
        )


def _gathers(index: Any) -> bool:
    """Return whether an index has lists or arrays of integers: they are looked for after what is written."""
    parts = index if isinstance(index, tuple) else (index,)
    listed = [one for one in parts if (one.shape.rank != 0 if isinstance(one, Tensor) else np.ndim(one))]
    return any((one if isinstance(one, Tensor) else np.asarray(one)).dtype.kind in "iu" for one in listed)


def _rank_of(values: Any) -> int | None:
    """Return how many axes NumPy finds in a list of arrays and lists; None if that is not known."""
    rank = 0
    while isinstance(values, (list, tuple)):
        rank, values = rank + 1, values[0] if len(values) else 0
    inner = values.shape.rank if isinstance(values, Tensor) else np.ndim(values)
    return None if inner is None else rank + inner


def refuse_cast(what: Any, given: Any, wanted: Any, casting: str) -> None:
    """Raise NumPy's error for a result that cannot be written to an array of a dtype."""
    name = getattr(what, "__name__", str(what))
    try:
        np.add(np.zeros((), given), np.zeros((), given), out=np.zeros((), wanted))
    except TypeError as error:
        raise type(error)(what if isinstance(what, np.ufunc) else np.add, casting, given, wanted, 0) from None
    raise TypeError(f"Cannot cast the output of {name} from {given!r} to {wanted!r} with casting rule {casting!r}")


def _is_without_axes(operand: Any) -> bool:
    return operand.shape.rank == 0 if isinstance(operand, Tensor) else np.ndim(operand) == 0


def _as_written(array: References, index: Any, value: Any) -> Any:
    if (theirs := theirs_here()) is not None and theirs.holds(array) is False:
        value = theirs.as_numpys(value)
    is_cast = array.view_of is not None and array.view_of.is_flat and not _is_place(index)
    return as_element(array.dtype, value) if value is None or (is_basic(index) and not is_cast) else value


def _check_repeated(array: References, index: Any, value: Any) -> None:
    """Leave to NumPy what writes more or fewer values to ``a.flat`` than there are places: it repeats them, as put."""
    if not _rank_of(value):
        return
    given = value.shape.num_elements() if isinstance(value, Tensor) else np.size(_example(value))
    known = array.shape.is_fully_defined() and not depends_on_tensors(index) and not isinstance(index, Tensor)
    places = np.empty(array.shape.as_tuple(), bool).ravel()[index].size if known else None
    if None not in (given, places) and given != places:
        raise UnknownWhileTracing("x.flat[...] takes as many values as it has places: write x[...] = values, or np.put")


def _is_place(index: Any) -> bool:
    is_one = isinstance(index, int | np.integer) or (isinstance(index, Tensor) and index.shape.rank == 0)
    return is_one and not isinstance(index, bool)


def _check_element(dtype: Any, value: Any) -> None:
    """Raise what NumPy raises for a number that does not fit one element of ``x.flat``."""
    if isinstance(value, int | float | complex | str | np.generic) and not isinstance(value, Tensor):
        np.empty(1, dtype).flat[0] = value


def _check_sequence(array: References, index: Any, value: Any) -> None:
    """Raise what NumPy raises for a sequence that is assigned to one element, and for a list that has more axes than
    its part, before it is: also where nobody reads that later."""
    is_flat = array.view_of is not None and array.view_of.is_flat
    rank = _rank_of(value) if isinstance(value, (Tensor, np.ndarray, list, tuple, range)) else None
    if not rank or not is_basic(index) or depends_on_tensors(index) or not array.shape.is_fully_defined():
        return
    is_one = is_element(index, array.shape)
    if is_one or (isinstance(value, (list, tuple)) and not is_flat):
        axes = np.broadcast_to(False, array.shape.as_tuple())[index].ndim  # which asks whether there is such a part
        if axes < rank:
            call("assigned_sequence", array.dtype, axes, _example(value), is_one, is_flat)


def _example(value: Any) -> Any:
    """Return a value with ones for what only the run knows."""
    if isinstance(value, (list, tuple)):
        return [_example(one) for one in value]
    if isinstance(value, Tensor) and value.shape.rank is not None:
        return np.ones([1 if extent is None else extent for extent in value.shape.as_list()], value.dtype)[()]
    return value


def _check_into(array: Any, made: Any) -> None:
    """Refuse what another library does not write to an array of NumPy's."""
    if (theirs := theirs_here()) is not None:
        theirs.check_into(array, made)


def _augmented(name: str, ufunc: Any) -> Callable[[Any, Any], Any]:
    apply = getattr(operator, f"__{name}__")

    def operate(self: Any, other: Any) -> Any:
        if not self.meets_arrays(other):
            return NotImplemented
        if getattr(type(other), "__array_ufunc__", self) is None and not self.is_scalar:
            words = f"operand {type(other).__name__!r} does not support ufuncs (__array_ufunc__=None)"
            raise in_numpys_words(TypeError(words))
        if (theirs := theirs_here()) is not None and theirs.are_changed_anew(self):
            made = apply(self, other)
            theirs.lose(self)
            return made
        if self.is_scalar:
            if self.storage.is_without_axes:
                refuse_without_axes()
            return NotImplemented
        if self.shape.rank is None and self.storage.argument is None and not _is_without_axes(other):
            raise UnknownWhileTracing(
                "only the run tells whether this is a scalar, for which an augmented assignment gives the name a new "
                "value, or an array, which it changes: write x = x + y instead of x += y"
            )
        if self.view_of is not None and self.view_of.is_flat:
            raise TypeError(
                f"{name} of 'numpy.flatiter', which has no operators: write x.flat[:] instead of x.flat [AL029]"
            )
        try:
            made = apply(self, other)
        except ValueError:
            check_casts(ufunc, (self, other), (self,))
            raise
        self.absorb(made, "same_kind", ufunc)
        return self

    return operate


for _name, _public in BINARY.items():
    setattr(References, f"__i{_name}__", _augmented(_name, getattr(np, _public, np.power)))
