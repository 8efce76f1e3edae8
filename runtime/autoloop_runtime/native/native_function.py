"""A whole graph as one LLVM function, and what its caller must know of it.

``run(args, memory)`` gives 0, or the number of a check that failed, or less than 0: -1 when Python's signal handlers
raised, -2 when there was no memory for a stack.

args
    Nothing, to give back stacks that an earlier call left behind; otherwise 8 bytes per input, the ``PyObject *`` of an
    array or a scalar (16 of two doubles), then the ``PyObject *`` of each output array that is not placed in an input,
    then the extents of the inputs that are not known beforehand.
memory
    Words of 8 bytes: the address of a table of the addresses of constant arrays; the address of scratch memory; the
    scalar outputs; how far loops are, the last first; the thread state and the last stack that was made; what failed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.induction import trip_count
from ..analysis.inside import count_nodes, nodes_inside
from ..analysis.shape_classes import Members
from ..base.dataclass import dataclass
from ..base.dtypes import variant
from ..base.forks import undivided
from ..ir.graph import Graph, Node
from ..ir.structured import WHILE
from ..ir.tensor import Tensor
from .argument_places import Port, data_at, given_extents, input_value, output_places
from .given_away import come_first, refusing_in
from .graph_forms import forms_of
from .ir.elements import COMPLEX128, TYPES
from .ir.helpers import text as helper_text
from .ir.moving import Given, is_unsteady
from .ir.writer import Module
from .kernels.ll_files import code, helper_code
from .toolchain.shared_libraries import Libraries
from .typing.exact_shapes import infer
from .typing.facts import Shape, Types
from .typing.refusal import NativeRefusal, refuse
from .typing.static_slices import takes_index
from .writer.context import Check, Context, Place
from .writer.copy_on_write import as_grown
from .writer.marked_lines import Marks
from .writer.memory import move_all
from .writer.node_writer import open_block, value_of, write_nodes
from .writer.outlining import SHARE
from .writer.refusals_in_runs import may_refuse
from .writer.storage_plan import spread_targets
from .writer.values import Array, Owned, Value, registers, resolve, size_of

if TYPE_CHECKING:
    from ..collections.variables import Variable

#: bytes of an array of which a copy is rather not made
LARGE = 1 << 25
#: scratch memory is handed to the function at an address that is a multiple of this
ALIGNMENT = 64
#: with more nodes than this, loops over elements are functions of their own
MOST_NODES = 150
#: words before the scalar outputs
_HEAD = 2


@dataclass(frozen=True)
class Function:
    """LLVM IR and the agreement on how to call it.

    Attributes
    ----------
    ir : str
        With ``{name}`` where the function's name goes.
    inputs, outputs : tuple of Port
    table : tuple of ndarray
        Constant arrays.
    scratch, words : int
        Bytes of scratch memory, and of the words before it.
    checks : tuple of Check
        What the return codes 1, 2, ... mean.
    addresses : dict of str to int
        Symbols it calls.
    variables : tuple of Variable
        Whose values are inputs, behind those of the graph.
    assigned : tuple of Variable
        Whose new values are outputs, behind those of the graph.
    stacks : bool
        It may leave stacks behind, which a second call without ``args`` gives back.
    shares : bool
        Some of its work is for several threads; it calls ``SHARE``.
    swaps : bool
        Some of its stacks may leave memory.
    placed : dict of int to int
        Outputs that are left in the memory of an input -> which.
    aligned : frozenset of int
        Outputs that are tensors, of which nobody asks who owns their memory.
    told : tuple of (Node, int or None)
        The outermost loops that tell how far they are, and how many iterations they have if that is known.
    extents : dict
        Where the extents of the inputs that are not known beforehand are found: which input, which axis.
    """

    ir: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    table: tuple[Any, ...]
    scratch: int
    words: int
    checks: tuple[Check, ...]
    addresses: dict[str, int]
    variables: tuple[Variable, ...]
    assigned: tuple[Variable, ...]
    stacks: bool
    shares: bool
    swaps: bool
    placed: dict[int, int]
    aligned: frozenset[int]
    told: tuple[tuple[Node, int | None], ...]
    extents: dict[Given, tuple[int, int]]

    @property
    def scalars_start(self) -> int:
        """The word of the memory where the scalar outputs start."""
        return _HEAD

    @property
    def report_start(self) -> int:
        """The word of the memory where the description of a failure starts."""
        return _HEAD + _words(self.outputs) + len(self.told) + 2


#: given inputs, outputs, the words that lie before the report, how many that has, and the attributes of ``body``, which
#: becomes a part of it
Around = Callable[[Sequence[Port], Sequence[Port], int, int, str], str]


def _words(outputs: Sequence[Port]) -> int:
    return sum(port.words for port in outputs)


def data_offset() -> int | None:
    """Return where in an array object the address of its data is; ``None`` if that cannot be found out."""
    probe = np.empty(3, np.int8)
    for offset in range(16, 64, 8):
        if ctypes.c_void_p.from_address(id(probe) + offset).value == probe.ctypes.data:
            return offset
    return None


DATA_OFFSET = data_offset()


def shapes_of(members: Members) -> list[Shape]:
    """Return the shapes of a class, with ``Given`` for extents that come with a call."""
    extents = [Given(bound, place) for place, bound in enumerate(members.bounds)]
    return [tuple([n if n >= 0 else extents[-1 - n] for n in shape]) for shape in members.shapes]


def write_function(
    graph: Graph, shapes: Sequence[Shape], features: frozenset[str], known: Mapping[Tensor, Any] | None = None,
    lying: Mapping[int, Shape] = MappingProxyType({}), line_of: Callable[[Node], int] | None = None,
    around: Around | None = None,
) -> Function:  # fmt: skip
    """Return the function for ``graph`` with inputs of the given shapes; ``known``: values for which alone it is.

    ``lying``: which inputs do not lie in C order, and their strides, in elements. ``line_of``: see ``Marks``.
    ``around``: writes another function that is called, and gives ``body`` the addresses of data in place of objects.

    Inputs that are given away are written to, unless the function may refuse values after it has done so: whoever goes
    on then wants them as they were.

    Raises
    ------
    NativeRefusal
        If there is an operation in it that has no machine code.
    """
    write = partial(
        _written, features=features, lying=lying, large=count_nodes(graph) > MOST_NODES, line_of=line_of, around=around
    )
    *tried, sure = forms_of(graph) if known is None else [graph]  # with values known, that is done
    for form in tried:
        made = _placed(form, shapes, known, write)
        if not any(check.loops for check in made.checks):  # what fails in the midst of a loop leaves it there
            return made
    return _placed(sure, shapes, known, write)


def _placed(
    graph: Graph, shapes: Sequence[Shape], known: Mapping[Tensor, Any] | None, write: Callable[..., Function]
) -> Function:
    """Return the function for ``graph`` as it is, see ``write_function``."""
    types = infer(graph, shapes, known)
    placed = {j: k for k, j in graph.donated.items() if _fits(types, graph.inputs[k], graph.outputs[j])}
    made = write(graph, types, placed)
    refusing = refusing_in(made.checks) if placed else []
    if come_first(graph, types, placed, refusing):
        return made
    sizes = [size_of(shapes[k]) * graph.inputs[k].dtype.itemsize for k in placed.values()]
    if max(sizes) >= LARGE and any(map(takes_index, refusing)):
        # to cut slices short where arrays end is slower in loops than to give up there
        try:
            cutting = infer(graph, shapes, known, cuts=True)
            made = write(graph, cutting, placed)
        except NativeRefusal:  # some operation wants to know how many elements there are
            pass
        else:
            if come_first(graph, cutting, placed, refusing_in(made.checks)):
                return made
    return write(graph, types, {})


def _fits(types: Types, given: Tensor, result: Tensor) -> bool:
    """Return whether a result has the form of an input that is an array."""
    form = given.dtype, types.shapes.get(given, ())
    return form[1] != () and result not in types.returned and form == (result.dtype, types.shapes.get(result))


def _written(
    graph: Graph, types: Types, placed: dict[int, int], features: frozenset[str], lying: Mapping[int, Shape],
    large: bool, line_of: Callable[[Node], int] | None, around: Around | None,
) -> Function:  # fmt: skip
    """Return the function with results in the memory of inputs, as ``placed`` says."""
    outputs = tuple([_port(types, t) for t in graph.outputs])
    libraries, module = Libraries(features), Module(partial(helper_text, filed=helper_code))
    ctx = Context(types, libraries, module)
    ctx.writer.marks = Marks(line_of) if line_of is not None else None
    ctx.outlines = False if types.heeds else True if large else None
    variables, assigned = _variables_of(graph)
    arguments = [Port(t.dtype, types.shapes[t], strides=lying.get(k)) for k, t in enumerate(graph.inputs)]
    inputs = (*arguments, *map(_held, variables))
    outputs += tuple([_held(v) for v in assigned])
    with ctx.writer.at(ctx.entry):
        starts = accumulate([port.arguments for port in inputs], initial=0)
        extents = given_extents(ctx, inputs, sum(p.is_array and j not in placed for j, p in enumerate(outputs)))
        data = partial(data_at, ctx, DATA_OFFSET if around is None else None)
        values = [
            input_value(ctx, data, n, port, k in placed.values()) for k, (n, port) in enumerate(zip(starts, inputs))
        ]
        places = output_places(ctx, data, values, sum(port.arguments for port in inputs), outputs, placed)
    ctx.variables.update(zip(variables, values[len(graph.inputs) :]))
    block = open_block(ctx, graph, values)
    targets = {t: Place(p.buffer) for t, p in zip(reversed(graph.outputs), reversed(places)) if p is not None}
    block.targets = spread_targets(graph, dict(targets), block.plan.uses)
    write_nodes(ctx)
    _finish(ctx, [*[value_of(ctx, t) for t in graph.outputs], *[ctx.variables[v] for v in assigned]], places)
    _refuse_giving_up(ctx, assigned)
    words = _HEAD + _words(outputs) + len(ctx.told) + 2 + ctx.report_slots
    return Function(
        _assemble(ctx, inputs, outputs, libraries, around), inputs, outputs, tuple(ctx.table),
        ctx.arena.size + ALIGNMENT, 8 * words, tuple(ctx.checks), libraries.addresses, tuple(variables),
        tuple(assigned), ctx.uses_stacks, ctx.module.declares(SHARE), ctx.uses_stacks and types.swaps(), placed,
        frozenset([j for j, t in enumerate(graph.outputs) if _is_filled(t)]),
        tuple([(node, trip_count(node, types)) for node in ctx.told]), extents,
    )  # fmt: skip


def _refuse_giving_up(ctx: Context, assigned: Sequence[Variable]) -> None:
    """Refuse code that might begin anew after it has drawn random numbers, which would draw others then."""
    if ctx.drawn is None:
        return
    node, before, loops = ctx.drawn
    if assigned:
        refuse(
            node, f"it draws random numbers, and the run begins anew if another changes {assigned[0].name!r} meanwhile"
        )
    for place, check in enumerate(ctx.checks):
        if may_refuse(check) and (place >= before or {*loops} & {*check.loops}):
            where = f" at {check.node.location[-1]}" if check.node.location else ""
            told = f"{check.node.name!r}{where} may be left to plain Python"
            refuse(node, f"it draws random numbers, and behind that {told}: {may_refuse(check)}")


def _variables_of(graph: Graph) -> tuple[list[Variable], list[Variable]]:
    """Return the variables whose value the function must be given, and those it assigns."""
    if not any("variable" in node.attrs for node in nodes_inside(graph)):
        return [], []
    with undivided():
        from .rules.variable_rules import variables_of

    return variables_of(graph)


def _is_filled(tensor: Tensor) -> bool:
    """Return whether a result is, or begins a loop as, what ``ops.filled`` aligns."""
    node = tensor.op
    if node.op is WHILE and tensor.index < node.attrs["n_vars"]:
        node = node.inputs[tensor.index].op
    return bool(node.attrs.get("aligned"))


def _port(types: Types, tensor: Tensor) -> Port:
    """Return the form of an output."""
    if tensor in types.returned:
        element = types.stacks[tensor].root().element
        assert isinstance(element, tuple)
        return Port(tensor.dtype, element[1], grows=True)
    if tensor.dtype == variant:
        found = types.stacks.get(tensor)
        kind = None if found is None else found.root()
        if (
            kind is None
            or kind.kind not in ("stack", "list")
            or kind.spec is None
            or not isinstance(kind.element, tuple)
        ):
            refuse(tensor.node, "a TensorArray is a result of the function; return its stack()")
        return Port(kind.element[0], kind.element[1], True, kind.spec)
    return Port(tensor.dtype, types.shapes[tensor])


def _held(variable: Variable) -> Port:
    """Return the form of a variable's value."""
    if variable.dtype not in TYPES or not variable.shape.is_fully_defined():
        refuse(None, f"variable {variable.name!r} has dtype {variable.dtype} and shape {variable.shape}")
    return Port(variable.dtype, variable.shape.as_tuple())


