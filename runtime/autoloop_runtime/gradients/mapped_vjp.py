"""Gradients of loops through the rows of arrays of Dask's go by chunks, as the loops do.

Before the walk such loops become ``mapped_rows`` (``by_chunks``). The way back is another one, from the last chunk to
the first: it goes through a chunk again, from the carry that it began with, and back. So nothing is kept of the rows,
and of a chunk only that carry.

::

  gradient of the carry, gradients of rows, sums for what is read besides
      = mapped_rows(others; gradient of the carry; rows, gradients of what is stacked; begun)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

from .. import ops
from ..analysis.inside import nodes_inside
from ..base import nest
from ..base.dataclass import dataclass, replace
from ..base.locations import Location
from ..base.shapes import SCALAR, TensorShape
from ..collections.tensor_array import TensorArray
from ..distributed.mapped_loops import chunk_graph, mapped, own_graph
from ..distributed.mapped_rows import HANDED, MAPPED, RULE, Chunk, Form, of_each
from ..distributed.row_loops import RowLoop, SurelyLazy, row_loops
from ..ir.graph import CONST, Graph, Node, current_graph
from ..ir.stages import Stage, come_to
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..running.prepare import set_outputs
from ..running.remote_programs import Program, arrived
from .activity import Marks, is_differentiable, reached
from .copying import inlined
from .rewriting import before
from .walk import STRUCTURED, Adjoints, Walk, nothing

# -- before the walk ------------------------------------------------------------------------------------------


def by_chunks(spans: Mapping[Graph, Sequence[Node]], marks: Marks, found: Set[Tensor]) -> None:
    """Make operations of the loops through rows that a gradient goes through.

    Parameters
    ----------
    spans : mapping
        The graphs, and of each the nodes, that it goes through.
    marks : Marks
    found : set of Tensor
        What depends on the sources, of the graphs themselves.
    """
    for graph, nodes in spans.items():
        theirs = graph.root.theirs
        known = SurelyLazy(graph, [t for t in graph.inputs if theirs.of(t) is True])
        _in_graph(graph, [node for node in nodes if not found.isdisjoint(node.outputs)], known, marks)


def _in_graph(graph: Graph, nodes: Sequence[Node], known: SurelyLazy, marks: Marks) -> None:
    if not any(node.op is WHILE or node.op is COND for node in nodes):
        return
    found = row_loops(graph, known, is_made=False)
    for node in nodes:
        one = found.get(node) if node.op is WHILE else None
        if one is not None and not marks.inside(node.attrs["body"]) and _exchange(graph, one):
            continue
        for inner in node.subgraphs if node.op is WHILE or node.op is COND else ():
            _in_graph(inner, inner.nodes, known, marks)


def _lifted(body: Graph) -> dict[Tensor, Tensor] | None:
    """Return the constants of a body that are copies of values, of which somebody may want a derivative, and these;
    None if there are some in graphs inside."""
    found = {}
    for node in nodes_inside(body):
        if node.op is not CONST or not is_differentiable(node.outputs[0]):
            continue
        value = _value_of(node.outputs[0])
        if value is not None and node.graph is not body:
            return None
        if value is not None:
            found[node.outputs[0]] = value
    return found


def _value_of(constant: Tensor) -> Tensor | None:
    """Return the concrete tensor that a constant is a copy of."""
    graph = constant.op.graph
    origin = next((one for one, inner in graph.constants.items() if inner is constant), None)
    outer = next((outer for outer, inner in graph.captures.items() if inner is constant), None)
    if origin is not None or outer is None:
        return origin
    return outer if outer.node is None else _value_of(outer)


def _exchange(graph: Graph, one: RowLoop) -> bool:
    """Put an operation in the place of a loop and of what puts together what it collects, if that can be done."""
    loop, lifted = one.loop, _lifted(one.loop.attrs["body"])
    if lifted is None:
        return False
    with before(loop):
        one = replace(one, lifted={constant: graph.capture(value) for constant, value in lifted.items()})
    chunk = Chunk(chunk_graph(one), Program, arrived)
    if chunk.content is None:
        return False
    inputs, attrs = mapped(one, chunk, begins=True)
    outs = {out.position: k for k, out in enumerate(one.collected, len(one.carried))}
    with before(loop):
        made = graph.add(MAPPED, inputs, attrs, loop.name.rpartition("/")[2])
        handed = [graph.constant(one.length.op.attrs["value"].astype(loop.inputs[0].dtype))]
        for k in range(1, len(loop.outputs)):
            if k in one.settled:
                handed.append(graph.constant(one.settled[k].op.attrs["value"]))
            elif k in outs:
                handed += nest.flatten(_unstacked(made.outputs[outs[k]]), True)
            else:
                handed.append(made.outputs[one.carried.index(k)])
    graph.exchange(loop, loop.instead(HANDED, handed, {}))
    for out in one.collected:
        graph.exchange(out.stack, out.stack.instead(HANDED, [made.outputs[outs[out.position]]], {}))
    return True


def _unstacked(rows: Tensor) -> TensorArray:
    """Return what a loop has collected, for who reads that otherwise; nobody may."""
    made = TensorArray.collecting(rows.dtype, rows.shape[0], False, rows.shape[1:], True)
    return made.unstack(rows)


# -- the way back -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Wanted:
    """Which gradients are given, and which are wanted, by position; hashable.

    Attributes
    ----------
    carried : tuple of int
        What is carried that can have a gradient.
    stacked, summed, apart, begun : tuple of int
        Of what an operation gives, that of which there is a gradient.
    others, rows, each : tuple of int
        Of what it takes, that of which there is to be one.
    """

    carried: tuple[int, ...]
    stacked: tuple[int, ...]
    summed: tuple[int, ...]
    apart: tuple[int, ...]
    begun: tuple[int, ...]
    others: tuple[int, ...]
    rows: tuple[int, ...]
    each: tuple[int, ...]


def backward(node: Node, gradients: Sequence[Tensor | None], walk: Walk) -> None:
    """Add the operation that goes back through the chunks, and hand out what it gives."""
    parts = _parts(gradients, node.outputs, node.inputs, node.attrs, walk.reached.__contains__, node.location)
    for tensor, part in parts:
        walk.add(tensor, part)


def _rule(g: Sequence[Tensor | None], outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the gradients of all inputs, as forward mode asks for them."""
    found: dict[Tensor, list[Tensor]] = {}
    for tensor, part in _parts(g, outputs, inputs, attrs, is_differentiable, ()):
        found.setdefault(tensor, []).append(part)
    # what is given in two places gets the sum in the first
    return [functools.reduce(ops.add, found.pop(t)) if t in found else None for t in inputs]


