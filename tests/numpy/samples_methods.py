"""Samples of ndarray's methods and attributes."""

from __future__ import annotations

_AXES = ("x.{m}()", "x.{m}(0)", "x.{m}(axis=1, keepdims=True)", "x.{m}(axis=5)")
_MASKED = ("x.{m}(where=b, initial=1)", "x.{m}(0, None, None, True)")
_PLACE = ("x.{m}()", "x.{m}(0)", "x.{m}(axis=1, keepdims=True)", "x.{m}(0, keepdims=False)", "x.{m}(2)")
_SPREAD = ("x.{m}()", "x.{m}(0, ddof=1)", "x.{m}(axis=(0, 1), dtype=np.float32, keepdims=True)", "x.{m}(where=b)")
_RUNNING = ("x.{m}()", "x.{m}(0)", "x.{m}(1, dtype=np.float32)", "x.{m}(axis=3)")


def _calls(method: str, *families: tuple[str, ...]) -> list[str]:
    return [call.format(m=method) for family in families for call in family]


_CALLS = {
    "all": [*_calls("all", _AXES), "x.all(where=b)"],
    "any": [*_calls("any", _AXES), "x.any(where=b)"],
    "argmax": _calls("argmax", _PLACE),
    "argmin": _calls("argmin", _PLACE),
    "argpartition": ["v.argpartition(1)", "x.argpartition(1, axis=0)"],
    "argsort": ["x.argsort()", "x.argsort(0)", "x.argsort(axis=1, kind='stable')", "x.argsort(-1, 'stable', None)"],
    "astype": [
        "x.astype(float)", "x.astype(np.int32)", "x.astype('complex64')", "x.astype(dtype=np.float32, copy=False)",
        "x.astype(bool)",
        "j.astype(np.float32, casting='safe')", "x.astype(np.int8, 'K', 'safe')", "x.astype(int, 'C')",
    ],
    "byteswap": ["v.byteswap()", "v.byteswap(inplace=True)"],
    "choose": ["j.choose([x, x, x, x, x, y, y, y])", "i.choose([v[:3], w[:3], 2])",
               "j.choose(x, y, x, y, x, y, x, y)"],
    "clip": ["x.clip(0, 2)",
             "x.clip(min=1)", "x.clip(max=1)", "x.clip(None, 2)", "x.clip(y, 3)", "x.clip(0, 1, out=y)"],
    "compress": ["x.compress([True, False, True], axis=1)", "x.compress([0, 1])", "v.compress(v > 1)"],
    "conj": ["x.conj()", "z.conj()", "z.conj(z * 1)"],
    "conjugate": ["x.conjugate()", "z.conjugate()"],
    "copy": ["x.copy()", "x.copy('F')", "x.copy(order='C')"],
    "cumprod": _calls("cumprod", _RUNNING),
    "cumsum": _calls("cumsum", _RUNNING),
    "diagonal": ["x.diagonal()", "x.diagonal(1)", "cube.diagonal(0, 0, 2)",
                 "cube.diagonal(offset=-1, axis1=1, axis2=2)"],
    "dot": ["x.dot(y.T)", "v.dot(w)", "x.dot(2)", "x.dot(v)", "v.dot(b=w)"],
    "flatten": ["x.flatten()", "x.flatten('F')", "t.flatten()"],
    "getfield": ["m.getfield(np.int32)", "m.getfield('i4', 4)", "m.getfield(np.int32, offset=6)"],
    "item": ["x.item(2)", "x.item(1, 2)", "x.item((0, 1))",
             "t.item()", "x[:1, :1].item()", "x.item()", "x.item(7)", "x.item(-1)"],
    "max": [*_calls("max", _AXES), "x.max(0, None, True)", "x.max(where=b, initial=2)"],
    "mean": [*_calls("mean", _AXES), "x.mean(0, np.float64)", "x.mean(where=b)", "x.mean((0, 1))"],
    "min": [*_calls("min", _AXES), "x.min(0, None, True)", "x.min(where=b, initial=2)"],
    "nonzero": ["x.nonzero()", "b.nonzero()"],
    "prod": [*_calls("prod", _AXES, _MASKED), "x.prod(dtype=np.float32)"],
    "ravel": ["x.ravel()", "x.ravel('F')", "x.ravel(order='C')"],
    "repeat": ["x.repeat(2)", "x.repeat(2, 0)", "v.repeat([1, 0, 2, 1])", "x.repeat([1, 2], axis=0)"],
    "reshape": [
        "x.reshape(3, 2)", "x.reshape((3, -1))", "x.reshape(-1)", "x.reshape([6])", "x.reshape(3, 2, order='F')",
        "x.reshape(n, 2)", "x.reshape(4, 2)", "x.reshape(3, 2, copy=True)", "x.reshape(6, copy=False)",
    ],
    "round": ["x.round()", "x.round(1)", "x.round(decimals=-1)", "z.round(1)", "x.round(1, y)"],
    "searchsorted": ["i.searchsorted(v=2)", "np.sort(v).searchsorted(w, 'right')",
                     "v.searchsorted(w, sorter=np.argsort(v))"],
    "squeeze": ["x[None].squeeze()", "x[None, :, None].squeeze(0)", "x[None].squeeze(axis=(0,))", "x.squeeze(0)"],
    "std": _calls("std", _SPREAD),
    "sum": [*_calls("sum", _AXES, _MASKED), "x.sum(dtype=np.float32)", "x.sum(1, int)", "x.sum(axis=())"],
    "swapaxes": ["x.swapaxes(0, 1)", "cube.swapaxes(0, -1)", "x.swapaxes(0, 4)"],
    "take": ["x.take([0, 2])", "x.take(i, axis=1)", "x.take(1, 0)", "v.take([0, 7])", "v.take([-1, 9], mode='clip')"],
    "tolist": ["x.tolist()", "t.tolist()", "empty.tolist()"],
    "trace": ["x.trace()", "x.trace(1)", "cube.trace(0, 1, 2)", "x.trace(offset=-1)", "x.trace(dtype=np.float32)"],
    "transpose": ["x.transpose()", "x.transpose(1, 0)", "cube.transpose((2, 0, 1))", "cube.transpose([1, 0, -1])",
                  "x.transpose(None)", "v.transpose(0)", "cube.transpose(0, 1)",
                  "cube.transpose(np.argsort([1, 2, 0]))", "v.transpose(np.array([0]))"],
    "var": _calls("var", _SPREAD),
    "view": ["v.view()", "m.view(np.int64)", "m.view('i4')",
             "j.view(dtype=np.float64)", "m[:, :1].copy().view(np.float32)",
             "m.view(np.complex128)", "x.view(np.matrix)", "t.view('i4')"],
    # what writes in place, and what speaks of memory
    "fill": ["x.fill(0)"],
    "partition": ["v.partition(1)"],
    "put": ["v.put([0], 1)"],
    "resize": ["v.resize(2, 2)"],
    "setfield": ["v.setfield(1, np.int8)", "m.setfield(7, np.int32, 4)", "m.setfield(v[:3], 'i4', offset=2)",
                 "m.setfield(1, np.int32, 6)", "m.setfield(300, np.int8)", "m.setfield(np.ones(2), 'i4')"],
    "setflags": ["v.setflags(write=False)", "x.copy().setflags(write=False)", "v[1:].setflags(write=True)",
                 "[y := x.copy(), y.setflags(write=False), y.flags.writeable, y[0].flags.writeable, y.T.fill(1)]",
                 "x.copy().setflags(align=True)"],
    "sort": ["v.sort()", "x.sort(0)"],
    "tobytes": ["x.tobytes()", "x.tobytes('F')", "cube.T.tobytes(order='C')", "x.T.tobytes('A')", "(x + y).tobytes()",
                "len(x.tobytes())", "empty.tobytes()", "t.tobytes()", "x[:, ::2].tobytes(None)", "x.tobytes('B')"],
    "tofile": ["x.tofile('/dev/null')", "x.T.tofile('/dev/null', ',', '%s')", "x.tofile(fid='/dev/null')"],
    "dump": ["x.dump('/dev/null')", "x.T.dump(file='/dev/null')"],
    "dumps": ["x.dumps()", "x.T.dumps()", "cube[:, 1:, ::2].dumps()", "x.copy().dumps()", "empty.dumps()"],
    "T": ["x.T", "v.T", "cube.T"],
    "mT": ["x.mT", "cube.mT", "v.mT"],
    "real": ["x.real", "z.real"],
    "imag": ["x.imag", "z.imag"],
    "flat": ["x.flat[2]", "x.flat[1:4]", "sum(x.flat)", "len(x.flat)", "np.array(list(x.flat))"],
    "nbytes": ["x.nbytes"],
    "itemsize": ["x.itemsize"],
    "size": ["x.size"],
    "ndim": ["x.ndim", "t.ndim"],
    "shape": ["x.shape[0]", "x.shape[-1] * 2", "len(x.shape)"],
    "dtype": ["x.dtype", "x.dtype.name"],
    "strides": ["x.strides", "x.T.strides", "cube[1:, ::-1, 2].strides", "x.copy().strides", "x[0, 0].strides",
                "np.broadcast_to(x, (2, 2, 3)).strides", "empty.strides", "cube.diagonal().strides"],
    "flags": ["x.flags", "x.flags.c_contiguous", "x.T.flags['F']", "x[:, 1:].flags.contiguous", "x.flags.owndata",
              "x.flags['OWNDATA'], x.T.flags['OWNDATA']", "np.broadcast_to(v, (2, 4)).flags.writeable", "x.flags.fnc",
              "x.diagonal().flags.writeable", "x.copy().flags.num", "x.flags['NONE']"],
    "base": ["x.base", "x.T.base", "x.T.base is x", "cube[0][1:].T.base is cube", "x.copy().base", "x.real.base"],
    "data": ["x.data"],
    "ctypes": ["x.ctypes"],
}  # fmt: skip

SAMPLES = {f"np.ndarray.{name}": calls for name, calls in _CALLS.items()}
NOT_APPLICABLE = {
    "np.ndarray.device": "of the array API standard, not of NumPy's programs",
    "np.ndarray.to_device": "of the array API standard, not of NumPy's programs",
}
