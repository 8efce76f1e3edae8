"""Tables of gradients that grow: as many elements as were asked for so far, zeros where nothing was added.

They are ``Owned`` stacks. A table may hold tables: the addresses of their words, null for one to which nothing was
added. What is done to all elements of a table is then a function that calls the one for the tables inside.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...collections import adjoint_table as table_ops
from ...collections import tensor_array_vjps as array_vjp_ops
from ...ir.graph import Node
from ..ir.elements import INT64, POINTER, LType, literal
from ..kernels.ll_files import code
from ..kernels.stack_code import FIRST, HEAD
from ..typing.facts import StackType
from ..writer.context import Context
from ..writer.copy_on_write import COPIES, as_owned, changeable, copied, held, is_alone
from ..writer.memory import loaded, put, seen
from ..writer.nests import Nest
from ..writer.node_writer import array_of
from ..writer.registry import growing_rule, rule
from ..writer.values import Array, Buffer, Owned, Scalar, Value, dense, size_of
from .filling_rules import know_extents
from .saved_values import define_stacks, element_at, element_size, grows_here, index_of, with_memory
from .scatter import add_to
from .tensor_array_rules import row_at

#: the sum of the tables %a, which is changed, and %b, which is not
_INNER = """  %empty = icmp eq ptr %a, null
  br i1 %empty, label %take, label %both
take:
  %copy = call ptr @{copy}(ptr %list, ptr %b)
  br label %met
both:
  %merged = call ptr @{merge}(ptr %list, ptr %a, ptr %b)
  br label %met
met:
  %sum = phi ptr [ %copy, %take ], [ %merged, %both ]
  %a_none = icmp eq ptr %a, null
  %b_none = icmp eq ptr %b, null
  %nothing = and i1 %a_none, %b_none
  %sum_none = icmp eq ptr %sum, null
  %sound = icmp eq i1 %nothing, %sum_none
  br i1 %sound, label %put, label %fail
