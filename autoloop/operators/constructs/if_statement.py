"""``if`` statements and conditional expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoloop_runtime.ir.array_storage import kept

from ...left_to_python import unless_left
from ..mutation.array_identity import renew
from ..mutation.side_effects import NewPlaces, Outside, Places
from ..staging.branch_merge import Grown, Side, staged_branch
from ..staging.container_contents import containers_in, copied
from ..staging.containers_of_blocks import Rebound
from ..staging.maybe_same import lose_all, may_be
from ..staging.optional import Ids, MaybeNone, is_, knowing, told_by
from ..staging.raising import FALLEN, RETURN, RETURN_VALUE
from ..staging.staged_values import asked, is_staged, truth
from ..staging.standins import opened
from ..staging.taken_containers import Taken, ids_in, seen_elsewhere
from ..staging.twins import Twins, watch
from ..staging.undefined import when_set

Branch = Callable[..., Any]

_VARIABLE = "the values of {0!r} at the end of the main and the else branch of an `if` on a tensor"
_TERNARY = "the two values of a conditional expression on a tensor"


def if_stmt(
    test: Any,
    then: Branch | None,
    orelse: Branch | None,
    names: tuple[str, ...],
    *,
    shared: tuple[str, ...] = (),
    places: Places | None = None,
) -> Branch:
    """Choose a branch.

    Parameters
    ----------
    test : object
        The condition.
    then, orelse : callable or None
        The branches; both take the same variables and return those of ``names``. None gives its first
        parameters back.
    names : tuple of str
        The variables that the branches return.
    shared : tuple of str
        Variables they change through ``nonlocal`` or ``global``.
    places : callable, optional
        Gives the attributes they change, as ``(object, name)``.

    Returns
    -------
    callable
        Takes the values of the branches' parameters, returns a tuple of the values of ``names``.
    """
    count = len(names)
    test = asked(test)
    if is_staged(test):

        def staged(*values: Any) -> tuple[Any, ...]:
            outside = Outside((then, orelse), shared, places, values)
            outside.add(map(kept, values[:count]))  # which the branches may write to
            return _staged_statement(test, (then, orelse), names, values, outside)

        return staged
    chosen = then if test else orelse
    if chosen is not None:
        return chosen
    return lambda *values: values[:count]


def _staged_statement(
    test: Any, branches: tuple[Branch | None, ...], names: tuple[str, ...], values: tuple[Any, ...], outside: Outside,
    rebound: Rebound | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    params = _parameters(branches, names, values)
    rebound = Rebound() if rebound is None else rebound

    def sides(before: tuple[Any, ...]) -> list[Side]:
        rebound.begin()
        return [
            _side(branch, names, params, values, before, outside, known, rebound)
            for branch, known in zip(branches, told_by(test), strict=True)
        ]

    try:
        before, every, made = _traced(test, sides, names, outside, _VARIABLE)
    except Grown as grown:
        # One side makes a list longer: start again with one of unknown length.
        before = outside.read()
        longer = tuple(
            grown.longer(value) if name == grown.name else value for name, value in zip(params, values, strict=True)
        )
        grown_before = tuple(
            grown.longer(value) if name == grown.name else value
            for name, value in zip(outside.names, before, strict=True)
        )
        every_name = (*params, *outside.names)
        if all(old is new for old, new in zip((*values, *before), (*longer, *grown_before), strict=True)):
            raise unless_left(TypeError(str(grown))) from None
        changed: list[tuple[str, Any, Any]] = []

        def build(entered: tuple[Any, ...]) -> tuple[Any, ...]:
            both = zip(every_name, (*values, *before), entered, strict=True)
            changed.extend((name, old, new) for name, old, new in both if old is not new)
            outside.write(entered[len(values) :])
            return _staged_statement(test, branches, names, entered[: len(values)], outside, rebound)

        results: tuple[Any, ...] = _with_longer((*values, *before), (*longer, *grown_before), rebound, build)
        given = dict(zip(names, results, strict=False))
        for name, old, new in changed:
            rebound.written_back(name, old, given.get(name, old) if rebound.is_rebound(name) else new)
        return results
    outside.finish(map(rebound.written_back, outside.names, before, every[len(names) :]))
    watch(made)
    renew(every)
    originals = dict(zip(params, values, strict=True))
    results = tuple(
        rebound.written_back(name, originals.get(name), value) for name, value in zip(names, every, strict=False)
    )
    rebound.tell_places((*outside.names, *names), (*outside.read(), *results))
    return results


def _traced(
    test: Any, sides: Callable[[tuple[Any, ...]], list[Side]], names: tuple[str, ...], outside: Outside, what: str
) -> tuple[tuple[Any, ...], tuple[Any, ...], Twins]:
    """Trace both sides, again if that brings new places to light; return the values before and after, and the objects
    among those that are made of others."""
    while True:
        before = outside.read()
        then, orelse = sides(before)
        try:
            made: Twins = []
            return before, staged_branch(truth(test), then, orelse, (*names, *outside.names), what, made), made
        except NewPlaces:
            outside.write((*before, *outside.read()[len(before) :]))
        except BaseException:
            outside.write((*before, *outside.read()[len(before) :]))
            raise


def _parameters(
    branches: tuple[Branch | None, ...], names: tuple[str, ...], values: tuple[Any, ...]
) -> tuple[str, ...]:
    """Return the names of the branches' parameters; the step of an unrolled loop takes what it gives."""
    for branch in branches:
        code = getattr(branch, "__code__", None)
        if code is not None and code.co_argcount == len(values):
            return tuple(code.co_varnames[: len(values)])
    return names


