"""A function that arrives by value more than once: traced once where it cannot change, anew where it can."""

from __future__ import annotations

import textwrap

import autoloop as al
import numpy as np
import pytest

cloudpickle = pytest.importorskip("cloudpickle")

PROGRAM = """
    import autoloop as al
    import math
    import numpy as np

    SCALE = 2.0
    SEEN = []
    COUNT = 0
    TABLE = np.ones(3)

    def helper(x):
        return np.sin(x) * SCALE

    @al.function
    def plain(x, n):
        i = 0
        while i < n:
            x = x + helper(x) * math.pi
            i += 1
        return x

    @al.function
    def calls_itself(n, x=1.0):
        return x if n <= 1 else calls_itself(n - 1, x * n)

    @al.function
    def appending(x):
        SEEN.append(1)
        return x + len(SEEN)

    @al.function
    def counting(x):
        global COUNT
        COUNT += 1
        return x + COUNT

    @al.function
    def reaching(x):
        globals()["COUNT"] += 1
        return x + COUNT

    @al.function
    def writing(x):
        TABLE[0] += x
        return TABLE[0]

    def made(k):
        count = 0

        @al.function
        def inner(x):
            return x * k

        @al.function
        def binding(x):
            nonlocal count
            count += 1
            return x + count

        return inner, binding

    twice, thrice = made(2.0)[0], made(3.0)[0]
    binding = made(2.0)[1]
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "sent.py"
    path.write_text(textwrap.dedent(PROGRAM))
    names = {"__name__": "__main__", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names


def arrived(program, name, times=3):
    """What arrives when a function is sent so often."""
    sent = cloudpickle.dumps(program[name])
    return [cloudpickle.loads(sent) for _ in range(times)]


@pytest.mark.parametrize(("name", "args"), [("plain", (0.5, 3)), ("calls_itself", (4,)), ("twice", (np.ones(3),))])
def test_one_trace_serves_all_that_arrive(program, name, args):
    found = arrived(program, name)
    expected = program[name](*args)
    for one in found:
        np.testing.assert_array_equal(one(*args), expected)
    assert [one.tracing_count for one in found] == [found[0].tracing_count] * 3
    assert len({id(one.traced_for) for one in found}) == 1


@pytest.mark.filterwarnings("ignore:reaching runs as plain Python")
@pytest.mark.parametrize("name", ["appending", "counting", "reaching", "writing", "binding"])
def test_what_may_change_arrives_as_it_was_sent(program, name):
    found = arrived(program, name)
    plain = [one.python_function for one in arrived(program, name)]
    assert [one(2.0) for one in found for _ in range(2)] == [one(2.0) for one in plain for _ in range(2)]
    assert len({id(one.traced_for) for one in found}) == 3


def test_functions_with_other_values_have_other_traces(program):
    (two,), (three,) = arrived(program, "twice", 1), arrived(program, "thrice", 1)
    assert two(np.ones(2)).tolist() == [2.0, 2.0] and three(np.ones(2)).tolist() == [3.0, 3.0]
    changed = {**program, "SCALE": 5.0}
    other = cloudpickle.loads(cloudpickle.dumps(al.function(_with_globals(program["plain"].python_function, changed))))
    (one,) = arrived(program, "plain", 1)
    assert one(0.5, 1) == program["plain"](0.5, 1) != other(0.5, 1)


def _with_globals(f, names):
    helper = type(f)(names["helper"].__code__, names, "helper")
    names["helper"] = helper
    return type(f)(f.__code__, names, f.__name__)


def test_options_tell_functions_apart(program):
    f = program["plain"].python_function
    sent = [al.function(f, executor=executor) for executor in ("sequential", "dataflow")]
    found = [cloudpickle.loads(cloudpickle.dumps(one)) for one in sent]
    assert [one(0.5, 2) for one in found] == [program["plain"](0.5, 2)] * 2
    assert [one.executor for one in found] == ["sequential", "dataflow"]
