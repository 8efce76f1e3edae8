"""Composites: values that are one value to the user and several tensors to graphs.

A TensorArray, a SparseTensor, a list that grows in a loop: their type says once how a value is taken apart and put
together, and loops, branches, functions, sessions and gradients treat it as they treat tensors.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

from ..base import nest
from ..base.shapes import TensorShape
from .convert import convert_to_tensor
from .tensor import Tensor

Value = TypeVar("Value")


class Composite(Generic[Value]):
    """How the values of one type are several tensors; ``register`` makes it known.

    ``spec``, ``components`` and ``from_components`` are asked of every type; what the others give unless a type says
    otherwise does for one that is no more than its tensors.
    """

    #: what messages say of the shape invariant of a loop variable, see ``LoopVar.composite``
    rule = ""

    def components(self, value: Value) -> Sequence[Any]:
        """Return the tensors of a value, or values that can become tensors."""
        raise NotImplementedError

    def spec(self, value: Value) -> Hashable:
        """Return what of a value is not in its tensors: values of one structure have equal ones."""
        raise NotImplementedError

    def from_components(self, spec: Any, components: Sequence[Any]) -> Value:
        """Return the value of that spec with these tensors."""
        raise NotImplementedError

    def names(self, value: Value) -> Sequence[str]:
        """Return names of the components, for messages and nodes; none where the value's own name will do."""
        return ()

    def invariants(self, value: Value, given: TensorShape | None) -> list[TensorShape]:
        """Return the shape invariants of the components of a loop variable.

        Parameters
        ----------
        value
            The variable on entry.
        given : TensorShape, optional
            The user's invariant for the variable.
        """
        return [convert_to_tensor(part).shape if given is None else given for part in self.components(value)]

    def unread(self, value: Value) -> Value | None:
        """Return a value like this one that nobody reads; None where one with zeros for tensors will do."""
        return None

    def either(self, value: Value, other: Value, free: bool = True, other_free: bool = True) -> Value:
        """Return ``value`` with only what is known of ``other``, too, either of which may be in its place.

        Parameters
        ----------
        value, other
            What the two sides of a branch give; or a loop variable after an iteration, and on entry.
        free, other_free : bool
            Whether each was made there, and not only passed on: then what it does not say may be anything.
        """
        return value

    def carried(self, value: Value, entry: Value, name: str) -> Value:
        """Return what is known of loop variable ``name`` after the loop; ``ValueError`` if it may not change so.

        Parameters
        ----------
        value, entry
            The variable after an iteration, and on entry.
        name : str
        """
        return self.either(value, entry, True, False)


#: filled while modules are imported, read-only afterwards
_KNOWN: dict[type, Composite[Any]] = {}


def register(kind: type[Value], composite: Composite[Value]) -> None:
    """Make ``kind`` a composite: a leaf to the user, a structure where ``nest`` expands composites."""
    _KNOWN[kind] = composite
    nest.register(
        kind, lambda value: (composite.components(value), composite.spec(value)), composite.from_components,
        composite=True,
    )  # fmt: skip


def composite_of(value: Any) -> Composite[Any] | None:
    """Return how a value is several tensors; ``None`` if it is none of the composites."""
    return _KNOWN.get(type(value))


def is_free(value: Any, graph: Any) -> bool:
    """Return whether a composite was made in ``graph``, and not only passed on."""
    return any(isinstance(part, Tensor) and part.graph is graph for part in nest.flatten(value, True))
