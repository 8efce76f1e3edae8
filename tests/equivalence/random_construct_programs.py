"""Random programs of Python's constructs: what people write between the lines that compute.

To a world come nested functions with variables of their own, generators, comprehensions, ``try`` with all its parts,
``with``, ``match``, loops with ``else``, starred targets, walruses, f-strings, lists and dicts of numbers, dataclasses
and operators of classes. They stand in loops and branches on values of arrays as well as in straight lines.
"""

from __future__ import annotations

import random

from random_array_programs import HEAD, HELPERS
from random_state_programs import GLOBALS, VS, WORLD, StatefulWriter

#: what programs may use beside a world
TOOLS = """
import collections, contextlib, dataclasses, functools, itertools, operator
@dataclasses.dataclass
class Point:
    x: float
    y: object = 0.0
    def far(self):
        return (self.x ** 2 + np.max(self.y) ** 2) ** 0.5
    def moved(self, d):
        return dataclasses.replace(self, x=self.x + d)
@dataclasses.dataclass(frozen=True)
class Pair:
    one: object
    two: object = 1
    def __add__(self, other):
        return Pair(self.one + other.one, self.two + other.two)
    def __mul__(self, k):
        return Pair(self.one * k, self.two * k)
    def __lt__(self, other):
        return self.two < other.two
Named = collections.namedtuple('Named', 'u v')
class Stack:
    deepest = 0
    def __init__(self, *items):
        self.items = [*items]
    def __repr__(self):
        return f'Stack{self.items}'
    def __len__(self):
        return len(self.items)
    def __bool__(self):
        return bool(self.items)
    def __getitem__(self, k):
        return self.items[k]
    def __setitem__(self, k, v):
        self.items[k] = v
    def __contains__(self, v):
        return v in self.items
    def __iter__(self):
        yield from self.items
    def __iadd__(self, v):
        self.items.append(v)
        type(self).deepest = max(self.deepest, len(self.items))
        return self
    def __enter__(self):
        self.items.append('in')
        return self
    def __exit__(self, kind, *rest):
        self.items.append('out' if kind is None else kind.__name__)
        return kind is KeyError
class Low(ValueError):
    def __init__(self, v):
        super().__init__(f'low: {v:.2f}')
        self.v = v
@contextlib.contextmanager
def noted(v):
    LOG.append(('+', v))
    try:
        yield v * 2
    finally:
        LOG.append(('-', v))
def logged(g):
    @functools.wraps(g)
    def inner(*some, **named):
        LOG.append(g.__name__)
        return g(*some, **named)
    return inner
@logged
def twice(v, *, by=2):
    return v * by
def up(u, k=1):
    for z in u:
        yield z + k
def low(v, least=0):
    if v < least:
        raise Low(v)
    return v
def halves(v, *rest, k=0, **named):
    return v * 0.5, k + len(rest) + len(named)
st = Stack(1, 2)
PT, PR, N = Point(1.0), Pair(1, 2), Named(1.0, 2)
T = (1, (2.5, 3))
state_of_world = state
def state():
    return state_of_world(), st, Stack.deepest, PT, PR, N, T
"""
NAMES = GLOBALS + "    global st, PT, PR, N, T\n"
#: numbers {k}, elements or positions {j}, arrays of floats {a} and {u}, a new name {new}, a name for a number {p}, one
#: for a list of numbers {q}
LINES = """\
{p} = {k}
{p} += {k}
{p} = {p} * 0.5 + {k}
{p} = {k} if {t} else {p}
{p}, S = S, {p}
{p} = min({p}, {k})
{p} = max({p}, {k}, 1)
{p} = sum([{k}, {p}])
{p} = abs({p}) % 7
{p} = int({k})
{p} = float({p})
{p} = len({q}) + {p}
{p} = sum({q})
{p} = {q}[-1] if {q} else 0
{q} = [{k}, {p}]
{q} = [z * 2 for z in {q}]
{q} = [z for z in {q} if z > x]
{q}.append({k})
{q} = {q} + [{k}]
{q} += [{p}]
{q}.insert(0, {k})
{q}.extend([{p}, {k}])
{q} = {q}[::-1]
{q} = {q}[-3:]
if {q}: {q}.pop()
if {q}: {p} = {q}.pop(0)
{q}.sort()
{q} = sorted({q}, key=lambda z: -z)
{q} = list(map(lambda z: z + {k}, {q}))
{q} = [*{q}, {k}][-4:]
{q} = list({a})[:3]
{q} = {a}[:2].tolist()
{q} = [p for p, r in zip({a}, {q})]
{q} = [j * z for j, z in enumerate({q})]
{q}[0:1] = [{k}]
if {q}: {q}[0] = {k}
if {q}: {q}[-1] += {k}
{q} = [z for row in m for z in row[:1]]
{q} = [*up({q}, {k})]
{q} = [r.sum() for r in m if r[0] > {k}]
{p} = sum(z * z for z in {a} if z > {k})
{p} = any(z > 3 for z in {a}) + 0
{p} = all(z > {k} for z in {q}) * 2
{p} = max({q}, default=0)
{p} = functools.reduce(lambda s, z: s * 0.5 + z, {a}, {k})
{p} = functools.reduce(operator.add, {q}, 0)
{p} = (lambda z, w={k}: z + w)({p})
{p} = functools.partial(twice, by={k})(2)
{p} = twice({p})
{p} = twice({k}, by=3)
{p}, _ = halves({p}, 1, {k}, k=2, e=3)
{p}, *{q} = {k}, {p}, 2
*{q}, {p} = {a}
{p}, (_, {new}) = {k}, (1, {a} * 1)
{p} = next(iter({a}))
{p} = next((z for z in {q} if z > {k}), -1)
if (w9 := {k}) > 1: {p} = w9
{p} = {k} < {p} < 4
{p} = not {k} > {p}
{p} = {p} and {k}
{p} = {p} or {k}
{p} = 1 if 0 < {k} <= 2 < n else 0
LOG.append(f'{{{k}:.3f}}|{{{p}!r:>6}}')
LOG.append(str({k}))
LOG.append('%.2f %s' % ({k}, {t}))
LOG.append('{{}}-{{:.1f}}'.format(len({q}), {p}))
LOG.append(repr({p}))
LOG.append(tuple({q}))
LOG.append({{'k': {k}}})
LOG.append([{p}, [{k}]])
LOG.append(divmod({k}, 2))
D['l'] = {q}
D['t'] = ({k}, {p})
D.setdefault('u', []).append({k})
D.update(n=C, s={k})
D['z'] = D.pop('s', {k}); D['s'] = {k}
D['n'] = {{**D, 'e': {k}}}['e']
D['r'] = {{z: z * 2 for z in range(3)}}
D['c'] = {{'a': {k}, 'b': [{p}]}}
D['c'] = {{j: z for j, z in enumerate({q})}}
{p} = sum(z for z in D['p'])
{p} = D.get('zz', {k})
{p} = [*D].index('n')
for z in D: {p} = len(z)
{p} = sum(len(z) for z in D.keys())
for e9, z in D.items(): LOG.append(e9)
st += {k}
st[0] = {k}
{p} = len(st)
{p} = st[-1] if st else 0
if {k} in st: {p} = 1
st.items.pop()
{p} = sum(z for z in st if not isinstance(z, str))
for z in st: LOG.append(z)
Stack.deepest = 0
st = Stack({k})
PT.x += {k}
PT.y = {a} * 1
PT.y = {k}
PT = PT.moved({k})
PT = Point({k}, {p})
{p} = PT.far()
PT.x, PT.y = PT.y, PT.x
PR = Pair({k}, 2)
PR = PR + Pair(1, {k})
PR = PR * 2
PR = Pair({a} * 1, {k})
{p} = PR.two
PR = min(PR, Pair(0, {k}))
N = Named({k}, 1)
N = N._replace(u={k})
{p} = N.u
{p}, {new} = N.v, {a} + 1
N = Named(N.v, N.u)
T = ({k}, T[1])
T = (T[0], ({p}, {k}))
{p} = T[1][0]
_, ({p}, _) = T
T = (*T[:1], (2.5, {k}))
{new} = np.array({q}) if {q} else np.zeros(1)
{new} = np.array([z * x for z in {q}] + [1.0])
{new} = np.array([r[0] for r in m])
{new} = np.stack([{a} for _ in range(2)])
{new} = np.concatenate([{a}, [{k}]])
{new} = np.array([{k} for _ in range(3)])
{a}[:] = [{k} for _ in {a}]
for j9, z in enumerate({a}): {a}[j9] = z * 0.5
for z, w9 in zip({a}, {u}): S += z - w9
for j9 in reversed(range(2)): {p} = j9 + {k}
for z in {q}: {p} += z
for z in sorted({q}): LOG.append(z)
for z in up({a}): S += z
for j9, (z, w9) in enumerate(zip({a}, {q})): {p} = z * w9 + j9
for z in [{k}, {p}]: LOG.append(z)
for z in itertools.chain({q}, [1]): {p} += z
for z, w9 in itertools.product({q}, [1, 2]): {p} += z * w9
for z in itertools.accumulate({q}): {p} = z
for z in map(abs, {a}): {p} += z
for z, w9 in itertools.pairwise({q}): {p} += z - w9
for z in filter(lambda z: z > {k}, {a}): {p} = z
assert {k} < 50, f'big: {{{k}}}'
low({k} + 3)
{p} = low({k} + 2)
del {p}; {p} = 1
if {t}: raise Low({k})
print(f'{{{k}:.2f}}', {p}, sep='/')
print({q}, end=';')
{p} = isinstance({p}, float) + 0
{p} = type({p}).__name__ == 'int'
{p} = round({k}, 1)
{p} = complex({k}, 1).imag
{p} = {k} // 1
{p} = hash(n) % 5
{p} = bool({k}) + 1
{p} = -{p}
{p} = {p} ** 2 % 11
{p} = n << 2 ^ 3
{p} = (n & 3) | 8
{p} = int({k}) // 2 - n % 2
""".splitlines()
#: heads of blocks, parted by "|": what stands between is written at random; the last may do without
BLOCKS = """\
try:|except Low as e: LOG.append((str(e), e.v))
try:|except (IndexError, ZeroDivisionError): {p} = 2|
try:|finally: LOG.append({k})
try:|except Low: {p} = 0|else:|
try:|except Exception as e: LOG.append(type(e).__name__)|finally:|
with noted({k}) as w8:|
with st:|
with st as w8, noted({k}):|
with contextlib.suppress(Low):|
with np.errstate(all='ignore'):|
for z in {q}[:4]:|
for z in {q}[:4]:|else:|
for z, w9 in zip({a}, m):|
for j9, z in enumerate({a}):|
for z in up({q}[:4]):|
for z in {a}:|
for _ in range(2):|else: {p} = {k}
for z in (1, {k}, x):|
for z in list({q}):|
for z in st[:4]:|
for z in D:|
if {t}:|elif {t}:|else:|
if {t} and {t}:|
if not ({t} or {t}):|else:|
if (w9 := {k}) > 1:|else: {p} = w9
""".splitlines()
MATCHES = (
    ("match {p}:", "case 0:", "case 1 | 2:", "case float():", "case _:"),
    ("match PT:", "case Point(x=0.0):", "case Point(x=e9) if e9 > 1:", "case _:"),
    ("match T:", "case (1, (e9, _)):", "case (e9, *_) if e9 > {k}:", "case _:"),
    ("match MODE:", "case 'add':", "case 'sub':", "case e9:"),
    ("match D:", "case {{'z': e9}}:", "case {{'n': 0, **e9}}:", "case _:"),
    ("match {q}:", "case []:", "case [e9]:", "case [e9, *_]:"),
)
FUNCTIONS = """\
def {g}(v):
    return v * {k} + {p}

def {g}(v, w={k}):
    {a}[0] = w
    return v - w

def {g}(v):
    nonlocal {p}
    {p} += v
    return {p}

def {g}(v):
    {q}.append(v)
    return len({q})

{g} = lambda v: v + {p}

def {g}(v):
    if v > {k}:
        return v * 2
    return {k}

def {g}(v, turns=3):
    for j in range(turns):
        v = v * 0.5 + {k}
        if v > 3: break
    return v

def {g}(v):
    while v > 1:
        v = v / 2
    return v

def {g}(v):
    try:
        return low(v - {k})
    except Low:
        return 0
    finally:
        LOG.append(1)

def {g}(v, depth=2):
    return v if depth == 0 else {g}(v * 0.5 + {k}, depth - 1)

@logged
def {g}(v):
    return sum(v * z for z in {a}[:2])

def {g}(v):
    def inner(w):
        return w + v + {p}
    return inner({k})""".split("\n\n")


