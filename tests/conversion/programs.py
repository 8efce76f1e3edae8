"""Functions on Python values that conversion must not change, each with the arguments to try it on.

One file: one table, of functions that are all called in the same way.
"""

from __future__ import annotations

import contextlib
import functools

from cases import Cases

CASES = Cases()
tried_on = CASES.on


@tried_on((0,), (5,), (50,))
def sum_of_squares(n):
    s = 0
    i = 0
    while i < n:
        s += i * i
        i += 1
    return s


@tried_on((5, 1), (50, 1), (5, 0), (50, 0))
def jumps_in_while(n, t):
    s = 0
    i = 0
    while i < n:
        if i == 3:
            i += 1
            continue
        if s > 50 and t or not t:
            break
        s += i * i
        i += 1
    else:
        s = -s
    return s


@tried_on(([(20, 1), (30, 7)],), ([(20, 1), (3, 7)],), ([(20, 12), (3, 7)],), ([],), ([(9, 9)] * 5,))
def unpacking_and_returns(xs):
    for i, (a, b) in enumerate(xs):
        if a < b < 10:
            return a
        for j in range(3):
            if j == b:
                return j
            last = j
    if i > 3:
        return last
    return i, last


@tried_on((5,), (2,), (0,))
def late_binding(n):
    fs = []
    for i in range(n):
        k = i * 2
        fs.append(lambda: (i, k))
    while (x := n) > 3:
        n -= 1
    return [f() for f in fs], x, n


@tried_on(([1, 2, -1, 3],), ([],), ([5],))
def exception_keeps_progress(xs):
    count = 0
    try:
        for x in xs:
            count += 1
            if x < 0:
                raise ValueError(x)
    except ValueError as e:
        return count, e.args
    finally:
        count += 100
    return count


@tried_on(([1, 2, -1, 3],), ([1],))
def suppressed(xs):
    total = 0
    with contextlib.suppress(ValueError):
        for x in xs:
            total += x
            if x < 0:
                raise ValueError
    return total


@tried_on((0,), (1,), (7,))
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@tried_on((3,), (-3,), (0,))
def elif_chain(x):
    if x > 0:
        sign = "plus"
        y = 1
    elif x < 0:
        sign = "minus"
    else:
        return None
    try:
        return sign, y
    except UnboundLocalError:
        return sign, "unset"


@tried_on((True,), (False,))
def reads_unset(flag):
    if flag:
        x = 1
    return x


@tried_on(([],), ([1, 2],))
def target_after_loop(xs):
    for x in xs:
        pass
    return x


@tried_on((1,), (0,))
def unset_in_augmented(n):
    for _ in range(n):
        total = 1
    total += 1
    return total


@tried_on(([3, 1, 2],), ([1],), ([],))
def bubble(values):
    a = list(values)
    n = len(a)
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a


@tried_on(([1, 2],))
def aliasing(xs):
    a = b = xs
    for i in range(2):
        a += [i]
        a[0] += 10
    m = [[0], [1]]
    row = m[0]
    m[0] += [5]
    return a, b, a is b, xs, m, row


@tried_on((4,))
def evaluation_order(n):
    log = []

    def note(x):
        log.append(x)
        return x

    a = [0] * 10
    a[note(1)] = note(2)
    a[note(3)] += note(4)
    _ = note(1) < note(2) < note(0) < note(9)
    _ = note(0) and note(5) or note(6)
    _ = note(7) if note(0) else note(8)
    d = {note("k"): note("v")}
    d[note("a")], a[note(2)] = note(10), note(11)
    while note(n) > 2 and note(n) != 100:
        n -= 1
    return log, a, d


@tried_on((3,), (0,))
def visible_locals(n):
    total = 0
    for i in range(n):
        total += i
    seen = dict(locals())
    return sorted(seen.items())


@tried_on((3,))
def locals_in_loop(n):
    out = []
    for i in range(n):
        if i:
            out.append(sorted(k for k in locals()))
    return out, eval("n + 1")


@tried_on((3,), (0,))
def nested_nonlocal(n):
    count = 0

    def bump(k):
        nonlocal count
        count += k
        return count

    out = []
    for i in range(n):
        out.append(bump(i))
        if count > 1:
            count *= 10
    return out, count


@tried_on(([1, "a", [1, 2], {"k": 3}, None],))
def matching(values):
    out = []
    for v in values:
        match v:
            case int(n) if n > 0:
                out.append(("int", n))
                continue
            case [a, *rest]:
                got = (a, rest)
            case {"k": k}:
                if k == 3:
                    break
                got = k
            case _:
                got = "other"
        out.append(got)
    return out


