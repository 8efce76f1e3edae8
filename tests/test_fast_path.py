"""Calls that go straight to what runs them, once there were many of their kind, do what the first one did."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import threading
import warnings
from dataclasses import dataclass
from typing import Any

import autoloop as al
import numpy as np
import pytest
from api import automatic
from each_case import each

N = 2.0
GIVEN = np.arange(3.0)


def add(x, y):
    return x + y


def both(x, y):
    return x + y, x * y


def listed(x, y):
    return [x, y + 1]


def nothing(x):
    return None


def itself(x, y):
    return x


def halved(x, n=2):
    while x > n:
        x = x / 2
    return x


def outside(x):
    return x * N + GIVEN[0]


def written(x, y):
    x[0] = y
    return x


def added(x, y):
    x += y


def swapped(x, y):
    x[0], y[0] = y[1], x[1]


def sent_on(x):
    x[1] = N
    GIVEN[1] = x[0]


def one(x):
    return 1.5


def failing(x, y):
    if y > 2:
        raise ValueError("too large")
    return x + y


def keyed(x, *, y=1):
    return x + y


def counted(n):
    i = s = al.constant(0)
    while i < n:
        i, s = i + 1, s + i
    return s


def read(x):  # plain Python runs it
    with open(__file__) as file:
        return x + len(file.readline())


class Sub(np.ndarray):
    pass


F, I, A = np.float64, np.int64, np.arange  # noqa: E741
READ_ONLY = A(3.0)
READ_ONLY.flags.writeable = False
#: what a call may give besides what there were many of: other types, dtypes, shapes, layouts, values
OTHERS: list[Any] = [
    F(2.5), np.float32(2.5), I(3), np.int32(3), np.longlong(3), 3, 3.0, True, None, 2.5 + 1j, -0.0,
    float("nan"),
    A(3.0), A(3), A(4.0), A(6.0)[::2], A(9.0).reshape(3, 3), A(9.0).reshape(3, 3).T, np.array(1.5), A(3.0).view(Sub),
    A(3.0).astype(">f8"), READ_ONLY, al.constant(3), al.constant(2.5), al.constant([1.0, 2.0, 3.0]), np.True_, "a",
]  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """Calls of one kind: the function, the arguments that come again and again, and which is one of others."""

    f: Any
    args: tuple[Any, ...]
    straight: bool = True


KINDS = {
    "scalars": Kind(add, (F(1), F(2))),
    "ints": Kind(add, (I(1), I(2))),
    "arrays": Kind(add, (A(3.0), A(3.0))),
    "array and number": Kind(add, (A(3.0), 2)),
    "tensors": Kind(add, (al.constant(1), al.constant(2))),
    "tensors with axes": Kind(add, (al.constant([1.0]), al.constant([2.0]))),
    "a tuple": Kind(both, (F(1), A(3.0))),
    "a list": Kind(listed, (A(3.0), F(1))),
    "None": Kind(nothing, (A(3.0),)),
    "an argument": Kind(itself, (A(3.0), F(1))),
    "a loop": Kind(halved, (F(9), F(2))),
    "a loop of tensors": Kind(counted, (al.constant(3),)),
    "a default": Kind(halved, (F(9),)),
    "globals": Kind(outside, (F(9),)),
    "an argument that is written to": Kind(written, (A(3.0), F(1))),
    "what is added to": Kind(added, (A(3.0), A(3.0))),
    "two arrays that are written to": Kind(swapped, (A(3.0), A(3.0))),
    "a global that is written to": Kind(sent_on, (A(3.0),)),
    "a constant": Kind(one, (A(3.0),)),
    "what raises": Kind(failing, (F(1), F(1))),
    "named only": Kind(keyed, (A(3.0),)),
    "Python numbers": Kind(add, (1.5, 2)),
    "plain Python": Kind(read, (F(1),)),
}


def told(f, args, kwargs):
    """What a call gives and leaves: values, types, dtypes, layouts; or what it raises."""
    args = copy.deepcopy(args)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            given = f(*args, **kwargs)
    except Exception as error:
        return type(error), described(args)
    return described(given), described(args), [given is one for one in args]


def described(value):
    if isinstance(value, (tuple, list)):
        return type(value), [described(one) for one in value]
    if isinstance(value, al.Tensor):
        return "tensor", described(value.numpy())
    if isinstance(value, np.ndarray):
        return type(value), value.dtype, value.shape, value.flags.writeable, value.tobytes()
    return type(value), repr(value)


def often(f, args, kwargs=None, count=40):
    for _ in range(count):
        made = f(*copy.deepcopy(args), **(kwargs or {}))
    return made


def is_on_it(f):
    """Whether calls of ``f`` ask a fast path first."""
    return f.entry.__globals__["_autoloop_call"].__code__.co_filename == "<autoloop call>"


@pytest.mark.filterwarnings("ignore:.* runs as plain Python", "ignore:.* was traced")
@each(KINDS)
def test_other_calls_are_made_as_ever(name):
    """Between calls of the kind that comes often any other one is what it is to a function that was just decorated."""
    kind = KINDS[name]
    f, usual, args = al.function(kind.f), al.function(kind.f), kind.args
    usual._paths._main._left = 1 << 30
    often(f, args)
    assert is_on_it(f)
    calls: list[tuple[Any, Any]] = [
        ((*args[:k], other, *args[k + 1 :]), {})
        for k in range(len(args))
        for other in OTHERS[(k + [*KINDS].index(name)) % 8 :: 8]  # each takes time to trace
    ]
    calls += [((*args, F(1)), {}), (args[:-1], {}), ((), {}), (args[:-1], {"y": args[-1]}), (args, {"z": 1})]
    for other, named in calls:
        if not any(isinstance(one, np.ndarray) and one.dtype.byteorder == ">" for one in other):
            assert told(f, other, named) == told(usual, other, named), (other, named)
        assert told(f, args, {}) == told(usual, args, {})


@pytest.mark.filterwarnings("ignore:.* was traced")
def test_several_kinds_of_calls_take_turns():
    f = al.function(add)
    kinds = [
        (F(1), F(2)),
        (I(1), I(2)),
        (A(3.0), F(1)),
        (A(4.0), F(1)),
        (A(5.0), A(5.0)),
        (al.constant(1), al.constant(2)),
        (2, 3),
    ]
    for args in [args for args in kinds for _ in range(300)] + kinds * 30:
        assert told(f, args, {}) == told(add, args, {})
    assert f.tracing_count == len(kinds)


def test_what_a_function_reads_is_read_at_each_call(monkeypatch):
    f = al.function(outside)
    for n, first in itertools.product((2.0, 3.0, np.float64(4), 2), (0.0, 1.0)):
        monkeypatch.setitem(globals(), "N", n)
        GIVEN[0] = first
        assert often(f, (F(5),)) == outside(F(5)) == 5 * n + first
    GIVEN[0] = 0.0


def test_numbers_that_keep_changing():
    f = al.function(lambda x, n: x * n + n)
    for n in itertools.chain(range(60), (0.5 * k for k in range(60)), (1 << 62, (1 << 63) - 1, -5)):
        made, plain = f(F(2), n), F(2) * n + n
        assert made == plain and type(made) is type(plain)
    with pytest.raises(OverflowError):
        al.function(lambda x, n: x[0] * n)(A(3), 1 << 70)


def test_results_are_the_callers_own():
    f, again = al.function(add), al.function(itself)
    x, y = A(3.0), A(3.0)
    first = often(f, (x, y))
    first[:] = 7
    assert f(x, y).tolist() == [0, 2, 4] and f(x, y) is not f(x, y)
    often(again, (x, y))
    assert again(x, y) is x


@pytest.mark.filterwarnings("ignore:.* runs as plain Python")
@each({"added": added, "swapped": swapped, "written": written})
def test_arrays_that_lie_otherwise(name):
    """The same array twice, parts of one, and such as may not be written to."""
    f, plain = al.function(globals()[name]), globals()[name]
    often(f, (A(3.0), A(3.0)) if name != "written" else (A(3.0), F(1)))
    assert is_on_it(f)
    ways = (
        lambda x: (x[:3], x[:3]),
        lambda x: (x[1:4], x[:3]),
        lambda x: (x[:6:2], x[3:6]),
        lambda x: (x[2::-1], x[3:6]),
        lambda x: (np.broadcast_to(x[:1], 3), x[:3]),
        lambda x: (one := x[:3].copy(), one),
        lambda x: (x[:3].copy(), np.broadcast_to(x[:1], 3)),
    )
    for way in ways:
        x, y = A(6.0), A(6.0)
        mine, theirs = way(x), way(y)
        second = slice(None) if name != "written" else 0
        made = [outcome(g, one, other[second]) for g, (one, other) in ((f, mine), (plain, theirs))]
        if made[0] is not TypeError:  # refused
            assert made[0] == made[1] and described((x, *mine)) == described((y, *theirs))


def outcome(f, *args):
    try:
        return described(f(*args))
    except Exception as error:
        return type(error)


def test_errors_of_floating_point_are_told_where_they_are_asked_for():
    f = al.function(lambda x, y: x / y)
    assert often(f, (F(1), F(0))) == np.inf
    with np.errstate(divide="raise"):
        for _ in range(3):
            with pytest.raises(FloatingPointError):
                f(F(1), F(0))
    assert f(F(1), F(0)) == np.inf
    before = np.seterr(divide="raise")
    try:
        with pytest.raises(FloatingPointError):
            f(F(1), F(0))
    finally:
        np.seterr(**before)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(f(F(1), F(0)))
    with pytest.warns(RuntimeWarning):
        F(1) / F(0)  # what was silenced is not any more


def test_tapes_and_gradients_see_what_is_computed():
    f = al.function(lambda x: x * x * x)
    x = al.constant(2.0)
    often(f, (x,))
    with al.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == 12
    often(f, (F(2),))
    assert al.grad(f)(F(2)) == 12 and f(F(2)) == 8


def test_calls_inside_traces_are_parts_of_these():
    inner = al.function(add)
    often(inner, (F(1), F(2)))
    outer = al.function(lambda x, y: inner(x, y) * inner(y, y))
    assert often(outer, (F(1), F(2))) == 12 and outer(F(2), F(2)) == 16

    @al.function
    def factorial(n, x):
        return x if n == 0 else factorial(n - 1, x * n)

    assert often(factorial, (5, F(1))) == 120


def test_timelines_show_the_call(tmp_path):
    f = al.function(add)
    often(f, (F(1), F(2)))
    with al.profiler.trace(str(tmp_path / "trace.json")):
        assert f(F(1), F(2)) == 3
    assert "add" in (tmp_path / "trace.json").read_text()


def test_methods_have_their_own_instances():
    class Model:
        def __init__(self, w):
            self.w = w

        @al.function
        def scaled(self, x):
            return x * self.w

        @al.function
        def named(self, x):
            with open(__file__) as file:
                return x + len(file.readline()) * self.w

    one, other = Model(2.0), Model(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("scaled", "named"):
            for model in (one, other, one):
                assert often(getattr(model, name), (F(2),)) == getattr(Model, name).python_function(model, F(2))
            one.w = 5.0
            assert getattr(one, name)(F(2)) == getattr(Model, name).python_function(one, F(2))


def test_tracebacks_show_the_users_lines_only():
    f = al.function(failing)
    often(f, (F(1), F(1)))
    with pytest.raises(ValueError, match="too large") as caught:
        f(F(1), F(3))
    files = {entry.path.name for entry in caught.traceback}
    assert files == {"test_fast_path.py"} and caught.value.__context__ is None
    with pytest.raises(TypeError) as caught:
        f(F(1))
    assert not isinstance(caught.value.__context__, ValueError)


def test_threads_call_one_function_at_the_same_time():
    f, wrong = al.function(add), []

    def many(k):
        for turn in range(400):
            args = (F(k), F(turn)) if turn % 7 else (A(3.0) + k, F(turn))
            if not np.array_equal(f(*args), add(*args)):
                wrong.append(args)

    threads = [threading.Thread(target=many, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and f.tracing_count == 2


class Stop(BaseException):
    pass


def test_what_interrupts_a_call_leaves_nothing_behind(monkeypatch):
    """An interrupt comes out of the call, and what NumPy warned of before it warns of again."""
    f = al.function(lambda x: np.exp(x) + 1)
    often(f, (A(3.0),))

    def stopped(*args):
        raise Stop

    monkeypatch.setitem(f.entry.__globals__["_autoloop_call"].__globals__, "function", stopped)
    for _ in range(2):
        with pytest.raises(Stop):
            f(A(3.0))
    with pytest.warns(RuntimeWarning):
        F(1) / F(0)
    monkeypatch.undo()

    def stopped_at_once():
        np.seterr(all="ignore")
        raise Stop  # as a signal handler may where warnings have just been switched off

    monkeypatch.setitem(f.entry.__globals__["_autoloop_call"].__globals__, "silence", stopped_at_once)
    with pytest.raises(Stop):
        f(A(3.0))
    with pytest.warns(RuntimeWarning):
        F(1) / F(0)
    monkeypatch.undo()
    assert f(A(3.0))[0] == 2


@al.function
def decorated(x):
    return x + 1


def test_functions_are_sent_as_before():
    often(decorated, (F(1),))
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    assert copy.deepcopy(decorated) is decorated


@pytest.mark.auto
def test_calls_that_go_straight_count_towards_machine_code(monkeypatch):
    """What one timed call of many took is counted for all of them."""
    for name in ("SMALLEST", "SHORT"):  # however long a busy machine takes, it stays at counting
        monkeypatch.setattr(automatic, name, math.inf)
    f = al.function(halved)
    often(f, (F(3),), count=100)
    tally = f.trace_for(F(3)).runner.straight().tally
    calls = tally.calls
    often(f, (F(3),), count=160)
    assert is_on_it(f) and 130 <= tally.calls - calls <= 190
