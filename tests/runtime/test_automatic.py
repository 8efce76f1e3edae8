"""``executor="auto"``: what it begins with, when machine code takes over, and what must not change by that.

One file: whatever machine code takes over is asked for and looked at by the same fixtures.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import tomllib
import types
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from api import (
    EAGER,
    automatic,
    background,
    compile_graph,
    config,
    on_stack_replacement,
    resumable,
    resume_pass,
    tier_up,
    trials,
)
from api import native_extra as extra
from children import run_file, run_imported

pytestmark = pytest.mark.auto
needs_native = pytest.mark.skipif(bool(extra.remedy()), reason="needs the extra 'native'")
ROOT = Path(__file__).parent.parent.parent
N = np.int32


@pytest.fixture
def eager(monkeypatch):
    """Machine code is asked for at once, and is there when it is looked for again."""
    monkeypatch.setattr(tier_up, "price", lambda nodes: 0.0)
    for module in (on_stack_replacement, automatic):
        monkeypatch.setattr(module, "SMALLEST", 0.0)
    monkeypatch.setattr(background, "submit", lambda job: job() is None)


@pytest.fixture
def loops_only(replace_on_stack):
    """The same for loops, where it stays; no code is made of whole functions."""
    replace_on_stack(on_stack_replacement.FIRST)


@pytest.fixture
def given(monkeypatch):
    """The inputs of machine code, call by call."""
    seen = []
    made = tier_up._made

    def watched(graph, shapes):
        found = made(graph, shapes)
        if found.run is None:
            return found

        def run(values, *rest):
            seen.append([v.item() if np.ndim(v) == 0 else v for v in values])
            return found.run(values, *rest)

        return tier_up.Made(run, found.refused)

    monkeypatch.setattr(tier_up, "_made", watched)
    return seen


def squares(n):
    total = i = al.constant(0)
    while i < n:
        total += i * i
        i += 1
    return total, i


# -- a loop that goes on in machine code --------------------------------------------------------------------


@needs_native
def test_it_goes_on_from_the_state_that_python_left(loops_only, given):
    total, i = al.function(squares)(N(1000))
    assert (int(total), int(i)) == (sum(k * k for k in range(1000)), 1000)
    limits, *state = zip(*given)
    done = state[1][0]
    assert 0 < done < 1000 and state[0][0] == sum(k * k for k in range(done)) and state[2][0] == 1000
    assert limits[0] > 1


@needs_native
def test_a_loop_that_is_over_before_is_never_handed_over(loops_only, given):
    n = on_stack_replacement.FIRST - 1
    assert int(al.function(squares)(N(n))[1]) == n and not given


@needs_native
def test_the_next_run_begins_in_machine_code(loops_only, given):
    f = al.function(squares)
    f(N(1000))
    given.clear()
    assert int(f(N(10))[1]) == 10
    assert [values[1:] for values in given] == [[0, 0, 10]]


@needs_native
@pytest.mark.parametrize("width", [0, 2])
def test_a_loop_that_writes_to_an_argument_goes_on_in_its_memory(loops_only, given, width):
    def filled(a, n):
        i = 0
        while i < n:
            # of a window that is cut short machine code knows nothing: it gives up, and has written to a copy
            a[i] += i * 2.0 if width == 0 else a[i : i + width].sum()
            i += 1

    plain, ours = np.ones(1000), np.ones(1000)
    f = al.function(filled)
    for _ in range(2):
        filled(plain, N(1000))
        f(ours, N(1000))
    assert np.array_equal(plain, ours)
    handed = [any(value is ours for value in values) for values in given]
    # on a slow machine the first time is the only one: it goes on to the end, and gives up there
    assert handed[0] and (len(handed) > 1 and all(handed) if width == 0 else len(handed) == 1 or not all(handed))


@needs_native
def test_a_trial_that_is_slower_goes_back(eager, monkeypatch, given):
    monkeypatch.setattr(automatic, "SMALLEST", float("inf"))
    monkeypatch.setattr(on_stack_replacement, "TRIAL", 1.0)  # one iteration
    compare = on_stack_replacement.Site.compare
    monkeypatch.setattr(
        on_stack_replacement.Site, "compare", lambda self, shapes, python, native: compare(self, shapes, 1.0, 2.0)
    )
    f = al.function(squares)
    assert int(f(N(5000))[0]) == int(N(np.arange(5000, dtype=N) ** 2).sum(dtype=N))
    assert [values[0] for values in given] == [1] * on_stack_replacement.TRIALS


@needs_native
def test_a_trial_that_was_slower_is_made_again_when_iterations_take_longer(eager):
    f = al.function(squares)
    f(N(10))
    site = next(iter(f.get_concrete_function(N(10)).runner.automatic.sites.values()))
    shapes = (((), (), (), ()),)
    assert site.code(shapes, 0.0) is None  # it is asked for, and made
    made = site.code(shapes, 0.0)
    for _ in range(on_stack_replacement.TRIALS):
        assert site.code(shapes, 300.0) is made and not site.compare(shapes, 100.0, 200.0)
    for rate in (100.0, 190.0, 100.0, 900.0, 900.0):
        assert site.code(shapes, rate) is None
    assert site.code(shapes, 900.0) is made and site.compare(shapes, 900.0, 200.0)


@needs_native
@pytest.mark.parametrize("at", [0, 5, 700])
def test_a_failure_names_the_same_iteration_and_line(loops_only, at):
    def look_up(table, n):
        i = total = al.constant(0)
        while i < n:
            total += table[i]
            i += 1
        return total

    def failure(executor):
        with pytest.raises(IndexError) as caught:
            al.function(look_up, executor=executor)(np.zeros(at, N), N(at + 1))
        lines = [(str(entry.path), entry.lineno) for entry in caught.traceback]
        return str(caught.value), caught.value.__notes__, lines

    assert failure("auto") == failure("sequential")
    assert f"iteration {at} " in failure("auto")[1][0]


@needs_native
def test_effects_happen_once_and_in_order(loops_only, capsys):
    def f(n):
        i = al.constant(0)
        print("before")
        while i < n:
            assert i >= 0
            i += 1
        print("after", i)
        k = al.constant(0)
        while k < 40:
            print(k)
            k += 1
        return i

    assert int(al.function(f)(N(500))) == 500
    assert capsys.readouterr().out.split() == ["before", "after", "500", *map(str, range(40))]


@needs_native
def test_arrays_constants_and_variables_in_the_state(loops_only, given):
    weight = al.Variable(np.float64(0.5))

    def f(x, n):
        before, i = al.zeros([3], al.float64), al.constant(0)
        while i < n:
            before, x = x, x * weight + np.array([1.0, 2.0, 3.0]) + before * 0.25
            i += 1
        return before, x, i

    arguments = np.arange(3.0), N(300)
    got, want = (al.function(f, executor=e)(*arguments) for e in ("auto", "sequential"))
    assert given
    for g, w in zip(got, want):
        np.testing.assert_allclose(np.asarray(g), np.asarray(w), rtol=1e-12)


@needs_native
def test_inside_a_loop_that_cannot_be_the_inner_ones_are_handed_over(loops_only, given, capsys):
    def f(n, table):
        k = total = al.constant(0)
        while k < n:
            print(k)
            i = al.constant(0)
            while i < 50 * k:
                total += table[i % (k * k)]
                i += 1
            k += 1
        return total

    table = np.arange(20, dtype=N)

    def failure(executor):
        with pytest.raises(IndexError) as caught:
            al.function(f, executor=executor)(N(6), table)
        lines = [
            (str(t.path), t.lineno) for t in caught.traceback if t.name != "run"
        ]  # that is what ``given`` put there
        return str(caught.value), caught.value.__notes__, lines

    assert int(al.function(f)(N(5), table)) == int(al.function(f, executor="sequential")(N(5), table))
    assert given
    report = al.explain(al.function(f), N(5), table)
    assert "it has no machine code" in report.loops[0].why and "takes it over once" in report.loops[1].why
    assert failure("auto") == failure("sequential")
    assert "iteration 5 of the loop 'while'" in failure("auto")[1][0]
    assert capsys.readouterr().out


@needs_native
def test_what_machine_code_refuses_stays_in_python(loops_only):
    def f(n):
        i, x = al.constant(0), al.ones([1])
        while i < n:
            al.set_loop_options(shape_invariants=[(x, al.TensorShape([None]))])
            x = al.concat([x, x[:1]], 0)
            i += 1
        return x

    g = al.function(f)
    assert g(N(100)).shape == (101,)
    report = al.explain(g, N(100))
    assert report.executor == "sequential" and "machine code cannot take the operation" in report.loops[0].why
    assert "test_automatic.py" in report.loops[0].why


@needs_native
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
def test_it_can_be_interrupted(loops_only, monkeypatch):
    def forever(n):
        i = al.constant(0)
        while i != n:
            i = (i + 1) % 100
        return i

    made = tier_up._made

    def interrupted(graph, shapes):
        found = made(graph, shapes)

        def run(*args):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            return found.run(*args)

        return tier_up.Made(run, found.refused)

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(tier_up, "_made", interrupted)
    f = al.function(forever)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            f(N(-1))
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert int(f(N(3))) == 3
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@needs_native
def test_a_loop_that_cannot_be_taken_apart_goes_on_in_python(loops_only, monkeypatch):
    monkeypatch.setattr(resume_pass, "resumable", lambda node: 1 / 0)
    assert int(al.function(squares)(N(500))[1]) == 500


@needs_native
def test_the_callers_arrays_are_written_to_and_given_back(loops_only):
    def f(v, n):
        i = al.constant(0)
        while i < n:
            v[i % 3] = v[i % 3] + 1.0
            i += 1
        return v

    v = np.zeros(3)
    assert al.function(f)(v, N(300)) is v and v.tolist() == [100.0] * 3


def test_a_loop_on_its_own_shares_nothing_with_the_one_it_was_made_of():
    graph = al.function(squares).get_concrete_function(N(0)).runner.graph
    (loop,) = [node for node in graph.nodes if node.op.name == "While"]
    before = [(list(sub.nodes), list(sub.inputs), list(sub.outputs)) for sub in loop.subgraphs]
    made = resumable(loop)
    assert [(list(sub.nodes), list(sub.inputs), list(sub.outputs)) for sub in loop.subgraphs] == before
    run = compile_graph(made.graph)
    turns, total, i = run([np.int64(3), N(0), N(0), N(10)], EAGER)
    assert (turns, total, i) == (3, 5, 3)
    assert run([np.int64(100), total, i, N(10)], EAGER) == [7, 285, 10]


# -- functions ----------------------------------------------------------------------------------------------


def test_a_price_while_another_thread_imports_the_compiler(monkeypatch):
    name = "autoloop_runtime.native.toolchain.process"
    monkeypatch.setitem(
        sys.modules, name, types.ModuleType(name)
    )  # as an import leaves it before it has run the module
    assert tier_up.price(1) > tier_up.SMALLEST


@needs_native
def test_later_calls_are_machine_code_as_a_whole(eager):
    f = al.function(squares)
    assert {tuple(map(int, f(N(100)))) for _ in range(12)} == {(328350, 100)}
    report = al.explain(f, N(100))
    assert report.executor == report.loops[0].executor == "native"
    assert "as fast as before" in report.reason


@needs_native
def test_the_faster_one_stays(eager, monkeypatch):
    f = al.function(squares)
    slow = threading.Event()
    made = tier_up._made

    def delayed(graph, shapes):
        found = made(graph, shapes)
        return tier_up.Made(lambda *a: (slow.wait(0.002), found.run(*a))[1], found.refused)

    monkeypatch.setattr(tier_up, "_made", delayed)
    assert {int(f(N(10))[0]) for _ in range(12)} == {285}
    report = al.explain(f, N(10))
    assert report.executor == "sequential" and "it was slower" in report.reason


class Timed:
    """Machine code for which a clock says that it takes so long, and so long ``inside``."""

    def __init__(self, clock, run):
        self.clock, self.run, self.inside = clock, run, clock.inside

    def __call__(self, values, *rest):
        self.clock.now += self.clock.in_code
        self.clock.native.append(int(values[0]))
        return self.run(values, *rest)

    def entered(self, *_):
        return None


class Clock:
    """A clock that calls set: each takes as long in Python as it has turns, and in machine code ``in_code``."""

    def __init__(self, monkeypatch, in_code, inside=float("inf")):
        self.now, self.in_code, self.inside, self.native = 0.0, in_code, inside, []
        monkeypatch.setattr(automatic, "perf_counter", lambda: self.now)
        made = tier_up._made

        def base(graph, sites=None):
            run = compile_graph(graph)

            def python(values, state):
                self.now += float(values[0])
                return run(values, state)

            return python

        def timed(graph, shapes):
            found = made(graph, shapes)
            return tier_up.Made(Timed(self, found.run), found.refused)

        monkeypatch.setattr(automatic, "compile_graph", base)
        monkeypatch.setattr(tier_up, "_made", timed)


@needs_native
def test_machine_code_that_lost_with_little_work_is_tried_again_with_more(eager, monkeypatch):
    clock, f = Clock(monkeypatch, 50.0), al.function(squares)
    for _ in range(30):
        f(N(10))
    assert clock.native == [10] * trials.TRIALS  # and it is given up
    for _ in range(30):
        f(N(19))
    assert len(clock.native) == trials.TRIALS  # that was not much more
    for _ in range(30):
        f(N(1000))
    assert clock.native[3:] == [1000] * len(clock.native[3:])
    assert 30 - len(clock.native[3:]) == trials.MOST_GROWN + trials.TRIALS
    assert al.explain(f, N(10)).executor == "native"


@needs_native
def test_machine_code_that_loses_again_is_tried_with_yet_more(eager, monkeypatch):
    clock, f = Clock(monkeypatch, 5000.0), al.function(squares)
    for _ in range(30):
        f(N(10))
    for _ in range(300):
        f(N(1000))
    assert len(clock.native) == 2 * trials.TRIALS  # to this much work it is used now
    for n in (3000, 9000):
        assert f.get_concrete_function(N(1)).runner.executor == "sequential"
        for _ in range(60):
            f(N(n))
    assert f.get_concrete_function(N(1)).runner.executor == "native"


@needs_native
def test_machine_code_is_chosen_by_the_sums_where_calls_are_of_several_kinds(eager, monkeypatch):
    clock, f = Clock(monkeypatch, 50.0), al.function(squares)
    for _ in range(30):
        f(N(10))
    for k in range(300):
        f(N(1000 if k % 5 == 0 else 10))
    assert f.get_concrete_function(N(1)).runner.executor == "native"
    assert clock.native.count(1000) > 40


def test_a_trial_of_short_calls_is_not_decided_by_the_first():
    trial = trials.Trial()
    for k in range(trials.OF_SHORT):
        assert trial.is_won(1e-5) is None
        trial.native.append(1.2e-5 if k < 6 else 0.95e-5)
        trial.before.append(1e-5)
    assert trial.is_won(1e-5) is True


@needs_native
@pytest.mark.parametrize("is_entered", [False, True])
def test_calls_that_go_to_machine_code_directly_are_judged_by_what_it_takes_itself(eager, monkeypatch, is_entered):
    Clock(monkeypatch, 20.0, inside=1.0)
    monkeypatch.setattr(automatic, "SMALLEST", 35.0)
    f = al.function(squares)
    for _ in range(4):
        f(N(10))
    runner = f.get_concrete_function(N(10)).runner
    runner.entry(((),), is_entered)
    for _ in range(20):
        f(N(10))
    assert runner.executor == ("native" if is_entered else "sequential")


@needs_native
def test_products_that_overlap_begin_on_the_scheduler():
    def chains(a, b):
        i = al.constant(0)
        while i < 8:
            a, b = np.tanh(a @ a), np.tanh(b @ b)
            i += 1
        return a, b

    spec = al.TensorSpec([600, 600], al.float32)
    config.set_num_threads(2)
    try:
        report = al.explain(al.function(chains), spec, spec)
    finally:
        config.set_num_threads(None)
    assert report.executor == "dataflow" and "machine code follows" in report.reason


def test_what_is_too_little_to_be_felt_stays_where_it_is(eager, given):
    f = al.function(lambda x: x * 2 + 1)
    assert {float(f(np.float64(3))) for _ in range(9)} == {7.0} and not given
    assert "no loop and too little work" in al.explain(f, np.float64(3)).reason


@needs_native
def test_too_little_is_felt_where_there_are_very_many_calls(eager, given, monkeypatch):
    monkeypatch.setattr("autoloop.fast_path.MANY", 20)
    f = al.function(lambda x: x * 2 + 1)
    assert {float(f(np.float64(3))) for _ in range(400)} == {7.0} and given
    assert "no loop and too little work" not in al.explain(f, np.float64(3)).reason


@needs_native
def test_many_threads_call_while_it_is_made():
    f = al.function(squares)
    wanted = [int(al.function(squares, executor="sequential")(N(n))[0]) for n in range(20_000, 20_008)]
    got: list[list[int]] = [[] for _ in range(8)]

    def work(k):
        for _ in range(12):
            got[k].append(int(f(N(20_000 + k))[0]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    background.wait()
    assert got == [[w] * 12 for w in wanted]


@needs_native
def test_a_large_array_of_the_callers_is_sorted_where_it_is(eager, monkeypatch):
    def ordered(a):
        a.sort()

    monkeypatch.setattr(tier_up, "MOST_MERGED", 1 << 20)
    f = al.function(ordered)
    for _ in range(3):
        a = np.arange(2.0**17)[::-1].copy()
        f(a)
    np.testing.assert_array_equal(a, np.arange(2.0**17))
    assert "sorts where it is" in al.explain(f, a).reason


@needs_native
def test_a_compiler_that_fails_changes_nothing(eager, monkeypatch):
    def broken(graph, shapes):
        raise MemoryError("no room")

    monkeypatch.setattr(tier_up, "_made", broken)
    f = al.function(squares)
    assert {int(f(N(100))[0]) for _ in range(4)} == {328350}
    assert "making it failed: MemoryError: no room" in al.explain(f, N(100)).reason


def test_without_it_it_is_generated_python(eager, monkeypatch, given):
    monkeypatch.setattr(config, "_native", False)
    f = al.function(squares)
    assert {int(f(N(100))[0]) for _ in range(4)} == {328350} and not given
    assert "switched off" in al.explain(f, N(100)).reason
    with pytest.raises(TypeError, match="True, False or None"):
        al.config.set_native(1)


# -- the thread ---------------------------------------------------------------------------------------------


def test_the_thread_ends_when_there_is_nothing_to_do():
    done = []
    assert background.submit(lambda: done.append(threading.current_thread()))
    background.wait()
    done[0].join(30)  # it says that it is done a moment before it is gone
    assert len(done) == 1 and not done[0].daemon and not done[0].is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_has_no_jobs_and_can_have_its_own():
    code = """
