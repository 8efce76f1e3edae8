"""Which operations may write to the array they read: those of arrays that nobody else can see.

``set_item`` gives a new array, so ``v[i] = x`` in a loop costs a copy per iteration unless the old array can be
reused. It can when the loop *owns* it: the variable starts with a copy of its own, is then read only by
operations whose results are no views of it, and the assignment is the last thing that reads it. This module finds
such chains ``v -> set_item -> ... -> v``, also through branches and inner loops. On large arrays an element by element
operation in a loop is a link of such a chain too: ``np.add(x, y, out=x)``. What such a link is made from need not be a
loop variable; any result that is an array of its own will do, and so will an input that the caller gives away
(``Graph.donated``): its own array, which the function writes to.

One file: what follows a chain through loops, branches and parts calls one another.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from ..base.dataclass import dataclass, field
from ..ir.graph import Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..ops.identities import IDENTITY
from .aliasing import (
    gathers,
    is_fresh,
    is_whole_view,
    looked_at,
    looks,
    only_looks,
    reads_part,
    writes_part,
)
from .failure import graph_can_fail
from .fusion import Fused, Groups
from .sizes import is_large
from .uses import CONTROL, Readers, places, readers

#: as an output in ``Graph.donated``: nobody wants the memory of that input back
NOWHERE = -1
#: where a chain ends that began with a part of an array: it is put back there
_PUT_BACK = -2


@dataclass
class Ownership:
    """What may be written to.

    Attributes
    ----------
    in_place : dict
        Node that may write to one of its inputs -> which.
    copied : set of (Node, int)
        While and loop variable that must start with a copy of its own.
    entered : set of (Node, int)
        While and loop variable whose array is the loop's own in every iteration.
    rotating : set of (Node, int)
        Those of them that hand it on to another one.
    reusing : set of Node
        Nodes in loops whose results, large arrays, nobody holds on to for long.
    over : dict
        Result of a group that is computed together -> the array that the group reads and may put it into.
    parts : set of Node
        What gives views of arrays that begin such chains: what they become is put back there.
    """

    in_place: dict[Node, int] = field(default_factory=dict)
    over: dict[Tensor, Tensor] = field(default_factory=dict)
    copied: set[tuple[Node, int]] = field(default_factory=set)
    entered: set[tuple[Node, int]] = field(default_factory=set)
    rotating: set[tuple[Node, int]] = field(default_factory=set)
    reusing: set[Node] = field(default_factory=set)
    parts: set[Node] = field(default_factory=set)


def find_owned(graph: Graph, fused: Mapping[Node, Fused] = MappingProxyType({})) -> Ownership:
    """Return the chains of ``graph`` and of the graphs inside it; the nodes ``fused`` are computed with others, and
    write only to arrays that the caller gives away."""
    found, groups = Ownership(dict.fromkeys(fused, -1)), Groups(fused)
    if fused or graph.donated or _worth_a_search(graph):
        reading = groups.reading(graph)
        for position, output in graph.donated.items():
            _follow(reading, graph.inputs[position], found, groups, None if output == NOWHERE else output, True)
        _search(graph, found, False, groups)
        for node in fused:
            del found.in_place[node]
        _find_reusing(_Inside(graph, readers(graph)), found, fused)
    return found


def worth_giving_away(graph: Graph) -> tuple[int, ...]:
    """Return the inputs of ``graph`` that it would have to copy, to write to them, unless they are given away."""
    made = []
    if _worth_a_search(graph):
        groups = Groups()
        reading = groups.reading(graph)
        for k, tensor in enumerate(graph.inputs):
            marks = _Marks(fused=groups)
            _walk(reading, tensor, marks)
            if any(map(_updates, marks.in_place)):
                made.append(k)
    return tuple(made)


def left_in_place(graph: Graph, donated: Mapping[int, int]) -> set[int]:
    """Return the inputs of ``graph`` that are given away and hold, without a copy, what is wanted in their memory."""
    groups = Groups()
    reading = groups.reading(graph)
    last = {
        k: _walk(reading, graph.inputs[k], _Marks(fused=groups, small=output != NOWHERE, is_last=output != NOWHERE))
        for k, output in donated.items()
    }
    return {k for k, output in donated.items() if last[k] == output}


def put_elsewhere(graph: Graph) -> list[int]:
    """Return the inputs of ``graph`` that are given away and do not hold what is wanted there: large arrays, and all
    where a run may raise, as who catches that finds there what was written before."""
    fails = graph_can_fail(graph) if graph.donated else False
    of_interest = {k: output for k, output in graph.donated.items() if output != NOWHERE}
    wanted = {
        k: j for k, j in of_interest.items() if graph.inputs[k].shape.rank and (fails or is_large(graph.inputs[k]))
    }
    return sorted({*wanted} - left_in_place(graph, wanted)) if wanted else []


def part_put_back(reading: Readers, tensor: Tensor) -> Node | None:
    """Return what gives a view of the array ``tensor`` that becomes, in its place, what is put back there."""
    reads = [(n, i) for n, i in reading.of(tensor) if i != CONTROL]
    *before, (last, index) = reads or [(None, 0)]
    part = None if last is None or index else _part_of(last, before)
    return part if part is not None and last is not None and _own_part(reading, part, before, last, _Marks()) else None


def _worth_a_search(graph: Graph) -> bool:
    pending = [(graph, False)]
    while pending:
        current, in_loop = pending.pop()
        for node in current.nodes:
            if _updates(node) or (in_loop and _writes(node)):
                return True
            pending += [(sub, in_loop or node.op is WHILE) for sub in node.subgraphs]
    return False


@dataclass
class _Inside:
    """A graph inside a structured node: who reads what in it, its node, and what is around that."""

    graph: Graph
    reading: Readers
    node: Node | None = None
    around: _Inside | None = None
    in_loop: bool = False


def _find_reusing(here: _Inside, found: Ownership, fused: Collection[Node]) -> None:
    """Find the nodes, here and further inside, whose results are soon let go of."""
    for node in here.graph.nodes:
        candidate = here.in_loop and node not in found.in_place and (node in fused or _gives_large(node))
        candidate = candidate and node.outputs[0] not in found.over
        if candidate and _let_go(here, node.outputs[0], found):
            found.reusing.add(node)
        for sub in node.subgraphs:
            _find_reusing(_Inside(sub, readers(sub), node, here, here.in_loop or node.op is WHILE), found, fused)


def _gives_large(node: Node) -> bool:
    """Return whether a large result can be put into a given array."""
    code = node.op.into
    return code is not None and code.count("{out}") == 1 and not node.declared and is_large(node.outputs[0])


def _let_go(here: _Inside, tensor: Tensor, found: Ownership) -> bool:
    """Return whether nothing keeps ``tensor``, or what others made of its array,
    but the variables of the loop around."""
    pending, seen = [(here, tensor)], {tensor}
    while pending:
        here, tensor = pending.pop()
        following: list[tuple[_Inside, Tensor]] = []
        for node, index in here.reading.of(tensor):
            if node is None:
                owner, around = here.node, here.around
                if owner is None or around is None or here.graph is owner.attrs.get("cond"):
                    return False
                if owner.op is COND:
                    following.append((around, owner.outputs[index]))
                    continue
                cond = owner.attrs["cond"]
                if not looked_at(readers(cond), cond.inputs[index]):
                    return False
                following.append((here, here.graph.inputs[index]))
            elif found.in_place.get(node) == index:
                following.append((here, node.outputs[0]))
            elif not only_looks(node, index):
                return False
        pending += [(place, t) for place, t in following if t not in seen]
        seen.update(t for _, t in following)
    return True


def may_overwrite(node: Node) -> bool:
    """Return whether ``node`` may be found to write to an array that it reads."""
    return _updates(node) or _writes(node)


def overwritten(node: Node, small: bool = False) -> tuple[int, ...]:
    """Return the inputs of an element by element operation on arrays, large ones or also *small*, that have the form of
    its result, which may be put into one of them."""
    if not _writes(node, small):
        return ()
    return tuple([k for k, t in enumerate(node.inputs) if _same_form(t, node.outputs[0])])


def _updates(node: Node) -> bool:
    """Return true for ``x[i] = value`` and its like: the new value of an array, which is the old one's array if nobody
    else has that."""
    return node.op.taking is not None and node.op.taking.is_update


def _writes(node: Node, small: bool = False) -> bool:
    """Return true for an element by element operation on arrays, large ones or also *small*, that can put its result
    into one."""
    rank = node.outputs[0].shape.rank if node.op.into is not None and node.op.traits.elementwise else 0
    return rank != 0 and (is_large(node.outputs[0]) or (small and rank is not None)) and not node.declared


def _search(graph: Graph, found: Ownership, in_loop: bool, fused: Groups) -> None:
    """Find chains that start in ``graph``."""
    reading, is_wide = fused.reading(graph), in_loop or bool(fused)
    for node in graph.nodes:
        if node.op is WHILE:
            for k in range(node.attrs["n_vars"]):
                new = _Marks(taken=found.in_place, fused=fused, over=dict(found.over))
                cycle = _through_cycle(node, k, new, found)
                if not cycle or not (new.in_place or len(new.over) > len(found.over)):
                    continue
                found.in_place |= new.in_place
                found.over |= new.over
                found.copied |= cycle
                found.entered |= new.entered | cycle
                found.rotating |= cycle if len(cycle) > 1 else set()
                found.parts |= new.parts
                for _, one in sorted(cycle, key=lambda entry: entry[1]):
                    _follow(reading, node.outputs[one], found, fused)
        elif node in fused:
            if node.outputs[0] not in found.over and places(fused[node].results, node.outputs[0]):
                _follow(reading, node.outputs[0], found, fused)
        elif node not in found.in_place and (_updates(node) or gathers(node) or (is_wide and _begins(node))):
            _follow(reading, node.outputs[0], found, fused)
        for sub in node.subgraphs:
            _search(sub, found, in_loop or node.op is WHILE, fused)


def _begins(node: Node) -> bool:
    return is_fresh(node.outputs[0]) and is_large(node.outputs[0])


def _follow(
    reading: Readers, tensor: Tensor, found: Ownership, fused: Groups, output: int | None = None, small: bool = False
) -> None:  # fmt: skip
    """Mark what comes after a value that is owned where it is made; the chain need not lead anywhere but to ``output``:
    after an exception nobody finds anything in the caller's array that would never have been put there."""
    marks = _Marks(
        taken=found.in_place, fused=fused, over=dict(found.over), wanted=output, small=small and output is not None,
        is_last=output is not None,
    )  # fmt: skip
    end = _walk(reading, tensor, marks)
    if output is None or end == output:
        found.in_place |= marks.in_place
        found.entered |= marks.entered
        found.over |= marks.over
        found.parts |= marks.parts


