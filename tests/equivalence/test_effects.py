"""Every effect happens at every call, in program order."""

import sys
import time
import warnings
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import needs_native
from programs_of_effects import EACH, FRESH, LEFT, SETTINGS, STAGED
from worlds import module, played, world

ONE = np.ones(3)
EXECUTORS = ("auto", "sequential", "dataflow")


def first(name, *_):
    return str(name)


def compared(name, program, executor):
    """Check that a program does decorated what it does plain; return why it ran as plain Python."""
    text = module(*program)
    expected, _ = played(name, text)
    found, reasons = played(name, text, executor)
    for one, other in zip(expected, found, strict=True):
        assert one == other
    return reasons


@each(LEFT, first)
def test_what_only_python_can_do_again(name, *program):
    (reason,) = compared(name, program, "auto")
    assert f"(<world {name}>:" in reason and "which no graph can do again at each call" in reason


@each(SETTINGS, first)
def test_settings_of_numpys_hold_as_long_as_in_python(name, *program):
    def done(executor):
        text, settings = module(*program), (np.geterr(), np.geterrcall(), np.getbufsize(), np.get_printoptions())
        try:
            return played(name, text, executor)
        finally:
            np.seterr(**settings[0])
            np.seterrcall(settings[1])
            np.setbufsize(settings[2])
            np.set_printoptions(**settings[3])

    (expected, _), (found, reasons) = done(None), done("auto")
    assert repr(found) == repr(expected)
    assert len(reasons) == 1 and "which no graph can do again at each call" in reasons[0]


@each(["sequential", "dataflow"])
def test_it_does_not_matter_what_would_have_run_it(executor):
    for name, *program in LEFT[:5]:
        assert len(compared(name, program, executor)) == 1


@each(FRESH, first)
def test_what_begins_anew_is_done_while_tracing(name, *program):
    assert compared(name, program, "auto") == []


#: an executor does the same whatever the effect is: all are asked of one, some of each other
ASKED = {"auto": EACH, "sequential": EACH[::4], "dataflow": EACH[1::4]}


@each(
    [(executor, *program) for executor, programs in ASKED.items() for program in programs],
    lambda *case: f"{case[0]}, {case[1]}",
)
def test_what_each_run_does(executor, name, *program):
    assert compared(name, program, executor) == []


# what a first run sets a second one finds set: see above
@each([one for one in STAGED if "np.seterr" not in one[1]], first)
def test_plain_python_does_it_in_loops_and_branches(reason, *program):
    (told,) = compared("staged", program, "auto")
    assert reason in told and "which is traced once" in told


@each(STAGED, first)
def test_a_refusal_comes_before_anything_has_moved(reason, body, top, state):
    text = module(body, top, state)
    moved = module("return x", top, state)
    found, _ = played("refused", text, "native")
    expected, _ = played("refused", moved)
    for (result, x, left, *_), (_, given, untouched, *_) in zip(found, expected, strict=True):
        assert result[0] is TypeError and reason in result[1] and "which is traced once" in result[1], result
        assert (x, left) == (given, untouched)


# -- whoever needs a graph ------------------------------------------------------------------------------------


def advancing(numbers=None):
    numbers = iter(range(100)) if numbers is None else numbers

    def f(x):
        total = x.sum()
        return total * next(numbers)

    return f, numbers


WHY = "the range_iterator 'numbers' is advanced"


@needs_native
def test_machine_code_refuses_in_the_same_words():
    f, numbers = advancing()
    with pytest.raises(TypeError, match=f"executor='native' cannot run f: {WHY}"):
        al.function(f, executor="native")(ONE)
    assert next(numbers) == 0


