"""What Python says of arguments that it refuses itself names what is called."""

import autoloop as al
import numpy as np
from each_case import each


def many(*some, k=0):
    return some


class Callee:
    def __init__(self, k=0):
        self.k = k

    def method(self, k=0):
        return k

    def __call__(self, k=0):
        return k

    def __repr__(self):
        return "<a callee>"


CALLEES = [many, Callee, Callee().method, Callee(), print, sum, dict, np.sum, np.exp, np.linalg.norm, "{k}".format]
REPEATED = {"k": 2}


def a_keyword_twice(x, n, g, said):
    for k in range(n):
        try:
            g(x, k=1, **REPEATED)
        except TypeError as error:
            said.append(str(error))
        x[k] += 1


def no_iterable(x, n, g, said):
    try:
        g(*n)
    except TypeError as error:
        said.append(str(error))
    x += 1


def no_mapping(x, n, g, said):
    try:
        g(**said)
    except TypeError as error:
        said.append(str(error))
    x += 1


@each([(f, g) for f in (a_keyword_twice, no_iterable, no_mapping) for g in CALLEES])
def test_what_is_refused_names_what_is_called(f, g):
    ours, plain = [], []
    f(x := np.zeros(3), 2, g, plain)
    al.function(lambda x, said: f(x, 2, g, said))(y := np.zeros(3), ours)
    assert ours == plain
    assert plain
    assert x.tolist() == y.tolist()
