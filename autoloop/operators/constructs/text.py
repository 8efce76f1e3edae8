"""Text with staged values in it: f-strings, ``str``, ``format`` become string tensors that are made at run time."""

from __future__ import annotations

import copy
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.dtypes import string
from autoloop_runtime.ir.text_operators import called_method, is_text, of_texts
from autoloop_runtime.ir.tracers import ArrayTracer, kind_of, marked
from autoloop_runtime.ops import format_string

from ...errors import programs_own
from ...left_to_python import refuse_unknown
from ..staging.growing_list import GrowingList
from ..staging.maybe_numbers import after_a_turn
from ..staging.mixed_numbers import MixedNumber, components, handed_out
from ..staging.numbers_or_arrays import noted
from ..staging.optional import MaybeNone
from ..staging.staged_values import certain, full_name, is_staged, stands_for
from ..staging.standins import StandIn, opened
from ..staging.users_methods import says_itself
from .overloads import binary
from .shown_objects import ShownException, formatted_by, of_exception, represented, said, said_now

if TYPE_CHECKING:
    from string import Formatter

#: what a trace may hold itself, with contents that change
_CHANGING = (np.ndarray, np.void, set, bytearray, array)


def _formatter() -> Formatter:
    """Return what reads templates; its module compiles patterns, and few programs make text of staged values."""
    from string import Formatter

    return Formatter()


def fstring(template: str, *values: Any, later: tuple[Callable[[], Any], ...] = ()) -> Any:
    """Return an f-string's text; with staged values, a string tensor that is made at run time.

    Parameters
    ----------
    template : str
        With a field for each value.
    *values
        The first values.
    later : tuple of callable, optional
        Give the others: as in Python, each value is made into text before the next one is evaluated.
    """
    if not later and not any(holds_staged(value) or says_itself(value) for value in values):
        return template.format(*values)
    remaining = iter((*(_constant(value) for value in values), *later))
    text = ""
    held: list[Any] = []
    for literal, field, spec, conversion in _formatter().parse(template):
        text += _escaped(literal)
        if field is None:
            continue
        mine = [next(remaining)() for _ in range(1 + _fields_in(spec or ""))]
        if says_itself(mine[0]) and len(mine) == 1:
            mine, spec, conversion = [_said_by(mine[0], spec or "", conversion)], spec if conversion else "", None
        one = "{" + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "") + "}"
        if any(map(holds_staged, mine)):
            text += one
            held += map(shown, mine)
        else:
            text += _escaped(one.format(*mine))
    return _text(text, *held) if held else text.format()


def formatted(template: str, *args: Any, **kwargs: Any) -> Any:
    """Return ``template.format(...)``."""
    if not any(map(holds_staged, (*args, *kwargs.values()))):
        return template.format(*args, **kwargs)
    held: list[Any] = []
    return _text("".join(_numbered(template, args, kwargs, held, iter(range(len(args))))), *held)


def percent(template: Any, values: Any) -> Any:
    """Return ``template % values``, where either looks like text."""
    if type(template) is not str or not holds_staged(values):
        return binary(template, "%", values)
    return _text(_Percent(template), shown(values))


