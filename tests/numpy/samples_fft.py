"""Samples of ``np.fft``."""

from __future__ import annotations

import numpy as np

_rng = np.random.default_rng(7)
X = _rng.normal(size=(3, 4))
Y = _rng.normal(size=(5, 3))
_f = np.fft


def _complex(x):
    """Complex numbers that move with the real ``x``."""
    return x * (1 + 0.3j) + 0.5j


def _complexly(transform):
    return lambda x, y: [
        transform(x), transform(_complex(x), 3), transform(_complex(y), n=7, axis=0, norm="ortho"),
        transform(y, None, -2, "forward"), transform(_complex(y), axis=0) * y[0, 0],
    ]  # fmt: skip


def _really(transform):
    return lambda x, y: [
        transform(x), transform(x, 3), transform(y, n=7, axis=0, norm="ortho"), transform(y, n=4, axis=-2),
        transform(y, None, -2, "forward"),
    ]  # fmt: skip


def _of_several(transform, whole):
    return lambda x, y: [
        transform(x), transform(x, (2, 5), (0, 1)), transform(whole(y), axes=(1, 0), norm="ortho"),
        transform(whole(x), s=(4, 3), axes=(0, 1), norm="backward"), transform(whole(y), axes=(0,)),
    ]  # fmt: skip


GRADIENTS = {
    **{f.__name__: (_complexly(f), X, Y) for f in (_f.fft, _f.ifft, _f.irfft, _f.hfft)},
    **{f.__name__: (_really(f), X, Y) for f in (_f.rfft, _f.ihfft)},
    **{f.__name__: (_of_several(f, _complex), X, Y) for f in (_f.fftn, _f.ifftn, _f.irfftn)},
    **{f.__name__: (_of_several(f, _complex), X, Y) for f in (_f.fft2, _f.ifft2, _f.irfft2)},
    **{f.__name__: (_of_several(f, lambda x: x), X, Y) for f in (_f.rfftn, _f.rfft2)},
    "frequencies": (lambda x, d: [
        _f.fftshift(x), _f.ifftshift(x, 0), _f.fftshift(x, axes=(1,)), _f.ifftshift(x, [0, 1]), _f.fftfreq(5, d[0, 0]),
        _f.rfftfreq(6, d=d[0, 1]) * _f.rfftfreq(n=6),
    ], X, Y),
}  # fmt: skip


def _calls(name, operand):
    return [
        call.format(f"np.fft.{name}", operand)
        for call in ("{0}(x)", "{0}({1}, 3)", "{0}({1}, n=7, axis=0, norm='ortho')", "{0}(cube, None, 1, 'forward')",
                     "{0}({1}, axis=2)", "{0}({1}, 0)", "{0}({1}, norm='bad')", "{0}(a=v)", "{0}(t)", "{0}(v, out=w)")
    ]  # fmt: skip


def _calls_of_several(name, operand):
    return [
        call.format(f"np.fft.{name}", operand)
        for call in ("{0}(x)", "{0}({1}, (2, 5))", "{0}(cube, s=(3, 4), axes=(2, 0), norm='ortho')",
                     "{0}({1}, None, (0,), 'forward')", "{0}({1}, axes=(1, 0))", "{0}({1}, (2, 5), (0,))")
    ]  # fmt: skip


SAMPLES = {
    **{f"np.fft.{name}": _calls(name, "z") for name in ("fft", "ifft", "irfft", "hfft")},
    **{f"np.fft.{name}": _calls(name, "m") for name in ("rfft", "ihfft")},
    **{f"np.fft.{name}": _calls_of_several(name, "z") for name in ("fftn", "ifftn", "irfftn")},
    **{f"np.fft.{name}": _calls_of_several(name, "z") for name in ("fft2", "ifft2", "irfft2")},
    **{f"np.fft.{name}": _calls_of_several(name, "m") for name in ("rfftn", "rfft2")},
    "np.fft.fftfreq": ["np.fft.fftfreq(5)", "np.fft.fftfreq(6, t)", "np.fft.fftfreq(n=7, d=0.1)",
                       "np.fft.fftfreq(2.5, t)", "np.fft.fftfreq(len(v), d=v[0])"],
    "np.fft.rfftfreq": ["np.fft.rfftfreq(5)", "np.fft.rfftfreq(6, t)", "np.fft.rfftfreq(n=7, d=0.1)"],
    "np.fft.fftshift": ["np.fft.fftshift(x)", "np.fft.fftshift(cube, 1)", "np.fft.fftshift(x, axes=(0,))",
                        "np.fft.fftshift(x, [0, 1])"],
    "np.fft.ifftshift": ["np.fft.ifftshift(x)", "np.fft.ifftshift(cube, 1)", "np.fft.ifftshift(x, axes=(0, 1))"],
}  # fmt: skip
