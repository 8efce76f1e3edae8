"""Programs that run over several things at once, of which one is an iterator, or holds what an array does not.

Each is a name, a body, what stands above it, what tells the state, and whether plain Python runs it.
"""

LOG = "log = []\ndef gen(n=5):\n    for k in range(n):\n        log.append(k)\n        yield k\n    log.append('end')\n"
LOG += "def g(v):\n    log.append(v)\n    return v * 2\n"
SUM = "s = 0\nfor p, q in {}: s += p * q\nreturn s"
COUNTED = "range(int(x[0]) + 1)"
PAIRS = "[(1, 2.5), (3, 4.5), (5, 6.5)]"
OBJECTS = "class P:\n    def __init__(self, v): self.v = v\nL = [P(1.0), P(2.0), P(3.0)]\n"
ENDLESS = "def fib():\n    a, b = 0, 1\n    while True:\n        yield a\n        a, b = b, a + b\n"

PROGRAMS = [
    ("generator_behind", SUM.format("zip(x, gen())"), LOG, "log", False),
    ("generator_before", SUM.format("zip(gen(), x)"), LOG, "log", False),
    ("shorter_generator", SUM.format("zip(gen(2), x)"), LOG, "log", False),
    ("three", "return [a * b * c for a, b, c in zip(gen(), x[:2], gen(4))]", LOG, "log", False),
    ("mapped", "return list(map(lambda a, b: a * b, gen(), x)), dict(zip(gen(2), x))", LOG, "log", False),
    ("expression_before", SUM.format("zip((g(v) for v in [1, 2, 3, 4]), x)"), LOG, "log", False),
    ("map_before", SUM.format("zip(map(g, x), x[:2])"), LOG, "log", False),
    ("counted_by_the_run", SUM.format(f"zip({COUNTED}, gen())"), LOG, "log", True),
    ("before_what_the_run_counts", SUM.format(f"zip((g(v) for v in [1, 2, 3, 4]), {COUNTED})"), LOG, "log", True),
    ("popped", SUM.format(f"zip({COUNTED}, iter(L.pop, 1))"), "L = [*range(50)]", "L", True),
    ("read_late", "st[0] = 1.0\ns = 0\nfor a, b in zip(x, gen()):\n    st[0] += 1\n    s += a * b\nreturn s",
     "st = [1.0]\ndef gen():\n    for k in range(3): yield st[0]", "st", False),
    ("read_late_counted_by_the_run",
     f"st[0] = 1.0\ns = 0\nfor a, b in zip({COUNTED}, gen()):\n    st[0] += 1\n    s += a * b\nreturn s",
     "st = [1.0]\ndef gen():\n    for k in range(3): yield st[0]", "st", True),
    ("changed", "l = [1, 2]\ns = 0\nfor a, b in zip(x, l):\n    l[1] = 7\n    s += b\nreturn s", "", "", True),
    ("count", SUM.format("zip(itertools.count(2, 3), x)"), "", "", False),
    ("count_counted_by_the_run", SUM.format(f"zip(itertools.count(2, 3), {COUNTED})"), "", "", False),
    ("repeat", SUM.format(f"zip(itertools.repeat(2.5), {COUNTED})"), "", "", False),
    ("cycle", SUM.format("zip(itertools.cycle([1, 2]), x)"), "", "", False),
    ("endless", SUM.format("zip(fib(), x)"), ENDLESS, "", False),
    ("long", "y = np.arange(100.0) + x[0]\n" + SUM.format("zip(y, gen(500))"), LOG, "log", True),
    ("pairs", "s = []\nfor a, p in zip(x, " + PAIRS + "):\n    s.append((a, *p))\nreturn s", "", "", False),
    ("pairs_counted_by_the_run", f"s = t = 0\nfor a, p in zip({COUNTED}, {PAIRS}):\n    s += a * p[1]\n    t = p[0]\n"
     "return s, t", "", "", False),
    ("items", "s = 0\nfor a, (k, v) in zip(x, {'a': 1.5, 'b': 2}.items()): s += a * v + len(k)\nreturn s", "", "",
     False),
    ("several_types", f"t = None\nfor a, p in zip({COUNTED}, [1, 2.5, 3]): t = p\nreturn t", "", "", False),
    ("objects", "for p, v in zip(L, x): p.v += v\nreturn L[0].v", OBJECTS, "[vars(p) for p in L]", False),
    ("arrays", "for a, v in zip(A, x): a += v\nreturn A[0]*1", "A = [np.zeros(3), np.ones(2)]", "A", False),
    ("arrays_counted_by_the_run", f"for a, v in zip(A, {COUNTED}): a += v + 1\nreturn A[0]*1",
     "A = [np.zeros(3), np.ones(3)]", "A", True),
    ("parts", "s = 0\nfor p, q in zip([2, x], x[1:3]): s = s + p * q\nreturn s", "", "", False),
    ("used_up", "m = map(g, x)\nreturn list(m), list(m)", LOG, "log", True),
    ("used_side_by_side", "m = map(g, x)\nreturn [a + b for a, b in zip(m, x)], list(m)", LOG, "log", True),
]  # fmt: skip
