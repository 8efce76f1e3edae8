"""What the gradient of a kernel is taken of: the squares of its results, and of the arguments that it writes to."""

from __future__ import annotations

import copy

import numpy as np


def leaves(out):
    """All values in results."""
    if isinstance(out, (tuple, list)):
        for part in out:
            yield from leaves(part)
    elif out is not None:
        yield out


def floating(args):
    """Which arguments a gradient is taken with regard to: arrays and NumPy's numbers that are real."""
    return tuple(k for k, a in enumerate(args) if isinstance(a, (np.ndarray, np.floating)) and a.dtype.kind == "f")


def written(kernel, args):
    """Which arguments a call writes to."""
    given = copy.deepcopy(args)
    kernel(*given)
    pairs = enumerate(zip(args, given))
    return tuple(k for k, (old, new) in pairs if isinstance(old, np.ndarray) and not np.array_equal(old, new))


def square(one):
    return np.sum(np.real(one) ** 2 + np.imag(one) ** 2) if np.iscomplexobj(one) else np.sum(one**2)


def loss_of(kernel, places):
    """Return the sum of squares as a function of the same arguments; it writes to those at ``places``."""

    def loss(*args):
        out = kernel(*args)
        total = 0.0
        for one in [*leaves(out), *[args[k] for k in places]]:
            total = total + square(one)
        return total

    return loss
