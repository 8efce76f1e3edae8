"""Which tensors a gradient passes through.

``reached`` walks forward: what depends on the sources. ``needed`` walks backward: what the results depend on. Both
follow only edges that carry a derivative, and both descend into loops, where they iterate to a fixed point: the sets
only grow and there are finitely many loop variables.

A source may show up inside a sub-graph without being captured: a variable is read there, a constant is copied there.
``Marks`` knows these places; everywhere else in this package such a tensor stands for its source (``Marks.key``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, TypeAlias

from ..base import dtypes
from ..collections.variables import READ, Variable
from ..ir.graph import CONST, Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..ir.traits import NO_GRADIENT

#: a tensor, or the variable that some tensors were read from
Key: TypeAlias = Tensor | Variable


def is_differentiable(tensor: Key) -> bool:
    """Return whether a tensor may have a gradient: floats, complex numbers, and collections (of whatever)."""
    return tensor.dtype.kind in "fc" or tensor.dtype == dtypes.variant


class Marks:
    """The places in graphs and their sub-graphs where sources show up by themselves.

    Attributes
    ----------
    sources : tuple of Key
        What gradients are taken of, those that can have one; tensors belong to one of ``graphs`` or are concrete.
    """

    def __init__(self, graphs: Iterable[Graph], sources: Iterable[Key]) -> None:
        self.sources = tuple([x for x in sources if is_differentiable(x)])
        self._keys: dict[Tensor, Key] = {}
        #: sub-graph -> the sources that show up in it by themselves
        self._inside: dict[Graph, set[Key]] = {}
        self._wanted = set(self.sources)
        for graph in graphs:  # a graph after those around it
            self._scan(graph)

    def key(self, tensor: Tensor) -> Key:
        """Return the source that ``tensor`` stands for, or itself."""
        return self._keys.get(tensor, tensor)

    def __contains__(self, tensor: Tensor) -> bool:
        return tensor in self._keys

    def inside(self, graph: Graph) -> set[Key]:
        """Return the sources that show up in ``graph`` or below by themselves."""
        return self._inside.get(graph, set())

    def among(self, tensors: Iterable[Tensor]) -> set[Key]:
        """Return the sources that some of ``tensors`` stand for."""
        return {self._keys[t] for t in tensors if t in self._keys}

    def _scan(self, graph: Graph) -> set[Key]:
        found: set[Key] = set()
        for concrete, constant in graph.constants.items():
            self._note(constant, concrete, found)
        for outer, inner in graph.captures.items():
            if inner.node is not None and inner.node.op is CONST:
                self._note(inner, self._keys.get(outer, outer), found)
        for node in graph.nodes:
            if node.op is READ:
                self._note(node.outputs[0], node.attrs["variable"], found)
            for below in node.subgraphs:
                found |= self._scan(below)
        if found:
            self._inside[graph] = found
        return found

    def _note(self, tensor: Tensor, key: Any, found: set[Key]) -> None:
        if key in self._wanted and key is not tensor:
            self._keys[tensor] = key
            found.add(key)


# -- forward ----------------------------------------------------------------------------------------------


def reached(
    nodes: Iterable[Node], seeds: Iterable[Tensor], marks: Marks, stops: Collection[Tensor] = ()
) -> set[Tensor]:
    """Return the results of ``nodes`` that depend on ``seeds`` or on a source that shows up inside.

    Nothing depends on ``stops`` but themselves.
    """
    found = {t for t in seeds if is_differentiable(t)}
    for node in nodes:
        if stops and any(t in stops for t in node.outputs):
            continue
        if node.op is WHILE:
            variables, _ = reached_in_loop(node, found, marks)
            found.update(node.outputs[k] for k in variables)
        elif node.op is COND:
            found.update(node.outputs[k] for k in _reached_in_branches(node, found, marks))
        elif node.op.vjp is not NO_GRADIENT:
            if any(t in found for t in node.inputs):
                found.update(t for t in node.outputs if is_differentiable(t))
        elif any(t in marks for t in node.outputs):
            found.update(t for t in node.outputs if t in marks)
    return found


def reached_in_loop(node: Node, outside: set[Tensor], marks: Marks) -> tuple[set[int], set[Tensor]]:
    """Return the loop variables, and the tensors of the body, that depend on what is reached ``outside``."""
    body = node.attrs["body"]
    if not node.attrs["back_prop"]:
        return set(), set()
    count = node.attrs["n_vars"]
    seeds = {p for p, t in zip(body.inputs, node.inputs) if t in outside and is_differentiable(t)}
    variables = {k for k in range(count) if body.inputs[k] in seeds}
    while True:
        found = reached(body.nodes, seeds, marks)
        grown = {k for k in range(count) if body.outputs[k] in found and is_differentiable(body.outputs[k])}
        if grown <= variables:
            return variables, found
        variables |= grown
        seeds |= {body.inputs[k] for k in variables}


def _reached_in_branches(node: Node, outside: set[Tensor], marks: Marks) -> set[int]:
    out: set[int] = set()
    for branch in (node.attrs["then"], node.attrs["else"]):
        found = reached_in_branch(node, branch, outside, marks)
        out |= {k for k, t in enumerate(branch.outputs) if t in found and is_differentiable(t)}
    return out


def reached_in_branch(node: Node, branch: Graph, outside: set[Tensor], marks: Marks) -> set[Tensor]:
    """Return the tensors of a branch that depend on what is reached ``outside``."""
    seeds = [p for p, t in zip(branch.inputs, node.inputs[1:]) if t in outside and is_differentiable(t)]
    return reached(branch.nodes, seeds, marks)


# -- backward ---------------------------------------------------------------------------------------------


def needed(graph: Graph, targets: Iterable[Tensor]) -> set[Tensor]:
    """Return the tensors of ``graph``, and of the graphs inside it, that ``targets`` depend on, themselves included."""
    found = set(targets)
    for node in reversed(graph.nodes):
        wanted = {k for k, t in enumerate(node.outputs) if t in found}
        if not wanted:
            continue
        if node.op is WHILE:
            variables, inside = needed_in_loop(node, wanted)
            found |= inside
            body = node.attrs["body"]
            found.update(t for k, t in enumerate(node.inputs) if k in variables or
                         (k >= node.attrs["n_vars"] and body.inputs[k] in inside))  # fmt: skip
        elif node.op is COND:
            for branch in (node.attrs["then"], node.attrs["else"]):
                inside = needed(branch, [branch.outputs[k] for k in wanted])
                found |= inside
                found.update(t for p, t in zip(branch.inputs, node.inputs[1:]) if p in inside)
        elif node.op.vjp is not NO_GRADIENT:
            found.update(t for t in node.inputs if is_differentiable(t))
    return found


def needed_in_loop(node: Node, wanted: set[int]) -> tuple[set[int], set[Tensor]]:
    """Return the loop variables and the tensors of the body that the ``wanted`` results depend on."""
    body = node.attrs["body"]
    if not node.attrs["back_prop"]:
        return set(), set()
    variables = set(wanted)
    while True:
        inside = needed(body, [body.outputs[k] for k in variables])
        grown = {k for k in range(node.attrs["n_vars"]) if body.inputs[k] in inside} - variables
        if not grown:
            return variables, inside
        variables |= grown
