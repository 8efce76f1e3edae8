"""Arrays among the arguments whose extents keep changing: one trace that does not know them, where each shape had one.

Extents of 0 and 1 stay known, for they leave out and broadcast. Numbers that change along with them are inputs, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.analysis.shape_classes import MOST_BYTES
from autoloop_runtime.base.shapes import TensorShape

from .concrete import CalledPlain
from .keys import AnyExtent, Number, leaf_key
from .plain_python import Waits
from .trace_forms import may_stand_for

#: how many shapes are traced, but for that of the first call, before one is taken for one that keeps changing
MOST_SHAPES = 2
#: what a trace raises that asks for what only the extents of a call tell
_ASKING = (TypeError, ValueError, NotImplementedError, RecursionError, CalledPlain)
#: what of one leaf may differ from call to call: extents, or a number
_Varying = tuple[Any, ...]


class ExtentInputs:
    """What is known of the shapes of the arrays among the arguments of one function; guarded by the lock of its
    traces."""

    def __init__(self) -> None:
        #: the calls but for extents and numbers -> these, in each trace
        self._traced: dict[Any, list[tuple[_Varying, ...]]] = {}
        self._example: dict[Any, Any] = {}
        #: of which it was found that a trace needs them
        self._fixed: set[Any] = set()

    def inputs(self, structure: Any, leaves: Sequence[Any]) -> tuple[list[Any], list[Any], Any] | None:
        """Return the leaves of a call as a trace takes them that does not know what keeps changing, what that knows of
        each, and its key; None if no extents keep changing."""
        if not any(map(_has_extents, leaves)):
            return None
        kind = _kind(structure, leaves)
        earlier = self._traced.get(kind, [])
        shapes = {tuple([one for one, leaf in zip(every, leaves) if _has_extents(leaf)]) for every in earlier}
        if kind in self._fixed or len(shapes) < MOST_SHAPES or not all(map(_is_plain, leaves)):
            return None
        now = _varying(leaves)
        taken, specs, keys = [], [], []
        for leaf, values in zip(leaves, zip(now, *earlier)):
            spec = taken_as = leaf
            if _has_extents(leaf):
                shape = [None if len(set(column)) > 1 else column[0] for column in zip(*values)]
                spec = AnyExtent(TensorShape(shape), leaf.dtype) if None in shape else leaf
                keys.append((leaf.dtype, tuple(shape)))
            else:
                if type(leaf) in (int, float) and len(set(values)) > MOST_SHAPES:
                    spec = taken_as = Number(leaf)
                keys.append(leaf_key(taken_as))
            taken.append(taken_as)
            specs.append(spec)
        if not any(isinstance(spec, AnyExtent) for spec in specs):
            return None
        return taken, specs, (structure, tuple(keys))

    def traced(self, structure: Any, leaves: Sequence[Any], trace: Any) -> None:
        """Note a trace that was made for certain shapes."""
        if any(map(_has_extents, leaves)):
            kind = _kind(structure, leaves)
            self._traced.setdefault(kind, []).append(_varying(leaves))
            self._example[kind] = trace

    def of_extents(
        self, structure: Any, leaves: list[Any], found: Callable[..., Any], make: Callable[..., Any]
    ) -> tuple[Any, list[Any]]:  # fmt: skip
        """Return the trace that does not know extents which keep changing, if there are such, and its leaves."""
        known = self.inputs(structure, leaves)
        if known is None:
            return None, leaves
        inputs, specs, key = known
        kind = _kind(structure, leaves)
        try:
            made = found(key, inputs)
            if made is None:
                made = make(inputs, structure, key, None, specs)
                if not may_stand_for(made, self._example[kind]):
                    made = None
        except Waits:
            raise
        except _ASKING:
            made = None
        if made is None:
            self._fixed.add(kind)
            return None, leaves
        return made, inputs


def _is_plain(leaf: Any) -> bool:
    """Return whether a leaf is no array, or a small one whose elements lie in order."""
    return not isinstance(leaf, np.ndarray) or (leaf.nbytes <= MOST_BYTES and bool(leaf.flags.c_contiguous))


def _has_extents(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray) and leaf.ndim > 0


def _kind(structure: Any, leaves: Sequence[Any]) -> Any:
    """Return what of a call is the same in all that one trace may serve."""
    return structure, tuple(map(_kind_of_leaf, leaves))


def _kind_of_leaf(leaf: Any) -> Any:
    if _has_extents(leaf):
        return leaf.dtype, tuple([n if n < 2 else -1 for n in leaf.shape])
    return type(leaf) if type(leaf) in (int, float) else leaf_key(leaf)


def _varying(leaves: Sequence[Any]) -> tuple[_Varying, ...]:
    return tuple([leaf.shape if _has_extents(leaf) else leaf_key(leaf) for leaf in leaves])
