"""The events of a run in plain words, a line each."""

from __future__ import annotations

from collections.abc import Iterator

from autoloop_runtime.dataflow.flat_graph import FlatNode, Kind
from autoloop_runtime.dataflow.token_replay import Event, TokenReplay

from ...drawing.picture import Picture


def words_of(replay: TokenReplay, picture: Picture) -> Iterator[str]:
    """Yield a line for each event of a run, which ``picture`` is of."""
    teller = _Teller(replay, picture)
    for event in replay.events:
        yield teller.words(event)


class _Teller:
    """Says what happens."""

    def __init__(self, replay: TokenReplay, picture: Picture) -> None:
        self._nodes, self._frames, self._iterations = replay.lowered.nodes, replay.lowered.frames, replay.iterations
        self._to = replay.consumers
        self._boxes = {box.id: box for box in picture.boxes}
        self._results = [box.label for box in picture.boxes if box.style == "result"]
        #: those of which no value leaves, only the turn of the next effect
        self._turns = {one.source for one in picture.edges if one.style == "control"}
        #: by parent iteration and frame: the iterations that are under way
        self._live: dict[tuple[int, int], list[int]] = {}

    def words(self, event: Event) -> str:
        """Return a line for the next event."""
        words: str = getattr(self, f"_{event.what}")(event)
        return words

    # -- frames and iterations ----------------------------------------------------------------------------

    def _open(self, event: Event) -> str:
        self._under_way(event.to).append(0)
        return f"The first token opens the {self._name_of_frame(event.node)}. Iteration 0 begins."

    def _begin(self, event: Event) -> str:
        live, index = self._under_way(event.to), self._iterations[event.to].index
        live.append(index)
        if index - live[0] > 1:
            return f"Iteration {index} begins; iteration {live[0]} is still under way."
        return f"Iteration {index} begins."

    def _end(self, event: Event) -> str:
        live, index = self._under_way(event.at), self._iterations[event.at].index
        live.remove(index)
        return f"Iteration {index} is over: none of its tokens is left."

    def _close(self, event: Event) -> str:
        index = self._iterations[event.at].index
        ran = f"the body ran {index} time{'s' * (index != 1)}"
        return f"The {self._name_of_frame(event.node)} is closed: {ran}."

    def _under_way(self, number: int) -> list[int]:
        turn = self._iterations[number]
        return self._live.setdefault((turn.parent, turn.frame), [])

    def _name_of_frame(self, frame: int) -> str:
        return f"frame of {self._frames[frame].name}"

    # -- nodes --------------------------------------------------------------------------------------------

    def _named(self, node: FlatNode) -> str:
        """Return what a node is called: the kind, and the variable that it serves."""
        box = self._boxes[node.name]
        kind = "Identity" if node.kind is Kind.IDENTITY else box.label
        return f"{kind} {box.note}".strip()

    def _fire(self, event: Event) -> str:
        node = self._nodes[event.node]
        if node.kind is Kind.KERNEL:
            return f"{self._call(node, event)} = {', '.join(event.made)}" if event.made else self._call(node, event)
        value = self._value(node, event)
        if node.kind is Kind.FEED:
            return f"{node.name} is given: {value}"
        return f"{self._named(node)}: {self._passing(node, event, value)}"

    def _value(self, node: FlatNode, event: Event) -> str:
        return "the turn of the next effect" if node.name in self._turns else event.made[0]

    def _passing(self, node: FlatNode, event: Event, value: str) -> str:
        """Return what a node that is no kernel does with a value."""
        kind, there = node.kind, self._iterations[event.to]
        if kind is Kind.ENTER:
            return f"{value} comes in, for all iterations" if node.constant else f"{value} comes into iteration 0"
        if kind is Kind.MERGE:
            giver = self._nodes[node.inputs[event.port][0]]
            if giver.kind in (Kind.ENTER, Kind.NEXT_ITERATION):
                return f"{value} has come from {giver.kind.value}, and goes on"
            return f"{value} has come from the branch that was taken; the other side is dead"
        if kind is Kind.LOOP_COND:
            return f"{value}, {'go on: one more iteration' if value == 'True' else 'the loop is over'}"
        if kind is Kind.SWITCH:
            return self._switched(node, event, value)
        if kind is Kind.NEXT_ITERATION:
            return f"{value} goes on to iteration {there.index}"
        if kind is Kind.EXIT:
            wanted = self._to.of.get((node.index, 0)) or self._to.fetches.get((node.index, 0))
            return f"{value} leaves the loop" if wanted else f"{value} leaves the loop; nobody has asked for it"
        return f"{value}, at rest until now, becomes a token"

    def _switched(self, node: FlatNode, event: Event, value: str) -> str:
        asked = self._nodes[node.inputs[1][0]]
        what = "LoopCond" if asked.kind is Kind.LOOP_COND else "the condition"
        left, other = ("T", "F") if event.port else ("F", "T")
        ways = [self._way(node, port, asked.kind is Kind.LOOP_COND) for port in (event.port, 1 - event.port)]
        goes = f"{value} goes {ways[0]} by {left}" if ways[0] else f"{value} leaves by {left}, where nobody waits"
        dead = f"; a dead token goes {ways[1]} by {other}" if ways[1] else ""
        return f"{what} was {bool(event.port)}, {goes}{dead}"

    def _way(self, node: FlatNode, port: int, of_loop: bool) -> str:
        if not self._to.of.get((node.index, port)):
            return ""
        if of_loop:
            return "into the body" if port else "to the Exit"
        return "into the branch"

    def _dead(self, event: Event) -> str:
        node = self._nodes[event.node]
        name, index = self._named(node), self._iterations[event.at].index
        frame = self._iterations[event.at].frame
        if node.kind is Kind.NEXT_ITERATION:
            return f"{name}: a dead token ends here, it begins no iteration {index + 1}"
        if node.kind is Kind.EXIT and node.frame == frame:
            return f"{name}: a dead token ends here, the loop goes on"
        if node.kind is Kind.ENTER:
            return f"{name}: dead, so the loop in this branch is not entered"
        if node.kind is Kind.EXIT:
            return f"{name}: the loop was not entered, what leaves it is dead"
        if node.kind is Kind.MERGE:
            return f"{name}: both inputs are dead, so it is dead as well"
        if node.kind is Kind.KERNEL:
            return f"{name}: an input is dead, so it is not computed; what it gives is dead"
        return f"{name}: dead, and so is what leaves it"

    def _wait(self, event: Event) -> str:
        node = self._nodes[event.node]
        window = self._frames[node.frame].parallel_iterations
        live = f"{window} iterations are" if window > 1 else "one iteration is"
        limit = f"live, as many as parallel_iterations={window} allows"
        return f"{self._named(node)}: {self._value(node, event)} waits; {live} {limit}"

    def _call(self, node: FlatNode, event: Event) -> str:
        box = self._boxes[node.name]
        called = f"{box.label} {box.note}".strip()
        return f"{called}({', '.join(event.given)})"

    def _start(self, event: Event) -> str:
        return f"{self._call(self._nodes[event.node], event)} begins and takes its time; others go on"

    def _done(self, event: Event) -> str:
        return f"{self._named(self._nodes[event.node])} of iteration {self._iterations[event.at].index} is done: " + (
            ", ".join(event.made)
        )

    def _fail(self, event: Event) -> str:
        return f"{self._named(self._nodes[event.node])} raises {event.made[0]}"

    def _result(self, event: Event) -> str:
        label = self._results[event.node]
        if label == "effects":
            return "All effects are done"
        return f"{'The result' if label == 'result' else label.capitalize()} is there: {event.made[0]}"
