"""``cond``, ``case`` and ``switch_case``: nested values over the structured node ``Cond``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, overload

import numpy as np

from .. import ops
from ..base import dtypes, nest
from ..base.callbacks import calls_back
from ..collections.variables import group
from ..ir.argument_types import ArrayLike
from ..ir.composite import composite_of, is_free
from ..ir.convert import as_constant, convert_to_tensor, is_number, to_array
from ..ir.graph import Graph, Node, current_graph
from ..ir.structured import StructureError, check_predicate, finish_cond, subgraph
from ..ir.tensor import Tensor
from .structure_types import R


@overload
def cond(pred: ArrayLike, true_fn: Callable[[], R], false_fn: Callable[[], R], name: str | None = None) -> R: ...
@overload
def cond(
    pred: ArrayLike, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any: ...  # fmt: skip
@calls_back("true_fn", "false_fn")
def cond(
    pred: ArrayLike,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """Return ``true_fn()`` if ``pred`` else ``false_fn()``; only the chosen branch runs.

    Parameters
    ----------
    pred : bool or boolean scalar tensor
        A Python bool, or a value known outside a graph, chooses at once.
    true_fn, false_fn : callable
        Take nothing; give values of the same structure and dtypes. Each is called exactly once when ``pred``
        is computed by a graph.

    Returns
    -------
    structure of Tensor
        Dimensions that differ between the branches are unknown. What an operation (of 1.x: an initializer, ``no_op``,
        ``group``) leaves is the truth value of ``pred``, when the operation has run.

    Raises
    ------
    TypeError
        If a branch is not callable or the branches' structures or dtypes differ.
    ValueError
        If ``pred`` is not a scalar.

    Examples
    --------
    >>> print(al.cond(al.constant(2) < 3, lambda: al.constant(10), lambda: al.constant(20)))
    Tensor(10, shape=(), dtype=int32)
    """
    for what, f in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(f):
            raise TypeError(f"{what} must be callable, got {f!r} [AL101]")
    assert true_fn is not None and false_fn is not None
    if isinstance(pred, bool):
        return true_fn() if pred else false_fn()
    tensor = check_predicate(pred, "pred")
    graph = current_graph() or tensor.graph
    if graph is None:
        return true_fn() if bool(tensor) else false_fn()
    scope = graph.unique_name(name or "cond")
    then, otherwise = (subgraph(graph, f"{scope}/{side}") for side in ("then", "else"))
    with then.as_default():
        a = true_fn()
    with otherwise.as_default():
        b = false_fn()
    # what a branch gives that was made before is no part of the branch: it runs, and the branches wait for it
    operations = [leaf for leaf in nest.flatten((a, b)) if isinstance(leaf, Node)]
    before = [node for node in operations if node.graph is not then and node.graph is not otherwise]
    if operations:
        a, b = _without_operations(then, a, True), _without_operations(otherwise, b, False)
    merge = BranchValues(a, b)
    with then.as_default():
        a_tensors = merge.tensors(0)
    with otherwise.as_default():
        b_tensors = merge.tensors(1)
    with graph.as_default(), graph.control_dependencies(before):
        return merge.pack(finish_cond(graph, scope, tensor, then, a_tensors, otherwise, b_tensors))


def _without_operations(branch: Graph, value: Any, taken: bool) -> Any:
    """Return ``value`` with ``taken`` for each operation in it,
    a constant of ``branch`` that waits for the operation."""

    def stands(leaf: Any) -> Any:
        if not isinstance(leaf, Node):
            return leaf
        with branch.as_default(), branch.control_dependencies([leaf]):
            return as_constant(np.bool_(taken))

    return nest.map_structure(stands, value)


class BranchValues:
    """The values of two branches, brought to common dtypes leaf by leaf.

    Parameters
    ----------
    true_value, false_value
        What the branches gave. Leaves that are ``None`` in both stay ``None``.
    describe : str
        How messages call the pair.

    Raises
    ------
    StructureError
        If the structures differ.
    TypeError
        If a pair of leaves has different dtypes.
    """

    def __init__(self, true_value: Any, false_value: Any, what: str = "true_fn and false_fn") -> None:
        a, self.structure = nest.flatten_with_structure(true_value)
        b, other = nest.flatten_with_structure(false_value)
        if self.structure != other:
            raise StructureError(
                f"{what} must return the same nested structure: {nest.describe(true_value)} and "
                f"{nest.describe(false_value)} [AL110]"
            )
        self.pairs = list(zip(a, b))
        self.what = what
        self.parts: list[Any] = []
        self.then: Graph | None = None

    def tensors(self, side: int) -> list[Tensor]:
        """Return one branch's leaves as tensors, made in the current graph; call for side 0, then side 1."""
        out: list[Tensor] = []
        if not side:
            self.then = current_graph()
        for position, pair in enumerate(self.pairs):
            leaf, other = pair[side], pair[1 - side]
            if leaf is None and other is None:
                if side == 0:
                    self.parts.append(None)
                continue
            if leaf is None or other is None:
                raise TypeError(f"{self.what}: one gives a value, the other None; both must give a value [AL107]")
            composite = composite_of(leaf)
            if composite is not None:
                parts, structure = nest.flatten_with_structure(leaf, True)
                _check_composites(leaf, other, self.what)
            else:
                parts, structure = [_common(leaf, other, self.what)], nest.LEAF
            if side == 0:
                self.parts.append(structure)
            elif composite is not None:
                either = composite.either(other, leaf, is_free(other, self.then), is_free(leaf, current_graph()))
                self.parts[position] = nest.structure_of(either, True)
            out.extend(parts)
        return out

    def pack(self, tensors: Sequence[Tensor]) -> Any:
        """Return the conditional's value made of the node's outputs."""
        leaves: list[Any] = []
        start = 0
        for structure in self.parts:
            if structure is None:
                leaves.append(None)
                continue
            leaves.append(nest.unflatten(structure, tensors[start : start + structure.num_leaves]))
            start += structure.num_leaves
        return nest.unflatten(self.structure, leaves)


