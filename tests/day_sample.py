"""What a plain ``python -m pytest`` leaves to longer runs: of whole programs, and of the many cases of one test.

At night, of files that are named, of tests that are chosen with ``-k``, and with ``--sample 1`` everything is run.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

TESTS = Path(__file__).parent
#: folders with tests of whole programs, which are the same whichever machine they run on, and take longest: by day one
#: in so many of them is run
PROGRAMS, BY_DAY = ("conversion", "equivalence", "numpy"), 6
#: folders where every test is run, but by day only one in so many of its cases
CASES, OF_CASES = ("runtime", "interoperation"), 4
#: tests of fewer cases than this have all of them run
MANY = 3
#: which of several cases is due by day: another one where there is no machine code
TURN = 0 if importlib.util.find_spec("llvmlite") else 1

#: one in so many tests of programs is run now; set before the tests are read
one_in = 1


def is_program(path: Path) -> bool:
    """True if whole tests in ``path`` may be left out."""
    return _folder(path) in PROGRAMS


def share(path: Path) -> int:
    """Of the cases of a test in ``path`` one in so many is run now."""
    if is_program(path):
        return one_in
    return OF_CASES if one_in > 1 and _folder(path) in CASES else 1


def _folder(path: Path) -> str:
    return path.relative_to(TESTS).parts[0] if path.is_relative_to(TESTS) else ""


def is_due(number: int, one_in: int) -> bool:
    """Whether the case with this number is one of those that run: one of any ``one_in`` that begin a row of as many.

    Not always the same of them, for cases are often the executors for each of several programs: of two executors every
    program has one, and by turns the one and the other.
    """
    digits = 0
    while number and one_in > 1:
        number, digit = divmod(number, one_in)
        digits += digit
    return digits % one_in == TURN % one_in


def sampled(cases: Sequence[Any], path: Path) -> Sequence[Any]:
    """Return those of the cases of a test in ``path`` that are run now."""
    one_in = share(path)
    return cases if len(cases) < max(MANY, one_in) else [c for k, c in enumerate(cases) if is_due(k, one_in)]


def is_kept(name: str) -> bool:
    """Whether a test of a program is run now."""
    return crc32(name.encode()) % one_in == 0
