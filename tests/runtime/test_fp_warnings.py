"""NumPy's floating-point warnings are off between ``silence`` and ``restore``, and only there."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from api import fp_warnings


@pytest.fixture(params=["the context variable", "errstate"])
def pair(request, monkeypatch):
    if request.param == "errstate":
        monkeypatch.setattr(fp_warnings, "_setting", lambda: None)
    else:
        assert fp_warnings._setting() is not None, (
            "this NumPy keeps its settings elsewhere: errstate is used, and slower"
        )
    return fp_warnings._functions()


def test_off_and_on_again(pair):
    silence, restore = pair
    with np.errstate(all="raise"):
        outer = silence()
        inner = silence()
        assert set(np.geterr().values()) == {"ignore"}
        assert np.isinf(np.float64(1) / np.float64(0))
        restore(inner)
        assert set(np.geterr().values()) == {"ignore"}
        restore(outer)
        assert set(np.geterr().values()) == {"raise"}
        with pytest.raises(FloatingPointError):
            np.float64(1) / np.float64(0)


def test_other_threads_keep_theirs(pair):
    silence, restore = pair
    found = []

    def look():
        with np.errstate(divide="raise"):
            found.append(np.geterr()["divide"])

    token = silence()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join(10)
    restore(token)
    assert found == ["raise"]