def test_gradients_refuse_in_the_same_words():
    f, numbers = advancing()
    with pytest.raises(TypeError, match=f"f has no gradient: {WHY}"):
        al.grad(al.function(f))(ONE)
    with pytest.raises(TypeError, match=f"f has no graph: {WHY}"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        al.function(f).get_concrete_function(ONE)
    assert next(numbers) == 0


def test_explain_tells_why():
    f, numbers = advancing()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # which is for a call
        told = al.explain(al.function(f), ONE)
    assert told.executor == "plain Python" and WHY in told.reason and "test_effects.py:" in told.reason
    assert "no loop was reached" not in str(told)
    assert next(numbers) == 0


def test_one_warning_at_the_users_line():
    f, _ = advancing()
    g = al.function(f)
    with pytest.warns(UserWarning, match="f runs as plain Python") as told:
        values = [float(g(ONE)) for _ in range(3)]
    assert values == [0.0, 3.0, 6.0] and len(told) == 1
    assert told[0].filename == __file__


def test_a_function_called_from_another_lets_that_run_as_plain_python():
    f, numbers = advancing()
    inner = al.function(f)
    outer = al.function(lambda x: inner(x) + 1.0)
    with pytest.warns(UserWarning, match="runs as plain Python"):
        assert [float(outer(ONE)) for _ in range(3)] == [1.0, 4.0, 7.0]
    assert next(numbers) == 3


def test_its_exceptions_are_those_of_plain_python():
    f, _ = advancing(iter([1, 2]))
    g = al.function(f)
    with pytest.warns(UserWarning, match="runs as plain Python"):
        assert [float(g(ONE)), float(g(ONE))] == [3.0, 6.0]
    with pytest.raises(StopIteration) as raised:
        g(ONE)
    assert raised.value.__context__ is None and raised.value.__cause__ is None


def test_some_calls_only():
    numbers = iter(range(9))

    @al.function
    def f(x, moving):
        return x + next(numbers) if moving else x * 2

    assert f(1.0, False) == 2.0 and f(1.0, False) == 2.0
    with pytest.warns(UserWarning, match="runs as plain Python"):
        assert [f(1.0, True), f(1.0, True)] == [1.0, 2.0]
    assert al.explain(f, 1.0, False).executor != "plain Python"


def test_under_a_tape():
    f, _ = advancing()
    g, x = al.function(f), al.constant(ONE)
    with pytest.warns(UserWarning, match="runs as plain Python"):
        g(x)
    with al.GradientTape() as tape:
        tape.watch(x)
        y = g(x)
    assert tape.gradient(y, x).numpy().tolist() == [1.0, 1.0, 1.0]


def test_a_function_that_is_given_back_keeps_values():
    @al.function
    def f(x):
        total = x.sum()
        return (lambda v: v * total), (v * total for v in (1.0, 2.0))

    with pytest.warns(UserWarning, match="a function that holds values of the graph"):
        times, products = f(ONE)
    assert times(2.0) == 6.0 and list(products) == [3.0, 6.0]


# -- warnings and clocks --------------------------------------------------------------------------------------


def warned_under(action, function):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter(action)
        for _ in range(3):
            function(ONE)
    return [(str(one.message), one.filename, one.lineno) for one in told]


def test_filters_tell_what_the_plain_function_would_tell():
    for action in ("once", "default", "always", "ignore", "module"):
        text = module("warnings.warn('w')\nfor k in range(2):\n    warnings.warn(f'{k}')\nreturn x")
        made = []
        for executor in (None, *EXECUTORS):
            program = world(f"warnings {action}", text)["f"]
            f = program if executor is None else al.function(program, executor=executor)
            made.append(warned_under(action, f))
        assert made[0] == made[1] == made[2] == made[3], action


@each(EXECUTORS)
def test_a_warning_that_is_an_error_is_raised_at_the_users_line(executor):
    @al.function(executor=executor)
    def f(x):
        total = x.sum()
        warnings.warn(f"of {total}", RuntimeWarning, stacklevel=1)
        return total

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match=r"of 3\.0") as raised:
            f(ONE)
    assert Path(raised.traceback[-1].path).name == Path(__file__).name
    assert "warnings.warn(" in str(raised.traceback[-1].statement)


def test_a_warning_of_the_caller_names_the_caller():
    @al.function(executor="sequential")
    def f(x):
        warnings.warn("above", stacklevel=2)
        return x

    with pytest.warns(UserWarning, match="above") as told:
        f(ONE), f(ONE)
    line = sys._getframe().f_lineno - 1
    assert [(one.filename, one.lineno) for one in told] == [(__file__, line)] * 2


@each(EXECUTORS)
def test_a_clock_is_read_when_the_loop_before_it_is_done(executor):
    @al.function(executor=executor)
    def f(n):
        begun = time.perf_counter()
        i = 0
        while i < n:
            time.sleep(0.002)
            i += 1
        return time.perf_counter() - begun

    assert f(np.int64(3)) >= 0.006 and type(f(np.int64(1))) is float


def test_a_clock_reads_the_end_of_work_without_effects():
    @al.function(executor="dataflow")
    def f(x, n):
        begun = time.perf_counter()
        i = 0
        while i < n:
            x = np.sin(x)
            i += 1
        return x, time.perf_counter() - begun

    def share(n):
        begun = time.perf_counter()
        _, told = f(ONE, np.int64(n))
        return told / (time.perf_counter() - begun)

    share(2)
    assert any(share(20_000) > 0.3 for _ in range(5))  # others may be at work before the first clock and after the last


def test_explain_lists_what_each_run_does():
    def f(x):
        warnings.warn("w", stacklevel=1)
        return x + time.time()

    calls = al.explain(f, ONE).calls
    assert [(one.name, one.each) for one in calls] == [("warn", True), ("time", True)]
    assert all(one.line.filename == __file__ for one in calls)


def test_print_wants_text_between_and_behind():
    f = al.function(lambda x, sep: print(x, x, sep=sep))
    with pytest.raises(TypeError, match="sep must be None or a string, not int"):
        f(ONE, 3)
