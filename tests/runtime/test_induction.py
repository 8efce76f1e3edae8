"""Induction variables: one answer for each loop, and by running the loops, that it is true."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from api import (
    FIXED,
    SCALAR,
    TRIPS,
    Executable,
    Graph,
    Induction,
    Node,
    compile_graph,
    compile_native,
    constant_step,
    dtypes,
    expected_trips,
    find_counted,
    infer,
    lower,
    most_trips,
    optimize,
    polling_period,
    set_outputs,
    trip_count,
    while_loop,
)
from api import ops as al
from each_case import each
from executors import needs_native

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
    stop: int = 3  # of "and"

    def values(self) -> list[Any]:
        """The arguments."""
        wide = np.int64 if self.form == "cast" else self.dtype
        given = {"start": (self.dtype, self.start), "limit": (wide, self.limit)}
        return [np.dtype(t).type(v) for name, (t, v) in given.items() if name in self.captured]

    def graph(self, ends: bool = False) -> Graph:
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
                return al.logical_and(made, s < float(self.stop)) if self.form == "and" else made

            def body(i, m, s):
                return STEPS[self.step](i), m - 1, s + 1.0

            most = 4 if self.form == "most" else None
            out = while_loop(cond, body, (start, limit, 0.0), maximum_iterations=most)
            set_outputs(graph, [out[2], out[0]] if ends else [out[2]])
        return graph

    def trips(self) -> int | None:
        """How often the body runs; ``None``: it does not end."""
        return self._run()[0]

    def end(self) -> Any:
        """The counter after that."""
        return self._run()[1]

    def _run(self) -> tuple[int | None, Any]:
        """Both by running it with NumPy's scalars."""
        dtype = np.dtype(self.dtype).type
        i, m, count = dtype(self.start), int(self.limit), 0
        with np.errstate(all="ignore"):
            while TESTS[self.test](i, m):
                if (self.form == "and" and count == self.stop) or (self.form == "most" and count == 4):
                    break
                i = dtype(STEPS[self.step](i))
                count, m = count + 1, m - (self.form == "moving")
                again = i == dtype(self.start) and m == int(self.limit) and self.form not in ("and", "most")
                if again or count > 70_000:
                    return None, i
        return count, i


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
    "greater_equal, past the end of uint8, and": Case(
        ">=", "i-1", start=9, limit=0, dtype=dtypes.uint8, captured="start", form="and", stop=300
    ),
    "less_equal, past the end of int8, and": Case("<=", "i+1", limit=127, dtype=dtypes.int8, form="and", stop=300),
    "less, cast, past the end of int8": Case(
        "<", "i+1", limit=300, dtype=dtypes.int8, form="cast"
    ),
    "not_equal": Case("!=", "i+1"),
    "not_equal, downwards": Case("!=", "i-1", start=9, limit=0),
    "not_equal, by two": Case("!=", "i+2", limit=8),
    "not_equal, missed": Case("!=", "i+2"),
    "not_equal, round the end of int8": Case("!=", "i+1", start=9, limit=0, dtype=dtypes.int8),
    "not_equal, all captured": Case("!=", "i+1", captured="start limit"),
}  # fmt: skip


def loop_of(graph: Graph) -> Node:
    (node,) = [n for n in graph.nodes if n.op.name == "While"]
    return node


def said(case: Case) -> tuple[Any, ...]:
    """The step; the trip count; a bound on it; and whether generated Python has a ``range``."""
    graph = case.graph()
    step = constant_step(loop_of(graph), 0, FIXED)
    graph = optimize(graph)
    node = loop_of(graph)
    return step, trip_count(node), most_trips(node), bool(find_counted(graph))


#: name -> what ``said`` says
ANSWERS: dict[str, tuple[Any, ...]] = {
    "less": (1, 9, 9, True),
    "less, from the other side": (1, 9, 9, True),
    "less, turned": (1, 9, 9, True),
    "less, by two": (2, 5, 5, True),
    "less, minus minus one": (1, 9, 9, True),
    "less, captured limit": (1, None, 2147483647, True),
    "less, captured start": (1, None, 2147483657, True),
    "less, all captured": (1, None, 4294967295, True),
    "less, by two, captured limit": (2, None, None, False),
    "less, moving limit": (1, None, None, False),
    "less, and": (1, None, 9, True),
    "less, cast": (1, 9, 9, True),
    "less, cast, captured limit": (1, None, None, False),
    "less, at most": (1, 4, 4, True),
    "less, downwards": (-1, 0, 0, False),
    "less, int64": (1, 9, 9, True),
    "less, uint8": (1, 9, 9, True),
    "less, float": (None, None, None, False),
    "less, product": (None, None, None, False),
    "less, to and fro": (None, None, None, False),
    "less, to the end of int8": (1, 127, 127, True),
    "less, by two past the end of int8": (2, None, None, False),
    "less, by two to the end of int8": (2, 63, 63, True),
    "less, none": (1, 0, 0, True),
    "less_equal": (1, 10, 10, True),
    "less_equal, by two": (2, 5, 5, True),
    "less_equal, captured limit": (1, None, None, False),
    "less_equal, end of int8": (1, None, None, False),
    "less_equal, end of uint8": (1, None, None, False),
    "greater": (-1, 9, 9, True),
    "greater, plus minus one": (-1, 9, 9, True),
    "greater, turned": (-1, 9, 9, True),
    "greater, by two": (-2, 5, 5, True),
    "greater, captured start": (-1, None, 2147483647, True),
    "greater, all captured": (-1, None, 4294967295, True),
    "greater, uint8": (-1, 9, 9, True),
    "greater, by two past the end of uint8": (-2, None, None, False),
    "greater, upwards": (100, None, None, False),
    "greater_equal": (-1, 10, 10, True),
    "greater_equal, by two": (-2, 5, 5, True),
    "greater_equal, captured start": (-1, None, 2147483648, True),
    "greater_equal, end of uint8": (-1, None, None, False),
    "greater_equal, end of int8": (-1, None, None, False),
    "greater_equal, past the end of uint8, and": (-1, None, None, False),
    "less_equal, past the end of int8, and": (1, None, None, False),
    "less, cast, past the end of int8": (1, None, None, False),
    "not_equal": (1, 9, 9, True),
    "not_equal, downwards": (-1, 9, 9, True),
    "not_equal, by two": (2, 4, 4, True),
    "not_equal, missed": (2, None, None, False),
    "not_equal, round the end of int8": (1, None, None, False),
    "not_equal, all captured": (1, None, None, False),
}
#: what code may take a run to be, at both ends of the dtype and near them
EDGES = (-128, -127, -126, -2, 0, 1, 2, 3, 100, 125, 126, 127)


