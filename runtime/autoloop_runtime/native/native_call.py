"""Calling machine code: arguments in, arrays out, and failures told as the kernels tell them."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..base.aligned_memory import aligned_empty
from ..base.config import get_num_threads
from ..base.forks import Kind, generation
from ..collections import saved_stacks as saved_ops
from ..collections.variables import READ, checked
from ..collections.versioned_array import ArrayValue
from ..ir.failures import annotate
from ..ir.graph import Graph
from ..ir.run_state import EAGER, RunState, Storage
from .kernels.block_reuse import REUSE, reused_blocks
from .kernels.swap_file import GROW, failure, forked
from .kernels.thread_pool import SHARE, Pool, pool
from .native_function import ALIGNMENT, DATA_OFFSET, Function, Port, write_function
from .toolchain.cache import default_cache
from .toolchain.compile_ir import Code, callable_of, compile_ir, host
from .typing.adjoints import TABLES
from .typing.facts import Shape
from .typing.refusal import refusal
from .writer.context import OUT_OF_MEMORY, Check, Operand
from .writer.refusals_in_runs import may_refuse

#: how a scalar of a dtype is written into eight bytes
_PACKED = {
    "?": "?7x", "b": "b7x", "h": "h6x", "i": "i4x", "q": "q", "l": "q", "B": "B7x", "H": "H6x", "I": "I4x", "Q": "Q",
    "L": "Q", "e": "e6x", "f": "f4x", "d": "d", "F": "ff", "D": "dd",
}  # fmt: skip
Run = Callable[[Sequence[Any], RunState], list[Any]]


def compile_native(graph: Graph) -> Run:
    """Return a function ``run(values, state)`` that gives the outputs of ``graph`` as machine code computes them.

    The code is made at once if all shapes of the inputs are known, and otherwise for every new set of shapes.

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
        self._made: dict[tuple[Shape, ...], _Runnable] = {}
        self._only: _Runnable | None = None
        host()  # without llvmlite it is said now, not at the first call
        if all(t.shape.is_fully_defined() for t in graph.inputs):
            self._only = self._runnable(tuple([t.shape.as_tuple() for t in graph.inputs]))

    def __call__(self, values: Sequence[Any], state: RunState = EAGER) -> list[Any]:
        runnable = self._only
        if runnable is None:
            runnable = self._runnable(tuple([np.shape(v) for v in values]))
        return runnable(values, state)

    def _runnable(self, shapes: tuple[Shape, ...]) -> _Runnable:
        known = self._made.get(shapes)
        if known is None:
            with self._lock:
                known = self._made.get(shapes)
                if known is None:
                    known = self._made[shapes] = make(self._graph, shapes)
        return known


def make(graph: Graph, shapes: Sequence[Shape]) -> _Runnable:
    """Compile ``graph`` for inputs of the given shapes."""
    function = write_function(graph, shapes, host().features)
    cache, addresses = default_cache(), function.addresses
    helpers = pool(cache) if function.shares else None
    if helpers is not None:
        addresses = addresses | {SHARE: helpers.address}
    if function.stacks:
        addresses = addresses | {REUSE: reused_blocks(cache).address}
    return _Runnable(function, compile_ir(function.ir, addresses, cache), helpers)


