"""Where generators of random numbers stand, and how they are put back there."""

from __future__ import annotations

from typing import Any


class Stand:
    """Where a generator stands at a moment; called, it puts it back to there.

    Attributes
    ----------
    generator : object
        One of NumPy's or Python's.
    state : object
        As it tells it itself; None if it has none.
    """

    __slots__ = ("generator", "state")

    def __init__(self, generator: Any) -> None:
        self.generator = generator
        if hasattr(generator, "getstate"):
            try:
                self.state = generator.getstate()
            except NotImplementedError:  # the system's
                self.state = None
        elif hasattr(generator, "bit_generator"):
            self.state = generator.bit_generator.state
        else:
            self.state = generator.get_state(legacy=False)

    def __call__(self) -> None:
        if self.state is not None:
            put_back(self.generator, self.state)


def put_back(generator: Any, state: Any) -> None:
    """Let a generator stand where a state says."""
    if hasattr(generator, "setstate"):
        generator.setstate(state)
    elif hasattr(generator, "bit_generator"):
        generator.bit_generator.state = state
    else:
        generator.set_state(state)
