"""What a run raises outside of loops is raised by plain Python, in its own words, and the next call runs again."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS
from random_expressions import compiled

#: what fails for the first int, and not for the second
LINES = (
    ("np.full(n, [1.0, 2.0]) * 2", 5, 2), ("np.linalg.vecdot(x[:, :n], x)", 2, 3), ("x.ravel()[[0, n]]", 9, 1),
    ("np.concatenate([x[:n], x[:1, :n]])", 2, 3), ("int(x[0, 0]) // (n - 2)", 2, 3),
)  # fmt: skip


@pytest.mark.parametrize("executor", EXECUTORS)
def test_runs_raise_in_the_words_of_plain_python(executor):
    x = np.arange(6.0).reshape(2, 3)
    for line, wrong, right in LINES:
        f = compiled(f"def program(x, n):\n    n = int(n)\n    return {line}\n")
        decorated = al.function(f, executor=executor)
        with pytest.raises(Exception) as plain:  # noqa: PT011
            f(x, wrong)
        for n in (*[wrong] * 3, right, *[wrong] * 20, right):
            if n == right:
                np.testing.assert_array_equal(decorated(x, np.int64(n)), f(x, n))
                continue
            with pytest.raises(plain.type) as ours:
                decorated(x, np.int64(n))
            assert str(ours.value) == str(plain.value), line


def test_what_is_raised_once_more_is_the_same():
    told = ValueError("once")

    def f(x):
        if x.shape[0] == 2:
            raise told
        return x

    told.add_note("mine")
    for _ in range(2):
        with pytest.raises(ValueError, match="once") as ours:
            al.function(f)(np.zeros(2))
        assert ours.value is told and told.__notes__ == ["mine"]
