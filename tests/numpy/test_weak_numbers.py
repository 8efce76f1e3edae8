"""Python numbers that a run makes, beside arrays of few bits: weak where NumPy's are, and where not, as wide as there;
what does not fit wraps where it wraps there, and raises what it raises there."""

from __future__ import annotations

import linecache
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import INTERPRETED
from left_to_python import refused_or_plain

#: of a vector ``x`` of each dtype, an int ``k`` and a float ``r`` that the run makes of ``n``
EVERYWHERE = """
np.searchsorted(x, k); np.searchsorted(x, r, "right"); x.searchsorted(-k); np.searchsorted(x, [r, k])
np.digitize(x, [r]); np.union1d(x, k)
np.union1d(-k, x); np.union1d(x, r); np.concatenate([x, k], axis=None); np.append(x, k); np.isin(x, k)
np.select([x > 0], [k], x); np.select([x > 0], [-k], x); np.select([x > 0], [x], k); np.where(x > 0, x, k)
np.choose([0, 1, 0], [x, k]); np.isclose(x, r); np.isclose(r, x); np.allclose(x, r); np.isclose(x, k); np.isclose(k, r)
np.isclose(x, k, atol=r); np.polyfit(x, [r, 1, 2], 1); x.flat.__setitem__(1, k) or x
x.flat.__setitem__(k // 300, k) or x
x.flat.__setitem__(1, r) or x; x.flat.__setitem__(1, -k * 0.5) or x; x.flat.__setitem__(1, r * 1j) or x
x.flat.__setitem__(1, n * 150) or x; x.flat.__setitem__(slice(0, 1), k) or x; x.__setitem__(1, k) or x
x.flat.__setitem__(1, np.asarray(2) * 150) or x; x.flat.__setitem__(1, [k]) or x; x.fill(k) or x
np.arange(0, k, 100, dtype=x.dtype); np.arange(k, dtype=x.dtype); np.arange(-k, 0, dtype=x.dtype)
np.arange(0, r * 9, 0.5, dtype=x.dtype); np.arange(0.5, r * 9, 0.7, dtype=x.dtype); np.arange(k, k + 1, dtype=x.dtype)
np.arange(k, k, dtype=x.dtype); np.arange(n, dtype=x.dtype); np.arange(3, -1, -n // 3, dtype=x.dtype)
np.result_type(x, k); np.result_type(r, x); np.result_type(k > 0, x, k); np.result_type(x.dtype, r)
np.common_type(x, k)
"""
#: of any dtype, or of the ``out`` that is given
ONCE = """
np.arange(1e6, 1e6 + k, 0.3); np.arange(0.1, k, 0.3); np.arange(k, dtype=bool); np.arange(r, dtype=bool)
np.arange(0, k, 0.25, dtype=complex); np.arange(r, k, r); np.arange(0, 1e10, k * 1e7, dtype=np.float16)
np.arange(0.5, k * 0.01, 0.7, dtype="f4"); np.arange(1, k, dtype="f4"); np.arange(k * 1e9, dtype="i4")[:0]
np.add(y, k, out=o); np.sqrt(y, out=o); np.add(y[:1], 1, out=o); np.add(y, y, out=o[:, :2]); np.divmod(y, k, out=(o, p))
np.matmul(m, m, out=c); np.matmul(m[:1], m, out=o[:, :3]); np.vecdot(y, y, out=p[0]); np.sum(m, axis=0, out=(y,))
np.dot(m, m.T, out=f); np.dot(m, m.T, out=g); np.linalg.multi_dot([m, m, m], out=f); np.dot(m, m.T, out=o)
m.dot(m, out=f); np.dot(m, y, out=f[0]); np.dot(m, y, out=f[:, 0]); np.dot(m, m, out=c[0]); np.dot(m, m, out=b)
np.result_type(k); np.result_type(k, r); np.can_cast(k, "i1"); np.can_cast(r, "f4"); np.common_type(r); np.dtype(k)
np.promote_types(k, "f4"); np.issubdtype(k, int); np.common_type(y, np.dtype("f4")); np.can_cast(y.dtype, "f4")
b.__iadd__(y[:2]); b.__imul__(m[:2]); b[0].__iadd__(k); np.dot(m, m.T, out=f.T); np.matmul(m, m, out=b)
"""


