"""Loops whose iterations have nothing to do with one another are done by several threads, as one after the other."""

import _thread
import importlib
import linecache
import threading
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from api import blocked_factors, outlining, shared_loops
from examples import examples
from executors import needs_native
from harness import apart, outcome
from hypothesis import HealthCheck, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

pytestmark = needs_native


@pytest.fixture(autouse=True)
def worth_it(monkeypatch):
    """Threads share whatever they can, in pieces of one iteration; gives how many loops they do."""
    written = []
    monkeypatch.setattr(outlining, "WORTH", 0.0)
    monkeypatch.setattr(outlining, "PIECE", 0.0)
    define = shared_loops.define_piece
    monkeypatch.setattr(shared_loops, "define_piece", lambda *args: written.append(args) or define(*args))
    yield written
    al.config.set_num_threads(None)


def rows(a, b, n):
    for i in range(n):
        a[i, : i + 1] *= 0.5
        for k in range(n):
            a[i, : i + 1] += b[i, k] * b[: i + 1, k]


def columns(a, b, n):
    for k in range(n):
        q = a[:, k] / n
        for j in range(k + 1, n):
            b[k, j] = q @ a[:, j]
            a[:, j] -= q * b[k, j]


def of_both(a, b, n):
    """What a symmetric matrix is filled by."""
    for i in range(n):
        a[i:, i] = a[i, i:] = b[i, i:] * 2 - b[i:, i]
    return b


def from_the_next(a, b, n):
    for i in range(n - 1):
        a[i + 1 :, i] = a[i, i + 1 :] = b[i, i + 1 :]


def downwards(a, b, n):
    for i in range(n - 1, -1, -2):
        a[i] = b[i // 2] + a[i] * i


def in_branches(a, b, n):
    for i in range(n):
        if b[i, 0] > 0.5:
            a[i, 0] = b[i].sum()
        else:
            for j in range(n):
                a[i, j] += b[j, i]


def with_slices(a, b, n):
    for i in range(n - 2):
        a[i] = np.sum(b[i : i + 2, 1:] * b[i : i + 2, :-1])


def no_rounds(a, b, n):
    for i in range(2, n):
        for j in range(i, 9):
            a[i, j] += b[j, i]


def some_rows(a, b, n):
    for i in range(1, n - 7, 7):
        a[i : i + 7, 1:] = a[i : i + 7, :-1] * b[i + 3, 1:]


def pairs_of_rows(a, b, n):
    for i in range(1, n, 2):
        a[i] = b[i] + a[i - 1]
        a[i - 1] = b[i - 1] * a[i]


def some_of_both(a, b, n):
    for i in range(0, n - 3, 3):
        a[i:, i : i + 3] = b[i:, i : i + 3] * 2
        a[i : i + 3, i:] += b[i : i + 3, i:]


def over_columns(a, b, n):
    """What is done for a few rows at a time."""
    for j in range(2, n):
        a[1:, j] = b[:-1, j] * a[1:, j - 1] + a[1:, j - 2]


def before_the_first(a, b, n):
    """What is read of what is written is before the first of it."""
    for i in range(3, n):
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j] / n
        for j in range(i + 1, n - 1, 2):
            a[i, j : j + 2] = a[i, i] * a[i, i - 2 : i + 1].sum() / 9 + b[i, j]


NESTED = [rows, columns, in_branches, before_the_first]
SHARED = [
    *NESTED, of_both, from_the_next, downwards, with_slices, no_rounds, some_rows, pairs_of_rows, some_of_both,
    over_columns,
]  # fmt: skip


def of_the_row_before(a, b, n):
    for i in range(1, n):
        a[i] += a[i - 1] * b[i]


def of_all_rows(a, b, n):
    for i in range(n):
        a[i] = a.sum(axis=0) * b[i]


def to_one_row(a, b, n):
    for i in range(n):
        a[b[i].argmax()] += b[i]


def behind_the_last(a, b, n):
    for i in range(n + 2):
        a[i] = b[i - 2] + 1


def of_a_sum(a, b, n):
    total = 0.0
    for i in range(n):
        a[i] += total
        total += b[i, 0]
    return total


def from_the_end(a, b, n):
    for i in range(n):
        a[i - 4] += b[i]
        a[0, 0] += 1


def of_both_halves(a, b, n):
    for i in range(1, n):
        a[i - 1 :, i] = a[i, i - 1 :] + b[i - 1 :, i]


def more_rows_than_it_steps(a, b, n):
    for i in range(0, n - 8, 7):
        a[i : i + 8] = a[i : i + 8] * b[i : i + 8]


def the_row_behind(a, b, n):
    for i in range(0, n - 8, 2):
        a[i] = b[i] + a[i + 2]


def more_of_both(a, b, n):
    for i in range(0, n - 4, 3):
        a[i:, i : i + 4] = a[i : i + 4, i:].T + b[i:, i : i + 4]


def up_to_the_first(a, b, n):
    for i in range(3, n - 1):
        for j in range(i, n):
            a[i, j] -= a[i, : i + 1] @ b[: i + 1, j] / n
        for j in range(i + 1, n):
            a[i, j] -= a[i, i + 1] * b[i, j]
        for j in range(n - 1, i, -1):
            a[i, j] -= a[i, :i].sum() / n + a[i, i + 1]


