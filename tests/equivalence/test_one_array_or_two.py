"""Which arrays are one, and in which order attributes stand, where loops and branches decide it."""

import itertools
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from programs_of_sharing import BOX, TELL
from worlds import module, played, world

EXECUTORS = itertools.cycle(["auto", "sequential", "dataflow"])
LOOP = "q = []\ni = 0\nwhile i < x[1]:\n    i += 1\n    "


def first(name, *_):
    return name


def check(name, text, is_left):
    executor = next(EXECUTORS)
    expected, _ = played(name, text)
    found, reasons = played(name, text, executor)
    assert bool(reasons) == is_left, reasons
    assert expected == found, executor


#: name, program, whether plain Python runs it; lists of arrays that it gives, or leaves in ``o.log``
ELEMENTS = [
    ("new", LOOP + "q.append(x*i)\nreturn q", False),
    ("new_constants", LOOP + "q.append(np.zeros(2))\nreturn q", False),
    ("new_in_a_branch", LOOP + "y = x*i\n    if i > 1: q.append(y)\nreturn q", False),
    ("one_of_two_new", LOOP + "y = x*i\n    if i > 1: y = y + 1\n    q.append(y)\nreturn q", False),
    ("next", "y = x*1\n" + LOOP + "y = y + 1\n    q.append(y)\nreturn q", False),
    ("before_the_next", "y = x*1\n" + LOOP + "q.append(y)\n    y = y + 1\nreturn q", False),
    ("begun", LOOP.replace("[]", "[x*3, x*4]") + "q.append(x*i)\nreturn q", False),
    ("filtered", "return [x*k for k in range(int(x[1])) if k != 1]", False),
    ("of_a_list", LOOP + "q.append(x*i)\nreturn [y*2 for y in q]", False),
    ("nobody_sees_the_list", "y = x*2\n" + LOOP + "q.append(y)\nreturn np.array([len(q)]), y", False),
    ("left_in_the_world", LOOP.replace("q", "o.log") + "o.log.append(x*i)\nreturn [x*1]", False),
    ("one_for_all", "y = x*2\n" + LOOP + "q.append(y)\nreturn q", True),
    ("one_for_all_in_a_comprehension", "y = x*2\nreturn [y for k in range(int(x[1]))]", True),
    ("twice", LOOP + "y = x*i\n    q.append(y)\n    q.append(y)\nreturn q", True),
    ("twice_in_an_element", LOOP + "y = x*i\n    q.append((y, y))\nreturn [one for both in q for one in both]", True),
    ("parts_of_one", "y = x*2\n" + LOOP + "q.append(y[1:])\nreturn q", True),
    ("last_again", LOOP.replace("[]", "[x*3]") + "q.append(q[-1])\nreturn q", True),
    ("besides", "y = x*1\n" + LOOP + "y = y + 1\n    q.append(y)\nreturn [*q, y]", True),
    ("in_two_lists", LOOP + "y = x*i\n    q.append(y)\n    o.log.append(y)\nreturn q", True),
    ("branches", "y, q = x*2, []\nif x[0] > 0: q.append(y)\nif x[1] > 1: q.append(y)\nreturn q", True),
    ("written_through_one", "y = x*2\n" + LOOP + "q.append(y)\nq[0][0] = 7\nreturn [q[-1]]", True),
    ("an_array_of_the_world", "o.log.clear()\n" + LOOP + "o.log.append(o.a)\nreturn [o.a, *o.log]", True),
    ("swapped", "y, z = x*1, x*2\n" + LOOP + "y, z = z, y\n    q.append(y)\nreturn q", True),
]  # fmt: skip


@each(ELEMENTS, first)
def test_arrays_in_lists_that_grow_are_those_of_plain_python(name, body, is_left):
    check(name, module(body, BOX + TELL, "tell(*o.log)", "", "tell(*r)"), is_left)