@tried_on((0,), (1,), (2,))
def try_paths(n):
    out = []
    for i in range(4):
        try:
            if i == n:
                continue
            if i == n + 1:
                raise KeyError(i)
            if i == n + 2:
                break
            out.append(i)
        except KeyError as e:
            out.append(("caught", e.args[0]))
        else:
            out.append("else")
        finally:
            out.append("finally")
    else:
        out.append("no break")
    try:
        e  # noqa
    except NameError as error:
        out.append(type(error).__name__)
    return out


@tried_on((1,), (2,), (3,))
def return_in_with(n):
    log = []

    @contextlib.contextmanager
    def manager(x):
        log.append(("in", x))
        yield x
        log.append(("out", x))

    def inner():
        with manager(1) as m:
            if n == m:
                return "first"
            with manager(2):
                for k in range(5):
                    if k == n:
                        return k
            log.append("after")
        return "last"

    return inner(), log


@tried_on((1,), (0,), (-1,))
def return_in_finally(n):
    try:
        if n > 0:
            raise ValueError
        if n < 0:
            return "body"
    finally:
        if n >= 0:
            return "finally"


@tried_on((1,), (5,))
def deleted(n):
    x = 1
    for i in range(3):
        if i == n:
            del x
        else:
            x = i
    try:
        return x
    except UnboundLocalError:
        return "unset"


@tried_on((3,))
def deleted_late(n):
    for i in range(n):
        x = i
        if i == n - 1:
            del x
    return x


@tried_on((4,))
def comprehension_and_lambdas(n):
    square, cube = (lambda x: x * x), (lambda x: x**3 if x else 0)
    out = [square(i) + cube(j) for i in range(n) for j in range(i) if i and j]
    return out, sum(square(i) for i in range(n)), {k: v for k, v in enumerate(out)}


@tried_on((3,))
def generator_inside(n):
    def produce(k):
        for i in range(k):
            if i == 2:
                return
            yield i * n

    lazy = (n + i for i in range(3))
    n += 10
    return list(produce(5)), list(lazy)


@tried_on((2, 3), (0, 0))
def defaults(a, b=4, *rest, key=lambda v: v + 1, **more):
    def inner(x, y=a, *, z=b):
        if x > y:
            return x + z
        elif x == y:
            return -1

    return inner(1), inner(2), inner(3), key(b), rest, more


class Counter:
    __step = 2

    def __init__(self):
        self.total = 0
        self.__hidden = 5

    def run(self, n):
        for i in range(n):
            self.total += self.__step
            self.__hidden += i
            if self.total > 7:
                return self.total, self.__hidden
        return self.name(), type(self).make(n), self.plain(n), self.double

    def name(self):
        return "Counter"

    @classmethod
    def make(cls, n):
        return cls.__name__ if n else None

    @staticmethod
    def plain(n):
        return -n if n > 1 else n

    @property
    def double(self):
        return self.total * 2


class Special(Counter):
    def name(self):
        for _ in range(1):
            text = super().name() + "+"
        return text if __class__ is Special and super().name() else None

    def __call__(self, n):
        return self.run(n)


@tried_on((1,), (3,), (5,))
def methods(n):
    c = Special()
    r = Counter().run
    return c.run(n), r(n), Special()(n), functools.partial(Special().run, n)()


@tried_on((10,))
def cached(n):
    @functools.lru_cache
    def fib(k):
        return k if k < 2 else fib(k - 1) + fib(k - 2)

    return fib(n), fib.cache_info().hits


GLOBAL = 0


@tried_on((3,))
def global_writes(n):
    global GLOBAL
    GLOBAL = 0
    for i in range(n):
        GLOBAL += i
        if GLOBAL > 1:
            GLOBAL *= 2
    return GLOBAL


@tried_on((3,), (12,))
def partial_returns(n):
    if n > 2:
        if n > 10:
            return "big"
        n += 1
    elif n < 0:
        n = -n
    n *= 2
    total = 0
    while True:
        total += n
        if total > 50:
            return total, n


@tried_on((3,))
def while_else_return(n):
    i = 0
    while i < n:
        j = 0
        while True:
            j += 1
            if j > i:
                break
            if i * j > 100:
                return "never"
        else:
            i = 1000
        i += j
    else:
        i += 0.5
    return i


@tried_on((2,), (7,))
def jump_both_ways(n):
    out = []
    for i in range(n):
        if i % 2:
            if i == 3:
                continue
            out.append("a")
        else:
            if i == 6:
                break
            out.append("b")
        out.append(i)
        for j in range(3):
            if j == i:
                break
        else:
            continue
        out.append(("j", j))
    return out


@tried_on((1,), (0,))
def chained(n):
    try:
        try:
            for i in range(2):
                if i == n:
                    raise KeyError("inner")
            raise ValueError("outer")
        except KeyError as e:
            raise RuntimeError("from") from e
    except Exception as e:
        return type(e), type(e.__cause__), type(e.__context__)


@tried_on((3,))
def star_targets(n):
    xs = [1, 2, 3, 4]
    for k in range(n):
        first, *xs[1:3], last = [k, k + 1, k + 2, k + 3]
        xs[0] = y = first + last
    return xs, y


