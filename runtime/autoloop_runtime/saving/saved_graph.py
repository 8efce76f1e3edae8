"""A function as a file: its graph, and what whoever calls it has to know of arguments and results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base.dataclass import dataclass
from ..ir.graph import Graph
from .file_form import FilePath, content_of, packed, unpacked
from .graph_form import GraphWriter
from .graph_reader import GraphReader, read_locations, read_variables
from .load_errors import damaged, refused
from .value_form import ValueReader

#: what the header says the file is
FORMAT = "a function saved by autoloop"
_KEYS = {"format", "written by", "function", "graph", "loops", "variables", "lines", "locations", "arrays"}


@dataclass(frozen=True, eq=False)
class SavedGraph:
    """What a file holds.

    Attributes
    ----------
    graph : Graph
    function : dict
        What the front end has said of arguments and results, JSON, which it checks itself.
    values : ValueReader
        Gives the values in that.
    variables : list of Variable
    content : bytes
        Of the file.
    """

    graph: Graph
    function: Mapping[str, Any]
    values: ValueReader
    variables: list[Any]
    content: bytes


def saved(graph: Graph, writer: GraphWriter, function: Mapping[str, Any], by: str) -> bytes:
    """Return the bytes of a file; ``function`` was made with the values of ``writer``."""
    header = {"format": FORMAT, "written by": [by, np.__version__], "function": function, **writer.header(graph)}
    return packed(header, writer.values.arrays)


def loaded(source: FilePath | bytes) -> SavedGraph:
    """Return what a file (or bytes) holds.

    Raises
    ------
    LoadError
        If anything about it is wrong.
    OSError
        If it cannot be read.
    """
    content = content_of(source)
    header, arrays = unpacked(content)
    if set(header) != _KEYS or header["format"] != FORMAT or not isinstance(header["function"], dict):
        raise damaged("the header has not the parts that it must have")
    with refused("the file"):
        no_variables = ValueReader(arrays, [])
        variables = read_variables(header["variables"], no_variables)
        values = ValueReader(arrays, variables)
        lines, locations = read_locations(header["lines"], header["locations"])
        graph = GraphReader(values, lines, locations).graph(header["graph"], header["loops"])
        return SavedGraph(graph, header["function"], values, variables, content)
