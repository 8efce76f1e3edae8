"""Turning a failure of a kernel into one that speaks of the user's program.

Whatever thread and iteration it happened in, the caller gets the original exception type, with the user's
own lines in its traceback and a sentence that says which operation of which iteration failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from types import CodeType, TracebackType

from ..base.locations import Line, Location
from .graph import Node

#: marks an exception that has been annotated, so that it is not annotated again by an outer run
_MARK = "__autoloop_node__"


def describe_iterations(frames: Sequence[tuple[Node, int]]) -> str:
    """Return ``iteration 3 of the loop 'while' (file.py:12), iteration 0 of ...``, innermost loop first."""
    parts = []
    for loop, iteration in frames:
        where = f" ({loop.location[-1]})" if loop.location else ""
        parts.append(f"iteration {loop.attrs.get('begun', 0) + iteration} of the loop {loop.name!r}{where}")
    return ", in ".join(parts)


def annotate(error: BaseException, node: Node, frames: Sequence[tuple[Node, int]] = ()) -> BaseException:
    """Return ``error`` with the user's lines as traceback and a note on the operation and the iterations.

    Parameters
    ----------
    error : BaseException
        What the kernel raised.
    node : Node
        The node whose kernel it was.
    frames : sequence of (While node, iteration number)
        The loops around the node, innermost first.
    """
    if is_annotated(error):
        return error
    where = f" at {node.location[-1]}" if node.location else ""
    note = f"in operation {node.name!r} ({node.op.name}){where}"
    if frames:
        note += ", in " + describe_iterations(frames)
    error.add_note(note)
    with suppress(AttributeError, TypeError):  # exceptions with __slots__ may get the note twice, nothing else
        setattr(error, _MARK, node.name)
    return error.with_traceback(user_traceback(node.location, error.__traceback__))


def is_annotated(error: BaseException) -> bool:
    """Return whether ``annotate`` has told of ``error`` already."""
    return getattr(error, _MARK, None) is not None


def annotate_further(error: BaseException, frames: Sequence[tuple[Node, int]]) -> BaseException:
    """Return an annotated ``error``, told also of the loops around those that it names."""
    notes = getattr(error, "__notes__", None)
    if frames and notes:
        notes[-1] += ", in " + describe_iterations(frames)
    return error


def user_traceback(location: Location, rest: TracebackType | None) -> TracebackType | None:
    """Return a traceback whose entries are the user's lines, outermost first, followed by ``rest``."""
    made = rest
    for line in reversed(location):
        frame_traceback = _fake_traceback(line)
        made = TracebackType(made, frame_traceback.tb_frame, frame_traceback.tb_lasti, line.lineno)
    return made


def _fake_traceback(line: Line) -> TracebackType:
    """Return a traceback entry that shows ``line``: code with the user's file name and line raises once."""
    code: CodeType = compile("\n" * (line.lineno - 1) + "raise _Marker", line.filename, "exec")
    code = code.replace(co_name=line.function, co_qualname=line.function)
    try:
        exec(code, {"_Marker": _Marker})
    except _Marker as marker:
        assert marker.__traceback__ is not None and marker.__traceback__.tb_next is not None
        return marker.__traceback__.tb_next
    raise AssertionError("unreachable")


class _Marker(Exception):
    pass
