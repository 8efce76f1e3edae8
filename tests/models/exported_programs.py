"""Programs that people would export, with arguments: ``PROGRAMS``, name -> function and arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autoloop as al
import numpy as np

_rng = np.random.default_rng(0)
_SQUARE = _rng.normal(size=(5, 5))
POSITIVE = _SQUARE @ _SQUARE.T + 5 * np.eye(5)
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def program(*args: Any, name: str = "") -> Callable[[Any], Any]:
    """Enter a function with arguments."""

    def entered(f: Any) -> Any:
        PROGRAMS[f"{f.__name__}{name}"] = f, args
        return f

    return entered


def floats(*shape: int, dtype: str = "f8") -> Any:
    return _rng.normal(size=shape).astype(dtype)


@program(np.zeros(3), floats(10, 3), floats(10))
def linear_regression(w, x, y):
    for _ in range(20):
        w = w - 0.01 * x.T @ (x @ w - y)
    return w


@program(floats(40, 3, dtype="f4"), np.zeros(4, "f4"), floats(3, 4, dtype="f4"), floats(4, 4, dtype="f4") / 4)
def recurrent(x, h, w, u):
    out = []
    for t in range(len(x)):
        h = np.tanh(x[t] @ w + h @ u)
        out.append(h)
    return np.stack(out), h


@program(floats(6, 4))
def viterbi(scores):
    score, back = scores[0], []
    for t in range(1, len(scores)):
        candidates = score[:, None] + scores[t][None, :]
        back.append(np.argmax(candidates, axis=0))
        score = np.max(candidates, axis=0)
    best = np.argmax(score)
    path = [best]
    for choice in back[::-1]:
        best = choice[best]
        path.append(best)
    return np.array(path[::-1]), score


@program(floats(12, 13))
def blurred(image):
    out = np.zeros_like(image)
    n, m = image.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            out[i, j] = image[i - 1 : i + 2, j - 1 : j + 2].sum() / 9
    return out


@program(np.int64(27))
def collatz(n):
    count = np.int64(0)
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


@program(np.float64(0), np.float64(1))
def bisected(a, b):
    while b - a > 1e-10:
        middle = (a + b) / 2
        if np.cos(middle) - middle > 0:
            a = middle
        else:
            b = middle
    return a


@program(POSITIVE)
def power_iteration(a):
    v = np.ones(a.shape[0])
    for _ in range(100):
        w = a @ v
        n = np.linalg.norm(w)
        if np.abs(n - np.linalg.norm(v)) < 1e-12:
            break
        v = w / n
    return n, v


@program(POSITIVE, floats(5))
def systems(a, b):
    return np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.det(a), np.linalg.cholesky(a)


@program(floats(9))
def bubbles(x):
    x = x.copy()
    n = len(x)
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


@program(np.array([0.0, 1.0, 1.5, 4.0, 3.2, 2.2]))
def counted(x):
    found = np.zeros(5, np.int64)
    for v in x:
        found[int(v)] += 1
    return found


@program(np.int64(30))
def fibonacci(n):
    a, b = np.int64(0), np.int64(1)
    for _ in range(n):
        a, b = b, a + b
    return a


@program(np.array([1, 2, 3, 4, 5, 3]), np.array([2, 2, 4, 5, 3, 1, 1]))
def edit_distance(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    d[:, 0], d[0, :] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[-1, -1]


@program((_rng.random((8, 8)) > 0.5).astype(np.int8))
def life(g):
    for _ in range(10):
        n = sum(np.roll(np.roll(g, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        g = ((n == 3) | ((g == 1) & (n == 2))).astype(np.int8)
    return g


@program(*np.meshgrid(np.linspace(-2, 1, 11), np.linspace(-1, 1, 7)))
def mandelbrot(re, im):
    x, y, count = np.zeros_like(re), np.zeros_like(re), np.zeros(re.shape, np.int32)
    for _ in range(30):
        x, y = x * x - y * y + re, 2 * x * y + im
        inside = x * x + y * y < 4
        count[inside] += 1
        x, y = np.where(inside, x, 2.0), np.where(inside, y, 0.0)
    return count


@program(np.array([1.0, 0.0]))
def pendulum(y):
    h, out = 0.1, [y]
    slope = lambda y: np.array([y[1], -np.sin(y[0])])
    for _ in range(50):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out.append(y)
    return np.array(out)


@program(
    al.zeros([3, 2]), al.constant(floats(6, 3, dtype="f4")), al.constant(np.eye(2, dtype="f4")[[0, 1, 0, 1, 1, 0]])
)
def logistic_regression(w, x, y):
    def loss(w):
        return -al.mean(al.sum(y * al.log_softmax(al.matmul(x, w)), axis=1))

    for _ in range(10):
        w = w - 0.5 * al.grad(loss)(w)
    return w


@program(al.constant(floats(4, 4, dtype="f4") / 2), al.constant(floats(7, 4, dtype="f4")))
def gradient_of_a_loop(w, x):
    def loss(w):
        h = al.zeros([4])
        for t in al.range(al.shape(x)[0]):
            h = al.tanh(al.einsum("i,ij->j", h, w) + x[t])
        return al.sum(h * h)

    return al.grad(loss)(w)


@program(al.constant(floats(5, 3)))
def mapped_and_scanned(x):
    return al.map_fn(lambda r: al.sum(r * r), x), al.scan(lambda s, r: s + r, x)


@program(al.constant(floats(6)))
def of_a_tensor_array(x):
    ta = al.TensorArray(al.float64, size=6)
    for i in al.range(6):
        ta = ta.write(5 - i, x[i] * 2)
    return ta.stack(), ta.read(2)


@program(floats(11))
def orders(x):
    s = np.sort(x)
    return s[5], np.argsort(x, kind="stable"), np.searchsorted(s, 0.3), np.cumsum(x), np.cumprod(x)


@program(np.ones(3))
@program(np.ones(3) * 100, name=" without turns")
def appended(x):
    out = []
    while np.sum(x) < 100:
        if x[0] > 5:
            x = x * 1.5
            continue
        x = x + 1
        out.append(x[0])
    return np.array(out), x


@program(np.ones(3))
def growing(x):
    while np.sum(x) < 50:
        x = np.concatenate([x, x])
    return x


@program(*[floats(5, 8, dtype="f4") for _ in range(3)])
def attention(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[-1])
    s = np.exp(s - s.max(-1, keepdims=True))
    return (s / s.sum(-1, keepdims=True)) @ v


@program(floats(100))
def smoothed(x):
    y, s = np.empty_like(x), x[0]
    for i in range(len(x)):
        s = 0.9 * s + 0.1 * x[i]
        y[i] = s
    return y


@program(floats(30))
def broken_off(x):
    total = 0.0
    for v in x:
        if v < 0:
            continue
        if v > 2:
            break
        total += v
    else:
        total = -1.0
    return total


@program(_rng.random((7, 7)) * 10)
def shortest_ways(d):
    for k in range(len(d)):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
    return d


@program(np.ones(4), np.arange(4.0))
def in_place(x, y):
    x += y
    x[0] = 7
    y[1:] *= 2
    return x[1] + y[1]


def integers(a, b):
    bits = a & b, a | b, a ^ b, ~a, a << (b % 8), a >> (b % 8)
    sums = a.sum(), a.prod(), a.max(), a.min(), np.argmax(a)
    return a // b, a % b, *bits, -a, abs(a), a * b, a + b, a - b, np.maximum(a, b), a == b, a < b, *sums


def extreme_integers(kind: str) -> Any:
    """Return integers of a dtype with the least and largest ones, and divisors of 0 and -1."""
    ends = np.iinfo(kind)
    a = np.array([ends.min, ends.max, 0, 1, ends.min or 3, 7, ends.max - 1, 100], kind)
    b = np.array([1, 0, 3, ends.max, -1 if ends.min else 2, 0, 5, ends.min or 9], kind)
    return a, b


for _kind in "i1 i2 i4 i8 u1 u2 u4 u8".split():
    PROGRAMS[f"integers {_kind}"] = integers, extreme_integers(_kind)


def of_floats(a, b):
    whole = a // b, a % b, np.floor(a), np.rint(a), np.trunc(a), np.sign(a)
    chosen = np.maximum(a, b), np.fmax(a, b), a.max(), a.min(), np.nanmax(a), np.argmax(a), np.isnan(a), a == b, a != b
    slow = np.arctan2(a, b), np.hypot(a, b), np.log1p(a), np.expm1(a), np.sinh(a), np.tanh(a), np.arctan(a), np.cbrt(a)
    return *whole, *chosen, a < b, *slow, np.copysign(a, b), np.sort(a), np.argsort(a, kind="stable")


_SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.5, -2.5, 1e-10, 1e30, 0.5]
_PAIRS = tuple(x.ravel() for x in np.meshgrid(_SPECIAL, _SPECIAL))
PROGRAMS["floats f8"] = of_floats, _PAIRS
PROGRAMS["floats f4"] = of_floats, tuple(x.astype("f4") for x in _PAIRS)
