"""What a Python number that a graph computes has under a dot: what Python's own has, and nothing of an array's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.stand_ins import UnknownWhileTracing
from .array_methods import Methods
from .number_operators import Type, carried, number_type, widest
from .op import call
from .tracers import ArrayTracer, DecidedNumber, NumberTracer


def _real(self: NumberTracer, kind: Type) -> Any:
    return type(self)(call("real", self.plain) if kind is complex else carried(self, widest(kind, int)))


def _imag(self: NumberTracer, kind: Type) -> Any:
    return type(self)(call("imag", self.plain)) if kind is complex else kind(0) * 0


def _conjugate(self: NumberTracer, kind: Type) -> Any:
    made = call("conj", self.plain) if kind is complex else carried(self, widest(kind, int))
    return lambda: type(self)(made)


def _is_integer(self: NumberTracer, kind: Type) -> Any:
    if kind is not float:
        return lambda: True
    x = self.plain
    return lambda: type(self)(call("logical_and", call("isfinite", x), call("equal", x, call("floor", x))))


def _asked(of: Callable[[Any], Any]) -> Callable[[NumberTracer, Type], Any]:
    """Return the attribute that is a method which gives an int."""

    def found(self: NumberTracer, kind: Type) -> Any:
        return lambda: type(self)(call("number_asked", of, int, (self,), {}, lambda tensor: True))

    return found


def _ratio(self: NumberTracer, kind: Type) -> Any:
    parts = [
        _asked(part)(self, kind) for part in (lambda x: x.as_integer_ratio()[0], lambda x: x.as_integer_ratio()[1])
    ]
    return lambda: tuple([part() for part in parts])


def _hex(self: NumberTracer, kind: Type) -> Any:
    return lambda: ArrayTracer(call("number_asked", lambda x: x.hex(), str, (self,), {}, lambda tensor: True))


#: attribute of a number of Python's -> what gives it of what stands for one, and its type
_ATTRIBUTES: dict[str, Callable[[NumberTracer, Type], Any]] = {
    "real": _real, "imag": _imag, "conjugate": _conjugate, "is_integer": _is_integer, "as_integer_ratio": _ratio,
    "bit_length": _asked(lambda x: x.bit_length()), "bit_count": _asked(lambda x: x.bit_count()),
    "hex": _hex, "numerator": _real, "denominator": lambda self, kind: 1,
}  # fmt: skip


def _attribute(name: str) -> property:
    of_tensors = vars(Methods).get(name)
    made = _ATTRIBUTES.get(name)

    def found(self: NumberTracer) -> Any:
        kind = number_type(self)
        assert kind is not None
        if made is not None and hasattr(kind, name):
            return made(self, kind)
        if of_tensors is None or not isinstance(self, DecidedNumber):
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}", name=name, obj=kind)
        return of_tensors.__get__(self.plain)  # what a tensor has decided the caller gets as one

    return property(found)


for _name in (*_ATTRIBUTES, *vars(Methods), "item", "tolist"):
    if _name[0] != "_":
        setattr(NumberTracer, _name, _attribute(_name))


def _lacked(self: NumberTracer, name: str) -> Any:
    kind = None if name == "dtype" else number_type(self)  # which is asked for the dtype
    if kind is not None and name[:2] != "__" and hasattr(kind, name):
        raise UnknownWhileTracing(f"x.{name} is asked of a number that only the run knows")
    raise AttributeError(f"{kind and kind.__name__!r} object has no attribute {name!r}", name=name, obj=kind)


setattr(NumberTracer, "__getattr__", _lacked)  # noqa: B010, which no checker of types lets a class be given
