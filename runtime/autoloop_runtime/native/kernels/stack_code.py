"""What machine code does to stacks of saved values, as LLVM IR: making them, pushing, giving them back.

A stack is the address of some words: its elements, how many there are, how many there is room for, the stack that was
made before it, by which all are found and given back at the end, the interval between checkpoints (``kept``), whether
it outlives the iteration that ends, whether ``swapped`` knows of it (1) and has its elements (2), and, if its elements
are in a block that ``spare`` will keep, one more than the block's class. The empty stack is a null address.
"""

from __future__ import annotations

import sys

from . import swap_file as swapped
from .spare_memory import CLASSES, SMALLEST, SPARE
from .swap_file import GROW, RELEASE, STAYS

#: elements that a new stack has room for
FIRST = 16
#: words of a stack
HEAD = 8

_ROOM = f"""
; a stack with exactly %position elements, those of %stack, and room for one more; null if there is no memory
define internal ptr @{{name}}_with_room(ptr %list, ptr %stack, i64 %position, i64 %size) noinline nounwind {{
entry:
  %none = icmp eq ptr %stack, null
  br i1 %none, label %make, label %look
look:
  %length_at = getelementptr i64, ptr %stack, i64 1
  %length = load i64, ptr %length_at
  %at_end = icmp eq i64 %length, %position
  br i1 %at_end, label %grow, label %make
grow:
  %room_at = getelementptr i64, ptr %stack, i64 2
  %room = load i64, ptr %room_at
  %more = shl i64 %room, 1
  %bytes = mul i64 %more, %size
  %old = load ptr, ptr %stack
{{SWAP}}  %larger = call ptr @stack_larger(ptr %stack, i64 %position, i64 %bytes, i64 %size)
  ret ptr %larger
make:
  %twice = shl i64 %position, 1
  %first = call i64 @llvm.umax.i64(i64 %twice, i64 {FIRST})
  %space = mul i64 %first, %size
  %made = call ptr @stack_made(ptr %list, i64 {8 * HEAD}, i64 %space, i64 %first)
  %bad = icmp eq ptr %made, null
  br i1 %bad, label %fail, label %fill
fill:
  %data = load ptr, ptr %made
  %made_length = getelementptr i64, ptr %made, i64 1
  store i64 %position, ptr %made_length
  %copies = icmp ne i64 %position, 0
  br i1 %copies, label %copy, label %done
copy:
  %from = load ptr, ptr %stack
  %amount = mul i64 %position, %size
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %from, i64 %amount, i1 false)
  br label %done
done:
  ret ptr %made
fail:
  ret ptr null
}}

define internal ptr @{{name}}_at(ptr %list, ptr %stack, i64 %position, i64 %size) alwaysinline nounwind {{
entry:
  %none = icmp eq ptr %stack, null
  br i1 %none, label %slow, label %look
look:
  %length_at = getelementptr i64, ptr %stack, i64 1
  %length = load i64, ptr %length_at
  %room_at = getelementptr i64, ptr %stack, i64 2
  %room = load i64, ptr %room_at
  %at_end = icmp eq i64 %length, %position
  %fits = icmp ult i64 %position, %room
  %fast = and i1 %at_end, %fits
  br i1 %fast, label %done, label %slow
slow:
  %other = call ptr @{{name}}_with_room(ptr %list, ptr %stack, i64 %position, i64 %size)
  br label %done
done:
  %result = phi ptr [ %stack, %look ], [ %other, %slow ]
  ret ptr %result
}}"""

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

