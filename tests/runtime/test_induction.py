"""Induction variables: what each part of the house says of the same loops, beside what the loops do."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import autoloop_runtime.ops as al
import numpy as np
import pytest
from autoloop_runtime.base import dtypes
from autoloop_runtime.base.shapes import SCALAR
from autoloop_runtime.control.while_loop import while_loop
from autoloop_runtime.gradients import rewriting
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.native.typing.exact_shapes import infer
from autoloop_runtime.native.writer import polling
from autoloop_runtime.passes.optimize import optimize
from autoloop_runtime.python_code import scope
from autoloop_runtime.python_code.counted_loops import find_counted
from autoloop_runtime.running.prepare import set_outputs

TESTS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "!=": operator.ne}
STEPS: dict[str, Callable[[Any], Any]] = {
    "i+1": lambda i: i + 1, "1+i": lambda i: 1 + i, "i+2": lambda i: i + 2, "i-1": lambda i: i - 1,
    "i+-1": lambda i: i + -1, "i-2": lambda i: i - 2, "i--1": lambda i: i - -1, "i*2": lambda i: i * 2,
    "i+100": lambda i: i + 100, "1-i": lambda i: 1 - i,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """``while i <test> limit: i = <step>``; what is captured is an argument of the function."""

    test: str
    step: str
    start: Any = 0
    limit: Any = 9
    dtype: Any = dtypes.int32
    captured: str = ""  # of "start", "limit"
    form: str = ""  # "turned", "and", "cast", "moving", "most"

    def graph(self) -> Graph:
        graph = Graph(ordered=True)
        dtype = np.dtype(self.dtype).type
        wide = np.dtype(np.int64 if self.form == "cast" else self.dtype).type
        with graph.as_default():
            start, limit = graph.constant(dtype(self.start)), graph.constant(wide(self.limit))
            if "start" in self.captured:
                start = graph.parameter(np.dtype(dtype), SCALAR, "start")
            if "limit" in self.captured:
                limit = graph.parameter(np.dtype(wide), SCALAR, "limit")

            def cond(i, m, s):
                bound = m if self.form == "moving" else limit
                left = al.cast(i, np.dtype(wide)) if self.form == "cast" else i
                made = TURNED[self.test](bound, left) if self.form == "turned" else TESTS[self.test](left, bound)
                return al.logical_and(made, s < 3.0) if self.form == "and" else made

            def body(i, m, s):
                return STEPS[self.step](i), m - 1, s + 1.0

            most = 4 if self.form == "most" else None
            out = while_loop(cond, body, (start, limit, 0.0), maximum_iterations=most)
            set_outputs(graph, [out[2]])
        return graph

    def trips(self) -> int | None:
        """How often the body runs, by running it with NumPy's scalars; ``None``: it does not end."""
        dtype = np.dtype(self.dtype).type
        i, m, count = dtype(self.start), int(self.limit), 0
        with np.errstate(all="ignore"):
            while TESTS[self.test](i, m):
                if (self.form == "and" and count == 3) or (self.form == "most" and count == 4):
                    break
                i = dtype(STEPS[self.step](i))
                count, m = count + 1, m - (self.form == "moving")
                if count > 70_000:
                    return None
        return count


