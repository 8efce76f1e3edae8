"""Methods of Python's own containers that are called with wrong arguments say what Python says, also in loops."""

import itertools
import linecache
import re
import warnings

import autoloop as al
import numpy as np
from each_case import each

OWNERS = {
    "list": "[1, 2.5]",
    "tuple": "(1, 2.5)",
    "dict": "{'a': 1, 2: 3}",
    "set": "{1, 2}",
    "frozenset": "frozenset({1, 2})",
    "deque": "collections.deque([1, 2])",
    "str": "'abc'",
    "Counter": "collections.Counter('ab')",
    "defaultdict": "collections.defaultdict(list)",
}
GIVEN = ["", "7", "1, 2, 3", "foo=1", "x", "x[0]", "None, 1"]
EXECUTORS = itertools.cycle(["auto", "sequential", "dataflow"])
IN_LINE = "def f(x, n):\n    o = {owner}\n    y = x * 2\n    r = o.{name}({given})\n    return r, o, y\n"
IN_A_LOOP = """def f(x, n):
    o, k, r = {owner}, 0, 0
    while k < n:
        k += 1
        r = o.{name}({given})
    return r, o
"""


def methods():
    for kind, owner in OWNERS.items():
        for name in dir(eval(owner, {"collections": __import__("collections")})):
            if name[:1] != "_" and name not in ("translate", "maketrans", "format", "format_map", "join", "encode"):
                yield kind, name


def compiled(text, name):
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {"np": np, "collections": __import__("collections")}
    exec(compile(text, name, "exec"), names)
    return names["f"]


def outcome(f):
    found = []
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found.append(f(np.array([3.5, 1.0]), np.int64(2)))
            except Exception as error:
                # Python says "set.union()" or "union()", by how the method was called
                found.append((type(error), re.sub(r"\b[A-Za-z]+\.(?=\w+\(\))", "", str(error))))
    return repr(found).split(" object at 0x")[0]


@each(list(methods()), lambda kind, name: f"{kind}_{name}", one_in=2)
def test_words_are_pythons(kind, name):
    forms = itertools.cycle([IN_LINE, IN_A_LOOP] if len(name) % 2 else [IN_A_LOOP, IN_LINE])
    for given, form in zip(GIVEN[len(kind) % 2 :: 2], forms, strict=False):
        text = form.format(owner=OWNERS[kind], name=name, given=given)
        f = compiled(text, f"<wrong {kind} {name} {given} {form is IN_LINE}>")
        assert outcome(al.function(f, executor=next(EXECUTORS))) == outcome(f), text
