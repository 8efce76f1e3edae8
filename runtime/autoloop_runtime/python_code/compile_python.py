"""The sequential executor: a graph as Python source, compiled, run, and its failures traced back to nodes."""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Callable, Sequence
from itertools import count
from types import CodeType, TracebackType
from typing import Any

import numpy as np

from ..analysis.aliasing import changes_part
from ..analysis.inside import loops_inside, nodes_inside
from ..analysis.ownership import NOWHERE, find_owned, put_elsewhere, worth_giving_away
from ..base.dataclass import dataclass
from ..base.forks import undivided
from ..base.fp_warnings import restore, setting, silence
from ..base.profiler import Recorder, active
from ..ir.graph import Graph, Node, eager
from ..ir.op import Taking
from ..ir.prices import Price
from ..ir.run_state import EAGER, RunState
from ..ir.structured import WHILE
from ..passes.rewrite import detached
from .appending import find_appended
from .block_chains import find_chains
from .counted_loops import find_counted
from .emitter import Emitter
from .lines import Line, Place, iterations
from .loop_sites import SiteFactory
from .scope import token_tensors
from .shared_output import Decided

#: numbers the files of generated code; taking the next is atomic
_serial = count()
#: a node, and the loops around it with their iterations, innermost first
Culprit = tuple[Node, list[tuple[Node, int]]]


@dataclass(frozen=True)
class Emitted:
    """A graph as Python source.

    Attributes
    ----------
    source : str
        Defines ``run``, which takes the inputs (after ``state``, if any operation needs it) and gives a list.
    namespace : dict
        The globals that the source refers to.
    line_map : dict
        Line number -> its nodes and loops.
    stateful : bool
        ``run`` takes the run's state first.
    """

    source: str
    namespace: dict[str, Any]
    line_map: dict[int, Place]
    stateful: bool


def emit(graph: Graph, counted: bool = False, sites: SiteFactory | None = None, shown: bool = False) -> Emitted:
    """Return the Python source of ``graph``, which has ``inputs`` and ``outputs``.

    Parameters
    ----------
    counted : bool
        Every loop counts its iterations, also where nothing in it can fail.
    sites : SiteFactory, optional
    shown : bool
        See ``Emitter``.

    Raises
    ------
    ValueError
        If a placeholder is needed that is no input.
    """
    # machine code that is to take over a loop knows no operations on parts
    graph = _computed_there(graph, sites is None or not loops_inside(graph))
    stateful = any(node.op.stateful for node in nodes_inside(graph))
    chains = find_chains(graph)
    owned = find_owned(graph, chains)
    decided = Decided(stateful, token_tensors(graph), owned, find_appended(graph), chains, find_counted(graph), counted)
    emitter = Emitter(decided, sites, shown)
    out = emitter.out
    parameters = (["state"] if stateful else []) + emitter.function(graph)
    lines = [Line(f"# {name}: {note}") for name, note in out.expressions.notes.items()]
    main = [Line(f"def run({', '.join(parameters)}):"), *out.prologue, *out.lines.finished(1)]
    for part in (*out.functions, main):
        lines += [Line(""), *part] if lines else part
    texts, line_map = [], {}
    for number, line in enumerate(lines, 1):
        text, spans = line.render()
        texts.append(text)
        if spans:
            line_map[number] = Place(tuple(spans), line.loops)
    return Emitted("\n".join(texts) + "\n", out.expressions.namespace, line_map, stateful)


def _computed_there(graph: Graph, with_parts: bool) -> Graph:
    """Return ``graph``, in which what the caller's arrays hold in the end is computed there, where it can be; parts of
    them, too, if that is asked for."""
    made, donated = graph, graph.donated
    if put_elsewhere(graph):
        with undivided():
            from ..passes.given_places import with_given_places

        made = with_given_places(graph)
    if donated and with_parts and any(map(changes_part, nodes_inside(graph))):
        with undivided():
            from ..passes.parts_in_place import with_parts_in_place

        made = with_parts_in_place(made)
    if made is graph:
        return graph
    made = detached(made)
    made.donated = donated
    return made


def compile_graph(graph: Graph, sites: SiteFactory | None = None) -> Generated:
    """Return a function ``run(values, state)`` that gives the outputs of ``graph`` for the values of its inputs.

    It may be called from several threads at once. What a kernel raises comes with the user's lines and the
    iterations of the loops around it. While a timeline is recorded a version runs that counts all iterations. ``sites``
    is filled with the loops that machine code may take over (see ``running.on_stack_replacement``); without it there
    are none.
    """
    return Generated(graph, *_load(graph, False, sites, graph.shows_progress))


