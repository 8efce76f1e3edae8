"""Gradient tapes: derivatives of what Python code has computed, value by value.

A tape keeps, for every eager operation that depends on something watched, a function from the gradients of its
outputs to those of its inputs. A call of a decorated function is one entry, whose backward half is a graph of its
own (``compiled_calls``). Inside a trace there is nothing to record: the graph is the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, overload

from ..base import dtypes, nest
from ..base.dataclass import dataclass, not_pickled
from ..collections import adjoint_table
from ..collections.variables import READ, Variable
from ..ir.convert import convert_to_tensor
from ..ir.followers import FollowedArrays
from ..ir.graph import Graph, current_graph, eager
from ..ir.op import Op
from ..ir.recorders import Recorder, recorders, recording
from ..ir.run_state import HeldState, RunState
from ..ir.tensor import Tensor
from ..ir.traits import NO_GRADIENT
from ..ops.gathering import GATHER
from ..running.prepare import run_graph, wrap
from ..running.runner import Runner
from .activity import Key, is_differentiable
from .build import build, seed, seeds_of, source_in
from .compiled_calls import Recorded, Way, recorded
from .copying import inlined
from .enclosing import enclosing
from .jacobians import jacobians
from .row_gradients import rows
from .sources import Sources, check_alone
from .span import Span
from .walk import gradients_of, nothing

#: from gradients of the outputs to gradients of the inputs
Backward = Callable[[list[Tensor | None]], Sequence[Any]]
_ELSEWHERE = "the target was not computed inside the tape's with block [AL406]"


@dataclass(frozen=True)
class Entry:
    """One recorded computation."""

    inputs: tuple[Key, ...]
    outputs: tuple[Tensor, ...]
    backward: Backward


class GradientTape:
    """Records computations for differentiation.

    Parameters
    ----------
    persistent : bool
        ``gradient`` may be called more than once.
    watch_accessed_variables : bool
        Trainable variables are watched when they are read.

    Notes
    -----
    A context manager; tapes nest, and the gradient computed inside an outer tape can be differentiated again. In a
    function (and anywhere else where a graph is built) the operations built inside the ``with`` block count.

    A call of a decorated function saves what its gradient needs. Where machine code runs it, which cannot hand such
    values out, ``gradient`` computes the call again from its arguments, unless somebody would notice (effects).

    Examples
    --------
    >>> x = al.constant(3.0)
    >>> with al.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> print(tape.gradient(y, x))
    Tensor(6.0, shape=(), dtype=float32)
    """

    __reduce__ = not_pickled(
        "a GradientTape is not pickled, as it knows tensors of this process; send its gradients [AL706]"
    )

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self.persistent = persistent
        self._watches_variables = watch_accessed_variables
        self._entries: list[Entry] = []
        #: what depends on something watched
        self._tracked: set[Key] = set()
        self.arrays = FollowedArrays()
        self._watched: dict[Key, None] = {}
        #: what it records of the graph that is being built, if one is
        self._span: Span | None = None
        self._used = False
        self._context: Any = None

    # -- recording ----------------------------------------------------------------------------------------

    def __enter__(self) -> GradientTape:
        if self._context is not None:
            raise ValueError("the tape is recording already [AL406]")
        graph = current_graph()
        self._span = None if graph is None else Span(graph)
        self._context = recording((*recorders(), self))
        self._context.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        context = self._context
        assert context is not None
        try:
            context.__exit__(*exc)
        finally:
            self._context = None
        if self._span is not None:
            self._span.end()

    def watch(self, tensor: Any) -> None:
        """Record what depends on ``tensor`` (a tensor, a Variable, or a structure of them)."""
        for leaf in nest.flatten(tensor, expand_composites=True):
            if not isinstance(leaf, (Tensor, Variable)):
                raise TypeError(f"a tape watches tensors and variables, not {type(leaf).__name__} [AL406]")
            check_alone(leaf)
            key = leaf.plain if isinstance(leaf, Tensor) else leaf
            self._watched[key] = None
            self._tracked.add(key)

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the variables watched so far."""
        return tuple([k for k in self._watched if isinstance(k, Variable)])

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Nothing is recorded inside."""
        with recording([r for r in recorders() if r is not self]):
            yield

    def reset(self) -> None:
        """Forget what was recorded and watched."""
        self._entries.clear()
        self._tracked.clear()
        self.arrays = FollowedArrays()
        self._watched.clear()
        self._used = False

    def record(self, op: Op, inputs: Sequence[Tensor], outputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> None:
        """Record a primitive that was computed eagerly (``recorders.Recorder``)."""
        self.arrays.refuse_written(inputs)
        if op is READ:
            variable = attrs["variable"]
            if self._sees(variable):
                self._keep((variable,), outputs, lambda gs: gs)
        elif op.vjp is not NO_GRADIENT and any(t in self._tracked for t in inputs):

            def backward(gs: list[Tensor | None]) -> Sequence[Any]:
                if op is GATHER and attrs["axis"] == 0 and gs[0] is not None:
                    return [rows(gs[0], inputs[1], inputs[0]), None]
                return gradients_of(op, repr(op.name), gs, outputs, inputs, attrs)

            self._keep(tuple(inputs), outputs, backward)

    def tracks(self, tensor: Tensor) -> bool:
        """Return whether ``tensor`` depends on something watched (``recording.Recorder``)."""
        return tensor in self._tracked

    def run(self, graph: Graph, runner: Runner, inputs: Sequence[Tensor], state: RunState) -> list[Tensor]:
        """Run a whole graph for all recorders in force (``recording.Recorder``)."""
        self.arrays.refuse_written(inputs)
        return _run_recorded([r for r in recorders() if isinstance(r, GradientTape)], graph, runner, inputs, state)

    def _sees(self, source: Key) -> bool:
        """Return whether ``source`` is tracked; a variable that is used becomes so."""
        if isinstance(source, Variable) and source.trainable and self._watches_variables:
            self.watch(source)
        return source in self._tracked

    def _keep(self, inputs: tuple[Key, ...], outputs: Sequence[Tensor], backward: Backward) -> None:
        kept = [t for t in outputs if is_differentiable(t)]
        if kept:
            self._entries.append(Entry(inputs, tuple(outputs), backward))
            self.arrays.follow([x for x in inputs if x in self._tracked], kept)
            self._tracked.update(kept)

    # -- derivatives --------------------------------------------------------------------------------------

    @overload
    def gradient(
        self, target: Any, sources: Tensor | Variable, output_gradients: Any = None,
        unconnected_gradients: str = "none",
    ) -> Tensor | Any: ...  # fmt: skip
    @overload
    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: str = "none"
    ) -> Any: ...
    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: str = "none"
    ) -> Any:
        """Return the gradient of ``target`` (summed, if it has several elements) with regard to ``sources``.

        Parameters
        ----------
        target : structure of Tensor
        sources : structure of Tensor and Variable
            Tensors must have been watched.
        output_gradients : structure of Tensor, optional
            What each target's gradient starts with; ones by default.
        unconnected_gradients : {"none", "zero"}
            What a source gets that ``target`` does not depend on.

        Returns
        -------
        structure of Tensor, IndexedSlices or None
            In the structure of ``sources``; ``IndexedSlices`` where all there is comes from ``gather``, ``None`` where
            no differentiable path leads (see ``gradients``).

        Raises
        ------
        RuntimeError
            If a tape that is not persistent is asked twice.
        """
        if self._used and not self.persistent:
            raise RuntimeError(
                "this tape was used already; GradientTape(persistent=True) may be used several times [AL406]"
            )
        self._used = True
        wanted = Sources.of(sources)
        targets = [convert_to_tensor(t) for t in nest.flatten(target, expand_composites=True)]
        seeds = seeds_of(target, output_gradients)
        inside = recorders() if self.persistent else [r for r in recorders() if r is not self]
        with recording(inside):
            if self._span is not None and any(t.is_symbolic for t in targets):
                found = self._in_graph(self._span, targets, seeds, wanted.keys)
            else:
                found = self._in_values(targets, seeds, wanted.keys)
            packed = wanted.pack(found, unconnected_gradients == "zero")
        if not self.persistent:
            self._entries.clear()
        return packed

    def jacobian(self, target: Tensor, sources: Any, unconnected_gradients: str = "none") -> Any:
        """Return the derivative of every element of ``target`` with regard to every element of each source.

        Parameters
        ----------
        target : Tensor
        sources : structure of Tensor and Variable
        unconnected_gradients : {"none", "zero"}

        Returns
        -------
        structure of Tensor
            Of shape ``target.shape + source.shape``. Costs one backward pass per element of ``target``.
        """
        wanted = Sources.of(sources)
        persistent, self.persistent = self.persistent, True
        try:
            made = jacobians(
                target,
                wanted.keys,
                lambda one: self.gradient(target, wanted.keys, [one]),
                zeros=unconnected_gradients == "zero",
            )
        finally:
            self.persistent = persistent
        return wanted.pack(made)

    def _in_values(self, targets: list[Tensor], seeds: list[Any], sources: list[Any]) -> list[Any]:
        found: dict[Key, Any] = {}
        pairs = [(y, seed(y, g)) for y, g in zip(targets, seeds) if is_differentiable(y)]
        for y, start in pairs:
            if not y.is_symbolic:
                _add(found, y, start)
        self._through_graph([(y, start) for y, start in pairs if y.is_symbolic], found)
        for entry in reversed(list(self._entries)):
            gs = [None if (g := found.get(t)) is None else convert_to_tensor(g) for t in entry.outputs]
            if any(g is not None for g in gs):
                for key, g in zip(entry.inputs, entry.backward(gs)):
                    if g is not None and key in self._tracked:
                        _add(found, key, g)
        return [found.get(x) if x in self._tracked else None for x in sources]

    def _through_graph(self, pairs: list[tuple[Tensor, Tensor]], found: dict[Key, Any]) -> None:
        """Go back from tensors of a loop that is being built to the values that it uses."""
        graph = current_graph()
        if not pairs:
            return
        if graph is None or self._context is None:
            raise ValueError(_ELSEWHERE)
        used = dict.fromkeys([x for g in enclosing(graph) for x in _mentioned(g)])
        keys = [x for x in used if self._sees(x) and is_differentiable(x)]
        for source, part in zip(keys, build(graph, [y for y, _ in pairs], [g for _, g in pairs], keys)):
            if part is not None:
                _add(found, source, part)

    def _in_graph(self, span: Span, targets: list[Tensor], seeds: list[Any], sources: list[Any]) -> list[Any]:
        spans = span.around(current_graph())
        if any(t.graph is not None and t.graph not in spans for t in targets):
            raise ValueError(_ELSEWHERE)
        graph = next(iter(spans))
        with graph.name_scope("gradients"):
            pairs = [(y, seed(y, g)) for y, g in zip(targets, seeds) if is_differentiable(y)]
            keys = [source_in(graph, x) for x in sources]
            found = build(graph, [y for y, _ in pairs], [g for _, g in pairs], keys, spans=spans, sparse=True)
        return [
            g if x in self._watched or (isinstance(x, Variable) and x.trainable and self._watches_variables) else None
            for g, x in zip(found, sources)
        ]


def _add(found: dict[Key, Any], key: Key, part: Any) -> None:
    known = found.get(key)
    if known is not None and part.dtype == dtypes.variant:
        part = adjoint_table.merge(known, part)
    elif known is not None:
        part = known + part
    found[key] = part


# -- calls ------------------------------------------------------------------------------------------------


def _run_recorded(
    tapes: Sequence[GradientTape], graph: Graph, runner: Runner, inputs: Sequence[Tensor], state: RunState
) -> list[Tensor]:
    """Run ``graph`` once, keeping for every tape what its way back will want.

    What an inner tape has saved are results that an outer one may differentiate, so it splits the graph that the
    inner one has left.
    """
    values = [t.value for t in inputs]
    ways: list[tuple[GradientTape, Recorded, Way, tuple[Key, ...]]] = []
    outputs: Sequence[Tensor] = graph.outputs
    for tape in reversed(tapes):
        sources = _sources(tape, graph, inputs)
        made = recorded(graph, outputs, runner, [inner for _, inner in sources]) if sources else None
        if made is not None:
            outside, way = {inner: outer for outer, inner in sources}, made.way(values)
            ways.append((tape, made, way, tuple([outside[x] for x in made.split.sources])))
            outputs, runner = way.outputs, way.forward
    if any(made.variables and way.again for _, made, way, _ in ways) and not isinstance(state, HeldState):
        with eager():
            state = HeldState({v: v.read_value() for v in ways[0][1].variables})
    results = [wrap(v) for v in runner.run(values, state)]
    for tape, made, way, keys in ways:
        made.ran(values, results)
        given = results[: len(made.split.outputs)]
        kept = inputs if way.again else results[len(given) : len(way.outputs)]
        tape._keep(keys, given, _call_backward(way, given, kept, state))
    return results


def _call_backward(way: Way, outputs: Sequence[Tensor], kept: Sequence[Tensor], state: RunState) -> Backward:
    split = way.split

    def backward(gs: list[Tensor | None]) -> Sequence[Tensor | None]:
        given = [nothing(outputs[k]) if (g := gs[k]) is None else g for k in split.given]
        if any(t.is_symbolic for t in given):
            held = state.held if isinstance(state, HeldState) else None
            results = inlined(way.graph, [*given, *kept], held)
        else:
            results = run_graph(way.graph, way.back(), [*given, *kept], state)
        results = results[: len(split.sources)]
        wanted = [k for k in split.given if gs[k] is not None]
        if len(wanted) < len(split.given):
            return [g if there else None for g, there in zip(results, split.connected(wanted))]
        return results

    return backward


def _sources(tape: GradientTape, graph: Graph, inputs: Sequence[Tensor]) -> list[tuple[Key, Key]]:
    """Return ``(source outside, source in the graph)`` of everything tracked that the graph gets or mentions."""
    found: list[tuple[Key, Key]] = [(x, p) for x, p in zip(inputs, graph.inputs) if x in tape._tracked]
    mentioned = dict.fromkeys(_mentioned(graph))
    return found + [(x, x) for x in mentioned if tape._sees(x) and is_differentiable(x)]


def _mentioned(graph: Graph) -> Iterable[Key]:
    """Yield the variables read, and the concrete tensors used, in ``graph`` and the graphs inside it."""
    yield from graph.constants
    for node in graph.nodes:
        if node.op is READ:
            yield node.attrs["variable"]
        for below in node.subgraphs:
            yield from _mentioned(below)


_: type[Recorder] = GradientTape
