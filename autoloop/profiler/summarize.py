"""From what a trace has recorded to a summary by line."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from autoloop_runtime.analysis.first_turns_counted import Around, how_often
from autoloop_runtime.base.locations import Line, users_line
from autoloop_runtime.base.machine_calls import MachineCall
from autoloop_runtime.base.profiler import Recorder, TracedRun
from autoloop_runtime.base.trace_curves import LOCK_WAITS
from autoloop_runtime.ir.graph import Node

from .how_busy import at_once, joined, length
from .line_summary import HOW, JOINED, ExecutorSummary, LineSummary, LoopSummary, Summary, by_line
from .longest_chain import longest, waited_for
from .seen_kernels import Kernel, is_of, seen_kernels

#: by run and iterations, of the innermost loop first: when the first kernel of them began, and the last ended
Spans = dict[tuple[int, tuple[int, ...]], tuple[int, int]]
#: kernels that take less are not worth another thread (nanoseconds)
SHORT = 10_000
#: from which share of the time on something is said to be what was in the way
MUCH = 0.7
#: kernels of a run of which the longest chain is looked for
MOST = 200_000


class Seen:
    """What a trace has recorded, and what follows from it.

    Attributes
    ----------
    kernels : list of Kernel
    runs : list of TracedRun
    before : list of int
        By kernel: which one it waited for that ends the longest chain; -1 for none.
    chain : set of int
        The kernels of the longest chains.
    of_runs : list of list of int
        By run, its kernels.
    running : Level
        How many kernels ran.
    loops : dict
        What kernels tell of the loops around them, by the loop's name and line.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.kernels = seen_kernels(recorder)
        self.runs = list(recorder.runs)
        self._loops: dict[tuple[TracedRun, int], Sequence[Node]] = {}
        self.before = [-1] * len(self.kernels)
        self.chain: set[int] = set()
        self.of_runs: list[list[int]] = [[] for _ in self.runs]
        for k, kernel in enumerate(self.kernels):
            if kernel.run >= 0:
                self.of_runs[kernel.run].append(k)
        for run, members in zip(self.runs, self.of_runs):
            self._chain(run, members)
        self.running = at_once([part for one in self.kernels for part in one.parts])
        self.loops = _loops_seen(self)

    def _chain(self, run: TracedRun, members: list[int]) -> None:
        if run.executor != "dataflow":
            self.chain.update(members)  # one after the other
        elif len(members) <= MOST:
            kernels = [self.kernels[k] for k in members]
            before = waited_for(run.graph, kernels)
            for k, one in zip(members, before):
                self.before[k] = -1 if one < 0 else members[one]
            self.chain.update([members[k] for k in longest(kernels, before)])

    def span(self, run: TracedRun, members: Sequence[int]) -> int:
        """Return nanoseconds from the beginning of a run to its end."""
        return (run.end or max([self.kernels[k].end + self.recorder.start for k in members], default=0)) - run.begin

    def of(self, loop: Node) -> OfLoop:
        """Return what kernels tell of a loop."""
        return self.loops[_key(loop)]

    def loops_of(self, kernel: Kernel) -> Sequence[Node]:
        """Return the nodes of the loops around a kernel that are known, innermost first."""
        if kernel.run < 0:
            return ()
        run = self.runs[kernel.run]
        key = (run, kernel.of.frame) if run.executor == "dataflow" else (run, id(kernel.of))
        found = self._loops.get(key)
        if found is None:
            found = self._loops[key] = _loops_of(run, kernel)
        return found


def summarize(seen: Seen) -> Summary:
    """Return the summary of a trace."""
    kinds: dict[str, list[int]] = defaultdict(list)
    for k, run in enumerate(seen.runs):
        kinds[run.executor].append(k)
    executors = tuple([_executor(seen, name, members) for name, members in kinds.items()])
    loops = _loops(seen)
    return Summary(_lines(seen, executors, {one.name: one for one in loops}), loops, executors)


def _executor(seen: Seen, name: str, runs: Sequence[int]) -> ExecutorSummary:
    members = [k for run in runs for k in seen.of_runs[run]]
    busy = joined([part for k in members for part in seen.kernels[k].parts])
    return ExecutorSummary(
        name, _how(seen, name, members), len(runs), max([seen.runs[run].threads for run in runs]),
        sum([seen.span(seen.runs[run], seen.of_runs[run]) for run in runs]) / 1e9, len(members), length(busy) / 1e9,
        seen.running.mean(busy), sum([seen.kernels[k].time for k in members if k in seen.chain]) / 1e9,
    )  # fmt: skip