class Generated:
    """A graph as generated Python.

    Attributes
    ----------
    function : callable
        Takes the inputs, after the run's state if it is ``stateful``, and gives the outputs; a scalar has to be one of
        NumPy's, and floating-point warnings to be silenced.
    """

    __slots__ = ("_counting", "_filename", "_graph", "_line_map", "_scalars", "function", "stateful")

    def __init__(self, graph: Graph, function: Callable[..., list[Any]], filename: str, emitted: Emitted) -> None:
        self.function, self.stateful = function, emitted.stateful
        self._graph, self._filename, self._line_map = graph, filename, emitted.line_map
        self._scalars = tuple([i for i, t in enumerate(graph.inputs) if t.shape.rank in (0, None)])
        # the version for timelines, made when it is first wanted; if two threads make it, one is dropped
        self._counting: list[tuple[Callable[..., Any], str, Emitted]] = []

    def __call__(self, values: Sequence[Any], state: RunState = EAGER) -> list[Any]:
        """Run."""
        args, scalars = values, self._scalars
        for i in scalars:
            value = values[i]
            if type(value) is np.ndarray and not value.shape:
                args = [v[()] if k in scalars and type(v) is np.ndarray and not v.shape else v
                        for k, v in enumerate(values)]  # fmt: skip
                break
        if self.stateful:
            args = [state, *args]
        recorder = active()
        if recorder is not None:
            if not self._counting:
                self._counting.append(_load(self._graph, True))
            return _run_recorded(recorder, self._graph, self._counting[0], args)
        before = setting()
        try:
            silence()
            return self.function(*args)
        except Exception as error:
            raise self.explained(error)  # noqa: B904
        finally:
            restore(before)

    def explained(self, error: Exception) -> BaseException:
        """Return what ``function`` has raised, told in terms of the user's lines and the loops around them."""
        return _explained(error, self._filename, self._line_map)


def compile_region(graph: Graph, shown: bool = False) -> tuple[Taking, Callable[[BaseException], Culprit | None]]:
    """Return a kernel that computes the outputs of ``graph`` from its inputs, some of which it may write to, and what
    finds the node that raised an error.

    The code is made when it is first run; if two threads make it, one is dropped.
    """
    made: list[tuple[Callable[..., Any], str, Emitted]] = []
    single = len(graph.outputs) == 1
    taken = worth_giving_away(graph)
    graph.donated = dict.fromkeys(taken, NOWHERE)

    def kernel(*args: Any) -> Any:
        if not made:
            made.append(_load(graph, False, shown=shown))
        results = made[0][0](*args)
        return results[0] if single else results

    culprit = lambda error: _culprit(error, made[0][1], made[0][2].line_map) if made else None  # noqa: E731
    return Taking(kernel, taken), culprit


def _load(
    graph: Graph, counted: bool, sites: SiteFactory | None = None, shown: bool = False
) -> tuple[Callable[..., Any], str, Emitted]:
    """Return the function of the generated code, its file name, and the code. The code is shown in tracebacks."""
    emitted = emit(graph, counted, sites, shown)
    filename = f"<autoloop {next(_serial)}{' ' + graph.prefix if graph.prefix else ''}>"
    namespace = dict(emitted.namespace)
    exec(compile(emitted.source, filename, "exec"), namespace)
    function = namespace["run"]
    linecache.cache[filename] = (len(emitted.source), None, emitted.source.splitlines(True), filename)
    weakref.finalize(function, linecache.cache.pop, filename, None)
    if any(node.op.traits.price is Price.FOREIGN for node in nodes_inside(graph)):
        function = eager()(function)  # the user's code computes, also if this runs while a graph is built
    return function, filename, emitted


def _run_recorded(
    recorder: Recorder, graph: Graph, loaded: tuple[Callable[..., Any], str, Emitted], args: Sequence[Any]
) -> list[Any]:
    with undivided():
        from .timeline import recorded

    function, filename, emitted = loaded
    try:
        with np.errstate(all="ignore"), recorded(recorder, graph, filename, emitted.line_map):
            result: list[Any] = function(*args)
        return result
    except Exception as error:
        raise _explained(error, filename, emitted.line_map)  # noqa: B904


def _explained(error: Exception, filename: str, line_map: dict[int, Place]) -> BaseException:
    """Return ``error``, told in terms of the node that was being computed and the loops around it."""
    found = _culprit(error, filename, line_map)
    if found is None:
        return error
    with undivided():
        from ..ir.failures import annotate, annotate_further, is_annotated

    node, frames = found
    if node.op is WHILE and is_annotated(error):  # by machine code, which knows nothing of the loops around it
        return annotate_further(error, frames)
    return annotate(error, node, frames)


def _culprit(error: BaseException, filename: str, line_map: dict[int, Place]) -> Culprit | None:
    """Return the node of the generated code ``filename`` that raised ``error``."""
    node: Node | None = None
    frames: list[tuple[Node, int]] = []
    entry: TracebackType | None = error.__traceback__
    while entry is not None:
        if entry.tb_frame.f_code.co_filename == filename and entry.tb_lineno in line_map:
            place = line_map[entry.tb_lineno]
            node = _node_at(place, entry)
            frames[:0] = iterations(place.loops, entry.tb_frame.f_locals)
        entry = entry.tb_next
    return None if node is None else (node, frames)


def _node_at(place: Place, entry: TracebackType) -> Node:
    """Return the node of the smallest expression around the instruction that failed."""
    start, end = _columns(entry.tb_frame.f_code, entry.tb_lasti)
    around = [s for s in place.spans if s[0] <= start and end <= s[1]]
    return min(around or place.spans, key=lambda s: s[1] - s[0])[2]


def _columns(code: CodeType, instruction: int) -> tuple[int, int]:
    for index, (_, _, start, end) in enumerate(code.co_positions()):
        if index == instruction // 2:
            return start or 0, end or 0
    return 0, 0
