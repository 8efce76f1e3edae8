"""Variables that are None at first, or sometimes, tried as plain Python and on tensors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from cases import Cases

CASES = Cases()
on = CASES.on

X = np.array([4.0, 1.0, 5.0, 3.0])
NONE = np.zeros(0)


@on((X,), (NONE,))
def least(xs):
    best = None
    for x in xs:
        if best is None or x < best:
            best = x
    return best


class Entry(NamedTuple):
    """Its fields have names that a stand-in of ours might have, too."""

    name: object
    value: object
    is_set: object
    parts: object


@on((X,))
def fields_with_any_name(xs):
    best = None
    for x in xs:
        if best is None or best.value < x:
            best = Entry(x * 2, x, x * 3, x * 4)
    return best.name, best.value, best.is_set + best.parts


class Box:
    """Has attributes once they are set."""


@on((X, 4))
def fields_of_an_attribute_born_in_a_branch(xs, n):
    box = Box()
    if n > 2:
        box.best = Entry(xs[0], xs[1], xs[2], xs[3])
    return box.best.name, box.best.value, box.best.is_set + box.best.parts


@on((X,), (NONE,))
def greatest_and_where(xs):
    best, where = None, None
    for i, x in enumerate(xs):
        if best is None:
            best = x
            where = i
        elif x > best:
            best, where = x, i
    return best, where


@on((5,), (0,))
def started_in_a_while_loop(n):
    best = None
    i = 0
    while i < n:
        x = (i * 7) % 5
        best = x if best is None or best < x else best
        i += 1
    if best is not None and best > 2:
        best = best + 100
    return best


@on((X, 2.0), (X, 9.0))
def found_by_break(xs, t):
    found = None
    for x in xs:
        if x > t:
            found = x
            break
    if found is None:
        return -1.0
    return found * 2


@on((X, 2.0), (X, 9.0))
def found_by_return(xs, t):
    found = first_above(xs, t)
    if found is None:
        return -1.0
    return found * 2


def first_above(xs, t):
    found = None
    for x in xs:
        if found is None and x > t:
            found = x
    return found


@on((5,), (2,), (0,))
def becomes_none_again(n):
    last = 1
    for i in range(n):
        last = None if i == 3 else i
        if i == 4:
            last = None
    if last is not None:
        last += 10
    return last


@on((3,), (-3,))
def in_a_branch(n):
    y = None
    if n > 0:
        y = n
    if y is None:
        y = 7
    return y + 1


@on((4,), (0,))
def pairs(n):
    best = None
    for i in range(n):
        if best is None or i * 3 % 4 > best[1]:
            best = (i, i * 3 % 4)
    if best is None:
        return 0, 0
    i, value = best
    return i, value


class Tracker:
    def __init__(self):
        self.best = None

    def update(self, x):
        if self.best is None or x < self.best:
            self.best = x


@on((X,), (NONE,))
def attribute_of_an_object(xs):
    tracker = Tracker()
    for x in xs:
        tracker.update(x)
    return tracker.best


@on((X,), (NONE,))
def captured_by_a_closure(xs):
    best = None

    def update(x):
        nonlocal best
        if best is None or x < best:
            best = x

    for x in xs:
        update(x)
    return best


@on((3,), (0,))
def nested_loops(n):
    best = None
    for i in range(n):
        inner = None
        for j in range(i):
            if inner is None or j * 2 > inner:
                inner = j * 2
        if inner is not None:
            if best is None or inner > best:
                best = inner
    return best


@on((5,), (0,))
def previous(n):
    last = None
    s = 0
    for i in range(n):
        if last is not None:
            s = s * 2 + last + abs(-last) + (1 - last) * last
        last = i
    return s


@on((5,), (0,))
def truth_and_default(n):
    last = None
    s = 0
    for i in range(n):
        if last:
            s += 1
        s += last or 7
        last = i
    return s


@on((2,), (0,))
def shown(n):
    last = None
    for i in range(n):
        last = i * 2
    if last is None:
        return last
    return last
