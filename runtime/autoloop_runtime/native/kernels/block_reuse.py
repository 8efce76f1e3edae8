"""Blocks of memory of stacks that are over, kept for the next ones.

The system gives large memory page by page, filled with zeros, which takes longer than what is saved in it: a call that
saves 40 MB waited twice as long for pages as it computed. So the blocks of a call that is over are kept up to a budget
(``config.set_spare_memory``). On Linux the system is told that what is in them may be dropped: when memory becomes
scarce it takes the pages back by itself.

Blocks come from ``malloc`` and have at least ``2 ** (20 + class)`` bytes. One that is kept is a word in a list: its
address, with the class in the four bits that are zero. So there is no lock: whoever exchanges the word for zero
has the block, and a signal or a fork may come at any moment; a child has the blocks of its parent as copies that nobody
made yet.

``reuse(null, class)`` takes a block, 0 if there is none; ``reuse(block, class)`` gives one; ``reuse(null, -1)`` gives
back what is above the budget, ``reuse(null, -2)`` all; both tell where the state is: the budget, the bytes that are
kept, the list.
"""

from __future__ import annotations

import ctypes
import sys

from ...base import config
from ...base.forks import Kind, in_child
from ...base.kept_entries import DiskCache
from ..toolchain.compile_ir import compile_ir
from .ll_files import code

#: what the function is called in code that uses it
REUSE = "autoloop_reuse"
#: bytes of the smallest blocks, as a power of two, and how many classes there are
SMALLEST, CLASSES = 20, 16
#: blocks in the list
_SLOTS = 16

_KEEP = "define internal ptr @drop(ptr %block, i64 %bytes) {\n  ret ptr %block\n}"
#: bytes of a large page
_HUGE = 1 << 21


def _text() -> str:
    drop = code("drop_pages", HUGE=_HUGE, WITHIN=_HUGE - 1) if sys.platform == "linux" else _KEEP
    text = code(
        "reused_blocks", DROP=drop, STATE_WORDS=_SLOTS + 2, CLASSES=CLASSES, CLASS_MASK=CLASSES - 1,
        ADDRESS_MASK=-CLASSES, SMALLEST=SMALLEST, name="{name}",
    )  # fmt: skip
    return f"{text}\n"


class ReusedBlocks:
    """The blocks of this process that are kept, see above; made once, by ``reused_blocks``."""

    def __init__(self, cache: DiskCache | None) -> None:
        self._code = made = compile_ir(_text(), {}, cache, as_written=True)
        self.address = made.address
        self._call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(made.address)
        self._words = (ctypes.c_int64 * (_SLOTS + 2)).from_address(self._call(None, -1))
        in_child(self._count)

    def limit(self, count: int) -> None:
        """Keep so many bytes at most, from now on."""
        self._words[0] = count
        self._call(None, -1)

    def kept(self) -> int:
        """Return the bytes that are kept."""
        return int(self._words[1])

    def _count(self) -> None:
        """Another thread may have been between counting a block and putting it into the list."""
        self._words[1] = sum(1 << (SMALLEST + word % CLASSES) for word in self._words[2:] if word)


_lock = Kind("native.block_reuse", "the list is added when it is there; whoever uses it needs no lock").lock()
#: made under ``_lock``, then never replaced
_made: list[ReusedBlocks] = []


def reused_blocks(cache: DiskCache | None) -> ReusedBlocks:
    """Return the blocks that are kept in this process."""
    if not _made:
        with _lock:
            if not _made:
                one = ReusedBlocks(cache)
                _made.append(one)
                config.tell_spare_memory(one.limit)
    return _made[0]