def _parts(
    gradients: Sequence[Tensor | None], outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any,
    is_wanted: Callable[[Tensor], bool], location: Location,
) -> list[tuple[Tensor, Tensor]]:  # fmt: skip
    """Return inputs, and what the operation that goes back through the chunks gives for them."""
    graph, form, chunk = current_graph(), attrs["form"], attrs["chunk"]
    assert graph is not None
    others, carried, heads, rows, each = form.taken(inputs)
    last, stacked, summed, apart, begun = form.given(gradients)
    *_, made_begun = form.given(outputs)
    parts: list[tuple[Tensor, Tensor]] = []
    for k, head in enumerate(heads):
        if (whole := stacked[k]) is not None:
            parts.append((head, whole[-1] if form.reverse else whole[0]))
            stacked[k] = whole[:-1] if form.reverse else whole[1:]
    given = [tuple([k for k, g in enumerate(those) if g is not None]) for those in (stacked, summed, apart, begun)]
    wanted = _Wanted(
        tuple([k for k, t in enumerate(carried) if is_differentiable(t)]), *given,
        *[tuple([k for k, t in enumerate(those) if is_differentiable(t) and is_wanted(t)])
          for those in (others, rows, each)],
    )  # fmt: skip
    if wanted not in chunk.made:
        chunk.made[wanted] = Chunk(_chunk_back(chunk.graph, form, wanted), Program, arrived)
    entering = [nothing(carried[k]) if last[k] is None else last[k] for k in wanted.carried]
    taken = [
        *others, *[summed[k] for k in wanted.summed], *entering, *rows, *[stacked[k] for k in wanted.stacked],
        *each, *made_begun, *[apart[k] for k in wanted.apart], *[begun[k] for k in wanted.begun],
    ]  # fmt: skip
    results = [*[carried[k] for k in wanted.carried], *[rows[k] for k in wanted.rows],
               *[others[k] for k in wanted.others], *[each[k] for k in wanted.each]]  # fmt: skip
    specs = [(t.dtype, t.shape) for t in results]
    specs += [(t.dtype, of_each(t.shape)) for t in results[: len(wanted.carried)]]
    back = {"chunk": chunk.made[wanted], "form": _form_back(form, wanted), "specs": specs}
    made = graph.add(MAPPED, taken, back, "mapped_rows/gradient", location or None)
    return [*parts, *zip(results, made.outputs)]