def up_to_the_last(a, b, n):
    for i in range(4, n):
        for j in range(1, i):
            a[i, j] -= a[i, :j] @ a[:j, j] / n
        for j in range(i - 3, n):
            a[i, j] = b[i, j] + a[i, i - 3] / 4 + a[i, i - 4 : i - 2].sum() / 9


NOT = [
    up_to_the_first, up_to_the_last,
    more_rows_than_it_steps, the_row_behind, more_of_both,
    of_the_row_before, of_all_rows, to_one_row, behind_the_last, of_a_sum, from_the_end, of_both_halves,
]  # fmt: skip


#: rows that are enough, and loops of which plain NumPy takes long for more
SIZES = {72: [*NESTED, up_to_the_first, up_to_the_last]}


def given(n):
    """Arguments; short loops of little work would be no loops of the graph."""
    a, b = np.random.default_rng(5).random((2, n, n))
    return a, b, n


def what_differs(function):
    """How the decorated function does otherwise than the plain one with one thread, or with two than with one."""
    given_to = given(next((n for n, programs in SIZES.items() if function in programs), 500))
    plain, found = outcome(function, given_to), []
    for threads in (1, 2):
        al.config.set_num_threads(threads)
        found.append(outcome(al.function(function, executor="native"), given_to))
        if said := apart(plain, found[-1], "native"):
            return f"{function.__name__} on {threads} threads {said}"
        if not all(map(np.allclose, plain[2], found[-1][2])):  # also where it raised
            return f"{function.__name__} on {threads} threads leaves {found[-1][2]}, not {plain[2]}"
    bits = [[np.asarray(x).tobytes() for x in left] for _, _, left in found]
    return "" if bits[0] == bits[1] else f"{function.__name__}: other bits on two threads"


def test_iterations_that_touch_rows_of_their_own_are_shared(worth_it):
    for program in SHARED:
        del worth_it[:]
        assert not what_differs(program)
        assert worth_it, program.__name__


def test_iterations_that_touch_what_others_do_are_not(worth_it):
    for program in NOT:
        assert not what_differs(program)
        assert not worth_it, program.__name__


def down_from_the_diagonal(a, b, n):
    for i in range(n):
        for j in range(i):
            a[i, j] = (b[i, j] - np.dot(a[i, :j], a[j, :j]) / n) / (1 + a[j, j])
        a[i, i] = np.sqrt(n + b[i, i] - np.dot(a[i, :i], a[i, :i]) / n)


def on_both_sides(a, b, n):
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j] / n
            a[i, j] /= 1 + a[j, j] ** 2
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j] / n
        a[i] *= b[i, 0]


def with_whole_rows(a, b, n):
    for i in range(n):
        for j in range(i):
            a[i] += a[j] * b[i, j] / n
            a[i, j] = a[i, :].sum() / n + a[:j, i].sum() / n


BEFORE = [down_from_the_diagonal, on_both_sides, with_whole_rows]


def of_the_next_row(a, b, n):
    for i in range(n - 1):
        for j in range(i):
            a[i, j] += a[j + 1, j] * b[i, j]
            a[i, j] += a[i + 1, j] / 2


def to_rows_before(a, b, n):
    for i in range(n):
        for j in range(i):
            a[j, i] += a[i, j] * b[i, j]


def to_a_row_before_behind(a, b, n):
    for i in range(1, n):
        for j in range(i):
            a[i, j] += a[j, i] * b[i, j]
        a[i - 1, 3] += b[i, 2]


def of_rows_behind(a, b, n):
    for i in range(n):
        for j in range(i):
            a[i, j] += a[j, i] * b[i, j]
        a[i, 0] = a[i:, 1].sum() / n


def past_the_row(a, b, n):
    for i in range(n - 1):
        for j in range(i + 1):
            a[i, j] += a[j, i] * b[i, j] - a[: j + 1, 2].sum() / n


