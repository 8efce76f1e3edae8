"""What Python says of the type of what stands for a value in a trace it says of the value: of none of ours, and it is
raised where plain Python raises it."""

import collections.abc
import copy
import linecache
import operator
import pickle
import warnings

import autoloop as al
import numpy as np
import pytest
from autoloop.errors import stand_ins

MADE = {
    "maybe none": "e = None\n if n > 5:\n  e = d[0]",
    "maybe unset": "if n > 5:\n  e = n * 2",
    "mixed": "e = 1\n if n > 5:\n  e = 2.5",
    "array or number": "e = 1.0\n if n > 5:\n  e = x",
    "list": "e = []\n for i in range(n):\n  e.append(i * 2)",
    "bytes": "e = (x * n).tobytes()",
    "range": "e = range(n)",
    "map": "e = map(abs, range(n))",
    "generator": "e = (i * 2 for i in range(n))",
    "text": "e = 'a'\n if n > 5:\n  e = 'bc'",
}
ASKED = (
    "return e(1)", "e[0] = x[1]; return 0", "del e[0]; return 0", "return e @ 'a'", "return next(e)", "return -e < 'a'",
    "del e.foo; return 0", "return [1, 2][e]", "return copy.copy(e) is None",
)  # fmt: skip
CAUGHT = "try:\n  e[0] = x[1]\n except TypeError:\n  return 'caught'\n return 'set'"


NAMES = {"copy": copy, "np": np, "collections": collections, "operator": operator, "pickle": pickle}


def of_source(text):
    name, names = f"<stand-in {abs(hash(text))}>", dict(NAMES)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), names)
    return names["f"]


def outcome(f, n):
    given = [np.ones(3), 2]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "gives", repr(f(np.int64(n), np.array([1.0, 2.0, 3.0]), given)), repr(given)
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("made", MADE)
def test_no_message_names_a_class_of_ours(made):
    for asked in (*ASKED, CAUGHT):
        f = of_source(f"def f(n, x, d):\n {MADE[made]}\n {asked}\n")
        decorated = al.function(f)
        for n in (7, 3):
            plain, found = outcome(f, n), outcome(decorated, n)
            assert found == tuple(map(stand_ins.to_user, found)), (asked, found)
            # none of them gives another value; what is refused is refused in other words
            assert found == plain or found[0].endswith("Error"), (asked, plain, found)


def mixed_copied(n):
    e = 1
    if n > 5:
        e = 2.5
    return copy.copy(e)


def test_a_copy_of_what_only_the_run_knows_is_refused_where_plain_python_cannot_make_it():
    words = "cannot copy a number .of which only the run knows the type"
    with pytest.raises(TypeError, match=words):
        al.function(mixed_copied, executor="native")(np.int64(7))
    with pytest.warns(UserWarning, match=words):
        assert al.function(mixed_copied)(np.int64(7)) == 2.5


HAS = ("storage", "value", "parts", "plain", "types", "dtype", "shape", "__array__", "__dict__")
QUESTIONS = (
    f"[hasattr(e, n) for n in {HAS}]", "[getattr(e, n, 7) for n in ('storage', 'value', 'parts', 'known')]",
    "callable(e)", "dir(e)", "e.storage", "e.parts",
)  # fmt: skip


def test_what_stands_for_a_value_has_what_that_has():
    for made in (
        "x[0]",
        "x * 2",
        "float(x[0])",
        "int(x[0])",
        "str(x[0])",
        "range(n)",
        "[i for i in range(n)]",
        "x[0] > 1",
    ):
        for asked in QUESTIONS:
            f = of_source(f"def f(n, x, d):\n e = {made}\n return {asked}\n")
            plain, found = outcome(f, 3), outcome(al.function(f), 3)
            assert found[:2] == plain[:2], (made, asked)
    for made in (MADE["mixed"], "e = True\n if n > 5:\n  e = 2"):
        for asked in QUESTIONS[:3]:
            f = of_source(f"def f(n, x, d):\n {made}\n return {asked}\n")
            plain, found = outcome(f, 3), outcome(al.function(f), 3)
            assert found == plain, (made, asked)


def test_an_attribute_that_some_types_of_a_number_lack_is_asked_of_the_one_it_is():
    attributes = (
        ("e.size", False),
        ("e.nbytes", False),
        ("e.ndim", True),
        ("e.dtype", True),
        ("getattr(e, 'size', 7)", True),
    )
    for asked, is_left in attributes:
        f = of_source(f"def f(n, x, d):\n e = 1\n if n > 5:\n  e = np.sqrt(x[1])\n return {asked}\n")
        for n in (3, 7):
            plain, found = outcome(f, n), outcome(al.function(f), n)
            assert found[:2] == plain[:2], (asked, n)
            native = outcome(al.function(f, executor="native"), n)
            assert (native[0] == "TypeError") == is_left, (asked, native)


