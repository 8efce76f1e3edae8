"""The pass that lets a lowered graph be computed by the library of the arrays it is given."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from ..base.dataclass import replace
from ..base.shapes import TensorShape
from ..dataflow.execution_plan import kernel_of
from ..dataflow.flat_graph import FlatNode, Kind, Lowered, Port
from ..ir.failures import annotate
from .array_namespace import Namespace
from .foreign_rows import Call, Entry, entry_of, why_absent
from .refused_calls import no_function, other_dtype, other_shape

_NONE = slice(0, 0)


def in_namespace(lowered: Lowered, namespace: Namespace, foreign: Collection[int] | None = None) -> Lowered:
    """Return a graph that computes the same over arrays of another library.

    Each kernel that may meet such an array is replaced: where none has come it does as before, else the library's
    function computes it, whose result must have the dtype and shape that the graph says.

    Parameters
    ----------
    lowered : Lowered
    namespace : Namespace
        The library, and where its arrays lie.
    foreign : collection of int, optional
        Which feeds may be its arrays; by default all.

    Raises
    ------
    NamespaceRefusal
        If an op that may meet such an array cannot be computed over it; told at the user's line.
    """
    reached = _reached(lowered, range(len(lowered.feeds)) if foreign is None else foreign, namespace)
    nodes = []
    for node in lowered.nodes:
        if node.kind is Kind.KERNEL and (_makes(node, namespace) or any(port in reached for port in node.inputs)):
            node = replace(node, value=_kernel(node, namespace, lowered))
        nodes.append(node)
    return replace(lowered, nodes=tuple(nodes))


def foreign_fetches(lowered: Lowered, namespace: Namespace, foreign: Collection[int]) -> list[bool]:
    """Return of each fetch whether it may be an array of the library."""
    reached = _reached(lowered, foreign, namespace)
    return [port in reached for port in lowered.fetches]


def _reached(lowered: Lowered, foreign: Collection[int], namespace: Namespace) -> set[Port]:
    """Return the ports that such an array may come to."""
    reached: set[Port] = {(lowered.feeds[k], 0) for k in foreign}
    reached.update([(node.index, 0) for node in lowered.nodes if _makes(node, namespace)])
    size = -1
    while size != len(reached):  # again as long as something comes round a loop
        size = len(reached)
        for node in lowered.nodes:
            given = node.inputs[:1] if node.kind is Kind.SWITCH else node.inputs
            if any(port in reached for port in given) and not _stays(node, namespace):
                reached.update([(node.index, k) for k in range(node.outputs)])
    return reached


def _makes(node: FlatNode, namespace: Namespace) -> bool:
    """Return whether what a node gives is the library's whatever it is given."""
    if node.kind is not Kind.KERNEL or node.op is None:
        return False
    entry = entry_of(node.op, namespace)
    return entry is not None and entry.makes


def _stays(node: FlatNode, namespace: Namespace) -> bool:
    """Return whether what a node gives is NumPy's whatever it is given."""
    if node.op is None:
        return False
    entry = entry_of(node.op, namespace)
    return entry is not None and entry.gives_numpys


def _kernel(node: FlatNode, namespace: Namespace, lowered: Lowered) -> Callable[..., Any]:
    assert node.op is not None and node.source is not None
    entry = entry_of(node.op, namespace)
    if entry is None:
        raise annotate(no_function(node.op.name, namespace.name, why_absent(node.op, namespace)), node.source)
    constants = [k for k, (index, _) in enumerate(node.inputs) if lowered.nodes[index].kind is Kind.CONST]
    kernel = ForeignKernel(node, namespace, entry, constants)
    return kernel.shortened() or kernel


