"""``if`` statements and conditional expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from autoloop_runtime.base.dataclass import dataclass, field
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.records import record_branch

from ...left_to_python import unless_left
from ..mutation.array_identity import renew
from ..mutation.rebinding import rebound_so_far
from ..mutation.side_effects import NewPlaces, Outside
from ..staging.branch_merge import Grown
from ..staging.branch_sides import Side, staged_branch
from ..staging.container_contents import containers_in
from ..staging.containers_of_blocks import AtWork, Rebound
from ..staging.maybe_same import lose_all, may_be
from ..staging.optional import Ids, MaybeNone, is_, knowing, told_by
from ..staging.raising import FALLEN, RETURN, RETURN_VALUE
from ..staging.staged_values import asked, is_staged, truth
from ..staging.standins import opened
from ..staging.taken_containers import Taken, ids_in, seen_elsewhere
from ..staging.twins import Twins, watch
from ..staging.undefined import when_set

if TYPE_CHECKING:
    from ..mutation.named_places import Places

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
        _note((then, orelse), None)

        def staged(*values: Any) -> tuple[Any, ...]:
            outside = Outside((then, orelse), shared, places, values)
            outside.add(map(kept, values[:count]))  # which the branches may write to
            return _staged_statement(test, (then, orelse), names, values, outside)

        return staged
    chosen = then if (side := bool(test)) else orelse
    _note((then, orelse), side)
    if chosen is not None:
        return chosen
    return lambda *values: values[:count]


def _note(branches: Sequence[Branch | None], side: bool | None) -> None:
    """Note for ``explain`` which side of a branch is taken, or None if the run decides."""
    if (graph := current_graph()) is not None:
        code = next((code for one in branches if (code := getattr(one, "__code__", None)) is not None), None)
        if code is not None:
            record_branch(graph, code, side)


def _staged_statement(
    test: Any, branches: tuple[Branch | None, ...], names: tuple[str, ...], values: tuple[Any, ...], outside: Outside,
    rebound: Rebound | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    params = _parameters(branches, names, values)
    rebound = Rebound() if rebound is None else rebound
    try:
        before, every, made = _traced(
            test, branches, _Assigning(_WorkedOn(params, values, outside, rebound), names), _VARIABLE
        )
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


def _parameters(
    branches: tuple[Branch | None, ...], names: tuple[str, ...], values: tuple[Any, ...]
) -> tuple[str, ...]:
    """Return the names of the branches' parameters; the step of an unrolled loop takes what it gives."""
    for branch in branches:
        code = getattr(branch, "__code__", None)
        if code is not None and code.co_argcount == len(values):
            return tuple(code.co_varnames[: len(values)])
    return names


@dataclass(frozen=True)
class _WorkedOn:
    """What both sides of a branch work on: values of variables, what else they change, and containers they replace."""

    params: tuple[str, ...]
    values: tuple[Any, ...]
    outside: Outside
    rebound: Rebound


@dataclass
class _Assigning:
    """Sides that give the values of variables."""

    on: _WorkedOn
    names: tuple[str, ...]

    def begin(self, count: int) -> tuple[int, int]:
        """Forget what an earlier trace has shown; return how many of the values outside, ``count``, and of the
        variables the branch gives as it leaves them, and of how many it is asked where they hold one container."""
        return count + len(self.names), count + len(self.on.values)

    def call(self, function: Branch | None) -> Any:
        """Return what a side gives."""
        if function is None:
            return self.on.values[: len(self.names)]
        return self.on.outside.watch(function)(*self.on.values) or ()

    def left(self, work: AtWork, result: Any, outside: tuple[Any, ...]) -> tuple[Any, ...]:
        """Note what became of values; return those of the variables."""
        now = dict(zip(self.names, result, strict=False))
        ours = [now.get(name, one) for name, one in zip(self.on.params, self.on.values, strict=True)]
        new = {name: one for name, one in now.items() if name not in self.on.params}
        work.leaves((*outside, *ours), new)
        self.on.rebound.add(new)
        self.on.rebound.refuse_shared(work.names, work.given)
        return tuple(result)


@dataclass
class _Returning:
    """Sides that give the value of the function, and values that others hold, too, where one of them changes these.

    Attributes
    ----------
    on : _WorkedOn
    seen : frozenset of int
        The places of values that others hold.
    kept : list of int
        Those that are given.
    given, lost : list
        What the sides give, and the values they change that nobody else holds.
    """

    on: _WorkedOn
    seen: frozenset[int]
    kept: list[int]
    given: list[Any] = field(default_factory=list)
    lost: list[Any] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """What messages call what the sides give."""
        return (RETURN_VALUE, *(self.on.params[k] for k in self.kept))

    def begin(self, count: int) -> tuple[int, int]:
        """Do what :meth:`_Assigning.begin` does."""
        self.given.clear()
        self.lost.clear()
        return count + len(self.on.values), count

    def call(self, function: Branch | None) -> Any:
        """Return what a side gives."""
        result = self.on.outside.watch(function or _nothing)(*self.on.values)
        self.given.append(result)
        return opened(result).value if type(result) is MaybeNone and is_(result, None) is False else result

    def left(self, work: AtWork, result: Any, outside: tuple[Any, ...]) -> tuple[Any, ...]:
        """Note what became of values; return all that the side gives.

        Raises
        ------
        NewPlaces
            If it has to give values that it has changed; those are known from then on.
        """
        values = self.on.values
        work.leaves((*outside, *values), {RETURN_VALUE: result})
        both = enumerate(zip(values, work.held[len(outside) :], strict=True))
        changed = [k for k, (one, held) in both if self.on.rebound.is_changed(one, held)]
        if new := [k for k in changed if k in self.seen and k not in self.kept]:
            self.kept += new
            raise NewPlaces(", ".join(self.on.params[k] for k in new))
        self.lost += [values[k] for k in changed if k not in self.kept]
        return (when_set(result), *(values[k] for k in self.kept))


