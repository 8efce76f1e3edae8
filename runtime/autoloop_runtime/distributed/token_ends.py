"""Where values go in a plan that is run token by token, past switches and from iteration to iteration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ..dataflow.execution_plan import CONTROL, ENTER, EXIT, FETCH, INHERIT, NEXT, Edges, Step

#: what becomes of a value: it decides where others go, or something waits for it to be there; it is a result; a
#: kernel reads it
DECIDES, RESULT, READ = "decides", "result", "read"


def ends(those: Iterable[Edges], inside: bool = False) -> Iterator[tuple[str, int, Step | None]]:
    """Yield what becomes of values that take some edges: what, the slot it is read from, and by which step.

    Parameters
    ----------
    those : iterable of Edges
    inside : bool
        Whether only to look inside one loop: not at those that are entered, and what is left.
    """
    left, seen = list(those), set[int]()
    while left:
        edges = left.pop()
        if id(edges) in seen:
            continue
        seen.add(id(edges))
        for slot, _, step in edges.plain:
            if step.call is not None:
                yield READ, slot, step
            elif step.otherwise is not None and slot == step.first + 1:
                yield DECIDES, slot, step
            else:
                left += [step.edges] if step.otherwise is None else [step.edges, step.otherwise]
        for what, arg in edges.rest:
            if what == CONTROL:
                yield DECIDES, -1, None
            elif what == FETCH:
                yield RESULT, -1, None
            elif what == NEXT:
                left.append(arg)
            elif not inside:
                assert what in (EXIT, ENTER, INHERIT)
                left.append(arg if what == EXIT else arg[1] if what == ENTER else arg[2])


def edges_of(step: Step) -> tuple[Edges, ...]:
    """Return the edges of each output of a step."""
    return (step.edges,) if step.outs is None else step.outs


def made_by_others(steps: Iterable[Step], those: Collection[Step], light: Collection[Step]) -> set[tuple[Step, int]]:
    """Return which slots of some steps get what other kernels of the same loop give, in each iteration.

    Parameters
    ----------
    steps, those : iterable of Step
    light : collection of Step
        Those of them that give on what they get.
    """
    left = [step for step in steps if step not in those and step.call is not None]
    found = set[tuple[Step, int]]()
    while left:
        for what, slot, reader in ends(edges_of(left.pop()), inside=True):
            if what is READ and reader is not None and reader in those and (reader, slot) not in found:
                found.add((reader, slot))
                left += [reader] if reader in light else []
    return found
