"""The templates of generated Python compute what the kernels do, for every dtype."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from api import FUNCTIONS, OPS, Graph, Tensor, TensorShape
from each_case import each

DTYPES = ("float64", "float32", "float16", "int32", "uint8", "bool", "complex64")
#: primitives with a template that no public function of their name applies -> operands
INTERNAL = {
    "StackRead": (([np.float32(2), np.float32(3)], np.int64(1)), {"dtype": np.float32, "shape": ()}),
    "pow_in_loop": ((np.float64(1.7), np.float64(2.5)), {}),
    "copied": ((np.arange(3.0),), {}),
    "of_library": ((np.arange(3.0),), {}),
    "of_numpy": ((np.arange(3.0),), {}),
}


def arity(op):
    return 1 + max(i for i in range(3) if f"{{{i}}}" in op.code)


def operands(op, dtype):
    """Samples of ``dtype``: arrays that hold no special case."""
    rng = np.random.default_rng(1)
    drawn = [rng.uniform(0.2, 0.9, (2, 3)) for _ in range(arity(op))]
    arrays = [
        (a > 0.5 if dtype == "bool" else a * 4 if dtype in ("int32", "uint8") else a).astype(dtype) for a in drawn
    ]
    if op.name == "where":
        arrays[0] = arrays[0] > 0.5
    if op.name == "matmul":
        arrays[1] = arrays[1].T
    return arrays


def comes_to(op, dtype):
    """True if the public function applies the primitive to operands of ``dtype`` as they are, without a cast."""
    graph = Graph()
    with graph.as_default():
        tensors = [graph.parameter(a.dtype, TensorShape(a.shape)) for a in operands(op, dtype)]
        try:
            FUNCTIONS[op.name](*tensors)
        except TypeError:
            return False
    return any(node.op is op and all(map(operator.is_, node.inputs, tensors)) for node in graph.nodes)


TEMPLATES = [op for op in OPS.values() if op.code is not None and op.name not in INTERNAL]
SAMPLES = [(op, dtype) for op in TEMPLATES for dtype in DTYPES if comes_to(op, dtype)]


def test_every_template_has_samples():
    assert {op for op, _ in SAMPLES} == set(TEMPLATES)
    assert {op.name for op in OPS.values() if op.code is not None and op.name not in FUNCTIONS} <= INTERNAL.keys()


def evaluated(template, values, **more):
    with np.errstate(all="ignore"):
        return eval(
            template.format(*"abc"[: len(values)], **{k: k for k in more}), {"np": np, **more}, dict(zip("abc", values))
        )


@each(SAMPLES, lambda op, dtype: f"{op.name}, {dtype}")
def test_templates_are_the_kernels(op, dtype):
    arrays = operands(op, dtype)
    scalars = [] if op.name == "matmul" else [[a[0, 0] for a in arrays]]
    expected, _ = op.infer(*[Tensor(a) for a in arrays])
    for values in (arrays, *scalars):
        with np.errstate(all="ignore"):
            wanted = op.kernel(*values)
        assert wanted.dtype == expected
        found = [evaluated(op.code, values)]
        if op.into is not None and values is arrays:
            over = [k for k, a in enumerate(arrays) if op.traits.elementwise and a.dtype == expected]
            for k in (None, *over):  # into an array of its own, and into each operand that has the form
                given = [a.copy() for a in arrays]
                out = np.empty_like(wanted) if k is None else given[k]
                found.append(evaluated(op.into, given, out=out, by=op.into_by))
                assert found[-1] is out
        if values is not arrays:
            found += [evaluated(text, values) for kinds, text in (op.scalar or {}).items() if expected.kind in kinds]
        for got in found:
            assert got.dtype == expected
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("op", [op for op in OPS.values() if op.name in INTERNAL], ids=lambda op: op.name)
def test_templates_of_internal_primitives(op):
    values, attrs = INTERNAL[op.name]
    np.testing.assert_array_equal(evaluated(op.code, values), op.kernel(*values, **attrs), strict=True)
