"""Kernels in machine code for the scheduler: made on the background thread once runs have taken as long as that takes.

Each node is still run by itself, when and where the scheduler wants it; what is faster is the call. NumPy's own kernels
stay where machine code has nothing to add: large products, which BLAS does, and numbers without axes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from math import inf
from typing import Any

from ..analysis.cost import HEAVY, estimate
from ..base import background, config
from ..base.forks import generation, undivided
from ..dataflow.faster_kernels import Faster
from ..ir.graph import CONST, Graph, Node
from ..ir.prices import Products
from .tier_up import is_wanted, price

Kernel = Callable[..., Any]

#: multiply-adds of a product from which on BLAS is faster
LARGE_PRODUCT = 1 << 18
#: nanoseconds of a kernel that keeps the interpreter's lock
SHORT = HEAVY / 4
#: calls of one kernel at the same time for which there is memory, at most
MOST_CALLS = 8


def machine_kernels() -> MachineKernels | None:
    """Return where the kernels of one graph come from; None if there can be no machine code."""
    return MachineKernels() if is_wanted() else None


class MachineKernels:
    """See ``dataflow.faster_kernels.Source``.

    Notes
    -----
    ``_made`` is replaced as a whole, by the background thread. Threads that ask at the same time may at worst have the
    same kernels made twice.
    """

    def __init__(self) -> None:
        self.due = price(1)
        self._made: dict[Node, Faster] | None = None
        #: the process in which they are made, see ``forks``
        self._generation = -1

    def kernels(self, plain: Mapping[Node, Kernel], spent: float) -> Mapping[Node, Faster] | None:
        """See ``Source``."""
        if self._made is not None:
            return self._made
        if self._generation == generation():
            background.give_way()
            return None
        kinds: dict[Hashable, list[Node]] = {}
        for node in filter(_gains, plain):
            kinds.setdefault(_kind(node), []).append(node)
        costs = sum([price(1) for _ in kinds])
        if not kinds:
            return {}
        if spent < costs:
            self.due = costs
            return None
        self._generation = generation()
        if not background.submit(lambda: self._make(list(kinds.values()), plain)):
            self.due = inf
        return None

    def _make(self, kinds: list[list[Node]], plain: Mapping[Node, Kernel]) -> None:
        made: dict[Node, Faster] = {}
        try:
            with undivided():
                from ..native.single_kernels import single_kernel
                from ..native.toolchain.compile_ir import MissingExtra
            copies = min(config.get_num_threads(), MOST_CALLS)
            for nodes in kinds:
                first = nodes[0]
                taken = _taken(first)
                own = _with_constants(plain[first], first, taken)
                found = single_kernel(_alone(first, taken), own, estimate(first) <= SHORT, copies)
                if found is not None:
                    made.update(dict.fromkeys(nodes, Faster(found, taken)))
        except MissingExtra:  # it has gone meanwhile
            pass
        finally:
            self._made = made


def _gains(node: Node) -> bool:
    """Return whether machine code may be faster than NumPy's kernel."""
    if all(node.inputs[k].shape.rank == 0 for k in _taken(node)):
        return False
    cost = node.op.traits.price
    return not isinstance(cost, Products) or cost.count(*node.operands, **node.attrs) < LARGE_PRODUCT


def _taken(node: Node) -> tuple[int, ...]:
    """Return which inputs machine code takes: all but numbers that are known."""
    return tuple([k for k, t in enumerate(node.inputs) if t.op.op is not CONST or t.shape.rank != 0])


def _kind(node: Node) -> Hashable:
    """Return what is equal for nodes that have one kernel."""
    taken = _taken(node)
    forms = tuple([(t.dtype, t.shape.as_tuple()) for t in (*node.inputs, *node.outputs)])
    known = tuple([t.op.attrs["value"].tobytes() for k, t in enumerate(node.inputs) if k not in taken])
    kind = node.op, tuple(sorted(node.attrs.items())), forms, taken, known
    try:
        hash(kind)
    except TypeError:
        return node
    return kind


def _alone(node: Node, taken: tuple[int, ...]) -> Graph:
    """Return a graph of a node and the numbers that it knows, to which each other input comes by itself."""
    made = Graph()
    inputs = []
    for k, tensor in enumerate(node.inputs):
        if k in taken:
            inputs.append(made.parameter(tensor.dtype, tensor.shape, f"x{k}"))
        else:
            known = tensor.op
            made.nodes.append(Node(made, CONST, (), known.attrs, _specs(known), known.name, known.location))
            inputs.append(made.nodes[-1].outputs[0])
    made.nodes.append(Node(made, node.op, tuple(inputs), node.attrs, _specs(node), node.name, node.location))
    made.outputs = list(made.nodes[-1].outputs)
    return made


def _specs(node: Node) -> list[Any]:
    return [(t.dtype, t.shape) for t in node.outputs]


def _with_constants(kernel: Kernel, node: Node, taken: tuple[int, ...]) -> Kernel:
    """Return a kernel that is given the inputs which are ``taken``."""
    if len(taken) == len(node.inputs):
        return kernel
    whole = [None if k in taken else t.op.attrs["value"] for k, t in enumerate(node.inputs)]

    def called(*values: Any) -> Any:
        given = iter(values)
        return kernel(*[next(given) if k in taken else known for k, known in enumerate(whole)])

    return called