#: Python's functions, called as C code calls them, so what a signal handler raises is not lost wherever it comes: the
#: answer is in a word that was 0 before, and what was raised stays raised, see ``function``
_ASKED = f"""
@{GROW} = external global i8
@{RELEASE} = external global i8
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare void @PyErr_Clear()
declare ptr @PyLong_FromVoidPtr(ptr)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare void @Py_DecRef(ptr)

; true if it raised nothing
define internal i1 @swap_call(ptr %function, ptr %address) noinline nounwind {{
entry:
  %number = call ptr @PyLong_FromVoidPtr(ptr %address)
  %none = icmp eq ptr %number, null
  br i1 %none, label %fail, label %go
go:
  %result = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %function, ptr %number, ptr null)
  call void @Py_DecRef(ptr %number)
  %raised = icmp eq ptr %result, null
  br i1 %raised, label %fail, label %done
done:
  call void @Py_DecRef(ptr %result)
  ret i1 true
fail:
  ret i1 false
}}

define internal i64 @swap_grow(ptr %stack, ptr %data, i64 %used, i64 %bytes) noinline nounwind {{
entry:
  %words = alloca [5 x i64]
  store ptr %stack, ptr %words
  %data_at = getelementptr i64, ptr %words, i64 1
  store ptr %data, ptr %data_at
  %used_at = getelementptr i64, ptr %words, i64 2
  store i64 %used, ptr %used_at
  %bytes_at = getelementptr i64, ptr %words, i64 3
  store i64 %bytes, ptr %bytes_at
  %answer_at = getelementptr i64, ptr %words, i64 4
  store i64 0, ptr %answer_at
  %held = call i32 @PyGILState_Ensure()
  %before = call ptr @PyErr_Occurred()
  %none = icmp eq ptr %before, null
  br i1 %none, label %ask, label %done
ask:
  %ignored = call i1 @swap_call(ptr @{GROW}, ptr %words)
  br label %done
done:
  call void @PyGILState_Release(i32 %held)
  %answer = load i64, ptr %answer_at
  ret i64 %answer
}}

; what was raised before is still raised after it
define internal void @swap_release(ptr %stack) noinline nounwind {{
entry:
  %kind = alloca ptr
  %value = alloca ptr
  %trace = alloca ptr
  %held = call i32 @PyGILState_Ensure()
  call void @PyErr_Fetch(ptr %kind, ptr %value, ptr %trace)
  br label %ask
ask:
  %time = phi i64 [ 1, %entry ], [ %next, %again ]
  %good = call i1 @swap_call(ptr @{RELEASE}, ptr %stack)
  br i1 %good, label %done, label %raised
raised:
  %before = load ptr, ptr %kind
  %first = icmp eq ptr %before, null
  br i1 %first, label %take, label %drop
take:
  call void @PyErr_Fetch(ptr %kind, ptr %value, ptr %trace)
  br label %again
drop:
  call void @PyErr_Clear()
  br label %again
again:
  %next = add i64 %time, 1
  %last = icmp eq i64 %time, {_TIMES}
  br i1 %last, label %done, label %ask
done:
  %its_kind = load ptr, ptr %kind
  %its_value = load ptr, ptr %value
  %its_trace = load ptr, ptr %trace
  call void @PyErr_Restore(ptr %its_kind, ptr %its_value, ptr %its_trace)
  call void @PyGILState_Release(i32 %held)
  ret void
}}"""

_FUNCTIONS = """
declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)

{HUGE_PAGES}

{LARGER}

; a new stack of so many bytes with %space bytes for %room elements; null if there is no memory
define internal ptr @stack_made(ptr %list, i64 %words, i64 %space, i64 %room) noinline nounwind {
entry:
  %made = call ptr @malloc(i64 %words)
  %data = call ptr @malloc(i64 %space)
  %a = icmp eq ptr %made, null
  %b = icmp eq ptr %data, null
  %bad = or i1 %a, %b
  br i1 %bad, label %fail, label %fill
fill:
  store ptr %data, ptr %made
  %length_at = getelementptr i64, ptr %made, i64 1
  store i64 0, ptr %length_at
  %room_at = getelementptr i64, ptr %made, i64 2
  store i64 %room, ptr %room_at
  %next_at = getelementptr i64, ptr %made, i64 3
  %before = load ptr, ptr %list
  store ptr %before, ptr %next_at
  store ptr %made, ptr %list
  %interval_at = getelementptr i64, ptr %made, i64 4
  store i64 1, ptr %interval_at
  %keep_at = getelementptr i64, ptr %made, i64 5
  store i64 0, ptr %keep_at
  %swapped_at = getelementptr i64, ptr %made, i64 6
  store i64 0, ptr %swapped_at
  %class_at = getelementptr i64, ptr %made, i64 7
  store i64 0, ptr %class_at
  ret ptr %made
fail:
  call void @free(ptr %made)
  call void @free(ptr %data)
  ret ptr null
}

{ROOM}

; those that were made after %last, but for those whose word 5 says that they are kept
define internal void @free_stacks(ptr %list, ptr %last) noinline nounwind {
entry:
  br label %loop
loop:
  %link = phi ptr [ %list, %entry ], [ %link, %words ], [ %next_at, %kept ]
  %stack = load ptr, ptr %link
  %end = icmp eq ptr %stack, %last
  br i1 %end, label %done, label %one
one:
  %next_at = getelementptr i64, ptr %stack, i64 3
  %keep_at = getelementptr i64, ptr %stack, i64 5
  %keep = load i64, ptr %keep_at
  %is_kept = icmp ne i64 %keep, 0
  br i1 %is_kept, label %kept, label %gone
kept:
  br label %loop
gone:
  %next = load ptr, ptr %next_at
  store ptr %next, ptr %link
{RELEASE}  call void @free_data(ptr %stack)
  br label %words
words:
  call void @free(ptr %stack)
  br label %loop
done:
  ret void
}

define internal void @keep_stack(ptr %stack, i64 %keep) alwaysinline nounwind {
entry:
  %none = icmp eq ptr %stack, null
  br i1 %none, label %done, label %mark
mark:
  %keep_at = getelementptr i64, ptr %stack, i64 5
  store i64 %keep, ptr %keep_at
  br label %done
done:
  ret void
}"""