@dataclass
class _Marks:
    """One chain; ``taken``: nodes that write to another one, where this one ends; ``wanted``: the output it should lead
    to, if that is known; ``small``: what is small is put there, too, which saves a copy of it; ``back``: what puts a
    part of an array, which the chain began with, back there; ``is_last``: nobody writes to the array where the chain
    has come to an output, so that others may be parts of it (who wants them apart copies them when the run is over)."""

    in_place: dict[Node, int] = field(default_factory=dict)
    entered: set[tuple[Node, int]] = field(default_factory=set)
    taken: Mapping[Node, int] = field(default_factory=dict)
    fused: Groups = field(default_factory=Groups)
    over: dict[Tensor, Tensor] = field(default_factory=dict)
    wanted: int | None = None
    small: bool = False
    parts: set[Node] = field(default_factory=set)
    back: Node | None = None
    is_last: bool = False

    def inner(self, wanted: int | None = None) -> _Marks:
        """Return marks for a part of the chain that may yet be given up."""
        return _Marks(
            taken={**self.taken, **self.in_place}, fused=self.fused, over=dict(self.over), wanted=wanted,
            small=self.small,
        )  # fmt: skip


def _walk(reading: Readers, tensor: Tensor, marks: _Marks) -> int | None:
    """Follow the chain that starts with the owned ``tensor``; gives the output it ends in, if it ends in one."""
    while True:
        reads = [(n, i) for n, i in reading.of(tensor) if i != CONTROL]
        if not reads:
            return None
        *before, (last, index) = reads
        if last is not None and last in marks.fused:
            return _walk_over(reading, tensor, marks.fused[last], marks)
        if last is not None and _writes(last, marks.small):
            if not is_large(last.outputs[0]) and not all(
                n is not None and _apart(reading, n, i, marks.fused) for n, i in before if n is not last
            ):
                return None
            before = [(n, i) for n, i in before if n is not last]  # it reads before it writes
        end = len(reading.place) if last is None else reading.place[last] - bool(last.subgraphs)
        part = None if last is None or index else _part_of(last, before)
        if part is not None and last is not None and not _own_part(reading, part, before, last, marks):
            part = None
        is_over = last is None and marks.is_last
        if not all(
            n is not None and n is not last and (n is part or is_over or looks(reading, n, i, end)) for n, i in before
        ):
            return None
        if last is None:
            return index
        if last is marks.back and index == 1:
            return _PUT_BACK
        following = _consume(last, index, marks)
        if following is None:
            return None
        tensor = following


