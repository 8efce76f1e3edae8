"""``while_loop``, ``cond``, ``case`` and ``switch_case``: nested values over the structured nodes.

The semantics are those of the reference documents on ``tf.while_loop``: ``cond`` and ``body`` are called
exactly once, shape invariants are enforced, iterations are not strict. Outside a graph the loop is traced and run at
once through the same nodes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from . import dtypes, nest
from .execution import run_now
from .graph import Graph, as_constant, convert_to_tensor, current_graph, to_array
from .registry import call
from .shapes import TensorShape
from .structured import (
    LoopOptions,
    LoopVar,
    StructureError,
    body_and_cond,
    check_initial,
    check_maximum,
    check_predicate,
    check_result,
    finish_cond,
    finish_while,
    subgraph,
)
from .tensor import Tensor, TensorSpec


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Repeat ``body`` while ``cond`` is true.

    Parameters
    ----------
    cond : callable
        Takes as many arguments as there are loop variables; gives a boolean scalar.
    body : callable
        Takes the same arguments; gives their next values, in the structure of ``loop_vars``.
    loop_vars : (nested) tuple, list or named tuple
        Tensors, arrays, Python numbers, TensorArrays: the values on entry.
    shape_invariants : structure of TensorShape, optional
        The shape that each variable keeps; by default its shape on entry. ``"auto"`` relaxes the shapes that
        the body changes. A dict ``{name: shape}`` relaxes the variables it names.
    parallel_iterations : int
        How many iterations may be alive at once.
    back_prop : bool
        False: no gradient flows through the loop (as ``stop_gradient`` on the results).
    swap_memory : bool
        Keep what the gradient needs in a memory-mapped file when it is large.
    maximum_iterations : int or scalar integer tensor, optional
        AND-ed into the condition.
    name : str, optional
        Prefix of the nodes' names.

    Returns
    -------
    structure of Tensor
        The values after the loop, in the structure of ``loop_vars``; static shapes are the invariants.

    Raises
    ------
    TypeError
        If ``cond`` or ``body`` is not callable, or a variable changes its dtype or structure.
    ValueError
        If ``loop_vars`` is empty, a shape breaks its invariant, or ``parallel_iterations`` is below 1.

    Notes
    -----
    Semantics: the reference page of ``tf.while_loop``. ``cond`` and ``body`` are called exactly once.
    """
    for what, f in (("cond", cond), ("body", body)):
        if not callable(f):
            raise TypeError(f"{what} must be callable, got {f!r} of type {type(f).__name__}")
    options = LoopOptions(
        10 if parallel_iterations is None else parallel_iterations,
        check_maximum(maximum_iterations), back_prop, swap_memory,
    )  # fmt: skip
    if current_graph() is None:
        owner = next((t.graph for t in nest.flatten(loop_vars, True) if isinstance(t, Tensor) and t.node), None)
        if owner is None:
            return run_now(lambda: _build(cond, body, loop_vars, shape_invariants, options, name))
        with owner.as_default():
            return _build(cond, body, loop_vars, shape_invariants, options, name)
    return _build(cond, body, loop_vars, shape_invariants, options, name)


def _build(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any,
    options: LoopOptions, name: str | None,
) -> Any:  # fmt: skip
    graph = current_graph()
    assert graph is not None
    form = _Form(loop_vars, body)
    if isinstance(shape_invariants, str):
        if shape_invariants != "auto":
            raise ValueError(f"shape_invariants is a structure of shapes or 'auto', not {shape_invariants!r}")
        variables = _relaxed(graph, form, body)
    else:
        variables = form.variables(shape_invariants)
    for variable in variables:
        check_initial(variable)
    scope = graph.unique_name(name or "while")
    cond_graph, body_graph = body_and_cond(graph, scope, variables)
    with cond_graph.as_default():
        pred = check_predicate(cond(*form.pack(cond_graph.inputs)), "cond")
    with body_graph.as_default():
        value = body(*form.pack(body_graph.inputs))
        results, structures = form.results(value)
        results = [check_result(v, r) for v, r in zip(variables, results)]
    outputs = finish_while(graph, scope, variables, cond_graph, pred, body_graph, results, options)
    return form.final(outputs, structures)


