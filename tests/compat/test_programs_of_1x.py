"""Whole programs of 1.x give the numbers, names and errors that TensorFlow gives: its figures are stored."""

from __future__ import annotations

import json

import autoloop.compat.v1 as tf
import numpy as np
from each_case import each
from programs_of_1x import FIGURES, PROGRAMS

WANTED = json.loads(FIGURES.read_text())


@each(PROGRAMS)
def test_programs_do_what_they_do_in_tensorflow(name):
    with tf.Graph().as_default():
        found = PROGRAMS[name](tf)
    wanted = WANTED[name]
    assert found.keys() == wanted.keys()
    for key, value in found.items():
        if isinstance(value, (list, str)):
            assert value == wanted[key], key
            continue
        dtype, shape, numbers = wanted[key]
        array = np.asarray(value)
        assert (str(array.dtype), list(array.shape)) == (dtype, shape), key
        np.testing.assert_allclose(array.ravel(), np.array(numbers, dtype), rtol=2e-5, atol=1e-6, err_msg=key)
