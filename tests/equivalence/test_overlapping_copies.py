"""Parts of an array assigned to parts that overlap with them: NumPy copies some of them over what it still has to read,
and decorated functions do so, too, or are left to plain Python."""

from __future__ import annotations

import textwrap
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import needs_native
from hypothesis import HealthCheck, settings
from hypothesis import given as drawn
from hypothesis import strategies as st
from test_random_arrays import compiled_world

#: how {s} is written to {d}: parts, in most of these, with one axis
WAYS = (
    "{d}[...] = {s}", "{d}[:] = {s}", "np.copyto({d}, {s})", "np.copyto({d}, {s}, where={s} > 3)",
    "d = {d}\nd[:] = {s}",    "s = {s}\n{d}[:] = s", "{d}[:] = {s} - 0", "{d}[:] = {s}.copy()",
    "{d}[:] = {s} * k", "{d}.flat[:] = {s}",
    "{d}[np.ones({d}.shape, bool)] = {s}.ravel()", "{d}[{s} > 3] = {s}[{s} > 3]", "np.place({d}, {d} > -1, {s})",
    "np.putmask({d}, {s} > 2, {s})", "np.putmask({d}, {s} > 2, [5, 3, 4])", "np.put({d}, np.arange({d}.size), {s})",
    "{d}.flat = {s}",
    "np.concatenate([{s}[:1], {s}[1:]], out={d})", "np.stack([*{s}], out={d})", "np.negative({s}, out={d})",
    "d = {d}\nd += {s}", "np.cumsum({s}, out={d})", "{d}[:] = {s}[::-1][::-1]", "{d}[:] = {s}[None]",
    "for i in range(k):\n    {d}[:] = {s}", "if k > 0:\n    {d}[:] = {s}",
    "s = {s} if k > 0 else {d}.copy()\n{d}[:] = s",    "v[k:] = v[:-k]", "v[:-k] = v[k:]",
    "v[:: k + 1] = v[: (len(v) + 1) // 2]", "v[: (len(v) + 1) // 2] = v[:: k + 1]",
    "{d}.real[:] = {s}.real", "{d}.real = {s}.imag",
    "np.fill_diagonal(np.broadcast_to(v, v.shape).reshape(1, -1), {s})",
)  # fmt: skip
#: what an array {v} is, which the parts are of
ARRAYS = ("v", "v[::-1]", "v[1:]", "v[::2]", "v.reshape(-1)", "v.reshape(-1)[:]")
DTYPES = ("f8", "f4", "i8", "u1", "?", "c16")


@st.composite
def programs(draw):
    """Draw a function that assigns a part of an array to another part of it, and the array."""
    count = draw(st.integers(2, 9))
    if draw(st.integers(0, 4)):
        v = draw(st.sampled_from(ARRAYS))
        given_ = np.arange(count)
        parts = [
            slice(start, stop, step)
            for start in (None, *range(-count, count))
            for stop in (None, *range(-count, count))
            for step in (None, 2, 3, -1, -2)
        ]
        length = len(eval(v, {"v": given_}))
        to = draw(st.sampled_from([one for one in parts if len(range(length)[one])]))
        fitting = [one for one in parts if len(range(length)[one]) == len(range(length)[to])]
        source = draw(st.sampled_from(fitting))
        d, s = [f"{v}[{_text(one)}]" for one in (to, source)]
    else:  # rows, columns and diagonals of a square
        given_ = np.arange(count * count).reshape(count, count)
        lines = ("{0}[0]", "{0}[:, 1]", "{0}.T[1]", "{0}[1, ::-1]", "{0}.diagonal()", "{0}.ravel()[1::{n}][:{n}]",
                 "{0}", "{0}.T", "{0}[::-1]", "{0}[:, ::-1]", "{0}.reshape(-1)[:{n}]", "{0}[0][:]")  # fmt: skip
        d = draw(st.sampled_from([one for one in lines if "diagonal" not in one])).format("v", n=count)
        s = draw(st.sampled_from(lines)).format("v", n=count)
    dtype = draw(st.sampled_from(DTYPES))
    array = (given_ + 1).astype(dtype) * (1 + 1j if dtype == "c16" else 1)
    layout = draw(st.sampled_from(("apart", "apart", "reversed", "fortran", "part")))
    body = draw(st.sampled_from(WAYS)).format(d=d, s=s).replace("\n", "\n    ")
    return f"def f(v, k):\n    {body}\n", array.astype(dtype), layout


def _text(part):
    start, stop, step = ["" if one is None else one for one in (part.start, part.stop, part.step)]
    return f"{start}:{stop}:{step}"


def _lying(array, layout):
    if layout == "reversed":
        return array[::-1].copy()[::-1]
    if layout == "fortran":
        return np.asfortranarray(array).copy("K")
    return np.concatenate([array, array])[len(array) :] if layout == "part" else array.copy()


