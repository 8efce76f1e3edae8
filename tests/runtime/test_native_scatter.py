"""Machine code for what is added at points."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from native_checks import check


@pytest.mark.parametrize("shape", [(5, 2), (None, 2), (None, None)])
def test_the_shape_of_what_is_added_up_may_be_that_of_a_tensor(shape):
    places = np.array([[1], [4], [1]])

    def f(x):
        return al.scatter(places, al.gather_nd(x, places), al.shape(x))

    def of_rows(x):
        return al.grad(lambda x: al.sum(al.gather_nd(x, places) ** 2))(x)

    x = np.arange(10.0).reshape(5, 2)
    for one in (f, of_rows):
        check(one, x, shapes=[shape])
