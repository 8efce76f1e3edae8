"""The fast path of calls of one kind, of which there were many: generated code that looks whether a call is of that
kind, and goes straight to what runs it.

All else goes the usual way: other arguments, calls while a graph is built, while somebody records or draws a timeline,
or has asked for floating-point errors. A fast path decides nothing: the usual way would have done the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import lru_cache
from time import perf_counter
from types import CodeType
from typing import Any

import numpy as np
from autoloop_runtime.analysis.shape_classes import MOST_BYTES
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.base.stand_ins import ShownByRun
from autoloop_runtime.ir.number_operators import CARRIERS
from autoloop_runtime.ir.plain_values import plain_array, plain_number
from autoloop_runtime.ir.tensor import Tensor, value_of
from autoloop_runtime.running.prepare import wrap
from autoloop_runtime.running.standing import Entry, Straight

from .concrete import ConcreteFunction
from .entered_path import Inputs, Machine, enter, machine_of, ways_of
from .keys import OBJECTS, Number, is_input, leaf_key
from .path_text import BRACKETS, Argument, Call, Text, Way, say_arguments
from .plain_python import PlainPython
from .retold_errors import is_retold
from .state.stateful import StatefulFunction, Variant
from .written_arguments import ReferringFunction

#: one call of so many is timed, where what runs it is chosen by that
EVERY = 16
#: after so many calls it is decided anew whether machine code would be felt, of which there is too little work in one
MANY = 10_000
#: kinds of numbers that have one dtype for each type
_NUMBERS = "biufc"
#: what hands a result back -> the text of what it does with a scalar of NumPy's, or an array of its own
_HANDED: dict[Any, str] = {plain_array: "{}", plain_number: "{}.item()", wrap: "Tensor({})"}


def fast_path(way: Way, count: int, given: Sequence[Any], leaves: Sequence[Any]) -> Call | None:
    """Return the fast path for calls like one that was made; None if it gives what needs a closer look each time.

    Parameters
    ----------
    way : Way
    count : int
        How many positional arguments it had.
    given : sequence
        These, and the defaults of the others.
    leaves : sequence
        What of these the trace takes: ``Number`` for some of the numbers.
    """
    text = Text()
    variant, may_be_others = None, False
    if isinstance(way.trace, StatefulFunction):
        variant, may_be_others = way.trace.first_for(tuple(given), count != len(given)), way.trace.are_of_classes
    core: Any = way.trace if variant is None else variant.concrete
    if not isinstance(core, PlainPython) and core.runner.noting:
        return None
    shapes = iter([] if isinstance(core, PlainPython) else [t.shape for t in core.runner.graph.inputs])
    known = []
    for k, (one, leaf) in enumerate(zip(given, leaves, strict=True)):
        shape = next(shapes, None) if is_input(leaf) else None
        found = _argument(text, f"a{k}", one, leaf, shape)
        if found is None and may_be_others and leaf is one and isinstance(leaf_key(one), OBJECTS):
            found = _object(text, f"a{k}", given[:k], one)
        if found is None:
            return None
        known.append(found)
    names = [f"a{k}" for k in range(count)]
    text.namespace.update({f"a{k}": one for k, one in enumerate(given) if k >= count})
    text.namespace.update(otherwise=way.otherwise, usual=way.usual)
    straight = core.runner.straight() if type(core) in (ConcreteFunction, ReferringFunction) else None
    values = [one for one in known if one.value is not None]
    memory = _memory(core, values) if isinstance(core, ReferringFunction) else []
    if memory is None or (variant is not None and type(core) is not ConcreteFunction):
        straight = None
    entry, machine = _machine(way, core, variant, given, values)
    text.say(0, "def call(args, kwargs):")
    around = _around(text, way, core, entry, straight is not None or machine is not None)
    text.say(1, f"if {' or '.join(around)}:", "    return otherwise(args, kwargs)")
    if machine is not None:
        enter(text, way, machine, known, names, variant)
        return _compiled(text)
    say_arguments(text, names, [condition for one in known for condition in one.conditions])
    if isinstance(core, PlainPython):
        text.namespace["plain"] = way.plain
        text.say(1, "return plain(*args)")
    elif straight is not None:
        if memory:
            text.say(1, f"if not ({' and '.join(memory)}):", "    return usual(args, kwargs)")
        _straight_on(text, core, straight, values, variant, getattr(way.trace, "receiver", None))
    else:
        text.namespace["run"] = way.trace.run
        arrays = ", ".join(str(one.value) for one in values if one.is_array)
        every = "".join([f"a{k}, " for k in range(len(given))])
        text.say(1, "try:", f"    return run([{', '.join(str(one.value) for one in values)}], [{arrays}], ({every}))")
        text.say(1, "except AGAIN:", "    pass", "return usual(args, kwargs)")
    return _compiled(text)


def _machine(
    way: Way, core: Any, variant: Variant | None, given: Sequence[Any], values: Sequence[Argument]
) -> tuple[Entry | None, Machine | None]:
    """Return the machine code that takes the calls, and until when that is so, as far as there is such."""
    if type(core) not in (ConcreteFunction, ReferringFunction):
        return None, None
    inputs = _inputs(way, variant, given)
    ways = [] if inputs is None or not _are_plain(core, values, inputs) else ways_of(core, variant)
    inputs = inputs or Inputs()
    shapes = tuple([np.shape(one) for one in (*[one.sample for one in values], *inputs.samples)])
    entry = core.runner.entry(shapes, bool(ways))
    return entry, machine_of(ways, values, inputs, entry)


def _inputs(way: Way, variant: Variant | None, given: Sequence[Any]) -> Inputs | None:
    """Return the inputs that are no arguments; None if the trace does not fit what is found now."""
    if variant is None or not variant.has_inputs:
        return Inputs()
    receiver = getattr(way.trace, "receiver", None)
    found = variant.read(tuple(given), None if receiver is None else receiver())
    if found is None:
        return None
    arrays = {id(one) for one in found[1]}
    are_plain = all(id(one) in arrays for one in found[0] if isinstance(one, np.ndarray))
    return Inputs(found[0], are_plain, "*found[0]", "*found[1]")


def _are_plain(core: ConcreteFunction, values: Sequence[Argument], inputs: Inputs) -> bool:
    """Return whether machine code sees by itself whether it may write to its arrays, if it does: these have memory of
    their own."""
    if not isinstance(core, ReferringFunction):
        return True
    return core.plainly_lying is not None and all(one.is_array or one.is_plain for one in values) and inputs.are_plain


def _compiled(text: Text) -> Call:
    exec(_code("\n".join(text.lines) + "\n"), text.namespace)
    made: Call = text.namespace["call"]
    return made


def _around(text: Text, way: Way, core: Any, entry: Entry | None, is_straight: bool) -> list[str]:
    """Return what sends any call the usual way."""
    around = ["kwargs", "graphs()", "recorders()"]
    if not isinstance(core, PlainPython):
        around.append("setting() is not UNSET and asked()")
    if entry is not None and entry.tally is not None:
        text.namespace.update(tally=entry.tally, settled=entry.settled)
        around.append("tally.settled is not settled")
    if is_straight:
        text.namespace.update(core=core, runner=core.runner)
        around += ["active()", "core.runner is not runner"]
        if core is not way.trace:
            text.namespace.update(trace=way.trace, variants=way.trace.variants)  # type: ignore[union-attr]
            around.append("trace.variants is not variants")
    return around


def _memory(trace: ReferringFunction, values: Sequence[Argument]) -> list[str] | None:
    """Return the conditions under which a trace may write to its arrays, without a closer look at how they lie."""
    asked_of = trace.plainly_lying
    if asked_of is None or not all(one.is_array or one.is_plain for one in values):
        return None
    written, ordered = asked_of
    if not all(k < len(values) and values[k].is_array for k in (*written, *ordered)):
        return None
    arrays = [str(one.value) for one in values if one.is_array]
    conditions = [f"{values[k].value}.flags.c_contiguous" for k in ordered]
    if written:
        conditions += [f"{values[k].value}.flags.writeable" for k in written]
        conditions += [f"{array}.flags.owndata" for array in arrays]
        conditions += [f"{one} is not {other}" for one, other in itertools.combinations(arrays, 2)]
    return conditions


@lru_cache(maxsize=256)
def _code(text: str) -> CodeType:
    """Return the code of a fast path: those of many functions differ in what they name only."""
    return compile(text, "<autoloop call>", "exec")


def _argument(text: Text, name: str, given: Any, leaf: Any, shape: TensorShape | None) -> Argument | None:
    """Return what to do with an argument, of which the trace knows the ``shape``; None if it needs a closer look at
    each call."""
    kind = type(given)
    of_type = f"type({name}) is {text.bind(kind)}"
    if type(leaf) is Number:
        fits = [f"-{1 << 63} <= {name} < {1 << 63}"] if kind is int else []
        if kind not in CARRIERS:  # one that a gradient of the function hands over
            return None
        carrier = CARRIERS[kind].type
        return Argument([of_type, *fits], f"{text.bind(carrier)}({name})", sample=carrier(given))
    if leaf is not given:
        return None
    if given is None or kind is bool:
        return Argument([f"{name} is {given}"])
    if kind in (int, str, bytes) or (kind is float and given and given == given):
        return Argument([of_type, f"{name} == {text.bind(given)}"])
    if kind is np.ndarray and given.ndim:
        as_known = _as_known(text, name, given, shape)
        return Argument([f"type({name}) is ndarray", *as_known], name, True, True, given)
    if _is_number(kind):
        return Argument([of_type], name, sample=given)
    if kind is Tensor and given.node is None:
        value, held = value_of(given), f"v{name}"
        concrete = [f"type({name}) is Tensor", f"{name}.node is None"]
        if type(value) is np.ndarray and value.ndim:
            looked = [f"type({held} := value_of({name})) is ndarray", *_as_array(text, held, value)]
            return Argument(concrete + looked, held, False, False, value)
        if _is_number(type(value)):
            is_held = f"type({held} := value_of({name})) is {text.bind(type(value))}"
            return Argument([*concrete, is_held], held, sample=value)
    return None


def _object(text: Text, name: str, earlier: Sequence[Any], given: Any) -> Argument | None:
    """Return what to do with an object of which the trace looks at all but its class, and whether it is another one."""
    if any(one is given for one in earlier):
        return None
    others = [f"{name} is not a{k}" for k, one in enumerate(earlier) if type(one) is type(given)]
    return Argument([f"type({name}) is {text.bind(type(given))}", *others])


def _as_array(text: Text, name: str, array: np.ndarray[Any, Any]) -> list[str]:
    return [f"{name}.dtype is {text.bind(array.dtype)}", f"{name}.shape == {text.bind(array.shape)}"]


def _as_known(text: Text, name: str, array: np.ndarray[Any, Any], shape: TensorShape | None) -> list[str]:
    """Return the conditions of ``_as_array`` but for the extents that the trace does not know, see ``extent_inputs``:
    of those it is made for all but 0 and 1, in arrays whose elements lie in order and that are not large."""
    if shape is None or shape.rank != array.ndim or shape.is_fully_defined():
        return _as_array(text, name, array)
    if not array.flags.c_contiguous or array.nbytes > MOST_BYTES or min(array.shape) < 2:
        return _as_array(text, name, array)
    extents = [f"s{name}[{k}] {'> 1' if n is None else f'== {n}'}" for k, n in enumerate(shape.known)]
    lies = [f"{name}.nbytes <= {MOST_BYTES}", f"{name}.flags.c_contiguous"]
    of_rank = f"len(s{name} := {name}.shape) == {array.ndim}"
    return [f"{name}.dtype is {text.bind(array.dtype)}", of_rank, *extents, *lies]


def _is_number(kind: type) -> bool:
    """Return whether a type is that of NumPy scalars of one dtype."""
    return issubclass(kind, np.generic) and np.dtype(kind).kind in _NUMBERS


def _straight_on(
    text: Text,
    core: Any,
    straight: Straight,
    values: Sequence[Argument],
    variant: Variant | None,
    receiver: Callable[[], Any] | None,
) -> None:
    """Write the call of the generated code, and what is made of its results."""
    text.namespace.update(function=straight.function, explained=straight.explained, given=core.given)
    inputs = [str(one.value) for one in values]
    arrays = [str(one.value) for one in values if one.is_array]
    if straight.tally is not None:
        text.namespace.update(tick=itertools.count(1).__next__, timed=_timed(straight.tally, text.namespace["usual"]))
        text.say(1, f"if not tick() % {EVERY}:", "    return timed(args, kwargs)")
    elif core.runner.settled is not None:
        text.namespace.update(tick=itertools.count(1).__next__, anew=_decided_anew(core, text.namespace["usual"]))
        text.say(1, f"if tick() == {MANY}:", "    return anew(args, kwargs)")
    quick = _quickly_handed(text, core, inputs, arrays) if variant is None or not variant.has_inputs else None
    if variant is not None:
        text.namespace.update(read=variant.read, finish=variant.finish, receiver=receiver)
        text.say(
            1,
            f"found = read(args, {None if receiver is None else 'receiver()'})",
            "if found is None:",
            "    return usual(args, kwargs)",
        )
        if variant.has_inputs:
            inputs, arrays = [*inputs, "*found[0]"], [*arrays, "*found[1]"]
    leaves, container = core.leaves_alone(False) or ([], None)
    if not core.graph.outputs and leaves and container is None and type(core) is ConcreteFunction:
        text.say(1, f"results = {text.bind([])}")
        quick = [f"return {text.bind(leaves[0][1])}"]
    else:
        text.say(1, "before = setting()", "try:", "    silence()", f"    results = function({', '.join(inputs)})")
        if is_retold(core) or (variant is not None and variant.is_replayed):
            text.say(1, "except Exception:", "    results = None", "finally:", "    restore(before)")
            text.say(1, "if results is None:", "    return usual(args, kwargs)")
        elif core.may_be_left:
            text.namespace["ShownByRun"] = ShownByRun
            left = ["left = explained(error)", "if not isinstance(left, ShownByRun):", "    raise left"]
            text.say(1, "except Exception as error:", *["    " + line for line in left], "    results = None")
            text.say(1, "finally:", "    restore(before)")
            text.say(1, "if results is None:", "    return usual(args, kwargs)")
        else:
            text.say(1, "except Exception as error:", "    raise explained(error)", "finally:", "    restore(before)")
    if variant is not None and variant.is_pair:
        text.say(1, f"return finish(given(results, [{', '.join(inputs)}], [{', '.join(arrays)}]), found[2])")
        return
    if quick is not None:
        text.say(1, *quick)
    text.say(1, f"return given(results, [{', '.join(inputs)}], [{', '.join(arrays)}])")


def _quickly_handed(
    text: Text, trace: ConcreteFunction, inputs: Sequence[str], arrays: Sequence[str]
) -> list[str] | None:
    """Return lines that hand results back where they are what they nearly always are; None if there are no such."""
    if isinstance(trace, ReferringFunction):
        if (given := trace.plainly_given) is None:
            return None
        ends, itself = given
        are_there = " and ".join(f"results[{j}] is {inputs[k]}" for j, k in ends)
        return [f"if {are_there or True}:", f"    return {inputs[itself[0]] if itself else None}"]
    leaves, container = trace.leaves_alone(False) or ([], None)
    checks, made = [], []
    names = [f"r{k}" for k, (tensor, _) in enumerate(leaves) if tensor is not None]
    if not names or len(trace.runner.graph.outputs) != len(names):
        return None
    for k, (tensor, handed) in enumerate(leaves):
        name = f"r{k}"
        if tensor is None:
            made.append(text.bind(handed))
            continue
        if handed not in _HANDED:
            return None
        if tensor.shape.rank == 0 and tensor.dtype.kind in _NUMBERS:
            checks.append(f"type({name}) is {text.bind(tensor.dtype.type)}")
        elif tensor.shape.rank and handed is not plain_number:
            own = [f"{name}.base is None", f"{name}.flags.writeable"]
            checks += [f"type({name}) is ndarray", *own, *[f"{name} is not {array}" for array in arrays]]
        else:
            return None
        made.append(_HANDED[handed].format(name))
    result = BRACKETS[container].format(", ".join(made))
    return [f"{', '.join(names)}, = results", f"if {' and '.join(checks)}:", f"    return {result}"]


def _decided_anew(core: ConcreteFunction, usual: Call) -> Call:
    """Return what takes the call at which it is time to decide again and again what runs the trace."""

    def anew(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        core.runner = core.runner.reconsidered()
        return usual(args, kwargs)

    return anew


def _timed(tally: Any, usual: Call) -> Call:
    """Return what takes one of many calls, and counts it for all of them."""

    def timed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        begin = perf_counter()
        result = usual(args, kwargs)
        tally.calls += EVERY - 1
        tally.spent += (EVERY - 1) * (perf_counter() - begin)
        return result

    return timed
