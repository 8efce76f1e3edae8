"""What the machine code of a batch does: its kernels, and the branches that they stand in.

A branch is one in machine code, too: of the side that is not taken nothing is computed, and nothing fails. What is made
in a branch is seen outside of it through the Merges at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ..base.dataclass import replace
from ..ir.checks import CHECK_PREDICATE
from .batch_code import BatchTree
from .batch_step import Batch
from .bundles import tensor_at
from .dependence import is_loop_merge
from .flat_graph import FlatNode, Kind, Lowered, Port
from .loop_items import Assign, Branch, Guard, Item, Run
from .packed_bundles import Form
from .piece_graphs import BOOLEAN
from .pieces import Maker, only_gives


class StepTree(BatchTree):
    """The tree of a batch. A turn is done whatever the condition of its loop is, which is no branch of it."""

    def __init__(self, batch: Batch) -> None:
        self._condition = batch.doors.predicate
        super().__init__(batch.lowered, batch.members, batch.outputs)

    def _items(self, node: FlatNode) -> list[tuple[Guard, Item]]:
        return [(guard[1:] if guard and guard[0][0] == self._condition else guard, item)
                for guard, item in super()._items(node)]  # fmt: skip

    def source(self, port: Port) -> Port:
        """Return what made a value; what is only asked whether it is a boolean is itself."""
        port = super().source(port)
        node = self._lowered.nodes[port[0]]
        return self.source(node.inputs[0]) if self._is_inside(node) and node.op is CHECK_PREDICATE else port


class StepItems:
    """Adds what a batch does to what is told of it.

    Parameters
    ----------
    numpys, lowered : Lowered
        With NumPy's kernels, and with those that the batch has.
    tree : BatchTree
    told : Maker
    """

    def __init__(self, numpys: Lowered, lowered: Lowered, tree: BatchTree, told: Maker) -> None:
        self._numpys, self._lowered, self._tree, self._told = numpys, lowered, tree, told

    def add(self, items: Sequence[Item]) -> bool:
        """Add them; returns False if one of them cannot be machine code."""
        return not any(isinstance(item, Assign) for item in items) and self._add(items)

    def _add(self, items: Sequence[Item]) -> bool:
        for item in items:
            is_added = self._choose(item) if isinstance(item, Branch) else not isinstance(item, Run) or self._run(item)
            if not is_added:
                return False
        return True

    def _run(self, run: Run) -> bool:
        flat = run.flat
        if flat.op is CHECK_PREDICATE:
            return self._form(self._tree.source(flat.inputs[0])) == BOOLEAN
        if flat.value is not None:  # it has other inputs
            flat = self._numpys.nodes[flat.index]
        if flat.kind is not Kind.KERNEL or flat.source is None or not only_gives(flat, flat.source):
            return False
        inputs = tuple(map(self._tree.source, flat.inputs))
        if self._told.hidden.intersection(inputs):
            return False
        self._told.add(replace(flat, inputs=inputs))
        return True

    def _choose(self, branch: Branch) -> bool:
        then, otherwise = _set_by(branch.then), _set_by(branch.otherwise)
        predicate, told = branch.predicate, self._told
        if not then or then.keys() != otherwise.keys() or predicate in told.hidden or self._form(predicate) != BOOLEAN:
            return False
        values = [(port, one, otherwise[port]) for port, one in then.items()]
        sides = [partial(self._add, side) for side in (branch.then, branch.otherwise)]
        return told.choose(predicate, sides, values, self._form)

    def _form(self, port: Port) -> Form | None:
        return known_form(self._lowered, self._told, port)


def known_form(lowered: Lowered, told: Maker, port: Port) -> Form | None:
    """Return the dtype and shape of a value; None if they are not known."""
    found = told.forms.get(port)
    if found is not None:
        return found
    flat = lowered.nodes[port[0]]
    while flat.kind in (Kind.SWITCH, Kind.IDENTITY) or (flat.kind is Kind.ENTER and flat.constant):
        port = flat.inputs[0]
        flat = lowered.nodes[port[0]]
    if flat.kind is Kind.CONST:
        return (flat.value.dtype, flat.value.shape) if isinstance(flat.value, np.ndarray | np.generic) else None
    if flat.kind is Kind.MERGE and not is_loop_merge(flat):
        forms = [known_form(lowered, told, arm) for arm in flat.inputs]
        return forms[0] if forms[0] == forms[-1] else None
    is_fed = flat.kind is Kind.FEED and flat.source is not None
    tensor = flat.source.outputs[0] if is_fed else tensor_at(lowered, port)  # type: ignore[union-attr]
    return None if tensor is None or not tensor.shape.is_fully_defined() else (tensor.dtype, tensor.shape.as_tuple())


def _set_by(items: Sequence[Item]) -> dict[Port, Port]:
    """Return what one side of a branch sets."""
    return {to: value for item in items if isinstance(item, Assign) for to, value in item.pairs}
