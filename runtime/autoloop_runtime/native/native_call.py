"""Calling machine code: arguments in, arrays out, and failures told as the kernels tell them."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.shape_classes import FEW_SHAPES, Classes, Members
from ..base.aligned_memory import aligned_empty
from ..base.callbacks import listener, tell_waiting
from ..base.config import get_num_threads
from ..base.forks import Kind, generation, undivided
from ..base.profiler import active, boards
from ..collections.versioned_array import array_of_rows
from ..ir.graph import Graph
from ..ir.run_state import EAGER, RunState
from ..passes.whole_masks import with_whole_masks
from .call_memory import Memory, copied
from .ir.moving import Given
from .native_function import DATA_OFFSET, Function, shapes_of, write_function
from .packed_words import PACKED, is_complex, packed, strides_of
from .toolchain.cache import default_cache
from .toolchain.compile_ir import Code, callable_of, compile_ir, host
from .typing.facts import Shape
from .typing.refusal import NativeRefusal

if TYPE_CHECKING:
    from ..ir.tensor import Tensor
    from .kernels.thread_pool import Pool
    from .lying_arguments import Lying
    from .recorded_calls import Known

#: of so many sets of shapes it is remembered which code serves them
MOST_KNOWN = 1024
Run = Callable[[Sequence[Any], RunState], list[Any]]


def compile_native(graph: Graph) -> Run:
    """Return a function ``run(values, state)`` that gives the outputs of ``graph`` as machine code computes them.

    The code is made at once if all shapes of the inputs are known, and otherwise for the first sets of shapes, and then
    for all of a class, see ``shape_classes``; for every new set where that cannot be.

    Raises
    ------
    NativeRefusal
        If an operation, dtype or shape has no machine code; the message says where it stands in the user's program.
    MissingExtra
        If llvmlite is not installed.
    """
    return _Compiled(graph)


_KIND = Kind("_Compiled._lock", "code is added when it is there")


class _Compiled:
    """The machine code of a graph, one piece for each set of shapes; ``_lock`` guards the making of them."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._lock = _KIND.lock()
        #: what runs calls with certain shapes, and which of these are made for them alone
        self._made: dict[tuple[Shape, ...], Run] = {}
        self._exact: set[tuple[Shape, ...]] = set()
        self._only: Run | None = None
        self._classes: Classes | None = None
        #: of a class of shapes, None where there is no code for all of them
        self._of_class: dict[Members, Run | None] = {}
        self._watched: Known = {}
        host()  # without llvmlite it is said now, not at the first call
        if all(t.shape.is_fully_defined() for t in graph.inputs):
            self._only = self._runnable(tuple([t.shape.as_tuple() for t in graph.inputs]))

    def __call__(self, values: Sequence[Any], state: RunState = EAGER) -> list[Any]:
        if active() is not None:
            with undivided():
                from .recorded_calls import recorded

            return recorded(self._graph, values, state, self._watched, make, partial(self._run, values, state))
        return self._run(values, state)

    def _run(self, values: Sequence[Any], state: RunState) -> list[Any]:
        runnable = self._only
        if runnable is None:
            shapes = tuple([np.shape(v) for v in values])
            runnable = self._made.get(shapes) or self._of_many(shapes)
            if runnable is not None:
                try:
                    return runnable(values, state)
                except NativeRefusal:  # it has changed nothing
                    if shapes in self._exact:
                        raise
            runnable = self._runnable(shapes)
        return runnable(values, state)

    def entered(self, arguments: Sequence[Any], *wanted: Any) -> Any:
        """See ``_Runnable``."""
        found = self._only
        if found is None:
            shapes = tuple(map(np.shape, arguments))
            found = self._of_many(shapes) or self._made.get(shapes)
        return found.entered(arguments, *wanted) if isinstance(found, _Runnable) else None

    def _of_many(self, shapes: tuple[Shape, ...]) -> Run | None:
        """Return the code for all shapes that differ from these in extents of the run only; None if there is none."""
        if len(self._exact) < FEW_SHAPES:
            return None
        if self._classes is None:
            self._classes = Classes(self._graph.inputs)
        members = self._classes.of(shapes)
        if members is None:
            return None
        if members not in self._of_class:
            try:
                with self._lock:
                    if members not in self._of_class:
                        self._of_class[members] = of_class(self._graph, members)
            finally:
                tell_waiting()
        found = self._of_class[members]
        if found is not None and len(self._made) < MOST_KNOWN:
            self._made.setdefault(shapes, found)
        return found

    def _runnable(self, shapes: tuple[Shape, ...]) -> Run:
        if shapes not in self._exact:
            try:
                with self._lock:
                    if shapes not in self._exact:
                        self._made[shapes] = _made(self._graph, shapes)
                        self._exact.add(shapes)
            finally:
                tell_waiting()
        return self._made[shapes]


