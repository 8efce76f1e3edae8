"""Expressions: calls and reads that need a check, and all that the rooms beside this file rewrite."""

from __future__ import annotations

import gast
from autoloop_runtime.base.dataclass import replace

from .decided_expressions import DecidedExpressions
from .expression_walk import Surroundings
from .frame_readers import reads_frame
from .inner_scopes import InnerScopes
from .known_names import OF_GENERATORS, OF_NAMESPACES
from .nodes import Maker, Node, as_index, children, walk
from .unfolding import binds_in

# Builtins that use up a generator expression before they return.
_TAKE_ALL = ("frozenset", "list", "set", "sorted", "tuple")
# Those that take one element after the other, some of them no more than they need.
_DECIDE = ("all", "any", "max", "min", "next", "sum")


class ExpressionRewriter(DecidedExpressions, InnerScopes):
    """Rewrites expressions in place."""

    def _call(self, node: Node, around: Surroundings) -> Node:
        plain = self.environment.is_plain_call(node.func, around.local_names)
        if plain and self.environment.looks_into_lists(node, around.local_names):
            plain = False
        if node.args and getattr(node.func, "id", "") in ("dir", "vars"):  # of an object, not of the frame
            plain = False
        if self.environment.is_options(node.func, around.local_names):  # at the head of a loop it is not rewritten
            node.func = self.operator(Maker(node.func), "misplaced_options")
        if isinstance(node.func, gast.Name) and not node.args and not node.keywords:
            special = self._frame_call(node, around)
            if special is not None:
                return special
        once = self._consumed(node, around)
        asked = replace(around, caught=()) if isinstance(node.func, gast.Attribute) else around
        function = self.rewrite(node.func, asked)
        first = [self.generated(node.args[0], around, once=True)] if once else []
        node.args = first + [self.rewrite(arg, around) for arg in node.args[len(first) :]]
        for keyword in node.keywords:
            keyword.value = self.rewrite(keyword.value, around)
        if not plain:
            make = Maker(function)
            is_starred = any(isinstance(arg, gast.Starred) for arg in node.args)
            is_starred = is_starred or any(keyword.arg is None for keyword in node.keywords)
            function = make.call(self.operator(make, "starred_call" if is_starred else "call"), function)
        node.func = function
        return node

    def _frame_call(self, node: Node, around: Surroundings) -> Node | None:
        """Rewrite calls without arguments that look at the frame they stand in."""
        name = node.func.id
        make = Maker(node)
        if name == "super" and around.nested and around.self_name is not None:
            node.args = [make.load("__class__"), make.load(around.self_name)]
            return node
        if name in ("locals", "vars", "dir") and self.environment.is_builtin(node.func, name, around.local_names):
            only_names = [make.constant(True)] if name == "dir" else []
            node.func.id = "locals" if only_names else name
            return make.call(self.operator(make, "user_variables"), node, make.strings(around.own_names), *only_names)
        return None

    def _consumed(self, node: Node, around: Surroundings) -> bool:
        """Let what a builtin uses up at once of a generator expression be for the graph to decide.

        Builtins that ask for all elements anyway get a list. Returns whether nobody else sees the generator.
        """
        generator = node.args[0] if node.args else None
        name = getattr(node.func, "id", "")
        joins = getattr(node.func, "attr", "") == "join" and isinstance(getattr(node.func.value, "value", None), str)
        if not isinstance(generator, gast.GeneratorExp) or (name not in (*_TAKE_ALL, *_DECIDE) and not joins):
            return False
        if any(map(reads_frame, children(generator))):
            return False
        is_builtin = joins or self.environment.is_builtin(node.func, name, around.local_names)
        if any(map(binds_in, children(generator))):
            if name in ("any", "all") and is_builtin:
                # How far it gets decides what its `:=` leave behind: each answer must be there when it is asked for.
                generator.elt = Maker(generator).not_(Maker(generator).not_(generator.elt))
            return False
        if is_builtin and name not in _DECIDE:
            node.args[0] = Maker(generator).place(gast.ListComp(generator.elt, generator.generators))
        return is_builtin and name in _DECIDE

    def _joinedstr(self, node: Node, around: Surroundings) -> Node:
        """Return ``ops.fstring('{} {:.2f}', a, b)`` for an f-string with values in it.

        Values whose evaluation may change what another one shows are evaluated when their turn has come.
        """
        if not any(isinstance(part, gast.FormattedValue) for part in node.values):
            return node
        make = Maker(node)
        values: list[Node] = []
        template = self._template(node, values, replace(around, nested=True))
        in_frame = any(binds_in(value) or reads_frame(value) for value in values[1:])
        if in_frame or all(map(_shows_only, values[1:])):
            return make.call(self.operator(make, "fstring"), make.constant(template), *values)
        later = make.tuple([make.lambda_(value) for value in values[1:]])
        return make.call(self.operator(make, "fstring"), make.constant(template), values[0], later=later)

    def _template(self, node: Node, values: list[Node], around: Surroundings) -> str:
        text = ""
        for part in node.values:
            if isinstance(part, gast.Constant):
                text += part.value.replace("{", "{{").replace("}", "}}")
                continue
            values.append(self.rewrite(part.value, around))
            conversion = "" if part.conversion < 0 else "!" + chr(part.conversion)
            spec = "" if part.format_spec is None else ":" + self._template(part.format_spec, values, around)
            text += "{" + conversion + spec + "}"
        return text

    def _attribute(self, node: Node, around: Surroundings) -> Node:
        """Return ``ops.attribute(a, 'name')`` for ``a.name`` where that may call a property of the user's.

        And where it may ask an array for what only the run knows, or for what tensors have and arrays do not.
        """
        loaded = isinstance(node.ctx, gast.Load)
        of_module = self.environment.is_module(node.value, around.local_names)
        asked = node.attr in ASKED and not of_module
        is_property = loaded and (asked or self.environment.is_property(node.attr))
        node = self.parts(node, around)
        make = Maker(node)
        if is_property:
            node = make.call(self.operator(make, "attribute"), node.value, make.constant(node.attr))
        if loaded and around.caught and not of_module:
            # An attribute that only the run knows to be there is asked for here, where its absence would be caught.
            node = make.call(self.operator(make, "defined"), node)
        return node

    def _subscript(self, node: Node, around: Surroundings) -> Node:
        """Return ``ops.item(a, i)`` for ``a[i]``: ``a`` may be a list or a dict, and ``i`` what only a run knows."""
        may_call = self.environment.is_overloaded("__getitem__") or self.environment.has_library_items()
        chosen = isinstance(node.ctx, gast.Load) and (not _is_fixed(node.slice) or may_call)
        node = self.parts(node, around)
        if not chosen:
            return node
        make = Maker(node)
        return make.call(self.operator(make, "item"), node.value, as_index(node.slice))


