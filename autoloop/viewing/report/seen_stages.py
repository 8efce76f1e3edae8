"""The stages of a function as the page shows them: rows of text and graphs, each part with the user's line it is of."""

from __future__ import annotations

import inspect
import linecache
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.locations import Location

from ...concrete import ConcreteFunction
from ...derivative_functions import DerivativeFunction
from ...drawing import Picture
from ...drawing.styles import STYLES
from ..code_text import located_code_of
from ..highlight import lines_of, spans_of
from ..pictures import STAGES as GRAPHS
from ..pictures import picture_of
from ..stage_texts import STAGES as TEXTS
from ..stage_texts import located_python, machine_code, source_of

#: the lines of the source that something is of; 0 for none
Lines = int | list[int]
#: texts, and the lines that each is of
Rows = Sequence[tuple[str, Lines]]
_GRAPHS = ("structured", "optimized", "lowered")
#: files with so many lines are shown whole, else so many lines around what is shown
_WHOLE, _AROUND = 200, 5
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
    def around(locations: Iterable[Location]) -> Source:
        """Return the part of a file that most of ``locations`` are in, and the lines around it."""
        lines = [location[-1] for location in locations if location]
        files = Counter([line.filename for line in lines])
        text = linecache.getlines(files.most_common(1)[0][0]) if files else []
        if not text:
            return Source("", 0, "")
        file = files.most_common(1)[0][0]
        numbers = [line.lineno for line in lines if line.filename == file]
        if len(text) <= _WHOLE:
            return Source(file, 1, "".join(text))
        first = max(min(numbers) - _AROUND, 1)
        return Source(file, first, "".join(text[first - 1 : max(numbers) + _AROUND]))

    @staticmethod
    def of(f: Callable[..., Any]) -> Source:
        """Return the source of a function, and of a derivative that of what it is made of; an empty one where it cannot
        be found."""
        plain = f if isinstance(f, DerivativeFunction) else getattr(f, "python_function", f)
        while isinstance(plain, DerivativeFunction):
            plain = getattr(plain.differentiated, "python_function", plain.differentiated)
        file = getattr(getattr(inspect.unwrap(plain), "__code__", None), "co_filename", "")
        try:
            text, first = source_of(plain)
        except (OSError, TypeError):
            return Source(file, 0, "")
        return Source(file, first, text)

    def line_of(self, location: Location) -> int:
        """Return the line of this source that something comes from: of the innermost call that stands in it; 0 where
        none does."""
        last = self.first + self.text.count("\n")
        lines = (line.lineno for line in reversed(location) if line.filename == self.file)
        return next((number for number in lines if self.first <= number <= last), 0)

    def lines_of(self, places: Iterable[Location]) -> list[int]:
        """Return the lines of this source that something comes from which comes from several places."""
        return [line for line in dict.fromkeys(map(self.line_of, places)) if line]


def source_data(source: Source) -> dict[str, Any] | None:
    """Return what the page shows of the source; None where there is none."""
    if not source.first:
        return None
    rows = [(number, spans) for number, spans in enumerate(spans_of(source.text), source.first)]
    return {"file": os.path.basename(source.file), "first_line": source.first, "text": source.text, "rows": rows}


def stages_of(f: Callable[..., Any], concrete: ConcreteFunction, source: Source) -> list[dict[str, Any]]:
    """Return the stages of a function and its trace; of one that cannot be had, why."""
    graphs = [graph_stage(stage, picture_of(concrete, stage, concrete.name), source) for stage in _GRAPHS]
    return [
        _code("converted", lambda: _converted_rows(f)),
        *graphs,
        _code("python", lambda: _python_rows(concrete, source)),
        _code("asm", lambda: _machine_rows(concrete, source)),
    ]


def _code(name: str, read: Callable[[], tuple[Rows, Rows]]) -> dict[str, Any]:
    """Return a stage that is text: ``read`` gives its lines, and remarks on it."""
    stage = {"name": name, "title": _TITLES[name], "about": TEXTS[name], "kind": "code"}
    try:
        made, remarks = read()
    except (ImportError, RuntimeError, ValueError, OSError, TypeError) as error:
        return stage | {"rows": [], "missing": str(error)}
    is_python = name != "asm"
    spans = spans_of("\n".join(text for text, _ in made)) if is_python else [[("", text)] for text, _ in made]
    rows = [(lines, one) for one, (_, lines) in zip(spans, made)]
    return stage | {"rows": rows, "remarks": [(lines, text) for text, lines in remarks]}


def _converted_rows(f: Callable[..., Any]) -> tuple[Rows, Rows]:
    """Return the lines of the converted source."""
    text, lines = located_code_of(f)
    return list(zip(lines_of(text), lines)), ()


def _python_rows(concrete: ConcreteFunction, source: Source) -> tuple[Rows, Rows]:
    """Return the lines of the generated Python."""
    text, every = located_python(concrete.runner.graph)
    return [(line, source.lines_of(places)) for line, places in zip(lines_of(text), every)], ()


def _machine_rows(concrete: ConcreteFunction, source: Source) -> tuple[Rows, Rows]:
    """Return the lines of machine code, and what LLVM remarks on vectors at lines of the source."""
    text, places, said = machine_code(concrete.runner.graph)
    remarks = sorted({(source.line_of(place), words) for place, words in said})
    rows = [(line, source.line_of(place)) for line, place in zip(lines_of(text), places)]
    return rows, [(words, line) for line, words in remarks if line]


def graph_stage(name: str, picture: Picture, source: Source) -> dict[str, Any]:
    """Return a picture as the page draws it."""
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
    styles = {key: {"outline": s.shape, "words": s.words, "rank": s.rank} for key, s in STYLES.items() if key in used}
    return {
        "name": name, "title": _TITLES[name], "about": GRAPHS[name], "kind": "graph", "boxes": boxes, "edges": edges,
        "clusters": clusters, "styles": styles,
    }  # fmt: skip
