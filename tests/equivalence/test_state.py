"""What a function reads and writes outside its arguments, it reads and writes at each call, as plain Python does."""

import itertools

from each_case import each
from programs_of_state import CHANGED, CONTAINERS, LEFT, STAGED, WRITES
from worlds import module, played

INTERPRETED = itertools.cycle(["auto", "sequential", "dataflow"])


def first(name, *_):
    return name


def check(name, *program, is_left=False):
    text = module(*program)
    executor = next(INTERPRETED)
    expected, _ = played(name, text)
    found, reasons = played(name, text, executor)
    assert bool(reasons) == is_left
    for one, other in zip(expected, found, strict=True):
        assert one == other, executor


@each(WRITES, first)
def test_what_is_written_is_there_after_each_call(name, *program):
    check(name, *program)


@each(CONTAINERS, first)
def test_containers_hold_what_plain_python_leaves_in_them(name, *program):
    check(name, *program)


@each(STAGED, first)
def test_loops_and_branches_of_the_graph_write_too(name, *program):
    check(name, *program)


@each(CHANGED, first)
def test_each_call_finds_what_is_there_now(name, *program):
    check(name, *program)


@each(LEFT, first)
def test_what_no_graph_can_see_change_is_left_to_plain_python(name, *program):
    check(name, *program, is_left=True)
