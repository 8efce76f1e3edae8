"""Every state that a machine can come into, and how: breadth first, so the way to what is wrong is a shortest one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

S = TypeVar("S")


class Wrong(Exception):
    """A state that must not be there was reached; the message tells by which moves."""


@dataclass
class Explored(Generic[S]):
    """What there was.

    ``states``: how many; ``finals``: those that nothing leads out of; ``moves``: how often each kind of move, which
    is the first word of its name, was made.
    """

    states: int = 0
    finals: list[S] = field(default_factory=list)
    moves: dict[str, int] = field(default_factory=dict)


def explore(
    start: S,
    moves: Callable[[S], Iterable[tuple[str, S]]],
    check: Callable[[S], None],
    check_end: Callable[[S], None],
    key: Callable[[S], Hashable] = lambda state: state,
    same: Callable[[S], Hashable] = lambda state: None,
    most: int = 1_000_000,
) -> Explored[S]:
    """Go through all states that ``moves`` lead to.

    ``check`` asserts what must hold in each, ``check_end`` what must hold where no move leads on. States of one ``key``
    count as one; what ``same`` gives of them must be the same for all.
    """
    found: Explored[S] = Explored()
    first = key(start)
    came_by: dict[Hashable, tuple[Hashable, str] | None] = {first: None}
    looks = {first: same(start)}
    todo = deque([start])
    while todo:
        state = todo.popleft()
        here = key(state)
        try:
            check(state)
            following = list(moves(state))
            if not following:
                check_end(state)
            for name, after in following:
                kind = name.partition(" ")[0]
                found.moves[kind] = found.moves.get(kind, 0) + 1
                there = key(after)
                if there not in came_by:
                    came_by[there], looks[there] = (here, name), same(after)
                    todo.append(after)
                else:
                    assert looks[there] == same(after), f"after {name!r} it is not as on the way that was found before"
        except Exception as error:
            raise Wrong(f"{type(error).__name__}: {error}\nafter " + " → ".join(_way(came_by, here))) from error
        found.states += 1
        assert found.states <= most, "more states than expected"
        if not following:
            found.finals.append(state)
    return found


def _way(came_by: dict[Hashable, tuple[Hashable, str] | None], here: Hashable) -> list[str]:
    names = []
    while (step := came_by[here]) is not None:
        here, name = step
        names.append(name)
    return names[::-1] or ["nothing"]