def _side(
    branch: Branch | None,
    names: tuple[str, ...],
    params: tuple[str, ...],
    values: tuple[Any, ...],
    before: tuple[Any, ...],
    outside: Outside,
    known: Ids,
    rebound: Rebound,
) -> Callable[[], tuple[Any, ...]]:
    def trace() -> tuple[Any, ...]:
        every, taken = (*outside.names[: len(before)], *params), (*before, *values)
        held = tuple(map(copied, taken))
        rebound.taken.enter(taken)
        begun = rebound.places_in(every, taken)
        outside.takes(ids_in((*before, *values[: len(names)])))
        try:
            outside.write(before)
            with knowing(known):
                results = values[: len(names)] if branch is None else outside.watch(branch)(*values) or ()
            left = outside.read()
            now = dict(zip(names, results, strict=False))
            ours = [now.get(name, one) for name, one in zip(params, values, strict=True)]
            rebound.compare(every, held, taken, (*left[: len(before)], *ours))
            new = {name: one for name, one in now.items() if name not in params}
            rebound.add(new)
            rebound.note_places(begun, every, (*left[: len(before)], *ours), new)
            rebound.refuse_shared(every, taken)
            return rebound.taken.left((*results, *left))
        finally:
            rebound.taken.put_back()

    return trace


def if_return(
    test: Any,
    then: Branch | None,
    orelse: Branch | None,
    *,
    shared: tuple[str, ...] = (),
    places: Places | None = None,
    falls: bool = False,
) -> Branch:
    """Choose a branch that gives the value of the whole function.

    Takes what :func:`if_stmt` takes, and whether one of the branches has no ``return`` at its end; what it returns
    gives the function's value.
    """
    test = asked(test)
    if is_staged(test):

        def staged(*values: Any) -> Any:
            seen = seen_elsewhere(values)
            outside = Outside((then, orelse), shared, places, values)
            what = FALLEN if falls else RETURN
            return _staged_return(test, (then or _nothing, orelse or _nothing), values, outside, what, seen)

        return staged
    chosen = then if test else orelse
    return chosen if chosen is not None else _nothing


def _nothing(*_: Any) -> None:
    return None


class _Changed(Exception):
    """A branch that returns has changed a list, dict or set of the function's, which others hold; it is kept now."""