def something_first(a, b, n):
    for i in range(n):
        a[i] += a[i // 2] / 2
        for j in range(i):
            a[i, j] += a[j, i] * b[i, j]


APART = [of_the_next_row, to_rows_before, to_a_row_before_behind, of_rows_behind, past_the_row, something_first]


SIZES[130] = [*BEFORE, *APART]


def test_rows_that_want_those_before_are_done_in_blocks(worth_it, monkeypatch):
    cut, in_blocks = [], blocked_factors._in_blocks
    monkeypatch.setattr(blocked_factors, "_in_blocks", lambda *args: cut.append(args) or in_blocks(*args))
    for program in BEFORE:
        del worth_it[:], cut[:]
        assert not what_differs(program)
        assert worth_it and cut, program.__name__
    for program in APART:
        del cut[:]
        assert not what_differs(program)
        assert not cut, program.__name__


def of_the_run(x, y, k):
    """Statements whose extents the run decides: of one axis, of both, of rows, of none."""
    x[:k, 0] = np.sin(x[:k, 0]) * y[:k, 1]
    y[:k, :k] += x[:k, :k] * 0.5 + y[:k, 1:2]
    x[k:] *= 2.0
    y[:, k:] = np.tanh(y[:, k:]) - x[:, k:]
    return x[:k].sum(), y[k:, 3].sum()


def test_statements_of_as_many_elements_as_the_run_says(monkeypatch):
    monkeypatch.setattr(outlining, "WORTH", 0.0)
    monkeypatch.setattr(outlining, "PIECE", 0.0)
    monkeypatch.setattr(outlining, "GRAIN", 2)
    decorated = al.function(of_the_run, executor="native")
    for k in (0, 1, 2, 9, 29, 30, 77):
        x, y, _ = given(30)
        plain, found = outcome(of_the_run, (x, y, np.int64(k))), []
        for threads in (1, 2):
            al.config.set_num_threads(threads)
            found.append(outcome(decorated, (x, y, np.int64(k))))
            assert found[-1][1] is None and not apart(plain, found[-1], "native")
        bits = [[one.tobytes() for one in left] for _, _, left in found]
        assert bits[0] == bits[1]


def sweeps(a, b, turns):
    """Statements of some microseconds, again and again, and between them what one thread does."""
    for t in range(1, turns):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        b[t] += a[t - 1] * b[t - 1]
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:]) + b[t]


def test_short_statements_are_shared_where_they_are_done_again_and_again(monkeypatch):
    monkeypatch.setattr(outlining, "WORTH", 40_000.0)
    monkeypatch.setattr(outlining, "PIECE", 10_000.0)
    written, call_pieces = [], outlining.call_pieces
    monkeypatch.setattr(outlining, "call_pieces", lambda *args: written.append(args) or call_pieces(*args))
    a, b = np.random.default_rng(5).random((2, 20_003))
    decorated, found = al.function(sweeps, executor="native"), []
    for threads in (1, 2, 3):
        al.config.set_num_threads(threads)
        found.append(outcome(decorated, (a, b, np.int64(300))))
        assert found[-1][1] is None
    al.config.set_num_threads(None)
    assert len(written) == 2
    plain = outcome(sweeps, (a, b, np.int64(300)))
    assert not apart(plain, found[0], "native")
    bits = [[one.tobytes() for one in left[:2]] for _, _, left in found]
    assert bits[0] == bits[1] == bits[2]
    # once it is short, too, but then to wake threads takes longer
    assert outcome(al.function(lambda a, b: a[1:-1] * 2 + b[2:], executor="native"), (a, b))[1] is None
    assert len(written) == 2


def over_after_half_a_minute(a, b, n):
    for i in range(n):
        for _ in range(2000):
            a[i] = np.sin(a[i]) + b[i]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_user_stops_them(threads, worth_it):
    al.config.set_num_threads(threads)
    a, b = np.ones((2, 60_000, 40))
    decorated = al.function(over_after_half_a_minute, executor="native")
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        decorated(a, b, len(a))
    timer.join()
    assert worth_it and not what_differs(rows)


#: an index of row and column: a number is added to what the loop counts, ``None`` is a whole axis
PLACES = st.tuples(
    *[st.sampled_from(["i", "j", "i + 1", "j + 1", "i - 1", "2", "i:", "j + 1:", ":i + 1", ":", "-1"])] * 2
)


@settings(max_examples=examples(6), deadline=None, suppress_health_check=list(HealthCheck))
@drawn(st.lists(PLACES, min_size=3, max_size=3))
def test_any_places(places):
    text = "def f(a, b, n):\n for i in range(1, n - 1):\n  for j in range(1, n - 1):\n"
    first, second, read = (", ".join(place) for place in places)
    text += f"   a[{first}] = a[{read}].sum() * 0.5 + b[{second}].max() + i\n   a[{second}] += j\n"
    scope = {}
    exec(compile(text, "<places>", "exec"), scope)
    plain = outcome(scope["f"], given(24))
    linecache.cache["<places>"] = (len(text), None, text.splitlines(keepends=True), "<places>")
    al.config.set_num_threads(2)
    said = apart(plain, outcome(al.function(scope["f"], executor="native"), given(24)), "native")
    assert not said or "refused" in said, text + said


@pytest.mark.nightly
def test_kernels_have_the_same_bits_on_two_threads(monkeypatch):
    """Whatever threads can share, they do."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    sizes = importlib.import_module("sizes_of_kernels")
    monkeypatch.setattr(outlining, "WORTH", 0.0)
    monkeypatch.setattr(outlining, "PIECE", 0.0)
    wrong = []
    for name, function in sizes.FUNCTIONS.items():
        decorated, found = al.function(function, executor="native"), []
        for threads in (1, 2):
            al.config.set_num_threads(threads)
            given_to = sizes.SIZES[name].arguments("S")
            try:
                result = decorated(*given_to)
            except NotImplementedError:  # it has no machine code
                continue
            found.append([np.asarray(one).tobytes() for one in al.nest.flatten((result, given_to))])
        if found and found[0] != found[-1]:
            wrong.append(name)
    assert not wrong
