"""Functions, lambdas, conditions and blocks that are nested deep, in one another or in a chain of ``elif``."""

import linecache
import warnings

import autoloop as al
import numpy as np
import pytest
from autoloop.conversion import scopes
from autoloop.conversion.converting import convert_code
from autoloop.errors import SourceNotFoundError


def compiled(text):
    name = f"<nest {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {"np": np}
    exec(compile(text, name, "exec"), names)
    return names["f"]


def definitions(count):
    begins = [f"{' ' * k}def f{k or ''}(x):\n" for k in range(count)]
    ends = [f"{' ' * (k + 1)}return f{k + 1}(x)\n" for k in reversed(range(count - 1))]
    return "".join([*begins, f"{' ' * count}return x + 1\n", *ends])


def lambdas(count):
    return f"def f(x):\n    return {'(lambda x: ' * count}x + 1{')(x)' * count}\n"


def generators(count):
    return f"def f(x):\n    return {'list(' * count}x{' for _ in range(1))' * count}\n"


@pytest.mark.parametrize("source", [definitions, lambdas, generators])
def test_what_is_nested_is_looked_at_once_for_each_function_around_it(source, monkeypatch):
    looked_at = [0]
    children = scopes.children

    def counted(node):
        looked_at[0] += 1
        return children(node)

    monkeypatch.setattr(scopes, "children", counted)
    counts = []
    for depth in (8, 16):
        looked_at[0] = 0
        convert_code(compiled(source(depth)))
        counts.append(looked_at[0])
    assert counts[1] < 6 * counts[0]


@pytest.mark.parametrize("source", [definitions, lambdas])
def test_functions_may_be_nested_as_deep_as_python_lets_them(source):
    function = al.function(compiled(source(40)))
    assert [function(np.arange(2.0)).tolist() for _ in range(2)] == [[1.0, 2.0]] * 2


def chain(count):
    tests = "".join(f"    elif k == {k}:\n        y = x + {k}\n" for k in range(count))
    return f"def f(x, k):\n    if k < 0:\n        y = x\n{tests}    return y\n"


def attempts(count):
    begins = "".join(f"{' ' * k}try:\n" for k in range(1, count))
    ends = "".join(f"{' ' * k}finally:\n{' ' * k} x = x + k\n" for k in reversed(range(1, count)))
    return f"def f(x, k):\n{begins}{' ' * count}x = x + 1\n{ends} return x\n"


@pytest.mark.parametrize(
    ("source", "given"),
    [
        (chain(500), 300),
        (attempts(18), 2),
        (f"def f(x, k):\n    return {'-' * 500}x * k\n", 3),
        (f"def f(x, k):\n    return x{'.copy()' * 300} * k\n", 3),
    ],
    ids=["elif", "finally", "minus", "methods"],
)
def test_what_is_nested_too_deep_for_conversion_runs_as_plain_python(source, given):
    plain = compiled(source)
    function = al.function(plain)
    with pytest.warns(UserWarning, match="runs as plain Python, without conversion: 'f' is nested too deep to be"):
        first = function(np.arange(3.0), given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = function(np.arange(3.0), given)
    expected = plain(np.arange(3.0), given)
    assert type(first) is type(again) is type(expected)
    assert np.array_equal(first, expected) and np.array_equal(again, expected)


def test_where_calls_are_nested_deep_a_function_is_converted_later():
    function = al.function(compiled(chain(40)))

    def deep(count):
        return deep(count - 1) if count else function(np.arange(2.0), 3)

    with pytest.raises(RecursionError):
        deep(880)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert function(np.arange(2.0), 3).tolist() == [3.0, 4.0]


def test_to_code_says_that_a_function_is_nested_too_deep():
    with pytest.raises(SourceNotFoundError, match="'f' is nested too deep to be converted"):
        al.to_code(compiled(chain(500)))


def test_conditions_in_conditions_are_said_to_be_nested_too_deep():
    tests = "".join(f"{' ' * k}if x[0] > -{k}:\n" for k in range(1, 70))
    function = al.function(compiled(f"def f(x):\n{tests}{' ' * 70}x = x + 1\n return x\n"))
    with pytest.warns(UserWarning, match="a tensor condition, or such conditions are nested too deep"):
        assert function(np.arange(2.0)).tolist() == [1.0, 2.0]
