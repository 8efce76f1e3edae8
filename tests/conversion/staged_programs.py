"""Functions to be run as plain Python on numbers and decorated on tensors, with the arguments to try.

One file: one table, of functions that are all called in the same way.
"""

from __future__ import annotations

import functools
import math
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
from cases import Cases

CASES = Cases()
on = CASES.on


P = namedtuple("P", "x y")


@on((5,), (0,))
def squares(n):
    s = 0
    i = 0
    while i < n:
        s += i * i
        i += 1
    return s


@on((27,))
def collatz(n):
    c = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        c += 1
    return c


@on((5,), (50,), (0,))
def brk(n):
    s = 0
    for i in range(n):
        if i == 3:
            continue
        if s > 20:
            break
        s += i
    else:
        s = -s
    return (s, i)


@on(
    (
        np.array([1, 5, 9.0]),
        4.0,
    ),
    (
        np.array([1, 5, 9.0]),
        40.0,
    ),
)
def find(x, t):
    for i in range(len(x)):
        if x[i] > t:
            return i
    return -1


@on((np.array([1.5, 2, 3], np.float32),), (np.ones((3, 2), np.float32),))
def acc(x):
    total = 0
    for v in x:
        total += v
    return total


@on((4,), (0,))
def firstset(n):
    for i in range(n):
        if i == 0:
            x = 1.0
        else:
            x = x + i
    return x


@on((3,), (1,))
def onebranch(n):
    if n > 2:
        y = n * 2
    return y


@on((-3,), (4,), (20,))
def early(x):
    if x < 0:
        return -x
    y = x + 1
    if y > 10:
        y = y * 2
        return y
    return y - 1


@on(
    (
        3,
        20,
    )
)
def wt(t, n):
    i = 0
    while True:
        i += 1
        if i * t > n:
            break
    return i


@on(
    (
        3,
        20,
    )
)
def wtr(t, n):
    i = 0
    while True:
        i += 1
        if i * t > n:
            return (i, t)


@on((3,), (9,))
def pyr(t):
    for i in range(5):
        if t == i:
            return i * 10
    return -1


@on((40,))
def fizz(n):
    f = 0
    b = 0
    for i in range(1, n + 1):
        if i % 3 == 0 and i % 5 == 0:
            f += 1
        elif i % 3 == 0 or i == 7:
            b += 1
    return (f, b)


@on((7.0,))
def lam(n):
    s = 0.0
    g = lambda: s + 1
    while s < n:
        s += 2.0
    return g()


@on((4,))
def nl(n):
    c = 0

    def bump():
        nonlocal c
        c += 2

    i = 0
    while i < n:
        bump()
        i += 1
    return c


class Obj:
    pass


@on((5,))
def attr(n):
    o = Obj()
    o.h = 1
    i = 0
    while i < n:
        o.h = o.h * 2
        i += 1
    return o.h


@on((5,))
def dct(n):
    d = {"a": 1, "i": 0}
    e = d
    while d["i"] < n:
        d["a"] += d["i"]
        d["i"] += 1
    return (d, e)


@on((np.array([1.0, 2, 3]),))
def items(x):
    for i in range(3):
        x[i] = x[i] * 2 + i
        x[i] += 1
    return x


class Board:
    def __init__(self):
        self.cells = np.zeros(3)


@on((np.arange(4.0), 1))
def items_of_arrays(x, i):
    table, board = np.zeros((3, 3)), Board()
    for k in range(3):
        table[k, 0] = x[k] * 2
    table[i] += x[1:]
    table[2, i] += 5
    table[0, 1:] = [x[1], x[2]]
    board.cells[0] = x[1]
    board.cells[i] += 7
    rows = [np.zeros(2), np.zeros(2)]
    rows[1][0] = x[3]
    return table, board.cells, rows


@on((6,))
def nested(n):
    s = 0
    for i in range(n):
        for j in range(i, n):
            if j == 4:
                break
            s += i * j
    return s


