"""What is to be drawn, before anything is said about where or in which format.

A picture has boxes, edges between them, and clusters: areas with a title that hold boxes and other clusters.
Cluster 0 is the sheet itself. Everything is frozen and ordered, so the same graph always gives the same text.
"""

from __future__ import annotations

from typing import Literal

from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.locations import Line, Location

#: (which one, of how many): the place of an edge's end along the side of its box
Port = tuple[int, int]
EdgeStyle = Literal["data", "back", "control"]


@dataclass(frozen=True, slots=True)
class Box:
    """A node of the picture.

    Attributes
    ----------
    id : str
        Unique.
    style : str
        A key of ``styles.STYLES``.
    label, note : str
        The text, and a second line in small letters.
    cluster : int
        The innermost cluster around it.
    tip : str
        Shown when the mouse rests on the box.
    location : Location
        The user's lines it comes from, the innermost last.
    """

    id: str
    style: str
    label: str
    note: str = ""
    cluster: int = 0
    tip: str = ""
    location: Location = ()

    @property
    def line(self) -> Line | None:
        """The user's line, if there is one."""
        return self.location[-1] if self.location else None


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow.

    Attributes
    ----------
    source, target : str
        Ids of boxes.
    style : {"data", "back", "control"}
        Plain; to the next iteration; or an order without a value.
    label : str
        What flows: dtype and shape, or the side of a Switch.
    tail, head : (int, int)
        Which of how many outputs of the source, and inputs of the target.
    """

    source: str
    target: str
    style: EdgeStyle = "data"
    label: str = ""
    tail: Port = (0, 1)
    head: Port = (0, 1)


@dataclass(frozen=True, slots=True)
class Cluster:
    """An area that holds boxes.

    Attributes
    ----------
    index, parent : int
        Itself and the cluster around it (``-1`` for the sheet, which is cluster 0).
    title, note : str
        A heading, and what stands beside it in small letters.
    location : Location
        The user's lines that the loop or branch comes from.
    """

    index: int
    parent: int
    title: str = ""
    note: str = ""
    location: Location = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes, edges and clusters (parents before children) under a title."""

    title: str
    note: str
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    clusters: tuple[Cluster, ...]
