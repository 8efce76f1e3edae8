"""The executors that tests run programs with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from api import why_not

NATIVE = not why_not()
INTERPRETED = ("auto", "dataflow", "sequential")
#: native only where its extra is installed
EXECUTORS = (*INTERPRETED, "native") if NATIVE else INTERPRETED
needs_native = pytest.mark.skipif(not NATIVE, reason="the extra for machine code is not installed")


def spread(
    names: str, cases: Iterable[Sequence[object]], ids: Iterable[str], executors: Sequence[object] = EXECUTORS,
    always: Sequence[object] = ("native",), called: str = "executor",
) -> pytest.MarkDecorator:  # fmt: skip
    """Parametrise a test by cases and executors, for cases of which several in a row are of one kind.

    By default those take turns: each has the executors of ``always`` and one of the others. With ``-m "nightly or not
    nightly"`` all have all. Other ways to run a case than executors are ``called`` something else.
    """
    turns = [executor for executor in executors if executor not in always]
    params = []
    for k, (case, name) in enumerate(zip(cases, ids, strict=True)):
        for executor in executors:
            is_due = executor in always or turns[k % len(turns)] == executor
            marks = () if is_due else pytest.mark.nightly
            params.append(pytest.param(*case, executor, id=f"{name}-{executor}", marks=marks))
    return pytest.mark.parametrize(f"{names}, {called}", params)