class _Form:
    """How nested loop variables map to a flat list of tensors and back."""

    def __init__(self, loop_vars: Any, body: Callable[..., Any]) -> None:
        self.loop_vars = loop_vars
        self.is_sequence = isinstance(loop_vars, (list, tuple))
        if (self.is_sequence and not loop_vars) or loop_vars is None:
            raise ValueError("loop_vars is empty: a while_loop needs at least one loop variable")
        args = list(loop_vars) if self.is_sequence else [loop_vars]
        names = _argument_names(body, len(args))
        self.arg_structures = []
        self.leaf_structures = []  # one per plain leaf: a tensor, or the parts of a composite
        self.leaf_names: list[str] = []
        self.names: list[str] = []  # one per tensor
        self.composites: list[str] = []  # one per tensor, see ``LoopVar``
        self.tensors: list[Tensor] = []
        self.leaves: list[Any] = []
        for name, arg in zip(names, args):
            leaves, structure = nest.flatten_with_structure(arg)
            self.arg_structures.append(structure)
            for path, leaf in zip(structure.paths(), leaves):
                leaf_name = name + "".join(f"[{p!r}]" for p in path)
                parts, part_structure = nest.flatten_with_structure(_as_leaf(leaf, leaf_name), True)
                self.leaves.append(leaf)
                self.leaf_structures.append(part_structure)
                self.leaf_names.append(leaf_name)
                self.tensors.extend(parts)
                components = getattr(leaf, "__autoloop_components__", None)
                self.names.extend([leaf_name] if components is None else [f"{leaf_name}.{c}" for c in components])
                self.composites.extend([getattr(leaf, "__autoloop_rule__", "")] * len(parts))

    def variables(self, shape_invariants: Any) -> list[LoopVar]:
        """The declarations, with explicit or default invariants."""
        shapes = self._invariants(shape_invariants)
        return [LoopVar(*parts) for parts in zip(self.names, self.tensors, shapes, self.composites)]

    def _invariants(self, given: Any) -> list[TensorShape]:
        defaults = [self._default(leaf) for leaf in self._tensor_leaves()]
        if given is None:
            return [s for group in defaults for s in group]
        if isinstance(given, dict) and not isinstance(self.loop_vars, dict):
            return self._named_invariants(given, defaults)
        groups: list[list[TensorShape]] = []
        top = list(given) if self.is_sequence and isinstance(given, (list, tuple)) else [given]
        if len(top) != len(self.arg_structures):
            raise StructureError(
                f"shape_invariants has {len(top)} elements, loop_vars has {len(self.arg_structures)}: they must "
                f"have the same nested structure"
            )
        leaves = iter(self._tensor_leaves())
        for structure, invariant in zip(self.arg_structures, top):
            for shape in _up_to(structure, invariant):
                groups.append(_component_invariants(next(leaves), shape))
        return [s for group in groups for s in group]

    def _named_invariants(self, given: dict[str, Any], defaults: list[list[TensorShape]]) -> list[TensorShape]:
        unknown = [n for n in given if n not in self.leaf_names]
        if unknown:
            raise ValueError(f"shape_invariants names {unknown}, the loop variables are {self.leaf_names}")
        groups = []
        for leaf_name, leaf, default in zip(self.leaf_names, self._tensor_leaves(), defaults):
            groups.append(_component_invariants(leaf, given[leaf_name]) if leaf_name in given else default)
        return [s for group in groups for s in group]

    def _tensor_leaves(self) -> list[Any]:
        """The plain leaves, numbers and arrays replaced by their tensors."""
        out, start = [], 0
        for structure in self.leaf_structures:
            out.append(nest.unflatten(structure, self.tensors[start : start + structure.num_leaves]))
            start += structure.num_leaves
        return out

    @staticmethod
    def _default(leaf: Any) -> list[TensorShape]:
        return _component_invariants(leaf, None)

    def pack(self, tensors: Sequence[Tensor], structures: Sequence[Any] | None = None) -> list[Any]:
        """The arguments of ``cond`` and ``body`` made of one tensor per flat variable."""
        leaves, start = [], 0
        for structure in structures or self.leaf_structures:
            leaves.append(nest.unflatten(structure, tensors[start : start + structure.num_leaves]))
            start += structure.num_leaves
        args, start = [], 0
        for arg in self.arg_structures:
            args.append(nest.unflatten(arg, leaves[start : start + arg.num_leaves]))
            start += arg.num_leaves
        return args

    def results(self, value: Any) -> tuple[list[Tensor], list[Any]]:
        """The body's value as flat tensors, and the structure of each composite leaf."""
        args = self._result_args(value)
        tensors: list[Tensor] = []
        structures = []
        position = 0
        for structure, arg in zip(self.arg_structures, args):
            leaves, found = nest.flatten_with_structure(arg)
            if found != structure:
                self._refuse(nest.unflatten(structure, [0] * structure.num_leaves), arg)
            for leaf in leaves:
                expected = self.leaf_structures[position]
                name = self.leaf_names[position]
                init = self.tensors[len(tensors)]
                parts, parts_structure = nest.flatten_with_structure(_next_leaf(leaf, init, name), True)
                if parts_structure.type is not expected.type or len(parts) != expected.num_leaves:
                    raise StructureError(
                        f"loop variable {name!r} is a {_composite(expected)} on entry and a "
                        f"{_composite(parts_structure)} after one iteration"
                    )
                tensors.extend(parts)
                structures.append(parts_structure)
                position += 1
        return tensors, structures

    def _result_args(self, value: Any) -> list[Any]:
        count = len(self.arg_structures)
        if count == 1:
            if nest.structure_of(value) == self.arg_structures[0] and not self.arg_structures[0].is_leaf():
                return [value]
            if isinstance(value, (list, tuple)) and len(value) == 1:
                return [value[0]]
            return [value]
        if not isinstance(value, (list, tuple)) or len(value) != count:
            self._refuse(self.loop_vars, value)
        return list(value)

    @staticmethod
    def _refuse(expected: Any, value: Any) -> None:
        raise StructureError(
            f"body must return the same nested structure as loop_vars: it takes {nest.describe(expected)} and "
            f"returned {nest.describe(value)} (the number of elements or their containers differ)"
        )

    def final(self, tensors: Sequence[Tensor], structures: Sequence[Any]) -> Any:
        """The loop's value in the structure of ``loop_vars``."""
        args = self.pack(tensors, structures)
        if not self.is_sequence:
            return args[0]
        if hasattr(self.loop_vars, "_fields"):
            return type(self.loop_vars)(*args)
        return type(self.loop_vars)(args)


