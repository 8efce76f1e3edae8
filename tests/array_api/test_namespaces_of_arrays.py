"""The namespace of the user's arrays in a decorated function is NumPy's, as it is outside; of tensors it is ours."""

import sys

import autoloop as al
import numpy as np
import pytest


def asked(x):
    xp = x.__array_namespace__()
    return xp.sum(xp.exp(x), axis=0), xp is np


def asked_of_a_scalar(x):
    return x[0, 0].__array_namespace__().sqrt(x[0, 0])


def asked_in_a_loop(x):
    while x.sum() < 100:
        xp = x.__array_namespace__(api_version="2023.12")
        x = xp.concat([x, x])
    return x


def of_no_version(x):
    return x.__array_namespace__(api_version="1999.12")


def weighed(x):
    return sys.getsizeof(x) > 100, type(x)


def by_compat(x):
    compat = pytest.importorskip("array_api_compat")
    xp = compat.array_namespace(x)
    return xp.sum(x), xp.__name__, compat.is_numpy_array(x)


def played(function):
    try:
        return repr(function(np.ones((4, 3))))
    except ValueError as error:
        return str(error).partition("\n")[0]


@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
@pytest.mark.parametrize(
    "program", (asked, asked_of_a_scalar, asked_in_a_loop, of_no_version, weighed, by_compat), ids=lambda f: f.__name__
)
def test_arrays_have_numpy_s(program):
    function = al.function(program)
    assert [played(function), played(function)] == [played(program)] * 2


def test_what_a_library_tells_of_types_is_asked_of_arrays():
    compat = pytest.importorskip("array_api_compat")
    found = al.function(lambda x: (compat.is_numpy_array(x), compat.array_namespace(x)))
    with pytest.warns(UserWarning, match="is a library's own, which computes with values"):
        assert found(np.ones(2)) == (True, compat.array_namespace(np.ones(2)))


def test_tensors_have_ours():
    assert al.function(lambda x: al.sum(x.__array_namespace__().ones(3)) + al.sum(x))(al.ones(2)) == 5
