"""Arguments that overlap are parts of one array; where no trace can follow that, plain Python runs the call."""

import dataclasses
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS


def add_to_first(x, y):
    x[0] += y[1]
    y[1] = 10
    return x.sum() + y.sum()


def shift(x, y, n):
    x[:] = y * 2
    y[0] = 7
    return x.sum(), x, y[1:]


def step_by_step(x, y, n):
    i = 0
    while i < n:
        x[i] = y[i] + 1
        i += 1
    return y


def in_lists(x, y, n):
    for one in [x, y, x]:
        one += y.sum()
    x, y = y, x
    x[-1] = n
    return {"x": x, "both": x + y}


#: (array, two parts of it)
OVERLAPS = [
    (lambda: np.arange(8.0), lambda z: (z[:-1], z[1:])),
    (lambda: np.arange(8.0), lambda z: (z[1:], z[:-1])),
    (lambda: np.arange(8.0), lambda z: (z, z[::-1])),
    (lambda: np.arange(8.0), lambda z: (z[::2], z[:4])),
    (lambda: np.arange(8.0), lambda z: (z[2:4], z)),
    (lambda: np.arange(16.0).reshape(4, 4), lambda z: (z, z.T)),
    (lambda: np.arange(16.0).reshape(4, 4), lambda z: (z[1], z[:, 1])),
    (lambda: np.arange(16.0).reshape(4, 4), lambda z: (z.reshape(-1), z[1])),
    (lambda: np.multiply.outer(np.arange(4.0), np.arange(1.0, 5.0))[:, :3], lambda z: (z[:3], z[1:])),
]  # fmt: skip


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("function", [shift, step_by_step, in_lists])
def test_arguments_that_overlap_are_parts_of_one_array(function, executor):
    for made, parts in OVERLAPS:
        decorated, plain, ours = al.function(function, executor=executor), made(), made()
        try:
            for _ in range(2):
                given, taken = parts(plain), parts(ours)
                expected = al.nest.flatten(function(*given, np.int64(3)))
                found = al.nest.flatten(decorated(*taken, np.int64(3)))
                assert [np.asarray(one).tolist() for one in found] == [np.asarray(one).tolist() for one in expected]
                for one, other in zip(expected, found):
                    shared = [(one is array, np.shares_memory(one, array)) for array in given]
                    assert shared == [(other is array, np.shares_memory(other, array)) for array in taken]
        except (ValueError, IndexError) as error:
            with pytest.raises(type(error)):
                decorated(*parts(ours), np.int64(3))
            continue
        assert plain.tolist() == ours.tolist()


def first_of_both(x, y):
    x[0] = y.max() + 1
    return x, y.sum()


#: (array, two parts of it that no trace can follow), and what is said
UNFOLLOWED = [
    (lambda z: (np.lib.stride_tricks.as_strided(z, (2, 2), (8, 8)), np.ones((2, 2))), "elements of the argument 'x'"),
    (lambda z: (z[:4].view("f4")[1:3], z[:1].view("i4")), "'x' and 'y' overlap in memory"),
]  # fmt: skip


@each(UNFOLLOWED)
def test_arguments_that_overlap_as_no_trace_can_follow_are_plain_pythons(parts, said):
    f = al.function(first_of_both)
    x, y = np.arange(5.0), np.arange(5.0)
    for is_first in (True, False):
        given = parts(y)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = f(*given)
        expected = first_of_both(*parts(x))
        assert found[0] is given[0] and found[1] == expected[1] and x.tolist() == y.tolist()
        assert [said in str(one.message) for one in told] == [True][:is_first]
    if "native" in EXECUTORS:
        with pytest.raises(TypeError, match=said):
            al.function(first_of_both, executor="native")(*parts(y))
    with pytest.raises(TypeError, match=said), al.GradientTape():
        f(*parts(y))
    assert x.tolist() == y.tolist()


def test_parts_that_overlap_of_which_one_is_read_only_are_plain_pythons():
    f, x = al.function(lambda x, y: x.__setitem__(0, y[1] + 9)), np.arange(5.0)
    frozen = x[:-1]
    frozen.flags.writeable = False
    with pytest.warns(UserWarning, match="'x' and 'y' overlap in memory"):
        f(x[1:], frozen)
    assert x.tolist() == [0, 10, 2, 3, 4]
    assert al.function(add_to_first)(x[:2], x[3:]) == 4 + 10 + 3 + 10
    read = al.function(lambda x, y: x + y)
    assert read(x[1:], x[:-1]).tolist() == (x[1:] + x[:-1]).tolist()


