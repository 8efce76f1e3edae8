"""Builtins with a meaning for tensors."""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import theirs_here
from autoloop_runtime.ir.number_operators import as_number, number_type
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.text_operators import of_texts
from autoloop_runtime.ir.tracers import ArrayTracer, Kind, NumberTracer, TextTracer, kind_of, marked

from ... import operators
from ...conversion.callables import STAGED_BUILTINS
from ...errors import mark_programs_own, programs_own
from ...left_to_python import leave_unknown, refuse_unknown
from ..mutation.outside_world import stays
from ..staging.clauses import clauses_of
from ..staging.container_contents import elements
from ..staging.mixed_numbers import MixedNumber
from ..staging.moved_lists import refuse_moved
from ..staging.raising import Raising, raise_unless
from ..staging.staged_values import answer, asked, is_staged, truth
from ..staging.standins import Face, IteratorFace, is_growing, present
from ..staging.users_methods import method_of, says_itself
from . import library_calls as libraries
from .iterables import StagedIterable, as_staged, iterable_of, run_over, staged_range
from .library_functions import called
from .pythons_words import in_pythons_words

_SPECIAL: dict[Any, str] = {
    one: f"__{one.__name__}__" for one in (abs, bool, complex, divmod, float, int, len, pow, reversed, round)
}


#: they ask each iterator that they are given for its elements, at once or when they are asked themselves
_RUN_OVER = (all, any, dict, enumerate, filter, frozenset, list, map, max, min, set, sorted, sum, tuple, zip)
_LAZY = (enumerate, filter, map, reversed, zip, range)  # they advance what they are given when somebody asks them
_AMBIGUOUS = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"


def _later(name: str) -> Callable[..., Any]:
    """Return an operator whose module is loaded when it is first called: most programs call few of all builtins."""

    def later(*args: Any, **kwargs: Any) -> Any:
        return getattr(operators, name)(*args, **kwargs)

    return later


def _made_later(name: str, *given: Any) -> Callable[..., Any]:
    """Return what an operator makes, when it is first called."""
    return lambda *args: getattr(operators, name)(*given)(*args)


def _is_mixed(value: Any) -> bool:
    return type(value) is MixedNumber


def _is_staged(value: Any) -> bool:
    return is_growing(value) or isinstance(value, Face) or is_staged(value)


def _is_staged_value(value: Any) -> bool:
    """Return whether a value is for the graph; who does not run over it an iterator tells that it is none."""
    return _is_staged(value) and not isinstance(value, IteratorFace)


def _with_staged(plain: Callable[..., Any], staged: Callable[..., Any]) -> Callable[..., Any]:
    """Return a builtin that takes another way when an argument is staged, or has a method of the user's for it."""
    special = _SPECIAL.get(plain)
    is_for_graph = _is_staged if plain in _RUN_OVER else _is_staged_value

    def chosen(*args: Any, **kwargs: Any) -> Any:
        args = tuple(map(present, args))
        for one in args:
            refuse_moved(one if plain in _LAZY else stays(one))
        is_mixed = any(map(_is_mixed, args)) or any(map(_is_mixed, kwargs.values()))
        if is_mixed and plain not in (dict, max, min):
            return operators.of_mixed(plain, chosen, args, kwargs)
        if is_mixed or any(map(is_for_graph, args)) or any(map(is_for_graph, kwargs.values())):
            return staged(*args, **kwargs)
        if special is not None and args and (method := method_of(args[0], special)) is not None:
            return method(*args[1:], **kwargs)
        try:
            return plain(*args, **kwargs)
        except Exception as error:
            mark_programs_own(error)
            raise

    return chosen


