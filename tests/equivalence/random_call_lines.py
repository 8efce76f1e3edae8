"""What random programs of calls find, and the lines that call and that use what a function is given by name."""

from __future__ import annotations

#: what programs may use beside a world; ``decorate`` is the decorator, or does nothing
CALLED = """
import functools, threading
def many(*qs, k=0, **named):
    for q in qs:
        if isinstance(q, np.ndarray) and q.dtype.kind == 'f' and q.ndim == 1 and len(q):
            q[0] += k
    for name, q in named.items():
        if isinstance(q, list):
            q.append(k)
    return len(qs) + len(named)
def only(q, /, v=1, *, at=0, out=None):
    if out is not None:
        out[at] = v + q[0]
    q[at] = v
    return q
def filed(v, acc=[], *, counts={'n': 0}):
    acc.append(v)
    counts['n'] += 1
    return len(acc) + counts['n']
def passing(g, *some, **named):
    return g(*some, **named)
def of_dict(**q):
    q['w'][0] += 1
    q['new'] = 1
    return len(q)
def told(v=0, *rest, w=2, **named):
    return [v, w, *rest], sorted(named)
def around(g):
    @functools.wraps(g)
    def inner(*some, **named):
        LOG.append((g.__name__, len(some), sorted(named)))
        return g(*some, **named)
    return inner
def doubled(g):
    @functools.wraps(g)
    def inner(v, *some, **named):
        named.setdefault('by', 2)
        return g(v * 2, *some, **named)
    return inner
@around
def poured(q, v, *, log=LOG):
    q[1] = v
    log.append(v)
    return q
@doubled
def raised(v, by, *, at=0):
    return v ** 2 * by + at
@decorate
def inner(q, v=1, *, log=LOG, **more):
    q[0] = v
    log.append(len(more))
    return v * 2
@decorate
def outer(g, *some, **named):
    LOG.append('outer')
    return g(*some, **named)
class Caller:
    made = 0
    def __init__(self, *some, scale=1, **named):
        self.some, self.named, self.scale, self.n = some, named, scale, 0
    def go(self, q, /, *rest, at=0, v=1, **named):
        q[at] = v * self.scale
        self.n += len(rest) + len(named)
        self.named.update(named)
        return self.n
    def __call__(self, *some, **named):
        self.n += 1
        return self.go(*some, **named)
    @around
    def noted(self, q, *, v=1):
        q[-1] += v
        return self
    @classmethod
    def counted(cls, *, by=1):
        cls.made += by
        return cls.made
    @staticmethod
    def plain(q, v=0.5, *more):
        q += v
        return len(more)
    @decorate
    def own(self, q, v=1, **named):
        self.n += 1
        q[0] = v
        return self.n + len(named)
    first = functools.partialmethod(go, at=1, v=3)
CA = Caller(1, scale=2, z=1)
FIRST = functools.partial(put, j=0)
TWICE = functools.partial(many, k=2)
GIVEN = {}
"""
NAMES = "    global CA\n"

