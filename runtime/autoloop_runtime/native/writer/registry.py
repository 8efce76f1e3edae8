"""Which ops have machine code, and what those who plan need to know of it: one entry an op, made by ``@rule``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...base.dataclass import dataclass, replace
from ...ir.graph import Node
from ...ir.op import Op
from ..typing.facts import Shape
from .elementwise_ir import has_template, is_cheap

#: nanoseconds that a node takes, from the shapes of its inputs and of its output, and those of a multiplication
Time = Callable[[Node, list[Shape], float], float]


@dataclass(frozen=True)
class Entry:
    """The machine code of an op.

    Attributes
    ----------
    write : callable
        Writes a node: (context, node, values of its inputs) -> values of its outputs, without effect tokens.
    growing : callable or None
        Likewise, of collections that grow.
    pointwise : bool
        It gives one value per element of what it broadcasts, as ops do that work element by element.
    cheap : bool
        It is as cheap to do again as to keep.
    reduces : bool
        It takes its operand as that is computed, without storing it.
    view : bool
        What the rule gives is a way to look at memory that is there, or nothing that is stored: the kernel may copy.
    partly : bool
        It touches no more elements than the smallest of its operands and its result has.
    packs : bool
        It lays out an operand anew whose rows are not contiguous.
    undecided : bool
        It fails where rounding decides; the kernel may then not.
    complexes : bool
        It is written for complex numbers, or moves elements without looking at them.
    time : callable or None
        For what takes much longer than it takes to look at its operands.
    """

    write: Callable[..., Sequence[Any]]
    growing: Callable[..., Sequence[Any]] | None = None
    pointwise: bool = False
    cheap: bool = False
    reduces: bool = False
    view: bool = False
    partly: bool = False
    packs: bool = False
    undecided: bool = False
    complexes: bool = False
    time: Time | None = None


def _unknown(*_: Any) -> Sequence[Any]:
    raise AssertionError("there is machine code for collections that grow only")


#: filled while the modules of ``rules`` are imported; what ``entry_of`` adds later is the same from each thread
_ENTRIES: dict[Op, Entry] = {}
#: what writes the ops whose rows have a template; ``pointwise`` puts its rule here as it is imported
_OF_TEMPLATES: list[Callable[..., Any]] = []


def rule(*ops: Op, **traits: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the rule of ``ops``; ``traits`` are fields of their entries."""

    def add(f: Callable[..., Any]) -> Callable[..., Any]:
        for op in ops:
            known = _ENTRIES.get(op)
            if known is not None and known.write is not _unknown:
                raise ValueError(f"op {op.name!r} has a rule already")
            growing = known.growing if known is not None else None
            _ENTRIES[op] = Entry(f, growing, **{"pointwise": op.traits.elementwise, **traits})
        return f

    return add


def growing_rule(*ops: Op) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the rule of ``ops`` on collections that grow."""

    def add(f: Callable[..., Any]) -> Callable[..., Any]:
        for op in ops:
            _ENTRIES[op] = replace(_ENTRIES.get(op, Entry(_unknown)), growing=f)
        return f

    return add


def template_rule(f: Callable[..., Any]) -> Callable[..., Any]:
    """Register the rule of all ops whose rows have a template, unless they have one of their own."""
    _OF_TEMPLATES[:] = [f]
    return f


def entry_of(op: Op) -> Entry | None:
    """Return the entry of ``op``, ``None`` if it has no machine code."""
    known = _ENTRIES.get(op)
    if known is None and has_template(op):
        known = _ENTRIES[op] = Entry(_OF_TEMPLATES[0], pointwise=True, cheap=is_cheap(op), complexes=True)
    return known
