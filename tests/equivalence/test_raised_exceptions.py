"""The user's exceptions: what they hold is what plain Python's hold, and each call raises one of its own."""

import itertools

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS
from worlds import module, played, world

INTERPRETED = itertools.cycle(["auto", "sequential", "dataflow"])

TOP = """
class A(Exception):
    def __init__(s, v, w): super().__init__("at"); s.v = v; s.w = w
class Told(Exception):
    def __init__(s, w): super().__init__(f"at {w}"); s.w = w
class Doubled(Exception):
    def __init__(s, v): super().__init__(v * 2); s.v = v
class Says(Exception):
    def __init__(s, v): s.v = v
    def __str__(s): return f"says {s.v}"
class Named(ValueError):
    def __init__(s, text, *, w=None): super().__init__(text); s.w = w
class Several(A, ValueError):
    def __init__(s, *a): super().__init__(*a); s.z = [a[1], a[0]]
class Os(OSError):
    def __init__(s, n, w): super().__init__(n, f"os {w}"); s.w = w
class Slots(Exception):
    __slots__ = ("w",)
    def __init__(s, w): super().__init__("slots"); s.w = w
def late(w):
    error = ValueError("late"); error.w = w; error.add_note("mine")
    return error
def chained(w):
    error = ValueError("chained"); error.__cause__ = KeyError("q")
    return error
class Own(Exception): pass
def fail(): raise Own("failed")
class Base:
    def area(self, x): raise NotImplementedError
class Shape(Base): pass
"""
ERRORS = [
    "A(x, w)", "Told(w)", "Doubled(w)", "Says(w)", "Named('text', w=w)", "Named(f'{w}', w=w)", "Several(x, w)",
    "KeyError(w)", "KeyError('a')", "Os(3, w)", "OSError(2, 'no', 'f')", "Slots(w)", "late(w)", "chained(w)",
    "ValueError(x * 2, w)", "Told(w) from KeyError(x.sum())", "Own([w, {'a': x}])",
]  # fmt: skip
SHAPES = [
    "w, i = x.sum(), 0\nwhile i < w:\n    if i > 2: raise {}\n    i += 1\nreturn x",
    "w = x.sum()\nif w > 2: raise {}\nreturn x",
    "w = x.sum()\nraise {}",
]


def told(error):
    """Return what an exception holds, for comparison; what the caller adds to it is on no other one."""
    held = {name: one for name, one in vars(error).items() if name[:2] != "__"} | {"w": getattr(error, "w", None)}
    notes = [note for note in getattr(error, "__notes__", ()) if not note.startswith("in operation")]
    cause = error.__cause__ and (type(error.__cause__), repr(error.__cause__.args))
    found = type(error), str(error).partition(" (")[0], repr(error.args), repr(held), notes, cause
    error.add_note("of the caller")
    error.extra = 1
    return found


def raised(f):
    found = []
    for _ in range(2):
        try:
            f(np.array([3.0, 3.0]))
        except Exception as error:
            found.append(told(error))
    return found


@each(ERRORS)
def test_what_an_exception_holds_is_what_plain_pythons_holds(error):
    for number, shape in enumerate(SHAPES):
        f = world(f"{error} {number}", module(shape.replace("{}", error), TOP))["f"]
        expected = raised(f)
        assert len(expected) == 2
        assert raised(al.function(f, executor=next(INTERPRETED))) == expected, shape


def test_an_exception_that_was_there_before_is_the_one_that_is_raised():
    names = world("there before", module(SHAPES[1].replace("{}", "known"), "known = ValueError('known')\n"))
    f = al.function(names["f"])
    for _ in range(2):
        try:
            f(np.array([3.0, 3.0]))
        except ValueError as error:
            assert error is names["known"]
        else:
            raise AssertionError


#: what raises only where the run gets there
PERHAPS = [
    ("of_a_function", "if x.sum() > 2: fail()\nreturn x"),
    ("of_an_inner_function", "def inner():\n    o.n += 1\n    raise Own('z')\nif x.sum() > 2: inner()\nreturn x"),
    ("abstract", "if x.sum() > 2: return Shape().area(x)\nreturn x * 0"),
    ("in_a_loop", "i = 0\nwhile i < x.sum():\n    if i > 2: fail()\n    i += 1\nreturn x * i"),
    ("endless", "while True:\n    if x.sum() > 2: fail()\n    x = x + 1\n    if x.sum() > 1: break\nreturn x"),
    ("exit", "if x.sum() > 2: sys.exit(3)\nreturn x"),
    ("end_of_an_iterator", "it = iter([])\nif x.sum() > 2: next(it)\nreturn x"),
    ("changed_before", "if x.sum() > 2:\n    o.n += 1\n    L.append(1)\n    raise Own(x.sum())\nreturn x"),
    ("counted", "if x.sum() > 2: raise Counted(x.sum())\nreturn x"),
    ("arrays_before", "if x.sum() > 2:\n    o.a[0] += 1\n    x[1] = 7\n    raise Own('a')\nreturn x.sum()"),
    ("a_division", "if x.sum() > 2:\n    o.n += 1\n    return 1 / (o.n - o.n)\nreturn x.sum()"),
]
WORLD = TOP + (
    "class O: n = 0\no, L = O(), []\no.a = np.zeros(2)\n"
    "class Counted(Exception):\n    n = 0\n    def __init__(s, w): Counted.n += 1; s.w = w\n"
)