def _argument_names(body: Callable[..., Any], count: int) -> list[str]:
    """The user's names of the loop variables: the body's parameters, where they can be known."""
    try:
        parameters = list(inspect.signature(body).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return positional if len(positional) == count else [f"loop_vars[{i}]" for i in range(count)]


def _composite(structure: Any) -> str:
    """What a leaf of this (expanded) structure is, in words."""
    return "Tensor" if structure.type is None else f"{structure.type.__name__} of {structure.num_leaves} tensors"


def _as_leaf(leaf: Any, name: str) -> Any:
    if leaf is None:
        raise TypeError(f"loop variable {name!r} is None on entry; give it a value of the type it will have")
    if isinstance(leaf, Tensor) or not nest.structure_of(leaf, True).is_leaf():
        return leaf
    try:
        return convert_to_tensor(leaf)
    except TypeError as error:
        raise TypeError(f"loop variable {name!r}: {error}") from None


def _next_leaf(leaf: Any, init: Tensor, name: str) -> Any:
    """A leaf of the body's value; Python numbers take the variable's dtype where they can."""
    if leaf is None:
        raise TypeError(f"loop variable {name!r} is None after one iteration (is a return missing in body?)")
    if isinstance(leaf, (bool, int, float, complex)):
        dtype = init.dtype if init.dtype == dtypes.bool_ or not isinstance(leaf, bool) else None
        try:
            return as_constant(to_array(leaf, dtype if _takes(init.dtype, leaf) else None))
        except OverflowError as error:
            raise OverflowError(f"loop variable {name!r}: {error}") from None
    return _as_leaf(leaf, name)


def _takes(dtype: Any, number: Any) -> bool:
    """True if a Python number can have ``dtype`` without losing its kind."""
    kinds = {bool: "b", int: "iufc", float: "fc", complex: "c"}
    return dtype.kind in next(k for t, k in kinds.items() if isinstance(number, t))


def _up_to(structure: Any, invariant: Any) -> list[Any]:
    """One invariant per leaf of ``structure``; a shape spelled as a list or tuple is a leaf."""
    if structure.is_leaf():
        return [invariant]
    try:
        return list(structure.flatten_up_to(invariant))
    except ValueError as error:
        raise StructureError(f"shape_invariants must have the same nested structure as loop_vars: {error}") from None


def _component_invariants(leaf: Any, given: Any) -> list[TensorShape]:
    """The invariants of a leaf's component tensors; ``given`` is the user's for the leaf or ``None``."""
    if isinstance(given, TensorSpec):
        given = given.shape
    composite = getattr(leaf, "__autoloop_invariants__", None)
    if composite is not None:
        return list(composite(None if given is None else _shape(given)))
    return [leaf.shape if given is None else _shape(given)]


def _shape(value: Any) -> TensorShape:
    try:
        return TensorShape(value)
    except TypeError:
        raise TypeError(f"a shape invariant is a TensorShape, got {value!r}") from None


def _relaxed(graph: Graph, form: _Form, body: Callable[..., Any]) -> list[LoopVar]:
    """Invariants found by tracing ``body`` into scratch graphs until no shape gets more general.

    Terminates: each round makes at least one dimension unknown, and no dimension becomes known again.
    """
    variables = form.variables(None)
    while True:
        scratch = subgraph(graph, "scratch", [(v.init.dtype, v.invariant, v.name) for v in variables])
        with scratch.as_default():
            results, _ = form.results(body(*form.pack(scratch.inputs)))
        relaxed = [
            replace(v, invariant=v.invariant.most_general(v.invariant.most_general(r.shape)))
            for v, r in zip(variables, results)
        ]
        if relaxed == variables or [v.invariant for v in relaxed] == [v.invariant for v in variables]:
            return variables
        variables = relaxed


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """``true_fn()`` if ``pred`` else ``false_fn()``; only the chosen branch runs.

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
        Dimensions that differ between the branches are unknown.

    Raises
    ------
    TypeError
        If a branch is not callable or the branches' structures or dtypes differ.
    ValueError
        If ``pred`` is not a scalar.
    """
    for what, f in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(f):
            raise TypeError(f"{what} must be callable, got {f!r}")
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
    merge = BranchValues(a, b)
    with then.as_default():
        a_tensors = merge.tensors(0)
    with otherwise.as_default():
        b_tensors = merge.tensors(1)
    with graph.as_default():
        return merge.pack(finish_cond(graph, scope, tensor, then, a_tensors, otherwise, b_tensors))


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
                f"{nest.describe(false_value)}"
            )
        self.pairs = list(zip(a, b))
        self.what = what
        self.parts: list[Any] = []

    def tensors(self, side: int) -> list[Tensor]:
        """One branch's leaves as tensors, made in the current graph; call for side 0, then side 1."""
        out: list[Tensor] = []
        for pair in self.pairs:
            leaf, other = pair[side], pair[1 - side]
            if leaf is None and other is None:
                if side == 0:
                    self.parts.append(None)
                continue
            if leaf is None or other is None:
                raise TypeError(f"{self.what}: one gives a value, the other None; both must give a value")
            if not nest.structure_of(leaf, True).is_leaf():
                parts, structure = nest.flatten_with_structure(leaf, True)
                _check_composites(leaf, other, self.what)
            else:
                parts, structure = [_common(leaf, other, self.what)], nest.structure_of(0)
            if side == 0:
                self.parts.append(structure)
            out.extend(parts)
        return out

    def pack(self, tensors: Sequence[Tensor]) -> Any:
        """The conditional's value made of the node's outputs."""
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
        raise StructureError(f"{what} must return the same types: {_composite(mine)} and {_composite(theirs)}")
    if leaf.dtype != other.dtype:
        raise TypeError(
            f"{what} must return the same dtypes, they return {type(leaf).__name__}s of {leaf.dtype} and {other.dtype}"
        )


