"""Expressions: lazy logic, ternaries, chained comparisons, calls, and reads that need a check."""

from __future__ import annotations

import types
from collections.abc import Callable

import gast
import numpy as np
from autoloop.conversion.callables import Environment
from autoloop.conversion.nodes import Maker, Node, branching_fields, children, copy_tree, method_name, walk
from autoloop.conversion.scopes import COMPREHENSIONS, FRAME_READERS, parameter_names
from autoloop.conversion.unfolding import binds_in, may_leave_out
from autoloop_runtime.base.dataclass import dataclass, replace

AUGMENTED = {
    gast.Add: "+=", gast.Sub: "-=", gast.Mult: "*=", gast.Div: "/=", gast.FloorDiv: "//=", gast.Mod: "%=",
    gast.Pow: "**=", gast.MatMult: "@=", gast.BitAnd: "&=", gast.BitOr: "|=", gast.BitXor: "^=",
    gast.LShift: "<<=", gast.RShift: ">>=",
}  # fmt: skip
METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
_COMPARISONS = {
    gast.Lt: ("<", "__lt__", "__gt__"), gast.LtE: ("<=", "__le__", "__ge__"), gast.Gt: (">", "__gt__", "__lt__"),
    gast.GtE: (">=", "__ge__", "__le__"), gast.Eq: ("==", "__eq__"), gast.NotEq: ("!=", "__ne__", "__eq__"),
}  # fmt: skip
_UNARY = {gast.USub: ("-", "__neg__"), gast.UAdd: ("+", "__pos__"), gast.Invert: ("~", "__invert__")}
_NAMED_COMPARISONS = {gast.In: "in_", gast.NotIn: "not_in", gast.Is: "is_", gast.IsNot: "is_not"}
_SIMPLE = (gast.Name, gast.Constant)
# Builtins that use up a generator expression before they return.
_TAKE_ALL = ("all", "any", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple")


@dataclass(frozen=True)
class Surroundings:
    """Where an expression stands.

    Attributes
    ----------
    local_names : frozenset of str
        Names that are not global here.
    own_names : tuple of str
        The variables of the user's function, as ``locals()`` would list them.
    checked : frozenset of str
        Names that may hold a marker for "no value" here.
    self_name : str or None
        The first parameter of the function, for ``super()``.
    nested : bool
        Whether the code has moved into a function of its own, so that ``super()`` must be spelled out.
    sequences : frozenset of str
        Local names that may hold a Python list or tuple, or an array.
    caught : tuple of node
        What the ``except`` clauses and the managers around it catch, or may catch.
    """

    local_names: frozenset[str]
    own_names: tuple[str, ...]
    checked: frozenset[str] = frozenset()
    self_name: str | None = None
    nested: bool = False
    sequences: frozenset[str] = frozenset()
    caught: tuple[Node, ...] = ()


class ExpressionRewriter:
    """Rewrites expressions in place; ``ops`` is the name under which converted code knows the operators."""

    def __init__(self, ops: str, environment: Environment, fresh: Callable[[str], str]) -> None:
        self.ops = ops
        self.environment = environment
        self.fresh = fresh

    def operator(self, make: Maker, name: str) -> Node:
        """Return the expression ``ops.name``."""
        return make.attribute(make.load(self.ops), name)

    def rewrite(self, node: Node, around: Surroundings) -> Node:
        """Return the converted form of an expression."""
        method = getattr(self, method_name(node.__class__), None)
        if method is not None:
            return method(node, around)
        if isinstance(node, COMPREHENSIONS):
            return self._comprehension(node, around)
        return self._children(node, around)

    def _children(self, node: Node, around: Surroundings) -> Node:
        for name in branching_fields(node.__class__):
            value = getattr(node, name, None)
            if isinstance(value, gast.AST):
                setattr(node, name, self.rewrite(value, around))
            elif isinstance(value, list):
                setattr(node, name, [self.rewrite(v, around) if isinstance(v, gast.AST) else v for v in value])
        return node

    def _name(self, node: Node, around: Surroundings) -> Node:
        if isinstance(node.ctx, gast.Load) and node.id in around.checked:
            make = Maker(node)
            caught = [make.lambda_(make.tuple(map(copy_tree, around.caught)))] if around.caught else []
            return make.call(self.operator(make, "defined"), node, *caught)
        return node

    # -- logic ------------------------------------------------------------------------------------------

    def _boolop(self, node: Node, around: Surroundings) -> Node:
        if may_leave_out(node) or self.environment.is_static_test(node, around.local_names):
            return self._children(node, around)
        make = Maker(node)
        first = self.rewrite(node.values[0], around)
        later = [self._thunk(value, around) for value in node.values[1:]]
        name = "and_" if isinstance(node.op, gast.And) else "or_"
        return make.call(self.operator(make, name), first, *later)

    def _thunk(self, node: Node, around: Surroundings) -> Node:
        return Maker(node).lambda_(self.rewrite(node, replace(around, nested=True)))

    def _unaryop(self, node: Node, around: Surroundings) -> Node:
        make = Maker(node)
        if not isinstance(node.op, gast.Not):
            node = self._children(node, around)
            sign, name = _UNARY[type(node.op)]
            if isinstance(node.operand, gast.Constant) or not self.environment.is_overloaded(name):
                return node
            return make.call(self.operator(make, "unary"), make.constant(sign), node.operand)
        if self.environment.is_static_test(node, around.local_names):
            return self._children(node, around)
        return make.call(self.operator(make, "not_"), self.rewrite(node.operand, around))

    def _ifexp(self, node: Node, around: Surroundings) -> Node:
        static = self.environment.is_static_test(node.test, around.local_names)
        if static or may_leave_out(node):
            return self._children(node, around)
        make = Maker(node)
        test = self.rewrite(node.test, around)
        branches = (self._thunk(node.body, around), self._thunk(node.orelse, around))
        return make.call(self.operator(make, "if_exp"), test, *branches)

    def _compare(self, node: Node, around: Surroundings) -> Node:
        if len(node.ops) == 1 or may_leave_out(node):
            return self._single_compare(node, around)
        if all(isinstance(op, gast.Is | gast.IsNot) for op in node.ops):
            return self._children(node, around)
        make = Maker(node)
        links = []
        left = node.left
        for index, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            again = right
            if index + 1 < len(node.ops) and not isinstance(right, _SIMPLE):
                # The middle operand is used twice but evaluated once.
                name = self.fresh("middle")
                right = make.place(gast.NamedExpr(make.store(name), right))
                again = make.load(name)
            elif isinstance(right, gast.Name):
                again = make.load(right.id)
            links.append(make.place(gast.Compare(left, [op], [right])))
            left = again
        return self._nested_and(make, links, around)

    def _nested_and(self, make: Maker, links: list[Node], around: Surroundings) -> Node:
        """Return ``a and (b and c)``: each link sees what the one before it has bound."""
        first = self._single_compare(links[0], around)
        if len(links) == 1:
            return first
        rest = make.lambda_(self._nested_and(make, links[1:], replace(around, nested=True)))
        return make.call(self.operator(make, "and_"), first, rest)

    def _single_compare(self, node: Node, around: Surroundings) -> Node:
        is_none_test = self.environment.is_none_test(node)
        node = self._children(node, around)
        if len(node.ops) > 1:
            return node
        if not (is_none_test or isinstance(node.ops[0], gast.In | gast.NotIn)):
            return self._overloaded_compare(node)
        make = Maker(node)
        name = _NAMED_COMPARISONS[type(node.ops[0])]
        return make.call(self.operator(make, name), node.left, node.comparators[0])

    # -- operators of the user's classes ------------------------------------------------------------------

    def _binop(self, node: Node, around: Surroundings) -> Node:
        """Return ``ops.binary(a, '+', b)`` for ``a + b`` where a class of the user's says what that is."""
        node = self._children(node, around)
        sign = AUGMENTED[type(node.op)][:-1]
        name = METHODS[sign]
        makes_text = sign == "%" and isinstance(node.left, gast.Constant) and isinstance(node.left.value, str)
        repeats = sign == "*" and any(isinstance(one, gast.List) for one in (node.left, node.right))
        if not makes_text and not repeats and not self.environment.is_overloaded(f"__{name}__", f"__r{name}__"):
            return node
        make = Maker(node)
        return make.call(self.operator(make, "binary"), node.left, make.constant(sign), node.right)

    def _overloaded_compare(self, node: Node) -> Node:
        """Return ``ops.compare(a, '<', b)`` where a class of the user's says what that is."""
        sign, *names = _COMPARISONS.get(type(node.ops[0]), ("",))
        if not sign or not self.environment.is_overloaded(*names):
            return node
        make = Maker(node)
        return make.call(self.operator(make, "compare"), node.left, make.constant(sign), node.comparators[0])

    # -- calls ------------------------------------------------------------------------------------------

    def _call(self, node: Node, around: Surroundings) -> Node:
        plain = self.environment.is_plain_call(node.func, around.local_names)
        if self.environment.is_options(node.func, around.local_names):  # at the head of a loop it is not rewritten
            node.func = self.operator(Maker(node.func), "misplaced_options")
        if isinstance(node.func, gast.Name) and not node.args and not node.keywords:
            special = self._frame_call(node, around)
            if special is not None:
                return special
        operator = self._consumed(node, around)
        asked = replace(around, caught=()) if isinstance(node.func, gast.Attribute) else around
        function = self.rewrite(node.func, asked)
        node.args = [self.rewrite(arg, around) for arg in node.args]
        if operator:
            node.args[0] = self._kept(node.args[0], operator)
        for keyword in node.keywords:
            keyword.value = self.rewrite(keyword.value, around)
        if not plain:
            make = Maker(function)
            function = make.call(self.operator(make, "call"), function)
        node.func = function
        return node

    def _frame_call(self, node: Node, around: Surroundings) -> Node | None:
        """Rewrite calls without arguments that look at the frame they stand in."""
        name = node.func.id
        make = Maker(node)
        if name == "super" and around.nested and around.self_name is not None:
            node.args = [make.load("__class__"), make.load(around.self_name)]
            return node
        if name in FRAME_READERS & {"locals", "vars"} and self.environment.is_builtin(
            node.func, name, around.local_names
        ):
            return make.call(self.operator(make, "user_variables"), node, make.strings(around.own_names))
        return None

    def _joinedstr(self, node: Node, around: Surroundings) -> Node:
        """Return ``ops.fstring('{} {:.2f}', a, b)`` for an f-string with values in it.

        Values whose evaluation may change what another one shows are evaluated when their turn has come.
        """
        if not any(isinstance(part, gast.FormattedValue) for part in node.values):
            return node
        make = Maker(node)
        values: list[Node] = []
        template = self._template(node, values, replace(around, nested=True))
        if any(map(binds_in, values[1:])) or all(map(_shows_only, values[1:])):
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

    # -- functions inside expressions ---------------------------------------------------------------------

    def _starred(self, node: Node, around: Surroundings) -> Node:
        """Return ``*ops.elements(v)`` for ``*v`` in a call, a list or a tuple."""
        node = self._children(node, around)
        if isinstance(node.ctx, gast.Load) and not isinstance(node.value, gast.List | gast.Tuple | gast.Constant):
            make = Maker(node.value)
            node.value = make.call(self.operator(make, "elements"), node.value)
        return node

    def _lambda(self, node: Node, around: Surroundings) -> Node:
        args = node.args
        args.defaults = [self.rewrite(one, around) for one in args.defaults]
        args.kw_defaults = [one and self.rewrite(one, around) for one in args.kw_defaults]
        params = parameter_names(args)
        inner = Surroundings(
            local_names=around.local_names | frozenset(params),
            own_names=tuple(params),
            self_name=params[0] if params else None,
            sequences=around.sequences - frozenset(params),
        )
        node.body = self.rewrite(node.body, inner)
        return node

    def _comprehension(self, node: Node, around: Surroundings) -> Node:
        """Let a comprehension run over the rows of tensors, and its conditions and logic be for the graph to decide.

        One that sets names by ``:=`` does so in its own frame: of that only the calls are rewritten.
        """
        binds = any(map(binds_in, children(node)))
        targets = {
            one.id for generator in node.generators for one in walk(generator.target)
            if isinstance(one, gast.Name)
        }  # fmt: skip
        inner: ExpressionRewriter = _CallsOnly(self.ops, self.environment, self.fresh) if binds else self
        inside = replace(around, local_names=around.local_names | targets, checked=around.checked - targets)
        for index, generator in enumerate(node.generators):
            iterable = inner.rewrite(generator.iter, inside) if index else self.rewrite(generator.iter, around)
            if not isinstance(iterable, gast.List | gast.Tuple | gast.Constant | gast.Dict):
                iterable = Maker(iterable).call(self.operator(Maker(iterable), "elements"), iterable)
            generator.iter = iterable
            generator.ifs = [inner.rewrite(test, inside) for test in generator.ifs]
        for name in ("elt", "key", "value"):
            if hasattr(node, name):
                setattr(node, name, inner.rewrite(getattr(node, name), inside))
        if isinstance(node, gast.ListComp) and not binds and node.generators[-1].ifs:
            return self._kept(node, "kept")
        key = {gast.SetComp: "elt", gast.DictComp: "key"}.get(type(node), "")
        if key and not isinstance(part := getattr(node, key), gast.Constant):
            setattr(node, key, Maker(part).call(self.operator(Maker(part), "hashed"), part))
        return node

    def _kept(self, node: Node, operator: str) -> Node:
        """Return ``ops.kept((test, lambda: x) for x in v)`` for ``[x for x in v if test]``; all is rewritten."""
        make = Maker(node)
        last = node.generators[-1]
        pair = make.tuple([self._all(make, last.ifs), make.lambda_(node.elt)])
        last.ifs = []
        pairs = make.place(gast.GeneratorExp(pair, node.generators))
        return make.call(self.operator(make, operator), pairs)

    def _all(self, make: Maker, tests: list[Node]) -> Node:
        later = [make.lambda_(test) for test in tests[1:]]
        return make.call(self.operator(make, "and_"), tests[0], *later) if later else tests[0]

    def _consumed(self, node: Node, around: Surroundings) -> str:
        """Let the condition of a generator expression that a builtin uses up at once be for the graph to decide.

        ``any(x for x in v if t)`` asks ``t and x`` of each, ``all`` asks ``not t or x``; the others ask for all
        elements anyway, so they may as well get a list. Returns the operator that is still to be put around what
        becomes of the argument.
        """
        generator = node.args[0] if node.args else None
        name = getattr(node.func, "id", "")
        if not isinstance(generator, gast.GeneratorExp) or name not in _TAKE_ALL:
            return ""
        if any(map(binds_in, children(generator))):
            if name in ("any", "all") and self.environment.is_builtin(node.func, name, around.local_names):
                # How far it gets decides what its `:=` leave behind: each answer must be there when it is asked for.
                generator.elt = Maker(generator).not_(Maker(generator).not_(generator.elt))
            return ""
        if not generator.generators[-1].ifs:
            return ""
        if not self.environment.is_builtin(node.func, name, around.local_names):
            return ""
        make = Maker(generator)
        last = generator.generators[-1]
        if name == "sum":
            return "summands"
        if name not in ("any", "all"):
            node.args[0] = make.place(gast.ListComp(generator.elt, generator.generators))
            return ""
        test = last.ifs[0] if len(last.ifs) == 1 else make.place(gast.BoolOp(gast.And(), last.ifs))
        parts = [test, generator.elt] if name == "any" else [make.not_(test), generator.elt]
        generator.elt = make.place(gast.BoolOp(gast.And() if name == "any" else gast.Or(), parts))
        last.ifs = []
        return ""

    def _attribute(self, node: Node, around: Surroundings) -> Node:
        """Return ``ops.attribute(a, 'name')`` for ``a.name`` where that may call a property of the user's."""
        loaded = isinstance(node.ctx, gast.Load)
        is_property = loaded and self.environment.is_property(node.attr)
        owner = self.environment.resolve(node.value, around.local_names) if around.caught else None
        node = self._children(node, around)
        make = Maker(node)
        if is_property:
            node = make.call(self.operator(make, "attribute"), node.value, make.constant(node.attr))
        if loaded and around.caught and not isinstance(owner, types.ModuleType):
            # An attribute that only the run knows to be there is asked for here, where its absence would be caught.
            node = make.call(self.operator(make, "defined"), node)
        return node

    def _subscript(self, node: Node, around: Surroundings) -> Node:
        """Return ``ops.item(a, i)`` for ``a[i]`` where ``a`` may be a Python sequence and ``i`` a tensor."""
        chosen = not _is_fixed(node.slice) and self._is_sequence(node.value, around)
        chosen = isinstance(node.ctx, gast.Load) and (chosen or self.environment.is_overloaded("__getitem__"))
        node = self._children(node, around)
        if not chosen:
            return node
        make = Maker(node)
        return make.call(self.operator(make, "item"), node.value, as_index(node.slice))

    def _is_sequence(self, node: Node, around: Surroundings) -> bool:
        if isinstance(node, gast.Name):
            if node.id in around.local_names:
                return node.id in around.sequences
            return isinstance(self.environment.resolve(node, around.local_names), list | tuple | np.ndarray)
        return isinstance(node, gast.Attribute | gast.List | gast.Tuple)

    # -- items --------------------------------------------------------------------------------------------

    def set_item(self, target: Node, value: Node, around: Surroundings) -> Node:
        """Return ``a = ops.set_item(a, i, v)`` for ``a[i] = v``; ``value`` is already converted."""
        make = Maker(target)
        array = self.rewrite(make.load(target.value.id), around)
        index = self.rewrite(as_index(target.slice), around)
        if is_quiet(target.slice) or isinstance(value, _SIMPLE):
            call = make.call(self.operator(make, "set_item"), array, index, value)
        else:
            # Python evaluates the value before the index; keywords keep that order.
            call = make.call(self.operator(make, "set_item"), value=value, array=array, index=index)
        return make.set_name(target.value.id, call)

    def set_items(self, target: Node, value: Node, around: Surroundings) -> Node:
        """Return ``a = ops.set_items(a, (i, j), v)`` for ``a[i][j] = v``; ``value`` is already converted."""
        make = Maker(target)
        name, path = self._path_of_items(make, target, around)
        call = make.call(self.operator(make, "set_items"), value=value, array=make.load(name), path=path)
        if isinstance(value, _SIMPLE):
            call = make.call(self.operator(make, "set_items"), make.load(name), path, value)
        return make.set_name(name, call)

    def update_items(self, node: Node, around: Surroundings) -> Node:
        """Return ``a = ops.update_items(a, (i, j), '+=', lambda: v)`` for ``a[i][j] += v``."""
        make = Maker(node)
        name, path = self._path_of_items(make, node.target, around)
        value = self._thunk(node.value, around)
        sign = make.constant(AUGMENTED[type(node.op)])
        return make.set_name(name, make.call(self.operator(make, "update_items"), make.load(name), path, sign, value))

    def _path_of_items(self, make: Maker, target: Node, around: Surroundings) -> tuple[str, Node]:
        indices: list[Node] = []
        while isinstance(target, gast.Subscript):
            indices.insert(0, self.rewrite(as_index(target.slice), around))
            target = target.value
        return str(target.id), make.tuple(indices)

    def set_item_of(self, target: Node, value: Node, around: Surroundings) -> Node:
        """Return ``ops.set_item_of(self, 'a', i, v)`` for ``self.a[i] = v``; ``value`` is already converted."""
        make = Maker(target)
        owner = self.rewrite(target.value.value, around)
        name = make.constant(target.value.attr)
        index = self.rewrite(as_index(target.slice), around)
        function = self.operator(make, "set_item_of")
        if isinstance(value, _SIMPLE) or (is_quiet(target.slice) and isinstance(owner, _SIMPLE)):
            return make.call(function, owner, name, index, value)
        return make.call(function, value=value, owner=owner, name=name, index=index)

    def update_item_of(self, node: Node, around: Surroundings) -> Node:
        """Return ``ops.update_item_of(self, 'a', i, '+=', lambda: v)`` for ``self.a[i] += v``."""
        make = Maker(node)
        target = node.target.value
        owner = self.rewrite(target.value, around)
        index = self.rewrite(as_index(node.target.slice), around)
        value = self._thunk(node.value, around)
        sign = make.constant(AUGMENTED[type(node.op)])
        return make.call(self.operator(make, "update_item_of"), owner, make.constant(target.attr), index, sign, value)

    def update_item(self, node: Node, around: Surroundings) -> Node:
        """Return ``a = ops.update_item(a, i, '+=', lambda: v)`` for ``a[i] += v``."""
        make = Maker(node)
        array = self.rewrite(make.load(node.target.value.id), around)
        index = self.rewrite(as_index(node.target.slice), around)
        # The item is fetched before the value is evaluated.
        value = self._thunk(node.value, around)
        sign = make.constant(AUGMENTED[type(node.op)])
        call = make.call(self.operator(make, "update_item"), array, index, sign, value)
        return make.set_name(node.target.value.id, call)


class _CallsOnly(ExpressionRewriter):
    """Rewrites nothing but calls: inside comprehensions, logic stays Python."""

    def _boolop(self, node: Node, around: Surroundings) -> Node:
        return self._children(node, around)

    _unaryop = _ifexp = _compare = _joinedstr = _subscript = _binop = _boolop


def _is_fixed(index: Node) -> bool:
    """Return whether an index is no single value that only a run may know."""
    if isinstance(index, gast.UnaryOp):
        return _is_fixed(index.operand)
    return isinstance(index, gast.Constant | gast.Slice | gast.Tuple | gast.JoinedStr)


def _shows_only(value: Node) -> bool:
    """Return whether a value of an f-string is there already, so that it may be fetched before others are shown."""
    return not any(isinstance(node, gast.Call | gast.NamedExpr | gast.Await) for node in walk(value))


def is_quiet(node: Node) -> bool:
    """Return whether evaluating an index has no effect of its own, so that its place in the order does not matter."""
    if isinstance(node, _SIMPLE):
        return True
    if isinstance(node, gast.Tuple | gast.Slice | gast.UnaryOp | gast.BinOp):
        return all(is_quiet(one) for one in children(node) if isinstance(one, gast.expr))
    return False


def as_index(node: Node) -> Node:
    """Return an index expression that may stand outside brackets: ``a:b`` becomes ``slice(a, b)``."""
    make = Maker(node)
    if isinstance(node, gast.Slice):
        parts = [one if one is not None else make.constant(None) for one in (node.lower, node.upper)]
        parts += [node.step] if node.step is not None else []
        return make.call(make.load("slice"), *parts)
    if isinstance(node, gast.Tuple):
        return make.tuple([as_index(one) for one in node.elts])
    return node
