"""What code of an installed library keeps are values, at each call, and not what stands for them in a trace."""

import sys
import threading
import types

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import INTERPRETED

pytestmark = pytest.mark.filterwarnings("ignore:.*runs as plain Python:UserWarning")

LIBRARY = """
import collections, contextlib, contextvars, fractions, functools, heapq, itertools, logging, queue, random
import threading, weakref
import numpy as np

KEPT, NAMED, HEAP, LAST, COUNT, TABLE, MADE, LATE = [], {}, [], None, 0, {}, None, None
QUEUE, SIMPLE, DEQUE, OF_THREAD = queue.Queue(), queue.SimpleQueue(), collections.deque(), threading.local()
CONTEXT, ORDERED = contextvars.ContextVar("CONTEXT", default=None), collections.OrderedDict()
OBJECTS = np.array([None], dtype=object)

class Handler(logging.Handler):
    records = []
    def emit(self, record): self.records.append(record.args)

LOG = logging.Logger("kept by a library")
LOG.addHandler(Handler())

class Box:
    def __init__(self): self.v, self.all = None, []
    def put(self, v): self.v = v; return v
    def __call__(self, v): self.all.append(v)
    def __matmul__(self, v): self.v = v
    @property
    def of(self): return self.v
    @of.setter
    def of(self, v): self.v = v
    @contextlib.contextmanager
    def holding(self, v):
        self.all.append(v)
        yield v

class Slots:
    __slots__ = ("v",)
    def put(self, v): self.v = v

class Register:
    items = []
    def __init__(self, v): Register.items.append(v)
    @classmethod
    def add(cls, v): cls.items.append(v)

BOX, SLOTS = Box(), Slots()
def box(): return BOX
def keep(v): KEPT.append(v); return v
def last(v):
    global LAST
    LAST = v
def late(v): globals()["LATE"] = v
def name(v): NAMED["v"] = v
def attribute(v): attribute.v = v
def default(v, kept=[]): kept.append(v); return len(kept)
def closed():
    held = []
    def put(v): held.append(v)
    return put
put = closed()
def partial(v): KEPT.append(functools.partial(max, v))
def caught(v):
    try: raise ValueError(v)
    except ValueError as error: KEPT.append(error)
def instance(v):
    box = Box()
    box.put([{"v": (v,)}])
    KEPT.append(box)
def later(v): KEPT.append(lambda: v)
def generated(v):
    KEPT.append(v)
    yield v
def queued(v): QUEUE.put(v); SIMPLE.put(v); DEQUE.appendleft(v)
def pushed(v): heapq.heappush(HEAP, (len(HEAP), v))
def of_thread(v): OF_THREAD.v = v
def in_context(v): CONTEXT.set(v)
def ordered(v): ORDERED["v"] = v; ORDERED.move_to_end("v", last=False)
def of_objects(v): OBJECTS[0] = v
def logged(v): LOG.warning("%s", v)
def count(v):
    global COUNT
    COUNT += 1
    return v
@functools.singledispatch
def dispatched(v): KEPT.append(v)
def decorator(f):
    @functools.wraps(f)
    def inner(*args): KEPT.append(args); return f(*args)
    return inner
def table(n):
    if n not in TABLE: TABLE[n] = n * 2
    return TABLE[n]
def made():
    global MADE
    if MADE is None: MADE = {"scale": 2}
    return MADE["scale"]
class Key: pass
KEY, WEAK, COUNTER, DRAWN = Key(), weakref.WeakKeyDictionary(), collections.Counter(), random.Random(3)
NUMBERED, NEXT = itertools.count(), itertools.count(5).__next__
class Meta(type):
    def add(cls, v): cls.all.append(v); Meta.last = v
class OfMeta(metaclass=Meta): all = []
cached = functools.lru_cache(lambda n: [n])
def weak(v): WEAK[KEY] = v
def of_class(v): OfMeta.add(v)
def in_cache(v): cached(3).append(v)
def counted(v): COUNTER["v"] += 1
def drawn(v): return v * DRAWN.random()
def numbered(v): return v * next(NUMBERED) + NEXT()
def by_import(v):
    import keeping_more
    keeping_more.KEPT.append(v)
class Proxy:
    @property
    def __class__(self): raise RuntimeError("no context")
    @property
    def __dict__(self): raise RuntimeError("no context")
class Sized(list):
    def __len__(self): raise RuntimeError("no context")
class Unhashable(type):
    def __eq__(cls, other): raise RuntimeError("no context")
class Odd(metaclass=Unhashable): __slots__ = ("v",)
PROXY, SIZED, ODD, STEPS = Proxy(), Sized([Proxy()]), [Odd(), Odd], itertools.count(fractions.Fraction(1, 2))
LARGE = [0] * 20_000
def beside(v):
    (PROXY, SIZED, ODD, STEPS, LARGE.append(v))
BEGUN, TAKEN = threading.Event(), threading.Event()
def meet(v):
    BEGUN.set()
    TAKEN.wait()
    KEPT.append(v)
def passed(v): return {"v": [v, v]}
"""