@each(PERHAPS, lambda name, _: name)
def test_what_a_side_raises_is_raised_if_the_run_gets_there_and_what_it_has_changed_before_is_left(name, body):
    outcomes = []
    for executor in (None, next(INTERPRETED)):
        names = world(name, module(body, WORLD))
        f = names["f"] if executor is None else al.function(names["f"], executor=executor)
        found = []
        for number in (0.25, 2.0, 0.25, 3.0):
            x = np.array([number, number])
            try:
                found.append(repr(f(x)))
            except (Exception, SystemExit) as error:
                found.append((type(error).__name__, str(error).partition(" (")[0]))
            found.append((x.tolist(), names["o"].n, names["o"].a.tolist(), len(names["L"]), names["Counted"].n))
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]


#: what arrays are given, and the lines that raise after one has been written to, while the function is traced
WRITTEN = {
    "i": lambda: np.arange(1, 5, dtype=np.int32), "f": lambda: np.arange(1.0, 5.0), "m": lambda: np.ones((2, 3)),
    "b": lambda: np.zeros(4, bool),
}  # fmt: skip
RAISED = [
    # what no rule casts
    ("i", "a /= 2"), ("i", "a += 1.5"), ("i", "a **= 0.5"), ("i", "np.add(a, 1.5, out=a)"), ("b", "a += 1"),
    ("f", "a += 1j"), ("f", "a <<= 1"), ("f", "a &= 1"), ("b", "a -= True"), ("i", "np.copyto(a, np.ones(4))"),
    ("i", "np.copyto(a, np.ones(4) * 1j, casting='safe')"), ("f", "return a.astype(np.int32, casting='safe')"),
    ("f", "return np.add(a, 1, casting='no', dtype=np.float32)"), ("f", "return np.bitwise_or(a, a, dtype=np.int64)"),
    ("f", "return np.bincount(a)"), ("f", "return np.take(a, a)"), ("f", "np.put(a, a, 1)"),
    ("f", "return np.concatenate([a, a], dtype=np.int32, casting='safe')"),
    ("f", "return np.stack([a, a], dtype=np.int32, casting='safe')"),
    # elements, dtypes and axes that there are none of
    ("f", "a[1] = 'x'"), ("i", "a[1] = None"), ("f", "a[1] = 1j"), ("f", "a.fill(1j)"), ("f", "a += 'x'"),
    ("f", "return a + None"), ("f", "return a.astype('none')"), ("f", "return np.add(a, 1, dtype='none')"),
    ("f", "return np.sum(a, axis=3)"), ("f", "return np.sum(a, axis=1.5)"), ("f", "return np.stack([a, a], axis=5)"),
    ("f", "raise np.exceptions.AxisError(3, 1)"), ("i", "a[1] = 2**40"),
    # what ufuncs and functions do not take
    ("f", "return np.gcd(a, 2)"), ("f", "return ~a"), ("b", "return -a"), ("f", "return np.sqrt(a, dtype=np.int32)"),
    ("f", "return np.select([a], [a])"), ("f", "return np.polyfit(a, a[:2], 1)"), ("f", "return np.add(a)"),
    ("f", "return np.linalg.inv(a)"), ("m", "return np.linalg.inv(a)"), ("m", "a @= np.ones((2, 2))"),
    ("f", "return a + np.ones(3)"), ("f", "return a.reshape(3, 3)"), ("f", "a[9] = 1"), ("f", "return a.none"),
    # what Python says
    ("f", "None + 1"), ("f", "len(3)"), ("f", "{'a': 1}['b']"), ("f", "(3).none"), ("f", "1 / 0"), ("f", "int('x')"),
    ("f", "[].pop()"), ("f", "b, c = a"), ("f", "b, c = 1, 2, 3"), ("f", "none"), ("f", "assert False, 'no'"),
]  # fmt: skip


def left_of(f, array):
    """Return what a function raises, its type and message, and what its argument holds then."""
    try:
        f(array)
    except Exception as error:
        return type(error), str(error), array.tolist()
    raise AssertionError("nothing was raised")