TURNED = {"<": operator.gt, "<=": operator.ge, ">": operator.lt, ">=": operator.le, "!=": operator.ne}
CASES = {
    "less": Case("<", "i+1"),
    "less, from the other side": Case("<", "1+i"),
    "less, turned": Case("<", "i+1", form="turned"),
    "less, by two": Case("<", "i+2"),
    "less, minus minus one": Case("<", "i--1"),
    "less, captured limit": Case("<", "i+1", captured="limit"),
    "less, captured start": Case("<", "i+1", captured="start"),
    "less, all captured": Case("<", "i+1", captured="start limit"),
    "less, by two, captured limit": Case("<", "i+2", captured="limit"),
    "less, moving limit": Case("<", "i+1", form="moving"),
    "less, and": Case("<", "i+1", form="and"),
    "less, cast": Case("<", "i+1", form="cast"),
    "less, cast, captured limit": Case("<", "i+1", form="cast", captured="limit"),
    "less, at most": Case("<", "i+1", form="most"),
    "less, downwards": Case("<", "i-1", start=20),
    "less, int64": Case("<", "i+1", dtype=dtypes.int64),
    "less, uint8": Case("<", "i+1", dtype=dtypes.uint8),
    "less, float": Case("<", "i+1", dtype=dtypes.float32),
    "less, product": Case("<", "i*2", start=1),
    "less, to and fro": Case("<", "1-i"),
    "less, to the end of int8": Case("<", "i+1", limit=127, dtype=dtypes.int8),
    "less, by two past the end of int8": Case("<", "i+2", limit=127, dtype=dtypes.int8),
    "less, by two to the end of int8": Case("<", "i+2", limit=126, dtype=dtypes.int8),
    "less, none": Case("<", "i+1", start=9),
    "less_equal": Case("<=", "i+1"),
    "less_equal, by two": Case("<=", "i+2"),
    "less_equal, captured limit": Case("<=", "i+1", captured="limit"),
    "less_equal, end of int8": Case("<=", "i+1", limit=127, dtype=dtypes.int8),
    "less_equal, end of uint8": Case("<=", "i+1", limit=255, dtype=dtypes.uint8),
    "greater": Case(">", "i-1", start=9, limit=0),
    "greater, plus minus one": Case(">", "i+-1", start=9, limit=0),
    "greater, turned": Case(">", "i-1", start=9, limit=0, form="turned"),
    "greater, by two": Case(">", "i-2", start=9, limit=0),
    "greater, captured start": Case(">", "i-1", start=9, limit=0, captured="start"),
    "greater, all captured": Case(">", "i-1", start=9, limit=0, captured="start limit"),
    "greater, uint8": Case(">", "i-1", start=9, limit=0, dtype=dtypes.uint8),
    "greater, by two past the end of uint8": Case(">", "i-2", start=9, limit=0, dtype=dtypes.uint8),
    "greater, upwards": Case(">", "i+100", start=9, limit=0, dtype=dtypes.int8),
    "greater_equal": Case(">=", "i-1", start=9, limit=0),
    "greater_equal, by two": Case(">=", "i-2", start=9, limit=0),
    "greater_equal, captured start": Case(">=", "i-1", start=9, limit=0, captured="start"),
    "greater_equal, end of uint8": Case(">=", "i-1", start=9, limit=0, dtype=dtypes.uint8),
    "greater_equal, end of int8": Case(">=", "i-1", start=9, limit=-128, dtype=dtypes.int8),
    "not_equal": Case("!=", "i+1"),
    "not_equal, downwards": Case("!=", "i-1", start=9, limit=0),
    "not_equal, by two": Case("!=", "i+2", limit=8),
    "not_equal, missed": Case("!=", "i+2"),
    "not_equal, round the end of int8": Case("!=", "i+1", start=9, limit=0, dtype=dtypes.int8),
    "not_equal, all captured": Case("!=", "i+1", captured="start limit"),
}  # fmt: skip


def said(case: Case) -> tuple[Any, ...]:
    graph = case.graph()
    (node,) = [n for n in graph.nodes if n.op.name == "While"]
    step, own = rewriting.constant_step(node, 0), rewriting._own_counter(node)
    graph = optimize(graph)
    (node,) = [n for n in graph.nodes if n.op.name == "While"]
    found = find_counted(graph)
    types = infer(graph, [() for _ in graph.inputs])
    trips, most = polling.trip_count(node, types), polling._most_iterations(node, types)
    k = next(k for k, name in enumerate(node.attrs["names"]) if name == "i")
    up, down, first = scope.counts_up(node, k), scope.counts_down(node, k), scope.counts_from(node, k)
    return bool(found), up, down, first, step, own == 0, trips, most, case.trips()


