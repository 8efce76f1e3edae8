"""Random programs over arrays of all dtypes: decorated they give what they give undecorated, or are refused.

By day some hundred programs, each by one executor, at night thousands, each by all. A failure shows the shortest
program that Hypothesis found. What they have found stands below, as text.
"""

from __future__ import annotations

import random
import traceback
from typing import Any

import autoloop as al
import numpy as np
import pytest
from api import nodes_inside
from each_case import each
from executors import EXECUTORS, needs_native
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_expressions import Argument, Program, compiled, quiet, random_program

#: how near results are: programs amplify the 4 ulp of an operation
NEAR = {"e": 5e-3, "f": 1e-5, "d": 1e-12, "F": 1e-5, "D": 1e-12}
#: what a refusal is; all others come from the program, and plain Python raises them, too
REFUSED = (TypeError, ValueError, NotImplementedError)


def outcome(f: Any, program: Program) -> tuple[Any, list[Any]]:
    """Return what a function gives or raises, and what became of its arguments."""
    given = [one.make() for one in program.arguments]
    try:
        return quiet(lambda: f(*given)), given
    except Exception as error:
        return error, given


def is_refusal(error: BaseException) -> bool:
    """Return whether an exception says with words, at a line of the program, that it is not taken."""
    at = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    refused = isinstance(error, REFUSED) or "may be a float in other runs, and no float" in str(error)
    return refused and len(str(error)) > 10 and any("random expression" in name for name in at)


def kind(value: Any) -> str:
    """Return the kind of a value; 0-d arrays and NumPy's scalars have tests of their own."""
    scalar = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim)
    return "scalar" if scalar else type(value).__name__


def least_near(decorated: Any, program: Program) -> float:
    """Return how near results are of a program in which numbers have fewer bits than its results may have."""
    arguments = [one.make() for one in program.arguments]
    graph = quiet(lambda: decorated.get_concrete_function(*arguments)).graph
    dtypes = {tensor.dtype.char for node in nodes_inside(graph) for tensor in node.outputs}
    return max([NEAR[one] for one in dtypes if one in NEAR], default=0)


def difference(plain: Any, ours: Any, least: float = 0) -> str:
    """Return how two results differ, nothing if they do not."""
    if isinstance(plain, int | float | complex) and kind(ours) == "scalar" and ours == plain:
        return ""  # of a number that has an array beside it in the other branch: it comes back as a scalar
    if kind(plain) != kind(ours):
        return f"gives {ours!r} ({kind(ours)}), not {plain!r} ({kind(plain)})"
    a, b = np.asarray(plain), np.asarray(ours)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return f"gives {b.dtype}{b.shape}, not {a.dtype}{a.shape}"
    near = max(NEAR.get(a.dtype.char, 0), least if a.dtype.kind in "fc" else 0)
    if not near:
        return "" if np.array_equal(a, b) else f"gives {b.tolist()}, not {a.tolist()}"
    with np.errstate(all="ignore"):
        scale = np.max(np.abs(a[np.isfinite(a)]), initial=1.0)
        same = np.allclose(a, b, rtol=near, atol=near * scale, equal_nan=True)
        zeros = (a == 0) & (b == 0)
        same &= np.array_equal(np.signbit(a.real)[zeros], np.signbit(b.real)[zeros])
    return "" if same else f"gives {b.tolist()}, not {a.tolist()}"


def fault(program: Program, executor: str) -> str:
    """Return what is wrong with a program as an executor runs it, twice."""
    plain, left = outcome(program.function, program)
    decorated = al.function(program.function, executor=executor)
    for _ in range(2):
        ours, changed = outcome(decorated, program)
        if isinstance(ours, Exception):
            if isinstance(plain, Exception) and (isinstance(plain, type(ours)) or isinstance(ours, type(plain))):
                continue
            if not is_refusal(ours):
                return f"raises {type(ours).__name__}: {ours}, not {plain!r}"
            if found := next(filter(None, map(difference, [one.make() for one in program.arguments], changed)), ""):
                return f"is refused, and an argument {found}"
            continue
        if isinstance(plain, Exception):
            return f"gives {ours!r}, not {plain!r}"
        if found := difference(plain, ours) or next(filter(None, map(difference, left, changed)), ""):
            if executor != "native":  # whose kernels are NumPy's
                return found
            near = least_near(decorated, program)  # which has functions of its own, of few bits too
            pairs = [(plain, ours), *zip(left, changed)]
            if found := next(filter(None, (difference(*pair, near) for pair in pairs)), ""):
                return found
    return ""


