"""How each kind of box looks, and the words that explain it in the legend."""

from __future__ import annotations

from typing import Literal

from autoloop_runtime.base.dataclass import dataclass

Shape = Literal[
    "box", "ellipse", "invhouse", "house", "invtrapezium", "trapezium", "hexagon", "plain", "diamond", "circle"
]


@dataclass(frozen=True, slots=True)
class Style:
    """The look of one kind of box.

    Attributes
    ----------
    shape : str
        A shape by Graphviz's name; the svg has the same ones.
    fill, stroke : str
        Colours.
    words : str
        Its line in the legend.
    rank : {"", "top", "bottom"}
        Stands in the first or the last row of its cluster.
    """

    shape: Shape
    fill: str
    stroke: str
    words: str
    rank: Literal["", "top", "bottom"] = ""


#: in the order of the legend
STYLES: dict[str, Style] = {
    "feed": Style("ellipse", "#e7f0fb", "#3b6ea8", "an argument"),
    "const": Style("plain", "#f4f4f4", "#b5b5b5", "a constant"),
    "kernel": Style("box", "#ffffff", "#5a5a5a", "an operation"),
    "enter": Style("invhouse", "#d9f0dd", "#2f7d43", "Enter: into the loop's frame", "top"),
    "invariant": Style("invhouse", "#eef8f0", "#7fae8b", "Enter of a value that all iterations share", "top"),
    "merge": Style("invtrapezium", "#eadcf5", "#7a4aa3", "Merge: hands on the input that arrives"),
    "loop_cond": Style("hexagon", "#fff3c4", "#a88408", "LoopCond: go on?"),
    "switch": Style("trapezium", "#fde3cd", "#c0651a", "Switch: to T or to F, the other side is dead"),
    "next": Style("house", "#d3ecf7", "#1d7599", "NextIteration: back to the Merge, one iteration on", "bottom"),
    "exit": Style("invhouse", "#f9d9d9", "#b03a3a", "Exit: out of the frame", "bottom"),
    "unused": Style("invhouse", "#fdf6f6", "#e0bcbc", "Exit of a value that nobody fetches", "bottom"),
    "identity": Style("circle", "#ffffff", "#9a9a9a", "Identity: makes a value at rest a token"),
    "variable": Style("ellipse", "#d9f0dd", "#2f7d43", "a loop variable", "top"),
    "if": Style("diamond", "#fde3cd", "#c0651a", "chooses a branch", "top"),
    "value": Style("invtrapezium", "#eadcf5", "#7a4aa3", "the value of the branch that ran", "bottom"),
    "result": Style("ellipse", "#e9e9e9", "#333333", "a result", "bottom"),
}  # fmt: skip

INK = "#222222"
GREY = "#6b6b6b"
EDGE_COLOURS = {"data": "#4a4a4a", "back": "#1d7599", "control": "#9a9a9a"}
EDGE_DASHES = {"data": "", "back": "7 3", "control": "2 3"}
EDGE_WORDS = {"data": "a value", "back": "to the next iteration", "control": "order only, no value"}
#: fills of the sheet and of clusters nested 1, 2, ... deep
CLUSTER_FILLS = ("#ffffff", "#f7f9fc", "#eef3fa", "#e5edf7", "#dce6f4")
CLUSTER_STROKE = "#8fa6c4"
