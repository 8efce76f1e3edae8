"""Loops over numbers as graphs of their own, see ``pieces``.

Such a loop does some iterations in machine code, and comes back with its variables; whoever called it does so again, or
goes on by itself. So nobody waits for a loop that goes on for ever, and where machine code cannot do an iteration there
is the state before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..analysis.induction import trip_count
from ..analysis.observable import is_pure
from ..ir.graph import CONST, Node
from ..ir.tensor import Tensor
from ..passes.resume import resumable
from .flat_graph import FlatNode, FrameInfo, Kind, Lowered
from .loop_items import NUMBERS
from .pieces import Piece

#: iterations for which it is not worth while
FEW = 4


def loop_pieces(lowered: Lowered, joined: Sequence[FlatNode]) -> Iterator[Piece]:
    """Yield the loops over numbers without loops in them, of those that are run as one."""
    parents = {frame.parent for frame in lowered.frames}
    whole = {node.value.frame for node in joined if node.kind is Kind.WHOLE}
    members: dict[int, list[FlatNode]] = {}
    for frame in lowered.frames[1:]:
        if frame.parent in whole:
            whole.add(frame.index)
        if frame.index in whole and frame.index not in parents:
            members[frame.index] = []
    for flat in lowered.nodes if members else ():
        if flat.frame in members:
            members[flat.frame].append(flat)
    for k, those in members.items():
        piece = _of_loop(lowered.frames[k], those)
        if piece is not None:
            yield piece


def _of_loop(frame: FrameInfo, members: Sequence[FlatNode]) -> Piece | None:
    """Return the piece of a loop; None if there is anything in it but numbers, or not all of it is needed."""
    node = frame.source
    assert node is not None
    nodes = [flat.source for flat in members if flat.kind is Kind.KERNEL]
    trips = trip_count(node)
    if not all(_is_of_numbers(flat) for flat in members) or not nodes or (trips is not None and trips <= FEW):
        return None
    n, given = node.attrs["n_vars"], tuple(_given(node))
    wanted = [node.inputs[k] for k in given]
    if node.attrs["token"] is not None or not all(k in frame.values for k in given):
        return None
    if not all(map(_is_number, wanted[:n])) or not all(map(_is_plain, wanted)):
        return None
    key = tuple([flat.index for flat in members])
    ports = tuple([frame.values[k] for k in given])
    return Piece(key, ports, tuple(nodes), key, (), None, lambda _: resumable(node).graph)  # type: ignore[arg-type]


def _given(node: Node) -> Iterator[int]:
    """Yield the inputs that the graph of a loop is given."""
    for k, tensor in enumerate(node.inputs):
        if k < node.attrs["n_vars"] or tensor.op.op is not CONST:
            yield k


def _is_of_numbers(flat: FlatNode) -> bool:
    if flat.kind is not Kind.KERNEL:
        return True
    node = flat.source
    if node is None or node.op is not flat.op or not is_pure(node):
        return False
    return all(map(_is_number, node.outputs)) and all(map(_is_plain, node.inputs))


def _is_number(tensor: Tensor) -> bool:
    return tensor.shape.rank == 0 and tensor.dtype.kind in NUMBERS


def _is_plain(tensor: Tensor) -> bool:
    return tensor.shape.is_fully_defined() and tensor.dtype.kind in NUMBERS
