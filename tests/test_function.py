"""``@autoloop.function``: tracing, the cache, results, methods, threads.

One file: one object, whose parts lean on each other.
"""

from __future__ import annotations

import dataclasses
import gc
import inspect
import threading
import warnings
import weakref

import autoloop as al
import numpy as np
import pytest
from each_case import each


def test_same_kinds_of_arguments_are_traced_once():
    traces = []

    @al.function
    def f(x, n=2, *, scale=1.0):
        traces.append(1)
        return x * n * scale

    x = np.ones(3, np.float32)
    for _ in range(3):
        np.testing.assert_array_equal(f(x), 2 * x)
        f(x, 2)
        f(x=x, n=2, scale=1.0)
    assert len(traces) == 9 and f.tracing_count == 1
    f(np.ones(4, np.float32))
    f(np.ones(3))
    assert f.tracing_count == 3
    for _ in range(2):
        assert type(f(al.constant(x))) is al.Tensor  # what it gives is of another kind
    assert f.tracing_count == 4


@pytest.mark.filterwarnings("ignore:f was traced")
def test_python_values_are_compared_by_type_and_value():
    @al.function
    def f(n):
        return al.constant(0) + (1 if n else 0)

    for n in (1, True, 1.0, 0.0, float("nan"), float("nan"), 1):
        f(n)
    assert f.tracing_count == 5  # the third float is an input
    g = al.function(lambda n: str(n))
    assert [g(n) for n in (0.0, -0.0, 0.0)] == ["0.0", "-0.0", "0.0"] and g.tracing_count == 2


def test_numpy_scalars_are_arrays_without_dimensions():
    @al.function
    def f(x):
        return x + 1

    assert type(f(np.float32(1))) is np.float32
    f(np.float32(2))
    assert f.tracing_count == 1
    f(np.array(3.0, np.float32))  # which could be written to: a trace of its own says so
    assert f.tracing_count == 2


def test_results_keep_their_structure_and_python_values():
    @dataclasses.dataclass
    class Box:
        value: object

    marker = object()

    @al.function
    def f(x):
        return {"sum": x + 1, "box": Box(x), "text": "hello", "none": None, "n": 3, "marker": marker}

    out = f(al.constant(1))
    assert out["sum"].numpy() == 2 and out["box"].value.numpy() == 1
    assert (out["text"], out["none"], out["n"], out["marker"]) == ("hello", None, 3, marker)


def test_the_caller_s_array_is_given_back_and_so_are_its_parts():
    @al.function
    def f(x, i):
        return x, x[1:], x[i:]

    x = np.arange(4.0)
    whole, part, of_the_run = f(x, np.int64(1))
    x[:] = -1
    assert whole is x and part.base is x and of_the_run.base is x
    np.testing.assert_array_equal(of_the_run, [-1, -1, -1])


def test_functions_call_each_other():
    @al.function
    def square(x):
        return x * x

    @al.function
    def total(n):
        i = s = al.constant(0)
        while i < n:
            s += square(i)
            i += 1
        return s

    assert total(al.constant(4)).numpy() == 14


def test_input_signature_serves_all_sizes():
    @al.function(input_signature=[al.TensorSpec([None, 2], al.float32), al.TensorSpec([], al.int32)])
    def f(x, k):
        return al.sum(x, axis=0) * al.cast(k, al.float32)

    for n in (1, 5):
        np.testing.assert_array_equal(f(np.ones((n, 2), np.float32), 3), [3 * n, 3 * n])
    assert f.tracing_count == 1
    with pytest.raises(ValueError, match=r"argument 'x', of dtype float32 and shape \(2, 3\), .*input_signature"):
        f(np.ones((2, 3), np.float32), 1)
    with pytest.raises(TypeError, match="argument 'x', of dtype float64 .*input_signature"):
        f(np.ones((2, 2)), 1)
    with pytest.raises(TypeError, match="argument 'k': 1.5 is not an integer"):
        f(np.ones((2, 2), np.float32), 1.5)
    with pytest.raises(OverflowError, match="argument 'k': "):
        f(np.ones((2, 2), np.float32), 2**40)
    with pytest.raises(TypeError, match="argument 'd' has another structure than its entry in input_signature"):
        al.function(lambda d: d, input_signature=[{"a": al.TensorSpec([])}])({"b": 1.0})
    with pytest.raises(TypeError, match="2 arguments"):
        al.function(lambda x: x, input_signature=[al.TensorSpec([])] * 2)(1)


