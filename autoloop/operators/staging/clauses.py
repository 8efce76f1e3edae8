"""A generator expression as its clauses: what a loop of the graph runs through in place of the generator.

``(x * y for x in v if x > 0 for y in w)`` is ``v`` and a *step*: a function that takes a list of one element of ``v``
and returns a list of the triple ``(lambda: x > 0, lambda: w, step)``, where the inner step returns
``[(None, lambda: x * y, None)]``. So who uses it up asks for a test, for what an inner ``for`` runs over and for an
element when Python would, in the block of the graph where it is wanted.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autoloop_runtime.base.stand_ins import called
from autoloop_runtime.ir.graph import current_graph

from ...errors import passes_handlers
from .staged_values import asked, is_staged
from .standins import StandIn, opened

#: takes a list of one element, returns a list of one: a test or None, what gives the element or what an inner ``for``
#: runs over, and the step of that or None
Step = Callable[[list[Any]], list[tuple[Callable[[], Any] | None, Callable[[], Any], Any]]]


class Clauses:
    """A generator expression, and how far it is.

    Attributes
    ----------
    source : object
        What its first ``for`` runs over.
    step : callable
        What becomes of an element.
    over : callable
        Gives what an inner ``for`` runs over in a loop that may be one of the graph.
    is_tested, is_nested : bool
        Whether it has an ``if``; whether it has more than one ``for``.
    """

    def __init__(self, source: Any, step: Step, over: Callable[[Any], Any], is_tested: bool, is_nested: bool) -> None:
        self.source, self.step, self.over = source, step, over
        self.is_tested, self.is_nested = is_tested, is_nested
        #: why nobody may run over it any more
        self.gone = ""
        self.generator: types.GeneratorType[Any, Any, Any] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it gives one element for each of its source."""
        return not (self.is_tested or self.is_nested)

    def stays(self) -> None:
        """Raise if it was run over before, and nobody knows how far it is.

        Raises
        ------
        TypeError
        """
        if self.gone:
            error = TypeError(
                f"the generator expression {self.gone}: how far it is then is not followed; write it where it is used"
                " [AL018]"
            )
            passes_handlers(error)
            raise error

    def left(self, ends: Sequence[Any]) -> None:
        """Note that it was run over, until one of ``ends``, or to its end if none of them is true."""
        if self.generator is None:
            self.gone = "was run over before"
        elif any(map(is_staged, ends)):
            self.gone = "was left when a tensor said so"
        elif not any(ends):
            self.generator.close()


@called("generator (of which only the run knows the elements)")
class StagedClauses(Clauses, StandIn):
    """What stands for a generator expression that runs over what only the run knows, or that nobody else sees."""

    advice = "make a list of it, [...], or loop over it with a `for` statement"

    def described(self) -> str:
        """Return what messages call it."""
        return "a generator expression, of which only the run knows how many elements it gives"

    def decision(self) -> bool:
        """Return that a generator is true."""
        return True


def drawn(iterator: Iterator[Any], step: Step, clauses: Clauses, inner: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield the elements of a generator expression as Python does; ``inner`` gives what inner clauses run over."""
    for item in iterator:
        clauses.stays()
        [(test, made, following)] = step([item])
        if test is not None and not _known(test()):
            continue
        if following is None:
            yield made()
        else:
            yield from drawn(iter(inner(made())), following, clauses, inner)
    clauses.stays()


def _known(answer: Any) -> bool:
    """Return the truth of a test that Python asks for.

    Raises
    ------
    TypeError
        If only the run can tell.
    """
    answer = asked(answer)
    if is_staged(answer):
        raise TypeError(
            "which elements a generator expression gives only the run can tell here, and what runs over it wants to "
            "know them at once: give it a list, [...], or run over it with a `for` loop [AL018]"
        )
    return bool(answer)


def generator_of(clauses: Clauses, inner: Callable[[Any], Any]) -> Any:
    """Return a generator of Python's that gives the same elements, and that :func:`clauses_of` knows again."""
    iterator, clauses.source = iter(clauses.source), None
    generator: Any = drawn(iterator, clauses.step, clauses, inner)
    generator.__name__ = generator.__qualname__ = "<genexpr>"
    return generator


def clauses_of(value: Any, may_leave: bool = False) -> Clauses | None:
    """Return the clauses of a generator expression that nobody has drawn from yet; None of anything else.

    Who ``may_leave`` it before its end gets none of a generator of Python's that could not go on from there.
    """
    if isinstance(found := opened(value), Clauses):
        found.stays()
        return found
    if type(value) is not types.GeneratorType or value.gi_code is not _DRAWN or current_graph() is None:
        return None
    if value.gi_frame is None or inspect.getgeneratorstate(value) != inspect.GEN_CREATED:
        return None
    held = value.gi_frame.f_locals
    clauses: Clauses = held["clauses"]
    clauses.stays()
    if may_leave and clauses.is_nested:
        return None
    clauses.source, clauses.generator = held["iterator"], value
    return clauses


_DRAWN = drawn.__code__
