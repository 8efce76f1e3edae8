"""Loops that are run as one: a step of the plan that calls a function which runs all their iterations.

Each kernel is still called by itself, in program order; what goes away is the moving of tokens between them.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from ..analysis.ownership import Ownership
from ..analysis.weight import Weight, weigh
from ..base.dataclass import replace
from ..ir.graph import Node
from .dependence import MANY, Dependence
from .execution_plan import is_special, kernel_of
from .flat_graph import FlatNode, Kind, Lowered, Port
from .loop_code import LoopCode
from .loop_items import LoopTree, doors


class WholeLoop:
    """A loop that is run as one.

    Parameters
    ----------
    lowered : Lowered
    frame : int
    """

    def __init__(self, lowered: Lowered, frame: int) -> None:
        self._sources = [frame.source for frame in lowered.frames]
        self._parents = [frame.parent for frame in lowered.frames]
        self._frame = frame
        self._write: Callable[[], LoopCode] | None = lambda: LoopCode(lowered, LoopTree(lowered, frame), kernel_of)
        self._run: Callable[[list[Any], int], tuple[Any, ...]] | None = None
        self._places: dict[int, FlatNode] = {}

    def __call__(self, args: list[Any]) -> tuple[Any, ...]:
        """Run it; ``args`` is emptied."""
        run = self._run or self._compiled()
        return run(args, 0)

    def _compiled(self) -> Callable[[list[Any], int], tuple[Any, ...]]:
        write = self._write
        if write is not None:
            code = write()
            self._places, self._run = code.places, code.compile()
            self._write = None  # after the rest: another thread may be here, too
        assert self._run is not None
        return self._run

    def place(self, error: BaseException) -> tuple[FlatNode, list[tuple[Node, int]]] | None:
        """Return the node whose kernel raised ``error``, and the loops around it up to this one, innermost first."""
        run, here = self._run, error.__traceback__
        while here is not None and run is not None:
            if here.tb_frame.f_code is run.__code__:
                return self._found(here)
            here = here.tb_next
        return None

    def _found(self, here: TracebackType) -> tuple[FlatNode, list[tuple[Node, int]]] | None:
        flat = self._places.get(here.tb_lineno)
        if flat is None:
            return None
        loops, frame, counts = [], flat.frame, here.tb_frame.f_locals
        while True:
            source = self._sources[frame]
            assert source is not None
            loops.append((source, counts[f"n{frame}"]))
            if frame == self._frame:
                return flat, loops
            frame = self._parents[frame]


def with_whole_loops(lowered: Lowered, owned: Ownership) -> Lowered:
    """Return ``lowered`` with one node in place of each loop that can be run as one; itself if there is none.

    The nodes of such a loop are left as they are, and nobody refers to them.
    """
    if len(lowered.frames) == 1 or len(lowered.nodes) > MANY:
        return lowered
    found = Dependence(lowered, _light(lowered, owned))
    outermost = [k for k, frame in enumerate(lowered.frames) if found.whole[k] and not found.whole[frame.parent]]
    if not outermost:
        return lowered
    nodes, results = list(lowered.nodes), dict[Port, Port]()
    for frame in outermost:
        inputs, exits = doors(lowered, found.members[frame])
        inside = [
            node for k in range(frame, len(lowered.frames)) if found.is_inside(k, frame) for node in found.members[k]
        ]
        place = min([node.index for node in inside if node.kind in _STEPS])
        for k, node in enumerate(exits):
            results[node.index, 0] = place, k
        for node in inside:
            nodes[node.index] = _GONE
        info = lowered.frames[frame]
        nodes[place] = FlatNode(
            place, Kind.WHOLE, lowered.nodes[place].name, tuple(inputs), (), info.parent, info.source, None, {},
            len(exits), False, WholeLoop(lowered, frame),
        )  # fmt: skip
    fetches = tuple([results.get(port, port) for port in lowered.fetches])
    return replace(lowered, nodes=tuple([_renamed(node, results) for node in nodes]), fetches=fetches)


_GONE = FlatNode(-1, Kind.GONE, "", (), (), 0, None, None, {}, 0, False, None)
_STEPS = (Kind.KERNEL, Kind.SWITCH, Kind.IDENTITY)


def _renamed(node: FlatNode, results: dict[Port, Port]) -> FlatNode:
    """Return a node that takes what a loop gives from the one that has taken its place."""
    if not any(port in results for port in (*node.inputs, *node.controls)):
        return node
    inputs, controls = [tuple([results.get(p, p) for p in ports]) for ports in (node.inputs, node.controls)]
    return replace(node, inputs=inputs, controls=controls)


def _light(lowered: Lowered, owned: Ownership) -> set[int]:
    """Return the kernels that cost little and do nothing but compute."""
    return {
        node.index
        for node in lowered.nodes
        if node.kind is Kind.KERNEL and not is_special(node, owned) and _costs_little(node)
    }


def _costs_little(flat: FlatNode) -> bool:
    node = flat.source
    return node is None or node.op is not flat.op or weigh(node) is Weight.LIGHT