LINES = (
    *"""\
many({a}, {u}, k={k})
{p} = many(*[{a}, {u}], k={k})
{p} = many(*(a, b), *[m], **dict(k={k}))
many({a}, l={q})
many({a}, **{{'l': {q}, 'k': {k}}})
many(k={k}, log=LOG)
many({a}, {a}[1:], k={k})
many(*{q}, k=1)
many(*m, k={k})
many(*(row for row in m), k={k})
only({a}, at=1, v={k})
only({a}, {k}, out={u})
only({a}, out={a}[1:])
only({a}[1:], **dict(out={a}, at=0))
{new} = only({a}, at=-1)
put(v={k}, q={a}, j=0)
put(*({a}, 0), v={k})
bump(v={u}[0], q={a})
bump(q={a}, v={a}[0])
bump(**{{'v': {k}, 'q': {a}[::2]}})
{p} = filed({k})
{p} = filed({k}, {q})
filed(v={k}, acc={q})
filed({k}, acc=LOG)
{p} = filed({k}, counts={{'n': 1}})
{p} = filed({k}, counts=D)
passing(put, {a}, 0, v={k})
{p} = passing(many, {a}, k={k}, log=LOG)
{new} = passing(only, {a}, at=1)
{new} = passing(np.sum, m, axis=0)
passing(np.add, {a}, {k}, out={a})
passing(np.clip, {a}, 0, {k}, out={a})
passing(h.put, v={k}, j=0)
passing(passing, many, {a}, k={k}, q={q})
passing(functools.partial(put, {a}), v={k}, j=1)
{p} = passing(lambda v, *, w=1: v + w, {k}, w={p})
{p} = of_dict(**D)
{p} = of_dict(w={a}, z={k})
of_dict(**{{**D, 'w': {a}}})
{q}, _ = told({k}, {p}, 1, z=2)
{q}, _ = told(*{q}[:2], w={k})
{q}, _ = told(**{{'v': {k}, 'zz': 1}})
LOG.append(told(1, *[{k}], y={p}))
poured({a}, {k})
poured({a}, v={k}, log={q})
{new} = poured(v={k}, q={a})
{p} = raised({k})
{p} = raised({p}, at={k})
{p} = raised({k}, by=3)
{p} = inner({a}, v={k})
{p} = inner({a}, log={q})
inner(*[{a}], **{{'v': {k}, 'z': 1}})
inner({a}[1:], {k}, log=LOG, log2=LOG)
outer(put, {a}, 0, v={k})
{p} = outer(many, {a}, k={k}, q={q})
{p} = outer(inner, {a}, v={k}, log={q})
CA.go({a}, at=0, v={k})
CA.go({a}, 1, *{q}, z={k})
{p} = CA({a}, at=1, z={k}, y=2)
CA.noted({a}, v={k})
{p} = CA.counted(by=2)
{p} = Caller.counted()
Caller.plain(q={a}, v={k})
{p} = Caller.plain({a}, {k}, 1, 2)
CA.first({a})
CA.first({a}, v={k})
{p} = CA.own({a}, v={k})
{p} = CA.own(q={a}, z=2)
Caller.go(CA, {a}, v={k})
CA = Caller({k}, scale=1, q={q})
CA = Caller(*{q}, **{{'scale': 3}})
{p} = len(CA.named) + len(CA.some)
CA.named['w'] = {a}
CA.scale = {k}
FIRST({a}, v={k})
FIRST(v={k}, q={a})
FIRST(j=1, v={k}, q={a})
TWICE({a}, {u})
TWICE({a}, k={k}, l={q})
functools.partial(put, j=0)({a}, v={k})
functools.partial(put, {a}, v={k})(0)
functools.partial(many, {a}, l={q})(k={k})
functools.partial(h.put, v={k})(0)
{p} = functools.partial(twice_, by={k})(v=2)
h.put(v={k}, j={j})
h.put(**{{'j': 0, 'v': {k}}})
Held.put(h, 0, v={k})
h.move(g={k})
h.move(**dict(g={a}[0]))
Held.add(k=2)
note(v={k})
{p} = count(v={k})
shift(v={k})
{p} = h(v={k})
kept(acc={q}, v={k})
list(map(functools.partial(put, v={k}), [{a}, {u}], [0, 1]))
{q} = sorted({q}, key=lambda z, *, w={k}: (z - w) ** 2)
{q} = list(map(lambda z, w=2: z * w, {q}))
(lambda *z, k=1, **d: bump(z[0], k))({a}, k={k}, z=1)
Box(v={u}, u={a}).step()
dict(p={a}, q={u})['p'][0] = {k}
{new} = dict(z={a})['z']
D = dict(D, n={k})
{p} = max(*{q}, 1, 2)
{p} = max({q}, key=lambda z: -z, default=0)
{p} = sum({q}, start={k})
{p} = int(*[{k}])
{p} = round(**{{'number': {p}, 'ndigits': 1}})
print(*{q}, sep='|', end=';')
print({k}, **{{'end': '!'}})
LOG.append('{{a:.2f}}{{b}}'.format(a={k}, b=1))
""".splitlines(),
    "try: only(q={a})\nexcept TypeError as e: LOG.append(str(e))",
    "try: put({a}, 0)\nexcept TypeError as e: LOG.append(str(e))",
    "try: many({a}, k=1, **{{'k': 2}})\nexcept TypeError as e: LOG.append(str(e))",
    "try: twice_(1, {k})\nexcept TypeError as e: LOG.append(str(e))",
    "try: CA.go(q={a})\nexcept TypeError as e: LOG.append(str(e))",
    "try: h.put(0, {k}, j=1)\nexcept TypeError as e: LOG.append(str(e))",
)
CALLED += """
def twice_(v, *, by=2):
    return v * by
"""

