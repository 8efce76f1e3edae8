"""Of two equal zeros of different sign, what chooses or adds gives the one that NumPy gives, in every dtype."""

from __future__ import annotations

import autoloop as al
import numpy as np
from executors import spread
from optimisation import translated

_VALUES = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf]
X = np.array([a for a in _VALUES for _ in _VALUES])
Y = np.array([b for _ in _VALUES for b in _VALUES])

PAIRS = {
    "maximum": lambda x, y: np.maximum(x, y),
    "minimum": lambda x, y: np.minimum(x, y),
    "maximum of scalars": lambda x, y: np.stack([np.maximum(x[i], y[i]) for i in range(49)]),
    "minimum of scalars": lambda x, y: np.stack([np.minimum(x[i], y[i]) for i in range(49)]),
    "in a loop": lambda x, y: _largest(x, y),
}
#: of few elements, which NumPy reduces one after the other; what its vectors meet first is its own affair
REDUCTIONS = {
    "max of rows": lambda x, y: np.max(np.stack([x, y, x], 1), axis=1),
    "min of rows": lambda x, y: np.min(np.stack([x, y, x], 1), axis=1),
    "max of columns": lambda x, y: np.max(np.stack([x, y, x], 0), axis=0),
    "min of columns": lambda x, y: np.min(np.stack([x, y, x], 0), axis=0),
    "max of all": lambda x, y: np.max(x[:4] * y[:4]),
    "clip": lambda x, y: np.clip(x, 0.0, 1.0),
    "clip from below": lambda x, y: np.clip(x, -0.0, 1.0),
    "clip from above": lambda x, y: np.clip(x, -1.0, -0.0),
    "clip at nan": lambda x, y: np.clip(x, np.nan, 1.0),
    "clip to arrays": lambda x, y: np.clip(x, y, y * y),
    "clip at one end": lambda x, y: (np.clip(x, 0.0, None), np.clip(x, None, -0.0)),
    "clip of scalars": lambda x, y: np.stack([np.clip(x[i], 0.0, 1.0) for i in range(49)]),
    "sum": lambda x, y: np.sum(_nothings(x)),
    "sum of rows": lambda x, y: np.sum(_nothings(x), axis=1),
    "sum of columns": lambda x, y: np.sum(_nothings(x), axis=0),
    "sum of one": lambda x, y: np.sum(_nothings(x)[:1, :1]),
    "mean": lambda x, y: np.mean(_nothings(x)),
    "mean of columns": lambda x, y: np.mean(_nothings(x), axis=0),
    "prod": lambda x, y: np.prod(np.stack([x, y, x], 1), axis=1),
    "cumsum": lambda x, y: np.cumsum(np.stack([x, y, x], 1), axis=1),
    "cumprod": lambda x, y: np.cumprod(np.stack([x, y, x], 0), axis=0),
}
#: products of NumPy's that begin with zeros or do not, and read what they multiply with 0 or do not; of few elements
FEW = (1, 2, 7, 28)
PRODUCTS = {
    "dot of one": lambda x, y: np.stack([np.dot(x[i : i + 1], y[i : i + 1]) for i in FEW]),
    "dot of a scalar": lambda x, y: np.stack([np.dot(x[i], y[i : i + 1]) for i in FEW]),
    "dot of a column and one": lambda x, y: np.stack([np.dot(x[::7, None], y[i : i + 1]) for i in FEW]),
    "dot of one and a row": lambda x, y: np.stack([np.dot(y[i : i + 1, None], x[None, ::7]) for i in FEW]),
    "inner": lambda x, y: np.stack([np.inner(x[i : i + 1], y[i : i + 1]) for i in FEW]),
    "inner of rows": lambda x, y: np.inner(x[:14].reshape(7, 2), y[:14].reshape(7, 2)),
    "tensordot": lambda x, y: np.tensordot(x[:6].reshape(3, 2, 1), y[:2].reshape(2, 1), 2),
    "tensordot of one": lambda x, y: np.stack([np.tensordot(x[i].reshape(1, 1), y[i : i + 1], 1) for i in FEW]),
    "tensordot of no axes": lambda x, y: np.tensordot(x[::7], y[:2], 0),
    "einsum of a product": lambda x, y: np.einsum("i,j->ij", x[::7], y[:7]),
    "einsum of scalars": lambda x, y: np.stack([np.einsum(",", x[i], y[i]) for i in FEW]),
    "filled": lambda x, y: (np.full_like(x, -0.0), np.full((2, 3), y[1]), np.full_like(y, 0.0)),
}


def _largest(x, y):
    best = x
    for _ in range(3):
        best = np.maximum(best, y)
    return best


def _nothings(x):
    return np.reshape(np.where(x == x, -0.0 * np.abs(np.sign(x)), -0.0), (7, 7)).astype(x.dtype)


def words(values):
    """The values with their signs; every nan is one."""
    flat = np.concatenate([np.asarray(v).ravel() for v in (values if type(values) is tuple else (values,))])
    return ["nan" if np.isnan(v) else str(v) for v in flat]


CASES = [(name, dtype) for name in PAIRS | REDUCTIONS for dtype in ("float16", "float32", "float64")]
CASES += [(name, ("float32", "float64")[place % 2]) for place, name in enumerate(PRODUCTS)]
#: optimised by day, too: by turns as singles and as doubles, of which vectors hold another number
OPTIMISED = {(name, ("float32", "float64")[place % 2]) for place, name in enumerate(PAIRS | REDUCTIONS)}


@spread("name, dtype", CASES, map("-".join, CASES))
def test_zeros_keep_their_sign(name, dtype, executor):
    f = (PAIRS | REDUCTIONS | PRODUCTS)[name]
    x, y = X.astype(dtype), Y.astype(dtype)
    with np.errstate(all="ignore"):
        wanted = f(x, y)
        with translated(name not in PRODUCTS and (name, dtype) not in OPTIMISED):
            found = al.function(f, executor=executor)(x, y)
    if type(wanted) is not tuple:
        assert np.asarray(found).dtype == wanted.dtype
    assert words(found) == words(wanted)