def test_input_signature_leaves_out_arguments_with_defaults():
    @al.function(input_signature=[al.TensorSpec([], al.int32)])
    def f(x, shift=5, *, scale=2):
        return (x + shift) * scale

    assert f(1).numpy() == f(1, scale=2).numpy() == 12 and f(2).numpy() == 14
    assert f.tracing_count == 1 and f.get_concrete_function()(3).numpy() == 16
    shifted = al.function(lambda x, y=np.ones(2): x + y, input_signature=[al.TensorSpec([])])
    assert shifted(1.0).numpy().tolist() == [2, 2]
    for wrong in (lambda: f(1, scale=3), lambda: f(1, 6)):
        with pytest.raises(TypeError, match="must keep its default"):
            wrong()

    many = al.function(lambda *xs: xs[0] - xs[1], input_signature=[al.TensorSpec([], al.int32)] * 2)
    assert many(7, 4).numpy() == 3
    for wrong in (lambda: many(1), lambda: many(1, 2, 3)):
        with pytest.raises(TypeError, match="2 arguments"):
            wrong()


@each([al.TensorSpec([]), [3], [al.TensorSpec([]), "float32"]])
def test_what_is_no_input_signature(signature):
    with pytest.raises(TypeError, match="input_signature .*TensorSpec"):
        al.function(lambda x: x, input_signature=signature)


def test_functions_without_a_python_signature():
    assert al.function(np.tanh)(al.constant(0.0)).numpy() == 0.0
    assert al.function(np.add)(al.constant(2), al.constant(3)).numpy() == 5
    assert al.function(max)(2, 3) == 3


def test_a_call_that_does_not_fit_the_parameters_names_the_function():
    f = al.function(lambda x: x, name="same")
    with pytest.raises(TypeError, match=r"<lambda>\(\) got an unexpected keyword argument 'y'"):
        f(1, y=2)


def test_get_concrete_function():
    @al.function
    def f(x):
        return x * 2

    concrete = f.get_concrete_function(al.TensorSpec([3], al.float32))
    np.testing.assert_array_equal(concrete(np.ones(3, np.float32)), [2, 2, 2])
    assert f.get_concrete_function(al.ones(3)) is concrete
    assert f.get_concrete_function(np.ones(3, np.float32)) is not concrete
    with pytest.raises(ValueError, match="shape"):
        concrete(np.ones(4, np.float32))


@pytest.mark.parametrize("f", [lambda x, n: x, lambda x, n: x[n:], lambda x, n: x if n > 1 else x * 2])
def test_a_trace_that_is_called_gives_arrays_of_the_caller_s(f):
    x, n = np.arange(3.0), np.int64(2)
    found = al.function(f).get_concrete_function(x, n)(x, n)
    assert np.shares_memory(found, x) and (found is x) == (f(x, n) is x)


def test_a_trace_that_is_called_writes_to_the_caller_s_arrays():
    kept = np.zeros(1)

    @al.function
    def f(x, y):
        x[0] += y[1]
        return x

    @al.function
    def counted(x):
        kept[0] += 1
        x[0] += 1
        return x

    x, y = np.arange(3.0), np.arange(3.0)
    concrete = f.get_concrete_function(x, y)
    assert concrete(x, y) is x and x[0] == 1
    with pytest.raises(TypeError, match="lies otherwise in memory than the one that this trace was made for, or is"):
        concrete(x, x)
    assert x[0] == 1
    assert counted.get_concrete_function(x)(x) is x and x[0] == 2 and kept[0] == 1


