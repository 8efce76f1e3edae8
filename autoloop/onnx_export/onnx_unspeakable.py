"""What ONNX has no words for: effects, and numbers that have no dtype of its own."""

from __future__ import annotations

from autoloop_runtime.collections import checkpoint_store, variables
from autoloop_runtime.ops import effects, random
from autoloop_runtime.ops.exact_numbers import (
    EXACT_POWER,
    EXACT_SHIFT,
)
from autoloop_runtime.ops.python_functions import DRAW, KNOWN_CALL, PY_FUNCTION
from autoloop_runtime.ops.python_math import ASKED_FOR_INTS, ROUNDED

from .onnx_values import Value
from .onnx_writer import UNSPEAKABLE, Writer, rule

_PRINTS = "a model prints nothing: leave it out of what is exported"
_CALLS = "a model calls no Python: leave it out of what is exported"
_RANDOM = "a model does not draw the same random numbers: draw them before, and give them as an argument"
_EXACT = (
    "the int may have more than the 64 bits that one has in a model, where it would wrap: give, or begin with, "
    "np.int64(...), which wraps in NumPy, too"
)
_WRITES = "a model has no variables that it writes to: give the value as an argument, and return the new one"
_CHECKPOINTS = "checkpoints that are computed again: leave gradient_memory out"

UNSPEAKABLE.update(
    dict.fromkeys((effects.PRINT, effects.PRINT_THROUGH, effects.FORMAT), _PRINTS)
    | dict.fromkeys((PY_FUNCTION, KNOWN_CALL, ASKED_FOR_INTS, ROUNDED), _CALLS)
    | dict.fromkeys((EXACT_POWER, EXACT_SHIFT), _EXACT)
    | dict.fromkeys((variables.ASSIGN, variables.ASSIGN_ADD, variables.ASSIGN_SUB), _WRITES)
    | dict.fromkeys((checkpoint_store.EMPTY, checkpoint_store.ADD), _CHECKPOINTS)
    | dict.fromkeys((DRAW, random.MAKE_KEY, random.SPLIT, random.FOLD_IN), _RANDOM)
    | {op: _RANDOM for one in random.DISTRIBUTIONS for op in (one.pure, one.effect)}
)


@rule(variables.READ)
def _read(writer: Writer, node: object, *none: Value) -> Value:
    variable = getattr(node, "attrs")["variable"]  # noqa: B009
    return writer.const(variable.numpy())