#: attributes of arrays that tell of extents and dtype, those that what stands for arrays and numbers lacks, and those
#: that arrays, unlike that, lack
ASKED = OF_NAMESPACES | frozenset((
    "dtype", "nbytes", "ndim", "shape", "size", "__class__",
    "__array_finalize__", "__array_interface__", "__array_struct__", "__array_wrap__", "__class_getitem__",
    "__getformat__", "__getnewargs__", "__setstate__",
    "_repr_html_",
    "constant_value", "eval", "get_shape", "graph", "is_symbolic", "name", "node", "numpy", "op", "set_shape",
    *OF_GENERATORS,
    "absorb", "admit", "advice", "alike", "arrays", "asked_for", "assign", "assign_each", "at", "awaited", "become",
    "begin", "by", "carrier", "certain", "check_writeable", "current", "decision", "declared", "described", "empty",
    "fixed_value", "freeze", "given", "given_to", "given_views", "holds", "holds_arrays", "holds_containers",
    "is_feedable", "is_pythons", "seen_in",
    "is_scalar", "is_set", "is_whole", "is_writeable", "kind_of_part", "kinds", "known", "layout", "leaving", "left",
    "length", "like", "list_of", "lists", "may_be_scalar", "meets_arrays", "named", "needed", "noted", "numbers",
    "of_type",
    "overwrite", "packed", "parts", "parts_of", "plain", "read_only", "refuse", "refuse_leaving", "same_as", "seen_as",
    "settled_value", "several", "source", "stack", "static", "stays", "storage", "structure", "tag", "types", "value",
    "vector", "view_of", "viewed", "whole", "with_types_of",
))  # fmt: skip


def _is_fixed(index: Node) -> bool:
    """Return whether an index is no single value that only a run may know."""
    if isinstance(index, gast.UnaryOp):
        return _is_fixed(index.operand)
    if isinstance(index, gast.Tuple):
        return all(map(_is_fixed, index.elts))
    if isinstance(index, gast.Slice):
        return all(end is None or _is_fixed(end) for end in (index.lower, index.upper, index.step))
    return isinstance(index, gast.Constant | gast.JoinedStr)


def _shows_only(value: Node) -> bool:
    """Return whether a value of an f-string is there already, so that it may be fetched before others are shown."""
    return not any(isinstance(node, gast.Call | gast.NamedExpr | gast.Await) for node in walk(value))
