"""What machine code must know beforehand: the dtype and the exact shape of every tensor, and values known now.

Shapes are inferred once more, from those of the inputs: the op table's own rules, given exact shapes, give exact
shapes, also where the graph was traced with partial ones. What depends on shapes only is computed on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...array_values import ArraySpec
from ...dtypes import DType, variant
from ...graph import CONST, PARAMETER, Graph, Node
from ...shapes import TensorShape
from ...structured import COND, WHILE
from ...tensor import Tensor
from .elements import TYPES
from .refusal import refuse

Shape = tuple[int, ...]
#: ops that take extents as an input where they are not known: attribute -> position of that input
_EXTENTS = {
    "fill": {"known": 1}, "broadcast_to": {"known": 1}, "reshape": {"known": 1}, "tile": {"known": 1},
    "pad": {"known": 2}, "index_add": {"static": 0}, "sum_to": {"static": 1}, "embed_diagonal": {"known": 1},
}  # fmt: skip
#: ops on tables of gradients
TABLES = frozenset(
    {"EmptySlots", "UnstackSlots", "AddToSlot", "GetSlot", "MergeSlots", "StackSlots", "gather_slots", "scatter_slots"}
)
#: constants up to this many elements are computed with while typing
_FOLD = 64


@dataclass(eq=False)
class Rows:
    """What is known of a TensorArray, or of a table of gradients; all versions of it share one of these.

    Attributes
    ----------
    dtype, element
        Of the elements.
    size : int or None
        How many there are.
    spec : ArraySpec or None
        What was declared of a TensorArray; ``None`` for a table of gradients, whose elements may be added to.
    """

    dtype: DType | None = None
    size: int | None = None
    element: Shape | None = None
    spec: ArraySpec | None = None
    merged: Rows | None = None

    @property
    def clear(self) -> bool:
        """True if an element may be read once only."""
        return self.spec is not None and self.spec.clear_after_read

    @property
    def declared(self) -> bool:
        """True if elements that were not written are zeros, whatever else was."""
        return self.spec is None or self.spec.element_shape.is_fully_defined()

    def root(self) -> Rows:
        """The one that speaks for this and all that were found to be the same array."""
        return self if self.merged is None else self.merged.root()


@dataclass(eq=False)
class Pile:
    """What is known of a stack of saved values; all versions of it share one of these.

    ``element`` is the dtype and shape of its elements, or the ``Pile`` they are, once something was pushed.
    """

    element: tuple[DType, Shape] | Pile | None = None
    merged: Pile | None = None

    def root(self) -> Pile:
        """The one that speaks for this and all that were found to be the same stack."""
        return self if self.merged is None else self.merged.root()


@dataclass
class Types:
    """The result.

    Attributes
    ----------
    shapes : dict
        The exact shape of each tensor that is no TensorArray.
    rows : dict
        Of each TensorArray.
    constants : dict
        The values that are known.
    piles : dict
        What is known of each stack. Stacks are scalars to whoever only hands them on.
    pushed : dict
        The graphs in which something is pushed on each pile.
    """

    shapes: dict[Tensor, Shape] = field(default_factory=dict)
    rows: dict[Tensor, Rows] = field(default_factory=dict)
    constants: dict[Tensor, Any] = field(default_factory=dict)
    piles: dict[Tensor, Pile] = field(default_factory=dict)
    pushed: list[tuple[Graph, Pile]] = field(default_factory=list)

    def array(self, tensor: Tensor) -> Rows:
        """What is known of a TensorArray."""
        return self.rows[tensor].root()


class _Unresolved(Exception):
    """The shape of a TensorArray's elements is asked for before anything was found to be written to it."""


