"""What no graph can hold: plain Python runs it where it may, with a warning, and it is refused elsewhere."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import autoloop as al
import numpy as np
import pytest


def _outcome(f: Callable[..., Any], given: Sequence[Any]) -> tuple[Any, Any]:
    given = copy.deepcopy(given)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "'where' used without 'out'")  # in newer versions of NumPy
        warnings.filterwarnings("ignore", "Cannot convert float", DeprecationWarning)
        try:
            return f(*given), given
        except Exception as error:
            return (type(error), str(error)), given


def refused_or_plain(f: Callable[..., Any], words: str, *given: Any) -> None:
    """Check that of arrays plain Python gives its answer, after a warning with these words; where a graph is needed
    they are those of the ``TypeError``."""
    with pytest.raises(TypeError, match=words):
        al.function(f, executor="native")(*copy.deepcopy(given))
    plain = _outcome(f, given)
    decorated = al.function(f)
    with pytest.warns(UserWarning, match=f"runs as plain Python, at each call: .*(?:{words})"):
        _same(_outcome(decorated, given), plain)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".* runs as plain Python")  # it was told once
        _same(_outcome(decorated, given), plain)


def _same(ours: Any, plain: Any) -> None:
    (made, left), (wanted, changed) = ours, plain
    assert type(made) is type(wanted)
    np.testing.assert_equal(left, changed)
    np.testing.assert_equal(made, wanted)
