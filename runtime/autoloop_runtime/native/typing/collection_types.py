"""What collections hold: TensorArrays, stacks of saved values, tables of gradients.

The elements of a collection have one dtype and shape, which is found where something is put in. A TensorArray of fixed
size has its place in memory; one that grows is a stack that things are appended to.
"""

from __future__ import annotations

import numpy as np

from ...analysis.uses import readers
from ...base.dtypes import DType, variant
from ...collections import adjoint_table as table_ops
from ...collections import checkpoint_store as checkpoint_ops
from ...collections import saved_stacks as saved_ops
from ...collections import tensor_array_ops as array_ops
from ...collections import tensor_array_vjps as array_vjp_ops
from ...ir.graph import Node
from ...ir.tensor import Tensor
from ..ir.elements import TYPES
from ..ir.moving import Extent, is_moving
from .adjoints import TABLES, Tables
from .facts import Count, Elements, Rows, Shape, StackType, Types, Unresolved
from .refusal import refuse
from .told_extents import elements_of

#: ops on stacks; checkpoints are a stack that is thinned out
_EMPTY = frozenset({saved_ops.EMPTY, checkpoint_ops.EMPTY})
_PUSH = frozenset({saved_ops.PUSH, saved_ops.SWAP_PUSH, checkpoint_ops.ADD})
_READ = frozenset({saved_ops.READ, checkpoint_ops.GET})
_STACKS = _EMPTY | _PUSH | _READ | {checkpoint_ops.INTERVAL, checkpoint_ops.LATEST, checkpoint_ops.REWIND}
#: ops that read an element of a TensorArray
_ELEMENT = frozenset({array_ops.READ, array_ops.READ_ONCE, saved_ops.PEEK})
#: ops that change what is there
_CHANGE = frozenset({array_ops.REPLACE, array_ops.INSERT, array_ops.DROP, array_ops.REMOVE})
#: ops that put something into one
_FILL = frozenset({array_ops.WRITE, array_ops.UNSTACK, array_ops.SCATTER})
#: ops on TensorArrays, some of which are refused
_ARRAYS = _ELEMENT | _FILL | _CHANGE | {
    array_ops.NEW, array_ops.READ_LISTED, array_ops.STACK, array_ops.GATHER, array_ops.CONCAT, array_ops.SPLIT,
    array_ops.SIZE, array_vjp_ops.LENGTHS,
}  # fmt: skip


