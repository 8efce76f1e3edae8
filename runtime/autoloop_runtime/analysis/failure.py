"""Which nodes can fail: what may be computed although it might not have been, or without a place to report from.

Memory that runs out does not count.
"""

from __future__ import annotations

from ..ir.graph import CONST, PARAMETER, Graph, Node

#: one value per element, of arguments that broadcast together
ELEMENTWISE = frozenset({
    "add", "subtract", "multiply", "divide", "floor_divide", "mod", "maximum", "minimum", "arctan2", "hypot",
    "copysign", "negative", "sign", "reciprocal", "square", "abs", "sqrt", "length", "rsqrt", "cbrt", "exp", "expm1",
    "exp2", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh",
    "tanh", "arcsinh", "arccosh", "arctanh", "sigmoid", "relu", "softplus", "logaddexp", "erf", "floor", "ceil",
    "trunc", "rint", "real", "imag", "conj", "complex", "equal", "not_equal", "less", "less_equal", "greater",
    "greater_equal", "isnan", "isinf", "isfinite", "logical_and", "logical_or", "logical_xor", "logical_not",
    "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift", "where", "identity",
    "stop_gradient", "cast", "pow",
})  # fmt: skip
#: never fail once their static shapes have been inferred from fully defined ones
SHAPED = frozenset({
    "expand_dims", "squeeze", "transpose", "flip", "concat", "stack", "unstack", "split", "broadcast_to", "matmul",
    "sum", "prod", "mean", "any", "all", "cumsum", "cumprod", "sum_between", "tril", "triu",
    "diagonal", "embed_diagonal", "sort", "argsort", "softmax", "log_softmax", "logsumexp", "reshape", "tile", "pad",
    "roll", "sum_to",
})  # fmt: skip
#: never fail at all; what gradients keep their values in is only read where the forward pass has written
TOTAL = frozenset({
    "shape", "size", "rank", "EmptyStack", "StackPush", "StackRead", "EmptySlots", "AddToSlot", "GetSlot", "MergeSlots",
    "StackSlots", "UnstackSlots", "Accumulate", "Settle", "NoCheckpoints", "AddCheckpoint", "Interval",
})  # fmt: skip
_NUMBERS = "biufc"


def can_fail(node: Node) -> bool:
    """True unless the node is known to give a value for all inputs of its dtypes and static shapes."""
    op = node.op
    if op is CONST or op is PARAMETER or op.name in TOTAL:
        return False
    if op.effect or op.stateful or node.declared:
        return True
    tensors = (*node.inputs, *node.outputs)
    if any(t.dtype.kind not in _NUMBERS for t in tensors):
        return True
    if op.name in ELEMENTWISE:
        if op.name == "pow" and node.outputs[0].dtype.kind in "iu":
            return True
        return len(node.inputs) > 1 and not _broadcast_surely(node)
    return op.name not in SHAPED or not all(t.shape.is_fully_defined() for t in tensors)


def _broadcast_surely(node: Node) -> bool:
    """True if the inputs' shapes are known to go together: they are fully known, or at most one is no scalar."""
    arrays = [t for t in node.inputs if t.shape.rank != 0]
    return len(arrays) < 2 or all(t.shape.is_fully_defined() for t in arrays)


def graph_can_fail(graph: Graph) -> bool:
    """True if any node in ``graph``, or in a graph inside it, can fail."""
    pending = [graph]
    while pending:
        for node in pending.pop().nodes:
            if node.subgraphs:
                if node.declared or not _checked_statically(node):
                    return True
                pending.extend(node.subgraphs)
            elif can_fail(node):
                return True
    return False


def _checked_statically(node: Node) -> bool:
    """True if a structured node needs no run-time check of predicate or invariants."""
    if node.op.name == "Cond":
        return node.inputs[0].shape.rank == 0
    body, invariants = node.attrs["body"], node.attrs["invariants"]
    pairs = [*zip(node.inputs, invariants), *zip(body.outputs, invariants)]
    fits = all(t.shape.is_subsumed_by(s) or t.dtype.kind == "O" for t, s in pairs)
    return fits and node.attrs["cond"].outputs[0].shape.rank == 0
