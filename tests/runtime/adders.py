"""Functions that add a number, compiled by the process that compiles: also for programs that should begin soon."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

from api import compile_ir, process

ADD = """
define i64 @"{name}"(i64 %x) {
  %y = add i64 %x, NUMBER
  ret i64 %y
}
"""


def function(number, ir=ADD):
    """The function that adds ``number``; compiled when it is called, for no other has asked for this number."""
    code = compile_ir(ir.replace("NUMBER", str(number)), {}, None)
    made = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code.address)
    made.keep = code
    return made


def waiting():
    """The compiler that waits for work."""
    (one,) = process._waiting
    return one


def until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def is_gone(pid):
    """True if nothing is left of a process, not even its exit code."""
    return not Path(f"/proc/{pid}").exists()
