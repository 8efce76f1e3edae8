"""Laws of static shapes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from api import UNKNOWN, TensorShape, broadcast_shapes
from hypothesis import given
from hypothesis import strategies as st

dims = st.one_of(st.none(), st.integers(0, 4))
shapes = st.one_of(st.none(), st.lists(dims, max_size=3)).map(TensorShape)
concrete = st.lists(st.integers(0, 4), max_size=3).map(tuple)


def test_it_is_equal_to_lists_and_tuples():
    assert TensorShape([2, None]) == [2, None] == TensorShape((2, None))
    assert TensorShape(3) == [3]
    assert TensorShape([2]) != [3]
    assert TensorShape(None).rank is None and not TensorShape(None)
    assert TensorShape([2, None]).as_list() == [2, None]


def test_it_is_a_tuple_to_whoever_expects_one():
    shape = TensorShape([2, 3])
    assert isinstance(shape, tuple) and shape == (2, 3) and (2, 3) == shape and hash(shape) == hash((2, 3))
    assert {(2, 3): "found"}[shape] == "found" and not shape != (2, 3) and shape != (2, 4)
    assert (*shape,) == tuple(shape) == shape[:] == (2, 3) and shape[-1] == 3 and "{} by {}".format(*shape) == "2 by 3"
    assert (1,) + shape == shape[:0] + (1, 2, 3) == (1, 2, 3) and 3 in shape and shape.index(3) == 1
    assert shape[:-1] + (-1, 2) == (2, -1, 2) and (-1,) + shape == (-1, 2, 3)  # what `reshape` is asked for with
    assert np.zeros(shape).shape == np.broadcast_shapes(shape, (1, 3)) == (2, 3)
    for one in (shape, TensorShape([2, None]), TensorShape(()), TensorShape(None)):
        assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one


def test_an_unknown_rank_is_no_empty_tuple():
    unknown = TensorShape(None)
    assert unknown != () and () != unknown and TensorShape(()) != unknown and unknown == None  # noqa: E711
    for read in (len, list, tuple, lambda s: s[0], lambda s: (*s,)):
        with pytest.raises(ValueError, match="the rank of this shape is not known"):
            read(unknown)
    for read in (lambda s: s + (-1,), lambda s: (-1,) + s):
        with pytest.raises(ValueError, match="the rank of this shape is not known"):
            read(unknown)
    assert not unknown[1:] and not unknown + (2,) and not (2,) + unknown


def test_the_document_s_examples():
    assert TensorShape([11, 17]).is_subsumed_by([11, None])
    assert not TensorShape([11, None]).is_subsumed_by([11, 17])
    assert not TensorShape([11, 21]).is_compatible_with([11, 17])


@pytest.mark.parametrize(
    "bad, error", [([-1], ValueError), (["a"], TypeError), ([True], TypeError), ([1.5], TypeError)]
)
def test_nonsense_is_refused(bad, error):
    with pytest.raises(error):
        TensorShape(bad)


@given(shapes, shapes)
def test_merging_holds_for_both_and_covers_neither_more(a, b):
    if a.is_compatible_with(b):
        merged = a.merge_with(b)
        assert merged.is_subsumed_by(a) and merged.is_subsumed_by(b)
    else:
        with pytest.raises(ValueError):
            a.merge_with(b)


@given(shapes, shapes)
def test_the_most_general_shape_covers_both(a, b):
    general = a.most_general(b)
    assert a.is_subsumed_by(general) and b.is_subsumed_by(general)


@given(shapes, concrete)
def test_matching_is_being_subsumed(shape, actual):
    assert shape.matches(actual) == TensorShape(actual).is_subsumed_by(shape)


def forget(shape, which):
    return TensorShape([None if w else d for d, w in zip(shape, which)])


@given(concrete, concrete, st.lists(st.booleans(), min_size=3, max_size=3))
def test_static_broadcasting_never_contradicts_numpy(a, b, which):
    try:
        expected = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(ValueError, match="broadcast"):
            broadcast_shapes(TensorShape(a), TensorShape(b))
        return
    assert broadcast_shapes(TensorShape(a), TensorShape(b)) == expected
    assert broadcast_shapes(forget(a, which), TensorShape(b)).matches(expected)
    assert broadcast_shapes(UNKNOWN, TensorShape(b)).matches(expected)