def _how(seen: Seen, executor: str, kernels: Sequence[int]) -> str:
    """Return how the times of an executor were found."""
    if executor != "native":
        joined = executor == "dataflow" and any(seen.runs[seen.kernels[k].run].is_joined for k in kernels)
        return JOINED if joined else HOW[executor]
    calls = [seen.kernels[k].of for k in kernels]
    samples = sum([one.samples for one in calls if isinstance(one, MachineCall)])
    told = []
    if samples:
        told.append(
            f"machine code that says where it is, which makes it slower: lines counted, times of {samples:,} looks"
        )
    if any(isinstance(one, MachineCall) and not one.samples for one in calls):
        told.append("calls too short to be looked at: lines counted, times shared out by estimated costs")
    if any(one is None for one in calls):
        told.append("calls that could not be watched: timed as a whole")
    return "; ".join(told)


# -- by line ------------------------------------------------------------------------------------------------


class _OfLine:
    """What is added up for a line."""

    def __init__(self, line: Line | None) -> None:
        self.line = line
        self.time = self.critical = 0.0
        #: by run and the loops around them, outermost first: the names of kernels, and their operations
        self.ran: dict[int, dict[Around, tuple[Counter[str], Counter[str]]]] = {}
        self.counted = 0  # by machine code
        self.parts: list[tuple[int, int]] = []
        self.kernels: list[Kernel] = []

    def add(self, kernel: Kernel, loops: Sequence[Node], share: float, is_critical: bool) -> None:
        self.time += kernel.time * share
        self.critical += kernel.time * share * is_critical
        if isinstance(kernel.of, MachineCall):
            self.counted += kernel.of.counts.get(self.line, 0)
        elif kernel.of is not None:
            around = tuple(reversed(loops))
            names, kinds = self.ran.setdefault(kernel.run, {}).setdefault(around, (Counter(), Counter()))
            names[kernel.name] += 1
            kinds[kernel.op] += 1
        self.parts.extend(kernel.parts)
        self.kernels.append(kernel)

    def count(self, seen: Seen) -> int:
        """Return how often it ran: the operations of a line run together, those of another run after them."""
        often = self.counted
        for run, ran in self.ran.items():
            most = {around: (max(names.values()), max(kinds.values())) for around, (names, kinds) in ran.items()}
            loops = {loop for around in most for loop in around}
            often += how_often(most, {loop: seen.of(loop).written_out(run) for loop in loops})
        return often


def _lines(seen: Seen, executors: Sequence[ExecutorSummary], loops: dict[str, LoopSummary]) -> tuple[LineSummary, ...]:
    found: dict[tuple[str, int] | None, _OfLine] = {}
    for k, kernel in enumerate(seen.kernels):
        for line, share in kernel.shares:
            key = None if line is None else (line.filename, line.lineno)
            of = found.get(key)
            if of is None:
                of = found[key] = _OfLine(line)
            of.add(kernel, seen.loops_of(kernel), share, k in seen.chain)
    total = sum([of.time for of in found.values()]) or 1.0
    told = {one.executor: one for one in executors}
    order = {id(line): k for k, line in enumerate(by_line([of.line for of in found.values()]))}
    return tuple([
        _line(seen, of, total, told, loops) for of in sorted(found.values(), key=lambda of: order[id(of.line)])
    ])  # fmt: skip


def _line(
    seen: Seen, of: _OfLine, total: float, executors: dict[str, ExecutorSummary], loops: dict[str, LoopSummary]
) -> LineSummary:
    parts = joined(of.parts)
    parallelism = seen.running.mean(parts)
    kinds = {seen.runs[one.run].executor: None for one in of.kernels if one.run >= 0}
    main = next(iter(kinds), "")
    limit = "" if main not in executors else _limit(seen, of, parts, parallelism, executors[main], loops)
    return LineSummary(
        of.line, of.time / 1e9, of.time / total, of.count(seen), len(of.kernels), parallelism,
        of.critical / 1e9, limit, ", ".join(kinds),
    )  # fmt: skip


def _limit(
    seen: Seen, of: _OfLine, parts: Sequence[tuple[int, int]], parallelism: float, told: ExecutorSummary,
    loops: dict[str, LoopSummary],
) -> str:  # fmt: skip
    """Return why no more ran at once while a line did."""
    if told.executor == "sequential":
        return "generated Python is one thread"
    if told.executor == "native":
        return "machine code that is watched is one thread"
    if told.threads == 1:
        return "one thread"
    if parallelism >= 0.85 * told.threads:
        return f"all {told.threads} threads were busy"
    waited = sum([value for name, _, value in seen.recorder.added if name == LOCK_WAITS]) * 1e3
    if waited > (1 - MUCH) * told.seconds * 1e9:
        return "threads waited for the lock of the run"
    if of.time / len(of.kernels) < SHORT:
        return "kernels too short for another thread"
    if told.critical >= MUCH * told.seconds and of.critical >= length(parts) / 2:
        return "one chain: each waits for the one before"
    if sum([one.held for one in of.kernels]) > len(of.kernels) / 2:
        around = next((loops[name] for one in of.kernels for name, _ in one.loops if name in loops), None)
        if around is not None:
            return f"the window was full: parallel_iterations={around.window}"
    return "too little else was ready"


