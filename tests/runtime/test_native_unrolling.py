"""How much of loops LLVM writes out: what it takes to compile them."""

from __future__ import annotations

import pytest
from api import compiler, host, linker, process
from executors import needs_native

pytestmark = [needs_native, pytest.mark.skipif(not linker.is_supported(), reason="LLVM works in this process here")]

LOOP = """
define void @f(ptr %p) {
start:
  br label %loop
loop:
  %i = phi i64 [0, %start], [%next, %loop]
TURN
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, COUNT
  br i1 %done, label %end, label %loop
end:
  ret void
}
"""
STEP = "  %x{0} = load volatile i64, ptr %p\n  %y{0} = add i64 %x{0}, %i\n  store volatile i64 %y{0}, ptr %p"


def test_llvm_writes_out_short_loops_only():
    """Of loops in loops that took more time than all else, and what they compute no less."""
    loop = LOOP.replace("TURN", "\n".join(STEP.format(k) for k in range(8)))
    request = {"machine": host().described(), "level": compiler.LEVEL}
    sizes = [len(process.ask({**request, "ir": loop.replace("COUNT", str(n))})[1]) for n in (5, 8, 10, 1 << 20)]
    written_out, *loops = sizes
    assert len(set(loops)) == 1 and written_out != loops[0]


def test_code_may_stay_as_it_is_written():
    """What is written for the machine by hand is there in a third of the time."""
    loop = LOOP.replace("TURN", STEP.format(0))
    request = {"machine": host().described(), "level": compiler.LEVEL, "as_written": True}
    short, long = [len(process.ask({**request, "ir": loop.replace("COUNT", str(n))})[1]) for n in (3, 4)]
    assert short == long
