"""One test of many short cases, in place of ``pytest.mark.parametrize`` where a case takes less than what is around it.

Each case runs whatever became of the others, must reach an assertion, and is named where it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import assertions
import day_sample
import examples
import pytest


def _shown(*case: Any) -> str:
    return ", ".join(map(_word, case))


def _word(value: Any) -> str:
    """What is said of a part of a case: of a function its name, and its line, for many have none."""
    code = getattr(value, "__code__", None)
    return str(value) if code is None else f"{value.__name__} in line {code.co_firstlineno}"


def each(
    cases: Iterable[Any], name: Callable[..., str] = _shown, parts: int = 1, one_in: int = 1
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a test be called with each of ``cases``, a tuple as several arguments; ``name`` says which it is.

    What takes seconds is several tests, in as many ``parts``. Of what takes longer still, by day only one case in
    ``one_in`` is tried, another one without the extra ``native``; all are in a long run. Of programs, and of a test
    that says nothing of that, it is as many as ``day_sample.py`` says.
    """
    every = [case if isinstance(case, tuple) else (case,) for case in cases]

    def made_of(test: Callable[..., None]) -> Callable[..., None]:
        path = Path(test.__code__.co_filename)
        given = asked = due(every, one_in)
        if one_in == 1 or day_sample.is_program(path):
            given = day_sample.sampled(asked, path)

        def run(mine: list[tuple[Any, ...]]) -> None:
            failed = [error for case in mine if (error := _failure(test, case, name)) is not None]
            assertions.reached = bool(mine)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(mine)} cases", failed)

        if parts == 1:

            def test_each() -> None:
                run(given)

        else:

            @pytest.mark.parametrize("part", range(parts))
            def test_each(part: int) -> None:
                run(given[part::parts])

        test_each.__name__, test_each.__doc__ = test.__name__, test.__doc__
        test_each.__module__, test_each.__qualname__ = test.__module__, test.__qualname__
        if len(given) < len(asked):
            setattr(test_each, "chosen", True)  # it is in each sample: what is not is some of its cases
        return test_each

    return made_of


def due(cases: Sequence[Any], one_in: int) -> Sequence[Any]:
    """Return those of ``cases`` that are tried now: all in a long run, one in so many otherwise."""
    return cases if examples.of_long_runs else cases[day_sample.TURN % one_in :: one_in]


def _failure(test: Callable[..., None], case: tuple[Any, ...], name: Callable[..., str]) -> BaseException | None:
    assertions.reached = False
    try:
        test(*case)
    except (Exception, pytest.fail.Exception) as error:
        error.add_note(f"in the case {name(*case)}")
        return error
    return None if assertions.reached else AssertionError(f"the case {name(*case)} has reached no assertion")
