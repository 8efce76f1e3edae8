"""Functions that are made anew for each call, closures, lambdas, partials and methods, share traces by their code."""

import contextlib
import functools
import io

import autoloop as al
import numpy as np
import programs_of_functions_told_apart
import programs_of_made_callables
import pytest
from each_case import each
from executors import EXECUTORS
from programs_of_made_functions import PROGRAMS

assert programs_of_functions_told_apart and programs_of_made_callables  # which are among the PROGRAMS
#: what is not run at night alone
BY_DAY = (
    *("arrays", "nonlocal_writes", "shared_cell", "closures_over_closures", "recursion", "other_globals"),
    *("partial_written", "aliased_cells", "cell_emptied", "global_function", "same_twice", "attr_of_global"),
)


def told(value):
    if isinstance(value, np.ndarray):
        return value.dtype, np.round(value, 9).tolist()
    if isinstance(value, list | tuple | dict):
        return type(value), [told(one) for one in (value.items() if isinstance(value, dict) else value)]
    return type(value), None if callable(value) else repr(value)


def played(program, decorate):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        found = program(decorate)
    return told(found), text.getvalue()


def compared(name, executor):
    program = PROGRAMS[name]
    try:
        found = played(program, lambda f: al.function(f, executor=executor))
    except (TypeError, NotImplementedError) as error:
        assert "executor='native' cannot" in str(error)
        return
    assert found == played(program, lambda f: f)


@pytest.mark.filterwarnings("ignore:.*runs as plain Python", "ignore:.*was traced")
@each([(name, "sequential") for name in BY_DAY])
def test_each_does_what_python_does(name, executor):
    compared(name, executor)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:.*runs as plain Python", "ignore:.*was traced")
@each([(name, executor) for name in PROGRAMS for executor in EXECUTORS])
def test_each_does_under_every_executor(name, executor):
    compared(name, executor)


def descent(f, x):
    return x - 0.5 * f(x)


def decorated_descent(calls):
    """Call a decorated function with what is made for each call; return how many traces there were."""
    solve = al.function(descent, executor="sequential")
    for k in range(12):
        f = calls(k)
        np.testing.assert_array_equal(solve(f, np.arange(3.0)), descent(f, np.arange(3.0)))
    return solve.tracing_count


def scaled(k, x):
    return x * k


class Spring:
    def __init__(self, k):
        self.k = np.full(3, k)

    def force(self, x):
        return x * self.k


@each([
    (lambda k: lambda x: x + np.full(3, k), 6),
    (lambda k: lambda x, k=k: x * k, 6),
    (lambda k: lambda x, *, w=np.full(3, k): x * w, 1),
    (lambda k: functools.partial(scaled, float(k)), 6),
    (lambda k: functools.partial(scaled, np.full(3, k)), 1),
    (lambda k: functools.partial(lambda x, k: x * k, k=float(k)), 6),
    (lambda k: Spring(k).force, 1),
    (lambda k: al.function(lambda x: x * float(k)), 6),
])  # fmt: skip
def test_functions_of_one_code_share_traces(calls, most):
    assert decorated_descent(calls) <= most  # numbers are inputs from the sixth on


def test_methods_of_decorated_functions_compare_as_methods_do():
    class Model:
        @al.function
        def step(self, x):
            return x

    one, other = Model(), Model()
    assert one.step == one.step and hash(one.step) == hash(one.step)
    assert one.step != other.step and one.step != 1
