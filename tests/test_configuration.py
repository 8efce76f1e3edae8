"""Settings: of the process, of blocks, and from the environment; the page that lists them."""

from __future__ import annotations

import asyncio
import re
import threading
import warnings
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from autoloop.cli import main
from executors import EXECUTORS

NAMES = (
    "as_python", "executor", "memory_limit", "native", "num_threads", "progress", "spare_memory", "swap_budget",
)  # fmt: skip
OTHERS = [name for name in EXECUTORS if name != "auto"]
N = np.int64(5)


def count(x):
    i = 0
    while i < x:
        i += 1
    return i


def executor_of(f, *args):
    return al.explain(f, *args).executor


def test_a_block_sets_and_puts_back():
    before = al.config.settings()
    assert sorted(before) == list(NAMES)
    with al.config(num_threads=3, native=False, memory_limit=9, spare_memory=8, swap_budget=7):
        inside = al.config.settings()
        assert inside == {
            **before, "num_threads": 3, "native": False, "memory_limit": 9, "spare_memory": 8, "swap_budget": 7,
        }  # fmt: skip
        with pytest.raises(KeyError), al.config(num_threads=None, swap_budget=None):
            assert al.config.get_swap_budget() == before["swap_budget"]
            raise KeyError
        assert al.config.settings() == inside
    assert al.config.settings() == before


def test_a_block_may_be_entered_again():
    block, before = al.config(num_threads=5, swap_budget=1), al.config.settings()
    for _ in range(2):
        with block, al.config(num_threads=6):
            with block:
                assert al.config.get_num_threads() == 5
            assert al.config.get_num_threads() == 6
    assert al.config.settings() == before


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"threads": 1}, TypeError, f"there is no setting 'threads'; there are {', '.join(NAMES)}"),
        ({"num_threads": 0}, ValueError, "the number of threads must be a positive integer, got 0"),
        ({"executor": "fast"}, ValueError, "one of auto, dataflow, sequential, native, dask, got 'fast'"),
        ({"native": 1}, TypeError, "native takes True, False or None, got 1"),
        ({"swap_budget": -1, "num_threads": 3}, ValueError, "the swap budget cannot be negative, got -1"),
    ],
)
def test_what_there_is_not_is_refused_before_the_block(settings, error, words):
    with pytest.raises(error, match=re.escape(words)):
        al.config(**settings)
    with pytest.raises(ValueError, match="executor must be one of"):
        al.config.set_executor("fast")


def test_a_setting_is_not_assigned():
    for name in NAMES:
        with pytest.raises(AttributeError, match=rf"config\.{name} is not assigned; config\({name}=...\) sets it"):
            setattr(al.config, name, 1)


@pytest.mark.parametrize("executor", OTHERS)
def test_an_executor_runs_functions_that_have_none(executor):
    follows, own = al.function(count), al.function(count, executor="dataflow")
    assert follows(N) == 5
    with al.config(executor=executor):
        assert [follows(N), own(N), follows(N)] == [5, 5, 5]
        assert (executor_of(follows, N), executor_of(own, N)) == (executor, "dataflow")
        slope = al.grad(al.function(lambda x: x * x), 0)
        assert slope(3.0) == 6.0
        if executor != "dataflow":
            with al.config(executor="dataflow"):
                assert executor_of(follows, N) == "dataflow"
    assert follows(N) == 5 and follows.executor == "auto"


def test_an_executor_of_the_process_runs_methods_too():
    class Model:
        by, calls = 2, 0

        @al.function
        def step(self, x):
            self.calls += 1
            while x < 10:
                x = x * self.by
            return x

    model = Model()
    al.config.set_executor("dataflow")
    try:
        assert (model.step(np.int64(3)), model.calls) == (12, 1)
        model.by = 3
        assert (model.step(np.int64(3)), model.calls) == (27, 2)
        assert executor_of(model.step, np.int64(3)) == "dataflow"
    finally:
        al.config.set_executor(None)
    assert model.step(np.int64(4)) == 12 and model.step.executor == "auto"


def test_calls_that_have_become_fast_ask_again():
    seen = []

    class Watched(int):
        pass

    @al.function
    def f(x):
        seen.append(type(x))
        return x + 1

    for _ in range(40):
        assert f(2.0) == 3.0
    del seen[:]
    with al.config(as_python=True):
        assert f(2.0) == 3.0 and f(2.0) == 3.0
        assert seen == [float, float]
    assert f(2.0) == 3.0


def test_blocks_are_of_their_thread_and_task():
    f = al.function(count)
    for _ in range(40):
        f(N)
    told = {}

    def other():
        told["thread"] = al.config.get_executor(), al.config.runs_as_python(), f(N)

    async def task(executor):
        with al.config(executor=executor):
            await asyncio.sleep(0)
            return al.config.get_executor(), f(N)

    async def tasks():
        return await asyncio.gather(task("dataflow"), task("sequential"))

    with al.config(executor="sequential", as_python=True):
        one = threading.Thread(target=other)
        one.start()
        one.join()
        assert al.config.runs_as_python()
    assert told["thread"] == ("auto", False, 5)
    assert asyncio.run(tasks()) == [("dataflow", 5), ("sequential", 5)]
    assert al.config.get_executor() == "auto" and f(N) == 5


def test_a_switch_of_the_environment_is_0_or_1(monkeypatch):
    al.config.set_native(None)  # what the environment says
    for value, is_on in (("0", False), ("1", True), ("", True)):
        monkeypatch.setenv("AUTOLOOP_NATIVE", value)
        assert al.config.get_native() is is_on
    monkeypatch.setenv("AUTOLOOP_NATIVE", "nope")
    with pytest.warns(UserWarning, match=r"AUTOLOOP_NATIVE='nope': it is 0 or 1, and this counts as 1"):
        assert al.config.get_native()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert al.config.get_native()  # it is said once


def test_the_page_lists_the_settings():
    """As ``config`` has them: names, functions, variables of the environment."""
    page = (Path(__file__).parent.parent / "docs" / "environment.md").read_text().partition("## Settings")[2]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| ([^|]*) ?\| ([^|]*) \|", page, re.MULTILINE)
    assert [name for name, *_ in rows] == list(NAMES)
    functions = [name for _, cell, *_ in rows for name in re.findall(r"`(\w+)`", cell)]
    assert sorted([*functions, "settings"]) == sorted(al.config.__all__)
    variables = {name for _, _, cell, _ in rows for name in re.findall(r"`(\w+)`", cell)}
    source = Path(al.config.__file__).read_text()
    assert variables == set(re.findall(r'^[A-Z_]+ = "(AUTOLOOP_\w+)"', source, re.MULTILINE))


def test_versions_are_shown_for_reports(capsys, monkeypatch):
    monkeypatch.setenv("AUTOLOOP_CACHE", "0")
    al.show_versions()
    told = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert told["autoloop"] == al.__version__ and told["numpy"] == np.__version__
    assert {"python", "system", "optree", "gast", "llvmlite", "scipy", "libmvec", "BLAS and threads"} <= told.keys()
    assert (told["AUTOLOOP_CACHE"], told["cache"], told["config.executor"]) == ("0", "none", "auto")
    assert main(["versions"]) == 0
    assert capsys.readouterr().out.startswith("python: ")
