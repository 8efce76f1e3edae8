"""Values as JSON, and back: null, booleans, integers and texts as they are, the rest as lists that begin with a name.

["float", "0x1.8p+1"]         a float, to the bit          ["complex", "0x...", "0x..."]
["tuple", a, b, ...]          ["list", a, b, ...]          ["dict", [key, value], ...]
["dtype", "f8"]               "O" is that of TensorArrays, "U0" that of texts
["shape", 2, null]            ["unknown rank"]             ["..."]
["array", n]  ["scalar", n]   the n-th array of the file   ["variable", n]
["index", entries...]         ["slice", a, b, c]           ["input", n]
["elements", ...]             what a TensorArray was declared with
["text", sep, end, parts...]  ["hole", n, kind]            what is printed
["function", "math.gcd"]      ["ufunc", "add"]             ["exception", "ValueError"]
["made", "ValueError", args]  ["given", args, kwargs]      ["value", n, is_number]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import nest
from ..base.dtypes import string, variant
from ..base.locations import Location
from ..base.shapes import UNKNOWN, TensorShape
from ..collections.array_buffer import ArraySpec
from ..collections.variables import Variable
from ..ir.tensor import Tensor
from ..ir.tracers import ArrayTracer, DecidedNumber, NumberTracer, TextTracer, ZeroDimArray
from ..ops.effects import Hole, Text
from ..ops.index import Index, Input, Slice
from .file_form import Arrays, dtype_of, dtype_text, is_count
from .known_functions import (
    EXCEPTIONS,
    FUNCTIONS,
    NAME_OF,
    UFUNC_NAMES,
    Argument,
    GivenArguments,
    MadeException,
    exception_name,
)
from .load_errors import SaveError, damaged, unsaid, unsavable

#: nothing is nested deeper: values in one another, and loops and branches
MOST_DEPTH = 48
#: what values are to the user, by name
KINDS: dict[str, type[Tensor]] = {
    "tensor": Tensor, "array": ArrayTracer, "number": NumberTracer, "decided number": DecidedNumber,
    "array without axes": ZeroDimArray, "text": TextTracer,
}  # fmt: skip
NAMES_OF_KINDS = {kind: name for name, kind in KINDS.items()}


def name_of_kind(kind: type) -> str:
    """Return what a file calls a kind of values."""
    return next((NAMES_OF_KINDS[one] for one in kind.__mro__ if one in NAMES_OF_KINDS), "tensor")


def spec_dtype_text(dtype: np.dtype[Any]) -> str:
    """Return how the dtype of a tensor is written, which may be none of arrays in a file."""
    return "O" if dtype == variant else "U0" if dtype == string else dtype_text(dtype)


def spec_dtype_of(text: Any) -> np.dtype[Any]:
    """Return the dtype of a tensor that a text says."""
    return variant if text == "O" else string if text == "U0" else dtype_of(text)


class ValueWriter:
    """Makes JSON of values.

    Attributes
    ----------
    arrays : Arrays
        Those of the file.
    variables : list of Variable
    """

    def __init__(self) -> None:
        self.arrays = Arrays()
        self.variables: list[Variable] = []

    def form(self, value: Any, what: str, location: Location = ()) -> Any:
        """Return the form of a value; ``SaveError`` if it has none, which says ``what`` it is and where."""
        try:
            return self._form(value)
        except SaveError as error:
            raise unsavable(f"{what} cannot be saved: {error}", location) from None

    def _form(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int:
            if not -(1 << 63) <= value <= 1 << 63:
                raise unsaid("an integer of more than 64 bits")
            return value
        make = _WRITERS.get(kind)
        if make is not None:
            return make(self, value)
        if isinstance(value, np.dtype):
            return ["dtype", spec_dtype_text(value)]
        if isinstance(value, TensorShape):
            return shape_form(value)
        if isinstance(value, np.generic):
            return ["scalar", self.arrays.add(value)]
        if (name := NAME_OF.get(id(value))) is not None:
            return ["function", name]
        if isinstance(value, np.ufunc) and value.__name__ in UFUNC_NAMES:
            return ["ufunc", value.__name__]
        if (name := exception_name(value)) is not None:
            return ["exception", name]
        raise unsaid(_said(value))

    def _of_float(self, value: float) -> Any:
        return ["float", value.hex()]

    def _of_complex(self, value: complex) -> Any:
        return ["complex", value.real.hex(), value.imag.hex()]

    def _of_several(self, value: Any) -> Any:
        return [type(value).__name__, *map(self._form, value)]

    def _of_dict(self, value: dict[Any, Any]) -> Any:
        return ["dict", *[[self._form(key), self._form(one)] for key, one in value.items()]]

    def _of_array(self, value: np.ndarray[Any, Any]) -> Any:
        return ["array", self.arrays.add(value)]

    def _of_variable(self, value: Variable) -> Any:
        if value.graph is not None:
            raise unsaid(f"the variable {value.name!r} of a graph that a session runs")
        if value not in self.variables:
            self.variables.append(value)
        return ["variable", self.variables.index(value)]

    def _of_text(self, value: Text) -> Any:
        parts = [self._form(nest.unflatten(structure, leaves)) for structure, leaves in value.parts]
        return ["text", value.sep, value.end, *parts]

    def variable_rows(self) -> list[Any]:
        """Return what the header says of the variables: more may be added while others are written."""
        return [
            [v.name.partition(":")[0], spec_dtype_text(v.dtype), shape_form(v.shape), bool(v.trainable),
             self.arrays.add(v.own_storage.value)]
            for v in self.variables
        ]  # fmt: skip


def _said(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__qualname__!r}"
    if callable(value):
        return f"the Python function {getattr(value, '__qualname__', type(value).__name__)!r}"
    return f"an object of the class {type(value).__qualname__!r}"


def shape_form(shape: TensorShape) -> list[Any]:
    """Return the form of a shape."""
    return ["unknown rank"] if shape.rank is None else ["shape", *shape.known]


_WRITERS: dict[type, Callable[[ValueWriter, Any], Any]] = {
    float: ValueWriter._of_float,
    complex: ValueWriter._of_complex,
    tuple: ValueWriter._of_several,
    list: ValueWriter._of_several,
    dict: ValueWriter._of_dict,
    np.ndarray: ValueWriter._of_array,
    Variable: ValueWriter._of_variable,
    type(Ellipsis): lambda self, value: ["..."],
    Index: lambda self, value: ["index", *map(self._form, value.entries)],
    Slice: lambda self, value: ["slice", *map(self._form, (value.start, value.stop, value.step))],
    Input: lambda self, value: ["input", value.position],
    ArraySpec: lambda self, value: [
        "elements", spec_dtype_text(value.dtype), shape_form(value.element_shape), value.dynamic_size,
        value.clear_after_read, value.infer_shape, value.collects,
    ],
    Text: ValueWriter._of_text,
    Hole: lambda self, value: ["hole", value.position, name_of_kind(value.kind)],
    MadeException: lambda self, value: ["made", exception_name(value.kind), self._form(value.args)],
    GivenArguments: lambda self, value: ["given", self._form(value.args), self._form(value.kwargs)],
    Argument: lambda self, value: ["value", value.position, value.is_number],
}  # fmt: skip


class ValueReader:
    """Makes values of JSON.

    Parameters
    ----------
    arrays : list of ndarray
    variables : list of Variable
    """

    def __init__(self, arrays: list[np.ndarray[Any, Any]], variables: list[Variable]) -> None:
        self._arrays, self._variables = arrays, variables

    def value(self, form: Any, depth: int = 0) -> Any:
        """Return the value of a form."""
        kind = type(form)
        if form is None or kind in (bool, str):
            return form
        if kind is int:
            if not -(1 << 63) <= form <= 1 << 63:
                raise damaged("an integer has more than 64 bits")
            return form
        if kind is not list or not form or type(form[0]) is not str:
            raise damaged("a value has no such form")
        if depth >= MOST_DEPTH:
            raise damaged("values are nested too deeply")
        read = _READERS.get(form[0])
        if read is None:
            raise damaged(f"there is no value of the form {form[0][:40]!r}")
        return read(self, form[1:], depth + 1)

    def _several(self, rest: list[Any], depth: int) -> list[Any]:
        return [self.value(one, depth) for one in rest]

    def _dict(self, rest: list[Any], depth: int) -> Any:
        made = {}
        for row in rest:
            key, value = self._fields(row, 2)
            made[self.value(key, depth)] = self.value(value, depth)
        return made

    def _fields(self, rest: Any, count: int) -> list[Any]:
        if type(rest) is not list or len(rest) != count:
            raise damaged("a value has not the parts that it must have")
        return rest

    def array(self, number: Any) -> np.ndarray[Any, Any]:
        """Return an array by its number."""
        if not is_count(number) or number >= len(self._arrays):
            raise damaged("there is no such array")
        found: np.ndarray[Any, Any] = self._arrays[number]
        return found

    def _array(self, rest: list[Any], depth: int) -> Any:
        return self.array(*self._fields(rest, 1))

    def _scalar(self, rest: list[Any], depth: int) -> Any:
        array = self.array(*self._fields(rest, 1))
        if array.ndim:
            raise damaged("a scalar has axes")
        return array[()]

    def _variable(self, rest: list[Any], depth: int) -> Any:
        (number,) = self._fields(rest, 1)
        if not is_count(number) or number >= len(self._variables):
            raise damaged("there is no such variable")
        return self._variables[number]

    def shape(self, form: Any) -> TensorShape:
        """Return the shape of a form."""
        made = self.value(form)
        if not isinstance(made, TensorShape):
            raise damaged("a shape is none")
        return made

    def _shape(self, rest: list[Any], depth: int) -> TensorShape:
        if len(rest) > 64 or not all(one is None or is_count(one) for one in rest):
            raise damaged("there is no such shape")
        return TensorShape(rest)

    def _index(self, rest: list[Any], depth: int) -> Index:
        entries = self._several(rest, depth)
        if not all(one is None or one is Ellipsis or type(one) in (int, Slice, Input) for one in entries):
            raise damaged("there is no such index")
        return Index(entries)

    def _slice(self, rest: list[Any], depth: int) -> Slice:
        ends = self._several(self._fields(rest, 3), depth)
        if not all(one is None or type(one) in (int, Input) for one in ends):
            raise damaged("there is no such slice")
        return Slice(*ends)

    def _input(self, rest: list[Any], depth: int) -> Input:
        return Input(self._place(rest))

    def _place(self, rest: list[Any]) -> int:
        if len(rest) < 1 or not is_count(rest[0]) or rest[0] > 1 << 20:
            raise damaged("there is no such place")
        place: int = rest[0]
        return place

    def _elements(self, rest: list[Any], depth: int) -> ArraySpec:
        dtype, shape, *flags = self._fields(rest, 6)
        if not all(type(one) is bool for one in flags):
            raise damaged("a TensorArray has no such elements")
        return ArraySpec(spec_dtype_of(dtype), self.shape(shape), *flags)

    def _text(self, rest: list[Any], depth: int) -> Text:
        if len(rest) < 2 or not all(type(one) is str for one in rest[:2]):
            raise damaged("there is no such text")
        return Text.of_parts(self._several(rest[2:], depth), rest[0], rest[1])

    def _hole(self, rest: list[Any], depth: int) -> Hole:
        _, kind = self._fields(rest, 2)
        if type(kind) is not str or kind not in KINDS:
            raise damaged("there is no such kind of value")
        return Hole(self._place(rest), KINDS[kind])

    def _named(self, rest: list[Any], names: Any) -> Any:
        (name,) = self._fields(rest, 1)
        if type(name) is not str or name not in names:
            raise damaged(f"{str(name)[:40]!r} is no name that a file may use")
        return names[name]

    def _made(self, rest: list[Any], depth: int) -> MadeException:
        name, args = self._fields(rest, 2)
        made = self.value(args, depth)
        if type(made) is not tuple:
            raise damaged("an exception has no such arguments")
        return MadeException(self._named([name], EXCEPTIONS), made)

    def _given(self, rest: list[Any], depth: int) -> GivenArguments:
        args, kwargs = self._several(self._fields(rest, 2), depth)
        if type(args) is not tuple or type(kwargs) is not dict or not all(type(key) is str for key in kwargs):
            raise damaged("there are no such arguments")
        return GivenArguments(args, kwargs)

    def _argument(self, rest: list[Any], depth: int) -> Argument:
        _, is_number = self._fields(rest, 2)
        if type(is_number) is not bool:
            raise damaged("there is no such value")
        return Argument(self._place(rest), is_number)


def _float_of(text: Any) -> float:
    if type(text) is not str or len(text) > 40:
        raise damaged("a number is none")
    try:
        return float.fromhex(text)
    except (ValueError, OverflowError):
        raise damaged("a number is none") from None


_UFUNCS = {name: getattr(np, name) for name in UFUNC_NAMES}
_READERS: dict[str, Callable[[ValueReader, list[Any], int], Any]] = {
    "float": lambda self, rest, depth: _float_of(*self._fields(rest, 1)),
    "complex": lambda self, rest, depth: complex(*map(_float_of, self._fields(rest, 2))),
    "tuple": lambda self, rest, depth: tuple(self._several(rest, depth)),
    "list": ValueReader._several,
    "dict": ValueReader._dict,
    "dtype": lambda self, rest, depth: spec_dtype_of(*self._fields(rest, 1)),
    "shape": ValueReader._shape,
    "unknown rank": lambda self, rest, depth: UNKNOWN,
    "...": lambda self, rest, depth: Ellipsis,
    "array": ValueReader._array,
    "scalar": ValueReader._scalar,
    "variable": ValueReader._variable,
    "index": ValueReader._index,
    "slice": ValueReader._slice,
    "input": ValueReader._input,
    "elements": ValueReader._elements,
    "text": ValueReader._text,
    "hole": ValueReader._hole,
    "function": lambda self, rest, depth: self._named(rest, FUNCTIONS),
    "ufunc": lambda self, rest, depth: self._named(rest, _UFUNCS),
    "exception": lambda self, rest, depth: self._named(rest, EXCEPTIONS),
    "made": ValueReader._made,
    "given": ValueReader._given,
    "value": ValueReader._argument,
}
