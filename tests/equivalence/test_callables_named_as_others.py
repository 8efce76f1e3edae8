"""What a callable of the user's holds under ``__self__``, and how it is named, makes it no method of another."""

import itertools

from each_case import each
from worlds import module, played

EXECUTORS = itertools.cycle(["auto", "sequential", "dataflow"])
BODY = "y = c(x)\nfor i in range(2):\n    y = y + c(y)\nwhile y[0] < 20: y = c(y)\nreturn y"
CALLED = "class C:\n    {0}\n    def __call__(self, *a): return a[-1] + 1\nc = C()"
BOUND = "import types\nclass C:\n    def __call__(self, *a): return a[-1] * len(a)\nc = types.MethodType({0}, {1})"
NAMED = "N = 0\n@functools.wraps({0})\ndef c(x):\n    global N\n    N += 1\n    return x + 1"
PROGRAMS = [
    ("text", CALLED.format("__self__ = 'text'"), "0"),
    ("set", CALLED.format("__self__ = {1, 2}"), "C.__self__"),
    ("popping", CALLED.format("__self__, __name__ = {1, 2}, 'pop'"), "C.__self__"),
    ("generator", CALLED.format("__self__, __name__ = rng, 'normal'"), "0"),
    ("seeding", CALLED.format("__self__, __name__ = rs, 'seed'"), "0"),
    ("slot", "class C:\n    __slots__ = ('__self__',)\n    def __call__(self, x): return x + 1\nc = C()\n"
     "c.__self__ = rng", "0"),
    ("property", CALLED.format("n = 0\n    @property\n    def __self__(self): self.n += 1"), "c.n"),
    ("function", "def c(x): return x + 1\nc.__self__ = rng", "0"),
    ("bound_object", BOUND.format("C()", "[1, 2]"), "0"),
    ("bound_to_a_generator", BOUND.format("C()", "rng"), "0"),
    ("bound_partial", BOUND.format("functools.partial(C(), 3)", "'text'"), "0"),
    ("making", NAMED.format("np.random.default_rng"), "N"),
    ("drawing", NAMED.format("np.random.normal"), "N"),
    ("seeding_all", NAMED.format("np.random.seed"), "N"),
    ("sample", NAMED.format("np.random.sample"), "N"),
]  # fmt: skip


def first(name, *_):
    return name


@each(PROGRAMS, first)
def test_a_callable_is_no_method_for_what_it_holds_or_is_named(name, top, state):
    text, executor = module(BODY, top, state), next(EXECUTORS)
    found, reasons = played(name, text, executor)
    assert found == played(name, text)[0], executor
    assert not reasons
