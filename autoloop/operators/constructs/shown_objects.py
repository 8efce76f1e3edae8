"""Objects of the user's, and exceptions, among what a run makes text of.

What a method of the user's says of an object is asked while the function is traced, converted: the object is then what
it is in plain Python, which may change it before the run shows the text. An exception shows what it was raised with.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from autoloop_runtime.base import nest
from autoloop_runtime.ir.tracers import TextTracer

from ...left_to_python import refuse_unknown
from ..mutation.rebinding import ask_namespace
from ..staging.staged_values import is_staged
from ..staging.standins import StandIn
from ..staging.users_methods import TEXTS, method_of, shows_attributes
from .asked_tests import Asking


def of_exception(value: Any) -> bool:
    """Return whether a value is an exception that shows what it was raised with."""
    kind = type(value)
    return isinstance(value, BaseException) and not any(
        isinstance(getattr(kind, name), types.FunctionType) for name in TEXTS
    )


def said(value: Any) -> Any:
    """Return ``str(value)``, for which a method of the user's is converted."""
    method = method_of(value, "__str__")
    if method is None and _is_objects(type(value), "__str__"):
        return represented(value)
    return str(value) if method is None else _text(method(), str, value)


def represented(value: Any) -> Any:
    """Return ``repr(value)``, for which a method of the user's is converted."""
    method = method_of(value, "__repr__")
    if method is None:
        _refuse_attributes(value, set())
    return repr(value) if method is None else _text(method(), repr, value)


def _refuse_attributes(value: Any, seen: set[int]) -> None:
    """Let plain Python show an object that shows all of its attributes, if only the run knows one of them."""
    if not shows_attributes(type(value)) or id(value) in seen:
        return
    seen.add(id(value))
    ask_namespace(value)
    for one in nest.flatten(list(vars(value).values())):
        if isinstance(one, StandIn) or is_staged(one):
            refuse_unknown("the text of an object shows what only the run knows", "make text of its attributes")
        _refuse_attributes(one, seen)


def formatted_by(value: Any, spec: str) -> Any:
    """Return ``format(value, spec)``, for which a method of the user's is converted."""
    method = method_of(value, "__format__")
    if method is None and not spec and _is_objects(type(value), "__format__"):
        return said(value)
    return format(value, spec) if method is None else _text(method(spec), format, value)


def _text(made: Any, plain: Callable[[Any], str], value: Any) -> Any:
    return made if isinstance(made, str | TextTracer) else plain(value)  # which raises what Python raises


def _is_objects(kind: type, name: str) -> bool:
    found: Any = getattr(kind, name)
    return found is getattr(object, name)


class SaidItself:
    """What an object says of itself.

    Parameters
    ----------
    texts : sequence
        As ``str``, ``repr`` and ``format`` give it; strings, some of which the run may tell.
    """

    def __init__(self, texts: Sequence[Any]) -> None:
        self.texts = list(texts)

    def __str__(self) -> str:
        return str(self.texts[0])

    def __repr__(self) -> str:
        return str(self.texts[1])

    def __format__(self, spec: str) -> str:
        if spec:
            raise TypeError(
                f"the format {spec!r} of an object whose text only the run knows: write f'{{x:{spec}}}' [AL026]"
            )
        return str(self.texts[2])


def said_now(value: Any) -> SaidItself:
    """Return what an object for which ``says_itself`` says of itself here.

    Which of its texts are shown, and how often, is not known here: a method that changes something is plain Python's.
    """
    asking = Asking(said, (value,))
    kind, text = type(value), said(value)
    as_repr = text if _is_objects(kind, "__str__") else represented(value)
    texts = [text, as_repr, text if _is_objects(kind, "__format__") else formatted_by(value, "")]
    if asking.undo():
        what = f"the text of a {kind.__name__} is shown, and the method that makes it changes something"
        refuse_unknown(what, "make the text by an f-string, f'{x}'")
    return SaidItself(texts)


nest.register(SaidItself, lambda one: (one.texts, None), lambda _, texts: SaidItself(texts))


class ShownException:
    """An exception whose arguments only the run knows.

    Parameters
    ----------
    kind : type
    args : tuple
        In a form whose text a run can make.
    """

    def __init__(self, kind: type[BaseException], args: tuple[Any, ...]) -> None:
        self.kind, self.args = kind, args

    def _made(self) -> BaseException:
        return self.kind.__new__(self.kind, *self.args)

    def __str__(self) -> str:
        return str(self._made())

    def __repr__(self) -> str:
        return repr(self._made())

    def __format__(self, spec: str) -> str:
        return format(self._made(), spec)


def _rebuilt(known: tuple[type[BaseException], Any], leaves: list[Any]) -> ShownException:
    kind, structure = known
    return ShownException(kind, nest.unflatten(structure, leaves))


def _parts(one: ShownException) -> tuple[list[Any], Any]:
    leaves, structure = nest.flatten_with_structure(one.args)
    return leaves, (one.kind, structure)


nest.register(ShownException, _parts, _rebuilt)
