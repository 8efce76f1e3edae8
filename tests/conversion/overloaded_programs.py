"""Operators that the user's classes define, tried as plain Python and on tensors."""

from __future__ import annotations

from cases import Cases

CASES = Cases()
on = CASES.on


class Level:
    """A number that no operator makes negative."""

    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        if not isinstance(other, Level):
            return NotImplemented
        total = self.x + other.x
        if total < 0:
            total = 0
        return Level(total)

    def __radd__(self, other):
        if self.x > 2:
            return other + self.x
        return other

    def __isub__(self, other):
        if self.x > other:
            self.x -= other
        else:
            self.x = 0
        return self

    def __neg__(self):
        return Level(-self.x if self.x < 0 else 0)

    def __abs__(self):
        return self.x if self.x > 0 else -self.x

    def __lt__(self, other):
        if self.x < other.x:
            return True
        return False

    def __eq__(self, other):
        return self.x == other.x and self.x > 0

    __hash__ = None

    def __getitem__(self, index):
        if self.x > index:
            return self.x
        return index

    def __setitem__(self, index, value):
        if value > index:
            self.x = value

    def __contains__(self, value):
        if value < self.x:
            return True
        return False

    def __iter__(self):
        start = 0
        if self.x > 3:
            start = 10
        return iter([start, start + self.x])

    def __bool__(self):
        return self.x > 1

    def __len__(self):
        return self.x if self.x > 0 else 0

    def __call__(self, y):
        if self.x > y:
            return self.x
        return y


class Higher(Level):
    def __radd__(self, other):
        if self.x > 2:
            return 100
        return 200


@on((5,), (-1,))
def arithmetic(n):
    level = Level(n) + Level(n)
    level -= 3
    box = Level(n)
    box.inner = Level(n)
    box.inner -= 1
    return level.x, (1 + Level(n)), (-Level(n)).x, abs(Level(n)), box.inner.x, Level(n) + Higher(n), sum([Level(n)] * 2)


@on((5,), (3,), (0,))
def comparisons(n):
    low = Level(3)
    first = 1 if Level(n) < low else 2
    if Level(n) > low or Level(n) == low:
        first += 10
    if Level(n) != low:
        first += 100
    return first


@on((5,), (1,))
def items(n):
    level = Level(n)
    first = level[3]
    level[2] = n + 1
    level[0] += 1
    return first, level.x


@on((5,), (1,))
def containers(n):
    s = 0
    if 3 in Level(n):
        s += 1
    if 3 not in Level(n):
        s += 10
    for one in Level(n):
        s += one * 100
    return s, len(Level(n))


@on((5,), (1,))
def truth_and_calls(n):
    level = Level(n)
    s = level(3)
    if level:
        s += 10
    if not level:
        s += 100
    while level:
        level -= 1
        s += 1000
    return s


@on((2,))
def call(n):
    return made_inside(n)


def made_inside(n):
    class Step:
        def __init__(self, x):
            self.x = x

        def __mul__(self, other):
            if self.x > 1:
                return self.x * other
            return other

        @property
        def size(self):
            if self.x > 1:
                return self.x
            return 1

    return Step(n) * 3, Step(n).size


@on((4,), (0,))
def accumulated(n):
    level = Level(n)
    i = 0
    while i < n:
        level.x = (level + Level(i)).x
        level -= 1
        i += 1
    return level.x