def _part_of(node: Node, before: Sequence[tuple[Node | None, int]]) -> Node | None:
    """Return what gives the view that ``node`` writes to, if it is the only one that does."""
    if not writes_part(node) or node.declared or not _is_view_index(node):
        return None
    found = [n for n, i in before if n is not None and i == 0 and not n.declared and reads_part(n, node)]
    return found[0] if len(found) == 1 and found[0].outputs[0].shape.rank not in (0, None) else None


def _is_view_index(node: Node) -> bool:
    return all(t.shape.rank == 0 and t.dtype.kind in "iu" for t in node.inputs[2:])


def _own_part(
    reading: Readers, part: Node, before: Sequence[tuple[Node | None, int]], last: Node, marks: _Marks
) -> bool:
    """Follow the chain that begins with a part of an array and ends where ``last`` puts it back there: nobody else
    reads the array from where the part is first written to, so what it becomes may be made there."""
    first, inner = reading.of(part.outputs[0])[-1][0], marks.inner(_PUT_BACK)
    if first is None:
        return False
    start, inner.back = reading.place[first] - bool(first.subgraphs), last
    # block by block, some of a group is written before others are read
    members = marks.fused[first].nodes if first in marks.fused else ()
    for node, index in before:
        if node is part:
            continue
        if node is None or reading.place[node] > start or not looks(reading, node, index, start):
            return False
        if members and (node in members or not _apart(reading, node, index, members)):
            return False
    if _walk(reading, part.outputs[0], inner) != _PUT_BACK:
        return False
    if not (inner.in_place or inner.entered or len(inner.over) > len(marks.over)):
        return False
    _merge(marks, inner)
    marks.parts.add(part)
    return True


