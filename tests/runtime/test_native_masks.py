"""What masks select, computed with and put back or added up: in machine code as plain NumPy does it."""

from __future__ import annotations

import linecache
from typing import Any

import autoloop as al
import numpy as np
import pytest
from api import native
from each_case import each
from executors import EXECUTORS
from hypothesis import HealthCheck, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

pytest.importorskip("llvmlite")


def put_back(x, y, m):
    for _ in range(3):
        y[m] = y[m] * 0.5 + abs(x[m]) - 1
        x[m] = -y[m]
    return y[m].sum(), x[m].size


def of_own_values(x, y, m):
    x[x > 1] = x[x > 1] ** 2
    y[y < 0] = 0
    y[m] += x[m]
    return x


def reduced(x, y, m):
    total, count = 0.0, 0
    for i in range(4):
        near = (y < i) & m
        if near.any():
            total += x[near].mean() + (x[near] - x[near].mean()).sum()
            count += len(x[near]) + near.sum()
    return total, count, (x[m] > 0).any(), (x[m] > 0).all(), x[m].prod(), x[m].sum(dtype=np.float64)


def kept_apart(x, y, m):
    """An old value of the selected, after that has changed; two masks."""
    old = x[m] * 2
    x[m] = 0
    far = y > 0
    y[far] = y[far] - 1
    x[m] = old + x[m]
    return (old * old).sum()


PROGRAMS = [put_back, of_own_values, reduced, kept_apart]


def given(dtype, shape, chosen):
    rng = np.random.default_rng(3)
    x, y = (rng.integers(-30, 30, (2, *shape)) / 8).astype(dtype)
    return x, y, {"none": np.zeros, "all": np.ones}.get(chosen, lambda n, _: rng.random(n) < 0.4)(shape, bool)


def what_differs(program, executor, arguments, near=0.0):
    with np.errstate(all="ignore"):
        plain, ours = ([one.copy() for one in arguments] for _ in range(2))
        wants = program(*plain)
        found = al.function(program, executor=executor)(*ours)
    pairs = [*zip(np.atleast_1d(found) if isinstance(wants, np.ndarray) else found, wants)] if not isinstance(
        wants, np.generic
    ) else [(found, wants)]  # fmt: skip
    for got, want in [*pairs, *zip(ours, plain)]:
        if np.asarray(got).dtype != np.asarray(want).dtype or type(got) is not type(want):
            return f"{type(got)} for {type(want)}"
        precise = np.asarray(want).dtype == np.float64 and not near
        if not np.allclose(got, want, 1e-12 if precise else 1e-5, near, equal_nan=True):
            return f"{got} for {want}"
    return ""


@each([(p, d) for p in PROGRAMS for d in ("float64", "float32", "int32")], one_in=2)
@pytest.mark.filterwarnings("ignore:(Mean|invalid)")
def test_as_plain_numpy(program, dtype):
    sizes = (((5, 7), "some"), ((9,), "none"), ((0,), "all"))
    for shape, chosen in sizes[: 3 if dtype == "float64" else 1]:
        said = what_differs(program, "native", given(dtype, shape, chosen))
        assert not said, (shape, chosen, said)


@each(EXECUTORS)
def test_what_is_not_selected_raises_nothing(executor):
    def f(x):
        some = x != 0
        x[some] = 1 / x[some]
        return (1 / x[some]).sum()

    with np.errstate(all="raise"):
        x = np.array([0.0, 2.0, 0.0, 4.0])
        assert al.function(f, executor=executor)(x) == 6 and x.tolist() == [0, 0.5, 0, 0.25]


