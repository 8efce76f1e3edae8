"""``explain``: what became of each loop of a function, which executor runs it, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any

from autoloop_runtime.analysis.inside import loops_inside
from autoloop_runtime.base.locations import Line
from autoloop_runtime.ir.graph import Graph, Node
from autoloop_runtime.ir.op import ShownInNotebooks
from autoloop_runtime.ir.records import CallRecord, LoopRecord, call_records, loop_records
from autoloop_runtime.running.runner import Runner
from autoloop_runtime.running.standing import Standing

from .bound_function import BoundFunction
from .explained_arguments import ArgumentReport, explained_arguments
from .explained_choices import advice_on_loop, branches_of
from .explained_fallbacks import WITHOUT, calls_once, plain_fallback, refusal, without_machine_code
from .explained_traces import guards_on_arguments, guards_on_world, retraces, traces_of_key
from .findings import NOTHING, Finding, Table, place_of, rows_of, source_of
from .function import Function
from .keys import describe_trace
from .plain_python import PlainPython, what_and_where
from .rich_tables import rendered
from .text_tables import aligned, table
from .traceable import title_of, traceable

PLAIN = "plain Python"

#: of a loop that the passes took out of the graph
_GONE = Standing("none", "nothing needs what it computes, or that was known without running it")


@dataclass(frozen=True)
class LoopVariable:
    """A value that a loop of the graph carries from one iteration to the next.

    Attributes
    ----------
    name, dtype : str
    entry, invariant : str
        The static shape on entry, and the one that holds in every iteration.
    changes : bool
        False if the body hands it on as it is.
    """

    name: str
    dtype: str
    entry: str
    invariant: str
    changes: bool

    @property
    def described(self) -> str:
        """``x: float64[3]``, with None for an extent that changes."""
        extents = self.invariant.strip("()").rstrip(",")
        return f"{self.name}: {self.dtype}" + (f"[{extents}]" if extents else "")


@dataclass(frozen=True)
class LoopReport:
    """One loop of the user's source.

    Attributes
    ----------
    kind : str
        ``while``, ``for``, or ``call`` for one that ``while_loop``, ``scan``, ... was asked for.
    converted : bool
        True for a loop of the graph, False for one that Python ran while tracing.
    reason : str
        Why.
    line : Line or None
        Where it stands.
    names : tuple of str
        The names of its nodes in the graph; more than one if the trace passed the line several times.
    variables : tuple of LoopVariable
        What it carries (none for an unrolled loop).
    invariants : tuple of str
        What it uses of the outside.
    parallel_iterations : int
        How many iterations may be alive at once on the dataflow executor; 0 for an unrolled loop.
    executor, why : str
        What runs it now, and why; empty for an unrolled loop.
    count, nodes : int
        How many iterations it has, and how many nodes of the graph these are, or would be, written out, as far as that
        is known: the most of them if the trace passed the line several times.
    advice : str
        What to do about it.
    """

    kind: str
    converted: bool
    reason: str
    line: Line | None
    names: tuple[str, ...] = ()
    variables: tuple[LoopVariable, ...] = ()
    invariants: tuple[str, ...] = ()
    parallel_iterations: int = 0
    executor: str = ""
    why: str = ""
    count: int = 0
    nodes: int = 0
    advice: str = NOTHING

    @property
    def place(self) -> str:
        """The file and line."""
        return place_of(self.line, "a loop")

    @property
    def source(self) -> str:
        """That line."""
        return source_of(self.line)

    def __str__(self) -> str:
        text = f"{self.place}  {self.source}".rstrip()
        lines = [text, f"  {'converted' if self.converted else 'unrolled'}: {self.reason}"]
        if self.count:
            would = "about " if self.converted else ""
            lines.append(f"  written out: iterations: {self.count:,}, nodes: {would}{self.nodes:,}")
        if self.executor:
            lines.append(f"  executor: {self.executor} ({self.why})")
        if self.names:
            lines.append(f"  in the graph: {', '.join(self.names)}, parallel_iterations={self.parallel_iterations}")
        if self.variables:
            rows = [("variable", "dtype", "on entry", "invariant", "")]
            rows += [
                (v.name, v.dtype, v.entry, v.invariant, "" if v.changes else "never changes") for v in self.variables
            ]
            lines += [f"    {row}" for row in aligned(rows)]
        if self.invariants:
            lines.append(f"  uses from outside: {', '.join(self.invariants)}")
        if self.advice != NOTHING:
            lines.append(f"  what to do: {self.advice}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Explanation(ShownInNotebooks):
    """What ``explain`` gives; its ``str`` is the report.

    Attributes
    ----------
    name : str
        The function.
    executor, reason : str
        What runs it for these arguments now, and why.
    loops : tuple of LoopReport
        By line.
    traces : tuple of str
        The kinds of arguments that it was traced for so far.
    calls : tuple of CallRecord
        Draws of random numbers, which each run makes, and calls of functions that are not converted, which only the
        trace has made.
    arguments : tuple of ArgumentReport
        Which arguments, and arrays that it finds elsewhere, are read, written in place, or written by a copy, and why.
    places : tuple of (str, str)
        What it finds or leaves outside its arguments, in globals, closures, attributes and items: its name, and
        ``guarded`` (another value is another trace), ``read`` or ``read by reference`` at each call, or ``written``.
    scheduler : str
        Where the scheduler runs it: what its last run inside ``profiler.trace`` was like, in one line.
    branches, guards, retraces, fallbacks : tuple of Finding
        Which branches are in the graph and which were decided while tracing, what has to be as it was for the trace to
        serve a call, why there is more than one trace, and what runs as plain Python, was called once, or has no
        machine code: each with what to do about it.
    """

    name: str
    executor: str
    reason: str
    loops: tuple[LoopReport, ...]
    traces: tuple[str, ...]
    calls: tuple[CallRecord, ...] = ()
    arguments: tuple[ArgumentReport, ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    scheduler: str = ""
    branches: tuple[Finding, ...] = ()
    guards: tuple[Finding, ...] = ()
    retraces: tuple[Finding, ...] = ()
    fallbacks: tuple[Finding, ...] = ()

    @property
    def findings(self) -> dict[str, tuple[Finding, ...]]:
        """What is told besides loops, by its kind."""
        return {kind: getattr(self, kind) for kind in ("branches", "guards", "retraces", "fallbacks")}

    def __str__(self) -> str:
        lines = [self.name, f"executor: {self.executor} ({self.reason})"]
        lines += [f"scheduler: {self.scheduler}"] if self.scheduler else []
        lines.append(f"traced {len(self.traces)} time{'s' * (len(self.traces) != 1)}{', for' * bool(self.traces)}")
        lines += [f"  {trace}" for trace in self.traces]
        given = [f"  {one}" for one in self.arguments]
        lines += ["arrays and numbers that it is given:", *given] if given else []
        if not self.loops and self.executor != PLAIN:
            lines += ["", "no loop was reached"]
        for loop in self.loops:
            lines += ["", str(loop)]
        for title, found in self.findings.items():
            lines += ["", title, *table(*rows_of(found))] if found else []
        for title, rows in described_calls(self):
            lines += ["", f"{title}:", *[f"  {row}" for row in aligned(rows)]]
        if state := [one for one in self.places if one[1] != "guarded"]:
            lines += ["", "state:", *[f"  {row}" for row in aligned(state)]]
        return "\n".join(lines)

    __repr__ = __str__

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        yield from rendered(self.name, [f"executor: {self.executor} ({self.reason})"], tables_of(self))

    def as_dict(self) -> dict[str, Any]:
        """Return the same as dicts, lists, texts and numbers, for ``json``."""
        made = _plainly(self)
        assert isinstance(made, dict)
        return made


def _plainly(value: Any) -> Any:
    """Return reports as dicts; of a line its file, number and function."""
    if is_dataclass(value):
        return {one.name: _plainly(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, CallRecord):
        return {"name": value.name, "line": _plainly(value.line), "each": value.each}
    if isinstance(value, Line):
        return {"file": value.filename, "line": value.lineno, "function": value.function}
    return [_plainly(one) for one in value] if isinstance(value, tuple) else value


def described_calls(explanation: Explanation) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Return the calls of each kind, if there are any, with a title: function, line and source."""
    found = []
    for each, title in ((True, "called in every run"), (False, "called once, while tracing")):
        made = [one for one in explanation.calls if one.each == each]
        if made:
            found.append((title, [(one.name, place_of(one.line, "somewhere"), source_of(one.line)) for one in made]))
    return found


