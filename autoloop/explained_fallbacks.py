"""What does not run as a graph, or not in machine code, and what to do about it, for ``explain``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from autoloop_runtime.ir.records import CallRecord

from .findings import Finding
from .plain_python import PlainPython, what_and_where

WITHOUT = "has no machine code"
#: of what no graph can do again, and of what asks for values that only the run knows
_APART = "do this before or after the function is called, and decorate the part that computes by itself"
_OF_VALUES = (
    "let each side of a branch, and each iteration, give numbers or arrays of one kind, so that nothing needs to know "
    "the values; or do this outside, and decorate the part that computes by itself"
)
_ONCE = "nothing if it need not run again; else call it outside of the decorated function, or by autoloop.py_function"
_FOR_MACHINE_CODE = (
    "take that operation out of the loop, or write it with arithmetic, comparisons, np.where, reductions, products and "
    "indices"
)
_NO_MACHINE_CODE = f"nothing for the results, which are the same; for machine code {_FOR_MACHINE_CODE}"

_NUMPYS = "nothing: what takes the time is NumPy's own code, as it is in plain Python"


def plain_fallback(made: PlainPython) -> Finding:
    """Return why the whole function runs as plain Python."""
    advice = made.instead or (_OF_VALUES if made.of_values else _APART)
    why = what_and_where(made).replace(f"; {made.instead}", "", 1)
    return Finding("the whole function runs as plain Python, at each call", why, advice)


def calls_once(calls: Sequence[CallRecord]) -> list[Finding]:
    """Return the calls that only the trace has made."""
    why = "it is of a library, or has no source, and is not converted; what it did with arrays is in the graph"
    once = [one for one in calls if not one.each]
    return [Finding(f"{one.name} was called once, while tracing", why, _ONCE, one.line) for one in once]


def refusal(told: str) -> Finding:
    """Return why machine code is not made for a function for which nothing else may run."""
    advice = f"let executor='auto' or 'sequential' run it, or {_FOR_MACHINE_CODE}"
    return Finding("executor='native' refuses every call", f"it {told}", advice)


def without_machine_code(name: str, executor: str, reason: str) -> Finding | None:
    """Return why a graph or loop that may get machine code gets none; None if it may get some yet."""
    found = re.search(r"(?:^|; )(machine code (?:cannot|would|is switched off).*)", reason)
    if executor == "native" or found is None:
        return None
    why = found[1]
    if "would take it: " in why:
        return Finding(f"{name} {WITHOUT}", "the extra is missing", why.partition("would take it: ")[2])
    if "switched off" in why:
        return Finding(f"{name} {WITHOUT}", why, "config.set_native(True), or no AUTOLOOP_NATIVE=0")
    return Finding(f"{name} {WITHOUT}", why, _NUMPYS if "would call NumPy" in why else _NO_MACHINE_CODE)