def _made(graph: Graph, shapes: Sequence[Shape]) -> Run:
    """Compile ``graph`` for inputs of the given shapes, for values that decide other shapes when they come."""
    try:
        return make(graph, shapes)
    except NativeRefusal:
        if graph.heeds_errors:
            raise
        with undivided():
            from .decided_calls import Decided, is_hopeless
            from .typing.deciding_values import deciding

        graph = with_whole_masks(graph)
        found = deciding(graph)
        if not found or is_hopeless(graph, shapes, found):
            raise
        return Decided(graph, shapes, found, make)


def of_class(graph: Graph, members: Members) -> _Runnable | None:
    """Compile ``graph`` for all shapes of a class; None if there is no such code."""
    try:
        return make_for(graph, members)
    except NativeRefusal:
        return None


def make_for(graph: Graph, members: Members) -> _Runnable:
    """Compile ``graph`` for all shapes of a class: arguments of other shapes it must not be called with."""
    return make(graph, shapes_of(members))


def make(
    graph: Graph, shapes: Sequence[Shape], known: Mapping[Tensor, Any] | None = None,
    lying: Mapping[int, Shape] = MappingProxyType({}), *, among_others: bool = False, keeps_lock: bool = False,
) -> _Runnable:  # fmt: skip
    """Compile ``graph`` for inputs of such shapes; ``known``: values it is for; ``lying``: see ``write_function``.

    ``among_others``: threads that call it have work for each other, so it lets none help; ``keeps_lock``: the
    interpreter's, while it runs.
    """
    begun = perf_counter()
    function = write_function(graph, shapes, host().features, known, lying)
    heeds, may_lie = graph.heeds_errors, not lying and not any(isinstance(n, Given) for one in shapes for n in one)
    again = partial(make, graph, shapes, known) if may_lie else None
    helpers = None
    if function.shares or function.stacks or heeds or keeps_lock:
        with undivided():
            from .linked_code import linked

        code, helpers = linked(function, heeds, among_others, keeps_lock)
    else:
        code = compile_ir(function.ir, function.addresses, default_cache())
    call = callable_of(code)
    if heeds:
        with undivided():
            from .toolchain.fp_flags import heeding

        call = heeding(call)
    if (logs := listener()) is not None:
        with undivided():
            from .told_code import tell_made

        tell_made(logs, graph, code.was_kept, perf_counter() - begun)
    return _Runnable(function, code, call, helpers, again)