STEPS = "q, n, i = [x], x[1], 0\nwhile i < n:\n    i += 1\n    x = x*2\n    q.append(x)\n"
FROM = "q, n, i = [], x[1], 0\nwhile i < n:\n    i += 1\n    q.append(x)\n    x = x*2\n"
#: lists of what a simulation goes through, which others have, too: all in the graph, but for the last ones
GONE_THROUGH = [
    ("argument_first", STEPS + "return q, [1]", False),
    ("argument_first_and_last", STEPS + "return q, x", False),
    ("new_array_first", "x = x*1\n" + STEPS + "return x, q", False),
    ("constant_first", "x = np.ones(3)\n" + STEPS.replace("x[1]", "o.n + 2.") + "return q, x", False),
    ("first_besides", "y = x\n" + STEPS + "return q, y", False),
    ("first_and_last_besides", "y = x\n" + STEPS + "return q, y, x", False),
    ("views_of_the_first", "y = x[1:]\n" + STEPS + "return q, y", False),
    ("several_first", "y = x*3\n" + STEPS.replace("[x]", "[x, y, x]") + "return q, y", False),
    ("before_each_step", FROM + "return q, x", False),
    ("before_each_step_and_at_the_end", FROM + "q.append(x)\nreturn q, x", False),
    ("before_each_step_again", "x = np.ones(3)\n" + FROM.replace("[]", "[x]").replace("x[1]", "3.") + "return q, [1]",
     False),
    ("no_step", "x = x*1\n" + STEPS.replace("x[1]", "x[0] - 3") + "return q, x", False),
    ("no_step_before", "x = x*1\n" + FROM.replace("x[1]", "x[0] - 3") + "q.append(x)\nreturn q, x", False),
    ("two_lists", "y, p = x*3, [x]\n" + STEPS + "    y = y + x\n    p.append(y)\nreturn q, p, x, y", False),
    ("pairs", STEPS.replace("[x]", "[(0, x)]").replace("(x)", "((i, x))") + "o.v = q\nreturn x, q", False),
    ("of_an_object", "n, i = x[1], 0\nwhile i < n:\n    i += 1\n    o.a = o.a + 1\n    o.log.append(o.a)\nreturn [x*1]",
     False),
    ("of_an_object_before", "n, i = x[1], 0\nwhile i < n:\n    i += 1\n    o.log.append(o.a)\n    o.a = o.a + 1\n"
     "return [x*1]", False),
    ("with_break", STEPS + "    if i > 1: break\nreturn q, x", False),
    ("in_a_function", "def g(q, x, n, i):\n    while i < n:\n        i += 1\n        x = x*2\n        q.append(x)\n"
     "    return x\nq = [x]\nreturn g(q, x, x[1], 0), q", False),
    ("asked_for_none", STEPS + "return q, x, q[-1] is None, x is None", False),
    ("asked_for_the_last", STEPS + "return q, x, q[-1] is x", True),
    ("asked_for_the_first", "y = x\n" + STEPS + "return q, x, 1 if q[0] is y else 0", True),
    ("asked_for_itself", STEPS + "return q, x, q[-1] is not q[-1]", True),
    ("asked_in_the_loop", STEPS + "    if q[-1] is x: n = n - 0.5\nreturn q, x, i", True),
    ("written_to", STEPS + "x[0] = 7\nreturn q, x", True),
    ("first_written_to", "y = x\n" + STEPS + "y[0] = 7\nreturn q", True),
    ("turned_round", STEPS + "q.reverse()\nreturn q", True),
    ("a_part", STEPS + "return q[1:]", True),
    ("a_copy_of_the_list", STEPS + "p = q.copy()\nq.append(x + 1)\nreturn p", True),
    ("another_list_of_that_name", STEPS + "q = []\nwhile i > 0:\n    i -= 1\n    x = x*3\n    q.append(x)\nreturn q",
     True),
    ("one_that_the_run_chooses", STEPS + "if n > 1: q = [x*7, x]\nreturn q", True),
    ("lists_exchanged", "p = [x*3]\n" + STEPS + "    p.append(x + 1)\nif n > 1: p, q = q, p\nreturn p, q", True),
    ("in_both_lists", "p = [x]\n" + STEPS + "    p.append(x)\nreturn p, q", True),
    ("the_one_before", "y = x\n" + STEPS.replace("x = x*2", "y, x = x, x*2") + "return q, y", True),
    ("sometimes", STEPS.replace("q.append", "if i != 2: q.append") + "return q, x", True),
    ("left_before_it_is_put_in", STEPS.replace("    q.a", "    if i > 2: break\n    q.a") + "return q, x", True),
]  # fmt: skip
ALL = """def arrays(one):
    parts = one if type(one) in (list, tuple) else ()
    return [one] if isinstance(one, np.ndarray) else [a for p in parts for a in arrays(p)]
def told(r):
    every = arrays([r, o.log, o.a, o.v])
    return [[sh(p, q), p is q] for p in every for q in every]
"""  # fmt: skip


