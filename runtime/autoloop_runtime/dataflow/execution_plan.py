"""The flat graph as tables for the hot loop.

A *step* is a node that waits for its inputs: a kernel, a Switch, or an Identity. Merge, LoopCond, Enter,
NextIteration and Exit wait for nothing, so they exist only as entries of the *edges* that lead through them.

Each iteration of a frame has one list, ``values``: an input slot for every input of every step, and for every
step a cell that counts the inputs still missing. The list starts as a copy of the frame's template, in which
constants (here) and loop invariants (when they enter the frame) are filled in and counted already, so that a
value at rest costs nothing per iteration.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from ..analysis.aliasing import is_fresh
from ..analysis.ownership import Ownership, overwritten
from ..analysis.sizes import may_hold_memory
from ..analysis.weight import Weight, holds_memory, is_bulky, weigh
from ..base.forks import undivided
from ..ir.graph import Node
from ..ir.op import Op
from ..ir.tensor import Tensor
from ..passes.given_places import over
from .flat_graph import FlatNode, FrameInfo, Kind, Lowered, Port
from .sole_holders import in_place, own_view

MISSING: Final = object()
#: what stands for the number of kernels of a loop: more than a batch has
LOOP: Final = 1000
#: nodes of a plan that stand for several
_JOINED = (Kind.WHOLE, Kind.BATCH)

# what an entry of ``Edges.rest`` does with the value, and its argument
NEXT = 0  #: to the next iteration: Edges there
EXIT = 1  #: to the frame around: Edges there
ENTER = 2  #: into a child frame, which is opened by the first: (FramePlan, Edges there, is it an invariant)
CONTROL = 3  #: only the arrival counts: (count cell, Step)
FETCH = 4  #: a result: its number
INHERIT = 5  #: an invariant that a child frame wants too, once it is open: (slot, FramePlan, Edges there, invariant?)


class Step:
    """A kernel, Switch or Identity of the plan; but for ``weight`` read-only once the plan is made.

    Attributes
    ----------
    call : callable or None
        The kernel with its static arguments; ``None`` for Switch and Identity, which are done on the spot.
    first, last : int
        Its data inputs are ``values[first:last]``.
    count : int
        The cell that counts missing inputs.
    edges : Edges
        Where the output goes; of a Switch, where it goes if the predicate is true.
    otherwise : Edges or None
        Of a Switch: where it goes if the predicate is false. Of an Identity: ``None``.
    outs : tuple of Edges or None
        Where each output goes, if the kernel gives a tuple of them.
    stateful : bool
        The kernel wants ``state=``.
    takes : tuple of int
        Inputs that the kernel writes to: see ``sole_holders.taken``.
    over : callable or None
        The kernel with one argument more, an array that its result is put into.
    offered : tuple of (int, bool)
        Inputs whose arrays may be that, and whether the caller's own: see ``sole_holders.offered``.
    is_special : bool
        It is called in another way than with what is in its slots.
    weight : Weight
        Whether it is worth another thread; of a loop that is run as one this is learnt, see ``critical_path``.
    bulky : bool
        It does little but go through memory, see ``weight.is_bulky``.
    makes : bool
        And it makes an array for that.
    allocates : bool
        It gives an array of its own that may be large.
    overlaps : bool
        It is a loop that several threads work on.
    kernels : int
        How many kernels it calls; of a loop this is not known, and ``LOOP``.
    blank : tuple
        What its slots are overwritten with once they have been used; empty if nothing large can be there.
    """

    __slots__ = (
        "allocates", "blank", "bulky", "call", "count", "edges", "first", "flat", "frame", "is_special", "kernels",
        "last", "makes", "offered", "otherwise", "outs", "over", "overlaps", "stateful", "takes", "weight", "width",
    )  # fmt: skip

    def __init__(self, flat: FlatNode, frame: FramePlan, owned: Ownership) -> None:
        self.flat = flat
        self.frame = frame
        self.width = len(flat.inputs)
        self.first = frame.reserve(self.width, MISSING)
        self.count = frame.reserve(1, self.width + len(flat.controls))
        node = flat.source
        effect = flat.op is not None and flat.op.effect
        self.last = self.first + self.width - effect
        self.takes = _taken(flat)
        joined = flat.kind in _JOINED
        self.call = flat.value if joined else kernel_of(flat, bool(self.takes), node in owned.parts)
        self.stateful = flat.op is not None and flat.op.stateful
        self.offered, self.over = _offered(flat, owned.in_place)
        self.is_special = joined or self.stateful or bool(self.takes) or bool(self.offered)
        self.weight = Weight.LIGHT
        self.kernels = 1 if not joined else len(flat.value.members) if flat.kind is Kind.BATCH else LOOP
        self.bulky = self.makes = self.allocates = self.overlaps = False
        self.blank: tuple[Any, ...] = ()
        if flat.op is not None and node is not None and node.op is flat.op:
            self.weight = weigh(node)
            self.allocates = any(may_hold_memory(t) and is_fresh(t) for t in node.outputs)
            self.bulky = self.weight is Weight.HEAVY and is_bulky(node)
            there = any(callers or _is_own(node.inputs[k], owned) for k, callers in self.offered)
            self.makes = self.bulky and not (self.takes or there)
            if holds_memory(node):
                self.blank = (None,) * (self.last - self.first)
        elif joined:
            self.allocates = True
            self.blank = (None,) * self.width
            self.overlaps = flat.kind is Kind.WHOLE and flat.value.overlaps
            if self.overlaps or flat.value.is_heavy:
                self.weight = Weight.HEAVY
        self.edges: Edges
        self.otherwise: Edges | None = None
        self.outs: tuple[Edges, ...] | None = None


class Edges:
    """Where a token goes: into input slots, and the rest.

    ``plain`` has ``(slot, count cell, step)`` per input; ``rest`` has ``(what, argument)``.
    """

    __slots__ = ("plain", "rest")

    def __init__(self) -> None:
        self.plain: tuple[tuple[int, int, Step], ...] = ()
        self.rest: tuple[tuple[int, Any], ...] = ()


class FramePlan:
    """What is common to all instances of a frame; read-only once the plan is made.

    Attributes
    ----------
    template : list
        The start of every iteration's ``values``.
    entering : int
        How many tokens enter an instance from outside.
    initial : list of (Edges, value)
        Loop variables that start as constants.
    number : int
        Its place in ``Plan.frames``.
    place : int
        The first of the nodes that are its steps.
    trips : int
        How many iterations the last instance that has ended had; 0 if none has. The one thing that runs change.
    inherits : list of (slot, Edges, bool)
        What enters from invariants of the frame around: where they are in ``values`` there, where they go, and
        whether they are invariants here too.
    """

    __slots__ = (
        "entering", "inherits", "initial", "name", "number", "place", "source", "steps", "template", "trips", "window",
    )  # fmt: skip

    def __init__(self, info: FrameInfo) -> None:
        self.name = info.name
        self.number = info.index
        self.trips = 0
        self.source: Node | None = info.source
        self.window = info.parallel_iterations
        self.template: list[Any] = []
        self.entering = 0
        self.initial: list[tuple[Edges, Any]] = []
        self.inherits: list[tuple[int, Edges, bool]] = []
        self.steps: list[Step] = []
        self.place = 0

    def reserve(self, cells: int, content: Any) -> int:
        """Return room for ``cells`` more entries of ``values``."""
        start = len(self.template)
        self.template.extend([content] * cells)
        return start


class Plan:
    """A ``Lowered`` made ready to run; immutable, shared by all runs.

    Parameters
    ----------
    lowered : Lowered
    owned : Ownership, optional
        What may be written to of the caller's arrays.
    single : Lowered, optional
        The same with a node for each light kernel.
    source : Lowered, optional
        The same with a node for each kernel.

    Attributes
    ----------
    root : FramePlan
        The graph outside all loops.
    feeds : tuple of Edges
        Where each fed value goes.
    fetched : list
        The results, as far as they are constants.
    starters : tuple of Step
        The steps outside all loops that wait for nothing.
    sharing : frozenset of int
        The nodes that are worth another thread and can run while another of them does.
    parallel : bool
        There are such, or loops that are run as one and share their own out.
    stacked : bool
        Some of NumPy's functions are called for several nodes at once.
    parents : list of int
        By frame: that around it.
    blas : bool
        One of those calls BLAS.
    makes : bool
        One of those makes a bulky array.
    source : Lowered
    paths : CriticalPaths or None
        What runs on several threads have learnt, once there has been one.
    """

    def __init__(
        self, lowered: Lowered, owned: Ownership | None = None, single: Lowered | None = None,
        source: Lowered | None = None,
    ) -> None:  # fmt: skip
        self.source = source or lowered
        self.paths: Any = None
        self._owned = owned or Ownership()
        self.frames = [FramePlan(info) for info in lowered.frames]
        self.parents = [info.parent for info in lowered.frames]
        self.root = self.frames[0]
        self.steps: dict[int, Step] = {}
        self.nodes = lowered.nodes
        self._edges: dict[Port, Edges] = {}
        self._unfilled: list[Port] = []
        self._consumers: dict[Port, list[tuple[int, int]]] = defaultdict(list)
        self._fetches: dict[Port, list[int]] = defaultdict(list)
        for flat in lowered.nodes:
            self._declare(flat)
        self.fetched: list[Any] = [MISSING] * len(lowered.fetches)
        for i, port in enumerate(lowered.fetches):
            if self.nodes[port[0]].kind is Kind.CONST:
                self.fetched[i] = self.nodes[port[0]].value
            else:
                self._fetches[port].append(i)
        self._connect()
        self.feeds = tuple([self.edges_of((i, 0)) for i in lowered.feeds])
        self._fill()
        self.starters = tuple([s for s in self.root.steps if self.root.template[s.count] == 0])
        weighty = {index for index, step in self.steps.items() if step.weight}
        sharing: set[int] = set()
        if weighty:
            with undivided():
                from .overlap import overlapping

            sharing = overlapping(single or lowered, weighty)
        self.sharing = frozenset(sharing)
        self.parallel = bool(sharing) or any(step.overlaps for step in self.steps.values())
        self.stacked = any(step.flat.kind is Kind.BATCH and step.flat.value.is_stacked for step in self.steps.values())
        self.makes = any(self.steps[i].makes for i in sharing)
        self.blas = any(op is not None and op.traits.blas for i in sharing for op in ops_of(self.steps[i].flat))
        self.blas |= any(step.flat.kind is Kind.WHOLE and step.flat.value.blas for step in self.steps.values())

    def _declare(self, flat: FlatNode) -> None:
        """Make the step of a node and note who consumes what."""
        if flat.kind in (Kind.KERNEL, Kind.SWITCH, Kind.IDENTITY, *_JOINED):
            frame = self.frames[flat.frame]
            step = self.steps[flat.index] = Step(flat, frame, self._owned)
            frame.place = step.flat.index if not frame.steps else min(frame.place, step.flat.index)
            frame.steps.append(step)
        elif flat.kind is Kind.ENTER and self.nodes[flat.inputs[0][0]].kind is not Kind.CONST:
            self.frames[flat.frame].entering += 1
        for position, port in enumerate(flat.inputs):
            self._consumers[port].append((flat.index, position))
        for port in flat.controls:
            self._consumers[port].append((flat.index, -1))

    def _connect(self) -> None:
        """Give every step its edges and put constants into templates."""
        for index, step in self.steps.items():
            flat = step.flat
            if flat.kind is Kind.SWITCH:
                step.otherwise, step.edges = self.edges_of((index, 0)), self.edges_of((index, 1))
            elif not _in_a_tuple(flat):
                step.edges = self.edges_of((index, 0))
            else:
                step.outs = tuple([self.edges_of((index, i)) for i in range(flat.outputs)])
        for flat in self.nodes:
            if flat.kind is Kind.CONST:
                self._place_constant(flat)

    def _place_constant(self, flat: FlatNode) -> None:
        for index, position in self._consumers[flat.index, 0]:
            consumer = self.nodes[index]
            frame = self.frames[consumer.frame]
            if consumer.kind is Kind.ENTER:
                frame.initial.append((self.edges_of((index, 0)), flat.value))
            else:
                step = self.steps[index]
                frame.template[step.first + position] = flat.value
                frame.template[step.count] -= 1

    # -- edges --------------------------------------------------------------------------------------------

    def edges_of(self, port: Port) -> Edges:
        """Return the edges of a port, filled in later: edges may lead to edges without end (loops in loops)."""
        edges = self._edges.get(port)
        if edges is None:
            edges = self._edges[port] = Edges()
            self._unfilled.append(port)
        return edges

    def _fill(self) -> None:
        while self._unfilled:
            port = self._unfilled.pop()
            plain: list[tuple[int, int, Step]] = []
            rest: list[tuple[int, Any]] = []
            through = [port]
            while through:
                here = through.pop()
                rest += [(FETCH, i) for i in self._fetches.get(here, ())]
                for index, position in self._consumers.get(here, ()):
                    flat = self.nodes[index]
                    if flat.kind in (Kind.MERGE, Kind.LOOP_COND):
                        through.append((index, 0))
                    elif (step := self.steps.get(index)) is None:
                        rest.append(self._crossing(flat, here))
                    elif position < 0:
                        rest.append((CONTROL, (step.count, step)))
                    else:
                        plain.append((step.first + position, step.count, step))
            edges = self._edges[port]
            edges.plain, edges.rest = tuple(plain), tuple(sorted(rest, key=lambda entry: entry[0]))

    def _crossing(self, flat: FlatNode, port: Port) -> tuple[int, Any]:
        """Return the entry for a node that takes a token to another iteration or frame."""
        there = self.edges_of((flat.index, 0))
        if flat.kind is Kind.NEXT_ITERATION:
            return NEXT, there
        if flat.kind is Kind.EXIT:
            return EXIT, there
        assert flat.kind is Kind.ENTER
        child = self.frames[flat.frame]
        source = self.nodes[port[0]]
        if source.constant:
            slot = self.frames[source.frame].reserve(1, MISSING)
            child.inherits.append((slot, there, flat.constant))
            return INHERIT, (slot, child, there, flat.constant)
        return ENTER, (child, there, flat.constant)


def ops_of(flat: FlatNode) -> list[Op | None]:
    """Return what a node does, or the members of a batch do."""
    if flat.kind is not Kind.BATCH:
        return [flat.op]
    return [flat.value.lowered.nodes[k].op for k in flat.value.members]


def _taken(flat: FlatNode) -> tuple[int, ...]:
    """Return the inputs of a node that it is to write to, where they are arrays that may be large."""
    if flat.op is None or flat.op.taking is None or flat.source is None:
        return ()
    inputs = flat.source.inputs
    worth = all(inputs[k].shape.rank not in (0, None) and may_hold_memory(inputs[k]) for k in flat.op.taking.inputs)
    return flat.op.taking.inputs if worth else ()


def _offered(
    flat: FlatNode, wanted: Mapping[Node, int]
) -> tuple[tuple[tuple[int, bool], ...], Callable[..., Any] | None]:
    """Return the inputs of a node that its result may be put into, and whether arrays of the caller's may be; and the
    kernel that does so, if there are any."""
    node = flat.source
    if node is None or flat.op is not node.op or flat.value is not None:
        return (), None
    found = tuple([(k, wanted.get(node) == k) for k in overwritten(node)])
    return found, over(node.op) if found else None


def calling(flat: FlatNode, owned: Ownership) -> tuple[Callable[..., Any], bool]:
    """Return what is called for a node, and whether it is given a list of its inputs, which it empties."""
    takes = _taken(flat)
    kernel, (offers, into) = kernel_of(flat, bool(takes), flat.source in owned.parts), _offered(flat, owned.in_place)
    assert kernel is not None
    if not takes and not offers:
        return kernel, False
    return functools.partial(_in_place, kernel, into, offers, takes), True


def _in_place(
    kernel: Callable[..., Any], into: Callable[..., Any] | None, offers: tuple[tuple[int, bool], ...],
    takes: tuple[int, ...], args: list[Any], **state: Any,
) -> Any:  # fmt: skip
    kernel, values = in_place(kernel, into, offers, takes, args)
    result = kernel(*values, **state)
    args.clear()
    return result


def _is_own(tensor: Tensor, owned: Ownership) -> bool:
    """Return whether a value is an array that the run has made, not one of the caller's."""
    return is_fresh(tensor) and tensor.op not in owned.in_place


def kernel_of(flat: FlatNode, takes: bool = False, is_part: bool = False) -> Callable[..., Any] | None:
    """Return the kernel of a node with its static arguments, or the one that it has instead; what it gives includes the
    effect token."""
    op = flat.op
    if op is None:
        return None
    if flat.value is not None:
        kernel: Callable[..., Any] = flat.value
        return kernel
    bare = op.taking.kernel if takes and op.taking is not None else op.kernel
    kernel = functools.partial(bare, **flat.attrs) if flat.attrs else bare
    if is_part:
        return functools.partial(_own_part, kernel)
    if not op.effect:
        return kernel
    return functools.partial(_with_token, kernel, op.several)


def _in_a_tuple(flat: FlatNode) -> bool:
    """Return whether what the step calls gives a tuple, with a value for each output."""
    return flat.kind in _JOINED or (flat.op is not None and (flat.op.several or flat.op.effect))


def _own_part(kernel: Callable[..., Any], *args: Any) -> Any:
    return own_view(kernel(*args))


def _with_token(kernel: Callable[..., Any], several: bool, *args: Any, **state: Any) -> Any:
    result = kernel(*args, **state)
    return (*result, np.True_) if several else (result, np.True_)
