"""Where generated Python may be left in the middle: loops that run in chunks, with a call between two of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..base.dataclass import Protocol
from ..base.forks import undivided
from ..ir.graph import CONST, Node
from . import names
from .shared_output import Output
from .templates import Expr


class SiteFactory(Protocol):
    """Whoever may want to take over loops while they run: generated Python asks it for each loop.

    What it gives is called when a run of the loop begins, and returns what has ``left``, ``some`` and ``boundary`` as
    the emitted loop uses them (see ``running.on_stack_replacement``).
    """

    def replacing(self, node: Node, owned: Collection[int]) -> Callable[[], Any] | None:
        """Return what may go on with the loop ``node`` between two iterations; None if nothing can.

        ``owned``: loop variables that hold arrays which nobody else sees.
        """

    def watching(self, node: Node) -> Callable[[], Any] | None:
        """Return what may give the whole function up between two iterations of ``node``; None if nothing wants to."""


class LoopSites:
    """Asks ``factory`` for each loop, but for those inside a loop that it takes; *are they shown*, then the outermost
    can be asked how far they are."""

    def __init__(self, factory: SiteFactory | None, are_shown: bool = False) -> None:
        self._factory = factory
        self._are_shown = are_shown
        #: how many loops are being written, one in the other
        self._depth = 0
        #: inside a loop that may be handed over: with all that is in it
        self._inside = False
        #: the same, for a loop that machine code may take with all of the function
        self._watched = False
        self._around: list[tuple[bool, bool]] = []

    def enter(self, out: Output, node: Node) -> str | None:
        """Return the variable that says when the loop ``node`` may be left; none if a loop around it may be."""
        if self._factory is None or out.decided.counted or self._inside:
            return None
        around = self._inside, self._watched
        owned = out.decided.owned
        site = self._factory.replacing(node, [k for one, k in owned.entered - owned.rotating if one is node])
        if site is not None:
            self._inside = True
        elif not self._watched:
            site = self._factory.watching(node)
            self._watched = site is not None
        if site is None:
            return None
        self._around.append(around)
        name = out.names.new_global(names.of_node(node.name))
        out.expressions.namespace[name] = site
        turns = out.names.new_local("turns")
        out.lines.add(f"{turns} = {name}()")
        return turns

    def begin(self, out: Output, node: Node, turns: str | None) -> str | None:
        """Return the variable with the odometer of the loop ``node``, whose head comes next; none if it has none."""
        self._depth += 1
        if not self._are_shown or self._depth > 1:
            return None
        with undivided():
            from ..base.odometers import Beginning

        name = out.names.new_global(f"shown_{names.of_node(node.name)}")
        out.expressions.namespace[name] = Beginning(node)
        odometer = out.names.new_local("odometer")
        out.lines.add(f"{odometer} = {name}({turns or ''})")
        return odometer

    def end(self, out: Output, odometer: str | None) -> None:
        """Write what comes after the loop."""
        self._depth -= 1
        if odometer is not None:
            out.lines.add(f"{odometer}.end()")

    def leave(self, out: Output, node: Node, turns: str, current: Sequence[Expr], variables: Sequence[str]) -> None:
        """Write what comes between two chunks of iterations of ``node``, which has been written."""
        self._inside, self._watched = self._around.pop()
        count = int(node.attrs["n_vars"])
        captured = [e for e, t in zip(current[count:], node.inputs[count:]) if t.op.op is not CONST]
        state = "state" if out.decided.stateful else "None"
        out.lines.add("else:", indent=1)
        arguments = [part for e in captured for part in (", ", e)]
        known = "".join(f", {v}" for v in variables)
        results = f"({', '.join(variables)},) = " if variables else ""
        call = (f"{results}{turns}.boundary({state}{known}", *arguments, ")")
        out.lines.add(*call, indent=2, node=node)
        out.lines.add("continue", indent=2)
        out.lines.add("break", indent=1)
