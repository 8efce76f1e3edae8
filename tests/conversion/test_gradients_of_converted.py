"""Gradients of converted functions that write into arrays under conditions, leave loops and read names in closures.

Plain Python is the oracle: central differences of the undecorated function.
"""

from __future__ import annotations

import linecache
import random

import autoloop as al
import numpy as np
import pytest
from autoloop.differentiation import grad, jvp
from each_case import each

X = np.array([0.9, 0.5, 1.2])


def break_and_closure(x, p):
    v = x * 1.0
    total = lambda: np.sum(v * v)  # noqa: E731
    for i in range(3):
        if v[i] > p:
            break
        v[i] = x[0] * p
    return total()


def item_in_nested_branches(x, p):
    v = x * 1.0

    def scaled():
        return v[0] * p

    if p > 0.0:
        v[1] = scaled() * x[0]
        if v[1] > 0.5:
            v[2] = v[1] * scaled()
        else:
            v[0:2] = v[1:] * x[1]
    return np.sum(v * v)


def item_in_a_branch_of_a_loop(x, p):
    v, s = x * 1.0, np.sum(x)

    def scaled():
        return s * v[0]

    for i in range(3):
        al.set_loop_options(unroll=False)
        if s > p:
            v[i] = scaled() + x[1]
            s = s * 0.5 + v[2]
        if s < 0.4:
            break
    return s + np.sum(v * v)


def gradient_inside_a_branch(x, p):
    v = x * 1.0
    if p > 0.0:
        v[1] = x[0] * x[2]
    return np.sum(v * v)


PROGRAMS = {f.__name__: f for f in (
    break_and_closure, item_in_nested_branches, item_in_a_branch_of_a_loop, gradient_inside_a_branch,
)}  # fmt: skip


def slope(f, *rest):
    step = 1e-6
    return [(f(X + step * d, *rest) - f(X - step * d, *rest)) / (2 * step) for d in np.eye(3)]


@pytest.mark.parametrize("p", [1.1, 0.3, -0.7])
@pytest.mark.parametrize("name", PROGRAMS)
def test_writes_under_conditions(name, p, monkeypatch):
    f = PROGRAMS[name]
    ways = {
        "grad in a function": al.function(grad(f)),
        "grad of a function": grad(al.function(f)),
        "jvp": lambda x, p: [al.function(lambda x, d: jvp(lambda x: f(x, p), [x], [d])[1])(x, d) for d in np.eye(3)],
    }
    found = {way: np.asarray(g(X.copy(), p)) for way, g in ways.items()}
    h = 1e-5
    curvature = np.asarray(al.function(grad(lambda x, p: np.sum(np.sin(grad(f)(x, p)))))(X.copy(), p))
    steps = [
        np.sum(np.sin(np.asarray(ways["grad in a function"](X + s * h * d, p)))) for d in np.eye(3) for s in (1, -1)
    ]
    np.testing.assert_allclose(curvature, np.subtract(steps[::2], steps[1::2]) / (2 * h), rtol=1e-5, atol=1e-6)
    monkeypatch.setattr(al, "set_loop_options", lambda **_: None)
    expected = slope(f, p)
    for way, g in found.items():
        np.testing.assert_allclose(g, expected, rtol=1e-5, atol=1e-6, err_msg=way)


# -- programs made by chance --------------------------------------------------------------------------------

VALUES = (
    "s * 0.9", "x[0]", "x[2]", "np.sin(s)", "v[0] * 0.5", "v[2] * 0.5", "x[0] * x[1]", "np.sum(v) * 0.3", "s + x[2]",
    "f() * 0.2", "np.sum(v[0:2] * x[1:])",
)  # fmt: skip
TESTS = ("s > {}", "v[1] > {}", "x[0] < {}", "np.sum(v) > {}")


def block(rng, depth, in_loop):
    """The lines of some statements on the array ``v`` and the number ``s``."""
    lines = []
    for _ in range(rng.randint(1, 3)):
        value = rng.choice(VALUES)
        test = rng.choice(TESTS).format(round(rng.uniform(-1, 2), 2))
        kind = rng.choice(["item", "number", "slice", "array", "add"] + ["if", "if", "loop"] * (depth > 0))
        if kind == "if":
            lines += [f"if {test}:", *indented(block(rng, depth - 1, in_loop))]
            if rng.random() < 0.5:
                lines += ["else:", *indented(block(rng, depth - 1, in_loop))]
        elif kind == "loop" and not in_loop:
            inside = block(rng, depth - 1, True)
            if rng.random() < 0.5:
                inside += [f"if {test}:", f"    {rng.choice(['break', 'continue'])}", f"s = {value}"]
            options = rng.choice(["pass", "al.set_loop_options(unroll=False)", "al.set_loop_options(unroll=True)"])
            lines += ["for i in range(3):", *indented([options, *inside])]
        else:
            index = rng.choice(["0", "1", "2", *["i"] * in_loop])
            lines.append({"item": f"v[{index}] = {value}", "slice": f"v[0:2] = v[1:] * ({value})", "array": "v = v * x",
                          "add": f"v[1] += {value}"}.get(kind, f"s = s * 0.5 + {value}"))  # fmt: skip
    return lines


def indented(lines):
    return [f"    {line}" for line in lines]


def random_program(seed):
    rng = random.Random(seed)
    start = ["v = x * 1.0", "s = np.sum(x) * 0.1", f"f = lambda: {rng.choice(['np.sum(v)', 's * 0.1', 's * v[0]'])}"]
    return "\n".join(["def program(x):", *indented([*start, *block(rng, 3, False), "return s + np.sum(v * v)"]), ""])


def compiled(source, seed):
    name = f"<gradient of program {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"np": np, "al": al}
    exec(compile(source, name, "exec"), space)
    return space["program"]


@each(range(20))
def test_programs_made_by_chance(seed):
    source = random_program(seed)
    program = compiled(source, seed)
    expected = slope(compiled(source.replace("al.set_loop_options", "dict"), f"{seed}, plain"))
    found = al.function(grad(program))(X.copy())
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5, err_msg=source)
    forward = al.function(lambda x, d: jvp(program, [x], [d])[1])
    np.testing.assert_allclose([forward(X, d) for d in np.eye(3)], expected, rtol=1e-4, atol=1e-5, err_msg=source)