import os, threading, warnings
warnings.simplefilter("ignore")  # of forks where there are threads
from autoloop_runtime.base import background, forks
begun, more, steps = threading.Event(), threading.Event(), []
def first():
    begun.set(); more.wait(); steps.append("first")
background.submit(first)
background.submit(lambda: steps.append("second"))
begun.wait()
before = forks.generation()
pid = os.fork()
if pid == 0:
    assert not steps and forks.generation() != before
    background.submit(lambda: steps.append("mine")); background.wait()
    os._exit(0 if steps == ["mine"] else 1)
assert os.waitpid(pid, 0)[1] == 0
more.set()
background.wait()
print(steps)
"""
    assert run_imported(code).strip() == "['first', 'second']"


@needs_native
def test_the_interpreter_may_end_while_code_is_made():
    code = """
import numpy as np, autoloop as al
from autoloop_runtime.running import on_stack_replacement, tier_up
tier_up.price = lambda nodes: 0.0
on_stack_replacement.SMALLEST = 0.0
@al.function
def f(n):
    i = al.constant(0)
    while i < n:
        i += 1
    return i
print(int(f(np.int32(2000))))
"""
    assert run_imported(code) == "2000\n"


LONG = """
import sys, warnings
import numpy as np, autoloop as al
from autoloop_runtime.running import automatic
automatic.NOTICE = 1e-9
@al.function
def f(n):
    i = al.constant(0)
    while i < n:
        i += 1
    return i
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        print(int(f(np.int32(50))))
for w in caught:
    print(w.category.__name__, w.lineno, w.message)
