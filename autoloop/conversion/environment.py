"""What a conversion asks about the nodes of a tree: which name is meant, and what that means."""

from __future__ import annotations

import gast

from .known_names import FRAME_READERS
from .meanings import Meanings, Question
from .nodes import Node

_DISPLAYS = (gast.List, gast.Tuple, gast.ListComp)
_MAY_BE_LISTS = (gast.Name, gast.Attribute, gast.Subscript, gast.Call, gast.Starred, gast.IfExp, gast.NamedExpr)
# Methods of texts that look at nothing else.
_TEXTS_ALONE = frozenset(("capitalize", "casefold", "encode", "lower", "splitlines", "swapcase", "title", "upper"))
# Builtins that must be called by the user's own frame.
_FRAME_CALLS = set(FRAME_READERS) | {"globals", "super", "__import__"}


def _path(node: Node, local_names: frozenset[str]) -> Question:
    """Return the names of a global name, or of an attribute chain on one; none for anything else."""
    names = []
    while isinstance(node, gast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, gast.Name) or node.id in local_names:
        return ()
    return (node.id, *reversed(names))


def _asks_of_a_run(test: Node) -> bool:
    """Return whether a comparison asks ``x is None``, or True or False, which only a run may know."""
    sides = (test.left, *test.comparators)
    return len(test.ops) == 1 and any(isinstance(one, gast.Constant) for one in sides)


class Environment(Meanings):
    """What the names of one function mean now, asked with the nodes of its tree."""

    def _asks(self, question: str, node: Node, local_names: frozenset[str]) -> bool:
        """Ask of what a node stands for, as far as it is a global name or an attribute chain of modules."""
        path = _path(node, local_names)
        return bool(path) and self.asks(question, *path)

    def is_builtin(self, node: Node, name: str, local_names: frozenset[str]) -> bool:
        """Return whether an expression is the builtin of that name."""
        return isinstance(node, gast.Name) and node.id == name and self._asks("builtin", node, local_names)

    def is_plain_call(self, function: Node, local_names: frozenset[str]) -> bool:
        """Return whether a call can stay as the user wrote it."""
        if isinstance(function, gast.Name) and function.id in _FRAME_CALLS:
            return self.is_builtin(function, function.id, local_names)
        if isinstance(function, gast.Attribute) and isinstance(function.value, gast.Constant | gast.JoinedStr):
            return function.attr in _TEXTS_ALONE
        return self._asks("plain", function, local_names)

    def looks_into_lists(self, call: Node, local_names: frozenset[str]) -> bool:
        """Return whether a function of NumPy's may be given what it does not ask what it means: a list's elements, an
        argument that is not its first."""
        given = [*call.args, *[k.value for k in call.keywords]]
        displays = [leaf for one in given if isinstance(one, _DISPLAYS) for leaf in getattr(one, "elts", [one])]
        held = any(not isinstance(leaf, gast.Constant) for leaf in displays)
        named = any(isinstance(one, _MAY_BE_LISTS) for one in given)
        later = any(not isinstance(one, (gast.Constant, *_DISPLAYS)) for one in given[1:])
        may_be_dots = any(one.arg in (None, "out") for one in call.keywords)  # of which a ufunc tells nobody
        if not (held or named or later or may_be_dots) or not self._asks("of NumPy", call.func, local_names):
            return False
        return held or may_be_dots or not self._asks("ufunc", call.func, local_names)

    def is_module(self, node: Node, local_names: frozenset[str]) -> bool:
        """Return whether an expression certainly is a module."""
        return self._asks("module", node, local_names)

    def is_options(self, function: Node, local_names: frozenset[str]) -> bool:
        """Return whether an expression is certainly ``set_loop_options``, also under a name of the user's."""
        return self._asks("options", function, local_names)

    def is_users_class(self, node: Node, local_names: frozenset[str]) -> bool:
        """Return whether an expression certainly is a class of the user's."""
        return self._asks("class of the user's", node, local_names)

    def is_suppress(self, node: Node, local_names: frozenset[str]) -> bool:
        """Return whether an expression certainly is ``contextlib.suppress``."""
        return self._asks("suppressing", node, local_names)

    def is_property(self, name: str) -> bool:
        """Return whether a class of the user's in reach has a property of this name, or another descriptor."""
        return self.asks("property", name)

    def is_overloaded(self, *names: str) -> bool:
        """Return whether a class of the user's in reach has one of these special methods."""
        return self.asks("overloaded", *names)

    def has_library_items(self) -> bool:
        """Return whether a name in reach holds an object of Python's whose items may change unseen: a ConfigParser."""
        return self.asks("library's items")

    def is_static_test(self, test: Node, local_names: frozenset[str]) -> bool:
        """Return whether a test gives a Python bool for certain, whatever its operands are."""
        if isinstance(test, gast.Constant):
            return True
        if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            return self.is_static_test(test.operand, local_names)
        if isinstance(test, gast.BoolOp):
            return all(self.is_static_test(value, local_names) for value in test.values)
        if isinstance(test, gast.Compare):
            return all(isinstance(op, gast.Is | gast.IsNot) for op in test.ops) and not _asks_of_a_run(test)
        if isinstance(test, gast.Call):
            return self._asks("truth", test.func, local_names)
        return isinstance(test, gast.Name) and test.id == "__debug__"

    def swallows(self, statement: Node, local_names: frozenset[str]) -> bool:
        """Return whether a ``with`` statement may swallow an exception; unknown managers may."""
        managers = [item.context_expr for item in statement.items]
        made_by = [one.func if isinstance(one, gast.Call) else one for one in managers]
        return not all(self._asks("letting through", one, local_names) for one in made_by)
