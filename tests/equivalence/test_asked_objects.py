"""What asks whether something is true asks as often as Python: tests of loops, ``and``, ``or``, ``assert``."""

import itertools

import autoloop as al
import numpy as np
import pytest
from each_case import each
from worlds import module, played

EXECUTORS = itertools.cycle(["auto", "sequential", "dataflow"])
LOOP = "n = 0\nwhile ok(n, x): n += 1\nreturn n"
COUNTED = "C, L, D, W = 0, [], {}, np.zeros(2)\ndef ok(n, x):\n    global C\n    C += 1\n    return n < x[0]"
HELD = "class S: C = 0\ns = S()\ns.v = 5.0\ndef ok(n, x):\n    S.C += 1\n    s.C += 1\n    return n < x[0]"
TRUE = "class S:\n    asked, v = 0, 5.0\n    def __bool__(self):\n        S.asked += 1\n        return bool(self.v > 2)"
TRUE += "\ns, L = S(), []"
STATE = "(vars(s), S.asked, L)"
CHANGING = [
    ("global", LOOP, COUNTED, "C"),
    ("attributes", LOOP, HELD, "(vars(s), S.C)"),
    ("list", LOOP, "L = []\ndef ok(n, x):\n    L.append(n)\n    return n < x[0]", "L"),
    ("dict", LOOP, "D = {}\ndef ok(n, x):\n    D['n'] = D.get('n', 0) + 1\n    return n < x[0]", "D"),
    ("array", LOOP, "W = np.zeros(2)\ndef ok(n, x):\n    W[0] += n\n    return n < x[0]", "W"),
    ("printed", LOOP, "C = 0\ndef ok(n, x):\n    global C\n    C += 1\n    print(n, C)\n    return n < x[0]", "C"),
    ("variable", "n, k = 0, 0\ndef ok():\n    nonlocal k\n    k += 1\n    return n < x[0]\nwhile ok(): n += 1\n"
     "return n, k", "", "0"),
    ("own_array", "n, a = 0, np.zeros(2)\ndef ok():\n    a[0] += n\n    return n < x[0]\nwhile ok(): n += 1\n"
     "return n, a", "", "0"),
    ("number", "n = 0\nwhile ok(n, x): n += 1\nreturn n",
     "C = 0\ndef ok(n, x):\n    global C\n    C += 1\n    return x[0] - n", "C"),
    ("property", "n = 0\nwhile o.p < x[0]: n += 1\nreturn n",
     "class O:\n    n = 0\n    @property\n    def p(self):\n        self.n += 1\n        return self.n\no = O()",
     "vars(o)"),
    ("compared", "n = 0\nwhile o < x[0]: n += 1\nreturn n",
     "class O:\n    n = 0\n    def __lt__(self, k):\n        self.n += 1\n        return self.n < k\no = O()",
     "vars(o)"),
    ("asked_in", "n = 0\nwhile 'a' in d and n < x[0]: n += 1\nreturn n",
     "class D(dict):\n    asked = 0\n    def __contains__(self, k):\n        D.asked += 1\n"
     "        return dict.__contains__(self, k)\nd = D(a=1)", "D.asked"),
    ("break", "n = 0\nwhile ok(n, x):\n    n += 1\n    if n > x[1] / 2: break\nreturn n", COUNTED, "C"),
    ("return", "n = 0\nwhile ok(n, x):\n    n += 1\n    if n == 1: continue\n    if x[1] < 2 * n: return 10 * n\n"
     "return n", COUNTED, "C"),
    ("else", "n = 0\nwhile ok(n, x): n += 1\nelse: n += 100\nreturn n", COUNTED, "C"),
    ("two_loops", "n = 0\nwhile ok(n, x):\n    while ok(n, x - 1): n += 1\n    n += 1\nreturn n", COUNTED, "C"),
    ("in_a_loop_of_python", "n = 0\nfor k in range(2):\n    while ok(n, x + k): n += 1\nreturn n", COUNTED, "C"),
    ("later", "n = 0\nwhile ok(n):\n    n += 1\n    if n > x[0]: n += 1\nreturn n",
     "C = 0\ndef ok(n):\n    global C\n    C += 1\n    return n < 4", "C"),
    ("at_first_only", "n = 0\nwhile more(n, x): n += 1\nreturn n",
     "C = 0\ndef more(n, x):\n    global C\n    if C == 0:\n        C = 1\n        return x[0] > 0\n"
     "    return x[0] > n + 1", "C", "global C\nC = 0"),
    ("cached", "n = 0\nwhile o.mean > n: n += 1\nreturn n",
     "class O:\n    asked = 0\n    @functools.cached_property\n    def mean(self):\n        self.asked += 1\n"
     "        return self.x.mean() + 2\no = O()", "vars(o)",
     "o.x = np.arange(3.) + k\nif k != 1: vars(o).pop('mean', 0)"),
    ("object", "n = 0\nwhile s:\n    s.v = s.v - x[1] / 4\n    n += 1\ns.v = 5.0\nreturn n", TRUE, STATE),
    ("length", "n = 0\nwhile s:\n    s.k = s.k - 1\n    n += x[0]\ns.k = 3\nreturn n",
     "class S:\n    asked, k = 0, 3\n    def __len__(self):\n        S.asked += 1\n        return self.k\ns = S()",
     "S.asked"),
    ("assert", "n = 0\nwhile n < x[0]:\n    assert s\n    n += 1\nreturn n", TRUE, STATE),
    ("and_first", "s.v = x[1]\nn = 0\nif s and n < x[0]: n += 1\nreturn n", TRUE, STATE),
    ("or_first", "s.v = x[1]\nreturn 1 if (s or x[0] > 1) else 2", TRUE, STATE),
    ("python_s_own", "n = 0\nif s and n < x[0]: n += 1\nt = s and 3\nreturn n, t", TRUE, STATE),
]  # fmt: skip
EQUAL = "class V:\n    n = 0\n    def __init__(self, v): self.v = v\n    def __hash__(self): return 1\n"
EQUAL += "    def __eq__(self, o):\n        V.n += 1\n        return self.v == o.v"
#: what asks objects of the user's, of which the run tells whether they are equal, one after the other
COMPARED = [
    ("in_a_list", "return V(x[0]) in [V(1.0), V(2.0)]"),
    ("in_a_tuple", "return V(x[0]) not in (V(2.0), V(1.0))"),
    ("lists", "return [V(1.0), V(x[0])] == [V(x[1]), V(3.0)]"),
    ("tuples", "return (V(x[0]), V(2.0)) != (V(1.0), V(x[1]))"),
    ("place", "return [V(1.0), V(3.0)].index(V(3.0)), x"),
]
NOTE = "L = []\ndef note(*v):\n    L.append(1)\n    return f'{v}'"
#: bodies with an ``assert`` whose message does something, or fails, and what stands above them
MESSAGES = [
    ("changes", "assert x[1] < 4, note(x)\nreturn x", NOTE),
    ("changes_in_a_loop", "for v in x:\n    assert v < 4, note(v)\nreturn x", NOTE),
    (
        "changes_as_often_as_the_run_says",
        "i = 0\nwhile i < x[0]:\n    assert i < 9, note(i)\n    i += 1\nreturn x",
        NOTE,
    ),
    ("prints", "assert x[1] < 4, print('said')\nreturn x", "L = []"),
    ("finds_no_element", "assert x[0] < 3, ('a', 'b')[int(x[0]) + 7]\nreturn x", "L = []"),
    ("finds_no_key", "assert x[0] < 3, {}['a']\nreturn x", "L = []"),
    ("divides", "assert x[0] < 3, 1 // int(x[1] - 2)\nreturn x", "L = []"),
    ("formats", "assert x[0] < 3, f'{x[0]:d}'\nreturn x", "L = []"),
    ("is_known", "assert x[0] < 3, 'known'\nreturn x", "L = []"),
]
#: of which plain Python has the object where a graph has only whether it is true
OBJECTS = [
    ("and_later", "t = (x[0] > 1) and s\nL.append(t)\nreturn x", "would still hold"),
    ("or_of_one", "s.v = x[0]\nt = s or 3\nL.append(t)\nreturn x", "would still hold"),
    ("given_back", "s.v = x[0]\nt = s and 3\nreturn t is s, x", "`is` would compare"),
    ("equal", "s.v = x[0]\nt = s and 3\nreturn t == s, x", "`==` would compare"),
    ("not_equal", "s.v = x[0]\nt = s or None\nreturn t != s, x", "`!=` would compare"),
    ("counted_later", "t = (x[0] > 1) and s\nreturn x", "changes 'S.asked'"),
]  # fmt: skip