@pytest.mark.parametrize(
    ("f", "args", "kwargs", "names"),
    [
        (lambda a, *, key: a + key, 1, ["key"], ["a", "key"]),
        (lambda a, *rest, key, **more: a, 3, ["z", "key", "b"], ["a", "rest_0", "rest_1", "key", "z", "b"]),
        (lambda *args: args[0], 2, [], ["args_0", "args_1"]),
        (np.add, 2, [], ["args_0", "args_1"]),
    ],
)
def test_the_inputs_of_a_trace_are_called_as_the_parameters(f, args, kwargs, names):
    x = al.constant(1.0)
    concrete = al.function(f).get_concrete_function(*[x] * args, **dict.fromkeys(kwargs, x))
    assert [t.op.name for t in concrete.graph.inputs] == names


def test_it_looks_like_the_function():
    @al.function
    def f(x: int, *, y: str = "a") -> int:
        """Say something."""
        return x

    assert f.__name__ == "f" and f.__doc__ == "Say something." and f.__wrapped__ is f.python_function
    assert str(inspect.signature(f)).startswith("(x:")
    assert al.function(f) is f
    with pytest.raises(TypeError, match="decorates a function"):
        al.function(3)
    with pytest.raises(ValueError, match="executor must be one of"):
        al.function(lambda x: x, executor="fast")


class Counter:
    def __init__(self, step):
        self.step = step

    @al.function
    def run(self, n):
        i = al.constant(0)
        while i < n:
            i += self.step
        return i

    @al.function
    @staticmethod
    def double(x):
        return x * 2

    @staticmethod
    @al.function
    def triple(x):
        return x * 3


def test_methods_have_a_cache_per_instance_and_keep_no_instance_alive():
    a, b = Counter(1), Counter(4)
    assert (a.run(al.constant(5)).numpy(), b.run(al.constant(5)).numpy()) == (5, 8)
    a.run(al.constant(6))
    assert a.run.tracing_count == 1
    assert Counter(3).run(al.constant(4)).numpy() == 6
    assert a.triple(al.constant(2)).numpy() == 6 and Counter.triple(al.constant(2)).numpy() == 6
    dead = weakref.ref(b)
    del b
    gc.collect()
    assert dead() is None


@each(["dataflow", "sequential"])
def test_a_variable_does_not_share_memory_with_what_it_was_assigned(executor):
    v = al.Variable(np.zeros(3))

    @al.function(executor=executor)
    def keep(x):
        v.assign(x)

    x = np.arange(3.0)
    keep(x)
    x[0] = 9
    assert v.numpy().tolist() == [0, 1, 2]


def test_variables_are_made_on_the_first_trace_and_changed_in_program_order():
    made = []

    @al.function
    def f(x):
        if not made:
            made.append(al.Variable(10.0))
        v = made[0]
        before = v.read_value()
        v.assign_add(x)
        v.assign(v * 2.0)
        return before, v.read_value()

    assert [float(t) for t in f(al.constant(1.0))] == [10.0, 22.0]
    assert [float(t) for t in f(al.constant(1.0))] == [22.0, 46.0]
    assert made[0].numpy() == 46.0

    @al.function
    def g(x):
        return al.Variable(1.0) + x

    g(al.constant(1.0))
    with pytest.raises(ValueError, match="first trace"):
        g(al.constant([1.0]))


def test_what_is_kept_of_a_trace_is_the_value_of_the_run():
    kept = []

    @al.function
    def f(x):
        kept.append(x + 1)
        return x

    @al.function
    def g(x):
        return kept[0] + x

    f(al.constant(1))
    assert int(g(al.constant(1))) == 3 and int(kept[0] + 1) == 3


def test_many_retraces_name_the_argument():
    @al.function
    def f(x, n):
        return x.reshape([1] * n)

    x = al.constant(1)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for n in range(8):
            assert f(x, n).shape.rank == n
    assert len(seen) == 1
    assert "'n'" in str(seen[0].message) and "autoloop.constant" in str(seen[0].message)


