"""A step of a plan in machine code: from the memory of its tokens to that of others, without an object of Python's.

Whoever calls it has no need of the interpreter, and it has none: what would ask Python for something is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..base.dataclass import dataclass
from ..ir.graph import Graph
from .argument_places import Port
from .ir.elements import COMPLEX128, TYPES
from .kernels.ll_files import code
from .linked_code import linked
from .native_function import ALIGNMENT, write_function
from .toolchain.compile_ir import Code, host
from .typing.refusal import NativeRefusal

#: which address, and the byte behind it
Spot = tuple[int, int]


@dataclass(frozen=True)
class Compiled:
    """``int32 step(char **in, char **out, char *scratch)``.

    Attributes
    ----------
    code : Code
    table : list of array
        What the last of the addresses that it is given are of.
    scratch : int
        Bytes, at a multiple of 64, that a call has for itself.
    """

    code: Code
    table: list[Any]
    scratch: int


def compiled_step(
    graph: Graph, constants: int, reads: Sequence[Spot], writes: Sequence[Spot],
    copies: Sequence[tuple[Spot, Spot, int]],
) -> Compiled | None:  # fmt: skip
    """Return the code of a step; None if there is none that can do without the interpreter.

    Parameters
    ----------
    graph : Graph
        Of exact shapes.
    constants : int
        How many addresses it is given but for those of what is in ``table``, which come behind.
    reads, writes : sequence of Spot
        Where each input of the graph is, and where each output goes.
    copies : sequence of (Spot, Spot, int)
        Of what is given to what is made, so many bytes.
    """
    around = partial(_around, reads, writes, copies, constants)
    try:
        shapes = [t.shape.as_tuple() for t in graph.inputs]
        function = write_function(graph, shapes, host().features, around=around)
    except NativeRefusal:
        return None
    if function.stacks or function.variables or function.assigned or "@Py" in function.ir:
        return None
    table = [np.ascontiguousarray(one) for one in function.table]
    return Compiled(linked(function, False, True, False)[0], table, function.scratch - ALIGNMENT)


def _around(
    reads: Sequence[Spot], writes: Sequence[Spot], copies: Sequence[tuple[Spot, Spot, int]], constants: int,
    inputs: Sequence[Port], outputs: Sequence[Port], before: int, report: int, attributes: str,
) -> str:  # fmt: skip
    """Return the function that is called."""
    given, gives, argument, result = list[str](), list[str](), 0, 0

    def pointer(name: str, addresses: str, spot: Spot, lines: list[str]) -> str:
        lines += [
            f"%{name}.at = getelementptr ptr, ptr %{addresses}, i64 {spot[0]}",
            f"%{name}.start = load ptr, ptr %{name}.at, align 8",
            f"%{name} = getelementptr i8, ptr %{name}.start, i64 {spot[1]}",
        ]
        return f"%{name}"

    for k, (port, spot) in enumerate(zip(inputs, reads)):
        found = pointer(f"i{k}", "in", spot, given)
        given.append(f"%a{k} = getelementptr i64, ptr %args, i64 {argument}")
        given.append(f"store ptr {found}, ptr %a{k}" if port.is_array else _copy(f"%a{k}", found, port.dtype.itemsize))
        argument += port.arguments
    for k, (port, spot) in enumerate(zip(outputs, writes)):
        lines = given if port.is_array else gives
        found = pointer(f"o{k}", "out", spot, lines)
        if port.is_array:
            lines.append(f"%p{k} = getelementptr i64, ptr %args, i64 {argument}")
            lines.append(f"store ptr {found}, ptr %p{k}")
            argument += 1
        else:
            lines.append(f"%r{k} = getelementptr i64, ptr %made, i64 {result}")
            lines.append(_copy(found, f"%r{k}", port.dtype.itemsize))
            result += COMPLEX128.words if TYPES[port.dtype] is COMPLEX128 else 1
    for k, (there, to, size) in enumerate(copies):
        lines = gives
        lines.append(_copy(pointer(f"t{k}", "out", to, lines), pointer(f"f{k}", "in", there, lines), size))
    return code(
        "step", ARGUMENTS=max(argument, 1), RESULTS=max(result, 1), REPORT=before + report, TOLD=before,
        CONSTANTS=constants, GIVEN=_indented(given), GIVES=_indented(gives), ATTRIBUTES=attributes, name="{name}",
    )  # fmt: skip


def _copy(to: str, there: str, size: int) -> str:
    return f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {there}, i64 {size}, i1 false)"


def _indented(lines: Sequence[str]) -> str:
    return "\n".join([f"  {line}" for line in lines])
