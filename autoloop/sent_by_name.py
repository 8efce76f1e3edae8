"""Decorated functions are copied and pickled as functions are: by their name, so that processes may be sent them; what
they were decorated with, others that stand for them are given, too."""

from __future__ import annotations

import operator
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from autoloop_runtime.base.forks import undivided
from autoloop_runtime.ir.op import ShownInNotebooks

from .parameters import Parameters

if TYPE_CHECKING:
    from .known_traces import KnownTraces

_S = TypeVar("_S")


def _of_plain(name: str) -> Any:
    return property(operator.attrgetter(f"python_function.{name}"))


class LooksLikeFunction:
    """What there is of a Python function is read as that of the undecorated one, and set nowhere else.

    Of a class or an object that is called there is none.
    """

    python_function: Callable[..., Any]

    __code__: types.CodeType = _of_plain("__code__")
    __defaults__: tuple[Any, ...] | None = _of_plain("__defaults__")
    __kwdefaults__: dict[str, Any] | None = _of_plain("__kwdefaults__")
    __globals__: dict[str, Any] = _of_plain("__globals__")
    __closure__: tuple[types.CellType, ...] | None = _of_plain("__closure__")


#: where the attributes of a decorated function are
_STATE: Any = LooksLikeFunction.__dict__["__dict__"]


def become(old: LooksLikeFunction, new: LooksLikeFunction) -> None:
    """Let all who hold ``old`` call ``new``."""
    _STATE.__set__(old, _STATE.__get__(new))


def reloadable(made: _S) -> _S:
    """Return a decorated function, with which IPython's ``%autoreload`` does what it does with functions: who holds an
    old one, as after ``from module import f``, calls the new one."""
    rules = getattr(sys.modules.get("IPython.extensions.autoreload"), "UPDATE_RULES", None)
    if rules is not None and (_both, become) not in rules:
        rules.append((_both, become))
    return made


def _both(old: Any, new: Any) -> bool:
    return isinstance(old, SentByName) and type(old) is type(new)


class SentByName(LooksLikeFunction, ShownInNotebooks):
    """What ``copy`` and ``pickle`` do with a decorated function."""

    @property
    def __dict__(self) -> dict[str, Any]:
        found: dict[str, Any] = _STATE.__get__(self)
        return found

    @__dict__.setter
    def __dict__(self, new: dict[str, Any]) -> None:
        # ``%autoreload`` gives it that of the plain function as it is now, then of the decorated one
        if "python_function" in new:
            _STATE.__set__(self, new)
        else:
            _STATE.__get__(self).update(new)

    input_signature: tuple[Any, ...] | None
    autograph: bool
    executor: str
    name: str
    gradient_memory: str | int | None
    progress: bool | None
    known_traces: KnownTraces
    needs_graph: bool
    own_executor: str | None
    keeps_checkpoints = False  # its loops are kept in a folder where that is asked for
    traced_for: list[Any]
    _instance: Callable[[], Any] | None
    _parameters: Parameters
    _arrived: tuple[Any, ...] = ()  # the texts that came with it
    is_new_here = False  # it has arrived by value, and has not been called yet

    @property
    def instance(self) -> Any:
        """What it is a method of; None if it is none."""
        return None if self._instance is None else self._instance()

    def _receiver(self) -> tuple[Any, ...]:
        """Return the instance, as the first arguments of the Python function."""
        return () if self._instance is None else (self._instance(),)

    def options(self) -> dict[str, Any]:
        """Return what it was decorated with."""
        names = ("input_signature", "autograph", "name", "gradient_memory", "progress")
        return {"executor": self.own_executor, **{name: getattr(self, name) for name in names}}

    @property
    def kind_of_derived(self) -> Any:
        """The class of functions that are made of this one."""
        return type(self)

    def derived(self, f: Callable[..., Any], is_alike: bool = True) -> Any:
        """Return a function of the same arguments, if it *is alike*, options and executor; ``f`` calls this one."""
        signature = self.input_signature if is_alike else None
        options = {**self.options(), "input_signature": signature, "autograph": False}
        made: Any = self.kind_of_derived(f, **options)
        made._parameters, made.needs_graph = self._parameters if is_alike else made._parameters, True
        return made

    def run_by(self, executor: str) -> Any:
        """Return the same function with an executor of its own; their traces are counted together."""
        options = {**self.options(), "executor": executor}
        made: Any = type(self)(self.python_function, **options)  # type: ignore[call-arg]
        made._instance, made._parameters, made.needs_graph = self._instance, self._parameters, self.needs_graph
        made.known_traces, made.traced_for = type(self.known_traces)(self.name, self._instance), self.traced_for
        return made

    @property
    def tracing_count(self) -> int:
        """How many times it was traced."""
        return len(self.traced_for)

    def __copy__(self: _S) -> _S:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        # itself, as a function is; made of a method, ``self.step = function(self.slow)``, it goes with the instance
        import copy

        f = copy.deepcopy(self.python_function, memo)
        return self if f is self.python_function else decorated_again(type(self), f, self.options())

    def __reduce__(self) -> str | tuple[Any, ...]:
        with undivided():
            from .sent_by_value import ByValue, found_by_name

        f, by_value = self.python_function, ByValue.asked()
        name = getattr(f, "__qualname__", "")
        is_found = found_by_name(getattr(f, "__module__", ""), name) is self
        if is_found and not (by_value is not None and by_value.holds(self)):
            return name
        # ``g = function(f)``, where ``f`` has a name; if it has none, as a lambda, pickle says what is missing
        texts = () if by_value is None else by_value.texts(f, self._arrived)
        return _unfilled, (type(self),), (f, self.options(), texts)  # it may call itself

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        f, options, texts = state
        if texts:
            with undivided():
                from .sent_by_value import put

            put(texts)
        self.__init__(f, **options)  # type: ignore[misc]
        self._arrived, self.is_new_here = texts, bool(texts)

    def has_come_again(self) -> bool:
        """Return whether it goes on with the traces of one that is like it and arrived before; asked once."""
        with undivided():
            from .arrived_before import first_like

        self.is_new_here = False
        first = first_like(self, SentByName)
        if first is not None:
            become(self, first)
        return first is not None


class NeverSent(ShownInNotebooks):
    """What ``copy`` and ``pickle`` do with one trace of a function."""

    name: str

    def __copy__(self: _S) -> _S:
        return self

    def __deepcopy__(self: _S, memo: Any) -> _S:
        return self  # which does not change, as a function does not

    def __reduce__(self) -> Any:
        raise TypeError(
            f"one trace of {self.name} is not pickled; send the decorated function, which is by its name [AL706]"
        )


def _unfilled(kind: type[_S]) -> _S:
    return kind.__new__(kind)


def decorated_again(kind: Callable[..., Any], f: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a decorated function that has no name of its own."""
    return kind(f, **options)
