"""Fast paths to machine code that looks at the arguments of a call, and makes its results, by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.stand_ins import ShownByRun
from autoloop_runtime.ir.plain_values import plain_array, plain_number
from autoloop_runtime.running.prepare import wrap
from autoloop_runtime.running.standing import Entry

from .concrete import ConcreteFunction
from .path_text import BRACKETS, Argument, Text, Way, say_arguments
from .retold_errors import is_retold
from .state.stateful import Variant
from .written_arguments import ReferringFunction

#: what hands a result back -> what machine code is asked for
_KINDS: dict[Any, str] = {plain_array: "output", plain_number: "number", wrap: "output"}


@dataclass(frozen=True)
class AskedFor:
    """What machine code is asked for, see ``entered_calls``, and what is made of the results that it gives.

    Attributes
    ----------
    written : sequence of (int, int)
    results : sequence of (str, object)
    several : bool
    handed : str
        Lines that hand the results back; empty where they are what it gives.
    is_whole : bool
        Whether it gives all outputs of the graph, of which ``ConcreteFunction.given`` makes the result.
    """

    written: Sequence[tuple[int, int]]
    results: Sequence[tuple[str, Any]]
    several: bool
    handed: str = ""
    is_whole: bool = False


@dataclass(frozen=True)
class Inputs:
    """The inputs of a call that are no arguments: of the call that was made, whether none of them is an array that a
    tensor holds, and the text that gives them and those of them that are arrays."""

    samples: Sequence[Any] = ()
    are_plain: bool = True
    values: str = ""
    arrays: str = ""


@dataclass(frozen=True)
class Machine:
    """Machine code that takes a call, what it was asked for, and what it takes besides the arguments."""

    entered: Any
    asked_for: AskedFor
    inputs: Inputs


def ways_of(core: ConcreteFunction, variant: Variant | None) -> Sequence[AskedFor]:
    """Return what machine code may be asked for that takes calls, the shortest way first."""
    written = core.plainly_written if isinstance(core, ReferringFunction) else ()
    outputs = len(core.runner.graph.outputs)
    if outputs != core.counted:  # it has an effect
        return []
    held = {j: k for k, j in written}
    every = [("argument", held[j]) if j in held else ("output", j) for j in range(outputs)]
    ways = [AskedFor(written, every, True, is_whole=True)]
    found = None if variant is not None and variant.is_pair else _results(core)
    if found is not None and outputs == len(written) + sum(kind in ("output", "number") for kind, _ in found[0]):
        ways.insert(0, AskedFor(written, *found))
    return ways


def machine_of(
    ways: Sequence[AskedFor], values: Sequence[Argument], inputs: Inputs, entry: Entry
) -> Machine | None:  # fmt: skip
    """Return the machine code that takes calls; None if there is none."""
    if entry.made is None:
        return None
    samples = [*[one.sample for one in values], *inputs.samples]
    for way in ways:
        entered = entry.made(samples, way.written, way.results, way.several)
        if entered is not None:
            return Machine(entered, way, inputs)
    return None


def _results(core: ConcreteFunction) -> tuple[Sequence[tuple[str, Any]], bool, str] | None:
    """Return the results as machine code is asked for them, whether these are a tuple, and what is made of it."""
    if isinstance(core, ReferringFunction) and (given := core.plainly_given) is not None:
        _, itself = given
        return [("argument", itself[0]) if itself else ("constant", None)], False, ""
    leaves, container = core.leaves_alone(True) or ([], None)
    results: list[tuple[str, Any]] = []
    is_tensor = []
    for tensor, handed in leaves:
        if tensor is None:
            results.append(("constant", handed))
        elif (kind := _KINDS.get(handed)) is not None:
            results.append((kind, sum(kind != "constant" for kind, _ in results)))
        else:
            return None
        is_tensor.append(tensor is not None and handed is wrap)
    if not leaves:
        return None
    if container in (None, tuple) and not any(is_tensor):
        return results, container is tuple, ""
    names = [f"r{j}" for j in range(len(results))]
    made = ", ".join(f"Tensor({name})" if one else name for name, one in zip(names, is_tensor))
    return results, True, f"{', '.join(names)}, = result\n    return {BRACKETS[container].format(made)}"


def enter(
    text: Text, way: Way, machine: Machine, known: Sequence[Argument], names: Sequence[str], variant: Variant | None
) -> None:
    """Write the call of machine code, which looks at the arguments that are its inputs by itself."""
    entered, values = machine.entered, [str(one.value) for one in known if one.value is not None]
    text.namespace.update(
        machine=entered.call, failed=entered.failed, error=entered.error, refused=entered.refused, begin=entered.begin
    )
    asked_for, more = machine.asked_for, [machine.inputs.values] if machine.inputs.values else []
    if values == [*names] and len(known) == len(names) and variant is None and not asked_for.is_whole:
        given, inputs = "*args", "args"
    else:
        given, inputs = ", ".join([*values, *more]), f"[{', '.join([*values, *more])}]"
        looked = [one for one in known if variant is not None or one.value not in names]
        say_arguments(text, names, [condition for one in looked for condition in one.conditions])
    if variant is not None:
        text.namespace.update(read=variant.read, finish=variant.finish, receiver=getattr(way.trace, "receiver", None))
        receiver = None if text.namespace["receiver"] is None else "receiver()"
        text.say(1, f"found = read(args, {receiver})", "if found is None:", "    return usual(args, kwargs)")
    if entered.begin is not None:
        text.say(1, "begin()")
    again = "refused"
    if is_retold(text.namespace["core"]) or (variant is not None and variant.is_replayed):
        again = "Exception"
    elif text.namespace["core"].may_be_left:
        text.namespace["ShownByRun"], again = ShownByRun, "(refused, ShownByRun)"
    text.say(1, f"result = machine({given})")
    text.say(1, "if result is NotImplemented:", "    return otherwise(args, kwargs)")
    text.say(1, "if result is failed:", f"    raised = error({inputs})")
    text.say(2, f"if isinstance(raised, {again}):", "    return usual(args, kwargs)", "raise raised")
    if asked_for.is_whole:
        arrays = [str(one.value) for one in known if one.is_array] + [machine.inputs.arrays] * bool(more)
        text.namespace["given"] = text.namespace["core"].given
        made = f"given([*result], {inputs}, [{', '.join(arrays)}])"
        text.say(1, f"return finish({made}, found[2])" if variant is not None and variant.is_pair else f"return {made}")
    else:
        text.say(1, asked_for.handed or "return result")
