"""The text of a fast path while it is written, and what it says of the arguments of a call, see ``fast_path``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base import fp_warnings
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.profiler import active
from autoloop_runtime.ir.graph import default_graphs
from autoloop_runtime.ir.recorders import recorders
from autoloop_runtime.ir.tensor import Tensor, value_of

from .concrete import CalledPlain, ConcreteFunction
from .state.stateful import OtherWorld, StatefulFunction
from .written_arguments import OtherMemory, OverlappingArguments

#: what says, before anything is done, that a call has to go another way
AGAIN = (OtherMemory, OtherWorld, OverlappingArguments, CalledPlain)
#: what takes the place of arguments that are too few or too many: nothing that is looked for
NOTHING = object()
BRACKETS: dict[Any, str] = {None: "{}", tuple: "({},)", list: "[{}]"}
#: the parts of a call
Call = Callable[[tuple[Any, ...], dict[str, Any]], Any]


@dataclass(frozen=True)
class Way:
    """Where a call goes.

    Attributes
    ----------
    trace : ConcreteFunction or StatefulFunction
        What runs it.
    plain : callable
        The undecorated function, with its instance.
    usual : callable
        What takes any call.
    otherwise : callable
        What takes the calls of other kinds: another fast path, or the same.
    """

    trace: ConcreteFunction | StatefulFunction
    plain: Callable[..., Any]
    usual: Call
    otherwise: Call


class Text:
    """The text of a fast path, and the objects that it names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.namespace: dict[str, Any] = {
            "graphs": default_graphs, "recorders": recorders, "active": active, "setting": fp_warnings.setting,
            "UNSET": fp_warnings.UNSET, "asked": fp_warnings.asked, "silence": fp_warnings.silence,
            "restore": fp_warnings.restore, "ndarray": np.ndarray, "Tensor": Tensor, "value_of": value_of,
            "NOTHING": NOTHING, "AGAIN": AGAIN,
        }  # fmt: skip

    def bind(self, value: Any) -> str:
        name = f"k{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def say(self, depth: int, *lines: str) -> None:
        self.lines += ["    " * depth + line for line in lines]


@dataclass(frozen=True)
class Argument:
    """What a fast path does with one argument: the conditions on it, in order; the value of an input, if it is one, and
    whether that is an array of the caller's, or no array; and which it was."""

    conditions: Sequence[str]
    value: str | None = None
    is_array: bool = False
    is_plain: bool = True
    #: the value in the call that was made
    sample: Any = None


def say_arguments(text: Text, names: Sequence[str], conditions: Sequence[str]) -> None:
    """Write what takes the arguments, and sends those of another kind on."""
    if names:
        several = " = ".join(names)
        text.say(1, "try:", f"    {', '.join(names)}, = args", "except ValueError:", f"    {several} = NOTHING")
    every = [*conditions] + ([] if names else ["not args"])
    text.say(1, f"if not ({' and '.join(every or ['True'])}):", "    return otherwise(args, kwargs)")
