"""Logic and operators: what a tensor may decide, or a class of the user's.

The operands of ``and``, ``or`` and conditional expressions become small functions, so that a graph can have both sides;
``a + b`` and ``a < b`` become calls where a class of the user's says what they are.
"""

from __future__ import annotations

import gast
from autoloop_runtime.base.dataclass import replace

from .container_names import is_display
from .expression_walk import ExpressionWalk, Surroundings
from .frame_readers import reads_frame
from .nodes import SIMPLE, Maker, Node
from .unfolding import may_leave_out

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


def stays_in_frame(node: Node) -> bool:
    """Return whether what may be left out of an expression sets or looks at the variables around it."""
    return may_leave_out(node) or reads_frame(node)


def _is_text(node: Node) -> bool:
    return isinstance(node, gast.JoinedStr) or (isinstance(node, gast.Constant) and isinstance(node.value, str))


class DecidedExpressions(ExpressionWalk):
    """Rewrites logic, comparisons, and operators with overloads."""

    def _boolop(self, node: Node, around: Surroundings) -> Node:
        if stays_in_frame(node) or self.environment.is_static_test(node, around.local_names):
            return self.parts(node, around)
        make = Maker(node)
        first = self.rewrite(node.values[0], around)
        later = [self.later(value, around) for value in node.values[1:]]
        name = "and_" if isinstance(node.op, gast.And) else "or_"
        return make.call(self.operator(make, name), first, *later)

    def _unaryop(self, node: Node, around: Surroundings) -> Node:
        make = Maker(node)
        if not isinstance(node.op, gast.Not):
            node = self.parts(node, around)
            sign, name = _UNARY[type(node.op)]
            if isinstance(node.operand, gast.Constant) or not self.environment.is_overloaded(name):
                return node
            return make.call(self.operator(make, "unary"), make.constant(sign), node.operand)
        if self.environment.is_static_test(node, around.local_names):
            return self.parts(node, around)
        return make.call(self.operator(make, "not_"), self.rewrite(node.operand, around))

    def _ifexp(self, node: Node, around: Surroundings) -> Node:
        static = self.environment.is_static_test(node.test, around.local_names)
        if static or stays_in_frame(node):
            return self.parts(node, around)
        make = Maker(node)
        test = self.rewrite(node.test, around)
        branches = (self.later(node.body, around), self.later(node.orelse, around))
        return make.call(self.operator(make, "if_exp"), test, *branches)

    def _compare(self, node: Node, around: Surroundings) -> Node:
        if len(node.ops) == 1 or stays_in_frame(node):
            return self._single_compare(node, around)
        if all(isinstance(op, gast.Is | gast.IsNot) for op in node.ops):
            return self.parts(node, around)
        make = Maker(node)
        links = []
        left = node.left
        for index, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            again = right
            if index + 1 < len(node.ops) and not isinstance(right, SIMPLE):
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
        node = self.parts(node, around)
        if len(node.ops) > 1:
            return node
        name = _NAMED_COMPARISONS.get(type(node.ops[0]))
        sides = [node.left, node.comparators[0]]
        if name is None:
            return self._overloaded_compare(node, around)
        if isinstance(node.ops[0], gast.Is | gast.IsNot):
            if all(isinstance(one, gast.Constant) for one in sides):
                return node
            sides.sort(key=lambda one: isinstance(one, gast.Constant))  # `None is x` asks x
        make = Maker(node)
        return make.call(self.operator(make, name), *sides)

    def _binop(self, node: Node, around: Surroundings) -> Node:
        """Return ``ops.binary(a, '+', b)`` for ``a + b`` where a class of the user's says what that is."""
        node = self.parts(node, around)
        sign = AUGMENTED[type(node.op)][:-1]
        name = METHODS[sign]
        if sign == "%" and (_is_text(node.left) or isinstance(node.right, gast.Tuple | gast.Dict)):
            return Maker(node).call(self.operator(Maker(node), "percent"), node.left, node.right)
        repeats = sign == "*" and any(isinstance(one, gast.List) for one in (node.left, node.right))
        if not repeats and not self.environment.is_overloaded(f"__{name}__", f"__r{name}__"):
            return node
        make = Maker(node)
        return make.call(self.operator(make, "binary"), node.left, make.constant(sign), node.right)

    def _overloaded_compare(self, node: Node, around: Surroundings) -> Node:
        """Return ``ops.compare(a, '<', b)`` where a class of the user's, a container or a complex number says it."""
        sign, *names = _COMPARISONS.get(type(node.ops[0]), ("",))
        sides = (node.left, node.comparators[0])
        is_container = any(is_display(one) or getattr(one, "id", "") in around.containers for one in sides)
        is_complex = sign in ("==", "!=") and isinstance(getattr(node.left, "value", None), complex)
        if not sign or not (is_container or is_complex or self.environment.is_overloaded(*names)):
            return node
        make = Maker(node)
        return make.call(self.operator(make, "compare"), node.left, make.constant(sign), node.comparators[0])