def _traced(
    test: Any, branches: Sequence[Branch | None], sides: _Assigning | _Returning, what: str
) -> tuple[tuple[Any, ...], tuple[Any, ...], Twins]:
    """Trace both sides, again if that brings new places to light; return the values before and after, and the objects
    among those that are made of others."""
    outside = sides.on.outside
    while True:
        before, as_before = outside.read(), rebound_so_far()
        sides.on.rebound.begin()
        counts = sides.begin(len(before))
        both = zip(branches, told_by(test), strict=True)
        then, orelse = [_side(branch, known, sides, before, counts) for branch, known in both]
        try:
            made: Twins = []
            return before, staged_branch(truth(test), then, orelse, (*sides.names, *outside.names), what, made), made
        except NewPlaces:
            as_before()
            outside.write((*before, *outside.read(len(before))))
        except BaseException:
            as_before()
            outside.write((*before, *outside.read(len(before))))
            raise


def _side(
    branch: Branch | None, known: Ids, sides: _Assigning | _Returning, before: tuple[Any, ...], counts: tuple[int, int]
) -> Side:
    on, (given_on, placed) = sides.on, counts

    def trace() -> tuple[Any, ...]:
        taken = (*before, *on.values)
        with on.rebound.at_work((*on.outside.names[: len(before)], *on.params), taken, placed=range(placed)) as work:
            on.outside.takes(ids_in(taken[:given_on]))
            on.outside.write(before)
            with knowing(known):
                result = sides.call(branch)
            left = on.outside.read()
            return on.rebound.taken.left((*sides.left(work, result, left[: len(before)]), *left))

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
        _note((then, orelse), None)

        def staged(*values: Any) -> Any:
            seen = seen_elsewhere(values)
            outside = Outside((then, orelse), shared, places, values)
            what = FALLEN if falls else RETURN
            return _staged_return(test, (then, orelse), values, outside, what, seen)

        return staged
    chosen = then if (side := bool(test)) else orelse
    _note((then, orelse), side)
    return chosen if chosen is not None else _nothing


def _nothing(*_: Any) -> None:
    return None


def _staged_return(
    test: Any, branches: tuple[Branch | None, ...], values: tuple[Any, ...], outside: Outside, what: str = RETURN,
    seen: frozenset[int] = frozenset(), kept_too: Sequence[int] = (),
) -> Any:  # fmt: skip
    """Build the branch; ``seen`` are the places of values that others hold, ``kept_too`` those that it gives, too."""
    rebound = Rebound()
    params = _parameters(branches, (), values) or tuple(f"variable {k}" for k in range(len(values)))
    sides = _Returning(_WorkedOn(params, values, outside, rebound), seen, list(kept_too))
    try:
        before, every, made = _traced(test, branches, sides, what)
    except Grown as grown:
        if grown.name not in sides.names[1:]:
            raise unless_left(TypeError(str(grown))) from None
        longer = tuple(
            grown.longer(one) if k in sides.kept and name == grown.name else one
            for k, (name, one) in enumerate(zip(params, values, strict=True))
        )
        return _with_longer(
            values, longer, rebound,
            lambda entered: _staged_return(test, branches, entered, outside, what, seen, sides.kept),
        )  # fmt: skip
    outside.finish(map(rebound.written_back, outside.names, before, every[len(sides.names) :]))
    watch(made)
    renew(every)
    for k, one in zip(sides.kept, every[1:], strict=False):
        rebound.written_back(params[k], values[k], one)
    rebound.tell_places((*outside.names, RETURN_VALUE), (*outside.read(), every[0]))
    for one in sides.given:
        may_be("what an `if` gives", every[0], one)
    lose_all("one that a branch changes which returns", [inner for one in sides.lost for inner in containers_in(one)])
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


def if_exp(test: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """Return ``then() if test else orelse()``."""
    test = asked(test)
    if is_staged(test):
        _note((then,), None)
        return staged_choice(test, then, orelse, _TERNARY)
    side = bool(test)
    _note((then,), side)
    return then() if side else orelse()


def staged_choice(test: Any, then: Callable[[], Any], orelse: Callable[[], Any], what: str) -> Any:
    """Return what one of two functions gives, as the run decides; what they change is changed.

    ``what`` is how messages call the two values.
    """
    return _staged_return(test, (then, orelse), (), Outside((then, orelse), (), None), what)