def _walk_over(reading: Readers, tensor: Tensor, group: Fused, marks: _Marks) -> int | None:
    """Follow the chain on through a result of ``group``, the last to read ``tensor``, that may be put into its array:
    of each element all is read that is wanted of it before the result is written there."""
    members, end = set(group.nodes), reading.place[group.nodes[-1]]
    others = [(n, i) for n, i in reading.of(tensor) if n not in members]
    if not all(n is not None and looks(reading, n, i, end) and _apart(reading, n, i, members) for n, i in others):
        return None
    last = max(place for place, node in enumerate(group.nodes) if places(node.inputs, tensor))
    for result in group.results:
        if result in marks.over or group.nodes.index(result.op) < last or not _same_form(tensor, result):
            continue
        inner = marks.inner(marks.wanted)
        inner.over[result], inner.back, inner.is_last = tensor, marks.back, marks.is_last
        reached = _walk(reading, result, inner)
        if marks.wanted is None or reached == marks.wanted:
            _merge(marks, inner)
            return reached
    return None


def _apart(reading: Readers, node: Node, index: int, members: Collection[Node]) -> bool:
    """Return whether no views that ``node`` makes of its input ``index`` are read by ``members``."""
    if only_looks(node, index):
        return True
    following = [one for t in node.outputs for one in reading.of(t)]
    return all(n is not None and n not in members and _apart(reading, n, i, members) for n, i in following)


