"""The tree of a whole loop as the source of a Python function: one statement a kernel.

Values are local variables. One that may be large is let go of after its last use, as the slots of ``frames`` are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from types import CodeType
from typing import Any

import numpy as np

from ..analysis.ownership import Ownership
from ..ir.run_state import RunState
from .execution_plan import calling
from .flat_graph import FlatNode, Kind, Lowered, Port
from .loop_items import Assign, Branch, Item, Loop, LoopTree, Run, used_inside

_NUMBERS = "biufc"

#: lines with their depth, and the node whose kernel they call
Lines = list[tuple[int, str, FlatNode | None]]
RunLoop = Callable[[list[Any], int, RunState], tuple[Any, ...]]


class Unwanted(Exception):
    """Raised by a loop that nobody waits for any more."""


class Arguments(list[Any]):
    """The arguments of a loop; it ends when there is anything in ``unwanted``."""

    __slots__ = ("unwanted",)

    def __init__(self, values: Iterable[Any]) -> None:
        super().__init__(values)
        self.unwanted: list[bool] = []


class LoopCode:
    """Writes the function of one loop.

    Parameters
    ----------
    lowered : Lowered
    tree : LoopTree
    owned : Ownership

    Attributes
    ----------
    source : str
    places : dict of int to FlatNode
        Line -> the node whose kernel it calls.
    """

    def __init__(self, lowered: Lowered, tree: LoopTree, owned: Ownership) -> None:
        self._nodes = lowered.nodes
        self._tree = tree
        self._owned = owned
        self._globals: dict[str, Any] = {"count": count, "scalar": _scalar, "Unwanted": Unwanted}
        variables = len(tree.loop.enter)
        self._captured = {port: f"a{k}" for k, port in enumerate(tree.inputs[variables:])}
        self._large: dict[Port, bool] = {}
        #: captured scalars that operators are given
        self._scalars: dict[Port, str] = {}
        exits = set(tree.results)
        lines, _ = self._loop(tree.loop, exits, 1)
        names = [*[self._name(port) for port, _ in tree.loop.enter], *self._captured.values()]
        first: Lines = [(0, "def run(args, start, state):", None), (1, f"[{', '.join(names)}] = args", None)]
        first.append((1, "args.clear()", None))
        first.append((1, "unwanted = getattr(args, 'unwanted', ())", None))
        for port, name in self._scalars.items():
            first.append((1, f"{name} = scalar({self._captured[port]})", None))
        last = "".join([f"{self._name(value)}, " for value in tree.results])
        lines = [*first, *lines, (1, f"return ({last})", None)]
        self.source = "\n".join(["    " * depth + text for depth, text, _ in lines]) + "\n"
        self.places = {k: flat for k, (_, _, flat) in enumerate(lines, 1) if flat is not None}

    def compile(self) -> RunLoop:
        """Return ``run(args, start, state)``: it empties ``args``, and counts iterations from ``start``."""
        code: CodeType = compile(self.source, "<autoloop loop>", "exec")
        exec(code, self._globals)
        made: RunLoop = self._globals["run"]
        return made

    # -- values -------------------------------------------------------------------------------------------

    def _name(self, port: Port) -> str:
        """Return the name of a value."""
        index, k = port
        node = self._nodes[index]
        if port in self._captured:
            return self._captured[port]
        if node.kind is Kind.CONST:
            self._globals[f"c{index}"] = node.value
            return f"c{index}"
        return f"v{index}" if node.outputs == 1 else f"v{index}_{k}"

    def _operand(self, port: Port) -> str:
        """Return the name of a value that an operator is given: a scalar, for arrays without axes take longer."""
        node = self._nodes[port[0]]
        if node.kind is Kind.CONST:
            self._globals[f"s{port[0]}"] = _scalar(node.value)
            return f"s{port[0]}"
        if port in self._captured:
            return self._scalars.setdefault(port, f"s_{self._captured[port]}")
        return self._name(port)

    def _may_be_large(self, port: Port) -> bool:
        """Return whether a value may be an array with axes."""
        found = self._large.get(port)
        if found is None:
            self._large[port] = False  # of a variable that is only handed on: where it comes from tells
            found = self._large[port] = self._has_axes(port)
        return found

    def _has_axes(self, port: Port) -> bool:
        node = self._nodes[port[0]]
        if node.kind is Kind.MERGE:
            return any(self._may_be_large(self._tree.source(arm)) for arm in node.inputs)
        if node.kind is not Kind.KERNEL or node.source is None or node.op is not node.source.op:
            return node.kind is not Kind.CONST
        tensor = node.source.outputs[port[1]]
        return tensor.shape.rank != 0 or tensor.dtype.kind not in _NUMBERS

    def _dropped(self, ports: Iterable[Port], kept: set[Port], depth: int) -> Lines:
        """Return what lets go of values that are not used any more."""
        names = [self._name(p) for p in dict.fromkeys(ports) if p not in kept and self._may_be_large(p)]
        return [(depth, " = ".join([*names, "None"]), None)] if names else []

    # -- statements ---------------------------------------------------------------------------------------

    def _block(self, items: Sequence[Item], after: set[Port], depth: int) -> tuple[Lines, set[Port]]:
        """Return the lines of ``items``, and which values are used from their beginning on if ``after`` are at the
        end."""
        parts: list[Lines] = []
        for item in reversed(items):
            if isinstance(item, Run):
                lines, after = self._run(item, after, depth)
            elif isinstance(item, Assign):
                lines, after = self._assign(item.pairs, after, depth)
            elif isinstance(item, Branch):
                lines, after = self._branch(item, after, depth)
            else:
                lines, after = self._inner(item, after, depth)
            parts.append(lines)
        return [line for lines in reversed(parts) for line in lines], after

    def _run(self, item: Run, after: set[Port], depth: int) -> tuple[Lines, set[Port]]:
        flat, op = item.flat, item.flat.op
        assert op is not None
        made = [(flat.index, k) for k in range(flat.outputs)]
        inputs = item.inputs[: len(item.inputs) - op.effect]
        kernel, in_place = calling(flat, self._owned)
        dropped = self._dropped(item.inputs, after, depth)
        if op.code is not None and _is_operator(kernel):
            value = op.code.format(*[self._operand(port) for port in inputs])
        else:
            self._globals[f"k{flat.index}"] = kernel
            given = [self._name(port) for port in inputs]
            value = f"k{flat.index}({', '.join([*given, *(['state=state'] * op.stateful)])})"
        targets = "".join([f"{self._name(p)}, " for p in made]) if op.several or op.effect else self._name(made[0])
        lines: Lines = [(depth, f"{targets} = {value}" if made else value, flat), *dropped]
        if in_place:  # what nobody else has is let go of first
            whole = f"o{flat.index} = [{', '.join(given)}]"
            value = f"k{flat.index}(o{flat.index}{', state=state' * op.stateful})"
            lines = [(depth, whole, None), *dropped, (depth, f"{targets} = {value}" if made else value, flat)]
        return lines, after.difference(made).union(item.inputs)

    def _assign(self, pairs: Sequence[tuple[Port, Port]], after: set[Port], depth: int) -> tuple[Lines, set[Port]]:
        targets, values = [[self._name(p) for p in ports] for ports in zip(*pairs)]
        to, given = {p for p, _ in pairs}, [p for _, p in pairs]
        lines: Lines = [(depth, f"{', '.join(targets)} = {', '.join(values)}", None)]
        lines += self._dropped(given, after | to, depth)
        return lines, (after - to).union(given)

    def _branch(self, item: Branch, after: set[Port], depth: int) -> tuple[Lines, set[Port]]:
        then, before_then = self._block(item.then, after, depth + 1)
        otherwise, before_else = self._block(item.otherwise, after, depth + 1)
        then = self._dropped(before_else, before_then, depth + 1) + then
        otherwise = self._dropped(before_then, before_else, depth + 1) + otherwise
        lines: Lines = [(depth, f"if {self._name(item.predicate)}:", None), *(then or [(depth + 1, "pass", None)])]
        if otherwise:
            lines += [(depth, "else:", None), *otherwise]
        return lines, before_then | before_else | {item.predicate}

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
        lines: Lines = [(depth, f"for n{item.frame} in count({'start' if depth == 1 else ''}):", None), *head]
        lines.append((depth + 1, f"if not {self._name(item.predicate)}:", None))
        lines.append((depth + 2, "break", None))
        lines.append((depth + 1, "if unwanted:", None))
        lines.append((depth + 2, "raise Unwanted", None))
        return lines + body, top


def _scalar(value: Any) -> Any:
    """Return a scalar for an array without axes, with which operators take much longer."""
    is_scalar = type(value) is np.ndarray and value.ndim == 0 and value.dtype.kind in _NUMBERS
    return value[()] if is_scalar else value


def _is_operator(kernel: Callable[..., Any]) -> bool:
    """Return whether a kernel is one that Python has a sign for, which takes scalars as they are."""
    return getattr(operator, getattr(kernel, "__name__", ""), None) is kernel