def _finish(ctx: Context, values: Sequence[Value], places: Sequence[Array | None]) -> None:
    """Put the results where the caller looks for them."""
    writer = ctx.writer
    results = [as_grown(ctx, v) if isinstance(v, Owned) else v for v in map(resolve, values)]
    with ctx.holding(results):
        move_all(ctx, [(v, p) for v, p in zip(results, places) if p is not None])
    slot = 0
    for value, place in zip(results, places):
        if place is not None:
            words = [("i64", ctx.extent(n)) for n in place.shape if is_unsteady((n,))]
        for type_name, text in registers(value) if place is None else words:
            if type_name == "i1":
                type_name, text = "i8", writer.let(f"zext i1 {text} to i8")
            at = writer.let(f"getelementptr i64, ptr %out, i64 {slot}")
            writer.do(f"store {type_name} {text}, ptr {at}, align 8")
            slot += COMPLEX128.words if type_name == COMPLEX128.name else 1
    writer.do("ret i32 0")


def _assemble(
    ctx: Context, inputs: Sequence[Port], outputs: Sequence[Port], libraries: Libraries, around: Around | None
) -> str:
    attributes = libraries.attributes()
    writer = ctx.writer
    with writer.at(writer.lines):
        writer.lines.append(ctx.failures)
    parameters = ", ".join(
        f"ptr noalias %{n}" for n in ("args", "table", "out", "thread", "stacks", "report", "scratch")
    )
    body = f"define internal i32 @body({parameters}) nounwind{attributes} {{\nentry:\n{writer.render()}\n}}\n"
    if around is not None:
        called = around(inputs, outputs, len(ctx.told) + 2, ctx.report_slots, attributes)
        return f"{ctx.module.render()}{body}{called}\n"
    free = "  call void @free_stacks(ptr %stacks, ptr null)\n" if ctx.uses_stacks else ""
    # what is in stacks is still wanted after a failure, to say what failed, and if it is a result
    last = -1 if any(port.grows for port in outputs) else 0
    before = _words(outputs) + len(ctx.told)
    entry = code("entry", BEFORE_THREAD=before, FREE=free, LAST=last, ATTRIBUTES=attributes, name="{name}")
    return f"{ctx.module.render()}{body}{entry}\n"
