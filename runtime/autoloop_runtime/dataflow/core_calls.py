"""Kernels that Python calls in a run whose tokens are moved in native memory, and the values that it has for those.

A value is in memory, or an object, or both: what a kernel of NumPy's gives is used where it is by machine code, and
what that gives is seen as an array where it is by kernels that only compute and make arrays of their own. All others
have copies: their results, or somebody else, may keep what they are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from ..analysis.aliasing import is_fresh
from ..base.aligned_memory import Block
from ..ir.prices import Price
from ..ir.run_state import RunState
from . import token_core as tc
from .execution_plan import MISSING, Step, ops_of
from .flat_graph import Kind
from .kernels import Arguments, Until
from .sole_holders import in_place
from .token_forms import TokenForm, window

#: stands for an object that there is not
UNKNOWN: Final = object()


class CalledStep:
    """How Python calls a kernel.

    Parameters
    ----------
    step : Step
    inputs, outputs : sequence of TokenForm or None
        Of the values that machine code sees, too.
    has_code : bool
        It is only called where that has not done it.

    Attributes
    ----------
    first : int
        Where its values are in an iteration.
    is_loop : bool
    is_blas : bool
        It has no code, and calls BLAS.
    borrows : bool
        It may be given memory that is used again once it has returned.
    keeps : list of bool
        Which results are left where they are.
    """

    __slots__ = ("borrows", "first", "inputs", "is_blas", "is_loop", "keeps", "outputs", "step")

    def __init__(
        self, step: Step, inputs: Sequence[TokenForm | None], outputs: Sequence[TokenForm | None], has_code: bool
    ) -> None:  # fmt: skip
        self.step, self.inputs, self.outputs = step, inputs, outputs
        self.first, self.is_loop = tc.VALUES + step.first, step.flat.kind is Kind.WHOLE
        node, op = step.flat.source, step.flat.op
        only_makes = (
            step.flat.kind is Kind.KERNEL and node is not None and op is node.op
            and not (op.effect or op.stateful) and op.traits.price is not Price.FOREIGN
            and all(map(is_fresh, node.outputs))
        )  # fmt: skip
        self.borrows = only_makes and not (step.takes or step.offered)
        self.is_blas = not has_code and any(op is not None and op.traits.blas for op in ops_of(step.flat))
        self.is_blas |= self.is_loop and step.overlaps and step.flat.value.blas
        self.keeps = [only_makes and not has_code and form is not None and form.is_array for form in outputs]


class Values:
    """The values of a run, by the numbers of buffers.

    Those of a buffer are changed by who has it, as says the lock of the run; so are the words of a record.

    Parameters
    ----------
    words : memoryview
    objects : list
        By buffer.
    seen : dict
        Arrays on the memory of buffers; two threads make the same.
    """

    def __init__(self, words: memoryview, objects: list[Any], seen: dict[tuple[int, int], Any]) -> None:
        self.words, self.objects, self._seen = words, objects, seen
        self._addresses, self._uses, self._counted = words[tc.ADDRESSES], words[tc.USES], words[tc.COUNTED]

    def value(self, buffer: int, form: TokenForm | None) -> Any:
        """Return the object of a buffer, which has memory of its own."""
        found = self.objects[buffer]
        return form.read(self.words[self._addresses + buffer]) if found is UNKNOWN and form is not None else found

    def _borrowed(self, buffer: int, form: TokenForm) -> Any:
        """Return the memory of a buffer as an array, a number as it is."""
        if not form.is_array:
            return form.read(self.words[self._addresses + buffer])
        array = self._seen.get((buffer, id(form)))
        if array is None:
            dtype, shape = form.values[0]
            array = self._seen[buffer, id(form)] = window(self.words[self._addresses + buffer], dtype, shape)
        return array

    def given(self, it: int, one: CalledStep) -> list[Any]:
        """Return what a kernel is given, which nobody else holds if it is used for the last time."""
        words, objects, args = self.words, self.objects, list[Any]()
        first = it + one.first
        for buffer, form in zip(words[first : first + len(one.inputs)], one.inputs):
            value = objects[buffer]
            if value is not UNKNOWN:
                if buffer >= self._counted and words[self._uses + buffer] == 1:
                    objects[buffer] = UNKNOWN
            elif form is not None:
                value = self._borrowed(buffer, form) if one.borrows else form.read(words[self._addresses + buffer])
            args.append(value)
        return args

    def take(self, record: int, half: int, one: CalledStep, out: Any) -> bool:
        """Take what a kernel has given; False if that is not what was said.

        Parameters
        ----------
        half : int
            How many buffers a record has room for.
        """
        words, objects = self.words, self.objects
        outs = (out,) if one.step.outs is None else out
        place = record + tc.R_BUFFERS
        for value, form, keeps in zip(outs, one.outputs, one.keeps, strict=True):
            buffer = words[place]
            if value is MISSING:
                words[place + half] = 0
            elif form is None:
                objects[buffer] = value
                words[place + half] = 1
            elif keeps:
                array = _kept(value, form)
                if array is None:
                    return False
                objects[buffer] = array
                words[place + half] = words[self._addresses + buffer] = array.__array_interface__["data"][0]
            elif form.write(value, words[self._addresses + buffer]):
                words[place + half] = words[self._addresses + buffer]
            else:
                return False
            place += 1
        return True


def _kept(value: Any, form: TokenForm) -> Any:
    """Return an array in the order of its memory, as machine code wants it; None if it is not what was said."""
    if type(value) is not np.ndarray or value.dtype != form.values[0][0] or value.shape != form.values[0][1]:
        return None
    flags = value.flags
    is_plain = flags.c_contiguous and flags.aligned and (value.base is None or type(value.base) is Block)
    return value if is_plain and value.size else np.array(value, order="C")


def call(one: CalledStep, args: list[Any], state: RunState) -> Any:
    """Call a kernel; ``args`` is not used any more."""
    step = one.step
    kernel = step.call
    assert kernel is not None
    if step.flat.kind is Kind.BATCH:
        return kernel(args)
    if one.is_loop:
        return kernel(state, args)
    del args[step.last - step.first :]
    if step.offered or step.takes:
        kernel, args = in_place(kernel, step.over, step.offered, step.takes, args)
    return kernel(*args, state=state) if step.stateful else kernel(*args)


def order_of(words: memoryview, it: int, one: CalledStep) -> tuple[int, ...]:
    """Return what is less for a kernel that stands, or runs, earlier in the program, as ``first_failure`` does."""
    found = [one.step.flat.index]
    while True:
        frame = words[it + tc.WITHIN]
        found.append(words[it + tc.INDEX])
        it = words[frame + tc.F_PARENT]
        if not it:
            return tuple(reversed(found))
        found.append(words[words[frame + tc.F_LOOP] + tc.L_PLACE])


def deadline_of(unwanted: Any) -> float | None:
    """Return when what it tells will be over, in ``time.monotonic()``, if that is known."""
    found: float | None = getattr(unwanted, "deadline", None)
    return found


def arguments(args: Iterable[Any], threads: int, unwanted: Any, seen: Any) -> Arguments:
    """Return the arguments of a loop in a run; ``unwanted``: whether that is; ``seen``: what is noted of the loop."""
    made = Arguments(args, threads)
    made.seen = seen
    if unwanted != ():
        made.unwanted = Until(partial(bool, unwanted), deadline_of(unwanted))
    return made
