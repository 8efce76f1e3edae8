"""What nodes cost, and which executor that speaks for.

Costs are nanoseconds of one NumPy call, from dtypes and static shapes. The scheduler pays some microseconds per node,
generated Python next to nothing; the scheduler gains when heavy nodes can run at the same time. How much is found by
playing a few iterations of each loop on a machine with any number of processors: what is the time along the longest
chain, against the sum of all heavy work?
"""

from __future__ import annotations

from collections.abc import Sequence

from ..base import config
from ..base.dataclass import dataclass
from ..base.forks import undivided
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.prices import Price, Products, elements
from ..ir.structured import WHILE
from ..ir.tensor import Tensor
from ..ir.traits import Memory
from .fusion import is_divisible
from .induction import CONSTANTS, Known, most_trips, trip_count
from .inside import nodes_inside

#: one NumPy call, on scalars and on arrays
SCALAR_CALL = 100.0
ARRAY_CALL = 600.0
#: per element: arithmetic, functions such as exp in float32 and in other dtypes, elements picked one by one
PER_ELEMENT = 0.4
PER_FUNCTION_32 = 1.0
PER_FUNCTION = 4.0
PER_PICK = 2.0
#: multiply-adds of a matrix product per nanosecond on one core, by dtype
PRODUCTS = {"float32": 50.0, "float64": 25.0, "complex64": 12.0, "complex128": 6.0}
#: what cannot be told: the user's own code
FOREIGN = 100_000.0

#: a node below this is not worth another thread
HEAVY = 20_000.0
#: what the scheduler pays per node and iteration
OVERHEAD = 4_000.0
#: how much faster the scheduler must be
GAIN = 1.2
#: what a further thread adds to the speed of a matrix product
BLAS_GAIN = 0.6
#: what a further thread adds to the speed of operations that are computed block by block
BLOCK_GAIN = 0.8
#: iterations that are played, of loops by how deep they are
PLAYED = (12, 4, 2)
#: how often a loop is taken to run that does not tell
TRIPS = 16


def expected_trips(node: Node, known: Known = CONSTANTS) -> int:
    """Return how often a loop runs, or is taken to run where that is not known before."""
    exactly = trip_count(node, known)
    if exactly is not None:
        return exactly
    most = most_trips(node, known)
    return TRIPS if most is None else min(TRIPS, most)


def sized(node: Node) -> list[Tensor]:
    """Return the arrays whose sizes decide what ``node`` costs, as far as its row tells."""
    price = node.op.traits.price
    if price in (Price.VIEW, Price.NOTHING, Price.FOREIGN):
        return []
    tensors = node.outputs if price is Price.PICK else (*node.inputs, *node.outputs)
    return [t for t in tensors if t.dtype.kind != "O"]


def estimate(node: Node) -> float:
    """Return nanoseconds that one run of a plain node takes on one core."""
    traits, price = node.op.traits, node.op.traits.price
    inputs = node.operands
    if price is Price.NOTHING:
        return 0.0
    if price is Price.FOREIGN:
        return FOREIGN
    is_view = traits.memory is Memory.VIEW and price is Price.PICK and all(t.shape.rank == 0 for t in inputs[1:])
    if price is Price.VIEW or is_view:
        return SCALAR_CALL if node.outputs[0].shape.rank == 0 else ARRAY_CALL
    if isinstance(price, Products):
        speed = PRODUCTS.get(node.outputs[0].dtype.name, 1.0)
        return 2 * ARRAY_CALL + price.count(*inputs, **node.attrs) / speed
    if not isinstance(price, Price):
        return price(*inputs, **node.attrs)
    if price is Price.PART:  # generated code writes in place where it can
        return ARRAY_CALL + elements(inputs[1].shape) * PER_ELEMENT
    if price is Price.PICK:
        return ARRAY_CALL + elements(node.outputs[0].shape) * PER_PICK
    data = [t for t in (*inputs, *node.outputs) if t.dtype.kind != "O"]
    largest = max([elements(t.shape) for t in data], default=1)
    if largest == 1:
        return SCALAR_CALL if traits.elementwise else ARRAY_CALL
    each = PER_ELEMENT
    if price is Price.FUNCTION:
        each = PER_FUNCTION_32 if node.outputs[0].dtype.name == "float32" else PER_FUNCTION
    return ARRAY_CALL + largest * each


