"""Where links back turn: each at a height of its own, so that no two run into one."""

from __future__ import annotations

from collections.abc import Iterable

#: how far from its row the nearest turn is, beyond the words below a box; and those farther out from each other
FIRST, NEXT = 18.0, 8.0
#: turns that end within this of each other do not share a height
_APART = 9.0
_RADIUS = 8.0


def depths(turns: Iterable[tuple[float, float]]) -> list[float]:
    """Return how far from a row each of its turns is, given where they begin and end.

    A turn inside another is nearer to the row, so that the two do not cross.
    """
    ends = [(min(turn), max(turn)) for turn in turns]
    tracks: list[list[tuple[float, float]]] = []
    found = [0.0] * len(ends)
    for number in sorted(range(len(ends)), key=lambda n: (ends[n][1] - ends[n][0], n)):
        left, right = ends[number]
        free = (k for k, taken in enumerate(tracks) if all(right + _APART < a or b + _APART < left for a, b in taken))
        track = next(free, len(tracks))
        tracks[track:] = tracks[track:] or [[]]
        tracks[track].append((left, right))
        found[number] = FIRST + NEXT * track
    return found


def turned(x: float, y: float, x1: float, y1: float, level: float) -> str:
    """Return svg path data of a turn at the height ``level``, from one vertical line to another."""
    side = 1.0 if x1 > x else -1.0
    radius = min(_RADIUS, abs(x1 - x) / 2)
    begin, end = (level - radius if y < level else level + radius), (level - radius if y1 < level else level + radius)
    return (
        f"L{x:.1f} {begin:.1f} Q{x:.1f} {level:.1f} {x + side * radius:.1f} {level:.1f} "
        f"L{x1 - side * radius:.1f} {level:.1f} Q{x1:.1f} {level:.1f} {x1:.1f} {end:.1f} L{x1:.1f} {y1:.1f}"
    )
