"""What functions that nobody has decorated leave in what they find, where they are differentiated, mapped or looped:
what plain Python leaves there, or it is refused and all is as it was."""

import copy

import autoloop as al
import numpy as np
import pytest

X, ZERO = np.array([1.0, 2.0, 3.0]), np.float64(0.0)


class Kept:
    def __init__(self):
        self.list, self.dict, self.number, self.array, self.tuple = [0.0], {}, 1.0, np.zeros(3), (1.0,)


kept = Kept()
array, total = np.ones(3), 0.0


def to_global(a):
    global total
    total = total + a.sum()


def to_global_array(a):
    global array
    array += a


def to_new_array(a):
    global array
    array = array + a


def to_list(a):
    kept.list.append(a.sum())


def to_element(a):
    kept.list[0] += a.sum()


def to_dict(a):
    kept.dict["k"] = a * 2.0


def to_attribute(a):
    kept.number = kept.number * a[1]


def to_attribute_array(a):
    kept.array += a


def to_part_of_array(a):
    kept.array[:] = a


def to_tuple(a):
    kept.tuple = (a.sum(), [a[0]])


def counter():
    count = 0.0

    def to_closure(a):
        nonlocal count
        count = count + a.sum()

    return to_closure


def fails(a):
    kept.list.append(a.sum())
    raise KeyError("fails")


def state(change):
    cells = change.__closure__ or ()
    return copy.deepcopy([vars(kept), array, total, *[cell.cell_contents for cell in cells]])


def begin():
    global array, total
    array, total = np.ones(3), 0.0
    kept.__init__()


WAYS = {
    "grad": lambda f: al.grad(f)(X),
    "value_and_grad": lambda f: al.value_and_grad(f)(X),
    "vjp": lambda f: al.vjp(f, X),
    "jacobian": lambda f: al.jacobian(f)(X),
    "hessian": lambda f: al.hessian_vector_product(f, X, X),
    "jvp": lambda f: al.jvp(f, (X,), (X,)),
    "map_fn": lambda f: al.map_fn(f, X[None]),
    "scan": lambda f: al.scan(lambda s, row: s + f(row), X[None], ZERO),
    "foldl": lambda f: al.foldl(lambda s, row: s + f(row), X[None], ZERO),
    "while_loop": lambda f: al.while_loop(lambda i: i < 1.0, lambda i: [f(X * (i + 1.0)) * 0.0 + 1.0], [ZERO]),
    "cond": lambda f: al.cond(X[0] > 0.0, lambda: f(X), lambda: 0.0),
    "vectorized_map": lambda f: al.vectorized_map(f, X[None]),
}
CHANGES = (
    to_global, to_global_array, to_new_array, to_list, to_element, to_dict, to_attribute, to_attribute_array,
    to_part_of_array, to_tuple, counter(), fails,
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_state_is_as_plain_python_leaves_it_or_as_it_was(way):
    written = set()
    for change in CHANGES:

        def f(a, change=change):
            change(a)
            return (a * a).sum()

        begin()
        cells = change.__closure__ or ()
        for cell in cells:
            cell.cell_contents = 0.0
        before = repr(state(change))
        try:
            f(X.copy())
        except KeyError:
            pass
        plain = repr(state(change))
        begin()
        for cell in cells:
            cell.cell_contents = 0.0
        try:
            WAYS[way](f)
        except (TypeError, KeyError) as error:
            assert isinstance(error, KeyError) == (change is fails)
            assert repr(state(change)) in {before, plain if change is fails else before}, change
        else:
            assert repr(state(change)) == plain, change
            written.add(change.__name__)
    if way in ("grad", "value_and_grad", "vjp", "jacobian", "hessian"):
        assert {"to_global", "to_new_array", "to_list", "to_dict", "to_attribute", "to_closure"} <= written


def test_an_argument_that_is_kept_is_the_callers():
    def f(a):
        kept.number = a
        return a.sum()

    def g(a):  # which sets an item, so that it is differentiated as if it were decorated
        kept.number = kept.dict["k"] = a
        return a.sum()

    ways = [al.grad, al.value_and_grad, al.jacobian, lambda f: lambda x: al.vjp(f, x)]
    ways += [lambda f: lambda x: al.jvp(f, (x,), (x,)), lambda f: al.jacobian(al.grad(f))]
    for number, way in enumerate(ways):
        for function in (g, al.function(f), *((f,) if way is al.grad else ())):
            begin()
            way(function)(X)
            assert kept.number is X and (function is not g or kept.dict["k"] is X), number
    begin()
    al.grad(lambda a: (g(a), a.fill(2.0), a.sum())[2])(X)
    assert kept.dict["k"].tolist() == [2.0, 2.0, 2.0] and X[0] == 1.0  # who writes to an argument has a copy


def test_what_was_given_as_a_tensor_is_kept_as_one():
    begin()
    al.grad(lambda a: kept.list.append(a.sum()) or a.sum())(al.constant(X))
    assert isinstance(kept.list[1], al.Tensor) and float(kept.list[1]) == 6.0


def test_an_array_changed_in_place_is_changed_or_refused_by_its_name():
    begin()
    before = array.copy()
    slope = al.grad(lambda a: (to_global_array(a), (a * array).sum())[1])(X)
    np.testing.assert_array_equal(array, before + X)
    np.testing.assert_array_equal(slope, before + 2 * X)
    held = {"by name": to_global_array}
    slope = al.grad(lambda a: (held["by name"](a), (a * array).sum())[1])(X)
    np.testing.assert_array_equal(array, before + 2 * X)
    np.testing.assert_array_equal(slope, before + 3 * X)
    without_lines = eval("lambda a: (held['by name'](a), a.sum())[1]", {"held": held})
    with pytest.raises(TypeError, match="the array 'array', which the function finds, is changed in place"):
        al.grad(without_lines)(X)
    with pytest.raises(TypeError, match="'Kept.list', which the function finds, would hold a symbolic tensor"):
        al.map_fn(lambda a: (to_list(a), a.sum())[1], X[None])
