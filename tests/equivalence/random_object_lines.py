"""The lines, blocks and functions of random programs of classes and of the standard library, and what changes."""

from __future__ import annotations

#: the places are those of ``random_construct_lines``
LINES = """\
SQ.hidden = {k}
SQ.hidden += {k}
del SQ.hidden
{p} = SQ.hidden + RG.hidden
RG.hidden = {p}
{p} = SQ.area()
{p} = RG.area() - SQ.area()
SQ = SQ.scaled(0.5)
RG = RG.scaled({k})
RG.hole = {k}
Ring.hole = {k}
SQ = Square.of({k})
SQ = Base.kinds['ring']({k})
{p} = Base.mean({k}, {p}, 1)
{p} = max(SQ, RG).w
{p} = SQ == RG
{p} = {{SQ: 1, RG: {k}}}[RG]
{p} = (SQ < RG) + (SQ in [RG])
{p} = isinstance(SQ, Ring) + issubclass(type(RG), Square)
SQ.w, RG.w = RG.w, SQ.w
SQ.w = {a} * 1
SQ.w = {k}
{p} = np.max(SQ.w) + 1
{p} = getattr(SQ, 'w') if not isinstance(SQ.w, np.ndarray) else 0
setattr(RG, 'w', {k})
{p} = hasattr(SQ, 'zz') + hasattr(RG, 'hole')
SQ.parts.append({k})
{p} = len(SQ.parts)
SQ.__dict__['w'] = {k}
{p} = vars(RG)['w']
{p} = [sh.area() for sh in (SQ, RG)][1] * 1
for sh in (SQ, RG): {p} += sh.area() if not isinstance(sh.w, np.ndarray) else 0
for sh in [SQ, RG]: sh.w = {k}
for sh in [SQ, RG]: sh.hidden = {k}
SL.go()
SL.go({k})
{p} = SL.at
SL.next = Slots({k})
SL = Slots({k}, 1, SL) if SL.next is None else SL.next
SL.at, SL.dt = {k}, 0.25
{p} = sum(chain(SL)) if SL.next else 0
{p} = SL.go().go(2).at
one9 = SL; one9.at = {k}
{p} = LZ.abc + {k}
{p} = LZ.zz * 2
LZ.put = {k}
{p} = len(LZ.asked)
GA.level = {k}
GA.level += 1
{p} = GA.level
VE = VE + Vec({k}, 1)
VE = -VE
VE = 0.5 * VE
VE = {p} * Vec({k}, {k})
{p} = VE @ Vec(1, {k})
{p} = abs(VE)
{p}, {new} = VE.x, {a} - VE.y
{p}, _ = VE
{p} = sum([VE, VE]).x
{p} = float(VE)
VE.x = {k}
{p} = bool(VE) + 1
{p} = {{'a': {k}}} | {{'b': {p}}} == {{}}
CO = CO.turn()
CO = Color.RED if {t} else Color.BLUE
{p} = CO.value
{p} = CO is Color.RED
{p} = Level.HIGH + {k}
{p} = Level({q} != [] and 5 or 0)
BI = BI | Bits.B
BI ^= Bits.A
{p} = (Bits.A in BI) + len(Color)
LOG.append(CO)
LOG.append(f'{{CO.name}} {{Level.LOW}}')
{p} = {{Color.RED: 1, Color.BLUE: {k}}}[CO]
QU.append({k})
QU.appendleft({k})
if QU: {p} = QU.pop()
if QU: {p} = QU.popleft()
QU.rotate(1)
QU.extend([{k}, {p}])
if QU: QU[0] = {k}
QU.clear()
{p} = len(QU)
{p} = sum(QU)
QU = collections.deque({q}, maxlen=4)
{q} = list(QU)
DD['a'].append({k})
DD[n].append({p})
DD['b'] = {q}
{p} = len(DD['c'])
{p} = sum(len(z) for z in DD.values())
for e9, z in DD.items(): LOG.append((e9, len(z)))
CN['a'] += 1
CN.update('ab')
CN[int({k})] += 1
CN[MODE] = {k}
{p} = CN['zz'] + CN['a']
{p} = CN.most_common(1)[0][1]
{p} = sum(CN.values())
heapq.heappush(HE, {k})
if HE: {p} = heapq.heappop(HE)
heapq.heapify(HE)
HE = heapq.nsmallest(3, HE)
HE = sorted(HE, reverse=True)[:4]
bisect.insort(HE, {k})
{p} = bisect.bisect(sorted(HE), {k})
{p} = HE.index(max(HE)) if HE else 0
SE.add(int({k}))
SE.add({k})
SE.discard(1)
SE |= {{3, int({k})}}
SE = {{z * 2 for z in SE}}
SE = SE & {{1, 2, 4}}
{p} = len(SE)
{p} = {k} in SE
{p} = sum(SE)
{p} = max(SE, default=0)
{q} = sorted(SE)
{p} = SE == {{1, 2}}
{p} = SE.isdisjoint({q})
SE.update({q})
OD['c'] = {k}
OD.move_to_end('b')
{p} = OD.get('q', {k})
if OD: OD.popitem(last=False)
{p} = next(iter(OD.values()), 0)
JO = Job({k}, needs=[1])
JO.needs.append({k})
JO.cost += {k}
JO = dataclasses.replace(JO, cost={k})
{p} = JO < Job({k})
{p} = dataclasses.astuple(JO)[0]
{p} = max(JO, Job({k}, 'z')).cost
JO.name = 'k' if {t} else JO.name + 'x'
{p} = len(JO.name)
{p} = next(GE)
{p} = GE.send({k})
GE = running({k})
for z in itertools.islice(running({k}), 3): {p} = z
{p} = [*both({q})][0] if {q} else 0
{p} = slow({k})
{p} = fib(7) + {k}
LOG.append(kind_of({p}))
LOG.append(kind_of({k}))
{p} = options({k}, 2, off=1)
{p} = options({k}, off={p}, zz=1)
{p} = options(*[{k}], **{{'scale': 2}})
{p} = options({k}, **D) if 0 else 1
{p} = math.sqrt(abs({k}))
{p} = math.floor({k}) + math.ceil({p})
{p} = math.fsum([{k}, {p}])
{p} = math.hypot({k}, 1)
{p} = math.isnan({k}) + math.isclose({k}, {p})
{p} = math.gcd(int({k}), 6)
{p} = math.exp(-abs({k}))
{p} = math.copysign(1, {k})
{p} = math.prod([{k}, 2])
{p} = statistics.mean([{k}, {p}, 1.0])
{p} = statistics.median([{k}, {p}])
{q} = copy.copy({q})
{q} = copy.deepcopy({q})
SQ = copy.copy(SQ)
RG = copy.deepcopy(RG)
{new} = copy.copy({a})
LOG.append(MODE.upper() + MODE[0] * 2)
LOG.append(','.join(str(z) for z in {q}))
LOG.append(MODE.replace('a', 'b').split('b'))
MODE = MODE[::-1]
MODE = MODE + 'x' if {t} else MODE[:3]
{p} = 'a' in MODE
{p} = MODE.count('d') + len(MODE)
{p} = MODE < 'b'
{p} = ord(MODE[0]) % 5 if MODE else 0
{p} = {{'add': 1, 'sub': {k}}}.get(MODE, 2)
LOG.append(f'{{MODE!r:>8}}{{n:03d}}')
LOG.append(sorted([{k}, {p}], reverse=True))
LOG.append([*zip({q}, 'abc')])
LOG.append([*zip(*[({k}, 1), ({p}, 2)])][0])
LOG.append({{j: [z] for j, z in enumerate({q})}})
LOG.append([j for j in range(5) if j % 2 or j > n])
LOG.append([[i9 * j for j in range(i9)] for i9 in range(3)])
LOG.append({{z % 3 for z in range(n)}})
LOG.append([*itertools.takewhile(lambda z: z < 3, {q})])
LOG.append([*itertools.combinations({q}[:3], 2)])
LOG.append([(e9, len([*g9])) for e9, g9 in itertools.groupby({q}[:4], key=lambda z: z > 1)])
LOG.append([*itertools.zip_longest({q}[:2], [1, 2, 3], fillvalue={k})])
LOG.append([*itertools.starmap(pow, [({k}, 2)])])
{p} = z9 = {k}
{p} = D['s'] = {k}
{q} = h9 = [{k}]
D['n'], {p} = {p}, D['n']
{p} = [lambda: {p}, lambda: {k}][1]()
gs9 = [lambda v=j: v * 2 for j in range(3)]; {p} = gs9[1]()
gs9 = [lambda: j for j in range(3)]; {p} = gs9[0]()
{p} = (lambda *s, **m: len(s) + len(m))(1, {k}, z=2)
{p} = sorted([(2, 'b'), ({k}, 'a')], key=operator.itemgetter(0))[0][0]
{p} = max([SQ, RG], key=lambda z: np.max(z.w)).kind == 'ring'
{p} = min([(1, {k}), (1, {p})])[1]
{p} = operator.attrgetter('w')(RG)
{p} = operator.methodcaller('go', {k})(SL).at
{q} = [*filter(None, {q})]
{q} = [*{{*{q}}}] if len({q}) < 2 else {q}
{q} = [z for z in {q} for _ in range(2)][:4]
{q} = [-z if z > 0 else z for z in {q}]
{q} = list(dict.fromkeys({q}))
{q}[::2] = [{k} for _ in {q}[::2]]
del {q}[1:]
del {q}[:1]
{q} *= 2; del {q}[5:]
{q}.reverse()
if {k} in {q}: {q}.remove({k})
{p} = {q}.count({k})
{p} = {q} == [{k}]
{p} = {q} < [1, 2]
{p}, *_ = [*{q}, 0]
{p} = {q} is not None
{p} = [{q}, {q}][0] is {q}
{p} = {a} is {u}
{p} = len({{id({a}), id({u})}})
{p} = int('12') + int(n)
{p} = int(f'{{n}}1')
{p} = float('1.5') + {k}
{p} = ({k} > 1) ^ True
{p} = 5 if {k} else 6
{p} = 1 <= n < 4 != {k}
{p} = not {t}
{p} = (yes9 := {t}) and 1 or 2
{p} = {a}[0] in (1.0, {k})
{p} = round({k}) + round({p}, 1)
{p} = pow(3, n, 7)
{p} = divmod({k}, 0.7)[0]
{p} = sum(divmod(n + 5, 3))
{p} = (n + 2) ** 0.5
{p} = (n + 2) ** -1
{p} = n ** 2 // 3 % 4
{p} = ~n & 7
{p} = bin(n).count('1')
{p} = 1e3 * {k} // 7
{p} = int({k} * 10) % 3
{p} = str({p})[:1] == '1'
{p} = iter({q}) is not {q}
{p} = slice(1, None).indices(5)[2] + {k}
{p} = {q}[slice(0, 1)] == []
while QU: QU.pop()
while len(HE) > 1: HE.pop()
while (w9 := len(SE)) > 1: SE.pop()
while {p} > 1: {p} = {p} / 2
for z in QU.copy(): {p} += z
print(*{q}, sep='-', end='!')
print(MODE, CO, n)
print('%s %d' % (MODE, n), {k} > 1)
""".splitlines()
BLOCKS = """\
try:|except (KeyError, Stop): {p} = 3|finally: QU.append({k})
try:|except Exception as e: raise Stop({k}) from e
try:|except* ValueError: {p} = 2
for sh in (SQ, RG):|
for CO in Color:|
for z in list(QU):|
for z in list(QU):|
for z in HE[:3]:|else: HE.append({k})
for z in sorted(SE):|
for e9, z in sorted(OD.items()):|
for e9 in range(0, n, 2):|else:|
for e9 in reversed([1, 2]):|
for e9 in range(len({q})):|
for e9, z in enumerate({q}[:3], start=1):|
for z in itertools.islice(running({k}), 4):|    if z > 3: break
for e8 in itertools.islice(itertools.count(1), 3):|
for z in itertools.cycle([1, {k}]):|    break
while True:|    break
with contextlib.ExitStack() as w8:|    w8.callback(LOG.append, 'left')
with contextlib.nullcontext({k}) as w9:|
if CO is Color.RED:|elif MODE == 'add':|else:|
if isinstance(SQ, Ring):|else:|
if type({p}) is float:|else:|
if SL.next is None:|else:|
if callable({p}):|elif {q}:|else:|
if {p} is None or {p} > 1:|
if all({q}):|
if any(z > 1 for z in {a}):|else:|
""".splitlines()
FUNCTIONS = """\
class {g}:
    def __init__(self, v):
        self.v = v
    def __add__(self, other):
        return self.v + other
{g} = (lambda c: lambda v: c(v) + 1)({g})

def {g}(v):
    SQ.w = v
    return SQ.scaled({k}).w

def {g}(v):
    for z in QU:
        if z == v:
            return 1
    else:
        QU.append(v)
    return 0

def {g}(v):
    def gen():
        nonlocal v
        while v < 5:
            v += 2
            yield v
    return sum(gen())

def {g}(v):
    SL.go(v)
    if SL.at > 4:
        SL.at = 0
    return SL.at

@functools.lru_cache
def {g}(v):
    return v * 2 + {k}

@functools.wraps(low)
def {g}(v, *some, by=2, **named):
    return v * by + len(some)

def {g}(v):
    with noted(v) as w:
        return w + {p}

def {g}(v):
    JO.needs.append(v)
    return len(JO.needs) + {k}

def {g}(v):
    nonlocal {q}
    {q} = [v, *{q}][:3]
    return {q}[-1]

def {g}(v):
    total = 0
    stack = [v]
    while stack:
        top = stack.pop()
        total += top
        if top > 1: stack += [top - 1, top - 2]
        if len(stack) > 4: break
    return total

def {g}(v):
    best = None
    for z in {a}:
        if best is None or z > best:
            best = z
    return best * v

def {g}(v):
    try:
        return 1 / (v - v)
    except ZeroDivisionError:
        return v
    finally:
        QU.append(0)

def {g}(v):
    global CO
    CO = CO.turn()
    return CO.value * v""".split("\n\n")
#: what changes between the calls
CHANGES = """\
SQ.w = {k}
RG = Ring({k}.5)
Ring.hole = {k}
Square.area = lambda self: {k}
SL = Slots({k})
SL.next = None
GA.level = {k}
VE = Vec({k}, 1.5)
CO = Color.BLUE
QU.append({k})
QU = collections.deque(maxlen=2)
DD.clear()
CN['a'] = {k}
HE = [{k}.5, 1]
SE = set()
SE.add({k})
OD['z'] = {k}
JO = Job({k})
GE = running({k})
fib.cache_clear()
options = lambda *some, **named: 1
running = lambda v: iter([v, v])
Vec.__abs__ = lambda self: {k}
MODE = 'xyz'""".splitlines()
