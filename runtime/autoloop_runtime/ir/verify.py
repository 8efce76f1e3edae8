"""What holds of a graph at each stage, as one table: rules by name, and the stages at which they hold.

A pass, or a gradient, that breaks a rule is wrong, whatever the results are. Tests verify every graph that reaches a
stage (``stages.watch``); a run does not. The rooms of the flat form and of gradients add the rules of theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..base.dataclass import dataclass
from ..base.shapes import SCALAR
from .graph import PARAMETER, Graph, Node
from .stages import Stage
from .structured import COND, WHILE
from .tensor import Tensor


@dataclass(frozen=True)
class Rule:
    """One row of the table.

    Attributes
    ----------
    says : str
        What holds, as a sentence without its full stop.
    wrong : callable
        Gives, for a graph, what breaks the rule in it, but not in the graphs inside it.
    stages : tuple of Stage
        When it holds; by default of all graphs with structured nodes.
    structured : bool
        It is about nodes with graphs inside them: where there are none nothing breaks it.
    """

    says: str
    wrong: Callable[[Any], Iterator[object]]
    stages: tuple[Stage, ...] = (Stage.STRUCTURED, Stage.DIFFERENTIATED, Stage.OPTIMISED)
    structured: bool = False


def verify(graph: Any, stage: Stage, known: dict[Graph, int] | None = None) -> list[str]:
    """Return what breaks the rules of ``stage`` in ``graph``, and the graphs inside it: which rule, where, and what.

    ``graph`` is a ``Graph``, or at ``Stage.LOWERED`` the flat form that was made of one. ``known`` are graphs that were
    looked at, with how many nodes they had: where one of them is inside it is not looked at again. Those that were are
    added.
    """
    found: list[str] = []
    rules = [rule for rule in _rules if stage in rule.stages]
    if not rules:
        raise LookupError(f"nobody has said what holds of a graph that is {stage.name.lower()}")
    of_all = [rule for rule in rules if not rule.structured]
    pending = [graph]
    while pending:
        current = pending.pop()
        is_graph = isinstance(current, Graph)
        inside = _inside(current) if is_graph else []
        if known is not None and is_graph:
            known[current] = len(current.nodes)
        for rule in rules if inside else of_all:
            for wrong in rule.wrong(current):
                where = f"in the graph {current.prefix!r}: " if is_graph else ""
                found.append(f"{where}{rule.says}, but not {wrong!r}")
        pending += inside if known is None else [sub for sub in inside if known.get(sub) != len(sub.nodes)]
    return found


def add_rules(rules: Iterable[Rule]) -> None:
    """Let ``rules`` hold, too."""
    _rules.extend(rules)


# All graphs of all tests are looked at, after each pass: what is asked of every node is asked in few steps.


def _inside(graph: Graph) -> list[Graph]:
    return [sub for node in graph.nodes if node.op.graphs for sub in node.subgraphs]


def _read_too_early(graph: Graph) -> Iterator[object]:
    made: set[Tensor] = set()
    are_made, add = made.issuperset, made.update
    for node in graph.nodes:
        if not are_made(node.inputs) or (node.control_inputs and not are_made(node.control_inputs)):
            yield node
        add(node.outputs)
    yield from (t for t in graph.outputs if t not in made)


def _made_twice(graph: Graph) -> Iterator[object]:
    if len(set(graph.nodes)) < len(graph.nodes):
        yield from (node for node, times in Counter(graph.nodes).items() if times > 1)


def _not_its_own(graph: Graph) -> Iterator[object]:
    for node in graph.nodes:
        for k, t in enumerate(node.outputs):
            if t.node is not node or t.index != k:
                yield node
                break


def _belongs_elsewhere(graph: Graph) -> Iterator[object]:
    lineage = graph.lineage
    for node in graph.nodes:
        if node.graph.lineage is not lineage:
            yield node
    for sub in _inside(graph):
        if sub.parent is None or sub.parent.lineage is not lineage:
            yield sub


def _shared(graph: Graph) -> Iterator[object]:
    for node in graph.nodes:
        if node.graph is not graph:
            yield node
    yield from (sub for sub in _inside(graph) if sub.parent is not graph)


def _no_parameters(graph: Graph) -> Iterator[object]:
    if len(set(graph.inputs)) < len(graph.inputs):
        yield graph.inputs
    yield from (t for t in graph.inputs if t.op.op is not PARAMETER)


def _effects_without_token(graph: Graph) -> Iterator[object]:
    for node in graph.nodes:
        if node.op.effect and not (node.inputs and node.inputs[-1].dtype.kind == "b" == node.outputs[-1].dtype.kind):
            yield node


def _whiles(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.op is WHILE]


def _conds(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.op is COND]


def _loops_of_other_form(graph: Graph) -> Iterator[object]:
    for node in _whiles(graph):
        attrs, n = node.attrs, node.attrs["n_vars"]
        cond, body, token = attrs["cond"], attrs["body"], attrs["token"]
        lengths = {len(attrs[key]) for key in ("names", "invariants", "specs")} | {len(body.outputs), len(node.outputs)}
        lined_up = len(cond.inputs) == len(body.inputs) == len(node.inputs) >= n
        if lengths != {n} or not lined_up or not 1 <= len(cond.outputs) <= 1 + (token is not None):
            yield node


def _variables_of_other_dtype(graph: Graph) -> Iterator[object]:
    for node in _whiles(graph):
        cond, body = node.attrs["cond"], node.attrs["body"]
        for k, outer in enumerate(node.inputs):
            tensors = [cond.inputs[k], body.inputs[k]]
            if k < node.attrs["n_vars"]:
                tensors += [body.outputs[k], node.outputs[k]]
            if any(t.dtype != outer.dtype for t in tensors):
                yield node, k


def _no_predicate(graph: Graph) -> Iterator[object]:
    predicates = [node.attrs["cond"].outputs[0] for node in _whiles(graph)] + [n.inputs[0] for n in _conds(graph)]
    for tensor in predicates:
        if tensor.dtype.kind != "b" or not tensor.shape.is_compatible_with(SCALAR):
            yield tensor


def _branches_of_other_form(graph: Graph) -> Iterator[object]:
    for node in _conds(graph):
        for branch in (node.attrs["then"], node.attrs["else"]):
            pairs = [*zip(node.inputs[1:], branch.inputs), *zip(node.outputs, branch.outputs)]
            counts = (len(branch.inputs), len(branch.outputs)) == (len(node.inputs) - 1, len(node.outputs))
            if not counts or any(a.dtype != b.dtype for a, b in pairs):
                yield node


def _read(graph: Graph) -> set[Tensor]:
    read = set(graph.outputs)
    for node in graph.nodes:
        read.update(node.inputs, node.control_inputs)
    return read


def _not_read(graph: Graph) -> Iterator[object]:
    read = _read(graph).union(graph.inputs)
    yield from (node for node in graph.nodes if read.isdisjoint(node.outputs))


def _results_not_read(graph: Graph) -> Iterator[object]:
    conds = _conds(graph)
    read = _read(graph) if conds else ()
    yield from (t for node in conds for t in node.outputs if t not in read)


#: what holds, and when
RULES: tuple[Rule, ...] = (
    Rule("a tensor is read after it was made, in its own graph", _read_too_early),
    Rule("a node stands in its graph once", _made_twice),
    Rule("the inputs of a graph are parameters, each once", _no_parameters),
    Rule("a result is told of the node that gives it, and which result it is", _not_its_own),
    Rule("a node, and a graph inside one, is told of the graph it stands in or an earlier version", _belongs_elsewhere),
    Rule("a node, and a graph inside one, is told of the very graph it stands in", _shared, (Stage.OPTIMISED,)),
    Rule("an effect takes a token last, and gives one last", _effects_without_token),
    Rule(
        "a loop says as much of each variable, and hands all inputs to both graphs", _loops_of_other_form,
        structured=True,
    ),
    Rule("a loop variable, and a captured value, has one dtype", _variables_of_other_dtype, structured=True),
    Rule("a predicate is a boolean, and may be a scalar", _no_predicate, structured=True),
    Rule(
        "a branch takes the captured values and gives the results, of the same dtypes", _branches_of_other_form,
        structured=True,
    ),
    Rule("a node is read, or is a parameter", _not_read, (Stage.OPTIMISED,)),
    Rule("a result of a conditional is read", _results_not_read, (Stage.OPTIMISED,), structured=True),
)  # fmt: skip
#: added to while modules are imported, which may be in a thread: that is atomic
_rules: list[Rule] = list(RULES)
