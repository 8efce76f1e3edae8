"""Structures and their leaves."""

from __future__ import annotations

import collections
import dataclasses

import numpy as np
import optree
import pytest
from api import nest
from hypothesis import given
from hypothesis import strategies as st

Pair = collections.namedtuple("Pair", "a, b")


@dataclasses.dataclass
class Point:
    x: object
    y: object


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    only: object


structures = st.recursive(
    st.integers(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple),
        st.tuples(inner, inner).map(lambda t: Pair(*t)),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3), st.tuples(inner, inner).map(lambda t: Point(*t)),
        inner.map(Frozen),
    ),
    max_leaves=8,
)  # fmt: skip


@given(structures)
def test_packing_what_was_flattened_gives_the_structure_back(value):
    assert nest.pack_sequence_as(value, nest.flatten(value)) == value


@given(structures)
def test_mapping_keeps_the_structure(value):
    doubled = nest.map_structure(lambda v: v * 2, value)
    nest.assert_same_structure(value, doubled)
    assert nest.flatten(doubled) == [v * 2 for v in nest.flatten(value)]


def test_none_is_a_leaf_and_dicts_keep_their_order():
    assert nest.flatten([None, 1]) == [None, 1]
    assert list(nest.map_structure(lambda v: v, {"b": 1, "a": 2})) == ["b", "a"]


def test_what_differs_is_said():
    with pytest.raises(TypeError, match="types of the containers"):
        nest.assert_same_structure([1, 2], (1, 2))
    nest.assert_same_structure([1, 2], (1, 2), check_types=False)
    with pytest.raises(ValueError, match="same nested structure"):
        nest.assert_same_structure([1, 2], [1, [2]])
    with pytest.raises(ValueError, match="2 leaves, but 3"):
        nest.pack_sequence_as([1, 2], [1, 2, 3])
    with pytest.raises(TypeError, match="callable"):
        nest.map_structure(3, [1])
    with pytest.raises(ValueError, match="at least one"):
        nest.map_structure(len)


class Opaque:
    """A leaf that nest knows nothing of."""


@pytest.mark.parametrize("value", [1, (), [], (1,), [1, 2.0], (1, None, "a"), (np.ones(2), np.float32(1))])
def test_flat_structures_answer_as_those_of_optree(value):
    leaves, flat = nest.flatten_with_structure(value)
    theirs, spec = optree.tree_flatten(value, none_is_leaf=True)
    assert isinstance(flat, nest.Flat) and all(a is b for a, b in zip(leaves, theirs, strict=True))
    assert (flat.num_leaves, flat.type, flat.is_leaf()) == (spec.num_leaves, spec.type, spec.is_leaf())
    assert flat.paths() == spec.paths() and repr(flat) == repr(spec)
    assert type(nest.unflatten(flat, leaves)) is type(value)
    for other in (value, [(1, 2)] * len(leaves), tuple([[1]] * len(leaves)), 3, {"a": 1}):
        try:
            expected = spec.flatten_up_to(other)
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                flat.flatten_up_to(other)
        else:
            assert flat.flatten_up_to(other) is not None and len(flat.flatten_up_to(other)) == len(expected)
    if not flat.is_leaf():
        with pytest.raises(ValueError, match="leaves"):
            nest.unflatten(flat, [*leaves, 1])


def test_one_structure_has_one_form_whatever_its_leaves():
    one, other = object(), Opaque()
    for known, unknown in ((1, one), ((1, 2), (one, other)), ([1], [other])):
        a, b = nest.structure_of(known), nest.structure_of(unknown)
        assert a == b and hash(a) == hash(b)
    different = [1, (1,), [1], (1, 2), ((1,),), {"a": 1}, [(1,)], ()]
    structures = [nest.structure_of(v) for v in different]
    assert all((a == b) == (i == j) for i, a in enumerate(structures) for j, b in enumerate(structures))


@pytest.mark.parametrize(
    "value",
    [
        (), [], 1, None, (1, [2.0, (None, "a")], []), ((np.float64, np.dtype("f4")), [np.arange(2), np.int8(1)]), {},
        (1, {"b": 2, "a": 3}), [Pair(1, 2), Point(3, 4)], slice(1), ({1, 2},), [(), ((), ())],
    ],
)  # fmt: skip
def test_leaves_are_the_same_before_optree_is_loaded(monkeypatch, value):
    wanted = nest.flatten(value)
    monkeypatch.setattr(nest, "_added_plain", with_note(nest._added_plain, noted := []))
    monkeypatch.setattr(nest, "_loaded", None)
    monkeypatch.setattr(nest, "_pending", [])
    found = nest.flatten(value)
    assert noted and len(found) == len(wanted) and all(one is other for one, other in zip(found, wanted))


def with_note(f, noted):
    return lambda *args: noted.append(args) or f(*args)
