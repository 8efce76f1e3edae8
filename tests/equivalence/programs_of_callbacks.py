"""Functions of the user's, and builtins, that library code calls, and lazy sequences of them: as often as in Python."""

BEFORE = """
import bisect, heapq
def noisy(*v):
    print('noisy', *v)
    return v[0]
def pred(v):
    print('pred', v)
    return v < 3
"""

PROGRAMS = """
return (
    max((noisy(v) for v in a[:3]), key=noisy),
    min((noisy(v) for v in a[:n]), key=noisy), sum(noisy(v) for v in a[:n])
)
---
return [noisy(p) for r in m[:n] for p in r if noisy(p) > 3], next(noisy(v) for v in a if noisy(v) > 1)
---
g = (noisy(v) for v in a if v > 1)
print('before')
for v in g:
    print('body', v)
    if v > 3: break
return v
---
def use(g):
    print('use')
    return sum(g)
return use(noisy(v) for v in a[:n]), use(noisy(k) for k in range(n) if k), use(noisy(k) for k in range(3))
---
match x, noisy(n):
    case (2.5, k) if noisy(k) > 2: return k
    case _: return noisy(9)
---
with contextlib.ExitStack() as s:
    for k in range(3): s.callback(print, 'cb', k)
return a
---
def h(k): print('h', k)
with contextlib.ExitStack() as s:
    s.callback(h, 2)
    s.callback(h, x)
    s.callback(a.__setitem__, 0, x)
return a
---
list(map(print, a))
return functools.reduce(max, a), functools.reduce(min, a, x), functools.reduce(lambda p, q: max(p, q), a)
---
h = functools.partial(print, 'pre', sep=':')
h(x)
for k in range(n): h(k)
---
h = functools.partial(max, x)
return h(n), h(2, 3)
---
class D:
    def __del__(self): pass
def apply(f, *v, **k): return f(*v, **k)
return apply(max, x, n), apply(print, x), apply(sorted, -a, reverse=True), apply(np.add, a, 1)
---
return list(map(lambda v: v * 2, filter(lambda v: v > 1, a))), sum(map(lambda v: v * 2, filter(lambda v: v > 1, a[:n])))
---
return (
    list(filter(lambda v: v < 4, filter(lambda v: v > 1, a))),
    [v * 2 for v in filter(lambda v: v > 1, map(lambda v: v + 1, a))]
)
---
r = []
for v in map(lambda v: v * 2, filter(lambda v: v > 1, a)):
    if v > 8: break
    r.append(v)
return r
---
return (
    next(filter(lambda v: v > 1, a)), next(map(lambda v: v * 2, a)),
    next(filter(lambda v: v > 100, a), None), next(iter(m))
)
---
return (
    any(map(lambda v: v > 2, a)), all(map(lambda v: v > 2, a)),
    any(filter(lambda v: v > 2, a)), max(filter(lambda v: v < 3, a))
)
---
def h(v):
    print(v)
    return v > 2
return any(map(h, a))
---
def h(v):
    print(v)
    return v > 2
return any(map(h, a[:n])), all(map(h, a[:n]))
---
def h(k):
    print(k)
    return k > 1
return any(map(h, range(n))), any([h(k) for k in range(n)]), all(h(k) for k in range(3))
---
with contextlib.ExitStack() as s:
    s.callback(noisy, x)
return a
---
return list(itertools.starmap(noisy, [(x, 2), (n, 1)]))
---
return list(itertools.accumulate([x, n, 1], noisy))
---
return list(itertools.takewhile(pred, [1, 2, 5]))
---
return list(itertools.filterfalse(pred, [1, 2, 5])), list(itertools.dropwhile(pred, [1, 2, 5]))
---
return [(k, len(list(g))) for k, g in itertools.groupby([1, 1, 2], key=noisy)]
---
return sorted([2, 1], key=functools.cmp_to_key(lambda p, q: noisy(p - q)))
---
return functools.reduce(noisy, [1, 2, 3])
---
l = [3, 1, 2]
l.sort(key=noisy)
return l, max(l, key=noisy), x + 1
---
import operator
return operator.methodcaller('sum')(a), operator.call(noisy, x) if hasattr(operator, 'call') else 0
---
q = [3, 1]
heapq.heapify(q)
heapq.heappush(q, 0)
return heapq.nsmallest(2, q, key=noisy), bisect.bisect([1, 2, 3], 2, key=noisy), x + 1
---
def g(v):
    print(v)
    return v > 2
return any(g(v) for v in a)
---
def g(v):
    print(v)
    return v > 2
return all(g(v) for v in a), any(g(v) for v in a)
---
def g(k):
    print('asked', k)
    return a[k] > 1
return any(g(k) for k in range(n))
---
return min(len(r) for r in (a, m)), max(r.sum() for r in (a, m))
---
return any((v > 2, v > 3)[k] for k, v in enumerate(a[:2]))
---
for p, q in zip(a[:n], i, strict=True): x += p * q
---
return list(zip(a, i, strict=True))
""".strip().split("\n---\n")
