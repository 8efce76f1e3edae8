"""What a function does to the arrays that it is called with, in words, for ``explain``."""

from __future__ import annotations

from dataclasses import dataclass

from autoloop_runtime.analysis.inside import loops_inside
from autoloop_runtime.analysis.ownership import left_in_place, may_overwrite
from autoloop_runtime.analysis.sizes import is_large
from autoloop_runtime.ir.graph import Node
from autoloop_runtime.passes.given_places import with_given_places

from .concrete import ConcreteFunction
from .state.stateful import StatefulFunction
from .tracing import InputNames


@dataclass(frozen=True)
class ArgumentReport:
    """An array or number that a function is called with.

    Attributes
    ----------
    name, dtype, shape : str
    use : str
        ``read``, ``written in place``, or ``written by a copy`` of what is computed elsewhere.
    why : str
        Why there is a copy.
    """

    name: str
    dtype: str
    shape: str
    use: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.dtype}{self.shape}): {self.use}" + (f" ({self.why})" if self.why else "")


def explained_arguments(concrete: ConcreteFunction | StatefulFunction) -> tuple[ArgumentReport, ...]:
    """Return what a trace does to each of its arguments."""
    graph = concrete.runner.graph
    if concrete.runner.asked != "auto" or not loops_inside(graph):  # else its loops stay as they are
        graph = with_given_places(graph)
    there = left_in_place(graph, graph.donated)
    traced = concrete.newest if isinstance(concrete, StatefulFunction) else concrete
    said = traced.graph.record(InputNames).said
    made = []
    for k, tensor in enumerate(graph.inputs):
        use, why = "read", ""
        if k in there:
            use = "written in place"
        elif k in graph.donated:
            use, why = "written by a copy", _why_copied(graph.outputs[graph.donated[k]].op)
        parameter = tensor.op
        name = said.get(parameter.name, parameter.name)
        made.append(ArgumentReport(name, str(tensor.dtype), str(tensor.shape), use, why))
    return tuple(made)


def _why_copied(last: Node) -> str:
    """Return why the array that ``last`` makes is copied to the one that is to hold it in the end."""
    if last.op.traits.elementwise and last.op.into is not None and not is_large(last.outputs[0]):
        return f"it is small, and holds in the end what {last.op.name} makes"
    if may_overwrite(last):
        return f"what it held is read after {last.op.name} has made what it holds in the end"
    return f"it holds in the end an array that {last.op.name} makes"
