"""Pictures of graphs: as Graphviz text or as a standalone svg, drawn without any other program."""

from __future__ import annotations

from .dataflow_picture import dataflow_picture
from .dot import to_dot
from .picture import Box, Cluster, Edge, Picture
from .structured_picture import structured_picture
from .svg import to_svg

__all__ = ["Box", "Cluster", "Edge", "Picture", "dataflow_picture", "structured_picture", "to_dot", "to_svg"]
