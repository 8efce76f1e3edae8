"""What counts as large, and what does where nobody knows: one place for both executors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from api import (
    LARGE,
    SCALAR,
    SMALL,
    Graph,
    Tensor,
    TensorShape,
    bytes_of,
    emit,
    exp,
    float32,
    float64,
    is_large,
    may_hold_memory,
    optimize,
    set_outputs,
    variant,
    weight,
)

#: dtype, shape -> bytes, whether it may hold memory, whether it is known to be large
ANSWERS: list[tuple[Any, Any, int | None, bool, bool]] = [
    (float64, SCALAR, 8, False, False),
    (float64, [SMALL // 8 - 1], SMALL - 8, False, False),
    (float64, [SMALL // 8], SMALL, True, False),
    (float32, [2, SMALL // 8], SMALL, True, False),
    (float64, [LARGE // 8], LARGE, True, True),
    (float64, [None], None, True, False),
    (float64, None, None, True, False),
    (float64, [0, None], None, True, False),
    (variant, SCALAR, None, True, False),
]


@pytest.mark.parametrize(("dtype", "shape", "size", "holds", "large"), ANSWERS)
def test_the_answers(dtype: Any, shape: Any, size: int | None, holds: bool, large: bool) -> None:
    tensor: Tensor = Graph().parameter(dtype, TensorShape(shape), "x")
    assert (bytes_of(tensor), may_hold_memory(tensor), is_large(tensor)) == (size, holds, large)


@pytest.mark.parametrize("shape", [[8], [SMALL // 8], [None]])
def test_both_executors_let_go_of_the_same(shape: Any) -> None:
    graph = Graph(ordered=True)
    with graph.as_default():
        x = graph.parameter(np.dtype(np.float64), TensorShape(shape), "x")
        y = exp(x)
        z = y * y
        set_outputs(graph, [z * z + z])
    graph = optimize(graph)
    node = next(n for n in graph.nodes if n.op.name == "multiply")
    assert ("del " in emit(graph).source) == weight.holds_memory(node) == (shape != [8])
