"""Functions that are traced again and again: what they are traced for has to pay, or plain Python runs their calls.

Such are functions that are given objects of the user's classes made for the call, lists that grow, texts, numbers of
which a trace needs the values, or that find other things outside their arguments at each call. A function has a budget
of traces. Once that is spent, a call of which there is no trace runs as plain Python, and is traced when its kind has
come often enough: the more traces there were, the more often, and twice as often for each of its own. Where nearly no
call is one that was traced for, plain Python runs them all, without a look at what they are given.

All is counted, nothing is timed, but for one: where plain Python takes longer than a trace, the budget grows.
"""

from __future__ import annotations

import time
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autoloop_runtime.base.callbacks import code_of
from autoloop_runtime.ir.recorders import recorders

from .errors import user_stacklevel
from .plain_python import Spent, Waits, has_ours, is_ours
from .sent_by_name import SentByName

#: what traces of one function may weigh together, see ``ConcreteFunction.weight``, and how many are made anyhow
MOST_KINDS, MOST_ANYHOW = 16, 3
#: a kind has to come once for so much of what traces weigh, before another is made
_FOR_EACH = 8
#: so many kinds are remembered of which plain Python has run a call
_MOST_WAITING = 256
#: so many calls are left to plain Python, and so many for each that a trace has run, before all are
MOST_LEFT, _LEFT_FOR_ONE = 64, 4
#: so many calls in turn take plain Python longer than a trace: another program may have had the processor for one
_MOST_SLOW = 2
_SAID, _SAID_OF_ALL = "the first call of a kind", "each call"


class NewKinds:
    """What is known of the kinds of calls of one function; guarded by the lock of its traces.

    Parameters
    ----------
    function : callable
        The undecorated one.
    name : str
    told : set of str
        What the function has warned of.
    """

    def __init__(self, function: Callable[..., Any], name: str, told: set[str]) -> None:
        self._name, self._told = name, told
        self._may_be_plain = not _names_ours(function, set())
        self._most = MOST_KINDS
        #: kinds -> how many traces there are of each: with others in the same place, or of another world
        self._traced: dict[Any, int] = {}
        #: kinds -> how many calls of them plain Python has run
        self._waiting: dict[Any, int] = {}
        self._left = self._slow = 0

    def leave_first(self, spent: Spent, given: Sequence[Any], key: Any) -> None:
        """Leave a call, which is *given* these, to plain Python if the budget is spent and there were few of its kind.

        Raises
        ------
        Waits
        """
        times = self._traced.get(key, 0)
        is_rich = spent.weight < self._most or spent.count < MOST_ANYHOW
        if is_rich or not (self._may_be_plain and spent.is_alike) or recorders() or has_ours(given):
            self._traced[key] = times + 1
            return
        seen = self._waiting.pop(key, 0) + 1
        if seen >= max(2, spent.weight // _FOR_EACH) << times:
            self._traced[key] = times + 1
            return
        if len(self._waiting) >= _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        self._waiting[key] = seen
        self._left += 1
        if self._left >= max(MOST_LEFT, _LEFT_FOR_ONE * spent.served):
            spent.is_over = True
        self._warn(spent)
        raise Waits(lambda: self._watched(spent))

    def _warn(self, spent: Spent) -> None:
        said = (
            f"{self._name} was traced for {spent.count} kinds of arguments, or of what it finds outside them: where "
            f"these are others, the first calls run as plain Python, and kinds that come again are traced; "
            f"see autoloop.explain [AL011]"
        )
        if _SAID not in self._told:
            warnings.warn(said, stacklevel=user_stacklevel())
            self._told.add(_SAID)
        if spent.is_over and _SAID_OF_ALL not in self._told:
            warnings.warn(
                f"{self._name} runs as plain Python from now on: nearly each call would need a trace of its own; give "
                f"it what changes as arrays, or leave out the decorator [AL011]",
                stacklevel=user_stacklevel(),
            )
            self._told.add(_SAID_OF_ALL)

    @contextmanager
    def _watched(self, spent: Spent) -> Iterator[None]:
        """Look how long plain Python takes, without what decorated functions are traced for that it calls."""
        begun, traced = time.perf_counter(), Spent.total
        yield
        is_slow = time.perf_counter() - begun - (Spent.total - traced) > spent.seconds
        self._slow = self._slow + 1 if is_slow else 0
        if self._slow == _MOST_SLOW:
            self._slow = 0
            self._most = 2 * max(spent.weight, self._most)
            spent.is_over = False


def _names_ours(function: Callable[..., Any], seen: set[int]) -> bool:
    """Return whether the code of a function, or of decorated ones that it names, names something of this library, which
    has other results in a trace."""
    code, names = code_of(function), getattr(function, "__globals__", {})
    if not isinstance(code, types.CodeType):
        return True
    seen.add(id(function))
    for name in _names(code):
        value = names.get(name)
        if isinstance(value, SentByName):
            if id(value.python_function) not in seen and _names_ours(value.python_function, seen):
                return True
        elif is_ours(value) or is_ours(type(value)):
            return True
    return False


def _names(code: types.CodeType) -> set[str]:
    inner = [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))
