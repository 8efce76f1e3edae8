"""Arguments that NumPy's functions take for something else than they are, or do not take: as in plain Python."""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
import pytest

M = np.array([[1.0, 2.0], [3.0, 4.0]])
CALLS = {
    "repeats that are no integer": lambda x, z: np.repeat(x, z),
    "repeats made in the function": lambda x, z: np.repeat(x, np.array(2.5)),
    "repeats of a method": lambda x, z: x.repeat(z),
    "repeats that are a scalar": lambda x, z: np.repeat(x, z + 0.25),
    "astype": lambda x, z: x.astype(z),
    "can_cast": lambda x, z: np.can_cast(x, z),
    "astype with a rule": lambda x, z: x.astype(z, casting="same_kind"),
    "fromiter": lambda x, z: np.fromiter([1.0], z),
    "ddof with more elements": lambda x, z: np.std(x, ddof=x),
    "correction without axes": lambda x, z: np.var(x, correction=z),
    "a view": lambda x, z: x.view(z),
    "discont with more elements": lambda x, z: np.unwrap(M + x[0], M),
    "discont with as many": lambda x, z: np.unwrap(x, np.ones(3)),
    "polydiv with two axes": lambda x, z: np.polydiv(M + x[0], M),
    "one out of two": lambda x, z: np.modf(2, x),
    "the other out of two": lambda x, z: np.modf(2, out=(None, x)),
    "one out of two of frexp": lambda x, z: np.frexp(2, x),
    "two shapes of out": lambda x, z: np.modf(2.5, x, np.zeros((3, 4))),
    "a width that is an array": lambda x, z: np.array_repr(x, x),
    "a width without axes": lambda x, z: np.array_repr(x, z),
    "edges of complex numbers": lambda x, z: np.histogram_bin_edges(x + 1j, 3),
    "documentation": lambda x, z: (x.__doc__, z.__doc__, x[0].__doc__, np.float64(x).__doc__, float(z).__doc__),
}


def outcome(f):
    x, z = np.array([1.5, 2.5, 3.5, 4.5]), np.array(2.5)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            made = f(x, z)
            said = type(made), repr(made)
        except (TypeError, ValueError) as error:
            said = type(error), str(error).partition("\n")[0]
    return said, x.tolist(), z.tolist(), [one.category for one in told if "as plain Python" not in str(one.message)]


@pytest.mark.parametrize("name", CALLS)
def test_it_is_as_in_plain_python(name):
    decorated = al.function(CALLS[name])
    for _ in range(2):
        assert outcome(decorated) == outcome(CALLS[name])
