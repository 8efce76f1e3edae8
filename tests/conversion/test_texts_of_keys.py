"""The ``__repr__`` of what the user's objects are is the user's code: tracing and warnings ask none for it."""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
from each_case import each
from executors import EXECUTORS

shown = 0


class Key:
    def __init__(self):
        self.weight = 1

    def __repr__(self):
        global shown
        shown += 1
        return f"Key({self.weight})"


KEY, HELD = Key(), {}
HELD[KEY] = np.ones(3)


def read(x):
    return x + HELD[KEY]


def changed(x):
    for i in range(3):
        if x.sum() > i:
            HELD[KEY] = HELD[KEY] + 1
    return x + HELD[KEY]


def of_its_own(x):
    d = {KEY: x, (KEY, 1): x}
    while d[KEY].sum() < 10:
        d[KEY] = d[KEY] + 1
    return d[KEY]


@each([(f, executor) for f in (read, changed, of_its_own) for executor in EXECUTORS])
def test_of_keys_of_dicts(f, executor):
    global shown
    decorated = al.function(f, executor=executor)
    for k in range(3):
        results = []
        for one in (f, decorated):
            HELD[KEY] = np.ones(3) * k
            shown = 0
            results.append((one(np.ones(3) * k), HELD[KEY]))
            assert shown == 0
        np.testing.assert_array_equal(*results)


@al.function
def weighed(x, key):
    return x * len(key.weight)


def test_of_arguments_that_are_others_at_each_call():
    global shown
    shown = 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k in range(40):
            key = Key()
            key.weight = "w" * k
            assert weighed(np.ones(2), key).tolist() == [k, k]
    assert shown == 0
    assert any("weighed" in str(one.message) for one in caught)