def infer(graph: Graph, shapes: Sequence[Shape]) -> Types:
    """The types in ``graph`` for inputs of the given shapes.

    Raises
    ------
    NativeRefusal
        If a shape or dtype is not known exactly.
    """
    elements: dict[Tensor, Shape | None] = {}
    while True:
        typer = _Typer(elements)
        try:
            for tensor, shape in zip(graph.inputs, shapes):
                typer.types.shapes[tensor] = shape
            typer.graph(graph)
            _size_tables(typer.types)
            return typer.types
        except _Unresolved as error:
            found = {t: r.root().element for t, r in typer.types.rows.items()}
            if found == elements:
                refuse(error.args[0], "the shape of the TensorArray's elements is not known; give element_shape")
            elements = found


def _size_tables(types: Types) -> None:
    """Tables of gradients whose size nothing says are as large as the largest TensorArray of such elements."""
    roots = {id(r.root()): r.root() for r in types.rows.values()}.values()
    for table in roots:
        if table.size is None:
            alike = [r.size or 0 for r in roots if r.spec and (r.dtype, r.element) == (table.dtype, table.element)]
            table.size = max(alike, default=None)


class _Typer:
    def __init__(self, elements: dict[Tensor, Shape | None]) -> None:
        self.types = Types()
        self._elements = elements
        #: where stand-ins for tensors of exact shape live
        self._nowhere = Graph("exact")

    def graph(self, graph: Graph) -> None:
        """Type every node; the inputs are typed already."""
        for node in graph.nodes:
            if node.op is CONST:
                value = node.attrs["value"]
                self._known(node.outputs[0], value)
            elif node.op is PARAMETER:
                if node.outputs[0] not in self.types.shapes and node.outputs[0] not in self.types.rows:
                    refuse(node, "a placeholder that is no input of the function")
            elif node.op is WHILE:
                self._while(node)
            elif node.op is COND:
                self._cond(node)
            elif node.op.name.startswith("tensor_array") or node.op.name == "PeekArray":
                self._tensor_array(node)
            elif node.op.name in ("EmptyStack", "StackPush", "StackRead"):
                self._stack(node)
            elif node.op.name in TABLES:
                self._table(node)
            else:
                self._plain(node)
            self._check(node)

    def _check(self, node: Node) -> None:
        for index, tensor in enumerate(node.outputs):
            if tensor.dtype == variant:
                if tensor not in self.types.rows and tensor not in self.types.piles:
                    refuse(node, "its value is a Python object")
            elif tensor.dtype not in TYPES:
                refuse(node, f"dtype {tensor.dtype} has no machine code")
            declared = node.declared.get(index)
            if declared is not None and not declared.matches(self.types.shapes[tensor]):
                refuse(node, f"set_shape promised {declared}, the shape is {self.types.shapes[tensor]}")

    def _known(self, tensor: Tensor, value: Any) -> None:
        self.types.shapes[tensor] = np.shape(value)
        self.types.constants[tensor] = value

    def _plain(self, node: Node) -> None:
        inputs = node.inputs[:-1] if node.op.effect else node.inputs
        outputs = node.outputs[:-1] if node.op.effect else node.outputs
        shapes = self.types.shapes
        if node.op.effect:
            shapes[node.outputs[-1]] = ()
        if any(t.dtype == variant for t in inputs):
            if node.op.name not in ("identity", "stop_gradient"):
                refuse(node, "it has no machine code")
            self._pass(node.inputs[0], node.outputs[0])
            return
        if not node.op.effect and not node.op.stateful and self._fold(node):
            return
        exact = all(t.shape.is_fully_defined() for t in outputs) and all(
            t.shape.is_fully_defined() for t in inputs if t in shapes
        )
        specs = [t.shape for t in outputs] if exact else self._reinfer(node, inputs)
        for tensor, shape in zip(outputs, specs):
            if not shape.is_fully_defined():
                refuse(node, f"the shape of its result, {shape}, depends on values")
            shapes[tensor] = shape.as_tuple()

    def _fold(self, node: Node) -> bool:
        """Compute small values of which everything is known."""
        constants, shapes = self.types.constants, self.types.shapes
        if node.op.name in ("shape", "size", "rank") and node.inputs[0] in shapes:
            like = np.broadcast_to(np.zeros((), node.inputs[0].dtype), shapes[node.inputs[0]])
            self._known(node.outputs[0], node.op.kernel(like, **node.attrs))
            return True
        if not node.inputs or any(t not in constants or np.size(constants[t]) > _FOLD for t in node.inputs):
            return False
        sizes = [t.shape.num_elements() for t in node.outputs]
        if any(s is None or s > _FOLD for s in sizes) and not all(t.dtype.kind in "iu" for t in node.inputs):
            return False
        try:
            with np.errstate(all="ignore"):
                result = node.op.kernel(*[constants[t] for t in node.inputs], **node.attrs)
        except Exception:
            return False  # it fails when it runs, not here
        results = result if isinstance(result, tuple) else (result,)
        for tensor, value in zip(node.outputs, results):
            self._known(tensor, value)
        return True

    def _reinfer(self, node: Node, inputs: Sequence[Tensor]) -> list[TensorShape]:
        stand_ins = [self._stand_in(t) for t in inputs]
        attrs = dict(node.attrs)
        for name, position in _EXTENTS.get(node.op.name, {}).items():
            value = self.types.constants.get(inputs[position]) if len(inputs) > position else None
            if value is not None:
                extents = tuple(np.ravel(value).tolist())
                attrs[name] = extents if name == "known" else TensorShape(extents)
        try:
            inferred = node.op.infer(*stand_ins, **attrs)
        except (TypeError, ValueError, IndexError) as error:
            refuse(node, f"it fails for these shapes: {error}")
        specs = inferred if isinstance(inferred, list) else [inferred]
        return [shape for _, shape in specs]

    def _stand_in(self, tensor: Tensor) -> Tensor:
        if tensor in self.types.constants:
            return Tensor(np.asarray(self.types.constants[tensor])[()])
        spec = (tensor.dtype, TensorShape(self.types.shapes[tensor]))
        return Node(self._nowhere, PARAMETER, (), {}, [spec], "exact", ()).outputs[0]

    # -- structured nodes ---------------------------------------------------------------------------------

    def _pass(self, outer: Tensor, inner: Tensor, constant: bool = False) -> None:
        types = self.types
        if outer in types.rows:
            types.rows[inner] = types.rows[outer]
            return
        types.shapes[inner] = types.shapes[outer]
        if outer in types.piles:
            types.piles[inner] = types.piles[outer]
        if constant and outer in types.constants:
            types.constants[inner] = types.constants[outer]

    def _while(self, node: Node) -> None:
        count = node.attrs["n_vars"]
        for tensor in node.inputs[:count]:
            # one that is empty may be shared by loops that fill it with different things
            if tensor.op.name == "EmptyStack":
                self.types.piles[tensor] = Pile()
            elif tensor.op.name == "EmptySlots":
                self.types.rows[tensor] = Rows()
        for sub in (node.attrs["cond"], node.attrs["body"]):
            for k, (outer, inner) in enumerate(zip(node.inputs, sub.inputs)):
                self._pass(outer, inner, constant=k >= count)
            self.graph(sub)
        if self.types.shapes[node.attrs["cond"].outputs[0]] != ():
            refuse(node, "its condition is not a scalar")
        for k in range(count):
            init, result = node.inputs[k], node.attrs["body"].outputs[k]
            self._pass(init, node.outputs[k])
            if init in self.types.rows:
                self._merge(node, init, result)
            elif init in self.types.piles:
                self._join(node, self.types.piles[node.outputs[k]], self.types.piles[result])
            elif self.types.shapes[init] != self.types.shapes[result]:
                refuse(
                    node,
                    f"the loop variable {node.attrs['names'][k]!r} changes its shape from "
                    f"{self.types.shapes[init]} to {self.types.shapes[result]}",
                )

    def _cond(self, node: Node) -> None:
        branches = (node.attrs["then"], node.attrs["else"])
        for sub in branches:
            for outer, inner in zip(node.inputs[1:], sub.inputs):
                self._pass(outer, inner, constant=True)
            self.graph(sub)
        if self.types.shapes[node.inputs[0]] != ():
            refuse(node, "its condition is not a scalar")
        for k, tensor in enumerate(node.outputs):
            a, b = (sub.outputs[k] for sub in branches)
            self._pass(a, tensor)
            if a in self.types.rows:
                self._merge(node, a, b)
            elif a in self.types.piles:
                self._join(node, self.types.piles[a], self.types.piles[b])
            elif self.types.shapes[a] != self.types.shapes[b]:
                refuse(node, f"its branches have the shapes {self.types.shapes[a]} and {self.types.shapes[b]}")

    # -- stacks -------------------------------------------------------------------------------------------

    def _stack(self, node: Node) -> None:
        types, tensor = self.types, node.outputs[0]
        types.shapes[tensor] = ()
        if node.op.name == "EmptyStack":
            types.piles[tensor] = Pile()
            return
        if node.inputs[0] not in types.piles:
            refuse(node, "its operand is no stack of known elements")
        pile = types.piles[node.inputs[0]].root()
        if node.op.name == "StackPush":
            if node.inputs[0].op.name == "EmptyStack":
                pile = Pile()
            value = node.inputs[2]
            if value in types.rows:
                refuse(node, "a TensorArray is saved for the gradient")
            element = types.piles.get(value) or (value.dtype, types.shapes[value])
            self._join(node, pile, Pile(element))
            types.piles[tensor] = pile
            types.pushed.append((node.graph, pile))
        elif tensor.dtype == variant:
            if pile.element is None:
                pile.element = Pile()
            if not isinstance(pile.element, Pile):
                refuse(node, "it mixes stacks and arrays")
            types.piles[tensor] = pile.element
        else:
            known = node.attrs["shape"]
            if pile.element is None and not known.is_fully_defined():
                refuse(node, "the shape of what was saved is not known")
            shape = known.as_tuple() if pile.element is None else pile.element[1]  # type: ignore[index]
            self._join(node, pile, Pile((tensor.dtype, shape)))
            types.shapes[tensor] = shape

    def _join(self, node: Node, a: Pile, b: Pile) -> None:
        a, b = a.root(), b.root()
        if a is b:
            return
        b.merged = a
        if isinstance(a.element, Pile) and isinstance(b.element, Pile):
            self._join(node, a.element, b.element)
        elif a.element is None:
            a.element = b.element
        elif b.element is not None and a.element != b.element:
            refuse(node, "values of different shapes or dtypes are saved for the gradient")

    # -- TensorArrays -------------------------------------------------------------------------------------

    def _merge(self, node: Node, a: Tensor, b: Tensor) -> None:
        first, second = self.types.array(a), self.types.array(b)
        if first is second:
            return
        if first.clear != second.clear or not all(
            None in pair or pair[0] == pair[1]
            for pair in ((first.dtype, second.dtype), (first.size, second.size), (first.element, second.element))
        ):
            refuse(node, "it mixes collections of different sizes, dtypes or elements")
        first.dtype, first.spec = first.dtype or second.dtype, first.spec or second.spec
        first.size = second.size if first.size is None else first.size
        first.element = second.element if first.element is None else first.element
        second.merged = first

    def _element(self, node: Node, rows: Rows, element: Shape | None) -> None:
        if element is None:
            return
        if rows.element is not None and rows.element != element:
            refuse(node, f"the elements of the TensorArray have the shapes {rows.element} and {element}")
        rows.element = element

    def _tensor_array(self, node: Node) -> None:
        name, types = node.op.name.removeprefix("tensor_array"), self.types
        name = "_read" if name in ("PeekArray", "_read_once") else name
        if node.op.effect:
            types.shapes[node.outputs[-1]] = ()
        if name == "":
            types.rows[node.outputs[0]] = self._new_rows(node)
            return
        rows = types.array(node.inputs[0])
        if name in ("_write", "_unstack", "_scatter"):
            item = types.shapes[node.inputs[-1]]
            self._element(node, rows, item if name == "_write" else item[1:])
            if name == "_unstack" and item[0] != rows.size:
                refuse(node, f"{item[0]} rows do not fit a TensorArray of size {rows.size}")
            types.rows[node.outputs[0]] = rows
        elif name == "_size":
            self._known(node.outputs[0], np.int32(rows.size or 0))
        elif name in ("_read", "_stack", "_gather"):
            if rows.element is None and node.attrs["shape"].is_fully_defined():
                rows.element = node.attrs["shape"].as_tuple()
            if rows.element is None:
                raise _Unresolved(node)
            lead: Shape = (rows.size or 0,) if name == "_stack" else ()
            if name == "_gather":
                lead = types.shapes[node.inputs[1]]
            types.shapes[node.outputs[0]] = (*lead, *rows.element)
        else:
            refuse(node, "the sizes of its elements depend on values")

    # -- tables of gradients ------------------------------------------------------------------------------

    def _table(self, node: Node) -> None:
        types, name, tensor = self.types, node.op.name, node.outputs[0]
        if name == "EmptySlots":
            types.rows[tensor] = Rows()
            return
        if name == "UnstackSlots":
            size, *element = types.shapes[node.inputs[0]]
            types.rows[tensor] = Rows(node.inputs[0].dtype, size, tuple(element))
            return
        if name == "scatter_slots":
            rows = Rows(node.inputs[1].dtype, None, types.shapes[node.inputs[1]][1:])
            types.rows[tensor] = rows
            return
        tables = node.inputs if name == "MergeSlots" else node.inputs[:1]
        if any(
            (t.dtype == variant) != (t in types.rows) or (t.dtype == variant) != (k < len(tables))
            for k, t in enumerate(node.inputs)
        ):
            refuse(node, "a collection of collections has no machine code")
        rows = Rows() if node.inputs[0].op.name == "EmptySlots" else types.array(node.inputs[0])
        if name == "MergeSlots":
            types.rows[tensor] = rows
            if node.inputs[1].op.name != "EmptySlots":
                types.rows[tensor] = types.array(node.inputs[1]) if node.inputs[0].op.name == "EmptySlots" else rows
                self._merge(node, tensor, node.inputs[1])
        elif name == "AddToSlot":
            types.rows[tensor] = rows
            self._fill(node, rows, None, types.shapes[node.inputs[2]], node.inputs[2].dtype)
        else:
            shape = types.shapes[tensor] = self._promised(node)
            if name != "StackSlots":
                self._fill(node, rows, None, shape if name == "GetSlot" else shape[1:], tensor.dtype)
            else:
                self._fill(node, rows, shape[0], shape[1:], tensor.dtype)

    def _promised(self, node: Node) -> Shape:
        """The shape of what is read from a table: as declared, or as the last input says."""
        shape: TensorShape = node.attrs["shape"]
        if shape.is_fully_defined():
            return shape.as_tuple()
        value = self.types.constants.get(node.inputs[-1])
        if value is None or node.outputs[0].dtype == variant:
            refuse(node, "the shape of its result depends on values")
        return tuple(np.ravel(value).tolist())

    def _fill(self, node: Node, rows: Rows, size: int | None, element: Shape, dtype: DType) -> None:
        there = (rows.size, rows.element, rows.dtype)
        if any(None not in pair and pair[0] != pair[1] for pair in zip(there, (size, element, dtype))):
            refuse(node, "the elements of a collection have different shapes or dtypes")
        rows.size, rows.element, rows.dtype = size if rows.size is None else rows.size, element, dtype

    def _new_rows(self, node: Node) -> Rows:
        spec, size = node.attrs["spec"], self.types.constants.get(node.inputs[0])
        if size is None or spec.dynamic_size:
            refuse(node, "the size of the TensorArray is not fixed")
        if int(size) < 0:
            refuse(node, f"the size {size} is negative")
        if spec.dtype not in TYPES:
            refuse(node, f"dtype {spec.dtype} has no machine code")
        shape = spec.element_shape
        known = shape.as_tuple() if shape.is_fully_defined() else self._elements.get(node.outputs[0])
        return Rows(spec.dtype, int(size), known, spec)