put:"""


def _define(ctx: Context) -> None:
    define_stacks(ctx)
    ctx.module.define("tables", lambda: code("tables", FIRST=FIRST, HEAD_BYTES=8 * HEAD))


def _inner(stack_type: StackType) -> StackType | None:
    element = stack_type.root().element
    return element.root() if isinstance(element, StackType) else None


def _copier(ctx: Context, stack_type: StackType) -> str:
    """Return the function that copies such tables."""
    _define(ctx)
    size, inner = element_size(stack_type), _inner(stack_type)
    below = _copier(ctx, inner) if inner is not None else ""
    name = f"{below}_in_table" if inner is not None else f"copy_table_{size}"
    call = f"call ptr @{below}(ptr %list, ptr %old)" if inner is not None else "select i1 true, ptr %old, ptr null"
    nested = "true" if inner is not None else "false"
    ctx.module.define(name, lambda: code("table_copy", name=name, size=size, inner=call, nested=nested))
    return name


def _merger(ctx: Context, stack_type: StackType) -> str:
    """Return the function that adds one such table to another."""
    _define(ctx)
    size, inner = element_size(stack_type), _inner(stack_type)
    if inner is not None:
        below = _merger(ctx, inner)
        name, memory, elements = f"{below}_in_table", "ptr", 1
        add = _INNER.format(copy=_copier(ctx, inner), merge=below)
    else:
        t = _element_type(ctx, stack_type)
        name, memory, elements = f"merge_table_{t.name}_{size}", t.name, max(1, size // t.size)
        add = f"  %sum = {'fadd' if t.kind == 'f' else 'add'} {t.name} %a, %b"
    text = code("table_merge", name=name, size=size, elements=elements, memory=memory, add=add)
    ctx.module.define(name, lambda: text)
    return name


def _element_type(ctx: Context, stack_type: StackType) -> LType:
    element = stack_type.root().element
    return ctx.element_type(element[0]) if isinstance(element, tuple) else INT64


def _copy(ctx: Context, stack_type: StackType, pointer: str) -> str:
    return ctx.writer.let(f"call ptr @{_copier(ctx, stack_type)}(ptr %stacks, ptr {pointer})")


COPIES["table"] = _copy


def _reached(ctx: Context, node: Node, stack_type: StackType, table: Owned, length: str) -> Owned:
    """Return ``table`` with at least so many elements."""
    _define(ctx)
    arguments = f"ptr %stacks, ptr {table.pointer}, i64 {length}, i64 {element_size(stack_type)}"
    return held(with_memory(ctx, node, f"call ptr @table_reach({arguments})"))


def _entry(ctx: Context, stack_type: StackType, pointer: str, position: str) -> str:
    """Return the address of the element at ``position``, null if there is none."""
    _define(ctx)
    return ctx.writer.let(f"call ptr @table_entry(ptr {pointer}, i64 {position}, i64 {element_size(stack_type)})")


def _changed_at(ctx: Context, node: Node, stack_type: StackType, values: list[Value]) -> tuple[Owned, str, str]:
    """Return the table that a node may change, the position that it is given, and the address of what is there."""
    table, position = changeable(ctx, node, node.outputs[0], values[0]), index_of(ctx, values[1])
    return table, position, _entry(ctx, stack_type, table.pointer, position)


def _read(ctx: Context, stack_type: StackType, table: Owned, first: str, count: str, out: Array) -> None:
    """Copy ``count`` elements from ``first`` on into ``out``, zeros where there are none."""
    _define(ctx)
    extents = f"i64 {first}, i64 {count}, ptr {out.pointer}, i64 {element_size(stack_type)}"
    ctx.writer.do(f"call void @table_read(ptr {table.pointer}, {extents})")


def _summed(ctx: Context, node: Node, stack_type: StackType, into: str, other: str) -> str:
    """Return the table at ``into`` with the one at ``other`` added."""
    writer = ctx.writer
    pointer = writer.let(f"call ptr @{_merger(ctx, stack_type)}(ptr %stacks, ptr {into}, ptr {other})")
    nothing = writer.let(f"icmp eq ptr {other}, null")
    made = writer.let(f"icmp ne ptr {pointer}, null")
    ctx.check(writer.let(f"or i1 {nothing}, {made}"), node, [], out_of_memory=True)
    return pointer


# -- rules --------------------------------------------------------------------------------------------------


@growing_rule(table_ops.FROM_ROWS)
def _unstack(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    items, stack_type = array_of(ctx, values[0]), ctx.types.stacks[node.outputs[0]]
    if 0 in items.shape[:1]:
        return [held("null")]
    table = _reached(ctx, node, stack_type, held("null"), ctx.extent(items.shape[0]))
    data = ctx.writer.let(f"load ptr, ptr {table.pointer}")
    size = size_of(items.shape) * items.t.size
    put(ctx, items, Array(data, items.t, items.shape, dense(items.shape), Buffer(data, size)))
    return [table]


@growing_rule(table_ops.ADD)
def _add(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    writer, stack_type = ctx.writer, ctx.types.stacks[node.outputs[0]]
    table, position = changeable(ctx, node, node.outputs[0], values[0]), index_of(ctx, values[1])
    table = _reached(ctx, node, stack_type, table, writer.let(f"add i64 {position}, 1"))
    place, inner = _entry(ctx, stack_type, table.pointer, position), _inner(stack_type)
    if inner is None:
        element = element_at(ctx, place, stack_type)
        assert isinstance(element, Array)
        add_to(ctx, element, values[2])
        return [table]
    part = as_owned(values[2])
    old = writer.let(f"load ptr, ptr {place}")
    fresh, more, done = writer.label("fresh"), writer.label("more"), writer.label("put")
    writer.branch(writer.let(f"icmp eq ptr {old}, null"), fresh, more)
    writer.start(fresh)
    mine = part if is_alone(ctx, part) else copied(ctx, node, inner, part.pointer)
    writer.do(f"store ptr {mine.pointer}, ptr {place}")
    writer.jump(done)
    writer.start(more)
    writer.do(f"store ptr {_summed(ctx, node, inner, old, part.pointer)}, ptr {place}")
    writer.jump(done)
    writer.start(done)
    return [table]


@growing_rule(table_ops.GET)
def _get(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    stack_type, tensor, writer = ctx.types.stacks[node.inputs[0]], node.outputs[0], ctx.writer
    table, position = as_owned(values[0]), index_of(ctx, values[1])
    inner = _inner(stack_type)
    if inner is None and ctx.shape_of(tensor) != ():
        out = ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
        _read(ctx, stack_type, table, position, "1", out)
        return [out]
    t = POINTER if inner is not None else ctx.type_of(tensor)
    place = _entry(ctx, stack_type, table.pointer, position)
    before = writer.block
    with writer.unless_null(place, "there", "read"):
        found = loaded(ctx, Array(place, t, (), (), Buffer(place, t.size)))
        after = writer.block
    phi = writer.phi(t.name)
    phi.add("null" if inner is not None else literal(0, t), before)
    phi.add(found.text, after)
    if inner is None:
        return [Scalar(phi.name, t)]
    if grows_here(ctx, node.graph, stack_type):
        return [copied(ctx, node, inner, phi.name)]  # the table may change while this is looked at
    return [Owned(phi.name, Buffer(phi.name, 0, None, (table.buffer,)))]


@growing_rule(table_ops.WITHOUT)
def _without(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    writer, stack_type = ctx.writer, ctx.types.stacks[node.outputs[0]]
    table, _, place = _changed_at(ctx, node, stack_type, values)
    with writer.unless_null(place, "there", "gone"):
        writer.do(f"call void @llvm.memset.p0.i64(ptr {place}, i8 0, i64 {element_size(stack_type)}, i1 false)")
    return [table]


@rule(table_ops.OPENED, complexes=True)
def _opened(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    writer, stack_type = ctx.writer, ctx.types.stacks[node.outputs[0]]
    table, position, place = _changed_at(ctx, node, stack_type, values)
    with writer.unless_null(place, "behind", "opened"):
        length = writer.let(f"load i64, ptr {writer.let(f'getelementptr i64, ptr {table.pointer}, i64 1')}")
        _reached(ctx, node, stack_type, table, writer.let(f"add i64 {length}, 1"))  # its words stay where they are
        writer.do(f"call void @table_open(ptr {table.pointer}, i64 {position}, i64 {element_size(stack_type)})")
    return [table]


@rule(table_ops.CLOSED, complexes=True)
def _closed(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    writer, stack_type = ctx.writer, ctx.types.stacks[node.outputs[0]]
    table, position, place = _changed_at(ctx, node, stack_type, values)
    with writer.unless_null(place, "there", "closed"):
        writer.do(f"call void @table_close(ptr {table.pointer}, i64 {position}, i64 {element_size(stack_type)})")
    return [table]


@growing_rule(table_ops.MERGE)
def _merge(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    stack_type, tensor = ctx.types.stacks[node.outputs[0]], node.outputs[0]
    table, other = changeable(ctx, node, tensor, values[0]), as_owned(values[1])
    return [held(_summed(ctx, node, stack_type, table.pointer, other.pointer))]


@growing_rule(table_ops.ROWS)
def _stacked(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    stack_type, tensor = ctx.types.stacks[node.inputs[0]], node.outputs[0]
    know_extents(ctx, node, values, ctx.shape_of(tensor))
    out = ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
    if 0 not in out.shape:
        _read(ctx, stack_type, as_owned(values[0]), "0", ctx.extent(out.shape[0]), out)
    return [out]


@growing_rule(array_vjp_ops.GATHER)
def _gather(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    stack_type, tensor = ctx.types.stacks[node.inputs[0]], node.outputs[0]
    indices, out = array_of(ctx, values[1]), ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
    table = as_owned(values[0])
    if 0 not in out.shape:
        nest = Nest(ctx, indices.shape, [indices])
        with nest.each() as k:
            at = index_of(ctx, Scalar(nest.element(indices), indices.t))
            _read(ctx, stack_type, table, at, "1", row_at(ctx, out, k))
    return [seen(ctx, out)]


@growing_rule(array_vjp_ops.SCATTER)
def _scatter(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    indices, items, stack_type = (
        array_of(ctx, values[0]),
        array_of(ctx, values[1]),
        ctx.types.stacks[node.outputs[0]],
    )
    table = _reached(ctx, node, stack_type, held("null"), "0")
    if 0 not in indices.shape:
        nest = Nest(ctx, indices.shape, [indices])
        with nest.each() as k:
            at = index_of(ctx, Scalar(nest.element(indices), indices.t))
            # its words stay where they are
            _reached(ctx, node, stack_type, table, ctx.writer.let(f"add i64 {at}, 1"))
            place = element_at(ctx, _entry(ctx, stack_type, table.pointer, at), stack_type)
            assert isinstance(place, Array)
            add_to(ctx, place, seen(ctx, row_at(ctx, items, k)))
    return [table]
