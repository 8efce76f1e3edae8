"""Samples of NumPy's manipulation of arrays: joined, split, padded, turned, chosen from, and places in them."""

from __future__ import annotations

import numpy as np

_rng = np.random.default_rng(21)
A = _rng.uniform(0.3, 0.9, (3, 4))
ROW = _rng.uniform(0.2, 0.9, 4)


def _calls(f: str, *calls: str) -> list[str]:
    return [call.format(f=f) for call in calls]


_STACKED = ("{f}((v, w))", "{f}([x, y])", "{f}(x)", "{f}((v, 1.0))", "{f}([i, v[:3]])", "{f}([])", "{f}((x, v))",
            "{f}(tup=(x, y * 2))", "{f}([cube, cube])", "{f}([t, n])")  # fmt: skip
_STACKED_AS = (
    "{f}((v, w), dtype=np.float64)",
    "{f}((v, w), dtype=np.int8)",
    "{f}((v, w), dtype=np.int8, casting='unsafe')",
)
_SPLIT = ("{f}(cube, 2)", "{f}(cube, [1, 3])", "{f}(ary=x, indices_or_sections=[1])", "{f}(cube, 5)", "{f}(v, 2)",
"{f}(t, 1)",
          "{f}(cube, (1, n))", "{f}(cube, np.array([0, 1]))")  # fmt: skip