class _Runnable:
    """Machine code for inputs of certain shapes."""

    def __init__(
        self, function: Function, code: Code, call: Callable[[Any, int], int], helpers: Pool | None,
        again: Callable[[Mapping[int, Shape]], _Runnable] | None = None,
    ) -> None:  # fmt: skip
        self._function = function
        self._helpers = helpers
        #: what makes the code for arrays that do not lie in C order, and what was made; None before there were such
        self._again = again
        self._others: Lying | None = None
        self._lies_otherwise = any(port.strides for port in function.inputs)
        self._code, self._call = code, call
        self._arrays = tuple(
            [(k, p.dtype, p.shape, strides_of(p)) for k, p in enumerate(function.inputs) if p.is_array]
        )
        #: where the extents that come with a call are found
        self._extents = tuple(function.extents.values())
        self._order = tuple(function.extents)
        #: of each output array the input in whose memory it is, or what it is made by, and as
        self._outputs = tuple(
            [
                (function.placed.get(j), aligned_empty if j in function.aligned else np.empty, p.dtype,
                 p.shape if self._extents else p.most)
                for j, p in enumerate(function.outputs) if p.is_array
            ]
        )  # fmt: skip
        formats = ["q" if p.is_array else PACKED[p.dtype.char] for p in function.inputs]
        formats += ["q"] * (sum(placed is None for placed, *_ in self._outputs) + len(self._extents))
        self._pack = struct.Struct("=" + "".join(formats)).pack
        ports = [p for p in function.outputs if not p.is_array]
        self._unpack = struct.Struct("=" + "".join(map(packed, function.outputs))).unpack_from
        self._scalars = tuple([p.dtype.type for p in ports])
        #: where complex numbers are among the inputs, and whether there are any among the outputs
        self._complex_inputs = [k for k, p in enumerate(function.inputs) if is_complex(p)][::-1]
        self._complex_outputs = any(map(is_complex, ports))
        self._grows = any(p.grows for p in ports)
        self._moves = any(p.moving for p in function.outputs)
        self._swaps = function.swaps
        self._with_variables = _variable_runs() if function.variables or function.assigned else None
        self._constants = [np.ascontiguousarray(t) for t in function.table]
        self._table = np.array([t.ctypes.data for t in self._constants], np.uint64)
        #: seconds that the machine code itself took in the last call
        self.inside = 0.0
        #: memory of calls that are over; taking and giving back one is atomic
        self._free: list[Memory] = []

    def __call__(self, values: Sequence[Any], state: RunState = EAGER, done: int = 0) -> list[Any]:
        """Run; ``done``: how many iterations its outermost loop had done before, which only messages tell."""
        function = self._function
        if self._with_variables is None:
            return self._run(values, done)
        return self._with_variables(partial(self._run, done=done), function, values, state)

    def entered(
        self, arguments: Sequence[Any], written: Sequence[tuple[int, int]], results: Sequence[tuple[str, Any]],
        several: bool,
    ) -> Any:  # fmt: skip
        """Return what is called with the objects of a call, see ``entered_calls``; None if more is to be done then."""
        if self._with_variables or self._grows or self._moves or self._swaps or self._lies_otherwise:
            return None
        with undivided():
            from .entered_calls import Callee, entered

        helpers = self._helpers
        callee = Callee(
            self._function,
            self._code.address,
            self._memory,
            lambda code, memory, owners: self._failure(code, memory, 0, owners),
            None if helpers is None else lambda: helpers.use(get_num_threads()),
        )
        return entered(callee, arguments, written, results, several)

    def _run(self, values: Sequence[Any], done: int) -> list[Any]:
        args = list(values)
        # what is looked at only by address must live until the call is over: ``values``, ``kept`` and ``made`` do
        kept: dict[int, Any] = {}
        if self._arrays and (odd := self._put_arrays(args)):
            if (other := self._lying(odd)) is not None:
                results = other._run(values, done)
                self.inside = other.inside
                return results
            kept = self._put_copies(args, odd)
        made = []
        extents = [np.shape(values[k])[axis] for k, axis in self._extents]
        for placed, make, dtype, shape in self._outputs:
            if placed is None:
                made.append(make(self._sized(shape, extents) if extents else shape, dtype))
                args.append(_address(made[-1]))
            else:
                made.append(kept.get(placed, values[placed]))
        for k in self._complex_inputs:
            args[k : k + 1] = args[k].real, args[k].imag
        packed = self._pack(*args, *extents)
        memory = self._memory()
        if self._helpers is not None:
            self._helpers.use(get_num_threads())
        begun = generation() if self._swaps else 0
        begin = perf_counter()
        call = _watched(self._call, self._function, memory, done) if boards else self._call
        code = call(packed, memory.address)
        self.inside = perf_counter() - begin
        if self._swaps and generation() != begun:  # in a signal handler
            with undivided():
                from .kernels.swap_file import forked

            raise forked()
        if code:
            raise self._failure(code, memory, done, (memory, values, kept, made))
        words = self._unpack(memory.view, memory.offset)
        if self._complex_outputs:
            words = self._joined(words)
        if self._moves:
            made, words = self._cut(made, words, extents)
        numbers = self._grown(words, memory) if self._grows else [t(v) for t, v in zip(self._scalars, words)]
        self._free.append(memory)
        del kept
        if not made or not numbers:
            return made or numbers
        n, m = iter(numbers), iter(made)
        return [next(m) if port.is_array else next(n) for port in self._function.outputs]

    def _memory(self) -> Memory:
        """Return memory for a call."""
        try:
            return self._free.pop()
        except IndexError:
            return Memory(self._function, self._table.ctypes.data)

    def _joined(self, words: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values of the outputs, of which those that are complex are each one value."""
        values, out = iter(words), []
        for port in self._function.outputs:
            if is_complex(port):
                out.append(complex(next(values), next(values)))
            else:
                out += [next(values) for _ in range(port.words)]
        return tuple(out)

    def _sized(self, shape: Shape, extents: Sequence[int]) -> Shape:
        """Return the shape that an array has at most, given the extents that came with the call."""
        return tuple([extents[self._order.index(n)] if isinstance(n, Given) else int(n) for n in shape])

    def _cut(
        self, made: Sequence[Any], words: Sequence[Any], extents: Sequence[int]
    ) -> tuple[list[Any], tuple[Any, ...]]:  # fmt: skip
        """Return the output arrays without what was room for more elements, and the words but for their extents."""
        values, arrays, out, rest = iter(words), zip(made, self._outputs), [], []
        for port in self._function.outputs:
            if not port.is_array:
                rest += [next(values) for _ in range(1 if is_complex(port) else port.words)]
                continue
            array, (_, make, dtype, most) = next(arrays)
            most = self._sized(most, extents)
            shape = tuple([next(values) if axis in port.moving else n for axis, n in enumerate(most)])
            if shape != most:
                whole, array = array, make(shape, dtype)
                array[...] = whole[tuple(map(slice, shape))]
            out.append(array)
        return out, tuple(rest)

    def _grown(self, words: Sequence[Any], memory: Memory) -> list[Any]:
        """Return the outputs that are no arrays of known size: scalars, and what grew, copied out of its stack."""
        values, out = iter(words), []
        for port in self._function.outputs:
            if port.grows:
                stack, length = next(values), next(values)
                data = ctypes.c_void_p.from_address(stack).value if stack else None
                rows = copied(data, port.dtype, (length, *port.shape))
                out.append(rows if port.spec is None else array_of_rows(port.spec, rows))
            elif not port.is_array:
                out.append(port.dtype.type(next(values)))
        self._call(None, memory.address)
        return out

    def _put_arrays(self, args: list[Any]) -> list[tuple[int, Any]]:
        """Replace each array by its address; gives those that do not lie in memory as they must."""
        odd = []
        for k, dtype, shape, strides in self._arrays:
            array = args[k]
            if type(array) is not np.ndarray or not (
                array.flags.aligned and (array.flags.c_contiguous if strides is None else array.strides == strides)
            ):
                odd.append((k, array))
                array = np.asarray(array)
            if (array.shape != shape and not self._extents) or array.dtype != dtype:
                raise ValueError(f"input {k} has shape {array.shape} and dtype {array.dtype}, not {shape}, {dtype}")
            args[k] = _address(array)
        return odd

    def _lying(self, odd: Sequence[tuple[int, Any]]) -> _Runnable | None:
        """Return what runs a call in which these arrays lie as they do; None where it gets copies of them."""
        if self._again is None:
            return None
        if self._others is None:
            with undivided():
                from .lying_arguments import Lying

            self._others = Lying(self._again)
        found: _Runnable | None = self._others.run_for(odd)
        return found

    def _put_copies(self, args: list[Any], odd: Sequence[tuple[int, Any]]) -> dict[int, Any]:
        """Replace the addresses of arrays by those of copies, and give these."""
        kept = {k: np.require(array, None, ["C", "A"]) for k, array in odd}
        for k, copy in kept.items():
            args[k] = _address(copy)
        return kept

    def _failure(self, code: int, memory: Memory, done: int, owners: object) -> BaseException:
        """Return what the kernel of the operation that failed raises for the operands it failed for.

        They lie in memory of ``owners``, or in stacks, which are given back before the kernel runs.
        """
        with undivided():
            from .failed_runs import failure_of

        start = memory.address + 8 * self._function.report_start
        return failure_of(self._function, code, start, done, owners, lambda: self._call(None, memory.address))


def _watched(call: Callable[[Any, int], int], function: Function, memory: Memory, done: int) -> Callable[..., int]:
    """Return what calls machine code while somebody looks how far its loops are."""
    with undivided():
        from .told_loops import watched

    return partial(watched, call, function, memory, done)


def _variable_runs() -> Callable[..., list[Any]]:
    with undivided():
        from .variable_runs import run_with_variables

    return run_with_variables


def _address(array: Any) -> int:
    return id(array) if DATA_OFFSET is not None else int(array.ctypes.data)