STATEMENTS = [
    "{a}[{m}] = {b}[{m}] * 2 - {a}[{m}]", "{a}[{m}] += s * {b}[{m}]", "{a}[{m}] = abs({a}[{m}]) + (k > 2)",
    "{a}[{m}] = 0", "{a}[{m}] = np.where({b}[{m}] > s, {a}[{m}], np.sqrt(abs({b}[{m}])))", "{m} = {a} > {b}",
    "k += {a}[{m}].size", "total += np.sum({a}[{m}] * {b}[{m}])", "total += {a}[{m}].any() + ({b}[{m}] > s).all()",
    "{a}[{m}] = {b}[{m}] - np.mean({b}[{m}])", "{b}[{m}] = {a}[{m}].astype(np.float32)", "total += len({b}[~{m}])",
]  # fmt: skip
LINES = st.tuples(st.sampled_from(STATEMENTS), st.sampled_from("xy"), st.sampled_from("xy"), st.sampled_from("mw"))
DTYPES = st.sampled_from(["f8", "f4", "i8", "u1", "?"])
SIZES = st.tuples(st.sampled_from([(9,), (3, 4), (1,), (0,)]), st.sampled_from(["some", "none", "all"]))


@drawn(lines=st.lists(LINES, min_size=1, max_size=5), dtypes=st.tuples(DTYPES, DTYPES), size=SIZES)
@settings(max_examples=10, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@pytest.mark.filterwarnings("ignore:(Mean|invalid)")
def test_random_programs(lines, dtypes, size):
    body = [line.format(a=a, b=b, m=m) for line, a, b, m in lines]
    text = "\n    ".join(
        ["def f(x, y, m, w, s):", "total, k = 0.0, 1", "for _ in range(2):", *[f"    {one}" for one in body]]
    )
    text += "\n    return total, k\n"
    linecache.cache["<masks>"] = (len(text), None, text.splitlines(True), "<masks>")
    exec(compile(text, "<masks>", "exec"), names := {"np": np})
    x, y = (given(dtype, *size)[k] for k, dtype in enumerate(dtypes))
    arguments = x, y, given("?", *size)[2], x > y, np.asarray(0.5)
    try:
        said = what_differs(names["f"], "native", arguments, near=1e-4)
    except (TypeError, ValueError) as error:  # NumPy's, of both, or what has no machine code
        assert isinstance(error, native.NativeRefusal) or fails(names["f"], arguments, type(error)), text
    else:
        assert not said, f"{said} in\n{text}"


def fails(f, arguments, error):
    try:
        f(*[one.copy() for one in arguments])
    except error:
        return True
    return False


@each(
    [
        "y[y > 3] = np.full(2, x)", "y[y > 3] = np.full(3, x)", "y[y > 3] = np.full(1, x)", "y[y > 9] = np.zeros(0)",
        "y[y > 9] = np.full(3, x)", "m[m > 5] = np.zeros(3)", "m[m > 5] = np.ones(3) * x",
        "y[y > 3] = np.full((1, 3), x)", "y[y > 3] = np.full((1, 1), x)", "y[y > 3] = np.full((3, 1), x)",
        "m[m[:, 0] > 3] = np.full((1, 1), x)", "y.put([9], x)", "y.put([9, 9], x)",
        "y[:] = np.full(7, n) ** np.full(7, -n)", "y[:] = n ** -(y.astype(int) + n)",
        "y[:] = (y.astype(int) + n) ** np.full(7, -n)", "y[:] = n ** (y.astype(int) + n)",
    ]
)  # fmt: skip
def test_equal_values_are_as_many_as_they_are(line):
    """An array of equal numbers has no memory of its own in machine code: its extents count as those of another."""
    for before, indent in (("", ""), ("while n > 2: n -= 1", ""), ("for _ in range(n):", "    ")):
        lines = ["import numpy as np", "def f(y, m, x, n):", f"    {before}", f"    {indent}{line}", "    return y, m"]
        name = f"<equal values: {line} {before}>"
        linecache.cache[name] = (1, None, [f"{one}\n" for one in lines], name)
        space: dict[str, Any] = {}
        exec(compile("\n".join(lines), name, "exec"), space)
        wants = _outcome(space["f"])
        for executor in EXECUTORS:
            assert _outcome(al.function(space["f"], executor=executor)) == wants, executor


def _outcome(f):
    given = [np.arange(7.0), np.arange(12.0).reshape(3, 4), np.float64(1.5), np.int64(3)]
    try:
        return [(one.tolist(), str(one.dtype)) for one in f(*given)]
    except Exception as error:
        return type(error)
