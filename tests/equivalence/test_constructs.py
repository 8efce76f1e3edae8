"""Python's constructs inside decorated functions do the same as plain, or are refused at the line."""

import contextlib
import copy
import io
import itertools
import warnings

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS
from harness import alike, apart, arguments, compiled, difference, outcome
from programs_of_callbacks import BEFORE as CALLED
from programs_of_callbacks import PROGRAMS as CALLBACKS
from programs_of_constructs import BEFORE, PROGRAMS
from programs_of_generators import PROGRAMS as GENERATORS
from programs_of_match import PROGRAMS as MATCHED
from programs_of_users_generators import BEFORE as YIELDING
from programs_of_users_generators import PLAIN, TRACED


def wrong(programs, counts, executor):
    """Return the programs that do otherwise than plain Python, and what."""
    found = []
    for number, source in enumerate(programs):
        for count in counts:
            if what := difference(source, f"construct {number}", arguments(count), executor, BEFORE):
                found.append(f"{source}\n   with n of {type(count).__name__}: {what}")
    return "\n".join(found)


def test_constructs_as_plain():
    assert len(PROGRAMS) >= 300 and not wrong(PROGRAMS[::3], [np.int64(3)], "sequential")


def test_constructs_where_python_decides():
    assert not wrong(PROGRAMS[1::12], [3], "sequential")


def test_constructs_on_the_scheduler():
    assert not wrong(PROGRAMS[2::12], [np.int64(3)], "dataflow")


def test_generators_as_plain():
    assert len(GENERATORS) > 90 and not wrong(GENERATORS[::2], [np.int64(3)], "sequential")


def printed(function, given):
    """Return what two calls print, and the words of the exception that ends them."""
    given, out = copy.deepcopy(given), io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            function(*given), function(*given)
        except Exception as error:
            return out.getvalue(), str(error).partition("\n")[0]
    return out.getvalue(), ""


def test_functions_that_a_library_calls_print_as_plain():
    for number, source in enumerate(CALLBACKS):
        program, given = compiled(source, f"callback {number}", BEFORE + CALLED), arguments(np.int64(3))
        assert printed(al.function(program, executor="sequential"), given) == printed(program, given), source
        assert not difference(source, f"callback {number}", given, "sequential", BEFORE + CALLED)


STRICT = (
    "for p, q in zip(a[:2], {}, strict=True):\n    print(p)\n    a[0] += q",
    "for p, q in zip({}, a[:2], strict=True):\n    print(p)\n    if q > 1: break\n    a[0] += p",
    "for j, (p, q) in enumerate(zip(range(2), {}, strict=True)):\n    print(p)\n    a[j] += q",
    "return [p + q for p, q in zip({}, a[:2], strict=True)]",
    "return [print(p) for p, q in zip(a[:1], a[:2], strict=True)]",
    "return any(p + q > 3 for p, q in zip({}, a[:3], strict=True))",
)


def test_a_strict_zip_raises_behind_the_elements_that_there_are():
    for source, of in itertools.product(STRICT, ("a[1:3]", "a[:n]", "a[:1]", "a[:0]", "a[n:n]")):
        program, given = compiled(source.format(of), f"zip of {of}"), arguments(np.int64(3))
        decorated = al.function(program, executor="sequential")
        assert printed(decorated, given) == printed(program, given), (source, of)
        assert not apart(outcome(program, given), outcome(decorated, given), "sequential"), (source, of)


def test_generators_of_the_users():
    for executor in ("sequential", "auto"):
        for programs, warns in ((TRACED, False), (PLAIN, True)):
            for number, source in enumerate(programs.strip().split("\n---\n")):
                given, name = arguments(np.int64(3)), f"generator {number} of {executor}"
                assert not difference(source, name, given, executor, YIELDING), source
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    al.function(compiled(source, name, YIELDING), executor=executor)(*given)
                assert [
                    str(one.message) for one in told if "runs as plain Python" in str(one.message)
                ] == [] or warns, source
                assert told or not warns, source


FINALLY = (
    "try:\n    if x == 3.5: return 1\n    else: raise ValueError('none')\nfinally: a[0] = 9",
    "try:\n    for k in range(n):\n        if a[k] > 1: raise ValueError('none')\nfinally: a[0] = 9\nreturn a",
    "try: assert x > 3, 'small'\nfinally: m[1] = a[2]",
    "try: return a[n + len(a)]\nfinally: a[0] = 9",
    "try: return np.linalg.inv(m[:2, :2] * (x - x))\nfinally: m[1] = a[2]",
    "try: return {0: x}[n]\nfinally: a[0] = 9",
    "with contextlib.ExitStack() as s:\n    s.callback(a.fill, 1)\n    return a[n + len(a)]",
    "for k in range(n + 9):\n    try: x += a[k]\n    finally: a[0] += 1\nreturn x",
    "for k in range(n + 9):\n    for j in range(n):\n        try: x += a[k]\n        finally: a[0] += 1\nreturn x",
)


def test_what_finally_writes_is_there_after_an_exception():
    for number, source in enumerate(FINALLY):
        program, (plain, decorated) = (
            compiled(source, f"finally {number}", BEFORE),
            (arguments(np.int64(3)), arguments(np.int64(3))),
        )
        for function, given in ((program, plain), (al.function(program, executor="sequential"), decorated)):
            with warnings.catch_warnings(), pytest.raises((ValueError, AssertionError, LookupError)):
                warnings.simplefilter("ignore")  # plain Python runs
                function(*given)
        assert alike(plain, decorated), source


