"""Memory of stacks that are over, kept for the next ones.

The system gives large memory page by page, filled with zeros, which takes longer than what is saved in it: a call that
saves 40 MB waited twice as long for pages as it computed. So the blocks of a call that is over are kept up to a budget
(``config.set_spare_memory``). On Linux the system is told that what is in them may be dropped: when memory becomes
scarce it takes the pages back by itself.

Blocks come from ``malloc`` and have at least ``2 ** (20 + class)`` bytes. A spare one is a word in a list: its address,
with the class in the four bits that are zero. So there is no lock: whoever exchanges the word for zero has the block,
and a signal or a fork may come at any moment; a child has the blocks of its parent as copies that nobody made yet.

``spare(null, class)`` takes a block, 0 if there is none; ``spare(block, class)`` gives one; ``spare(null, -1)`` gives
back what is above the budget, ``spare(null, -2)`` all; both tell where the state is: the budget, the bytes that are
kept, the list.
"""

from __future__ import annotations

import ctypes
import sys

from ...base import config
from ...base.forks import Kind, in_child
from ..toolchain.cache import DiskCache
from ..toolchain.compile_ir import compile_ir

#: what the function is called in code that uses it
SPARE = "autoloop_spare"
#: bytes of the smallest blocks, as a power of two, and how many classes there are
SMALLEST, CLASSES = 20, 16
#: blocks in the list
_SLOTS = 16

_TEXT = f"""
@state = internal global [{_SLOTS + 2} x i64] zeroinitializer, align 128
declare void @free(ptr)
declare i64 @llvm.umin.i64(i64, i64)
{{DROP}}

; the smallest block of at least a class, with its class; 0 if there is none
define internal i64 @take(i64 %class) {{
entry:
  br label %search
search:
  br label %loop
loop:
  %k = phi i64 [ 2, %search ], [ %next, %loop ]
  %best = phi i64 [ 0, %search ], [ %better, %loop ]
  %place = phi i64 [ 2, %search ], [ %nearer, %loop ]
  %least = phi i64 [ {CLASSES}, %search ], [ %lower, %loop ]
  %at = getelementptr i64, ptr @state, i64 %k
  %one = load atomic i64, ptr %at monotonic, align 8
  %its = and i64 %one, {CLASSES - 1}
  %some = icmp ne i64 %one, 0
  %large = icmp uge i64 %its, %class
  %small = icmp ult i64 %its, %least
  %may = and i1 %some, %large
  %does = and i1 %may, %small
  %better = select i1 %does, i64 %one, i64 %best
  %nearer = select i1 %does, i64 %k, i64 %place
  %lower = select i1 %does, i64 %its, i64 %least
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, {_SLOTS + 2}
  br i1 %more, label %loop, label %found
found:
  %none = icmp eq i64 %better, 0
  br i1 %none, label %done, label %try
try:
  %slot = getelementptr i64, ptr @state, i64 %nearer
  %pair = cmpxchg ptr %slot, i64 %better, i64 0 acq_rel acquire
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %count, label %search
count:
  %power = add i64 %lower, {SMALLEST}
  %bytes = shl i64 1, %power
  %kept_at = getelementptr i64, ptr @state, i64 1
  %ignored = atomicrmw sub ptr %kept_at, i64 %bytes monotonic
  br label %done
done:
  ret i64 %better
}}

; free the smallest block that is kept; false if there is none
define internal i1 @free_one() {{
entry:
  %one = call i64 @take(i64 0)
  %none = icmp eq i64 %one, 0
  br i1 %none, label %end, label %some
some:
  %address = and i64 %one, {-CLASSES}
  %block = inttoptr i64 %address to ptr
  call void @free(ptr %block)
  br label %end
end:
  %found = xor i1 %none, true
  ret i1 %found
}}

; make room for so many bytes; false if they are more than may be kept
define internal i1 @room(i64 %bytes) {{
entry:
  %budget = load atomic i64, ptr @state monotonic, align 8
  %never = icmp ugt i64 %bytes, %budget
  %kept_at = getelementptr i64, ptr @state, i64 1
  br i1 %never, label %no, label %look
look:
  %kept = load atomic i64, ptr %kept_at monotonic, align 8
  %sum = add i64 %kept, %bytes
  %over = icmp ugt i64 %sum, %budget
  br i1 %over, label %less, label %yes
less:
  %went = call i1 @free_one()
  br i1 %went, label %look, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}

define internal void @give(ptr %block, i64 %class) {{
entry:
  %power = add i64 %class, {SMALLEST}
  %bytes = shl i64 1, %power
  %kept_at = getelementptr i64, ptr @state, i64 1
  %fits = call i1 @room(i64 %bytes)
  br i1 %fits, label %drop, label %away
drop:
  %kept = call ptr @drop(ptr %block, i64 %bytes)
  %lost = icmp eq ptr %kept, null
  br i1 %lost, label %done, label %tag
tag:
  %address = ptrtoint ptr %kept to i64
  %word = or i64 %address, %class
  br label %put
put:
  %before = atomicrmw add ptr %kept_at, i64 %bytes monotonic
  br label %loop
loop:
  %k = phi i64 [ 2, %put ], [ %next, %on ]
  %at = getelementptr i64, ptr @state, i64 %k
  %pair = cmpxchg ptr %at, i64 0, i64 %word acq_rel acquire
  %there = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %there, label %done, label %on
on:
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, {_SLOTS + 2}
  br i1 %more, label %loop, label %full
full:
  %after = atomicrmw sub ptr %kept_at, i64 %bytes monotonic
  %went = call i1 @free_one()
  br i1 %went, label %put, label %away
away:
  %unwanted = phi ptr [ %block, %entry ], [ %kept, %full ]
  call void @free(ptr %unwanted)
  br label %done
done:
  ret void
}}

define i64 @{{name}}(ptr %block, i64 %class) {{
entry:
  %none = icmp eq ptr %block, null
  br i1 %none, label %ask, label %gift
gift:
  call void @give(ptr %block, i64 %class)
  ret i64 0
ask:
  %all = icmp slt i64 %class, 0
  br i1 %all, label %trim, label %want
want:
  %found = call i64 @take(i64 %class)
  ret i64 %found
trim:
  %allowed = load atomic i64, ptr @state monotonic, align 8
  %some = icmp eq i64 %class, -1
  %budget = select i1 %some, i64 %allowed, i64 0
  %kept_at = getelementptr i64, ptr @state, i64 1
  %kept = load atomic i64, ptr %kept_at monotonic, align 8
  %over = icmp sgt i64 %kept, %budget
  br i1 %over, label %less, label %end
less:
  %went = call i1 @free_one()
  br i1 %went, label %trim, label %end
end:
  %place = ptrtoint ptr @state to i64
  ret i64 %place
}}
"""

