"""Kernels that stop a run at the first number that goes bad: nan of operands that hold none, inf of finite ones.

Such a run computes every operation by itself, as it was traced. It is not quick: it is made when it is known already
that a run has given a bad number.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.dataclass import replace
from ..ir.graph import Graph
from ..ir.numbers_held import BadNumber, bad_number, is_numeric, shown
from .executable import Executable
from .execution_plan import kernel_of
from .flat_graph import FlatNode, Kind, Lowered
from .lowering import lower


def compile_checked(graph: Graph) -> Callable[..., list[Any]]:
    """Return ``run(values, state)`` that gives the outputs of ``graph``, none of whose inputs it writes to.

    It raises ``FloatingPointError``, which names the operation, its operands, the user's line and the iterations around
    it, as soon as an operation gives nan and none of its operands holds nan, or inf and all of them are finite.
    """
    return Executable(_checked(lower(graph, graph.outputs, graph.inputs))).run


def _checked(lowered: Lowered) -> Lowered:
    return replace(lowered, nodes=tuple([_with_check(node) for node in lowered.nodes]))


def _with_check(node: FlatNode) -> FlatNode:
    if node.kind is not Kind.KERNEL or node.op is None or not node.inputs or not _makes_numbers(node):
        return node
    kernel = kernel_of(node)
    assert kernel is not None
    return replace(node, value=functools.partial(_call, node.op.name, kernel))


def _makes_numbers(node: FlatNode) -> bool:
    source = node.source
    if source is None or source.op is not node.op or node.op is None or node.op.effect or node.op.graphs:
        return False
    return any(tensor.dtype.kind in "fc" for tensor in source.outputs)


def _call(name: str, kernel: Callable[..., Any], *args: Any, **state: Any) -> Any:
    made = kernel(*args, **state)
    for one in made if type(made) is tuple else (made,):
        if (bad := bad_number(one)) is not None and not _was_given(bad, args):
            raise FloatingPointError(f"{name} gives {bad.value} {_of(bad, one, args)}")
    return made


def _was_given(bad: BadNumber, args: Sequence[Any]) -> bool:
    """Return whether an operand holds nan, or, of inf, anything that is not finite."""
    found = [given for arg in args if (given := bad_number(arg)) is not None]
    return any(given.is_nan or not bad.is_nan for given in found)


def _of(bad: BadNumber, made: Any, args: Sequence[Any]) -> str:
    """Return of what operands it is: those at its place, of an operation that is done element by element."""
    numbers = [one for one in args if is_numeric(one)]
    shapes = {np.shape(one) for one in numbers} - {()}
    where = f" at {list(bad.place)} of {shown(made)}" if bad.place else ""
    if shapes == {np.shape(made)}:
        numbers = [one[bad.place] if isinstance(one, np.ndarray) and one.shape else one for one in numbers]
    return f"of {', '.join(map(shown, numbers)) or 'no numbers'}{where}"
