"""What a run would give back as another value: numbers and texts of classes of their own, and what a list that grows
cannot hold. Plain Python gives the very thing."""

from __future__ import annotations

import array
import enum
from collections import deque
from typing import Any

import autoloop as al
import numpy as np
import pytest
from left_to_python import refused_or_plain


class Metres(float):
    """A number with a unit."""


class Count(int):
    """A number with a meaning."""


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


PAIRS = {
    "floats": (Metres(1.0), Metres(2.0)),
    "a float of its own and one of Python's": (Metres(1.0), 2.0),
    "ints": (Count(1), Count(2)),
    "members": (Level.LOW, Level.HIGH),
    "texts": (np.str_("a"), np.str_("b")),
    "bytes": (np.bytes_(b"a"), np.bytes_(b"b")),
    "texts without axes": (np.array("a"), np.array("b")),
}
PAIR = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
NO_OTHER = "differ under a tensor condition|after a loop or branch on tensors|only tensors, numbers and structures"


@PAIR
def test_a_branch_gives_the_very_value(pair: tuple[Any, Any]) -> None:
    one, other = pair

    def chosen(x: Any) -> Any:
        v = one
        if x[0] > 1:
            v = other
        return v, x + 1

    for x in ([0.0], [2.0]):
        refused_or_plain(chosen, NO_OTHER, np.array(x))


@PAIR
def test_a_loop_gives_the_very_value(pair: tuple[Any, Any]) -> None:
    one, other = pair

    def looped(n: Any) -> Any:
        v, k = one, 0
        while k < n:
            v = other
            k += 1
        return v, k

    for n in (0, 2):
        refused_or_plain(looped, NO_OTHER, np.int64(n))


ELEMENTS = {
    "None": lambda x, k: None, "None in a tuple": lambda x, k: (x * k, None), "a range": lambda x, k: range(1),
    "an array of Python's": lambda x, k: array.array("d", [1.0]), "a bytearray": lambda x, k: bytearray(b"a"),
    "bytes that the run makes": lambda x, k: x.tobytes(), "a member": lambda x, k: Level.LOW,
    "a number of its own": lambda x, k: Metres(1.0), "a text without axes": lambda x, k: np.array("a"),
    "what may be None": lambda x, k: None if k > 1 else x * 2,
}  # fmt: skip
HOLLOW = {
    "a list": lambda x, k: [], "a tuple": lambda x, k: (), "a dict": lambda x, k: {}, "a deque": lambda x, k: deque(),
    "lists": lambda x, k: [[], []], "a shape": lambda x, k: x[0].shape, "an array's": lambda x, k: x[:0].tolist(),
}  # fmt: skip


def _appended(make: Any) -> Any:
    def appended(x: Any, n: Any) -> Any:
        out = []
        for k in range(n):
            out.append(make(x, k))
        return out

    return appended


@pytest.mark.parametrize("make", ELEMENTS.values(), ids=ELEMENTS)
def test_a_list_that_grows_holds_the_very_value(make: Any) -> None:
    refused_or_plain(_appended(make), "is put into the list 'out', which grows", np.arange(2.0), np.int64(3))


@pytest.mark.parametrize("make", HOLLOW.values(), ids=HOLLOW)
def test_a_list_that_grows_holds_what_holds_nothing(make: Any) -> None:
    refused_or_plain(_appended(make), "is put into the list 'out'.* holds nothing", np.arange(2.0), np.int64(3))


def test_a_list_that_holds_numbers_is_given_none() -> None:
    def f(x: Any, n: Any) -> Any:
        out = [x.sum()]
        for k in range(n):
            if x[k] > 1:
                out.append(None)
        return out

    refused_or_plain(f, "None is put into the list 'out', which grows", np.arange(3.0), np.int64(3))


def test_bytes_of_a_run_or_a_number() -> None:
    def f(x: Any) -> Any:
        out = [0]
        if x[0] > 1:
            out[0] = x.tobytes()
        return out

    refused_or_plain(f, "must have the same|have different|holds bytes|be of one kind|same type", np.array([2.0]))


def test_tensors_are_no_plain_python() -> None:
    with pytest.raises(TypeError, match="None is put into the list 'out', which grows"):
        al.function(_appended(ELEMENTS["None"]))(al.constant([1.0, 2.0]), al.constant(2))
