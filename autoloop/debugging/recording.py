"""Values of loop variables, iteration by iteration: kept by a run, shown, and compared with those of another run.

The graph of a trace of its own is extended by stacks, as a gradient extends it, so every executor keeps what it has
computed. Of a loop in another the outer one keeps a stack of stacks, which machine code gives to nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from html import escape
from itertools import zip_longest
from typing import Any

import numpy as np
from autoloop_runtime.base.config import runs_as_python
from autoloop_runtime.base.dataclass import dataclass, replace
from autoloop_runtime.base.error_codes import coded
from autoloop_runtime.base.locations import Line
from autoloop_runtime.collections import saved_stacks
from autoloop_runtime.collections.swap import SwapStack
from autoloop_runtime.collections.tensor_array import TensorArray
from autoloop_runtime.control.while_loop import while_loop
from autoloop_runtime.gradients.rewriting import complete_stack_of, stack_of, trips_of
from autoloop_runtime.ir.convert import as_constant
from autoloop_runtime.ir.graph import Graph, Node
from autoloop_runtime.ir.numbers_held import shown
from autoloop_runtime.ir.run_state import RunState
from autoloop_runtime.ir.structured import WHILE
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.running.prepare import prepare
from autoloop_runtime.running.runner import Runner

from ..bound_function import BoundFunction
from ..concrete import ConcreteFunction, own
from ..function import Function
from ..plain_python import PlainPython, what_and_where
from ..text_tables import aligned

_STACKS = (saved_stacks.Stack, saved_stacks.EmptyStack, SwapStack)
_BLOCKS = "▁▂▃▄▅▆▇█"
#: so many iterations are shown at the beginning and at the end
MOST_SHOWN = 10


@dataclass(frozen=True)
class RecordedVariable:
    """A loop variable, and what it was.

    Attributes
    ----------
    name : str
    line : Line or None
        What computes it in an iteration.
    values : list
        Arrays, scalars of NumPy's and numbers: on entry, and after each iteration.
    """

    name: str
    line: Line | None
    values: list[Any]

    def sparkline(self, width: int = 60) -> str:
        """Return its numbers, or the norms of its arrays, as one line of bars; nan and inf as ``!``."""
        numbers = np.array([np.linalg.norm(np.asarray(one, np.complex128)) if np.ndim(one) else one
                            for one in self.values]).astype(np.float64)  # fmt: skip
        numbers = numbers[np.linspace(0, len(numbers) - 1, min(width, len(numbers))).astype(int)]
        good = numbers[np.isfinite(numbers)]
        low, high = (good.min(), good.max()) if good.size else (0.0, 0.0)
        steps = (numbers - low) / ((high - low) or 1.0) * (len(_BLOCKS) - 1)
        return "".join(_BLOCKS[int(step)] if np.isfinite(step) else "!" for step in steps)


@dataclass(frozen=True)
class RecordedLoop:
    """A loop; of one in another all its runs, one after the other.

    Attributes
    ----------
    name : str
        Its name in the graph.
    line : Line or None
        Where it stands.
    variables : tuple of RecordedVariable
    iterations : tuple of tuple of int
        After which iteration each value of a variable was seen: those of the loops around, then its own; -1 on entry.
    """

    name: str
    line: Line | None
    variables: tuple[RecordedVariable, ...]
    iterations: tuple[tuple[int, ...], ...]

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield what is shown of each iteration: its number, and the variables after it; ``…`` for those left out."""
        count = len(self.iterations) if self.variables else 0
        yield ("iteration", *[one.name for one in self.variables])
        for k in range(count):
            if MOST_SHOWN <= k < count - MOST_SHOWN:
                if k == MOST_SHOWN:
                    yield ("…",) * (1 + len(self.variables))
                continue
            yield (_path_text(self.iterations[k]), *[shown(one.values[k]) for one in self.variables])


@dataclass(frozen=True)
class Recording:
    """What ``record`` gives; print it for a table of each loop.

    Attributes
    ----------
    name : str
        The function.
    result : Any
        What the call gave.
    loops : tuple of RecordedLoop

    Examples
    --------
    >>> recording = al.debugging.record(al.function(lambda x: x + 1), al.constant(1))
    >>> type(recording).__name__
    'Recording'
    """

    name: str
    result: Any
    loops: tuple[RecordedLoop, ...]

    def __str__(self) -> str:
        lines = [self.name]
        for loop in self.loops:
            lines += ["", f"{loop.name} ({loop.line})", *aligned(list(loop.rows()))]
            lines += [f"{one.name}: {one.sparkline()}" for one in loop.variables]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True)
