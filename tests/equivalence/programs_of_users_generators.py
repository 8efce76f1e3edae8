"""Functions of the user's with a ``yield``, called in decorated ones: their loops and branches stay Python.

``TRACED`` are in the graph, whatever they ask that is no loop or branch of the run's; the others plain Python runs.
"""

BEFORE = """
import contextlib, functools, itertools, math, random

class Bag:
    def __init__(self, *held): self.held = held
    def __iter__(self):
        for one in self.held: yield one
    def pairs(self):
        yield from zip(self.held, self.held[1:])

class Tree:
    def __init__(self, v, *below): self.v, self.below, self.seen = v, below, 0
    def __iter__(self):
        self.seen += 1
        yield self.v
        for one in self.below: yield from one

def kinds(q):
    for v in q: yield isinstance(v, float), isinstance(v, np.ndarray), type(v) is np.float64, type(v).__name__
def windows(q, k):
    for j in range(len(q) - k + 1): yield q[j : j + k]
def growing(q):
    for j in range(3):
        q[j] += 1
        yield q[j]
def asking(q):
    yield math.sqrt(q[0]), round(q[1], 1), abs(q[0]), int(q[2]), f'{q[0]:.2f}', divmod(q[1], 2)
    yield sum(q), max(q), sorted(q)[0], len(q), q.dtype, q.shape, q.tolist()
def chosen(q, v):
    w = q
    if v > 2: w = q * 2
    yield w.sum()
    w = w + (1 if v > 1 else 2)
    yield (w if v > 3 else q).sum()
    k = 0
    while k < v: k += 1
    yield k
def total():
    t = 0.0
    while True:
        v = yield t
        if v is None: return
        t += v
def parts(q):
    got = yield from windows(q, 2)
    return q[0]
def noisy(q):
    try:
        for v in q:
            print('at', v)
            yield v
    finally: print('closed')
def rows(q):
    for k, r in enumerate(q):
        if k % 2: continue
        if k > 4: return
        yield r
def drawn(q):
    for v in q: yield v + np.random.rand() * 0 + (random.random() < 2)
def below(q, v):
    j = 0
    while j < v:
        yield q[j]
        j += 1
def large(q):
    for v in q:
        if v > 2: yield v * 2
def counted(v):
    for j in range(v): yield j
def endless(q):
    j = 0
    while True:
        yield q[j]
        j += 1
def collatz(v):
    while v != 1:
        yield v
        v = v // 2 if v % 2 == 0 else 3 * v + 1
@contextlib.contextmanager
def counting(q):
    q[0] += 1
    yield q[0]
    q[1] += q[0]
"""

TRACED = """
return list(kinds(a))
---
return [w.mean() for w in windows(a, 2)], sum(w[0] for w in windows(a, 3))
---
for w in windows(a, 2): w[0] += w[1]
return a
---
t = 0.0
for v in growing(a):
    a[3] += v
    t = t + a[3]
return t, a
---
t = 0.0
for k in range(n):
    for v in growing(a): t += v
return t
---
return list(asking(a))
---
return list(chosen(a, x)), list(chosen(a, a[0]))
---
g = total()
next(g)
r = [g.send(v) for v in a]
g.close()
return r
---
return list(parts(a)), [*rows(m)], list(rows(a))
---
return sum(noisy(a)), [v for v in noisy(m[0])]
---
return list(drawn(a))
---
return list(Bag(x, n, a)), [p * q for p, q in Bag(x, a[0], n).pairs()], sum(Bag(x, n))
---
t = Tree(x, Tree(a[0], Tree(n)), Tree(a[1]))
return list(t), max(t), t.seen, t.below[0].seen
---
def inner(q):
    nonlocal x
    for v in q:
        x = x + isinstance(v, np.float64)
        yield v * x
return list(inner(a)), x
---
g = (w.sum() for w in windows(a, 2))
return next(g), next(g), sum(g)
---
return [v for _, v in zip(range(3), endless(a))], list(itertools.islice(endless(a), 2))
---
p, q, *r = windows(a, 2)
return p + q, r, dict(enumerate(growing(a))), functools.reduce(np.add, windows(a, 3))
---
with counting(a) as v: a[2] += v
return v, a
---
if x > 2:
    for w in windows(a, 2): w += 1
return a
"""

PLAIN = """
return list(below(a, x)), a
---
s = 0
for v in below(a, n): s += v
return s
---
return sum(large(a)), max(large(m[1])), any(v > 5 for v in large(a)), next(large(a)), tuple(large(a))
---
t = 0.0
for v in large(a): t = t * 2 + v
return t, sorted(large(a)), list(zip(large(a), a)), [*large(a)]
---
t = np.zeros(6)
for k in counted(n): t += a * k
return t
---
return sum(collatz(n)), max(collatz(n)), len(list(collatz(n)))
---
t = 0.0
for k, v in enumerate(endless(a)):
    if k >= n: break
    t += v
return t
---
def inner():
    a[0] += 1
    if x > 2: yield a[0]
    yield a[1]
return list(inner()), a
---
return np.fromiter(large(a), float), functools.reduce(lambda p, q: p * q, large(a))
"""
