"""NumPy's functions and arrays beside arrays of another library, in a trace: what asks it, and what makes NumPy's.

Where NumPy makes its own arrays of theirs, of a list or because it is told to, it is done in the graph if theirs are
computed later: their elements are fetched there, as they are undecorated. Of others plain Python runs the function.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..base import nest
from ..base.stand_ins import UnknownWhileTracing
from .forbidden_forms import ForbiddenForms
from .foreign_tensors import Namespace
from .op import call
from .tensor import Tensor
from .tensor_operators import COMPARISONS


class NumpysBeside(ForbiddenForms):
    """What NumPy makes of arrays of another library, in a root graph.

    Parameters
    ----------
    namespace : Namespace
    is_wanted : bool
        See ``ForbiddenForms``.
    """

    __slots__ = ("_is_asked",)

    def __init__(self, namespace: Namespace, is_wanted: bool = True) -> None:
        super().__init__(namespace, is_wanted)
        #: whether a function of the library's own is called; by the one thread that traces
        self._is_asked = False

    def surely_holds(self, value: Any) -> bool:
        """Return whether a value is an array of the library."""
        return hasattr(type(value), "storage") and self.holds(value) is True

    def holds_none(self, value: Any) -> bool:
        """Return whether a value is what a graph computes, and not of such arrays."""
        return hasattr(type(value), "storage") and self.holds(value) is False

    def _is_graph(self, is_asking: bool = True) -> bool:
        """Return whether what NumPy is asked for is in the graph, and gives the library's arrays: where the library
        says so itself, being asked, and where the graph is what is wanted."""
        says = is_asking and hasattr(self.namespace.array, "__array_function__")
        return self._is_wanted or self._is_asked or says

    def _gives_upper(self) -> bool:
        """Return whether the library answers for NumPy's Cholesky factor with the other one, as Dask does."""
        return self.namespace.is_lazy and not (self._is_wanted or self._is_asked)

    def called(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
        """Return what a function of NumPy's gives that stands for one of the library's own."""
        before, self._is_asked = self._is_asked, True
        try:
            return function(*args, **kwargs)
        finally:
            self._is_asked = before

    def check_function(self, function: Any, args: Sequence[Any], kwargs: Any) -> None:
        """Refuse a function of NumPy's that would take an array for NumPy's, and give that, or an error."""
        is_asking = self.has_own(function) and (
            function in _OF_SEQUENCES or any(map(self.may_hold, (*args, *kwargs.values())))
        )
        if function is np.linalg.cholesky and self._gives_upper() and self._may_hold_some(args, kwargs):
            raise UnknownWhileTracing(
                f"np.linalg.cholesky of an array of {self.namespace.name} gives the upper factor, where NumPy's is the "
                "lower one, as that of executor='dataflow' is"
            )
        if self._is_graph(is_asking) or not self._may_hold_some(args, kwargs):
            return
        if function in _OF_ATTRIBUTES or (self.namespace.is_lazy and function in _OF_TRUTH):
            return
        self._refuse_numpys(f"np.{function.__name__}")

    def has_own(self, function: Any) -> bool:
        """Return whether the library answers for a function of NumPy's, which asks, with one of its own."""
        found: Any = sys.modules.get(self.namespace.name)
        if found is None or not hasattr(function, "_implementation"):
            return found is None and hasattr(function, "_implementation")
        for name in (*function.__module__.split(".")[1:], function.__name__):
            found = getattr(found, name, None)
        return found is not None and found is not function

    def check_ufunc(self, ufunc: Any, method: str, inputs: Sequence[Any], kwargs: Any) -> None:
        """Refuse an element-wise function of NumPy's, but where the library's array has the result made its own."""
        if self._is_graph(method in ("__call__", "outer")) or not self._may_hold_some(inputs, kwargs):
            return
        is_wrapped = self._wraps() and method == "__call__" and not kwargs
        # an operator may have called it, which arrays of NumPy's, being asked first, refuse
        if not is_wrapped or self._is_numpys_array(inputs[0]) or _gives_truths(ufunc, inputs):
            self._refuse_numpys(f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}"))

    def check_beside(self, one: Any, other: Any, name: str) -> None:
        """Refuse an operator of an array of the library's and of one of NumPy's that do not go together."""
        if self._is_graph():
            return
        for k, (mine, beside) in enumerate(((one, other), (other, one))):
            if not self._is_numpys(beside) or not self.may_hold(mine):
                continue
            if not self._wraps() or (self._is_numpys_array(beside) and (k or name in COMPARISONS)):
                self._refuse_numpys("an operator of NumPy's array and one")

    def check_into(self, array: Any, made: Any) -> None:
        """Refuse to have what NumPy makes of arrays that are computed later written to an array of NumPy's, which such
        libraries do not."""
        if self.namespace.is_lazy and self.holds(array) is not True and self.holds(made) is not False:
            raise UnknownWhileTracing(
                f"an array of {self.namespace.name} is not written to NumPy's by x += y or out=: write x = x + y, or "
                "x[:] = x + y, which has it computed"
            )

    def _wraps(self) -> bool:
        """Return whether arrays of the library have what NumPy makes of them made theirs; of the others NumPy's stay
        NumPy's."""
        return hasattr(self.namespace.array, "__array_wrap__")

    def _is_numpys(self, value: Any) -> bool:
        return isinstance(value, np.ndarray | np.generic) or self.holds_none(value)

    def _is_numpys_array(self, value: Any) -> bool:
        return self._is_numpys(value) and not isinstance(value, np.generic) and not getattr(value, "is_scalar", False)

    def _may_hold_some(self, args: Sequence[Any], kwargs: Any) -> bool:
        return any(map(self.may_hold, nest.flatten([list(args), kwargs])))

    def _refuse_numpys(self, what: str) -> NoReturn:
        has_names = hasattr(self.namespace.array, "__array_namespace__")
        names = "x.__array_namespace__()" if has_names else "array_api_compat.array_namespace(x)"
        raise UnknownWhileTracing(
            f"{what} of an array of {self.namespace.name} gives NumPy's array, or an error: write xp.f(...) with "
            f"xp = {names}, or say executor='dataflow', with which it gives the library's"
        )

    def as_numpys(self, value: Any) -> Any:
        """Return a value that becomes an array of NumPy's, or a part of one, wherever its elements are: what is made
        of it is no array of the library."""
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.as_numpys, value)) if type(value) in (list, tuple) else value
        if not isinstance(value, Tensor) or (tensor := value.plain).node is None:
            return value
        made: Tensor = call("of_numpy", tensor)
        self.known[made] = False
        return type(value)(made)

    def fetched(self, function: Any, args: Sequence[Any], kwargs: Any) -> tuple[Sequence[Any], Any]:
        """Return the arguments of a function of NumPy's that a library whose arrays are computed later does not have:
        their elements are fetched then, and what NumPy makes of them is NumPy's."""
        if not self.namespace.is_lazy or function in _OF_TRUTH or function in _OF_ATTRIBUTES:
            return args, kwargs
        if not hasattr(function, "_implementation") or self._is_graph(self.has_own(function)):
            return args, kwargs
        given = [self.as_numpys(one) if self.may_hold(one) else one for one in args]
        return given, {key: self.as_numpys(one) if self.may_hold(one) else one for key, one in kwargs.items()}

    def taken_over(self, function: Callable[..., Any], args: Sequence[Any], made: Any) -> Any:
        """Return what a function has made that makes NumPy's array of anything, as NumPy's; only the run may know which
        of both it is, unless it is another array than all that were given."""
        if self._is_graph(False) or not hasattr(type(made), "storage"):
            return made
        found, is_made = self.holds(made), function is np.array or not any(one is made for one in args)
        if found is not False and (not self.namespace.is_lazy or (found is None and not is_made)):
            self._refuse_numpys(f"np.{function.__name__}")
        return self.as_numpys(made) if self.namespace.is_lazy and (found is not False or is_made) else made

    def check_joined(self, function: Any, made: Any) -> Any:
        """Return what a function has made, which makes NumPy's array of a list unless it asks the arrays in it; of how
        many there are only the run may know."""
        if function in _OF_SEQUENCES and not self._is_graph(self.has_own(function)) and self.may_hold(made):
            self._refuse_numpys(f"np.{function.__name__}")
        return made

    def are_asked(self, function: Any, args: Sequence[Any]) -> bool:
        """Return whether a function of NumPy's asks arrays in a list for one of their library, or there is no list that
        it would make an array of."""
        return self._is_graph(False) or function in _OF_SEQUENCES or any(map(self.may_hold, args))


#: functions of NumPy's that ask the arrays in a list, too, for a function of their library's
_OF_SEQUENCES = frozenset((
    np.block, np.choose, np.column_stack, np.concatenate, np.dstack, np.hstack, np.ix_, np.lexsort, np.linalg.multi_dot,
    np.piecewise, np.select, np.stack, np.vstack,
))  # fmt: skip
#: functions of NumPy's that give a truth value of Python's, of which no more need be fetched
_OF_TRUTH = (np.array_equal, np.array_equiv)
#: functions of NumPy's that ask an array for an attribute, or count it
_OF_ATTRIBUTES = (np.shape, np.ndim)


def _gives_truths(ufunc: Any, inputs: Sequence[Any]) -> bool:
    is_of_truths = any(hasattr(type(one), "storage") and one.dtype.kind == "b" for one in inputs)
    return is_of_truths or any(one.endswith("d->?") for one in ufunc.types)
