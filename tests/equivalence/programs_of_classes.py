"""Classes as people write them, and what they leave: optimisers, buffers, caches, logs, schedulers, linked objects.

One file: one table, of classes that are all played in the same way.
"""

#: name -> what stands above ``f(x)``, its body, and what tells the state
CLASSES = {}


def program(name, top, body, state="o"):
    CLASSES[name] = name, body.strip(), f"{top.strip()}\no = C()\nsh = np.shares_memory\n", state


program(
    "adam",
    """
class C:
    def __init__(self):
        self.p = {'w': np.ones((2,3)), 'b': np.zeros(3)}
        self.m = {k: np.zeros_like(v) for k, v in self.p.items()}
        self.v = {k: np.zeros_like(v) for k, v in self.p.items()}
        self.t = 0
    def step(self, g, lr=0.1, b1=0.9, b2=0.99):
        self.t += 1
        for k in self.p:
            self.m[k] = b1*self.m[k] + (1-b1)*g
            self.v[k] = b2*self.v[k] + (1-b2)*g**2
            mh = self.m[k]/(1-b1**self.t); vh = self.v[k]/(1-b2**self.t)
            self.p[k] -= lr*mh/(np.sqrt(vh)+1e-8)
        return self.p['b']
""",
    """
return o.step(x) * 1
""",
)
program(
    "welford",
    """
class C:
    def __init__(self): self.n, self.mean, self.m2 = 0, 0.0, 0.0
    def push(self, v):
        self.n += 1
        d = v - self.mean
        self.mean += d / self.n
        self.m2 += d * (v - self.mean)
    @property
    def var(self): return self.m2 / (self.n - 1) if self.n > 1 else 0.0
""",
    """
for v in x: o.push(v)
return o.var
""",
)
program(
    "ring",
    """
class C:
    def __init__(self, k=4): self.buf, self.i, self.full = np.zeros((k, 3)), 0, False
    def push(self, v):
        self.buf[self.i] = v
        self.i = (self.i + 1) % len(self.buf)
        if self.i == 0: self.full = True
    def mean(self): return self.buf.mean(axis=0) if self.full else self.buf[:self.i].mean(axis=0)
""",
    """
o.push(x)
return o.mean()
""",
)
program(
    "shape_cache",
    """
class C:
    def __init__(self): self.cache, self.hits = {}, 0
    def work(self, x):
        key = (x.shape, x.dtype.str)
        if key in self.cache: self.hits += 1
        else: self.cache[key] = np.empty(x.shape)
        out = self.cache[key]
        np.multiply(x, 2, out=out)
        return out.sum()
""",
    """
return o.work(x) + o.work(x[:2])
""",
)
program(
    "scheduler",
    """
class C:
    def __init__(self): self.step_, self.lr, self.best, self.bad = 0, 1.0, None, 0
    def step(self, loss):
        self.step_ += 1
        if self.best is None or loss < self.best: self.best, self.bad = loss, 0
        else:
            self.bad += 1
            if self.bad >= 2: self.lr *= 0.5; self.bad = 0
        return self.lr
""",
    """
return o.step(x.sum())
""",
)
program(
    "scheduler_down",
    """
class C:
    def __init__(self): self.best, self.bad, self.lr = np.inf, 0, 1.0
    def step(self, loss):
        if loss < self.best: self.best, self.bad = loss, 0
        else: self.bad += 1
        if self.bad > 1: self.lr /= 2
        return self.lr
""",
    """
return o.step(float(x.sum()))
""",
)
program(
    "event_log2",
    """
class C:
    def __init__(self): self.events = []
    def emit(self, kind, v): self.events.append((kind, v))
""",
    """
o.emit('a', x.sum())
o.emit('b', x * 2)
return x
""",
)
program(
    "linked",
    """
class N:
    def __init__(self, v, next=None): self.v, self.next = v, next
class C:
    def __init__(self): self.head, self.n = None, 0
    def push(self, v): self.head = N(v, self.head); self.n += 1
    def total(self):
        t, c = 0.0, self.head
        while c is not None: t = t + c.v; c = c.next
        return t
""",
    """
o.push(x.sum())
return o.total()
""",
)
program(
    "doubly",
    """
class N:
    def __init__(self, v): self.v, self.prev, self.next = v, None, None
class C:
    def __init__(self):
        a, b = N(np.ones(3)), N(np.zeros(3)); a.next, b.prev = b, a
        self.a, self.b = a, b
""",
    """
o.a.v += x
o.a.next.v = o.b.prev.v * 2
o.a, o.b = o.b, o.a
return o.a.v * 1
""",
    state="(o.a.v, o.b.v, o.a.prev is o.b)",
)
program(
    "dc",
    """
import dataclasses
@dataclasses.dataclass
class C:
    pos: object = dataclasses.field(default_factory=lambda: np.zeros(3))
    vel: object = dataclasses.field(default_factory=lambda: np.ones(3))
    t: float = 0.0
    hist: list = dataclasses.field(default_factory=list)
    def step(self, a, dt=0.1):
        self.vel = self.vel + a*dt
        self.pos += self.vel*dt
        self.t += dt
        self.hist.append(self.pos.copy())
""",
    """
o.step(x)
return o.pos * o.t
""",
)
program(
    "dc_frozen",
    """
import dataclasses
@dataclasses.dataclass(frozen=True)
class S:
    a: object
    n: int
class C: s = S(np.zeros(3), 0)
""",
    """
o.s = dataclasses.replace(o.s, a=o.s.a + x, n=o.s.n + 1)
return o.s.a * o.s.n
""",
)
program(
    "prop_setter",
    """
class C:
    def __init__(self): self._w, self.sets = np.ones(3), 0
    @property
    def w(self): return self._w
    @w.setter
    def w(self, v):
        self.sets += 1
        self._w = np.clip(v, -5, 5)
""",
    """
o.w = o.w + x
o.w += 1
return o.w * 1
""",
)
program(
    "slots",
    """
class C:
    __slots__ = ('a', 'n', '_c')
    def __init__(self): self.a, self.n = np.ones(3), 0
    @property
    def c(self):
        if not hasattr(self, '_c'): self._c = self.a.sum()
        return self._c
""",
    """
o.n += 1
o.a *= 2
return o.c + x
""",
    state="(o.a, o.n, o._c)",
)
program(
    "registry",
    """
class C:
    registry = {}
    count = 0
    def __init_subclass__(cls): C.registry[cls.__name__] = cls
    def __init__(self): type(self).count += 1; self.id = C.count
class A(C):
    def f(self, x): return x * 2
class B(C):
    def f(self, x): return x + self.id
""",
    """
a = C.registry['A'](); b = C.registry['B']()
return a.f(x) + b.f(x)
""",
    state="(A.count, B.count, C.count)",
)
program(
    "ctx",
    """
class C:
    def __init__(self): self.depth, self.total, self.log = 0, 0.0, []
    def __enter__(self): self.depth += 1; return self
    def __exit__(self, *e): self.depth -= 1; self.log.append(self.total); return False
    def add(self, v): self.total += v
""",
    """
with o as c:
    c.add(x.sum())
    with o: c.add(1.0)
return o.total
""",
)
program(
    "attributes_of_names_with_effects",
    """
class C:
    def __init__(self): self.open, self.n = True, 0
    def __enter__(self): self.n += 1; self.open = self.print(self.open); return self
    def __exit__(self, *e): self.open = False
    def print(self, what): return not what
""",
    """
with o as c: return x*c.n if c.open else x
""",
)
program(
    "ctx_gen",
    """
@contextlib.contextmanager
def acc(o):
    old = o.s; o.s = 0.0
    try: yield o
    finally: o.hist.append(o.s); o.s = old
class C:
    def __init__(self): self.s, self.hist = 5.0, []
""",
    """
with acc(o): o.s += x.sum()
return o.s
""",
)
program(
    "callbacks",
    """
class C:
    def __init__(self):
        self.cbs, self.seen = [], []
        self.m = 0.0; self.cbs += [self.seen.append, lambda v: self.note(v)]
    def note(self, v): self.m = max(self.m, v)
    def fire(self, v):
        for c in self.cbs: c(v)
""",
    """
o.fire(float(x.sum()))
return x
""",
    state="(o.seen, o.m)",
)
program(
    "observer",
    """
class Obs:
    def __init__(self): self.v = []
    def update(self, s): self.v.append(s.val * 1)
class C:
    def __init__(self): self.obs, self.val = [Obs(), Obs()], np.zeros(3)
    def set(self, v):
        self.val = v
        for b in self.obs: b.update(self)
""",
    """
o.set(x * 2)
return x
""",
)
program(
    "ema",
    """
class C:
    def __init__(self): self.shadow = None; self.decay = 0.9
    def update(self, p):
        self.shadow = p.copy() if self.shadow is None else self.decay*self.shadow + (1-self.decay)*p
        return self.shadow
""",
    """
return o.update(x)
""",
)
program(
    "kalman",
    """
class C:
    def __init__(self): self.x, self.P, self.Q, self.R = np.zeros(2), np.eye(2), 0.1*np.eye(2), np.array([[1.]])
    def step(self, z):
        F = np.array([[1., 1.],[0., 1.]]); H = np.array([[1., 0.]])
        self.x = F @ self.x; self.P = F @ self.P @ F.T + self.Q
        S = H @ self.P @ H.T + self.R; K = self.P @ H.T @ np.linalg.inv(S)
        self.x = self.x + (K @ (z - H @ self.x)); self.P = (np.eye(2) - K @ H) @ self.P
""",
    """
o.step(x[:1])
return o.x
""",
)
program(
    "pid",
    """
class C:
    def __init__(self): self.i, self.last = 0.0, None
    def __call__(self, e):
        self.i = min(max(self.i + e, -3), 3)
        d = 0.0 if self.last is None else e - self.last
        self.last = e
        return e + 0.1*self.i + 0.01*d
""",
    """
return o(x[0])
""",
)
program(
    "lazy",
    """
class C:
    def __init__(self): self.a = np.arange(3.); self.n = 0
    @functools.cached_property
    def norm(self): self.n += 1; return np.sqrt((self.a**2).sum())
""",
    """
return x / o.norm
""",
)
program(
    "getattr",
    """
class C:
    def __init__(self): self.d = {'w': np.ones(3)}
    def __getattr__(self, n):
        if n.startswith('_') or n == 'd': raise AttributeError(n)
        try: return self.d[n]
        except KeyError: raise AttributeError(n)
    def put(self, n, v): self.d[n] = v
""",
    """
o.put('w', o.w + x)
return o.w * 1
""",
    state="o.d",
)
program(
    "getattr_and_setattr_counted",
    """
class C:
    def __init__(self): self.d = {'p': 1.0}; self.asked = 0
    def __getattr__(self, n):
        if n.startswith('__'): raise AttributeError(n)
        self.asked += 1
        return self.d[n]
    def __setattr__(self, n, v):
        if n in ('d', 'asked'): object.__setattr__(self, n, v)
        else: self.d[n] = v
""",
    """
o.p = o.p + x[0]
o.q = x * o.p
if x[0] > 2: o.p = 0.0
return o.q, o.p
""",
    state="o.d, o.asked",
)
program(
    "setattr",
    """
class C:
    def __init__(self): self.__dict__['log'] = []; self.a = 1
    def __setattr__(self, n, v):
        self.log.append(n)
        object.__setattr__(self, n, v)
""",
    """
o.a = x.sum()
o.b = x
return o.a
""",
)
program(
    "item",
    """
class C:
    def __init__(self): self.s = {}
    def __getitem__(self, k): return self.s.get(k, 0.0)
    def __setitem__(self, k, v): self.s[k] = v
    def __contains__(self, k): return k in self.s
    def __len__(self): return len(self.s)
""",
    """
o['a'] += x.sum()
if 'b' not in o: o['b'] = x
return o['a'] * len(o)
""",
)
program(
    "stack",
    """
class C:
    def __init__(self): self.s = [np.zeros(3)]
    def push(self, v): self.s.append(v)
    def pop(self): return self.s.pop()
""",
    """
o.push(x * 2)
a = o.pop()
b = o.s[-1]
o.push(a + b)
if len(o.s) > 2: o.pop()
return a
""",
)
program(
    "matrix_ops",
    """
class V:
    def __init__(self, a): self.a = a
    def __add__(self, o): return V(self.a + o.a)
    def __iadd__(self, o): self.a = self.a + o.a; return self
    def __mul__(self, k): return V(self.a * k)
class C:
    def __init__(self): self.v = V(np.zeros(3))
""",
    """
o.v += V(x) * 2
w = o.v + V(x)
o.w = w
return w.a
""",
)
program(
    "counterdict",
    """
class C:
    def __init__(self): self.c = collections.Counter(); self.dd = collections.defaultdict(list)
""",
    """
o.c['calls'] += 1
o.dd['x'].append(x.sum())
return x * o.c['calls']
""",
)
program(
    "enum_state",
    """
import enum
class S(enum.Enum): A = 1; B = 2
class C:
    def __init__(self): self.s = S.A
    def flip(self): self.s = S.B if self.s is S.A else S.A
""",
    """
o.flip()
return x if o.s is S.A else -x
""",
)
program(
    "bools",
    """
class C:
    def __init__(self): self.done, self.n = False, 0
""",
    """
if not o.done:
    o.n += 1
    if x.sum() > 5: o.done = True
return x
""",
)
program(
    "fsm",
    """
class C:
    def __init__(self): self.state, self.t = 'idle', 0
    def on(self, v):
        h = getattr(self, 'do_' + self.state)
        self.state = h(v)
    def do_idle(self, v): return 'run'
    def do_run(self, v): self.t += 1; return 'stop' if self.t > 1 else 'run'
    def do_stop(self, v): return 'idle'
""",
    """
o.on(x)
return x * len(o.state)
""",
)
program(
    "ppo_buffer",
    """
class C:
    def __init__(self): self.obs, self.rew, self.ptr = np.zeros((5, 3)), np.zeros(5), 0
    def store(self, o, r): self.obs[self.ptr], self.rew[self.ptr] = o, r; self.ptr += 1
    def get(self):
        out = self.obs[:self.ptr].copy(), self.rew[:self.ptr].copy(); self.ptr = 0
        return out
""",
    """
o.store(x, x.sum())
if o.ptr == 2: return o.get()[1].sum()
return 0.0
""",
)
program(
    "nested_cfg",
    """
class C:
    def __init__(self): self.cfg = {'a': {'lr': 0.1, 'k': [1, 2]}, 'n': 0}
""",
    """
o.cfg['n'] += 1
o.cfg['a']['lr'] *= 0.5
o.cfg['a']['k'][0] += 1
return x * o.cfg['a']['lr'] * o.cfg['a']['k'][0]
""",
)
program(
    "super",
    """
class B:
    def __init__(self): self.n, self.w = 0, np.ones(3)
    def step(self, x): self.n += 1; self.w = self.w + x; return self.w
class C(B):
    def step(self, x): r = super().step(x * 2); self.last = r; return r * 1
""",
    """
return o.step(x)
""",
)
program(
    "cm_static",
    """
class C:
    total = 0.0
    @classmethod
    def add(cls, v): cls.total += v; return cls
    @staticmethod
    def sq(v): return v * v
""",
    """
C.add(C.sq(x).sum())
return x * C.total
""",
    state="C.total",
)
program(
    "memo",
    """
class C:
    def __init__(self): self.m = {}
    def fib(self, n):
        if n < 2: return n
        if n not in self.m: self.m[n] = self.fib(n-1) + self.fib(n-2)
        return self.m[n]
""",
    """
return x * o.fib(10)
""",
    state="o.m",
)
program(
    "particles",
    """
class P:
    def __init__(self, k): self.p, self.v = np.full(3, float(k)), np.ones(3)
class C:
    def __init__(self): self.ps = [P(k) for k in range(3)]
    def step(self, dt):
        for p in self.ps:
            p.p += p.v * dt
            if (p.p > 3).any(): p.v = -p.v
        return sum(p.p.sum() for p in self.ps)
""",
    """
return o.step(x[0])
""",
)
program(
    "softmax_layer",
    """
class L:
    def __init__(self, n): self.w = np.eye(n) * 2; self.cache = None
    def fwd(self, x): self.cache = x; return np.tanh(self.w @ x)
    def bwd(self, g): self.dw = np.outer(g, self.cache); return self.w.T @ g
class C:
    def __init__(self): self.ls = [L(3), L(3)]
""",
    """
h = x
for l in o.ls: h = l.fwd(h)
g = np.ones(3)
for l in reversed(o.ls): g = l.bwd(g)
for l in o.ls: l.w -= 0.1 * l.dw
return h
""",
)
program(
    "weakdict",
    """
class C:
    def __init__(self): self.a = {}
""",
    """
o.a.setdefault('k', []).append(x.sum())
o.a.update(n=o.a.get('n', 0) + 1)
return x * o.a['n']
""",
)
program(
    "set",
    """
class C:
    def __init__(self): self.s, self.n = set(), 0
""",
    """
o.n += 1
o.s.add(o.n % 2)
o.s.discard(5)
return x * len(o.s)
""",
)
program(
    "deque",
    """
class C:
    def __init__(self): self.q = collections.deque([0.0], maxlen=3)
""",
    """
o.q.append(x.sum())
return x * o.q[-1] + o.q[0]
""",
)
program(
    "del",
    """
class C:
    def __init__(self): self.tmp = None
""",
    """
o.tmp2 = x * 2
y = o.tmp2 + 1
del o.tmp2
return y
""",
)
program(
    "tuple_state",
    """
class C:
    def __init__(self): self.s = (np.zeros(3), 0)
""",
    """
a, n = o.s
a = a + x
o.s = (a, n + 1)
return a * n
""",
)
program(
    "namedtuple",
    """
S = collections.namedtuple('S', 'a n')
class C:
    def __init__(self): self.s = S(np.zeros(3), 0)
""",
    """
o.s = o.s._replace(a=o.s.a + x, n=o.s.n + 1)
return o.s.a * o.s.n
""",
)
program(
    "swap_bufs",
    """
class C:
    def __init__(self): self.a, self.b = np.zeros(3), np.ones(3)
""",
    """
o.b[:] = o.a + x
o.a, o.b = o.b, o.a
return o.a * 1
""",
    state="(o.a, o.b)",
)
program(
    "counter_fn",
    """
class C: pass
def make():
    n = 0
    def inc(k=1):
        nonlocal n
        n += k
        return n
    return inc
inc = make()
""",
    """
return x * inc() + inc(2)
""",
    state="inc(0)",
)
program(
    "func_attr",
    """
class C: pass
def h(x):
    h.calls = getattr(h, 'calls', 0) + 1
    return x * h.calls
""",
    """
return h(x) + h(x)
""",
    state="h.calls",
)
program(
    "default_mut",
    """
class C: pass
def h(x, acc=[]):
    acc.append(x.sum())
    return len(acc)
""",
    """
return x * h(x)
""",
    state="h.__defaults__",
)
program(
    "hist",
    """
class C:
    def __init__(self): self.h = np.zeros(5, int)
""",
    """
for v in x: o.h[int(v)] += 1
return o.h.sum()
""",
)
program(
    "argmax_best",
    """
class C:
    def __init__(self): self.best, self.arg = -np.inf, None
""",
    """
s = x.sum()
if s > o.best: o.best, o.arg = s, x.copy()
return o.arg * 1
""",
)
program(
    "early_stop",
    """
class C:
    def __init__(self): self.w, self.it = np.zeros(3), 0
    def fit(self, x):
        while True:
            d = 0.5 * (x - self.w)
            self.w = self.w + d
            self.it += 1
            if np.abs(d).max() < 1e-3: break
        return self.it
""",
    """
return o.fit(x)
""",
)
program(
    "copy_self",
    """
import copy
class C:
    def __init__(self): self.a, self.hist = np.zeros(3), []
""",
    """
o.snap = copy.copy(o.a)
o.a += x
o.deep = copy.deepcopy(o.a)
return o.snap
""",
    state="(o.a, o.snap, o.deep, sh(o.a, o.deep))",
)
program(
    "views_attr",
    """
class C:
    def __init__(self):
        self.s = np.zeros(6)
        self.pos, self.vel = self.s[:3], self.s[3:]
""",
    """
o.vel += x
o.pos += o.vel * 0.1
return o.s * 1
""",
    state="(o.s, o.pos, o.vel, sh(o.s, o.pos))",
)
program(
    "param_groups",
    """
class C:
    def __init__(self): self.state, p = {}, [np.ones(3), np.zeros(2)]; self.groups = [dict(params=p, lr=0.1)]
""",
    """
for gi, g in enumerate(o.groups):
    for pi, p in enumerate(g['params']):
        st = o.state.setdefault((gi, pi), {'step': 0, 'm': np.zeros_like(p)})
        st['step'] += 1
        st['m'] = 0.9*st['m'] + x.sum()
        p -= g['lr'] * st['m']
return o.groups[0]['params'][0] * 1
""",
)