def _dtype_of(leaf: Any) -> Any:
    """The dtype of a leaf that has one by itself; ``None`` for Python numbers, which take the other's."""
    dtype = getattr(leaf, "dtype", None)
    return None if dtype is None else dtypes.as_dtype(dtype)


def _common(leaf: Any, other: Any, what: str) -> Tensor:
    """``leaf`` as a tensor of the dtype that both leaves can have."""
    mine, theirs = _dtype_of(leaf), _dtype_of(other)
    number = isinstance(leaf, (bool, int, float, complex))
    if mine is None and theirs is not None and number and _takes(theirs, leaf):
        return as_constant(to_array(leaf, theirs))
    tensor = convert_to_tensor(leaf)
    if mine is None and theirs is None and isinstance(other, (bool, int, float, complex)):
        common = dtypes.as_dtype(type(max(leaf, other, key=lambda v: "bifc".index(_kind(v)))))
        if not isinstance(leaf, bool) and not isinstance(other, bool) and tensor.dtype != common:
            return as_constant(to_array(leaf, common))
        theirs = dtypes.DEFAULTS.get(type(other))
    if theirs is None and isinstance(other, (bool, int, float, complex)) and _takes(tensor.dtype, other):
        theirs = tensor.dtype
    theirs = theirs or convert_to_tensor(other).dtype
    if tensor.dtype != theirs:
        raise TypeError(
            f"{what} must return the same dtypes, they return {tensor.dtype} and {theirs}; "
            f"cast one of them, e.g. cast(x, {theirs})"
        )
    return tensor


