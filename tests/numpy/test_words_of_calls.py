"""NumPy's functions and methods called with wrong and odd arguments: NumPy's result, or its error in its words."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator

import autoloop as al
import numpy as np
import pytest
from each_case import each
from random_expressions import compiled

#: what has no value of its own, asks for settings or files, or takes long
LEFT_OUT = frozenset(
    "busday_count busday_offset busdaycalendar datetime_as_string datetime_data disp empty empty_like errstate "
    "fromfile fromregex frompyfunc genfromtxt get_include get_printoptions getbufsize geterr geterrcall info is_busday "
    "load loadtxt nested_iters printoptions save savetxt savez savez_compressed set_printoptions setbufsize seterr "
    "seterrcall show_config show_runtime test bmat asmatrix dump dumps tofile setflags getfield setfield".split()
)
#: of a matrix ``x``, a vector ``v``, a complex one ``e``, a float ``s`` and an int ``n`` that only the run knows
ALIKE = ("e", "s", "int(n)", "str(int(n))", "[s, v]")
MORE = (
    "foo=1", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13", "axis=7", "axis=-4", "axis='a'", "axis=1.5", "axis=(0, 0)",
    "order='q'", "kind=3", "mode='q'", "casting='q'", "side='q'", "UPLO='q'", "norm=3", "method='q'", "dtype='nope'",
    "dtype='S3'", "where=v", "where='q'", "keepdims='q'", "initial=v", "out=v", "out='q'",
)  # fmt: skip
OF_METHODS = ("", "foo=1", "1, 2, 3, 4, 5", "7", "'q'", "v", "1.5", "None", "(0, 0)", "axis=7", "dtype='nope'")
STEP = 89


def _operands(f) -> int:
    if isinstance(f, np.ufunc):
        return f.nin
    try:
        given = inspect.signature(f).parameters.values()
    except ValueError:
        return 1
    return max(1, sum(p.default is p.empty and p.kind is not p.VAR_POSITIONAL for p in given))


def _calls() -> Iterator[str]:
    for space, module in (("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft)):
        for name, f in sorted(vars(module).items()):
            if name[0] == "_" or name in LEFT_OUT or isinstance(f, type) or not callable(f):
                continue
            count = _operands(f)
            yield from (f"{space}.{name}({', '.join([one] * count)})" for one in ALIKE)
            yield from (f"{space}.{name}({', '.join(['x'] * count)}, {more})" for more in MORE)
            yield f"{space}.{name}({', '.join(['x', 'v', 'v', 'v'][:count])})"
    for name in dir(np.ndarray):
        if name[0] != "_" and name not in LEFT_OUT and callable(getattr(np.ndarray, name)):
            yield from (f"x.{name}({given})" for given in OF_METHODS)


def _outcome(f):
    given = np.array([[3.0, -1.0, 2.5], [0.5, 4.0, -2.0]]), np.array([2.0, 0.5, 3.0, 1.0]), np.array([1 + 2j, 3.0])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of what plain Python runs
        try:
            made = f(*map(np.copy, given), np.float64(2.5), np.int64(3))
        except Exception as error:
            return type(error), str(error)
    with np.printoptions(precision=6):
        return type(made), str(made).partition(" at 0x")[0]


#: what ours once took, or told otherwise
ONCE = """
np.copyto(s, s); np.copyto(x, x, where=v); np.isscalar(str(int(n))); np.iterable(str(int(n)))
np.isfortran(str(int(n))); np.promote_types(str(int(n)), "f4"); np.full(str(int(n)), 1.0); np.sum(x, initial=v)
np.nanmax(x, initial=v); np.prod(x, initial=np.ones(1)); x.clip(dtype="nope"); np.clip(x, None, None, dtype="c16")
np.linalg.tensorsolve(s, s); np.linalg.tensorsolve(int(n), int(n)); x.item(v); x.to_device(7); x.to_device(None)
"""


def _wrong(lines):
    wrong = []
    for line in lines:
        f = compiled(f"def program(x, v, e, s, n):\n    return {line}\n")
        found = _outcome(f), _outcome(al.function(f))
        if found[0] != found[1]:
            wrong.append((line, *found))
    return wrong


@each([list(_calls())[k :: 4 * STEP] for k in range(4)], lambda lines: lines[0], one_in=2)
def test_wrong_calls_are_told_in_numpys_words(lines):
    assert not _wrong(lines)


def test_odd_calls():
    assert not _wrong(filter(None, map(str.strip, ONCE.replace("\n", ";").split(";"))))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.clip(x, 1, 2, keepdims=False),
        lambda x: np.matmul(x, x[0], keepdims=False),
        lambda x: np.add(x, x, keepdims=False),
        lambda x: x.clip(1, 2, keepdims=False),
    ],
)
@pytest.mark.filterwarnings("ignore:.* runs as plain Python")
def test_keepdims_is_no_argument_of_functions_of_elements(f):
    with pytest.raises(TypeError) as plain:
        f(np.ones((2, 3)))
    with pytest.raises(TypeError) as ours:
        al.function(f)(np.ones((2, 3)))
    assert str(ours.value) == str(plain.value)