K = sys.modules["keeping"] = types.ModuleType("keeping")
K.__file__ = "/site-packages/keeping.py"
CODE = compile(LIBRARY, K.__file__, "exec")
exec(CODE, vars(K))
MORE = sys.modules["keeping_more"] = types.ModuleType("keeping_more")
MORE.__file__, MORE.KEPT = "/site-packages/keeping_more.py", []


def shown(value):
    """Return what is held, by kinds and values."""
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return type(value).__name__, value.dtype, value.tolist()
    if isinstance(value, dict):
        return {key: shown(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray | type(K.DEQUE)):
        return type(value).__name__, [shown(one) for one in value]
    if isinstance(value, BaseException | K.functools.partial):
        return type(value).__name__, shown(value.args)
    if isinstance(value, types.FunctionType):
        return [shown(cell.cell_contents) for cell in value.__closure__ or ()]
    if type(value).__name__ == "Box":
        return shown(vars(value))
    return type(value).__name__, repr(value)


def world():
    simple = [K.SIMPLE.get() for _ in range(K.SIMPLE.qsize())]
    for one in simple:
        K.SIMPLE.put(one)
    apart = (
        "SIMPLE",
        "QUEUE",
        "LOG",
        "KEY",
        "DRAWN",
        "NEXT",
        "PROXY",
        "SIZED",
        "ODD",
        "STEPS",
        "LARGE",
        "BEGUN",
        "TAKEN",
    )
    held = {name: one for name, one in vars(K).items() if name.isupper() and name not in apart}
    held |= {"simple": simple, "queue": list(K.QUEUE.queue), "CONTEXT": K.CONTEXT.get(), "put": K.put}
    held |= {"OF_THREAD": vars(K.OF_THREAD), "SLOTS": getattr(K.SLOTS, "v", None), "records": K.Handler.records}
    held |= {"items": K.Register.items, "kept": K.default.__defaults__, "attribute": vars(K.attribute)}
    held |= {"WEAK": list(K.WEAK.values()), "OfMeta": K.OfMeta.all, "Meta": vars(K.Meta).get("last")}
    return shown(held | {"cached": K.cached(3), "more": MORE.KEPT, "large": K.LARGE[20_000:]})


def holds(x):
    with K.BOX.holding(x * 2) as v:
        return v + 1


def sets(x):
    K.BOX.of = x * 2
    K.box().v = x + 1


def appends(x):
    K.box().all.append(x * 2)
    K.DEQUE.append(x + 1)


def in_a_loop(x):
    while x.sum() < 20:
        x = x + 1
        K.keep(x * 2)
    return x


def in_a_branch(x):
    if x.sum() > 2:
        K.BOX.put(x * 2)
    return x


def imported(x):
    from keeping import keep as other

    return other(x * 2)


def counts(x):
    K.count(x)
    K.keep(len(x))
    return x * 2


def decorated(x):
    return K.decorator(np.sum)(x)


NAMES = (
    "keep last late name attribute default put partial caught instance later queued pushed of_thread in_context "
    "ordered of_objects logged dispatched weak of_class in_cache counted by_import beside"
)
KEEPING = [
    *[lambda x, name=name: (getattr(K, name)(x * 2), x + 1)[1] for name in NAMES.split()],
    *(holds, sets, appends, in_a_loop, in_a_branch, imported, counts, decorated),
    lambda x: K.drawn(x), lambda x: K.numbered(x),
    lambda x: K.BOX.put(x * 2), lambda x: K.BOX(x * 2), lambda x: K.BOX @ (x * 2), lambda x: K.SLOTS.put(x * 2),
    lambda x: K.Register.add(x * 2), lambda x: K.keep(x), lambda x: K.keep([x + 1]), lambda x: K.keep(float(x[0])),
    lambda x: x + sum(K.generated(x * 2)), lambda x: (K.Register(x * 2), x)[1], lambda x: (K.SIMPLE.put(x * 2), x)[1],
    lambda x: (K.CONTEXT.set(x * 2), x)[1], lambda x: setattr(K.OF_THREAD, "v", x * 2),
]  # fmt: skip


def outcome(function):
    """Return what a function gives and what is kept at each call, beginning with the library as it is at first."""
    exec(CODE, vars(K))
    MORE.KEPT.clear()
    return [(shown(function(np.ones(2) + k)), world()) for k in range(2)]


@each(KEEPING)
def test_what_is_kept_is_what_plain_python_keeps(f):
    assert outcome(al.function(f)) == outcome(f)


@each([in_a_loop, counts, holds])
def test_each_executor_keeps_it(f):
    for executor in INTERPRETED:
        assert outcome(al.function(f, executor=executor)) == outcome(f)


def test_what_other_threads_take_meanwhile_stays_taken():
    exec(CODE, vars(K))
    K.KEPT[:] = ["first", "second"]
    ended = threading.Event()

    def take():
        K.BEGUN.wait()
        K.KEPT.pop(0)
        K.TAKEN.set()
        ended.wait()

    other = threading.Thread(target=take)
    other.start()
    al.function(lambda x: K.meet(x * 2))(np.ones(2))
    ended.set()
    other.join()
    assert shown(K.KEPT) == shown(["second", np.full(2, 2.0)])


def test_an_object_of_the_librarys_among_the_arguments_keeps_it():
    for f in (lambda x, box: box.put(x * 2), lambda x, box: K.keep(box.put(x))):
        told = []
        for called in (f, al.function(f)):
            box = K.Box()
            K.own = box  # what its own module holds is a part of the library
            told.append([(shown(called(np.ones(2) + k, box)), shown(box)) for k in range(2)])
        assert told[0] == told[1]


def test_a_class_that_extends_one_of_the_librarys_keeps_it():
    class Own(K.Register):
        def __init__(self, v):
            super().__init__(v)

    al.function(lambda x: (Own(x * 2), x)[1])(np.ones(2))
    assert shown(K.Register.items) == shown([np.full(2, 2.0)])


def test_one_warning_names_the_place_and_the_line():
    f = al.function(lambda x: K.keep(x * 2))
    with pytest.warns(UserWarning, match=r"'keeping.KEPT', of an installed library, keeps a value of the run \(test_"):
        f(np.ones(2))
    counted = al.function(lambda x: K.count(x))
    counted(np.ones(2))
    with pytest.warns(UserWarning, match="'keeping.COUNT', of an installed library, changes, which no graph can do"):
        counted(np.ones(2))


def test_nothing_is_left_where_a_graph_is_demanded():
    K.KEPT.clear()
    f = al.function(lambda x: K.keep(x * 2).sum())
    with pytest.raises(TypeError, match="no graph: 'keeping.KEPT', of an installed library, keeps a value of the run"):
        f.get_concrete_function(np.ones(2))
    with pytest.raises(TypeError, match="has no gradient: 'keeping.KEPT'"):
        al.grad(f)(np.ones(2))
    assert K.KEPT == []


def test_what_is_only_counted_happens_once_where_a_graph_is_demanded():
    K.COUNT = 0
    assert (al.grad(al.function(lambda x: (K.count(x) ** 2).sum()))(np.ones(2)) == 2).all()
    assert K.COUNT == 1


@each([lambda x: x * K.table(3), lambda x: x * K.made(), lambda x: K.passed(x + 1)["v"][0] * 2, lambda x: x * K.LEN])
def test_a_library_that_keeps_no_value_of_the_run_is_in_the_graph(f):
    K.LEN = 2
    traced = al.function(f)
    traced.get_concrete_function(np.ones(2))
    for k in range(3):
        assert shown(traced(np.ones(2) + k)) == shown(f(np.ones(2) + k))
    assert traced.tracing_count == 1


def test_an_error_in_the_middle_leaves_what_plain_python_leaves():
    def f(x):
        K.keep(x * 2)
        raise ValueError("no")

    told = []
    for called in (f, al.function(f)):
        K.KEPT.clear()
        with pytest.raises(ValueError, match="no"):
            called(np.ones(2))
        told.append(shown(K.KEPT))
    assert told[0] == told[1]


def test_a_function_that_nobody_has_decorated_leaves_values_or_is_refused():
    def f(x):
        K.keep((x * 2, 1))
        K.last(x)
        return (x * x).sum()

    exec(CODE, vars(K))
    assert (al.grad(f)(np.ones(2)) == 2).all()
    assert shown([K.KEPT, K.LAST]) == shown([[(np.full(2, 2.0), 1)], np.ones(2)])
    exec(CODE, vars(K))
    for call in (
        lambda: al.map_fn(lambda v: K.keep(v), np.ones(2)),
        lambda: al.while_loop(lambda i: i < 3, lambda i: (K.BOX.put(i), K.count(i) + 1)[1], [al.constant(0)]),
    ):
        with pytest.raises(TypeError, match=r"(KEPT|BOX)', which the function finds, would hold a symbolic tensor"):
            call()
    assert (K.KEPT, K.BOX.v, K.COUNT) == ([], None, 0)


def counts_at_the_left(x):
    K.DEQUE.appendleft(len(x))
    return x * 2


@each([counts, counts_at_the_left])
def test_beside_other_threads_what_was_there_twice_is_taken_out_once(f):
    ended = threading.Event()
    other = threading.Thread(target=ended.wait)
    other.start()
    try:
        assert outcome(al.function(f)) == outcome(f)
    finally:
        ended.set()
        other.join()
