"""Numbers whose type only the run tells: ``2 if c else 0.5``, or ``s`` after ``s = 0; while c: s += 0.5``.

A :class:`MixedNumber` is a number in a dtype that holds all of its values exactly, and a tag that says what it is in
this run: a bool, int, float or complex of Python's, a scalar of NumPy's, or an array without axes. What the caller gets
is made of both; what operators give is in ``mixed_operators``. Where a tensor decides, a number is a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.shapes import SCALAR, TensorShape
from autoloop_runtime.base.stand_ins import UnknownWhileTracing, called
from autoloop_runtime.ir.array_storage import may_be_lazy
from autoloop_runtime.ir.composite import Composite, register
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.followers import is_followed
from autoloop_runtime.ir.number_operators import CARRIERS, number_type
from autoloop_runtime.ir.op import call
from autoloop_runtime.ir.plain_values import is_foreign, plain_number, plain_zero_dim
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tensor_operators import ASKED_FIRST
from autoloop_runtime.ir.tracers import (
    ArrayTracer,
    DecidedNumber,
    Kind,
    NumberTracer,
    ZeroDimArray,
)

from ... import operators
from .standins import StandIn

#: what a number may be: its place in ``TYPES``
Code: TypeAlias = int
Codes: TypeAlias = frozenset[Code]

PYTHON = (bool, int, float, complex)
_DTYPES = [np.dtype(name) for name in ["?", "b", "B", "h", "H", "i", "I", "l", "L", "e", "f", "d", "g", "F", "D", "G"]]
#: the kind and dtype of each: numbers of Python's first
TYPES: tuple[tuple[Kind, Any], ...] = (
    *((NumberTracer, CARRIERS[one]) for one in PYTHON),
    *((kind, dtype) for kind in (ArrayTracer, ZeroDimArray) for dtype in _DTYPES),
)
_CODES = {one: code for code, one in enumerate(TYPES)}


def is_pythons(code: Code) -> bool:
    """Return whether a code is of a number of Python's own."""
    return code < len(PYTHON)


def class_of_code(code: Code) -> type:
    """Return the class of the numbers that a code stands for."""
    kind, dtype = TYPES[code]
    return PYTHON[code] if is_pythons(code) else np.ndarray if kind is ZeroDimArray else dtype.type


def codes_of(value: Any) -> Codes | None:
    """Return what a number may be; None of anything else, and of what is, or is to be, a tensor."""
    if isinstance(value, MixedNumber):
        return value.types
    number = number_type(value)
    if number is not None:
        return None if isinstance(value, DecidedNumber) else frozenset((PYTHON.index(number),))
    kind = _kind(value)
    code = None if kind is None else code_of(kind, value.dtype)
    return None if code is None else frozenset((code,))


def code_of(kind: Kind, dtype: Any) -> Code | None:
    """Return the code of numbers of a kind and dtype, if they have one."""
    return _CODES.get((kind, dtype))


def _kind(value: Any) -> Kind | None:
    if isinstance(value, ArrayTracer):
        return (ArrayTracer if may_be_lazy(value) else type(value)) if value.shape.rank == 0 else None
    if isinstance(value, np.generic):
        return ArrayTracer
    return ZeroDimArray if isinstance(value, np.ndarray) and not value.ndim else None


