"""What holds of the flat graph, beside the form: more rows of the table of ``ir.verify``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..ir.stages import Stage
from ..ir.verify import Rule, add_rules
from .flat_graph import FlatNode, Kind, Lowered, Port

#: kind -> numbers of inputs, of outputs; of the others both may be any
_SHAPES: Mapping[Kind, tuple[int, int]] = {
    Kind.CONST: (0, 1), Kind.FEED: (0, 1), Kind.IDENTITY: (1, 1), Kind.ENTER: (1, 1), Kind.MERGE: (2, 1),
    Kind.LOOP_COND: (1, 1), Kind.SWITCH: (2, 2), Kind.NEXT_ITERATION: (1, 1), Kind.EXIT: (1, 1),
}  # fmt: skip
#: would never run without a token
_WAITING = (Kind.KERNEL, Kind.SWITCH, Kind.IDENTITY)


def _ports(node: FlatNode) -> tuple[Port, ...]:
    return (*node.inputs, *node.controls)


def _misnumbered(flat: Lowered) -> Iterator[object]:
    yield from (node for k, node in enumerate(flat.nodes) if node.index != k)
    yield from (frame for k, frame in enumerate(flat.frames) if frame.index != k or frame.parent >= k)


def _named_twice(flat: Lowered) -> Iterator[object]:
    seen: set[str] = set()
    for node in flat.nodes:
        if node.name in seen:
            yield node.name
        seen.add(node.name)


def _from_nowhere(flat: Lowered) -> Iterator[object]:
    ends = [(node.name, port) for node in flat.nodes for port in _ports(node)] + [("fetch", p) for p in flat.fetches]
    for name, (index, output) in ends:
        if not (0 <= index < len(flat.nodes) and 0 <= output < flat.nodes[index].outputs):
            yield name, index, output


def _of_other_shape(flat: Lowered) -> Iterator[object]:
    for node in flat.nodes:
        if _SHAPES.get(node.kind, (len(node.inputs), node.outputs)) != (len(node.inputs), node.outputs):
            yield node
        if (node.kind is Kind.KERNEL) != (node.op is not None) or (node.constant and node.kind is not Kind.ENTER):
            yield node


def _across_frames(flat: Lowered) -> Iterator[object]:
    frames = flat.frames  # an Enter takes its token outside of its frame, an Exit gives its own there
    for node in flat.nodes:
        outside = frames[node.frame].parent if node.kind is Kind.ENTER else node.frame
        for index, _ in _ports(node):
            source = flat.nodes[index]
            inside = frames[source.frame].parent if source.kind is Kind.EXIT else source.frame
            if source.kind is not Kind.CONST and inside != outside:
                yield source.name, node.name


def _never_runs(flat: Lowered) -> Iterator[object]:
    for node in flat.nodes:
        waits = node.kind in _WAITING and node.frame != 0
        if waits and all(flat.nodes[index].resting for index, _ in _ports(node)):
            yield node


def _wired_otherwise(flat: Lowered) -> Iterator[object]:
    for node in flat.nodes:
        kinds = [flat.nodes[index].kind for index, _ in node.inputs]
        if node.kind is Kind.MERGE and (Kind.ENTER in kinds or Kind.NEXT_ITERATION in kinds):
            if kinds != [Kind.ENTER, Kind.NEXT_ITERATION]:
                yield node
        elif node.kind is Kind.EXIT and kinds != [Kind.SWITCH]:
            yield node


def _no_one_condition(flat: Lowered) -> Iterator[object]:
    counts = [0] * len(flat.frames)
    for node in flat.nodes:
        counts[node.frame] += node.kind is Kind.LOOP_COND
    yield from (frame for frame, count in zip(flat.frames, counts) if count != (frame.index != 0))


def _no_feeds(flat: Lowered) -> Iterator[object]:
    yield from (flat.nodes[index] for index in flat.feeds if flat.nodes[index].kind is not Kind.FEED)
    made = {node.index for node in flat.nodes if node.kind is Kind.FEED}
    yield from (flat.nodes[index] for index in sorted(made - set(flat.feeds)))


_FLAT = (Stage.LOWERED,)
#: what holds
FLAT_RULES: tuple[Rule, ...] = (
    Rule("a port is an output that there is", _from_nowhere, _FLAT),
    Rule("nodes and frames are numbered in order, a frame after the one around it", _misnumbered, _FLAT),
    Rule("a name is given once", _named_twice, _FLAT),
    Rule("a node has as many inputs and outputs as its kind, and an op if it is a kernel", _of_other_shape, _FLAT),
    Rule("a token stays in its frame but through Enter and Exit", _across_frames, _FLAT),
    Rule("what waits in a frame gets a token", _never_runs, _FLAT),
    Rule("a loop's Merge takes Enter and NextIteration, and its Exit a Switch", _wired_otherwise, _FLAT),
    Rule("a frame has one condition", _no_one_condition, _FLAT),
    Rule("what is fed, and nothing else, is a Feed", _no_feeds, _FLAT),
)  # fmt: skip
add_rules(FLAT_RULES)
