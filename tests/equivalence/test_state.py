"""What a function reads and writes outside its arguments, it reads and writes at each call, as plain Python does."""

import dataclasses
import itertools
import sys
import types
import warnings

import autoloop as al
import numpy as np
import pytest
from autoloop.concrete import CalledPlain
from autoloop.state.stateful import OtherWorld, called_again
from each_case import each
from programs_of_classes import CLASSES
from programs_of_exceptions import ALL, BEHIND, RAISING, TOP
from programs_of_exceptions import STAGED as RAISING_IN_LOOPS
from programs_of_holders import FOUND, HOLDERS, NOT_FOLLOWED
from programs_of_identity import TOLD_APART
from programs_of_identity import TOP as TOP_OF_TIES
from programs_of_sharing import ARGUMENTS, BOX, GIVEN_TOGETHER, KEPT_VIEWS, LEFT_TOGETHER, SAME, TELL
from programs_of_state import (
    AGAIN,
    CHANGED,
    CLASS,
    CONTAINERS,
    GIVING,
    IF,
    INHERITED,
    KEEPING,
    KEPT,
    LEFT,
    METHODS,
    PERHAPS_WANTED,
    REFUSED,
    RETURNING,
    STAGED,
    UNCOVERED,
    WRITES,
)
from programs_of_state import BOX as OBJECT
from worlds import module, played, world

INTERPRETED = itertools.cycle(["auto", "sequential", "dataflow"])


def first(name, *_):
    return name


def check(name, *program, is_left=False):
    text = module(*program)
    executor = next(INTERPRETED)
    expected, _ = played(name, text)
    found, reasons = played(name, text, executor)
    assert bool(reasons) == is_left
    for one, other in zip(expected, found, strict=True):
        assert one == other, executor


@each(WRITES, first, one_in=2)
def test_what_is_written_is_there_after_each_call(name, *program):
    check(name, *program)


@each(CONTAINERS, first)
def test_containers_hold_what_plain_python_leaves_in_them(name, *program):
    check(name, *program)


@each(STAGED, first, one_in=2)
def test_loops_and_branches_of_the_graph_write_too(name, *program):
    check(name, *program)


@each(RETURNING, first)
def test_what_a_branch_that_returns_does_to_a_list_of_others_is_done(name, *program):
    check(name, *program)


@each(AGAIN, first)
def test_what_a_block_perhaps_leaves_is_one_object_wherever_it_is_left(name, body, is_one):
    for block in ("if x[0] > 1: o.u = o.u + 2\n", "i = 1\nwhile i < x[0]:\n    o.u = o.u + 2\n    i += 1\n"):
        check(name, block + body, OBJECT + "K = U = o.u\n", f"(vars(o), U is o.u, {is_one})")


def test_a_result_that_a_block_perhaps_leaves_is_the_object_that_it_has_left():
    names = world("left", module("if x[0] > 1: o.u = o.u + 2\nreturn o.u, [o.u]", OBJECT))
    f = al.function(names["f"], executor="sequential")
    for number, is_kept in ((1.0, True), (2.0, False), (1.0, True)):
        before = names["o"].u
        one, (other,) = f(np.array([number]))
        assert one is other and one is names["o"].u and (one is before) == is_kept


def around(statement):
    """A body that does a statement once, and in each iteration of a loop of the graph."""
    return f"{statement}\ni = 0\nwhile i < x[0]:\n    i += 1\n    {statement}\nreturn x"


@each(HOLDERS, first, one_in=2)
def test_code_that_nobody_names_is_done_as_often_as_by_plain_python(name, statement, top):
    text = module(around(statement), f"import types\nlog = []\n{top}", "log")
    assert played(name, text, next(INTERPRETED))[0] == played(name, text)[0]


@each(NOT_FOLLOWED, first)
def test_what_no_graph_can_do_in_each_iteration_plain_python_does(name, statement, top):
    names = world(name, module(around(statement), f"log = []\n{top}"))
    with pytest.raises(TypeError, match="is changed in place"):
        al.function(names["f"]).get_concrete_function(np.ones(3))
    assert names["log"] == []
    check(name, around(statement), f"log = []\n{top}", "log", is_left=True)


@each(INHERITED, first)
def test_what_an_object_finds_in_its_class_becomes_its_own_where_plain_python_makes_it_so(name, body):
    check(name, body, CLASS, "(vars(h), H.w, H.n, H.items, h.w is H.w, h.items is H.items, s.w, s.n)")