@called("number (of which only the run knows the type)")
class MixedNumber(StandIn):
    """A number whose type the run tells.

    Attributes
    ----------
    types : frozenset of int
        What it may be.
    carrier : numpy.dtype
        What holds all of its values.
    value, tag : Tensor
        The number in that dtype, and which of ``types`` it is.
    static : object
        A number of one type in place of these two, which are made of it when they are asked for.
    given : frozenset of int or None
        Of a loop variable: what the body makes of it.
    """

    __slots__ = ("carrier", "given", "static", "tag", "types", "value")

    def __init__(self, types: Codes, carrier: Any, value: Any, tag: Any, static: Any = None) -> None:
        self.types, self.carrier, self.value, self.tag, self.static = types, carrier, value, tag, static
        self.given: Codes | None = None
        _ = operators.by_types  # whose module, loaded with the first number of all, gives the class its operators

    def described(self) -> str:
        """Return what messages call it."""
        return f"a number of which only the run tells whether it is {self.named()}"

    def named(self) -> str:
        """Return the names of its types."""
        return " or ".join(sorted({name_of_code(code) for code in self.types}))

    def decision(self) -> Any:
        """Return whether it is not zero."""
        value = self.value
        return NumberTracer(value if self.carrier.kind == "b" else ops.not_equal(value, ops.zeros((), self.carrier)))

    def leaving(self) -> Any:
        """Return it as a number of the one type that holds all of its values."""
        kind = NumberTracer if all(map(is_pythons, self.types)) else ArrayTracer
        return kind(self.value)

    def known(self) -> Any:
        """Return it as what the body of a loop that surely ran has made of it, where that is of one type."""
        return self.of_type(next(iter(self.given))) if self.given is not None and len(self.given) == 1 else self

    def whole(self) -> Any:
        """Return it as the int that each of its types is."""
        if self.carrier.kind not in "iu" or any(TYPES[code][1].kind == "b" for code in self.types):
            raise UnknownWhileTracing(f"an int is needed, not {self.described()}: write int(...)")
        return self.leaving()

    def parts(self) -> tuple[list[Any], Callable[..., Any]]:
        """Return tensors, and what makes of their values the number of a run."""
        return [self.value, self.tag], handed_out

    def of_type(self, code: Code) -> Any:
        """Return it where it is known to be of one type."""
        kind, dtype = TYPES[code]
        return kind(self.value if dtype == self.carrier else ops.cast(self.value, dtype))

    def __autoloop_tensor__(self) -> Tensor:
        return convert_to_tensor(self.value)

    @property
    def __autoloop_kind__(self) -> Kind:
        return type(self.leaving())

    def __bool__(self) -> NoReturn:  # noqa: PLE0304
        self.refuse_leaving("Python would ask for the truth of")

    def __repr__(self) -> str:
        return f"<{self.named()}>"


def name_of_code(code: Code) -> str:
    """Return the name of the type that a code stands for."""
    kind, dtype = TYPES[code]
    if is_pythons(code):
        return PYTHON[code].__name__
    return f"numpy.{dtype}" if kind is ArrayTracer else f"an array of {dtype}"


def mixed(value: Any, *others: Any) -> MixedNumber | None:
    """Return a number as one that may be of the types of ``others``, too; None if not all are numbers."""
    codes = [codes_of(one) for one in (value, *others)]
    found = [one for one in codes if one is not None]
    if len(found) < len(codes):
        return None
    carrier = _carrier((value, *others))
    return None if carrier is None else MixedNumber(frozenset[int]().union(*found), carrier, None, None, value)


def begun(init: Any, value: Any) -> MixedNumber | None:
    """Return a loop variable as a number that may be of the types of what the body makes of it, too."""
    made, codes = mixed(init, value), codes_of(value)
    if made is None or codes is None:
        return None
    dtypes = [TYPES[code][1] for code in codes if not is_pythons(code)]
    if dtypes and not isinstance(init, (Tensor, MixedNumber)) and _holds(np.result_type(*dtypes), init):
        made.carrier = np.result_type(*dtypes)  # numbers of Python's in ``value`` may be the one on entry
    return made


def _carrier(values: Sequence[Any]) -> Any:
    """Return the dtype that holds all of some numbers, the one that NumPy's have if that holds Python's constants."""
    is_constant = [number_type(one) is not None and not isinstance(one, Tensor) for one in values]
    constants = [one for one, constant in zip(values, is_constant, strict=True) if constant]
    dtypes = [_dtype(one) for one, constant in zip(values, is_constant, strict=True) if not constant]
    narrow = np.result_type(*dtypes) if dtypes else None
    if narrow is None or not all(_holds(narrow, one) for one in constants):
        narrow = np.result_type(*map(_dtype, values))
    return narrow if narrow in _DTYPES else None


def _dtype(value: Any) -> Any:
    if isinstance(value, MixedNumber):
        return value.carrier
    number = number_type(value)
    return value.dtype if number is None else CARRIERS[number]


def _holds(dtype: Any, number: Any) -> bool:
    """Return whether a constant is the same number in a dtype."""
    if np.result_type(dtype, np.min_scalar_type(number)) != dtype and dtype.kind in "biu":
        return False
    try:
        with np.errstate(all="ignore"):
            held = dtype.type(number).item()  # which NumPy would compare in that dtype
        return bool(held == number or (held != held and number != number))
    except (OverflowError, TypeError):
        return False


def _widened(value: Any, dtype: Any) -> Tensor:
    """Return a number in a dtype that holds it; of an int that no float is equal to that is an error of the run."""
    if isinstance(value, MixedNumber):
        return convert_to_tensor(ops.cast(components(value)[0], dtype))
    if not isinstance(value, Tensor):
        if _holds(dtype, value):
            return convert_to_tensor(dtype.type(value))
        value = convert_to_tensor(np.asarray(value)[()])
    tensor = value.plain
    if tensor.dtype.kind in "biu" and dtype.kind in "fc":
        tensor = call("number_float", tensor)
    return convert_to_tensor(ops.cast(tensor, dtype))


