"""Objects whose classes say which are equal, as arguments: nobody asks them that behind the user's back."""

import autoloop as al
import numpy as np


class Loud:
    asked = 0

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        type(self).asked += 1
        return self.value == other.value

    def __hash__(self):
        type(self).asked += 1
        return 1

    @al.function
    def plus(self, other):
        return self.value + other.value


class Decorated:
    def __init__(self, value):
        self.value = value

    @al.function
    def __eq__(self, other):
        return bool(np.all(self.value == other.value))

    @al.function
    def __hash__(self):
        return hash(self.value[0])

    @al.function
    def plus(self, other):
        return self.value + other.value


def added(one, other, x):
    return one.value + other.value * x


def test_equality_is_not_asked():
    Loud.asked, decorated = 0, al.function(added)
    for k in range(3):
        one, other = Loud(np.full(2, float(k))), Loud(np.full(2, k + 1.0))
        assert one.plus(other).tolist() == [2.0 * k + 1] * 2
        assert decorated(one, other, 2.0).tolist() == [3.0 * k + 2] * 2
    assert Loud.asked == 0


def test_a_decorated_equality_is_called_as_any_method():
    decorated = al.function(added)
    for k in range(3):
        one, other, same = (Decorated(np.full(2, k + d)) for d in (0.0, 1.0, 0.0))
        assert one.plus(other).tolist() == [2.0 * k + 1] * 2
        assert decorated(one, other, 2.0).tolist() == [3.0 * k + 2] * 2
        assert one == same and one != other and len({one, same, other}) == 2
