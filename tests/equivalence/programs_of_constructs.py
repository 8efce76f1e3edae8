"""Python's own constructs over arrays, rows, ranges and numbers that only the run knows.

Comprehensions and what uses up generators, builtins, ``match``, ``with``, ``try``, classes and their operators,
closures, ``functools``, ``itertools``, ``operator``, texts, structures, and arrays whose extents change in a loop.

One file: one table, in which whoever adds a program sees what is there of its construct.
"""

#: what the module of each program holds before it
BEFORE = """
import collections, contextlib, dataclasses, enum, functools, itertools, operator, typing
@dataclasses.dataclass
class Box:
    u: object
    t: float = 0.0
    w: list = dataclasses.field(default_factory=list)
    def grow(self, d):
        self.t += d
        return self
    @property
    def double(self): return self.u * 2
    @classmethod
    def of(cls, u): return cls(u, 1.0)
    @staticmethod
    def add(p, q): return p + q
@dataclasses.dataclass(frozen=True)
class Point:
    x: object
    y: object = 0
    def norm(self): return self.x * self.x + self.y * self.y
    def moved(self, d): return dataclasses.replace(self, x=self.x + d)
@dataclasses.dataclass(slots=True)
class Slot:
    p: object
    q: object = 1
    def __post_init__(self): self.q = self.p * 2
class Vec:
    def __init__(self, d): self.d = d
    def __add__(self, o): return Vec(self.d + (o.d if isinstance(o, Vec) else o))
    __radd__ = __add__
    def __mul__(self, s): return Vec(self.d * s)
    def __getitem__(self, k): return self.d[k]
    def __setitem__(self, k, v): self.d[k] = v
    def __len__(self): return len(self.d)
    def __iter__(self): return iter(self.d)
    def __contains__(self, v): return bool((self.d == v).any())
    def __bool__(self): return bool(self.d.sum() > 0)
    def __call__(self, s): return self.d * s
    def __neg__(self): return Vec(-self.d)
    def __eq__(self, o): return bool((self.d == o.d).all())
    def __lt__(self, o): return self.d.sum() < o.d.sum()
    def __iadd__(self, o):
        self.d = self.d + o
        return self
    def __enter__(self):
        self.d = self.d + 1
        return self
    def __exit__(self, *e):
        self.d = self.d - 1
        return False
    def __abs__(self): return abs(self.d).sum()
    def __matmul__(self, o): return self.d @ o.d
    def __repr__(self): return f"Vec({self.d})"
    def __format__(self, spec): return format(self.d[0], spec)
    def __hash__(self): return 7
class Base:
    k = 2
    def __init__(self, v): self.v = v
    def step(self, q): return q * self.k + self.v
    @property
    def twice(self): return self.v * 2
    @twice.setter
    def twice(self, value): self.v = value / 2
class Child(Base):
    k = 3
    def __init__(self, v, w):
        super().__init__(v)
        self.w = w
    def step(self, q): return super().step(q) + self.w
Pair = collections.namedtuple("Pair", "p q")
class Typed(typing.NamedTuple):
    p: object
    q: object = 5
    def total(self): return self.p + self.q
class Color(enum.Enum):
    RED = 1
    BLUE = 2
class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3
@contextlib.contextmanager
def scaled(q, s):
    q *= s
    try:
        yield q
    finally:
        q /= s
@contextlib.contextmanager
def giving(v):
    yield v + 1
class Guard:
    def __init__(self, q, swallow=False): self.q, self.swallow = q, swallow
    def __enter__(self):
        self.q[0] += 1
        return self.q
    def __exit__(self, kind, error, tb):
        self.q[1] += 10
        return self.swallow
def doubled(g):
    @functools.wraps(g)
    def inner(*args, **kwargs): return g(*args, **kwargs) * 2
    return inner
def times(k):
    def deco(g):
        def inner(*args): return g(*args) * k
        return inner
    return deco
@doubled
def shifted(q, by=1): return q + by
@times(3)
def plus(q): return q + 1
def helper(q, k, *rest, by=2, **more): return q * by + k + sum(rest) + sum(more.values())
def fact(k): return 1 if k <= 1 else k * fact(k - 1)
@functools.singledispatch
def kind(v): return 0
@kind.register
def _(v: int): return 1
@kind.register
def _(v: float): return 2
@kind.register
def _(v: list): return 3
@kind.register(np.ndarray)
def _(v): return 4
@functools.lru_cache
def cached(k): return k * k
"""