#: the system may drop what is in a block (MADV_FREE of Linux). A block that grew is in pieces of small pages, each of
#: which the processor looks up, so another takes its place, of large pages (MADV_HUGEPAGE) that nobody touched yet
_DROP = """
declare i32 @madvise(ptr, i64, i32)
declare i32 @posix_memalign(ptr, i64, i64)
define internal ptr @drop(ptr %block, i64 %bytes) {
entry:
  %made_at = alloca ptr
  %large = icmp uge i64 %bytes, {HUGE}
  br i1 %large, label %look, label %done
look:
  %address = ptrtoint ptr %block to i64
  %within = and i64 %address, {WITHIN}
  %whole = icmp eq i64 %within, 0
  br i1 %whole, label %tell, label %new
tell:
  %told = call i32 @madvise(ptr %block, i64 %bytes, i32 8)
  br label %done
new:
  call void @free(ptr %block)
  %failed = call i32 @posix_memalign(ptr %made_at, i64 {HUGE}, i64 %bytes)
  %bad = icmp ne i32 %failed, 0
  br i1 %bad, label %lost, label %made
made:
  %other = load ptr, ptr %made_at
  %asked = call i32 @madvise(ptr %other, i64 %bytes, i32 14)
  br label %done
lost:
  br label %done
done:
  %result = phi ptr [ %block, %entry ], [ %block, %tell ], [ %other, %made ], [ null, %lost ]
  ret ptr %result
}"""
_KEEP = "define internal ptr @drop(ptr %block, i64 %bytes) {\n  ret ptr %block\n}"
#: bytes of a large page
_HUGE = 1 << 21


class Spare:
    """The blocks of this process that are kept, see above; made once, by ``spare``."""

    def __init__(self, cache: DiskCache | None) -> None:
        drop = _DROP.replace("{HUGE}", str(_HUGE)).replace("{WITHIN}", str(_HUGE - 1))
        text = _TEXT.replace("{DROP}", drop if sys.platform == "linux" else _KEEP)
        code = compile_ir(text, {}, cache)
        self.address = code.address
        self._call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(code.address)
        self._words = (ctypes.c_int64 * (_SLOTS + 2)).from_address(self._call(None, -1))
        # code on other threads may be in it until the process ends
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(code.engine))
        in_child(self._count)

    def limit(self, count: int) -> None:
        """Keep so many bytes at most, from now on."""
        self._words[0] = count
        self._call(None, -1)

    def kept(self) -> int:
        """The bytes that are kept."""
        return int(self._words[1])

    def _count(self) -> None:
        """Another thread may have been between counting a block and putting it into the list."""
        self._words[1] = sum(1 << (SMALLEST + word % CLASSES) for word in self._words[2:] if word)


_lock = Kind("native.spare", "the list is added when it is there; whoever uses it needs no lock").lock()
#: made under ``_lock``, then never replaced
_made: list[Spare] = []


def spare(cache: DiskCache | None) -> Spare:
    """The blocks that are kept in this process."""
    if not _made:
        with _lock:
            if not _made:
                one = Spare(cache)
                _made.append(one)
                config.tell_spare_memory(one.limit)
    return _made[0]
