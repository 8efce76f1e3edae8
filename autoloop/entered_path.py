"""Fast paths to machine code that looks at the arguments of a call, and makes its results, by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.ir.plain_values import plain_array, plain_number
from autoloop_runtime.running.prepare import wrap
from autoloop_runtime.running.standing import Entry

from .concrete import ConcreteFunction
from .path_text import BRACKETS, Argument, Text, Way, say_arguments
from .state.stateful import Variant
from .written_arguments import ReferringFunction

#: what hands a result back -> what machine code is asked for
_KINDS: dict[Any, str] = {plain_array: "output", plain_number: "number", wrap: "output"}


@dataclass(frozen=True)
class AskedFor:
    """What machine code is asked for, see ``entered_calls``, and what is made of the results that it gives."""

    written: Sequence[tuple[int, int]]
    results: Sequence[tuple[str, Any]]
    several: bool
    handed: str | None


@dataclass(frozen=True)
class Machine:
    """Machine code that takes a call, and what is made of the results that it gives."""

    entered: Any
    handed: str | None


def asked_for_of(core: ConcreteFunction, variant: Variant | None) -> AskedFor | None:
    """Return what machine code is asked for that takes calls; None if more is to be done with what it gives."""
    if variant is not None and (variant.is_pair or variant.has_inputs or type(core) is not ConcreteFunction):
        return None
    if (found := _results(core)) is None:
        return None
    results, several, handed = found
    written = core.plainly_written if isinstance(core, ReferringFunction) else ()
    if len(core.runner.graph.outputs) != len(written) + sum(kind in ("output", "number") for kind, _ in results):
        return None
    return AskedFor(written, results, several, handed)


def machine_of(asked_for: AskedFor, values: Sequence[Argument], entry: Entry) -> Machine | None:
    """Return the machine code that takes calls; None if there is none."""
    if entry.made is None:
        return None
    samples = [one.sample for one in values]
    entered = entry.made(samples, asked_for.written, asked_for.results, asked_for.several)
    return None if entered is None else Machine(entered, asked_for.handed)


def _results(core: ConcreteFunction) -> tuple[Sequence[tuple[str, Any]], bool, str | None] | None:
    """Return the results as machine code is asked for them, whether these are a tuple, and what is made of it."""
    if isinstance(core, ReferringFunction) and (given := core.plainly_given) is not None:
        _, itself = given
        return [("argument", itself[0]) if itself else ("constant", None)], False, None
    outputs, container = core.new_outputs or ([], None)
    kinds = [_KINDS.get(handed) for _, handed in outputs]
    if not outputs or None in kinds:
        return None
    results = [(str(kind), j) for j, kind in enumerate(kinds)]
    is_tensor = [handed is wrap for _, handed in outputs]
    if container in (None, tuple) and not any(is_tensor):
        return results, container is tuple, None
    names = [f"r{j}" for j in range(len(outputs))]
    made = ", ".join(f"Tensor({name})" if one else name for name, one in zip(names, is_tensor))
    handed = BRACKETS[container].format(made)
    return results, True, f"{', '.join(names)}, = result\n    return {handed}"


def enter(
    text: Text, way: Way, machine: Machine, known: Sequence[Argument], names: Sequence[str], variant: Variant | None
) -> None:
    """Write the call of machine code, which looks at the arguments that are its inputs by itself."""
    entered, values = machine.entered, [str(one.value) for one in known if one.value is not None]
    text.namespace.update(
        machine=entered.call, failed=entered.failed, error=entered.error, refused=entered.refused, begin=entered.begin
    )
    if values == [*names] and len(known) == len(names) and variant is None:
        given, inputs = "*args", "args"
    else:
        given, inputs = ", ".join(values), f"[{', '.join(values)}]"
        looked = [one for one in known if variant is not None or one.value not in names]
        say_arguments(text, names, [condition for one in looked for condition in one.conditions])
    if variant is not None:
        text.namespace.update(read=variant.read, receiver=getattr(way.trace, "receiver", None))
        receiver = None if text.namespace["receiver"] is None else "receiver()"
        text.say(1, f"if read(args, {receiver}) is None:", "    return usual(args, kwargs)")
    if entered.begin is not None:
        text.say(1, "begin()")
    text.say(1, f"result = machine({given})")
    text.say(1, "if result is NotImplemented:", "    return otherwise(args, kwargs)")
    text.say(1, "if result is failed:", f"    raised = error({inputs})")
    text.say(2, "if isinstance(raised, refused):", "    return usual(args, kwargs)", "raise raised")
    text.say(1, machine.handed or "return result")
