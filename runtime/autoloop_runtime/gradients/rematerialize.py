"""Graphs of backward passes, and the values of the forward pass that they ask for.

The gradient rules are written as if all tensors of the forward pass were at hand. In the backward counterpart of a
loop body or a branch they are not, so its graph is a ``BackwardGraph``: when a node is given a tensor of the forward
graph, ``capture`` puts a *placeholder* in its place. When the whole backward graph is there, ``finish`` finds which
placeholders are still used and gives each a definition: computed again from other values, or saved by the forward pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.needed import needed_nodes
from ..analysis.observable import is_pure
from ..base import dtypes
from ..base.locations import Location
from ..collections import saved_stacks as stacks
from ..collections.tensor_array_ops import READ
from ..ir.graph import CONST, Graph, Node
from ..ir.op import Op
from ..ir.tensor import Tensor
from ..ir.traits import NO_GRADIENT
from ..ops.extent_names import is_ragged
from .copying import twin
from .extension import extension
from .mincut import cheapest_cut
from .recomputing import worth_computing_again

#: elements that a tensor of unknown extent is taken to have
_GUESS = 1024
#: bytes of the smallest object
_OBJECT = 32


def _never(*_: Any, **__: Any) -> Any:
    raise AssertionError("a placeholder of a backward graph was not defined")


#: the op of what stands for a value of the forward pass until it is known where that comes from
PLACEHOLDER = Op("Saved", lambda *_, spec: spec, _never, NO_GRADIENT)

#: how to compute a tensor: op, inputs, attributes
Definition = tuple[Op, Sequence[Tensor], Mapping[str, Any]]


class BackwardGraph(Graph):
    """The backward counterpart of ``forward``.

    Subclasses say what needs no saving (``stand_in``) and how the forward pass saves the rest (``saved``).

    Attributes
    ----------
    location : Location
        The user's lines of the forward node whose gradient is being built; nodes made meanwhile get them.
    finished : bool
        All that stood for values of the forward pass is defined.
    """

    def __init__(self, name: str, parent: Graph | None, forward: Graph) -> None:
        super().__init__(name, parent)
        self.forward = forward
        self.finished = False
        self.location: Location = ()
        #: tensor of the forward graph -> what stands for it here; a placeholder until ``finish``
        self._asked: dict[Tensor, Tensor] = {}
        self._origins: dict[Tensor, Tensor] | None = None

    # -- for subclasses -----------------------------------------------------------------------------------

    def is_free(self, tensor: Tensor) -> bool:
        """Return whether ``stand_in`` gives a value for a (non-constant) tensor of the forward graph."""
        raise NotImplementedError

    def outside(self, tensor: Tensor) -> Tensor | None:
        """Return what a parameter of the forward graph is outside of it, if that is the same for all of its runs."""
        raise NotImplementedError

    def stand_in(self, tensor: Tensor) -> Tensor:
        """Return the value, here, of a tensor for which ``is_free`` holds."""
        raise NotImplementedError

    def alias(self, tensor: Tensor, asked: set[Tensor]) -> Tensor | None:
        """Another tensor of the forward graph whose saved values contain those of ``tensor``."""
        return None

    def saved(self, tensor: Tensor) -> Definition:
        """Make the forward pass save ``tensor``, and say how to read it here."""
        raise NotImplementedError

    def price(self, tensor: Tensor) -> int:
        """Return what saving ``tensor`` costs: bytes, about."""
        return bytes_of(tensor)

    def saved_alias(self, tensor: Tensor, other: Tensor) -> Definition:
        """Return how to read here a tensor for which ``alias`` gave ``other``."""
        raise NotImplementedError

    # -- building -----------------------------------------------------------------------------------------

    def add(
        self, op: Op, inputs: Sequence[Tensor], attrs: Mapping[str, Any] | None = None,
        name: str | None = None, location: Location | None = None, scope: str | None = None, waits: bool = True,
    ) -> Node:  # fmt: skip
        if op.traits.describes:
            # a few numbers saved instead of the tensor that they describe
            inputs = [self._described(inputs[0])]
            graph = inputs[0].graph
            if graph is not None and self._is_forward(graph):
                return self.capture(_described_once(graph, op, inputs[0], attrs or {})).op
        return super().add(op, inputs, attrs, name, self.location if location is None else location, scope, waits)

    def _described(self, tensor: Tensor) -> Tensor:
        """Return the outermost tensor that has the value of ``tensor``."""
        up: Graph | None = self
        while isinstance(up, BackwardGraph):
            if up.forward is tensor.graph:
                outer = up.outside(tensor)
                if outer is None:
                    return tensor
                tensor = outer
            up = up.parent
        return tensor

    def _is_forward(self, graph: Graph) -> bool:
        up: Graph | None = self
        while isinstance(up, BackwardGraph):
            if up.forward is graph:
                return True
            up = up.parent
        return False

    def capture(self, tensor: Tensor, here: Location | None = None) -> Tensor:
        if tensor.graph is not self.forward:
            copy = twin(self.forward, tensor)
            if copy is None:
                return super().capture(tensor, here)
            tensor = copy
        known = self._asked.get(tensor)
        if known is None:
            if tensor.op.op is CONST:
                known = self.constant_in(self, tensor)
            elif self.is_free(tensor):
                known = self.stand_in(tensor)
            else:
                known = self._placeholder(tensor)
            self._asked[tensor] = known
        return known

    def constant_in(self, graph: Graph, constant: Tensor) -> Tensor:
        """Return a constant of the forward graph in ``graph``, a copy of the same tensor if it is one.

        Somebody may want the derivative of the gradient with regard to that tensor.
        """
        if self._origins is None:
            forward = self.forward
            self._origins = {made: concrete for concrete, made in forward.constants.items()}
            self._origins.update((inner, outer) for outer, inner in forward.captures.items())
        origin = self._origins.get(constant)
        return graph.constant(constant.op.attrs["value"]) if origin is None else Graph.capture(graph, origin)

    def _placeholder(self, tensor: Tensor) -> Tensor:
        spec = (tensor.dtype, tensor.shape)
        name = self.unique_name(tensor.op.name.rpartition("/")[2])
        node = Node(self, PLACEHOLDER, (), {"spec": spec}, [spec], name, tensor.op.location)
        self.nodes.append(node)
        return node.outputs[0]

    def asked(self) -> list[tuple[Tensor, Tensor]]:
        """Return ``(tensor of the forward graph, what stands for it here)`` so far."""
        return [(t, here) for t, here in self._asked.items() if here.graph is self]

    # -- finishing ----------------------------------------------------------------------------------------

    def finish(self, outputs: Sequence[Tensor]) -> None:
        """Define the placeholders that ``outputs`` depend on; drop everything else that they do not need."""
        self._drop_dead(outputs)
        kept = set(self.nodes)
        asked = {t for t, here in self._asked.items() if here.op in kept and here.op.op is PLACEHOLDER}
        if asked:
            self._define(asked)
            self.nodes = [node.now for node in self.nodes]
            self._drop_dead(outputs)
        self.nodes = sorted_nodes(self.nodes)
        self.finished = True

    def _define(self, asked: set[Tensor]) -> None:
        sources, roots = self._recipes(asked)
        cost = {t: self.price(t) for t in (*sources, *roots)}
        cut = cheapest_cut(roots, asked, sources, cost)
        again = self._again(cut)
        recomputed = self._recomputed(asked, sources, cut) | again
        cut -= again
        for tensor in self._in_order(cut):
            other = self.alias(tensor, cut)
            self._become(tensor, *(self.saved(tensor) if other is None else self.saved_alias(tensor, other)))
        for tensor in self._in_order(recomputed):
            node, other = tensor.op, self.alias(tensor, asked)
            if other is not None:
                self._become(tensor, *self.saved_alias(tensor, other))
            else:
                self._become(tensor, stacks.PEEK if node.op is READ else node.op, node.inputs, node.attrs)

    def _again(self, cut: set[Tensor]) -> set[Tensor]:
        """Return those of ``cut`` that are dear to save and not very dear to compute."""
        own = {t for t in cut if self.alias(t, cut) is None}
        return worth_computing_again(own, self.forward, self.price, lambda t: t.op.op is CONST or self.is_free(t))

    def _recipes(self, asked: set[Tensor]) -> tuple[dict[Tensor, list[Tensor]], list[Tensor]]:
        """Return how ``asked`` can be computed again, and the tensors where that ends: they can only be saved."""
        sources: dict[Tensor, list[Tensor]] = {}
        roots: list[Tensor] = []
        seen = set(asked)
        todo = list(asked)
        while todo:
            tensor = todo.pop()
            other = self.alias(tensor, asked)
            if other is not None:
                sources[tensor] = [other]
            elif tensor.op.op.traits.rematerialise or _is_made_again(tensor):
                sources[tensor] = [t for t in tensor.op.inputs if not (t.op.op is CONST or self.is_free(t))]
            else:
                roots.append(tensor)
                continue
            fresh = [t for t in sources[tensor] if t not in seen]
            seen.update(fresh)
            todo.extend(fresh)
        return sources, roots

    @staticmethod
    def _recomputed(asked: set[Tensor], sources: Mapping[Tensor, list[Tensor]], cut: set[Tensor]) -> set[Tensor]:
        found: set[Tensor] = set()
        todo = [t for t in asked if t not in cut]
        while todo:
            tensor = todo.pop()
            if tensor not in found:
                found.add(tensor)
                todo.extend(t for t in sources[tensor] if t not in cut)
        return found

    def _in_order(self, tensors: set[Tensor]) -> list[Tensor]:
        return [t for node in self.forward.nodes for t in node.outputs if t in tensors]

    def _become(self, tensor: Tensor, op: Op, inputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> None:
        """Let what stands here for a forward tensor be computed by ``op``."""
        self.capture(tensor).op.instead(op, [self.capture(t) for t in inputs], attrs)

    def _drop_dead(self, outputs: Sequence[Tensor]) -> None:
        """Forget the nodes that neither ``outputs`` nor an effect needs, and the captures only they used."""
        captured = set(self.captures.values())
        live = needed_nodes(outputs, also=[n for n in self.nodes if n.op.effect])
        live.update(p.op for p in self.inputs if p not in captured)
        self.nodes = [n for n in self.nodes if n in live]
        self.inputs = [p for p in self.inputs if p.op in live]
        self.captures = {o: i for o, i in self.captures.items() if i.op in live}
        self.constants = {concrete: inner for concrete, inner in self.constants.items() if inner.op in live}
        self._asked = {t: here for t, here in self._asked.items() if here.op in live}


def _described_once(graph: Graph, op: Op, tensor: Tensor, attrs: Mapping[str, Any]) -> Tensor:
    """Return ``op`` of ``tensor`` in its own graph, the same one for all who ask."""
    known = extension(graph).described
    for with_op, with_tensor, with_attrs, made in known:
        if with_op is op and with_tensor is tensor and with_attrs == attrs:
            return made
    made = graph.add(op, [tensor], attrs).outputs[0]
    known.append((op, tensor, attrs, made))
    return made


def _is_made_again(tensor: Tensor) -> bool:
    """Return whether ``tensor`` is computed again where what it takes is there: rows of several lengths would be saved
    one by one, each in memory of its own."""
    node = tensor.op
    return len(node.outputs) == 1 and not node.subgraphs and is_pure(node) and is_ragged(tensor)


def bytes_of(tensor: Tensor) -> int:
    """Return about how much memory one more value takes."""
    if tensor.dtype == dtypes.variant:
        return _OBJECT
    dims = tensor.shape.known if tensor.shape.rank is not None else (None,)
    count = 1
    for d in dims:
        count *= _GUESS if d is None else d
    return max(_OBJECT, count * tensor.dtype.itemsize)


def sorted_nodes(nodes: Sequence[Node]) -> list[Node]:
    """Return ``nodes`` with inputs before their uses, otherwise in the given order."""
    inside, done = set(nodes), set()
    out: list[Node] = []
    for first in nodes:
        stack = [first]
        while stack:
            node = stack[-1]
            waiting = [
                t.node for t in (*node.inputs, *node.control_inputs)
                if t.node is not None and t.node in inside and t.node not in done
            ]  # fmt: skip
            if waiting and node not in done:
                stack.extend(waiting)
                continue
            stack.pop()
            if node not in done:
                done.add(node)
                out.append(node)
    return out