SAMPLES = {
    "np.append": ["np.append(x, y)", "np.append(x, v)", "np.append(x, y, 0)", "np.append(x, y[:1], axis=0)",
        "np.append(v, 1)",
                  "np.append(x, v, 1)", "np.append(x, y, 4)", "np.append([v[0], 2], x)", "np.append(i, t)"],
    "np.insert": [
        "np.insert(v, 1, 7)", "np.insert(v, 1, w)", "np.insert(x, 1, 5)", "np.insert(x, 1, y[:, 0], axis=1)",
        "np.insert(x, -1, i, 0)", "np.insert(x, [1, 2], y[0, :2], 1)", "np.insert(v, [0, 0, 3], w[:3])",
        "np.insert(v, slice(1, 3), 0)", "np.insert(x, n - 2, y, axis=0)", "np.insert(v, 9, 0)",
        "np.insert(v, i, w[:3])",
        "np.insert(x, [1], [[7], [8]], axis=1)", "np.insert(v, v > 1, 9)", "np.insert(v, [1, 9], 0)",
        "np.insert(j, 1, 2.7)",
        "np.insert(x, 1, v, axis=1)", "np.insert(arr=x, obj=0, values=y, axis=-1)", "np.insert(v, [], 1)",
    ],
    "np.delete": [
        "np.delete(v, 1)", "np.delete(x, 1)", "np.delete(x, 1, 0)", "np.delete(x, [0, 2], axis=1)",
        "np.delete(v, slice(1, 3))",
        "np.delete(v, slice(None, None, -2))", "np.delete(x, b[0], 1)", "np.delete(v, i)", "np.delete(v, n)",
        "np.delete(v, -1)",
        "np.delete(v, 9)", "np.delete(v, [1, 9])", "np.delete(x, [True, False], 0)", "np.delete(x, 1, 5)",
        "np.delete(v, [])",
        "np.delete(v, [-1, 1])",
    ],
    "np.vstack": _calls("np.vstack", *_STACKED, *_STACKED_AS),
    "np.hstack": _calls("np.hstack", *_STACKED, *_STACKED_AS),
    "np.dstack": _calls("np.dstack", *_STACKED), "np.column_stack": _calls("np.column_stack", *_STACKED),
    "np.block": ["np.block([v, w])", "np.block([[x, y], [y, x]])", "np.block(x)",
        "np.block([[m, m[:, :1]], [1, 2, 3, t]])",
                 "np.block([[x], [[1, 2, 3]]])", "np.block([v, 1])", "np.block((v, w))", "np.block([[v], w])",
                 "np.block([])",
                 "np.block([[[x, y]]])", "np.block([x, v])"],
    "np.array_split": _calls("np.array_split", "{f}(v, 3)", "{f}(cube, 3, 2)", "{f}(x, [1, 2], axis=1)", "{f}(v, 0)",
                             "{f}(v, (1, n))", "{f}(v, 7)", "{f}(x, 2, 5)"),
    "np.split": _calls("np.split", *_SPLIT, "{f}(cube, 2, 2)", "{f}(x, 3, axis=-1)", "{f}(v, 0)"),
    "np.hsplit": _calls("np.hsplit", *_SPLIT),
    "np.vsplit": _calls("np.vsplit", *_SPLIT),
    "np.dsplit": _calls("np.dsplit", *_SPLIT),
    **{f"np.atleast_{k}d": _calls(f"np.atleast_{k}d", "{f}(x)", "{f}(v)", "{f}(t)", "{f}(x, v, 3)", "{f}(cube)",
                                  "{f}([v[0], 2])", "{f}()") for k in (1, 2, 3)},
    "np.pad": [
        "np.pad(x, 1)", "np.pad(x, ((1, 2), (0, 3)))", "np.pad(v, (2, 1), 'constant', constant_values=(4, 6))",
        "np.pad(t, (2, 1))",
        "np.pad(x, 1, constant_values=t)", "np.pad(x, ((1,), (2,)), 'edge')", "np.pad(x, 2, mode='wrap')",
        "np.pad(x, (1, 2), 'reflect')", "np.pad(v, 9, 'reflect')", "np.pad(v, 9, 'symmetric')",
        "np.pad(x, (2, 1), 'symmetric', reflect_type='odd')", "np.pad(v, 7, 'reflect', reflect_type='odd')",
        "np.pad(x, 2, 'linear_ramp', end_values=5)",
        "np.pad(x, ((1, 2), (3, 0)), 'linear_ramp', end_values=((1, 2), (3, 4)))",
        "np.pad(x, 2, 'maximum')", "np.pad(x, 2, 'minimum', stat_length=1)", "np.pad(cube, 1, 'mean')",
        "np.pad(v, (1, 2), 'mean', stat_length=(2, 3))", "np.pad(v, 2, 'median')",
        "np.pad(cube, ((0, 1), (1, 0), (2, 2)), 'edge')",
        "np.pad(x, 1, 'none')", "np.pad(x, 1, 'edge', constant_values=1)", "np.pad(x, -1)", "np.pad(x, 1.5)",
        "np.pad(x, (1, 2, 3))",
        "np.pad(empty, 1, 'edge')", "np.pad(x, 0, 'wrap')", "np.pad(x, n)", "np.pad(x, ((1, n), (0, 1)))",
        "np.pad(x, 1, 'edge', 1)",
        "np.pad(x, 1, lambda *given: None)", "np.pad(x, ((0, 1), (2, 0)), constant_values=((1, 2), (3, 4)))",
    ],
    "np.rot90": ["np.rot90(x)", "np.rot90(x, 2)", "np.rot90(x, -1)", "np.rot90(cube, k=3, axes=(1, 2))",
        "np.rot90(x, 4)",
                 "np.rot90(x, 1, (1, 0))", "np.rot90(v)", "np.rot90(x, 1, (0, 0))", "np.rot90(x, axes=(0, 1, 2))"],
    "np.fliplr": ["np.fliplr(x)", "np.fliplr(cube)", "np.fliplr(v)"], "np.flipud": ["np.flipud(x)", "np.flipud(v)",
        "np.flipud(t)"],
    "np.resize": ["np.resize(x, (3, 4))", "np.resize(x, 4)", "np.resize(v, (2, 1))", "np.resize(empty, (2, 2))",
                  "np.resize(x, (-1, 2))", "np.resize(a=x, new_shape=(0, 3))", "np.resize(t, 3)"],
    "np.trim_zeros": ["np.trim_zeros(v - v[0])", "np.trim_zeros(v * (v > 1), 'f')",
        "np.trim_zeros(v * (v > 1), trim='b')",
                      "np.trim_zeros(v * 0)", "np.trim_zeros((0.0, v[0], 0.0))",
                      "np.trim_zeros(v, 'x')", "np.trim_zeros(v * 0, 'f')"],
    "np.lib.stride_tricks.sliding_window_view": _calls(
        "np.lib.stride_tricks.sliding_window_view", "{f}(v, 2)", "{f}(x, (2, 2))", "{f}(cube, 3, 2)",
        "{f}(cube, (2, 2), axis=(0, -1))",
        "{f}(v, 9)", "{f}(x, 2)", "{f}(v, -1)", "{f}(x, (1, 2), 0)", "{f}(v, 2, writeable=True)"),
    "np.r_": ["np.r_[v, w]", "np.r_[v, 1, w]", "np.r_[0:3, v]", "np.r_[v, 0:1:5j]", "np.r_['0,2', v, w]", "np.r_[x, y]",
              "np.r_[x, v]", "np.r_[1:n, 4]"],
    "np.c_": ["np.c_[v, w]", "np.c_[x, y]", "np.c_[v, 0:4]", "np.c_[x, v]"],
    "np.s_": ["v[np.s_[1:3]]"], "np.index_exp": ["v[np.index_exp[1:3]]"],
    "np.mgrid": ["np.mgrid[0:2, 1:n]", "np.mgrid[0:n, 0:2]", "np.mgrid[0:n]", "np.mgrid[0:t:3j, 0:2]"],
    "np.ogrid": ["np.ogrid[0:2, 1:n]", "np.ogrid[0:n, 0:2]", "np.ogrid[0:t:3j, 0:2:0.5]"],
    "np.vander": ["np.vander(v)", "np.vander(v, 2)", "np.vander(v, N=3, increasing=True)", "np.vander(x)",
        "np.vander(v, 0)", "np.vander(v, 1)",
                  "np.vander([v[0], w[1]])"],
    "np.ix_": ["np.ix_(i, [1, 2])", "np.ix_(b[0], i)", "x[np.ix_([0, 1], i)]", "np.ix_(x)", "np.ix_(v)",
               "np.ix_(v[:0], [])"],
}  # fmt: skip

