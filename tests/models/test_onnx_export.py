"""Models of functions: how one is asked for, and what is in it. That it computes the same is asked at night."""

from __future__ import annotations

import sys

import autoloop as al
import numpy as np
import pytest


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match="export_onnx needs onnx, the extra 'onnx': pip install"):
        al.export_onnx(lambda x: x + 1, np.ones(2))


def test_an_opset_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="opset must be one of 18 to 23, got 17"):
        al.export_onnx(lambda x: x + 1, np.ones(2), opset=17)


def halved(x, limit):
    rounds = 0
    while np.sum(x) > limit:
        x = x / 2
        rounds += 1
    return x, rounds


@pytest.fixture
def onnx():
    return pytest.importorskip("onnx")


def test_a_loop_is_a_loop_and_inputs_have_the_names_of_parameters(onnx, tmp_path):
    path = tmp_path / "halved.onnx"
    model = al.export_onnx(halved, np.ones(3), np.float64(1), path=path)
    onnx.checker.check_model(model, full_check=True)
    assert "Loop" in [node.op_type for node in model.graph.node]
    assert [one.name for one in model.graph.input] == ["x", "limit"]
    assert [one.name for one in model.graph.output] == ["output_0", "output_1"]
    assert onnx.load(path) == model


def test_an_extent_that_is_not_known_has_a_name(onnx):
    spec = al.TensorSpec([None, 2], al.float32)
    model = al.export_onnx(lambda x: al.sum(x, 1), spec, input_names=["rows"], output_names=["sums"])
    dims = model.graph.input[0].type.tensor_type.shape.dim
    assert (dims[0].dim_param, dims[1].dim_value) == ("rows_0", 2)
    assert model.graph.output[0].name == "sums"


def test_what_is_written_to_an_argument_is_an_output(onnx):
    def f(x):
        x += 1
        return np.sum(x)

    model = al.export_onnx(f, np.ones(3))
    assert [one.name for one in model.graph.output] == ["output_0", "written_x"]


def test_arrays_found_elsewhere_are_constants(onnx):
    weights = np.arange(100.0)
    model = al.export_onnx(lambda x: x * weights, np.ones(100))
    assert [one.dims for one in model.graph.initializer] == [[100]]


@pytest.mark.parametrize(
    "f, words",
    [
        (lambda x: (print(np.sum(x)), x), "print.* at .*test_onnx_export.py:.*a model prints nothing"),
        (lambda x: x * 1j, "complex128, which onnxruntime does not compute with"),
        (lambda x: al.random.normal([2], key=al.random.key(1)) + x, "does not draw the same random numbers"),
        (lambda x: (x, "text"), "it returns the text 'text'"),
        (lambda x: np.linalg.svd(np.outer(x, x))[1], "there is no translation of it into ONNX"),
    ],
)
def test_what_onnx_cannot_say_is_refused_at_the_line(onnx, f, words):
    with pytest.raises(NotImplementedError, match=words):
        al.export_onnx(f, np.ones(2))


def test_names_and_arguments_that_do_not_fit_are_refused(onnx):
    f = al.function(lambda x, y: x + y)
    with pytest.raises(ValueError, match="must have one name for each: 2, got 1"):
        al.export_onnx(f, np.ones(2), np.ones(2), input_names=["x"])
    with pytest.raises(ValueError, match="input_names must be different names, got"):
        al.export_onnx(f, np.ones(2), np.ones(2), input_names=["x", "x"])
    with pytest.raises(TypeError, match="export_onnx takes no arguments besides a trace, which was made for some"):
        al.export_onnx(f.get_concrete_function(np.ones(2), np.ones(2)), np.ones(2))
