"""What runs over several things at once asks each as often, and in the order, as in plain Python, or is refused."""

import itertools

from each_case import each
from programs_side_by_side import PROGRAMS
from worlds import module, played

INTERPRETED = itertools.cycle(["sequential", "auto", "dataflow"])


@each(PROGRAMS, lambda name, *_: name, one_in=2)
def test_each_is_asked_as_often_as_in_plain_python(name, body, top, state, is_left):
    text = module(body, top, state)
    expected, _ = played(name, text)
    found, reasons = played(name, text, next(INTERPRETED))
    assert found == expected and bool(reasons) == is_left