def tables_of(explanation: Explanation) -> list[Table]:
    """Return what is told as tables, those that have rows."""
    found = [
        Table("traced for", ("arguments",), [(trace,) for trace in explanation.traces]),
        Table("given", ("arrays and numbers",), [(str(one),) for one in explanation.arguments]),
        Table("loops", ("line", "source", "became", "why", "runs in", "variables", "what to do"),
              [_loop_row(loop) for loop in explanation.loops]),
        *[Table(title, *rows_of(ones)) for title, ones in explanation.findings.items()],
        *[Table(title, ("function", "line", "source"), rows) for title, rows in described_calls(explanation)],
        Table("state", ("place", "what a run does"), [one for one in explanation.places if one[1] != "guarded"]),
    ]  # fmt: skip
    return [one for one in found if one.rows]


def _loop_row(loop: LoopReport) -> tuple[str, ...]:
    carried = ", ".join([one.described for one in loop.variables])
    runs_in = f"{loop.executor} ({loop.why})" if loop.executor else ""
    became = "a loop of the graph" if loop.converted else "unrolled"
    return loop.place, loop.source, became, loop.reason, runs_in, carried, loop.advice


def explain(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Explanation:
    """Say for each loop of ``f`` whether it became a loop of the graph, and what runs it.

    Parameters
    ----------
    f : callable
        What ``autoloop.function`` made, or a plain function.
    *args, **kwargs
        Arguments (or ``TensorSpec``) for which to explain it; it is traced for them if it was not before.

    Returns
    -------
    Explanation
        Print it to read the report.

    Examples
    --------
    >>> def count(n):
    ...     i = 0
    ...     while i < n:
    ...         i += 1
    ...     return i
    >>> print(str(al.explain(count, al.constant(3))).splitlines()[0])
    count
    """
    function, args = traceable(f, args)
    name = title_of(f, function)
    try:
        concrete = function.trace_for(*args, **kwargs)
    except Exception as error:
        if isinstance(plain := getattr(error, "plain", None), PlainPython):  # of this call; others may have a graph
            return Explanation(name, PLAIN, what_and_where(plain), (), (), fallbacks=(plain_fallback(plain),))
        if function.executor != "native" or not hasattr(error, "told"):
            raise
        return _refused(replace(explain(_by_any(function), *args, **kwargs), name=name), str(error.told))
    whole = function.function if isinstance(function, BoundFunction) else function
    keys, python_function = whole.traced_for, function.python_function
    traces = tuple(map(describe_trace, keys))
    again = tuple(retraces(keys, python_function, partial(traces_of_key, whole)))
    if isinstance(concrete, PlainPython):
        said = what_and_where(concrete)
        return Explanation(name, PLAIN, said, (), traces, retraces=again, fallbacks=(plain_fallback(concrete),))
    standing, graph = concrete.runner.standing, concrete.graph
    loops, calls = _loops(graph, concrete.runner), call_records(graph)
    guards = [
        *guards_on_arguments(python_function, args, kwargs, whole.known_traces.key_of(concrete)),
        *guards_on_world(graph),
    ]
    return Explanation(
        name, standing.executor, standing.reason, loops, traces, calls, explained_arguments(concrete),
        tuple(concrete.places), _scheduler(concrete.runner), branches_of(graph), tuple(guards), again,
        tuple(_fallbacks(name, standing, loops, calls)),
    )  # fmt: skip


def _by_any(function: Function | BoundFunction) -> Function:
    """Return the same function for any executor to run."""
    made = Function(function.python_function, **{**function.options(), "executor": "auto"})
    made.needs_graph = function.needs_graph
    return made


def _refused(report: Explanation, told: str) -> Explanation:
    """Return the report on a function that machine code is not made for, of which ``report`` says how others run it."""
    others = [one for one in report.fallbacks if not one.what.endswith(WITHOUT)]
    return replace(report, executor="native", reason=f"refused: it {told}", fallbacks=(refusal(told), *others))


def _fallbacks(
    name: str, standing: Standing, loops: Sequence[LoopReport], calls: Sequence[CallRecord]
) -> Iterator[Finding]:  # fmt: skip
    """Return what was called once, and what has no machine code, each reason once."""
    yield from calls_once(calls)
    said = set[str]()
    for one in loops:
        found = without_machine_code("it", one.executor, one.why)
        if found is not None and found.why not in said:
            said.add(found.why)
            yield replace(found, line=one.line)
    found = without_machine_code(name, standing.executor, standing.reason)
    if found is not None and found.why not in said:
        yield found


def _scheduler(runner: Runner) -> str:
    seen = runner.seen
    return "" if seen is None else seen or "no run was traced; one inside of profiler.trace() is told of here"


def _loops(graph: Graph, runner: Runner) -> tuple[LoopReport, ...]:
    """Return the loops that were recorded, each with its nodes, and the nodes that nobody recorded."""
    standings = runner.loops
    nodes: dict[Line | None, list[Node]] = {}
    for node in loops_inside(graph):
        nodes.setdefault(node.location[-1] if node.location else None, []).append(node)
    reports = [
        _report(record, nodes.pop(record.line, []) if record.converted else [], standings)
        for record in loop_records(graph)
    ]
    for line, group in nodes.items():
        reports.append(
            _details(LoopReport("call", True, "the call asks for a loop of the graph", line), group, standings)
        )
    return tuple(sorted(reports, key=lambda r: (r.line.filename, r.line.lineno) if r.line else ("", 0)))


def _report(record: LoopRecord, nodes: list[Node], standings: Mapping[str, Standing]) -> LoopReport:
    report = LoopReport(record.kind, record.converted, record.reason, record.line, count=record.count,
                        nodes=record.nodes, advice=advice_on_loop(record))  # fmt: skip
    return _details(report, nodes, standings) if nodes else report


def _details(report: LoopReport, nodes: list[Node], standings: Mapping[str, Standing]) -> LoopReport:
    """Return the report with what the first of its nodes tells."""
    node = nodes[0]
    body, count, hidden = node.attrs["body"], node.attrs["n_vars"], node.attrs["token"]
    variables = tuple([
        LoopVariable(name, str(tensor.dtype), str(tensor.shape), str(invariant), body.outputs[k] is not body.inputs[k])
        for k, (name, tensor, invariant) in enumerate(zip(node.attrs["names"], node.inputs, node.attrs["invariants"]))
        if k != hidden
    ])  # fmt: skip
    captured = tuple([f"{t.op.name}: {t.dtype}{t.shape if t.shape.rank != 0 else ''}" for t in node.inputs[count:]])
    found = next((standings[n.name] for n in nodes if n.name in standings), _GONE)
    return LoopReport(report.kind, report.converted, report.reason, report.line, tuple([n.name for n in nodes]),
                      variables, captured, node.attrs["parallel_iterations"], found.executor, found.reason,
                      report.count, report.nodes, report.advice)  # fmt: skip