def shortened(program: Program, executor: str) -> Program:
    """Return a program without the lines, and the blocks under them, that a fault does not need."""
    lines, at = program.text.splitlines(), 1
    while at < len(lines):
        if lines[at].endswith("+= 1"):  # without it a loop may have no end
            at += 1
            continue
        depth = len(lines[at]) - len(lines[at].lstrip())
        end = at + 1
        while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > depth:
            end += 1
        text = "\n".join([*lines[:at], *lines[end:]]) + "\n"
        try:
            shorter = Program(compiled(text), text, program.arguments)
            still = fault(shorter, executor)
        except SyntaxError:
            still = ""
        if still:
            program, lines = shorter, text.splitlines()
        else:
            at += 1
    return program


def check(program: Program, *executors: str) -> None:
    for executor in executors:
        if fault(program, executor):
            short = shortened(program, executor)
            pytest.fail(f"{executor}: {fault(short, executor)}\n{short!r}", pytrace=False)
    assert executors


@each(range(20000, 20120, 30), one_in=2)
def test_random_programs(first):
    for seed in range(first, first + 30):
        check(random_program(random.Random(seed).choice), ("sequential", "auto", "dataflow")[seed % 3])


@pytest.mark.nightly
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_many_random_programs(data):
    check(random_program(lambda options: data.draw(st.sampled_from(options))), *EXECUTORS)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, 10000, 250))
def test_programs_of_seeds(first):
    for seed in range(first, first + 250):
        check(random_program(random.Random(seed).choice), *EXECUTORS)


def test_programs_are_various():
    """Most have a value, each kind of statement is there, and no more than one of eight is refused."""
    programs = [random_program(random.Random(seed).choice) for seed in range(80)]
    plain = [outcome(one.function, one)[0] for one in programs]
    assert 0.02 < sum(isinstance(one, Exception) for one in plain) / len(plain) < 0.3
    for words in ("if ", "else:", "for ", "while ", "return ", "s += ", "np.", "axis=", "dtype=", "complex", "float16"):
        assert any(words in repr(one) for one in programs), words
    refused = [isinstance(outcome(al.function(one.function, executor="sequential"), one)[0], REFUSED)
               for one, value in zip(programs, plain) if not isinstance(value, Exception)]  # fmt: skip
    assert sum(refused) / len(refused) < 1 / 8


# -- what such programs have found: each expression of x, b, n and s ----------------------------------------------

ARGUMENTS = ("np.array([1.25, -2.0, 3.5, 100.0])", "np.array([100, 100, 100, -3], 'int8')", "np.int64(3)",
             "np.float64(2.5)")  # fmt: skip
