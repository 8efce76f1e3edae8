"""Structures of what derivatives are taken of: tensors, variables, and composites by their floating parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import ops
from ..base import nest
from ..base.dataclass import dataclass
from ..collections.variables import Variable
from ..ir.array_storage import kept
from ..ir.convert import convert_to_tensor
from ..ir.tensor import Tensor
from ..ir.tracers import Kind, kind_of, marked
from .activity import Key


@dataclass(frozen=True)
class Sources:
    """A structure, and the tensors in it that gradients are taken of.

    Attributes
    ----------
    keys : list of Tensor or Variable
        One per leaf, or several (or none) for a composite.
    """

    keys: list[Any]
    _structure: Any
    _leaves: list[tuple[Any, list[Any]]]  # (form of a composite or None, its parts or the one key)
    _kinds: list[Kind]

    @classmethod
    def of(cls, value: Any, convert: Callable[[Any], Any] = lambda x: x) -> Sources:
        """Return the sources in ``value``; ``convert`` is applied to each first.

        What is made for each is of its kind: an array for an array of the user's.
        """
        leaves, structure = nest.flatten_with_structure(value)
        keys: list[Any] = []
        made: list[tuple[Any, list[Any]]] = []
        for leaf in leaves:
            form = nest.structure_of(leaf, True)
            if isinstance(leaf, (Tensor, Variable)) or form.is_leaf():
                key = convert(leaf)
                made.append((None, [key.plain if isinstance(key, Tensor) else key]))
                keys += made[-1][1]
                continue
            parts = [convert(p) if p.dtype.kind in "fc" else p for p in nest.flatten(leaf, True)]
            made.append((form, parts))
            keys += [p for p in parts if p.dtype.kind in "fc"]
        return cls(keys, structure, made, [kind_of((leaf,)) for leaf in leaves])

    def value(self) -> Any:
        """Return the structure with what ``convert`` made."""
        made = [
            marked(kind, p[0]) if form is None and isinstance(p[0], Tensor) and p[0].is_symbolic
            else p[0] if form is None else nest.unflatten(form, p)
            for kind, (form, p) in zip(self._kinds, self._leaves)
        ]  # fmt: skip
        return nest.unflatten(self._structure, made)

    def pack(self, found: Sequence[Any], zeros: bool = False) -> Any:
        """Return one thing per key in the structure; ``None`` becomes zeros where wanted, or needed inside a composite.

        The parts of a composite that are not floating stay what they are.
        """
        rest = iter(found)
        out = []
        for kind, (form, parts) in zip(self._kinds, self._leaves):
            if form is None:
                g = next(rest)
                out.append(marked(kind, _zeros(parts[0]) if g is None and zeros else g))
                continue
            gs = [next(rest) if p.dtype.kind in "fc" else None for p in parts]
            if not zeros and all(g is None for g in gs):
                out.append(None)
                continue
            filled = [p if p.dtype.kind not in "fc" else _zeros(p) if g is None else g for p, g in zip(parts, gs)]
            out.append(nest.unflatten(form, filled))
        return nest.unflatten(self._structure, out)


def check_alone(leaf: Any) -> None:
    """Raise if an argument is, or is a part of, what the function finds besides: one of them is meant, and both count.

    Raises
    ------
    TypeError
    """
    storage = kept(leaf)
    if storage is not None and storage.shared:
        raise TypeError(
            f"an argument shares memory with {storage.shared!r}, which the function finds besides, and the derivative "
            f"with regard to one of them is asked for: take it with regard to a copy, x = x.copy() [AL410]"
        )


def _zeros(key: Key) -> Tensor:
    made: Tensor = ops.zeros_like(convert_to_tensor(key))
    return made
