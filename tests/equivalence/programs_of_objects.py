"""Programs that make objects of classes of their own in loops and branches of the graph, and let names stand for them.

Each is a name, a body, what stands above it, what tells the state, what is done before each call, and what is told of
the result.
"""

PLAIN = "class P:\n    def __init__(self, x, y): self.x, self.y = x, y\n"
DATA = "import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: float\n    y: float = 0\n"
FROZEN = DATA.replace("dataclass\n", "dataclass(frozen=True)\n")
SLOTS = "class P:\n    __slots__ = ('x', 'y')\n    def __init__(self, x, y): self.x, self.y = x, y\n"
NAMED = "import typing\nclass P(typing.NamedTuple):\n    x: float\n    y: float = 0\n"
KINDS = {"plain": PLAIN, "data": DATA, "frozen": FROZEN, "slots": SLOTS, "named": NAMED}
MUTABLE = ("plain", "data", "slots")
MOST = ("plain", "data")  # of the others every third program
HELD = "class O: pass\no = O()\ng, h = P(0.0, 1), P(1.0, 2)\no.p, q, o.r = g, g, None\n"
HELD += "o.s = P(1.0, P(2.0, P(3.0, None)))\nimport enum\nclass E(enum.Enum):\n    A, B = 1, 2\n"
HELD += "class N(enum.IntEnum):\n    A, B = 1, 2\no.e = N.A\n"
TOLD = "type(r).__name__, r.x, r.y"
WHILE = "while x[0] > 1.5:\n    x[0] -= 1\n    "
IF = "if x[0] > 1.5:\n    "

