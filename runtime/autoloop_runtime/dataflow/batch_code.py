"""A batch as the source of a Python function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from ..analysis.ownership import Ownership
from .batch_doors import Doors
from .execution_plan import MISSING
from .flat_graph import FlatNode, Kind, Lowered, Port
from .item_code import ItemCode, Lines
from .loop_items import NUMBERS, Item, ItemTree
from .packed_bundles import Bundles, Layout, MachinePart, Packed, unpacked

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

    def _roots(self) -> Iterable[Item]:
        return self.items

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
    tree: BatchTree, nodes: Sequence[FlatNode], inputs: Sequence[Port], outputs: Sequence[Port], doors: Doors,
    machine: MachinePart,
) -> Callable[[list[Any]], Any] | None:  # fmt: skip
    """Return what does a batch by machine code, and gives None if that cannot; None if that was made for other
    tokens."""
    packed, fills = by_token(doors.given, inputs, machine.given), by_token(doors.made, outputs, machine.made)
    made = made_by_kernels(tree, doors, fills)
    if len(packed) < len(machine.given) or len(fills) < len(machine.made) or made != list(machine.results):
        return None
    known: dict[str, Any] = {"kernel": machine.kernel, "missing": MISSING, "Packed": Packed, "unpacked": unpacked}
    known |= {f"given{k}": one for k, one in packed.items()} | {f"made{k}": one for k, one in fills.items()}
    names, opened, place = dict[Port, str](), list[str](), 0
    for k, count in enumerate(doors.given):
        for j, port in enumerate(inputs[place : place + count]):
            names[port] = packed[k].source(f"p{k}", j) if k in packed else f"a{place + j}" if count > 1 else f"t{k}"
        place += count
        if k in packed:
            opened += [
                f"p{k} = t{k}.arrays if type(t{k}) is Packed and t{k}.layout is given{k} else given{k}.packed(t{k})",
                f"if p{k} is None:", "    return None",
            ]  # fmt: skip
        elif count > 1:
            opened.append(f"{', '.join([f'a{j}' for j in range(place - count, place)])} = unpacked(t{k})")
    args = [*[f"*p{k}" for k in packed], *[names[port] for port in machine.inputs]]
    names |= {port: f"r{k}" for k, port in enumerate(made)}
    arrays = {k: [f"q{k}_{j}" for j in range(len(one.lengths))] for k, one in fills.items()}
    bundles = {k: f"Packed(made{k}, ({', '.join(those)},))" for k, those in arrays.items()}
    results = [*[names[port] for port in made], *[name for those in arrays.values() for name in those]]
    for port in tree.results:
        node = nodes[port[0]]
        if node.kind is Kind.CONST:
            names[port] = f"c{port[0]}"
            known[names[port]] = node.value
    predicate = "" if doors.predicate is None else names[tree.source(doors.predicate)]
    given = [names.get(port, "") for port in tree.results]  # of those only bundles have there is no name
    lines = [
        f"[{', '.join([f't{k}' for k in range(len(doors.given))])}] = args",
        *opened,
        f"made = kernel({', '.join(args)})",
        "if made is None:",
        "    return None",
        f"[{', '.join(results)}] = made",
        f"return {doors.result(given, predicate, bundles)}",
    ]
    text = "\n".join(["def run(args):", *[f"    {line}" for line in lines]])
    exec(compile(text, "<autoloop batch>", "exec"), known)
    run: Callable[[list[Any]], Any] = known["run"]
    return run


def by_token(counts: Sequence[int], ports: Sequence[Port], bundles: Bundles) -> dict[int, Layout]:
    """Return how tokens are packed, by their numbers, in the order of ``bundles``."""
    starts = list(accumulate(counts, initial=0))
    numbers = {tuple(ports[start:end]): k for k, (start, end) in enumerate(pairwise(starts))}
    return {numbers[those]: layout for those, layout in bundles if those in numbers}


def made_by_kernels(tree: BatchTree, doors: Doors, packed: Container[int] = ()) -> list[Port]:
    """Return what kernels of a batch make of what it gives, but for tokens that are packed, and the condition of a loop
    of which it is a turn."""
    ports, place = list[Port](), 0
    for k, count in enumerate(doors.made):
        ports += [] if k in packed else tree.results[place : place + count]
        place += count
    ports += [] if doors.predicate is None else [tree.source(doors.predicate)]
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
