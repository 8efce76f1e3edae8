"""No object of ours leaves converted code: not as a result, not stored, printed, raised, or handed to other code.

One file: what may leave, and what may not, is of the same kinds.
"""

from __future__ import annotations

import collections
import contextlib
import io
import json
import random
import re

import autoloop as al
import numpy as np
import pytest
from autoloop import nest
from executors import EXECUTORS, INTERPRETED, spread_each
from left_to_python import refused_or_plain

LOG: list = []
SEEN: list = []
CALLS = 0


class Holder:
    pass


HOLDER = Holder()


@pytest.fixture(autouse=True)
def nothing_kept():
    yield
    vars(HOLDER).clear()
    LOG.clear()
    SEEN.clear()


# -- results, as Python has them ------------------------------------------------------------------------------


def broken_twice(w, g, r):
    k = 0
    while True:
        k += 1
        if k > 4:
            break
        if r and w[k % 3] >= g:
            break
        if g >= 1.0:
            return k
    return 0


def captured_and_unset(x):
    def get():
        return y

    if x > 0:
        y = x * 2
    return get()


def captured_in_arithmetic(x):
    def get():
        return -y + 1 if y > 2 else y * 3

    while x > 0:
        y = x
        x = x - 1
    return get() + y


def captured_and_printed(x):
    def get():
        return y

    if x > 0:
        y = x * 2
    print(y, f"{y:.1f}", y > 3)
    return get()


def broken_with_a_closure(x):
    s = x

    def get():
        return s

    for i in range(5):
        s = s + x
        if s > i + 5:
            break
        s = get() + 1
    return s, get()


def bare_return(x):
    while x > 0:
        x = x - 1
        if x == 3:
            return


def bare_return_before_a_print(x):
    while x > 0:
        x = x - 1
        if x == 3:
            return
    print("end")


def return_none(v):
    for one in v:
        if one > 2:
            return None


def bare_return_unrolled(x):
    for i in range(3):
        if i == 2:
            return
        x = x + 1
        if x > 5:
            return


def bare_return_in_two_loops(x):
    while x > 0:
        for _ in range(3):
            x = x - 1
            if x == 3:
                return


def none_or_unset(x):
    while x > 0:
        x = x - 1
        if x == 3:
            best = None
    return best


def born_attribute(x):
    holder = Holder()
    if x > 0:
        holder.born = x * 2
    return hasattr(holder, "born"), getattr(holder, "born", -1.0), hasattr(holder, "other")


def born_and_read(x):
    holder = Holder()
    if x > 0:
        holder.born = x * 2
    return holder.born


def kinds_of_lists(x):
    out = []
    while x > 0:
        out.append(x)
        x = x - 1
    return isinstance(out, list), isinstance(out, tuple), type(out) is list


def kinds_of_none(x):
    best = None
    while x > 0:
        best = x
        x = x - 1
    return isinstance(best, type(None)), isinstance(best, str), isinstance(best, str | None)


W = np.array([2.25, 0.75, 1.25])
SAME = [
    *[(broken_twice, (W, g, r)) for g in (-1.75, 5.0, np.float64(-1.75), np.float64(5)) for r in (True, False)],
    *[(captured_and_unset, (np.float64(one),)) for one in (2.0, -1.0)],
    *[(captured_in_arithmetic, (np.float64(one),)) for one in (2.0, 3.5, -1.0)],
    *[(broken_with_a_closure, (np.float64(one),)) for one in (2.0, 0.25, -2.0)],
    *[(bare_return, (np.float64(one),)) for one in (5.0, 2.5)],
    *[(return_none, (np.array(one),)) for one in ([1.0, 3.0], [1.0, 2.0])],
    *[(bare_return_unrolled, (np.float64(one),)) for one in (5.0, 1.0)],
    *[(bare_return_in_two_loops, (np.float64(one),)) for one in (5.0, 2.5)],
    *[(f, (np.float64(one),)) for f in (born_attribute, born_and_read, kinds_of_lists) for one in (2.0, -1.0)],
    *[(kinds_of_none, (np.float64(one),)) for one in (2.0, -1.0)],
    *[(none_or_unset, (np.float64(one),)) for one in (5.0, 2.5)],
]


