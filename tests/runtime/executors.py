"""The executors that tests run programs with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import pytest
from api import executable, faster_kernels, machine_steps, why_not
from each_case import each

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
    params, named = [], dict(enumerate(ids))
    for k, case, executor, is_due in _turns(cases, executors, always):
        marks = () if is_due else pytest.mark.nightly
        params.append(pytest.param(*case, executor, id=f"{named[k]}-{executor}", marks=marks))
    return pytest.mark.parametrize(f"{names}, {called}", params)


def spread_each(
    cases: Iterable[Sequence[object]], executors: Sequence[object] = EXECUTORS, always: Sequence[object] = ("native",),
    name: Callable[..., str] | None = None, but: Callable[..., bool] = lambda *_: False,
) -> Callable[[Callable[..., None]], Callable[..., None]]:  # fmt: skip
    """Do as ``spread`` where a case takes less than what is around a test: one test by day, the others in one at night.

    ``name`` says which case it is, and ``but`` what is none, both of a case and the executor.
    """
    due, others = [], []
    for _, case, executor, is_due in _turns(cases, executors, always):
        if not but(*case, executor):
            (due if is_due else others).append((*case, executor))

    def made_of(test: Callable[..., None]) -> Callable[..., None]:
        named = {} if name is None else {"name": name}
        parts = {"by day": each(due, **named)(test), "at night": each(others, **named)(test)}

        @pytest.mark.parametrize("when", ["by day", pytest.param("at night", marks=pytest.mark.nightly)])
        def test_part(when: str) -> None:
            parts[when]()

        test_part.__name__, test_part.__doc__ = test.__name__, test.__doc__
        test_part.__module__, test_part.__qualname__ = test.__module__, test.__qualname__
        if hasattr(parts["by day"], "chosen"):
            setattr(test_part, "chosen", True)
        return test_part

    return made_of


def _turns(
    cases: Iterable[Sequence[object]], executors: Sequence[object], always: Sequence[object]
) -> Iterator[tuple[int, Sequence[object], object, bool]]:
    """Give each case with each executor, its number, and whether it is due by day."""
    turns = [executor for executor in executors if executor not in always]
    for k, case in enumerate(cases):
        for executor in executors:
            yield k, case, executor, executor in always or turns[k % len(turns)] == executor


def make_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let kernels be made as soon as a first run has ended, before the second begins."""

    class AtOnce:
        give_way = staticmethod(lambda: None)

        @staticmethod
        def submit(job):
            job()
            return True

    monkeypatch.setattr(machine_steps, "background", AtOnce)
    monkeypatch.setattr(faster_kernels, "background", AtOnce)
    monkeypatch.setattr(machine_steps, "price", lambda *_: 0.0)
    monkeypatch.setattr(executable, "LONG", 0.0)
