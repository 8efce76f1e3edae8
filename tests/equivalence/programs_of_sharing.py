"""Programs whose results, and what they leave, share memory or are one object."""

BOX = "class O:\n    def __init__(self): self.a, self.n, self.v, self.log = np.zeros(4), 0, None, []\no = O()\n"
BOX += "sh = np.shares_memory\n"
Y = "y = np.zeros(4)\ny[:3] = x\n"
TELL = "def tell(*every):\n    return [[sh(p, q), p is q] for p in every for q in every]\n"

LEFT_TOGETHER = [
    ("views_of_a_new_array", "global V, W\n" + Y + "V, W = y[:2], y[1:]\nreturn x", BOX, "(V, W, sh(V, W))"),
    ("an_array_and_its_view", Y + "o.a = y\no.b = y[::2]\nreturn x", BOX, "(o, sh(o.a, o.b))"),
    ("a_constant_and_its_view", "y = np.arange(6.)\no.a, o.b = y, y.reshape(2, 3)\nreturn o.b.T", BOX,
     "(o, sh(o.a, o.b))"),
    ("a_constant_reversed", "y = np.arange(6.)\no.a, o.b = y[::-2], y[1:]\nreturn y", BOX, "(o, sh(o.a, o.b))"),
    ("written_in_a_loop", "y = np.zeros(3)\ni = 0\nwhile x.sum() > i:\n    y[i % 3] += i\n    i += 1\n"
     "o.a, o.b = y, y[1:]\nreturn y", BOX, "(o, sh(o.a, o.b))"),
    ("in_a_dict", "d = {'k': np.ones(3)*x}\nd['v'] = d['k'][1:]\nd['k'][1] = 9\no.d = d\nreturn d['k']", BOX,
     "(o, sh(o.d['k'], o.d['v']))"),
    ("in_a_new_object", "p = O()\np.a = x*2\np.v = p.a[1:]\no.p = p\nreturn p.v", BOX, "(o.p, sh(o.p.a, o.p.v))"),
    ("no_view", "y = x*2\no.a = y\no.b = y[x > 1]\nreturn y", BOX, "(o, sh(o.a, o.b))"),
    ("a_view_of_the_argument", "o.x, o.v = x, x[1:]\nx[1] += 1\nreturn o.v*1", BOX, "(o, sh(o.x, o.v))"),
]  # fmt: skip

#: what ``f`` gives is ``results``; the program gives what shares memory and what is one object
GIVEN_TOGETHER = [
    ("two_views", Y + "return y[:2], y[1:], y[::2]"),
    ("array_and_view_twice", Y + "v = y[1:]\nreturn y, v, y, v"),
    ("one_view_twice", Y + "v = y[1:]\nreturn v, v"),
    ("a_constant", "y = np.ones(3)\nreturn y, y[1:], y"),
    ("of_two_axes", "y = np.zeros((3, 3))\ny[0] = x\nreturn y.T, y[0], y[:, 1], y.reshape(-1), y.ravel()"),
    ("diagonal", "y = np.outer(x, x)\nreturn y, y.diagonal()"),
    ("read_only", "y = x.copy()\ny.setflags(write=False)\nreturn y, y[1:]"),
    ("of_a_branch", "y = np.zeros(3)\nif x.sum() > 4:\n    y[0] = 1\nelse:\n    y[1] = 2\nreturn y[:2], y"),
    ("written_through_a_view", "y = np.zeros(3)\nv = y[1:]\ni = 0\nwhile x.sum() > i:\n    v[i % 2] += i\n    i += 1\n"
     "return v, y"),
    ("without_axes", "y = np.array(x.sum())\nreturn y[...], y[None], y"),
    ("parts_of_complex", "y = x*(1 + 2j)\nreturn y.real, y.imag, y"),
    ("split", "y = np.zeros(3) + x\na, b = np.split(y, [1])\nreturn a, b, y"),
    ("in_attributes_too", "y = x*2\no.w, o.v = y, y[1:]\nreturn y, o.w, o.v"),
    ("a_constant_in_attributes_too", "y = np.ones(3)\no.w = y\nreturn y, y[1:], o.w"),
]  # fmt: skip

