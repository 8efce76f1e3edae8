"""Python's numbers that come of arrays of other libraries, what is shown and asserted of them, and what passes them on.

A number of Python's is NumPy's to a graph, whatever it was read from: who asks for one asks for a value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from ..collections.variables import GROUP
from ..ops import exact_numbers, python_math
from ..ops.custom_gradient import CUSTOM
from ..ops.effects import ASSERT, FORMAT, PRINT, RAISE
from ..ops.operands import FITTED, FITTED_ELEMENT
from ..ops.remat_marks import HELD, REGION
from .eager_elements import cast
from .foreign_rows import Call, absent_later, computed

_OF_NUMBERS = (
    FITTED, FITTED_ELEMENT, exact_numbers.EXACT_ADD, exact_numbers.EXACT_SUBTRACT, exact_numbers.EXACT_MULTIPLY,
    exact_numbers.EXACT_POWER, exact_numbers.EXACT_SHIFT, exact_numbers.DIVISOR, exact_numbers.QUOTIENT_FITS,
    exact_numbers.SHIFT_COUNT, exact_numbers.PLACE, exact_numbers.EXACT_FLOAT, exact_numbers.FLOAT_POWER,
    exact_numbers.TRUNCATED, exact_numbers.RATIO, python_math.DEFINED, python_math.ROUNDED, python_math.ASKED_FOR_INTS,
    python_math.ASKED_FOR_FLOATS,
)  # fmt: skip


@computed(*_OF_NUMBERS, hosts=slice(None), gives_numpys=True)
def _number(call: Call, *values: Any, **attrs: Any) -> Any:
    return call.op.kernel(*values, **attrs)


@computed(CUSTOM, REGION, HELD, GROUP, when="both", raw=True, always=True)
def _passed_on(call: Call, *values: Any, **attrs: Any) -> Any:
    return call.op.kernel(*values, **attrs)


@computed(PRINT, FORMAT, RAISE, raw=True)
def _shown(call: Call, *values: Any, **attrs: Any) -> Any:
    return call.op.kernel(*values, **attrs)


@computed(ASSERT, raw=True)
def _asserted(call: Call, condition: Any, *values: Any, text: Any) -> Any:
    if call.namespace.holds(condition):
        condition = np.bool_(bool(call.xp.all(cast(call, condition, dtypes.bool_))))
    return call.op.kernel(condition, *values, text=text)


absent_later("it needs the value of an array that is not computed yet", *_OF_NUMBERS, PRINT, FORMAT, RAISE, ASSERT)
