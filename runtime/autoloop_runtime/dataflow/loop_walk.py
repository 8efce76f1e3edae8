"""The first iterations of a whole loop over scalars, item by item: to write out and compile its function takes as long
as some fifty of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..analysis.ownership import Ownership
from ..ir.run_state import RunState
from .execution_plan import calling
from .flat_graph import FlatNode, Kind, Lowered, Port
from .kernels import Unwanted
from .loop_items import Assign, Branch, Item, LoopTree, Run

#: iterations that are run so, of all runs together
FIRST = 50


class LoopWalk:
    """One loop that is run item by item.

    Parameters
    ----------
    lowered : Lowered
    tree : LoopTree
    owned : Ownership

    Attributes
    ----------
    tree : LoopTree
    left : int
        How many iterations are still to be run so.
    """

    def __init__(self, lowered: Lowered, tree: LoopTree, owned: Ownership) -> None:
        self.tree = tree
        self._owned = owned
        self._constants = {(node.index, 0): node.value for node in lowered.nodes if node.kind is Kind.CONST}
        self._kernels: dict[int, Callable[..., Any]] = {}
        self.left = FIRST if _is_of_scalars([*tree.loop.head, *tree.loop.body]) else 0

    def run(self, args: list[Any], state: RunState) -> tuple[tuple[Any, ...] | None, int]:
        """Run it, and return its results; or ``None`` if there is more to do than that, when ``args`` is what it has
        come to. And how many iterations there were. Raises ``Unwanted`` once nobody waits for it."""
        unwanted = getattr(args, "unwanted", ())
        loop, inputs = self.tree.loop, self.tree.inputs
        variables = [port for port, _ in loop.enter]
        names = [*variables, *inputs[len(variables) :]]
        env = self._constants | dict(zip(names, args))
        args.clear()
        iteration = 0
        while self.left > 0:
            self._block(loop.head, env, state, iteration)
            if not env[loop.predicate]:
                return tuple([env[port] for port in self.tree.results]), iteration
            if unwanted:
                raise Unwanted
            self._block(loop.body, env, state, iteration)
            iteration += 1
            self.left -= 1
        args += [env[port] for port in names]
        return None, iteration

    def _block(self, items: Sequence[Item], env: dict[Port, Any], state: RunState, iteration: int) -> None:
        """Do ``items``. Who looks for the place of a failure reads the names ``flat`` and ``iteration``."""
        for item in items:
            if isinstance(item, Run):
                flat, op = item.flat, item.flat.op
                assert op is not None
                kernel = self._kernels.get(flat.index) or self._kernel(flat)
                given = [env[port] for port in item.inputs[: len(item.inputs) - op.effect]]
                out = kernel(*given, state=state) if op.stateful else kernel(*given)
                for k, value in enumerate(out if op.several or op.effect else (out,)):
                    env[flat.index, k] = value
            elif isinstance(item, Assign):
                env.update(zip([to for to, _ in item.pairs], [env[port] for _, port in item.pairs]))
            else:
                assert isinstance(item, Branch)
                self._block(item.then if env[item.predicate] else item.otherwise, env, state, iteration)

    def _kernel(self, flat: FlatNode) -> Callable[..., Any]:
        made, _ = calling(flat, self._owned)
        self._kernels[flat.index] = made
        return made


#: where the place of a failure is looked for
WALKED = LoopWalk._block.__code__
#: and how far it was that is over
WALKING = LoopWalk.run.__code__


def _is_of_scalars(items: list[Item]) -> bool:
    """Return whether nothing is made that would have to be let go of, and no loop in it can be long."""
    for item in items:  # grows as it is walked
        if isinstance(item, Run):
            source = item.flat.source
            if source is None or any(t.shape.rank != 0 or t.dtype.kind not in "biufc" for t in source.outputs):
                return False
        elif isinstance(item, Branch):
            items += [*item.then, *item.otherwise]
        elif not isinstance(item, Assign):
            return False
    return True
