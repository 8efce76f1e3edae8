"""A tree of items as lines of Python: one statement a kernel.

Values are local variables. One that may be large is let go of after its last use, as the slots of ``frames`` are.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..analysis.aliasing import is_fresh
from ..analysis.ownership import Ownership, overwritten
from ..ir.graph import Node
from .execution_plan import calling
from .flat_graph import FlatNode, Kind, Lowered, Port
from .loop_items import NUMBERS, Assign, Branch, Item, ItemTree, Loop, Part, Run

#: lines with their depth, and the node whose kernel they call
Lines = list[tuple[int, str, FlatNode | None]]


#: how a value is made a scalar, which it nearly always is, and an array
MADE = {
    "scalar": "scalar({0}) if type({0}) is ndarray else {0}",
    "array": "{0} if type({0}) is ndarray else array({0})",
}


#: how an operation is written whose function may be given a place for its result
_OUT = re.compile(r"np\.(\w+)\(\{0\}(?:, \{1\})?, out=\{out\}\)")
#: bytes of numbers up to which a class makes of a scalar what a conversion does
_EXACT = 8


class ItemCode:
    """Writes a function.

    Parameters
    ----------
    lowered : Lowered
    tree : ItemTree
    owned : Ownership
    captured : sequence of Port
        What it has from outside, in names of its own.
    """

    def __init__(self, lowered: Lowered, tree: ItemTree, owned: Ownership, captured: Sequence[Port]) -> None:
        self._nodes = lowered.nodes
        self._items_of = tree
        self._owned = owned
        self._globals: dict[str, Any] = {"scalar": as_scalar, "array": as_array, "ndarray": np.ndarray}
        self._captured = {port: f"a{k}" for k, port in enumerate(captured)}
        #: how many items use each value, once that is asked
        self._users: Counter[Port] | None = None
        #: captured scalars that operators are given
        self._scalars: dict[Port, str] = {}
        #: captured scalars that they are given beside arrays
        self._arrays: dict[Port, str] = {}

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
        return f"v{index}" if node.outputs == 1 and k == 0 else f"v{index}_{k}"

    def _operand(self, port: Port) -> str:
        """Return the name of a value that an operator is given: a scalar, for arrays without axes take longer."""
        node = self._nodes[port[0]]
        if node.kind is Kind.CONST:
            self._globals[f"s{port[0]}"] = as_scalar(node.value)
            return f"s{port[0]}"
        if self._is_captured_scalar(port):
            return self._scalars.setdefault(port, f"s_{self._captured[port]}")
        return self._name(port)

    def _beside_array(self, port: Port) -> str:
        """Return the name of a value that an operator is given beside an array: to make one of a scalar takes half
        as long as all the rest of a call."""
        node = self._nodes[port[0]]
        if node.kind is Kind.CONST:
            self._globals[f"z{port[0]}"] = as_array(node.value)
            return f"z{port[0]}"
        return self._name(port)

    def _own_place(self, flat: FlatNode, inputs: Sequence[Port]) -> tuple[Port | None, Callable[..., Any] | None]:
        """Return the input of a node that its result may be put into without asking who else has it, and what does
        that: an array that a kernel has just made for this one alone."""
        into = into_of(flat)
        if into is None or flat.source is None:
            return None, None
        for k in overwritten(flat.source, small=True):
            node = self._nodes[inputs[k][0]]
            if inputs[k] in self._captured or node.kind is not Kind.KERNEL or node.frame != flat.frame:
                continue
            if self._users is None:
                self._users = self._items_of.users()
            source = node.source if self._users[inputs[k]] == 1 else None
            if source is not None and source.op is node.op and is_own(source, self._owned):
                return inputs[k], into
        return None, None

    def _argument(self, flat: FlatNode, port: Port) -> str:
        """Return the name of a value that the kernel of a node is given."""
        return self._name(port)

    def _is_captured_scalar(self, port: Port) -> bool:
        """Return whether a value comes from outside, perhaps as an array without axes."""
        return port in self._captured

    def _dropped(self, ports: Iterable[Port], kept: set[Port], depth: int) -> Lines:
        """Return what lets go of values that are not used any more."""
        names = [self._name(p) for p in dict.fromkeys(ports) if p not in kept and self._items_of.may_be_large(p)]
        return [(depth, " = ".join([*names, "None"]), None)] if names else []

    # -- statements ---------------------------------------------------------------------------------------

    def _block(self, items: Sequence[Item], after: set[Port], depth: int) -> tuple[Lines, set[Port]]:
        """Return the lines of ``items``, and which values are used from their beginning on if ``after`` are at the
        end."""
        parts: list[Lines] = []
        after = set(after)
        for item in reversed(items):
            if isinstance(item, Run):
                lines = self._run(item, after, depth)
            elif isinstance(item, Assign):
                lines, after = self._assign(item.pairs, after, depth)
            elif isinstance(item, Branch):
                lines, after = self._branch(item, after, depth)
            elif isinstance(item, Part):
                lines, after = self._part(item, after, depth)
            else:
                lines, after = self._inner(item, after, depth)
            parts.append(lines)
        return [line for lines in reversed(parts) for line in lines], after

    def _run(self, item: Run, after: set[Port], depth: int) -> Lines:
        """Return the lines of a kernel; ``after`` becomes what is used from there on."""
        flat, op = item.flat, item.flat.op
        if flat.kind is Kind.BATCH:
            return self._batch(item, after, depth)
        assert op is not None
        made = [(flat.index, k) for k in range(flat.outputs)]
        inputs = item.inputs[: len(item.inputs) - op.effect]
        kernel, in_place = calling(flat, self._owned)
        dropped = self._dropped(item.inputs, after, depth)
        own, into = self._own_place(flat, inputs)
        if own is not None:
            self._globals[f"w{flat.index}"] = into
            value = f"w{flat.index}({', '.join(map(self._beside_array, inputs))}, out={self._name(own)})"
        elif op.code is not None and is_operator(kernel):
            operand = self._beside_array if _has_axes(flat) and kernel is not operator.pow else self._operand
            value = op.code.format(*map(operand, inputs))
        elif (code := None if in_place else self._inline(flat)) is not None:
            value = code.format(*map(self._name, inputs))
        else:
            self._globals[f"k{flat.index}"] = kernel
            given = [self._argument(flat, port) for port in inputs]
            value = f"k{flat.index}({', '.join([*given, *(['state=state'] * op.stateful)])})"
        targets = "".join([f"{self._name(p)}, " for p in made]) if op.several or op.effect else self._name(made[0])
        lines: Lines = [(depth, f"{targets} = {value}" if made else value, flat), *dropped]
        if in_place and own is None:  # what nobody else has is let go of first
            whole = f"o{flat.index} = [{', '.join(given)}]"
            value = f"k{flat.index}(o{flat.index}{', state=state' * op.stateful})"
            lines = [(depth, whole, None), *dropped, (depth, f"{targets} = {value}" if made else value, flat)]
        after.difference_update(made)
        after.update(item.inputs)
        return lines

    def _inline(self, flat: FlatNode) -> str | None:
        """Return the template of what Python has words for that take much less than a call of the kernel: elements and
        parts of arrays, numbers as floats, and what is handed on."""
        node = flat.source
        if node is None or node.op is not flat.op or flat.value is not None or node in self._owned.parts:
            return None
        code = None if node.op.effect or node.op.several or node.op.stateful else node.op.template(node)
        if code is None or code == "{0}" or code.startswith("{0}["):
            return code
        made, given = node.outputs[0], node.inputs[0] if len(node.inputs) == 1 else None
        if code != f"np.{made.dtype.name}({{0}})" or given is None or given.dtype.kind not in "biuf":
            return None
        self._globals[f"t{flat.index}"] = made.dtype.type
        return f"t{flat.index}({{0}})" if made.dtype.kind == "f" and given.dtype.itemsize <= _EXACT else None

    def _batch(self, item: Run, after: set[Port], depth: int) -> Lines:
        """Return the lines of a batch, which is given a list, and empties it."""
        flat = item.flat
        made = [(flat.index, k) for k in range(flat.outputs)]
        self._globals[f"k{flat.index}"] = flat.value
        dropped = self._dropped(item.inputs, after, depth)
        given = ", ".join(map(self._name, item.inputs))
        targets = "".join([f"{self._name(port)}, " for port in made])
        call = f"{targets} = k{flat.index}(o{flat.index})" if made else f"k{flat.index}(o{flat.index})"
        after.difference_update(made)
        after.update(item.inputs)
        return [(depth, f"o{flat.index} = [{given}]", None), *dropped, (depth, call, flat)]

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

    def _part(self, item: Part, after: set[Port], depth: int) -> tuple[Lines, set[Port]]:
        """Return the lines of kernels that machine code may do together."""
        return self._block(item.items, after, depth)

    def _inner(self, item: Loop, after: set[Port], depth: int) -> tuple[Lines, set[Port]]:
        """Return the lines of a loop in it."""
        raise NotImplementedError

    def _finished(self, first: Lines, lines: Lines) -> tuple[str, dict[int, FlatNode]]:
        """Return the source of the function, and which kernel each line of it calls."""
        given = [(name, self._captured[port], "scalar") for port, name in self._scalars.items()]
        given += [(name, self._captured[port], "array") for port, name in self._arrays.items()]
        made: Lines = [(1, f"{name} = {MADE[how].format(value)}", None) for name, value, how in given]
        lines = [*first, *made, *lines]
        source = "\n".join(["    " * depth + text for depth, text, _ in lines]) + "\n"
        return source, {k: flat for k, (_, _, flat) in enumerate(lines, 1) if flat is not None}


def is_own(node: Node, owned: Ownership) -> bool:
    """Return whether a kernel gives an array that nobody has seen before, none of the caller's."""
    return is_fresh(node.outputs[0]) and node.op.into is not None and node not in owned.in_place


