"""What a whole loop does, in program order: kernels, branches and the loops in it, as a tree.

Tokens that only pass are gone: a value is named by the port that made it. What Switch, LoopCond, Identity, Enter and
Exit hand on is the value that they were given; a Merge is a variable that each way to it sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter

from ..base.dataclass import dataclass, field
from .dependence import is_loop_merge
from .flat_graph import FlatNode, Kind, Lowered, Port

#: the branches, outermost first, that a node stands in: (predicate, side)
Guard = tuple[tuple[Port, int], ...]


@dataclass(slots=True)
class Run:
    """A kernel that is called, or a batch."""

    flat: FlatNode
    inputs: tuple[Port, ...]


@dataclass(slots=True)
class Assign:
    """Variables that are given values, all at once."""

    pairs: list[tuple[Port, Port]]


@dataclass(slots=True)
class Branch:
    """A branch on a predicate."""

    predicate: Port
    otherwise: list[Item] = field(default_factory=list)
    then: list[Item] = field(default_factory=list)


@dataclass(slots=True)
class Loop:
    """A loop.

    Attributes
    ----------
    frame : int
    enter : list of (Port, Port)
        The variables, and what they start as.
    head : list of Item
        What is done before the predicate is asked.
    predicate : Port
    body : list of Item
        What is done if it is true; the end of it sets the variables.
    """

    frame: int
    enter: list[tuple[Port, Port]]
    head: list[Item]
    predicate: Port
    body: list[Item]


@dataclass(slots=True)
class Part:
    """Kernels that machine code may do together, see ``loop_parts``.

    Attributes
    ----------
    key : tuple of int
        ``PART``, and their nodes: a batch of the same nodes is given other values.
    items : list of Run
    outputs : list of Port
        What others want of what they make.
    """

    key: tuple[int, ...]
    items: list[Run]
    outputs: list[Port]


Item = Run | Assign | Branch | Loop | Part
NUMBERS = "biufc"
PART = -1
#: what makes values, or has them from outside
_MAKERS = (Kind.KERNEL, Kind.BATCH, Kind.MERGE, Kind.CONST, Kind.FEED)


def doors(lowered: Lowered, members: Sequence[FlatNode]) -> tuple[list[Port], list[FlatNode]]:
    """Return what a loop, whose own nodes are ``members``, needs from outside, first what its variables start as, then
    what it captures; and its Exits."""
    nodes = lowered.nodes
    starts = [nodes[node.inputs[0][0]].inputs[0] for node in members if is_loop_merge(node)]
    captured = dict.fromkeys([node.inputs[0] for node in members if node.constant])
    return [*starts, *captured], [node for node in members if node.kind is Kind.EXIT]


class ItemTree:
    """What some nodes do, which stand in one frame, with the loops in them.

    Parameters
    ----------
    lowered : Lowered

    Attributes
    ----------
    results : list of Port
        What is wanted of it.
    """

    results: list[Port]

    def __init__(self, lowered: Lowered) -> None:
        self._lowered = lowered
        #: what those stand under who use a port, if it is anything
        self._guards: dict[Port, Guard] = {}
        self._large: dict[Port, bool] = {}

    def _is_inside(self, node: FlatNode) -> bool:
        """Return whether a node is one of them."""
        raise NotImplementedError

    def users(self) -> Counter[Port]:
        """Return how many items use each value, what is wanted of them counting as one more."""
        return Counter([port for item in walked(self._roots()) for port in {*used_by(item)}] + self.results)

    def _roots(self) -> Iterable[Item]:
        """Return the outermost items."""
        raise NotImplementedError

    def source(self, port: Port) -> Port:
        """Return the port that made the value of ``port``: of a kernel, a Merge, a constant, or outside."""
        nodes = self._lowered.nodes
        while True:
            node = nodes[port[0]]
            if node.kind in _MAKERS or not self._is_inside(node):
                return port
            port = node.inputs[0]

    def guard(self, port: Port) -> Guard:
        """Return the branches that a value stands in."""
        return self._guards.get(port, ())

    def may_be_large(self, port: Port) -> bool:
        """Return whether a value may be an array with axes."""
        found = self._large.get(port)
        if found is None:
            self._large[port] = False  # of a variable that is only handed on: where it comes from tells
            found = self._large[port] = self._has_axes(port)
        return found

    def _has_axes(self, port: Port) -> bool:
        node = self._lowered.nodes[port[0]]
        if node.kind is Kind.MERGE:
            return any(self.may_be_large(self.source(arm)) for arm in node.inputs)
        if node.kind is not Kind.KERNEL or node.source is None or node.op is not node.source.op:
            return node.kind is not Kind.CONST
        tensor = node.source.outputs[port[1]]
        return tensor.shape.rank != 0 or tensor.dtype.kind not in NUMBERS

    def _items(self, node: FlatNode) -> list[tuple[Guard, Item]]:
        """Return the items of a node, and note what its outputs stand under."""
        ports = [] if node.kind in (Kind.ENTER, Kind.EXIT) else [*node.inputs, *node.controls]
        if node.kind is Kind.MERGE:
            return self._merge(node)
        guard = self._joined(ports) if self._guards else ()
        if guard or node.kind is Kind.SWITCH:
            for k in range(node.outputs):
                own = ((node.inputs[1], k),) if node.kind is Kind.SWITCH else ()
                self._guards[node.index, k] = guard + tuple([one for one in own if one not in guard])
        if node.kind not in (Kind.KERNEL, Kind.BATCH):
            return []
        return [(guard, Run(node, tuple([self.source(port) for port in node.inputs])))]

    def _merge(self, node: FlatNode) -> list[tuple[Guard, Item]]:
        port = (node.index, 0)
        if is_loop_merge(node):
            self._guards[port] = ()
            return []
        guards = [self._guards.get(arm, ()) for arm in node.inputs]
        self._guards[port] = common_guard(*guards)
        return [(guard, Assign([(port, self.source(arm))])) for guard, arm in zip(guards, node.inputs)]

    def _joined(self, ports: Sequence[Port]) -> Guard:
        """Return what a node with such inputs stands under: one way inwards, for branches are nested."""
        return max([self._guards.get(port, ()) for port in ports], key=len, default=())

    def _nested(self, found: Sequence[tuple[Guard, Item]]) -> list[Item]:
        """Return items as a tree of branches."""
        items: list[Item] = []
        k = 0
        while k < len(found):
            guard, item = found[k]
            if not guard:
                items.append(item)
                k += 1
                continue
            predicate, end = guard[0][0], k
            while end < len(found) and found[end][0] and found[end][0][0][0] == predicate:
                end += 1
            sides = [[(g[1:], one) for g, one in found[k:end] if g[0][1] == side] for side in (0, 1)]
            items.append(Branch(self.source(predicate), self._nested(sides[0]), self._nested(sides[1])))
            k = end
        return items


class LoopTree(ItemTree):
    """The tree of one whole loop.

    Parameters
    ----------
    lowered : Lowered
    frame : int

    Attributes
    ----------
    loop : Loop
    inputs : list of Port
        What it needs from outside: first what its variables start as, then what it captures.
    results : list of Port
        What its Exits are given.
    members : dict of int to list of FlatNode
        The nodes of it and of the loops in it, by frame.
    """

    def __init__(self, lowered: Lowered, frame: int) -> None:
        super().__init__(lowered)
        inside = {frame}
        for info in lowered.frames[frame + 1 :]:  # parents come before children
            if info.parent in inside:
                inside.add(info.index)
        self.members: dict[int, list[FlatNode]] = {k: [] for k in inside}
        for node in lowered.nodes:
            if node.frame in inside:
                self.members[node.frame].append(node)
        self._children = {k: [c for c in sorted(inside) if lowered.frames[c].parent == k] for k in inside}
        self.loop = self._loop(frame)
        self.inputs, exits = doors(lowered, self.members[frame])
        self.results = [self.source(node.inputs[0]) for node in exits]

    def _is_inside(self, node: FlatNode) -> bool:
        return node.frame in self.members

    def _roots(self) -> Iterable[Item]:
        return [self.loop]

    def _loop(self, frame: int) -> Loop:
        members = self.members[frame]
        predicate, condition = self._condition(frame)
        merges = [node for node in members if is_loop_merge(node)]
        enter = [((node.index, 0), self.source(node.inputs[0])) for node in merges]
        back = [((node.index, 0), self.source(node.inputs[1])) for node in merges]
        found: list[tuple[Guard, Item]] = []
        for place, make in sorted(self._makers(frame), key=itemgetter(0)):
            del place
            found += make()
        root = (condition, 1)
        head = [(guard, item) for guard, item in found if guard[:1] != (root,)]
        body = [(guard[1:], item) for guard, item in found if guard[:1] == (root,)]
        moved = [(to, value) for to, value in back if to != value]
        last: list[Item] = [Assign(moved)] if moved else []
        return Loop(frame, enter, self._nested(head), self.source(predicate), self._nested(body) + last)

    def _condition(self, frame: int) -> tuple[Port, Port]:
        """Return what the condition of a loop is made of, and what Switches ask for it."""
        node = next(node for node in self.members[frame] if node.kind is Kind.LOOP_COND)
        return node.inputs[0], (node.index, 0)

    def _makers(self, frame: int) -> Iterator[tuple[int, Callable[[], list[tuple[Guard, Item]]]]]:
        """Yield what makes the items of a frame, with their places in the program."""
        for node in self.members[frame]:
            if node.kind is not Kind.CONST:
                yield node.index, lambda node=node: self._items(node)  # type: ignore[misc]
        for child in self._children[frame]:
            yield self.members[child][-1].index, lambda child=child: self._child(child)  # type: ignore[misc]

    def _child(self, frame: int) -> list[tuple[Guard, Item]]:
        entering = [node.inputs[0] for node in self.members[frame] if node.kind is Kind.ENTER]
        guard, loop = self._joined(entering), self._loop(frame)
        for node in self.members[frame]:
            if node.kind is Kind.EXIT:
                self._guards[node.index, 0] = guard
        return [(guard, loop)]


def common_guard(first: Guard, second: Guard) -> Guard:
    """Return the branches that both stand in."""
    common = 0
    while common < min(len(first), len(second)) and first[common] == second[common]:
        common += 1
    return first[:common]


def used_inside(loop: Loop) -> set[Port]:
    """Return the values that are used in a loop and made before an iteration of it."""
    used, made = {loop.predicate}, set[Port]()
    for item in walked([*loop.head, *loop.body]):
        used.update(used_by(item))
        made.update(made_by(item))
    return used - (made - {to for to, _ in loop.enter})


def walked(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items and those in them."""
    todo = list(items)
    for item in todo:  # grows as it is walked
        yield item
        if isinstance(item, Branch):
            todo += [*item.otherwise, *item.then]
        elif isinstance(item, Loop):
            todo += [*item.head, *item.body]
        elif isinstance(item, Part):
            todo += item.items


def used_by(item: Item) -> Iterable[Port]:
    """Return the values that an item uses, not counting those that items in it do."""
    if isinstance(item, Run):
        return item.inputs
    if isinstance(item, Branch):
        return [item.predicate]
    if isinstance(item, Part):
        return []
    if isinstance(item, Assign):
        return [value for _, value in item.pairs]
    return [item.predicate, *[value for _, value in item.enter]]


def made_by(item: Item) -> Iterable[Port]:
    """Return the values that an item makes, not counting those that items in it do."""
    if isinstance(item, Run):
        return [(item.flat.index, k) for k in range(item.flat.outputs)]
    if isinstance(item, Assign):
        return [to for to, _ in item.pairs]
    return [to for to, _ in item.enter] if isinstance(item, Loop) else []
