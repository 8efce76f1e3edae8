"""Tracing: the converted function is called once with placeholders, and what it does becomes a graph."""

from __future__ import annotations

import functools
import types
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from autoloop_runtime.base import dtypes, locations, nest
from autoloop_runtime.base.callbacks import code_of, listener
from autoloop_runtime.base.config import shows_progress
from autoloop_runtime.base.error_codes import without_code
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.fp_warnings import noting, restore, setting
from autoloop_runtime.base.locations import users_line
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.base.stand_ins import ShownByRun, UnknownExtent, UnknownWhileTracing
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.asked_for_text import tell_of_arrays, tell_of_keys, tell_of_texts, tell_of_values
from autoloop_runtime.ir.graph import Graph, current_graph, is_foreign, theirs_here
from autoloop_runtime.ir.op import function
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tensor_spec import TensorSpec
from autoloop_runtime.ir.tracers import ArrayTracer, Kind, NumberTracer, ZeroDimArray, marked

from . import operators
from .concrete import ConcreteFunction
from .conversion.callables import asks_nobody
from .conversion.pipeline import convert
from .errors import cannot_build, in_words, is_programs_own, is_refusal, user_stacklevel, users_call
from .fresh_results import FreshResults
from .given_arrays import ForeignArray, handle_of, namespace_among
from .keys import AnyExtent, Number, describe_key, is_input
from .left_to_python import LeftToPython, is_raised_anyway, leave_unknown
from .operators.mutation.lifted_arrays import Lift, Making
from .operators.mutation.outside_world import World, leave
from .operators.staging.maybe_same import settled
from .operators.staging.staged_blocks import Loops, TellArrays, ToldArrays, WrittenOut, deciding, raise_when_run
from .operators.staging.staged_values import leave_variables
from .operators.staging.standins import StandIn
from .plain_python import NamedFunction, PlainPython
from .returned_views import is_part_of_input, views_of
from .state.places import spoken
from .written_arguments import ReferringFunction, references_of

R = TypeVar("R")
#: the code of functions of which a trace was made again for its runs to tell arrays apart: the next begins so;
#: adding is atomic
_TELLING: weakref.WeakSet[types.CodeType] = weakref.WeakSet()
#: after how many traces of one function the user is told which argument keeps changing
RETRACE_WARNING = 5
#: the same of what is no argument: some of that is left to plain Python before
WORLD_WARNING = 15
# What arrays ask for in a trace: loaded when one does.
function("bytes_of", lambda *args, **kwargs: operators.bytes_of(*args, **kwargs))
function("array_flags", lambda array, flags: operators.FlagsOfArray(array, flags))

tell_of_texts(lambda value, frame: operators.leave_or_refuse(value, frame))
tell_of_keys(lambda value, frame: operators.leave_key(value, frame))
tell_of_arrays(lambda frame: operators.beside_unknown(frame))
tell_of_values(lambda _, frame: operators.given_unknown(frame))
tell_of_values(lambda value, frame: operators.leave_value(value, frame))


