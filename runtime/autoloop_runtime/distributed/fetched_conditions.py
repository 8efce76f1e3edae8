"""Conditions of loops and branches, each fetched once: who asks again, or for its opposite, is told at once.

A loop that is left in its middle asks for the same condition there, and for its opposite where it would go on. Of
``more & ~done`` nothing is fetched where ``more``, which is known here, says no.
"""

from __future__ import annotations

import operator
from contextlib import suppress
from typing import Any

import numpy as np

from ..dataflow.frames import Item
from .laters import Call, Later


class Conditions:
    """The conditions of a run that were asked for and are not here yet."""

    def __init__(self) -> None:
        #: who waits for each, and whether for its opposite
        self._waiting: dict[Later, list[tuple[Item, bool]]] = {}

    def ask(self, item: Item, later: Later) -> Later | None:
        """Note who waits for a condition; return what is to be fetched for that, None if it is asked for already."""
        source, is_opposite = _source(later)
        waiting = self._waiting.setdefault(source, [])
        waiting.append((item, is_opposite))
        return source if len(waiting) == 1 else None

    def come(self, source: Later, value: Any) -> list[tuple[Item, Any]]:
        """Note what was fetched; return who waits for it, and what each is told."""
        source.value = value
        return [(item, np.logical_not(value) if is_opposite else value)
                for item, is_opposite in self._waiting.pop(source)]  # fmt: skip

    def clear(self) -> None:
        """Let go of everything."""
        self._waiting.clear()


def value_of(later: Later) -> Any:
    """Return what a condition is, as far as that is known here; else None."""
    source, is_opposite = _source(later)
    return np.logical_not(source.value) if is_opposite and source.value is not None else source.value


def conclude(made: Later, call: Call) -> None:
    """Note what a call gives, if that is a condition which says no more than another one, or than what is known."""
    op = call.step.flat.op
    if op is None or op.kernel not in (operator.invert, operator.and_, operator.or_) or not _is_condition(made):
        return
    open_, known = [], []
    for one in call.args:
        value = value_of(one) if type(one) is Later else one
        if value is None:
            open_.append(one)
        else:
            known.append(bool(value))
    if op.kernel is operator.invert:
        if open_:
            source, is_opposite = _source(open_[0])
            made.source = source, not is_opposite
        else:
            made.value = np.bool_(not known[0])
        return
    decides = op.kernel is operator.or_
    if decides in known or not open_:
        made.value = np.bool_(decides if decides in known else not decides)
    elif len(open_) == 1:
        made.source = _source(open_[0])


def _source(later: Later) -> tuple[Later, bool]:
    """Return what is fetched for a condition, and whether the condition is its opposite."""
    return (later, False) if later.source is None else later.source


def _is_condition(later: Later) -> bool:
    return later.form is not None and not later.form.chunks and later.form.dtype.kind == "b"


# -- from run to run ----------------------------------------------------------------------------------------------
# A graph that is cut at its loops is run piece by piece: a condition that one has fetched may come to the next.

_MARK = "_autoloop_condition"


def remember(later: Later) -> None:
    """Let the array that a run gives say what it is, if that is known."""
    if _is_condition(later) and (value := value_of(later)) is not None:
        array = later.collection
        with suppress(AttributeError):  # arrays of some versions have no room for it
            setattr(array, _MARK, (array.name, value))


def recall(later: Later) -> None:
    """Know what an array has said of itself; one that was written to since has another name."""
    if _is_condition(later) and (mark := getattr(later.collection, _MARK, None)) is not None:
        name, value = mark
        if name == later.collection.name:
            later.value = value
