"""Nested structures of values, through ``optree``.

Tuples, lists, dicts, named tuples, dataclasses (any, without registration) and types registered with
``register`` are structures; everything else, ``None`` included, is a leaf. *Composites* (TensorArray,
SparseTensor, IndexedSlices) are leaves to the caller and structures of tensors to the runtime, which is what
``expand_composites=True`` asks for.

Most structures are a tuple or list of leaves, or one leaf. These need no ``optree``, which is imported (as long as all
the ground floor takes) when something deeper is met.

One file: what is a structure, and each way through one, must agree on every leaf.
"""

from __future__ import annotations

import contextlib
import operator
import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .callbacks import calls_back
from .doors import listing
from .forks import Kind, undivided
from .locations import mark_internal
from .stand_ins import UnknownWhileTracing

if TYPE_CHECKING:
    import optree

PLAIN = "autoloop"
EXPANDED = "autoloop.expanded"
Structure: TypeAlias = "Flat | optree.PyTreeSpec"

#: types that are known to be leaves; ``opaque`` adds to it while modules are imported
_OPAQUE: set[type] = {
    bool, int, float, complex, str, bytes, type, type(None), np.ndarray, *np.sctypeDict.values(),
    *[type(np.dtype(one)) for one in np.sctypeDict.values()],
}  # fmt: skip
#: held while a type is entered in optree's table, never while flattening
_lock = Kind("nest", "a fork waits for whoever holds it, as optree has locks of its own").lock()
#: changed under ``_lock``; to read it needs none
_registered: set[type] = set()
#: hashes of structures in which classes of named tuples have been looked for
_looked_at: set[int] = set()
_MOST_LOOKED_AT = 1_000
#: what ``register`` was told before optree was needed, None after that; changed under ``_lock``, as is the next
_pending: list[tuple[Any, ...]] | None = []
_loaded: Any = None


class HoldsItself(UnknownWhileTracing):
    """A structure has no end, and no leaves: it, or what it holds, holds itself."""


class Flat:
    """The structure of one leaf, or of a tuple or list of leaves; like a ``PyTreeSpec`` and never equal to one.

    Attributes
    ----------
    type : type or None
        ``tuple``, ``list``, or ``None`` for one leaf.
    num_leaves : int
    """

    __slots__ = ("num_leaves", "type")

    def __init__(self, kind: type[tuple[Any, ...]] | type[list[Any]] | None, num_leaves: int) -> None:
        self.type = kind
        self.num_leaves = num_leaves

    def is_leaf(self) -> bool:
        """Return true for one leaf."""
        return self.type is None

    def paths(self) -> list[tuple[int, ...]]:
        """Return the way to each leaf."""
        return [()] if self.type is None else [(i,) for i in range(self.num_leaves)]

    def flatten_up_to(self, value: Any) -> list[Any]:
        """Return what stands in ``value`` in the places of the leaves."""
        if self.type is None:
            return [value]
        if type(value) is self.type and len(value) == self.num_leaves:
            return list(value)
        found: list[Any] = _structure_of_optree(self).flatten_up_to(value)  # says what does not fit
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flat) and self.type is other.type and self.num_leaves == other.num_leaves

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves))

    def __repr__(self) -> str:
        return repr(_structure_of_optree(self))


class Attribute(str):
    """A step on the way to a leaf: an attribute of an object, in messages ``.x``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f".{self}"


LEAF = Flat(None, 1)


def opaque(cls: type) -> None:
    """Let ``cls`` be known as a leaf."""
    _OPAQUE.add(cls)


def _optree() -> Any:
    """Return the module, with all types registered so far."""
    global _pending, _loaded
    if _loaded is None:
        with undivided():
            import optree

            mark_internal(os.path.dirname(optree.__file__))  # what it calls is ours
            with _lock:
                for entry in _pending or ():
                    _enter(optree, *entry)
                _pending, _loaded = None, optree
    return _loaded


def _enter(optree: Any, cls: type, to_children: Any, from_children: Any, composite: bool) -> None:
    for namespace in (EXPANDED,) if composite else (PLAIN, EXPANDED):
        # it is there: an interrupt came between this and a note of it
        with contextlib.suppress(ValueError), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a class of named tuples is known already
            optree.register_pytree_node(cls, to_children, from_children, namespace=namespace)


def _structure_of_optree(flat: Flat) -> Any:
    sample = 0 if flat.type is None else flat.type([0] * flat.num_leaves)
    return _optree().tree_structure(sample, none_is_leaf=True)


def register(
    cls: type,
    to_children: Callable[[Any], tuple[Any, ...]],
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
        comparable, it is part of the structure. A third part names the ways to the children, for messages.
    from_children : callable
        ``from_children(static data, children)`` builds a value.
    composite : bool
        A leaf except where ``expand_composites=True``.

    Examples
    --------
    >>> class Pair:
    ...     def __init__(self, left, right):
    ...         self.left, self.right = left, right
    >>> al.nest.register(Pair, lambda p: ((p.left, p.right), None), lambda _, leaves: Pair(*leaves))
    >>> al.nest.flatten([Pair(1, 2), 3])
    [1, 2, 3]
    """
    with undivided(), _lock:
        if cls in _registered:
            return
        entry = (cls, to_children, from_children, composite)
        if _pending is None:
            _enter(_loaded, *entry)
        else:
            _pending.append(entry)
        _registered.add(cls)