def converted(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return what is called with placeholders in place of a user's function."""
    if operators.is_under_settings(f):
        return lambda *args, **kwargs: operators.call(f)(*args, **kwargs)
    if isinstance(f, types.FunctionType) and not asks_nobody(f):
        return convert(f)
    return operators.staged_for(f) or convert(f)


class InputNames:
    """What the inputs of a graph are called by people, by the names of their nodes; a record of the graph."""

    def __init__(self) -> None:
        self.said: dict[str, str] = {}

    def copy(self) -> InputNames:
        """Return the same."""
        return self


def placeholders(
    graph: Graph, leaves: Sequence[Any], names: Sequence[str], specs: Sequence[Any] | None, same: Sequence[int] = ()
) -> list[Any]:
    """Return the leaves of a call with a placeholder of ``graph`` for each that is a tensor or an array, of its kind.

    Parameters
    ----------
    graph : Graph
    leaves : list
        The arguments of the call, flat.
    names : list of str
        A readable name for each.
    specs : list, optional
        What an ``input_signature`` says of them.
    same : sequence of int, optional
        Which leaf each of them is the same array as.
    """
    if deciding().are_told:
        with undivided():  # which few functions need
            from .operators.staging.array_origins import begin_telling
        begin_telling(graph)
    symbolic: list[Any] = []
    graph.location = locations.capture()  # of all of them
    for position, leaf in enumerate(leaves):
        if is_input(leaf):
            spec = specs[position] if specs is not None and position < len(specs) else leaf
            made = graph.parameter(dtypes.as_dtype(spec.dtype), TensorShape(spec.shape), spoken(names[position]))
            parameter = made.op
            graph.record(InputNames).said[parameter.name] = names[position]
            first = same[position] if same else position
            if type(leaf) is ForeignArray and leaf.again is not None:
                symbolic.append(symbolic[leaf.again])
            elif first == position:
                symbolic.append(_argument(graph, marked(_kind(leaf), made), leaf))
                if isinstance(spec, AnyExtent):
                    _as_it_lies(symbolic[-1])
            else:
                symbolic.append(handle_of(symbolic[first], leaves[first], leaf))
        else:
            symbolic.append(leaf)
    graph.location = None
    return symbolic


def tell_doubtful(values: Any, leaves: Sequence[Any]) -> None:
    """Begin the trace again as one of which the runs tell arrays apart, if some *values* may be inputs.

    Where they may be parts of these that no run names, plain Python runs the function, unless there is a tensor among
    the *leaves* of the call: of tensors it would make other results.
    """
    results: Sequence[Any] = nest.flatten(values)
    if (theirs := theirs_here()) is not None:
        results = theirs.untold(results)
    if any(_is_doubtful(one) for one in results):
        with undivided():  # which few functions need
            from .operators.staging.told_arrays import is_untold, may_be_read_only, tell_if_doubtful
        if not _has_tensors(leaves) and any(map(is_untold, results)):
            leave("which part of an array of the caller's a result is, or whether it is one, only the run knows", "")
        if theirs is None and not _has_tensors(leaves) and any(map(may_be_read_only, results)):
            leave("whether an array that is given back may be written to, only the run knows", "")
        tell_if_doubtful(nest.flatten(values, True))


def _is_doubtful(value: Any) -> bool:
    storage = kept(value)
    if storage is None:
        return isinstance(value, StandIn)
    return storage.choice is not None or len(storage.origins()) > 1 or views_of(value) is None


def _has_tensors(leaves: Sequence[Any]) -> bool:
    return any(issubclass(type(leaf), Tensor | TensorSpec) for leaf in leaves)


def _argument(graph: Graph, tracer: Any, leaf: Any) -> Any:
    """Return what stands for an argument, which an array knows to be."""
    if isinstance(leaf, np.ndarray) and leaf.ndim:
        tracer.storage.argument = len(graph.inputs) - 1
        tracer.storage.lies_as(leaf)
    elif isinstance(leaf, ForeignArray):
        tracer.storage.argument = len(graph.inputs) - 1
        graph.theirs.known[graph.inputs[-1]] = True
    elif isinstance(leaf, np.ndarray) and isinstance(tracer, ArrayTracer):
        tracer.storage.is_without_axes = True
    return tracer


def _as_it_lies(tracer: Any) -> None:
    """Let the runs look whether an array of any extents lies in C order, as the one that stands for it does."""
    if len(tracer.shape) > 1:
        tracer.storage.is_order_asked = tracer.storage.is_copied_by_order = True


def finished(
    name: str, graph: Graph, symbolic: Sequence[Any], value: Any, executor: str, roots: Sequence[Any] = (),
    arguments: int | None = None,
) -> ConcreteFunction:  # fmt: skip
    """Return a trace as it is called.

    Parameters
    ----------
    name : str
        The function.
    graph : Graph
    symbolic : sequence
        What ``placeholders`` has made.
    value : object
        What the converted function gave.
    executor : str
        What runs it.
    roots : sequence
        The function and its arguments: what else there is was made while it was traced.
    arguments : int, optional
        How many of the inputs are arguments.
    """
    inputs = [leaf for leaf in symbolic if isinstance(leaf, Tensor)]
    memory = [kept(one) for one in inputs]
    same = {(j, k) for j, one in enumerate(memory) for k, other in enumerate(memory) if j < k and one is other and one}
    told = graph.records.pop(ToldArrays, None)
    leaves = nest.flatten(value, expand_composites=True)
    if told is not None or any(map(is_part_of_input, leaves)):
        with undivided():  # which few functions need
            from .told_results import told_results
        told = told_results(told and told.origins, leaves, inputs)
    references = references_of(graph, inputs, value, frozenset(same), len(inputs) if arguments is None else arguments)
    try:
        if references is None:
            made = ConcreteFunction(name, graph, value, executor, told=told)
        else:
            made = ReferringFunction(name, graph, value, executor, references, told)
    except ShownByRun as refusal:  # of the library of an argument
        if graph.theirs is None:
            raise
        place = users_line(locations.raised_at(refusal.__traceback__))
        raise LeftToPython(without_code(str(refusal)), place, is_shown=True) from None
    made.has_tensors |= any(type(one) is Tensor for one in inputs)
    made.of_arrays = [k for k, one in enumerate(inputs) if type(one) is ArrayTracer]
    fresh = FreshResults(made.values, roots)
    if fresh.places:
        made.fresh = fresh
    return made


def _kind(leaf: Any) -> Kind:
    if isinstance(leaf, Number):
        return NumberTracer
    if isinstance(leaf, (np.ndarray, ForeignArray)) and not leaf.ndim:
        return ZeroDimArray
    return ArrayTracer if isinstance(leaf, (np.ndarray, np.generic, ForeignArray)) else Tensor


def attempted(attempt: Callable[[], R], leaves: Sequence[Any], function: Any = None, is_wanted: bool = True) -> R:
    """Return a trace, begun anew where an array that it makes turns out to be the graph's.

    It is begun anew as well where something is refused after a loop that could have been written out became one of the
    graph: that is nobody's wish, and what it refuses may be known then. A graph that *is wanted* may be of any size.

    Raises
    ------
    LeftToPython
        If it shows at the end that only a run knows what an array holds, and there is no tensor among the arguments.
    """
    code = code_of(function)
    decide = functools.partial(Loops, are_wanted=is_wanted)
    making, loops = Making(), decide(are_told=code in _TELLING)
    while True:
        try:
            with making.in_force(), loops.in_force():
                made = attempt()
            if making.next is None:
                return made
            making = making.next  # what NumPy said in its place was caught
        except Lift as lift:
            making = lift.making
        except WrittenOut:
            making, loops = Making(), decide(are_written_out=True, are_told=loops.are_told)
        except TellArrays:
            if isinstance(code, types.CodeType):
                _TELLING.add(code)
            making, loops = Making(), decide(loops.are_spared, loops.are_written_out, are_told=True)
        except (Exception, LeftToPython) as error:
            if making.next is not None:
                making = making.next
                continue
            is_shown = isinstance(error, LeftToPython) and error.is_shown
            may_help = loops.were_staged and not loops.are_spared and not is_shown
            if may_help and (is_refusal(error) or not is_programs_own(error)):
                making, loops = Making(), decide(are_spared=True, are_told=loops.are_told)
                continue
            has_tensors = _has_tensors(leaves)
            if not isinstance(error, UnknownWhileTracing) or is_raised_anyway(error) or has_tensors:
                raise
            raise LeftToPython(str(error), of_values=True) from None


def traced(target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any]) -> Any:
    """Return the result of a converted function in the default graph, stand-ins included; see ``door.result_of``.

    ``leaves`` are those of the arguments.
    """
    graph = current_graph()
    assert graph is not None
    root = graph.root

    def note(bits: int) -> None:
        root.errors_while_traced |= bits

    before = setting()
    try:
        with World((target, *args, *kwargs.values()), leaves).in_force(), noting(note):
            result = settled(_trace_entry_(target, args, kwargs))
            leave_variables(nest.flatten(result))
            return result
    finally:
        restore(before)  # also where Ctrl-C came after errors were noted and before there was anything to end that


