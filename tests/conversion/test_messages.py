"""What the user is told when a loop or branch on tensors cannot work."""

from __future__ import annotations

import contextlib
import traceback

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import INTERPRETED


def shape_change(n):
    x = al.constant([1.0])
    i = 0
    while i < n:
        x = al.concat([x, x], 0)
        i += 1
    return x


def dtype_change(n):
    x = al.constant(1)
    i = 0
    while i < n:
        x = x * 1.5
        i += 1
    return x


def branch_dtypes(n):
    if n > 0:
        y = al.constant(1)
    else:
        y = al.constant(1.5)
    return y


def one_side_returns(n):
    if n > 0:
        return 1.0
    n += 1


def none_in_a_dict(n):
    best = {"a": None}
    for i in range(n):
        best["a"] = i
    return best


def changing_string(n):
    i = 0
    s = b"a"
    while i < n:
        s = s + b"b"
        i += 1
    return s


def endless_recursion(n):
    if n <= 1:
        return 1
    return n * endless_recursion(n - 1)


def structure_change(n):
    t = (0, 1)
    i = 0
    while i < n:
        t = (0, 1, 2)
        i += 1
    return t


def generator(n):
    yield n


def ragged(n):
    out = []
    x = al.constant([1.0])
    for _ in range(n):
        out.append(x)
        out.append(al.concat([x, x], 0))
    return out


def unset(n):
    for i in range(n):
        last = i
    return last


def vector_test(n):
    x = al.zeros([3])
    while x < n:
        x += 1
    return x


def growing_slices(n):
    x = al.IndexedSlices(al.ones([2, 3]), [0, 4], [5, 3])
    for _ in range(n):
        x = x + x
    return x


def sparse_of_another_rank(n):
    x = al.SparseTensor([[0, 1]], [1.0], [3, 4])
    for _ in range(n):
        x = al.SparseTensor([[0]], [1.0], [3])
    return x


def sparse_of_another_dtype(n):
    x = al.SparseTensor([[0, 1]], [1.0], [3, 4])
    for _ in range(n):
        x = x.with_values(al.cast(x.values, al.int32))
    return x


def array_of_another_dtype(n):
    x = al.TensorArray(al.float32, 3)
    for _ in range(n):
        x = al.TensorArray(al.int32, 3)
    return x


MESSAGES = [
    (growing_slices, ValueError, "'x.values' has shape (2, 3) on entry, but shape (4, 3) after one iteration"),
    (growing_slices, ValueError, "set_loop_options(shape_invariants=[(x, TensorShape([None, 3]))])"),
    (sparse_of_another_rank, ValueError, "'x.indices' has shape (1, 2) on entry, but shape (1, 1) after one"),
    (sparse_of_another_rank, ValueError, "its rank cannot change in a loop"),
    (sparse_of_another_dtype, TypeError, "'x.values' has dtype float32 on entry, but dtype int32"),
    (array_of_another_dtype, TypeError, "'x' is a TensorArray of float32 before the loop and of int32 after one"),
    (shape_change, ValueError, "'x' has shape (1,) on entry, but shape (2,) after one iteration"),
    (shape_change, ValueError, "set_loop_options(shape_invariants=[(x, TensorShape([None]))])"),
    (dtype_change, TypeError, "'x' has dtype int32 on entry, but dtype float64 after one iteration"),
    (branch_dtypes, TypeError, "the values of 'y' at the end of the main and the else branch"),
    (branch_dtypes, TypeError, "int32 and float32"),
    (one_side_returns, TypeError, "each needs a `return`"),
    (none_in_a_dict, TypeError, "\"best['a']\" is None before the loop"),
    (changing_string, TypeError, "'s' is b'a' before the loop and b'ab' after one iteration"),
    (endless_recursion, RecursionError, "calls itself under a tensor condition"),
    (structure_change, TypeError, "'t' does not have the same nested structure after one iteration"),
    (generator, NotImplementedError, "`yield` cannot be converted"),
    (ragged, ValueError, "the elements of the list 'out' must have one shape"),
    (vector_test, ValueError, "the truth value of a tensor of shape (3,) is ambiguous"),
]


@pytest.mark.parametrize(("function", "kind", "text"), MESSAGES)
def test_message(function, kind, text):
    with pytest.raises(kind) as caught:
        al.function(function)(al.constant(3))
    assert text in str(caught.value)