#: what a program may be given by name: how it comes to be, and lines that use it, {e}
EXTRAS = {
    "log": ("LOG", ("{e}.append({k})", "{p} = len({e})", "LOG.append({e} is LOG)", "many(l={e}, k={k})")),
    "some": (
        "[1, 2.5]",
        ("{e}.append({k})", "{e}[0] = {k}", "{p} = {e}[-1]", "{e}.insert(0, C)", "LOG.append(len({e}))"),
    ),
    "d": ("D", ("{e}['n'] += 1", "{e}['w'][0] = {k}", "{e}['new'] = {k}", "D['s'] = {e}['n']", "of_dict(**{e})")),
    "o": (
        "h",
        (
            "{e}.n += 1",
            "{e}.u[1:] += {k}",
            "{e}.move({k})",
            "{e}.s = h.s + 1",
            "{e}.last = {a}",
            "LOG.append({e} is h)",
            "{e}.put(0, v={k})",
            "{e} is h and note({k})",
        ),
    ),
    "view": (
        "own[0][1:]",
        (
            "{e}[0] = {k}",
            "{e} += a[0]",
            "a[1:] = {e} * 0.5",
            "{new} = {e}[::-1]",
            "bump(v={k}, q={e})",
            "{e}[1:] = a[:-2]",
            "many({e}, a, k={k})",
            "LOG.append({e}.sum())",
            "h.last = {e}",
        ),
    ),
    "twin": ("own[0]", ("{e}[0] = {k}", "{e} += a", "{e}[1:] = a[:-1]", "LOG.append({e} is a)", "many(a, {e}, k=1)")),
    "parts": (
        "{'p': own[0], 'q': own[0][1:], 'r': own[2]}",
        (
            "{e}['p'][1:] += {e}['q']",
            "{e}['q'] = {a} * 1",
            "{e}['q'][:] = {k}",
            "for z in {e}.values(): z[0] += 1",
            "{e}['r'][0] = {k}",
            "{e}['p'], {e}['q'] = {e}['q'], {e}['p']",
            "{new} = {e}['q']",
            "{e}['s'] = {k}",
            "many(*{e}.values(), k={k})",
            "bump(q={e}['q'], v=a[0])",
        ),
    ),
    "pt": (
        "Part(own[0][:3], own[1])",
        (
            "{e}.x[0] = {k}",
            "{e}.y += 1",
            "{e}.x, {e}.y = {e}.y, {e}.x",
            "{e}.y = {e}.x[1:]",
            "{e}.x += {e}.y[:1]",
            "{new} = {e}.x",
            "a[:] = {e}.x[0]",
            "only({e}.x, at=1, v={k})",
            "{e} = Part(y={e}.x, x={a})",
            "{e}.step(k={k})",
        ),
    ),
    "box": (
        "Box(own[0], own[1])",
        (
            "{e}.step()",
            "{e}.swap()",
            "{e}.u[0] = {k}",
            "bump(**{{'q': {e}.u, 'v': {k}}})",
            "{e}.n += 1",
            "{e}.v = {a}",
            "h.last = {e}.u",
        ),
    ),
    "two": (
        "[own[0], own[2][0], own[0][::2]]",
        (
            "{e}[0][1:] = {k}",
            "{e}[1] += {k}",
            "{e}.append({k})",
            "{e}[2][0] = {k}",
            "{e}[0], {e}[1] = {e}[1], {e}[0]",
            "many(*{e}, k={k})",
            "for z in {e}[:2]: z[0] += 1",
            "{new} = {e}[1]",
        ),
    ),
    "g": ("gain", ("{p} = {e}({k})", "{new} = {e}({a})", "{p} = passing({e}, v={k})")),
    "act": ("h.put", ("{e}(0, {k})", "{e}(v={k}, j=1)", "passing({e}, 0, v={k})")),
    "num": ("2.5", ("{p} = {e} * 2", "{p} = {e} + {k}", "if {e} > 2: S += 1", "a[0] = {e}", "{e} = {k}")),
    "mode": ("'add'", ("{p} = ('add', 'sub').index({e})", "MODE = {e}", "if {e} == 'add': a += 1", "LOG.append({e})")),
}
#: lines on all that is given by name, by place, and on defaults
OF_MORE = (
    "for e9 in more: LOG.append(e9)", "{p} = len(more)", "more['zz'] = {k}", "more.pop('zz', None)", "many(**more)",
    "LOG.append(sorted(more))", "{p} = more.get('num', 1)", "told(**more)", "more.update(zz={k})", "CA.named = more",
    "{p} = 'log' in more", "passing(many, a, **more)", "CA = Caller(**more)", "for z in more.values(): {p} = z is a",
    "h.last = more",
)  # fmt: skip
OF_REST = (
    "{p} = len(rest)", "LOG.append(len(rest))", "for z in rest: LOG.append(np.ndim(z))", "many(*rest, k={k})",
    "rest[0][0] = {k}", "{new} = rest[0] * 1", "{q}, _ = told(*map(np.size, rest))", "bump(rest[0], v={k})",
    "passing(many, *rest[:1], k={k})", "CA = Caller(*rest)", "rest = rest[::-1]",
)  # fmt: skip
OF_SEEN = (
    "seen.append({k})", "{p} = len(seen)", "{p} = seen[-1] if seen else 0", "many(s=seen, k={k})", "LOG.append(seen)",
    "seen.append(a * 1)", "seen += [C]",
)  # fmt: skip
OF_NOTED = (
    "noted_['n'] += 1", "noted_['v'] = {k}", "{p} = noted_['n']", "noted_.setdefault('l', []).append({k})",
)  # fmt: skip
#: lines on what a method belongs to
OF_SELF = (
    "self.n += 1", "self.u[0] = {k}", "self.move(g={k})", "LOG.append(self is h)", "self.last = {a}",
    "self.put(0, v={k})",
    "h.s = self.s + 1", "LOG.append(type(self).__name__)", "Held.total += self.n", "{new} = self.u", "self.add(k=1)",
)  # fmt: skip
OF_CLASS = (
    "self.total += 1", "self.w[0] = {k}", "self.add(k=2)", "LOG.append(self is Held)", "{p} = self.rate",
    "self.rate = {k}", "LOG.append(self.__name__)",
)  # fmt: skip
PART = """
import dataclasses
@dataclasses.dataclass
class Part:
    x: np.ndarray
    y: np.ndarray = None
    def step(self, *, k=1):
        self.x[0] += k
        self.y = self.y * 0.5
"""
CALLED += PART
#: what becomes of what calls find, between two of them
CHANGES = (
    "many.__kwdefaults__ = {{'k': {k}}}", "filed.__defaults__ = ([{k}],)", "filed.__kwdefaults__['counts']['n'] = {k}",
    "only.__defaults__ = ({k},)", "twice_.__kwdefaults__['by'] = {k}", "CA.scale = {k}", "CA = Caller(scale={k})",
    "CA.named.clear()", "FIRST = functools.partial(put, j=1)", "TWICE = functools.partial(many, k={k})",
    "FIRST.keywords['j'] = 1", "Caller.plain = staticmethod(lambda q, v=0, *more: 7)",
    "Caller.go = lambda self, q, *rest, at=0, v=1, **named: at", "raised = twice_", "passing = lambda g, *s, **d: {k}",
    "told = around(told)", "poured = only", "inner = decorate(lambda q, v=1, **more: {k})", "Caller.made = {k}",
    "filed.__defaults__[0].append({k})", "of_dict = lambda **q: {k}",
)  # fmt: skip
CHANGED = "    global FIRST, TWICE, raised, passing, told, poured, inner, of_dict\n"