def _register_dataclass(cls: type) -> None:
    import dataclasses  # the user's code has

    # what a property gives is kept under another name
    fields = tuple(f.name for f in dataclasses.fields(cls) if not isinstance(getattr(cls, f.name, None), property))

    def to_children(value: Any) -> tuple[Iterable[Any], Any, Iterable[Any]]:
        own = getattr(value, "__dict__", {})  # attributes that are no fields are kept too, as what `__post_init__` sets
        names = tuple([name for name in fields if hasattr(value, name)] + [name for name in own if name not in fields])
        return [getattr(value, name) for name in names], names, tuple(map(Attribute, names))

    def from_children(names: Any, children: Any) -> Any:
        made: Any = object.__new__(cls)
        for name, child in zip(names, children):
            object.__setattr__(made, name, child)  # frozen dataclasses refuse setattr
        return made

    register(cls, to_children, from_children)


def tuple_of(kind: type[tuple[Any, ...]], parts: Iterable[Any], attributes: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a tuple of a class, which may take other arguments than elements, with attributes of its own."""
    new = tuple.__new__(kind, parts)
    for key, one in attributes.items():
        object.__setattr__(new, key, one)
    return new


def like(value: Any, parts: Iterable[Any]) -> Any:
    """Return a tuple or list of the class, and with the attributes, of another one; a class of tuples is not called."""
    kind = type(value)
    if not isinstance(value, tuple):
        return kind(parts)
    return tuple(parts) if kind is tuple else tuple_of(kind, parts, getattr(value, "__dict__", {}))


def _has_own_constructor(cls: type) -> bool:
    """Return whether a class of named tuples does not make its objects as ``collections.namedtuple`` does."""
    made = next((vars(one)["__new__"] for one in cls.__mro__ if "__new__" in vars(one)), None)
    return not getattr(made, "__globals__", {}).get("__name__", "").startswith("namedtuple_")


def _register_named_tuple(cls: type[tuple[Any, ...]]) -> None:
    def to_children(value: Any) -> tuple[Iterable[Any], Any, Iterable[Any]]:
        own = getattr(value, "__dict__", {})
        names = (*cls._fields, *own)  # type: ignore[attr-defined]
        return [*tuple.__iter__(value), *own.values()], tuple(own), tuple(map(Attribute, names))

    def from_children(names: Any, children: Any) -> Any:
        made = list(children)
        many = len(made) - len(names)
        return tuple_of(cls, made[:many], dict(zip(names, made[many:])))

    register(cls, to_children, from_children)


def _registers_named_tuples(value: Any, structure: Any) -> bool:
    """Register classes of named tuples with constructors of their own, which are no business of structures.

    Returns whether there are new ones in ``value``, of which that structure has been found.
    """
    known = hash(structure)  # the structure itself would keep classes alive
    if known in _looked_at:
        return False
    new: set[type] = set()

    def look(node: Any) -> bool:
        cls = type(node)
        if (
            issubclass(type(node), tuple)
            and hasattr(cls, "_fields")
            and cls not in _registered
            and _has_own_constructor(cls)
        ):
            new.add(cls)
        return False

    _optree().tree_flatten(value, look, none_is_leaf=True, namespace=PLAIN)
    for cls in new:
        _register_named_tuple(cls)
    if not new:
        if len(_looked_at) >= _MOST_LOOKED_AT:
            _looked_at.clear()
        _looked_at.add(known)
    return bool(new)


def flatten_with_structure(value: Any, expand_composites: bool = False) -> tuple[list[Any], Structure]:
    """Return the leaves of ``value`` in order, and its structure."""
    kind = type(value)
    if kind in _OPAQUE:
        return [value], LEAF
    if (kind is tuple or kind is list) and _OPAQUE.issuperset(map(type, value)):
        return list(value), Flat(kind, len(value))
    return _flatten(value, EXPANDED if expand_composites else PLAIN)


def _flatten(value: Any, namespace: str) -> tuple[list[Any], Structure]:
    optree = _optree()
    while True:
        try:
            leaves, structure = optree.tree_flatten(value, none_is_leaf=True, namespace=namespace)
        except RecursionError:
            raise HoldsItself(
                f"a structure has an end, this {type(value).__name__} has none: it, or what it holds, holds itself"
            ) from None
        if _registers_named_tuples(value, structure):
            continue
        types = set(map(type, leaves))
        if types <= _OPAQUE:
            break
        unknown = [t for t in types - _OPAQUE - _registered if hasattr(t, "__dataclass_fields__")]
        if not unknown:
            break
        for cls in unknown:
            _register_dataclass(cls)
    # one form for each structure, so that equal ones are equal
    if len(leaves) == 1 and leaves[0] is value:
        return leaves, LEAF
    kind = type(value)
    if (kind is tuple or kind is list) and len(leaves) == len(value) and all(map(operator.is_, leaves, value)):
        return leaves, Flat(kind, len(leaves))
    return leaves, structure


def unflatten(structure: Structure, leaves: Iterable[Any]) -> Any:
    """Return the value of that structure with these leaves (``ValueError`` if their number is wrong)."""
    if not isinstance(structure, Flat):
        return _optree().tree_unflatten(structure, leaves)
    made = list(leaves)
    if len(made) != structure.num_leaves:
        raise ValueError(f"the structure has {structure.num_leaves} leaves, but {len(made)} values were given [AL215]")
    if structure.type is None:
        return made[0]
    return tuple(made) if structure.type is tuple else made


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Return the leaves of ``structure`` in order (dict entries in the order of their sorted keys).

    Parameters
    ----------
    structure : structure
        Tuples, lists, dicts, dataclasses and what is registered, in each other.
    expand_composites : bool
        Sparse tensors and their like are structures, not leaves.

    Returns
    -------
    list

    Examples
    --------
    >>> al.nest.flatten({"b": 1, "a": (2, [3])})
    [2, 3, 1]
    """
    if _loaded is None:  # which takes longer to load than a small function to trace
        leaves: list[Any] = []
        if _added_plain(structure, leaves):
            return leaves
    return flatten_with_structure(structure, expand_composites)[0]


def _added_plain(structure: Any, leaves: list[Any]) -> bool:
    """Add the leaves of tuples and lists to ``leaves``; return False if there is more in it than those."""
    kind = type(structure)
    if kind is tuple or kind is list:
        return all(_added_plain(part, leaves) for part in structure)
    leaves.append(structure)
    return kind in _OPAQUE


def is_nested(value: Any) -> bool:
    """Return true for a structure, False for a leaf.

    Parameters
    ----------
    value : Any

    Returns
    -------
    bool

    Examples
    --------
    >>> al.nest.is_nested([1]), al.nest.is_nested(1)
    (True, False)
    """
    leaves, _ = flatten_with_structure(value)
    return not (len(leaves) == 1 and leaves[0] is value)


def structure_of(value: Any, expand_composites: bool = False) -> Structure:
    """Return the structure of ``value``, comparable with ``==``."""
    return flatten_with_structure(value, expand_composites)[1]


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False) -> Any:
    """Return ``flat_sequence`` in the structure of ``structure``.

    Parameters
    ----------
    structure : structure
        Tuples, lists, dicts, dataclasses and what is registered, in each other.
    flat_sequence : sequence
        As many leaves as ``structure`` has.
    expand_composites : bool
        Sparse tensors and their like are structures, not leaves.

    Returns
    -------
    structure

    Raises
    ------
    ValueError
        If the number of leaves differs.

    Examples
    --------
    >>> al.nest.pack_sequence_as((0, [0, 0]), [1, 2, 3])
    (1, [2, 3])
    """
    spec = structure_of(structure, expand_composites)
    if spec.num_leaves != len(flat_sequence):
        raise ValueError(
            f"the structure has {spec.num_leaves} leaves, but {len(flat_sequence)} values were given [AL215]"
        )
    return unflatten(spec, flat_sequence)


