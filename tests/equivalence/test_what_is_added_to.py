"""Containers that a function only adds to: what is in them already may decide what adding does."""

import itertools
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from worlds import module, played

EXECUTORS = itertools.cycle(["auto", "sequential", "dataflow"])
TOP = """
class Box: pass
o = Box()
few, many = collections.deque([1, 2.5, 7], maxlen=5), collections.deque([1])
items, seen, words = [1, 2.5], {1, 2}, {'a': 1}
counts, lists = collections.Counter('a'), collections.defaultdict(list)
"""
STATE = "list(few), list(many), items, sorted(seen), words, dict(counts), dict(lists), o.n"
CHANGE = """
o.n = 0
if k == 1:
    seen.clear(); few.clear(); items.clear(); words.clear(); counts.clear(); lists.clear()
if k == 2:
    seen.add(4); few.extend([1] * 5); items.append(4); words['a'] = 9; counts['b'] = 3"""
BODIES = [
    *("few.append(0)\nfew.append(0)", "few.append(x[0])", "few.appendleft(0)", "few.extend([3, 4])"),
    *("few.extendleft([1, 2])", "many.append(0)", "many.appendleft(x[1])", "many.extend([1, 2])"),
    *("seen.add(1)", "seen.add(7)", "seen.add(4)\nseen.add(4)", "seen.update([1, 2])", "seen |= {1}"),
    *("items.append(1)", "items.extend(items)", "items.insert(0, 3)", "items += [2]", "words.setdefault('a', 5)"),
    *("words.update(a=3)", "counts.update('ab')", "lists['a'].append(3)", "if x[0] > 1:\n    seen.add(1)"),
    "for z in x:\n    few.append(1)",
    # which element a set gives next is not told by what it holds
    "while len(seen) > 1:\n    seen.pop()",
    "for z in x:\n    while len(seen) > 1:\n        seen.pop()",
]


@pytest.mark.parametrize("body", BODIES)
def test_adding_does_what_the_present_contents_say(body):
    executor = next(EXECUTORS)
    glob = "global seen, items\n" if "=" in body else ""
    text = module(f"{glob}{body}\no.n = 7\nreturn x + 1", TOP, STATE, CHANGE)
    expected, _ = played(body, text)
    found, _ = played(body, text, executor)
    assert [repr(one) for one in found] == [repr(one) for one in expected], executor


LOG = []


class Held:
    n = 1


def in_a_branch(x, n):
    LOG.append((2, 3))
    if n > 2:
        LOG.append("o")
    else:
        LOG.append("x")


def on_one_side(x, n):
    LOG.append([x[0], {"n": 1}])
    if n > 2:
        LOG.append((n, x[1]))


def in_a_loop(x, n):
    for k in range(n):
        LOG.append((k, x[k]))


def in_a_written_out_loop(x, n):
    for k in range(2):
        LOG.append([k])
        if x[k] > 0:
            LOG.append((k,))


def with_another(x, n):
    other = []
    if n > 2:
        LOG.append("o")
        other.append(1)
    else:
        LOG.append("x")
    return other


def in_a_helper(x, n):
    if n > 1:
        with_another(x, n)


LISTS = [
    [], [(2, 3)], ["a", (2, 3)], [[1, 2]], [{"k": [1]}], [Held()], [(Held(), [1])], [np.ones(2)], [(1, np.ones(2))],
    [{1}], [None, ()],
]  # fmt: skip
PROGRAMS = [in_a_branch, on_one_side, in_a_loop, in_a_written_out_loop, with_another, in_a_helper]


def left(f, k):
    """Return what calls leave in a list that others change between them, and that its first elements are the same."""
    first = LISTS[k]
    LOG[:], found = first, []
    for call in range(3):
        f(np.arange(4.0), np.int64(3 - call % 2))
        found.append((repr(LOG[len(first) :]), [one is other for one, other in zip(LOG, first)]))
        LOG.extend(["outside", (call, call)])
    return found


@each(itertools.product(PROGRAMS, range(len(LISTS))), one_in=2)
def test_a_list_that_holds_containers_is_only_added_to(program, k):
    """What it held was made anew: each call left what the list had held while it was traced."""
    executor = next(EXECUTORS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert left(al.function(program, executor=executor), k) == left(program, k), executor


def noted(x):
    LOG.append(1)


def by_default(x, log=LOG):
    log.append(x[0])


def and_by_name(x):
    if x[1] > 2:
        by_default(x)
        if False:
            noted(x)


def test_a_list_that_is_a_default_and_a_global_stays_the_one_it_is():
    """A name that only code out of reach says was left standing for the list of the trace."""
    LOG.clear()
    log, f = LOG, al.function(and_by_name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in (np.arange(3.0), np.arange(3.0) + 5, np.zeros(3)):
            f(x)
    assert LOG is log and LOG == [5.0] and by_default.__defaults__[0] is log
