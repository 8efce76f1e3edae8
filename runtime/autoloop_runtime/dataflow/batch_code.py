"""A batch as the source of a Python function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..analysis.ownership import Ownership
from .batch_doors import Doors
from .execution_plan import MISSING
from .flat_graph import FlatNode, Kind, Lowered, Port
from .item_code import ItemCode, Lines
from .loop_items import NUMBERS, Item, ItemTree

RunBatch = Callable[[list[Any]], tuple[Any, ...]]


class BatchTree(ItemTree):
    """The tree of a batch.

    Parameters
    ----------
    lowered : Lowered
    members : collection of int
        Its nodes, in program order.
    results : sequence of Port
        What is wanted of it.

    Attributes
    ----------
    members : frozenset of int
    items : list of Item
    results : list of Port
        What made what is wanted.
    """

    def __init__(self, lowered: Lowered, members: Collection[int], results: Sequence[Port]) -> None:
        super().__init__(lowered)
        self.members = frozenset(members)
        found = [item for index in members for item in self._items(lowered.nodes[index])]
        self.items: list[Item] = self._nested(found)
        self.results = [self.source(port) for port in results]

    def _is_inside(self, node: FlatNode) -> bool:
        return node.index in self.members

    def _has_axes(self, port: Port) -> bool:
        nodes = self._lowered.nodes
        node = nodes[port[0]]
        if node.kind is Kind.CONST or self._is_inside(node):
            return super()._has_axes(port)
        return not is_scalar(nodes, port)


class BatchCode(ItemCode):
    """Writes the function of one batch.

    Parameters
    ----------
    lowered : Lowered
    tree : BatchTree
    inputs : sequence of Port
    owned : Ownership
    doors : Doors

    Attributes
    ----------
    source : str
    places : dict of int to FlatNode
        Line -> the node whose kernel it calls.
    names : list of str
        The variables that have the results.
    predicate : str
        The variable that has the condition of a loop, of which it is a turn.
    """

    def __init__(
        self, lowered: Lowered, tree: BatchTree, inputs: Sequence[Port], owned: Ownership, doors: Doors
    ) -> None:  # fmt: skip
        super().__init__(lowered, tree, owned, inputs)
        self._globals["missing"] = MISSING
        lines, _ = self._block(tree.items, set(tree.results), 1)
        names = doors.target(list(self._captured.values()))
        first: Lines = [(0, "def run(args):", None), (1, f"{names} = args", None), (1, "args.clear()", None)]
        self.names = [self._name(port) for port in tree.results]
        self.predicate = "" if doors.predicate is None else self._name(tree.source(doors.predicate))
        last = doors.result(self.names, self.predicate)
        self.source, self.places = self._finished(first, [*lines, (1, f"return {last}", None)])

    def compile(self, batch: object) -> RunBatch:
        """Return ``run(args)``, which empties ``args``; a global ``batch`` tells whose it is."""
        self._globals["batch"] = batch
        exec(compile(self.source, "<autoloop batch>", "exec"), self._globals)
        made: RunBatch = self._globals["run"]
        return made

    def _is_captured_scalar(self, port: Port) -> bool:
        return port in self._captured and is_scalar(self._nodes, port)


def machine_code(
    tree: BatchTree, nodes: Sequence[FlatNode], inputs: Sequence[Port], doors: Doors, kernel: Callable[..., Any],
    places: Sequence[int],
) -> Callable[[list[Any]], Any]:  # fmt: skip
    """Return what does a batch by ``kernel``, which is given the values at ``places`` of those that the batch is given,
    and gives those of ``made_by_kernels``, or None."""
    names = {port: f"a{k}" for k, port in enumerate(inputs)}
    made = made_by_kernels(tree, doors)
    names |= {port: f"r{k}" for k, port in enumerate(made)}
    known: dict[str, Any] = {"kernel": kernel, "missing": MISSING}
    for port in tree.results:
        node = nodes[port[0]]
        if node.kind is Kind.CONST:
            names[port] = f"c{port[0]}"
            known[names[port]] = node.value
    predicate = "" if doors.predicate is None else names[tree.source(doors.predicate)]
    lines = [
        "def run(args):",
        f"    {doors.target([f'a{k}' for k in range(len(inputs))])} = args",
        f"    made = kernel({', '.join([f'a{k}' for k in places])})",
        "    if made is None:",
        "        return None",
        f"    [{', '.join([names[port] for port in made])}] = made",
        f"    return {doors.result([names[port] for port in tree.results], predicate)}",
    ]
    exec(compile("\n".join(lines), "<autoloop batch>", "exec"), known)
    run: Callable[[list[Any]], Any] = known["run"]
    return run


def made_by_kernels(tree: BatchTree, doors: Doors) -> list[Port]:
    """Return what kernels of a batch make of what it gives, and the condition of a loop of which it is a turn."""
    ports = [*tree.results, *([] if doors.predicate is None else [tree.source(doors.predicate)])]
    return sorted({port for port in ports if port[0] in tree.members})


def is_scalar(nodes: Sequence[FlatNode], port: Port) -> bool:
    """Return whether a value starts as a number without axes; what loops and branches hand on is where it starts."""
    node = nodes[port[0]]
    while node.kind in _HANDING_ON:
        port = node.inputs[0]
        node = nodes[port[0]]
    source = node.source
    is_known = (node.kind is Kind.KERNEL and source is not None and node.op is source.op) or (
        node.kind is Kind.FEED and source is not None and len(source.outputs) == 1
    )
    if not is_known or source is None:
        return False
    tensor = source.outputs[port[1]]
    return tensor.shape.rank == 0 and tensor.dtype.kind in NUMBERS


_HANDING_ON = (Kind.SWITCH, Kind.MERGE, Kind.ENTER, Kind.EXIT, Kind.IDENTITY, Kind.LOOP_COND)
