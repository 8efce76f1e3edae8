"""A type that says how it is several tensors goes wherever tensors go."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import Composite, composite_of, register_composite, run_now, while_loop
from each_case import each
from executors import EXECUTORS


class Interval:
    """Two bounds and a name."""

    def __init__(self, low, high, name):
        self.low, self.high, self.name = low, high, name

    def shifted(self, by):
        return Interval(self.low + by, self.high + by, self.name)

    def width(self):
        return self.high - self.low


class AsComposite(Composite):
    """What the protocol asks of every type, and the names of the components."""

    def components(self, value):
        return value.low, value.high

    def spec(self, value):
        return value.name

    def from_components(self, spec, components):
        return Interval(*components, spec)

    def names(self, value):
        return "low", "high"


register_composite(Interval, AsComposite())


def interval(low=1.0, high=3.0, name="a"):
    return Interval(al.constant(low), al.constant(high), name)


def bounds(x):
    return float(x.low), float(x.high), x.name


def test_what_is_a_composite():
    assert isinstance(composite_of(interval()), AsComposite)
    assert composite_of(al.constant(1.0)) is None and composite_of([interval()]) is None


def test_a_leaf_to_the_user_and_a_structure_to_graphs():
    x = interval()
    assert al.nest.flatten([x, 2]) == [x, 2]


def test_while_loop():
    i, x = while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x.shifted(1.0)), (0, interval()))
    assert bounds(x) == (4.0, 6.0, "a") and int(i) == 3


def test_components_are_named_after_the_variable():
    with al.Graph() as graph:
        while_loop(lambda x: x.low < 3, lambda x: x.shifted(1.0), [interval()])
    (loop,) = [node for node in graph.nodes if node.subgraphs]
    assert loop.attrs["names"] == ("x.low", "x.high")


def test_shape_invariants_hold_for_every_component():
    def grow(x):
        return Interval(al.concat([x.low, x.low], 0), al.concat([x.high, x.high], 0), x.name)

    start = interval([1.0], [2.0])
    with pytest.raises(ValueError, match=r"'x\.low'.*shape"):
        while_loop(lambda x: al.size(x.low) < 4, grow, [start])
    (x,) = while_loop(lambda x: al.size(x.low) < 4, grow, [start], shape_invariants=[[None]])
    assert x.high.numpy().tolist() == [2.0] * 4


def test_a_loop_that_changes_the_type_is_refused():
    with pytest.raises(TypeError, match="'x' is a Interval of 2 tensors on entry and a Tensor after one iteration"):
        while_loop(lambda x: x.low < 3, lambda x: x.low, [interval()])


@each([True, False])
def test_cond(choice):
    def build():
        return al.cond(al.identity(al.constant(choice)), interval, lambda: interval(5.0, 7.0))

    assert bounds(run_now(build)) == ((1.0, 3.0, "a") if choice else (5.0, 7.0, "a"))


def test_cond_of_a_composite_and_a_tensor_is_refused():
    with al.Graph(), pytest.raises(TypeError, match="Interval of 2 tensors and Tensor"):
        al.cond(al.placeholder(bool, []), interval, lambda: al.constant(1.0))


@each(EXECUTORS)
def test_function_takes_and_gives_it(executor):
    @al.function(executor=executor)
    def double(x, n):
        i = al.constant(0)
        while i < n:
            x = Interval(x.low * 2.0, x.high * 2.0, x.name)
            i += 1
        return x, x.width()

    x, width = double(interval(), al.constant(2))
    assert bounds(x) == (4.0, 12.0, "a") and float(width) == 8.0
    double(interval(7.0, 8.0), al.constant(3))
    assert double.tracing_count == 1
    assert bounds(double(interval(name="b"), al.constant(0))[0]) == (1.0, 3.0, "b")
    assert double.tracing_count == 2  # the name is no tensor: it is a part of the structure


def test_converted_branch():
    @al.function
    def wider(x, y):
        if x.width() < y.width():
            x = y
        return x

    assert bounds(wider(interval(), interval(0.0, 9.0))) == (0.0, 9.0, "a")
    assert bounds(wider(interval(), interval(0.0, 1.0))) == (1.0, 3.0, "a")


def test_map_fn_says_that_it_cannot_stack_it():
    with pytest.raises(TypeError, match="a Interval cannot be"):
        al.map_fn(lambda row: Interval(row, row, "a"), al.constant([1.0, 2.0]))
    last = al.foldl(lambda x, row: x.shifted(row), al.constant([1.0, 2.0]), interval())
    assert bounds(last) == (4.0, 6.0, "a")


def test_gradients_flow_into_the_components():
    def loss(x):
        (x,) = while_loop(lambda x: x.high < 20.0, lambda x: Interval(x.low * 2.0, x.high * 3.0, x.name), [x])
        return x.low * x.high

    g = al.grad(loss)(interval())
    assert bounds(g) == (4.0 * 27.0, 36.0, "a")  # 4 low * 9 high

    with al.GradientTape() as tape:
        x = interval()
        tape.watch(x)
        y = loss(x)
    low, high = tape.gradient(y, [x.low, x.high])
    assert (float(low), float(high)) == (108.0, 36.0)
    assert bounds(al.grad(al.function(loss))(interval())) == (108.0, 36.0, "a")


def test_session_fetches_it():
    with al.Graph() as graph:
        low = al.placeholder(np.float32, [])
        x = Interval(low, low + 1.0, "a")
    assert bounds(al.Session(graph).run(x, {low: 2.0})) == (2.0, 3.0, "a")


def test_variant_with_knowledge_of_its_own():
    """What a type knows beside its tensors may differ between branches, if it says what holds of either."""

    class Named(Interval):
        pass

    class AsNamed(AsComposite):
        def from_components(self, spec, components):
            return Named(*components, spec)

        def either(self, value, other, free=True, other_free=True):
            return Named(value.low, value.high, value.name if value.name == other.name else "one of them")

        def carried(self, value, entry, name):
            if value.name != entry.name:
                raise ValueError(f"{name} changes its name")
            return value

    register_composite(Named, AsNamed())
    a, b = (Named(al.constant(1.0), al.constant(2.0), name) for name in "ab")
    made = run_now(lambda: al.cond(al.identity(al.constant(True)), lambda: a, lambda: b))
    assert bounds(made) == (1.0, 2.0, "one of them")
    with pytest.raises(ValueError, match="x changes its name"):
        while_loop(lambda x: x.low < 3, lambda x: b, [a])
