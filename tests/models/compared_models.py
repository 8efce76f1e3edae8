"""A function and its model: the same values, dtypes and shapes."""

from __future__ import annotations

import copy
from typing import Any

import autoloop as al
import numpy as np
from autoloop import nest

#: relative and absolute tolerance by the width of floats
NEAR = {2: (2e-3, 1e-3), 4: (2e-5, 1e-6), 8: (1e-11, 1e-13)}


def values(result: Any) -> list[np.ndarray[Any, Any]]:
    """Return the leaves of a result as arrays."""
    return [np.asarray(x.numpy() if isinstance(x, al.Tensor) else x) for x in nest.flatten(result) if x is not None]


def given(args: Any) -> list[np.ndarray[Any, Any]]:
    """Return what a model takes of arguments."""
    leaves = nest.flatten(args)
    return [np.array(x.numpy() if isinstance(x, al.Tensor) else x) for x in leaves if hasattr(x, "dtype")]


def session(model: Any) -> Any:
    """Return what runs a model, which is checked."""
    import onnx
    import onnxruntime

    onnx.checker.check_model(model, full_check=True)
    onnxruntime.set_default_logger_severity(4)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def run(runs: Any, *args: Any) -> list[np.ndarray[Any, Any]]:
    """Return the outputs of a session for arguments."""
    names = [one.name for one in runs.get_inputs()]
    taken = given(args)
    assert len(names) == len(taken)
    found: list[np.ndarray[Any, Any]] = runs.run(None, dict(zip(names, taken)))
    return found


def compare(f: Any, *args: Any, others: Any = (), traced: Any = None, near: float | None = None) -> Any:
    """Export ``f`` for arguments, or what they are *traced* as, and compare what it gives for these and others."""
    function = f if hasattr(f, "get_concrete_function") else al.function(f)
    model = al.export_onnx(function, *(args if traced is None else traced))
    runs = session(model)
    for one in (args, *others):
        found = run(runs, *one)
        wanted = values(function(*copy.deepcopy(one)))
        assert len(found) >= len(wanted)
        for got, want in zip(found, wanted):
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            relative, absolute = (near, near) if near else NEAR.get(want.dtype.itemsize, (0, 0))
            if want.dtype.kind == "f":
                np.testing.assert_allclose(got, want, rtol=relative, atol=absolute)
            else:
                np.testing.assert_array_equal(got, want)
    return model
