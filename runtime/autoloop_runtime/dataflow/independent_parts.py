"""Parts of many light kernels that can run beside each other, each worth another thread.

A kernel through which everything comes that another one is given *dominates* it, as what a chain begins with does its
chain. What one kernel dominates, itself included, waits for others only where it begins; so such sets can be run one by
one, and those can be run beside each other that do not wait for each other. They are torn where so much comes out of
one kernel in several ways that another thread gains by it, and put together again where they are small: those of one
*level*, the number of others that have to be done before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

#: of what can be run beside each other there are about so many parts, of which none takes longer than so many of those
#: that are just worth another thread
PARTS, LONGEST = 16, 8
#: nanoseconds of one that is handed out without the interpreter, at most: who ends a run waits for it
LONG = 1_000_000.0
#: each takes some 10 us to hand out, so they are large, but for the last ones, so that all threads end together: where
#: less than so many parts are left, they are halves, and then quarters; no more sizes, for each is compiled by itself
LEFT, SMALLEST = 3, 4
#: what dominates all
_ROOT = -1


def independent_parts(
    members: Sequence[int], times: Mapping[int, float], before: Mapping[int, Sequence[int]], least: float, most: int,
    many: int = 0,
) -> list[list[int]]:  # fmt: skip
    """Return the parts, each in the order of ``members``; there may be only one.

    Parameters
    ----------
    members : sequence of int
        In an order in which they can be run.
    times : mapping
        How long each takes.
    before : mapping
        Those that each waits for, of the members.
    least : float
        How long a part takes that is worth another thread.
    most : int
        Members of a part that is put together, at most.
    many : int
        So many parts of those that can be run beside each other, all of one size, where they are handed out without the
        interpreter; 0 where they are not.
    """
    tree = _Tree(members, times, before, least)
    parts = list(tree.parts())
    of = {k: place for place, part in enumerate(parts) for k in part}
    levels: list[int] = []
    for part in parts:  # that of what comes before comes before
        levels.append(1 + max([levels[of[k]] for k in before[part[0]]], default=-1))
    rows: list[list[list[int]]] = [[] for _ in range(max(levels) + 1)]
    for part, level in zip(parts, levels):
        rows[level].append(part)
    return [sorted(part) for part in _joined(rows, times, least, most, many)]


def _joined(
    rows: Sequence[Sequence[list[int]]], times: Mapping[int, float], least: float, most: int, many: int
) -> Iterator[list[int]]:  # fmt: skip
    """Yield what is put together of the parts of each level."""
    alone: list[int] = []
    for row in rows:
        whole = sum([times[k] for part in row for k in part])
        if whole < 2 * least:  # another thread would have nothing to do
            alone += [k for part in row for k in part]
            continue
        if alone:
            yield alone
            alone = []
        made, time, left = list[int](), 0.0, whole
        enough = max(min(whole / many, LONG), least) if many else min(max(whole / PARTS, least), LONGEST * least)
        smallest = enough if many else max(enough / SMALLEST, least)
        for part in row:
            if made and (time >= enough or len(made) + len(part) > most):
                yield made
                left -= time
                made, time = [], 0.0
                while left < LEFT * enough and enough / 2 >= smallest:
                    enough /= 2
            made += part
            time += sum([times[k] for k in part])
        if made:
            yield made
    if alone:
        yield alone


class _Tree:
    """What dominates what."""

    def __init__(
        self, members: Sequence[int], times: Mapping[int, float], before: Mapping[int, Sequence[int]], least: float
    ) -> None:  # fmt: skip
        self._before, self._least = before, least
        self._children: dict[int, list[int]] = {_ROOT: [], **{k: [] for k in members}}
        above, depth = {_ROOT: _ROOT}, {_ROOT: 0}
        for k in members:
            own = _common(before[k], above, depth)
            above[k], depth[k] = own, depth[own] + 1
            self._children[own].append(k)
        #: time of all that a kernel dominates, the last of it, and whether it is torn somewhere
        self._whole = {_ROOT: 0.0, **{k: times[k] for k in members}}
        self._last = {_ROOT: _ROOT, **{k: k for k in members}}
        self._torn = dict.fromkeys([_ROOT, *members], False)
        for k in reversed(members):
            self._torn[k] |= self._is_wide(k)
            own = above[k]
            self._whole[own] += self._whole[k]
            self._last[own] = max(self._last[own], self._last[k])
            self._torn[own] |= self._torn[k]

    def _is_wide(self, k: int) -> bool:
        """Return whether so much comes out of a kernel that another thread gains by it."""
        each = [self._whole[child] for child in self._children[k]]
        return len(each) > 1 and sum(each) - max(each) >= self._least

    def parts(self) -> Iterator[list[int]]:
        """Yield the sets, each of which begins with what dominates it, by that."""
        begins = list(self._children[_ROOT]) if self._is_wide(_ROOT) else [_ROOT]
        found = list[list[int]]()
        while begins:
            found.append(self._part(begins.pop(), begins))
        yield from sorted([part for part in found if part])

    def _part(self, here: int, begins: list[int]) -> list[int]:
        """Return the set that begins with a kernel; what begins others is put into ``begins``."""
        part, own = list[int](), set[int]()

        def take(those: Sequence[int]) -> None:
            part.extend([k for k in those if k != _ROOT])
            own.update(those)

        while self._torn[here] and not self._is_wide(here):
            take([here])
            heaviest = max(self._children[here], key=self._whole.__getitem__)
            for child in self._children[here]:
                if self._last[child] < heaviest and own.issuperset(self._before[child]):
                    take(self._under(child))
                elif child != heaviest:
                    begins.append(child)
            if not own.issuperset(self._before[heaviest]):
                begins.append(heaviest)
                return part
            here = heaviest
        if self._torn[here]:
            take([here])
            begins += self._children[here]
        else:
            take(self._under(here))
        return part

    def _under(self, k: int) -> list[int]:
        found = [k]
        for one in found:  # grows as it is walked
            found += self._children[one]
        return found


def _common(before: Sequence[int], above: Mapping[int, int], depth: Mapping[int, int]) -> int:
    """Return what dominates all of ``before``."""
    if not before:
        return _ROOT
    here = before[0]
    for other in before[1:]:
        while here != other:
            if depth[here] >= depth[other]:
                here = above[here]
            else:
                other = above[other]
    return here
