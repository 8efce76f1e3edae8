"""Methods, partials and what decorators give, made anew for each call, and functions that are found elsewhere."""

import functools

import numpy as np
from programs_of_made_functions import TIMES, X, base, prog


class M:
    def __init__(s, w):
        s.w = w
        s.n = 0

    def step(s, x):
        s.n += 1
        return x * s.w

    def other(s, x):
        return x + s.w


@prog
def methods(deco):
    s = base(deco)
    out = []
    for k in range(TIMES):
        m = M(np.ones(5) * k)
        out.append(s(m.step, X()))
        out.append(m.n)
        out.append(s(m.other, X()))
        m = M(k)
        out.append(s(m.step, X()))
        out.append(m.n)
        m.w = 7
        out.append(s(m.step, X()))
    return out


@prog
def two_methods(deco):

    @deco
    def run(f, g, x):
        return g(f(x))

    out = []
    for k in range(TIMES):
        m, n = (M(k * 1.0), M(k + 1.0))
        out += [
            run(m.step, m.other, X()),
            run(m.step, n.other, X()),
            run(m.step, m.step, X()),
            run(m.step, n.step, X()),
            m.n,
            n.n,
        ]
    return out


@prog
def partials(deco):
    s = base(deco)
    out = []

    def force(k, x):
        return x * k

    for k in range(TIMES):
        out.append(s(functools.partial(force, k), X()))
        out.append(s(functools.partial(force, k * 1.0), X()))
        out.append(s(functools.partial(force, np.ones(5) * k), X()))
        out.append(s(functools.partial(lambda x, k: x * k, k=k), X()))
        k2 = k
        out.append(s(functools.partial(lambda k, x: x * k + k2, k), X()))
    out.append(s(functools.partial(functools.partial(lambda a, b, x: a * x + b, 2), 3), X()))
    out.append(s(functools.partial(functools.partial(lambda a, b, x: a * x + b, 2), 4), X()))
    return out


@prog
def partial_written(deco):
    s = base(deco)
    out = []

    def f(acc, x):
        acc += x
        return acc * 1

    for k in range(TIMES):
        acc = np.zeros(5)
        p = functools.partial(f, acc)
        out.append(s(p, X()))
        out.append(acc.copy())
        out.append(s(p, X()))
        out.append(acc.copy())
        out.append(p.args[0] is acc)
    return out


def timed(f):

    @functools.wraps(f)
    def w(*a, **k):
        w.calls = getattr(w, "calls", 0) + 1
        return f(*a, **k)

    return w


@prog
def decorated_closures(deco):
    s = base(deco)
    out = []
    for k in range(TIMES):
        f = timed(lambda x: x * k)
        out.append(s(f, X()))
        out.append(f.calls)
        out.append(s(f, X()))
        out.append(f.calls)
    return out


@prog
def inner_decorated(deco):
    s = base(deco)
    out = []
    for k in range(TIMES):
        out.append(s(deco(lambda x: x * k), X()))
        out.append(s(deco(lambda x, w=np.ones(5) * k: x * w), X()))
    return out


@prog
def inner_captured_rebound(deco):
    s = base(deco)
    out = []

    def mk(k):
        return lambda x: x * k

    g = mk(1)
    f = lambda x: g(x) + 1
    for k in range(TIMES):
        g = mk(k)
        out.append(s(f, X()))
    g = lambda x: x + 100
    out.append(s(f, X()))
    g = np.sin
    out.append(s(f, X()))
    g = np.cos
    out.append(s(f, X()))

    @deco
    def run(f, x):
        return f()

    g = mk(1)
    f2 = lambda: g
    out.append(run(f2, X()) is g)
    g = mk(1)
    out.append(run(f2, X()) is g)
    g = mk(2)
    out.append(run(f2, X()) is g)
    return out


GL = None


@prog
def global_function(deco):
    global GL

    def mk(k):
        return lambda x: x * k

    @deco
    def run(x):
        return GL(x) + 1

    @deco
    def run2(x):
        return GL

    out = []
    for k in range(TIMES):
        GL = mk(k)
        out.append(run(X()))
        out.append(run2(X()) is GL)
        out.append(run(X()))
    return out