def into_of(flat: FlatNode) -> np.ufunc | None:
    """Return NumPy's function that a kernel is, which takes a place for its result after the inputs."""
    node = flat.source
    if node is None or node.op is not flat.op or flat.value is not None or flat.attrs or node.op.into is None:
        return None
    found = _OUT.fullmatch(node.op.into)
    ufunc = None if found is None else getattr(np, found[1])
    return ufunc if isinstance(ufunc, np.ufunc) and ufunc is not np.power else None


def as_scalar(value: Any) -> Any:
    """Return a scalar for an array without axes, with which operators take much longer."""
    is_scalar = type(value) is np.ndarray and value.ndim == 0 and value.dtype.kind in NUMBERS
    return value[()] if is_scalar else value


def as_array(value: Any) -> Any:
    """Return an array without axes for a scalar."""
    return np.asarray(value) if isinstance(value, np.generic) and value.dtype.kind in NUMBERS else value


def _has_axes(flat: FlatNode) -> bool:
    """Return whether what an operator gives is known to be an array with axes."""
    source = flat.source
    return source is not None and source.op is flat.op and source.outputs[0].shape.rank not in (0, None)


def is_operator(kernel: Callable[..., Any]) -> bool:
    """Return whether a kernel is one that Python has a sign for, which takes scalars as they are."""
    return getattr(operator, getattr(kernel, "__name__", ""), None) is kernel
