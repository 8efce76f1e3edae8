"""Powers, to the bit: of a few numbers of Python's the operator calls another function of NumPy's than ``np.power``."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
from each_case import each
from executors import needs_native

EXPONENTS = [2, 3, -1, 0.5, 1, 0, -2, 2.5, 2.0, -1.0, np.float64(0.5), np.int64(2)]
DTYPES = ["f4", "f8", "c8", "c16", "i1", "i8"]


def by_operator(x, exponent):
    return x**exponent


def in_place(x, exponent):
    y = x.copy()
    y **= exponent
    return y


def by_function(x, exponent):
    return np.power(x, exponent)


def operand(dtype):
    """Numbers enough that some differ; of floats those, too, of which no root is a power."""
    rng = np.random.default_rng(0)
    if dtype[0] in "iu":
        return rng.integers(1, 5, 60).astype(dtype)
    x = rng.normal(size=60) + (1j * rng.normal(size=60) if dtype[0] == "c" else 0)
    x[:2] = -0.0, -np.inf
    return x.astype(dtype)


def outcome(f, *operands):
    try:
        with np.errstate(all="ignore"):
            return f(*operands)
    except (TypeError, ValueError) as error:
        return type(error)


@each(product((by_operator, in_place, by_function), DTYPES), one_in=3)
def test_arrays_to_a_power_are_numpys_to_the_bit(f, dtype):
    x = operand(dtype)
    for executor, exponent in product(("sequential", "dataflow"), EXPONENTS):
        wanted = outcome(f, x, exponent)
        ours = al.function(lambda y, e=exponent: f(y, e), executor=executor)
        found = outcome(lambda x, _, ours=ours: ours(x), x, exponent)
        assert type(found) is type(wanted), (executor, exponent)
        assert found is wanted or (found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()), exponent


@needs_native
@each(DTYPES)
def test_arrays_to_a_power_are_numpys_but_for_the_last_bits_in_machine_code(dtype):
    x = operand(dtype)[2:]
    for exponent in (2, 3, 1) if dtype[0] == "c" else (2, 3, 0.5, 1, 0, 2.5, *((-1, -2) if dtype[0] == "f" else ())):
        base = abs(x) if dtype[0] == "f" else x
        wanted = base**exponent
        found = al.function(lambda y, e=exponent: y**e, executor="native")(base)
        assert found.dtype == wanted.dtype
        few = 8 * np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" else 0
        assert np.all(abs(found - wanted) <= few * abs(wanted)), exponent


#: operands without axes: those of NumPy's scalars, of its arrays, and Python's numbers
KINDS = {"scalar": lambda v: v, "array": np.array, "number": lambda v: v.item()}
OF_ONE = [
    lambda x: abs(x),
    lambda x: np.abs(x),
    lambda x: x**2,
    lambda x: x**3,
    lambda x: np.power(x, 3),
    lambda x: np.float32(1.7) ** x,
    lambda x: np.int64(3) ** x,
]
OF_TWO = [
    lambda x, y: x * y,
    lambda x, y: np.multiply(x, y),
    lambda x, y: x**y,
    lambda x, y: np.power(x, y),
]


def check_bits(f, decorated, *operands):
    wanted, found = outcome(f, *operands), outcome(decorated, *operands)
    assert type(wanted) is type(found), operands
    if wanted is not found and wanted == wanted:
        a, b = np.asarray(wanted), np.asarray(found)
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes(), operands


@each(product(OF_ONE, ["f4", "f8", "c8", "c16", "i8"]))
def test_what_has_no_axes_takes_the_path_it_takes_in_numpy(f, dtype):
    """Operators of scalars compute other last bits than the loops of functions, which arrays without axes take, too."""
    decorated = al.function(f, executor="sequential")
    for value in operand(dtype)[2:32]:
        for kind in ("scalar", "array"):
            check_bits(f, decorated, KINDS[kind](value))


@each(product(OF_TWO, [("f4", "f4"), ("f8", "i8"), ("u8", "f4"), ("c8", "c8"), ("c8", "c16"), ("c8", "f8")]))
def test_two_of_them_take_the_path_they_take_in_numpy(f, dtypes):
    pairs = [*zip(*map(operand, dtypes))][2:]
    for k, (a, b) in enumerate(product(KINDS, KINDS)):
        decorated = al.function(f, executor="sequential")
        if a != b or a != "number":
            for value, other in pairs[k :: 20 if "number" in (a, b) else 6]:  # each number is a trace
                check_bits(f, decorated, KINDS[a](value), KINDS[b](other))


@each(["f4", "f8"])
def test_scalars_and_arrays_without_axes_have_the_power_of_their_own(dtype):
    """Of -inf and -0.0 the root is nan and -0.0, the power inf and 0.0: NumPy's operator takes it of arrays only."""
    for value in operand(dtype)[:4]:
        for x in (value, np.array(value)):
            found = outcome(al.function(by_operator, executor="sequential"), x, 0.5)
            assert found.tobytes() == outcome(by_operator, x, 0.5).tobytes(), (value, type(x))
