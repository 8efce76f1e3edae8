"""The user's lines that a node remembers."""

from __future__ import annotations

import autoloop as al
import numpy as np
from api import SCALAR, Graph, Places, locations, nodes_inside


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


def test_a_place_in_a_long_function_is_found_as_in_a_short_one():
    body = "    x = [p(), x,\n         p()]\n"
    short, long = (in_file(f"def f(p, x=None):\n{body * count}    return x\n") for count in (3, 400))
    assert len(short.__code__.co_linetable) < locations.LONG < len(long.__code__.co_linetable)

    def lines(f, places):
        seen = []
        f(lambda: seen.append(places.capture()[-2].lineno))
        return seen

    places = Places()
    assert lines(short, places) == [2, 3, 4, 5, 6, 7]
    assert lines(long, places) == list(range(2, 802))


def test_only_a_function_of_ours_ends_the_walk():
    entry = locations.TRACE_ENTRY
    users = in_file(f"def {entry}(p):\n    return p()\n\n\ndef f(p):\n    return {entry}(p)\n")
    assert [line.function for line in users(lambda: Places().capture())][-3:] == ["f", entry, "<lambda>"]
    folder = locations.__file__.removesuffix("locations.py")
    ours = in_file(f"def {entry}(p):\n    return p()\n\n\ndef f(p):\n    return {entry}(p)\n", folder + "entry.py")
    assert [line.function for line in ours(lambda: Places().capture())] == ["<lambda>"]


def test_what_optree_calls_is_not_the_users():
    def changed(n):
        b = n
        for _ in range(n):
            b = -3
        return {"nested": [b]}

    graph = al.function(changed).get_concrete_function(np.uint64(2)).graph
    last = {node.location[-1].filename for node in nodes_inside(graph) if node.location}
    assert __file__ in last and not any("optree" in name for name in last)
