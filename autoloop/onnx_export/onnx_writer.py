"""Nodes of a model, scope by scope: the top level, and the bodies of its loops and branches.

Names are unique in the whole model, and what a body does not make is found around it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from autoloop_runtime.base.dtypes import DType, variant
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.ir.graph import CONST, PARAMETER, Graph, Node
from autoloop_runtime.ir.op import Op
from autoloop_runtime.ir.tensor import Tensor

from .onnx_refusals import refuse
from .onnx_values import BOOL, INT64, UINT64, Value, computed

#: writes a node, given its operands, and gives its results
Rule = Callable[..., Any]
#: written while the modules with the translations are imported, read-only afterwards
RULES: dict[Op, Rule] = {}
#: what stands in the way of a node, in words; written and read as ``RULES``
UNSPEAKABLE: dict[Op, str] = {}
#: constants of more elements are initializers of the model
_SMALL = 64
#: what is computed here, of constants of one element
_FOLDED: Mapping[str, Callable[..., Any]] = {
    "And": np.logical_and, "Or": np.logical_or, "Not": np.logical_not, "Less": np.less, "Greater": np.greater,
    "LessOrEqual": np.less_equal, "GreaterOrEqual": np.greater_equal, "Equal": np.equal,
}  # fmt: skip
#: a place that no array has
_NOWHERE = 2**40
_NO_RULE = "there is no translation of it into ONNX"


def rule(*ops: Op) -> Callable[[Rule], Rule]:
    """State how nodes of ``ops`` are written: ``write(writer, node, *operands)`` gives a value, or a list of them."""

    def entered(write: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, write))
        return write

    return entered


class Missing(ImportError):
    """The library ``onnx``, of the extra of that name, is not installed."""


def library() -> Any:
    """Return the library ``onnx``."""
    try:
        return importlib.import_module("onnx")
    except ImportError as error:
        raise Missing("export_onnx needs onnx, the extra 'onnx': pip install 'autoloop[onnx]' [AL751]") from error


class Scope:
    """The nodes of one graph of the model, in order."""

    def __init__(self, outer: Scope | None) -> None:
        self.outer = outer
        self.nodes: list[Any] = []
        self.constants: dict[Any, Value] = {}

    def constant(self, key: Any) -> Value | None:
        """Return a constant that is known here."""
        scope: Scope | None = self
        while scope is not None:
            if key in scope.constants:
                return scope.constants[key]
            scope = scope.outer
        return None


class Writer:
    """Writes graphs as parts of one model.

    Parameters
    ----------
    opset : int

    Attributes
    ----------
    known : dict
        What is written of the graph: tensor -> value.
    flows : object
        What is known of the collections of the graph, see ``onnx_flows``.
    """

    def __init__(self, opset: int) -> None:
        self.onnx, self.opset = library(), opset
        self.scope = Scope(None)
        self.initializers: list[Any] = []
        self.known: dict[Tensor, Value] = {}
        self.flows: Any = None
        self.inputs: list[Value] = []
        self.node: Node | None = None
        self._taken: set[str] = set()
        self._skipped: set[Node] = set()

    # -- names and nodes --------------------------------------------------------------------------------------

    def name(self, wish: str) -> str:
        """Return a name that nothing else has."""
        found, number = wish, 0
        while found in self._taken:
            number += 1
            found = f"{wish}_{number}"
        self._taken.add(found)
        return found

    def several(self, op: str, operands: Sequence[Value | None], dtypes: Sequence[DType], **attrs: Any) -> list[Value]:
        """Write a node, and return its outputs."""
        wish = op if self.node is None else f"{self.node.name}/{op}"
        outputs = [Value(self, self.name(wish), dtype) for dtype in dtypes]
        names = ["" if one is None else one.name for one in operands]
        made = self.onnx.helper.make_node(op, names, [one.name for one in outputs], name=outputs[0].name, **attrs)
        if self.node is not None and self.node.location:
            made.doc_string = str(self.node.location[-1])
        self.scope.nodes.append(made)
        return outputs

    def __call__(self, op: str, *operands: Value | None, dtype: Any = None, **attrs: Any) -> Value:
        """Write a node of one output, which has the dtype of the first operand unless another is named."""
        if op in _FOLDED and (folded := self._folded(op, operands)) is not None:
            return folded
        first = next((one for one in operands if one is not None), None)
        wanted = np.dtype(dtype) if dtype is not None else BOOL if first is None else first.dtype
        return self.several(op, operands, [wanted], **attrs)[0]

    def _folded(self, op: str, operands: Sequence[Value | None]) -> Value | None:
        """Return a constant of one element that a node would compute: onnxruntime may crash where it folds branches."""
        known = [one.known for one in operands if one is not None and one.known is not None and one.known.ndim == 0]
        return self.const(_FOLDED[op](*known)) if len(known) == len(operands) else None

    def const(self, value: Any) -> Value:
        """Return a constant."""
        array = np.asarray(value)
        key = array.dtype.str, array.shape, array.tobytes()
        known = self.scope.constant(key)
        if known is not None:
            return known
        made = Value(self, self.name("const"), array.dtype)
        made.known = array
        proto = self.onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), made.name)
        scope = self.scope
        if array.size > _SMALL:
            while scope.outer is not None:
                scope = scope.outer
            self.initializers.append(proto)
        else:
            scope.nodes.append(self.onnx.helper.make_node("Constant", [], [made.name], name=made.name, value=proto))
        scope.constants[key] = made
        return made

    def ints(self, values: Sequence[int]) -> Value:
        """Return a constant vector of int64."""
        return self.const(np.array([int(one) for one in values], np.int64))

    def cast(self, value: Value, dtype: DType) -> Value:
        """Return ``value`` in a dtype."""
        if value.dtype == dtype:
            return value
        return self("Cast", value, dtype=dtype, to=self.element_type(dtype))

    def element_type(self, dtype: DType) -> int:
        """Return the number of a dtype in ONNX."""
        if dtype.kind not in "biuf" or dtype.itemsize > 8:
            refuse(self.node, f"its values have dtype {dtype}, which onnxruntime does not compute with")
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(dtype))

    def arithmetic(self, op: str, *operands: Value, **attrs: Any) -> Value:
        """Write a node of one dtype, computed in one that runtimes have: booleans and vectors of axes stay aside."""
        dtype = operands[1 if op == "Where" else 0].dtype
        wide = computed(dtype)
        if op.startswith("Reduce"):
            given = [operands[0].to(wide), *operands[1:]]
        else:
            given = [one if one.dtype == BOOL and op == "Where" else one.to(wide) for one in operands]
        return self(op, *given, dtype=wide, **attrs).to(dtype)

    def compare(self, op: str, a: Value, b: Value) -> Value:
        """Write a comparison of values of one dtype."""
        if a.dtype == BOOL and op == "Equal":
            return self(op, a, b, dtype=BOOL)
        if a.dtype == UINT64:
            return self(op, a.halves(), b.halves(), dtype=BOOL)
        wide = computed(a.dtype)
        return self(op, a.to(wide), b.to(wide), dtype=BOOL)

    def concat(self, parts: Sequence[Value], axis: int = 0) -> Value:
        """Return values one after another."""
        return parts[0] if len(parts) == 1 else self("Concat", *parts, axis=axis)

    def count_to(self, limit: Value) -> Value:
        """Return the integers from 0 up to a scalar of int64."""
        return self("Range", self.const(np.int64(0)), limit, self.const(np.int64(1)), dtype=INT64)

    # -- graphs ---------------------------------------------------------------------------------------------------

    def inline(self, graph: Graph, operands: Sequence[Value], outputs: Sequence[Tensor] | None = None) -> list[Value]:
        """Write the nodes of a graph here, for values of its inputs; return those of its outputs, or of others."""
        self.known.update(zip(graph.inputs, operands))
        for node in graph.nodes:
            if node.op is not PARAMETER and node not in self._skipped:
                self.write(node)
        return [self.of(tensor) for tensor in (graph.outputs if outputs is None else outputs)]

    def skip(self, node: Node, value: Value) -> None:
        """Leave out a node, and what only it takes; ``value`` stands for its result where that is passed on."""
        self._skipped.add(node)
        self.known.update(dict.fromkeys(node.outputs, value))

    def of(self, tensor: Tensor) -> Value:
        """Return the value of a tensor of the graph."""
        return self.known[tensor]

    def write(self, node: Node) -> None:
        """Write one node of the graph."""
        outer, self.node = self.node, node
        if node.op in UNSPEAKABLE:
            refuse(node, UNSPEAKABLE[node.op])
        write = RULES.get(node.op)
        if write is None:
            refuse(node, _NO_RULE)
        for tensor in (*node.operands, *node.results):
            if tensor.dtype != variant:
                self.element_type(tensor.dtype)
        made = write(self, node, *[self.of(tensor) for tensor in node.operands])
        results = made if isinstance(made, list) else [made]
        if len(results) == len(node.outputs) - 1:  # an effect that changes nothing
            results = [*results, self.of(node.inputs[-1])]
        assert len(results) == len(node.outputs), node
        self.known.update(zip(node.outputs, results))
        self.node = outer

    def checked(self, value: Value, holds: Value, what: str) -> Value:
        """Return ``value``, so that a run fails unless ``holds`` is true: at a place that there is not."""
        return self.passes(holds, what).where(value, value)

    def passes(self, holds: Value, what: str) -> Value:
        """Return true, or let the run fail; ``what`` names the node that fails."""
        where = f" at {self.node.location[-1]}" if self.node is not None and self.node.location else ""
        place = self("Where", holds, self.ints([0]), self.ints([_NOWHERE]), dtype=INT64)
        made = Value(self, self.name(f"{what}{where}"), INT64)
        found = self.onnx.helper.make_node("Gather", [self.ints([0]).name, place.name], [made.name], name=made.name)
        self.scope.nodes.append(found)
        return made.reshape().equals(0)

    def unknown_truth(self) -> Value:
        """Return true, made of an input so that nobody computes it before a run."""
        if not self.inputs:
            return self.const(np.True_)
        count = self("NonZero", self.inputs[0].to(BOOL), dtype=INT64).size()
        return count >= 0

    @contextmanager
    def body(self) -> Iterator[Scope]:
        """Let what is written inside go into a graph of its own."""
        outer = self.scope
        self.scope = made = Scope(outer)
        known = dict(self.known)
        try:
            yield made
        finally:
            self.scope = outer
            self.known = known

    def graph(self, scope: Scope, name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """Return a scope as a graph of ONNX, given what describes its inputs and outputs."""
        return self.onnx.helper.make_graph(scope.nodes, self.name(name), list(inputs), list(outputs))

    def described(self, value: Value, shape: TensorShape | None, names: Mapping[int, str] | None = None) -> Any:
        """Return what describes a value: its dtype and what is known of its shape."""
        dims: list[Any] | None = None if shape is None or shape.rank is None else list(shape.known)
        if dims is not None and names:
            dims = [names.get(k, n) if n is None else n for k, n in enumerate(dims)]
        return self.onnx.helper.make_tensor_value_info(value.name, self.element_type(value.dtype), dims)

    def own(self, value: Value) -> Value:
        """Return a value made in the scope that is being written: the outputs of a graph have to be."""
        return self("Identity", value)


@rule(CONST)
def _const(writer: Writer, node: Node) -> Value:
    return writer.const(node.attrs["value"])
