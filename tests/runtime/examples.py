"""How many examples a test has drawn: half of them where only short tests run.

Every run draws others, so those of two runs are as many as those of a long one, which is ``-m "nightly or not
nightly"``.
"""

from __future__ import annotations

#: whether long tests run, too; set before the tests are read
of_long_runs = False


def examples(count: int) -> int:
    """``count`` in a long run, half of it in others."""
    return count if of_long_runs else count // 2
