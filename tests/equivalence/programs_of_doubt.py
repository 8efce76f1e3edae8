"""Programs in which it takes care to tell what an array is: another handle of one, a view that NumPy does not have as
an array (``a.flat``), or a name that a loop has left behind.

``PROGRAMS`` do as plain ones; ``REFUSED`` may do so too, where the run's doubt is one day resolved, and are refused
today: they never go on in silence.
"""

PROGRAMS = """
b, r = a * 1, m.copy()
a[1:3] -= 4
m[1:] *= x
return b, r
---
s = 0.25
if x > 2: s = a[1]
np.subtract.at(a, [1, 1], s); np.copyto(m[0], s); np.put(a, [2], s); c.real.fill(s)
r = np.clip(m, 0, s + 1, out=m)
r[1] = 9
return s
---
s = 1
for k in range(n):
    np.add.at(a, [0], s); np.putmask(m, m > 4, s); np.fill_diagonal(m, s)
    if m[0, 0] > 1: np.multiply(m, 0.5, out=m, where=m > s)
    else: s += a[2]
return s
---
for r in m: s = 0
r *= 2
return m
---
for r in m: s = 0
k = 0
while k < n:
    k += 1
    m /= r * 0.5
return m
---
m.T.flat[0] = 9
return m
---
m.T.flat[1:3] = x
m[:, ::2].flat[1:4] = 5
return m
---
b = m.flat[1:3]
b[0] = 9
return b, m
---
m.T.flat[:] = m.T.flat[::-1]
return m
---
m.T.flat = [1.0, 2.0, x]
return m
---
m.T.flat = x
m[1:].T.flat[m[1:].flat > 5] = 0
return m
---
b = m.T.flat
b[[1, 2]] = [5.0, x]
return b[2], [e for e in b], b.copy()
---
for k in range(n): m[::-1].flat[k] = k
return m
---
for k in range(n): np.moveaxis(m, 0, 1).flat[k] += x
return m
---
z = np.empty(4); z.fill(x)
return z
---
z = np.zeros(4); z[1:].fill(x); z.put([0], n)
return z
---
z = np.zeros(4); z.flat[1] = x
return z
---
for k in range(n): c.T[0] = k + 0.5
return c
---
k = 0
while k < n:
    k += 1
    z = np.zeros(6)
    z.flat[-1] = 0.5
    z[k] /= k
    a.T[0] = z[-1]
    c.real[1] += 3
return a
---
for k in range(n):
    j = 0
    while j < n and k == 1:
        j += 1
        a[-1] -= k
return a
---
s = 0
for k in range(3):
    j = 0
    while j < n and k == 1:
        j += 1
        a[-1] -= k
    s += j
return a, s
""".strip().split("\n---\n")

REFUSED = """
for r in m:
    if a[0] > x: break
for k in range(n):
    r.T[0] /= 2.0
return m
---
z = a
for k in range(n):
    y = a * 2
    z = y
z[0] = 50
return y
---
y = z = a
if x > 1:
    y = a * 2
    z = y
z[0] = 50
return y
---
for r in m: s = 0
for k in range(n):
    m[0] = r[1]
    r = r + 1
return m
---
r = m[0] if n > 2 else m[1]
for k in range(n):
    m[:2] += 1
    m[2] = r
return m
---
r = m[0] if n > 2 else m[1]
for k in range(n):
    for j in range(n):
        m[2] += r
    m[:2] += 1
return m
---
r = m[0] if n > 2 else m[1]
q = r[1:]
for k in range(n):
    m[2, 0] += q[0]
    m[:2] += 1
return m
---
r = m[0] if n > 2 else m[1]
l = [r]
while l[0].sum() < 100:
    m += 1
return m
---
r = m[0] if n > 2 else m[1]
while m.sum() < 100:
    m += 1
    if r.sum() > 50: break
return m
""".strip().split("\n---\n")