@each([(*case, executor) for case in RAISED for executor in EXECUTORS])
def test_what_is_written_before_a_line_that_raises_stays(kind, line, executor):
    plain = world(f"{kind} {line}", f"import numpy as np\ndef f(a):\n    a[-1] = 1\n    a[:1] *= a[:1]\n    {line}\n")[
        "f"
    ]
    expected, f = left_of(plain, WRITTEN[kind]()), al.function(plain, executor=executor)
    assert left_of(f, WRITTEN[kind]()) == left_of(f, WRITTEN[kind]()) == expected


def checked(x):
    try:
        assert np.all(x < np.inf)
    except AssertionError:
        raise ValueError(f"too large: {x.max()}") from None
    return x.sum()


def test_an_except_around_an_assert_on_arrays_is_plain_pythons():
    decorated = al.function(checked)
    with pytest.warns(UserWarning, match="AssertionError is raised under a tensor condition"):
        assert decorated(np.ones(2)) == 2
    for _ in range(2):
        with pytest.raises(ValueError, match="too large: inf"):
            decorated(np.full(2, np.inf))


class Held:
    def __init__(self, value):
        self.value = value


def of_an_object(x):
    raise ValueError("held", Held(x * 2))


def of_an_attribute(x):
    error = ValueError("held")
    error.held = [Held({"x": x * 2})]
    raise error


def of_a_function(x):
    made = x * 2
    raise ValueError("held", Held(lambda: made))


@each([of_an_object, of_an_attribute, of_a_function])
def test_an_object_in_an_exception_holds_what_plain_pythons_does(f):
    def held(error):
        (one,) = getattr(error, "held", error.args[1:])
        value = one.value() if callable(one.value) else one.value
        return type(error), error.args[0], value["x"] if isinstance(value, dict) else value

    decorated = al.function(f, executor=next(INTERPRETED))
    with pytest.warns(UserWarning, match="an exception holds an object of the class 'Held'"):
        for number in (1.0, 3.0):
            with pytest.raises(ValueError, match="held") as raised:
                decorated(np.array([number, 2.0]))
            np.testing.assert_equal(held(raised.value), (ValueError, "held", np.array([number * 2, 4.0])))


#: what a helper raises in a loop of the graph, where a trace knows that it does; ``{}`` stands where that is caught
CAUGHT = {
    "except": "try: p = low(w - 9)\nexcept ValueError as e: p = e.args[0]",
    "except, else, finally": "try: p = low(w - 9)\nexcept KeyError: p = 1\nexcept ValueError: p = 2\nelse: p = 3\n"
    "finally: seen.append(1)",
    "a bare except": "try: p = low(-1)\nexcept: p = type(sys.exception()).__name__",
    "within a helper": "p = safe(w - 9)",
    "suppress": "p = 1\nwith contextlib.suppress(ValueError): p = low(w - 9)",
    "a manager that swallows": "p = 1\nwith Swallow(): p = low(-9)",
    "a manager that is told": "p = 1\ntry:\n    with Look(): p = low(-9)\nexcept ValueError: p = 2",
    "a generator's manager": "p = 1\nwith guard(): p = low(-9)",
    "raised again": "p = 1\ntry:\n    try: low(-9)\n    except ValueError as e: raise KeyError(e.args[0]) from e\n"
    "except KeyError as e: p = repr(e.__cause__)",
    "raised again by name": "try:\n    try: low(-9)\n    except ValueError: raise\nexcept ValueError: p = 2",
}
CATCHING = """
seen = []
def low(v):
    if v < 0: raise ValueError("low")
    return v
def safe(v):
    try: return low(v)
    except ValueError: return "safe"
class Swallow:
    def __enter__(self): return self
    def __exit__(self, kind, error, traceback):
        seen.append((kind.__name__, str(error)))
        return True
class Look(Swallow):
    def __exit__(self, *told):
        super().__exit__(*told)
@contextlib.contextmanager
def guard():
    try: yield
    except ValueError as e: seen.append(e.args)
"""
#: loops of the graph in whose bodies that stands
ROUNDS = (
    "w, s, p = 0, 0.0, None\nwhile s < x.sum():\n    s += 0.5\n    w = 1\n    {}\nreturn s, str(p)",
    "s, w = 0.0, 1\nfor v in x:\n    p = 0\n    while s < v:\n        s += 1\n        {}\n    s += len(str(p))\n"
    "return s",
)


@each([(name, form) for name in CAUGHT for form in ROUNDS])
def test_what_a_helper_raises_in_a_loop_is_caught_there(name, form):
    margin = form[: form.index("{")].rpartition("\n")[2]
    text = module(form.format(CAUGHT[name].replace("\n", "\n" + margin)), CATCHING, "seen")
    wanted, _ = played("caught", text)
    assert not any(isinstance(call[0][0], type) for call in wanted), wanted
    found, _ = played("caught", text, next(INTERPRETED))
    assert found == wanted
