"""What is checked of one random program; importable by the processes that share the work."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import autoloop as al
import numpy as np
from api import EAGER, optimize, prepare, why_not
from array_functions import arguments, random_function
from random_functions import random_program
from random_programs import Program, interpret
from random_programs import outcome as results_and_effects
from smooth_functions import along, between, point, random_smooth, slopes

EXECUTORS = ["auto", "dataflow", "sequential"]
if not why_not():
    EXECUTORS.append("native")


def outcome(f: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The value, or the exception."""
    try:
        return f(*arguments)
    except Exception as error:
        return error


def same(got: Any, wanted: Any) -> bool:
    """Equal numbers in equal structures; exceptions of one type."""
    if isinstance(wanted, BaseException) or isinstance(got, BaseException):
        return type(got) is type(wanted)
    if isinstance(wanted, tuple):
        return isinstance(got, tuple) and len(got) == len(wanted) and all(map(same, got, wanted))
    if not isinstance(got, (int, float, np.generic, np.ndarray, al.Tensor)):
        return False  # nothing private
    return np.array_equal(np.asarray(got), np.asarray(wanted))


def _runs(program: Callable[..., Any], call: tuple[Any, ...]) -> dict[str, Callable[..., Any]]:
    """The decorated function under each executor: traced once, which is most of the work."""
    concrete = al.function(program).get_concrete_function(*call)
    graph, runs = concrete.runner.graph, {}
    for executor in EXECUTORS:
        try:
            runner = concrete.runner if executor == "auto" else prepare(graph, executor)
        except NotImplementedError:
            continue

        def run(*arguments: Any, runner: Any = runner) -> Any:
            concrete.runner = runner
            return concrete(*[a for a in arguments if isinstance(a, (np.ndarray, al.Tensor))])

        runs[executor] = run
    return runs


def _compare(
    program: Callable[..., Any], text: str, calls: list[tuple[Any, ...]], given: Callable[[Any], Any]
) -> tuple[list[str], list[str]]:
    try:
        runs = _runs(program, given(calls[0]))
    except Exception as error:
        return ["refused"], [f"{calls[0]}: {type(error).__name__}: {error}\n{text}"]
    words = [f"{executor} refused" for executor in EXECUTORS if executor not in runs]
    wrong: list[str] = []
    for executor, run in runs.items():
        for call in calls:
            want, got = outcome(program, call), outcome(run, given(call))
            if same(got, want):
                words.append(f"{executor} as Python")
                continue
            words.append(f"{executor} WRONG")
            wrong.append(f"{executor}{call} gives {got!r}, Python {want}\n{text}")
            break
    return words, wrong


def of_integers(seed: int) -> tuple[list[str], list[str]]:
    """Nested loops, jumps, structures and lists of integers."""
    program, text = random_program(seed)
    return _compare(program, text, [(0, 1, 2), (3, -1, 7)], lambda call: [al.constant(v, al.int64) for v in call])


def of_arrays(seed: int) -> tuple[list[str], list[str]]:
    """Arrays, numbers and flags."""
    program, text = random_function(seed)
    return _compare(program, text, arguments(seed), copy.deepcopy)


def of_graphs(seed: int) -> tuple[list[str], list[str]]:
    """Graphs of nested loops, branches and effects, beside an interpreter of graphs that is the simplest there is."""
    program = Program(random.Random(seed), effects=seed % 3 == 0)
    want = results_and_effects(lambda values: interpret(program.graph, values), program.values)
    words, wrong = [], []
    for executor in EXECUTORS:
        try:
            runner = prepare(optimize(program.graph), executor)
            got = results_and_effects(lambda values: runner.run(values, EAGER), program.values)
        except NotImplementedError:
            words.append(f"{executor} refused")
            continue
        # machine code has another library of functions
        rtol = 1e-5 if executor in ("auto", "native") else 0.0
        right = all(
            np.allclose(g, w, rtol=rtol, atol=rtol, equal_nan=True) for g, w in zip(got[0], want[0], strict=True)
        )
        right = right and [g.dtype for g in got[0]] == [w.dtype for w in want[0]] and repr(got[1]) == repr(want[1])
        words.append(f"{executor} as interpreted" if right else f"{executor} WRONG")
        wrong += [] if right else [f"graph {seed} under {executor}: {got}, not {want}"]
    return words, wrong


def _derivatives(f: Callable[..., Any], executor: str, directions: list[np.ndarray]) -> tuple[Any, Any]:
    decorated = al.function(f, executor=executor)

    def gradient(a: Any, b: Any) -> Any:
        return al.grad(decorated, argnums=(0, 1))(a, b)

    def slope(a: Any, b: Any) -> Any:
        found = gradient(a, b)
        return al.sum(found[0] * directions[0]) + al.sum(found[1] * directions[1])

    def both(a: Any, b: Any) -> Any:
        return gradient(a, b), al.grad(slope, argnums=(0, 1))(a, b)

    def forward(a: Any, b: Any) -> Any:
        return al.jvp(decorated, [a, b], directions)[1]

    return al.function(both, executor=executor), al.function(forward, executor=executor)


#: with larger derivatives 16 digits of a program's value say too little of them
STEEP = 1e6


def _close(found: Any, wanted: Any, rtol: float) -> bool:
    return all(np.allclose(np.asarray(f), w, rtol=rtol, atol=rtol) for f, w in zip(found, wanted, strict=True))


def of_derivatives(seed: int) -> tuple[list[str], list[str]]:
    """First and second order and forward mode, under one executor, beside complex steps and their differences."""
    program, text = random_smooth(seed)
    arrays, directions, trips = point(seed)
    executor = EXECUTORS[seed % len(EXECUTORS)]

    def f(a: Any, b: Any) -> Any:
        return program(a, b, trips)

    try:
        first = slopes(f, arrays)
        second, again = (along(f, arrays, directions, h) for h in (1e-5, 2e-5))
    except FloatingPointError:
        return ["left out: it overflows"], []
    if not all(np.isfinite(g).all() for g in first):
        return ["left out: it overflows"], []
    if max(np.abs(g).max() for g in first) > STEEP:
        return ["left out: so steep that rounding decides"], []
    backward, forward = _derivatives(f, executor, directions)
    try:
        try:
            found, found_second = backward(*arrays)
            moved = forward(*arrays)
        except NotImplementedError:
            backward, forward = _derivatives(f, "auto", directions)
            found, found_second = backward(*arrays)
            moved = forward(*arrays)
            executor = "auto"
    except Exception as error:
        return [f"{executor} raised"], [f"{executor}, seed {seed}: {type(error).__name__}: {error}\n{text}"]
    expected = sum(float(np.sum(d * g)) for d, g in zip(directions, first))
    held = {"first order": _close(found, first, 1e-8), "forward": _close([moved], [expected], 1e-8)}
    # no corner near by: neither between the points of the differences nor, as where rounding decides a branch, in them
    if _close(second, again, 1e-5) and _close(between(f, arrays, directions, 1e-5), first, 1e-6):
        held["second order"] = _close(found_second, second, 1e-4)
    wrong = [f"{name} under {executor}, seed {seed}:\n{text}" for name, right in held.items() if not right]
    return [f"{executor} {name} {'right' if right else 'WRONG'}" for name, right in held.items()], wrong
