"""A loop's condition is asked once per iteration, whatever it takes to find out that it is a tensor."""

from __future__ import annotations

import autoloop as al
from each_case import each


@each(["auto", "dataflow", "sequential"])
def test_an_effect_in_the_condition_happens_once_per_test(executor):
    asked = []

    def below_three(i):
        asked.append(int(i))
        return i < 3

    @al.function(executor=executor)
    def f(start):
        i = start
        while al.py_function(below_three, [i], al.bool):
            i += 1
        return i

    assert f(al.constant(0)).numpy() == 3
    assert asked == [0, 1, 2, 3]


def test_a_walrus_in_the_condition():
    @al.function
    def f(x):
        while (half := x // 2) > 3:
            x = half
        return x, half

    def plain(x):
        while (half := x // 2) > 3:
            x = half
        return x, half

    for start in (3, 100):
        assert tuple(int(v) for v in f(al.constant(start))) == plain(start)