def _form_back(form: Form, wanted: _Wanted) -> Form:
    return Form(
        form.others + len(wanted.summed), len(wanted.carried), 0, form.rows + len(wanted.stacked),
        form.each + form.carried + len(wanted.apart) + len(wanted.begun),
        stacked=len(wanted.rows), summed=len(wanted.others), apart=len(wanted.each), begun=len(wanted.carried),
        reverse=not form.reverse, leading=form.leading,
    )  # fmt: skip


def _chunk_back(chunk: Graph, form: Form, wanted: _Wanted) -> Graph:
    """Return the graph that goes through a chunk, and back."""
    graph = own_graph(chunk)
    _, *given = chunk.inputs
    others, carried, rows, each = _kinds(given, (form.others, form.carried, form.rows, form.each))
    last, stacked, summed, apart = _kinds(chunk.outputs, (form.carried, form.stacked, form.summed, form.apart))

    def taken(tensors: Sequence[Tensor], of: Any = None, name: str = "gradient") -> list[Tensor]:
        return [graph.parameter(t.dtype, t.shape if of is None else of(t.shape), name) for t in tensors]

    def chosen(tensors: Sequence[Tensor], which: Sequence[int]) -> list[Tensor]:
        return [tensors[k] for k in which]

    count = graph.parameter(chunk.inputs[0].dtype, SCALAR, "count")
    own_others, of_sums = taken(others, None, "capture"), taken(chosen(summed, wanted.summed))
    entering = taken(chosen(last, wanted.carried))
    own_rows, of_stacked = taken(rows, None, "rows"), taken(chosen(stacked, wanted.stacked), _any_rows)
    own_each, begun = taken(each, None, "each"), taken(carried, _single_row, "begun")
    of_apart = taken(chosen(apart, wanted.apart))
    of_begun = taken(chosen(carried, wanted.begun), _single_row)
    graph.inputs = [
        count, *own_others, *of_sums, *entering, *own_rows, *of_stacked, *own_each, *begun, *of_apart, *of_begun
    ]  # fmt: skip
    with graph.as_default():
        starts = [one[0] for one in begun]
        results = inlined(chunk, [count, *own_others, *starts, *own_rows, *own_each])
        ends, rest = results[: form.carried], results[form.carried :]
        rest_stacked, rest_summed, rest_apart = _kinds(rest, (form.stacked, form.summed, form.apart))
        ys = [*chosen(ends, wanted.carried), *chosen(rest_stacked, wanted.stacked),
              *chosen(rest_summed, wanted.summed), *chosen(rest_apart, wanted.apart)]  # fmt: skip
        seeds = [*entering, *of_stacked, *of_sums, *of_apart]
        xs = [*chosen(starts, wanted.carried), *chosen(own_rows, wanted.rows), *chosen(own_others, wanted.others),
              *chosen(own_each, wanted.each)]  # fmt: skip
        found = _gradients(graph, ys, seeds, xs)
        for k, g in zip(wanted.begun, of_begun):
            place = wanted.carried.index(k)
            found[place] = ops.add(found[place], g[0])
        set_outputs(graph, found)
    return graph


def _gradients(
    graph: Graph, ys: Sequence[Tensor], seeds: Sequence[Tensor], xs: Sequence[Tensor]
) -> list[Tensor]:  # fmt: skip
    """Return the gradients of ``ys`` with regard to ``xs``, which are what the graph is given."""
    nodes, marks = [*graph.nodes], Marks([graph], xs)
    walk = Walk(graph, reached(nodes, xs, marks), marks, Adjoints())
    for y, seed in zip(ys, seeds):
        walk.add(y, seed)
    walk.run(nodes)
    graph.strict = False  # what the rules of gradients make and do not need is nothing the user wrote
    come_to(graph, Stage.DIFFERENTIATED)
    return [nothing(x) if (g := walk.adjoints.total(x)) is None else g for x in xs]


def _kinds(tensors: Sequence[Tensor], counts: Sequence[int]) -> Iterator[list[Tensor]]:
    start = 0
    for count in counts:
        yield [*tensors[start : start + count]]
        start += count


def _any_rows(shape: TensorShape) -> TensorShape:
    return of_each(shape[1:])


def _single_row(shape: TensorShape) -> TensorShape:
    return TensorShape([1]).concatenate(shape)


STRUCTURED[MAPPED] = backward
RULE.append(_rule)
