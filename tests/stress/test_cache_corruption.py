"""A cache that is damaged at random moments, and used by two processes."""

from __future__ import annotations

import pytest
from workers import scaled, spread

pytest.importorskip("llvmlite")
import broken_caches
from each_case import each


@each(range(1))
def test_a_few(seed):
    words, wrong = broken_caches.of_broken_caches(seed, 12)
    assert words and not wrong, "\n".join(wrong)


@pytest.mark.nightly
def test_a_cache_that_is_damaged_at_random_moments(printed):
    tally = spread(broken_caches.of_broken_caches, range(10_000, 10_000 + scaled(40)))
    printed(", ".join(f"{number:,} {word}" for word, number in sorted(tally.words.items())))
    assert not tally.wrong, f"{len(tally.wrong)} wrong:\n" + "\n".join(tally.wrong[:5])
