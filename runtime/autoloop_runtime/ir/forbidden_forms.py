"""What some libraries forbid that NumPy allows: brackets that leave axes out, ``len``, and running over an array."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .basic_indices import depends_on_tensors
from .foreign_dtypes import ForeignDtypes
from .foreign_tensors import Namespace


class ForbiddenForms(ForeignDtypes):
    """What arrays of another library do not take, in a root graph: one of theirs is asked.

    Parameters
    ----------
    namespace : Namespace
    is_wanted : bool
        Whether there has to be a graph: plain Python, in which NumPy's functions may make NumPy's arrays of the
        library's, and what it forbids is said by itself, is no way.
    """

    __slots__ = ("_is_wanted",)

    def __init__(self, namespace: Namespace, is_wanted: bool = True) -> None:
        super().__init__(namespace)
        self._is_wanted = is_wanted

    def check_part(self, array: Any, index: Any) -> None:
        """Refuse brackets that the library's arrays do not take."""
        if not depends_on_tensors(index):
            self._try(array, operator.itemgetter(index), "x[...], of these brackets,")

    def check_rows(self, array: Any) -> None:
        """Refuse to run over an array if the library's are not run over."""
        self._try(array, iter, "iteration")

    def check_length(self, array: Any) -> None:
        """Refuse ``len(x)`` if the library's arrays have none."""
        self._try(array, len, "len(x)")

    def _try(self, array: Any, do: Callable[[Any], Any], what: str) -> None:
        if self._is_wanted:
            return  # NumPy's functions give the library's arrays then, and what NumPy's arrays take means the same
        if self.holds(array) is False or self.namespace.name == "dask.array" or not array.shape.is_fully_defined():
            return
        one = self.namespace.asarray(np.ones((), array.dtype))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                do(self.namespace.xp.broadcast_to(one, array.shape.as_tuple()))
            except Exception:  # whatever it says, it says so of the array that comes
                self.refuse(what)
