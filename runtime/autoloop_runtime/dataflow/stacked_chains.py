"""Chains that are alike and do not need each other, computed side by side: each kernel once for all of them.

A batch of whole chains calls a kernel for each node, most of which take a few microseconds, about as long as their
calls and the handing over of the interpreter. Where the chains of a batch do the same with arrays of one shape, what a
node gives is a row of an array, its *stack*, and one call computes all rows. Rows do not lie next to each other, so
NumPy's innermost loop goes over one row at a time, just as it does for the array by itself: results are the same to the
bit. Numbers that differ from chain to chain are a column.

A stack takes as much as a cache holds; of more chains it is used several times. What others want of a chain is copied
out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis.cost import ARRAY_CALL
from ..analysis.observable import is_pure
from ..analysis.ownership import Ownership
from ..base.dataclass import dataclass
from ..ops.reducing import SUM
from .flat_graph import FlatNode, Kind, Lowered, Port, nanoseconds
from .item_code import as_array, into_of
from .packed_bundles import MachinePart

#: chains that are alike, at least; of others, which may be there too, each is a stack of its own
LEAST = 4
#: numbers of a row, at least, and its bytes, at most
SHORTEST, LONGEST = 8, 1 << 17
#: bytes of a stack, about, and between two rows, at least
STACK, APART = 1 << 19, 64
#: kernels for each copy
WORTH = 3
NUMBERS = "fiu"
#: of an operand: a stack, the sums of its rows, what all chains are given, or is known; numbers of each, known or given
OWN, SUMS, SHARED, KNOWN, COLUMN, GIVEN = range(6)
#: what an operand is, and which
Operand = tuple[int, Any]


def with_stacks(
    lowered: Lowered, groups: Sequence[list[int]], owned: Ownership, machine: Mapping[tuple[int, ...], MachinePart]
) -> tuple[list[list[int]], dict[tuple[int, ...], MachinePart]]:  # fmt: skip
    """Return ``groups``, with chains that are alike apart from what follows them, and ``machine`` with what does those.

    Parameters
    ----------
    lowered : Lowered
    groups : sequence of list of int
        The nodes of each batch.
    owned : Ownership
    machine : mapping
        See ``batches.with_batches``; what is in it is left as it is.
    """
    made, parts, users = dict(machine), list[list[int]](), dict[int, list[int]]()
    for group in groups:
        rows = [] if tuple(group) in made else _rows(lowered.nodes, group, owned)
        if len(rows) >= 2 * LEAST:
            users = users or _users(lowered)
            part = _part(lowered, rows, users)
            if part is not None:
                made[tuple(rows)] = part
                parts.append(rows)
                group = sorted(set(group).difference(rows))
        parts += [group] if group else []
    return sorted(parts), made


def _rows(nodes: Sequence[FlatNode], group: Sequence[int], owned: Ownership) -> list[int]:
    """Return the nodes of a batch that may be rows, and wait for no others of it."""
    if not _may_be_row(nodes[group[0]], owned) or any(nodes[k].kind is not Kind.KERNEL for k in group):
        return []
    own, rows, others = set(group), list[int](), set[int]()
    for k in group:
        waits = any(port[0] in others for port in nodes[k].inputs + nodes[k].controls)
        if waits or not _may_be_row(nodes[k], owned) or not _fits(nodes, nodes[k], own):
            others.add(k)
        else:
            rows.append(k)
    return rows


def _users(lowered: Lowered) -> dict[int, list[int]]:
    """Return who wants what each node makes, -1 for those who fetch it."""
    found: dict[int, list[int]] = {}
    for place, node in enumerate(lowered.nodes):
        for index, _ in node.inputs + node.controls:
            found.setdefault(index, []).append(place)
    for index, _ in lowered.fetches:
        found.setdefault(index, []).append(-1)
    return found


def _part(lowered: Lowered, rows: Sequence[int], users: Mapping[int, Sequence[int]]) -> MachinePart | None:
    """Return what computes them; None if most of them are not of chains that are alike."""
    nodes, own = lowered.nodes, set(rows)
    alike: dict[Any, list[list[int]]] = {}
    for chain in _chains(nodes, rows):
        alike.setdefault(_form(nodes, chain, own), []).append(chain)
    if 2 * sum([len(chain) for chains in alike.values() if len(chains) >= LEAST for chain in chains]) < len(rows):
        return None
    leaving = [k for k in rows if any(user not in own for user in users.get(k, ()))]
    inputs = [p for p in dict.fromkeys([p for k in rows for p in nodes[k].inputs]) if _is_given(nodes, p, own)]
    places = {port: k for k, port in enumerate(inputs)}, {k: place for place, k in enumerate(leaving)}
    stacks = [Stacks(nodes, chains, *places) for chains in alike.values()]
    if any(one.is_stack and WORTH * one.copies > len(one.program) for one in stacks):
        return None
    times = [time for one in stacks for time in one.times()]
    arrays = [k for k, port in enumerate(inputs) if any(port in one.arrays for one in stacks)]
    kernel = SideBySide(stacks, arrays, len(leaving))
    return MachinePart(kernel, inputs, [(k, 0) for k in leaving], times=times)


def _may_be_row(flat: FlatNode, owned: Ownership) -> bool:
    """Return whether a node may be one of those that are computed together."""
    node = flat.source
    if node is None or node.op is not flat.op or flat.value is not None or flat.controls or not is_pure(node):
        return False
    made, given = node.outputs[0], node.inputs[0] if node.inputs else node.outputs[0]
    if flat.outputs != 1 or node in owned.in_place or node in owned.parts or made.dtype.kind not in NUMBERS:
        return False
    row = given if node.op is SUM else made
    if not row.shape.is_fully_defined() or not row.shape.rank or not row.dtype.isnative or row.dtype.itemsize < 4:
        return False
    size = row.shape.num_elements() or 0
    if size < SHORTEST or size * row.dtype.itemsize > LONGEST:
        return False
    if node.op is SUM:
        return row.shape.rank == 1 and made.shape.rank == 0 and made.dtype == row.dtype
    ufunc = into_of(flat)
    return node.op.taking is None and ufunc is not None and ufunc.signature is None and ufunc.nout == 1


def _fits(nodes: Sequence[FlatNode], flat: FlatNode, own: set[int]) -> bool:
    """Return whether rows of the chains' own are not stretched, other arrays lie in order, and what is summed up is a
    row."""
    source = flat.source
    assert source is not None
    for port, tensor in zip(flat.inputs, source.inputs):
        if source.op is SUM and port[0] not in own:
            return False
        if port[0] in own:
            if source.op is not SUM and tensor.shape.rank and tensor.shape != source.outputs[0].shape:
                return False
        elif nodes[port[0]].kind is Kind.CONST and not as_array(nodes[port[0]].value).flags.c_contiguous:
            return False
    return True


def _chains(nodes: Sequence[FlatNode], group: Sequence[int]) -> Iterator[list[int]]:
    """Yield the nodes of a batch that hang together, by that."""
    above = {k: k for k in group}

    def top(k: int) -> int:
        while above[k] != k:
            above[k] = k = above[above[k]]
        return k

    for k in group:
        for index, _ in nodes[k].inputs:
            if index in above:
                above[top(k)] = top(index)
    chains: dict[int, list[int]] = {}
    for k in group:
        chains.setdefault(top(k), []).append(k)
    yield from chains.values()


def _form(nodes: Sequence[FlatNode], chain: Sequence[int], own: set[int]) -> Any:
    """Return what is equal for chains that do the same; what they are given need not be the same."""
    places = {k: place for place, k in enumerate(chain)}
    form = list[Any]()
    for k in chain:
        source = nodes[k].source
        assert source is not None
        made, given = source.outputs[0], list[Any]()
        for port, tensor in zip(nodes[k].inputs, source.inputs):
            known = tensor.shape.as_tuple() if tensor.shape.is_fully_defined() else None
            if port[0] in own:
                given.append((places[port[0]],))
            else:
                is_number = nodes[port[0]].kind is Kind.CONST and known == ()
                given.append((is_number, tensor.dtype, known, port if known is None or known else None))
        form.append((source.op, made.dtype, made.shape.as_tuple(), tuple(given)))
    return tuple(form)


def _is_given(nodes: Sequence[FlatNode], port: Port, own: set[int]) -> bool:
    return port[0] not in own and nodes[port[0]].kind is not Kind.CONST


@dataclass(frozen=True)
class Call:
    """One call for all chains.

    Attributes
    ----------
    function : numpy.ufunc or None
        None for the sum of each row.
    operands : tuple of (what, which)
    place : int
        Which stack, or column of sums, the result is put into.
    shape : tuple of int
        Of a row.
    results : sequence of int
        Where the values of the chains are given, if they are wanted.
    nanoseconds : float
        Of a row, without the call.
    """

    function: Any
    operands: tuple[Operand, ...]
    place: int
    shape: tuple[int, ...]
    results: Sequence[int]
    nanoseconds: float


class Stacks:
    """Chains that are alike.

    Parameters
    ----------
    nodes : sequence of FlatNode
    chains : sequence of list of int
        The nodes of each.
    inputs, results : mapping
        Where the values are that they are given, and where those are put that are wanted of them.

    Attributes
    ----------
    program : list of Call
    is_stack : bool
        There are enough of them.
    copies : int
        How many rows of a chain are copied.
    arrays : set of Port
        The arrays that they are given.
    """

    def __init__(
        self, nodes: Sequence[FlatNode], chains: Sequence[Sequence[int]], inputs: Mapping[Port, int],
        results: Mapping[int, int],
    ) -> None:  # fmt: skip
        self._nodes, self._chains, self._inputs = nodes, chains, inputs
        self.is_stack = len(chains) >= LEAST
        self.copies, self.arrays = 0, set[Port]()
        self._run: Callable[..., None] | None = None
        #: what each stack is made of
        self._forms: list[tuple[np.dtype[Any], tuple[int, ...]]] = []
        self._sums = 0
        self.program = list(self._calls(results))
        widest = max([dtype.itemsize * _size(shape) for dtype, shape in self._forms], default=1)
        #: chains at a time
        self._rows = min(len(chains), max(LEAST, STACK // widest))

    def times(self) -> Iterator[float]:
        """Yield what each call takes."""
        for start in range(0, len(self._chains), self._rows):
            rows = min(self._rows, len(self._chains) - start)
            for call in self.program:
                yield ARRAY_CALL + rows * call.nanoseconds

    def _calls(self, results: Mapping[int, int]) -> Iterator[Call]:
        chain = self._chains[0]
        last = {port[0]: k for k in chain for port in self._nodes[k].inputs}
        where: dict[int, Operand] = {}
        free: list[int] = []
        for step, k in enumerate(chain):
            source, op = self._nodes[k].source, self._nodes[k].op
            assert source is not None
            slots = enumerate(self._nodes[k].inputs)
            operands = tuple([self._operand(port, step, slot, where) for slot, port in slots])
            free += [one for one in {w for what, w in operands if what == OWN} if self._ends(one, k, where, last)]
            made, places = source.outputs[0], [results[one[step]] for one in self._chains if one[step] in results]
            time = max(nanoseconds(self._nodes[k]) - ARRAY_CALL, 0.0)
            if op is SUM:
                place, self._sums = self._sums, self._sums + 1
                where[k] = SUMS, place
                yield Call(None, operands, place, (), places, time)
                continue
            form = made.dtype, made.shape.as_tuple()
            place = next((one for one in free if self._forms[one] == form), len(self._forms))
            if place < len(self._forms):
                free.remove(place)
            else:
                self._forms.append(form)
            where[k] = OWN, place
            self.copies += bool(places)
            yield Call(into_of(self._nodes[k]), operands, place, form[1], places, time)

    def _ends(self, stack: int, k: int, where: Mapping[int, Operand], last: Mapping[int, int]) -> bool:
        """Return whether a node is the last that reads what is in a stack now."""
        holder = [one for one, operand in where.items() if operand == (OWN, stack)][-1]
        return last.get(holder) == k

    def _operand(self, port: Port, step: int, slot: int, where: Mapping[int, Operand]) -> Operand:
        """Return what a call is given."""
        if port[0] in where:
            return where[port[0]]
        ports = [self._nodes[one[step]].inputs[slot] for one in self._chains]
        known = [self._nodes[p[0]].value for p in ports if self._nodes[p[0]].kind is Kind.CONST]
        if len(set(ports)) == 1:
            source = self._nodes[self._chains[0][step]].source
            if not known and source is not None and source.inputs[slot].shape.rank != 0:
                self.arrays.add(port)
            return (KNOWN, as_array(known[0])) if known else (SHARED, self._inputs[port])
        if known:
            return COLUMN, np.array(known)
        return GIVEN, [self._inputs[p] for p in ports]

    def __call__(self, values: Sequence[Any], made: list[Any]) -> None:
        """Compute what is wanted of all chains, of the values that they are given, and put it into ``made``."""
        run = self._run
        if run is None:
            run = self._run = self._compiled()  # threads may make it at one time: one is like the other
        stacks = []
        for dtype, shape in self._forms:
            width = _size(shape) * dtype.itemsize
            apart = -(-(width + APART) // APART) * APART // dtype.itemsize
            stacks.append(np.empty((self._rows, apart), dtype)[:, : _size(shape)].reshape(self._rows, *shape))
        for block, start in enumerate(range(0, len(self._chains), self._rows)):
            rows = len(self._chains) - start
            if rows < self._rows:
                stacks = [stack[:rows] for stack in stacks]
            run(values, made, block, *stacks)

    def _compiled(self) -> Callable[..., None]:
        """Return ``run(values, made, block, *stacks)``: while it is between two calls, others wait."""
        known: dict[str, Any] = {"array": np.array, "add": np.add.reduce}
        starts = range(0, len(self._chains), self._rows)
        blocks = [slice(start, min(start + self._rows, len(self._chains))) for start in starts]
        lines = [f"def run(values, made, block, {', '.join([f's{k}' for k in range(len(self._forms))])}):"]
        for number, call in enumerate(self.program):
            operands = []
            for slot, (what, which) in enumerate(call.operands):
                name, column = f"k{number}_{slot}", (-1, *(1,) * len(call.shape))
                if what == OWN:
                    operands.append(f"s{which}")
                elif what == SHARED:
                    operands.append(f"values[{which}]")
                elif what == SUMS:
                    operands.append(f"t{which}.reshape({column})")
                elif what == GIVEN:
                    known[name] = [which[part] for part in blocks]
                    operands.append(f"array([values[k] for k in {name}[block]]).reshape({column})")
                elif what == COLUMN:
                    known[name] = [which[part].reshape(column) for part in blocks]
                    operands.append(f"{name}[block]")
                else:
                    known[name] = which
                    operands.append(name)
            found = f"s{call.place}" if call.function is not None else f"t{call.place}"
            if call.function is None:
                lines.append(f"    {found} = add({operands[0]}, 1, {operands[0]}.dtype)")
            else:
                known[f"f{number}"] = call.function
                lines.append(f"    f{number}({', '.join(operands)}, {found})")
            if call.results:
                known[f"r{number}"] = [call.results[part] for part in blocks]
                row = "row" if call.function is None else "row.copy()"
                lines += [f"    for k, row in zip(r{number}[block], {found}):", f"        made[k] = {row}"]
        exec(compile("\n".join(lines), "<autoloop stacks>", "exec"), known)
        run: Callable[..., None] = known["run"]
        return run


class SideBySide:
    """What does a batch of chains.

    Parameters
    ----------
    stacks : sequence of Stacks
    arrays : sequence of int
        Which of the values that it is given may be arrays.
    results : int
        How many values it gives.
    """

    def __init__(self, stacks: Sequence[Stacks], arrays: Sequence[int], results: int) -> None:
        self._stacks, self._arrays, self._results = stacks, arrays, results

    def __call__(self, *values: Any) -> tuple[Any, ...] | None:
        """Return what is wanted; None for arrays in an order in which NumPy's loops go another way."""
        if not all(values[k].flags.c_contiguous for k in self._arrays):
            return None
        made: list[Any] = [None] * self._results
        for one in self._stacks:
            one(values, made)
        return tuple(made)


def _size(shape: Sequence[int]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size
