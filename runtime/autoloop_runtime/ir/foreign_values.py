"""Which values of a trace are arrays of another library, and where those are not as NumPy's are.

Some change in place as NumPy's do, and have parts that are views. But what has no axes is an array of theirs as well,
where NumPy has a scalar: that changes in place, and is a part of what it was taken from. Others never change in place:
``x += 1`` gives the name a new array. And a method of the name that NumPy's has may do something else.

What is neither surely theirs nor surely NumPy's, as a variable of a loop may be, is asked for nothing that would be
another thing for one of both: plain Python runs the function then.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..base import nest
from .foreign_tensors import Namespace
from .graph import PARAMETER
from .numpys_beside import NumpysBeside
from .op import call
from .own_answers import Answer, zeros_of
from .tensor import Tensor

#: methods and attributes that PyTorch's tensors have under a name of NumPy's, and that are something else there
_OTHERWISE = {
    "torch": frozenset((
        "data", "device", "flatten", "nonzero", "put", "repeat", "resize", "size", "sort", "std", "transpose", "var",
        "view",
    )),
}  # fmt: skip
#: the same, where they are given more than the array
_OTHERWISE_WITH = {"torch": frozenset(("max", "min", "round", "dot", "take", "argmax", "argmin"))}


class Theirs(NumpysBeside):
    """Where arrays of another library are not as NumPy's are; of a root graph.

    Parameters
    ----------
    namespace : Namespace
    names : callable
        Makes of this what stands for the library's names in the trace.
    make : callable
        Makes of a tensor what stands for an array.
    is_wanted : bool
        See ``ForbiddenForms``.
    """

    __slots__ = ("_are_fixed", "_make", "_names", "_results")

    def __init__(
        self, namespace: Namespace, names: Callable[[Theirs], Any], make: Callable[[Tensor], Any],
        is_wanted: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(namespace, is_wanted)
        self._names, self._make = names, make
        #: the memory of results -> what gives them; by the one thread that traces
        self._results: dict[Any, Tensor] = {}
        #: whether operators never change one in place
        self._are_fixed = not hasattr(namespace.array, "__iadd__")

    # -- in place, and parts ------------------------------------------------------------------------------

    def are_changed_anew(self, array: Any) -> bool:
        """Return whether ``x += y`` gives the name a new array, as it does of a scalar, and changes none in place."""
        found = self.holds(array)
        if found is False:
            return False
        if not self._are_fixed:
            return bool(array.is_scalar)
        if found is None:
            self.refuse("whether x += y changes it in place, where only the run knows if it is one,")
        return True

    def lose(self, array: Any) -> None:
        """Note that an array without axes has changed in place, for all that hold it but the name that has the new
        one."""
        if self._are_fixed:
            return
        storage = array.storage
        if storage.part_of is not None:
            self.refuse("an element that is changed in place")
        while storage is not None:
            storage.lose("it was changed in place under another name")
            storage = storage.before

    def check_scalar_written(self, array: Any) -> None:
        """Refuse to write to what is a scalar to NumPy, and an array to the library."""
        if self.holds(array) is not False:
            self.refuse("writing to one without axes")

    def are_apart(self, array: Any) -> bool:
        """Return whether parts of an array are no views that are written to along with it."""
        return self._are_fixed and self.holds(array) is not False

    def is_another(self, array: Any, part: Tensor, index: Any) -> bool:
        """Return whether a part of an array, which is no view, is surely another array: all of it may be itself."""
        if not self.holds(array) or not (array.shape.is_fully_defined() and part.shape.is_fully_defined()):
            return False
        entries = index if isinstance(index, tuple) else (index,)
        is_turned = any(isinstance(one, slice) and one.step not in (None, 1) for one in entries)
        return is_turned or (array.shape.as_tuple(), array.dtype) != (part.shape.as_tuple(), part.dtype)

    def is_itself(self, array: Any, again: Callable[[Any], Any]) -> bool | None:
        """Return whether what the library's function gives of an array is that very array, as it does of another of the
        same shape; None if only a run knows."""
        if not self._are_fixed or not self.holds(array) or not array.shape.is_fully_defined():
            return None
        one = zeros_of(self.namespace, array.shape.as_tuple(), array.dtype)
        with suppress(Exception):  # of what the library lacks, or refuses
            return again(one) is one
        return None

    def as_result(self, leaf: Any, tensor: Tensor) -> Tensor:
        """Return a result as the graph gives it: what has become an input again without being one, as of ``x.T.T``, is
        an array of its own to some libraries."""
        is_input = tensor.node is not None and tensor.node.op is PARAMETER
        if not (self._are_fixed and is_input and self.surely_holds(leaf)) or leaf.storage.choice is not None:
            return tensor
        if leaf.storage not in self._results:
            self._results[leaf.storage] = call("copied", tensor)
        return self._results[leaf.storage]

    def handed_on(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Any, made: Any) -> Any:
        """Return what a function of NumPy's has made: an argument itself, where the library's function gives that."""
        leaves = [one for one in nest.flatten([list(args), kwargs]) if hasattr(type(one), "storage")]
        if not self.namespace.is_lazy or not any(map(self.surely_holds, leaves)) or not self.has_own(function):
            return made
        answer = Answer(self, f"np.{function.__name__}", function, args, kwargs)
        if not (self._is_wanted or self._is_asked):
            answer.check(made)
        if not self.surely_holds(made) or not all(one.shape.is_fully_defined() for one in leaves):
            return made
        # the extents of ``np.delete(x, [], 0)`` only the run knows
        alike = [one for one in leaves if one.dtype == made.dtype and made.shape.is_compatible_with(one.shape)]
        same = answer.same_as([one for one in alike if self.surely_holds(one)])
        return made if same is None else same

    def check_answer(self, array: Any, name: str, args: Sequence[Any], kwargs: Any, made: Any) -> None:
        """Refuse what a method has made where the library's own gives something of another dtype."""
        if name[0] == "_" or made is None or self._is_wanted or self._is_asked or not self.namespace.is_lazy:
            return
        if self.surely_holds(array):
            method = operator.attrgetter(name)
            answer = Answer(self, f"x.{name}", lambda x, *given, **by: method(x)(*given, **by), (array, *args), kwargs)
            answer.check(made)

    def untold(self, results: Sequence[Any]) -> Sequence[Any]:
        """Return the results of which a run does not tell which arrays they are; see ``_is_told``."""
        told = [one for one in results if self.surely_holds(one) and _is_told(one.shape, one.storage, self._are_fixed)]
        if len(told) > 1 and not self._are_fixed:  # they could be one in the graph, and two copies in plain Python
            return results
        return [one for one in results if not any(one is other for other in told)]

    def are_views(self, array: Any) -> bool:
        """Return whether an element of an array is a view of it."""
        return not self._are_fixed and self.holds(array) is not False

    def copied(self, array: Any) -> Any:
        """Return ``x.copy()``."""
        self.check_meaning(array, "copy")
        return self._make(call("copied", array.current()))

    def positive(self, array: Any) -> Any:
        """Return ``+x``: a copy, or the array itself to some libraries."""
        if self.holds(array) is None:
            self.refuse("+x, where only the run knows if it is one,")
        one = self.namespace.asarray(np.ones((1,) * (array.shape.rank or 0), array.dtype))
        return array if +one is one else self._make(call("copied", array.current()))

    # -- the library's names ------------------------------------------------------------------------------

    def names(self, array: Any) -> Any:
        """Return what ``x.__array_namespace__()`` gives; None if that is NumPy's."""
        found = self.holds(array)
        if found is None:
            self.refuse("the namespace, where only the run knows if it is one,")
        return self._names(self) if found else None

    def number(self, tensor: Tensor) -> Tensor:
        """Return a tensor as that of a number of Python's, ``float(x[0])``: whatever computes it, what is made of it is
        no array of the library."""
        if self.of(tensor) is False:
            return tensor
        if tensor.node is not None and (tensor.node.op is not PARAMETER or self.known.get(tensor)):
            tensor = call("identity", tensor)
        self.known[tensor] = False
        return tensor

    def made(self, value: Any) -> Any:
        """Return an array of the library with these values of NumPy's, in the trace."""
        tensor: Tensor = call("of_library", value)
        tensor.declared = tensor.shape  # of two constants nobody makes one, nor a constant of NumPy's
        self.known[tensor] = True
        return self._make(tensor)

    def given(self, arguments: Sequence[Any], made: Any) -> Any:
        """Return what a function has made of arguments: an array of the library if one of these is, be it made of its
        shape alone."""
        if isinstance(made, (np.ndarray, np.generic)) and any(map(self.surely_holds, arguments)):
            return self.made(made)
        is_doubtful = hasattr(type(made), "storage") and self.holds(made) is not True
        if is_doubtful and any(map(self.surely_holds, arguments)):  # also what a loop has made of their shapes alone
            return self.made(made.current())
        if isinstance(made, tuple) and type(made).__module__.startswith("numpy."):  # a tuple with names of NumPy's own
            return tuple(made) if any(map(self.surely_holds, arguments)) else made
        return made

    def answered(self, function: Any, args: Sequence[Any], made: Any) -> Any:
        """Return what a function of NumPy's gives that gives a number of Python's of NumPy's arrays."""
        is_own = hasattr(self.namespace.array, "__array_function__") and self.has_own(function)
        return self.made(made.plain) if is_own and any(map(self.surely_holds, args)) else made

    # -- what is another thing under the same name --------------------------------------------------------

    def check_meaning(self, array: Any, name: str, has_arguments: bool = False) -> None:
        """Refuse a method or attribute that is another thing than of NumPy's arrays, or that these lack."""
        others = _OTHERWISE.get(self.namespace.name, ())
        is_other = name in others or (has_arguments and name in _OTHERWISE_WITH.get(self.namespace.name, ()))
        is_other = is_other or (name[0] != "_" and not hasattr(np.ndarray, name))
        is_other = is_other or (name[0] != "_" and not self._is_wanted and not hasattr(self.namespace.array, name))
        if is_other and self.holds(array) is not False:
            self.refuse(f"x.{name}")

    def check_method(self, array: Any, name: str, args: Sequence[Any], kwargs: Any) -> None:
        """Refuse a method that is another thing than of NumPy's arrays, and one of NumPy's that is given theirs."""
        self.check_meaning(array, name, bool(args or kwargs))
        if not self._is_graph(False) and self.holds_none(array) and self._may_hold_some(args, kwargs):
            self._refuse_numpys(f"ndarray.{name}")

    def has(self, array: Any, name: str) -> bool:
        """Return ``hasattr(x, name)``, where one of the library's arrays surely says what every other does."""
        found = self.holds(array)
        answers = set() if found is True else {hasattr(_ANY_ARRAY, name)}
        if found is not False:
            kind = self.namespace.array
            # what their class lacks one of them may have, but for what Python asks the class for
            is_sure = hasattr(kind, name) or (name[:2] == name[-2:] == "__" and not hasattr(kind, "__getattr__"))
            if not is_sure or array.shape.rank is None:
                self.refuse(f"hasattr(x, {name!r})")
            one = self.namespace.asarray(np.ones((1,) * array.shape.rank, array.dtype))
            answers.add(hasattr(one, name))
        if len(answers) > 1:
            self.refuse(f"hasattr(x, {name!r}), where only the run knows if it is one,")
        return answers.pop()

    def check_class(self, array: Any) -> None:
        """Refuse to say of which class what may be an array of the library is."""
        if self.holds(array) is not False:
            self.refuse("the class")


def _is_told(shape: Any, storage: Any, are_fixed: bool) -> bool:
    """Return whether a result has another shape than all arrays of which it may be a part: whether it is one is the
    doing of the library's function, which each run calls."""
    origins = storage.origins()
    if storage.choice is not None:
        return False
    # ``ravel`` copies what ``reshape`` does not
    if not are_fixed and any(one.by_order != np.reshape.__name__ and len(one.origins()) > 1 for one in origins):
        return False
    others = [one.tensor.shape for one in origins if one is not storage]
    are_known = shape.is_fully_defined() and all(other.is_fully_defined() for other in others)
    return bool(others) and are_known and all(other.as_tuple() != shape.as_tuple() for other in others)


#: gives what any array of NumPy's has
_ANY_ARRAY = np.empty(0)