def _kind(number: Any) -> str:
    return dtypes.DEFAULTS[next(t for t in (bool, int, float, complex) if isinstance(number, t))].kind


def switch_case(
    branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None, name: str | None = None
) -> Any:
    """Call the branch that ``branch_index`` selects.

    Parameters
    ----------
    branch_index : int or integer scalar tensor
    branch_fns : sequence of callables, or of ``(int, callable)`` pairs, or dict of int to callable
    default : callable, optional
        For an index without a branch; by default the branch with the largest index.

    Returns
    -------
    structure of Tensor
        See ``cond``.
    """
    table = _branch_table(branch_fns)
    fallback = default or table[max(table)]
    if isinstance(branch_index, int):
        return table.get(branch_index, fallback)()
    index = convert_to_tensor(branch_index)
    if index.dtype.kind not in "iu":
        raise TypeError(f"branch_index must be an integer scalar, got dtype {index.dtype}")

    rest = sorted(table)
    if default is None:
        rest.remove(max(table))

    def choose(position: int) -> Any:
        if position == len(rest):
            return fallback()
        key = rest[position]
        return cond(call("equal", index, key), table[key], lambda: choose(position + 1), name)

    return choose(0)


def _branch_table(branch_fns: Any) -> dict[int, Callable[[], Any]]:
    if isinstance(branch_fns, dict):
        table = dict(branch_fns)
    else:
        entries = list(branch_fns)
        pairs = all(isinstance(e, tuple) for e in entries)
        table = dict(entries) if pairs else dict(enumerate(entries))
    if not table:
        raise ValueError("branch_fns is empty: switch_case needs at least one branch")
    for key, f in table.items():
        if not callable(f):
            raise TypeError(f"branch {key} must be callable, got {f!r}")
        if isinstance(key, bool) or not isinstance(key, int):
            raise TypeError(f"a branch is selected by an int, got {key!r}")
    return table


def case(
    pred_fn_pairs: Any, default: Callable[[], Any] | None = None, exclusive: bool = False,
    strict: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The value of the first pair whose predicate is true.

    Parameters
    ----------
    pred_fn_pairs : sequence of (pred, callable)
    default : callable, optional
        For no true predicate; without it the last pair's function is called.
    exclusive : bool
        Check that at most one predicate is true (``AssertionError`` otherwise).
    """
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    if not pairs:
        raise ValueError("pred_fn_pairs is empty: case needs at least one pair")
    if exclusive:
        true = [call("cast", convert_to_tensor(p), dtypes.int32) for p, _ in pairs]
        call("Assert", call("less_equal", call("sum", call("stack", true)), 1),
             ["case(exclusive=True): more than one predicate is true"])  # fmt: skip

    def choose(position: int) -> Any:
        pred, f = pairs[position]
        if position == len(pairs) - 1:
            return f() if default is None else cond(pred, f, default, name)
        return cond(pred, f, lambda: choose(position + 1), name)

    return choose(0)