@dataclass(frozen=True)
class Choice:
    """An executor for a graph.

    Attributes
    ----------
    executor : str
        ``"sequential"`` or ``"dataflow"``.
    reason : str
        Why, as a sentence without its full stop.
    node : Node or None
        The node that decided it.
    no_gain : str
        Why machine code cannot be faster, as a sentence without its full stop; empty if it may.
    """

    executor: str
    reason: str
    node: Node | None = None
    no_gain: str = ""


@dataclass(frozen=True)
class _Run:
    """One run of a graph or loop.

    ``work``: of all heavy nodes; ``products``: how much of it is matrix products, which have threads of their
    own; ``blocks``: how much of it generated code computes block by block, on threads too; ``span``: the time of it on
    any number of processors; ``nodes``: how many run, heavy or not.
    """

    work: float
    products: float
    blocks: float
    span: float
    nodes: float

    def alone(self, blas_threads: int, threads: int) -> float:
        """Return the time of one node after the other."""
        by_blas = self.products * (1 - 1 / (1 + BLAS_GAIN * (blas_threads - 1)))
        return self.work - by_blas - self.blocks * (1 - 1 / (1 + BLOCK_GAIN * (threads - 1)))

    def together(self, threads: int) -> float:
        """Return the time on the scheduler, at best."""
        return max(self.span, self.work / threads) + self.nodes * OVERHEAD


def choose(graph: Graph) -> Choice:
    """Return the executor for ``graph``: the scheduler where heavy work can overlap, generated Python elsewhere."""
    heaviest = _heaviest(graph)
    if heaviest is None:
        little = "" if _is_work(graph) else "there is no loop and too little work for machine code to be felt"
        return Choice("sequential", "every operation is too cheap for running several at once to pay", no_gain=little)
    what = f"{heaviest.name!r} (about {estimate(heaviest) / 1e3:.0f} µs)"
    threads = config.get_num_threads()
    if threads == 1:
        return Choice("sequential", f"there is one thread, so heavy operations such as {what} cannot overlap", heaviest)
    player = _Player()
    whole, _ = player.play(graph, [0.0] * len(graph.inputs), 0.0)
    blas = blas_threads(threads) if whole.products else 1
    ratio = whole.alone(blas, threads) / whole.together(threads)
    if ratio < GAIN:
        why = f"the heavy operations, such as {what}, wait for each other, so they cannot overlap"
        if whole.work > whole.span:
            why = f"the heavy operations, such as {what}, could overlap, but too little to pay for the scheduler"
        if whole.blocks > whole.work / 2:
            why = f"the heavy operations, such as {what}, are computed block by block, and threads share the blocks"
        return Choice("sequential", why, heaviest)
    gaining = (node for node, run in player.loops.items() if run.alone(blas, threads) >= GAIN * run.together(threads))
    node = next(gaining, None)
    where = f" in the loop {node.name!r}" if node is not None else ""
    reason = (
        f"heavy operations such as {what} do not all wait for each other{where}: "
        f"{threads} threads can be up to {ratio:.1f} times as fast as one"
    )
    return Choice("dataflow", reason, node or heaviest)


def blas_threads(most: int) -> int:
    """Return how many threads a matrix product uses by itself."""
    with undivided():
        from threadpoolctl import threadpool_info

    found = [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]
    return min(max(found, default=1), most)


def _is_work(graph: Graph) -> bool:
    """Return whether ``graph`` has a loop, or all its nodes together are worth some thought."""
    if sum(estimate(node) for node in graph.nodes if not node.subgraphs) > HEAVY:
        return True
    return any(n.op is WHILE or any(map(_is_work, n.subgraphs)) for n in graph.nodes)


def _heaviest(graph: Graph) -> Node | None:
    """Return the costliest node that is worth another thread, in ``graph`` or the graphs inside it."""
    best, best_cost = None, HEAVY
    for node in nodes_inside(graph):
        cost = 0.0 if node.subgraphs else estimate(node)
        if cost > best_cost:
            best, best_cost = node, cost
    return best


