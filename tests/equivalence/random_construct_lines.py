"""The lines, blocks and functions that random programs of constructs consist of."""

from __future__ import annotations

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
