"""Objects that functions make of classes of the user's, tried as plain Python and on tensors."""

from __future__ import annotations

import dataclasses

from cases import Cases

CASES = Cases()
on = CASES.on


class Bounded:
    made = 0

    def __init__(self, x, bound=2):
        type(self).made += 1
        if x > bound:
            self.x = x
        else:
            self.x = bound
        while self.x < 4:
            self.x += bound


class Twice(Bounded):
    def __init__(self, x, *args, **kwargs):
        super().__init__(x, *args, **kwargs)
        if self.x > 4:
            self.x *= 2


@dataclasses.dataclass
class Posted:
    x: float
    start: dataclasses.InitVar[float] = 1.0
    rows: list = dataclasses.field(default_factory=list)

    def __post_init__(self, start):
        if self.x > start:
            self.rows.append(self.x)
        else:
            self.rows.append(start)


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: float

    def __post_init__(self):
        if self.x < 2:
            object.__setattr__(self, "x", 2.0)


class Chosen:
    """Another object comes of it where it is asked for one."""

    def __new__(cls, x, other=None):
        return object.__new__(cls) if other is None else other

    def __init__(self, x, other=None):
        self.x = x if x > 2 else 2


class Answering:
    def __init__(self, x):
        return x > 1  # noqa: PLE0101  (what Python says of it is compared)


@on((3.0,), (0.5,), (5.0,))
def made(n):
    one, other = Bounded(n), Twice(n, bound=3)
    return one.x, other.x, [Bounded(k).x for k in (n, n + 3)], type(other).__name__


@on((3.0,), (0.5,))
def dataclasses_made(n):
    one, other = Posted(n), Posted(n, start=2.0)
    return one.rows, other.rows, sorted(vars(other)), Frozen(n).x


@on((3.0,), (0.5,))
def made_by_new(n):
    one = Chosen(n)
    return one.x, Chosen(n, other=one) is one, one.x, Chosen(n, other=7)


@on((3,), (1,))
def made_in_a_loop(n):
    total, i = 0, 0
    while i < n:
        total += Bounded(i).x
        i += 1
    return total


@on((3.0,))
def wrongly_made(n):
    return Answering(n)


@on((3.0,))
def wrongly_called(n):
    return Bounded(n, 1, 2)


class Doubling:
    """A manager that looks at what it holds when it is entered and left."""

    def __init__(self, holder):
        self.holder = holder

    def __enter__(self):
        self.old = self.holder.x
        if self.old > 2:
            self.holder.x *= 2
        return self

    def __exit__(self, *error):
        if self.holder.x > 7:
            self.holder.x = self.old


@on((3.0,), (0.5,), (5.0,))
def managers(n):
    holder = Chosen(n)
    with Doubling(holder) as one:
        holder.x += 1
        inside = holder.x
    return inside, holder.x, one.old
