"""NumPy's texts among the arguments: constants of a trace that stay what they are."""

from __future__ import annotations

from typing import Any

import autoloop as al
import numpy as np
import pytest
from left_to_python import refused_or_plain

TEXT, BYTES = np.str_("ab"), np.bytes_(b"ab")


def same_text(v: Any, x: Any) -> Any:
    return v == v, len(v), v, type(v).__name__, isinstance(v, np.generic), {v: 1}, v[0], x + 1


def counted(v: Any, x: Any) -> Any:
    count = 0
    for i in range(x.shape[0]):
        if x[i] > 0 and v == "ab":
            count += 1
    return count


@pytest.mark.parametrize("given", [TEXT, BYTES])
def test_they_stay_what_they_are(given: Any) -> None:
    x = np.arange(3.0)
    assert repr(al.function(same_text)(given, x)) == repr(same_text(given, x))


def test_each_has_a_trace_of_its_own_as_texts_of_python_have() -> None:
    x, f = np.arange(3.0), al.function(counted)
    assert [f(v, x) for v in (TEXT, "ab", np.str_("c"), TEXT)] == [2, 2, 0, 2]
    assert f.tracing_count == 3


def test_what_a_loop_makes_of_one_is_for_plain_python() -> None:
    def f(v: Any, x: Any) -> Any:
        for i in range(x.shape[0]):
            if x[i] > 5:
                v = "other"
        return v

    refused_or_plain(f, "differ under a tensor condition and are no tensors", TEXT, np.arange(3.0))


def test_an_element_of_texts_that_the_run_chooses_is_for_plain_python() -> None:
    refused_or_plain(lambda n: np.take(np.array(["a", "b", "c"]), n), "an element of an array of texts", np.int64(2))