_KEPT = np.array([[0, 2], [1, 1], [3, 0]])
GRADIENTS = {
    "numpy, joined": (lambda x, v: [
        np.append(x, v), np.append(x, x * v, 1), np.insert(v, 1, x[0]), np.insert(x, [0, 2], v[:2], 1),
        np.delete(x, 1, 0),
        np.delete(v, [0, 3]), np.vstack([x, v]), np.hstack([v, v * v]), np.dstack([x, x * x]),
        np.column_stack([v, v * v]),
        np.block([[x], [v * v]]), *np.array_split(v * v, 3), *np.split(x, [1], axis=1), *np.hsplit(x * x, 2),
        *np.vsplit(x, 3), np.atleast_2d(v), np.atleast_3d(x),
    ], A, ROW),
    "numpy, padded": (lambda x, v: [
        np.pad(x, 1), np.pad(x, ((1, 0), (0, 2)), constant_values=((v[0], v[1]), (v[2], 1.0))), np.pad(v,
        (2, 1), "edge"),
        np.pad(x, 2, "wrap"), np.pad(x, (1, 2), "reflect"), np.pad(v, 5, "symmetric"),
        np.pad(v, 3, "symmetric", reflect_type="odd"), np.pad(v, 5, "reflect", reflect_type="odd"),
        np.pad(x, 2, "linear_ramp", end_values=v[0]), np.pad(x, 1, "maximum"), np.pad(x, 1, "minimum", stat_length=2),
        np.pad(x, (0, 2), "mean"), np.pad(v, 1, "median"),
    ], A, ROW),
    "numpy, turned": (lambda x, v: [
        np.rollaxis(x, 1), np.rot90(x * x), np.rot90(x, 2), np.fliplr(x), np.flipud(x * x), np.roll(x, 1, 0),
        np.resize(x * x, (2, 7)),
        *np.broadcast_arrays(x, v), np.trim_zeros(v * v), np.tile(v, 2), np.repeat(v, 2),
        np.lib.stride_tricks.sliding_window_view(v * v, 3), np.lib.stride_tricks.sliding_window_view(x, (2, 2)),
        np.tril(x, 1), np.triu(x), np.tril(v), np.diag(v), np.diagflat(x[0] * v), np.diagonal(x, 1), np.trace(x * x),
        np.vander(v, 3),
        *np.meshgrid(v, v * v, sparse=True), *np.meshgrid(x[0], v),
    ], A, ROW),
    "numpy, chosen": (lambda x, v: [
        np.extract(A > 0.5, x * x), np.compress([1, 0, 1], x, 0), np.take(x, [0, 5], mode="wrap"),
        np.take(x * x, [1, 1], 1),
        np.take_along_axis(x, _KEPT, 1), np.take_along_axis(x, np.array([[0, 1, 2, 1]]), 0),
        np.choose(np.array([0, 1, 1, 0]), [v, v * v]), np.select([A > 0.6, A < 0.4], [x, v * v], x * v),
    ], A, ROW),
}  # fmt: skip
