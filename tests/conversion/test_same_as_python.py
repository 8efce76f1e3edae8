"""A converted function called with Python values behaves as the original, to the letter."""

from __future__ import annotations

import copy

import programs
from autoloop.conversion.pipeline import convert, to_code
from each_case import each

ALL = [(function, arguments) for function, tries in programs.CASES for arguments in tries or [()]]


def outcome(function, arguments):
    try:
        return "value", function(*copy.deepcopy(arguments))
    except Exception as error:
        return "error", type(error), str(error)


@each(ALL, one_in=2)
def test_same_outcome(function, arguments):
    assert outcome(convert(function), arguments) == outcome(function, arguments)


@each(function for function, _ in programs.CASES)
def test_text_compiles(function):
    text = to_code(function)
    compile(text, "<text>", "exec")
    assert f"def {function.__name__}(" in text
