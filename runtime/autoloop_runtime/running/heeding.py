"""Runs that tell whether they had floating-point errors: machine code, and the processor's flags.

Nothing but that is told: which operation had one, and what NumPy does about it, plain Python tells, which runs the call
from its beginning then. So there must be no error of which the flags tell nothing. What nobody needs, and so is not
computed, has none; a constant that was computed beforehand has none any more; of most operations it is not known
whether machine code has the errors that NumPy's functions have. Graphs with such have no run of this kind.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..analysis.inside import nodes_inside
from ..analysis.observable import may_repeat
from ..base.forks import undivided
from ..ir.graph import Graph
from ..passes.cse import eliminate_common
from ..passes.fold import fold_without_errors
from ..passes.invariant import hoist_invariants
from ..passes.outliving import copy_outliving
from ..passes.prune import prune
from ..passes.rewrite import detached
from ..passes.strictness import keep_failures
from .runner import Runner, with_progress
from .tier_up import is_wanted, price

#: those that change what is computed, and then one of what is computed twice
_PASSES = (keep_failures, prune, fold_without_errors, hoist_invariants, prune)
_LATER = (eliminate_common, prune)


def price_of(graph: Graph) -> float:
    """Return seconds that it takes to make such a run, roughly."""
    return price(1 + sum(1 for _ in nodes_inside(graph)))


def heeding(graph: Graph, donated: Mapping[int, int]) -> Runner | None:
    """Return what runs ``graph`` and raises ``FloatingPointError`` if there was an error of a kind that is asked for;
    None if there is no such.

    It may raise anything else for what it cannot do.
    """
    if graph.says_more or not is_wanted() or not may_repeat(graph):
        return None
    with undivided():
        from ..native import Errors, compile_native, errors_of, flags

    if flags() is None:
        return None
    made = graph
    for transform in _PASSES:
        made = transform(made)
    left = {node.name for node in nodes_inside(made)}
    for node in nodes_inside(graph):
        if node.name not in left and errors_of(node) is not Errors.NONE:
            return None
    for transform in _LATER:
        made = transform(made)
    if any(errors_of(node) is Errors.UNKNOWN for node in nodes_inside(made)):
        return None
    made = detached(copy_outliving(made, donated))
    made.donated, made.heeds_errors = dict(donated), True
    runner = Runner(compile_native(made), made, "native")
    return with_progress(runner) if graph.root.shows_progress else runner
