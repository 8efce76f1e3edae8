"""Loops whose iterations have nothing to do with one another: each reads and writes rows of arrays that are its own.

What a loop changes from one iteration to the next is then counters and arrays, of which an iteration only touches what
has its counter's value as index along one axis: ``c[i, : i + 1] += a[i, k] * a[: i + 1, k]`` for each ``i``. Or it only
touches what is in row ``i`` from column ``i`` on, and in column ``i`` from row ``i`` on, as where a symmetric matrix is
filled. Where the counter is counted by more than one, that many rows are an iteration's own: ``x[i : i + 8]`` for every
eighth ``i``. So it makes no difference in which order iterations are done, or whether at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, TypeAlias

from ...analysis.induction import Induction, constant_step, inductions
from ...analysis.observable import has_effect
from ...analysis.uses import place_of
from ...base.dataclass import dataclass
from ...base.dtypes import variant
from ...ir.graph import Graph, Node
from ...ir.structured import COND, WHILE
from ...ir.tensor import Tensor
from ...ops.arithmetic import ADD
from ...ops.index import Input, Slice
from ...ops.indexing import GETITEM, SET_ITEM
from .facts import Types
from .intervals import COUNTED, Sum, interval, sum_of
from .moving_extents import entries_of

#: what an iteration touches: along which axes which places, from the first behind the counter to the one behind the
#: last, the axes along which it is from the counter on, and those along which it is read before the first index of all
Touched: TypeAlias = tuple[dict[int, tuple[int, int]], frozenset[int], frozenset[int]]


@dataclass(frozen=True)
class Independent:
    """A loop whose iterations are independent.

    Attributes
    ----------
    ends : tuple of Induction
        The tests of its condition: it ends when the first of them fails.
    counters : dict of int to int
        The variables that are counted by a constant -> which.
    arrays : tuple of int
        The other variables.
    """

    ends: tuple[Induction, ...]
    counters: dict[int, int]
    arrays: tuple[int, ...]


def independent(loop: Node, types: Types, around: Sequence[Node]) -> Independent | None:
    """Return what is known of ``loop``, in the bodies of the loops ``around``, if its iterations are independent."""
    cond, body, count = loop.attrs["cond"], loop.attrs["body"], loop.attrs["n_vars"]
    tests = tuple(inductions(loop, types))
    tested = {found.test for found in tests}
    if not tests or any(n not in tested and n.inputs for n in cond.nodes) or cond.outputs[0].node not in tested:
        return None
    if not all(found.ends and found.dtype.kind == "i" for found in tests):
        return None
    if any(map(has_effect, body.nodes)) or any(n.control_inputs for n in body.nodes):
        return None
    counters = {k: step for k in range(count) if (step := constant_step(loop, k, types)) is not None}
    arrays = tuple([k for k in range(count) if k not in counters])
    forms = [body.inputs[k] for k in arrays]
    if any(t.dtype == variant or types.shapes.get(t, ()) == () for t in forms):
        return None
    changed = [k for k in arrays if body.outputs[k] is not body.inputs[k]]
    for test in tests:
        for index in _indices(body, test.variable, types):
            found = interval(index, types, [*around, loop])
            if found is None or found[0] < 0:
                continue
            begin = _first(loop, index, test, types)
            if _apart(body, changed, _Versions(index, found[0], types, begin), abs(test.step)):
                return Independent(tests, counters, arrays)
    return None


def _indices(body: Graph, k: int, types: Types) -> Iterator[Tensor]:
    """Yield the integers of ``body`` that differ from the counter ``k`` by what is the same in all iterations."""
    counter = body.inputs[k]
    yield counter
    for node in body.nodes:
        if node.op is ADD and any(t is counter for t in node.inputs):
            others = [t for t in node.inputs if t is not counter]
            if all(t in types.outside or t in types.constants for t in others) and others:
                yield node.outputs[0]


def _first(loop: Node, index: Tensor, test: Induction, types: Types) -> Sum | None:
    """Return the first value of ``index``, see ``_indices``, if it is the least and that is known."""
    base, added = sum_of(loop.inputs[test.variable], types)
    counter = loop.attrs["body"].inputs[test.variable]
    if test.step < 0:
        return None
    if index is counter:
        return base, added
    other = next(t for t in index.op.inputs if t is not counter)
    more, also = sum_of(other, types)
    if index.dtype != COUNTED or (base is not None and more is not None):
        return None
    return more if base is None else base, added + also


def _apart(body: Graph, arrays: Sequence[int], found: _Versions, step: int) -> bool:
    """Return whether iterations touch different parts of the variables ``arrays``, as the counter differs by ``step``
    or more."""
    found.of.update((body.inputs[k], k) for k in arrays)
    if not found.follow(body):
        return False
    ends = [found.of.get(tensor) for tensor in body.outputs]
    return [k for k in ends if k is not None] == list(arrays) and all(
        ends[k] == k and (k not in found.touched or _disjoint(found.touched[k], step)) for k in arrays
    )


def _disjoint(touched: Sequence[Touched], step: int) -> bool:
    """Return whether what is touched with one index is never touched with another, ``step`` or more from it."""
    at = [places for places, _, _ in touched]
    within = {axis: [places[axis] for places in at if axis in places] for axis in frozenset[int]().union(*at)}
    if any(len(all_) == len(at) and _width(all_) <= step for all_ in within.values()):
        return True
    for axis, all_ in within.items():
        # what is read before the first of all indices is written by none
        behind = _width(all_) <= step and all(a >= 0 for a, _ in all_)
        if behind and all(axis in places or axis in before for places, _, before in touched):
            return True
    axes = sorted(axis for axis, all_ in within.items() if all(a >= 0 and b <= step for a, b in all_))
    return any(
        all(
            (p in places and (q in places or q in beyond)) or (q in places and p in beyond)
            for places, beyond, _ in touched
        )
        for p, q in combinations(axes, 2)
    )


def _width(places: Sequence[tuple[int, int]]) -> int:
    return max(b for _, b in places) - min(a for a, _ in places)


class _Versions:
    """What an array becomes from one assignment to the next, and which parts of it are touched."""

    def __init__(self, index: Tensor, least: int, types: Types, first: Sum | None) -> None:
        self._index, self._least, self._types, self._first = sum_of(index, types), least, types, first
        #: the loops inside that are being looked at
        self._inside: list[Node] = []
        #: tensor -> the variable that it is a version of
        self.of: dict[Tensor, int] = {}
        self.touched: dict[int, list[Touched]] = {}

    def follow(self, graph: Graph) -> bool:
        """Go through ``graph``, of whose inputs is known which are versions; false if one is read as a whole."""
        return all(self._node(node) for node in graph.nodes if any(t in self.of for t in node.inputs))

    def _node(self, node: Node) -> bool:
        if node.op is WHILE:
            return self._while(node)
        if node.op is COND:
            return self._cond(node)
        first, *others = node.inputs
        if node.op not in (GETITEM, SET_ITEM) or first not in self.of or any(t in self.of for t in others):
            return False
        touched = self._part(node, 1 if node.op is GETITEM else 2)
        if touched is None:
            return False
        k = self.of[first]
        self.touched.setdefault(k, []).append(touched)
        if node.op is SET_ITEM:
            self.of[node.outputs[0]] = k
        return True

    def _while(self, node: Node) -> bool:
        count, cond, body = node.attrs["n_vars"], node.attrs["cond"], node.attrs["body"]
        for k, tensor in enumerate(node.inputs):
            if tensor in self.of:
                self.of[cond.inputs[k]] = self.of[body.inputs[k]] = self.of[tensor]
        self._inside.append(node)
        followed = self.follow(cond) and self.follow(body)
        self._inside.pop()
        if not followed:
            return False
        for k in range(count):
            before, after = self.of.get(body.inputs[k]), self.of.get(body.outputs[k])
            if before != after:
                return False
            if after is not None:
                self.of[node.outputs[k]] = after
        return True

    def _cond(self, node: Node) -> bool:
        branches = node.attrs["then"], node.attrs["else"]
        for branch in branches:
            for outer, inner in zip(node.inputs[1:], branch.inputs):
                if outer in self.of:
                    self.of[inner] = self.of[outer]
            if not self.follow(branch):
                return False
        if node.inputs[0] in self.of:
            return False
        for result, a, b in zip(node.outputs, *[branch.outputs for branch in branches]):
            if self.of.get(a) != self.of.get(b):
                return False
            if a in self.of:
                self.of[result] = self.of[a]
        return True

    def _part(self, node: Node, first: int) -> Touched | None:
        """Return which part ``node`` touches; ``None`` if its index is not of numbers and slices."""
        if any(self._types.shapes.get(t) != () or t.dtype.kind not in "iu" for t in node.inputs[first:]):
            return None
        places, beyond, before, axis = dict[int, tuple[int, int]](), set[int](), set[int](), 0
        for entry in entries_of(node, len(self._types.shapes[node.inputs[0]])):
            if entry is None:
                continue
            if not isinstance(entry, Slice):
                begin, end = self._within(node, first, entry)
            elif entry.step in (None, 1):
                begin, end = (self._behind(node, first, at) for at in (entry.start, entry.stop))
            else:
                begin = end = None
            if begin is not None and end is not None and self._least + begin >= 0 and begin <= end:
                places[axis] = begin, end
            elif begin is not None and begin >= 0 and isinstance(entry, Slice):
                beyond.add(axis)
            elif node.op is GETITEM and self._is_before(node, entry):
                before.add(axis)
            axis += 1
        return places, frozenset(beyond), frozenset(before)

    def _is_before(self, node: Node, entry: Any) -> bool:
        """Return whether all places that ``entry`` names are before the first index."""
        end = entry.stop if isinstance(entry, Slice) and entry.step in (None, 1) else entry
        if not isinstance(end, Input) or self._first is None:
            return False
        tensor = node.inputs[1 + end.position]
        base, added = sum_of(tensor, self._types)
        if base is not None and base is self._first[0]:
            behind = added - self._first[1] + (end is entry)
            # there is an index, which is the first one or behind it, so that the end is no number from behind
            return behind <= 0 and self._least + added - self._first[1] >= 0
        # what a loop inside counts is before where that ends
        test, limit = (None, None) if base is None else self._counted(base)
        if test is None or limit is None or test.start is None or limit[0] is not self._first[0]:
            return False
        return test.start + added >= 0 and limit[1] - 1 + added - self._first[1] + (end is entry) <= 0

    def _counted(self, counter: Tensor) -> tuple[Induction | None, Sum | None]:
        """Return how ``counter`` is counted upwards by a loop inside, and what it is less than."""
        for loop in self._inside:
            k = place_of(loop.attrs["body"].inputs[: loop.attrs["n_vars"]], counter)
            for test in inductions(loop, self._types) if k is not None else ():
                if test.variable == k and test.step > 0 and test.comparison == "<" and test.bound is not None:
                    return test, sum_of(loop.inputs[test.bound], self._types)
        return None, None

    def _within(self, node: Node, first: int, at: Any) -> tuple[int | None, int | None]:
        """Return how far behind the index the number ``at`` is at least that an index has, and the next one behind
        what it is at most."""
        begin = self._behind(node, first, at)
        if begin is not None or not isinstance(at, Input):
            return begin, None if begin is None else begin + 1
        base, added = sum_of(node.inputs[first + at.position], self._types)
        if base is not None and base.op.op is ADD and base.dtype == COUNTED:
            for one, other in (base.op.inputs, base.op.inputs[::-1]):
                origin, more = sum_of(one, self._types)
                found = interval(other, self._types, self._inside) if origin is self._index[0] else None
                if found is not None and origin is not None:
                    more += added - self._index[1]
                    return found[0] + more, found[1] + more + 1
        return None, None

    def _behind(self, node: Node, first: int, at: Any) -> int | None:
        """Return how far behind the index the number ``at`` is that an index has, if that is known."""
        if not isinstance(at, Input):
            return None
        base, added = sum_of(node.inputs[first + at.position], self._types)
        return added - self._index[1] if base is not None and base is self._index[0] else None
