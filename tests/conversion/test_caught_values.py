"""What functions of Python's say of values, caught by the user's own handlers: plain Python hears it."""

import linecache
import math
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each

F, N = np.float64, np.int64
#: an expression, what is caught, a value that gives a number, and one that raises
RAISING = [
    ("math.log10(abs(v))", ValueError, F(2.0), F(0.0)),
    ("math.sqrt(v)", ValueError, F(4.0), F(-1.0)),
    ("math.log(8.0, v)", ArithmeticError, F(2.0), F(1.0)),
    ("math.gamma(v)", ValueError, F(2.0), F(0.0)),
    ("math.exp(v)", OverflowError, F(2.0), F(1e4)),
    ("math.comb(5, int(v))", ValueError, N(2), N(-1)),
    ("math.floor(v)", ValueError, F(2.5), F(np.nan)),
    ("int(v)", ValueError, F(2.0), F(np.nan)),
    ("int(v)", OverflowError, F(2.0), F(np.inf)),
    ("round(float(v))", ValueError, F(2.5), F(np.nan)),
    ("1 << int(v)", ValueError, N(2), N(-1)),
    ("8 >> int(v)", ValueError, N(2), N(-1)),
    ("1 // int(v)", ZeroDivisionError, N(2), N(0)),
    ("sum(range(0, 5, int(v)))", ValueError, N(2), N(0)),
    ("chr(int(v))", ValueError, N(65), N(-1)),
    ("'abc'[int(v)]", IndexError, N(2), N(5)),
    ("'%d' % v", ValueError, F(2.0), F(np.nan)),
    ("format(float(v), 'd')", ValueError, F(2.0), F(2.0)),
]


def caught(expression, kind):
    source = f"def f(v):\n    try:\n        return {expression}\n    except {kind.__name__}:\n        return 'caught'\n"
    name, space = f"<caught {expression} {kind.__name__}>", {"math": math, "np": np}
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), space)
    return space["f"]


@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
@each(RAISING)
def test_a_handler_hears_of_values(expression, kind, good, bad):
    f = caught(expression, kind)
    decorated = al.function(f)
    for value in (good, bad, good, bad):
        assert repr(decorated(value)) == repr(f(value))
    assert f(bad) == "caught"


def test_texts_that_any_value_has_stay_in_the_graph():
    @al.function
    def said(v):
        try:
            return f"{v:.3f} {v!r:>10}" + "%.2f %s" % (v, v) + str(v).upper() + format(v, ".2e")  # noqa: UP031
        except ValueError:
            return "none"

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in (F(1.5), F(np.nan)):
            assert said(value) == said.python_function(value)
    assert said.tracing_count == 1


def steps(v):
    return list(range(0, 5, int(v)))


def steps_of_a_loop(v):
    total = 0
    for k in range(0, 5, v):
        total += k
    return total


@each([(f, executor) for f in (steps, steps_of_a_loop) for executor in ("auto", "sequential", "dataflow")])
def test_a_step_of_zero_is_refused_in_pythons_words(f, executor):
    decorated = al.function(f, executor=executor)
    assert decorated(N(2)) == f(N(2))
    with pytest.raises(ValueError, match=r"range\(\) arg 3 must not be zero"):
        decorated(N(0))


def picks(v):
    return np.random.default_rng(0).choice(2, 6, p=v)


def test_a_generator_of_the_functions_own_is_given_what_the_run_has():
    decorated = al.function(picks)
    for p in (0.1, 0.5, 0.9):
        assert decorated(np.array([p, 1 - p])).tolist() == picks(np.array([p, 1 - p])).tolist()
    assert decorated.tracing_count == 1
    with pytest.raises(ValueError, match="do not sum to 1"):
        decorated(np.ones(2))
    assert decorated(al.constant([0.5, 0.5], al.float64)).numpy().tolist() == picks(np.full(2, 0.5)).tolist()