class Collections:
    """Types the ops on collections.

    Parameters
    ----------
    types : Types
        Where the findings go.
    elements : dict
        The element shapes that were found in an earlier round, by the tensor that made the TensorArray.
    """

    def __init__(self, types: Types, elements: Elements) -> None:
        self.types = types
        self._elements = elements
        self._made: dict[Tensor, Rows | StackType] = {}
        self.tables = Tables(types)

    def found(self) -> Elements:
        """Return the element shapes of all TensorArrays, as far as they are known."""
        out: Elements = {}
        for tensor, made in self._made.items():
            if isinstance(made, Rows):
                out[tensor] = made.shape()
            else:
                element = made.root().element
                out[tensor] = element[1] if isinstance(element, tuple) else None
        return out

    def has(self, node: Node) -> bool:
        """Return whether ``type`` types ``node``."""
        return node.op in _ARRAYS or node.op in _STACKS or node.op in TABLES

    def takes_lines(self, node: Node) -> bool:
        """Return whether ``type`` types ``node``, of whose operands the run decides an extent."""
        return node.op is array_ops.UNSTACK or node.op in TABLES

    def type(self, node: Node) -> None:
        """Type ``node``."""
        if node.op.effect:
            self.types.shapes[node.outputs[-1]] = ()
        if node.op in _STACKS:
            self._stack(node)
        elif node.op in TABLES:
            self.tables.type(node)
        elif node.op is array_ops.NEW:
            self._new(node)
        elif node.inputs[0] in self.types.stacks:
            self._growing(node)
        else:
            self._tensor_array(node)

    # -- meeting ------------------------------------------------------------------------------------------

    def renew(self, tensor: Tensor) -> None:
        """Something empty may be shared by loops that fill it with different things: each has its own."""
        if tensor.op.op in _EMPTY:
            self.types.stacks[tensor] = StackType()
        elif tensor.op.op is table_ops.EMPTY:
            self.types.rows[tensor] = Rows()

    def meet(self, node: Node, a: Tensor, b: Tensor) -> None:
        """Let the collections ``a`` and ``b`` be one and the same from here on."""
        types = self.types
        if a in types.rows and b in types.rows:
            self.tables.merge(node, types.array(a), types.array(b))
        elif a in types.stacks and b in types.stacks and (a in types.counts) == (b in types.counts):
            self._join(node, types.stacks[a], types.stacks[b])
        else:
            refuse(node, "it mixes collections of different kinds")

    def _join(self, node: Node, a: StackType, b: StackType) -> None:
        a, b = a.root(), b.root()
        if a is b:
            return
        b.merged, a.spec, a.most = a, a.spec or b.spec, a.most or b.most
        a.counted, a.is_known = a.counted or b.counted, a.is_known or b.is_known
        a.pushed += b.pushed
        a.kind, a.swaps = b.kind if a.kind == "stack" else a.kind, a.swaps or b.swaps
        if isinstance(a.element, StackType) and isinstance(b.element, StackType):
            self._join(node, a.element, b.element)
        elif isinstance(a.element, Rows) and isinstance(b.element, Rows):
            self.tables.merge(node, a.element, b.element)
        elif a.element is None:
            a.element = b.element
        elif b.element is not None and a.element != b.element:
            refuse(node, "the elements of a collection have different shapes or dtypes")

    # -- stacks -------------------------------------------------------------------------------------------

    def _stack(self, node: Node) -> None:
        types, tensor = self.types, node.outputs[0]
        types.shapes[tensor] = ()
        if node.op in _EMPTY:
            types.stacks[tensor] = StackType()
            return
        if node.inputs[0] not in types.stacks:
            refuse(node, "its operand is no stack of known elements")
        stack_type = types.stacks[node.inputs[0]].root()
        if node.op in (checkpoint_ops.INTERVAL, checkpoint_ops.LATEST):
            return
        if node.op is checkpoint_ops.REWIND:
            types.stacks[tensor] = stack_type
        elif node.op in _PUSH:
            if node.inputs[0].op.op in _EMPTY:
                stack_type = StackType()
            stack_type.swaps = stack_type.swaps or node.op is saved_ops.SWAP_PUSH
            if node.attrs.get("most") is not None:
                stack_type.kind, stack_type.most = "checkpoints", node.attrs["most"]
            self._push(node, stack_type, node.inputs[2])
        elif tensor.dtype == variant:
            stack_type.element = stack_type.element or StackType()
            if isinstance(stack_type.element, Rows):
                types.rows[tensor] = stack_type.element
            elif isinstance(stack_type.element, StackType):
                types.stacks[tensor] = stack_type.element
                if stack_type.counted:
                    types.counts[tensor] = types.rooms[tensor] = None
            else:
                refuse(node, "it mixes stacks and arrays")
        else:
            types.shapes[tensor] = self._element_of(node, stack_type)
            known = stack_type.constant() if node.op is saved_ops.READ else None
            if known is not None:
                stack_type.is_known = True
                types.know(tensor, known)

    def _push(self, node: Node, stack_type: StackType, value: Tensor) -> None:
        types = self.types
        known = types.constants.get(value) if value.dtype != variant else None
        self._join(node, stack_type, StackType(self._element(value), counted=value in types.counts, pushed=[known]))
        if stack_type.root().is_known and stack_type.constant() is None:
            refuse(node, "the shape of what is saved changes")
        types.stacks[node.outputs[0]] = stack_type
        types.pushed.append((node.graph, stack_type))

    def _element(self, value: Tensor) -> tuple[DType, Shape] | StackType | Rows:
        """Return what is pushed on a stack."""
        types = self.types
        if value in types.rows:
            rows = types.array(value)
            rows.inside = True
            return rows
        return types.stacks.get(value) or (value.dtype, types.shapes[value])

    def _element_of(self, node: Node, stack_type: StackType) -> Shape:
        """Return the shape of what ``node`` reads from ``stack``."""
        element, known = stack_type.root().element, node.attrs["shape"]
        if element is None:
            if not known.is_fully_defined():
                raise Unresolved(node)
            element = stack_type.root().element = (node.outputs[0].dtype, known.as_tuple())
        if not isinstance(element, tuple):
            refuse(node, "it mixes stacks and arrays")
        return element[1]

    # -- TensorArrays -------------------------------------------------------------------------------------

    def _new(self, node: Node) -> None:
        spec, tensor = node.attrs["spec"], node.outputs[0]
        size = self.types.constants.get(node.inputs[0])
        if size is None or int(size) < 0:
            refuse(node, "the size of the TensorArray is not fixed")
        if spec.dtype not in TYPES:
            refuse(node, f"dtype {spec.dtype} has no machine code")
        shape = spec.element_shape
        known = shape.as_tuple() if shape.is_fully_defined() else self._elements.get(tensor)
        if not spec.dynamic_size:
            self.types.rows[tensor] = self._made[tensor] = Rows(spec.dtype, int(size), known, spec)
            return
        if int(size) or spec.clear_after_read:
            refuse(node, "the size of the TensorArray is not fixed")
        stack_type = StackType(None if known is None else (spec.dtype, known), spec)
        self.types.shapes[tensor] = ()
        self.types.counts[tensor] = self.types.rooms[tensor] = (None, 0)
        self.types.stacks[tensor] = self._made[tensor] = stack_type

    def _growing(self, node: Node) -> None:
        """Type an op on a TensorArray of variable size, which things are appended to."""
        types, op, tensor = self.types, node.op, node.outputs[0]
        stack_type, count = types.stacks[node.inputs[0]].root(), types.counts.get(node.inputs[0])
        room = types.rooms.get(node.inputs[0])
        if op is array_ops.WRITE:
            types.shapes[tensor] = ()
            self._push(node, stack_type, node.inputs[2])
            types.counts[tensor], types.rooms[tensor] = _longer(count), _longer(room)
        elif op in _CHANGE:
            types.shapes[tensor], stack_type.kind = (), "list"
            if op is array_ops.REPLACE:
                self._push(node, stack_type, node.inputs[2])
            elif op is array_ops.INSERT:
                self._push(node, stack_type, node.inputs[2])
                count, room = _longer(count), _longer(room)
            else:
                types.stacks[tensor] = stack_type
                types.pushed.append((node.graph, stack_type))
                count = None if count is None else (count[0], count[1] - 1)
            types.counts[tensor], types.rooms[tensor] = count, room
        elif op is array_ops.UNSTACK and count == (None, 0):
            item = types.shapes[node.inputs[1]]
            if is_moving(item[1:]):
                refuse(node, f"the shape of the elements, {item[1:]}, depends on values")
            self._join(node, stack_type, StackType((node.inputs[1].dtype, item[1:]), pushed=[None]))
            types.shapes[tensor], types.stacks[tensor] = (), stack_type
            types.pushed.append((node.graph, stack_type))
            types.rooms[tensor] = (None, int(item[0]))
            types.counts[tensor] = None if isinstance(item[0], Extent) else types.rooms[tensor]
        elif op is array_ops.SIZE:
            types.shapes[tensor] = ()
            if count is not None and count[0] is None:
                types.know(tensor, np.int32(count[1]))
        elif op in (array_ops.READ, array_ops.READ_LISTED, saved_ops.PEEK):
            types.shapes[tensor] = self._element_of(node, stack_type)
        elif op is array_ops.STACK and count is not None and count[0] is None:
            types.shapes[tensor] = (count[1], *self._element_of(node, stack_type))
        elif op is array_ops.STACK and _only_returned(node):
            self._element_of(node, stack_type)
            types.shapes[tensor], types.counts[tensor], types.stacks[tensor] = (), None, stack_type
            types.returned.add(tensor)
        elif op is array_ops.STACK:
            shape = self._element_of(node, stack_type)
            types.shapes[tensor] = (elements_of(node, node.inputs[0], shape, types), *shape)
        else:
            refuse(node, "the size of the TensorArray is not fixed")

    def _tensor_array(self, node: Node) -> None:
        op, types = node.op, self.types
        rows = types.array(node.inputs[0])
        if op in _FILL:
            item = types.shapes[node.inputs[-1]]
            self.tables.fill(node, rows, None, item if op is array_ops.WRITE else item[1:], node.inputs[-1].dtype)
            if op is array_ops.UNSTACK and item[0] != rows.size:
                refuse(node, f"{item[0]} rows do not fit a TensorArray of size {rows.size}")
            types.rows[node.outputs[0]] = rows
        elif op is array_ops.SIZE:
            types.know(node.outputs[0], np.int32(rows.size or 0))
        elif op in _ELEMENT or op in (array_ops.STACK, array_ops.GATHER):
            if rows.element is None and node.attrs["shape"].is_fully_defined():
                rows.element = node.attrs["shape"].as_tuple()
            if rows.element is None:
                raise Unresolved(node)
            lead: Shape = (rows.size or 0,) if op is array_ops.STACK else ()
            if op is array_ops.GATHER:
                lead = types.shapes[node.inputs[1]]
            types.shapes[node.outputs[0]] = (*lead, *(rows.shape() or ()))
        else:
            refuse(node, "the sizes of its elements depend on values")


def _longer(count: Count | None) -> Count | None:
    """Return how many elements there are with one more."""
    return None if count is None else (count[0], count[1] + 1)


def _only_returned(node: Node) -> bool:
    """Return whether the value of ``node`` is a result of the whole function and is not used otherwise."""
    graph, tensor = node.graph, node.outputs[0]
    return graph.parent is None and readers(graph).nodes(tensor) == {None}
