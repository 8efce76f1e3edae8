"""Numbers of several types in a growing list: at a place of its elements, their values and beside them what each is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.stand_ins import IntTooLarge
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, Kind, NumberTracer

from ...left_to_python import LeftByRun
from .mixed_numbers import TYPES, Codes, MixedNumber, code_of, codes_of, components, is_pythons, mixed, of_run
from .raising import Raising, raise_unless

if TYPE_CHECKING:
    from autoloop_runtime.collections.tensor_array import TensorArray


@dataclass(frozen=True)
class Several:
    """What the numbers at a place of the elements may be, and the dtype that holds all of them."""

    types: Codes
    carrier: Any

    @property
    def kind(self) -> Kind:
        """What they are taken for together."""
        return NumberTracer if all(map(is_pythons, self.types)) else ArrayTracer

    def like(self) -> MixedNumber:
        """Return what stands for one of them, without a value."""
        return MixedNumber(self.types, self.carrier, None, None)

    def parts(self, number: Any, name: str) -> tuple[Tensor, Tensor]:
        """Return what carries a number, and which of the types it is."""
        if codes_of(number) is None:
            raise TypeError(
                f"the list {name!r} holds {self.like().named()}, and something that is no such number is put into it "
                f"in a loop or branch that the run decides: use one type, float(x) [AL019]"
            )
        return components(MixedNumber(self.types, self.carrier, None, None, number))

    def number(self, value: Tensor, tag: Tensor) -> Any:
        """Return a number; of a run that is over, what it is."""
        return of_run(self.types, self.carrier, value, tag)

    def column(self, values: Tensor, tags: Tensor) -> Tensor:
        """Return an array's tensor of them as NumPy makes it."""
        whole = np.result_type(*[_in_array(code) for code in self.types])
        wide = [code for code in self.types if _in_array(code) == whole]
        is_wide = ops.any(ops.equal(ops.expand_dims(tags, 1), np.array(wide, np.int64)))
        _refuse_unless(is_wide, whole)
        return ops.cast(values, whole)


def _in_array(code: int) -> Any:
    return TYPES[code][1]


def checked_column(values: Tensor) -> Tensor:
    """Return the numbers of a list as NumPy makes an array of them: of none it makes one of floats."""
    if values.dtype != np.float64 and (values.shape.rank is None or values.shape.as_list()[0] is None):
        _refuse_unless(ops.greater(ops.size(values), 0), values.dtype)
    return values


def checked_rows(rows: Tensor) -> Tensor:
    """Return arrays of a list as NumPy makes an array of them: of none it makes one with a single axis, of floats."""
    if _may_be_none(rows):
        _leave_unless(
            ops.greater(ops.shape(rows)[0], 0),
            f"of this list NumPy makes an array of another shape than {rows.shape} in this run, as there are no "
            f"elements: look first whether it has some",
        )
    return rows


def refuse_without(rows: Tensor, function: Callable[..., Any]) -> None:
    """Let the run raise what a function of NumPy's raises of an empty list if there are no elements of one."""
    if _may_be_none(rows):
        raise_unless(ops.greater(ops.shape(rows)[0], 0), Raising(ValueError, partial(_said_of_none, function)))


def _said_of_none(function: Callable[..., Any]) -> ValueError:
    try:
        function([])
    except ValueError as error:
        return error.with_traceback(None)
    raise AssertionError(function)


def _may_be_none(rows: Tensor) -> bool:
    return rows.shape.rank is None or rows.shape.as_list()[0] is None


def _refuse_unless(holds: Tensor, dtype: Any) -> None:
    _leave_unless(
        holds,
        f"of this list NumPy makes an array of another dtype than {dtype} in this run, as of no elements or ints only: "
        f"say which, np.array(values, dtype=np.{dtype})",
    )


def _leave_unless(holds: Tensor, text: str) -> None:
    raise_unless(holds, Raising(LeftByRun, lambda: LeftByRun(text)))


def of_column(kind: Kind, array: TensorArray) -> MixedNumber | None:
    """Return what stands for the numbers of one type that an array holds; None if it holds anything else."""
    code = code_of(kind, array.dtype) if array.element_shape.rank == 0 else None
    return None if code is None else MixedNumber(frozenset((code,)), array.dtype, None, None)


def wider(mine: MixedNumber, number: Any) -> Several | None:
    """Return what numbers may be, of which one is ``number``; None if that says nothing new, or it is none."""
    codes = codes_of(number)
    if codes is None or (both := mixed(mine, number)) is None:
        return None
    if codes <= mine.types and both.carrier == mine.carrier:
        return None
    return Several(both.types, both.carrier)


def widened(several: Several, mine: MixedNumber, values: Tensor, tags: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the columns of what was ``mine`` as ``several`` has them."""
    if tags is None:
        tags = ops.full(ops.shape(values), np.int64(*mine.types))
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and several.carrier.kind in "fc":
        is_exact = ops.all(ops.less_equal(ops.abs(values), 2**53))
        raise_unless(is_exact, Raising(IntTooLarge, lambda: IntTooLarge("an int too large for a list of floats")))
    return ops.cast(values, several.carrier), tags
