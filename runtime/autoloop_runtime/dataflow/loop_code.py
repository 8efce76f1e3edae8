"""The tree of a whole loop as the source of a Python function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from types import CodeType, MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.ownership import Ownership
from ..base.forks import undivided
from ..ir.run_state import RunState
from .flat_graph import FlatNode, Kind, Lowered, Port
from .gradient_products import Weights, product_by_weights
from .item_code import ItemCode, Lines, as_scalar
from .kernels import Unwanted
from .loop_items import Loop, LoopTree, Part, used_inside

if TYPE_CHECKING:
    from ..base.odometers import Turning
    from .batches import Machine

#: nanoseconds after which machine code comes back, and an operation in it takes, roughly
CHUNK, OPERATION = 50_000, 2
RunLoop = Callable[[list[Any], int, RunState, "Turning | None"], tuple[Any, ...]]


class LoopCode(ItemCode):
    """Writes the function of one loop.

    Parameters
    ----------
    lowered : Lowered
    tree : LoopTree
    owned : Ownership
    machine : mapping
        What does iterations otherwise, see ``loop_pieces``.

    Attributes
    ----------
    source : str
    places : dict of int to FlatNode
        Line -> the node whose kernel it calls.
    """

    def __init__(
        self, lowered: Lowered, tree: LoopTree, owned: Ownership, machine: Machine = MappingProxyType({})
    ) -> None:  # fmt: skip
        self._frames, self._members, self._machine = lowered.frames, tree.members, machine
        variables = len(tree.loop.enter)
        super().__init__(lowered, tree, owned, tree.inputs[variables:])
        #: captured arrays that machine code is given
        self._ordered: dict[Port, str] = {}
        #: captured matrices that products are given
        self._weights: dict[Port, str] = {}
        self._globals |= {"count": count, "counted": counted, "Unwanted": Unwanted, "ordered": ordered}
        self._globals["Weights"] = Weights
        loop = self._with_parts(tree) if machine else tree.loop
        lines, _ = self._loop(loop, set(tree.results), 1)
        names = [*[self._name(port) for port, _ in loop.enter], *self._captured.values()]
        first = self._head(names)
        first += [(1, f"{name} = ordered({self._captured[port]})", None) for port, name in self._ordered.items()]
        first += [(1, f"{name} = Weights({self._captured[port]})", None) for port, name in self._weights.items()]
        last = "".join([f"{self._name(value)}, " for value in tree.results])
        self.source, self.places = self._finished(first, [*lines, (1, f"return ({last})", None)])

    def _head(self, names: Sequence[str]) -> Lines:
        """Return the lines that take what the function is given."""
        first = ["def run(args, start, state, odometer):", f"[{', '.join(names)}] = args", "args.clear()"]
        first.append("unwanted = getattr(args, 'unwanted', ())")
        return [(min(k, 1), text, None) for k, text in enumerate(first)]

    def _with_parts(self, tree: LoopTree) -> Loop:
        """Return the loop with parts, if machine code does any of them."""
        with undivided():
            from .loop_parts import LoopParts

        found = LoopParts(tree)
        return found.loop if any(part.key in self._machine for part in found.parts) else tree.loop

    def compile(self, loop: object) -> RunLoop:
        """Return ``run(args, start, state, odometer)``: it empties ``args``, and counts iterations from ``start``; a
        global ``loop`` tells whose it is."""
        self._globals["loop"] = loop
        code: CodeType = compile(self.source, "<autoloop loop>", "exec")
        exec(code, self._globals)
        made: RunLoop = self._globals["run"]
        return made

    def _part(self, item: Part, after: set[Port], depth: int) -> tuple[Lines, set[Port]]:
        found = self._machine.get(item.key)
        # it was found where another loop was one, perhaps one in this one, and what that is given has other names here
        inputs = [] if found is None else list(map(self._items_of.source, found.inputs))
        if found is None or not all(map(self._is_known, inputs)):
            return super()._part(item, after, depth)
        k = item.key[1]
        self._globals[f"p{k}"] = found.kernel
        given = ", ".join(map(self._given, inputs))
        made = "".join([f"{self._name(port)}, " for port in item.outputs])
        by_itself, before = super()._part(item, set(after), depth + 1)
        before |= set(inputs)
        lines: Lines = [(depth, f"made{k} = p{k}({given})", None), (depth, f"if made{k} is None:", None), *by_itself]
        lines += [(depth, "else:", None), (depth + 1, f"{made} = made{k}", None)]
        lines += [*self._dropped(inputs, after, depth), (depth, f"made{k} = None", None)]
        return lines, before

    def _is_known(self, port: Port) -> bool:
        """Return whether there is a value of this loop, or one that it is given."""
        node = self._nodes[port[0]]
        return port in self._captured or node.kind is Kind.CONST or node.frame in self._members

    def _given(self, port: Port) -> str:
        """Return the name of a value that machine code is given. It takes C order only: a matrix from outside, which
        may have been transposed there, is put in order once."""
        if port not in self._captured or not self._items_of.may_be_large(port):
            return self._operand(port)
        return self._ordered.setdefault(port, f"l_{self._captured[port]}")

    def _beside_array(self, port: Port) -> str:
        if port in self._captured and not self._items_of.may_be_large(port):
            return self._arrays.setdefault(port, f"z_{self._captured[port]}")
        return super()._beside_array(port)

    def _argument(self, flat: FlatNode, port: Port) -> str:
        if flat.value is not product_by_weights or port not in self._captured:
            return self._name(port)
        first, second = map(self._items_of.source, flat.inputs)
        if port != second:
            return self._name(port)
        if port == first:
            return self._given(port)
        return self._weights.setdefault(port, f"w_{self._captured[port]}")

    def _inner(self, item: Loop, after: set[Port], depth: int) -> tuple[Lines, set[Port]]:
        """Return the lines of a loop in the loop."""
        lines, top = self._loop(item, after, depth)
        lines += self._dropped(sorted(top), after, depth)
        start, before = self._assign(item.enter, top | after, depth)
        return start + lines, before

    def _loop(self, item: Loop, after: set[Port], depth: int) -> tuple[Lines, set[Port]]:
        """Return the lines of a loop whose variables are set, and which values are used from its beginning on."""
        top = after | used_inside(item)
        body, before_body = self._block(item.body, top, depth + 1)
        head, _ = self._block(item.head, before_body | after | {item.predicate}, depth + 1)
        first, asked = self._turning(item, depth)
        lines: Lines = [*first, *head]
        lines.append((depth + 1, f"if not {self._name(item.predicate)}:", None))
        lines.append((depth + 2, "break", None))
        return [*lines, *asked, *body], top

    def _turning(self, item: Loop, depth: int) -> tuple[Lines, Lines]:
        """Return the lines that count iterations, and those that ask whether the loop is wanted."""
        first = self._advanced(item, depth) if self._machine else []
        turns = "count()"
        if depth == 1 or first:
            counted = [*(["start"] if depth == 1 else []), *([f"turns{item.frame}"] if first else [])]
            turns = f"counted({' + '.join(counted)}, {'odometer' if depth == 1 else None})"
        asked: Lines = [(depth + 1, "if unwanted:", None), (depth + 2, f"raise Unwanted({item.frame})", None)]
        return [*first, (depth, f"for n{item.frame} in {turns}:", None)], asked

    def _advanced(self, item: Loop, depth: int) -> Lines:
        """Return the lines that do iterations in machine code, if there is any for a loop."""
        found = self._machine.get(tuple([node.index for node in self._members[item.frame]]))
        source, k = self._frames[item.frame].source, item.frame
        if found is None or source is None:
            return []
        kernel, ports = found.kernel, found.inputs
        operations = sum([node.kind is Kind.KERNEL for node in self._members[k]])
        advance = Advance(k, kernel, source.attrs["n_vars"], operations)
        self._globals |= {f"m{k}": kernel, f"most{k}": advance.most, f"advance{k}": advance}
        own = {port for port, _ in item.enter}
        given = [self._name(port) if port in own else self._operand(self._items_of.source(port)) for port in ports]
        made = [name if port in own else "_" for name, port in zip(given[: advance.variables], ports)]
        values = ", ".join(given)
        go_on = f"advance{k}(made{k}, unwanted, {'odometer' if depth == 1 else None}, {values})"
        return [
            (depth, f"made{k} = m{k}(most{k}, {values})", None),
            (depth, f"turns{k}, {', '.join(made)} = made{k} if made{k} and made{k}[0] < most{k} else {go_on}", None),
        ]


def counted(start: int, odometer: Turning | None) -> Iterator[int]:
    """Return what counts iterations from ``start`` on."""
    return count(start) if odometer is None else odometer.counting(start)


def ordered(value: Any) -> Any:
    """Return what machine code takes for a value: an array in C order, a scalar for an array without axes."""
    if type(value) is not np.ndarray or not value.ndim:
        return as_scalar(value)
    flags = value.flags
    return value if flags.c_contiguous and flags.aligned else np.array(value, order="C")


def at_a_time(operations: int) -> int:
    """Return how many iterations, of so many operations each, are done before a loop comes back."""
    return max(1, CHUNK // (OPERATION * operations))


class Advance:
    """Does more iterations of a loop in machine code.

    Parameters
    ----------
    frame : int
        That of the loop.
    kernel : callable
        Takes how many iterations it may do, the variables, and what the loop captures; gives how many it has done, and
        the variables; None if it cannot.
    variables : int
    operations : int
        In an iteration.

    Attributes
    ----------
    most : int64
        How many iterations it may do at a time.
    variables : int
    """

    def __init__(self, frame: int, kernel: Callable[..., Any], variables: int, operations: int) -> None:
        self._frame, self._kernel, self.variables = frame, kernel, variables
        self.most = np.int64(at_a_time(operations))

    def __call__(
        self, made: Sequence[Any] | None, unwanted: Sequence[bool], odometer: Turning | None, *values: Any
    ) -> Sequence[Any]:  # fmt: skip
        """Return how many iterations are done, and the variables as they are then.

        Parameters
        ----------
        made : sequence or None
            What the kernel gave for ``values``.
        unwanted : sequence of bool
        odometer : Turning or None
            Of the loop, if somebody looks how far it is.

        Raises
        ------
        Unwanted
            If there is anything in ``unwanted``.
        """
        most, kernel, n = self.most, self._kernel, self.variables
        if made is None:  # numbers may be arrays without axes
            values = tuple(map(as_scalar, values))
            made = kernel(most, *values)
        variables, captured, turns = values[:n], values[n:], 0
        while made is not None:
            turns, variables = turns + int(made[0]), tuple(made[1:])
            if made[0] < most:
                break
            if unwanted:
                raise Unwanted(self._frame, turns)
            if odometer is not None:
                odometer.reach(turns)
            made = kernel(most, *variables, *captured)
        return turns, *variables
