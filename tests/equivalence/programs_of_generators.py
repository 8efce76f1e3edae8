"""Comprehensions, generator expressions and what uses them up, where a run has a say and calls change something.

How many elements there are, which of them are wanted and where the last one is asked for only the run knows.
"""

PROGRAMS = """
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
""".strip().split("\n---\n")
