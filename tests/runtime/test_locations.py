"""The user's lines that a node remembers."""

from __future__ import annotations

import numpy as np
from autoloop_runtime.graph import Graph
from autoloop_runtime.locations import Places
from autoloop_runtime.shapes import SCALAR


def in_file(source, name="user.py"):
    """The function ``f`` of ``source``, as if it stood in a file called ``name``."""
    space = {}
    exec(compile(source, name, "exec"), space)
    return space["f"]


def test_each_node_has_its_own_line_in_a_long_function():
    lines = 3000
    f = in_file("def f(x):\n" + "    x = -x\n" * lines + "    return x\n")
    graph = Graph()
    x = graph.parameter(np.dtype(np.float32), SCALAR)
    with graph.as_default():
        f(x)
    places = [node.location[-1] for node in graph.nodes[1:]]
    assert [(p.filename, p.lineno, p.function) for p in places] == [("user.py", 2 + k, "f") for k in range(lines)]


def test_an_expression_over_several_lines_and_calls():
    f = in_file(
        "def g(p):\n    return p()\n\n\ndef f(p):\n    return (p(),\n            g(p), [p() for _ in range(1)][0])\n"
    )
    inner = [place[-2 if place[-1].function == "<lambda>" else -1] for place in f(lambda: Places().capture())]
    assert [(p.lineno, p.function) for p in inner[:2]] == [(6, "f"), (2, "g")] and inner[2].lineno == 7


def test_the_same_place_is_one_object():
    places = Places()
    first, second = [places.capture() for _ in range(2)]
    third = places.capture()
    assert first is second and third[-1].lineno == first[-1].lineno + 1
