"""``max``, ``min``, ``any``, ``all`` and ``sorted`` ask one element after another, as Python does."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each

ROWS = [max, min, any, all, sorted]


@each(ROWS)
def test_rows_cannot_be_asked(builtin):
    m = np.arange(6.0).reshape(2, 3)
    f = lambda m: builtin(m)
    for one in (f, al.function(f)):
        with pytest.raises(ValueError, match="truth value of an? (?:array|tensor)"):
            one(m)


def in_any(v):
    return any((z := x) > 1.5 for x in v), z  # noqa: F821


def in_all(v):
    return all((z := x) < 1.5 for x in v if x > 0), z  # noqa: F821


@each([in_any, in_all])
def test_a_name_that_any_or_all_sets_as_far_as_it_gets(f):
    v = np.array([1.0, 3.0, 0.5])
    with pytest.raises(TypeError, match="How far a generator expression gets decides what its `:=` leave behind, so "):
        al.function(f)(al.constant(v))
    with pytest.warns(UserWarning, match="How far a generator expression gets"):
        assert al.function(f)(v) == f(v)
    assert al.convert(f)(v) == f(v)


def returns_of_two_kinds(v):
    for x in v:
        if x > 2:
            return x
        if x < 0:
            return {"a": x}
    return 0.0


def returns_lists_of_two_lengths(v):
    for x in v:
        if x > 2:
            return [x]
        if x < 0:
            return [x, x]
    return [0.0]


@each([returns_of_two_kinds, returns_lists_of_two_lengths])
def test_messages_speak_of_return(f):
    with pytest.raises(TypeError, match="'return'") as raised:
        al.function(f)(al.constant([1.0, 3.0]))
    assert "return_value" not in str(raised.value)
