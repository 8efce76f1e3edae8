"""The stages of a function as the page shows them: rows of text and graphs, each part with the user's line it is of."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from typing import Any

from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.locations import Location

from ...bound_function import BoundFunction
from ...concrete import ConcreteFunction
from ...conversion.pipeline import to_code
from ...drawing import Picture
from ...drawing.styles import STYLES
from ...function import Function
from ..highlight import Span, spans_of
from ..pictures import STAGES as GRAPHS
from ..pictures import picture_of
from ..stage_texts import STAGES as TEXTS
from ..stage_texts import source_of, text_of

#: the line it is of, 0 for none, and its pieces
Row = tuple[int, list[Span]]
_TITLES = {
    "converted": "Converted", "structured": "Graph", "optimized": "Optimized", "lowered": "Dataflow",
    "python": "Python", "asm": "Machine code",
}  # fmt: skip


@dataclass(frozen=True)
class Source:
    """The source that a page is about.

    Attributes
    ----------
    file : str
        Its name, as tracebacks have it.
    first : int
        The number of its first line; 0 if there is no source.
    text : str
    """

    file: str
    first: int
    text: str

    @staticmethod
    def of(function: Function | BoundFunction) -> Source:
        """Return the source of a function; an empty one where it cannot be found."""
        plain = inspect.unwrap(function.python_function)
        file = getattr(getattr(plain, "__code__", None), "co_filename", "")
        try:
            text, first = source_of(function)
        except (OSError, TypeError):
            return Source(file, 0, "")
        return Source(file, first, text)

    def line_of(self, location: Location) -> int:
        """Return the line of this source that something comes from: of the innermost call that stands in it; 0 where
        none does."""
        last = self.first + self.text.count("\n")
        lines = (line.lineno for line in reversed(location) if line.filename == self.file)
        return next((number for number in lines if self.first <= number <= last), 0)


def source_data(source: Source) -> dict[str, Any] | None:
    """Return what the page shows of the source; None where there is none."""
    if not source.first:
        return None
    rows = [(number, spans) for number, spans in enumerate(spans_of(source.text), source.first)]
    return {"file": os.path.basename(source.file), "first_line": source.first, "text": source.text, "rows": rows}


def stages_of(function: Function | BoundFunction, concrete: ConcreteFunction, source: Source) -> list[dict[str, Any]]:
    """Return the stages of a trace, those that there are."""
    name = function.name
    made = [
        _code("converted", lambda: to_code(function)),
        _graph("structured", picture_of(concrete, "structured", name), source),
        _graph("optimized", picture_of(concrete, "optimized", name), source),
        _graph("lowered", picture_of(concrete, "lowered", name), source),
        _code("python", lambda: text_of(concrete, "python")),
        _code("asm", lambda: text_of(concrete, "asm")),
    ]
    return made


def _code(name: str, text: Callable[[], str], lines: Iterable[int] = ()) -> dict[str, Any]:
    stage = {"name": name, "title": _TITLES[name], "about": TEXTS[name], "kind": "code"}
    try:
        rows = [(0, spans) for spans in spans_of(text())]
    except (ImportError, NotImplementedError, ValueError, OSError, TypeError) as error:
        return stage | {"rows": [], "missing": str(error)}
    return stage | {"rows": rows}


def _graph(name: str, picture: Picture, source: Source) -> dict[str, Any]:
    boxes = [
        {"id": box.id, "style": box.style, "label": box.label, "note": box.note, "cluster": box.cluster, "tip": box.tip,
         "line": source.line_of(box.location)}
        for box in picture.boxes
    ]  # fmt: skip
    edges = [{"source": e.source, "target": e.target, "style": e.style, "label": e.label} for e in picture.edges]
    clusters = [
        {"index": c.index, "parent": c.parent, "title": c.title, "note": c.note, "line": source.line_of(c.location)}
        for c in picture.clusters
    ]
    used = {box.style for box in picture.boxes}
    styles = {key: {"shape": s.shape, "words": s.words} for key, s in STYLES.items() if key in used}
    return {
        "name": name, "title": _TITLES[name], "about": GRAPHS[name], "kind": "graph", "boxes": boxes, "edges": edges,
        "clusters": clusters, "styles": styles,
    }  # fmt: skip
