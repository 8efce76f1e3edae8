"""Comprehensions, generator expressions and what uses them up, where a run has a say and calls change something.

How many elements there are, which of them are wanted and where the last one is asked for only the run knows.
"""

PROGRAMS = """
k = 0
def g(v):
    nonlocal k
    k += 1
    return v > 1
p, r = k, any(g(v) for v in (v * 2 for v in a))
for v in (v * 2 for v in a[:3]):
    if g(v): break
return p, r, k, all(g(v) for v in (v for v in a)), k, any(g(v) for v in (v for v in a[:3] if g(v))), k
---
k, seen, d = 0, [], {'s': 0.0}
def g(v):
    nonlocal k
    k += 1
    seen.append(v)
    d['s'] += v
    return v * 2
return [g(v) for v in a[:n]], k, seen, d
---
k, b = 0, Box(x)
def g(v):
    nonlocal k
    k += 1
    b.t += v
    return v * 2
return [g(v) for v in a if v > 1], sum(g(v) for v in a if v > 1), k, b.t
---
b = Box(x)
return [b.grow(v).t for v in a[:n]], b.t
---
c = Box(x)
def grow(s, by, v):
    s.t = s.t + v * by
    return v > 1
return list(map(functools.partial(grow, c, 2), a[:n])), list(filter(functools.partial(grow, c, 2), a[:n])), c.t
---
def g(v):
    print(v)
    return v > 2
return any(g(v) for v in a)
---
seen = []
def g(v):
    seen.append(v)
    return v > 2
r = any(g(v) for v in a)
return r, seen
---
return any(v > 2 for v in a[:n]), all(v > 0 for v in a[:n])
---
def g(k):
    print('asked', k)
    return a[k] > 1
return any(g(k) for k in range(n))
---
def g(k):
    a[k] += 10
    return a[k] > 11
return any(g(k) for k in range(n)), a
---
return next(v for v in a if v > 2)
---
return next(v for v in a if v > 200)
---
return next((v for v in a if v > 2), None)
---
return next((v for v in a if v > 200), None)
---
return next((k for k, v in enumerate(a) if v > 2), -1)
---
return next((k for k in range(n) if a[k] > 100), n)
---
return next(v for v in a[:n] if v > 100)
---
return next((r for r in m if r.sum() > 20), None)
---
return sum(v for v in a if v > 2), sum(v for v in a[:n] if v > 1)
---
return sum(a[k] for k in range(n)), sum(a[k] * k for k in range(n) if a[k] > 1)
---
return sum(a[k] * m[k, j] for k in range(n) for j in range(4))
---
return sum(m[k, j] for k in range(3) for j in range(n))
---
return sum(m[k, j] for k in range(n) for j in range(k))
---
return sum(sum(m[k, j] for j in range(n)) for k in range(n))
---
return max(m[k, j] for k in range(n) for j in range(n))
---
return max(a[k] for k in range(n) if a[k] > 100)
---
return max((a[k] for k in range(n) if a[k] > 100), default=-1.0)
---
return max((v, k) for k, v in enumerate(a[:n]))
---
return min((abs(a[k] - x), k) for k in range(n))[1]
---
return sorted((v for v in a[:n]), reverse=True)
---
return ",".join(str(v) for v in a if v > 1)
---
return ",".join(f"{a[k]:.1f}" for k in range(n))
---
g = (v * 2 for v in a if v > 1)
return sum(g)
---
g = (a[k] for k in range(n))
return list(g)
---
g = (v > 2 for v in a)
return any(g)
---
g = (v for v in a if v > 1)
r = 0
for v in g: r += v
return r
---
g = (v for v in a)
r = 0
for v in g:
    if v > 3: break
    r += v
return r
---
def total(g):
    r = 0.0
    for v in g: r += v
    return r
return total(v * 2 for v in a if v > 1)
---
return any(any(v > 5 for v in r) for r in m)
---
return all(any(v > 5 for v in r) for r in m)
---
return any(m[k, j] > 5 for k in range(n) for j in range(n))
---
for k in range(n):
    if any(a[j] > 2 for j in range(k)): a[k] = 100
return a
---
for k in range(n):
    a[k] = sum(a[j] for j in range(k))
return a
---
k = 0
while any(v > 3 for v in a):
    a -= 1
    k += 1
return k
---
while not all(v < 3 for v in a): a[:] = a / 2
return a
---
return [v for v in a if any(w > v for w in a)]
---
return [k for k in range(2, n + 9) if all(k % j for j in range(2, k))]
---
return sum(1 for k in range(2, n + 9) if all(k % j for j in range(2, k)))
---
return list(zip((k for k in range(n)), a))
---
return max((a[k] for k in range(n)), key=lambda v: -v)
---
g = (v for v in a if v > 1)
r = [v for v in g]
return r
---
g = (v * x for v in [1.0, 2.0, 3.0])
return any(v > 100 for v in [1.0]), list(g), list(g)
---
g = (v * x for v in [1.0, 2.0, 3.0])
r = next(g)
return r, list(g), list(g), next(g, None)
---
g = (k for k in range(6) if k % 2)
r = any(k > 2 for k in g)
return r, list(g)
---
g = (k for k in range(6) if k % 2)
for k in g:
    if k > 2: break
return k, list(g)
---
g = (k * j for k in range(3) for j in range(3))
for k in g:
    if k > 1: break
return k
---
g = (k * j for k in range(3) for j in range(3))
for k in g:
    if k > 1: break
return k, list(g)
---
def h():
    return (v * 2 for v in a)
return list(h()), sum(h())
---
def h(g, w):
    r = 0
    for p, q in zip(g, w): r += p * q
    return r
return h((v for v in a), (v * 2 for v in a)), h((a[k] for k in range(n)), a)
---
return list(zip((v for v in a[:n]), a)), list(enumerate(v * 2 for v in a[:n])), list(map(abs, (-v for v in a[:n])))
---
return sum((r for r in m), np.zeros(4)), sum((r for r in m if r[0] > 1), np.zeros(4)), sum([r for r in m])
---
return sum((str(v) for v in a), '')
---
return sum(v for v in ['a', 'b'])
---
return sum(0.1 for k in range(10)), sum(0.1 * k for k in range(100)), sum(p * q for p in (0.1, 0.2) for q in (0.3, 0.7))
---
return (
    max((v for v in a), default=3), min((v for v in a if v > 100), default=7),
    max((v for v in i if v > 2), default=None)
)
---
return max(range(n), key=lambda k: a[k]), min(range(n), key=lambda k: -a[k]), max(a[:n], key=lambda v: -v)
---
return max(enumerate(a[:n]), key=lambda t: t[1]), min(zip(a[:n], i)), max(zip(i[:n], a))[1]
---
return max(range(n - 3), key=lambda k: a[k])
---
return max((a[k] for k in range(n - 3)), default=None)
---
return max((v, k) for k, v in enumerate(a) if v < 4), min((r.sum(), k) for k, r in enumerate(m))
---
b = [Box(v) for v in a]
return max(b, key=lambda q: q.u).u, next(q for q in b if q.u > 2).u, any(q.u > 2 for q in b), sum(q.u for q in b)
---
b = [Box(1.0), Box(2.0)]
return (
    next((q for q in b if q.u > x), None) is None,
    next((q.u for q in b if q.u > x), -1.0), next(q for q in b if q.u * 3 > x).u
)
---
b = [Box(1.0), Box(2.0)]
q = next((q for q in b if q.u > x), None)
if q is None: return 5
return q.u
---
d = {'p': 1.0, 'q': 3.0}
return (
    next(k for k, v in d.items() if v > 2), [k for k, v in d.items() if v > 2],
    sum(v for k, v in d.items() if k != 'p')
)
---
d = {'p': 1.0, 'q': 3.0}
return next(k for k, v in d.items() if v > x), next((k for k, v in d.items() if v > x + 9), 'none')
---
return not any(v > 2 for v in a), any(v > 2 for v in a) and all(v > 0 for v in a), any(v > 99 for v in a) or x
---
y = any(v > 2 for v in a)
return y, type(y), y + 1, int(y), y is True, [y]
---
return [any(a[j] > v for j in range(n)) for v in a], [next((j for j in range(6) if a[j] > v), -1) for v in a]
---
def g(v):
    if v > 3: raise ValueError('big')
    return v > 100
return any(g(v) for v in a)
---
def g(v):
    if v > 3: raise ValueError('big')
    return v > 2
return any(g(v) for v in a)
---
try:
    return next(v for v in [1, 2] if v > 100)
except StopIteration:
    return 7
---
k = 0
while (v := next((w for w in a if w > 2), -1.0)) > 0 and k < n:
    a -= 0.5
    k += 1
return a, k, v
---
return (lambda q: any(v > q for v in a))(x), (lambda *q: sum(w * 2 for w in q))(x, 1)
---
class K:
    def __init__(self, w): self.w = w
    def big(self, t): return any(v > t for v in self.w)
    def total(self): return sum(v * self.f() for v in self.w)
    def f(self): return 2
class L(K):
    def total(self): return sum(super(L, self).f() * v for v in self.w) + sum(self.f() for k in range(n))
return K(a).big(x), L(a).total()
---
return (
    sum(p * q for p, q in zip(a, m[0])),
    sum(k * p * q for k, (p, q) in enumerate(zip(a[:n], m[0]))), sum(p for p, *q in m)
)
---
return collections.deque(v for v in a), collections.Counter(k % 2 for k in range(5))
---
return list(itertools.accumulate(v for v in a)), list(itertools.chain((v for v in a), (w for w in i)))
---
return " ".join(str(k) for k in range(n) if k != 1), ";".join(f"{v:.1f},{w}" for v in a[:2] for w in i[:2])
---
return 2.25 in (v for v in a), 3 in (k for k in range(5))
---
return 2.25 in (v for v in a[:n])
---
return sorted((v for v in a if v > 1), reverse=True), sorted(((v, k) for k, v in enumerate(a)), key=lambda t: -t[0])
---
return [m[p, q] for p in range(n) for q in range(n)], [m[p, q] for p in range(3) for q in range(n) if p != q]
---
return (
    [(p, q) for p in range(n) for q in range(p)],
    [p for r in m for p in r if p > 3], [r * p for r in m for p in a[:n]]
)
---
return (
    [p for r in m[:n] for p in r], [p for k in range(n) for p in m[k, :k]],
    np.array([p + q for p in a for q in i[:n]])
)
---
return [y for r in m if r[0] > 2 for y in r if y > 5]
---
def find(v, t):
    best = None
    for e in v:
        if e > t:
            best = e
            break
    return best
return find(a, 200) is None, find(a, 2) is None, find(a, 2) is not None
---
def find(v, t):
    best = None
    for e in v:
        if e > t:
            best = e
            break
    return best
d = {'k': find(a, 200)}
l = [find(a, 200)]
b = Box(find(a, 200))
return d['k'] is None, l[0] is None, b.u is None, [q is None for q in l]
---
def find(v, t):
    best = None
    for e in v:
        if e > t:
            best = e
            break
    return best
def h(q): return q is None
def g(q=None):
    if q is None: q = 5.0
    return q
return h(find(a, 200)), (lambda q: q is None)(find(a, 200)), g(find(a, 200)), g(find(a, 2)), g()
---
y = bool(x > 2)
z = n > 2
w = x > 2
return y is True, y is False, y is not True, z is True, w is True, w is False, (n == 3) is (n == 3), y is y
---
y = False
for k in range(n):
    if a[k] > 1: y = True
if y is True: return 1
return y is False
---
return functools.reduce(lambda p, q: p + q, [a[k] for k in range(n)], 0.0)
---
return (
    functools.reduce(lambda p, q: p * q, (a[k] for k in range(n)), 1.0),
    functools.reduce(lambda p, q: p * q, a[:n], 1.0)
)
---
return functools.reduce(lambda p, q: p + q, range(n), 0)
---
return functools.reduce(max, [a[k] for k in range(n)])
---
return (
    functools.reduce(lambda p, q: p + q, (v for v in a if v > 1)),
    functools.reduce(lambda p, q: p + q, [v for v in a if v > 1], 0.0)
)
---
return functools.reduce(lambda p, q: p + q, [v for v in a if v > 100])
---
return (
    functools.reduce(lambda p, q: p + q, a), functools.reduce(np.add, m),
    functools.reduce(operator.mul, range(1, 5), x)
)
---
return functools.reduce(lambda p, q: (p[0] + q, p[1] * q), a[:n], (0.0, 1.0))
""".strip().split("\n---\n")
