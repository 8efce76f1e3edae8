"""Pictures of graphs: what is in them, and that everything stands where it should."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter

import autoloop as al
import autoloop.compat.v1 as tf
import numpy as np
import pytest
from api import Graph, TensorShape
from autoloop.drawing import Box, Cluster, Edge, Picture, dataflow_picture, structured_picture, to_dot, to_svg
from autoloop.drawing.labels import type_text, value_text
from autoloop.drawing.layers import Item, Level, Link
from autoloop.drawing.layout import lay_out, text_width
from autoloop.drawing.turns import depths
from hypothesis import given, settings
from hypothesis import strategies as st

SVG = "{http://www.w3.org/2000/svg}"


def book_example(**options):
    """The counter and the constant n of the article on what is inside while_loop."""
    graph = Graph()
    with graph.as_default():
        i = tf.get_variable("i", dtype=tf.int32, shape=[], initializer=tf.ones_initializer())
        n = tf.constant(10)
        ii, nn = tf.while_loop(lambda a, n: a < n, lambda a, n: (a + 2, n), [i, n])
        fetches = [ii + 3, nn + 4]
    return dataflow_picture(graph, fetches, title="the book's example", **options)


def nested_with_branch():
    @al.function
    def f(x, w, n):
        i = 0
        while i < n:
            j = 0
            while j < i:
                x = al.tanh(x @ w)
                j += 1
            if i > 2:
                x = x + x
            else:
                x = x * 2
            print("step", i)
            i += 1
        return x, i

    return f.get_concrete_function(np.ones((3, 3), "f4"), np.ones((3, 3), "f4"), np.int32(4)).graph


def pictures():
    graph = nested_with_branch()
    yield book_example()
    yield dataflow_picture(graph, graph.outputs, graph.inputs)
    yield dataflow_picture(graph, graph.outputs, graph.inputs, keep_variables=False)
    yield structured_picture(graph, graph.outputs, title="<traced & drawn>")


PICTURES = list(pictures())


def of_style(picture, style):
    return [box for box in picture.boxes if box.style == style]


def edges(picture):
    """Edges by what their ends say: ``("Enter a", "Merge a")``."""
    text = {box.id: f"{box.label} {box.note}".strip() for box in picture.boxes}
    return [(text[e.source], text[e.target], e) for e in picture.edges]


# -- what is drawn ------------------------------------------------------------------------------------------


def test_book_example_has_the_nodes_of_the_book():
    picture = book_example()
    kinds = Counter(box.style for box in picture.boxes)
    assert {k: kinds[k] for k in ("enter", "merge", "loop_cond", "switch", "next", "exit")} == {
        "enter": 2, "merge": 2, "loop_cond": 1, "switch": 2, "next": 2, "exit": 2,
    }  # fmt: skip
    assert sorted(box.label for box in of_style(picture, "const")) == ["10", "2", "3", "4"]
    inside = {box.style for box in picture.boxes if box.cluster == 1}
    assert {"enter", "merge", "loop_cond", "switch", "next", "exit", "kernel"} <= inside
    assert {box.cluster for box in of_style(picture, "result")} == {0}


def test_book_example_has_the_edges_of_the_book():
    found = {(a, b): e for a, b, e in edges(book_example())}
    for name in ("a", "n"):
        for a, b in (
            (f"Enter {name}", f"Merge {name}"), (f"Merge {name}", "less"), (f"Merge {name}", f"Switch {name}"),
            ("LoopCond", f"Switch {name}"), (f"Switch {name}", f"Exit {name}"), (f"Exit {name}", "add"),
        ):  # fmt: skip
            assert found[a, b].style == "data"
        assert found[f"NextIteration {name}", f"Merge {name}"].style == "back"
        assert found[f"Switch {name}", f"Exit {name}"].label == "F"
    assert found["less", "LoopCond"].label == "bool"
    assert found["Switch a", "add"].label == "T"
    assert found["add", "NextIteration a"].label == "int32"
    assert found["Switch n", "NextIteration n"].label == "T"
    assert found["10", "Enter n"].style == "data"


def test_unchanging_variables_are_invariants_in_the_graph_that_runs():
    picture = book_example(keep_variables=False)
    assert [box.note for box in of_style(picture, "merge")] == ["a"]
    assert len(of_style(picture, "enter")) == 1


def test_nested_frames_are_nested_clusters_with_the_users_line():
    clusters = PICTURES[1].clusters
    assert [c.parent for c in clusters] == [-1, 0, 1]
    assert all(re.match(r"test_drawing\.py:\d+  while [ij] < [ni]:", c.note) for c in clusters[1:])


def test_effects_are_order_not_values():
    found = edges(PICTURES[1])
    assert all(e.style == "control" for a, _, e in found if a == "print")
    assert any(b == "effects" for _, b, _ in found)
    assert {b for a, b, _ in found if b.startswith("result")} == {"result 0", "result 1"}


def test_structured_picture_has_loops_and_branches_as_areas():
    picture = PICTURES[3]
    titles = [c.title for c in picture.clusters]
    assert titles.count("cond") == 2 and titles.count("body") == 2
    assert titles.count("then") == 1 and titles.count("else") == 1
    assert sorted(b.label for b in of_style(picture, "variable")) == ["i", "j", "token", "x", "x"]
    assert len(of_style(picture, "loop_cond")) == 2


# -- dot ----------------------------------------------------------------------------------------------------

_ID = r'"(?:[^"\\]|\\.)*"'
_ATTRIBUTE = rf"\w+=(?:{_ID}|[\w.]+)"
_LINES = re.compile(
    rf"\s*(?:digraph autoloop \{{|\}}|subgraph cluster_\d+ \{{|(?:{_ATTRIBUTE};\s*)+"
    rf"|(?:graph|node|edge|{_ID}|{_ID} -> {_ID}) \[{_ATTRIBUTE}(?:, {_ATTRIBUTE})*\];)"
)


@pytest.mark.parametrize("picture", PICTURES, ids=["book", "lowered", "scheduled", "structured"])
def test_dot_is_well_formed_and_complete(picture):
    text = to_dot(picture)
    for line in text.splitlines():
        assert _LINES.fullmatch(line), line
    assert text.count("{") - text.count("}") == 0
    assert text.count(" -> ") == len(picture.edges)
    for box in picture.boxes:
        assert f'"{box.id}" [label=' in text


def test_the_same_graph_gives_the_same_text():
    assert to_dot(book_example()) == to_dot(book_example())
    assert to_svg(book_example()) == to_svg(book_example())


# -- svg ----------------------------------------------------------------------------------------------------


def shape_bounds(group):
    """Left, top, right and bottom of the outline of a node."""
    shape = next(e for e in group if e.tag in (f"{SVG}rect", f"{SVG}ellipse", f"{SVG}polygon"))
    if shape.tag == f"{SVG}polygon":
        points = [tuple(map(float, p.split(","))) for p in shape.get("points").split()]
        xs, ys = zip(*points)
        return min(xs), min(ys), max(xs), max(ys)
    names = ("cx", "cy", "rx", "ry") if shape.tag == f"{SVG}ellipse" else ("x", "y", "width", "height")
    x, y, w, h = (float(shape.get(name)) for name in names)
    return (x - w, y - h, x + w, y + h) if shape.tag == f"{SVG}ellipse" else (x, y, x + w, y + h)


@pytest.mark.parametrize("picture", PICTURES, ids=["book", "lowered", "scheduled", "structured"])
def test_svg_is_xml_and_every_node_is_inside_its_cluster(picture):
    root = ET.fromstring(to_svg(picture))
    clusters = {int(r.get("data-cluster")): r for r in root.iter(f"{SVG}rect") if r.get("class") == "cluster"}
    groups = {g.get("data-name"): g for g in root.iter(f"{SVG}g") if (g.get("class") or "").startswith("node")}
    assert groups.keys() == {box.id for box in picture.boxes}
    assert len([p for p in root.iter(f"{SVG}path") if p.get("class") == "edge"]) == len(picture.edges)
    for box in picture.boxes:
        left, top, right, bottom = shape_bounds(groups[box.id])
        if box.cluster:
            area = clusters[box.cluster]
            x, y, width, height = (float(area.get(name)) for name in ("x", "y", "width", "height"))
            assert x <= left and y <= top and right <= x + width and bottom <= y + height, box.id


def overlap(a, b):
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


@pytest.mark.parametrize("picture", PICTURES, ids=["book", "lowered", "scheduled", "structured"])
def test_layout_keeps_everything_apart(picture):
    layout = lay_out(picture)
    boxes = [layout.boxes[box.id] for box in picture.boxes]
    for i, a in enumerate(boxes):
        assert not any(overlap(a, b) for b in boxes[:i])
    for cluster in picture.clusters[1:]:
        inner, outer = layout.clusters[cluster.index], layout.clusters[cluster.parent]
        assert outer.x <= inner.x + 0.01 and inner.x + inner.width <= outer.x + outer.width + 0.01
        assert outer.y <= inner.y + 0.01 and inner.y + inner.height <= outer.y + outer.height + 0.01
        strangers = [b for b in picture.boxes if b.cluster == cluster.parent]
        assert not any(overlap(layout.boxes[b.id], inner) for b in strangers)


def test_lines_begin_and_end_at_their_boxes_and_go_down_except_back():
    picture = book_example()
    layout = lay_out(picture)
    for edge, route in zip(picture.edges, layout.routes):
        source, target = layout.boxes[edge.source], layout.boxes[edge.target]
        assert abs(route[0][1] - (source.y + source.height)) < 0.01
        assert abs(route[-1][1] - target.y) < 0.01
        assert source.x <= route[0][0] <= source.x + source.width
        assert target.x - 1 <= route[-1][0] <= target.x + target.width + 1
        if edge.style != "back":
            assert all(a[1] <= b[1] + 0.01 for a, b in zip(route, route[1:]))


def test_turns_that_overlap_are_at_heights_of_their_own():
    one, across, inside, apart = depths([(50.0, 0.0), (10.0, 65.0), (20.0, 30.0), (100.0, 150.0)])
    assert inside < one < across and apart == inside


@pytest.mark.parametrize("picture", PICTURES, ids=["book", "lowered", "scheduled", "structured"])
def test_turns_of_a_picture_do_not_lie_on_each_other(picture):
    layout = lay_out(picture)
    turns = [
        (route[k][1], *sorted((route[k - 1][0], route[k + 1][0])))
        for route in layout.routes for k in range(len(route)) if route[k][2] == 0
    ]  # fmt: skip
    assert len(turns) == 2 * sum(edge.style == "back" for edge in picture.edges)
    for number, (y, left, right) in enumerate(turns):
        assert not any(abs(y - y1) < 5 and left < b and a < right for y1, a, b in turns[:number])


@pytest.mark.parametrize("picture", PICTURES, ids=["book", "lowered", "scheduled", "structured"])
def test_no_line_passes_through_a_title(picture):
    layout = lay_out(picture)
    titles = re.findall(
        r'<text x="([\d.]+)" y="([\d.]+)" font-weight="bold" fill="#3b5578"[^>]*>([^<]*)', to_svg(picture)
    )
    assert len(titles) == len(picture.clusters) - 1
    for x, y, text in titles:
        for route in layout.routes:
            for (x0, y0, way), (_, y1, _) in zip(route, route[1:]):
                assert not (way and y0 < float(y) < y1 and float(x) <= x0 <= float(x) + text_width(text, 12)), text


def test_words_on_the_lines_from_one_box_stand_beside_each_other():
    box = Box("many", "kernel", "f")
    made = [Edge("many", f"to {k}", "data", "float64[3,3]", (k, 3)) for k in range(3)]
    ends = [Box(edge.target, "kernel", "g") for edge in made]
    starts = sorted(route[0][0] for route in lay_out(Picture("", "", (box, *ends), (*made,), (Cluster(0, -1),))).routes)
    assert min(b - a for a, b in zip(starts, starts[1:])) > text_width("float64[3,3]", 9)


def test_text_is_escaped():
    text = to_svg(PICTURES[3])
    assert "&lt;traced &amp; drawn&gt;" in text and "<traced" not in text


@given(st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=30))
@settings(max_examples=30, deadline=None)
def test_any_graph_of_additions_is_laid_out(pairs):
    graph = Graph()
    with graph.as_default():
        values = [tf.placeholder(tf.float32, [], "x")]
        for a, b in pairs:
            values.append(values[a % len(values)] + values[b % len(values)])
    picture = dataflow_picture(graph, values[-1:], values[:1])
    layout = lay_out(picture)
    boxes = list(layout.boxes.values())
    assert not any(overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])


# -- words --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape, text",
    [
        ([], "float32"), ([3, None], "float32[3,?]"), (None, "float32[...]"),
        ([1000, 1000, 1000], "float32[3d]"),
    ],
)  # fmt: skip
def test_type_text(shape, text):
    assert type_text(np.dtype("float32"), TensorShape(shape)) == text


@pytest.mark.parametrize(
    "value, text",
    [(np.int32(3), "3"), (np.array([1, 2]), "[1, 2]"), (np.zeros((5, 5)), "float64[5,5]"), (np.True_, "True")],
)
def test_value_text(value, text):
    assert value_text(value) == text


def test_many_long_lines_from_one_output_share_a_lane():
    source, *chain = (Item(40.0, 20.0) for _ in range(200))
    links = [Link(a, 0.0, b, 0.0) for a, b in zip(chain, chain[1:])]
    long = [Link(source, 5.0, b, -8.0) for b in chain]
    level = Level([source, *chain], [*links, *long])
    assert sum(map(len, level.rows)) < 3 * len(chain)  # a lane of its own for each would be 20,000 bends
    for link in long:
        (start, top, _), (end, bottom, _) = (level.route(link)[i] for i in (0, -1))
        assert (start, top) == (source.x + 5.0, source.bottom)
        assert (end, bottom) == pytest.approx((link.b.x - 8.0, link.b.top), abs=7.0)
