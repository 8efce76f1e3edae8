"""Writes to arrays where loops, branches, functions, classes and exceptions lead from one to the next."""

PROGRAMS = """
b = None
if n > 1: b = a[n - 1:]
if n > 2: b[0] = x
return None if b is None else b + 1
---
if x > 0: b = m.copy()
else: b = m.T.copy().T
b[0] = x
return b, m
---
if x > 5: b = m[1:]
else: b = m[:-1].copy()[::-1]
return b + 1, m
---
b, *r = m
b[0] = x
r[1][1] = x
return m
---
(b, e, g) = m
e += b
return m
---
for k in range(n):
    for r in m: r[k] += x
return m
---
for k in range(n):
    for r in m[k:]: r += k
return m
---
k = 0
while True:
    a[k] += x
    k += 1
    if k > n: break
    if a[k] > 4: continue
    a[0] += 1
else:
    a[:] = 0
return k
---
for k in range(n):
    a[k] = 1
else:
    a[5] = 100
return a
---
try:
    for k in range(n):
        a[k] = 5
finally:
    a[5] = 5
return a
---
def gen(q):
    for k in range(3):
        q[k] += 1
        yield q
for z in gen(a): z[5] += x
return a
---
nonl = a
def inner():
    nonlocal nonl
    nonl = nonl * 2
    nonl[0] = 5
for k in range(n): inner()
return nonl, a
---
def outer(q):
    def inner(k): q[k] = x
    return inner
w = outer(a)
for k in range(n): w(k)
return a
---
z = np.float64(1)
z += x
u = a[:1]
u += z
return a
---
x += 1
a += x
return x, a
---
t = a[n]
t += 1
a[n + 1] = t
return a
---
a = a.reshape(2, 3)
a[0, 1] = x
return a * 1
---
a = a[::2]
a[1] = x
return a * 1
---
a = a.astype(np.float32)
a[1] = x
return a
---
a[0] = 1e400
i[0] = 2**40
return i
---
for k in range(n):
    u = m[k % 3]
    u[1:][0] += x
return m
---
rows = {k: r for k, r in enumerate(m)}
for k in range(n): rows[1][k] = x
return m
---
s = sum(r[0] for r in m)
m[0] = s
return m
---
rows = [e for e in a]
a[0] = 100
return rows[0]
---
it = iter(m)
r = next(it)
r[0] = x
m[1] = 8
q = next(it)
return m, q[0]
---
z = zip(m, a)
for r, e in z: r *= e
return m
---
e = enumerate(m)
for k, r in e: r[k] = x
return m
---
for k, r in enumerate(m[1:], 1):
    if r[0] > 5: r[k] = x
return m
---
l = [a, m]
t = tuple(l)
for k in range(n):
    t[0][k] = t[1][0, k]
    l[1][0, 0] += 1
return a, m
---
class P:
    def __init__(self): self.a = a; self.b = np.zeros(6)
    def swap(self): self.a, self.b = self.b, self.a
p = P()
for k in range(3):
    p.b[1:-1] = p.a[2:] + p.a[:-2]
    p.swap()
return p.a, p.b
---
import dataclasses
@dataclasses.dataclass
class D:
    u: object
    t: float = 0.0
d = D(a)
for k in range(n):
    d.u[k] += d.t
    d.t += x
return d.t
---
s = a.copy()
t = s
for k in range(n):
    t = s
    t[k] = x
return s, t
---
t = a[:]
while t.sum() < 50:
    t *= 1.5
    if t[0] > 2: break
return a
---
for k in range(n):
    for j in range(k, n):
        if a[j] < a[k]: a[k], a[j] = a[j], a[k]
        elif a[j] > 4: break
return a
---
k = n
while k > 0:
    k -= 1
    if a[k] < 1: continue
    m[k % 3] += a[k]
return m, k
---
b = a[::-1]
for k in range(n): b[k], b[-k - 1] = b[-k - 1], b[k]
return a
---
a[1:] = a[:-1] + a[1:]
m[1:, 1:] += m[:-1, :-1]
m[:, ::-1] += m
return m
---
m += m.T[:3, :3].sum()
m[:] = m[::-1]
return m
---
m[0], m[1] = m[1].copy(), m[0].copy()
a[:3], a[3:] = a[3:], a[:3]
return m
---
t = a[0]
a[0] = a[1]
a[1] = t
return a
---
t = m[0]
m[0] = m[1]
m[1] = t
return m
---
t = m[0]
for k in range(n):
    m[0] = m[1] * 2
    m[1] = t
return m, t
---
mask = np.zeros(6, bool)
for k in range(n): mask[k] = a[k] > 1
a[mask] = 0
return a, mask
---
idx = np.zeros(3, int)
for k in range(n): idx[k] = k * 2
a[idx] += 1
return a, idx
---
idx = np.nonzero(a > x)
a[idx] = 0
return a
---
idx = np.where(a > x)[0]
a[idx] *= 2
return a
---
a[np.argmax(a)] = 0
a[a.argmin()] = 9
return a
---
c[:] = c[::-1].conj()
c[1] += 1
c.real += a[:3]
return c
---
z = np.zeros(3, np.float32)
for k in range(n): z[k] = a[k] / 3
return z
---
z = np.zeros(3, np.int32)
for k in range(n): z[k] = a[k] * 3
return z
---
z = np.zeros(3, np.uint8)
for k in range(n): z[k] = i[k] - 1
return z
---
z = np.zeros(3, np.uint8)
z += 255
z[0] += 1
for k in range(n): z[k] -= 7
return z
---
z = np.zeros(3, bool)
for k in range(n): z[k] = a[k]
return z
---
z = np.zeros(3, complex)
for k in range(n): z[k] = a[k] * 1j
return z
---
z = np.zeros(3, np.float16)
for k in range(n): z[k] += a[k]
return z
---
z = np.full(3, 2)
z *= x
return z
---
z = np.empty((n, 2)); z[:] = x
z[0] = z[1] * 2
return z
---
z = np.zeros((2, n))
for k in range(n): z[:, k] = k
return z.T
---
z = np.zeros(0)
z += x
for k in range(n): z[:] = k
return z
---
z = np.ones_like(m, dtype=np.int64)
z[0] = a[:4]
return z
---
z = a.tolist()
z[0] = 5
return z
---
z = np.array([a[0], x])
z[1] = 5
return z
---
z = np.array([a, a * 2])
for r in z: r[0] = x
return z
---
z = np.linspace(0, 1, 4)
w = z[1:]
w *= x
return z
---
z = np.arange(n)
z[0] = 10
return z
---
z = np.eye(3)
z[n - 1, 0] = x
z.T[0] += 1
return z
---
def early(q):
    for k in range(n):
        q[k] = x
        if q[k] > a[5] - k: return q
    return q * 0
return early(a) * 1
---
def rec(lo, hi):
    if hi - lo < 2: return
    mid = (lo + hi) // 2
    rec(lo, mid); rec(mid, hi)
    a[lo:hi] = np.sort(a[lo:hi])[::-1]
rec(0, 6)
return a
---
def inplace(q): q += 1; return q
b = inplace(a)
b[0] = x
return a
---
def fresh(q): q = q + 1; q[0] = 5; return q
b = fresh(a)
return a, b
---
def deflt(q, buf=np.zeros(3)):
    buf[0] = 1
    q[0] = 2
deflt(a)
return a
---
import functools
functools.reduce(lambda p, q: p.__iadd__(q), [a, a, a])
return a
---
import functools
f3 = functools.partial(np.add, out=a)
f3(a, x)
return a
---
with np.errstate(divide='ignore'):
    for k in range(n): a[k] /= a[k] - a[k]
return a
---
try:
    a[0] = 1 / (n - n)
except ZeroDivisionError:
    a[0] = -5
return a
---
assert a[0] < 100
a[0] = 200
return a
---
match int(n):
    case 3: a[0] = 3
    case _: a[1] = 4
return a
---
if (q := a[0]) < 1:
    a[0] = q + 5
return q
---
a[n:n+1] = m[0, :1]
a[n-2:n] = m[0, :2]
return a
---
np.add(a, 1, where=a > 2, out=a)
np.multiply(m, 2, out=m.T.T)
np.sqrt(a, where=flags, out=a)
return a
---
np.minimum(a, x, out=a)
np.subtract(a[1:], a[:-1], out=a[:-1])
return a
---
np.round(a, 0, out=a)
np.floor(a + x, out=a)
return a
---
np.exp(a, out=a[:])
a[...] += 1
return a
---
a.clip(1, 3, out=a)
a.round(out=a)
return a
---
m.mean(axis=0, out=a[:4])
m.max(0, a[:4])
return a
---
np.mean(m, axis=1, out=m[:, 0])
np.std(m, axis=1, out=m[:, 1])
return m
---
if x > 0: return a
a[0] = 1
return a
---
try:
    a[0] = x
    return a
finally:
    a[1] = x
---
for k in range(n):
    if a[k] > x: break
    a[k] = 1
return a
""".strip().split("\n---\n")
