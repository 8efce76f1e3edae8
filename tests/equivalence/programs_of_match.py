"""``match`` on sequences, classes, mappings, literals and names, whose values only the run knows."""

PROGRAMS = """
match [x, n]:
    case [2.5, k]: return k
    case _: return -1
---
match (x, n):
    case (p, 3): return p
    case (p, q): return p + q
---
match a:
    case [p, q]: return 1
    case _: return 2
---
l = list(a)
match l:
    case [first, *rest]: return first, rest
---
match Point(x, n):
    case Point(x=0, y=q): return q
    case Point(x=p, y=3): return p
    case _: return -1
---
match Point(x, n):
    case Point(0, q): return q
    case Point(p, 3): return p
    case _: return -1
---
match Point(x, n):
    case Point(p, q) if p > q: return p
    case Point(p, q): return q
---
match {'k': x, 'j': n}:
    case {'k': 2.5, 'j': q}: return q
    case {'k': p}: return p
---
match x:
    case 1.0 | 2.5: return 'a'
    case _: return 'b'
---
match x:
    case float(): return 1
    case _: return 2
---
match int(x):
    case int(k) if k > 1: return k
    case _: return 2
---
match n:
    case int() | np.integer(): return 1
    case _: return 2
---
match (n > 2, x > 3):
    case (True, True): return 1
    case (True, False): return 2
    case _: return 3
---
match (bool(n > 2), bool(x > 3)):
    case (True, True): return 1
    case (True, False): return 2
    case (False, True): return 3
    case _: return 4
---
r = 0
for k in range(n):
    match (k % 2, a[k] > 1):
        case (0, _): r += 1
        case (1, flag) if flag: r += 10
        case _: r += 100
return r
---
r = 0
for k in range(n):
    match k % 3, k % 5:
        case 0, 0: r += 1
        case 0, _: r += 10
        case _, 0: r += 100
        case _: r += 1000
return r
---
match a.shape, m.shape:
    case (k,), (p, q): return k * p * q
    case _: return 0
---
match [1, [x, n]]:
    case [1, [2.5, q]]: return q
    case [1, [p, q]]: return p
---
match [1, [x, n]]:
    case [k, [p, q] as inner]: return k, p, inner
---
match (x, 1):
    case (2.5 | 3.5 as p, 1): return p
    case _: return 0
---
match ('add', x, n):
    case ('add', p, q): return p + q
    case ('mul', p, q): return p * q
---
match ('neg', x):
    case ('add', p, q): return p + q
    case ('neg', p): return -p
---
r = []
for op in [('add', 1), ('mul', 2), ('neg',), None, 3]:
    match op:
        case ('add', v): r.append(x + v)
        case ('mul', v): r.append(x * v)
        case ('neg',): r.append(-x)
        case None: r.append(x)
        case int(v): r.append(x - v)
return r
---
b = Box(x, n)
match b:
    case Box(u=p, t=3): return p
    case Box(u=p): return -p
---
b = Box(x, n)
match b:
    case Box(u=p, t=t) if p > t: b.u = t
    case Box(t=t): b.t = t + 1
return b.u, b.t
---
match Pair(x, n):
    case Pair(p=2.5, q=w): return w
    case Pair(p, w): return p + w
---
match Color.RED, x:
    case Color.RED, 2.5: return 1
    case Color.BLUE, _: return 2
    case _: return 3
---
match n:
    case Level.HIGH: return 1
    case Level.LOW: return 2
    case _: return 3
---
match x:
    case None: return 0
    case p: return p
---
p = None
for v in a:
    if v > 3: p = v
match p:
    case None: return 0
    case q: return q
---
p = None
for v in a:
    if v > 300: p = v
match p:
    case None: return 0
    case q: return q
---
k = n
while True:
    match k:
        case 0: break
        case 2:
            k = 0
            continue
        case _: k -= 1
    a[k] = 9
return a, k
---
match x > 2:
    case True: return 1
    case False: return 2
    case _: return 3
---
match -x:
    case -2.5: return 1
    case _: return 2
---
match c[1]:
    case 1+2j: return 1
    case _: return 2
---
match {'op': 'scale', 'by': x}:
    case {'op': 'scale', 'by': float(v)}: return a * v
    case {'op': 'shift', 'by': v}: return a + v
---
match {'op': 'scale', 'by': 2}:
    case {'op': 'scale', 'by': int(v) | float(v)} if v > x: return a * v
    case {'op': _, 'by': v}: return a + v
---
def area(s):
    match s:
        case {'r': r}: return 3.0 * r * r
        case {'w': w, 'h': h} if w == h: return w * w
        case {'w': w, 'h': h}: return w * h
        case _: raise ValueError(f'what is {s}')
return area({'r': x}), area({'w': x, 'h': n}), area({'w': x, 'h': x})
---
def area(s):
    match s:
        case {'r': r}: return 3.0 * r * r
        case _: raise ValueError(f'what is {s}')
return area({'k': x})
---
match x, n:
    case p, q if p > q and q > 2: y = p
    case p, q if p > 1: y = q
return y
---
match x, n:
    case p, q if p > q: y = p
return y
---
y = 7
match [(x, 1), n]:
    case [(_, y), 9]: pass
    case _: pass
return y
---
y = 7
match [x, n]:
    case [y, 3] if y > 3: return 1.0
    case _: return y
---
y = 7
match x:
    case y if y > 3: return 1.0
    case _: return y
---
match x, n:
    case (2.5, 9) | (_, 3): return 1
    case _: return 2
---
match [x, n]:
    case [2.5, y] | [y, 9]: return y
    case [p, _]: return -p
---
r = []
for op, v in [('add', x), ('mul', 2.0), ('jump', n)]:
    match op, v:
        case 'add', w if w > 2: r.append(a + w)
        case 'add' | 'mul', w: r.append(a * w)
        case other, _: r.append(other)
return r
---
k = 0
while k < n:
    match k, a[k]:
        case 0, v: a[k] = -v
        case (1 | 2), v if v > 2: a[k] = 100
        case _: a[k] = 5
    k += 1
return a
---
match Point(x, Point(n, 1)):
    case Point(p, Point(3, q)): return p, q
    case Point(p, Point(r, q)): return r, q
---
match x:
    case int(): return 1
    case float(v) if v > 3: return 2
    case float() as w: return w
---
match 'go north'.split():
    case ['go', ('north' | 'south') as d]: return d
    case ['go', d]: return 'other ' + d
---
match {'k': [1, {'j': x}]}:
    case {'k': [1, {'j': 2.5}]}: return 1
    case {'k': [1, {'j': v}]}: return v
---
for v in a:
    match v > 2, v > 4:
        case True, False: break
        case _: continue
return v
---
match a.sum() > 3:
    case True: a[0] = 1
    case False: a[0] = 2
return a
---
match None if n > 5 else 3:
    case None: return 1
    case k: return k
""".strip().split("\n---\n")