SAME = [
    ("a_list_twice", "l = [x*2]\nreturn l, l", "r[0] is r[1]"),
    ("a_list_of_a_loop_twice", "l = []\ni = 0\nwhile i < x[1]:\n    l.append(x*i)\n    i += 1\nreturn l, {'l': l}",
     "r[0] is r[1]['l']"),
    ("a_list_left_too", "l = [x*2]\no.l = l\nreturn l", "r is o.l"),
    ("an_array_appended_too", "y = x*2\no.log.append(y)\nreturn y", "r is o.log[-1]"),
    ("a_dict_in_a_dict", "d = {'a': x*2}\nreturn {'p': d, 'q': d, 'v': d['a'][1:]}",
     "r['p'] is r['q'], sh(r['p']['a'], r['v'])"),
    ("a_set", "s = {1}\nreturn [s, s, x*1]", "r[0] is r[1]"),
    ("an_object", "p = O()\np.a = x*2\nreturn p, [p]", "r[0] is r[1][0]"),
    ("a_list_that_has_grown", "q = o.log\nif x[0] > 1: o.log.append(x[1])\nreturn q is o.log", "r"),
    ("an_object_left_too", "p = O()\np.a = x*2\no.p = p\nreturn p, p.a", "r[0] is o.p, r[1] is o.p.a"),
]  # fmt: skip

#: dicts of the world beside whose numbers lists stand, which loops and branches leave where they are
HOLDING = BOX + "o.d = {'n': 0, 'p': [1.], 't': ([2.], 'a'), 'q': {'r': [3., {1}]}}\np = o.d['p']\n"
STAYING = [
    ("in_a_branch", "p = o.d['p']\nif x[0] > 1: o.d['n'] += 1\np[0] += 1\nreturn o.d['p'] is p"),
    ("in_a_loop", "t, r = o.d['t'], o.d['q']['r']\nfor v in x: o.d['n'] += v\nr[0] += 1\nt[0][0] += 1\n"
     "return t is o.d['t'], r is o.d['q']['r']"),
    ("beside_a_return", "if x[0] > 2: return 0\no.d['n'] = x[1]\no.d['p'][0] += 3\nreturn o.d['p'][0]"),
    ("changed_in_a_branch", "p = o.d['p']\nif x[0] > 1: o.d['p'][0] = x[1]\nreturn p[0]"),
    ("changed_in_a_loop", "p = o.d['p']\nfor v in x: o.d['p'][0] += v\np[0] *= 2\nreturn o.d['p'][0]"),
    ("changed_deep_inside", "r = o.d['q']['r']\ni = 0\nwhile i < x[1]:\n    o.d['q']['r'][0] += i\n"
     "    o.d['t'][0][0] -= 1\n    i += 1\nreturn r[0]*2"),
    ("changed_on_both_sides", "p = o.d['p']\nif x[0] > 1: o.d['p'][0] = x[1]\nelse: o.d['p'][0] += 1\nreturn p[0]"),
    ("by_two_ways", "for v in x:\n    o.d['p'][0] += v\n    p[0] *= 2\nreturn p[0]"),
]  # fmt: skip
#: and those of which only the run knows where they are
MOVING = [
    ("replaced", "if x[0] > 1: o.d['p'] = [x[1]]\np.append(4)\nreturn p is o.d['p']"),
    ("grown", "p = o.d['p']\nfor v in x:\n    if v > 1: o.d['p'].append(v)\np.append(1.)\nreturn p[-1], p is o.d['p']"),
    ("exchanged", "for v in x: o.d['p'], o.d['q'] = o.d['q'], o.d['p']\nreturn p is o.d['p']"),
]

BASE = BOX + "b = np.arange(12.)\no.m = np.zeros((3, 4))\n"
FLAT = BOX + "o.flat, o.slopes = np.zeros(6), np.ones(6)\no.d = {'w': o.flat[:4].reshape(2, 2), 'b': o.flat[4:]}\n"
FLAT += "o.g = {'w': o.slopes[:4].reshape(2, 2), 'b': o.slopes[4:]}\n"

