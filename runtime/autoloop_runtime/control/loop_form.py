"""How the nested variables of a loop map to the flat list of tensors that a ``While`` node has, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import dtypes, nest
from ..base.parsing import signature_of
from ..base.shapes import TensorShape
from ..collections.sparse.specs import CompositeSpec
from ..ir.convert import as_constant, convert_to_tensor, to_array
from ..ir.structured import LoopVar, StructureError
from ..ir.tensor import Tensor, TensorSpec


class LoopForm:
    """How nested loop variables map to a flat list of tensors and back.

    Parameters
    ----------
    loop_vars : structure
        The values on entry.
    names : sequence of str
        What messages call the variables, one name for each.
    body, takes : str
        What messages call the function that gives the next values, and the values that it takes.
    """

    def __init__(self, loop_vars: Any, names: Sequence[str], body: str = "body", takes: str = "loop_vars") -> None:
        self.loop_vars = loop_vars
        self.body, self.takes = body, takes
        self.is_sequence = isinstance(loop_vars, (list, tuple))
        if (self.is_sequence and not loop_vars) or loop_vars is None:
            raise ValueError("loop_vars is empty: a while_loop needs at least one loop variable")
        args = list(loop_vars) if self.is_sequence else [loop_vars]
        self.arity = len(args)
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
        """Return the declarations, with explicit or default invariants."""
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
        """Return the plain leaves, numbers and arrays replaced by their tensors."""
        out, start = [], 0
        for structure in self.leaf_structures:
            out.append(nest.unflatten(structure, self.tensors[start : start + structure.num_leaves]))
            start += structure.num_leaves
        return out

    @staticmethod
    def _default(leaf: Any) -> list[TensorShape]:
        return _component_invariants(leaf, None)

    def pack(self, tensors: Sequence[Tensor], structures: Sequence[Any] | None = None) -> list[Any]:
        """Return the arguments of ``cond`` and ``body`` made of one tensor per flat variable."""
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
        """Return the body's value as flat tensors, and the structure of each composite leaf."""
        return self.next(self._result_args(value))

    def next(self, args: Sequence[Any]) -> tuple[list[Tensor], list[Any]]:
        """Return what ``results`` does, of one value for each variable."""
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
                        f"loop variable {name!r} is a {nest.describe_composite(expected)} on entry and a "
                        f"{nest.describe_composite(parts_structure)} after one iteration"
                    )
                was = getattr(self.leaves[position], "dtype", None)
                if len(parts) == 1 and expected.type is not None and leaf.dtype != was:
                    raise TypeError(
                        f"loop variable {name!r} is a {expected.type.__name__} of {was} on entry and of {leaf.dtype} "
                        f"after one iteration"
                    )
                tensors.extend(parts)
                structures.append(self._either(position, leaf, parts_structure))
                position += 1
        return tensors, structures

    def _either(self, position: int, leaf: Any, structure: Any) -> Any:
        """Return the structure of a composite of the body's after the loop,
        where it may be the one on entry as well."""
        entry, name = self.leaves[position], self.leaf_names[position]
        if not hasattr(entry, "__autoloop_either__") or structure == self.leaf_structures[position]:
            return structure
        either = leaf.__autoloop_either__(entry, True, False)
        if entry.count not in (None, either.count):
            now = "an unknown number" if leaf.count is None else leaf.count
            raise ValueError(
                f"loop variable {name!r} is a TensorArray of {entry.count} elements on entry and of {now} after one "
                f"iteration; make the one on entry with dynamic_size=True"
            )
        if not either.element_shape.is_subsumed_by(entry.element_shape):
            raise ValueError(
                f"the elements of loop variable {name!r}, a TensorArray, have shape {entry.element_shape} on entry and "
                f"{leaf.element_shape} after one iteration; give the one on entry no element_shape"
            )
        return nest.structure_of(either, True)

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

    def _refuse(self, expected: Any, value: Any) -> None:
        raise StructureError(
            f"{self.body} must return the same nested structure as {self.takes}: it takes {nest.describe(expected)} "
            f"and returned {nest.describe(value)} (the number of elements or their containers differ)"
        )

    def final(self, tensors: Sequence[Tensor], structures: Sequence[Any]) -> Any:
        """Return the loop's value in the structure of ``loop_vars``."""
        args = self.pack(tensors, structures)
        if not self.is_sequence:
            return args[0]
        if hasattr(self.loop_vars, "_fields"):
            return type(self.loop_vars)(*args)
        return type(self.loop_vars)(args)