@each([int, float])
def test_a_number_that_keeps_changing_becomes_an_input(kind):
    def f(x, k, name="a"):
        if k > 6:
            return x * k, k + 1, k // 2, name
        return x + k, k - 1, k / 2, name

    decorated = al.function(f)
    x = np.ones(2, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(20):
            if k // 2 * 2 == k or kind is float:
                found, expected = decorated(x, kind(k)), f(x, kind(k))
                np.testing.assert_array_equal(found[0], expected[0])
                assert found[0].dtype == np.float32 and found[1:] == expected[1:]
                assert type(found[1]) is kind
    assert decorated.tracing_count == 3
    decorated(x, kind(100), name="b")
    assert decorated.tracing_count == 4


@pytest.mark.filterwarnings("ignore:f was traced|f runs as plain")
def test_of_numbers_that_keep_changing_each_is_an_input_that_no_trace_needs():
    """The last decides a graph or none, and the one before it how many axes there are; both stay constants."""

    def f(a, b, n, mode):
        value = np.zeros([2] * n) + a * b
        return value if mode < 3 else {mode: value}

    decorated = al.function(f)
    for k in range(60):
        given = k * 0.5, 1.0 + k // 9, 1 + k % 2, (0 if k < 40 else k)
        expected, found = f(*given), decorated(*given)
        assert str(expected) == str(found) and type(found) is type(expected)
    assert decorated.tracing_count <= 26

    h = al.function(lambda x, p, *, s: x**p + s)
    for k in range(200):
        assert h(k * 0.1, 2.0 + k % 2, s=k // 50) == (k * 0.1) ** (2.0 + k % 2) + k // 50
    assert h.tracing_count <= 6


@each([float, int, np.float64, np.int64])
def test_a_number_that_has_another_value_in_each_call_makes_three_traces(kind):
    class Model:
        @al.function
        def step(self, t, a):
            return t * a if t < 40 else t - a

    def f(t, *args, scale=1):
        return (args[0] - t) * scale

    model, g = Model(), al.function(f)
    for k in range(1000):
        t = kind(k)
        assert model.step(t, 2) == (t * 2 if t < 40 else t - 2) and type(model.step(t, 2)) is type(t * 2)
        assert g(0, 5, scale=t) == f(0, 5, scale=t) and g(t, 5) == f(t, 5)
    assert 0 < model.step.tracing_count <= 3 and g.tracing_count <= 6


def test_several_threads_call_one_function():
    @al.function
    def f(n):
        i = s = al.constant(0)
        while i < n:
            s += i
            i += 1
        return s

    results = {}

    def work(k):
        results[k] = [int(f(al.constant(k))) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {k: [k * (k - 1) // 2] * 5 for k in range(6)}
    assert f.tracing_count == 1


def test_executors_are_checked():
    @al.function
    def f(x):
        return x.bogus

    with pytest.raises(AttributeError, match="bogus"):
        f(al.constant(1))


@pytest.mark.filterwarnings("ignore:f was traced")
def test_calls_that_skip_the_long_way_keep_their_kinds_apart():
    @al.function
    def f(x, tag=None, *, scale=1.0):
        return tag, x * scale

    nan = float("nan")
    calls = [(0.0,), (-0.0,), (nan,), (1,), (True,), (1.0,), ("1",), (b"1",), (None,)]
    for _ in range(3):
        for (tag,) in calls:
            back, value = f(np.float32(2), tag)
            assert type(back) is type(tag) and repr(back) == repr(tag) and float(value) == 2
    assert f.tracing_count == len(calls) - 1  # the third float is an input, and so are those after it
    for call in (lambda: f(np.float32(2), scale=3.0), lambda: f(tag=None, x=np.float32(2), scale=3.0)):
        assert float(call()[1]) == 6
    assert f.tracing_count == len(calls)


def test_keyword_only_parameters_and_star_parameters():
    @al.function
    def named(a, /, b, *, c, d=4):
        return a, b, c, d

    @al.function
    def starred(a, *rest, k=2, **named):
        return a, rest, k, named

    for _ in range(2):
        assert named(1, 2, c=3) == named(1, b=2, c=3, d=4) == (1, 2, 3, 4)
        assert starred(1, 2, 3, z=5) == (1, (2, 3), 2, {"z": 5})
    for wrong in (
        lambda: named(a=1, b=2, c=3),
        lambda: named(1, 2, 3),
        lambda: named(1, 2),
        lambda: named(1, 2, 3, b=2),
        lambda: named(1, 2, b=2, c=3),
        lambda: named(1, 2, c=3, e=1),
    ):
        with pytest.raises(TypeError, match="named"):
            wrong()


def test_shapes_without_end_under_one_signature_are_not_all_remembered():
    f = al.function(lambda v: v + 1, input_signature=[al.TensorSpec([None], al.float32)])
    for n in range(400):
        assert f(np.zeros(n, np.float32)).shape == (n,)
    assert f.tracing_count == 1 and len(f._quick) < 300


def test_a_call_keeps_no_argument_alive():
    @al.function
    def f(tree, x):
        return tree["a"][0] + x

    for _ in range(2):
        array, other = np.ones(3), np.ones(3)
        references = [weakref.ref(array), weakref.ref(other)]
        f({"a": [array]}, other)
        del array, other
        gc.collect()
        assert not any(r() is not None for r in references)


@each([{}, {"divide": "raise", "invalid": "ignore"}])
def test_floating_point_settings_are_as_before_outside(setting):
    @al.function(executor="sequential")
    def f(x):
        al.Assert(x > 1, [x])
        return x / (x - x)

    with np.errstate(**setting):
        before = np.geterr()
        for value in (2.0, 0.0, 2.0):
            if not value:
                with pytest.raises(AssertionError):
                    f(np.float64(value))
            elif setting:
                with pytest.raises(FloatingPointError):
                    f(np.float64(value))
                with pytest.raises(FloatingPointError):
                    al.divide(np.float64(1), 0.0)
            else:
                assert np.isinf(float(f(np.float64(value))))
                assert np.isinf(float(al.divide(np.float64(1), 0.0)))
            assert np.geterr() == before


def test_calls_with_arrays_of_the_other_byte_order_run_as_plain_python():
    def f(x, pair):
        x[0] += 1
        return x, x[1:], x.copy(), np.zeros_like(x), x.dtype, x.tobytes(), x * 2, pair["y"]

    def told(made, x):
        return [
            (one.dtype.str, np.shares_memory(one, x), one.tolist()) for one in made if type(one) is np.ndarray
        ], made[5]

    g, x = al.function(f), np.arange(3.0)
    other, plain = (x.astype(x.dtype.newbyteorder()) for _ in range(2))
    with pytest.warns(UserWarning, match="runs as plain Python: argument 'x' is of dtype '>f8', another byte order"):
        made = g(other, {"y": other})
    assert made[4] == other.dtype and told(made, other) == told(f(plain, {"y": plain}), plain)
    assert told(g(other, {"y": other}), other) == told(f(plain, {"y": plain}), plain)
    assert g.tracing_count == 0
    with pytest.raises(TypeError, match=r"executor='native' cannot run f: .* give a copy, x.astype\('float64'"):
        al.function(f, executor="native")(other, {"y": other})
    for one in (al.constant(other), al.TensorSpec([3], other.dtype), al.grad(lambda x: (x * x).sum())(other)):
        assert one.dtype == np.float64


def unset_variable():
    """Yield a function inside which a variable has no value yet that functions share."""

    def f(x):
        def twice(y):
            return later(y) if len(y) > 100 else y * 2

        while x.sum() < 100.0:
            x = twice(x)
        return later(x) if len(x) > 100 else x.sum()

    yield f
    later = f


def test_a_variable_of_the_function_around_may_have_no_value_yet():
    around = unset_variable()
    f, x = next(around), np.ones(3)
    assert al.function(f)(x) == f(x) == 192.0
    for gradient in (al.grad(f), al.function(lambda x: al.grad(f)(x))):
        np.testing.assert_array_equal(gradient(x), np.full(3, 64.0))
