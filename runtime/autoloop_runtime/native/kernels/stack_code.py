"""What machine code does to stacks of saved values, as LLVM IR: making them, pushing, giving them back.

A stack is the address of some words: its elements, how many there are, how many there is room for, the stack that was
made before it, by which all are found and given back at the end, the interval between checkpoints (``kept``), whether
it outlives the iteration that ends, whether ``swapped`` knows of it (1) and has its elements (2), and, if its elements
are in a block that ``block_reuse`` will keep, one more than the block's class. The empty stack is a null address.
"""

from __future__ import annotations

import sys

from . import swap_file as swapped
from .block_reuse import CLASSES, REUSE, SMALLEST
from .ll_files import code
from .swap_file import GROW, RELEASE, STAYS

#: elements that a new stack has room for
FIRST = 16
#: words of a stack
HEAD = 8


#: where a stack that may leave memory becomes larger
_SWAP = f"""  %used = mul i64 %position, %size
  %many = icmp uge i64 %bytes, {{SMALLEST}}
  br i1 %many, label %ask, label %stay
ask:
  %swapped_at = getelementptr i64, ptr %stack, i64 6
  %before = load i64, ptr %swapped_at
  ; it is released also if the question is asked in part only
  %known = call i64 @llvm.umax.i64(i64 %before, i64 1)
  store i64 %known, ptr %swapped_at
  %answer = call i64 @swap_grow(ptr %stack, ptr %old, i64 %used, i64 %bytes)
  switch i64 %answer, label %move [ i64 0, label %fail i64 {STAYS}, label %stay ]
move:
  %was = icmp eq i64 %before, 2
  br i1 %was, label %set, label %leave
leave:
  call void @free_data(ptr %stack)
  br label %set
set:
  %mapped = inttoptr i64 %answer to ptr
  store ptr %mapped, ptr %stack
  store i64 %more, ptr %room_at
  store i64 2, ptr %swapped_at
  ret ptr %stack
stay:
"""

#: times that a stack is given back again when a signal handler raised in the middle of it
_TIMES = 8

_NO_HUGE_PAGES = """
define internal void @huge_pages(ptr %data, i64 %bytes) alwaysinline {
  ret void
}"""


#: giving back a stack that may have left memory
_RELEASE = """  %swapped_at = getelementptr i64, ptr %stack, i64 6
  %swapped = load i64, ptr %swapped_at
  %known = icmp ne i64 %swapped, 0
  br i1 %known, label %tell, label %own
tell:
  call void @swap_release(ptr %stack)
  %away = icmp eq i64 %swapped, 2
  br i1 %away, label %words, label %own
own:
"""


def functions(swaps: bool) -> str:
    """Return what all of it is; ``swaps``: also for stacks that may leave memory."""
    pages = code("huge_pages") if sys.platform == "linux" else _NO_HUGE_PAGES
    room = _room("stack", "")
    if swaps:
        calls = code("swap_calls", GROW=GROW, RELEASE=RELEASE, TIMES=_TIMES)
        room = f"{calls}\n\n{room}\n\n{_room('swap', _SWAP.replace('{SMALLEST}', str(swapped.SMALLEST)))}"
    larger = code(
        "stack_larger", REUSE=REUSE, SMALLEST=SMALLEST, CLASSES=CLASSES, CLASS_MASK=CLASSES - 1, ADDRESS_MASK=-CLASSES
    )
    return code("stacks", HUGE_PAGES=pages, LARGER=larger, ROOM=room, RELEASE=_RELEASE if swaps else "")


def _room(name: str, swap: str) -> str:
    return code("stack_room", name=name, SWAP=swap, FIRST=FIRST, HEAD_BYTES=8 * HEAD)
