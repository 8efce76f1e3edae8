"""Arrays that a function makes and functions inside it, methods and generators write to: none may bind its name."""

import itertools

from each_case import each
from worlds import module, played

EXECUTORS = itertools.cycle(["auto", "sequential", "dataflow"])
EACH = "for k in range(3): put(k, {})\nreturn a"
PROGRAMS = [
    ("element", "a = np.zeros(3)\ndef put(k, v): a[k] = v * 2\nput(0, x[0])\nput(1, x[1])\nreturn a"),
    ("updated", "a = np.zeros(3)\ndef put(k, v): a[k] += v * 2\n" + EACH.format("x[k]")),
    ("part", "a = np.zeros(3)\ndef put(v): a[1:] = v[1:] * 2\nput(x)\nreturn a"),
    ("integers", "a = np.zeros(3, int)\ndef put(k, v): a[k] = v * 2\n" + EACH.format("int(x[k])")),
    ("truths", "a = np.zeros(3, bool)\ndef put(k, v): a[k] = v\n" + EACH.format("x[k] > 1")),
    ("complex", "a = np.zeros(3, complex)\ndef put(k, v): a[k] = v\n" + EACH.format("x[k]")),
    ("rows", "a = np.zeros((2, 3))\ndef put(k, v):\n    a[0][k] = v\n    a[1, k] = -v\n" + EACH.format("x[k]")),
    ("in_a_list", "a, L = np.zeros(3), [1]\nL.append(a)\ndef put(k, v): L[1][k] += v\n" + EACH.format("x[k]")),
    ("in_a_dict", "d = {'a': np.zeros(3)}\ndef put(k, v): d['a'][k] = d['n'] = v\nput(1, x[0])\nreturn d"),
    ("method", "a = np.zeros(3)\nput = lambda k, v: a.__setitem__(k, v)\n" + EACH.format("x[k]")),
    ("generator", "a = np.zeros(3)\ndef each():\n    for k in range(3):\n        a[k] = x[k] * 2\n        yield a[k]\n"
     "return sum(each()), a"),
    ("class", "class P:\n    n = 0\n    def put(self, v):\n        a[self.n] = v\n        self.n += 1\n"
     "a, p = np.zeros(3), P()\nfor v in x: p.put(v)\nreturn a, p.n"),
    ("made_by_another", "def made():\n    a, n = np.zeros(3), 0\n    def put(v):\n"
     "        nonlocal n\n        a[n] = v\n        n += 1\n    return put, a\nput, a = made()\n"
     "for v in x: put(v)\nif x[0] > 1: a[0] = 9\nreturn a"),
    ("loop", "n, a = 0, np.zeros(4)\ndef put(): a[n % 4] += n\nwhile n < x[1]:\n    n += 1\n    put()\nreturn n, a"),
    ("branch", "a = np.zeros(3)\ndef put(v): a[0] += v\nput(x[0])\nif x[1] > 2.5: put(x[1])\nreturn a"),
    ("caught", "a, n = np.zeros(3), 0\ndef put(v): a[0] = v\ntry: put(x[0])\nexcept ValueError: n = 1\nreturn a, n"),
]  # fmt: skip


@each(PROGRAMS, lambda name, _: name)
def test_functions_inside_write_to_an_array_of_the_function(name, body):
    executor = next(EXECUTORS)
    found, reasons = played(name, module(body), executor)
    assert found == played(name, module(body))[0], executor
    assert not reasons
