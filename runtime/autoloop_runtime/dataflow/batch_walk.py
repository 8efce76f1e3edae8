"""The first runs of a batch, item by item: to write out and compile its function takes as long as many of them.

Values are in registers, one for each, with constants in their places already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, ClassVar

from ..analysis.ownership import Ownership
from .batch_doors import Doors
from .execution_plan import MISSING, calling
from .flat_graph import FlatNode, Kind, Port
from .item_code import as_scalar, is_operator
from .loop_items import Assign, Branch, Item, Run

if TYPE_CHECKING:
    from .batch_code import BatchTree

#: what an entry of a program does
ONE, TWO, MANY, SEVERAL, LIST, MOVE, CHOOSE, CLEAR = range(8)
#: what, the node, what is called, the registers of its inputs, of its results, those to be emptied
Entry = tuple[int, FlatNode | None, Any, Any, Any, Any, tuple[int, ...]]


class BatchWalk:
    """A batch that is run item by item.

    Parameters
    ----------
    tree : BatchTree
    nodes : sequence of FlatNode
        Those of the graph.
    inputs : sequence of Port
        What it is given.
    scalars : collection of Port
        The inputs that may be arrays without axes: operators are given scalars.
    owned : Ownership
    doors : Doors

    Attributes
    ----------
    results : list of int
        The registers of what it gives.
    """

    walked: ClassVar[CodeType]

    def __init__(
        self, tree: BatchTree, nodes: Sequence[FlatNode], inputs: Sequence[Port], scalars: Iterable[Port],
        owned: Ownership, doors: Doors,
    ) -> None:  # fmt: skip
        self._owned, self._doors = owned, doors
        self._nodes = nodes
        self._tree = tree
        self._numbers = {port: k for k, port in enumerate(inputs)}
        self._start: list[Any] = [MISSING] * len(inputs)
        self._inputs = len(inputs)
        #: captured scalars -> where operators find them
        self._scalars: dict[Port, int] = {}
        self._may_be_scalar = frozenset(scalars)
        self._program, _ = self._block(tree.items, set(tree.results))
        self.results = [self._number(port) for port in tree.results]
        self._predicate = None if doors.predicate is None else self._number(tree.source(doors.predicate))
        self._converted = [(self._numbers[port], k) for port, k in self._scalars.items() if port in self._numbers]

    def __call__(self, args: list[Any]) -> tuple[Any, ...]:
        """Run it; ``args`` is emptied."""
        values = self._start.copy()
        values[: self._inputs] = self._doors.spread(args)
        args.clear()
        for k, scalar in self._converted:
            values[scalar] = as_scalar(values[k])
        _walk(self._program, values)
        return self._doors.gathered([values[k] for k in self.results], self.goes_on(values))

    def goes_on(self, values: Sequence[Any]) -> Any:
        """Return the value of the condition of a loop, of which it is a turn; ``MISSING`` if it is not known."""
        return MISSING if self._predicate is None else values[self._predicate]

    # -- the program --------------------------------------------------------------------------------------

    def _number(self, port: Port) -> int:
        """Return the register of a value."""
        found = self._numbers.get(port)
        if found is not None:
            return found
        node = self._nodes[port[0]]
        return self._new(self._numbers, port, node.value if node.kind is Kind.CONST else MISSING)

    def _operand(self, port: Port) -> int:
        """Return the register of a value that an operator is given."""
        found = self._scalars.get(port)
        if found is not None:
            return found
        node = self._nodes[port[0]]
        if node.kind is Kind.CONST:
            return self._new(self._scalars, port, as_scalar(node.value))
        if port in self._may_be_scalar:
            return self._new(self._scalars, port, MISSING)
        return self._number(port)

    def _new(self, where: dict[Port, int], port: Port, value: Any) -> int:
        number = where[port] = len(self._start)
        self._start.append(value)
        return number

    def _block(self, items: Sequence[Item], after: set[Port]) -> tuple[list[Entry], set[Port]]:
        """Return the program of ``items``, and which values are used from its beginning on if ``after`` are at its
        end."""
        after = set(after)
        entries: list[Entry] = []
        for item in reversed(items):
            if isinstance(item, Run):
                entries.append(self._run(item, after))
            elif isinstance(item, Assign):
                [(to, value)] = item.pairs
                gone = self._gone([value], after | {to})
                entries.append((MOVE, None, None, self._number(value), None, self._number(to), gone))
                after.discard(to)
                after.add(value)
            else:
                assert isinstance(item, Branch)
                then, before_then = self._block(item.then, after)
                otherwise, before_else = self._block(item.otherwise, after)
                then = [*self._cleared(before_else, before_then), *then]
                otherwise = [*self._cleared(before_then, before_else), *otherwise]
                entries.append((CHOOSE, None, None, self._number(item.predicate), then, otherwise, ()))
                after = before_then | before_else | {item.predicate}
        entries.reverse()
        return entries, after

    def _run(self, item: Run, after: set[Port]) -> Entry:
        flat, op = item.flat, item.flat.op
        assert op is not None
        kernel, in_place = calling(flat, self._owned)
        number = self._operand if op.code is not None and is_operator(kernel) else self._number
        given, gone = [number(port) for port in item.inputs], self._gone(item.inputs, after)
        made = [(flat.index, k) for k in range(flat.outputs)]
        out: Any = tuple([self._number(port) for port in made]) if op.several else self._number(made[0])
        after.difference_update(made)
        after.update(item.inputs)
        if in_place:
            return LIST, flat, kernel, tuple(given), op.several, out, gone
        if op.several:
            return SEVERAL, flat, kernel, tuple(given), None, out, gone
        if len(given) == 1:
            return ONE, flat, kernel, given[0], None, out, gone
        if len(given) == 2:
            return TWO, flat, kernel, given[0], given[1], out, gone
        return MANY, flat, kernel, tuple(given), None, out, gone

    def _cleared(self, other: set[Port], own: set[Port]) -> list[Entry]:
        """Return what lets go of values that only the other branch uses."""
        gone = self._gone(sorted(other), own)
        return [(CLEAR, None, None, None, None, None, gone)] if gone else []

    def _gone(self, ports: Iterable[Port], after: set[Port]) -> tuple[int, ...]:
        """Return the registers of values that are not used any more."""
        return tuple([self._number(p) for p in ports if p not in after and self._tree.may_be_large(p)])


def _walk(program: Sequence[Entry], values: list[Any]) -> None:
    """Run a program. Who looks for the place of a failure reads the names ``entry`` and ``values``."""
    for entry in program:
        what, _, kernel, first, second, out, gone = entry
        if what == TWO:
            values[out] = kernel(values[first], values[second])
        elif what == ONE:
            values[out] = kernel(values[first])
        elif what == MANY:
            values[out] = kernel(*[values[k] for k in first])
        elif what == MOVE:
            values[out] = values[first]
        elif what == CHOOSE:
            _walk(second if values[first] else out, values)
        elif what != CLEAR:
            _walk_several(kernel, first, second, out, gone, what == LIST, values)
        for k in gone:
            values[k] = None


def _walk_several(
    kernel: Callable[..., Any], given: Sequence[int], several: bool, out: Any, gone: Sequence[int], in_place: bool,
    values: list[Any],
) -> None:  # fmt: skip
    """Run a kernel that is given a list, or gives a tuple."""
    args = [values[k] for k in given]
    if in_place:
        for k in gone:  # what nobody else has is let go of first
            values[k] = None
        made = kernel(args)
    else:
        made = kernel(*args)
    if not in_place or several:
        for k, value in zip(out, made):
            values[k] = value
    else:
        values[out] = made


#: where the place of a failure is looked for
BatchWalk.walked = _walk.__code__