@each(GONE_THROUGH, first)
def test_arrays_that_a_loop_goes_through_are_those_that_others_have(name, body, is_left):
    check(name, module(body, BOX + ALL, "[o.a.tolist(), len(o.log)]"), is_left)


def test_what_is_written_to_the_array_of_an_argument_shows_in_the_list():
    names = world("steps", module(STEPS + "return q, x", BOX))
    a = np.array([1.0, 3.0])
    elements, last = al.function(names["f"])(a)
    a[0], last[0] = 7.0, 9.0
    assert elements[0] is a and elements[-1] is last and [one[0] for one in elements] == [7.0, 2.0, 4.0, 9.0]


def test_where_tensors_are_given_a_list_that_holds_an_array_twice_is_refused():
    body = "y = np.ones(2)\nq = []\ni = 0\nwhile x[0] > i:\n    i += 1\n    q.append(y)\nreturn q"
    with pytest.raises(TypeError, match="which may be there twice, or elsewhere, too, which grows .*: put in a copy"):
        al.function(world("twice", module(body, BOX))["f"])(al.ones([3]))


#: programs that give arrays of which the run decides whether two are one
GIVEN = [
    ("a_tuple_of_a_side", "y = x*2\nif x[0] > 1: r = y, y\nelse: r = y, x*3\nreturn r", False),
    ("returned_by_a_side", "y = x*2\nif x[0] > 1: return y, y\nreturn y, x*3", False),
    ("chosen", "y = x*2\nz = y if x[0] > 1 else x*3\nreturn y, z", False),
    ("a_part", "y = x*2\nz = y[1:] if x[0] > 1 else x[1:]*3\nreturn y, z", True),
    ("of_a_loop", "y, z, i = x*2, x*3, 2\nwhile i < x[0]:\n    z = y\n    i += 1\nreturn y, z", False),
    ("best", "y = b = x*1\ni = 0\nwhile i < 3:\n    y = y - 1\n    if y[0] > 0: b = y\n    i += 1\nreturn y, b",
     False),
    ("left_besides", "y = x*2\nz = y if x[0] > 1 else x*3\no.a = y\nreturn [z]", False),
    ("of_a_list", "y, z = x*2, x*3\nreturn [y, z][int(x[0]) % 2], y", False),
    ("of_a_list_of_several", "y, z = x*2, x*3\nreturn (y, z, y)[int(x[0]) % 3], z, y", False),
    ("an_argument_of_a_list", "y = [x, o.a][int(x[0]) % 2]\no.a = y\nreturn x, y", False),
    ("an_argument_of_a_dict", "return {0: x, 1: o.a}[int(x[0]) % 2], x", False),
    ("constants", "y, z = np.zeros(3), np.zeros(3)\nreturn y, z, y if x[0] > 1 else z", True),
    ("of_a_new_object", "p = O()\np.a = x*2\nif x[0] > 1: p.w = p.a\nelse: p.w = x*3\nreturn p.a, p.w", False),
    ("or_none", "y, z, i = x*2, None, 1\nwhile i < x[1]:\n    z = y\n    i += 1\nreturn y, z", True),
    ("of_other_lists", "y, z = x*2, x*3\nreturn [y, z][int(x[0]) % 2], x*4", False),
    ("exchanged", "y, z = x*2, x*3\nif x[0] > 1: y, z = z, y\nreturn y, z", False),
    ("the_same_on_both_sides", "y = x*2\nz = y if x[0] > 1 else y\nreturn y, z", False),
    ("new_on_both_sides", "y = x*2\nif x[0] > 1: return y, x*3\nreturn x*4, y", False),
    ("fibonacci", "y, z, i = x*1, x*2, 0\nwhile i < x[1]:\n    y, z = z, y + z\n    i += 1\nreturn y, z", False),
    ("one_view_with_two_names", "o.a = v = x[1:]\nx[0] += 1\nreturn v, v, x[1:], x", False),
    ("before", "y = x*2\nz = y - 1\nwhile y[1] > 1:\n    z, y = y, y*0.5\nreturn y, z", False),
]  # fmt: skip


