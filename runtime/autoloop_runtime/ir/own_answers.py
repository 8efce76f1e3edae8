"""What a library whose arrays are computed later says of what its own functions give, where NumPy gives something else.

It is asked with arrays of its own that are like those of the trace, of which nothing is computed but single numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np

from ..base import nest
from ..base.stand_ins import UnknownWhileTracing
from .number_operators import number_type
from .tensor import Tensor

#: how long axes are of which only the run knows it
_ANY = 4


class _Unlike(Exception):
    """There is nothing that is like an argument."""


def zeros_of(namespace: Any, shape: Sequence[int], dtype: Any) -> Any:
    """Return an array of the library's in one chunk, of which nothing is computed."""
    return namespace.xp.zeros(shape, dtype=namespace.dtype(dtype), chunks=-1 if shape else ())


class Answer:
    """What the library gives of arrays like those of a call.

    Parameters
    ----------
    theirs : Theirs
    what : str
        What messages call what is called.
    function : callable
        One of NumPy's, which asks them, or what calls a method.
    args, kwargs
        Its arguments in the trace.

    Attributes
    ----------
    found : object
        What it gives.
    is_there : bool
        Whether it gives anything: it may refuse, or want to compute.
    """

    def __init__(
        self, theirs: Any, what: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Any
    ) -> None:  # fmt: skip
        self._theirs, self._what = theirs, what
        self._likes: dict[int, Any] = {}
        self.found: Any = None
        self.is_there = False
        with suppress(Exception):
            given = nest.map_structure(self._like, [list(args), dict(kwargs)])
            self.found = function(*given[0], **given[1])
            self.is_there = True

    def _like(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        if id(value) not in self._likes:
            self._likes[id(value)] = self._made_like(value)
        return self._likes[id(value)]

    def _made_like(self, value: Any) -> Any:
        number = number_type(value)
        if number is not None:
            return number(1)
        found = self._theirs.holds(value) if hasattr(type(value), "storage") else None
        if found is None or value.shape.rank is None:
            raise _Unlike
        shape = tuple([_ANY if extent is None else extent for extent in value.shape.as_list()])
        if not found:
            made = np.zeros(shape, value.dtype)
            return made[()] if value.is_scalar else made
        made = zeros_of(self._theirs.namespace, shape, value.dtype)
        return type(made)(_NoTasks(), made.name, made.chunks, dtype=made.dtype) if shape else made

    def same_as(self, arrays: Sequence[Any]) -> Any:
        """Return that of some arguments which the library gives back as it was; None if it makes another."""
        return next((one for one in arrays if self._likes.get(id(one), self) is self.found), None)

    def check(self, made: Any) -> None:
        """Refuse what the graph has made, if the library gives something of another dtype, or kind."""
        if self.is_there and not self._is_like(self.found, made):
            self._refuse()

    def _is_like(self, found: Any, made: Any) -> bool:
        several = (list, tuple)
        if isinstance(found, several) or isinstance(made, several):
            return type(found) is type(made) and len(found) == len(made) and all(map(self._is_like, found, made))
        holds = self._theirs.holds(made) if hasattr(type(made), "storage") else False
        if self._theirs.namespace.holds(found):
            is_array = hasattr(type(made), "storage") and holds is not False
            return is_array and found.dtype == made.dtype and made.shape.rank in (None, found.ndim)
        if isinstance(found, (np.ndarray, np.generic)):
            return holds is not True and found.dtype == getattr(made, "dtype", found.dtype)
        return True

    def _refuse(self) -> NoReturn:
        raise UnknownWhileTracing(
            f"{self._what} of an array of {self._theirs.namespace.name} gives another dtype, or other arrays, than of "
            "NumPy's: cast to the dtype before, or say executor='dataflow', with which it is as of NumPy's"
        )


class _NoTasks(Mapping[Any, Any]):
    """The task graph of an array with axes that is like another one: who wants to compute it is told that it has none.

    Dask's own switch, the scheduler of its configuration, is that of all threads, of which others may be computing.
    """

    def __getitem__(self, key: Any) -> NoReturn:
        raise _Unlike

    def __iter__(self) -> NoReturn:
        raise _Unlike

    def __len__(self) -> NoReturn:
        raise _Unlike