class _Memory:
    """The memory of one call: words, see ``function``, and scratch memory behind them."""

    __slots__ = ("_array", "address", "offset", "view")

    def __init__(self, function: Function, table: int) -> None:
        room = -(-function.words // ALIGNMENT) * ALIGNMENT
        self._array = np.empty(room + function.scratch + ALIGNMENT, np.uint8)
        self.address = -(-self._array.ctypes.data // ALIGNMENT) * ALIGNMENT
        self.view = memoryview(self._array)  # type: ignore[arg-type]
        start = self.address - self._array.ctypes.data
        struct.pack_into("=QQ", self.view, start, table, self.address + room)
        #: where in ``view`` the scalar outputs are
        self.offset = start + 8 * function.scalars_start


class _Runnable:
    """Machine code for inputs of certain shapes."""

    def __init__(self, function: Function, code: Code, helpers: Pool | None) -> None:
        self._function = function
        self._helpers = helpers
        self._code = code
        self._call = callable_of(code)
        self._arrays = tuple([(k, p.dtype, p.shape) for k, p in enumerate(function.inputs) if p.is_array])
        #: of each output array the input in whose memory it is, or what it is made by, and as
        self._outputs = tuple(
            [
                (function.placed.get(j), aligned_empty if j in function.aligned else np.empty, p.dtype, p.shape)
                for j, p in enumerate(function.outputs) if p.is_array
            ]
        )  # fmt: skip
        formats = ["q" if p.is_array else _PACKED[p.dtype.char] for p in function.inputs]
        formats += ["q"] * sum(placed is None for placed, *_ in self._outputs)
        self._pack = struct.Struct("=" + "".join(formats)).pack
        ports = [p for p in function.outputs if not p.is_array]
        self._unpack = struct.Struct(
            "=" + "".join("qq" if p.grows else _PACKED[p.dtype.char] for p in ports)
        ).unpack_from
        self._scalars = tuple([p.dtype.type for p in ports])
        #: where complex numbers are among the inputs, and whether there are any among the outputs
        self._complex_inputs = [k for k, p in enumerate(function.inputs) if _is_complex(p)][::-1]
        self._complex_outputs = any(map(_is_complex, ports))
        self._grows = any(p.grows for p in ports)
        self._swaps = GROW in function.addresses
        self._constants = [np.ascontiguousarray(t) for t in function.table]
        self._table = np.array([t.ctypes.data for t in self._constants], np.uint64)
        #: memory of calls that are over; taking and giving back one is atomic
        self._free: list[_Memory] = []

    def __call__(self, values: Sequence[Any], state: RunState = EAGER, done: int = 0) -> list[Any]:
        """Run; ``done``: how many iterations its outermost loop had done before, which only messages tell."""
        function = self._function
        if not function.variables and not function.assigned:
            return self._run(values, done)
        stores = {id(s): s for s in [state.storage(v) for v in function.assigned]}
        return self._alone([stores[key] for key in sorted(stores)], values, state, done)

    def _alone(self, stores: list[Storage], values: Sequence[Any], state: RunState, done: int) -> list[Any]:
        """Run with the locks of ``stores``: of several runs that change a variable each sees what the last one left."""
        if stores:
            with stores[-1].lock:
                return self._alone(stores[:-1], values, state, done)
        function = self._function
        changed = [state.storage(v) for v in function.assigned]
        while True:
            changes = [s.changes for s in changed]
            held = [READ.kernel(variable=v, state=state) for v in function.variables]
            results = self._run([*values, *held], done)
            count = len(results) - len(function.assigned)
            made = [checked(value, v) for v, value in zip(function.assigned, results[count:])]
            # a signal handler may have changed the first, all else is seen by then
            if not made or changed[0].exchange(changes[0], made[0]):
                for store, value in zip(changed[1:], made[1:]):
                    store.put(value)
                return results[:count]

    def _run(self, values: Sequence[Any], done: int) -> list[Any]:
        args = list(values)
        # what is looked at only by address must live until the call is over: ``values``, ``kept`` and ``made`` do
        kept = self._put_arrays(args) if self._arrays else {}
        made = []
        for placed, make, dtype, shape in self._outputs:
            if placed is None:
                made.append(make(shape, dtype))
                args.append(_address(made[-1]))
            else:
                made.append(kept.get(placed, values[placed]))
        for k in self._complex_inputs:
            args[k : k + 1] = args[k].real, args[k].imag
        packed = self._pack(*args)
        try:
            memory = self._free.pop()
        except IndexError:
            memory = _Memory(self._function, self._table.ctypes.data)
        if self._helpers is not None:
            self._helpers.use(get_num_threads())
        begun = generation() if self._swaps else 0
        code = self._call(packed, memory.address)
        if self._swaps and generation() != begun:  # in a signal handler
            raise forked()
        if code:
            raise self._failure(code, memory, done, (memory, values, kept, made))
        words = self._unpack(memory.view, memory.offset)
        if self._complex_outputs:
            words = self._joined(words)
        numbers = self._grown(words, memory) if self._grows else [t(v) for t, v in zip(self._scalars, words)]
        self._free.append(memory)
        del kept
        if not made or not numbers:
            return made or numbers
        n, m = iter(numbers), iter(made)
        return [next(m) if port.is_array else next(n) for port in self._function.outputs]

    def _joined(self, words: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values of the outputs, of which those that are complex are each one value."""
        values, out = iter(words), []
        for port in self._function.outputs:
            if _is_complex(port):
                out.append(complex(next(values), next(values)))
            elif not port.is_array:
                out += [next(values) for _ in range(port.words)]
        return tuple(out)

    def _grown(self, words: Sequence[Any], memory: _Memory) -> list[Any]:
        """Return the outputs that are no arrays of known size: scalars, and what grew, copied out of its stack."""
        values, out = iter(words), []
        for port in self._function.outputs:
            if port.grows:
                stack, length = next(values), next(values)
                data = ctypes.c_void_p.from_address(stack).value if stack else None
                out.append(_copied(data, port.dtype, (length, *port.shape)))
            elif not port.is_array:
                out.append(port.dtype.type(next(values)))
        self._call(None, memory.address)
        return out

    def _put_arrays(self, args: list[Any]) -> dict[int, Any]:
        """Replace each array by its address; gives the copies of those that did not lie in memory as they must."""
        kept = {}
        for k, dtype, shape in self._arrays:
            array = args[k]
            if type(array) is not np.ndarray or not (array.flags.c_contiguous and array.flags.aligned):
                array = np.require(array, dtype, ["C", "A"])
                kept[k] = array
            if array.shape != shape or array.dtype != dtype:
                raise ValueError(f"input {k} has shape {array.shape} and dtype {array.dtype}, not {shape}, {dtype}")
            args[k] = _address(array)
        return kept

    # -- failures -----------------------------------------------------------------------------------------

    def _failure(self, code: int, memory: _Memory, done: int, owners: object) -> BaseException:
        """Return what the kernel of the operation that failed raises for the operands it failed for.

        They lie in memory of ``owners``, or in stacks, which are given back before the kernel runs.
        """
        if code == OUT_OF_MEMORY:
            return MemoryError("there is no memory for the values that the gradient needs")
        check = self._function.checks[code - 1]
        start = memory.address + 8 * self._function.report_start
        counts = [ctypes.c_int64.from_address(start + 8 * k).value for k in range(len(check.loops))]
        frames = [(loop, n + (0 if k else done)) for k, (loop, n) in enumerate(zip(check.loops, counts))][::-1]
        if check.node.op in TABLES:
            return refusal(check.node, may_refuse(check))
        look = _copied if self._function.stacks else partial(_seen, owners)
        operands = [_operand(o, start, look) for o in check.operands]
        if self._function.stacks:
            self._call(None, memory.address)
        if check.node.op is saved_ops.SWAP_PUSH:
            return annotate(failure(), check.node, frames)
        inputs = operands[:-1] if check.node.op.effect else operands
        try:
            with np.errstate(all="ignore"):
                check.node.op.kernel(*inputs, **check.node.attrs)
        except Exception as error:
            return annotate(error, check.node, frames)
        why = may_refuse(check)
        return refusal(check.node, why) if why else annotate(RuntimeError(_disagreement(check)), check.node, frames)


def _is_complex(port: Port) -> bool:
    return bool(port.dtype.kind == "c") and not port.is_array and not port.grows


def _disagreement(check: Check) -> str:
    return f"machine code rejected the operands of {check.node.name!r}, its kernel takes them; this is a defect"


def _address(array: Any) -> int:
    return id(array) if DATA_OFFSET is not None else int(array.ctypes.data)


def _operand(operand: Operand, start: int, look: Callable[[int | None, Any, Shape], Any]) -> Any:
    """Return the value of an operand of an operation that failed; ``look`` gives the array at an address."""
    slot = start + 8 * operand.slot
    if operand.kind in ("rows", "grown"):
        return (_array_value if operand.kind == "rows" else _grown_value)(operand, slot)
    assert operand.dtype is not None
    if operand.kind == "shape":
        return np.broadcast_to(np.zeros((), operand.dtype), operand.shape)
    if operand.kind == "scalar":
        return np.frombuffer(ctypes.string_at(slot, operand.dtype.itemsize), operand.dtype)[0]
    return look(ctypes.c_void_p.from_address(slot).value, operand.dtype, operand.shape)


def _copied(address: int | None, dtype: Any, shape: Shape) -> Any:
    made = np.zeros(shape, dtype)
    if address and made.size:
        ctypes.memmove(made.ctypes.data, address, made.nbytes)
    return made


class _Seen:
    """An array where it is, for NumPy to look at; ``owners`` keep its memory."""

    def __init__(self, owners: object, address: int, dtype: Any, shape: Shape) -> None:
        self.owners = owners
        self.__array_interface__ = {"version": 3, "data": (address, True), "typestr": dtype.str, "shape": shape}


def _seen(owners: object, address: int | None, dtype: Any, shape: Shape) -> Any:
    return np.asarray(_Seen(owners, address, dtype, shape)) if address else _copied(None, dtype, shape)


def _grown_value(operand: Operand, slot: int) -> Any:
    """Return a TensorArray with the elements that were appended."""
    stack_type = operand.extra
    value = ArrayValue.empty(stack_type.spec, 0)
    stack = ctypes.c_void_p.from_address(slot).value
    length = ctypes.c_int64.from_address(slot + 8).value
    if not stack or not length:
        return value
    dtype, shape = stack_type.element
    items = _copied(ctypes.c_void_p.from_address(stack).value, dtype, (length, *shape))
    return value.write_all(range(length), [item[()] for item in items])


def _array_value(operand: Operand, slot: int) -> Any:
    """Return a TensorArray in which the same elements are written."""
    rows = operand.extra
    items = _copied(ctypes.c_void_p.from_address(slot).value, rows.dtype, operand.shape)
    written = _copied(ctypes.c_void_p.from_address(slot + 8).value, np.dtype(bool), operand.shape[:1])
    places = np.flatnonzero(written).tolist()
    value = ArrayValue.empty(rows.spec, rows.size)
    value = value.write_all(places, [items[i] for i in places])
    if rows.clear:
        used = _copied(ctypes.c_void_p.from_address(slot + 16).value, np.dtype(bool), operand.shape[:1])
        for index in np.flatnonzero(used).tolist():
            value.read(index, rows.spec.element_shape)
    return value
