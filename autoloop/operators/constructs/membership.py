"""``in`` and ``not in``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.ir.text_operators import of_texts
from autoloop_runtime.ir.tracers import ArrayTracer, NumberTracer, TextTracer

from ..mutation.outside_world import stays
from ..staging.clauses import clauses_of
from ..staging.growing_list import GrowingList
from ..staging.mixed_numbers import MixedNumber
from ..staging.staged_values import answer, asked, check_hashable, is_staged, truth
from ..staging.users_methods import method_of
from .boolean_operators import not_, or_
from .container_comparisons import asks_the_run, asks_users, equal
from .for_statement import for_stmt
from .iterables import iterable_of
from .math_functions import tried


def in_(item: Any, container: Any) -> Any:
    """Return ``item in container``."""
    if (items := iterable_of(container)) is not None:
        return items.holds(item)
    if (clauses := clauses_of(container, may_leave=True)) is not None:
        return for_stmt(clauses, lambda one, _: (equal(one, item),), (False,), ("found",), until=("found",))[0]
    if (method := method_of(container, "__contains__")) is not None:
        given = asked(method(item))
        return truth(given) if is_staged(given) else bool(given)
    if isinstance(container, TextTracer) or (isinstance(item, TextTracer) and isinstance(container, str)):
        return of_texts(operator.contains, bool, container, item)
    if isinstance(item, MixedNumber):
        return in_(item.leaving(), container)
    if isinstance(container, ArrayTracer | NumberTracer):
        tried(_holds_0, container)  # which says what a number is not
    if is_staged(container) or isinstance(container, GrowingList) or (is_staged(item) and _is_array(container)):
        same = ops.equal(container.numbers(), item) if isinstance(container, GrowingList) else container == item
        return answer(ops.any(same), container, item) if is_staged(same) else bool(np.any(same))
    if isinstance(container, set | frozenset | dict):
        check_hashable(item)
    is_asked = is_staged(item) or asks_the_run(item) or asks_the_run(container) or asks_users(container, item)
    if is_asked and isinstance(container, list | tuple | range | set | frozenset | dict):
        elements = list(container)
        if not elements:
            return False
        return or_(equal(elements[0], item), *(_later(item, one) for one in elements[1:]))
    return item in stays(container)


def _holds_0(container: Any) -> bool:
    return 0 in container


def _is_array(container: Any) -> bool:
    return isinstance(container, np.ndarray)


def _later(item: Any, element: Any) -> Callable[[], Any]:
    return lambda: equal(element, item)


def not_in(item: Any, container: Any) -> Any:
    """Return ``item not in container``."""
    return not_(in_(item, container))
