"""Names of nodes: each is given out once in a root graph and all that is inside it."""

from __future__ import annotations


class Names:
    """The names given out so far."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        #: name -> how often it was asked for
        self._counts: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """Return ``name``, or with a number if it was given out: ``add``, ``add_1``, ..."""
        counts = self._counts
        count = counts.get(name, 0)
        counts[name] = count + 1
        if count == 0:
            return name
        candidate = f"{name}_{count}"
        while candidate in counts:
            count += 1
            candidate = f"{name}_{count}"
        counts[name] = count + 1
        counts[candidate] = 1
        return candidate
