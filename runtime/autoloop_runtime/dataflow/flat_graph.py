"""The flat dataflow graph: what the scheduler runs and what ``autoloop graph`` draws.

Everything here is frozen. An edge is a *port*, ``(node index, output number)``. Two kinds of port carry no
token, because their value is there before anything asks for it: constants, and loop invariants (the outputs
of a constant Enter). A node all of whose inputs are such *resting* values has a control input that says when
to run: the *pivot* of the iteration or branch it stands in.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from ..analysis.cost import estimate
from ..base.dataclass import dataclass, replace
from ..ir.graph import Node
from ..ir.op import Op

Port = tuple[int, int]


class Kind(enum.Enum):
    """What a flat node does with its tokens."""

    #: calls its op's kernel
    KERNEL = "kernel"
    #: a value known when the graph was built; no token
    CONST = "Const"
    #: a value given by the caller
    FEED = "Feed"
    #: hands its input on; used where a resting value must become a token
    IDENTITY = "Identity"
    #: takes a token into iteration 0 of a new frame; a constant Enter into every iteration
    ENTER = "Enter"
    #: hands on whichever input arrives: in a loop the Enter's, then the NextIteration's; after a branch the live one
    MERGE = "Merge"
    #: marks the loop's condition
    LOOP_COND = "LoopCond"
    #: inputs (data, predicate); output 1 has the data if the predicate is true, output 0 if it is false
    SWITCH = "Switch"
    #: takes a token to the next iteration
    NEXT_ITERATION = "NextIteration"
    #: takes a token out of the frame
    EXIT = "Exit"
    #: in a plan only: a loop that is run as one, see ``whole_loops``
    WHOLE = "Whole"
    #: in a plan only: light kernels that are run as one, see ``batches``
    BATCH = "Batch"
    #: in a plan only: what stood in such a loop or batch
    GONE = "Gone"


@dataclass(frozen=True, slots=True)
class FlatNode:
    """One node of the flat graph.

    Attributes
    ----------
    index : int
        Its place in ``Lowered.nodes``.
    kind : Kind
        What it does.
    name : str
        Unique: the source node's name, or below it (``while/Enter``).
    inputs, controls : tuple of Port
        Data inputs, and ports that must have arrived before it runs.
    frame : int
        The frame it belongs to; Enter and Exit belong to the loop's own frame.
    source : Node or None
        The node of the structured graph it was made from.
    op, attrs, outputs
        The primitive of a KERNEL, its static arguments, and its number of outputs (an effect token included).
    constant : bool
        For an ENTER: the value is a loop invariant.
    value : Any
        Of a CONST; of a KERNEL what is called instead of the kernel of ``op``, see ``faster_kernels``.
    """

    index: int
    kind: Kind
    name: str
    inputs: tuple[Port, ...]
    controls: tuple[Port, ...]
    frame: int
    source: Node | None
    op: Op | None
    attrs: Mapping[str, Any]
    outputs: int
    constant: bool
    value: Any

    @property
    def resting(self) -> bool:
        """True if the outputs are values at rest rather than tokens."""
        return self.kind is Kind.CONST or self.constant


@dataclass(frozen=True, slots=True)
class FrameInfo:
    """A loop of the flat graph; frame 0 is the graph outside all loops.

    Attributes
    ----------
    index, parent : int
        Itself and the frame around it (``-1`` for frame 0).
    name : str
        The name of the loop.
    source : Node or None
        The ``While`` node, ``None`` for frame 0.
    parallel_iterations : int
        How many iterations may be live at once.
    values : mapping of int to Port
        Input of the ``While`` node, as far as it is needed -> the Merge, or what rests, that has its value inside.
    """

    index: int
    parent: int
    name: str
    source: Node | None
    parallel_iterations: int
    values: Mapping[int, Port] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Lowered:
    """A flat graph, pruned for what is fetched.

    Attributes
    ----------
    nodes : tuple of FlatNode
    frames : tuple of FrameInfo
        Parents before children.
    feeds : tuple of int
        The FEED node of each feed, in the caller's order.
    fetches : tuple of Port
        The port of each fetch, in the caller's order.
    """

    nodes: tuple[FlatNode, ...]
    frames: tuple[FrameInfo, ...]
    feeds: tuple[int, ...]
    fetches: tuple[Port, ...]


#: in place of what has become a part of another node
GONE = FlatNode(-1, Kind.GONE, "", (), (), 0, None, None, {}, 0, False, None)


def renamed(node: FlatNode, ports: Mapping[Port, Port]) -> FlatNode:
    """Return a node that takes what it needs from the ports that have taken the place of others."""
    if not any(port in ports for port in (*node.inputs, *node.controls)):
        return node
    inputs, controls = [tuple([ports.get(p, p) for p in those]) for those in (node.inputs, node.controls)]
    return replace(node, inputs=inputs, controls=controls)


def nanoseconds(node: FlatNode) -> float:
    """Return how long a node takes, roughly, that does what a node of the structured graph does; else 0."""
    source = node.source
    return estimate(source) if source is not None and source.op is node.op else 0.0


def reached(roots: Iterable[int], following: Callable[[int], Iterable[int]]) -> set[int]:
    """Return some nodes, and all that are come to from them: behind each those that are ``following``."""
    todo, found = list(roots), set[int]()
    while todo:
        k = todo.pop()
        if k not in found:
            found.add(k)
            todo += following(k)
    return found


def started_late(lowered: Lowered) -> set[int]:
    """Return the loops that are given two values and more that are computed before them."""
    sources: dict[int, set[int]] = {}
    for node in lowered.nodes:
        if node.kind is Kind.ENTER and lowered.nodes[node.inputs[0][0]].kind not in (Kind.CONST, Kind.FEED):
            sources.setdefault(node.frame, set()).add(node.inputs[0][0])
    return {frame for frame, found in sources.items() if len(found) > 1}
