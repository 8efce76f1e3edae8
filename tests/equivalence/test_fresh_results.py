"""What a function makes anew at each call is another object at each call, and what it found is that very object."""

import collections
import itertools
import types
import warnings

import autoloop as al
import numpy as np

X = np.ones(2)
TABLE = np.arange(3.0)


class Settings:
    def __init__(self, size):
        self.size, self.table = size, TABLE


DEFAULT = Settings(5)


def grown(box):
    """Change a result as its owner may."""
    if isinstance(box, np.ndarray):
        box[...] = 7
    elif isinstance(box, Settings):
        box.size = 7
    elif isinstance(box, dict):
        box["z"] = 7
    else:
        box.add(7)


MADE = (
    lambda x: np.zeros(3),
    lambda x: np.arange(4)[1:],
    lambda x: {1, 2},
    lambda x: collections.Counter("ab"),
    lambda x: Settings(3),
    lambda x: (x + 1, [np.zeros(3), {1, 2}])[1][0],
)


def test_what_is_made_is_made_at_each_call():
    for make in MADE:
        decorated = al.function(make)
        first, second = decorated(X), decorated(X)
        assert first is not second and type(first) is type(make(X))
        grown(first)
        shown = second.__dict__ if isinstance(second, Settings) else second
        assert repr(shown) == repr(make(X).__dict__ if isinstance(second, Settings) else make(X))


def test_one_object_in_two_places_is_one_object():
    def twice(x):
        made = Settings(1)
        return made, made, x + 1

    one, other, _ = al.function(twice)(X)
    assert one is other and one.table is TABLE


def test_what_was_there_is_handed_back_itself():
    f = al.function(lambda x: (DEFAULT, TABLE, x * 2))
    assert f(X)[0] is DEFAULT and f(X)[1] is TABLE


def test_no_tracer_is_left_in_what_no_structure_holds():
    makers = (
        lambda x: types.SimpleNamespace(p=x.sum()).p,
        lambda x: slice(x.sum(), None).start,
        lambda x: collections.ChainMap({"p": x.sum()})["p"],
        lambda x: ValueError(x.sum()).args[0],
    )
    for make in makers:
        assert type(al.function(make)(X)) is type(make(X))
    keepers = (
        (lambda x: types.SimpleNamespace(p=x.sum()), "p"),
        (lambda x: slice(x.sum(), None), "start"),
    )
    for make, name in keepers:
        with warnings.catch_warnings(record=True):  # it runs as plain Python
            warnings.simplefilter("always")
            found = getattr(al.function(make)(X), name)
        assert type(found) is np.float64 and found == 2


class Box:
    pass


def kept_diagonal(x):
    box = Box()
    box.value = np.diagonal(x * 2)
    return box.value


def diagonal_of_a_loop(x):
    found = np.diag(x)
    while found.sum() < 100:
        x = x * 2
        found = np.diag(x)
    return found


def diagonal_of_a_branch(x):
    if x.sum() > 0:
        found = np.diag(x * 2)
    else:
        found = np.broadcast_to(x[0], (3, 2))[:, 0]
    return found


def diagonal_or_other(x):
    if x.sum() > 0:
        found = np.diag(x * 2)
    else:
        found = x[0] * 2
    return found * 1


def broadcast_in_a_loop(x):
    found = x + 1
    while found.sum() > 0 and found.sum() < 100:
        found = np.broadcast_to(found[0] * 2, (2, 2))
    return found


def part_of_a_branch(x):
    if x.sum() > 0:
        x = np.broadcast_to(x[0] + 1, (2, 2))
    return x.T[1:]


def kept_of_a_branch(x):
    box = Box()
    box.value = x + 1
    if x.sum() > 0:
        box.value = np.diag(x * 2)
    return box.value


def locked(x):
    before = np.arange(4.0)
    view = before[1:]
    before.setflags(write=False)
    return [before, view, before[:2], x + 1]


READ_ONLY = {
    "a diagonal": lambda x: np.diag(x * 2),
    "in a list": lambda x: [np.diagonal(x * 2), x * 2],
    "in a dict": lambda x: {"d": (x * 2).diagonal()},
    "a part": lambda x: np.diag(x * 2)[1:],
    "broadcast": lambda x: np.broadcast_to(x.sum(0), (3, 2)),
    "of an object": kept_diagonal,
    "of a loop": diagonal_of_a_loop,
    "of a branch": diagonal_of_a_branch,
    "another array": diagonal_or_other,
    "perhaps, of a loop": broadcast_in_a_loop,
    "perhaps, a part": part_of_a_branch,
    "perhaps, of an object": kept_of_a_branch,
    "that the function has locked": locked,
}


def test_a_view_that_nobody_may_write_to_stays_so():
    def seen(value):
        every = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
        return [(one.tolist(), one.flags.writeable) for one in every]

    for (name, f), executor in zip(READ_ONLY.items(), itertools.cycle(("auto", "sequential", "dataflow"))):
        decorated = al.function(f, executor=executor)
        for x in (np.ones((2, 2)), -np.ones((2, 2)) if "loop" not in name else np.eye(2)):
            with warnings.catch_warnings():
                # plain Python runs what is so perhaps, and says so
                warnings.simplefilter("ignore" if "perhaps" in name else "error")
                assert seen(decorated(x)) == seen(f(x)), name