#: name -> a ``range`` in generated Python; up, down, and from where, for its other questions; the step and whether it
#: is the counter, for gradients; the trip count and a bound on it, in machine code; and what is true
SAID = {
    "less": (True, True, False, 0, 1, True, 9, 10.0, 9),
    "less, from the other side": (True, True, False, 0, 1, True, 9, 10.0, 9),
    "less, turned": (False, True, False, 0, 1, True, None, 10.0, 9),
    "less, by two": (False, False, False, None, 2, False, 5, 5.5, 5),
    "less, minus minus one": (False, False, False, None, 1, True, 9, 10.0, 9),
    "less, captured limit": (True, True, False, 0, 1, True, None, 2147483648.0, 9),
    "less, captured start": (True, True, False, None, 1, False, None, 2147483658.0, 9),
    "less, all captured": (True, True, False, None, 1, False, None, 4294967296.0, 9),
    "less, by two, captured limit": (False, False, False, None, 2, False, None, 1073741824.5, 5),
    "less, moving limit": (False, True, False, 0, 1, True, None, None, 5),
    "less, and": (True, True, False, 0, 1, True, None, 10.0, 3),
    "less, cast": (False, True, False, 0, 1, True, None, None, 9),
    "less, cast, captured limit": (False, True, False, 0, 1, True, None, None, 9),
    "less, at most": (True, True, False, 0, 1, True, None, 10.0, 4),
    "less, downwards": (False, False, True, None, -1, False, None, None, 0),
    "less, int64": (True, True, False, 0, 1, True, 9, 10.0, 9),
    "less, uint8": (True, True, False, 0, 1, False, 9, 10.0, 9),
    "less, float": (False, False, False, None, None, False, None, None, 9),
    "less, product": (False, False, False, None, None, False, None, None, 4),
    "less, to and fro": (False, False, False, None, None, False, None, None, None),
    "less, to the end of int8": (True, True, False, 0, 1, False, 127, 128.0, 127),
    "less, by two past the end of int8": (False, False, False, None, 2, False, 64, 64.5, None),
    "less, by two to the end of int8": (False, False, False, None, 2, False, 63, 64.0, 63),
    "less, none": (True, True, False, 9, 1, False, 0, 1.0, 0),
    "less_equal": (False, True, False, 0, 1, True, 10, 10.0, 10),
    "less_equal, by two": (False, False, False, None, 2, False, 5, 5.5, 5),
    "less_equal, captured limit": (False, True, False, 0, 1, True, None, 2147483648.0, 10),
    "less_equal, end of int8": (False, True, False, 0, 1, False, 128, 128.0, None),
    "less_equal, end of uint8": (False, True, False, 0, 1, False, 256, 256.0, None),
    "greater": (False, False, True, None, -1, False, 9, 10.0, 9),
    "greater, plus minus one": (False, False, False, None, -1, False, 9, 10.0, 9),
    "greater, turned": (False, False, True, None, -1, False, None, 10.0, 9),
    "greater, by two": (False, False, False, None, -2, False, 5, 5.5, 5),
    "greater, captured start": (False, False, True, None, -1, False, None, 2147483648.0, 9),
    "greater, all captured": (False, False, True, None, -1, False, None, 4294967296.0, 9),
    "greater, uint8": (False, False, True, None, -1, False, 9, 10.0, 9),
    "greater, by two past the end of uint8": (False, False, False, None, -2, False, 5, 5.5, None),
    "greater, upwards": (False, False, False, None, 100, False, None, None, 2),
    "greater_equal": (True, False, True, None, -1, False, 10, 10.0, 10),
    "greater_equal, by two": (False, False, False, None, -2, False, 5, 5.5, 5),
    "greater_equal, captured start": (True, False, True, None, -1, False, None, 2147483648.0, 10),
    "greater_equal, end of uint8": (True, False, True, None, -1, False, 10, 10.0, None),
    "greater_equal, end of int8": (True, False, True, None, -1, False, 138, 138.0, None),
    "not_equal": (False, True, False, 0, 1, True, None, None, 9),
    "not_equal, downwards": (False, False, True, None, -1, False, None, None, 9),
    "not_equal, by two": (False, False, False, None, 2, False, None, None, 4),
    "not_equal, missed": (False, False, False, None, 2, False, None, None, None),
    "not_equal, round the end of int8": (False, True, False, 9, 1, False, None, None, 247),
    "not_equal, all captured": (False, True, False, None, 1, False, None, None, 9),
}


@pytest.mark.parametrize("name", CASES)
def test_what_each_part_says(name: str) -> None:
    assert said(CASES[name]) == SAID[name]
