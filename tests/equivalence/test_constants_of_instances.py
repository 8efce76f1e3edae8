"""Arrays of an instance that are constants of a trace, beside those that it writes to."""

import autoloop as al
import numpy as np


class OfObjects:
    def __init__(self):
        self.measured = np.array([[None] * 2]).T  # looked at as an object: no tensor holds it
        self.total = np.zeros(3)

    def step(self):
        for i in range(3):
            self.total[i] += 1
        return self.measured is None


def test_a_method_writes_to_an_array_of_its_instance_beside_one_that_is_a_constant():
    one = OfObjects()
    for count in (1, 2, 3):
        assert al.function(one.step)() is False
        assert one.total.tolist() == [count] * 3