class Parting:
    """The first iteration after which two runs differ; print it.

    Attributes
    ----------
    loop : str
    iteration : tuple of int
        Those of the loops around, then its own: -1 if they differ on entry; how many both had if one went on longer.
    name : str
        The variable; empty if only the numbers of iterations differ.
    line : Line or None
        What computes it.
    values : tuple
        What it is in the one, and in the other.
    """

    loop: str
    iteration: tuple[int, ...]
    name: str
    line: Line | None
    values: tuple[Any, Any]

    def __str__(self) -> str:
        where = f" ({self.line})" if self.line is not None else ""
        around = f" in iteration {_path_text(self.iteration[:-1])}" if self.iteration[1:] else ""
        if not self.name:
            return f"{self.loop}{where}: {self.values[0]} iterations and {self.values[1]}{around}"
        when = f"after iteration {_path_text(self.iteration)}" if self.iteration[-1] >= 0 else f"on entry{around}"
        one, other = (np.array2string(np.asarray(value), threshold=20) for value in self.values)
        return f"{self.loop}: {self.name!r}{where} is {one} and {other} {when}"

    __repr__ = __str__


def record(
    f: Callable[..., Any], *args: Any, variables: Collection[str] | None = None, executor: str | None = None,
    limit: int = 256 << 20, **kwargs: Any,
) -> Recording:  # fmt: skip
    """Call a function, and keep what its loop variables are in each iteration.

    Parameters
    ----------
    f : callable
        What ``autoloop.function`` made, or a plain function. A trace of its own is made.
    *args, **kwargs
        Its arguments. It is called once with them, and changes what it changes.
    variables : collection of str, optional
        Which loop variables are kept; by default all.
    executor : str, optional
        What runs it; by default the function's own, and ``"sequential"`` for ``"auto"``.
    limit : int
        How many bytes may be kept.

    Returns
    -------
    Recording
        Of the loops that stand in no branch; with ``"native"`` of those that stand in no other loop either.

    Raises
    ------
    TypeError
        If plain Python runs the function, or the call has arguments that share an array.
    ValueError
        If no loop has a variable of one of these names.
    MemoryError
        If more than ``limit`` was kept; the call has been made.

    Examples
    --------
    >>> def count(n):
    ...     i = 0
    ...     while i < n:
    ...         i += 1
    ...     return i
    >>> recording = al.debugging.record(count, al.constant(3))
    >>> print(str(recording).splitlines()[-1])
    i: ▁▃▅█
    """
    given = f if isinstance(f, (Function, BoundFunction)) else Function(f)
    chosen = executor or ("sequential" if given.executor == "auto" else given.executor)
    function = Function(given.python_function, given.input_signature, given.autograph, chosen, given.name)
    if runs_as_python():
        raise TypeError(f"{function.name} has no loops to record: config.run_as_python() is on [AL701]")
    trace = function.trace_for(*args, **kwargs)
    if isinstance(trace, PlainPython):
        raise TypeError(coded("AL701", f"{function.name} has no loops to record: {what_and_where(trace)}"))
    concrete = trace if isinstance(trace, ConcreteFunction) else trace.newest
    recorder = _Recorder(concrete, variables)
    if variables is not None and (unknown := set(variables) - recorder.names):
        known = ", ".join(sorted(recorder.names)) or "none"
        raise ValueError(f"no loop of {function.name} has a variable {sorted(unknown)[0]!r}; there are {known} [AL701]")
    result = function(*args, **kwargs)
    if recorder.names and not recorder.has_run:
        raise TypeError(
            f"{function.name} has no loops to record: the call has been made, but plain Python ran it, or a trace for "
            "arguments that share an array; give copies of these [AL701]"
        )
    return Recording(function.name, result, recorder.loops(limit))