@calls_back("func", traces=False)
def map_structure(func: Callable[..., Any], *structures: Any, expand_composites: bool = False) -> Any:
    """Call ``func`` with the leaves of the structures, position by position; the result has the same structure.

    Parameters
    ----------
    func : callable
        Takes one leaf of each structure.
    *structures : structure
        All of one structure.
    expand_composites : bool
        Sparse tensors and their like are structures, not leaves.

    Returns
    -------
    structure

    Raises
    ------
    TypeError
        If ``func`` is not callable.
    ValueError
        If no structure is given or the structures differ.

    Examples
    --------
    >>> al.nest.map_structure(lambda x, y: x + y, (1, [2]), (10, [20]))
    (11, [22])
    """
    if not callable(func):
        raise TypeError(f"func must be callable, not {func!r} [AL215]")
    if not structures:
        raise ValueError("at least one structure is needed [AL215]")
    flat = []
    leaves, spec = flatten_with_structure(structures[0], expand_composites)
    flat.append(leaves)
    for other in structures[1:]:
        assert_same_structure(structures[0], other, expand_composites=expand_composites)
        flat.append(flatten(other, expand_composites))
    return unflatten(spec, [func(*column) for column in zip(*flat)])


#: how optree begins what it says of an object: its type, and its static data
_OBJECT = r"CustomTreeNode\((\w+)\[([^\[\]]*)\], "


