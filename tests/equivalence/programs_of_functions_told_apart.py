"""Functions of one code that programs tell apart."""

import functools

import numpy as np
from programs_of_made_functions import TIMES, X, prog


@prog
def attributes(deco):

    @deco
    def run(f, x):
        try:
            w = f.w
        except AttributeError:
            w = 10
        return f(x) * w

    out = []
    for k in range(TIMES):
        f = lambda x: x + k
        if k % 2:
            f.w = k
        out.append(run(f, X()))
    f = lambda x: x
    for v in (None, 1, 2.0, np.ones(5), "d"):
        if v == "d" if isinstance(v, str) else False:
            del f.w
        elif v is not None:
            f.w = v
        out.append(run(f, X()))
    return out


@prog
def identity(deco):

    @deco
    def run(f, g, x):
        return x * 2 if f is g else f(x)

    G = lambda x: x + 1

    @deco
    def glob(f, x):
        return x * 2 if f is G else f(x)

    @deco
    def inn(f, x):
        return x * 2 if f in L else f(x)

    def mk(k):
        return lambda x: x + k

    L = [mk(1)]
    D = {L[0]: 3}

    @deco
    def ind(f, x):
        return x * D.get(f, 1)

    out = []
    for k in range(3):
        f, g = (mk(1), mk(1))
        out += [
            run(f, g, X()),
            run(f, f, X()),
            run(g, f, X()),
            glob(f, X()),
            glob(G, X()),
            inn(f, X()),
            inn(L[0], X()),
            ind(f, X()),
            ind(L[0], X()),
        ]
        L[0] = f
        out += [inn(f, X()), inn(g, X())]
        D[g] = 5
        out += [ind(g, X()), ind(f, X())]
    return out


@prog
def returned(deco):

    @deco
    def run(f, x):
        return (f, x * 2)

    @deco
    def run2(f, x):
        return (lambda y: f(y) * 2)(x)

    @deco
    def run3(f, x):
        return {"f": f, "y": f(x)}

    @deco
    def run4(f, x):
        return f.__closure__[0].cell_contents

    out = []
    for k in range(TIMES):
        f = lambda x: x + k
        r = run(f, X())
        out += [r[0] is f, r[1], run2(f, X())]
        r = run3(f, X())
        out += [r["f"] is f, r["y"], run4(f, X())]
    return out


@prog
def kept(deco):
    W = {}

    @deco
    def run(f, x):
        W["f"] = f
        W.setdefault("l", []).append(f)
        return f(x)

    out = []
    for k in range(TIMES):
        f = lambda x, k=k: x + k
        out += [run(f, X()), W["f"] is f, W["l"][-1] is f, len(W["l"])]
    return out


@prog
def name_asked(deco):

    @deco
    def run(f, x):
        return (f(x), f.__name__, f.__qualname__)

    out = []
    for k in range(TIMES):
        f = lambda x: x + k
        f.__name__ = f"n{k % 2}"
        out.append(run(f, X()))
    return out


@prog
def same_twice(deco):

    @deco
    def run(f, g, x):
        return f(x) + g(x)

    def mk(k):
        return lambda x: x * k

    out = []
    for k in range(TIMES):
        f = mk(k)
        out += [run(f, f, X()), run(f, mk(k + 1), X()), run(mk(k + 2), f, X())]
    return out


@prog
def identity_of_partials(deco):

    def g(k, x):
        return x * k

    G = functools.partial(g, 2)
    S = {functools.partial(g, 3)}
    T = {(functools.partial(g, 3), 1): 5}
    O = np.array([functools.partial(g, 2), 1], dtype=object)

    @deco
    def r1(f, x):
        return f(x) * (10 if f is G else 1)

    @deco
    def r2(f, x):
        return f(x) * (10 if f in S else 1)

    @deco
    def r3(f, x):
        return f(x) * T.get((f, 1), 1)

    @deco
    def r4(c, x):
        return c.f(x) * (10 if c.f is G else 1)

    @deco
    def r5(f, h, x):
        return f(x) * (10 if f is h else 1)

    @deco
    def r6(f, x):
        return f(x) * (10 if any(o is f for o in O) else 1)

    class C:
        pass

    out = []
    P = [functools.partial(g, 2) for _ in range(2)]
    for f in (*P, G, P[1], *S, list(T)[0][0], G, P[0], O[0], P[0]):
        c = C()
        c.f = f
        out += [r1(f, X()), r2(f, X()), r3(f, X()), r4(c, X()), r5(f, P[0], X()), r5(f, f, X()), r6(f, X())]
    return out


