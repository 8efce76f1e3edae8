"""One leaf of a loop variable, as the tensors that a ``While`` node has for it, and back.

``while_loop``, ``scan`` and converted code all flatten their variables through this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import nest
from ..base.dataclass import dataclass
from ..base.shapes import TensorShape
from ..ir.composite import composite_of
from ..ir.convert import convert_to_tensor
from ..ir.structured import LoopVar, StructureError
from ..ir.tensor import Tensor
from ..ir.tensor_spec import CompositeSpec, TensorSpec


@dataclass(frozen=True, eq=False)  # tensors compare element by element
class LoopLeaf:
    """A tensor or a composite that a loop carries.

    Attributes
    ----------
    name : str
        What messages call it.
    value : object
        The value on entry.
    tensors : tuple of Tensor
        The value on entry as tensors: the parts of a composite, else one.
    structure : Structure
        How the parts of a composite go together.
    """

    name: str
    value: Any
    tensors: tuple[Tensor, ...]
    structure: nest.Structure = nest.LEAF

    @classmethod
    def of(cls, name: str, value: Any) -> LoopLeaf:
        """Return the leaf of a value on entry: a tensor, what can be one, or a composite."""
        parts, structure = nest.flatten_with_structure(value, True)
        return cls(name, value, tuple(map(convert_to_tensor, parts)), structure)

    def packed(self, tensors: Sequence[Tensor]) -> Any:
        """Return the leaf made of the tensors that now stand for it."""
        return nest.unflatten(self.structure, tensors)

    def declared(self, given: Any = None) -> list[LoopVar]:
        """Return the declarations of its tensors; ``given`` is the user's invariant, a shape or a spec."""
        shape = None if given is None else self._shape(given)
        composite = composite_of(self.value)
        if composite is None:
            return [LoopVar(self.name, self.tensors[0], self.tensors[0].shape if shape is None else shape)]
        shapes = composite.invariants(self.value, shape)
        names = [f"{self.name}.{part}" for part in composite.names(self.value)] or [self.name] * len(shapes)
        return [LoopVar(*parts, composite.rule) for parts in zip(names, self.tensors, shapes, strict=True)]

    def _shape(self, given: Any) -> TensorShape:
        if isinstance(given, (TensorSpec, CompositeSpec)):
            return _shape_of_spec(self.value if self.structure is not nest.LEAF else self.tensors[0], given)
        try:
            return TensorShape(given)
        except TypeError:
            raise TypeError(f"a shape invariant is a TensorShape, got {given!r} [AL117]") from None

    def next(self, value: Any, entry: str = "on entry") -> tuple[list[Tensor], nest.Structure]:
        """Return the tensors of the leaf's next value, and how they go together; messages call the entry ``entry``.

        Raises
        ------
        TypeError
            If it is a composite, or part of one, of another dtype.
        StructureError
            If it is of another type, or has another number of parts.
        """
        parts, structure = nest.flatten_with_structure(value, True)
        if structure.type is not self.structure.type or len(parts) != len(self.tensors):
            raise StructureError(
                f"loop variable {self.name!r} is a {nest.describe_composite(self.structure)} {entry} and a "
                f"{nest.describe_composite(structure)} after one iteration [AL103]"
            )
        was, now = getattr(self.value, "dtype", None), getattr(value, "dtype", None)
        if len(parts) == 1 and not structure.is_leaf() and was != now:
            raise TypeError(
                f"loop variable {self.name!r} is a {type(value).__name__} of {was} {entry} and of {now} "
                f"after one iteration [AL106]"
            )
        return list(map(convert_to_tensor, parts)), structure


def leaf_names(name: str, structure: nest.Structure) -> list[str]:
    """Return what messages call the leaves of a variable: ``state['x'][0].y``."""
    return [name + "".join(map(_step, path)) for path in structure.paths()]


def _step(step: Any) -> str:
    return repr(step) if isinstance(step, nest.Attribute) else f"[{nest.key_text(step)}]"


def _shape_of_spec(leaf: Any, spec: TensorSpec | CompositeSpec) -> TensorShape:
    """Return the shape invariant that a spec of the loop variable ``leaf`` states."""
    if spec.dtype != leaf.dtype:
        raise TypeError(
            f"a shape invariant is a spec of dtype {spec.dtype}, the loop variable has {leaf.dtype} [AL117]"
        )
    if not isinstance(spec, CompositeSpec):
        return spec.shape
    if not isinstance(leaf, spec.value_type):
        kind, given = type(spec).__name__, type(leaf).__name__
        raise TypeError(f"a {kind} is no shape invariant of a loop variable of type {given} [AL117]")
    return spec.invariant