@on(
    (
        np.array([1, 2, 3]),
        np.array([4, 5, 6]),
    )
)
def zipped(x, y):
    s = 0
    for i, (a, b) in enumerate(zip(x, reversed(y))):
        s += i * a - b
    return s


@on((7,), (-5,))
def down(n):
    t = 0
    for i in range(n, -1, -2):
        t = t * 10 + i
    return t


@on((2,), (5,))
def asrt(n):
    i = 0
    while i < n:
        assert i < 3, f"i is {i}"
        i += 1
    return i


@on((2,), (5,))
def rs(n):
    i = 0
    while i < n:
        if i == 3:
            raise KeyError("bad")
        i += 1
    return i


@on((-3.0,))
def tern(x):
    return x if x > 0 else -x


@on((10,))
def tup(n):
    s = (0, 1)
    i = 0
    while i < n:
        s = (s[1], s[0] + s[1])
        i += 1
    return s


@dataclass
class D:
    a: float
    b: int


@on((4,), (0,))
def lst(n):
    out = []
    for i in range(n):
        out.append(i * 2)
    return out


@on((4,))
def structs(n):
    p = P(0, 1.0)
    d = D(1.0, 0)
    l = [0, 0]
    i = 0
    while i < n:
        p = P(p.x + 1, p.y * 2)
        d = D(d.a + i, d.b + 1)
        l[0] += i
        i += 1
    return (p.x, p.y, d.a, d.b, l)


@on(
    (
        0,
        1,
    )
)
def inloop(n, x):
    out = 0
    while True:
        try:
            if n > 3:
                break
            n += 1
        finally:
            out += 1
    return (n, out)


@on((5,), (2,))
def retnest(n):
    for i in range(n):
        for j in range(n):
            if i * j == 6:
                return (i, j)
    return (-1, -1)


@on((12,))
def contboth(n):
    s = 0
    for i in range(n):
        if i % 2 == 0:
            if i == 4:
                continue
            s += 1
        else:
            if i == 7:
                break
            s += 10
        s += 100
    return s


@on((3,), (9,))
def welse(n):
    i = 0
    while i < n:
        i += 1
        if i == 5:
            break
    else:
        i = -i
    return i


@on((20,))
def wal(n):
    s = 0
    while (m := (n - s)) > 2:
        s += m // 2
    return (s, m)


@on(
    (
        np.array([1, 3, 5]),
        6,
    )
)
def inn(x, k):
    c = 0
    for i in range(k):
        if i in x and i not in (1, 2):
            c += 1
    return c


@on((1,), (2,))
def delx(n):
    x = 1
    if n > 1:
        del x
    return x


@on((5,))
def glob(n):
    global GG
    GG = 0
    for i in range(n):
        GG += i
    return GG


@on((np.array([3, 1, 2, 0]),))
def swap(a):
    n = len(a)
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = (a[j + 1], a[j])
    return a


@on((np.array([1.0, 7, 3]),))
def maxi(x):
    m = x[0]
    idx = 0
    for i, v in enumerate(x):
        if v > m:
            m, idx = (v, i)
    return (m, idx, max(m, 3), min(x), sum(x), abs(-m), round(m), int(m), float(idx), any(x), divmod(m, 2))


@on((np.array([[1.0, -2], [3, 4]]),))
def matr(m):
    t = 0.0
    for row in m:
        for v in row:
            if v < 0:
                continue
            t += v
    return t


class Model:
    def __init__(self):
        self.w = 2
        self.h = 0.0

    def step(self, x):
        if x > 1:
            self.h = self.h + x * self.w
        return self.h

    def run(self, n):
        i = 0
        while i < n:
            self.step(i)
            i += 1
        return self.h


@on((4,))
def model(n):
    return Model().run(n)


@on((np.array([1.0, 2, 7, 3], np.float32),))
def lst2(x):
    out = [0.5]
    for i, v in enumerate(x):
        if v > 1:
            out.append(v)
        if v > 5:
            out.pop()
    t = 0.0
    for o in out:
        t += o
    return (out, len(out), out[-1], out[0], t, sum(out))


