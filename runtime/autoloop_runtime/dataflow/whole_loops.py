"""Loops that are run as one: a step of the plan that calls a function which runs all their iterations.

Each kernel is still called by itself, in program order; what goes away is the moving of tokens between them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import inf
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any

from ..analysis.cost import sized
from ..analysis.observable import is_pure
from ..analysis.ownership import Ownership
from ..analysis.weight import Weight, weigh
from ..base.dataclass import replace
from ..base.forks import undivided
from ..base.profiler import boards
from ..ir.graph import Node
from ..ir.prices import Price
from ..ir.run_state import RunState
from .dependence import LONG, Dependence
from .flat_graph import GONE, FlatNode, Kind, Lowered, Port, nanoseconds, renamed
from .kernels import Unwanted, in_iteration
from .loop_items import LoopTree, doors
from .loop_walk import WALKED, WALKING, LoopWalk

if TYPE_CHECKING:
    from .batches import Machine
    from .loop_code import RunLoop

#: so many light kernels beside each heavy one are better off in batches, which machine code may do as one
BATCHED = 16
#: so many middling kernels in loops leave enough for all threads if they are put together, and machine code of several
#: goes through memory once
TOGETHER = 500
#: graphs for which more sets of arrivals, in bytes, would have to be kept than this are run node by node
MANY = 1 << 26


class WholeLoop:
    """A loop that is run as one.

    Parameters
    ----------
    lowered : Lowered
    owned : Ownership
    machine : mapping
        What does iterations of its frames otherwise, see ``loop_pieces``.
    tree : type
        Of ``LoopTree``.

    Attributes
    ----------
    frame : int
    """

    #: several threads work on it; they move its tokens in native memory
    overlaps = is_native = False
    #: it is worth another thread, as one of several that another loop is split into; and calls BLAS
    is_heavy = blas = False

    def __init__(
        self, lowered: Lowered, frame: int, owned: Ownership, machine: Machine = MappingProxyType({}),
        tree: type[LoopTree] = LoopTree,
    ) -> None:  # fmt: skip
        self._tree = tree
        self._sources = [frame.source for frame in lowered.frames]
        self._parents = [frame.parent for frame in lowered.frames]
        self.frame = frame
        self._given: tuple[Lowered, Ownership, Machine] | None = (lowered, owned, machine)
        self._walk: LoopWalk | None = None
        self._run: RunLoop | None = None
        self._places: dict[int, FlatNode] = {}

    def __call__(self, state: RunState, args: list[Any]) -> tuple[Any, ...]:
        """Run it; ``args`` is emptied."""
        run = self._run
        return self._first(state, args) if run is None else self._turning(run, args, 0, state)

    def _first(self, state: RunState, args: list[Any]) -> tuple[Any, ...]:
        """Run it as long as there is no function."""
        given, iteration = self._given, 0
        if given is not None:  # it is None if another thread has made the function meanwhile
            walk = self._walk
            if walk is None:
                walk = self._walk = LoopWalk(given[0], self._tree(given[0], self.frame), given[1])
            results, iteration = walk.run(args, state) if not given[2] else (None, 0)
            if results is not None:
                return results
            with undivided():
                from .loop_code import LoopCode

            code = LoopCode(given[0], walk.tree, given[1], given[2])
            # threads may make it at one time, and go on with their own: one is like the other
            self._places, self._run = code.places, code.compile(self)
            self._given = self._walk = None  # after the rest
        assert self._run is not None
        return self._turning(self._run, args, iteration, state)

    def _turning(self, run: RunLoop, args: list[Any], iteration: int, state: RunState) -> tuple[Any, ...]:
        """Run it from an iteration on, in which somebody may look how far it is."""
        if not boards or self._parents[self.frame]:
            return run(args, iteration, state, None)
        with undivided():
            from ..base.odometers import Beginning

        odometer = Beginning(self._source(self.frame))()
        results = run(args, iteration, state, odometer)
        odometer.end()
        return results

    def place(self, error: BaseException) -> tuple[FlatNode, list[tuple[Node, int]]] | None:
        """Return the node whose kernel raised ``error``, and the loops around it up to this one, innermost first."""
        here = error.__traceback__
        while here is not None:  # the first is ours: a kernel may itself run loops
            whose: object = here.tb_frame.f_globals.get("loop")
            if whose is self:
                return self._found(here)
            if here.tb_frame.f_code is WALKED:
                return self._walked(here)
            here = here.tb_next
        return None

    def _walked(self, here: TracebackType) -> tuple[FlatNode, list[tuple[Node, int]]] | None:
        """Return what ``place`` does, of items that are done one by one."""
        while here.tb_next is not None and here.tb_next.tb_frame.f_code is WALKED:
            here = here.tb_next  # in a branch, before which there need be no kernel
        known = here.tb_frame.f_locals
        return (known["flat"], [(self._source(self.frame), known["iteration"])]) if "flat" in known else None

    def _found(self, here: TracebackType) -> tuple[FlatNode, list[tuple[Node, int]]] | None:
        flat = self._places.get(here.tb_lineno)
        if flat is None or flat.kind is Kind.BATCH:  # of which no kernel fails
            return None
        loops, frame, counts = [], flat.frame, here.tb_frame.f_locals
        while True:
            loops.append((self._source(frame), counts[f"n{frame}"]))
            if frame == self.frame:
                return flat, loops
            frame = self._parents[frame]

    def reached(self, error: Unwanted) -> list[str]:
        """Return the lines that tell how far it was, and a loop in it, when it ended with ``error``."""
        here = error.__traceback__
        while here is not None:
            whose: object = here.tb_frame.f_globals.get("loop")
            if whose is self:
                return self._reached(here.tb_frame.f_locals, *error.args)
            if here.tb_frame.f_code is WALKING:
                return [in_iteration(self._source(self.frame).name, here.tb_frame.f_locals["iteration"])]
            here = here.tb_next
        return []

    def _reached(self, known: Mapping[str, Any], frame: int, turns: int | None = None) -> list[str]:
        """Return them; ``turns``: how many iterations machine code has done of the loop that has ended."""
        found = list[str]()
        while True:
            number = known[f"n{frame}"] if turns is None else turns + (known["start"] if frame == self.frame else 0)
            found.insert(0, in_iteration(self._source(frame).name, number))
            if frame == self.frame:
                return found
            frame, turns = self._parents[frame], None

    def _source(self, frame: int) -> Node:
        source = self._sources[frame]
        assert source is not None
        return source


def with_whole_loops(
    lowered: Lowered, found: Dependence, owned: Ownership, machine: Machine = MappingProxyType({})
) -> Lowered:  # fmt: skip
    """Return ``lowered`` with one node in place of each loop that can be run as one; itself if there is none.

    ``machine``: what does loops otherwise, by their nodes.
    """
    outermost = [k for k, frame in enumerate(lowered.frames) if found.whole[k] and not found.whole[frame.parent]]
    if not outermost:
        return lowered
    nodes, results = list(lowered.nodes), dict[Port, Port]()
    for frame in outermost:
        inputs, exits = doors(lowered, found.members[frame])
        inside = [
            node for k in range(frame, len(lowered.frames)) if found.is_inside(k, frame) for node in found.members[k]
        ]
        place = min([node.index for node in inside if node.kind in _STEPS])
        for k, node in enumerate(exits):
            results[node.index, 0] = place, k
        for node in inside:
            nodes[node.index] = GONE
        info = lowered.frames[frame]
        nodes[place] = FlatNode(
            place, Kind.WHOLE, lowered.nodes[place].name, tuple(inputs), (), info.parent, info.source, None, {},
            len(exits), False, WholeLoop(lowered, frame, owned, machine),
        )  # fmt: skip
    fetches = tuple([results.get(port, port) for port in lowered.fetches])
    return replace(lowered, nodes=tuple([renamed(node, results) for node in nodes]), fetches=fetches)


_STEPS = (Kind.KERNEL, Kind.SWITCH, Kind.IDENTITY)


def light_kernels(lowered: Lowered) -> set[int]:
    """Return the kernels that are not worth another thread, as far as static shapes tell."""
    return {node.index for node in lowered.nodes if node.kind is Kind.KERNEL and is_light(node)}


def middling_kernels(lowered: Lowered, light: Collection[int]) -> set[int]:
    """Return the kernels that are worth another thread together with others, but not one by one: threads that hand over
    the interpreter for each of them wait for each other for longer than they take."""
    nodes = lowered.nodes
    heavy = [node for node in nodes if node.kind is Kind.KERNEL and node.index not in light]
    return {node.index for node in heavy if _only_computes(node) and _known_nanoseconds(node) <= LONG}


def as_light(lowered: Lowered, light: Collection[int], is_native: bool) -> set[int]:
    """Return the middling kernels that are put together as light ones are. In loops those are not that can never run
    beside another one, see ``heavy_alone``, and where it ``is_native`` none of those is of which there are few."""
    nodes, found = lowered.nodes, middling_kernels(lowered, light)
    inside = {k for k in found if nodes[k].frame}
    if not inside or (is_native and len(inside) < TOGETHER):
        return found - inside
    with undivided():
        from .overlap import overlapping

    heavy = {node.index for node in nodes if node.kind is Kind.KERNEL and node.index not in light}
    return found - (inside - overlapping(lowered, heavy))


def _known_nanoseconds(flat: FlatNode) -> float:
    """Return how long a kernel takes, if static shapes tell; else longer than any."""
    assert flat.source is not None
    price = flat.source.op.traits.price
    known = price is not Price.FOREIGN and all(t.shape.is_fully_defined() for t in sized(flat.source))
    return nanoseconds(flat) if known else inf


def is_light(flat: FlatNode) -> bool:
    """Return whether a kernel is not worth another thread."""
    node = flat.source
    return node is None or node.op is not flat.op or weigh(node) is Weight.LIGHT


def heavy_alone(lowered: Lowered, light: Collection[int], most: float = BATCHED) -> set[int]:
    """Return the kernels that are worth another thread but can never run beside another such one.

    They might as well be light: who runs ahead of them would find nothing to do that takes long. None if there is any
    that does more than compute: it may show when others run; or more than ``most`` light kernels for each.
    """
    nodes = lowered.nodes
    heavy = {node.index for node in nodes if node.kind is Kind.KERNEL and node.index not in light}
    if not heavy or len(lowered.frames) == 1 or len(light) > most * len(heavy):
        return set()
    if any(_is_seen(node) for node in nodes if node.frame or node.index in heavy):
        return set()
    if not all(_only_computes(nodes[k]) for k in heavy):
        return set()
    with undivided():
        from .overlap import overlapping

    return heavy - overlapping(lowered, heavy)


def _is_seen(flat: FlatNode) -> bool:
    """Return whether it shows when a node runs: a counter that is printed runs ahead of what takes long."""
    return flat.op is not None and (flat.op.effect or flat.op.stateful or flat.op.traits.price is Price.FOREIGN)


def _only_computes(flat: FlatNode) -> bool:
    node = flat.source
    return node is not None and node.op is flat.op and is_pure(node)


def with_joined_steps(
    lowered: Lowered, owned: Ownership, machine: Machine | None = MappingProxyType({}), is_native: bool = False
) -> tuple[Lowered, Lowered]:  # fmt: skip
    """Return ``lowered`` with one node in place of each loop that can be run as one, and of each batch; and with such
    loops only.

    The nodes of those are left as they are, and nobody refers to them. ``machine``: see ``with_batches``.
    ``is_native``: tokens of loops are moved without the interpreter, so that it takes less for a kernel to be worth
    another thread.
    """
    light = light_kernels(lowered)
    light |= as_light(lowered, light, is_native)
    if len(lowered.frames) == 1 and len(light) < 2:
        return lowered, lowered
    found = _with_batches_in_loops(lowered, owned, light, machine) if machine is None or machine else None
    return found or with_steps(lowered, owned, light, machine)


def _with_batches_in_loops(
    lowered: Lowered, owned: Ownership, light: set[int], machine: Machine | None
) -> tuple[Lowered, Lowered] | None:  # fmt: skip
    """Return what ``with_joined_steps`` does where machine code does batches in loops with heavy kernels that can never
    run beside each other; None if that cannot be done. As long as it is not known what machine code does, the batches
    are not in their loops yet."""
    alone = heavy_alone(lowered, light, inf)
    if not alone:
        return None
    with undivided():
        from .batched_loops import with_batched_loops

    joined, _ = with_steps(lowered, owned, light, machine, set())
    made = with_batched_loops(
        joined, lowered, alone, len(light) <= BATCHED * len(alone),
        lambda k, tree: WholeLoop(joined, k, owned, machine or {}, tree),
    )  # fmt: skip
    if made is None:
        return None
    return (joined, joined) if machine is None else (made, with_steps(lowered, owned, light, machine, alone)[1])


def with_steps(
    lowered: Lowered, owned: Ownership, light: set[int], machine: Machine | None, alone: set[int] | None = None
) -> tuple[Lowered, Lowered]:  # fmt: skip
    """Return what ``with_joined_steps`` does; ``alone``: heavy kernels that are taken for light ones."""
    together = light | (heavy_alone(lowered, light) if alone is None else alone)
    arrivals = sum([node.kind is Kind.MERGE or (node.kind is Kind.KERNEL and node.index not in together)
                    for node in lowered.nodes]) + len(lowered.frames)  # fmt: skip
    if len(lowered.nodes) * arrivals // 8 > MANY:
        return lowered, lowered
    found = Dependence(lowered, together)
    whole = with_whole_loops(lowered, found, owned, machine or {})
    if long := _long_bodies(found, light):
        torn = Dependence(lowered, together, long)
        with undivided():
            from .shared_bodies import shared

        frames = shared(with_whole_loops(lowered, torn, owned), lowered, torn, light, long, machine)
        if frames:
            found = torn if len(frames) == len(long) else Dependence(lowered, together, frames)
            whole = with_whole_loops(lowered, found, owned, machine or {})
    if sum([node.index in light for node in whole.nodes]) < 2:
        return whole, whole
    with undivided():
        from .batches import with_batches

    return with_batches(whole, found, light, owned, machine), whole


def _long_bodies(found: Dependence, light: Collection[int]) -> list[int]:
    """Return the loops that can be run as one of which an iteration may be worth several threads."""
    long = []
    for frame, members in enumerate(found.members):
        if found.whole[frame] and sum([nanoseconds(node) for node in members if node.index in light]) >= 2 * LONG:
            long.append(frame)
    return long
