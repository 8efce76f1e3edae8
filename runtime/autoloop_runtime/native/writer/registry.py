"""Which ops have machine code, and what those who plan need to know of it: one entry an op, made by ``@rule``.

The files of ``rules`` are loaded by need: beside its row an op says which of them has its rule (``ruled_in``).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from ...base.collector import NoCollection
from ...base.dataclass import dataclass
from ...base.forks import undivided
from ...ir.graph import Node
from ...ir.op import GROWING_RULE_FILES, RULE_FILES, Op
from ..typing.facts import Shape
from .elementwise_ir import has_template, is_cheap

#: nanoseconds that a node takes, from the shapes of its inputs and of its output, and those of a multiplication
Time = Callable[[Node, list[Shape], float], float]

#: the file with the rule of all ops whose rows have a template, but for those that say another
TEMPLATES = "pointwise"
#: the file with the rule of all that have none
CALLED = "called_kernels"


@dataclass(frozen=True)
class Entry:
    """The machine code of an op.

    Attributes
    ----------
    write : callable
        Writes a node: (context, node, values of its inputs) -> values of its outputs, without effect tokens.
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
    refuses : str
        Why its checks may fail where the kernel raises nothing; empty if the kernel always does.
    complexes : bool
        It is written for complex numbers, or moves elements without looking at them.
    time : callable or None
        For what takes much longer than it takes to look at its operands.
    """

    write: Callable[..., Sequence[Any]]
    pointwise: bool = False
    cheap: bool = False
    reduces: bool = False
    view: bool = False
    partly: bool = False
    packs: bool = False
    refuses: str = ""
    complexes: bool = False
    time: Time | None = None


#: what ``refuses`` is of those that fail where rounding decides
UNDECIDED = "of these values machine code cannot decide it (rounding does, or too few bits)"


#: filled while the files of ``rules`` are loaded; what ``entry_of`` adds is the same from each thread
_ENTRIES: dict[Op, Entry] = {}
_GROWING_RULES: dict[Op, Callable[..., Sequence[Any]]] = {}
#: what writes the ops whose rows have a template
_OF_TEMPLATES: list[Callable[..., Any]] = []
#: what writes a call of a kernel
_OF_CALLED: list[Entry] = []


def load(file: str) -> None:
    """Have a file of ``rules`` loaded."""
    with undivided(), NoCollection():
        importlib.import_module(f"...rules.{file}", __name__)


def rule(*ops: Op, **traits: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the rule of ``ops``; ``traits`` are fields of their entries."""

    def add(f: Callable[..., Any]) -> Callable[..., Any]:
        for op in ops:
            if op in _ENTRIES:
                raise ValueError(f"op {op.name!r} has a rule already")
            _ENTRIES[op] = Entry(f, **{"pointwise": op.traits.elementwise, **traits})
        return f

    return add


def growing_rule(*ops: Op) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the rule of ``ops`` on collections that grow."""

    def add(f: Callable[..., Any]) -> Callable[..., Any]:
        _GROWING_RULES.update(dict.fromkeys(ops, f))
        return f

    return add


def template_rule(f: Callable[..., Any]) -> Callable[..., Any]:
    """Register the rule of all ops whose rows have a template, unless they have one of their own."""
    _OF_TEMPLATES[:] = [f]
    return f


def called_rule(time: Time) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what writes a call of the kernel of an op that has no rule."""

    def add(f: Callable[..., Any]) -> Callable[..., Any]:
        _OF_CALLED[:] = [Entry(f, complexes=True, time=time)]
        return f

    return add


def called_entry() -> Entry:
    """Return the entry of all ops without one: NumPy's kernel is called."""
    if not _OF_CALLED:
        load(CALLED)
    return _OF_CALLED[0]


def entry_of(op: Op) -> Entry | None:
    """Return the entry of ``op``, ``None`` if it has no machine code."""
    known = _ENTRIES.get(op)
    if known is None:
        file = RULE_FILES.get(op)
        if file is not None:
            load(file)
            known = _ENTRIES[op]
        elif has_template(op):
            load(TEMPLATES)
            known = _ENTRIES[op] = Entry(_OF_TEMPLATES[0], pointwise=True, cheap=is_cheap(op), complexes=True)
    return known


def growing_rule_of(op: Op) -> Callable[..., Sequence[Any]] | None:
    """Return the rule of ``op`` on collections that grow, ``None`` if that is the same as on others."""
    file = GROWING_RULE_FILES.get(op)
    if file is not None:
        load(file)
    return _GROWING_RULES.get(op)
