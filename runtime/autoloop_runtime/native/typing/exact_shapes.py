"""What machine code must know beforehand: the dtype and the exact shape of every tensor, and values known now.

Shapes are inferred once more, from those of the inputs: the op table's own rules, given exact shapes, give exact
shapes, also where the graph was traced with partial ones. What depends on shapes only is computed on the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis.induction import most_trips, trip_count
from ...analysis.observable import is_barrier
from ...base.dtypes import variant
from ...base.forks import undivided
from ...base.shapes import TensorShape
from ...ir.graph import CONST, PARAMETER, Graph, Node
from ...ir.structured import COND, WHILE
from ...ir.tensor import Tensor
from ...ops.identities import IDENTITY, STOP_GRADIENT
from ..ir.elements import TYPES
from ..ir.moving import is_moving, is_unsteady
from .facts import Elements, Shape, Types, Unresolved, either, grown
from .refusal import refuse
from .static_slices import takes_index, with_known_extents

if TYPE_CHECKING:
    from .collection_types import Collections

#: an array whose extents the run decides takes so many bytes at most: memory is laid out for the largest
_MOST = 1 << 31
#: constants up to this many elements are computed with while typing
_FOLD = 64


def infer(
    graph: Graph, shapes: Sequence[Shape], known: Mapping[Tensor, Any] | None = None, cuts: bool = False
) -> Types:
    """Return the types in ``graph`` for inputs of the given shapes; ``known``: values that are constants in the code;
    ``cuts``: see ``Types``.

    Raises
    ------
    NativeRefusal
        If a shape or dtype is not known exactly.
    """
    elements: Elements = {}
    while True:
        typer = _Typer(elements, known or {})
        typer.types.cuts, typer.types.heeds = cuts, graph.heeds_errors
        try:
            for tensor, shape in zip(graph.inputs, shapes):
                typer.types.shapes[tensor] = shape
            for tensor, value in typer.known.items():
                typer.types.know(tensor, value)
            typer.graph(graph)
            if typer.has_collections:
                typer.collections.tables.settle()
            return typer.types
        except Unresolved as error:
            found = typer.collections.found()
            if found == elements:
                refuse(error.args[0], "the shape of the TensorArray's elements is not known; give element_shape")
            elements = found


class _Typer:
    def __init__(self, elements: Elements, known: Mapping[Tensor, Any]) -> None:
        self.types = Types()
        self.known = known
        self._elements = elements
        self._collections: Collections | None = None
        #: where stand-ins for tensors of exact shape live
        self._nowhere = Graph("exact")

    @property
    def collections(self) -> Collections:
        """What types the ops on collections, of which most graphs have none."""
        if self._collections is None:
            with undivided():
                from .collection_types import Collections

            self._collections = Collections(self.types, self._elements)
        return self._collections

    @property
    def has_collections(self) -> bool:
        """True if there is an op on a collection."""
        return self._collections is not None

    def graph(self, graph: Graph) -> None:
        """Type every node; the inputs are typed already, and what is known beforehand."""
        for node in graph.nodes:  # first: by how much a loop counts stands at the end of its body
            if node.op is CONST:
                self.types.know(node.outputs[0], node.attrs["value"])
        for node in graph.nodes:
            if self.known and all(t in self.known for t in node.outputs) and node.op is not PARAMETER:
                continue
            if node.op is PARAMETER:
                if node.outputs[0] not in self.types.shapes and node.outputs[0] not in self.types.rows:
                    refuse(node, "a placeholder that is no input of the function")
            elif node.op is CONST:
                pass
            elif node.op is WHILE:
                self._while(node)
            elif node.op is COND:
                self._cond(node)
            elif any(is_moving(self.types.shapes.get(t, ())) for t in node.inputs) and not self._takes_lines(node):
                self._moving(node)
            elif _has_collection(node) and self.collections.has(node):
                self.collections.type(node)
            else:
                self._plain(node)
            self._check(node)

    def _check(self, node: Node) -> None:
        for index, tensor in enumerate(node.outputs):
            if tensor.dtype == variant:
                if tensor not in self.types.rows and tensor not in self.types.stacks:
                    refuse(node, "its value is a Python object")
            elif tensor.dtype not in TYPES:
                refuse(node, f"dtype {tensor.dtype} has no machine code")
            declared = node.declared.get(index)
            if declared is not None and not declared.matches(self.types.shapes[tensor]):
                refuse(node, f"set_shape promised {declared}, the shape is {self.types.shapes[tensor]}")

    def _plain(self, node: Node) -> None:
        inputs, outputs = node.operands, node.results
        shapes = self.types.shapes
        if node.op.effect:
            shapes[node.outputs[-1]] = ()
        if any(t.dtype == variant for t in inputs):
            if node.op not in (IDENTITY, STOP_GRADIENT):
                refuse(node, "it has no machine code")
            self.types.hand_on(node.inputs[0], node.outputs[0])
            return
        if not is_barrier(node) and self._fold(node):
            return
        exact = all(t.shape.is_fully_defined() for t in outputs) and all(
            t.shape.is_fully_defined() for t in inputs if t in shapes
        )
        specs = [t.shape for t in outputs] if exact else self._reinfer(node, inputs)
        if not all(shape.is_fully_defined() for shape in specs) and self._begins(node):
            self._moving(node)
            return
        for tensor, shape in zip(outputs, specs):
            if not shape.is_fully_defined():
                refuse(node, f"the shape of its result, {shape}, depends on values")
            shapes[tensor] = shape.as_tuple()

    def _moving(self, node: Node) -> None:
        """Type a node of whose operands, or results, the run decides an extent."""
        with undivided():
            from .moving_extents import moving_shape

        shape = moving_shape(node, self.types)
        if is_moving(shape) and prod(map(int, shape)) * node.results[0].dtype.itemsize > _MOST:
            refuse(node, f"the shape of its result depends on values, and may be {tuple(map(int, shape))}")
        self.types.shapes.update(dict.fromkeys(node.results, shape))

    def _takes_lines(self, node: Node) -> bool:
        """Return whether ``node`` puts rows, as many as the run decides, into a collection."""
        return _has_collection(node) and self.collections.takes_lines(node)

    def _begins(self, node: Node) -> bool:
        """Return whether the run may decide how large the result of ``node`` is."""
        with undivided():
            from .moving_extents import may_begin

        return may_begin(node)

    def _fold(self, node: Node) -> bool:
        """Compute small values of which everything is known."""
        constants, shapes = self.types.constants, self.types.shapes
        if node.op.traits.describes and node.inputs[0] in shapes:
            like = np.broadcast_to(np.zeros((), node.inputs[0].dtype), shapes[node.inputs[0]])
            self.types.know(node.outputs[0], node.op.kernel(like, **node.attrs))
            return True
        if not node.inputs or node.control_inputs:  # what a value waits for may raise
            return False
        if any(t not in constants or np.size(constants[t]) > _FOLD for t in node.inputs):
            return False
        sizes = [t.shape.num_elements() for t in node.outputs]
        # what the trace knew to be large is left to the run
        if any(s is not None and s > _FOLD for s in sizes) and not all(t.dtype.kind in "iu" for t in node.inputs):
            return False
        try:
            with np.errstate(all="raise" if self.types.heeds else "ignore"):
                result = node.op.kernel(*[constants[t] for t in node.inputs], **node.attrs)
        except Exception:
            return False  # it fails when it runs, not here
        for tensor, value in zip(node.outputs, node.op.results(result, len(node.outputs))):
            self.types.know(tensor, value)
        return True

    def _reinfer(self, node: Node, inputs: Sequence[Tensor]) -> list[TensorShape]:
        stand_ins = [self._stand_in(t) for t in inputs]
        attrs = dict(node.attrs)
        if node.op.extents is not None:
            name, position = node.op.extents
            value = self.types.constants.get(inputs[position]) if len(inputs) > position else None
            if value is not None:
                extents = tuple(np.ravel(value).tolist())
                attrs[name] = TensorShape(extents) if isinstance(attrs[name], TensorShape) else extents
        if takes_index(node):
            attrs["index"] = with_known_extents(node, self.types)
        try:
            specs = node.op.specs(*stand_ins, **attrs)
        except (TypeError, ValueError, IndexError) as error:
            refuse(node, f"it fails for these shapes: {error}")
        return [shape for _, shape in specs]

    def _stand_in(self, tensor: Tensor) -> Tensor:
        if tensor in self.types.constants:
            return Tensor(np.asarray(self.types.constants[tensor])[()])
        spec = (tensor.dtype, TensorShape(self.types.shapes[tensor]))
        return Node(self._nowhere, PARAMETER, (), {}, [spec], "exact", ()).outputs[0]

    # -- structured nodes ---------------------------------------------------------------------------------

    def _while(self, node: Node) -> None:
        types, count = self.types, node.attrs["n_vars"]
        cond, body = node.attrs["cond"], node.attrs["body"]
        for tensor in node.inputs[:count]:
            if tensor.dtype == variant:
                self.collections.renew(tensor)
        for sub in (cond, body):
            for k, (outer, inner) in enumerate(zip(node.inputs, sub.inputs)):
                types.hand_on(outer, inner, constant=k >= count)
                if k < count and outer in types.counts:
                    types.counts[inner] = types.rooms[inner] = (inner, 0)
            if sub is body:
                types.loops.append(node)
            self.graph(sub)
        types.loops.pop()
        if types.shapes[cond.outputs[0]] != ():
            refuse(node, "its condition is not a scalar")
        trips = trip_count(node, types)
        for k in range(count):
            init, inner, result = node.inputs[k], body.inputs[k], body.outputs[k]
            types.hand_on(init, node.outputs[k], constant=False)
            if init.dtype == variant:
                self.collections.meet(node, init, result)
                if init in types.counts:
                    types.counts[node.outputs[k]] = grown(types.counts, init, inner, result, trips)
                    types.rooms[node.outputs[k]] = grown(types.rooms, init, inner, result, most_trips(node, types))
            elif types.shapes[init] != types.shapes[result]:
                change = f"from {types.shapes[init]} to {types.shapes[result]}"
                refuse(node, f"the loop variable {node.attrs['names'][k]!r} changes its shape {change}")
            else:
                _refuse_moving(node, types.shapes[init], f"the loop variable {node.attrs['names'][k]!r}")

    def _cond(self, node: Node) -> None:
        types, branches = self.types, (node.attrs["then"], node.attrs["else"])
        for sub in branches:
            for outer, inner in zip(node.inputs[1:], sub.inputs):
                types.hand_on(outer, inner)
            self.graph(sub)
        if types.shapes[node.inputs[0]] != ():
            refuse(node, "its condition is not a scalar")
        for k, tensor in enumerate(node.outputs):
            a, b = (sub.outputs[k] for sub in branches)
            types.hand_on(a, tensor, constant=False)
            if a.dtype == variant:
                self.collections.meet(node, a, b)
                if a in types.counts:
                    types.rooms[tensor] = either(types.rooms[a], types.rooms[b])
                    if types.counts[a] != types.counts[b]:
                        types.counts[tensor] = None
            elif types.shapes[a] != types.shapes[b]:
                refuse(node, f"its branches have the shapes {types.shapes[a]} and {types.shapes[b]}")
            else:
                _refuse_moving(node, types.shapes[a], "a result of its branches")


def _refuse_moving(node: Node, shape: Shape, what: str) -> None:
    """Refuse ``what`` whose memory others lay out if the run decides how large it is."""
    if is_unsteady(shape):
        refuse(node, f"the shape of {what}, {shape}, depends on values")


def _has_collection(node: Node) -> bool:
    """Return whether ``node`` reads or gives a collection, or another object of Python's."""
    return any(t.dtype == variant for t in (*node.inputs, *node.outputs))