class _Recorder:
    """Lets the runs of a trace keep more than they give.

    Attributes
    ----------
    names : set of str
        The loop variables that there are.
    has_run : bool
        Whether the trace was what a call ran.
    """

    has_run = False

    def __init__(self, concrete: ConcreteFunction, wanted: Collection[str] | None) -> None:
        graph = concrete.graph
        self.names: set[str] = set()
        self._kept: list[tuple[Node, tuple[Node, ...], list[tuple[str, Line | None]]]] = []
        self._results: list[Any] = []
        self._root, self._wanted, self._is_native = graph, wanted, concrete.runner.asked == "native"
        count = len(graph.outputs)
        self._keep(graph, ())
        runner = prepare(graph, concrete.runner.asked)
        concrete.runner = replace(runner, run=self._running(runner, count), direct=None, automatic=None)

    def _keep(self, graph: Graph, around: tuple[Node, ...]) -> None:
        """Let what the loops of ``graph``, the body of the last of the loops ``around``, hold be results."""
        for node in [one for one in graph.nodes if one.op is WHILE]:
            names = node.attrs["names"]  # behind a number of several types stands one of its name that tells its type
            places = [k for k in range(node.attrs["n_vars"]) if _is_users(node, k) and names.index(names[k]) == k]
            self.names |= {names[k] for k in places}
            kept = [k for k in places if self._wanted is None or names[k] in self._wanted]
            lines = [(names[k], _line_of(node, k)) for k in kept]
            stacks = [complete_stack_of(node, k) for k in kept]
            for outer in reversed(around):
                stacks = [stack_of(outer, stack) for stack in stacks]
            if self._is_native and kept:
                stacks = _as_arrays(graph, node, kept, stacks)
            self._root.outputs += stacks
            self._kept.append((node, around, lines))
            if not self._is_native:
                self._keep(node.attrs["body"], (*around, node))

    def _running(self, runner: Runner, count: int) -> Callable[[list[Any], RunState], list[Any]]:
        def run(values: list[Any], state: RunState) -> list[Any]:
            results = runner.run(values, state)
            self.has_run = True
            arrays = [value for value in values if isinstance(value, np.ndarray)]
            self._results = [_taken(stack, arrays) for stack in results[count:]]
            return results[:count]

        return run

    def loops(self, limit: int) -> tuple[RecordedLoop, ...]:
        """Return what the last run has kept."""
        stacks = iter(self._results)
        if (size := sum(map(_bytes, self._results))) > limit:
            raise MemoryError(
                f"{size:,} bytes were kept, more than {limit:,}: name fewer variables, or raise limit= [AL701]"
            )
        found = []
        for node, around, lines in self._kept:
            begun = [one.attrs.get("begun", 0) for one in (*around, node)]
            told = [list(_in_order(next(stacks), begun)) for _ in lines]
            kept = tuple([RecordedVariable(*line, [value for _, value in one]) for line, one in zip(lines, told)])
            iterations = tuple([path for path, _ in told[0]]) if told else ()
            found.append(RecordedLoop(node.name, _last(node), kept, iterations))
        return tuple(found)


def _taken(stack: Any, arrays: Sequence[Any]) -> list[Any]:
    """Return what a stack holds, with lists in the place of the stacks in it."""
    if isinstance(stack, saved_stacks.EmptyStack):
        return []
    return [_taken(one, arrays) if isinstance(one, _STACKS) else own(one, arrays) for one in stack]


def _bytes(kept: Any) -> int:
    return sum(map(_bytes, kept)) if isinstance(kept, list) else np.asarray(kept).nbytes


