"""Steps of a plan as machine code would do them: from the memory of their tokens to that of others.

That is so of steps of which all values have known shapes, and that do nothing but compute. Where one fails, as an index
that is out of range does, whoever moves tokens calls what Python has for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..base.dataclass import dataclass
from ..ir.graph import Graph, Node
from .batch_doors import ALWAYS
from .batch_step import Batch
from .flat_graph import FlatNode, Kind, Lowered, Port
from .packed_bundles import Form
from .piece_graphs import BOOLEAN
from .pieces import KNOWN, KNOWN_TO_BATCH, Maker, only_gives
from .step_items import StepItems, StepTree, known_form
from .token_forms import TokenForm, is_plain
from .turn_branches import under_condition

#: which token, and the byte of it
Spot = tuple[int, int]


@dataclass(frozen=True)
class StepForm:
    """What a step takes and gives, and does in between.

    Attributes
    ----------
    place : int
        Its node.
    inputs : tuple of TokenForm or None
        Of each token that it is given; None of one that only says that it may run.
    outputs : tuple of TokenForm
    sides : tuple of int
        When each of those is given, see ``Doors``.
    decides : bool
        It gives one more, the condition of a loop: a boolean.
    constants : tuple of array
        What is given behind its tokens, before the ``numbers`` that are inputs.
    numbers : tuple of scalar
    nodes : tuple of Node
    kind : Hashable
        Equal for steps that do the same, with other numbers and constants.
    graph_with : callable
        See ``graph``.
    reads : tuple of Spot
        Where the inputs of the graph are, but for numbers.
    writes : tuple of Spot
        Where its outputs go.
    copies : tuple of (Spot, Spot, int)
        What is only handed on: where it is, where it goes, how many bytes.
    """

    place: int
    inputs: tuple[TokenForm | None, ...]
    outputs: tuple[TokenForm, ...]
    sides: tuple[int, ...]
    decides: bool
    constants: tuple[Any, ...]
    numbers: tuple[Any, ...]
    nodes: tuple[Node, ...]
    kind: Hashable
    graph_with: Callable[[Sequence[int]], Graph]
    reads: tuple[Spot, ...]
    writes: tuple[Spot, ...]
    copies: tuple[tuple[Spot, Spot, int], ...]

    def graph(self, places: Sequence[int] = ()) -> Graph:
        """Return what it computes: its inputs are numbers, see ``Piece.graph``, and then what it reads."""
        return self.graph_with(places or [-1] * len(self.numbers))


@dataclass(frozen=True)
class StepCode:
    """Machine code of a step: ``int32 step(char **in, char **out, char *scratch)``, which needs no interpreter.

    ``in`` has the address of each token, and behind those the addresses of ``constants``; ``out`` those of the memory
    of each token that it gives, whatever its side, and at last of a byte if it ``decides``. Memory of tokens that it
    gives is none of what it is given. What it returns is 0, or it has failed, and nobody looks at what it gives.

    Attributes
    ----------
    address : int
    inputs, outputs, sides, decides, constants
        See ``StepForm``.
    scratch : int
        Bytes, at a multiple of 64, that a call has for itself.
    keep : object
        Holds the code.
    """

    address: int
    inputs: tuple[TokenForm | None, ...]
    outputs: tuple[TokenForm, ...]
    sides: tuple[int, ...]
    decides: bool
    constants: tuple[Any, ...]
    scratch: int
    keep: Any


def step_forms(numpys: Lowered, lowered: Lowered, joined: Sequence[FlatNode]) -> Iterator[StepForm]:
    """Yield the forms of those steps among ``joined`` that can be machine code.

    Parameters
    ----------
    numpys, lowered : Lowered
        With NumPy's kernels, and perhaps others in their place; ``joined`` is made of that.
    """
    for flat in joined:
        if flat.kind is Kind.BATCH:
            made = _of_batch(numpys, flat.index, flat.value)
        else:
            made = _of_kernel(numpys, lowered, flat) if flat.kind is Kind.KERNEL else None
        if made is not None:
            yield made


def _turn(graph_with: Callable[[Sequence[int]], Graph], places: Sequence[int]) -> Graph:
    graph = graph_with(places)
    return under_condition(graph, graph.outputs[-1])


def _of_kernel(numpys: Lowered, lowered: Lowered, flat: FlatNode) -> StepForm | None:
    plain = numpys.nodes[flat.index]
    if plain.source is None or not only_gives(plain, plain.source):
        return None
    told = Maker(numpys, KNOWN)
    told.add(plain)
    given = [(told.root(port),) for port in lowered.nodes[flat.index].inputs]
    output = _Output([(plain.index, 0)], False, ALWAYS)
    return _Step(numpys, told, given, lambda port: port).form(flat.index, [output], None)


def _of_batch(numpys: Lowered, place: int, batch: Batch) -> StepForm | None:
    lowered, doors = batch.lowered, batch.doors
    tree, told = StepTree(batch), Maker(lowered, KNOWN_TO_BATCH)
    if not StepItems(numpys, lowered, tree, told).add(tree.items):
        return None
    given = list(_parts(batch.inputs, doors.given))
    outputs = [
        _Output(ports, len(ports) > 1, side) for ports, side in zip(_parts(batch.outputs, doors.made), doors.sides)
    ]
    return _Step(lowered, told, given, tree.source).form(place, outputs, doors.predicate)


def _parts(ports: Sequence[Port], counts: Sequence[int]) -> Iterator[tuple[Port, ...]]:
    """Yield the values of each token."""
    place = 0
    for count in counts:
        yield tuple(ports[place : place + count])
        place += count


@dataclass(frozen=True)
class _Output:
    """A token that a step gives: its values, whether they are a bundle, and when it is given."""

    ports: Sequence[Port]
    is_bundle: bool
    side: int


class _Step:
    """Finds where the values of a step are.

    Parameters
    ----------
    lowered : Lowered
    told : Maker
        What it does.
    given : sequence of tuple of Port
        The values of each token that it is given.
    source : callable
        Tells where a value comes from that it gives.
    """

    def __init__(
        self, lowered: Lowered, told: Maker, given: Sequence[tuple[Port, ...]], source: Callable[[Port], Port]
    ) -> None:  # fmt: skip
        self._lowered, self._told, self._given, self._source = lowered, told, given, source
        self._constants: list[Any] = []
        self._known: dict[Port, Spot] = {}
        self._spots: dict[Port, Spot] = {}
        self.inputs: list[TokenForm | None] = []

    def form(self, place: int, outputs: Sequence[_Output], predicate: Port | None) -> StepForm | None:
        """Return the form of it; None if something is not known of a value."""
        wanted = {self._source(port) for one in outputs for port in one.ports}
        if predicate is not None:
            wanted.add(self._source(predicate))
        if wanted & self._told.hidden or not self._place_inputs(wanted):
            return None
        forms = [self._token([self._source(port) for port in one.ports], one.is_bundle) for one in outputs]
        spots = [self._spot(port) for port in self._told.inputs]
        known, reads = [one for one in forms if one is not None], [one for one in spots if one is not None]
        if (len(known), len(reads)) != (len(forms), len(spots)):
            return None
        puts = [(self._source(port), (k, start), value) for k, (one, form) in enumerate(zip(outputs, known))
                for port, start, value in zip(one.ports, form.offsets, form.values)]  # fmt: skip
        if predicate is not None:
            decided = self._source(predicate)
            if self._form(decided) != BOOLEAN:
                return None
            puts.append((decided, (len(outputs), 0), BOOLEAN))
        results = [(port, to) for port, to, _ in puts if self._told.makes(port)]
        copies = tuple([self._copy(*one) for one in puts if not self._told.makes(one[0])])
        piece = self._told.piece((place,), [port for port, _ in results], None)
        writes, sides = tuple([to for _, to in results]), tuple([one.side for one in outputs])
        graph_with = piece.graph_with
        if predicate is not None and self._told.makes(self._source(predicate)):  # it is the last of the outputs
            graph_with = partial(_turn, piece.graph_with)
        kind = piece.kind, len(self._given), len(self._constants), tuple(reads), writes, copies
        return StepForm(
            place, tuple(self.inputs), tuple(known), sides, predicate is not None, tuple(self._constants),
            piece.numbers, piece.nodes, kind, graph_with, tuple(reads), writes, copies,
        )  # fmt: skip

    def _place_inputs(self, handed_on: set[Port]) -> bool:
        """Find where the values of tokens are; returns whether what is wanted of them is known."""
        used = {*self._told.inputs, *handed_on}
        for k, ports in enumerate(self._given):
            form = None
            if any(port in used for port in ports):
                form = self._token(ports, len(ports) > 1)
                if form is None:
                    return False
                self._spots.update({port: (k, start) for port, start in zip(ports, form.offsets)})
            self.inputs.append(form)
        return True

    def _token(self, ports: Sequence[Port], is_bundle: bool) -> TokenForm | None:
        """Return the form of a token of such values; None if something is not known of them."""
        values = [self._form(port) for port in ports]
        if not all(one is not None and is_plain(one) for one in values):
            return None
        return TokenForm(tuple(values), is_bundle)  # type: ignore[arg-type]

    def _form(self, port: Port) -> Form | None:
        return known_form(self._lowered, self._told, port)

    def _spot(self, port: Port) -> Spot | None:
        """Return where a value is that is given; constants are behind the tokens."""
        if port in self._spots:
            return self._spots[port]
        flat = self._lowered.nodes[self._told.root(port)[0]]
        if flat.kind is not Kind.CONST:
            return None
        self._spots[port] = len(self._given) + len(self._constants), 0
        self._constants.append(np.ascontiguousarray(flat.value))
        return self._spots[port]

    def _copy(self, port: Port, to: Spot, form: Form) -> tuple[Spot, Spot, int]:
        """Return how a value that is handed on is put where it goes."""
        spot = self._spot(port)
        assert spot is not None
        return spot, to, form[0].itemsize * math.prod(form[1])