def test_what_getattr_counts_is_counted_by_plain_python():
    asking = (
        "class C:\n    asked = 0\n    def __getattr__(self, n):\n        self.asked += 1\n        return 2.0\no = C()"
    )
    body = "r = o.p\nif x[0] > 2: o.p = 0.0\nreturn o.p + r"
    check("asked", body, asking, "vars(o)", is_left=True)
    always = (
        "class C:\n    asked, p = 0, 2.0\n    def __getattribute__(self, n):\n        if n == 'p': C.asked += 1\n"
        "        return object.__getattribute__(self, n)\no = C()"
    )
    check("always asked", "if x[0] > 1: o.p += x[1]\nreturn x * o.p", always, "C.asked", is_left=True)
    with pytest.raises(TypeError, match="is asked, which may change something: set it before"):
        al.function(world("asked", module(body, asking))["f"])(al.ones([3]))
    check("number", "if x[0] > 1: h.k += 1\nreturn x * h.k", CLASS, "vars(h)", is_left=True)
    check("any", "return x * o.p", "class C:\n    def __getattr__(self, n): return 2.0\no = C()", "o.q")


MADE = "import dataclasses as dc\n@dc.dataclass\nclass D: w: object = dc.field(default_factory=lambda: np.zeros(3))\n"


def test_arrays_of_a_class_that_several_branches_change():
    for body in (
        "for k in range(3):\n    if x[k] > 1: h.w += k\nreturn x",
        "if x.sum() > 4: h.w += x\nif x.sum() > 7: h.w += 1\nreturn h.w*1",
        "if x.sum() > 4: h.w += x\nif x.sum() > 7: h.add(1)\nreturn x",
        "i = 0\nwhile i < x[0]:\n    i += 1\n    if x[1] > 2: h.w += 1\n    if x[2] > 1: h.w -= x\nreturn x",
        "if x.sum() > 4: h.w += x\nh.w += 1\nreturn h.w*1",
        "if x.sum() > 4: h.w = x*2\nif x.sum() > 7: h.w *= 2\nreturn x",
        "h.n = 3\nif x[0] > 0: del h.n\nreturn x*h.n",
        "for v in x:\n    if v > 1: h.w += v\n    if v > 2: h.w += v\nreturn x",
        "d = D()\nd.w += x\nnp.add.at(d.w, [1], x[0])\nreturn d.w",
        IF + "h.items += [1]\nreturn x",
    ):
        check("branches", body, CLASS + MADE, "(vars(h), H.w, h.w is H.w, H.items)", is_left=True)
    for body in UNCOVERED:
        check("uncovered", body, CLASS, "(vars(h), H.n, h.n, h.w is H.w)", "H.n = k", is_left=True)
    for least in (1, 2, 9):
        body = f"for v in x:\n    if v > {least}: h.w += v\nreturn x"
        check("one branch", body, CLASS + MADE, "(vars(h), H.w, h.w is H.w, H.items)")
    check("numbers", "if x[0] > 1: h.n += 1\nif x[1] > 2: h.n += 2\nreturn x", CLASS, "vars(h), H.n")


@each(PERHAPS_WANTED, first)
def test_elements_are_made_as_often_as_plain_python_makes_them(name, body, is_left):
    check(name, body, GIVING, "log, n", is_left=is_left)


@each(KEPT, first)
def test_what_is_kept_where_few_look(name, body):
    check(name, body, KEEPING, "d, h.calls, vars(c), vars(t), P.made")


@each([*CHANGED, *FOUND], first, one_in=2)
def test_each_call_finds_what_is_there_now(name, *program):
    check(name, *program)


@each(LEFT, first, one_in=2)
def test_what_no_graph_can_see_change_is_left_to_plain_python(name, *program):
    check(name, *program, is_left=True)


@each(TOLD_APART, one_in=2)
def test_what_the_run_decides_to_be_one_list_or_object_is_left_to_plain_python(body):
    check("ties", body, TOP_OF_TIES, "(h, ties([h], {}))", "", "ties([r, h], {})", is_left=True)