def components(value: MixedNumber) -> tuple[Tensor, Tensor]:
    """Return the number and its tag, made in the current graph of what it was before."""
    static = value.static
    if value.value is None:
        codes = codes_of(static)
        assert codes is not None
        tag = components(static)[1] if isinstance(static, MixedNumber) else convert_to_tensor(np.int64(*codes))
        value.value, value.tag = _widened(static, value.carrier), tag
    return value.value, value.tag


def chosen(test: Any, one: Any, other: Any) -> Any:
    """Return one of two numbers of several types; None if they are no such, or of one type."""
    if codes_of(one) == codes_of(other) and not isinstance(one, MixedNumber):
        return None
    first, second = mixed(one, other), mixed(other, one)
    if first is None or second is None:
        return None
    value, tag = (ops.where(test, a, b) for a, b in zip(components(first), components(second), strict=True))
    return MixedNumber(first.types, first.carrier, value, tag)


def accepted(entry: MixedNumber, value: Any) -> MixedNumber | tuple[Tensor, Tensor] | None:
    """Return the parts of a loop variable's next value, another entry if it may be more than that, or None if never."""
    codes = codes_of(value)
    if codes is None:
        return None
    next_one = mixed(value, entry)
    if next_one is None:
        return None
    if next_one.types != entry.types or next_one.carrier != entry.carrier:
        return MixedNumber(
            next_one.types, next_one.carrier, None, None, entry if entry.static is None else entry.static
        )
    entry.given = codes if entry.given is None else entry.given | codes
    return components(next_one)


def settled(value: Any) -> Any:
    """Return a structure with numbers of one type each, for what takes tensors."""
    if not any(isinstance(leaf, MixedNumber) for leaf in nest.flatten(value)):
        return value
    return nest.map_structure(lambda leaf: leaf.leaving() if isinstance(leaf, MixedNumber) else leaf, value)


def handed_out(value: Any, tag: Any) -> Any:
    """Return what the caller gets of a number of a run and its tag."""
    kind, dtype = TYPES[int(tag)]
    if is_foreign(value):
        if kind is not NumberTracer:
            with undivided():
                from autoloop_runtime.namespaces import namespace_of
            namespace = namespace_of(value)
            assert namespace is not None
            return namespace.of_dtype(value, dtype)
        value = np.asarray(value)[()]
    if value.dtype != dtype:
        value = (value.real if dtype.kind != "c" else value).astype(dtype)
    return plain_number(value) if kind is NumberTracer else plain_zero_dim(value) if kind is ZeroDimArray else value[()]


def all_handed_out(values: Any, tags: Any) -> list[Any]:
    """Return what the caller gets of numbers of a run, in one array, and of their tags."""
    codes = tags.tolist()
    parts = {code: iter(_alike(values[tags == code], code)) for code in set(codes)}
    return [next(parts[code]) for code in codes]


def _alike(values: Any, tag: Code) -> list[Any]:
    kind, dtype = TYPES[tag]
    if kind is ZeroDimArray:
        return [handed_out(value, tag) for value in values]
    if values.dtype != dtype:
        values = (values.real if dtype.kind != "c" else values).astype(dtype)
    return values.tolist() if kind is NumberTracer else list(values)


def of_run(types: Codes, carrier: Any, value: Any, tag: Any) -> Any:
    """Return a number with these parts; of the parts of a run that is over, what the caller gets."""
    if not isinstance(value, Tensor) or value.node is not None:
        return MixedNumber(types, carrier, value, tag)
    if is_followed(value):
        return value  # as what is differentiated stays
    return handed_out(value.value, tag.value)


class _AsComposite(Composite[MixedNumber]):
    """The number and its tag; of a result of a run, what they say."""

    def components(self, value: MixedNumber) -> Sequence[Any]:
        return components(value)

    def spec(self, value: MixedNumber) -> Hashable:
        return value.types, value.carrier

    def from_components(self, spec: Any, components: Sequence[Any]) -> Any:
        return of_run(*spec, *components)

    def invariants(self, value: MixedNumber, given: TensorShape | None) -> list[TensorShape]:
        return [SCALAR, SCALAR]

    def unread(self, value: MixedNumber) -> MixedNumber:
        return MixedNumber(
            value.types, value.carrier, Tensor(value.carrier.type(0)), Tensor(np.int64(min(value.types)))
        )


register(MixedNumber, _AsComposite())
ASKED_FIRST.add(MixedNumber)


def holds_mixed(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Return whether there is a mixed number among arguments."""
    return any(isinstance(leaf, MixedNumber) for leaf in nest.flatten([*args, *kwargs.values()]))