def _consume(node: Node, index: int, marks: _Marks) -> Tensor | None:
    """Return the tensor that continues the chain after ``node`` read its last link as input ``index``."""
    if _updates(node) and index == 0:
        if not node.inputs[0].shape.rank or node.declared:
            return None
        marks.in_place[node] = 0
        return node.outputs[0]
    if _writes(node, marks.small) and _same_form(node.inputs[index], node.outputs[0]):
        if node in marks.in_place or node in marks.taken:
            return None
        marks.in_place[node] = index
        return node.outputs[0]
    if index == 0 and (node.op is IDENTITY or (is_whole_view(node) and not node.declared)):
        return node.outputs[0]
    if node.op is COND and index > 0:
        inner = marks.inner()
        ends = []
        for sub in (node.attrs["then"], node.attrs["else"]):
            ends.append(_walk(marks.fused.reading(sub), sub.inputs[index - 1], inner))
        if ends[0] is None or ends[0] != ends[1] or ends[0] in node.declared:
            return None
        _merge(marks, inner)
        return node.outputs[ends[0]]
    if node.op is WHILE and index < node.attrs["n_vars"] and len(places(node.inputs, node.inputs[index])) == 1:
        through = _through_loop(node, index, marks.inner(index))
        if through is None or index in node.declared:
            return None
        _merge(marks, through)
        marks.entered.add((node, index))
        return node.outputs[index]
    return None


def _same_form(a: Tensor, b: Tensor) -> bool:
    return a.dtype == b.dtype and a.shape.is_fully_defined() and a.shape == b.shape


def _merge(marks: _Marks, inner: _Marks) -> None:
    marks.in_place |= inner.in_place
    marks.entered |= inner.entered
    marks.over |= inner.over
    marks.parts |= inner.parts


def _through_cycle(node: Node, k: int, marks: _Marks, found: Ownership) -> set[tuple[Node, int]]:
    """Follow the chains through variables of a loop that hand their arrays on to one another, ``u, v = v, u``, from
    ``k`` on until that has its own again; gives them all, none if there is no such cycle."""
    cond, body = node.attrs["cond"], node.attrs["body"]
    cycle: set[tuple[Node, int]] = set()
    one: int | None = k
    while one is not None and 0 <= one < node.attrs["n_vars"]:
        if (node, one) in cycle | found.entered or not looked_at(marks.fused.reading(cond), cond.inputs[one]):
            return set()
        cycle.add((node, one))
        inner = marks.inner()
        one = _walk(marks.fused.reading(body), body.inputs[one], inner)
        _merge(marks, inner)
        if one == k:
            return cycle
    return set()


def _through_loop(node: Node, k: int, marks: _Marks) -> _Marks | None:
    """Return the chain through variable ``k`` of a loop, if it leads from the body's parameter to its next value."""
    cond, body = node.attrs["cond"], node.attrs["body"]
    if not looked_at(marks.fused.reading(cond), cond.inputs[k]):
        return None
    end = _walk(marks.fused.reading(body), body.inputs[k], marks)
    return marks if end == k else None
