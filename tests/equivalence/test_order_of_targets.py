"""Assignments to items and attributes, in the order of Python: the value, then the targets from left to right."""

import numpy as np
from each_case import each
from harness import arguments, difference

PROGRAMS = """
k = 1
a[k] = (k := 3)
a[(k := 2)] = k
m[0, (k := 1)] = k
a[k] = a[(k := 4)]
for j in range(n): a[k] -= (k := j)
m[k][k - 1] += (k := 1 if x > 2 else 3)
a[k:k + 2] *= (k := 3) and (j := 2)
return a, m, k, j
---
o = types.SimpleNamespace(p=a, q=a * 2, k=0)
def g():
    o.p, o.q = o.q, o.p
    o.k += 1
    return x
o.p[o.k] = g()
o.p[o.k] += g()
for j in range(2): o.p[j] -= g()
return o.p, o.q, o.k
---
def g():
    nonlocal k
    k += 1
    return k
def h():
    nonlocal a
    a = a[1:]
    return 7
k, b = 0, a
a[k] = g()
a[k] += g()
m[k, 0] = g()
a[0] = h()
return a, b, m
---
b, c = a, m
def h():
    nonlocal a, m
    a, m = a[1:] * 2, m + 1
    return x
a[0] += h()
m[0][1] += h()
m[1][0] -= h() * 2
for j in range(n): a[0] *= h() if j > 1 else 2
return a, b, c, m
---
k = 1
try: a[10], k = 7, 0
except IndexError: a[0] = 9
return a, k
""".strip().split("---\n")


@each([(program, executor) for program in PROGRAMS for executor in ("sequential", "dataflow")])
def test_targets_and_values_come_in_the_order_of_python(program, executor):
    assert not difference(program, "order", arguments(np.int64(3)), executor, "import types\n")