@each(GIVEN, first)
def test_results_are_one_array_where_they_are_in_plain_python(name, body, is_left):
    check(name, module(body, BOX + TELL, "", "", "tell(*r, o.a)"), is_left)


CLASS = "import copy, inspect, types\nclass C:\n    k = 1\nc, d = C(), C()\nd.a, d.b = 1, 2\n"
CLASS += "ns = types.SimpleNamespace(a=1)\n"
ORDERS = [
    ("other_on_each_side", "if x[0] > 1: c.a = 1; c.b = 2\nelse: c.b = 1; c.a = 2", True),
    ("of_a_new_object", "p = C()\nif x[0] > 1: p.a = 1; p.b = 2\nelse: p.b = 1; p.a = 2\nreturn p", True),
    ("deleted_on_a_side", "if x[0] > 1:\n    del d.a\n    d.a = 5", True),
    ("deleted_in_a_loop", "i = 1\nwhile i < x[0]:\n    del d.a\n    d.a = i\n    i += 1", True),
    ("deleted", "del d.a\nd.a = x[0]", False),
    ("deleted_and_the_same", "y = d.a\ndel d.a\nd.a = y", False),
    ("one_that_may_be_there", "if x[0] > 1: c.a = 1\nc.b = 2\nc.a = 3", True),
    ("one_that_may_be_there_in_a_branch", "if x[0] > 1: c.a = 1\nc.b = 2\nif x[0] < 2: c.a = 3", True),
    ("one_of_the_class", "if x[0] > 1: c.k = 1\nc.b = 2\nc.k = 3", True),
    ("as_set_in_a_loop", "i = 1\nwhile i < x[0]:\n    c.b = i\n    c.a = i\n    i += 1\nc.c = 1", False),
    ("later_in_a_loop", "i = 0\nwhile i < x[0]:\n    c.b = i\n    if i > 0: c.a = i\n    c.c = 1\n    i += 1", True),
    ("the_same_on_both_sides", "if x[0] > 1: c.b = 1; c.a = 2\nelse: c.b = 2; c.a = 1", False),
    ("of_an_ordered_dict", "if x[0] > 1: od.move_to_end('p')", False),
]  # fmt: skip


@each(ORDERS, first)
def test_attributes_stand_in_the_order_of_plain_python(name, body, is_left):
    top = CLASS + "od = collections.OrderedDict(p=1, q=2)\n"
    state = "list(vars(c)), list(vars(d)), list(od)"
    body += "" if "return" in body else "\nreturn C()"
    check(name, module(body, top, state, "c.__dict__.clear()", "list(vars(r))"), is_left)


LOOKED_AT = [
    ("copied", "if x[0] > 1: c.k = 2\nreturn vars(copy.copy(c)) if x[1] > 99 else copy.copy(c)"),
    ("copied_deeply", "if x[0] > 1: c.k = 2\nreturn copy.deepcopy([c])[0]"),
    ("asked_of_object", "if x[0] > 1: c.k = 2\nreturn len(object.__getattribute__(c, '__dict__'))"),
    ("asked_by_inspect", "if x[0] > 1: c.q = 2\nreturn [name for name, _ in inspect.getmembers(c) if name[0] != '_']"),
    ("compared", "if x[0] > 1: ns.b = 2\nreturn ns == types.SimpleNamespace(a=1)"),
    ("compared_unequal", "if x[0] > 1: ns.b = 2\nreturn [ns] != [types.SimpleNamespace(a=1)]"),
]