def check_arity(f: Callable[..., Any], what: str, count: int) -> None:
    """Raise ``TypeError`` if ``f`` is known not to take ``count`` positional arguments."""
    try:
        signature = signature_of(f)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*[None] * count)
    except TypeError:
        raise TypeError(
            f"{what} must take as many arguments as there are loop variables: {count}, its signature is {signature}"
        ) from None


def argument_names(body: Callable[..., Any], loop_vars: Any) -> list[str]:
    """Return the user's names of the loop variables: the body's parameters, where they can be known."""
    count = len(loop_vars) if isinstance(loop_vars, (list, tuple)) else 1
    try:
        parameters = list(signature_of(body).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return positional if len(positional) == count else [f"loop_vars[{i}]" for i in range(count)]


def _as_leaf(leaf: Any, name: str) -> Any:
    if leaf is None:
        raise TypeError(f"loop variable {name!r} is None on entry; give it a value of the type it will have")
    if isinstance(leaf, Tensor) or not nest.structure_of(leaf, True).is_leaf():
        return leaf
    try:
        return convert_to_tensor(leaf)
    except (TypeError, OverflowError) as error:
        raise type(error)(f"loop variable {name!r}: {error}") from None


def _next_leaf(leaf: Any, init: Tensor, name: str) -> Any:
    """Return a leaf of the body's value; Python numbers take the variable's dtype where they can."""
    if leaf is None:
        raise TypeError(f"loop variable {name!r} is None after one iteration (is a return missing?)")
    if isinstance(leaf, (bool, int, float, complex)):
        dtype = init.dtype if init.dtype == dtypes.bool_ or not isinstance(leaf, bool) else None
        try:
            return as_constant(to_array(leaf, dtype if dtypes.takes(init.dtype, leaf) else None))
        except OverflowError as error:
            raise OverflowError(f"loop variable {name!r}: {error}") from None
    return _as_leaf(leaf, name)


def _up_to(structure: Any, invariant: Any) -> list[Any]:
    """Return one invariant per leaf of ``structure``; a shape spelled as a list or tuple is a leaf."""
    if structure.is_leaf():
        return [invariant]
    try:
        return list(structure.flatten_up_to(invariant))
    except ValueError as error:
        raise StructureError(f"shape_invariants must have the same nested structure as loop_vars: {error}") from None


def _component_invariants(leaf: Any, given: Any) -> list[TensorShape]:
    """Return the invariants of a leaf's component tensors; ``given`` is the user's for the leaf or ``None``."""
    if isinstance(given, (TensorSpec, CompositeSpec)):
        given = _shape_of_spec(leaf, given)
    composite = getattr(leaf, "__autoloop_invariants__", None)
    if composite is not None:
        return list(composite(None if given is None else _shape(given)))
    return [leaf.shape if given is None else _shape(given)]


def _shape_of_spec(leaf: Any, spec: TensorSpec | CompositeSpec) -> TensorShape:
    """Return the shape invariant that a spec of the loop variable ``leaf`` states."""
    if spec.dtype != leaf.dtype:
        raise TypeError(f"a shape invariant is a spec of dtype {spec.dtype}, the loop variable has {leaf.dtype}")
    if not isinstance(spec, CompositeSpec):
        return spec.shape
    if not isinstance(leaf, spec.value_type):
        kind, given = type(spec).__name__, type(leaf).__name__
        raise TypeError(f"a {kind} is no shape invariant of a loop variable of type {given}")
    return spec.invariant


def _shape(value: Any) -> TensorShape:
    try:
        return TensorShape(value)
    except TypeError:
        raise TypeError(f"a shape invariant is a TensorShape, got {value!r}") from None
