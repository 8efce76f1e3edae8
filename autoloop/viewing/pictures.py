"""``draw``: the graph of a function as a picture."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.passes.regions import form_regions
from autoloop_runtime.python_code.compile_python import compile_region, emit

from ..concrete import ConcreteFunction
from ..drawing import Picture, dataflow_picture, structured_picture, to_dot, to_svg
from ..drawing.labels import type_text
from ..traceable import title_of, traceable
from .stage_names import known
from .whole_graphs import feeds_of, fetches_of

STAGES = {
    "structured": "as traced: loops and branches with their sub-graphs",
    "optimized": "the same after the passes",
    "regions": "the same with cheap nodes gathered, as `auto` gives it to the scheduler",
    "lowered": "Enter, Merge, LoopCond, Switch, NextIteration, Exit",
    "scheduled": "the lowered graph as `dataflow` runs it: after the passes, unchanging variables enter as invariants",
}


@dataclass(frozen=True)
class Drawing:
    """A picture of a graph; notebooks show it.

    Attributes
    ----------
    picture : Picture
        Its boxes and arrows.

    Examples
    --------
    >>> drawing = al.draw(lambda x: x + 1, al.constant(1))  # a picture, where a notebook shows it
    >>> type(drawing).__name__
    'Drawing'
    """

    picture: Picture

    @property
    def svg(self) -> str:
        """The picture as a standalone svg."""
        return to_svg(self.picture)

    @property
    def dot(self) -> str:
        """The picture as Graphviz text."""
        return to_dot(self.picture)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file: ``.svg``, ``.png`` (with the extra ``viewer``), or ``.dot`` or ``.gv``.

        Raises
        ------
        ValueError
            If the name ends otherwise.
        ImportError
            If the extra is not installed.
        """
        suffix = Path(path).suffix.lower()
        if suffix not in (".svg", ".png", ".dot", ".gv"):
            raise ValueError(f"a drawing is saved as .svg, .png, .dot or .gv, not as {os.fspath(path)!r} [AL702]")
        if suffix == ".png":
            Path(path).write_bytes(to_png(self.svg))
            return
        Path(path).write_text(self.svg if suffix == ".svg" else self.dot, encoding="utf-8")

    @property
    def fitted(self) -> str:
        """The picture as svg that is no wider than the room it has in a page."""
        return self.svg.replace("<svg ", '<svg style="max-width: 100%; height: auto" ', 1)

    def _repr_svg_(self) -> str:
        return self.fitted

    def __repr__(self) -> str:
        return f"<Drawing of {self.picture.title}: {len(self.picture.boxes)} boxes>"


def to_png(svg: str) -> bytes:
    """Return an svg as pixels, two for each of its units.

    Raises
    ------
    ImportError
        If the extra ``viewer`` is not installed.
    """
    try:
        resvg = importlib.import_module("resvg_py")
    except ImportError as error:
        raise ImportError(f"pixels are drawn by resvg-py ({error}): pip install 'autoloop[viewer]' [AL705]") from error
    return bytes(resvg.svg_to_bytes(svg_string=svg, zoom=2, background="white"))


def draw(f: Callable[..., Any] | Graph, *args: Any, stage: str = "lowered", **kwargs: Any) -> Drawing:
    """Draw the graph of a function; a notebook shows what this gives.

    Parameters
    ----------
    f : callable, ConcreteFunction or Graph
        What ``autoloop.function`` made, or a plain function; or a graph, or trace, that is there.
    *args, **kwargs
        Arguments (or ``TensorSpec``) for which it is drawn; it is traced for them if it was not before.
    stage : {"structured", "optimized", "regions", "lowered", "scheduled"}
        As traced; after the passes; with cheap nodes gathered; with Enter, Merge, Switch and the like as textbooks have
        them; as the scheduler runs it.

    Returns
    -------
    Drawing

    Examples
    --------
    >>> al.draw(lambda x: x + 1, al.ones([2]))
    <Drawing of <lambda>(x): 4 boxes>
    """
    stage = known(stage, STAGES)
    if isinstance(f, Graph):
        return Drawing(_of_graph(f, stage))
    if isinstance(f, ConcreteFunction):
        return Drawing(picture_of(f, stage, f.name))
    function, args = traceable(f, args)
    made = function.get_concrete_function(*args, **kwargs)
    concrete = made if isinstance(made, ConcreteFunction) else made.newest
    return Drawing(picture_of(concrete, stage, title_of(f, function)))


def picture_of(concrete: ConcreteFunction, stage: str, name: str, place: str = "") -> Picture:
    """Return the picture of a trace of the function ``name``, which stands at ``place``."""
    inputs = ", ".join(f"{t.op.name}: {type_text(t.dtype, t.shape)}" for t in concrete.inputs)
    note = " · ".join(filter(None, (place, stage, inputs)))
    title = f"{name}({', '.join(t.op.name for t in concrete.inputs)})"
    return _of_graph(
        concrete.graph if stage in ("structured", "lowered") else concrete.runner.graph, stage, title, note
    )


def _of_graph(graph: Graph, stage: str, title: str = "a graph", note: str = "") -> Picture:
    codes: dict[Any, str] = {}
    if stage == "regions":
        graph = form_regions(graph, partial(_noting, codes))
    outputs = fetches_of(graph)
    if stage in ("structured", "optimized", "regions"):
        code_of = lambda node: codes.get(node.op.taking.kernel if node.op.taking else node.op.kernel, "")  # noqa: E731
        return structured_picture(graph, outputs, title=title, note=note, code_of=code_of)
    keep = stage == "lowered"
    return dataflow_picture(graph, outputs, feeds_of(graph), title=title, note=note, keep_variables=keep)


def _noting(codes: dict[Any, str], graph: Graph) -> Any:
    """Compile a region, and note the code that its kernel runs."""
    taking, culprit = compile_region(graph)
    codes[taking.kernel] = emit(graph).source
    return taking, culprit
