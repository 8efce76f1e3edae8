"""The expression of one node: its template, or a call of its kernel, over the expressions of its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from ..analysis.aliasing import may_write_over
from ..base.dtypes import dtype_name
from ..base.forks import undivided
from ..base.shapes import TensorShape
from ..ir.graph import Node
from ..ir.op import Op
from ..ir.tensor import Tensor
from ..ops.direct_calls import is_literal
from ..ops.indexing import assign_in_place, item_code
from . import names
from .inlining import Uses
from .templates import ATOM, Expr, constant, parse

_ASSIGN_IN_PLACE = Op("assign_in_place", lambda x, *_, **__: (x.dtype, x.shape), assign_in_place)


class Expressions:
    """Makes expressions and collects what they refer to.

    Attributes
    ----------
    namespace : dict
        The globals of the generated module.
    notes : dict
        Global name -> what it stands for, for readers.
    """

    def __init__(self, pool: names.Names) -> None:
        self.names = pool
        self.namespace: dict[str, Any] = {"np": np}
        self.notes: dict[str, str] = {}
        self._known: dict[Any, str] = {}

    def constant(self, value: Any, hint: str) -> Expr:
        """Return a constant; equal scalars share a name."""
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if not isinstance(value, np.generic):
            note = f"array of shape {value.shape}, {value.dtype}" if isinstance(value, np.ndarray) else repr(value)
            return constant(self.known(("object", id(value)), names.of_node(hint), value, note[:80]))
        key = ("scalar", value.dtype.str, value.tobytes())
        return constant(self.known(key, names.of_constant(value), value, repr(value)))

    def true(self) -> Expr:
        """Return the value of an effect token."""
        return self.constant(np.True_, "true")

    def count(self) -> str:
        """Return ``itertools.count``."""
        return self.known(("count",), "count", count, "itertools.count")

    def call(self, node: Node, env: Mapping[Tensor, Expr], uses: Uses) -> Expr:
        """Return the expression that computes ``node``."""
        op = node.op
        args = [env[t] for t in node.operands]
        code = op.template(node)
        if all(arg.total for arg in args):  # what is written in Python's own words may leave an operand out
            code = op.truth if node in uses.truth else _scalar_code(node) or code
        if code is not None:
            template = parse(code)
            if not template.repeated or all(args[i].name is not None for i in template.repeated):
                return self._filled(template, args, node)
        return self._kernel_call(op, args, node.attrs, node, op.stateful)

    def into(self, node: Node, env: Mapping[Tensor, Expr], out: Expr) -> Expr:
        """Return the expression that computes ``node`` in the array ``out``."""
        code, by = node.op.into, node.op.into_by
        assert code is not None
        if by is not None:
            code = code.replace("{by}", self.known(("into", id(by)), names.of_node(node.op.name), by, str(by.__doc__)))
        template = parse(code.replace("{out}", f"{{{len(node.inputs)}}}"))
        return template.fill([*[env[t] for t in node.inputs], out], node)

    def reused(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
        """Return what makes arrays of this form, to be used again."""
        with undivided():
            from .buffer_reuse import ReusedArrays

        name = self.known(("reused",), "ReusedArrays", ReusedArrays, "gives an array, again if nobody has it any more")
        return f"{name}({shape}, {dtype_name(dtype)})"

    def scalar(self, dtype: np.dtype[Any]) -> str:
        """Return what makes a NumPy scalar of a number."""
        return dtype_name(dtype)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Expr:
        """Return a new array."""
        text = f"np.empty({shape}, {dtype_name(dtype)})"
        return Expr((text,), length=len(text))

    def set_item(self, node: Node, env: Mapping[Tensor, Expr]) -> list[str | Expr]:
        """Return the statement that writes to the array itself what ``node`` would write to a copy."""
        array, value, *inputs = [env[t] for t in node.inputs]
        source = item_code(node.attrs["index"], len(inputs) + 1)
        if source is None or may_write_over(node):
            call = self._kernel_call(_ASSIGN_IN_PLACE, [array, value, *inputs], node.attrs, node, False)
            return [call]
        target = parse(source).fill([array, *inputs], node)
        return [target, " = ", value]

    def update(self, node: Node, env: Mapping[Tensor, Expr]) -> Expr:
        """Return the expression that changes an array itself to what ``node`` would make of it."""
        assert node.op.taking is not None
        op = Op(f"{node.op.name}_in_place", node.op.infer, node.op.taking.kernel)
        return self._kernel_call(op, [env[t] for t in node.inputs], node.attrs, node, False)

    def copy(self, value: Expr, node: Node) -> Expr:
        """Return an array of its own."""
        return Expr.make(("np.array(", value, ")"), ATOM, node, [value])

    def begun(self, step: Node, node: Node) -> Expr:
        """Return an empty list for ``step``, in the loop ``node``, to append to."""
        assert step.op.appends is not None
        return self._kernel_call(step.op.appends.new, [], step.attrs, node, False)

    def check(self, op: Op, value: Expr, attrs: Mapping[str, Any], node: Node) -> Expr:
        """Return ``value``, passed through the kernel of an internal check on behalf of ``node``."""
        return self._kernel_call(op, [value], attrs, node, False)

    def known(self, key: Any, wanted: str, value: Any, note: str) -> str:
        """Return the name of ``value`` in the generated module: the one that ``key`` has, or else like ``wanted``."""
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = self.names.new_global(wanted)
            self.namespace[name] = value
            self.notes[name] = note.partition("\n")[0]
        return name

    def _filled(self, template: Any, args: Sequence[Expr], node: Node) -> Expr:
        filled: Expr = template.fill(args, node)
        return filled

    def _kernel_call(self, op: Op, args: Sequence[Expr], attrs: Mapping[str, Any], node: Node, stateful: bool) -> Expr:
        items: list[str | Expr] = []
        for arg in args:
            items += ([", "] if items else []) + [arg]
        if op.callee is not None:
            function = self._attribute(op.callee, attrs[op.callee])
            return Expr.make((function, "(", *items, ")"), ATOM, node, args)
        keywords = [f"{key}={self._attribute(key, value)}" for key, value in attrs.items()]
        keywords += ["state=state"] if stateful else []
        if keywords:
            items.append((", " if items else "") + ", ".join(keywords))
        parts = (self._kernel(op), "(", *items, ")")
        return Expr.make(parts, ATOM, node, args)

    def _kernel(self, op: Op) -> str:
        kernel = op.kernel
        name = getattr(kernel, "__name__", "")
        if vars(np).get(name) is kernel:  # asked as an attribute, NumPy would look for a hint where there is none
            return f"np.{name}"
        note = op.doc or f"the kernel of {op.name}"
        return self.known(("kernel", id(kernel)), names.of_node(op.name), kernel, note)

    def _attribute(self, key: str, value: Any) -> str:
        if is_literal(value):
            return ascii(value)
        if isinstance(value, np.dtype):
            return self.known(("dtype", value.str), f"dtype_{value.name}", value, f"np.dtype({value.name!r})")
        if isinstance(value, TensorShape):
            return self.known(("shape", value), "shape", value, repr(value))
        return self.known(("attribute", id(value)), names.identifier(key), value, repr(value)[:80])


def _scalar_code(node: Node) -> str | None:
    """Return the template of a node all of whose values are scalars of a kind that its op has a template for."""
    codes = node.op.scalar
    if codes is None or any(t.shape.rank != 0 for t in (*node.inputs, *node.outputs)):
        return None
    return next((code for kinds, code in codes.items() if node.outputs[0].dtype.kind in kinds), None)
