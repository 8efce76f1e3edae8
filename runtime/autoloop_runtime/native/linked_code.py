"""What a function's code is compiled with: the symbols that it calls, and the form of it that a caller wants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base.forks import undivided
from .native_function import Function
from .toolchain.cache import default_cache
from .toolchain.compile_ir import Code, compile_ir
from .writer.outlining import SHARE

if TYPE_CHECKING:
    from .kernels.thread_pool import Pool


def linked(function: Function, heeds: bool, among_others: bool, keeps_lock: bool) -> tuple[Code, Pool | None]:
    """Return the code of a function, and the threads that help it, if any do.

    Parameters
    ----------
    heeds : bool
        Floating-point errors are asked for.
    among_others : bool
        Threads that call it have work for each other, so none helps it.
    keeps_lock : bool
        It keeps the interpreter's lock while it runs.
    """
    cache, addresses, ir = default_cache(), function.addresses, function.ir
    helpers = None
    if function.shares:
        with undivided():
            from .kernels.thread_pool import pool, without_threads

        helpers = None if among_others else pool(cache)
        addresses = addresses | {SHARE: without_threads(cache).address if helpers is None else helpers.address}
    if function.stacks:
        with undivided():
            from .kernels.block_reuse import REUSE, reused_blocks

        addresses = addresses | {REUSE: reused_blocks(cache).address}
    if heeds:
        with undivided():
            from .ir.strict_floats import strict

        ir = strict(ir)
    if keeps_lock:
        with undivided():
            from .ir.kept_lock import keeping_lock

        ir = keeping_lock(ir)
    return compile_ir(ir, addresses, cache), helpers
