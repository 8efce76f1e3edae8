"""Steps in machine code beside what Python has for them: each is given the same tokens, whenever a program runs it."""

from __future__ import annotations

import ctypes

import flow
import numpy as np
from api import ALWAYS, MISSING, Executable, Kind, step_codes, step_forms, unpacked

STEP = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3)
#: bytes behind a token, which nobody writes to
GUARD = 64


class Memory:
    """Memory of a token."""

    def __init__(self, size):
        self._array = np.full(size + GUARD + 64, 0xA5, np.uint8)
        self.address = -(-self._array.ctypes.data // 64) * 64
        self._start, self._size = self.address - self._array.ctypes.data, size

    def bytes(self):
        return self._array.tobytes()

    def is_guarded(self):
        behind = self._array[self._start + self._size : self._start + self._size + GUARD]
        return bool((behind == 0xA5).all())


class Called:
    """Machine code of one step, called with objects."""

    def __init__(self, code):
        self.code, self._call = code, STEP(code.address)

    def __call__(self, tokens):
        """The tokens that it gives, and whether the loop goes on; None if it has failed."""
        code = self.code
        given = [None if form is None else Memory(form.bytes) for form in code.inputs]
        for form, memory, token in zip(code.inputs, given, tokens, strict=True):
            assert form is None or form.write(token, memory.address), (form.values, token)
        before = [None if one is None else one.bytes() for one in given]
        made = [Memory(form.bytes) for form in code.outputs] + [Memory(1)] * code.decides
        scratch = Memory(code.scratch)
        places = [0 if one is None else one.address for one in given] + [one.ctypes.data for one in code.constants]
        to = [one.address for one in made]
        into, out = [(ctypes.c_uint64 * (len(those) + 1))(*those) for those in (places, to)]
        failed = self._call(into, out, scratch.address)
        assert all(one.is_guarded() for one in [*made, scratch])
        assert before == [None if one is None else one.bytes() for one in given], "what it is given was written to"
        if failed:
            return None
        goes_on = bool(ctypes.c_uint8.from_address(to[-1]).value) if code.decides else None
        return [form.read(address) for form, address in zip(code.outputs, to)], goes_on


def same(made, wanted):
    """Whether two tokens are the same, numbers within what another library's functions may differ."""
    if type(wanted) is tuple:
        return type(made) is tuple and len(made) == len(wanted) and all(map(same, made, wanted))
    if made.dtype != wanted.dtype or np.shape(made) != np.shape(wanted):
        return False
    if made.dtype.kind in "biu":
        return bool(np.array_equal(made, wanted))
    size = np.finfo(made.dtype).eps
    return bool(np.allclose(made, wanted, rtol=64 * size, atol=64 * size, equal_nan=True))


class Checked:
    """Does a step as Python does, and compares what machine code gives."""

    def __init__(self, step, code):
        self.calls = self.failures = 0
        self.is_turn = code.decides
        self._plain, self._called = step.call, Called(code)
        self._is_batch = step.flat.kind is Kind.BATCH
        step.call, step.offered = self, ()

    def __call__(self, *args):
        tokens = list(args[0]) if self._is_batch else list(args)
        self.calls += 1
        found = self._called(tokens)
        try:
            result = self._plain(*args)
        except Exception:
            assert found is None
            self.failures += 1
            raise
        if found is None:
            self.failures += 1
            return result
        self._compare(*found, result if self._is_batch else (result,))
        return result

    def _compare(self, made, goes_on, wanted):
        code = self._called.code
        assert len(made) == len(wanted)
        for side, one, other in zip(code.sides, made, wanted):
            is_given = goes_on is None or side == ALWAYS or side == goes_on
            assert is_given == (other is not MISSING)
            assert not is_given or same(one, unpacked(other)), (one, other)


def checked(lowered, node_by_node=False):
    """An executable of which each step is compared that can be machine code, and those by their nodes."""
    made = flow.node_by_node(lowered) if node_by_node else Executable(lowered)
    forms = {one.place: one for one in step_forms(lowered, lowered, made.plan.nodes)}
    kinds = {}
    for form in forms.values():
        kinds.setdefault(form.kind, []).append(form)
    found = {}
    for those in kinds.values():
        for form, code in zip(those, step_codes(those)):
            found[form.place] = Checked(made.plan.steps[form.place], code)
    return made, found