KEPT_VIEWS = [
    ("a_view_kept", "o.a[0] += x[0]\nif o.v is None: o.v = o.a[1:]\no.a[1] += 1\no.v[1] += 5\nreturn o.v*1", BOX,
     "(o, sh(o.a, o.v))"),
    ("a_view_kept_anew", "o.v = o.a[1:]\no.a[1] += 1\nreturn o.v*1", BOX, "(o, sh(o.a, o.v))"),
    ("array_and_view_of_a_branch", "if o.n == 0:\n    y = np.zeros(3)\n    o.a, o.v = y, y[1:]\no.n += 1\n"
     "o.a[1:] += x[1]\no.v[0] += 1\nreturn o.v*1", BOX, "(o, sh(o.a, o.v))"),
    ("rows", "o.rows = [r for r in o.m]\no.m[0, :3] += x\nreturn o.rows[0]*1", BASE, "(o.m, o.rows)"),
    ("another_after_a_while", "o.v[0] += 1\no.a[1:3] += x[1]\nreturn o.v*1", BOX + "o.v = np.zeros(3)\n",
     "(o, sh(o.a, o.v))", "o.v = np.zeros(3) if k == 0 else o.a[k - 1:k + 2]"),
    ("a_column", "o.c[0] += 1\no.m[:, 1] *= 2\no.m[1] += x[0]\nreturn o.c*1", BASE + "o.c = o.m[:, 1]\n", "(o.m, o.c)"),
    ("reversed", "o.c[0] += 1\no.m[1, 0] = x[0]\nreturn o.c*1", BASE + "o.c = o.m[1, ::-1]\n", "(o.m, o.c)"),
    ("flat", "o.c[3] += 1\no.m[0] += x[0]\nreturn o.c*1", BASE + "o.c = o.m.ravel()\n", "(o.m, o.c)"),
    ("transposed", "o.c[0] += 1\no.m[0] += x[0]\nreturn o.c*1", BASE + "o.c = o.m.T\n", "(o.m, o.c)"),
    ("a_part_transposed", "o.c[0] += 1\no.m[0] += x[0]\nreturn o.c*1", BASE + "o.c = o.m[:2, 1:].T\n", "(o.m, o.c)"),
    ("three_that_overlap", "o.p[0] += 1\no.q[0] += 2\no.r[-1] += 3\nreturn o.p.sum() + o.q.sum()*10 + o.r.sum()",
     BASE + "o.p, o.q, o.r = b[:5], b[3:7], b[4:]\n", "(o.p, o.q, o.r, b)"),
    ("two_and_the_whole", "o.p[0] += 1\no.q[0] += 2\no.z[4] += x[1]\nreturn o.p.sum() + o.q.sum()*10",
     BASE + "o.p, o.q, o.z = b[:5], b[3:7], b\n", "(o.p, o.q, o.z)"),
    ("one_view_twice", "o.p[0] += 1\no.q[0] += 2\no.z[1] += x[1]\nreturn o.p.sum() + o.q.sum()*10",
     BASE + "o.p, o.q, o.z = b[1:5], b[1:5], b\n", "(o.p, o.q, o.z)"),
    ("in_a_loop", "i = 0\nwhile x.sum() > i:\n    o.p[i % 3] += i\n    o.z[2] += 1\n    i += 1\nreturn o.p*1",
     BASE + "o.p, o.z = b[1:5], b\n", "(o.p, o.z)"),
    ("swapped", "o.p, o.q = o.q, o.p\no.p[0] += 1\nreturn o.q*1", BASE + "o.p, o.q = b[:4], b[2:6]\n", "(o.p, o.q, b)"),
    ("results", "o.a[0] += 1\nreturn o.v, o.a, o.v[1:]", BOX + "o.v = o.a[1:]\n", "o", "",
     "(r[0] is o.v, r[1] is o.a, sh(r[2], o.a))"),
    ("globals", "W[0] += 1\nV[0] += x[0]\nreturn V*1", BOX + "W = np.zeros(5)\nV = W[::2]\n", "(W, V)"),
    ("a_list_of_rows", "for r in o.rows: r += x[0]\no.m[0, 0] = 5\nreturn o.m*1", BASE + "o.rows = list(o.m)\n",
     "(o.m, o.rows)"),
    ("parameters_of_one_array", "for k in o.d: o.d[k] -= 0.1*o.g[k]\no.slopes[:] = x.sum()\nreturn o.flat*1", FLAT,
     "(o.d, o.g, o.flat, o.slopes)"),
]  # fmt: skip

#: what gives ``f(x, o)`` its arguments at call number ``k``
ARGUMENTS = [
    "o.a[1:]", "o.a[1:] if k % 2 else np.zeros(4)", "np.zeros(4) if k % 2 else o.a[1:]", "o.a", "o.a[:3] if k else o.a",
]  # fmt: skip
