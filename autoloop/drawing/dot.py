"""A picture as Graphviz text."""

from __future__ import annotations

from .picture import Box, Edge, Picture
from .styles import CLUSTER_FILLS, CLUSTER_STROKE, EDGE_COLOURS, GREY, STYLES

_FONT = 'fontname="Helvetica"'
_EDGE_STYLES = {"data": "solid", "back": "dashed", "control": "dotted"}


def to_dot(picture: Picture) -> str:
    """Return the text that ``dot`` draws; the same picture always gives the same text."""
    title = "\n".join(filter(None, [picture.title, picture.note]))
    lines = [
        "digraph autoloop {",
        f'  graph [{_FONT}, label={_quoted(title)}, labelloc="t", compound=true, rankdir="TB"];',
        f'  node [{_FONT}, fontsize=11, style="filled", margin="0.08,0.04", height=0.3];',
        f"  edge [{_FONT}, fontsize=9, fontcolor={_quoted(GREY)}];",
        *_cluster(picture, 0, 1),
        *(_edge(edge) for edge in picture.edges),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _cluster(picture: Picture, index: int, depth: int) -> list[str]:
    pad = "  " * depth
    lines = [pad + _box(box) for box in picture.boxes if box.cluster == index]
    for inner in picture.clusters:
        if inner.parent == index:
            heading = "\n".join(filter(None, [inner.title, inner.note]))
            fill = CLUSTER_FILLS[min(depth, len(CLUSTER_FILLS) - 1)]
            lines += [
                f"{pad}subgraph cluster_{inner.index} {{",
                f'{pad}  label={_quoted(heading)}; labeljust="l"; fontsize=11; style="rounded,filled"; '
                f"fillcolor={_quoted(fill)}; color={_quoted(CLUSTER_STROKE)};",
                *_cluster(picture, inner.index, depth + 1),
                f"{pad}}}",
            ]
    return lines


def _box(box: Box) -> str:
    style = STYLES[box.style]
    label = "\n".join(filter(None, [box.label, box.note]))
    size = ", fontsize=9, height=0.2" if style.shape == "plain" else ""
    return (
        f"{_quoted(box.id)} [label={_quoted(label)}, shape={'box' if style.shape == 'plain' else style.shape}, "
        f"fillcolor={_quoted(style.fill)}, color={_quoted(style.stroke)}, tooltip={_quoted(box.tip)}{size}];"
    )


def _edge(edge: Edge) -> str:
    attributes = [f"color={_quoted(EDGE_COLOURS[edge.style])}"]
    if edge.style != "data":
        attributes.append(f"style={_EDGE_STYLES[edge.style]}")
    if edge.style == "back":
        attributes.append("constraint=false")
    if edge.label:
        attributes.append(f"taillabel={_quoted(edge.label)}" if edge.label in "TF" else f"label={_quoted(edge.label)}")
    return f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [{', '.join(attributes)}];"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
