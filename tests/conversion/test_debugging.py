"""Debuggers, and tracebacks that the user's own handlers print, show the user's lines."""

from __future__ import annotations

import io
import logging
import pdb
import sys
import traceback
from contextlib import nullcontext

import autoloop as al
import pytest


def stepped(n):
    total = 0
    for i in range(n):
        if i > 0:
            total += i
    return total


def line_of(function, offset):
    return function.__code__.co_firstlineno + offset


def debugged(commands, function, *args):
    """Run under pdb; return what it printed."""
    out = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("\n".join([*commands, ""])), stdout=out, nosigint=True, skip=["autoloop*"])
    debugger.reset()
    tracer = sys.gettrace()  # pdb leaves none: whoever counts the lines of this run wants it back
    try:
        result = debugger.runcall(function, *args)
    finally:
        sys.settrace(tracer)
    return result, out.getvalue()


def test_a_breakpoint_in_a_converted_loop_stops_there():
    place = f"{__file__}:{line_of(stepped, 4)}"
    commands = ["b " + place, "c", "p 'i is', i", "c", "p 'i is', i, total", "cl 1", "c"]
    result, shown = debugged(commands, al.convert(stepped), 3)
    assert result == 3
    assert "('i is', 1)" in shown and "('i is', 2, 1)" in shown
    assert f"{__file__}({line_of(stepped, 4)})stepped()" in shown


def test_stepping_stays_in_the_users_file():
    commands = [f"b {__file__}:{line_of(stepped, 3)}", "c", *["n"] * 6, *["s"] * 6, "cl 1", "c"]
    _, shown = debugged(commands, al.convert(stepped), 3)
    stops = [line for line in shown.splitlines() if line.startswith("> ")]
    assert len(stops) > 5
    assert all(__file__ in line for line in stops)


def failing(i):
    return {}[i]


def printed(n):
    for i in range(n):
        try:
            while True:
                failing(i)
        except KeyError:
            return traceback.format_exc()


def logged(n):
    try:
        for i in range(n):
            failing(i)
    except KeyError:
        logging.getLogger("tested").exception("went wrong")


def chained(n):
    try:
        for i in range(n):
            failing(i)
    except KeyError as error:
        raise ValueError("from here") from error


@pytest.mark.parametrize("make", [al.convert, al.function])
def test_a_handler_prints_the_users_lines_only(make, caplog):
    text = make(printed)(2)
    assert text.count("File ") == text.count(__file__) and "return {}[i]" in text
    told = pytest.warns(UserWarning, match="runs as plain Python")
    with told if make is al.function else nullcontext():
        make(logged)(2)
    assert caplog.text.count("File ") == caplog.text.count(__file__) > 0
    with pytest.raises(ValueError) as caught:
        make(chained)(2)
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError)
    assert {frame.filename for frame in traceback.extract_tb(cause.__traceback__)} == {__file__}
