"""From a function, or a trace of one, to a model."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.run_state import Stored
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.passes.prune import prune

from .. import __version__
from ..concrete import ConcreteFunction
from ..state.stateful import StatefulFunction
from ..traceable import traceable
from .onnx_flows import Flows
from .onnx_refusals import refuse
from .onnx_values import Value
from .onnx_writer import Writer

#: the opsets that models are written for
OPSETS = range(18, 24)


def export_onnx(
    f: Callable[..., Any],
    *args: Any,
    path: str | os.PathLike[str] | None = None,
    opset: int = 18,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    **kwargs: Any,
) -> Any:
    """Return a function as an ONNX model, in which loops are ``Loop`` and branches are ``If``.

    Parameters
    ----------
    f : callable or ConcreteFunction
        What ``autoloop.function`` made, a plain function, or a trace (then without arguments).
    *args, **kwargs
        Arguments that it is traced for. Arrays, NumPy's scalars, tensors and ``TensorSpec`` become inputs of the model,
        in order; an unknown extent of a ``TensorSpec`` is one that has a name there. Python numbers and other values
        are constants of it, as are arrays that the function finds in globals, attributes and closures.
    path : path-like, optional
        A file that the model is written to.
    opset : int
        The version of ONNX's operators, 18 or later.
    input_names, output_names : sequence of str, optional
        By default inputs are called as the parameters are, and outputs ``output_0``, ``output_1``, ...

    Returns
    -------
    onnx.ModelProto
        Its outputs are the arrays and numbers of the result, in order, then what arrays that the function writes to
        hold in the end, as ``written_<input>``.

    Raises
    ------
    ImportError
        If ``onnx`` is not installed (the extra ``onnx``).
    NotImplementedError
        For what ONNX cannot say, such as prints and complex numbers; names the operation and the user's line.

    Examples
    --------
    >>> import autoloop as al
    >>> import numpy as np
    >>> model = al.export_onnx(lambda x: np.sum(x * x), np.ones(3))  # doctest: +SKIP
    """
    if opset not in OPSETS:
        raise ValueError(f"opset must be one of {OPSETS.start} to {OPSETS.stop - 1}, got {opset!r} [AL752]")
    writer = Writer(opset)
    for room in _ROOMS:
        importlib.import_module(f"{__package__}.{room}")
    traced = _traced(f, args, kwargs)
    model = _model(writer, traced, input_names, output_names)
    if path is not None:
        writer.onnx.save(model, os.fspath(path))
    return model


#: the modules with the translations
_ROOMS = (
    "onnx_elementwise", "onnx_reductions", "onnx_shapes", "onnx_indexing", "onnx_branches", "onnx_collections",
    "onnx_loops", "onnx_algebra", "onnx_checks", "onnx_unspeakable",
)  # fmt: skip


@dataclass(frozen=True)
class _Traced:
    """A trace, and what it takes and gives.

    Attributes
    ----------
    name : str
    graph : Graph
    outputs : list of Tensor
        The results, what is written, and what may fail, if there is such.
    count : int
        How many inputs are arguments; what the others are ``found`` in the world holds.
    written : list of str
        The inputs of which the last outputs are what they hold in the end.
    """

    name: str
    graph: Graph
    outputs: Sequence[Tensor]
    count: int
    found: Sequence[Any]
    results: int
    written: Sequence[str]


def _traced(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Traced:
    """Return the trace of a function for these arguments."""
    if isinstance(f, (ConcreteFunction, StatefulFunction)):
        if args or kwargs:
            raise TypeError("export_onnx takes no arguments besides a trace, which was made for some [AL752]")
        made: Any = f
    else:
        function, args = traceable(f, args)
        made = function.get_concrete_function(*args, **kwargs)
    concrete = made if isinstance(made, ConcreteFunction) else made.newest
    found: Sequence[Any] = ()
    if isinstance(made, StatefulFunction):
        found = _found(made)
    graph = concrete.graph
    leaves = nest.flatten(concrete.structured_outputs, expand_composites=True)
    outputs = [_output(graph, leaf) for leaf in leaves if leaf is not None and not _is_text(leaf)]
    first = concrete.counted - len(concrete.written)
    written = graph.outputs[first : concrete.counted]
    names = [graph.inputs[k].op.name for k in concrete.written]
    if not outputs and not written:
        refuse(None, "it returns no arrays or numbers, and writes to no argument")
    tokens = [] if graph.token is None else [graph.token]
    kept = graph.outputs
    try:
        graph.outputs = [*outputs, *written, *tokens]
        pruned = prune(graph)  # which may be the graph itself
        ends = list(pruned.outputs)
    finally:
        graph.outputs = kept
    count = len(graph.inputs) - len(found)
    return _Traced(concrete.name, pruned, ends, count, found, len(outputs), names)


def _is_text(leaf: Any) -> bool:
    if isinstance(leaf, str):
        refuse(None, f"it returns the text {leaf!r}")
    return False


def _output(graph: Graph, leaf: Any) -> Tensor:
    """Return the tensor of a leaf of the result."""
    with graph.as_default():
        if isinstance(leaf, (Tensor, Stored)):
            return graph.capture(convert_to_tensor(leaf))
        if isinstance(leaf, (bool, int, float, np.ndarray, np.generic)):
            return graph.constant(np.asarray(leaf)[()])
    refuse(None, f"it returns an object of the type {type(leaf).__name__}")


def _found(made: StatefulFunction) -> Sequence[Any]:
    """Return the values of the inputs that are found in the world: constants of the model."""
    variant = made.variants[0]
    if variant.writes or variant.lent is not None:
        told = "; ".join(f"{place}: {how}" for place, how in variant.concrete.places)
        refuse(None, f"it changes what it finds outside of its arguments, or draws from generators there ({told})")
    receiver = None if made.receiver is None else made.receiver()
    values = variant.read(() if made.called_as is None else made.called_as.call, receiver)
    if values is None:
        refuse(None, "what it finds outside of its arguments is not what it was traced with")
    return list(values[0])


def _model(
    writer: Writer, traced: _Traced, input_names: Sequence[str] | None, output_names: Sequence[str] | None
) -> Any:
    graph, onnx = traced.graph, writer.onnx
    writer.flows = Flows(graph)
    parameters = graph.inputs[: traced.count]
    wishes = [t.op.name.replace("/", "_") for t in parameters] if input_names is None else list(input_names)
    _check_names("input_names", wishes, len(parameters))
    inputs = [Value(writer, writer.name(wish), t.dtype) for wish, t in zip(wishes, parameters)]
    wanted = _output_names(traced, output_names)
    _check_names("output_names", wanted, traced.results + len(traced.written))
    names = [writer.name(one) for one in wanted]
    constants = [writer.const(np.asarray(one)) for one in traced.found]
    writer.inputs = inputs
    made = writer.inline(graph, [*inputs, *constants], traced.outputs)
    results = made[: len(names)]
    if len(made) > len(names) and results:  # what may fail must be asked for
        results[0] = made[-1].where(results[0], results[0])
    tensors = traced.outputs[: len(names)]
    outputs = []
    for name, value, tensor in zip(names, results, tensors):
        writer.scope.nodes.append(onnx.helper.make_node("Identity", [value.name], [name], name=name))
        outputs.append(writer.described(Value(writer, name, value.dtype), tensor.shape))
    described = [
        writer.described(one, t.shape, {k: f"{one.name}_{k}" for k in range(t.shape.rank or 0)})
        for one, t in zip(inputs, parameters)
    ]
    whole = onnx.helper.make_graph(writer.scope.nodes, traced.name, described, outputs, writer.initializers)
    return _packed(writer, whole)


def _packed(writer: Writer, graph: Any) -> Any:
    """Return the model of a graph."""
    helper = writer.onnx.helper
    opsets = [helper.make_opsetid("", writer.opset)]
    version = helper.find_min_ir_version_for(opsets)
    return helper.make_model(
        graph,
        opset_imports=opsets,
        ir_version=version,
        producer_name="autoloop",
        producer_version=__version__,
    )


def _output_names(traced: _Traced, given: Sequence[str] | None) -> list[str]:
    if given is not None:
        return list(given)
    return [*[f"output_{k}" for k in range(traced.results)], *[f"written_{name}" for name in traced.written]]


def _check_names(which: str, names: Sequence[str], count: int) -> None:
    if len(names) != count:
        raise ValueError(f"{which} must have one name for each: {count}, got {len(names)} [AL752]")
    if len(set(names)) != count:
        raise ValueError(f"{which} must be different names, got {list(names)} [AL752]")
