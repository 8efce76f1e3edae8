"""Products in loops that go back through another loop, for its gradient.

A gradient that vanishes has numbers below 2**-126, with which a processor takes a hundred times as long; not so to make
doubles of them, of which none is that small. And a factor that is transposed, as weights are on the way back, takes up
to three times as long as one in C order. What comes out differs from NumPy's product in the last bits, if at all, and
nobody has written that product down: so what is multiplied elsewhere is left alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dataclass import replace
from .flat_graph import FlatNode, Kind, Lowered

#: below this it is time to make doubles; where the first number is zero, it is asked whether all are below the second
SMALL, LARGEST = 2.0**-100, 2.0**-60
#: multiplications of the products that are looked at, at least, and elements of a factor that is put in order, at most
FEWEST, MOST = 1 << 12, 1 << 14
_largest = np.maximum.reduce


def with_gradient_products(lowered: Lowered) -> Lowered:
    """Return ``lowered`` with these products in loops that go back; itself if there are none."""
    back = {node.frame for node in lowered.nodes if node.op is not None and node.op.traits.recalls and node.frame}
    found = [node for node in lowered.nodes if node.frame in back and _is_product(node)] if back else []
    if not found:
        return lowered
    nodes = list(lowered.nodes)
    for node in found:
        by_weights = nodes[node.inputs[1][0]].constant
        nodes[node.index] = replace(node, value=product_by_weights if by_weights else product)
    return replace(lowered, nodes=tuple(nodes))


def _is_product(flat: FlatNode) -> bool:
    """Return whether a kernel is a product of two matrices of float32 that is worth a look."""
    node = flat.source
    if flat.kind is not Kind.KERNEL or flat.value is not None or node is None or node.op is not flat.op:
        return False
    if node.op.kernel is not np.matmul:
        return False
    a, b = [t.shape.as_tuple() if t.shape.is_fully_defined() else () for t in node.inputs]
    return node.outputs[0].dtype == np.float32 and len(a) == len(b) == 2 and a[0] * a[1] * b[1] >= FEWEST


class Weights:
    """A factor that is the same in all iterations of a loop, made ready at its beginning.

    Parameters
    ----------
    array : ndarray

    Attributes
    ----------
    array : ndarray
        In C order, if that is worth while.
    """

    __slots__ = ("_doubles", "array")

    def __init__(self, array: Any) -> None:
        self.array = _in_order(array)
        self._doubles: Any = None

    def doubles(self) -> Any:
        """Return it as an array of doubles."""
        if self._doubles is None:
            self._doubles = self.array.astype(np.float64)
        return self._doubles


def product_by_weights(a: Any, b: Any) -> Any:
    """Return ``a @ b``, where ``b`` is the same in all iterations: an array, or ``Weights``."""
    x, is_ready = a.item(0), type(b) is Weights
    if -SMALL < x < SMALL and (x or _is_small(a)):
        return np.matmul(a.astype(np.float64), b.doubles()).astype(np.float32) if is_ready else _by_doubles(a, b)
    return np.matmul(a, b.array if is_ready else _in_order(b))


def _in_order(b: Any) -> Any:
    return b if b.size > MOST else np.ascontiguousarray(b)


def product(a: Any, b: Any) -> Any:
    """Return ``a @ b``."""
    x, y = a.item(0), b.item(0)
    if (-SMALL < y < SMALL and (y or _is_small(b))) or (-SMALL < x < SMALL and (x or _is_small(a))):
        return _by_doubles(a, b)
    return np.matmul(a, b)


def _is_small(array: Any) -> bool:
    """Return whether numbers, of which the first is zero, are all small, and not all zero: rows do not vanish at the
    same time. The first that is found not to be zero tells of all: to look at all takes half as long as a product."""
    size = array.size
    for k in (size >> 1, size - 1, size >> 2):
        x = array.item(k)
        if x:
            return bool(-LARGEST < x < LARGEST)
    return bool(0.0 < _largest(np.abs(array), None) < LARGEST)


def _by_doubles(a: Any, b: Any) -> Any:
    return np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