class ForeignKernel:
    """What is called for a node that may be given arrays of another library.

    Parameters
    ----------
    node : FlatNode
    namespace : Namespace
    entry : Entry
    constants : collection of int
        The inputs that are the same at each call.
    """

    __slots__ = ("_array", "_attrs", "_call", "_constants", "_entry", "_hosts", "_known", "_node", "_plain")

    def __init__(self, node: FlatNode, namespace: Namespace, entry: Entry, constants: Collection[int]) -> None:
        op, source = node.op, node.source
        assert op is not None and source is not None
        plain = kernel_of(node)
        assert plain is not None
        results = source.results if source.op is op else source.outputs[:1]
        specs = [(t.dtype, t.shape) for t in results] if source.op is op else []
        self._node = node
        self._plain: Callable[..., Any] = plain
        self._entry = entry
        self._attrs = dict(node.attrs)
        self._call = Call(namespace, op, tuple([d for d, _ in specs]), tuple([s for _, s in specs]))
        self._array = namespace.array
        count = len(node.inputs) - op.effect
        self._hosts = frozenset(range(count)[entry.hosts])
        self._constants = frozenset(constants) - self._hosts
        #: constants as the library's; threads that make one at the same time make the same
        self._known: dict[int, Any] = {}

    def shortened(self) -> Callable[..., Any] | None:
        """Return what does the same of one or two arrays of the library without looking at each call what to do; None
        if that is not known before."""
        call, entry, source = self._call, self._entry, self._node.source
        assert source is not None
        op, count = call.op, len(self._node.inputs)
        plain = not (entry.hosts != _NONE or entry.always or entry.raw or entry.gives_numpys or op.several)
        if not plain or op.effect or op.stateful or not call.dtypes or call.namespace.is_lazy or count not in (1, 2):
            return None
        kinds = {t.dtype.kind for t in source.operands}
        direct = entry.direct(call, kinds.pop()) if entry.direct is not None and len(kinds) == 1 else None
        compute = (
            direct if direct is not None and not self._attrs else functools.partial(entry.compute, call, **self._attrs)
        )
        return _of_one(self, compute) if count == 1 else _of_two(self, compute)

    @property
    def checked(self) -> tuple[type, Any, tuple[int, ...] | None]:
        """The type of arrays, and the dtype and shape that the result has; None for a shape that is not known."""
        call, shape = self._call, self._call.shapes[0]
        return self._array, call.dtype, shape.as_tuple() if shape.is_fully_defined() else None

    def __call__(self, *values: Any, **state: Any) -> Any:
        array = self._array
        for value in values:
            if isinstance(value, array):
                break
        else:
            if not self._entry.always:
                return self._plain(*values, **state)
        call, op = self._call, self._call.op
        given = [self.given(k, value) for k, value in enumerate(values)]
        try:
            made = self._entry.compute(call, *given, **self._attrs, **state)
        except NotImplementedError as error:
            raise call.refused(str(error)) from error
        if not op.several:
            self._check(made, 0)
        else:
            for k, one in enumerate(made):
                self._check(one, k)
        if not op.effect:
            return made
        return (*made, np.True_) if op.several else (made, np.True_)

    def given(self, k: int, value: Any) -> Any:
        """Return an input as the entry wants it."""
        namespace = self._call.namespace
        if k in self._hosts:
            return self._call.numpys(value)
        if namespace.is_lazy or self._entry.raw or not isinstance(value, (np.ndarray, np.generic)):
            return value
        if k not in self._constants:
            return namespace.asarray(value)
        if k not in self._known:
            self._known[k] = namespace.asarray(value)
        return self._known[k]

    def accepted(self, made: Any) -> Any:
        """Return the result, if it is what NumPy's kernel would give."""
        self._check(made, 0)
        return made

    def _check(self, made: Any, k: int) -> None:
        """Raise unless a result is what NumPy's kernel would give."""
        call = self._call
        if k >= len(call.dtypes) or not isinstance(made, self._array):
            return
        dtype, shape = call.namespace.spec(made)
        if dtype != call.dtypes[k]:
            raise other_dtype(call.op.name, call.namespace.name, dtype, call.dtypes[k])
        known = call.shapes[k]
        if not TensorShape(shape).is_compatible_with(known):
            raise other_shape(call.op.name, call.namespace.name, TensorShape(shape), known)


def _of_one(kernel: ForeignKernel, compute: Callable[..., Any]) -> Callable[[Any], Any]:
    array, dtype, shape = kernel.checked

    def computed(x: Any) -> Any:
        if type(x) is not array:
            return kernel(x)
        made = compute(x)
        if made.dtype == dtype and made.shape == shape:
            return made
        return kernel.accepted(made)

    return computed


def _of_two(kernel: ForeignKernel, compute: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    array, dtype, shape = kernel.checked
    given = kernel.given

    def computed(x: Any, y: Any) -> Any:
        if type(x) is not array:
            if type(y) is not array:
                return kernel(x, y)
            x = given(0, x)
        elif type(y) is not array:
            y = given(1, y)
        made = compute(x, y)
        if made.dtype == dtype and made.shape == shape:
            return made
        return kernel.accepted(made)

    return computed
