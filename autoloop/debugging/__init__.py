"""Looking for what went wrong in a run.

``breakpoint`` is Python's own: a decorated function that calls it, or ``pdb.set_trace``, runs as plain Python, with the
values of each iteration in its variables.
"""

from __future__ import annotations

from builtins import breakpoint as breakpoint

from .numerics import check_numerics as check_numerics
from .numerics import disable_check_numerics as disable_check_numerics
from .numerics import enable_check_numerics as enable_check_numerics

__all__ = ["breakpoint", "check_numerics", "disable_check_numerics", "enable_check_numerics"]
