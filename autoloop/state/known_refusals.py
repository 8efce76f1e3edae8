"""What machine code is not made for: a call that was refused is refused again, without a trace, in the same world."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime.ir.tensor import Tensor

from ..keys import class_key
from ..operators.mutation.heap_snapshot import MOST_NUMBERS
from .guards import Reader, reader
from .noted import Guard, Reached
from .unread_guards import guards_of_several

if TYPE_CHECKING:
    from .retrials import Request

#: so many refused kinds of calls of one function are known
_MOST_REFUSED = 32


class KnownRefusals:
    """The refused calls of one function; guarded by the lock of its traces."""

    def __init__(self) -> None:
        #: keys of calls -> what has to hold in the world, and what was raised
        self._known: dict[Any, tuple[Reader, Exception]] = {}

    def raise_known(self, key: Any, request: Request) -> None:
        """Raise what a call of this key was refused with, if the world is as it was."""
        key = class_key(key) or key
        read, known = self._known.get(key, (None, None))
        if read is not None and known is not None:
            if read(request.call, None if request.receiver is None else request.receiver()) is not None:
                raise _again(known)
            del self._known[key]

    @contextmanager
    def noted(self, key: Any, request: Request, around: AbstractContextManager[None]) -> Iterator[None]:
        """Let a call be traced, and note it if it is refused."""
        try:
            with around:
                yield
        except (TypeError, NotImplementedError) as error:
            if hasattr(error, "told"):
                self._note(class_key(key) or key, request, error)
            raise

    def _note(self, key: Any, request: Request, error: Exception) -> None:
        reached = request.walk()
        if any(isinstance(one, np.ndarray) and one.size > MOST_NUMBERS for _, one in reached.arrays):
            return
        if len(self._known) >= _MOST_REFUSED:
            del self._known[next(iter(self._known))]
        self._known[key] = reader(_guards(reached), [], []), _again(error)


def _again(error: Exception) -> Exception:
    """Return the same exception without where it was raised."""
    made = type(error).__new__(type(error), *error.args)
    made.__dict__.update(vars(error))
    return made


def _guards(reached: Reached) -> list[Guard]:
    """Return the guards of a world in which all that is read is known."""
    guards = [*reached.guards, *guards_of_several(reached, [], [])]
    guards += [Guard("equal", place, one) for place, one in reached.numbers]
    guards += [Guard("is", place, one) for place, one in reached.arrays if isinstance(one, Tensor)]
    guards += [Guard("contents", place, one.copy()) for place, one in reached.arrays if not isinstance(one, Tensor)]
    return guards
