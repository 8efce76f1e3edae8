"""What the runs of a graph find outside of it and change: where random generators stand, what variables hold."""

from __future__ import annotations

from ..analysis.inside import nodes_inside
from ..base.random_streams import Stand, put_back
from ..ir.graph import Graph
from ..ir.run_state import RunState, Stored
from ..saving.kept_outside import Outside
from ..saving.load_errors import damaged, refused


class OutsideState:
    """The state that runs of a graph depend on.

    Parameters
    ----------
    graph : Graph
    """

    def __init__(self, graph: Graph) -> None:
        nodes = list(nodes_inside(graph))
        self._notes = [node.op.draws(node) for node in nodes if node.op.draws is not None]
        found = [node.attrs.get("variable") for node in nodes if node.op.stateful]
        self._variables = list(dict.fromkeys([one for one in found if isinstance(one, Stored)]))

    def is_any(self) -> bool:
        """Return whether there is any."""
        return bool(self._notes or self._variables)

    def now(self, state: RunState) -> Outside:
        """Return what it is now."""
        values = [state.storage(variable).value for variable in self._variables]
        return Outside(values, [stand.state for stand in self._stands()])

    def put(self, state: RunState, kept: Outside) -> None:
        """Put back what it was."""
        stands = self._stands()
        if len(kept.values) != len(self._variables) or len(kept.states) != len(stands):
            raise damaged("the checkpoint holds another number of variables or random generators")
        for variable, value in zip(self._variables, kept.values):
            state.storage(variable).put(value)
        for stand, one in zip(stands, kept.states):
            if one is not None:
                with refused("where a random generator stood"):
                    put_back(stand.generator, one)

    def _stands(self) -> list[Stand]:
        """Return where the generators stand, each once, in the order in which the graph asks them."""
        found: dict[int, Stand] = {}
        for note in self._notes:
            stand = note()
            assert isinstance(stand, Stand)
            found.setdefault(id(stand.generator), stand)
        return list(found.values())
