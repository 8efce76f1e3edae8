"""Every counterpart of a function of NumPy's has exactly the parameters of that: names, order, kinds, defaults."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from api import _SIGNATURES, NUMPY_FUNCTIONS, Counterpart

#: the version of NumPy whose signatures the counterparts have; a newer one shows here what changed
WRITTEN_FOR = (2, 4)
WRITTEN = {f: ours for f, ours in NUMPY_FUNCTIONS.items() if not isinstance(ours, Counterpart)}
NEWEST = tuple(map(int, np.__version__.split(".")[:2])) >= WRITTEN_FOR


def _parameters(f):
    """What a caller sees of each parameter; those given by place only have no name that matters."""
    return [
        (None if p.kind is p.POSITIONAL_ONLY else p.name, p.kind.name, repr(p.default))
        for p in inspect.signature(f).parameters.values()
    ]


def _ids(f):
    return f"{getattr(f, '__module__', 'ndarray')}.{f.__name__}"


@pytest.mark.skipif(not NEWEST, reason="an older NumPy, whose functions have fewer parameters")
#: of which NumPy says only in words what they take
@pytest.mark.parametrize("function", [f for f in WRITTEN if f is not np.ndarray.view], ids=_ids)
def test_parameters_are_numpys(function):
    assert _parameters(WRITTEN[function]) == _parameters(_SIGNATURES.get(function, function))


@pytest.mark.parametrize("function", WRITTEN, ids=_ids)
def test_nothing_is_swallowed(function):
    kinds = {p.kind for p in inspect.signature(WRITTEN[function]).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds or function in (np.einsum, np.clip)


def test_python_names_numpys_function_where_a_call_is_wrong():
    for ours in WRITTEN.values():
        assert ours.__name__ in [function.__name__ for function in WRITTEN if WRITTEN[function] is ours]
