"""The scheduler's kernels in machine code: they do as NumPy's, node by node, and take their places between two runs."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import autoloop as al
import numpy as np
import pytest
from api import (
    config,
    forks,
    linked_code,
    lower,
    machine_kernels,
    machine_steps,
    native_call,
    overlapped_parts,
    pieces,
    pieces_of,
    replace,
    single_kernels,
    tier_up,
)
from executors import make_at_once, needs_native
from flow import called_parts

pytestmark = needs_native

FLOATS = np.linspace(-3, 3, 600, dtype=np.float32).reshape(20, 30)
WHOLE = np.arange(-300, 300).reshape(20, 30)


@pytest.fixture
def at_once(monkeypatch):
    """They are."""
    make_at_once(monkeypatch)


def kernels_of(function, *args):
    """The kernels in machine code with which a decorated function now runs."""
    run = function.get_concrete_function(*args).runner.run.__self__
    alone = [node.value for node in run.lowered.nodes if node.kind.name == "KERNEL" and node.value is not None]
    batches = [node.value._machine for node in run.plan.nodes if node.kind.name == "BATCH"]
    return alone + [one for one in batches if one is not None] + called_parts(run)


def beside(f, *args):
    """What a function gives in its first three calls, and how many kernels it then has in machine code."""
    decorated = al.function(f, executor="dataflow")
    found = [decorated(*args) for _ in range(3)]
    return found, len(kernels_of(decorated, *args))


def recurrent(xs, w, u):
    h = np.zeros((4, 8), np.float32)
    for i in range(len(xs)):
        h = np.tanh(xs[i] @ w + h @ u)
    return h


def chosen(x, n):
    total = x.sum(axis=0)
    while n > 0:
        if n % 2 == 0:
            total = np.maximum(total, x[0] * 2)
        else:
            total = np.where(total > 1, total / 2, np.exp(total - 3)) + x.mean(axis=0)
        n -= 1
    return total


def twice(x, n):
    for _ in range(n):
        x = x * x - np.concatenate([x, x])[:20] + np.sum(x)
    return x


PROGRAMS = {
    "recurrent": (recurrent, [np.sin(np.arange(5 * 32, dtype=np.float32)).reshape(5, 4, 8)]
                  + [np.cos(np.arange(64, dtype=np.float32) + k).reshape(8, 8) / 4 for k in range(2)]),
    "chosen": (chosen, [FLOATS, np.int64(9)]),
    "twice": (twice, [FLOATS.astype(float) ** 2 / 5000, np.int64(3)]),
    "of integers": (lambda x, n: (x // n, x % n, x << 2, abs(x), x > 3, x.max()), [WHOLE, np.int64(7)]),
    "in order": (lambda x: (np.sort(x, axis=1), np.argsort(x, axis=0), x[:, 3] * 2), [WHOLE % 17]),
    "by zero": (lambda x, n: (x // n, x % n), [WHOLE, np.int64(0)]),
    "otherwise in memory": (lambda x: (x + 1, np.tanh(x), x.sum(axis=1), x @ x.T), [FLOATS.T]),
    "parts of others": (lambda x: (np.exp(x), x * 3, x.cumsum(axis=0)), [FLOATS[::2, 3:]]),
    "complex": (lambda x: (x * (2 + 1j), np.exp(x), abs(x)), [FLOATS[0] + 1j * FLOATS[1]]),
    "truth": (lambda x, y: (x & y, x | ~y, np.any(x, axis=0), np.where(x, 1, 0)), [FLOATS > 0, FLOATS > 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_give_what_they_gave_before(name, at_once):
    f, args = PROGRAMS[name]
    with np.errstate(all="ignore"):
        want = f(*args)
    found, count = beside(f, *args)
    assert count, "nothing is in machine code"
    for one in found:
        al.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), one, want)
        al.nest.map_structure(lambda a, b: type(a) is type(b) and np.testing.assert_equal(a.dtype, b.dtype), one, want)


def test_what_machine_code_cannot_take_is_as_it_was(at_once):
    def program(x, y):
        return np.reshape(x, (30, 20)), x[3], np.exp(y)  # views, and a number

    found, count = beside(program, FLOATS, np.float64(2))
    assert count == 0 and np.array_equal(found[-1][0], FLOATS.reshape(30, 20))


@pytest.mark.parametrize("threads", [1, 2])
def test_batches_are_one_function_each(threads, at_once):
    """Twelve chains that do not need each other: each batch has some whole ones, and is worth another thread."""
    starts = [np.linspace(-1, 1, 4000) + k for k in range(12)]

    def program(*xs):
        for _ in range(8):
            xs = [np.sin(x) * 0.5 + 1 for x in xs]
        return xs

    with config_of_threads(threads):
        f = al.function(program, executor="dataflow")
        found = [f(*starts) for _ in range(4)]
    for one in found:
        al.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-13), list(one), program(*starts))
    plan = f.get_concrete_function(*starts).runner.run.__self__.plan
    batches = [node.value for node in plan.nodes if node.kind.name == "BATCH"]
    assert len(batches) > 3 and all(one._machine is not None for one in batches)
    assert plan.parallel and all(one.is_heavy for one in batches)
    members = [set(one.members) for one in batches]
    assert not any(port[0] in other for one in batches for port in one.inputs for other in members)


def test_a_batch_may_give_many_arrays(at_once):
    arrays = [np.linspace(-k, k, 600) for k in range(40)]
    f = al.function(lambda arrays: [np.tanh(x) for x in arrays], executor="dataflow")
    for _ in range(3):
        for one, x in zip(f(arrays), arrays):
            np.testing.assert_allclose(one, np.tanh(x), rtol=1e-13)
    assert len(kernels_of(f, arrays)) == 1


def noted_kinds(monkeypatch):
    """The graphs that kernels are made of from now on."""
    made, real = [], single_kernels.single_kernel
    monkeypatch.setattr(single_kernels, "single_kernel", lambda graph, *rest: made.append(graph) or real(graph, *rest))
    return made


def test_chains_that_differ_in_numbers_are_of_one_kind(at_once, monkeypatch):
    """Also where something light joins them."""
    monkeypatch.setattr(overlapped_parts, "WORTH", float("inf"))  # called one by one
    made = noted_kinds(monkeypatch)
    x = np.linspace(-1, 1, 4000)

    def program(x):
        ys = [x + (k + 0.5) for k in range(24)]
        for _ in range(6):
            ys = [np.sin(y) * (0.51 + k / 24) for k, y in enumerate(ys)]
        return sum([y.sum() * 0.5 for y in ys])

    f = al.function(program, executor="dataflow")
    found = [f(x) for _ in range(3)]
    np.testing.assert_allclose(found, program(x), rtol=1e-12)
    plan = f.get_concrete_function(x).runner.run.__self__.plan
    chains = [node.value for node in plan.nodes if node.kind.name == "BATCH" and len(node.value.members) > 24]
    assert len(chains) >= 11 and all(one._machine is not None and one.is_heavy for one in chains)
    batched = [graph for graph in made if len(graph.nodes) > 24]
    assert len(batched) <= 3, "one more for what begins, or ends, the sum"
    assert max(len(graph.inputs) for graph in batched) > 1
    assert plan.parallel


NUMBERS = {
    "zeros": (lambda x, c: (x * c, x + c), FLOATS, [np.float32(0.0), np.float32(-0.0)]),
    "no numbers": (lambda x, c: (np.maximum(x, c), x * c), FLOATS, [np.float32(n) for n in ("nan", "inf", "-inf", 1)]),
    "quotients": (lambda x, c: (x / c, c - x), FLOATS, [np.float32(0.0), np.float32(-0.0), np.float32(3)]),
    "compared": (lambda x, c: (x > c, np.where(x > c, x, c)), FLOATS, [np.float32(n) for n in ("nan", 0, "inf")]),
    "double": (lambda x, c: (x * c, x - c), FLOATS, [np.float64(1e300), np.float64(5e-324), np.float64(0.1)]),
    "weak": (lambda x, c: (x * c, x + c), FLOATS, [1.5, 2, 1e-3]),
    "integers": (lambda x, c: (x * c, x + c, x // c, x % c), WHOLE, [7, -(2**62), 2**63 - 1, -1]),
    "small integers": (lambda x, c: (x * c, x ^ c), WHOLE.astype(np.int8), [np.int8(-128), np.int8(127), np.int8(3)]),
    "truths": (lambda x, c: (x & c, x | c), WHOLE > 3, [np.True_, np.False_]),
    "complex": (lambda x, c: (x * c, x + c), FLOATS * 1j, [2j, complex(-0.0, np.inf), 1 - 1j]),
    "powers": (lambda x, c: (x**c, abs(x) ** (c / 2)), FLOATS.astype(float), [2, 3, 0, -1]),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_differ_are_as_numpys(name, at_once):
    step, x, numbers = NUMBERS[name]

    def program(x):
        return [step(x, c) for c in numbers]

    with np.errstate(all="ignore"):
        want = program(x)
        f = al.function(program, executor="dataflow")
        for _ in range(3):
            found = f(x)
            al.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), found, want)
            al.nest.map_structure(lambda a, b: np.testing.assert_equal(a.dtype, b.dtype), found, want)
            al.nest.map_structure(lambda a, b: np.testing.assert_equal(np.signbit(a.real), np.signbit(b.real))
                                  if b.dtype.kind in "fc" and not np.isnan(b).any() else None, found, want)  # fmt: skip


def test_only_numbers_of_arithmetic_are_inputs():
    """Functions are simple for some numbers, and integers are divided by a known one faster."""
    for step, x, count in [
        (lambda x, c: x * c, FLOATS, 1), (lambda x, c: x ** float(c), FLOATS, 0), (lambda x, c: x // c, WHOLE, 0),
        (lambda x, c: x + c, WHOLE, 1), (lambda x, c: x[c], FLOATS, 0), (lambda x, c: x > c, FLOATS, 1),
    ]:  # fmt: skip
        few = [pieces_in(lambda x, c=c, step=step: np.exp(step(x, c)) + x, x) for c in (3, 4)]
        one, other = [next((p for p in those if p.numbers), those[0]) for those in few]
        assert len(one.numbers) == count
        if count:
            assert one.kind == other.kind
            places, values = pieces.differing([one, other])
            assert places == [0] and [int(n) for row in values for n in row] == [3, 4]
            assert len(one.graph(places).inputs) == 1 + len(one.graph().inputs)


def test_a_batch_that_machine_code_cannot_do_is_done_in_python(at_once):
    def program(x, y):
        return (x + 1) * y, (x - 1) * y, np.sqrt(x) + y

    f = al.function(program, executor="dataflow")
    ordered, other = np.arange(1.0, 601).reshape(20, 30), np.arange(1.0, 601).reshape(30, 20).T
    for x in (ordered, ordered, ordered, other, other, ordered):
        for one, want in zip(f(x, ordered), program(x, ordered)):
            np.testing.assert_allclose(one, want, rtol=1e-13)
    assert kernels_of(f, ordered, ordered)


@pytest.mark.parametrize("trips", [1, 3])
def test_kernels_of_a_batch_that_cannot_be_made_are_made_one_by_one(trips, at_once, monkeypatch):
    """Also where iterations would be shared out if it could: then they are not."""
    real, x = single_kernels.single_kernel, np.linspace(-1, 1, 800)
    monkeypatch.setattr(single_kernels, "single_kernel", lambda g, *rest: None if rest[-1] else real(g, *rest))

    def program(x, n):
        ys = [x + k for k in range(16)]
        while n > 0:
            for _ in range(4):
                ys = [np.sin(y) * 0.5 for y in ys]
            n -= 1
        return ys

    f = al.function(program, executor="dataflow")
    for _ in range(3):
        np.testing.assert_allclose(f(x, np.int32(trips)), program(x, np.int32(trips)), rtol=1e-12)
    assert len(kernels_of(f, x, np.int32(trips))) >= 64
    kinds = [node.kind.name for node in f.get_concrete_function(x, np.int32(trips)).runner.run.__self__.plan.nodes]
    assert kinds.count("WHOLE") == 1


def test_errors_are_numpys_own(at_once):
    def program(x, w):
        y = x + w
        return np.linalg.inv(y) * 2

    decorated = al.function(program, executor="dataflow")
    for _ in range(3):
        decorated(np.eye(3), np.eye(3))
    assert kernels_of(decorated, np.eye(3), np.eye(3))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        decorated(np.zeros((3, 3)), np.zeros((3, 3)))
    np.testing.assert_allclose(decorated(np.eye(3), np.eye(3)), np.eye(3))


def test_arguments_are_written_as_before(at_once):
    def program(a, x):
        for i in range(len(a)):
            a[i] += np.tanh(x * x).sum()

    plain, decorated = np.arange(5.0), np.arange(5.0)
    f = al.function(program, executor="dataflow")
    for _ in range(4):
        program(plain, FLOATS)
        f(decorated, FLOATS)
    np.testing.assert_allclose(decorated, plain, rtol=1e-6)
    assert kernels_of(f, decorated, FLOATS)


def test_several_runs_at_once(at_once):
    heavy = np.linspace(-2, 2, 40_000).reshape(200, 200)

    def program(a, b):
        for _ in range(4):
            a, b = np.tanh(a * 1.5), np.tanh(b + 0.5)
        return a, b

    with config_of_threads(2):
        f = al.function(program, executor="dataflow")
        want = program(heavy, -heavy)
        for _ in range(2):
            f(heavy, -heavy)
        assert kernels_of(f, heavy, heavy)
        wrong = []

        def call():
            for _ in range(20):
                found = f(heavy, -heavy)
                wrong.extend([one for one, other in zip(found, want) if not np.allclose(one, other, rtol=1e-12)])

        callers = [threading.Thread(target=call) for _ in range(3)]
        for one in callers:
            one.start()
        for one in callers:
            one.join()
    assert not wrong


class config_of_threads:
    def __init__(self, threads):
        self.threads = threads

    def __enter__(self):
        self.before = config.get_num_threads()
        config.set_num_threads(self.threads)

    def __exit__(self, *_):
        config.set_num_threads(self.before)


def test_sessions_go_on_with_machine_code(at_once):
    v1 = al.compat.v1
    graph = v1.Graph()
    with graph.as_default():
        x = v1.placeholder(np.float32, (20, 30))
        y = v1.reduce_sum(v1.tanh(x) * 2.0, axis=0)
    with v1.Session(graph=graph) as session:
        found = [session.run(y, {x: FLOATS}) for _ in range(3)]
    for one in found:
        np.testing.assert_allclose(one, (np.tanh(FLOATS) * 2).sum(axis=0), rtol=1e-5, atol=1e-5)


def test_floating_point_errors_are_told_where_they_are_asked_for(at_once):
    v1 = al.compat.v1
    with v1.Graph().as_default() as graph:
        x = v1.placeholder(np.float64, (20, 30))
        y = v1.log(x) * 2.0
    with v1.Session(graph=graph) as session:
        for _ in range(3):
            session.run(y, {x: np.ones((20, 30))})
            with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="invalid value"):
                session.run(y, {x: -np.ones((20, 30))})


def test_kernels_are_made_of_numpys_ones_where_two_threads_do_it_one_after_the_other(at_once):
    """Of those in machine code constants are no inputs any more."""
    program = lambda x: np.concatenate([np.arange(4.0), x])  # noqa: E731
    f, x = al.function(program, executor="dataflow"), np.full(4, 7.0)
    for _ in range(3):
        f(x)
    run = f.get_concrete_function(x).runner.run.__self__
    assert kernels_of(f, x) and run._faster is None
    run._faster = machine_kernels.machine_kernels
    for _ in range(3):
        np.testing.assert_array_equal(f(x), program(x))
    assert run._faster is None


def test_nothing_is_made_before_runs_have_taken_as_long(monkeypatch):
    asked = []
    monkeypatch.setattr(machine_steps.background, "submit", lambda job: asked.append(job) or True)
    source = machine_kernels.machine_kernels()
    piece = piece_of(lambda x: np.tanh(x), FLOATS)
    assert source.due > 0 and source.kernels([piece], source.due / 2) is None and not asked
    assert source.kernels([piece], 100.0) is None and len(asked) == 1
    assert source.kernels([piece], 200.0) is None and len(asked) == 1
    monkeypatch.setattr(machine_steps, "generation", lambda: forks.generation() + 1)  # a child has lost the job
    assert source.kernels([piece], 200.0) is None and len(asked) == 2
    asked[1]()
    made = source.kernels([piece], 200.0)
    np.testing.assert_allclose(made[piece.key](FLOATS), np.tanh(FLOATS), rtol=1e-6)


def test_runs_do_not_look_for_pieces_again_while_kernels_are_made(at_once, monkeypatch):
    jobs, looked = [], []
    monkeypatch.setattr(machine_steps.background, "submit", lambda job: jobs.append(job) or True)
    monkeypatch.setattr(pieces, "pieces_of", lambda *given: looked.append(given) or pieces_of(*given))
    f = al.function(lambda x: (np.tanh(x), x * 2, x.sum(axis=0)), executor="dataflow")
    for _ in range(4):
        f(FLOATS)
    assert len(jobs) == 1 and len(looked) == 1
    jobs[0]()
    f(FLOATS)
    assert kernels_of(f, FLOATS) and len(looked) == 1


def test_the_compiler_is_loaded_once_for_many_kernels(monkeypatch):
    monkeypatch.setattr(tier_up, "sys", SimpleNamespace(modules={}))  # it is not there yet
    one, source = piece_of(lambda x: np.tanh(x), FLOATS), machine_kernels.machine_kernels()
    assert source.kernels([replace(one, kind=k) for k in range(50)], 0.0) is None
    assert source.due < tier_up.LOADING + 50 * (tier_up.SMALLEST + tier_up.PER_NODE) + 1e-9


def pieces_in(f, *args):
    """The kernels of a function."""
    graph = al.function(f, executor="dataflow").get_concrete_function(*args).graph
    lowered = lower(graph, graph.outputs, graph.inputs)
    return list(pieces_of(lowered, lowered.nodes))


def piece_of(f, *args):
    """The only kernel of a function."""
    return pieces_in(f, *args)[0]


@pytest.mark.parametrize("keeps", [True, False])
def test_what_is_short_keeps_the_lock(keeps, monkeypatch):
    """Seen from another thread: it runs only where the lock is given up."""
    seen = []
    whole = linked_code.compile_ir
    note = lambda ir, *rest, **named: seen.append(ir) or whole(ir, *rest, **named)
    for room in (linked_code, native_call):
        monkeypatch.setattr(room, "compile_ir", note)
    piece = piece_of(lambda x: np.tanh(x), FLOATS)
    kernel = single_kernels.single_kernel(piece.graph(), keeps, 2)(piece.plain)
    np.testing.assert_allclose(kernel(FLOATS), np.tanh(FLOATS), rtol=1e-6)
    assert any("declare ptr @PyEval_SaveThread" in ir for ir in seen) is not keeps


def test_there_is_no_source_without_machine_code():
    was = config.get_native()
    config.set_native(False)
    try:
        assert machine_kernels.machine_kernels() is None
    finally:
        config.set_native(was)
    assert machine_kernels.machine_kernels() is not None
