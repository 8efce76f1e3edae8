"""What a function does to the arrays that it is called with, in words, for ``explain``."""

from __future__ import annotations

from dataclasses import dataclass

from autoloop_runtime.analysis.ownership import left_in_place

from .concrete import ConcreteFunction
from .state.stateful import StatefulFunction


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
    there = left_in_place(graph, graph.donated)
    made = []
    for k, tensor in enumerate(graph.inputs):
        use, why = "read", ""
        if k in there:
            use = "written in place"
        elif k in graph.donated:
            last = graph.outputs[graph.donated[k]].op.op.name
            use = "written by a copy"
            why = f"what it held is read later, or it is small, or it holds in the end an array that {last} makes"
        made.append(ArgumentReport(tensor.op.name, str(tensor.dtype), str(tensor.shape), use, why))
    return tuple(made)