def test_where_tensors_are_given_nobody_tells_which_lists_are_one():
    out = "m, out = [x[0]], []\ni = 0\nwhile x[0] > i:\n    out.append(m)\n    i += 1\nreturn out"
    for body in (out, "m = [1.0]\nif x[0] > 1: h.ll.append(m)\nh.m = m\nreturn x"):
        with pytest.raises(TypeError, match="which grows in a loop or branch on tensors: put in a copy"):
            al.function(world("ties", module(body, TOP_OF_TIES))["f"])(al.ones([3]))
    with pytest.raises(TypeError, match="which a list that grows in a loop or branch holds is asked: compare"):
        al.function(world("ties", module(out + "[0] is m", TOP_OF_TIES))["f"])(al.ones([3]))


@each(LEFT_TOGETHER, first)
def test_what_is_left_shares_memory_as_in_plain_python(name, *program):
    check(name, *program)


@each(GIVEN_TOGETHER, first)
def test_results_share_memory_as_in_plain_python(name, body):
    """What is called again after the decorated function tells: it is plain in both."""
    lines = body.strip().splitlines()
    check(name, "\n".join(lines), BOX + TELL, "", "", "tell(*r), [one.flags.writeable for one in r]")


@each(SAME, first)
def test_objects_are_one_object_as_in_plain_python(name, body, told):
    check(name, body, BOX, "", "", told)


@each(KEPT_VIEWS, first)
def test_views_that_are_kept_are_views_at_the_next_call(name, *program):
    check(name, *program)


def summed(x, o):
    x[0] += 1
    o.a[1] += 2
    return x.sum() + o.a.sum()


def test_arguments_may_be_parts_of_what_objects_hold():
    for given in ARGUMENTS:
        found = []
        for function in (summed, al.function(summed)):
            o = types.SimpleNamespace(a=np.arange(5.0))
            argument = eval(f"lambda o, k: {given}", {"np": np})
            found.append([[float(function(argument(o, k), o)) for k in range(4)], o.a.tolist()])
        assert found[0] == found[1], given


def test_overlaps_that_no_trace_can_follow_are_plain_pythons():
    def both(x):
        o.r[0] += x
        o.z[1] += x
        return o.z * 1

    said = "'o_z' and 'o_r' overlap in memory, and 'o_z' is written to; give a copy"
    left = []
    for f in (both, al.function(both)):
        o = types.SimpleNamespace(z=np.zeros(3, complex))
        o.r = o.z.real
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            left.append([f(np.float64(k)).tolist() for k in (1, 2)] + [o.z.tolist(), o.r.tolist()])
        assert [said in str(one.message) for one in told] == [True] * (f is not both)
    assert left[0] == left[1]
    o.z[:] = 0
    with pytest.raises(TypeError, match=said):
        al.function(both)(al.constant(1.0, al.float64))
    assert not o.z.any()


@each(RAISING, first)
def test_exceptions_leave_what_plain_python_leaves(name, body):
    check(name, body, TOP, ALL)


@each(BEHIND, first)
def test_failures_of_the_trace_come_behind_what_the_run_does_before(name, body):
    check(name, body, TOP, ALL)


def test_a_raising_iteration_says_what_plain_python_says():
    text = module("i = 0\nwhile i < x.sum():\n    i += 1\n    L.append(i)\n    y = x[7]\nreturn x", TOP)
    ((expected, *_),), ((found, *_),) = played("iteration", text, None, 1)[0], played("iteration", text, "auto", 1)[0]
    assert expected == found


@each(RAISING_IN_LOOPS, first)
def test_exceptions_after_loops_and_prints_leave_what_was_before_the_call(name, body):
    text = module(body, TOP, ALL)
    for executor in ("auto", "dataflow"):
        expected, found = played(name, text)[0], played(name, text, executor)[0]
        assert expected[:2] == found[:2]
        assert found[2][0][0] is AssertionError and found[2][2] == found[1][2]


def test_large_arrays_hold_what_was_written_before_an_exception():
    o = types.SimpleNamespace(a=np.zeros(1 << 14), n=0)

    @al.function
    def step(k):
        o.a[0] += 1
        o.n += 1
        return o.a[k]

    assert step(np.int64(0)) == 1
    with pytest.raises(IndexError):
        step(np.int64(1 << 15))
    assert o.n == 1


def test_who_asks_for_a_graph_gets_the_exception_of_the_trace():
    o = types.SimpleNamespace(n=0)

    @al.function
    def step(x):
        o.n += 1
        raise KeyError("no")

    with pytest.raises(KeyError, match="no"):
        step.get_concrete_function(np.ones(2))

    @al.function
    def checked(x):
        o.n += 1
        assert x[0] > 0
        return x

    with pytest.raises(AssertionError):
        checked.get_concrete_function(np.ones(2))(np.zeros(2))