AS_PLAIN = [
    "np.isclose(-1, np.uint8(n))", "np.isclose(np.uint8(n), -1)", "np.allclose(-1, b)",
    "np.sum(s, axis=0)", "s.sum(-1)", "np.max(s, axis=-1, keepdims=True)", "s.any(axis=0)", "np.argmax(s, axis=0)",
    "np.cumsum(s, axis=0)", "np.cumprod(n, axis=-1)", "np.argsort(s, axis=0)", "np.ptp(s, axis=0)", "np.add.reduce(s)",
    "np.take(s, [0, -1], axis=0)", "np.cumulative_sum(s)", "np.logaddexp.reduce(s)", "np.sum(s, axis=1)",
    "np.add.accumulate(s)", "np.mean(s, axis=0)", "np.sort(s, axis=0)", "np.mean(b, dtype=np.uint8)",
    "np.mean(x, dtype=np.int8)", "np.mean(x, axis=0, dtype=np.int16)", "np.mean(b, dtype=bool)",
    "np.var(x, dtype=np.complex64)", "np.std(x, dtype=np.complex128)", "np.full_like(b, 1e30)", "np.full_like(b, 2.7)",
    "np.full_like(b, 300)", "round(x)", "round(s)", "float(x[:1])", "np.True_[s > 0]", "np.float64(2)[s > 9]",
    "max(n * 2, np.sin(s))", "np.choose(300 > 0, [300, b])", "np.choose(b > 0, [300, b])", "np.choose(b > 0, [0.5, b])",
    "np.select([np.isfinite(n)], [n], x)", "np.select([n > 9, s > 9], [n, s], x)", "np.choose(n > 5, [300, x, b])",
    "np.select([b > 100, b < 0], [b, b], 300)", "b[:1] * [1]", "b + (1, 2, 3, 4)", "b * b.strides", "[1, 2] - b[:2]",
    "np.outer(int(n), b)", "np.dot(b, int(n))", "np.inner(float(s), np.float32(x))", "sum(x[x > 999], 2.5)",
    "np.percentile(np.float32(x), int(n) * 10)",
    "np.quantile(np.float32(x), float(s) / 9)", "np.put(b, 0, 300)",
    "np.put(b, [0], [300])", "np.put(b, 0, 2.7) or b", "np.putmask(b, b > 0, -129)",
    "np.place(b, b > 0, [300])", "np.copyto(b, 300)", "np.copyto(b, int(n) * 150)", "np.copyto(b, int(n)) or b",
    "np.fill_diagonal(b.reshape(2, 2), 300)", "np.linspace(b[0], 300, 3)", "np.linspace(np.float32(1), 300, 3)",
    "np.kron(int(n), b)", "np.multiply.outer(b, int(n))", "np.union1d(b, 2)", "np.einsum('i,->i', b, 2)",
    "np.histogram(np.float32(x), 3, range=(0, int(n)))[1]",
    "np.histogram(x.astype('f4'), 3, (np.float32(0), float(s)))[1]",
    "np.histogram_bin_edges(x.astype('f4'), 3, [float(s) - 2, n])", "np.tensordot(x.astype('f4'), int(n), 0)",
    "np.array([1, int(n) * 100], 'u1')", "np.array([1, np.float64(300)], 'u1')", "np.place(b, b > 0, [int(n) * 99])",
    "np.where(b > 0, b, int(n) * 100)", "np.pad(b, 1, constant_values=300)",
    "np.pad(b, 1, constant_values=(n * 99, 1))", "np.pad(b.astype('u1'), 1, constant_values=(n * 99, 300))",
    "np.unwrap(b.astype('u1'), period=int(n))", "np.full(2, [1, int(n) * 99], 'u1')", "np.asarray([n * 99, s], 'u1')",
    "np.less_equal(b, 300, dtype=np.bool)", "np.greater(-129, b, casting='safe')", "x[b[:0] > 0]",
    "x.reshape(2, 2)[np.zeros((2, 0), bool)]", "x.reshape(2, 2)[x.reshape(1, 4)[:, :0] > 0]",
    "np.put(b, 0, 5) or b.__setitem__(0, '7') or b", "b.__setitem__(0, 'a')", "b.flat.__setitem__(1, 300)",
    "np.take(x, [])", "np.take(x[:0].reshape(0, 4), [], axis=1)", "np.take(x[:0].reshape(0, 4), [0, 9], axis=1)",
    "np.take(x[:0].reshape(0, 0), [0, -1], axis=1)", "np.take(x[:0].reshape(4, 0), [9], axis=0)",
    "np.var(np.float16(x))", "np.std(np.float16(x), ddof=1)", "np.var(x + 1e9, dtype='f4')", "np.std(b, dtype='f4')",
    "np.select([b > 0], [2], b.astype('u1'))", "np.select([b > 0], [2], b)", "sum(b[:0])", "sum(x[:0], 2.5)",
    "np.cumulative_sum(x[:0], include_initial=True)", "np.cumulative_sum(b[:0], dtype=np.int16, include_initial=True)",
    "np.cumulative_prod(x[:0].reshape(2, 0), axis=1, include_initial=True)", "np.size(x[x > 2], 0) * b",
    "np.cumulative_prod(x[:0].reshape(2, 0), axis=0, include_initial=True)", "np.size(np.unique(b), 0) - b",
    "np.size(x[x > 2].reshape(-1, 1), (0, 1)) * b", "np.setxor1d(x[:0], b[:0])", "np.setxor1d(b, b[:0])",
    "np.linalg.norm(x[:0], np.inf)", "np.linalg.norm(x[:0].reshape(2, 0), 1)", "np.linalg.norm(x[:0], -np.inf)",
    "np.linalg.norm(x[:0].reshape(0, 2), np.inf, keepdims=True)", "np.linalg.norm(x[:0].reshape(2, 0), 2)",
    "np.linalg.norm(x[:0].reshape(2, 0), np.inf, axis=1)", "np.linalg.cond(x[:0].reshape(0, 0), 1)", "any(s)",
    "np.linalg.vector_norm(x[:0].reshape(1, 0, 3), ord=np.inf, axis=(0, 1))", "all(x[0] * 2)", "1 in x[0]", "1 in s",
    "any(float(s))", "all(n > 2)", "1 in float(s)", "any(np.asarray(s))", "2.5 in np.asarray(s)", "3.5 in x",
    "np.trim_zeros(np.expand_dims(s, 0))",
    "b[:2] // [0.5, 2]", "np.float32(s) * [1.5, 2]", "[True, False] * b[:2]", "x[:2] < [1, 2.5]",
]  # fmt: skip
ARE_REFUSED = {
    "np.var(x, dtype=np.int64)": "does not take the argument 'dtype'", "np.std(b, dtype=bool)": "the argument 'dtype'",
    "max(b[:1], np.sin(x[:1]))": "an array of shape (1,) and dtype int8 and an array of shape (1,) and dtype float64",
    "min(1, x[:1])": "which of a Python int and an array of shape (1,) and dtype float64 is taken only the run tells",
}  # fmt: skip


