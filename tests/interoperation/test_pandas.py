"""pandas: a decorated function where pandas takes one, and its tables and columns where we take arrays."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore:.* runs as plain Python:UserWarning")]


def table():
    return pd.DataFrame({"a": np.arange(6.0), "b": np.arange(6.0) ** 2, "k": list("xyxyxy"), "i": np.arange(6)})


def decayed(v):
    total = 0.0
    for i in range(len(v)):
        total = total * 0.5 + v[i]
    return total


def doubled(x):
    return x * 2 + 1 if x > 2 else x


def root(x):
    return np.sqrt(x) + 1


def spread(v):
    return v.max() - v.min()


def looped(x):
    i = 0
    while i < 3:
        x = x + 1
        i += 1
    return x


def written(x):
    x[0] = 5.0
    return x


def with_column(t):
    t["c"] = t["a"] * 2
    return t


def built(x):
    return pd.DataFrame({"x": x, "y": x + 1})


#: a function and what is done with it
USES = [
    (root, lambda f: f(table().a)), (root, lambda f: f(table()[["a", "b"]])), (root, lambda f: f(table().a.to_numpy())),
    (root, lambda f: f(pd.Series([1, 2, None]))), (root, lambda f: f(table().index)), (looped, lambda f: f(table().a)),
    (lambda x, y: x * y + 1, lambda f: [f(table().a, table().b), f(table().a, 2.0), f(table().a, np.arange(6.0))]),
    (lambda x: (x.mean(), len(x), x.shape), lambda f: f(table().a)), (lambda t: t["a"] + t.b, lambda f: f(table())),
    (written, lambda f: f(table().a.copy())), (with_column, lambda f: f(table())), (built, lambda f: f(np.arange(3.0))),
    (doubled, lambda f: table().a.apply(f)), (doubled, lambda f: table().i.map(f)),
    (doubled, lambda f: table()[["a", "b"]].map(f)), (lambda c: c.sum(), lambda f: table()[["a", "b"]].apply(f)),
    (lambda r: r["a"] + r["b"], lambda f: table().apply(f, axis=1)),
    (spread, lambda f: table()[["a", "b"]].apply(f, axis=1, raw=True)),
    (decayed, lambda f: table().b.rolling(3).apply(f, raw=True)),
    (spread, lambda f: table().b.rolling(3).apply(f, raw=False)),
    (decayed, lambda f: table().b.expanding().apply(f, raw=True)),
    (lambda s: s - s.mean(), lambda f: table().groupby("k").a.transform(f)),
    (spread, lambda f: table().groupby("k").a.agg(f)), (spread, lambda f: table().groupby("k").a.apply(f)),
    (lambda t: t.a.sum(), lambda f: table().groupby("k")[["a", "b"]].apply(f)),
    (lambda t: t.a + t.b, lambda f: table().assign(c=f)), (lambda s, k: s * k, lambda f: table().a.pipe(f, 3.0)),
    (lambda x, k: x * k, lambda f: table().a.apply(f, k=3)), (lambda t: t.a > 2, lambda f: table().loc[f]),
    (lambda x, y: x + y, lambda f: table().a.combine(table().b, f)),
    (lambda s: -s, lambda f: table().sort_values("a", key=f)), (lambda c: c + "_", lambda f: table().rename(columns=f)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "use"), USES)
def test_pandas_with_decorated_functions(f, use):
    wanted, ours = repr(use(f)), al.function(f)
    for _ in range(2):
        assert repr(use(ours)) == wanted


def test_windows_of_a_column_make_few_traces():
    f = al.function(decayed)
    column = pd.Series(np.arange(50.0))
    for _ in range(3):
        column.rolling(5).apply(f, raw=True)
    assert f.tracing_count == 1


def test_tensors_become_columns():
    t = al.constant([1.0, 2.0])
    assert pd.Series(t).tolist() == [1.0, 2.0] and pd.DataFrame({"a": t}).a.dtype == np.float32