def _type_of_object(found: re.Match[str]) -> str:
    """Return the name of a class: the static data if that is one, which stands for its objects then."""
    return f"{found[2] if found[2].isidentifier() else found[1]}("


def key_text(key: Any) -> str:
    """Return what messages and names call a key of a dict: as it says itself, unless a class of the user's would be
    asked, whose ``__repr__`` may count, or need what is not there yet."""
    if type(key) is tuple:
        return f"({', '.join(map(key_text, key))}{',' * (len(key) == 1)})"
    return repr(key) if type(key) in _OPAQUE else f"<{type(key).__name__}>"


def describe(value: Any) -> str:
    """Return a structure in words a person can compare: ``(*, [*, *])``."""
    text = str(structure_of(value)).removeprefix("PyTreeSpec(").split(", NoneIsLeaf")[0]
    return re.sub(_OBJECT, _type_of_object, text)


def describe_composite(structure: Structure) -> str:
    """Return what a leaf is whose structure with ``expand_composites=True`` is this one, in words."""
    if structure.type is None:
        return "Tensor"
    return f"{structure.type.__name__} of {structure.num_leaves} tensor{'s' * (structure.num_leaves > 1)}"


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Check that two values have the same structure.

    Parameters
    ----------
    nest1 : structure
    nest2 : structure
    check_types : bool
        The types of what holds the leaves must be the same.
    expand_composites : bool
        Sparse tensors and their like are structures, not leaves.

    Raises
    ------
    TypeError
        If the containers' types differ (a list for a tuple) and ``check_types`` is set.
    ValueError
        If their arity or keys differ.

    Examples
    --------
    >>> al.nest.assert_same_structure((1, [2]), (3, [4]))
    >>> al.nest.assert_same_structure((1, [2]), (3, 4))
    Traceback (most recent call last):
        ...
    ValueError: the two structures don't have the same nested structure: (*, [*]) and (*, *) [AL215]
    """
    a, b = structure_of(nest1, expand_composites), structure_of(nest2, expand_composites)
    if a == b:
        return
    text = f"the two structures don't have the same nested structure: {describe(nest1)} and {describe(nest2)}"
    if _skeleton(nest1) == _skeleton(nest2):
        if check_types:
            raise TypeError(f"{text} (the types of the containers differ) [AL215]")
        return
    raise ValueError(f"{text} [AL215]")


def _skeleton(value: Any) -> Any:
    """Return the shape of a structure without the types of its sequences."""
    if isinstance(value, dict):
        return {key: _skeleton(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_skeleton(item) for item in value]
    if is_nested(value):
        return [
            _skeleton(item)
            for item in _optree().tree_leaves(
                value, is_leaf=lambda x: x is not value, none_is_leaf=True, namespace=PLAIN
            )
        ]
    return None


__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as", "register"]
__dir__ = listing(globals())
