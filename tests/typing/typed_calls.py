"""What a checker knows of public functions: ``mypy tests/typing`` holds each line, and the values have the types."""

from __future__ import annotations

from typing import assert_type

import autoloop as al
import autoloop.compat.v1 as v1
import numpy as np
from autoloop import *  # noqa: F403
from autoloop.typing import ArrayLike

A = np.arange(6.0).reshape(2, 3)
t = al.constant(A)

# made by families
assert_type(al.add(A, 1), al.Tensor)
assert_type(al.add(x=[1, 2], y=t[0, :2], name="sum"), al.Tensor)
assert_type(al.exp(t), al.Tensor)
assert_type(next(iter(t)), al.Tensor)
assert_type(al.less(t, A), al.Tensor)
assert_type(al.sum(t, axis=(0, 1), keepdims=True), al.Tensor)
assert_type(al.argmax(A, np.int64(0)), al.Tensor)
assert_type(al.cumsum(t, 0, reverse=True), al.Tensor)
assert_type(al.softmax(t), al.Tensor)
assert_type(al.tril(A, 1), al.Tensor)
assert_type(al.inv(np.eye(2)), al.Tensor)
assert_type(al.floor(2.5), al.Tensor)
assert_type(al.real(1j), al.Tensor)

# by other names
assert_type(al.reduce_sum(t, 0), al.Tensor)
assert_type(al.atan2(A, t), al.Tensor)
with v1.Graph().as_default():
    assert_type(v1.add(A, 1), al.Tensor)
    assert_type(v1.reduce_sum(A, axis=0), al.Tensor)

# written out
assert_type(al.reshape(A, [al.size(t), 1]), al.Tensor)
assert_type(al.unstack(A), tuple[al.Tensor, ...])
assert_type(al.nonzero(A), tuple[al.Tensor, ...])
assert_type(al.top_k(A, 2).indices, al.Tensor)
assert_type(al.zeros((2, 3), np.int32), al.Tensor)
assert_type(al.cast(t, "float32"), al.Tensor)
assert_type(al.getitem(A, (0, ..., slice(None, 2))), al.Tensor)
assert_type(al.where(t > 0, t, 0), al.Tensor)
assert_type(al.concat([A, t], 0), al.Tensor)
assert_type(al.random.normal([2, 3], key=al.random.key(1)), al.Tensor)
assert_type(al.py_function(np.sin, [t], al.float64), al.Tensor)
assert_type(al.py_function(np.frexp, [t], [al.float64, al.int32]), list[al.Tensor])

# operators and methods
assert_type(2.0 * t + A, al.Tensor)
assert_type(t[0, 1:], al.Tensor)
assert_type(t == 1, al.Tensor)
assert_type(-t @ A.T, al.Tensor)
assert_type(t.sum(0), al.Tensor)
assert_type(t.T.reshape(-1).astype(np.float32), al.Tensor)


def norm_of(x: ArrayLike) -> al.Tensor:
    return al.sqrt(al.sum(al.square(x)))


assert_type(norm_of([3.0, t[0, 0]]), al.Tensor)


# a star takes none of Python's names
assert_type(sum([1, 2]), int)
assert_type(abs(-1), int)


# decorated functions keep their signatures
@al.function
def scaled(x: al.Tensor, by: float = 2.0) -> al.Tensor:
    return x * by


@al.function(executor="sequential")
def halves(x: al.Tensor) -> tuple[al.Tensor, ...]:
    return x / 2, x / 2


class Model:
    @al.function
    def step(self, x: al.Tensor) -> al.Tensor:
        return x + 1


assert_type(scaled(t, by=3.0), al.Tensor)
assert_type(halves(t), tuple[al.Tensor, ...])
assert_type(Model().step(t), al.Tensor)
assert_type(scaled.tracing_count, int)
assert_type(scaled.python_function(t, by=3.0), al.Tensor)
assert_type(al.value_and_grad(lambda x: al.sum(x))(t)[0], al.Tensor)


def mistakes() -> None:
    """Do nothing: this is for checkers only."""
    al.add(A, None)  # type: ignore[arg-type]
    al.add(A)  # type: ignore[call-arg]
    al.sum(A, axis="rows")  # type: ignore[arg-type]
    al.exp(A, where=True)  # type: ignore[call-arg]
    al.zeros((2, 3), 1.0)  # type: ignore[arg-type]
    scaled("x", "y")  # type: ignore[arg-type]
    scaled(t, of=2.0)  # type: ignore[call-arg]
    Model().step()  # type: ignore[call-arg]
    al.nosuch(A)  # type: ignore[attr-defined]
    v1.reduce_sum(A, axis="rows")  # type: ignore[arg-type]
    v1.cond(A, lambda: 1, where=2)  # type: ignore[call-arg]
    scaled.python_function("x")  # type: ignore[arg-type]