print(al.explain(f, np.int32(50)).loops[0].why)
"""
ABSENT = "import sys; sys.modules['llvmlite'] = None\nimport importlib.util as u; find = u.find_spec\n"
ABSENT += "u.find_spec = lambda name, *a: None if name == 'llvmlite' else find(name, *a)\n"


def test_without_the_extra_it_works_and_says_so_once(tmp_path):
    out = run_file(ABSENT + LONG, tmp_path)[0].splitlines()
    assert out[:3] == ["50"] * 3
    warned, why = out[3:]
    assert warned.startswith("MissingNativeWarning") and "pip install 'autoloop[native]'" in warned
    assert "machine code would take it: pip install 'autoloop[native]'" in why
    quiet = run_file(ABSENT + LONG, tmp_path, AUTOLOOP_NATIVE="0")[0].splitlines()
    assert len(quiet) == 4 and "switched off" in quiet[3]


def test_an_extra_that_is_too_old_is_said_once_and_not_loaded(tmp_path):
    package = tmp_path / "llvmlite"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemError('imported')")
    (package / "_version.py").write_text("version_version = '0.44.0'\nversion_full = 'ab12'\n")
    old = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
    native = "try:\n al.function(abs, executor='native')(np.float64(1))\nexcept ImportError as error: print(error)"
    out = run_file(old + LONG + native, tmp_path)[0].splitlines()
    assert out[:3] == ["50"] * 3
    warned, why = out[3:5]
    assert warned.startswith("MissingNativeWarning")
    assert "the llvmlite that is installed is 0.44.0, and 0.45 is the oldest that will do: pip install -U" in warned
    assert "machine code would take it: pip install -U 'autoloop[native]'" in why
    assert "0.44" in "".join(out[5:])


@pytest.mark.parametrize("text, version", [
    ("version_version = '0.45.1'\nversion_full = 'a1b2'", (0, 45, 1)),
    ('version = "1.17.1"\nfull_version = version', (1, 17, 1)),
    ("__version__ = '0.60'", (0, 60)), ("version = None", None), ("", None),
])  # fmt: skip
def test_a_version_is_read_without_importing(tmp_path, text, version):
    (tmp_path / "_version.py").write_text(text)
    assert extra.version(tmp_path) == version
    assert extra.version(tmp_path / "nowhere") is None


def test_the_metadata_ask_for_what_will_do():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    needs = project["project"]["optional-dependencies"]["native"]
    assert f"llvmlite>={'.'.join(map(str, extra.OLDEST))}" in needs


def test_a_short_program_never_loads_the_compiler(tmp_path):
    code = LONG.replace("automatic.NOTICE = 1e-9", "") + "\nprint(any(m.startswith('llvmlite') for m in sys.modules))"
    code = code.replace("print(al.explain(f, np.int32(50)).loops[0].why)", "")
    assert run_file(code, tmp_path)[0].split() == ["50", "50", "50", "False"]


# -- a call that saves values for its gradient --------------------------------------------------------------


def gradient_of(check, **options):
    def loss(x, n, most):
        i = 0
        while i < n:
            x = al.sin(x) * 1.1
            if check:
                assert x < most
            i += 1
        return x

    return al.function(al.value_and_grad(loss), **options)


ONE = np.float64(1)


@needs_native
@pytest.mark.parametrize("memory", [None, 3])
def test_one_long_call_is_given_up_for_machine_code(eager, given, memory):
    found = gradient_of(False, gradient_memory=memory)(ONE, N(500), ONE)
    assert given == [[1.0, 500, 1.0]] or given == [[1.0, 500]]
    expected = gradient_of(False, executor="sequential", gradient_memory=memory)(ONE, N(500), ONE)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@needs_native
def test_what_fails_after_a_call_was_given_up_is_told_as_always(eager, given):
    with pytest.raises(AssertionError):
        gradient_of(True)(ONE, N(500), np.float64(0.5))
    assert not given  # it failed before there was any
    with pytest.raises(AssertionError) as native:
        gradient_of(True)(np.float64(0.01), N(500), np.float64(0.3))
    assert given
    with pytest.raises(AssertionError) as python:
        gradient_of(True, executor="sequential")(np.float64(0.01), N(500), np.float64(0.3))
    assert native.value.__notes__[-1].split("iteration")[1] == python.value.__notes__[-1].split("iteration")[1]
    assert any(entry.name == "loss" for entry in native.traceback)


def test_a_call_that_gains_nothing_by_machine_code_costs_what_generated_python_costs():

    def calls(executor):
        f, seen = al.function(lambda a, b: a * b + a, executor=executor), []
        for _ in range(3):
            f(np.float32(2), np.float32(3))
        sys.setprofile(lambda frame, event, _: seen.append(frame.f_code.co_name) if event == "call" else None)
        try:
            f(np.float32(2), np.float32(3))
        finally:
            sys.setprofile(None)
        return seen

    assert len(calls("auto")) == len(calls("sequential"))


@needs_native
def test_what_would_be_noticed_is_not_done_again(eager, capsys):
    @al.function
    def f(x, n):
        def loss(x):
            for i in al.range(n):
                x = al.sin(x) * 1.1
                if i % 100 == 0:
                    print("at", i)
            return x

        return al.grad(loss)(x)

    f(ONE, N(500))
    assert capsys.readouterr().out.count("at 0\n") == 1


@needs_native
def test_a_refusal_after_a_call_was_given_up_is_not_the_end(eager, monkeypatch):
    made = tier_up._made

    class Refused(Exception):
        told = "does not want to"

    def refusing(values, *_):
        raise Refused

    monkeypatch.setattr(tier_up, "_made", lambda *a: tier_up.Made(refusing, Refused) if made(*a).run else made(*a))
    f = gradient_of(False)
    expected = gradient_of(False, executor="sequential")(ONE, N(500), ONE)
    for _ in range(2):
        np.testing.assert_array_equal(f(ONE, N(500), ONE), expected)
    assert "does not want to" in f.get_concrete_function(ONE, N(500), ONE).runner.standing.reason


@needs_native
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_two_threads_may_be_the_first_to_need_the_compiler():
    program = """
