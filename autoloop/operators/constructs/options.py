"""``set_loop_options``."""

from __future__ import annotations

from typing import Any, NoReturn

from ...left_to_python import ruled


def set_loop_options(
    shape_invariants: Any = None,
    parallel_iterations: int | None = None,
    maximum_iterations: Any = None,
    swap_memory: bool | None = None,
    unroll: bool | None = None,
    gradient_memory: str | int | None = None,
) -> None:
    """Set options of the loop in whose body this is the first statement.

    Conversion takes it out of the loops it belongs to; in plain Python it does nothing.

    Parameters
    ----------
    shape_invariants : sequence of (variable, shape), optional
        The shape that a variable keeps in each iteration.
    parallel_iterations : int, optional
        How many iterations may be alive at once.
    maximum_iterations : int, optional
        A bound on the number of iterations.
    swap_memory : bool, optional
        Keep what the gradient needs in a file when it is large.
    unroll : bool, optional
        Of a ``for`` loop whose length is known before the run: write its iterations out one by one, or make a loop of
        the graph of those over a Python range after the first few, however short it is. By default short loops are
        written out. The result is the same; a loop that as one of the graph would give another is written out anyway.
    gradient_memory : {"save", "checkpoint"} or int, optional
        Run iterations again rather than save all that the gradient needs; see ``while_loop``.

    Raises
    ------
    ValueError
        In converted code, if it stands anywhere else.

    Examples
    --------
    >>> @al.function
    ... def doubled(x, turns):
    ...     i = al.constant(0)
    ...     while i < turns:
    ...         al.set_loop_options(shape_invariants=[(x, [None])])
    ...         x = al.concat([x, x])
    ...         i += 1
    ...     return x
    >>> doubled(al.ones([1]), 3).shape
    TensorShape([8])
    """


def misplaced_options(*_: Any, **__: Any) -> NoReturn:
    """Refuse a call of ``set_loop_options`` that does not stand at the head of a loop."""
    refusal = ValueError(
        "set_loop_options must be the first statement in the body of a loop of a converted function "
        "(one decorated with @autoloop.function, or called by one) [AL023]"
    )
    raise ruled(refusal)
