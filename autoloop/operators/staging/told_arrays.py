"""Of which arrays each run can say which they are, where loops and branches decide it: see ``array_origins``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.ir.array_storage import Storage, kept, may_be_lazy
from autoloop_runtime.ir.graph import theirs_here
from autoloop_runtime.ir.tracers import ArrayTracer, TextTracer, is_read_only

from ...returned_views import is_part_of_input, views_of
from .mixed_numbers import TYPES, MixedNumber, is_pythons
from .numbers_or_arrays import NumberOrArray, noted
from .staged_blocks import TellArrays, deciding, telling
from .standins import Maybe, opened


def there(value: Any) -> Any:
    """Return the value of what may not be there."""
    while isinstance(value, Maybe):
        value = opened(value).value
    return value


def is_array(value: Any) -> bool:
    """Return whether something is an array with axes, or one without that an input of another library may be itself."""
    if isinstance(value, np.ndarray):
        return bool(value.ndim)
    return kept(value) is not None and (value.shape.rank != 0 or may_be_lazy(value))


def root_of(value: Any) -> Any:
    """Return what an array of the trace is a view of; itself if it is none."""
    while value.view_of is not None:
        value = value.view_of.parent
    return value


def chosen_from(value: Any) -> list[Any]:
    """Return the arrays that one may be, as loops and branches choose, in any iteration."""
    found: list[Any] = []
    todo, seen = [value], set[Any]()
    while todo:
        one = there(todo.pop())
        if not is_array(one):
            continue
        storage = kept(one)
        key = storage if storage is not None and one.view_of is None else id(one)
        if key in seen:
            continue
        seen.add(key)
        if storage is not None and storage.choice is not None and one.view_of is None:
            todo += storage.choice.arrays()
        else:
            found.append(one)
    return found


def is_argument(one: Any) -> bool:
    """Return whether an array that nothing has chosen is one of the inputs', or a view of it that is known."""
    return argument_of(one) is not None and views_of(one) is not None


def argument_of(one: Any) -> int | None:
    """Return which input an array is, or is a part of, whatever loops and branches choose; None if it may be others."""
    storage = kept(one)
    if storage is None or storage.choice is None or one.view_of is None:
        return None if storage is None else storage.argument
    every = chosen_from(root_of(one))
    whole = [None if isinstance(one, np.ndarray) or one.view_of is not None else argument_of(one) for one in every]
    return whole[0] if len(set(whole)) == 1 else None


def _is_new(one: Any) -> bool:
    """Return whether an array that nothing has chosen is no other's memory, nor a part of it."""
    storage = kept(one)
    if storage is None or storage.argument is not None or one.view_of is not None:
        return False
    return len(storage.origins()) == 1 and not storage.own_sources and not storage.by_order


def may_be_told(value: Any, with_views: bool = False, apart: Sequence[Any] = ()) -> bool:
    """Return whether a run can say which array it is that stands somewhere: what it may be are inputs, perhaps views
    of these, arrays that the function makes, and some that the run tells *apart* anyway."""
    if not is_array(value) or kept(value) is None or value.view_of is not None or noted(value) is not None:
        return False
    known = {id(one) for one in apart}
    return all(
        id(one) in known or _is_new(one) or (is_argument(one) and (with_views or one.view_of is None))
        for one in chosen_from(value)
    )


def is_in_doubt(value: Any) -> bool:
    """Return whether only the run knows whether a result is an input's memory."""
    if not isinstance(value, ArrayTracer) or not is_array(value) or noted(value) is not None:
        return False
    root = root_of(value)
    is_chosen = root.storage.choice is not None and views_of(value) is not None
    return is_chosen and any(map(is_argument, chosen_from(root)))


def may_be_read_only(value: Any) -> bool:
    """Return whether only the run knows if a result may be written to: loops and branches choose from arrays of both
    kinds, where an input is itself."""
    value = there(value)
    if not isinstance(value, ArrayTracer) or not is_array(value) or noted(value) is not None:
        return False
    root = root_of(value)
    if root.storage.choice is None or (root.is_writeable and not value.is_writeable):
        return False
    made = [one for one in chosen_from(root) if isinstance(one, np.ndarray) or not is_argument(one)]
    return any(is_read_only(one) == root.is_writeable for one in made)


def may_be_callers(value: Any) -> bool:
    """Return whether an array may be, or be a part of, the memory of an input, in whatever way."""
    todo, seen = [value], set[Storage]()
    while todo:
        storage = kept(there(todo.pop()))
        if storage is None or storage in seen:
            continue
        seen.add(storage)
        for one in [storage] if storage.choice is not None else storage.origins():
            if one.argument is not None:
                return True
            if one.choice is not None:
                seen.add(one)
                todo += one.choice.arrays()
    return False


def is_untold(value: Any) -> bool:
    """Return whether a result may be an input's memory of which a run does not say which part it is."""
    value = there(value)
    if isinstance(value, NumberOrArray):  # of which a run gives the value; another array it is for its dtype only
        return not value.noted.is_array and may_be_callers(value.value)
    if isinstance(value, MixedNumber):
        return _may_be_given(value)
    storage = None if isinstance(value, TextTracer) else kept(value)
    if storage is None or (value.shape.rank == 0 and value.view_of is None):
        return False
    if value.view_of is not None and value.view_of.is_flat:
        return False  # which no result may be
    if storage.argument is not None:
        return views_of(value) is None and not is_part_of_input(value)
    if noted(value) is not None:
        return False
    if storage.choice is None or views_of(value) is None:
        return may_be_callers(value)
    return any(may_be_callers(one) and not is_argument(one) for one in chosen_from(root_of(value)))


def _may_be_given(number: MixedNumber) -> bool:
    """Return whether a number, of which the run tells the type, may be an array without axes that was given: one of a
    library whose arrays are computed later, which is no scalar."""
    theirs = theirs_here()
    if theirs is None or not theirs.namespace.is_lazy:
        return False
    dtypes = {TYPES[code][1] for code in number.types if not is_pythons(code)}
    given = number.value.graph.root.inputs
    return any(one.shape.rank == 0 and one.dtype in dtypes and theirs.of(one) for one in given)


def tell_again() -> None:
    """Begin the trace again, as one that tells arrays apart, if it is none.

    Raises
    ------
    TellArrays
    """
    if telling() is None and deciding().are_told is False:
        raise TellArrays


def tell_if_doubtful(results: Iterable[Any]) -> None:
    """Do so if some results may be the memory of inputs.

    Raises
    ------
    TellArrays
    """
    if any(map(is_in_doubt, results)):
        tell_again()


def are_told(*values: tuple[Any, Sequence[Any]], with_views: bool = False) -> bool:
    """Return whether runs say of each of some arrays which it is; a trace that could let them is made again. With each
    comes which ones a run tells it from anyway.

    Raises
    ------
    TellArrays
    """
    told = all(may_be_told(one, with_views, apart) for one, apart in values)
    if told:
        tell_again()
    return told and telling() is not None
