"""``autoloop run``, ``trace`` and ``explain``: calling the function with arguments from the command line."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime.base import config, nest
from autoloop_runtime.base.parsing import signature_of
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tensor_spec import TensorSpec

from ..bound_function import BoundFunction
from ..concrete import ConcreteFunction
from ..derivative_functions import DerivativeFunction
from ..explanation import Explanation, explain
from ..function import Function
from ..profiler import trace as traced
from ..rich_tables import has_rich, print_rich
from ..traceable import traceable
from ..viewing.highlight import wants_colour
from .arguments import parse_arguments
from .problems import UsageError
from .target import Target, load_target

Call = tuple[Function | BoundFunction, list[Any], dict[str, Any]]


def call_of(target: Target, options: argparse.Namespace) -> Call:
    """Return the function and its arguments, which are known to fit its signature.

    Raises
    ------
    UsageError
        If the arguments cannot be read or do not fit.
    """
    function = target.as_function(getattr(options, "executor", None))
    args, kwargs = parse_arguments(options.args or "")
    if options.args is None and function.input_signature is not None:
        return function, list(function.input_signature), {}
    signature = signature_of(function.python_function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise UsageError(f"{target.name}{signature}: {error}; arguments are given with --args '...' [AL802]") from None
    return function, args, kwargs


def traced_call_of(target: Target, options: argparse.Namespace) -> Call:
    """Return the decorated function of which a trace is what the call runs, and its arguments, see ``call_of``."""
    function, args, kwargs = call_of(target, options)
    if isinstance(target.found, DerivativeFunction) and getattr(options, "executor", None) is None:
        made, given = traceable(target.found, tuple(args))
        return made, list(given), kwargs
    return function, args, kwargs


def trace_of(target: Target, options: argparse.Namespace) -> ConcreteFunction:
    """Return the trace of the function for the arguments of the command line."""
    function, args, kwargs = traced_call_of(target, options)
    made = function.get_concrete_function(*args, **kwargs)
    return made if isinstance(made, ConcreteFunction) else made.newest


def _values(call: Call) -> Call:
    """Return the call, if it has values to run on."""
    for value in nest.flatten((call[1], call[2])):
        if isinstance(value, TensorSpec):
            raise UsageError(f"{value} is a kind of tensor, not a value; give an array, e.g. zeros(3, 3) [AL802]")
    return call


def run(options: argparse.Namespace) -> None:
    """Call the function and print what it gives."""
    if options.threads is not None:
        config.set_num_threads(options.threads)
    function, args, kwargs = _values(call_of(load_target(options.target), options))
    times = []
    result = None
    for _ in range(options.repeat):
        start = time.perf_counter()
        result = function(*args, **kwargs)
        times.append(time.perf_counter() - start)
    print_result(result)
    if options.repeat > 1:
        sys.stdout.flush()
        print(_timing(times), file=sys.stderr)


def _timing(times: list[float]) -> str:
    later = times[1:]
    return (
        f"first call {_seconds(times[0])} (with tracing), then {len(later)} calls: best {_seconds(min(later))}, "
        f"median {_seconds(statistics.median(later))}"
    )


def _seconds(value: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def print_result(result: Any) -> None:
    """Print a value; the parts of a structure one by one, with their places."""
    leaves, structure = nest.flatten_with_structure(result)
    for path, leaf in zip(structure.paths(), leaves):
        place = "".join(f"[{part!r}]" for part in path)
        text = str(np.asarray(leaf)) if isinstance(leaf, Tensor) else str(leaf)
        joint = "\n" if "\n" in text else " "
        print(f"{place}{joint}{text}" if place else text)


def trace(options: argparse.Namespace) -> None:
    """Run the function, write a timeline of it, and say what each line took."""
    if options.threads is not None:
        config.set_num_threads(options.threads)
    function, args, kwargs = _values(call_of(load_target(options.target), options))
    function.get_concrete_function(*args, **kwargs)  # the timeline is of the run, not of the tracing
    _check_writable(options.output)
    with traced(options.output) as recorder:
        print_result(function(*args, **kwargs))
    sys.stdout.flush()
    print(
        f"wrote {options.output}: {len(recorder.slices)} slices on {len(recorder.threads)} threads; "
        f"open it at https://ui.perfetto.dev\n\n{recorder.summary()}",
        file=sys.stderr,
    )


def _check_writable(path: str) -> None:
    try:
        with open(path, "a"):
            pass
    except OSError as error:
        raise UsageError(f"cannot write {path!r}: {error.strerror}") from None


def explain_target(target: Target, options: argparse.Namespace) -> Explanation:
    """Return the report on a function."""
    function, args, kwargs = call_of(target, options)
    is_as_it_is = isinstance(target.found, DerivativeFunction) and getattr(options, "executor", None) is None
    return explain(target.found if is_as_it_is else function, *args, **kwargs)


def explain_command(options: argparse.Namespace) -> None:
    """Print the report on the function."""
    report = explain_target(load_target(options.target), options)
    if options.json:
        print(json.dumps(report.as_dict(), indent=2, ensure_ascii=False))
    elif wants_colour(sys.stdout) and has_rich():
        print_rich(report)
    else:
        print(report)


COMMANDS: dict[str, Callable[[argparse.Namespace], None]] = {"run": run, "trace": trace, "explain": explain_command}
