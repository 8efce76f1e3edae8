"""What functions with ``*args`` or ``**named`` are given by name is the caller's own, as what is given by place."""

import copy
import functools
import itertools

import autoloop as al
import numpy as np
import pytest

EXECUTORS = itertools.cycle(["auto", "sequential", "dataflow"])


class Held:
    n = 0.0

    def on(self, v):
        self.n += v


def appended(x, **named):
    named["log"].append(x[0])
    return x


def behind_places(*xs, log, p=None):
    log.append(1)
    p.n += xs[0][0]
    return xs[0]


def beside_names(x, *, log, **named):
    log.append(1)
    named["p"].n += x[0]
    return x


def in_a_loop(x, **named):
    i = 0
    while i < x[0]:
        named["p"].n += 1
        named["log"].append(i)
        i += 1
    return x


def every_one(x, **named):
    for value in named.values():
        if isinstance(value, list):
            value.append(2)
    return x


def given_back(x, **named):
    named["p"].v = named["log"]
    return named["log"], named["p"], named["p"].v is named["log"]


def inside_others(x, **named):
    named["d"]["q"] = 5
    named["d"].setdefault("u", []).append(x[1])
    named["d"]["h"]["n"] += 1
    named["log"].append(named["d"]["h"])
    return named["log"] is named["same"]


def called_back(x, **named):
    named["on"](x[0])
    return len(named)


def bound_anew(x, **named):
    named["a"][0] += 1
    named["a"] = x
    named.pop("log")
    return named["a"], len(named)


def _wrapper(f):
    @functools.wraps(f)
    def wrapped(*args, **named):
        return f(*args, **named)

    return wrapped


@_wrapper
def wrapped(x, log=None, p=None, **others):
    log.append(x[0])
    p.n += 1
    return x


def world():
    log, held = [], Held()
    return {"log": log, "same": log, "p": held, "on": held.on, "d": {"h": {"n": 1}}, "a": np.zeros(2)}


def told(value):
    if isinstance(value, Held):
        return "Held", told(vars(value))
    if isinstance(value, dict):
        return {key: told(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [told(one) for one in value]
    return "on" if callable(value) else repr(value)


def outcomes(f, names):
    found, given = [], world()
    for k in range(3):
        result = f(np.array([2.0, 1.0]) + k, **{name: given[name] for name in names})
        parts = result if isinstance(result, tuple) else (result,)
        which = [[name for name in names if given[name] is one] for one in parts]
        found.append(copy.deepcopy((told(result), told(given), which)))
        given["log"].append("outside")
    return found


@pytest.mark.filterwarnings("ignore:.* runs as plain Python")
@pytest.mark.parametrize(
    ("f", "names"),
    [
        (appended, ["log"]), (behind_places, ["log", "p"]), (beside_names, ["log", "p"]), (in_a_loop, ["log", "p"]),
        (every_one, ["log", "p"]), (given_back, ["log", "p"]), (inside_others, ["log", "same", "d"]),
        (called_back, ["on"]), (bound_anew, ["a", "log"]), (wrapped, ["log", "p"]),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)  # fmt: skip
def test_they_are_the_callers_own(f, names):
    executor = next(EXECUTORS)
    assert outcomes(al.function(f, executor=executor), names) == outcomes(f, names), executor


def test_a_method_has_them_too():
    class Machine:
        @al.function
        def go(self, x, **options):
            options.get("log").append(x[1])
            self.kept = options
            return x

    log, machine = [], Machine()
    for _ in range(2):
        machine.go(np.ones(2), log=log)
    assert log == [1.0, 1.0] and machine.kept["log"] is log and type(machine.kept) is dict
