"""A graph computed node by node twice: by NumPy's kernels, and by those of another library.

Where the library's kernel refuses, the walk goes on with what NumPy's gave; so one program tells of each op in it.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from api import CONST, EAGER, PARAMETER, FlatNode, Kind, NamespaceRefusal, foreign_kernels, foreign_rows

#: ops that have no kernel, or take nothing
NO_KERNEL = {"Const", "Placeholder", "While", "Cond", "EmptyAdjoints", "NoCheckpoints", "EmptyStack"}


def foreign_kernel(node, namespace):
    """What a lowered graph calls for ``node``; None if it leaves it as it is."""
    entry = foreign_rows.entry_of(node.op, namespace)
    if entry is None:
        raise NamespaceRefusal(f"{node.op.name}: {foreign_rows.why_absent(node.op, namespace)}")
    flat = FlatNode(0, Kind.KERNEL, node.name, tuple([(1, k) for k in range(len(node.inputs))]), (), 0, node, node.op,
                    node.attrs, len(node.outputs), False, None)  # fmt: skip
    return foreign_kernels.ForeignKernel(flat, namespace, entry, ())


class Walk:
    """One graph, walked over arrays of a library.

    Parameters
    ----------
    of : callable
        Makes an array of the library of one of NumPy's.
    back : callable
        Makes one of NumPy's of it.
    namespace : Namespace
    watch : callable
        Gives the context that its kernels run in.
    """

    def __init__(self, of, back, namespace, watch=nullcontext):
        self.of, self.back, self.namespace, self.watch = of, back, namespace, watch
        self.computed, self.refused, self.wrong = {}, {}, []

    def over(self, graph, values):
        """Walk ``graph`` for ``values`` of its inputs."""
        known = dict(zip(graph.inputs, values))
        foreign = {t: self.of(np.asarray(v)) for t, v in known.items()}
        for node in graph.nodes:
            if node.op is PARAMETER:
                continue
            if node.op is CONST:
                value = known[node.outputs[0]] = foreign[node.outputs[0]] = node.attrs["value"]
                if not values and np.ndim(value) and np.asarray(value).dtype.kind in "biufc":
                    foreign[node.outputs[0]] = self.of(np.asarray(value))
            elif node.subgraphs:
                return  # loops and branches are for other tests
            else:
                self._node(node, known, foreign)

    def _node(self, node, known, foreign):
        with np.errstate(all="ignore"):
            expected = self._plain(node, [known[t] for t in node.operands])
        known.update(zip(node.outputs, expected))
        given = [foreign[t] for t in node.operands]
        made = None
        if any(self.namespace.holds(one) or not hasattr(one, "nbytes") for one in given):
            try:
                with self.watch():
                    kernel = foreign_kernel(node, self.namespace)
                    made = kernel(*given, **self._state(node))
                made = list(made) if node.op.several or node.op.effect else [made]
                self._compare(node, expected, made)
                self.computed[node.op.name] = self.computed.get(node.op.name, 0) + 1
            except NamespaceRefusal as error:
                self.refused.setdefault(node.op.name, str(error))
                made = None
            except Exception as error:
                self.wrong.append((node, [getattr(one, "shape", one) for one in given], error))
                made = None
        elif node.op.name not in NO_KERNEL:
            made = expected
        for k, tensor in enumerate(node.outputs):
            foreign[tensor] = expected[k] if made is None else made[k]
            again = made is None or (self.namespace.is_lazy and self.namespace.holds(made[k]))  # or graphs would grow
            if again and isinstance(expected[k], (np.ndarray, np.generic)) and tensor.dtype.kind in "biufc":
                foreign[tensor] = self.of(np.asarray(expected[k]))

    def _state(self, node):
        return {"state": EAGER} if node.op.stateful else {}

    def _plain(self, node, values):
        out = node.op.kernel(*values, **node.attrs, **self._state(node))
        made = [] if not node.results else list(out) if node.op.several else [out]
        return made + [np.True_] * node.op.effect

    def _compare(self, node, expected, made):
        assert len(made) == len(node.outputs), (len(made), len(node.outputs))
        for tensor, there, here in zip(node.outputs, expected, made):
            if not isinstance(there, (np.ndarray, np.generic)) or tensor.dtype.kind not in "biufc":
                continue
            array = self.back(here) if self.namespace.holds(here) else here
            assert isinstance(array, (np.ndarray, np.generic)), type(here)
            assert array.dtype == there.dtype and array.shape == there.shape, (array.dtype, array.shape, there.shape)
            single = np.finfo(there.dtype).eps if there.dtype.kind in "fc" else 0
            np.testing.assert_allclose(array, there, rtol=64 * single, atol=8 * single)
