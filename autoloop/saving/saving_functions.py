"""``save``: the trace of a function, and all that it needs, as a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime.base.locations import Line, Location
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.running.prepare import set_outputs
from autoloop_runtime.saving.file_form import FilePath, written
from autoloop_runtime.saving.graph_form import GraphWriter
from autoloop_runtime.saving.graph_replay import replayed
from autoloop_runtime.saving.load_errors import unsavable
from autoloop_runtime.saving.saved_graph import saved

from .. import __version__
from ..bound_function import BoundFunction
from ..call_form import CallForm
from ..concrete import ConcreteFunction
from ..function import Function
from ..state.stateful import StatefulFunction
from ..traceable import title_of
from .saved_calls import arguments_form, parameters_form, results_form


def save(f: Callable[..., Any], path: FilePath, *args: Any, **kwargs: Any) -> None:
    """Save a function as it is traced for some arguments.

    Parameters
    ----------
    f : callable
        A function, decorated or not, what ``grad`` and its like give, or what ``get_concrete_function`` has given.
    path : str, path-like or binary file
        A file there is replaced as a whole, or stays what it was.
    *args, **kwargs
        The arguments that it is traced for: arrays and tensors, of which dtype and shape count, or ``TensorSpec``;
        Python's numbers and texts are constants of what is saved. None for a function with an ``input_signature``, and
        for what ``get_concrete_function`` has given.

    Raises
    ------
    SaveError
        If the function holds what no file can: Python functions that a run calls, objects of the user's classes, what
        it changes outside of its arguments. The message says what, and where.

    See Also
    --------
    load : Gives what was saved.

    Notes
    -----
    What the function finds outside of its arguments, arrays too, is saved as it is now; the value of a ``Variable``
    is saved with it, and what is loaded has a variable of its own. The file is described in ``docs/saving.md``.

    Examples
    --------
    >>> @al.function
    ... def halved(x):
    ...     while x.sum() > 1:
    ...         x = x / 2
    ...     return x
    >>> import io
    >>> file = io.BytesIO()  # or a path
    >>> al.save(halved, file, np.ones(4))
    >>> file.seek(0)
    0
    >>> al.load(file)(np.array([3.0, 0.0, 0.0, 1.0]))
    array([0.75, 0.  , 0.  , 0.25])
    """
    content = content_of(f, args, kwargs)
    if isinstance(path, (str, os.PathLike)):
        written(path, content)
    else:
        path.write(content)


def content_of(f: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> bytes:
    """Return the bytes of a file."""
    if isinstance(f, (ConcreteFunction, StatefulFunction)):
        if args or kwargs:
            raise TypeError(f"{f!r} is a trace: it is saved as it is, without arguments [AL711]")
        if f.called_as is None:
            raise TypeError(f"{f!r} is of no known arguments: save the function itself, with arguments [AL711]")
        return _content(f, f.called_as, f.name, ())
    if not callable(f):
        raise TypeError(f"a function is saved, got {f!r} of type {type(f).__name__} [AL001]")
    function = f if isinstance(f, (Function, BoundFunction)) else Function(f)
    trace, form = function.trace_and_form(args, kwargs or {})
    return _content(trace, form, title_of(f, function), _defined_at(f))


def _defined_at(f: Any) -> Location:
    code = getattr(getattr(f, "python_function", f), "__code__", None)
    return () if code is None else (Line(code.co_filename, code.co_firstlineno, code.co_name),)


def _content(trace: ConcreteFunction | StatefulFunction, form: CallForm, name: str, at: Location) -> bytes:
    writer = GraphWriter()
    arguments = arguments_form(form, writer.values, at)
    concrete, found = _alone(trace, form, at)
    graph = _graph_of(concrete, len(form.inputs), found)
    said = {
        "name": name,
        "parameters": parameters_form(form.parameters, writer.values),
        "arguments": arguments,
        **results_form(concrete, writer.values, at, len(form.inputs)),
    }
    return saved(graph, writer, said, __version__)


def _alone(trace: Any, form: CallForm, at: Location) -> tuple[ConcreteFunction, list[Any]]:
    """Return a trace that needs nothing of the world, and the values of the inputs that are none of its arguments.

    Raises
    ------
    SaveError
        If it changes the world.
    """
    if isinstance(trace, ConcreteFunction):
        return trace, []
    variant = trace.variants[0]
    if variant.lent is not None:
        raise unsavable(f"{trace.name} asks generators of random numbers: that cannot be saved", at)
    if variant.is_pair:
        what = ", ".join(name for name, how in trace.places if how == "written") or "what it reaches"
        raise unsavable(f"{trace.name} changes what is outside of its arguments, {what}: that cannot be saved", at)
    call = form.call if not variant.needs_call else None
    read = None if call is None else variant.read(call, None if trace.receiver is None else trace.receiver())
    if read is None:
        raise unsavable(
            f"what {trace.name} finds outside of its arguments hangs on these, or has changed since it was traced: "
            f"that cannot be saved", at,
        )  # fmt: skip
    return variant.concrete, list(read[0])


def _graph_of(concrete: ConcreteFunction, arguments: int, found: list[Any]) -> Graph:
    """Return a graph of its own, of which only arguments are inputs; what else was found is part of it.

    It does not tell whether a result is an argument, where only the run knows that: what is loaded gives new arrays.
    """
    graph, made = concrete.graph, Graph(ordered=True)
    with made.as_default():
        inputs: list[Tensor] = []
        for k, tensor in enumerate(graph.inputs):
            made.location = tensor.op.location
            if k < arguments:
                inputs.append(made.parameter(tensor.dtype, TensorShape(tensor.shape), tensor.op.name))
            else:
                value = found[k - arguments]
                value = value.copy() if isinstance(value, np.ndarray) else value
                inputs.append(made.constant(value, tensor.op.name))
        made.location = None
        outputs = replayed(graph, inputs, made)
        told, written = concrete.sharing[2], len(concrete.written)
        codes = 0 if told is None else len(told.codes)
        first = concrete.counted - codes - written
        set_outputs(made, [*outputs[:first], *outputs[first + codes : concrete.counted]])
    return made
