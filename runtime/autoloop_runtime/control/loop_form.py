"""How the nested variables of a loop map to the flat list of tensors that a ``While`` node has, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import dtypes, nest
from ..base.parsing import called_as
from ..ir.composite import composite_of
from ..ir.convert import as_constant, convert_to_tensor, is_number, to_array
from ..ir.structured import LoopVar, StructureError
from ..ir.tensor import Tensor
from .loop_leaf import LoopLeaf, leaf_names


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
        if loop_vars is None or (isinstance(loop_vars, (list, tuple, dict)) and not loop_vars):
            raise ValueError("loop_vars is empty: a while_loop needs at least one loop variable [AL102]")
        args = list(loop_vars) if self.is_sequence else [loop_vars]
        self.arity = len(args)
        self.arg_structures = []
        self.leaves: list[LoopLeaf] = []
        for name, arg in zip(names, args):
            leaves, structure = nest.flatten_with_structure(arg)
            self.arg_structures.append(structure)
            for leaf_name, leaf in zip(leaf_names(name, structure), leaves):
                self.leaves.append(LoopLeaf.of(leaf_name, _as_leaf(leaf, leaf_name)))

    @property
    def tensors(self) -> list[Tensor]:
        """The values on entry, flat."""
        return [tensor for leaf in self.leaves for tensor in leaf.tensors]

    def variables(self, shape_invariants: Any) -> list[LoopVar]:
        """Return the declarations, with explicit or default invariants."""
        given = self._given(shape_invariants)
        return [one for leaf, shape in zip(self.leaves, given, strict=True) for one in leaf.declared(shape)]

    def _given(self, given: Any) -> list[Any]:
        """Return the user's invariant for each leaf, ``None`` where there is none."""
        if given is None:
            return [None] * len(self.leaves)
        if isinstance(given, dict) and not isinstance(self.loop_vars, dict):
            names = [leaf.name for leaf in self.leaves]
            unknown = [n for n in given if n not in names]
            if unknown:
                raise ValueError(f"shape_invariants names {unknown}, the loop variables are {names} [AL117]")
            return [given.get(name) for name in names]
        top = list(given) if self.is_sequence and isinstance(given, (list, tuple)) else [given]
        if len(top) != len(self.arg_structures):
            raise StructureError(
                f"shape_invariants has {len(top)} elements, loop_vars has {len(self.arg_structures)}: they must "
                f"have the same nested structure [AL117]"
            )
        return [shape for pair in zip(self.arg_structures, top) for shape in _up_to(*pair)]

    def pack(self, tensors: Sequence[Tensor], structures: Sequence[Any] | None = None) -> list[Any]:
        """Return the arguments of ``cond`` and ``body`` made of one tensor per flat variable."""
        leaves, start = [], 0
        for structure in structures or [leaf.structure for leaf in self.leaves]:
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
            for value in leaves:
                leaf = self.leaves[position]
                value = _next_leaf(value, leaf)
                parts, parts_structure = leaf.next(value)
                composite = composite_of(value)
                if composite is not None and parts_structure != leaf.structure:
                    # what is known of it after the loop: it may be the one on entry as well
                    parts_structure = nest.structure_of(composite.carried(value, leaf.value, leaf.name), True)
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

    def _refuse(self, expected: Any, value: Any) -> None:
        raise StructureError(
            f"{self.body} must return the same nested structure as {self.takes}: it takes {nest.describe(expected)} "
            f"and returned {nest.describe(value)} (the number of elements or their containers differ) [AL103]"
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
        signature = called_as(f)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*[None] * count)
    except TypeError:
        raise TypeError(
            f"{what} must take as many arguments as there are loop variables: {count}, its signature is {signature}"
            " [AL102]"
        ) from None


def argument_names(body: Callable[..., Any], loop_vars: Any) -> list[str]:
    """Return the user's names of the loop variables: the body's parameters, where they can be known."""
    count = len(loop_vars) if isinstance(loop_vars, (list, tuple)) else 1
    try:
        parameters = list(called_as(body).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return positional if len(positional) == count else [f"loop_vars[{i}]" for i in range(count)]


def _as_leaf(leaf: Any, name: str) -> Any:
    if leaf is None:
        raise TypeError(f"loop variable {name!r} is None on entry; give it a value of the type it will have [AL107]")
    if isinstance(leaf, Tensor) or composite_of(leaf) is not None:
        return leaf
    try:
        return convert_to_tensor(leaf)
    except (TypeError, OverflowError) as error:
        raise type(error)(f"loop variable {name!r}: {error}") from None


def _next_leaf(value: Any, leaf: LoopLeaf) -> Any:
    """Return a leaf of the body's value; Python numbers take the variable's dtype where they can."""
    if value is None:
        raise TypeError(f"loop variable {leaf.name!r} is None after one iteration (is a return missing?) [AL107]")
    if is_number(value):
        entry = leaf.tensors[0].dtype
        dtype = entry if entry == dtypes.bool_ or not isinstance(value, bool) else None
        try:
            return as_constant(to_array(value, dtype if dtypes.takes(entry, value) else None))
        except OverflowError as error:
            raise OverflowError(f"loop variable {leaf.name!r}: {error} [AL106]") from None
    return _as_leaf(value, leaf.name)


def _up_to(structure: Any, invariant: Any) -> list[Any]:
    """Return one invariant per leaf of ``structure``; a shape spelled as a list or tuple is a leaf."""
    if structure.is_leaf():
        return [invariant]
    try:
        return list(structure.flatten_up_to(invariant))
    except ValueError as error:
        raise StructureError(
            f"shape_invariants must have the same nested structure as loop_vars: {error} [AL117]"
        ) from None
