"""A chain as Python: a function with one line for each of its nodes, over one block, and a call of it over all blocks.

It is loaded with the loop over blocks by the first chain that is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.uses import Readers
from ..base.dataclass import dataclass
from ..base.dtypes import DType, dtype_name
from ..ir.graph import Node
from ..ir.tensor import Tensor
from . import names
from .block_chains import Chain
from .block_loop import Between, in_blocks
from .lines import Line
from .node_expressions import Expressions
from .scope import Scope
from .shared_output import Output
from .templates import Expr, local


@dataclass(frozen=True)
class _BlockFunction:
    """A chain as a function.

    Attributes
    ----------
    lines : list of Line
        Its definition.
    name : str
    scalars : list of Expr
        What to hand over for its scalar parameters.
    between : list of dtype
        Of the blocks it needs for what is neither read nor given.
    """

    lines: list[Line]
    name: str
    scalars: list[Expr]
    between: list[DType]


def write_chain(out: Output, chain: Chain, position: int, scope: Scope) -> None:
    """Write a function over one block, and a call of it over all of them."""
    function = _block_function(chain, out.names, out.expressions, scope.env)
    out.functions.append(function.lines)
    arrays = [scope.env[t] for t in chain.arrays]
    results = [_place_of(out, t, scope) for t in chain.results]
    between, made = out.names.new_local("between"), ", ".join(map(dtype_name, function.between))
    maker = out.expressions.known(("between",), "Between", Between, "blocks for the values between others")
    out.prologue.append(Line(f"{between} = {maker}({made})", 1))
    call = _call_of(function, chain, out.expressions, arrays, results, between)
    out.lines.assign([_target(out, t, position, scope) for t in chain.results], call)


def _place_of(out: Output, tensor: Tensor, scope: Scope) -> Expr:
    """Return the array that a result goes into."""
    owned = out.decided.owned
    if tensor in owned.over:
        return scope.env[owned.over[tensor]]
    if tensor.op in owned.reusing:
        return out.reused(tensor)
    return out.expressions.empty(tensor.shape.as_tuple(), tensor.dtype)


def _target(out: Output, tensor: Tensor, position: int, scope: Scope) -> str:
    """Return the variable for a result: that of the array it was put into if it was put into one that is read."""
    over = out.decided.owned.over.get(tensor)
    if over is None:
        return out.target(tensor.op, tensor, position, scope) or "_"
    held = scope.env[over]
    assert held.name is not None
    scope.env[tensor] = held
    if held.name in scope.owner:
        scope.owner[held.name] = tensor
    return held.name


def _block_function(
    chain: Chain, pool: names.Names, expressions: Expressions, values: Mapping[Tensor, Expr]
) -> _BlockFunction:
    """Return the function of ``chain``; ``values``: what its scalars are where it is called."""
    name = pool.new_global("chain")
    env: dict[Tensor, Expr] = {t: values[t] for t in chain.scalars if not values[t].reads and values[t].name}
    passed = [t for t in chain.scalars if t not in env]
    given = [(t, pool.new_local(names.of_node(t.op.name))) for t in (*chain.arrays, *passed)]
    results = [(t, pool.new_local(f"{names.of_node(t.op.name)}_out")) for t in chain.results]
    env.update((t, local(word)) for t, word in given)
    between = _Between(pool, chain)
    out = dict(results)
    lines = []
    for node in chain.nodes:
        result = node.outputs[0]
        place = local(out[result]) if result in out else between.place(node, env)
        lines.append(Line((expressions.into(node, env, place),), 1, (), node))
        env[result] = place
    parameters = [word for _, word in (*given, *results)] + [word for word, _ in between.made]
    pool.release(set(parameters))
    head = Line(f"def {name}({', '.join(parameters)}):")
    return _BlockFunction([head, *lines], name, [values[t] for t in passed], [dtype for _, dtype in between.made])


class _Between:
    """Gives the intermediate values of a chain places; one that is read for the last time makes room."""

    def __init__(self, pool: names.Names, chain: Chain) -> None:
        self.pool = pool
        self.made: list[tuple[str, DType]] = []
        self.free: list[tuple[str, DType]] = []
        self.mine = {node.outputs[0] for node in chain.nodes} - set(chain.results)
        self.reading = Readers(chain.nodes)

    def place(self, node: Node, env: Mapping[Tensor, Expr]) -> Expr:
        """Return where the result of ``node`` goes: over an operand that it is the last to read, if it can."""
        self._release(node, env)
        dtype = node.outputs[0].dtype
        found = next((slot for slot in self.free if slot[1] == dtype), None)
        if found is None:
            found = (self.pool.new_local("between"), dtype)
            self.made.append(found)
        else:
            self.free.remove(found)
        return local(found[0])

    def _release(self, node: Node, env: Mapping[Tensor, Expr]) -> None:
        for tensor in dict.fromkeys(node.inputs):
            name = env[tensor].name
            if tensor in self.mine and self.reading.last(tensor) == self.reading.place[node] and name is not None:
                self.free.append((name, tensor.dtype))


def _call_of(
    function: _BlockFunction, chain: Chain, expressions: Expressions, arrays: Sequence[Expr], results: Sequence[Expr],
    between: str,
) -> Expr:  # fmt: skip
    """Return the expression that runs ``function`` over all blocks and gives the results; ``between``:
    see ``in_blocks``."""
    caller = expressions.known(("in_blocks",), "in_blocks", in_blocks, "calls a function for each block, on threads")
    parts: list[str | Expr] = [caller, "(", function.name]
    for group in (arrays, function.scalars, results):
        parts += [", (", *(piece for item in group for piece in (item, ", ")), ")"]
    return Expr.make(_tidy([*parts, ", ", between, ")"]), 16, chain.nodes[-1], [*arrays, *function.scalars, *results])


def _tidy(parts: list[str | Expr]) -> list[str | Expr]:
    """Return ``(a, b, )`` without its last comma, ``(a, )`` without its space."""
    out: list[str | Expr] = []
    count = 0
    for index, part in enumerate(parts):
        if part == ", (":
            count = 0
        elif isinstance(part, Expr):
            count += 1
        if part == ", " and parts[index + 1] == ")":
            out += [","] if count == 1 else []
            continue
        out.append(part)
    return out
