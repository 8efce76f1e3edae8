"""The garbage collector while modules are loaded: off, and afterwards what it was."""

from __future__ import annotations

import gc
import linecache
import signal
import subprocess
import sys
import threading

import pytest
from api import collector, parsing
from forking import needs_fork, run_with


@pytest.fixture
def given_back():
    before = gc.isenabled()
    yield
    assert not collector._waiting
    (gc.enable if before else gc.disable)()


@pytest.mark.parametrize("on", [True, False])
def test_it_is_off_inside_and_then_as_it_was(given_back, on):
    (gc.enable if on else gc.disable)()
    thresholds = gc.get_threshold()
    with collector.NoCollection():
        assert not gc.isenabled()
        with pytest.raises(ZeroDivisionError), collector.NoCollection():
            1 / 0  # noqa: B018
        assert not gc.isenabled()
    assert gc.isenabled() is on
    assert gc.get_threshold() == thresholds


def test_what_a_user_froze_stays_so():
    code = """
import gc
import autoloop as al
al.linalg, al.random
assert gc.isenabled() and not gc.get_freeze_count()
gc.freeze()
before = gc.get_freeze_count()
al.sparse
assert gc.isenabled() and 0 < before - 100 < gc.get_freeze_count() <= before
"""
    assert not subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr


def test_what_is_young_stays_so_where_nothing_was_loaded(given_back, monkeypatch):
    gc.enable()
    gc.collect(0)
    young = [[]]
    with collector.NoCollection():
        pass
    assert any(one is young for one in gc.get_objects(0))
    with collector.NoCollection():
        monkeypatch.setitem(sys.modules, "autoloop tests: a module", sys)
    # with a great many objects frozen, as in a run of all tests, nothing is done either
    assert collector._is_frozen or not any(one is young for one in gc.get_objects(0))


def test_it_waits_for_the_last_thread(given_back):
    gc.enable()
    inside, leave = threading.Event(), threading.Event()

    def load():
        with collector.NoCollection():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=load)
    thread.start()
    inside.wait(10)
    with collector.NoCollection():
        pass
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.skipif(not parsing._ONE_NUMBER_FOR_ALL, reason="later versions need no care for trees")
def test_it_waits_for_a_tree_that_another_thread_makes(given_back):
    gc.enable()
    inside, leave = threading.Event(), threading.Event()

    def load():
        with collector.NoCollection():
            inside.set()
            leave.wait(10)

    def make():
        leave.set()
        thread.join()
        return gc.isenabled()

    thread = threading.Thread(target=load)
    thread.start()
    inside.wait(10)
    assert not parsing._alone(make)
    assert gc.isenabled()


@pytest.mark.parametrize("step", range(1, 16))
def test_a_handler_that_needs_it_anywhere_changes_nothing(given_back, step):
    """At each line of what begins and ends the pause, as a signal handler may."""
    gc.enable()
    left = [step]

    def trace(frame, event, arg):
        if frame.f_code.co_filename != collector.__file__:
            return None
        if event == "line":
            left[0] -= 1
            if not left[0]:
                with collector.NoCollection():
                    seen.append(gc.isenabled())
        return trace

    seen = []
    sys.settrace(trace)
    try:
        with collector.NoCollection():
            seen.append(gc.isenabled())
    finally:
        sys.settrace(None)
    assert not any(seen) and gc.isenabled() and not collector._waiting


@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="needs signals")
@pytest.mark.parametrize("step", range(1, 16))
def test_ctrl_c_anywhere_leaves_it_on(given_back, monkeypatch, step):
    """At each line of what begins and ends the pause."""
    gc.enable()
    left = [step]

    def trace(frame, event, arg):
        if frame.f_code.co_filename != collector.__file__:
            return None
        # not where a lock is given back: there Python looks for no signal
        if event == "line" and not linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip().startswith(
            "with"
        ):
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        with collector.NoCollection():
            monkeypatch.setitem(sys.modules, "autoloop tests: a module", sys)
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    assert gc.isenabled() and not collector._waiting and not collector._LOCK._is_owned()


@needs_fork
def test_a_child_does_not_wait_for_threads_that_it_has_not(tmp_path):
    out = run_with(
        """
import gc
from autoloop_runtime.base import collector
gc.enable()
inside, leave = threading.Event(), threading.Event()
def load():
    with collector.NoCollection():
        inside.set(); leave.wait()
thread = threading.Thread(target=load); thread.start(); inside.wait()
def look():
    assert gc.isenabled()
def within():
    assert not gc.isenabled()
reap({"child": child(look)})
with collector.NoCollection(): reap({"own": child(within)})
leave.set(); thread.join()
assert gc.isenabled()
print("done")
""",
        tmp_path,
    )
    assert out.strip() == "done"
