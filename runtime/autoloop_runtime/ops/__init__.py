"""The operations: one declarative entry per primitive, and the public functions over them.

Importing this package fills the table (``ir.op.OPS``), but for the rows that ``later_rows`` announces. A public
function is named once, in the ``__all__`` of the module that it stands in; some have the names of Python's builtins,
as in NumPy.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from ..base import doors
from ..ir import foreign_operands, number_attributes, text_operators, traced_attributes
from . import later_rows, numpy_door
from .arithmetic import *
from .array import *
from .broadcasting import *
from .define import ALIASES as ALIASES
from .identities import *
from .indexing import *
from .logic import *
from .operands import *
from .reducing import *
from .shape_queries import *

if TYPE_CHECKING:
    from . import random as random
    from .bounds import *
    from .complex_numbers import *
    from .composed import *
    from .contractions import *
    from .creation import *
    from .diagonals import *
    from .dots import *
    from .effects import *
    from .filled import *
    from .gathering import *
    from .joining import *
    from .linalg import *
    from .powers import *
    from .python_functions import *
    from .reductions import *
    from .repeating import *
    from .rounding import *
    from .running_sums import *
    from .selection import *
    from .sorting import *
    from .trigonometry import *
else:  # checkers take every public name of this file, which is the same
    _OTHERS = {"TYPE_CHECKING", "ModuleType", "annotations"}
    #: the public names whose modules an import loads
    AT_ONCE = [n for n, v in globals().items() if n[0] != "_" and n not in _OTHERS and not isinstance(v, ModuleType)]
    __all__ = [*AT_ONCE, *later_rows.MODULE_OF, "random"]  # noqa: PLE0604

    __getattr__ = doors.door(globals(), {**later_rows.MODULE_OF, "random": f"{__name__}.random"}, modules=("random",))
