"""A stage of a loop as the source of a Python generator: a loop that yields what it has to wait for."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from sys import getrefcount
from typing import Any

import numpy as np

from ..analysis.ownership import Ownership
from ..base.dataclass import Protocol
from ..ir.run_state import RunState
from .execution_plan import calling
from .flat_graph import GONE, FlatNode, Kind, Lowered, Port
from .item_code import Lines, into_of, is_own
from .loop_code import LoopCode
from .loop_items import Guard, Item, Loop, LoopTree, Run
from .pipeline_stages import Stage


class Awaited(Protocol):
    """What a stage waits for."""

    def is_there(self) -> bool: ...


#: ``stage(args, state, turns, channels)``: it empties ``args``, asks ``turns.begins(n)`` before each iteration, takes
#: values from ``channels`` and puts others into them
RunStage = Callable[[list[Any], RunState, Any, Sequence[Any]], Generator[Awaited, None, tuple[Any, ...]]]

#: bytes of arrays that are filled again, at least
LARGE = 1 << 16
#: stands for what hands a value on
_SEND = FlatNode(-1, Kind.KERNEL, "send", (), (), 0, None, None, {}, 0, False, None)


class Receive(Run):
    """A value that another stage hands on is taken."""

    __slots__ = ("channel", "port")

    def __init__(self, flat: FlatNode, port: Port, channel: int) -> None:
        self.flat, self.inputs, self.port, self.channel = flat, (), port, channel


class Send(Run):
    """A value is handed on."""

    __slots__ = ("channel",)

    def __init__(self, port: Port, channel: int) -> None:
        self.flat, self.inputs, self.channel = _SEND, (port,), channel


class StageTree(LoopTree):
    """The tree of one stage, which is in a graph of its own.

    Parameters
    ----------
    lowered : Lowered
    frame : int
    stage : Stage
    channels : mapping of Port to sequence of int
        Where each value goes that it hands on; of what it is given, the one where it comes from.
    """

    def __init__(self, lowered: Lowered, frame: int, stage: Stage, channels: Mapping[Port, Sequence[int]]) -> None:
        self._stage, self._channels = stage, channels
        self._given = {port[0] for port in stage.given}
        self._root: Guard = (next(((k, 0), 1) for k in stage.nodes if lowered.nodes[k].kind is Kind.LOOP_COND),)
        super().__init__(lowered, frame)

    def _items(self, node: FlatNode) -> list[tuple[Guard, Item]]:
        if node.index in self._given:
            return [self._received(node, port) for port in self._stage.given if port[0] == node.index]
        found = super()._items(node)
        for k in range(node.outputs):
            for channel in self._channels.get((node.index, k), ()):
                found.append((self.guard((node.index, k)), Send(self.source((node.index, k)), channel)))
        return found

    def _received(self, node: FlatNode, port: Port) -> tuple[Guard, Item]:
        guard = () if port == self._stage.predicate else self._root
        if guard:
            self._guards[port] = guard
        return guard, Receive(node, port, self._channels[port][0])


def alone(lowered: Lowered, frame: int, stage: Stage) -> Lowered:
    """Return the graph of a stage alone, whose nodes keep their places; what it is given is made by kernels, where
    others make it."""
    nodes = [node if k in stage.nodes or node.kind is Kind.CONST else GONE for k, node in enumerate(lowered.nodes)]
    for k, _ in stage.given:
        made = lowered.nodes[k]
        nodes[k] = FlatNode(k, Kind.KERNEL, made.name, (), (), frame, None, None, {}, made.outputs, False, None)
    return Lowered(tuple(nodes), lowered.frames, (), ())


class StageCode(LoopCode):
    """Writes the generator of one stage."""

    def __init__(self, lowered: Lowered, tree: StageTree, owned: Ownership) -> None:
        #: lines that make places for results
        self._rooms = list[str]()
        super().__init__(lowered, tree, owned)

    def _run(self, item: Run, after: set[Port], depth: int) -> Lines:
        if isinstance(item, Receive):
            return self._received(item, after, depth)
        if isinstance(item, Send):
            return self._sent(item, after, depth)
        flat, (kernel, in_place) = item.flat, calling(item.flat, self._owned)
        room = None if in_place else self._room(flat)
        if room is None:
            return super()._run(item, after, depth)
        k, given = flat.index, ", ".join(map(self._name, item.inputs))
        self._globals |= {f"Room{k}": room, f"k{k}": kernel}
        self._rooms.append(f"room{k} = Room{k}()")
        dropped = self._dropped(item.inputs, after, depth)
        after.discard((k, 0))
        after.update(item.inputs)
        return [(depth, f"{self._name((k, 0))} = k{k}({given}, out=room{k}())", flat), *dropped]

    def _room(self, flat: FlatNode) -> Callable[[], Room] | None:
        """Return what makes places for the results of a kernel: a product, which is in C order wherever it is put."""
        node = flat.source
        if node is None or node.op is not flat.op or not node.op.traits.blas or into_of(flat) is not np.matmul:
            return None
        made = node.outputs[0]
        shape = made.shape.as_tuple() if made.shape.is_fully_defined() else ()
        is_worth = len(shape) == 2 and shape[0] * shape[1] * made.dtype.itemsize >= LARGE and is_own(node, self._owned)
        return partial(Room, shape, made.dtype) if is_worth else None

    def _head(self, names: Sequence[str]) -> Lines:
        first = ["def run(args, state, turns, channels):", f"[{', '.join(names)}] = args", "args.clear()", *self._rooms]
        return [(min(k, 1), text, None) for k, text in enumerate(first)]

    def _turning(self, item: Loop, depth: int) -> tuple[Lines, Lines]:
        frame = item.frame
        lines: Lines = [(depth, f"for n{frame} in count():", None)]
        lines += [(depth + 1, f"while not turns.begins(n{frame}):", None), (depth + 2, "yield turns", None)]
        return lines, []

    def _received(self, item: Receive, after: set[Port], depth: int) -> Lines:
        channel = f"channels[{item.channel}]"
        after.discard(item.port)
        lines: Lines = [(depth, f"while not {channel}.is_there():", None), (depth + 1, f"yield {channel}", None)]
        return [*lines, (depth, f"{self._name(item.port)} = {channel}.take()", None)]

    def _sent(self, item: Send, after: set[Port], depth: int) -> Lines:
        dropped = self._dropped(item.inputs, after, depth)
        after.update(item.inputs)
        return [(depth, f"channels[{item.channel}].put({self._name(item.inputs[0])})", None), *dropped]


class Room:
    """Arrays that a kernel has made in one run and nobody has any more, to be filled again: the memory of arrays that
    go from thread to thread is given back to the system, and asked for anew, page by page.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self._shape, self._dtype = shape, dtype
        #: all that were made
        self._arrays = list[Any]()
        self._last = 0

    def __call__(self) -> Any:
        """Return an array that nobody has."""
        arrays, count = self._arrays, len(self._arrays)
        for k in range(self._last + 1, self._last + 1 + count):
            if getrefcount(arrays[k % count]) <= ALONE:
                self._last = k % count
                return arrays[k % count]
        arrays.append(np.empty(self._shape, self._dtype))
        self._last = count
        return arrays[count]


#: references to what only a list has, as they are counted
ALONE = (lambda those: getrefcount(those[0]))([np.empty(0)])
