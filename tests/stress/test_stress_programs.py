"""Random programs, plain and decorated, under every executor; random differentiable programs beside complex steps."""

from __future__ import annotations

import checks
import pytest
from workers import Tally, scaled, spread


def held(tally: Tally) -> str:
    assert not tally.wrong, f"{len(tally.wrong)} of {tally.words}:\n" + "\n".join(tally.wrong[:5])
    return ", ".join(f"{count:,} {word}" for word, count in sorted(tally.words.items()))


@pytest.mark.parametrize("seed", range(4))  # derivatives take the executors in turn
@pytest.mark.parametrize("check", [checks.of_integers, checks.of_arrays, checks.of_graphs, checks.of_derivatives])
def test_a_few(check, seed):
    words, wrong = check(seed)
    assert words and not wrong, "\n".join(wrong)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("check", "count"), [(checks.of_graphs, 5_000), (checks.of_integers, 2_500), (checks.of_arrays, 2_500)]
)
def test_ten_thousand_programs_each_under_four_executors(check, count, printed):
    printed(held(spread(check, range(10_000, 10_000 + scaled(count)))))


@pytest.mark.nightly
def test_two_thousand_gradient_programs(printed):
    printed(held(spread(checks.of_derivatives, range(10_000, 10_000 + scaled(2_000)))))
