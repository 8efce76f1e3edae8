"""Looking for what went wrong in a run.

``breakpoint`` is Python's own: a decorated function that calls it, or ``pdb.set_trace``, runs as plain Python, with the
values of each iteration in its variables.
"""

from __future__ import annotations

from builtins import breakpoint as breakpoint
from typing import TYPE_CHECKING

from autoloop_runtime.base.doors import door, listing

from .numerics import check_numerics as check_numerics
from .numerics import disable_check_numerics as disable_check_numerics
from .numerics import enable_check_numerics as enable_check_numerics

if TYPE_CHECKING:
    from .recording import Recording as Recording
    from .recording import diff as diff
    from .recording import record as record
else:  # with gradients and loops, which the others do without
    __getattr__ = door(globals(), dict.fromkeys(("Recording", "diff", "record"), f"{__name__}.recording"))

__all__ = [
    "Recording", "breakpoint", "check_numerics", "diff", "disable_check_numerics", "enable_check_numerics", "record",
]  # fmt: skip
__dir__ = listing(globals())
