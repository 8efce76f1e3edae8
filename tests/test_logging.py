"""What is told to ``logging``: traces, machine code, decisions; of which line; and handlers may do what they like."""

from __future__ import annotations

import logging
import sys
import threading

import autoloop as al
import numpy as np
import pytest
from api import automatic, background, compiling, on_stack_replacement, tier_up
from executors import needs_native

LOGGER = logging.getLogger("autoloop")
INFO, DEBUG = logging.INFO, logging.DEBUG


@pytest.fixture
def told(caplog):
    """What was told since it was asked last, of a level and above: the name of the logger, and the words."""

    def those(level=INFO):
        found = [
            (r.name, r.getMessage()) for r in caplog.records if r.name.startswith("autoloop") and r.levelno >= level
        ]
        caplog.clear()
        return found

    with caplog.at_level(DEBUG, logger="autoloop"):
        yield those


@pytest.fixture
def handled():
    """Have a function called with each record of ours."""
    added = []

    def handle(f):
        handler = logging.Handler()
        handler.emit = f
        LOGGER.addHandler(handler)
        added.append(handler)

    LOGGER.setLevel(INFO)
    yield handle
    LOGGER.setLevel(logging.NOTSET)
    for handler in added:
        LOGGER.removeHandler(handler)


def halved(x, n):
    while n > 0:
        x, n = x / 2, n - 1
    return x


def line_here():
    return sys._getframe(1).f_lineno


def test_traces_are_told_at_the_calls_and_why_there_is_another(told, caplog):
    f = al.function(lambda x, factor: x * factor, name="f")
    at = line_here() + 1
    f(np.ones(3), 2.0)
    first = caplog.records[-1]
    assert (first.pathname, first.lineno, first.funcName) == (__file__, at, sys._getframe().f_code.co_name)
    ((name, said),) = told()
    assert name == "autoloop.tracing" and said.startswith("f: trace 1, for float64[3], 2.0, made in ")
    assert said.endswith(" nodes)")
    f(np.ones(3), 2.0)
    assert told(DEBUG) == []
    assert sum(isinstance(one, logging.NullHandler) for one in LOGGER.handlers) == 1
    f(np.ones(4), 2.0)
    ((_, said),) = told()
    assert "f: trace 2, for float64[4]" in said and said.endswith(
        "there is another because x was float64[3], is float64[4]"
    )


def test_a_change_of_the_world_is_a_reason(told):
    world = {"a": 1}
    f = al.function(lambda x: x * world["a"])
    f(np.ones(3))
    world["a"] = 2
    f(np.ones(3))
    assert told()[1][1].endswith("world['a'] was 1, is 2")


def test_nothing_is_told_unless_the_level_is_set(caplog, told):
    with caplog.at_level(DEBUG):
        LOGGER.setLevel(logging.NOTSET)
        al.function(lambda x: x + 1)(np.ones(3))
        assert told(0) == []
        LOGGER.setLevel(logging.WARNING)
        al.function(lambda x: x + 1)(np.ones(3))
        assert told(0) == []


def test_what_plain_python_runs_is_told_once_for_each_reason(told):
    @al.function
    def f(x):
        return id(object()) if x.sum() > 0 else open("no such file")

    with pytest.warns(UserWarning, match="AL010") as warned:
        for _ in range(3):
            f(np.ones(3))
    assert told() == [("autoloop.tracing", str(one.message)) for one in warned]


@needs_native
def test_machine_code_is_told_and_where_it_comes_from(told, caplog, tmp_path, monkeypatch):
    compiling.host()
    monkeypatch.setenv("AUTOLOOP_CACHE", "1")
    monkeypatch.setenv("AUTOLOOP_CACHE_DIR", str(tmp_path))
    for word, level in (("compiled", INFO), ("taken from the cache on disk", DEBUG)):
        assert al.function(halved, executor="native")(np.float64(8), np.int64(3)) == 1
        (record,) = [one for one in caplog.records if one.name == "autoloop.native"]
        assert record.levelno == level and record.filename == "test_logging.py"
        assert record.lineno == halved.__code__.co_firstlineno + 1
        assert f" {word} in " in record.getMessage() and record.getMessage().endswith("as asked for")
        told()


