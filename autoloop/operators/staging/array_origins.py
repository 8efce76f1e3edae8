"""Which array it is that a loop or branch leaves: a number that each run gives beside the array.

A graph gives values. Where a result, or what is left in the world, may be one of several arrays, the caller's among
them, a trace is made again that *tells* them apart: each array has a number, and where loops and branches choose an
array they choose its number, too. An array that an iteration makes has another number in each one: that of the array
and how many iterations there were. Loops behind each other, which make different arrays, count from where the iteration
began that they are in: none waits for another to have counted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base.shapes import SCALAR
from autoloop_runtime.ir.array_storage import Storage, kept
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.ir.structured import LoopVar
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, ZeroDimArray

from .loop_leaves import NAMES, Leaf
from .staged_blocks import ToldArrays, telling
from .told_arrays import is_argument, is_array, there

if TYPE_CHECKING:
    from .loop_variables import Variable

#: which array: a number, or what a run says
Code: TypeAlias = "int | Tensor"
#: so many arrays are told apart of those that one iteration makes
_MOST = 1 << 20
#: the leaves that may be one
_ARRAYS = (NAMES[ArrayTracer], NAMES[ZeroDimArray])


class Origins:
    """The numbers of the arrays of one trace."""

    def __init__(self) -> None:
        #: graphs -> what the clock said after each loop and branch in them
        self._ends: dict[Graph | None, tuple[Tensor, ...]] = {}
        self._numbers: dict[Any, tuple[Any, int]] = {}
        self._chosen: dict[Storage, Tensor] = {}
        #: the bodies of loops, and what the clock says when an iteration of theirs begins
        self._turns: dict[Graph, Tensor] = {}

    def copy(self) -> Origins:
        """Return the same, which later changes of this one do not reach."""
        made = Origins()
        made._ends, made._numbers, made._chosen = dict(self._ends), dict(self._numbers), dict(self._chosen)
        made._turns = dict(self._turns)
        return made

    @property
    def begun(self) -> Code:
        """What the clock said when the iteration began that this is in."""
        turn = self._turn(current_graph())
        return 0 if turn is None else turn

    @property
    def clock(self) -> Code:
        """How many iterations there were so far, of that loop or branch of this graph which had most of them."""
        ends = self._ends.get(current_graph())
        return functools.reduce(ops.maximum, ends) if ends else self.begun

    def passed(self, clock: Code) -> None:
        """Note what the clock says after a loop or branch."""
        if isinstance(clock, Tensor):
            graph = current_graph()
            self._ends[graph] = (*self._ends.get(graph, ()), clock)

    def choose(self, storage: Storage, code: Tensor) -> None:
        """Note what says which array it is that a loop or branch has chosen."""
        self._chosen[storage] = code

    def begin(self, body: Graph, clock: Tensor) -> None:
        """Note what the clock says when an iteration begins."""
        self._turns[body] = clock

    def number(self, value: Any) -> int:
        """Return the number of an array that nothing has chosen, as of the first iteration that makes it."""
        key = value.storage if isinstance(value, Tensor) and value.view_of is None else id(value)  # type: ignore[attr-defined]
        return self._numbers.setdefault(key, (value, len(self._numbers) + 1))[1]

    def of(self, value: Any) -> Code:
        """Return which array it is; 0 of what is none."""
        value = there(value)
        if not is_array(value):
            return 0
        storage = kept(value)
        if storage is None or (value.view_of is not None and is_argument(value)):
            return self.number(value)
        if value.view_of is None and (code := self._chosen.get(storage)) is not None:
            return code
        number, turn = self.number(value), self._turn(storage.graph)
        return number if turn is None else ops.add(number, ops.multiply(turn, _MOST))

    def of_both(self, handles: Sequence[Any], graphs: Sequence[Graph]) -> list[Tensor]:
        """Return which arrays the two sides of a branch leave, each made in the graph of the side."""
        codes = []
        for graph, handle in zip(graphs, handles, strict=True):
            with graph.as_default():
                codes.append(as_code(self.of(handle)))
        return codes

    @staticmethod
    def with_clock(side: Callable[[], tuple[Any, ...]]) -> Callable[[], tuple[Any, ...]]:
        """Return a side of a branch that leaves, besides, how many iterations there were at its end."""

        def counting() -> tuple[Any, ...]:
            left = side()
            return (*left, telling().clock)

        return counting

    def of_loop(self, variables: Sequence[Variable], start: int) -> OriginsOfLoop:
        """Return what tells which arrays the variables of a loop are; ``start`` is how many tensors it carries."""
        return OriginsOfLoop(self, variables, start)

    def _turn(self, graph: Graph | None) -> Tensor | None:
        while graph is not None and graph not in self._turns:
            graph = graph.parent
        return None if graph is None else self._turns[graph]


def begin_telling(graph: Graph) -> None:
    """Let the runs of a trace tell its arrays apart."""
    graph.record(ToldArrays).origins = Origins()


def as_code(code: Code) -> Tensor:
    """Return a number as a value of the graph."""
    return code if isinstance(code, Tensor) else convert_to_tensor(np.int64(code))


class OriginsOfLoop:
    """Which arrays the variables of one loop are.

    Parameters
    ----------
    told : Origins
    variables : sequence of Variable
    start : int
        How many tensors the loop carries besides, before those that it carries for that.
    """

    def __init__(self, told: Origins, variables: Sequence[Variable], start: int) -> None:
        self._told, self._start = told, start
        every = [leaf for one in variables for leaf in one.leaves]
        self._leaves = [leaf for leaf in every if leaf.kind in _ARRAYS]
        self._codes: dict[Leaf, Tensor] = {}

    def declared(self) -> list[LoopVar]:
        """Return what the loop carries for that."""
        numbers = [
            ("the iterations", self._told.begun),
            *[(leaf.name, self._told.of(leaf.init)) for leaf in self._leaves],
        ]
        return [LoopVar(f"which array: {name}", as_code(code), SCALAR) for name, code in numbers]

    def begin(self, body: Graph) -> None:
        """Note that the body is traced from here on."""
        self._told.begin(body, self._take(body.inputs))

    def _take(self, tensors: Sequence[Tensor]) -> Tensor:
        """Take what stands for that among the tensors of the loop; return what the clock says."""
        clock, *codes = tensors[self._start : self._start + 1 + len(self._leaves)]
        self._codes = dict(zip(self._leaves, codes, strict=True))
        return clock

    def choose(self, leaf: Leaf, array: ArrayTracer) -> None:
        """Note what says which array stands for a leaf now."""
        if leaf in self._codes:
            self._told.choose(array.storage, self._codes[leaf])

    def left(self, arrays: Callable[[Leaf], Any]) -> list[Tensor]:
        """Return what the body leaves, made in its graph; ``arrays`` gives what it leaves of each leaf."""
        return [ops.add(as_code(self._told.clock), 1), *[as_code(self._told.of(arrays(leaf))) for leaf in self._leaves]]

    def after(self, outputs: Sequence[Tensor]) -> None:
        """Take what the loop gives."""
        self._told.passed(self._take(outputs))