def found(expression: str) -> Program:
    text = f"def program(x, b, n, s):\n    return {expression}\n"
    return Program(compiled(text), text, tuple(map(Argument, ARGUMENTS)))


@each(AS_PLAIN, one_in=2)
def test_what_was_found_is_as_plain(expression):
    program = found(expression)
    (plain, _), (ours, _) = (outcome(f, program) for f in (program.function, al.function(program.function)))
    if isinstance(plain, Exception):
        assert isinstance(ours, Exception) and isinstance(plain, type(ours)), ours
    else:
        assert not difference(plain, ours)


@each(ARE_REFUSED)
def test_what_was_found_is_refused(expression):
    program = found(expression)
    assert not isinstance(outcome(program.function, program)[0], Exception)
    ours, _ = outcome(al.function(program.function, executor="native"), program)
    assert isinstance(ours, Exception) and is_refusal(ours) and ARE_REFUSED[expression] in str(ours)


#: statements that have been found, what they were found with, and what becomes of them, or None where that depends on
#: the version of NumPy
STATEMENTS = {
    "an int that does not fit, in a branch": (
        "    if np.isnan(a.mean()):\n        n **= -1\n    return n * 1\n",
        ("np.array([0.5, -1.25])", "np.uint8(2)"), "value",
    ),
    "the test of a branch raises, and both sides give the same": (
        "    if not n.max() > 1:\n        return a.astype(np.complex128)\n    return a\n",
        ("np.array([1j])", "np.zeros((2, 0), 'float16')"), "raises",
    ),
    "a method that only one of two types has": (
        "    u = 0.5\n    if np.any(a):\n        for k in range(n):\n            u = np.sqrt(a[0] + u)\n"
        "    return u.std(axis=())\n",
        ("np.array([1.0, 2.0])", "2"), "value",
    ),
    "a method that the type it is does not have": (
        "    u = 0.5\n    if np.any(a):\n        u = np.sqrt(a[0] + n)\n    return u.ravel()\n",
        ("np.zeros(2)", "2"), "raises",
    ),
    "an attribute that only one of two types has": (
        "    u = 1\n    if np.any(a):\n        u = np.sqrt(a[0] + n)\n    return u.size\n",
        ("np.ones(2)", "2"), "value",
    ),
    "an attribute that the type it is does not have": (
        "    u = 1\n    if np.any(a):\n        u = np.sqrt(a[0] + n)\n    return u.size\n",
        ("np.zeros(2)", "2"), "raises",
    ),
    "an int that np.where wraps": ("    return np.where(a > 1, np.uint8(n), 300)\n", ("np.ones(2)", "2"), None),
    "an element of a number": (
        "    j = 0\n    while j < n:\n        j += 1\n    return j[:, 0]\n", ("np.ones(2)", "np.array(3)"), "raises",
    ),
    "no integers to a negative power": (
        "    for k in range(1, n):\n        a = a ** -k\n    return a\n", ("np.array([], int)", "np.array(3)"), "value",
    ),
    "no elements of half precision": (
        "    return np.mean(a, axis=0) + np.mean(a) + np.average(a.T)\n", ("np.zeros((0, 2), 'float16')", "2"), "value",
    ),
    "the test of a loop that nobody needs": (
        "    b, j = 1.5, 0\n    while j < 2 and (a.max() > 9 or b != 0):\n        j += 1\n"
        "        b = a // np.absolute(b)\n    return n\n",
        ("np.array([2.0, 0.0, -3.5])", "2"), "raises",
    ),
    "a part of an array is a number that does not fit": (
        "    a.flat = int(n)\n    return a\n", ("np.zeros(2, 'u1')", "np.array(300)"), "raises",
    ),
    "a part of an array is a list with a number that does not fit": (
        "    a.flat = [n, -1]\n    return a\n", ("np.zeros(2, 'u1')", "np.array(3)"), "raises",
    ),
    "a part of an array is a number that wraps": (
        "    a.real = int(n)\n    return a\n", ("np.zeros(2, 'u1')", "np.array(300)"), None,
    ),
    "a part of an array is a scalar that wraps": (
        "    a.flat = n\n    return a\n", ("np.zeros(2, 'u1')", "np.array(300)"), "value",
    ),
    "an array takes a list with a number that does not fit": (
        "    a[:] = [1, int(n)]\n    return a\n", ("np.zeros(2, 'u1')", "np.array(300)"), "raises",
    ),
    "an array takes a list with a scalar that wraps": (
        "    a[:] = [1, n]\n    return a\n", ("np.zeros(2, 'u1')", "np.array(300)"), "value",
    ),
    "an element of signed integers is a scalar that does not fit": (
        "    a[0] = n\n    return a\n", ("np.zeros(2, 'i1')", "np.int64(300)"), "raises",
    ),
    "signed integers take a list with a scalar that does not fit": (
        "    a[:] = [n, 1]\n    return a\n", ("np.zeros(2, 'i1')", "np.float64(300)"), "raises",
    ),
    "signed integers take a scalar that fits": (
        "    a[0] = n\n    a[1:] = [n]\n    return a\n", ("np.zeros(2, 'i1')", "np.int64(-3)"), "value",
    ),
    "elements of signed integers by their places are a scalar that wraps": (
        "    a[[0, 1]] = n\n    return a\n", ("np.zeros(2, 'i1')", "np.float64(300)"), "value",
    ),
    "signed integers are copied of a scalar that wraps": (
        "    np.copyto(a, n, casting='unsafe')\n    return a\n", ("np.zeros(2, 'i1')", "np.float64(300)"), "value",
    ),
    "a value without axes is repeated along an axis that it cannot have": (
        "    for k in range(n):\n        s = np.repeat(a, 2, axis=1)\n    return k\n", ("np.array(1)", "2"), "raises",
    ),
    "a value without axes is repeated along the first axis": (
        "    return a.repeat(n, axis=0)\n", ("np.array(1)", "3"), "value",
    ),
    "elements are repeated fewer than no times": (
        "    return np.repeat(a * n, [-1, 2, 1])\n", ("np.ones(3)", "np.array(2)"), "raises",
    ),
    "equal elements are repeated as often as others": (
        "    return np.repeat(np.full(1, n), [1, 2])\n", ("np.ones(3)", "np.array(2)"), "raises",
    ),
    "elements are repeated by a list of lists": (
        "    return np.repeat(a * n, [[1, 2, 3]])\n", ("np.ones(3)", "np.array(2)"), "raises",
    ),
    "what has no axes and loses its zeros": ("    return np.trim_zeros(a)\n", ("np.array(0.0)", "2"), "value"),
    "elements of nothing are put": ("    np.put(a, [0], [])\n    return a\n", ("np.zeros(0)", "2"), "raises"),
    "no elements of nothing are put": ("    np.put(a, [], n)\n    return a\n", ("np.zeros(0)", "2"), "value"),
    "an array is changed in place by one of more axes": (
        "    a *= np.argwhere(a[:1] > 0) + n\n    return a\n", ("np.ones(3)", "2"), "raises",
    ),
    "elements by their places are changed by an array of more axes": (
        "    for k in range(n):\n        a[[0, k]] += np.argwhere(a[:1] > 0)\n    return a\n",
        ("np.ones(3)", "np.int64(2)"), "raises",
    ),
    "what a mask selects is changed by an array of more axes": (
        "    a[a > 0] *= np.full((1, 1), n)\n    return a\n", ("np.ones(3)", "2"), "raises",
    ),
    "the first elements are changed by an array of more axes": (
        "    a[:n] += np.ones((1, n))\n    return a\n", ("np.ones(3)", "np.int64(2)"), "raises",
    ),
    "an array of more axes is given for out": (
        "    np.multiply(a[:2], np.argwhere(a[:1] > 0), out=a[:2])\n    return a\n", ("np.ones(3)", "2"), "raises",
    ),
    "a name that is not set is read before what it meets": (
        "    if n > 9:\n        s = 1\n    s &= a.ravel()[0]\n    return s\n",
        ("np.zeros(0, int)", "np.array(3)"), "raises",
    ),
    "a name that a loop gives numbers of two types": (
        "    for k in range(n):\n        if a.real.sum() > 2:\n            s = n * 1\n        else:\n"
        "            s /= a.mean()\n    return s\n",
        ("np.array([3j, 2.5])", "np.int64(3)"), "value",
    ),
    "a name that a loop gives a number of Python's, and an array's": (
        "    for k in range(n):\n        if a.sum() > 2:\n            s = 1\n        else:\n"
        "            s = s * a.mean()\n    return s\n",
        ("np.array([3.0, 2.5])", "np.int64(3)"), "value",
    ),
    "a name that a loop gives an int and a float": (
        "    for k in range(n):\n        if a[k] > 2:\n            s = 1\n        else:\n"
        "            s = s * 0.5\n    return s\n",
        ("np.array([3.0, 1.0, 2.5])", "np.int64(3)"), "value",
    ),
    "a name that a loop gives numbers of two types, and first none": (
        "    for k in range(n):\n        if a.sum() > 2:\n            s = n * 1\n        else:\n"
        "            s /= a.mean()\n    return s\n",
        ("np.array([0.5])", "np.int64(3)"), "raises",
    ),
    "an array of which only the run knows how many axes it has is made a number": (
        "    k, b = 0, n\n    while k < 2:\n        k += 1\n        t = int(b)\n        b = a > k\n    return a\n",
        ("np.array([3])", "np.uint16(0)"), "raises",
    ),
    "an array of which only the run knows that it has no axes is asked for its length": (
        "    i = 0\n    while i < n:\n        i += 1\n        a = np.ravel(a)\n    return len(a)\n",
        ("np.array(5)", "np.int64(0)"), "raises",
    ),
    "what raises first, though the other is known before the run": (
        "    if a.max() < a.ravel()[0]:\n        return n\n    return a\n", ("np.array([])", "2"), "raises",
    ),
}  # fmt: skip


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("case", STATEMENTS)
def test_statements_that_were_found_are_as_plain(case, executor):
    text, arguments, becomes = STATEMENTS[case]
    text = f"def program(a, n):\n{text}"
    program = Program(compiled(text), text, tuple(map(Argument, arguments)))
    raises = isinstance(outcome(program.function, program)[0], Exception)
    assert becomes in (None, "raises" if raises else "value")
    ours, _ = outcome(al.function(program.function, executor=executor), program)
    assert not fault(program, executor) and isinstance(ours, Exception) == raises, ours


@needs_native
def test_machine_code_refuses_to_sort_what_has_no_axes():
    def program(a, n):
        for _ in range(n):
            a = np.argsort(a, kind="stable")
        return a

    with pytest.raises(Exception, match="a value without axes is sorted, of which NumPy makes an array of one axis"):
        al.function(program, executor="native")(np.array(5), np.int64(2))
    assert al.function(program)(np.array(5), np.int64(2)).tolist() == [0]


def test_what_has_no_axes_has_no_length():
    def program(a, n):
        for _ in range(n):
            a = np.ravel(a)
        return len(a)

    with pytest.raises(TypeError, match=r"len\(\) of unsized object"):
        al.function(program)(np.array(5), np.int64(0))
    assert al.function(program)(np.array(5), np.int64(1)) == 1


@needs_native
def test_machine_code_rolls_a_value_without_axes():
    assert al.function(lambda s: np.roll(s, 1) + 1, executor="native")(np.float64(2.5)) == 3.5
