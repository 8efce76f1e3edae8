"""What tables of gradients hold, and how large they are.

A table whose size something says, as a rule the TensorArray it belongs to, lies in memory like one (``facts.Rows``).
The others, and those inside other collections, grow as they are added to: in the end they are a ``StackType``.
"""

from __future__ import annotations

from ...base.dtypes import DType, variant
from ...base.shapes import TensorShape
from ...collections import adjoint_table as table_ops
from ...collections import tensor_array_vjps as array_vjp_ops
from ...ir.graph import Graph, Node
from ...ir.tensor import Tensor
from ..ir.moving import Extent
from .facts import Rows, Shape, StackType, Types
from .refusal import refuse
from .told_extents import shape_told

#: ops on tables of gradients
TABLES = frozenset(
    {
        table_ops.EMPTY,
        table_ops.FROM_ROWS,
        table_ops.ADD,
        table_ops.GET,
        table_ops.WITHOUT,
        table_ops.OPENED,
        table_ops.CLOSED,
        table_ops.MERGE,
        table_ops.ROWS,
    }
    | {array_vjp_ops.GATHER, array_vjp_ops.SCATTER}
)
#: those after which what is in a table is at other places
_MOVE = frozenset({table_ops.OPENED, table_ops.CLOSED})
#: those that give another version of a table
_CHANGE = TABLES - {table_ops.EMPTY, table_ops.GET, table_ops.ROWS, array_vjp_ops.GATHER}


class Tables:
    """Types the ops on tables.

    Parameters
    ----------
    types : Types
        Where the findings go.
    """

    def __init__(self, types: Types) -> None:
        self.types = types
        self._changes: list[tuple[Graph, Tensor]] = []

    def type(self, node: Node) -> None:
        """Type ``node``."""
        types, op, tensor = self.types, node.op, node.outputs[0]
        if op in _CHANGE:
            self._changes.append((node.graph, tensor))
        if op is table_ops.EMPTY:
            types.rows[tensor] = Rows()
        elif op is table_ops.FROM_ROWS:
            size, *element = types.shapes[node.inputs[0]]
            known = None if isinstance(size, Extent) else size
            types.rows[tensor] = Rows(node.inputs[0].dtype, known, tuple(element))
        elif op is array_vjp_ops.SCATTER:
            types.rows[tensor] = Rows(node.inputs[1].dtype, None, types.shapes[node.inputs[1]][1:])
        else:
            self._of_table(node, self._table(node.inputs[0]))

    def _table(self, tensor: Tensor) -> Rows:
        """Return what is known of a table; an empty one may be shared, each use has its own."""
        return Rows() if tensor.op.op is table_ops.EMPTY else self.types.array(tensor)

    def _of_table(self, node: Node, rows: Rows) -> None:
        types, op, tensor = self.types, node.op, node.outputs[0]
        if op in _CHANGE:
            types.rows[tensor] = rows
        rows.moves = rows.moves or op in _MOVE
        if op is table_ops.MERGE:
            self.merge(node, rows, self._table(node.inputs[1]))
        elif op is table_ops.ADD and node.inputs[2].dtype == variant:
            self.merge(node, self._inner(node, rows), self._table(node.inputs[2]))
        elif op is table_ops.ADD:
            self.fill(node, rows, None, types.shapes[node.inputs[2]], node.inputs[2].dtype)
        elif op is table_ops.GET and tensor.dtype == variant:
            types.rows[tensor] = self._inner(node, rows)
        elif op is not table_ops.WITHOUT and op not in _MOVE:
            shape = self._promised(node)
            if op is array_vjp_ops.GATHER:
                lead = types.shapes[node.inputs[1]]
                shape = (*lead, *shape[len(lead) :])
            types.shapes[tensor] = shape
            size = shape[0] if op is table_ops.ROWS and not isinstance(shape[0], Extent) else None
            self.fill(node, rows, size, shape if op is table_ops.GET else shape[1:], tensor.dtype)

    def _inner(self, node: Node, rows: Rows) -> Rows:
        """Return what is known of the tables inside ``rows``."""
        if rows.element is None:
            rows.element = Rows(inside=True)
        if not isinstance(rows.element, Rows):
            refuse(node, "it mixes collections and arrays")
        return rows.element.root()

    def fill(self, node: Node, rows: Rows, size: int | None, element: Shape, dtype: DType) -> None:
        """Take down what is known of the elements of ``rows``."""
        size = None if rows.moves else size
        there = (rows.size, rows.element, rows.dtype)
        if any(None not in pair and pair[0] != pair[1] for pair in zip(there, (size, element, dtype))):
            refuse(node, "the elements of a collection have different shapes or dtypes")
        rows.size, rows.element, rows.dtype = size if rows.size is None else rows.size, element, dtype

    def merge(self, node: Node, first: Rows, second: Rows) -> None:
        """Take down that the two are the same collection."""
        first, second = first.root(), second.root()
        if first is second:
            return
        inner = [rows.element for rows in (first, second) if isinstance(rows.element, Rows)]
        if len(inner) == 2:
            self.merge(node, inner[0], inner[1])
        first.moves = first.moves or second.moves
        pairs = [(first.dtype, second.dtype)] + ([] if first.moves else [(first.size, second.size)])
        pairs += [] if len(inner) == 2 else [(first.element, second.element)]  # type: ignore[list-item]
        if first.clear != second.clear or not all(None in pair or pair[0] == pair[1] for pair in pairs):
            refuse(node, "it mixes collections of different sizes, dtypes or elements")
        first.dtype, first.spec = first.dtype or second.dtype, first.spec or second.spec
        first.size = second.size if first.size is None else first.size
        first.element = second.element if first.element is None else first.element
        first.inside = first.inside or second.inside
        second.merged = first

    def _promised(self, node: Node) -> Shape:
        """Return the shape of what is read from a table: as declared, or as the last input says."""
        shape: TensorShape = node.attrs["shape"]
        if shape.is_fully_defined():
            return shape.as_tuple()
        return shape_told(node, node.inputs[-1], self.types)

    # -- in the end ---------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Make a stack of each table that grows, now that all is known."""
        types = self.types
        stack_types: dict[Rows, StackType] = {}
        for stack_type in types.stacks.values():
            root = stack_type.root()
            if isinstance(root.element, Rows) and _grows(root.element.root()):
                root.element = _stack_type_of(root.element.root(), stack_types)
        for tensor, rows in list(types.rows.items()):
            if _grows(rows.root()):
                types.stacks[tensor] = _stack_type_of(rows.root(), stack_types)
                types.shapes[tensor] = ()
                del types.rows[tensor]
        types.pushed += [(graph, types.stacks[tensor]) for graph, tensor in self._changes if tensor in types.stacks]


def _grows(rows: Rows) -> bool:
    return rows.spec is None and (rows.size is None or rows.inside or rows.moves)


def _stack_type_of(rows: Rows, stack_types: dict[Rows, StackType]) -> StackType:
    known = stack_types.get(rows)
    if known is None:
        known = stack_types[rows] = StackType(kind="table")
        if isinstance(rows.element, Rows):
            known.element = _stack_type_of(rows.element.root(), stack_types)
        elif rows.element is not None and rows.dtype is not None:
            known.element = (rows.dtype, rows.element)
    return known