import os, sys, threading
import autoloop
from autoloop_runtime.running import tier_up
from autoloop_runtime.ir.graph import Graph

failed = []

def run(f):
    try:
        f(Graph("empty"), [])
    except BaseException as error:
        failed.append(error)

assert "autoloop_runtime.native.native_call" not in sys.modules
for _ in range(3):  # it went wrong every other time
    if not os.fork():
        break
    assert os.wait()[1] == 0
else:
    sys.exit()
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=run, args=(f,)) for f in (tier_up._refusal, tier_up._made) * 2]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(failed)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "[]\n" * 3 and done.returncode == 0, done.stdout + done.stderr


@needs_native
def test_a_loop_that_machine_code_never_takes_is_written_without_chunks(eager, monkeypatch):
    written = []

    def noting(graph, sites=None):
        written.append(sites)
        return compile_graph(graph, sites)

    monkeypatch.setattr(automatic, "compile_graph", noting)

    @al.function
    def interpolated(x, n):
        for _ in range(n):
            x = np.interp(x, np.array([0.0, 1.0]), np.array([0.2, 0.9]))
        return x

    x, n = np.linspace(0.0, 1.0, 5), np.int64(50)
    results = [interpolated(x, n) for _ in range(8)]
    assert [sites is None for sites in written] == [False, True]
    for result in results:
        np.testing.assert_array_equal(result, interpolated.python_function(x, n))
    standing = interpolated.get_concrete_function(x, n).runner
    assert standing.executor == "sequential" and "machine code would call NumPy" in standing.reason


@needs_native
def test_a_loop_that_machine_code_takes_keeps_its_chunks(eager, monkeypatch):
    written = []
    monkeypatch.setattr(automatic, "compile_graph", lambda *given: written.append(given[1:]) or compile_graph(*given))

    @al.function
    def both(x, n):
        for _ in range(n):
            x = x * 0.5 + 1.0
        return np.interp(x, np.array([0.0, 1.0]), np.array([0.2, 0.9]))

    for _ in range(8):
        both(np.linspace(0.0, 1.0, 5), np.int64(50))
    assert len(written) == 1