def outcome(f, array, layout, k):
    """Return what an array holds after a call, and the exception's type."""
    given_ = _lying(array, layout)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            f(given_, k)
        except Exception as error:
            return given_, error
    return given_, None


def check(program, executors):
    """Check a program of ``programs`` against plain Python."""
    text, array, layout = program
    f = compiled_world(text, "overlapping")["f"]
    expected, error = outcome(f, array, layout, np.int64(1))
    for executor in executors:
        found, refusal = outcome(al.function(f, executor=executor), array, layout, np.int64(1))
        if refusal is not None and error is None:
            assert isinstance(refusal, (TypeError, NotImplementedError)) and executor == "native", (text, refusal)
            assert np.array_equal(found, _lying(array, layout)), text
            continue
        assert (error is None) == (refusal is None), (text, error, refusal)
        assert np.array_equal(found, expected), (text, layout, executor, found, expected)


@settings(max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@drawn(programs())
def test_assigned_parts_that_overlap(program):
    check(program, ("sequential", "dataflow"))


@needs_native
@pytest.mark.nightly
@settings(max_examples=200, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@drawn(programs())
def test_assigned_parts_that_overlap_in_machine_code(program):
    check(program, ("auto", "native"))


#: what NumPy copies as if it had read all before, so that it is computed; and what it does not
IN_TIME = (
    "v[1:] = v[:-1]", "v[:-1] = v[1:]", "v[::-1] = v", "w = v[v > 1]\nw[:] = w[::-1]\nw[1:] = w[:-1]\nv[: k] = w[: k]",
    "v[:3] = v[::2]", "v[::2] = v[1::2]", "v[1::2] = v[:3]",
    "v[::2] = v[:3].copy()",
    "v[::2] = v[:3] - 0", "v[4:] = v[:2]", "w = v[1:]\nw[:] = v[:-1]", "v[k:] = v[:-k]", "v[:k] = v[k : 2 * k]",
    "m[0] = m[1]", "m[:, 1:] = m[:, :-1]", "m[0, 1:] = m[0, :-1]", "m.T[1:] = m.T[:-1]", "v[[0, 2, 4]] = v[:3]",
    "s[:, k] = s[k]", "s[k, k + 1 :] = s[k + 1 :, k]", "for i in range(k): s[:, i] = s[i]", "s[:, 0] = s[0]",
)  # fmt: skip
OVER = (
    "v[::2] = v[:3]", "v[v > -1] = v[::-1]", "v.flat[1:] = v[:-1]", "v.flat = v[:3]",
    "np.place(v, v > 0, v[::-1])", "np.concatenate([v[1:3], v[:2]], out=v[:4])",
    "np.concatenate([v[5:], v[1:2]], out=v[1:3])",
    "np.copyto(v[::2], v[:3], where=v[:3] > 0)", "t = v[:3] if k > 0 else v[3:]\nv[::2] = t",
    "v[:: k + 1] = v[:3]", "for i in range(k):\n    v[::2] = v[:3]",
    "s[:, 2] = s[k]", "s[:, k + 1] = s[k]", "m.T.flat[:] = m", "np.fill_diagonal(m, m[0, ::-1])",
    "v.real[::2] = v.real[:3]",
)  # fmt: skip


def _written(body, executor):
    text = "def f(v, m, s, k):\n" + textwrap.indent(body, "    ") + "\n"
    f = compiled_world(text, body)["f"]
    line, pair, square = np.arange(6.0) + 0.5, np.arange(6.0).reshape(2, 3), np.arange(9.0).reshape(3, 3)
    ours, plain = [(line.copy(), pair.copy(), square.copy(), np.int64(1)) for _ in range(2)]
    f(*plain)
    al.function(f, executor=executor)(*ours)
    return ours, plain


@each([(body, executor) for body in IN_TIME for executor in ("sequential", "dataflow")])
def test_copies_in_time_are_computed(body, executor):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours, plain = _written(body, executor)
    assert all(map(np.array_equal, ours, plain))


@each(OVER)
def test_copies_over_what_is_to_be_read_are_left_to_plain_python(body):
    with pytest.warns(UserWarning, match="assigned to one that overlaps with it"):
        ours, plain = _written(body, "auto")
    assert all(map(np.array_equal, ours, plain))


def test_a_read_only_array_is_left_to_plain_python():
    """Which raises at the line, after what comes before it, and writes where NumPy's functions do not ask."""

    def put(a, b):
        a[0] = 7
        b[0] = 2

    def subtract(a, b):
        np.subtract.at(b, np.array([1, 1]), b[1])

    for f in (put, subtract):
        found = []
        for g in (f, al.function(f)):
            a, b = np.arange(3.0), np.arange(3.0)
            b.flags.writeable = False
            try:
                g(a, b)
                found.append((a.tolist(), b.tolist(), None))
            except ValueError as error:
                found.append((a.tolist(), b.tolist(), str(error)))
        assert found[0] == found[1]
