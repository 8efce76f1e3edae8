"""Which ops have machine code, and what those who plan need to know of it: one entry an op, made by ``@rule``.

The files of ``rules`` are loaded by need: ``RULES`` says which of them has the rule of an op.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...base.collector import NoCollection
from ...base.dataclass import dataclass
from ...base.forks import undivided
from ...ir.graph import Node
from ...ir.op import Op
from ..typing.facts import Shape
from .elementwise_ir import has_template, is_cheap

#: nanoseconds that a node takes, from the shapes of its inputs and of its output, and those of a multiplication
Time = Callable[[Node, list[Shape], float], float]


#: file of ``rules`` -> the ops whose rules are in it: the module of the runtime they stand in, and their names there
RULES: Mapping[str, Mapping[str, str]] = {
    "adjoint_rules": {
        "collections.adjoint_table": "EMPTY FROM_ROWS ADD GET WITHOUT MERGE ROWS",
        "collections.tensor_array_vjps": "GATHER SCATTER",
    },
    "checkpoint_stack": {"collections.checkpoint_store": "ADD INTERVAL LATEST REWIND GET"},
    "complex_rules": {"ops.complex_numbers": "COMPLEX"},
    "cond_rules": {"ir.structured": "COND"},
    "custom_gradient_rules": {"ops.custom_gradient": "CUSTOM"},
    "diagonal_rules": {"ops.diagonals": "DIAGONAL EMBED TRIL TRIU"},
    "effect_rules": {"ops.effects": "ASSERT RAISE"},
    "exact_number_rules": {
        "ops.exact_numbers": (
            "EXACT_ADD EXACT_SUBTRACT EXACT_MULTIPLY DIVISOR EXACT_POWER EXACT_SHIFT SHIFT_COUNT EXACT_FLOAT "
            "QUOTIENT_FITS FLOAT_POWER TRUNCATED"
        ),
        "ops.python_math": "ROUNDED DEFINED",
    },
    "filling_rules": {"ops.filled": "FILL", "ops.broadcasting": "BROADCAST_TO"},
    "gathering_rules": {"ops.gathering": "GATHER TAKE_ALONG PUT_ALONG"},
    "growing_array": {"collections.tensor_array_ops": "NEW SIZE"},
    "indexing_rules": {
        "ops.indexing": "GETITEM SET_ITEM",
    },
    "joining_rules": {"ops.joining": "UNSTACK SPLIT CONCAT STACK", "ops.repeating": "PAD TILE REPEAT"},
    "linalg_rules": {"ops.linalg": "SOLVE INV DET CHOLESKY"},
    "pointwise": {"ops.operands": "CAST FITTED", "ops.selection": "WHERE"},
    "power_rules": {"ops.powers": "POW"},
    "products": {"ops.linalg": "MATMUL", "ops.contractions": "EINSUM"},
    "reduction_rules": {
        "ops.reducing": "SUM",
        "ops.reductions": "PROD MAX MIN ANY ALL MEAN ARGMAX ARGMIN",
    },
    "running_rules": {"ops.running_sums": "CUMSUM CUMPROD SUM_BETWEEN"},
    "saved_values": {
        "collections.saved_stacks": "EMPTY PUSH SWAP_PUSH READ",
        "collections.checkpoint_store": "EMPTY",
    },
    "scatter": {
        "ops.indexing": "ADD_AT INDEX_ADD",
        "ops.gathering": "GATHER_ND SCATTER SCATTER_UPDATE",
        "ops.broadcasting": "SUM_TO",
        "collections.accumulators": "ACCUMULATE_AT",
    },
    "softmax_rules": {"ops.reductions": "SOFTMAX LOG_SOFTMAX LOGSUMEXP"},
    "sorting_rules": {"ops.sorting": "SORT ARGSORT SEARCHSORTED"},
    "tensor_array_rules": {
        "collections.tensor_array_ops": "WRITE READ READ_ONCE STACK UNSTACK GATHER SCATTER",
        "collections.saved_stacks": "PEEK",
    },
    "variable_rules": {"collections.variables": "READ ASSIGN ASSIGN_ADD ASSIGN_SUB"},
    "views": {
        "ops.array": "TRANSPOSE EXPAND SQUEEZE RESHAPE FLIP ROLL",
        "ops.creation": "RANGE LINSPACE",
        "ops.identities": "COPIED ENSURE_SHAPE",
    },
    "while_rules": {"ir.structured": "WHILE"},
}
#: likewise, rules for collections that grow
GROWING: Mapping[str, Mapping[str, str]] = {
    "growing_array": {
        "collections.tensor_array_ops": "WRITE READ STACK",
        "collections.saved_stacks": "PEEK",
    },
    "growing_table": {
        "collections.adjoint_table": "FROM_ROWS ADD GET WITHOUT MERGE ROWS",
        "collections.tensor_array_vjps": "GATHER SCATTER",
    },
}
#: the file with the rule of all ops whose rows have a template, but for those of the table
TEMPLATES = "pointwise"


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


class _Table:
    """A table of files, read by ``Op``; an op whose module is not loaded is in no graph."""

    def __init__(self, files: Mapping[str, Mapping[str, str]]) -> None:
        #: the modules that were not loaded yet when an op was last looked for -> name there -> file
        self._unread: dict[str, dict[str, str]] = {}
        for file, modules in files.items():
            for module, names in modules.items():
                self._unread.setdefault(f"{_RUNTIME}.{module}", {}).update(dict.fromkeys(names.split(), file))
        self._files: dict[Op, str] = {}

    def file_of(self, op: Op) -> str | None:
        """Return the file with the rule of ``op``."""
        if op not in self._files:
            for module in [name for name in [*self._unread] if name in sys.modules]:
                names, files = vars(sys.modules[module]), self._unread.get(module, {})
                found = {names[name]: file for name, file in files.items() if name in names}
                self._files.update(found)
                if len(found) == len(files):  # another thread may be loading it
                    self._unread.pop(module, None)
        return self._files.get(op)


_RUNTIME = __name__.partition(".")[0]
_RULES, _GROWING = _Table(RULES), _Table(GROWING)
#: filled while the files of ``rules`` are loaded; what ``entry_of`` adds is the same from each thread
_ENTRIES: dict[Op, Entry] = {}
_GROWING_RULES: dict[Op, Callable[..., Sequence[Any]]] = {}
#: what writes the ops whose rows have a template
_OF_TEMPLATES: list[Callable[..., Any]] = []


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


def entry_of(op: Op) -> Entry | None:
    """Return the entry of ``op``, ``None`` if it has no machine code."""
    known = _ENTRIES.get(op)
    if known is None:
        file = _RULES.file_of(op)
        if file is not None:
            load(file)
            known = _ENTRIES[op]
        elif has_template(op):
            load(TEMPLATES)
            known = _ENTRIES[op] = Entry(_OF_TEMPLATES[0], pointwise=True, cheap=is_cheap(op), complexes=True)
    return known


def growing_rule_of(op: Op) -> Callable[..., Sequence[Any]] | None:
    """Return the rule of ``op`` on collections that grow, ``None`` if that is the same as on others."""
    file = _GROWING.file_of(op)
    if file is not None:
        load(file)
    return _GROWING_RULES.get(op)