@needs_native
@pytest.mark.auto
def test_what_auto_decides_is_told(told, monkeypatch):
    monkeypatch.setattr(tier_up, "price", lambda nodes: 0.0)
    for module in (on_stack_replacement, automatic):
        monkeypatch.setattr(module, "SMALLEST", 0.0)
    f = al.function(halved)
    for _ in range(12):
        f(np.float64(1), np.int64(3000))
        background.wait()
    said = told(DEBUG)
    assert ("autoloop.running", "auto begins with sequential") in [
        (name, text.partition(":")[0]) for name, text in said
    ]
    assert any(name == "autoloop.native" and text.endswith("in the background") for name, text in said)
    assert any(name == "autoloop.running" and text.startswith("machine code ") for name, text in said)


def test_settings_of_blocks_are_told(told, caplog):
    at = line_here() + 1
    with al.config(num_threads=1, memory_limit=10**9):
        assert caplog.records[-1].lineno == at
    assert told(DEBUG) == [("autoloop.running", "in a block, settings are num_threads=1, memory_limit=1000000000")]


def test_a_handler_that_raises_stops_nothing(handled, capsys, monkeypatch):
    def broken(record):
        raise ValueError(f"no room for {record.name}")

    handled(broken)
    assert al.function(lambda x: x + 1)(1) == 2
    assert "no room for autoloop.tracing" in capsys.readouterr().err
    monkeypatch.setattr(logging, "raiseExceptions", False)
    assert al.function(lambda x: x + 1)(1) == 2
    assert capsys.readouterr().err == ""


def test_an_interrupt_in_a_handler_passes_and_leaves_nothing(handled):
    def interrupt(record):
        raise KeyboardInterrupt

    f = al.function(lambda x: x + 1)
    handled(interrupt)
    with pytest.raises(KeyboardInterrupt):
        f(1)
    assert f(1) == 2
    LOGGER.setLevel(DEBUG)
    before = al.config.settings()
    with pytest.raises(KeyboardInterrupt), al.config(num_threads=1, memory_limit=5):
        pass
    assert al.config.settings() == before


def test_handlers_may_call_what_was_traced_and_what_they_do_is_not_told(handled):
    f, seen = al.function(lambda x: x + 1), []
    handled(lambda record: seen.append((record.name, f(np.ones(3)).tolist())))
    assert f(np.ones(2)).tolist() == [2, 2] and f.tracing_count == 2
    assert seen == [("autoloop.tracing", [2, 2, 2])]


def test_handlers_stand_outside_the_trace_and_what_records_it(handled):
    double, results = al.function(lambda x: 2 * x), []
    handled(lambda record: results.append(double(al.constant(3.0))))
    with al.GradientTape() as tape:
        x = al.Variable(2.0)
        y = al.function(lambda: x * x)()
    assert float(tape.gradient(y, x)) == 4 and [float(one) for one in results] == [6]


def test_no_lock_is_held_while_a_handler_waits_for_another_thread(handled):
    f, ended = al.function(lambda x: x + 1), []

    def shown(record):
        if threading.current_thread() is not me:
            return False
        other = threading.Thread(target=lambda: ended.append(f(np.ones(7)).tolist()))
        other.start()
        other.join(20)
        ended.append(other.is_alive())
        return False

    me = threading.current_thread()
    handled(lambda record: None)
    LOGGER.handlers[-1].addFilter(shown)  # which is asked before the handler takes a lock of its own
    f(np.ones(3))
    assert ended == [[2.0] * 7, False]


def test_the_functions_own_records_are_as_they_were(handled, caplog):
    @al.function
    def f(x):
        while x > 1:
            x = x / 2
            logging.getLogger("mine").warning("now %s", x)
        return x

    LOGGER.setLevel(logging.NOTSET)
    with caplog.at_level(INFO):
        f(np.float64(4))
        f(np.float64(2))
    assert [(r.name, r.getMessage()) for r in caplog.records] == [("mine", f"now {x}") for x in (2.0, 1.0, 1.0)]