class _Player:
    """Plays graphs: every node starts when its inputs are there, only heavy nodes take time."""

    def __init__(self) -> None:
        self.loops: dict[Node, _Run] = {}
        self._light: dict[Node, int] = {}
        self._depth = 0

    def play(self, graph: Graph, arrivals: Sequence[float], start: float) -> tuple[_Run, list[float]]:
        """Return one run of ``graph`` whose inputs arrive at the given times, not before ``start``.

        Returns
        -------
        _Run, list of float
            The span counts from the earliest arrival; when each output is there.
        """
        at: dict[Tensor, float] = dict(zip(graph.inputs, arrivals))
        work = products = blocks = nodes = 0.0
        last = start
        for node in graph.nodes:
            if node.op in (CONST, PARAMETER):
                at.setdefault(node.outputs[0], start)
                continue
            ready = max([start, *[at[t] for t in node.control_inputs]])
            inputs = [max(ready, at[t]) for t in node.inputs]
            if node.subgraphs:
                run, ends = self._structured(node, inputs, ready)
                work, products, nodes = work + run.work, products + run.products, nodes + run.nodes
                blocks += run.blocks
                last = max(last, ready + run.span)
            else:
                cost = estimate(node)
                cost = cost if cost > HEAVY else 0.0
                work, nodes = work + cost, nodes + 1
                products += cost if isinstance(node.op.traits.price, Products) else 0.0
                blocks += cost if is_divisible(node) else 0.0
                ends = [max([ready, *inputs]) + cost] * len(node.outputs)
            at.update(zip(node.outputs, ends))
            last = max([last, *ends])
        return _Run(work, products, blocks, last - start, nodes), [at[t] for t in graph.outputs]

    def _structured(self, node: Node, inputs: Sequence[float], start: float) -> tuple[_Run, list[float]]:
        count = self._light.get(node)
        if count is None:
            count = self._light[node] = _light_nodes(node)
        if count:
            return _Run(0.0, 0.0, 0.0, 0.0, count), [max([start, *inputs])] * len(node.outputs)
        if node.op is WHILE:
            self._depth += 1
            try:
                return self._while(node, inputs, start)
            finally:
                self._depth -= 1
        decided, captured = inputs[0], inputs[1:]
        runs = [self.play(node.attrs[key], captured, max(start, decided)) for key in ("then", "else")]
        run, ends = max(runs, key=lambda r: r[0].work)
        return run, [max(decided, t) for t in ends]

    def _while(self, node: Node, inputs: Sequence[float], start: float) -> tuple[_Run, list[float]]:
        """Return several iterations; no more of them alive at once than the window allows."""
        attrs, n = node.attrs, node.attrs["n_vars"]
        window = int(attrs["parallel_iterations"])
        variables, captured = list(inputs[:n]), list(inputs[n:])
        begin = min(inputs, default=start)
        work = products = blocks = nodes = 0.0
        ends: list[float] = []
        finished = start
        trips = expected_trips(node)
        played = max(1, min(trips, PLAYED[min(self._depth, len(PLAYED)) - 1]))
        for iteration in range(played):
            opens = max(start, ends[iteration - window]) if iteration >= window else start
            test, (decided, *_) = self.play(attrs["cond"], [*variables, *captured], opens)
            arrivals = [max(t, decided) for t in variables]
            step, results = self.play(attrs["body"], [*arrivals, *captured], decided)
            work, nodes = work + test.work + step.work, nodes + test.nodes + step.nodes + n
            products += test.products + step.products
            blocks += test.blocks + step.blocks
            variables = [max(r, decided) for r in results]
            finished = max(finished, decided + step.span, *variables)
            ends.append(finished)
        scale = trips / played
        run = _Run(work * scale, products * scale, blocks * scale, (finished - begin) * scale, nodes * scale)
        self.loops[node] = run
        return run, [begin + (t - begin) * scale for t in variables]


def _light_nodes(node: Node) -> int:
    """Return how many nodes a structured node runs if none of them is heavy, else 0."""
    total = 0
    pending = [(node, 1)]
    while pending:
        current, times = pending.pop()
        if not current.subgraphs and estimate(current) > HEAVY:
            return 0
        total += times
        times *= expected_trips(current) if current.op is WHILE else 1
        pending += [(inner, times) for graph in current.subgraphs for inner in graph.nodes]
    return total
