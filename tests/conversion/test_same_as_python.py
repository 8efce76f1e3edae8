"""A converted function called with Python values behaves as the original, to the letter."""

from __future__ import annotations

import copy

import programs
import pytest
from autoloop.conversion.pipeline import convert, to_code

ALL = [
    pytest.param(function, arguments, id=f"{function.__name__}-{index}")
    for function, tries in programs.CASES
    for index, arguments in enumerate(tries or [()])
]


def outcome(function, arguments):
    try:
        return "value", function(*copy.deepcopy(arguments))
    except Exception as error:
        return "error", type(error), str(error)


@pytest.mark.parametrize(("function", "arguments"), ALL)
def test_same_outcome(function, arguments):
    assert outcome(convert(function), arguments) == outcome(function, arguments)


@pytest.mark.parametrize("function", [function for function, _ in programs.CASES], ids=lambda f: f.__name__)
def test_text_compiles(function):
    text = to_code(function)
    compile(text, "<text>", "exec")
    assert f"def {function.__name__}(" in text