def _staged_return(
    test: Any, branches: tuple[Branch, ...], values: tuple[Any, ...], outside: Outside, what: str = RETURN,
    seen: frozenset[int] = frozenset(), kept_too: tuple[int, ...] = (),
) -> Any:  # fmt: skip
    """Build the branch; ``seen`` are the places of values that others hold, ``kept_too`` those that it gives, too."""
    rebound = Rebound()
    given: list[Any] = []
    kept, changed = list(kept_too), list[Any]()
    params = _parameters(branches, (), values) or tuple(f"variable {k}" for k in range(len(values)))

    def sides(before: tuple[Any, ...]) -> list[Side]:
        rebound.begin()
        given.clear()
        changed.clear()
        return [
            _return_side(branch, params, values, before, outside, known, rebound, given, (seen, kept, changed))
            for branch, known in zip(branches, told_by(test), strict=True)
        ]

    while True:
        names = (RETURN_VALUE, *(params[k] for k in kept))
        try:
            before, every, made = _traced(test, sides, names, outside, what)
            break
        except _Changed:
            continue
        except Grown as grown:
            if grown.name not in names[1:]:
                raise unless_left(TypeError(str(grown))) from None
            longer = tuple(
                grown.longer(one) if k in kept and name == grown.name else one
                for k, (name, one) in enumerate(zip(params, values, strict=True))
            )
            return _with_longer(
                values, longer, rebound,
                lambda entered: _staged_return(test, branches, entered, outside, what, seen, tuple(kept)),
            )  # fmt: skip
    outside.finish(map(rebound.written_back, outside.names, before, every[len(names) :]))
    watch(made)
    renew(every)
    for k, one in zip(kept, every[1:], strict=False):
        rebound.written_back(params[k], values[k], one)
    rebound.tell_places((*outside.names, RETURN_VALUE), (*outside.read(), every[0]))
    for one in given:
        may_be("what an `if` gives", every[0], one)
    lose_all("one that a branch changes which returns", [inner for one in changed for inner in containers_in(one)])
    return every[0]


def _with_longer(
    values: tuple[Any, ...], longer: tuple[Any, ...], rebound: Rebound, build: Callable[[tuple[Any, ...]], Any]
) -> Any:
    """Return what ``build`` gives with lists that may grow in the place of others, which tell where their elements
    are."""
    begun = Taken()
    entered = begun.enter(values, longer)
    try:
        result = build(entered)
    except BaseException:
        begun.put_back()
        raise
    begun.put_back_what(rebound.is_displaced)
    return result


def _return_side(
    branch: Branch, params: tuple[str, ...], values: tuple[Any, ...], before: tuple[Any, ...], outside: Outside,
    known: Ids, rebound: Rebound, told: list[Any], places: tuple[frozenset[int], list[int], list[Any]],
) -> Callable[[], tuple[Any, ...]]:  # fmt: skip
    seen, keeps, lost = places

    def trace() -> tuple[Any, ...]:
        taken = (*before, *values)
        held = tuple(map(copied, taken))
        rebound.taken.enter(taken)
        begun = rebound.places_in(outside.names[: len(before)], before)
        outside.takes(ids_in(taken))
        try:
            outside.write(before)
            with knowing(known):
                result = outside.watch(branch)(*values)
                told.append(result)
                if type(result) is MaybeNone and is_(result, None) is False:
                    result = opened(result).value
            left = outside.read()
            every = (*outside.names[: len(before)], *params)
            rebound.compare(every, held, taken, (*left[: len(before)], *values))
            named = outside.names[: len(before)]
            rebound.note_places(begun, named, left[: len(before)], {RETURN_VALUE: result})
            changed = [k for k, one in enumerate(values) if rebound.is_changed(one, held[len(before) + k])]
            if new := [k for k in changed if k in seen and k not in keeps]:
                keeps.extend(new)
                raise _Changed
            lost.extend(values[k] for k in changed if k not in keeps)
            return rebound.taken.left((when_set(result), *(values[k] for k in keeps), *left))
        finally:
            rebound.taken.put_back()

    return trace


def if_exp(test: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """Return ``then() if test else orelse()``."""
    test = asked(test)
    if is_staged(test):
        return staged_choice(test, then, orelse, _TERNARY)
    return then() if test else orelse()


def staged_choice(test: Any, then: Callable[[], Any], orelse: Callable[[], Any], what: str) -> Any:
    """Return what one of two functions gives, as the run decides; what they change is changed.

    ``what`` is how messages call the two values.
    """
    return _staged_return(test, (then, orelse), (), Outside((then, orelse), (), None), what)
