"""Trees are made whole: by other threads, and by what the collector calls, nobody comes in between."""

from __future__ import annotations

import ast
import functools
import gc
import inspect
import math
import re
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from api import parsing, templates
from autoloop.cli.arguments import parse_arguments
from each_case import each

ROOT = Path(__file__).parent.parent.parent
SOURCES = [*(ROOT / "autoloop").rglob("*.py"), *(ROOT / "runtime" / "autoloop_runtime").rglob("*.py")]


def halves(x):
    while al.sum(x) > 1.0:
        x = x * 0.5
    return x


def converted_lambda():
    return al.function(lambda x: x * 0.5 if al.sum(x) > 1.0 else x)(np.ones(3))


MAKERS = {
    "parse": lambda: parsing.parse("def f(*a, **k):\n    return g([*a], k)"),
    "expression": lambda: parsing.parse("f(1, [2, 3], x=4)", "eval"),
    "signature of a builtin": lambda: parsing.signature_of(math.prod),
    "of a partial": lambda: parsing.signature_of(functools.partial(math.prod, start=2)),
    "of a class": lambda: parsing.signature_of(type("Mine", (float,), {})),
    "decorated": lambda: al.function(halves),
    "converted": lambda: al.function(halves)(np.ones(3)),
    "a lambda": converted_lambda,
    "template": lambda: templates.parse.__wrapped__("({0} + f({1}[{2}], axis=1))"),
    "arguments": lambda: parse_arguments("[1, 2.5, (3, 4)], x=5"),
}


@contextmanager
def busy_collector():
    """A collector that is at work all the time and calls what makes trees itself."""

    def collected(phase, info):
        calls.append(phase)
        ast.parse("f(x, [y])")

    calls: list[str] = []
    old = gc.get_threshold()
    gc.callbacks.append(collected)
    gc.set_threshold(3)
    try:
        yield
    finally:
        gc.set_threshold(*old)
        gc.callbacks.remove(collected)
    assert calls and gc.isenabled()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_collection_in_between_changes_nothing(make):
    with busy_collector():
        for _ in range(3):
            make()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="later versions collect between two instructions only")
def test_without_care_it_would():
    with pytest.raises(SystemError, match="AST constructor recursion depth mismatch"), busy_collector():
        for _ in range(100):
            ast.parse("def f(*a, **k):\n    return g([*a], k)")


def test_threads_make_trees_side_by_side():
    failed, old = [], sys.getswitchinterval()

    def work(depth):
        if depth:
            return work(depth - 1)
        try:
            for make in [*MAKERS.values()] * 3:
                make()
        except BaseException as error:
            failed.append(error)

    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(7 * i,)) for i in range(4)]
        with busy_collector():
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(old)
    assert not failed


@each([True, False])
def test_the_collector_is_left_as_it_was(enabled):
    try:
        if not enabled:
            gc.disable()
        parsing.parse("x")
        assert gc.isenabled() is enabled
        with pytest.raises(SyntaxError):
            parsing.parse("x x")
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


class Callable:
    def __call__(self, a, *, b=1): ...


@pytest.mark.parametrize(
    "f", [halves, Callable(), Callable, Callable().__call__, functools.partial(halves), len, float]
)
def test_signatures_are_those_of_inspect(f):
    assert parsing.signature_of(f) == inspect.signature(f)


@pytest.mark.parametrize(("f", "error"), [(3, TypeError), ({}.update, ValueError)])
def test_no_signature(f, error):
    with pytest.raises(error):
        parsing.signature_of(f)


def test_nobody_makes_trees_elsewhere():
    by_themselves = re.compile(r"ast\.parse\(|inspect\.signature\(|PyCF_ONLY_AST|literal_eval")
    wrong = [path.name for path in SOURCES if path.name != "parsing.py" and by_themselves.search(path.read_text())]
    assert not wrong