def _given():
    made = {
        "y": np.array([1.5, 2.25, 3.0]), "o": np.zeros((2, 3)), "p": np.zeros((2, 3)),
        "m": np.arange(9.0).reshape(3, 3), "f": np.zeros((3, 3), order="F"), "g": np.zeros((6, 3))[::2],
        "c": np.zeros((2, 3, 3)), "b": np.zeros((3, 3), "i1"),
    }  # fmt: skip
    return [np.int64(3), *made.values()]


def _function(text, names):
    source = f"def f(n, {names}):\n    k, r = int(n) * 150, float(n) * 0.1\n    return {text}\n"
    name = f"<weak numbers {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"np": np}
    exec(compile(source, name, "exec"), space)
    return space["f"]


def _outcome(f, given):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some run as plain Python
        try:
            made = f(*given)
        except Exception as error:
            return type(error), given
    return (type(made), getattr(made, "dtype", None), np.shape(made), repr(made)), given


def _check(text, names, given, executor):
    f = _function(text, names)
    plain, left = _outcome(f, given())
    ours, changed = _outcome(al.function(f, executor=executor), given())
    raised = isinstance(plain, type) and isinstance(ours, type)
    assert issubclass(ours, plain) or issubclass(plain, ours) if raised else ours == plain, f"{ours} is not {plain}"
    for one, other in zip(changed[1:], left[1:]):
        np.testing.assert_array_equal(one, other)


def _listed(text):
    return enumerate(one.strip() for one in text.replace("\n", ";").split(";") if one.strip())


@each(
    [(text, dtype, place) for place, text in _listed(EVERYWHERE) for dtype in ("u1", "i1", "f2", "f4", "u8")], one_in=3
)
def test_beside_each_dtype(text, dtype, place):
    _check(text, "x", lambda: [np.int64(3), np.array([0.1, 0.3, 7.1]).astype(dtype)], INTERPRETED[place % 3])


@each([(text, place) for place, text in _listed(ONCE)])
def test_once(text, place):
    _check(text, "y, o, p, m, f, g, c, b", _given, INTERPRETED[place % 3])


def test_a_number_is_no_dtype():
    def f(n):
        k = 0
        while k < n[0]:
            k = k + 1
        return np.dtype(k)

    with pytest.raises(TypeError, match="Cannot interpret '3' as a data type"):
        f(np.array([3]))
    refused_or_plain(f, "Cannot interpret .* as a data type", np.array([3]))


#: of a complex long double ``c`` and an int ``k`` of the run, 3
OF_LONG_INTS = (
    "c + (2**62 + 1)", "(2**62 + 1) - c", "c * (2**53 + 1)", "c / (2**62 + 1)", "c + (2**63 + 3)", "c + (k + 2**62)",
    "(k + 2**62) - c", "c + 10**400", "np.add(c, 2**62 + 1)", "c == 2**62 + 1",
)  # fmt: skip


def test_long_ints_beside_complex_long_doubles():
    for line in OF_LONG_INTS:
        text = f"def program(c, n):\n    k = int(n)\n    return {line}\n"
        linecache.cache[line] = (len(text), None, text.splitlines(True), line)
        space = {"np": np}
        exec(compile(text, line, "exec"), space)
        for c in (np.clongdouble(1.5), np.array(1.5, np.clongdouble), np.array([1.5, 2], np.clongdouble)):
            told = []
            for f in (space["program"], al.function(space["program"], executor="sequential")):
                try:
                    told.append((made := f(c, np.int64(3)), type(made)))
                except OverflowError as error:
                    told.append((str(error), type(error)))
            assert np.array_equal(told[0][0], told[1][0]) and told[0][1] is told[1][1], (line, told)