def _trace_entry_(f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call ``f``: in this frame a node's chain of user lines begins (``locations.TRACE_ENTRY``)."""
    try:
        return f(*args, **kwargs)
    except BaseException as error:
        if raise_when_run(error):
            return None
        if isinstance(error.__cause__, LeftToPython):  # of NumPy, which has put an error of its own in that place
            raise error.__cause__ from None
        said = in_words(error)
        leave_it = _stay if is_raised_anyway(error) else leave_unknown
        if isinstance(error, TypeError | UnknownExtent) or isinstance(error.__cause__, TypeError) or is_foreign(error):
            with undivided():
                from .conversion.advice import advise, asks_for_values

            if isinstance(error, UnknownWhileTracing | UnknownExtent):
                leave_it(str(error), users_line(locations.raised_at(error.__traceback__)))
            advise(error)
            if (asking := asks_for_values(error)) is not None:
                leave_it(*asking)
        if cannot_build(error):
            leave_it(str(error), users_line(locations.raised_at(error.__traceback__)))
        if said is not None:  # plain Python says it of the value that is there, if of any
            leave_it(said)
        if (said := in_words(error)) is not None:
            error.args = (f"{said}: ask for nothing of it that its own type may not have", *error.args[1:])
        raise


def _stay(*_: Any) -> None:
    """Do nothing: plain Python would say the same."""


assert _trace_entry_.__name__ == locations.TRACE_ENTRY


def settings_of(
    leaves: list[Any], traces: int, gradient_memory: str | int | None, progress: bool | None,
    keeps_checkpoints: bool, is_wanted: bool,
) -> dict[str, Any]:  # fmt: skip
    """Return what a graph is told of the trace that fills it; it *is wanted* where plain Python is no way."""
    is_strict = not any(issubclass(type(x), (Tensor, TensorSpec)) for x in leaves)
    settings: dict[str, Any] = {"strict": is_strict, "no_new_variables": bool(traces)}
    if shows_progress() if progress is None else progress:
        settings["shows_progress"] = True
    if keeps_checkpoints:
        settings["keeps_checkpoints"] = True
    if (namespace := namespace_among(leaves)) is not None:
        settings["theirs"] = theirs_of(namespace, is_wanted)
    return settings if gradient_memory is None else settings | {"gradient_memory": gradient_memory}


def theirs_of(namespace: Any, is_wanted: bool) -> Any:
    """Return what knows where arrays of a library are not as NumPy's are."""
    with undivided():  # which few programs need
        from autoloop_runtime.ir.foreign_values import Theirs

        from .foreign_namespaces import names_of
    return Theirs(namespace, functools.partial(names_of, namespace), ArrayTracer, is_wanted)


def tell_trace(function: NamedFunction, keys: Sequence[Any], made: Any, seconds: float) -> None:
    """Tell ``logging`` of a trace that was made, for the last of some keys."""
    logs, concrete = listener(), getattr(made, "concrete", made)
    if logs is not None and not isinstance(concrete, PlainPython):  # of which there is a warning
        logs.news("tracing", functools.partial(_said, function, tuple(keys), concrete, seconds), users_call())


def _said(*args: Any) -> str:
    with undivided():  # nobody listens in most programs
        from .explained_traces import said_of_trace

    return said_of_trace(*args)


def warn_of_retracing(function: str, names: tuple[str, ...], keys: Sequence[Any]) -> None:
    """Tell the user which argument makes a function be traced again and again.

    Parameters
    ----------
    function : str
        Its name.
    names : tuple of str
        Its parameters.
    keys : list
        What each trace was made for.
    """
    last = [k for k in keys[-RETRACE_WARNING:] if isinstance(k, tuple)]
    is_of_world = len(set(last)) == 1
    if is_of_world != (len(keys) > WORLD_WARNING):
        return
    if is_of_world:
        warnings.warn(
            f"{function} was traced {len(keys)} times: what it finds outside its arguments is different each time; "
            f"see autoloop.explain [AL011]",
            stacklevel=user_stacklevel(),
        )
        return
    changing = "an argument"
    for position, column in enumerate(zip(*[k[1] for k in last])):
        if len(set(column)) > 1:
            name = names[position] if position < len(names) else f"argument {position}"
            shown = ", ".join(dict.fromkeys(describe_key(k) for k in column))
            changing = f"argument {name!r} ({shown})"
            break
    warnings.warn(
        f"{function} was traced {len(keys)} times: {changing} is different each time. Python numbers are "
        f"compared by value: pass autoloop.constant(x) or an array instead; for changing shapes give "
        f"input_signature=[TensorSpec([None, ...], dtype)] [AL011]",
        stacklevel=user_stacklevel(),
    )