@each(CASES)
def test_the_one_answer(name: str) -> None:
    assert said(CASES[name]) == ANSWERS[name]


@each(CASES)
def test_the_answer_is_what_a_run_does(name: str) -> None:
    case = CASES[name]
    _, trips, most, _ = ANSWERS[name]
    real = case.trips()
    assert trips in (None, real)
    assert most is None or (real is not None and real <= most)


@each(ANSWERS)
def test_how_often_a_loop_is_taken_to_run_is_what_is_known_or_one_guess(name: str) -> None:
    _, trips, most, _ = ANSWERS[name]
    taken = expected_trips(loop_of(optimize(CASES[name].graph(True))))
    assert taken == (TRIPS if most is None else min(TRIPS, most) if trips is None else trips)


def _ways(case: Case, ends: bool) -> list[Callable[..., Any]]:
    graph = optimize(case.graph(ends))
    return [compile_graph(graph), Executable(lower(graph, graph.outputs, graph.inputs)).run]


@each(product([name for name, case in CASES.items() if case.trips() is not None], [False, True]))
def test_all_run_as_often(name: str, ends: bool) -> None:
    case = CASES[name]
    want = [case.trips(), case.end()][: 1 + ends]
    for run in _ways(case, ends):
        found = run(case.values())
        assert [int(x) for x in found] == want
        assert not ends or np.asarray(found[1]).dtype == case.dtype


@needs_native
@each(CASES)
def test_machine_code_runs_as_often_and_asks_where_a_loop_may_not_end(name: str) -> None:
    case = CASES[name]
    graph = optimize(case.graph(True))
    types = infer(graph, [() for _ in graph.inputs])
    assert trip_count(loop_of(graph), types) == ANSWERS[name][1]
    if case.trips() is None:
        assert polling_period(loop_of(graph), types, []) is not None
    else:
        assert [int(x) for x in compile_native(graph)(case.values())] == [case.trips(), case.end()]


def _run(by: Induction, start: int, limit: int) -> int | None:
    """How often the test holds with numbers of eight bits."""
    value, count = start, 0
    while TESTS[by.comparison](value, limit):
        value = (value + by.step + 128) % 256 - 128
        count += 1
        if count > 256:
            return None
    return count


def _leaves(by: Induction, start: int, count: int) -> bool:
    return not -128 <= start + count * by.step <= 127


@each(product(TESTS, [1, 2, 3, 100, -1, -2, -3, -100]))
def test_every_answer_is_true_up_to_the_ends_of_the_dtype(test: str, step: int) -> None:
    unknown = {}
    for start in EDGES:
        for limit in EDGES:
            by = Induction(0, dtypes.int8, step, start, test, limit, None, None, (limit, limit))
            real = _run(by, start, limit)
            wraps = real is None or _leaves(by, start, real)
            assert by.trips == (None if wraps else real), (start, limit)
            assert by.most_trips == by.trips
            assert not by.ends or list(range(start, _past(by), step))[:300] == [start + k * step for k in range(real)]
            unknown[start, limit] = None if wraps else real
    for start in (None, *EDGES):
        for limit in (None, *EDGES):
            by = Induction(
                0, dtypes.int8, step, start, test, limit, None, None, (-128, 127) if limit is None else (limit,) * 2
            )
            if start is not None and limit is not None:
                continue
            runs = [n for (a, b), n in unknown.items() if start in (None, a) and limit in (None, b)]
            if by.ends:
                assert None not in runs
            if by.most_trips is not None:
                assert max(runs) <= by.most_trips


def _past(by: Induction) -> int:
    """The second argument of a ``range``."""
    return by.limit + {"<=": 1, ">=": -1}.get(by.comparison, 0)
