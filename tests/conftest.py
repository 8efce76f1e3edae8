"""The whole suite under another executor: ``python -m pytest --executor native``.

Everywhere a test leaves the choice to ``auto``, the one named here runs the graph. ``native`` falls back to generated
Python where machine code refuses; ``on-stack-replacement`` lets every loop begin in generated Python and go on in
machine code after its first iterations.
"""

from __future__ import annotations

import math
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent / "runtime"))  # `api`, `executors`
sys.path.append(str(Path(__file__).parent / "numpy"))  # `sample_files`
sys.path.append(str(Path(__file__).parent / "array_api"))  # `standard_signatures`
sys.path.append(str(Path(__file__).parent / "compat"))  # `programs_of_1x`, `names_of_1x`
pytest_plugins = ("assertions", "bytecode", "garbage", "hangs", "optimisation", "parallel")
EXECUTORS = ("auto", "sequential", "dataflow", "native", "on-stack-replacement")
os.environ.setdefault("AUTOLOOP_CACHE", "0")  # tests that are about the cache have a folder of their own


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--executor", choices=EXECUTORS, default="auto", help="what 'auto' stands for in all tests")
    parser.addoption("--sample", type=int, metavar="N", help="of whole programs only one in N; see day_sample.py")


def pytest_configure(config: pytest.Config) -> None:
    # interrupts are heard, also where the run was started in the background of a shell, which ignores them
    signal.signal(signal.SIGINT, signal.default_int_handler)
    import children
    import day_sample
    import examples

    examples.of_long_runs = config.getoption("markexpr") != "not nightly"
    children.afresh |= examples.of_long_runs
    if config.option.sample is None:
        names_some = config.args_source is pytest.Config.ArgsSource.ARGS or config.option.keyword
        config.option.sample = 1 if names_some or examples.of_long_runs else day_sample.BY_DAY
    day_sample.one_in = config.option.sample
    wanted = config.getoption("--executor")
    if wanted == "on-stack-replacement":
        replace_on_stack_at_once(setattr)
    elif wanted != "auto":
        _always(wanted)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--sample") > 1:
        kept = _in_sample(items)
        config.hook.pytest_deselected(items=list(set(items).difference(kept)))
        items[:] = kept
    wanted = config.getoption("--executor")
    if wanted != "auto":
        for item in items:
            if item.get_closest_marker("auto"):
                item.add_marker(pytest.mark.skip(reason=f"about what 'auto' does, which is {wanted} here"))


def _in_sample(items: list[pytest.Item]) -> list[pytest.Item]:
    """Those of the tests that are run if not all are; of one with cases inside, ``each`` has chosen some."""
    import day_sample

    kept = []
    for (path, chosen, _), group in groupby(items, _function_of):
        cases = list(group)
        if chosen:
            kept += cases
        elif day_sample.is_program(path):
            kept += [item for item in cases if day_sample.is_kept(item.nodeid)]
        else:
            kept += day_sample.sampled(cases, path)
    return kept


def _function_of(item: pytest.Item) -> tuple[Path, bool, str]:
    """Its file, whether only some of its cases are tried, and the test without its parameters."""
    return item.path, hasattr(getattr(item, "function", None), "chosen"), item.nodeid.partition("[")[0]


#: what was wrong with a graph that reached a stage while the present test ran
_wrong: list[str] = []


def pytest_runtest_setup() -> None:
    _wrong.clear()


@pytest.hookimpl(wrapper=True)  # a fixture would take longer than many tests
def pytest_runtest_teardown() -> Generator[None, Any, Any]:
    """A graph that broke a rule fails its test, also where somebody caught the error."""
    # what one test has had compiled must not be felt by the next, which may count bytes, threads or seconds
    background = sys.modules.get("autoloop_runtime.base.background")
    if background is not None:
        background.wait()
    result = yield
    assert not _wrong, "\n".join(_wrong)
    return result


@pytest.fixture(autouse=True, scope="session")
def the_same_kernels_to_the_end() -> None:
    """Kernels in machine code, whose last bits differ, come after a tenth of a second of runs: where a test asks."""
    from api import executable

    executable.LONG = math.inf


@pytest.fixture(autouse=True, scope="session")
def every_stage() -> Iterator[list[str]]:
    """What was wrong with a graph that reached a stage, in the thread of the tests: each is verified there."""
    from api import Stage, verify, watch

    # the graphs that were looked at since the first pass, and how large they were: what a pass leaves as it is is not
    # looked at again; all that comes out in the end is
    known: dict[Any, int] = {}

    def verified(graph: Any, stage: Any) -> None:
        between = stage is Stage.STRUCTURED
        if not between or (known and next(iter(known)).lineage is not graph.lineage):
            known.clear()
        if between and known.get(graph) == len(graph.nodes):
            return
        faults = [f"{stage.name.lower()}: {fault}" for fault in verify(graph, stage, known if between else None)]
        _wrong.extend(faults)
        assert not faults, "\n".join(faults)

    with watch(verified):
        yield _wrong


def _always(wanted: str) -> None:
    from api import NativeRefusal, execution

    made = execution._made

    def make(graph, executor):
        if executor != "auto" or wanted != "native":
            return made(graph, wanted if executor == "auto" else executor)
        python = made(graph, "sequential")
        try:
            native = made(graph, "native")
        except NativeRefusal:
            return python

        def run(values, *state):
            try:
                return native(values, *state)
            except NativeRefusal:
                return python(values, *state)

        # tracebacks leave out what is ours
        run.__code__ = run.__code__.replace(co_filename="<autoloop tests>")
        return run

    execution._made = make


def replace_on_stack_at_once(setattr: Callable[[Any, str, Any], None], first: int = 2) -> None:
    """Let every loop go on in machine code after its ``first`` iterations, and no whole function run in it."""
    from api import automatic, on_stack_replacement, tier_up

    compare, code = on_stack_replacement.Site.compare, on_stack_replacement.Site.code
    setattr(on_stack_replacement, "FIRST", first)
    setattr(on_stack_replacement, "SMALLEST", 0.0)
    setattr(automatic, "SMALLEST", float("inf"))
    setattr(tier_up, "price", lambda nodes: 0.0)
    setattr(on_stack_replacement.Site, "compare", lambda self, shapes, python, native: compare(self, shapes, 1e6, 1.0))
    setattr(on_stack_replacement.Site, "code", lambda self, *given: code(self, *given) or code(self, *given))
    setattr(tier_up.background, "submit", lambda job: job() is None)


@pytest.fixture
def replace_on_stack(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """A function that lets every loop go on in machine code after so many iterations."""
    return lambda first: replace_on_stack_at_once(monkeypatch.setattr, first)


@pytest.fixture
def code_is_kept(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code is kept on disk, for all tests of this run that ask for it: those that are about what it does."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # that of all workers
    monkeypatch.setenv("AUTOLOOP_CACHE", "1")
    monkeypatch.setenv("AUTOLOOP_CACHE_DIR", str(folder / "machine_code"))


@pytest.fixture
def two_threads() -> Iterator[None]:
    """As many threads for graphs."""
    from api import config

    config.set_num_threads(2)
    yield
    config.set_num_threads(None)
