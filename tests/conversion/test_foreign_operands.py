"""Operators of arrays and numbers with what is neither, and functions of NumPy's whose first argument is a list."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each
from left_to_python import refused_or_plain
from written_out import outcome, program

#: of a vector ``x``, a matrix ``m``, an int64 ``n`` and what a loop counts up to that, ``k``, a Python number
SAME = """
x == None; None == x; x != None; x == "a"; "a" != x; x == {}; x == {1}; x == print; m == "a"; (x == None).sum()
n == "a"; n != "a"; n == None; n == {}; n == print; x[0] == "a"; n == L; n != (3,); x < "a"; n < None; n + "a"; "a" + n
x + {}; x[0] * L; L * x[0]; k + L; L + k; k + (1,); k < L; k == L; k != L; k / L; k @ L; k == print; k == "a"
np.bool_(n) * L; None in x; "a" in x; x[0] in [None, 0.5]; n in ["a", 2]; n in (None,); k in [None, "a"]; (k, None)
np.tile(L, n); np.tile([1.5], n); np.tile(3, n); np.tile([1, x[0]], n); np.repeat(L, n); np.repeat(2.5, n)
k * .5 * L; np.roll(L, n); np.take(L, n - 2); np.take([0.5, 1.5], m[0].astype(int) % 2); np.full_like(L, n)
np.add.reduce([n, 1]); np.add.outer([n, 1], L); np.multiply.accumulate([n, 2, 3]); np.add.reduceat([n, 1], [0, 1])
np.roll([1, x[0]], 1); np.add.reduce([x, x], axis=1); np.expand_dims([1, n], 0)
np.broadcast_to([1, n], (2, 2)).__setitem__(0, 1)
n @ n; n @ k; k @ n; n @ 2; 2 @ n; k @ k; x[0] @ x[1]; n @ np.float32(2); np.int8(2) @ n; x @ n; n @ x; k @ x; x @ 2
np.asarray(n) @ n; n @ np.asarray(n); m[0, 0, ...] @ 2
"""
REPEATED = 'L * n; n * L; (0,) * n; [0.5] * n; "ab" * n; b"a" * n; k * L; L * k; [x] * n; "ab" * k; k * (1,)'
COUNTED = "k = 0\nfor _ in range(n):\n    k += 1\nreturn "
GIVEN = (np.array([0.5, -1.5]), np.arange(4.0).reshape(2, 2), np.int64(3), [1, 2])


def expressions(text):
    return [one.strip() for one in text.replace("\n", ";").split(";") if one.strip()]


def form(value):
    return type(value), getattr(value, "dtype", None), np.shape(value), str(value)


@each(expressions(SAME))
def test_what_is_no_number_is_met_as_in_numpy(text):
    plain = program(COUNTED + text, ["x", "m", "n", "L"])
    wanted, ours = outcome(plain, *GIVEN), outcome(al.function(plain, executor="sequential"), *GIVEN)
    if isinstance(wanted, Exception):
        assert isinstance(ours, TypeError if isinstance(wanted, TypeError) else type(wanted)), repr(ours)
    else:
        assert form(wanted) == form(ours)


@each(expressions(REPEATED))
def test_a_sequence_is_not_taken_for_an_array(text):
    plain = program(COUNTED + text, ["x", "m", "n", "L"])
    refused_or_plain(plain, "cannot be repeated as often as only the run knows", *GIVEN)


@each(["diag([[1]], n)", "fft.fft([1], n)", "round(2.5, n)", "diff([1], n)"])
def test_what_has_to_be_known_is_named_whichever_argument_it_is(text):
    words = r"numpy\..*the argument '\w+' must be known while the graph is built"
    refused_or_plain(program(f"np.{text}", ["n"]), words, np.int64(3))


@each(
    [
        ("dtype = np.int64", "x.view"),
        ("shape = 1, 2", "x.reshape"),
        ("strides = (8,)", "a view"),
        ("imag = 1.0", "part to set"),
    ]
)
def test_what_an_array_is_cannot_be_set(text, words):
    with pytest.raises(TypeError, match=words):
        al.function(program(f"x.{text}\nreturn x", ["x"]), executor="native")(np.ones(2))


@each(
    [
        "np.concatenate([x, M])",
        "np.stack([M, x])",
        "np.dot(M, x)",
        "np.append(x, M)",
        "np.array([x, M])",
        "np.vstack((x, M))",
    ]
)
def test_a_mask_is_not_lost_in_a_list(text):
    made = f"M = np.ma.array([1.0, 2.0], mask=[False, True])\nreturn {text}"
    with pytest.raises(TypeError, match="a masked array, whose mask would be lost"):
        al.function(program(made, ["x"]), executor="native")(np.ones(2))


@each(
    [
        "np.modf(x, y)",
        "np.frexp(x, y)",
        "np.divmod(x, 2, y)",
        "np.modf(x, out=(None, y))",
        "np.divmod(x, 2, out=(y, z))",
    ]
)
def test_results_of_a_ufunc_that_are_not_given_room_are_arrays(text):
    plain = program(f"made = {text}\nreturn *made, y, z", ["x", "y", "z"])
    given = np.array([0.75, -2.5]), np.zeros(2), np.zeros(2)
    wanted, ours = outcome(plain, *given), outcome(al.function(plain, executor="sequential"), *given)
    assert [form(one) for one in wanted] == [form(one) for one in ours]