def first(name, *_):
    return name


@each(CHANGING, first)
def test_what_is_asked_is_asked_as_often(name, *program):
    text, executor = module(*program), next(EXECUTORS)
    found, reasons = played(name, text, executor)
    assert found == played(name, text)[0], executor
    assert not reasons


@each(OBJECTS, first)
def test_an_operand_is_the_object_where_more_than_its_truth_is_asked(name, body, why):
    top = TRUE if "changes" in why else TRUE.replace("        S.asked += 1\n", "")
    text = module(body, top, "(vars(s), S.asked, [one is s or one for one in L])")
    found, reasons = played(name, text, next(EXECUTORS))
    assert found == played(name, text)[0]
    assert len(reasons) == 1 and why in reasons[0]


@each(MESSAGES, first)
def test_the_message_of_an_assert_is_made_where_it_fails(name, body, top):
    text, executor = module(body, top, "L"), next(EXECUTORS)
    for one, other in zip(played(name, text, executor)[0], played(name, text)[0], strict=True):
        assert str(one[0]).partition("\\nin operation")[0].startswith(str(other[0])[:-2])
        is_raised = isinstance(other[0][0], type)  # in a loop: what it leaves is documented
        assert one[1:4] == other[1:4] or (is_raised and name == "changes_in_a_loop")


@each(COMPARED, first)
def test_objects_are_asked_whether_they_are_equal_until_one_is_not(name, body):
    for top in (EQUAL, EQUAL.replace("        V.n += 1\n", "")):
        text = module(body, top, "V.n")
        assert played(name, text, next(EXECUTORS))[0] == played(name, text)[0]


ASKED = [
    "def __getattribute__(self, n):\n        ASKED.append(n)\n        return object.__getattribute__(self, n)",
    "@property\n    def __class__(self):\n        ASKED.append('class')\n        return C",
    "@property\n    def __dict__(self):\n        ASKED.append('dict')\n        return {}",
]


@pytest.mark.filterwarnings("ignore:.* runs as plain Python")
@pytest.mark.parametrize("method", ASKED)
def test_an_object_that_counts_what_it_is_asked_for_is_asked_by_the_function_alone(method):
    names = {"np": np, "ASKED": []}
    exec(f"class C:\n    w = 2.0\n    {method}\n    def __len__(self): return 3", names)
    made, asked = names["C"](), names["ASKED"]
    calls = [(lambda x: x * made.w, (np.ones(3),)), (lambda o, x: x * o.w, (made, np.ones(3)))]
    calls += [(lambda os, x: x * os[0].w, ([made], np.ones(3)))]
    for function, given in calls:
        asked.clear()
        function(*given)
        once = asked[:]
        asked.clear()
        f = al.function(function)
        for turn in (1, 2, 3):
            f(*given)
            assert asked == turn * once
