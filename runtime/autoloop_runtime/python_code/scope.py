"""What the emitter knows while it emits one graph, and what it asks of nodes."""

from __future__ import annotations

from ..analysis.uses import places
from ..base.dataclass import dataclass, field
from ..base.dtypes import variant
from ..ir.graph import Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from .inlining import Uses
from .templates import Expr, local

#: expressions longer than this get a variable
INLINE_LENGTH = 56
#: unless they are what an assignment at the end of a loop's body or a branch assigns
RESULT_LENGTH = 100
#: and one for a large array: in a variable of its own that would be there for longer, and NumPy would not compute there
LARGE_LENGTH = 300


@dataclass
class Scope:
    """The state of emitting one graph.

    Attributes
    ----------
    env : dict
        Tensor -> the expression for it.
    owner : dict
        Variables that may be overwritten once the tensor they hold is dead.
    wanted : dict
        Tensor -> the variable it should be computed into, if that can be overwritten by then.
    fresh : set of str
        Variables among ``wanted`` that hold nothing yet.
    mine : set of str
        Variables made by this scope.
    result_length : int
        How long an expression for an output of the graph may be.
    """

    uses: Uses
    env: dict[Tensor, Expr] = field(default_factory=dict)
    owner: dict[str, Tensor] = field(default_factory=dict)
    wanted: dict[Tensor, str] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)
    mine: set[str] = field(default_factory=set)
    result_length: int = RESULT_LENGTH

    def bind(self, tensor: Tensor, name: str) -> None:
        """Let the variable ``name`` hold ``tensor``."""
        self.env[tensor] = local(name)
        self.owner[name] = tensor
        self.fresh.discard(name)

    def may_overwrite(self, name: str, node: Node, position: int, init: int | None = None) -> bool:
        """Return whether ``node`` may store one of its results in ``name``.

        ``init``: for a While, the loop variable it is for; only its own initial value may be read there.
        """
        if name in self.fresh:
            return True
        tensor = self.owner.get(name)
        if tensor is None:
            return False
        last = self.uses.last_read.get(tensor, -1)
        if last != position or node.op not in (WHILE, COND):
            return last <= position
        reads = places(node.inputs, tensor)
        if node.op is WHILE:
            return all(i == init for i in reads)
        return len(reads) <= 1 and 0 not in reads


def proved(node: Node, k: int) -> bool:
    """Return whether the body's value of variable ``k`` is known to fit the invariant."""
    tensor: Tensor = node.attrs["body"].outputs[k]
    return tensor.dtype == variant or tensor.shape.is_subsumed_by(node.attrs["invariants"][k])


def token_tensors(graph: Graph) -> set[Tensor]:
    """Return the effect tokens of ``graph`` and the graphs inside it:
    generated code has its own order and needs none."""
    tokens: set[Tensor] = set()
    _collect_tokens(graph, tokens)
    return tokens


def _collect_tokens(graph: Graph, tokens: set[Tensor]) -> None:
    for node in graph.nodes:
        if node.op.effect:
            tokens.add(node.outputs[-1])
        elif node.op is WHILE:
            index = node.attrs["token"]
            for sub in (node.attrs["cond"], node.attrs["body"]):
                if index is not None:
                    tokens.add(sub.inputs[index])
                _collect_tokens(sub, tokens)
            if index is not None:
                tokens.add(node.outputs[index])
        elif node.op is COND:
            for sub in (node.attrs["then"], node.attrs["else"]):
                tokens.update(p for p, outer in zip(sub.inputs, node.inputs[1:]) if outer in tokens)
                _collect_tokens(sub, tokens)
                tokens.update(o for o, inner in zip(node.outputs, sub.outputs) if inner in tokens)