def of_known_text(method: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a method of a known text gives, of which an argument may be a text, or a number, of a run."""
    if not any(map(holds_staged, (*args, *kwargs.values()))):
        return method(*args, **kwargs)
    return called_method(method.__name__, method.__self__, *args, **kwargs)


class _Percent(str):
    """A template of ``%``."""

    __slots__ = ()

    def format(self, *values: Any, **named: Any) -> str:
        """Return the text of some values."""
        return str.__mod__(self, values[0])


def joined(separator: str, parts: Any) -> Any:
    """Return ``separator.join(parts)``, of which some may be texts that a run makes."""
    if isinstance(parts, GrowingList) and parts.dtype == (string,) and not parts.lists:
        return of_texts(lambda array: separator.join(map(str, array)), str, marked(ArrayTracer, parts.stack()))
    if not any(map(holds_staged, parts)):
        return separator.join(parts)
    for place, one in enumerate(parts):
        if not isinstance(one, str) and getattr(one, "dtype", np.dtype(object)).kind != "U":
            found = stands_for(one) if is_staged(one) else type(one)
            raise programs_own(TypeError(f"sequence item {place}: expected str instance, {full_name(found)} found"))
    return formatted(_escaped(separator).join(["{}"] * len(parts)), *parts)


def _numbered(
    template: str, args: Any, kwargs: dict[str, Any], held: list[Any], numbers: Iterator[int]
) -> Iterator[str]:
    """Yield a template with plain fields in the order of the values that it adds to ``held``."""
    for literal, field, spec, conversion in _formatter().parse(template):
        yield _escaped(literal)
        if field is not None:
            name = str(next(numbers)) + field if field[:1] in ("", ".", "[") else field
            held.append(shown(_formatter().get_field(name, args, kwargs)[0]))
            inner = "".join(_numbered(spec or "", args, kwargs, held, numbers))
            yield "{" + (f"!{conversion}" if conversion else "") + (f":{inner}" if inner else "") + "}"


def _said_by(value: Any, spec: str, conversion: str | None) -> Any:
    """Return what an object of the user's says of itself in a field; where that has a conversion, before its format."""
    if conversion is None:
        return formatted_by(value, spec)
    return said(value) if conversion == "s" else represented(value) if conversion == "r" else ascii(value)


def text_of(value: Any) -> Any:
    """Return ``str(value)``."""
    if says_itself(value):
        return said(value)
    return _text("{!s}", shown(value))


def repr_of(value: Any) -> Any:
    """Return ``repr(value)``."""
    if says_itself(value):
        return represented(value)
    return _text("{!r}", shown(value))


def formatted_as(value: Any, spec: str = "") -> Any:
    """Return ``format(value, spec)``."""
    if says_itself(value):
        return formatted_by(value, spec)
    if not is_text(spec):
        format("", spec)  # says that it has to be one
    return _text("{:" + spec + "}", shown(value))


def chosen_text(texts: Sequence[str], index: Any) -> Any:
    """Return the text at a place that the run knows."""
    made = format_string("{!s}", _Option(tuple(texts) if isinstance(texts, list) else texts, index.plain))
    return marked(kind_of((index,), ArrayTracer), made)


def _text(template: str, *values: Any) -> Any:
    """Return text that a run makes; it is a ``str`` to the user unless a tensor is in it."""
    return marked(kind_of(nest.flatten(values), ArrayTracer), format_string(template, *values))


def holds_staged(value: Any) -> bool:
    """Return whether a value is, or holds, something that only a run knows."""
    if isinstance(value, StandIn) or is_staged(value):
        return True
    if of_exception(value):
        return any(map(holds_staged, value.args))
    if not isinstance(value, list | tuple | dict):
        return False
    return any(isinstance(leaf, StandIn) or is_staged(leaf) or _is_open(leaf) for leaf in nest.flatten(value))


def _is_open(leaf: Any) -> bool:
    return of_exception(leaf) and holds_staged(leaf)


def shown(value: Any) -> Any:
    """Return a value in a form whose text a run can make."""
    return nest.map_structure(_shown_leaf, value) if isinstance(value, list | tuple | dict) else _shown_leaf(value)


def _shown_leaf(value: Any) -> Any:
    value = certain(value)
    if isinstance(value, GrowingList):
        columns, made = value.parts()
        return _Elements(columns, made)
    if type(value) is MaybeNone:
        found = shown(opened(value).value)
        return _ValueOrNone(marked(kind_of(nest.flatten(found), ArrayTracer), opened(value).is_set), found)
    if isinstance(value, MixedNumber):
        return _OneOfSeveral(*map(ArrayTracer, components(value)))
    if isinstance(value, StandIn):
        return shown(opened(value).leaving())
    if of_exception(value):
        is_fixed = not holds_staged(value) and not any(isinstance(one, _CHANGING) for one in nest.flatten(value.args))
        return value if is_fixed else ShownException(type(value), shown(value.args))
    value = after_a_turn(value)
    found = noted(value) if isinstance(value, ArrayTracer) else None
    if found is not None and not found.is_array and (found.number is None or found.number.dtype != value.dtype):
        refuse_unknown("a text is asked of a number that is an array in other runs", "write np.asarray(...) for it")
    if isinstance(value, _CHANGING):
        return copy.copy(value)  # the program may change it before the run makes the text
    return said_now(value) if says_itself(value) else value


class _Elements:
    """A list whose length the run tells; in the run it shows itself as a list does.

    Parameters
    ----------
    columns : sequence
        What the list holds of all elements, one below the other.
    made : callable
        Gives the list that these are.
    """

    def __init__(self, columns: Sequence[Any], made: Callable[..., Any]) -> None:
        self.columns, self.made = columns, made

    def __repr__(self) -> str:
        return repr(self.made(*map(_each, self.columns)))


def _each(column: Any) -> Any:
    if hasattr(column, "value"):
        return [type(column)(row) for row in column.value]
    return column.tolist() if column.dtype.kind == "U" else column


class _Later:
    """What only the run knows, and shows as it is found to be."""

    def _found(self) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return repr(self._found())

    def __str__(self) -> str:
        return str(self._found())

    def __format__(self, spec: str) -> str:
        return format(self._found(), spec)

    def __int__(self) -> int:
        return int(self._found())

    def __float__(self) -> float:
        return float(self._found())


class _Option:
    """One of several texts, which the run chooses."""

    def __init__(self, texts: Sequence[str], index: Any) -> None:
        self.texts, self.index = texts, index

    def __str__(self) -> str:
        return self.texts[int(self.index.value)]


class _ValueOrNone(_Later):
    """What may be None."""

    def __init__(self, is_set: Any, value: Any) -> None:
        self.is_set, self.value = is_set, value

    def _found(self) -> Any:
        is_set = getattr(self.is_set, "value", self.is_set)  # what a tensor tells shows itself as one
        return self.value if is_set else None


class _OneOfSeveral(_Later):
    """A number whose type the run tells."""

    def __init__(self, value: Any, tag: Any) -> None:
        self.value, self.tag = value, tag

    def _found(self) -> Any:
        return handed_out(self.value, self.tag)


nest.register(
    _Option,
    lambda one: ([one.index], one.texts),
    lambda texts, leaves: _Option(texts, leaves[0]),
)
nest.register(
    _OneOfSeveral,
    lambda one: ([one.value, one.tag], None),
    lambda _, parts: _OneOfSeveral(*parts),
)
nest.register(
    _Elements,
    lambda one: (list(one.columns), one.made),
    lambda made, columns: _Elements(columns, made),
)
nest.register(
    _ValueOrNone,
    lambda one: ([one.is_set, *nest.flatten(one.value)], nest.structure_of(one.value)),
    lambda structure, leaves: _ValueOrNone(leaves[0], nest.unflatten(structure, leaves[1:])),
)


def _fields_in(spec: str) -> int:
    return sum(field is not None for _, field, _, _ in _formatter().parse(spec))


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value