#: of any class
MADE = [
    ("in_a_loop", "p = P(0, x[1])\n" + WHILE + "p = P(p.x + 1, p.y*2)\nreturn p", TOLD),
    ("in_a_branch", "p = P(0, 0)\nif x[0] > 1.5:\n    p = P(p.x + 1, x[1])\nelse: p = P(-1, x[2])\nreturn p", TOLD),
    ("in_one_branch", "p = P(0, 0.0)\n" + IF + "p = P(p.x + 1, x[1])\nreturn p", TOLD),
    ("of_a_range", "p = P(0, 0)\nfor k in range(int(x[0])): p = P(p.x + k, p.y)\nreturn p", TOLD),
    ("of_arrays", "p = P(x*0, x*1)\n" + WHILE + "p = P(p.x + p.y, p.y*2)\nreturn p.x, p.y", ""),
    ("born_in_a_loop", "i = 0\nwhile i < x[0]:\n    p = P(i, x[1])\n    i += 1\nreturn p", TOLD),
    ("born_constant", IF + "p = P(1.0, 2.0)\nif x[0] < 99: p = P(0.0, 0.0)\nreturn p.x", ""),
    ("the_best", "best = None\nfor v in x:\n    if best is None or v > best.x: best = P(v, 0)\nreturn best.x", ""),
    ("returned_early", "p = P(0, 1)\n" + WHILE + "p = P(p.x + 1, x[0])\n    if p.x > 2: return p\nreturn p", TOLD),
    ("swapped", "p, q = P(0, 1), P(2, 3)\n" + WHILE + "p, q = q, p\nreturn p.x, q.y", ""),
    ("one_in_another", "p = P(P(0.0, 0.0), 1.0)\n" + WHILE + "p = P(P(p.x.x + 1, 2.0), p.y)\nreturn p.x.x, p.y", ""),
    ("changed_when_nobody_else_has_it", "p = P(0.0, 0.0)\n" + IF + "p = P(1.0, 2.0)\n    p.y = 9.0\np.x += 7\nreturn p",
     TOLD),
    ("compared_with_the_first", "p = a = P(0.0, 1.0)\n" + WHILE + "p = P(p.x + 1, p.y)\nreturn p.x - a.x", ""),
]  # fmt: skip
GROW = "l, i = [], 0\nwhile i < x[0] + 1:\n    i += 1\n    "
#: of any class, in lists that grow
GROWN = [
    ("summed", GROW + "l.append(P(x[1], i))\ns = 0.0\nfor q in l: s += q.x*q.y\nreturn s, len(l), l[-1].y", ""),
    ("given", GROW + "l.append(P(x[1], i))\nl[0] = P(9.0, 9)\nreturn l", "[(type(q).__name__, q.x, q.y) for q in r]"),
    ("a_queue", "l, s = [P(0.0, 0)], 0\nwhile l and s < x[0]:\n    q = l.pop(0)\n    s += 1\n"
     "    l.append(P(q.x + 1, s))\n    if s < 3: l.append(P(q.x + 2, q.y))\nreturn s, len(l), l[-1].x", ""),
]  # fmt: skip
#: of classes whose objects may change
CHANGED = [
    ("a_global", "global g\n" + WHILE + "g = P(g.x + 1, g.y)\nreturn x", "g.x, g.y, g is q", ""),
    ("a_global_in_a_branch", "global g\n" + IF + "g = P(g.x + 1, g.y)\nreturn x", "g.x, g.y, g is q", ""),
    ("an_attribute", IF + "o.p = P(o.p.x + 1, o.p.y)\nreturn x", "o.p.x, o.p is g", ""),
    ("kept_by_way_of_a_name", "p = o.p\n" + WHILE + "p = P(p.x + 1, p.y)\no.p = p\nreturn x", "o.p.x, o.p is g", ""),
    ("one_of_two", "p = g\n" + IF + "p = h\nreturn p", "g.x, h.x", "r is g, r is h"),
    ("one_of_three", "o.p = g\n" + IF + "o.p = h\nif x[1] > 3: o.p = P(x[0], 2)\nreturn x", "o.p is g, o.p is h", ""),
    ("in_a_list", "l = [g, h]\n" + WHILE + "l[0], l[1] = l[1], l[0]\nreturn l[0].x", "g.x, h.x", ""),
]  # fmt: skip
#: where it matters which object it is, and only the run knows
LEFT = [
    ("chained", "p = None\nfor v in x: p = P(v, p)\ns = 0\nwhile p is not None: s, p = s*2 + p.x, p.y\nreturn s", ""),
    ("in_a_tree", "t = P(x[0], None)\nfor v in x[1:]:\n    if v > 1.5: t.y = P(v, t.y)\nreturn t.y and t.y.x", ""),
    ("held_by_one_side", "t = P(1.0, None)\nif x[0] > 1.5: t = P(x[0], P(x[1], 0))\nreturn t.y is None", ""),
    ("changed", "p = g\n" + IF + "p = P(1.0, 2)\np.x += 7\nreturn x", "g.x"),
    ("changed_under_the_other_name", "p = g\n" + IF + "p = P(1.0, 2)\ng.x += 7\nreturn p.x", "g.x"),
    ("changed_in_the_loop", "p = g\n" + WHILE + "p.x = 4.0\n    p = P(1.0, 2)\nreturn p.x", "g.x"),
    ("one_of_two_changed", "p = g if x[0] > 1.5 else h\np.x += 7\nreturn x", "g.x, h.x"),
    ("made_under_two_names", "p, r = P(0.0, 0), P(9.0, 9)\n" + IF + "p = r = P(1.0, 2)\np.x += 5\nreturn r.x", "0"),
    ("asked_for", "p = a = P(0.0, 0)\n" + IF + "p = P(1.0, 2)\nreturn p is a", "0"),
    ("element", "l = [P(0.0, 0), P(1.0, 1)]\na = l[0]\n" + IF + "l[0] = P(1.0, 2)\nl[0].x += 7\nreturn a.x", "0"),
    ("changed_in_a_list", "p = P(0.0, 1)\n" + GROW + "l.append(p)\n    p.x += 1\nreturn [q.x for q in l]", "0"),
    ("changed_of_a_list", GROW + "l.append(P(0.0, 1))\na = l[0]\na.x = 5.0\nreturn [q.x for q in l]", "0"),
    ("changed_by_a_loop", GROW + "l.append(P(0.0, 1))\nfor q in l: q.x += 2\nreturn [q.x for q in l]", "0"),
    ("of_the_world_in_a_list", GROW + "l.append(g)\nreturn [q is g for q in l]", "0"),
    ("given_and_in_a_list", "p = P(0.0, 1)\n" + GROW + "l.append(p)\nreturn l, p", "0"),
    ("an_object_or_none", "if x[0] > 1.5: o.r = P(x[0], o.r)\nreturn x", "o.r and o.r.x"),
    ("respawned", "p = g\n" + WHILE + "p.x += 1\n    if p.x > 2: p = P(0.0, 1)\nreturn p.x", "g.x"),
    ("walked", "p, k = o.s, 0\nwhile k < x[0] and p.y is not None:\n    p = p.y\n    k += 1\nreturn p.x", "0"),
    ("a_member", "s = E.A\nfor v in x:\n    if v > 1: s = E.B\no.e = s\nreturn s is E.B", "o.e is E.B"),
    ("a_member_and_number", "if x[0] > 1.5: o.e = N.B\nreturn o.e is N.B", "o.e is N.B"),
    ("a_number_s_member", "k = 0\nfor v in x:\n    if v > 1: k = N.B\nreturn k", "0"),
    ("of_two_classes", "p = g\n" + IF + "p = o\nreturn 1 if p is o else 2", "0"),
]  # fmt: skip
