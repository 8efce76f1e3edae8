"""The random numbers of 1.x: the same for the same seeds, run by run, as TensorFlow's kernels give them.

They come from the counter-based generator Philox4x32-10 (J. Salmon et al., "Parallel random numbers: as easy as 1, 2,
3", SC 2011). Its key is the seed of the graph, the upper half of its counter the seed of the operation, and the lower
half counts *groups* of four 32-bit numbers. A run of an operation takes 256 groups for each element, or fewer, and the
next run goes on behind them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: a run of a distribution reserves so many groups for each number
RESERVED = 256
#: of a truncated distribution: how many groups are drawn for each four numbers before more are
_AT_FIRST = 16
_TWO_PI = 2.0 * np.pi


def words(seeds: tuple[int, int], first: Any, count: int) -> Any:
    """Return ``count`` groups from the number ``first``, an array of four columns of uint32; ``first`` may be an array
    of as many starts, whose groups then come one after the other."""
    low: Any = (np.asarray(first, np.uint64)[..., None] + np.arange(count, dtype=np.uint64)).reshape(-1)
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    c = [low & mask, low >> half, np.full_like(low, seeds[1] & 0xFFFFFFFF), np.full_like(low, seeds[1] >> 32)]
    k = [seeds[0] & 0xFFFFFFFF, seeds[0] >> 32]
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(q >> half) ^ c[1] ^ np.uint64(k[0]), q & mask, (p >> half) ^ c[3] ^ np.uint64(k[1]), p & mask]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, 1).astype(np.uint32)


def _floats(x: Any) -> Any:
    return ((x & np.uint32(0x7FFFFF)) | np.uint32(0x3F800000)).view(np.float32) - np.float32(1)


def _doubles(x: Any) -> Any:
    """Of pairs, whose first has the upper bits."""
    high, low = x[..., 0::2].astype(np.uint64) & np.uint64(0xFFFFF), x[..., 1::2].astype(np.uint64)
    return (np.uint64(1023 << 52) | (high << np.uint64(32)) | low).view(np.float64) - 1.0


def _units(x: Any, dtype: Any) -> Any:
    """Numbers in [0, 1)."""
    if dtype == np.float64:
        return _doubles(x)
    if dtype == np.float16:
        half = (x.astype(np.uint16) & np.uint16(0x3FF)) | np.uint16(15 << 10)
        return half.view(np.float16) - np.float16(1)
    return _floats(x)


def _normals(x: Any, dtype: Any) -> Any:
    """By the transformation of Box and Muller."""
    exact: Any = np.float64 if dtype == np.float64 else np.float32
    u = _units(x, exact)
    radius = np.sqrt(exact(-2) * np.log(np.maximum(u[..., 0::2], exact(1e-7))))
    angle = (_TWO_PI * u[..., 1::2]).astype(exact)
    both = np.stack([np.sin(angle) * radius, np.cos(angle) * radius], -1)
    return both.reshape(*both.shape[:-2], -1).astype(dtype)


#: gives numbers of seeds, the group to begin with, how many, and their dtype
Draw = Callable[..., Any]


def uniform(seeds: tuple[int, int], first: int, count: int, dtype: Any) -> Any:
    """Return floats in [0, 1)."""
    of_group = 2 if dtype == np.float64 else 4
    return _units(words(seeds, first, -(-count // of_group)), dtype).reshape(-1)[:count]


def normal(seeds: tuple[int, int], first: int, count: int, dtype: Any) -> Any:
    """Return floats of the standard normal distribution."""
    of_group = 2 if dtype == np.float64 else 4
    return _normals(words(seeds, first, -(-count // of_group)), dtype).reshape(-1)[:count]


def truncated(seeds: tuple[int, int], first: int, count: int, dtype: Any) -> Any:
    """Return floats of the standard normal distribution, each drawn again until it is between -2 and 2."""
    of_group, groups = (2 if dtype == np.float64 else 4), _AT_FIRST
    starts = first + RESERVED * of_group // 4 * np.arange(-(-count // of_group), dtype=np.uint64)
    while True:
        drawn = _normals(words(seeds, starts, groups).reshape(len(starts), -1), dtype)
        fits = np.abs(drawn) < 2
        if (fits.sum(1) >= of_group).all():
            break
        groups *= 2
    order = np.argsort(~fits, 1, kind="stable")[:, :of_group]
    return np.take_along_axis(drawn, order, 1).reshape(-1)[:count]


def integers(seeds: tuple[int, int], first: int, count: int, dtype: Any, low: Any, high: Any) -> Any:
    """Return integers from ``low`` to below ``high``."""
    if not low < high:
        raise ValueError(f"Need minval < maxval, got {low} >= {high} [AL904]")
    is_wide = np.dtype(dtype).itemsize == 8
    x = words(seeds, first, -(-count // (2 if is_wide else 4))).astype(np.uint64)
    if is_wide:
        x = x[:, 0::2] | (x[:, 1::2] << np.uint64(32))
    bits = x.reshape(-1)[:count] % np.uint64(int(high) - int(low))
    return (bits + np.uint64(int(low) % 2**64)).astype(dtype)  # modulo 2**64, as it should be


def order(seeds: tuple[int, int], first: int, count: int, dtype: Any) -> Any:
    """Return the integers below ``count`` in random order."""
    places = list(range(count))
    draws = words(seeds, first, -(-count // 4)).reshape(-1).tolist()
    for i in range(count - 1):
        j = i + draws[i] % (count - i)
        places[i], places[j] = places[j], places[i]
    return np.array(places, dtype)


def categories(seeds: tuple[int, int], first: int, logits: Any, count: int, dtype: Any) -> Any:
    """Return, for each row of logits, the numbers of ``count`` classes drawn with these odds."""
    rows, _ = logits.shape
    logits = logits.astype(np.float64)
    with np.errstate(invalid="ignore"):
        odds = np.exp(
            logits - np.max(np.where(np.isfinite(logits), logits, -np.inf), 1, keepdims=True, initial=-np.inf)
        )
    sums = np.cumsum(np.where(np.isfinite(logits), odds, 0.0), 1)
    u = _doubles(words(seeds, first, -(-rows * count // 2))).reshape(-1)[: rows * count].reshape(rows, count)
    found = [np.searchsorted(total, part * total[-1], side="right") for total, part in zip(sums, u)]
    return np.array(found).reshape(rows, count).astype(dtype)
