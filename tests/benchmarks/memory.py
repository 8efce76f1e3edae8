"""The memory of programs that write in place, beside NumPy's: ``python tests/benchmarks/memory.py --update PAGE``.

Each is called twice, in a process of its own, after a call with small arrays. What counts is the memory of its
arguments and the most that the process needs besides while it runs, divided by that of the undecorated function. Linux
only.
"""

from __future__ import annotations

import argparse
import gc
import linecache
import os
import signal
import sys
import textwrap
import warnings
from pathlib import Path
from typing import Any

import autoloop as al
import numpy as np
from page import markdown, replace

EXECUTORS = ("auto", "sequential", "dataflow", "native")
#: elements of the arrays: 100 MB; and of those of a call that is not measured
SIZE, SMALL = 12_500_000, 400_000
#: what is told of
LIMIT = 1.1

#: parameters -> what they are, given a number of elements
_VECTORS = dict.fromkeys("abcd", lambda size: np.ones(size) + np.arange(size) % 7)
_SQUARE = {
    "m": lambda r: np.ones((r, r)) + np.arange(r) % 7,
    "w": lambda r: np.ones((r, r)) + np.arange(r) % 5,
    "p": lambda r: np.ones((r, 4)),
    "q": lambda r: np.ones((4, r)),
    "g": lambda r: np.asfortranarray(np.ones((r, r)) + np.arange(r) % 7),
    "h": lambda r: np.asfortranarray(np.ones((r, r)) + np.arange(r) % 5),
    "o": lambda r: (np.ones((2 * r, r)) + np.arange(r) % 7)[::2],
    "l": lambda r: (np.ones((r + 2, r + 2)) + np.arange(r + 2) % 7)[1:-1, 1:-1],
    "x": lambda r: (np.ones((r, r)) + np.arange(r) % 7).T,
}
_OTHERS = {
    "z": lambda size: np.arange(size // 2) * (1 + 1j),
    "s": lambda size: (np.arange(2 * size) % 7).astype("f4"),
    "t": lambda size: (np.arange(2 * size) % 5).astype("f4"),
    "k": lambda size: np.arange(size),
    "u": lambda size: (np.arange(8 * size) % 7).astype("u1"),
    "i": lambda size: np.arange(size // 200) * 3,
    "n": lambda size: np.int64(3),
    # that do not lie in C order, or not one element after the other
    "y": lambda size: (np.ones(size) + np.arange(size) % 7)[::-1],
    "e": lambda size: (np.ones(2 * size) + np.arange(2 * size) % 7)[::2],
}
MAKERS: dict[str, Any] = {
    **_VECTORS, **{name: (lambda size, make=make: make(int(size**0.5))) for name, make in _SQUARE.items()}, **_OTHERS,
}  # fmt: skip

#: (parameters, body)
PROGRAMS = (
    # parts and all of an array
    ("a", "a[5] = 3"), ("a", "a *= 2"), ("a", "a *= 2; a += 1; a[:] = a + 3"), ("a", "a[:-1] = a[1:]"),
    ("a", "a[1:] = a[:-1]"), ("a", "a[1:] *= a[0]"), ("a", "a[:] = a[::-1]"), ("a", "a[:] = np.roll(a, 1)"),
    ("ab", "b[1:-1] = 0.5 * (a[:-2] + a[2:])"), ("a", "a[1:-1] = (a[:-2] + a[2:]) / 2"), ("a", "a.fill(4)"),
    ("a", "a[:1000] = a[1000:2000].copy()"), ("a", "a[1:] = np.diff(a); a[0] = 0"), ("a", "a **= 2; a *= a"),
    ("a", "a.flat[3] = 1; a.ravel()[7] = 2; a.reshape(-1)[9] = 5"), ("a", "a[:] = np.where(a > 3, -a, a * 2)"),
    ("abc", "a += c * 2; b -= c * 3"), ("abc", "a[:] = np.sqrt(c) + c * 3; b[:] = np.exp(c) - c * 2"),
    ("a", "a -= a.max(); np.exp(a, out=a); a /= a.sum()"), ("a", "a /= np.linalg.norm(a)"),
    ("a", "a[0] = 1; return a[1:]"),
    # masks and places
    ("a", "a[a > 3] = 0"), ("a", "a[a > 3] += 1"), ("ab", "a[a > 3] += b[a > 3]"),
    ("a", "np.copyto(a, np.where(a > 3, 0, a))"),
    ("ab", "np.copyto(a, b, where=b > 2)"), ("a", "np.place(a, a > 3, [1., 2., 3.])"),
    ("a", "np.putmask(a, a > 3, 0.)"),
    ("ai", "a[i] += 1"), ("ai", "np.add.at(a, i, 1.)"), ("ai", "np.put(a, i, 2.)"), ("a", "a[np.argmax(a)] = 0"),
    ("a", "a[np.isnan(a)] = 0; np.nan_to_num(a, copy=False)"),
    # out=
    ("a", "np.maximum(a, 2, out=a)"), ("a", "np.cumsum(a, out=a)"), ("a", "np.exp(a, out=a); np.negative(a, out=a)"),
    ("a", "np.clip(a, 1, 3, out=a)"), ("ab", "np.sqrt(a, out=b, where=a > 3)"), ("a", "np.sqrt(a, out=a, where=a > 3)"),
    ("ab", "b[:] = 1.\nfor c in (2., 3., 0.5): b *= a; b += c"), ("ab", "np.take(a, np.arange(len(a)) // 2, out=b)"),
    ("mpq", "np.matmul(p, q, out=m)"), ("mpq", "m += p @ q"),
    # sorting
    ("a", "a.sort()"), ("a", "a.sort(kind='stable')"), ("a", "a.partition(100)"), ("m", "m.sort(axis=0)"),
    # several axes
    ("m", "m[[0, 1]] = m[[1, 0]]"), ("m", "m.T[0] = 1; m.T[:] = m.T + 1"), ("m", "m[:, 0] = m[:, 1]; m[:, 2] *= 2"),
    ("m", "np.fill_diagonal(m, 0)"), ("m", "m[1:-1, 1:-1] += 0.25 * (m[:-2, 1:-1] + m[2:, 1:-1])"), ("m", "m += m.T"),
    ("m", "m.reshape(-1)[::7] = 0"), ("m", "m[m[:, 0] > 1] = 0"), ("m", "m -= m.mean(axis=0); m /= m.std(axis=0) + 1"),
    ("m", "m -= m.max(axis=1, keepdims=True); np.exp(m, out=m); m /= m.sum(axis=1, keepdims=True)"),
    ("m", "m[1:, 1:] -= np.outer(m[1:, 0], m[0, 1:])"), ("m", "for row in m: row -= row.mean()"),
    ("m", "m[:] = 0.25 * (np.roll(m, 1, 0) + np.roll(m, -1, 0) + np.roll(m, 1, 1) + np.roll(m, -1, 1))"),
    ("g", "g += 1; g[:, 3] = g[:, 4]; g[2:] *= 2"), ("gh", "g[1:-1, 1:-1] = h[:-2, 1:-1] + h[2:, 1:-1]; h[:] = g"),
    ("g", "g -= g.mean(axis=0); g[g > 3] = 0"),
    ("g", "g[5, 3] = 1"), ("x", "x[5, 3] = 1; x *= 2; x[:, 1:] -= x[:, :-1]"),
    ("x", "x.T[0] = 1; x -= x.max(axis=1)[:, None]"),
    ("y", "y[5] = 3; y += 1; y[1:] = y[:-1]"), ("y", "y.sort(); y[y > 3] = 0"),
    ("e", "e[5] = 3; e *= e; e[:] = np.where(e > 3, -e, e)"),
    ("o", "o[5, 3] = 1; o[1:-1] = 0.5 * (o[:-2] + o[2:])"),
    ("l", "l[5, 3] = 1; l[1:-1, 1:-1] += l[:-2, 1:-1]; l -= l.mean(axis=0)"),
    # dtypes
    ("z", "z.real[:] = 3; z.imag *= 2"), ("z", "z.imag += 3"), ("z", "z.real[3] = 1"),
    ("k", "k += 1; k[k % 2 == 0] = 0; k //= 3"),
    ("st", "s *= 0.5; s += t; np.sqrt(s, out=s); t -= s"), ("u", "u += 3; u ^= 255; u[u > 100] = 1; u >>= 1"),
    # loops of the graph
    ("abn", "for _ in range(n): b += 2.0 * a"), ("abn", "for _ in range(n): b += np.exp(a)"),
    ("an", "for i in range(n): a[i:i + 4] = 1"), ("an", "for i in range(n): a[1:] -= a[:-1]"),
    ("an", "c = a[10:]\nfor i in range(n): c[i] += 1"), ("an", "for i in range(n): a[4:][i] = 2"),
    ("mn", "for i in range(n): m[i + 1] = m[i] * 0.5 + m[i + 1]"), ("mn", "for i in range(n): m.T[i] += 1"),
    ("mpqn", "np.matmul(p, q, out=m)\nfor i in range(n): m[i] += 1"), ("mn", "if n > 1: m *= 2\nelse: m += 1"),
    ("an", "i = 1\nwhile i < n:\n    if a[i] > a[i - 1]: a[i] = a[i - 1]\n    else: a[i - 1] += 1\n    i += 1"),
    ("mwn", "for _ in range(n):\n    w[1:-1, 1:-1] = 0.25 * (m[1:-1, :-2] + m[1:-1, 2:] + m[2:, 1:-1] + m[:-2, 1:-1])\n"
            "    m[1:-1, 1:-1] = w[1:-1, 1:-1]"),
    ("abn", "u = a.copy(); v = np.empty_like(u)\nfor _ in range(n): v[1:-1] = 0.5 * (u[:-2] + u[2:]); u, v = v, u\n"
            "b[:] = u"),
    ("abcn", "for _ in range(n): b += 0.5 * c; a += b; c[:] = -a; b += 0.5 * c"),
    ("an", "for i in range(n): a[i:i + 4] += 1"), ("mn", "c = m.T\nfor i in range(n): c[i, 0] += 1"),
    # the same of arrays that lie otherwise
    ("gn", "for i in range(n): g[i + 1] = g[i] * 0.5 + g[i + 1]"), ("gn", "for i in range(n): g[:, i] += g[i]"),
    ("ghn", "for _ in range(n):\n    h[1:-1, 1:-1] = 0.25 * (g[1:-1, :-2] + g[1:-1, 2:] + g[2:, 1:-1] + g[:-2, 1:-1])\n"
            "    g[1:-1, 1:-1] = h[1:-1, 1:-1]"),
    ("xn", "for i in range(n): x[i + 1] -= x[i]; x[:, i] *= 2"), ("xn", "for _ in range(n): x[1:] -= x[:-1]"),
    ("yn", "for i in range(n): y[i] += y[i + 1]; y[1:] *= 2"), ("yn", "for _ in range(n): y[1:] -= y[:-1]"),
    ("en", "for i in range(n): e[i] += e[i + 1]; e[1:] *= 2"), ("on", "for i in range(n): o[i + 1] += o[i]; o *= 2"),
    ("ln", "for i in range(n): l[i + 1] += l[i]; l[1:] -= l[:-1]"),
)  # fmt: skip


def function_of(parameters: str, body: str) -> Any:
    """Return the function, whose lines Python finds again."""
    name = f"<memory of {body}>"
    text = f"def f({', '.join(parameters)}):\n{textwrap.indent(body, '    ')}\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"np": np, "__name__": "measured"}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


def _status(field: str) -> int:
    """Return a number of kilobytes that Linux knows of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"no {field} in /proc/self/status")


def needed(parameters: str, body: str, executor: str, size: int, small: int) -> tuple[int, int]:
    """Return the bytes of the arguments, and the most that two calls need besides."""
    f = function_of(parameters, body)
    if executor != "plain":
        f = al.function(f, executor=executor)
        f(*[MAKERS[name](small) for name in parameters])
    given = [MAKERS[name](size) for name in parameters]
    most = 0
    for _ in range(2):
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = _status("VmRSS:")
        f(*given)
        most = max(most, _status("VmHWM:") - before)
    return sum(one.nbytes for one in given), most


def in_process(*asked: Any) -> tuple[int, int] | str:
    """Return what ``needed`` gives in a process of its own, or what it raises."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        said = "ended"
        try:
            signal.alarm(300)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                said = "{} {}".format(*needed(*asked))
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        finally:
            os.write(writing, said.encode()[:4000])
            os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    numbers = said.split()
    return (int(numbers[0]), int(numbers[1])) if all(one.isdigit() for one in numbers) and len(numbers) == 2 else said


def ratios(parameters: str, body: str, executors: tuple[str, ...], size: int, small: int) -> dict[str, float | str]:
    """Return for each executor the memory of a program, divided by NumPy's; or what it raises."""
    plain = in_process(parameters, body, "plain", size, small)
    assert not isinstance(plain, str), (body, plain)
    found: dict[str, float | str] = {}
    for executor in executors:
        ours = in_process(parameters, body, executor, size, small)
        found[executor] = ours if isinstance(ours, str) else sum(ours) / sum(plain)
    return found


def table(measured: dict[tuple[str, str], dict[str, float | str]], executors: tuple[str, ...]) -> str:
    """Return those of the programs that need more than NumPy, as a table, and how many do not."""
    rows = []
    for (_, body), found in measured.items():
        if any(not isinstance(one, str) and one > LIMIT for one in found.values()):
            shown = ["refused" if isinstance(found[e], str) else f"{found[e]:.1f}" for e in executors]
            rows.append([f"`{body.replace(chr(10), '; ').replace(':;', ':').replace('|', chr(92) + '|')}`", *shown])
    said = f"Of {len(measured)} programs these need more than {LIMIT} times NumPy's memory in some executor:\n\n"
    return said + markdown(["program", *executors], rows, range(1, len(executors) + 1))


def main() -> None:
    """Measure, print, and put the table on a page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--update", type=Path, help="a page with a place for the table")
    parser.add_argument("--only", default="", help="measure programs whose text has this")
    parser.add_argument("--executors", default=",".join(EXECUTORS))
    parser.add_argument("--quick", action="store_true", help="small arrays: it runs, the numbers say nothing")
    args = parser.parse_args()
    executors = tuple(args.executors.split(","))
    size, small = (10_000, 10_000) if args.quick else (SIZE, SMALL)
    measured = {}
    for parameters, body in PROGRAMS:
        if args.only in body:
            found = measured[parameters, body] = ratios(parameters, body, executors, size, small)
            shown = " ".join(f"{e} {one if isinstance(one, str) else format(one, '.2f')}" for e, one in found.items())
            print(f"{body.replace(chr(10), '; ')}: {shown}", flush=True)
    if args.update:
        replace(args.update, "memory", table(measured, executors))


if __name__ == "__main__":
    sys.exit(main())
