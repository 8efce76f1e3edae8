"""What loops run over, and lists that change at any place, tried as plain Python and on tensors."""

from __future__ import annotations

import numpy as np
from cases import Cases

CASES = Cases()
on = CASES.on

ROWS = np.array([[1, 2], [3, 4]])
X = np.array([1, 5, 3, 0])


@on((ROWS,))
def nested_targets(m):
    s = 0
    for i, (a, b) in enumerate(m):
        s += i * a + b
    for (a, *b), (c, d) in zip(m, m):
        (e, (f, g)), h = (c, m[0] * 2), d
        s += a * b[0] - c + d * e + f - g * h
    left, right = m * 2
    return s, left - right


@on((X,))
def filtered(x):
    s = 0
    for v in filter(lambda v: v > 2, x):
        s = s * 3 + v
    for v in filter(None, x):
        if v > 3:
            break
        s += v
    else:
        s = -1
    return s, v


@on((X,))
def listed(x):
    chosen = list(filter(lambda v: v > 2, x))
    doubled = list(map(lambda v: v * 2, x))
    return chosen, len(chosen), doubled, tuple(map(abs, x)), list(x), list(zip(x, x)), list(enumerate(reversed(x)))


@on((X,))
def reduced(x):
    return (
        sum(filter(lambda v: v > 2, x)),
        max(map(lambda v: -v, x)),
        any(map(lambda v: v > 4, x)),
        all(map(lambda v: v > 4, x)),
        sorted(map(lambda v: -v, x)),
    )


def clipped(v):
    if v > 2:
        return 2
    return v


@on((X,))
def mapped_functions(x):
    return list(map(clipped, x)), [*map(clipped, [1, 2, 3])], list(filter(clipped, x))


@on((4,), (0,))
def list_of_a_range(n):
    numbers = list(range(n))
    numbers.append(7)
    return numbers, len(numbers), sum(numbers)


@on((4,), (0,), (1,))
def insert_and_pop_anywhere(n):
    out = [7]
    for i in range(n):
        out.insert(0, i)
        out.insert(i // 2, i + 1)
        out.insert(-1, i + 2)
        out.insert(99, i + 3)
        out.insert(-99, i + 4)
        out.append(out.pop(1) + out.pop(-2))
    return out


@on((4,), (1,))
def queue(n):
    todo = [n]
    seen = 0
    while todo:
        x = todo.pop(0)
        seen = seen * 3 + x
        if x > 1:
            todo.append(x - 1)
            todo.append(x - 2)
    return seen


@on((4,), (0,))
def rotated(n):
    out = [1, 2, 3, 4, 5]
    i = 0
    while i < n:
        out.insert(i, out.pop(i + 1))
        i += 1
    return out


@on((4,), (0,))
def cleared_and_reversed(n):
    out = []
    for i in range(n):
        out.append(i)
        if i == 1:
            out.clear()
        out.reverse()
    return out


@on((4,), (0,))
def lists_joined(n):
    out = []
    more = []
    for i in range(n):
        out.append(i)
        more.append(i * i)
    out.extend(more)
    more += out
    return out, more, out + more


@on((np.arange(12.0).reshape(3, 4), 3), (np.arange(12.0).reshape(3, 4), 0))
def items_of_items(m, n):
    rows = [m[0] * 1, m[1] * 2]
    table = {"a": {"b": m[2] * 1}, "n": [0, 0]}
    pair = ([1], 2)
    pair[0][0] = 7
    for i in range(n):
        m[i][1] = 5
        m[i][i] += m[0][2]
        rows[0][i] = i
        rows[1][i] -= 1
        table["a"]["b"][i] = i * 2
        table["a"]["b"][0] *= 2
        table["n"][1] += i
    return m, rows, table, pair