def _check_composites(leaf: Any, other: Any, what: str) -> None:
    """Raise unless two branches give composites of one type, one number of parts and one dtype."""
    mine, theirs = nest.structure_of(leaf, True), nest.structure_of(other, True)
    if mine.type is not theirs.type or mine.num_leaves != theirs.num_leaves:
        raise StructureError(
            f"{what} must return the same types: {nest.describe_composite(mine)} and {nest.describe_composite(theirs)}"
            " [AL110]"
        )
    one, another = getattr(leaf, "dtype", None), getattr(other, "dtype", None)
    if one != another:
        raise TypeError(
            f"{what} must return the same dtypes, they return {type(leaf).__name__}s of {one} and {another} [AL111]"
        )


def _dtype_of(leaf: Any) -> Any:
    """Return the dtype of a leaf that has one by itself; ``None`` for Python numbers, which take the other's."""
    dtype = getattr(leaf, "dtype", None)
    return None if dtype is None else dtypes.as_dtype(dtype)


def _common(leaf: Any, other: Any, what: str) -> Tensor:
    """Return ``leaf`` as a tensor of the dtype that both leaves can have."""
    theirs = _dtype_of(other)
    number, beside = (is_number(v) for v in (leaf, other))
    if number and theirs is not None and dtypes.takes(theirs, leaf):
        return _converted(leaf, what, theirs)
    tensor = _converted(leaf, what)
    if number and beside:
        common = dtypes.DEFAULTS[type(max(leaf, other, key=lambda v: "bifc".index(_kind(v))))]
        if not isinstance(leaf, bool) and not isinstance(other, bool) and tensor.dtype != common:
            return _converted(leaf, what, common)
        theirs = dtypes.DEFAULTS.get(type(other))
    if theirs is None and beside and dtypes.takes(tensor.dtype, other):
        theirs = tensor.dtype
    theirs = theirs or _converted(other, what).dtype
    if tensor.dtype != theirs:
        raise TypeError(
            f"{what} must return the same dtypes, they return {tensor.dtype} and {theirs}; "
            f"cast one of them, e.g. cast(x, {theirs}) [AL111]"
        )
    return tensor