def test_unset_variable_is_named_when_it_is_read():
    f = al.function(unset)
    assert int(f(al.constant(3))) == 2
    with pytest.raises(UnboundLocalError, match="'last'"):
        f(al.constant(0))


def test_refusal_shows_file_line_and_text():
    with pytest.raises(NotImplementedError) as caught:
        al.function(generator)(al.constant(1))
    assert f'File "{__file__}", line {generator.__code__.co_firstlineno + 1}' in str(caught.value)
    assert "yield n" in str(caught.value)


def test_traceback_holds_the_users_lines_only():
    with pytest.raises(TypeError) as caught:
        al.function(dtype_change)(al.constant(3))
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].line == "while i < n:"
    assert frames[-1].name == "dtype_change"
    assert {frame.filename for frame in frames} == {__file__}


def caught_outside(n):
    try:
        if n > 2:
            raise ValueError("big")
    except ValueError:
        n = 0
    return n


def caught_inside(n):
    i = 0
    while i < n:
        try:
            i += 1
            raise ValueError
        except ValueError:
            i += 1
    return i


def test_except_around_a_staged_raise_is_refused():
    assert caught_outside(5) == 0
    with pytest.raises(NotImplementedError, match="ValueError is raised under a tensor condition"):
        al.function(caught_outside)(al.constant(5))


def test_except_inside_a_staged_loop_works():
    assert int(al.function(caught_inside)(al.constant(5))) == caught_inside(5)


def looks_up(x, i):
    for _ in range(2):
        while i < 9:
            i += one_more(x, i)
    return i


def one_more(x, i):
    return x[i]


CALLS = [
    ("decorated", lambda: al.function(looks_up)(al.constant([1, 1]), al.constant(0))),
    ("decorated method", lambda: Looker().decorated(al.constant([1, 1]), al.constant(0))),
    ("converted", lambda: al.convert(looks_up)([1, 1], 0)),
]


class Looker:
    @al.function
    def decorated(self, x, i):
        return looks_up(x, i)


@pytest.mark.parametrize(("way", "call"), CALLS, ids=[way for way, _ in CALLS])
def test_traceback_shows_each_line_of_the_user(way, call):
    with pytest.raises(IndexError) as caught:
        call()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert {frame.filename for frame in frames} == {__file__}
    shown = [frame.line for frame in frames]
    assert shown[-4:] == ["for _ in range(2):", "while i < 9:", "i += one_more(x, i)", "return x[i]"]
    if way != "converted":
        assert "in iteration 2 of the loop" in "".join(caught.value.__notes__)


def test_full_traceback_on_demand(monkeypatch):
    monkeypatch.setenv("AUTOLOOP_FULL_TRACEBACK", "1")
    with pytest.raises(TypeError) as caught:
        al.function(dtype_change)(al.constant(3))
    assert any("/autoloop/" in frame.filename for frame in traceback.extract_tb(caught.value.__traceback__))


def test_refusal_has_one_frame_of_its_own():
    for call in (lambda: al.function(generator)(1), lambda: al.convert(generator)):
        with pytest.raises(NotImplementedError) as caught:
            call()
        frames = [frame for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename != __file__]
        assert len(frames) <= 1


def test_traceback_of_an_endless_recursion_is_short():
    with pytest.raises(RecursionError) as caught:
        al.function(endless_recursion)(al.constant(3))
    assert len(traceback.extract_tb(caught.value.__traceback__)) < 8


def first_fit(x, k=0):
    """Return whether some of these numbers make twelve, after trying it with each and without."""
    if k == len(x):
        return x.sum() == 12
    if x[k] > 0:
        if first_fit(x, k + 1):
            return True
        x[k] = 0
    return first_fit(x, k + 1)


def test_a_recursion_that_a_tensor_would_stop_in_exponential_time(monkeypatch):
    monkeypatch.setattr("autoloop.operators.staging.staged_blocks._DEEP", 4)
    monkeypatch.setattr("autoloop.operators.staging.staged_blocks._MOST_DEEP", 50)
    x, same = np.array([2, 5, 4, 3, 1, 4]), np.array([2, 5, 4, 3, 1, 4])
    with pytest.warns(UserWarning, match="runs as plain Python, at each call: a function calls itself under a tensor"):
        assert al.function(first_fit)(x) == first_fit(same)
    np.testing.assert_array_equal(x, same)
    with pytest.raises(TypeError, match="cannot run first_fit: a function calls itself under a tensor condition"):
        al.function(first_fit, executor="native")(x)


