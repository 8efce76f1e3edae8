"""The operation that is a loop through the rows of arrays, computed chunk by chunk.

::

  carried', stacked, sums, apart, begun = mapped_rows(others, carried, heads, rows, each)

What is ``stacked`` has a row for each row, ``apart`` and ``each`` for each chunk; ``sums`` are of what all chunks give,
and ``begun`` is the carry that each begins with. A gradient of a loop needs that: it goes through a chunk again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.dataclass import dataclass
from ..base.shapes import TensorShape
from ..ir.graph import Graph
from ..ir.op import Op
from ..ir.tensor import Tensor
from ..ir.traits import OPAQUE
from ..namespaces.chunk_kernels import as_dask
from ..namespaces.foreign_rows import Call, computed
from .mapped_chunks import Loop, looped, single_chunk, whole_rows, with_heads

#: of the digest and the bytes of a program, what runs it
Arrived = Callable[[str, bytes], Callable[..., Any]]


class Chunk:
    """The loop over one chunk.

    Parameters
    ----------
    graph : Graph
        Takes the number of rows, and what the operation takes but for heads; gives what it gives but for ``begun``.
    pack : callable
        Gives the program of a graph: what runs it, and has ``content`` to be sent.
    arrived : callable
        Gives a program where it arrives.

    Attributes
    ----------
    content : bytes or None
        What is sent; None if that cannot be.
    digest : str
    made : dict
        What was made of it; by the one thread that traces.
    """

    def __init__(self, graph: Graph, pack: Callable[[Graph], Any], arrived: Arrived) -> None:
        self.graph, self.pack, self.arrived = graph, pack, arrived
        self.run = pack(graph)
        self.content: bytes | None = self.run.content
        self.digest = hashlib.blake2b(self.content or b"", digest_size=16).hexdigest()
        self.made: dict[Any, Any] = {}


@dataclass(frozen=True)
class Form:
    """How many of what an operation takes and gives.

    Attributes
    ----------
    others, carried, heads, rows, each : int
        Of what it takes.
    stacked, summed, apart, begun : int
        Of what it gives, behind what is carried.
    reverse : bool
        From the last row to the first.
    leading : int
        So many rows, the first, say how all are cut.
    """

    others: int
    carried: int
    heads: int
    rows: int
    each: int = 0
    stacked: int = 0
    summed: int = 0
    apart: int = 0
    begun: int = 0
    reverse: bool = False
    leading: int = 1

    def taken(self, values: Sequence[Any]) -> list[list[Any]]:
        """Return what it takes, kind by kind."""
        return _cut(values, (self.others, self.carried, self.heads, self.rows, self.each))

    def given(self, values: Sequence[Any]) -> list[list[Any]]:
        """Return what it gives, kind by kind."""
        return _cut(values, (self.carried, self.stacked, self.summed, self.apart, self.begun))


def _cut(values: Sequence[Any], counts: Sequence[int]) -> list[list[Any]]:
    found, start = [], 0
    for count in counts:
        found.append([*values[start : start + count]])
        start += count
    return found


def of_each(shape: TensorShape) -> TensorShape:
    """Return the shape of what has a row of this shape for each chunk."""
    return TensorShape([None]).concatenate(shape)


def _kernel(*values: Any, chunk: Chunk, form: Form, specs: Any) -> tuple[Any, ...]:
    others, carried, heads, rows, each = form.taken(values)
    made = chunk.run(np.int32(len(rows[0])), *others, *carried, *rows, *each)
    made = with_heads(made if isinstance(made, tuple) else (made,), heads, form.carried, form.reverse)
    return (*made, *[np.asarray(one)[None] for one in carried[: form.begun]])


#: the gradient rule, which ``gradients.mapped_vjp`` puts here; filled while modules are imported
RULE: list[Callable[..., Any]] = []
MAPPED = Op(
    "mapped_rows", lambda *_, specs, **__: specs, _kernel, lambda *given: RULE[0](*given), several=True, traits=OPAQUE
)  # fmt: skip


@computed(MAPPED, when="later")
def _mapped(asked: Call, *values: Any, chunk: Chunk, form: Form, specs: Any) -> tuple[Any, ...]:
    others, carried, heads, rows, each = form.taken(values)
    if not any(map(asked.namespace.holds, rows[: form.leading])):
        rows[0] = as_dask(np.array(rows[0]))  # computed later, of what it is now
    last, stacked, summed, apart, _ = form.given([(dtype, shape.known) for dtype, shape in specs])
    stacked, apart = [[(dtype, shape[1:]) for dtype, shape in kind] for kind in (stacked, apart)]
    name = "map_fn" if not form.carried else "scan" if stacked else "fold"
    program = (counted, chunk.arrived, chunk.digest, chunk.content, form.others + form.carried)
    told = Loop(name, program, last, stacked, form.reverse, summed, apart)
    made = looped(
        told, whole_rows(rows), [*map(single_chunk, carried)], beside=[*map(single_chunk, others)],
        heads=[*map(single_chunk, heads)], each=each,
    )  # fmt: skip
    return (*made.last, *made.stacked, *made.summed, *made.apart, *made.begun[: form.begun])


def counted(arrived: Arrived, digest: str, content: bytes, before: int) -> Callable[..., Any]:
    """Return what runs a program that wants to know how many rows it is given, after so many other values."""
    program = arrived(digest, content)
    return lambda *values: program(np.int32(len(values[before])), *values)


# -- what stands where a loop stood -----------------------------------------------------------------------------


def _infer_handed(*tensors: Tensor) -> Any:
    return [(t.dtype, t.shape) for t in tensors]


#: hands on what it is given, in the place of a loop that is one operation now
HANDED = Op(
    "handed_rows", _infer_handed, lambda *values: values, lambda g, *_: list(g), several=True, traits=OPAQUE
)  # fmt: skip
