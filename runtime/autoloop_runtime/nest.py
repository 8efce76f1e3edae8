"""Nested structures of values, through ``optree``.

Tuples, lists, dicts, named tuples, dataclasses (any, without registration) and types registered with
``register`` are structures; everything else, ``None`` included, is a leaf. *Composites* (TensorArray,
SparseTensor, IndexedSlices) are leaves to the caller and structures of tensors to the runtime, which is what
``expand_composites=True`` asks for.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import optree

PLAIN = "autoloop"
EXPANDED = "autoloop.expanded"
Structure = optree.PyTreeSpec

_lock = threading.Lock()  # held while a type is entered in optree's table, never while flattening
_registered: set[type] = set()


def register(
    cls: type,
    to_children: Callable[[Any], tuple[Iterable[Any], Any]],
    from_children: Callable[[Any, Any], Any],
    *,
    composite: bool = False,
) -> None:
    """Make ``cls`` a structure.

    Parameters
    ----------
    cls : type
        The type.
    to_children : callable
        ``to_children(value)`` gives ``(children, static data)``; the static data must be hashable and
        comparable, it is part of the structure.
    from_children : callable
        ``from_children(static data, children)`` builds a value.
    composite : bool
        A leaf except where ``expand_composites=True``.
    """
    with _lock:
        if cls in _registered:
            return
        for namespace in (EXPANDED,) if composite else (PLAIN, EXPANDED):
            optree.register_pytree_node(cls, to_children, from_children, namespace=namespace)
        _registered.add(cls)


def _register_dataclass(cls: type) -> None:
    names = tuple(f.name for f in dataclasses.fields(cls))

    def to_children(value: Any) -> tuple[Iterable[Any], Any]:
        return [getattr(value, n) for n in names], names

    def from_children(_: Any, children: Any) -> Any:
        made: Any = object.__new__(cls)
        for name, child in zip(names, children):
            object.__setattr__(made, name, child)  # frozen dataclasses refuse setattr
        return made

    register(cls, to_children, from_children)


def flatten_with_structure(value: Any, expand_composites: bool = False) -> tuple[list[Any], Structure]:
    """The leaves of ``value`` in order, and its structure."""
    namespace = EXPANDED if expand_composites else PLAIN
    while True:
        leaves, structure = optree.tree_flatten(value, none_is_leaf=True, namespace=namespace)
        unknown = {type(leaf) for leaf in leaves if dataclasses.is_dataclass(leaf)} - _registered
        unknown = {t for t in unknown if not issubclass(t, type)}
        if not unknown:
            return leaves, structure
        for cls in unknown:
            _register_dataclass(cls)


def unflatten(structure: Structure, leaves: Iterable[Any]) -> Any:
    """The value of that structure with these leaves."""
    return optree.tree_unflatten(structure, leaves)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of ``structure`` in order (dict entries in the order of their sorted keys)."""
    return flatten_with_structure(structure, expand_composites)[0]


def is_nested(value: Any) -> bool:
    """True for a structure, False for a leaf."""
    leaves, _ = flatten_with_structure(value)
    return not (len(leaves) == 1 and leaves[0] is value)


def structure_of(value: Any, expand_composites: bool = False) -> Structure:
    """The structure of ``value``, comparable with ``==``."""
    return flatten_with_structure(value, expand_composites)[1]


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False) -> Any:
    """``flat_sequence`` in the structure of ``structure``.

    Raises
    ------
    ValueError
        If the number of leaves differs.
    """
    spec = structure_of(structure, expand_composites)
    if spec.num_leaves != len(flat_sequence):
        raise ValueError(f"the structure has {spec.num_leaves} leaves, but {len(flat_sequence)} values were given")
    return unflatten(spec, flat_sequence)


def map_structure(func: Callable[..., Any], *structures: Any, expand_composites: bool = False) -> Any:
    """Call ``func`` with the leaves of the structures, position by position; the result has the same structure.

    Raises
    ------
    TypeError
        If ``func`` is not callable.
    ValueError
        If no structure is given or the structures differ.
    """
    if not callable(func):
        raise TypeError(f"func must be callable, not {func!r}")
    if not structures:
        raise ValueError("at least one structure is needed")
    flat = []
    leaves, spec = flatten_with_structure(structures[0], expand_composites)
    flat.append(leaves)
    for other in structures[1:]:
        assert_same_structure(structures[0], other, expand_composites=expand_composites)
        flat.append(flatten(other, expand_composites))
    return unflatten(spec, [func(*column) for column in zip(*flat)])


def describe(value: Any) -> str:
    """A structure in words a person can compare: ``(*, [*, *])``."""
    return str(structure_of(value)).removeprefix("PyTreeSpec(").split(", NoneIsLeaf")[0]


def describe_composite(structure: Structure) -> str:
    """What a leaf is whose structure with ``expand_composites=True`` is this one, in words."""
    if structure.type is None:
        return "Tensor"
    return f"{structure.type.__name__} of {structure.num_leaves} tensor{'s' * (structure.num_leaves > 1)}"


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Check that two values have the same structure.

    Raises
    ------
    TypeError
        If the containers' types differ (a list for a tuple) and ``check_types`` is set.
    ValueError
        If their arity or keys differ.
    """
    a, b = structure_of(nest1, expand_composites), structure_of(nest2, expand_composites)
    if a == b:
        return
    text = f"the two structures don't have the same nested structure: {describe(nest1)} and {describe(nest2)}"
    if _skeleton(nest1) == _skeleton(nest2):
        if check_types:
            raise TypeError(text + " (the types of the containers differ)")
        return
    raise ValueError(text)


def _skeleton(value: Any) -> Any:
    """The shape of a structure without the types of its sequences."""
    if isinstance(value, dict):
        return {key: _skeleton(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_skeleton(item) for item in value]
    if is_nested(value):
        return [
            _skeleton(item)
            for item in optree.tree_leaves(value, is_leaf=lambda x: x is not value, none_is_leaf=True, namespace=PLAIN)
        ]
    return None
