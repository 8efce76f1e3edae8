"""What a user writes, with half of the API: strict checkers are content with each line, and the program runs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict, assert_type

import autoloop as al
import autoloop.compat.v1 as v1
import numpy as np
from autoloop.typing import ArrayLike, Decorated, DTypeLike, Gradient, ShapeLike, TensorLike
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass
class State:
    """What a simulation is made of."""

    position: al.Tensor
    steps: al.Tensor


class Report(TypedDict):
    """What is told of a run."""

    loss: float
    shape: tuple[int | None, ...]


@al.function
def collatz(n: int, most: int = 1_000) -> int:
    """Count the steps to 1."""
    steps = 0
    while n != 1 and steps < most:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@al.function(executor="sequential", name="relaxation", gradient_memory="checkpoint")
def relaxed(grid: Array, tolerance: float = 1e-3) -> tuple[Array, int]:
    """Average until nothing changes."""
    change, count = 1.0, 0
    while change > tolerance:
        after = (np.roll(grid, 1) + np.roll(grid, -1) + grid) / 3
        change = float(np.max(np.abs(after - grid)))
        grid = after
        count += 1
    return grid, count


class Model:
    """A linear model with decorated methods of each kind."""

    def __init__(self, size: int) -> None:
        self.weights: al.Variable = al.Variable(al.ones([size, 1]), name="weights")
        self.seen: int = 0

    @al.function
    def loss(self, x: al.Tensor, y: ArrayLike) -> al.Tensor:
        """Return the squared error."""
        return al.mean(al.square(x @ self.weights - y)) + 0.1 * al.sum(self.weights * self.weights)

    @al.function(autograph=True)
    def norms(self, rows: Sequence[al.Tensor], *, keep: bool = False) -> list[al.Tensor]:
        """Return lengths of rows."""
        return [al.sqrt(al.sum(row * row, keepdims=keep)) for row in rows]

    @staticmethod
    @al.function
    def scaled(x: al.Tensor, by: float) -> al.Tensor:
        """Return it scaled."""
        return x * by

    def trained(self, x: al.Tensor, y: al.Tensor, rate: float = 0.1) -> Report:
        """Go down for some steps."""
        for _ in range(3):
            with al.GradientTape() as tape:
                loss = self.loss(x, y)
            _ = self.weights.assign_sub(rate * tape.gradient(loss, self.weights))
            self.seen += x.shape.as_list()[0] or 0
        return {"loss": float(self.loss(x, y)), "shape": tuple(self.weights.get_shape().as_list())}


def length(x: ArrayLike, dtype: DTypeLike, shape: ShapeLike, other: TensorLike) -> al.Tensor:
    """Take whatever array functions take."""
    return al.norm(al.cast(x, dtype) + al.zeros(shape, dtype) + other)


def more(i: al.Tensor, _: al.Tensor) -> al.Tensor:
    """Tell whether a loop goes on."""
    return i < 5


def body(i: al.Tensor, total: al.Tensor) -> tuple[al.Tensor, al.Tensor]:
    """Add one number."""
    return i + 1, total + i


def added(total: al.Tensor, x: al.Tensor) -> al.Tensor:
    """Return the next total."""
    return total + x


def doubled(row: al.Tensor) -> al.Tensor:
    """Return a row twice."""
    return row * 2


def loops() -> None:
    """Build loops and branches by hand."""
    pair = al.while_loop(more, body, (0, al.constant(0)), parallel_iterations=4)
    _ = assert_type(pair, tuple[al.Tensor, al.Tensor])
    single = al.while_loop(lambda i: i < 3, lambda i: i + 1, (al.constant(0),))
    print(single[0].dtype, pair[1].numpy())
    array = al.TensorArray(al.int32, size=3).unstack(al.arange(3))
    _ = assert_type(array.stack(), al.Tensor)
    either = al.cond(pair[0] > 2, lambda: al.ones(2), lambda: al.zeros(2))
    _ = assert_type(either, al.Tensor)
    both: tuple[al.Tensor, int] = al.cond(either[0] > 0, lambda: (either, 1), lambda: (either, 2))
    _ = assert_type(al.scan(added, al.arange(4), al.constant(0)), al.Tensor)
    _ = assert_type(al.map_fn(doubled, al.ones([3, 2])), al.Tensor)
    last: Array = al.foldl(lambda a, b: np.maximum(a, b), np.arange(3.0))
    print(both, last, al.foldr(lambda total, x: total + x, al.arange(4)))
    leaves: list[al.Tensor] = al.nest.flatten({"a": either, "b": [either]})
    al.nest.assert_same_structure([1, 2], [3, 4])
    print(len(leaves), al.random.normal([2], key=al.random.key(1)).shape, al.linalg.det(np.eye(2)))
    print(al.linalg.svd(al.ones([2, 2])).S, al.fft.fft(np.ones(4)).real, al.sparse.from_dense(np.eye(2)).values)


def cubed(x: al.Tensor, by: float = 3.0) -> al.Tensor:
    """Return a sum of powers."""
    return al.sum(x**by)


def energy(x: Array) -> float:
    """Return a sum of squares."""
    return float(np.sum(x * x))


def derivatives() -> None:
    """Differentiate in each way."""
    x = al.constant([1.0, 2.0])
    slope: Gradient[[float]] = al.grad(cubed)
    print(slope(x, 2.0))
    _ = assert_type(al.grad(cubed)(x, by=2.0), al.Tensor)
    of_arrays: Array = al.grad(energy)(np.array([1.0, 2.0]))
    print(of_arrays)
    both = al.value_and_grad(cubed)(x)
    value, slopes = al.value_and_grad(lambda x: al.sum(x * x))(np.array([1.0, 2.0]))
    print(value + 1, slopes.sum())
    pushed = al.jvp(cubed, [x], [x])
    _ = assert_type((both, pushed[0]), tuple[tuple[al.Tensor, al.Tensor], al.Tensor])


def old_style() -> None:
    """Build a graph, and run it."""
    with al.Graph().as_default() as graph:
        x = al.placeholder(al.float32, [None], name="x")
        total = al.reduce_sum(x * 2)
        with al.Session(graph=graph) as session:
            value: np.float32 = session.run(total, {x: [1.0, 2.0]})
    print(value, [node.name for node in graph.nodes])
    with v1.Graph().as_default():
        v = v1.get_variable("v", [2], initializer=v1.ones_initializer())
        with v1.Session() as session:
            _ = session.run(v1.global_variables_initializer())
            array: NDArray[np.float32] = session.run(v1.reduce_sum(v, axis=0))
    print(array)


def tools() -> None:
    """Look into it."""
    logging.getLogger("autoloop").setLevel(logging.INFO)
    before = al.config.get_num_threads()
    al.config.set_num_threads(2)
    al.config.set_num_threads(before)
    with al.config(executor="sequential", num_threads=1):
        print(al.config.settings(), al.config.get_executor(), collatz(7))
    with al.profiler.trace() as trace:
        _ = assert_type(collatz(6, most=20), int)
    print(trace.summary(), al.explain(collatz, 6), al.to_code(collatz))
    print(al.debugging.record(collatz, 6))
    with al.debugging.check_numerics():
        print(al.ones(2) / 2)
    counted: Decorated[[int], int] = al.function(lambda n: n + 1)
    print(counted(2), counted.tracing_count, counted.python_function(2))


def main() -> None:
    """Do all of it."""
    grid, count = relaxed(np.array([0.0, 3.0, 6.0]), tolerance=0.1)
    _ = assert_type((grid, count), tuple[Array, int])
    model = Model(2)
    x, y = al.ones([3, 2]), al.zeros([3, 1])
    _ = assert_type(model.loss(x, y=y), al.Tensor)
    _ = assert_type(model.norms([x[0], x[1]], keep=True), list[al.Tensor])
    _ = assert_type(Model.scaled(x, 2.0), al.Tensor)
    print(model.trained(x, y)["loss"] < 4, -x + y - 2.0, (x > 1) | (x <= 0), x[0, ..., None], State(x, y))
    print(length([1.0], "float32", [2], model.weights), al.float32)
    loops()
    derivatives()
    old_style()
    tools()


if __name__ == "__main__":
    main()
