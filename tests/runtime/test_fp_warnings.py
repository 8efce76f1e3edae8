"""NumPy's floating-point warnings are off between ``silence`` and ``restore``, and only there."""

from __future__ import annotations

import threading

import autoloop as al
import numpy as np
import pytest
from api import apply_module, called_kernel, compile_python, executable, fp_warnings


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
    setting, silence, restore, *_ = pair
    with np.errstate(all="raise"):
        outer = setting()
        silence()
        inner = setting()
        silence()
        assert set(np.geterr().values()) == {"ignore"}
        assert np.isinf(np.float64(1) / np.float64(0))
        restore(inner)
        assert set(np.geterr().values()) == {"ignore"}
        restore(outer)
        assert set(np.geterr().values()) == {"raise"}
        with pytest.raises(FloatingPointError):
            np.float64(1) / np.float64(0)


def test_other_threads_keep_theirs(pair):
    setting, silence, restore, *_ = pair
    found = []

    def look():
        with np.errstate(divide="raise"):
            found.append(np.geterr()["divide"])

    before = setting()
    silence()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join(10)
    restore(before)
    assert found == ["raise"]


class Stop(BaseException):
    pass


def stopped():
    """What a signal handler does that runs as soon as the warnings are off."""
    fp_warnings.silence()
    raise Stop


@pytest.mark.parametrize(
    ("module", "executor"), [(compile_python, "sequential"), (executable, "dataflow"), (apply_module, None)]
)
def test_a_signal_that_raises_then_leaves_them_as_they_were(monkeypatch, module, executor):
    f = al.function(lambda x: x * 2 + 1, executor=executor) if executor else lambda: al.constant(1.0) + 1
    given = (np.ones(3),) if executor else ()
    f(*given)
    monkeypatch.setattr(module, "silence", stopped)
    before = np.geterr()
    with pytest.raises(Stop):
        f(*given)
    assert np.geterr() == before


def test_so_does_one_in_a_kernel_that_machine_code_calls(monkeypatch):
    pytest.importorskip("llvmlite")
    f = al.function(lambda x: np.argsort(x) + 1, executor="native")
    x = np.array([3.0, 1.0, 2.0])
    f(x)
    monkeypatch.setattr(called_kernel, "silence", stopped)
    before = np.geterr()
    with pytest.raises(Stop):
        f(x)
    assert np.geterr() == before
