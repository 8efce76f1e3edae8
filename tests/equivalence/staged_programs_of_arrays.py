"""Writes to arrays in loops, branches and functions, through aliases, views and containers; and arrays made inside.

One file: one table, and those of it that are refused.
"""

PROGRAMS = """
z = np.zeros(20000)
if x < 0:
    z += 1
return z.sum()
---
out = np.zeros(n)
for k in range(n): out[k] = a[k] * 2
return out
---
for k in range(n): m[:2] = m[1], m[0] + k
if x > 2: m[1:] = [m[2], m[1]]
---
k, j = 0, 5
while k < j: a[k], a[j], k, j = a[j], a[k], k + 1, j - 1
for a[k], k in [(x, 2), (6, n), (7, 4)]: a[0] += k
return a, k, j
---
s = m.T
for k in range(n):
    s[k, 0] = m.ravel()[k + 1]
    m.reshape(-1)[k] += s[0, 1]
    m.flat[2] = s.sum()
---
k = 0
while k < n:
    b = m.reshape(4, 3).T
    b[0] += m[0, 1]
    if b[1, 1] > 5: m.ravel()[3:5] = x
    k += 1
return b * 1
---
out = np.zeros(4); other = out
for k in range(n): out[k] = a[k] * 2
return out, other.sum()
---
out = np.zeros(4); v = out[1:]
for k in range(n): v[k] = x
return out
---
out = np.arange(4) * 2.0
out[0] = x
return out
---
out = np.arange(4) * 2.0
b = out
b += x
return out, b
---
out = np.array([1.,2.,3.])
tot = [out, out]
for k in range(n): tot[0][k] += x
return out, tot[1] * 1
---
buf = np.empty(4); buf.fill(0)
for k in range(n):
    buf[:] = a[:4] + k
return buf
---
c = np.zeros((3,3))
for i in range(n):
    for j in range(n):
        for k in range(n):
            c[i, j] += m[i, k] * m[k, j]
return c
---
a0 = np.zeros(4); b0 = np.ones(4)
for k in range(n):
    b0[1:-1] = a0[2:] + a0[:-2] + x
    a0, b0 = b0, a0
return a0, b0
---
if x > 0:
    z = np.zeros(3); z[0] = x
else:
    z = np.ones(3)
return z
---
z = np.zeros(3)
if x > 0:
    z[0] = 1
return z
---
z = np.zeros(3); w = z
if x > 0:
    w += 1
return z, w
---
z = np.zeros(3); w = z
if x > 0:
    w = w + 1
return z, w
---
z = np.zeros(3)
def fill(q, v):
    q[0] = v
fill(z, x)
return z
---
z = np.zeros(3)
def fill(q, k):
    for j in range(k): q[j] = j
fill(z, n)
return z
---
def fill(q, v):
    q[:] = v
for r in m: fill(r, x)
return m.sum()
---
s = {'w': np.zeros(3), 'l': [a]}
for k in range(n):
    s['w'][k] = a[k]
    s['l'][0][k] = 0
return s['w']
---
h = []
for k in range(n):
    a[0] += 1
    h.append(a.copy())
return np.array(h)
---
h = []
for k in range(n):
    a[0] += 1
    h.append(a[0])
return np.array(h)
---
for k in range(n):
    if a[k] > 2: break
    a[k] = 9
return a.sum()
---
for k in range(n):
    if a[k] > 100: return a
    a[k] = 9
return a * 2
---
while True:
    a[0] += 1
    if a[0] > 5: break
return a[0]
---
for k in range(n):
    row = m[k]
    row *= 2
return row
---
for k in range(n):
    t = a[k]; a[k] = a[k+1]; a[k+1] = t
return a[0]
---
for k in range(n):
    a[k], a[k+1] = a[k+1], a[k]
return a[0]
---
p = a
for k in range(n):
    p = p + 1
    p[0] = 0
return p, a
---
p = a.copy()
for k in range(n):
    p[0] = 0
    p = p + 1
return p
---
b = a[::2]
for k in range(n):
    b[k] = x
    a[1] += b[0]
return b
---
q = m[0] if x > 0 else m[1]
return q * 2
---
for i in range(n):
    for j in range(i):
        m[i, j] -= m[i, :j] @ m[:j, j]
    m[i, i:] = m[i, i:] * 2
return m[0]
---
for t in range(1, 3):
    m[1:-1, 1:-1] = 0.2 * (m[1:-1, 1:-1] + m[:-2, 1:-1] + m[2:, 1:-1])
    a[:] = a[::-1] + t
return m.sum()
---
y = np.zeros_like(a)
for k in range(1, len(a)):
    y[k] = y[k-1] + a[k] * x
a[:] = y
return y.max()
---
y = np.zeros(3, int)
for k in range(n):
    y[k] = a[k] * 2.9
return y
---
hist = np.zeros(4, int)
for v in a[:n]:
    hist[int(v) % 4] += 1
return hist
---
seen = np.zeros(6, bool)
k = 0
while not seen[k]:
    seen[k] = True
    k = (k + 2) % 6
return k, seen
---
st = np.zeros(10); sp = 0
for k in range(n):
    st[sp] = a[k]; sp += 1
while sp > 0:
    sp -= 1
    a[sp] = st[sp] * 2
return sp
---
o = np.array([1, 2, 3])
idx = np.argsort(a)
a[idx[0]] = 100
return o[idx[0] % 3]
---
every = [m, a]
for z in every: z += 1
return m.sum()
---
f2 = lambda z: z.fill(3)
f2(a)
return a
---
b = a.reshape(2, 3)
for k in range(n - 1):
    b[k] = k
return b
---
z = [np.zeros(2) for _ in range(3)]
for k in range(n): z[0][0] += k
return z[0]
---
b = a
a = a + 1
b[0] = x
return a, b
---
return a, a, a[1:]
---
for k in range(n):
    a[k] += 1
    v = a[::2]
    v[0] = k
return v.sum()
---
u = a
if x > 1:
    u = m[0]
return u * 2
---
y = a.copy()
z = y[1:4]
for k in range(n):
    z *= x
    if y[1] > 100:
        break
return y, z
---
best = a.copy()
for k in range(n):
    new = best * 0.5
    if new.sum() > 1:
        best = new
return best
---
a.sort()
for k in range(n):
    a[::-1].sort()
    m[k, :].fill(k)
return a
---
for row in m:
    for k in range(n):
        row[k] = row[k] + k
return m[0]
---
while a[0] < 10:
    a[0] += 1
    m[1:, 1:] += m[:-1, :-1]
return a[0]
---
if x > 0:
    a += 1
    if a[0] > 100:
        m[0] = 0
    else:
        m[1] = a[:4]
else:
    m[2] = 0
return a.sum()
---
t = np.zeros(3)
for k in range(n):
    s = np.zeros(3)
    s[k] = x
    t += s
return t
---
p, q = np.zeros(3), np.ones(3)
for k in range(n):
    q[0] = p.sum() + k
    p, q = q, p
return p, q
---
p, q = np.zeros((4, 4)), np.ones((4, 4))
for k in range(n):
    for j in range(1, 3):
        q[j, 1:-1] = p[j - 1, 1:-1] + p[j + 1, 1:-1] + x
    p, q = q, p
return p
---
st = {"v": np.zeros(4), "n": 0}
for k in range(n):
    st["v"][k] = a[k] * 2
    st["n"] += 1
return st["v"], st["n"]
---
acc = np.zeros(2)
for k in range(n):
    acc = acc + a[k]
acc[0] = -1
return acc
---
out = np.empty((3, 2))
for k in range(n):
    out[k] = [a[k], a[k] ** 2]
return out
---
out = np.empty((3, 2))
for k in range(n):
    out[k, :] = a[k:k + 2]
    out[k] *= 2
return out
---
def smooth(u, w):
    w[1:-1] = (u[2:] + u[:-2]) / 2
w = np.zeros_like(a)
for k in range(n):
    smooth(a, w)
    a[:] = w
return a.max()
---
class Grid:
    def __init__(self, cells):
        self.cells = cells
    def step(self):
        self.cells[1:] += self.cells[:-1]
grid = Grid(a)
for k in range(n):
    grid.step()
return grid.cells.sum()
---
try:
    for k in range(n):
        a[k] = 0
finally:
    a[5] = 7
return a.sum()
---
s = 0.0
for k in range(n):
    if k % 2 == 0:
        continue
    a[k] = s
    s += a[k - 1]
return s
---
z = np.linspace(0, 1, 5)
for k in range(n):
    z[k + 1] = z[k] + a[k]
return z
---
z = m[:, 0]
z[:] = z[::-1] * x
return z
---
w = c
w *= 2j
c.real = 1
return w
""".strip().split("\n---\n")

#: what depends on how often a loop runs, or on a branch, and could be seen by the caller
REFUSED = [
    (
        """
v = a[1:]
for k in range(n):
    v = v * 2
v[0] = 1
w = v
w += x
return v, w
""",
        "the argument 'a' may be that array",
    ),
    (
        """
h = []
for k in range(n):
    a[0] += 1
    h.append(a)
return np.array(h)
""",
        "of which a loop keeps a copy",
    ),
    (
        """
q = [m[0], m[1]]
q[place][0] = x
return m.sum()
""",
        "depends on a loop or branch",
    ),
    (
        """
for k in range(n):
    q = m[k] if x > 0 else a[:4]
    q[0] = 7
return m.sum()
""",
        "depends on a loop or branch",
    ),
    (
        """
p = a
for k in range(n):
    p[0] = 0
    p = p + 1
return p
""",
        "the argument 'a' may be that array",
    ),
    (
        """
for k in range(n):
    a = a + 1
a[0] = 0
return a
""",
        "the argument 'a' may be that array",
    ),
    (
        """
u = a
for k in range(n):
    if k == 2: u = u.copy()
    u[0] += 1
return u
""",
        "which array 'u' is depends on how often a loop runs",
    ),
]