@each(LOOKED_AT, first)
def test_who_looks_at_all_attributes_finds_those_of_plain_python(name, body):
    text = module(body, CLASS, "", "c.__dict__.clear()\nvars(ns).pop('b', None)", "vars(r) if hasattr(r, 'k') else r")
    check(name, text, True)


class Kept:
    """What functions that are differentiated leave behind."""


KEPT, IN_DICT = Kept(), {}


def keeps_it(a):
    IN_DICT["it"] = a
    return (a * a).sum()


def keeps_parts(a):
    KEPT.part = part = a[1:]
    IN_DICT["part"], IN_DICT["again"], IN_DICT["turned"] = part, part, a.reshape(3, 1).T[0]
    return (a * a).sum()


WAYS = {
    "grad": lambda f, a: al.grad(f)(a),
    "value_and_grad": lambda f, a: al.value_and_grad(f)(a),
    "jvp": lambda f, a: al.jvp(al.function(f), (a,), (np.ones(3),)),
    "inside": lambda f, a: al.function(lambda x: al.hessian_vector_product(f, x, np.ones(3)))(a),
}


@each([*WAYS, "hessian_vector_product", "vjp", "jacobian"])
def test_what_is_kept_of_an_argument_is_that_array_while_somebody_differentiates(name):
    a = np.arange(3.0)
    others = {
        "hessian_vector_product": lambda f, a: al.hessian_vector_product(f, a, np.ones(3)),
        "vjp": lambda f, a: al.vjp(f, a)[1](1.0),
        "jacobian": lambda f, a: al.jacobian(f)(a),
    }
    (WAYS | others)[name](keeps_it, a)
    assert IN_DICT["it"] is a
    if name in WAYS:
        WAYS[name](keeps_parts, a)
        assert np.shares_memory(KEPT.part, a) and np.shares_memory(IN_DICT["turned"], a)
        assert IN_DICT["part"] is IN_DICT["again"] and KEPT.part is IN_DICT["part"]
        a[1:] = 7
        assert KEPT.part.tolist() == [7, 7] and IN_DICT["turned"].tolist() == [0, 7, 7]


MAYBE = "b = 15\nif x[1] > 2: b = x*1\n"
#: what is a number in one run and an array in another, and what adding up no arrays gives; whether plain Python runs it
OF_BOTH = [
    ("in_a_list", MAYBE + "return np.array([b, b])", True),
    ("alone", MAYBE + "return np.asarray(b)", True),
    ("alone_of_one_dtype", MAYBE.replace("15", "15.") + "return np.array(b)", True),
    ("in_a_list_of_one_dtype", MAYBE.replace("15", "15.") + "return np.array([b, b])", False),
    ("stacked", MAYBE + "return np.stack([b, b])", True),
    ("filled", MAYBE + "return np.full(3, b)", True),
    ("behind_a_number", MAYBE + "k = int(x[0]) + 1\nreturn k + b, k * b, k - b, k < b", False),
    ("behind_a_number_in_a_ufunc", MAYBE + "return np.add(int(x[0]), b)", True),
    ("a_bool", "b = x*1\nif x[1] > 2: b = bool(np.any(b))\nreturn np.add(int(x[0]), b)", True),
    ("none_added", "q = [x*k for k in range(int(x[0]) - 1)]\nreturn sum(q)", False),
    ("none_added_to", LOOP.replace("x[1]", "x[0] - 2") + "q.append(x*i)\nreturn sum(q) + 1, x + sum(q)", False),
    ("none_added_to_an_array", LOOP.replace("x[1]", "x[0] - 2") + "q.append(x*i)\nreturn sum(q, x)", False),
    ("imaginary_parts_of_a_real_array", "x.imag[0] = 1\nreturn x", False),
    ("those_by_name", "y = np.imag(x*2)\ny[0] = 1\nreturn y", False),
    ("those_read", "return x.imag + 1, (x*1j).imag", False),
]  # fmt: skip


@each(OF_BOTH, first)
def test_numbers_that_are_arrays_in_other_runs_are_plain_pythons(name, body, is_left):
    check(name, module(body), is_left)


