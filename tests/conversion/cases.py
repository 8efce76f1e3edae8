"""Programs with the arguments to try them on, entered where they are defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Cases(list[tuple[Any, list[tuple[Any, ...]]]]):
    """Functions, each with the arguments of several calls."""

    def on(self, *arguments: tuple[Any, ...]) -> Callable[[Any], Any]:
        """A decorator that enters a function."""

        def enter(function: Any) -> Any:
            self.append((function, list(arguments)))
            return function

        return enter
