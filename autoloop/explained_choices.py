"""Which branches a graph has, which were decided while tracing, and what to do about loops, for ``explain``."""

from __future__ import annotations

import re

from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.records import LoopRecord, branch_records, loop_records

from .findings import NOTHING, Finding

#: written out, loops of more nodes than these take time to trace and to make code of
_MANY = 300
_AS_A_LOOP = "set_loop_options(unroll=False) as the first statement of its body makes {0} a loop of the graph"
_OVER = "a loop over an array of the arguments, or over autoloop.constant(...) of the numbers, is one of the graph"


def branches_of(graph: Graph) -> tuple[Finding, ...]:
    """Return what became of the branches of a function, by line."""
    found = []
    # what a loop's jumps are made of is no branch of the user's
    loops = {(one.line.filename, one.line.lineno) for one in loop_records(graph) if one.line is not None}
    reached = [one for one in branch_records(graph) if (one.line.filename, one.line.lineno) not in loops]
    for one in sorted(reached, key=lambda record: (record.line.filename, record.line.lineno)):
        if one.converted and not one.sides:
            made = Finding("in the graph", "the condition is a tensor, and each run takes one side", NOTHING, one.line)
        elif one.converted:
            what = "in the graph where it has to be"
            why = "the condition is a tensor in some passes of a loop that is written out, and known in others"
            made = Finding(what, why, NOTHING, one.line)
        else:
            side = "either side" if len(one.sides) == 2 else "the `if` side" if True in one.sides else "the `else` side"
            why = "the condition is a Python value, which the trace is made for"
            made = Finding(f"decided while tracing, {side}", why, _OF_DECIDED, one.line)
        found.append(made)
    return tuple(found)


_OF_DECIDED = "nothing; where what it asks changes from call to call, see guards"


def advice_on_loop(record: LoopRecord) -> str:
    """Return what to do about a loop."""
    if record.converted or "no elements" in record.reason:
        return NOTHING
    short = "" if record.nodes > _MANY else "nothing, it is short; " if record.count else "nothing if it is short; "
    if "as a loop of the graph" in record.reason:  # which was tried
        return f"{short}without what is said there it would be a loop of the graph"
    if record.kind == "while":
        return f"{short}{_AS_A_LOOP.format('a longer one that counts on')}; so does a condition on an argument's array"
    if re.search(r"a Python range\b", record.reason):
        return f"{short}{_AS_A_LOOP.format('it')}"
    return f"{short}{_OVER}"
