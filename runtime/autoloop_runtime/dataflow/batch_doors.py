"""What the tokens of a batch bring: several values may travel as one token, a tuple (``bundles``), and of a turn of a
loop (``loop_turns``) some are given if the loop goes on, and others if it ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .execution_plan import MISSING
from .flat_graph import Port
from .packed_bundles import unpacked

#: when a token is given
ENDS, GOES_ON, ALWAYS = 0, 1, 2


class Doors:
    """The tokens of a batch.

    Parameters
    ----------
    given, made : sequence of int
        How many values each token brings that it is given, and that it gives; they are in the order of its inputs and
        outputs.
    sides : sequence of int
        When each of those is given.
    predicate : Port or None
        Whether the loop goes on.
    """

    def __init__(
        self, given: Sequence[int], made: Sequence[int], sides: Sequence[int] = (), predicate: Port | None = None
    ) -> None:  # fmt: skip
        self.given, self.made = given, made
        #: the tokens that it is given which are bundles
        self.bundles = tuple([k for k, count in enumerate(given) if count != 1])
        self.sides = sides or [ALWAYS] * len(made)
        self.predicate = predicate
        #: a token is given for each value
        self.gives_each = predicate is None and all(count == 1 for count in made)
        #: and is given one for each
        self.is_plain = self.gives_each and all(count == 1 for count in given)

    def spread(self, args: Sequence[Any]) -> list[Any]:
        """Return the values of the tokens that it is given; what is no bundle, for there is none yet, is each."""
        values: list[Any] = []
        for count, value in zip(self.given, args):
            value = unpacked(value)
            values += value if count != 1 and type(value) is tuple else [value] * count
        return values

    def gathered(self, values: Sequence[Any], goes_on: Any) -> tuple[Any, ...]:
        """Return the tokens that it gives, ``MISSING`` those of which a value is.

        Parameters
        ----------
        goes_on : bool or MISSING
            The value of ``predicate``.
        """
        if self.gives_each:
            return tuple(values)
        side = ALWAYS if goes_on is MISSING else int(bool(goes_on))
        tokens = []
        for wanted, part in self._parts(values):
            there = wanted in (ALWAYS, side) and not any(value is MISSING for value in part)
            tokens.append(MISSING if not there else part[0] if len(part) == 1 else tuple(part))
        return tuple(tokens)

    def partly(self, values: Sequence[Any], goes_on: Any) -> Iterator[tuple[Any, Any]]:
        """Yield each token that it gives, or ``MISSING``; and what there is of a bundle that is not complete, or
        None."""
        for token, (side, part) in zip(self.gathered(values, goes_on), self._parts(values)):
            is_part = len(part) > 1 and token is MISSING and side != ENDS
            yield token, tuple(part) if is_part and any(value is not MISSING for value in part) else None

    def _parts(self, values: Sequence[Any]) -> Iterator[tuple[int, Sequence[Any]]]:
        place = 0
        for count, side in zip(self.made, self.sides):
            yield side, values[place : place + count]
            place += count

    # -- as source ----------------------------------------------------------------------------------------

    def target(self, names: Sequence[str]) -> str:
        """Return what the list of what it is given is assigned to."""
        parts, place = [], 0
        for count in self.given:
            part = ", ".join(names[place : place + count])
            parts.append(part if count == 1 else f"({part})")
            place += count
        return f"[{', '.join(parts)}]"

    def result(self, names: Sequence[str], predicate: str, whole: Mapping[int, str] = MappingProxyType({})) -> str:
        """Return the expression of what it gives; ``whole``: that of some tokens."""
        on, ends = [
            "".join(
                ["missing, " if s not in (ALWAYS, side) else f"{whole[k]}, " if k in whole else
                 f"{', '.join(part)}, " if len(part) == 1 else f"({', '.join(part)}), "
                 for k, (s, part) in enumerate(self._parts(names))]
            ) for side in (GOES_ON, ENDS)
        ]  # fmt: skip
        return f"({on})" if on == ends else f"({on}) if {predicate} else ({ends})"
