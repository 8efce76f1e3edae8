"""Instances of one class share the traces of its methods, but for those of what tells one from another."""

import autoloop as al
import numpy as np
import pytest
from each_case import each


class Told:
    """What tells which instance it is."""

    def __init__(self, k):
        self.x = np.arange(2.0) + k

    def hashed(self):
        return hash(self), hash((1, self)) % 7, self.x * 2

    def decided(self):
        return self.x * 2 if hash(self) // 16 % 2 else self.x * 3

    def shown(self):
        return str(self), f"{self!r}", self.x * 2

    def keyed(self):
        return {self: self.x}, {"all": {self}}, self.x * 2


@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
@each([("hashed",), ("decided",), ("shown",), ("keyed",)])
def test_what_tells_an_instance_is_its_own(name):
    plain = getattr(Told, name)
    ours = type("Ours", (Told,), {name: al.function(plain)})
    for one in [ours(k) for k in range(6)]:
        assert str(getattr(one, name)()) == str(plain(one))