#: lists and dicts that may be one or another, as a branch, loop or index decides; then one of them changes
ONE_OR_ANOTHER = """
d = {'s': 0.5}
e = d
if n > 5: d = {**d}
d['s'] = x
return e['s'] * 1, d['s']
---
d = [0.5, 0.25]
e = d
for k in range(n):
    if n > 5: d = [1.5, 2.5]
    d[0] = x
return e[0] + 1, d[0]
---
d = {'s': 0.5}
e = [d]
for k in range(n):
    while n > 5 and k == 1:
        d = {**d}
        n -= 5
    d['s'] = x
return e[0]['s'] + d['s']
---
d, e = [0.5], [1.5]
if n > 5: d = e
d.append(x)
return len(e), len(d)
---
d, e = [0.5], [1.5]
if n > 5: d = e
e += [x]
return d[-1] * 1
---
d, e = {'s': 0.5}, {'s': 1.5}
if n > 5: d = e
del d['s']
return 's' in e
---
d, e = [0.5], [1.5]
if n > 5: d = e
for k in range(n):
    d[0] += x
    e[0] *= 2
return d[0], e[0]
---
p = [0.5]
d = {'p': p}
if n > 5: d = {'p': [2.5]}
d['p'][0] = x
return p[0] * 1
---
d = {'s': 0.5}
e = d
d = {**d} if n > 5 else d
d['s'] = x
return e['s'] * 1
---
d, e = [0.5], [1.5]
def pick():
    if n > 5: return d
    return e
pick()[0] = x
return d[0] + 1, e[0] + 1
---
rows = [[0.5], [1.5]]
for k in range(n):
    row = rows[k % 2]
    row[0] += x
return rows[0][0] * 1, rows[1][0] * 1
---
rows = [[0.5], [1.5]]
rows[n % 2][0] = x
return rows[0][0] * 1, rows[1][0] * 1
---
rows = [[0.5], [1.5]]
for k in range(n):
    if k == n - 1: row = rows[0]
    else: row = rows[1]
row[0] = x
return rows[0][0] * 1, rows[1][0] * 1
---
d = e = [0.5]
if n > 2:
    if n > 5: d = [1.5]
    d.append(x)
return len(e), len(d)
---
from collections import deque
d, e = deque([0.5]), deque([1.5])
if n > 5: d = e
d[0] = x
return e[0] * 1
---
d, e = (0.5, [0.5]), (1.5, [1.5])
if n > 5: d = e
d[1][0] = x
return e[1][0] * 1
---
from dataclasses import make_dataclass
P = make_dataclass('P', ['u', 'w'])
d, e = P(0.5, [0.5]), P(1.5, [1.5])
if n > 5: d = e
d.w[0] = x
return e.w[0] * 1
---
from dataclasses import make_dataclass
P = make_dataclass('P', ['u', 'w'])
every = [P(0.5, [0.5]), P(1.5, [1.5])]
d = every[n % 2]
d.u += x
return every[0].u * 1, every[1].u * 1
---
l = [0.5]
t = (1.5, l)
if n > 5: t[1][0] = x
return l[0] * 1, t[1][0] * 1
---
l = [0.5]
d = {'a': l}
for k in range(n): d['a'][0] += x
return l[0] * 1, d['a'][0]
---
l = [0.5]
d = [l, l]
for k in range(n): d[0][0] += x
return l[0] * 1, d[1][0] * 1
---
l = [0.5]
d = [l, [1.5]]
if n > 5: d[0], d[1] = d[1], d[0]
d[0][0] = x
return l[0] * 1, d[1][0]
---
l = [0.5]
d = [l, [1.5]]
if n > 5: d[0] = [2.5]
d[0][0] = x
return l[0] * 1, d[1][0]
""".strip().split("\n---\n")

#: such ones of which nobody else holds any: no doubt about them
ALONE = """
d = {'s': 0.5, 'n': 0.5}
for k in range(n):
    if n > 5: d = {**d, 'n': 1.5}
    d['s'] = x + k
return d['s'], d['n']
---
l = [0.5]
for k in range(n):
    if n > 5: l = [x]
    l.append(x + k)
return len(l), l[-1]
---
best, own = [0.0, 0.5], [1.0, 1.5]
for k in range(n):
    own = [own[0] + x, own[1]]
    if own[0] > 9: best = own
best[0] += 1
return best
---
best, own = [0.0, 0.5], [1.0, 1.5]
if x * n > 9: best = own
return best[0] + own[1]
---
p, q = [0.5], [1.5]
for k in range(n): p, q = q, p
return p[0], q[0]
""".strip().split("\n---\n")
