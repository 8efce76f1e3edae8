"""Recurrences of one loop of which one feeds another, as stages that hand values on (decoupled software pipelining).

By hand one would give each of them a thread: the first goes ahead and hands its values to the second through a queue.
A stage is a circle of nodes, by iteration, in which a kernel takes long, or such a kernel by itself; what takes little
goes with the last of what it comes of. Stages are in order: values go from earlier to later ones only. What the
condition needs is made in each of them, if it takes little; else it is a value that the stage which makes it hands on,
and decides for all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from ..base.dataclass import dataclass
from .flat_graph import FlatNode, Kind, Lowered, Port, nanoseconds, reached
from .loop_items import LoopTree
from .overlap import overlapping


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a loop.

    Attributes
    ----------
    nodes : frozenset of int
        Those that it has, some of which others may have, too.
    given : tuple of Port
        What stages before it hand on.
    predicate : Port or None
        Which of them is the condition of the loop.
    """

    nodes: frozenset[int]
    given: tuple[Port, ...]
    predicate: Port | None


def stages_of(lowered: Lowered, frame: int, own: Collection[int], heavy: Collection[int]) -> list[Stage] | None:
    """Return the stages of a loop, or of some nodes of it that need no others; None if it is better left as it is.

    Parameters
    ----------
    lowered : Lowered
    frame : int
    own : collection of int
    heavy : collection of int
        Kernels that are worth another thread.
    """
    found = _Stages(lowered.nodes, own, heavy)
    if found.count < 2 or not found.is_as_fast():
        return None
    for k in range(found.count):
        together = {index for index in found.of(k) if index in heavy}
        if len(together) > 1 and overlapping(lowered, together):
            return None
    tree, stages = LoopTree(lowered, frame), [found.stage(k) for k in range(found.count)]
    root = ((found.condition, 0), 1)
    for stage in stages:
        if stage is None or any(tree.guard(port) != (root,) for port in stage.given if port != stage.predicate):
            return None  # one of a branch may not be there
    return [stage for stage in stages if stage is not None]


class _Stages:
    """Which stage each node is of, but for those that each stage makes for itself.

    Attributes
    ----------
    count : int
    condition : int
        The LoopCond.
    """

    def __init__(self, nodes: Sequence[FlatNode], own: Collection[int], heavy: Collection[int]) -> None:
        self._nodes, self._own = nodes, set(own)
        self.condition = next(k for k in own if nodes[k].kind is Kind.LOOP_COND)
        behind = self._behind({k for k in own if k in heavy})
        self._copied = {k for k in behind if self._is_handed_on(nodes[k])}
        self.at = dict[int, int]()
        #: nanoseconds of each stage, and whether it goes in a circle
        self._times = list[tuple[float, bool]]()
        for circle in circles({k: [b for b in self._before(k) if b in behind] for k in sorted(behind)}):
            self._place(circle, heavy)
        self.count = len(self._times)

    def _place(self, circle: list[int], heavy: Collection[int]) -> None:
        """Say which stage nodes are of that need each other; those before it have theirs."""
        long = [k for k in circle if k in heavy]
        before = [self.at[b] for k in circle for b in self._before(k) if b in self.at]
        if long:
            is_circle = len(circle) > 1
            self._times.append((sum([nanoseconds(self._nodes[k]) for k in long]), is_circle))
        elif len(circle) == 1 and circle[0] in self._copied:
            # whoever needs it has it; for those behind it, it is where what it comes of is
            self.at[circle[0]] = max(before, default=0)
            return
        place = len(self._times) - 1 if long else max(before, default=0)
        self._copied.difference_update(circle)
        self.at.update(dict.fromkeys(circle, place))

    def is_as_fast(self) -> bool:
        """Return whether what could run in several iterations at once, and as a stage does not, is never waited for:
        a circle takes as long."""
        longest = max([time for time, is_circle in self._times if is_circle], default=0.0)
        return all(time <= longest for time, is_circle in self._times if not is_circle)

    def of(self, stage: int) -> set[int]:
        """Return the nodes of a stage that no other one has."""
        return {k for k, at in self.at.items() if at == stage and k not in self._copied}

    def stage(self, number: int) -> Stage | None:
        """Return a stage with all that it needs; None if it would have to wait for what hands on no value."""
        nodes, mine = self._nodes, self.of(number)
        roots = [*mine, self.condition]
        if not number:  # what ends with what takes little, of which there is nothing else here
            roots += [k for k in self._own if nodes[k].kind is Kind.EXIT and k not in self.at]
        todo, found, given, predicate = roots, set[int](), dict[Port, None](), None
        while todo:
            k = todo.pop()
            if k in found:
                continue
            found.add(k)
            for port in self._needs(k):
                index = port[0]
                if index in mine or index not in self.at or index in self._copied or index == self.condition:
                    todo.append(index)
                    continue
                if port not in nodes[k].inputs:
                    return None
                given[port] = None
                if k == self.condition:
                    predicate = port
        return Stage(frozenset(found), tuple(given), predicate)

    def _needs(self, k: int) -> Sequence[Port]:
        """Return what a node needs inside the loop."""
        node = self._nodes[k]
        if node.kind is Kind.ENTER:
            return ()
        return [port for port in (*node.inputs, *node.controls) if port[0] in self._own]

    def _before(self, k: int) -> Iterator[int]:
        return (index for index, _ in self._needs(k))

    def _behind(self, roots: set[int]) -> set[int]:
        """Return some nodes, and all that need them."""
        users = defaultdict[int, list[int]](list)
        for k in self._own:
            for before in self._before(k):
                users[before].append(k)
        return reached(roots, users.__getitem__)

    def _is_handed_on(self, node: FlatNode) -> bool:
        """Return whether a node only hands on what it is given, in a branch, or as a sign that the loop goes on."""
        if node.kind is not Kind.SWITCH:
            return False
        return node.inputs[1][0] != self.condition or node.inputs[0][0] == self.condition


def circles(before: Mapping[int, Sequence[int]]) -> Iterator[list[int]]:
    """Yield nodes that need each other, those that others need before them (Tarjan's strongly connected components).

    ``before``: what each node needs.
    """
    number, least = dict[int, int](), dict[int, int]()
    path, on_path = list[int](), set[int]()
    for root in before:
        todo = [] if root in number else [(root, iter(before[root]))]
        if todo:
            number[root] = least[root] = len(number)
            path.append(root)
            on_path.add(root)
        while todo:
            k, rest = todo[-1]
            nearest = next(rest, None)
            if nearest is None:
                todo.pop()
                if todo:
                    least[todo[-1][0]] = min(least[todo[-1][0]], least[k])
                if least[k] == number[k]:
                    circle = [path.pop()]
                    while circle[-1] != k:
                        circle.append(path.pop())
                    on_path.difference_update(circle)
                    yield circle
            elif nearest not in number:
                number[nearest] = least[nearest] = len(number)
                path.append(nearest)
                on_path.add(nearest)
                todo.append((nearest, iter(before[nearest])))
            elif nearest in on_path:
                least[k] = min(least[k], number[nearest])
