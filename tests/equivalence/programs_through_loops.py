"""Writes through staged code: each way to write, put in each kind of loop or branch, in a helper or a closure.

``THROUGH`` is made of two tables: every third pair by default, all of them in long runs.
"""

#: statements that write to ``a`` or ``m``; ``k`` is 0, 1, 2
STATEMENTS = """
a[k] += x
a[k:] *= 0.5
a[:k + 1] = m[k, :1]
a[::-1][k] = a[k] + 1
a[[k, k, 0]] += 1
a[a > x] -= k
m[k] = a[:4] * k
m[k][1:] += a[k]
m[:, k] = m[:, k + 1]
m.T[k] *= 2
m.flat[k * 2] = x
m[k, a[:4] > 2] = 0
m[[0, k]] = m[[k, 0]]
a[k], a[k + 1] = a[k + 1], a[k]
b = m[k]; b -= b.mean()
a.reshape(2, 3)[1, k] = x
b = a[k:]; b[0] = a[-1]; b = b * 2
np.add(a, k, out=a)
np.copyto(m[k], a[1:5])
np.add.at(a, [k, k], 1)
np.put(a, [k], [x])
np.fill_diagonal(m, a[k])
np.maximum(m, m[k], out=m)
a[k:].sort()
m[k].fill(k)
i[k] = a[k]
c[k] = a[k] + 1j; c.real += 1
flags[k] = not flags[k]
a -= a[k]; m += a[k]
""".strip().splitlines()

#: what they stand in
PLACES = """
for k in range(n):
    S
return a, m
---
k = 0
while k < n and a.sum() < 500:
    S
    k += 1
return k, a
---
for k in range(n):
    if a[k] > 1:
        S
    else:
        a[k] = 2
return a, m
---
k = n - 1
if x > 1:
    S
return a, m
---
for j in range(2):
    for k in range(n):
        S
        if m[0, 0] > 100: break
return a, m
---
def step(k):
    b = a
    S
for k in range(n): step(k)
return a, m
---
held = [a, {'m': m}]
for k in range(n):
    a, m = held[0], held[1]['m']
    S
return a.sum()
---
old = a.copy()
v = a[1:]
for k in range(n):
    S
    v[-1] += old[k]
return a, v * 1
""".strip().split("\n---\n")


def placed(place, statement):
    """Return a program: ``statement`` where the line ``S`` is."""
    lines = []
    for line in place.splitlines():
        lines.append(line.replace("S", statement) if line.strip() == "S" else line)
    return "\n".join(lines)


THROUGH = [placed(place, statement) for statement in STATEMENTS for place in PLACES]