@each(list(CLASSES.values()), first, one_in=2)
def test_classes_as_people_write_them(name, *program):
    check(name, *program)


def test_what_is_around_a_function_that_holds_what_only_the_run_knows_is_left_to_plain_python():
    check("property", "M.p = property(lambda self: x.sum())\nreturn m.p", METHODS, "m.p", is_left=True)
    check("partial", "m.h = functools.partial(abs, x.sum())\nreturn m.h()", METHODS, "m.h()", is_left=True)


def test_traces_of_which_none_fits_are_left_to_plain_python():
    def none_fits(*_):
        raise OtherWorld

    with pytest.raises(CalledPlain) as left:
        called_again((), none_fits, none_fits)
    assert "is not what it was traced with" in str(left.value.__cause__)


RATE = 1


@dataclasses.dataclass
class Base:
    a: object

    def gain(self):
        return 1


class Inner(Base):
    pass


def test_arguments_in_containers_and_a_world_that_changes():
    global RATE

    @al.function
    def scaled(pair, inner):
        return pair[0] * RATE * inner.gain()

    inner = Inner(np.ones(2))
    for rate in (1, 2, 1, 3, 3):
        RATE = rate
        assert scaled([np.ones(2)], inner).tolist() == [rate, rate]
    Inner.gain = lambda self: 10
    assert scaled([np.ones(2)], inner).tolist() == [30, 30]
    del Inner.gain
    assert scaled([np.ones(2)], inner).tolist() == [3, 3]


def test_attributes_of_the_decorated_function_itself_are_left_to_plain_python():
    @al.function
    def counted(x):
        counted.calls += 1
        return x * counted.calls

    counted.calls = 0
    with pytest.warns(UserWarning, match="'calls', an attribute of the decorated function 'counted', is used"):
        assert [counted(np.ones(1))[0] for _ in range(3)] == [1, 2, 3]
    assert counted.calls == 3


@each(REFUSED, first)
def test_a_refusal_leaves_the_world_as_it_was(reason, body, top, state):
    found, _ = played("refused", module(body, top, state), "native", 1)
    before, _ = played("refused", module("return x", top, state), None, 1)
    ((kind, message), _, left, *_), (_, _, untouched, *_) = found[0], before[0]
    assert kind in (TypeError, ValueError) and reason in message, message
    assert left == untouched


def test_modules_of_a_large_program_are_not_looked_at_for_each_function_anew():
    count = 12
    modules = [types.ModuleType(f"large_{number}") for number in range(count)]
    for number, one in enumerate(modules):
        vars(one).update({other.__name__: other for other in modules})
        sys.modules[one.__name__] = one
        after = (number + 1) % count
        for k in range(count):
            source = f"def f_{number}_{k}(a):\n    import large_{after}\n    return large_{after}.f_{after}_{k}(a)"
            exec(source, vars(one))
    large, looked = modules[0], 0

    def f(x):
        return large.f_0_0(x) if x is None else x + 1

    def profile(frame, event, argument):
        nonlocal looked
        looked += event == "call" and frame.f_code.co_name == "walk_module"

    sys.setprofile(profile)
    try:
        made = al.function(f)(np.arange(3.0))
    finally:
        sys.setprofile(None)
        for one in modules:
            del sys.modules[one.__name__]
    assert made.tolist() == [1.0, 2.0, 3.0] and 0 < looked < 20 * count


NAMELESS = """
class Filter:
    rate = 2.0
    def __init__(self):
        self.x, self.seen = np.zeros(2), []
    def step(self, z):
        self.x = self.x * 0.5 + z * self.rate
        self.seen.append(self.x.copy())
        return self.x
"""


def test_a_class_that_was_made_where_no_module_has_a_name(tmp_path):
    file, left = tmp_path / "nameless.py", []
    file.write_text(NAMELESS)
    for decorate in (al.function, lambda f: f):
        namespace = {"np": np}
        exec(compile(NAMELESS, str(file), "exec"), namespace)
        kind = namespace["Filter"]
        assert kind.__module__ == "builtins"
        one = kind()
        step = decorate(one.step)
        given = [step(np.arange(2.0) + k).tolist() for k in range(3)]
        kind.rate = 3.0
        left.append((given, step(np.ones(2)).tolist(), one.x.tolist(), [x.tolist() for x in one.seen]))
    assert left[0] == left[1]
