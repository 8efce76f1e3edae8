"""What NumPy's functions warn of in words of their own, beside what its operations on floating-point numbers do."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

from ...base.locations import capture
from ...ir.graph import current_graph


def warn_as_numpy(theirs: Any, *example: Any, **named: Any) -> None:
    """Give the warnings that NumPy's function gives for arrays like these, at the user's line."""
    with warnings.catch_warnings(record=True) as found, suppress(Exception):  # of which the call itself tells
        warnings.simplefilter("always")
        theirs(*example, **named)
    location = capture()
    for one in found:
        filename, number = (location[-1].filename, location[-1].lineno) if location else (__file__, 1)
        warnings.warn_explicit(one.message, one.category, filename, number)


def may_warn() -> None:
    """Note that NumPy may warn of values, of which no operation tells: under a setting that asks for warnings plain
    Python runs the call."""
    graph = current_graph()
    if graph is not None:
        graph.root.says_more = True
