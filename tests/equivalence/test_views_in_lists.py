"""Views that a loop puts into a list: of what its variables hold when an iteration begins, the first of what was there
before."""

import itertools
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from worlds import module, world

EXECUTORS = itertools.cycle(["sequential", "dataflow", "auto"])
FOUR, SEVEN = np.linspace(-1.0, 2.0, 4).reshape(2, 2), np.linspace(2.0, -1.0, 7)
#: a view of ``x``, and whether plain Python runs the program
VIEWS = [
    ("x[::-1]", False),
    ("x[1:]", False),
    ("x[1:][::-1]", False),
    ("x[:]", False),
    ("x[1]", False),
    ("x[None]", False),
    ("x.T", False),
    ("x.T[1:].T", False),
    ("x.real", False),
    ("np.flip(x)", False),
    ("x.view('i8')", False),
    ("x.diagonal()", False),  # which nobody may write to
    ("np.broadcast_to(x, (3, 2, 2))", False),
    ("x.imag", False),
    ("(x*1, x.diagonal())", False),
    ("x.reshape(4, 1)", True),
    ("x.ravel()", True),
    ("x[i:]", True),
    ("(i, x[::-1])", False),
    ("{'v': x[::-1]}", True),
    ("[x[::-1]]", True),
    ("(x, x[::-1])", True),
    ("x[::-1] if i > 0 else x[::-1]*2", True),
]  # fmt: skip
#: where ``x`` comes from, what is given, and whether plain Python runs the program
USES = [
    ("", "q", False),
    ("", "q, x", False),
    ("y = x\n", "q, y, x", False),
    ("x = x*1\n", "q", False),
    ("y = x = x*1\n", "q, y, y[1:]", False),
    ("x = o.a\n", "q", False),
    ("x = np.arange(4.).reshape(2, 2)\n", "q, 1", False),
    ("x = x[::-1]\n", "q, 1", True),
]
EACH = "q = []\nfor i in range(n):\n    "
CONSTANT = "y = x = np.arange(4.)\n"
#: other programs, and whether plain Python runs them
PROGRAMS = [
    (EACH + "x = x*0.5\n    q.append(x[::-1])\nreturn q, 1", False),
    (EACH + "x = x*0.5\n    q.append(x[::-1])\nreturn q, x", True),
    (EACH + "q.append(x[::-1])\n    x = x*0.5\nq.append(x)\nreturn q, 1", False),
    ("y = x\n" + EACH + "q.append(x[::-1])\n    x = x*0.5\ny[0] = 7\nreturn q, 1", False),
    (EACH + "q.append(x[::-1])\n    x = x*0.5\nq[-1][0] = 7\nreturn q, 1", True),
    ("y = x\n" + EACH + "q.append(y[::-1])\n    y, x = x, x*0.5\nreturn q, x", True),
    ("z = x[::-1]\n" + EACH + "q.append(z)\n    x = x*0.5\n    z = x[::-1]\nreturn q, x", True),
    ("p = []\n" + EACH + "q.append(x[::-1])\n    p.append(x[1:])\n    x = x*0.5\nreturn q, p", True),
    (EACH + "if i > 0: q.append(x[::-1])\n    x = x*0.5\nreturn q, x", True),
    (EACH + "y = x[::-1]\n    x = x*0.5\n    q.append(y)\n    if x.sum() < 0.4: break\nreturn q, 1", False),
    (CONSTANT + EACH + "q.append(x)\n    x = x*0.5\nreturn q, y[1:]", True),
    (CONSTANT + EACH + "q.append(x[::-1])\n    x = x*0.5\nreturn q, y", True),
    (CONSTANT + EACH + "q.append(x[::-1])\n    x = x*0.5\nreturn q, y[2:]", True),
    (EACH + "y = np.zeros(3)\n    q.append(y)\n    q.append(y[1:])\nreturn q, 1", True),
    (EACH + "x = x*0.5\n    z = x[::-1]\nreturn (z, x) if n > 0 else x", True),
    ("r = x, x*2\n" + EACH + "y = x + 1\n    r = y[::-1], r[0]\n    x = y*0.5\nreturn r", False),
    ("r = x, x*2\n" + EACH + "y = x.copy()\n    r = y.T, r[0]\n    x = np.tanh(x)\nreturn r, x", True),
    ("r = x, x*2\n" + EACH + "r = x.T, r[0]\nreturn r", True),
    ("y = x*2\nr = y, x\n" + EACH + "r = y.T, r[0]\nreturn r", True),
    (EACH + "q.append(x*2)\n    x = x[::-1]\nq.append(x)\nreturn q, 1", True),
    (EACH + "q.append(x*2)\n    x = x + 1\nq.append(x)\nreturn q, 1", False),
    ("c, v = np.ones((2, 2)), x*2\n" + EACH + "v = c[:]\no.a = c\nreturn v", True),
    ("c, v = np.ones((2, 2)), x*2\n" + EACH + "v = x*3\no.a = c\nreturn v", False),
    ("u = x[:] - 1\nreturn u, u.reshape(2, 2)", False),
    ("c, u = np.arange(4.), x*2\n" + EACH + "u = c[::-1]\n    c = x[::-1]\nreturn u, x", True),
    ("c, u = np.arange(4.), x*2\n" + EACH + "q.append(c)\n    u = c[1:]\n    c = x[::-1]\nreturn q, u, c", True),
]
DIAGONALS = EACH + "q.append(np.diagonal(x*2))\n"
#: read-only arrays in lists
READ_ONLY = [
    (DIAGONALS + "return q, 1", False),
    (DIAGONALS + "return np.array(q)", False),
    (DIAGONALS + "    q.append(x[0]*2)\nreturn q, 1", True),
    (EACH.replace("[]", "[x[0]*1]") + "q.append(np.diagonal(x*2))\nreturn q, 1", True),
    ("x = x*1\nx.setflags(write=False)\n" + EACH + "q.append(x)\n    x = x*0.5\nreturn q, 1", True),
    (EACH.replace("q", "o.log") + "o.log.append({'v': np.diagonal(x*2)})\nreturn o.log.copy()", True),
]  # fmt: skip
#: what is given beside a list, of which nothing may be memory of its elements
BESIDES = [
    "q[0].copy()", "q[0]*1", "+q[0]", "q[0].reshape(-1)*1", "q[0].astype(float)", "np.array(q[-1])", "np.array(q)",
    "np.stack(q)", "np.array(q)[0]", "np.concatenate(q)", "{'a': q[1].copy(), 'b': np.asarray(q)}", "q[0].T.copy()",
]  # fmt: skip
BOX = "class O: pass\no = O()\no.a, o.log = np.ones((2, 2)), []\n"