def _converted(value: Any, what: str, dtype: dtypes.DType | None = None) -> Tensor:
    try:
        return convert_to_tensor(value) if dtype is None else as_constant(to_array(value, dtype))
    except (TypeError, OverflowError) as error:
        raise type(error)(f"{what}: {error}") from None


def _kind(number: Any) -> str:
    return dtypes.DEFAULTS[next(t for t in (bool, int, float, complex) if isinstance(number, t))].kind


@overload
def switch_case(
    branch_index: ArrayLike,
    branch_fns: Sequence[Callable[[], R]] | Mapping[int, Callable[[], R]] | Sequence[tuple[int, Callable[[], R]]],
    default: Callable[[], R] | None = None, name: str | None = None,
) -> R: ...  # fmt: skip
@overload
def switch_case(
    branch_index: ArrayLike, branch_fns: Any, default: Callable[[], Any] | None = None, name: str | None = None
) -> Any: ...
@calls_back("branch_fns", "default")
def switch_case(
    branch_index: ArrayLike, branch_fns: Any, default: Callable[[], Any] | None = None, name: str | None = None
) -> Any:
    """Call the branch that ``branch_index`` selects.

    Parameters
    ----------
    branch_index : int or integer scalar tensor
    branch_fns : sequence of callables, or of ``(int, callable)`` pairs, or dict of int to callable
        Numbered from 0 on, without a gap (``ValueError`` otherwise).
    default : callable, optional
        For an index without a branch; by default the branch with the largest index.

    Returns
    -------
    structure of Tensor
        See ``cond``.

    Examples
    --------
    >>> print(al.switch_case(al.constant(1), [lambda: al.constant(10), lambda: al.constant(20)]))
    Tensor(20, shape=(), dtype=int32)
    """
    table = _branch_table(branch_fns)
    if default is not None and not callable(default):
        raise TypeError(f"default must be callable, got {default!r} [AL101]")
    fallback = default or table[max(table)]
    if isinstance(branch_index, int) and not isinstance(branch_index, bool):
        return table.get(branch_index, fallback)()
    index = _converted(branch_index, "branch_index must be an integer scalar")
    if index.dtype.kind not in "iu":
        raise TypeError(f"branch_index must be an integer scalar, got dtype {index.dtype} [AL112]")
    if index.shape.rank not in (0, None):
        raise ValueError(f"branch_index must be an integer scalar, got shape {index.shape} [AL112]")

    rest = sorted(table)
    if default is None:
        rest.remove(max(table))

    def choose(position: int) -> Any:
        if position == len(rest):
            return fallback()
        key = rest[position]
        return cond(ops.equal(index, key), table[key], lambda: choose(position + 1), name)

    return choose(0)


def _branch_table(branch_fns: Any) -> dict[int, Callable[[], Any]]:
    if isinstance(branch_fns, dict):
        pairs = list(branch_fns.items())
    else:
        if not isinstance(branch_fns, (list, tuple)):
            raise TypeError(f"branch_fns must be a list of callables or pairs, or a dict, got {branch_fns!r} [AL112]")
        entries = list(branch_fns)
        pairs = entries if all(isinstance(e, tuple) and len(e) == 2 for e in entries) else list(enumerate(entries))
    if not pairs:
        raise ValueError("branch_fns is empty: switch_case needs at least one branch [AL112]")
    for key, f in pairs:
        if not callable(f):
            raise TypeError(f"branch {key} must be callable, got {f!r} [AL101]")
        if isinstance(key, bool) or not isinstance(key, int):
            raise TypeError(f"a branch is selected by an int, got {key!r} [AL112]")
    keys = sorted(key for key, _ in pairs)
    if keys != list(range(len(keys))):
        raise ValueError(
            f"the branches must be numbered 0 to {len(keys) - 1}, each once; they have the numbers {keys} [AL112]"
        )
    return dict(pairs)