def test_an_array_without_axes_is_no_key():
    for made in ("np.array(x.sum())", "np.where(x[0] > 1, 1.0, 2.0)", "x[..., 0]"):
        for asked in ("{1.0: 2}.get(e)", "{1.0: 2}[e]", "e in {1.0, 2.0}", "e in {1.0: 2}"):
            f = of_source(f"def f(n, x, d):\n e = {made}\n return {asked}\n")
            plain, found = outcome(f, 3), outcome(al.function(f), 3)
            assert found[:2] == plain[:2] and plain[0] == "TypeError", (made, asked)


ITERATORS = {
    "enumerate": "e = enumerate(x)", "zip": "e = zip(x, range(n))", "map": "e = map(abs, x)", "iterator": "e = iter(x)",
    "filter": "e = filter(None, x)", "reversed": "e = reversed(x)", "generator": "e = (i * 2 for i in range(n))",
    "range": "e = range(n)", "range_iterator": "e = iter(range(n))", "map of a range": "e = map(abs, range(n))",
    "reversed range": "e = reversed(range(n))", "generator of rows": "e = (i * 2 for i in x if i > 0)",
}  # fmt: skip
AS_THEIRS = (
    "return e[0]", "return len(e)", "return list(reversed(e))", "return e.foo", "return e.length",
    "e.foo = 1; return 0",
    "e.length = 1; return 0", "del e.foo; return 0", "e.gi_frame = 1; return 0", "return isinstance(e, map)",
    "return isinstance(e, collections.abc.Iterator)", "return hasattr(e, '__len__')", "return hasattr(e, '__next__')",
    "return getattr(e, 'get', 7)", "return type(e).__name__", "return e.__class__.__name__", "return vars(e)",
    "return 1 if e else 2", "return iter(e) is e", "return e + e", "return float(e)", "return abs(e)",
)  # fmt: skip
OR_REFUSED = (
    "return len(list(zip(e, e)))", "a = list(e); return len(list(e))", "return copy.copy(e) is None",
    "return operator.length_hint(e)", "return np.sum(e) is None", "return (e or 1) is None",
    "return pickle.dumps(e) is None",
    "return e.__next__()", "return e.send(None)",
)  # fmt: skip
CAUGHT_OF_THEM = "try:\n  {}\n except (TypeError, AttributeError):\n  return 'caught'\n return 'given'"


@pytest.mark.parametrize("made", ITERATORS)
def test_iterators_are_of_the_class_that_they_stand_for(made):
    for asked in AS_THEIRS + OR_REFUSED + tuple(map(CAUGHT_OF_THEM.format, ("e[0]", "len(e)", "e.foo", "e.parts"))):
        f = of_source(f"def f(n, x, d):\n {ITERATORS[made]}\n {asked}\n")
        plain, found = outcome(f, 3), outcome(al.function(f), 3)
        is_same = plain[:2] == found[:2] or (plain[0] == found[0] and plain[0].endswith("Error"))
        assert is_same or (asked in OR_REFUSED and found[0].endswith("Error")), (asked, plain, found)


def test_and_gives_a_list_only_as_what_is_true():
    def emptied(n, x):
        e, k = [], 0
        for i in range(n):
            e.append(i * 2)
        while e and k < n:
            k += 1
        return k + (10 if not (x[0] > 0 and e) else 20)

    def given(n, x):
        e = []
        for i in range(n):
            e.append(i * 2)
        return e or x

    for n in (0, 3):
        assert al.function(emptied)(np.int64(n), np.ones(1)) == emptied(n, np.ones(1))
    with pytest.warns(UserWarning, match="what `and` or `or` gives of objects of which only the run knows"):
        assert al.function(given)(np.int64(3), np.ones(1)) == given(3, np.ones(1))


@pytest.mark.parametrize(
    ("asked", "said"),
    [("copy.copy(e)", "cannot pickle 'generator' object"),
     ("e.gi_frame = 1", "attribute 'gi_frame' of 'generator' objects is not writable"),
     ("e[0]", "'generator' object is not subscriptable"), ("len(e)", "object of type 'generator' has no len()")],
)  # fmt: skip
def test_python_says_it_of_a_generator_of_the_run(asked, said):
    f = of_source(f"def f(n, x, d):\n e = (i * 2 for i in range(n))\n {asked}\n return 0\n")
    assert outcome(f, 3)[1] == outcome(al.function(f), 3)[1] == said