def test_a_graph_of_very_many_branches_is_left_to_python(monkeypatch):
    monkeypatch.setattr("autoloop.operators.staging.staged_blocks._MOST_BLOCKS", 40)
    said = (
        "it has more than 40 loops and branches on tensors, with those of functions that call themselves and of loops"
    )
    for executor in INTERPRETED:
        x, same = np.array([2, 5, 4, 3, 1, 4]), np.array([2, 5, 4, 3, 1, 4])
        with pytest.warns(UserWarning, match=f"runs as plain Python, at each call: {said}"):
            assert al.function(first_fit, executor=executor)(x) == first_fit(same)
        np.testing.assert_array_equal(x, same)
    with pytest.raises(TypeError, match=f"cannot run first_fit: {said}"):
        al.function(first_fit, executor="native")(x)


def test_warnings_point_at_the_users_line():
    namespace = {}
    exec("def sourceless(n):\n    return n", namespace)
    with pytest.warns(UserWarning, match="without conversion") as found:
        al.function(namespace["sourceless"])(al.constant(3))
    assert found[0].filename == __file__
    exec("def asking(x):\n    while x.sum() < 9:\n        x = x * 2\n    return x", namespace)
    asking = al.function(namespace["asking"])
    with pytest.warns(UserWarning, match="without conversion") as found:
        assert [asking(np.ones(3)).tolist() for _ in range(2)] == [[4.0, 4.0, 4.0]] * 2
    assert len(found) == 1
    f = al.function(lambda n: n)
    with pytest.warns(UserWarning, match="argument 'n' .* is different each time") as found:
        for n in range(7):
            f(str(n))
    assert found[0].filename == __file__


def none_at_run_time(n):
    best = None
    for i in range(n):
        if i > 2:
            best = i
    return best + 1


def test_use_of_none_is_told_at_run_time():
    f = al.function(none_at_run_time)
    assert int(f(al.constant(5))) == none_at_run_time(5)
    with pytest.raises(TypeError, match="'best' is None where its value is needed; ask `best is None` before"):
        f(al.constant(2))


def unset_caught(n):
    for i in range(n):
        last = i
    try:
        y = last + 1
    except Exception:
        y = -1
    return y


def unset_suppressed(n):
    y = -1
    for i in range(n):
        last = i
    with contextlib.suppress(NameError):
        y = last
    return y


def unset_caught_in_a_loop(n):
    k = 0
    for j in range(n):
        try:
            k = last
        except NameError:
            k = 5
        last = j  # noqa: F841
    return k


@each([unset_caught, unset_suppressed, unset_caught_in_a_loop])
def test_catching_a_read_that_only_the_run_can_refuse_is_refused(function):
    with pytest.raises(NotImplementedError, match="whether 'last' has a value is known only at run time") as caught:
        al.function(function)(al.constant(3))
    line = traceback.extract_tb(caught.value.__traceback__)[-1].line
    assert line.startswith(("y = last", "k = last"))


def refusal_in_a_try(n):
    try:
        return helper_refused(n)
    except (TypeError, ValueError):
        return -1


def helper_refused(n):
    x = al.constant(1)
    i = 0
    try:
        while i < n:
            x = x * 1.5
            i += 1
    except Exception:
        return -2
    return x


def test_handlers_do_not_catch_what_is_refused():
    with pytest.raises(TypeError, match="'x' has dtype int32 on entry"):
        al.function(refusal_in_a_try)(al.constant(3))


def python_failure(n):
    i = 0
    while i < n:
        try:
            i += {}["step"]
        except KeyError:
            i += 2
    try:
        return al.reshape(al.ones([2]), (3,)) + i
    except ValueError:
        return i


def test_handlers_catch_failures_of_the_program():
    assert int(al.function(python_failure)(al.constant(3))) == 4


def raises_from(n):
    try:
        {}["key"]
    except KeyError as error:
        if n > 2:
            raise ValueError(f"n is {n}") from error
    if n > 1:
        raise TypeError from None
    return n


def test_a_staged_raise_keeps_its_cause():
    f = al.function(raises_from)
    with pytest.raises(ValueError, match="n is 3") as caught:
        f(al.constant(3))
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(TypeError) as caught:
        f(al.constant(2))
    assert caught.value.__cause__ is None
    assert int(f(al.constant(1))) == 1