def _applied(plain: Callable[..., Any], staged: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``map`` or ``filter``, which call their first argument as converted code calls it."""
    chosen = _with_staged(plain, staged)

    def with_function(function: Any, *iterables: Any) -> Any:
        return chosen(called(function), *iterables) if iterables else plain(function)

    return with_function


def _as_text(plain: Callable[..., Any], staged: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``str``, ``repr`` or ``format``: the text of what holds a tensor is made at run time."""

    def chosen(*args: Any, **kwargs: Any) -> Any:
        is_known = not args or not (operators.holds_staged(args[0]) or says_itself(args[0]))
        return (plain if is_known else staged)(*args, **kwargs)

    return chosen


def _len(value: Any) -> Any:
    counted = value if is_growing(value) else iterable_of(value)
    if counted is not None:
        return as_number(counted.length, NumberTracer)
    if isinstance(value, TextTracer):
        return of_texts(len, int, value)
    if isinstance(value, ArrayTracer) and (theirs := theirs_here()) is not None:
        theirs.check_length(value)
    tensor = convert_to_tensor(value)
    if tensor.shape.rank == 0:
        operators.tried(len, value)  # which says what has none
        raise programs_own(TypeError("a tensor without dimensions has no len() [AL007]"))
    if tensor.shape.rank is not None and (static := tensor.shape.as_list()[0]) is not None:
        return static
    if tensor.shape.rank is None:
        raise_unless(ops.greater(ops.rank(tensor), 0), Raising(TypeError, _unsized))
    length = ops.size(tensor) if tensor.shape.rank == 1 else ops.getitem(ops.shape(tensor), 0)
    return answer(ops.cast(length, dtypes.int64), value)


def _unsized() -> TypeError:
    return TypeError("len() of unsized object")


def _divmod(one: Any, other: Any) -> Any:
    if {number_type(one), number_type(other)} in ({float}, {float, int}, {float, bool}):  # ``//`` says less of a zero
        raise_unless(ops.not_equal(convert_to_tensor(other), 0), Raising(ZeroDivisionError, _float_divided_by_zero))
    try:  # operators know of what is a number in one run and an array in another
        return one // other, one % other
    except TypeError:
        return divmod(one, other)  # which has words of its own


def _float_divided_by_zero() -> BaseException:
    try:
        divmod(1.0, 0.0)
    except ZeroDivisionError as error:
        return error.with_traceback(None)
    raise AssertionError("unreachable")


def _iterated(plain: Callable[..., Any], staged: Callable[..., Any], over: Callable[..., Any]) -> Callable[..., Any]:
    """Return a builtin that takes a third way for one Python iterable: what that gives may be tensors."""
    chosen = _with_staged(plain, staged)

    def iterated(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1:
            operators.of_one_kind(plain, args[0])
        if len(args) == 1 and plain is not sorted and (clauses := clauses_of(args[0], plain in (any, all))) is not None:
            return operators.used_up(
                plain, clauses, **({**kwargs, "key": called(kwargs["key"])} if "key" in kwargs else kwargs)
            )
        if len(args) == 1 and plain in (any, all) and iterable_of(args[0]) is not None:
            return operators.used_up(plain, args[0])  # the functions in it are called until the answer is known
        if len(args) == 1 and isinstance(args[0], Iterable):
            by_key = kwargs.get("key") is not None or iterable_of(args[0]) is not None
            if not (by_key and plain in (max, min) and operators.has_known_length(args[0])) and _is_staged(args[0]):
                return chosen(*args, **kwargs)
            refuse_moved(stays(args[0]))
            return over(operators.elements(args[0]), **kwargs)
        if len(args) > 1 and plain in (max, min) and builtins.any(map(operators.asks_the_run, args)):
            return over(args, **kwargs)
        return chosen(*args, **kwargs)

    return iterated


def _extreme(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``max`` or ``min`` of what an iterable gives."""

    def extreme(values: Any, *, key: Any = None, **default: Any) -> Any:
        return operators.extreme_of(plain, values, called(key), **default)

    return extreme


def _sorted_of(values: Any, *, key: Any = None, reverse: bool = False) -> Any:
    return operators.sorted_by(list(values), called(key), reverse)


def _reduced(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``min`` and ``max``: over the elements of one tensor, or over several arguments."""

    def reduced(*args: Any, key: Any = None, **default: Any) -> Any:
        if len(args) > 1:
            if default:
                plain(0, 0, **default)  # says that it has no meaning
            return _extreme(plain)(args, key=key)
        if key is not None or iterable_of(args[0]) is not None:
            return operators.extreme_of_each(plain, args[0], key=called(key), **default)
        if is_growing(args[0]) and args[0].several:
            return operators.extreme_of_several(plain, args[0], **default)
        array, kind = _gathered(args[0])
        if kind is not Tensor and convert_to_tensor(array).shape.rank == 0:
            operators.tried(iter, args[0])  # which says what it is not
        return operators.extreme_element(plain, convert_to_tensor(array), kind, **default)

    return reduced


def _numbers(values: Any) -> Any:
    """Return a tensor whose elements Python would compare one by one; its rows it cannot."""
    tensor = convert_to_tensor(values)
    if tensor.shape.rank is not None and tensor.shape.rank > 1 and tensor.shape.as_list()[0] != 0:
        if all(extent in (None, 1) for extent in tensor.shape.as_list()[1:]):
            refuse_unknown("rows that have one element are asked whether they are true", "write x.ravel()")
        raise programs_own(ValueError(_AMBIGUOUS))
    return tensor


def _elements(values: Any) -> Any:
    """Return a tensor of the elements that Python would ask one by one whether they are true."""
    tensor = _numbers(_gathered(values)[0])
    if tensor.shape.rank == 0:
        iter(values)  # which says what it is not
    return tensor


def _sum(values: Any, start: Any = 0) -> Any:
    if not _is_staged(values):
        return functools.reduce(lambda total, one: operators.binary(total, "+", one), values, start)
    if is_growing(values) and values.several:
        return operators.folded(values, start, lambda total, one: operators.binary(total, "+", one))
    gathered, kind = _gathered(values)
    array = convert_to_tensor(gathered)
    if array.shape.rank == 0:
        iter(values)  # which says what it is not
    added = dtypes.int64 if array.dtype.kind == "b" else array.dtype  # Python adds one by one, from its own 0 on
    total = marked(kind, ops.cast(ops.sum(array, axis=0), added))
    if not (isinstance(start, int) and start == 0):
        total = total + start
    count = array.shape.as_list()[0] if array.shape.rank else None
    if kind is Tensor or array.shape.rank is None:
        return total
    if count is not None:
        return total if count else start
    return operators.if_exp(marked(NumberTracer, ops.greater(ops.size(array), 0)), lambda: total, lambda: start)


def _sum_of(values: Any, start: Any = 0) -> Any:
    """Return ``sum``; elements of the user's classes say themselves what adding them is."""
    if (clauses := clauses_of(values)) is not None:
        return operators.used_up(sum, clauses, start)
    operators.of_one_kind(sum, values)
    refuse_moved(stays(values))
    own = isinstance(values, list | tuple) and builtins.any(method_of(one, "__radd__") for one in elements(values))
    return _sum(values, start) if own or _is_staged(values) else sum(values, start)


def _sorted(values: Any, *, key: Any = None, reverse: bool = False) -> Any:
    if key is not None:
        if operators.has_known_length(values):
            return operators.sorted_by(list(operators.elements(values)), called(key), reverse)
        leave_unknown("sorted(..., key=...) of a list whose length only the run knows")
        raise TypeError(
            "sorted(..., key=...) needs a number of elements that is known: use np.argsort of the keys [AL020]"
        )
    if iterable_of(values) is not None and operators.has_known_length(values):
        return operators.sorted_by(list(operators.elements(values)), None, reverse)
    if is_growing(values) and values.several:
        raise TypeError(f"sorted(...) of {values.described()}, needs numbers of one type: append float(x) [AL019]")
    array, kind = _gathered(values)
    if array.shape.rank == 0:
        iter(values)  # which says what it is not
    made = operators.sorted_tensor(_numbers(array), kind, reverse)
    if isinstance(made, list) or kind is Tensor:
        return made
    return _list(StagedIterable(_len(made), lambda k: marked(kind, ops.getitem(made, k)), "what is sorted"))


def _list(values: Any) -> Any:
    """Return ``list``: one of Python's where the number of elements is known, else one that grows in a loop."""
    if (clauses := clauses_of(values)) is not None:
        return operators.used_up(list, clauses)
    items = as_staged(values)
    assert items is not None
    if isinstance(items.length, int) and items.keep is None:
        run_over(items)
        return [items.get(index) for index in range(items.length)]
    (made,) = operators.for_stmt(items, _append, ([],), ("list",))
    return made


def _append(item: Any, elements: Any) -> tuple[Any]:
    elements.append(item)
    return (elements,)


def _tuple(values: Any) -> Any:
    made = _list(values)
    if is_growing(made):
        refuse_unknown("tuple(...) needs a number of elements that is known", "use list(...)")
    return tuple(made)


def _dict(pairs: Any = (), **more: Any) -> Any:
    made = [(operators.hashed(key), value) for key, value in _tuple(pairs)] if _is_staged(pairs) else pairs
    return dict(made, **more)


def _gathered(values: Any) -> tuple[Any, Kind]:
    """Return a sequence for a reduction as something that is, or can become, a tensor, and the kind of its elements."""
    if is_growing(values):
        return values.numbers(), kind_of((values,))
    if (items := iterable_of(values)) is None:
        return values, kind_of((values,))
    made = _list(values)
    if is_growing(made):
        return made.numbers(), kind_of((made,))
    if builtins.any(isinstance(one, list | tuple) for one in made):
        raise TypeError(
            f"the elements of {items.describe} are tuples, which only the run could compare or add: use array "
            f"functions, such as np.argsort or np.lexsort [AL020]"
        )
    return convert_to_tensor(made), kind_of(made)


def identity_of(value: Any) -> int:
    """Return ``id(value)``, which plain Python has to tell if it can: others stand for objects here."""
    leave_unknown("id() is asked of an object")
    return id(value)


def _hash_of(*args: Any) -> Any:
    """Return ``hash(value)``, which plain Python has to tell as it has ``id``, where that makes it."""
    if any(map(_is_hashed_by_identity, args)):
        leave_unknown("hash() is asked of an object")
    return _hash(*args)


def _is_hashed_by_identity(value: Any) -> bool:
    if type(value) is tuple:
        return any(map(_is_hashed_by_identity, value))
    found: Any = type(value).__hash__
    return found is object.__hash__ and not isinstance(value, Tensor | type(None))


_hash = _with_staged(hash, _made_later("of_number", hash, int))
_STAGED: dict[Any, Callable[..., Any]] = {
    abs: _with_staged(abs, abs),
    all: _iterated(all, lambda x: answer(ops.all(_elements(x)), x), _later("all_of")),
    any: _iterated(any, lambda x: answer(ops.any(_elements(x)), x), _later("any_of")),
    bin: _with_staged(bin, _made_later("of_number", bin, str)),
    bool: _with_staged(bool, lambda x: truth(asked(x))),
    callable: _later("is_callable"),
    chr: _with_staged(chr, _made_later("of_number", chr, str)),
    complex: _with_staged(complex, _later("as_complex")),
    delattr: _later("delete_attribute"),
    dict: _with_staged(dict, _dict),
    dir: _later("names_in"),
    divmod: _with_staged(divmod, _divmod),
    enumerate: _with_staged(enumerate, _later("staged_enumerate")),
    filter: _applied(filter, _later("staged_filter")),
    float: _with_staged(float, _made_later("converting_to", float)),
    format: _as_text(format, _later("formatted_as")),
    frozenset: _with_staged(frozenset, functools.partial(_later("hashed_all"), frozenset)),
    hex: _with_staged(hex, _made_later("of_number", hex, str)),
    id: identity_of,
    int: _with_staged(int, _made_later("converting_to", int)),
    getattr: _later("attribute_or"),
    hasattr: _later("has_attribute"),
    hash: _hash_of,
    isinstance: _later("is_instance_of"),
    len: _with_staged(len, _len),
    list: _with_staged(list, _list),
    map: _applied(map, _later("staged_map")),
    max: _iterated(max, _reduced(max), _extreme(max)),
    min: _iterated(min, _reduced(min), _extreme(min)),
    oct: _with_staged(oct, _made_later("of_number", oct, str)),
    np.fromiter: libraries.from_iterable,
    operator.contains: lambda container, item: operators.in_(item, container),
    operator.index: _with_staged(operator.index, _later("as_index")),
    operator.not_: _later("not_"),
    operator.truth: _with_staged(operator.truth, lambda x: truth(asked(x))),
    pow: _with_staged(pow, _later("staged_pow")),
    print: _later("staged_print"),
    repr: _as_text(repr, _later("repr_of")),
    range: _with_staged(range, staged_range),
    reversed: _with_staged(reversed, _later("staged_reversed")),
    round: _with_staged(round, _later("staged_round")),
    set: _with_staged(set, functools.partial(_later("hashed_all"), set)),
    setattr: _later("set_attribute"),
    sorted: _iterated(sorted, _sorted, _sorted_of),
    str: _as_text(str, _later("text_of")),
    sum: _sum_of,
    tuple: _with_staged(tuple, _tuple),
    type: _later("type_of"),
    vars: _later("namespace_of"),
    zip: _with_staged(zip, _later("staged_zip")),
}

STAGED = {plain: in_pythons_words(plain, staged) for plain, staged in _STAGED.items()}

assert STAGED.keys() == STAGED_BUILTINS