class ConstructWriter(StatefulWriter):
    """Writes a program of Python's constructs.

    Parameters
    ----------
    choices : random.Random
        What decides.
    layout : str
        How the second argument lies to the first.
    world : str
        The text of the world.
    """

    def __init__(self, choices: random.Random, layout: str, world: str) -> None:
        super().__init__(choices, layout, world)
        self.functions: list[str] = []
        for line in ("p1 = 2", "p2 = 0.5", "q1 = [1, 2.5]", "q2 = []"):
            self.say(line)

    def known(self) -> dict[str, str]:
        """Return what the places of a line may stand for."""
        number = super().scalar()
        if self.functions and self.chance(0.35):
            number = f"{self.choices.choice(self.functions)}({number})"
        # a name of the program's own is a number that all forms may use
        p, q = self.one("p1", "p2"), self.one("q1", "q2")
        number = self.one(number, number, number, "p1", "p2", f"len({q})", "C", "S")
        return {
            "k": number, "p": p, "q": q, "a": self.array(kinds="f"), "u": self.array(kinds="f"), "t": self.test(),
            "new": self.new(),
        }  # fmt: skip

    def test(self) -> str:
        forms = (
            "q1",
            "p1 > 1",
            "p2 < x",
            "len(q2) > 1",
            "p1 is None",
            "p1 == 2",
            "not q2",
            "st",
            "PT.x > x",
            "T[0] == 1",
        )
        return self.choices.choice(forms) if self.chance(0.35) else super().test()

    def simple(self) -> None:
        if self.chance(0.6):
            for _ in range(4):
                if self.say(self.choices.choice(LINES).format(**self.known())):
                    return
        super().simple()

    def statement(self, budget: int, jumps: bool) -> None:
        if budget > 0 and self.chance(0.4):
            self.choices.choice((self.parts, self.parts, self.match, self.function, self.function))(budget, jumps)
        else:
            super().statement(budget, jumps)

    def head(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def parts(self, budget: int, jumps: bool) -> None:
        """Write a statement of several blocks."""
        loops = jumps
        for head in self.choices.choice(BLOCKS).format(**self.known()).split("|"):
            if not head:
                return
            loops = jumps or head.startswith("for ")
            self.head(head)
            if head.endswith(":"):
                self.block(budget - 1, loops)

    def match(self, budget: int, jumps: bool) -> None:
        head, *cases = self.choices.choice(MATCHES)
        known = self.known()
        self.head(head.format(**known))
        self.depth += 1
        for case in cases:
            self.head(case.format(**known))
            self.block(budget - 1, jumps)
        self.depth -= 1

    def function(self, budget: int, jumps: bool) -> None:
        """Write a function of the program's own; its variables are the world's while the program is written."""
        self.made += 1
        name = f"g{self.made}"
        text = self.choices.choice(FUNCTIONS).format(**self.known(), g=name)
        if self.run(text.replace("nonlocal", "global") + f"\n{name}(1.5)"):
            self.lines += ["    " * self.depth + line for line in text.splitlines()]
            if self.depth == 1:
                self.functions.append(name)
            else:
                self.say(f"p1 = {name}({super().scalar()})")

    def results(self) -> str:
        return super().results() + (", p1, p2, q1, q2" if not self.early else "")


def program(choices: random.Random) -> tuple[str, str]:
    """Return the text of a random program of constructs, and how its arguments lie."""
    layout = choices.choice(("apart", "apart", "apart", "same", "view"))
    world = WORLD.format(V=choices.choice(VS), v=choices.choice(("W", "np.ones(6)"))) + TOOLS
    writer = ConstructWriter(choices, layout, world)
    for _ in range(choices.randrange(2, 6)):
        writer.statement(2, False)
    body = "\n".join(writer.lines) + "\n    return " + writer.results() + "\n"
    return HELPERS + world + HEAD + NAMES + body + writer.changes(), layout