PROGRAMS = """
return [e * 2 for e in a if e > 2]
---
return [r.sum() for r in m]
---
return [[e + 1 for e in r] for r in m]
---
return [e for r in m for e in r]
---
return [e for r in m for e in r if e > 3]
---
return [k * x for k in range(n)]
---
return [p * q for p, q in zip(a, a[1:])]
---
return [(k, e) for k, e in enumerate(a)]
---
return {k: e for k, e in enumerate(a)}
---
return {k % 2 for k in range(5)}
---
return {k: [e for e in r] for k, r in enumerate(m)}
---
return sum(e for e in a), max(e for e in a), min(e * 2 for e in a)
---
return any(e > 3 for e in a), all(e > 3 for e in a)
---
return sorted(e for e in -a), sorted(a, reverse=True), sorted(a, key=lambda e: -e)
---
return dict((k, e) for k, e in enumerate(a))
---
return np.array([e * 2 for e in a]), np.array(list(e for e in a))
---
return np.fromiter((e * 2 for e in a), float)
---
return ",".join(str(e) for e in i)
---
return ",".join(f"{e:.2f}" for e in a)
---
return sum(a), sum(i), sum(m), sum(flags), sum(c)
---
return sum(a, 10), sum([a, a]), sum([a, a], x), sum((r for r in m), np.zeros(4))
---
return any(flags), all(flags), any(i), all(i), any(a > 100)
---
return min(a), max(a), min(i), max(i), min(i, key=lambda e: -e), max(flags)
---
return min(x, 1), max(x, n), min(3, 2.0, x), max(a[0], 2)
---
return max([], default=4), max((e for e in a if e > 100), default=None)
---
return max(a[a > 100], default=7)
---
return max(a[a > 100])
---
return sorted(m, key=lambda r: -r[0])
---
return sorted(range(4), key=lambda k: -a[k])
---
return sorted(zip(-a, i))
---
return list(zip(a, i)), list(zip(m, m.T))
---
return list(zip(a, i, strict=True))
---
return list(enumerate(a)), list(enumerate(m, 5)), list(enumerate(i, n))
---
return list(map(lambda e: e * 2, a)), list(map(lambda p, q: p * q, a, i))
---
return list(filter(lambda e: e > 2, a)), list(filter(None, i)), list(filter(None, flags))
---
return list(reversed(a)), list(reversed(m)), list(reversed(range(n)))
---
return len(a), len(m), len(m[0]), len(range(n)), len([x, x])
---
return abs(x), abs(-a), abs(c), abs(c[1]), abs(n), abs(-3)
---
return round(x), round(x, 1), round(a[1]), round(2.567, 2), round(n), round(n, -1)
---
return round(a), 1
---
return round(a, 1), round(m, 0)
---
return divmod(x, 2), divmod(a, 2), divmod(n, 2), divmod(7, n + 1), divmod(i, 3)
---
return pow(x, 2), pow(a, 2), pow(n, 2), pow(2, n), pow(3, 2, 5), pow(i, 2)
---
return list(range(n)), list(range(n, 0, -1)), list(range(0, 2 * n, 2)), range(5)[1:3]
---
it = iter(a)
return next(it), next(it), list(it)
---
it = iter(a)
return next(it), next(iter([]), 5), next(iter(m))
---
it = iter(a[:0])
return next(it)
---
it = iter([])
return next(it)
---
return (
    isinstance(a, np.ndarray), isinstance(x, float), isinstance(n, int), isinstance(x, np.float64),
    isinstance(n, np.integer), isinstance(a[0], float), isinstance(a[0], np.floating), isinstance(i[0], int),
    isinstance(a, list), isinstance(x, (int, float))
)
---
return type(a), type(x), type(n), type(a[0]), type(i[0]), type([]), type(m.sum()), type(int(x))
---
return type(x) is float, type(x) is np.float64, type(a) is np.ndarray, type(x) == type(a[0]), type(x).__name__
---
return (
    hasattr(a, 'shape'), hasattr(a, 'foo'), hasattr(x, 'dtype'), hasattr(1, 'dtype'), hasattr(a, '__len__'),
    hasattr(x, '__len__'), hasattr(x, '__iter__')
)
---
return getattr(a, 'shape'), getattr(a, 'T'), getattr(a, 'foo', 3), getattr(a, 'sum')(), getattr(m, 'mea' + 'n')(0)
---
return a.foo
---
b = Box(a)
setattr(b, 't', x)
setattr(b, 'u', a * 2)
return b.t, b.u, vars(b)['t']
---
return id(a) == id(a), id(a) == id(m), a is a, a is not m
---
return f"{n:>5}|{x:8.2f}|{n:03d}", str(n), repr(n), f"{a}", f"{m.shape}", f"{len(a)=}", f"{x=}"
---
return str(a[1]), repr(i[2]), str(flags[0]), repr(c[1]), str(a.dtype), repr(m.T[0])
---
return callable(a), callable(len), callable(lambda: a), callable(x)
---
s = slice(1, n)
return a[s], s.start, s.stop, a[slice(None)], m[slice(0, 2), slice(None, None, 2)]
---
s = np.s_[1:n, ::2]
return m[s]
---
k = ...
return a[k], m[..., 0], m[k, 1], a[None], a[:, None], m[None, ..., None], a[np.newaxis, :]
---
p, q, *r = a
return p, q, r
---
p, (q, *s), r = a[0], m[1], n
return p, q, s, r
---
*p, q = m
return p, q
---
for k, (p, q) in enumerate(zip(a, m[0])): a[k] = p * q
return a
---
return max(*a), min(*a[:3]), print(*a)
---
return helper(a, *[1, 2, 3], by=x, **{'z': n})
---
return 1 < x < 3, 0 < n <= 3, a[0] < a[1] < a[2], 1 < 2 > x
---
return 1 < a < 3
---
return a and x
---
return x if n > 2 else 1, 1 if n > 2 else 2.0
---
while (k := n - 1) > 0: n = k
return n, k
---
d = {'p': a, 'q': x}
del d['p']
return d
---
l = [a, x, n]
del l[0]
return l
---
l = [a[0], x, 3, 4]
del l[1:3]
return l
---
b = Box(a)
del b.t
return hasattr(b, 't'), b.__dict__.keys() == {'u', 'w'}
---
del a[0]
---
k = a
del k
return k
---
def g(): return k
k = a
del k
return g()
---
fs = [lambda: k for k in range(3)]
return [g() for g in fs]
---
fs = [lambda k=k: k * x for k in range(3)]
return [g() for g in fs]
---
fs = []
for k in range(3):
    def g(e): return e * k + x
    fs.append(g)
return [g(a[0]) for g in fs]
---
y = a
def g(): return y.sum()
r = g()
y = y * 2
return r, g()
---
def g(e, b=a): return e + b
a = a * 2
return g(x), a
---
def g(b=[]):
    b.append(x)
    return b
g()
return g()
---
k = 0
def g():
    nonlocal k
    k += x
for _ in range(n): g()
return k
---
return (
    functools.reduce(lambda p, q: p * q, a), functools.reduce(operator.add, m),
    functools.reduce(lambda p, q: p + q, [], x)
)
---
g = functools.partial(helper, by=x)
return g(a, 1), functools.partial(np.sum, axis=0)(m), functools.partial(lambda p, q: p - q, x)(n)
---
return cached(3), cached(4)
---
@functools.lru_cache
def g(k): return k * x
return g(2), g(2)
---
@functools.cache
def g(k): return a[k]
r = g(1)
a[1] = 100
return g(1)
---
return shifted(a), shifted(x, by=n), plus(a), shifted.__name__
---
return kind(1), kind(2.0), kind([1]), kind('s')
---
return kind(a), kind(x), kind(n), kind(i[0])
---
class K:
    def __init__(self, v): self.v = v
    @functools.cached_property
    def s(self): return self.v.sum()
k = K(a)
r = k.s
a[0] = 100
return r, k.s
---
return (
    operator.add(a, x), operator.mul(x, 2), operator.neg(a), operator.itemgetter(1)(a),
    operator.itemgetter(0, 2)(a), operator.attrgetter('shape')(m), operator.methodcaller('sum', 0)(m),
    operator.lt(x, 3), operator.getitem(a, 1), operator.matmul(m, a[:4])
)
---
operator.setitem(a, 0, x)
operator.iadd(a, 1)
return (
    operator.truth(x), operator.not_(x), operator.is_(a, a), operator.contains([1, 2], 2),
    operator.concat([1], [2]), operator.index(3), operator.pow(x, 2), operator.mod(n, 2),
    operator.xor(True, False), operator.and_(n, 1)
)
---
return list(itertools.product(a[:2], i[:2])), list(itertools.product(range(2), repeat=2))
---
return list(itertools.chain(a, i)), list(itertools.chain.from_iterable(m))
---
return (
    list(itertools.accumulate(a)), list(itertools.accumulate(a, lambda p, q: p * q)),
    list(itertools.accumulate(i, initial=10))
)
---
return list(itertools.islice(a, 2)), list(itertools.islice(m, 1, 3)), list(itertools.islice(itertools.count(), 3))
---
return list(itertools.zip_longest(a[:2], i[:3], fillvalue=x)), list(itertools.pairwise(a))
---
return (
    list(itertools.combinations(a, 2))[:3], list(itertools.permutations(range(3)))[:2],
    list(itertools.combinations_with_replacement(i, 2))[:2]
)
---
return [(k, list(g)) for k, g in itertools.groupby([1, 1, 2])]
---
p, q = itertools.tee(a)
return list(p), next(q)
---
for p, q in itertools.combinations(range(4), 2): a[p] += a[q]
return a
---
for e in itertools.chain(a, m[0]): x += e
return x
---
match n:
    case 0: a[0] = 1
    case 3: a[0] = 2
    case _: a[0] = 3
---
match int(x):
    case 1 | 2: r = x
    case k if k > 2: r = x * 2
    case _: r = x * 3
return r
---
match a.shape:
    case (k,): r = k
    case (k, j): r = j
match m.shape:
    case (3, w): r += w
return r
---
match [a, m]:
    case [p, q]: return p.sum() + q.sum()
---
match {'k': a, 'j': x}:
    case {'k': p, **rest}: return p, rest
---
match Point(x, n):
    case Point(x=p, y=q): return p, q
---
match Pair(a, x):
    case (p, q): return p * q
---
match a:
    case [*r]: return 1
    case _: return 2
---
match a.ndim:
    case 1: return 1
    case _: return 2
---
match 'add':
    case 'sub': r = a - x
    case 'add' | 'plus': r = a + x
return r
---
match Color.RED:
    case Color.RED: r = a + x
    case Color.BLUE: r = a
return r
---
k = 0
while k < n:
    match k:
        case 0: a[k] = 5
        case 1: a[k] *= x
        case j if j > 1: a[0] += j
    k += 1
---
if x > 2:
    match n:
        case 3: a[:] = 1
        case _: a[:] = 2
---
with scaled(a, 2) as q:
    a[0] += x
    r = q.sum()
return r, a
---
with scaled(a, x) as q, giving(n) as w:
    a[0] += w
return a, w
---
for k in range(n):
    with scaled(a, 2):
        a[k] += 1
return a
---
if x > 2:
    with scaled(a, 2):
        a[1] += 1
return a
---
with Guard(a) as q: q[2] = x
return a
---
for k in range(n):
    with Guard(a) as q: q[2] += k
return a
---
with Guard(a, True):
    a[3] = 1
    raise ValueError('x')
return a
---
with Guard(a): raise KeyError('x')
---
with contextlib.suppress(ZeroDivisionError):
    a[0] = 7
    1 / 0
    a[0] = 8
return a
---
with contextlib.suppress(ZeroDivisionError):
    a[0] = 1 / (n - n)
return a
---
with contextlib.ExitStack() as stack:
    q = stack.enter_context(Guard(a))
    stack.callback(a.__setitem__, 4, 50)
    q[2] = x
return a
---
with contextlib.nullcontext(a) as q: q += 1
return a
---
with np.errstate(all='ignore'): r = a / (a - a)
return r
---
with contextlib.closing(io := Box(a)): pass
---
with Vec(a) as v: r = v.d.sum()
return r, v.d
---
with Guard(a):
    if x > 2: return a * 2
return a
---
with Guard(a):
    for k in range(n):
        if a[k] > 1: return k
return -1
---
for k in range(n):
    with Guard(a):
        if a[k] > 3: break
        a[k] = 0
return a
---
with contextlib.redirect_stdout(None): r = a.sum()
return r
---
try:
    a[0] = x
    raise ValueError('no')
except ValueError as e:
    a[1] = 2
    r = str(e)
else: a[2] = 3
finally: a[3] = 4
return r, a
---
try: a[0] = x
except ValueError: a[1] = 2
else: a[2] = 3
finally: a[3] = 4
return a
---
def g(k):
    if k < 5: raise KeyError(k)
    return k
try: g(2)
except (KeyError, ValueError) as e: a[0] = e.args[0]
return a
---
def g(k):
    try: return a[k]
    finally: a[k] = 0
return g(1), g(1)
---
for k in range(3):
    try:
        if k == 1: continue
        if k == 2: break
        a[k] = 1
    finally: a[k] += 10
return a
---
for k in range(n):
    try:
        if k == 1: continue
        if a[k] > 3: break
        a[k] = 1
    finally: a[k] += 10
return a
---
try:
    try: raise ValueError('p')
    except ValueError as e: raise KeyError('q') from e
except KeyError as e: return repr(e.__cause__), a
---
try:
    try: raise ValueError('p')
    finally: a[0] = 3
except ValueError: a[1] = 4
return a
---
try: raise ValueError('p')
except ValueError:
    a[0] = 1
    raise
---
try: a[10] = 1
except IndexError: a[0] = 9
return a
---
try: a[:3] + a[:2]
except ValueError as e: return 'shape' in str(e) or str(e)
---
try: {}['k']
except LookupError as e: r = repr(e)
return r
---
try: a.foo
except AttributeError: return 1
---
try: np.linalg.inv(m)
except np.linalg.LinAlgError: return 1
---
try: undefined_name
except NameError as e: return str(e)
---
try: int('p')
except ValueError as e: return str(e)
---
try: p, q = a
except ValueError as e: return str(e)
---
p, q = a
return p
---
try: next(iter([]))
except StopIteration: return a * 2
---
if x < 0: raise ValueError(f"bad {x}")
assert x > 0, 'neg'
return a
---
if x > 0: raise ValueError(f"bad {x}")
return a
---
assert x < 0, f'neg {x}'
---
assert a.sum() < 0
---
def g(q):
    if q.sum() > 3: raise ValueError('sum')
    return q
return g(a)
---
k = 0
while k < n:
    k += 1
else: a[0] = 9
return a, k
---
k = 0
while k < n:
    if a[k] > 1: break
    k += 1
else: a[0] = 9
return a, k
---
for k in range(n):
    if a[k] > 100: break
else: a[0] = 9
return a
---
for e in a:
    if e > x: break
else: e = -1.0
return e
---
v = Vec(a)
w = v + x
u = 1 + v * 2
return w.d, u.d, v[1], len(v), [e for e in v], bool(v), v(x), (-v).d, abs(v), v @ v
---
v = Vec(a)
v[0] = x
v += 1
v[1:3] = 0
return v.d, a
---
v = Vec(a)
for k in range(n): v[k] = v[k] + k
return v.d
---
v = Vec(a)
if 1.25 in v: a[0] = 100
return v.d
---
c = Child(x, n)
return c.step(a), c.twice, c.k, Child.k, isinstance(c, Base), super(Child, c).step(a)
---
c = Child(x, 1)
c.twice = n
return c.v, c.w
---
c = Child(x, n)
for k in range(n): c.v = c.step(c.v)
return c.v
---
c = Child(x, 1.0)
if x > 2: c.v = c.v * 2
else: c.w = 3.0
return c.v, c.w
---
b = Box(a).grow(x).grow(n)
return b.t, b.double, Box.of(a).t, Box.add(a, x), b.w, Box(a) == Box(a, 0.0)
---
b = Box(a)
for k in range(n):
    b.grow(k)
    b.w.append(b.t)
return b.t, b.w
---
p = Point(x, n)
q = p.moved(a)
return p.norm(), q.x, q.y, dataclasses.astuple(Point(1, 2)), dataclasses.asdict(p), p == Point(x, n)
---
p = Point(x)
p.x = 3
---
p = Point(x)
for k in range(n): p = p.moved(k)
return p
---
p = Point(x, 2.0)
if x > 2: p = Point(p.y, p.x)
return p
---
s = Slot(x)
s.p = a
return s.p, s.q
---
s = Slot(x)
while s.q < 20: s.q *= 2
return s.q
---
p = Pair(a, x)
q = p._replace(p=n)
return p, q, p.q, p[0], p._asdict(), Pair._fields, Pair(*[1, 2])
---
t = Typed(a)
for k in range(n): t = t._replace(q=t.total().sum())
return t
---
return (
    Color.RED.value * a, Level.HIGH * a, a[Level.LOW], Color.RED is Color.RED, Color(1).name,
    [e.value for e in Color]
)
---
l = Level.HIGH
while l > 0: l = l - 1
return l
---
return x > Level.LOW, n == Level.HIGH
---
return fact(4) * x, fact(5)
---
def walk(t): return sum(walk(e) for e in t) if isinstance(t, list) else t
return walk([a, [x, [n, 1]]])
---
def power(b, e):
    if e == 0: return b * 0 + 1
    h = power(b, e // 2)
    return h * h * b if e % 2 else h * h
return power(a, 5)
---
fs = {}
for name, op in (('p', np.add), ('q', np.multiply)): fs[name] = lambda u, v: op(u, v)
return fs['p'](a, x), fs['q'](a, x)
---
return (lambda *p, **q: sum(p) + q['z'])(a, x, z=n)
---
d = {'s': 0.0}
for k in range(n): d['s'] += a[k]
return d
---
d = collections.defaultdict(float)
for k in (0, 1, 0): d[k] += a[k]
return dict(d)
---
d = collections.OrderedDict(p=a, q=x)
d.move_to_end('p')
return list(d), d['p']
---
cnt = collections.Counter(['p', 'q', 'p'])
return cnt['p'] * a
---
dq = collections.deque(a, maxlen=3)
dq.append(x)
return list(dq), dq[0]
---
dq = collections.deque([0.0, 0.0])
for k in range(n):
    dq.append(a[k])
    dq.popleft()
return list(dq)
---
ch = collections.ChainMap({'p': a}, {'p': x, 'q': n})
return ch['p'], ch['q']
---
s = {1, 2}
s.add(3)
return s | {n} if False else s, len(s) * x, 2 in s
---
return x in {1.0, 2.5}, x in [1.0, 2.5], n in (1, 3), 2 in i, x not in a, n in range(5), 2.25 in a, 'p' in {'p': a}
---
if n in (1, 3): a[0] = 1
if x in [1, 2]: a[1] = 1
---
d = {1: a, 3: a * 2}
return d[n]
---
l = [a[0], a[1], a[2], a[3]]
return l[n], l[-1], l[1:3], l[place]
---
l = []
while len(l) < n: l.append(x)
return l
---
l = [a[2], a[0], a[1]]
l.sort()
return l, l.index(a[0]), l.count(a[1])
---
l = [3, 1, 2]
l.sort(reverse=True)
l.reverse()
l.extend(range(2))
return l, l.pop(), l.copy(), l + [x], l * 2
---
l = []
l += [a, x]
l.extend(i)
return l
---
t = 0, *a[:2]
t += (x,)
return t, t.index(0), t.count(0)
---
s = ''
for k in range(3): s += str(a[k]) + ' '
return s
---
return 'a{}b{:.1f}'.format(n, x), 'p' + str(n) + 'q', 'x=' + repr(x)
---
return np.arange(10)[n:], (1, 2, 3, 4)[n]
---
return ('no', 'yes')[x > 2]
---
return [a, m][n > 2]
---
return bool(x), int(x), float(n), complex(x), bool(n), str(bool(n > 2)), int(True)
---
return hex(n), bin(n), oct(n), chr(65 + n), ord('a') + n
---
return hash(n) == hash(n), float('inf'), float('1.5') * a, int('3') + n
---
return a.tolist(), x.item(), a.item(0), x.is_integer(), n.bit_count() if hasattr(n, 'bit_count') else 0
---
return vars(Box(1, 2)), dir(Level)[0], issubclass(Child, Base)
---
exec('y = 1')
return a
---
return eval('a * 2')
---
y = locals()['a']
return y
---
return sum(k * e for k, e in enumerate(a)), sum(p * q for p, q in zip(a, i)), sum(r @ r for r in m)
---
return sum(1 for e in a if e > 2), sum(e > 2 for e in a), sum([e > 2 for e in a]), len([e for e in a if e > 2])
---
return [e for e in a if e > 2][0], [e for e in a if e > 2][-1]
---
return np.array([[p * q for p in a] for q in i])
---
return np.stack([r * 2 for r in m]), np.concatenate([r for r in m]), np.vstack([e for e in m])
---
return [x if e > 2 else e for e in a], [-e if k % 2 else e for k, e in enumerate(a)]
---
return {k: v for k, v in zip('ab', a)}, {str(k): e for k, e in enumerate(a)}
---
return all(p < q for p, q in zip(a, a[1:])), any(p > q for p, q in zip(a, a[1:]))
---
return max(enumerate(a), key=lambda t: t[1]), min(range(6), key=lambda k: abs(a[k] - x))
---
return max(a, key=lambda e: -e), max(m, key=lambda r: r.sum()), max([a, m[0]], key=len)
---
return max(zip(a, i)), max((e, k) for k, e in enumerate(a))
---
return sorted([(e, k) for k, e in enumerate(a)])
---
return np.array(sorted(a)), np.sum(sorted(i)[:2])
---
g = (e * 2 for e in a)
return next(g), next(g), sum(g)
---
g = (e * 2 for e in a)
a[0] = 100
return list(g)
---
def gen(q):
    for e in q:
        yield e * 2
return list(gen(a)), sum(gen(i)), [r for r in gen(m)]
---
def gen(k):
    j = 0
    while j < k:
        yield j * x
        j += 1
return list(gen(3))
---
def gen():
    y = yield 1
    yield y * x
g = gen()
next(g)
return g.send(a)
---
def gen(): yield from a
return list(gen())
---
x, y = n, x
x, y = y, x
return x, y
---
a[0], a[1] = a[1], a[0]
m[0], m[1] = m[1], m[0]
return a, m
---
p = q = a
p += 1
return q
---
p: float = x
q: int
return p
---
a[:2], y = (5, 6), 3
return a, y
---
(p, q), *r = [[1, a], x, n]
return p, q, r
---
for p, *q in m: a[0] += p * len(q)
return a
---
for (p, q), r in zip([(1, 2), (3, 4)], a): a[p] = q * r
return a
---
for k in range(3): pass
return k
---
for k in range(n): pass
else: k = -1
return k
---
for k in []: pass
return k
---
for k in range(n): y = k
return y
---
if x > 2: y = 1
return y
---
if x < 2: y = 1
return y
---
return np.array([x, n]), np.array([[x, 1], [n, 2]]), np.asarray([a, a])
---
return None
---
return a, None, 'text', 1, (x, [n, {'k': m}])
---
return ()
---
pass
return
---
y = x
y **= 2; y //= 2; y %= 3; y -= 1; y /= 2
k = n
k <<= 1; k |= 1; k &= 7; k ^= 2; k >>= 1
return y, k
---
return ~n, n << 2, n >> 1, n & 1, n | 4, n ^ 1, ~flags, flags & True, -flags.sum()
---
return x == 2.5, x != n, a == a, x is x, n is None, x is not None, a is None
---
return n == 3 and a is not None, not (x is None)
---
return n // 2, n % 2, n / 2, n ** 2, n ** -1.0, -n // 2, 7 // (n + 1)
---
return n ** -1
---
return i[n], a[n, ...], m[n - 3], m[n - 3, 1], m[[0, n - 2]], a[[True, False] * 3]
---
return a[1.0]
---
return a[7]
---
return a['p']
---
return m[0, 0, 0]
---
q = a[:1]
for k in range(n): q = np.append(q, k)
return q
---
q = np.zeros(0)
for k in range(n): q = np.append(q, a[k])
return q
---
q = np.array([])
while len(q) < n: q = np.append(q, x)
return q, q.shape, len(q)
---
q = a
while q.size > n: q = q[1:]
return q
---
q = a
while len(q) > 0: q = q[q > q.min()]
return q, q.size
---
q = np.empty((0, 2))
for k in range(n): q = np.vstack([q, [k, x]])
return q
---
q = np.empty((0, 4))
for k in range(n): q = np.concatenate([q, m[k:k+1]], axis=0)
return q
---
q = np.zeros(2)
for k in range(n): q = np.zeros(k + 1) + q.sum() + 1
return q
---
q = np.array([1.0])
for k in range(n): q = np.convolve(q, [1, 1])
return q
---
q = m
while q.shape[0] > 1: q = q[::2] + 0
return q
---
q = np.arange(8.0)
while q.shape[0] > 1: q = q[::2] + q[1::2]
return q
---
q = np.arange(n * 2 + 2.0)
while q.size > 1: q = q[::2] + q[1::2] if q.size % 2 == 0 else q[1:]
return q
---
q = np.unique(i)
for k in range(n): q = np.union1d(q, i + k)
return q
---
q = a.copy()
for k in range(n):
    q[0] += 1
    q = np.append(q, q[-1])
return q, a
---
if x > 2: q = a[:2]
else: q = a
return q * 1, q.shape, len(q)
---
if x > 2: q = m
else: q = m.T
return q + 0
---
q = m
for k in range(n): q = q.reshape(-1, 2) if k % 2 else q.reshape(2, -1)
return q + 0
---
q = np.ones((1, 1))
for k in range(n): q = np.block([[q, q], [q, -q]])
return q
---
q = np.eye(1)
for k in range(n): q = np.kron(q, [[1, 2], [3, 4]])
return q
---
row = np.array([1])
for k in range(n): row = np.append(0, row) + np.append(row, 0)
return row
---
q = np.sort(a)[::-1]
out = np.zeros(0)
while q.size > 0:
    out = np.append(out, q[0])
    q = q[np.abs(q - q[0]) > 1.5]
return out
---
q = np.zeros((n, 0))
for k in range(n): q = np.column_stack([q, np.full(n, k)])
return q
---
q = a
k = 0
while True:
    q = np.append(q, k)
    k += 1
    if q.size > 6 + n: break
return q, k
---
q = a.astype(np.float32)
for k in range(n): q = np.append(q, np.float32(1))
return q
---
q = np.zeros(3)
for k in range(5): q = np.append(q, k)
return q
---
return dataclasses.make_dataclass('D', ['p'])(a)
---
raise ValueError(a)
---
raise ValueError(x, 'text', n)
---
e = KeyError(n)
return e.args
---
r = range(n)
return len(r), r.start, r.stop, r.step, 2 in r, list(r), r[0] if len(r) else -1
---
return (
    a.shape, a.T.shape, m.shape[::-1], a.strides, m.ndim, m.size, m.dtype, m.itemsize, m.nbytes,
    a.shape + m.shape, a.shape == (6,), a.shape[0] * x
)
---
return (
    type(a.shape), isinstance(a.shape, tuple), m.shape[:1], (*m.shape, 3), {a.shape: 1}, str(a.shape),
    np.zeros(a.shape), len(m.shape)
)
---
b = a
return b.shape
---
sh = m.shape
return (
    sh, sh + (1,), (2,) + sh, sh * 2, sh.index(4), sh.count(3), list(sh), hash(sh) == hash((3, 4)),
    sh < (4, 5), sh[-1:]
)
---
g = getattr
return g(a, 'size'), g(m, 'shape')
---
return [getattr(m, name) for name in ('ndim', 'size', 'shape', 'dtype')]
---
return (
    list(map(np.shape, [a, m])), list(map(operator.attrgetter('shape'), [a, m])), list(map(len, [a, m])),
    [q.shape for q in (a, m)]
)
---
return np.shape(a), np.size(m), np.ndim(a)
---
return (
    sum(map(len, [a, m])), max(map(np.sum, [a, m])), list(map(float, a)), list(map(int, i)), list(map(str, i)),
    list(map(abs, -a)), list(map(np.sin, a)), list(map(bool, flags)), list(map(type, [a, x]))
)
---
return (
    list(map(operator.add, a, i)), list(map(max, zip(a, i))), list(map(list, m)), list(map(tuple, m[:, :2])),
    list(map(sum, m)), list(map(pow, a, i))
)
---
return (
    tuple(map(lambda r: r.max(), m)), [*map(lambda e: e + n, i)], dict(zip('ab', a)), dict(zip(range(3), m)),
    dict(enumerate(a))
)
---
return (
    [f(2.0) for f in (np.sqrt, lambda q: q * x, functools.partial(pow, 2))],
    [g(a) for g in (np.sum, np.max, len)]
)
---
return list(zip(*m)), list(zip(*[a, i])), [list(r) for r in zip(*m)], [sum(r) for r in zip(*m)]
---
return {k: v * 2 for k, v in {'p': a, 'q': x}.items()}, [k for k in {'p': a}], list({'p': a}.values())
---
return [e for e in (a, x, n, None) if e is not None], [k for k in range(10) if k % 3 == 0]
---
return (
    [[p * q for q in range(2)] for p in a], [(p, q) for p in range(2) for q in range(p)],
    [m[p, q] for p in range(3) for q in range(4) if p != q]
)
---
return [e for e in a if e > 1 if e < 4], [k for k, e in enumerate(a) if e > x], [e if e > x else 0.0 for e in a]
---
l = [k for k, e in enumerate(a) if e > x]
return len(l), l, m[0, l[0]]
---
return np.array([k for k, e in enumerate(a) if e > x]), a[[k for k, e in enumerate(a) if e > x]]
---
return np.mean([e for e in a if e > 1]), np.max([r.max() for r in m]), np.prod([e for e in i if e])
---
return (
    ' '.join([f'{e:.1f}' for e in a]), '|'.join(map(str, i)),
    '\\n'.join(' '.join(f'{e:4.1f}' for e in r) for r in m)
)
---
return [[k * j for j in range(n)] for k in range(n)]
---
return [(k, a[k]) for k in range(n) if a[k] > 1]
---
return (
    max(a[k] for k in range(n + 1)), min([k for k in range(n + 1)]), np.array([a[k] for k in range(n)]),
    sorted(-a[k] for k in range(n))
)
---
return [p * q for p, q in zip(a[:n], m[0])], [k + e for k, e in enumerate(a[:n])]
---
return [e for e in a if e > x], [e * 2 for e in a[a > x]], [e for e in a[a > x] if e < 5]
---
y = 5
return [y * k for k in range(n)], [(lambda: k)() for k in range(n)]
---
r = []
for j in range(2): r.append([j * k for k in range(n)])
return r
---
for j in range(n): a[j] = sum([a[k] for k in range(j)])
return a
---
items = a
return [items[k] * e for k, e in enumerate(items)]
---
return [f"{k}" for k in range(n)]
---
return sum(range(n)), max(range(n + 1)), list(reversed([k for k in range(n)])), len([k for k in range(n)])
---
return np.fromiter((e for e in a), float, 20)
---
l = [1, 2]
return l.index(n) if n else 0, l.count(x)
---
return (
    max(enumerate(a), key=lambda t: t[1]), min(range(6), key=lambda k: abs(a[k] - x)), max(zip(a, i)),
    max((e, k) for k, e in enumerate(a))
)
---
return (
    sorted(a, key=abs), sorted(a, key=np.sin), sorted(m, key=np.sum),
    sorted(m, key=lambda r: (r[0] > 3, -r[1])), sorted(zip(a, i), key=operator.itemgetter(1), reverse=True),
    sorted(flags, reverse=True), sorted(enumerate(flags), key=lambda t: t[1]),
    sorted(enumerate(flags), key=lambda t: t[1], reverse=True)
)
---
def g(e):
    a[:] = 7
    return e
return [g(e) for e in a]
---
def g(e):
    a[:] = 7
    return e
return [g(e) for e in m[0]], list(map(g, a)), [p + g(q) for p, q in zip(a, i)]
---
z = zip(a, i)
a[1] = 50
return list(z)
---
it = iter(a)
a[1] = 50
return next(it), next(it)
---
e = enumerate(a)
a[1] = 50
return [v for _, v in e]
---
r = reversed(a)
a[5] = 50
return next(r) if False else [v for v in r]
---
p, *q = a
a[:] = 0
return p, q
---
r = []
for j in range(n):
    s = []
    for k in range(n): s.append(j * k)
    r.append(s)
return r
---
l = [1, 2]
return l.index(2), l.count(x)
---
y = sum(a[a > 100])
return y, y * 2, a * y
---
r = []
for k in itertools.count():
    if k >= n: break
    r.append(a[k])
return r
---
r = 0
for k in itertools.count(2, 3):
    if a.sum() + k > 25: break
    r += k
return r
---
r = 0
for k in itertools.count(5, -1):
    r += k
    if a[k] < n: break
    if k == 4: continue
    a[k] = r
return r, k
---
for k in itertools.repeat(1, 4):
    x += k
    if x > 4: break
return x
---
y = 5
return y and sorted(locals()), 'y' in locals() if y > 2 else False, 1 < y < len(locals()) < 100
---
y = 5
return max(1, eval('y')) if y < 10 else dir(), f"{y} {len(str(y))} {eval('y')}", dir(), vars(Box(x))['u']
---
y = 5
return [dir() for k in range(1)], [eval('k') for k in range(2) if eval('k')], list(eval('k') for k in range(2))
---
for k in range(n): x += len(dir(Box)) * 0 + vars(Box(k))['u'] + eval('q', {'q': 2})
return x
---
s = 'k' + str(n)
return s == 'k3', s != 'k3', s < 'z', s == 1, s is None, s in ('k3', 'q'), 'k' in s, s in 'ak3', [s].count('k3')
---
s = f"{x:.1f} {n}"
return len(s), s[0], s[-1], s[1:], s[::-1], s[n - 2 :], s * 2, 2 * s, s + '!', '!' + s, s + s, bool(s), not s, s and 'q'
---
s = str(n) + 'aB '
return s.upper(), s.strip(), s.replace('a', 'b'), s.startswith('3'), s.find('B'), s.index('B'), s.count('a'), s.zfill(9)
---
s = str(n)
return int(s), float(s), 'q3'.replace(s, 'k'), ','.join([s, 'k']), s.join(['a', s]), hasattr(s, 'shape'), type(s)
---
return '%d %5.2f %s %r' % (n, x, a[0], x), '%s' % n, '%(k)s' % {'k': x}, '%s|%s' % (a[:2], [n]), f'{n}%s' % n
---
if x > 2: raise ValueError('bad %d' % n)
---
if str(n) == '3': return 'three'
return 'other one'
---
mode = 'up'
for k in range(n):
    if mode == 'up' and a[k] > 1: mode = 'down'
    elif mode == 'down': mode = 'flat'
return mode
---
op = 'add'
for k in range(n):
    match op:
        case 'add': x = x + 1; op = 'mul'
        case 'mul': x = x * 2; op = 'add'
        case _: x = 0
return x, op
---
s = ''
while len(s) < 10: s += str(n)
for k in range(n): s = f"{s},{a[k]:.1f}"
return s
---
b, d, t = Box('start'), {'m': 'a'}, ('a', 1)
for k in range(n):
    b.u, d['m'], t = f"k{k}", 'b' if a[k] > 1 else 'ccc', (t[0] + 'b', t[1] + 1)
return b.u, b, d, t
---
s = 'yes' if x > 2 else None
for k in range(n): print('even' if k % 2 == 0 else 'odd', k)
return s, [('large' if e > 3 else 'mid' if e > 1 else 'small') for e in a]
---
l, e, q = [], [], []
for k in range(n):
    l.append((k, a[k]))
    e.append(str(k * 50))
    q.append(m[k])
return str(l), f"{e} {q}", '%s' % l, repr(q), ','.join(e), ';'.join(str(k) for k in range(n)), e
---
return ','.join([str(e) for e in a if e > 2]), ' '.join(f"{e}" for e in a if e > 2)
---
s = '12' if x > 2 else 'q'
return -s
---
s = '12' if x > 2 else 'q'
return s + 1
---
s = '12' if x > 2 else 'q'
return s.sum()
---
s = '12' if x > 2 else 'q'
return s.dtype, s.shape
---
s = '12' if x > 2 else 'q'
return s[5]
""".strip().split("\n---\n")
