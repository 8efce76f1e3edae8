"""The types of what the makers of rows give: public functions of one form each. Only checkers read it."""

from __future__ import annotations

from typing import Protocol

from ..ir.argument_types import ArrayLike, Axes, Axis, DTypeLike
from ..ir.tensor import Tensor


class Unary(Protocol):
    """A public function of one tensor."""

    def __call__(self, x: ArrayLike, name: str | None = None) -> Tensor: ...


class Binary(Protocol):
    """A public function of two tensors that promote and broadcast."""

    def __call__(self, x: ArrayLike, y: ArrayLike, name: str | None = None) -> Tensor: ...


class Reduction(Protocol):
    """A public function that reduces axes."""

    def __call__(
        self, x: ArrayLike, axis: Axes | None = None, keepdims: bool = False, name: str | None = None
    ) -> Tensor: ...


class Summation(Protocol):
    """A public function that adds up along axes, in a dtype that may be asked for."""

    def __call__(
        self, x: ArrayLike, axis: Axes | None = None, keepdims: bool = False, name: str | None = None, *,
        dtype: DTypeLike | None = None,
    ) -> Tensor: ...  # fmt: skip


class Normalisation(Protocol):
    """A public function of all elements along an axis, as many as there are."""

    def __call__(self, x: ArrayLike, axis: Axis = -1, name: str | None = None) -> Tensor: ...


class RunningSum(Protocol):
    """A public function of all that comes before, along an axis."""

    def __call__(
        self, x: ArrayLike, axis: Axis | None = None, exclusive: bool = False, reverse: bool = False,
        name: str | None = None,
    ) -> Tensor: ...  # fmt: skip


class Triangle(Protocol):
    """A public function of what lies on one side of a diagonal."""

    def __call__(self, x: ArrayLike, k: int = 0, name: str | None = None) -> Tensor: ...
