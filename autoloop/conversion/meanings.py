"""What the names of one function mean now: the questions that a conversion asks of the world, and the answers.

A conversion is made of the text of a function and of these answers, and of nothing else: where both are the same, it is
the same. So each question can be asked again by its name alone, without the tree that it was asked for.
"""

from __future__ import annotations

import builtins
import contextlib
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from autoloop_runtime.base.callbacks import attribute_of, code_of, module_of
from autoloop_runtime.base.dataclass import dataclass, field
from autoloop_runtime.base.locations import is_own_file

from .callables import DESCRIBING, is_asked, is_numpys, is_plain, is_users_class, is_users_module, is_written
from .known_effects import COMPARISONS, by_identity, hides_state

OPTIONS = "set_loop_options"
#: builtins that always give a Python bool
_TRUTHS: tuple[Any, ...] = (isinstance, issubclass, callable)
#: modules whose context managers let every exception through
_LETTING_THROUGH = ("autoloop", "autoloop_runtime", "numpy", "threading", "_thread", "io", "_io")

#: what a name has that nobody has set
MISSING = object()
#: what was assumed to be the value of a name, and is no more
_GONE = object()

#: what is asked, and of which names: those of a chain of attributes, of special methods
Question = tuple[str, ...]


def _reference(value: Any) -> Callable[[], Any]:
    """Return what gives a value; it is not kept alive where that can be helped."""
    try:
        reference = weakref.ref(value)
    except TypeError:
        return lambda: value
    return lambda: _GONE if (known := reference()) is None else known


def _lookup(namespace: dict[str, Any], name: str) -> Any:
    if name in namespace:
        return namespace[name]
    return getattr(builtins, name, MISSING)


def _member(module: types.ModuleType, name: str) -> Any:
    """Return what a module has under a name; ours may load it first, of others nothing is run."""
    found = vars(module).get(name, MISSING)
    if found is MISSING and is_own_file(getattr(module, "__file__", None) or ""):
        return getattr(module, name, MISSING)
    return found