def test_overlapping_arguments_of_a_function_that_plain_python_runs():
    """It may be found only in the trace that knows of both that they are parts of one array."""

    def put(x, y):
        x[:] = y
        return x

    given = [(z, z[::2], z[:4]) for z in (np.arange(8.0), np.arange(8.0))]
    put(*given[0][1:])
    f = al.function(put)
    with pytest.warns(UserWarning, match="a part of an array is assigned to one that overlaps with it"):
        assert f(*given[1][1:]) is given[1][1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(*given[1][1:]) is given[1][1]
    put(*given[0][1:])
    assert given[0][0].tolist() == given[1][0].tolist()


@dataclasses.dataclass
class Pair:
    one: object
    two: object = None


class World:
    def __init__(self):
        self.log, self.d, self.pair, self.last = [], {}, Pair(0), None


WORLD = World()


def append_to(x, y, log):
    x[0] += y[1]
    log.append(x[0])
    return log


def set_key(x, y, d):
    y += x[0]
    d["n"] = d.get("n", 0) + 1
    d["of"] = d
    return d["of"] is d


def set_field(x, y, pair):
    x += 1
    pair.one, pair.two = pair.two, y.sum()
    return pair


def give_worlds_own(x, y):
    x += y[0]
    WORLD.log.append(1)
    WORLD.d["n"] = len(WORLD.log)
    return WORLD.log, (WORLD.d, WORLD.pair), x


def leave_argument(x, y):
    y[0] = 3
    WORLD.last, WORLD.d["y"] = y, [x, y]
    WORLD.pair.two = y
    return [y, x]


def named(value, given, seen=()):
    """Return what a result consists of, and which of it was there."""
    name = next((name for name, one in given.items() if one is value), None)
    if name is not None or id(value) in seen:
        return name
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else None
    seen = (*seen, id(value))
    return type(value).__name__ if parts is None else [type(value), *[named(one, given, seen) for one in parts]]


def outcomes(f, names):
    z = np.arange(8.0)
    WORLD.__init__()
    given = {"x": z[:-1], "y": z[1:], "log": [], "d": {}, "pair": Pair(1, 2)}
    found = []
    for _ in range(2):
        result = f(*[given[name] for name in names])
        world = {**given, **{f"world's {name}": one for name, one in vars(WORLD).items()}}
        held = [WORLD.last, WORLD.pair.one, WORLD.pair.two, *WORLD.log, *WORLD.d.values()]
        told = [named(one, world) for one in (result, held)]
        found.append((told, len(given["log"]), str(given["d"].get("n")), vars(given["pair"]) | {}, z.tolist()))
    return found


@each([(append_to, "x y log"), (set_key, "x y d"), (set_field, "x y pair"), (give_worlds_own, "x y"),
       (leave_argument, "x y")])  # fmt: skip
def test_what_is_given_beside_or_left_or_given_back_is_the_very_object(f, names):
    """Lists, dicts and dataclasses that a call was given beside were made anew, and what was written to them lost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for executor in ("auto", "sequential"):
            assert outcomes(al.function(f, executor=executor), names.split()) == outcomes(f, names.split())


def views_alike(x, y):
    y += x[0]
    return x.T, [x[:], x], {"y": y.reshape(-1), "same": np.asarray(y)}


def either_argument(x, y):
    y += x[0]
    if y[0] > 0:
        return x
    return y


def argument_or_view(x, y):
    y += 1
    if y[0] > 2:
        return x[:]
    return x


@each([views_alike, either_argument, argument_or_view])
@pytest.mark.filterwarnings("error")
def test_views_like_arguments_are_other_objects(f):
    """``a[:]`` is like ``a``, and was taken for it."""
    if f is argument_or_view:
        said = "whether the function returns one of its arguments, .* return a copy, or give arrays that do not overlap"
        with pytest.warns(UserWarning, match=said):
            outcomes(decorated := al.function(f), ["x", "y"])
    else:
        decorated = al.function(f)
    assert outcomes(decorated, ["x", "y"]) == outcomes(f, ["x", "y"])
    assert decorated.tracing_count < 3
