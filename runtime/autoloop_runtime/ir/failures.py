"""Turning a failure of a kernel into one that speaks of the user's program.

Whatever thread and iteration it happened in, the caller gets the original exception type, with the user's
own lines in its traceback and a sentence that says which operation of which iteration failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from types import CodeType, FrameType, FunctionType, TracebackType

from ..base.dataclass import dataclass
from ..base.locations import Line, Location
from .graph import Node

#: marks an exception that has been annotated, so that it is not annotated again by an outer run
_MARK = "__autoloop_node__"
#: where it holds what its note says
_TOLD = "__autoloop_told__"


@dataclass(frozen=True)
class _Told:
    """What the note of an error says.

    Attributes
    ----------
    what : str
        The operation and its line.
    loops : tuple of (str, str, int)
        The loops around it, innermost first: name, line, iteration.
    """

    what: str
    loops: tuple[tuple[str, str, int], ...]

    @property
    def note(self) -> str:
        """The text."""
        return ", in ".join([self.what, *[f"iteration {k} of the loop {name!r}{line}" for name, line, k in self.loops]])


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
    told = _Told(f"in operation {node.name!r} ({node.op.name}){where}", _loops(frames))
    error.add_note(told.note)
    with suppress(AttributeError, TypeError):  # exceptions with __slots__ may get the note twice, nothing else
        setattr(error, _MARK, node.name)
        setattr(error, _TOLD, told)
    return error.with_traceback(user_traceback(node.location, error.__traceback__))


def is_annotated(error: BaseException) -> bool:
    """Return whether ``annotate`` has told of ``error`` already."""
    return getattr(error, _MARK, None) is not None


def annotate_further(error: BaseException, frames: Sequence[tuple[Node, int]]) -> BaseException:
    """Return an annotated ``error``, told also of the loops around those that it names."""
    told = getattr(error, _TOLD, None)
    if frames and told is not None:
        _tell_again(error, told, (*told.loops, *_loops(frames)))
    return error


def count_from(error: BaseException, loop: Node, done: int) -> None:
    """Let an annotated error tell the iteration of a loop that was called when ``done`` of its iterations were."""
    told = getattr(error, _TOLD, None)
    if done and told is not None:
        _tell_again(error, told, tuple([(n, at, k + done if n == loop.name else k) for n, at, k in told.loops]))


def _loops(frames: Sequence[tuple[Node, int]]) -> tuple[tuple[str, str, int], ...]:
    """Return the loops around an operation as they are told, innermost first."""
    return tuple([
        (loop.name, f" ({loop.location[-1]})" if loop.location else "", loop.attrs.get("begun", 0) + iteration)
        for loop, iteration in frames
    ])  # fmt: skip


def _tell_again(error: BaseException, told: _Told, loops: tuple[tuple[str, str, int], ...]) -> None:
    """Let an error tell of other loops."""
    notes, now = error.__notes__, _Told(told.what, loops)
    if told.note in notes:
        notes[notes.index(told.note)] = now.note
        setattr(error, _TOLD, now)


def user_traceback(location: Location, rest: TracebackType | None) -> TracebackType | None:
    """Return a traceback whose entries are the user's lines, outermost first, followed by ``rest``."""
    made = rest
    for line in reversed(location):
        made = TracebackType(made, _frame(line), 0, line.lineno)
    return made


def _frame(line: Line) -> FrameType:
    """Return a frame that shows ``line``: that of a generator with the user's file name and line, which never begins.

    Of code that has run, Python keeps the frames below, too: those of who makes the traceback, which hold the error. So
    an error would never be let go of, with all that was computed, until Python looks for cycles.
    """
    code: CodeType = compile("\n" * (line.lineno - 1) + "def f(): yield", line.filename, "exec")
    (code,) = [one for one in code.co_consts if isinstance(one, CodeType)]
    code = code.replace(co_name=line.function, co_qualname=line.function)
    frame: FrameType = FunctionType(code, {})().gi_frame
    return frame
