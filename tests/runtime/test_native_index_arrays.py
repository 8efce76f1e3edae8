"""Machine code: several arrays in one index, beside numbers, slices, new axes and masks, as NumPy has them."""

from __future__ import annotations

import linecache

import autoloop as al
import numpy as np
import pytest
from each_case import each
from hypothesis import HealthCheck, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

pytest.importorskip("llvmlite")

READS = """
b[r, c]; b[k, c]; b[c[:2] % 3, k]; b[s, c]; a[r, :, c]; a[:, r, c]; a[r, c]; a[r, c, 1:4]; a[k, :, c]; a[:, k, c]
a[..., c]; a[:, m]; a[:, m, 1]; a[1, m]; b[:, m]; b[np.nonzero(b > 4)]; a[np.nonzero(a > 50)]; a[::-1, c, c]; a[r, k]
b[np.arange(3), np.argmax(b, axis=1)]; b[r, None, c]; b[np.ix_(r, c)]; a[None, r, c, ..., None]; a[k, r]; a[-1, c, ::2]
b[r[b[:, 0] > 3], c[b[:, 0] > 3]]; a[r, ..., c]; a[:, r, ..., c]; b[r[:0], c[:0]]; b[np.nonzero(b > 99)]; b[:, ~m | m]
"""
WRITES = """
b[k, r] = 9.; b[r, c] = 7.; b[r, c] += 1; b[r, c] = c * 1.0; a[:, m] = 0.5; a[1, m, 2] = 3; a[:, r, c] *= 2
b[np.nonzero(b > 5)] = -1; b[np.nonzero(b > 5)] += b[np.nonzero(b > 5)] * 2; a[r, :, c] = np.arange(4.)
b[[0, 0], [1, 1]] = [4., 5.]; np.add.at(b, (r, c), 1.5); np.add.at(a, (r, slice(None), c), 1.5); a[s, c, 1] = s
a[k, 1:3, c] = a[0, 1:3, c] + 1; b[b[:, 0] > 3] = 2; a[a[:, 0, 0] > 3] *= 2; b[r, c] = b[c % 3, r] * 1
"""


def given():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 60, (3, 4, 5)) * 1.0, np.arange(12.0).reshape(3, 4)
    m = np.array([1, 0, 1, 1], bool)
    return a, b, np.array([0, 2, -1]), np.array([3, 0, 1]), np.array([[0], [2]]), m, np.int64(1)


def compiled(body, name):
    text = "def f(a, b, r, c, s, m, k):\n" + "".join(f"    {line}\n" for line in body)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), names := {"np": np})
    return names["f"]


def same(f):
    ours, plain = given(), given()
    found, wants = al.function(f, executor="native")(*ours), f(*plain)
    for one, other in [*zip(found, wants, strict=True), *zip(ours, plain)]:
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_array_equal(one, other)


def test_reads():
    same(compiled([f"return {READS.strip().replace(chr(10), ';').replace(';', ',')},"], "<reads>"))


@each(["straight", "loop"])
def test_writes(where):
    lines = [line.strip() for line in WRITES.strip().replace("\n", ";").split(";")]
    loop = ["for _ in range(2):", *[f"    {line}" for line in lines[::5]]]
    same(compiled([*(lines if where == "straight" else loop), "return a * 1, b * 1"], f"<{where}>"))


@each([
    ("return b[r * 4, c]", "index 8 is out of bounds for axis 0 with size 3"),
    ("b[r, c + 2] = 1.0", "index 5 is out of bounds for axis 1 with size 4"),
    ("b[r[:2], c] = 1.0", "could not be broadcast"),
    ("a[:, m] = np.ones((3, 2, 5))", "could not broadcast|shape mismatch|cannot be assigned"),
    ("np.add.at(b, (r, c + 2), 1.0)", "index 5 is out of bounds"),
])  # fmt: skip
def test_what_fails_changes_nothing(line, words):
    arguments = given()
    with pytest.raises((IndexError, ValueError, NotImplementedError), match=words):
        al.function(compiled([line], f"<{line}>"), executor="native")(*arguments)
    for one, other in zip(arguments, given()):
        assert np.array_equal(one, other)


PARTS = st.sampled_from(["r", "c", "s", "k", ":", "1:", "::-1", "None", "-1", "r[r > 0]", "..."])


@drawn(parts=st.lists(PARTS, min_size=1, max_size=4), value=st.sampled_from(["", " = 2.5", " += 1.0"]))
@settings(max_examples=8, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
def test_any_index(parts, value):
    body = f"a[{', '.join(p if p != 'c' else 'c % 3' for p in parts)}]"
    f = compiled([f"{body}{value}", "return a * 1,"] if value else [f"return {body} * 1,"], f"<{body}{value}>")
    try:
        f(*given())
    except (IndexError, ValueError):
        return
    try:
        same(f)
    except NotImplementedError as refused:
        assert "depends on values" in str(refused)


#: what a mask selects beside another array, of which either may be one element, that is repeated
BESIDE_MASKS = """
x[b, m]; x[b, i]; x[b, j]; x[b, [[0], [1]]]; x[np.nonzero(b)[0], i]; x[np.nonzero(b)[0], np.nonzero(m)[0]]; x[b, b2]
x[x[:, 0] > 5, m]; x[np.array([True, False]), m]; x[np.array([True, False]), i]; x[[True, False], np.nonzero(m)[0]]
x[np.array([True, False]), np.array([True, False, True, False])]; x[i[:1], m]; x[0, m]; x[n, m]; x[b, n]
"""


@each([one.strip() for one in BESIDE_MASKS.replace("\n", ";").split(";") if one.strip()])
def test_what_a_mask_selects_beside_another_array(text):
    source = f"def f(x, b, b2, m, i, j, n):\n    y = {text}\n    {text} = y * 2\n    return y, x\n"
    name = f"<beside masks {text}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"np": np}
    exec(compile(source, name, "exec"), namespace)
    f = namespace["f"]
    for b in (np.array([False, True]), np.array([True, True])):
        others = b, np.array([True, False]), np.array([True, False, True, False]), np.array([0, 2]), np.array([1])
        wanted = _given(f, np.arange(8.0).reshape(2, 4), *others, np.int64(1))
        ours = _given(al.function(f, executor="native"), np.arange(8.0).reshape(2, 4), *others, np.int64(1))
        assert type(ours).__name__ == "NativeRefusal" or repr(ours) == repr(wanted)


def _given(f, *args):
    try:
        return f(*args)
    except Exception as error:
        return error if type(error).__name__ == "NativeRefusal" else type(error)