#: asks for large pages, each of which costs one page fault instead of five hundred; for all of the mapping, because one
#: of two minds could not grow without being copied
_HUGE_PAGES = """
declare i32 @madvise(ptr, i64, i32)
define internal void @huge_pages(ptr %data, i64 %bytes) noinline nounwind {
entry:
  %many = icmp uge i64 %bytes, 4194304
  br i1 %many, label %ask, label %done
ask:
  %start = ptrtoint ptr %data to i64
  %page = and i64 %start, -4096
  %before = sub i64 %start, %page
  %length = add i64 %bytes, %before
  %from = inttoptr i64 %page to ptr
  %ignored = call i32 @madvise(ptr %from, i64 %length, i32 14)
  br label %done
done:
  ret void
}"""
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


#: ``@free_data``: give up the memory of a stack's elements; it has none after that. ``@stack_larger``: the stack, with
#: room for at least %bytes in place of what it had for %position elements; null if there is no memory
_LARGER = f"""
declare i64 @{SPARE}(ptr, i64)
declare i64 @llvm.ctlz.i64(i64, i1)

define internal void @free_data(ptr %stack) noinline nounwind {{
entry:
  %data = load ptr, ptr %stack
  %class_at = getelementptr i64, ptr %stack, i64 7
  %class = load i64, ptr %class_at
  store i64 0, ptr %class_at
  %own = icmp eq i64 %class, 0
  br i1 %own, label %free, label %give
give:
  %its = sub i64 %class, 1
  %ignored = call i64 @{SPARE}(ptr %data, i64 %its)
  ret void
free:
  call void @free(ptr %data)
  ret void
}}

define internal ptr @stack_larger(ptr %stack, i64 %position, i64 %bytes, i64 %size) noinline nounwind {{
entry:
  %old = load ptr, ptr %stack
  %class_at = getelementptr i64, ptr %stack, i64 7
  %room_at = getelementptr i64, ptr %stack, i64 2
  ; the logarithm of the next power of two
  %less = sub i64 %bytes, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %less, i1 false)
  %power = sub i64 64, %zeros
  %wanted = sub i64 %power, {SMALLEST}
  %listed = icmp ult i64 %wanted, {CLASSES}
  br i1 %listed, label %ask, label %move
ask:
  %word = call i64 @{SPARE}(ptr null, i64 %wanted)
  %none = icmp eq i64 %word, 0
  br i1 %none, label %round, label %take
take:
  %found = and i64 %word, {CLASSES - 1}
  %address = and i64 %word, {-CLASSES}
  %block = inttoptr i64 %address to ptr
  %used = mul i64 %position, %size
  call void @llvm.memcpy.p0.p0.i64(ptr %block, ptr %old, i64 %used, i1 false)
  call void @free_data(ptr %stack)
  %its_power = add i64 %found, {SMALLEST}
  %its_bytes = shl i64 1, %its_power
  br label %set
round:
  %rounded = shl i64 1, %power
  br label %move
move:
  %amount = phi i64 [ %bytes, %entry ], [ %rounded, %round ]
  %class = phi i64 [ -1, %entry ], [ %wanted, %round ]
  %at_once = call ptr @realloc(ptr %old, i64 %amount)
  %failed = icmp eq ptr %at_once, null
  br i1 %failed, label %save, label %ask_pages
save:
  ; what is kept may be what is missing
  %ignored = call i64 @{SPARE}(ptr null, i64 -2)
  %after = call ptr @realloc(ptr %old, i64 %amount)
  %none_left = icmp eq ptr %after, null
  br i1 %none_left, label %fail, label %ask_pages
ask_pages:
  %moved = phi ptr [ %at_once, %move ], [ %after, %save ]
  call void @huge_pages(ptr %moved, i64 %amount)
  br label %set
set:
  %data = phi ptr [ %block, %take ], [ %moved, %ask_pages ]
  %all = phi i64 [ %its_bytes, %take ], [ %amount, %ask_pages ]
  %kind = phi i64 [ %found, %take ], [ %class, %ask_pages ]
  store ptr %data, ptr %stack
  %room = udiv i64 %all, %size
  store i64 %room, ptr %room_at
  %next = add i64 %kind, 1
  store i64 %next, ptr %class_at
  ret ptr %stack
fail:
  ret ptr null
}}"""


def functions(swaps: bool) -> str:
    """What all of it is; ``swaps``: also for stacks that may leave memory."""
    pages = _HUGE_PAGES if sys.platform == "linux" else _NO_HUGE_PAGES
    room = _ROOM.replace("{name}", "stack").replace("{SWAP}", "")
    if swaps:
        smallest = _SWAP.replace("{SMALLEST}", str(swapped.SMALLEST))
        room += "\n\n" + _ROOM.replace("{name}", "swap").replace("{SWAP}", smallest)
        room = f"{_ASKED}\n\n{room}"
    release = _RELEASE if swaps else ""
    text = _FUNCTIONS.replace("{HUGE_PAGES}", pages).replace("{LARGER}", _LARGER)
    return text.replace("{ROOM}", room).replace("{RELEASE}", release)
