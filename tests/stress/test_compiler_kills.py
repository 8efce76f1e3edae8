"""Kills and stops of the compiler at random moments."""

from __future__ import annotations

import pytest
from workers import scaled, spread

pytest.importorskip("llvmlite")
import lost_compilers
from each_case import each


@each(range(1))
def test_a_few(seed):
    words, wrong = lost_compilers.of_lost_compilers(seed)
    assert words and not wrong, "\n".join(wrong)


@pytest.mark.nightly
def test_compilers_that_are_lost_at_random_moments(printed):
    tally = spread(lost_compilers.of_lost_compilers, range(10_000, 10_000 + scaled(100)))
    printed(", ".join(f"{number:,} {word}" for word, number in sorted(tally.words.items())))
    assert not tally.wrong, f"{len(tally.wrong)} wrong:\n" + "\n".join(tally.wrong[:5])
