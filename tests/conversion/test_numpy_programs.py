"""NumPy code as people write it: decorated, it gives what it gives without, to all inputs, one after the other."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import autoloop as al
import numpy as np
import pytest
from numpy_programs import PROGRAMS
from numpys_examples import difference

#: what is refused, and the words that say so
REFUSED = {
    "peaks": "the list 'found' grows in a loop on tensors",
    "nearest_neighbours": "a key of a dict, is a tensor here",
    "threshold_and_box": "what the two sides of an `if` on a tensor return",
    "beam_search": "the list 'beams' grows in a loop on tensors",
    "tank_levels": "in a loop on tensors only tensors, numbers and structures of them, dataclasses among them",
}


def outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*copy.deepcopy(arguments))
        except Exception as error:
            return error


def compare(function: Any, arguments: list[tuple[Any, ...]], executor: str) -> str:
    """Return how the decorated function differs from the plain one, nothing if it does not."""
    decorated = al.function(function, executor=executor)
    for given in arguments:
        plain, ours = outcome(function, given), outcome(decorated, given)
        if isinstance(plain, Exception) or isinstance(ours, Exception):
            refused = isinstance(ours, TypeError | ValueError) and REFUSED.get(function.__name__, "?") in str(ours)
            if not refused and (type(plain) is not type(ours) or str(plain) not in str(ours)):
                return f"{type(ours).__name__}: {ours}, not {plain!r}"
        elif found := difference(plain, ours):
            return found
    return ""


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_program(function, arguments):
    assert compare(function, arguments, "auto") == ""


@pytest.mark.nightly
@pytest.mark.parametrize("executor", ["sequential", "dataflow"])
@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_program_by_other_executors(function, arguments, executor):
    assert compare(function, arguments, executor) == ""


def test_vander_has_as_many_columns_as_the_run_says():
    def f(x, count):
        n = 0
        while n < count:
            n += 1
        return np.vander(x, n), np.vander(x, n, increasing=True)

    for x in (np.arange(4) + 0.3, np.arange(4), np.arange(4) > 2):
        decorated = al.function(f)
        for count in np.array([3, 1, 0, 6]):
            for ours, theirs in zip(decorated(x, count), f(x, count)):
                assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs), (x, count)
