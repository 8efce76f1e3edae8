"""Programs in which it takes care to tell what an array is: another handle of one, a view that NumPy does not have as
an array (``a.flat``), or a name that a loop has left behind.

``PROGRAMS`` do as plain ones; ``REFUSED`` may do so too, where the run's doubt is one day resolved, and are refused
today: they never go on in silence.
"""

PROGRAMS = """
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
