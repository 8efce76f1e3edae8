"""What a loop or branch does to a list, dict or set, every name of it sees, and whatever holds it."""

import itertools

import pytest
from each_case import each
from programs_of_identity import TOGETHER, TOP
from programs_of_names import NAMED, UNTOLD, programs
from worlds import module, played

INTERPRETED = itertools.cycle(["auto", "sequential", "dataflow"])


def check(name, *program, is_left=False):
    text = module(*program)
    executor = next(INTERPRETED)
    expected, _ = played(name, text)
    found, reasons = played(name, text, executor)
    for one, other in zip(expected, found, strict=True):
        assert one == other, executor
    assert bool(reasons) == is_left, reasons


def first(name, *_):
    return name


@each([*programs(NAMED)][::3], first)
def test_what_a_block_does_to_a_container_is_seen_under_every_name(name, *program):
    check(name, *program)


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "body", "top", "state"), [*programs(NAMED)])
def test_what_a_block_does_to_a_container_is_seen_under_each_name(name, body, top, state):
    check(name, body, top, state)


@each(programs(UNTOLD), first)
def test_of_containers_that_may_be_others_plain_python_knows_which(name, *program):
    check(name, *program, is_left=True)


@each(TOGETHER)
def test_what_is_one_list_in_every_run_is_one_in_the_graph_too(body):
    check("ties", body, TOP, "(h, ties([h], {}))", "", "ties([r, h], {})")
