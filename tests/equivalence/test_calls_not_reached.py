"""Calls of the user's functions with wrong arguments, where a loop or branch of the run decides whether they are made:
plain Python raises, or catches, as the run comes to them."""

import itertools

import autoloop as al
import numpy as np
from each_case import each

INTERPRETED = itertools.cycle(["auto", "sequential", "dataflow"])


def by_two(v, *, by=2):
    return v * by


def counted(v):
    yield v


class Held:
    def of(self, v):
        return v


BY_NAME = {"v": 2}
CALLS = [
    lambda: by_two(1, 2), lambda: by_two(), lambda: by_two(1, w=2), lambda: by_two(1, **BY_NAME),
    lambda: by_two(2, 3, v=1), lambda: Held().of(), lambda: Held().of(1, 2), lambda: Held.of(1),
    lambda: list(counted()), lambda: (lambda v: v)(), lambda: Held(1),
]  # fmt: skip


def in_branch(wrong, x, n, log):
    if n > 0:
        wrong()
    return x


def in_loop(wrong, x, n, log):
    for _ in range(n):
        wrong()
    return x


def caught(wrong, x, n, log):
    for _ in range(n):
        try:
            wrong()
        except TypeError as error:
            log.append(str(error))
    return x


def outcome(f, wrong, n):
    log = []
    try:
        return f(wrong, np.ones(3), n, log).tolist(), log
    except TypeError as error:
        return str(error), log


@each(itertools.product([in_branch, in_loop, caught], CALLS))
def test_they_are_wrong_where_the_run_comes_to_them(program, wrong):
    f = al.function(program, executor=next(INTERPRETED))
    for n in (0, 2, 0):
        assert outcome(f, wrong, np.int64(n)) == outcome(program, wrong, n), n
