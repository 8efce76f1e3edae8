"""Structures and their leaves."""

from __future__ import annotations

import collections
import dataclasses

import pytest
from autoloop_runtime import nest
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
