"""A batch: light kernels that become ready together and are run one after the other, as one step of the plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeGuard

from ..analysis.cost import HEAVY
from ..analysis.ownership import Ownership
from ..base.forks import undivided
from ..ir.graph import Node
from .batch_doors import Doors
from .execution_plan import MISSING
from .flat_graph import FlatNode, Lowered, Port
from .packed_bundles import MachinePart, unpacked

if TYPE_CHECKING:
    from .batch_code import BatchTree, RunBatch
    from .batch_walk import BatchWalk

#: runs of a batch that are done item by item
FIRST = 30
#: nanoseconds of kernels that leave the interpreter to others for long enough, and where few calls are left of many
LONG, STACKED = 60_000.0, 40_000.0


class Batch:
    """A batch.

    Parameters
    ----------
    times : sequence of float
        What each of its kernels takes.
    later : int
        How many runs more than others it is run item by item: functions are not all to be compiled in one run.
    machine : MachinePart, optional
        What does all of it; it leaves the other threads the interpreter if it takes long.
    doors : Doors, optional
        How its tokens have the values of ``inputs`` and ``outputs``; each has one if there are none.

    Attributes
    ----------
    lowered : Lowered
    members : sequence of int
        Its nodes, in program order.
    inputs : sequence of Port
        What it is given; some only say that it may run.
    outputs : sequence of Port
        What others want of it.
    owned : Ownership
    left : int
        How many runs are still to be done item by item.
    """

    def __init__(
        self, lowered: Lowered, members: Sequence[int], inputs: Sequence[Port], outputs: Sequence[Port],
        owned: Ownership, times: Sequence[float], later: int = 0,
        machine: MachinePart | None = None, doors: Doors | None = None,
    ) -> None:  # fmt: skip
        self.lowered, self.owned = lowered, owned
        self.members, self.inputs, self.outputs = members, inputs, outputs
        self.doors = doors or Doors([1] * len(inputs), [1] * len(outputs))
        self.left = FIRST + later
        self._machine = None if machine is None else self._with_places(machine)
        #: whether it is given, or gives, packed bundles
        self.packs = self._machine is not None and bool(machine and (machine.given or machine.made))
        #: whether NumPy's functions are called for several of its nodes at once, see ``stacked_chains``
        self.is_stacked = self._machine is not None and bool(machine and machine.times)
        if machine is not None and self.is_stacked:
            times = machine.times
        #: whether it is worth another thread, and leaves the interpreter to others while it works
        is_machine = self._machine is not None and not self.is_stacked
        self.is_heavy = is_worth_a_thread(times, is_machine, self.is_stacked)
        self._tree: BatchTree | None = None
        self._walk: BatchWalk | None = None
        self._run: RunBatch | None = None
        self._places: dict[int, FlatNode] = {}
        self._names: list[str] = []
        #: what has the value of the condition of a loop
        self._predicate = ""

    def __call__(self, args: list[Any]) -> tuple[Any, ...]:
        """Run it; ``args`` is emptied."""
        if self._machine is not None:
            found: tuple[Any, ...] | None = self._machine(args)
            if found is not None:
                args.clear()
                return found
        for k in self.doors.bundles:
            args[k] = unpacked(args[k])
        run = self._run
        return self._first(args) if run is None else run(args)

    def _first(self, args: list[Any]) -> tuple[Any, ...]:
        """Run it as long as there is no function."""
        if self.left <= 0:
            return self._compiled()(args)
        self.left -= 1
        walk = self._walk
        if walk is None:
            walk = self._walk = self._made_walk()
        return walk(args)

    def _made_walk(self) -> BatchWalk:
        with undivided():
            from .batch_code import BatchTree, is_scalar
            from .batch_walk import BatchWalk

        nodes = self.lowered.nodes
        tree = self._tree = BatchTree(self.lowered, self.members, self.outputs)
        scalars = [port for port in self.inputs if is_scalar(nodes, port)]
        return BatchWalk(tree, nodes, self.inputs, scalars, self.owned, self.doors)

    def _compiled(self) -> RunBatch:
        """Return the function. Threads may make it at one time: one is like the other."""
        with undivided():
            from .batch_code import BatchCode, BatchTree

        tree = self._tree or BatchTree(self.lowered, self.members, self.outputs)
        code = BatchCode(self.lowered, tree, self.inputs, self.owned, self.doors)
        self._places, self._names, self._predicate = code.places, code.names, code.predicate
        made = self._run = code.compile(self)
        self._tree = None
        return made

    def _with_places(self, machine: MachinePart) -> Callable[[list[Any]], Any] | None:
        """Return what is given all tokens, hands those on that machine code wants, and gives tokens; None if there is
        none, or only one for a graph in which values come from elsewhere: by a loop as one, or by its Exit."""
        if not set(self.inputs).issuperset(machine.inputs):
            return None
        if self.doors.is_plain:
            kernel, places = machine.kernel, [self.inputs.index(port) for port in machine.inputs]
            return lambda args: kernel(*[args[k] for k in places])
        with undivided():
            from .batch_code import BatchTree, machine_code

        tree = BatchTree(self.lowered, self.members, self.outputs)
        return machine_code(tree, self.lowered.nodes, self.inputs, self.outputs, self.doors, machine)

    # -- failures -----------------------------------------------------------------------------------------

    def place(self, error: BaseException) -> tuple[FlatNode, list[tuple[Node, int]]] | None:
        """Return the node whose kernel raised ``error``, and the loops around it in the batch, of which there are
        none."""
        found = self._found(error.__traceback__)
        if found is None:
            return None
        here, walked = found
        flat = here.tb_frame.f_locals["entry"][1] if walked else self._places.get(here.tb_lineno)
        return None if flat is None else (flat, [])

    def made(self, error: BaseException) -> tuple[list[Any], Any]:
        """Return what there is of the outputs after the failure ``error``, ``MISSING`` for what there is not; and the
        condition of a loop, if that is known."""
        found = self._found(error.__traceback__)
        if found is None:
            return [MISSING] * len(self.outputs), MISSING
        here, walked = found
        known = here.tb_frame.f_locals
        if not walked:
            shared = here.tb_frame.f_globals  # has constants
            return [known.get(n, shared.get(n, MISSING)) for n in self._names], known.get(self._predicate, MISSING)
        assert self._walk is not None
        values = known["values"]
        return [values[k] for k in self._walk.results], self._walk.goes_on(values)

    def _found(self, here: TracebackType | None) -> tuple[TracebackType, bool] | None:
        """Return where a kernel was called, innermost, and whether item by item."""
        while here is not None:
            if here.tb_frame.f_globals.get("batch") is self:
                return here, False
            if self._is_walk(here):
                while self._is_walk(here.tb_next):
                    here = here.tb_next  # in a branch
                return here, True
            here = here.tb_next
        return None

    def _is_walk(self, here: TracebackType | None) -> TypeGuard[TracebackType]:
        return here is not None and self._walk is not None and here.tb_frame.f_code is self._walk.walked


def is_worth_a_thread(times: Sequence[float], is_machine: bool, is_stacked: bool = False) -> bool:
    """Return whether kernels that take such times are worth another thread together, and leave the interpreter to
    others while they work, as machine code does, and NumPy's do that take long, the mean of them."""
    return sum(times) > HEAVY and (is_machine or sum(times) > len(times) * (STACKED if is_stacked else LONG))