def test_a_variable_that_loops_and_branches_choose_is_not_left_as_its_value():
    """To compute with its value is as good; whoever finds it would have a tensor, and plain Python leaves it itself."""
    kept = "TOP = None\nclass O: pass\no = O()\no.a = o.b = None\no.log, o.d = [], {'k': 1.0}"
    for body in (
        "if x[0] > 0: o.a = x\nreturn 1", "i = 0\nwhile i < x[0]:\n    o.a = x\n    i += 1\nreturn 1",
        "global TOP\nif x[0] > 0: TOP = x\nreturn 1", "if x[0] > 0: o.log.append(x)\nreturn 1",
        "y = x if x[0] > 0 else x*2\no.d['k'] = y\nreturn 1", "if x[0] > 0: return x\nreturn x*2",
    ):  # fmt: skip
        with pytest.raises(TypeError, match="a Variable"):
            al.function(world("variables", module(body, kept))["f"])(al.Variable(np.ones(3)))
    f = al.function(world("variables", module("y = x if x[0] > 0 else x*2\no.a = y*3\nreturn y+1", kept))["f"])
    assert np.array_equal(f(al.Variable(np.ones(3))).numpy(), np.full(3, 2.0))


@pytest.mark.parametrize("of_argument", [False, True])
def test_an_array_put_where_another_handle_of_its_memory_stands_is_left_there(of_argument):
    held, x = {"v": np.ones(5)}, np.ones(5)

    def keep(x):
        held["q"] = x if of_argument else held["v"]
        return x * 1

    f = al.function(keep)
    for is_new in (False, False, True, False):
        if is_new:
            x, held["v"] = x[...], held["v"][...]
        f(x)
        assert held["q"] is (x if of_argument else held["v"])


@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
def test_a_counter_beside_an_array_that_a_closure_writes_to_in_two_loops():
    """NumPy says of a real array that is given what has no value yet that it is given a sequence."""

    def counter():
        n, w = 0, np.zeros(3)

        def count(v):
            nonlocal n
            n += 1
            w[0] += v
            return n

        return count, lambda: (n, *w)

    def left(decorate):
        weights, (count, seen) = np.ones(6), counter()

        def f(b, n):
            if weights.sum() > 9:
                k = 0
                while k < n and count(1) > 2:
                    k += 1
                    weights[...] = b[::-1]
            b[...] = 1.5
            for k in range(0, n, 2):
                count(k)

        f = decorate(f)
        return [(f(np.arange(6.0), np.int64(3)), seen()) for _ in range(3)]

    assert left(al.function) == left(lambda f: f)


class Holder:
    a = b = None


HOLDER = Holder()


def told(x, y):
    return x is y, [one is x for one in (y, x)], x is not y


def chosen(x, y):
    return x if y is x else x + 1


def in_a_loop(x, y):
    found = []
    for k in range(int(x.sum())):
        found.append(y is x)
    return found


def inside(x, y):
    return (lambda: {"x": x}["x"] is y)()


def held(x, y):
    HOLDER.b = x
    return HOLDER.a is x, HOLDER.a is y, HOLDER.b is y, HOLDER.a is HOLDER.b


def is_same(f, executor):
    f = f if executor is None else al.function(f, executor=executor)
    found, a, b = [], np.ones(3), np.ones(3)
    warnings.simplefilter("ignore")  # of a trace for each way in which they may be one
    for x, y in ((a, b), (a, a), (a, a[:]), (b, b), (a, b), (b[1:], b)):
        for HOLDER.a in (a, b):
            found.append(repr((f(x, y), f(x, y=y))))
    return found


@each([told, chosen, in_a_loop, inside, held])
def test_arguments_that_are_one_array_are_told_by_is(f):
    """The trace of the first call had taken them for two, and told the same of the next ones."""
    assert is_same(f, next(EXECUTORS)) == is_same(f, None)


def test_of_numbers_that_are_given_plain_python_tells_it():
    x = np.float64(2.5)
    for given in ((x, x), (x, np.float64(2.5)), (np.array(1.0),) * 2):
        f = al.function(lambda x, y: x is y)
        with pytest.warns(UserWarning, match="whether two numbers that are given, or arrays without axes, are one"):
            assert f(*given) is (given[0] is given[1])
        assert f(given[0], given[0]) is True