def _in_order(kept: list[Any], begun: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield the values of a variable, each with the iterations after which it was seen; of the outermost loop first
    ``begun`` iterations were computed before, and so on."""
    if len(begun) == 1:
        yield from [((begun[0] + k - 1 if k else -1,), value) for k, value in enumerate(kept)]
        return
    for k, inner in enumerate(kept):
        yield from [((begun[0] + k, *path), value) for path, value in _in_order(inner, begun[1:])]


def _path_text(path: Sequence[int]) -> str:
    return ".".join(["entry" if k < 0 else str(k) for k in path])


def _as_arrays(graph: Graph, node: Node, variables: Sequence[int], stacks: Sequence[Tensor]) -> list[Tensor]:
    """Return arrays of the elements of stacks: machine code gives no stacks."""
    trips = trips_of(node)
    likes = [node.now.outputs[k] for k in variables]
    with graph.as_default():
        count = trips + 1
        return [_as_array(stack, like, count) for stack, like in zip(stacks, likes)]


def _as_array(stack: Tensor, like: Tensor, count: Tensor) -> Tensor:
    array = TensorArray(like.dtype, 0, dynamic_size=True, element_shape=like.shape)
    step = lambda k, array: (k + 1, array.write(k, saved_stacks.read(stack, k, like)))  # noqa: E731
    made: Tensor = while_loop(lambda k, _: k < count, step, (as_constant(np.int64(0)), array))[1].stack()
    return made


def _is_users(node: Node, k: int) -> bool:
    """Return whether a loop variable is one of the user's, with a value that can be shown."""
    name = node.attrs["names"][k]
    return k != node.attrs["token"] and node.inputs[k].dtype.kind in "biufc" and not {" ", ":"} & set(name)


def _line_of(node: Node, k: int) -> Line | None:
    """Return the line that computes a loop variable in an iteration."""
    body: Graph = node.attrs["body"]
    made = body.outputs[k].source
    return _last(made.op) if made.node is not None and made.op.location else _last(node)


def _last(node: Node) -> Line | None:
    return node.location[-1] if node.location else None


def diff(one: Recording, other: Recording, rtol: float = 0.0, atol: float = 0.0) -> Parting | None:
    """Return where two runs part first, of two executors, inputs or versions of a function; None if they do not.

    Parameters
    ----------
    one, other : Recording
        Of functions with the same loops.
    rtol, atol : float
        Numbers that are as near as ``np.isclose`` says are equal; nan equals nan.

    Returns
    -------
    Parting or None

    Raises
    ------
    ValueError
        If the runs have other loops that stand in no other.

    Examples
    --------
    >>> def shrunk(x, factor):
    ...     while x > 0.1:
    ...         x = x * factor
    ...     return x
    >>> one, other = (al.debugging.record(shrunk, al.constant(1.0), factor) for factor in (0.5, 0.25))
    >>> parting = al.debugging.diff(one, other)
    >>> parting.name, parting.iteration
    ('x', (0,))
    """
    outermost, others = _outermost(one), _outermost(other)
    if outermost != others:
        raise ValueError(f"the recordings are of other loops: {', '.join(outermost) or 'none'}, and "
                         f"{', '.join(others) or 'none'} [AL701]")  # fmt: skip
    known = {loop.name: loop for loop in other.loops}  # machine code keeps no loops in others
    pairs = [(loop, known[loop.name]) for loop in one.loops if loop.name in known]
    found = [parting for pair in pairs if (parting := _parting(*pair, rtol, atol)) is not None]
    # loops follow each other; what a loop comes to in an iteration is there after what those in it come to
    return min(found, key=lambda one: (_place(one.loop, outermost), (*one.iteration, np.inf)), default=None)


def _outermost(recording: Recording) -> list[str]:
    names = [loop.name for loop in recording.loops]
    return [name for name in names if not any(name.startswith(f"{other}/") for other in names)]


def _place(loop: str, outermost: Sequence[str]) -> int:
    """Return which of the outermost loops it is, or stands in."""
    return next((k for k, name in enumerate(outermost) if loop == name or loop.startswith(f"{name}/")), len(outermost))


def _parting(mine: RecordedLoop, its: RecordedLoop, rtol: float, atol: float) -> Parting | None:
    """Return where two runs of a loop part."""
    pairs = [(a, b) for a in mine.variables for b in its.variables if a.name == b.name]
    for k, (path, other) in enumerate(zip_longest(mine.iterations, its.iterations)):
        if path != other:
            around = min(one for one in (path, other) if one is not None)[:-1]
            counts = [sum(one[:-1] == around for one in loop.iterations) - 1 for loop in (mine, its)]
            if min(counts) < 0:  # the loop around it went on in one of them only, which is told of that
                return None
            begun = max([one[-1] for one in mine.iterations[:k] if one[:-1] == around], default=-1) + 1
            return Parting(mine.name, (*around, begun), "", mine.line, (counts[0], counts[1]))
        for a, b in pairs:
            if not _are_equal(a.values[k], b.values[k], rtol, atol):
                return Parting(mine.name, path, a.name, a.line, (a.values[k], b.values[k]))
    return None


def _are_equal(a: Any, b: Any, rtol: float, atol: float) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and bool(np.isclose(a, b, rtol, atol, equal_nan=True).all())
