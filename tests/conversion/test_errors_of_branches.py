"""What Python or NumPy says of values or types in a branch is said only if that is taken, whoever asks them."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each
from written_out import program

FAILING = [
    "max([])", "min(())", "(1, 2)[x]", "x[0] + 'a'", "'a' + n", "x.item(0) + 'a'", "x[0] < 'a'",
    "x * None", "round(x)", "[1, 2][x[0]]", "(1, 2)[x.mean()]", "'abc'[x[0]]", "range(3)[x[0]]",
]  # fmt: skip


@each(FAILING)
def test_it_belongs_to_the_run_of_the_branch(text):
    plain = program(f"if x[0] > 1:\n    return {text}\nreturn 0", ["x", "n"])
    decorated = al.function(plain)
    assert decorated(np.arange(3.0), np.int64(2)) == plain(np.arange(3.0), np.int64(2)) == 0
    with pytest.raises((TypeError, ValueError)) as expected:
        plain(np.arange(3.0) + 2, np.int64(2))
    with pytest.raises((TypeError, ValueError)) as found:
        decorated(np.arange(3.0) + 2, np.int64(2))
    assert str(found.value).splitlines()[0] == str(expected.value)


def test_what_cannot_be_built_is_refused_whichever_branch_it_stands_in():
    plain = program("if n > 5:\n    return [0] * n\nreturn 0", ["x", "n"])
    with pytest.raises(TypeError, match="cannot be repeated as often as only the run knows"):
        al.function(plain)(np.arange(3.0), np.int64(2))
    plain = program("d = {}\nif n > 5:\n    d['a'] = x\nreturn d", ["x", "n"])
    with pytest.raises(TypeError, match=r"which keys a dict has must not depend on the run: set d\['a'\] before"):
        al.function(plain)(np.arange(3.0), al.constant(2))
    with pytest.raises(TypeError, match=r"cannot run program: the dict 'd' has other keys.*set d\['a'\] before"):
        al.function(plain, executor="native")(np.arange(3.0), np.int64(2))