@prog
def identity_of_methods(deco):

    class M:
        def __init__(s, k):
            s.k = k

        def step(s, x):
            return x * s.k

        def other(s, x):
            return x * s.k

    G = M(2)
    g = G.step
    D = {G.step: 5}

    @deco
    def r1(f, x):
        return f(x) * (10 if f == g else 1)

    @deco
    def r2(f, x):
        return f(x) * D.get(f, 1)

    @deco
    def r3(f, x):
        return f(x) * (10 if f is g else 1)

    @deco
    def r4(f, h, x):
        return f(x) * (10 if f == h else 1)

    @deco
    def r5(c, x):
        return c.f(x) * D.get(c.f, 1)

    class C:
        pass

    out = []
    ms = [M(2), M(2), G]
    for m in (*ms, *ms[::-1], *ms):
        c = C()
        c.f = m.step
        out += [
            r1(m.step, X()),
            r2(m.step, X()),
            r3(m.step, X()),
            r3(g, X()),
            r4(m.step, G.step, X()),
            r4(m.step, m.other, X()),
            r5(c, X()),
        ]
    return out


@prog
def identity_of_functions(deco):

    def mk(k):
        return lambda x: x * k

    G = mk(2)
    big = [mk(k) for k in range(1005)]
    T = (mk(1), mk(2))
    S = frozenset([mk(1)])
    K = {(mk(2), 1): 7}
    O = np.array([mk(2), None], object)

    class E(dict):
        pass

    e = E(a=mk(2))

    @deco
    def r1(f, x):
        return f(x) * (10 if f in big else 1)

    @deco
    def r2(f, x):
        return f(x) * (10 if f in T else 1)

    @deco
    def r3(f, x):
        return f(x) * (10 if f in S else 1)

    @deco
    def r4(f, x):
        return f(x) * K.get((f, 1), 1)

    @deco
    def r5(f, x):
        return f(x) * (10 if O[0] is f else 1)

    @deco
    def r6(f, x):
        return f(x) * (10 if e["a"] is f else 1)

    out = []
    fs = [mk(2), mk(2), G, big[2], T[1], *S, list(K)[0][0], O[0], e["a"], mk(2), G]
    for f in fs + fs[::-1]:
        out += [run(f, X()) for run in (r1, r2, r3, r4, r5, r6)]
    return out


@prog
def identity_elsewhere(deco):

    def mk(k):
        return lambda x: x * k

    G = mk(2)

    @deco
    def r7(f, x):
        return f(x) * (10 if f.h is f else 1)

    @deco
    def r8(c, x):
        return c[0](x) * (10 if c[0] is G else 1)

    @deco
    def r9(x):
        return CUR[0](x) * (10 if CUR[0] is G else 1)

    CUR = [None]

    @deco
    def r10(f, x):
        return f(x) * (10 if hash(f) == hash(G) else 1)

    @deco
    def r11(f, x):
        return f(x) * (10 if id(f) == id(G) else 1)

    @deco
    def r12(f, x):
        return f(x) * (10 if repr(f) == repr(G) else 1)

    out = []
    fs = [mk(2), mk(2), G, mk(2), G]
    for f in fs + fs[::-1]:
        f.h = fs[0]
        CUR[0] = f
        out += [run(f, X()) for run in (r7, r10, r11, r12)]
        out += [r8([f], X()), r8((f,), X()), r9(X())]
    return out


@prog
def decorated_inner_identity(deco):

    def mk(k):
        return deco(lambda x: x * k)

    G = mk(2)
    D = {G: 5}

    @deco
    def r1(f, x):
        return f(x) * (10 if f is G else 1)

    @deco
    def r2(f, x):
        return f(x) * D.get(f, 1)

    @deco
    def r3(c, x):
        return c[0](x) * (10 if c[0] is G else 1)

    out = []
    for f in (mk(2), mk(2), G, mk(2), mk(3), G):
        out += [r1(f, X()), r2(f, X()), r3([f], X())]
    return out


@prog
def cache_of_functions(deco):
    memo = {}

    @deco
    def run(f, x):
        if f not in memo:
            memo[f] = len(memo)
        return f(x) + memo[f]

    out = []
    fs = [(lambda k: lambda x: x * k)(2) for _ in range(TIMES)]
    for f in fs + fs[::-1]:
        out.append(run(f, X()))
    out.append(len(memo))
    return out


def gfun(x):
    return x + 1


@prog
def attr_of_global(deco):

    @deco
    def run(x):
        try:
            w = gfun.w
        except AttributeError:
            w = 10
        return gfun(x) * w

    out = [run(X())]
    gfun.w = 3
    out.append(run(X()))
    gfun.w = 4
    out.append(run(X()))
    del gfun.w
    out.append(run(X()))
    return out
