"""Nodes of a flat graph, made one by one: names, and tokens for what would get none."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any

from ..base.dtypes import bool_
from ..base.shapes import SCALAR
from ..ir.checks import CHECK_PREDICATE
from ..ir.graph import Node
from ..ir.op import Op
from ..ir.tensor import Tensor
from .flat_graph import FlatNode, FrameInfo, Kind, Port

#: a step of lowering that yields the steps it descends to
Task = Generator["Task", None, None]
#: where each tensor of one sub-graph instance comes from
Env = dict[Tensor, Port]


class Context:
    """The place that nodes are put in: a frame, and the pivot that tells when they may run.

    The pivot is made when first needed; the outermost context has none, there everything may run at once.
    """

    __slots__ = ("_make", "_pivot", "frame")

    def __init__(self, frame: int, make: Callable[[], Port] | None = None) -> None:
        self.frame = frame
        self._make = make
        self._pivot: Port | None = None

    def pivot(self) -> Port | None:
        """Return the port whose token says that this iteration or branch is live."""
        if self._pivot is None and self._make is not None:
            self._pivot = self._make()
        return self._pivot


class FlatWriter:
    """The nodes and frames of one flat graph."""

    def __init__(self) -> None:
        self.nodes: list[FlatNode] = []
        self.frames = [FrameInfo(0, -1, "", None, 1)]
        self._names: dict[str, int] = {}

    def add(
        self,
        kind: Kind,
        name: str,
        inputs: tuple[Port, ...],
        context: Context,
        controls: Iterable[Port] = (),
        source: Node | None = None,
        op: Op | None = None,
        attrs: Mapping[str, Any] | None = None,
        outputs: int = 1,
        constant: bool = False,
        value: Any = None,
    ) -> Port:
        """Return a new node; one that would get no token at all waits for the pivot of its context."""
        controls = tuple([p for p in controls if self.nodes[p[0]].kind is not Kind.CONST])
        waits = kind in (Kind.KERNEL, Kind.SWITCH, Kind.IDENTITY)
        if waits and all(self.is_resting(p) for p in (*inputs, *controls)):
            pivot = context.pivot()
            controls += () if pivot is None else (pivot,)
        index = len(self.nodes)
        self.nodes.append(
            FlatNode(index, kind, self._unique(name), inputs, controls, context.frame, source,
                     op, attrs or {}, outputs, constant, value)
        )  # fmt: skip
        return index, 0

    def _unique(self, name: str) -> str:
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return name if count == 0 else self._unique(f"{name}_{count}")

    def is_resting(self, port: Port) -> bool:
        """Return whether the value of ``port`` comes without a token."""
        return self.nodes[port[0]].resting

    def token(self, port: Port, context: Context, name: str, controls: Sequence[Port] = ()) -> Port:
        """Return ``port``, through an Identity if its value is at rest or has to wait for ``controls``."""
        if not controls and not self.is_resting(port):
            return port
        return self.add(Kind.IDENTITY, f"{name}/Identity", (port,), context, controls)

    def check(self, op: Op, port: Port, context: Context, node: Node, **attrs: Any) -> Port:
        """Return ``port`` as the check ``op`` lets it through, on behalf of ``node``."""
        return self.add(Kind.KERNEL, f"{node.name}/{op.name}", (port,), context, source=node, op=op, attrs=attrs)

    def predicate(self, tensor: Tensor, port: Port, context: Context, node: Node, what: str) -> Port:
        """Return ``port`` of ``tensor``, checked unless it is known to be one boolean."""
        if tensor.dtype == bool_ and tensor.shape == SCALAR:
            return port
        return self.check(CHECK_PREDICATE, port, context, node, what=what)