@tried_on((3,))
def assertions(n):
    for i in range(n):
        assert i < 2, f"i is {i}"
    return i


@tried_on((None,), (3,), (0,))
def static_tests(x=None):
    if x is None:
        return "none"
    for i in range(3):
        if isinstance(x, int) and x is not None:
            x += i
        if not isinstance(x, int):
            break
    return x


def _yielding():
    yield from (1, 2, 3)


@tried_on()
def iterators():
    it = iter(_yielding())
    for v in it:
        if v == 1:
            break
    return list(it)


@tried_on((5,))
def class_inside(n):
    for i in range(n):

        class Item:
            value = i

            def get(self):
                return self.value + i

        last = Item()
    return last.get(), Item.value


@tried_on((3,))
def annotated(n: int) -> int:
    total: int = 0
    step: int
    for i in range(n):
        step: int = i
        total += step
        hook = lambda: total
    return total, hook()


@tried_on(({"a": 1, "b": 2},), ({},))
def dicts(d):
    total = {}
    for k, v in d.items():
        total[k] = v * 2
        total.setdefault("sum", 0)
        total["sum"] += v
        if "b" in total and k not in ("z",):
            total["seen"] = True
    return total


@tried_on((3,))
def shadowed(n):
    then = ops = 1
    loop_body = 2
    for i in range(n):
        if i:
            then += ops
            loop_body += then
    return then, ops, loop_body


class Logged:
    log: list[object] = []  # noqa: RUF012

    def __init__(self, name):
        self.name = name

    def __getitem__(self, index):
        self.log.append(("get", self.name, index))
        return Logged(f"{self.name}.{index}")

    def __setitem__(self, index, value):
        self.log.append(("set", self.name, index))

    def __iadd__(self, other):
        self.log.append(("iadd", self.name, other))
        return self

    def __add__(self, other):
        self.log.append("add")
        return NotImplemented

    def __radd__(self, other):
        self.log.append("radd")
        return 7

    def __eq__(self, other):
        self.log.append("eq")
        return NotImplemented

    def __lt__(self, other):
        self.log.append("lt")
        return NotImplemented

    def __gt__(self, other):
        self.log.append("gt")
        return "gt"

    def __contains__(self, other):
        self.log.append("in")
        return 5

    def __bool__(self):
        self.log.append("bool")
        return False

    def __iter__(self):
        self.log.append("iter")
        return iter([1, 2])


def noted(value):
    Logged.log.append(value)
    return value


@tried_on()
def operator_protocols():
    Logged.log.clear()
    a, b = Logged("a"), Logged("b")
    a[noted(1)][noted(2)] = noted(3)
    a[noted(1)][noted(2)] += noted(4)
    a[1][2][3] += noted(4)
    a[1][2] = noted(5)
    a[noted(1)] += noted(4)
    a += noted(6)
    found = [1 + a, a < b, a == b, a != b, 1 in a, 1 not in a, not a, bool(a), a is None, (a and 1) is a, (a or b) is b]
    try:
        found.append(a + b)
    except TypeError as error:
        found.append(str(error))
    for one in a:
        found.append(one)
    while a:
        break
    return found, list(Logged.log)


@tried_on(([3, 1, 2],), ([],))
def none_at_first(xs):
    best = None
    for x in xs:
        if best is None or x < best:
            best = x
    return best, best is not None, [best is None for _ in "ab"], (lambda: best is None)()


@tried_on((3,))
def repeated(n):
    return [0] * n, n * [1, 2], [[0] * n for _ in range(2)]


@tried_on((5,))
def text_of_values(n):
    shown = []
    text = f"{shown}{shown.append(n)}{shown!r:>10}{n:{n}d}{'}'}{{{n}}}{n=}"
    return text, f"{(k := n + 1)} {k}", f"{n}{shown}", str(b"a", "ascii"), format(n, "3d")


@tried_on(([[1, 2, 3], {"a": [1]}, [[[0]]]],))
def items_of_items(rows):
    rows[0][1] = 5
    rows[1]["a"][0] += 2
    rows[0][-1] *= 2
    rows[2][0][0][0] = "x"
    pair = ([1], 2)
    pair[0][0] = 9
    for i, (j, (k, *rest)) in enumerate([(1, (2, 3)), (4, "abc")]):
        rows[0][0] += i * j if isinstance(k, int) else len(rest)
    return rows, pair


@tried_on((0, 1), (1, 1), (5, 1), (5, 40))
def branches_that_end_with_an_endless_loop(n, t):
    if n < 1:
        s = 7
    elif n < 3:
        s = 1
        while True:
            s += t
            if s > 10:
                break
    else:
        s = 2
        while True:
            while True:
                s += t
                if s % 3:
                    break
            if s > 20:
                return -s
            n -= 1
            if n < 1:
                break
    return s + n
