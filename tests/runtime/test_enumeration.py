"""Our own enumerations behave as the standard's do, as far as they go."""

from __future__ import annotations

import copy
import enum
import pickle

import pytest
from api import Fails
from api import enumeration as ours
from each_case import each


def made(module):
    class Colour(module.Enum):
        """Colours."""

        RED = module.auto()
        GREEN = module.auto()

        def is_red(self):
            return self is Colour.RED

    return Colour


@each([enum, ours])
def test_members(module):
    colour = made(module)
    red, green = colour.RED, colour.GREEN
    assert isinstance(red, colour) and red.name == "RED" and red is colour.RED
    assert red == colour.RED and red != green and red != made(module).RED and red != "RED"
    assert {red: 1, green: 2}[green] == 2 and {red, green, red} == {green, red}
    assert red.is_red() and not green.is_red() and "Colour.RED" in repr(red)


def test_a_copy_is_the_member_itself():
    member = Fails.NEVER
    assert pickle.loads(pickle.dumps(member)) is member
    assert copy.copy(member) is member and copy.deepcopy([member])[0] is member


def test_a_value_is_refused():
    with pytest.raises(TypeError, match="Colour.RED has a value: that takes the standard's Enum"):

        class Colour(ours.Enum):
            RED = "red"
