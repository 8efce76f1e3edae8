"""Which array it is that a loop or branch leaves, each run says: the argument itself, a part of it, another result,
or a new one."""

import textwrap
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import world

COUNTED = "for i in range(n[0]):\n    "
FOUND = "k = 0\nwhile k < n[0] and x[k] < 2: k += 1\n"
BEST = "best = y = x\n" + COUNTED + "y = y*-1.5\n    if y[0] > best[0]: best = y\n"
#: programs of an object with two arrays, an array, and how many turns there are
PROGRAMS = {
    # parts of which only the run knows which they are
    "up_to_where": FOUND + "return x[:k]",
    "kept_part": FOUND + "o.v = x[k:]\nreturn o.v, o.v, x[:k]",
    "row_of_two": FOUND + "m = x.reshape(3, 1)\nreturn m[k], m[k:, ::-1], {'a': x[k:][1:]}",
    "written_part": FOUND + "y = x[k:]\nx[0] = 5\ny += n[0]\nreturn y",
    "part_of_the_object": FOUND + "o.w = o.v[-k:]",
    # a part of what a loop writes to and carries, as it chooses
    "written_and_chosen": "for i in range(9):\n    x[0] += i\n    if x[0] > n[0]*9: return x[1:]\nreturn x[:1]",
    # surely new
    "copied_parts": COUNTED + "x = x[1:].copy()\nreturn x, x[:n[0]].copy(), x[n[0]:] + 1",
    "part_computed_with": COUNTED + "x = x[1:] * 2\nreturn x",
    "gathered": "y = x*2\n" + COUNTED + "y = x[[0, 1]]\nreturn y, x[x > n[0]]",
    "part_of_a_copy": "y = x.copy()\n" + COUNTED + "y = y[1:]\nreturn y",
    "number_or_new": "y = 0.0\nif n[0] > 1: y = x*2\nreturn y",
    "only_read": COUNTED + "x = x[1:]\nreturn x.sum()",
    # a result that is the caller's array in some runs
    "no_turn": "i = 0\nwhile i < n[0]:\n    x = x + 1\n    i += 1\nreturn x",
    "a_side": "return x if n[0] > 1 else x*2",
    "a_copy_or_the_array": "y = x.copy()\nif n[0] > 1: y = x\nreturn y",
    "one_of_the_object": "y = x\nif n[0] > 1: y = o.v\nreturn y",
    "of_three": "y = x\nif n[0] > 0:\n    if n[0] > 1:\n        y = o.v\n        if n[0] > 2: y = y + 1\n"
    "    else: y = o.w\nreturn [y, {'k': y}]",
    "other_dtype": "y = np.arange(3)\nwhile n[0] > 1 and y[0] < 5: y = y*0.5 + 3\nreturn y",
    "loops_in_loops": COUNTED + "j = 0\n    while j < i:\n        x = x + j\n        j += 1\nreturn x",
    "with_break": COUNTED + "x = x + 1\n    if x[0] > 2.5: break\nreturn x",
    "with_return": COUNTED + "if x[0] > 2.5: return x\n    x = x + 1\nreturn o.v",
    "written_before": "x[0] += 1\ny = x if n[0] > 1 else x*2\nreturn y",
    "view_or_array": "y = x[1:]\nif n[0] > 1: y = x\nreturn y",
    "views": "if n[0] > 1: y = x[1:]\nelse: y = x[:2]\nreturn y",
    "view_of_either": "y = x if n[0] > 1 else np.zeros(3)\nreturn y.reshape(3, 1)",
    "list_and_the_last": "out = []\ny = x\n" + COUNTED + "y = y*0.5\n    out.append(y)\nreturn out, y",
    "in_a_function": "def g(z, k):\n    while k > 0:\n        z = z - 1\n        k -= 1\n    return z\n"
    "return g(x, n[0]), g(o.v, n[0] - 1)",
    # two of which only a run knows whether they are one
    "and_the_argument": "y = x\nwhile n[0] > 0 and y[0] > 0.01: y = y*0.5\nreturn y, x",
    "a_side_gives_one_twice": "a = x + 1\nb = a + 1\nif n[0] > 1: return a, a\nreturn a, b",
    "turned": "a, b, c = x, x + 1, o.v\n" + COUNTED + "a, b, c = b, c, a\nreturn a, b, c",
    "the_one_before": "z = y = x*1\n" + COUNTED + "z = y\n    y = y*2\nreturn y, z",
    "parts_of_new_ones": "y, z = x, o.v\n" + COUNTED + "y, z = z, (y*2)[::-1]\nreturn y, z",
    "part_of_the_one_before": "z, y = o.v, x\n" + COUNTED + "z = y\n    y = (x*i)[1:]\nreturn y, z",
    "parts_in_a_branch": "y, z = x, o.v\n" + COUNTED + "if x[0] > 0:\n        z = y\n"
    "        y = (x*i)[::-1]\nreturn y, z",
    "parts_in_loops_in_loops": "y, z = x, o.v\n" + COUNTED + "for j in range(n[0]):\n        z = y\n"
    "        y = (x*(i + j))[::-1]\nreturn y, z",
    "best": BEST + "return best, y",
    "best_of_two_loops": "last = cur = x\n" + COUNTED + "for j in range(2): cur = cur + j\n"
    "    if i % 2 == 0: last = cur\nreturn last, cur",
    "three_names": "a = x if n[0] > 1 else x*2\nb = x if n[0] > 0 else a\nreturn a, b, x",
    # what is left in attributes
    "kept_in_a_branch": "if n[0] > 1: o.w = x",
    "kept_or_new": "if n[0] > 1: o.w = o.v\nelse: o.w = x + 1",
    "best_kept": BEST + "o.w = best\nreturn y",
    "kept_in_two_places": "a = x*1\nif n[0] > 1: o.v = a\nif n[0] > 0: o.w = a\nreturn a",
    "the_last_and_one_before": COUNTED + "o.v = o.v + 1\n    if o.v[0] > 1: o.w = o.v\nreturn x",
    "both_new": "y = x*2\n" + COUNTED + "y = y + 1\n    if y[0] > 4: o.w = y\no.v = y",
    "given_in_a_branch": "if n[0] > 1: o.w = x\nelse:\n    if n[0] > 0: return x*2, x[0]\no.n = 3\nreturn x*2, x[0]",
    "exchanged": COUNTED + "o.v, o.w = o.w, o.v\nreturn o.v",
    "in_three_blocks": COUNTED + "for j in range(i):\n        if j == 1: o.w = x*2\nreturn x",
}  # fmt: skip
#: parts that no run names: plain Python runs these
LEFT = {
    "part_by_part": COUNTED + "x = x[1:]\nreturn x",
    "part_of_a_part": COUNTED + "x = x[1:]\nreturn x[::-1]",
    "view_after_no_turn": COUNTED + "x = x[1:] * 2\nreturn x.T",
    "of_a_side": "k = int(n[0])\nif k > 1: return x[:k]\nreturn x*2",
    "other_view": "return x.reshape(3, 1)[:n[0]].T",
    "without_axes": "return x[n[0] - 1, ...]",
    "by_layout": "return np.ravel(x[:n[0]])",
    "best_row": "m = x.reshape(3, 1)\nb = m[0]\nfor r in m:\n    if r[0] > b[0]: b = r\nreturn b",
    "chosen_in_a_loop": "l = [x, x*2]\ny = x\n" + COUNTED + "y = l[i % 2]\nreturn y",
    "of_a_long_list": "return [x for i in range(20)][n[0]]",
    "array_or_number": "y = 0.0\nif n[0] > 1: y = x\nreturn y",
    "part_or_number": "y = 0.0\nfor i in range(n[0]): y = x[i:]\nreturn y",
    "number_or_kept": "o.w = x[1:] if n[0] > 1 else 0.5",
    "kept_other_view": "o.v = x.reshape(3, 1)[:n[0]].T",
    "of_the_object": COUNTED + "o.v = o.v[1:]\nreturn 1",
}
TOP = "import numpy as np\nclass O:\n    def __init__(self): self.v, self.w = np.arange(3.0), np.zeros(3)\n"