def test_match_as_plain():
    assert len(MATCHED) > 50 and not wrong(MATCHED[::2], [np.int64(3)], "sequential")


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
def test_constructs_under_every_executor(executor):
    assert not wrong(PROGRAMS + GENERATORS + MATCHED, [3, np.int64(3)], executor)


#: what gives a pair, or None, as only the run knows
FIND = """
def find(a):
    best = None
    for k, v in enumerate(a):
        if v > 3: best = (v, k)
    return best
"""
REFUSED = (
    ("for e in itertools.cycle(a):\n    x += e\n    if x > 30: break\nreturn x", "which has given 300 elements"),
    ("for k in itertools.count(0.5):\n    if a.sum() < k: break\nreturn k", "let it count by ints"),
    ("if x > 2:\n    with np.printoptions(precision=2): x = x + 1\nreturn x", "would hold while that is traced"),
    (
        "with contextlib.ExitStack() as s:\n    s.callback(a.fill, 1)\n    if x > 2: raise KeyError\n",
        "would not be told",
    ),
    ("g = (v for v in a if v > 1)\nif any(v > 2 for v in g): return next(g)", "left when a tensor said so"),
    ("g = (v for v in a[:n])\nreturn sum(g) + sum(g)", "was run over before"),
    ("return np.fromiter((v for v in a if v > 1), float)", "gives only the run can tell here"),
    ("return collections.Counter(k for k in range(n))", "only the run knows how many elements it gives"),
)


#: what stays Python, and is asked for what only the run knows
KEPT = (
    ("match [a[k] for k in range(n)]:\n    case [p]: return p\nreturn x", "`match` would look into the list"),
    ("match (find(a), n):\n    case ((p, q), 3): return p\nreturn x", "`match` would look into 'best'"),
    ("match a:\n    case np.ndarray(ndim=1): return x", "asks a tensor here for the class of a number or an array"),
    ("match [(x, 1), n]:\n    case [(2.5, y) | (y, 2.5), 9]: return y", "patterns have alternatives inside"),
    ("return [y for v in a if (y := v * 2) > 3], y", "of one that sets a name by `:=`, stays Python"),
    ("return any((y := v) > 2.5 for v in a), y", "How far a generator expression gets"),
    ("return sorted({k for k in range(5) if k < x})", "The condition of a set or dict comprehension"),
    ("return np.array([1, 2]).astype('int' if x > 2 else 'float')", "NumPy is given a text here"),
    ("print(x, end=str(n))", "`end` of print is what only the run knows"),
    ("return str(n).split('a')", "what `split` of a text gives only the run knows"),
    ("return [c for c in str(n)]", "how many characters a text has only the run knows"),
    ("for c in str(n): x += ord(c)\nreturn x", "how many characters a text has only the run knows"),
    ("p, *q = a[a > 1.5]\nreturn p, q", "the number of its rows must be known"),
    ("return {k: 1 for k in range(n)}", "append to a list in a `for` loop"),
    (
        "r = np.random.Generator(np.random.PCG64(3))\nfor k in range(n): x += r.random()\nreturn x",
        "is asked for random numbers in a loop",
    ),
    (
        "r = np.random.Generator(np.random.PCG64(3))\nif x > 2: a[0] = r.normal()\nreturn r.normal()",
        "is asked for random numbers in a",
    ),
    ("s = 'a'\nif x > 2: s = 3\nreturn s", "differ under a tensor condition"),
    ("s = 'a'\nfor k in range(n): s = k\nreturn s", "only tensors, numbers and structures of them"),
    ("s = 'a'\nfor k in range(n): s = str(k) if k else 3\nreturn s", "differ under a tensor condition"),
    ("s = a\nfor k in range(n): s = str(k)\nreturn s", "is a tensor or number before the loop"),
    ("s = 0\nfor k in range(n): s = s, k\nreturn s", "same nested structure after one iteration"),
    ("if x > 2: return None\nreturn a, x", "must have the same nested structure"),
    ("for v in a:\n    if v > x: return v, a", "must have the same nested structure"),
    ("if x > 2: return None\nreturn x", "None at the end of the main branch"),
    ("if x > 3: return a, x\nelse: return 'no'", "must have the same nested structure"),
    ("s = a if x > 2 else (a, x)\nreturn s", "must have the same nested structure"),
    ("if x > 2: return []\nreturn [x]", "a list whose length depends on a tensor condition"),
)


def test_what_stays_python_plain_python_runs():
    for number, (source, words) in enumerate(KEPT):
        name, given = f"kept construct {number}", arguments(np.int64(3))
        assert not difference(source, name, given, "auto", BEFORE + FIND), source
        with pytest.warns(UserWarning, match=words):
            al.function(compiled(source, name, BEFORE + FIND))(*given)
        with pytest.raises(TypeError, match=words):
            al.function(compiled(source, name, BEFORE + FIND))(al.constant(given[0]), *given[1:])


def test_what_cannot_be_followed_is_refused():
    for number, (source, words) in enumerate(REFUSED):
        with pytest.raises((TypeError, NotImplementedError), match=words):
            decorated = al.function(compiled(source, f"refused construct {number}", BEFORE + FIND), executor="native")
            decorated(*arguments(np.int64(3)))