def arrays(one):
    if isinstance(one, dict):
        one = list(one.values())
    parts = one if isinstance(one, (list, tuple)) else ()
    return [one] if isinstance(one, np.ndarray) else [array for part in parts for array in arrays(part)]


def seen(given, x, o):
    """Return all that can be seen of arrays: what they hold, which are one and which share memory."""
    every = [*arrays(given), x, o.a]
    apart = [[(one is other, np.shares_memory(one, other)) for one in every] for other in every]
    return [(one.dtype, one.tolist(), one.flags.writeable) for one in every], apart


def outcome(function, o, count, x):
    try:
        return seen(function(count, x), x, o)
    except IndexError as error:
        return str(error)


def check(body, is_left, given=(FOUR,), counts=(2, 3, 1, 0)):
    name = "".join(filter(str.isalnum, body))
    names = world(name, module(body, BOX).replace("def f(x)", "def f(n, x)"))
    plain, o = names["f"], names["o"]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        function = al.function(plain, executor=next(EXECUTORS))
        for x, count in itertools.product(given, map(np.int64, counts)):
            mine, its = x.copy(), x.copy()
            expected = outcome(plain, o, count, its)
            assert outcome(function, o, count, mine) == expected, (body, count)
    assert any("plain Python" in str(one.message) for one in warned) == is_left, [str(one.message) for one in warned]


def loop(put, before="", given="q", step="x = x*0.5"):
    return f"q = []\n{before}for i in range(n):\n    q.append({put})\n    {step}\nreturn {given}"


@each(VIEWS)
def test_what_a_loop_puts_in_is_the_view_that_it_makes(put, is_left):
    check(loop(put), is_left)


@each(USES)
def test_the_first_is_a_view_of_what_was_there_before(before, given, is_left):
    check(loop("x[::-1]", before, given), is_left)
    check(loop("x[1:]", before, given, "x = np.tanh(x) + x"), is_left)


@each(PROGRAMS)
def test_views_and_arrays_in_lists_and_besides_share_memory_as_in_plain_python(body, is_left):
    check(body, is_left)


@each(READ_ONLY)
def test_of_read_only_arrays_nobody_may_write_to_the_elements(body, is_left):
    check(body, is_left)


@each(BESIDES)
def test_what_is_given_beside_a_list_is_no_memory_of_its_elements(given):
    check(EACH + f"x = x*0.5\n    q.append(x*2)\nreturn {given}, q", False, counts=(2, 2, 3, 3))


@pytest.mark.parametrize("put", ["x[::-1]", "x[3:]", "x[2:5][::2]"])
def test_of_arrays_of_any_extent(put):
    check(loop(put), False, [SEVEN[:size] for size in (7, 5, 4, 3, 2)])


def test_elements_that_a_run_has_made_together_are_not_one():
    """Those of a run are rows of one array: behind it, in the next trace, they are no views of each other."""
    text = module(
        "x = x * 1\ni = 0\nwhile x.sum() > i:\n    i += 1\n    L.append((x*i, i))\n    L[0] = x*2, 2\nreturn x",
        "L = []",
        "L",
    )
    plain, made = world("rows of plain", text), world("rows", text)
    f, log, wanted = al.function(made["f"]), made["L"], plain["L"]
    with warnings.catch_warnings(action="error"):
        for _ in range(4):
            x = np.array([1.0, 2.0, 0.0])
            np.testing.assert_array_equal(f(x), plain["f"](x))
    assert len(log) == len(wanted) == 12
    for one, other in zip(log, wanted, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        assert one[1] == other[1]
    log[1][0][:] += 1.0
    np.testing.assert_array_equal(log[2][0], wanted[2][0])
