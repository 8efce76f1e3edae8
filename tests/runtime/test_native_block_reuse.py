"""Machine code keeps the memory that it saved values in for its next calls, within a budget; results stay the same."""

from __future__ import annotations

import ctypes
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import autoloop as al
import numpy as np
import pytest

pytest.importorskip("llvmlite")

from api import BLOCK_CLASSES as CLASSES
from api import SMALLEST_BLOCK as SMALLEST
from api import ReusedBlocks, default_cache, reused_blocks
from children import run_imported

pytestmark = pytest.mark.usefixtures("code_is_kept")
MIB = 1 << 20
ROWS = 1000
C = 1 + np.linspace(-1e-4, 1e-4, ROWS)


@pytest.fixture(autouse=True)
def _budget() -> Any:
    before = al.config.get_spare_memory()
    al.config.set_spare_memory(0)
    al.config.set_spare_memory(before)
    yield
    al.config.set_spare_memory(before)


def saves() -> Any:
    """A function of machine code that saves 8 kB a step."""

    def loss(c: Any, n: Any) -> Any:
        x = c * 1.0
        for _ in al.range(n):
            x = c * al.sin(x)
        return al.sum(x)

    return al.function(al.grad(loss), executor="native")


def expected(n: int) -> Any:
    """What ``saves`` gives, of the same machine code without any memory that was kept."""
    before = al.config.get_spare_memory()
    al.config.set_spare_memory(0)
    try:
        return saves()(C, np.int32(n))
    finally:
        al.config.set_spare_memory(before)


def kept() -> int:
    return reused_blocks(default_cache()).kept()


@pytest.fixture
def own() -> Any:
    """A list of blocks for this test alone, and how to make one and to look at it."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    one = ReusedBlocks(default_cache())
    one.limit(0)

    def give(kind: int) -> int:
        block: int = libc.malloc(1 << (SMALLEST + kind))
        ctypes.memset(block, 1, 4096)
        one._call(block, kind)
        return block

    yield one, give
    one.limit(0)


def test_memory_is_kept_and_used_again() -> None:
    f = saves()
    want = expected(2000)
    assert kept() == 0
    for _ in range(3):
        np.testing.assert_array_equal(f(C, np.int32(2000)), want)
        assert 8 * ROWS * 2000 <= kept() <= 8 * 8 * ROWS * 2000


def test_blocks_do_not_pile_up() -> None:
    f = saves()
    f(C, np.int32(2000))
    f(C, np.int32(2000))
    before = kept()
    for n in (2000, 150, 700, 2000, 10):
        f(C, np.int32(n))
    assert 0 < kept() <= before


@pytest.mark.parametrize("budget", [0, 2 * MIB, 8 * MIB])
def test_no_more_than_the_budget(budget: int) -> None:
    want, f = expected(2000), saves()
    f(C, np.int32(2000))
    assert kept() > budget
    al.config.set_spare_memory(budget)
    assert kept() <= budget
    np.testing.assert_array_equal(f(C, np.int32(2000)), want)
    assert kept() <= budget
    assert al.config.get_spare_memory() == budget


def test_threads_share_it() -> None:
    want, f = expected(600), saves()
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: f(C, np.int32(600)), range(40)):
            np.testing.assert_array_equal(found, want)
    assert 0 < kept() <= al.config.get_spare_memory()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_has_its_own() -> None:
    want, f = expected(600), saves()
    f(C, np.int32(600))
    child = os.fork()
    if not child:
        right = all(np.array_equal(f(C, np.int32(600)), want) for _ in range(3))
        al.config.set_spare_memory(0)
        os._exit(0 if right and kept() == 0 else 1)
    np.testing.assert_array_equal(f(C, np.int32(600)), want)
    assert os.waitpid(child, 0)[1] == 0
    assert kept() > 0


def test_the_smallest_that_is_large_enough_is_taken(own: Any) -> None:
    one, give = own
    one.limit(64 * MIB)
    blocks = {k: give(k) for k in (0, 3, 0, 4)}
    assert one.kept() == (1 + 8 + 1 + 16) * MIB
    found = one._call(None, 2)
    assert found % CLASSES == 3 and one.kept() == 18 * MIB
    assert one._call(None, 5) == 0
    one._call(found - 3, 3)
    assert one.kept() == 26 * MIB and len(blocks) == 3


def test_the_smallest_make_room_for_new_ones(own: Any) -> None:
    one, give = own
    one.limit(10 * MIB)
    for kind in (0, 1, 2, 2, 4):
        give(kind)
        assert one.kept() <= 10 * MIB
    assert sorted(word % CLASSES for word in one._words[2:] if word) == [1, 2, 2]
    give(3)
    assert [word % CLASSES for word in one._words[2:] if word] == [3]


def test_a_full_list_lets_the_smallest_go(own: Any) -> None:
    one, give = own
    one.limit(256 * MIB)
    for kind in [0] * 16 + [1] * 3:
        give(kind)
    held = sorted(word % CLASSES for word in one._words[2:])
    assert held == [0] * 13 + [1] * 3
    assert one.kept() == 19 * MIB


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
def test_what_is_kept_is_not_missing_elsewhere() -> None:
    """A call gets the memory that the last one kept, though it has no use for blocks of that size."""
    program = """
import ctypes, resource, autoloop as al, numpy as np
from autoloop_runtime.native.toolchain.cache import default_cache
from autoloop_runtime.native.kernels.block_reuse import reused_blocks
def loss(c, n):
    steps = (al.constant(0), c * 1.0)
    return al.sum(al.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, c * x * x), steps)[1])
f = al.function(al.grad(loss), autograph=False, executor="native")
c = np.ones(1000)
f(c, np.int32(10))
malloc = ctypes.CDLL(None).malloc
malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
one = reused_blocks(default_cache())
for _ in range(8):
    one._call(malloc(8 << 20), 3)
with open("/proc/self/status") as status:
    size = next(int(line.split()[1]) for line in status if line.startswith("VmSize")) << 10
resource.setrlimit(resource.RLIMIT_AS, (size + (16 << 20), -1))
had = one.kept()
f(c, np.int32(8000))
print(had >> 20, one.kept() >> 20)
"""
    assert run_imported(program).split() == ["64", "64"]


def test_the_budget_is_a_number_of_bytes() -> None:
    with pytest.raises(TypeError, match="the spare memory is a number of bytes, got 1.5"):
        al.config.set_spare_memory(1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the spare memory cannot be negative, got -1"):
        al.config.set_spare_memory(-1)
