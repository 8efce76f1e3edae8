"""Functions whose lists grow in staged loops and branches, for plain Python and for tensors."""

from __future__ import annotations

import autoloop as al
import numpy as np
from cases import Cases

CASES = Cases()
on = CASES.on


@on((4,))
def rows_stacked(n):
    out = []
    i = 0
    while i < n:
        out.append(al.zeros([2]) + i)
        i += 1
    return al.stack(out)


@on((4,))
def matrices(n):
    out = []
    i = 0
    while i < n:
        out.append(al.zeros([2, 3]) + i)
        i += 1
    return al.stack(out)[1, 1], out[2], out[-1]


@on((4,))
def read_after(n):
    out = []
    for i in range(n):
        out.append(i)
    s = 0
    for x in out:
        s += x
    for k, x in enumerate(out):
        s += k * x
    return s, out[0], out[-1], len(out), out[n - 1]


@on((4,), (1,))
def starts_with_elements(n):
    out = [7]
    for i in range(n):
        out.append(i)
        if i == 2:
            out.pop()
    last = out.pop()
    return out, last


@on((4,))
def append_in_branches(n):
    out = []
    i = 0
    while i < n:
        if i % 2 == 0:
            out.append(i)
        else:
            out.append(-i)
        i += 1
    return out


@on((6,))
def depth_first(n):
    st = [n]
    s = 0
    while len(st) > 0:
        k = st.pop()
        s += k
        if k > 1:
            st.append(k - 2)
            if k % 2 == 0:
                st.append(k - 1)
    return s


@on((6,))
def while_list(n):
    st = [n]
    s = 0
    while st:
        k = st.pop()
        s += k
        if k > 1:
            st.append(k - 2)
    return s


@on((4,))
def rows_of_three(n):
    out = []
    for i in range(n):
        row = []
        for j in range(3):
            row.append(i * j)
        out.append(row)
    return out


@on((4,))
def stacked_rows(n):
    out = []
    for i in range(n):
        row = []
        for j in range(n):
            row.append(i * j)
        out.append(al.stack(row))
    return al.stack(out)


@on((4,))
def rows_of_n(n):
    out = []
    for i in range(n):
        row = []
        for j in range(n):
            row.append(i * j)
        out.append(row)
    return out


@on((4,))
def items_set(n):
    out = []
    for i in range(n):
        out.append(i)
    out[1] = 9
    out[0] += 5
    for i in range(n):
        out[i] = out[i] * 2
    return out


@on((4,))
def extended(n):
    out = []
    for i in range(n):
        out.extend([i, i + 1])
    return out


@on((4,))
def plus_equals(n):
    out = []
    for i in range(n):
        out += [i]
    return out


@on((4,))
def plus(n):
    out = []
    for i in range(n):
        out = out + [i]
    return out


@on((4,))
def slices(n):
    out = []
    for i in range(n):
        out.append(i)
    return out[1:], out[:-1], out[::-1]


@on((4,))
def asked(n):
    out = []
    for i in range(n):
        out.append(i)
    return 3 in out, 9 in out, 9 not in out, sorted(out, reverse=True), any(out), all(out)


@on((4,))
def two_lists(n):
    a = []
    b = []
    for i in range(n):
        a.append(i)
        if i > 1:
            b.append((i, i * 0.5))
    return a, b


@on((4,))
def left_by_break(n):
    out = []
    for i in range(10):
        if i == n:
            break
        out.append(i)
    return out


@on((4,))
def returned_inside(n):
    out = []
    for i in range(10):
        if i == n:
            return out
        out.append(i)
    return out


class Thing:
    pass


class Recorder:
    def __init__(self):
        self.log = []
        self.n = 0

    def add(self, x):
        self.log.append(x)
        self.n += 1


@on((4,), (0,))
def in_a_dict(n):
    d = {"o": []}
    for i in range(n):
        d["o"].append(i)
    return d["o"], len(d["o"])


@on((4,))
def in_an_attribute(n):
    o = Thing()
    o.l = []
    for i in range(n):
        o.l.append(i)
    return o.l, len(o.l)


@on((4,))
def grown_by_a_method(n):
    r = Recorder()
    i = 0
    while i < n:
        r.add(i * 2)
        i += 1
    return r.log, r.n


@on((4,))
def attribute_in_a_branch(n):
    o = Thing()
    o.l = []
    for i in range(n):
        if i % 2 == 0:
            o.l.append(i)
    return o.l, len(o.l)


@on((4,))
def lists_of_a_dict(n):
    d = {"a": [], "b": [1]}
    for i in range(n):
        d["a"].append(i)
        if i > 1:
            d["b"].append(i)
    return d


@on((4,), (2,))
def emptied(n):
    out = []
    for i in range(n):
        out.append(i)
        if i == 2:
            out = []
    return out


@on((4,), (2,))
def replaced(n):
    out = []
    for i in range(n):
        if i == 2:
            out = [7, 8]
        else:
            out.append(i)
    return out


@on((4,), (2,))
def in_pairs(n):
    out = []
    all_ = []
    for i in range(n):
        out.append(i)
        if len(out) == 2:
            all_.append(out[0] + out[1])
            out = []
    return all_, out


@on((4,))
def numpy_functions(n):
    out = []
    rows = []
    for i in range(n):
        out.append(i * 1.0)
        rows.append(al.zeros([2]) + i)
    joined = np.concatenate(rows)
    return np.stack(out), np.array(out), np.sum(out), np.exp(out), np.stack(rows), np.stack(rows, 1), joined