@prog
def strategies(deco):

    @deco
    def run(fs, x):
        for f in fs:
            x = f(x)
        return x

    out = []
    for k in range(TIMES):
        out.append(run([lambda x: x * k, lambda x: x + k], X()))
        out.append(run({"a": lambda x: x * k, "b": lambda x: x + k}.values() if 0 else [lambda x: x - k] * 2, X()))
    return out


@prog
def in_objects(deco):

    class C:
        def __init__(s, f):
            s.f = f

    @deco
    def run(c, x):
        return c.f(x)

    out = []
    for k in range(TIMES):
        out.append(run(C(lambda x: x * k), X()))
    c = C(None)
    for k in range(TIMES):
        c.f = lambda x: x * k
        out.append(run(c, X()))
    return out


@prog
def printing(deco):
    s = base(deco)
    out = []
    for k in range(3):

        def f(x):
            print("k", k)
            return x * k

        out.append(s(f, X()))
    return out


@prog
def raising(deco):
    s = base(deco)
    out = []

    def mk(k):

        def f(x):
            if k > 2:
                raise ValueError(f"k={k}")
            return x * k

        return f

    for k in range(TIMES):
        try:
            out.append(s(mk(k), X()))
        except ValueError as e:
            out.append(str(e))
    return out


@prog
def array_written_in_cell(deco):
    s = base(deco)
    out = []
    for k in range(TIMES):
        acc = np.zeros(5)

        def f(x):
            acc[:] += x
            return acc * k

        out.append(s(f, X()))
        out.append(acc.copy())
        out.append(s(f, acc))
        out.append(acc.copy())
    return out


@prog
def aliased_cells(deco):

    @deco
    def run(f, g, x):
        f(x)
        return g(x)

    def wr(a):

        def f(x):
            a[:] = a + x

        return f

    def rd(a):
        return lambda x: a * x

    out = []
    for k in range(3):
        a, b = (np.ones(5) * k, np.ones(5))
        for p, q in ((a, b), (a, a), (a, a[:]), (a, b), (b, a)):
            out.append(run(wr(p), rd(q), X()))
            out.append((a.copy(), b.copy()))
        out.append(run(wr(a), rd(b), a))
        out.append((a.copy(), b.copy()))
    return out


@prog
def cell_emptied(deco):

    @deco
    def run(f, x):
        return f(x)

    def mk(k, d=False):

        def f(x):
            try:
                return x * k
            except NameError:
                return x

        if d:
            del k
        return f

    out = []
    for d in (False, True, False, True, True, False):
        out.append(run(mk(2, d), X()))
    k = 1

    def f(x):
        try:
            return x * k
        except NameError:
            return x - 1

    out.append(run(f, X()))
    del k
    out.append(run(f, X()))
    k = 5
    out.append(run(f, X()))
    return out


@prog
def list_cell(deco):
    s = base(deco)
    out = []
    for k in range(TIMES):
        log = []
        cfg = {"k": k}

        def f(x):
            log.append(x.sum())
            return x * cfg["k"]

        out.append(s(f, X()))
        out.append(list(log))
        cfg["k"] = 9
        out.append(s(f, X()))
        out.append(len(log))
    return out


@prog
def nested_factory(deco):
    out = []

    def outer(a):

        @deco
        def inner(x):
            return x * a

        return inner

    for k in range(12):
        out.append(outer(k)(X()))
    for k in range(12):
        f = outer(np.ones(5) * k)
        out.append(f(X()))
        out.append(f(X()))
    return out


@prog
def keyword_given(deco):

    @deco
    def run(x, *, f=None, **kw):
        return f(x) + kw["g"](x)

    return [run(X(), f=lambda x: x * k, g=lambda x: x + k) for k in range(TIMES)]


@prog
def star_given(deco):

    @deco
    def run(x, *fs):
        for f in fs:
            x = f(x)
        return x

    return [run(X(), *[lambda x, j=j: x * k + j for j in range(3)]) for k in range(TIMES)]
