"""Names of extents that only the run decides: two with the same name are the same number, whatever it is.

``x[:, i:]`` has so many columns as ``x[i:, i]`` has rows where ``x`` is square, and what is computed of them element by
element has as many. A gradient of such a part needs no look at the shape that it is summed to, which a loop would have
to save in each iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.node import Node
from ..ir.op import Op, function
from ..ir.tensor import Tensor
from .array import EXPAND, RESHAPE, TRANSPOSE
from .identities import COPIED, IDENTITY, STOP_GRADIENT
from .index import Index, Input, Slice, spelled_out
from .indexing import GETITEM
from .linalg import DOT, MATMUL, SQUARES

#: an extent: the number, or what tells it from others
Name = Any
Names = tuple[Name, ...]
#: from the names of the extents of the operands, None where even their number is not known, to those of the result
Rule = Callable[[Node, Callable[[Tensor], "Names | None"]], "Names | None"]

#: so many nodes are gone back at most
_MOST = 64


def names_of(tensor: Tensor) -> Names | None:
    """Return the names of the extents of ``tensor``; None if it is not known how many it has."""
    return _Naming().of(tensor)


def is_ragged(tensor: Tensor) -> bool:
    """Return whether an extent of ``tensor`` is as large as the computed ends of a slice say."""
    names = () if tensor.shape.is_fully_defined() else names_of(tensor)
    return any(map(_has_computed_ends, names or ()))


def _has_computed_ends(name: Name) -> bool:
    if not isinstance(name, tuple) or name[0] != "slice":
        return False
    return any(isinstance(end, tuple) for end in name[2:]) or _has_computed_ends(name[1])


def part_names(
    x: Tensor, index: Index, inputs: Sequence[Tensor], of: Callable[[Tensor], Names | None] = names_of
) -> Names | None:
    """Return the names of the extents of ``x[index]``; None if arrays choose the elements."""
    full = of(x)
    if full is None or any(t.shape.rank != 0 or t.dtype.kind == "b" for t in inputs):
        return None
    out: list[Name] = []
    axis = 0
    for entry in spelled_out(index.entries, x.shape, inputs):
        if entry is None:
            out.append(1)
            continue
        if isinstance(entry, Slice):
            ends = [_end(part, inputs) for part in (entry.start, entry.stop, entry.step)]
            out.append(_taken(full[axis], ends))
        axis += 1
    return tuple(out)


def _same(node: Node, of: Callable[[Tensor], Names | None]) -> Names | None:
    """Return the names of what is as large as the first operand."""
    return of(node.inputs[0])


class _Naming:
    """One question: what was named is named once."""

    def __init__(self) -> None:
        self._known: dict[Tensor, Names | None] = {}

    def of(self, tensor: Tensor) -> Names | None:
        if tensor.shape.rank is None:
            return None
        known = tensor.shape.known
        if None not in known:
            return known
        if tensor not in self._known:
            self._known[tensor] = own = tuple([("of", id(tensor), k) if n is None else n for k, n in enumerate(known)])
            made = self._made(tensor) if len(self._known) < _MOST else None
            if made is not None and len(made) == len(own):
                self._known[tensor] = tuple([m if n is None else n for m, n in zip(made, known)])
        return self._known[tensor]

    def _made(self, tensor: Tensor) -> Names | None:
        node = tensor.node
        if node is None or tensor.is_feedable:
            return None
        rule = _RULES.get(node.op)
        if rule is None and node.op.traits.elementwise and not node.op.stateful:
            rule = _broadcast
        return None if rule is None else rule(node, self.of)


def _broadcast(node: Node, of: Callable[[Tensor], Names | None]) -> Names | None:
    operands = [of(t) for t in node.operands]
    rank = max(len(one or ()) for one in operands)
    out: list[Name] = []
    for k in range(rank):
        there = {one[k - rank] for one in operands if one is not None and len(one) >= rank - k} - {1}
        if len(there) != 1:
            return None
        out += there
    return None if any(one is None for one in operands) else tuple(out)


def _taken(extent: Name, ends: list[Any]) -> Name:
    if all(end is None for end in ends):
        return extent
    if all(end is None or type(end) is int for end in ends) and type(extent) is int:
        return len(range(*slice(*ends).indices(extent)))
    start, stop, step = ends
    if step in (None, 1):
        start, step = start or None, None
    return "slice", extent, start, stop, step


def _end(part: Any, inputs: Sequence[Tensor]) -> Any:
    return _value(inputs[part.position], 0) if isinstance(part, Input) else part


def _value(tensor: Tensor, depth: int) -> Any:
    """Return what tells a number from others: itself, how it is computed, or which tensor of a graph that keeps it."""
    known = tensor.fixed_value()
    if known is not None:
        return int(known)
    node = tensor.node
    if node is None or depth > 4 or tensor.is_feedable or not node.op.traits.elementwise or node.op.stateful:
        return "of", id(tensor)
    if node.attrs or tensor.dtype.kind not in "iu":
        return "of", id(tensor)
    return node.op, tensor.dtype, *[_value(t, depth + 1) for t in node.operands]


def _reshape_names(node: Node, of: Callable[[Tensor], Names | None]) -> Names | None:
    """Return the names of one row that becomes a column, or the other way round."""
    names, known = of(node.inputs[0]), node.attrs["known"]
    if names is None or known is None or known.count(-1) != 1 or any(n not in (1, -1) for n in known):
        return None
    there = [n for n in names if n != 1]
    return tuple([there[0] if n == -1 else n for n in known]) if len(there) == 1 else None


def _expand_names(node: Node, of: Callable[[Tensor], Names | None]) -> Names | None:
    names, axes = of(node.inputs[0]), node.attrs["axis"]
    if names is None:
        return None
    rank, rest = len(names) + len(axes), iter(names)
    new = [a % rank for a in axes]
    return tuple([1 if a in new else next(rest) for a in range(rank)])


def _transpose_names(node: Node, of: Callable[[Tensor], Names | None]) -> Names | None:
    names, axes = of(node.inputs[0]), node.attrs["axes"]
    return names if names is None else names[::-1] if axes is None else tuple([names[a] for a in axes])


def _matmul_names(node: Node, of: Callable[[Tensor], Names | None]) -> Names | None:
    a, b = map(of, node.inputs)
    if a is None or b is None or max(len(a), len(b)) > 2:
        return None
    return *a[:-1], *b[1:]


_RULES: dict[Op, Rule] = {
    GETITEM: lambda node, of: part_names(node.inputs[0], node.attrs["index"], node.inputs[1:], of),
    RESHAPE: _reshape_names,
    EXPAND: _expand_names,
    TRANSPOSE: _transpose_names,
    **dict.fromkeys((MATMUL, DOT), _matmul_names),
    SQUARES: lambda node, of: (),
    **dict.fromkeys((IDENTITY, COPIED, STOP_GRADIENT), _same),
}

function("names_of", names_of)
function("part_names", part_names)