def arrays_in(value):
    if isinstance(value, np.ndarray):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [one for part in parts for one in arrays_in(part)]


def called(function, o, turns):
    """What holds after a call, and which of the arrays are one, or share memory."""
    x, n = np.array([1.5, -2.0, 3.0]), np.array([turns])
    every = arrays_in([x, o.v, o.w, function(o, x, n), o.v, o.w])
    return (
        [(one.dtype.str, one.tolist()) for one in every],
        [(p is q, np.shares_memory(p, q)) for p in every for q in every],
    )


def check(name, executor):
    names = world(name, f"{TOP}def f(o, x, n):\n{textwrap.indent(PROGRAMS[name], '    ')}\n")
    function, plain, decorated = al.function(names["f"], executor=executor), names["O"](), names["O"]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for turns in (0, 1, 2, 3, 0, 2):
            assert called(function, decorated, turns) == called(names["f"], plain, turns), turns


@each([(name, executor) for name in PROGRAMS for executor in ("auto", "sequential", "dataflow")], parts=2, one_in=2)
def test_arrays_are_the_ones_that_plain_python_leaves(name, executor):
    check(name, executor)


@each([(name,) for name in LEFT], parts=2)
def test_parts_that_no_run_names_are_those_that_plain_python_gives(name):
    names = world(name, f"{TOP}def f(o, x, n):\n{textwrap.indent(LEFT[name], '    ')}\n")
    function, plain, decorated = al.function(names["f"]), names["O"](), names["O"]()
    with pytest.warns(UserWarning, match="runs as plain Python"):
        assert called(function, decorated, 2) == called(names["f"], plain, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was told once
        assert called(function, decorated, 1) == called(names["f"], plain, 1)


def test_machine_code_refuses_parts_that_no_run_names():
    names = world("left", f"{TOP}def f(o, x, n):\n{textwrap.indent(LEFT['part_by_part'], '    ')}\n")
    with pytest.raises(TypeError, match="which part of an array of the caller's a result is"):
        called(al.function(names["f"], executor="native"), names["O"](), 2)


def test_machine_code_says_which_array_it_is():
    pytest.importorskip("llvmlite")
    for name in ("no_turn", "best", "turned", "kept_or_new", "up_to_where", "kept_part"):
        check(name, "native")


@al.function
def part_of(x, ends):
    return x[ends[0] : ends[1]], x[:: ends[2], ends[0] : ends[3]], x[ends[4]]


ENDS = st.integers(-7, 7)


@settings(max_examples=60, deadline=None)
@given(st.lists(ENDS, min_size=2, max_size=2), ENDS.filter(bool), ENDS, st.integers(-4, 3), st.booleans())
def test_parts_whose_ends_the_run_computes_are_parts_of_the_argument(ends, step, end, row, is_read_only):
    every = np.array([*ends, step, end, row])
    x = np.arange(20.0).reshape(4, 5)
    x.flags.writeable = not is_read_only
    for plain, ours in zip(part_of.python_function(x, every), part_of(x, every), strict=True):
        assert plain.__array_interface__ == ours.__array_interface__


def test_derivatives_through_a_part_whose_ends_the_run_computes():
    x, ends = np.arange(20.0).reshape(4, 5), np.array([1, 3, 2, 4, 1])
    expected = np.zeros((4, 5))
    expected[1:3] = 2 * x[1:3]
    np.testing.assert_array_equal(al.grad(lambda x: (part_of(x, ends)[0] ** 2).sum())(x), expected)


def test_derivatives_through_a_result_that_is_the_argument():
    @al.function
    def f(x, n):
        while n > 0:
            x = x * 3.0
            n = n - 1
        return x

    for turns, factor in ((0, 1.0), (2, 9.0)):
        x = np.array([1.0, 2.0])
        assert np.allclose(al.grad(lambda x: (f(x, np.array(turns)) ** 2).sum())(x), 2 * factor**2 * x)  # noqa: B023
        value, back = al.vjp(lambda x: f(x, np.array(turns)), x)  # noqa: B023
        assert np.allclose(value, factor * x)


def test_many_results_are_not_compared_one_with_another(monkeypatch):
    @al.function(executor="sequential")
    def f(x):
        return [x + k for k in range(60)]

    f(np.ones(3))
    asked = []
    share = np.may_share_memory
    monkeypatch.setattr(np, "may_share_memory", lambda *given, **more: asked.append(0) or share(*given, **more))
    made = f(np.ones(3))
    assert len(asked) <= 60 and not any(share(p, q) for k, p in enumerate(made) for q in made[:k])


def test_elements_of_a_list_that_grows_are_not_read_one_by_one(monkeypatch):
    @al.function(executor="sequential")
    def f(x, n):
        out = []
        for i in range(n[0]):
            x = x * 0.5
            out.append(x)
        return out

    f(np.ones(3), np.array([3]))
    monkeypatch.setattr(al.TensorArray, "read", None)
    made = f(np.ones(3), np.array([40]))
    assert len(made) == 40 and made[3].tolist() == [0.0625] * 3
    assert all(one.flags.writeable and not np.shares_memory(one, made[0]) for one in made[1:])
