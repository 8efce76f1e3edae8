"""``autoloop graph``: the dataflow graph of a function as a picture."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autoloop_runtime.base.dataclass import replace
from autoloop_runtime.ir.records import loop_records

from ..concrete import ConcreteFunction
from ..drawing import Picture, to_dot, to_svg
from ..viewing.page import listing, page
from ..viewing.pictures import STAGES, picture_of, to_png
from ..viewing.tensorboard_graph import write_graph
from .output import write
from .problems import UsageError
from .run_command import trace_of
from .target import Target, load_target

FORMATS = ("dot", "svg", "png", "html", "tensorboard")
__all__ = ["FORMATS", "STAGES", "draw"]


def draw(options: argparse.Namespace) -> None:
    """Write the picture."""
    form = options.format or _format_of(options.output)
    target = load_target(options.target)
    concrete = trace_of(target, options)
    if form == "tensorboard":
        if options.output is None:
            raise UsageError("--format tensorboard writes into a folder: give it with -o DIR [AL803]")
        write_graph(options.output, concrete.graph)
        return
    picture = picture_of(concrete, options.stage, target.name, f"{target.path.name}:{target.source()[1]}")
    if form == "dot":
        write(options.output, to_dot(picture))
    elif form == "png":
        if options.output is None:
            raise UsageError("--format png writes a file: name it with -o FILE [AL803]")
        Path(options.output).write_bytes(to_png(to_svg(picture)))
    elif form == "svg":
        write(options.output, to_svg(picture))
    else:
        write(options.output, _page(target, picture))
    _hint(concrete)


def _format_of(output: str | None) -> str:
    if output is None:
        return "dot"
    suffix = Path(output).suffix.lower().lstrip(".")
    known = {"gv": "dot", "htm": "html"}.get(suffix, suffix)
    if known not in FORMATS:
        raise UsageError(
            f"the format of {output!r} is not clear from its name; give --format {{{','.join(FORMATS)}}} [AL803]"
        )
    return known


def _hint(concrete: ConcreteFunction) -> None:
    """Print what to try where loops on Python numbers, known while tracing, left no loop in the graph."""
    unrolled = any(not record.converted for record in loop_records(concrete.graph))
    if unrolled and not concrete.inputs:
        print(
            "hint: no argument is a tensor, so loops on them ran while the function was traced; "
            "write tensor(10) for a tensor",
            file=sys.stderr,
        )


def _page(target: Target, picture: Picture) -> str:
    svg = to_svg(replace(picture, title="", note=""))  # the page has its own
    text, first = target.source()
    source = listing(f"{target.path.name}:{first}", text, first)
    return page(picture.title, picture.note, [source, f"<section>{svg}</section>"], linked=True)
