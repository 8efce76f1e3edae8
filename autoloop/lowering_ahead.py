"""``f.lower(*args)``: a function as it is traced for some arguments, ahead of any call, and made ready to run."""

from __future__ import annotations

from typing import Any

import numpy as np
from autoloop_runtime.analysis.accounted import accounted, peak_memory
from autoloop_runtime.base import nest
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.prices import TYPICAL
from autoloop_runtime.ir.run_state import Stored
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tensor_spec import TensorSpec

from .call_form import CallForm, InputForm
from .concrete import ConcreteFunction
from .function import Function
from .known_traces import Trace
from .state.stateful import StatefulFunction
from .viewing.code_text import to_code
from .viewing.stage_names import known
from .viewing.stage_texts import OF_SOURCE, STAGES, source_of, text_of


class Lowered:
    """A function as it is traced for some arguments.

    Attributes
    ----------
    in_info : tuple of (tuple, dict)
        Positional and named arguments, with a ``TensorSpec`` for each that is an input.
    out_info : object
        The result, likewise; what is known while the function is traced stands as it is.

    Examples
    --------
    >>> import autoloop as al
    >>> lowered = al.function(lambda x: (x @ x).sum()).lower(al.TensorSpec([3, 3], al.float64))
    >>> lowered.out_info
    TensorSpec(shape=(), dtype=float64, name=None)
    >>> lowered.cost_analysis()["flops"]
    63.0
    """

    def __init__(self, function: Function, trace: Trace, form: CallForm) -> None:
        self._function, self._trace, self._form = function, trace, form

    @property
    def in_info(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and named arguments, with a ``TensorSpec`` for each that is an input."""
        return self._form.structured_input_signature

    args_info = in_info

    @property
    def out_info(self) -> Any:
        """The result, with a ``TensorSpec`` for each value that a run gives."""
        return nest.map_structure(_info, self._trace.structured_outputs)

    def as_text(self, stage: str = "structured") -> str:
        """Return the text of a stage, as ``autoloop show --stage`` prints it.

        Parameters
        ----------
        stage : str
            ``"source"``, ``"converted"``, ``"structured"``, ``"optimized"``, ``"lowered"``, ``"python"``, ``"llvm"``,
            ``"asm"``.

        Returns
        -------
        str
        """
        name = known(stage, STAGES)
        if name not in OF_SOURCE:
            return text_of(newest_of(self._trace), name)
        if name == "source":
            return source_of(self._function)[0]
        return to_code(self._function.python_function)

    def cost_analysis(self) -> dict[str, Any]:
        """Return what a run takes, as far as shapes and numbers of turns are known.

        Returns
        -------
        dict
            ``"flops"``, ``"transcendentals"`` (elements of ``exp`` and its like), ``"bytes accessed"`` and ``"peak
            memory"`` (bytes, of operations one after the other). ``"loops"`` has the line of each loop and how often it
            turns; one of which that is not known, None, counts as one turn. ``"not counted"`` names operations that do
            more than is counted, and ``"open extents"`` says what each extent that is not known was taken for.
        """
        return _costs(self._trace.graph)

    def compile(self, executor: str | None = None) -> Compiled:
        """Make the function ready to run with these arguments.

        Parameters
        ----------
        executor : {"auto", "dataflow", "sequential", "native"}, optional
            By default that of the function. With ``"native"`` there is machine code when this returns.

        Returns
        -------
        Compiled
        """
        function, form = self._function, self._form
        if executor is None or executor == function.executor:
            return Compiled(function, self._trace, form)
        function = Function(function.python_function, **{**function.options(), "executor": executor})
        leaves = [_like(leaf) for leaf in form.leaves]
        args, kwargs = form.parameters.split(nest.unflatten(form.structure, leaves))
        return Compiled(function, *function.trace_and_form(args, kwargs))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._function.name}>"


class Compiled(Lowered):
    """A function that is ready to run with arguments of some dtypes and shapes, and refuses others."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function.

        Raises
        ------
        TypeError, ValueError
            If an argument is not of the dtype or shape that it was compiled for.
        """
        function = self._function
        parameters = self._form.parameters
        call = parameters.bind(args, kwargs)
        leaves, structure = nest.flatten_with_structure(call, expand_composites=True)
        if structure != self._form.structure:
            raise TypeError(
                f"{function.name} was compiled for arguments of another structure, {self._form.structure} [AL713]"
            )
        names = parameters.leaf_names(call)
        taken = [_checked(*three, function.name) for three in zip(self._form.leaves, leaves, names)]
        args, kwargs = parameters.split(nest.unflatten(structure, taken))
        return function(*args, **kwargs)

    def cost_analysis(self) -> dict[str, Any]:
        """Return what ``Lowered.cost_analysis`` does, of the graph that is run."""
        return _costs(self._trace.runner.graph)


def newest_of(trace: Trace) -> ConcreteFunction:
    """Return a trace, or the newest of those that depend on the world."""
    return trace.newest if isinstance(trace, StatefulFunction) else trace


def _like(leaf: Any) -> Any:
    """Return an argument for which the same is traced: of an array one without contents to speak of."""
    if type(leaf) is not InputForm:
        return leaf
    if leaf.kind == "tensor" or not leaf.spec.shape.is_fully_defined():
        return leaf.spec
    made = np.zeros(leaf.spec.shape.as_tuple(), leaf.spec.dtype)
    return made if leaf.kind == "array without axes" or made.ndim else made[()]


def _info(value: Any) -> Any:
    if isinstance(value, Stored):
        value = convert_to_tensor(value)
    return TensorSpec(value.shape, value.dtype) if isinstance(value, Tensor) else value


def _costs(graph: Graph) -> dict[str, Any]:
    found = accounted(graph)
    made: dict[str, Any] = {
        "flops": found.flops,
        "transcendentals": found.transcendentals,
        "bytes accessed": found.moved,
        "peak memory": peak_memory(graph),
        "loops": [(str(node.location[-1]) if node.location else node.name, trips) for node, trips in found.loops],
    }
    if found.uncounted:
        made["not counted"] = list(found.uncounted)
    if any(not t.shape.is_fully_defined() for node in graph.nodes for t in node.outputs):
        made["open extents"] = TYPICAL
    return made


def _checked(form: Any, value: Any, name: str, function: str) -> Any:
    """Return a leaf of a call, if it is such as the function was compiled for."""
    if type(form) is not InputForm:
        if type(value) is not type(form) or (value is not form and value != form):
            raise TypeError(f"{function} was compiled for {name}={form!r}, not {value!r} [AL713]")
        return value
    spec = form.spec
    if form.kind == "tensor" and not isinstance(value, TensorSpec):
        value = convert_to_tensor(value, None if hasattr(value, "dtype") else spec.dtype)
    if not hasattr(value, "dtype"):
        raise TypeError(f"{function} was compiled for an array as {name!r}, not {type(value).__name__} [AL713]")
    if value.dtype != spec.dtype or not spec.shape.is_compatible_with(value.shape):
        raise (TypeError if value.dtype != spec.dtype else ValueError)(
            f"{function} was compiled for {name!r} of dtype {spec.dtype} and shape {spec.shape}, not of dtype "
            f"{value.dtype} and shape {tuple(value.shape)} [AL713]"
        )
    return value


def lowered_of(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
    """Return a function as it is traced for some arguments."""
    trace, form = function.trace_and_form(args, kwargs)
    return Lowered(function, trace, form)
