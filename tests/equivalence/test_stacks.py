"""Lists as stacks and queues in loops that the data decides: as plain Python, in constant time, also backwards."""

import autoloop as al
import numpy as np
import pytest
from api import array_buffer, count_nodes, write_function
from each_case import each
from executors import EXECUTORS, needs_native, spread
from harness import apart, outcome
from programs_of_stacks import (
    PROGRAMS,
    SMOOTH,
    X,
    depth_first,
    largest_rectangle,
    matched,
    popped_beyond,
    popped_empty,
    read_beyond,
    versions,
)


@spread("program, given", PROGRAMS, [program.__name__ for program, _ in PROGRAMS])
def test_as_plain_python(program, given, executor):
    decorated = al.function(program, executor=executor)
    assert not apart(outcome(program, given), outcome(decorated, given), executor)


@each([(program, executor) for program in (popped_empty, popped_beyond, read_beyond) for executor in EXECUTORS])
def test_errors_have_pythons_words(program, executor):
    with pytest.raises(IndexError) as plain:
        program(X, 3)
    with pytest.raises(IndexError, match=str(plain.value)):
        al.function(program, executor=executor)(X, np.array(3))


@pytest.mark.parametrize("program", SMOOTH)
def test_gradients(program):
    x, n = X[:6] + 0.5, np.array(6)
    steps = np.eye(6) * 1e-6
    want = np.array([(program(x + step, n) - program(x - step, n)) / 2e-6 for step in steps])
    for executor in EXECUTORS:
        if executor == "native" and program.__name__ == "queued":
            continue
        assert np.allclose(al.grad(al.function(program, executor=executor))(x, n), want, rtol=1e-5, atol=1e-7)
    gradient = al.grad(program)
    want = np.array([(gradient(x + step, n) - gradient(x - step, n)) / 2e-6 for step in steps])
    assert np.allclose(al.jacobian(gradient)(x, n), want, rtol=1e-4, atol=1e-5)
    t = np.arange(6.0)
    assert np.allclose(al.jvp(lambda x: program(x, n), (x,), (t,))[1], gradient(x, n) @ t)


#: who copies, and what there is machine code of only after it has been made simpler
OTHERS = (depth_first, matched, versions)


def counted(monkeypatch):
    """The number of elements of each list that is copied from here on."""
    copies, fork = [], array_buffer.Buffer.fork
    monkeypatch.setattr(
        array_buffer.Buffer, "fork", lambda self, version, size: copies.append(size) or fork(self, version, size)
    )
    return copies


def pushed_and_popped(n):
    stack, i, total = [n], 0, 0
    while i < n:
        stack.append(i)
        stack.append(i + 1)
        stack[-1] *= 2
        if i % 3:
            total += stack.pop() + stack[-1]
        i += 1
    return total, len(stack)


@pytest.mark.parametrize("executor", ["sequential", "dataflow"])
def test_nothing_is_copied(monkeypatch, executor):
    """But what an older version may still ask for, which is no more than is pushed."""
    f = al.function(pushed_and_popped, executor=executor)
    copies, n = counted(monkeypatch), np.array(300)
    assert f(n) == pushed_and_popped(n)
    assert sum(copies) < 4 * 300


@needs_native
@each(
    [(program, given) for program, given in PROGRAMS if program not in OTHERS] + [(pushed_and_popped, (X[0],))],
    one_in=2,
)
def test_machine_code_copies_nothing(program, given):
    graph = al.function(program).get_concrete_function(*given).graph
    code = write_function(graph, [np.shape(one) for one in given], frozenset()).ir
    assert "call ptr @list_copy" not in code


def test_a_loop_that_counts_is_one_of_the_graph():
    """Though another of its variables is a list, at which its test does not look."""
    x = np.random.default_rng(4).integers(0, 9, 300)
    graph = al.function(largest_rectangle).get_concrete_function(x).graph
    assert count_nodes(graph) < 3_000


def test_an_old_version_sees_what_it_saw():
    """However many others have been made of its elements meanwhile."""
    spec_of = al.TensorArray(np.float64, 0, True, element_shape=()).flow.value
    old = spec_of.write_all(range(5), [np.float64(k) for k in range(5)])
    now, want = old, [0.0, 1.0, 2.0, 3.0, 4.0]
    for k in range(200):
        now = now.replaced(k % 5, np.float64(k)).dropped(4).write(4, np.float64(-k))
        if k == 100:
            between, then = now, now.column().tolist()
    assert old.column().tolist() == want and between.column().tolist() == then
    assert now.column().tolist() == [195.0, 196.0, 197.0, 198.0, -199.0]
    assert old.write(5, np.float64(9)).column().tolist() == [*want, 9.0]
    assert old.removed(1).column().tolist() == [0.0, 2.0, 3.0, 4.0]
