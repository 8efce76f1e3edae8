"""The table of NumPy's functions: by day each with its first dtype, at night all, against the page in the docs."""

from __future__ import annotations

from itertools import groupby

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import needs_native
from sample_calls import DTYPES, UNCLEAR, WORKS, WRONG, Sample, pool, samples
from table import MANY, PAGE, difference, eager_outcome, outcome, page, plain, row, rows, together

BY_FUNCTION = {name: list(group) for name, group in groupby(samples(), key=lambda one: one.function)}


#: where the calls stand that are refused
SAID = PAGE.read_text()


@each(BY_FUNCTION, parts=4, one_in=2)
def test_a_function_is_as_in_numpy_or_refused_with_words(function):
    """The calls that give values in one program, and one by one only if it doesn't do what NumPy does."""
    tried = BY_FUNCTION[function][:6]
    well = [one for one in tried if f"`{one.text}`" not in SAID and not isinstance(plain(one, DTYPES[0]), Exception)]
    if len(well) > 1 and outcome(together(well), DTYPES[0]).status == WORKS:
        tried = [one for one in tried if one not in well]
    made = row(function, tried, most=1)
    assert made.status not in (WRONG, UNCLEAR), made.others


def test_calls_together_are_those_one_by_one():
    one, other = Sample("np.sin", "np.sin(x)", ("x",)), Sample("np.put", "np.put(x, 0, v[0]), 1", ("x", "v"))
    both = together([one, other])
    assert both.names == ("x", "v")
    assert difference([plain(one, "float64"), plain(other, "float64")], plain(both, "float64"), True) == ""
    assert outcome(both, "float64").status == WORKS
    refused = Sample("setflags", "x.setflags(write=False)", ("x",))
    assert outcome(together([one, refused]), "float64").status != WORKS


@pytest.mark.nightly
@pytest.mark.parametrize("executor", ["sequential", "auto", "dataflow"])
def test_the_whole_table_is_the_page(executor):
    made = rows(executor, most=MANY, gradients=True)
    assert [one for one in made if {one.status, one.gradient} & {WRONG, UNCLEAR}] == []
    assert page(made) == PAGE.read_text()


@pytest.mark.nightly
def test_nothing_is_wrong_with_any_dtype():
    assert [one for one in rows() if one.status in (WRONG, UNCLEAR)] == []


@pytest.mark.nightly
@needs_native
@pytest.mark.parametrize("dtype", DTYPES[:4])
def test_machine_code_gives_the_same_where_it_takes_a_call(dtype):
    tried = [(one.text, outcome(one, dtype, "native")) for one in samples() if dtype in one.dtypes]
    wrong = [(text, made) for text, made in tried if made.status == WRONG and "executor='native'" not in made.words]
    assert wrong == []
    assert sum(made.status == WORKS for _, made in tried) > len(tried) // 5


#: what says something of memory, which is another's for a tensor; and what asks nobody, but looks for a type of NumPy's
OF_ARRAYS = {
    "np.ndarray.flags", "np.ndarray.base", "np.ndarray.ctypes", "np.ndarray.data", "np.ndarray.strides",
    "np.polynomial.polynomial.polyvalfromroots",
}  # fmt: skip


@each(BY_FUNCTION, one_in=2)
def test_of_tensors_that_have_values_it_is_the_same(function):
    """Where NumPy's function is not refused; functions that ask nobody see arrays."""
    _is_the_same_of_tensors(function, ["float64"])


@pytest.mark.nightly
@each(BY_FUNCTION)
def test_of_tensors_of_other_dtypes_it_is_the_same(function):
    _is_the_same_of_tensors(function, DTYPES[1:], most=len(DTYPES))


def _is_the_same_of_tensors(function, dtypes, most=3):
    tried = [(sample, dtype) for sample in BY_FUNCTION[function][:most] for dtype in dtypes if dtype in sample.dtypes]
    made = [(sample.text, dtype, eager_outcome(sample, dtype)) for sample, dtype in tried]
    assert function in OF_ARRAYS or [one for one in made if one[2].status == WRONG] == []


def test_the_pool_has_the_same_names_for_every_dtype():
    assert all(set(pool(dtype)) == set(pool()) for dtype in DTYPES)


@pytest.mark.parametrize(
    ("plain", "ours", "words"),
    [
        (np.ones(2), np.ones(3), "shape (3,), not (2,)"), (np.ones(2), np.ones(2, np.float32), "dtype float32"),
        (np.ones(2), np.zeros(2), "[0.0, 0.0], not [1.0, 1.0]"), ((1, 2), [1, 2], "gives list, not tuple"),
        ([1], [1, 2], "gives list, not list of 1"), ("a", "b", "gives 'b', not 'a'"),
        (np.array([np.nan]), np.zeros(1), "not [nan]"),
        (1, 1.0, "dtype float64, not int64"),
    ],
)  # fmt: skip
def test_differences_are_found(plain, ours, words):
    assert words in difference(plain, ours, False)
    assert difference(plain, plain, False) == ""


def test_a_refusal_that_names_nothing_is_unclear(monkeypatch):
    assert outcome(Sample("setflags", "x.setflags(write=False)", ("x",)), "float64").status == "refused"

    def refused(*_):
        raise TypeError("that cannot be")

    monkeypatch.setattr(al, "function", lambda f, executor: refused)
    assert outcome(Sample("np.sum", "np.sum(x)", ("x",)), "float64").status == UNCLEAR
