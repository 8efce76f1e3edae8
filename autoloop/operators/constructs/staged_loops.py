"""Building a loop of converted code into the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.dataclass import dataclass, field, replace
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.shapes import SCALAR
from autoloop_runtime.ir.array_storage import Block
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import Graph, current_graph, theirs_here
from autoloop_runtime.ir.structured import (
    LoopOptions,
    LoopVar,
    body_and_cond,
    check_initial,
    check_maximum,
    check_predicate,
    finish_while,
)
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import Kind, NumberTracer, join, number_of

from ... import operators
from ...left_to_python import LeftByRun, leaving, refuse_unknown, ruled
from ..mutation.array_identity import HeldArrays, renew
from ..mutation.rebinding import rebound_so_far
from ..mutation.side_effects import NewPlaces, Outside
from ..staging.container_contents import has_objects
from ..staging.containers_of_blocks import Rebound
from ..staging.first_turns import FirstTurn, OtherFirstTurn, first_turn
from ..staging.loop_variables import Retrace, Variable, check_results, make_variable
from ..staging.mixed_numbers import MixedNumber
from ..staging.no_turns import begun_as_numbers, number_after, number_on_entry, of_another_dtype, unchanged
from ..staging.numbers_or_arrays import note
from ..staging.raising import Raising, raise_unless
from ..staging.staged_blocks import is_run_time_error, looping, raise_at_run_time, staged_block, telling
from ..staging.staged_values import as_maybe, asked, is_staged, truth
from ..staging.taken_containers import ids_in, leave_endless
from .asked_tests import asking_only

Values = tuple[Any, ...]
#: an object that a loop has made, and those that it may be
Twin = tuple[Any, list[Any]]
_ATTEMPTS = 12


@dataclass(frozen=True)
class Loop:
    """A loop as converted code describes it.

    Attributes
    ----------
    test, body : callable
        Take the values of the variables; ``body`` returns their next values.
    names : tuple of str
        The variables.
    until : tuple of str
        Those that end the loop at once when true.
    outside : Outside
        What the body changes by other means.
    options : dict
        The arguments of ``set_loop_options``.
    number : Kind
        What Python numbers are after it, unless a tensor decides how often it runs: then they are tensors.
    surely : bool
        Whether the body is known to run at least once.
    counted : bool
        Whether the first variable counts its iterations, from 0 on.
    rebound : Rebound
        Which containers the body replaces by others.
    """

    test: Callable[..., Any]
    body: Callable[..., Any]
    names: tuple[str, ...]
    until: tuple[str, ...]
    outside: Outside
    options: dict[str, Any] = field(default_factory=dict)
    number: Kind = NumberTracer
    surely: bool = False
    counted: bool = False
    rebound: Rebound = field(default_factory=Rebound)


def staged_loop(loop: Loop, values: Values, witness: Any) -> Values:
    """Build a loop that starts with ``values`` and return the values after it; see ``_loop``.

    Its first turn is written out where it computes in other dtypes than later ones, and that may make a difference.
    """
    while True:  # dtypes only get wider
        try:
            return _loop(loop, values, witness)
        except OtherFirstTurn as found:
            other = found  # what the turn raises comes from the program
        is_on = _is_on(loop, values)
        if not is_staged(is_on) and not is_on:
            return values
        if loop.options.get("maximum_iterations") is not None:
            refuse_unknown(other.text, other.advice)
        if is_staged(is_on) and not loop.surely:
            raise_unless(truth(is_on), Raising(LeftByRun, other.left))
        values = loop.body(*values) or ()
        options = {**loop.options, "begun": loop.options.get("begun", 0) + 1}
        loop = replace(loop, outside=loop.outside.given(values), options=options, surely=False, counted=False)


def _is_on(loop: Loop, values: Values) -> Any:
    """Return whether a loop has another turn."""
    stops = [values[loop.names.index(name)] for name in loop.until]
    return asked(nor(stops, lambda: asked(loop.test(*values))))


def _loop(loop: Loop, values: Values, witness: Any) -> Values:
    """Build a loop that starts with ``values`` and return the values after it.

    Parameters
    ----------
    loop : Loop
        The loop.
    values : tuple
        The variables' values on entry.
    witness : object
        The value whose being a tensor made the loop a staged one; tells the graph if none is current.
    """
    graph = current_graph() or convert_to_tensor(witness).graph
    assert graph is not None
    while True:
        before = loop.outside.read()
        names = (*loop.names, *loop.outside.names)
        every = (*values, *before)
        leave_endless(names, every)
        shapes, as_before = _invariants(loop.options, names), rebound_so_far()
        try:
            with graph.as_default():
                carried = loop.outside.arrays
                variables = [
                    make_variable(one, value, shapes.get(one), carried) for one, value in zip(names, every, strict=True)
                ]
                made: list[Twin] = []
                results = _settle(graph, loop, variables, made, every)
            loop.rebound.refuse_shared(names, every)
            break
        except NewPlaces:
            as_before()
            loop.outside.write((*before, *loop.outside.read(len(before))))
        except BaseException:
            as_before()
            loop.outside.write((*before, *loop.outside.read(len(before))))
            raise
    loop.rebound.let_out(every)
    results = tuple(map(loop.rebound.written_back, names, every, results))
    loop.outside.finish(results[len(loop.names) :])
    count = len(loop.names)
    every_name = (*loop.outside.names, *loop.names)
    loop.rebound.begun_places(every_name, (*every[count:], *every[:count]))
    loop.rebound.tell_places(every_name, (*loop.outside.read(), *results[:count]))
    if made:
        _twins().watch(made)
    renew(results)
    return results[: len(loop.names)]


def _invariants(options: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    given = dict(options.get("shape_invariants") or ())
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ruled(
            ValueError(
                f"set_loop_options names {unknown[0]!r} in shape_invariants, which is no variable of the loop: "
                f"its variables are {', '.join(map(repr, names))} [AL023]"
            )
        )
    return given


def _settle(graph: Graph, loop: Loop, variables: list[Variable], made: list[Twin], every: Values) -> Values:
    """Trace until the types of all variables are the types the body gives them."""
    before, first = loop.outside.read(), None
    for _ in range(_ATTEMPTS):
        try:
            return _build(graph, loop, variables, made, every, first)
        except Retrace as again:
            _check_entry(loop.outside.changed_owners(before), variables, again.variables)
            first = first or first_turn(variables, again)
            variables = again.variables
    raise TypeError(
        f"the types of {', '.join(repr(v.name) for v in variables)} do not settle: they change with each trace of "
        f"the loop's body; start with tensors of the dtypes they should have [AL020]"
    )


def _check_entry(changed: set[int], variables: list[Variable], news: list[Variable]) -> None:
    """Refuse to take objects apart whose attributes the body has set: those on entry are not to be had any more, and
    another name of the object would not see what becomes of the parts."""
    for variable, new in zip(variables, news, strict=True):
        if changed and new.form is not variable.form and has_objects(new.form):
            for one in _twins().taken_apart(new.form):
                if id(one.kind.value) in changed:
                    refuse_unknown(
                        f"a {one.kind.cls.__name__} changes in a loop on tensors that lets its name stand for others, "
                        f"too",
                        "let each iteration make a new one",
                    )


def _build(
    graph: Graph, loop: Loop, variables: list[Variable], twins: list[Twin], every: Values, first: FirstTurn | None
) -> Values:
    declared = [one for variable in variables for one in variable.loop_vars()]
    # an array that is a number before the first iteration is one to the caller if there is none
    maybe = [] if loop.number is not NumberTracer else begun_as_numbers(variables)
    begun = [(place, leaf) for place, leaf in maybe if leaf.may_stay_number or not loop.surely]
    changed = [] if loop.number is not NumberTracer or loop.surely else of_another_dtype(variables)
    counts = loop.counted and len(variables[0].loop_vars()) > 0
    arrays = HeldArrays((told := telling()) and told.of_loop(variables, len(declared)))
    declared += arrays.told.declared() if arrays.told else []
    if (begun or changed) and not counts:
        declared.append(LoopVar("an iteration", convert_to_tensor(np.False_), SCALAR))
    for one in declared:
        check_initial(one)
    scope = graph.unique_name("while")
    cond_graph, body_graph = body_and_cond(graph, scope, declared)
    for graph_of in (body_graph, cond_graph):
        for place, leaf in maybe:
            note(graph_of.inputs[place], None, number_on_entry(leaf), leaf.name)
    tensors, origins = _trace_body(body_graph, loop, variables, arrays, every)
    if first is not None:
        first.check_body(variables, body_graph, tensors)
    with body_graph.as_default():
        tensors += [convert_to_tensor(np.True_) for _ in declared[len(tensors) :]]
        stated = loop.options.get("shape_invariants")  # of a shape that the user has stated an error is the answer
        tensors = leaving(check_results, (TypeError,) if stated else (TypeError, ValueError))(declared, tensors)
    if (theirs := theirs_here()) is not None:
        theirs.settle_loop([one.init for one in declared], body_graph.inputs, tensors, cond_graph.inputs)
    with cond_graph.as_default(), staged_block(), Block(cond_graph) as block:
        values = _values(variables, cond_graph.inputs, as_maybe, [])
        with loop.rebound.taken.holding(every, values) as given:
            loop.outside.takes(ids_in((*every, *given)))
            loop.outside.write(given[len(loop.names) :])
            stops = [given[loop.names.index(name)] for name in loop.until]
            asking = asking_only(loop.test)
            test = loop.outside.around(lambda *mine: (asking(*mine),), len(loop.names))
            pred = asked(nor(stops, lambda: test(*given)[0]))
            number = join(loop.number, number_of((pred,)))
            pred = check_predicate(truth(pred), "the condition of the loop")
        arrays.settle_test(block, loop.outside)
    if first is not None:
        first.check_test(cond_graph)
    outputs = finish_while(graph, scope, declared, cond_graph, pred, body_graph, tensors, _loop_options(loop.options))
    if number is NumberTracer and (begun or changed):
        none_ran = ops.equal(outputs[0], 0) if counts else ops.logical_not(outputs[-1])
        for place, leaf in begun:
            note(outputs[place], *number_after(leaf, none_ran), leaf.name)
        for place, leaf in changed:
            note(outputs[place], *unchanged(leaf, none_ran), leaf.name, is_array=True)
    if arrays.told:
        arrays.told.after(outputs)
    if loop.counted:
        outputs = _told_by_the_count(variables, list(outputs))
    made: list[tuple[Any, Any]] = []
    results = _values(variables, outputs, _known if loop.surely else as_maybe, made, number, arrays.after)
    twins += [(new, origins[id(old)]) for new, old in made]
    arrays.lose()
    return results


def _told_by_the_count(variables: Sequence[Variable], outputs: list[Tensor]) -> list[Tensor]:
    """Return what a loop gives, where numbers whose type changes once, in the first iteration, need no tag in it."""
    if not variables[0].loop_vars():  # a body that always raises changes nothing, not even the count
        return outputs
    count, start = outputs[0], 0
    for variable in variables:
        place = start
        for leaf in variable.leaves:
            if isinstance(leaf.init, MixedNumber) and leaf.init.given is not None and len(leaf.init.given) == 1:
                code = np.int64(next(iter(leaf.init.given)))
                outputs[place + 1] = ops.where(ops.greater(count, 0), code, leaf.tensors[1])
            place += len(leaf.tensors)
        start += len(variable.loop_vars())
    return outputs


def _known(leaf: Any) -> Any:
    return leaf.known() if isinstance(leaf, MixedNumber) else leaf


def _values(
    variables: Sequence[Variable], tensors: Sequence[Tensor], known: Callable[[Any], Any], made: list[tuple[Any, Any]],
    number: Kind = NumberTracer, array: Any = None,
) -> Values:  # fmt: skip
    """Return the values made of tensors, with ``known`` of each leaf; ``made`` gets objects, see ``assembled``."""
    remaining = list(tensors)
    values = tuple(variable.value(remaining, number, array, made) for variable in variables)
    return tuple(_assembled(one, made) for one in nest.map_structure(known, values))


def _assembled(value: Any, made: list[tuple[Any, Any]]) -> Any:
    if not has_objects(value):
        return value
    with undivided():
        from ..staging.instances import assembled
    return assembled(value, made)


def _twins() -> Any:
    """Return the module that watches objects which loops make, as few do."""
    with undivided():
        from ..staging import twins
    return twins


def nor(stops: list[Any], test: Callable[[], Any]) -> Any:
    """Return whether no flag is raised and the test, asked only then, holds."""
    if not stops:
        return test()
    return operators.and_(operators.not_(stops[0]), lambda: nor(stops[1:], test))


def _trace_body(
    graph: Graph, loop: Loop, variables: list[Variable], arrays: HeldArrays, every: Values
) -> tuple[list[Tensor], dict[int, list[Any]]]:
    params = list(graph.inputs)
    spans = _spans(variables, params)
    with graph.as_default(), staged_block(), Block(graph) as block:
        if arrays.told:
            arrays.told.begin(graph)
        made: list[tuple[Any, Any]] = []
        values = _values(variables, params, as_maybe, made, array=arrays.enter)
        entered = [(_twins().Watched(new), old) for new, old in made]
        body = loop.outside.around(loop.body, len(loop.names))
        loop.rebound.begin()
        names, count = (*loop.names, *loop.outside.names), len(loop.names)
        with loop.rebound.at_work(names, every, values, (*range(count, len(names)), *range(count))) as work:
            loop.outside.takes(ids_in((*every, *work.given)))
            with looping(graph, (*loop.outside.roots, *work.given)):
                results = _left_by(body, work.given, values)
            work.leaves(results, {})
            results = loop.rebound.taken.left(results)
        for watched, _ in entered:
            watched.refuse_changed()
        news: list[Variable] = []
        tensors: list[Tensor] = []
        for variable, result, mine in zip(variables, results, spans, strict=True):
            new, parts = variable.accept(result, mine, arrays.leave)
            news.append(new)
            tensors += parts
        if any(new is not old for new, old in zip(news, variables, strict=True)):
            raise Retrace(news, graph, tensors)
        arrays.settle(block, loop.outside)
        tensors += arrays.told.left(arrays.left) if arrays.told else []
        origins = {}
        if any(has_objects(one.form) for one in variables):
            forms = [(one.form, result) for one, result in zip(variables, results, strict=True)]
            origins = _twins().origins_of(made, forms)
            _twins().watch([(new, origins[id(old)]) for new, old in entered])
    return tensors, origins


def _left_by(body: Callable[..., Values], given: Values, values: Values) -> Values:
    """Return what the body makes of what it is given; if it always raises, the ``values`` that it begins with."""
    try:
        return body(*given)
    except BaseException as error:
        if not is_run_time_error(error):
            raise
        raise_at_run_time(error)
        return values


def _spans(variables: Sequence[Variable], tensors: Sequence[Tensor]) -> list[Sequence[Tensor]]:
    """Return each variable's own part of the tensors."""
    spans, start = [], 0
    for variable in variables:
        count = len(variable.loop_vars())
        spans.append(tensors[start : start + count])
        start += count
    return spans


def _loop_options(options: dict[str, Any]) -> LoopOptions:
    parallel = options.get("parallel_iterations")
    return LoopOptions(
        parallel_iterations=10 if parallel is None else parallel,
        maximum_iterations=check_maximum(options.get("maximum_iterations")),
        swap_memory=bool(options.get("swap_memory")),
        gradient_memory=options.get("gradient_memory"),
        begun=options.get("begun", 0),
    )