@on((3,), (1,))
def lst3(n):
    out = []
    if n > 2:
        out.append(1)
    return out


@on((3,))
def lst4(n):
    out = []
    for i in range(n):
        for j in range(i):
            out.append((i, j * 1.0))
    return out


class Table:
    def __init__(self, rows):
        self.rows = rows

    def fill(self, n):
        for i in range(n):
            self.rows[i] = i * 2
            self.rows[i] += 1
        return self.rows


@on((np.array([0, 0, 0]), 2))
def attribute_items(rows, n):
    return Table(rows).fill(n)


@on((3,), (0,))
def mixed_logic(n):
    return (n or n > 1) + 0, (n and n > 1) + 0, (n > 1 and n) + 0, (n > 1 and 2.5) + 0


@on((3,), (0,))
def numbers_of_two_kinds(n):
    if n > 1:
        y = 1
    else:
        y = 2.5
    return y, 1.5 if n > 1 else 2


@on((3,), (9,))
def membership(n):
    return n in (1, 2, 3), n in range(5), n in {3: 1}, n in np.array([3, 4]), 3 in range(n), n not in range(1, n)


class Settable:
    def __init__(self):
        self.n = 0

    @property
    def last(self):
        return self.n

    @last.setter
    def last(self, value):
        self.n = value * 2


@on((4,), (1,))
def property_set_in_a_loop(n):
    thing = Settable()
    for i in range(n):
        thing.last = i
    return thing.last


@on((4,))
def class_in_the_function(n):
    class Inner:
        def sign(self, x):
            if x > 1:
                return x
            return -x

    return Inner().sign(n)


@functools.lru_cache
def cached(x):
    if x > 1:
        return x
    return -x


with_two = functools.partial(lambda a, b: a if a > b else b, 2)


@on((3,), (0,))
def cached_and_partial(n):
    return cached(n), with_two(n)


@on((4,), (0,))
def group_of_exceptions(n):
    s = 0
    try:
        raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
    except* ValueError:
        s += 1
    except* KeyError:
        s += 10
    i = 0
    while i < n:
        s += i
        i += 1
    return s


@on((3,))
def number_unchanged_at_first(n):
    k = 0
    total = 0
    for i in range(n):
        for _ in range(i):
            total += k
            if total > 0 or i > 1:
                k += 1
    return k, total


@on((3,), (1,))
def functions_of_math(n):
    total = 0.0
    for i in range(n):
        total += math.sin(i) + math.exp(-i) + math.floor(i / 2) + math.sqrt(i + 1.0) + math.log(i + 1, 2)
    return total, math.sqrt(n), math.pi * n, np.array([n, 1.5]), np.stack([n, n + 1])


TABLE = np.array([5, 6, 7])
WEIGHTS = [0.5, 0.25, 0.125]


@on((3,), (1,))
def chosen_by_a_tensor(n):
    pairs = ((1.0, 2.0), (3.0, 4.0), (5.0, 6.0))
    local = np.array([1.0, 2.0, 3.0])
    total = 0.0
    for i in range(n):
        a, b = pairs[i]
        total += a * b + TABLE[i] * WEIGHTS[i] + local[i]
    return total, pairs[n - 1], WEIGHTS[-1], (7, 8, 9)[n - 1]


@on((np.arange(6.0).reshape(2, 3),))
def rows_unpacked(m):
    total = 0.0
    for a, b, c in m:
        total += a * b + c
    for first, *rest in m:
        total += first * rest[-1]
    top, bottom = m
    x, _, y = m[1]
    return total, top, bottom, x, y


class Signed:
    def __init__(self, value):
        self.value = value

    @property
    def size(self):
        if self.value > 1:
            return self.value
        return -self.value

    @functools.cached_property
    def double(self):
        if self.value > 1:
            return self.value * 2
        return 0


@on((3,), (0,))
def properties_with_branches(n):
    thing = Signed(n)
    total = 0
    for i in range(3):
        total += thing.size + i
    return total, thing.double, thing.double