def outcome(f, args):
    """What a call gives, or raises, with what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            made = f(*args)
        except Exception as error:
            # a free variable is a local one of the function around it
            return NameError if isinstance(error, NameError) else (type(error), str(error))
    flat = made if isinstance(made, tuple) else (made,)
    return [one if one is None else float(one) for one in flat], out.getvalue()


@spread_each(SAME)
def test_results_are_pythons(f, args, executor):
    assert outcome(al.function(f, executor=executor), args) == outcome(f, args)


@pytest.mark.parametrize("executor", INTERPRETED)
@pytest.mark.parametrize("value", [5.0, 2.0, -1.0])
@pytest.mark.parametrize("f", [captured_and_printed, bare_return_before_a_print])
def test_what_is_printed_is_pythons(f, value, executor):
    args = (np.float64(value),)
    assert outcome(al.function(f, executor=executor), args) == outcome(f, args)


def test_a_function_that_always_raises_raises_when_it_runs():
    def always(x):
        if x > 0:
            raise ValueError("positive")
        else:
            raise KeyError("negative")

    with pytest.raises(ValueError, match="positive"):
        al.function(always)(np.float64(1))
    with pytest.raises(KeyError, match="negative"):
        al.function(always)(np.float64(-1))


# -- what would have to leave is refused, and all is as it was -----------------------------------------------


def unset_in_a_closure(x):
    def get():
        return y

    if x > 0:
        y = x
    return get


def none_in_a_default(x):
    best = None
    while x > 0:
        best = x
        x = x - 1

    def get(mine=best):
        return mine

    return get


def growing_in_a_generator(n):
    out = []
    for i in range(n):
        out.append(i)
    return (one for one in [out])


def growing_in_a_generator_function(n):
    out = []
    for i in range(n):
        out.append(i)

    def generate():
        yield out

    return generate()


def range_as_a_result(n):
    return range(n)


def range_in_an_attribute(n):
    HOLDER.range = range(n)
    return n


def locals_with_unset(x):
    if x > 0:
        y = x
    return locals()


@al.do_not_convert
def plain_append(value):
    SEEN.append(value)
    return len(SEEN)


@al.do_not_convert
def plain_length():
    return len(LOG)


@al.do_not_convert
def plain_count():
    global CALLS
    CALLS += 1
    return CALLS


@al.do_not_convert
def plain(value):
    return 1 if type(value) is list and len(value) == 2 else 1000


def growing_to_plain(n):
    out = []
    for i in range(n):
        out.append(i)
    return plain(out)


def growing_in_a_dict_to_plain(n):
    out = []
    for i in range(n):
        out.append(i)
    return plain({"a": (out,)})


def none_to_plain(x):
    best = None
    while x > 0:
        best = x
        x = x - 1
    return plain(best)


def range_to_plain(n):
    return plain(value=range(n))


def plain_changes_a_list(x):
    while x > 0:
        plain_append(1)
        x = x - 1
    return x


def plain_changes_a_global(x):
    while x > 0:
        plain_count()
        x = x - 1
    return x


def plain_reads_a_list_that_grows(x):
    while x > 0:
        LOG.append(x)
        x = x - 1
    return plain_length()


def growing_to_a_library(n):
    out = []
    for i in range(n):
        out.append(i)
    return json.dumps(out)


def type_of_none_or_not(x):
    best = None
    while x > 0:
        best = x
        x = x - 1
    return type(best) is type(None)


N, X = (np.int64(3),), (np.float64(3),)
#: with arrays plain Python runs those
T_N, T_X = (al.constant(3, al.int64),), (al.constant(3.0, al.float64),)
REFUSED = [
    (unset_in_a_closure, X, "'y' would still hold 'y', of which only the run tells whether it has a value"),
    (none_in_a_default, X, "only the run tells whether it is None"),
    (growing_in_a_generator, N, "whose length only the run tells"),
    (growing_in_a_generator_function, N, "whose length only the run tells"),
    (range_as_a_result, N, "a range with tensor bounds: loop over it with a `for` statement, or make a list of it"),
    (range_in_an_attribute, N, "'HOLDER.range' would still hold a range with tensor bounds"),
    (locals_with_unset, X, "locals() would give 'y', of which only the run tells whether it has a value"),
    (growing_to_plain, T_N, "code that is not converted would get the list 'out', whose length only the run tells"),
    (growing_in_a_dict_to_plain, T_N, "code that is not converted would get the list 'out'"),
    (none_to_plain, X, "code that is not converted would get 'best', of which only the run tells"),
    (growing_to_a_library, T_N, "code that is not converted would get the list 'out'"),
    (type_of_none_or_not, X, "would get 'best', of which only the run tells whether it is None"),
    (range_to_plain, N, "code that is not converted would get a range with tensor bounds"),
    (plain_changes_a_list, X, "'plain_append', which is not converted, changes 'SEEN' in a loop or branch on tensors"),
    (plain_changes_a_global, X, "'plain_count', which is not converted, changes 'CALLS' in a loop or branch on tens"),
    (
        plain_reads_a_list_that_grows,
        T_X,
        "'plain_length', which is not converted, would find, as 'LOG', the list 'LOG'",
    ),
]


@pytest.mark.parametrize("f, args, words", REFUSED, ids=[f.__name__ for f, *_ in REFUSED])
def test_what_cannot_leave_is_refused_and_all_is_as_it_was(f, args, words):
    LOG.append(7.0)
    HOLDER.out = kept = ["kept"]
    calls = CALLS
    with pytest.raises(TypeError) as caught:
        al.function(f, executor="native")(*args)
    assert words in str(caught.value)
    assert not re.search(r"MaybeNone|MaybeUnset|GrowingList|StagedIterable|Undefined", str(caught.value))
    assert LOG == [7.0] and not SEEN and calls == CALLS
    assert vars(HOLDER) == {"out": kept} and HOLDER.out is kept


def test_a_plain_function_gets_real_lists():
    def f(x):
        out = [x, 1]
        if x > 0:
            x = x + plain(out)
        return x, plain(out)

    x, one = al.function(f)(np.float64(2))
    assert float(x) == 3 and one == 1


def test_a_plain_function_outside_of_staged_blocks_may_change_what_it_likes():
    def f(x):
        return x + plain_append(2)

    assert float(al.function(f)(np.float64(2))) == 3 and SEEN == [2]


@al.do_not_convert
def plain_changes(values, key, value):
    if isinstance(values, dict):
        values[key] = value
    else:
        values.append(value)
    return len(values)


def changed_list(x):
    out = [0]
    for k in range(3):
        out.append(plain_changes(out, 0, k))
    return len(out), out, x


def changed_in_a_list(x):
    out = [[], []]
    for k in range(5):
        plain_changes(out[k % 2], 0, k)
    return out, x


def changed_dict(x):
    out = {}
    for k in range(3):
        plain_changes(value=k, key=str(k), values=out)
    return out, x


def changed_after_a_branch(x):
    out = [1]
    if x > 0:
        out[0] = x
    else:
        out[0] = 2 * x
    plain_changes(out, 0, 7)
    return out, len(out)


def changed_beside_a_loop(x):
    out, i = [], 0
    while x > i:
        i += 1
    plain_changes(out, 0, 5)
    return out, i


def changed_by_a_library(x):
    rows, counts = [3, 1, 2], {"b": 1}
    random.Random(3).shuffle(rows)
    collections.Counter.update(counts, {"a": 1})
    return rows, counts, x


CHANGED = [
    changed_list, changed_in_a_list, changed_dict, changed_after_a_branch, changed_beside_a_loop, changed_by_a_library
]  # fmt: skip


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("f", CHANGED, ids=[f.__name__ for f in CHANGED])
def test_what_is_not_converted_changes_the_very_lists_it_is_given(f, executor):
    want = f(np.float64(3))
    for x in (3.0, np.float64(3)):
        result = al.function(f, executor=executor)(x)
        assert nest.map_structure(float, result) == nest.map_structure(float, want)


# -- three states are one too many ----------------------------------------------------------------------------


def test_none_a_value_and_unset():
    def f(x):
        if x > 3:
            best = None
        if x < 2:
            best = x
        return best

    with pytest.raises(TypeError, match="'best' is None at one end of a branch on a tensor, has a value at another, a"):
        al.function(f, executor="native")(np.float64(1))


def test_library_code_that_runs_over_rows_whose_number_only_the_run_knows_is_left_to_python():
    def commonest(x, y):
        if x[0] > 1:
            return collections.Counter(y[y > 0]).most_common(1)[0][0]
        return y[0]

    refused_or_plain(
        commonest, r"'collections.Counter.update' is a library's own code", np.array([2.0]), np.array([0, 3])
    )
