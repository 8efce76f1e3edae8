"""Closures that are made anew for each call are given to programs, which are called with the decorator and give what
they find."""

import types

import numpy as np

#: so many functions of each code
TIMES = 3
PROGRAMS = {}


def prog(f):
    PROGRAMS[f.__name__] = f
    return f


def X():
    return np.arange(1.0, 6.0)


def base(deco):

    @deco
    def solve(f, x):
        for _ in range(3):
            x = x - 0.1 * f(x)
        return x

    return solve


@prog
def numbers(deco):
    s = base(deco)
    return [s(lambda x: x * k, X()) for k in range(12)] + [
        s(lambda x: x * k, X()) for k in (1.5, True, 2, 1j, np.float32(2), 3.5)
    ]


@prog
def arrays(deco):
    s = base(deco)
    out = []
    for k in range(10):
        w = np.ones(5) * k
        out.append(s(lambda x: x * w, X()))
    for k in range(3):
        w = np.ones((2, 5), np.float32) * k
        out.append(s(lambda x: x * w, X()))
    return out


@prog
def rebound(deco):
    s = base(deco)
    out = []
    k = 1.0
    f = lambda x: x * k
    for j in range(TIMES):
        k = j * 0.5
        out.append(s(f, X()))
    k = np.arange(5.0)
    out.append(s(f, X()))
    k = np.ones(5)
    out.append(s(f, X()))
    k = 2
    out.append(s(f, X()))
    return out


def counter():
    n = 0
    seen = []

    def f(x):
        nonlocal n
        n += 1
        seen.append(n)
        return x * n

    def get():
        return n

    return (f, get, seen)


@prog
def nonlocal_writes(deco):
    s = base(deco)
    out = []
    for j in range(TIMES):
        f, get, seen = counter()
        for i in range(3):
            out.append(s(f, X()))
            out.append((get(), list(seen)))
    return out


@prog
def shared_cell(deco):

    @deco
    def run(f, g, x):
        y = f(x)
        return y + g()

    out = []
    for mode in [0, 1, 0, 1, 1, 0] * 2:
        f, get, _ = counter()
        f2, get2, _ = counter()
        out.append(run(f, get if mode else get2, X()))
        out.append((get(), get2()))
        out.append(run(f, get if mode else get2, X()))
        out.append((get(), get2()))
    return out


@prog
def two_writers(deco):

    def make():
        n = 0

        def a(x):
            nonlocal n
            n += 1
            return x + n

        def b(x):
            nonlocal n
            n *= 2
            return x + n

        return (a, b, lambda: n)

    @deco
    def run(f, g, x):
        return f(g(f(x)))

    out = []
    for k in range(TIMES):
        a, b, g = make()
        a2, b2, g2 = make()
        out += [
            run(a, b, X()),
            g(),
            run(a, b2, X()),
            g(),
            g2(),
            run(a2, b, X()),
            run(a, a, X()),
            run(a, a2, X()),
            g(),
            g2(),
        ]
    return out


@prog
def closures_over_closures(deco):
    s = base(deco)
    out = []

    def make(k):
        g = lambda x: x + k
        h = lambda x: g(x) * k
        return lambda x: h(x) + g(x)

    for k in range(TIMES):
        out.append(s(make(k), X()))
    return out


@prog
def recursion(deco):
    s = base(deco)
    out = []

    def make(n, w):

        def f(x, k=n):
            return x * w if k == 0 else f(x, k - 1) + w

        return f

    for k in range(TIMES):
        out.append(s(make(k % 3, np.ones(5) * k), X()))
    return out


@prog
def mutual(deco):
    s = base(deco)
    out = []

    def make(w):

        def a(x, k=2):
            return b(x, k) + w

        def b(x, k):
            return x if k == 0 else a(x, k - 1)

        return a

    for k in range(TIMES):
        out.append(s(make(k), X()))
    return out


@prog
def defaults(deco):
    s = base(deco)
    out = []
    for k in range(TIMES):
        out.append(s(lambda x, k=k: x * k, X()))
        out.append(s(lambda x, w=np.ones(5) * k: x * w, X()))
        out.append(s(lambda x, *, k=k, w=np.ones(5) * k: x * k + w, X()))

    def f(x, k=1):
        return x * k

    for v in ((2,), (3,), (np.arange(5.0),), (2.5,)):
        f.__defaults__ = v
        out.append(s(f, X()))

    def g(x, *, k=1):
        return x * k

    for v in (2, 3, np.arange(5.0)):
        g.__kwdefaults__ = {"k": v}
        out.append(s(g, X()))
    for v in (2, 3, np.arange(5.0)):
        g.__kwdefaults__["k"] = v
        out.append(s(g, X()))
    return out


@prog
def default_written(deco):
    s = base(deco)
    out = []

    def make():

        def f(x, log=[], acc=np.zeros(5)):
            acc += x
            log.append(1)
            return acc * len(log)

        return f

    for k in range(3):
        f = make()
        for _ in range(3):
            out.append(s(f, X()))
            out.append([np.array(f.__defaults__[1]), list(f.__defaults__[0])])
    return out


@prog
def other_globals(deco):
    s = base(deco)
    out = []

    def t(x):
        return x * K  # noqa: F821

    for k in range(TIMES):
        out.append(s(types.FunctionType(t.__code__, {"K": k}), X()))
    g = {"K": 1.0}
    f = types.FunctionType(t.__code__, g)
    for k in range(TIMES):
        g["K"] = k * 0.5
        out.append(s(f, X()))
    return out


@prog
def other_closure(deco):
    s = base(deco)
    out = []

    def make(k):
        return lambda x: x * k

    f = make(1)
    for v in (1, 2.0, np.ones(5), np.arange(5.0), 3, 4, 5, 6, 7):
        out.append(s(types.FunctionType(f.__code__, f.__globals__, closure=(types.CellType(v),)), X()))
    return out


@prog
def decorated_methods(deco):

    class M:
        def __init__(s, k):
            s.k = k
            s.n = 0

        @deco
        def step(s, x):
            return x * s.k

        @deco
        def other(s, x):
            s.n += 1
            return x + s.k

    @deco
    def run(f, g, x):
        return g(f(x)) * (10 if f == g else 1)

    @deco
    def r3(f, x):
        return f(x) * D.get(f, 1)

    out = []
    for k in range(TIMES):
        m, n = (M(k), M(k + 1.0))
        D = {m.step: 3}
        out += [
            run(m.step, m.other, X()),
            run(m.step, n.step, X()),
            run(m.step, m.step, X()),
            m.n,
            m.step == m.step,
            m.step != n.step,
            hash(m.step) == hash(m.step),
            r3(m.step, X()),
            r3(n.step, X()),
        ]
    return out