@dataclass
class Meanings:
    """What the names of one function mean now, for decisions made while it is converted.

    ``enclosed`` are the values of the function's free variables and the modules it names, ``inner_members`` the
    names of the methods of classes inside it.

    A decision that rests on the present value of a global name is noted in ``assumed``; the conversion is
    used again only while they hold. Decisions made here change the look of the code and what can be staged,
    never what Python values give.
    """

    namespace: dict[str, Any]
    enclosed: tuple[Any, ...] = ()
    inner_members: frozenset[str] = frozenset()
    assumed: dict[str, Any] = field(default_factory=dict)
    answers: dict[Question, bool] = field(default_factory=dict)
    _kept: dict[str, Callable[[], Any]] = field(default_factory=dict)
    _known_members: tuple[frozenset[str], frozenset[str]] | None = None

    def holds(self, namespace: dict[str, Any]) -> bool:
        """Return whether the assumptions are still true."""
        return all(_lookup(namespace, name) is known() for name, known in self._kept.items())

    def settle(self) -> None:
        """Let go of what was needed to convert: what was assumed is compared later, and not kept alive."""
        self._kept = {name: _reference(value) for name, value in self.assumed.items()}
        self.namespace, self.enclosed, self.assumed, self.answers = {}, (), {}, {}

    def asks(self, question: str, *about: str) -> bool:
        """Return the answer to one of ``QUESTIONS``, which is noted."""
        known = self.answers.get((question, *about))
        if known is None:
            known = self.answers[question, *about] = QUESTIONS[question](self, about)
        return known

    def answers_are(self, answers: Iterable[tuple[Question, bool]]) -> bool:
        """Return whether all questions that were asked once are answered as they were then."""
        return all(self.asks(*question) is answer for question, answer in answers)

    def resolve(self, path: Iterable[str]) -> Any:
        """Return the object a global name, or an attribute chain of modules, stands for."""
        first, *rest = path
        found = _lookup(self.namespace, first)
        if found is not MISSING:
            self.assumed[first] = found
        for name in rest:
            found = _member(found, name) if isinstance(found, types.ModuleType) else MISSING
        return found

    @property
    def members(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names of properties, and of special methods, of the user's classes in reach."""
        if self._known_members is None:
            self._known_members = self._find_members()
        return self._known_members

    def _find_members(self) -> tuple[frozenset[str], frozenset[str]]:
        reach = [*self.namespace.values(), *self.enclosed]
        modules = [one for one in self.enclosed if issubclass(type(one), types.ModuleType) and is_users_module(one)]
        reach += [value for one in modules for value in vars(one).values()]
        kinds = by_identity(one if issubclass(type(one), type) else type(one) for one in reach)
        classes = [one for one in by_identity(base for kind in kinds for base in kind.__mro__) if is_users_class(one)]
        members = [(name, value) for cls in classes for name, value in vars(cls).items()]
        asked = {id(kind) for kind in by_identity(type(value) for _, value in members) if is_asked(kind)}
        properties = {name for name, value in members if id(type(value)) in asked}
        special = {
            name
            for name, value in members
            if name[:2] == "__" == name[-2:] and isinstance(value, types.FunctionType)
            if is_written(value) or name in COMPARISONS
        }
        return frozenset(properties | self.inner_members), frozenset(special | self.inner_members)


def _of_target(ask: Callable[[Any], bool]) -> Callable[[Meanings, Question], bool]:
    """Return a question about what a name stands for."""
    return lambda meanings, path: bool(ask(meanings.resolve(path)))


def _is_builtin(meanings: Meanings, path: Question) -> bool:
    """Return whether a name is the builtin's."""
    return meanings.resolve(path) is getattr(builtins, *path)


def _is_options(target: Any) -> bool:
    """Return whether a target is ``set_loop_options``, also under a name of the user's."""
    code = code_of(target)
    return code is not None and code.co_name == OPTIONS and is_own_file(code.co_filename)


def _lets_through(manager: Any) -> bool:
    """Return whether what makes a context manager makes one that swallows no exception; unknown ones may."""
    if manager is MISSING:
        return False
    return str(attribute_of(manager, "__module__") or module_of(type(manager))).split(".")[0] in _LETTING_THROUGH


def _is_property(meanings: Meanings, about: Question) -> bool:
    """Return whether a class of the user's in reach has a property of this name, or another descriptor."""
    (name,) = about
    return name in meanings.members[0] or not meanings.inner_members.isdisjoint(DESCRIBING)


def _is_overloaded(meanings: Meanings, names: Question) -> bool:
    """Return whether a class of the user's in reach has one of these special methods."""
    return not meanings.members[1].isdisjoint(names)


def _has_library_items(meanings: Meanings, _: Question) -> bool:
    """Return whether a name in reach holds an object of Python's whose items may change unseen: a ConfigParser."""
    reach = (*meanings.namespace.values(), *meanings.enclosed)
    return any(hasattr(type(one), "__getitem__") and hides_state(one) for one in reach)


#: all that a conversion may ask
QUESTIONS: dict[str, Callable[[Meanings, Question], bool]] = {
    "builtin": _is_builtin,
    "plain": _of_target(lambda one: one is not MISSING and is_plain(one)),
    "of NumPy": _of_target(is_numpys),
    "ufunc": _of_target(lambda one: isinstance(one, np.ufunc)),
    "module": _of_target(lambda one: isinstance(one, types.ModuleType)),
    "options": _of_target(_is_options),
    "class of the user's": _of_target(lambda one: isinstance(one, type) and is_users_class(one)),
    "truth": _of_target(lambda one: any(one is truth for truth in _TRUTHS)),
    "suppressing": _of_target(lambda one: one is contextlib.suppress),
    "letting through": _of_target(_lets_through),
    "property": _is_property,
    "overloaded": _is_overloaded,
    "library's items": _has_library_items,
}
