"""Exceptions of traces and runs that plain Python raises in its own words: it is called where nobody notices it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from autoloop_runtime.analysis.inside import loops_inside
from autoloop_runtime.base.error_codes import coded, without_code
from autoloop_runtime.base.fp_warnings import asked, is_hunted
from autoloop_runtime.base.stand_ins import ShownByRun

from .errors import user_stacklevel

if TYPE_CHECKING:
    from .concrete import ConcreteFunction


def is_retold(trace: ConcreteFunction) -> bool:
    """Return whether plain Python is called where a run raises, which takes it no very much longer time."""
    return trace.is_alike and trace.may_be_left and not loops_inside(trace.graph)


def in_plain_words(trace: ConcreteFunction, error: Exception) -> Callable[[], AbstractContextManager[None]] | None:
    """Return in what plain Python is called after a run has raised; None if it is not."""
    if isinstance(error, FloatingPointError) and asked() and is_hunted():  # it says more than plain Python would
        return None
    if trace.graph.theirs is not None and getattr(trace.runner.run, "refused", None) is error:
        return _leaving_refused(trace, error)
    if not (trace.may_be_left if isinstance(error, ShownByRun) else is_retold(trace)):
        return None
    return partial(in_its_words, error, trace.runner.asked == "native")


def _leaving_refused(
    trace: ConcreteFunction, refusal: Exception
) -> Callable[[], AbstractContextManager[None]] | None:  # fmt: skip
    """Return in what plain Python is called where the library of an argument does not compute as NumPy does; None if
    the graph is wanted, or somebody would notice that it has begun."""
    if trace.runner.asked != "auto" or not (trace.is_alike and trace.may_be_left):
        return None
    if trace.runner.run.is_first():  # type: ignore[attr-defined]
        said = coded("AL010", f"{trace.name} runs as plain Python: {without_code(str(refusal))}")
        warnings.warn(said, stacklevel=user_stacklevel())
    return nullcontext


@contextmanager
def in_its_words(told: Exception, needs_graph: bool = False) -> Iterator[None]:
    """Let plain Python say what a trace or run has raised; that may have had more to say.

    Parameters
    ----------
    told : Exception
        What was raised.
    needs_graph : bool
        Whether it is raised again where plain Python has something to give.
    """
    try:
        yield
    except Exception as error:
        if error is not told and type(error) is type(told) and str(error) == str(told):
            for note in getattr(told, "__notes__", ()):
                if note not in getattr(error, "__notes__", ()):
                    error.add_note(note)
        raise
    if needs_graph:
        raise told
