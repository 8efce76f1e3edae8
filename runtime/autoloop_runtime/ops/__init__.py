"""The operations: one declarative entry per primitive, and the public functions over them.

Importing this package fills the table (``ir.op.OPS``). A public function is named once, in the ``__all__`` of the
module that it stands in; some have the names of Python's builtins, as in NumPy.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from ..ir import number_attributes, scalar_attributes
from . import arrays_as_bytes, exact_numbers, numpy_door, python_math
from . import random as random
from .arithmetic import *
from .array import *
from .bounds import *
from .broadcasting import *
from .complex_numbers import *
from .composed import *
from .contractions import *
from .creation import *
from .define import ALIASES as ALIASES
from .diagonals import *
from .effects import *
from .filled import *
from .gathering import *
from .identities import *
from .indexing import *
from .joining import *
from .linalg import *
from .logic import *
from .operands import *
from .powers import *
from .python_functions import *
from .reducing import *
from .reductions import *
from .repeating import *
from .rounding import *
from .running_sums import *
from .selection import *
from .shape_queries import *
from .sorting import *
from .trigonometry import *

if not TYPE_CHECKING:  # checkers take every public name of this file, which is the same
    _OTHERS = {"TYPE_CHECKING", "ModuleType", "annotations"}
    __all__ = [n for n, v in globals().items() if n[0] != "_" and n not in _OTHERS and type(v) is not ModuleType]
    __all__ += ["random"]
