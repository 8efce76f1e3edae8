"""Python state that functions called from staged blocks change, tried as plain Python and on tensors."""

from __future__ import annotations

from cases import Cases

CASES = Cases()
on = CASES.on


@on((3,), (0,))
def list_of_a_closure(n):
    out = []

    def add(x):
        out.append(x)

    for i in range(n):
        add(i)
    return out


@on((3,), (0,))
def dict_of_a_closure(n):
    d = {"k": 0}

    def add(x):
        d["k"] += x

    for i in range(n):
        add(i)
    return d["k"]


def put(d, x):
    d["k"] += x


def append_to(out, x):
    out.append(x)


@on((3,), (0,))
def arguments_changed(n):
    d = {"k": 0}
    out = []
    for i in range(n):
        put(d, i)
        append_to(out, i)
    if n > 2:
        append_to(out, n)
    return d["k"], out


class Holder:
    total = 0

    def __init__(self):
        self.items = []
        self.inner = None

    def add(self, x):
        self.items.append(x)

    @classmethod
    def count(cls):
        cls.total += 1


@on((3,), (0,))
def objects_in_objects(n):
    outer = Holder()
    outer.inner = Holder()
    for i in range(n):
        outer.inner.add(i)
    return outer.inner.items


@on((3,), (0,))
def objects_in_lists(n):
    holders = [Holder()]
    for i in range(n):
        holders[0].add(i)
    return holders[0].items


@on((3,), (0,))
def attributes_of_a_class(n):
    Holder.total = 0
    for _ in range(n):
        Holder.count()
    return Holder.total


class Slotted:
    __slots__ = ("h",)

    def __init__(self):
        self.h = 0

    def bump(self):
        self.h += 1


@on((3,), (0,))
def slots(n):
    one = Slotted()
    for _ in range(n):
        one.bump()
    return one.h


def counter():
    count = 0

    def step():
        nonlocal count
        count += 1
        return count

    return step


@on((3,), (0,))
def counter_made_elsewhere(n):
    step = counter()
    for _ in range(n):
        step()
    return step()


COUNT = 0


def count_globally():
    global COUNT
    COUNT += 1


@on((3,), (0,))
def global_of_a_callee(n):
    global COUNT
    COUNT = 0
    for _ in range(n):
        count_globally()
    return COUNT


@on((3,), (9,))
def conditional_expression_with_effect(n):
    count = 0

    def f():
        nonlocal count
        count += 1
        return 5

    y = f() if n > 5 else 1
    return y, count


@on((3,), (0,))
def set_that_stays(n):
    known = {1}
    s = 0
    for i in range(n):
        known.add(1)
        if i > 1:
            known.discard(7)
            s += 1
    return len(known), s


TABLE = {}


def looked_up(k):
    if k not in TABLE:
        TABLE[k] = k * 2
    return TABLE[k]


@on((3,), (0,))
def cache_of_python_values(n):
    TABLE.clear()
    s = 0
    for _ in range(n):
        s += looked_up(3)
    return s
