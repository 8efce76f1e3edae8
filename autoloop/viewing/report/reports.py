"""``report``: a function is traced for arguments, and what there is to see of it becomes a page."""

from __future__ import annotations

import os
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from autoloop_runtime.base.dataclass import dataclass

from ...bound_function import BoundFunction
from ...concrete import ConcreteFunction
from ...drawing.labels import type_text
from ...function import Function
from ...profiler import Trace
from ...traceable import title_of, traceable
from .html_page import html_page
from .memory_by_line import memory_of
from .replayed_loops import replay_of
from .run_timelines import timeline_of
from .seen_stages import Source, source_data, stages_of
from .session_reports import is_run_of_session, session_data
from .trace_pages import trace_data


@dataclass(frozen=True)
class Report:
    """A page about a function; notebooks show it.

    Attributes
    ----------
    data : dict
        What the page shows, as JSON has it.

    Examples
    --------
    >>> report = al.report(lambda x: x + 1, al.constant(1))
    >>> report.html[:15]
    '<!DOCTYPE html>'
    """

    data: dict[str, Any]

    @property
    def html(self) -> str:
        """The whole page: one text that needs no other file."""
        return html_page(self.data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        style = "width: 100%; height: 720px; border: 1px solid #8884; border-radius: 8px"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        parts = [name for name in ("timeline", "replay", "memory") if self.data[name] is not None]
        stages = ", ".join([*[stage["name"] for stage in self.data["stages"]], *parts])
        return f"<Report on {self.data['title']}: {stages}>"


def report(
    f: Callable[..., Any] | Trace, *args: Any, path: str | os.PathLike[str] | None = None, **kwargs: Any
) -> Report:
    """Show what becomes of a function, stage by stage, in one html page.

    Source, converted source, graphs, generated Python and machine code are linked by the lines of the source: a click
    on a line lights up what was made of it. The page is one file that asks for nothing else.

    Parameters
    ----------
    f : callable, or Trace
        What ``autoloop.function`` made, or a plain function; or ``session.run``, of a session with a 1.x graph; or what
        ``profiler.trace`` gave: the page then has its timeline.
    *args, **kwargs
        Arguments (or ``TensorSpec``) of the call that it is about. For the timeline and to show how its loops are run,
        token by token, it is run on copies of the arrays and variables; what is printed there is not seen.
    path : str or path, optional
        The page is written there too.

    Returns
    -------
    Report

    Examples
    --------
    >>> al.report(lambda x: x + 1, al.ones([2])).data["title"]
    '<lambda>(x)'
    """
    made = Report(_data(f, args, kwargs))
    if path is not None:
        made.save(path)
    return made


def _note(function: Function | BoundFunction, concrete: ConcreteFunction) -> str:
    """Return for what a function was traced."""
    given = [f"{t.op.name}: {type_text(t.dtype, t.shape)}" for t in concrete.inputs]
    return " · ".join([*given, f"executor {function.executor}"])


def _data(f: Callable[..., Any] | Trace, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return what a page shows of a call."""
    if is_run_of_session(f):
        return session_data(f, *args, **kwargs)
    if isinstance(f, Trace):
        return trace_data(f)
    function, args = traceable(f, args)
    found = function.get_concrete_function(*args, **kwargs)
    concrete = found if isinstance(found, ConcreteFunction) else found.newest
    source = Source.of(f)
    return {
        "title": f"{title_of(f, function)}({', '.join(t.op.name for t in concrete.inputs)})",
        "note": _note(function, concrete),
        "source": source_data(source),
        "stages": stages_of(f, concrete, source),
        "timeline": timeline_of(function, args, kwargs, source),
        "replay": replay_of(function, args, kwargs, source),
        "memory": memory_of(concrete, source),
    }
