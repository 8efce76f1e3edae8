"""Lists of numbers among the arguments that change from call to call: one trace, found quickly, and the right one."""

import autoloop as al
import numpy as np
import pytest
from executors import INTERPRETED

pytestmark = pytest.mark.filterwarnings("ignore:.* (was traced|runs as plain Python)")
FACTOR = [1.0]


def mixed(values, options, x):
    scale = values[0] * FACTOR[0] + values[1]
    if options["kind"] == "twice":
        scale = scale * 2
    values.append(scale)
    return scale, x * scale, [one + 1 for one in values], options["step"] // 2


def calls():
    for k in range(80):
        first = 1.5 * k if k % 11 else k  # a float, or an int
        step = 3 if k < 40 else k - 37  # constant for long
        yield (
            [first, -0.0 if k % 7 == 3 else float(k), 2**70 if k == 33 else k],
            {
                "kind": "twice" if k % 5 == 2 else "once",
                "step": step,
            },
        )


@pytest.mark.parametrize("executor", INTERPRETED)
def test_each_call_gives_what_plain_python_does(executor):
    decorated = al.function(mixed, executor=executor)
    for k, (values, options) in enumerate(calls()):
        FACTOR[0] = 1.0 if k < 60 else 3.0
        mine, x = list(values), np.arange(2.0)
        wanted, found = mixed(values, options, x), decorated(mine, dict(options), x)
        assert repr(found) == repr(wanted) and repr(mine) == repr(values), k
    assert decorated.tracing_count < 40


def test_gradients_and_tensors_are_as_before():
    decorated = al.function(lambda values, x: values[0] * x.sum() + values[1])
    for k in range(12):
        assert decorated([k + 0.5, 2.0 * k], np.ones(2)) == 2 * (k + 0.5) + 2.0 * k
    assert al.grad(lambda x: decorated([3.0, 4.0], x))(np.ones(2)).tolist() == [3.0, 3.0]
    assert isinstance(decorated([1.0, 2.0], al.constant([1.0, 2.0])), al.Tensor)