# -- loops --------------------------------------------------------------------------------------------------


def _loops_of(run: TracedRun, kernel: Kernel) -> Sequence[Node]:
    if run.executor == "dataflow":
        frames, found = run.graph.frames, []
        frame = frames[kernel.of.frame]
        while frame.source is not None:
            found.append(frame.source)
            frame = frames[frame.parent]
        return found
    return [loop.node for loop in reversed(getattr(kernel.of, "loops", ())) if loop.counter]


def _loops(seen: Seen) -> tuple[LoopSummary, ...]:
    """Return what there is to say of each loop, in the order in which they began."""
    made = []
    for name, of in seen.loops.items():
        window, held = _window(seen, of), sum(of.held) / len(of.held)
        made.append(LoopSummary(name[0], of.line, window, _count(seen, of), live_of(of.spans), held))
    return tuple(made)


class OfLoop:
    """What is gathered of a loop."""

    def __init__(self, node: Node) -> None:
        self.node, self.line = node, users_line(node.location)
        self.spans: Spans = {}
        #: the iterations that did more than to find whether there is one
        self.bodies: set[tuple[int, tuple[int, ...]]] = set()
        self.held: list[bool] = []

    def add(self, kernel: Kernel, depth: int) -> None:
        where = kernel.run, kernel.iterations[depth:]
        known = self.spans.get(where)
        begin, end = kernel.start, kernel.end
        self.spans[where] = (begin, end) if known is None else (known[0], max(known[1], end))  # they began in order
        self.held.append(kernel.held and not depth)
        if depth or not is_of(kernel, self.node.attrs["cond"]):
            self.bodies.add(where)

    def written_out(self, run: int | None = None) -> int:
        """Return how many turns a run, or each, has made before the loop: ``begun`` of each execution."""
        begun: int = self.node.attrs["begun"]
        if not begun:
            return 0
        return begun * len({(of, where[1:]) for of, where in self.spans if run in (None, of)})


def _loops_seen(seen: Seen) -> dict[tuple[str, str], OfLoop]:
    """Return what kernels tell of the loops around them, by the loop's name and line."""
    found: dict[tuple[str, str], OfLoop] = {}
    known: dict[int, OfLoop] = {}
    for kernel in seen.kernels:
        for depth, node in enumerate(seen.loops_of(kernel)):
            of = known.get(id(node))
            if of is None:
                of = known[id(node)] = found.setdefault(_key(node), OfLoop(node))
            of.add(kernel, depth)
    return found


def _key(loop: Node) -> tuple[str, str]:
    return loop.name, str(users_line(loop.location))


def _window(seen: Seen, of: OfLoop) -> int:
    run = seen.runs[next(iter(of.spans))[0]]
    if run.executor != "dataflow":
        return 1
    return next((frame.parallel_iterations for frame in run.graph.frames if frame.source is of.node), 1)


def _count(seen: Seen, of: OfLoop) -> int:
    """Return how many iterations there were, without those that only found that there are no more."""
    tests = {(run, where[1:]) for run, where in of.spans if seen.runs[run].executor == "dataflow"}
    turns = len(of.bodies) or len(of.spans) - len(tests)  # a body may be nothing but values that are handed on
    return turns + of.written_out()


def live_of(spans: Spans) -> float:
    """Return how many iterations of one execution of a loop were there at once, given when each had kernels.

    One is there from its first kernel until it and all before it are over, as the scheduler counts them.
    """
    frames: dict[tuple[int, tuple[int, ...]], list[tuple[int, int, int]]] = defaultdict(list)
    for (run, where), (begin, end) in spans.items():
        frames[run, where[1:]].append((where[0], begin, end))
    weighted = whole = 0.0
    for members in frames.values():
        parts = live_parts(members)
        covered = joined(parts)
        whole += length(covered)
        weighted += sum([end - begin for begin, end in parts])
    return weighted / whole if whole else 1.0


def live_parts(members: Sequence[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Return from when to when each iteration of an execution of a loop was there, given (iteration, begin, end)."""
    parts, over = [], 0
    for _, begin, end in sorted(members):
        over = max(over, end)
        parts.append((begin, over))
    return parts
