"""What a text that a run makes can do: what ``str`` can, asked of Python when the graph runs."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from typing import Any

from ..base.stand_ins import UnknownWhileTracing
from .graph import current_graph
from .numpy_results import lacking
from .op import call
from .tensor import Tensor
from .tracers import NumberTracer, TextTracer, number_of

#: operators that texts and Python numbers have with texts, and what they give
_OPERATORS: dict[str, type] = {
    **dict.fromkeys(("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"), bool),
    **dict.fromkeys(("__add__", "__mul__", "__mod__"), str),
}  # fmt: skip
#: methods of ``str`` that give one thing
_METHODS: dict[str, type] = {
    **dict.fromkeys(
        ("capitalize", "casefold", "center", "expandtabs", "format", "join", "ljust", "lower", "lstrip", "removeprefix")
        + ("removesuffix", "replace", "rjust", "rstrip", "strip", "swapcase", "title", "translate", "upper", "zfill"),
        str,
    ),
    **dict.fromkeys(("count", "find", "index", "rfind", "rindex"), int),
    **dict.fromkeys([name for name in dir(str) if name.startswith("is") or name in ("startswith", "endswith")], bool),
}


#: operators that take more than texts
_WITH_OTHERS = ("__mul__", "__mod__")
_PYTHONS_OWN = (bool, int, float, complex, bytes, type(None), list, tuple, dict, set, range, slice)


def is_text(value: Any) -> bool:
    """Return whether a value is a text, known or made by a run."""
    return isinstance(value, str | TextTracer)


def text(value: str | TextTracer) -> Tensor:
    """Return the tensor that carries a text."""
    if isinstance(value, TextTracer):
        return value.plain
    graph = current_graph()
    assert graph is not None
    with graph.root.as_default():  # so that it may be the first value of a loop, or the last of any branch
        made: Tensor = call("number_asked", str, str, (value,), {}, _is_pythons)  # of any length, to its dtype
    return made


def of_texts(function: Callable[..., Any], kind: type, *args: Any, **kwargs: Any) -> Any:
    """Return what a function of Python's gives of arguments among which are texts that a run makes."""
    made = call("number_asked", function, kind, args, kwargs, _is_pythons)
    return TextTracer(made) if kind is str else number_of((args, kwargs))(made)


def _is_pythons(tensor: Tensor) -> bool:
    return isinstance(tensor, NumberTracer | TextTracer)


def _operator(name: str, kind: type) -> Callable[[Any, Any], Any]:
    plain = getattr(operator, name)

    def operated(self: TextTracer, other: Any) -> Any:
        if is_text(other) or name in _WITH_OTHERS:
            return of_texts(plain, kind, self, other)
        return plain("", other) if type(other) in _PYTHONS_OWN else NotImplemented  # which says no, or what is wrong

    return operated


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    plain = getattr(operator, name)

    def operated(self: TextTracer, other: Any) -> Any:
        if is_text(other) or name == "__mul__":
            return of_texts(plain, str, other, self)
        return plain(other, "") if type(other) in _PYTHONS_OWN else NotImplemented

    return operated


def _item(self: TextTracer, key: Any) -> Any:
    if isinstance(key, slice):
        return of_texts(lambda one, *ends: one[slice(*ends)], str, self, key.start, key.stop, key.step)
    return of_texts(operator.getitem, str, self, key)


def _asked_for(self: TextTracer, name: str) -> Any:
    """Return what is under a dot: what the user, or NumPy, asks a text for is what ``str`` has."""
    if name[:2] == "__" or sys._getframe(1).f_globals.get("__name__", "").startswith("autoloop"):
        return object.__getattribute__(self, name)
    if not hasattr(str, name):
        raise lacking(str, name)
    return functools.partial(called_method, name, self)


def called_method(name: str, *args: Any, **kwargs: Any) -> Any:
    """Return what a method of ``str`` gives where a run makes the text, or one that it is given."""
    kind = _METHODS.get(name)
    if kind is None:
        raise UnknownWhileTracing(
            f"what `{name}` of a text gives only the run knows, and it is no single text or number: return the text "
            f"from the decorated function, and do that with what the call gives"
        )
    return of_texts(getattr(str, name), kind, *args, **kwargs)


def refused_by_numpy(*given: Any, **named: Any) -> Any:
    """Refuse what NumPy would make of a text.

    Raises
    ------
    TypeError
    """
    raise UnknownWhileTracing(
        "NumPy is given a text here that only the run knows, and a graph computes numbers: choose among arrays or "
        "calls by `if`, or return the text from the decorated function"
    )


def _iterated(self: TextTracer) -> Any:
    raise UnknownWhileTracing(
        "how many characters a text has only the run knows: return the text from the decorated function, and run over "
        "what the call gives"
    )


for _name, _kind in _OPERATORS.items():
    setattr(TextTracer, _name, _operator(_name, _kind))
    if _kind is str:
        setattr(TextTracer, f"__r{_name[2:]}", _reflected(_name))
for _name, _method in {
    "__getitem__": _item, "__getattribute__": _asked_for, "__iter__": _iterated, "__hash__": TextTracer.__hash__,
    "__array_ufunc__": refused_by_numpy, "__array_function__": refused_by_numpy, "__array__": refused_by_numpy,
}.items():  # fmt: skip
    setattr(TextTracer, _name, _method)