@overload
def case(
    pred_fn_pairs: Sequence[tuple[ArrayLike, Callable[[], R]]], default: Callable[[], R] | None = None,
    exclusive: bool = False, strict: bool = False, name: str | None = None,
) -> R: ...  # fmt: skip
@overload
def case(
    pred_fn_pairs: Any, default: Callable[[], Any] | None = None, exclusive: bool = False,
    strict: bool = False, name: str | None = None,
) -> Any: ...  # fmt: skip
@calls_back("pred_fn_pairs", "default")
def case(
    pred_fn_pairs: Any, default: Callable[[], Any] | None = None, exclusive: bool = False,
    strict: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the value of the first pair whose predicate is true.

    Parameters
    ----------
    pred_fn_pairs : sequence of (pred, callable)
    default : callable, optional
        For no true predicate, which without it is an error (``AssertionError`` at run time).
    exclusive : bool
        Check that at most one predicate is true (``AssertionError`` otherwise).

    Returns
    -------
    structure of Tensor

    Examples
    --------
    >>> print(al.case([(al.constant(False), lambda: al.constant(1))], default=lambda: al.constant(2)))
    Tensor(2, shape=(), dtype=int32)
    """
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not callable(pair[1]):
            raise TypeError(f"pred_fn_pairs must hold pairs of a predicate and a callable, got {pair!r} [AL112]")
    if default is not None and not callable(default):
        raise TypeError(f"default must be callable, got {default!r} [AL101]")
    if not pairs:
        raise ValueError("pred_fn_pairs is empty: case needs at least one pair [AL112]")
    preds = [check_predicate(pred, "pred") for pred, _ in pairs]

    def choose(position: int) -> Any:
        if position == len(pairs) and default is not None:
            return default()
        pred, f = pairs[position]
        if position == len(pairs) - 1 and default is None:
            return _if_asserted(preds[-1], "case: no predicate is true, and there is no default", f)
        return cond(pred, f, lambda: choose(position + 1), name)

    with _place_of(preds):
        if not exclusive:
            return choose(0)
        count = ops.sum(ops.stack([ops.cast(p, dtypes.int32) for p in preds]))
        at_most_one = ops.less_equal(count, 1)
        return _if_asserted(at_most_one, "case(exclusive=True): more than one predicate is true", lambda: choose(0))


def _place_of(tensors: Sequence[Tensor]) -> AbstractContextManager[Any]:
    """Return the graph of ``tensors`` as the default one, if there is none."""
    owner = next((t.graph for t in tensors if t.graph is not None), None)
    return nullcontext() if current_graph() is not None or owner is None else owner.as_default()


def _if_asserted(condition: Tensor, message: str, build: Callable[[], Any]) -> Any:
    """Return the value of ``build()``, of which nothing is computed unless ``condition`` holds."""
    check = ops.Assert(condition, [message])
    graph = current_graph()
    if graph is None or graph.ordered:
        return build()
    assert check is not None
    with graph.control_dependencies([check]):
        leaves, structure = nest.flatten_with_structure(build(), expand_composites=True)
        # what build only passes on was made before, and does not wait
        return nest.unflatten(structure, [leaf if leaf is None else _again(leaf) for leaf in leaves])


def _again(leaf: Any) -> Any:
    """Return ``leaf`` made once more, later."""
    return group(leaf) if isinstance(leaf, Node) else ops.identity(leaf)
